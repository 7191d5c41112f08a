"""A pretrained model learns a small text by LoRA: rank, learning rate, seeds, controls.

SmolLM2-135M reads a few hundred stories of little-world once, with two thin matrices
beside each W_query and W_value, or beside every linear layer of its blocks. What is its
loss on other stories, and on plain English of which the stories hold nothing? Beside
it, all its parameters are trained. Two controls: the model as it came, and one that
reads the same words in a shuffled order.
"""

import functools
import itertools
import random
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments import everyday, many, running
from helpers.models import lora, pretrained
from helpers.models.generation import generate
from helpers.models.language_model import TransformerLM
from helpers.recorded.sweeps import best_rate, has
from helpers.text import corpus
from helpers.text.subwords import SubwordTokenizer

ALL = 0  # in place of a rank: every parameter is trained, without LoRA
FEW, LINEAR, EVERY = "queries and values", "linear layers", "all weights"
LAYERS = {
    FEW: ("W_query", "W_value"),
    LINEAR: ("W_query", "W_key", "W_value", "out_proj", "gate", "up", "down"),
}
RATES = {
    (EVERY, ALL): (0.00001, 0.00003, 0.0001, 0.0003, 0.001, 0.003),
    (FEW, 1): (0.001, 0.003, 0.009, 0.027, 0.081),
    (FEW, 4): (0.001, 0.003, 0.009, 0.027, 0.081),
    (LINEAR, 4): (0.0003, 0.001, 0.003, 0.009, 0.027),
    (LINEAR, 16): (0.0003, 0.001, 0.003, 0.009, 0.027),
}
SEEDS = {FEW: range(3), LINEAR: range(3), EVERY: range(3)}
LOW = {(LINEAR, 16): 0.0003}  # beside its sweep, as low as the others' lowest
STEPS = 24
BATCH = 8  # stories
STORIES = {"validation": 24, "test": 48}
PROMPT = "Ben has a"
TOLD = 24  # tokens behind the prompt


@functools.cache
def _pretrained() -> pretrained.Pretrained:
    return pretrained.load("smollm2-135m", context_length=128)


@functools.cache
def _weights() -> dict[str, Tensor]:
    return {name: one.clone() for name, one in _pretrained().model.state_dict().items()}


def batch(
    tokenizer: SubwordTokenizer, texts: Iterable[str]
) -> tuple[Tensor, Tensor, int]:
    """Texts behind the token that parts documents, side by side.

    Args:
        tokenizer: of the model.
        texts: B strings.

    Returns:
        inputs: (B, T)
        targets: (B, T), -100 where a text has ended.
        characters: how many the texts have.
    """
    texts = list(texts)
    start = tokenizer.token_id("<|endoftext|>")
    rows = [[start, *tokenizer.encode(text)] for text in texts]
    T = max(map(len, rows)) - 1
    ids = torch.full((len(rows), T + 1), -100)
    for row, one in zip(ids, rows, strict=True):
        row[: len(one)] = torch.tensor(one)
    return ids[:, :-1].clamp(min=0), ids[:, 1:], sum(map(len, texts))


def nats(
    model: TransformerLM, tokenizer: SubwordTokenizer, texts: Iterable[str]
) -> Tensor:
    """The loss on texts in nats per character, so that tokenizers can be compared."""
    inputs, targets, characters = batch(tokenizer, texts)
    logits = model(inputs)
    total = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
    return total / characters


def shuffled(story: str, generator: random.Random) -> str:
    """The words of a story in another order; its newline stays behind them."""
    words = story.split()
    generator.shuffle(words)
    return " ".join(words) + "\n"


def train_one(settings: many.Settings, **stories: int) -> many.Run:
    """Fine-tune, and measure on text that wasn't seen.

    Args:
        settings: a dict of the "text" ("stories", "shuffled"), what it "trains" (pairs
            beside ``FEW`` or ``LINEAR``, or ``EVERY``), "rank" (``ALL``: no LoRA),
            "rate", "seed" and "steps"; with 0 steps, the model as it came.
        stories: how many of the "validation" and of the "test" to measure on.

    Returns:
        run: a dict of the "validation" and the "test" loss, on stories, and the loss
            "elsewhere" and on "more" everyday sentences, all in nats per character;
            the number of "trained" parameters, and what the model "tells" when the
            most probable token is taken each time.
    """
    count = STORIES | stories
    world = corpus.load("little-world", held_out_stories=count["test"])
    other = corpus.load(
        "little-world", seed=1, train_stories=1, held_out_stories=count["validation"]
    )
    real = _pretrained()
    tokenizer = real.tokenizer
    model = real.model
    if not isinstance(model, TransformerLM):
        raise TypeError(f"a TransformerLM is needed, got {type(model).__name__}")
    model.load_state_dict(_weights())
    parameters = _fine_tune(model, tokenizer, world.train, settings)
    lora.merge_lora(model)
    with torch.no_grad():
        losses = {
            "validation": _mean(model, tokenizer, other.held_out),
            "test": _mean(model, tokenizer, world.held_out),
            "elsewhere": _mean(model, tokenizer, corpus.EVERYDAY),
            "more": _mean(model, tokenizer, everyday.MORE),
        }
    start = [tokenizer.token_id("<|endoftext|>"), *tokenizer.encode(PROMPT)]
    told = generate(model, torch.tensor([start]), TOLD, temperature=0)[0, 1:]
    return losses | {
        "trained": sum(one.numel() for one in parameters),
        "tells": tokenizer.decode(told),
    }


def _fine_tune(
    model: TransformerLM,
    tokenizer: SubwordTokenizer,
    stories: Sequence[str],
    settings: many.Settings,
) -> list[torch.nn.Parameter]:
    """Train LoRA's matrices, or all parameters, in place; the rate falls to 0."""
    if not settings["steps"]:
        return []
    torch.manual_seed(settings["seed"])
    draw = random.Random(settings["seed"])
    texts = draw.sample(stories, BATCH * settings["steps"])
    if settings["text"] == "shuffled":
        texts = [shuffled(text, draw) for text in texts]
    if settings["trains"] == EVERY:
        parameters = list(model.parameters())
    else:
        parameters = lora.add_lora(model, LAYERS[settings["trains"]], settings["rank"])
    optimizer = torch.optim.AdamW(parameters, lr=settings["rate"], weight_decay=0.0)
    for step in range(settings["steps"]):
        optimizer.param_groups[0]["lr"] = settings["rate"] * (
            1 - step / settings["steps"]
        )
        loss = nats(model, tokenizer, texts[BATCH * step : BATCH * (step + 1)])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return parameters


def _mean(
    model: TransformerLM, tokenizer: SubwordTokenizer, texts: Sequence[str]
) -> float:
    return running.rounded(nats(model, tokenizer, texts).item())


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks.

    First all seeds of each rank at the rates to begin with, at others of the grid until
    the best has a neighbour on both sides, and at a low one; then the shuffled words,
    at the best rate of rank 4 beside queries and values.
    """
    came = {"text": "none", "trains": "nothing", "rank": ALL, "rate": 0.0}
    missing = _lacking(record, [came | {"seed": 0, "steps": 0}])
    for trains, rank in RATES:
        missing += _sweep(record, trains, rank)
    for (trains, rank), rate in LOW.items():
        missing += _at(record, trains, rank, [rate])
    if missing:
        return missing
    shuffled = _side(FEW, 4) | {"text": "shuffled", "rate": best(record, FEW, 4)}
    return _lacking(record, [shuffled | {"seed": seed} for seed in SEEDS[FEW]])


def best(record: dict[str, Any], trains: str, rank: int) -> float:
    """The rate at which a rank's loss on the validation stories is lowest."""
    side = _side(trains, rank)
    found = [run for run in record["runs"] if has(run, side)]
    return best_rate([run for run in found if run["seed"] in SEEDS[trains]])


def _side(trains: str, rank: int) -> many.Settings:
    return {"text": "stories", "trains": trains, "rank": rank, "steps": STEPS}


def _sweep(record: dict[str, Any], trains: str, rank: int) -> list[many.Settings]:
    rates = RATES[trains, rank]
    missing = _at(record, trains, rank, rates[1:4])
    if missing:
        return missing
    place = rates.index(best(record, trains, rank))
    return _at(record, trains, rank, rates[max(place - 1, 0) : place + 2])


def _at(
    record: dict[str, Any], trains: str, rank: int, rates: Iterable[float]
) -> list[many.Settings]:
    """All seeds of one rank at some rates, where the record lacks them."""
    side = _side(trains, rank)
    plan = itertools.product(rates, SEEDS[trains])
    return _lacking(
        record, [side | {"rate": rate, "seed": seed} for rate, seed in plan]
    )


def _lacking(record: dict[str, Any], plan: list[many.Settings]) -> list[many.Settings]:
    return [one for one in plan if not any(has(run, one) for run in record["runs"])]


if __name__ == "__main__":
    sys.exit(many.main("lora", wanted, train_one))
