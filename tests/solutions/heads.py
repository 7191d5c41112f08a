"""Split into heads, and merge again."""

import torch

# --- split_heads ----------------------------------------------------------------------


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


def split_with_last_axes_swapped(x, num_heads):
    B, T, C = x.shape
    return x.reshape(B, T, num_heads, C // num_heads).transpose(-1, -2)


def split_with_outer_axes_swapped(x, num_heads):
    B, T, C = x.shape
    return x.reshape(B, T, num_heads, C // num_heads).permute(0, 3, 2, 1)


def split_with_stack_in_front(x, num_heads):
    return torch.stack(torch.chunk(x, num_heads, dim=-1))


def split_into_heads_of_width_h(x, num_heads):
    return torch.stack(x.split(num_heads, dim=-1), dim=1)


def split_of_one_sequence(x, num_heads):
    T = x.size(1)
    return x.contiguous().view(T, num_heads, -1).permute(1, 0, 2)


def split_that_repeats(x, num_heads):
    return torch.stack([x for _ in range(num_heads)], dim=1)


def split_in_reverse(x, num_heads):
    return split_by_view(x, num_heads).flip(1)


# --- merge_heads ----------------------------------------------------------------------


def merge_by_view(heads):
    B, H, T, D = heads.shape
    return heads.transpose(1, 2).contiguous().view(B, T, H * D)


def merge_by_reshape(heads):
    return heads.permute(0, 2, 1, 3).reshape(heads.shape[0], heads.shape[2], -1)


def merge_by_cat(heads):
    return torch.cat(list(heads.unbind(dim=1)), dim=-1)


def merge_by_loops(heads):
    B, H, T, D = heads.shape
    merged = torch.empty(B, T, H * D, dtype=torch.float64)
    for h in range(H):
        for d in range(D):
            merged[:, :, h * D + d] = heads[:, h, :, d]
    return merged


def merge_by_einsum(heads):
    return torch.einsum("bhtd->bthd", heads).flatten(2)


def merge_with_view_alone(heads):
    B, H, T, D = heads.shape
    return heads.view(B, T, H * D)


def merge_without_contiguous(heads):
    B, H, T, D = heads.size()
    heads = heads.permute(0, 2, 1, 3)
    return heads.view(B, T, H * D)


def merge_with_contiguous_dropped(heads):
    B, H, T, D = heads.shape
    context = heads.transpose(1, 2)
    context.contiguous()
    return context.view(B, T, H * D)


def merge_features_in_turn(heads):
    return torch.stack(list(heads.unbind(dim=1)), dim=-1).flatten(2)


def merge_with_last_axes_swapped(heads):
    B, H, T, D = heads.shape
    return heads.transpose(-1, -2).contiguous().view(B, T, H * D)


def merge_with_outer_axes_swapped(heads):
    B, H, T, D = heads.shape
    return heads.permute(0, 3, 2, 1).contiguous().view(B, T, H * D)


def merge_along_the_tokens(heads):
    return torch.cat([heads[:, h] for h in range(heads.shape[1])], dim=1)


def merge_with_nothing_joined(heads):
    return heads.permute(0, 2, 1, 3).contiguous()


def merge_of_everything(heads):
    B, H, T, D = heads.shape
    return heads.transpose(1, 2).reshape(B * T, H * D)


def merge_by_adding(heads):
    total = torch.zeros_like(heads[:, 0])
    for head in heads.unbind(dim=1):
        total = total + head
    return total


def merge_by_the_mean(heads):
    return heads.mean(dim=1)


RIGHT = {
    "split_heads": [
        split_by_view,
        split_by_loops,
        split_by_slices,
        split_by_chunk,
        split_by_permute,
        split_by_einsum,
    ],
    "merge_heads": [
        merge_by_view,
        merge_by_reshape,
        merge_by_cat,
        merge_by_loops,
        merge_by_einsum,
    ],
}
WRONG = {
    "split_heads": [
        (split_with_view_alone, "view without the transpose"),
        (split_with_width_first, "heads that take every H-th feature"),
        (split_with_strides, "heads that take every H-th feature"),
        (split_without_transpose, "a cut without a transpose"),
        (split_with_last_axes_swapped, "a transpose of heads and features"),
        (split_with_outer_axes_swapped, "a transpose of tokens and features"),
        (split_with_stack_in_front, "heads in front of the batch"),
        (
            split_into_heads_of_width_h,
            "num_heads taken for the width of a head",
        ),
        (split_of_one_sequence, "a split without a batch"),
        (split_that_repeats, "all features for every head"),
        (split_in_reverse, None),
    ],
    "merge_heads": [
        (merge_with_view_alone, "a merge that doesn't transpose back"),
        (merge_without_contiguous, "a view of transposed axes without a copy"),
        (merge_with_contiguous_dropped, "a view of transposed axes without a copy"),
        (merge_features_in_turn, "features of different heads in turn"),
        (merge_with_last_axes_swapped, "a transpose of tokens and features"),
        (merge_with_outer_axes_swapped, "a transpose of heads and features"),
        (merge_along_the_tokens, "heads one below the other"),
        (merge_with_nothing_joined, "a transpose without a merge"),
        (merge_of_everything, "a merge of sequences, too"),
        (merge_by_adding, "heads added up"),
        (merge_by_the_mean, None),
    ],
}
