"""Answers to two heads."""

import math

import torch


def _plain(vocab_size, context_length):
    """Three empty matrices for heads of width D = context_length, values filled in."""
    C = vocab_size + context_length
    W_query = torch.zeros(C, 2 * context_length)
    W_key = torch.zeros(C, 2 * context_length)
    words = torch.eye(C, vocab_size)
    return W_query, W_key, torch.cat((words, words), dim=1)


def right_one_hot_positions(vocab_size, context_length):
    """right: D = context_length; head 0 asks for position t - 1 (rolled round, so the first asks for the last, which it can't see), head 1 for position 0."""
    V, D = vocab_size, context_length
    W_query, W_key, W_value = _plain(V, D)
    strong = 40 * math.sqrt(D)
    W_query[V:, :D] = torch.eye(D).roll(-1, dims=1) * strong
    W_query[V:, D] = strong
    W_key[V:] = torch.eye(D).repeat(1, 2)
    return W_query, W_key, W_value


def right_width_one(vocab_size, context_length):
    """right: D = 1; keys of growing size and alternating sign, so that of all positions up to t the one before t has the greatest product."""
    V, L = vocab_size, context_length
    W_query = torch.zeros(V + L, 2)
    W_key = torch.zeros(V + L, 2)
    for p in range(L):
        W_query[V + p, 0] = 20 if p % 2 else -20
        W_key[V + p, 0] = -(p + 1) if p % 2 else p + 1
    W_query[:V, 1] = 50
    W_key[V, 1] = 1
    W_value = torch.zeros(V + L, 2 * V)
    for word in range(V):
        W_value[word, word] = W_value[word, V + word] = 1
    return W_query, W_key, W_value


def right_by_penalty(vocab_size, context_length):
    """right: D = context_length + 3; every key but the wanted one gets a large negative score, and queries have numbers in three columns where no key has any."""
    V, L = vocab_size, context_length
    D = L + 3
    big = 60 * math.sqrt(D)
    W_query = torch.zeros(V + L, 2, D)
    W_key = torch.zeros(V + L, 2, D)
    W_query[:, 0, L:] = 7.5
    W_key[V:, 0, :L] = 1 - torch.eye(L)
    for t in range(1, L):
        W_query[V + t, 0, t - 1] = -big
    W_query[:V, 1, 2] = big
    W_key[V + 1:, 1, 2] = -1
    W_value = torch.zeros(V + L, 2, V)
    W_value[:V] = torch.eye(V).unsqueeze(1)
    return W_query.flatten(1), W_key.flatten(1), W_value.flatten(1)


def wrong_heads_exchanged(vocab_size, context_length):
    """wrong: the heads are exchanged: head 0 looks at the first word, head 1 at the word before."""
    V, D = vocab_size, context_length
    W_query, W_key, W_value = _plain(V, D)
    strong = 40 * D ** 0.5
    W_key[V:, :D] = torch.eye(D)
    W_key[V:, D:] = torch.eye(D)
    W_query[V:, 0] = strong
    for t in range(1, D):
        W_query[V + t, D + t - 1] = strong
    return W_query, W_key, W_value


def wrong_looks_at_itself(vocab_size, context_length):
    """wrong: head 0 looks at the word itself (position t), not at the one before."""
    V, D = vocab_size, context_length
    W_query, W_key, W_value = _plain(V, D)
    W_key[V:] = torch.cat((torch.eye(D), torch.eye(D)), 1)
    W_query[V:, :D] = torch.eye(D) * 40 * D ** 0.5
    W_query[V:, D] = 40 * D ** 0.5
    return W_query, W_key, W_value


def wrong_columns_interleaved(vocab_size, context_length):
    """wrong: head 0 has the even columns of W_query and W_key and head 1 the odd ones, not the left and the right half; W_value is right."""
    V, D = vocab_size, context_length
    C = V + D
    query = torch.zeros(C, D, 2)
    key = torch.zeros(C, D, 2)
    key[V:] = torch.eye(D).unsqueeze(-1)
    for t in range(D):
        query[V + t, max(t - 1, 0), 0] = 40 * math.sqrt(D)
        query[V + t, 0, 1] = 40 * math.sqrt(D)
    words = torch.eye(C, V)
    return query.reshape(C, 2 * D), key.reshape(C, 2 * D), torch.hstack((words, words))


def wrong_scores_of_one(vocab_size, context_length):
    """wrong: the right pattern with ones only, so the scores differ by 1 / root of D and the weights spread over all words."""
    V, D = vocab_size, context_length
    W_query, W_key, W_value = _plain(V, D)
    W_key[V:] = torch.eye(D).repeat(1, 2)
    W_query[V + 1:, :D - 1] = torch.eye(D - 1)
    W_query[V:, D] = 1
    return W_query, W_key, W_value


def wrong_forgets_the_root(vocab_size, context_length):
    """wrong: makes the products 20 and forgets that they are divided by the root of D = context_length: for a long context less than 99.5% of the weight lies on the right word."""
    V, D = vocab_size, context_length
    W_query, W_key, W_value = _plain(V, D)
    W_key[V:] = torch.eye(D).repeat(1, 2)
    for t in range(D):
        W_query[V + t, max(0, t - 1)] = 20
        W_query[V + t, D] = 20
    return W_query, W_key, W_value


def wrong_last_position_forgotten(vocab_size, context_length):
    """wrong: the loop over the positions ends one too early, so that in head 0 the last position of a sentence that fills the context has no query, and looks at all words evenly."""
    V, D = vocab_size, context_length
    W_query, W_key, W_value = _plain(V, D)
    W_key[V:] = torch.eye(D).repeat(1, 2)
    strong = 40 * math.sqrt(D)
    for t in range(1, D - 1):
        W_query[V + t, t - 1] = strong
    W_query[V:, D] = strong
    return W_query, W_key, W_value


def wrong_word_zero_asks_nothing(vocab_size, context_length):
    """wrong: in head 1 the query comes from the word's columns, but word 0 is left out: where it stands, head 1 looks at all words evenly; right for sentences without word 0."""
    V, D = vocab_size, context_length
    W_query, W_key, W_value = _plain(V, D)
    W_key[V:] = torch.eye(D).repeat(1, 2)
    strong = 40 * math.sqrt(D)
    W_query[V + 1:, :D - 1] = strong * torch.eye(D - 1)
    W_query[1:V, D] = strong
    return W_query, W_key, W_value


def wrong_width_of_vocabulary(vocab_size, context_length):
    """wrong: takes vocab_size as the width that one-hot positions need: head 0 can't find a word that stands at position vocab_size or later; right where context_length <= vocab_size."""
    V, L = vocab_size, context_length
    D = V
    W_query = torch.zeros(V + L, 2 * D)
    W_key = torch.zeros(V + L, 2 * D)
    W_key[V:, :D] = torch.eye(L, D)
    W_key[V:, D:] = torch.eye(L, D)
    W_query[V + 1:, :D] = torch.eye(L - 1, D) * 40 * math.sqrt(D)
    W_query[V:, D] = 40 * math.sqrt(D)
    words = torch.eye(V + L, V)
    return W_query, W_key, torch.cat((words, words), 1)


def wrong_key_and_value_of_head_one(vocab_size, context_length):
    """wrong: two mistakes: head 1 looks for word 0 of the vocabulary and not for the word at position 0, and its half of W_value is empty."""
    V, D = vocab_size, context_length
    W_query, W_key, W_value = _plain(V, D)
    strong = 40 * math.sqrt(D)
    W_key[V:, :D] = torch.eye(D)
    W_key[0, D] = 1
    for t in range(1, D):
        W_query[V + t, t - 1] = strong
    W_query[V:, D] = strong
    W_value[:, V:] = 0
    return W_query, W_key, W_value


ANSWERS = [
    right_one_hot_positions, right_width_one, right_by_penalty,
    wrong_heads_exchanged, wrong_looks_at_itself, wrong_columns_interleaved,
    wrong_scores_of_one, wrong_forgets_the_root, wrong_last_position_forgotten,
    wrong_word_zero_asks_nothing, wrong_width_of_vocabulary,
    wrong_key_and_value_of_head_one,
]
