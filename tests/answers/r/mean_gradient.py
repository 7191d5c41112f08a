import torch


def right_loop(gradients, counts):
    """right: loop that adds each gradient times its share of the targets"""
    total = sum(counts)
    out = torch.zeros_like(gradients[0])
    for g, c in zip(gradients, counts):
        out = out + g * (c / total)
    return out


def right_stack(gradients, counts):
    """right: stack, weights reshaped to broadcast, sum over processes"""
    g = torch.stack(gradients)
    w = torch.tensor([c / sum(counts) for c in counts], dtype=g.dtype)
    return (g * w.reshape(-1, *[1] * gradients[0].dim())).sum(0)


def right_einsum(gradients, counts):
    """right: einsum with an ellipsis over the stacked gradients"""
    g = torch.stack(gradients)
    w = torch.tensor([c / sum(counts) for c in counts], dtype=g.dtype)
    return torch.einsum("n,n...->...", w, g)


def right_running_mean(gradients, counts):
    """right: running weighted mean, processes without targets are skipped"""
    mean, seen = torch.zeros_like(gradients[0]), 0
    for g, c in zip(gradients, counts):
        if c == 0:
            continue
        seen += c
        mean = mean + (g - mean) * (c / seen)
    return mean


def right_flat_matmul(gradients, counts):
    """right: flatten to a matrix, weights @ matrix, shape restored"""
    g = torch.stack([g.flatten() for g in gradients])
    w = torch.tensor([c / sum(counts) for c in counts], dtype=g.dtype)
    return (w @ g).reshape(gradients[0].shape)


def right_clone_in_place(gradients, counts):
    """right: works in place, but on a copy of the first gradient"""
    total = sum(counts)
    out = gradients[0].clone()
    out *= counts[0] / total
    for n in range(1, len(gradients)):
        out.add_(gradients[n], alpha=counts[n] / total)
    return out


def wrong_plain_mean(gradients, counts):
    """wrong: plain mean over the processes, counts ignored"""
    return torch.stack(gradients).mean(0)


def wrong_plain_sum(gradients, counts):
    """wrong: plain sum of the gradients, as a bare all-reduce gives"""
    return sum(gradients)


def wrong_mean_of_active(gradients, counts):
    """wrong: plain mean over the processes that had targets"""
    active = [g for g, c in zip(gradients, counts) if c > 0]
    return torch.stack(active).mean(0)


def wrong_no_division(gradients, counts):
    """wrong: gradient of the summed loss, never divided by the total"""
    return sum(g * c for g, c in zip(gradients, counts))


def wrong_divide_by_n(gradients, counts):
    """wrong: weighted sum divided by the number of processes"""
    return sum(g * c for g, c in zip(gradients, counts)) / len(counts)


def wrong_sum_over_total(gradients, counts):
    """wrong: takes the gradients for sums, plain sum divided by the total"""
    return torch.stack(gradients).sum(0) / sum(counts)


def wrong_floor_division(gradients, counts):
    """wrong: weights by whole-number division, mostly 0"""
    total = sum(counts)
    return sum(g * (c // total) for g, c in zip(gradients, counts))


def wrong_zero_counts_as_one(gradients, counts):
    """wrong: a count of 0 is raised to 1, so that the total is too large"""
    counts = [max(c, 1) for c in counts]
    return sum(g * c for g, c in zip(gradients, counts)) / sum(counts)


def wrong_break_at_zero(gradients, counts):
    """wrong: stops at the first process without targets (break, not continue)"""
    total = sum(counts)
    out = torch.zeros_like(gradients[0])
    for g, c in zip(gradients, counts):
        if c == 0:
            break
        out = out + g * c / total
    return out


def wrong_pairwise_nan(gradients, counts):
    """wrong: merges pairwise, 0 / 0 = nan if the first two counts are both 0"""
    out, seen = gradients[0], counts[0]
    for g, c in zip(gradients[1:], counts[1:]):
        out = (out * seen + g * c) / (seen + c)
        seen += c
    return out.clone()


def wrong_pairwise_forgets(gradients, counts):
    """wrong: merges pairwise, but weighs what it has by the last count only"""
    out, last = torch.zeros_like(gradients[0]), 0
    for g, c in zip(gradients, counts):
        if c > 0:
            out = (out * last + g * c) / (last + c)
            last = c
    return out


def wrong_scales_in_place(gradients, counts):
    """wrong: right value, but multiplies the given tensors in place"""
    for g, c in zip(gradients, counts):
        g *= c
    return sum(gradients) / sum(counts)


def wrong_first_in_place(gradients, counts):
    """wrong: right value, but accumulates into the first given tensor"""
    total = sum(counts)
    out = gradients[0]
    out.mul_(counts[0] / total)
    for g, c in zip(gradients[1:], counts[1:]):
        out += g * (c / total)
    return out


def wrong_broadcast_last(gradients, counts):
    """wrong: weights broadcast along the last dimension, error or wrong values"""
    g = torch.stack(gradients)
    w = torch.tensor(counts, dtype=g.dtype)
    return (g * w).sum(0) / w.sum()


def wrong_only_vectors(gradients, counts):
    """wrong: weights as (N, 1), fits vectors only"""
    g = torch.stack(gradients)
    w = torch.tensor(counts, dtype=g.dtype)
    return (g * w[:, None]).sum(0) / w.sum()


def wrong_only_matrices(gradients, counts):
    """wrong: einsum written for matrices, an error for other shapes"""
    g = torch.stack(gradients)
    w = torch.tensor(counts, dtype=g.dtype) / sum(counts)
    return torch.einsum("n,nij->ij", w, g)


def wrong_flat_shape(gradients, counts):
    """wrong: flattens and forgets to restore the shape"""
    g = torch.stack([g.flatten() for g in gradients])
    w = torch.tensor(counts, dtype=g.dtype)
    return w @ g / w.sum()


def wrong_softmax(gradients, counts):
    """wrong: weights are the softmax of the counts"""
    g = torch.stack(gradients)
    w = torch.softmax(torch.tensor(counts, dtype=g.dtype), 0)
    return torch.einsum("n,n...->...", w, g)


def wrong_inverse(gradients, counts):
    """wrong: divides each gradient by its count, in place of multiplying"""
    out = torch.zeros_like(gradients[0])
    for g, c in zip(gradients, counts):
        if c > 0:
            out = out + g / c
    return out * sum(counts)


def wrong_dict(gradients, counts):
    """wrong: keeps the gradients in a dict by count, equal counts overwrite"""
    by_count = dict(zip(counts, gradients))
    return sum(g * c for c, g in by_count.items()) / sum(counts)


def wrong_prints(gradients, counts):
    """wrong: prints the result and returns None"""
    total = sum(counts)
    print(sum(g * (c / total) for g, c in zip(gradients, counts)))


def wrong_list(gradients, counts):
    """wrong: returns the list of weighted gradients, not their sum"""
    total = sum(counts)
    return [g * (c / total) for g, c in zip(gradients, counts)]


ANSWERS = [
    right_loop,
    right_stack,
    right_einsum,
    right_running_mean,
    right_flat_matmul,
    right_clone_in_place,
    wrong_plain_mean,
    wrong_plain_sum,
    wrong_mean_of_active,
    wrong_no_division,
    wrong_divide_by_n,
    wrong_sum_over_total,
    wrong_floor_division,
    wrong_zero_counts_as_one,
    wrong_break_at_zero,
    wrong_pairwise_nan,
    wrong_pairwise_forgets,
    wrong_scales_in_place,
    wrong_first_in_place,
    wrong_broadcast_last,
    wrong_only_vectors,
    wrong_only_matrices,
    wrong_flat_shape,
    wrong_softmax,
    wrong_inverse,
    wrong_dict,
    wrong_prints,
    wrong_list,
]
