"""Batches of text to learn from: windows of one long text, or whole documents.

They stand in for PyTorch's Dataset and DataLoader. Inputs and targets are int64 tensors
(B, T) on the CPU. The target at a position is the character that follows the input
there, or ``NOTHING`` where the row is padded. Batches are drawn from a generator on the
CPU, so that every device sees the same ones.
"""

import itertools
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

import torch
from torch import Tensor

from helpers import validation
from helpers.text.encoding import require_start_character
from helpers.text.tokenizer import CharTokenizer

# F.cross_entropy leaves out targets of this value by default.
NOTHING = -100


class _Pieces:
    """Pieces of one stream of ids; each is read from its start, without a past.

    Args:
        stream: (N,) ids. Its first serves as padding, too.
        starts: where each piece's inputs begin; its targets begin one later.
        lengths: how many characters each piece predicts.
        context_length: the most that a piece predicts.
    """

    def __init__(
        self, stream: Tensor, starts: Tensor, lengths: Tensor, context_length: int
    ) -> None:
        self.context_length = context_length
        self.num_targets = int(lengths.sum())
        self.largest_id = int(stream.max())
        self._stream, self._starts, self._lengths = stream, starts, lengths

    @property
    def fingerprint(self) -> str:
        """One line that differs where the text or the way it is cut differs."""
        cut = torch.cat((self._stream, self._starts, self._lengths))
        return (
            f"{type(self).__name__}: {self.num_targets} characters, context_length "
            f"{self.context_length}, CRC-32 {zlib.crc32(cut.numpy().tobytes()):08x}"
        )

    def all(self, batch_size: int) -> Iterator[tuple[Tensor, Tensor]]:
        """Go through the whole text once, in order, predicting each character once.

        Args:
            batch_size: B, the rows of a batch; the last may have fewer.

        Returns:
            batches: an iterator over pairs of inputs and targets, each (B, T).

        Raises:
            ValueError: a batch size that isn't a whole number of at least 1.
        """
        validation.require_integers(batch_size=batch_size)
        pieces = (self._starts.split(batch_size), self._lengths.split(batch_size))
        return (self._cut(*chosen) for chosen in zip(*pieces, strict=True))

    def _cut(self, starts: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs and targets of some pieces, padded to the longest of them."""
        offsets = torch.arange(int(lengths.max()))
        real = offsets < lengths[:, None]
        index = (starts[:, None] + offsets).where(real, 0)
        inputs = self._stream[index]
        return inputs, self._stream[index + 1].where(real, NOTHING)


class Windows(_Pieces):
    """Windows of one long text, cut anywhere.

    A window knows nothing of what stands before it, so that its first characters are
    predicted from few: the mean loss is higher than with whole documents.

    ``all`` cuts windows that follow each other without overlap. So every character of
    the text but its first, which nothing precedes, is predicted exactly once: the k-th
    target of a window from the k characters of the window before it, k from 1 to
    ``context_length``.

    Args:
        text_ids: the text, a list of ids or an integer tensor (N,).
        context_length: T, characters in a window.

    Raises:
        ValueError: ids that aren't whole numbers of at least 0, an empty text, or one
            of fewer than ``context_length`` + 1 characters.
    """

    def __init__(self, text_ids: Sequence[int] | Tensor, context_length: int) -> None:
        validation.require_integers(context_length=context_length)
        stream = _as_ids("text_ids", text_ids)
        if len(stream) < context_length + 1:
            raise ValueError(
                f"text_ids must hold at least context_length + 1 = "
                f"{context_length + 1} characters, got {len(stream)}"
            )
        starts = torch.arange(0, len(stream) - 1, context_length)
        lengths = (len(stream) - 1 - starts).clamp(max=context_length)
        super().__init__(stream, starts, lengths, context_length)

    def batch(
        self,
        batch_size: int,
        generator: torch.Generator,
        *,
        context_length: int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Draw windows that begin anywhere in the text, each as likely as any other.

        Args:
            batch_size: B, how many windows.
            generator: a ``torch.Generator`` on the CPU.
            context_length: T, at most the object's own; that one where left out.

        Returns:
            inputs: (B, T) int64.
            targets: (B, T) int64, the inputs moved on by one character.

        Raises:
            ValueError: a batch size or context length below 1, a longer context than
                the object's, or no generator on the CPU.
        """
        _require_draw(batch_size, generator)
        T = self.context_length if context_length is None else context_length
        validation.require_integers(context_length=T)
        if self.context_length < T:
            raise ValueError(
                f"context_length must be at most the windows' {self.context_length}, "
                f"got {T}"
            )
        starts = torch.randint(
            len(self._stream) - T, (batch_size,), generator=generator
        )
        return self._cut(starts, torch.full_like(starts, T))


class Documents(_Pieces):
    """Whole documents, such as stories: the start character, then the text.

    Each character of a document is a target, also the first, which is predicted from
    the start character alone. Rows are padded to the longest of their batch.

    A document longer than ``context_length`` is cut into pieces of that length which
    follow each other; a later piece begins with the last character of the one before
    it, and knows no more of the past than that.

    Args:
        documents: lists of ids, or integer tensors (N,), none of them empty.
        context_length: T at most, characters in a row.
        start_id: the id that stands before each document.

    Raises:
        ValueError: ids that aren't whole numbers of at least 0, no documents, or an
            empty one.
    """

    def __init__(
        self,
        documents: Sequence[Sequence[int] | Tensor],
        context_length: int,
        start_id: int,
    ) -> None:
        validation.require_integers(context_length=context_length)
        rows = _as_rows(documents)
        start = _as_ids("start_id", [start_id]).tolist()
        stream = _as_ids("documents", list(itertools.chain(*(start + r for r in rows))))
        pieces, begin = [], 0
        for row in rows:
            for offset in range(0, len(row), context_length):
                rest = len(row) - offset
                pieces.append((begin + offset, min(rest, context_length)))
            begin += len(row) + 1
        starts, lengths = torch.tensor(pieces).unbind(1)
        super().__init__(stream, starts.contiguous(), lengths, context_length)

    @classmethod
    def from_texts(
        cls, texts: Iterable[str], tokenizer: CharTokenizer, context_length: int
    ) -> Self:
        """Cut texts into batches behind the tokenizer's start character.

        Args:
            texts: strings.
            tokenizer: with ``encode`` and a ``start_character``.
            context_length: T at most, characters in a row.

        Returns:
            documents: a Documents.

        Raises:
            ValueError: a single string, a tokenizer without a start character, a
                character that it doesn't know, or what ``Documents`` refuses.
        """
        if isinstance(texts, str):
            raise ValueError(
                f"texts must be several texts, got the string {texts!r:.60}"
            )
        start_id = tokenizer.encode(require_start_character(tokenizer))[0]
        rows = [tokenizer.encode(text) for text in texts]
        return cls(rows, context_length, start_id)

    def batch(
        self, batch_size: int, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Draw documents (pieces, where they are cut), each as likely as any other.

        Args:
            batch_size: B, how many rows.
            generator: a ``torch.Generator`` on the CPU.

        Returns:
            inputs: (B, T) int64, T that of the longest row.
            targets: (B, T) int64, -100 where the row is padded.

        Raises:
            ValueError: a batch size below 1, or no generator on the CPU.
        """
        _require_draw(batch_size, generator)
        chosen = torch.randint(len(self._starts), (batch_size,), generator=generator)
        return self._cut(self._starts[chosen], self._lengths[chosen])


def _as_rows(documents: Sequence[Sequence[int] | Tensor]) -> list[list[int]]:
    """The documents as lists of numbers, none of them empty."""
    if isinstance(documents, str):
        raise ValueError("documents must be lists of ids, got a string: encode it")
    if not isinstance(documents, (Sequence, torch.Tensor)):
        raise ValueError(
            f"documents must be a list of documents, got {type(documents).__name__}"
        )
    if not len(documents):
        raise ValueError("documents must hold at least one document, got none")
    rows = [row.tolist() if isinstance(row, torch.Tensor) else row for row in documents]
    for index, row in enumerate(rows):
        if not isinstance(row, (list, tuple)) or not row:
            got = "an empty one" if isinstance(row, (list, tuple)) else repr(row)
            raise ValueError(
                f"documents[{index}] must be a list of at least one id, got {got:.60}"
            )
    return [list(row) for row in rows]


def _as_ids(name: str, ids: Sequence[int] | Tensor) -> Tensor:
    """Whole numbers of at least 0 as an int64 tensor of its own on the CPU."""
    if not isinstance(ids, torch.Tensor):
        numbers = isinstance(ids, (list, tuple)) and all(type(i) is int for i in ids)
        if not numbers:
            raise ValueError(
                f"{name} must hold whole numbers, one for each character, got "
                f"{type(ids).__name__} {ids!r:.60}; a tokenizer encodes text"
            )
        ids = torch.tensor(ids, dtype=torch.int64)
    validation.require_integer_row(name, ids, "N")
    if not len(ids):
        raise ValueError(f"{name} must hold at least one character, got none")
    if ids.min() < 0:
        raise ValueError(f"{name} must be at least 0, got {int(ids.min())}")
    return ids.detach().to("cpu", torch.int64, copy=True)


def _require_draw(batch_size: int, generator: torch.Generator) -> None:
    validation.require_integers(batch_size=batch_size)
    if not isinstance(generator, torch.Generator) or generator.device.type != "cpu":
        raise ValueError(
            f"generator must be a torch.Generator on the CPU, got {generator!r}"
        )
