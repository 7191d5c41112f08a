"""Answers to top-k and top-p for a batch: top_k."""

import math

import torch
import torch.nn.functional as F


def right_topk_and_scatter(logits, k, temperature):
    """right: float64 inside, maximum taken off before the division, softmax of the k largest, scattered back to their places."""
    z = logits.double()
    z = (z - z.amax(dim=-1, keepdim=True)) / temperature
    values, places = z.topk(k, dim=-1)
    out = torch.zeros_like(z).scatter(-1, places, values.softmax(dim=-1))
    return out.to(logits.dtype)


def right_ranks(logits, k, temperature):
    """right: the rank of each character by a double argsort, -inf from rank k on; of equal ones the later in the row stay."""
    z = logits.to(torch.float64)
    z = (z - z.max(-1, keepdim=True).values) / temperature
    order = z.flip(-1).argsort(dim=-1, descending=True, stable=True)
    rank = order.argsort(dim=-1).flip(-1)
    z = torch.where(rank < k, z, torch.full_like(z, float("-inf")))
    return F.softmax(z, dim=-1).to(logits.dtype)


def right_row_by_row(logits, k, temperature):
    """right: plain Python for each row: sorts the places, exponentials of differences to the largest, sums with fsum."""
    rows = []
    for row in logits.tolist():
        places = sorted(range(len(row)), key=lambda j: row[j], reverse=True)[:k]
        top = row[places[0]]
        e = {j: math.exp((row[j] - top) / temperature) for j in places}
        total = math.fsum(e.values())
        rows.append([e[j] / total if j in e else 0.0 for j in range(len(row))])
    return torch.tensor(rows, dtype=logits.dtype, device=logits.device)


def wrong_times_temperature(logits, k, temperature):
    """wrong: multiplies the logits by the temperature in place of dividing."""
    vals, idx = torch.topk(logits * temperature, k)
    probs = torch.zeros_like(logits)
    probs.scatter_(1, idx, torch.softmax(vals, dim=1))
    return probs


def wrong_not_renormalised(logits, k, temperature):
    """wrong: softmax over all characters, then the others set to 0 without dividing again, so rows sum to less than 1."""
    probs = torch.softmax(logits / temperature, dim=-1)
    _, idx = logits.topk(k, dim=-1)
    mask = torch.zeros_like(probs, dtype=torch.bool)
    mask.scatter_(1, idx, True)
    return probs * mask


def wrong_softmax_over_batch(logits, k, temperature):
    """wrong: keeps k of each row, but the softmax runs over the batch (axis 0), so columns and not rows sum to 1."""
    x = logits / temperature
    keep = x.topk(k, dim=1).indices
    masked = torch.full_like(x, -1e30).scatter(1, keep, x.gather(1, keep))
    e = (masked - masked.max(dim=0, keepdim=True).values).exp()
    e = e * (masked > -1e29)
    return e / e.sum(dim=0, keepdim=True).clamp(min=1e-30)


def wrong_softmax_twice(logits, k, temperature):
    """wrong: renormalises with a second softmax: takes the k largest probabilities and applies softmax to them again."""
    probabilities = F.softmax(logits / temperature, dim=-1)
    best = probabilities.topk(k, dim=-1)
    result = torch.zeros_like(probabilities)
    for b in range(logits.shape[0]):
        result[b, best.indices[b]] = F.softmax(best.values[b], dim=0)
    return result


def wrong_ties_all_stay(logits, k, temperature):
    """wrong: masks what is below the k-th largest logit, so all equal to the k-th stay and a row can keep more than k."""
    logits = logits / temperature
    v, _ = torch.topk(logits, k)
    logits = logits.masked_fill(logits < v[:, [-1]], -float("inf"))
    return F.softmax(logits, dim=-1)


def wrong_places_of_first_row(logits, k, temperature):
    """wrong: keeps in every row the places of the first row's k largest; right for a batch of one."""
    z = logits / temperature
    keep = z[0].topk(k).indices
    out = torch.zeros_like(z)
    out[:, keep] = torch.softmax(z[:, keep], dim=-1)
    return out


def wrong_exp_overflows(logits, k, temperature):
    """wrong: exponentials without taking the maximum off first, so logits in the thousands overflow to nan, or underflow to 0/0."""
    x = logits / temperature
    e = torch.exp(x)
    idx = torch.argsort(x, dim=-1, descending=True)[:, :k]
    kept = torch.zeros_like(e)
    kept.scatter_(1, idx, e.gather(1, idx))
    return kept / kept.sum(dim=1, keepdim=True)


def wrong_minus_ten_thousand(logits, k, temperature):
    """wrong: masks with -1e4 in place of -inf, so where the kept logits divided by the temperature are near or below -10000, the others win."""
    z = logits / temperature
    ix = z.topk(k, dim=-1).indices
    drop = torch.ones_like(z, dtype=torch.bool).scatter(-1, ix, False)
    return torch.softmax(z.masked_fill(drop, -1e4), dim=-1)


def wrong_sorted_without_temperature(logits, k, temperature):
    """wrong: two mistakes: never uses the temperature, and leaves the probabilities in sorted order, the largest first, not in their places."""
    s = torch.sort(logits, dim=-1, descending=True).values
    p = torch.softmax(s[:, :k], dim=-1)
    return F.pad(p, (0, logits.shape[1] - k))


ANSWERS = [
    right_topk_and_scatter,
    right_ranks,
    right_row_by_row,
    wrong_times_temperature,
    wrong_not_renormalised,
    wrong_softmax_over_batch,
    wrong_softmax_twice,
    wrong_ties_all_stay,
    wrong_places_of_first_row,
    wrong_exp_overflows,
    wrong_minus_ten_thousand,
    wrong_sorted_without_temperature,
]
