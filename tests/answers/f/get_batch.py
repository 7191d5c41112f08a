"""Answers to a batch of any text: get_batch."""

import torch


def right_stack_slices(ids, batch_size, context_length, generator):
    """right: randint over the N - T starts, slices stacked."""
    starts = torch.randint(
        0, len(ids) - context_length, (batch_size,), generator=generator
    ).tolist()
    inputs = torch.stack([ids[s : s + context_length] for s in starts])
    targets = torch.stack([ids[s + 1 : s + 1 + context_length] for s in starts])
    return inputs, targets


def right_all_windows(ids, batch_size, context_length, generator):
    """right: all windows of T + 1 by unfold, then one randint draw for each row after the other."""
    windows = ids.unfold(0, context_length + 1, 1)
    picked = []
    for _ in range(batch_size):
        n = torch.randint(windows.shape[0], (), generator=generator)
        picked.append(windows[n])
    picked = torch.stack(picked)
    return picked[:, :-1].clone(), picked[:, 1:].clone()


def right_rand_times_number(ids, batch_size, context_length, generator):
    """right: float64 uniform numbers times the number of starts, rounded down; a grid of places by broadcasting."""
    number = ids.numel() - context_length
    u = torch.rand(batch_size, 1, dtype=torch.float64, generator=generator)
    first = (u * number).floor().long().clamp(max=number - 1)
    grid = first + torch.arange(context_length)[None, :]
    return ids.take(grid), ids.take(grid + 1)


def wrong_last_start_never(ids, batch_size, context_length, generator):
    """wrong: takes one off too many (N - T - 1 starts; randint leaves its upper end out), so the last start is never drawn."""
    ix = torch.randint(len(ids) - context_length - 1, (batch_size,), generator=generator)
    x = torch.stack([ids[i : i + context_length] for i in ix])
    y = torch.stack([ids[i + 1 : i + context_length + 1] for i in ix])
    return x, y


def wrong_targets_not_shifted(ids, batch_size, context_length, generator):
    """wrong: the targets are the same windows as the inputs, not shifted by one."""
    n = ids.shape[0] - context_length
    where = torch.randint(n, (batch_size, 1), generator=generator) + torch.arange(context_length)
    inputs = ids[where]
    targets = ids[where]
    return inputs, targets


def wrong_global_randomness(ids, batch_size, context_length, generator):
    """wrong: never uses the generator but PyTorch's global random numbers, so the same seed gives other batches."""
    T = context_length
    starts = torch.randint(0, len(ids) - T, (batch_size,))
    inputs = torch.stack([ids[s:s + T] for s in starts])
    targets = torch.stack([ids[s + 1:s + T + 1] for s in starts])
    return inputs, targets


def wrong_seeds_again(ids, batch_size, context_length, generator):
    """wrong: sets the generator back to its seed at each call, so a second call gives the same batch."""
    generator.manual_seed(generator.initial_seed())
    starts = torch.randint(len(ids) - context_length, (batch_size, 1), generator=generator)
    offsets = torch.arange(context_length + 1).view(1, -1)
    both = ids[starts + offsets]
    return both[:, :-1], both[:, 1:]


def wrong_around_the_end(ids, batch_size, context_length, generator):
    """wrong: draws from all N places and goes on at the beginning of the text after its end (modulo N), so some starts leave no true target."""
    N = len(ids)
    starts = torch.randint(N, (batch_size, 1), generator=generator)
    place = (starts + torch.arange(context_length)) % N
    return ids[place], ids[(place + 1) % N]


def wrong_no_start_twice(ids, batch_size, context_length, generator):
    """wrong: draws with randperm, so a start never comes twice, and where there are fewer starts than rows, rows are missing."""
    starts = torch.randperm(len(ids) - context_length, generator=generator)[:batch_size]
    chunk = torch.stack([ids[int(s) : int(s) + context_length + 1] for s in starts])
    return chunk[:, :context_length], chunk[:, 1:]


_left_over = {}


def wrong_deck_of_starts(ids, batch_size, context_length, generator):
    """wrong: keeps a shuffled deck of starts from call to call and deals from it, so the batch depends on earlier calls and not on the generator alone, and no start repeats until all are dealt."""
    n = len(ids) - context_length
    deck = _left_over.setdefault(n, [])
    starts = []
    while len(starts) < batch_size:
        if not deck:
            deck.extend(torch.randperm(n, generator=generator).tolist())
        starts.append(deck.pop())
    x = torch.stack([ids[s : s + context_length] for s in starts])
    y = torch.stack([ids[s + 1 : s + context_length + 1] for s in starts])
    return x, y


def wrong_rows_follow_on(ids, batch_size, context_length, generator):
    """wrong: draws only the first row's start; each further row starts one place after the row before (modulo the number of starts)."""
    number = len(ids) - context_length
    first = int(torch.randint(number, (1,), generator=generator))
    inputs = torch.empty(batch_size, context_length, dtype=ids.dtype)
    targets = torch.empty_like(inputs)
    for row in range(batch_size):
        s = (first + row) % number
        inputs[row] = ids[s : s + context_length]
        targets[row] = ids[s + 1 : s + 1 + context_length]
    return inputs, targets


def wrong_chunks_and_exchanged(ids, batch_size, context_length, generator):
    """wrong: two mistakes: draws only starts that are multiples of the context length, and returns the targets first, then the inputs."""
    chunks = (len(ids) - 1) // context_length
    starts = torch.randint(chunks, (batch_size,), generator=generator) * context_length
    a = torch.stack([ids[s : s + context_length] for s in starts])
    b = torch.stack([ids[s + 1 : s + 1 + context_length] for s in starts])
    return b, a


ANSWERS = [
    right_stack_slices,
    right_all_windows,
    right_rand_times_number,
    wrong_last_start_never,
    wrong_targets_not_shifted,
    wrong_global_randomness,
    wrong_seeds_again,
    wrong_around_the_end,
    wrong_no_start_twice,
    wrong_deck_of_starts,
    wrong_rows_follow_on,
    wrong_chunks_and_exchanged,
]
