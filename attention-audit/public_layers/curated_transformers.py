"""Explosion's curated-transformers."""

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

PACKAGE = "curated-transformers"


class Adapter(nn.Module):
    """A SelfAttention; ``fused`` is whether PyTorch's function computes it."""

    def __init__(self, *, positions, causal=True, fused=False):
        super().__init__()
        from curated_transformers import layers
        from curated_transformers.layers import attention

        rotary = layers.QueryKeyRotaryEmbeddings(
            fraction=1.0, head_width=D_MODEL // NUM_HEADS
        )
        alibi = layers.AttentionLinearBiases(
            n_attention_heads=NUM_HEADS, is_causal=causal, is_inverted=False
        )
        self.causal, self.fused = causal, fused
        self.attention = layers.SelfAttention(
            attention_heads=layers.AttentionHeads.key_value_broadcast(
                n_query_heads=NUM_HEADS,
                n_key_value_heads=NUM_KV_HEADS,
                qkv_split=attention.QkvSplitGroupedByKVHeads(),
            ),
            attention_scorer=layers.ScaledDotProductAttention(
                dropout_prob=DROPOUT,
                linear_biases=alibi if positions == "alibi" else None,
            ),
            hidden_width=D_MODEL,
            qkv_mode=layers.QkvMode.SEPARATE,
            rotary_embeds=rotary if positions == "rotary" else None,
            use_bias=True,
        )

    def forward(self, x, real=None, cache=None):
        return self.call(x, real, cache)[0]

    def call(self, x, real=None, cache=None, *, store=False):
        from curated_transformers.layers import AttentionMask
        from curated_transformers.layers.attention import enable_torch_sdp

        if real is None:
            past = 0 if cache is None else cache.key.shape[-2]
            shape = (x.shape[0], past + x.shape[1])
            real = torch.ones(shape, dtype=torch.bool, device=x.device)
        with enable_torch_sdp(self.fused):
            return self.attention(
                x,
                AttentionMask(real),
                use_causal_mask=self.causal,
                cache=cache,
                store_cache=store,
            )


def step(module, x, cache):
    """Feed x behind the keys and values of earlier calls."""
    return module.call(x, cache=cache, store=True)


def layer(name, positions, **settings):
    """A Layer of this package."""
    declared = {
        "positions": positions,
        "num_heads": NUM_HEADS,
        "num_kv_heads": NUM_KV_HEADS,
        "dropout": DROPOUT,
        "padding": padded,
    }
    if settings.get("causal", True):
        declared["step"] = step
    else:
        declared["causal"] = False
    make = functools.partial(Adapter, positions=positions, **settings)
    return Layer(name, PACKAGE, make, declared)


LAYERS = [
    layer("curated, rotary", "rotary"),
    layer("curated, ALiBi", "alibi"),
    layer("curated, ALiBi encoder", "alibi", causal=False),
    layer("curated, fused", "rotary", fused=True),
]
