"""Answers to top-k and top-p for a batch: top_p."""

import math

import torch
import torch.nn.functional as F


def _sorted_probabilities(logits):
    """Each row's probabilities, the largest first, and the places they come from."""
    return torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)


def right_sum_before_each(logits, p):
    """right: float64 inside; keeps a character while the sum of those before it is below p, the first always; scatters back and divides."""
    probs = torch.softmax(logits.double(), dim=-1)
    ordered, places = probs.sort(dim=-1, descending=True)
    before = F.pad(ordered.cumsum(dim=-1)[:, :-1], (1, 0))
    keep = (before < p) | (p >= 1)
    keep[:, 0] = True
    kept = ordered * keep
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(1, places, kept).to(logits.dtype)


def right_python_rows(logits, p):
    """right: lists and a running sum for each row, stops when the sum has reached p."""
    out = []
    for row in logits.tolist():
        top = max(row)
        weights = [math.exp(v - top) for v in row]
        total = math.fsum(weights)
        probs = [w / total for w in weights]
        chosen, mass = [], 0.0
        for j in sorted(range(len(row)), key=lambda j: -row[j]):
            chosen.append(j)
            mass += probs[j]
            if mass >= p and p < 1:
                break
        mass = math.fsum(probs[j] for j in chosen)
        new = [0.0] * len(row)
        for j in chosen:
            new[j] = probs[j] / mass
        out.append(new)
    return torch.tensor(out, dtype=logits.dtype, device=logits.device)


def right_count_and_mask(logits, p):
    """right: counts how many sums stay below p, keeps one more, masks by rank with -inf and takes softmax again."""
    z = logits.double()
    places = z.argsort(dim=-1, descending=True)
    sums = z.gather(-1, places).softmax(dim=-1).cumsum(dim=-1)
    how_many = (sums < p).sum(dim=-1, keepdim=True) + 1
    rank = torch.empty_like(places)
    counting = torch.arange(z.shape[-1], device=z.device).expand_as(places)
    rank.scatter_(-1, places, counting)
    return z.masked_fill(rank >= how_many, -math.inf).softmax(-1).to(logits.dtype)


def wrong_without_the_crossing(logits, p):
    """wrong: keeps only while the sum including the character is at most p, so the one that crosses p is left out (the first always stays)."""
    ordered, places = _sorted_probabilities(logits)
    keep = ordered.cumsum(-1) <= p
    keep[:, 0] = True
    ordered = ordered * keep
    ordered = ordered / ordered.sum(-1, keepdim=True)
    return torch.zeros_like(ordered).scatter(-1, places, ordered)


def wrong_one_more(logits, p):
    """wrong: keeps one character more than needed, the one after the character that crosses p."""
    ordered, places = _sorted_probabilities(logits)
    n = (ordered.cumsum(dim=1) < p).sum(dim=1, keepdim=True) + 2
    mask = torch.arange(ordered.size(1)).unsqueeze(0) < n
    ordered = torch.where(mask, ordered, torch.zeros(()))
    ordered /= ordered.sum(dim=1, keepdim=True)
    return torch.zeros_like(ordered).scatter_(1, places, ordered)


def wrong_not_divided_again(logits, p):
    """wrong: sets the tail to 0 but doesn't divide by the new sum, so rows whose tail is cut sum to less than 1."""
    ordered, places = _sorted_probabilities(logits)
    before = ordered.cumsum(-1) - ordered
    ordered[before >= p] = 0
    return torch.zeros_like(ordered).scatter(1, places, ordered)


def wrong_equal_ones_all_stay(logits, p):
    """wrong: keeps all characters at least as probable as the one that crosses p, so with equal ones a row keeps more than needed."""
    probs = torch.softmax(logits, -1)
    ordered = probs.sort(-1, descending=True).values
    last = (ordered.cumsum(-1) < p).sum(-1, keepdim=True).clamp(max=probs.shape[-1] - 1)
    limit = ordered.gather(-1, last)
    probs = torch.where(probs >= limit, probs, 0.0)
    return probs / probs.sum(-1, keepdim=True)


def wrong_gather_for_scatter(logits, p):
    """wrong: puts the probabilities back with gather in place of scatter, so characters land in wrong places unless the sorting order is its own inverse."""
    ordered, places = _sorted_probabilities(logits)
    before = F.pad(ordered.cumsum(dim=-1)[:, :-1], (1, 0))
    kept = ordered.masked_fill(before >= p, 0.0)
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.gather(kept, 1, places)


def wrong_goes_on_at_equality(logits, p):
    """wrong: compares with `<=`, so where a sum is exactly p it keeps one character more; right everywhere else."""
    ordered, places = torch.softmax(logits.double(), -1).sort(-1, descending=True)
    before = F.pad(ordered.cumsum(dim=-1)[:, :-1], (1, 0))
    kept = torch.where(before <= p, ordered, 0.0)
    kept = kept / kept.sum(-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, places, kept).to(logits.dtype)


def wrong_argmax_of_nothing(logits, p):
    """wrong: finds the crossing with argmax of (sum >= p), which is 0 where rounding keeps the sum below p = 1, so such a row keeps one character only."""
    ordered, places = _sorted_probabilities(logits)
    crossing = (torch.cumsum(ordered, dim=-1) >= p).int().argmax(dim=-1, keepdim=True)
    mask = torch.arange(ordered.shape[-1])[None, :] <= crossing
    ordered = ordered * mask
    ordered = ordered / ordered.sum(dim=-1, keepdim=True)
    return torch.empty_like(ordered).scatter_(-1, places, ordered)


def wrong_count_of_first_row(logits, p):
    """wrong: counts in the first row how many to keep and keeps that many in every row; right for a batch of one."""
    ordered, places = _sorted_probabilities(logits)
    count = int((ordered[0].cumsum(0) < p).sum()) + 1
    kept = ordered.clone()
    kept[:, count:] = 0.0
    kept = kept / kept.sum(dim=1, keepdim=True)
    result = torch.zeros_like(kept)
    for row in range(len(kept)):
        result[row, places[row]] = kept[row]
    return result


def wrong_least_probable_first(logits, p):
    """wrong: two mistakes: sorts upwards, so it keeps the least probable characters until p, and doesn't divide by the new sum."""
    probs = torch.softmax(logits, dim=-1)
    s, i = torch.sort(probs)
    keep = (torch.cumsum(s, dim=-1) - s) < p
    return torch.zeros_like(probs).scatter(1, i, s * keep)


ANSWERS = [
    right_sum_before_each,
    right_python_rows,
    right_count_and_mask,
    wrong_without_the_crossing,
    wrong_one_more,
    wrong_not_divided_again,
    wrong_equal_ones_all_stay,
    wrong_gather_for_scatter,
    wrong_goes_on_at_equality,
    wrong_argmax_of_nothing,
    wrong_count_of_first_row,
    wrong_least_probable_first,
]
