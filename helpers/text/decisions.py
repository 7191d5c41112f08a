"""What is decided at each character of a story of little-world.

- Of ``KINDS`` (``helpers.text.probes``): what follows from earlier in the story. Of a
  verb's number, this is only whether an "s" comes; of a pronoun, only which one, given
  that one comes.
- Of ``FREE``: what is chosen freely, by the rule that chooses.
- ``SPELLING``: characters that no other can stand in for.

A character may belong to two or three of them: behind "sleep", it is decided whether an
"s" comes, and where none does, how the sentence goes on.
"""

from helpers.text.grammar import Position
from helpers.text.probes import AGREEMENT, KINDS, PRONOUNS

FREE = (
    "who",
    "what was done",
    "which colour",
    "which thing",
    "subject",
    "behind subject",
    "attractor",
    "verb",
    "how",
    "second verb",
    "third sentence",
    "speech",
    "speaker",
)
SPELLING = "spelling"
DECISIONS = (*KINDS, *FREE, SPELLING)
Level = tuple[str | None, list[int]]  # a decision, and the class of each character


def levels(position: Position, alphabet: str) -> list[Level]:
    """The decisions that the character at one place of a story is made of.

    A level puts each character into a class, and tells more of them apart than the
    level before it; the last one tells all of them apart. What a level decides is which
    of its classes comes, given that of the level before.

    Args:
        position: what may stand there.
        alphabet: the characters in the order of their ids.

    Returns:
        levels: three pairs of one of ``DECISIONS`` and a class for each character of
            the alphabet. Levels that a place has no need of stand first, and have None
            for a decision.
    """
    kind, each = position.kind, _classes(alphabet)
    rest = position.rule if len(position.chances) > 1 else SPELLING
    if kind == "pronoun":
        comes, which = "".join(PRONOUNS), PRONOUNS
        return [
            (rest, _classes(alphabet, comes)),
            (kind, _classes(alphabet, *which)),
            (SPELLING, each),
        ]
    if kind in AGREEMENT:
        others = alphabet.replace("s", "")
        return [(None, each), (kind, _classes(alphabet, others)), (rest, each)]
    return [(None, each), (None, each), (kind or rest, each)]


def _classes(alphabet: str, *groups: str) -> list[int]:
    """A class for each character: one for all of a group, else its own."""
    classes = list(range(len(alphabet)))
    for group in groups:
        members = [i for i in classes if alphabet[i] in group]
        for i in members:
            classes[i] = members[0]
    return classes
