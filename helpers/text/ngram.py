"""N-gram models of characters: the baselines that a reader would try first."""

import collections
import math
from collections.abc import Iterable, Iterator, Sequence

from helpers import validation


class NGramModel:
    """Predict a character from the few before it, by counting what followed them.

    A model of order n looks at the n - 1 characters before; order 1 looks at none. Each
    order's counts are mixed with the next lower order's prediction, which weighs more
    where a context was followed by many different characters; a context that was never
    seen leaves everything to the lower order. The lowest is uniform over the alphabet.
    For a character c, its context h, and h′, which is h without its first character:

    p(c | h) = (count(hc) + kinds(h) p(c | h′)) / (count(h) + kinds(h))

    Time and memory grow with the number of different runs of up to n characters. The
    20,000 stories of little-world hold 160,000 of them at order 12, which takes about 2
    seconds and 50 MB, and 680,000 at order 16: about 4 seconds and 200 MB.

    Args:
        text: a string, or a list or tuple of them (documents); each document is read by
            itself.
        order: n, at least 1.
        alphabet: the characters that it may ever predict, a string; where left out,
            those of ``text``.
        start: what stands before each document, such as "\\n": read, but not scored.

    Attributes:
        order: as given.
        alphabet: the characters that it predicts.
        start: as given.

    Raises:
        ValueError: an order below 1, no text, or a character outside the alphabet.

    Source: Witten and Bell 1991, method C, in the interpolated form of Chen and
    Goodman 1998, section 2.5.
    """

    def __init__(
        self,
        text: str | Sequence[str],
        order: int,
        *,
        alphabet: str | None = None,
        start: str = "",
    ) -> None:
        validation.require_integers(order=order)
        documents = _documents(text)
        _require_string("start", start)
        if alphabet is None:
            alphabet = "".join(sorted(set(start).union(*documents)))
        _require_string("alphabet", alphabet)
        if len(set(alphabet)) < len(alphabet):
            raise ValueError(f"alphabet must not repeat a character, got {alphabet!r}")
        self.order, self.alphabet, self.start = order, alphabet, start
        for document in (start, *documents):
            self._require_known(document)
        self._counts = self._count(documents)
        seen: collections.Counter[str] = collections.Counter()
        for gram, count in self._counts.items():
            seen[gram[:-1]] += count
        kinds = collections.Counter(gram[:-1] for gram in self._counts)
        self._contexts = {context: (seen[context], kinds[context]) for context in seen}

    def next_probabilities(self, context: str) -> dict[str, float]:
        """Predict what follows a context.

        Args:
            context: a string, what the document holds so far; it may be empty.

        Returns:
            probabilities: a dict from each character of the alphabet, in its order, to
                its probability; all are positive and sum to 1.

        Raises:
            ValueError: a character outside the alphabet.
        """
        self._require_known(context)
        contexts = list(self._seen(self._last(self.start + context)))
        return {one: self._probabilities(contexts, one)[-1] for one in self.alphabet}

    def log_probabilities(self, document: str) -> list[float]:
        """Score each character of a document, given those before it.

        Args:
            document: a string.

        Returns:
            log_probabilities: a list, one natural logarithm for each character.

        Raises:
            ValueError: a character outside the alphabet.
        """
        self._require_known(document)
        windows = self._windows([document])
        return [math.log(self._by_order(window)[-1]) for window in windows]

    def nats_per_character(self, text: str | Sequence[str]) -> float:
        """Average the loss over all characters of a text.

        Args:
            text: a string, or a list or tuple of them (documents); each document is
                read by itself.

        Returns:
            loss: the mean of -log probability, in nats per character.

        Raises:
            ValueError: no text, or a character outside the alphabet.
        """
        scores = [self.log_probabilities(document) for document in _documents(text)]
        return -math.fsum(map(math.fsum, scores)) / sum(map(len, scores))

    def losses_by_order(self, text: str | Sequence[str]) -> list[float]:
        """Average the loss at this order and at each lower one, in one pass.

        A model of a lower order that counted the same text has the same loss.

        Args:
            text: as for ``nats_per_character``.

        Returns:
            losses: a list of ``order`` numbers, from order 1 on, in nats per character.

        Raises:
            ValueError: no text, or a character outside the alphabet.
        """
        documents = _documents(text)
        for document in documents:
            self._require_known(document)
        losses = [0.0] * self.order
        for window in self._windows(documents):
            costs = [-math.log(one) for one in self._by_order(window)]
            costs += costs[-1:] * (self.order - len(costs))
            losses = [loss + cost for loss, cost in zip(losses, costs, strict=True)]
        return [loss / sum(map(len, documents)) for loss in losses]

    def _windows(self, documents: Iterable[str]) -> Iterator[str]:
        """Each character of the documents, behind those that predict it."""
        begin = len(self.start)
        for document in documents:
            padded = self.start + document
            for end in range(begin + 1, len(padded) + 1):
                yield padded[max(0, end - self.order) : end]

    def _count(self, documents: Iterable[str]) -> collections.Counter[str]:
        """How often each run of 1 to ``order`` characters ends in a document.

        Only the longest run before each place is cut out of the text. Shorter ones are
        counted from the distinct longer ones, which are far fewer.
        """
        longest = collections.Counter(self._windows(documents))
        sizes: list[collections.Counter[str]] = [
            collections.Counter() for _ in range(max(map(len, longest)) + 1)
        ]
        for run, count in longest.items():
            sizes[len(run)][run] = count
        for size in range(len(sizes) - 1, 1, -1):
            for run, count in sizes[size].items():
                sizes[size - 1][run[1:]] += count
        return collections.Counter(
            {run: count for counts in sizes for run, count in counts.items()}
        )

    def _seen(self, before: str) -> Iterator[tuple[str, int, int]]:
        """The contexts at a text's end, from the empty one on, that ever occurred.

        Each comes with how often it was seen and how many kinds followed. After the
        first that never occurred there is none: no longer one occurred either.
        """
        for begin in range(len(before), -1, -1):
            found = self._contexts.get(before[begin:])
            if found is None:
                return
            yield before[begin:], *found

    def _probabilities(
        self, contexts: Iterable[tuple[str, int, int]], one: str
    ) -> list[float]:
        """A character's probability at order 1, 2 and so on, as far as was seen."""
        probability, probabilities = 1 / len(self.alphabet), []
        for context, seen, kinds in contexts:
            count = self._counts.get(context + one, 0)
            probability = (count + kinds * probability) / (seen + kinds)
            probabilities.append(probability)
        return probabilities

    def _by_order(self, window: str) -> list[float]:
        """The probabilities of a window's last character, given those before it."""
        return self._probabilities(self._seen(window[:-1]), window[-1])

    def _last(self, text: str) -> str:
        return text[max(0, len(text) + 1 - self.order) :]

    def _require_known(self, text: str) -> None:
        _require_string("text", text)
        unknown = set(text) - set(self.alphabet)
        if unknown:
            place = min(map(text.index, unknown))
            raise ValueError(
                f"text holds {text[place]!r} at position {place}, which is not in the "
                f"alphabet {self.alphabet!r}"
            )


def _documents(text: str | Sequence[str]) -> tuple[str, ...]:
    """One string or several, as a tuple of strings that are not all empty."""
    documents = tuple(text) if isinstance(text, (list, tuple)) else (text,)
    for document in documents:
        _require_string("text", document, " or several")
    if not any(documents):
        raise ValueError("text must hold at least one character, got none")
    return documents


def _require_string(name: str, text: object, more: str = "") -> None:
    if not isinstance(text, str):
        raise ValueError(f"{name} must be a string{more}, got {type(text).__name__}")
