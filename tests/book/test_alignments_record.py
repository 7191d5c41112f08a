"""What the page on cross-attention says of one head and two, over seeds and rates."""

import pytest
import torch

from experiments import alignments
from helpers.recorded import results


def test_what_was_recorded_covers_every_variant():
    recorded = results.read("alignments")
    assert list(recorded) == list(alignments.VARIANTS)
    for of_variant in recorded.values():
        assert list(of_variant) == [str(rate) for rate in alignments.RATES]


def test_two_heads_share_the_two_tasks_between_them_from_every_seed():
    for of_rate in results.read("alignments")["two heads"].values():
        first, second = of_rate["200"]["pointing"].values()
        start, end = alignments.TASKS
        pairs = [*zip(first[start], second[end], strict=True)]
        pairs += zip(first[end], second[start], strict=True)
        assert sum(min(pair) > 0.99 for pair in pairs) == len(alignments.SEEDS)


def test_which_head_takes_which_task_depends_on_the_seed_and_on_the_rate():
    first = [
        [
            pointing > 0.5
            for pointing in of_rate["200"]["pointing"]["head 0"][alignments.TASKS[0]]
        ]
        for of_rate in results.read("alignments")["two heads"].values()
    ]
    assert [set(of_rate) for of_rate in first] == [{False, True}] * 3
    low, middle, high = first
    assert low == middle
    assert [seed for seed in alignments.SEEDS if middle[seed] != high[seed]] == [4, 5]


def right(variant, rate, steps):
    """The shares of right reports (tasks, queries, seeds)."""
    measured = results.read("alignments")[variant][str(rate)][str(steps)]
    return torch.tensor([[*task.values()] for task in measured["accuracy"].values()])


def test_one_head_takes_longer_than_two_and_does_not_catch_up():
    two, few, many = (
        right(*one).mean(dim=(0, 1))
        for one in (
            ("two heads", 0.01, 200),
            ("one head", 0.01, 200),
            ("one head", 0.01, 2400),
        )
    )
    assert few.max() < 0.75
    assert few.max() < many.min()
    assert many.max() < 0.95 < 0.99 < two.min()


def test_one_head_beats_halves_also_where_the_letters_differ():
    """If all reports of equal letters are right, this is left of the others."""
    generator = torch.Generator().manual_seed(999)  # as the experiment draws them
    *_, targets = alignments.draw_batch(2000, generator)
    equal = float((targets[:, 0] == targets[:, 1]).float().mean())
    assert equal == pytest.approx(0.2, abs=0.01)
    lowest = float(right("one head", 0.01, 2400).mean(dim=(0, 1)).min())
    assert (lowest - equal) / (1 - equal) > 0.77


def test_without_places_from_the_end_the_mask_tells_the_last_letter_alone():
    for rate in (0.003, 0.01):
        for steps in (200, 2400):
            from_end = right("no places from the end", rate, steps)[1]
            assert from_end[0].min() > 0.99
            assert from_end[1:].max() < 0.57
    high = right("no places from the end", 0.03, 2400)[1]
    assert (high[0] < 0.9).sum() == 2
    assert high[1:].max() < 0.57


def test_one_head_cannot_tell_two_letters_apart_by_halves():
    for of_rate in results.read("alignments")["one head"].values():
        halves = of_rate["2400"]["halves"]["accuracy"]
        assert max(halves["letters differ"]) < 0.52
