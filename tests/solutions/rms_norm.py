"""RMSNorm of vectors."""

import math

import torch
import torch.nn.functional as F


def norm_by_loops(x, weight, eps):
    out = torch.empty_like(x)
    flat, result = x.reshape(-1, x.shape[-1]), out.view(-1, x.shape[-1])
    for row, vector in enumerate(flat):
        total = sum(float(number) ** 2 for number in vector)
        size = math.sqrt(total / len(vector) + eps)
        result[row] = vector / size * weight
    return out


def norm_by_rsqrt(x, weight, eps):
    return weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


def norm_of_pytorch(x, weight, eps):
    return F.rms_norm(x, weight.shape, weight, eps)


def norm_by_length(x, weight, eps):
    C = x.shape[-1]
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return x * weight / (length**2 / C + eps) ** 0.5


def norm_by_einsum(x, weight, eps):
    squares = torch.einsum("...c,...c->...", x, x) / x.size(-1)
    return x / (squares + eps).sqrt().unsqueeze(-1) * weight


def norm_of_the_centred(x, weight, eps):
    x = x - x.mean(-1, keepdim=True)
    return x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight


def norm_with_eps_behind(x, weight, eps):
    return x / (x.pow(2).mean(-1, keepdim=True).sqrt() + eps) * weight


def norm_to_length_one(x, weight, eps):
    return weight * x / (x.pow(2).sum(-1, keepdim=True) + eps).sqrt()


def norm_by_std(x, weight, eps):
    return x / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + eps) * weight


def norm_over_everything(x, weight, eps):
    return x / torch.sqrt((x * x).mean() + eps) * weight


def norm_without_root(x, weight, eps):
    return x / (x.square().mean(-1, keepdim=True) + eps) * weight


def norm_plus_one(x, weight, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * (weight + 1)


RIGHT = [
    norm_by_loops,
    norm_by_rsqrt,
    norm_of_pytorch,
    norm_by_length,
    norm_by_einsum,
]
WRONG = [
    (norm_of_the_centred, "LayerNorm"),
    (norm_with_eps_behind, "eps outside the root"),
    (norm_to_length_one, "vectors of length 1"),
    (norm_by_std, "a division by the standard deviation"),
    (norm_over_everything, "one size for all vectors"),
    (norm_without_root, "no root"),
    (norm_plus_one, "a weight that is 1 too large"),
]
