"""What the tests of helpers.attention share: sizes, modules, tokens, and an oracle.

Sizes differ, so that a swapped axis fails: B, T, S, H, D = 2, 5, 7, 3, 4.
"""

import math

import torch

from helpers.attention import (
    CausalAttention,
    CrossAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttentionV1,
    SelfAttentionV2,
)

B, T, S, H, D, D_V = 2, 5, 7, 3, 4, 6
C = H * D
D_IN, CONTEXT_LENGTH = 8, 9

CAUSAL = ("causal", "wrapper", "split", "fused")
ALL = ("V1", "V2", *CAUSAL)


def make_modules(dropout=0.0):
    """One of each self-attention module, on (B, T, D_IN)."""
    torch.manual_seed(0)
    return {
        "V1": SelfAttentionV1(D_IN, C),
        "V2": SelfAttentionV2(D_IN, C, qkv_bias=True),
        "causal": CausalAttention(D_IN, C, CONTEXT_LENGTH, dropout),
        "wrapper": MultiHeadAttentionWrapper(D_IN, D, CONTEXT_LENGTH, dropout, H),
        "split": MultiHeadAttention(D_IN, C, CONTEXT_LENGTH, dropout, H),
        "fused": MultiHeadAttention(D_IN, C, CONTEXT_LENGTH, dropout, H, fused=True),
    }


def make_cross_attention(dropout=0.0):
    """From tokens (..., T, C) to a context (..., S, D_IN)."""
    torch.manual_seed(0)
    return CrossAttention(C, D_IN, C, dropout, H)


def tokens(*shape, **options):
    torch.manual_seed(1)
    return torch.randn(*(shape or (B, T, D_IN)), **options)


def largest(tensor):
    return tensor.abs().max().item()


def parts(dtype=torch.float32):
    """Queries, keys and values with a head axis."""
    torch.manual_seed(2)
    return (
        torch.randn(B, H, T, D, dtype=dtype),
        torch.randn(B, H, S, D, dtype=dtype),
        torch.randn(B, H, S, D_V, dtype=dtype),
    )


def random_mask(*shape):
    """A boolean mask without an empty row."""
    torch.manual_seed(3)
    mask = torch.rand(shape) < 0.6
    mask[..., 0] = True
    return mask


def attention_by_loops(queries, keys, values, mask=None):
    """One number at a time, for (T, D), (S, D), (S, D_v)."""
    rows, contexts = [], []
    for i, query in enumerate(queries):
        scores = []
        for j, key in enumerate(keys):
            score = sum(q * k for q, k in zip(query, key, strict=True))
            allowed = mask is None or mask[i, j]
            scores.append(score / math.sqrt(len(query)) if allowed else None)
        top = max(score.item() for score in scores if score is not None)
        powers = [0 * query[0] if s is None else (s - top).exp() for s in scores]
        row = [power / sum(powers) for power in powers]
        rows.append(torch.stack(row))
        contexts.append(sum(w * v for w, v in zip(row, values, strict=True)))
    return torch.stack(contexts), torch.stack(rows)
