"""Train mode with dropout off: what is left of a mode's effect."""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.modules.dropout import _DropoutNd
from torch.overrides import TorchFunctionMode

DROPS = ("dropout", "dropout_", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout")
FUSED, PLACE = "scaled_dot_product_attention", 4  # of dropout_p among its arguments


RANDOM = ("rand", "rand_like", "uniform_", "bernoulli", "bernoulli_")
LOW, HIGH = 1e-3, 1 - 1e-3  # numbers that are drawn, both inside any interval
_drawn: list[float] = []


@contextlib.contextmanager
def drawing(value: float) -> Iterator[None]:
    """Within it, what a quiet module draws between 0 and 1 is this number each time."""
    _drawn.append(value)
    try:
        yield
    finally:
        _drawn.pop()


class _Undropped(TorchFunctionMode):
    """Under it, PyTorch's functions drop nothing."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(function, "__name__", "")
        if name in DROPS:
            return args[0] if args else kwargs["input"]
        if name == FUSED and len(args) > PLACE:
            args = (*args[:PLACE], 0.0, *args[PLACE + 1 :])
        if "dropout_p" in kwargs:
            kwargs["dropout_p"] = 0.0
        result = function(*args, **kwargs)
        if _drawn and name in RANDOM:
            _draw(result, name, args, kwargs)
        return result


@torch.no_grad()
def _draw(result: torch.Tensor, name: str, args: Any, kwargs: Any) -> None:
    """Put the number that shall be drawn in the place of those that were."""
    value = _drawn[-1]
    if name == "uniform_":
        named = dict(zip(("from", "to"), args[1:], strict=False)) | kwargs
        low, high = named.get("from", 0.0), named.get("to", 1.0)
        result.fill_(low + (high - low) * value)
    elif name.startswith("bernoulli"):
        own = 0.5 if name.endswith("_") else args[0]
        chance = kwargs.get("p", args[1] if len(args) > 1 else own)
        result.copy_((torch.as_tensor(chance) > value).expand_as(result))
    else:
        result.fill_(value)


def quiet(module: nn.Module) -> nn.Module:
    """The module itself, made to drop nothing in train mode as far as that is seen.

    Modules and attributes that say so by their name have the probability 0 from now on,
    and PyTorch's functions drop nothing while it runs.
    """
    for part in module.modules():
        if isinstance(part, _DropoutNd):
            part.p = 0.0
        for name, value in vars(part).items():
            if type(value) is float and ("drop" in name.lower()):
                setattr(part, name, 0.0)
            elif name == "config":
                for its, one in (
                    vars(value).items() if hasattr(value, "__dict__") else ()
                ):
                    if type(one) is float and "drop" in its.lower():
                        setattr(value, its, 0.0)
    forward = module.forward

    @functools.wraps(forward)
    def undropped(*args: Any, **kwargs: Any) -> Any:
        with _Undropped():
            return forward(*args, **kwargs)

    module.forward = undropped
    return module
