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


def begins_with_the_first(gradients, counts):
    total = gradients[0].clone()
    for gradient, count in zip(gradients, counts, strict=True):
        total += gradient * count
    return total / sum(counts)


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


def mean_of_shares(gradients, counts):
    shares = [n / sum(counts) for n in counts]
    parts = [g * share for g, share in zip(gradients, shares, strict=True)]
    return torch.stack(parts).mean(dim=0)


def unweighted(gradients, counts):
    return torch.stack(gradients).sum(dim=0) / sum(counts)


def weighed_the_other_way(gradients, counts):
    total = torch.zeros_like(gradients[0])
    for gradient, count in zip(gradients, counts, strict=True):
        total = total + gradient / max(count, 1)
    return total


def averaged_the_other_way(gradients, counts):
    parts = [g / max(n, 1) for g, n in zip(gradients, counts, strict=True)]
    return torch.stack(parts).mean(dim=0)


def zeroed_each_time(gradients, counts):
    for gradient, count in zip(gradients, counts, strict=True):
        total = torch.zeros_like(gradient)
        total += gradient * count / count if count else 0
    return total


def returns_too_early(gradients, counts):
    total, seen = torch.zeros_like(gradients[0]), 0
    for gradient, count in zip(gradients, counts, strict=True):
        total += gradient * max(count, 1)
        seen += max(count, 1)
        return total / seen


def halves(gradients, counts):
    mean = gradients[0].clone()
    for gradient in gradients[1:]:
        mean = 0.5 * mean + 0.5 * gradient
    return mean


def roots(gradients, counts):
    weights = torch.tensor(counts).sqrt()
    return sum(w * g for w, g in zip(weights, gradients, strict=True)) / weights.sum()


def as_a_number(gradients, counts):
    pairs = zip(gradients, counts, strict=True)
    return float(sum((g * n).sum() for g, n in pairs) / sum(counts))


def out_of_the_loop(gradients, counts):
    total = torch.zeros_like(gradients[0])
    for gradient, count in zip(gradients, counts, strict=True):
        total += count * gradient
        return total / sum(counts)


def out_of_the_loop_undivided(gradients, counts):
    total = 0
    for gradient, count in zip(gradients, counts, strict=True):
        total = total + count * gradient
        return total


def out_of_the_loop_by_what_was_seen(gradients, counts):
    total, seen = torch.zeros_like(gradients[0]), 0
    for gradient, count in zip(gradients, counts, strict=True):
        total += count * gradient
        seen += count
        return total / seen


def replaced(gradients, counts):
    for gradient, count in zip(gradients, counts, strict=True):
        total = count * gradient
    return total / sum(counts)


def replaced_and_undivided(gradients, counts):
    for gradient, count in zip(gradients, counts, strict=True):
        total = count * gradient
    return total


def replaced_and_divided_by_the_parts(gradients, counts):
    for gradient, count in zip(gradients, counts, strict=True):
        total = count * gradient
    return total / len(counts)


def the_largest(gradients, counts):
    return gradients[torch.tensor(counts).argmax()].clone()


def the_first_and_all(gradients, counts):
    total = counts[0] * gradients[0]
    for gradient, count in zip(gradients, counts, strict=True):
        total += count * gradient
    return total / sum(counts)


def the_first_as_it_is(gradients, counts):
    total = gradients[0].clone()
    for number in range(1, len(gradients)):
        total += counts[number] * gradients[number]
    return total / sum(counts)


def one_too_few(gradients, counts):
    total = torch.zeros_like(gradients[0])
    for number in range(len(gradients) - 1):
        total += counts[number] * gradients[number]
    return total / sum(counts)


def one_too_late(gradients, counts):
    total = torch.zeros_like(gradients[0])
    for number in range(1, len(gradients)):
        total += counts[number] * gradients[number]
    return total / sum(counts)


def never_counts_on(gradients, counts):
    mean, seen = gradients[0].clone(), counts[0]
    for gradient, count in zip(gradients[1:], counts[1:], strict=True):
        mean = (seen * mean + count * gradient) / (seen + count)
    return mean


def divides_in_the_loop(gradients, counts):
    total = torch.zeros_like(gradients[0])
    for gradient, count in zip(gradients, counts, strict=True):
        total += count * gradient
        total /= sum(counts)
    return total


def divides_by_what_was_seen(gradients, counts):
    total, seen = torch.zeros_like(gradients[0]), 0
    for gradient, count in zip(gradients, counts, strict=True):
        seen += count
        total += count * gradient
        if seen:
            total /= seen
    return total


def by_the_filled_parts(gradients, counts):
    total = sum(g * n for g, n in zip(gradients, counts, strict=True))
    return total / len([n for n in counts if n > 0])


def by_the_largest(gradients, counts):
    return sum(g * n for g, n in zip(gradients, counts, strict=True)) / max(counts)


def by_the_first(gradients, counts):
    return sum(g * n for g, n in zip(gradients, counts, strict=True)) / counts[0]


def by_the_last(gradients, counts):
    total = torch.zeros_like(gradients[0])
    for gradient, count in zip(gradients, counts, strict=True):
        total += gradient * count
    return total / count


def by_the_mean_count(gradients, counts):
    usual = sum(counts) / len(counts)
    return sum(g * (n / usual) for g, n in zip(gradients, counts, strict=True))


def shares_divided(gradients, counts):
    everything = sum(counts)
    shares = [n / everything for n in counts]
    total = sum(g * share for g, share in zip(gradients, shares, strict=True))
    return total / everything


def one_at_least(gradients, counts):
    weights = torch.tensor(counts, dtype=torch.float32).clamp(min=1)
    return torch.tensordot(weights / weights.sum(), torch.stack(gradients), dims=1)


def divided_and_added(gradients, counts):
    return sum(g / n for g, n in zip(gradients, counts, strict=True))


def divided_and_averaged(gradients, counts):
    parts = [g / n for g, n in zip(gradients, counts, strict=True)]
    return torch.stack(parts).mean(dim=0)


def divided_and_divided(gradients, counts):
    return sum(g / n for g, n in zip(gradients, counts, strict=True)) / sum(counts)


def divided_and_divided_where_filled(gradients, counts):
    filled = [(g, n) for g, n in zip(gradients, counts, strict=True) if n]
    return sum(g / n for g, n in filled) / sum(counts)


def small_ones_first(gradients, counts):
    weights = [1 / n for n in counts]
    total = sum(w * g for w, g in zip(weights, gradients, strict=True))
    return total / sum(weights)


def small_ones_first_guarded(gradients, counts):
    weights = [1 / n if n else 0 for n in counts]
    total = sum(w * g for w, g in zip(weights, gradients, strict=True))
    return total / sum(weights)


def squares(gradients, counts):
    weights = [n * n for n in counts]
    total = sum(w * g for w, g in zip(weights, gradients, strict=True))
    return total / sum(weights)


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
    (begins_with_the_first, "a sum that begins with the first part"),
    (what_backward_adds_up, "the sum of the parts"),
    (undivided, "a weighted sum that nothing divides"),
    (divided_by_the_parts, "a weighted sum divided by the number of parts"),
    (mean_of_shares, "a weighted sum divided twice"),
    (unweighted, "a sum of the parts divided by all characters"),
    (
        weighed_the_other_way,
        "a sum of parts that are divided by their characters once more",
    ),
    (
        averaged_the_other_way,
        "a mean of parts that are divided by their characters once more",
    ),
    (zeroed_each_time, "the last part alone"),
    (returns_too_early, "the first part alone"),
    (out_of_the_loop, "a loop that ends with the first part"),
    (out_of_the_loop_undivided, "a loop that ends with the first part"),
    (out_of_the_loop_by_what_was_seen, "a loop that ends with the first part"),
    (replaced, "the last part alone"),
    (replaced_and_undivided, "the last part alone"),
    (replaced_and_divided_by_the_parts, "the last part alone"),
    (the_largest, "the largest part alone"),
    (the_first_and_all, "a sum that begins with the first part"),
    (the_first_as_it_is, "a sum whose first part has no weight"),
    (one_too_few, "a sum that leaves one part out"),
    (one_too_late, "a sum that leaves one part out"),
    (never_counts_on, "a running mean that forgets how many characters it has seen"),
    (divides_in_the_loop, "a sum that is divided inside the loop"),
    (divides_by_what_was_seen, "a sum that is divided inside the loop"),
    (by_the_filled_parts, "a weighted sum divided by the number of parts"),
    (by_the_largest, "a weighted sum divided by the largest part"),
    (by_the_first, "a weighted sum divided by the first part's characters"),
    (by_the_last, "a weighted sum divided by the last part's characters"),
    (by_the_mean_count, "a weighted sum divided by the mean number of characters"),
    (shares_divided, "a weighted sum divided by all characters twice"),
    (one_at_least, "an empty part that counts as one character"),
    (
        divided_and_added,
        "a sum of parts that are divided by their characters once more",
    ),
    (
        divided_and_averaged,
        "a mean of parts that are divided by their characters once more",
    ),
    (
        divided_and_divided,
        "parts divided by their characters, and their sum by all characters",
    ),
    (
        divided_and_divided_where_filled,
        "parts divided by their characters, and their sum by all characters",
    ),
    (small_ones_first, "weights that are larger for smaller parts"),
    (small_ones_first_guarded, "weights that are larger for smaller parts"),
    (squares, "weights by the square of the number of characters"),
    (whole_numbers, "a division that cuts off what comes after the point"),
    (whole_shares, "a division that cuts off what comes after the point"),
    (halves, "a mean of the mean so far and the next part"),
    (roots, "weights by the root of the number of characters"),
    (as_a_number, None),
]
