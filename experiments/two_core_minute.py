"""The two-core minute: how low a loss on tiny Shakespeare gets in a minute.

``python -m experiments.two_core_minute`` trains the recipe "one-minute" from five seeds
on two threads, beside the settings that nanoGPT publishes for a laptop's processor, and
prints losses, seconds and the processor's seconds. With ``--keep`` it trains from seeds
on which nothing was tried or chosen before, and a recipe that beats the last record is
added to it.

Each character of the held-out text is predicted once, in windows as long as a recipe's
context. Which loss a number of steps gives is the same on other machines, up to
rounding; how many seconds they take is not. So all recipes take turns in one call, and
what counts is the ratio of their seconds.
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
#: Each is a preset, and how it is changed. The sprint is the minute's recipe in an
#: eighth of its steps.
RECIPES: dict[str, tuple[str, dict[str, Any]]] = {
    "reference": ("small-gpt", {}),
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
    lines = ["recipe     steps  loss (± its error)   seconds  share  processor  share"]
    for recipe in dict.fromkeys(run["recipe"] for run in runs):
        losses = chosen(runs, recipe, "loss")
        mean, error = statistics.fmean(losses), standard_error(losses)
        (steps,) = set(chosen(runs, recipe, "steps"))
        line = f"{recipe:9} {steps:6}  {mean:.4f} ± {error:.4f}     "
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

    A minute that takes longer than the last record's, as a share of the reference's
    processor time, is none.
    """
    if not record["records"]:
        return True, "the first record"
    last = [run for run in record["runs"] if run["record"] == len(record["records"])]
    means = [statistics.fmean(chosen(one, "minute", "loss")) for one in (runs, last)]
    shares = [share(one, "minute", "processor") for one in (runs, last)]
    said = (
        f"{means[0]:.4f} after {means[1]:.4f}, at {shares[0]:.2f} of the reference's "
    )
    said += f"processor time after {shares[1]:.2f}"
    if shares[0] > max(1.0, shares[1]):
        return False, f"no record, it takes too long: {said}"
    if not is_record(*(chosen(one, "minute", "loss") for one in (runs, last))):
        return False, f"no record, it must win by two standard errors: {said}"
    return True, f"a record: {said}"


def commit() -> str:
    """The commit that is checked out.

    Raises:
        RuntimeError: files that differ from it, so that it wouldn't tell what ran.
    """
    status, head = (
        subprocess.run(
            ["git", *words], capture_output=True, text=True, check=True
        ).stdout.strip()
        for words in (["status", "--porcelain"], ["rev-parse", "--short=12", "HEAD"])
    )
    if status:
        raise RuntimeError(
            f"a record names its commit, so commit these files first:\n{status}"
        )
    return head


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, print, and keep what is a record where that is asked for.

    Returns:
        status: 0, or 1 where the text couldn't be had or files aren't committed.
    """
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{NAME}")
    parser.add_argument("--keep", action="store_true", help="add a record to its file")
    keep = parser.parse_args(arguments).keep
    try:
        at = commit() if keep else ""
        text = corpus.load("tiny-shakespeare")
    except (RuntimeError, corpus.CorpusUnavailable) as error:
        print(error, file=sys.stderr)
        return 1
    path = results.FOLDER / f"{NAME}.json"
    record = many.read(path)
    record.setdefault("records", [])
    torch.set_num_threads(THREADS)
    runs = []
    for seed in new_seeds(record) if keep else SEEDS:
        for recipe in RECIPES:
            runs.append(train_one(text, recipe, seed))
            print(runs[-1], flush=True)
    found, line = verdict(runs, record)
    print(f"{table(runs)}\n{line}")
    if keep and found:
        number = len(record["records"]) + 1
        record["records"].append({"commit": at, "torch": torch.__version__})
        record["runs"] += [{"record": number} | run for run in runs]
        many.write(path, record)
    return 0


if __name__ == "__main__":
    sys.exit(main())
