"""helpers.text.recall: only a note tells the answer, and the distance is the note's."""

import pytest
import torch

from helpers.text.batches import NOTHING
from helpers.text.recall import ASKED, BOXES, THINGS, TOKENS, put_notes

V, B, T = 5, 40, 50


def texts():
    ids = torch.randint(V, (B, T), generator=torch.Generator().manual_seed(1))
    return ids, put_notes(ids, V, torch.Generator().manual_seed(2))


def test_each_question_is_answered_by_the_note_that_stands_so_far_back():
    ids, (inputs, targets, distances) = texts()
    first_question, first_thing = V + BOXES * THINGS, V + BOXES * THINGS + BOXES
    for row in range(B):
        noted, asked = {}, 0
        for place in range(T):
            token = int(inputs[row, place])
            if token < V:
                assert token == ids[row, place]
                assert (targets[row, place], distances[row, place]) == (NOTHING, 0)
            elif token < first_question:
                box, thing = divmod(token - V, THINGS)
                assert box not in noted
                noted[box] = place, thing
                assert targets[row, place] == NOTHING
            else:
                asked += 1
                where, thing = noted[token - first_question]
                assert targets[row, place] == first_thing + thing
                assert distances[row, place] == place - where
        assert noted.keys() == set(range(BOXES))
        assert asked
    assert inputs.max() < V + TOKENS - THINGS
    assert targets.max() < V + TOKENS


def test_a_quarter_of_what_comes_behind_the_first_note_asks_at_any_distance():
    ids = torch.zeros(400, 100, dtype=torch.int64)
    _, targets, distances = put_notes(ids, V, torch.Generator().manual_seed(3))
    behind = 400 * 100 * (1 - 1 / (BOXES + 1)) - 400 * BOXES
    assert (targets != NOTHING).sum() / behind == pytest.approx(ASKED, rel=0.1)
    assert distances.max() > 90


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([[1]], "ids must be a torch.Tensor"),
        (torch.zeros(2, 50), "ids must be int64"),
        (torch.zeros(50).long(), "ids must be int64 .*got torch.int64"),
        (torch.zeros(2, 7).long(), "T of at least 8"),
    ],
)
def test_what_does_not_fit_is_named(ids, message):
    with pytest.raises(ValueError, match=message):
        put_notes(ids, V, torch.Generator())
