import torch


def softmax_shifted(scores):
    """right: subtracts each row's largest score, takes exponentials and divides by their sum."""
    biggest = scores.max(dim=-1, keepdim=True).values
    e = torch.exp(scores - biggest)
    return e / e.sum(dim=-1, keepdim=True)


def softmax_by_logs(scores):
    """right: works with logarithms, subtracting the log of the row's sum before the exponential."""
    top, _ = torch.max(scores, -1)
    top = top.unsqueeze(-1)
    log_sum = top + (scores - top).exp().sum(-1).log().unsqueeze(-1)
    return (scores - log_sum).exp()


def softmax_one_max(scores):
    """wrong: subtracts the largest score of the whole tensor, so a row thousands below another one becomes 0/0 = NaN."""
    scores = scores - scores.max()
    exps = torch.exp(scores)
    return exps / exps.sum(dim=-1, keepdim=True)


def softmax_second_axis(scores):
    """wrong: sums along axis 1 instead of the last one, so it is right for two axes only (wrong for three, an error for one)."""
    m = scores.max(-1, keepdim=True)[0]
    ex = (scores - m).exp()
    return ex / ex.sum(1, keepdim=True)


def softmax_minus_mean(scores):
    """wrong: subtracts the mean of a row instead of its maximum, which overflows to NaN when the scores of a row lie far apart."""
    # center the scores so that exp can't get too big
    centered = scores - scores.mean(dim=-1, keepdim=True)
    e = torch.exp(centered)
    return e / torch.sum(e, dim=-1, keepdim=True)


def softmax_max_without_keepdim(scores):
    """wrong: forgets keepdim for the maximum, so row i gets column maxima: an error if not square, and NaN or 0 where rows lie far apart."""
    if scores.dim() == 1:
        e = torch.exp(scores - scores.max())
        return e / e.sum()
    maxima = scores.amax(-1)
    e = torch.exp(scores - maxima)
    return e / e.sum(-1, keepdim=True)


def softmax_sum_not_shifted(scores):
    """wrong: shifts the scores in the numerator, but not in the denominator, so rows don't sum to 1 unless their maximum is 0."""
    largest = scores.amax(dim=-1, keepdim=True)
    numerator = torch.exp(scores - largest)
    denominator = torch.exp(scores).sum(dim=-1, keepdim=True)
    return numerator / denominator


def softmax_flattened(scores):
    """wrong: flattens the front axes for the computation and forgets to restore them, so the shape is wrong unless there are two axes."""
    S = scores.shape[-1]
    rows = scores.reshape(-1, S)
    rows = rows - rows.max(dim=1, keepdim=True).values
    rows = rows.exp()
    weights = rows / rows.sum(dim=1, keepdim=True)
    return weights


ANSWERS = [
    softmax_shifted,
    softmax_by_logs,
    softmax_one_max,
    softmax_second_axis,
    softmax_minus_mean,
    softmax_max_without_keepdim,
    softmax_sum_not_shifted,
    softmax_flattened,
]
