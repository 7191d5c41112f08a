"""What a layer in float32 rounds to 16 bits on the way, and nobody has asked for."""

from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

from attention_audit.subject import HALVES, Subject, context_of, is_rough, tensors_in

PRODUCTS = {"linear", "matmul", "__matmul__", "__rmatmul__", "mm", "bmm", "einsum"}
KERNEL = "scaled_dot_product_attention"


class _Products(TorchFunctionMode):
    """Notes which products are in 16 bits, and whether anything is."""

    def __init__(self) -> None:
        super().__init__()
        self.any_half = False
        self.projected: set[bool] = set()  # by a matrix that all tokens share
        self.between: list[bool] = []  # of tokens with tokens

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        for one in tensors_in(result):
            self.any_half |= one.dtype in HALVES
        name = getattr(function, "__name__", "")
        if name in PRODUCTS | {KERNEL} and isinstance(result, Tensor):
            factors = [one for one in tensors_in((args, kwargs)) if one.dim() > 1]
            half = result.dtype in HALVES
            if name != KERNEL and any(one.dim() == 2 for one in factors):
                self.projected.add(half)
            elif result.requires_grad:
                self.between.append(half)
        return result


def rounds_inside(subject: Subject) -> str:
    """What is rounded to 16 bits in a layer that has more, where that shows; or "".

    Many kernels take 16 bits alone: queries, keys and values may be rounded for one,
    between projections that are not.
    """
    if subject.half is not None:
        return ""
    module, x, seen = subject.copy(), subject.x().requires_grad_(), _Products()
    with seen:
        context_of(module, x)
    if not seen.any_half or not is_rough(module, x.detach()):
        return ""
    dtype = str(x.dtype).removeprefix("torch.")
    if True in seen.projected:
        return f"{dtype}: projections are computed in 16 bits; is autocast left on?"
    if True not in seen.between:
        return f"{dtype} is rounded to 16 bits on the way"
    if not seen.between[-1]:
        return f"{dtype}: scores are computed in 16 bits, and what follows is not"
    return ""
