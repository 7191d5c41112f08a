import math
import torch
import torch.nn.functional as F


def right_1(D, mean, variance):
    """right: expanded polynomial"""
    return (D * variance * variance + D * variance * mean * mean) ** 0.5


def right_2(D, mean, variance):
    """right: product of three roots via hypot"""
    std = math.sqrt(variance)
    rms_query = math.hypot(mean, std)
    return math.sqrt(D) * std * rms_query


def wrong_1(D, mean, variance):
    """wrong: full variance of a product: (v + m^2)^2 - m^4, i.e. query varies too"""
    one_product = (variance + mean**2) ** 2 - mean**4
    return math.sqrt(D * one_product)


def wrong_2(D, mean, variance):
    """wrong: takes q^2 as the variance, forgets the mean"""
    return math.sqrt(D * variance * variance)


def wrong_3(D, mean, variance):
    """wrong: no root: returns the variance"""
    q_squared = mean**2 + variance
    return D * q_squared * variance


def wrong_4(D, mean, variance):
    """wrong: q^2 on average taken as mean squared only"""
    return math.sqrt(D * mean**2 * variance)


def wrong_5(D, mean, variance):
    """wrong: only the query's square, forgets the key's variance"""
    return math.sqrt(D * (variance + mean**2))


def wrong_6(D, mean, variance):
    """wrong: mean not squared"""
    square_of_query = variance + mean
    return math.sqrt(D * square_of_query * variance)


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
