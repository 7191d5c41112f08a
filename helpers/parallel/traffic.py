"""What processes send each other, counted and predicted, in bytes."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from helpers import validation

# How the names of PyTorch's operations begin, without underscores, and their kinds.
KINDS = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
    "broadcast": "broadcast",
    "send": "send",
    "isend": "send",
}
# Those that send nothing of a tensor.
SILENT = ("recv", "irecv", "barrier", "monitored", "wait", "wrap", "checkfornan")


class Traffic:
    """Calls and bytes of each kind of operation.

    Attributes:
        calls: how many operations, by kind: "all_reduce", "all_gather",
            "reduce_scatter", "broadcast" and "send".
        payload: bytes of the whole tensors that they reduced, gathered or sent.
    """

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self.payload: dict[str, int] = {}

    def add(self, kind: str, size: int) -> None:
        """Count one operation."""
        self.calls[kind] = self.calls.get(kind, 0) + 1
        self.payload[kind] = self.payload.get(kind, 0) + size

    def sent(self, processes: int) -> float:
        """Bytes that this process sends, where each operation goes round a ring."""
        return sum(
            bytes_sent(kind, size, processes) for kind, size in self.payload.items()
        )


def bytes_sent(kind: str, payload: float, processes: int) -> float:
    """Bytes that each process sends for one operation.

    Args:
        kind: as in ``Traffic``.
        payload: bytes of the whole tensor.
        processes: N.

    Returns:
        bytes: 2 (N - 1) / N of the payload to all-reduce it round a ring, half of that
            to gather it or to reduce and scatter it, and all of it to send it on.
            Nccl works like this. Gloo has no reduce-scatter of its own: it
            all-reduces, and keeps a piece.
            A broadcast goes along a tree; on average a process sends (N - 1) / N.

    Raises:
        ValueError: another kind, less than one process, or less than nothing.

    Source: Patarasuk and Yuan 2009, section 3 (all-reduce by a ring).
    """
    validation.require_integers(processes=processes)
    if not payload >= 0:
        raise ValueError(f"payload must be at least 0 bytes, got {payload}")
    share = (processes - 1) / processes
    factors = {
        "all_reduce": 2 * share,
        "all_gather": share,
        "reduce_scatter": share,
        "broadcast": share,
        "send": 1.0,
    }
    if kind not in factors:
        raise ValueError(f"kind must be one of {', '.join(factors)}, got {kind!r}")
    return factors[kind] * payload


@contextlib.contextmanager
def counted() -> Iterator[Traffic]:
    """Count what this process sends meanwhile, by hand, by DDP or by anything else.

    Raises:
        NotImplementedError: in what sends otherwise, as an all-to-all does.
    """
    traffic = Traffic()
    with _Count(traffic):
        yield traffic


class _Count(TorchDispatchMode):
    def __init__(self, traffic: Traffic) -> None:
        super().__init__()
        self.traffic = traffic

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **(kwargs or {}))
        kind = _kind_of(function)
        if kind is not None:
            self.traffic.add(kind, _largest([*args, result]))
        return result


def _kind_of(function: Any) -> str | None:
    """What an operation does, if it sends anything."""
    space, _, name = function.name().partition("::")
    if space not in ("c10d", "_c10d_functional"):
        return None
    plain = name.replace("_", "")
    if plain.startswith(SILENT):
        return None
    for start, kind in KINDS.items():
        if plain.startswith(start):
            return kind
    raise NotImplementedError(f"what {function.name()} sends isn't counted")


def _largest(values: Sequence[Any]) -> int:
    """The bytes of the whole tensor: the most of anything that goes in or comes out."""
    return max(
        sum(one.nbytes for one in tree_leaves(value) if isinstance(one, Tensor))
        for value in values
    )
