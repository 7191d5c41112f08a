"""Direct logit attribution of one head."""

import torch
import torch.nn.functional as F


def by_slice(context, out_proj, head, unembedding):
    D = len(context)
    return unembedding @ out_proj[:, head * D : head * D + D] @ context


def by_zeros(context, out_proj, head, unembedding):
    D = context.shape[0]
    side_by_side = torch.zeros(out_proj.shape[1])
    side_by_side[head * D : (head + 1) * D] = context
    return F.linear(F.linear(side_by_side, out_proj), unembedding)


def by_view(context, out_proj, head, unembedding):
    of_heads = out_proj.view(len(out_proj), -1, len(context))
    return torch.einsum("vc,cd,d->v", unembedding, of_heads[:, head], context)


def by_every_head(context, out_proj, head, unembedding):
    parts = out_proj.split(len(context), dim=1)
    return (unembedding @ parts[head]) @ context


def first_head(context, out_proj, head, unembedding):
    return unembedding @ out_proj[:, : len(context)] @ context


def to_stream(context, out_proj, head, unembedding):
    D = len(context)
    return out_proj[:, head * D : (head + 1) * D] @ context


RIGHT = [by_slice, by_zeros, by_view, by_every_head]
WRONG = [
    (first_head, "another head's columns"),
    (to_stream, "what the head adds to the stream"),
]
