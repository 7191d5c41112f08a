"""Answers to lead by hand l."""

import math
from statistics import fmean, pstdev, stdev, variance


def right_step_by_step(new, last):
    """right: plain loops for the means and the sums of squares, one step a line."""
    mean_new = 0.0
    for loss in new:
        mean_new += loss
    mean_new /= len(new)
    mean_last = 0.0
    for loss in last:
        mean_last += loss
    mean_last /= len(last)
    squares_new = 0.0
    for loss in new:
        squares_new += (loss - mean_new) ** 2
    squares_last = 0.0
    for loss in last:
        squares_last += (loss - mean_last) ** 2
    error_new = math.sqrt(squares_new / (len(new) - 1)) / math.sqrt(len(new))
    error_last = math.sqrt(squares_last / (len(last) - 1)) / math.sqrt(len(last))
    error = math.sqrt(error_new**2 + error_last**2)
    return (mean_last - mean_new) / error


def right_inner_function(new, last):
    """right: a function inside for the standard error of one list, from stdev."""

    def standard_error(losses):
        return stdev(losses) / math.sqrt(len(losses))

    below = fmean(last) - fmean(new)
    return below / math.sqrt(standard_error(new) ** 2 + standard_error(last) ** 2)


def right_variances_in_one_line(new, last):
    """right: one expression, with the squared errors as the variances over n."""
    return (fmean(last) - fmean(new)) / math.sqrt(
        variance(new) / len(new) + variance(last) / len(last)
    )


def right_moved_divisor(new, last):
    """right: pstdev over the root of n - 1, which is the same as stdev over the root
    of n."""
    a = pstdev(new) / math.sqrt(len(new) - 1)
    b = pstdev(last) / math.sqrt(len(last) - 1)
    return (fmean(last) - fmean(new)) / (a * a + b * b) ** 0.5


def right_assumed_mean(new, last):
    """right: the school formula with an assumed mean (the first loss): the sum of the
    squares less the square of the sum over n."""
    means = []
    squared_errors = []
    for losses in (new, last):
        n = len(losses)
        shifted = [loss - losses[0] for loss in losses]
        total = sum(shifted)
        squares = sum(s * s for s in shifted) - total * total / n
        means.append(losses[0] + total / n)
        squared_errors.append(squares / (n - 1) / n)
    return (means[1] - means[0]) / math.sqrt(sum(squared_errors))


def right_running_class(new, last):
    """right: a small class that takes one loss after the other and keeps the mean and
    the sum of squares up to date."""

    class Running:
        def __init__(self, losses):
            self.n = 0
            self.mean = 0.0
            self.squares = 0.0
            for loss in losses:
                self.add(loss)

        def add(self, loss):
            self.n += 1
            step = loss - self.mean
            self.mean += step / self.n
            self.squares += step * (loss - self.mean)

        def squared_error(self):
            return self.squares / (self.n * (self.n - 1))

    a = Running(new)
    b = Running(last)
    return (b.mean - a.mean) / math.sqrt(a.squared_error() + b.squared_error())


def wrong_turned_round(new, last):
    """wrong: takes the mean of last from that of new, so that the sign is turned."""
    error_new = stdev(new) / math.sqrt(len(new))
    error_last = stdev(last) / math.sqrt(len(last))
    return (fmean(new) - fmean(last)) / math.sqrt(error_new**2 + error_last**2)


def wrong_n_below_the_squares(new, last):
    """wrong: divides the sums of squares by n instead of n - 1."""
    errors = []
    for losses in (new, last):
        mean = sum(losses) / len(losses)
        squares = sum((loss - mean) ** 2 for loss in losses)
        errors.append(math.sqrt(squares / len(losses)) / math.sqrt(len(losses)))
    return (fmean(last) - fmean(new)) / math.sqrt(errors[0] ** 2 + errors[1] ** 2)


def wrong_deviations_for_errors(new, last):
    """wrong: combines the standard deviations and forgets to divide them by the root
    of n."""
    return (fmean(last) - fmean(new)) / math.sqrt(stdev(new) ** 2 + stdev(last) ** 2)


def wrong_errors_added(new, last):
    """wrong: adds the two standard errors as they are, without squares and root."""
    error_new = stdev(new) / math.sqrt(len(new))
    error_last = stdev(last) / math.sqrt(len(last))
    return (fmean(last) - fmean(new)) / (error_new + error_last)


def wrong_divided_by_n(new, last):
    """wrong: divides each standard deviation by n instead of by its root."""
    error_new = stdev(new) / len(new)
    error_last = stdev(last) / len(last)
    return (fmean(last) - fmean(new)) / math.sqrt(error_new**2 + error_last**2)


def wrong_last_root_missing(new, last):
    """wrong: divides by the sum of the squared errors and forgets its root."""
    error_new = stdev(new) / math.sqrt(len(new))
    error_last = stdev(last) / math.sqrt(len(last))
    error = error_new**2 + error_last**2
    return (fmean(last) - fmean(new)) / error


def wrong_never_negative(new, last):
    """wrong: takes the distance of the means with abs; right only where new isn't
    higher."""
    distance = abs(fmean(last) - fmean(new))
    a = variance(new) / len(new)
    b = variance(last) / len(last)
    return distance / math.sqrt(a + b)


def wrong_cut_to_the_shorter(new, last):
    """wrong: walks through both lists with zip, so that the longer one loses its end;
    right for equal lengths."""
    first = []
    second = []
    for a, b in zip(new, last):
        first.append(a)
        second.append(b)
    n = len(first)
    error = math.sqrt(variance(first) / n + variance(second) / n)
    return (fmean(second) - fmean(first)) / error


def wrong_each_loss_once(new, last):
    """wrong: makes sets of the lists, so that a loss that two seeds share counts only
    once; right where no loss of a list is repeated."""
    a = set(new)
    b = set(last)
    error = math.sqrt(stdev(a) ** 2 / len(a) + stdev(b) ** 2 / len(b))
    return (fmean(b) - fmean(a)) / error


def wrong_empties_the_lists(new, last):
    """wrong: the value is right, but it pops the losses off, so that both lists are
    empty afterwards."""
    results = []
    for losses in (new, last):
        n = len(losses)
        mean = sum(losses) / n
        squares = 0.0
        while losses:
            squares += (losses.pop() - mean) ** 2
        results.append((mean, squares / (n - 1) / n))
    (mean_new, a), (mean_last, b) = results
    return (mean_last - mean_new) / math.sqrt(a + b)


def wrong_one_less_twice(new, last):
    """wrong: uses n - 1 in both places: stdev has it already, and it divides by the
    root of n - 1 again."""
    a = stdev(new) / math.sqrt(len(new) - 1)
    b = stdev(last) / math.sqrt(len(last) - 1)
    return (fmean(last) - fmean(new)) / math.sqrt(a**2 + b**2)


def wrong_short_formula(new, last):
    """wrong: the shortcut for the sum of squares takes off the squared mean once
    instead of n times."""
    errors = []
    for losses in (new, last):
        n = len(losses)
        squares = sum(loss * loss for loss in losses) - fmean(losses) ** 2
        errors.append(squares / (n - 1) / n)
    return (fmean(last) - fmean(new)) / math.sqrt(errors[0] + errors[1])


def wrong_whole_average_errors(new, last):
    """wrong: two mistakes: divides by the average of the two standard errors, and
    returns only the whole number of them."""
    error_new = stdev(new) / math.sqrt(len(new))
    error_last = stdev(last) / math.sqrt(len(last))
    return int((fmean(last) - fmean(new)) / ((error_new + error_last) / 2))


def wrong_turned_round_one_error(new, last):
    """wrong: two mistakes: the sign is turned, and only the standard error of new is
    used, as if the mean of last were exact."""
    return (fmean(new) - fmean(last)) / (stdev(new) / math.sqrt(len(new)))


ANSWERS = [
    right_step_by_step,
    right_inner_function,
    right_variances_in_one_line,
    right_moved_divisor,
    right_assumed_mean,
    right_running_class,
    wrong_turned_round,
    wrong_n_below_the_squares,
    wrong_deviations_for_errors,
    wrong_errors_added,
    wrong_divided_by_n,
    wrong_last_root_missing,
    wrong_never_negative,
    wrong_cut_to_the_shorter,
    wrong_each_loss_once,
    wrong_empties_the_lists,
    wrong_one_less_twice,
    wrong_short_formula,
    wrong_whole_average_errors,
    wrong_turned_round_one_error,
]
