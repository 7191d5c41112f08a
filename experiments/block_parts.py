"""What each part of today's block gains, alone, beside chapter 9's block.

Chapter 9's block, with rotary positions, is trained as it is and with one part changed,
on little-world's stories and on tiny Shakespeare; so is a block with all the new parts,
and one with the learned positions of 2019. Where keys are shared, what that saves is
spent on a wider MLP. Every side has a learning rate of its own, which the first of its
five seeds chooses on validation text. With QK-norm and without it, the stories are also
learned at rates that are too high, and the largest score of the trained model is kept.

Model and training are small: two blocks of width 48, and 300 steps.
"""

import functools
import sys
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments import many, running, sweeps
from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import BlockAttention, TransformerConfig
from helpers.recorded.sweeps import has
from helpers.text import corpus
from helpers.text.batches import Documents, Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import TrainConfig
from helpers.training.loop import evaluate, train

PLAIN = "plain block"
#: Each side, and in which options it differs from the plain block: 4 heads, width 48.
PARTS: dict[str, dict[str, Any]] = {
    PLAIN: {},
    "SwiGLU": {"activation": "swiglu"},
    "GQA, wider MLP": {"num_kv_heads": 2, "mlp_hidden": 216},
    "QK-norm": {"qk_norm": True},
    "post-norm": {"norm_first": False},
    "RMSNorm, no biases": {"norm": "rms", "bias": False},
    "learned positions": {"positions": "learned"},
    "all new parts": {
        **{"norm": "rms", "bias": False, "qk_norm": True},
        **{"activation": "swiglu", "num_kv_heads": 2, "mlp_hidden": 144},
    },
}
TEXTS = ("little-world", "tiny-shakespeare")
BEGIN = (0.008, 0.016, 0.032)
#: Of these, on the stories, the largest score is kept.
WATCHED = (PLAIN, "QK-norm")
#: Four and eight times the rate that suits the plain block on the stories best.
TOO_HIGH = (0.064, 0.128)
WIDTH, STEPS = 48, 300
WARM_UP = 6  # one step in so many
#: How a text is read: context length, and rows in a batch.
ROWS = {"little-world": (128, 8), "tiny-shakespeare": (64, 8)}
FIRST = sweeps.SEEDS[:1]
STORIES = {"validation": 200, "test": 400}
Data = Windows | Documents


@functools.cache  # for each process once
def texts(
    name: str, validation: int, test: int
) -> tuple[CharTokenizer, tuple[Data, ...]]:
    """A text's tokenizer, and what to train on, choose rates on and measure on."""
    length, _ = ROWS[name]
    if name == "little-world":
        world = corpus.load(name, held_out_stories=test)
        other = corpus.load(name, seed=1, train_stories=1, held_out_stories=validation)
        tokenizer = CharTokenizer(world.alphabet)
        stories = (world.train, other.held_out, world.held_out)
        return tokenizer, tuple(
            Documents.from_texts(part, tokenizer, length) for part in stories
        )
    plays = corpus.load(name)
    tokenizer = CharTokenizer(plays.alphabet)
    half = len(plays.held_out_text) // 2
    held_out = plays.held_out_text
    parts = (plays.train_text, held_out[:half], held_out[half:])
    return tokenizer, tuple(Windows(tokenizer.encode(part), length) for part in parts)


def build(
    tokenizer: CharTokenizer, settings: many.Settings, **changes: Any
) -> tuple[TransformerConfig, TrainConfig]:
    """What a side is made of, and how it is trained."""
    length, rows = ROWS[settings["text"]]
    size = running.Size(steps=settings["steps"], stories=0, variants=0, characters=0)
    options = {
        "d_model": WIDTH,
        "positions": "rotary",
        "context_length": length,
        "batch_size": rows,
        "warmup_steps": settings["steps"] // WARM_UP,
        "seed": settings["seed"],
    }
    return running.recipe(tokenizer, size, **options | changes)


def train_one(settings: many.Settings, **stories: int) -> many.Run:
    """Train one side once, and measure on two other texts.

    Args:
        settings: a dict of the "text", the "part", the "rate", the "seed" and the
            "steps".
        stories: how many of the "validation" and of the "test" to measure on, where
            the text is little-world; of tiny Shakespeare's held-out text, it is a half
            each.

    Returns:
        run: a dict of the "validation" and the "test" loss in nats per character; where
            the loss grew without bound, of a "validation" loss of None. Of a part in
            ``WATCHED``, on the stories, also the largest "score" on the test's first
            64.
    """
    tokenizer, (data, validation, test) = texts(settings["text"], **STORIES | stories)
    changes = PARTS[settings["part"]] | {"learning_rate": settings["rate"]}
    model_config, train_config = build(tokenizer, settings, **changes)
    torch.manual_seed(settings["seed"])
    model = TransformerLM(model_config)
    try:
        train(model, data, train_config, device="cpu", progress=False)
    except FloatingPointError:  # the rate is too high
        return {"validation": None}
    run = {
        "validation": running.rounded(evaluate(model, validation)),
        "test": running.rounded(evaluate(model, test)),
    }
    if settings["text"] == TEXTS[0] and settings["part"] in WATCHED:
        run["score"] = round(largest_score(model, test), 1)
    return run


def largest_score(model: TransformerLM, data: Data) -> float:
    """The largest score, whatever its sign, that any softmax of a model gets.

    Args:
        model: one whose attention has no window and no shared keys.
        data: texts, of which the first batch of 64 is read.

    Returns:
        score: a number, after the division by √D.
    """
    found = [0.0]

    def watched(
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        *,
        causal: bool,
        window: int | None,
        sinks: int,
    ) -> Tensor:
        scores = (queries @ keys.mT).tril() / queries.shape[-1] ** 0.5
        found.append(float(scores.abs().max()))
        return F.scaled_dot_product_attention(queries, keys, values, is_causal=causal)

    layers = [layer for layer in model.modules() if isinstance(layer, BlockAttention)]
    for layer in layers:
        layer.core = watched
    with torch.no_grad():
        model(next(data.all(64))[0])
    for layer in layers:
        layer.core = None
    return max(found)


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks, part by part, on both texts in turn."""
    sides = [
        {"text": text, "part": part, "steps": STEPS} for part in PARTS for text in TEXTS
    ]
    missing = sweeps.lacking_of_all(record, sides, BEGIN, beside=FIRST)
    if missing:  # a sweep chooses among the rates that all seeds have tried
        return missing
    every = [
        {"text": TEXTS[0], "part": part, "steps": STEPS, "rate": rate, "seed": seed}
        for rate in TOO_HIGH
        for part in WATCHED
        for seed in sweeps.SEEDS
    ]
    return [one for one in every if not any(has(run, one) for run in record["runs"])]


if __name__ == "__main__":
    sys.exit(many.main("block_parts", wanted, train_one))
