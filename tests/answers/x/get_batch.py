import math
import torch
import torch.nn.functional as F


def right_1(ids, batch_size, context_length, generator):
    """right: stacked slices"""
    starts = torch.randint(0, ids.shape[0] - context_length, (batch_size,), generator=generator)
    inputs = torch.stack([ids[s:s + context_length] for s in starts.tolist()])
    targets = torch.stack([ids[s + 1:s + 1 + context_length] for s in starts.tolist()])
    return inputs, targets


def right_2(ids, batch_size, context_length, generator):
    """right: unfold windows of length+1"""
    windows = ids.unfold(0, context_length + 1, 1)
    which = torch.randint(len(windows), (batch_size,), generator=generator)
    chosen = windows[which]
    return chosen[:, :-1], chosen[:, 1:]


def wrong_1(ids, batch_size, context_length, generator):
    """wrong: one window too few (the -1 kept)"""
    windows = len(ids) - context_length - 1
    starts = torch.randint(windows, (batch_size, 1), generator=generator)
    positions = starts + torch.arange(context_length)
    return ids[positions], ids[positions + 1]


def wrong_2(ids, batch_size, context_length, generator):
    """wrong: one window too many (targets run over the end by one)"""
    windows = len(ids) - context_length + 1
    starts = torch.randint(windows, (batch_size, 1), generator=generator)
    positions = starts + torch.arange(context_length)
    return ids[positions], ids[positions + 1]


def wrong_3(ids, batch_size, context_length, generator):
    """wrong: roll kept, windows corrected"""
    windows = len(ids) - context_length
    starts = torch.randint(windows, (batch_size, 1), generator=generator)
    inputs = ids[starts + torch.arange(context_length)]
    return inputs, inputs.roll(-1, dims=1)


def wrong_4(ids, batch_size, context_length, generator):
    """wrong: targets are the inputs themselves, no shift by one"""
    n = len(ids) - context_length
    starts = torch.randint(n, (batch_size, 1), generator=generator)
    positions = starts + torch.arange(context_length)
    chunk = ids[positions]
    return chunk, chunk.clone()


def wrong_5(ids, batch_size, context_length, generator):
    """wrong: ignores the generator it is given"""
    starts = torch.randint(len(ids) - context_length, (batch_size, 1))
    positions = starts + torch.arange(context_length)
    return ids[positions], ids[positions + 1]


def wrong_6(ids, batch_size, context_length, generator):
    """wrong: shifts the wrong way: swaps inputs and targets"""
    starts = torch.randint(len(ids) - context_length, (batch_size, 1), generator=generator)
    positions = starts + torch.arange(context_length)
    return ids[positions + 1], ids[positions]


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
