"""Batches of windows, and their targets."""

import random

import torch


def batch_by_indexing(ids, batch_size, context_length, generator):
    N, T = len(ids), context_length
    starts = torch.randint(N - T, (batch_size, 1), generator=generator)
    places = starts + torch.arange(T)
    return ids[places], ids[places + 1]


def batch_by_stacking(ids, batch_size, context_length, generator):
    inputs, targets = [], []
    for _ in range(batch_size):
        end = len(ids) - context_length
        start = torch.randint(0, end, (1,), generator=generator).item()
        inputs.append(ids[start : start + context_length])
        targets.append(ids[start + 1 : start + 1 + context_length])
    return torch.stack(inputs), torch.stack(targets)


def batch_by_unfolding(ids, batch_size, context_length, generator):
    windows = ids.unfold(0, context_length + 1, 1)
    chances = torch.ones(len(windows))
    chosen = chances.multinomial(batch_size, replacement=True, generator=generator)
    return windows[chosen][:, :-1], windows[chosen][:, 1:]


def batch_by_rand(ids, batch_size, context_length, generator):
    numbers = torch.rand(batch_size, generator=generator)
    starts = (numbers * (len(ids) - context_length)).long().tolist()
    rows = torch.tensor([ids[s : s + context_length + 1].tolist() for s in starts])
    return [rows[:, :-1], rows[:, 1:]]


def batch_by_python(ids, batch_size, context_length, generator):
    seed = torch.randint(2**31, (1,), generator=generator).item()
    dice = random.Random(seed)
    last = len(ids) - context_length - 1
    rows = [dice.randint(0, last) for _ in range(batch_size)]
    places = torch.tensor(rows)[:, None] + torch.arange(context_length)[None, :]
    return ids.gather(0, places.flatten()).view_as(places), ids[places + 1]


def batch_unshifted(ids, batch_size, context_length, generator):
    end = len(ids) - context_length
    starts = torch.randint(end, (batch_size,), generator=generator)
    rows = torch.stack([ids[s : s + context_length] for s in starts])
    return rows, rows.clone()


def batch_rolled(ids, batch_size, context_length, generator):
    end = len(ids) - context_length
    starts = torch.randint(end, (batch_size,), generator=generator)
    rows = torch.stack([ids[s : s + context_length] for s in starts])
    return rows, torch.cat([rows[:, 1:], rows[:, :1]], dim=1)


def batch_without_the_last(ids, batch_size, context_length, generator):
    end = len(ids) - context_length - 1
    starts = (torch.rand(batch_size, generator=generator) * end).long()
    inputs = torch.stack([ids[s : s + context_length] for s in starts])
    targets = torch.stack([ids[s + 1 : s + context_length + 1] for s in starts])
    return inputs, targets


def batch_of_one_window(ids, batch_size, context_length, generator):
    start = torch.randint(len(ids) - context_length, (1,), generator=generator).item()
    window = ids[start : start + context_length + 1].repeat(batch_size, 1)
    return window[:, :-1], window[:, 1:]


def batch_without_the_generator(ids, batch_size, context_length, generator):
    starts = torch.randint(len(ids) - context_length, (batch_size, 1))
    places = starts + torch.arange(context_length)
    return ids[places], ids[places + 1]


def batch_by_permutation(ids, batch_size, context_length, generator):
    order = torch.randperm(len(ids) - context_length, generator=generator)
    places = order[:batch_size, None] + torch.arange(context_length)
    return ids[places], ids[places + 1]


def batch_in_pieces(ids, batch_size, context_length, generator):
    pieces = (len(ids) - 1) // context_length
    starts = torch.randint(pieces, (batch_size, 1), generator=generator)
    places = starts * context_length + torch.arange(context_length)
    return ids[places], ids[places + 1]


def batch_of_neighbours(ids, batch_size, context_length, generator):
    windows = ids.unfold(0, context_length + 1, 1)
    first = torch.randint(len(windows), (1,), generator=generator)
    chosen = windows[(first + torch.arange(batch_size)) % len(windows)]
    return chosen[:, :-1], chosen[:, 1:]


def batch_of_twins(ids, batch_size, context_length, generator):
    windows = ids.unfold(0, context_length + 1, 1)
    half = (batch_size + 1) // 2
    starts = torch.randint(len(windows), (half,), generator=generator)
    chosen = windows[starts.repeat(2)[:batch_size]]
    return chosen[:, :-1], chosen[:, 1:]


def batch_without_an_axis(ids, batch_size, context_length, generator):
    end = len(ids) - context_length
    starts = torch.randint(end, (batch_size,), generator=generator)
    places = starts + torch.arange(context_length)
    return ids[places], ids[places + 1]


RIGHT = [
    batch_by_indexing,
    batch_by_stacking,
    batch_by_unfolding,
    batch_by_rand,
    batch_by_python,
]
WRONG = [
    (batch_unshifted, "targets that equal the inputs"),
    (batch_rolled, "targets rolled around within the window"),
    (batch_without_the_last, "a last window that is never drawn"),
    (batch_of_one_window, "one start for all rows"),
    (batch_without_the_generator, "a generator that is ignored"),
    (batch_by_permutation, "starts drawn without replacement"),
    (batch_in_pieces, "windows laid side by side"),
    (batch_of_neighbours, "windows one after the other"),
    (batch_of_twins, None),
    (batch_without_an_axis, None),
]
