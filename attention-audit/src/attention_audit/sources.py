"""Where queries, keys and values come from, found by their numbers.

Of all that a layer had computed before, the source is the earliest that is the same but
for one factor, token by token. So it doesn't matter what a projection is called, nor
whether it makes all three at once, nor how its features are laid out.
"""

import itertools
from dataclasses import dataclass

import torch
from torch import Tensor

from attention_audit.recording import Trace

PARALLEL = 1e-9  # what the cosine of two columns may lack to 1: it errs squared
SAME_LENGTHS = 1e-8


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
    found = _same_columns(trace, wanted, known)
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


def _same_columns(
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
    H, T, D = heads.shape
    wanted = heads.norm(dim=-1)  # (H, T)
    if (wanted.std(dim=1) < 1e-3 * wanted.mean(dim=1)).any():  # made equally long
        return None
    place = torch.zeros(H, D, dtype=torch.int64)
    factor = torch.ones(H, D, dtype=heads.dtype)
    before, names = torch.zeros_like(heads), set()
    missing, offset = set(range(H)), 0
    for r, result in enumerate(trace.results[:known]):
        M = result.shape[1]
        if missing and M % D == 0:
            blocks = result.view(T, M // D, D)
            lengths = blocks.norm(dim=-1)  # (T, M / D)
            share = wanted / wanted.norm(dim=1, keepdim=True)
            others = lengths / lengths.norm(dim=0).clamp_min(1e-30)
            best, at = (share @ others).max(dim=1)
            for h in sorted(missing):
                if best[h] > 1 - SAME_LENGTHS:
                    b = int(at[h])
                    place[h] = offset + b * D + torch.arange(D)
                    factor[h] = wanted[h].norm() / lengths[:, b].norm()
                    before[h] = blocks[:, b]
                    names.add(trace.makers.get(r, ""))
                    missing.discard(h)
        offset += M
    if missing:
        return None
    return Source(place, factor, True, before, tuple(sorted(names)))
