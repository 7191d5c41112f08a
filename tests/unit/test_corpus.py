"""helpers.text.corpus: three corpora, and a download that is whole or not there."""

import builtins
import dataclasses
import errno
import hashlib
import http.client
import io
import os
import pathlib
import random
import urllib.error
import urllib.request

import pytest

from helpers.text import corpus
from helpers.text.corpus import CorpusUnavailable, load
from helpers.text.little_world import LittleWorld

TEXT = b"First Citizen:\nSpeak, speak.\n" * 7
NAME = "tiny-shakespeare.txt"


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """An empty BOOK_DATA; a short text stands for the real one."""
    monkeypatch.setenv("BOOK_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(corpus, "BYTES", len(TEXT))
    monkeypatch.setattr(corpus, "SHA256", hashlib.sha256(TEXT).hexdigest())
    return tmp_path / "data"


@pytest.fixture
def network(monkeypatch):
    """What the network answers, an error or bytes; and the addresses asked for."""

    class Network:
        def __init__(self):
            self.answer, self.asked = OSError("the test must not ask"), []

        def open(self, address, *, timeout):
            self.asked.append((address, timeout))
            if isinstance(self.answer, Exception):
                raise self.answer
            return io.BytesIO(self.answer)

    fake = Network()
    monkeypatch.setattr(urllib.request, "urlopen", fake.open)
    return fake


def files(folder):
    return sorted(path.name for path in folder.glob("**/*"))


def test_hello_has_nothing_to_spare():
    hello = load("hello")
    assert hello.name == "hello"
    assert hello.train == ("hello world",)
    assert hello.held_out == ()
    assert (hello.train_text, hello.held_out_text) == ("hello world", "")
    assert hello.alphabet == " dehlorw"
    assert hello.floor is None


def test_little_world_comes_as_stories_with_its_floor():
    world = load("little-world", train_stories=5, held_out_stories=3, seed=1)
    assert world.name == "little-world"
    assert (len(world.train), len(world.held_out)) == (5, 3)
    assert world.train_text == "".join(world.train)
    assert world.held_out_text == "".join(world.held_out)
    grammar = LittleWorld()
    assert world.floor == grammar.floor
    assert world.alphabet == grammar.alphabet
    for story in (*world.train, *world.held_out):
        grammar.read(story)


def test_a_seed_gives_the_same_corpus_everywhere():
    world = load("little-world", train_stories=2_000, held_out_stories=500, seed=0)
    content = (world.train_text + world.held_out_text).encode()
    assert hashlib.sha256(content).hexdigest() == (
        "69665e0fb9a2529624757c4e5e1255e2bc4624a1f3aa0a00cdb821c4f5e5297b"
    )
    small = load("little-world", train_stories=20, held_out_stories=20)
    assert small.train == world.train[:20]
    assert small.held_out == world.held_out[:20]


def test_seeds_and_parts_differ():
    sizes = {"train_stories": 50, "held_out_stories": 50}
    parts = [
        part
        for seed in (0, 1, 2**40)
        for world in [load("little-world", **sizes, seed=seed)]
        for part in (world.train, world.held_out)
    ]
    assert len({story for part in parts for story in part}) > 295
    assert len(set(parts)) == 6


def test_no_global_random_number_is_drawn_or_needed():
    random.seed(5)
    state = random.getstate()
    first = load("little-world", train_stories=3, held_out_stories=1)
    assert random.getstate() == state
    random.seed(6)
    assert load("little-world", train_stories=3, held_out_stories=1) == first


def test_a_corpus_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        load("hello").floor = 0.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "shakespeare"}, "name must be one of .*'tiny-.*got 'shakespeare'"),
        ({"name": None}, "name must be one of .* got None"),
        ({"name": "hello", "seed": 1}, "options of hello are none; got seed"),
        (
            {"name": "little-world", "stories": 5},
            "options of little-world are train_stories, .* got stories",
        ),
        ({"name": "little-world", "train_stories": 0}, "^train_stories must .* got 0"),
        ({"name": "little-world", "held_out_stories": -1}, "^held_out_stories must"),
        ({"name": "little-world", "seed": -1}, "^seed must .* got -1"),
        ({"name": "little-world", "seed": 1.0}, "^seed must .* got 1.0"),
        ({"name": "little-world", "seed": True}, "^seed must .* got True"),
    ],
)
def test_bad_options_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        load(**arguments)


def test_tiny_shakespeare_is_fetched_once(folder, network):
    network.answer = TEXT
    first = load("tiny-shakespeare")
    assert network.asked == [(corpus.ADDRESS, 30)]
    assert corpus.ADDRESS.startswith("https://")
    assert files(folder) == [NAME]
    assert (folder / NAME).read_bytes() == TEXT
    network.answer = OSError("no network any more")
    assert load("tiny-shakespeare") == first
    assert len(network.asked) == 1


def test_tiny_shakespeare_is_split_90_to_10(folder, network):
    network.answer = TEXT
    shakespeare = load("tiny-shakespeare")
    assert shakespeare.train_text + shakespeare.held_out_text == TEXT.decode()
    assert len(shakespeare.train) == len(shakespeare.held_out) == 1
    assert len(shakespeare.train_text) == int(len(TEXT) * 0.9)
    assert shakespeare.alphabet == "".join(sorted(set(TEXT.decode())))
    assert shakespeare.floor is None


def test_a_file_that_is_put_there_is_used(folder, network):
    folder.mkdir()
    (folder / NAME).write_bytes(TEXT)
    assert load("tiny-shakespeare").train_text.startswith("First Citizen:\n")
    assert network.asked == []


@pytest.mark.parametrize("value", [None, ""])
def test_without_book_data_the_cache_is_in_the_home_folder(
    folder, network, monkeypatch, tmp_path, value
):
    if value is None:
        monkeypatch.delenv("BOOK_DATA")
    else:
        monkeypatch.setenv("BOOK_DATA", value)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    network.answer = TEXT
    load("tiny-shakespeare")
    cache = tmp_path / "home" / ".cache" / "attention-one-step"
    assert files(cache) == [NAME]


def test_a_home_folder_in_book_data_is_found(folder, network, monkeypatch, tmp_path):
    monkeypatch.setenv("BOOK_DATA", "~/texts")
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    network.answer = TEXT
    load("tiny-shakespeare")
    assert files(tmp_path / "texts") == [NAME]


def test_no_home_folder_is_named(folder, monkeypatch):
    def expanduser(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(pathlib.Path, "expanduser", expanduser)
    with pytest.raises(CorpusUnavailable, match="set BOOK_DATA to a folder"):
        load("tiny-shakespeare")


CHANGED = TEXT[:50] + b"X" + TEXT[51:]
DAMAGED = {
    "empty": (b"", f"must hold {len(TEXT)} bytes, got 0"),
    "short": (TEXT[:-1], f"must hold {len(TEXT)} bytes, got {len(TEXT) - 1}"),
    "long": (TEXT + b"x", f"must hold {len(TEXT)} bytes, got {len(TEXT) + 1}"),
    "changed": (CHANGED, "its SHA-256 must be .*, got "),
}


@pytest.mark.parametrize(("content", "message"), DAMAGED.values(), ids=DAMAGED)
def test_a_wrong_file_is_named_and_kept(folder, network, content, message):
    folder.mkdir()
    (folder / NAME).write_bytes(content)
    with pytest.raises(ValueError, match=f"{message}.*; remove it to have") as caught:
        load("tiny-shakespeare")
    assert str(folder / NAME) in str(caught.value)
    assert (folder / NAME).read_bytes() == content
    assert network.asked == []


def assert_nothing_left(folder, message):
    """The error says what to do, and not even a part of a file stays behind."""
    with pytest.raises(CorpusUnavailable, match=message) as caught:
        load("tiny-shakespeare")
    assert str(folder / NAME) in str(caught.value)
    assert files(folder) == []


@pytest.mark.parametrize(("content", "message"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_download_leaves_nothing(folder, network, content, message):
    network.answer = content
    assert_nothing_left(folder, f"damaged: .*{message}.*; try again later, or download")


@pytest.mark.parametrize(
    "error",
    [
        urllib.error.URLError("Name or service not known"),
        urllib.error.HTTPError(corpus.ADDRESS, 404, "Not Found", None, None),
        TimeoutError("timed out"),
        ConnectionResetError("reset by peer"),
        http.client.IncompleteRead(b"Fir"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_no_network_leaves_nothing(folder, network, error):
    network.answer = error
    assert_nothing_left(folder, f"can't fetch {NAME} .*; try again later, or download")


def test_a_download_never_takes_more_memory_than_the_text(folder, network, monkeypatch):
    class Endless(io.BytesIO):
        def read(self, size=-1):
            assert 0 <= size <= len(TEXT) + 1
            return b"x" * size

    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: Endless())
    assert_nothing_left(folder, "damaged")


def test_a_full_disk_leaves_nothing(folder, network, monkeypatch):
    network.answer = TEXT
    written = []

    class Full(io.FileIO):
        def write(self, content):
            written.append(super().write(content[:100]))
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(path, mode):
        return Full(path, mode)

    monkeypatch.setattr(builtins, "open", full)
    assert_nothing_left(folder, r"can't write .*No space left.*; free .* set BOOK_DATA")
    assert written == [100]


@pytest.mark.parametrize("error", [PermissionError, KeyboardInterrupt])
def test_an_interrupted_rename_leaves_nothing(folder, network, monkeypatch, error):
    network.answer = TEXT

    def replace(part, path):
        assert pathlib.Path(part).read_bytes() == TEXT
        assert pathlib.Path(part).parent == path.parent
        raise error(errno.EACCES, "denied")

    monkeypatch.setattr(os, "replace", replace)
    expected = KeyboardInterrupt if error is KeyboardInterrupt else CorpusUnavailable
    with pytest.raises(expected):
        load("tiny-shakespeare")
    assert files(folder) == []


def test_a_folder_that_is_a_file_is_named(folder, network):
    folder.write_text("not a folder")
    network.answer = TEXT
    with pytest.raises(CorpusUnavailable, match=r"can't (read|write) .* set BOOK_DATA"):
        load("tiny-shakespeare")


def test_a_file_that_cannot_be_read_is_named(folder, network):
    (folder / NAME).mkdir(parents=True)
    with pytest.raises(CorpusUnavailable, match=r"can't read .*readable.*BOOK_DATA"):
        load("tiny-shakespeare")
    assert network.asked == []


def test_an_unreadable_folder_is_named(folder, network, monkeypatch):
    def read_bytes(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(pathlib.Path, "read_bytes", read_bytes)
    with pytest.raises(CorpusUnavailable, match=r"can't read .*Permission denied"):
        load("tiny-shakespeare")
    assert network.asked == []


def test_the_real_text_has_the_figures_that_the_book_prints(network):
    if not pathlib.Path(os.environ.get("BOOK_DATA") or "nowhere", NAME).is_file():
        pytest.skip(f"no {NAME} in the folder that BOOK_DATA names")
    shakespeare = load("tiny-shakespeare")
    assert len(shakespeare.train_text) == 1_003_854
    assert len(shakespeare.held_out_text) == 111_540
    assert len(shakespeare.alphabet) == 65
    assert network.asked == []
