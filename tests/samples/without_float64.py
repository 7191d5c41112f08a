"""A stand-in for a device without double precision, such as Apple's MPS."""

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils.weak import WeakTensorKeyDictionary


class WithoutFloat64(TorchFunctionMode):
    """Inside it, what parameters had a part in becomes float64 behind ``.cpu()``."""

    def __init__(self):
        super().__init__()
        self.on_cpu = WeakTensorKeyDictionary()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        given = [
            one for one in pytree.tree_leaves((args, kwargs)) if isinstance(one, Tensor)
        ]
        result = func(*args, **(kwargs or {}))
        if getattr(func, "__name__", "") == "cpu":
            result = result[...]  # a tensor of its own
        elif not all(one in self.on_cpu for one in given):
            if isinstance(result, Tensor) and result.dtype == torch.float64:
                raise TypeError("this device has no float64")
            return result
        for one in pytree.tree_leaves(result):
            if isinstance(one, Tensor):
                self.on_cpu[one] = True
        return result
