"""What SmolLM2 predicts of texts that repeat something, without some of its heads."""

import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments.real_model.copying_scores import HEADS, LAYERS, START, Head
from experiments.real_model.pretrained_models import smollm2
from helpers.models.patching import Part, replaced, watched
from helpers.text.repeated_names import Repeated


def losses(ids: Tensor, instead: Mapping[Head, float | Tensor] = {}) -> list[Tensor]:
    """The loss of each text on its first and its second copy, without some heads.

    Args:
        ids: (B, 1 + 2n) or (B, 2n).
        instead: from heads to what stands in place of their contexts.

    Returns:
        first, second: (B,) each: nats per token, over the tokens of a copy but its
            first one.
    """
    model, _ = smollm2()
    n = ids.shape[1] // 2
    rows = []
    with without(instead), torch.no_grad():
        for batch in ids.split(max(1, 1000 // ids.shape[1])):
            logits = model(batch)[:, :-1].transpose(1, 2)
            rows.append(F.cross_entropy(logits, batch[:, 1:], reduction="none"))
    nats = torch.cat(rows)
    return [nats[:, -2 * n + 1 : -n].mean(dim=1), nats[:, -n + 1 :].mean(dim=1)]


def without(instead: Mapping[Head, float | Tensor]) -> Any:
    """A context in which other contexts stand in place of some heads'."""
    model, _ = smollm2()
    return replaced(
        model, {Part("context", *head): other for head, other in instead.items()}
    )


def means(ids: Tensor, real: Tensor | None = None) -> dict[Head, Tensor]:
    """The mean context (D,) of each head over the places of some texts."""
    model, _ = smollm2()
    parts = [Part("context", layer) for layer in range(LAYERS)]
    with watched(model, parts) as given, torch.no_grad():
        model(ids)
    kept = torch.ones_like(ids, dtype=torch.bool) if real is None else real
    of_layers = [
        given[part][kept].mean(dim=0).unflatten(0, (HEADS, -1)) for part in parts
    ]
    places = itertools.product(range(LAYERS), range(HEADS))
    return {(layer, head): of_layers[layer][head] for layer, head in places}


def drawn(
    heads: Sequence[Head], seed: int, *, taken: Sequence[Head] | None = None
) -> list[Head]:
    """As many other heads, at random from the same layers.

    Args:
        heads: which ones they stand beside.
        seed: of the draw.
        taken: the heads that aren't drawn; ``heads`` where left out.

    Returns:
        others: a list as long, unless a layer has too few others.
    """
    rng = random.Random(seed)
    others: list[Head] = []
    for layer in sorted({layer for layer, _ in heads}):
        free = [(layer, head) for head in range(HEADS)]
        free = [one for one in free if one not in (heads if taken is None else taken)]
        count = sum(one[0] == layer for one in heads)
        others += rng.sample(free, min(count, len(free)))
    return others


def padded(asked: Sequence[Repeated], another: bool = False) -> tuple[Tensor, Tensor]:
    """Sentences behind a start token, and what fills them up: nothing looks ahead.

    Args:
        asked: the sentences.
        another: take those whose first mention is another name.

    Returns:
        ids: (B, T)
        real: (B, T) boolean: which of them are the sentences'.
    """
    _, tokenizer = smollm2()
    rows = [
        [START, *tokenizer.encode(one.other if another else one.text)] for one in asked
    ]
    most = max(map(len, rows))
    ids = torch.tensor([[*row, *[START] * (most - len(row))] for row in rows])
    real = torch.arange(most) < torch.tensor([len(row) for row in rows])[:, None]
    return ids, real


def finished(
    asked: Sequence[Repeated], instead: Mapping[Head, float | Tensor], another: bool
) -> dict[str, list[float]]:
    """How well the second mention of a name is finished, without some heads.

    Args:
        asked: the sentences.
        instead: from heads to what stands in place of their contexts.
        another: let the first mention be another name.

    Returns:
        found: a dict of the "loss" and the "logit" (above the mean of all logits) of
            the name's tokens behind the first one, a number a sentence.
    """
    model, tokenizer = smollm2()
    found: dict[str, list[float]] = {"loss": [], "logit": []}
    ids, real = padded(asked, another)
    with without(instead), torch.no_grad():
        logits = torch.cat([model(batch) for batch in ids.split(16)])
    for one, row, kept, given in zip(asked, ids, real, logits, strict=True):
        length, said = int(kept.sum()), tokenizer.encode(one.name)
        if row[length - len(said) : length].tolist() != said:
            raise ValueError(f"{one.text!r} must end with the tokens of its name")
        later = slice(length - len(said) + 1, length)
        before = given[later.start - 1 : later.stop - 1]  # (T, V)
        right = before.gather(1, row[later, None])
        nats = F.cross_entropy(before, row[later])
        found["loss"].append(round(float(nats), 4))
        above = (right - before.mean(dim=1, keepdim=True)).mean()
        found["logit"].append(round(float(above), 4))
    return found
