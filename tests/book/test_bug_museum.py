"""The bug museum: each exhibit has its four parts, and they do what they say."""

import ast
import contextlib
import functools
import gzip
import io
import re

import pytest
import torch
from torch import nn

from helpers import checks
from tests import ROOT
from tools import notebooks

MUSEUM, BEHIND = "bug_museum", "bug_museum_behind_the_layer"
PARTS = ("bug", "symptom", "test", "cure")
EXHIBITS = {
    MUSEUM: [
        "masked-fill-dropped",
        "inverted-mask",
        "added-mask",
        "all-padding",
        "mask-not-cut",
        "scores-as-mask",
        "mask-on-cpu",
        "maps-without-mask",
        "softmax-axis",
        "zeroed-after-softmax",
        "scale-of-model",
        "view-without-transpose",
        "merged-without-transpose",
        "sliced-features",
        "repeated-heads",
    ],
    BEHIND: [
        "cache-mask",
        "causal-one-query",
        "restarted-positions",
        "rotated-again",
        "left-padding",
        "mixed-layouts",
        "six-slopes",
        "shifted-twice",
        "counted-padding",
        "packed-documents",
        "dropping-in-eval",
        "careless-generate",
        "untied-weights",
        "lowest-numbers",
        "stalled-sum",
    ],
}
HEADINGS = {
    MUSEUM: ["Masks", "Softmax", "Heads", "A checklist for your own layer"],
    BEHIND: [
        "Caches",
        "Positions",
        "Losses and batches",
        "Modes and weights",
        "Short numbers",
        "A checklist for your own model",
    ],
}
TITLES = {MUSEUM: "The bug museum", BEHIND: "Bugs behind the layer"}
# Where a mistake was met, with the year; or that nobody is known to have made it.
MET = re.compile(
    r"\bMet in \[[\w./-]+ #\d+\]\(https://github\.com/[\w./-]+/(?:issues|pull)/\d+\), "
    r"20\d\d\b"
)
BUILT = "Built for this museum."
LARGEST_COMPRESSED = 200_000
CELLS = {
    page: {
        cell.id: cell for cell in notebooks.read(ROOT / f"chapters/{page}.ipynb").cells
    }
    for page in EXHIBITS
}
PAGE_OF = {slug: page for page, slugs in EXHIBITS.items() for slug in slugs}
every_page = pytest.mark.parametrize("page", EXHIBITS)
every_exhibit = pytest.mark.parametrize("slug", PAGE_OF)
pytestmark = pytest.mark.usefixtures("one_thread")


def part(slug, name):
    return CELLS[PAGE_OF[slug]][f"exhibit-{slug}-{name}"]


def label(slug):
    return CELLS[PAGE_OF[slug]][slug]


def text_of(page):
    cells = CELLS[page].values()
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def anchor(heading):
    """The anchor that Jupyter Book makes of a heading; JupyterLab makes the same."""
    assert re.fullmatch(r"[a-z ]+", heading), heading
    return heading.replace(" ", "-")


# --- the cells ------------------------------------------------------------------------


@every_page
def test_a_wing_holds_its_fifteen_exhibits(page):
    found = [id_ for id_ in CELLS[page] if id_.startswith("exhibit-")]
    expected = [f"exhibit-{s}-{name}" for s in EXHIBITS[page] for name in PARTS]
    assert found == expected
    assert len(EXHIBITS[page]) == 15
    assert re.search(r"\bfifteen mistakes\b", CELLS[page]["title"].source, re.I)


@every_page
def test_a_wing_is_a_light_page(page):
    file = (ROOT / f"chapters/{page}.ipynb").read_bytes()
    assert len(gzip.compress(file)) <= LARGEST_COMPRESSED


@every_exhibit
def test_an_exhibit_stands_behind_its_label(slug):
    ids = list(CELLS[PAGE_OF[slug]])
    places = [ids.index(f"exhibit-{slug}-{name}") for name in PARTS]
    assert places == list(range(places[0], places[0] + 4))
    assert label(slug).cell_type == "markdown"
    assert places[0] - ids.index(slug) in (1, 2)
    heading = re.findall(r"^### (.+)$", label(slug).source, re.M)
    assert len(heading) == 1
    words = re.sub(r"^#+ .+$", "", label(slug).source, flags=re.M).split()
    assert 30 <= len(words) <= 90


@every_exhibit
def test_a_label_says_where_the_mistake_was_met(slug):
    text = label(slug).source
    assert bool(MET.search(text)) != (BUILT in text)


@every_exhibit
def test_buggy_code_says_so_in_its_first_line(slug):
    assert part(slug, "bug").source.startswith("# BUGGY: ")
    cells = CELLS[PAGE_OF[slug]].items()
    others = [cell.source for id_, cell in cells if not id_.endswith("-bug")]
    assert not [source for source in others if "BUGGY" in source]


@every_exhibit
def test_the_symptom_is_seen(slug):
    assert printed(part(slug, "symptom")).strip()


@every_exhibit
def test_the_popular_test_passes_and_this_one_fails(slug):
    cell = part(slug, "test")
    assert printed(cell) == "popular test: passes\nthis test: fails\n"
    for name in ("popular test", "this test"):
        assert re.search(
            rf'^report\("{name}", {name.replace(" ", "_")}, ', cell.source, re.M
        )
    assert ": passes" not in cell.source
    assert ": fails" not in cell.source


@every_exhibit
def test_the_cure_passes(slug):
    cell = part(slug, "cure")
    assert printed(cell).split("\n")[-2] == "this test: passes"
    assert ": passes" not in cell.source


@every_page
def test_the_checklist_leads_to_every_exhibit(page):
    headings = [
        re.search(r"^### (.+)$", label(slug).source, re.M).group(1)
        for slug in EXHIBITS[page]
    ]
    lines = re.findall(r"^- .+$", CELLS[page]["checklist"].source, re.M)
    links = [re.findall(r"\[([^]]+)\]\(#([^)]+)\)", line) for line in lines]
    assert all(len(found) == 1 for found in links)
    assert sorted(text for ((text, _),) in links) == sorted(headings)
    assert all(target == anchor(text) for ((text, target),) in links)


@every_page
def test_the_page_has_its_parts(page):
    text = text_of(page)
    assert re.findall(r"^# (.+)$", text, re.M) == [TITLES[page]]
    last = ["What to remember", "Sources"]
    assert re.findall(r"^## (.+)$", text, re.M) == HEADINGS[page] + last
    for start in ("**You will be able to**", "**Know first:**", "**Time:** about 45 "):
        assert start in CELLS[page]["title"].source


def test_the_wings_lead_to_each_other():
    assert f"]({BEHIND}.ipynb)" in text_of(MUSEUM)
    assert f"]({MUSEUM}.ipynb)" in text_of(BEHIND)


def test_the_page_counts_the_failures_rightly():
    cells = CELLS[MUSEUM]
    assert "ten of this page's wrong layers" in cells["audit-question"].source
    failing = printed(cells["audit-all"])
    assert failing.count("future changed") == 4
    assert len(re.findall(r"^\w+ ", failing, re.M)) == 10 + 1
    assert "finds four of the ten wrong layers" in cells["what-to-remember"].source


# --- the tests, run -------------------------------------------------------------------


def subject_of(cell, test):
    """The name that a cell reports a test on."""
    for node in ast.walk(ast.parse(cell.source)):
        is_report = isinstance(node, ast.Call) and ast.unparse(node.func) == "report"
        if is_report and ast.unparse(node.args[1]) == test:
            return ast.unparse(node.args[2])
    raise AssertionError(f"{cell.id} reports no {test}")


@pytest.fixture(scope="module")
def exhibits(one_thread):
    """For each exhibit both tests, the mistake and the cure, as objects."""
    found = {}
    for page in EXHIBITS:
        found |= exhibits_of(CELLS[page])
    return found


def exhibits_of(cells):
    names, found = {}, {}
    for id_, cell in cells.items():
        if cell.cell_type != "code" or id_.startswith("audit-"):
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            exec(cell.source, names)
        slug = id_.removeprefix("exhibit-").rpartition("-")[0]
        if id_.endswith("-test"):
            tests = (names["popular_test"], names["this_test"])
            mistaken = names[subject_of(cell, "this_test")]
            assert mistaken is names[subject_of(cell, "popular_test")]
            found[slug] = [*tests, mistaken]
        if id_.endswith("-cure"):
            found[slug].append(names[subject_of(cell, "this_test")])
    return found


@pytest.mark.slow  # looks behind what the cells of the page print
@every_exhibit
def test_the_tests_do_what_the_page_says(slug, exhibits):
    popular_test, this_test, mistaken, cured = exhibits[slug]
    popular_test(mistaken)
    with pytest.raises(AssertionError):
        this_test(mistaken)
    popular_test(cured)
    this_test(cured)


@every_page
def test_a_broken_test_is_told_from_one_that_fails(page, capsys):
    names = {}
    for id_ in ("setup", "good-layer", "tools-of-the-museum"):
        exec(CELLS[page][id_].source, names)
    capsys.readouterr()
    for code in ("assert x == 1", "assert x == 2", "assert x / 0"):
        names["report"]("a test", functools.partial(exec, code), {"x": 1})
    said = ["passes", "fails", "is broken, ZeroDivisionError"]
    assert capsys.readouterr().out == "".join(f"a test: {one}\n" for one in said)


# --- the audit on the museum's layers -------------------------------------------------


@pytest.fixture(scope="module")
def buggy():
    """What a page's cells with mistakes and with cures define, and nothing else."""
    return {page: classes_of(page) for page in EXHIBITS}


def classes_of(page):
    names = {}
    for id_ in ("setup", "good-layer", "rotation"):
        if id_ in CELLS[page]:
            exec(CELLS[page][id_].source, names)
    for slug in EXHIBITS[page]:
        if CLASS.search(part(slug, "bug").source):
            exec(part(slug, "bug").source, names)
            cure = part(slug, "cure").source
            exec(cure[: cure.index("\nreport(")], names)
    return names


class InPieces(nn.Module):
    """A layer with a cache, called as one without: it reads a text in two pieces."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        half = x.shape[1] // 2
        if half == 0:
            return self.layer(x)[0]
        first, cache = self.layer(x[:, :half])
        return torch.cat([first, self.layer(x[:, half:], cache)[0]], dim=1)


class WithMaps(nn.Module):
    """A layer with a method for plots, called as one that returns weights."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x), self.layer.maps(x)


class WithoutCache(nn.Module):
    """A layer with a cache, called as one without: it reads the text at once."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


CLASS = re.compile(r"^class (\w+)\((?:Layer|nn\.Module)\):", re.M)
ONE_HEAD, TWO_HEADS = (4, 4, 6), (4, 4, 6, 2)
LEAKS = {"future changed", "future slopes", "shorter texts", "one token"}
LEAKS |= {"hidden weights", "large inputs"}
# For each class with a mistake its exhibit, the cure's class, their arguments, what
# calls them as the audit does, and whether they know positions; then the lines that
# must fail, and those that fail too because of the same mistake.
LAYERS = {
    "UncutMask": (
        ("mask-not-cut", "CutMask", ONE_HEAD),
        {"shorter texts", "one token"},
        set(),
    ),
    "ColumnSoftmax": (
        ("softmax-axis", "RowSoftmax", ONE_HEAD),
        {"future changed", "future slopes", "row sums"},
        LEAKS | {"order", "scale"},
    ),
    "ViewedHeads": (
        ("view-without-transpose", "TransposedHeads", TWO_HEADS),
        {"tokens reached"},
        {"shorter texts", "one token", "order"},
    ),
    "MergedHeads": (
        ("merged-without-transpose", "TransposedBack", TWO_HEADS),
        {"future changed", "future slopes", "tokens reached"},
        LEAKS | {"order"},
    ),
    "SlicedHeads": (
        ("sliced-features", "WholeHeads", (4, 6, 2)),
        {"features read"},
        set(),
    ),
    "ScaledByModel": (("scale-of-model", "ScaledByHead", TWO_HEADS), {"scale"}, set()),
    "ScaledByTwo": (("scale-of-model", "ScaledByHead", ONE_HEAD), {"scale"}, set()),
    "UnkeptMask": (
        ("masked-fill-dropped", "KeptMask", ONE_HEAD),
        {"future changed", "future slopes"},
        LEAKS,
    ),
    "AddedMask": (
        ("added-mask", "BooleanMask", ONE_HEAD),
        {"future changed", "future slopes"},
        LEAKS,
    ),
    "UnmaskedMaps": (
        ("maps-without-mask", "MaskedMaps", ONE_HEAD, WithMaps),
        {"hidden weights", "weights shown"},
        set(),
    ),
    "ScoresAsMask": (
        ("scores-as-mask", "MaskOfOnes", ONE_HEAD),
        {"future changed"},
        set(),
    ),
    "MaskOnTheCPU": (
        ("mask-on-cpu", "MaskBesideScores", ONE_HEAD),
        {"devices"},
        set(),
    ),
    "InvertedMask": (
        ("inverted-mask", "MaskTurned", ONE_HEAD),
        {"output shape", "future changed", "future slopes"},
        LEAKS | {"tokens reached", "row sums", "dtypes", "gradients"},
    ),
    "CachedLayer": (
        ("cache-mask", "CachedLayerCured", ONE_HEAD, InPieces),
        {"future changed", "future slopes"},
        LEAKS,
    ),
    "CausalFlag": (
        ("causal-one-query", "LowerRight", ONE_HEAD, InPieces),
        {"tokens reached"},
        {"shorter texts", "order"},
    ),
    "Restarting": (
        ("restarted-positions", "Continuing", ONE_HEAD, InPieces, "positions"),
        {"shorter texts"},
        set(),
    ),
    "RotatedAgain": (
        ("rotated-again", "RotatedOnce", ONE_HEAD, InPieces, "positions"),
        {"shorter texts"},
        set(),
    ),
    "AlwaysDropping": (
        ("dropping-in-eval", "DroppingInTraining", ONE_HEAD, WithoutCache),
        {"eval repeats"},
        {"shorter texts", "one token", "tokens reached", "order", "batch", "row sums"},
    ),
}


@pytest.mark.parametrize("wrong", LAYERS)
def test_the_audit_finds_the_mistake_and_passes_the_cure(wrong, buggy):
    (slug, cured, sizes, *more), must, may = LAYERS[wrong]
    adapter = more[0] if more else lambda layer: layer
    positions = len(more) > 1
    names = buggy[PAGE_OF[slug]]
    torch.manual_seed(123)
    found = checks.audit(adapter(names[wrong](*sizes)), 4, 6, positions=positions)
    assert must <= set(found.failed) <= must | may, found
    found = checks.audit(adapter(names[cured](*sizes)), 4, 6, positions=positions)
    assert found.ok, found


@pytest.mark.slow
def test_renormalised_weights_fail_on_large_inputs(exhibits, buggy):
    weigh = exhibits["zeroed-after-softmax"][2]

    class Renormalised(buggy[MUSEUM]["Layer"]):
        def weights(self, x):
            return weigh(self.scores(x))

    assert checks.audit(Renormalised(*ONE_HEAD), 4, 6).failed == ("large inputs",)


def test_every_layer_of_the_museum_is_audited():
    found = {
        (name, slug)
        for slug in PAGE_OF
        for name in CLASS.findall(part(slug, "bug").source)
    }
    assert found == {(name, what[0]) for name, (what, _, _) in LAYERS.items()}
