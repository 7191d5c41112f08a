"""The gradients of attention."""

import torch
import torch.nn.functional as F


def attention_back_step_by_step(queries, keys, values, grad_context):
    D = queries.shape[-1]
    weights = torch.softmax(queries @ keys.T / D**0.5, dim=-1)
    grad_values = weights.T @ grad_context
    grad_weights = grad_context @ values.T
    average = (weights * grad_weights).sum(dim=-1, keepdim=True)
    grad_scores = weights * (grad_weights - average) / D**0.5
    return grad_scores @ keys, grad_scores.T @ queries, grad_values


def attention_back_by_queries(queries, keys, values, grad_context):
    grads = [torch.zeros_like(one) for one in (queries, keys, values)]
    root = keys.shape[1] ** 0.5
    for t in range(len(queries)):
        weights = torch.softmax(keys @ queries[t] / root, dim=0)  # (S,)
        jacobian = torch.diag(weights) - torch.outer(weights, weights)
        grad_scores = jacobian @ (values @ grad_context[t]) / root
        grads[0][t] = grad_scores @ keys
        grads[1] += torch.outer(grad_scores, queries[t])
        grads[2] += torch.outer(weights, grad_context[t])
    return grads


def attention_back_by_einsum(queries, keys, values, grad_context):
    parts = (queries, keys, values, grad_context)
    queries, keys, values, grad_context = (one.double() for one in parts)
    queries = queries / queries.shape[-1] ** 0.5
    weights = torch.einsum("td,sd->ts", queries, keys).softmax(-1)
    # The row sums are also the dot products of context and gradient.
    context = torch.einsum("ts,sv->tv", weights, values)
    arriving = torch.einsum("tv,sv->ts", grad_context, values)
    arriving = arriving - (context * grad_context).sum(-1)[:, None]
    grad_scores = weights * arriving
    return (
        torch.einsum("ts,sd->td", grad_scores, keys) / keys.shape[-1] ** 0.5,
        torch.einsum("ts,td->sd", grad_scores, queries),
        torch.einsum("ts,tv->sv", weights, grad_context),
    )


def attention_back_by_pytorch(queries, keys, values, grad_context):
    leaves = [one.detach().clone().requires_grad_() for one in (queries, keys, values)]
    F.scaled_dot_product_attention(*leaves).backward(grad_context)
    return tuple(leaf.grad for leaf in leaves)


def start(queries, keys, divisor):
    return torch.softmax(queries @ keys.T / divisor, dim=-1)


def back_through_softmax(weights, grad):
    return weights * (grad - (weights * grad).sum(dim=-1, keepdim=True))


def attention_back_unscaled_gradients(queries, keys, values, grad_context):
    weights = start(queries, keys, queries.shape[-1] ** 0.5)
    grad_scores = back_through_softmax(weights, grad_context @ values.T)
    return grad_scores @ keys, grad_scores.T @ queries, weights.T @ grad_context


def attention_back_sigmoid(queries, keys, values, grad_context):
    root = queries.shape[-1] ** 0.5
    weights = start(queries, keys, root)
    grad_scores = grad_context @ values.T * weights * (1 - weights) / root
    return grad_scores @ keys, grad_scores.T @ queries, weights.T @ grad_context


def attention_back_no_row_sum(queries, keys, values, grad_context):
    root = queries.shape[-1] ** 0.5
    weights = start(queries, keys, root)
    grad_scores = grad_context @ values.T * weights / root
    return grad_scores @ keys, grad_scores.T @ queries, weights.T @ grad_context


def attention_back_column_sum(queries, keys, values, grad_context):
    root = queries.shape[-1] ** 0.5
    weights = start(queries, keys, root)
    product = weights * (grad_context @ values.T)
    grad_scores = (product - weights * product.sum(dim=0)) / root
    return grad_scores @ keys, grad_scores.T @ queries, weights.T @ grad_context


def attention_back_values_untransposed(queries, keys, values, grad_context):
    root = queries.shape[-1] ** 0.5
    weights = start(queries, keys, root)
    grad_values = weights @ grad_context
    grad_scores = back_through_softmax(weights, grad_context @ values.T) / root
    return grad_scores @ keys, grad_scores.T @ queries, grad_values


def attention_back_swapped(queries, keys, values, grad_context):
    root = queries.shape[-1] ** 0.5
    weights = start(queries, keys, root)
    grad_scores = back_through_softmax(weights, grad_context @ values.T) / root
    return grad_scores.T @ queries, grad_scores @ keys, weights.T @ grad_context


def attention_back_queries_alone_scaled(queries, keys, values, grad_context):
    root = queries.shape[-1] ** 0.5
    weights = start(queries, keys, root)
    grad_scores = back_through_softmax(weights, grad_context @ values.T)
    return grad_scores @ keys / root, grad_scores.T @ queries, weights.T @ grad_context


def attention_back_from(weights, tensors, root):
    queries, keys, values, grad_context = tensors
    grad_scores = back_through_softmax(weights, grad_context @ values.T) / root
    return grad_scores @ keys, grad_scores.T @ queries, weights.T @ grad_context


def attention_back_naive(*tensors):
    root = tensors[0].shape[-1] ** 0.5
    exponentials = torch.exp(tensors[0] @ tensors[1].T / root)
    weights = exponentials / exponentials.sum(dim=1, keepdim=True)
    return attention_back_from(weights, tensors, root)


def attention_back_clamped(*tensors):
    root = tensors[0].shape[-1] ** 0.5
    exponentials = torch.exp((tensors[0] @ tensors[1].T / root).clamp(max=88))
    weights = exponentials / exponentials.sum(dim=1, keepdim=True)
    return attention_back_from(weights, tensors, root)


RIGHT = [
    attention_back_step_by_step,
    attention_back_by_queries,
    attention_back_by_einsum,
    attention_back_by_pytorch,
]
WRONG = [
    (
        attention_back_unscaled_gradients,
        "gradients that forget the division of the scores",
    ),
    (
        attention_back_sigmoid,
        "softmax's backward with the diagonal of the Jacobian alone",
    ),
    (attention_back_no_row_sum, "softmax's backward without the row sum"),
    (
        attention_back_column_sum,
        "softmax's backward with a sum over the queries",
    ),
    (
        attention_back_values_untransposed,
        "a gradient of the values from weights that are not transposed",
    ),
    (
        attention_back_swapped,
        "the gradients of queries and keys in each other's place",
    ),
    (attention_back_naive, "exponentials that overflow"),
    (attention_back_clamped, None),
    (attention_back_queries_alone_scaled, None),
]
