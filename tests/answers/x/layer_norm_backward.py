import math
import torch
import torch.nn.functional as F


def right_1(x, weight, grad):
    """right: via the full Jacobian of each vector"""
    C = x.shape[-1]
    xs, gs = x.reshape(-1, C), grad.reshape(-1, C)
    gx, gw, gb = [], torch.zeros(C), torch.zeros(C)
    for v, g in zip(xs, gs):
        c = v - v.mean()
        s = (c.pow(2).mean() + 1e-5).sqrt()
        n = c / s
        J = (torch.eye(C) - 1 / C - torch.outer(n, n) / C) / s
        gx.append(J @ (g * weight))
        gw = gw + g * n
        gb = gb + g
    return torch.stack(gx).reshape(x.shape), gw, gb


def right_2(x, weight, grad):
    """right: step by step through variance and mean as in batch-norm derivations"""
    C = x.size(-1)
    mu = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True, unbiased=False)
    inv = torch.rsqrt(var + 1e-5)
    xhat = (x - mu) * inv
    dxhat = grad * weight
    dvar = (dxhat * (x - mu) * -0.5 * inv**3).sum(-1, keepdim=True)
    dmu = (-dxhat * inv).sum(-1, keepdim=True)
    dx = dxhat * inv + dvar * 2 * (x - mu) / C + dmu / C
    axes = tuple(range(x.dim() - 1))
    return dx, (grad * xhat).sum(axes), grad.sum(axes)


def wrong_1(x, weight, grad):
    """wrong: forgets the mean that is taken off"""
    c = x - x.mean(-1, keepdim=True)
    size = (c.square().mean(-1, keepdim=True) + 1e-5).sqrt()
    n = c / size
    a = grad * weight
    gx = (a - n * (a * n).mean(-1, keepdim=True)) / size
    return gx, (grad * n).flatten(0, -2).sum(0), grad.flatten(0, -2).sum(0)


def wrong_2(x, weight, grad):
    """wrong: sums weight and bias only over axis 0 / T axis (dim=-2) so batch is left"""
    c = x - x.mean(-1, keepdim=True)
    size = torch.sqrt((c**2).mean(-1, keepdim=True) + 1e-5)
    n = c / size
    a = grad * weight
    gx = (a - a.mean(-1, keepdim=True) - n * (a * n).mean(-1, keepdim=True)) / size
    return gx, (grad * n).sum(dim=-2), grad.sum(dim=-2)


def wrong_3(x, weight, grad):
    """wrong: unbiased variance: x.var(-1) divides by C - 1"""
    size = torch.sqrt(x.var(dim=-1, keepdim=True) + 1e-5)
    n = (x - x.mean(-1, keepdim=True)) / size
    a = grad * weight
    gx = (a - a.mean(-1, keepdim=True) - n * (a * n).mean(-1, keepdim=True)) / size
    return gx, (grad * n).flatten(0, -2).sum(0), grad.flatten(0, -2).sum(0)


def wrong_4(x, weight, grad):
    """wrong: forgets the weight on the way to x"""
    c = x - x.mean(-1, keepdim=True)
    size = torch.sqrt((c**2).mean(-1, keepdim=True) + 1e-5)
    n = c / size
    gx = grad - grad.mean(-1, keepdim=True) - n * (grad * n).mean(-1, keepdim=True)
    return gx / size, (grad * n).flatten(0, -2).sum(0), grad.flatten(0, -2).sum(0)


def wrong_5(x, weight, grad):
    """wrong: forgets the division by the size"""
    def mean(r):
        return r.mean(dim=-1, keepdim=True)
    c = x - mean(x)
    n = c / torch.sqrt(mean(c * c) + 1e-5)
    a = grad * weight
    gx = a - mean(a) - n * mean(a * n)
    flat = grad.reshape(-1, x.shape[-1])
    return gx, (flat * n.reshape(flat.shape)).sum(0), flat.sum(0)


def wrong_6(x, weight, grad):
    """wrong: leaves out the 1e-5"""
    def mean(r):
        return r.mean(dim=-1, keepdim=True)
    c = x - mean(x)
    size = mean(c * c).sqrt()
    n = c / size
    a = grad * weight
    gx = (a - mean(a) - n * mean(a * n)) / size
    return gx, (grad * n).flatten(0, -2).sum(0), grad.flatten(0, -2).sum(0)


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
