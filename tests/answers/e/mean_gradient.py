"""Answers to mean gradient."""

import numpy as np
import torch


def right_running_mean(gradients, counts):
    """right: a running mean, moved towards each part by its share of the characters so far; skips empty parts."""
    mean = torch.zeros_like(gradients[0])
    seen = 0
    for grad, count in zip(gradients, counts):
        if count == 0:
            continue
        seen += count
        mean += (grad - mean) * (count / seen)
    return mean


def right_tensordot(gradients, counts):
    """right: shares of the characters in float64, one tensordot, cast back."""
    shares = torch.as_tensor(counts, dtype=torch.float64)
    shares = shares / shares.sum()
    stacked = torch.stack(list(gradients)).double()
    return torch.tensordot(shares.to(stacked.device), stacked, dims=1).to(gradients[0].dtype)


def right_numpy_average(gradients, counts):
    """right: numpy.average with the counts as weights."""
    stacked = np.stack([g.detach().cpu().double().numpy() for g in gradients])
    mean = np.average(stacked, axis=0, weights=np.array([float(c) for c in counts]))
    return torch.tensor(mean, dtype=gradients[0].dtype)


def wrong_plain_mean(gradients, counts):
    """wrong: the plain mean of the gradients; the counts are not used."""
    return torch.stack(list(gradients)).mean(dim=0)


def wrong_divides_by_parts(gradients, counts):
    """wrong: weights each gradient by its count, but divides by the number of parts instead of the number of characters."""
    total = sum(g * c for g, c in zip(gradients, counts))
    return total / len(gradients)


def wrong_sum_over_characters(gradients, counts):
    """wrong: adds the gradients up without weighting them by their counts, and divides by the number of all characters."""
    total = torch.zeros_like(gradients[0])
    for g in gradients:
        total += g
    return total / sum(counts)


def wrong_mean_of_means(gradients, counts):
    """wrong: takes the mean of the result so far and the next part again and again, (r + g) / 2, so the last part counts for half whatever the counts are."""
    result = gradients[0].clone()
    for g in gradients[1:]:
        result = (result + g) / 2
    return result


def wrong_adds_up_in_the_first(gradients, counts):
    """wrong: adds up in place in gradients[0], and returns this tensor: the numbers are right, but it is not a new tensor, and the first part's gradient is lost."""
    total = gradients[0]
    total *= counts[0]
    for g, c in zip(gradients[1:], counts[1:]):
        total += g * c
    total /= sum(counts)
    return total


def wrong_counts_slip(gradients, counts):
    """wrong: takes the zeros out of the counts but leaves their gradients in the list, so that behind an empty part each gradient meets the count of a later part; right without empty parts."""
    filled = [c for c in counts if c > 0]
    total = torch.zeros_like(gradients[0])
    for g, c in zip(gradients, filled):
        total = total + g * (c / sum(filled))
    return total


def wrong_zero_counts_as_one(gradients, counts):
    """wrong: takes a count of 0 for 1, so that the divisor is too large by one for each empty part; right without empty parts."""
    counts = [max(int(c), 1) for c in counts]
    return sum(g * c for g, c in zip(gradients, counts)) / sum(counts)


_SHARES = {}


def wrong_remembers_shares(gradients, counts):
    """wrong: keeps the shares of the first call with this number of parts, and uses them in all later calls with as many parts, whatever their counts are."""
    key = len(counts)
    if key not in _SHARES:
        _SHARES[key] = [float(c) / float(sum(counts)) for c in counts]
    result = torch.zeros_like(gradients[0])
    for g, share in zip(gradients, _SHARES[key]):
        result.add_(g, alpha=share)
    return result


def wrong_unweighted_and_same_tensor(gradients, counts):
    """wrong: two mistakes: the plain mean over the parts that have characters, not weighted by the counts; and if only one part has any, it returns this part's own tensor, not a new one."""
    kept = [g for g, c in zip(gradients, counts) if c > 0]
    if len(kept) == 1:
        return kept[0]
    return sum(kept) / len(kept)


ANSWERS = [
    right_running_mean, right_tensordot, right_numpy_average,
    wrong_plain_mean, wrong_divides_by_parts, wrong_sum_over_characters,
    wrong_mean_of_means, wrong_adds_up_in_the_first, wrong_counts_slip,
    wrong_zero_counts_as_one, wrong_remembers_shares,
    wrong_unweighted_and_same_tensor,
]
