"""Answers to orthogonalise by hand k."""

import torch
import torch.nn.functional as F

A, B, C = 3.4445, -4.7750, 2.0315


def right_singular_values(gradient, steps):
    """right: the iteration changes the singular values only, so it takes the SVD once
    and puts each singular value through the polynomial."""
    u, s, vh = torch.linalg.svd(gradient.float(), full_matrices=False)
    s = s / s.norm(dim=-1, keepdim=True)
    for _ in range(steps):
        s = A * s + B * s**3 + C * s**5
    return (u * s.unsqueeze(-2)) @ vh


def right_symmetric_block(gradient, steps):
    """right: iterates on the symmetric matrix [[0, X], [X^T, 0]], whose odd powers have
    X X^T X and so on in the upper right corner, and cuts that corner out."""
    r, c = gradient.shape[-2:]
    m = gradient.new_zeros(*gradient.shape[:-2], r + c, r + c, dtype=torch.float32)
    m[..., :r, r:] = gradient
    m = m / m[..., :r, r:].square().sum((-2, -1), keepdim=True).sqrt()
    m = m + m.mT
    for _ in range(steps):
        m3 = m @ m @ m
        m = A * m + B * m3 + C * (m3 @ m @ m)
    return m[..., :r, r:]


def right_one_by_one(gradient, steps):
    """right: loops over the matrices, transposes the tall ones, and iterates with addmm
    as Keller Jordan's code does, but in float32."""
    out = []
    for g in gradient.reshape(-1, *gradient.shape[-2:]):
        tall = g.size(0) > g.size(1)
        x = g.T.float() if tall else g.float()
        x = x / torch.linalg.matrix_norm(x)
        for _ in range(steps):
            gram = x @ x.T
            x = A * x + torch.addmm(gram, gram, gram, beta=B, alpha=C) @ x
        out.append(x.T if tall else x)
    return torch.stack(out).reshape(gradient.shape)


def right_horner_from_the_right(gradient, steps):
    """right: multiplies X from the right by a I + S (b I + c S) with S = X^T X, which
    is the same sum with the brackets set elsewhere."""
    x = gradient.to(torch.float32)
    x = x / x.flatten(-2).norm(dim=-1)[..., None, None]
    eye = torch.eye(x.shape[-1])
    for _ in range(steps):
        s = x.mT @ x
        x = x @ (A * eye + s @ (B * eye + C * s))
    return x


def right_recursive_einsum(gradient, steps):
    """right: recursive: the last step applied to the result of steps - 1, with the
    products written as einsums, and the length from an einsum, too."""
    if steps == 0:
        g = gradient.float()
        return g / torch.einsum("...rc,...rc->...", g, g).sqrt()[..., None, None]
    x = right_recursive_einsum(gradient, steps - 1)
    x3 = torch.einsum("...ij,...kj,...kl->...il", x, x, x)
    x5 = torch.einsum("...ij,...kj,...kl->...il", x3, x, x)
    return A * x + B * x3 + C * x5


def wrong_bfloat16(gradient, steps):
    """wrong: iterates in bfloat16, as Keller Jordan's code does, and only casts the
    result to float32: about two digits are right."""
    x = gradient.bfloat16()
    x = x / x.norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        gram = x @ x.mT
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x.float()


def wrong_length_of_everything(gradient, steps):
    """wrong: divides by the length of the whole tensor instead of each matrix's own;
    right for a single matrix."""
    x = gradient.float() / gradient.float().norm()
    for _ in range(steps):
        gram = x @ x.mT
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x


def wrong_rows_normalised(gradient, steps):
    """wrong: F.normalize divides each row by its own length instead of each matrix;
    right for matrices of one row."""
    x = F.normalize(gradient.float(), dim=-1)
    for _ in range(steps):
        xxt = x @ x.transpose(-2, -1)
        x = A * x + B * xxt @ x + C * xxt @ xxt @ x
    return x


def wrong_spectral_norm(gradient, steps):
    """wrong: divides by the largest singular value (matrix_norm with ord=2) instead of
    the root of the sum of the squares; right for matrices of rank 1."""
    x = gradient.float()
    x = x / torch.linalg.matrix_norm(x, ord=2, keepdim=True)
    for _ in range(steps):
        gram = x @ x.mT
        x = A * x + B * gram @ x + C * gram @ gram @ x
    return x


def wrong_not_transposed_back(gradient, steps):
    """wrong: transposes tall matrices, but asks at the end whether X (by now wide) is
    tall, so that they are never transposed back; wrong shape for tall matrices."""
    x = gradient.float()
    if x.size(-2) > x.size(-1):
        x = x.mT
    x = x / x.norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        gram = x @ x.mT
        x = A * x + (B * gram + C * gram @ gram) @ x
    if x.size(-2) > x.size(-1):
        x = x.mT
    return x


def wrong_reverses_all_axes(gradient, steps):
    """wrong: transposes with permute of all axes in reverse (what .T does), which is
    right for a single matrix, and an error or wrong products for several."""
    x = gradient.float()
    x = x / x.norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        gram = x @ x.permute(*range(x.ndim - 1, -1, -1))
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x


def wrong_elementwise_square(gradient, steps):
    """wrong: squares the Gram matrix X X^T element by element (gram**2) instead of
    multiplying it by itself; right for matrices of one row."""
    x = gradient.float()
    x = x / x.norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        gram = x @ x.mT
        x = A * x + (B * gram + C * gram**2) @ x
    return x


def wrong_overwrites_gradient(gradient, steps):
    """wrong: the result is right, but float() is no copy of a float32 tensor and /= is
    in place, so that the caller's gradient is divided by its length."""
    x = gradient.float()
    x /= x.norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        gram = x @ x.mT
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x


def wrong_uses_half_updated(gradient, steps):
    """wrong: updates X term by term, so that the Gram matrix and the products are taken
    from an X that has already been multiplied by 3.4445; right for steps = 0."""
    x = gradient.float()
    x = x / x.norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        x = A * x
        gram = x @ x.mT
        x = x + B * gram @ x + C * gram @ gram @ x
    return x


def wrong_normalises_every_step(gradient, steps):
    """wrong: divides by the length inside the loop, before every step, instead of once;
    right for steps = 1, and not divided at all for steps = 0."""
    x = gradient.float()
    for _ in range(steps):
        x = x / x.norm(dim=(-2, -1), keepdim=True)
        gram = x @ x.mT
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x


def wrong_muon_factor(gradient, steps):
    """wrong: multiplies the result by sqrt(max(1, rows / columns)), as Muon's update
    does after the orthogonalisation; right for square and wide matrices."""
    x = gradient.float()
    x = x / x.norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        gram = x @ x.mT
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x * max(1, x.size(-2) / x.size(-1)) ** 0.5


def wrong_eps_under_root(gradient, steps):
    """wrong: adds 1e-7 to the sum of the squares under the root, which is no longer
    small against it where a gradient's length is about 0.001 or less."""
    x = gradient.float()
    x = x / torch.sqrt(x.square().sum(dim=(-2, -1), keepdim=True) + 1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x


def wrong_no_root_and_five_steps(gradient, steps=5):
    """wrong: two mistakes: divides by the sum of the squares without the root (which
    hardly shows if it is near 1), and always takes 5 steps."""
    x = gradient.float()
    x = x / x.square().sum(dim=(-2, -1), keepdim=True)
    for _ in range(5):
        gram = x @ x.mT
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x


ANSWERS = [
    right_singular_values,
    right_symmetric_block,
    right_one_by_one,
    right_horner_from_the_right,
    right_recursive_einsum,
    wrong_bfloat16,
    wrong_length_of_everything,
    wrong_rows_normalised,
    wrong_spectral_norm,
    wrong_not_transposed_back,
    wrong_reverses_all_axes,
    wrong_elementwise_square,
    wrong_overwrites_gradient,
    wrong_uses_half_updated,
    wrong_normalises_every_step,
    wrong_muon_factor,
    wrong_eps_under_root,
    wrong_no_root_and_five_steps,
]
