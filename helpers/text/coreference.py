"""Sentences with two nouns and one "it", where a verb says which of the two is meant.

"The coffee was next to the bread. Anna drank it." Each pair of nouns comes in both
orders and with the verb of either, so that whoever follows the first noun, the nearest,
the subject or one of the words is right in exactly half of them. In "Next to the coffee
was the bread" the subject is the second noun. Half 1 shares no noun, verb or scene with
half 0: what is chosen on one can be tried on the other.

Each word, comma and full stop is one token of SmolLM2 and of MiniLM.
"""

import random
from typing import NamedTuple

from helpers import validation

# For each kind of thing: nouns, verbs that take only those, and what they are good to.
THINGS: dict[str, tuple[tuple[str, str, str], tuple[str, str, str]]] = {
    "drink": (
        ("coffee milk juice tea soda", "drank", "drink"),
        ("water wine beer whiskey rum", "poured spilled", "pour"),
    ),
    "food": (
        ("bread cake pizza cheese pasta", "ate cooked", "eat"),
        ("chicken sandwich rice fish pie", "roasted baked", "cook"),
    ),
    "text": (
        ("book letter newspaper novel essay", "read wrote", "read"),
        ("poem magazine diary report manuscript", "published edited", "write"),
    ),
    "clothing": (
        ("hat coat shirt dress cap", "wore", "wear"),
        ("jacket skirt suit robe uniform", "tailored", "wear"),
    ),
    "vehicle": (
        ("car truck bus taxi van", "drove parked", "drive"),
        ("motorcycle tractor bicycle bike wagon", "rode crashed", "ride"),
    ),
    "instrument": (
        ("guitar piano violin flute bass", "played", "play"),
        ("trumpet organ harp drum bell", "practiced tuned", "play"),
    ),
    "plant": (
        ("tree flower rose bush vine", "watered planted", "plant"),
        ("shrub lily hedge fern ivy", "trimmed grew", "grow"),
    ),
}
NEUTRAL = (("saw", "liked", "wanted", "found"), ("lost", "noticed", "needed", "forgot"))
# Which noun is the subject (None: neither), a scene, and what somebody does.
SCENES: tuple[tuple[tuple[int | None, str, str], ...], ...] = (
    (
        (0, "The {} was next to the {} .", "Anna {} it"),
        (1, "Next to the {} was the {} .", "Anna {} it"),
        (0, "Today the {} stood behind the {} ,", "and Mary {} it"),
        (1, "Today behind the {} stood the {} ,", "and Mary {} it"),
        (0, "The {} came with the {} .", "Tom {} it"),
        (1, "With the {} came the {} .", "Tom {} it"),
        (None, "Tom saw the {} and the {} .", "He {} it"),
        (None, "Mary talked about the {} and the {} .", "Later she {} it"),
        (None, "They gave Peter the {} and then the {} .", "He {} it"),
        (None, "Peter looked at the {} beside the {} .", "Then he {} it"),
    ),
    (
        (0, "The {} was near the {} .", "My brother {} it"),
        (1, "Near the {} was the {} .", "My brother {} it"),
        (0, "At home the {} lay under the {} ,", "and the woman {} it"),
        (1, "At home under the {} lay the {} ,", "and the woman {} it"),
        (0, "The {} remained in front of the {} .", "David {} it"),
        (1, "In front of the {} remained the {} .", "David {} it"),
        (None, "We found the {} near the {} .", "My sister {} it"),
        (None, "The man thought of the {} and of the {} .", "Soon he {} it"),
        (None, "They paid for the {} and for the {} ,", "and the girl {} it"),
        (None, "David had the {} as well as the {} .", "Every day he {} it"),
    ),
)
ASKS = ". It was the"


class Sentence(NamedTuple):
    """One of them, with the places of its words, counted from 0.

    Attributes:
        words: the words, commas and full stops; the last one asks for a noun.
        names: the first and the second noun.
        nouns: their places, -1 where no scene is told.
        verb: the place of the verb that decides.
        it: the place of "it", or of the word that stands there instead.
        meant: 0 or 1, the noun that the verb takes.
        subject: 0 or 1, the noun that is the scene's subject; None, neither.
        scene: the number of the scene in its half.
    """

    words: tuple[str, ...]
    names: tuple[str, str]
    nouns: tuple[int, int]
    verb: int
    it: int
    meant: int
    subject: int | None
    scene: int

    @property
    def text(self) -> str:
        """The sentence as it is written."""
        return " ".join(self.words).replace(" .", ".").replace(" ,", ",")

    @property
    def choices(self) -> tuple[str, str]:
        """The noun that is meant, and the other one."""
        return self.names[self.meant], self.names[1 - self.meant]


def sentences(
    half: int,
    pairs: int,
    *,
    kind: str = "before",
    instead: str = "it",
    asks: str = ASKS,
    scene: bool = True,
) -> list[Sentence]:
    """Some sentences, four in a row about the same pair of nouns.

    The four are the two orders, and in each the verb of the first and of the second.

    Args:
        half: 0 or 1, which words and scenes.
        pairs: how many pairs of nouns for each of the ten scenes; the first of many are
            the same as few.
        kind: "before", the verb stands before "it"; "behind", "It was good to drink";
            "neutral", a verb that takes all of them stands before "it", and ``meant``
            is what it would have been.
        instead: the word in place of "it".
        asks: what follows; "{}" in it is the verb once more.
        scene: whether the first part is there, which alone names the two.

    Returns:
        sentences: a list of 40 for each of ``pairs``.

    Raises:
        ValueError: another half or kind, or no pairs.
    """
    if half not in (0, 1):
        raise ValueError(f"half must be 0 or 1, got {half!r}")
    if kind not in ("before", "behind", "neutral"):
        raise ValueError(f"kind must be 'before', 'behind' or 'neutral', got {kind!r}")
    validation.require_integers(pairs=pairs)
    made = []
    for number, (subject, first_part, clause) in enumerate(SCENES[half]):
        generator = random.Random(f"{half} {number}")
        for _ in range(pairs):
            kinds = generator.sample(sorted(THINGS), 2)
            nouns = [generator.choice(THINGS[one][half][0].split()) for one in kinds]
            verbs = [generator.choice(THINGS[one][half][1].split()) for one in kinds]
            other = generator.choice(NEUTRAL[half])
            if kind == "neutral":
                verbs = [other, other]
            if kind == "behind":
                verbs = [THINGS[one][half][2] for one in kinds]
                clause = "it was good to {}"
            for order in ((0, 1), (1, 0)):
                names = nouns[order[0]], nouns[order[1]]
                told = first_part.format(*names).split() if scene else []
                for meant in (0, 1):
                    verb = verbs[order[meant]]
                    rest = f"{clause.format(verb)} {asks.format(verb)}".split()
                    words, it = _joined(told, rest, instead)
                    places = [words.index(one) if told else -1 for one in names]
                    made.append(
                        Sentence(
                            words=tuple(words),
                            names=names,
                            nouns=(places[0], places[1]),
                            verb=words.index(verb, max(it - 1, 0)),
                            it=it,
                            meant=meant,
                            subject=subject,
                            scene=number,
                        )
                    )
    return made


def _joined(told: list[str], rest: list[str], instead: str) -> tuple[list[str], int]:
    """The words of both parts, and the place of "it" or what stands there instead."""
    it = rest.index("it")
    rest = [*rest[:it], instead, *rest[it + 1 :]]
    if told[-1:] == [","] and it == 0:  # what follows is a sentence of its own
        told = [*told[:-1], "."]
    if not told and rest[0] == "and":
        rest, it = rest[1:], it - 1
    if told[-1:] != [","]:
        rest[0] = rest[0].capitalize()
    return told + rest, len(told) + it
