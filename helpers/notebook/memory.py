"""How much memory a computation takes at its height."""

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def peak_bytes(run: Callable[[], object], device: torch.device | str = "cpu") -> int:
    """The most memory that tensors made by a function hold at one time.

    On a GPU, PyTorch counts what it hands out. On the CPU, every tensor that an
    operation returns is counted from then until nothing refers to it, forward and
    backward; what an operation needs for itself, and frees before it returns, is not.

    Args:
        run: a function without arguments. What it returns is held until the count ends.
        device: where it computes.

    Returns:
        bytes: at the height, without what was there before.
    """
    device = torch.device(device)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        result = run()
        torch.cuda.synchronize(device)
        del result
        return torch.cuda.max_memory_allocated(device) - before
    with _Count() as count:
        result = run()
    del result
    return count.peak


class _Count(TorchDispatchMode):
    """Knows of every operation, and of the memory behind each tensor it returns."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.peak = 0
        self.seen: weakref.WeakSet[torch.UntypedStorage] = weakref.WeakSet()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        before = {id(one) for one in self._storages((args, kwargs))}
        result = function(*args, **(kwargs or {}))
        for storage in self._storages(result):
            if id(storage) not in before and storage not in self.seen:
                self.seen.add(storage)
                self._add(storage.nbytes())
                weakref.finalize(storage, self._add, -storage.nbytes())
        return result

    def _add(self, size: int) -> None:
        self.now += size
        self.peak = max(self.peak, self.now)

    @staticmethod
    def _storages(values: Any) -> list[torch.UntypedStorage]:
        tensors = (one for one in tree_leaves(values) if isinstance(one, Tensor))
        return [tensor.untyped_storage() for tensor in tensors]
