"""Answers to lead by hand m."""

import math
import statistics

import numpy as np
import torch


def right_numpy_sample_std(new, last):
    """right: NumPy's std with ddof=1 over the root of n, combined with np.hypot."""
    a, b = np.asarray(new, dtype=float), np.asarray(last, dtype=float)
    sems = [v.std(ddof=1) / np.sqrt(v.size) for v in (a, b)]
    return float((b.mean() - a.mean()) / np.hypot(*sems))


def right_torch_var_mean(new, last):
    """right: torch.var_mean in float64, and item() at the end."""
    a, b = (torch.tensor(v, dtype=torch.float64) for v in (new, last))
    var_a, mean_a = torch.var_mean(a, correction=1)
    var_b, mean_b = torch.var_mean(b, correction=1)
    return ((mean_b - mean_a) * torch.rsqrt(var_a / len(a) + var_b / len(b))).item()


def right_difference_of_normals(new, last):
    """right: subtracts two NormalDist objects, one for each mean with its standard
    error; the class combines the errors itself."""

    def mean_as_normal(values):
        fit = statistics.NormalDist.from_samples(values)
        return statistics.NormalDist(fit.mean, fit.stdev / len(values) ** 0.5)

    gap = mean_as_normal(last) - mean_as_normal(new)
    return gap.mean / gap.stdev


def right_jackknife(new, last):
    """right: the jackknife: leaves each loss out in turn; for a mean this gives exactly
    the squared standard error."""

    def squared_error(v):
        n = len(v)
        left_out = (v.sum() - v) / (n - 1)
        return (n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()

    a, b = np.array(new, dtype=np.float64), np.array(last, dtype=np.float64)
    return float((b.mean() - a.mean()) / np.sqrt(squared_error(a) + squared_error(b)))


def right_all_pairs_within(new, last):
    """right: the variance without a mean: half the average squared difference over all
    ordered pairs of different places of a list."""
    total = 0.0
    for values in (new, last):
        n = len(values)
        pairs = sum((p - q) ** 2 for p in values for q in values)
        total += pairs / (2 * n * (n - 1)) / n
    return (sum(last) / len(last) - sum(new) / len(new)) / math.sqrt(total)


def right_np_cov(new, last):
    """right: np.cov of one list is its variance with n - 1; returns a NumPy float."""
    return (np.mean(last) - np.mean(new)) / np.sqrt(
        np.cov(new) / len(new) + np.cov(last) / len(last)
    )


def wrong_ddof_for_new_only(new, last):
    """wrong: gives ddof=1 for new and forgets it for last, whose sum of squares is
    divided by n."""
    sem_new = np.std(new, ddof=1) / np.sqrt(len(new))
    sem_last = np.std(last) / np.sqrt(len(last))
    return float((np.mean(last) - np.mean(new)) / np.hypot(sem_new, sem_last))


def wrong_pooled_variance(new, last):
    """wrong: Student's t with one pooled variance instead of two separate errors; right
    for equal lengths (or equal variances)."""
    n, m = len(new), len(last)
    pooled = (n - 1) * statistics.variance(new) + (m - 1) * statistics.variance(last)
    pooled /= n + m - 2
    gap = statistics.fmean(last) - statistics.fmean(new)
    return gap / math.sqrt(pooled * (1 / n + 1 / m))


def wrong_paired_test(new, last):
    """wrong: a paired t: the mean of the differences seed by seed over its standard
    error, up to the end of the shorter list."""
    n = min(len(new), len(last))
    d = np.array(last[:n], dtype=float) - np.array(new[:n], dtype=float)
    return float(d.mean() / (d.std(ddof=1) / np.sqrt(n)))


def wrong_effect_size(new, last):
    """wrong: Cohen's d: the gap in pooled standard deviations, which doesn't grow with
    the number of seeds."""
    a = torch.tensor(new, dtype=torch.float64)
    b = torch.tensor(last, dtype=torch.float64)
    ss = (a - a.mean()).square().sum() + (b - b.mean()).square().sum()
    return ((b.mean() - a.mean()) / (ss / (len(a) + len(b) - 2)).sqrt()).item()


def wrong_clipped_population(new, last):
    """wrong: two mistakes: NumPy's default ddof=0 for both lists, and a negative lead
    is clipped to 0."""
    var = np.var(new) / len(new) + np.var(last) / len(last)
    return max(0.0, float((np.mean(last) - np.mean(new)) / np.sqrt(var)))


def wrong_array_of_one(new, last):
    """wrong: the value is right, but keepdims leaves it in an array of shape (1,)
    instead of a number."""
    a, b = np.array(new, dtype=float), np.array(last, dtype=float)
    var_a = a.var(ddof=1, keepdims=True) / a.size
    var_b = b.var(ddof=1, keepdims=True) / b.size
    return (b.mean(keepdims=True) - a.mean(keepdims=True)) / np.sqrt(var_a + var_b)


def wrong_one_big_sample(new, last):
    """wrong: throws both lists together and takes the standard error of the mean of
    that one sample, so that the gap itself counts as spread."""
    both = np.concatenate([new, last])
    sem = both.std(ddof=1) / np.sqrt(both.size)
    return float((np.mean(last) - np.mean(new)) / sem)


def wrong_integer_tensor(new, last):
    """wrong: makes long tensors before it calls float, so that the losses lose all
    behind the point; right for whole numbers."""
    a = torch.LongTensor([int(v) for v in new]).double()
    b = torch.LongTensor([int(v) for v in last]).double()
    error = torch.sqrt(a.var() / a.numel() + b.var() / b.numel())
    return float((b.mean() - a.mean()) / error)


def wrong_minus_covariance(new, last):
    """wrong: the formula for dependent means: takes off twice the covariance of the
    seeds that both lists have, over their number."""
    n = min(len(new), len(last))
    shared = np.cov(new[:n], last[:n])[0, 1]
    var = np.var(new, ddof=1) / len(new) + np.var(last, ddof=1) / len(last)
    return float((np.mean(last) - np.mean(new)) / np.sqrt(var - 2 * shared / n))


def wrong_pads_in_place(new, last):
    """wrong: the value is right, but the shorter list of the caller is filled up with
    nan for a rectangular array; does no harm for equal lengths."""
    width = max(len(new), len(last))
    for values in (new, last):
        values.extend([math.nan] * (width - len(values)))
    table = np.array([new, last], dtype=float)
    counts = np.sum(~np.isnan(table), axis=1)
    error = np.sqrt(np.sum(np.nanvar(table, axis=1, ddof=1) / counts))
    mean_new, mean_last = np.nanmean(table, axis=1)
    return float((mean_last - mean_new) / error)


def wrong_counts_swapped(new, last):
    """wrong: divides the variance of each list by the length of the other one; right
    for equal lengths."""
    sizes = len(last), len(new)
    variances = statistics.variance(new), statistics.variance(last)
    error = math.sqrt(sum(v / k for v, k in zip(variances, sizes)))
    return (statistics.fmean(last) - statistics.fmean(new)) / error


def wrong_error_bars(new, last):
    """wrong: two mistakes: measures in 95% bars of 1.96 standard errors, and adds the
    two bars up to see whether they overlap."""
    bars = [1.96 * statistics.stdev(v) / math.sqrt(len(v)) for v in (new, last)]
    return (statistics.fmean(last) - statistics.fmean(new)) / sum(bars)


def wrong_rectangular_tensor(new, last):
    """wrong: puts both lists into one tensor with two rows; right for equal lengths, an
    error for others."""
    table = torch.tensor([new, last], dtype=torch.float64)
    var, mean = torch.var_mean(table, dim=1)
    return ((mean[1] - mean[0]) / (var / table.shape[1]).sum().sqrt()).item()


def wrong_cross_pairs(new, last):
    """wrong: takes all differences of a loss of last and one of new as independent, and
    divides their spread by the root of the number of pairs."""
    gaps = np.subtract.outer(np.asarray(last), np.asarray(new)).ravel()
    return float(gaps.mean() / (gaps.std(ddof=1) / np.sqrt(gaps.size)))


ANSWERS = [
    right_numpy_sample_std,
    right_torch_var_mean,
    right_difference_of_normals,
    right_jackknife,
    right_all_pairs_within,
    right_np_cov,
    wrong_ddof_for_new_only,
    wrong_pooled_variance,
    wrong_paired_test,
    wrong_effect_size,
    wrong_clipped_population,
    wrong_array_of_one,
    wrong_one_big_sample,
    wrong_integer_tensor,
    wrong_minus_covariance,
    wrong_pads_in_place,
    wrong_counts_swapped,
    wrong_error_bars,
    wrong_rectangular_tensor,
    wrong_cross_pairs,
]
