"""What SmolLM2 predicts of texts that repeat something, without some of its heads."""

import random
from collections.abc import Mapping, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments.real_model.copying_scores import HEADS, START
from experiments.real_model.heads import Head, drawn, mean_contexts, without
from experiments.real_model.pretrained_models import smollm2
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
    with without(model, instead), torch.no_grad():
        for batch in ids.split(max(1, 1000 // ids.shape[1])):
            logits = model(batch)[:, :-1].transpose(1, 2)
            rows.append(F.cross_entropy(logits, batch[:, 1:], reduction="none"))
    nats = torch.cat(rows)
    return [nats[:, -2 * n + 1 : -n].mean(dim=1), nats[:, -n + 1 :].mean(dim=1)]


def means(ids: Tensor, real: Tensor | None = None) -> dict[Head, Tensor]:
    """The mean context (D,) of each head over the places of some texts, or a part."""
    kept = torch.ones_like(ids, dtype=torch.bool) if real is None else real
    return mean_contexts(smollm2()[0], [(ids, kept)])


def beside(heads: Sequence[Head], seed: int) -> list[Head]:
    """As many other heads, drawn from the same layers with a seed."""
    return drawn(heads, random.Random(seed), num_heads=HEADS)


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
    with without(model, instead), torch.no_grad():
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
