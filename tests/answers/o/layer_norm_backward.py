"""Answers to layer_norm_backward by hand o."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def right_three_terms(x, weight, grad):
    """right: the short formula: the weighted gradient minus its mean and minus its
    share along normed, over the size; sums over a flat view."""
    c = x.shape[-1]
    centred = x - x.mean(-1, keepdim=True)
    size = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    normed = centred / size
    g = grad * weight
    along = (g * normed).mean(-1, keepdim=True)
    dx = (g - g.mean(-1, keepdim=True) - normed * along) / size
    return dx, (grad * normed).reshape(-1, c).sum(0), grad.reshape(-1, c).sum(0)


def right_step_by_step(x, weight, grad):
    """right: goes back line by line through the forward pass: the division, the root,
    the variance, the difference, the mean."""
    c = x.shape[-1]
    mean = x.sum(-1, keepdim=True) / c
    diff = x - mean
    var = (diff**2).sum(-1, keepdim=True) / c
    inv = (var + 1e-5) ** -0.5
    normed = diff * inv

    axes = tuple(range(x.dim() - 1))
    dbias = grad.sum(axes)
    dweight = (grad * normed).sum(axes)
    dnormed = grad * weight
    dinv = (dnormed * diff).sum(-1, keepdim=True)
    dvar = dinv * -0.5 * (var + 1e-5) ** -1.5
    ddiff = dnormed * inv + dvar * 2 * diff / c
    dmean = -ddiff.sum(-1, keepdim=True)
    return ddiff + dmean / c, dweight, dbias


def right_jacobians(x, weight, grad):
    """right: builds the (C, C) Jacobian of normed for each position and contracts it
    with einsum."""
    c = x.shape[-1]
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    inv = torch.rsqrt(var + 1e-5)
    normed = (x - mean) * inv
    centring = torch.eye(c) - torch.ones(c, c) / c
    outer = torch.einsum("...i,...j->...ij", normed, normed) / c
    jacobian = inv.unsqueeze(-1) * (centring - outer)
    dx = torch.einsum("...i,i,...ij->...j", grad, weight, jacobian)
    return dx, torch.einsum("...c,...c->c", grad, normed), torch.einsum("...c->c", grad)


def right_vjp(x, weight, grad):
    """right: torch.func.vjp of F.layer_norm with all three arguments, in float64; casts
    back to float32."""

    def forward(x, weight, bias):
        return F.layer_norm(x, weight.shape, weight, bias, eps=1e-5)

    w = weight.double()
    _, back = torch.func.vjp(forward, x.double(), w, torch.zeros_like(w))
    return tuple(v.to(x.dtype) for v in back(grad.double()))


def right_numpy_float64(x, weight, grad):
    """right: NumPy in float64 on rows of all positions; the gradient of the centred
    vector first, centred itself at the end; casts back to float32."""
    c = x.shape[-1]
    rows = x.detach().numpy().astype(np.float64).reshape(-1, c)
    g = grad.detach().numpy().astype(np.float64).reshape(-1, c)
    centred = rows - rows.mean(axis=1, keepdims=True)
    square = (centred**2).mean(axis=1, keepdims=True) + 1e-5
    gw = g * weight.detach().numpy()
    share = (gw * centred).sum(axis=1, keepdims=True) / (c * square)
    dx = (gw - share * centred) / np.sqrt(square)
    dx -= dx.mean(axis=1, keepdims=True)
    dweight = (g * centred / np.sqrt(square)).sum(axis=0)
    dx, dweight, dbias = (
        torch.from_numpy(v).to(x.dtype) for v in (dx, dweight, g.sum(axis=0))
    )
    return dx.reshape(x.shape), dweight, dbias


def right_python_loops(x, weight, grad):
    """right: plain Python numbers in loops over positions and features."""
    c = x.shape[-1]
    w = weight.tolist()
    dweight, dbias = [0.0] * c, [0.0] * c
    out = []
    for row, g in zip(x.reshape(-1, c).tolist(), grad.reshape(-1, c).tolist()):
        mean = math.fsum(row) / c
        size = math.sqrt(math.fsum((v - mean) ** 2 for v in row) / c + 1e-5)
        normed = [(v - mean) / size for v in row]
        first = math.fsum(g[i] * w[i] for i in range(c)) / c
        second = math.fsum(g[i] * w[i] * normed[i] for i in range(c)) / c
        out.append(
            [(g[i] * w[i] - first - normed[i] * second) / size for i in range(c)]
        )
        for i in range(c):
            dweight[i] += g[i] * normed[i]
            dbias[i] += g[i]
    dx = torch.tensor(out, dtype=x.dtype).reshape(x.shape)
    return dx, torch.tensor(dweight), torch.tensor(dbias)


def wrong_exact_projection(x, weight, grad):
    """wrong: takes the share along normed off completely, with the unit vector of
    normed, as if its mean square were 1; wrong where the 1e-5 counts."""
    centred = x - x.mean(-1, keepdim=True)
    size = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    normed = centred / size
    unit = F.normalize(normed, dim=-1)
    g = grad * weight
    g = g - g.mean(-1, keepdim=True)
    dx = (g - unit * (g * unit).sum(-1, keepdim=True)) / size
    axes = tuple(range(x.dim() - 1))
    return dx, (grad * normed).sum(axes), grad.sum(axes)


def wrong_clamped_variance(x, weight, grad):
    """wrong: the 1e-5 is a floor under the variance (clamp) instead of being added;
    almost right for features of ordinary size."""
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    size = var.clamp(min=1e-5).sqrt()
    normed = (x - mean) / size
    g = grad * weight
    dx = g - g.mean(-1, keepdim=True) - normed * (g * normed).mean(-1, keepdim=True)
    axes = tuple(range(x.dim() - 1))
    return dx / size, (grad * normed).sum(axes), grad.sum(axes)


def wrong_std_plus_eps(x, weight, grad):
    """wrong: two mistakes: the size is the sample standard deviation (C - 1), and the
    1e-5 is added to it behind the root."""
    correction = 1 if x.shape[-1] > 1 else 0
    std, mean = torch.std_mean(x, dim=-1, correction=correction, keepdim=True)
    size = std + 1e-5
    normed = (x - mean) / size
    g = grad * weight
    dx = g - g.mean(-1, keepdim=True) - normed * (g * normed).mean(-1, keepdim=True)
    axes = tuple(range(x.dim() - 1))
    return dx / size, (grad * normed).sum(axes), grad.sum(axes)


def wrong_statistics_along_dim_1(x, weight, grad):
    """wrong: all means are along dim=1 instead of -1, which for a batch is the axis of
    the positions; right for (T, C)."""
    c = x.shape[-1]
    centred = x - x.mean(1, keepdim=True)
    size = torch.sqrt((centred**2).mean(1, keepdim=True) + 1e-5)
    normed = centred / size
    g = grad * weight
    dx = g - g.mean(1, keepdim=True) - normed * (g * normed).mean(1, keepdim=True)
    return dx / size, (grad * normed).view(-1, c).sum(0), grad.view(-1, c).sum(0)


def wrong_flat_with_c_in_front(x, weight, grad):
    """wrong: for the gradients of weight and bias it reshapes to (C, -1) and sums the
    rows, which mixes the features; that of x is right."""
    c = x.shape[-1]
    centred = x - x.mean(-1, keepdim=True)
    inv = torch.rsqrt(centred.square().mean(-1, keepdim=True) + 1e-5)
    normed = centred * inv
    g = grad * weight
    dx = inv * (
        g - g.mean(-1, keepdim=True) - normed * (g * normed).mean(-1, keepdim=True)
    )
    return dx, (grad * normed).reshape(c, -1).sum(1), grad.reshape(c, -1).sum(1)


def wrong_means_over_positions_too(x, weight, grad):
    """wrong: the two means that are taken off the weighted gradient run over positions
    and features, dim=(-2, -1); right for one position."""
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    size = (var + 1e-5).sqrt()
    normed = (x - mean) / size
    g = grad * weight
    both = (-2, -1)
    along = (g * normed).mean(both, keepdim=True)
    dx = (g - g.mean(both, keepdim=True) - normed * along) / size
    axes = tuple(range(x.dim() - 1))
    return dx, (grad * normed).sum(axes), grad.sum(axes)


def wrong_weight_at_the_end(x, weight, grad):
    """wrong: goes back through normed with the bare gradient and multiplies by weight
    only afterwards; right for equal weights."""
    centred = x - x.mean(-1, keepdim=True)
    size = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    normed = centred / size
    along = (grad * normed).mean(-1, keepdim=True)
    dx = weight * (grad - grad.mean(-1, keepdim=True) - normed * along) / size
    axes = tuple(range(x.dim() - 1))
    return dx, (grad * normed).sum(axes), grad.sum(axes)


def wrong_mean_over_texts(x, weight, grad):
    """wrong: sums the gradients of weight and bias over the positions of a text, then
    takes the mean over the texts; right for one text."""
    c = x.shape[-1]
    centred = x - x.mean(-1, keepdim=True)
    size = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    normed = centred / size
    g = grad * weight
    along = (g * normed).mean(-1, keepdim=True)
    dx = (g - g.mean(-1, keepdim=True) - normed * along) / size
    dweight = (grad * normed).sum(-2).reshape(-1, c).mean(0)
    return dx, dweight, grad.sum(-2).reshape(-1, c).mean(0)


def wrong_power_of_the_size(x, weight, grad):
    """wrong: the derivative of the root is -0.5 * size ** -1.5, a power that belongs to
    the variance plus 1e-5, not to its root; right where the size is 1."""
    c = x.shape[-1]
    diff = x - x.mean(-1, keepdim=True)
    size = ((diff**2).mean(-1, keepdim=True) + 1e-5) ** 0.5
    dnormed = grad * weight
    dvar = (dnormed * diff).sum(-1, keepdim=True) * -0.5 * size**-1.5
    ddiff = dnormed / size + dvar * 2 * diff / c
    dx = ddiff - ddiff.mean(-1, keepdim=True)
    axes = tuple(range(x.dim() - 1))
    return dx, (grad * diff / size).sum(axes), grad.sum(axes)


def wrong_c_minus_1_on_the_way_back(x, weight, grad):
    """wrong: the forward pass divides the variance by C, but the derivative of the
    variance is 2 * diff / (C - 1)."""
    c = x.shape[-1]
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    diff = x - mean
    inv = torch.rsqrt(var + 1e-5)
    dnormed = grad * weight
    dvar = (dnormed * diff).sum(-1, keepdim=True) * -0.5 * inv**3
    ddiff = dnormed * inv + dvar * 2 * diff / max(c - 1, 1)
    dx = ddiff - ddiff.mean(-1, keepdim=True)
    axes = tuple(range(x.dim() - 1))
    return dx, (grad * diff * inv).sum(axes), grad.sum(axes)


def wrong_last_text_wins(x, weight, grad):
    """wrong: a loop over the texts sets the gradients of weight and bias with = instead
    of +=, so that only the last text counts; right for one text."""
    t, c = x.shape[-2:]
    dx = []
    for text, g in zip(x.reshape(-1, t, c), grad.reshape(-1, t, c)):
        centred = text - text.mean(1, keepdim=True)
        size = (centred.square().mean(1, keepdim=True) + 1e-5).sqrt()
        normed = centred / size
        dweight = (g * normed).sum(0)
        dbias = g.sum(0)
        gw = g * weight
        along = (gw * normed).mean(1, keepdim=True)
        dx.append((gw - gw.mean(1, keepdim=True) - normed * along) / size)
    return torch.stack(dx).reshape(x.shape), dweight, dbias


def wrong_centres_the_view(x, weight, grad):
    """wrong: the values are right, but it subtracts the mean in place from the rows of
    x.reshape, which is a view, so that the caller's x is centred."""
    c = x.shape[-1]
    rows, g = x.detach().reshape(-1, c), grad.reshape(-1, c)
    rows -= rows.mean(1, keepdim=True)
    size = (rows.square().mean(1, keepdim=True) + 1e-5).sqrt()
    normed = rows / size
    gw = g * weight
    along = (gw * normed).mean(1, keepdim=True)
    dx = (gw - gw.mean(1, keepdim=True) - normed * along) / size
    return dx.reshape(x.shape), (g * normed).sum(0), g.sum(0)


def wrong_product_of_means(x, weight, grad):
    """wrong: writes the mean of gradient times normed as the product of the two means,
    which is 0, so that the path through the size is lost."""
    centred = x - x.mean(-1, keepdim=True)
    size = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    normed = centred / size
    g = grad * weight
    g_mean, n_mean = g.mean(-1, keepdim=True), normed.mean(-1, keepdim=True)
    dx = (g - g_mean - normed * g_mean * n_mean) / size
    axes = tuple(range(x.dim() - 1))
    return dx, (grad * normed).sum(axes), grad.sum(axes)


def wrong_one_batch_axis_only(x, weight, grad):
    """wrong: sums the gradients of weight and bias over the positions and one axis of
    texts at most; with two axes in front they come back as (n, C)."""
    centred = x - x.mean(-1, keepdim=True)
    size = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    normed = centred / size
    g = grad * weight
    along = (g * normed).mean(-1, keepdim=True)
    dx = (g - g.mean(-1, keepdim=True) - normed * along) / size
    dweight, dbias = (grad * normed).sum(-2), grad.sum(-2)
    if x.dim() > 2:
        dweight, dbias = dweight.sum(0), dbias.sum(0)
    return dx, dweight, dbias


ANSWERS = [
    right_three_terms,
    right_step_by_step,
    right_jacobians,
    right_vjp,
    right_numpy_float64,
    right_python_loops,
    wrong_exact_projection,
    wrong_clamped_variance,
    wrong_std_plus_eps,
    wrong_statistics_along_dim_1,
    wrong_flat_with_c_in_front,
    wrong_means_over_positions_too,
    wrong_weight_at_the_end,
    wrong_mean_over_texts,
    wrong_power_of_the_size,
    wrong_c_minus_1_on_the_way_back,
    wrong_last_text_wins,
    wrong_centres_the_view,
    wrong_product_of_means,
    wrong_one_batch_axis_only,
]
