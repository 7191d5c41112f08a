import torch

from helpers import attention


def causal_masked_fill(scores):
    """right: sets the future's scores to minus infinity and applies softmax."""
    T = scores.shape[-1]
    mask = torch.tril(torch.ones(T, T, dtype=torch.bool))
    scores = scores.masked_fill(~mask, float("-inf"))
    return attention.softmax(scores)


def causal_row_by_row(scores):
    """right: a loop over the rows, softmax over what each word may see, zeros behind it."""
    weights = torch.zeros_like(scores)
    for t in range(scores.shape[-2]):
        weights[..., t, : t + 1] = torch.softmax(scores[..., t, : t + 1], dim=-1)
    return weights


def causal_renormalised(scores):
    """wrong: softmax first, then zeros and a new division, which is 0/0 = NaN when a hidden score lies thousands above the visible ones."""
    weights = torch.softmax(scores, dim=-1)
    weights = torch.tril(weights)
    return weights / weights.sum(dim=-1, keepdim=True)


def causal_zero_scores(scores):
    """wrong: tril sets the hidden scores to 0 instead of minus infinity, and softmax gives a score of 0 some weight."""
    masked = torch.tril(scores)
    return attention.softmax(masked)


def causal_minus_thousand(scores):
    """wrong: fills in -1000, which isn't low enough if the visible scores are in the thousands below 0."""
    T = scores.size(-1)
    future = torch.ones(T, T).triu(diagonal=1).bool()
    return torch.softmax(scores.masked_fill(future, -1000.0), dim=-1)


def causal_times_inf(scores):
    """wrong: adds mask times minus infinity, and 0 times infinity is NaN, so every row that sees anything becomes NaN."""
    T = scores.shape[-1]
    future = torch.triu(torch.ones(T, T), diagonal=1)
    scores = scores + future * float("-inf")
    return torch.softmax(scores, dim=-1)


def causal_size_of_batch(scores):
    """wrong: takes T from len(scores), which is the batch if there is an axis in front: an error, unless the sizes agree by chance."""
    T = len(scores)
    mask = attention.causal_mask(T)
    return attention.softmax(scores.masked_fill(~mask, float('-inf')))


def causal_hides_itself(scores):
    """wrong: triu without diagonal=1 hides each word from itself too, so row 0 is NaN and the others lack their own weight."""
    T = scores.shape[-1]
    hidden = torch.triu(torch.ones(T, T, device=scores.device)) == 1
    scores = scores.clone()
    scores[..., hidden] = -torch.inf
    return torch.softmax(scores, dim=-1)


ANSWERS = [
    causal_masked_fill,
    causal_row_by_row,
    causal_renormalised,
    causal_zero_scores,
    causal_minus_thousand,
    causal_times_inf,
    causal_size_of_batch,
    causal_hides_itself,
]
