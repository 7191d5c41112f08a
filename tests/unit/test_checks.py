"""Checks reject what is wrong, name the mistake, and pass what is right."""

import importlib
import itertools
import pkgutil
import time

import pytest
import torch

from helpers import checks
from helpers.checks.calling import SECONDS, call
from helpers.checks.exercise import alike, plain_call
from tests import solutions

RIGHT, WRONG = {}, {}
for found in pkgutil.iter_modules(solutions.__path__):
    module = importlib.import_module(f"tests.solutions.{found.name}")
    RIGHT |= module.RIGHT
    WRONG |= module.WRONG

every_exercise = pytest.mark.parametrize("name", checks.EXERCISES)


def flat(samples):
    """Pairs of an exercise's name and a solution, with names for pytest."""
    return [
        pytest.param(
            name,
            one,
            id=f"{name}-{(one[0] if isinstance(one, tuple) else one).__name__}",
        )
        for name, several in samples.items()
        for one in several
    ]


# --- every exercise -------------------------------------------------------------------


@every_exercise
def test_an_exercise_has_enough_solutions_to_tell(name):
    assert len(RIGHT[name]) >= 4
    assert len(WRONG[name]) >= 6


def test_no_solution_is_without_an_exercise():
    assert set(RIGHT) == set(WRONG) == set(checks.EXERCISES)


@pytest.mark.parametrize(("name", "solution"), flat(RIGHT))
def test_a_right_solution_passes(name, solution, capsys):
    verdict = getattr(checks, name)(solution)
    assert verdict.ok, verdict.text
    assert capsys.readouterr().out == f"{verdict.text}\n"
    assert f"✓ {solution.__name__}: right." in verdict.text


@pytest.mark.parametrize(("name", "sample"), flat(WRONG))
def test_a_wrong_solution_is_rejected_and_named(name, sample):
    solution, mistake = sample
    verdict = getattr(checks, name)(solution)
    assert not verdict.ok
    assert verdict.kind != "not attempted"
    assert verdict.mistake == mistake, verdict.text
    assert verdict.case is not None
    for line in verdict.text.split("\n"):
        assert len(line) <= 100, line


def test_nine_of_ten_mistakes_are_named():
    wrong = [mistake for several in WRONG.values() for _, mistake in several]
    assert sum(mistake is not None for mistake in wrong) >= 0.9 * len(wrong)


@every_exercise
def test_any_two_mistakes_differ_on_some_input(name):
    exercise = checks.EXERCISES[name]
    functions = [exercise.reference, *(one.function for one in exercise.mistakes)]
    outcomes = [
        [call(one, case.arguments, run=exercise.run) for case in exercise.cases()]
        for one in functions
    ]
    assert all(outcome.error is None for outcome in outcomes[0]), "the reference"
    for one, other in itertools.combinations(range(len(functions)), 2):
        pairs = zip(outcomes[one], outcomes[other], strict=True)
        names = ["the reference", *(mistake.name for mistake in exercise.mistakes)]
        assert not all(itertools.starmap(alike, pairs)), (
            f"{names[one]} = {names[other]}"
        )


@every_exercise
def test_a_known_mistake_is_told_by_its_own_name(name):
    exercise = checks.EXERCISES[name]
    for mistake in exercise.mistakes:
        assert exercise.examine(mistake.function).mistake == mistake.name


@every_exercise
@pytest.mark.parametrize("attempt", [None, ..., 3, "text", torch.ones(2), [], object()])
def test_what_is_no_function_gets_a_verdict(name, attempt):
    verdict = getattr(checks, name)(attempt)
    stub = attempt is None or attempt is ...
    expected = "not attempted" if stub else "type"
    assert verdict.kind == expected


def returns_nothing(*arguments):
    pass


def returns_dots(*arguments):
    return ...


def is_not_implemented(*arguments):
    raise NotImplementedError("later")


@every_exercise
@pytest.mark.parametrize(
    "stub",
    [returns_nothing, returns_dots, is_not_implemented],
    ids=lambda f: f.__name__,
)
def test_a_stub_is_not_attempted_yet(name, stub):
    verdict = getattr(checks, name)(stub)
    assert verdict.kind == "not attempted"
    assert verdict.text.startswith(f"○ {stub.__name__}: not attempted yet.")


def raises(error):
    def attempt(*arguments):
        raise error

    return attempt


class Hostile:
    """An object that fails whatever is asked of it."""

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    __hash__ = None

    def __repr__(self):
        raise RuntimeError("no text")

    def __len__(self):
        raise RuntimeError("no length")


@every_exercise
@pytest.mark.parametrize(
    "attempt",
    [
        raises(ValueError("a\nlong\nstory")),
        raises(SystemExit()),
        raises(KeyboardInterrupt()),
        raises(RecursionError()),
        lambda *arguments: Hostile(),
        lambda *arguments: arguments,
        lambda *arguments: torch.zeros(0),
        lambda *arguments: torch.tensor(1j),
        lambda *arguments: torch.ones(2, 2).to_sparse(),
        lambda *arguments: torch.empty(2, 2, device="meta"),
        lambda *arguments: torch.ones(2).numpy(),
        lambda *arguments: [[], {}],
        lambda: 1,
        lambda *arguments: (None, 3),
        type("Odd", (), {"__init__": lambda self, *arguments: None}),
        torch.nn.Identity,
    ],
)
def test_a_check_never_raises(name, attempt):
    verdict = getattr(checks, name)(attempt)
    assert not verdict.ok
    assert verdict.text


def test_code_without_return_is_told_from_a_stub():
    def forgets(T):
        torch.ones(T, T).tril().bool()

    verdict = checks.causal_mask(forgets)
    assert verdict.kind == "type"
    assert "is `return` missing" in verdict.text

    class Forgets(torch.nn.Module):
        def __init__(self, *sizes):
            super().__init__()

        def forward(self, x):
            x.sum()

    assert "is `return` missing" in checks.causal_attention(Forgets).text


def test_code_that_always_fails_is_not_named():
    """A known mistake that fails on every input would fit any code that fails."""

    def fails(*arguments):
        raise RuntimeError("always")

    for exercise in checks.EXERCISES.values():
        assert exercise.examine(fails).mistake is None


# --- what a call leaves behind --------------------------------------------------------


def good(T):
    return torch.ones(T, T).tril().bool()


def test_a_function_that_hangs_is_stopped():
    calls = []

    def hangs(T):
        while True:
            calls.append(T)
            time.sleep(0.001)

    verdict = checks.EXERCISES["causal_mask"].check(hangs, seconds=0.2)
    assert verdict.kind == "hung"
    assert "stopped after 0.2 seconds" in verdict.text
    time.sleep(0.05)
    made = len(calls)
    time.sleep(0.05)
    assert len(calls) == made, "it still runs"


@pytest.mark.slow
def test_the_limit_is_ten_seconds():
    def hangs(T):
        while True:
            pass

    start = time.monotonic()
    assert checks.causal_mask(hangs).kind == "hung"
    assert SECONDS == 10
    assert SECONDS <= time.monotonic() - start < SECONDS + 5


def test_a_function_that_prints_is_told_so(capsys):
    def prints(T):
        print("row", T)
        return good(T)

    verdict = checks.causal_mask(prints)
    assert verdict.ok
    assert "It prints, first 'row 1'" in verdict.text
    assert capsys.readouterr().out == f"{verdict.text}\n"


def test_endless_printing_fills_no_memory():
    def prints(T):
        for _ in range(10_000):
            print("x" * 100)
        return good(T)

    outcome = call(prints, {"T": 2}, run=plain_call)
    assert len(outcome.printed) == 1000


def test_a_function_that_changes_its_input_is_told_so():
    def changes(scores):
        scores[..., 0] = scores[..., 0] * 1.0 + 0.0  # no change yet
        future = torch.ones_like(scores).triu(1).bool()
        scores.masked_fill_(future, -torch.inf)
        return scores.softmax(-1)

    verdict = checks.causal_weights(changes)
    assert verdict.kind == "side effect"
    assert "changes its argument scores" in " ".join(verdict.text.split())


def test_work_in_place_on_a_copy_is_no_change():
    def copies(scores):
        scores = scores.clone()
        scores.masked_fill_(torch.ones_like(scores).triu(1).bool(), -torch.inf)
        return scores.softmax(-1)

    assert checks.causal_weights(copies).ok


def test_a_function_that_sets_the_seed_is_told_so():
    def reseeds(T):
        torch.manual_seed(123)
        return good(T)

    verdict = checks.causal_mask(reseeds)
    assert verdict.kind == "side effect"
    assert "sets PyTorch's seed" in verdict.text


def test_a_check_leaves_the_callers_random_numbers_alone():
    def draws(T):
        torch.rand(100)
        return good(T)

    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    assert checks.causal_mask(draws).ok
    assert torch.equal(torch.rand(3), expected)
    assert torch.initial_seed() == 5


def test_an_error_is_shown_with_its_line_and_the_input():
    def divides(T):
        half = T / 0
        return half

    verdict = checks.causal_mask(divides)
    assert verdict.kind == "raised"
    assert "ZeroDivisionError: division by zero" in verdict.text
    assert "half = T / 0" in verdict.text
    assert "T = 1" in verdict.text


def test_float64_results_are_right():
    def doubles(scores):
        future = torch.ones_like(scores).triu(1).bool()
        return scores.double().masked_fill(future, -torch.inf).softmax(-1)

    assert checks.causal_weights(doubles).ok


def test_a_result_with_a_gradient_is_right():
    def tracked(scores):
        scores = scores.clone().requires_grad_()
        future = torch.ones_like(scores).triu(1).bool()
        return scores.masked_fill(future, -torch.inf).softmax(-1)

    assert checks.causal_weights(tracked).ok


def test_a_verdict_shows_nothing_twice_in_a_notebook(capsys):
    verdict = checks.causal_mask(good)
    capsys.readouterr()
    verdict._ipython_display_()
    assert capsys.readouterr().out == ""
    assert str(verdict) == verdict.text
