"""Data parallel training by hand: every process has the model, and a part of the rows.

DistributedDataParallel does the same, and sends gradients while others are computed.
"""

import warnings
from collections.abc import Iterable

import torch
import torch.distributed as dist
from torch import Tensor, nn


def share_weights(model: nn.Module, source: int = 0) -> None:
    """Give all processes the parameters and buffers of one.

    Args:
        model: in each process, one of the same shapes; it is changed.
        source: the rank whose numbers all get.
    """
    for tensor in (*model.parameters(), *model.buffers()):
        dist.broadcast(tensor.detach(), source)


def replicas(model: nn.Module) -> nn.Module:
    """A model's DistributedDataParallel, which sends no buffers before each pass.

    Args:
        model: in each process, one of the same shapes. Its buffers are masks or tables,
            which stay as they are.
    """
    with warnings.catch_warnings():
        # Newer versions have another name for it, which older ones don't know.
        warnings.simplefilter("ignore", FutureWarning)
        return nn.parallel.DistributedDataParallel(model, broadcast_buffers=False)


def own_rows(batch: Tensor) -> Tensor:
    """The rows of this process: as many as others have, or one more.

    Args:
        batch: (B, ...), the same in all processes.

    Raises:
        ValueError: fewer rows than processes.
    """
    processes = dist.get_world_size()
    if len(batch) < processes:
        raise ValueError(
            f"batch must have a row for each of {processes} processes, got {len(batch)}"
        )
    return batch.tensor_split(processes)[dist.get_rank()]


def part_of_mean(total: Tensor, count: float, processes: int) -> Tensor:
    """One process's part of a mean over all rows, ready for averaged gradients.

    Each process would divide its sum by its own count. But rows may have different
    numbers of targets, and then a mean of means isn't the mean. So the sum is divided
    by everyone's count, times the number of processes, because ``average_gradients``
    and DistributedDataParallel divide by that.

    Args:
        total: this process's sum of losses, with a gradient.
        count: how many targets all processes have.
        processes: how many there are.

    Returns:
        loss: its mean over processes is the mean over all targets.
    """
    return total * (processes / count)


def everyones_mean(total: Tensor, count: int) -> Tensor:
    """``part_of_mean`` where each process knows its own count alone.

    Args:
        total: this process's sum of losses, with a gradient.
        count: how many targets it is the sum of.

    Returns:
        loss: its mean over processes is the mean over all targets.
    """
    counts = torch.tensor(float(count), dtype=torch.float64, device=total.device)
    dist.all_reduce(counts)
    return part_of_mean(total, counts.item(), dist.get_world_size())


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """Replace each gradient by its mean over all processes.

    Args:
        parameters: such as ``model.parameters()``. One without a gradient here may
            have one elsewhere, and counts as zeros.
    """
    processes = dist.get_world_size()
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        dist.all_reduce(parameter.grad)
        parameter.grad /= processes
