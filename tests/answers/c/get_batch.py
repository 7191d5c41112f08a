"""Answers to get batch by hand c."""

import torch


def right_one_gather(ids, batch_size, context_length, generator):
    """right: randint over the N - T starts, one gather of T + 1 ids a row, cut into inputs and targets."""
    starts = torch.randint(len(ids) - context_length, (batch_size, 1), generator=generator)
    rows = ids[starts + torch.arange(context_length + 1)]
    return rows[:, :-1], rows[:, 1:]


def right_rand_floor(ids, batch_size, context_length, generator):
    """right: float64 uniform numbers times the number of starts, floored, written row by row into new tensors."""
    n = ids.shape[0] - context_length
    u = torch.rand(batch_size, dtype=torch.float64, generator=generator)
    x = ids.new_empty(batch_size, context_length)
    y = ids.new_empty(batch_size, context_length)
    for row, s in enumerate((u * n).long().clamp_(max=n - 1).tolist()):
        x[row] = ids[s:s + context_length]
        y[row] = ids[s + 1:s + 1 + context_length]
    return x, y


def right_unfold(ids, batch_size, context_length, generator):
    """right: all windows of T + 1 by unfold, one draw for each row, the rows from last to first."""
    windows = ids.unfold(0, context_length + 1, 1)
    picks = [int(torch.randint(0, len(windows), (), generator=generator)) for _ in range(batch_size)]
    chunk = windows[torch.tensor(picks[::-1], dtype=torch.long)]
    return chunk[:, :context_length].contiguous(), chunk[:, 1:].contiguous()


def wrong_exchanged(ids, batch_size, context_length, generator):
    """wrong: returns the targets first and the inputs second."""
    starts = torch.randint(len(ids) - context_length, (batch_size, 1), generator=generator)
    rows = ids[starts + torch.arange(context_length + 1)]
    return rows[:, 1:], rows[:, :-1]


def wrong_rolled_targets(ids, batch_size, context_length, generator):
    """wrong: makes the targets by rolling the inputs by one, so the last target of each row is the row's first input."""
    starts = torch.randint(len(ids) - context_length, (batch_size,), generator=generator)
    x = ids[starts[:, None] + torch.arange(context_length)]
    return x, x.roll(-1, dims=1)


def wrong_global_rng(ids, batch_size, context_length, generator):
    """wrong: doesn't use the generator but PyTorch's global random numbers, so the same seed gives other batches."""
    ix = torch.randint(len(ids) - context_length, (batch_size,))
    x = torch.stack([ids[i:i + context_length] for i in ix.tolist()])
    y = torch.stack([ids[i + 1:i + 1 + context_length] for i in ix.tolist()])
    return x, y


def wrong_one_start(ids, batch_size, context_length, generator):
    """wrong: draws a single start for the whole batch, all rows are the same."""
    s = torch.randint(len(ids) - context_length, (1,), generator=generator).item()
    x = ids[s:s + context_length].expand(batch_size, -1)
    y = ids[s + 1:s + context_length + 1].expand(batch_size, -1)
    return x.clone(), y.clone()


def wrong_wraps_round(ids, batch_size, context_length, generator):
    """wrong: draws from all N starts and wraps round at the end of the text (index modulo N), so rows near the end go on with its beginning."""
    starts = torch.randint(len(ids), (batch_size, 1), generator=generator)
    rows = ids[(starts + torch.arange(context_length + 1)) % len(ids)]
    return rows[:, :-1], rows[:, 1:]


def wrong_copied_generator(ids, batch_size, context_length, generator):
    """wrong: draws from a copy of the generator, whose own state doesn't move on, so a second call gives the same batch again."""
    g = torch.Generator()
    g.set_state(generator.get_state())
    starts = torch.randint(len(ids) - context_length, (batch_size, 1), generator=g)
    rows = ids[starts + torch.arange(context_length + 1)]
    return rows[:, :-1], rows[:, 1:]


def wrong_no_repeats(ids, batch_size, context_length, generator):
    """wrong: draws the starts without replacement (randperm), so none comes twice, and there are too few rows where batch_size is larger than N - T."""
    starts = torch.randperm(len(ids) - context_length, generator=generator)[:batch_size]
    rows = ids[starts[:, None] + torch.arange(context_length + 1)]
    return rows[:, :-1], rows[:, 1:]


def wrong_last_start_missing(ids, batch_size, context_length, generator):
    """wrong: off by one: never draws the last start N - T - 1, except where it is the only one."""
    n = max(1, len(ids) - context_length - 1)
    starts = torch.randint(n, (batch_size, 1), generator=generator)
    rows = ids[starts + torch.arange(context_length + 1)]
    return rows[:, :-1], rows[:, 1:]


def wrong_start_zero_and_no_shift(ids, batch_size, context_length, generator):
    """wrong: two mistakes: never draws the start 0 (where there is another), and the targets aren't moved by one: they are the inputs."""
    n = len(ids) - context_length
    starts = torch.randint(min(1, n - 1), n, (batch_size, 1), generator=generator)
    x = ids[starts + torch.arange(context_length)]
    return x, x.clone()


ANSWERS = [
    right_one_gather, right_rand_floor, right_unfold,
    wrong_exchanged, wrong_rolled_targets, wrong_global_rng, wrong_one_start,
    wrong_wraps_round, wrong_copied_generator, wrong_no_repeats,
    wrong_last_start_missing, wrong_start_zero_and_no_shift,
]
