"""Exercise of chapter 8: ids as a text."""

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.unknown_input import behind, refusal
from helpers.text.tokenizer import CharTokenizer

HELLO = " dehlorw"


def _id_lists():
    hello = [3, 2, 4, 4, 5, 0, 7, 5, 6, 4]
    return [
        Case("one id", {"ids": [1], "alphabet": "ab"}),
        Case("an alphabet out of order", {"ids": [0, 1, 1], "alphabet": "ol"}),
        Case("no ids", {"ids": [], "alphabet": "ab"}),
        Case("two words", {"ids": [*hello, 1], "alphabet": HELLO}),
        Case("spaces at both ends", {"ids": [0, 3, 2, 0], "alphabet": HELLO}),
        Case("an id one too large", {"ids": [*hello, 8], "alphabet": HELLO}),
        Case("an id far too large", {"ids": [1, 40, 2], "alphabet": HELLO}),
        Case("a negative id", {"ids": [*hello, -4], "alphabet": HELLO}),
    ]


def _right_text(ids, alphabet):
    return CharTokenizer(alphabet).decode(ids)


def _use_decode(decode, ids, alphabet):
    outside = [one for one in ids if not 0 <= one < len(alphabet)]
    if outside:
        return refusal(decode, ids, alphabet, outside[0])
    return decode(ids, alphabet)


def _plain(ids, alphabet):
    return "".join(alphabet[one] for one in ids)


def _half_guarded(ids, alphabet):
    for position, one in enumerate(ids):
        if one >= len(alphabet):
            raise ValueError(f"got {one} at position {position}")
    return _plain(ids, alphabet)


def _one_too_far(ids, alphabet):
    for position, one in enumerate(ids):
        if not 0 <= one <= len(alphabet):
            raise ValueError(f"got {one} at position {position}")
    return _plain(ids, alphabet)


_WRONG_TEXTS = (
    Mistake(
        "a decoder that returns a list of characters",
        lambda ids, alphabet: [alphabet[one] for one in ids],
        "The characters are right; join them to one text.",
    ),
    Mistake(
        "a decoder that puts spaces between the characters",
        lambda ids, alphabet: " ".join(alphabet[one] for one in ids),
        'A space is a character like another. Join with the empty text: "".join(...).',
    ),
    Mistake(
        "a decoder that sorts the alphabet first",
        lambda ids, alphabet: _plain(ids, sorted(alphabet)),
        "An id is a place in the alphabet as it is given.",
    ),
    Mistake(
        "a decoder that counts from 1",
        lambda ids, alphabet: _plain([one - 1 for one in ids], alphabet),
        "The id 0 is the first character of the alphabet. As an index, 0 - 1 means "
        "the last one, so that no error tells you.",
    ),
)

EXERCISE = Exercise(
    name="decode",
    stub="my_decode(ids, alphabet)",
    asks=(
        "a function of a list of whole numbers and a string that returns a text: for "
        "each id the character in that place of the alphabet. An id below 0, or too "
        "large, is a ValueError that names it and its position."
    ),
    returns={"text": "T characters"},
    reference=_right_text,
    cases=_id_lists,
    run=_use_decode,
    mistakes=(
        Mistake(
            "a decoder whose limit is one too large",
            _one_too_far,
            "The last id is len(alphabet) - 1. len(alphabet) is outside, too, and "
            "your test lets it pass: Python's IndexError follows.",
        ),
        *_WRONG_TEXTS,
        *behind(_right_text, _WRONG_TEXTS),
        Mistake(
            "a decoder that takes negative ids",
            _half_guarded,
            "Python counts a negative index from the end, so that -4 gives a "
            "character. An id is at least 0.",
        ),
        Mistake(
            "a decoder that skips ids outside the alphabet",
            lambda ids, alphabet: _plain(
                [one for one in ids if 0 <= one < len(alphabet)], alphabet
            ),
            "The text is shorter than the ids, and nobody is told.",
        ),
    ),
)
