import math
import torch
import torch.nn.functional as F
from statistics import fmean, stdev, pstdev


def right_1(new, last):
    """right: torch tensors"""
    a = torch.tensor(new, dtype=torch.float64)
    b = torch.tensor(last, dtype=torch.float64)
    err = (a.var() / a.numel() + b.var() / b.numel()).sqrt()
    return ((b.mean() - a.mean()) / err).item()


def right_2(new, last):
    """right: by hand with hypot"""
    def mean_and_error(xs):
        n = len(xs)
        m = sum(xs) / n
        return m, (sum((x - m) ** 2 for x in xs) / (n - 1) / n) ** 0.5

    (m1, e1), (m2, e2) = mean_and_error(new), mean_and_error(last)
    return (m2 - m1) / math.hypot(e1, e2)


def wrong_1(new, last):
    """wrong: sign: new minus last"""
    e1 = stdev(new) / len(new) ** 0.5
    e2 = stdev(last) / len(last) ** 0.5
    return (fmean(new) - fmean(last)) / (e1**2 + e2**2) ** 0.5


def wrong_2(new, last):
    """wrong: pstdev: divides by n"""
    e1 = pstdev(new) / math.sqrt(len(new))
    e2 = pstdev(last) / math.sqrt(len(last))
    return (fmean(last) - fmean(new)) / math.sqrt(e1**2 + e2**2)


def wrong_3(new, last):
    """wrong: adds the two standard errors, not their squares"""
    e1 = stdev(new) / len(new) ** 0.5
    e2 = stdev(last) / len(last) ** 0.5
    return (fmean(last) - fmean(new)) / (e1 + e2)


def wrong_4(new, last):
    """wrong: forgets to divide by the root of n"""
    return (fmean(last) - fmean(new)) / (stdev(new) ** 2 + stdev(last) ** 2) ** 0.5


def wrong_5(new, last):
    """wrong: uses the length of new for both"""
    n = len(new)
    error = ((stdev(new) ** 2 + stdev(last) ** 2) / n) ** 0.5
    return (fmean(last) - fmean(new)) / error


def wrong_6(new, last):
    """wrong: divides by n, not its root"""
    errors = [stdev(x) / len(x) for x in (new, last)]
    return (fmean(last) - fmean(new)) / (errors[0] ** 2 + errors[1] ** 2) ** 0.5


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
