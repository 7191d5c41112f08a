"""Two halves of an attention merged: rightly, or with an option that is a mistake."""

import torch


def right_share(log_a, log_b):
    return torch.sigmoid(log_a - log_b)


def merge(
    context_a, log_a, context_b, log_b, *, share=right_share, together=torch.logaddexp
):
    """Right where nothing is given; each option is one mistake."""
    part = share(log_a, log_b)
    part_a, part_b = part if isinstance(part, tuple) else (part, 1 - part)
    context = part_a[..., None] * context_a + part_b[..., None] * context_b
    return context, together(log_a, log_b)


def merged_with(**options):
    return lambda *inputs: merge(*inputs, **options)
