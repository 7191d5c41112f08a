"""Answers to mean_gradient by hand i."""

import torch


def right_stacked(gradients, counts):
    """right: stacked gradients, weights in float64, one tensordot; always a new tensor."""
    shares = torch.as_tensor(counts, dtype=torch.float64)
    shares = shares / shares.sum()
    stacked = torch.stack(list(gradients)).double()
    return torch.tensordot(shares, stacked, dims=1).to(gradients[0].dtype)


def right_running_mean(gradients, counts):
    """right: a running mean that moves towards each new part by its share so far, and skips parts without characters."""
    mean = torch.zeros_like(gradients[0])
    seen = 0
    for gradient, count in zip(gradients, counts, strict=True):
        if count == 0:
            continue
        seen += count
        mean = mean + (gradient - mean) * (count / seen)
    return mean


def right_sum_then_divide(gradients, counts):
    """right: in-place adding into a fresh tensor of zeros (add_ with alpha), divided by the total at the end."""
    total = torch.zeros_like(gradients[0])
    for i in range(len(gradients)):
        total.add_(gradients[i], alpha=float(counts[i]))
    return total.div_(float(sum(counts)))


def wrong_plain_mean(gradients, counts):
    """wrong: all parts weigh the same (mean over the parts), the counts are not used."""
    return torch.stack(gradients).mean(dim=0)


def wrong_not_divided(gradients, counts):
    """wrong: the gradients are multiplied by the counts and summed, but not divided by the total count."""
    return sum(gradient * count for gradient, count in zip(gradients, counts))


def wrong_divided_by_number_of_parts(gradients, counts):
    """wrong: count-weighted sum divided by the number of parts instead of by the total count."""
    result = torch.zeros_like(gradients[0])
    for gradient, count in zip(gradients, counts):
        result += count * gradient
    return result / len(counts)


def wrong_mean_of_parts_with_characters(gradients, counts):
    """wrong: plain mean over the parts that have characters: empty parts are left out, but the others all weigh the same."""
    used = [gradient for gradient, count in zip(gradients, counts) if count > 0]
    return sum(used) / len(used)


def wrong_adds_into_first_gradient(gradients, counts):
    """wrong: the numbers are right, but it works in place in gradients[0], which is overwritten and returned: no new tensor."""
    total = sum(counts)
    result = gradients[0]
    result *= counts[0] / total
    for gradient, count in zip(gradients[1:], counts[1:]):
        result += gradient * (count / total)
    return result


def wrong_single_part_returned_itself(gradients, counts):
    """wrong: with one part that very tensor is returned instead of a new one; otherwise right."""
    if len(gradients) == 1:
        return gradients[0]
    total = sum(counts)
    return sum(g * (c / total) for g, c in zip(gradients, counts))


def wrong_running_mean_from_empty_part(gradients, counts):
    """wrong: a running mean that is right, except that it divides 0 by 0 as long as only parts without characters came: NaN everywhere if the first count is 0."""
    mean = torch.zeros_like(gradients[0])
    seen = torch.zeros(())
    for gradient, count in zip(gradients, counts):
        mean = (mean * seen + gradient * count) / (seen + count)
        seen = seen + count
    return mean


def wrong_empty_part_counts_as_one(gradients, counts):
    """wrong: each count is raised to at least 1, so an empty part adds 1 to the total that is divided by; right if no count is 0."""
    counts = [max(count, 1) for count in counts]
    total = sum(counts)
    return sum(g * c for g, c in zip(gradients, counts)) / total


def wrong_inverse_weights(gradients, counts):
    """wrong: each gradient is divided by its count (empty parts skipped), as if it were a sum, and the results are added: short parts weigh more."""
    result = torch.zeros_like(gradients[0])
    for gradient, count in zip(gradients, counts):
        if count:
            result = result + gradient / count
    return result


def wrong_halving_mean(gradients, counts):
    """wrong: two mistakes: the counts are not used to weigh, and the mean is taken step by step as (mean + new) / 2, so later parts weigh more; parts with count 0 are skipped."""
    mean = None
    for gradient, count in zip(gradients, counts):
        if count == 0:
            continue
        mean = gradient.clone() if mean is None else (mean + gradient) / 2
    return mean


def wrong_softmax_of_counts(gradients, counts):
    """wrong: the weights are the softmax of the counts instead of counts divided by their sum, so the largest part takes nearly all."""
    shares = torch.softmax(torch.tensor(counts, dtype=torch.float32), dim=0)
    return torch.einsum("n,n...->...", shares, torch.stack(gradients))


def wrong_summed_gradients_over_total(gradients, counts):
    """wrong: the gradients are summed without weights, then divided by the total number of characters, as if each were a sum over characters."""
    return torch.stack(gradients).sum(0) / sum(counts)


def wrong_relative_to_largest_and_in_mean(gradients, counts):
    """wrong: two mistakes: each gradient is weighted by count over the largest count instead of over the total, and the sum is then divided by the number of parts that are not empty."""
    largest = max(counts)
    parts = [g * (c / largest) for g, c in zip(gradients, counts) if c > 0]
    return torch.stack(parts).mean(0)


ANSWERS = [
    right_stacked,
    right_running_mean,
    right_sum_then_divide,
    wrong_plain_mean,
    wrong_not_divided,
    wrong_divided_by_number_of_parts,
    wrong_mean_of_parts_with_characters,
    wrong_adds_into_first_gradient,
    wrong_single_part_returned_itself,
    wrong_running_mean_from_empty_part,
    wrong_empty_part_counts_as_one,
    wrong_inverse_weights,
    wrong_halving_mean,
    wrong_softmax_of_counts,
    wrong_summed_gradients_over_total,
    wrong_relative_to_largest_and_in_mean,
]
