"""Checks reject what is wrong, name the mistake, and pass what is right."""

import dataclasses
import functools
import itertools
import math
import pydoc
import statistics
import subprocess
import sys
import threading
import time
from decimal import Decimal
from fractions import Fraction

import numpy
import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from helpers import checks
from helpers.checks.calling import call, plain_call
from helpers.checks.comparing import alike
from helpers.checks.exercise import Exercise
from helpers.checks.exercises import NAMES
from tests import ROOT
from tests.solutions import RIGHT, WRONG

every_exercise = pytest.mark.parametrize("name", checks.EXERCISES)
# Checks share their machinery. These differ in how they call and what comes back: one
# tensor, two, a number, a dict of facts, a layer's class.
REPRESENTATIVES = (
    "causal_mask",
    "self_attention",
    "cache_bytes",
    "get_batch",
    "causal_attention",
)
some_exercises = pytest.mark.parametrize("name", REPRESENTATIVES)


QUICK = 2  # solutions and mistakes of each exercise; the others run with what is slow


def flat(samples):
    """Pairs of an exercise's name and a solution, with names for pytest."""
    return [
        pytest.param(
            name,
            one,
            id=f"{name}-{(one[0] if isinstance(one, tuple) else one).__name__}",
            marks=() if number < QUICK else pytest.mark.slow,
        )
        for name, several in samples.items()
        for number, one in enumerate(several)
    ]


# --- every exercise -------------------------------------------------------------------


@every_exercise
def test_an_exercise_has_enough_solutions_to_tell(name):
    assert len(RIGHT[name]) >= 4
    assert len(WRONG[name]) >= 2


def test_exercises_and_solutions_lie_in_modules_of_their_names():
    assert set(RIGHT) == set(WRONG) == set(checks.EXERCISES)
    for folder in ("helpers/checks/exercises", "tests/solutions"):
        modules = {path.stem for path in (ROOT / folder).glob("*.py")}
        assert modules == {*NAMES, "__init__"}, folder
    assert [one.name for one in checks.EXERCISES.values()] == list(NAMES)


@every_exercise
def test_a_check_says_what_to_hand_over(name):
    check = getattr(checks, name)
    assert check is checks.EXERCISES[name]
    assert name in checks.__all__
    stub = f"My{''.join(map(str.title, name.split('_')))}("
    assert check.stub.startswith((f"my_{name}(", stub))
    assert repr(check) == f"<checks.{name}: hand over {check.stub}>"
    text = pydoc.render_doc(check, renderer=pydoc.plaintext)
    assert f"Check ``{check.stub}``." in text
    assert check.asks in " ".join(text.split())
    assert "verdict: a Verdict." in text
    assert "function" in check.asks or "class" in check.asks
    assert "return" in check.asks


def test_what_is_no_check_is_told_so():
    with pytest.raises(AttributeError, match="no check 'sofmax'"):
        _ = checks.sofmax


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


# Names the pair; that no mistake gets another one's name is asked each time, below.
@pytest.mark.slow
@every_exercise
def test_any_two_mistakes_differ_on_some_input(name):
    exercise = checks.EXERCISES[name]
    functions = [exercise.reference, *(one.function for one in exercise.mistakes)]
    outcomes = [
        [exercise.outcome(one, number) for number in range(len(exercise.inputs()))]
        for one in functions
    ]
    assert all(outcome.error is None for outcome in outcomes[0]), "the reference"
    for one, other in itertools.combinations(range(len(functions)), 2):
        pairs = zip(outcomes[one], outcomes[other], strict=True)
        names = ["the reference", *(mistake.name for mistake in exercise.mistakes)]
        assert not all(itertools.starmap(alike, pairs)), (
            f"no input tells {names[one]!r} from {names[other]!r}: add a case"
        )


@every_exercise
def test_a_known_mistake_is_told_by_its_own_name(name):
    exercise = checks.EXERCISES[name]
    for mistake in exercise.mistakes:
        assert exercise.examine(mistake.function).mistake == mistake.name


@some_exercises
@pytest.mark.parametrize(
    "attempt",
    [None, ..., 3, "text", torch.ones(2), [], object()],
    ids=["None", "dots", "number", "text", "tensor", "list", "object"],
)
def test_what_is_no_function_gets_a_verdict(name, attempt):
    verdict = getattr(checks, name)(attempt)
    stub = attempt is None or attempt is ...
    expected = "not attempted" if stub else "type"
    assert verdict.kind == expected


@some_exercises
def test_what_is_no_function_is_told_what_to_hand_over(name):
    asked = checks.EXERCISES[name].stub.partition("(")[0]
    kind = "class" if asked.startswith("My") else "function"
    text = one_line(getattr(checks, name)(3))
    assert f"a whole number, not a {kind}." in text
    assert f"Hand over the {kind} itself, without calling it: " in text
    assert f"checks.{name}({asked})" in text


@pytest.mark.parametrize("seconds", ["a", None, True, 0, -1, math.nan])
def test_a_limit_that_is_none_is_named(seconds):
    with pytest.raises(ValueError, match="seconds must be a finite number above 0"):
        checks.causal_mask(good, seconds=seconds)


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


def raises(kind, *words):
    def attempt(*arguments):
        raise kind(*words)  # a new one: an error that is raised again keeps its way

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


ODD = {
    "ValueError": raises(ValueError, "a\nlong\nstory"),
    "SystemExit": raises(SystemExit),
    "KeyboardInterrupt": raises(KeyboardInterrupt),
    "RecursionError": raises(RecursionError),
    "hostile": lambda *arguments: Hostile(),
    "its arguments": lambda *arguments: arguments,
    "no numbers": lambda *arguments: torch.zeros(0),
    "complex": lambda *arguments: torch.tensor(1j),
    "sparse": lambda *arguments: torch.ones(2, 2).to_sparse(),
    "meta": lambda *arguments: torch.empty(2, 2, device="meta"),
    "NumPy": lambda *arguments: torch.ones(2).numpy(),
    "lists": lambda *arguments: [[], {}],
    "no arguments": lambda: 1,
    "half a stub": lambda *arguments: (None, 3),
    "class": type("Odd", (), {"__init__": lambda self, *arguments: None}),
    "Identity": torch.nn.Identity,
}


@some_exercises
@pytest.mark.parametrize("attempt", ODD.values(), ids=ODD)
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


def test_what_pytorch_does_not_implement_is_an_error_and_no_stub():
    def whole_numbers(gradients, counts):
        return torch.tensor(counts).softmax(0)

    verdict = checks.mean_gradient(whole_numbers)
    assert verdict.kind == "raised"
    assert "NotImplementedError" in verdict.text


@pytest.mark.slow
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
    threads = []

    def hangs(T):
        threads.append(threading.current_thread())
        while True:
            time.sleep(0.001)

    verdict = checks.causal_mask(hangs, seconds=0.2)
    assert verdict.kind == "not finished"
    text = one_line(verdict)
    assert "○ hangs: stopped before it had finished." in text
    assert "0.2 seconds of the processor's time, and 2.4 by the clock" in text
    assert "checks.causal_mask(hangs, seconds=2)" in text
    for thread in threads:
        thread.join(30)  # on a busy machine it hears of its end a little later
        assert not thread.is_alive(), "it still runs"


@pytest.mark.parametrize(
    "attempt", [lambda T: time.sleep(T), functools.partial(time.sleep)]
)
def test_what_has_no_name_is_given_none(attempt):
    verdict = checks.causal_mask(attempt, seconds=0.01)
    assert "grant more: checks.causal_mask(..., seconds=0.1)" in one_line(verdict)


def test_the_limit_is_ten_seconds(monkeypatch):
    limits = []

    def counted(attempt, arguments, *, run, seconds=None):
        limits.append(seconds)
        return call(attempt, arguments, run=run)

    monkeypatch.setattr("helpers.checks.exercise.call", counted)
    assert checks.causal_mask(good).ok
    assert set(limits) <= {10.0, None}, "none for what the check knows itself"
    assert limits.count(10.0) == len(checks.causal_mask.inputs())


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


def one_line(verdict):
    """Its text, however it is wrapped."""
    return " ".join(verdict.text.split())


def shortened(gradients, longest):
    length = torch.cat([one.flatten() for one in gradients]).norm()
    return [one / (length / longest).clamp(min=1.0) for one in gradients]


def test_a_copy_of_a_list_holds_the_same_tensors():
    def copies_the_list(gradients, longest):
        copied = gradients.copy()
        for one, new in zip(copied, shortened(gradients, longest), strict=True):
            one.copy_(new)
        return copied

    verdict = checks.clip_gradients(copies_the_list)
    assert verdict.kind == "side effect"
    assert verdict.case == "two numbers, length 5"
    text = one_line(verdict)
    assert "changes the tensors in its argument gradients" in text
    assert "a copy of the list holds the same tensors" in text
    assert "that tensor" not in text
    assert "returns tensors of its argument" not in text, "one cure is enough"


def test_a_changed_list_is_told_from_changed_tensors():
    def empties(gradients, counts):
        total, everything = 0, sum(counts)
        while counts:
            total = total + gradients.pop() * counts.pop()
        return total / everything

    verdict = checks.mean_gradient(empties)
    assert verdict.kind == "side effect"
    text = one_line(verdict)
    for name in ("counts", "gradients"):
        assert f"changes its argument {name}. Whoever calls it keeps that list" in text
    assert "tensor" not in text


OLD_TENSORS = {
    "the list": lambda gradients: gradients,
    "its tensors": lambda gradients: [*gradients],
    "views": lambda gradients: [one.view_as(one) for one in gradients],
    "detached": lambda gradients: tuple(one.detach() for one in gradients),
}


@pytest.mark.parametrize("returned", OLD_TENSORS.values(), ids=OLD_TENSORS)
def test_tensors_of_an_argument_are_no_new_ones(returned):
    def only_where_too_long(gradients, longest):
        if torch.cat([one.flatten() for one in gradients]).norm() > longest:
            return shortened(gradients, longest)
        return returned(gradients)

    verdict = checks.clip_gradients(only_where_too_long)
    assert verdict.kind == "side effect"
    assert verdict.case == "a short gradient, length 0.5"
    assert "returns tensors of its argument gradients, not new" in one_line(verdict)
    # Other exercises ask for no new tensors.
    assert dataclasses.replace(checks.clip_gradients, fresh=False)(
        only_where_too_long
    ).ok


def test_one_tensor_of_an_argument_is_no_new_one():
    def nothing_to_do(gradients, counts):
        if len(gradients) == 1:
            return gradients[0]
        return checks.mean_gradient.reference(gradients, counts)

    verdict = checks.mean_gradient(nothing_to_do)
    assert verdict.kind == "side effect"
    assert verdict.case == "a single part"


def test_a_part_without_a_character_has_the_gradient_that_its_exercise_gives_it():
    padding = torch.tensor([-100, -100])
    scores = torch.randn(2, 3, requires_grad=True)
    torch.nn.functional.cross_entropy(scores, padding).backward()
    assert torch.equal(scores.grad, torch.zeros(2, 3))
    for case in checks.mean_gradient.inputs():
        parts = zip(*case.arguments.values(), strict=True)
        assert not any(gradient.any() for gradient, count in parts if count == 0)


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


def test_an_error_without_a_message_is_its_name():
    # As a bare assert does, to whose error pytest would add a message.
    text = checks.causal_mask(raises(AssertionError)).text
    assert "    AssertionError\n" in text


@pytest.mark.parametrize(
    "number", [numpy.float32(7), numpy.int64(2), numpy.array(7.5), torch.tensor(7)]
)
def test_a_number_in_an_array_is_the_same_at_a_second_call(number):
    verdict = checks.lead(lambda new, last: number)
    assert verdict.kind == "values"
    assert "second call" not in verdict.text


def test_a_number_beyond_all_floats_is_wrong():
    assert checks.lead(lambda new, last: 10**400).kind == "values"


@pytest.mark.parametrize("exact", [Fraction, Decimal])
def test_exact_numbers_are_numbers(exact):
    def lead(new, last):
        new, last = ([exact(one) for one in losses] for losses in (new, last))
        parts = [statistics.variance(one) / len(one) for one in (new, last)]
        error = exact(float(sum(parts)) ** 0.5)
        return (statistics.mean(last) - statistics.mean(new)) / error

    assert checks.lead(lead).ok


def test_none_for_some_inputs_is_named():
    def clipped(new, last):
        errors = [statistics.stdev(one) / len(one) ** 0.5 for one in (new, last)]
        lead = (statistics.fmean(last) - statistics.fmean(new)) / math.hypot(*errors)
        if lead > 0:
            return lead

    verdict = checks.lead(clipped)
    assert verdict.kind == "type"
    assert "returns None for one input or more" in verdict.text
    assert "NotImplementedError" not in verdict.text


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


# --- what a check remembers -----------------------------------------------------------


@pytest.fixture
def fresh():
    """The exercise on causal masks, with calls counted and nothing remembered."""
    made = []

    def counting(function):
        def counted(T):
            made.append(function)
            return function(T)

        return counted

    known = checks.causal_mask
    mistakes = [
        dataclasses.replace(one, function=counting(one.function))
        for one in known.mistakes
    ]
    return made, Exercise(
        name="causal_mask",
        stub=known.stub,
        asks=known.asks,
        returns=known.returns,
        reference=counting(known.reference),
        cases=known.cases,
        mistakes=tuple(mistakes),
    )


def upside_down(T):
    return ~good(T)


def test_references_and_mistakes_are_called_once(fresh):
    made, exercise = fresh
    first = exercise.examine(upside_down)
    assert len(made) > len(exercise.inputs())
    made.clear()
    assert exercise.examine(upside_down).text == first.text
    assert exercise.examine(good).ok
    assert made == []


def test_nothing_that_a_caller_gets_changes_what_a_check_knows():
    first = checks.causal_weights.examine(lambda scores: scores.softmax(-1))
    first.expected.fill_(7)
    second = checks.causal_weights.examine(lambda scores: scores.softmax(-1))
    assert second.text == first.text
    assert checks.causal_weights.examine(
        lambda scores: scores.masked_fill(
            torch.ones_like(scores).triu(1).bool(), -torch.inf
        ).softmax(-1)
    ).ok


def test_parts_of_a_result_are_copied_too():
    for _ in range(2):
        found = checks.self_attention.examine(lambda x, *matrices: x)
        assert found.kind in ("type", "mistake", "values", "shape")
        for part in found.expected:
            assert not (part == 7).all()
            part.fill_(7)


def test_another_default_dtype_gets_inputs_of_its_own():
    def eyes(scores):
        assert scores.dtype == torch.get_default_dtype()
        return scores.tril().softmax(-1)

    texts = [checks.causal_weights.examine(eyes).text]
    torch.set_default_dtype(torch.float64)
    try:
        texts.append(checks.causal_weights.examine(eyes).text)
    finally:
        torch.set_default_dtype(torch.float32)
    assert "AssertionError" not in "".join(texts)


@pytest.mark.slow
def test_what_pytorch_loads_late_is_loaded_before_an_audits_clock_starts():
    code = (
        "import sys, torch\nfrom helpers import checks\n"
        "checks.audit(torch.nn.Identity(), 4, 6, seconds=0.001)\n"
        "assert 'torch._dynamo' in sys.modules\n"
        "assert torch._dynamo.decorators"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=120)


def test_a_default_dtype_that_a_function_sets_does_not_get_out():
    def switching(difference, D):
        torch.set_default_dtype(torch.float64)
        return checks.derivative.reference(difference, D)

    assert checks.derivative.examine(switching).kind == "right"
    assert torch.get_default_dtype() == torch.float32


def test_a_dict_in_place_of_several_results_is_named():
    def named(*tensors):
        parts = checks.attention_backward.reference(*tensors)
        return dict(zip(checks.attention_backward.returns, parts, strict=True))

    text = checks.attention_backward.examine(named).text
    assert "a dict came, grad_queries, grad_keys and grad_values were expected" in text


def test_numbers_that_look_the_same_are_told_apart():
    def coarse(difference, D):
        return checks.derivative.reference(difference, D) + 3e-5

    text = checks.derivative.examine(coarse).text
    assert "They differ by 3.0e-05, more than float32 rounds." in text


def test_single_numbers_that_look_the_same_are_told_apart():
    def coarse(*numbers):
        return checks.learning_rate.reference(*numbers) + 4e-5

    text = checks.learning_rate.examine(coarse).text
    assert "They differ by 4.0e-05, more than float32 rounds." in text


def test_the_verdict_on_the_books_own_solution_is_folded_in_a_notebook(capsys):
    def solved_causal_mask(T):
        return torch.ones(T, T).tril().bool()

    def my_causal_mask(T):
        return solved_causal_mask(T)

    assert checks.causal_mask(solved_causal_mask).ok
    assert "✓ solved_causal_mask: right." in capsys.readouterr().out
    InteractiveShell.instance()
    try:
        with capture_output() as captured:
            checks.causal_mask(solved_causal_mask)
            checks.causal_mask(my_causal_mask)
    finally:
        InteractiveShell.clear_instance()
    assert captured.stdout.startswith("✓ my_causal_mask: right.")
    (shown,) = captured.outputs
    assert shown.data["text/html"].startswith("<details><summary>What the check says")
    assert "✓ solved_causal_mask: right." in shown.data["text/plain"]
