"""CyberZHG's torch-multi-head-attention."""

import functools

from torch import nn

from public_layers.layer import D_MODEL, NUM_HEADS, Layer, padded

PACKAGE = "torch-multi-head-attention"


class Adapter(nn.Module):
    """A MultiHeadAttention without its ReLU; masks (B, T, T) are 1 at what is seen."""

    def __init__(self, *, causal):
        super().__init__()
        from torch_multi_head_attention import MultiHeadAttention

        self.causal = causal
        self.attention = MultiHeadAttention(D_MODEL, NUM_HEADS, activation=None)

    def forward(self, x, real=None):
        mask = self.attention.gen_history_mask(x) if self.causal else None
        if real is not None:
            seen = real[:, None].expand(-1, x.shape[1], -1)
            mask = seen if mask is None else mask.bool() & seen
        return self.attention(x, x, x, mask)


LAYERS = [
    Layer(
        name,
        PACKAGE,
        functools.partial(Adapter, causal=causal),
        {"causal": causal, "num_heads": NUM_HEADS, "padding": padded},
    )
    for name, causal in (
        ("torch-multi-head-attention", False),
        ("torch-multi-head-attention, causal", True),
    )
]
