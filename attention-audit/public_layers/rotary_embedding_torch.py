"""Phil Wang's rotary-embedding-torch, called as its README says."""

import functools

import torch
import torch.nn.functional as F
from torch import nn

from public_layers.layer import D_MODEL, NUM_HEADS, Layer, causal_mask

PACKAGE = "rotary-embedding-torch"


class Adapter(nn.Module):
    """Causal attention of PyTorch between the package's rotations and projections."""

    def __init__(self, *, xpos=False):
        super().__init__()
        from rotary_embedding_torch import RotaryEmbedding

        self.qkv = nn.Linear(D_MODEL, 3 * D_MODEL)
        self.out_proj = nn.Linear(D_MODEL, D_MODEL)
        self.rotary = RotaryEmbedding(D_MODEL // NUM_HEADS, use_xpos=xpos)
        self.xpos = xpos

    def forward(self, x):
        return self.call(x)[0]

    def call(self, x, cache=None):
        """The context, and the keys and values before their rotation."""
        queries, keys, values = (
            part.unflatten(-1, (NUM_HEADS, -1)).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        past = 0
        if cache is not None:
            past = cache[0].shape[2]
            keys = torch.cat([cache[0], keys], dim=2)
            values = torch.cat([cache[1], values], dim=2)
        cache = keys, values
        if past:
            rotate = self.rotary.rotate_queries_with_cached_keys
            queries, keys = rotate(queries, keys)
        elif self.xpos:
            queries, keys = self.rotary.rotate_queries_and_keys(queries, keys)
        else:
            queries = self.rotary.rotate_queries_or_keys(queries)
            keys = self.rotary.rotate_queries_or_keys(keys)
        mask = causal_mask(past + x.shape[1], device=x.device)[past:]
        context = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
        return self.out_proj(context.transpose(1, 2).flatten(2)), cache


def step(module, x, cache):
    """Feed x behind the keys and values of earlier calls."""
    return module.call(x, cache)


LAYERS = [
    Layer(
        "rotary-embedding-torch",
        PACKAGE,
        Adapter,
        {"positions": "rotary", "num_heads": NUM_HEADS, "step": step},
    ),
    Layer(
        "rotary-embedding-torch, xPos",
        PACKAGE,
        functools.partial(Adapter, xpos=True),
        {"positions": "relative", "num_heads": NUM_HEADS, "step": step},
    ),
]
