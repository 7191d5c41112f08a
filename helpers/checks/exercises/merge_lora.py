"""Exercise of "Fine-tuning with LoRA": its matrices, merged into the frozen one."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def merged(weight, A, B, alpha):
    """Right."""
    return weight + alpha / len(A) * B @ A


def _turned(weight, A, B, alpha):
    return weight + alpha / len(A) * (B @ A).T


def _by_inner_products(weight, A, B, alpha):
    return weight + alpha / len(A) * (A @ B)


MISTAKES = (
    Mistake(
        "alpha without the rank",
        lambda weight, A, B, alpha: weight + alpha * B @ A,
        "The product counts alpha / r times, where r is how many rows A has.",
    ),
    Mistake(
        "no alpha",
        lambda weight, A, B, alpha: weight + B @ A,
        "The layer adds the product alpha / r times, so the merged weight must, too.",
    ),
    Mistake(
        "divided by the rank alone",
        lambda weight, A, B, alpha: weight + B @ A / len(A),
        "The product counts alpha / r times.",
    ),
    *several(
        "alpha divided by another size",
        [
            lambda weight, A, B, alpha: weight + alpha / A.shape[1] * B @ A,
            lambda weight, A, B, alpha: weight + alpha / len(B) * B @ A,
            lambda weight, A, B, alpha: weight + alpha / A.numel() * B @ A,
        ],
        "alpha is divided by r, the number of A's rows and of B's columns.",
    ),
    *several(
        "alpha divided by a number of its own",
        [
            lambda weight, A, B, alpha: weight + alpha / 2 * B @ A,
            lambda weight, A, B, alpha: weight + alpha / 4 * B @ A,
            lambda weight, A, B, alpha: weight + alpha / 8 * B @ A,
        ],
        "alpha is divided by r, which A and B tell: it is the number of A's rows and "
        "of B's columns, another one in each layer.",
    ),
    *several(
        "the weight scaled, too",
        [
            lambda weight, A, B, alpha: alpha / len(A) * (weight + B @ A),
            lambda weight, A, B, alpha: alpha / len(A) * weight + B @ A,
        ],
        "alpha / r belongs to the product alone; the frozen weight counts once.",
    ),
    Mistake(
        "the product turned",
        _turned,
        "x A.T B.T is x times (B A).T, and nn.Linear multiplies by weight.T: so B @ A "
        "is added as it stands.",
    ),
    Mistake(
        "A @ B in place of B @ A",
        _by_inner_products,
        "A @ B is (r, r). B @ A is (d_out, d_in), as the weight is.",
    ),
    Mistake(
        "B.T @ A.T in place of B @ A",
        lambda weight, A, B, alpha: weight + alpha / len(A) * (B.T @ A.T),
        "A transpose turns a product round: A.T @ B.T is (B @ A).T, and B.T @ A.T is "
        "(A @ B).T, which is (r, r). B @ A is (d_out, d_in), as the weight is.",
    ),
    Mistake(
        "the product alone",
        lambda weight, A, B, alpha: alpha / len(A) * B @ A,
        "The frozen weight stays: the product is added to it.",
    ),
    Mistake(
        "the product taken away",
        lambda weight, A, B, alpha: weight - alpha / len(A) * B @ A,
        "The product is added.",
    ),
)


def _layers():
    generator = torch.Generator().manual_seed(7)
    sizes = {
        "rank 1": (2, 2, 1, 3.0),
        "rank 2": (3, 5, 2, 3.0),
        "more out than in": (7, 4, 3, 1.5),
        "a square": (4, 4, 2, 5.0),
        "the full rank": (3, 3, 3, 2.0),
        "an alpha of zero": (3, 4, 2, 0.0),
        "a wide layer": (6, 20, 5, 1.0),
        "a B of zeros, as training begins": (4, 3, 2, 2.0),
    }
    cases = []
    for name, (d_out, d_in, r, alpha) in sizes.items():
        weight, A, B = (
            torch.randn(*shape, generator=generator).round(decimals=1)
            for shape in ((d_out, d_in), (r, d_in), (d_out, r))
        )
        if name.startswith("a B of zeros"):
            B = torch.zeros_like(B)
        cases.append(Case(name, {"weight": weight, "A": A, "B": B, "alpha": alpha}))
    return cases


EXERCISE = Exercise(
    name="merge_lora",
    stub="my_merge_lora(weight, A, B, alpha)",
    asks=(
        "a function of a frozen weight (d_out, d_in), of A (r, d_in), of B (d_out, r) "
        "and of the number alpha, that returns one new weight (d_out, d_in) which "
        "does what the three did: x weight.T + (alpha / r) x A.T B.T."
    ),
    returns={"weight": "(d_out, d_in)"},
    reference=merged,
    cases=_layers,
    mistakes=MISTAKES,
    fresh=True,
)
