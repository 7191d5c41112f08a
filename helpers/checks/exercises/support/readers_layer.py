"""How checks use a reader's layer: known weights go in, what it does comes out."""

from typing import Any

import torch
from torch import Tensor, nn

from helpers.checks.stubs import attempted


def with_parameters(layer: nn.Module, parameters: dict[str, Tensor]) -> nn.Module:
    """Give a layer known weights; what it has beyond them becomes 1.

    Args:
        layer: an ``nn.Module``; it is changed.
        parameters: a dict of names as in ``state_dict()``, and tensors.

    Returns:
        layer: the same one.

    Raises:
        AttributeError: a parameter that the layer lacks.
        ValueError: a parameter of another shape.
    """
    own = dict(layer.named_parameters())
    with torch.no_grad():
        for name, values in parameters.items():
            if name not in own:
                has = ", ".join(own) or "no parameter"
                raise AttributeError(f"the layer has no {name}; it has {has}")
            if own[name].shape != values.shape:
                raise ValueError(
                    f"{name} has shape {tuple(own[name].shape)}, not "
                    f"{tuple(values.shape)}"
                )
            own[name].copy_(values)
        for name in own.keys() - parameters.keys():
            own[name].fill_(1.0)
    return layer


def first_output(layer: nn.Module, *inputs: Any) -> Any:
    """Call a layer as its stub would be called; see whether it was written at all.

    Raises:
        NotImplementedError: a ``forward`` that returns nothing.
    """
    return attempted(layer(*inputs))


def repeats(layer: nn.Module, *inputs: Any) -> bool:
    """Whether two calls of a layer give the same numbers."""
    return torch.equal(layer(*inputs), layer(*inputs))
