"""Sentences that end where the name of the one who receives something must follow.

    When Mary and John went to the store, John gave a drink to

Two names stand at the beginning. The one that comes again is the subject; the other
one, the indirect object, must follow. Either may be the first.

Source: Wang et al. 2022, section 2 and appendix E, for the task and for some frames.
"""

from collections.abc import Sequence
from typing import NamedTuple

# The first five for choosing, the last five for testing.
FRAMES = (
    "When {A} and {B} went to the store, {S} gave a drink to",
    "Then {A} and {B} had a long argument, and afterwards {S} said to",
    "After {A} and {B} went to the park, {S} gave a ball to",
    "While {A} and {B} were in the kitchen, {S} handed a plate to",
    "Because {A} met {B} at the station, {S} gave the ticket to",
    "Yesterday {A} and {B} were working at the office, and {S} sent a letter to",
    "Once {A} and {B} had found a ring in the garden, {S} showed the ring to",
    "Last night {A} visited {B} at the school. Before leaving, {S} passed a pencil to",
    "The friends {A} and {B} ate dinner together, and {S} offered some bread to",
    "In the morning {A} called {B} about the house, so {S} brought the keys to",
)
# The first fifteen for choosing, the last fifteen for testing.
NAMES = (
    *("Mary", "John", "Tom", "Anna", "James", "Paul", "Sarah", "Peter", "Emma"),
    *("David", "Lucy", "Mark", "Laura", "Simon", "Alice"),
    *("Frank", "Helen", "Jack", "Kate", "Robert", "Ruth", "Adam", "Jane", "Henry"),
    *("Rose", "Martin", "Claire", "George", "Sam", "Julia"),
)


class Prompt(NamedTuple):
    """A sentence without its last name.

    Attributes:
        text: what the model reads.
        answer: the name that must follow.
        subject: the name that comes again.
    """

    text: str
    answer: str
    subject: str


def prompt(frame: str, names: Sequence[str], again: str) -> Prompt:
    """Put names into a frame.

    Args:
        frame: one of ``FRAMES``.
        names: the two that stand at the beginning, in their order.
        again: the name that gives: one of the two, or a third one, whereby nothing
            tells which of them must follow (then the answer is the first).

    Returns:
        prompt: a ``Prompt``.

    Raises:
        ValueError: names that aren't two different ones.
    """
    if len(names) != 2 or names[0] == names[1]:
        raise ValueError(f"names must be two different ones, got {names!r}")
    first, second = names
    text = frame.format(A=first, B=second, S=again)
    return Prompt(text, second if again == first else first, again)
