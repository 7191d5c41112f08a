"""What is switched for the length of a ``with`` block: eval mode, one head."""

import contextlib
from collections.abc import Iterator

from torch import Tensor, nn

from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, replaced


@contextlib.contextmanager
def eval_mode(model: nn.Module) -> Iterator[None]:
    """Eval mode inside a ``with`` block; then each module has its own mode again.

    Args:
        model: an ``nn.Module``. Its modules may be in different modes.
    """
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


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
