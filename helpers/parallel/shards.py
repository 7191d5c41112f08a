"""Whole tensors from those that PyTorch has sharded over processes, and back.

Tensors that are whole already pass through, so that one optimizer serves both.
"""

from typing import Any

from torch import Tensor


def full_tensor(tensor: Tensor) -> Tensor:
    """The whole of a sharded tensor, in every process; all of them must call.

    Args:
        tensor: a DTensor, or a tensor that is whole already.
    """
    sharded: Any = tensor
    gather = getattr(sharded, "full_tensor", None)
    return tensor if gather is None else gather()


def own_shard(tensor: Tensor) -> Tensor:
    """What this process holds of a tensor.

    Args:
        tensor: a DTensor, or a tensor that is whole: then it holds all of it.
    """
    sharded: Any = tensor
    local = getattr(sharded, "to_local", None)
    return tensor if local is None else local()


def shard_like(tensor: Tensor, other: Tensor) -> Tensor:
    """A whole tensor, sharded as another one is; nothing is sent.

    Args:
        tensor: the same in every process, of ``other``'s shape.
        other: a DTensor, or a tensor that is whole.
    """
    sharded: Any = other
    if not hasattr(sharded, "placements"):
        return tensor
    from torch.distributed.tensor import distribute_tensor

    mesh, placements = sharded.device_mesh, sharded.placements
    # Without a source, each process cuts out its own part.
    return distribute_tensor(
        tensor.to(other.device), mesh, placements, src_data_rank=None
    )
