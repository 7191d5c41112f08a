"""helpers.views.all_heads: its tables, what is refused, what a kernel computes."""

import base64
import concurrent.futures
import html
import json
import re
import sys

import pytest
import torch

from helpers.models import induction
from helpers.models.head_reading import HeadReader
from helpers.text.tokenizer import CharTokenizer
from helpers.views import all_heads
from helpers.views.all_heads import parse_heads, unpack_weights
from tests.samples import models

TOKENIZER = CharTokenizer("abc def\nXYZ")
READER = HeadReader(models.model(), TOKENIZER)
TEXT = "ab cab"
READING = READER.read(TEXT)
L, H, T = 2, 6, 6


def cells(table):
    return dict(zip(table.rows, table.cells, strict=True))


def test_the_still_picture_and_its_table_tell_the_first_heads():
    view = all_heads([READING], query=4, key=3)
    weights = unpack_weights(READING)[:, :, 4, 3]
    best = [divmod(i, H) for i in weights.flatten().topk(3).indices.tolist()]
    told = ", ".join(f"{a}.{b} with {weights[a, b]:.2f}" for a, b in best)
    assert f"The first ones are {told}." in html.unescape(view.picture)
    assert "how much “a” at 4 looks at “c” at 3" in html.unescape(view.picture)
    alone = html.unescape(all_heads([READING], query=4).picture)
    assert "how much “a” at 4 looks at the token it looks at most" in alone
    assert view.tables[0].columns[:3] == [f"{a}.{b}" for a, b in best]
    paths = re.findall(
        r'd="([^"]*)" fill="(#\w+)" fill-opacity="([^"]*)"', view.picture
    )
    assert paths[0][0].count("z") == L * H  # the ground of all squares
    shades = {place: shade for path, _, shade in paths[1:] for place in path.split("z")}
    for layer in range(L):
        for head in range(H):
            place = f"M{24 + 20 * layer} {20 + 20 * head}h18v18h-18"
            got = float(shades.get(place, 0))
            assert got == pytest.approx(float(weights[layer, head]), abs=0.026)
    other = all_heads([READING])
    assert "rests on the first token" in other.picture


def test_the_tables_have_the_librarys_scores():
    _, habits, after = all_heads([READING]).tables
    ids = torch.tensor([TOKENIZER.encode(TEXT)])
    scores = {
        "looks one token back": induction.previous_token(READER.model, ids),
        "looks behind an earlier copy": induction.prefix_matching(READER.model, ids),
    }
    for name, expected in scores.items():
        for cell in cells(habits)[name]:
            layer, head, number = re.fullmatch(r"(\d)\.(\d): (\d\.\d\d)", cell).groups()
            got = float(expected[int(layer), int(head)])
            assert float(number) == pytest.approx(got, abs=0.008)
    [row] = after.cells
    token, share = READING["next"][0]
    assert row[0] == f"{token.replace(chr(10), '↵').replace(' ', '␣')}: {share:.2f}"


def test_a_text_of_one_token_and_one_that_repeats_none():
    for text in ("a", "abc"):
        habits = all_heads([READER.read(text)]).tables[1]
        assert "looks behind an earlier copy" not in habits.rows


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("", []),
        ("13.8", [(13, 8)]),
        (" 13.8, 5.2 ,0.0 13.8", [(13, 8), (5, 2), (0, 0)]),
    ],
)
def test_heads_are_typed_with_a_point(text, heads):
    assert parse_heads(text) == heads


@pytest.mark.parametrize("text", ["13", "a.b", "13.", "-1.2", "1.2.3", "13:8"])
def test_other_ways_to_type_a_head_are_named(text):
    with pytest.raises(ValueError, match=r"heads off must be written as 13\.8, 5\.2"):
        parse_heads(text)


def broken(**changes):
    return READING | changes


SMALL = HeadReader(models.model(num_heads=2), TOKENIZER)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"readings": []}, r"readings must be a list of at least one"),
        ({"readings": READING}, r"readings must be a list"),
        ({"readings": ["abc"]}, r"readings\[0\] must be what HeadReader.read returns"),
        (
            {"readings": [READING, broken(text="b", weights="AAAA")]},
            r"readings\[1\] must have 252 weights in base64 for its 6 tokens, got 3",
        ),
        ({"readings": [broken(weights="?")]}, r"252 weights .* got none"),
        ({"readings": [READING, READING]}, r"readings must be of different texts"),
        ({"readings": [READING, SMALL.read("a")]}, r"readings must be of one model"),
        ({"head": (2, 0)}, r"head must be a layer below 2 and a head below 6, got \(2"),
        ({"head": 3}, r"head must be a layer below 2 and a head below 6, got 3"),
        ({"query": 6}, r"query must be a place from 0 to 5 in the first text, got 6"),
        ({"key": -1}, r"key must be a place from 0 to 5 in the first text, got -1"),
        ({"reader": READER.model}, r"reader must have read and next_without.*Transf"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        all_heads(**({"readings": [READING]} | options))


def test_a_page_carries_no_more_than_it_should():
    packed = base64.b64encode(bytes(L * H * 300 * 301 // 2)).decode()
    names = {"tokens": ["a"] * 300, "same": [0] * 300, "weights": packed}
    with pytest.raises(ValueError, match=r"at most 400,000 weights.*take fewer or"):
        all_heads([broken(**names)])


# --- with a kernel --------------------------------------------------------------------


def said(view):
    """What the box tells the view."""
    found = re.match(r'<pre hidden class="aos-frame">(.*?)</pre>', box(view)[2].value)
    return json.loads(html.unescape(found[1]))


def box(view):
    return view.widget().children


def test_any_text_is_read_and_any_heads_are_off():
    """In a thread: where a browser's loop runs, a box would wait for quiet."""
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        pool.submit(read_and_switch).result()


def read_and_switch():
    view = all_heads([READING], reader=READER)
    assert said(view)["reading"]["text"] == TEXT
    text, off, _ = box(view)
    text.value = "fed"
    assert said(view)["reading"] == json.loads(json.dumps(READER.read("fed")))
    off.value = "0.1, 1.5"
    after = READER.next_without("fed", [(0, 1), (1, 5)])
    assert said(view)["after"] == [list(one) for one in after]
    assert said(view)["off"] == ["0.1", "1.5"]
    off.value = "0.1, 9.9"
    assert "layer must be an integer from 0 to 1, got 9" in said(view)["error"]
    assert (said(view)["off"], said(view)["reading"]["text"]) == (["0.1", "1.5"], "fed")
    off.value = ""
    assert (said(view)["error"], said(view)["after"]) == ("", None)
    text.value = "Q"
    assert "text holds 'Q' at position 0" in said(view)["error"]
    assert "Below is still: fed" in said(view)["error"]


def test_without_a_reader_or_ipywidgets_there_is_no_box(monkeypatch):
    assert all_heads([READING]).widget() is None
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    assert all_heads([READING], reader=READER).widget() is None
