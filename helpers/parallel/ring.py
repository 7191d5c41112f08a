"""Attention over a text that is spread over processes.

Each process holds a part of the positions. Its queries stay, and keys and values go
round from process to process, so that nobody ever holds all of them.
"""

import math
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from helpers import validation
from helpers.tiles.flash import TILE, Walk, walk_backward, walk_forward
from helpers.tiles.online_softmax import merge


def ring_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    causal: bool = False,
    tile: int = TILE,
) -> Tensor:
    """The context of this process's queries, among the keys of all processes.

    With N processes, each has T positions of a text of N T, in the order of the ranks.
    Where causal, later parts are skipped, so the last process has N times the work of
    the first.

    Args:
        queries: (..., T, D), this process's positions.
        keys: (..., T, D), of the same positions.
        values: (..., T, D_v), likewise.
        causal: no query attends to what comes after it.
        tile: queries and keys in a tile.

    Returns:
        context: (..., T, D_v). It has a gradient, which goes round the ring as well:
            all processes must call ``backward``.

    Raises:
        ValueError: what ``scaled_dot_product_attention`` refuses, or another number of
            queries than keys.

    Source: Liu et al. 2023, section 3 (ring attention).
    """
    validation.require_walk(queries, keys, values, causal=causal, tile=tile)
    T, S = queries.shape[-2], keys.shape[-2]
    if T != S:
        raise ValueError(
            f"queries and keys must be of the same positions, got {T} and {S}"
        )
    context: Tensor = _Ring.apply(queries, keys, values, causal, tile)[0]
    return context


class _Ring(torch.autograd.Function):
    """As in one process: keeps what goes in, what comes out, and a number a query."""

    @staticmethod
    def forward(
        queries: Tensor, keys: Tensor, values: Tensor, causal: bool, tile: int
    ) -> tuple[Tensor, Tensor]:
        wide = torch.promote_types(queries.dtype, torch.float32)
        scaled = queries.to(wide) / math.sqrt(queries.shape[-1])
        context = scaled.new_zeros(*scaled.shape[:-1], values.shape[-1])
        logs = scaled.new_full((*scaled.shape[:-1], 1), -math.inf)
        part = [keys.to(wide), values.to(wide)]
        for step in range(dist.get_world_size()):
            walk = _walk(step, queries.shape[-2], causal, tile)
            if walk is not None:
                found = walk_forward(scaled, part[0], part[1], walk)
                context, logs = merge(context, logs, *found)
            part = _pass_on(*part)
        return context.to(queries.dtype), logs

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        *tensors, ctx.causal, ctx.tile = inputs
        context, logs = output
        ctx.mark_non_differentiable(logs)
        ctx.save_for_backward(*tensors, context, logs)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        queries, keys, values, context, logs = ctx.saved_tensors
        wide, scale = logs.dtype, math.sqrt(queries.shape[-1])
        gradient = gradient.to(wide)
        shared = (gradient * context.to(wide)).sum(dim=-1, keepdim=True)
        scaled = queries.to(wide) / scale
        to_scaled = torch.zeros_like(scaled)
        # Keys and values travel with their gradients, and are home after a round.
        part = [keys.to(wide), values.to(wide)]
        part += [torch.zeros_like(one) for one in part]
        for step in range(dist.get_world_size()):
            walk = _walk(step, queries.shape[-2], ctx.causal, ctx.tile)
            if walk is not None:
                inputs = (scaled, part[0], part[1])
                found = walk_backward(gradient, shared, logs, inputs, walk)
                to_scaled += found[0]
                part = [*part[:2], part[2] + found[1], part[3] + found[2]]
            part = _pass_on(*part)
        gradients = (to_scaled / scale, part[2], part[3])
        return (*(one.to(queries.dtype) for one in gradients), None, None)


def _walk(step: int, T: int, causal: bool, tile: int) -> Walk | None:
    """Which tiles to walk after so many steps; None where all keys come later."""
    rank, processes = dist.get_rank(), dist.get_world_size()
    owner = (rank - step) % processes  # of the keys that are here now
    if not causal:
        return Walk(tile=tile)
    if owner > rank:
        return None
    return Walk(causal=True, tile=tile, first_query=rank * T, first_key=owner * T)


def _pass_on(*tensors: Tensor) -> list[Tensor]:
    """Send tensors to the next process, and take those of the one before."""
    rank, processes = dist.get_rank(), dist.get_world_size()
    if processes == 1:
        return list(tensors)
    after, before = (rank + 1) % processes, (rank - 1) % processes
    leaving = [one.contiguous() for one in tensors]
    arriving = [torch.empty_like(one) for one in leaving]
    operations = [dist.P2POp(dist.isend, one, after) for one in leaving] + [
        dist.P2POp(dist.irecv, one, before) for one in arriving
    ]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    return arriving
