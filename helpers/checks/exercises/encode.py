"""Exercise of chapter 8: a text as ids."""

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.unknown_input import behind, refusal
from helpers.text.tokenizer import CharTokenizer

HELLO = " dehlorw"


def _texts():
    return [
        Case("one character", {"text": "b", "alphabet": "ab"}),
        Case("an alphabet out of order", {"text": "lol", "alphabet": "ol"}),
        Case("an empty text", {"text": "", "alphabet": "ab"}),
        Case("capitals and small letters", {"text": "No, no", "alphabet": " ,Nno"}),
        Case("spaces at both ends", {"text": " a b ", "alphabet": " ab"}),
        Case("two words", {"text": "hello world", "alphabet": HELLO}),
        Case(
            "a character outside the alphabet",
            {"text": "hello worl#", "alphabet": HELLO},
        ),
        Case(
            "a character outside the alphabet, in the second line",
            {"text": "old\nh#llo", "alphabet": "\n" + HELLO},
        ),
    ]


def _right_ids(text, alphabet):
    return CharTokenizer(alphabet).encode(text)


def _use_encode(encode, text, alphabet):
    unknown = [character for character in text if character not in alphabet]
    if unknown:
        return refusal(encode, text, alphabet, unknown[0])
    return encode(text, alphabet)


def _number(text, alphabet, first=0):
    """Ids by a dictionary, which raises a KeyError."""
    ids = {character: i for i, character in enumerate(alphabet, first)}
    return [ids[character] for character in text]


def _look_up(text, alphabet, first=0):
    """Ids by a string's ``index``, whose ValueError doesn't name the character."""
    return [alphabet.index(character) + first for character in text]


def _look_up_in_a_list(text, alphabet, first=0):
    """Ids by a list's ``index``, whose ValueError names the character."""
    return _look_up(text, list(alphabet), first)


def _mistaken_ids(number):
    """Mistakes in the numbers, whatever happens to an unknown character."""
    return (
        Mistake(
            "an encoder that sorts the alphabet first",
            lambda text, alphabet: number(text, "".join(sorted(alphabet))),
            "A character's id is its place in the alphabet as it is given. A tokenizer "
            "that sorts it anew gives other ids than the model was trained with.",
        ),
        Mistake(
            "an encoder that counts from 1",
            lambda text, alphabet: number(text, alphabet, 1),
            "The first character of the alphabet has the id 0. From 1 on, the last id "
            "would have no row in an embedding of vocab_size rows.",
        ),
        Mistake(
            "an encoder that makes capitals small first",
            lambda text, alphabet: number(text.lower(), alphabet),
            "A capital is a character with an id of its own. Decoding gives "
            "the text back only if each character kept its id.",
        ),
    )


_FORGETFUL = ()


EXERCISE = Exercise(
    name="encode",
    stub="my_encode(text, alphabet)",
    asks=(
        "a function of two strings that returns a list: for each character of the text "
        "its place in the alphabet, counted from 0. A character outside the alphabet "
        "is a ValueError that names it and its position in the text."
    ),
    returns={"ids": "(T,)"},
    reference=_right_ids,
    cases=_texts,
    run=_use_encode,
    mistakes=(
        *_mistaken_ids(_number),
        *_mistaken_ids(_look_up),
        *_mistaken_ids(_look_up_in_a_list),
        *_FORGETFUL,
        *behind(_right_ids, (*_mistaken_ids(_number), *_FORGETFUL)),
        Mistake(
            "an encoder that fails with a KeyError",
            _number,
            "The known characters are right. A KeyError from inside a dictionary "
            "doesn't say that the text is at fault, nor where: raise a ValueError that "
            "does.",
        ),
        Mistake(
            "an encoder whose error says neither what is unknown nor where",
            _look_up,
            "A ValueError is right. Whoever reads it in a text of a million "
            "characters needs the character and its position.",
        ),
        Mistake(
            "an encoder that skips unknown characters",
            lambda text, alphabet: _number(
                [c for c in text if c in alphabet], alphabet
            ),
            "The ids are fewer than the characters, and nobody is told: what comes "
            "back is another text.",
        ),
        Mistake(
            "an encoder that gives unknown characters the id -1",
            lambda text, alphabet: [alphabet.find(one) for one in text],
            "find returns -1 where it finds nothing. As an index, -1 means the last "
            "character.",
        ),
    ),
)
