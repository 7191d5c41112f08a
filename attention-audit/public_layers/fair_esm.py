"""Meta's fair-esm: the attention of its protein models, with time before batch."""

import functools

from torch import nn

from public_layers.layer import D_MODEL, DROPOUT, NUM_HEADS, Layer, padded

PACKAGE = "fair-esm"


class Adapter(nn.Module):
    """A MultiheadAttention; masks are True at padding."""

    def __init__(self, *, rotary):
        super().__init__()
        from esm.multihead_attention import MultiheadAttention

        self.attention = MultiheadAttention(
            D_MODEL,
            NUM_HEADS,
            dropout=DROPOUT,
            self_attention=True,
            use_rotary_embeddings=rotary,
        )

    def forward(self, x, real=None):
        hidden = None if real is None else ~real
        x = x.transpose(0, 1)
        context, weights = self.attention(
            x, x, x, key_padding_mask=hidden, need_head_weights=True
        )
        return context.transpose(0, 1), weights.transpose(0, 1)


DECLARED = {
    "causal": False,
    "num_heads": NUM_HEADS,
    "dropout": DROPOUT,
    "padding": padded,
}
LAYERS = [
    Layer("ESM-1b", PACKAGE, functools.partial(Adapter, rotary=False), DECLARED),
    Layer(
        "ESM-2",
        PACKAGE,
        functools.partial(Adapter, rotary=True),
        {**DECLARED, "positions": "rotary"},
    ),
]
