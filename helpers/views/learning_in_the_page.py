"""A transformer that learns in the page, without a kernel and without a network."""

import math
from collections.abc import Mapping
from typing import Any

from helpers.views.view import Table, View

#: What a reader may choose: a block, and how it is trained; warm-ups are shares of all
#: steps.
RECIPES: dict[str, dict[str, dict[str, Any]]] = {
    "Muon, a modern block": {
        "model": {
            "positions": "rotary",
            "norm": "rms",
            "activation": "squared_relu",
        },
        "training": {
            "optimizer": "muon",
            "learningRate": 0.006,
            "muonLearningRate": 0.01,
            "schedule": "linear",
            "warmup": 0.02,
            "weightDecay": 0.1,
            "gradientClip": 1.0,
        },
    },
    "AdamW, chapter 9's block": {
        "model": {"positions": "learned", "norm": "layer", "activation": "gelu"},
        "training": {
            "optimizer": "adamw",
            "learningRate": 0.008,
            "muonLearningRate": 0.02,
            "schedule": "cosine",
            "warmup": 0.1,
            "weightDecay": 0.01,
            "gradientClip": 1.0,
        },
    },
}
SIZES = {"steps": 900, "width": 64, "heads": 4, "layers": 2}
CHOICES = {
    "steps": (300, 600, 900, 1500),
    "width": (32, 64, 96, 128),
    "heads": (1, 2, 4, 8),
    "layers": (1, 2, 3, 4),
}
CONTEXT_LENGTH, BATCH_SIZE = 128, 16


def learning_in_the_page(
    words: Mapping[str, Mapping[str, float]],
    alphabet: str,
    levels: Mapping[str, float],
    *,
    longest_story: int,
) -> View:
    """Train a transformer in the page, from a random start down to the floor.

    A worker draws fresh stories of little-world, finds each gradient as the page
    "Backward, by hand" derives it, and steps with AdamW or Muon. The reader chooses a
    recipe and a size, sees the held-out loss, the answers, where a head looks and what
    the model writes, may hand over a text of their own, and keep the model as a file
    for ``helpers.models.model_file``.

    Args:
        words: a dict from little-world's kinds of words to dicts from words to weights,
            ``WORDS`` of ``helpers.text.little_world``.
        alphabet: the characters of all stories, in the order of their ids.
        levels: a dict from names to losses in nats per character, drawn beside the
            model's; the first is the floor.
        longest_story: characters of the longest one.

    Returns:
        view: a View.

    Raises:
        ValueError: no level, one that isn't positive, an alphabet without the newline
            that ends a story, or stories longer than what a model in the page reads.

    Source: chapters 9 and 10; Jordan et al. 2024 (Muon).
    """
    if not levels or not all(0 < loss < math.inf for loss in levels.values()):
        raise ValueError(f"levels must be positive losses, got {dict(levels)}")
    if "\n" not in alphabet:
        raise ValueError(f"alphabet must hold the newline, got {alphabet!r}")
    if not 0 < longest_story <= CONTEXT_LENGTH:
        raise ValueError(
            f"longest_story must be from 1 to {CONTEXT_LENGTH}, got {longest_story!r}"
        )
    return View(
        "learning_in_the_page",
        "Train a transformer here",
        {
            "words": {kind: list(map(list, of.items())) for kind, of in words.items()},
            "alphabet": alphabet,
            "levels": [[name, float(loss)] for name, loss in levels.items()],
            "recipes": [[name, recipe] for name, recipe in RECIPES.items()],
            "sizes": SIZES,
            "choices": CHOICES,
            "contextLength": CONTEXT_LENGTH,
            "longestStory": longest_story,
            "batchSize": BATCH_SIZE,
        },
        [
            Table(
                "What others lose on held-out stories",
                [[loss] for loss in levels.values()],
                columns=["nats per character"],
                rows=list(levels),
                decimals=3,
            )
        ],
    )
