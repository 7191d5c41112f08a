"""Softmax, attention by loops, attention by matrices."""

import math

import torch
import torch.nn.functional as F

# --- softmax --------------------------------------------------------------------------


def softmax_of_torch(scores):
    return torch.softmax(scores, dim=scores.dim() - 1)


def softmax_by_hand(scores):
    largest, _ = torch.max(scores, dim=-1, keepdim=True)
    powers = torch.exp(scores - largest)
    return powers / torch.sum(powers, dim=-1, keepdim=True)


def softmax_by_logarithms(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


def softmax_by_rows(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]).tolist():
        largest = max(row)
        powers = [math.exp(score - largest) for score in row]
        rows.append([power / sum(powers) for power in powers])
    return torch.tensor(rows).reshape(scores.shape)


def softmax_in_place_on_a_copy(scores):
    scores = scores.double().clone()
    scores -= scores.amax(-1).unsqueeze(-1)
    scores.exp_()
    scores /= scores.sum(-1)[..., None]
    return scores


def softmax_by_differences(scores):
    return 1 / (scores[..., None, :] - scores[..., :, None]).exp().sum(-1)


def softmax_less_the_mean(scores):
    powers = torch.exp(scores - scores.mean(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


def softmax_less_the_smallest(scores):
    powers = torch.exp(scores - scores.amin(dim=-1, keepdim=True))
    return powers / powers.sum(dim=-1, keepdim=True)


def softmax_that_overflows(scores):
    powers = torch.exp(scores)
    return powers / powers.sum(dim=-1, keepdim=True)


def softmax_with_one_maximum(scores):
    powers = torch.exp(scores - torch.max(scores))
    return powers / powers.sum(dim=-1, keepdim=True)


def softmax_down_the_columns(scores):
    powers = torch.exp(scores - scores.max(dim=0, keepdim=True).values)
    return powers / powers.sum(dim=0, keepdim=True)


def softmax_over_queries(scores):
    return F.softmax(scores, dim=-2)


def softmax_of_everything(scores):
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum()


def softmax_with_flat_sums(scores):
    largest = scores.max(dim=-1, keepdim=True).values
    powers = (scores - largest).exp()
    return powers / powers.sum(dim=-1)


def softmax_short_and_wrong(scores):
    return torch.exp(scores) / torch.exp(scores).sum()


def softmax_short_without_keepdim(scores):
    return torch.exp(scores) / torch.exp(scores).sum(dim=-1)


def softmax_without_any_keepdim(scores):
    powers = torch.exp(scores - scores.max(dim=-1).values)
    return powers / powers.sum(dim=-1)


def softmax_without_exp(scores):
    return scores / scores.sum(dim=-1, keepdim=True)


def softmax_undivided(scores):
    return torch.exp(scores - scores.max(dim=-1, keepdim=True)[0])


def softmax_as_logarithm(scores):
    return F.log_softmax(scores, dim=-1)


def softmax_divided_by_the_maximum(scores):
    scores = scores / scores.max(dim=-1, keepdim=True).values
    powers = torch.exp(scores)
    return powers / powers.sum(dim=-1, keepdim=True)


def softmax_as_sigmoid(scores):
    return 1 / (1 + torch.exp(-scores))


# --- context_by_loops -----------------------------------------------------------------


def score_table(inputs):
    T = len(inputs)
    scores = torch.zeros(T, T)
    for i in range(T):
        for j in range(T):
            for d in range(inputs.shape[1]):
                scores[i, j] += inputs[i, d] * inputs[j, d]
    return scores


def loops_all_the_way(inputs):
    T, D = inputs.shape
    weights = torch.softmax(score_table(inputs), dim=-1)
    context = torch.zeros(T, D)
    for i in range(T):
        for j in range(T):
            for d in range(D):
                context[i, d] += weights[i, j] * inputs[j, d]
    return context, weights


def loops_row_by_row(inputs):
    weights, context = [], []
    for query in inputs:
        row = torch.stack([query.dot(key) for key in inputs]).softmax(0)
        weights.append(row)
        context.append(sum(w * word for w, word in zip(row, inputs, strict=True)))
    return torch.stack(context), torch.stack(weights)


def loops_in_plain_python(inputs):
    table = inputs.tolist()
    weights, context = [], []
    for query in table:
        scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in table]
        powers = [math.exp(score - max(scores)) for score in scores]
        weights.append([power / sum(powers) for power in powers])
        pairs = list(zip(weights[-1], table, strict=True))
        context.append([sum(w * row[d] for w, row in pairs) for d in range(len(query))])
    return torch.tensor(context), torch.tensor(weights)


def no_loops_but_matrices(inputs):
    weights = F.softmax(torch.einsum("id,jd->ij", inputs, inputs).double(), dim=-1)
    return [weights.to(inputs.dtype) @ inputs, weights]


def loops_own_word(inputs):
    T = len(inputs)
    weights = score_table(inputs).softmax(-1)
    context = torch.zeros_like(inputs)
    for i in range(T):
        for j in range(T):
            context[i] += weights[i, j] * inputs[i]
    return context, weights


def loops_overwriting(inputs):
    T = len(inputs)
    weights = score_table(inputs).softmax(-1)
    context = torch.zeros_like(inputs)
    for i in range(T):
        for j in range(T):
            context[i] = weights[i, j] * inputs[j]
    return context, weights


def loops_with_a_stale_total(inputs):
    weights = score_table(inputs).softmax(-1)
    contexts = []
    total = torch.zeros(inputs.shape[1])
    for row in weights:
        for weight, word in zip(row, inputs, strict=True):
            total = total + weight * word
        contexts.append(total)
    return torch.stack(contexts), weights


def loops_over_columns(inputs):
    T = len(inputs)
    weights = score_table(inputs).softmax(-1)
    context = torch.zeros_like(inputs)
    for i in range(T):
        for j in range(T):
            context[i] += weights[j, i] * inputs[j]
    return context, weights


def loops_with_softmax_of_columns(inputs):
    weights = F.softmax(score_table(inputs), dim=0)
    return weights @ inputs, weights


def loops_without_softmax(inputs):
    scores = score_table(inputs)
    context = torch.zeros_like(inputs)
    for i, row in enumerate(scores):
        for weight, word in zip(row, inputs, strict=True):
            context[i] += weight * word
    return context, scores


def loops_with_quotients(inputs):
    scores = score_table(inputs)
    weights = torch.stack([row / row.sum() for row in scores])
    return weights @ inputs, weights


def loops_with_one_softmax(inputs):
    powers = torch.exp(score_table(inputs) - score_table(inputs).max())
    weights = powers / powers.sum()
    return weights @ inputs, weights


def loops_that_overflow(inputs):
    weights = torch.stack([row.exp() / row.exp().sum() for row in score_table(inputs)])
    return weights @ inputs, weights


def loops_with_one_maximum(inputs):
    scores = score_table(inputs)
    powers = torch.exp(scores - scores.max())
    weights = torch.stack([row / row.sum() for row in powers])
    return weights @ inputs, weights


def loops_scaled(inputs):
    weights = torch.softmax(score_table(inputs) / math.sqrt(inputs.shape[1]), dim=-1)
    return weights @ inputs, weights


def loops_weights_first(inputs):
    context, weights = loops_all_the_way(inputs)
    return weights, context


def loops_without_self(inputs):
    T = len(inputs)
    weights, context = score_table(inputs).softmax(-1), torch.zeros_like(inputs)
    for i in range(T):
        for j in range(T):
            if i != j:
                context[i] += weights[i, j] * inputs[j]
    return context, weights


# --- attend ---------------------------------------------------------------------------


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


def attend_without_softmax(queries, keys, values):
    weights = torch.matmul(queries, keys.transpose(0, 1))
    return torch.matmul(weights, values), weights


def attend_with_scores(queries, keys, values):
    scores = queries @ keys.T
    weights = scores.softmax(-1)
    return scores @ values, weights


def attend_untransposed(queries, keys, values):
    weights = (queries @ keys).softmax(dim=-1)
    return weights @ values, weights


def attend_to_keys(queries, keys, values):
    weights = (queries @ keys.T).softmax(dim=-1)
    return weights @ keys, weights


def attend_from_keys(queries, keys, values):
    weights = (keys @ queries.T).softmax(dim=-1)
    return weights @ values, weights


def attend_with_transposed_weights(queries, keys, values):
    weights = (queries @ keys.T).softmax(dim=-1)
    return weights.T @ values, weights


def attend_scaled(queries, keys, values):
    weights = (queries @ keys.T / math.sqrt(keys.shape[-1])).softmax(dim=-1)
    return weights @ values, weights


def attend_then_mean(queries, keys, values):
    weights = (queries @ keys.T).softmax(dim=-1)
    return torch.mean(weights @ values, dim=0), weights


def attend_overflowing(queries, keys, values):
    powers = torch.exp(queries @ keys.T)
    weights = powers / powers.sum(-1, keepdim=True)
    return weights @ values, weights


def attend_weights_first(queries, keys, values):
    weights = (queries @ keys.T).softmax(dim=-1)
    return weights, weights @ values


def attend_evenly(queries, keys, values):
    weights = (queries @ keys.T).softmax(dim=-1)
    return values.mean(0, keepdim=True).expand(len(queries), -1), weights


RIGHT = {
    "softmax": [
        softmax_of_torch,
        softmax_by_hand,
        softmax_by_logarithms,
        softmax_by_rows,
        softmax_by_differences,
        softmax_in_place_on_a_copy,
    ],
    "context_by_loops": [
        loops_all_the_way,
        loops_row_by_row,
        loops_in_plain_python,
        no_loops_but_matrices,
    ],
    "attend": [
        attend_by_matmul,
        attend_by_einsum,
        attend_query_by_query,
        attend_by_pytorch,
    ],
}
WRONG = {
    "softmax": [
        (
            softmax_less_the_mean,
            "softmax that subtracts another number than the maximum",
        ),
        (
            softmax_less_the_smallest,
            "softmax that subtracts another number than the maximum",
        ),
        (softmax_that_overflows, "softmax without subtracting the maximum"),
        (softmax_with_one_maximum, "softmax with one maximum for all rows"),
        (softmax_down_the_columns, "softmax over the first axis"),
        (softmax_over_queries, "softmax over the last axis but one"),
        (softmax_of_everything, "one softmax over all numbers together"),
        (softmax_with_flat_sums, "sums without keepdim=True"),
        (
            softmax_short_and_wrong,
            "one sum for all rows, and no maximum subtracted",
        ),
        (
            softmax_short_without_keepdim,
            "sums without keepdim=True, and no maximum subtracted",
        ),
        (softmax_without_any_keepdim, None),
        (softmax_without_exp, "scores divided by their sum"),
        (softmax_undivided, "exponentials that are not divided by their sum"),
        (softmax_as_logarithm, "the logarithm of softmax"),
        (
            softmax_divided_by_the_maximum,
            "softmax of scores divided by their maximum",
        ),
        (softmax_as_sigmoid, "the sigmoid of each score"),
    ],
    "context_by_loops": [
        (loops_own_word, "a context made of inputs[i] in place of inputs[j]"),
        (loops_overwriting, "a context with = in place of +="),
        (
            loops_with_a_stale_total,
            "a running sum that is not set back to zero",
        ),
        (loops_over_columns, "a context that uses column i of the weights"),
        (loops_with_softmax_of_columns, "softmax over the columns"),
        (loops_without_softmax, "scores in place of weights"),
        (loops_with_quotients, "scores divided by their sum"),
        (loops_with_one_softmax, "one softmax over the whole table"),
        (loops_that_overflow, "softmax without subtracting the maximum"),
        (loops_with_one_maximum, "softmax with one maximum for all rows"),
        (loops_scaled, "attention with scaled scores"),
        (loops_weights_first, "attention with its two results exchanged"),
        (loops_without_self, None),
    ],
    "attend": [
        (attend_columns_sum_to_one, "softmax over the queries"),
        (attend_without_softmax, "scores in place of weights"),
        (attend_with_scores, "a context made with scores, beside the right weights"),
        (attend_untransposed, "keys that are not transposed"),
        (attend_to_keys, "an average of the keys"),
        (attend_from_keys, "queries and keys exchanged"),
        (
            attend_with_transposed_weights,
            "a context that uses the columns of the weights",
        ),
        (attend_scaled, "attention with scaled scores"),
        (attend_then_mean, "one context for all queries"),
        (attend_overflowing, "softmax without subtracting the maximum"),
        (attend_weights_first, "attention with its two results exchanged"),
        (attend_evenly, None),
    ],
}
