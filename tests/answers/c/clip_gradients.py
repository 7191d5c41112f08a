"""Answers to clip gradients by hand c."""

import math

import numpy as np
import torch


def right_flat_double(gradients, longest):
    """right: one flat float64 vector, divided by its largest number before it is squared, one factor for all, cast back; clones where it is short enough."""
    if not gradients:
        return []
    flat = torch.cat([g.detach().double().reshape(-1) for g in gradients])
    top = flat.abs().max().item() if flat.numel() else 0.0
    length = top * flat.div(top).square().sum().sqrt().item() if top > 0 else 0.0
    if length <= longest:
        return [g.clone() for g in gradients]
    return [(g.double() * (longest / length)).to(g.dtype) for g in gradients]


def right_hypot(gradients, longest):
    """right: math.hypot over all numbers, which doesn't overflow; min(1, longest / length) where the length isn't 0."""
    length = math.hypot(*(v for g in gradients for v in g.reshape(-1).tolist()))
    factor = min(1.0, longest / length) if length > 0 else 1.0
    return [(g.double() * factor).to(g.dtype) for g in gradients]


def right_numpy_dots(gradients, longest):
    """right: NumPy, the sum of np.vdot in float64 of the arrays over the largest number, then new tensors from scaled arrays."""
    arrays = [g.detach().cpu().double().numpy() for g in gradients]
    top = max((float(np.abs(a).max(initial=0.0)) for a in arrays), default=0.0) or 1.0
    length = top * math.sqrt(sum(float(np.vdot(a / top, a / top)) for a in arrays))
    out = []
    for g, a in zip(gradients, arrays):
        a = a * (longest / length) if length > longest else a
        out.append(torch.tensor(np.array(a)).to(g))
    return out


def wrong_each_alone(gradients, longest):
    """wrong: clips each tensor by its own length, not all together."""
    out = []
    for g in gradients:
        n = g.norm()
        out.append(g * (longest / n) if n > longest else g.clone())
    return out


def wrong_clamp(gradients, longest):
    """wrong: clamps each single number to between -longest and longest in place of scaling by the length."""
    return [g.clamp(-longest, longest) for g in gradients]


def wrong_always_scales(gradients, longest):
    """wrong: scales short vectors up too: the length is always made longest (only all zeros stay)."""
    n = math.sqrt(sum(float(g.double().square().sum()) for g in gradients))
    if n == 0:
        return [g.clone() for g in gradients]
    return [g * (longest / n) for g in gradients]


def wrong_no_root(gradients, longest):
    """wrong: forgets the root: compares with and divides by the sum of the squares."""
    n = sum(float(g.double().square().sum()) for g in gradients)
    f = min(1.0, longest / n) if n > 0 else 1.0
    return [g * f for g in gradients]


def wrong_unit_vector_first(gradients, longest):
    """wrong: divides by the length and then multiplies by min(length, longest): 0/0 makes NaN where all numbers are 0."""
    n = torch.stack([g.norm() for g in gradients]).norm()
    return [g / n * n.clamp(max=longest) for g in gradients]


def wrong_originals_when_short(gradients, longest):
    """wrong: returns the very tensors that it got where nothing is to clip, no copies."""
    n = math.sqrt(sum(float(g.double().square().sum()) for g in gradients))
    if n <= longest:
        return list(gradients)
    return [g.mul(longest / n) for g in gradients]


def wrong_epsilon(gradients, longest):
    """wrong: adds 1e-6 to the length in the divisor and clamps the factor at 1, as PyTorch's clip_grad_norm_ does: the result is much too short where lengths are about 1e-6 or below."""
    n = math.sqrt(sum(float(g.double().square().sum()) for g in gradients))
    f = min(1.0, longest / (n + 1e-6))
    return [g * f for g in gradients]


def wrong_spectral(gradients, longest):
    """wrong: takes for a matrix its largest singular value (linalg.norm with ord 2) in place of the root of the sum of all squares; right for vectors and matrices of rank 1."""
    n = 0.0
    for g in gradients:
        if g.dim() == 2:
            n += float(torch.linalg.norm(g, ord=2)) ** 2
        else:
            n += float(g.square().sum())
    n = math.sqrt(n)
    if n <= longest:
        return [g.clone() for g in gradients]
    return [g * (longest / n) for g in gradients]


def wrong_sum_of_norms_inplace(gradients, longest):
    """wrong: two mistakes: adds up the lengths of the single tensors (not their squares under one root), and scales the given tensors in place before it clones them."""
    n = float(sum(g.norm() for g in gradients))
    if n > longest:
        for g in gradients:
            g.mul_(longest / n)
    return [g.clone() for g in gradients]


ANSWERS = [
    right_flat_double, right_hypot, right_numpy_dots,
    wrong_each_alone, wrong_clamp, wrong_always_scales, wrong_no_root,
    wrong_unit_vector_first, wrong_originals_when_short, wrong_epsilon,
    wrong_spectral, wrong_sum_of_norms_inplace,
]
