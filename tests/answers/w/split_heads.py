import torch


def split_view(x, num_heads):
    """right: reshape to (B, T, H, D), then swap T and H."""
    B, T, C = x.shape
    D = C // num_heads
    return x.reshape(B, T, num_heads, D).transpose(1, 2)


def split_chunks(x, num_heads):
    """right: cuts the features into H chunks and stacks them on a new axis 1."""
    return torch.stack(x.chunk(num_heads, dim=-1), dim=1)


def split_direct_view(x, num_heads):
    """wrong: views straight as (B, H, T, D), which mixes tokens and heads (right for one head, or one token)."""
    B, T, C = x.shape
    return x.view(B, num_heads, T, C // num_heads)


def split_interleaved(x, num_heads):
    """wrong: views the features as (D, H) instead of (H, D), so head 0 gets every H-th feature, not the first D (shows if H > 1 and D > 1)."""
    b, t, c = x.shape
    d = c // num_heads
    x = x.reshape(b, t, d, num_heads)
    return x.permute(0, 3, 1, 2)


def split_no_transpose(x, num_heads):
    """wrong: calls transpose but doesn't keep its result, so it returns (B, T, H, D)."""
    B, T, C = x.shape
    head_dim = C // num_heads
    heads = x.view(B, T, num_heads, head_dim)
    heads.transpose(1, 2)
    return heads


def split_by_size(x, num_heads):
    """wrong: torch.split takes the size of a piece, not their number, so there are D heads of width H (right if H = D)."""
    pieces = torch.split(x, num_heads, dim=2)
    return torch.stack(pieces, dim=1)


def split_off_slices(x, num_heads):
    """wrong: the slice of head h begins at h instead of h * D, so heads overlap (shows for more than one head, if D > 1)."""
    B, T, C = x.shape
    D = C // num_heads
    heads = torch.zeros(B, num_heads, T, D, dtype=x.dtype)
    for h in range(num_heads):
        heads[:, h] = x[:, :, h : h + D]
    return heads


def split_cat_batch(x, num_heads):
    """wrong: puts the heads behind each other along the batch axis and then views it as (B, H), so texts and heads are swapped for B > 1."""
    B, T, C = x.shape
    parts = [x[..., i * (C // num_heads):(i + 1) * (C // num_heads)] for i in range(num_heads)]
    stacked = torch.cat(parts, dim=0)       # (H * B, T, D)
    return stacked.view(B, num_heads, T, -1)


ANSWERS = [
    split_view,
    split_chunks,
    split_direct_view,
    split_interleaved,
    split_no_transpose,
    split_by_size,
    split_off_slices,
    split_cat_batch,
]
