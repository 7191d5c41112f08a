"""Series of throws of a die that remembers: a language whose best loss is known.

Five times out of six, the die shows one more than two throws ago (0 after a 5), and
otherwise one of the other five faces. Whoever knows that predicts five throws out of
six, with a cross-entropy of 0.72 nats. Built for chapter 4, where a head that does
better must have looked ahead.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from helpers import validation

FACES = 6
LENGTH = 8  # throws in a series


def throw(count: int) -> Tensor:
    """Throw new series, from PyTorch's global generator.

    Args:
        count: B, how many series.

    Returns:
        throws: (B, 8) whole numbers from 0 to 5; the first two of each are fair.

    Raises:
        ValueError: a count that isn't an integer of at least 1.
    """
    validation.require_integers(count=count)
    throws = torch.randint(FACES, (count, LENGTH))
    for t in range(2, LENGTH):
        off = torch.randint(1, FACES, (count,))  # 1 to 5: any other face
        off[torch.rand(count) < 5 / 6] = 0  # five in six follow the rule
        throws[:, t] = (throws[:, t - 2] + 1 + off) % FACES  # 0 follows 5
    return throws


def vectors_of(throws: Tensor) -> Tensor:
    """The face and the position of each throw, both one-hot.

    Args:
        throws: (B, T) whole numbers from 0 to 5, where T is at most 8.

    Returns:
        x: (B, T, 14), six numbers for the face and eight for the position.

    Raises:
        ValueError: throws of another shape, or more than 8 in a series; other numbers.
    """
    validation.require_tensor("throws", throws)
    if throws.ndim != 2 or throws.shape[1] > LENGTH:
        raise ValueError(
            f"throws must have shape (B, T) with T at most {LENGTH}, "
            f"got {tuple(throws.shape)}"
        )
    if throws.dtype != torch.int64 or not ((throws >= 0) & (throws < FACES)).all():
        raise ValueError(
            f"throws must be torch.int64 from 0 to {FACES - 1}, got {throws.dtype} "
            f"from {throws.min()} to {throws.max()}"
        )
    face = F.one_hot(throws, FACES)  # (B, T, 6)
    position = F.one_hot(torch.arange(throws.shape[1]), LENGTH)  # (T, 8)
    position = position.expand(len(throws), -1, -1)  # the same in each series
    return torch.cat([face, position], dim=-1).float()
