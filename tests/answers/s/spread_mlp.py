import functools
import math

import torch
import torch.nn.functional as F


def right_loop_then_sum(x, W1_parts, b1_parts, W2_parts, b2):
    """right: a list of partial outputs, summed, and b2 added once at the end"""
    partials = []
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        hidden = F.gelu(x @ W1 + b1)
        partials.append(hidden @ W2)
    return sum(partials) + b2


def right_first_process_adds_b2(x, W1_parts, b1_parts, W2_parts, b2):
    """right: only process 0 adds b2 to its partial output; stacks and sums"""

    def process(n):
        out = F.linear(F.gelu(F.linear(x, W1_parts[n].T, b1_parts[n])), W2_parts[n].T)
        return out + b2 if n == 0 else out

    return torch.stack([process(n) for n in range(len(W1_parts))]).sum(dim=0)


def right_an_nth_of_b2_each(x, W1_parts, b1_parts, W2_parts, b2):
    """right: each process adds b2 / N, by einsum and an all-reduce by reduce"""
    n_processes = len(W2_parts)

    def alone(parts):
        W1, b1, W2 = parts
        before = torch.einsum("tc,cf->tf", x, W1) + b1
        return torch.einsum("tf,fc->tc", F.gelu(before), W2) + b2 / n_processes

    return functools.reduce(torch.add, map(alone, zip(W1_parts, b1_parts, W2_parts)))


def right_recursive_halves(x, W1_parts, b1_parts, W2_parts, b2):
    """right: sums over processes as a tree, by recursion"""

    def tree(start, stop):
        if stop - start == 1:
            before = torch.addmm(b1_parts[start], x, W1_parts[start])
            return torch.mm(F.gelu(before), W2_parts[start])
        middle = (start + stop) // 2
        return tree(start, middle) + tree(middle, stop)

    return torch.add(b2, tree(0, len(W1_parts)))


def right_in_place_on_a_fresh_tensor(x, W1_parts, b1_parts, W2_parts, b2):
    """right: starts from b2 repeated for all tokens, adds feature by feature"""
    out = b2.repeat(x.shape[0], 1)
    for n in range(len(W1_parts)):
        for f in range(W1_parts[n].shape[1]):
            feature = F.gelu(x.mv(W1_parts[n][:, f]) + b1_parts[n][f])
            out += torch.outer(feature, W2_parts[n][f])
    return out


def right_float64_and_erf(x, W1_parts, b1_parts, W2_parts, b2):
    """right: in float64, with gelu written by erf, and returns float64"""
    x64 = x.double()
    out = torch.zeros(x.shape[0], b2.shape[0], dtype=torch.float64)
    for n, W1 in enumerate(W1_parts):
        u = x64 @ W1.double() + b1_parts[n].double()
        out = out + (0.5 * u * (1 + torch.erf(u / math.sqrt(2)))) @ W2_parts[n].double()
    return out + b2.double()


def wrong_b2_in_every_process(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: adds b2 in every process, so it counts N times"""
    out = 0
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + F.gelu(x @ W1 + b1) @ W2 + b2
    return out


def wrong_no_b2(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: forgets b2"""
    return sum(
        F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts)
    )


def wrong_no_b1(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: forgets b1"""
    return sum(F.gelu(x @ W1) @ W2 for W1, W2 in zip(W1_parts, W2_parts)) + b2


def wrong_b1_after_gelu(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: adds b1 after the gelu instead of before it"""
    out = b2
    for n in range(len(W1_parts)):
        out = out + (F.gelu(x @ W1_parts[n]) + b1_parts[n]) @ W2_parts[n]
    return out


def wrong_b1_shared_out(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: divides b1 by N as well as b2, though b1 is a process's own"""
    n = len(W1_parts)
    out = 0
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + F.gelu(x @ W1 + b1 / n) @ W2 + b2 / n
    return out


def wrong_gelu_after_the_sum(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: sums the partial outputs first, and takes the gelu of the sum"""
    partials = [(x @ W1 + b1) @ W2 for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts)]
    return F.gelu(torch.stack(partials).sum(0)) + b2


def wrong_gelu_on_the_partial_output(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: the gelu after W2 in each process, instead of between W1 and W2"""
    partials = []
    for n in range(len(W1_parts)):
        hidden = x @ W1_parts[n] + b1_parts[n]
        partials.append(F.gelu(hidden @ W2_parts[n]))
    return sum(partials) + b2


def wrong_relu(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: relu instead of gelu"""
    return b2 + sum(
        torch.relu(x @ W1 + b1) @ W2 for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts)
    )


def wrong_tanh_gelu(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: the tanh approximation of gelu, a little off"""
    out = torch.zeros_like(x)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + F.gelu(x @ W1 + b1, approximate="tanh") @ W2
    return out + b2


def wrong_mean_over_processes(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: averages the partial outputs instead of summing them"""
    partials = torch.stack(
        [F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts)]
    )
    return partials.mean(dim=0) + b2


def wrong_weighted_by_features(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: weights each partial output by its share of the features"""
    features = sum(W1.shape[1] for W1 in W1_parts)
    out = b2.expand(x.shape[0], -1)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + W1.shape[1] / features * (F.gelu(x @ W1 + b1) @ W2)
    return out


def wrong_last_process_only(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: overwrites the output in the loop, so only the last process counts"""
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = F.gelu(x @ W1 + b1) @ W2
    return out + b2


def wrong_skips_the_last_process(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: the loop ends one process too early"""
    out = torch.zeros(x.shape[0], b2.shape[0])
    for n in range(len(W1_parts) - 1):
        out += F.gelu(x @ W1_parts[n] + b1_parts[n]) @ W2_parts[n]
    return out + b2


def wrong_first_process_twice(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: starts the sum with process 0, and then adds process 0 again"""
    partials = [
        F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts)
    ]
    total = partials[0]
    for partial in partials:
        total = total + partial
    return total + b2


def wrong_two_processes_only(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: plays the first two processes only, right for N = 2"""
    out = b2
    for W1, b1, W2 in list(zip(W1_parts, b1_parts, W2_parts))[:2]:
        out = out + F.gelu(x @ W1 + b1) @ W2
    return out


def wrong_second_process_adds_b2(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: process 1 adds b2, so it is missing where there is one process only"""
    out = 0
    for n in range(len(W1_parts)):
        partial = F.gelu(x @ W1_parts[n] + b1_parts[n]) @ W2_parts[n]
        if n == 1:
            partial = partial + b2
        out = out + partial
    return out


def wrong_cut_to_the_smallest(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: cuts all parts to the smallest F_n, right for equal sizes only"""
    size = min(W1.shape[1] for W1 in W1_parts)
    W1 = torch.stack([part[:, :size] for part in W1_parts])
    b1 = torch.stack([part[:size] for part in b1_parts])
    W2 = torch.stack([part[:size] for part in W2_parts])
    hidden = F.gelu(torch.einsum("tc,ncf->ntf", x, W1) + b1[:, None])
    return torch.einsum("ntf,nfc->tc", hidden, W2) + b2


def wrong_weights_exchanged(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: W2 transposed goes first and W1 transposed second; the shapes fit"""
    out = 0
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + F.gelu(x @ W2.T + b1) @ W1.T
    return out + b2


def wrong_one_process_feeds_the_next(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: each process works on the output of the one before, as layers do"""
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        x = F.gelu(x @ W1 + b1) @ W2
    return x + b2


def wrong_residual(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: adds x to the output, as a transformer's block does"""
    out = x.clone()
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out += F.gelu(x @ W1 + b1) @ W2
    return out + b2


def wrong_not_summed(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: stacks the partial outputs but doesn't sum them, (N, T, C)"""
    return torch.stack(
        [F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts)]
    ).add(b2)


def wrong_sum_over_tokens(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: sums the stacked outputs over tokens, not over processes, (N, C)"""
    partials = torch.stack(
        [F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts)]
    )
    return partials.sum(dim=1) + b2


def wrong_b2_divided_in_place(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: divides the caller's b2 by N in place; a second call is off"""
    b2 /= len(W1_parts)
    return sum(
        F.gelu(x @ W1 + b1) @ W2 + b2
        for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts)
    )


def wrong_sums_into_x(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: adds into the caller's x, which later processes and the output see"""
    out = x
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out += F.gelu(x @ W1 + b1) @ W2
    return out + b2


ANSWERS = [
    right_loop_then_sum,
    right_first_process_adds_b2,
    right_an_nth_of_b2_each,
    right_recursive_halves,
    right_in_place_on_a_fresh_tensor,
    right_float64_and_erf,
    wrong_b2_in_every_process,
    wrong_no_b2,
    wrong_no_b1,
    wrong_b1_after_gelu,
    wrong_b1_shared_out,
    wrong_gelu_after_the_sum,
    wrong_gelu_on_the_partial_output,
    wrong_relu,
    wrong_tanh_gelu,
    wrong_mean_over_processes,
    wrong_weighted_by_features,
    wrong_last_process_only,
    wrong_skips_the_last_process,
    wrong_first_process_twice,
    wrong_two_processes_only,
    wrong_second_process_adds_b2,
    wrong_cut_to_the_smallest,
    wrong_weights_exchanged,
    wrong_one_process_feeds_the_next,
    wrong_residual,
    wrong_not_summed,
    wrong_sum_over_tokens,
    wrong_b2_divided_in_place,
    wrong_sums_into_x,
]
