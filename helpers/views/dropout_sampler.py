"""Dropout on a matrix of weights, draw by draw."""

from collections.abc import Sequence

import torch
from torch import Tensor

from helpers import validation
from helpers.views.view import Table, View

PROBABILITIES = [tenths / 10 for tenths in range(10)]


def dropout_sampler(
    weights: Tensor, names: Sequence[str], p: float = 0.5, seed: int = 123
) -> View:
    """Draw masks for a matrix of weights, and watch what stays the same on average.

    The view shows one draw, in train or in eval mode, and the mean over all draws
    beside the weights.

    Args:
        weights: (T, T), each row sums to 1; a weight of 0 is the future.
        names: T names.
        p: probability of dropping a weight where the view starts: 0, 0.1, ... or 0.9.
        seed: where the view's random numbers start; they are its own, not PyTorch's.

    Returns:
        view: a View.

    Raises:
        ValueError: another shape, a row that doesn't sum to 1, names that don't count
            the rows, another p, or a seed that isn't an integer of at least 1.

    Source: Srivastava et al. 2014, section 10 (scaling in training). Chapter 5.
    """
    validation.require_float(weights=weights)
    shape = validation.shape_of(weights)
    if len(shape) != 2 or shape[0] != shape[1] or not shape[0]:
        raise ValueError(f"weights must have shape (T, T), got {shape}")
    sums = weights.detach().sum(dim=-1)
    if not (weights >= 0).all() or not torch.allclose(sums, torch.ones_like(sums)):
        raise ValueError("weights must be rows of at least 0 that sum to 1")
    if len(names) != len(weights):
        raise ValueError(f"names must hold {len(weights)} names, got {len(names)}")
    validation.require_probability("p", p)
    if p not in PROBABILITIES:
        raise ValueError(f"p must be one of {PROBABILITIES}, got {p!r}")
    validation.require_integers(seed=seed)
    rows = weights.detach().tolist()
    kept = (weights.detach() / (1 - p)).tolist()
    names = [str(name) for name in names]
    return View(
        "dropout_sampler",
        "Dropout, draw by draw",
        {
            "weights": rows,
            "names": names,
            "p": float(p),
            "seed": int(seed),
            "probabilities": PROBABILITIES,
        },
        [
            Table("The weights", rows, columns=names, rows=names),
            Table(f"A kept weight at p = {p:.1f}", kept, columns=names, rows=names),
        ],
    )
