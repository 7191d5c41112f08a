"""A model in eval mode for a while, whatever it is made of."""

import contextlib
from collections.abc import Iterator

from torch import nn


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
