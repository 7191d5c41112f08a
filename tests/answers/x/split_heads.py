import math
import torch
import torch.nn.functional as F


def right_1(x, num_heads):
    """right: stack of chunks"""
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def right_2(x, num_heads):
    """right: loops"""
    B, T, C = x.shape
    D = C // num_heads
    out = torch.empty(B, num_heads, T, D, dtype=x.dtype)
    for h in range(num_heads):
        out[:, h] = x[:, :, h * D:(h + 1) * D]
    return out


def wrong_1(x, num_heads):
    """wrong: views directly into (B, H, T, D) without transposing: mixes tokens"""
    B, T, C = x.shape
    return x.reshape(B, num_heads, T, C // num_heads)


def wrong_2(x, num_heads):
    """wrong: forgets the transpose: returns (B, T, H, D)"""
    B, T, C = x.shape
    return x.view(B, T, num_heads, C // num_heads)


def wrong_3(x, num_heads):
    """wrong: colleague's order kept, other permute: every num_heads-th feature"""
    B, T, C = x.shape
    cut = x.view(B, T, C // num_heads, num_heads)
    return cut.permute(0, 3, 1, 2)


def wrong_4(x, num_heads):
    """wrong: transposes the wrong pair: (B, H, D, T)"""
    B, T, C = x.shape
    cut = x.view(B, T, num_heads, C // num_heads)
    return cut.permute(0, 2, 3, 1)


def wrong_5(x, num_heads):
    """wrong: stacks the heads at axis 0: (H, B, T, D)"""
    D = x.shape[-1] // num_heads
    return torch.stack([x[..., h * D : (h + 1) * D] for h in range(num_heads)])


def wrong_6(x, num_heads):
    """wrong: width and number of heads mixed up: D heads of width H"""
    B, T, C = x.shape
    D = C // num_heads
    return x.view(B, T, D, num_heads).transpose(1, 2)


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
