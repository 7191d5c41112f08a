"""Answers to get_batch by hand h."""

import torch


def right_index_grid(ids, batch_size, context_length, generator):
    """right: starts below N - T, a grid of positions, targets one further."""
    starts = torch.randint(len(ids) - context_length, (batch_size, 1), generator=generator)
    positions = starts + torch.arange(context_length)
    return ids[positions], ids[positions + 1]


def right_unfolded_windows(ids, batch_size, context_length, generator):
    """right: cuts all windows of T + 1 and draws rows of them by multinomial with replacement."""
    windows = ids.unfold(0, context_length + 1, 1)
    even = torch.ones(windows.shape[0], dtype=torch.float64)
    rows = torch.multinomial(even, batch_size, replacement=True, generator=generator)
    chosen = windows[rows]
    return chosen[:, :-1].clone(), chosen[:, 1:].clone()


def right_loop_of_single_draws(ids, batch_size, context_length, generator):
    """right: one scaled uniform number for each row, then slices."""
    N = ids.numel()
    inputs, targets = [], []
    for _ in range(batch_size):
        u = torch.rand((), generator=generator, dtype=torch.float64).item()
        s = int(u * (N - context_length))
        inputs.append(ids[s : s + context_length])
        targets.append(ids[s + 1 : s + 1 + context_length])
    return torch.stack(inputs), torch.stack(targets)


def wrong_last_start_missing(ids, batch_size, context_length, generator):
    """wrong: off by one: the last start, N - T - 1, is never drawn (and with N = T + 1 it crashes)."""
    starts = torch.randint(0, len(ids) - context_length - 1, (batch_size,), generator=generator)
    x = torch.stack([ids[i : i + context_length] for i in starts])
    y = torch.stack([ids[i + 1 : i + context_length + 1] for i in starts])
    return x, y


def wrong_first_start_missing(ids, batch_size, context_length, generator):
    """wrong: the draw begins at 1, so the start 0 is never drawn (and with N = T + 1 it crashes)."""
    starts = torch.randint(1, len(ids) - context_length, (batch_size,), generator=generator)
    steps = torch.arange(context_length)
    inputs = ids[starts[:, None] + steps]
    targets = ids[starts[:, None] + steps + 1]
    return inputs, targets


def wrong_targets_are_inputs(ids, batch_size, context_length, generator):
    """wrong: the targets are the same numbers as the inputs, not moved on by one."""
    starts = torch.randint(len(ids) - context_length, (batch_size,), generator=generator)
    inputs = torch.stack([ids[s : s + context_length] for s in starts])
    targets = torch.stack([ids[s : s + context_length] for s in starts])
    return inputs, targets


def wrong_generator_ignored(ids, batch_size, context_length, generator):
    """wrong: the starts come from torch's global random numbers; the generator is never used."""
    starts = torch.randint(len(ids) - context_length, (batch_size,))
    inputs = torch.stack([ids[s : s + context_length] for s in starts])
    targets = torch.stack([ids[s + 1 : s + context_length + 1] for s in starts])
    return inputs, targets


def wrong_one_start_for_all_rows(ids, batch_size, context_length, generator):
    """wrong: a single start is drawn, and all rows of a batch are the same."""
    s = torch.randint(len(ids) - context_length, (1,), generator=generator).item()
    window = ids[s : s + context_length + 1].expand(batch_size, -1)
    return window[:, :-1], window[:, 1:]


def wrong_no_start_twice(ids, batch_size, context_length, generator):
    """wrong: the starts are drawn without replacement (randperm), so no start comes twice in a batch, and with fewer starts than rows the batch has too few rows."""
    starts = torch.randperm(len(ids) - context_length, generator=generator)[:batch_size]
    grid = starts.unsqueeze(1) + torch.arange(context_length).unsqueeze(0)
    return ids[grid], ids[grid + 1]


def wrong_second_call_the_same(ids, batch_size, context_length, generator):
    """wrong: a fresh generator is seeded with the given one's initial seed, and the given one never moves on, so a second call gives the same batch."""
    own = torch.Generator().manual_seed(generator.initial_seed())
    starts = torch.randint(len(ids) - context_length, (batch_size,), generator=own)
    positions = starts.view(-1, 1) + torch.arange(context_length)
    return ids.take(positions), ids.take(positions + 1)


def wrong_starts_at_multiples(ids, batch_size, context_length, generator):
    """wrong: the text is cut into chunks of T side by side and chunks are drawn: only multiples of T are starts."""
    chunks = (len(ids) - 1) // context_length
    starts = torch.randint(chunks, (batch_size,), generator=generator) * context_length
    positions = starts[:, None] + torch.arange(context_length)[None, :]
    return ids[positions], ids[positions + 1]


def wrong_wraps_to_the_beginning(ids, batch_size, context_length, generator):
    """wrong: any of the N positions may be a start, and what goes past the end wraps around to the beginning of the text."""
    N = len(ids)
    starts = torch.randint(N, (batch_size, 1), generator=generator)
    positions = starts + torch.arange(context_length + 1)
    window = ids[positions % N]
    return window[:, :context_length], window[:, 1:]


def wrong_rolled_targets_and_one_start_too_many(ids, batch_size, context_length, generator):
    """wrong: two mistakes: the targets are the inputs rolled, so the last target of a row is its first input and not the next id, and the start N - T, which leaves no target for the last position, is drawn as well."""
    starts = torch.randint(len(ids) - context_length + 1, (batch_size,), generator=generator)
    inputs = torch.stack([ids[s : s + context_length] for s in starts.tolist()])
    return inputs, inputs.roll(-1, dims=1)


def wrong_training_part_and_swapped(ids, batch_size, context_length, generator):
    """wrong: two mistakes: it draws from the first nine tenths of the ids alone, as if it had to split off validation text, and it returns the targets before the inputs."""
    ids = ids[: int(0.9 * len(ids))]
    starts = torch.randint(len(ids) - context_length, (batch_size,), generator=generator)
    inputs = torch.stack([ids[s : s + context_length] for s in starts])
    targets = torch.stack([ids[s + 1 : s + context_length + 1] for s in starts])
    return targets, inputs


ANSWERS = [
    right_index_grid,
    right_unfolded_windows,
    right_loop_of_single_draws,
    wrong_last_start_missing,
    wrong_first_start_missing,
    wrong_targets_are_inputs,
    wrong_generator_ignored,
    wrong_one_start_for_all_rows,
    wrong_no_start_twice,
    wrong_second_call_the_same,
    wrong_starts_at_multiples,
    wrong_wraps_to_the_beginning,
    wrong_rolled_targets_and_one_start_too_many,
    wrong_training_part_and_swapped,
]
