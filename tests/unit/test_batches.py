"""helpers.text.batches: what is an input, what a target, and what is drawn."""

import pytest
import torch

from helpers.text.batches import NOTHING, Documents, Windows
from helpers.text.tokenizer import CharTokenizer

START = 9
STORIES = [[1, 2, 3], [4], [5, 6, 7, 8, 1, 2, 3]]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def range_ids(length):
    return list(range(length))


def predicted(data, batch_size):
    """Every target of ``all`` with the inputs of its row up to it."""
    for inputs, targets in data.all(batch_size):
        assert inputs.shape == targets.shape
        assert inputs.dtype == targets.dtype == torch.int64
        for row, wanted in zip(inputs.tolist(), targets.tolist(), strict=True):
            for position, target in enumerate(wanted):
                if target != NOTHING:
                    yield row[: position + 1], target


def test_windows_are_shifted_by_one_character():
    inputs, targets = Windows(range_ids(50), 7).batch(5, generator())
    assert inputs.shape == targets.shape == (5, 7)
    assert torch.equal(targets, inputs + 1)
    assert torch.equal(inputs[:, 1:], targets[:, :-1])


def test_windows_begin_anywhere_and_reach_both_ends():
    data = Windows(range_ids(10), 7)
    inputs, targets = data.batch(200, generator())
    assert set(inputs[:, 0].tolist()) == {0, 1, 2}
    assert targets.max() == 9


@pytest.mark.parametrize("batch_size", [1, 3, 100])
@pytest.mark.parametrize("length", [8, 9, 15, 16, 17, 50])
def test_all_windows_predict_every_character_but_the_first_once(length, batch_size):
    data = Windows(range_ids(length), 7)
    found = list(predicted(data, batch_size))
    assert [target for _, target in found] == list(range(1, length))
    for past, target in found:
        assert len(past) == (target - 1) % 7 + 1
        assert past == list(range(target - len(past), target))
    assert data.num_targets == length - 1


def test_documents_begin_with_the_start_character_and_end_in_padding():
    data = Documents(STORIES, 8, START)
    inputs, targets = next(iter(data.all(3)))
    assert inputs.tolist() == [
        [9, 1, 2, 9, 9, 9, 9],
        [9, 9, 9, 9, 9, 9, 9],
        [9, 5, 6, 7, 8, 1, 2],
    ]
    no = NOTHING
    assert targets.tolist() == [
        [1, 2, 3, no, no, no, no],
        [4, no, no, no, no, no, no],
        [5, 6, 7, 8, 1, 2, 3],
    ]


@pytest.mark.parametrize("batch_size", [1, 2, 100])
@pytest.mark.parametrize("context_length", [1, 2, 3, 6, 7, 20])
def test_all_documents_predict_every_character_once(context_length, batch_size):
    data = Documents(STORIES, context_length, START)
    found = iter(list(predicted(data, batch_size)))
    for story in STORIES:
        stream = [START, *story]
        for index, character in enumerate(story):
            past, target = next(found)
            reach = index % context_length + 1
            assert target == character
            assert past == stream[index + 1 - reach : index + 1]
    assert next(found, None) is None
    assert data.num_targets == sum(map(len, STORIES))
    assert data.largest_id == START


def test_documents_are_drawn_whole_and_each_as_often():
    inputs, targets = Documents(STORIES, 8, START).batch(3000, generator())
    assert (inputs[:, 0] == START).all()
    lengths = (targets != NOTHING).sum(1).tolist()
    counts = [lengths.count(len(story)) for story in STORIES]
    assert sum(counts) == 3000
    assert all(900 < count < 1100 for count in counts)


def test_shorter_windows_may_be_drawn():
    windows = Windows(range_ids(10), 6)
    inputs, targets = windows.batch(400, generator(), context_length=2)
    assert inputs.shape == targets.shape == (400, 2)
    assert targets.equal(inputs + 1)
    assert set(inputs[:, 0].tolist()) == set(range(8))  # anywhere in the text
    for length, words in ((7, "at most the windows' 6, got 7"), (0, "got 0")):
        with pytest.raises(ValueError, match=f"context_length .*{words}"):
            windows.batch(2, generator(), context_length=length)


@pytest.mark.parametrize(
    "data", [Windows(range_ids(50), 7), Documents(STORIES, 4, START)]
)
def test_a_generator_decides_the_batches(data):
    draws = generator()
    first, second = data.batch(6, draws), data.batch(6, draws)
    again = data.batch(6, generator())
    assert all(map(torch.equal, first, again))
    assert not all(map(torch.equal, first, second))


def test_tensors_are_taken_and_are_left_as_they_were():
    ids = torch.arange(20, dtype=torch.int32)
    before = ids.clone()
    data = Windows(ids, 7)
    ids[:] = 0
    assert next(iter(data.all(1)))[0].tolist() == [list(range(7))]
    torch.testing.assert_close(before, torch.arange(20, dtype=torch.int32))
    as_tensors = Documents([torch.tensor(story) for story in STORIES], 4, START)
    assert as_tensors.fingerprint == Documents(STORIES, 4, START).fingerprint


def test_a_fingerprint_tells_texts_and_cuts_apart():
    prints = {
        Windows(range_ids(50), 7).fingerprint,
        Windows(range_ids(51), 7).fingerprint,
        Windows(range_ids(50), 8).fingerprint,
        Windows([*range(49), 48], 7).fingerprint,
        Documents([range_ids(50)], 7, 3).fingerprint,
        Documents(STORIES, 7, START).fingerprint,
        Documents(STORIES[::-1], 7, START).fingerprint,
        Documents([[1, 2], [3, 4], *STORIES[2:]], 7, START).fingerprint,
        Documents([[1, 2, 3, 9, 4], *STORIES[2:]], 7, START).fingerprint,
    }
    assert len(prints) == 9


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Windows([], 7), "text_ids must hold at least one character"),
        (lambda: Windows(range_ids(7), 7), r"context_length \+ 1 = 8 .* got 7"),
        (lambda: Windows(range_ids(8), 0), "context_length must be an integer"),
        (lambda: Windows("hello world", 4), "text_ids .* str 'hello world'; a tok"),
        (lambda: Windows([0.5] * 9, 4), "text_ids must hold whole numbers"),
        (lambda: Windows(torch.ones(9), 4), "text_ids .* torch.float32"),
        (lambda: Windows(torch.ones(3, 3).int(), 4), r"text_ids .* shape \(3, 3\)"),
        (lambda: Windows([3, -1, 4, 5], 2), "text_ids must be at least 0, got -1"),
        (lambda: Documents([], 7, 0), "at least one document, got none"),
        (lambda: Documents("abc", 7, 0), "documents .* got a string: encode it"),
        (lambda: Documents([[1], []], 7, 0), r"documents\[1\] .* got an empty one"),
        (lambda: Documents([[1], "ab"], 7, 0), r"documents\[1\] .* got 'ab'"),
        (lambda: Documents([["a"]], 7, 0), "documents must hold whole numbers"),
        (lambda: Documents(STORIES, 0, 0), "context_length must be an integer"),
        (lambda: Documents(STORIES, 7, -1), "start_id must be at least 0"),
        (lambda: Documents(STORIES, 7, None), r"start_id .* got list \[None\]"),
    ],
)
def test_bad_text_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "data", [Windows(range_ids(9), 7), Documents(STORIES, 7, START)]
)
def test_bad_draws_are_named(data):
    with pytest.raises(ValueError, match=r"batch_size must be an integer .* got 0"):
        data.batch(0, generator())
    with pytest.raises(ValueError, match=r"batch_size must be an integer .* got 0"):
        data.all(0)
    with pytest.raises(ValueError, match=r"generator must be .* got None"):
        data.batch(2, None)


def test_texts_become_documents_behind_the_start_character():
    tokenizer = CharTokenizer("\nab")
    data = Documents.from_texts(["ab", "b"], tokenizer, 8)
    expected = Documents([[1, 2], [2]], 8, 0)
    assert data.fingerprint == expected.fingerprint
    with pytest.raises(ValueError, match=r"tokenizer must have a start character"):
        Documents.from_texts(["ab"], CharTokenizer("ab"), 8)
