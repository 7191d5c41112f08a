import torch


def merge_transpose(heads):
    """right: swaps H and T back and reshapes."""
    B, H, T, D = heads.shape
    return heads.transpose(1, 2).reshape(B, T, H * D)


def merge_cat(heads):
    """right: concatenates the heads one by one along the features."""
    merged = heads[:, 0]
    for h in range(1, heads.shape[1]):
        merged = torch.cat([merged, heads[:, h]], dim=-1)
    return merged


def merge_no_transpose(heads):
    """wrong: reshapes without swapping H and T, so tokens get features of other tokens (right for one head or one token)."""
    B, H, T, D = heads.shape
    return heads.reshape(B, T, H * D)


def merge_view(heads):
    """wrong: calls view after transpose without contiguous, which raises an error where the memory isn't in that order (H > 1 and T > 1)."""
    b, h, t, d = heads.size()
    heads = heads.transpose(1, 2)
    return heads.view(b, t, h * d)


def merge_interleaved(heads):
    """wrong: moves the head axis to the end, so the heads' features alternate instead of lying side by side (shows if H > 1 and D > 1)."""
    B, H, T, D = heads.shape
    return heads.permute(0, 2, 3, 1).reshape(B, T, D * H)


def merge_axis_1(heads):
    """wrong: concatenates along axis 1, so the heads come one after another in time: (B, H T, D)."""
    return torch.cat(list(heads.unbind(dim=1)), dim=1)


def merge_reversed(heads):
    """wrong: puts each new head in front of the earlier ones, so the heads are side by side in reverse order (right for one head)."""
    out = heads[:, 0]
    for i in range(1, heads.shape[1]):
        out = torch.cat((heads[:, i], out), dim=2)
    return out


def merge_last_missing(heads):
    """wrong: the loop stops one head early, so the last head's features stay 0."""
    B, H, T, D = heads.shape
    result = torch.zeros((B, T, H * D), dtype=heads.dtype)
    for h in range(H - 1):
        result[:, :, h * D : (h + 1) * D] = heads[:, h]
    return result


ANSWERS = [
    merge_transpose,
    merge_cat,
    merge_no_transpose,
    merge_view,
    merge_interleaved,
    merge_axis_1,
    merge_reversed,
    merge_last_missing,
]
