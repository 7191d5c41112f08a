"""Ross Wightman's timm: the attention of its vision transformers."""

import functools

from torch import nn

from public_layers.layer import D_MODEL, DROPOUT, NUM_HEADS, Layer, padded

PACKAGE = "timm"


class Adapter(nn.Module):
    """An Attention; ``fused`` is whether PyTorch's function computes it."""

    def __init__(self, *, fused=True, kind="Attention", **settings):
        super().__init__()
        from timm import layers

        self.attention = getattr(layers, kind)(
            D_MODEL, NUM_HEADS, qkv_bias=True, attn_drop=DROPOUT, **settings
        )
        self.attention.fused_attn = fused

    def forward(self, x, real=None):
        mask = None if real is None else real[:, None, None]
        return self.attention(x, attn_mask=mask)


DECLARED = {
    "causal": False,
    "num_heads": NUM_HEADS,
    "dropout": DROPOUT,
    "padding": padded,
}
OTHERS = (
    ("timm, gated", {}, {"gated": True}),
    ("timm, differential", {"softmax": False}, {"kind": "DiffAttention"}),
)
LAYERS = [
    *(
        Layer(name, PACKAGE, functools.partial(Adapter, fused=fused), DECLARED)
        for name, fused in (("timm", True), ("timm, unfused", False))
    ),
    *(
        Layer(
            name,
            PACKAGE,
            functools.partial(Adapter, **settings),
            {**DECLARED, **declared},
        )
        for name, declared, settings in OTHERS
    ),
]
