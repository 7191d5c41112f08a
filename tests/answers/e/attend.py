"""Answers to attend."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def right_a_column_of_ones(queries, keys, values):
    """right: a column of ones beside the values makes the sums come out of the same product."""
    scores = torch.einsum("td,sd->ts", queries, keys)
    powers = (scores - scores.amax(1, keepdim=True)).exp()
    both = powers @ torch.cat((values, torch.ones_like(values[:, :1])), dim=1)
    total = both[:, -1:]
    return both[:, :-1] / total, powers / total


def right_numpy_double(queries, keys, values):
    """right: NumPy in float64, cast back at the end."""
    q, k, v = (x.detach().cpu().double().numpy() for x in (queries, keys, values))
    s = q.dot(k.T)
    w = np.exp(s - s.max(axis=1, keepdims=True))
    w = w / w.sum(axis=1, keepdims=True)
    return torch.from_numpy(w.dot(v)).to(values), torch.from_numpy(w).to(queries)


def right_transposed_inside(queries, keys, values):
    """right: works with everything transposed, softmax over axis 0 of (S, T), and turns the results back."""
    columns = F.softmax(keys @ queries.T, dim=0)
    context = values.T @ columns
    return context.T, columns.T


def wrong_scaled(queries, keys, values):
    """wrong: divides the scores by the root of D."""
    weights = torch.softmax(queries @ keys.T / math.sqrt(keys.shape[-1]), -1)
    return weights @ values, weights


def wrong_axis(queries, keys, values):
    """wrong: softmax over the queries (axis 0 of the (T, S) scores), so the columns sum to 1 and not the rows."""
    weights = F.softmax(torch.mm(queries, keys.t()), dim=0)
    return weights.mm(values), weights


def wrong_order_of_results(queries, keys, values):
    """wrong: returns the weights first and then the context."""
    att = (queries @ keys.T).softmax(dim=1)
    return att, att @ values


def wrong_returns_scores(queries, keys, values):
    """wrong: returns the scores in the place of the weights; the context is right."""
    scores = queries @ keys.T
    context = torch.softmax(scores, dim=-1) @ values
    return context, scores


def wrong_causal_if_square(queries, keys, values):
    """wrong: where T = S it puts a causal mask on the scores; right for T different from S."""
    scores = queries @ keys.T
    T, S = scores.shape
    if T == S:
        later = torch.ones(T, S, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -torch.inf)
    weights = scores.softmax(-1)
    return weights @ values, weights


def wrong_reshape_of_keys(queries, keys, values):
    """wrong: reshapes the keys to (D, S) where it should transpose them; right for S = 1 or D = 1."""
    S, D = keys.shape
    weights = F.softmax(queries @ keys.reshape(D, S), dim=-1)
    return weights @ values, weights


def wrong_one_maximum(queries, keys, values):
    """wrong: subtracts the maximum of the whole score matrix, not of each row; a row that lies a hundred and more below the highest score becomes 0 / 0."""
    s = queries @ keys.T
    e = torch.exp(s - s.max())
    weights = e / e.sum(dim=1, keepdim=True)
    return weights @ values, weights


def wrong_epsilon(queries, keys, values):
    """wrong: adds 0.001 to the sum that it divides by, so that the rows sum to less than 1."""
    s = queries @ keys.T
    e = torch.exp(s - s.max(dim=1, keepdim=True).values)
    weights = e / (e.sum(dim=1, keepdim=True) + 1e-3)
    return torch.matmul(weights, values), weights


def wrong_scaled_by_values_and_swapped(queries, keys, values):
    """wrong: two mistakes: divides the scores by the root of D_v, and returns the weights first."""
    weights = torch.softmax(queries @ keys.mT / values.shape[1] ** 0.5, dim=-1)
    return weights, weights @ values


ANSWERS = [
    right_a_column_of_ones, right_numpy_double, right_transposed_inside,
    wrong_scaled, wrong_axis, wrong_order_of_results, wrong_returns_scores,
    wrong_causal_if_square, wrong_reshape_of_keys, wrong_one_maximum,
    wrong_epsilon, wrong_scaled_by_values_and_swapped,
]
