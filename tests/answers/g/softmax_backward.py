"""Answers to softmax_backward by hand g."""

import torch


def right_jacobian(weights, grad_weights):
    """right: builds the Jacobian with diag_embed in float64, and multiplies."""
    w, g = weights.double(), grad_weights.double()
    jacobian = torch.diag_embed(w) - w.unsqueeze(-1) * w.unsqueeze(-2)
    return (jacobian @ g.unsqueeze(-1)).squeeze(-1).to(weights.dtype)


def right_double_loop(weights, grad_weights):
    """right: loops over all pairs i and j on the last axis."""
    S = weights.shape[-1]
    grad_scores = torch.zeros_like(weights)
    for j in range(S):
        for i in range(S):
            same = 1.0 if i == j else 0.0
            change = weights[..., i] * (same - weights[..., j])
            grad_scores[..., j] += grad_weights[..., i] * change
    return grad_scores


def right_pairs(weights, grad_weights):
    """right: each score collects w_j w_i (g_j - g_i) from every i; needs rows of weights
    that sum to 1, as they do."""
    gaps = grad_weights.unsqueeze(-1) - grad_weights.unsqueeze(-2)  # (..., j, i)
    return weights * torch.einsum("...ji,...i->...j", gaps, weights)


def wrong_elementwise(weights, grad_weights):
    """wrong: weights times gradient only; the weighted mean of the row's gradients isn't
    subtracted."""
    return weights * grad_weights


def wrong_like_sigmoid(weights, grad_weights):
    """wrong: only the diagonal of the Jacobian, w (1 - w), as if softmax were a sigmoid
    of each score by itself."""
    return grad_weights * weights * (1 - weights)


def wrong_over_queries(weights, grad_weights):
    """wrong: sums weights times gradients along axis -2, over the queries, instead of
    along the row."""
    inner = (weights * grad_weights).sum(dim=-2, keepdim=True)
    return weights * (grad_weights - inner)


def wrong_unweighted_sum(weights, grad_weights):
    """wrong: subtracts the plain sum of the row's gradients, not weighted with the
    weights."""
    return weights * (grad_weights - grad_weights.sum(dim=-1, keepdim=True))


def wrong_no_outer_weight(weights, grad_weights):
    """wrong: leaves out the factor weights in front: gradient minus the row's weighted
    sum of gradients."""
    return grad_weights - (weights * grad_weights).sum(dim=-1, keepdim=True)


def wrong_sum_of_matrix(weights, grad_weights):
    """wrong: sums weights times gradients over the last two axes, the whole (T, S)
    matrix, instead of each row; right for T = 1."""
    inner = (weights * grad_weights).sum(dim=(-2, -1), keepdim=True)
    return weights * (grad_weights - inner)


def wrong_no_keepdim(weights, grad_weights):
    """wrong: the row sums lose their axis (no keepdim) and are broadcast along the
    columns, so that column j gets the sum of row j (or of another batch entry); an
    error where the shapes don't fit."""
    inner = (weights * grad_weights).sum(dim=-1)
    return weights * (grad_weights - inner)


def wrong_no_diagonal(weights, grad_weights):
    """wrong: the double loop skips i = j, so that the diagonal of the Jacobian,
    w_j (1 - w_j), is missing."""
    S = weights.shape[-1]
    out = torch.zeros_like(weights)
    for j in range(S):
        for i in range(S):
            if i != j:
                out[..., j] -= grad_weights[..., i] * weights[..., i] * weights[..., j]
    return out


def wrong_sign_and_scale(weights, grad_weights):
    """wrong: two mistakes: the sign is turned (weighted sum minus gradient), and the
    result is divided by the root of S, as if the scores were still to be scaled."""
    inner = torch.einsum("...s,...s->...", weights, grad_weights)[..., None]
    return weights * (inner - grad_weights) / weights.shape[-1] ** 0.5


def wrong_mean_and_no_weight_on_sum(weights, grad_weights):
    """wrong: two mistakes: the mean of weights times gradients instead of their sum, and
    it is subtracted as it is, not multiplied with the weights."""
    product = weights * grad_weights
    return product - product.mean(dim=-1, keepdim=True)


def wrong_softmax_again(weights, grad_weights):
    """wrong: applies softmax to the weights, as if they were scores, and uses these
    twice-softmaxed weights in an otherwise right formula."""
    w = torch.softmax(weights, dim=-1)
    return w * (grad_weights - (w * grad_weights).sum(-1, keepdim=True))


ANSWERS = [
    right_jacobian,
    right_double_loop,
    right_pairs,
    wrong_elementwise,
    wrong_like_sigmoid,
    wrong_over_queries,
    wrong_unweighted_sum,
    wrong_no_outer_weight,
    wrong_sum_of_matrix,
    wrong_no_keepdim,
    wrong_no_diagonal,
    wrong_sign_and_scale,
    wrong_mean_and_no_weight_on_sum,
    wrong_softmax_again,
]
