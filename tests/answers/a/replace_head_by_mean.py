"""Answers to replace_head_by_mean by hand a."""

import torch


def right_loops(contexts, head, real):
    """right: loops over texts and positions, sum and count of the real ones in float64, then writes the mean everywhere in a clone."""
    B, H, T, D = contexts.shape
    total = torch.zeros(D, dtype=torch.float64)
    count = 0
    for b in range(B):
        for t in range(T):
            if real[b, t]:
                total = total + contexts[b, head, t].double()
                count += 1
    mean = (total / count).to(contexts.dtype)
    new = contexts.clone()
    for b in range(B):
        for t in range(T):
            new[b, head, t] = mean
    return new


def right_boolean_index(contexts, head, real):
    """right: picks the real positions by a boolean index, mean over them, assigned to the head in a clone."""
    new = contexts.clone()
    new[:, head] = contexts[:, head][real].mean(dim=0)
    return new


def right_where_and_cat(contexts, head, real):
    """right: padding replaced by 0 with where, sum over texts and positions divided by the number of real ones, then heads before, mean, heads after joined by cat."""
    mine = contexts[:, head]
    kept = torch.where(real.unsqueeze(-1), mine, torch.zeros_like(mine))
    mean = kept.flatten(0, 1).sum(dim=0) / real.sum()
    block = mean.expand_as(mine).unsqueeze(1)
    return torch.cat([contexts[:, :head], block, contexts[:, head + 1 :]], dim=1)


def wrong_padding_in_mean(contexts, head, real):
    """wrong: mean over all positions, padding included; `real` is not used."""
    new = contexts.clone()
    new[:, head] = contexts[:, head].mean(dim=(0, 1))
    return new


def wrong_mean_per_text(contexts, head, real):
    """wrong: each text gets the mean of its own real positions, not the mean over all texts."""
    new = contexts.clone()
    for b in range(contexts.shape[0]):
        own = contexts[b, head][real[b]]
        if len(own) > 0:
            new[b, head] = own.mean(dim=0)
    return new


def wrong_padding_not_replaced(contexts, head, real):
    """wrong: the mean is right, but it is written at real positions only, the padding keeps the old context."""
    B, H, T, D = contexts.shape
    mean = contexts[:, head][real].mean(dim=0)
    new = contexts.clone()
    for b in range(B):
        for t in range(T):
            if real[b, t]:
                new[b, head, t] = mean
    return new


def wrong_divided_by_all(contexts, head, real):
    """wrong: divisor, the sum over the real positions is divided by B T, not by the number of real positions."""
    B, H, T, D = contexts.shape
    total = torch.zeros(D, dtype=contexts.dtype)
    for b in range(B):
        for t in range(T):
            if real[b, t]:
                total += contexts[b, head, t]
    new = contexts.clone()
    new[:, head] = total / (B * T)
    return new


def wrong_mean_of_means(contexts, head, real):
    """wrong: takes the mean of each text and then the mean of these, so characters of short texts count more; right when all texts have equally many."""
    means = []
    for b in range(contexts.shape[0]):
        if real[b].any():
            means.append(contexts[b, head][real[b]].mean(dim=0))
    new = contexts.clone()
    new[:, head] = torch.stack(means).mean(dim=0)
    return new


def wrong_only_lengths(contexts, head, real):
    """wrong: counts the real characters of each text and takes that many positions from the beginning, so padding in front is taken for text; right when all padding is behind."""
    lengths = real.sum(dim=1).tolist()
    parts = []
    for b, n in enumerate(lengths):
        parts.append(contexts[b, head, :n])
    new = contexts.clone()
    new[:, head] = torch.cat(parts).mean(dim=0)
    return new


def wrong_slice_is_no_copy(contexts, head, real):
    """wrong: thinks contexts[:] is a copy; it shares memory, so the argument is changed in place and no new tensor is returned (the numbers are right)."""
    new = contexts[:]
    new[:, head] = contexts[:, head][real].mean(dim=0)
    return new


def wrong_others_zero_at_padding(contexts, head, real):
    """wrong: the chosen head is right, but the other heads' contexts are set to 0 at padding."""
    new = contexts.clone()
    mean = contexts[:, head][real].mean(dim=0)
    B, H, T, D = contexts.shape
    for b in range(B):
        for t in range(T):
            if not real[b, t]:
                new[b, :, t] = 0
    new[:, head] = mean
    return new


def wrong_head_from_one_and_single_number(contexts, head, real):
    """wrong: two mistakes, counts heads from 1 (uses head - 1), and takes the mean over the D components as well, so one number fills the whole head."""
    h = head - 1
    new = contexts.clone()
    new[:, h] = contexts[:, h][real].mean()
    return new


ANSWERS = [
    right_loops,
    right_boolean_index,
    right_where_and_cat,
    wrong_padding_in_mean,
    wrong_mean_per_text,
    wrong_padding_not_replaced,
    wrong_divided_by_all,
    wrong_mean_of_means,
    wrong_only_lengths,
    wrong_slice_is_no_copy,
    wrong_others_zero_at_padding,
    wrong_head_from_one_and_single_number,
]
