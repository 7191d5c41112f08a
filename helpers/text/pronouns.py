"""Sentences in which "it" stands for a thing and "she" for a person.

    the queen sold the drum because it was old
    the nurse ate the soup because she was hungry

A word's vector says of which kind it is and what it means. The meanings are random, so
a pronoun can only know whom it stands for by looking at that word. Some words never
occur in training: a layer that goes by the kinds finds them, and one that has learned
the training words by heart doesn't. Built for chapter 2, which trains on 200 sentences;
with 10, the same layer fails on the held-out ones.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from helpers import validation

KINDS = ("person", "thing", "it", "she", "other")
PERSON, THING, PRONOUN = 1, 4, 6  # where they stand in a sentence
TRAINING = {
    "person": "girl queen nurse aunt baker dancer lady singer sister witch pilot judge",
    "thing": "soup bread cake kite drum lamp hat boat book cup rope bell",
    "verb": "ate sold found took liked bought",
    "it": "hot old red new nice cheap",
    "she": "hungry tired clever bored rich happy",
}
HELD_OUT = {
    "person": "cook farmer princess teacher",
    "thing": "food net map tea",
    "verb": "made wanted",
    "it": "spicy small",
    "she": "busy sad",
}
FUNCTION_WORDS = ("the", "because", "was")  # they mean nothing by themselves
MADE_UP = {  # how much a word has to do with eating, and how much with work
    "cook": (1.0, 2.0),
    "food": (2.0, 0.0),
    "made": (0.0, 1.0),
    "spicy": (1.0, 0.0),
    "hungry": (1.0, 0.0),
}


def pronoun_sentences(
    number: int, *, seed: int, held_out: bool = False, d_out: int = 6
) -> tuple[list[list[str]], Tensor, Tensor]:
    """Sentences, their words as vectors, and what each pronoun should receive.

    Every second sentence has "it", the others have "she".

    Args:
        number: B, how many sentences.
        seed: of the choice of words.
        held_out: take the words that training sentences never have.
        d_out: how many numbers hold a word's meaning.

    Returns:
        sentences: B lists of 9 words.
        x: (B, 9, d_in), where d_in is 5 kinds and d_out numbers of meaning.
        target: (B, d_out), the meaning of the word that the pronoun stands for.

    Raises:
        ValueError: a number of sentences or of meanings that isn't at least 1, or a
            seed that isn't a whole number.
    """
    validation.require_integers(number=number, d_out=d_out)
    if not validation.is_whole(seed):
        raise ValueError(f"seed must be an integer, got {seed!r}")
    words = {kind: text.split() for kind, text in _words(held_out).items()}
    generator = torch.Generator().manual_seed(seed)

    def draw(kind: str) -> str:
        choices = words[kind]
        return choices[int(torch.randint(len(choices), (), generator=generator))]

    sentences = []
    for i in range(number):
        pronoun = ("it", "she")[i % 2]
        start = ["the", draw("person"), draw("verb"), "the", draw("thing")]
        sentences.append([*start, "because", pronoun, "was", draw(pronoun)])
    x = torch.stack([word_vectors(words, d_out=d_out) for words in sentences])
    meant = [(THING, PERSON)[i % 2] for i in range(number)]
    return sentences, x, x[torch.arange(number), meant, len(KINDS) :].clone()


def word_vectors(words: Sequence[str], *, d_out: int = 6) -> Tensor:
    """One row for each word: a 1 for its kind, then the numbers of its meaning.

    Args:
        words: T words of this module.
        d_out: how many numbers hold a word's meaning, drawn from a standard normal
            distribution, the same each time; function words and pronouns have zeros.

    Returns:
        x: (T, 5 + d_out)

    Raises:
        ValueError: no word, one that isn't known, or a ``d_out`` that isn't at least 1.
    """
    validation.require_integers(d_out=d_out)
    one_hot, kinds = _one_hot(words), _kinds()
    generator = torch.Generator().manual_seed(0)
    meanings = torch.randn(len(kinds), d_out, generator=generator)
    meanings[: len(KINDS)] = 0
    places = {word: place for place, word in enumerate(kinds)}
    chosen = [places[word] for word in words]
    return torch.cat([one_hot, meanings[chosen]], dim=1)


def made_up_vectors(words: Sequence[str]) -> Tensor:
    """One row for each word: a 1 for its kind, then a meaning chosen by hand.

    Args:
        words: T words of this module.

    Returns:
        x: (T, 7), where the last two columns say how much a word has to do with eating
            and with work; words that ``MADE_UP`` doesn't hold have zeros there.

    Raises:
        ValueError: no word, or one that isn't known.
    """
    meanings = torch.tensor([MADE_UP.get(word, (0.0, 0.0)) for word in words])
    return torch.cat([_one_hot(words), meanings], dim=1)


def _one_hot(words: Sequence[str]) -> Tensor:
    """(T, 5), a 1 for the kind of each word."""
    kinds = _kinds()
    if isinstance(words, str) or not len(words):
        raise ValueError(f"words must be a list of at least one word, got {words!r}")
    if unknown := sorted(set(words) - set(kinds)):
        raise ValueError(f"words must be known, got {unknown}")
    rows = torch.tensor([KINDS.index(kinds[word]) for word in words])
    return torch.eye(len(KINDS))[rows]


def _words(held_out: bool) -> dict[str, str]:
    return HELD_OUT if held_out else TRAINING


def _kinds() -> dict[str, str]:
    """The kind of each word, those without a meaning first."""
    kinds = {"it": "it", "she": "she"} | dict.fromkeys(FUNCTION_WORDS, "other")
    for held_out in (False, True):
        for kind, text in _words(held_out).items():
            of = kind if kind in ("person", "thing") else "other"
            kinds |= dict.fromkeys(text.split(), of)
    return kinds
