"""What each part of a transformer is for: rungs, each at its own learning rate.

Every rung's rate is swept with one seed and chosen on validation stories; then five
seeds are trained at the best rate and at its two neighbours, and five more for as long
as the whole model takes.
"""

import collections
import dataclasses
import statistics
import sys
import time
from typing import Any

import torch

from experiments import many, running, sweeps
from helpers.models.language_model import TransformerLM
from helpers.recorded import results
from helpers.recorded.sweeps import best_rate, has
from helpers.text import corpus, probes
from helpers.text.batches import Documents
from helpers.text.little_world import LittleWorld
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import TrainConfig
from helpers.training.loop import evaluate, train

BARE: dict[str, Any] = {"residual": False, "norm": "none", "mlp": False}
WHOLE = "two blocks"
# From one attention layer to two blocks, a part more each time.
ADDED: dict[str, dict[str, Any]] = {
    "one attention layer": {"num_layers": 1, **BARE},
    "+ residual path": {"num_layers": 1, **BARE, "residual": True},
    "+ normalisation": {"num_layers": 1, "mlp": False},
    "+ MLP: one block": {"num_layers": 1},
    WHOLE: {"num_layers": 2},
}
# The two blocks, a part less.
LEFT_OUT: dict[str, dict[str, Any]] = {
    "without the residual path": {"num_layers": 2, "residual": False},
    "without normalisation": {"num_layers": 2, "norm": "none"},
    "without MLPs": {"num_layers": 2, "mlp": False},
}
# What else could explain a gain: as many numbers as in two blocks, in one.
CONTROLS: dict[str, dict[str, Any]] = {
    "one wide block": {"num_layers": 1, "mlp_ratio": 10},
}
RUNGS = ADDED | LEFT_OUT | CONTROLS
SWEEP = (0.001, 0.002, 0.004, 0.008, 0.016)
STEPS = 2_400
STORIES = {"validation": 1_000, "test": 2_000}


def texts(**stories: int) -> tuple[corpus.Corpus, tuple[str, ...]]:
    """The corpus with its held-out test stories, and others to choose rates on."""
    count = STORIES | stories
    world = corpus.load("little-world", held_out_stories=count["test"])
    other = corpus.load(
        "little-world", seed=1, train_stories=1, held_out_stories=count["validation"]
    )
    return world, other.held_out


def build(
    name: str, tokenizer: CharTokenizer, settings: many.Settings
) -> tuple[TransformerLM, TrainConfig]:
    """A rung's model with the first weights of a seed, and how to train it."""
    size = dataclasses.replace(running.FULL, steps=settings["steps"])
    changes = {"learning_rate": settings["rate"], "seed": settings["seed"]}
    model_config, train_config = running.recipe(
        tokenizer, size, **RUNGS[name], **changes
    )
    torch.manual_seed(settings["seed"])
    return TransformerLM(model_config), train_config


def train_one(settings: many.Settings, **stories: int) -> many.Run:
    """Train one model.

    Args:
        settings: a dict of "rung", "rate", "seed" and "steps".
        stories: how many of the "validation" and of the "test" to measure on.

    Returns:
        run: a dict of the "validation" and "test" loss in nats per character, and of
            the number of "right" answers to each kind of question; where the loss grew
            without bound, of a "validation" loss of None.
    """
    world, validation = texts(**stories)
    tokenizer = CharTokenizer(world.alphabet)
    model, config = build(settings["rung"], tokenizer, settings)
    length = model.config.context_length
    data, test, other = (
        Documents.from_texts(part, tokenizer, length)
        for part in (world.train, world.held_out, validation)
    )
    try:
        train(model, data, config, device="cpu", progress=False)
    except FloatingPointError:  # the rate is too high
        return {"validation": None}
    return {
        "validation": running.rounded(evaluate(model, other)),
        "test": running.rounded(evaluate(model, test)),
        "right": running.right_answers(model, tokenizer, world.held_out),
    }


def milliseconds(rounds: int = 15) -> dict[str, float]:
    """How long a step of each rung takes on one thread, measured in turns."""
    world, _ = texts(validation=1, test=1)
    tokenizer = CharTokenizer(world.alphabet)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    taken: dict[str, list[float]] = {name: [] for name in RUNGS}
    for _ in range(rounds):
        for name in RUNGS:
            settings = {"rate": 0.001, "seed": 0, "steps": 8}
            model, config = build(name, tokenizer, settings)
            data = Documents.from_texts(
                world.train[:500], tokenizer, model.config.context_length
            )
            started = time.perf_counter()
            train(model, data, config, device="cpu", progress=False)
            taken[name].append((time.perf_counter() - started) / config.steps)
    torch.set_num_threads(threads)
    return {
        name: round(1000 * statistics.median(times), 2) for name, times in taken.items()
    }


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks: rung by rung, and equal times behind them all."""
    steps: list[many.Settings] = []
    times: list[many.Settings] = []
    for name in RUNGS:
        plain = {"rung": name, "steps": STEPS}
        missing = sweeps.lacking(record["runs"], plain, SWEEP)
        steps += missing
        if not missing and name != WHOLE and "milliseconds" in record:
            of_rung = [run for run in record["runs"] if has(run, plain)]
            best = {"rate": best_rate(of_rung)}
            as_long = plain | best | {"steps": equal_steps(record, name)}
            times += [as_long | {"seed": seed} for seed in sweeps.SEEDS]
    return steps + [
        settings
        for settings in times
        if not any(has(run, settings) for run in record["runs"])
    ]


def equal_steps(record: dict[str, Any], name: str) -> int:
    """How many steps a rung takes in the time of the whole model's, in fifties."""
    taken = record["milliseconds"]
    return 50 * round(STEPS * taken[WHOLE] / taken[name] / 50)


def questions() -> dict[str, int]:
    """How many questions of each kind the test stories ask."""
    grammar = LittleWorld()
    asked: collections.Counter[str] = collections.Counter()
    for story in texts()[0].held_out:
        asked.update(grammar.read(story)[1].values())
    return {kind: asked[kind] for kind in probes.KINDS}


def main() -> int:
    """Train what the record lacks, and measure how long a step takes before the end."""
    path = results.path("block_ablations")
    record = many.read(path)
    if "asked" not in record:
        head = {"torch": torch.__version__, "asked": questions()}
        many.write(path, head | record)
    many.main("block_ablations", wanted, train_one)
    record = many.read(path)
    if "milliseconds" not in record:  # measured while nothing else runs
        many.write(path, {"milliseconds": milliseconds()} | record)
        many.main("block_ablations", wanted, train_one)
    return 0


if __name__ == "__main__":
    sys.exit(main())
