"""Phil Wang's local-attention: causal attention within a window."""

import torch
from torch import nn

from public_layers.layer import D_MODEL, DROPOUT, NUM_HEADS, WINDOW, Layer, padded

PACKAGE = "local-attention"


class Adapter(nn.Module):
    """A LocalMHA. Its exact window of w reaches back w tokens beyond the row's own."""

    def __init__(self):
        super().__init__()
        from local_attention.transformer import LocalMHA

        self.attention = LocalMHA(
            dim=D_MODEL,
            window_size=WINDOW - 1,
            dim_head=D_MODEL // NUM_HEADS,
            heads=NUM_HEADS,
            dropout=DROPOUT,
            causal=True,
            prenorm=False,
            exact_windowsize=True,
        )

    def forward(self, x, real=None):
        return self.attention(x, mask=real)


def step(module, x, cache):
    """Feed the tokens of x, one at a time behind the first call's."""
    if cache is None:
        return module.attention(x, return_cache=True)
    contexts = []
    for token in x.split(1, dim=1):
        context, cache = module.attention(token, cache=cache, return_cache=True)
        contexts.append(context)
    return torch.cat(contexts, dim=1), cache


LAYERS = [
    Layer(
        "local-attention",
        PACKAGE,
        Adapter,
        {
            "positions": "rotary",
            "num_heads": NUM_HEADS,
            "window": WINDOW,
            "dropout": DROPOUT,
            "padding": padded,
            "step": step,
        },
    )
]
