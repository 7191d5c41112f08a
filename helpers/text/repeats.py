"""Texts in which nothing can be predicted but that they repeat themselves."""

import random
from collections.abc import Sequence

from helpers import validation


def repeats(
    count: int, alphabet: Sequence[str], lengths: tuple[int, int], rng: random.Random
) -> list[str]:
    """Draw texts of random characters, each of them told twice: ``qwzqwz``.

    In the first copy all characters of the alphabet are equally likely everywhere. In
    the second, each one but the first follows from the one before it: find that one in
    the first copy, and take what came after it; where it occurs more than once there,
    those before it tell which. Where lengths differ, no fixed distance tells where to
    look.

    Args:
        count: how many texts.
        alphabet: the characters to draw from, a string; none of them twice.
        lengths: the shortest and the longest first copy, in characters; each length
            between them is as likely as any other.
        rng: a ``random.Random``.

    Returns:
        texts: a list of strings, each twice as long as its first copy.

    Raises:
        ValueError: a count or a length below 1, an alphabet without a character or with
            one twice, or lengths that aren't a pair in order.

    Source: Olsson et al. 2022, for repeated random tokens.
    """
    if not isinstance(lengths, (tuple, list)) or len(lengths) != 2:
        raise ValueError(
            f"lengths must be a pair of the shortest and the longest, got {lengths!r}"
        )
    shortest, longest = lengths
    validation.require_integers(count=count, shortest=shortest, longest=longest)
    if not isinstance(alphabet, Sequence) or not alphabet:
        raise ValueError(f"alphabet must hold characters, got {alphabet!r}")
    if len(set(alphabet)) < len(alphabet):
        raise ValueError(f"alphabet must not repeat a character, got {alphabet!r}")
    if shortest > longest:
        raise ValueError(f"lengths must be in order, got {lengths}")
    sizes = (rng.randint(shortest, longest) for _ in range(count))
    return ["".join(rng.choices(alphabet, k=size)) * 2 for size in sizes]
