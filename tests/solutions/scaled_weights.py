"""Weights from divided scores."""

import math

import torch
import torch.nn.functional as F


def scaled_by_matrices(queries, keys):
    D = queries.shape[-1]
    return torch.softmax(queries @ keys.transpose(-2, -1) / math.sqrt(D), dim=-1)


def scaled_by_einsum(queries, keys):
    D = keys.size(-1)
    scores = torch.einsum("...td,...sd->...ts", queries, keys)
    return F.softmax(scores * D**-0.5, dim=-1)


def scaled_queries_first(queries, keys):
    scores = (queries / queries.shape[-1] ** 0.5).matmul(keys.mT)
    scores = scores - scores.max(dim=-1, keepdim=True).values
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


def scaled_both_by_the_fourth_root(queries, keys):
    root = queries.shape[-1] ** 0.25
    return ((queries / root) @ (keys / root).transpose(-1, -2)).softmax(-1)


def scaled_by_pytorch(queries, keys):
    S = keys.shape[-2]
    values = torch.eye(S).expand(*keys.shape[:-2], S, S)
    return F.scaled_dot_product_attention(queries, keys, values)


def scaled_by_loops(queries, keys):
    T, D = queries.shape[-2:]
    S = keys.shape[-2]
    weights = torch.empty(*queries.shape[:-1], S, dtype=torch.float64)
    for t in range(T):
        for s in range(S):
            products = queries[..., t, :].double() * keys[..., s, :]
            weights[..., t, s] = products.sum(-1) / math.sqrt(D)
    return weights.softmax(-1)


def scaled_not(queries, keys):
    return F.softmax(torch.matmul(queries, keys.transpose(-2, -1)), dim=-1)


def scaled_by_width(queries, keys):
    D = queries.shape[-1]
    return torch.softmax(queries @ keys.transpose(-2, -1) / D, dim=-1)


def scaled_both(queries, keys):
    root = math.sqrt(queries.shape[-1])
    return torch.softmax((queries / root) @ (keys / root).transpose(-2, -1), dim=-1)


def scaled_by_the_last_axis_of_scores(queries, keys):
    scores = queries @ keys.transpose(-2, -1)
    return torch.softmax(scores / scores.shape[-1] ** 0.5, dim=-1)


def scaled_too_late(queries, keys):
    weights = torch.softmax(queries @ keys.transpose(-2, -1), dim=-1)
    return weights / math.sqrt(queries.shape[-1])


def scaled_with_precedence(queries, keys):
    # ** binds before /, so this is D over 2.
    D = queries.shape[-1]
    return torch.softmax(queries @ keys.transpose(-2, -1) / (D**1 / 2), dim=-1)


def scaled_down_the_columns(queries, keys):
    D = queries.shape[-1]
    return torch.softmax(queries @ keys.transpose(-2, -1) / D**0.5, dim=-2)


def scaled_along_dim_one(queries, keys):
    D = queries.shape[-1]
    return torch.softmax(queries @ keys.transpose(-2, -1) / D**0.5, dim=1)


def scaled_with_naive_softmax(queries, keys):
    scores = torch.exp(queries @ keys.mT / math.sqrt(keys.shape[-1]))
    return scores / scores.sum(dim=-1, keepdim=True)


RIGHT = [
    scaled_by_matrices,
    scaled_by_einsum,
    scaled_queries_first,
    scaled_both_by_the_fourth_root,
    scaled_by_pytorch,
    scaled_by_loops,
]
WRONG = [
    (scaled_not, "softmax of scores that nothing divides"),
    (scaled_by_width, "a division by D in place of its square root"),
    (scaled_both, "a division by D in place of its square root"),
    (scaled_by_the_last_axis_of_scores, "a division by the square root of S"),
    (scaled_too_late, "a division after softmax"),
    (scaled_down_the_columns, "softmax over the queries"),
    (scaled_along_dim_one, "softmax over axis 1, counted from the front"),
    (scaled_with_naive_softmax, "softmax that doesn't subtract the maximum"),
    (scaled_with_precedence, None),
]
