"""What chapter 11 says of twenty models, asserted on the record of their heads."""

import itertools

from experiments import heads
from helpers.recorded import results
from helpers.text import decisions, probes
from helpers.text.little_world import LittleWorld

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
        assert LittleWorld().floor < run["loss"] < 0.31


def test_one_head_carries_the_number_in_some_models_and_not_in_others():
    shares = [share(run, "number") for run in RUNS]
    assert sum(one < 1 / 3 for one in shares) == 1
    assert sum(0.45 < one < 0.6 for one in shares) > 3
    assert sum(one > 0.9 for one in shares) > 1
    costliest = [max(range(8), key=costs(run, "number").__getitem__) for run in RUNS]
    assert len(set(costliest)) > 4
    assert sum(head < 4 for head in costliest) == len(RUNS) / 4  # in layer 1


def test_the_quote_is_mostly_one_heads_business_and_nothing_else_is():
    alone = {
        what: sum(share(run, what) > 0.95 for run in RUNS) / len(RUNS)
        for what in QUESTIONS
    }
    assert alone.pop("quote") > 0.6
    assert max(alone.values()) < 0.3


def test_in_every_model_two_heads_stand_in_for_each_other():
    for run in RUNS:
        alone = {
            what: dict(zip(NAMES, costs(run, what), strict=True)) for what in QUESTIONS
        }
        beyond = [
            lost(run, "pairs", pair, what)
            - sum(alone[what][name] for name in pair.split())
            for pair in run["excess"]["pairs"]
            for what in QUESTIONS
        ]
        assert max(beyond) > 1, run["seed"]


def test_no_direct_path_matters_in_any_model_and_some_through_the_mlp_in_each():
    for run in RUNS:
        direct, by_mlp = (
            max(map(sum, run["paths"][way].values()))
            for way in ("directly", "through MLPs")
        )
        assert direct < 0.1, run["seed"]
        assert by_mlp > 0.3, run["seed"]
