"""The gradient of softmax."""

import torch
import torch.nn.functional as F


def softmax_back_by_rows(weights, grad_weights):
    average = (weights * grad_weights).sum(dim=-1, keepdim=True)
    return weights * (grad_weights - average)


def softmax_back_by_jacobians(weights, grad_weights):
    jacobian = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    return (jacobian @ grad_weights[..., None])[..., 0]


def softmax_back_by_loops(weights, grad_weights):
    S = weights.shape[-1]
    result = torch.zeros_like(weights)
    for j in range(S):
        for i in range(S):
            slope = weights[..., i] * ((1.0 if i == j else 0.0) - weights[..., j])
            result[..., j] += grad_weights[..., i] * slope
    return result


def softmax_back_by_einsum(weights, grad_weights):
    weights, grad = weights.double(), grad_weights.double()
    paid = torch.einsum("...ts,...ts->...t", weights, grad)
    return weights * grad - torch.einsum("...t,...ts->...ts", paid, weights)


def softmax_back_by_autograd(weights, grad_weights):
    scores = weights.log().detach().requires_grad_(True)
    (grad_scores,) = torch.autograd.grad(F.softmax(scores, -1), scores, grad_weights)
    return grad_scores


def softmax_back_like_a_sigmoid(weights, grad_weights):
    return grad_weights * weights * (1 - weights)


def softmax_back_like_exp(weights, grad_weights):
    return grad_weights * weights


def softmax_back_plain_sum(weights, grad_weights):
    return weights * (grad_weights - grad_weights.sum(dim=-1, keepdim=True))


def softmax_back_centred(weights, grad_weights):
    return weights * (grad_weights - grad_weights.mean(dim=-1, keepdim=True))


def softmax_back_down_the_columns(weights, grad_weights):
    product = weights * grad_weights
    return product - weights * product.sum(dim=-2, keepdim=True)


def softmax_back_without_keepdim(weights, grad_weights):
    average = torch.sum(weights * grad_weights, dim=-1)
    return weights * (grad_weights - average)


def softmax_back_forgot_dim(weights, grad_weights):
    product = weights * grad_weights
    return product - weights * product.sum()


def softmax_back_negative(weights, grad_weights):
    product = weights * grad_weights
    return weights * product.sum(dim=-1, keepdim=True) - product


def softmax_back_without_factor(weights, grad_weights):
    return grad_weights - (weights * grad_weights).sum(dim=-1, keepdim=True)


def softmax_back_softmax_again(weights, grad_weights):
    again = torch.softmax(weights, dim=-1)
    return again * (grad_weights - (again * grad_weights).sum(-1, keepdim=True))


def softmax_back_doubled(weights, grad_weights):
    return 2 * softmax_back_by_rows(weights, grad_weights)


RIGHT = [
    softmax_back_by_rows,
    softmax_back_by_jacobians,
    softmax_back_by_loops,
    softmax_back_by_einsum,
    softmax_back_by_autograd,
]
WRONG = [
    (softmax_back_like_a_sigmoid, "the diagonal of the Jacobian alone"),
    (softmax_back_like_exp, "weights times gradient, and no more"),
    (softmax_back_plain_sum, "a sum of the gradients that no weights multiply"),
    (
        softmax_back_centred,
        "the plain mean of the gradients in place of the weighted one",
    ),
    (softmax_back_down_the_columns, "a sum over the queries"),
    (softmax_back_without_keepdim, "row sums that lie along the wrong axis"),
    (softmax_back_forgot_dim, "a sum over the whole table"),
    (softmax_back_negative, "the gradient with its sign turned"),
    (
        softmax_back_without_factor,
        "a difference that is not multiplied by the weights",
    ),
    (softmax_back_softmax_again, "softmax applied to the weights once more"),
    (softmax_back_doubled, None),
]
