"""Where queries, keys and values come from, found by their numbers.

Of all that a layer had computed before, the source is the earliest that is the same but
for one factor, token by token. So it doesn't matter what a projection is called, nor
whether it makes all three at once, nor how its features are laid out.
"""

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_audit.recording import Trace

PARALLEL = 1e-9  # what the cosine of two columns may lack to 1: it errs squared
SAME_LENGTHS = 1e-8
FEW_FEATURES = 16  # up to which any of them may be those that are turned
MOST_BLOCKS = 150
Kept = Callable[[Tensor], Tensor]


@dataclass
class Source:
    """Where the features (H, D) of queries, keys or values come from.

    ``place`` (H, D) orders the columns of all results by time and index, ``factor``
    is what each was multiplied by since. ``rotated``: only lengths of whole heads
    agree, as behind a rotation by position. ``before`` (H, T, D) are the numbers of
    that result, and ``parameters`` the names of those that made it.
    """

    place: Tensor
    factor: Tensor
    rotated: bool
    before: Tensor
    parameters: tuple[str, ...]

    @property
    def heads(self) -> list[tuple[int, ...]]:
        """For each head, its columns in ascending order."""
        return [tuple(sorted(row)) for row in self.place.tolist()]


def source_of(trace: Trace, known: int, heads: Tensor) -> Source | None:
    """Where the numbers of heads (H, T, D) come from; None where it can't be seen.

    Only the first ``known`` results may be the source.
    """
    H, T, D = heads.shape
    turned = _same_lengths(trace, heads, known)
    wanted = heads.transpose(1, 2).reshape(H * D, T)
    found = earliest(trace, wanted, known)
    if found is None:
        return turned
    results, index, factor = found
    offsets = [0, *itertools.accumulate(one.shape[1] for one in trace.results)]
    place = torch.tensor([offsets[r] for r in results]) + index
    if turned is not None and int(turned.place.max()) < int(place.max()):
        return turned
    before = torch.stack(
        [trace.results[r][:, i] for r, i in zip(results, index.tolist(), strict=True)]
    )
    return Source(
        place.view(H, D),
        factor.view(H, D),
        False,
        before.view(H, D, T).transpose(1, 2),
        tuple(sorted({trace.makers.get(r, "") for r in results})),
    )


def earliest(
    trace: Trace, wanted: Tensor, known: int
) -> tuple[list[int], Tensor, Tensor] | None:
    """For each wanted column (N, T), the earliest parallel one of all results."""
    N = len(wanted)
    lengths = wanted.norm(dim=1)
    if not (lengths > 0).all():
        return None
    results, index = [-1] * N, torch.zeros(N, dtype=torch.int64)
    factor = torch.ones(N, dtype=wanted.dtype)
    open_ = torch.ones(N, dtype=torch.bool)
    for r, result in enumerate(trace.results[:known]):
        if not open_.any():
            break
        norms = result.norm(dim=0)
        cosines = (wanted / lengths[:, None]) @ (result / norms.clamp_min(1e-30))
        best, at = cosines.nan_to_num(0.0).max(dim=1)
        new = open_ & (best > 1 - PARALLEL)
        for n in new.nonzero().flatten().tolist():
            results[n] = r
        index = torch.where(new, at, index)
        factor = torch.where(new, lengths / norms[at].clamp_min(1e-30), factor)
        open_ &= ~new
    return None if open_.any() else (results, index, factor)


def _same_lengths(trace: Trace, heads: Tensor, known: int) -> Source | None:
    """Rotations keep lengths: find heads by the lengths of their rows."""
    lengths = heads.norm(dim=-1)  # (H, T)
    if (lengths.std(dim=1) >= 1e-3 * lengths.mean(dim=1)).all():
        return _same_kept(trace, heads, known, lambda one: one.norm(dim=-1)[..., None])
    # A norm made all heads equally long: then the lengths of their pairs tell.
    found = (
        _same_kept(trace, heads, known, kept)
        for kept in _kept_by_pairs(heads.shape[-1])
    )
    # In pairs of another kind, they agree with what is turned already, and later.
    return min(
        (one for one in found if one is not None),
        key=lambda one: int(one.place.max()),
        default=None,
    )


def _kept_by_pairs(D: int) -> Iterator[Kept]:
    """What a rotation keeps of (..., D), for each way to make pairs of features.

    Pairs are neighbours, or one of each half; all features are turned, or the first.
    """
    widths = range(D - D % 2, 0, -2) if D <= FEW_FEATURES else (D, D // 2, D // 4)
    for width in widths:
        for halves in (True, False):
            yield functools.partial(_pairs, width=width, halves=halves)


def _pairs(numbers: Tensor, *, width: int, halves: bool) -> Tensor:
    """The lengths of pairs among the first features, and the sizes of the others."""
    turned, rest = numbers[..., :width], numbers[..., width:]
    pairs = turned.unflatten(-1, (2, -1) if halves else (-1, 2))
    return torch.cat([pairs.norm(dim=-2 if halves else -1), rest.abs()], dim=-1)


def _same_kept(trace: Trace, heads: Tensor, known: int, kept: Kept) -> Source | None:
    """The earliest results that have what heads (H, T, D) keep in blocks of D."""
    H, T, D = heads.shape
    wanted = kept(heads).flatten(1)  # (H, T * what is kept)
    share = wanted / wanted.norm(dim=1, keepdim=True).clamp_min(1e-30)
    place = torch.zeros(H, D, dtype=torch.int64)
    factor = torch.ones(H, D, dtype=heads.dtype)
    before, names = torch.zeros_like(heads), set()
    missing, offset = set(range(H)), 0
    for r, result in enumerate(trace.results[:known]):
        M = result.shape[1]
        if missing and M % D == 0:
            blocks = result.view(T, M // D, D).transpose(0, 1)
            others = kept(blocks).flatten(1)
            sizes = others.norm(dim=1)
            best, at = (share @ (others / sizes.clamp_min(1e-30)[:, None]).T).max(dim=1)
            for h in sorted(missing):
                if best[h] > 1 - SAME_LENGTHS:
                    b = int(at[h])
                    place[h] = offset + b * D + torch.arange(D)
                    factor[h] = wanted[h].norm() / sizes[b]
                    before[h] = blocks[b]
                    names.add(trace.makers.get(r, ""))
                    missing.discard(h)
        offset += M
    if missing:
        return None
    return Source(place, factor, True, before, tuple(sorted(names)))


def met_at_home(trace: Trace, known: int, met: Tensor, D: int) -> Tensor | None:
    """What a head's product was multiplied by since its queries and keys were made.

    A token meets itself as if nothing had been turned, whatever a rotation multiplies
    queries by and divides keys by.

    Args:
        met: (H, T), the scores of tokens with themselves.

    Returns:
        factor: (H,), or None where no two earlier results give such scores.
    """
    T = met.shape[1]
    blocks = [
        one.view(T, -1, D).transpose(0, 1)
        for one in trace.results[:known]
        if one.shape[1] % D == 0
    ]
    if not blocks:
        return None
    every = torch.cat(blocks)[:MOST_BLOCKS]
    products = torch.einsum("atd,btd->abt", every, every).flatten(0, 1)
    sizes = products.norm(dim=1).clamp_min(1e-30)
    lengths = met.norm(dim=1)
    cosines = (met / lengths[:, None].clamp_min(1e-30)) @ (products / sizes[:, None]).T
    same = cosines > 1 - SAME_LENGTHS
    if not same.any(dim=1).all():
        return None
    return lengths / sizes[same.double().argmax(dim=1)]
