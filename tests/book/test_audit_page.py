"""The page of the audit: it has every check, and what it says of them is so."""

import re
import shlex
import sys

import pytest
import torch

from attention_audit import CHECKS, command
from attention_audit.fixture import require
from helpers import checks
from tests import ROOT
from tests.book.test_bug_museum import (
    BEHIND,
    EXHIBITS,
    LAYERS,
    WithoutCache,
    anchor,
    classes_of,
    label,
)
from tests.book.test_notebooks import CHAPTERS, READING
from tools import corpora, notebooks

CELLS = {cell.id: cell for cell in notebooks.read(CHAPTERS / "audit.ipynb").cells}
PROSE = {
    id_: cell.source for id_, cell in CELLS.items() if cell.cell_type == "markdown"
}
CODE = {id_: cell.source for id_, cell in CELLS.items() if cell.cell_type == "code"}
# For each check its entry, three lines of text.
ENTRY = re.compile(
    r"^- `([^`]+)`: (\S.*\.\n  \*Mistake:\* .*\.\n  \*Look at\* .*\.)$", re.M
)
ENTRIES = ENTRY.findall("\n".join(PROSE.values()))
LINK = re.compile(r"\[([^]]+)\]\((\w+)\.ipynb#([\w-]+)\)")
HEADINGS = {
    (page, re.search(r"^### (.+)$", label(slug).source, re.M)[1]): slug
    for page, slugs in EXHIBITS.items()
    for slug in slugs
}
# Exhibits with a cache: the museum's tests read a text in pieces to show their mistake.
CACHED = [name for name, ((slug, *_), *_) in LAYERS.items() if slug in EXHIBITS[BEHIND]]
CACHED.remove("AlwaysDropping")
pytestmark = pytest.mark.usefixtures("one_thread")


def printed(id_):
    return "".join(output.get("text", "") for output in CELLS[id_].outputs)


def failing(id_):
    return re.findall(r"^(.{16})FAILS ", printed(id_), re.M)


def fenced(language):
    """The blocks of code in the prose that no cell runs."""
    blocks = re.findall(
        r"^```(\w*)\n(.*?)^```$", "\n".join(PROSE.values()), re.M | re.S
    )
    return [block for name, block in blocks if name == language]


# --- the page -------------------------------------------------------------------------


def test_the_page_has_its_parts():
    text = "\n".join(PROSE.values())
    assert re.findall(r"^# (.+)$", text, re.M) == ["The audit"]
    for start in ("**You will be able to**", "**Know first:**", "**Time:** about "):
        assert start in PROSE["title"]
    last = ["What to remember", "Sources"]
    assert re.findall(r"^## (.+)$", text, re.M)[-2:] == last


def test_the_one_prediction_is_folded_with_its_answer():
    ids = list(CELLS)
    place = ids.index("audit-bad")
    assert [id_ for id_, text in PROSE.items() if "**Predict:**" in text] == [
        ids[place - 1]
    ]
    assert CELLS["audit-bad"].metadata["tags"] == ["hide-output"]
    assert CELLS[ids[place + 1]].source.startswith(READING)


# --- every check ----------------------------------------------------------------------


def test_each_check_has_one_entry_in_the_order_of_the_table():
    assert [name for name, _ in ENTRIES] == list(CHECKS)
    bullets = [
        line
        for id_, text in PROSE.items()
        if id_.startswith("lines-")
        for line in re.findall(r"^- .*$", text, re.M)
    ]
    assert len(bullets) == len(ENTRIES)


def test_an_entry_leads_to_exhibits_of_the_museum():
    found = LINK.findall("".join(text for _, text in ENTRIES))
    assert len(found) > 20
    for title, page, target in found:
        assert (page, title) in HEADINGS
        assert target == anchor(title)


@pytest.mark.parametrize("wrong", LAYERS)
def test_an_exhibit_is_linked_at_a_check_that_it_fails(wrong):
    (slug, *_), must, _ = LAYERS[wrong]
    linked = {
        name
        for name, text in ENTRIES
        for title, page, _ in LINK.findall(text)
        if HEADINGS[page, title] == slug
    }
    assert linked & (must | ({"cache"} if wrong in CACHED else set()))


@pytest.fixture(scope="module")
def behind():
    return classes_of(BEHIND)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("wrong", CACHED)
def test_an_exhibit_with_a_cache_fails_that_check(wrong, behind):
    (_, cured, sizes, *more), _, _ = LAYERS[wrong]

    def step(module, x, cache):
        return module.layer(x) if cache is None else module.layer(x, cache)

    for name, expected in ((wrong, ("cache",)), (cured, ())):
        torch.manual_seed(123)
        layer = WithoutCache(behind[name](*sizes))
        window = more[2] if more[2:] else None
        options = {"positions": len(more) > 1, "window": window, "step": step}
        found = checks.audit(layer, 4, 6, **options)
        assert found.failed == expected


def test_patterns_of_checks_are_those_of_the_museum():
    alone = [must for _, must, may in LAYERS.values() if not may]
    # With the masks of test_renormalised_weights_fail_on_large_inputs and of
    # test_a_mask_that_is_not_cut_fails_on_short_texts.
    alone += [{"large inputs"}, {"short sequences", "one token"}]
    for line in re.findall(r"^- (`.*?):", PROSE["which-first"], re.M):
        names = set(re.findall(r"`([^`]+)`", line))
        assert names <= set(CHECKS)
        assert not line.endswith(" alone") or names in alone


# --- what the cells print -------------------------------------------------------------


def test_the_page_counts_rightly():
    assert f"{len(CHECKS)} checks" in PROSE["title"]
    rows = re.findall(r"^(.{16})(?:pass|FAIL|not )", printed("audit-good"), re.M)
    assert [row.strip() for row in rows] == list(CHECKS)
    assert " 0 fail, 4 not applicable" in printed("audit-good")
    assert "four checks here" in PROSE["your-own"]
    assert len(failing("audit-bad")) == 7
    assert "\n\nSeven checks fail for two mistakes" in PROSE["audit-bad-answer"]
    assert len(failing("audit-mended")) == 1
    assert PROSE["which-first"].startswith("With the mask kept, six of the seven pass.")
    assert len(failing("grouped")) == 3
    assert PROSE["undeclared"].startswith("Three checks fail, and none for a mistake")
    assert printed("declared") == printed("wrapper") == "0 of 30 checks fail\n"


def test_what_a_check_asks_for_is_shown_by_a_cell():
    options = set(checks.audit.__kwdefaults__)
    missing = re.sub(r"\n +", " ", printed("audit-good"))
    reasons = re.findall(r"^.{16}not applicable  (.*)$", missing, re.M)
    assert len(reasons) == 4
    declared = CODE["declared"]
    for reason in reasons:
        (name,) = options & set(re.findall(r"\w+", reason))
        assert f"    {name}=" in declared


def test_every_option_is_explained():
    named = re.findall(r"`(\w+)(?:=[^`]*)?`", PROSE["declare"])
    assert set(checks.audit.__kwdefaults__) <= set(named)


def test_the_authors_layers_are_counted_as_recorded():
    rows = re.findall(
        r"^\| (?:the|ten) [\w ]+ \| (\d.*) \| (.*) \|$", PROSE["tried"], re.M
    )
    hands = [*corpora.layers.HANDS.values()]
    for row, met in zip(rows, (hands[:1], hands[1:-2], hands[-2:]), strict=True):
        for said, counts in zip(row, zip(*met, strict=True), strict=True):
            assert said == "{} of {}".format(*map(sum, zip(*counts, strict=True)))
    expected, members = corpora.LAYERS.expected(), corpora.LAYERS.members
    passed = {
        kind: [expected[str(one)]["accepted"] for one in members if one.right is kind]
        for kind in (True, False)
    }
    right, wrong = len(passed[True]), len(passed[False])
    today = f"passes {sum(passed[True])} of {right} of their right layers and fails "
    failing = wrong - sum(passed[False])
    assert f"{today}{failing} of {wrong} of the wrong ones" in PROSE["tried"]


# --- what a reader copies -------------------------------------------------------------

LAYERS_OF_A_READER = """
from helpers.attention import MultiHeadAttention

class MyAttention(MultiHeadAttention):
    def __init__(self, d_in, d_out, num_heads):
        super().__init__(d_in, d_out, 9, 0.0, num_heads)

def make_small():
    return MyAttention(16, 16, 4)

def padded(module, x, real):
    return x
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A reader's folder with their layers, the current one."""
    (tmp_path / "layers.py").write_text(LAYERS_OF_A_READER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield
    sys.modules.pop("layers", None)


def test_the_commands_run(project, capsys):
    lines = "".join(fenced("sh")).replace("\\\n", "").splitlines()
    assert len(lines) == 3
    for line in lines:
        name, *arguments = shlex.split(line)
        assert name == "attention-audit"
        # The function above is no padding mask.
        wrong = ["--allow", "padding"] if "--padding" in arguments else []
        assert command.main([*arguments, *wrong]) == 0, capsys.readouterr().out


def test_the_command_of_the_readme_runs(project, capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^attention-audit (.*)", readme, re.MULTILINE)
    assert command.main(shlex.split(line)) == 0, capsys.readouterr().out


def test_the_python_runs(project):
    audited, tested = fenced("python")
    names = {}
    exec(f"from layers import MyAttention\n{audited}", names)
    exec(tested, names)
    with pytest.warns(UserWarning, match="allowed to fail, but doesn't: scale"):
        names["test_my_attention"](require)
