"""Top-p."""

import torch
import torch.nn.functional as F


def top_p_by_scatter(logits, p):
    ordered, ids = logits.softmax(-1).sort(descending=True)
    ordered = ordered.where(ordered.cumsum(-1) - ordered < p, 0.0)
    ordered = ordered / ordered.sum(-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, ids, ordered)


def top_p_shifted(logits, p):
    ordered, ids = torch.sort(logits, descending=True)
    remove = F.softmax(ordered, dim=-1).cumsum(dim=-1) > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    mask = remove.scatter(1, ids, remove)
    return logits.masked_fill(mask, -torch.inf).softmax(-1)


def top_p_by_loops(logits, p):
    result = torch.zeros(logits.shape, dtype=torch.float64)
    for b, row in enumerate(logits.double().softmax(-1)):
        total = 0.0
        for i in row.argsort(descending=True).tolist():
            if total < p:
                result[b, i] = row[i]
                total += row[i].item()
    return result / result.sum(1, keepdim=True)


def top_p_from_below(logits, p):
    ordered, ids = logits.sort()
    sums = ordered.softmax(-1).cumsum(-1)
    mask = sums <= 1 - p
    mask[:, -1] = False
    places = ids.argsort(-1)
    return logits.masked_fill(mask.gather(-1, places), -torch.inf).softmax(-1)


def top_p_like_the_chapter(logits, p):
    rows = []
    for row in logits.softmax(-1):
        sums = row.sort(descending=True).values.cumsum(dim=0)
        best = row.topk(int((sums < p).sum()) + 1).indices
        kept = torch.zeros_like(row)
        kept[best] = row[best]
        rows.append(kept / kept.sum())
    return torch.stack(rows)


def top_p_drops_the_crossing(logits, p):
    ordered, ids = torch.sort(logits, descending=True)
    remove = ordered.softmax(-1).cumsum(-1) > p
    mask = remove.scatter(1, ids, remove)
    return logits.masked_fill(mask, -torch.inf).softmax(-1)


def top_p_drops_the_crossing_but_keeps_one(logits, p):
    ordered, ids = torch.sort(logits, descending=True)
    remove = ordered.softmax(-1).cumsum(-1) >= p
    remove[:, 0] = False
    mask = remove.scatter(1, ids, remove)
    return logits.masked_fill(mask, -torch.inf).softmax(-1)


def top_p_one_too_many(logits, p):
    rows = []
    for row in logits.softmax(-1):
        sums = row.sort(descending=True).values.cumsum(dim=0)
        best = row.topk(int((sums < p).sum()) + 2).indices
        kept = torch.zeros_like(row)
        kept[best] = row[best]
        rows.append(kept / kept.sum())
    return torch.stack(rows)


def top_p_unsorted(logits, p):
    probabilities = logits.softmax(-1)
    before = probabilities.cumsum(-1) - probabilities
    return logits.masked_fill(before >= p, -torch.inf).softmax(-1)


def top_p_ascending(logits, p):
    ordered, ids = logits.softmax(-1).sort()
    ordered = ordered.where(ordered.cumsum(-1) - ordered < p, 0.0)
    ordered = ordered / ordered.sum(-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, ids, ordered)


def top_p_sorted(logits, p):
    ordered = logits.softmax(-1).sort(descending=True).values
    ordered = ordered.where(ordered.cumsum(-1) - ordered < p, 0.0)
    return ordered / ordered.sum(-1, keepdim=True)


def top_p_undivided(logits, p):
    ordered, ids = logits.softmax(-1).sort(descending=True)
    ordered[ordered.cumsum(-1) - ordered >= p] = 0.0
    return torch.zeros_like(logits).scatter(-1, ids, ordered)


def top_p_by_cutoff(logits, p):
    rows = []
    for row in logits.softmax(-1):
        ordered = row.sort(descending=True).values
        cutoff = ordered[(ordered.cumsum(0) < p).sum()]
        kept = torch.where(row >= cutoff, row, 0.0)
        rows.append(kept / kept.sum())
    return torch.stack(rows)


def top_p_gathers(logits, p):
    ordered, ids = logits.softmax(-1).sort(descending=True)
    ordered = ordered.where(ordered.cumsum(-1) - ordered < p, 0.0)
    return ordered.gather(-1, ids) / ordered.sum(-1, keepdim=True)


RIGHT = [
    top_p_by_scatter,
    top_p_by_loops,
    top_p_from_below,
    top_p_like_the_chapter,
]
WRONG = [
    (top_p_shifted, "top-p that goes on when the sum is exactly p"),
    (top_p_drops_the_crossing, "top-p without the character that crosses p"),
    (
        top_p_drops_the_crossing_but_keeps_one,
        "top-p without the character that crosses p",
    ),
    (top_p_one_too_many, "top-p that keeps one character too many"),
    (top_p_unsorted, "sums over characters that were not sorted"),
    (top_p_ascending, "sums that begin with the least probable"),
    (top_p_sorted, "probabilities in sorted order"),
    (top_p_undivided, "top-p that is not divided by its sum"),
    (top_p_by_cutoff, "top-p that keeps more where probabilities are equal"),
    (top_p_gathers, "gather in place of scatter"),
]
