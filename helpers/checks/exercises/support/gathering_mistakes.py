"""Mistakes in what a device gathers beside its own share of a model."""

import math

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.memory_mistakes import (
    alone_and_with_whole_block,
    from_right,
    if_sharded,
    if_whole,
    with_options,
)
from helpers.checks.exercises.support.several_ways import several

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
