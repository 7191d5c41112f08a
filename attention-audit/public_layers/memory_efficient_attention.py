"""Phil Wang's memory-efficient-attention-pytorch: attention in blocks."""

import functools

from torch import nn

from public_layers.layer import D_MODEL, DROPOUT, NUM_HEADS, Layer, padded

PACKAGE = "memory-efficient-attention-pytorch"


class Adapter(nn.Module):
    """An Attention, or with ``flash`` a FlashAttention, in blocks of 4 by 3 tokens."""

    def __init__(self, *, flash=False, **settings):
        super().__init__()
        import memory_efficient_attention_pytorch as package
        from memory_efficient_attention_pytorch import flash_attention

        kind = flash_attention.FlashAttention if flash else package.Attention
        self.attention = kind(
            dim=D_MODEL,
            heads=NUM_HEADS,
            dim_head=D_MODEL // NUM_HEADS,
            q_bucket_size=4,
            k_bucket_size=3,
            **settings,
        )

    def forward(self, x, real=None):
        return self.attention(x, mask=real)


def layer(name, **settings):
    """A Layer of this package."""
    declared = {"num_heads": NUM_HEADS, "padding": padded}
    if "dropout" in settings:
        declared["dropout"] = DROPOUT
    if not settings.get("causal"):
        declared["causal"] = False
    return Layer(name, PACKAGE, functools.partial(Adapter, **settings), declared)


DROPPED = {"dropout": DROPOUT}
LAYERS = [
    layer("memory-efficient, whole", causal=True, **DROPPED),
    layer("memory-efficient, blocks", causal=True, memory_efficient=True, **DROPPED),
    layer("memory-efficient, flash", causal=True, flash=True),
    layer("memory-efficient, flash encoder", flash=True),
]
