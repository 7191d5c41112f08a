"""The gradients of LoRA's two matrices."""

import torch


def by_flat_positions(x, A, B, grad, alpha):
    x = x.reshape(-1, x.shape[-1])
    grad = alpha / A.shape[0] * grad.reshape(-1, grad.shape[-1])
    return (grad @ B).T @ x, grad.T @ (x @ A.T)


def by_einsum(x, A, B, grad, alpha):
    scale = alpha / B.shape[1]
    grad_A = torch.einsum("bto,or,bti->ri", grad, B, x)
    grad_B = torch.einsum("bto,bti,ri->or", grad, x, A)
    return scale * grad_A, scale * grad_B


def by_the_merged_matrix(x, A, B, grad, alpha):
    """Through the gradient of the matrix to which they are added."""
    of_weight = alpha / len(A) * torch.einsum("bto,bti->oi", grad, x)
    return B.T @ of_weight, of_weight @ A.T


def by_positions(x, A, B, grad, alpha):
    grad_A, grad_B = torch.zeros_like(A), torch.zeros_like(B)
    for one, arriving in zip(x.flatten(0, 1), grad.flatten(0, 1), strict=True):
        grad_A += alpha / len(A) * torch.outer(B.T @ arriving, one)
        grad_B += alpha / len(A) * torch.outer(arriving, A @ one)
    return [grad_A, grad_B]


def by_pytorch(x, A, B, grad, alpha):
    A = A.detach().clone().requires_grad_()
    B = B.detach().clone().requires_grad_()
    (alpha / len(A) * (x @ A.T) @ B.T).backward(grad)
    return A.grad, B.grad


def unscaled(x, A, B, grad, alpha):
    x, grad = x.flatten(0, 1), grad.flatten(0, 1)
    return (grad @ B).T @ x, grad.T @ (x @ A.T)


def by_alpha_alone(x, A, B, grad, alpha):
    return by_flat_positions(x, A, B, alpha * grad, len(A))


def scaled_twice(x, A, B, grad, alpha):
    return by_flat_positions(x, A, B, alpha / len(A) * grad, alpha)


def of_B_alone_scaled(x, A, B, grad, alpha):
    grad_A, grad_B = unscaled(x, A, B, grad, alpha)
    return grad_A, alpha / len(A) * grad_B


def B_taken_for_zero(x, A, B, grad, alpha):
    return torch.zeros_like(A), by_flat_positions(x, A, B, grad, alpha)[1]


def turned_round(x, A, B, grad, alpha):
    return by_flat_positions(x, A, B, grad, alpha)[::-1]


def of_the_first_text(x, A, B, grad, alpha):
    return by_flat_positions(x[0], A, B, grad[0], alpha)


def a_mean(x, A, B, grad, alpha):
    return by_flat_positions(x, A, B, grad / (len(x) * len(x[0])), alpha)


def a_mean_over_texts(x, A, B, grad, alpha):
    return by_flat_positions(x, A, B, grad / len(x), alpha)


def downhill(x, A, B, grad, alpha):
    return by_flat_positions(x, A, B, -grad, alpha)


RIGHT = [
    by_flat_positions,
    by_einsum,
    by_the_merged_matrix,
    by_positions,
    by_pytorch,
]
WRONG = [
    (unscaled, "gradients without alpha / r"),
    (by_alpha_alone, "alpha without the rank"),
    (scaled_twice, "alpha / r twice"),
    (of_B_alone_scaled, "alpha / r in one gradient alone"),
    (B_taken_for_zero, "no gradient for A"),
    (turned_round, "the gradients in each other's place"),
    (of_the_first_text, "one text of the batch"),
    (a_mean, "a mean over positions in place of the sum"),
    (a_mean_over_texts, "a mean over positions in place of the sum"),
    (downhill, "the step in place of the gradient"),
]
