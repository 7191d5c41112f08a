"""The memory of fixed size, written by keyboard and compared with PyTorch."""

import math

import pytest
import torch

from helpers.linear_attention import recurrent_delta_rule, recurrent_linear_attention
from helpers.views import memory_state

KEYS = torch.tensor([[1.0, 0, 0], [0, 1, 0], [0.6, 0.8, 0]])
VALUES = torch.tensor([[1.0, 2], [-3, 0.5], [4, -1]])
NAMES = ["Ben", "Mia", "Tom"]


@pytest.fixture
def shown(show_views):
    return show_views(memory_state(KEYS, VALUES, NAMES))


def compare(shown, writes):
    """Each number is PyTorch's after (place, value, beta, kept), ... were written."""
    places = [place for place, *_ in writes]
    keys = KEYS[places].double()
    values = torch.tensor([value for _, value, *_ in writes], dtype=torch.float64)
    beta = torch.tensor([one[2] for one in writes], dtype=torch.float64)
    kept = torch.tensor([math.log(one[3]) for one in writes], dtype=torch.float64)
    states = {
        "added": recurrent_linear_attention(keys, keys, values, log_decay=kept)[1],
        "overwritten": recurrent_delta_rule(
            *(keys, keys, values, beta), log_decay=kept
        )[1],
    }
    seen = shown.values()
    last = {place: value for place, value, *_ in writes}
    far = dict.fromkeys(states, 0.0)
    for rule, state in states.items():
        reads = KEYS.double() @ state
        for i, j in [(i, j) for i in range(3) for j in range(2)]:
            near = pytest.approx(float(state[i, j]), abs=5.1e-3)
            assert seen.number(f"{rule} {i} {j}") == near
            near = pytest.approx(float(reads[i, j]), abs=5.1e-3)
            assert seen.number(f"{rule} read {i} {j}") == near
            if i in last:
                assert seen.number(f"last {i} {j}") == pytest.approx(last[i][j])
                far[rule] = max(far[rule], abs(float(reads[i, j]) - last[i][j]))
            else:
                assert seen[f"last {i} {j}"] == "–"
    assert seen["sentence"].endswith(
        f"Farthest from a value written last: {far['added']:.2f} where pairs are "
        f"added, {far['overwritten']:.2f} where they overwrite."
    )


def test_every_control_writes_as_pytorch_does(shown):
    writes = [(0, [1.0, 2.0], 1.0, 1.0)]
    shown.press("write", "Enter")
    compare(shown, writes)
    shown.press("key 2", "Space")
    assert shown.control("value 0").input_value() == "4.00"
    shown.press("write", "Enter")
    writes.append((2, [4.0, -1.0], 1.0, 1.0))
    compare(shown, writes)
    shown.press("key 0", "Space")
    shown.type("value 0", "5")
    shown.type("value 1", "-2")
    shown.press("kept", "ArrowLeft", 4)
    shown.press("beta", "ArrowLeft", 10)
    there = 0.8 * (1 + 0.6 * (4 - 0.6)), 0.8 * (2 + 0.6 * (-1 - 1.2))
    coming = ", ".join(
        f"{0.5 * (new - old):.2f}" for new, old in zip((5, -2), there, strict=True)
    )
    assert f"and ({coming}) where they overwrite" in shown.value("next")
    assert "puts (5.00, -2.00) under \u2068Ben\u2069" in shown.value("next")
    shown.press("write", "Enter")
    writes.append((0, [5.0, -2.0], 0.5, 0.8))
    compare(shown, writes)
    assert shown.value("sentence").startswith("\u2068Ben\u2069 has written. 3 writes")
    shown.press("key 1", "Space")
    shown.press("write", "Enter")
    writes.append((1, [-3.0, 0.5], 0.5, 0.8))
    compare(shown, writes)
    shown.press("empty", "Enter")
    assert shown.value("sentence").startswith(
        "Both memories are empty. 0 writes so far"
    )
    assert {shown.value(f"added {i} {j}") for i in range(3) for j in range(2)} == {
        "0.00"
    }
    shown.press("key 0", "Space")
    assert shown.control("value 0").input_value() == "1.00"
    assert shown.moved == shown.controls()


def test_the_second_value_of_a_key_is_added_or_replaces_the_first(shown):
    shown.press("write", "Enter")
    shown.type("value 0", "7")
    shown.press("write", "Enter")
    assert shown.value("added read 0 0") == "8.00"
    assert shown.value("overwritten read 0 0") == "7.00"


def test_it_opens_with_what_was_written(show_views):
    view = memory_state(KEYS, VALUES, NAMES, writes=[0, 2])
    shown = show_views(view)
    compare(shown, [(0, [1.0, 2.0], 1.0, 1.0), (2, [4.0, -1.0], 1.0, 1.0)])
    read = [table for table in view.tables if table.caption.endswith("reads, added")]
    assert read[0].cells[0] == pytest.approx([1 + 0.6 * 4, 2 - 0.6])


@pytest.mark.parametrize("text", ["", "1e9", "-100.5"])
def test_what_cannot_be_used_gives_way_to_the_number_in_use(shown, text):
    shown.type("value 1", "3")
    shown.type("value 1", text)
    shown.page.keyboard.press("Tab")
    assert shown.control("value 1").input_value() == "3.00"
    shown.press("write", "Enter")
    compare(shown, [(0, [1.0, 3.0], 1.0, 1.0)])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"keys": torch.ones(3)}, r"keys must have two axes .*got \(3,\)"),
        ({"values": torch.ones(2, 2)}, r"keys and values must agree in the number of"),
        ({"keys": torch.ones(3, 2).long()}, r"keys must be floating point"),
        ({"names": NAMES[:2]}, r"names must hold 3 names, got 2"),
        ({"writes": [3]}, r"writes must hold whole numbers from 0 to 2, got 3"),
        ({"writes": [True]}, r"writes must hold whole numbers from 0 to 2, got True"),
    ],
)
def test_bad_input_is_named(change, message):
    arguments = {"keys": KEYS, "values": VALUES, "names": NAMES, "writes": []} | change
    with pytest.raises(ValueError, match=message):
        memory_state(**arguments)
