"""The two-core minute: how low a loss on tiny Shakespeare gets in a minute.

``python -m experiments.two_core_minute`` trains the recipe "one-minute" from five seeds
on two threads, beside the settings that nanoGPT publishes for a laptop's processor, and
prints losses, seconds and the processor's seconds. With ``--keep`` it trains from seeds
on which nothing was tried or chosen before, and a recipe that beats the last record is
added to it.

Each character of the held-out text is predicted once, in windows as long as a recipe's
context. Which loss a number of steps gives is the same on other machines, up to
rounding; how many seconds they take is not. So all recipes take turns in one call, and
what counts is the ratio of their seconds. That ratio, too, is one of a processor: the
minute computes in bfloat16, which is slow where a processor has no instructions for it.
What it saves the reference, the recipe beside it shows.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

import torch

from experiments import many, running
from helpers.models.language_model import TransformerLM
from helpers.recorded import results
from helpers.recorded.spread import lead, standard_error
from helpers.text import corpus
from helpers.text.batches import Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import preset
from helpers.training.loop import evaluate, train

THREADS = 2
SEEDS = range(5)  # to try things on
LIMIT = 0.75  # of the reference's processor time, the most that a minute may take
#: Each is a preset, and how it is changed: the reference as it is and in bfloat16, the
#: minute, and its recipe in an eighth of its steps.
RECIPES: dict[str, tuple[str, dict[str, Any]]] = {
    "reference": ("small-gpt", {}),
    "in bfloat16": ("small-gpt", {"mixed_precision": "bfloat16"}),
    "minute": ("one-minute", {}),
    "sprint": ("one-minute", {"steps": 175, "short_steps": 87}),
}
NAME = "two_core_minute"


def train_one(text: corpus.Corpus, recipe: str, seed: int, **changes: Any) -> many.Run:
    """Train one recipe once, on as many threads as PyTorch has.

    Args:
        text: a Corpus with held-out text.
        recipe: one of ``RECIPES``.
        seed: of the first weights and of the batches.
        changes: options that differ from the recipe's.

    Returns:
        run: a dict of the "recipe", the "seed", the "steps", the held-out "loss" in
            nats per character, the "seconds" of the steps, and the seconds of
            "processor" time of the whole training.
    """
    name, own = RECIPES[recipe]
    tokenizer = CharTokenizer(text.alphabet)
    configs = preset(name, tokenizer.vocab_size, **own | changes | {"seed": seed})
    data, held_out = (
        Windows(tokenizer.encode(part), configs[0].context_length)
        for part in (text.train_text, text.held_out_text)
    )
    torch.manual_seed(seed)
    model = TransformerLM(configs[0])
    before = time.process_time()
    result = train(model, data, configs[1], device="cpu", progress=False)
    processor = time.process_time() - before
    return {
        "recipe": recipe,
        "seed": seed,
        "steps": configs[1].steps,
        "loss": running.rounded(evaluate(model, held_out)),
        "seconds": round(result.seconds, 1),
        "processor": round(processor, 1),
    }


def new_seeds(record: dict[str, Any]) -> range:
    """As many seeds as ``SEEDS``, which neither it nor a record has used."""
    first = len(SEEDS) * (len(record["records"]) + 1)
    return range(first, first + len(SEEDS))


def chosen(runs: Sequence[many.Run], recipe: str, measured: str) -> list[float]:
    """What was measured of one recipe, in the order of the seeds."""
    found = [run for run in runs if run["recipe"] == recipe]
    return [run[measured] for run in sorted(found, key=lambda run: run["seed"])]


def table(runs: Sequence[many.Run]) -> str:
    """Each recipe's mean loss with its standard error, and its share of the time.

    A share is the median over the seeds, each beside the reference's run of that seed.
    """
    lines = [
        "recipe       steps  loss (± its error)   seconds  share  processor  share"
    ]
    for recipe in dict.fromkeys(run["recipe"] for run in runs):
        losses = chosen(runs, recipe, "loss")
        mean, error = statistics.fmean(losses), standard_error(losses)
        (steps,) = set(chosen(runs, recipe, "steps"))
        line = f"{recipe:11} {steps:6}  {mean:.4f} ± {error:.4f}     "
        for measured, width in (("seconds", 7), ("processor", 10)):
            median = statistics.median(chosen(runs, recipe, measured))
            line += f"{median:{width}.1f}  {share(runs, recipe, measured):5.2f}"
        lines.append(line)
    return "\n".join(lines)


def share(runs: Sequence[many.Run], recipe: str, measured: str) -> float:
    """A recipe's time as a multiple of the reference's, the median over the seeds."""
    both = (chosen(runs, one, measured) for one in (recipe, "reference"))
    return statistics.median(mine / other for mine, other in zip(*both, strict=True))


def is_record(new: Sequence[float], last: Sequence[float]) -> bool:
    """Whether losses are lower by two standard errors of the difference."""
    return lead(new, last) >= 2


def verdict(runs: Sequence[many.Run], record: dict[str, Any]) -> tuple[bool, str]:
    """Whether the minute of these runs is a record, and a line that says why.

    None is one that takes more than ``LIMIT`` of the reference's processor time, that
    stands beside another reference than the last record did, or that doesn't win.
    """
    losses = chosen(runs, "minute", "loss")
    taken = share(runs, "minute", "processor")
    said = f"{statistics.fmean(losses):.4f} in {taken:.2f} of the reference's time"
    if taken > LIMIT:
        return False, f"no record, it may take {LIMIT} at most: {said}"
    if not record["records"]:
        return True, f"the first record: {said}"
    last = [run for run in record["runs"] if run["record"] == len(record["records"])]
    references = (chosen(one, "reference", "loss") for one in (runs, last))
    steps = [set(chosen(one, "reference", "steps")) for one in (runs, last)]
    if abs(lead(*references)) > 4 or steps[0] != steps[1]:
        return False, "no record, the reference isn't that of the last one"
    before = chosen(last, "minute", "loss")
    said += f", after {statistics.fmean(before):.4f}"
    if not is_record(losses, before):
        return False, f"no record, it must win by two standard errors: {said}"
    return True, f"a record: {said}"


def where() -> dict[str, Any]:
    """The commit that is checked out, PyTorch's version, and the processor.

    Raises:
        RuntimeError: no repository, or files that differ from its commit, so that it
            wouldn't tell what ran.
    """
    answers = []
    for words in (["status", "--porcelain"], ["rev-parse", "--short=12", "HEAD"]):
        found = subprocess.run(
            ["git", "-C", str(results.FOLDER), *words], capture_output=True, text=True
        )
        if found.returncode:
            raise RuntimeError(f"a record names its commit: {found.stderr.strip()}")
        answers.append(found.stdout.strip())
    status, head = answers
    if status:
        raise RuntimeError(
            f"a record names its commit, so commit these files first:\n{status}"
        )
    able = torch.cpu.get_capabilities()
    native = any(able.get(name) for name in ("avx512_bf16", "amx_bf16"))
    return {
        "commit": head,
        "torch": torch.__version__,
        "processor": able.get("cpu_name", "unknown"),
        "bfloat16": native,  # whether it has instructions for it
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, print, and keep what is a record where that is asked for.

    Returns:
        status: 0, or 1 where the text couldn't be had, files aren't committed, or a
            loss grew without bound.
    """
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{NAME}")
    parser.add_argument("--keep", action="store_true", help="add a record to its file")
    keep = parser.parse_args(arguments).keep
    try:
        at = where() if keep else {}
        text = corpus.load("tiny-shakespeare")
    except (RuntimeError, corpus.CorpusUnavailable) as error:
        print(error, file=sys.stderr)
        return 1
    path = results.path(NAME)
    record = many.read(path)
    record.setdefault("records", [])
    torch.set_num_threads(THREADS)
    runs = []
    order = list(RECIPES)
    for seed in new_seeds(record) if keep else SEEDS:
        for recipe in order:
            try:
                runs.append(train_one(text, recipe, seed))
            except FloatingPointError as error:
                print(f"{recipe}, seed {seed}: {error}", file=sys.stderr)
                return 1
            print(runs[-1], flush=True)
        order.append(order.pop(0))  # so that each is the first one once
    found, line = verdict(runs, record)
    print(f"{table(runs)}\n{line}")
    if keep and found:
        number = len(record["records"]) + 1
        record["records"].append(at)
        record["runs"] += [{"record": number} | run for run in runs]
        many.write(path, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
