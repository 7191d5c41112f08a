"""PyTorch's torchtune: its attention, and Gemma 2's."""

import functools

import torch
from torch import nn

from public_layers.layer import (
    CONTEXT_LENGTH,
    D_MODEL,
    DROPOUT,
    NUM_HEADS,
    NUM_KV_HEADS,
    WINDOW,
    Layer,
    causal_mask,
    padded,
)

PACKAGE = "torchtune"
HEAD_DIM = D_MODEL // NUM_HEADS


class Adapter(nn.Module):
    """An attention, with the mask that the package's ``generation`` makes.

    Args:
        gemma: whether it is Gemma 2's, whose further settings are ``settings``.
        normed: whether queries and keys have a norm each, behind the rotation.
    """

    def __init__(self, *, gemma=False, normed=False, **settings):
        super().__init__()
        from torchtune import modules
        from torchtune.models.gemma2 import _attention

        kind = _attention.Gemma2Attention if gemma else modules.MultiHeadAttention
        keys_width = NUM_KV_HEADS * HEAD_DIM
        self.attention = kind(
            embed_dim=D_MODEL,
            num_heads=NUM_HEADS,
            num_kv_heads=NUM_KV_HEADS,
            head_dim=HEAD_DIM,
            q_proj=nn.Linear(D_MODEL, D_MODEL),
            k_proj=nn.Linear(D_MODEL, keys_width),
            v_proj=nn.Linear(D_MODEL, keys_width),
            output_proj=nn.Linear(D_MODEL, D_MODEL),
            pos_embeddings=modules.RotaryPositionalEmbeddings(HEAD_DIM),
            q_norm=modules.RMSNorm(HEAD_DIM) if normed else None,
            k_norm=modules.RMSNorm(HEAD_DIM) if normed else None,
            max_seq_len=CONTEXT_LENGTH,
            attn_dropout=DROPOUT,
            **settings,
        )

    def forward(self, x, real=None):
        from torchtune.generation import get_causal_mask_from_padding_mask

        mask = None if real is None else get_causal_mask_from_padding_mask(real)
        return self.attention(x, x, mask=mask)


def step(module, x, cache):
    """Feed x behind a cache of full length, which the layer itself would hold."""
    layer, past = module.attention, 0
    if cache is None:
        layer.setup_cache(x.shape[0], x.dtype, CONTEXT_LENGTH)
    else:
        layer.kv_cache, past = cache
        layer.cache_enabled = True
    places = torch.arange(past, past + x.shape[1])
    mask = causal_mask(CONTEXT_LENGTH, device=x.device)[None, places]
    context = layer(x, x, mask=mask, input_pos=places[None])
    cache = layer.kv_cache, past + x.shape[1]
    layer.kv_cache, layer.cache_enabled = None, False
    return context, cache


def layer(name, declared=None, **settings):
    """A Layer of this package."""
    usual = {
        "positions": "rotary",
        "num_heads": NUM_HEADS,
        "num_kv_heads": NUM_KV_HEADS,
        "dropout": DROPOUT,
        "padding": padded,
        "step": step,
    }
    make = functools.partial(Adapter, **settings)
    return Layer(name, PACKAGE, make, {**usual, **(declared or {})})


LAYERS = [
    layer("torchtune"),
    layer("torchtune, normed", normed=True),
    layer("torchtune, Gemma 2", gemma=True),
    layer(
        "torchtune, Gemma 2 sliding",
        {"window": WINDOW},
        gemma=True,
        sliding_window_size=WINDOW,
    ),
]
