"""What is switched for the length of a ``with`` block: a mode, a core, one head."""

import contextlib
from collections.abc import Iterator

from torch import Tensor, nn

from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, replaced
from helpers.models.transformer_block import BlockAttention, Core
from helpers.modes import eval_mode as eval_mode


@contextlib.contextmanager
def attending_with(model: nn.Module, core: Core) -> Iterator[None]:
    """Inside the ``with`` block, another function computes a model's attention.

    Args:
        model: a ``TransformerLM``, or any module with a ``BlockAttention`` in it.
        core: takes queries (B, H, T, D), keys and values (B, H_kv, S, D), and by their
            names ``causal``, ``window`` and ``sinks``; returns (B, H, T, D). H_kv is
            the layer's ``num_kv_heads``: query heads 0, 0, 1, 1 have keys 0, 1.

    Raises:
        ValueError: a model without such a layer.
    """
    layers = [one for one in model.modules() if isinstance(one, BlockAttention)]
    if not layers:
        raise ValueError(
            f"model must have a BlockAttention in it, got {type(model).__name__}"
        )
    before = [layer.core for layer in layers]
    for layer in layers:
        layer.core = core
    try:
        yield
    finally:
        for layer, one in zip(layers, before, strict=True):
            layer.core = one


@contextlib.contextmanager
def silenced(
    model: TransformerLM, layer: int, head: int, *, instead: Tensor | float = 0.0
) -> Iterator[None]:
    """Inside the ``with`` block, one head's context is the same at every position.

    Args:
        model: a ``TransformerLM``.
        layer: which block, from 0.
        head: which of its heads, from 0.
        instead: (D,) or a number, what stands in place of its context: with 0 it adds
            nothing, with its mean it adds what it adds on average.

    Raises:
        ValueError: a layer or a head that the model doesn't have.
    """
    with replaced(model, {Part("context", layer, head): instead}):
        yield
