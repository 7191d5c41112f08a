import math
from functools import reduce

import torch
import torch.nn.functional as F


def right_loop(x, W1_parts, b1_parts, W2_parts, b2):
    """right: loop over processes, sum of the partial outputs, b2 once at the end"""
    out = torch.zeros_like(x)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + F.gelu(x @ W1 + b1) @ W2
    return out + b2


def right_stack(x, W1_parts, b1_parts, W2_parts, b2):
    """right: list of partial outputs, stacked and summed over the processes"""
    partial = []
    for n in range(len(W1_parts)):
        hidden = F.gelu(x @ W1_parts[n] + b1_parts[n])
        partial.append(hidden @ W2_parts[n])
    return torch.stack(partial).sum(0) + b2


def right_b2_shares(x, W1_parts, b1_parts, W2_parts, b2):
    """right: each process adds b2 / N, the all-reduce makes it b2"""
    N = len(W1_parts)
    return sum(
        F.gelu(x @ W1 + b1) @ W2 + b2 / N
        for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts)
    )


def right_process_0_adds_b2(x, W1_parts, b1_parts, W2_parts, b2):
    """right: F.linear, only process 0 gives its second layer the bias b2"""
    partial = []
    for n, (W1, b1, W2) in enumerate(zip(W1_parts, b1_parts, W2_parts)):
        hidden = F.gelu(F.linear(x, W1.T, b1))
        partial.append(F.linear(hidden, W2.T, b2 if n == 0 else None))
    return reduce(torch.add, partial)


def right_einsum(x, W1_parts, b1_parts, W2_parts, b2):
    """right: einsum per process, summed in place into copies of b2"""
    out = b2.repeat(len(x), 1)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        hidden = F.gelu(torch.einsum("tc,cf->tf", x, W1) + b1)
        out += torch.einsum("tf,fc->tc", hidden, W2)
    return out


def right_erf(x, W1_parts, b1_parts, W2_parts, b2):
    """right: gelu written out with erf, map over the processes"""

    def process(W1, b1, W2):
        h = x @ W1 + b1
        return h * (1 + torch.erf(h / math.sqrt(2))) / 2 @ W2

    return sum(map(process, W1_parts, b1_parts, W2_parts), b2)


def wrong_b2_every_process(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: every process adds b2, so that it is counted N times"""
    out = torch.zeros_like(x)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + F.gelu(x @ W1 + b1) @ W2 + b2
    return out


def wrong_no_b2(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: forgets b2"""
    parts = zip(W1_parts, b1_parts, W2_parts)
    return sum(F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in parts)


def wrong_b2_not_first(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: test the wrong way round, all but process 0 add b2 (right for N = 2)"""
    out = torch.zeros_like(x)
    for n in range(len(W1_parts)):
        out = out + F.gelu(x @ W1_parts[n] + b1_parts[n]) @ W2_parts[n]
        if n:
            out = out + b2
    return out


def wrong_gelu_after_sum(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: gelu after the all-reduce, on the output"""
    out = torch.zeros_like(x)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + (x @ W1 + b1) @ W2
    return F.gelu(out) + b2


def wrong_b1_after_gelu(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: adds b1 after gelu"""
    out = torch.zeros_like(x)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + (F.gelu(x @ W1) + b1) @ W2
    return out + b2


def wrong_no_b1(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: forgets b1"""
    out = torch.zeros_like(x)
    for W1, W2 in zip(W1_parts, W2_parts):
        out = out + F.gelu(x @ W1) @ W2
    return out + b2


def wrong_mean(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: all-reduce by mean, not by sum"""
    partial = [
        F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts)
    ]
    return torch.stack(partial).mean(0) + b2


def wrong_sums_hidden(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: all-reduces the hidden features too, an error for unequal F_n"""
    hidden = sum(F.gelu(x @ W1 + b1) for W1, b1 in zip(W1_parts, b1_parts))
    return sum(hidden @ W2 for W2 in W2_parts) + b2


def wrong_equal_parts(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: stacks the parts, an error for unequal F_n"""
    W1, b1, W2 = map(torch.stack, (W1_parts, b1_parts, W2_parts))
    hidden = F.gelu(x @ W1 + b1[:, None])
    return (hidden @ W2).sum(0) + b2


def wrong_chained(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: each process takes the last one's output, as if they were layers"""
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        x = F.gelu(x @ W1 + b1) @ W2
    return x + b2


def wrong_gelu_tanh(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: the tanh approximation of gelu, off by about 1e-3"""
    out = torch.zeros_like(x)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + F.gelu(x @ W1 + b1, approximate="tanh") @ W2
    return out + b2


def wrong_gelu_each_partial(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: a second gelu on each partial output"""
    out = torch.zeros_like(x)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + F.gelu(F.gelu(x @ W1 + b1) @ W2)
    return out + b2


def wrong_skips_process_0(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: loop begins at process 1"""
    out = torch.zeros_like(x)
    for n in range(1, len(W1_parts)):
        out = out + F.gelu(x @ W1_parts[n] + b1_parts[n]) @ W2_parts[n]
    return out + b2


def wrong_only_last(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: = in place of +=, only the last process counts"""
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = F.gelu(x @ W1 + b1) @ W2
    return out + b2


def wrong_return_in_loop(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: return indented into the loop, only process 0 counts"""
    out = torch.zeros_like(x)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out = out + F.gelu(x @ W1 + b1) @ W2
        return out + b2


def wrong_reduces_in_loop(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: adds the running sum at each step, early processes count often"""
    partial, out = torch.zeros_like(x), torch.zeros_like(x)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        partial = partial + F.gelu(x @ W1 + b1) @ W2
        out = out + partial
    return out + b2


def wrong_gather(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: concatenates the partial outputs, shape (N * T, C)"""
    partial = []
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        partial.append(F.gelu(x @ W1 + b1) @ W2)
    return torch.cat(partial) + b2


def wrong_copy_per_process(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: returns a list, one copy of the right output for each process"""
    parts = zip(W1_parts, b1_parts, W2_parts)
    out = sum(F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in parts) + b2
    return [out for _ in W1_parts]


def wrong_sums_tokens(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: sums the joined partial outputs over the tokens too, shape (C,)"""
    partial = []
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        partial.append(F.gelu(x @ W1 + b1) @ W2)
    return torch.cat(partial).sum(0) + b2


def wrong_expand_in_place(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: adds in place to an expanded b2, an error (for T = 1 it changes b2)"""
    out = b2.expand(len(x), -1)
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out += F.gelu(x @ W1 + b1) @ W2
    return out


def wrong_b2_in_place(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: right value, but divides the given b2 by N in place"""
    b2 /= len(W1_parts)
    parts = zip(W1_parts, b1_parts, W2_parts)
    return sum(F.gelu(x @ W1 + b1) @ W2 + b2 for W1, b1, W2 in parts)


def wrong_into_x(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: accumulates into x, changes it and feeds it to the next process"""
    out = x
    for W1, b1, W2 in zip(W1_parts, b1_parts, W2_parts):
        out += F.gelu(x @ W1 + b1) @ W2
    return out + b2


def wrong_prints(x, W1_parts, b1_parts, W2_parts, b2):
    """wrong: prints the output and returns None"""
    parts = zip(W1_parts, b1_parts, W2_parts)
    print(sum(F.gelu(x @ W1 + b1) @ W2 for W1, b1, W2 in parts) + b2)


ANSWERS = [
    right_loop,
    right_stack,
    right_b2_shares,
    right_process_0_adds_b2,
    right_einsum,
    right_erf,
    wrong_b2_every_process,
    wrong_no_b2,
    wrong_b2_not_first,
    wrong_gelu_after_sum,
    wrong_b1_after_gelu,
    wrong_no_b1,
    wrong_mean,
    wrong_sums_hidden,
    wrong_equal_parts,
    wrong_chained,
    wrong_gelu_tanh,
    wrong_gelu_each_partial,
    wrong_skips_process_0,
    wrong_only_last,
    wrong_return_in_loop,
    wrong_reduces_in_loop,
    wrong_gather,
    wrong_copy_per_process,
    wrong_sums_tokens,
    wrong_expand_in_place,
    wrong_b2_in_place,
    wrong_into_x,
    wrong_prints,
]
