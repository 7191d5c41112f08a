"""What checks and audit say of answers and layers by others is what is expected."""

import pytest

from helpers import checks
from tools import corpora


@pytest.mark.slow
@pytest.mark.parametrize("name", checks.EXERCISES)
def test_verdicts_on_answers_are_the_expected_ones(name):
    members = [one for one in corpora.ANSWERS.members if one.check == name]
    assert {one.right for one in members} in ({True, False}, set())  # a new exercise
    expected = corpora.ANSWERS.expected()
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

    right, says = True, "right: nothing"

    def __str__(self):
        return "a-member"


@pytest.fixture
def corpus(tmp_path, monkeypatch):
    """A corpus of one member in an empty folder, whose verdict a test sets."""
    verdicts = [{"accepted": True}]
    made = corpora.Corpus(tmp_path, [Member()], lambda _: verdicts[0])
    monkeypatch.setattr(corpora, "CORPORA", [made])
    made.write({"a-member": verdicts[0]})
    return made, verdicts


def test_a_drift_is_a_line_of_a_diff_until_it_is_accepted(corpus, capsys):
    made, verdicts = corpus
    corpora.compare(accept=False)
    assert capsys.readouterr().out == ""
    verdicts[0] = {"accepted": False, "kind": "values", "told": "nothing"}
    with pytest.raises(SystemExit, match="1 verdict differs"):
        corpora.compare(accept=False)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "  a-member: right: nothing"
    assert printed[1] == '  - {"accepted": true}'
    assert printed[2].startswith('  + {"accepted": false, "kind": "values"')
    corpora.compare(accept=True)
    assert "write a why for a-member into " in capsys.readouterr().out
    assert made.expected() == {"a-member": verdicts[0]}


def test_a_reason_stays_as_long_as_its_exception(corpus):
    made, verdicts = corpus
    refused = {"accepted": False, "kind": "values", "told": "nothing"}
    made.write({"a-member": refused | {"why": "it rounds"}})
    verdicts[0] = refused
    corpora.compare(accept=False)
    verdicts[0] = refused | {"told": "signs"}
    corpora.compare(accept=True)
    assert made.expected()["a-member"] == verdicts[0] | {"why": "it rounds"}
    verdicts[0] = {"accepted": True}
    corpora.compare(accept=True)
    assert made.expected() == {"a-member": {"accepted": True}}
