import math
from fractions import Fraction

import torch


def right_if_else(numbers, bytes_each, processes, sharded):
    """right: three rounds when sharded, else two, each (N - 1) / N of P."""
    model = numbers * bytes_each
    share = (processes - 1) / processes
    if sharded:
        return 3 * share * model
    return 2 * share * model


def right_helpers(numbers, bytes_each, processes, sharded):
    """right: a helper for each collective, and adds up what's used."""
    P = numbers * bytes_each

    def all_gather(size):
        return size * (processes - 1) / processes

    def reduce_scatter(size):
        return size * (processes - 1) / processes

    def all_reduce(size):
        return reduce_scatter(size) + all_gather(size)

    if not sharded:
        return all_reduce(P)
    forward = all_gather(P)
    backward = all_gather(P)
    return forward + backward + reduce_scatter(P)


def right_walk_the_ring(numbers, bytes_each, processes, sharded):
    """right: walks round the ring chunk by chunk with exact fractions."""
    chunk = Fraction(numbers * bytes_each) / processes
    sent = Fraction(0)
    rounds = ["reduce-scatter", "all-gather"]
    if sharded:
        rounds = ["all-gather", "all-gather", "reduce-scatter"]
    for _ in rounds:
        for _ in range(processes - 1):
            sent += chunk
    return float(sent)


def right_torch_double(numbers, bytes_each, processes, sharded):
    """right: a dot product in float64 of how often and how much, as a Python float."""
    often = {False: [2, 0, 0], True: [0, 2, 1]}[bool(sharded)]
    factors = torch.tensor([1.0, 1.0, 1.0], dtype=torch.float64)
    factors *= 1 - 1 / processes
    often = torch.tensor(often, dtype=torch.float64)
    return (often @ factors).item() * numbers * bytes_each


def right_whole_minus_own(numbers, bytes_each, processes, sharded):
    """right: (2 + sharded) times the model less one chunk, as an exact fraction."""
    model = Fraction(numbers * bytes_each)
    return (2 + bool(sharded)) * (model - model / processes)


def wrong_branches_swapped(numbers, bytes_each, processes, sharded):
    """wrong: takes three rounds for data parallel and two for sharded."""
    model = numbers * bytes_each
    share = (processes - 1) / processes
    if not sharded:
        return 3 * share * model
    else:
        return 2 * share * model


def wrong_no_share(numbers, bytes_each, processes, sharded):
    """wrong: forgets the factor (N - 1) / N."""
    return numbers * bytes_each * (3 if sharded else 2)


def wrong_one_gather(numbers, bytes_each, processes, sharded):
    """wrong: gathers the weights only once when sharded."""
    P = numbers * bytes_each
    gather = (processes - 1) / processes * P
    scatter = (processes - 1) / processes * P
    if sharded:
        return gather + scatter
    return 2 * (processes - 1) / processes * P


def wrong_all_reduce_when_sharded(numbers, bytes_each, processes, sharded):
    """wrong: sharded, all-reduces the gradients in place of a reduce-scatter."""
    P = numbers * bytes_each
    ring = (processes - 1) / processes * P
    sent = 2 * ring
    if sharded:
        sent += 2 * ring
    return sent


def wrong_whole_ring(numbers, bytes_each, processes, sharded):
    """wrong: gives what all processes send together."""
    total = 0
    for _ in range(processes):
        total += (processes - 1) / processes * numbers * bytes_each
    return total * (3 if sharded else 2)


def wrong_counts_numbers(numbers, bytes_each, processes, sharded):
    """wrong: forgets that a number has several bytes."""
    rounds = 3 if sharded else 2
    return rounds * (processes - 1) / processes * numbers


def wrong_floor(numbers, bytes_each, processes, sharded):
    """wrong: rounds down with an integer division at the end."""
    rounds = 3 if sharded else 2
    return rounds * (processes - 1) * numbers * bytes_each // processes


def wrong_zero_share(numbers, bytes_each, processes, sharded):
    """wrong: an integer division makes the share zero, so nothing is ever sent."""
    share = (processes - 1) // processes
    return share * numbers * bytes_each * (3 if sharded else 2)


def wrong_precedence(numbers, bytes_each, processes, sharded):
    """wrong: leaves out the parentheses round N - 1."""
    P = numbers * bytes_each
    if sharded:
        return 3 * processes - 1 / processes * P
    return 2 * processes - 1 / processes * P


def wrong_shard_for_model(numbers, bytes_each, processes, sharded):
    """wrong: sharded, takes P to be one process's share of the model."""
    P = numbers * bytes_each
    if sharded:
        P = P / processes
        return 3 * (processes - 1) / processes * P
    return 2 * (processes - 1) / processes * P


def wrong_sharded_adds_on_top(numbers, bytes_each, processes, sharded):
    """wrong: sharded, adds its three rounds to the all-reduce."""
    P = numbers * bytes_each
    share = (processes - 1) / processes
    sent = 2 * share * P
    if sharded:
        sent += 2 * share * P
        sent += share * P
    return sent


def wrong_padded_chunks(numbers, bytes_each, processes, sharded):
    """wrong: rounds chunks up to whole numbers, too much for an uneven split."""
    chunk = math.ceil(numbers / processes) * bytes_each
    steps = processes - 1
    return (3 if sharded else 2) * steps * chunk


def wrong_lone_process(numbers, bytes_each, processes, sharded):
    """wrong: lets a single process send something, through max(1, N - 1)."""
    others = max(1, processes - 1)
    rounds = 2 + int(sharded)
    return rounds * others / processes * numbers * bytes_each


def wrong_int32(numbers, bytes_each, processes, sharded):
    """wrong: multiplies in int32, which overflows for a model of more than 2 GB."""
    size = torch.tensor(numbers, dtype=torch.int32) * bytes_each
    rounds = 3 if sharded else 2
    return rounds * (processes - 1) / processes * size.item()


def wrong_prints(numbers, bytes_each, processes, sharded):
    """wrong: prints the right number and returns nothing."""
    rounds = 3 if sharded else 2
    print(rounds * (processes - 1) / processes * numbers * bytes_each)


def wrong_one_round_and_bits(numbers, bytes_each, processes, sharded):
    """wrong: takes an all-reduce for one round, and gives bits for bytes."""
    P = numbers * bytes_each * 8
    share = (processes - 1) / processes
    return (3 if sharded else 1) * share * P


def wrong_sends_all_to_each(numbers, bytes_each, processes, sharded):
    """wrong: data parallel right, but sharded sends (N - 1) times P in each round."""
    P = numbers * bytes_each
    sent = 0
    if sharded:
        for _ in range(3):
            for peer in range(1, processes):
                sent += P
        return sent
    return P * 2 * (processes - 1) / processes


def wrong_not_one_of_them(numbers, bytes_each, processes, sharded):
    """wrong: has N / (N + 1) for (N - 1) / N, as if the process weren't one of N."""
    P = numbers * bytes_each
    others = processes
    share = others / (others + 1)
    return share * P * [2, 3][sharded]


ANSWERS = [
    right_if_else,
    right_helpers,
    right_walk_the_ring,
    right_torch_double,
    right_whole_minus_own,
    wrong_branches_swapped,
    wrong_no_share,
    wrong_one_gather,
    wrong_all_reduce_when_sharded,
    wrong_whole_ring,
    wrong_counts_numbers,
    wrong_floor,
    wrong_zero_share,
    wrong_precedence,
    wrong_shard_for_model,
    wrong_sharded_adds_on_top,
    wrong_padded_chunks,
    wrong_lone_process,
    wrong_int32,
    wrong_prints,
    wrong_one_round_and_bits,
    wrong_sends_all_to_each,
    wrong_not_one_of_them,
]
