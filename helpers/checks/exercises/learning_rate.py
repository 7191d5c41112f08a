"""Exercise of chapter 10: the learning rate of a step, from a warm-up and a cosine."""

import math

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def in_two_parts(warm, fall):
    """A schedule of two parts.

    Args:
        warm: from the step and the number of warm-up steps to a share of the highest.
        fall: from the step, all steps and those of the warm-up to such a share.
    """

    def rate(step, steps, warmup_steps, highest):
        if step <= warmup_steps:
            return highest * warm(step, warmup_steps)
        return highest * fall(step, steps, warmup_steps)

    return rate


def up(step, warmup_steps):
    """The share in the warm-up."""
    return step / warmup_steps


def done(step, steps, warmup_steps):
    """How much of the fall lies behind a step."""
    return (step - 1 - warmup_steps) / (steps - warmup_steps)


def half_wave(done):
    """The share at a part of the fall."""
    return (1 + math.cos(math.pi * done)) / 2


def down(step, steps, warmup_steps):
    """The share behind the warm-up."""
    return half_wave(done(step, steps, warmup_steps))


right = in_two_parts(up, down)


def waves(done):
    """A right warm-up, then half a wave of another part of the fall."""
    return in_two_parts(up, lambda *numbers: half_wave(done(*numbers)))


def falls(share):
    """A right warm-up, then another share at the right part of the fall."""
    return in_two_parts(up, lambda *numbers: share(done(*numbers)))


_OVER_ALL = (
    "The half wave begins at the end of the warm-up: count the steps since then, and "
    "divide by how many are left there. Yours jumps down at its first step."
)
_LINE = (
    "That is the linear schedule, which works as well; asked is half a wave of the "
    "cosine."
)

WHERE_IT_IS = (
    Mistake(
        "a cosine over all steps",
        waves(lambda step, steps, _: (step - 1) / steps),
        _OVER_ALL,
    ),
    Mistake(
        "a wave as long as all steps",
        waves(lambda step, steps, warmup: (step - 1 - warmup) / steps),
        "Your wave begins where it should, but is as long as all steps and never comes "
        "down: divide by the number of steps that follow the warm-up.",
    ),
    Mistake(
        "a cosine that is one step ahead",
        waves(lambda step, steps, warmup: (step - warmup) / (steps - warmup)),
        "It reaches 0 with the last step, which then does nothing. Here the rate would "
        "be 0 one step after the last: the first step after the warm-up has done "
        "nothing of the wave yet.",
    ),
    Mistake(
        "a cosine that reaches 0 with the last step",
        waves(lambda step, steps, warmup: (step - 1 - warmup) / (steps - 1 - warmup)),
        "The last step then does nothing. Here the rate would be 0 one step after it: "
        "divide by the number of steps that follow the warm-up.",
    ),
)

HOW_IT_FALLS = (
    Mistake(
        "a wave that is not halved",
        falls(lambda done: 1 + math.cos(math.pi * done)),
        "1 + cos goes from 2 to 0: its half goes from 1 to 0.",
    ),
    Mistake(
        "a quarter of a wave",
        falls(lambda done: math.cos(math.pi * done / 2)),
        "It falls from 1 to 0, too, but is steepest at the end. The half wave is flat "
        "at both ends: (1 + cos(π x)) / 2.",
    ),
    Mistake(
        "a straight line down",
        falls(lambda done: 1 - done),
        _LINE,
    ),
    Mistake(
        "a rate that stays at its highest",
        falls(lambda done: 1.0),
        "Behind the warm-up the rate is to fall along half a wave of the cosine. If "
        "there is a // in your x, that is why: it cuts off what stands behind the "
        "point, so that x is always 0.",
    ),
    Mistake(
        "a fall that ends at a tenth of the highest rate",
        falls(lambda done: 0.1 + 0.9 * half_wave(done)),
        "Many recipes do that. Here the wave goes down to 0, which it would reach one "
        "step after the last.",
    ),
)


def _warms(share):
    """Another warm-up, then a right fall."""
    return in_two_parts(share, down)


def _ends_early(step, steps, warmup_steps, highest):
    share = up if step < warmup_steps else lambda *_: down(step, steps, warmup_steps)
    return highest * share(step, warmup_steps)


def _divides_by_zero(step, steps, warmup_steps, highest):
    if step / warmup_steps <= 1:
        return highest * step / warmup_steps
    return highest * down(step, steps, warmup_steps)


def _unless_there_is_none(rate):
    """A right schedule, but for another rate where there is no warm-up."""

    def scheduled(step, steps, warmup_steps, highest):
        if warmup_steps == 0:
            return rate(highest)
        return right(step, steps, warmup_steps, highest)

    return scheduled


def _both_at_once(both, share_of):
    """The warm-up's share and another one, put together in every step."""

    def scheduled(step, steps, warmup_steps, highest):
        share = min(1.0, step / warmup_steps) if warmup_steps else 1.0
        return highest * both(share, share_of(step, steps, warmup_steps))

    return scheduled


def _product(one, other):
    return one * other


def _over_all(step, steps, warmup_steps):
    return half_wave((step - 1) / steps)


_FROM_ZERO = (
    "Steps are counted from 1, and a step at rate 0 is a batch computed for nothing: "
    "the first has 1 / warmup_steps of the highest rate."
)
_AT_ONCE = (
    "The two parts follow each other: during the warm-up the cosine has no say, and it "
    "begins at its top in the step after."
)

WARM_UP = (
    Mistake(
        "a warm-up that begins at a rate of 0",
        _warms(lambda step, warmup: (step - 1) / warmup),
        _FROM_ZERO,
    ),
    Mistake(
        "a warm-up that ends one step early",
        _ends_early,
        "Steps are counted from 1, so step number warmup_steps still belongs to the "
        "warm-up: step <= warmup_steps. In yours it belongs to the cosine, whose x is "
        "below 0 there.",
    ),
    Mistake(
        "a rate that rises and falls at once",
        _both_at_once(_product, _over_all),
        _AT_ONCE,
    ),
    Mistake(
        "a schedule that needs a warm-up",
        _divides_by_zero,
        "warmup_steps may be 0. Compare step with warmup_steps before you divide by "
        "it.",
    ),
    Mistake(
        "a schedule that always warms up for a step",
        lambda step, steps, warmup_steps, highest: right(
            step, steps, max(1, warmup_steps), highest
        ),
        "Where warmup_steps is 0, the first step already belongs to the cosine, and "
        "yours begins one step late. max(1, warmup_steps) may stand where you divide "
        "by it, but not in x.",
    ),
    Mistake(
        "a constant rate where there is no warm-up",
        _unless_there_is_none(lambda highest: highest),
        "Without a warm-up the cosine begins in the first step: leave out the rise, "
        "not the fall.",
    ),
)


def _steps():
    def case(name, step, steps, warmup_steps, highest):
        return Case(
            name,
            {
                "step": step,
                "steps": steps,
                "warmup_steps": warmup_steps,
                "highest": highest,
            },
        )

    # An odd warm-up, for a cosine that is off by whole numbers; a highest rate other
    # than 1, so that it can't be left out, above 1 and below.
    return [
        case("the first step, no warm-up", 1, 4, 0, 0.5),
        case("the first step of a warm-up", 1, 11, 5, 0.5),
        case("in the middle of a warm-up", 2, 11, 5, 0.5),
        case("the last step of a warm-up", 5, 11, 5, 0.5),
        case("the first step after the warm-up", 6, 11, 5, 0.5),
        case("the second step after the warm-up", 7, 11, 5, 0.5),
        case("halfway down", 9, 11, 5, 0.5),
        case("the last step", 11, 11, 5, 0.5),
        case("a shorter warm-up", 1, 8, 2, 2.0),
        case("as many steps as before, another warm-up", 2, 11, 3, 2.0),
        case("the last step, no warm-up", 5, 5, 0, 2.0),
        case("near the end of a long run", 2300, 2400, 100, 0.1),
    ]


def _rounded(places):
    return lambda *numbers: round(right(*numbers), places)


_ROUNDED = (
    "A learning rate is a small number, and rounding takes a part of it away. Return "
    "it as it is computed; round where you print it."
)

EXERCISE = Exercise(
    name="learning_rate",
    stub="my_learning_rate(step, steps, warmup_steps, highest)",
    asks=(
        "a function of a step from 1 to steps, of the number of steps and of those of "
        "the warm-up, from 0 to steps - 1, and of the highest rate; it returns the "
        "rate of that step."
    ),
    returns={"rate": "a number"},
    reference=right,
    cases=_steps,
    mistakes=(
        *WARM_UP,
        *WHERE_IT_IS,
        *HOW_IT_FALLS,
        *(
            Mistake("a rate that is rounded", _rounded(places), _ROUNDED)
            for places in (None, 1, 2, 3, 4)
        ),
    ),
)
