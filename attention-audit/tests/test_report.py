"""What an audit found, as text, as a table of HTML and as plain values."""

import html.parser
import json
import pickle
import re

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import attention_audit
from attention_audit import Audit, Row
from attention_audit.causes import CAUSES, PARTS
from attention_audit.patterns import PATTERNS, told

ROWS = (
    Row("one token", "passes", "T = 1"),
    Row("scale", "FAILS", "divides by 4.00; √D is 2.00"),
    Row("order", "FAILS", "moves by 0.5"),
    Row("dropout", "not applicable", "no dropout"),
)
FOUND = Audit("Mine", ROWS)


class Table(html.parser.HTMLParser):
    """What a browser makes of a table: its rows, its caption, all tags, all styles."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.caption, self.tags, self.styles = [], "", [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.styles.append(dict(attributes).get("style", ""))
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows:
            self.rows[-1][-1] += data
        else:
            self.caption += data


def test_the_html_table_says_what_the_text_says():
    table = Table(FOUND.html())
    assert table.caption == "audit of Mine: 1 pass, 2 fail, 1 not applicable"
    cells = [[row.check, row.result, row.reason] for row in ROWS]
    assert table.rows == [["check", "result", "reason"], *cells]
    assert FOUND._repr_html_() == FOUND.html()
    assert str(FOUND).splitlines()[-1] in table.caption


def test_rows_that_fail_stand_out_by_bold_words_and_a_line():
    _, *rows = re.findall(r"<tr>.*?</tr>", FOUND.html())
    for row, said in zip(rows, ROWS, strict=True):
        fails = said.result == "FAILS"
        assert ("<strong>FAILS</strong>" in row) == fails
        assert ("border-left" in row) == fails
        assert ("font-weight: normal" in row) != fails


def test_the_page_decides_on_the_colours_of_words():
    for style in Table(FOUND.html()).styles:
        assert not re.search(r"(^|[ ;])(color: (?!inherit)|background)", style)


def test_whatever_a_layer_says_is_text():
    bad = "<script>alert('1')</script>&amp;\"</td>"
    found = Audit(bad, (Row(bad, "passes", bad), Row(bad, "FAILS", bad)))
    table = Table(found.html())
    assert set(table.tags) == set(Table(FOUND.html()).tags)
    assert bad in table.caption
    assert table.rows[1:] == [[bad, "passes", bad], [bad, "FAILS", bad]]


def test_it_can_be_stored():
    assert pickle.loads(pickle.dumps(FOUND)) == FOUND


def test_json_has_all_of_it_and_the_versions():
    read = json.loads(json.dumps(FOUND.as_dict()))
    assert read["name"] == "Mine"
    assert read["ok"] is False
    assert read["counts"] == {"pass": 1, "fail": 2, "not applicable": 1}
    assert read["advice"]["scale"]["causes"][1] == "a root forgotten, or taken twice"
    assert [Row(**row) for row in read["rows"]] == list(ROWS)
    assert read["versions"] == {
        "attention-audit": attention_audit.__version__,
        "torch": torch.__version__,
    }
    assert Audit("Mine", ROWS[:1]).as_dict()["ok"] is True


@pytest.mark.parametrize(
    ("allow", "failed", "idle"),
    [
        ((), ("scale", "order"), ()),
        (("scale",), ("order",), ()),
        ("scale", ("order",), ()),
        (["order", "scale"], (), ()),
        (("one token", "order", "dropout"), ("scale",), ("one token", "dropout")),
    ],
)
def test_checks_that_may_fail(allow, failed, idle):
    assert FOUND.failed_except(allow) == (failed, idle)


def test_a_check_that_may_fail_must_exist():
    message = r"got 'scales'; these are 'one token', 'scale', 'order', 'dropout'$"
    with pytest.raises(ValueError, match=message):
        FOUND.failed_except(("scales",))


def test_advice_is_what_the_checks_that_fail_point_at():
    words = " ".join(FOUND.advice().split())
    for name in ("scale", "order"):
        check, said = attention_audit.CHECKS[name], FOUND.told()[name]
        likely = f"likely: {said.causes[0]}; or {said.causes[1]}"
        parts = f"asked: {check.holds} means: {said.means} {likely}".replace("`", "")
        assert f"{name} {parts} look at: {check.look_at}" in words
    missing = Row("cache", "FAILS", "required, but not applicable: pass step")
    assert Audit("Mine", (*ROWS[:1], missing)).advice() == ""


def test_causes_are_those_of_the_part_that_failed():
    assert [*CAUSES] == [*attention_audit.CHECKS]
    usual = told("scale", "divides by 4.00", {})
    assert usual.causes[0] == "the width of all heads in the root"
    train = told("scale", "in train mode, dropout off: divides by 4.00", {})
    assert train.causes[0] == "a branch on `self.training` that does more than drop"
    together = [pattern.told for pattern in PATTERNS]
    all_ = [one.causes for one in (*CAUSES.values(), *PARTS.values(), *together)]
    assert len({*all_}) == len(all_)


def test_only_usual_causes_are_followed_by_what_to_look_at():
    rows = [Row("heads", "FAILS", "in train mode, dropout off: 4 heads attend")]
    assert "look at:" not in Audit("Mine", tuple(rows)).advice()
    assert "look at:" in Audit("Mine", (Row("heads", "FAILS", "4"),)).advice()


def test_what_is_told_of_two_checks_alike_stands_once():
    future = ("future changed", "future grads")
    rows = [Row(name, "FAILS", "moves") for name in future]
    words = Audit("Mine", (*rows, Row("hidden weights", "passes", ""))).advice()
    assert words.count("likely:") == 1
    assert words.splitlines()[-1].strip() == "as above: future changed"


def test_what_was_not_run_is_shown_and_is_no_failure():
    rows = (
        ROWS[0],
        Row("order", "not run", "stopped after 10 seconds"),
        *(Row(name, "not run", "an earlier check was stopped") for name in "abc"),
    )
    found = Audit("Mine", rows)
    assert (found.failed, found.ok) == ((), False)
    assert found.unrun == ("order", "a", "b", "c")
    for text in (str(found), found.failures()):
        assert text.splitlines()[-3:] == [
            "order           not run         stopped after 10 seconds",
            "3 other checks  not run         an earlier check was stopped",
            "1 pass, 0 fail, 0 not applicable, 4 not run",
        ]
    assert found.as_dict()["counts"]["not run"] == 4
    assert found.as_dict()["ok"] is False


def test_failures_are_those_rows_and_the_number_of_all():
    assert FOUND.failures().splitlines() == [
        "audit of Mine",
        *map(str, ROWS[1:3]),
        "1 pass, 2 fail, 1 not applicable",
    ]


def test_what_ends_a_table_for_one_reason_is_one_row():
    unasked = [Row(name, "not applicable", "needs an output") for name in "abcd"]
    lone = Row("output shape", "FAILS", "d_in?")
    found = Audit("Mine", (lone, *unasked))
    one = Row("4 other checks", "not applicable", "needs an output")
    assert str(found).splitlines()[1:-1] == [str(lone), str(one)]
    assert Table(found.html()).rows[1:] == [
        [row.check, row.result, row.reason] for row in (lone, one)
    ]
    assert found.as_dict()["counts"]["not applicable"] == 4
    for kept in ((*unasked, lone), (lone, *unasked[:2]), (Row("a", "passes", ""),) * 4):
        assert len(str(Audit("Mine", kept)).splitlines()) == len(kept) + 2


def test_calls_that_differ_are_to_be_mended_first():
    advice = 'mend "eval repeats" first: other checks compare calls'
    random = Row("eval repeats", "FAILS", "two calls in eval mode differ by 0.3")
    found = Audit("Mine", (*ROWS, random))
    assert str(found).splitlines()[-1] == advice
    assert found.failures().splitlines()[-1] == advice
    assert Table(found.html()).caption.endswith(f"; {advice}")
    for others in (ROWS, (*ROWS[:1], random)):
        assert advice not in str(Audit("Mine", others))


# --- in a notebook --------------------------------------------------------------------


@pytest.fixture
def notebook(capsys):
    """Runs a cell; returns what it prints, and what it shows by its type."""
    no_file = Config({"HistoryManager": {"enabled": False}})
    shell = InteractiveShell.instance(config=no_file)
    shell.user_ns |= {"Audit": Audit, "rows": ROWS}
    shell.displayhook.write_output_prompt = lambda: None  # a kernel prints no Out[1]
    shown = []
    shell.display_pub.publish = lambda data, **options: shown.append(data)

    def run(cell):
        shown.clear()
        shell.run_cell(cell, store_history=True).raise_error()
        return capsys.readouterr().out, list(shown)

    yield run
    InteractiveShell.clear_instance()


def test_a_cell_that_audits_shows_its_table_once_and_a_later_one_as_html(notebook):
    printed, shown = notebook("found = Audit('Mine', rows); print(found)\nfound")
    assert (printed, shown) == (f"{FOUND}\n", [])
    notebook("assert found == Audit('Mine', rows)")
    printed, shown = notebook("found")
    assert printed == ""
    assert shown == [{"text/plain": str(FOUND), "text/html": FOUND.html()}]


def test_cells_that_a_kernel_does_not_count_are_told_apart(notebook):
    shell = InteractiveShell.instance()
    messages = []
    shell.get_parent = lambda: {"header": {"msg_id": f"message {len(messages)}"}}
    counted, tables = shell.execution_count, []
    for cell in ("found = Audit('Mine', rows)\nfound", "found"):
        shell.execution_count = counted
        messages.append(cell)
        tables.append(len(notebook(cell)[1]))
    assert tables == [0, 1]


def test_outside_of_a_notebook_there_is_no_cell():
    assert Audit("Mine", ROWS).cell is None
