"""Probabilistic grammars whose entropy is known exactly.

A rule is a function that lists its options: ``(weight, text, *states)``. A state is a
tuple of a rule and what the rule must remember, ``(rule, *memory)``; an option's states
are written out behind its text, in order. The texts of one state form a prefix code: no
text begins another. So a story has exactly one derivation, its probability is the
product over its choices, and the best possible prediction is known at every character.

A mark in a text, such as ``<pronoun>``, names the kind of the character behind it. It
is no part of the story.
"""

import bisect
import itertools
import math
import operator
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from helpers import validation

State = tuple[Any, ...]  # (rule, *memory)
Choice = tuple[float, str, *tuple[State, ...]]


class Option(NamedTuple):
    """One choice of a state: its probability, its text, and what comes behind it."""

    probability: float
    upper: float  # the probabilities up to this one, summed
    text: str
    marks: tuple[
        tuple[int, str], ...
    ]  # pairs of a place in the text and the kind of position it is
    then: tuple[State, ...]  # the states still to come


class Position(NamedTuple):
    """What may stand at one place of a story, given all before it.

    Attributes:
        chances: pairs of a character and its probability, which sum to 1; a character
            that can't stand there is left out.
        rule: the name of the rule whose options differ there, in words.
        kind: the mark of the place, or None. A place is marked where an option that
            still fits marks it, whether that option is told or another.
    """

    chances: tuple[tuple[str, float], ...]
    rule: str
    kind: str | None


class Totals(NamedTuple):
    """What follows from a state, over all stories from it on."""

    stories: int
    nats: float
    variance: float
    characters: float
    shortest: int
    longest: int


def share(total: float, options: Sequence[Choice]) -> list[Choice]:
    """Give a group of options a total weight, in the proportions that they have.

    Args:
        total: the weight of the whole group.
        options: a list of ``(weight, text, *states)``.

    Returns:
        options: the same, with weights that sum to ``total``.

    Raises:
        ValueError: a total that isn't positive, no option, or one with a weight that
            isn't.
    """
    validation.require_number("total", total)
    wrong = [
        f"{weight!r} for {text!r}"
        for weight, text, *_ in options
        if not 0 < weight < math.inf
    ]
    if wrong or not options:
        got = wrong[0] if wrong else "no option"
        raise ValueError(f"options must have positive weights, got {got}")
    whole = math.fsum(weight for weight, *_ in options)
    return [(total * weight / whole, text, *then) for weight, text, *then in options]


class Grammar:
    """Stories that are told choice by choice, each choice with a known probability.

    Args:
        start: the state that every story begins with.

    Attributes:
        story_count: how many different stories there are.
        nats_per_story: the entropy of a story, in nats.
        nats_variance: the variance of a story's -log probability, in nats squared.
        characters_per_story: the expected length of a story.
        floor: the lowest possible loss, in nats per character: nats per story over
            expected characters per story. It holds for whole stories, read from their
            start; a text that is cut anywhere has another floor.
        shortest_story: characters of the shortest story.
        longest_story: characters of the longest story.
        alphabet: the distinct characters of all stories, sorted.

    Raises:
        ValueError: a rule without options, with a weight that isn't positive, with two
            texts of which one begins the other, or that leads back to itself.

    Source: Cover and Thomas 2006, section 2.5 (the chain rule for entropy) and
    section 5.2 (prefix codes).
    """

    def __init__(self, start: State) -> None:
        self._start = start
        self._options: dict[State, list[Option]] = {}
        self._totals: dict[State, Totals | None] = {}
        self._passed: dict[tuple[State, str], tuple[list[Position], list[float]]] = {}
        totals = self._total(start)
        self.story_count = totals.stories
        self.nats_per_story = totals.nats
        self.nats_variance = totals.variance
        self.characters_per_story = totals.characters
        self.floor = totals.nats / totals.characters
        self.shortest_story, self.longest_story = totals.shortest, totals.longest
        options = itertools.chain.from_iterable(self._options.values())
        self.alphabet = "".join(sorted(set().union(*(one.text for one in options))))

    def sample(self, rng: random.Random) -> str:
        """Tell one story.

        Args:
            rng: a ``random.Random``; one seed gives one story on every platform.

        Returns:
            story: a string.
        """
        stack, texts = [self._start], []
        while stack:
            options = self._expand(stack.pop())
            place = bisect.bisect(
                options, rng.random(), key=operator.attrgetter("upper")
            )
            # Rounding may leave the last sum a little below 1.
            option = options[min(place, len(options) - 1)]
            texts.append(option.text)
            stack.extend(reversed(option.then))
        return "".join(texts)

    def read(self, story: str) -> tuple[list[float], dict[int, str]]:
        """Find the story's derivation, and how likely each character was.

        Args:
            story: a string that this grammar can tell.

        Returns:
            log_probabilities: a list, for each character the natural logarithm of its
                probability given all before it; their sum is the story's.
            marks: a dict from the index of each marked character to its kind.

        Raises:
            ValueError: a text that this grammar can't tell; it says from where on.
        """
        log_probabilities: list[float] = []
        marks: dict[int, str] = {}
        for state, option in self._derive(story):
            place = len(log_probabilities)
            marks |= {place + offset: kind for offset, kind in option.marks}
            log_probabilities += self._pass(state, option.text)[1]
        return log_probabilities, marks

    def positions(self, story: str) -> list[Position]:
        """Find what may stand at each place of a story, given all before it.

        ``read`` says how likely the characters were that are found there; this says how
        likely all characters were.

        Args:
            story: a string that this grammar can tell.

        Returns:
            positions: a list, a ``Position`` for each character of the story.

        Raises:
            ValueError: a text that this grammar can't tell; it says from where on.
        """
        positions: list[Position] = []
        ahead = None  # a mark at the end of a text is for the character behind it
        for state, option in self._derive(story):
            first, *others = self._pass(state, option.text)[0]
            positions += [first._replace(kind=ahead or first.kind), *others]
            ahead = dict(option.marks).get(len(option.text))
        return positions

    def stories(self) -> Iterator[tuple[float, str]]:
        """Enumerate all stories; only small grammars have few enough of them.

        Returns:
            pairs: an iterator over pairs of a probability and a story.
        """
        return self._continuations((self._start,), 1.0, "")

    def _continuations(
        self, states: tuple[State, ...], probability: float, text: str
    ) -> Iterator[tuple[float, str]]:
        if not states:
            yield probability, text
            return
        for option in self._expand(states[0]):
            yield from self._continuations(
                (*option.then, *states[1:]),
                probability * option.probability,
                text + option.text,
            )

    def _expand(self, state: State) -> list[Option]:
        """The options of a state, with probabilities that sum to 1."""
        if state not in self._options:
            rule, *memory = state
            shared = share(1, rule(*memory))
            uppers = itertools.accumulate(weight for weight, *_ in shared)
            parsed = [
                Option(weight, upper, *_parse(text), tuple(then))
                for (weight, text, *then), upper in zip(shared, uppers, strict=True)
            ]
            _check_prefix_code(rule.__name__, [option.text for option in parsed])
            self._options[state] = parsed
        return self._options[state]

    def _derive(self, story: str) -> Iterator[tuple[State, Option]]:
        """The states that a story passes and the option that it takes in each."""
        if not isinstance(story, str):
            raise ValueError(f"story must be a string, got {type(story).__name__}")
        stack, place = [self._start], 0
        while stack:
            state = stack.pop()
            options = self._expand(state)
            fitting = (one for one in options if story.startswith(one.text, place))
            option = next(fitting, None)  # no other can fit: a prefix code
            if option is None:
                raise ValueError(_no_story(story, place))
            yield state, option
            place += len(option.text)
            stack.extend(reversed(option.then))
        if place < len(story):
            raise ValueError(_no_story(story, place))

    def _pass(self, state: State, text: str) -> tuple[list[Position], list[float]]:
        """What may stand at each place of a text, and the log of what does."""
        key = (state, text)
        if key not in self._passed:
            options = self._expand(state)
            rule = state[0].__name__.strip("_").replace("_", " ")
            begun = itertools.accumulate(text[:-1], initial="")
            positions = [_position(rule, options, one) for one in begun]
            pairs = zip(positions, text, strict=True)
            logs = [math.log(dict(one.chances)[found]) for one, found in pairs]
            self._passed[key] = positions, logs
        return self._passed[key]

    def _total(self, state: State) -> Totals:
        """Sum up all stories from a state on, by recursion over its options.

        The states behind a choice are independent of each other once it is made, so
        their entropies, variances and lengths add up.
        """
        if state not in self._totals:
            self._totals[state] = None  # under way
            options = self._expand(state)
            rows = [_add_up(one, map(self._total, one.then)) for one in options]
            self._totals[state] = _average(options, rows)
        found = self._totals[state]
        if found is None:
            raise ValueError(f"the rule {state[0].__name__} must not lead to itself")
        return found


def _add_up(option: Option, behind: Iterable[Totals]) -> Totals:
    """The totals of one option, whose choice costs -log of its probability."""
    behind, size = list(behind), len(option.text)
    return Totals(
        stories=math.prod(one.stories for one in behind),
        nats=math.fsum(one.nats for one in behind) - math.log(option.probability),
        variance=math.fsum(one.variance for one in behind),
        characters=size + math.fsum(one.characters for one in behind),
        shortest=size + sum(one.shortest for one in behind),
        longest=size + sum(one.longest for one in behind),
    )


def _average(options: list[Option], rows: list[Totals]) -> Totals:
    """The totals of a state: expectations over its options."""
    pairs = [(one.probability, row) for one, row in zip(options, rows, strict=True)]
    nats = math.fsum(p * row.nats for p, row in pairs)
    return Totals(
        stories=sum(row.stories for row in rows),
        nats=nats,
        variance=math.fsum(
            p * (row.variance + (row.nats - nats) ** 2) for p, row in pairs
        ),
        characters=math.fsum(p * row.characters for p, row in pairs),
        shortest=min(row.shortest for row in rows),
        longest=max(row.longest for row in rows),
    )


def _position(rule: str, options: list[Option], begun: str) -> Position:
    """What may stand behind the beginning of a text, of which it is a part."""
    fitting = [one for one in options if one.text.startswith(begun)]
    masses: dict[str, list[float]] = {}
    for one in fitting:
        masses.setdefault(one.text[len(begun)], []).append(one.probability)
    whole = math.fsum(one.probability for one in fitting)
    kinds = (dict(one.marks).get(len(begun)) for one in fitting)
    return Position(
        tuple((text, math.fsum(mass) / whole) for text, mass in masses.items()),
        rule,
        next(filter(None, kinds), None),
    )


def _parse(marked: str) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Take the marks out of a text: the text, and pairs of place and kind."""
    pieces = re.split(r"<([a-z-]+)>", marked)
    texts, kinds = pieces[::2], pieces[1::2]
    places = itertools.accumulate(map(len, texts[:-1]))
    return "".join(texts), tuple(zip(places, kinds, strict=True))


def _check_prefix_code(rule: str, texts: list[str]) -> None:
    # In sorted order a text stands right before those that it begins.
    for one, other in itertools.pairwise(["", *sorted(texts)]):
        if other.startswith(one) and (one or not other):
            raise ValueError(
                f"the rule {rule} must have no text that begins another, got "
                f"{one!r} and {other!r}"
            )


def _no_story(story: str, place: int) -> str:
    return (
        "story must be one that this grammar tells, but from character "
        f"{place} on it can't: {story[place : place + 20]!r}"
    )
