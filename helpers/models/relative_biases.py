"""T5's relative position biases: a trained number for each range of distances.

Shapes use the book's letters: T query positions, S key positions, H heads.
"""

import math

import torch
from torch import Tensor, nn

from helpers import validation


def t5_buckets(distances: Tensor, num_buckets: int, max_distance: int) -> Tensor:
    """Which range each distance belongs to.

    The first half of the buckets hold one distance each; in the other half they grow
    with the logarithm of the distance, and the last one holds all from
    ``max_distance`` on.

    Args:
        distances: of any shape, int64; query minus key. A key of the future, below 0,
            counts as 0.
        num_buckets: at least 2.
        max_distance: above half the number of buckets.

    Returns:
        buckets: the shape of ``distances``, int64, from 0 to num_buckets - 1.

    Raises:
        ValueError: distances that aren't int64; numbers outside their range.

    Source: Raffel et al. 2020, section 2.1; ``_relative_position_bucket`` of T5 in
    transformers for the ranges, one direction.
    """
    validation.require_tensor("distances", distances)
    if distances.dtype != torch.int64:
        raise ValueError(f"distances must be int64, got {distances.dtype}")
    require_buckets("num_buckets", num_buckets, "max_distance", max_distance)
    exact = num_buckets // 2
    distances = distances.clamp(min=0)
    octaves = torch.log(distances.clamp(min=1).float() / exact)
    share = octaves / math.log(max_distance / exact)  # 1 at max_distance
    ranges = exact + (share * (num_buckets - exact)).long()
    return torch.where(distances < exact, distances, ranges.clamp(max=num_buckets - 1))


def require_buckets(name: str, number: int, longest: str, distance: int) -> None:
    """At least two buckets, and a distance that the exact ones don't reach.

    Args:
        name: what the message calls the number of buckets.
        number: of buckets.
        longest: what the message calls the distance.
        distance: from which on all are in the last bucket.

    Raises:
        ValueError: anything else.
    """
    validation.require_integers(**{name: number, longest: distance})
    if number < 2:
        raise ValueError(f"{name} must be at least 2, got {number}")
    if distance <= number // 2:
        raise ValueError(
            f"{longest} must be above half of {name} = {number}, got {distance}"
        )


class T5Bias(nn.Module):
    """A trained number for each bucket and head, added to the scores.

    All layers of a model share it. (T5 also leaves out the division by √D; this book's
    layers don't.)

    Args:
        num_heads: H
        num_buckets: as for ``t5_buckets``.
        max_distance: as for ``t5_buckets``.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, or outside the ranges
            of ``t5_buckets``.

    Source: Raffel et al. 2020, section 2.1.
    """

    def __init__(self, num_heads: int, num_buckets: int, max_distance: int) -> None:
        super().__init__()
        validation.require_integers(num_heads=num_heads)
        require_buckets("num_buckets", num_buckets, "max_distance", max_distance)
        self.max_distance = max_distance
        self.table = nn.Embedding(num_buckets, num_heads)

    def forward(self, T: int, S: int) -> Tensor:
        """The bias (H, T, S) of the last T of S positions."""
        keys = torch.arange(S, device=self.table.weight.device)
        distances = keys[S - T :, None] - keys  # (T, S)
        buckets = t5_buckets(distances, self.table.num_embeddings, self.max_distance)
        bias: Tensor = self.table(buckets).permute(2, 0, 1)
        return bias
