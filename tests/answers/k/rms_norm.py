"""Answers to rms_norm by hand k."""

import math

import torch
import torch.nn.functional as F


def right_mirrored_layer_norm(x, weight, eps):
    """right: puts -x behind x, so that the mean is 0 and the variance is the mean of
    the squares, lets F.layer_norm do the work and keeps the first half."""
    both = torch.cat([x, -x], dim=-1)
    normed = F.layer_norm(both, both.shape[-1:], eps=eps)
    return normed[..., : x.shape[-1]] * weight


def right_extra_component(x, weight, eps):
    """right: appends the component sqrt(C * eps), makes the longer vector a unit vector
    with F.normalize, drops the component again and multiplies by sqrt(C)."""
    c = x.shape[-1]
    longer = F.pad(x, (0, 1), value=math.sqrt(c * eps))
    return F.normalize(longer, dim=-1)[..., :c] * math.sqrt(c) * weight


def right_python_floats(x, weight, eps):
    """right: flattens to vectors and works on Python floats, one vector at a time."""
    c = x.shape[-1]
    factors = weight.tolist()
    out = []
    for vector in x.reshape(-1, c).tolist():
        root = math.sqrt(math.fsum(v * v for v in vector) / c + eps)
        out.append([v / root * w for v, w in zip(vector, factors, strict=True)])
    return torch.tensor(out, dtype=x.dtype).reshape(x.shape)


def right_matrix_of_means(x, weight, eps):
    """right: a C x C matrix of 1 / C copies the mean of the squares to each component,
    and a diagonal matrix multiplies by the weight."""
    c = x.shape[-1]
    averaging = torch.full((c, c), 1 / c, dtype=x.dtype)
    mean_squares = torch.square(x) @ averaging
    return (x * (mean_squares + eps) ** -0.5) @ torch.diag(weight)


def right_hypotenuse(x, weight, eps):
    """right: the length of the vector over sqrt(C) is the rms, and the root of the mean
    plus eps is the hypotenuse of a triangle with the sides rms and sqrt(eps)."""
    length = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    rms = length / math.sqrt(x.size(-1))
    root = torch.hypot(rms, torch.full_like(rms, math.sqrt(eps)))
    return weight * (x / root)


def wrong_layer_norm_habit(x, weight, eps):
    """wrong: subtracts the mean from x first, as LayerNorm does; right only for vectors
    whose mean is 0."""
    x = x - x.mean(dim=-1, keepdim=True)
    return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps) * weight


def wrong_eps_outside_root(x, weight, eps):
    """wrong: adds eps to the root instead of to the mean of the squares under it; shows
    for small vectors or a large eps only."""
    rms = x.pow(2).mean(dim=-1, keepdim=True).sqrt()
    return x / (rms + eps) * weight


def wrong_sum_of_squares(x, weight, eps):
    """wrong: takes the sum of the squares instead of their mean, so that the result is
    too small by about sqrt(C); right for C = 1."""
    return x * torch.rsqrt((x * x).sum(-1, keepdim=True) + eps) * weight


def wrong_one_plus_weight(x, weight, eps):
    """wrong: multiplies by 1 + weight, as Gemma does with weights that start at 0,
    instead of by weight."""
    normed = x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)
    return normed * (1 + weight)


def wrong_variance(x, weight, eps):
    """wrong: doesn't centre x, but divides by the root of x.var(unbiased=False), which
    is taken around the mean: right only for vectors whose mean is 0."""
    variance = x.var(dim=-1, keepdim=True, unbiased=False)
    return x / torch.sqrt(variance + eps) * weight


def wrong_mean_of_everything(x, weight, eps):
    """wrong: takes the mean of the squares over the whole tensor instead of for each
    vector; right for a single vector."""
    rms = torch.sqrt(x.pow(2).mean() + eps)
    return x / rms * weight


def wrong_overwrites_float32(x, weight, eps):
    """wrong: the result is right, but x.float() is no copy of a float32 tensor, so the
    in-place multiplications change the caller's x."""
    h = x.float()
    h *= torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + eps)
    h *= weight
    return h


def wrong_half_inside(x, weight, eps):
    """wrong: casts x to float16 first, so that values above 255 have infinite squares
    (result 0) and the others are off by about 0.1 per cent."""
    h = x.half()
    scale = torch.rsqrt((h * h).mean(-1, keepdim=True) + eps)
    return (h * scale).to(x.dtype) * weight


def wrong_clamped_mean(x, weight, eps):
    """wrong: uses eps as the lower limit of the mean of the squares instead of adding
    it; right for zeros and nearly right for large vectors, wrong for small ones."""
    mean_squares = x.pow(2).mean(-1, keepdim=True)
    return x * mean_squares.clamp(min=eps).rsqrt() * weight


def wrong_forgot_keepdim(x, weight, eps):
    """wrong: forgets keepdim, so that with two axes or more the roots are broadcast
    along the last axis: an error, or silently wrong where the sizes happen to fit."""
    rms = torch.sqrt(x.pow(2).mean(dim=-1) + eps)
    return x / rms * weight


def wrong_size_of_second_axis(x, weight, eps):
    """wrong: divides the sum of the squares by x.shape[1] as the C, which is T for
    three axes; right for two axes, and an error for one."""
    total = x.pow(2).sum(dim=-1, keepdim=True)
    return x / torch.sqrt(total / x.shape[1] + eps) * weight


def wrong_weight_first(x, weight, eps):
    """wrong: multiplies by weight first and normalizes the product, so that the squares
    under the root include the weight; right where all weights are 1 or -1."""
    h = x * weight
    return h / (h.pow(2).mean(-1, keepdim=True) + eps).sqrt()


def wrong_std_eps_outside(x, weight, eps):
    """wrong: two mistakes: divides by torch.std (around the mean, with C - 1) instead
    of the rms, and adds eps to the root instead of under it."""
    return weight * x / (torch.std(x, dim=-1, keepdim=True) + eps)


ANSWERS = [
    right_mirrored_layer_norm,
    right_extra_component,
    right_python_floats,
    right_matrix_of_means,
    right_hypotenuse,
    wrong_layer_norm_habit,
    wrong_eps_outside_root,
    wrong_sum_of_squares,
    wrong_one_plus_weight,
    wrong_variance,
    wrong_mean_of_everything,
    wrong_overwrites_float32,
    wrong_half_inside,
    wrong_clamped_mean,
    wrong_forgot_keepdim,
    wrong_size_of_second_axis,
    wrong_weight_first,
    wrong_std_eps_outside,
]
