"""The gradient of a batch that was computed in parts."""

import torch


def by_a_loop(gradients, counts):
    total = torch.zeros_like(gradients[0])
    for gradient, count in zip(gradients, counts, strict=True):
        total += gradient * count
    return total / sum(counts)


def by_shares(gradients, counts):
    everything = sum(counts)
    return sum(g * (n / everything) for g, n in zip(gradients, counts, strict=True))


def by_one_product(gradients, counts):
    weights = torch.tensor(counts, dtype=torch.float32)
    return torch.tensordot(weights / weights.sum(), torch.stack(gradients), dims=1)


def by_repeating(gradients, counts):
    each = [g for g, n in zip(gradients, counts, strict=True) for _ in range(n)]
    return torch.stack(each).mean(dim=0)


def by_a_running_mean(gradients, counts):
    mean, seen = torch.zeros_like(gradients[0]), 0
    for gradient, count in zip(gradients, counts, strict=True):
        if count:
            seen += count
            mean = mean + (gradient - mean) * count / seen
    return mean


def plain_mean(gradients, counts):
    return torch.stack(gradients).mean(dim=0)


def mean_of_what_is_there(gradients, counts):
    pairs = zip(gradients, counts, strict=True)
    return torch.stack([gradient for gradient, count in pairs if count]).mean(dim=0)


def what_backward_adds_up(gradients, counts):
    total = 0
    for gradient in gradients:
        total = total + gradient
    return total


def undivided(gradients, counts):
    return sum(g * n for g, n in zip(gradients, counts, strict=True))


def divided_by_the_parts(gradients, counts):
    weighted = [g * n for g, n in zip(gradients, counts, strict=True)]
    return sum(weighted) / len(weighted)


def unweighted(gradients, counts):
    return torch.stack(gradients).sum(dim=0) / sum(counts)


def weighed_the_other_way(gradients, counts):
    total = torch.zeros_like(gradients[0])
    for gradient, count in zip(gradients, counts, strict=True):
        total = total + gradient / max(count, 1)
    return total


def halves(gradients, counts):
    mean = gradients[0].clone()
    for gradient in gradients[1:]:
        mean = 0.5 * mean + 0.5 * gradient
    return mean


def as_a_number(gradients, counts):
    pairs = zip(gradients, counts, strict=True)
    return float(sum((g * n).sum() for g, n in pairs) / sum(counts))


def by_the_filled_parts(gradients, counts):
    total = sum(g * n for g, n in zip(gradients, counts, strict=True))
    return total / len([n for n in counts if n > 0])


def one_at_least(gradients, counts):
    weights = torch.tensor(counts, dtype=torch.float32).clamp(min=1)
    return torch.tensordot(weights / weights.sum(), torch.stack(gradients), dims=1)


def divided_and_added(gradients, counts):
    return sum(g / n for g, n in zip(gradients, counts, strict=True))


def whole_numbers(gradients, counts):
    total = sum(g * n for g, n in zip(gradients, counts, strict=True))
    return total // sum(counts)


def whole_shares(gradients, counts):
    shares = [n // sum(counts) for n in counts]
    return sum(g * share for g, share in zip(gradients, shares, strict=True))


RIGHT = [by_a_loop, by_shares, by_one_product, by_repeating, by_a_running_mean]
WRONG = [
    (plain_mean, "the plain mean of the parts"),
    (mean_of_what_is_there, "the plain mean of the parts that aren't empty"),
    (what_backward_adds_up, "the sum of the parts"),
    (undivided, "a weighted sum that nothing divides"),
    (divided_by_the_parts, "a weighted sum divided by the number of parts"),
    (unweighted, "a sum of the parts divided by all characters"),
    (
        weighed_the_other_way,
        "a sum of parts that are divided by their characters once more",
    ),
    (by_the_filled_parts, "a weighted sum divided by the number of parts"),
    (one_at_least, "an empty part that counts as one character"),
    (
        divided_and_added,
        "a sum of parts that are divided by their characters once more",
    ),
    (whole_numbers, "a division that cuts off what comes after the point"),
    (whole_shares, "a division that cuts off what comes after the point"),
    (halves, "a mean of the mean so far and the next part"),
    (as_a_number, None),
]
