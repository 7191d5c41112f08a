"""Answers to clip all gradients together: clip_gradients."""

import math

import numpy as np
import torch


def right_hypot(gradients, longest):
    """right: all numbers in one Python list, math.hypot for the length; the product in float64, cast back."""
    numbers = [x for g in gradients for x in g.flatten().tolist()]
    length = math.hypot(*numbers)
    if length <= longest:
        return [g.clone() for g in gradients]
    return [(g.double() * (longest / length)).to(g.dtype) for g in gradients]


def right_by_largest(gradients, longest):
    """right: float64, and all numbers divided by the largest before they are squared, so that nothing overflows."""
    wide = [g.detach().to(torch.float64) for g in gradients]
    largest = max((w.abs().max().item() for w in wide if w.numel()), default=0.0)
    if largest == 0:
        return [g.detach().clone() for g in gradients]
    squares = sum(((w / largest) ** 2).sum().item() for w in wide)
    length = largest * math.sqrt(squares)
    if length > longest:
        return [(w * (longest / length)).to(g.dtype) for w, g in zip(wide, gradients)]
    return [g.detach().clone() for g in gradients]


def right_numpy_powers_of_two(gradients, longest):
    """right: one long NumPy vector, scaled by a power of two (exactly) before its norm; sliced and reshaped back."""
    if not gradients:
        return []
    flat = np.concatenate([g.detach().cpu().double().numpy().ravel() for g in gradients])
    exponent = int(np.frexp(np.abs(flat).max(initial=0.0))[1])
    norm = float(np.linalg.norm(np.ldexp(flat, -exponent)))
    with np.errstate(over="ignore"):
        allowed = float(np.ldexp(float(longest), -exponent))
    if norm > allowed:
        flat = flat * (allowed / norm)
    out, at = [], 0
    for g in gradients:
        n = g.numel()
        piece = torch.from_numpy(flat[at : at + n].copy()).reshape(g.shape)
        out.append(piece.to(dtype=g.dtype, device=g.device))
        at += n
    return out


def wrong_each_alone(gradients, longest):
    """wrong: clips each tensor by its own length, not all together."""
    out = []
    for g in gradients:
        n = g.norm()
        if n > longest:
            out.append(g * (longest / n))
        else:
            out.append(g.clone())
    return out


def wrong_clamps_numbers(gradients, longest):
    """wrong: clamps each number to -longest..longest, in place of multiplying all by one factor."""
    return [torch.clamp(g, min=-longest, max=longest) for g in gradients]


def wrong_old_ones_changed(gradients, longest):
    """wrong: multiplies the given tensors in place and returns them, so the old ones are lost."""
    total = math.sqrt(sum(float((g.double() ** 2).sum()) for g in gradients))
    if total > longest:
        for g in gradients:
            g.mul_(longest / total)
    return gradients


def wrong_always_that_long(gradients, longest):
    """wrong: multiplies always by longest / length, so short vectors get longer and zeros become nan."""
    length = torch.sqrt(sum((g.double().pow(2).sum() for g in gradients), torch.zeros(())))
    factor = longest / length
    return [(g * factor).to(g.dtype) for g in gradients]


def wrong_spectral_norm(gradients, longest):
    """wrong: takes torch.linalg.norm(g, 2), which for a matrix is its largest singular value and not the length of its numbers; right without true matrices."""
    norms = []
    for g in gradients:
        h = g if g.dim() == 2 else g.flatten()
        norms.append(torch.linalg.norm(h.double(), 2).item() if h.numel() else 0.0)
    total = math.hypot(*norms)
    if total <= longest:
        return [g.clone() for g in gradients]
    return [g * (longest / total) for g in gradients]


def wrong_short_ones_not_copied(gradients, longest):
    """wrong: where the vector is short enough it returns the given tensors themselves, no copies."""
    length = sum(g.double().square().sum().item() for g in gradients) ** 0.5
    if length <= longest:
        return list(gradients)
    return [g * (longest / length) for g in gradients]


def wrong_epsilon(gradients, longest):
    """wrong: adds 1e-6 to the length before dividing, so vectors about as small as that come out too short."""
    if not gradients:
        return []
    total_norm = torch.stack([g.double().norm() for g in gradients]).norm()
    clip_coef = longest / (total_norm + 1e-6)
    if total_norm <= longest:
        clip_coef = torch.ones_like(total_norm)
    return [(g.double() * clip_coef).to(g.dtype) for g in gradients]


def wrong_squares_overflow(gradients, longest):
    """wrong: squares in the tensors' own float32, so numbers above about 1e19 give an infinite length and all results become 0."""
    squares = 0.0
    for g in gradients:
        squares = squares + torch.sum(g * g)
    length = torch.sqrt(torch.as_tensor(squares))
    if length <= longest:
        return [g.clone() for g in gradients]
    return [g * (longest / length) for g in gradients]


def wrong_sum_of_lengths_no_scalars(gradients, longest):
    """wrong: two mistakes: adds the lengths of the tensors in place of their squares, and leaves tensors without axes (single numbers) out of the length."""
    length = 0.0
    for g in gradients:
        if g.dim() > 0:
            length += float(g.double().norm())
    factor = 1.0 if length <= longest else longest / length
    return [g * factor for g in gradients]


ANSWERS = [
    right_hypot,
    right_by_largest,
    right_numpy_powers_of_two,
    wrong_each_alone,
    wrong_clamps_numbers,
    wrong_old_ones_changed,
    wrong_always_that_long,
    wrong_spectral_norm,
    wrong_short_ones_not_copied,
    wrong_epsilon,
    wrong_squares_overflow,
    wrong_sum_of_lengths_no_scalars,
]
