"""Answers to clip_gradients by hand h."""

import math

import torch


def right_one_long_vector(gradients, longest):
    """right: joins all to one float64 vector and measures that."""
    if not gradients:
        return []
    flat = torch.cat([g.detach().double().reshape(-1) for g in gradients])
    length = torch.linalg.vector_norm(flat).item()
    if length <= longest:
        return [g.clone() for g in gradients]
    return [g * (longest / length) for g in gradients]


def right_plain_numbers(gradients, longest):
    """right: sums squares by fsum, takes the factor as longest / max(length, longest), which is 1 where it's short."""
    squares = math.fsum(v * v for g in gradients for v in g.reshape(-1).tolist())
    factor = longest / max(math.sqrt(squares), longest)
    return [torch.mul(g, factor) for g in gradients]


def right_norm_of_norms(gradients, longest):
    """right: the length of the tensors' lengths, and a clamped tensor factor, which at length 0 is 1."""
    if len(gradients) == 0:
        return []
    norms = torch.stack([torch.linalg.vector_norm(g, dtype=torch.float64) for g in gradients])
    factor = (longest / torch.linalg.vector_norm(norms)).clamp(max=1.0)
    return [(g.double() * factor).to(g.dtype) for g in gradients]


def wrong_each_alone(gradients, longest):
    """wrong: each tensor is measured and clipped alone, with a factor of its own."""
    out = []
    for g in gradients:
        n = g.norm()
        out.append(g * (longest / n) if n > longest else g.clone())
    return out


def wrong_numbers_clamped(gradients, longest):
    """wrong: each number is clamped to between -longest and longest; no length is measured."""
    return [g.clamp(-longest, longest) for g in gradients]


def wrong_always_rescaled(gradients, longest):
    """wrong: it rescales always: short vectors are stretched to longest, and all zeros become NaN."""
    length = torch.sqrt(sum((g**2).sum() for g in gradients))
    return [g * longest / length for g in gradients]


def wrong_in_place(gradients, longest):
    """wrong: the given tensors are scaled in place by mul_, and returned."""
    length = torch.cat([g.flatten() for g in gradients]).norm()
    if length > longest:
        for g in gradients:
            g.mul_(longest / length)
    return gradients


def wrong_short_ones_not_copied(gradients, longest):
    """wrong: where the vector is short enough, the very tensors of the caller come back instead of copies."""
    length = sum(g.pow(2).sum().item() for g in gradients) ** 0.5
    if length <= longest:
        return list(gradients)
    factor = longest / length
    return [factor * g for g in gradients]


def wrong_no_root(gradients, longest):
    """wrong: the root is missing: the sum of squares is taken for the length, in the comparison and in the factor."""
    length = sum(float((g * g).sum()) for g in gradients)
    if length > longest:
        return [g * (longest / length) for g in gradients]
    return [g.clone() for g in gradients]


def wrong_zeros_crash(gradients, longest):
    """wrong: the factor is min(1, longest / length) with Python numbers, so gradients of nothing but 0 raise ZeroDivisionError; otherwise right."""
    total = 0.0
    for g in gradients:
        total += (g.double() ** 2).sum().item()
    factor = min(1.0, longest / math.sqrt(total))
    return [g * factor for g in gradients]


def wrong_spectral_norm_of_matrices(gradients, longest):
    """wrong: torch.linalg.norm(g, 2) gives the largest singular value where a tensor is a matrix, instead of the root of the sum of squares, so the length comes out too small (tensors with 3 axes or more crash)."""
    norms = torch.stack([torch.linalg.norm(g, 2) for g in gradients])
    length = torch.linalg.norm(norms, 2)
    if length <= longest:
        return [g.clone() for g in gradients]
    return [g * (longest / length) for g in gradients]


def wrong_factor_of_those_so_far(gradients, longest):
    """wrong: one pass: each tensor is scaled by a factor from the length of it and those before it, so the early tensors get a larger factor than the last."""
    squares, out = 0.0, []
    for g in gradients:
        squares += g.pow(2).sum().item()
        length = math.sqrt(squares)
        out.append(g * (longest / length) if length > longest else g.clone())
    return out


def wrong_sum_of_lengths(gradients, longest):
    """wrong: the lengths of the tensors are added up, instead of the root of the sum of their squares (for one tensor it's right)."""
    length = sum(torch.linalg.vector_norm(g) for g in gradients)
    factor = torch.clamp(longest / length, max=1.0)
    return [g * factor for g in gradients]


def wrong_largest_number_and_unit_length(gradients, longest):
    """wrong: two mistakes: it clips where the largest single number, not the length, exceeds longest; and it then divides by the length alone, so the result has length 1 and not longest."""
    if max(g.abs().max().item() for g in gradients) > longest:
        length = torch.cat([g.reshape(-1) for g in gradients]).norm()
        return [g / length for g in gradients]
    return [g.clone() for g in gradients]


ANSWERS = [
    right_one_long_vector,
    right_plain_numbers,
    right_norm_of_norms,
    wrong_each_alone,
    wrong_numbers_clamped,
    wrong_always_rescaled,
    wrong_in_place,
    wrong_short_ones_not_copied,
    wrong_no_root,
    wrong_zeros_crash,
    wrong_spectral_norm_of_matrices,
    wrong_factor_of_those_so_far,
    wrong_sum_of_lengths,
    wrong_largest_number_and_unit_length,
]
