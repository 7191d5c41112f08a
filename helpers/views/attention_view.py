"""Attention weights as lines between queries and keys, and as a map."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from helpers import validation
from helpers.views.view import Table, View


def attention_view(
    tokens: Sequence[str],
    weights: Tensor | list[Tensor] | tuple[Tensor, ...],
    *,
    keys: Sequence[str] | None = None,
    mask: Tensor | None = None,
    layers: Sequence[str] | None = None,
    heads: Sequence[str] | None = None,
    layer: str | None = None,
    head: str | None = None,
    query: int | None = None,
    title: str = "Attention weights",
) -> View:
    """Show where each query looks: lines as wide as their weights, and a map.

    Pointing at a token, or reaching it by the keyboard, leaves its lines and numbers
    alone. Where there are several layers or heads, the view has a menu for each. It is
    made for up to 64 tokens; every weight is kept in the notebook, about 7 bytes each.

    Args:
        tokens: T names, of the queries.
        weights: (T, S), (H, T, S) or (L, H, T, S), L layers of H heads; or a list with
            a tensor (H, T, S) or (1, H, T, S) for each layer.
        keys: S names; the tokens, where left out.
        mask: (T, S) boolean, True = may attend; the other pairs are hatched.
        layers: L names for the menu; 0, 1 and so on, where left out.
        heads: H names for the menu; 0, 1 and so on, where left out.
        layer: the name of the layer to begin with; the first, where left out.
        head: the name of the head to begin with; the first, where left out.
        query: the index in 0 to T - 1 of the token whose lines alone are shown at
            first; all lines, where left out.
        title: what the weights are, in a few words.

    Returns:
        view: a View.

    Raises:
        ValueError: weights of another shape, negative or not finite, another number of
            names, two layers or heads of one name, a mask of another shape or dtype, a
            layer, head or query to begin with that isn't there.

    Source: Bahdanau et al. 2015, section 5.2.1 (weights drawn as alignments).
    Chapter 9 and the page on cross-attention.
    """
    weights = _as_layers(weights)
    T, S = weights.shape[2:]
    tokens = _names("tokens", tokens, "T", T)
    keys = _names("keys", tokens if keys is None else keys, "S", S)
    if mask is not None:
        validation.require_tensor("mask", mask)
        validation.require_mask(mask.cpu(), (T, S), weights.device)
    L, H = weights.shape[:2]
    named: dict[str, list[Any]] = {}  # only what was named, else the menus count
    if layers is not None:
        named["layers"] = _distinct("layers", layers, "L", L)
    if heads is not None:
        named["heads"] = _distinct("heads", heads, "H", H)
    every = [named.get("layers") or _counted(L), named.get("heads") or _counted(H)]
    first = _place("layer", layer, every[0]), _place("head", head, every[1])
    layer, head = every[0][first[0]], every[1][first[1]]
    caption = "Weights" if L * H == 1 else f"Weights of layer {layer}, head {head}"
    if query is not None and query not in range(T):
        raise ValueError(f"query must be in 0 to T - 1 = {T - 1}, got {query!r}")
    if first != (0, 0) or query is not None:
        named["start"] = [*first, query]
    return View(
        "attention_view",
        title,
        {
            "tokens": tokens,
            "keys": keys,
            "weights": weights.tolist(),
            "mask": None if mask is None else mask.tolist(),
            **named,
        },
        [Table(caption, weights[first].tolist(), columns=keys, rows=tokens)],
    )


def _names(name: str, names: Sequence[str], letter: str, size: int) -> list[str]:
    """That many names, one for each place along one of the weights' axes."""
    names = [str(one) for one in names]
    if len(names) != size:
        raise ValueError(
            f"{name} must hold {letter} = {size} names, as the weights' axes are "
            f"(L, H, T, S), got {len(names)}"
        )
    return names


def _distinct(name: str, names: Sequence[str], letter: str, size: int) -> list[str]:
    """Names for a menu, whose options must differ."""
    names = _names(name, names, letter, size)
    if len(set(names)) < size:
        raise ValueError(f"{name} must be all distinct, got {names}")
    return names


def _counted(size: int) -> list[str]:
    """The names of a menu that counts."""
    return [str(number) for number in range(size)]


def _place(name: str, chosen: str | None, names: list[str]) -> int:
    """Where a name stands in its menu; 0 where none is chosen."""
    if chosen is not None and str(chosen) not in names:
        raise ValueError(f"{name} must be one of {names}, got {chosen!r}")
    return 0 if chosen is None else names.index(str(chosen))


def _as_layers(weights: Tensor | list[Tensor] | tuple[Tensor, ...]) -> Tensor:
    """The weights as (L, H, T, S) float32 on the CPU."""
    if isinstance(weights, (list, tuple)):
        weights = _stacked(weights)
    validation.require_float(weights=weights)
    if not 2 <= weights.dim() <= 4 or 0 in weights.shape:
        raise ValueError(
            "weights must have shape (T, S), (H, T, S) or (L, H, T, S), none of them "
            f"0, got {validation.shape_of(weights)}"
        )
    weights = weights.detach().float().cpu()
    if not (weights.isfinite() & (weights >= 0)).all():
        raise ValueError(
            "weights must be finite and at least 0, got numbers from "
            f"{weights.min():.4g} to {weights.max():.4g}; scores become weights by "
            "softmax"
        )
    return weights.reshape([1] * (4 - weights.dim()) + list(weights.shape))


def _stacked(layers: Sequence[Tensor]) -> Tensor:
    """A list of (H, T, S) or (1, H, T, S) as one tensor (L, H, T, S)."""
    for layer in layers:
        validation.require_tensor("each of weights", layer)
    single = [
        layer[0] if layer.dim() == 4 and len(layer) == 1 else layer for layer in layers
    ]
    shapes = sorted({validation.shape_of(layer) for layer in single})
    if len(shapes) != 1 or len(shapes[0]) != 3:
        raise ValueError(
            "weights must be a list of tensors (H, T, S) or (1, H, T, S), all of one "
            f"shape, got {[validation.shape_of(layer) for layer in layers]}"
        )
    return torch.stack([layer.detach().cpu() for layer in single])
