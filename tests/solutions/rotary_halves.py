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


def back_as_one_head(weight, num_heads):
    rows, C = weight.shape
    return weight.view(2, -1, C).transpose(0, 1).reshape(rows, C)


def halves_of_all_heads(weight, num_heads):
    heads = weight.reshape(num_heads, -1, weight.shape[1])
    return torch.cat([heads[:, ::2], heads[:, 1::2]]).flatten(0, 1)


def by_the_columns_width(weight, num_heads):
    C = weight.shape[1]
    pairs = weight.reshape(-1, C // num_heads // 2, 2, C)
    return pairs.transpose(1, 2).reshape(weight.shape)


def swapped(weight, num_heads):
    return weight.reshape(-1, 2, weight.shape[1]).flip(1).reshape(weight.shape)


def overwriting(weight, num_heads):
    weight = weight.clone()
    D = len(weight) // num_heads
    for h in range(num_heads):
        for i in range(D // 2):
            weight[h * D + i] = weight[h * D + 2 * i]
            weight[h * D + i + D // 2] = weight[h * D + 2 * i + 1]
    return weight


def overwriting_by_slices(weight, num_heads):
    weight = weight.clone()
    D = len(weight) // num_heads
    for h in range(num_heads):
        head = weight[h * D : (h + 1) * D]
        head[: D // 2] = head[0::2]
        head[D // 2 :] = head[1::2]
    return weight


def of_the_first_head(weight, num_heads):
    result = weight.clone()
    D = len(weight) // num_heads
    for i in range(D // 2):
        result[i] = weight[2 * i]
        result[i + D // 2] = weight[2 * i + 1]
    return result


def of_all_columns(weight, num_heads):
    return torch.cat([weight[:, ::2], weight[:, 1::2]], dim=1)


RIGHT = [by_view, by_slices, by_an_index, by_loops]
WRONG = [
    (back, "the way back"),
    (as_one_head, "all heads taken for one"),
    (untouched, "the rows as they were"),
    (of_columns, "columns in place of rows"),
    (back_as_one_head, "the way back, with all heads taken for one"),
    (halves_of_all_heads, "all heads taken for one"),
    (by_the_columns_width, "heads as wide as the columns have them"),
    (swapped, "neighbours that change places"),
    (overwriting, "rows overwritten before they are read"),
    (overwriting_by_slices, "rows overwritten before they are read"),
    (of_the_first_head, "the first head alone"),
    (of_all_columns, "columns in place of rows"),
]
