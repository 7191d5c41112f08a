"""Bytes that a process sends in a training step."""

from fractions import Fraction


def formula(numbers, bytes_each, processes, sharded):
    rounds = 3 if sharded else 2
    return rounds * (processes - 1) / processes * numbers * bytes_each


def in_steps(numbers, bytes_each, processes, sharded):
    payload = numbers * bytes_each
    one_round = payload - payload / processes
    return 3 * one_round if sharded else 2 * one_round


def exact(numbers, bytes_each, processes, sharded):
    share = Fraction(processes - 1, processes)
    return (2 + sharded) * share * numbers * bytes_each


def piece_by_piece(numbers, bytes_each, processes, sharded):
    piece, sent = numbers * bytes_each / processes, 0.0
    for _ in range(3 if sharded else 2):
        for _ in range(processes - 1):
            sent += piece
    return sent


def no_second_round(numbers, bytes_each, processes, sharded):
    return (3 if sharded else 1) * (processes - 1) / processes * numbers * bytes_each


def gathered_once(numbers, bytes_each, processes, sharded):
    return 2 * (processes - 1) / processes * numbers * bytes_each


def whole_tensors(numbers, bytes_each, processes, sharded):
    return (3 if sharded else 2) * numbers * bytes_each


def to_everybody(numbers, bytes_each, processes, sharded):
    return (3 if sharded else 2) * (processes - 1) * numbers * bytes_each


def numbers_only(numbers, bytes_each, processes, sharded):
    return (3 if sharded else 2) * (processes - 1) / processes * numbers


def exchanged(numbers, bytes_each, processes, sharded):
    return (2 if sharded else 3) * (processes - 1) / processes * numbers * bytes_each


RIGHT = [formula, in_steps, exact, piece_by_piece]
WRONG = [
    (no_second_round, "a ring that is walked once"),
    (gathered_once, "weights that are gathered once"),
    (whole_tensors, "a whole tensor for each round"),
    (to_everybody, "a whole tensor for each other process"),
    (numbers_only, "a count of numbers"),
    (exchanged, "the two ways exchanged"),
]
