"""A projection's rows, from pairs to halves."""

import torch


def by_view(weight, num_heads):
    rows, C = weight.shape
    D = rows // num_heads
    pairs = weight.view(num_heads, D // 2, 2, C)
    return pairs.transpose(1, 2).reshape(rows, C)


def by_slices(weight, num_heads):
    heads = weight.chunk(num_heads)
    return torch.cat([torch.cat([head[0::2], head[1::2]]) for head in heads])


def by_an_index(weight, num_heads):
    D = len(weight) // num_heads
    order = [*range(0, D, 2), *range(1, D, 2)]
    return weight[[D * h + i for h in range(num_heads) for i in order]]


def by_loops(weight, num_heads):
    D = weight.shape[0] // num_heads
    result = torch.empty_like(weight)
    for h in range(num_heads):
        for i in range(D // 2):
            result[h * D + i] = weight[h * D + 2 * i]
            result[h * D + i + D // 2] = weight[h * D + 2 * i + 1]
    return result


def back(weight, num_heads):
    rows, C = weight.shape
    return weight.view(num_heads, 2, -1, C).transpose(1, 2).reshape(rows, C)


def as_one_head(weight, num_heads):
    return torch.cat([weight[0::2], weight[1::2]])


def untouched(weight, num_heads):
    return weight.clone()


def of_columns(weight, num_heads):
    D = weight.shape[1] // num_heads
    order = [*range(0, D, 2), *range(1, D, 2)]
    return weight[:, [D * h + i for h in range(num_heads) for i in order]]


RIGHT = [by_view, by_slices, by_an_index, by_loops]
WRONG = [
    (back, "the way back"),
    (as_one_head, "all heads taken for one"),
    (untouched, "the rows as they were"),
    (of_columns, "columns in place of rows"),
]
