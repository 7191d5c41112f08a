"""Answers to top_k by hand g."""

import heapq
import math

import torch
import torch.nn.functional as F


def right_scatter(logits, k, temperature):
    """right: softmax of the k largest alone, scattered back to their places."""
    values, places = logits.topk(k, dim=-1)
    kept = F.softmax(values / temperature, dim=-1)
    return torch.zeros_like(logits).scatter(-1, places, kept)


def right_ranks(logits, k, temperature):
    """right: softmax over all in float64, the ranks from a double argsort, and what
    ranks from k on is set to 0 before the rows are divided by their sums."""
    ranks = logits.argsort(dim=1, descending=True).argsort(dim=1)
    probs = torch.softmax(logits.double() / temperature, dim=1)
    probs = probs * (ranks < k)
    return (probs / probs.sum(dim=1, keepdim=True)).to(logits.dtype)


def right_rows_with_heapq(logits, k, temperature):
    """right: row by row in Python, with heapq.nlargest."""
    out = torch.zeros_like(logits)
    for b, row in enumerate(logits.tolist()):
        best = heapq.nlargest(k, range(len(row)), key=row.__getitem__)
        exps = [math.exp((row[i] - row[best[0]]) / temperature) for i in best]
        for i, e in zip(best, exps):
            out[b, i] = e / sum(exps)
    return out


def wrong_ties(logits, k, temperature):
    """wrong: keeps all that are at least as large as the k-th, so that more than k are
    kept where several equal that one."""
    scaled = logits / temperature
    kth = scaled.topk(k, dim=-1).values[:, -1:]
    return torch.softmax(scaled.masked_fill(scaled < kth, -torch.inf), dim=-1)


def wrong_no_temperature(logits, k, temperature):
    """wrong: the temperature isn't used."""
    values, places = torch.topk(logits, k)
    masked = torch.full_like(logits, -torch.inf).scatter(-1, places, values)
    return torch.softmax(masked, dim=-1)


def wrong_not_renormalized(logits, k, temperature):
    """wrong: softmax over all first, then the others set to 0, and the rows aren't
    divided by their sums, so that they sum to less than 1."""
    probs = torch.softmax(logits / temperature, dim=-1)
    values, places = probs.topk(k, dim=-1)
    return torch.zeros_like(probs).scatter_(-1, places, values)


def wrong_zero_logits(logits, k, temperature):
    """wrong: sets the logits of the others to 0 instead of -inf before softmax, so that
    they keep a probability."""
    scaled = logits / temperature
    values, places = scaled.topk(k, dim=-1)
    kept = torch.zeros_like(scaled).scatter(-1, places, values)
    return torch.softmax(kept, dim=-1)


def wrong_stays_sorted(logits, k, temperature):
    """wrong: the probabilities stay in sorted order, the k largest in the first k
    places, instead of in their own places."""
    values = (logits / temperature).sort(dim=-1, descending=True).values
    values[:, k:] = -torch.inf
    return torch.softmax(values, dim=-1)


def wrong_finite_fill(logits, k, temperature):
    """wrong: fills the others with -1000 instead of -inf, which is no low value beside
    logits below -1000: there the others get all the probability or a part of it."""
    scaled = logits / temperature
    places = scaled.topk(k, dim=-1).indices
    masked = torch.full_like(scaled, -1000.0)
    masked.scatter_(-1, places, scaled.gather(-1, places))
    return torch.softmax(masked, dim=-1)


def wrong_first_row_decides(logits, k, temperature):
    """wrong: keeps the k characters that are the largest in the first row in all rows;
    right for a batch of one."""
    scaled = logits / temperature
    places = scaled[0].topk(k).indices
    masked = torch.full_like(scaled, -torch.inf)
    masked[:, places] = scaled[:, places]
    return torch.softmax(masked, dim=-1)


def wrong_no_shift(logits, k, temperature):
    """wrong: exponentials without the largest subtracted, which overflow or underflow
    (NaN) for logits in the thousands; right for small ones."""
    exps = torch.exp(logits / temperature)
    places = logits.topk(k, dim=-1).indices
    kept = torch.zeros_like(exps).scatter(-1, places, exps.gather(-1, places))
    return kept / kept.sum(dim=-1, keepdim=True)


def wrong_multiplies_and_one_less(logits, k, temperature):
    """wrong: two mistakes: multiplies by the temperature instead of dividing, and keeps
    only what is larger than the k-th, k - 1 characters (none, NaN, for k = 1)."""
    scaled = logits * temperature
    kth = scaled.sort(dim=-1, descending=True).values[:, k - 1 : k]
    return torch.softmax(scaled.masked_fill(scaled <= kth, -torch.inf), dim=-1)


def wrong_temperature_on_probabilities(logits, k, temperature):
    """wrong: divides the probabilities by the temperature instead of the logits, and
    takes softmax a second time over the k kept: softmax of probabilities."""
    probs = torch.softmax(logits, dim=-1) / temperature
    values, places = probs.topk(k, dim=-1)
    masked = torch.full_like(probs, -torch.inf).scatter(-1, places, values)
    return masked.softmax(dim=-1)


def wrong_top_of_whole_batch(logits, k, temperature):
    """wrong: the threshold is the B k-th largest logit of the whole batch, so that the
    rows keep different numbers, and a row without any becomes NaN; right for a batch
    of one."""
    scaled = logits / temperature
    flat = scaled.flatten()
    places = flat.topk(k * len(logits)).indices
    masked = torch.full_like(flat, -torch.inf)
    masked[places] = flat[places]
    return torch.softmax(masked.view_as(scaled), dim=-1)


ANSWERS = [
    right_scatter,
    right_ranks,
    right_rows_with_heapq,
    wrong_ties,
    wrong_no_temperature,
    wrong_not_renormalized,
    wrong_zero_logits,
    wrong_stays_sorted,
    wrong_finite_fill,
    wrong_first_row_decides,
    wrong_no_shift,
    wrong_multiplies_and_one_less,
    wrong_temperature_on_probabilities,
    wrong_top_of_whole_batch,
]
