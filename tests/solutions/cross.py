"""Cross-attention, without and with padding."""

import math

import torch
import torch.nn.functional as F

# --- cross_attention ------------------------------------------------------------------


def cross_by_matrices(x, context, W_query, W_key, W_value):
    queries = x @ W_query
    keys = context @ W_key
    values = context @ W_value
    scores = queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5
    weights = torch.softmax(scores, dim=-1)
    return weights @ values, weights


def cross_by_einsum(x, context, W_query, W_key, W_value):
    queries = torch.einsum("btq,qd->btd", x, W_query / math.sqrt(W_query.shape[1]))
    keys = torch.einsum("bsc,cd->bsd", context, W_key)
    weights = torch.einsum("btd,bsd->bts", queries, keys).softmax(-1)
    attended = torch.einsum("bts,bsc,cv->btv", weights, context, W_value)
    return [attended, weights]


def cross_by_loops(x, context, W_query, W_key, W_value):
    B, T, _ = x.shape
    S, D = context.shape[1], W_key.shape[1]
    weights = torch.zeros(B, T, S)
    attended = torch.zeros(B, T, W_value.shape[1])
    for b in range(B):
        for t in range(T):
            query = x[b, t] @ W_query
            scores = [query @ (context[b, s] @ W_key) / D**0.5 for s in range(S)]
            weights[b, t] = torch.stack(scores).softmax(dim=0)
            for s in range(S):
                attended[b, t] += weights[b, t, s] * (context[b, s] @ W_value)
    return attended, weights


def cross_by_pytorch(x, context, W_query, W_key, W_value):
    queries, keys = x @ W_query, context @ W_key
    attended = F.scaled_dot_product_attention(queries, keys, context @ W_value)
    weights = (queries @ keys.mT / math.sqrt(keys.size(-1))).softmax(-1)
    return attended, weights


def cross_in_double(x, context, W_query, W_key, W_value):
    scores = (x.double() @ W_query.double()) @ (context.double() @ W_key.double()).mT
    weights = (scores / W_key.shape[-1] ** 0.5).softmax(-1)
    return weights @ context.double() @ W_value.double(), weights


def from_parts(queries, keys, values, divisor=None, dim=-1):
    scores = queries @ keys.mT / (divisor or keys.shape[-1] ** 0.5)
    weights = F.softmax(scores, dim=dim)
    return weights @ values, weights


def cross_with_keys_of_x(x, context, W_query, W_key, W_value):
    return from_parts(x @ W_query, x @ W_key, context @ W_value)


def cross_with_values_of_x(x, context, W_query, W_key, W_value):
    return from_parts(x @ W_query, context @ W_key, x @ W_value)


def cross_within_x(x, context, W_query, W_key, W_value):
    return from_parts(x @ W_query, x @ W_key, x @ W_value)


def cross_within_the_context(x, context, W_query, W_key, W_value):
    return from_parts(context @ W_query, context @ W_key, context @ W_value)


def cross_with_exchanged_roles(x, context, W_query, W_key, W_value):
    return from_parts(context @ W_query, x @ W_key, x @ W_value)


def cross_with_columns_of_one(x, context, W_query, W_key, W_value):
    return from_parts(x @ W_query, context @ W_key, context @ W_value, dim=1)


def cross_unscaled(x, context, W_query, W_key, W_value):
    weights = ((x @ W_query) @ (context @ W_key).transpose(-1, -2)).softmax(-1)
    return weights @ (context @ W_value), weights


def cross_scaled_by_d(x, context, W_query, W_key, W_value):
    D = W_query.shape[1]
    return from_parts(x @ W_query, context @ W_key, context @ W_value, D)


def cross_scaled_by_askers(x, context, W_query, W_key, W_value):
    root = math.sqrt(W_query.shape[0])
    return from_parts(x @ W_query, context @ W_key, context @ W_value, root)


def cross_scaled_by_answers(x, context, W_query, W_key, W_value):
    root = context.size(2) ** 0.5
    return from_parts(x @ W_query, context @ W_key, context @ W_value, root)


def cross_with_a_causal_mask(x, context, W_query, W_key, W_value):
    keys = context @ W_key
    scores = x @ W_query @ keys.mT / math.sqrt(keys.shape[-1])
    future = torch.ones_like(scores).triu(1).bool()
    weights = scores.masked_fill(future, -torch.inf).softmax(-1)
    return weights @ (context @ W_value), weights


def cross_without_values(x, context, W_query, W_key, W_value):
    return from_parts(x @ W_query, context @ W_key, context)


def cross_with_results_exchanged(x, context, W_query, W_key, W_value):
    attended, weights = cross_by_matrices(x, context, W_query, W_key, W_value)
    return weights, attended


# --- padded_cross_attention -----------------------------------------------------------


def padded_by_masked_fill(queries, keys, values, lengths):
    S, D = keys.shape[-2:]
    mask = (torch.arange(S) < lengths.unsqueeze(1)).unsqueeze(1)
    scores = queries @ keys.transpose(-2, -1) / D**0.5
    weights = scores.masked_fill(~mask, -torch.inf).softmax(-1)
    return weights @ values, weights


def padded_by_loops(queries, keys, values, lengths):
    B, T, D = queries.shape
    weights = torch.zeros(B, T, keys.shape[1])
    attended = torch.zeros(B, T, values.shape[2])
    for b, length in enumerate(lengths.tolist()):
        for t in range(T):
            scores = keys[b, :length] @ queries[b, t] / math.sqrt(D)
            weights[b, t, :length] = torch.softmax(scores, dim=0)
            attended[b, t] = weights[b, t, :length] @ values[b, :length]
    return attended, weights


def padded_by_addition(queries, keys, values, lengths):
    scores = torch.einsum("btd,bsd->bts", queries, keys) / queries.shape[-1] ** 0.5
    bias = torch.zeros_like(scores)
    for b in range(len(lengths)):
        bias[b, :, lengths[b] :] = float("-inf")
    weights = F.softmax(scores + bias, dim=-1)
    return torch.bmm(weights, values), weights


def padded_by_pytorch(queries, keys, values, lengths):
    mask = torch.arange(keys.shape[1]).expand(len(lengths), 1, -1)
    mask = mask < lengths.view(-1, 1, 1)
    attended = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    eye = torch.eye(keys.shape[1]).expand(len(lengths), -1, -1)
    weights = F.scaled_dot_product_attention(queries, keys, eye, attn_mask=mask)
    return attended, weights


def padded_by_cutting(queries, keys, values, lengths):
    rows = []
    for query, key, length in zip(queries, keys, lengths, strict=True):
        real = (query @ key[:length].T / key.shape[-1] ** 0.5).double().softmax(-1)
        rows.append(F.pad(real, (0, len(key) - int(length))))
    weights = torch.stack(rows)
    return weights @ values.double(), weights


def padded_with_a_huge_number(queries, keys, values, lengths):
    scores = queries @ keys.mT / math.sqrt(keys.shape[-1])
    hidden = torch.arange(keys.shape[1])[None, None] >= lengths[:, None, None]
    weights = scores.masked_fill(hidden, -1e9).softmax(dim=-1)
    return weights @ values, weights


def real_keys(keys, lengths):
    return (torch.arange(keys.shape[1])[None, :] < lengths[:, None])[:, None, :]


def finish(scores, values):
    weights = scores.softmax(-1)
    return weights @ values, weights


def scaled(queries, keys):
    return queries @ keys.mT / keys.shape[-1] ** 0.5


def padded_result_dropped(queries, keys, values, lengths):
    scores = scaled(queries, keys)
    scores.masked_fill(~real_keys(keys, lengths), -torch.inf)
    return finish(scores, values)


def padded_inverted(queries, keys, values, lengths):
    mask = real_keys(keys, lengths)
    return finish(scaled(queries, keys).masked_fill(mask, -torch.inf), values)


def padded_on_the_queries(queries, keys, values, lengths):
    scores = scaled(queries, keys)
    for b, length in enumerate(lengths):
        scores[b, length:, :] = -torch.inf
    return finish(scores, values)


def padded_one_too_many(queries, keys, values, lengths):
    hidden = torch.arange(keys.shape[1])[None, None] > lengths[:, None, None]
    return finish(scaled(queries, keys).masked_fill(hidden, -torch.inf), values)


def padded_one_too_few(queries, keys, values, lengths):
    scores = scaled(queries, keys)
    for b, length in enumerate(lengths):
        scores[b, :, length - 1 :] = -torch.inf
    return finish(scores, values)


def padded_like_the_first(queries, keys, values, lengths):
    scores = scaled(queries, keys)
    scores[:, :, lengths[0] :] = -torch.inf
    return finish(scores, values)


def padded_like_the_longest(queries, keys, values, lengths):
    scores = scaled(queries, keys)
    scores[:, :, max(lengths) :] = float("-inf")
    return finish(scores, values)


def padded_without_the_axis(queries, keys, values, lengths):
    mask = torch.arange(keys.shape[1]) < lengths[:, None]
    return finish(torch.where(mask, scaled(queries, keys), -torch.inf), values)


def padded_values_only(queries, keys, values, lengths):
    values = values.clone()
    for b, length in enumerate(lengths):
        values[b, length:] = 0
    return finish(scaled(queries, keys), values)


def padded_weights_zeroed(queries, keys, values, lengths):
    _, weights = finish(scaled(queries, keys), values)
    weights = weights.masked_fill(~real_keys(keys, lengths), 0.0)
    return weights @ values, weights


def padded_weights_renormalised(queries, keys, values, lengths):
    weights = scaled(queries, keys).softmax(-1) * real_keys(keys, lengths)
    weights = weights / weights.sum(dim=-1, keepdim=True)
    return weights @ values, weights


def padded_scores_zeroed(queries, keys, values, lengths):
    return finish(scaled(queries, keys) * real_keys(keys, lengths), values)


def padded_keys_zeroed(queries, keys, values, lengths):
    real = real_keys(keys, lengths).transpose(1, 2)
    return finish(scaled(queries, keys.masked_fill(~real, 0.0)), values)


def padded_unscaled(queries, keys, values, lengths):
    scores = torch.bmm(queries, keys.transpose(1, 2))
    return finish(scores.masked_fill(~real_keys(keys, lengths), -torch.inf), values)


def padded_with_a_low_number(queries, keys, values, lengths):
    padding = ~real_keys(keys, lengths)
    return finish(scaled(queries, keys).masked_fill(padding, -1000.0), values)


def padded_with_a_penalty(queries, keys, values, lengths):
    padding = ~real_keys(keys, lengths)
    return finish(scaled(queries, keys) - 10_000.0 * padding, values)


def padded_times_infinity(queries, keys, values, lengths):
    padding = ~real_keys(keys, lengths)
    return finish(scaled(queries, keys) + padding * -torch.inf, values)


def padded_in_front(queries, keys, values, lengths):
    mask = real_keys(keys, lengths).flip(-1)
    return finish(scaled(queries, keys).masked_fill(~mask, -torch.inf), values)


RIGHT = {
    "cross_attention": [
        cross_by_matrices,
        cross_by_einsum,
        cross_by_loops,
        cross_by_pytorch,
        cross_in_double,
    ],
    "padded_cross_attention": [
        padded_by_masked_fill,
        padded_by_loops,
        padded_by_addition,
        padded_by_pytorch,
        padded_by_cutting,
        padded_with_a_huge_number,
    ],
}
WRONG = {
    "cross_attention": [
        (cross_with_keys_of_x, "keys made from x"),
        (cross_with_values_of_x, "values made from x"),
        (cross_within_x, "self-attention of x"),
        (cross_within_the_context, "self-attention of the context"),
        (
            cross_with_exchanged_roles,
            "x and the context with their roles exchanged",
        ),
        (cross_with_columns_of_one, "softmax over the queries"),
        (cross_unscaled, "attention without scaling"),
        (cross_scaled_by_d, "scores divided by D instead of its square root"),
        (
            cross_scaled_by_askers,
            "scores divided by the square root of d_query",
        ),
        (
            cross_scaled_by_answers,
            "scores divided by the square root of d_context",
        ),
        (cross_with_a_causal_mask, "cross-attention with a causal mask"),
        (cross_without_values, "context rows averaged without W_value"),
        (cross_with_results_exchanged, None),
    ],
    "padded_cross_attention": [
        (padded_with_a_low_number, None),
        (padded_with_a_penalty, None),
        (padded_times_infinity, "minus infinity times 0"),
        (padded_result_dropped, "attention without a mask"),
        (padded_inverted, "a mask with its meaning inverted"),
        (padded_on_the_queries, "a mask that hides queries instead of keys"),
        (padded_one_too_many, "a mask that opens one row of filler"),
        (padded_one_too_few, "a mask that hides the last real key"),
        (padded_like_the_first, "the first context's mask for all"),
        (padded_like_the_longest, "the longest context's mask for all"),
        (padded_without_the_axis, "a mask without an axis for the queries"),
        (padded_values_only, "values zeroed, weights kept"),
        (
            padded_weights_zeroed,
            "weights zeroed after softmax, not divided by their sum",
        ),
        (
            padded_weights_renormalised,
            "weights zeroed after softmax, then divided by their sum",
        ),
        (padded_scores_zeroed, "scores of the filler set to 0"),
        (padded_keys_zeroed, "scores of the filler set to 0"),
        (padded_unscaled, "a right mask on scores that were not scaled"),
        (padded_in_front, None),
    ],
}
