"""A real model's heads under other masks, and what their weights are there."""

import contextlib
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor

from helpers.models.language_model import TransformerLM
from helpers.models.switches import attending_with
from helpers.models.transformer_block import Core


class Masked:
    """Attention under a mask of its own: a ``Core`` that keeps its weights.

    Args:
        mask: (B, H, T, T) or what broadcasts to it; boolean, True = may attend.
        dropped: of the same kind: which weights become 0 behind softmax, so that the
            others stay as they are.

    Attributes:
        weights: (B, H, T, T) of the last run.
    """

    def __init__(self, mask: Tensor, dropped: Tensor | None = None) -> None:
        self.mask, self.dropped = mask, dropped
        self.weights = torch.empty(0)

    def __call__(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        *,
        causal: bool,
        window: int | None,
        sinks: int,
    ) -> Tensor:
        """From (B, H, T, D), (B, H_kv, T, D) and (B, H_kv, T, D) to (B, H, T, D)."""
        times = queries.shape[1] // keys.shape[1]
        keys = keys.repeat_interleave(times, dim=1)
        values = values.repeat_interleave(times, dim=1)
        scores = queries @ keys.transpose(-2, -1) * queries.shape[-1] ** -0.5
        scores.masked_fill_(~self.mask, -torch.inf)
        self.weights = scores.softmax(dim=-1)
        if self.dropped is not None:
            self.weights = self.weights.masked_fill(self.dropped, 0.0)
        return self.weights @ values


@contextlib.contextmanager
def masked(model: TransformerLM, cores: Mapping[int, Core]) -> Iterator[None]:
    """Inside the ``with`` block, some layers attend under masks of their own.

    Args:
        model: a ``TransformerLM``.
        cores: from layers, counted from 0, to what computes their attention.
    """
    with contextlib.ExitStack() as stack:
        for layer, core in cores.items():
            stack.enter_context(attending_with(model.blocks[layer], core))
        yield
