"""The bug museum: each exhibit has its four parts, and they do what they say."""

import ast
import contextlib
import io
import re

import pytest
import torch
from torch import nn

from helpers import checks
from helpers.checks.auditing import LINES
from tests import ROOT
from tools import notebooks

PATH = ROOT / "chapters/bug_museum.ipynb"
NOTEBOOK = notebooks.read(PATH)
CELLS = {cell.id: cell for cell in NOTEBOOK.cells}
IDS = list(CELLS)
PARTS = ("bug", "symptom", "test", "cure")
# The mistakes found in five tutorial notebooks, and seven that were met elsewhere.
EXHIBITS = [
    "masked-fill-dropped",
    "mask-not-cut",
    "scale-of-two",
    "nn-modules",
    "one-hot-claim",
    "renormalising-claim",
    "mask-on-cpu",
    "batch-of-four",
    "sliced-features",
    "stale-cells",
    "careless-generate",
    "head-roles",
    "scale-of-model",
    "inverted-mask",
    "scores-as-mask",
    "view-without-transpose",
    "softmax-axis",
    "maps-without-mask",
    "cache-mask",
]
every_exhibit = pytest.mark.parametrize("slug", EXHIBITS)
pytestmark = pytest.mark.usefixtures("one_thread")


def part(slug, name):
    return CELLS[f"exhibit-{slug}-{name}"]


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def anchor(heading):
    """The anchor that Jupyter Book makes of a heading; JupyterLab makes the same."""
    assert re.fullmatch(r"[a-z ]+", heading), heading
    return heading.replace(" ", "-")


# --- the cells ------------------------------------------------------------------------


def test_the_museum_holds_nineteen_exhibits():
    found = [id_.removeprefix("exhibit-") for id_ in IDS if id_.startswith("exhibit-")]
    assert len(EXHIBITS) == 19
    assert sorted(found) == sorted(f"{s}-{name}" for s in EXHIBITS for name in PARTS)


@every_exhibit
def test_an_exhibit_stands_behind_its_label(slug):
    places = [IDS.index(f"exhibit-{slug}-{name}") for name in PARTS]
    assert places == list(range(places[0], places[0] + 4))
    label = CELLS[slug]
    assert label.cell_type == "markdown"
    assert places[0] - IDS.index(slug) in (1, 2)
    heading = re.findall(r"^### (.+)$", label.source, re.M)
    assert len(heading) == 1
    words = re.sub(r"^#+ .+$", "", label.source, flags=re.M).split()
    assert 30 <= len(words) <= 90


@every_exhibit
def test_buggy_code_says_so_in_its_first_line(slug):
    assert part(slug, "bug").source.startswith("# BUGGY: ")
    others = [cell.source for id_, cell in CELLS.items() if not id_.endswith("-bug")]
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


def test_the_checklist_leads_to_every_exhibit():
    headings = [
        re.search(r"^### (.+)$", CELLS[slug].source, re.M).group(1) for slug in EXHIBITS
    ]
    lines = re.findall(r"^- .+$", CELLS["checklist"].source, re.M)
    links = [re.findall(r"\[([^]]+)\]\(#([^)]+)\)", line) for line in lines]
    assert all(len(found) == 1 for found in links)
    assert sorted(text for ((text, _),) in links) == sorted(headings)
    assert all(target == anchor(text) for ((text, target),) in links)


def test_the_page_has_its_parts():
    text = "\n".join(c.source for c in NOTEBOOK.cells if c.cell_type == "markdown")
    assert re.findall(r"^# (.+)$", text, re.M) == ["The bug museum"]
    assert re.findall(r"^## (.+)$", text, re.M) == [
        "Silent broadcasting",
        "Axes",
        "State",
        "Randomness",
        "Devices",
        "Hidden notebook state",
        "Words",
        "A checklist for your own layer",
        "What to remember",
        "Sources",
    ]
    for start in ("**You will be able to**", "**Know first:**", "**Time:** about "):
        assert start in CELLS["title"].source


def test_the_page_counts_the_checks_and_the_failures_rightly():
    assert f"{len(LINES)} checks" in CELLS["title"].source
    assert f"All {len(LINES)} checks pass" in CELLS["audit-bad-question"].source
    assert f"{len(LINES)} pass, 0 fail" in printed(CELLS["audit-good"])
    assert "5 fail" in printed(CELLS["audit-bad"])
    assert CELLS["audit-all-question"].source.startswith("Five do:")
    failing = printed(CELLS["audit-all"])
    assert failing.count("future changed") == 4
    assert len(re.findall(r"^\w+ ", failing, re.M)) == 10 + 1
    assert "finds four of the ten wrong layers" in CELLS["what-to-remember"].source


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
    names, found = {}, {}
    for id_, cell in CELLS.items():
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
    with pytest.raises(Exception):  # noqa: B017, PT011
        this_test(mistaken)
    popular_test(cured)
    this_test(cured)


# --- the audit on the museum's layers -------------------------------------------------


@pytest.fixture(scope="module")
def buggy():
    """What the cells with mistakes and with cures define, and nothing else."""
    names = {}
    for id_ in ("setup", "good-layer"):
        exec(CELLS[id_].source, names)
    for slug in LAYERS:
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


ONE_HEAD, TWO_HEADS = (4, 4, 6), (4, 4, 6, 2)
LEAKS = {"future changed", "future slopes", "shorter texts", "one token"}
# The mistake's class and the cure's, their arguments, and the lines that must fail;
# those in the second set fail too, because of the same mistake.
LAYERS = {
    "mask-not-cut": (
        ("UncutMask", "CutMask", ONE_HEAD),
        {"shorter texts", "one token"},
        set(),
    ),
    "cache-mask": (
        ("CachedLayer", "CachedLayerCured", ONE_HEAD, InPieces),
        {"future changed", "future slopes"},
        LEAKS,
    ),
    "softmax-axis": (
        ("ColumnSoftmax", "RowSoftmax", ONE_HEAD),
        {"future changed", "future slopes"},
        LEAKS | {"order"},
    ),
    "view-without-transpose": (
        ("ViewedHeads", "TransposedHeads", TWO_HEADS),
        {"tokens reached"},
        {"shorter texts", "one token", "order"},
    ),
    "sliced-features": (
        ("SlicedHeads", "WholeHeads", (4, 6, 2)),
        {"features read"},
        set(),
    ),
    "scale-of-model": (("ScaledByModel", "ScaledByHead", TWO_HEADS), {"scale"}, set()),
    "masked-fill-dropped": (
        ("UnkeptMask", "KeptMask", ONE_HEAD),
        {"future changed", "future slopes"},
        LEAKS,
    ),
    "maps-without-mask": (
        ("UnmaskedMaps", "MaskedMaps", ONE_HEAD, WithMaps),
        {"future weights"},
        set(),
    ),
    "scores-as-mask": (
        ("ScoresAsMask", "MaskOfOnes", ONE_HEAD),
        {"future changed"},
        set(),
    ),
    "scale-of-two": (("ScaledByTwo", "ScaledByWidth", ONE_HEAD), {"scale"}, set()),
    "mask-on-cpu": (("MaskOnTheCPU", "MaskBesideScores", ONE_HEAD), {"devices"}, set()),
    "inverted-mask": (
        ("InvertedMask", "MaskTurned", ONE_HEAD),
        {"output shape", "future changed", "future slopes"},
        LEAKS | {"dtypes", "large inputs", "gradients"},
    ),
}


@pytest.mark.parametrize("slug", LAYERS)
def test_the_audit_finds_the_mistake_and_passes_the_cure(slug, buggy):
    (wrong, cured, sizes, *adapter), must, may = LAYERS[slug]
    adapter = adapter[0] if adapter else lambda layer: layer
    torch.manual_seed(123)
    found = checks.audit(adapter(buggy[wrong](*sizes)), 4, 6)
    assert must <= set(found.failed) <= must | may, found
    found = checks.audit(adapter(buggy[cured](*sizes)), 4, 6)
    assert found.ok, found


def test_the_weights_of_the_wrong_axis_are_found_where_they_are_returned(buggy):
    class Shown(buggy["ColumnSoftmax"]):
        def forward(self, x):
            return super().forward(x), self.weights(x)

    assert "row sums" in checks.audit(Shown(*ONE_HEAD), 4, 6).failed


@pytest.mark.slow
def test_renormalised_weights_fail_on_large_inputs(exhibits, buggy):
    weigh = exhibits["renormalising-claim"][2]

    class Renormalised(buggy["Layer"]):
        def weights(self, x):
            return weigh(self.scores(x))

    assert checks.audit(Renormalised(*ONE_HEAD), 4, 6).failed == ("large inputs",)


def test_every_layer_of_the_museum_is_audited(buggy):
    layers = {
        subject_of(part(slug, "test"), "this_test")
        for slug in EXHIBITS
        if "Layer)" in part(slug, "bug").source
        or "nn.Module)" in part(slug, "bug").source
    } - {"today"}
    assert layers == {names[0] for names, _, _ in LAYERS.values()}
