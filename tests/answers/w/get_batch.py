import torch


def batch_stacked(ids, batch_size, context_length, generator):
    """right: draws starts below N - context_length and stacks slices."""
    starts = torch.randint(len(ids) - context_length, (batch_size,), generator=generator)
    inputs = torch.stack([ids[s : s + context_length] for s in starts])
    targets = torch.stack([ids[s + 1 : s + context_length + 1] for s in starts])
    return inputs, targets


def batch_indexed(ids, batch_size, context_length, generator):
    """right: a table of places, starts plus 0 to context_length, read at once and cut twice."""
    n_starts = ids.shape[0] - context_length
    start = torch.randint(0, n_starts, (batch_size, 1), generator=generator)
    chunk = ids[start + torch.arange(context_length + 1)]
    return chunk[:, :-1], chunk[:, 1:]


def batch_minus_one(ids, batch_size, context_length, generator):
    """wrong: the upper limit of randint is one too small, so the last start is never drawn (and N = context_length + 1 is an error)."""
    last = len(ids) - context_length - 1
    starts = torch.randint(0, last, (batch_size,), generator=generator)
    x = torch.stack([ids[i:i + context_length] for i in starts])
    y = torch.stack([ids[i + 1:i + 1 + context_length] for i in starts])
    return x, y


def batch_randperm(ids, batch_size, context_length, generator):
    """wrong: a permutation never repeats a start, and there are too few rows if batch_size is larger than the number of starts."""
    starts = torch.randperm(len(ids) - context_length, generator=generator)[:batch_size]
    inputs = torch.stack([ids[s:s + context_length] for s in starts])
    targets = torch.stack([ids[s + 1:s + context_length + 1] for s in starts])
    return inputs, targets


def batch_rolled(ids, batch_size, context_length, generator):
    """wrong: rolls the inputs for the targets, so the last target of each row is its own first character."""
    starts = torch.randint(len(ids) - context_length, (batch_size,), generator=generator)
    inputs = torch.stack([ids[s:s + context_length] for s in starts.tolist()])
    targets = torch.roll(inputs, shifts=-1, dims=1)
    return inputs, targets


def batch_one_start(ids, batch_size, context_length, generator):
    """wrong: draws one start before the loop, so all rows of the batch are the same."""
    start = torch.randint(0, len(ids) - context_length, (1,), generator=generator).item()
    inputs = []
    targets = []
    for _ in range(batch_size):
        inputs.append(ids[start:start + context_length])
        targets.append(ids[start + 1:start + context_length + 1])
    return torch.stack(inputs), torch.stack(targets)


def batch_two_draws(ids, batch_size, context_length, generator):
    """wrong: draws new starts for the targets, so they don't belong to the inputs."""
    def draw():
        return torch.randint(len(ids) - context_length, (batch_size,), generator=generator)

    offsets = torch.arange(context_length)
    inputs = ids[draw()[:, None] + offsets]
    targets = ids[draw()[:, None] + offsets + 1]
    return inputs, targets


def batch_reseeds(ids, batch_size, context_length, generator):
    """wrong: sets the generator back to its seed at every call, so a second call draws the same batch again."""
    generator.manual_seed(generator.initial_seed())
    N = ids.numel()
    starts = torch.randint(0, N - context_length, (batch_size,), generator=generator)
    rows = [ids[s:s + context_length + 1] for s in starts]
    rows = torch.stack(rows)
    return rows[:, :context_length], rows[:, 1:]


ANSWERS = [
    batch_stacked,
    batch_indexed,
    batch_minus_one,
    batch_randperm,
    batch_rolled,
    batch_one_start,
    batch_two_draws,
    batch_reseeds,
]
