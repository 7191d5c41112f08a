import torch

from helpers import attention


def top_p_scatter(logits, p):
    """right: sorts, keeps where the sum before a character is below p, scatters back and divides by the row's sum."""
    probs = attention.softmax(logits)
    ordered, order = probs.sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    ordered = ordered.masked_fill(before >= p, 0.0)
    result = torch.zeros_like(probs).scatter(-1, order, ordered)
    return result / result.sum(dim=-1, keepdim=True)


def top_p_loop(logits, p):
    """right: row by row, takes the most probable character until the sum is at least p."""
    result = torch.zeros_like(logits)
    for b, row in enumerate(torch.softmax(logits, dim=-1)):
        total = 0.0
        for i in row.argsort(descending=True).tolist():
            result[b, i] = row[i]
            total += row[i].item()
            if total >= p:
                break
        result[b] /= result[b].sum()
    return result


def top_p_crossing_dropped(logits, p):
    """wrong: keeps only where the sum with the character is at most p, so the one that crosses p is lost (NaN if it is the first)."""
    probs = torch.softmax(logits, dim=-1)
    sorted_probs, idx = torch.sort(probs, dim=-1, descending=True)
    keep = sorted_probs.cumsum(dim=-1) <= p
    sorted_probs = sorted_probs * keep
    sorted_probs = sorted_probs / sorted_probs.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter_(1, idx, sorted_probs)


def top_p_wrong_way_back(logits, p):
    """wrong: brings the keep mask back with gather(order) instead of its inverse, so the wrong characters stay unless the order is its own inverse."""
    probs = attention.softmax(logits)
    sorted_probs, order = probs.sort(dim=-1, descending=True)
    cumulative = sorted_probs.cumsum(dim=-1)
    keep_sorted = (cumulative - sorted_probs) < p
    keep = keep_sorted.gather(-1, order)
    probs = probs * keep
    return probs / probs.sum(dim=-1, keepdim=True)


def top_p_zero_logits(logits, p):
    """wrong: sets the logits of the tail to 0 instead of minus infinity before the last softmax, so the tail keeps some probability."""
    sorted_logits, sorted_idx = torch.sort(logits, descending=True, dim=-1)
    cum = torch.cumsum(torch.softmax(sorted_logits, dim=-1), dim=-1)
    remove = cum > p
    # shift right: keep the first one above p, too
    remove[:, 1:] = remove[:, :-1].clone()
    remove[:, 0] = False
    remove = torch.zeros_like(remove).scatter(1, sorted_idx, remove)
    logits = logits.masked_fill(remove, 0.0)
    return torch.softmax(logits, dim=-1)


def top_p_batch_sum(logits, p):
    """wrong: divides by the sum of the whole batch, so each row sums to 1 only if there is one row."""
    probs = torch.softmax(logits, -1)
    vals, idx = probs.sort(-1, descending=True)
    vals[(vals.cumsum(-1) - vals) >= p] = 0
    out = torch.empty_like(probs)
    out.scatter_(-1, idx, vals)
    out = out / out.sum()
    return out


def top_p_one_more(logits, p):
    """wrong: keeps while the sum before a character is <= p, one too many where the sum hits p exactly (four equal logits and p = 0.5)."""
    probs = torch.softmax(logits, dim=-1)
    out = torch.zeros_like(probs)
    for b in range(len(probs)):
        order = torch.argsort(probs[b], descending=True)
        total = 0.0
        for i in order:
            if total > p:
                break
            out[b, i] = probs[b, i]
            total += probs[b, i]
        out[b] = out[b] / out[b].sum()
    return out


def top_p_threshold(logits, p):
    """wrong: misreads p as a threshold for each probability: keeps the characters of at least p times the largest one (min-p)."""
    probs = attention.softmax(logits)
    limit = p * probs.max(dim=-1, keepdim=True).values
    kept = torch.where(probs >= limit, probs, torch.zeros_like(probs))
    return kept / kept.sum(dim=-1, keepdim=True)


ANSWERS = [
    top_p_scatter,
    top_p_loop,
    top_p_crossing_dropped,
    top_p_wrong_way_back,
    top_p_zero_logits,
    top_p_batch_sum,
    top_p_one_more,
    top_p_threshold,
]
