"""Lightning AI's LitGPT."""

import functools

import torch
from torch import nn

from public_layers.layer import (
    CONTEXT_LENGTH,
    D_MODEL,
    NUM_HEADS,
    NUM_KV_HEADS,
    WINDOW,
    Layer,
)

PACKAGE = "litgpt"


class Adapter(nn.Module):
    """CausalSelfAttention, with the angles and the cache that its GPT hands to it."""

    def __init__(self, **settings):
        super().__init__()
        from litgpt import Config
        from litgpt.model import CausalSelfAttention, build_rope_cache

        config = Config(
            block_size=CONTEXT_LENGTH,
            n_layer=1,
            n_embd=D_MODEL,
            n_head=NUM_HEADS,
            n_query_groups=NUM_KV_HEADS,
            rotary_percentage=1.0,
            **settings,
        )
        self.attention = CausalSelfAttention(config, block_idx=0)
        cos, sin = build_rope_cache(CONTEXT_LENGTH, config.rope_n_elem)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        T = x.shape[1]
        return self.attention(x, self.cos[None, :T], self.sin[None, :T])


def step(module, x, cache):
    """Feed x behind a cache of full length, which the layer itself would hold."""
    from litgpt.model import build_mask_cache

    if cache is None:
        cache = module.attention.build_kv_cache(x.shape[0], CONTEXT_LENGTH), 0
    keys_and_values, past = cache
    places = torch.arange(past, past + x.shape[1])
    mask = build_mask_cache(CONTEXT_LENGTH)[:, :, places]
    module.attention.kv_cache = keys_and_values
    angles = module.cos[None, places], module.sin[None, places]
    context = module.attention(x, *angles, mask, input_pos=places)
    module.attention.kv_cache = None
    return context, (keys_and_values, past + x.shape[1])


DECLARED = {
    "positions": "rotary",
    "num_heads": NUM_HEADS,
    "num_kv_heads": NUM_KV_HEADS,
}
LAYERS = [
    Layer("LitGPT", PACKAGE, Adapter, {**DECLARED, "step": step}),
    Layer(
        "LitGPT, sliding",
        PACKAGE,
        functools.partial(
            Adapter, sliding_window_size=WINDOW, sliding_window_indices=[1]
        ),
        {**DECLARED, "window": WINDOW},
    ),
]
