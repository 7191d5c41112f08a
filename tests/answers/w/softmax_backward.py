import torch


def backward_two_lines(weights, grad_weights):
    """right: weights times the gradient minus its weighted mean over the row."""
    mean = (weights * grad_weights).sum(dim=-1, keepdim=True)
    return weights * (grad_weights - mean)


def backward_jacobian(weights, grad_weights):
    """right: builds the Jacobian of each row and multiplies the gradient by it."""
    jacobian = torch.diag_embed(weights) - weights.unsqueeze(-1) * weights.unsqueeze(-2)
    return (grad_weights.unsqueeze(-2) @ jacobian).squeeze(-2)


def backward_columns(weights, grad_weights):
    """wrong: sums over the queries (axis -2) instead of the keys of a row."""
    dot = (weights * grad_weights).sum(dim=-2, keepdim=True)
    return weights * (grad_weights - dot)


def backward_diagonal(weights, grad_weights):
    """wrong: uses the sigmoid's derivative, the diagonal of the Jacobian alone, and forgets how a score changes the other weights."""
    return grad_weights * weights * (1 - weights)


def backward_whole_sum(weights, grad_weights):
    """wrong: sums without an axis, over all rows together (right for a single row)."""
    total = torch.sum(weights * grad_weights)
    return weights * (grad_weights - total)


def backward_weight_missing(weights, grad_weights):
    """wrong: subtracts the row's sum without the factor weights_j, so the second term isn't weighted."""
    product = weights * grad_weights
    return product - product.sum(dim=-1, keepdim=True)


def backward_last_only(weights, grad_weights):
    """wrong: = instead of += in the inner loop, so each score collects from the last weight alone (right for one key)."""
    S = weights.shape[-1]
    grad_scores = torch.zeros_like(weights)
    for j in range(S):
        for i in range(S):
            same = 1.0 if i == j else 0.0
            grad_scores[..., j] = grad_weights[..., i] * weights[..., i] * (same - weights[..., j])
    return grad_scores


def backward_plain_mean(weights, grad_weights):
    """wrong: subtracts the plain mean of the gradient instead of its mean weighted by the weights (right where the weights are equal)."""
    centered = grad_weights - grad_weights.mean(dim=-1, keepdim=True)
    return weights * centered


ANSWERS = [
    backward_two_lines,
    backward_jacobian,
    backward_columns,
    backward_diagonal,
    backward_whole_sum,
    backward_weight_missing,
    backward_last_only,
    backward_plain_mean,
]
