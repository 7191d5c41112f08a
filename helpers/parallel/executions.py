"""One small model executed in eleven ways: what comes out is the same.

Seven ways need one process, four need several. Each gives the model's logits for one
batch, its loss, and the gradients of all weights, in float64.
"""

import contextlib
import math
from typing import Any, cast

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.models.kv_cache import KVCache
from helpers.models.language_model import TransformerLM
from helpers.models.switches import attending_with
from helpers.models.transformer_block import BlockAttention, TransformerConfig
from helpers.parallel import data_parallel, ring, traffic
from helpers.parallel.shards import full_tensor
from helpers.tiles.flash import flash_attention, in_groups
from helpers.tiles.online_softmax import nothing_seen, see_more

ALONE = (
    "every weight computed",
    "PyTorch's fused kernel",
    "online softmax",
    "tiles",
    "a cache",
    "shared heads written out",
    "a window as wide as the text",
)
SPREAD = ("DDP", "FSDP", "tensor parallel", "ring")
BY_ROWS = ("by hand", "DDP", "FSDP")
B, T, VOCAB, C, H, H_KV = 5, 8, 12, 16, 4, 2
MODERN: dict[str, Any] = {"positions": "rotary", "num_kv_heads": H_KV}
Execution = dict[str, Any]


def execute(
    way: str, *, dtype: torch.dtype = torch.float64, **options: Any
) -> Execution:
    """Read a batch, and go back through the model.

    Args:
        way: one of ``ALONE``, one of ``SPREAD``, or "by hand", as DDP does it. These
            need ``torch.distributed``, and all processes must call.
        dtype: of the weights.
        options: of the ``TransformerConfig``; ``MODERN`` where none is given.

    Returns:
        execution: a dict of the "logits" (B, T, VOCAB), the "loss", the "gradients" by
            the weights' names, and "calls" and "payload" of what this process sent. A
            cache is read without gradients: there it holds the logits alone.

    Raises:
        ValueError: another way.
    """
    options = options or MODERN
    if way in ALONE:
        return _execute_alone(way, make_model(dtype, **options))
    if way not in (*SPREAD, "by hand"):
        names = ", ".join((*ALONE, *SPREAD))
        raise ValueError(f"way must be one of {names}, got {way!r}")
    return _execute_parallel(way, make_model(dtype, **options))


def execute_parallel(options: dict[str, Any] | None = None) -> dict[str, Execution]:
    """All of ``SPREAD``, by name; in each of several processes."""
    return {way: execute(way, **options or {}) for way in SPREAD}


def make_model(dtype: torch.dtype = torch.float64, **options: Any) -> TransformerLM:
    """The same model of two blocks in every process."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = TransformerLM(TransformerConfig(VOCAB, T, C, H, 2, **options))
    return model.to(dtype)


def make_batch() -> tuple[Tensor, Tensor]:
    """Ids and targets (B, T); rows have different numbers of targets."""
    generator = torch.Generator().manual_seed(1)
    ids, targets = torch.randint(VOCAB, (2, B, T), generator=generator)
    for row, length in enumerate((8, 1, 5, 2, 7)):
        targets[row, length:] = -100
    return ids, targets


def total_loss(logits: Tensor, targets: Tensor) -> tuple[Tensor, int]:
    """The sum of the losses of all targets, and their number."""
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
    return loss, int((targets >= 0).sum())


# --- in one process -------------------------------------------------------------------


def _execute_alone(way: str, model: TransformerLM) -> Execution:
    cores = {"online softmax": _one_key_at_a_time, "tiles": _in_tiles}
    if way == "a cache":
        return {"logits": _read_with_cache(model)}
    if way == "shared heads written out":
        return _with_written_out_heads(model)
    for layer in model.modules():
        if isinstance(layer, BlockAttention):
            layer.fused = way != "every weight computed"
            if way == "a window as wide as the text":
                layer.window = T
    with contextlib.ExitStack() as stack:
        if way in cores:
            stack.enter_context(attending_with(model, cores[way]))
        return _trained(model)


def _trained(model: TransformerLM) -> Execution:
    ids, targets = make_batch()
    logits = model(ids)
    total, count = total_loss(logits, targets)
    (total / count).backward()
    return {
        "logits": logits.detach(),
        "loss": (total / count).detach(),
        "gradients": _gradients(model),
        "calls": {},
        "payload": {},
    }


def _gradients(model: nn.Module) -> dict[str, Tensor]:
    """By name; what FSDP has spread comes together."""
    return {
        name.removeprefix("module."): full_tensor(cast(Tensor, parameter.grad))
        for name, parameter in model.named_parameters()
    }


def _one_key_at_a_time(
    queries: Tensor, keys: Tensor, values: Tensor, **_: Any
) -> Tensor:
    (S, D), whole = keys.shape[-2:], queries.shape
    queries, keys, values = in_groups(queries, keys, values)
    seen, places = nothing_seen(queries, D), torch.arange(S)
    for key in range(S):
        scores = queries @ keys[..., key, :, None] / math.sqrt(D)
        scores = scores.masked_fill((places < key)[:, None], -math.inf)
        seen = see_more(seen, scores, values[..., key, None, :])
    return seen.context.reshape(whole)


def _in_tiles(queries: Tensor, keys: Tensor, values: Tensor, **options: Any) -> Tensor:
    return flash_attention(queries, keys, values, tile=3, **options)


def _read_with_cache(model: TransformerLM) -> Tensor:
    ids, _ = make_batch()
    cache = KVCache(model)
    with torch.no_grad():
        parts = [model(part, cache=cache) for part in ids.split((3, 1, 1, 2, 1), 1)]
    return torch.cat(parts, dim=1)


def _with_written_out_heads(model: TransformerLM) -> Execution:
    """A head of keys for each of the queries: copies, whose gradients add up."""
    weights, group = model.state_dict(), H // H_KV
    shared = [name for name in weights if "W_key" in name or "W_value" in name]
    for name in shared:
        heads = weights[name].unflatten(0, (H_KV, -1))  # (H_kv, D, C)
        weights[name] = heads.repeat_interleave(group, dim=0).flatten(0, 1)
    expanded = make_model(positions=model.config.positions)
    expanded.load_state_dict(weights)
    found = _trained(expanded)
    for name in shared:
        copies = found["gradients"][name].unflatten(0, (H_KV, group, -1))
        found["gradients"][name] = copies.sum(dim=1).flatten(0, 1)
    return found


# --- in several -----------------------------------------------------------------------


def own_batch(way: str, batch: Tensor) -> Tensor:
    """What this process reads of a batch: rows, positions, or all of it."""
    if way in BY_ROWS:
        return data_parallel.own_rows(batch)
    if way == "ring":
        return batch.chunk(dist.get_world_size(), dim=1)[dist.get_rank()]
    return batch


def _execute_parallel(way: str, model: TransformerLM) -> Execution:
    ids, targets = (own_batch(way, one) for one in make_batch())
    ready, start = _made_ready(model, way), {}
    with contextlib.ExitStack() as stack:
        if way == "ring":
            start = {"start": dist.get_rank() * ids.shape[1]}
            stack.enter_context(attending_with(ready, _round_the_ring))
        counts = stack.enter_context(traffic.counted())
        logits = ready(ids, **start)
        total, count = total_loss(logits, targets)
        if way == "tensor parallel":
            loss = total / count
        else:
            loss = data_parallel.everyones_mean(total, count)
        loss.backward()
        if way in ("by hand", "ring"):
            data_parallel.average_gradients(ready.parameters())
    mean, parts = loss.detach().clone(), [logits.detach()]
    if way != "tensor parallel":
        dist.all_reduce(mean)
        mean /= dist.get_world_size()
        parts *= dist.get_world_size()
        dist.all_gather_object(parts, logits.detach())
    return {
        "logits": torch.cat(parts, dim=0 if way in BY_ROWS else 1).clone(),
        "loss": mean,
        "gradients": _gradients(ready),
        "calls": counts.calls,
        "payload": counts.payload,
    }


def _made_ready(model: TransformerLM, way: str) -> nn.Module:
    """A model that computes in this way."""
    # They take a second to import, which no other way has to wait for.
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    from helpers.parallel import tensor_parallel

    everyone = (dist.get_world_size(),)
    if way == "by hand":
        data_parallel.share_weights(model)
    elif way == "DDP":
        return data_parallel.replicas(model)
    elif way == "FSDP":
        mesh = init_device_mesh("cpu", everyone)
        for block in [*model.blocks, model]:
            fully_shard(block, mesh=mesh)
    elif way == "tensor parallel":
        tensor_parallel.parallelize_by_pytorch(model, init_device_mesh("cpu", everyone))
    return model


def _round_the_ring(
    queries: Tensor, keys: Tensor, values: Tensor, *, causal: bool, **_: Any
) -> Tensor:
    return ring.ring_attention(queries, keys, values, causal=causal, tile=3)
