"""The attention inside a layer, whatever its parts are called.

Attention has two matrix products with a T × T side: queries keysᵀ, and weights values.
``look_inside`` runs a copy on one sequence, keeps all operands of its products, and
finds these two by their shapes, in one piece, head by head or row by row.
"""

import contextlib
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from attention_audit.recording import Trace
from attention_audit.sources import Source, source_of
from attention_audit.subject import Subject, context_of

EXPLAINED = 1e-3  # what a softmax of the right scores leaves unexplained, at most
UNSEEN = "not seen: no T × T weights meet values in a matrix product"
COARSE = "not seen: 16 bits are too coarse to look inside"
FEWEST, MOST = 4, 16  # tokens
BEYOND_WINDOW = 6  # tokens more than a window has, at most
MOVED = 1e-6  # a share of the largest number


@dataclass
class Inside:
    """The attention of one sequence in one call.

    Args:
        queries, keys: (H, T, D), as they met.
        values: (H, T, D_v), as they were averaged.
        weights: (H, T, T), as they averaged.
        contexts: (H, T, D_v)
        x: the sequence, (1, T, d_in).
        known: how many results had been computed before the last of its products.
        trace: everything that was recorded.
        turned: whether its rows and columns are the tokens from the last to the first.
    """

    queries: Tensor
    keys: Tensor
    values: Tensor
    weights: Tensor
    contexts: Tensor
    x: Tensor
    known: int
    trace: Trace
    turned: bool = False
    _sources: dict[int, Source | None] = field(default_factory=dict)

    @property
    def H(self) -> int:
        return len(self.queries)

    @property
    def D(self) -> int:
        return self.queries.shape[-1]

    def source(self, heads: Tensor) -> Source | None:
        """Where queries, keys or values (H, T, D) come from."""
        if id(heads) not in self._sources:
            self._sources[id(heads)] = source_of(self.trace, self.known, heads)
        return self._sources[id(heads)]

    @property
    def ordered_weights(self) -> Tensor:
        """The weights (H, T, T) in the order of the tokens of x."""
        return self.weights.flip(1, 2) if self.turned else self.weights

    @property
    def raw(self) -> Tensor:
        """Scores before anything else: queries keysᵀ, (H, T, T)."""
        return self.queries @ self.keys.mT


class Asked(NamedTuple):
    """What may be queries (R, D) and keys (S, D): a slice of a product, one group."""

    slice: tuple[int, int, int]
    time: int
    queries: Tensor
    keys: Tensor
    fixed: bool = False

    @property
    def size(self) -> tuple[int, int]:
        return len(self.queries), len(self.keys)


class Averaged(NamedTuple):
    """What may be weights (R, S) and values (S, D_v)."""

    time: int
    known: int
    weights: Tensor
    values: Tensor

    @property
    def size(self) -> tuple[int, int]:
        rows, keys = self.weights.shape
        return rows, keys


class Head(NamedTuple):
    """Both together: queries (R, D), keys (S, D), values (S, D_v), weights (R, S)."""

    queries: Tensor
    keys: Tensor
    values: Tensor
    weights: Tensor
    known: int


def inside_of(subject: Subject) -> Inside | None:
    """What ``look_inside`` finds in eval mode, computed once."""
    if not subject.looked:
        inside = None if subject.half else look_inside(subject)
        if inside is not None:
            inside.turned = _turned(subject, inside)
        subject.looked.append(inside)
    return subject.looked[0]


def unseen(subject: Subject) -> str:
    """Why ``inside_of`` found nothing."""
    return COARSE if subject.half else UNSEEN


def _turned(subject: Subject, inside: Inside) -> bool:
    """Whether the layer turns its sequence round before it attends.

    The mask has no say in it: it may be wrong. A token is exchanged for another, and
    the rows of keys and values that change tell where it stands.
    """
    T = inside.x.shape[1]
    own = other = True
    for t in {0, T // 3, T - 1}:
        x = inside.x.clone()
        x[:, t] = subject.x(T, seed=11)[:1, t]
        after = look_inside(subject, x=x)
        if after is None:
            return False
        moved = _moved(after.keys, inside.keys) | _moved(after.values, inside.values)
        own, other = own and bool(moved[t]), other and bool(moved[T - 1 - t])
    return other and not own


def _moved(after: Tensor, before: Tensor) -> Tensor:
    """Which rows of keys or values (H, T, D) change, (T,); none if they don't fit."""
    if after.shape != before.shape or not before.numel():
        return torch.zeros(before.shape[1], dtype=torch.bool)
    return (after - before).abs().amax((0, 2)) > MOVED * before.abs().max()


def look_inside(
    subject: Subject, *, training: bool = False, x: Tensor | None = None, seed: int = 0
) -> Inside | None:
    """Run a copy on one sequence, and find its attention; None where there is none.

    Where x isn't given, it has random tokens: more than a declared window, so that the
    window shows, and as many as no feature axis has.
    """
    if subject.forward_only:  # what is so compiled bears no look inside
        return None
    if x is not None:
        return _run(subject, x, training, seed)[1]
    found, W, clear, unseen_at, sizes = None, subject.window or 0, False, [], set()
    module = subject.module
    tables = itertools.chain(module.parameters(), module.buffers())
    features = {subject.d_in, *(n for one in tables for n in one.shape)}
    most, fewest = max(MOST, W + BEYOND_WINDOW), max(FEWEST, W + 2)

    def run(T: int) -> tuple[Trace | None, Inside | None]:
        return _run(subject, subject.x(T, seed=9)[:1], training, seed)

    for T in range(min(subject.T, most), min(subject.T, fewest) - 1, -1):
        trace, inside = run(T)
        if inside is None:
            # A matrix that isn't there for some T has other axes for others.
            clear |= trace is not None and _unlike(T, {subject.d_in}, module)
            unseen_at += [T] if trace is not None and T not in features else []
            continue
        if found is None:
            found, sizes = inside, {inside.H, inside.D, inside.values.shape[-1]}
        H, D, wide = inside.H, inside.D, inside.values.shape[-1]
        alike = {subject.d_in, H, D, wide, H * D, H * wide}
        if not _unlike(T, alike, module):
            continue
        # A product with as many random features, say, may look like one with tokens.
        if T not in features or (not unseen_at and run(max(T - 1, 1))[1]):
            return inside
    if found is not None and not clear and subject.T <= FEWEST:
        trace, inside = run(3)
        clear = trace is not None and inside is None
    if found is not None and unseen_at and found.x.shape[1] in sizes | features:
        return None
    return None if clear else found


def _unlike(T: int, sizes: set[int], module: nn.Module) -> bool:
    """Whether an axis of T, or of several times T, can be none of features."""
    of_parameters = {size for one in module.parameters() for size in one.shape}
    return all(size % T for size in sizes | of_parameters)


def traced(subject: Subject, x: Tensor) -> Trace | None:
    """All that a call computes; None where it can't be had."""
    return None if subject.forward_only else _run(subject, x, False, 0)[0]


def _run(
    subject: Subject, x: Tensor, training: bool, seed: int
) -> tuple[Trace | None, Inside | None]:
    """What a call computed, and the attention in it.

    In double precision where the layer can be had in it.
    """
    for dtype in (torch.float64, x.dtype):
        module = subject.copy().to(dtype).train(training or subject.in_training)
        module.requires_grad_(True)
        trace = Trace(module, x.shape[1])
        # What it can't do is another check's business.
        with contextlib.suppress(Exception), sdpa_kernel(SDPBackend.MATH), trace:
            output = context_of(module, x.to(dtype), seed=seed)
            trace.output = output.detach()[0].cpu().double()
        if trace.output.numel():
            unlike = _unlike(x.shape[1], {x.shape[2]}, module)
            return trace, _attention(trace, x, unlike)
    return None, None


def _attention(trace: Trace, x: Tensor, unlike: bool) -> Inside | None:
    """Pair products of weights and values with those of queries and keys before them.

    Queries that share keys may stand in one product, group behind group or token by
    token. Where one way explains nothing, the other is tried.
    """
    ways = [
        _inside(trace, x, heads)
        for by_token in (False, True)
        if (heads := _whole_heads(trace, by_token=by_token))
    ]
    for inside in ways:
        if inside is not None and _explained(inside):
            return inside
    ways.append(_inside(trace, x, _heads_of_rows(trace)))
    if unlike:  # what averages values may then be wrong enough to be negative
        ways.append(_inside(trace, x, _whole_heads(trace, below_zero=True)))
    return next((inside for inside in ways if inside is not None), None)


def _explained(inside: Inside) -> bool:
    """Whether weights belong to these scores, and queries to earlier numbers."""
    _, rest = slopes_of(inside.raw, inside.weights)
    return rest < EXPLAINED and inside.source(inside.queries) is not None


def _inside(trace: Trace, x: Tensor, heads: list[Head]) -> Inside | None:
    widths = {(one.queries.shape, one.values.shape) for one in heads}
    if len(widths) != 1:  # none, or heads that differ
        return None
    queries, keys, values, weights = (
        torch.stack([getattr(head, name) for head in heads])
        for name in ("queries", "keys", "values", "weights")
    )
    # Some fill up heads with zeros, for a kernel that wants certain widths.
    real = (queries != 0).any(0).any(0) | (keys != 0).any(0).any(0)
    queries, keys = queries[..., real], keys[..., real]
    values = values[..., (values != 0).any(0).any(0)]
    known = max(head.known for head in heads)
    sums = weights.sum(-1, keepdim=True)
    if not torch.allclose(sums, torch.ones_like(sums), atol=1e-4):
        # Some divide by the sums afterwards: then that was part of the weights.
        divided = weights / sums
        weights = divided if _appears(trace, known, divided @ values) else weights
    return Inside(queries, keys, values, weights, weights @ values, x, known, trace)


def _whole_heads(
    trace: Trace, *, by_token: bool = False, below_zero: bool = False
) -> list[Head]:
    """Heads whose products have all T rows."""
    whole = trace.T, trace.T
    asked = [one for one in _asked(trace) if one.size == whole]
    averaged = [
        one for one in _averaged(trace, by_token, below_zero) if one.size == whole
    ]
    return _paired(averaged, asked)


def _heads_of_rows(trace: Trace) -> list[Head]:
    """Heads computed a few rows at a time, with all keys or those up to the row."""
    chains: list[list[Head]] = []
    for head in _paired(list(_averaged(trace)), list(_asked(trace))):
        rows, keys = len(head.queries), len(head.keys)
        for chain in chains:
            before = sum(len(one.queries) for one in chain)
            if before + rows <= trace.T and keys in (before + rows, trace.T):
                chain.append(head)
                break
        else:
            if rows < trace.T and keys in (rows, trace.T):
                chains.append([head])
    found = []
    for chain in chains:
        last = chain[-1]
        if (
            sum(len(one.queries) for one in chain) != trace.T
            or len(last.keys) != trace.T
        ):
            continue
        if all(torch.equal(one.keys, last.keys[: len(one.keys)]) for one in chain):
            weights = [
                F.pad(one.weights, (0, trace.T - len(one.keys))) for one in chain
            ]
            queries = torch.cat([one.queries for one in chain])
            found.append(
                Head(queries, last.keys, last.values, torch.cat(weights), last.known)
            )
    return found


def _paired(averaged: list[Averaged], asked: list[Asked]) -> list[Head]:
    """For weights and values, the scores before them.

    Those that explain the weights come first. Where none does, because positions have
    their say or softmax is missing, the order of the calls decides, and products with a
    table, as that of distances is, come last.
    """
    found: dict[int, Asked] = {}
    for exactly in (True, False):
        asked = asked if exactly else sorted(asked, key=lambda one: one.fixed)
        for i, mine in enumerate(averaged):
            used = {one.slice for one in found.values()}
            fitting = (
                one
                for one in asked
                if one.time < mine.time
                and one.size == mine.size
                and one.slice not in used
                and (not exactly or _misfit(one, mine) < EXPLAINED)
            )
            if i not in found and (first := next(fitting, None)) is not None:
                found[i] = first
    return [
        Head(found[i].queries, found[i].keys, mine.values, mine.weights, mine.known)
        for i, mine in enumerate(averaged)
        if i in found
    ]


def _asked(trace: Trace) -> Iterator[Asked]:
    """What may be queries and keys: all products with an axis of features between them.

    Where several queries share keys, they may stand one group behind the other. Which
    operand has the queries is known from the weights: both ways are offered.
    """
    for product in trace.products:
        if product.parameter:
            continue
        for n, (left, right) in enumerate(
            zip(product.left, product.right.mT, strict=True)
        ):
            for one, other in ((left, right), (right, left)):
                for by_token in (False, True):
                    for g, queries in enumerate(_groups(one, trace.T, by_token)):
                        place = product.time, n, g
                        yield Asked(place, product.time, queries, other, product.fixed)


def _averaged(
    trace: Trace, by_token: bool = False, below_zero: bool = False
) -> Iterator[Averaged]:
    """What may be weights and values: not zeros alone, nor anything below 0."""
    for product in trace.products:
        transposed = product.right.mT, product.left.mT
        for left, right in ((product.left, product.right), transposed):
            may_be = below_zero or bool((left >= 0).all())
            if may_be and left.any() and left.shape[-1] <= trace.T:
                for weights, values in zip(left, right, strict=True):
                    for group in _groups(weights, trace.T, by_token):
                        yield Averaged(product.time, product.known, group, values)
                break


def _groups(rows: Tensor, T: int, by_token: bool) -> Sequence[Tensor]:
    """Rows (gT, ...) as g times T; fewer rows, or what isn't whole, as they are."""
    if len(rows) % T:
        return [] if by_token else [rows]
    if by_token:
        return rows.unflatten(0, (T, -1)).unbind(1) if len(rows) > T else []
    return rows.split(T)


def _misfit(asked: Asked, averaged: Averaged) -> float:
    """How far the logarithms of weights are from a multiple of these scores."""
    raw, weights = (asked.queries @ asked.keys.mT)[None], averaged.weights[None]
    slopes, rest = slopes_of(raw, weights)
    return rest if (slopes > 0).all() else math.inf


def _appears(trace: Trace, known: int, contexts: Tensor) -> bool:
    """Whether contexts (H, T, D_v) are among the results, as they are."""
    wanted = contexts.transpose(1, 2).reshape(-1, trace.T)
    for result in trace.results[known:]:
        if result.shape[1] >= len(wanted):
            near = torch.cdist(wanted, result.T).min(dim=1).values
            if (near <= 1e-4 * wanted.norm(dim=1)).all():
                return True
    return False


def slopes_of(
    raw: Tensor, weights: Tensor, other: tuple[Tensor, Tensor] | None = None
) -> tuple[Tensor, float]:
    """The numbers a (H,) with weights = softmax(a raw + bias), and how badly they fit.

    Args:
        raw, weights: (H, T, T)
        other: the same of another sequence. Then a bias that doesn't depend on the
            tokens may come in, such as one for distances.

    Returns:
        a: (H,), NaN for a head without two weights to compare.
        rest: the largest part that a leaves unexplained, as a share of the whole.
    """
    known = weights > 1e-30 if other is None else (weights > 1e-30) & (other[1] > 1e-30)
    logits = weights.clamp_min(1e-300).log()
    if other is not None:
        raw, logits = raw - other[0], logits - other[1].clamp_min(1e-300).log()
    raw, logits = _centred(raw, known), _centred(logits, known)
    size = (raw * raw).sum((1, 2))
    slopes = (raw * logits).sum((1, 2)) / size
    rest = logits - slopes[:, None, None] * raw
    scale = (logits * logits).sum((1, 2)).clamp_min(1e-30)
    shares = ((rest * rest).sum((1, 2)) / scale).sqrt()
    return slopes, shares.nan_to_num(0.0).max().item()


def _centred(values: Tensor, known: Tensor) -> Tensor:
    """Each row less the mean of its known entries; 0 elsewhere."""
    values = values.masked_fill(~known, 0.0)
    mean = values.sum(-1, keepdim=True) / known.sum(-1, keepdim=True).clamp_min(1)
    return (values - mean).masked_fill(~known, 0.0)
