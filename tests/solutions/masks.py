"""Masks: causal, sliding window, padding."""

import torch

# --- causal_mask ----------------------------------------------------------------------


def causal_by_loops(T):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(t + 1):
            mask[t, s] = True
    return mask


def causal_by_tril(T):
    return torch.tril(torch.ones(T, T)).bool()


def causal_by_comparison(T):
    places = torch.arange(T)
    return places.unsqueeze(1) >= places


def causal_from_lists(T):
    return torch.tensor([[s <= t for s in range(T)] for t in range(T)])


def causal_by_negation(T):
    return ~torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)


def causal_for_pytorch_mha(T):
    return torch.triu(torch.ones(T, T), diagonal=1) == 1


def causal_columns_first(T):
    places = torch.arange(T)
    return places[None, :] >= places[:, None]


def causal_strict(T):
    places = torch.arange(T)
    return places[:, None] > places[None, :]


def causal_off_by_one(T):
    places = torch.arange(T)
    return places[:, None] + 1 >= places[None, :]


def causal_integers(T):
    return torch.tril(torch.ones(T, T, dtype=torch.long))


def causal_additive(T):
    mask = torch.zeros(T, T)
    for t in range(T):
        mask[t, t + 1 :] = float("-inf")
    return mask


def causal_result_dropped(T):
    mask = torch.ones(T, T, dtype=torch.bool)
    mask.tril()
    return mask


def causal_as_float(T):
    return torch.tril(torch.ones(T, T))


# --- sliding_window_mask --------------------------------------------------------------


def window_by_loops(T, window):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(max(0, t - window + 1), t + 1):
            mask[t, s] = True
    return mask


def window_by_triangles(T, window):
    ones = torch.ones(T, T)
    return (ones.tril() - ones.tril(-window)).bool()


def window_by_comparison(T, window):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    return (s <= t) & (t - s < window)


def window_by_triu(T, window):
    full = torch.ones(T, T, dtype=torch.bool)
    return full.tril() & full.triu(1 - window)


def window_too_wide(T, window):
    full = torch.ones(T, T, dtype=torch.bool)
    return full.tril() & full.triu(-window)


def window_too_narrow(T, window):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    return (s <= t) & (t - s < window - 1)


def window_two_sided(T, window):
    t, s = torch.arange(T)[:, None], torch.arange(T)
    return (t - s).abs() < window


def window_forgotten(T, window):
    return torch.ones(T, T).tril().bool()


def window_ahead(T, window):
    return window_by_comparison(T, window).T


def window_negated(T, window):
    return ~window_by_loops(T, window)


def window_without_self(T, window):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        for s in range(max(0, t - window), t):
            mask[t, s] = True
    return mask


def window_in_blocks(T, window):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        start = t - t % window
        mask[t, start : t + 1] = True
    return mask


# --- padding_mask ---------------------------------------------------------------------


def padding_by_comparison(lengths, S):
    return (torch.arange(S) < lengths.unsqueeze(1)).unsqueeze(1)


def padding_by_loops(lengths, S):
    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)
    for b, length in enumerate(lengths.tolist()):
        mask[b, 0, :length] = True
    return mask


def padding_from_lists(lengths, S):
    rows = [[[s < length for s in range(S)]] for length in lengths.tolist()]
    return torch.tensor(rows)


def padding_by_negation(lengths, S):
    is_padding = torch.arange(S)[None, :] >= lengths[:, None]
    return ~is_padding[:, None, :]


def padding_for_pytorch_mha(lengths, S):
    return (torch.arange(S)[None, :] >= lengths[:, None])[:, None, :]


def padding_off_by_one(lengths, S):
    return (torch.arange(S)[None, :] <= lengths[:, None])[:, None, :]


def padding_counted_from_one(lengths, S):
    return (torch.arange(1, S + 1)[None, :] < lengths[:, None])[:, None, :]


def padding_without_axis(lengths, S):
    mask = torch.zeros(len(lengths), S, dtype=torch.bool)
    for b, length in enumerate(lengths.tolist()):
        mask[b, :length] = True
    return mask


def padding_of_queries(lengths, S):
    return (torch.arange(S)[None, :] < lengths[:, None])[:, :, None]


def padding_on_the_left(lengths, S):
    return padding_by_comparison(lengths, S).flip(-1)


def padding_as_numbers(lengths, S):
    return (torch.arange(S) < lengths.unsqueeze(1)).unsqueeze(1).to(torch.float32)


def padding_of_the_longest(lengths, S):
    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)
    mask[:, :, : int(lengths.max())] = True
    return mask


RIGHT = {
    "causal_mask": [
        causal_by_loops,
        causal_by_tril,
        causal_by_comparison,
        causal_from_lists,
        causal_by_negation,
    ],
    "sliding_window_mask": [
        window_by_loops,
        window_by_triangles,
        window_by_comparison,
        window_by_triu,
    ],
    "padding_mask": [
        padding_by_comparison,
        padding_by_loops,
        padding_from_lists,
        padding_by_negation,
    ],
}
WRONG = {
    "causal_mask": [
        (causal_for_pytorch_mha, "a mask with its meaning inverted"),
        (causal_columns_first, "the upper triangle in place of the lower one"),
        (causal_strict, "a mask that hides each token from itself"),
        (causal_off_by_one, "a mask that opens one key of the future"),
        (causal_as_float, "a mask of numbers"),
        (causal_integers, None),
        (causal_additive, "a mask to be added to the scores"),
        (causal_result_dropped, "a mask that hides nothing"),
    ],
    "sliding_window_mask": [
        (window_too_wide, "a window that is one key too wide"),
        (window_too_narrow, "a window that is one key too narrow"),
        (window_two_sided, "a window to both sides"),
        (window_forgotten, "a causal mask without a window"),
        (window_ahead, "a window into the future"),
        (window_negated, "the keys that the window should hide"),
        (window_without_self, "a window without the token itself"),
        (window_in_blocks, "windows laid side by side"),
    ],
    "padding_mask": [
        (padding_for_pytorch_mha, "a mask that is True at the padding"),
        (padding_off_by_one, "a mask that opens one key too many"),
        (padding_counted_from_one, "a mask that hides the last key of each sequence"),
        (padding_without_axis, "a mask without an axis for the queries"),
        (padding_of_queries, "a mask that hides queries instead of keys"),
        (padding_on_the_left, "a mask with the padding in front"),
        (padding_as_numbers, "a mask of numbers"),
        (padding_of_the_longest, "one mask for all sequences"),
    ],
}
