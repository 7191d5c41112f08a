import math
import torch
import torch.nn.functional as F


def right_1(d_in, D):
    """right: one power"""
    return (d_in**2 * D) ** -0.25


def right_2(d_in, D):
    """right: logs"""
    log_std = -0.5 * math.log(d_in) - 0.25 * math.log(D)
    return math.exp(log_std)


def wrong_1(d_in, D):
    """wrong: returns the variance, not the std"""
    v = 1 / (d_in * math.sqrt(D))
    return v


def wrong_2(d_in, D):
    """wrong: forgets that D products are added up in a score"""
    # (d_in * v)**2 = 1
    v = 1 / d_in
    return math.sqrt(v)


def wrong_3(d_in, D):
    """wrong: thinks the product's variance is d_in*v (only query is random), not its square"""
    # D * d_in * v = 1
    return 1 / math.sqrt(D * d_in)


def wrong_4(d_in, D):
    """wrong: d_in and D swapped"""
    v = 1 / (D * math.sqrt(d_in))
    return math.sqrt(v)


def wrong_5(d_in, D):
    """wrong: start of 1/sqrt(8) over sqrt(D): right at d_in = D = 64 only"""
    return 1 / math.sqrt(8) / math.sqrt(D)


def wrong_6(d_in, D):
    """wrong: takes the square of v only, not of d_in: D * d_in * v**2 = 1"""
    v = math.sqrt(1 / (D * d_in))
    return math.sqrt(v)


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
