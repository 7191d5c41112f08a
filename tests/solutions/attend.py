"""Attention by matrices."""

import math

import torch
import torch.nn.functional as F


def attend_by_matmul(queries, keys, values):
    weights = torch.softmax(queries @ keys.T, dim=-1)
    return weights @ values, weights


def attend_by_einsum(queries, keys, values):
    weights = torch.einsum("td,sd->ts", queries, keys).softmax(-1)
    return torch.einsum("ts,sv->tv", weights, values), weights


def attend_query_by_query(queries, keys, values):
    weights = torch.stack([F.softmax(keys @ query, dim=0) for query in queries])
    return torch.stack([row @ values for row in weights]), weights


def attend_by_pytorch(queries, keys, values):
    parts = [part.double() for part in (queries, keys)]
    identity = torch.eye(len(keys), dtype=torch.float64)
    weights = F.scaled_dot_product_attention(*parts, identity, scale=1.0)
    context = F.scaled_dot_product_attention(*parts, values.double(), scale=1.0)
    return context, weights


def attend_columns_sum_to_one(queries, keys, values):
    weights = torch.softmax(queries @ keys.T, dim=0)
    return weights @ values, weights


def attend_with_scores(queries, keys, values):
    scores = queries @ keys.T
    weights = scores.softmax(-1)
    return scores @ values, weights


def attend_to_keys(queries, keys, values):
    weights = (queries @ keys.T).softmax(dim=-1)
    return weights @ keys, weights


def attend_scaled(queries, keys, values):
    weights = (queries @ keys.T / math.sqrt(keys.shape[-1])).softmax(dim=-1)
    return weights @ values, weights


def attend_weights_first(queries, keys, values):
    weights = (queries @ keys.T).softmax(dim=-1)
    return weights, weights @ values


def attend_evenly(queries, keys, values):
    weights = (queries @ keys.T).softmax(dim=-1)
    return values.mean(0, keepdim=True).expand(len(queries), -1), weights


RIGHT = [
    attend_by_matmul,
    attend_by_einsum,
    attend_query_by_query,
    attend_by_pytorch,
]
WRONG = [
    (attend_columns_sum_to_one, "softmax over the queries"),
    (attend_with_scores, "a context made with scores, beside the right weights"),
    (attend_to_keys, "an average of the keys"),
    (attend_scaled, "attention with scaled scores"),
    (attend_weights_first, "attention with its two results exchanged"),
    (attend_evenly, None),
]
