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
        "weights alone",
        however_gathered(each=2.0),
        "You count 2 bytes for each parameter, which is its weight. Training keeps a "
        "gradient, too, and what the optimizer needs.",
    ),
    *several(
        "a model without its optimizer",
        however_gathered(each=4.0),
        "You count 4 bytes for each parameter, enough for a weight and a gradient. The "
        "optimizer takes 12 more, and so the largest part.",
    ),
    *several(
        "12 bytes for each parameter",
        however_gathered(each=12.0),
        "A weight takes 2 bytes, its gradient 2, and the optimizer 12 for two means "
        "and a precise copy. Together these are 16 bytes, and you count 12.",
    ),
    *several(
        "14 bytes for each parameter",
        however_gathered(each=14.0),
        "The optimizer takes 12 bytes, and both the weight and its gradient take 2: "
        "16 in all. You count 14.",
    ),
    *several(
        "20 bytes for each parameter",
        [
            *however_gathered(each=20.0),
            *alone_and_with_whole_block(each=20.0, gathered=4.0),
        ],
        "You count 20 bytes for each parameter. A weight and its gradient take 2 each, "
        "and the precise copy is among the optimizer's 12: 16 in all.",
    ),
    Mistake(
        "a count of parameters",
        with_options(each=1.0, gathered=1.0),
        "You count parameters. How many bytes does each of them take?",
    ),
    Mistake(
        "a count of bits",
        from_right(lambda result, N: 8 * result),
        "Your results are 8 times too large, as if you counted bits. The sizes in the "
        "task are in bytes already.",
    ),
    *several(
        "gigabytes",
        [
            from_right(lambda result, N: result / 1e9),
            from_right(lambda result, N: result / 2**30),
        ],
        "The task asks for bytes, and you return billions of them.",
    ),
)

WHAT_IS_DIVIDED = (
    *several(
        "nothing divided, though sharded",
        however_gathered(undivided=16.0),
        "Sharded, a device keeps an N-th of everything, and you count all of it.",
    ),
    *several(
        "only the weights divided",
        however_gathered(undivided=14.0),
        "Of the 16 bytes that a parameter takes, you divide 2. Gradients and optimizer "
        "are divided among the devices as well.",
    ),
    *several(
        "only the optimizer divided",
        however_gathered(undivided=4.0),
        "Of the 16 bytes that a parameter takes, you divide 12. Weights and gradients "
        "are divided among the devices as well.",
    ),
    *several(
        "two bytes of each parameter undivided",
        alone_and_with_whole_block(undivided=2.0),
        "Of the 16 bytes that a parameter takes, you divide 14. Weights, gradients and "
        "optimizer are all divided among the devices.",
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
        "one device too few",
        [
            if_sharded(lambda P, B, N: 16 * P / (N - 1) + 2 * B * (N - 1) / N),
            if_sharded(
                lambda P, B, N: 16 * P / max(N - 1, 1) + 2 * B * (N - 1) / N,
            ),
        ],
        "All N devices share the model, the one that you count for among them. You "
        "divide it by N - 1.",
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
    *several(
        "a division by N too many",
        [
            if_sharded(lambda P, B, N: held(P, B, N, True) / N),
            if_sharded(lambda P, B, N: 16 * P / N + 2 * B * (N - 1) / N / N),
        ],
        "You divide by N once too often. The N-th that a device keeps and the "
        "(N - 1) / N that it gathers are divided already.",
    ),
)
