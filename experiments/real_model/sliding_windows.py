"""The loss of SmolLM2 in a sliding window, with and without the first tokens.

Source: Xiao et al. 2024, section 3.1 (there, a cache's places are counted anew; here
each token keeps its own).
"""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments.real_model.attending import Masked, masked
from experiments.real_model.intervals import rounded
from experiments.real_model.pretrained_models import smollm2
from helpers.attention import causal_mask, sliding_window_mask

LONG = 512  # tokens of a piece
ASKED = 248  # the last ones, whose loss counts


def sliding(ids: Tensor, window: int, kept: str) -> list[float]:
    """The loss of texts under a sliding window, with some other tokens kept.

    Args:
        ids: (N, T) int64.
        window: how many last tokens a query sees, its own included; all, where it is T.
        kept: "first 4", the first four tokens; "second 4", four from the second on;
            "middle 4", four from the 25th on; always beside the window.

    Returns:
        losses: a list, nats per token over the last ``ASKED`` tokens of each text.
    """
    model, _ = smollm2()
    mask = window_mask(ids.shape[1], window, kept)
    with masked(model, {layer: Masked(mask) for layer in range(len(model.blocks))}):
        return rounded(torch.cat(list(nats(ids, ASKED, size=2))))


def window_mask(length: int, window: int, kept: str) -> Tensor:
    """Which tokens are seen in a window, and beside it; as for ``sliding``.

    Returns:
        mask: (T, T) boolean, True = may attend.
    """
    which, count = kept.split()
    begin = {"first": 0, "second": 1, "middle": 24}[which]
    mask = sliding_window_mask(length, window)
    mask[:, begin : begin + int(count)] = True
    return mask & causal_mask(length)


def nats(ids: Tensor, last: int, *, size: int) -> Iterator[Tensor]:
    """The loss of each text's last tokens, some texts at a time.

    Args:
        ids: (N, T) int64.
        last: how many tokens count.
        size: B, how many texts run together.

    Yields:
        losses: (B,), nats per token.
    """
    model, _ = smollm2()
    # The logits of all other places would take a fifth of the time.
    hook = model.final_norm.register_forward_pre_hook(
        lambda _, inputs: (inputs[0][:, -last - 1 : -1],)
    )
    try:
        for batch in ids.split(size):
            with torch.no_grad():
                logits = model(batch)
            rows = F.cross_entropy(
                logits.transpose(1, 2), batch[:, -last:], reduction="none"
            )
            yield rows.mean(dim=1)
    finally:
        hook.remove()
