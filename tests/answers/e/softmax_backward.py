"""Answers to softmax backward."""

import torch


def right_spread_products(weights, grad_weights):
    """right: multiplies weights and gradient once, and takes back each weight's share of the row's total."""
    product = weights * grad_weights
    return product - weights * product.sum(dim=-1, keepdim=True)


def right_whole_jacobian(weights, grad_weights):
    """right: builds the Jacobian of every row in float64 and multiplies by it; casts back."""
    w = weights.double()
    jacobian = torch.diag_embed(w) - w.unsqueeze(-1) * w.unsqueeze(-2)
    result = torch.einsum("...i,...ij->...j", grad_weights.double(), jacobian)
    return result.to(weights.dtype)


def right_four_loops(weights, grad_weights):
    """right: flattens to rows, and follows the task's formula with loops over rows, j and i."""
    S = weights.shape[-1]
    rows = weights.reshape(-1, S)
    grads = grad_weights.reshape(-1, S)
    out = torch.zeros_like(rows)
    for r in range(rows.shape[0]):
        for j in range(S):
            for i in range(S):
                out[r, j] += grads[r, i] * rows[r, i] * ((i == j) * 1.0 - rows[r, j])
    return out.reshape(weights.shape)


def wrong_only_product(weights, grad_weights):
    """wrong: weights times gradient, without subtracting the row's weighted mean of the gradient."""
    return weights * grad_weights


def wrong_only_diagonal(weights, grad_weights):
    """wrong: uses only the diagonal of the Jacobian (i = j): gradient times w (1 - w)."""
    return grad_weights * weights * (1 - weights)


def wrong_plain_mean(weights, grad_weights):
    """wrong: subtracts the plain mean of the row's gradient, not the mean weighted by the weights."""
    return weights * (grad_weights - grad_weights.mean(dim=-1, keepdim=True))


def wrong_sign(weights, grad_weights):
    """wrong: the sign is turned round: weighted mean minus gradient."""
    inner = (weights * grad_weights).sum(-1, keepdim=True)
    return weights * (inner - grad_weights)


def wrong_sum_over_all_rows(weights, grad_weights):
    """wrong: sums gradient times weights over all T rows of a matrix (the last two axes), not over each row; right for T = 1."""
    inner = (weights * grad_weights).sum(dim=(-2, -1), keepdim=True)
    return weights * (grad_weights - inner)


def wrong_small_weights_are_masked(weights, grad_weights):
    """wrong: takes weights below 0.001 for masked ones and sets their gradient to 0 in the result; right where all weights are 0 or at least 0.001."""
    inner = (weights * grad_weights).sum(dim=-1, keepdim=True)
    result = weights * (grad_weights - inner)
    return torch.where(weights < 1e-3, torch.zeros_like(result), result)


def wrong_shortcut_for_one_hot(weights, grad_weights):
    """wrong: as soon as any row has all its weight on one place (as the first row under a causal mask), returns 0 for all rows."""
    if weights.numel() and weights.max() == 1:
        return torch.zeros_like(weights)
    inner = torch.einsum("...s,...s->...", weights, grad_weights)
    return weights * (grad_weights - inner[..., None])


def wrong_weight_j_for_weight_i(weights, grad_weights):
    """wrong: puts weight j for the factor weight i of the formula: w_j g_j - w_j^2 sum_i g_i, with the plain sum of the gradients; right where all weights of a row are equal."""
    return weights * grad_weights - weights ** 2 * grad_weights.sum(dim=-1, keepdim=True)


def wrong_axis_and_factor(weights, grad_weights):
    """wrong: two mistakes: sums over axis -2 (the rows) instead of the last axis, and forgets the factor w_j in front: gradient minus sum."""
    return grad_weights - (grad_weights * weights).sum(dim=-2, keepdim=True)


ANSWERS = [
    right_spread_products, right_whole_jacobian, right_four_loops,
    wrong_only_product, wrong_only_diagonal, wrong_plain_mean, wrong_sign,
    wrong_sum_over_all_rows, wrong_small_weights_are_masked,
    wrong_shortcut_for_one_hot, wrong_weight_j_for_weight_i,
    wrong_axis_and_factor,
]
