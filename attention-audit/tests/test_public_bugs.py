"""The log of public bugs: each is caught by the check it names, its fix passes."""

import collections

import pytest

import attention_audit
from public_bugs.layer import Attention
from public_bugs.log import KINDS, bug, entries, problem
from public_bugs.page import PAGE, page

LOG = entries()
FIRST = {one.kind: one for one in reversed(LOG)}  # of each kind


@pytest.mark.parametrize("one", FIRST.values(), ids=str)
def test_the_first_of_each_kind_is_as_the_log_has_it(one):
    assert problem(one) == ""


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIRST)
def test_every_entry_is_as_the_log_has_it(kind):
    found = [problem(one) for one in LOG if one.kind == kind]
    assert "\n".join(filter(None, found)) == ""


def test_entries_are_complete():
    assert len(LOG) >= 100
    assert {one.kind for one in LOG} == set(KINDS)
    for one in LOG:
        assert one.line is None or one.line in attention_audit.CHECKS
        assert 2015 <= one.year <= 2026
        assert one.says.endswith("."), one
        assert len(one.says) <= 220, one


def test_no_report_is_there_twice_and_no_repository_often():
    assert max(collections.Counter(map(str, LOG)).values()) == 1
    assert max(collections.Counter(one.repository for one in LOG).values()) <= 4


def test_the_page_shows_the_log():
    again = "run `python -m public_bugs` in attention-audit/"
    assert PAGE.read_text(encoding="utf-8") == page(LOG), again


@pytest.mark.parametrize(("line", "missed"), [(None, ""), ("cache", "it can't")])
def test_what_catches_a_bug_is_said_once(line, missed):
    with pytest.raises(ValueError, match="either a line catches it"):
        bug("a/b#1", 2020, line, missed=missed)(Attention)


def test_an_entry_that_doesnt_hold_is_named():
    one = next(one for one in LOG if one.line == "cache")
    right = one._replace(layer=one.fixed)
    assert "cache doesn't fail, but nothing" in problem(right)
    wrong = one._replace(fixed=one.layer)
    assert "without the bug, cache" in problem(wrong)
    assert "fails, where none was expected" in problem(one._replace(line=None))
