"""PyTorch's own layers."""

import torch.nn.functional as F
from torch import nn

from public_layers.layer import (
    D_MODEL,
    DROPOUT,
    NUM_HEADS,
    Layer,
    causal_mask,
    padded,
)


class MultiHead(nn.Module):
    """nn.MultiheadAttention; its masks are True at what must not be seen."""

    def __init__(self, *, causal):
        super().__init__()
        self.causal = causal
        self.attention = nn.MultiheadAttention(
            D_MODEL, NUM_HEADS, dropout=DROPOUT, batch_first=True
        )

    def forward(self, x, real=None):
        hidden = ~causal_mask(x.shape[1], device=x.device) if self.causal else None
        return self.attention(
            x,
            x,
            x,
            attn_mask=hidden,
            key_padding_mask=None if real is None else ~real,
            average_attn_weights=False,
        )


class EncoderLayer(nn.Module):
    """The attention in nn.TransformerEncoderLayer, before residual and norm."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(
            D_MODEL, NUM_HEADS, dropout=DROPOUT, batch_first=True
        )
        self.layer.linear1 = self.layer.linear2 = nn.Identity()
        self.layer.norm1 = self.layer.norm2 = nn.Identity()

    def forward(self, x, real=None):
        hidden = None if real is None else ~real
        return self.layer._sa_block(x, None, hidden)


class Decoder(nn.Module):
    """F.scaled_dot_product_attention between a packed and a last projection."""

    def __init__(self):
        super().__init__()
        self.num_heads = NUM_HEADS
        self.qkv = nn.Linear(D_MODEL, 3 * D_MODEL)
        self.out_proj = nn.Linear(D_MODEL, D_MODEL)

    def forward(self, x):
        queries, keys, values = (
            part.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
            for part in self.qkv(x).chunk(3, dim=-1)
        )
        dropout = DROPOUT if self.training else 0.0
        context = F.scaled_dot_product_attention(
            queries, keys, values, dropout_p=dropout, is_causal=True
        )
        return self.out_proj(context.transpose(1, 2).flatten(2))


LAYERS = [
    Layer(
        "nn.MultiheadAttention",
        "torch",
        lambda: MultiHead(causal=False),
        {"causal": False, "dropout": DROPOUT, "padding": padded},
    ),
    Layer(
        "nn.MultiheadAttention, causal",
        "torch",
        lambda: MultiHead(causal=True),
        {"dropout": DROPOUT, "padding": padded},
    ),
    Layer(
        "nn.TransformerEncoderLayer",
        "torch",
        EncoderLayer,
        {
            "causal": False,
            "num_heads": NUM_HEADS,
            "dropout": DROPOUT,
            "padding": padded,
        },
    ),
    Layer(
        "F.scaled_dot_product_attention",
        "torch",
        Decoder,
        {"dropout": DROPOUT},
    ),
]
