"""What a model loses to the grammar of little-world, decision by decision.

A model's expected loss minus the floor is a sum, over the characters of a story, of
Kullback-Leibler divergences: how far the model's prediction q is from the grammar's own
one, p. Each of them belongs to a decision, and a few are shared among two or three
(``helpers.text.decisions``); by the chain rule, the parts add up to the whole.

Source: Cover and Thomas 2006, section 2.5 (theorem 2.5.3, the chain rule for relative
entropy) and section 5.4 (theorem 5.4.3, what a wrong prediction costs).
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from helpers import validation
from helpers.text.decisions import DECISIONS, Level, levels
from helpers.text.grammar import Position
from helpers.text.little_world import LittleWorld, whole_world

STORIES_AT_A_TIME = 200
NONE = -1


class Excess(NamedTuple):
    """Nats by which a model's loss lies above the grammar's, story by story.

    Attributes:
        expected: (stories, decisions) float64, the divergences KL(p || q), summed over
            the characters: what is lost on average over all ways in which each of them
            might go on.
        found: (stories, decisions) float64, log p / q of the characters that stand
            there: what is lost on these very stories. It may be negative.
    """

    expected: Tensor
    found: Tensor


class Part(NamedTuple):
    """One decision's part of the excess, as an average over stories.

    Attributes:
        nats: per story.
        error: the standard error of ``nats``, over the stories.
        per_character: ``nats`` over the expected characters of a story.
        share: of the whole excess; NaN where that is 0.
        share_error: the standard error of ``share``, to first order.
    """

    nats: float
    error: float
    per_character: float
    share: float
    share_error: float


class Truth:
    """The grammar's own predictions along some stories.

    Args:
        stories: strings that ``world`` can tell.
        world: a LittleWorld; the whole one where left out.

    Attributes:
        stories: as given, in a tuple.
        world: as given.
        log_probabilities: a list, for each story (T, vocab_size) float64: the natural
            logarithm of what the grammar expects at each character, given those before
            it; -inf where a character can't stand. Columns are in the order of the
            world's alphabet.

    Raises:
        ValueError: no story, or one that the world can't tell.
    """

    def __init__(
        self, stories: Sequence[str], world: LittleWorld | None = None
    ) -> None:
        if not isinstance(stories, Iterable):
            raise ValueError(
                f"stories must be several stories, got {type(stories).__name__}"
            )
        self.stories, self.world = tuple(stories), world or whole_world()
        if not self.stories:
            raise ValueError("stories must hold at least one story, got none")
        alike: dict[Position, int] = {}  # one row for all positions that are alike
        self._rows = [
            torch.tensor([alike.setdefault(one, len(alike)) for one in positions])
            for positions in map(self.world.positions, self.stories)
        ]
        alphabet = self.world.alphabet
        encode = {character: i for i, character in enumerate(alphabet)}
        self._ids = [torch.tensor([encode[c] for c in story]) for story in self.stories]
        self._p = torch.zeros(len(alike), len(alphabet), dtype=torch.float64)
        for position, row in alike.items():
            for character, chance in position.chances:
                self._p[row, encode[character]] = chance
        every = [levels(position, alphabet) for position in alike]
        self._levels = [_tabulate(column) for column in zip(*every, strict=True)]
        self.log_probabilities = [self._p[rows].log() for rows in self._rows]

    def excess(self, log_probabilities: Sequence[Tensor]) -> Excess:
        """Compare a model's predictions with the grammar's, decision by decision.

        Args:
            log_probabilities: for each story (T, vocab_size) floating point, as
                ``probes.log_probabilities`` returns it: the natural logarithm of what
                the model expects at each character. Float64 keeps every place.

        Returns:
            excess: an ``Excess``. Summed over the decisions, ``found`` is the model's
            loss on each story minus the grammar's, in nats.

        Raises:
            ValueError: another number of stories or another shape, or a probability of
                0 for a character that may stand there.
        """
        count = len(self.stories)
        if len(log_probabilities) != count:
            raise ValueError(
                f"log_probabilities must have one tensor for each of the {count} "
                f"stories, got {len(log_probabilities)}"
            )
        sums: list[Tensor] = []
        for begin in range(0, count, STORIES_AT_A_TIME):
            some = range(begin, min(begin + STORIES_AT_A_TIME, count))
            each = self._by_character({i: log_probabilities[i] for i in some})
            lengths = [len(self.stories[i]) for i in some]
            sums += [nats.sum(dim=1) for nats in each.split(lengths, dim=1)]
        expected, found = torch.stack(sums, dim=1)
        return Excess(expected, found)

    def summary(self, nats: Tensor) -> dict[str, Part]:
        """Average over the stories.

        Args:
            nats: (stories, decisions), one of the two of an ``Excess``, or the
                difference of two models'.

        Returns:
            parts: a dict from each of ``DECISIONS``, and from "whole", to its ``Part``.

        Raises:
            ValueError: ``nats`` of another shape.
        """
        expected = (len(self.stories), len(DECISIONS))
        validation.require_tensor("nats", nats)
        if tuple(nats.shape) != expected:
            raise ValueError(
                f"nats must have shape (stories, decisions) = {expected}, got "
                f"{tuple(nats.shape)}"
            )
        whole = nats.sum(dim=1)
        columns = {**dict(zip(DECISIONS, nats.unbind(1), strict=True)), "whole": whole}
        characters = self.world.characters_per_story
        return {name: _part(one, whole, characters) for name, one in columns.items()}

    def _by_character(self, log_probabilities: dict[int, Tensor]) -> Tensor:
        """KL(p || q) and log p / q of all characters of some stories.

        Args:
            log_probabilities: from the number of each story to (T, vocab_size).

        Returns:
            both: (2, N, decisions), N the characters of these stories.
        """
        for i, log_q in log_probabilities.items():
            self._require_fit(i, log_q)
        rows = torch.cat([self._rows[i] for i in log_probabilities])  # (N,)
        ids = torch.cat([self._ids[i] for i in log_probabilities])
        q = torch.cat([*log_probabilities.values()]).double().cpu().exp()
        nats = torch.zeros(2, len(rows), len(DECISIONS), dtype=torch.float64)
        before = torch.zeros(2, len(rows), dtype=torch.float64)
        for decisions, classes in self._levels:
            chosen = (decisions[rows] != NONE).nonzero().squeeze(1)
            of = rows[chosen]
            now = _compare(self._p[of], q[chosen], classes[of], ids[chosen])
            nats[:, chosen, decisions[of]] = now - before[:, chosen]
            before[:, chosen] = now
        if not nats.isfinite().all():
            raise ValueError(
                "log_probabilities must give every character that may stand at a place "
                "more than probability 0"
            )
        return nats

    def _require_fit(self, i: int, log_q: Tensor) -> None:
        expected = (len(self.stories[i]), len(self.world.alphabet))
        validation.require_float(log_probabilities=log_q)
        if tuple(log_q.shape) != expected:
            raise ValueError(
                f"log_probabilities of story {i} must have shape (T, vocab_size) = "
                f"{expected}, got {tuple(log_q.shape)}"
            )


def _tabulate(levels: Sequence[Level]) -> tuple[Tensor, Tensor]:
    """Per row the index of its decision (rows,), and its classes (rows, vocab_size)."""
    decisions = [NONE if name is None else DECISIONS.index(name) for name, _ in levels]
    return torch.tensor(decisions), torch.tensor([classes for _, classes in levels])


def _compare(p: Tensor, q: Tensor, classes: Tensor, found: Tensor) -> Tensor:
    """KL(p || q) of the classes' probabilities, and log p / q of the class found.

    Args:
        p, q: (N, vocab_size)
        classes: (N, vocab_size), the class of each character.
        found: (N,), the characters that stand there.

    Returns:
        both: (2, N)
    """
    p, q = (torch.zeros_like(one).scatter_add(1, classes, one) for one in (p, q))
    divergences = (torch.xlogy(p, p) - torch.xlogy(p, q)).sum(dim=1)
    of = classes.gather(1, found[:, None])
    ratios = p.gather(1, of).log() - q.gather(1, of).log()
    return torch.stack([divergences, ratios.squeeze(1)])


def _part(nats: Tensor, whole: Tensor, characters: float) -> Part:
    """One decision's part, from its nats (stories,) and those of all decisions."""
    mean, total = float(nats.mean()), float(whole.mean())
    share = mean / total if total else math.nan
    return Part(
        nats=mean,
        error=_error(nats),
        per_character=mean / characters,
        share=share,
        share_error=_error(nats - share * whole) / abs(total) if total else math.nan,
    )


def _error(nats: Tensor) -> float:
    """The standard error of a mean; NaN for a single story."""
    count = len(nats)
    return float(nats.std()) / math.sqrt(count) if count > 1 else math.nan
