"""LoRA's two matrices, merged into the frozen one."""

import torch


def by_product(weight, A, B, alpha):
    r = A.shape[0]
    return weight + (alpha / r) * (B @ A)


def by_einsum(weight, A, B, alpha):
    return weight + alpha / B.shape[1] * torch.einsum("or,ri->oi", B, A)


def by_outer_products(weight, A, B, alpha):
    total = weight.clone()
    for row, column in zip(A, B.T, strict=True):
        total += alpha / len(A) * torch.outer(column, row)
    return total


def by_transposes(weight, A, B, alpha):
    return (weight.T + A.T @ B.T * (alpha / len(A))).T


def without_the_rank(weight, A, B, alpha):
    return weight + alpha * B @ A


def without_alpha(weight, A, B, alpha):
    return weight + B @ A


def without_the_weight(weight, A, B, alpha):
    return alpha / A.shape[0] * B @ A


def by_the_width(weight, A, B, alpha):
    return weight + alpha / A.shape[-1] * (B @ A)


def by_all_numbers_of_A(weight, A, B, alpha):
    return weight + alpha / A.numel() * (B @ A)


def by_four(weight, A, B, alpha):
    return weight + alpha / 4 * (B @ A)


def scaling_the_sum(weight, A, B, alpha):
    return (weight + B @ A) * alpha / len(A)


def scaling_the_weight(weight, A, B, alpha):
    return alpha / len(A) * weight + B @ A


def each_turned(weight, A, B, alpha):
    return weight + alpha / len(A) * (B.T @ A.T)


RIGHT = [by_product, by_einsum, by_outer_products, by_transposes]
WRONG = [
    (without_the_rank, "alpha without the rank"),
    (without_alpha, "no alpha"),
    (without_the_weight, "the product alone"),
    (by_the_width, "alpha divided by another size"),
    (by_all_numbers_of_A, "alpha divided by another size"),
    (by_four, "alpha divided by a number of its own"),
    (scaling_the_sum, "the weight scaled, too"),
    (scaling_the_weight, "the weight scaled, too"),
    (each_turned, "B.T @ A.T in place of B @ A"),
]
