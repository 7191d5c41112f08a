"""The gradients of layer norm."""

import torch
import torch.nn.functional as F


def normed_and_size(x):
    variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    size = (variance + 1e-5) ** 0.5
    return (x - mean) / size, size


def norm_back_by_the_rule(x, weight, grad):
    normed, size = normed_and_size(x)
    g = weight * grad
    g = g - g.mean(-1, keepdim=True) - normed * (g * normed).mean(-1, keepdim=True)
    axes = tuple(range(x.dim() - 1))
    return g / size, (grad * normed).sum(axes), grad.sum(axes)


def norm_back_by_vectors(x, weight, grad):
    C = len(weight)
    grad_x = torch.empty_like(x)
    grad_weight, grad_bias = torch.zeros(C), torch.zeros(C)
    rows = zip(x.view(-1, C), grad.view(-1, C), grad_x.view(-1, C), strict=True)
    for vector, arriving, out in rows:
        centred = vector - vector.sum() / C
        size = (centred.dot(centred) / C + 1e-5).sqrt()
        normed = centred / size
        g = arriving * weight
        out.copy_((g - g.sum() / C - normed * g.dot(normed) / C) / size)
        grad_weight += arriving * normed
        grad_bias += arriving
    return [grad_x, grad_weight, grad_bias]


def norm_back_by_jacobians(x, weight, grad):
    x, weight, grad = x.double(), weight.double(), grad.double()
    C = x.shape[-1]
    normed, size = normed_and_size(x)
    jacobian = torch.eye(C, dtype=x.dtype) - 1 / C
    jacobian = jacobian - normed[..., :, None] * normed[..., None, :] / C
    grad_x = (jacobian @ (grad * weight)[..., None])[..., 0] / size
    return (
        grad_x,
        torch.einsum("...c,...c->c", grad, normed),
        torch.einsum("...c->c", grad),
    )


def norm_back_step_by_step(x, weight, grad):
    mean = x.mean(dim=-1, keepdim=True)
    centred = x - mean
    variance = (centred * centred).mean(dim=-1, keepdim=True)
    inverse = torch.rsqrt(variance + 1e-5)
    grad_bias = grad.flatten(end_dim=-2).sum(0)
    grad_weight = (grad * centred * inverse).flatten(end_dim=-2).sum(0)
    grad_normed = grad * weight
    grad_inverse = (grad_normed * centred).sum(-1, keepdim=True)
    grad_variance = -0.5 * inverse**3 * grad_inverse
    grad_centred = grad_normed * inverse + 2 * centred * grad_variance / x.shape[-1]
    grad_x = grad_centred - grad_centred.mean(dim=-1, keepdim=True)
    return grad_x, grad_weight, grad_bias


def norm_back_by_pytorch(x, weight, grad):
    x = x.detach().clone().requires_grad_(True)
    weight = weight.detach().clone().requires_grad_(True)
    bias = torch.zeros_like(weight, requires_grad=True)
    F.layer_norm(x, (x.size(-1),), weight, bias).backward(grad)
    return x.grad, weight.grad, bias.grad


def collected(rows):
    return rows.reshape(-1, rows.shape[-1]).sum(0)


def average(rows):
    return rows.sum(-1, keepdim=True) / rows.shape[-1]


def norm_back_no_mean(x, weight, grad):
    normed, size = normed_and_size(x)
    g = grad * weight
    grad_x = (g - normed * average(g * normed)) / size
    return grad_x, collected(grad * normed), collected(grad)


def norm_back_no_size_term(x, weight, grad):
    normed, size = normed_and_size(x)
    g = grad * weight
    return (g - average(g)) / size, collected(grad * normed), collected(grad)


def norm_back_as_if_constants(x, weight, grad):
    normed, size = normed_and_size(x)
    return grad * weight / size, collected(grad * normed), collected(grad)


def norm_back_std(x, weight, grad):
    size = torch.sqrt(x.var(dim=-1, keepdim=True) + 1e-5)
    normed = (x - average(x)) / size
    g = grad * weight
    g = (g - average(g) - normed * average(g * normed)) / size
    return g, collected(grad * normed), collected(grad)


def norm_back_weight_last(x, weight, grad):
    normed, size = normed_and_size(x)
    g = (grad - average(grad) - normed * average(grad * normed)) / size
    return weight * g, collected(grad * normed), collected(grad)


def norm_back_first_axis(x, weight, grad):
    normed, size = normed_and_size(x)
    g = grad * weight
    g = (g - average(g) - normed * average(g * normed)) / size
    return g, (grad * normed).sum(0), grad.sum(0)


def norm_back_averaged(x, weight, grad):
    normed, size = normed_and_size(x)
    g = grad * weight
    g = (g - average(g) - normed * average(g * normed)) / size
    axes = tuple(range(x.dim() - 1))
    return g, (grad * normed).mean(axes), grad.mean(axes)


def norm_back_eps_behind(x, weight, grad):
    centred = x - average(x)
    size = average(centred**2).sqrt() + 1e-5
    normed = centred / size
    g = grad * weight
    g = (g - average(g) - normed * average(g * normed)) / size
    return g, collected(grad * normed), collected(grad)


def norm_back_from_x(x, weight, grad):
    normed, size = normed_and_size(x)
    g = grad * weight
    g = (g - average(g) - normed * average(g * normed)) / size
    return g, collected(grad * x), collected(grad)


def norm_back_without_weight_and_mean(x, weight, grad):
    normed, size = normed_and_size(x)
    g = (grad - normed * average(grad * normed)) / size
    return g, collected(grad * normed), collected(grad)


RIGHT = [
    norm_back_by_the_rule,
    norm_back_by_vectors,
    norm_back_by_jacobians,
    norm_back_step_by_step,
    norm_back_by_pytorch,
]
WRONG = [
    (norm_back_no_mean, "a gradient of x that keeps its mean"),
    (norm_back_no_size_term, "a gradient of x without the part of the size"),
    (
        norm_back_as_if_constants,
        "a gradient of x that is divided by the size, and no more",
    ),
    (norm_back_std, "a variance that divides by C - 1"),
    (norm_back_weight_last, "a weight that multiplies at the very end"),
    (norm_back_first_axis, "sums over the first axis alone"),
    (norm_back_averaged, "means in the gradients of weight and bias"),
    (norm_back_eps_behind, "eps outside the root"),
    (norm_back_from_x, "a gradient of weight from x"),
    (norm_back_without_weight_and_mean, None),
]
