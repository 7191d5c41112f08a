"""Exercise of chapter 9: how many numbers a block trains."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.models.transformer_block import Block, TransformerConfig


def _counted(d_model, num_heads):
    config = TransformerConfig(
        vocab_size=2,
        context_length=2,
        d_model=d_model,
        num_heads=num_heads,
        num_layers=1,
    )
    with torch.device("meta"):  # sizes without numbers
        block = Block(config)
    return sum(parameter.numel() for parameter in block.parameters())


def _total(*, matrices=12, vectors=10):
    """A count of so many C² and so many C."""
    return lambda C, H: matrices * C * C + vectors * C


def _widths():
    return [
        Case("two features, one head", {"d_model": 2, "num_heads": 1}),
        Case("two features, two heads", {"d_model": 2, "num_heads": 2}),
        Case("six features, three heads", {"d_model": 6, "num_heads": 3}),
        Case("the chapter's block", {"d_model": 64, "num_heads": 4}),
        Case("more than float32 can count", {"d_model": 1701, "num_heads": 3}),
    ]


EXERCISE = Exercise(
    name="block_parameters",
    stub="my_block_parameters(d_model, num_heads)",
    asks=(
        "a function of C and H that returns how many trained numbers a block has, "
        "without biases in the query, key and value layers."
    ),
    returns={"number": "a whole number"},
    reference=_counted,
    cases=_widths,
    constants=(4, 8, 10, 12),
    mistakes=(
        Mistake(
            "a block whose heads have matrices of C x C each",
            lambda C, H: (3 * H + 9) * C * C + 10 * C,
            "The heads share the C features out: each has D = C / H of them, so all "
            "heads together have three matrices of C². The number of heads changes "
            "nothing.",
        ),
        Mistake(
            "a block with the matrices of one of its heads",
            lambda C, H: 3 * C * (C // H) + 9 * C * C + 10 * C,
            "C times D is one head's matrix; there are H of them side by side.",
        ),
        Mistake(
            "a block without the output projection",
            _total(matrices=11, vectors=9),
            "After the heads comes one more linear layer, out_proj, from C to C.",
        ),
        Mistake(
            "a block whose output projection has no bias",
            _total(vectors=9),
            "Queries, keys and values have no bias here; out_proj has one, of C "
            "numbers.",
        ),
        Mistake(
            "a block whose queries, keys and values have biases",
            _total(vectors=13),
            "qkv_bias is False here: these three layers have a matrix only.",
        ),
        Mistake(
            "a block with half of its norms",
            _total(vectors=8),
            "There are two norms, and each has a weight and a bias: four times C.",
        ),
        Mistake(
            "a block whose MLP has no biases",
            _total(vectors=5),
            "The MLP's two layers have biases, the first one of 4 C numbers and the "
            "second one of C.",
        ),
        Mistake(
            "a block whose MLP has two biases of C",
            _total(vectors=7),
            "3 C are missing. The MLP's first layer goes from C to 4 C and has a bias "
            "for each of its results, so 4 C of them; the second one has C.",
        ),
        Mistake(
            "a block of matrices alone",
            _total(vectors=0),
            "The matrices are all there. What is missing are the vectors: the biases "
            "of out_proj and of the MLP, the weights and biases of the norms.",
        ),
        Mistake(
            "a block whose MLP is one layer",
            _total(matrices=8, vectors=9),
            "The MLP goes from C to 4 C and back: that takes two linear layers.",
        ),
    ),
)
