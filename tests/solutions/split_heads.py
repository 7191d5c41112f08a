"""Split into heads."""

import torch


def split_by_view(x, num_heads):
    B, T, C = x.shape
    return x.view(B, T, num_heads, C // num_heads).transpose(1, 2)


def split_by_loops(x, num_heads):
    B, T, C = x.shape
    D = C // num_heads
    heads = torch.zeros(B, num_heads, T, D)
    for b in range(B):
        for h in range(num_heads):
            for t in range(T):
                for d in range(D):
                    heads[b, h, t, d] = x[b, t, h * D + d]
    return heads


def split_by_slices(x, num_heads):
    D = x.shape[-1] // num_heads
    parts = [x[:, :, h * D : (h + 1) * D] for h in range(num_heads)]
    return torch.stack(parts, dim=1)


def split_by_chunk(x, num_heads):
    return torch.stack(x.chunk(num_heads, dim=-1), dim=-3)


def split_by_permute(x, num_heads):
    return x.unflatten(-1, (num_heads, -1)).permute(0, 2, 1, 3).contiguous()


def split_by_einsum(x, num_heads):
    B, T, C = x.shape
    cut = x.double().reshape(B, T, num_heads, C // num_heads)
    return torch.einsum("bthd->bhtd", cut)


def split_with_view_alone(x, num_heads):
    B, T, C = x.shape
    return x.view(B, num_heads, T, C // num_heads)


def split_with_width_first(x, num_heads):
    B, T, C = x.shape
    return x.view(B, T, C // num_heads, num_heads).permute(0, 3, 1, 2)


def split_with_strides(x, num_heads):
    return torch.stack([x[..., h::num_heads] for h in range(num_heads)], dim=1)


def split_without_transpose(x, num_heads):
    B, T, C = x.shape
    x = x.view(B, T, num_heads, C // num_heads)
    x.transpose(1, 2)
    return x


def split_with_stack_in_front(x, num_heads):
    return torch.stack(torch.chunk(x, num_heads, dim=-1))


def split_into_heads_of_width_h(x, num_heads):
    return torch.stack(x.split(num_heads, dim=-1), dim=1)


def split_in_reverse(x, num_heads):
    return split_by_view(x, num_heads).flip(1)


RIGHT = [
    split_by_view,
    split_by_loops,
    split_by_slices,
    split_by_chunk,
    split_by_permute,
    split_by_einsum,
]
WRONG = [
    (split_with_view_alone, "view without the transpose"),
    (split_with_width_first, "heads that take every H-th feature"),
    (split_with_strides, "heads that take every H-th feature"),
    (split_without_transpose, "a cut without a transpose"),
    (split_with_stack_in_front, "heads in front of the batch"),
    (
        split_into_heads_of_width_h,
        "num_heads taken for the width of a head",
    ),
    (split_in_reverse, None),
]
