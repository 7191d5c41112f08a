"""Answers to rms_norm by hand j."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def right_extra_component(x, weight, eps):
    """right: appends the component sqrt(C * eps) to each vector, so that normalize sees
    C times (mean of squares + eps), drops it again and multiplies by sqrt(C)."""
    C = x.shape[-1]
    longer = F.pad(x, (0, 1), value=math.sqrt(C * eps))
    unit = F.normalize(longer, dim=-1, eps=0.0)
    return unit[..., :-1] * math.sqrt(C) * weight


def right_built_in(x, weight, eps):
    """right: PyTorch's own F.rms_norm over the last axis."""
    return F.rms_norm(x, (x.shape[-1],), weight=weight, eps=eps)


def right_rows_in_python(x, weight, eps):
    """right: flattens to vectors and works on Python floats, one vector at a time."""
    C = x.shape[-1]
    factors = weight.tolist()
    out = []
    for row in x.reshape(-1, C).tolist():
        root = math.sqrt(math.fsum(v * v for v in row) / C + eps)
        out.append([v / root * f for v, f in zip(row, factors)])
    return torch.tensor(out, dtype=x.dtype).reshape(x.shape)


def right_variance_plus_square(x, weight, eps):
    """right: the mean of the squares as the variance (divided by C) plus the square of
    the mean."""
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return weight * x * torch.rsqrt(variance + mean.square() + eps)


def right_numpy_double(x, weight, eps):
    """right: in NumPy with float64, and back to the dtype of x at the end."""
    a = x.detach().double().numpy()
    w = weight.detach().double().numpy()
    rms = np.sqrt(np.mean(a**2, axis=-1, keepdims=True) + eps)
    return torch.from_numpy(a / rms * w).to(x.dtype)


def right_dot_products(x, weight, eps):
    """right: each vector's dot product with itself as a (1, C) by (C, 1) matrix
    product, and the weights as a diagonal matrix."""
    squares = (x.unsqueeze(-2) @ x.unsqueeze(-1)).squeeze(-1)  # (..., 1)
    scale = (squares / x.shape[-1] + eps) ** -0.5
    return (x * scale) @ torch.diag(weight)


def wrong_like_layer_norm(x, weight, eps):
    """wrong: subtracts the mean of each vector first, as layer norm does; right only
    for vectors whose mean is 0."""
    x = x - x.mean(dim=-1, keepdim=True)
    return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps) * weight


def wrong_length(x, weight, eps):
    """wrong: divides by the root of the sum of the squares instead of their mean, so
    that the result is too small by the factor sqrt(C); right for C = 1."""
    return weight * x / (x.pow(2).sum(-1, keepdim=True) + eps).sqrt()


def wrong_eps_after_root(x, weight, eps):
    """wrong: adds eps to the root instead of to the mean of the squares under it, which
    shows for small vectors or a large eps."""
    rms = x.square().mean(dim=-1, keepdim=True).sqrt()
    return x / (rms + eps) * weight


def wrong_eps_on_the_sum(x, weight, eps):
    """wrong: adds eps to the sum of the squares before dividing by C, so that eps
    counts only one C-th; shows for small vectors or a large eps."""
    mean = (torch.einsum("...c,...c->...", x, x) + eps) / x.shape[-1]
    return x / mean.sqrt().unsqueeze(-1) * weight


def wrong_axis_one(x, weight, eps):
    """wrong: takes the mean over axis 1 instead of the last one; right for (B, C), but
    not for (B, T, C), and an error for a single vector."""
    mean = (x * x).mean(dim=1, keepdim=True)
    return x / torch.sqrt(mean + eps) * weight


def wrong_no_root(x, weight, eps):
    """wrong: divides by the mean of the squares plus eps and forgets the root."""
    return x / ((x**2).mean(dim=-1, keepdim=True) + eps) * weight


def wrong_rows_in_place(x, weight, eps):
    """wrong: the values are right, but it works in place on a view of x, so that x is
    changed wherever reshape doesn't need to copy."""
    rows = x.reshape(-1, x.shape[-1])
    for row in rows:
        row *= weight / torch.sqrt(torch.mean(row**2) + eps)
    return rows.reshape(x.shape)


def wrong_fixed_eps(x, weight, eps):
    """wrong: ignores the argument eps and always adds 1e-5; right for eps = 1e-5, and
    nearly right for vectors that are large against it."""
    return F.rms_norm(x, weight.shape, weight, eps=1e-5)


def wrong_one_plus_weight(x, weight, eps):
    """wrong: multiplies by 1 + weight, as models do that store the difference from 1,
    instead of by weight."""
    normed = x * (x.square().mean(-1, keepdim=True) + eps).rsqrt()
    return normed * (1 + weight)


def wrong_weight_first(x, weight, eps):
    """wrong: multiplies by weight before the norm, so that the root is that of the
    weighted vector; right if all weights are 1 (or -1)."""
    y = x * weight
    return y / (y.pow(2).mean(dim=-1, keepdim=True) + eps).sqrt()


def wrong_eps_only_for_zeros(x, weight, eps):
    """wrong: adds eps only where the mean of the squares is exactly 0; right for zeros
    and for large vectors, but small vectors are made too long."""
    mean = x.pow(2).mean(dim=-1, keepdim=True)
    mean = torch.where(mean == 0, mean + eps, mean)
    return x / mean.sqrt() * weight


def wrong_flattened(x, weight, eps):
    """wrong: flattens all axes but the last and forgets to restore the shape; right
    only for x with two axes."""
    rows = x.reshape(-1, x.shape[-1])
    rms = (rows.square().mean(dim=1) + eps).sqrt()
    return rows / rms[:, None] * weight


def wrong_whole_tensor_no_weight(x, weight, eps):
    """wrong: two mistakes: takes the mean of the squares over all axes instead of for
    each vector, and forgets to multiply by weight."""
    return x / torch.sqrt(torch.mean(x * x) + eps)


ANSWERS = [
    right_extra_component,
    right_built_in,
    right_rows_in_python,
    right_variance_plus_square,
    right_numpy_double,
    right_dot_products,
    wrong_like_layer_norm,
    wrong_length,
    wrong_eps_after_root,
    wrong_eps_on_the_sum,
    wrong_axis_one,
    wrong_no_root,
    wrong_rows_in_place,
    wrong_fixed_eps,
    wrong_one_plus_weight,
    wrong_weight_first,
    wrong_eps_only_for_zeros,
    wrong_flattened,
    wrong_whole_tensor_no_weight,
]
