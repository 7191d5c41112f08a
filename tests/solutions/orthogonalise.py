"""Newton-Schulz for one matrix or several."""

import torch

A, B, C = 3.4445, -4.7750, 2.0315


def spread_by_loops(gradient, steps):
    matrices = gradient.reshape(-1, *gradient.shape[-2:])
    done = []
    for matrix in matrices:
        x = matrix / torch.linalg.matrix_norm(matrix)
        for _ in range(steps):
            third = x @ x.T @ x
            fifth = x @ x.T @ third
            x = A * x + B * third + C * fifth
        done.append(x)
    return torch.stack(done).reshape(gradient.shape)


def spread_transposed(gradient, steps):
    x = gradient / gradient.norm(dim=(-2, -1), keepdim=True)
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.transpose(-2, -1)
    for _ in range(steps):
        gram = x @ x.transpose(-2, -1)
        x = A * x + (B * gram + C * gram @ gram) @ x
    return x.transpose(-2, -1) if tall else x


def spread_from_the_right(gradient, steps):
    x = gradient / (gradient**2).sum((-1, -2), keepdim=True) ** 0.5
    for _ in range(steps):
        gram = x.mT @ x
        x = x @ (A * torch.eye(gram.shape[-1]) + B * gram + C * gram @ gram)
    return x


def spread_by_svd(gradient, steps):
    u, s, v_transposed = torch.linalg.svd(gradient.double(), full_matrices=False)
    s = s / s.norm(dim=-1, keepdim=True)
    for _ in range(steps):
        s = A * s + B * s**3 + C * s**5
    return ((u * s[..., None, :]) @ v_transposed).to(gradient.dtype)


def spread_with_eps(gradient, steps):
    x = gradient / (torch.linalg.matrix_norm(gradient, keepdim=True) + 1e-7)
    for _ in range(steps):
        square = torch.einsum("...ij,...kj->...ik", x, x)
        x = A * x + torch.matmul(B * square + C * (square @ square), x)
    return x


def spread_by_one_length(gradient, steps):
    x = gradient / gradient.norm()
    for _ in range(steps):
        square = x @ x.mT
        x = A * x + (B * square + C * square @ square) @ x
    return x


def spread_and_left(gradient, steps):
    x = gradient / gradient.norm(dim=(-2, -1), keepdim=True)
    if x.shape[-2] > x.shape[-1]:
        x = x.mT
    for _ in range(steps):
        square = x @ x.mT
        x = A * x + (B * square + C * square @ square) @ x
    return x


RIGHT = [
    spread_by_loops,
    spread_transposed,
    spread_from_the_right,
    spread_by_svd,
    spread_with_eps,
]
WRONG = [
    (spread_by_one_length, "one length for all matrices"),
    (spread_and_left, "a tall matrix that stays transposed"),
]
