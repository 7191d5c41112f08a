"""What chapter 11 says of twenty models, asserted on the record of their heads."""

import itertools
import statistics

import pytest

from experiments import heads
from helpers.recorded import results
from helpers.text import decisions, probes

RUNS = results.record("heads")["runs"]
NAMES = [heads.name(head) for head in itertools.product(range(2), range(4))]
QUESTIONS = {
    "number": probes.AGREEMENT,
    **{kind: (kind,) for kind in ("pronoun", "colour", "thing", "name", "quote")},
}


def lost(run, kind, which, question):
    """Nats per story lost at one kind of question without some heads."""
    after, before = run["excess"][kind][which], run["excess"]["whole"]
    places = [decisions.DECISIONS.index(one) for one in QUESTIONS[question]]
    return sum(after[place] - before[place] for place in places)


def costs(run, question):
    return [max(lost(run, "zeros", name, question), 0.0) for name in NAMES]


def share(run, question):
    """What the costliest head costs of what all eight cost, one at a time."""
    return max(costs(run, question)) / sum(costs(run, question))


def test_the_record_is_whole():
    assert heads.wanted({"runs": RUNS}) == []
    for run in RUNS:
        assert run["excess"]["decisions"] == list(decisions.DECISIONS)
        assert run["loss"] < 0.303
