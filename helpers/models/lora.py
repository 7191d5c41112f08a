"""Two thin matrices beside a frozen one (LoRA): fine-tuning a few weights of many.

Shapes: a layer maps (..., d_in) to (..., d_out); r is the rank.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

from helpers import validation


class LoRALinear(nn.Linear):
    """A linear layer that stays as it is, plus a product of two thin ones.

    x Wᵀ + (alpha / r) x Aᵀ Bᵀ + bias, where only A and B are trained. B begins with
    zeros, so that nothing changes at first.

    Args:
        layer: an ``nn.Linear``; its weight and bias are shared, and frozen.
        rank: r, at most the smaller of d_in and d_out.
        alpha: how strongly the product counts; the rank where left out.

    Attributes:
        weight: (d_out, d_in), the layer's.
        A: (r, d_in), drawn as ``nn.Linear`` draws its weight.
        B: (d_out, r)

    Raises:
        ValueError: a layer of another type, a rank or an alpha out of range.

    Source: Hu et al. 2022, section 4.1. Built by hand in chapter 17.
    """

    def __init__(
        self, layer: nn.Linear, rank: int, *, alpha: float | None = None
    ) -> None:
        if not isinstance(layer, nn.Linear):
            raise ValueError(f"layer must be a Linear, got {type(layer).__name__}")
        validation.require_integers(rank=rank)
        d_out, d_in = layer.weight.shape
        if rank > min(d_in, d_out):
            raise ValueError(f"rank must be at most {min(d_in, d_out)}, got {rank}")
        alpha = rank if alpha is None else alpha
        validation.require_number("alpha", alpha)
        with torch.device("meta"):  # its own weights are the layer's
            super().__init__(d_in, d_out, bias=layer.bias is not None)
        layer.requires_grad_(False)
        self.weight, self.bias, self.scale = layer.weight, layer.bias, alpha / rank
        self.A = nn.Parameter(self.weight.new_empty(rank, d_in))
        self.B = nn.Parameter(self.weight.new_zeros(d_out, rank))
        nn.init.kaiming_uniform_(self.A, a=5**0.5)

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
        return layer


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
        parameters: all that will be trained, for an optimiser.

    Raises:
        ValueError: a name that no linear layer has; what LoRALinear refuses.

    Source: Hu et al. 2022, section 4.2 (queries and values).
    """
    wanted = list(names)
    found = [
        (parent, name, layer)
        for parent in list(model.modules())
        for name, layer in parent.named_children()
        if name in wanted and isinstance(layer, nn.Linear)
    ]
    for name in wanted:
        if name not in {one for _, one, _ in found}:
            raise ValueError(f"names must be those of linear layers, got {name!r}")
    model.requires_grad_(False)
    parameters: list[nn.Parameter] = []
    for parent, name, layer in found:
        both = LoRALinear(layer, rank, alpha=alpha)
        setattr(parent, name, both)
        parameters += [both.A, both.B]
    return parameters


def merge_lora(model: nn.Module) -> None:
    """Put a plain layer in place of each LoRALinear; all can be trained again.

    Args:
        model: changed in place; its results stay the same, up to rounding.
    """
    for parent in list(model.modules()):
        for name, layer in list(parent.named_children()):
            if isinstance(layer, LoRALinear):
                setattr(parent, name, layer.merged())
    model.requires_grad_(True)
