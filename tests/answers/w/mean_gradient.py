import torch


def mean_weighted(gradients, counts):
    """right: weights each gradient by its count and divides by the sum of counts."""
    total = torch.zeros_like(gradients[0])
    for g, n in zip(gradients, counts):
        total += n * g
    return total / sum(counts)


def mean_shares(gradients, counts):
    """right: each part's share of the characters, as a tensor, times the stacked gradients."""
    stacked = torch.stack(list(gradients))
    shares = torch.tensor([float(c) for c in counts], dtype=stacked.dtype)
    shares = shares / shares.sum()
    return torch.tensordot(shares, stacked, dims=1)


def mean_plain(gradients, counts):
    """wrong: the plain mean of the gradients, without the counts (right if all counts are equal)."""
    return torch.stack(gradients).mean(dim=0)


def mean_break(gradients, counts):
    """wrong: break instead of continue at a part without characters, so the parts after it are lost."""
    total = torch.zeros_like(gradients[0])
    n = 0
    for g, count in zip(gradients, counts):
        if count == 0:
            break
        total = total + g * count
        n += count
    if n == 0:
        return total
    return total / n


def mean_changes_first(gradients, counts):
    """wrong: collects the sum in the first part's own tensor, so the caller's gradient changes (the result is right)."""
    total = gradients[0]
    total *= counts[0]
    for i in range(1, len(gradients)):
        total += gradients[i] * counts[i]
    return total / sum(counts)


def mean_single_part(gradients, counts):
    """wrong: returns the argument itself, not a new tensor, where there is only one part."""
    if len(gradients) == 1:
        return gradients[0]
    n = sum(counts)
    result = 0
    for gradient, count in zip(gradients, counts):
        result = result + gradient * (count / n)
    return result


def mean_of_sums(gradients, counts):
    """wrong: takes each gradient for that of a sum: adds them and divides by all characters, without weighting by the counts."""
    total_count = sum(counts)
    total = torch.zeros_like(gradients[0])
    for g in gradients:
        total += g
    return total / total_count


def mean_counts_twice(gradients, counts):
    """wrong: starts with the first part and lets the loop begin at 0 as well, so the first part counts twice in the sum."""
    total = gradients[0] * counts[0]
    for i in range(len(gradients)):
        total = total + gradients[i] * counts[i]
    return total / sum(counts)


ANSWERS = [
    mean_weighted,
    mean_shares,
    mean_plain,
    mean_break,
    mean_changes_first,
    mean_single_part,
    mean_of_sums,
    mean_counts_twice,
]
