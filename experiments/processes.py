"""How long a training step takes on two processes of this machine, and on one.

The page A thousand machines fits its estimate to some of these times, and holds it
against the others.
"""

import argparse
import functools
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import Block, TransformerConfig
from helpers.parallel import data_parallel, processes, tensor_parallel
from helpers.recorded import results

VOCAB = 65
ROUNDS = 25
# Layers, d_model, context_length and batch: of one process, to fit the model to.
FITTED = (
    (2, 64, 128, 8),
    (2, 128, 128, 8),
    (4, 128, 128, 4),
    (2, 128, 256, 8),
    (2, 256, 128, 4),
    (4, 256, 64, 8),
    (6, 192, 128, 2),
    (2, 256, 32, 2),
    (4, 256, 32, 1),
    (2, 384, 64, 1),
    (2, 576, 32, 2),
)
# And of two processes, which divide the batch or the features: none is among those
# above, and from one to the next more of the time goes into sending.
PREDICTED = ((2, 96, 256, 16), (3, 160, 128, 8), (2, 320, 64, 4), (2, 448, 32, 2))
PAYLOADS = (1_000, 10_000, 100_000, 1_000_000, 4_000_000, 16_000_000)
WAYS = ("ddp", "fsdp", "tensor", "tensor by hand")
IN_A_ROW = 10  # all-reduces in a round: a single one may wait for the scheduler
KINDS = {
    "products": ("aten::mm", "aten::addmm", "aten::bmm", "scaled_dot_product"),
    "copies": ("aten::copy_", "aten::cat"),
}


def measure() -> list[dict[str, Any]]:
    """All times; in each of the processes."""
    runs = []
    for sizes in FITTED:
        runs.append({"way": "alone", **_step(sizes, "alone")})
    for payload in PAYLOADS:
        send = functools.partial(_send, torch.ones(payload // 4))
        found = _rounds(send, IN_A_ROW)
        runs.append({"way": "all_reduce", "bytes": payload, **found})
    for sizes in PREDICTED:
        for way in WAYS:
            runs.append({"way": way, **_step(sizes, way)})
    return runs


def _send(tensor: torch.Tensor) -> None:
    for _ in range(IN_A_ROW):
        dist.all_reduce(tensor)


def _step(sizes: tuple[int, int, int, int], way: str) -> dict[str, Any]:
    """Forward, backward and update; of the whole batch, or of this process's part."""
    layers, d_model, length, batch = sizes
    torch.manual_seed(0)
    config = TransformerConfig(VOCAB, length, d_model, 4, layers)
    plain = TransformerLM(config)
    model: nn.Module = plain
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    if way == "ddp":
        model = data_parallel.replicas(plain)
    elif way == "fsdp":
        for block in [*plain.blocks, plain]:
            fully_shard(block, mesh=mesh)
    elif way == "tensor":
        tensor_parallel.parallelize_by_pytorch(plain, mesh)
    elif way == "tensor by hand":
        blocks = [
            tensor_parallel.parallelize_block(cast(Block, one)) for one in plain.blocks
        ]
        plain.blocks = nn.ModuleList(blocks)
    rows = batch // dist.get_world_size() if way in ("ddp", "fsdp") else batch
    ids, targets = torch.randint(VOCAB, (2, rows, length))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        logits = model(ids).flatten(0, 1)
        F.cross_entropy(logits, targets.flatten()).backward()
        optimizer.step()

    names = ("layers", "d_model", "context_length", "batch")
    return dict(zip(names, sizes, strict=True)) | _rounds(step) | _profiled(step)


def _profiled(step: Callable[[], object]) -> dict[str, float]:
    """Seconds that a step spends in each kind of operation, on all its threads."""
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU]
    ) as profile:
        for _ in range(IN_A_ROW):
            step()
    found = {}
    for kind, names in KINDS.items():
        microseconds = sum(
            event.self_cpu_time_total
            for event in profile.key_averages()
            if any(name in event.key for name in names)
        )
        found[kind] = _rounded(microseconds / 1e6 / IN_A_ROW)
    return found


def _rounds(work: Callable[[], object], at_a_time: int = 1) -> dict[str, float]:
    """Medians of several times, in seconds, and the 10th and 90th percentile.

    Args:
        work: what is timed.
        at_a_time: how often it does the same; the times are of doing it once.

    Returns:
        times: "seconds" with "low" and "high"; and "processor", what this process alone
            has computed meanwhile.
    """
    for _ in range(3):
        work()
    found, computed = [], []
    for _ in range(ROUNDS):
        dist.barrier()
        started, used = time.perf_counter(), time.process_time()
        work()
        found.append((time.perf_counter() - started) / at_a_time)
        computed.append((time.process_time() - used) / at_a_time)
    tenths = statistics.quantiles(found, n=10, method="inclusive")
    kept = {
        "seconds": statistics.median(found),
        "low": tenths[0],
        "high": tenths[-1],
        "processor": statistics.median(computed),
    }
    return {name: _rounded(one) for name, one in kept.items()}


def _rounded(seconds: float) -> float:
    return float(f"{seconds:.4g}")


def main(arguments: Sequence[str] = ()) -> int:
    """Measure, and write the record; with ``again``, beside what it holds."""
    parser = argparse.ArgumentParser("python -m experiments.processes")
    parser.add_argument("again", nargs="?", choices=["again"], help="a second time")
    again = parser.parse_args(arguments).again
    first, second = processes.run(measure, 2, seconds=600)
    for run, other in zip(first, second, strict=True):  # the slower one ends a step
        for name in {*("seconds", "low", "high", "processor"), *KINDS} & {*run}:
            run[name] = max(run[name], other[name])
    found = results.record("processes") if again else {}
    found |= {"on": {"torch": torch.__version__, "machine": platform.machine()}}
    found["again" if again else "runs"] = first
    parts = [f' "on": {json.dumps(found["on"])}']
    for name in [name for name in ("runs", "again") if name in found]:
        lines = ",\n".join(f"  {json.dumps(run)}" for run in found[name])
        parts.append(f' "{name}": [\n{lines}\n ]')
    text = "{\n" + ",\n".join(parts) + "\n}\n"
    results.path("processes").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    from experiments.processes import main as importable  # other processes find it

    sys.exit(importable(sys.argv[1:]))
