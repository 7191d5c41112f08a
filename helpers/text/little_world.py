"""little-world: short English stories from a grammar written for this book.

    Eve wants a white drum. The goat that liked the hens swims. "Who took the white
    drum?" she asked.

Each story needs what attention is for. A verb agrees with its subject across another
animal. A pronoun goes back to a name. A colour and a thing are named once and recalled
later. A quote closes with the mark that opened it. Each choice's probability is
explicit, so that the best possible loss is known exactly.
"""

import functools
from collections.abc import Mapping

from helpers.text.grammar import Choice, Grammar, share


def _weighted(words: str) -> dict[str, int]:
    """ "Ann 4, Eve 3" as a dict from words to weights."""
    pairs = (pair.rsplit(" ", 1) for pair in words.split(", "))
    return {word: int(weight) for word, weight in pairs}


WORDS = {
    "girl": _weighted("Ann 4, Eve 3, Ida 2, Lucy 3, Mia 4, Zoe 2"),
    "boy": _weighted("Ben 4, Dan 3, Finn 2, Jack 3, Sam 4, Tom 4"),
    "got": _weighted(
        "found 5, has 5, made 3, bought 2, lost 3, wants 2, drew 2, hid 1"
    ),
    "colour": _weighted(
        "red 4, blue 4, green 3, yellow 3, white 3, pink 2, silver 1, violet 1"
    ),
    "thing": _weighted(
        "ball 4, cup 3, drum 3, flute 2, hat 4, jar 2, kite 4, lamp 3, map 3, net 2, "
        "rope 2, top 2"
    ),
    "animal": _weighted(
        "cat 5, dog 5, bird 4, frog 3, goat 2, duck 3, hen 2, pig 3, lion 2, owl 2, "
        "rat 2, bear 3"
    ),
    "did": _weighted(
        "that saw 10, that met 8, that heard 6, that chased 6, that fed 4, "
        "that liked 6, near 7, by 5, behind 3, under 2"
    ),
    "verb": _weighted(
        "sleep 5, sing 4, dance 3, jump 3, play 4, hide 2, wait 3, run 4, swim 2, "
        "smile 2, eat 3, yawn 1"
    ),
    "how": _weighted(
        "now 3, here 3, again 2, a lot 2, all day 2, in the sun 2, at home 1"
    ),
    "said": _weighted("said 5, sang 2, asked 3, yelled 2, wrote 1"),
    "keeps": _weighted("likes 4, keeps 3, hides 2, sells 1, paints 1"),
    "speech": {
        "I love my <thing>{thing}!": 3,
        "Where is my <thing>{thing}?": 3,
        "Look, a <colour>{colour} <thing>{thing}!": 2,
        "My <thing>{thing} is <colour>{colour}!": 3,
        "Who took the <colour>{colour} <thing>{thing}?": 2,
        "No, not <colour>{colour}!": 1,
    },
}


class LittleWorld(Grammar):
    """The stories of little-world; its numbers are those of ``Grammar``.

    These kinds of characters are marked, each the first that depends on what came
    earlier in the story:

    - "agreement": an "s" behind the verb after a singular subject, anything else after
      a plural one;
    - "attractor-same", "attractor-other": the same, behind another animal that has the
      subject's number, or hasn't;
    - "pronoun": of "she" or "he", given that a pronoun comes;
    - "colour", "thing", "name": of the word that is recalled;
    - "quote": the closing one, which is the opening one again.

    Args:
        words: where given, a dict from kinds, keys of ``WORDS``, to dicts from words to
            weights, which stand in for those of ``WORDS``. Fewer words make a world
            small enough to enumerate.

    Raises:
        ValueError: a kind that ``WORDS`` hasn't, or words that can't be told apart.
    """

    def __init__(self, words: Mapping[str, Mapping[str, float]] | None = None) -> None:
        unknown = sorted(set(words or {}) - set(WORDS))
        if unknown:
            raise ValueError(f"words must have kinds from {list(WORDS)}, got {unknown}")
        self._words: dict[str, Mapping[str, float]] = {**WORDS, **(words or {})}
        super().__init__((self._who,))

    def _pairs(self, *kinds: str) -> list[tuple[str, float]]:
        return [pair for kind in kinds for pair in self._words[kind].items()]

    def _pronoun(self, name: str) -> str:
        return "she" if name in self._words["girl"] else "he"

    def _who(self) -> list[Choice]:
        return [
            (weight, f"{name} ", (self._what_was_done, name))
            for name, weight in self._pairs("girl", "boy")
        ]

    def _what_was_done(self, name: str) -> list[Choice]:
        return [
            (weight, f"{got} a ", (self._which_colour, name))
            for got, weight in self._pairs("got")
        ]

    def _which_colour(self, name: str) -> list[Choice]:
        return [
            (weight, f"{colour} ", (self._which_thing, name, colour))
            for colour, weight in self._pairs("colour")
        ]

    def _which_thing(self, name: str, colour: str) -> list[Choice]:
        # The second sentence depends on none of this; the third recalls all of it.
        return [
            (
                weight,
                f"{thing}. The ",
                (self._subject,),
                (self._third_sentence, name, colour, thing),
            )
            for thing, weight in self._pairs("thing")
        ]

    def _subject(self) -> list[Choice]:
        return [
            (weight, f"{animal}{number} ", (self._behind_subject, number))
            for animal, weight in self._pairs("animal")
            for number in ("", "s")
        ]

    def _behind_subject(self, number: str) -> list[Choice]:
        clause = [
            (weight, f"{did} the ", (self._attractor, number))
            for did, weight in self._pairs("did")
        ]
        return share(0.65, clause) + share(0.35, self._verb(number, "agreement"))

    def _attractor(self, number: str) -> list[Choice]:
        return [
            (
                weight,
                f"{animal}{other} ",
                (
                    self._verb,
                    number,
                    "attractor-same" if other == number else "attractor-other",
                ),
            )
            for animal, weight in self._pairs("animal")
            for other in ("", "s")
        ]

    def _verb(self, number: str, mark: str) -> list[Choice]:
        # Cats sleep, a cat sleeps.
        return [
            (weight, f"{verb}<{mark}>{'' if number else 's'}", (self._how, number))
            for verb, weight in self._pairs("verb")
        ]

    def _how(self, number: str) -> list[Choice]:
        how = [(weight, f" {how}. ") for how, weight in self._pairs("how")]
        return [
            (0.5, ". "),
            (0.15, " and ", (self._second_verb, number)),
            *share(0.35, how),
        ]

    def _second_verb(self, number: str) -> list[Choice]:
        return [
            (weight, f"{verb}<agreement>{'' if number else 's'}", (self._stop,))
            for verb, weight in self._pairs("verb")
        ]

    def _stop(self) -> list[Choice]:
        return [(1, ". ")]

    def _third_sentence(self, name: str, colour: str, thing: str) -> list[Choice]:
        pronoun = self._pronoun(name).capitalize()
        keeps = [
            (
                weight,
                f"<pronoun>{pronoun} {keeps} the <colour>{colour} <thing>{thing}.\n",
            )
            for keeps, weight in self._pairs("keeps")
        ]
        memory = (name, colour, thing)
        return [
            (0.48, '"', (self._speech, *memory, '"')),
            (0.32, "'", (self._speech, *memory, "'")),
            *share(0.2, keeps),
        ]

    def _speech(self, name: str, colour: str, thing: str, quote: str) -> list[Choice]:
        return [
            (
                weight,
                speech.format(colour=colour, thing=thing) + f"<quote>{quote} ",
                (self._speaker, name),
            )
            for speech, weight in self._pairs("speech")
        ]

    def _speaker(self, name: str) -> list[Choice]:
        said = [
            (weight, f"<pronoun>{self._pronoun(name)} {said}.\n")
            for said, weight in self._pairs("said")
        ]
        called = [(2, f"called <name>{name}.\n"), (1, f"cried <name>{name}.\n")]
        return share(0.75, said) + share(0.25, called)


@functools.cache
def whole_world() -> LittleWorld:
    """The world with all its words, made once: it takes a third of a second."""
    return LittleWorld()
