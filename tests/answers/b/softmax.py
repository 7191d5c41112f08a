"""Answers to softmax by hand b."""

import math

import numpy as np
import torch


def right_row_maximum(scores):
    """right: subtracts each row's maximum, exponentiates, divides by the row's sum."""
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


def right_numpy_float64(scores):
    """right: NumPy in float64 with the row's maximum subtracted, cast back to the dtype of the scores."""
    a = scores.detach().cpu().double().numpy()
    a = np.exp(a - a.max(axis=-1, keepdims=True))
    a = a / a.sum(axis=-1, keepdims=True)
    dtype = scores.dtype if scores.is_floating_point() else torch.get_default_dtype()
    return torch.from_numpy(a).to(scores.device, dtype)


def right_recursion(scores):
    """right: goes down axis by axis until a row is left, and does that one with math.exp and the row's maximum."""
    dtype = scores.dtype if scores.is_floating_point() else torch.get_default_dtype()
    if scores.numel() == 0:
        return scores.to(dtype)
    if scores.dim() > 1:
        return torch.stack([right_recursion(part) for part in scores])
    row = scores.tolist()
    top = max(row)
    e = [math.exp(v - top) for v in row]
    total = math.fsum(e)
    return torch.tensor([v / total for v in e], dtype=dtype, device=scores.device)


def wrong_plain_exp(scores):
    """wrong: exp without subtracting a maximum: overflows to inf / inf for scores in the thousands."""
    e = torch.exp(scores)
    return e / e.sum(dim=-1, keepdim=True)


def wrong_sum_of_everything(scores):
    """wrong: divides by the sum over all axes, so the whole tensor sums to 1, not each row; right for one axis only."""
    e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
    return e / e.sum()


def wrong_down_the_columns(scores):
    """wrong: normalises over the first axis, not over the last."""
    z = scores - scores.max(dim=0, keepdim=True).values
    z = z.exp()
    return z / z.sum(dim=0, keepdim=True)


def wrong_powers_of_two(scores):
    """wrong: powers of 2, not of e."""
    z = 2.0 ** (scores - scores.amax(-1, keepdim=True))
    return z / z.sum(-1, keepdim=True)


def wrong_one_maximum(scores):
    """wrong: subtracts the maximum of the whole tensor, so a row that lies thousands below another becomes 0 / 0."""
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1, keepdim=True)


def wrong_minus_mean(scores):
    """wrong: subtracts each row's mean, not its maximum: overflows where a score lies hundreds or thousands above its row's mean."""
    centred = scores - scores.mean(dim=-1, keepdim=True)
    e = centred.exp()
    return e / e.sum(dim=-1, keepdim=True)


def wrong_column_maximum(scores):
    """wrong: subtracts the maximum along the first axis (each column's), which shifts a row's scores by different amounts; right for one axis only."""
    e = torch.exp(scores - scores.amax(dim=0, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


def wrong_half_precision(scores):
    """wrong: rounds the scores to float16 before anything else: scores in the thousands are then rounded to whole numbers or coarser."""
    s = scores.half().to(scores.dtype)
    e = torch.exp(s - s.amax(dim=-1, keepdim=True))
    return e / e.sum(dim=-1, keepdim=True)


def wrong_clamped_table(scores):
    """wrong: two mistakes: cuts scores off at 80 against overflow (so all above are equal), and returns a table (rows, S) in place of the scores' shape."""
    table = scores.reshape(-1, scores.shape[-1])
    e = torch.exp(table.clamp(max=80))
    return e / e.sum(dim=1, keepdim=True)


ANSWERS = [
    right_row_maximum,
    right_numpy_float64,
    right_recursion,
    wrong_plain_exp,
    wrong_sum_of_everything,
    wrong_down_the_columns,
    wrong_powers_of_two,
    wrong_one_maximum,
    wrong_minus_mean,
    wrong_column_maximum,
    wrong_half_precision,
    wrong_clamped_table,
]
