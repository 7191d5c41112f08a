"""Merge the heads."""

import torch


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


def merge_along_the_tokens(heads):
    return torch.cat([heads[:, h] for h in range(heads.shape[1])], dim=1)


def merge_by_adding(heads):
    total = torch.zeros_like(heads[:, 0])
    for head in heads.unbind(dim=1):
        total = total + head
    return total


RIGHT = [
    merge_by_view,
    merge_by_reshape,
    merge_by_cat,
    merge_by_loops,
    merge_by_einsum,
]
WRONG = [
    (merge_with_view_alone, "a merge that doesn't transpose back"),
    (merge_without_contiguous, "a view of transposed axes without a copy"),
    (merge_with_contiguous_dropped, "a view of transposed axes without a copy"),
    (merge_features_in_turn, "features of different heads in turn"),
    (merge_with_last_axes_swapped, "a transpose of tokens and features"),
    (merge_along_the_tokens, "heads one below the other"),
    (merge_by_adding, "heads added up"),
]
