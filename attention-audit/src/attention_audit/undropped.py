"""Train mode with dropout off: what is left of a mode's effect."""

import functools
from typing import Any

from torch import nn
from torch.nn.modules.dropout import _DropoutNd
from torch.overrides import TorchFunctionMode

DROPS = ("dropout", "dropout_", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout")
FUSED, PLACE = "scaled_dot_product_attention", 4  # of dropout_p among its arguments


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
        return function(*args, **kwargs)


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
