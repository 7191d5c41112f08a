"""Microsoft's TorchScale: attention with and without xPos, and RetNet's retention."""

import functools

import torch
from torch import nn

from public_layers.layer import (
    D_MODEL,
    DROPOUT,
    NUM_HEADS,
    Layer,
    causal_mask,
    padded,
)

PACKAGE = "torchscale"


class Adapter(nn.Module):
    """A MultiheadAttention, with the mask that the package's Decoder makes."""

    def __init__(self, *, xpos=False, causal=True):
        super().__init__()
        from torchscale.architecture.config import DecoderConfig
        from torchscale.component.multihead_attention import MultiheadAttention

        self.causal = causal
        self.attention = MultiheadAttention(
            DecoderConfig(xpos_rel_pos=xpos),
            D_MODEL,
            NUM_HEADS,
            dropout=DROPOUT,
            self_attention=True,
        )

    def forward(self, x, real=None):
        context, weights = self.call(x, real)
        return context, weights.transpose(0, 1)

    def call(self, x, real=None, cache=None):
        """The layer's two results; the cache is its ``incremental_state``."""
        past = cache["prev_key"].shape[2] if cache else 0
        mask = None
        if self.causal:
            seen = causal_mask(past + x.shape[1], device=x.device)[past:]
            mask = torch.zeros_like(seen, dtype=x.dtype).masked_fill(~seen, -torch.inf)
        return self.attention(
            x,
            x,
            x,
            incremental_state=cache,
            key_padding_mask=None if real is None else ~real,
            attn_mask=mask,
            is_first_step=not past,
        )


class Retention(nn.Module):
    """A MultiScaleRetention with RetNet's angles and decay."""

    def __init__(self):
        super().__init__()
        from torchscale.architecture.config import RetNetConfig
        from torchscale.architecture.retnet import RetNetRelPos
        from torchscale.component.multiscale_retention import MultiScaleRetention

        config = RetNetConfig(
            decoder_embed_dim=D_MODEL,
            decoder_value_embed_dim=D_MODEL,
            decoder_retention_heads=NUM_HEADS,
        )
        self.attention = MultiScaleRetention(config, D_MODEL, D_MODEL, NUM_HEADS)
        self.angles = RetNetRelPos(config)

    def forward(self, x):
        return self.attention(x, self.angles(x.shape[1]))


def step(module, x, cache):
    """Feed x behind the keys and values of earlier calls."""
    cache = dict(cache or {})
    return module.call(x, cache=cache)[0], cache


def recurrent(module, x, cache):
    """Feed the tokens of x one by one, as the package's RetNetDecoder does."""
    state, past = cache or ({}, 0)
    state, contexts = dict(state), []
    for n, token in enumerate(x.split(1, dim=1), past + 1):
        angles = module.angles(n, activate_recurrent=True)
        contexts.append(module.attention(token, angles, incremental_state=state))
    return torch.cat(contexts, dim=1), (state, past + x.shape[1])


HEADS = {"num_heads": NUM_HEADS}
USUAL = {**HEADS, "dropout": DROPOUT, "padding": padded}
LAYERS = [
    Layer(
        "TorchScale, encoder",
        PACKAGE,
        functools.partial(Adapter, causal=False),
        {**USUAL, "causal": False},
    ),
    Layer("TorchScale, decoder", PACKAGE, Adapter, {**USUAL, "step": step}),
    Layer(
        "TorchScale, xPos",
        PACKAGE,
        functools.partial(Adapter, xpos=True),
        {**USUAL, "positions": "relative", "step": step},
    ),
    Layer(
        "TorchScale, retention",
        PACKAGE,
        Retention,
        {**HEADS, "positions": "relative", "softmax": False, "step": recurrent},
    ),
]
