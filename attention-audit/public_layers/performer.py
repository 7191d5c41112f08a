"""Phil Wang's Performer: attention by random features."""

import functools

from torch import nn

from public_layers.layer import D_MODEL, NUM_HEADS, Layer, padded

PACKAGE = "performer-pytorch"


class Adapter(nn.Module):
    """A SelfAttention, with 7 random features for each head."""

    def __init__(self, **settings):
        super().__init__()
        from performer_pytorch import SelfAttention

        self.attention = SelfAttention(
            D_MODEL,
            heads=NUM_HEADS,
            dim_head=D_MODEL // NUM_HEADS,
            nb_features=7,
            **settings,
        )

    def forward(self, x, real=None):
        return self.attention(x, mask=real)


def layer(name, **settings):
    """A Layer of this package, whose weights are no softmax."""
    declared = {"num_heads": NUM_HEADS, "softmax": False, "padding": padded}
    if not settings.get("causal"):
        declared["causal"] = False
    return Layer(name, PACKAGE, functools.partial(Adapter, **settings), declared)


LAYERS = [
    layer("Performer"),
    layer("Performer, causal", causal=True),
    layer("Performer, ReLU", generalized_attention=True),
    layer("Performer, ReLU causal", generalized_attention=True, causal=True),
]
