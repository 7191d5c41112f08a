"""Answers to layer_norm_backward by hand n."""

import math

import torch
import torch.nn.functional as F


def right_two_means(x, weight, grad):
    """right: the short formula: from weight * grad take away its mean and normed times
    the mean of its product with normed, then divide by the size."""
    centered = x - x.mean(-1, keepdim=True)
    size = (centered.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt()
    normed = centered / size
    g = grad * weight
    along = (g * normed).mean(-1, keepdim=True)
    grad_x = (g - g.mean(-1, keepdim=True) - normed * along) / size
    front = tuple(range(x.dim() - 1))
    return grad_x, (grad * normed).sum(front), grad.sum(front)


def right_step_by_step(x, weight, grad):
    """right: walks back through each step of the forward pass: the product, the
    division, the root, the mean of squares, and the subtraction of the mean."""
    count = x.shape[-1]
    mean = x.sum(-1, keepdim=True) / count
    centered = x - mean
    variance = (centered * centered).sum(-1, keepdim=True) / count
    size = torch.sqrt(variance + 1e-5)
    normed = centered / size

    grad_bias = grad.reshape(-1, count).sum(0)
    grad_weight = (grad * normed).reshape(-1, count).sum(0)
    grad_normed = grad * weight
    grad_size = -(grad_normed * centered).sum(-1, keepdim=True) / size**2
    grad_variance = grad_size / (2 * size)
    grad_centered = grad_normed / size + grad_variance * 2 * centered / count
    grad_mean = -grad_centered.sum(-1, keepdim=True)
    grad_x = grad_centered + grad_mean / count
    return grad_x, grad_weight, grad_bias


def right_loop_over_vectors(x, weight, grad):
    """right: a loop over all vectors, each with its Jacobian (C, C) filled entry by
    entry in Python."""
    C = x.shape[-1]
    rows, grads = x.reshape(-1, C).tolist(), grad.reshape(-1, C).tolist()
    w = weight.tolist()
    out, grad_weight, grad_bias = [], [0.0] * C, [0.0] * C
    for row, g in zip(rows, grads, strict=True):
        mean = math.fsum(row) / C
        size = math.sqrt(math.fsum((v - mean) ** 2 for v in row) / C + 1e-5)
        normed = [(v - mean) / size for v in row]
        new = []
        for j in range(C):
            total = 0.0
            for i in range(C):
                entry = (i == j) - 1 / C - normed[i] * normed[j] / C
                total += g[i] * w[i] * entry / size
            new.append(total)
        out.append(new)
        for i in range(C):
            grad_weight[i] += g[i] * normed[i]
            grad_bias[i] += g[i]
    grad_x = torch.tensor(out, dtype=x.dtype).reshape(x.shape)
    return grad_x, torch.tensor(grad_weight), torch.tensor(grad_bias)


def right_einsum_jacobians(x, weight, grad):
    """right: one symmetric Jacobian for each vector, (..., C, C), from a centering
    matrix and an outer product, and einsum for all products."""
    C = x.shape[-1]
    center = torch.eye(C) - torch.full((C, C), 1 / C)
    centered = x - x.mean(-1, keepdim=True)
    variance = torch.einsum("...i,...i->...", centered, centered) / C
    size = (variance + 1e-5).sqrt()
    normed = centered / size[..., None]
    outer = torch.einsum("...i,...j->...ij", normed, normed)
    jacobian = (center - outer / C) / size[..., None, None]
    grad_x = torch.einsum("...i,i,...ij->...j", grad, weight, jacobian)
    grad_weight = torch.einsum("...i,...i->i", grad, normed)
    return grad_x, grad_weight, torch.einsum("...i->i", grad)


def right_vjp(x, weight, grad):
    """right: lets torch.func.vjp find all three gradients of F.layer_norm."""

    def forward(x, weight, bias):
        return F.layer_norm(x, weight.shape, weight, bias, eps=1e-5)

    _, back = torch.func.vjp(forward, x, weight, torch.zeros_like(weight))
    return back(grad)


def right_double_flat(x, weight, grad):
    """right: flattens to (positions, C), computes in float64 with var_mean and rsqrt
    and the formula with sums and one 1 / C in front, and casts back at the end."""
    C = x.shape[-1]
    x2, g2 = x.double().reshape(-1, C), grad.double().reshape(-1, C)
    variance, mean = torch.var_mean(x2, dim=1, correction=0, keepdim=True)
    inverse = torch.rsqrt(variance + 1e-5)
    normed = (x2 - mean) * inverse
    h = g2 * weight.double()
    inner = C * h - h.sum(1, keepdim=True) - normed * (h * normed).sum(1, keepdim=True)
    grad_x = (inverse / C * inner).reshape(x.shape).to(x.dtype)
    grad_weight = torch.diagonal(g2.T @ normed).to(x.dtype)
    return grad_x, grad_weight, g2.sum(0).to(x.dtype)


def _normed_and_size(x):
    centered = x - x.mean(-1, keepdim=True)
    size = torch.sqrt(centered.pow(2).mean(-1, keepdim=True) + 1e-5)
    return centered / size, size


def _back(g, normed, size):
    along = (g * normed).mean(-1, keepdim=True)
    return (g - g.mean(-1, keepdim=True) - normed * along) / size


def wrong_statistics_constant(x, weight, grad):
    """wrong: takes mean and size as constants: the gradient of x is only grad * weight
    / size."""
    normed, size = _normed_and_size(x)
    front = tuple(range(x.dim() - 1))
    return grad * weight / size, (grad * normed).sum(front), grad.sum(front)


def wrong_no_path_through_size(x, weight, grad):
    """wrong: goes back through the mean but takes the size as a constant: the term with
    normed is missing from the gradient of x."""
    normed, size = _normed_and_size(x)
    g = grad * weight
    grad_x = (g - g.mean(-1, keepdim=True)) / size
    front = tuple(range(x.dim() - 1))
    return grad_x, (grad * normed).sum(front), grad.sum(front)


def wrong_no_path_through_mean(x, weight, grad):
    """wrong: goes back through the size but takes the mean as a constant: the mean of
    grad * weight is not taken away in the gradient of x."""
    normed, size = _normed_and_size(x)
    g = grad * weight
    grad_x = (g - normed * (g * normed).mean(-1, keepdim=True)) / size
    front = tuple(range(x.dim() - 1))
    return grad_x, (grad * normed).sum(front), grad.sum(front)


def wrong_weight_at_the_end(x, weight, grad):
    """wrong: goes back through the norm with the bare grad and multiplies by weight
    only afterwards, in the gradient of x; right when all weights are equal."""
    normed, size = _normed_and_size(x)
    front = tuple(range(x.dim() - 1))
    grad_x = weight * _back(grad, normed, size)
    return grad_x, (grad * normed).sum(front), grad.sum(front)


def wrong_sample_variance(x, weight, grad):
    """wrong: x.var with its default correction, which divides by C - 1, in the size
    that all formulas use."""
    size = torch.sqrt(x.var(-1, keepdim=True) + 1e-5)
    normed = (x - x.mean(-1, keepdim=True)) / size
    front = tuple(range(x.dim() - 1))
    grad_x = _back(grad * weight, normed, size)
    return grad_x, (grad * normed).sum(front), grad.sum(front)


def wrong_epsilon_outside(x, weight, grad):
    """wrong: adds 1e-5 to the root instead of to the variance; shows only for small
    features."""
    centered = x - x.mean(-1, keepdim=True)
    size = centered.pow(2).mean(-1, keepdim=True).sqrt() + 1e-5
    normed = centered / size
    front = tuple(range(x.dim() - 1))
    grad_x = _back(grad * weight, normed, size)
    return grad_x, (grad * normed).sum(front), grad.sum(front)


def wrong_sums_first_axis_only(x, weight, grad):
    """wrong: sums the gradients of weight and bias over axis 0 only, so that with a
    batch they have the shape (T, C); right for x (T, C)."""
    normed, size = _normed_and_size(x)
    grad_x = _back(grad * weight, normed, size)
    return grad_x, (grad * normed).sum(0), grad.sum(0)


def wrong_averages_positions(x, weight, grad):
    """wrong: takes the mean over all positions instead of the sum for the gradients of
    weight and bias; right for one position."""
    normed, size = _normed_and_size(x)
    C = x.shape[-1]
    grad_weight = (grad * normed).reshape(-1, C).mean(0)
    grad_bias = grad.reshape(-1, C).mean(0)
    return _back(grad * weight, normed, size), grad_weight, grad_bias


def wrong_weight_gradient_from_x(x, weight, grad):
    """wrong: multiplies grad by x itself instead of normed for the gradient of
    weight."""
    normed, size = _normed_and_size(x)
    front = tuple(range(x.dim() - 1))
    return _back(grad * weight, normed, size), (grad * x).sum(front), grad.sum(front)


def wrong_weighted_grad_everywhere(x, weight, grad):
    """wrong: multiplies grad by weight first and then uses this product for the
    gradients of weight and bias, too."""
    grad = grad * weight
    normed, size = _normed_and_size(x)
    front = tuple(range(x.dim() - 1))
    return _back(grad, normed, size), (grad * normed).sum(front), grad.sum(front)


def wrong_grad_in_place(x, weight, grad):
    """wrong: all three results are right, but grad *= weight changes the argument grad
    (after the gradients of weight and bias were taken)."""
    normed, size = _normed_and_size(x)
    front = tuple(range(x.dim() - 1))
    grad_weight, grad_bias = (grad * normed).sum(front), grad.sum(front)
    grad *= weight
    return _back(grad, normed, size), grad_weight, grad_bias


def wrong_plus_sign(x, weight, grad):
    """wrong: adds the term through the size in the gradient of x instead of subtracting
    it (loses the minus of the derivative of 1 / size)."""
    normed, size = _normed_and_size(x)
    g = grad * weight
    through_size = normed * (g * normed).mean(-1, keepdim=True)
    grad_x = (g - g.mean(-1, keepdim=True) + through_size) / size
    front = tuple(range(x.dim() - 1))
    return grad_x, (grad * normed).sum(front), grad.sum(front)


def wrong_means_of_everything(x, weight, grad):
    """wrong: two mistakes: both means in the gradient of x go over the whole tensor
    instead of each vector, and the gradients of bias and weight come in the wrong order
    (x, bias, weight)."""
    normed, size = _normed_and_size(x)
    g = grad * weight
    grad_x = (g - g.mean() - normed * (g * normed).mean()) / size
    front = tuple(range(x.dim() - 1))
    return grad_x, grad.sum(front), (grad * normed).sum(front)


def wrong_centered_for_normed(x, weight, grad):
    """wrong: in the term through the size, takes centered instead of normed for one of
    its two factors (size to the power 2 where 3 is due); nearly right when the variance
    is near 1."""
    centered = x - x.mean(-1, keepdim=True)
    size = torch.sqrt((centered**2).mean(-1, keepdim=True) + 1e-5)
    normed = centered / size
    g = grad * weight
    along = (g * centered).mean(-1, keepdim=True)
    grad_x = (g - g.mean(-1, keepdim=True) - normed * along) / size
    front = tuple(range(x.dim() - 1))
    return grad_x, (grad * normed).sum(front), grad.sum(front)


ANSWERS = [
    right_two_means,
    right_step_by_step,
    right_loop_over_vectors,
    right_einsum_jacobians,
    right_vjp,
    right_double_flat,
    wrong_statistics_constant,
    wrong_no_path_through_size,
    wrong_no_path_through_mean,
    wrong_weight_at_the_end,
    wrong_sample_variance,
    wrong_epsilon_outside,
    wrong_sums_first_axis_only,
    wrong_averages_positions,
    wrong_weight_gradient_from_x,
    wrong_weighted_grad_everywhere,
    wrong_grad_in_place,
    wrong_plus_sign,
    wrong_means_of_everything,
    wrong_centered_for_normed,
]
