import math
import torch
import torch.nn.functional as F


def right_1(heads, start):
    """right: complex numbers"""
    T, D = heads.shape[-2], heads.shape[-1]
    half = D // 2
    n = torch.arange(half, dtype=torch.float64)
    p = torch.arange(T, dtype=torch.float64) + start
    angle = p[:, None] * 10000.0 ** (-2 * n / D)
    z = torch.complex(heads[..., :half].double(), heads[..., half:].double())
    z = z * torch.exp(1j * angle)
    return torch.cat([z.real, z.imag], -1).to(heads.dtype)


def right_2(heads, start):
    """right: rotate_half style as in Llama code"""
    T, D = heads.shape[-2:]
    inv_freq = 1.0 / (10000 ** (torch.arange(0, D, 2).float() / D))
    freqs = torch.arange(start, start + T)[:, None] * inv_freq[None, :]
    emb = torch.cat([freqs, freqs], dim=-1)
    x1, x2 = heads[..., : D // 2], heads[..., D // 2 :]
    return heads * emb.cos() + torch.cat([-x2, x1], dim=-1) * emb.sin()


def wrong_1(heads, start):
    """wrong: ignores start"""
    T, D = heads.shape[-2:]
    speeds = 10_000.0 ** (-2 * torch.arange(D // 2) / D)
    angles = torch.outer(torch.arange(T).float(), speeds)
    a, b = heads.chunk(2, dim=-1)
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1)


def wrong_2(heads, start):
    """wrong: neighbours are pairs (interleaved layout)"""
    T, D = heads.shape[-2:]
    speeds = 10_000.0 ** (-2 * torch.arange(D // 2) / D)
    angles = torch.outer(torch.arange(start, start + T).float(), speeds)
    a, b = heads[..., 0::2], heads[..., 1::2]
    out = torch.empty_like(heads)
    out[..., 0::2] = a * angles.cos() - b * angles.sin()
    out[..., 1::2] = a * angles.sin() + b * angles.cos()
    return out


def wrong_3(heads, start):
    """wrong: turns the other way (sign of sine)"""
    T, D = heads.shape[-2:]
    speeds = 10_000.0 ** (-2 * torch.arange(D // 2) / D)
    angles = torch.arange(start, start + T)[:, None] * speeds
    c, s = angles.cos(), angles.sin()
    a, b = heads.chunk(2, dim=-1)
    return torch.cat([a * c + b * s, b * c - a * s], dim=-1)


def wrong_4(heads, start):
    """wrong: exponent -n/D in place of -2n/D"""
    T, D = heads.shape[-2:]
    speeds = 10_000.0 ** (-torch.arange(D // 2) / D)
    angles = torch.outer(torch.arange(start, start + T).float(), speeds)
    a, b = heads.chunk(2, dim=-1)
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1)


def wrong_5(heads, start):
    """wrong: second half made from the already turned first half, in place on a clone"""
    T, D = heads.shape[-2:]
    h = D // 2
    speeds = 10_000.0 ** (-2 * torch.arange(h) / D)
    angles = torch.outer(torch.arange(start, start + T).float(), speeds)
    out = heads.clone()
    out[..., :h] = out[..., :h] * angles.cos() - out[..., h:] * angles.sin()
    out[..., h:] = out[..., :h] * angles.sin() + out[..., h:] * angles.cos()
    return out


def wrong_6(heads, start):
    """wrong: places counted from start + 1, not start"""
    T, D = heads.shape[-2:]
    speeds = 10_000.0 ** (-2 * torch.arange(D // 2) / D)
    angles = torch.outer(torch.arange(start + 1, start + T + 1).float(), speeds)
    a, b = heads.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


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
