"""Answers to two_heads by hand i."""

import math

import torch


def right_position_one_hots(vocab_size, context_length):
    """right: D = context_length, one-hot positions, filled by loops; the strength takes the root of D into account."""
    V, T = vocab_size, context_length
    C, D = V + T, T
    strength = 30 * math.sqrt(D)
    W_query, W_key = torch.zeros(C, 2 * D), torch.zeros(C, 2 * D)
    W_value = torch.zeros(C, 2 * V)
    for p in range(T):
        W_key[V + p, p] = 1
        W_key[V + p, D + p] = 1
        W_query[V + p, max(p - 1, 0)] = strength
        W_query[V + p, D] = strength
    for w in range(V):
        W_value[w, w] = 1
        W_value[w, V + w] = 1
    return W_query, W_key, W_value


def right_angles(vocab_size, context_length):
    """right: D = 2, positions are angles on a half circle, and a query points to the angle one position before (head 0) or at angle 0 (head 1)."""
    V, T = vocab_size, context_length
    step = math.pi / max(T, 2)
    place = torch.arange(T, dtype=torch.float64)

    def on_circle(angle):
        return torch.stack([angle.cos(), angle.sin()], dim=1)

    strength = 20 * math.sqrt(2) / (1 - math.cos(step))
    words = torch.zeros(V, 4, dtype=torch.float64)
    key = on_circle(step * place)
    query = torch.cat([on_circle(step * (place - 1)), on_circle(0 * place)], dim=1)
    W_query = torch.cat([words, strength * query]).float()
    W_key = torch.cat([words, torch.cat([key, key], dim=1)]).float()
    eye = torch.eye(V)
    W_value = torch.cat([torch.cat([eye, eye], dim=1), torch.zeros(T, 2 * V)])
    return W_query, W_key, W_value


def right_rolled_identity(vocab_size, context_length):
    """right: D = C, the first half of the width stays unused, a rolled identity for head 0 (position 0 asks for the last one, which the mask hides), and every word of head 1 asks through its word's row."""
    V, T = vocab_size, context_length
    C = V + T
    eye = torch.eye(C)
    back = torch.zeros(C, C)
    back[V:, V:] = torch.roll(torch.eye(T), -1, dims=1)
    start = torch.zeros(C, C)
    start[:V, V] = 1  # any word asks for position 0
    W_query = 25 * C**0.5 * torch.hstack([back, start])
    W_key = torch.hstack([eye, eye])
    W_value = torch.hstack([eye[:, :V], eye[:, :V]])
    return W_query, W_key, W_value


def _design(V, T, ask_before, ask_first, strength):
    """Put two heads of width T together from the queries of positions."""
    none = torch.zeros(V, T)
    W_query = strength * torch.cat(
        [torch.cat([none, ask_before]), torch.cat([none, ask_first])], dim=1
    )
    key = torch.cat([none, torch.eye(T)])
    word = torch.cat([torch.eye(V), torch.zeros(T, V)])
    return W_query, torch.cat([key, key], dim=1), torch.cat([word, word], dim=1)


def _before(T):
    ask = torch.diag(torch.ones(T - 1), -1)
    ask[0, 0] = 1
    return ask


def _first(T):
    ask = torch.zeros(T, T)
    ask[:, 0] = 1
    return ask


def wrong_heads_swapped(vocab_size, context_length):
    """wrong: the heads are swapped: head 0 looks at the first word, head 1 at the word before."""
    T = context_length
    return _design(vocab_size, T, _first(T), _before(T), 40 * math.sqrt(T))


def wrong_too_weak(vocab_size, context_length):
    """wrong: the right places are asked for, but all entries are 1, so the score is only 1/sqrt(D) and the weights stay nearly uniform."""
    T = context_length
    return _design(vocab_size, T, _before(T), _first(T), 1.0)


def wrong_root_of_d_forgotten(vocab_size, context_length):
    """wrong: a fixed strength of 15 that forgets the division by sqrt(D): with D = context_length the weights are sharp enough for a context_length of up to 5, but too soft from 6 on."""
    T = context_length
    return _design(vocab_size, T, _before(T), _first(T), 15.0)


def wrong_head_0_at_itself(vocab_size, context_length):
    """wrong: head 0 looks at the word itself instead of the word before (query and key both the plain position); head 1 is right."""
    V, T = vocab_size, context_length
    D = T
    W_query, W_key = torch.zeros(V + T, 2 * D), torch.zeros(V + T, 2 * D)
    W_query[V:, :D] = torch.eye(T) * 40 * D**0.5
    W_key[V:, :D] = torch.eye(T)
    W_query[V:, D] = 40 * D**0.5
    W_key[V, D] = 1
    W_value = torch.zeros(V + T, 2 * V)
    W_value[:V, :V] = torch.eye(V)
    W_value[:V, V:] = torch.eye(V)
    return W_query, W_key, W_value


def wrong_head_0_at_next(vocab_size, context_length):
    """wrong: head 0's shift goes the wrong way: each position asks for the next one, which the causal mask hides, so its weight is spread evenly over what is left."""
    V, T = vocab_size, context_length
    ask_next = torch.eye(T).roll(1, dims=1)
    ask_next[-1] = 0
    return _design(V, T, ask_next, _first(T), 50.0 * T**0.5)


def wrong_interleaved_heads(vocab_size, context_length):
    """wrong: the columns of the two heads alternate (head 0 has the even columns, head 1 the odd ones) instead of head 0 having the left half."""
    V, T = vocab_size, context_length
    W_query, W_key, W_value = _design(V, T, _before(T), _first(T), 40 * math.sqrt(T))

    def weave(W):
        left, right = W.chunk(2, dim=1)
        return torch.stack([left, right], dim=2).reshape(W.shape)

    return weave(W_query), weave(W_key), weave(W_value)


def wrong_positions_come_first(vocab_size, context_length):
    """wrong: the rows are laid out as if the position's columns came before the word's columns, in all three matrices."""
    V, T = vocab_size, context_length
    matrices = _design(V, T, _before(T), _first(T), 40 * math.sqrt(T))
    return tuple(torch.cat([W[V:], W[:V]]) for W in matrices)


def wrong_last_position_forgotten(vocab_size, context_length):
    """wrong: a loop that ends one too early (range(1, T - 1)) leaves head 0's query of the last position at 0, so there the weights are uniform; seen only in sentences as long as the context."""
    V, T = vocab_size, context_length
    ask = torch.zeros(T, T)
    ask[0, 0] = 1
    for p in range(1, T - 1):
        ask[p, p - 1] = 1
    return _design(V, T, ask, _first(T), 40 * math.sqrt(T))


def wrong_word_0_for_position_0(vocab_size, context_length):
    """wrong: head 1's key is set in row 0, which is word 0, instead of row vocab_size, which is position 0: head 1 looks for the word number 0 wherever it stands (evenly over all if it is absent)."""
    V, T = vocab_size, context_length
    W_query, W_key, W_value = _design(V, T, _before(T), _first(T), 40 * math.sqrt(T))
    W_key[:, T:] = 0
    W_key[0, T] = 1
    return W_query, W_key, W_value


def wrong_linear_decay_and_head_1_hands_over_nothing(vocab_size, context_length):
    """wrong: two mistakes: head 1 merely prefers early positions by a key that falls linearly with the position, so weakly (about 2 per step after the root of D) that the second word keeps more than 10 percent; and head 1 hands over nothing (its columns of W_value are 0)."""
    V, T = vocab_size, context_length
    W_query, W_key, W_value = _design(V, T, _before(T), _first(T), 40 * math.sqrt(T))
    W_key[:, T:] = 0
    W_key[V:, T] = -torch.arange(T) / 20
    W_value[:, V:] = 0
    return W_query, W_key, W_value


def wrong_infinite_strength(vocab_size, context_length):
    """wrong: right places, but query and key entries are 1e25 each to be safe, so their products overflow float32 to infinity and softmax gives NaN."""
    V, T = vocab_size, context_length
    W_query, W_key, W_value = _design(V, T, _before(T), _first(T), 1e25)
    return W_query, W_key * 1e25, W_value


def wrong_linear_layer_layout(vocab_size, context_length):
    """wrong: all three matrices are transposed, (H D, C) and (H vocab_size, C), as nn.Linear keeps them."""
    V, T = vocab_size, context_length
    return tuple(W.T for W in _design(V, T, _before(T), _first(T), 40 * math.sqrt(T)))


ANSWERS = [
    right_position_one_hots,
    right_angles,
    right_rolled_identity,
    wrong_heads_swapped,
    wrong_too_weak,
    wrong_root_of_d_forgotten,
    wrong_head_0_at_itself,
    wrong_head_0_at_next,
    wrong_interleaved_heads,
    wrong_positions_come_first,
    wrong_last_position_forgotten,
    wrong_word_0_for_position_0,
    wrong_linear_decay_and_head_1_hands_over_nothing,
    wrong_infinite_strength,
    wrong_linear_layer_layout,
]
