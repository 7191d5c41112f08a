"""Two heads by design: one looks at the word before, the other at the first word."""

import torch
import torch.nn.functional as F


def two_by_loops(vocab_size, context_length):
    V, P = vocab_size, context_length
    W_query = torch.zeros(V + P, 2 * P)
    W_key = torch.zeros(V + P, 2 * P)
    W_value = torch.zeros(V + P, 2 * V)
    for t in range(P):
        if t > 0:
            W_query[V + t, t - 1] = 1000
        W_query[V + t, P] = 1000
        W_key[V + t, t] = 1
        W_key[V + t, P + t] = 1
    for word in range(V):
        W_value[word, word] = 1
        W_value[word, V + word] = 1
    return W_query, W_key, W_value


def two_by_shifted_keys(vocab_size, context_length):
    C = vocab_size + context_length
    place = torch.eye(C)[:, vocab_size:]  # (C, P): where a token stands
    queries = torch.cat([place, F.pad(place.sum(-1, True), (0, context_length - 1))], 1)
    follows = torch.zeros(C, context_length)
    follows[vocab_size:-1, 1:] = torch.eye(context_length - 1)
    keys = torch.cat([follows, place], 1)
    words = torch.eye(C)[:, :vocab_size]
    return 30 * queries, 30 * keys, torch.cat([words, words], 1)


def two_in_wide_heads(vocab_size, context_length):
    """D is C: the keys are the tokens themselves."""
    V, C = vocab_size, vocab_size + context_length
    before, first = torch.zeros(2, C, C, dtype=torch.float64)
    before[range(V + 1, C), range(V, C - 1)] = 1
    first[V:, V] = 1
    keys = torch.eye(C, dtype=torch.float64)
    values = keys[:, :V]
    return [
        500 * torch.hstack([before, first]),
        torch.hstack([keys, keys]),
        torch.hstack([values, values]),
    ]


def two_by_stacking(vocab_size, context_length):
    nothing = torch.zeros(vocab_size, 2 * context_length)
    eye = torch.eye(context_length)
    shifted = eye.roll(-1, dims=1)
    shifted[0] = 0
    first = torch.zeros_like(eye)
    first[:, 0] = 1
    asks = torch.cat([shifted, first], dim=1)
    words = torch.eye(vocab_size).tile(2)
    unseen = torch.zeros(context_length, 2 * vocab_size)
    return (
        torch.cat([nothing, 400.0 * asks]),
        torch.cat([nothing, eye.tile(2)]),
        torch.cat([words, unseen]),
    )


def two_in_reverse_order(vocab_size, context_length):
    W_query, W_key, W_value = two_by_loops(vocab_size, context_length)
    half = torch.arange(2 * context_length).roll(context_length)
    return W_query[:, half], W_key[:, half], W_value


def two_that_share(vocab_size, context_length):
    W_query, W_key, W_value = two_by_loops(vocab_size, context_length)
    return W_query.clamp(max=1), W_key, W_value


def two_with_a_ten(vocab_size, context_length):
    W_query, W_key, W_value = two_by_stacking(vocab_size, context_length)
    return W_query / 40, W_key, W_value


def two_unshifted(vocab_size, context_length):
    W_query, W_key, W_value = two_by_loops(vocab_size, context_length)
    W_query[vocab_size:, :context_length] = 1000 * torch.eye(context_length)
    return W_query, W_key, W_value


def two_shifted_ahead(vocab_size, context_length):
    W_query, W_key, W_value = two_by_loops(vocab_size, context_length)
    ahead = torch.diag(torch.full((context_length - 1,), 1000.0), 1)
    W_query[vocab_size:, :context_length] = ahead
    return W_query, W_key, W_value


def two_the_other_way(vocab_size, context_length):
    W_query, W_key, W_value = two_by_loops(vocab_size, context_length)
    return W_key, W_query, W_value


def two_without_keys(vocab_size, context_length):
    W_query, W_key, W_value = two_by_loops(vocab_size, context_length)
    return W_query, torch.zeros_like(W_key), W_value


def two_with_a_five(vocab_size, context_length):
    W_query, W_key, W_value = two_by_stacking(vocab_size, context_length)
    return W_query / 80, W_key, W_value


def two_as_one_tensor(vocab_size, context_length):
    return torch.cat(two_by_loops(vocab_size, context_length), dim=1)


RIGHT = [two_by_loops, two_by_shifted_keys, two_in_wide_heads, two_by_stacking]
WRONG = [
    (two_in_reverse_order, "heads in each other's places"),
    (two_that_share, "weights that aren't sharp"),
    (two_with_a_ten, "weights that aren't sharp"),
    (two_unshifted, "a head 0 that looks at its own word"),
    (two_shifted_ahead, "a head 0 whose queries meet no key"),
    (two_the_other_way, "queries that meet no key"),
    (two_without_keys, "queries that meet no key"),
    (two_with_a_five, "weights that aren't sharp"),
    (two_as_one_tensor, None),
]
