"""How many standard errors the mean of one list lies below that of another."""

import math
import statistics

import numpy as np
import torch


def by_statistics(new, last):
    errors = [statistics.variance(one) / len(one) for one in (new, last)]
    return (statistics.mean(last) - statistics.mean(new)) / sum(errors) ** 0.5


def by_loops(new, last):
    means, squares = [], 0.0
    for losses in (new, last):
        n = len(losses)
        mean = sum(losses) / n
        total = 0.0
        for loss in losses:
            total += (loss - mean) ** 2
        means.append(mean)
        squares += total / (n - 1) / n
    return (means[1] - means[0]) / math.sqrt(squares)


def by_tensors(new, last):
    new, last = (torch.tensor(one, dtype=torch.float64) for one in (new, last))
    error = torch.hypot(new.std() / len(new) ** 0.5, last.std() / len(last) ** 0.5)
    return (last.mean() - new.mean()) / error


def by_numpy(new, last):
    def mean_and_square(losses):
        return np.mean(losses), np.var(losses) / (len(losses) - 1)

    (a, square_a), (b, square_b) = mean_and_square(new), mean_and_square(last)
    return (b - a) / np.sqrt(square_a + square_b)


def the_other_way_round(new, last):
    error = math.hypot(*(statistics.stdev(x) / len(x) ** 0.5 for x in (new, last)))
    return (statistics.mean(new) - statistics.mean(last)) / error


def numpy_as_it_comes(new, last):
    errors = [np.std(one) / np.sqrt(len(one)) for one in (new, last)]
    return (np.mean(last) - np.mean(new)) / np.hypot(*errors)


def scatter_of_single_losses(new, last):
    spread = math.hypot(statistics.stdev(new), statistics.stdev(last))
    return (statistics.mean(last) - statistics.mean(new)) / spread


def errors_added(new, last):
    error = sum(statistics.stdev(one) / math.sqrt(len(one)) for one in (new, last))
    return (statistics.mean(last) - statistics.mean(new)) / error


def a_root_forgotten(new, last):
    error = sum(statistics.variance(one) / len(one) for one in (new, last))
    return (statistics.mean(last) - statistics.mean(new)) / error


def seed_by_seed(new, last):
    gains = [b - a for a, b in zip(new, last, strict=False)]
    error = statistics.pstdev(gains) / math.sqrt(len(gains) - 1)
    return statistics.mean(gains) / error if error else math.inf


def students_own(new, last):
    both = sum(statistics.variance(x) * (len(x) - 1) for x in (new, last))
    variance = both / (len(new) + len(last) - 2)
    error = math.sqrt(variance / len(new) + variance / len(last))
    return (statistics.mean(last) - statistics.mean(new)) / error


RIGHT = [by_statistics, by_loops, by_tensors, by_numpy]
WRONG = [
    (the_other_way_round, "a sign the wrong way round"),
    (numpy_as_it_comes, "n below the sum of squares"),
    (scatter_of_single_losses, "standard deviations in place of errors"),
    (errors_added, "two errors added"),
    (a_root_forgotten, "no root of the sum"),
    (seed_by_seed, "pairs of losses"),
    (students_own, "one variance for both"),
]
