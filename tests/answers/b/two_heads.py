"""Answers to two_heads by hand b."""

import math

import numpy as np
import torch


def _word_values(vocab_size, context_length):
    """Both heads hand over the word: rows of positions are 0."""
    one = torch.cat([torch.eye(vocab_size), torch.zeros(context_length, vocab_size)])
    return torch.cat([one, one], dim=1)


def right_one_column_per_position(vocab_size, context_length):
    """right: D = L; query t asks for position t - 1 (head 0) or 0 (head 1), key j answers with j; strength 30 after scaling."""
    V, L = vocab_size, context_length
    D = L
    strength = 30 * math.sqrt(D)
    W_query = torch.zeros(V + L, 2 * D)
    W_key = torch.zeros(V + L, 2 * D)
    W_value = torch.zeros(V + L, 2 * V)
    for t in range(L):
        W_query[V + t, max(t - 1, 0)] = strength
        W_key[V + t, t] = 1
        W_query[V + t, D] = strength
    W_key[V, D] = 1
    for w in range(V):
        W_value[w, w] = 1
        W_value[w, V + w] = 1
    return W_query, W_key, W_value


def right_parabola(vocab_size, context_length):
    """right: D = 2; head 0 scores -12 (j - (t - 1))^2 up to a constant of the row, head 1 scores -12 j."""
    c = 12.0 * 2**0.5
    j = torch.arange(context_length, dtype=torch.float32)
    zero = torch.zeros_like(j)
    one = torch.ones_like(j)
    query = torch.stack([2 * c * (j - 1), c * one, c * one, zero], dim=1)
    key = torch.stack([j, -j * j, -j, zero], dim=1)
    nothing = torch.zeros(vocab_size, 4)
    return torch.cat([nothing, query]), torch.cat([nothing, key]), _word_values(vocab_size, context_length)


def right_shifted_keys(vocab_size, context_length):
    """right: D = C; head 0 shifts the keys, not the queries (key j answers with j + 1); head 1 asks by the words, which all ask for position 0."""
    V, L = vocab_size, context_length
    C = V + L
    s = 40.0 * np.sqrt(C)
    Q = np.zeros((C, 2 * C))
    K = np.zeros((C, 2 * C))
    Q[V:, V:C] = s * np.eye(L)
    K[V:, V:C] = np.eye(L, k=1)
    Q[:V, C] = s
    K[V, C] = 1.0
    values = np.vstack([np.hstack([np.eye(V), np.eye(V)]), np.zeros((L, 2 * V))])
    return tuple(torch.tensor(m, dtype=torch.float32) for m in (Q, K, values))


def wrong_looks_at_itself(vocab_size, context_length):
    """wrong: head 0 looks at the word itself (position t), not at the one before (t - 1)."""
    V, L = vocab_size, context_length
    D = L
    q = torch.zeros(V + L, 2 * D)
    k = torch.zeros(V + L, 2 * D)
    q[V:, :D] = torch.eye(L) * 30 * D**0.5
    k[V:, :D] = torch.eye(L)
    q[V:, D] = 30 * D**0.5
    k[V, D] = 1
    return q, k, _word_values(V, L)


def wrong_heads_exchanged(vocab_size, context_length):
    """wrong: the heads are exchanged: head 0 looks at the first word, head 1 at the word before."""
    V, L = vocab_size, context_length
    D = L
    s = 30 * math.sqrt(D)
    W_query = torch.zeros(V + L, 2 * D)
    W_key = torch.zeros(V + L, 2 * D)
    W_query[V:, 0] = s
    W_key[V, 0] = 1
    for t in range(L):
        W_query[V + t, D + max(0, t - 1)] = s
        W_key[V + t, D + t] = 1
    return W_query, W_key, _word_values(V, L)


def wrong_key_before_query(vocab_size, context_length):
    """wrong: returns W_key first and W_query second; the design itself is right."""
    W_query, W_key, W_value = right_one_column_per_position(vocab_size, context_length)
    return W_key, W_query, W_value


def wrong_position_columns_first(vocab_size, context_length):
    """wrong: takes a token's columns as position first, then word, in all three matrices."""
    V, L = vocab_size, context_length
    Q, K, values = right_one_column_per_position(V, L)
    order = list(range(V, V + L)) + list(range(V))
    return Q[order], K[order], values[order]


def wrong_fixed_strength(vocab_size, context_length):
    """wrong: the strength is 20 whatever D = L is, so after the division by the root of D too little weight is on the right word in contexts of 8 words or more."""
    V, L = vocab_size, context_length
    Q = np.zeros((V + L, 2 * L), dtype=np.float32)
    K = np.zeros((V + L, 2 * L), dtype=np.float32)
    Q[V:, :L] = 20 * np.eye(L, k=-1)
    Q[V, 0] = 20
    K[V:, :L] = np.eye(L)
    Q[V:, L] = 20
    K[V, L] = 1
    return torch.from_numpy(Q), torch.from_numpy(K), _word_values(V, L)


def wrong_second_word(vocab_size, context_length):
    """wrong: the loop for head 0 starts at position 2, so the second word (position 1) asks for nothing and spreads its weight evenly."""
    V, L = vocab_size, context_length
    D = L
    s = 30 * math.sqrt(D)
    W_query, W_key = torch.zeros(V + L, 2 * D), torch.zeros(V + L, 2 * D)
    for t in range(2, L):
        W_query[V + t, t - 1] = s
    for t in range(L):
        W_key[V + t, t] = 1
        W_query[V + t, D] = s
    W_key[V, D] = 1
    return W_query, W_key, _word_values(V, L)


def wrong_first_in_vocabulary(vocab_size, context_length):
    """wrong: head 1 looks for the vocabulary's first word (row 0 of W_key), not for the word at position 0."""
    V, L = vocab_size, context_length
    Q, K, values = right_one_column_per_position(V, L)
    K[V, L] = 0
    K[0, L] = 1
    return Q, K, values


def wrong_infinite_strength(vocab_size, context_length):
    """wrong: the design is right, but the strength in W_query is inf, "as strong as can be": 0 times inf makes the queries nan, and so scores and weights."""
    Q, K, values = right_one_column_per_position(vocab_size, context_length)
    return torch.where(Q > 0, torch.full_like(Q, math.inf), Q), K, values


def wrong_two_back_one_silent(vocab_size, context_length):
    """wrong: two mistakes: head 0 looks two words back, not one, and head 1 hands over nothing (its half of W_value is 0)."""
    V, L = vocab_size, context_length
    D = L
    s = 30 * math.sqrt(D)
    W_query, W_key = torch.zeros(V + L, 2 * D), torch.zeros(V + L, 2 * D)
    for t in range(L):
        W_query[V + t, max(t - 2, 0)] = s
        W_key[V + t, t] = 1
        W_query[V + t, D] = s
    W_key[V, D] = 1
    W_value = torch.zeros(V + L, 2 * V)
    W_value[:V, :V] = torch.eye(V)
    return W_query, W_key, W_value


ANSWERS = [
    right_one_column_per_position,
    right_parabola,
    right_shifted_keys,
    wrong_looks_at_itself,
    wrong_heads_exchanged,
    wrong_key_before_query,
    wrong_position_columns_first,
    wrong_fixed_strength,
    wrong_second_word,
    wrong_first_in_vocabulary,
    wrong_infinite_strength,
    wrong_two_back_one_silent,
]
