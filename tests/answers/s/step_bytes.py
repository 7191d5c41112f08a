import math
from fractions import Fraction

import torch


def right_bool_as_number(numbers, bytes_each, processes, sharded):
    """right: counts the rounds as 2 plus the flag, times all but one Nth of P"""
    return (2 + bool(sharded)) * numbers * bytes_each * (1 - 1 / processes)


def right_named_collectives(numbers, bytes_each, processes, sharded):
    """right: a helper for each kind of collective, then adds them up"""

    def all_gather(size):
        return (processes - 1) / processes * size

    def reduce_scatter(size):
        return (processes - 1) / processes * size

    def all_reduce(size):
        return 2 * (processes - 1) / processes * size

    model = numbers * bytes_each
    if not sharded:
        return all_reduce(model)
    return all_gather(model) + all_gather(model) + reduce_scatter(model)


def right_walks_round_the_ring(numbers, bytes_each, processes, sharded):
    """right: plays the ring, one piece of P / N bytes in each of N - 1 hops"""
    piece = numbers * bytes_each / processes
    if sharded:
        rounds = ["gather forward", "gather backward", "scatter"]
    else:
        rounds = ["scatter", "gather"]
    sent = 0.0
    for _ in rounds:
        for _hop in range(1, processes):
            sent += piece
    return sent


def right_exact_fraction(numbers, bytes_each, processes, sharded):
    """right: returns an exact Fraction"""
    rounds = {False: 2, True: 3}[bool(sharded)]
    return Fraction(rounds * numbers * bytes_each * (processes - 1), processes)


def right_recursion_over_rounds(numbers, bytes_each, processes, sharded):
    """right: sends one round, and calls itself for the rounds that remain"""

    def send(rounds):
        if rounds == 0:
            return 0
        one = numbers * bytes_each - numbers * bytes_each / processes
        return one + send(rounds - 1)

    return send(3 if sharded else 2)


def right_int_if_it_divides(numbers, bytes_each, processes, sharded):
    """right: an int if no fraction of a byte remains, else a float"""
    rounds = 3 if sharded else 2
    total = rounds * numbers * bytes_each * (processes - 1)
    whole, rest = divmod(total, processes)
    return whole if rest == 0 else whole + rest / processes


def wrong_branches_swapped(numbers, bytes_each, processes, sharded):
    """wrong: swaps the cases, 3 rounds data parallel and 2 sharded"""
    rounds = 2 if sharded else 3
    return rounds * (processes - 1) / processes * numbers * bytes_each


def wrong_integer_division_of_factor(numbers, bytes_each, processes, sharded):
    """wrong: (N - 1) // N is always 0"""
    rounds = 3 if sharded else 2
    return rounds * ((processes - 1) // processes) * numbers * bytes_each


def wrong_floors_the_result(numbers, bytes_each, processes, sharded):
    """wrong: rounds the result down to a whole byte by // at the end"""
    rounds = 3 if sharded else 2
    return rounds * numbers * bytes_each * (processes - 1) // processes


def wrong_pads_to_equal_shards(numbers, bytes_each, processes, sharded):
    """wrong: rounds each shard up to whole numbers, as if padded"""
    shard = math.ceil(numbers / processes) * bytes_each
    return (3 if sharded else 2) * (processes - 1) * shard


def wrong_factor_upside_down(numbers, bytes_each, processes, sharded):
    """wrong: N / (N - 1) instead of (N - 1) / N"""
    size = numbers * bytes_each
    if processes == 1:
        return 0
    return (3 if sharded else 2) * processes / (processes - 1) * size


def wrong_no_ring_factor(numbers, bytes_each, processes, sharded):
    """wrong: leaves out (N - 1) / N, right only for very many processes"""
    return numbers * bytes_each * (3 if sharded else 2)


def wrong_gathers_once(numbers, bytes_each, processes, sharded):
    """wrong: sharded, gathers the weights once only, so both ways cost the same"""
    size = numbers * bytes_each
    one = (processes - 1) / processes * size
    if sharded:
        gather = one
        scatter = one
        return gather + scatter
    return 2 * one


def wrong_sharded_also_all_reduces(numbers, bytes_each, processes, sharded):
    """wrong: sharded, all-reduces the gradients instead of reduce-scattering"""
    one = numbers * bytes_each * (processes - 1) / processes
    total = 2 * one
    if sharded:
        total += 2 * one
    return total


def wrong_missing_else(numbers, bytes_each, processes, sharded):
    """wrong: adds the sharded traffic on top of the all-reduce, 5 rounds"""
    one = numbers * bytes_each * (processes - 1) / processes
    sent = 2 * one
    if sharded:
        sent = sent + 3 * one
    return sent


def wrong_all_reduce_is_one_round(numbers, bytes_each, processes, sharded):
    """wrong: forgets the 2 of the all-reduce"""
    size = numbers * bytes_each
    if sharded:
        return 3 * (processes - 1) / processes * size
    return (processes - 1) / processes * size


def wrong_every_collective_doubled(numbers, bytes_each, processes, sharded):
    """wrong: uses the all-reduce's factor 2 for gathers and scatters as well"""
    once = 2 * (processes - 1) / processes * numbers * bytes_each
    return 3 * once if sharded else once


def wrong_forgets_bytes_each(numbers, bytes_each, processes, sharded):
    """wrong: counts numbers, not bytes"""
    return (3 if sharded else 2) * (processes - 1) / processes * numbers


def wrong_list_of_rounds(numbers, bytes_each, processes, sharded):
    """wrong: returns a list, the bytes of each collective, instead of their sum"""
    one = (processes - 1) / processes * numbers * bytes_each
    if sharded:
        return [one, one, one]
    return [2 * one]


def wrong_gradients_in_four_bytes(numbers, bytes_each, processes, sharded):
    """wrong: weights in bytes_each, but gradients always in 4 bytes"""
    ring = (processes - 1) / processes
    weights = numbers * bytes_each
    gradients = numbers * 4
    if sharded:
        return 2 * ring * weights + ring * gradients
    return 2 * ring * gradients


def wrong_all_processes_together(numbers, bytes_each, processes, sharded):
    """wrong: the bytes that all processes send together, N times too many"""
    total = 0
    for _ in range(processes):
        total += (3 if sharded else 2) * (processes - 1) / processes * numbers
    return total * bytes_each


def wrong_gathers_only_its_shard(numbers, bytes_each, processes, sharded):
    """wrong: sharded, takes the shard P / N for P, so divides by N twice"""
    size = numbers * bytes_each
    if sharded:
        size = size / processes
        return 3 * (processes - 1) / processes * size
    return 2 * (processes - 1) / processes * size


def wrong_precedence(numbers, bytes_each, processes, sharded):
    """wrong: forgets the brackets, 2 N - 1 / N instead of 2 (N - 1) / N"""
    size = numbers * bytes_each
    if sharded:
        return (3 * processes - 1 / processes) * size
    return (2 * processes - 1 / processes) * size


def wrong_one_hop_too_few(numbers, bytes_each, processes, sharded):
    """wrong: the loop over hops starts at 1 and ends at N - 2, one too few"""
    piece = numbers * bytes_each / processes
    sent = 0.0
    for _round in range(3 if sharded else 2):
        for _hop in range(1, processes - 1):
            sent += piece
    return sent


def wrong_one_hop_only(numbers, bytes_each, processes, sharded):
    """wrong: each round has one hop only, P / N bytes instead of N - 1 times that"""
    piece = numbers * bytes_each / processes
    if processes == 1:
        return 0
    return sum(piece for _round in range(3 if sharded else 2))


def wrong_only_two_processes(numbers, bytes_each, processes, sharded):
    """wrong: takes a half for (N - 1) / N, right for N = 2 only"""
    return numbers * bytes_each * (3 if sharded else 2) / 2


def wrong_alone_still_sends(numbers, bytes_each, processes, sharded):
    """wrong: right for N > 1, but a single process sends everything to itself"""
    others = max(processes - 1, 1)
    return (3 if sharded else 2) * others / processes * numbers * bytes_each


def wrong_sent_and_received(numbers, bytes_each, processes, sharded):
    """wrong: adds what a process receives to what it sends, twice too many"""
    sent = (3 if sharded else 2) * (processes - 1) / processes * numbers * bytes_each
    received = sent
    return sent + received


def wrong_half_precision_result(numbers, bytes_each, processes, sharded):
    """wrong: multiplies in float16, which rounds, and overflows past 65,504"""
    size = torch.tensor(float(numbers * bytes_each), dtype=torch.float16)
    ring = torch.tensor((processes - 1) / processes, dtype=torch.float16)
    return ((3 if sharded else 2) * ring * size).item()


def wrong_tree_and_once(numbers, bytes_each, processes, sharded):
    """wrong: log2 N hops as in a tree, and the weights are gathered once only"""
    piece = numbers * bytes_each / processes
    return 2 * math.log2(processes) * piece


ANSWERS = [
    right_bool_as_number,
    right_named_collectives,
    right_walks_round_the_ring,
    right_exact_fraction,
    right_recursion_over_rounds,
    right_int_if_it_divides,
    wrong_branches_swapped,
    wrong_integer_division_of_factor,
    wrong_floors_the_result,
    wrong_pads_to_equal_shards,
    wrong_factor_upside_down,
    wrong_no_ring_factor,
    wrong_gathers_once,
    wrong_sharded_also_all_reduces,
    wrong_missing_else,
    wrong_all_reduce_is_one_round,
    wrong_every_collective_doubled,
    wrong_forgets_bytes_each,
    wrong_list_of_rounds,
    wrong_gradients_in_four_bytes,
    wrong_all_processes_together,
    wrong_gathers_only_its_shard,
    wrong_precedence,
    wrong_one_hop_too_few,
    wrong_one_hop_only,
    wrong_only_two_processes,
    wrong_alone_still_sends,
    wrong_sent_and_received,
    wrong_half_precision_result,
    wrong_tree_and_once,
]
