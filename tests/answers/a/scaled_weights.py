"""Answers to scaled_weights by hand a."""

import itertools
import math

import torch


def right_loops_over_everything(queries, keys):
    """right: loops over all leading axes, queries and keys; softmax by hand with the row's largest score taken away."""
    lead = queries.shape[:-2]
    T, D = queries.shape[-2:]
    S = keys.shape[-2]
    out = queries.new_zeros(*lead, T, S)
    for where in itertools.product(*[range(n) for n in lead]):
        q = queries[where]
        k = keys[where]
        for t in range(T):
            row = q.new_zeros(S)
            for s in range(S):
                row[s] = torch.dot(q[t], k[s]) / math.sqrt(D)
            e = torch.exp(row - row.max())
            out[where + (t,)] = e / e.sum()
    return out


def right_einsum(queries, keys):
    """right: einsum for the scores, divided by the root of the last axis, library softmax over the keys."""
    scores = torch.einsum("...td,...sd->...ts", queries, keys)
    return scores.div(queries.size(-1) ** 0.5).softmax(-1)


def right_fourth_root_twice(queries, keys):
    """right: in float64, queries and keys each times D^(-1/4), exp(s - logsumexp), cast back."""
    f = queries.shape[-1] ** -0.25
    s = (queries.double() * f) @ (keys.double() * f).mT
    w = torch.exp(s - torch.logsumexp(s, dim=-1, keepdim=True))
    return w.to(queries.dtype)


def wrong_by_D(queries, keys):
    """wrong: divides the scores by D, not by its root."""
    D = queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1) / D
    return torch.softmax(scores, dim=-1)


def wrong_softmax_over_queries(queries, keys):
    """wrong: softmax over the axis of the queries (-2), so the columns sum to 1 and not the rows."""
    D = queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(D)
    return torch.softmax(scores, dim=-2)


def wrong_divided_after_softmax(queries, keys):
    """wrong: the division by the root of D comes after softmax, so the scores are unscaled and the rows sum to 1/sqrt(D)."""
    weights = torch.softmax(queries @ keys.transpose(-2, -1), dim=-1)
    return weights / math.sqrt(queries.shape[-1])


def wrong_reshape_keys(queries, keys):
    """wrong: reshapes the keys to (..., D, S) in place of transposing the last two axes."""
    S, D = keys.shape[-2:]
    turned = keys.reshape(*keys.shape[:-2], D, S)
    return torch.softmax(queries @ turned / math.sqrt(D), dim=-1)


def wrong_whole_root(queries, keys):
    """wrong: divides by the root of D rounded down to a whole number, right only when D is a square number."""
    root = math.isqrt(queries.shape[-1])
    scores = torch.matmul(queries, keys.transpose(-2, -1)) / root
    return torch.softmax(scores, dim=-1)


def wrong_width_from_axis_one(queries, keys):
    """wrong: takes D from keys.shape[1], right without leading axes; with a batch it is S (or the number of heads), so the divisor is wrong."""
    d_k = keys.shape[1]
    scores = queries @ keys.transpose(-2, -1)
    scores = scores / d_k ** 0.5
    return scores.softmax(dim=-1)


def wrong_clamped(queries, keys):
    """wrong: clamps the scaled scores to -50 .. 50 against overflow, so large scores become ties."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(keys.shape[-1])
    e = torch.exp(scores.clamp(-50, 50))
    return e / e.sum(dim=-1, keepdim=True)


def wrong_keys_of_first_text(queries, keys):
    """wrong: all texts of a batch are scored against the keys of the first one (right without leading axes and in the first text)."""
    S, D = keys.shape[-2:]
    k = keys.reshape(-1, S, D)[0]
    scores = queries @ k.T / math.sqrt(D)
    return torch.softmax(scores, dim=-1)


def wrong_no_scaling_and_overflow(queries, keys):
    """wrong: two mistakes, no division by the root of D, and exp without taking the largest score away, so large scores overflow to nan."""
    e = (queries @ keys.transpose(-2, -1)).exp()
    return e / e.sum(-1, keepdim=True)


ANSWERS = [
    right_loops_over_everything,
    right_einsum,
    right_fourth_root_twice,
    wrong_by_D,
    wrong_softmax_over_queries,
    wrong_divided_after_softmax,
    wrong_reshape_keys,
    wrong_whole_root,
    wrong_width_from_axis_one,
    wrong_clamped,
    wrong_keys_of_first_text,
    wrong_no_scaling_and_overflow,
]
