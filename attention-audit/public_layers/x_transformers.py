"""Phil Wang's x-transformers, with what its AttentionLayers hands to each layer."""

import functools

import torch
from torch import nn

from public_layers.layer import (
    D_MODEL,
    DROPOUT,
    NUM_HEADS,
    NUM_KV_HEADS,
    Layer,
    padded,
)

PACKAGE = "x-transformers"
HEAD_DIM = D_MODEL // NUM_HEADS


class Adapter(nn.Module):
    """An Attention; ``positions`` is None, "rotary" or "alibi"."""

    def __init__(self, *, positions=None, **settings):
        super().__init__()
        from x_transformers import x_transformers

        self.attention = x_transformers.Attention(
            D_MODEL, dim_head=HEAD_DIM, heads=NUM_HEADS, dropout=DROPOUT, **settings
        )
        self.rotary = self.alibi = None
        if positions == "rotary":
            self.rotary = x_transformers.RotaryEmbedding(HEAD_DIM)
        if positions == "alibi":
            self.alibi = x_transformers.AlibiPositionalBias(heads=NUM_HEADS)

    def forward(self, x, real=None):
        return self.call(x, mask=real)

    def call(self, x, cache=None, **options):
        T = x.shape[1] + (0 if cache is None else cache.cached_kv[0].shape[-2])
        if self.rotary is not None:
            options["rotary_pos_emb"] = self.rotary(torch.arange(T, device=x.device))
        if self.alibi is not None:
            options["attn_bias"] = self.alibi(x.shape[1], T)
        return self.attention(x, cache=cache, **options)


def step(module, x, cache):
    """Feed x behind the keys and values of earlier calls."""
    return module.call(x, cache, return_intermediates=True)


def layer(name, declared, **settings):
    """A Layer of this package."""
    make = functools.partial(Adapter, **settings)
    declared = {
        "num_heads": NUM_HEADS,
        "dropout": DROPOUT,
        "padding": padded,
        **declared,
    }
    if settings.get("causal"):
        declared["step"] = step
    return Layer(name, PACKAGE, make, declared)


LAYERS = [
    layer("x-transformers, encoder", {"causal": False}),
    layer("x-transformers, decoder", {}, causal=True),
    layer("x-transformers, flash", {}, causal=True, flash=True),
    layer(
        "x-transformers, rotary",
        {"positions": "rotary"},
        causal=True,
        positions="rotary",
    ),
    layer(
        "x-transformers, ALiBi", {"positions": "alibi"}, causal=True, positions="alibi"
    ),
    layer(
        "x-transformers, grouped",
        {"num_kv_heads": NUM_KV_HEADS},
        causal=True,
        kv_heads=NUM_KV_HEADS,
    ),
    layer("x-transformers, QK-norm", {"scale": 10.0}, causal=True, qk_norm=True),
    layer(
        "x-transformers, talking heads",
        {"softmax": False},
        causal=True,
        pre_talking_heads=True,
    ),
    layer("x-transformers, sigmoid", {"softmax": False}, causal=True, sigmoid=True),
    layer("x-transformers, gated", {}, causal=True, gate_values=True),
]
