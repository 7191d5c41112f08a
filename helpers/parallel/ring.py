"""Attention over a text that is spread over processes.

Each process holds a part of the positions. Its queries stay, and keys and values go
round from process to process, so that nobody ever holds all of them.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor

from helpers import validation
from helpers.tiles.flash import TILE, Walk, in_groups, walk_backward, walk_forward
from helpers.tiles.online_softmax import merge

PARTS, SUMS = 0, 1  # tags of keys and values, and of their gradients


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
    Where causal, later parts are skipped, so the last process has 2 N - 1 times the
    work of the first: N - 1 whole parts and half of its own, beside half of a part.

    Keys and values travel in their own dtype, while those that are here are used: N - 1
    times forward, and as often backward. There their gradients travel too, N times
    until they are home, and where 16 bits came in, in 32.

    Args:
        queries: (..., T, D), this process's positions.
        keys: (..., T, D), of the same positions. Heads may share them, as in
            ``flash_attention``: with queries (..., H, T, D) they may be
            (..., H_kv, T, D), and no more than these is sent.
        values: (..., T, D_v), with as many heads as the keys.
        causal: no query attends to what comes after it.
        tile: queries and keys in a tile.

    Returns:
        context: (..., T, D_v). It has a gradient, which goes round the ring as well:
            all processes must call ``backward``. It has no second one: asking for that
            is a RuntimeError.

    Raises:
        ValueError: what ``flash_attention`` refuses, or another number of queries than
            keys.

    Source: Liu et al. 2023, section 3 (ring attention).
    """
    validation.require_walk(queries, keys, values, causal=causal, tile=tile)
    T, S = queries.shape[-2], keys.shape[-2]
    if T != S:
        raise ValueError(
            f"queries and keys must be of the same positions, got {T} and {S}"
        )
    parts = in_groups(queries, keys, values)
    context: Tensor = _Ring.apply(*parts, causal, tile)[0]
    return context.reshape(*queries.shape[:-1], values.shape[-1])


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
        for step, part in enumerate(_everyones(keys, values)):
            walk = _walk(step, queries.shape[-2], causal, tile)
            if walk is not None:
                found = walk_forward(scaled, part[0].to(wide), part[1].to(wide), walk)
                context, logs = merge(context, logs, *found)
        return context.to(queries.dtype), logs

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        *tensors, ctx.causal, ctx.tile = inputs
        context, logs = output
        ctx.mark_non_differentiable(logs)
        ctx.save_for_backward(*tensors, context, logs)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "ring_attention has no second gradient, and create_graph=True asks "
                "for one"
            )
        queries, keys, values, context, logs = ctx.saved_tensors
        wide, scale = logs.dtype, math.sqrt(queries.shape[-1])
        gradient = gradient.to(wide)
        shared = (gradient * context.to(wide)).sum(dim=-1, keepdim=True)
        scaled = queries.to(wide) / scale
        to_scaled = torch.zeros_like(scaled)
        zeros = [torch.zeros_like(one, dtype=wide) for one in (keys, values)]
        coming = _OnTheWay(zeros, [])
        for step, part in enumerate(_everyones(keys, values)):
            walk = _walk(step, queries.shape[-2], ctx.causal, ctx.tile)
            found: tuple[Tensor, ...] = ()
            if walk is not None:
                inputs = (scaled, part[0].to(wide), part[1].to(wide))
                found = walk_backward(gradient, shared, logs, inputs, walk)
                to_scaled += found[0]
            # What others found for these keys and values has come during the walk.
            sums = coming.arrived()
            if found:
                sums = [sums[0] + found[1], sums[1] + found[2]]
            coming = _pass_on(*sums, tag=SUMS)
        gradients = (to_scaled / scale, *coming.arrived())
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


class _OnTheWay(NamedTuple):
    """What the process before this one sends, and the transfers to wait for."""

    tensors: list[Tensor]
    transfers: list[dist.Work]

    def arrived(self) -> list[Tensor]:
        """Wait, and return what has come."""
        for one in self.transfers:
            one.wait()
        return self.tensors


def _everyones(keys: Tensor, values: Tensor) -> Iterator[list[Tensor]]:
    """Keys and values of all processes: this one's, then those of the one before it.

    While a part is used, the next one is on its way.
    """
    part = [keys, values]
    for _ in range(dist.get_world_size() - 1):
        following = _pass_on(*part, tag=PARTS)
        yield part
        part = following.arrived()
    yield part


def _pass_on(*tensors: Tensor, tag: int) -> _OnTheWay:
    """Begin to send tensors to the next process, and to take those of the one before.

    All processes begin their transfers in one order, and wait for none that isn't begun
    on both sides without more waiting: so nobody waits for ever.
    """
    rank, processes = dist.get_rank(), dist.get_world_size()
    if processes == 1:
        return _OnTheWay(list(tensors), [])
    after, before = (rank + 1) % processes, (rank - 1) % processes
    leaving = [one.contiguous() for one in tensors]
    arriving = [torch.empty_like(one) for one in leaving]
    operations = [dist.P2POp(dist.isend, one, after, tag=tag) for one in leaving] + [
        dist.P2POp(dist.irecv, one, before, tag=tag) for one in arriving
    ]
    return _OnTheWay(arriving, dist.batch_isend_irecv(operations))
