"""A circle that a matrix makes an ellipse, and Newton-Schulz makes round again."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from helpers.views.view import Table, View

COEFFICIENTS = (3.4445, -4.7750, 2.0315)
MOST_ROUNDS = 5
READS = 50  # degrees: where the strong direction reads
STEP = 5  # degrees


def orthogonaliser(
    *, ratios: Sequence[int] = (2, 5, 20, 100), ratio: int = 5, angle: int = 30
) -> View:
    """Repeat the polynomial of Muon, and watch an ellipse become round.

    A matrix of two singular directions maps the circle of all vectors of length 1 to an
    ellipse, whose half-axes are as long as its singular values.

    Args:
        ratios: how many times as strong as the weak direction the strong one may be,
            whole numbers of at least 1.
        ratio: the one to begin with.
        angle: in degrees, where the strong direction writes at first; a multiple of 5
            from 0 to 175.

    Returns:
        view: a View.

    Raises:
        ValueError: other ratios, a ratio that isn't among them, or another angle.

    Source: Jordan et al. 2024. The page on Muon.
    """
    if not ratios or not all(isinstance(one, int) and one >= 1 for one in ratios):
        raise ValueError(
            f"ratios must be whole numbers of at least 1, got {list(ratios)}"
        )
    if ratio not in ratios:
        raise ValueError(f"ratio must be one of {list(ratios)}, got {ratio!r}")
    if angle not in range(0, 180, STEP):
        raise ValueError(
            f"angle must be a multiple of {STEP} from 0 to 175, got {angle!r}"
        )
    lengths = [_lengths(ratio, rounds) for rounds in range(MOST_ROUNDS + 1)]
    return View(
        "orthogonaliser",
        "An ellipse that becomes round",
        {
            "ratios": list(ratios),
            "ratio": ratio,
            "angle": angle,
            "step": STEP,
            "reads": READS,
            "rounds": MOST_ROUNDS,
            "coefficients": COEFFICIENTS,
        },
        [
            Table(
                f"Singular values that begin at {ratio} to 1",
                torch.stack(lengths, dim=1).tolist(),
                columns=["divided by the norm", *map(_after, range(1, 6))],
                rows=["strong", "weak"],
                decimals=2,
            )
        ],
    )


def _after(rounds: int) -> str:
    return f"{rounds} round{'s' * (rounds > 1)}"


def _lengths(ratio: int, rounds: int) -> Tensor:
    """The two singular values (2,) after so many rounds."""
    a, b, c = COEFFICIENTS
    s = torch.tensor([float(ratio), 1.0]) / math.hypot(ratio, 1)
    for _ in range(rounds):
        s = a * s + b * s**3 + c * s**5
    return s
