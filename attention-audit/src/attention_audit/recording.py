"""Everything that a call of a layer computes, kept as it comes.

Names and the way of writing don't matter: matmul, einsum, PyTorch's fused call and
nn.MultiheadAttention all end in the same matrix products.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

# PyTorch's products, and which argument is the left operand.
PRODUCTS = {"bmm": 0, "mm": 0, "mv": 0, "addmm": 1, "baddbmm": 1}
MOST_AXES = 2
FUSED = "_scaled_dot_product_flash_attention_for_cpu"


@dataclass(eq=False)
class Product:
    """A matrix product: left (n, R, K), right (n, K, M).

    ``parameter`` is the name of the one that is an operand, or "". ``time`` counts the
    products before it, and ``known`` the results. ``fixed`` says that an operand is the
    same for all tokens that may come, as what is looked up in a table of distances is.
    """

    left: Tensor
    right: Tensor
    parameter: str
    time: int
    known: int
    fixed: bool = False


class Trace(TorchDispatchMode):
    """Records products, and all results that have one row for each of T tokens."""

    def __init__(self, module: nn.Module, T: int) -> None:
        super().__init__()
        self.T = T
        self.products: list[Product] = []
        self.results: list[Tensor] = []  # (T, M)
        self.ambiguous: set[int] = set()  # results of which two axes may be T
        self.makers: dict[int, str] = {}  # the parameter in the product of a result
        self.output = torch.empty(0)
        self.used: set[str] = set()  # parameters that are part of a product
        self.with_bias: dict[str, dict[int, Tensor]] = {}  # results that have one
        self.added_twice = ""
        self.biased: dict[str, set[str]] = {}  # for a bias, the products it is added to
        self._fixed: dict[int, Tensor] = {  # kept, so that no place is used again
            one.untyped_storage().data_ptr(): one
            for one in (*module.parameters(), *module.buffers())
        }
        self._names = {
            parameter.untyped_storage().data_ptr(): name
            for name, parameter in module.named_parameters()
        }

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        kind = function.overloadpacket.__name__
        if kind == "matmul":  # so it comes from within a call that was spelled out
            with self:
                return function.decompose(*args, **kwargs)
        result = function(*args, **kwargs)
        self._note_fixed(kind, args, kwargs, result)
        maker = ""
        if kind == FUSED:
            self._spell_out(*args, **kwargs)
        if kind in PRODUCTS:
            left, right = args[PRODUCTS[kind] :][:2]
            right = right[:, None] if kind == "mv" else right
            maker = next(filter(None, map(self._name, (left, right))), "")
            self.used |= {maker, self._name(args[0])} - {""}
            if kind == "addmm" and maker and (bias := self._name(args[0])):
                self.biased.setdefault(bias, set()).add(maker)
            shape = (-1, *left.shape[-2:]), (-1, *right.shape[-2:])
            self.products.append(
                Product(
                    left.detach().cpu().double().reshape(shape[0]).clone(),
                    right.detach().cpu().double().reshape(shape[1]).clone(),
                    maker,
                    len(self.products),
                    len(self.results),
                    any(map(self._is_fixed, (left, right))),
                )
            )
        elif kind == "convolution":
            maker = self._name(args[1])
        self._note_bias(kind, args, result)
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        if isinstance(first, torch.Tensor) and first.is_floating_point():
            self._keep(first.detach().cpu().double(), maker)
        return result

    def _is_fixed(self, tensor: Tensor) -> bool:
        return tensor.untyped_storage().data_ptr() in self._fixed

    def _note_fixed(self, kind: str, args: Any, kwargs: Any, result: Any) -> None:
        """Whether a result comes from parameters and tables alone, not from tokens."""
        leaves, _ = tree_flatten((args, kwargs))
        given = [one for one in leaves if isinstance(one, torch.Tensor)]
        if not isinstance(result, torch.Tensor) or result.device.type == "meta":
            return
        place = result.untyped_storage().data_ptr()
        if all(map(self._is_fixed, given)):
            self._fixed[place] = result
        else:  # tokens may have been written into it
            self._fixed.pop(place, None)

    def _note_bias(self, kind: str, args: Any, result: Any) -> None:
        """Whether a vector is added to what has it already."""
        added = kind in ("add", "add_", "addmm")
        if not added or not isinstance(args[1], torch.Tensor):
            return
        sides = args[:1] if kind == "addmm" else args[:2]
        for bias in sides:
            name = self._name(bias) if isinstance(bias, torch.Tensor) else ""
            if not name or bias.dim() != 1:
                continue
            storages = {one.untyped_storage().data_ptr() for one in args[:2]}
            if storages & self.with_bias.get(name, {}).keys():
                self.added_twice = name
            kept = self.with_bias.setdefault(name, {})
            kept[result.untyped_storage().data_ptr()] = result  # so none is used again

    def _spell_out(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        dropout_p: float = 0.0,
        is_causal: bool = False,
        *,
        attn_mask: Tensor | None = None,
        scale: float | None = None,
    ) -> None:
        """Do in plain products what a layer has called in one that is fused."""
        plain = torch.ops.aten._scaled_dot_product_attention_math.default
        with self:
            plain.decompose(
                *(queries, keys, values, attn_mask, dropout_p, is_causal), scale=scale
            )

    def _name(self, tensor: Tensor) -> str:
        if tensor.device.type == "meta":
            return ""
        return self._names.get(tensor.untyped_storage().data_ptr(), "")

    def _keep(self, result: Tensor, maker: str) -> None:
        if not result.numel():
            return
        axes = [axis for axis, size in enumerate(result.shape) if size == self.T]
        if len(axes) > MOST_AXES:
            return
        for axis in axes:  # of two, either may be that of tokens
            if len(axes) > 1:
                self.ambiguous.add(len(self.results))
            if maker:
                self.makers[len(self.results)] = maker
            self.results.append(columns(result, axis).clone())


def columns(tensor: Tensor, axis: int) -> Tensor:
    """A tensor as (T, M): one row for each index of an axis, the rest in its order."""
    return tensor.movedim(axis, 0).flatten(1) if tensor.dim() > 1 else tensor[:, None]
