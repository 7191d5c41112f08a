import torch


def clip_sum_of_squares(gradients, longest):
    """right: one norm from the sum of all squares, new tensors in both cases."""
    norm = sum((g ** 2).sum() for g in gradients) ** 0.5
    if norm <= longest:
        return [g.clone() for g in gradients]
    return [g * (longest / norm) for g in gradients]


def clip_one_vector(gradients, longest):
    """right: flattens everything into one vector, and the factor is at most 1."""
    flat = torch.cat([g.reshape(-1) for g in gradients])
    length = torch.linalg.vector_norm(flat).item()
    factor = longest / max(length, longest)
    return [factor * g for g in gradients]


def clip_sum_of_norms(gradients, longest):
    """wrong: adds the norms of the tensors, which is more than the norm of all numbers together (right for one tensor)."""
    total = 0.0
    for g in gradients:
        total += g.norm()
    if total <= longest:
        return [g.clone() for g in gradients]
    return [g * longest / total for g in gradients]


def clip_last_norm(gradients, longest):
    """wrong: = instead of +=, so the norm is that of the last tensor alone (right for one tensor)."""
    total = 0
    for g in gradients:
        total = (g * g).sum()
    norm = total.sqrt()
    scale = min(1.0, (longest / norm).item())
    return [g * scale for g in gradients]


def clip_in_place(gradients, longest):
    """wrong: multiplies the caller's tensors in place and returns copies of them, so the old gradients are lost when clipped."""
    norm = torch.sqrt(sum(torch.sum(g ** 2) for g in gradients))
    if norm > longest:
        for g in gradients:
            g *= longest / norm
    return [g.clone() for g in gradients]


def clip_same_tensors(gradients, longest):
    """wrong: returns the very same tensors, no copies, where the vector is short enough."""
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    if norm > longest:
        gradients = [g * longest / norm for g in gradients]
    return gradients


def clip_each(gradients, longest):
    """wrong: clips each tensor by its own norm, so together they can be longer than longest, and the direction changes (right for one tensor)."""
    new = []
    for g in gradients:
        n = g.norm()
        if n > longest:
            new.append(g / n * longest)
        else:
            new.append(g.clone())
    return new


def clip_always(gradients, longest):
    """wrong: scales to the length longest in any case: a short vector gets longer, and zeros become NaN."""
    squares = torch.stack([g.pow(2).sum() for g in gradients])
    norm = squares.sum().sqrt()
    return [g * (longest / norm) for g in gradients]


ANSWERS = [
    clip_sum_of_squares,
    clip_one_vector,
    clip_sum_of_norms,
    clip_last_norm,
    clip_in_place,
    clip_same_tensors,
    clip_each,
    clip_always,
]
