"""Exercise of chapter 15: what a device holds in training."""

import math

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_any_number
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


WHAT_IS_GATHERED = (
    Mistake(
        "the whole block on top",
        with_options(missing=lambda N: 1.0),
        "Of the block's weights, the device had its own share before, and you have "
        "counted that among what it keeps. Only the rest comes on top.",
    ),
    Mistake(
        "nothing of a block",
        with_options(gathered=0.0),
        "That is what a device keeps all the time. To compute a block, it needs all of "
        "the block's weights, and has to gather those that it doesn't have. (If you "
        "wrote (N - 1) // N: that is 0. Divide with /.)",
    ),
    *several(
        "an optimizer that is gathered, too",
        [
            *alone_and_with_whole_block(gathered=16.0),
            *alone_and_with_whole_block(gathered=14.0),
        ],
        "The optimizer's 12 bytes are among what you count for each gathered "
        "parameter. Its weight alone is gathered: each device updates its own share, "
        "and needs nobody else's optimizer for that.",
    ),
    *several(
        "an N-th of the block",
        [
            with_options(missing=lambda N: 1 / N),
            with_options(missing=lambda N: 1 / N if N > 1 else 0.0),
        ],
        "An N-th of the block's weights is what the device had before. The rest is "
        "gathered, from N - 1 others.",
    ),
    *several(
        "the larger part in place of the sum",
        [
            if_sharded(lambda P, B, N: max(16 * P / N, 2 * B * (N - 1) / N)),
            if_sharded(lambda P, B, N: max(16 * P / N, 2 * B)),
        ],
        "A device gathers the block while it goes on holding its share of the model: "
        "add the two up.",
    ),
    *several(
        "all weights at once",
        [
            if_sharded(lambda P, B, N: 16 * P / N + 2 * P * (N - 1) / N),
            if_sharded(lambda P, B, N: 16 * P / N + 2 * P),
        ],
        "You count the weights of the whole model on each device. Sharded, a device "
        "gathers one block at a time, so that it never holds them all.",
    ),
    *several(
        "N - 1 without its brackets",
        [
            if_sharded(lambda P, B, N: 16 * P / N + 2 * B * N - 1 / N),
            if_sharded(lambda P, B, N: 16 * P / N + 2 * B * (N - 1 / N)),
        ],
        "Python divides before it subtracts, so in N - 1 / N only the 1 is divided. "
        "Write (N - 1) / N.",
    ),
    *several(
        "a block gathered, though not sharded",
        [
            if_whole(lambda P, B, N: 16 * P + 2 * B),
            if_whole(lambda P, B, N: 16 * P + 2 * B * (N - 1) / N),
            lambda P, B, N, sharded: (16 * P / N if sharded else 16 * P) + 2.0 * B,
        ],
        "With data parallel training, each device has all the weights already, and "
        "gathers nothing.",
    ),
    *several(
        "a share that is cut off",
        [
            if_sharded(lambda P, B, N: 16 * (P // N) + 2 * (B // N) * (N - 1)),
            if_sharded(lambda P, B, N: 16 * (P // N) + 2 * B * (N - 1) / N),
            if_sharded(lambda P, B, N: 16 * (P // N) + 2 * (B - B // N)),
            if_sharded(lambda P, B, N: 16 * P // N + 2 * B * (N - 1) // N),
            if_sharded(lambda P, B, N: 16 * P // N + 2 * B * (N - 1) / N),
            if_sharded(lambda P, B, N: 16 * P // N + 2 * B),
            from_right(lambda result, N: math.floor(result)),
        ],
        "Where N doesn't divide a number, you lose a part of it, as // and int() do. "
        "The task wants no rounding: divide with /.",
    ),
    *several(
        "a share that is rounded",
        [
            if_sharded(lambda P, B, N: 16 * -(-P // N) + 2 * -(-B // N) * (N - 1)),
            from_right(lambda result, N: math.ceil(result)),
            from_right(lambda result, N: round(result)),
        ],
        "The task wants no rounding: where N doesn't divide a number, a fraction of a "
        "byte belongs to the result.",
    ),
)


NAMES = ("parameters", "block_parameters", "devices", "sharded")


def _training_runs():
    llama = (8_030_000_000, 218_112_000, 1024)
    sizes = {
        "one device": (40, 10, 1, False),
        "one device, sharded": (40, 10, 1, True),
        "two devices": (40, 10, 2, False),
        "two devices, sharded": (40, 10, 2, True),
        "four devices": (100, 20, 4, False),
        "four devices, sharded": (100, 20, 4, True),
        "a number that three don't divide": (100, 10, 3, True),
        "a number that seven don't divide": (103, 22, 7, True),
        "8 billion parameters on 1,024 devices": (*llama, False),
        "8 billion parameters on 1,024 devices, sharded": (*llama, True),
    }
    return [
        Case(name, dict(zip(NAMES, one, strict=True))) for name, one in sizes.items()
    ]


EXERCISE = Exercise(
    name="device_bytes",
    stub="my_device_bytes(parameters, block_parameters, devices, sharded)",
    asks=(
        "a function of how many parameters a model has, of how many of them one block "
        "has, of the number of devices and of whether these share the model (True) or "
        "each have all of it (False), that returns how many bytes of weights, "
        "gradients and optimizer a device holds at most."
    ),
    returns={"bytes": "a number"},
    reference=held,
    cases=_training_runs,
    run=call_for_any_number,
    mistakes=(*WHAT_A_PARAMETER_TAKES, *WHAT_IS_DIVIDED, *WHAT_IS_GATHERED),
)
