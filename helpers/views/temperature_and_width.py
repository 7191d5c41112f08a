"""Random queries and keys of growing width: what their scores do to softmax."""

import math

import torch
from torch import Tensor

from helpers import validation
from helpers.attention import softmax
from helpers.views.view import Table, View

BINS = 50
REACH = 5  # standard deviations from the middle of the histogram to its ends
MOST_KEYS = 16
MOST_QUERIES = 8


def temperature_and_width(queries: Tensor, keys: Tensor, *, width: int = 2) -> View:
    """Widen queries and keys, divide their scores by √D or not, and by a temperature.

    The view shows how all scores are spread, the weights of one of the first 8 queries,
    and their entropy, beside the entropy with the division by √D and nothing else. A
    width of D takes the first D entries of each vector, so that from one width to the
    next each score goes on from where it was.

    Args:
        queries: (..., T, D), what the scores of the histogram come from.
        keys: (..., S, D), at most 16 keys for a query; the widths are 2, 4, 8, ... up
            to D.
        width: the one that the view opens at.

    Returns:
        view: a View.

    Raises:
        ValueError: queries and keys that don't fit together, a D below 2, S outside 2
            to 16, or a width that isn't one of the view's.

    Source: Vaswani et al. 2017, section 3.2.1 and footnote 4. Chapter 3.
    """
    validation.require_matching(queries, keys)
    shape = validation.shape_of(keys)
    if 0 in shape or shape[-1] < 2 or not 2 <= shape[-2] <= MOST_KEYS:
        raise ValueError(
            f"keys must have shape (..., S, D) with S from 2 to {MOST_KEYS} and D of "
            f"at least 2, got {shape}"
        )
    widths = [2**power for power in range(1, shape[-1].bit_length())]
    if width not in widths:
        raise ValueError(f"width must be one of {widths}, got {width!r}")
    with torch.no_grad():
        scores = [queries[..., :D] @ keys[..., :D].mT for D in widths]
    rows = [score.flatten(0, -2)[:MOST_QUERIES] for score in scores]
    spreads = [float(score.std()) for score in scores]
    state = {
        "widths": widths,
        "width": width,
        "count": scores[0].numel(),
        "reach": REACH,
        "spreads": spreads,
        "shares": [_shares(*pair) for pair in zip(scores, widths, strict=True)],
        "scores": [row.tolist() for row in rows],
    }
    table = _table(widths, spreads, [row[0] for row in rows])
    return View("temperature_and_width", "Scores of growing width", state, [table])


def _shares(scores: Tensor, D: int) -> list[float]:
    """The share of the scores in each bin; √D, the expected spread, is the unit."""
    scores = (scores / math.sqrt(D)).float()
    counts = torch.histc(scores, bins=BINS, min=-REACH, max=REACH)
    return (counts / scores.numel()).tolist()


def _table(widths: list[int], spreads: list[float], rows: list[Tensor]) -> Table:
    """What one query gets at each width, undivided and divided."""
    cells, names = [], []
    for D, spread, scores in zip(widths, spreads, rows, strict=True):
        for name, divisor in (("not divided", 1.0), ("divided by √D", math.sqrt(D))):
            weights = softmax(scores.cpu().double() / divisor)
            entropy = torch.special.entr(weights).sum()
            cells.append([spread / divisor, float(entropy)])
            names.append(f"D = {D}, {name}")
    columns = ["standard deviation of all scores", "entropy of the weights"]
    return Table("Query 1 at each width", cells, columns=columns, rows=names)
