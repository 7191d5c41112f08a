"""Answers to top_p by hand g."""

import torch
import torch.nn.functional as F


def right_sort_and_scatter(logits, p):
    """right: sorts, keeps where the sum before is below p, and scatters back."""
    probs, places = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    before = probs.cumsum(dim=-1) - probs
    kept = probs.where(before < p, torch.zeros_like(probs))
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, places, kept)


def right_greedy_rows(logits, p):
    """right: row by row, takes the most probable until the sum reaches p."""
    out = torch.zeros_like(logits)
    for b, row in enumerate(F.softmax(logits.double(), dim=1)):
        total = 0.0
        for i in sorted(range(len(row)), key=lambda i: -row[i].item()):
            if total >= p:
                break
            total += row[i].item()
            out[b, i] = row[i]
    return out / out.sum(dim=1, keepdim=True)


def right_sum_of_those_ahead(logits, p):
    """right: no cumulative sum: for each character, the sum of those ranked ahead of it
    from a (B, V, V) comparison; softmax anew with -inf for the others."""
    probs = logits.double().softmax(-1)
    rank = probs.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
    ahead = rank.unsqueeze(-2) < rank.unsqueeze(-1)  # (B, j, i): i ahead of j
    sum_ahead = (ahead * probs.unsqueeze(-2)).sum(-1)
    out = (sum_ahead >= p) & (rank > 0)
    return logits.masked_fill(out, -torch.inf).softmax(-1)


def wrong_crossing_left_out(logits, p):
    """wrong: keeps only while the sum including the character is at most p, so that the
    one that crosses p is left out (the first is always kept)."""
    probs, places = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    keep = probs.cumsum(dim=-1) <= p
    keep[:, 0] = True
    kept = probs * keep
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, places, kept)


def wrong_one_too_many(logits, p):
    """wrong: keeps one character more, that behind the one that crosses p."""
    probs, places = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    remove = probs.cumsum(dim=-1) - probs >= p
    remove[:, 1:] = remove[:, :-1].clone()
    remove[:, 0] = False
    kept = probs.masked_fill(remove, 0.0)
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, places, kept)


def wrong_not_renormalized(logits, p):
    """wrong: the rows aren't divided by their new sums, so they sum to less than 1."""
    probs, places = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    before = probs.cumsum(dim=-1) - probs
    probs[before >= p] = 0.0
    return torch.zeros_like(probs).scatter(-1, places, probs)


def wrong_threshold(logits, p):
    """wrong: keeps each character whose own probability is at least p times that of the
    most probable one (min-p), instead of looking at sums."""
    probs = torch.softmax(logits, dim=-1)
    largest = probs.amax(dim=-1, keepdim=True)
    kept = torch.where(probs >= p * largest, probs, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True)


def wrong_not_sorted(logits, p):
    """wrong: sums in the order of the vocabulary, without sorting by probability."""
    probs = torch.softmax(logits, dim=-1)
    before = probs.cumsum(dim=-1) - probs
    kept = probs * (before < p)
    return kept / kept.sum(dim=-1, keepdim=True)


def wrong_stays_sorted(logits, p):
    """wrong: the probabilities stay in sorted order instead of going back to their
    places."""
    probs = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True).values
    kept = probs * (probs.cumsum(dim=-1) - probs < p)
    return kept / kept.sum(dim=-1, keepdim=True)


def wrong_ties(logits, p):
    """wrong: keeps all that are at least as probable as the one that crosses p, so that
    too many are kept where several equal that one."""
    probs = torch.softmax(logits, dim=-1)
    ordered = probs.sort(dim=-1, descending=True).values
    before = ordered.cumsum(dim=-1) - ordered
    last = (before < p).sum(dim=-1, keepdim=True) - 1
    kept = probs * (probs >= ordered.gather(-1, last.clamp(min=0)))
    return kept / kept.sum(dim=-1, keepdim=True)


def wrong_same_number_in_all_rows(logits, p):
    """wrong: keeps in all rows as many characters as the row that needs most of them;
    right for a batch of one."""
    probs, places = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    before = probs.cumsum(dim=-1) - probs
    n = int((before < p).sum(dim=-1).max())
    kept = probs[:, :n] / probs[:, :n].sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(-1, places[:, :n], kept)


def wrong_order_for_inverse(logits, p):
    """wrong: brings the mask back with gather by the sorting order itself instead of by
    its inverse; right only for orders that undo themselves (a row of which nothing
    is left stays all 0)."""
    probs = torch.softmax(logits, dim=-1)
    ordered, order = probs.sort(dim=-1, descending=True)
    keep = (ordered.cumsum(dim=-1) - ordered) < p
    kept = probs * keep.gather(-1, order)
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-30)


def wrong_softmax_of_probabilities(logits, p):
    """wrong: instead of dividing by the new sum, softmax a second time, over the kept
    probabilities, which makes them almost equal."""
    probs, places = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    before = probs.cumsum(dim=-1) - probs
    kept = probs.masked_fill(before >= p, -torch.inf).softmax(dim=-1)
    return torch.zeros_like(kept).scatter(-1, places, kept)


def wrong_overflow_and_tail(logits, p):
    """wrong: two mistakes: exponentials without the largest subtracted (NaN for logits
    in the thousands), and sorts in rising order, so that it keeps the least probable
    characters until their sum reaches p."""
    exps = logits.exp()
    probs, places = (exps / exps.sum(dim=-1, keepdim=True)).sort(dim=-1)
    kept = probs * (probs.cumsum(dim=-1) - probs < p)
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, places, kept)


def wrong_cumsum_down_the_batch(logits, p):
    """wrong: two mistakes: the cumulative sum runs along axis 0, down the batch, instead
    of along the row, and zero rows are made uniform to avoid NaN."""
    probs, places = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    kept = probs * (probs.cumsum(dim=0) - probs < p)
    total = kept.sum(dim=-1, keepdim=True)
    kept = torch.where(total > 0, kept / total, 1.0 / logits.shape[-1])
    return torch.zeros_like(kept).scatter(-1, places, kept)


ANSWERS = [
    right_sort_and_scatter,
    right_greedy_rows,
    right_sum_of_those_ahead,
    wrong_crossing_left_out,
    wrong_one_too_many,
    wrong_not_renormalized,
    wrong_threshold,
    wrong_not_sorted,
    wrong_stays_sorted,
    wrong_ties,
    wrong_same_number_in_all_rows,
    wrong_order_for_inverse,
    wrong_softmax_of_probabilities,
    wrong_overflow_and_tail,
    wrong_cumsum_down_the_batch,
]
