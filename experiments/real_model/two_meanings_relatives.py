"""Whether an axis between two meanings hangs on one of the words at its ends.

Each of a word's four relatives is left out once: the axis is fitted to the three
others, and the word is measured on it, in other frames and behind other nouns.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from experiments import many
from experiments.real_model.intervals import interval
from experiments.real_model.meaning_measures import Vectors
from helpers.text.ambiguous_words import WORDS

LAYERS = (9, 30)
# From a word and names in its place to the vectors of each, to fit and to test.
Read = Callable[[str, Sequence[str]], Sequence[Mapping[str, Vectors]]]


def measure(read: Read) -> many.Run:
    """How far a word moves on axes that lack a relative.

    Args:
        read: gives a word's vectors and its relatives' in the two halves.

    Returns:
        found: by layer, a dict of intervals over words: how far the meanings lie apart
            in shares of the axis with "all" relatives; the mean, "least" and "most" of
            the four axes "without one"; and of the relative left out, how far it moves
            itself ("left out, moved") and where it lies between the middle of the axis
            and its own meaning's end ("left out, place": 0.5 is that end).
    """
    of_words = [of_word(word, read) for word in WORDS]
    return {
        f"layer {layer}": {
            name: interval([float(one[name][layer]) for one in of_words])
            for name in of_words[0]
        }
        for layer in LAYERS
    }


def of_word(word: str, read: Read) -> dict[str, Tensor]:
    """What one word gives, each (num_layers + 1,)."""
    relatives = [one for sense in WORDS[word] for one in sense.relatives]
    fit, test = read(word, [word, *relatives])
    middles = [fit[one].flatten(0, 2).mean(dim=0) for one in relatives]
    half = len(relatives) // 2
    axis, _ = _between(middles[:half], middles[half:])
    rows: dict[str, list[Tensor]] = {}
    for i, left in enumerate(relatives):
        first, second = (
            [middles[k] for k in several if k != i]
            for several in (range(half), range(half, 2 * half))
        )
        own, middle = _between(first, second)
        sign = 1 if i < half else -1
        place = _along(test[left].flatten(0, 2).mean(dim=0) - middle, own)
        for name, one in (
            ("without one", _along(_moved(test[word]), own)),
            ("left out, moved", _along(_moved(test[left]), own)),
            ("left out, place", sign * place),
        ):
            rows.setdefault(name, []).append(one)
    found = {name: torch.stack(several).mean(dim=0) for name, several in rows.items()}
    four = torch.stack(rows["without one"])
    return {
        "all": _along(_moved(test[word]), axis),
        **found,
        "least": four.amin(dim=0),
        "most": four.amax(dim=0),
    }


def _moved(found: Tensor) -> Tensor:
    """From the second meaning to the first (num_layers + 1, C)."""
    return (found[0] - found[1]).mean(dim=(0, 1))


def _between(first: list[Tensor], second: list[Tensor]) -> tuple[Tensor, Tensor]:
    """The way from the second to the first, and the middle, (num_layers + 1, C)."""
    one, two = (torch.stack(several).mean(dim=0) for several in (first, second))
    return one - two, (one + two) / 2


def _along(found: Tensor, axis: Tensor) -> Tensor:
    """How far vectors reach along an axis, in shares of it (num_layers + 1,)."""
    return (found * axis).sum(dim=-1) / axis.square().sum(dim=-1)
