"""The standard deviation of new matrices that need no division by the root of D."""

import math
from fractions import Fraction

import torch


def fourth_root(d_in, D):
    return d_in**-0.5 * D**-0.25


def by_variances(d_in, D):
    of_score = 1.0
    of_product = of_score / D
    of_entry = math.sqrt(of_product)  # of queries and of keys
    return math.sqrt(of_entry / d_in)


def by_tensor(d_in, D):
    return torch.tensor(float(d_in**2 * D)).pow(-0.25)


def by_logarithms(d_in, D):
    return math.exp(-math.log(d_in) / 2 - math.log(D) / 4)


def the_variance(d_in, D):
    return 1 / d_in / D**0.5


def as_if_one_matrix(d_in, D):
    return (d_in * D) ** -0.5


def as_usual(d_in, D):
    return 1 / math.sqrt(d_in)


def forgets_the_words(d_in, D):
    return 1 / math.sqrt(math.sqrt(D))


def exchanged(d_in, D):
    return fourth_root(D, d_in)


def square_matrices(d_in, D):
    return 1 / math.sqrt(D * math.sqrt(D))


def width_of_the_words(d_in, D):
    return 1 / math.sqrt(d_in * math.sqrt(d_in))


def sums_of_deviations(d_in, D):
    return float(Fraction(1, d_in)) * D**-0.25


def upside_down(d_in, D):
    return d_in**0.5 * D**0.25


RIGHT = [fourth_root, by_variances, by_tensor, by_logarithms]
WRONG = [
    (the_variance, "a variance in place of a standard deviation"),
    (as_if_one_matrix, "one matrix's variance in place of two"),
    (as_usual, "scores whose variance is still D"),
    (forgets_the_words, "words of width 1"),
    (exchanged, "d_in and D exchanged"),
    (square_matrices, "D in place of d_in"),
    (width_of_the_words, "d_in in place of D"),
    (sums_of_deviations, "d_in in place of its root"),
    (upside_down, "a number that makes scores larger"),
]
