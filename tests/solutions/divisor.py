"""What to divide scores by, if entries have some mean and some variance."""

import math

import torch


def one_root(D, mean, variance):
    return (D * variance * (variance + mean * mean)) ** 0.5


def by_products(D, mean, variance):
    of_query = variance + mean**2  # the mean of its square
    of_product = of_query * variance
    return math.sqrt(D) * math.sqrt(of_product)


def by_tensor(D, mean, variance):
    mean, variance = torch.tensor([mean, variance], dtype=torch.float64)
    return (D * (variance**2 + variance * mean**2)).sqrt()


def by_deviations(D, mean, variance):
    std = math.sqrt(variance)
    return math.sqrt(D) * std * math.hypot(mean, std)


def as_usual(D, mean, variance):
    return D**0.5


def without_the_mean(D, mean, variance):
    return math.sqrt(D * variance * variance)


def keys_only(D, mean, variance):
    return D**0.5 * variance**0.5


def of_all_scores(D, mean, variance):
    return math.sqrt(D * ((variance + mean**2) ** 2 - mean**4))


def mean_squares(D, mean, variance):
    return math.sqrt(D * (variance + mean**2) ** 2)


def the_variance(D, mean, variance):
    return one_root(D, mean, variance) ** 2


def a_factor(D, mean, variance):
    return one_root(D, mean, variance) ** -1


def by_the_width(D, mean, variance):
    return D * math.sqrt(variance * (variance + mean**2))


RIGHT = [one_root, by_products, by_tensor, by_deviations]
WRONG = [
    (as_usual, "the square root of D"),
    (without_the_mean, "the mean left out"),
    (keys_only, "one variance in place of two factors"),
    (of_all_scores, "the variance of all scores, not within a row"),
    (mean_squares, "the mean square of the scores' products"),
    (the_variance, "a variance in place of a standard deviation"),
    (a_factor, "a number to multiply by"),
    (by_the_width, "D in place of its square root"),
]
