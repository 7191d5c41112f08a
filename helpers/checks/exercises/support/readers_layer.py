"""How checks use a reader's layer: known weights go in, what it does comes out."""

from collections.abc import Container
from typing import Any

import torch
from torch import Tensor, nn

from helpers.checks.stubs import attempted


def with_parameters(layer: nn.Module, parameters: dict[str, Tensor]) -> nn.Module:
    """Give a layer known weights; what else it trains becomes 1.

    Args:
        layer: an ``nn.Module``; it is changed.
        parameters: a dict of names as in ``state_dict()``, and tensors.

    Returns:
        layer: the same one.

    Raises:
        AttributeError: a parameter that the layer lacks.
        ValueError: a parameter of another shape.
    """
    own = dict(layer.named_parameters(remove_duplicate=False))
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
        known = {id(own[name]) for name in parameters}
        for one in layer.parameters():
            if one.requires_grad and id(one) not in known:
                one.fill_(1.0)
    return layer


def trained_names(layer: nn.Module, wanted: Container[str]) -> list[str]:
    """The names of what a layer trains, sorted; of several for one, a wanted one."""
    names: dict[int, str] = {}
    for name, one in layer.named_parameters(remove_duplicate=False):
        if one.requires_grad and (id(one) not in names or name in wanted):
            names[id(one)] = name
    return sorted(names.values())


def first_output(layer: nn.Module, *inputs: Any) -> Any:
    """Call a layer as its stub would be called; see whether it was written at all.

    Raises:
        NotImplementedError: a ``forward`` that returns nothing.
    """
    return attempted(layer(*inputs))


def repeats(layer: nn.Module, *inputs: Any) -> bool:
    """Whether two calls of a layer give the same numbers."""
    return torch.equal(layer(*inputs), layer(*inputs))
