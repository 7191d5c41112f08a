"""Answers to softmax_backward by hand b."""

import numpy as np
import torch


def right_two_lines(weights, grad_weights):
    """right: w * (g - the row's sum of w g)."""
    mean = (weights * grad_weights).sum(dim=-1, keepdim=True)
    return weights * (grad_weights - mean)


def right_row_by_row(weights, grad_weights):
    """right: builds diag(w) - w w^T for every row, and multiplies by it."""
    S = weights.shape[-1]
    w2 = weights.reshape(-1, S)
    g2 = grad_weights.reshape(-1, S)
    out = torch.zeros_like(w2)
    for r in range(w2.shape[0]):
        jacobian = torch.diag(w2[r]) - torch.outer(w2[r], w2[r])
        out[r] = jacobian @ g2[r]
    return out.reshape(weights.shape)


def right_numpy_float64(weights, grad_weights):
    """right: NumPy in float64, einsum for the rows' sums, cast back to the dtype of the weights."""
    w = weights.detach().cpu().double().numpy()
    g = grad_weights.detach().cpu().double().numpy()
    dot = np.einsum("...s,...s->...", w, g)
    result = w * g - w * dot[..., np.newaxis]
    return torch.from_numpy(result).to(weights.device, weights.dtype)


def wrong_diagonal_only(weights, grad_weights):
    """wrong: only the case i = j: w (1 - w) g, so what comes from the row's other weights is missing."""
    return weights * (1 - weights) * grad_weights


def wrong_factor_forgotten(weights, grad_weights):
    """wrong: forgets the factor w in front: g minus the row's sum of w g."""
    return grad_weights - (grad_weights * weights).sum(-1, keepdim=True)


def wrong_sums_columns(weights, grad_weights):
    """wrong: sums w g over the axis T (-2), not over the row (-1)."""
    s = torch.sum(weights * grad_weights, dim=-2, keepdim=True)
    return weights * (grad_weights - s)


def wrong_sign(weights, grad_weights):
    """wrong: the sign is flipped: w * (sum of w g - g)."""
    s = torch.einsum("...i,...i->...", weights, grad_weights).unsqueeze(-1)
    return weights * (s - grad_weights)


def wrong_sum_of_everything(weights, grad_weights):
    """wrong: subtracts the sum of w g over the whole tensor, not over each row: right for a single row only."""
    return weights * (grad_weights - (weights * grad_weights).sum())


def wrong_index(weights, grad_weights):
    """wrong: has w_j in place of w_i in the sum over the other weights: w_j g_j - w_j^2 * (row's plain sum of g); right for equal weights only."""
    total = grad_weights.sum(dim=-1, keepdim=True)
    return weights * grad_weights - weights**2 * total


def wrong_log_softmax(weights, grad_weights):
    """wrong: this is the way back through log-softmax, not softmax: g - w * (row's plain sum of g)."""
    return grad_weights - weights * grad_weights.sum(dim=-1, keepdim=True)


def wrong_saturated_rows(weights, grad_weights):
    """wrong: the formula is right, but rows where one weight is above 0.99 count as saturated and get exactly 0."""
    out = weights * (grad_weights - (weights * grad_weights).sum(dim=-1, keepdim=True))
    full = weights.amax(dim=-1, keepdim=True) > 0.99
    return out.masked_fill(full, 0.0)


def wrong_plain_mean_and_sign(weights, grad_weights):
    """wrong: two mistakes: uses the row's plain mean of g in place of the sum of w g, and flips the sign."""
    return weights * (grad_weights.mean(dim=-1, keepdim=True) - grad_weights)


ANSWERS = [
    right_two_lines,
    right_row_by_row,
    right_numpy_float64,
    wrong_diagonal_only,
    wrong_factor_forgotten,
    wrong_sums_columns,
    wrong_sign,
    wrong_sum_of_everything,
    wrong_index,
    wrong_log_softmax,
    wrong_saturated_rows,
    wrong_plain_mean_and_sign,
]
