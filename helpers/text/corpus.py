"""Three texts to learn from, behind one interface: ``load(name)``.

"hello" is eleven characters, "little-world" is drawn from a grammar whose entropy is
known exactly, and "tiny-shakespeare" is fetched once and then kept in a cache folder.
"""

import hashlib
import http.client
import os
import pathlib
import random
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

from helpers import validation
from helpers.text.little_world import whole_world
from helpers.whole_files import write_whole

OPTIONS = {
    "hello": (),
    "little-world": ("train_stories", "held_out_stories", "seed"),
    "tiny-shakespeare": (),
}
FILE_NAME = "tiny-shakespeare.txt"
ADDRESS = (
    "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/"
    "tinyshakespeare/input.txt"
)
BYTES = 1_115_394
SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
# Everyday English, of which little-world's stories hold nothing.
EVERYDAY = (
    "The library opens at nine, and on Sundays it stays closed all day.",
    "Water boils at a lower temperature on a high mountain than at the sea.",
    "She couldn't find her keys, so she rang the neighbour and waited outside.",
    "To make bread you need flour, water, salt, yeast and a little patience.",
    "The meeting was moved to Thursday because two of the speakers were ill.",
    "A triangle with three equal sides has three equal angles as well.",
    "He had read the letter so often that the paper was worn along the folds.",
    "Most of the trains were late, but nobody at the station seemed surprised.",
)


class CorpusUnavailable(OSError):
    """A text can't be had here and now; the message says what to do."""


@dataclass(frozen=True)
class Corpus:
    """A text to train on and one to measure on.

    Attributes:
        name: as given to ``load``.
        train: a tuple of documents: stories, or one long text.
        held_out: the same, never trained on; empty where there is none.
        alphabet: the distinct characters of all that may occur, sorted.
        floor: the lowest possible loss in nats per character, over whole documents
            that are read from their start; None where nobody knows it.
    """

    name: str
    train: tuple[str, ...]
    held_out: tuple[str, ...]
    alphabet: str
    floor: float | None = None

    @property
    def train_text(self) -> str:
        """The training documents, joined."""
        return "".join(self.train)

    @property
    def held_out_text(self) -> str:
        """The held-out documents, joined."""
        return "".join(self.held_out)


def load(name: str, **options: int) -> Corpus:
    """Load a corpus by its name.

    "hello" is the text "hello world". Nothing of eleven characters can be spared for
    measuring, so its ``held_out`` is empty: bring a text of your own.

    "little-world" draws stories from ``LittleWorld``. Held-out stories are drawn apart
    from those trained on, so that more of the one kind leave the other as they were.

    "tiny-shakespeare" is 1,115,394 characters of Shakespeare's plays. The first 90% are
    for training, the rest is held out. It is read from tiny-shakespeare.txt in the
    folder that the environment variable BOOK_DATA names, else in
    ~/.cache/attention-one-step. Where there is no such file, it is fetched.

    Args:
        name: "hello", "little-world" or "tiny-shakespeare".
        train_stories: for little-world, how many stories to train on; 20,000 where
            left out.
        held_out_stories: for little-world, how many to measure on; 1,000 where left
            out.
        seed: for little-world, a whole number of at least 0; 0 where left out. One seed
            gives the same stories on every platform.

    Returns:
        corpus: a Corpus.

    Raises:
        ValueError: an unknown name, an option that the corpus hasn't, a number of
            stories below 1, or a tiny-shakespeare.txt that isn't the text expected.
        CorpusUnavailable: no network, a damaged download, or a folder that can't be
            read or written. It is an OSError. No part of a file is left behind.

    Source: for tiny-shakespeare, Karpathy 2015, the data of char-rnn.
    """
    if not isinstance(name, str) or name not in OPTIONS:
        raise ValueError(f"name must be one of {list(OPTIONS)}, got {name!r}")
    unknown = sorted(set(options) - set(OPTIONS[name]))
    if unknown:
        takes = ", ".join(OPTIONS[name]) or "none"
        raise ValueError(f"options of {name} are {takes}; got {', '.join(unknown)}")
    makers: dict[str, Callable[..., Corpus]] = {
        "hello": _hello,
        "little-world": _little_world,
        "tiny-shakespeare": _tiny_shakespeare,
    }
    return makers[name](**options)


def _hello() -> Corpus:
    text = "hello world"
    return Corpus("hello", (text,), (), "".join(sorted(set(text))))


def _little_world(
    train_stories: int = 20_000, held_out_stories: int = 1_000, seed: int = 0
) -> Corpus:
    validation.require_integers(
        train_stories=train_stories, held_out_stories=held_out_stories
    )
    validation.require_counts(seed=seed)
    world = whole_world()

    def draw(part: str, count: int) -> tuple[str, ...]:
        # A seed that is a string is hashed by SHA-512, the same everywhere.
        rng = random.Random(f"little-world {part} {seed}")
        return tuple(world.sample(rng) for _ in range(count))

    train, held_out = draw("train", train_stories), draw("held-out", held_out_stories)
    return Corpus("little-world", train, held_out, world.alphabet, world.floor)


def _tiny_shakespeare() -> Corpus:
    path = cache_folder() / FILE_NAME
    content = _read(path)
    if content is None:
        content = _fetch(path)
        _write(path, content)
    text = content.decode("ascii")
    cut = len(text) * 9 // 10
    alphabet = "".join(sorted(set(text)))
    return Corpus("tiny-shakespeare", (text[:cut],), (text[cut:],), alphabet)


def cache_folder() -> pathlib.Path:
    """Where what was fetched is kept: BOOK_DATA, else ~/.cache/attention-one-step.

    Raises:
        CorpusUnavailable: a home folder that can't be found.
    """
    folder = os.environ.get("BOOK_DATA") or "~/.cache/attention-one-step"
    try:
        return pathlib.Path(folder).expanduser()
    except RuntimeError as error:
        raise CorpusUnavailable(
            f"can't tell where {folder} is ({error}); set BOOK_DATA to a folder"
        ) from error


def _read(path: pathlib.Path) -> bytes | None:
    """The checked content of a file that is there, else None."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CorpusUnavailable(
            f"can't read {path} ({error.strerror}); make it readable, or set BOOK_DATA "
            "to another folder"
        ) from error
    wrong = _difference(content)
    if wrong:
        raise ValueError(
            f"{path} isn't the expected text: {wrong}; remove it to have it fetched "
            f"again, or put the right file there, from {ADDRESS}"
        )
    return content


def _difference(content: bytes) -> str:
    """In words, how the content differs from what is expected; "" where it doesn't."""
    if len(content) != BYTES:
        return f"it must hold {BYTES:,} bytes, got {len(content):,}"
    found = hashlib.sha256(content).hexdigest()
    return "" if found == SHA256 else f"its SHA-256 must be {SHA256}, got {found}"


def _fetch(path: pathlib.Path) -> bytes:
    """The checked content from the network; all of it is held in memory."""
    advice = (
        f"try again later, or download {ADDRESS} by other means and save it as {path}"
    )
    try:
        with urllib.request.urlopen(ADDRESS, timeout=30) as response:
            content = response.read(BYTES + 1)
    except (OSError, http.client.HTTPException) as error:
        message = f"can't fetch {FILE_NAME} ({error}); {advice}"
        raise CorpusUnavailable(message) from error
    wrong = _difference(content)
    if wrong:
        raise CorpusUnavailable(f"what was fetched is damaged: {wrong}; {advice}")
    return content


def _write(path: pathlib.Path, content: bytes) -> None:
    """Write the file, in a folder that is made where it is missing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content, by_many=True)
    except OSError as error:
        raise CorpusUnavailable(
            f"can't write {path} ({error.strerror}); free {BYTES:,} bytes there, or "
            "set BOOK_DATA to a folder that you may write to"
        ) from error
