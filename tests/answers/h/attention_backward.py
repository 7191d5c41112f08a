"""Answers to attention_backward by hand h."""

import math

import torch


def right_matrices(queries, keys, values, grad_context):
    """right: matrix products; the scale is applied to the gradient of the scores."""
    scale = 1 / math.sqrt(queries.shape[-1])
    weights = torch.softmax(queries @ keys.T * scale, dim=-1)
    grad_weights = grad_context @ values.T
    inner = (weights * grad_weights).sum(-1, keepdim=True)
    grad_scores = weights * (grad_weights - inner) * scale
    return grad_scores @ keys, grad_scores.T @ queries, weights.T @ grad_context


def right_flash_style_float64(queries, keys, values, grad_context):
    """right: float64 and einsum, logsumexp for the weights, and the row sums taken from the context as in flash attention."""
    q, k, v, g = (t.double() for t in (queries, keys, values, grad_context))
    root = q.shape[1] ** 0.5
    scores = torch.einsum("td,sd->ts", q / root, k)
    weights = (scores - scores.logsumexp(1, keepdim=True)).exp()
    delta = (g * (weights @ v)).sum(1)
    grad_scores = weights * (torch.einsum("tv,sv->ts", g, v) - delta[:, None])
    grads = (
        torch.einsum("ts,sd->td", grad_scores, k) / root,
        torch.einsum("ts,td->sd", grad_scores, q) / root,
        torch.einsum("ts,tv->sv", weights, g),
    )
    return tuple(a.to(b.dtype) for a, b in zip(grads, (queries, keys, values)))


def right_jacobian_per_query(queries, keys, values, grad_context):
    """right: one query after another, with the full Jacobian diag(w) - w wᵀ of its softmax."""
    grad_q = torch.zeros_like(queries)
    grad_k = torch.zeros_like(keys)
    grad_v = torch.zeros_like(values)
    root = math.sqrt(queries.shape[1])
    for t in range(queries.shape[0]):
        w = torch.softmax(keys @ queries[t] / root, 0)
        jacobian = torch.diag(w) - torch.outer(w, w)
        grad_s = jacobian @ (values @ grad_context[t])
        grad_q[t] = grad_s @ keys / root
        grad_k += torch.outer(grad_s, queries[t]) / root
        grad_v += torch.outer(w, grad_context[t])
    return grad_q, grad_k, grad_v


def wrong_scale_forgotten_going_back(queries, keys, values, grad_context):
    """wrong: the forward pass divides by the root of D, but the gradients of queries and keys don't: they are too large by the root of D."""
    D = queries.shape[-1]
    weights = torch.softmax(queries @ keys.T / math.sqrt(D), dim=-1)
    grad_values = weights.T @ grad_context
    grad_weights = grad_context @ values.T
    grad_scores = weights * (grad_weights - (grad_weights * weights).sum(-1, keepdim=True))
    return grad_scores @ keys, grad_scores.T @ queries, grad_values


def wrong_row_sum_not_subtracted(queries, keys, values, grad_context):
    """wrong: the softmax's rule lacks its second term: grad_scores = weights * grad_weights, without subtracting the row's sum."""
    D = queries.shape[-1]
    weights = torch.softmax(queries @ keys.T / math.sqrt(D), dim=-1)
    grad_scores = weights * (grad_context @ values.T) / math.sqrt(D)
    return grad_scores @ keys, grad_scores.T @ queries, weights.T @ grad_context


def wrong_softmax_like_a_sigmoid(queries, keys, values, grad_context):
    """wrong: only the diagonal of the softmax's Jacobian is used, weights * (1 - weights), as if each weight depended on its own score alone."""
    root = math.sqrt(queries.shape[-1])
    w = torch.softmax(queries @ keys.T / root, dim=1)
    grad_s = (grad_context @ values.T) * w * (1 - w)
    return grad_s @ keys / root, grad_s.T @ queries / root, w.T @ grad_context


def wrong_sum_down_the_columns(queries, keys, values, grad_context):
    """wrong: in the softmax's rule the sum of weights * grad_weights is taken over the queries (dim 0) instead of over the keys of each row."""
    scale = queries.shape[-1] ** -0.5
    weights = torch.softmax(scale * queries @ keys.T, dim=-1)
    grad_weights = grad_context @ values.T
    dot = (weights * grad_weights).sum(dim=0, keepdim=True)
    grad_scores = weights * (grad_weights - dot) * scale
    return grad_scores @ keys, grad_scores.T @ queries, weights.T @ grad_context


def wrong_plain_mean_subtracted(queries, keys, values, grad_context):
    """wrong: in the softmax's rule the plain mean of the row's grad_weights is subtracted instead of their sum weighted by the weights."""
    D = keys.shape[1]
    weights = (queries @ keys.T / D**0.5).softmax(1)
    grad_weights = grad_context @ values.T
    grad_scores = weights * (grad_weights - grad_weights.mean(dim=1, keepdim=True)) / D**0.5
    return grad_scores @ keys, grad_scores.T @ queries, weights.T @ grad_context


def wrong_values_without_transpose(queries, keys, values, grad_context):
    """wrong: the gradient of the values is weights @ grad_context, without transposing the weights (it crashes where T and S differ)."""
    root = math.sqrt(queries.shape[-1])
    weights = torch.softmax(queries @ keys.T / root, dim=-1)
    grad_values = weights @ grad_context
    grad_weights = grad_context @ values.T
    grad_scores = weights * (grad_weights - (grad_weights * weights).sum(-1, keepdim=True))
    grad_scores = grad_scores / root
    return grad_scores @ keys, grad_scores.T @ queries, grad_values


def wrong_scaled_twice_at_the_keys(queries, keys, values, grad_context):
    """wrong: the gradient of the keys is divided by the root of D twice, since it uses the already scaled queries with the already scaled grad_scores; queries and values are right."""
    root = math.sqrt(queries.shape[-1])
    scaled = queries / root
    weights = torch.softmax(scaled @ keys.T, dim=-1)
    gw = grad_context @ values.T
    gs = weights * (gw - torch.linalg.vecdot(gw, weights).unsqueeze(1)) / root
    return gs @ keys, gs.T @ scaled, weights.T @ grad_context


def wrong_exponentials_overflow(queries, keys, values, grad_context):
    """wrong: the softmax takes exp of the scores as they are, which overflows for scores in the hundreds and more: the gradients become NaN."""
    D = queries.shape[-1]
    exps = torch.exp(queries @ keys.T / math.sqrt(D))
    weights = exps / exps.sum(-1, keepdim=True)
    grad_weights = grad_context @ values.T
    grad_scores = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdim=True))
    grad_scores = grad_scores / math.sqrt(D)
    return grad_scores @ keys, grad_scores.T @ queries, weights.T @ grad_context


def wrong_largest_score_of_all(queries, keys, values, grad_context):
    """wrong: the largest score of the whole matrix is subtracted before exp, not that of each row, so rows far below it have weights 0/1e-9 = 0, and their gradients vanish."""
    root = queries.shape[-1] ** 0.5
    scores = queries @ keys.T / root
    exps = (scores - scores.max()).exp()
    weights = exps / (exps.sum(1, keepdim=True) + 1e-9)
    gw = grad_context @ values.T
    gs = (gw - (gw * weights).sum(1, keepdim=True)) * weights / root
    return gs @ keys, gs.T @ queries, weights.T @ grad_context


def wrong_root_of_value_width(queries, keys, values, grad_context):
    """wrong: both ways the division is by the root of D_v, the values' width, instead of D."""
    root = math.sqrt(values.shape[-1])
    weights = torch.softmax(queries @ keys.T / root, dim=-1)
    grad_weights = grad_context @ values.T
    grad_scores = weights * (grad_weights - (grad_weights * weights).sum(-1, keepdim=True)) / root
    return grad_scores @ keys, grad_scores.T @ queries, weights.T @ grad_context


def wrong_not_scaled_and_order(queries, keys, values, grad_context):
    """wrong: two mistakes: there is no division by the root of D, neither forward nor back, and the gradients are returned as values, keys, queries."""
    weights = torch.softmax(queries @ keys.T, dim=-1)
    grad_values = weights.T @ grad_context
    grad_weights = grad_context @ values.T
    grad_scores = weights * (grad_weights - (grad_weights * weights).sum(-1, keepdim=True))
    grad_keys = grad_scores.T @ queries
    grad_queries = grad_scores @ keys
    return grad_values, grad_keys, grad_queries


def wrong_whole_sum_and_scale_lost_at_queries(queries, keys, values, grad_context):
    """wrong: two mistakes: the softmax's rule subtracts one sum over the whole matrix instead of one for each row, and the gradient of the queries alone lacks the division by the root of D."""
    root = math.sqrt(queries.shape[-1])
    weights = torch.softmax(queries @ keys.T / root, dim=-1)
    grad_weights = grad_context @ values.T
    grad_scores = weights * (grad_weights - (weights * grad_weights).sum())
    return grad_scores @ keys, grad_scores.T @ (queries / root), weights.T @ grad_context


ANSWERS = [
    right_matrices,
    right_flash_style_float64,
    right_jacobian_per_query,
    wrong_scale_forgotten_going_back,
    wrong_row_sum_not_subtracted,
    wrong_softmax_like_a_sigmoid,
    wrong_sum_down_the_columns,
    wrong_plain_mean_subtracted,
    wrong_values_without_transpose,
    wrong_scaled_twice_at_the_keys,
    wrong_exponentials_overflow,
    wrong_largest_score_of_all,
    wrong_root_of_value_width,
    wrong_not_scaled_and_order,
    wrong_whole_sum_and_scale_lost_at_queries,
]
