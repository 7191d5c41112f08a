import math
import torch
import torch.nn.functional as F


def right_1(logits, p):
    """right: loop over rows and characters"""
    result = torch.zeros_like(logits)
    for b, row in enumerate(torch.softmax(logits, dim=-1)):
        total = 0.0
        for j in row.argsort(descending=True, stable=True).tolist():
            result[b, j] = row[j]
            total += row[j].item()
            if total >= p:
                break
        result[b] /= result[b].sum()
    return result


def right_2(logits, p):
    """right: shifted cumsum, unsorted by argsort of positions, softmax over masked logits"""
    ordered, positions = torch.sort(logits, dim=-1, descending=True)
    total = torch.softmax(ordered, -1).cumsum(-1)
    remove = total >= p
    remove = torch.cat([torch.zeros_like(remove[:, :1]), remove[:, :-1]], dim=1)
    kept = ordered.masked_fill(remove, float("-inf")).softmax(-1)
    return kept.gather(-1, positions.argsort(-1))


def wrong_1(logits, p):
    """wrong: order not restored"""
    ordered, positions = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = ordered * (before < p)
    return kept / kept.sum(dim=-1, keepdim=True)


def wrong_2(logits, p):
    """wrong: sum with the character decides; only the first is kept by force"""
    ordered, positions = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    keep = ordered.cumsum(dim=-1) <= p
    keep[:, 0] = True
    kept = ordered * keep
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, positions, kept)


def wrong_3(logits, p):
    """wrong: not renormalised"""
    ordered, positions = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = ordered.masked_fill(before >= p, 0.0)
    return torch.zeros_like(logits).scatter(-1, positions, kept)


def wrong_4(logits, p):
    """wrong: cut with cumsum <= p, nan rows when sure"""
    ordered, positions = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    kept = ordered * (ordered.cumsum(dim=-1) <= p)
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, positions, kept)


def wrong_5(logits, p):
    """wrong: puts back with gather(positions) in place of scatter"""
    ordered, positions = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = ordered.masked_fill(before >= p, 0.0)
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return kept.gather(-1, positions)


def wrong_6(logits, p):
    """wrong: own softmax without subtracting the maximum: overflow in the thousands"""
    e = logits.exp()
    probs = e / e.sum(dim=-1, keepdim=True)
    ordered, positions = probs.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = ordered * (before < p)
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, positions, kept)


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
