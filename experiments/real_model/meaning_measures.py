"""How far two meanings of a word lie apart among its vectors."""

import random
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

Vectors = Tensor  # (2 meanings, frames, clues, num_layers + 1, C)
SHUFFLES = 20


def way(relatives: Sequence[Tensor]) -> Tensor:
    """The way from the relatives of the second meaning to those of the first.

    Args:
        relatives: vectors (..., num_layers + 1, C) of as many words of either meaning,
            those of the first before the others. All stand behind the same nouns, so
            that what a noun lends to whatever follows it cancels out.

    Returns:
        way: (num_layers + 1, C)
    """
    means = torch.stack([one.flatten(0, -3).mean(dim=0) for one in relatives])
    first, second = means.unflatten(0, (2, -1)).mean(dim=1)
    return first - second


def apart(fit: Vectors, test: Vectors, axis: Tensor) -> dict[str, Tensor]:
    """How far two meanings lie apart, each measure (num_layers + 1,).

    Args:
        fit: vectors of a word, from which centroids and the mean are taken.
        test: those that are measured.
        axis: (num_layers + 1, C), from the relatives of the second meaning to those of
            the first.

    Returns:
        found: a dict of "accuracy", the share whose nearest centroid is their
            meaning's; "gap", the cosine between sentences of one meaning (of different
            nouns) minus that between meanings, of vectors from which the mean is taken
            away; "toward", how far the first meaning lies ahead of the second on the
            way between the relatives (1 is the whole way); "direction", the cosine
            between the difference of the meanings and that way.
    """
    difference = (test[0] - test[1]).mean(dim=(0, 1))
    along = (difference * axis).sum(dim=-1)
    return {
        "accuracy": right(fit, test),
        "gap": gap(test, fit.mean(dim=(0, 1, 2))),
        "toward": along / axis.square().sum(dim=-1),
        "direction": F.cosine_similarity(difference, axis, dim=-1),
    }


def right(fit: Vectors, test: Vectors) -> Tensor:
    """The share of vectors whose nearest centroid is their meaning's; 0.5 for ties."""
    centroids = fit.mean(dim=(1, 2))
    first, second = (
        (test - one).square().sum(dim=-1) for one in centroids
    )  # (2, frames, clues, layers)
    nearer = torch.stack([second[0] - first[0], first[1] - second[1]])
    return ((nearer.sign() + 1) / 2).mean(dim=(0, 1, 2))


def gap(vectors: Vectors, centre: Tensor) -> Tensor:
    """Cosine within a meaning, over pairs of other nouns, minus between meanings."""
    unit = F.normalize(vectors - centre, dim=-1).transpose(1, 2)  # clues before frames
    of_clue = unit.mean(dim=2)  # (2, clues, layers, C)
    N = of_clue.shape[1]
    total = of_clue.sum(dim=1)
    own = of_clue.square().sum(dim=(1, 3))
    within = (total.square().sum(dim=-1) - own) / (N * (N - 1))
    between = (total[0] * total[1]).sum(dim=-1) / N**2
    result: Tensor = within.mean(dim=0) - between
    return result


def shuffled(fit: Vectors, test: Vectors, *, seed: str) -> Tensor:
    """The accuracy where each noun's label is drawn, as many of each meaning."""
    rng, found = random.Random(seed), []
    frames = fit.transpose(0, 1).flatten(1, 2)  # (frames, nouns of both, ...)
    N = fit.shape[2]
    for _ in range(SHUFFLES):
        order = rng.sample(range(2 * N), 2 * N)
        both = frames[:, order].unflatten(1, (2, N)).transpose(0, 1)
        found.append(right(both, test))
    return torch.stack(found).mean(dim=0)
