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
BEFORE_THE_EXHIBITS = ("setup", "good-layer", "tools-of-the-museum")
READING = "<details><summary>What the answer says</summary>\n\n"
EXHIBITS = {
    MUSEUM: [
        "masked-fill-dropped",
        "inverted-mask",
        "added-mask",
        "all-padding",
        "mixed-masks",
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
        "length-as-position",
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
        "Low precision",
        "A checklist for your own model",
    ],
}
TITLES = {MUSEUM: "The bug museum", BEHIND: "Bugs around the layer"}
# Where a mistake was met, with the year; or that nobody is known to have made it.
MET = re.compile(
    r"\bMet in (?:\[[\w./-]+ #\d+\]\(https://github\.com/[\w./-]+/(?:issues|pull)/\d+\)"
    r"|[\w-]+ [\d.]+), 20\d\d\b"
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
def test_a_wing_holds_its_exhibits(page):
    found = [id_ for id_ in CELLS[page] if id_.startswith("exhibit-")]
    expected = [f"exhibit-{s}-{name}" for s in EXHIBITS[page] for name in PARTS]
    assert found == expected
    count = {15: "fifteen", 16: "sixteen"}[len(EXHIBITS[page])]
    assert re.search(rf"\b{count} mistakes\b", CELLS[page]["title"].source, re.I)
    front = (ROOT / "chapters/index.md").read_text(encoding="utf-8")
    assert re.search(rf"\]\({page}\.ipynb\) \| {count} ", front)


@every_page
def test_a_wing_is_a_light_page(page):
    file = (ROOT / f"chapters/{page}.ipynb").read_bytes()
    assert len(gzip.compress(file)) <= LARGEST_COMPRESSED


@every_exhibit
def test_an_exhibit_follows_its_label(slug):
    ids = list(CELLS[PAGE_OF[slug]])
    start = ids.index(slug)
    expected = [slug, *(f"exhibit-{slug}-{name}" for name in PARTS)]
    if ids[start + 1] == "rotation":  # code that is right, and that the mistake needs
        expected.insert(1, "rotation")
    if f"{slug}-predict" in ids:
        place = expected.index(f"exhibit-{slug}-symptom")
        expected[place : place + 1] = [
            *(f"{slug}-predict", expected[place], f"{slug}-answer")
        ]
    assert ids[start : start + len(expected)] == expected
    assert label(slug).cell_type == "markdown"
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


@every_page
def test_six_exhibits_ask_first_and_fold_the_answer(page):
    cells = CELLS[page]
    asked = [
        id_.removesuffix("-predict")
        for id_, cell in cells.items()
        if cell.cell_type == "markdown" and "**Predict:**" in cell.source
    ]
    assert len(asked) == 6
    assert "t six " in cells["how-to-look"].source
    for slug in asked:
        assert cells[f"{slug}-predict"].source.startswith("**Predict:** ")
        assert cells[f"{slug}-answer"].source.startswith(READING)
    folded = [
        c.id for c in cells.values() if "hide-output" in c.metadata.get("tags", [])
    ]
    assert folded == [f"exhibit-{slug}-symptom" for slug in asked]


@every_exhibit
def test_the_symptom_is_seen(slug):
    assert printed(part(slug, "symptom")).strip()


@every_exhibit
def test_the_weaker_test_passes_and_the_catching_one_fails(slug):
    cell = part(slug, "test")
    mistakes = subjects_of(cell, "catching_test")
    assert printed(cell) == (
        "weaker test: passes\n" * len(mistakes)
        + "catching test: fails\n" * len(mistakes)
    )
    assert subjects_of(cell, "weaker_test") == mistakes
    for name in CLASS.findall(part(slug, "bug").source):
        assert name in mistakes
    for name in ("weaker test", "catching test"):
        assert re.search(
            rf'^report\("{name}", {name.replace(" ", "_")}, ', cell.source, re.M
        )
    assert ": passes" not in cell.source
    assert ": fails" not in cell.source


@every_exhibit
def test_the_cure_passes(slug):
    cell = part(slug, "cure")
    cured = subjects_of(cell, "catching_test")
    assert printed(cell) == "catching test: passes\n" * len(cured)
    assert ": passes" not in cell.source


@every_page
def test_the_checklist_leads_to_every_exhibit(page):
    headings = [
        re.search(r"^### (.+)$", label(slug).source, re.M).group(1)
        for slug in EXHIBITS[page]
    ]
    lines = re.findall(r"^- .+$", CELLS[page]["checklist"].source, re.M)
    links = [re.fullmatch(r"- \[.+\]\(#([a-z-]+)\)", line)[1] for line in lines]
    assert sorted(links) == sorted(map(anchor, headings))


@every_page
def test_the_page_has_its_parts(page):
    text = text_of(page)
    assert re.findall(r"^# (.+)$", text, re.M) == [TITLES[page]]
    last = ["What to remember", "Sources"]
    assert re.findall(r"^## (.+)$", text, re.M) == HEADINGS[page] + last
    for start in ("**You will be able to**", "**Know first:**", "**Time:** about "):
        assert start in CELLS[page]["title"].source


def test_the_wings_lead_to_each_other():
    assert f"]({BEHIND}.ipynb)" in text_of(MUSEUM)
    assert f"]({MUSEUM}.ipynb)" in text_of(BEHIND)


def test_the_page_counts_the_failures_rightly():
    cells = CELLS[MUSEUM]
    assert "all twelve wrong layers of this page" in cells["audit-question"].source
    rows = dict(re.findall(r"^(.{14}) (.+)$", printed(cells["audit-all"]), re.M))
    fine = {"the book's"}
    rows = {name.strip(): lines for name, lines in rows.items()}
    assert {name for name, lines in rows.items() if lines == "nothing"} == fine
    expected = {
        name for name, ((slug, *_), *_) in LAYERS.items() if slug in EXHIBITS[MUSEUM]
    }
    assert len(expected) == 12
    assert {*rows} - fine == expected - {"UnmaskedMaps"} | {
        "ReturnedMaps",
        "with out_proj",
    }
    assert sum("future changed" in lines for lines in rows.values()) == 6
    assert "finds six of the twelve wrong layers" in cells["what-to-remember"].source


# --- the tests, run -------------------------------------------------------------------


def subjects_of(cell, test):
    """The names that a cell reports a test on."""
    calls = [
        node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)
    ]
    return [
        ast.unparse(node.args[2])
        for node in calls
        if ast.unparse(node.func) == "report" and ast.unparse(node.args[1]) == test
    ]


@pytest.fixture(scope="module")
def exhibits(one_thread):
    """For each exhibit both tests, its mistakes and its cures, as objects."""
    found = {}
    for page in EXHIBITS:
        found |= exhibits_of(page)
    return found


def exhibits_of(page):
    """Each exhibit is run by itself: it finds what stands before the first of them."""
    cells, shared, found = CELLS[page], {}, {}
    with contextlib.redirect_stdout(io.StringIO()):
        for id_ in BEFORE_THE_EXHIBITS:
            exec(cells[id_].source, shared)
        for slug in EXHIBITS[page]:
            names = dict(shared)
            if slug == "rotated-again":
                exec(cells["rotation"].source, names)
            for name in PARTS:
                exec(cells[f"exhibit-{slug}-{name}"].source, names)
            tests = (names["weaker_test"], names["catching_test"])
            subjects = (
                [names[one] for one in subjects_of(part(slug, name), "catching_test")]
                for name in ("test", "cure")
            )
            found[slug] = (*tests, *subjects)
    return found


@pytest.mark.slow  # looks behind what the cells of the page print
@every_exhibit
def test_the_tests_do_what_the_page_says(slug, exhibits):
    weaker_test, catching_test, mistakes, cures = exhibits[slug]
    for mistaken in mistakes:
        weaker_test(mistaken)
        with pytest.raises(AssertionError):
            catching_test(mistaken)
    for cured in cures:
        weaker_test(cured)
        catching_test(cured)


@every_page
def test_a_broken_test_is_told_from_one_that_fails(page, capsys):
    names = {}
    for id_ in BEFORE_THE_EXHIBITS:
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
LEAKS = {"future changed", "future grads", "short sequences", "one token"}
LEAKS |= {"hidden weights", "large inputs"}
# For each class with a mistake its exhibit, the cure's class, their arguments, what
# calls them as the audit does, whether they know positions, and their window; then the
# lines that must fail, and those that fail too because of the same mistake.
LAYERS = {
    "ColumnSoftmax": (
        ("softmax-axis", "Layer", ONE_HEAD),
        {"future changed", "future grads", "row sums"},
        LEAKS | {"order", "scale"},
    ),
    "ViewedHeads": (
        ("view-without-transpose", "Layer", TWO_HEADS),
        {"tokens reached", "heads"},
        {"short sequences", "one token", "order"},
    ),
    "MergedHeads": (
        ("merged-without-transpose", "Layer", TWO_HEADS),
        {"future changed", "future grads", "tokens reached", "heads"},
        LEAKS | {"order"},
    ),
    "SlicedHeads": (
        ("sliced-features", "WholeHeads", (4, 6, 2)),
        {"features read"},
        set(),
    ),
    "ScaledByModel": (("scale-of-model", "Layer", TWO_HEADS), {"scale"}, set()),
    "UnkeptMask": (
        ("masked-fill-dropped", "Layer", ONE_HEAD),
        {"future changed", "future grads"},
        LEAKS,
    ),
    "AddedMask": (
        ("added-mask", "BooleanMask", ONE_HEAD),
        {"future changed", "future grads"},
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
    "MaskInNoBuffer": (("mask-on-cpu", "Layer", ONE_HEAD), {"devices"}, set()),
    "InvertedMask": (
        ("inverted-mask", "Layer", ONE_HEAD),
        {"future changed", "future grads"},
        LEAKS | {"tokens reached", "features read", "row sums"},
    ),
    "CachedLayer": (
        ("cache-mask", "Layer", ONE_HEAD, InPieces),
        {"future changed", "future grads"},
        LEAKS,
    ),
    "CausalFlag": (
        ("causal-one-query", "LowerRight", ONE_HEAD, InPieces),
        {"tokens reached"},
        {"short sequences", "order"},
    ),
    "Restarting": (
        ("restarted-positions", "Continuing", ONE_HEAD, InPieces, "positions"),
        {"short sequences"},
        set(),
    ),
    "RotatedAgain": (
        ("rotated-again", "RotatedOnce", ONE_HEAD, InPieces, "positions"),
        {"short sequences"},
        set(),
    ),
    "Dropping": (
        ("length-as-position", "Counting", ONE_HEAD, InPieces, "positions", 3),
        {"short sequences"},
        set(),
    ),
    "AlwaysDropping": (
        ("dropping-in-eval", "DroppingInTraining", ONE_HEAD, WithoutCache),
        {"eval repeats"},
        {
            "short sequences",
            "one token",
            "tokens reached",
            "features read",
            "order",
            "batch",
            "row sums",
        },
    ),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("wrong", LAYERS)
def test_the_audit_finds_the_mistake_and_passes_the_cure(wrong, buggy):
    (slug, cured, sizes, *more), must, may = LAYERS[wrong]
    adapter = more[0] if more else lambda layer: layer
    options = {"positions": len(more) > 1, "window": more[2] if more[2:] else None}
    names = buggy[PAGE_OF[slug]]
    torch.manual_seed(123)
    found = checks.audit(adapter(names[wrong](*sizes)), 4, 6, **options)
    assert must <= set(found.failed) <= must | may, found
    found = checks.audit(adapter(names[cured](*sizes)), 4, 6, **options)
    assert found.ok, found


@pytest.mark.slow
def test_renormalised_weights_fail_on_large_inputs(exhibits, buggy):
    (weigh,) = exhibits["zeroed-after-softmax"][2]

    class Renormalised(buggy[MUSEUM]["Layer"]):
        def weights(self, x):
            return weigh(self.scores(x))

    assert checks.audit(Renormalised(*ONE_HEAD), 4, 6).failed == ("large inputs",)


class Shared(nn.Module):
    """Four heads that share two of keys and values, as ``share`` repeats them."""

    num_heads = 4

    def __init__(self, share):
        super().__init__()
        self.share = share
        self.W_query = nn.Linear(4, 8, bias=False)
        self.W_key = nn.Linear(4, 4, bias=False)
        self.W_value = nn.Linear(4, 4, bias=False)

    def forward(self, x):
        parts = (self.W_query(x), self.W_key(x), self.W_value(x))
        queries, keys, values = (
            one.unflatten(-1, (-1, 2)).transpose(1, 2) for one in parts
        )
        context = nn.functional.scaled_dot_product_attention(
            queries, self.share(keys, 4), self.share(values, 4), is_causal=True
        )
        return context.transpose(1, 2).flatten(2)


class Masked(nn.MultiheadAttention):
    """PyTorch's layer with a mask for each head; a token sees itself at least."""

    def __init__(self, masks_of):
        super().__init__(4, 2, batch_first=True)
        self.masks_of = masks_of

    def forward(self, x, real=None):
        (B, T), device = x.shape[:2], x.device
        hidden = torch.ones(B, T, T, device=device).triu(1).bool()
        if real is not None:
            hidden |= ~real[:, None] & ~torch.eye(T, device=device).bool()
        return super().forward(x, x, x, attn_mask=self.masks_of(hidden, 2))


def padded(layer, x, real):
    return layer(x, real)


@pytest.mark.slow
def test_functions_of_the_museum_fail_the_lines_that_the_page_names(exhibits, buggy):
    class Padded(buggy[MUSEUM]["Layer"]):
        def __init__(self, weigh):
            super().__init__(*ONE_HEAD)
            self.weigh = weigh

        def forward(self, x, real=None):
            if real is None:
                return super().forward(x)
            scores = self.scores(x)
            future = torch.ones_like(scores[0, 0]).triu(1).bool()
            scores = scores.masked_fill(future, -1e9)
            return self.merge(self.weigh(scores, real) @ self.split(self.W_value(x)))

    text = CELLS[MUSEUM]["audit-question"].source
    for slug, kind, line, options in [
        ("repeated-heads", Shared, "heads", {"num_heads": 4, "num_kv_heads": 2}),
        ("mixed-masks", Masked, "padding", {"padding": padded}),
        ("all-padding", Padded, "padding", {"padding": padded}),
    ]:
        _, _, (wrong,), (cured,) = exhibits[slug]
        assert f"`{line}`" in text
        torch.manual_seed(123)
        assert checks.audit(kind(wrong), 4, 6, **options).failed == (line,)
        assert checks.audit(kind(cured), 4, 6, **options).ok
    assert "`large inputs`" in text


@pytest.mark.slow
def test_both_wings_take_either_convention_for_an_empty_row(exhibits):
    def itself_alone(scores, real):
        seen = real[:, None, None, :] | torch.eye(real.shape[1]).bool()
        return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1).where(seen, 0)

    def zeros(scores, real):
        seen = torch.ones_like(scores).tril().bool() & real
        weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
        return weights.nan_to_num(0)

    exhibits["all-padding"][1](itself_alone)
    exhibits["lowest-numbers"][1](zeros)
    other = "bug_museum_behind_the_layer.ipynb#" + anchor(
        "the lowest number added twice"
    )
    assert other in label("all-padding").source
    first = "bug_museum.ipynb#" + anchor("a text of nothing but padding")
    assert first in label("lowest-numbers").source


def test_a_mask_that_is_not_cut_fails_on_short_texts(buggy):
    class Uncut(buggy[MUSEUM]["Layer"]):
        def weights(self, x):
            scores = self.scores(x).masked_fill(~self.mask, -torch.inf)
            return scores.softmax(dim=-1)

    found = checks.audit(Uncut(*ONE_HEAD), 4, 6)
    assert found.failed == ("short sequences", "one token")


def test_every_layer_of_the_museum_is_audited():
    found = {
        (name, slug)
        for slug in PAGE_OF
        for name in CLASS.findall(part(slug, "bug").source)
    }
    assert found == {(name, what[0]) for name, (what, _, _) in LAYERS.items()}
