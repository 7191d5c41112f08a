"""Texts told twice, and what each head of SmolLM2 does on them.

Source: Olsson et al. 2022, for scores; Elhage et al. 2021, "Detecting Copying Behavior"
and, for what a head adds to logits directly, "Logit Attributions".
"""

import functools
import random
from typing import NamedTuple

import torch
from torch import Tensor, nn

from experiments import many
from experiments.real_model.heads import Head, output_of
from experiments.real_model.intervals import rounded
from experiments.real_model.pretrained_models import smollm2
from experiments.real_model.sink_texts import windows
from helpers.models.induction import after_the_same
from helpers.models.patching import Part, watched

LAYERS, HEADS, SHARED = 30, 9, 3  # heads; three of them share keys and values
COPY = 25  # tokens of a copy
SCORED = 100  # texts in each half
TESTED = 12  # texts of the test half, without some heads
SWITCHED = 8  # heads, where one number must do
START = 0  # <|endoftext|>, with which a document began in training
REAL = ("shakespeare", "prose", "code")
RANGES = {"all": (17, 49152), "frequent": (300, 3000), "rare": (40000, 49152)}


def told_twice(
    count: int, half: str, *, length: int = COPY, tokens: str = "all"
) -> Tensor:
    """Random tokens, each once in a copy, told twice behind a start token.

    Args:
        count: how many texts.
        half: "choose" or "test", which gives other texts.
        length: n, tokens of a copy.
        tokens: which ones, of ``RANGES``.

    Returns:
        ids: (count, 1 + 2n)
    """
    rng = random.Random(f"{half} {length} {tokens}")
    copies = [rng.sample(range(*RANGES[tokens]), length) for _ in range(count)]
    return torch.tensor([[START, *copy, *copy] for copy in copies])


def of_real_texts(half: str) -> Tensor:
    """Pieces of Shakespeare, this book's prose and its code, told twice.

    Args:
        half: "choose" or "test", as for ``told_twice``.

    Returns:
        ids: (TESTED, 1 + 2 COPY)
    """
    begin, each = int(half == "test"), TESTED // len(REAL)
    pieces = torch.cat(
        [windows(text, 40, 128)[begin::2][::5][:each, :COPY] for text in REAL]
    )
    start = torch.full((len(pieces), 1), START)
    return torch.cat([start, pieces, pieces], dim=1)


class Scores(NamedTuple):
    """What each head does on texts told twice, each (L, H, B).

    Attributes:
        prefix: weight right behind the earlier place of the present token, in the
            second copy.
        previous: weight on the token before, in both copies.
        copied: what the head adds directly to the logit of the token that comes next,
            above the mean of the copy's tokens, in the second copy.
    """

    prefix: Tensor
    previous: Tensor
    copied: Tensor


def scores(ids: Tensor) -> Scores:
    """Score all heads.

    Args:
        ids: (B, 1 + 2n)

    Returns:
        scores: a ``Scores``.
    """
    batches = [_scores(batch) for batch in ids.split(20)]
    return Scores(*(torch.cat(one, dim=-1) for one in zip(*batches, strict=True)))


def _scores(ids: Tensor) -> Scores:
    model, _ = smollm2()
    n = (ids.shape[1] - 1) // 2
    parts = [Part("context", layer) for layer in range(LAYERS)]
    last: list[Tensor] = []
    hook = model.final_norm.register_forward_pre_hook(
        lambda _, inputs: last.append(inputs[0])
    )
    try:
        with watched(model, parts) as given, torch.no_grad():
            _, found = model(ids, return_weights=True)
    finally:
        hook.remove()
    weights = torch.stack(found)  # (L, B, H, T, T)
    second = slice(n + 1, 2 * n)  # those that see what comes next
    marked = after_the_same(ids)[:, None]
    prefix = (weights * marked)[..., second, :].sum(dim=-1).mean(dim=-1)
    previous = weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean(dim=-1)
    size = last[0].square().mean(dim=-1, keepdim=True).sqrt()
    output, gain = model.token_embedding.weight, _weight(model.final_norm)
    aim = output[ids[:, n + 2 :]] - output[ids[:, 1 : n + 1]].mean(dim=1, keepdim=True)
    aim = aim * gain / size[:, second]  # (B, n - 1, C)
    copied = [
        (given[part][:, second] * (aim @ output_of(model, part.layer)))
        .unflatten(-1, (HEADS, -1))
        .sum(dim=-1)
        .mean(dim=1)
        for part in parts
    ]
    return Scores(
        *(one.transpose(1, 2) for one in (prefix, previous, torch.stack(copied)))
    )


def _weight(layer: nn.Module) -> Tensor:
    weight = layer.weight
    assert isinstance(weight, Tensor)  # noqa: S101 for mypy
    return weight


@functools.cache
def chosen() -> Scores:
    """The scores of the first half, on which heads are chosen."""
    return scores(told_twice(SCORED, "choose"))


def ranked(of: Tensor) -> list[Head]:
    """All heads by their scores (L, H, B), the highest first."""
    order = of.mean(dim=-1).flatten().argsort(descending=True).tolist()
    return [divmod(one, HEADS) for one in order]


def matrices() -> many.Run:
    """Whether attending to a token raises its own logit, by each head's matrices alone.

    W_E W_V W_O W_U, with the layer's norm before it and the final norm's gain behind.

    Returns:
        found: by layer and head "positive", the sum of its eigenvalues over the sum of
            their sizes; and "own rank", the share of other tokens that get less than
            the token itself, over 200 tokens (as in ``helpers.models.induction``, of
            which this is a sample).
    """
    model, _ = smollm2()
    embedding = model.token_embedding.weight
    gain = _weight(model.final_norm)
    centred = (embedding - embedding.mean(dim=0)) * gain
    rows = torch.tensor(random.Random(0).sample(range(17, len(embedding)), 200))
    positive, ranks = [], []
    for layer in range(LAYERS):
        with torch.no_grad():
            read = model.blocks[layer].get_submodule("attention_norm")(embedding)
            gram = centred.T @ read  # (C, C)
            values = _weight(model.blocks[layer].get_submodule("attention.W_value"))
            for head, out in enumerate(output_of(model, layer).split(64, dim=1)):
                value = values.split(64)[head // (HEADS // SHARED)]  # (D, C)
                small = out.T @ gram @ value.T  # (D, D): the eigenvalues that aren't 0
                found = torch.linalg.eigvals(small.double())
                positive.append(float(found.sum().real / found.abs().sum()))
                added = read[rows] @ value.T @ out.T @ centred.T  # (200, V)
                own = added.gather(1, rows[:, None])
                below = (added < own).double().sum(dim=1) / (len(embedding) - 1)
                ranks.append(float(below.mean()))
    return {
        "positive": rounded(torch.tensor(positive).view(LAYERS, HEADS)),
        "own rank": rounded(torch.tensor(ranks).view(LAYERS, HEADS)),
    }
