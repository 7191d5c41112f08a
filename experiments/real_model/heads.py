"""The heads of a model: their names and parts, others at random, and runs without some.

A head is a pair of its layer and its number, both from 0.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

import torch
from torch import Tensor

from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, replaced, watched

Head = tuple[int, int]


def head_name(head: Head) -> str:
    """A head's layer and number, such as "13.8"."""
    return f"{head[0]}.{head[1]}"


def features(model: TransformerLM, head: int) -> slice:
    """A head's features among those of its layer's context."""
    D = model.config.d_model // model.config.num_heads
    return slice(head * D, (head + 1) * D)


def output_of(model: TransformerLM, layer: int) -> Tensor:
    """A layer's output projection (C, H · D)."""
    weight = model.blocks[layer].get_submodule("attention.out_proj").weight
    assert isinstance(weight, Tensor)  # noqa: S101 for mypy
    return weight


def drawn(
    heads: Sequence[Head], generator: random.Random, *, num_heads: int = 9
) -> list[Head]:
    """As many other heads, at random from the same layers.

    Args:
        heads: which ones they stand beside.
        generator: draws them.
        num_heads: H, of a layer.

    Returns:
        others: a list as long, unless a layer has too few others.
    """
    others: list[Head] = []
    for layer in sorted({layer for layer, _ in heads}):
        own = {head for one, head in heads if one == layer}
        free = [head for head in range(num_heads) if head not in own]
        count = min(len(own), len(free))
        others += [(layer, head) for head in generator.sample(free, count)]
    return others


def without(
    model: TransformerLM, instead: Mapping[Head, float | Tensor]
) -> AbstractContextManager[None]:
    """A ``with`` block in which other contexts stand in place of some heads'."""
    return replaced(
        model, {Part("context", *head): other for head, other in instead.items()}
    )


@torch.no_grad()
def mean_contexts(
    model: TransformerLM, texts: Iterable[tuple[Tensor, Tensor]]
) -> dict[Head, Tensor]:
    """Each head's mean context (D,) over the places of some texts.

    Args:
        model: a ``TransformerLM``.
        texts: batches of ids (B, T), and which of their places count, (B, T) boolean.
    """
    parts = [Part("context", layer) for layer in range(len(model.blocks))]
    total, count = torch.zeros(len(parts), model.config.d_model), 0
    for ids, kept in texts:
        with watched(model, parts) as given:
            model(ids)
        total += torch.stack([given[part][kept].sum(dim=0) for part in parts])
        count += int(kept.sum())
    of_layers = (total / count).unflatten(1, (model.config.num_heads, -1))
    return {
        (layer, head): row
        for layer, rows in enumerate(of_layers)
        for head, row in enumerate(rows)
    }
