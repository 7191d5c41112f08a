"""Two thin matrices beside a frozen one (LoRA): fine-tuning a few weights of many.

Shapes: a layer maps (..., d_in) to (..., d_out); r is the rank.
"""

from collections.abc import Iterable, Iterator
from typing import TypeVar

import torch
from torch import Tensor, nn

from helpers import validation

_Layer = TypeVar("_Layer", bound=nn.Module)


class LoRALinear(nn.Linear):
    """A linear layer that stays as it is, plus a product of two thin ones.

    x Wᵀ + (alpha / r) x Aᵀ Bᵀ + bias, where only A and B are trained. B begins with
    zeros, so that nothing changes at first. What reads ``weight`` without calling the
    layer knows nothing of the product: merge first.

    Args:
        layer: an ``nn.Linear``; its weight and bias are shared, and frozen.
        rank: r, at most the smaller of d_in and d_out.
        alpha: how strongly the product counts; the rank where left out.

    Attributes:
        weight: (d_out, d_in), the layer's.
        A: (r, d_in), drawn as ``nn.Linear`` draws its weight.
        B: (d_out, r)

    Raises:
        ValueError: a layer of another type, or a LoRALinear already; a rank or an alpha
            out of range.

    Source: Hu et al. 2022, section 4.1. Built by hand on the page
    "Fine-tuning with LoRA".
    """

    def __init__(
        self, layer: nn.Linear, rank: int, *, alpha: float | None = None
    ) -> None:
        _require_pair(layer, rank, alpha)
        d_out, d_in = layer.weight.shape
        alpha = rank if alpha is None else alpha
        with torch.device("meta"):  # its own weights are the layer's
            super().__init__(d_in, d_out, bias=layer.bias is not None)
        layer.requires_grad_(False)
        self.weight, self.bias, self.scale = layer.weight, layer.bias, alpha / rank
        self.A = nn.Parameter(self.weight.new_empty(rank, d_in))
        self.B = nn.Parameter(self.weight.new_zeros(d_out, rank))
        nn.init.kaiming_uniform_(self.A, a=5**0.5)
        self.train(layer.training)

    def forward(self, x: Tensor) -> Tensor:
        """From (..., d_in) to (..., d_out)."""
        update = (x @ self.A.T) @ self.B.T  # (..., r), then (..., d_out)
        return super().forward(x) + self.scale * update

    def merged(self) -> nn.Linear:
        """One layer of the same result: the product added to the frozen weight."""
        with torch.device("meta"):
            layer = nn.Linear(
                self.in_features, self.out_features, bias=self.bias is not None
            )
        weight = self.weight + self.scale * self.B @ self.A  # (d_out, d_in)
        layer.weight = nn.Parameter(weight.detach())
        if self.bias is not None:
            layer.bias = nn.Parameter(self.bias.detach().clone())
        return layer.train(self.training)


def add_lora(
    model: nn.Module,
    names: Iterable[str],
    rank: int,
    *,
    alpha: float | None = None,
) -> list[nn.Parameter]:
    """Freeze a model, and put a LoRALinear in place of layers of certain names.

    Args:
        model: changed in place.
        names: last parts of layers' names, such as ``("W_query", "W_value")``.
        rank: r of each.
        alpha: of each; the rank where left out.

    Returns:
        parameters: all that will be trained, for an optimiser; those that an earlier
            call has added come first.

    Raises:
        ValueError: something else than a model and several names; a name that no linear
            layer has, or one with a LoRALinear; what LoRALinear refuses. The model is
            then as it was.

    Source: Hu et al. 2022, section 4.2 (queries and values).
    """
    validation.require_type("model", model, nn.Module)
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ValueError(f"names must be several names, got {names!r}")
    wanted = list(names)
    if not wanted:
        raise ValueError("names must be at least one, got none")
    found = [one for one in _layers(model, nn.Linear) if one[1] in wanted]
    for name in wanted:
        if name not in {one for _, one, _ in found}:
            raise ValueError(f"names must be those of linear layers, got {name!r}")
    for _, _, layer in found:
        _require_pair(layer, rank, alpha)
    earlier = [one for one in model.modules() if isinstance(one, LoRALinear)]
    model.requires_grad_(False)
    new = {layer: LoRALinear(layer, rank, alpha=alpha) for _, _, layer in found}
    for parent, name, layer in found:
        setattr(parent, name, new[layer])
    pairs = [one for both in (*earlier, *new.values()) for one in (both.A, both.B)]
    for one in pairs:
        one.requires_grad_(True)
    return pairs


def merge_lora(model: nn.Module) -> None:
    """Put a plain layer in place of each LoRALinear; all can be trained again.

    Args:
        model: changed in place; its results stay the same, up to rounding.

    Raises:
        ValueError: something else than a model.
    """
    validation.require_type("model", model, nn.Module)
    found = list(_layers(model, LoRALinear))
    new = {layer: layer.merged() for _, _, layer in found}
    for parent, name, layer in found:
        setattr(parent, name, new[layer])
    model.requires_grad_(True)


def _layers(
    model: nn.Module, kind: type[_Layer]
) -> Iterator[tuple[nn.Module, str, _Layer]]:
    """Each layer of a kind, with its parent and its name there.

    A layer that stands at several places comes once for each.
    """
    for path, layer in model.named_modules(remove_duplicate=False):
        parent, _, name = path.rpartition(".")
        if name and isinstance(layer, kind):
            yield model.get_submodule(parent), name, layer


def _require_pair(layer: nn.Linear, rank: int, alpha: float | None) -> None:
    """A plain linear layer, and a pair that fits it."""
    if not isinstance(layer, nn.Linear):
        raise ValueError(f"layer must be a Linear, got {type(layer).__name__}")
    if isinstance(layer, LoRALinear):
        raise ValueError("layer must be a plain Linear, got a LoRALinear: merge first")
    validation.require_integers(rank=rank)
    if rank > min(layer.weight.shape):
        raise ValueError(f"rank must be at most {min(layer.weight.shape)}, got {rank}")
    if alpha is not None:
        validation.require_number("alpha", alpha)
