"""Exercise of chapter 6: the parameters of a layer with many heads."""

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _sizes():
    cases = []
    for name, d_in, d_out, num_heads, qkv_bias in (
        ("one head", 3, 2, 1, False),
        ("two heads", 3, 2, 2, False),
        ("one head with biases", 3, 2, 1, True),
        ("as wide inside as outside", 6, 6, 2, False),
        ("three heads with biases", 5, 12, 3, True),
        ("the sizes of a small GPT-2", 768, 768, 12, True),
        ("more than float32 can count", 2048, 2051, 7, True),
    ):
        sizes = {"d_in": d_in, "d_out": d_out, "num_heads": num_heads}
        cases.append(Case(name, {**sizes, "qkv_bias": qkv_bias}))
    return cases


def _count(d_in, d_out, num_heads, qkv_bias):
    with torch.device("meta"):  # sizes without numbers
        layer = attention.MultiHeadAttention(d_in, d_out, 1, 0.0, num_heads, qkv_bias)
    return sum(values.numel() for values in layer.parameters())


def _projections(d_in, d_out, qkv_bias):
    return 3 * (d_in * d_out + qkv_bias * d_out)


EXERCISE = Exercise(
    name="count_parameters",
    stub="my_count_parameters(d_in, d_out, num_heads, qkv_bias)",
    asks=(
        "a function of three sizes and a truth value that returns how many numbers an "
        "``attention.MultiHeadAttention`` trains, a whole number."
    ),
    returns={"count": "a whole number"},
    reference=_count,
    cases=_sizes,
    mistakes=(
        Mistake(
            "a count with one bias for queries, keys and values together",
            lambda d_in, d_out, H, qkv_bias: (
                3 * d_in * d_out + qkv_bias * d_out + d_out**2 + d_out
            ),
            "Each of the three layers has a bias of its own, d_out numbers, where "
            "qkv_bias is True.",
        ),
        Mistake(
            "a count without the output projection",
            lambda d_in, d_out, H, qkv_bias: _projections(d_in, d_out, qkv_bias),
            "After the merged heads comes out_proj, a linear layer from d_out to "
            "d_out, with a bias.",
        ),
        Mistake(
            "a count without out_proj's bias",
            lambda d_in, d_out, H, qkv_bias: (
                _projections(d_in, d_out, qkv_bias) + d_out**2
            ),
            "out_proj is an nn.Linear as it comes, with a bias: one number for each "
            "feature that comes out. qkv_bias doesn't change that.",
        ),
        Mistake(
            "a count in which qkv_bias gives out_proj its bias",
            lambda d_in, d_out, H, qkv_bias: (
                _projections(d_in, d_out, qkv_bias) + d_out**2 + qkv_bias * d_out
            ),
            "qkv_bias is about queries, keys and values. out_proj has a bias in any "
            "case.",
        ),
        Mistake(
            "a count with biases in any case",
            lambda d_in, d_out, H, qkv_bias: (
                _projections(d_in, d_out, True) + d_out**2 + d_out
            ),
            "W_query, W_key and W_value have a bias only where qkv_bias is True.",
        ),
        Mistake(
            "a count with biases as wide as the input",
            lambda d_in, d_out, H, qkv_bias: (
                3 * (d_in * d_out + qkv_bias * d_in) + d_out**2 + d_out
            ),
            "A bias is added to what a layer puts out: it is d_out wide, not d_in.",
        ),
        Mistake(
            "a count in which each head has matrices of the whole width",
            lambda d_in, d_out, H, qkv_bias: (
                H * _projections(d_in, d_out, qkv_bias) + d_out**2 + d_out
            ),
            "d_out is the width of all heads together, and each head gets D = d_out / "
            "H of it. At the same width, more heads cost no more parameters.",
        ),
        Mistake(
            "a count of one head's matrices",
            lambda d_in, d_out, H, qkv_bias: (
                _projections(d_in, d_out // H, qkv_bias) + d_out**2 + d_out
            ),
            "D = d_out / H is the width of one head, and there are H of them.",
        ),
        Mistake(
            "a count in which out_proj reads d_in features",
            lambda d_in, d_out, H, qkv_bias: (
                _projections(d_in, d_out, qkv_bias) + d_in * d_out + d_out
            ),
            "out_proj reads the merged heads, and they are d_out wide.",
        ),
        Mistake(
            "a count in which out_proj reads one head",
            lambda d_in, d_out, H, qkv_bias: (
                _projections(d_in, d_out, qkv_bias) + d_out // H * d_out + d_out
            ),
            "Each output feature reads all heads: out_proj has d_out columns, not D.",
        ),
        Mistake(
            "a count in which each head is as wide as the whole layer",
            lambda d_in, d_out, H, qkv_bias: (
                _projections(d_in, H * d_out, qkv_bias) + (H * d_out) ** 2 + H * d_out
            ),
            "d_out is the width of all heads together: each has d_out / num_heads of "
            "it, so num_heads has no part in the count.",
        ),
    ),
)
