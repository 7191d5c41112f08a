"""A warm-up, then half a wave of the cosine."""

import functools
import math

import numpy as np
import torch


def in_the_warm_up(rate):
    """A solution that is right behind the warm-up."""

    @functools.wraps(rate)
    def solution(step, steps, warmup_steps, highest):
        if step <= warmup_steps:
            return rate(step, steps, warmup_steps, highest)
        return in_two_parts(step, steps, warmup_steps, highest)

    return solution


def behind_it(rate):
    """A solution that is right in the warm-up."""

    @functools.wraps(rate)
    def solution(step, steps, warmup_steps, highest):
        if step <= warmup_steps:
            return in_two_parts(step, steps, warmup_steps, highest)
        return rate(step, steps, warmup_steps, highest)

    return solution


def at(x):
    """A solution whose x is another one."""

    @functools.wraps(x)
    def solution(step, steps, warmup_steps, highest):
        wave = math.cos(x(step, steps, warmup_steps) * math.pi)
        return 0.5 * highest * (wave + 1)

    return behind_it(solution)


def in_two_parts(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * done)) / 2


def counted_from_zero(step, steps, warmup_steps, highest):
    i = step - 1
    if i < warmup_steps:
        return (i + 1) / warmup_steps * highest
    left = steps - warmup_steps
    return 0.5 * highest * (1.0 + math.cos((i - warmup_steps) * math.pi / left))


def by_the_square_of_half_the_angle(step, steps, warmup_steps, highest):
    if warmup_steps and step <= warmup_steps:
        return highest / warmup_steps * step
    angle = math.pi * (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * math.cos(angle / 2) ** 2


def as_a_table(step, steps, warmup_steps, highest):
    rates = [highest * (i + 1) / warmup_steps for i in range(warmup_steps)]
    wave = torch.linspace(0, math.pi, steps - warmup_steps + 1)[:-1]
    rates += (highest * (1 + wave.cos()) / 2).tolist()
    return rates[step - 1]


def by_pytorch(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=highest)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimizer, steps - warmup_steps
    )
    for _ in range(step - 1 - warmup_steps):
        optimizer.step()
        falling.step()
    return optimizer.param_groups[0]["lr"]


def as_a_numpy_scalar(step, steps, warmup_steps, highest):
    left = np.float32(steps - warmup_steps)
    if step <= warmup_steps:
        return np.float32(highest) * np.float32(step) / np.float32(warmup_steps)
    angle = np.float32(np.pi) * np.float32(step - 1 - warmup_steps) / left
    return np.float32(highest) * (1 + np.cos(angle)) / 2


def as_an_array_without_axes(step, steps, warmup_steps, highest):
    return np.array(in_two_parts(step, steps, warmup_steps, highest))


def only_the_wave(step, steps, warmup_steps, highest):
    return 0.5 * highest * (1 + math.cos(math.pi * (step - 1) / steps))


def a_first_step_of_nothing(step, steps, warmup_steps, highest):
    i = step - 1
    if i < warmup_steps:
        return highest * i / warmup_steps
    return (
        highest
        * 0.5
        * (1 + math.cos(math.pi * (i - warmup_steps) / (steps - warmup_steps)))
    )


def one_more_below(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / (warmup_steps + 1)
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (math.cos(done * math.pi) + 1) / 2


def wave_of_the_whole_run(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * (1 + math.cos(math.pi * (step - 1) / steps)) / 2


def too_far_along(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * done)) / 2


def never_arrives(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / steps
    return highest * (1 + math.cos(math.pi * done)) / 2


def ends_at_nothing(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * done)) / 2


def down_to_nothing(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps - 1)
    return highest * (1 + math.cos(math.pi * x)) / 2


def without_the_highest(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return step / warmup_steps
    x = (step - warmup_steps - 1) / (steps - warmup_steps)
    return (1 + math.cos(math.pi * x)) / 2


def twice_as_high(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * done))


def uphill(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * math.cos(math.pi * done)


def quarter(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * math.cos(0.5 * math.pi * done)


def without_pi(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    done = (step - warmup_steps - 1) / (steps - warmup_steps)
    return highest * (1 + math.cos(done)) / 2


def line(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * (steps - step + 1) / (steps - warmup_steps)


def flat(step, steps, warmup_steps, highest):
    return highest * min(1, step / max(warmup_steps, 1))


def product(step, steps, warmup_steps, highest):
    rate = highest * (1 + math.cos(math.pi * (step - 1) / steps)) / 2
    if step < warmup_steps:
        rate *= step / warmup_steps
    return rate


def always_divides(step, steps, warmup_steps, highest):
    share = step / warmup_steps
    if share > 1:
        done = (step - 1 - warmup_steps) / (steps - warmup_steps)
        share = (1 + math.cos(math.pi * done)) / 2
    return highest * share


def a_root_of_the_step(step, steps, warmup_steps, highest):
    # The schedule of Vaswani et al. 2017: another fall.
    if step <= warmup_steps:
        return highest * step / warmup_steps
    return highest * (max(warmup_steps, 1) / step) ** 0.5


def only_the_wave_and_too_early(step, steps, warmup_steps, highest):
    return highest / 2 * (1 + math.cos(step / steps * math.pi))


def the_wave_from_the_start(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


@in_the_warm_up
def from_nothing_to_all(step, steps, warmup_steps, highest):
    return highest * (step - 1) / max(warmup_steps - 1, 1)


@in_the_warm_up
def one_more_everywhere(step, steps, warmup_steps, highest):
    return (step + 1) / (warmup_steps + 1) * highest


@in_the_warm_up
def one_more_above(step, steps, warmup_steps, highest):
    return (step + 1) / warmup_steps * highest


def smaller_than(step, steps, warmup_steps, highest):
    if step < warmup_steps:
        return highest * step / warmup_steps
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


@in_the_warm_up
def over_all_steps(step, steps, warmup_steps, highest):
    return highest * (step / steps)


@in_the_warm_up
def in_whole_numbers(step, steps, warmup_steps, highest):
    return highest * (step // warmup_steps)


@in_the_warm_up
def one_part(step, steps, warmup_steps, highest):
    return highest / warmup_steps


@in_the_warm_up
def not_warm(step, steps, warmup_steps, highest):
    return highest


@in_the_warm_up
def up_a_wave(step, steps, warmup_steps, highest):
    return 0.5 * highest * (1 - math.cos(step / warmup_steps * math.pi))


@in_the_warm_up
def up_a_wave_from_nothing(step, steps, warmup_steps, highest):
    return 0.5 * highest * (1 - math.cos((step - 1) / warmup_steps * math.pi))


@in_the_warm_up
def the_wrong_way_round(step, steps, warmup_steps, highest):
    return highest * warmup_steps / step


@in_the_warm_up
def what_is_left(step, steps, warmup_steps, highest):
    return highest * (warmup_steps - step) / warmup_steps


@in_the_warm_up
def down_to_one_part(step, steps, warmup_steps, highest):
    return highest / warmup_steps * (warmup_steps - step + 1)


@in_the_warm_up
def up_to_one(step, steps, warmup_steps, highest):
    return step / warmup_steps


@in_the_warm_up
def the_smaller_one(step, steps, warmup_steps, highest):
    return min(step / warmup_steps, highest)


def multiplied_again(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        rate = highest * step / warmup_steps
    else:
        rate = (in_two_parts(step, steps, warmup_steps, highest)) / highest
    return rate * highest


def a_product_with_its_wave(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    rate = highest * (1 + math.cos(math.pi * x)) / 2
    return rate * min(1, step / max(warmup_steps, 1))


def a_product_one_step_ahead(step, steps, warmup_steps, highest):
    rate = highest * (1 + math.cos(math.pi * step / steps)) / 2
    return rate * min(1, step / max(warmup_steps, 1))


def the_lower_of_both(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    rise = step / warmup_steps if warmup_steps else math.inf
    return highest * min(rise, (1 + math.cos(math.pi * x)) / 2)


def the_lower_over_all(step, steps, warmup_steps, highest):
    rise = step / warmup_steps if warmup_steps else math.inf
    return min(highest * rise, only_the_wave(step, steps, warmup_steps, highest))


def one_at_least(step, steps, warmup_steps, highest):
    warmup_steps = warmup_steps or 1
    if step <= warmup_steps:
        return highest * step / warmup_steps
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def constant_without(step, steps, warmup_steps, highest):
    try:
        share = step / warmup_steps
    except ZeroDivisionError:
        return highest
    if share <= 1:
        return highest * share
    return in_two_parts(step, steps, warmup_steps, highest)


def nothing_without(step, steps, warmup_steps, highest):
    if not warmup_steps:
        return 0
    return in_two_parts(step, steps, warmup_steps, highest)


@at
def of_the_run(step, steps, warmup_steps):
    return step / steps


@at
def of_the_run_to_its_end(step, steps, warmup_steps):
    return (step - 1) / (steps - 1)


@at
def of_the_run_less_one(step, steps, warmup_steps):
    return (step - 1 - warmup_steps) / (steps - 1)


@at
def of_the_run_by_the_rest(step, steps, warmup_steps):
    return step / (steps - warmup_steps)


@at
def early_by_the_run(step, steps, warmup_steps):
    return (step - warmup_steps) / steps


@at
def a_sign_turned(step, steps, warmup_steps):
    return (step - (warmup_steps - 1)) / (steps - warmup_steps)


@at
def one_more_step(step, steps, warmup_steps):
    return (step - 1 - warmup_steps) / (steps - warmup_steps + 1)


@at
def one_more_step_and_early(step, steps, warmup_steps):
    return (step - warmup_steps) / (1 + steps - warmup_steps)


@at
def nothing_around_the_numerator(step, steps, warmup_steps):
    return step - 1 - warmup_steps / (steps - warmup_steps)


@at
def nothing_around_the_denominator(step, steps, warmup_steps):
    return (step - 1 - warmup_steps) / steps - warmup_steps


@at
def nothing_around_either(step, steps, warmup_steps):
    return step - 1 - warmup_steps / steps - warmup_steps


@at
def still_to_come(step, steps, warmup_steps):
    return (steps - step) / (steps - warmup_steps)


@behind_it
def halves_the_cosine(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x) / 2)


@behind_it
def halves_and_adds(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * 1 + math.cos(math.pi * x) / 2


@behind_it
def halves_the_one(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (0.5 * 1 + math.cos(math.pi * x))


@behind_it
def adds_nothing(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return 0.5 * highest * math.cos(math.pi * x)


@behind_it
def all_the_way_round(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(2 * math.pi * x)) / 2


@behind_it
def already_an_angle(step, steps, warmup_steps, highest):
    angle = math.pi * (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * angle)) / 2


@behind_it
def in_degrees(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(x * 180)) / 2


@behind_it
def closes_too_early(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi) * x) / 2


@behind_it
def opens_too_late(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.pi * math.cos(x)) / 2


@behind_it
def with_a_sine(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.sin(math.pi * x)) / 2


@behind_it
def upwards(step, steps, warmup_steps, highest):
    x = 1 - (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


@behind_it
def line_to_nothing(step, steps, warmup_steps, highest):
    return highest * (steps - step) / (steps - warmup_steps)


@behind_it
def whole_numbers_of_waves(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) // (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


@behind_it
def not_below_a_tenth(step, steps, warmup_steps, highest):
    lowest = highest / 10
    wave = in_two_parts(step, steps, warmup_steps, highest) / highest
    return lowest + (highest - lowest) * wave


@behind_it
def down_from_one(step, steps, warmup_steps, highest):
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return (1 + math.cos(math.pi * x)) / 2


@behind_it
def down_from_the_square(step, steps, warmup_steps, highest):
    return highest * in_two_parts(step, steps, warmup_steps, highest)


def all_of_it_twice(step, steps, warmup_steps, highest):
    rate = in_two_parts(step, steps, warmup_steps, highest)
    return rate * highest


def copied_from_a_loop_from_zero(step, steps, warmup_steps, highest):
    if step < warmup_steps:
        return highest * (step + 1) / (warmup_steps + 1)
    ratio = (step - warmup_steps) / (steps - warmup_steps)
    return 0.5 * (1.0 + math.cos(math.pi * ratio)) * highest


def at_the_next_place(step, steps, warmup_steps, highest):
    rates = [
        in_two_parts(one + 1, steps, warmup_steps, highest) for one in range(steps)
    ]
    return [*rates, 0.0][step]


def larger_than(step, steps, warmup_steps, highest):
    if step > warmup_steps:
        return highest * step / warmup_steps
    x = (step - 1 - warmup_steps) / (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def whole_numbers_everywhere(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * (step // warmup_steps)
    x = (step - 1 - warmup_steps) // (steps - warmup_steps)
    return highest * (1 + math.cos(math.pi * x)) / 2


def two_places(step, steps, warmup_steps, highest):
    return round(in_two_parts(step, steps, warmup_steps, highest), 2)


def four_places(step, steps, warmup_steps, highest):
    return round(in_two_parts(step, steps, warmup_steps, highest), 4)


def as_an_int(step, steps, warmup_steps, highest):
    return int(in_two_parts(step, steps, warmup_steps, highest))


def a_curve_upwards(step, steps, warmup_steps, highest):
    if step <= warmup_steps:
        return highest * (step / warmup_steps) ** 2
    return in_two_parts(step, steps, warmup_steps, highest)


def never_below_a_thousandth(step, steps, warmup_steps, highest):
    return max(1e-3, in_two_parts(step, steps, warmup_steps, highest))


@in_the_warm_up
def to_the_power(step, steps, warmup_steps, highest):
    return (step / warmup_steps) ** highest


@in_the_warm_up
def by_both(step, steps, warmup_steps, highest):
    return step / (highest * warmup_steps)


@in_the_warm_up
def four_of_them(step, steps, warmup_steps, highest):
    return highest * step / 4


RIGHT = [
    in_two_parts,
    counted_from_zero,
    by_the_square_of_half_the_angle,
    as_a_table,
    by_pytorch,
    as_a_numpy_scalar,
    as_an_array_without_axes,
]
WRONG = [
    (only_the_wave, "a schedule without its warm-up"),
    (a_first_step_of_nothing, "a warm-up that begins at a rate of 0"),
    (one_more_below, "a warm-up that doesn't reach the highest rate"),
    (wave_of_the_whole_run, "a cosine over all steps"),
    (
        too_far_along,
        "a cosine that counts the steps from the start and divides by the rest",
    ),
    (
        never_arrives,
        "a cosine that counts the steps since the warm-up and divides by all",
    ),
    (ends_at_nothing, "a cosine that is one step ahead"),
    (down_to_nothing, "a cosine that reaches 0 with the last step"),
    (without_the_highest, "a share of the highest rate"),
    (twice_as_high, "a wave that is not halved"),
    (uphill, "a cosine that goes on below 0"),
    (quarter, "a quarter of a wave"),
    (without_pi, "a cosine without its π"),
    (line, "a straight line down"),
    (flat, "a rate that stays at its highest"),
    (product, "a rate that rises and falls at once"),
    (always_divides, "a schedule that needs a warm-up"),
    (only_the_wave_and_too_early, "a schedule without its warm-up"),
    (the_wave_from_the_start, "a cosine in the warm-up, too"),
    (from_nothing_to_all, "a warm-up that begins at a rate of 0"),
    (one_more_everywhere, "a warm-up that is one step ahead"),
    (one_more_above, "a warm-up that is one step ahead"),
    (smaller_than, "a warm-up that ends one step early"),
    (over_all_steps, "a warm-up over all steps"),
    (in_whole_numbers, "a warm-up that divides by //"),
    (one_part, "a warm-up that doesn't rise"),
    (not_warm, "a warm-up at the highest rate"),
    (up_a_wave, "a warm-up along a wave"),
    (up_a_wave_from_nothing, "a warm-up along a wave"),
    (the_wrong_way_round, "a warm-up that falls"),
    (what_is_left, "a warm-up that falls"),
    (down_to_one_part, "a warm-up that falls"),
    (up_to_one, "a warm-up up to 1"),
    (the_smaller_one, "a warm-up that is cut off at the highest rate"),
    (multiplied_again, "a warm-up with highest in it twice"),
    (a_product_with_its_wave, "a rate that rises and falls at once"),
    (a_product_one_step_ahead, "a rate that rises and falls at once"),
    (the_lower_of_both, "a rate that rises and falls at once"),
    (the_lower_over_all, "a rate that rises and falls at once"),
    (one_at_least, "a schedule that always warms up for a step"),
    (constant_without, "a constant rate where there is no warm-up"),
    (nothing_without, "a rate of 0 where there is no warm-up"),
    (of_the_run, "a cosine over all steps"),
    (of_the_run_to_its_end, "a cosine over all steps"),
    (
        of_the_run_less_one,
        "a cosine that counts the steps since the warm-up and divides by all",
    ),
    (
        of_the_run_by_the_rest,
        "a cosine that counts the steps from the start and divides by the rest",
    ),
    (
        early_by_the_run,
        "a cosine that counts the steps since the warm-up and divides by all",
    ),
    (a_sign_turned, "a cosine that is two steps ahead"),
    (one_more_step, "a cosine that is one step too long"),
    (one_more_step_and_early, "a cosine that is one step too long"),
    (nothing_around_the_numerator, "an x that lacks parentheses"),
    (nothing_around_the_denominator, "an x that lacks parentheses"),
    (nothing_around_either, "an x that lacks parentheses"),
    (still_to_come, "a cosine of the steps that are left"),
    (halves_the_cosine, "a wave of which only the cosine is halved"),
    (halves_and_adds, "a wave of which only the cosine is halved"),
    (halves_the_one, "a wave of which only the 1 is halved"),
    (adds_nothing, "half a cosine without its 1"),
    (all_the_way_round, "a whole wave"),
    (already_an_angle, "a cosine with π in it twice"),
    (in_degrees, "a cosine of degrees"),
    (closes_too_early, "an x outside the cosine"),
    (opens_too_late, "an x outside the cosine"),
    (with_a_sine, "a sine"),
    (upwards, "a wave that rises"),
    (line_to_nothing, "a straight line down"),
    (whole_numbers_of_waves, "a rate that stays at its highest"),
    (not_below_a_tenth, "a fall that ends at a tenth of the highest rate"),
    (down_from_one, "a fall that begins at 1"),
    (down_from_the_square, "a fall with highest in it twice"),
    (all_of_it_twice, "a rate with highest in it twice"),
    (copied_from_a_loop_from_zero, "a schedule for steps that are counted from 0"),
    (at_the_next_place, "a schedule that is one step ahead"),
    (larger_than, "a warm-up and a fall that have changed places"),
    (whole_numbers_everywhere, "a schedule that divides by //"),
    (two_places, "a rate that is rounded"),
    (four_places, "a rate that is rounded"),
    (as_an_int, "a rate that is rounded"),
    (a_curve_upwards, None),
    (never_below_a_thousandth, None),
    (to_the_power, None),
    (by_both, None),
    (four_of_them, None),
    (a_root_of_the_step, None),
]
