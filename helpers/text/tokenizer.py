"""Text as whole numbers and back: each character of an alphabet has an id."""

import json
import pathlib
from collections.abc import Iterable
from typing import Self

from helpers import validation

FORMAT = "attention-one-step/char-tokenizer"
VERSION = 1


class CharTokenizer:
    """Number the characters of an alphabet from 0 on, in the alphabet's order.

    Args:
        alphabet: a string of distinct characters; a character's place is its id.

    Attributes:
        alphabet: as given.
        vocab_size: how many characters it holds.
        start_character: what stands before a text begins: a newline where the alphabet
            has one, else None.

    Raises:
        ValueError: an alphabet that is empty, repeats a character or isn't a string.

    Used from chapter 7 on.
    """

    def __init__(self, alphabet: str) -> None:
        _require_text("alphabet", alphabet)
        if not alphabet:
            raise ValueError("alphabet must hold at least one character, got ''")
        ids = {character: i for i, character in enumerate(alphabet)}
        if len(ids) < len(alphabet):
            repeated = next(c for i, c in enumerate(alphabet) if c in alphabet[:i])
            raise ValueError(
                f"alphabet must not repeat a character, got {repeated!r} "
                f"{alphabet.count(repeated)} times in {alphabet!r}"
            )
        self.alphabet = alphabet
        self.vocab_size = len(alphabet)
        self.start_character = "\n" if "\n" in ids else None
        self._ids = ids

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Take the alphabet from a text: its distinct characters, sorted.

        Args:
            text: a string of at least one character.

        Returns:
            tokenizer: a CharTokenizer that can encode the text.

        Raises:
            ValueError: an empty text, or one that isn't a string.
        """
        _require_text("text", text)
        if not text:
            raise ValueError("text must hold at least one character, got ''")
        return cls("".join(sorted(set(text))))

    def encode(self, text: str) -> list[int]:
        """Turn a text into its characters' ids.

        For a trained model there is ``helpers.text.encoding.encode_for_model``, which
        puts before a text what stood before it in training.

        Args:
            text: a string, which may be empty.

        Returns:
            ids: a list of whole numbers from 0 to vocab_size - 1, one a character.

        Raises:
            ValueError: a character outside the alphabet; it and its position are named.
        """
        _require_text("text", text)
        try:
            return [self._ids[character] for character in text]
        except KeyError as error:
            unknown = error.args[0]
        raise ValueError(
            f"text holds {unknown!r} at position {text.index(unknown)}, which is not "
            f"in the alphabet {self.alphabet!r}"
        )

    def decode(self, ids: Iterable[int]) -> str:
        """Turn ids back into the text.

        Args:
            ids: whole numbers from 0 to vocab_size - 1, in any iterable or in an
                integer tensor (T,).

        Returns:
            text: one character for each id.

        Raises:
            ValueError: an id outside that range, or what isn't a row of whole numbers.
        """
        # A tensor, on any device, becomes a list of Python numbers at once.
        ids = ids.tolist() if hasattr(ids, "tolist") else ids
        if isinstance(ids, str) or not hasattr(ids, "__iter__"):
            raise ValueError(
                "ids must be a list of whole numbers or an integer tensor (T,), "
                f"got {ids!r}"
            )
        return "".join(
            self._character(position, one) for position, one in enumerate(ids)
        )

    def _character(self, position: int, one: int) -> str:
        if not validation.is_whole(one) or not 0 <= one < self.vocab_size:
            raise ValueError(
                f"ids must be integers from 0 to {self.vocab_size - 1}, one for each "
                f"of the {self.vocab_size} characters, got {one!r} at position "
                f"{position}"
            )
        return self.alphabet[one]

    def save(self, path: pathlib.Path | str) -> None:
        """Write the alphabet to a JSON file, with the format's name and version.

        Args:
            path: the file; one that is there already is replaced.

        Raises:
            OSError: a file that can't be written.
        """
        content = {"format": FORMAT, "version": VERSION, "alphabet": self.alphabet}
        text = json.dumps(content, indent=2) + "\n"
        pathlib.Path(path).write_text(text, encoding="utf-8")

    @classmethod
    def load(cls, path: pathlib.Path | str) -> Self:
        """Read a tokenizer that ``save`` wrote.

        Args:
            path: the file.

        Returns:
            tokenizer: a CharTokenizer with the saved alphabet.

        Raises:
            OSError: a file that isn't there or can't be read.
            ValueError: a file that is broken, holds something else, or is of another
                version of the format.
        """
        try:
            content = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path} is broken: it isn't JSON ({error})") from error
        found = content.get("format") if isinstance(content, dict) else None
        if found != FORMAT:
            raise ValueError(
                f"{path} holds no tokenizer: its format must be {FORMAT!r}, "
                f"got {found!r}"
            )
        if content.get("version") != VERSION:
            raise ValueError(
                f"{path} must be of version {VERSION}, got {content.get('version')!r}"
            )
        try:
            return cls(content.get("alphabet"))
        except ValueError as error:
            raise ValueError(f"{path} is broken: {error}") from error


def _require_text(name: str, text: object) -> None:
    if not isinstance(text, str):
        raise ValueError(f"{name} must be a string, got {type(text).__name__}")
