"""helpers.text.tokenizer: text as whole numbers and back."""

import json
import re

import numpy as np
import pytest
import torch

from helpers.text.tokenizer import CharTokenizer

HELLO = "hello world"


def test_ids_are_places_in_the_sorted_alphabet():
    tokenizer = CharTokenizer.from_text(HELLO)
    assert tokenizer.alphabet == " dehlorw"
    assert tokenizer.vocab_size == 8
    assert tokenizer.encode(HELLO) == [3, 2, 4, 4, 5, 0, 7, 5, 6, 4, 1]


def test_a_given_alphabet_keeps_its_order():
    tokenizer = CharTokenizer("zaé\n")
    assert tokenizer.encode("az\né") == [1, 0, 3, 2]
    assert tokenizer.decode([1, 0, 3, 2]) == "az\né"


@pytest.mark.parametrize(
    "shape",
    [list, tuple, iter, torch.tensor, np.array, lambda ids: torch.tensor(ids).int()],
)
def test_decoding_undoes_encoding(shape):
    tokenizer = CharTokenizer.from_text(HELLO)
    assert tokenizer.decode(shape(tokenizer.encode(HELLO))) == HELLO


def test_an_empty_text_has_no_ids():
    tokenizer = CharTokenizer("ab")
    assert tokenizer.encode("") == []
    assert tokenizer.decode([]) == ""
    assert tokenizer.decode(torch.tensor([], dtype=torch.int64)) == ""


@pytest.mark.parametrize(("alphabet", "start"), [("a\nb", "\n"), ("ab", None)])
def test_a_newline_starts_a_text_where_there_is_one(alphabet, start):
    assert CharTokenizer(alphabet).start_character == start


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: CharTokenizer(""), "alphabet must hold at least one"),
        (lambda: CharTokenizer("abcb"), "not repeat .* got 'b' 2 times in 'abcb'"),
        (lambda: CharTokenizer(["a"]), "alphabet must be a string, got list"),
        (lambda: CharTokenizer.from_text(""), "text must hold at least one"),
        (lambda: CharTokenizer.from_text(b"a"), "text must be a string, got bytes"),
        (lambda: CharTokenizer("ab").encode(["a"]), "text must be a string, got list"),
        (
            lambda: CharTokenizer("ab").encode("abXaY"),
            "text holds 'X' at position 2, .* alphabet 'ab'",
        ),
    ],
)
def test_text_that_does_not_fit_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([0, 2], "integers from 0 to 1, .* got 2 at position 1"),
        ([-1], "got -1 at position 0"),
        ([0, 1.0], "got 1.0 at position 1"),
        ([True], "got True at position 0"),
        (torch.tensor([0.0]), "got 0.0 at position 0"),
        (torch.tensor([True]), "got True"),
        (torch.tensor([[0, 1]]), r"got \[0, 1\] at position 0"),
        (torch.tensor(1), "tensor .T,., got 1"),
        (1, "list of whole numbers .* got 1"),
        ("01", "list of whole numbers .* got '01'"),
    ],
)
def test_ids_that_do_not_fit_are_named(ids, message):
    with pytest.raises(ValueError, match=f"^ids must be .*{message}"):
        CharTokenizer("ab").decode(ids)


def test_a_saved_tokenizer_comes_back(tmp_path):
    path = tmp_path / "tokenizer.json"
    tokenizer = CharTokenizer('z\n"\\é\U0001f431a')
    tokenizer.save(path)
    tokenizer.save(str(path))
    loaded = CharTokenizer.load(path)
    assert loaded.alphabet == tokenizer.alphabet
    assert loaded.encode("a\n") == tokenizer.encode("a\n")
    assert json.loads(path.read_bytes())["version"] == 1


GOOD = {"format": "attention-one-step/char-tokenizer", "version": 1, "alphabet": "ab"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is broken: it isn't JSON"),
        (b'{"format": "att', "is broken: it isn't JSON"),
        (b"\xff\xfe\x00", "is broken: it isn't JSON"),
        (b"[1, 2]", "holds no tokenizer: .* got None"),
        (b'{"format": "other"}', "holds no tokenizer: .* got 'other'"),
        (GOOD | {"version": 2}, "must be of version 1, got 2"),
        (GOOD | {"alphabet": "aa"}, "is broken: alphabet must not repeat"),
        (GOOD | {"alphabet": None}, "is broken: alphabet must be a string"),
    ],
)
def test_a_foreign_or_broken_file_is_named(tmp_path, content, message):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(
        content if isinstance(content, bytes) else json.dumps(content).encode()
    )
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))} {message}"):
        CharTokenizer.load(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        CharTokenizer.load(tmp_path / "nowhere.json")
