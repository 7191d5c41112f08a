"""Phil Wang's linear-attention-transformer."""

import functools

from torch import nn

from public_layers.layer import D_MODEL, NUM_HEADS, Layer, padded

PACKAGE = "linear-attention-transformer"


class Adapter(nn.Module):
    """A SelfAttention, whose heads are all linear."""

    def __init__(self, *, causal):
        super().__init__()
        from linear_attention_transformer.linear_attention_transformer import (
            SelfAttention,
        )

        self.attention = SelfAttention(D_MODEL, NUM_HEADS, causal=causal)

    def forward(self, x, real=None):
        return self.attention(x, input_mask=real)


LAYERS = [
    Layer(
        name,
        PACKAGE,
        functools.partial(Adapter, causal=causal),
        {
            "causal": causal,
            "num_heads": NUM_HEADS,
            "softmax": False,
            "padding": padded,
        },
    )
    for name, causal in (
        ("linear-attention-transformer", False),
        ("linear-attention-transformer, causal", True),
    )
]
