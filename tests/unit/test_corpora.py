"""What checks and audit say of answers and layers by others is what is expected."""

import pytest

from helpers import checks
from tools import corpora


@pytest.mark.slow
@pytest.mark.parametrize("name", checks.EXERCISES)
def test_verdicts_on_answers_are_the_expected_ones(name):
    members = corpora.ANSWERS.groups.get(name, [])  # none of a new exercise
    assert not members or {one.right for one in members} == {True, False}
    expected = corpora.ANSWERS.expected()
    if members and not corpora.ANSWERS.has_changed(name, expected):
        members = corpora.layers.one_of_each(members, expected)
    found = corpora.ANSWERS.differences(members, expected)
    lines = [corpora.told(one, expected.get(str(one)), now) for one, now in found]
    assert not lines, "\n".join([f"{len(lines)} verdicts differ", *lines])


@pytest.mark.parametrize("corpus", [corpora.ANSWERS, corpora.LAYERS], ids=str)
def test_every_member_has_an_expectation_and_every_exception_a_reason(corpus):
    ids = [str(one) for one in corpus.members]
    assert len(set(ids)) == len(ids)
    expected = corpus.expected()
    assert [*expected] == ids
    assert corpora.unexplained(corpus, expected) == []
    right = {str(one): one.right for one in corpus.members}
    for id_, entry in expected.items():
        assert ("why" in entry) == (entry["accepted"] != right[id_]), id_


class Member:
    """Stands for an answer."""

    right, says, check = True, "right: nothing", "a_check"

    def __str__(self):
        return "a-member"


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """A corpus of one member in an empty folder, whose verdict a test sets."""
    verdicts = [{"accepted": True}]
    source = tmp_path / "check.py"
    source.write_text("a = 1\n")
    made = corpora.Corpus(
        tmp_path, [Member()], lambda _: verdicts[0], "check", lambda _: [source]
    )
    monkeypatch.setattr(corpora, "CORPORA", [made])
    made.write({"a-member": verdicts[0]})
    return made, verdicts


def test_what_agreed_is_judged_again_once_its_sources_or_entries_change(corpus):
    made, verdicts = corpus
    expected = made.expected()
    assert made.has_changed("a_check", expected)
    corpora.compare()
    assert not made.has_changed("a_check", expected)
    verdicts[0] = {"accepted": True, "kind": "another"}
    corpora.compare()  # not judged
    with pytest.raises(SystemExit):
        corpora.compare(everything=True)
    assert made.has_changed("a_check", {"a-member": verdicts[0]})
    made.sources("a_check")[0].write_text("a = 2\n")
    assert made.has_changed("a_check", expected)
    with pytest.raises(SystemExit):
        corpora.compare()
    assert made.has_changed("a_check", expected)  # they differ: nothing is noted
    corpora.compare(accept=True)
    assert not made.has_changed("a_check", made.expected())


def test_a_checks_sources_are_its_own_and_all_that_it_imports():
    names = {path.name for path in corpora.sources_of_check("causal_weights")}
    assert {"causal_weights.py", "exercise.py", "verdict.py", "comparing.py"} <= names
    assert "softmax.py" not in names
    audit = {path.name for path in corpora.sources_of_check("v1_from_v2")}
    assert {"wording.py", "readers_layer.py"} <= audit
    hands = {path.parent.name for path in corpora.sources_of_check("causal_weights")}
    assert {"a", "w"} <= hands


def test_one_member_stands_for_each_verdict():
    entries = {"a": {"told": 1}, "b": {"told": 1, "why": "it rounds"}, "c": {"told": 2}}
    assert corpora.layers.one_of_each([*"abc"], entries) == ["a", "c"]


def test_a_drift_is_a_line_of_a_diff_until_it_is_accepted(corpus, capsys):
    made, verdicts = corpus
    corpora.compare()
    assert capsys.readouterr().out == ""
    verdicts[0] = {"accepted": False, "kind": "values", "told": "nothing"}
    with pytest.raises(SystemExit, match="1 verdict differs"):
        corpora.compare(everything=True)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "  a-member: right: nothing"
    assert printed[1] == '  - {"accepted": true}'
    assert printed[2].startswith('  + {"accepted": false, "kind": "values"')
    corpora.compare(accept=True, everything=True)
    assert "write a why for a-member into " in capsys.readouterr().out
    assert made.expected() == {"a-member": verdicts[0]}


def test_a_reason_stays_as_long_as_its_exception(corpus):
    made, verdicts = corpus
    refused = {"accepted": False, "kind": "values", "told": "nothing"}
    made.write({"a-member": refused | {"why": "it rounds"}})
    verdicts[0] = refused
    corpora.compare()
    verdicts[0] = refused | {"told": "signs"}
    corpora.compare(accept=True, everything=True)
    assert made.expected()["a-member"] == verdicts[0] | {"why": "it rounds"}
    verdicts[0] = {"accepted": True}
    corpora.compare(accept=True, everything=True)
    assert made.expected() == {"a-member": {"accepted": True}}
