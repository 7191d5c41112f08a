"""A line of the audit: what are the scores divided by?

Nobody can tell from outputs alone, because a divisor can hide in the query weights. So
a copy gets query and key weights that are known, the same for every head, and a text of
two different tokens. Where all tokens are equal, the context is that token's value.
Of the two values, the context of the mixed text is an average, and its share of the one
grows with the query weights as softmax says, the faster the smaller the divisor.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from helpers.checks.auditing.subject import (
    Result,
    Subject,
    context_of,
    fails,
    passes,
    skip,
)

NAMES = (
    ("W_query", "W_key"),
    ("q_proj", "k_proj"),
    ("query", "key"),
    ("to_q", "to_k"),
    ("wq", "wk"),
)
HEADS = ("num_heads", "n_heads", "n_head", "nhead", "heads")
GROWTH = (0.0, 0.1, 0.2)


@dataclass
class Projections:
    """The query and key weights (H D, d_in) of a part of the module, as views.

    ``readers`` are the modules that these weights work in; each is called with x.
    """

    queries: Tensor
    keys: Tensor
    biases: list[Tensor]
    heads: int
    readers: Sequence[nn.Module]

    @property
    def head_dim(self) -> int:
        return self.queries.shape[0] // self.heads


def scale(subject: Subject) -> Result:
    """The scores are divided by the square root of the width of one head."""
    if subject.T < 2:
        return skip("one token has no rival")
    module = subject.copy()
    found = list(_projections(module, subject.num_heads))
    if not found:
        return skip("no W_query and W_key, or the like, found")
    D = found[0].head_dim
    for one in found:
        widths = (one.queries.shape, one.keys.shape)
        fits = (one.heads * D, subject.d_in)
        if any(tuple(shape) != fits for shape in widths):
            return skip("heads that differ, or read part of x")
    if not _read_x(subject, module, found):
        return skip("queries and keys aren't made of x itself")
    divisor = _divisor(subject, module, found, D)
    if divisor is None:
        return skip("rows are no averages of two values")
    right = math.sqrt(D)
    if abs(divisor - right) > 0.01 * right:
        return fails(f"divides by {divisor:.2f}; √D is {right:.2f}, D = {D}")
    return passes(f"divides by {divisor:.2f} = √D, D = {D}")


def _projections(module: nn.Module, num_heads: int | None) -> Iterator[Projections]:
    for part in module.modules():
        heads = num_heads or next(
            (h for name in HEADS if type(h := getattr(part, name, None)) is int), 1
        )
        packed = getattr(part, "in_proj_weight", None)
        if isinstance(packed, nn.Parameter) and packed.shape[0] % 3 == 0:
            queries, keys, _ = packed.data.chunk(3)
            bias = getattr(part, "in_proj_bias", None)
            biases = [] if bias is None else list(bias.data.chunk(3)[:2])
            yield Projections(queries, keys, biases, heads, [part])
            continue
        for names in NAMES:
            layers = [getattr(part, name, None) for name in names]
            linear = [one for one in layers if isinstance(one, nn.Linear)]
            plain = [one for one in layers if isinstance(one, nn.Parameter)]
            if len(linear) == 2:
                queries, keys = (one.weight.data for one in linear)
                biases = [one.bias.data for one in linear if one.bias is not None]
                yield Projections(queries, keys, biases, heads, linear)
            elif len(plain) == 2 and all(one.dim() == 2 for one in plain):
                queries, keys = (one.data.T for one in plain)
                yield Projections(queries, keys, [], heads, [])


def _read_x(subject: Subject, module: nn.Module, found: list[Projections]) -> bool:
    """Whether what the projections are called with is x, as far as can be seen."""
    x, seen = subject.x(seed=3), []
    readers = [one for projections in found for one in projections.readers]
    hooks = [
        one.register_forward_pre_hook(lambda _, inputs: seen.extend(inputs[:1]))
        for one in readers
    ]
    context_of(module, x)
    for hook in hooks:
        hook.remove()
    return all(one.shape == x.shape and torch.equal(one, x) for one in seen)


def _divisor(
    subject: Subject, module: nn.Module, found: list[Projections], D: int
) -> float | None:
    """What the scores are divided by, or None where the rows don't tell."""
    one, other = (subject.x(1, seed=seed)[:1] for seed in (3, 4))
    generator = torch.Generator().manual_seed(5)
    shape = (2, D, subject.d_in)
    query, key = torch.randn(*shape, generator=generator).to(one)
    # The last token, "other", asks. At growth 1 its scores for the two differ by √D.
    gap = (query @ other[0, 0]) @ (key @ (one - other)[0, 0])
    key = key * math.sqrt(D) / gap
    mixed = torch.cat(
        [(other, one)[(subject.T - s) % 2 == 0] for s in range(subject.T)], 1
    )
    logits = []
    for growth in GROWTH:
        for projections in found:
            heads = projections.heads
            projections.queries.copy_((growth * query).repeat(heads, 1))
            projections.keys.copy_(key.repeat(heads, 1))
            for bias in projections.biases:
                bias.zero_()
        share = _share(subject, module, mixed, one, other)
        if share is None or not 0 < share < 1:
            return None
        logits.append(math.log(share / (1 - share)))
    first, second = ((b - a) / GROWTH[1] for a, b in itertools.pairwise(logits))
    if not first > 1e-4 or abs(first - second) > 0.01 * first:
        return None
    return math.sqrt(D) * 2 / (first + second)


@torch.no_grad()
def _share(
    subject: Subject, module: nn.Module, mixed: Tensor, one: Tensor, other: Tensor
) -> float | None:
    """How much of the value of ``one`` is in the last row of the mixed text."""
    pure = []
    for token in (one, other):
        rows = context_of(module, token.expand(1, subject.T, -1).contiguous())[0]
        if (rows - rows[-1]).abs().max() > 1e-4 * rows.abs().max():
            return None
        pure.append(rows[-1].double())
    row = context_of(module, mixed)[0, -1].double()
    line = pure[0] - pure[1]
    share = (row - pure[1]) @ line / (line @ line)
    if (row - pure[1] - share * line).norm() > 1e-3 * line.norm():
        return None
    return share.item()
