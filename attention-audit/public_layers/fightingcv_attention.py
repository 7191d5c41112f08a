"""fightingcv-attention, a collection of attention layers for vision."""

from torch import nn

from public_layers.layer import D_MODEL, DROPOUT, NUM_HEADS, Layer, padded

PACKAGE = "fightingcv-attention"


class Adapter(nn.Module):
    """A ScaledDotProductAttention; masks are True at what is hidden."""

    def __init__(self):
        super().__init__()
        from fightingcv_attention.attention.SelfAttention import (
            ScaledDotProductAttention,
        )

        D = D_MODEL // NUM_HEADS
        self.attention = ScaledDotProductAttention(D_MODEL, D, D, NUM_HEADS, DROPOUT)

    def forward(self, x, real=None):
        hidden = None if real is None else ~real[:, None, None]
        return self.attention(x, x, x, hidden)


LAYERS = [
    Layer(
        "fightingcv-attention",
        PACKAGE,
        Adapter,
        {
            "causal": False,
            "num_heads": NUM_HEADS,
            "dropout": DROPOUT,
            "padding": padded,
        },
    )
]
