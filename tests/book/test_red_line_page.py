"""The page from a red line to the bug: its cases fail, and are mended, as it says."""

import itertools
import re

import pytest

from attention_audit import CHECKS
from tests.book.test_bug_museum import BEHIND, MUSEUM
from tests.book.test_notebooks import CHAPTERS, READING
from tools import minutes, notebooks

PAGE = notebooks.read(CHAPTERS / "red_line_to_bug.ipynb")
CELLS = {cell.id: cell for cell in PAGE.cells}
TEXT = "\n".join(cell.source for cell in PAGE.cells if cell.cell_type == "markdown")
REPORT = re.compile(
    r"\[([\w./-]+) #(\d+)\]\(https://github\.com/\1/(?:issues|pull)/\2\), 20\d\d"
)
# The first red line of each case, others that the text names, and those that it calls
# green.
CASES = {
    "exchanged-layer": ("tokens reached", {"batch"}, set()),
    "normed-layer": (
        "short sequences",
        {"future grads", "one token"},
        {"hidden weights"},
    ),
    "blocks-layer": ("order", set(), set()),
    "window-layer": ("tokens reached", {"hidden weights", "cache"}, set()),
    "unread-layer": ("gradients", set(), set()),
    "exercise-layer": ("dropped weights", set(), set()),
}
MENDED = (
    *("exchanged-tell", "normed-mended", "blocks-mended", "window-mended"),
    "unread-mended",
)
pytestmark = pytest.mark.usefixtures("one_thread")


def printed(id_):
    return "".join(output.get("text", "") for output in CELLS[id_].outputs)


def red(text):
    """The checks that fail, by name, in the order in which they are printed."""
    return [name.strip() for name in re.findall(r"^(.{16})FAILS\b", text, re.M)]


def green(text):
    """The checks that pass, of those that a cell asks to see."""
    return {name.strip() for name in re.findall(r"^(.{16})passes\b", text, re.M)}


def test_the_page_has_its_parts():
    assert re.findall(r"^# (.+)$", TEXT, re.M) == ["From a red line to the bug"]
    for part in ("**You will be able to**", "**Know first:**", "**Time:** about "):
        assert part in CELLS["title"].source
    last = ["Exercises", "What to remember", "Sources"]
    assert re.findall(r"^## (.+)$", TEXT, re.M)[-3:] == last
    assert minutes.of_page(PAGE).minutes <= 21


def test_predictions_are_folded_and_their_answers_follow():
    folded = [
        id_ for id_, c in CELLS.items() if "hide-output" in c.metadata.get("tags", [])
    ]
    predicted = [
        after.id
        for cell, after in itertools.pairwise(PAGE.cells)
        if cell.cell_type == "markdown" and "**Predict:**" in cell.source
    ]
    assert folded == predicted
    assert len(folded) == len(CASES) - 2  # but for the first case and the exercise
    ids = list(CELLS)
    for id_ in folded:
        assert CELLS[ids[ids.index(id_) + 1]].source.startswith(READING)


def test_six_reports_that_the_museum_has_not():
    reports = {repository for repository, _ in REPORT.findall(TEXT)}
    assert len(reports) == len(CASES)
    for page in (MUSEUM, BEHIND):
        museum = (CHAPTERS / f"{page}.ipynb").read_text(encoding="utf-8")
        for repository, number in REPORT.findall(TEXT):
            assert f"{repository} #{number}" not in museum


@pytest.mark.parametrize("id_", CASES)
def test_a_case_fails_as_the_text_says(id_):
    first, others, passed = CASES[id_]
    found = red(printed(id_))
    assert set(found) <= set(CHECKS)
    assert found[0] == first
    assert others <= set(found[1:])
    assert passed == green(printed(id_))


def test_what_the_text_counts():
    assert "One bug turned six lines red" in CELLS["what-to-remember"].source
    assert len(red(printed("normed-layer"))) == 6
    assert "which of the three lines stay red" in CELLS["window-call"].source
    assert len(red(printed("window-layer"))) == 3
    assert red(printed("window-tell")) == ["cache"]


@pytest.mark.parametrize("id_", MENDED)
def test_what_is_mended_is_green(id_):
    last = printed(id_).splitlines()[-1]
    assert re.fullmatch(r"nothing is red; \d+ not applicable", last)


def test_each_call_tells_two_causes_apart():
    assert "batch           FAILS           batch element" in printed("exchanged-layer")
    attention, norm = map(float, printed("normed-tell").split())
    assert attention == 0
    assert norm > 0.01
    numbers = re.findall(r"\d+\.\d+", printed("blocks-tell"))
    assert [len(list(same)) for _, same in itertools.groupby(numbers)] == [4, 4, 1]
    assert printed("unread-tell").strip() == "0.0000"


def test_the_exercise_is_solved_by_its_solution(capsys):
    names = {}
    for id_ in ("setup", "red", "exercise-layer", "exercise-stub"):
        exec(CELLS[id_].source, names)
    assert red(capsys.readouterr().out) == ["dropped weights"] * 2
    block = re.search(r"```python\n(.+?)```", CELLS["exercise-solution"].source, re.S)
    exec(block[1], names)
    names["red"](names["Mended"](), dropout=0.1)
    assert capsys.readouterr().out.startswith("nothing is red; ")
    drawn = names["torch"].ones(1, 2, 9, 4)
    for kind, one in (("Dropped", True), ("Mended", False)):
        sums = names[kind]().weights(drawn, drawn).sum(dim=-1)
        assert bool((sums - 1).abs().max() < 1e-5) is one


def test_the_test_that_stays_passes_and_fails_on_the_bug():
    from attention_audit.fixture import require

    names = {}
    for id_ in ("setup", "red", "window-layer", "window-mended"):
        exec(CELLS[id_].source, names)
    block = re.search(r"```python\n(.+?)```", CELLS["test"].source, re.S)
    exec(block[1], names)
    names["test_steps_see_what_one_pass_sees"](require)
    names["Narrower"] = names["Windowed"]
    with pytest.raises(pytest.fail.Exception, match="cache"):
        names["test_steps_see_what_one_pass_sees"](require)
