"""Texts that need the distant past: notes stand in them, and are asked for later.

A note is one token that says two things, such as "box 3 holds thing 5". A question is
one token, too, "box 3?", and what is to be predicted behind it is the thing. The answer
isn't shown in the text, so that only the note tells it, however far back it stands.

Shapes use the book's letters: B batch, T positions.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from helpers import validation
from helpers.text.batches import NOTHING

BOXES, THINGS = 8, 8
TOKENS = BOXES * THINGS + BOXES + THINGS  # behind those of the text
ASKED = 0.25  # of the places behind the first note


class Recall(NamedTuple):
    """Texts with notes.

    Attributes:
        inputs: (B, T) int64, of the text's ids and of ``TOKENS`` more.
        targets: (B, T), the thing asked for; NOTHING where nothing is.
        distances: (B, T), how far back the note stands; 0 where nothing is asked.
    """

    inputs: Tensor
    targets: Tensor
    distances: Tensor


def put_notes(ids: Tensor, vocab_size: int, generator: torch.Generator) -> Recall:
    """Put a note for each box into texts, and questions behind them.

    Places of the notes, the order of the boxes and what they hold are random. Behind
    the first note, a quarter of the places ask for a box whose note has been read. The
    ids of notes come first behind the text's, then those of questions, then things.

    Args:
        ids: (B, T), T at least ``BOXES``: little-world, say.
        vocab_size: of these ids.
        generator: a ``torch.Generator`` on the CPU.

    Returns:
        texts: a Recall.

    Raises:
        ValueError: ids of another dtype or shape, or too short for the notes.

    Source: Arora et al. 2023 ("Zoology") for recall of several pairs; here a pair is
    one token.
    """
    validation.require_tensor("ids", ids)
    validation.require_integers(vocab_size=vocab_size)
    if ids.dtype != torch.int64 or ids.dim() != 2 or ids.shape[1] < BOXES:
        raise ValueError(
            f"ids must be int64 (B, T) with T of at least {BOXES}, got {ids.dtype} "
            f"{validation.shape_of(ids)}"
        )
    B, T = ids.shape
    places = torch.rand(B, T, generator=generator).argsort(dim=1)[:, :BOXES]
    places = places.sort(dim=1).values
    boxes = torch.rand(B, BOXES, generator=generator).argsort(dim=1)
    things = torch.randint(THINGS, (B, BOXES), generator=generator)
    noted = torch.zeros(B, T, dtype=torch.bool).scatter_(1, places, value=True)
    told = noted.cumsum(dim=1)  # how many notes have been read
    asks = torch.rand(B, T, generator=generator) < ASKED
    asks &= ~noted & (told > 0)
    which = (torch.rand(B, T, generator=generator) * told.clamp(min=1)).long()
    question = vocab_size + BOXES * THINGS
    inputs = ids.scatter(1, places, vocab_size + boxes * THINGS + things)
    inputs = torch.where(asks, question + boxes.gather(1, which), inputs)
    answers = question + BOXES + things.gather(1, which)
    distances = torch.arange(T) - places.gather(1, which)
    return Recall(
        inputs,
        answers.masked_fill(~asks, NOTHING),
        distances.masked_fill(~asks, 0),
    )
