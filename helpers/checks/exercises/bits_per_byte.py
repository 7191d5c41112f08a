"""Exercise of chapter 8: a loss in bits per byte, whatever the tokenizer."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_number

BITS = 1 / math.log(2)  # of a nat


def in_bytes(text):
    """How many bytes a text has in UTF-8."""
    return len(text.encode())


def of_all(measure, unit=BITS):
    """All texts' nats in a unit, over all texts' sizes.

    Args:
        measure: from a text's losses and the text to its size.
        unit: what a nat is worth.
    """

    def number(losses, texts):
        pairs = zip(losses, texts, strict=True)
        size = sum(measure(one, text) for one, text in pairs)
        return sum(one.sum().item() for one in losses) * unit / size

    return number


def mean_of_texts(losses, texts):
    """Each text's own bits per byte, averaged over the texts."""
    shares = [
        one.sum().item() / math.log(2) / in_bytes(text)
        for one, text in zip(losses, texts, strict=True)
    ]
    return sum(shares) / len(shares)


def mean_of_tokens(losses, texts):
    """The tokens' means added up, over all bytes."""
    nats = sum(one.mean().item() for one in losses)
    return nats / math.log(2) / sum(map(in_bytes, texts))


def of_bytes(_, text):
    """The right size."""
    return in_bytes(text)


def of_characters(_, text):
    """A text's length, as Python has it."""
    return len(text)


def of_tokens(losses, _):
    """How many tokens a text has."""
    return len(losses)


def _texts():
    def case(name, losses, texts):
        return Case(name, {"losses": [torch.tensor(x) for x in losses], "texts": texts})

    return [
        case("one text of two tokens", [[2.0, 1.0]], ["a kite"]),
        case("two texts", [[2.0, 1.0, 0.5], [6.0]], ["the cat sings", "owls"]),
        case("letters of two bytes", [[3.0, 2.5, 4.0]], ["un café crème"]),
        case(
            "texts of three scripts",
            [[1.5], [4.0, 2.0], [5.0, 0.25, 3.0, 1.0]],
            ["hen", "凧はどこ", "🐦 sings"],
        ),
    ]


EXERCISE = Exercise(
    name="bits_per_byte",
    stub="my_bits_per_byte(losses, texts)",
    asks=(
        "a function of two lists of the same length: for each text a tensor (T,) with "
        "the loss of each of its tokens in nats, and the texts as strings. It returns "
        "a number: the bits that a byte of all these texts costs on average."
    ),
    returns={"bits": "a number"},
    reference=of_all(of_bytes),
    cases=_texts,
    run=call_for_number,
    mistakes=(
        Mistake(
            "nats in place of bits",
            of_all(of_bytes, 1.0),
            "A bit is ln 2 nats: divide by math.log(2).",
        ),
        Mistake(
            "nats multiplied by ln 2",
            of_all(of_bytes, math.log(2)),
            "A bit is ln 2, or 0.69 nats, so there are more bits than nats: divide.",
        ),
        Mistake(
            "bits per character",
            of_all(of_characters),
            "len of a string counts characters. An é has two bytes in UTF-8: count "
            "those of text.encode().",
        ),
        Mistake(
            "nats per character",
            of_all(of_characters, 1.0),
            "len of a string counts characters, and a bit is ln 2 nats. Count the "
            "bytes of text.encode(), and divide by math.log(2).",
        ),
        Mistake(
            "bits per token",
            of_all(of_tokens),
            "How many tokens a text has depends on the tokenizer, which is what the "
            "result must not depend on. Divide by the bytes.",
        ),
        Mistake(
            "nats per token",
            of_all(of_tokens, 1.0),
            "How many tokens a text has depends on the tokenizer, which is what the "
            "result must not depend on. Divide by the bytes, and by math.log(2).",
        ),
        Mistake(
            "a mean over the texts",
            mean_of_texts,
            "In a mean of the texts' own numbers, a byte of a short text weighs more "
            "than one of a long text. Add up all nats, then divide by all bytes.",
        ),
        Mistake(
            "means of tokens over bytes",
            mean_of_tokens,
            "The bytes are those of the whole text, so take its whole loss: the sum "
            "over its tokens, not their mean.",
        ),
    ),
)
