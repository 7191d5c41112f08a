import math
import torch
import torch.nn.functional as F


def right_1(numbers, bytes_each, processes, sharded):
    """right: counts what one ring round sends, piece by piece"""
    piece = numbers * bytes_each / processes
    sent = 0
    rounds = ["reduce-scatter", "all-gather"]
    if sharded:
        rounds.append("all-gather")
    for _ in rounds:
        for _ in range(processes - 1):
            sent += piece
    return sent


def right_2(numbers, bytes_each, processes, sharded):
    """right: one expression with bool arithmetic"""
    return (2 + bool(sharded)) * numbers * bytes_each * (1 - 1 / processes)


def wrong_1(numbers, bytes_each, processes, sharded):
    """wrong: all-reduce counted as one round"""
    size = numbers * bytes_each
    once = size * (processes - 1) / processes
    if sharded:
        return 3 * once
    return once


def wrong_2(numbers, bytes_each, processes, sharded):
    """wrong: weights gathered once only when sharded"""
    once = (processes - 1) / processes * numbers * bytes_each
    if sharded:
        return once + once  # gather + reduce-scatter
    return 2 * once


def wrong_3(numbers, bytes_each, processes, sharded):
    """wrong: integer division"""
    rounds = 3 if sharded else 2
    return rounds * numbers * bytes_each * (processes - 1) // processes


def wrong_4(numbers, bytes_each, processes, sharded):
    """wrong: sends the whole size, not (N-1)/N of it"""
    if processes == 1:
        return 0
    rounds = 3 if sharded else 2
    return rounds * numbers * bytes_each


def wrong_5(numbers, bytes_each, processes, sharded):
    """wrong: counts what all processes send together: forgot / processes"""
    rounds = 3 if sharded else 2
    return rounds * (processes - 1) * numbers * bytes_each


def wrong_6(numbers, bytes_each, processes, sharded):
    """wrong: sharded the wrong way round"""
    rounds = 2 if sharded else 3
    return rounds * (processes - 1) / processes * numbers * bytes_each


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
