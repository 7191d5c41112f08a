"""Mistakes in counting the bytes that a device holds while a model is trained."""

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.several_ways import several


def _rest(N):
    """Which part of a block a device has to gather."""
    return (N - 1) / N


def held(
    parameters,
    block_parameters,
    devices,
    sharded,
    *,
    each=16.0,
    undivided=0.0,
    gathered=2.0,
    missing=_rest,
):
    """Right where nothing is given; each option is one mistake."""
    if not sharded:
        return each * parameters
    share = undivided + (each - undivided) / devices
    return share * parameters + gathered * missing(devices) * block_parameters


def with_options(**options):
    """One mistake in counting, or several at once."""
    return lambda *arguments: held(*arguments, **options)


def alone_and_with_whole_block(**options):
    """A mistake of its own, and beside the commonest one: the whole block on top."""
    return [with_options(**options), with_options(**options, missing=lambda N: 1.0)]


def however_gathered(**options):
    """A mistake beside which the block is counted rightly, whole or not at all."""
    return [
        *alone_and_with_whole_block(**options),
        with_options(**options, gathered=0.0),
    ]


def if_sharded(formula):
    """A formula of the model's parameters P, a block's B, and N; right for DDP."""
    return lambda P, B, N, sharded: float(formula(P, B, N) if sharded else 16 * P)


def if_whole(formula):
    """A formula for DDP; right where the model is sharded."""
    return lambda P, B, N, sharded: float(
        held(P, B, N, True) if sharded else formula(P, B, N)
    )


def from_right(change):
    """A change of each right result; ``change(result, N)``."""
    return lambda P, B, N, sharded: float(change(held(P, B, N, sharded), N))


WHAT_A_PARAMETER_TAKES = (
    *several(
        "14 bytes for each parameter",
        however_gathered(each=14.0),
        "The optimizer takes 12 bytes, and both the weight and its gradient take 2: "
        "16 in all. You count 14.",
    ),
)

WHAT_IS_DIVIDED = (
    *several(
        "only the optimizer divided",
        however_gathered(undivided=4.0),
        "Of the 16 bytes that a parameter takes, you divide 12. Weights and gradients "
        "are divided among the devices as well.",
    ),
    *several(
        "divided, though not sharded",
        [
            if_whole(lambda P, B, N: held(P, B, N, True)),
            if_whole(lambda P, B, N: 16 * P / N),
            lambda P, B, N, sharded: 16 * P / N + 2.0 * B,
        ],
        "With data parallel training, each device holds the whole model, however many "
        "devices there are. You divide it there, too.",
    ),
    Mistake(
        "the two ways exchanged",
        lambda P, B, N, sharded: held(P, B, N, not sharded),
        "Your results for a sharded model are those of an unsharded one, and the other "
        "way round.",
    ),
    *several(
        "what the other devices hold",
        [
            if_sharded(lambda P, B, N: 16 * P * (N - 1) / N + 2 * B * (N - 1) / N),
            if_sharded(lambda P, B, N: 16 * P * (N - 1) / N + 2 * B / N),
        ],
        "(N - 1) / N of the model is what all the other devices hold together. Each "
        "of them keeps an N-th of it.",
    ),
    *several(
        "a block taken out of what is divided",
        [
            if_sharded(lambda P, B, N: 16 * (P - B) / N + 2 * B),
            if_sharded(lambda P, B, N: 16 * (P - B) / N + 2 * B * (N - 1) / N),
        ],
        "A block that is gathered is still a part of the model: the device keeps its "
        "share of that block's weights, gradients and optimizer. You divide only what "
        "is outside the block.",
    ),
    *several(
        "no weights but the block's",
        [
            if_sharded(lambda P, B, N: 14 * P / N + 2 * B),
            if_sharded(lambda P, B, N: 14 * P / N + 2 * B * (N - 1) / N),
        ],
        "Of the weights, you count only what is gathered. A device keeps its share of "
        "the whole model's weights besides.",
    ),
    *several(
        "all devices together",
        [
            from_right(lambda result, N: result * N),
            lambda P, B, N, sharded: held(P, B, N, sharded) * (N if sharded else 1),
        ],
        "That is N times too much, as if you counted what all devices hold together.",
    ),
)
