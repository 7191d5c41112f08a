"""Sentences in which one word belongs to another, at varied distances.

A verb to its subject with another noun in between, an object to its verb, an adjective
to its noun, a noun to its determiner, and a word of two meanings to the word that says
which: what is often told of attention heads, to be asked of them. Half 1 shares no
template and no content word with half 0: what is chosen on one can be tried on the
other.

Each word is one token of SmolLM2 and of MiniLM.
"""

import random
from typing import NamedTuple

from helpers import validation

WORDS: dict[str, tuple[str, str]] = {
    "person": (
        "teacher doctor farmer student artist lawyer nurse driver soldier singer",
        "painter writer sailor hunter judge guard pilot captain king actor",
    ),
    "other": (
        "queen baker miner clerk prince mayor dancer boy uncle guest",
        "woman girl priest chief cook thief sister father child friend",
    ),
    "place": (
        "house garden river hill bridge tower church",
        "lake road castle village market forest city",
    ),
    "did": (
        "smiled laughed waited slept danced worked cried",
        "shouted listened arrived left spoke stayed vanished",
    ),
    "changed": (
        "opened painted cleaned bought carried dropped",
        "repaired sold lifted broke moved hid",
    ),
    "thing": (
        "table box lamp chair window clock basket bottle",
        "door bag knife mirror wheel shelf bowl blanket",
    ),
    "quality": (
        "heavy clean dirty wet cheap broken red white",
        "dry empty expensive strange ugly green black gray",
    ),
    "kind": ("old small wooden big", "new large tall long"),
    "determiner": ("the this that every", "the a his her"),
}
# A word of two meanings, and words that say which; and words that say nothing of it.
CLUES: tuple[dict[str, str], dict[str, str]] = (
    {
        "bank": "money loan deposit river shore",
        "bat": "baseball cave wing",
        "seal": "ocean wax zoo",
        "match": "fire game flame",
        "spring": "winter water metal",
    },
    {
        "pitcher": "baseball beer team",
        "palm": "beach hand finger",
        "bark": "dog tree wood",
        "pen": "paper ink sheep",
        "organ": "church heart music",
        "crane": "bird construction wings",
    },
)
NOTHING = ("idea chair week name question", "moment door number story reason")


class Relation(NamedTuple):
    """Which word asks for which.

    Attributes:
        asks: the list of the word that asks.
        target: the list of the word that it belongs to.
        templates: for each half, sentences with [lists] in place of words.
    """

    asks: str
    target: str
    templates: tuple[tuple[str, ...], tuple[str, ...]]


RELATIONS = {
    "verb to subject": Relation(
        "did",
        "person",
        (
            (
                "today the [person] near the [other] [did]",
                "in the morning the [kind] [person] behind the [other] [did]",
                "when it was late the [person] beside the [kind] [other] [did]",
                "last week the [person] with the [other] often [did]",
                "at the [place] the [person] in front of the [kind] [other] [did]",
                "after the storm the [person] under the [kind] [other] really [did]",
            ),
            (
                "at night the [person] who liked the [other] [did]",
                "during the war the [person] that the [other] knew [did]",
                "once the [person] who had seen the [kind] [other] never [did]",
                "here the [kind] [person] from the [place] [did]",
                "on the [place] the [person] called by the [other] soon [did]",
                "for an hour the [person] whom the [kind] [other] liked always [did]",
            ),
        ),
    ),
    # A head that looks at the first or the last person finds few of these.
    "verb to subject of three": Relation(
        "did",
        "person",
        (
            (
                "the [other] waited and the [person] near the [other] [did]",
                "while the [other] slept the [person] behind the [other] [did]",
                "the [other] knew that the [person] with the [other] [did]",
                "the [other] told the [other] that the [person] [did]",
                "for the [other] and for the [other] the [person] [did]",
                "after the [other] had left the [other] the [person] [did]",
            ),
            (
                "when the [other] came the [person] beside the [other] [did]",
                "the [other] heard how the [person] in front of the [other] [did]",
                "with the [other] gone the [person] from the [place] [did]",
                "because of the [other] the [person] under the [kind] [other] [did]",
                "the [other] fell and then the [person] [did]",
                "if the [other] or the [other] wins the [person] always [did]",
            ),
        ),
    ),
    "object to verb": Relation(
        "thing",
        "changed",
        (
            (
                "today the [person] [changed] the [thing]",
                "in the morning the [person] [changed] the [kind] [thing]",
                "at the [place] she [changed] the very [kind] [thing]",
                "the [person] who [did] [changed] the [kind] [quality] [thing]",
                "when it was late he [changed] this [quality] [thing]",
                "last week they all [changed] every single [kind] [thing]",
            ),
            (
                "at night the [person] [changed] a [kind] [thing]",
                "the [person] that [did] quickly [changed] his [thing]",
                "then we [changed] the rather [kind] and [quality] [thing]",
                "on the [place] somebody [changed] all of the [kind] [thing]",
                "the [other] [did] and the [person] [changed] her [thing]",
                "once he slowly [changed] one of the [quality] [thing]",
            ),
        ),
    ),
    "adjective to noun": Relation(
        "quality",
        "thing",
        (
            (
                "today the [thing] was [quality]",
                "in the morning the [kind] [thing] was very [quality]",
                "the [person] said that the [thing] was [quality]",
                "at the [place] the [thing] near the [other] seemed [quality]",
                "when it was late the [thing] of the [person] was [quality]",
                "last week this [thing] behind the [place] looked rather [quality]",
            ),
            (
                "at night a [thing] is [quality]",
                "once the [thing] that the [person] [changed] became [quality]",
                "on the [place] his [kind] [thing] remained [quality]",
                "the [other] thought the [thing] from the [place] too [quality]",
                "here every [thing] for the [person] is always [quality]",
                "then the [thing] which we had [changed] felt quite [quality]",
            ),
        ),
    ),
    "noun to determiner": Relation(
        "thing",
        "determiner",
        (
            (
                "today she wanted [determiner] [thing]",
                "in the morning the [person] [changed] [determiner] [kind] [thing]",
                "at the [place] he saw [determiner] [kind] [quality] [thing]",
                "when it was late the [person] liked [determiner] [quality] [thing]",
                "last week the [person] [did] near [determiner] very [kind] [thing]",
                "the [other] [did] and [changed] [determiner] [thing]",
            ),
            (
                "at night [determiner] [kind] [thing] fell",
                "on the [place] the [person] found [determiner] [thing]",
                "once we lost [determiner] rather [kind] [thing]",
                "then the [other] [did] with [determiner] [quality] [thing]",
                "here it was [determiner] very [quality] [kind] [thing]",
                "during the war he kept [determiner] [kind] [thing]",
            ),
        ),
    ),
    "two meanings to clue": Relation(
        "ambiguous",
        "clue",
        (
            (
                "we thought of the [clue] and the [nothing] and the [ambiguous]",
                "we thought of the [nothing] and the [clue] and the [ambiguous]",
                "after the [clue] and the [nothing] she saw a [kind] [ambiguous]",
                "after the [nothing] and the [clue] she saw a [kind] [ambiguous]",
                "the [clue] had a [nothing] that changed the [ambiguous]",
                "the [nothing] had a [clue] that changed the [ambiguous]",
            ),
            (
                "he wrote about a [clue] with a [nothing] near the [ambiguous]",
                "he wrote about a [nothing] with a [clue] near the [ambiguous]",
                "for this [clue] or that [nothing] they needed another [ambiguous]",
                "for this [nothing] or that [clue] they needed another [ambiguous]",
                "no [clue] and no [nothing] came before the [ambiguous]",
                "no [nothing] and no [clue] came before the [ambiguous]",
            ),
        ),
    ),
}
#: The same with the clue behind, as in "I go to the bank to deposit money".
BEHIND = Relation(
    "ambiguous",
    "clue",
    (
        (
            "they go to the [ambiguous] for the [clue] and the [nothing]",
            "they go to the [ambiguous] for the [nothing] and the [clue]",
            "the [ambiguous] had to do with a [clue] and a [nothing]",
            "the [ambiguous] had to do with a [nothing] and a [clue]",
            "a [kind] [ambiguous] needs some [clue] or some [nothing]",
            "a [kind] [ambiguous] needs some [nothing] or some [clue]",
        ),
        (
            "she drew the [ambiguous] before the [clue] with the [nothing]",
            "she drew the [ambiguous] before the [nothing] with the [clue]",
            "this [ambiguous] is there because of the [clue] and the [nothing]",
            "this [ambiguous] is there because of the [nothing] and the [clue]",
            "no [ambiguous] was mentioned by the [clue] or by the [nothing]",
            "no [ambiguous] was mentioned by the [nothing] or by the [clue]",
        ),
    ),
)
DISTRACTORS = {"person": "other", "clue": "nothing"}  # another word of the same kind


class Pair(NamedTuple):
    """A sentence, and the places of two of its words, counted from 0.

    Attributes:
        words: the words.
        asks: the place of the word that asks.
        target: the place of the word that it belongs to.
        distractor: the place of another word of that kind, or None.
        template: the number of the template in its half.
    """

    words: tuple[str, ...]
    asks: int
    target: int
    distractor: int | None
    template: int

    @property
    def text(self) -> str:
        """The sentence as it is written, without a full stop."""
        return " ".join(self.words)

    def turned(self) -> "Pair":
        """The same sentence, in which the target asks for the word that asked."""
        return self._replace(asks=self.target, target=self.asks, distractor=None)

    def mismatched(self) -> "Pair":
        """The same clue, and another word of two meanings that it says nothing of.

        Raises:
            ValueError: the word that asks isn't one of ``CLUES``.
        """
        word, clue = self.words[self.asks], self.words[self.target]
        own = next((one for one in CLUES if word in one), None)
        if own is None:
            raise ValueError(f"the word that asks must be one of CLUES, got {word!r}")
        others = sorted(one for one in own if clue not in own[one].split())
        after = [one for one in others if one > word] or others
        words = [*self.words]
        words[self.asks] = after[0]
        return self._replace(words=tuple(words))

    def shuffled(self, generator: random.Random, *, before: bool) -> "Pair":
        """The same words in another order.

        Args:
            generator: draws the order.
            before: only the words before the one that asks change places.
        """
        count = self.asks if before else len(self.words)
        rest = range(count, len(self.words))
        order = [*generator.sample(range(count), count), *rest]
        other = self.distractor
        return self._replace(
            words=tuple(self.words[i] for i in order),
            asks=order.index(self.asks),
            target=order.index(self.target),
            distractor=None if other is None else order.index(other),
        )


def sentences(relation: Relation, half: int, each: int) -> list[Pair]:
    """Sentences with a word that belongs to another.

    Args:
        relation: one of ``RELATIONS``, or ``BEHIND``.
        half: 0 or 1, which words and templates.
        each: how many of each template.

    Returns:
        sentences: a list of ``Pair``, template by template.

    Raises:
        ValueError: another half, or fewer than one sentence a template.
    """
    if half not in (0, 1):
        raise ValueError(f"half must be 0 or 1, got {half!r}")
    validation.require_integers(each=each)
    made = []
    for number, template in enumerate(relation.templates[half]):
        generator = random.Random(f"{template} {half}")
        for _ in range(each):
            kinds = [
                word.strip("[]") if word.startswith("[") else None
                for word in template.split()
            ]
            drawn = _draw(half, generator)
            words = [
                word if kind is None else drawn[kind].pop()
                for word, kind in zip(template.split(), kinds, strict=True)
            ]
            words[0] = words[0].capitalize()
            asks = len(kinds) - 1 - kinds[::-1].index(relation.asks)
            other = DISTRACTORS.get(relation.target)
            made.append(
                Pair(
                    tuple(words),
                    asks,
                    kinds.index(relation.target),
                    kinds.index(other) if other and other in kinds else None,
                    number,
                )
            )
    return made


def _draw(half: int, generator: random.Random) -> dict[str, list[str]]:
    """The words of each kind in an order, those for two meanings together."""
    drawn = {
        kind: generator.sample(own[half].split(), len(own[half].split()))
        for kind, own in WORDS.items()
    }
    ambiguous = generator.choice(sorted(CLUES[half]))
    clue = generator.choice(CLUES[half][ambiguous].split())
    nothing = generator.choice(NOTHING[half].split())
    return drawn | {"ambiguous": [ambiguous], "clue": [clue], "nothing": [nothing]}
