"""Attention tile by tile, forward and backward, in memory linear in the text's length.

Shapes use the book's letters: T query positions, S key positions, D width of one head,
H heads, H_kv of keys and values. "..." stands for any leading axes. Neither scores nor
weights (T, S) ever exist: a tile of them is computed, used and dropped, and the
backward pass computes it again.
"""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from helpers import validation
from helpers.attention import mask_between
from helpers.tiles.online_softmax import nothing_seen, see_more
from helpers.validation import checked, unchecked

_mask_between = unchecked(mask_between)  # the walk has been checked
TILE = 256  # positions; a tile of scores then is a quarter of a megabyte in float32


@dataclasses.dataclass(frozen=True)
class Walk:
    """Which tiles there are, and which keys each query of a tile may attend to.

    Attributes:
        causal: whether a query may attend to nothing that comes after it.
        window: to how many last positions, or None for all; only where causal.
        sinks: how many first positions stay visible besides.
        tile: queries and keys in a tile.
        first_query: the position of the first query.
        first_key: the position of the first key.
    """

    causal: bool = False
    window: int | None = None
    sinks: int = 0
    tile: int = TILE
    first_query: int = 0
    first_key: int = 0

    def tiles(self, length: int) -> Iterator[slice]:
        """Cut an axis into slices of ``tile``; the last may be shorter."""
        for start in range(0, length, self.tile):
            yield slice(start, min(start + self.tile, length))

    def is_dark(self, rows: slice, columns: slice) -> bool:
        """Whether no query of the tile may attend to any of its keys."""
        if not self.causal:
            return False
        first, last, nearest = self._corners(rows, columns)
        too_far = self.window is not None and nearest <= first - self.window
        only_others = self.first_key + columns.start >= self.sinks
        return self.first_key + columns.start > last or (too_far and only_others)

    def is_light(self, rows: slice, columns: slice) -> bool:
        """Whether every query of the tile may attend to all of its keys."""
        if not self.causal:
            return True
        first, last, nearest = self._corners(rows, columns)
        farthest = self.first_key + columns.start
        in_window = self.window is None or farthest > last - self.window
        return nearest <= first and (in_window or nearest < self.sinks)

    def mask(self, rows: slice, columns: slice, device: torch.device) -> Tensor:
        """(rows, columns) boolean, True = may attend."""
        queries = torch.arange(rows.start, rows.stop, device=device)
        keys = torch.arange(columns.start, columns.stop, device=device)
        return _mask_between(
            queries + self.first_query,
            keys + self.first_key,
            window=self.window,
            sinks=self.sinks,
        )

    def _corners(self, rows: slice, columns: slice) -> tuple[int, int, int]:
        """The positions of the first and the last query, and of the last key."""
        first = self.first_query + rows.start
        last = self.first_query + rows.stop - 1
        return first, last, self.first_key + columns.stop - 1


def in_groups(
    queries: Tensor, keys: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Views in which query heads 0, 0, 1, 1 meet keys 0 and 1 by broadcasting.

    Args:
        queries: (..., H, T, D)
        keys: (..., H_kv, S, D), where H_kv divides H.
        values: (..., H_kv, S, D_v)

    Returns:
        queries: (..., H_kv, G, T, D), with G = H / H_kv.
        keys: (..., H_kv, 1, S, D)
        values: (..., H_kv, 1, S, D_v). All three are as they came where every head of
            queries has its own keys.
    """
    if queries.shape[:-2] == keys.shape[:-2]:
        return queries, keys, values
    groups = queries.unflatten(-3, (keys.shape[-3], -1))
    return groups, keys.unsqueeze(-3), values.unsqueeze(-3)


def tile_scores(
    queries: Tensor, keys: Tensor, walk: Walk, rows: slice, columns: slice
) -> Tensor:
    """Scores of one tile, (..., rows, columns); -inf where a query may not attend.

    Args:
        queries: (..., T, D), divided by √D.
        keys: (..., S, D)
        walk: a ``Walk``.
        rows: a slice of the queries.
        columns: a slice of the keys.
    """
    scores = queries[..., rows, :] @ keys[..., columns, :].mT
    if not walk.is_light(rows, columns):
        scores.masked_fill_(~walk.mask(rows, columns, scores.device), -math.inf)
    return scores


def walk_forward(
    queries: Tensor, keys: Tensor, values: Tensor, walk: Walk
) -> tuple[Tensor, Tensor]:
    """The context, and what the backward pass needs to make the weights again.

    Args:
        queries: (..., T, D), divided by √D.
        keys: (..., S, D); as from ``in_groups`` where heads share them.
        values: (..., S, D_v)
        walk: a ``Walk``.

    Returns:
        context: (..., T, D_v)
        logs: (..., T, 1), the logarithm of each row's sum of exp(score).
    """
    context = queries.new_empty(*queries.shape[:-1], values.shape[-1])
    logs = queries.new_empty(*queries.shape[:-1], 1)
    for rows in walk.tiles(queries.shape[-2]):
        seen = nothing_seen(queries[..., rows, :], values.shape[-1])
        for columns in walk.tiles(keys.shape[-2]):
            if not walk.is_dark(rows, columns):
                scores = tile_scores(queries, keys, walk, rows, columns)
                seen = see_more(seen, scores, values[..., columns, :])
        context[..., rows, :], logs[..., rows, :] = seen.context, seen.logs
    return context, logs


def walk_backward(
    gradient: Tensor,
    shared: Tensor,
    logs: Tensor,
    inputs: tuple[Tensor, Tensor, Tensor],
    walk: Walk,
) -> tuple[Tensor, Tensor, Tensor]:
    """From the context's gradient to those of queries, keys and values.

    Args:
        gradient: (..., T, D_v), of the context.
        shared: (..., T, 1), each row's dot product of gradient and context: what
            softmax subtracts on its way back.
        logs: (..., T, 1) from ``walk_forward``, over all keys of the row.
        inputs: queries divided by √D, keys and values, as in ``walk_forward``.
        walk: the same ``Walk``.

    Returns:
        gradients: of the three inputs.
    """
    queries, keys, values = inputs
    to_queries, to_keys, to_values = map(torch.zeros_like, inputs)
    for columns in walk.tiles(keys.shape[-2]):
        for rows in walk.tiles(queries.shape[-2]):
            if walk.is_dark(rows, columns):
                continue
            scores = tile_scores(queries, keys, walk, rows, columns)
            weights = (scores - logs[..., rows, :]).exp()  # as they were in forward
            arriving = gradient[..., rows, :]
            part = to_values[..., columns, :]
            part += (weights.mT @ arriving).sum_to_size(part.shape)
            to_weights = arriving @ values[..., columns, :].mT
            to_scores = weights * (to_weights - shared[..., rows, :])
            to_queries[..., rows, :] += to_scores @ keys[..., columns, :]
            part = to_keys[..., columns, :]
            part += (to_scores.mT @ queries[..., rows, :]).sum_to_size(part.shape)
    return to_queries, to_keys, to_values


class _Flash(torch.autograd.Function):
    """Keeps what goes in, what comes out, and one number for each query."""

    @staticmethod
    def forward(
        queries: Tensor, keys: Tensor, values: Tensor, walk: Walk
    ) -> tuple[Tensor, Tensor]:
        wide = torch.promote_types(queries.dtype, torch.float32)
        scaled = queries.to(wide) / math.sqrt(queries.shape[-1])
        context, logs = walk_forward(scaled, keys.to(wide), values.to(wide), walk)
        return context.to(queries.dtype), logs

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        *tensors, ctx.walk = inputs
        context, logs = output
        ctx.mark_non_differentiable(logs)
        ctx.save_for_backward(*tensors, context, logs)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "flash_attention has no second gradient, and create_graph=True asks "
                "for one"
            )
        queries, keys, values, context, logs = ctx.saved_tensors
        wide, D = logs.dtype, queries.shape[-1]
        gradient = gradient.to(wide)
        shared = (gradient * context.to(wide)).sum(dim=-1, keepdim=True)
        scaled = queries.to(wide) / math.sqrt(D)
        inputs = (scaled, keys.to(wide), values.to(wide))
        to_scaled, to_keys, to_values = walk_backward(
            gradient, shared, logs, inputs, ctx.walk
        )
        dtype = queries.dtype
        to_queries = to_scaled / math.sqrt(D)
        return to_queries.to(dtype), to_keys.to(dtype), to_values.to(dtype), None


@checked(validation.require_walk)
def flash_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    causal: bool = False,
    window: int | None = None,
    sinks: int = 0,
    tile: int = TILE,
) -> Tensor:
    """What scaled_dot_product_attention returns as context, tile by tile.

    Memory grows with T + S, forward and backward; time as before, but tiles that no
    query may look at cost nothing. Numbers of 16 bits are added up in 32.

    Args:
        queries: (..., T, D)
        keys: (..., S, D). Heads may share them: with queries (..., H, T, D) they may be
            (..., H_kv, S, D), where H_kv divides H, and query heads 0, 0, 1, 1 have
            keys 0, 1. No more than a tile of them is repeated at a time.
        values: (..., S, D_v), with as many heads as the keys.
        causal: no query attends to what comes after it; the queries are the last T of
            the S positions, as in ``causal_mask``.
        window: with ``causal``: a query attends to its last ``window`` positions alone,
            its own included.
        sinks: with ``window``: so many first positions stay visible besides.
        tile: queries and keys in a tile; a smaller one takes less memory and more time.

    Returns:
        context: (..., T, D_v). It has a gradient, but no second one: asking
            for that is a RuntimeError.

    Raises:
        ValueError: what ``scaled_dot_product_attention`` refuses, but for shared keys;
            heads of keys that don't divide those of queries, more queries than keys
            where causal, a window or sinks that don't fit, or a tile below 1.

    Source: Dao et al. 2022, algorithms 1 and 4; Dao 2023, section 3.1, for the order of
    the loops. Built by hand in chapter 14.
    """
    first_query = keys.shape[-2] - queries.shape[-2] if causal else 0
    walk = Walk(causal, window, sinks, tile, first_query)
    context: Tensor = _Flash.apply(*in_groups(queries, keys, values), walk)[0]
    return context.flatten(-4, -3) if context.dim() > queries.dim() else context
