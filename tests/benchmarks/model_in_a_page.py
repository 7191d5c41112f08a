"""How fast a real model writes and reads in a page, beside PyTorch, and its memory."""

import functools
import itertools
import pathlib
import re
import statistics

import playwright.sync_api
import torch

from helpers.models import pretrained
from helpers.models.generation import generate
from helpers.models.pretrained.catalogue import CARDS
from helpers.models.pretrained.files import folder_of
from tests.benchmarks.rounds import in_words, ratio, seconds_in_rounds
from tests.browser.launched import launched
from tests.browser.working import NO_VECTORS, Worked

NAME = "smollm2-135m"
NEW, PROMPT, ROUNDS = 40, 20, 3
# Behind each name 19 tokens; the name differs from one time to the next, so that
# nothing of the prompt is kept.
NAMES = ("Mary", "John", "Paul", "Mark", "Adam", "Peter", "James", "David")
REST = (
    " went to the old store by the river and gave a small red kite to her best friend,"
)
TORCH = "PyTorch, float32"
WAYS = {"the page, WebAssembly": "", "the page, JavaScript": NO_VECTORS}


def bench_model_in_a_page(device):
    """Tokens a second, seconds for a prompt of 20 tokens, and the process's memory."""
    try:
        real = pretrained.load(NAME)
    except pretrained.ModelUnavailable as error:
        print(f"a real model in a page: {error}")
        return
    print(f"a real model in a page: {real.card}; all on the CPU")
    try:
        with launched() as browser:
            _bench(real, browser)
    except playwright.sync_api.Error as error:
        print(f"  no Chromium: {error.message.splitlines()[0]}")


def _bench(real, browser):
    texts = (name + REST for name in itertools.cycle(NAMES))
    write = {TORCH: functools.partial(_write, real)}
    read = {TORCH: functools.partial(_read, real, texts)}
    processes = {}
    for name, before in WAYS.items():
        worker = Worked(browser.new_context().new_page(), before)
        worker.open_file(folder_of(NAME) / CARDS[NAME].files[0].name)
        processes[name] = _largest(browser, processes.values())
        write[name] = functools.partial(_write_in_page, worker)
        read[name] = functools.partial(_read_in_page, worker, texts)
    for ways, count, doing in ((write, NEW, "written"), (read, PROMPT, "read")):
        seconds = seconds_in_rounds(ways, torch.device("cpu"), ROUNDS)
        for name, taken in seconds.items():
            rates = count / statistics.median(taken), count / min(taken)
            times = in_words(ratio(seconds, name, TORCH))
            print(
                f"  {rates[0]:8.1f} tokens/s {doing} ({rates[1]:.1f} at best, "
                f"{count} in {min(taken):.2f} s)  {name}: {times}"
            )
    for name, process in processes.items():
        print(f"  {_megabytes(process, 'VmHWM'):8.0f} MB at most  {name}, its process")


def _write(real):
    ids = torch.tensor([real.tokenizer.encode(NAMES[0] + REST)])
    generate(real.model, ids, NEW, temperature=0)


def _read(real, texts):
    with torch.inference_mode():
        real.model(torch.tensor([real.tokenizer.encode(next(texts))]))


# Neither weights nor probabilities leave the page, which would take longer.
ASK = """async (message) => {
  worker.postMessage(message);
  const found = await answers(message.number, ["reading", "failed"]);
  const written = found.filter(({ kind }) => kind === "token");
  return [written.length, found.at(-1).reading?.ids.length];
}"""


def _ask(worker, kind, **message):
    """How many tokens were written, and how many there are now."""
    worker.number += 1
    message = {"kind": kind, "number": worker.number} | message
    return worker.page.evaluate(ASK, message)


def _write_in_page(worker):
    _ask(worker, "read", text=NAMES[0] + REST, chat=False, off=[])
    written, _ = _ask(worker, "write", temperature=0, topP=1, seed=1, most=NEW)
    if written != NEW:
        raise RuntimeError(f"it has written {written} tokens instead of {NEW}")


def _read_in_page(worker, texts):
    _, found = _ask(worker, "read", text=next(texts), chat=False, off=[])
    if found != PROMPT:
        raise RuntimeError(f"the prompt must have {PROMPT} tokens, got {found}")


def _largest(browser, known):
    """The process with a page in it that takes the most memory, of those not known."""
    session = browser.new_browser_cdp_session()
    found = session.send("SystemInfo.getProcessInfo")["processInfo"]
    pages = {one["id"] for one in found if one["type"] == "renderer"} - set(known)
    return max(pages, key=lambda process: _megabytes(process, "VmRSS"))


def _megabytes(process, name):
    """What Linux says of a process's memory; NaN elsewhere."""
    status = pathlib.Path(f"/proc/{process}/status")
    if not status.exists():
        return float("nan")
    found = re.search(rf"{name}:\s+(\d+) kB", status.read_text(encoding="utf-8"))
    return int(found[1]) / 1000
