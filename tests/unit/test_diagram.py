"""The picture that grows: true to its tensors, laid out alike, the same everywhere."""

import itertools
import math
import re

import pytest
import torch

from helpers.attention import causal_mask, merge_heads, split_heads
from helpers.views import diagram
from helpers.views.diagram_formulas import read_formula
from helpers.views.view import rebuild
from tests.nbval_numeric import close
from tests.samples.diagrams import CHAPTERS, drawn

T, S, D = 5, 7, 3
QUERIES, KEYS, VALUES = drawn(T, D), drawn(S, D, seed=1), drawn(S, 2, seed=2)
SCORES = QUERIES @ KEYS.T
GIVEN = {"queries": (QUERIES, "T, D"), "keys": (KEYS, "S, D")}
BOX = re.compile(
    r'<rect class="(hull|pill)" x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"'
)
ARROW = re.compile(r'<g class="arrow[^>]* data-part="(\d+)">(.*?)</g>', re.DOTALL)
CORNER = re.compile(r"(?<=[MLQ ])(\d+) (\d+)")


def attention(scores=SCORES, **changes):
    """One head's scores, in a diagram."""
    return diagram(GIVEN | {"scores": (scores, "T, S", "queries @ keys.T")}, **changes)


def places(view):
    return {one["name"]: (one["x"], one["y"]) for one in view.state["parts"]}


def boxes(view, kind):
    """What takes room in a picture, as (left, top, right, bottom)."""
    found = [match for match in BOX.findall(view.picture) if match[0] == kind]
    sizes = [[int(number) for number in match[1:]] for match in found]
    return [(x, y, x + width, y + height) for x, y, width, height in sizes]


def apart(one, other):
    return (
        one[2] <= other[0]
        or other[2] <= one[0]
        or one[3] <= other[1]
        or other[3] <= one[1]
    )


# --- the nine pictures ------------------------------------------------------------


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_picture_names_each_part_its_letters_and_its_shape(name):
    view = CHAPTERS[name]()
    for part in view.state["parts"]:
        sizes = ", ".join(map(str, part["shape"])) + ("," * (len(part["shape"]) == 1))
        letters = ", ".join(part["letters"]) + ("," * (len(part["letters"]) == 1))
        for text in (part["name"], f"({letters})", f"({sizes})"):
            assert f">{text}</text>" in view.picture


@pytest.mark.parametrize("name", CHAPTERS)
def test_nothing_in_a_picture_lies_on_anything_else(name):
    view = CHAPTERS[name]()
    taken = boxes(view, "hull") + boxes(view, "pill")
    assert len(boxes(view, "hull")) == len(view.state["parts"])
    for one, other in itertools.combinations(taken, 2):
        assert apart(one, other)


@pytest.mark.parametrize("name", CHAPTERS)
def test_no_line_runs_through_what_it_does_not_join(name):
    view = CHAPTERS[name]()
    names = [part["name"] for part in view.state["parts"]]
    hulls = dict(zip(names, boxes(view, "hull"), strict=True))
    assert ARROW.findall(view.picture)
    for place, arrow in ARROW.findall(view.picture):
        part = view.state["parts"][int(place)]
        joined = {part["name"], *(source for source, _ in part["sources"])}
        for path in re.findall(r'<path class="line" d="([^"]*)"', arrow):
            corners = [(int(x), int(y)) for x, y in CORNER.findall(path)]
            for (x, y), (to_x, to_y) in itertools.pairwise(corners):
                line = (min(x, to_x), min(y, to_y), max(x, to_x), max(y, to_y))
                for other in set(names) - joined:
                    assert apart(line, hulls[other]), (part["name"], other)


def test_the_layout_stays_from_chapter_to_chapter():
    found = {name: places(CHAPTERS[name]()) for name in CHAPTERS}
    steps = ["inputs", "queries", "scores", "scaled", "masked", "weights", "dropped"]
    for seen in found.values():
        line = [seen[name] for name in [*steps, "context"] if name in seen]
        assert len({x for x, _ in line}) <= 1
        assert [y for _, y in line] == sorted(y for _, y in line)
        if "values" in seen:
            lanes = [seen[name] for name in ("queries", "keys", "values")]
            assert [x for x, _ in lanes] == sorted({x for x, _ in lanes})
            assert len({y for _, y in lanes}) == 1


def test_what_is_new_is_framed_and_all_else_steps_back():
    view = attention(new=["scores"])
    kinds = re.findall(r'<g class="part( \w+)?" data-part="(\d)"', view.picture)
    assert kinds == [(" old", "0"), (" old", "1"), (" new", "2")]
    assert [row[-1] for row in view.tables[0].cells] == ["no", "no", "yes"]
    assert "Frames" in view.picture.partition("</svg>")[2]
    assert not re.search(r'class="\w+ (old|new)"', attention().picture)


# --- words and numbers --------------------------------------------------------------


def test_the_text_alternative_says_what_flows_into_what():
    view = attention(title="Scores")
    label = re.search(r'role="img" aria-label="([^"]*)"', view.picture)[1]
    assert label == (
        "Scores. Diagram: scores (T, S) from queries and keys. Tables with all steps "
        "and numbers follow."
    )
    flow, *numbers = view.tables
    assert list(flow.cells[2][:3]) == ["(T, S)", "(5, 7)", "queries @ keysᵀ"]
    assert flow.cells[2][3] == (
        "scores = queries @ keysᵀ: each number is the dot product of a row of queries "
        "and a row of keys."
    )
    assert [table.caption for table in numbers][-1] == "scores (T, S) = (5, 7)"
    torch.testing.assert_close(torch.tensor(numbers[-1].cells), SCORES)


def test_minus_infinity_is_hatched_and_read():
    masked = SCORES.masked_fill(~causal_mask(T, S), -math.inf)
    view = diagram({"masked": (masked, "T, S")})
    hidden = int((masked == -math.inf).sum())
    assert view.tables[-1].cells[0][-1] == "−∞"
    assert sum(row.count("−∞") for row in view.tables[-1].cells) == hidden
    hatch = re.search(r'<path class="hatch" d="([^"]*)"', view.picture)[1]
    assert hatch.count("M") == 3 * hidden
    assert "Hatched" in view.picture
    assert "Hatched" not in attention().picture


def test_a_large_tensor_is_cut_and_says_so():
    view = diagram({"x": (drawn(40, 30), "T, C")})
    assert view.picture.count(">…</text>") == 2
    assert "Beyond" in view.picture
    assert view.tables[-1].caption == "x (T, C) = (40, 30), as far as drawn"
    assert [len(view.tables[-1].cells), len(view.tables[-1].cells[0])] == [8, 12]
    assert ">(40, 30)</text>" in view.picture
    assert "…" not in attention().picture
    heads = diagram({"x": (drawn(6, 3, 2), "H, T, D")})
    assert "as far as drawn" in heads.tables[-1].caption
    assert heads.picture.count(">…</text>") == 1


# --- the comparison of outputs ------------------------------------------------------


def test_a_last_bit_moves_no_more_than_a_last_place():
    noise = 1e-7 * torch.randn(T, S, generator=torch.Generator().manual_seed(3))
    tiny = torch.full((T, S), 1e-9)
    for scores in (SCORES, torch.zeros(T, S)):
        for change in (noise, tiny, -tiny):
            one, other = (
                diagram({"scores": (x, "T, S")})._repr_html_()
                for x in (scores, scores + change)
            )
            assert close(one, other)
    one, other = (attention().picture, attention(SCORES + 5e-5).picture)
    assert close(one, other)


def test_another_number_is_noticed():
    changed = SCORES.clone()
    changed[2, 3] += 0.1
    one, other = (diagram({"scores": (x, "T, S")}) for x in (SCORES, changed))
    assert not close(one.picture, other.picture)
    assert not close(one._repr_html_(), other._repr_html_())


def test_places_follow_from_names_and_shapes_alone():
    one, other = (
        re.sub(r"--v:-?\d\.\d\d", "", diagram({"x": (x, "T, S")}).picture)
        for x in (SCORES, -SCORES.exp())
    )
    assert one == other


def test_shades_are_relative_to_the_largest_number():
    picture = diagram({"x": (torch.tensor([[2.0, -1.0, 0.0, -4.0]]), "T, D")}).picture
    assert re.findall(r"--v:(-?\d\.\d\d)", picture) == [
        "0.50",
        "-0.25",
        "0.00",
        "-1.00",
    ]


def test_rows_are_named_by_their_letter_whatever_it_is():
    table = {"table": (drawn(3, D), "vocab_size, C")}
    picture = diagram(table, names={"vocab_size": ["a", "b", "␣"]}).picture
    assert re.findall(r'text-anchor="end"[^>]*>([^<]+)<', picture) == ["a", "b", "␣"]


def test_a_number_has_one_shade_before_and_after_a_division_a_mask_and_dropout():
    scores = torch.tensor([[4.0, 1.0], [2.0, -1.0]])
    hidden = torch.tensor([[False, True], [False, False]])
    masked = (scores / 2).masked_fill(hidden, -math.inf)
    weights = masked.softmax(dim=-1)
    dropped = torch.where(weights > 0.9, 2 * weights, 0)
    parts = {
        "scores": (scores, "T, S"),
        "scaled": (scores / 2, "T, S", "scores / 2"),
        "masked": (masked, "T, S", "mask(scaled)"),
        "weights": (weights, "T, S", "softmax(masked)"),
        "dropped": (dropped, "T, S", "dropout(weights)"),
    }
    found = re.findall(r"--v:(-?\d\.\d\d)", diagram(parts).picture)
    expected = ["1.00", "0.25", "0.50", "-0.25", "0.50", "0.12", "0.25", "-0.12"]
    expected += ["0.50", "0.00", "0.25", "-0.12"]
    half = weights.flatten() / 2
    expected += [f"{n:.2f}" for n in half]
    assert found[:16] == expected
    assert found[16] == "1.00"


def test_a_stored_diagram_is_rebuilt_with_its_picture():
    html = CHAPTERS["many_heads"]()._repr_html_()
    assert rebuild(html) == html
    assert "<svg" in html.partition("<details")[0]


# --- formulas -----------------------------------------------------------------------


HEADS = split_heads(drawn(T, 4), 2)
FORMULAS = [
    ("queries @ keys.T", SCORES, ("@ keysᵀ",), ["row", "across"]),
    ("weights @ values", SCORES.softmax(-1) @ VALUES, ("@ values",), ["row", "column"]),
    ("scores / √D", SCORES / math.sqrt(D), ("÷ √D",), ["same"]),
    ("scores / 2", SCORES / 2, ("÷ 2",), ["same"]),
    ("scores / D", SCORES / D, ("÷ D",), ["same"]),
    ("softmax(scores)", SCORES.softmax(-1), ("softmax",), ["row"]),
    (
        "softmax(queries @ keys.T / √D)",
        (SCORES / math.sqrt(D)).softmax(-1),
        ("@ keysᵀ", "÷ √D", "softmax"),
        ["row", "all"],
    ),
    ("mask(scores)", SCORES.masked_fill(SCORES < 0, -math.inf), ("mask",), ["same"]),
    (
        "mask(scores, allowed)",
        SCORES.masked_fill(~causal_mask(T, S), -math.inf),
        ("mask",),
        ["same", "same"],
    ),
    (
        "dropout(weights)",
        SCORES.softmax(-1) * (SCORES > 0) / 0.9,
        ("dropout",),
        ["same"],
    ),
    ("queries + queries", 2 * QUERIES, ("+ queries",), ["same", "same"]),
    ("queries - queries", 0 * QUERIES, ("− queries",), ["same", "same"]),
    ("queries * queries", QUERIES**2, ("× queries",), ["same", "same"]),
    ("split(merged)", HEADS, ("split",), ["split"]),
    ("merge(heads)", merge_heads(HEADS), ("merge",), ["merge"]),
    (
        "softmax(mask(scores))",
        SCORES.masked_fill(~causal_mask(T, S), -math.inf).softmax(-1),
        ("mask", "softmax"),
        ["row"],
    ),
    ("embed(ids, table)", KEYS[[2, 0]], ("embed",), ["row", "found"]),
    ("exp(scores)", SCORES.exp(), ("exp",), ["same"]),
    ("MLP(queries)", QUERIES + 1, ("MLP",), ["row"]),
    ("causal_attention(queries)", QUERIES + 1, ("causal attention",), ["all"]),
]
KNOWN = {
    "queries": QUERIES,
    "keys": KEYS,
    "values": VALUES,
    "scores": SCORES,
    "weights": SCORES.softmax(-1),
    "merged": drawn(T, 4),
    "heads": HEADS,
    "allowed": causal_mask(T, S),
    "ids": torch.tensor([2, 0]),
    "table": KEYS,
}


@pytest.mark.parametrize(("text", "result", "labels", "hows"), FORMULAS)
def test_a_formula_is_read_and_holds(text, result, labels, hows):
    formula = read_formula("x", text, KNOWN | {"x": result}, {"D": D, "H": 2})
    assert formula.labels == labels
    assert [how for _, how in formula.sources] == hows


@pytest.mark.parametrize(("text", "result", "labels", "hows"), FORMULAS)
def test_a_tensor_that_its_formula_does_not_give_is_refused(text, result, labels, hows):
    if text.startswith(("MLP", "causal")):
        return  # what they compute isn't known here
    for place in itertools.product(*([0, size - 1] for size in result.shape)):
        wrong = result.clone()
        wrong[place] = 7.5
        with pytest.raises(
            ValueError, match=rf"parts\['x'\] must be {re.escape(text)}"
        ):
            read_formula("x", text, KNOWN | {"x": wrong}, {"D": D, "H": 2})


@pytest.mark.parametrize(
    ("text", "result", "message"),
    [
        ("ids @ table", KEYS[0], "must multiply grids or heads"),
        ("queries @ offsets.T", SCORES[0], "must multiply grids or heads"),
        ("queries.T @ weights", KEYS.T, "must transpose nothing but the second"),
        ("queries.T", QUERIES.T, "must transpose nothing but the second"),
        ("softmax(scores.T)", SCORES.T.softmax(-1), "must transpose nothing but"),
        ("queries + offsets", QUERIES + 1, "must join two grids of one shape"),
        ("mask(scores, offsets)", SCORES, "must join two grids of one shape"),
        ("embed(last, table)", KEYS[[-1]], "must take whole ids .* not negative"),
        ("embed(offsets, table)", KEYS[[1, 1, 1]], "must take whole ids"),
        ("embed(ids)", KEYS, "must give embed 2 of the parts"),
        ("embed()", KEYS, "must give embed 2 of the parts"),
        ("embed(ids, table, ids)", KEYS, "must give embed 2 of the parts"),
        ("attention()", KEYS, "must give attention 1 of the parts"),
        ("softmax(scores, dim=-1)", SCORES, "must give softmax 1 of the parts, and no"),
        ("scores / 2 # half", SCORES / 2, "must hold no comment"),
        ("softmax(mask(scores))", SCORES, r"at \[0, 0\] that is"),
        ("softmax(mask(scores))", 0 * SCORES, r"at \[0, 0\] that is"),
        ("softmax(mask(scores))", QUERIES, "doesn't fit shapes"),
        ("norm(queries)", KEYS, r"of shape \(5, 3\), got shape \(7, 3\)"),
        ("dropout(norm(queries))", KEYS, r"of shape \(5, 3\), got shape \(7, 3\)"),
        ("dropout(scores)", -3 * SCORES, "must grow by 1 to 1000 times, got -3"),
        ("dropout(scores)", 1e9 * SCORES, "must grow by 1 to 1000 times, got 1e.09"),
        ("dropout(scores)", SCORES / 2, "must grow by 1 to 1000 times, got 0.5"),
        ("small + small", torch.zeros(2, 3), r"at \[0, 0\] that is 2e-05, got 0"),
        ("small + small", torch.full((2, 3), -2e-5), "that is 2e-05, got -2e-05"),
    ],
)
def test_what_a_cell_comes_from_is_told_rightly_or_not_at_all(text, result, message):
    more = {
        "offsets": torch.ones(D),
        "last": torch.tensor([-1]),
        "small": torch.full((2, 3), 1e-5),
    }
    with pytest.raises(ValueError, match=message):
        read_formula("x", text, KNOWN | more | {"x": result}, {"D": D, "H": 2})


def test_another_spelling_of_a_known_name_says_nothing():
    formula = read_formula("x", "Softmax(scores)", KNOWN | {"x": SCORES}, {})
    assert formula.said == ""
    assert formula.sources == (("scores", "all"),)


@pytest.mark.parametrize(
    ("text", "result", "how"),
    [
        ("softmax(split(merged))", HEADS.softmax(-1), "all"),
        ("softmax(merge(heads))", merge_heads(HEADS).softmax(-1), "all"),
        ("softmax(row)", SCORES[0].softmax(-1), "all"),
    ],
)
def test_a_row_of_what_was_moved_comes_from_everything(text, result, how):
    known = KNOWN | {"row": SCORES[0], "x": result}
    assert read_formula("x", text, known, {"H": 2}).sources[0][1] == how


NAN, INF = torch.full((T, S), math.nan), torch.full((T, S), math.inf)


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        ({}, {}, "parts must be a dict of tensors by name"),
        ([QUERIES], {}, "parts must be a dict of tensors by name"),
        ({"two words": (QUERIES, "T, D")}, {}, "names of variables, got 'two words'"),
        ({"x": QUERIES}, {}, r"parts\['x'\] must be a tuple \(tensor, letters\)"),
        ({"x": (QUERIES,)}, {}, r"parts\['x'\] must be a tuple \(tensor, letters\)"),
        (
            {"x": ([[1.0]], "T, D")},
            {},
            r"parts\['x'\] must be a torch\.Tensor, got list",
        ),
        ({"x": (QUERIES, 2)}, {}, r"parts\['x'\] must hold texts after its tensor"),
        ({"x": (HEADS, "T, D")}, {}, r"one axis for each letter of 'T, D', got shape"),
        ({"x": (HEADS, "B, T, D")}, {}, r"a grid .* or heads .*such as x\[0\]"),
        ({"x": (HEADS[None], "B, H, T, D")}, {}, r"a grid .* such as x\[0\]"),
        (
            {"x": (torch.zeros(0, 3), "T, D")},
            {},
            r"must hold numbers, got shape \(0, 3\)",
        ),
        ({"x": (NAN, "T, S")}, {}, r"parts\['x'\] must hold finite numbers or minus"),
        ({"x": (INF, "T, S")}, {}, r"parts\['x'\] must hold finite numbers or minus"),
        (
            {"x": (torch.tensor([[1.0, -1e300]], dtype=torch.float64), "T, D")},
            {},
            "what float32 can't hold",
        ),
        ({"ids": (torch.tensor([2**24 + 1]), "T")}, {}, "up to 16777216, got 16777217"),
        (GIVEN | {"x": (KEYS, "T, D")}, {}, r"has T = 7, but parts\['queries'\] has T"),
        (
            {"x": (SCORES, "T, S", "softmax(scores)")},
            {},
            r"needs 'scores', but the parts before are none",
        ),
        ({"x": (SCORES, "T, S", "x + x")}, {}, "needs 'x', but the parts before"),
        (GIVEN | {"x": (SCORES, "T, S", "queries @")}, {}, "can't be read"),
        (
            GIVEN | {"x": (SCORES, "T, S", "queries @ keys.T + queries @ keys.T")},
            {},
            "must join at most two tensors",
        ),
        (GIVEN | {"x": (QUERIES, "T, D", "queries / √E")}, {}, "divides by 'sqrt.E.'"),
        (GIVEN | {"x": (QUERIES, "T, D", "queries @ keys")}, {}, "doesn't fit shapes"),
        (
            GIVEN | {"x": (QUERIES, "T, D", "queries @ keys.T")},
            {},
            r"must be queries @ keys\.T, of shape \(5, 7\), got shape \(5, 3\)",
        ),
        (
            GIVEN | {"x": (QUERIES, "T, D", "split(queries)")},
            {},
            "no shape has the letter",
        ),
        (GIVEN, {"new": ["score"]}, r"new must name parts .*, got \['score'\]"),
        (GIVEN, {"roles": {"x": "keys"}}, r"roles must name parts"),
        (GIVEN, {"roles": {"keys": "key"}}, r"roles\['keys'\] must be one of"),
        (GIVEN, {"names": {"T": ["a"]}}, r"names\['T'\] must name T = 5 places, got 1"),
        (GIVEN, {"names": {"T": 3}}, r"names\['T'\] must be a list of names, got int"),
        (GIVEN, {"names": {"T": iter("abcde")}}, r"names\['T'\] must be a list of"),
        (GIVEN, {"new": None}, "new must be a list of parts, got NoneType"),
        ({"class": (QUERIES, "T, D")}, {}, "names of variables, got 'class'"),
        ({"None": (QUERIES, "T, D")}, {}, "names of variables, got 'None'"),
        ({"x": (QUERIES.to("meta"), "T, D")}, {}, "as a dense tensor, got meta"),
        ({"x": (QUERIES.to_sparse(), "T, D")}, {}, "got cpu and torch.sparse_coo"),
        (GIVEN, {"names": {"X": ["a"]}}, r"names\['X'\] must name X = a letter of"),
    ],
)
def test_bad_input_is_named(parts, options, message):
    with pytest.raises(ValueError, match=message):
        diagram(parts, **options)


def test_eight_bit_floats_are_drawn():
    view = diagram({"x": (torch.tensor([[0.5, -1.0]]).to(torch.float8_e4m3fn), "T, D")})
    assert view.tables[-1].cells == [[0.5, -1.0]]


def test_nothing_given_is_changed():
    scores = SCORES.clone().requires_grad_()
    before = scores.clone()
    attention(scores)
    assert torch.equal(scores, before)
    assert scores.requires_grad
