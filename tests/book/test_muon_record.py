"""What the page on Muon says of runs beside AdamW."""

import pytest

from experiments import muon, sweeps
from helpers.recorded import results
from helpers.recorded.spread import mean_and_interval
from helpers.recorded.sweeps import at_best_rate

RECORD = results.record("muon")
(TEXT,) = muon.TEXTS


def of_seeds(side, beside):
    runs = at_best_rate(RECORD["runs"], side=side, text=TEXT, beside=beside)
    assert [run["seed"] for run in runs] == list(sweeps.SEEDS)
    return runs


def test_the_record_lacks_nothing():
    assert muon.wanted(RECORD) == []
