"""Changes of a reader's code that make its results right."""

import ast
import itertools
import linecache
import math
import sys
import textwrap
import time

import pytest
import torch

from helpers import checks
from helpers.checks.calling import Outcome, plain_call, quick_call, sheltered
from helpers.checks.comparing import alike
from helpers.checks.repairing import Trial, repair, source, steps
from helpers.checks.repairing.edits import added_edits, name_edits, plain_edits

NUMBER = itertools.count()


def written(code, name="answer"):
    """A function or class as a notebook's cell makes it."""
    code, file = textwrap.dedent(code), f"<cell {next(NUMBER)}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    names = {"torch": torch, "math": math, "nn": torch.nn}
    exec(compile(code, file, "exec"), names)  # noqa: S102
    return names[name]


def found(attempt, reference, *inputs):
    """The repair of an attempt that is called with each of the inputs."""

    def outcomes(function):
        return [tried(function, number) for number in range(len(inputs))]

    def tried(function, number):
        arguments = dict(enumerate(inputs[number]))
        return quick_call(function, arguments, run=plain_call)

    trial = Trial(tried, outcomes(reference), outcomes(attempt), alike, lambda _: 1000)
    return repair(attempt, trial)


def tables(*shapes):
    """Inputs of one table of drawn numbers each."""
    generator = torch.Generator().manual_seed(2)
    return [(torch.randn(one, generator=generator),) for one in shapes]


TABLES = tables((2, 3), (3, 4), (2, 4, 4), (2, 3, 4))
SQUARES = tables((2, 2), (3, 3), (4, 4))


def softmax(x):
    return x.softmax(-1)


def test_a_number_of_a_right_solution_is_tried_in_place_of_another():
    attempt = written("def answer(x):\n    return x / 1000")

    def trial(*constants):
        def tried(function, number):
            return quick_call(function, {"x": TABLES[number][0]}, run=plain_call)

        numbers = range(len(TABLES))
        rights = [tried(lambda x: x / 10_000, one) for one in numbers]
        outcomes = [tried(attempt, one) for one in numbers]
        return Trial(
            *(tried, rights, outcomes, alike, lambda _: 1000), constants=constants
        )

    assert repair(attempt, trial(10_000)) == (
        "with `return x / 10000` in place of `return x / 1000` (line 2)",
    )
    assert repair(attempt, trial()) == ()


@pytest.mark.parametrize(
    ("body", "reference", "inputs", "words"),
    [
        (
            "return x.softmax(0)",
            softmax,
            TABLES,
            "with `return x.softmax(-1)` in place of `return x.softmax(0)` (line 2)",
        ),
        (
            "return x.clamp(-0.1, 0.1).softmax(-1)",
            softmax,
            TABLES,
            "with `return x.softmax(-1)` in place of `return x.clamp(-0.1, "
            "0.1).softmax(-1)` (line 2)",
        ),
        (
            "return x.softmax(-1).mT",
            softmax,
            TABLES,
            "with `return x.softmax(-1)` in place of `return x.softmax(-1).mT` (line",
        ),
        (
            "if x.dim() == 2:\n    return x\nreturn x.softmax(-1)",
            softmax,
            TABLES,
            "if `x.dim() == 2` (line 2) were never true",
        ),
        (
            "x = x.softmax(-1)\nx = x + 1\nreturn x",
            softmax,
            TABLES,
            "without `x = x + 1` (line 3)",
        ),
        (
            "y = x.exp()\nreturn y / y.sum(-1, keepdim=True)",
            softmax,
            [(torch.tensor([1.0, 200.0]),), (torch.tensor([-200.0, -201.0]),)],
            "with `y = (x - x.amax(-1, keepdim=True)).exp()` in place of "
            "`y = x.exp()` (line 2)",
        ),
        (
            "return x.reshape(x.shape)",
            lambda x: x.mT,
            SQUARES,
            "with `return x.transpose(-2, -1)` in place of "
            "`return x.reshape(x.shape)` (line 2)",
        ),
        (
            "mask = torch.ones(x.shape).triu()\nreturn x * mask",
            torch.tril,
            SQUARES,
            "with `mask = torch.ones(x.shape).tril()` in place of "
            "`mask = torch.ones(x.shape).triu()` (line 2)",
        ),
        (
            'return torch.einsum("ij,kj->ik", x, x)',
            lambda x: x @ x,
            SQUARES,
            "with `return torch.einsum('ij,jk->ik', x, x)` in place of "
            "`return torch.einsum('ij,kj->ik', x, x)` (line 2)",
        ),
        (
            "rows = [x[i] for i in range(len(x) - 1)]\nreturn torch.stack(rows)",
            lambda x: x,
            TABLES,
            "with `rows = [x[i] for i in range(len(x))]` in place of "
            "`rows = [x[i] for i in range(len(x) - 1)]` (line 2)",
        ),
        (
            "y = 0\nfor row in x:\n    y = row\nreturn y",
            lambda x: x.sum(0),
            TABLES,
            "with `y += row` in place of `y = row` (line 4)",
        ),
        (
            "y = x[0]\nfor row in x:\n    y += row\nreturn y",
            lambda x: x[-1],
            SQUARES,
            "with `y = row` in place of `y += row` (line 4)",
        ),
        (
            "y = 0\nfor row in x:\n    y = y + row\n    return y",
            lambda x: x.sum(0),
            TABLES,
            "with line 5, `return y`, moved out of the block that begins in line 3",
        ),
        (
            "return x / 3 ** 1 / 2",
            lambda x: x / 3**0.5,
            TABLES,
            "with `return x / 3 ** (1 / 2)` in place of `return x / 3 ** 1 / 2` "
            "(line 2)",
        ),
        (
            "return x + x * 2 if x.shape[-1] > 3 else x.exp()",
            lambda x: x + (x * 2 if x.shape[-1] > 3 else x.exp()),
            TABLES,
            "with `return x + (x * 2 if x.shape[-1] > 3 else x.exp())` in place of",
        ),
        (
            "return x.tril()",
            lambda x: x.tril(-1),
            SQUARES,
            "with `return x.tril(-1)` in place of `return x.tril()` (line 2)",
        ),
        (
            "return x.square().sum()",
            lambda x: x.square().sum() / 2,
            TABLES,
            "with `return x.square().sum() / 2` in place of `return x.square().sum()` "
            "(line 2)",
        ),
        (
            "y = x * 2\nx = x + 1\nreturn y",
            lambda x: (x + 1) * 2,
            TABLES,
            "with line 3, `x = x + 1`, moved up before line 2",
        ),
        (
            "size = x.shape[0]\nother = x.shape[-1]\nreturn x / size",
            lambda x: x / x.shape[-1],
            TABLES,
            "with `size = x.shape[-1]` in place of `size = x.shape[0]` (line 2)",
        ),
        (
            "y = x + 1\nreturn x * 2, y * x",
            lambda x: ((x + 1) * 2, (x + 1) * x),
            TABLES,
            "with `return (y * 2, y * x)` in place of `return (x * 2, y * x)` (line 3)",
        ),
        (
            "scale = 3\nreturn x * x / math.sqrt(x.shape[0])",
            lambda x: x * x / 3,
            TABLES,
            "with `return x * x / scale` in place of",
        ),
        (
            "low = torch.ones(x.shape).triu(1) * -1e9\nreturn (x + low).exp()",
            lambda x: x.exp().tril(),
            [(torch.full((3, 3), 1e10) - 1e10 * torch.eye(3).fliplr(),), *SQUARES],
            "with `return x.masked_fill(low < -1, -float('inf')).exp()` in place of "
            "`return (x + low).exp()` (line 3)",
        ),
        (
            "return (x * x + x) * (x * x)",
            lambda x: (x + x) * x,
            TABLES,
            "and wherever it stands",
        ),
        (
            "high = x.max() / (len(x) - 1)\nreturn high + x.min() / (len(x[0]) - 1)",
            lambda x: x.max() / len(x) + x.min() / len(x[0]),
            TABLES,
            "(len(x) - 1)` (line 2 and wherever that `1` stands)",
        ),
    ],
)
def test_one_change_that_makes_all_results_right(body, reference, inputs, words):
    attempt = written("def answer(x):\n" + textwrap.indent(body, "    "))
    told = found(attempt, reference, *inputs)
    assert len(told) == 1
    assert words in told[0]


def test_two_changes():
    attempt = written(
        """
        def answer(x):
            scores = x / x.shape[-1]
            return scores.softmax(0)
        """
    )
    told = found(attempt, lambda x: (x / x.shape[-1] ** 0.5).softmax(-1), *TABLES)
    assert told == (
        "with `return scores.softmax(-1)` in place of `return scores.softmax(0)` "
        "(line 4)",
        "with `scores = x / x.shape[-1] ** 0.5` in place of `scores = x / x.shape[-1]` "
        "(line 3)",
    )


def test_what_is_right_on_some_inputs_only_is_no_repair():
    attempt = written("def answer(x):\n    return x + 5")
    assert not found(attempt, lambda x: x * 2, (3,), (7,), (-1,))
    assert found(attempt, lambda x: x + 6, (3,), (7,), (-1,))


def test_a_count_that_several_places_could_mend_is_left_alone():
    several = written("def answer(d):\n    a = 3 * d\n    b = 4 * d\n    return a + b")
    one = written("def answer(d):\n    a = d * d\n    return a + 4")
    inputs = [(2,), (5,), (11,)]
    assert not found(several, lambda d: 8 * d, *inputs)
    assert found(one, lambda d: d * d + 3, *inputs) == (
        "with `return a + 3` in place of `return a + 4` (line 3)",
    )


def test_a_class_and_a_function_beside_it():
    layer = written(
        """
        class answer(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.width = width + 1

            def forward(self, x):
                return x * self.width
        """
    )

    def run(made, x):
        return made(3)(x)

    class Right(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.width = width

        def forward(self, x):
            return x * self.width

    def tried(made, number):
        return quick_call(made, {"x": TABLES[number][0]}, run=run)

    rights, outcomes = (
        [tried(one, number) for number in range(len(TABLES))] for one in (Right, layer)
    )
    told = repair(layer, Trial(tried, rights, outcomes, alike, lambda _: 1000))
    assert told == (
        "with `self.width = width` in place of `self.width = width + 1` (line 5)",
    )
    beside = written(
        """
        def helper(x):
            return x.softmax(0)

        def answer(x):
            return helper(x) * 2
        """
    )
    told = found(beside, lambda x: x.softmax(-1) * 2, *TABLES)
    assert not told  # only the reader's own function is changed, but it is called


@pytest.mark.parametrize(
    "code",
    [
        "%time x = 1\ndef answer(x):\n    return x",
        "def outer(y):\n    def answer(x):\n        return x + y\n    return answer\n"
        "answer = outer(1)",
        "answer = len",
        "answer = 3",
    ],
    ids=["magic command", "names around it", "builtin", "no function"],
)
def test_code_that_can_not_be_read(code):
    if code.startswith("%"):
        attempt = written(code.split("\n", 1)[1])
        file = attempt.__code__.co_filename
        linecache.cache[file] = (0, None, code.splitlines(keepends=True), file)
    else:
        attempt = written(code)
    assert source.read(attempt) is None


def test_every_change_is_taken_back_and_none_changes_nothing():
    code = source.read(written(BUSY))
    before = ast.unparse(code.definition)
    seen = set()
    for edits in (plain_edits, name_edits, added_edits):
        for edit in edits(code.definition):
            with edit.made():
                ast.fix_missing_locations(code.definition)
                seen.add(ast.unparse(code.definition))
            assert ast.unparse(code.definition) == before
            assert len(edit.words()) < 300
    assert len(seen) > 300


BUSY = """
def answer(queries, keys, window=3):
    T, D = queries.shape
    scores = queries @ keys.T / math.sqrt(D)
    for t in range(T - 1):
        if t > window and not D == 2:
            scores[t, : t - window + 1] = -1e9
    hidden = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    scores = scores.masked_fill(hidden, -100.0).reshape(T, T)
    parts = [torch.exp(row) / row.exp().sum() for row in scores if row.any()]
    return torch.einsum("ts,sd->td", torch.stack(parts), keys), scores
"""


def test_nothing_gets_out_of_a_search(capsys):
    attempt = written(
        """
        KEPT = []

        def answer(x):
            global KEPT
            KEPT = [x]
            print("here")
            torch.manual_seed(3)
            return x.softmax(0)
        """
    )
    state = torch.random.get_rng_state()
    kept = attempt.__globals__["KEPT"]
    with sheltered():
        told = found(attempt, softmax, *TABLES)
    assert "softmax(-1)" in told[0]
    assert capsys.readouterr().out == ""
    assert torch.equal(state, torch.random.get_rng_state())
    assert kept == []


def test_a_change_that_never_ends_is_passed_over(monkeypatch):
    monkeypatch.setattr("helpers.checks.repairing.SECONDS", 0.2)
    code = """
        def answer(scores):
            weights = scores.CLAMPED.softmax(-1)
            left = 3
            while left > 0:
                for _ in range(1):
                    left = left - 1  # the first that is left out
            return weights
        """
    attempt = written(code.replace("CLAMPED", "clamp(-1, 1)"))
    verdict = checks.EXERCISES["softmax"].examine(attempt)
    assert "very result would be right with `weights = scores.soft" in verdict.text
    # Here are too many that never end.
    hopeless = written(code.replace("CLAMPED", "exp().abs()"))
    verdict = checks.EXERCISES["softmax"].examine(hopeless)
    assert verdict.kind == "values"
    assert verdict.mistake is None


@pytest.mark.slow
def test_a_slow_machine_searches_as_far(monkeypatch):
    monkeypatch.setattr("helpers.checks.repairing.search.STEPS", 1_200_000)
    code = written(BUSY)

    def search(seconds, steps=1000):
        tried = []

        def call(_, number):
            tried.append(number)
            until = time.process_time() + seconds
            while time.process_time() < until:
                pass
            return Outcome(value=torch.zeros(3))

        right, wrong = Outcome(value=torch.ones(3)), Outcome(value=torch.zeros(3))
        assert not repair(code, Trial(call, [right], [wrong], alike, lambda _: steps))
        return len(tried)

    assert search(0.0) == search(0.003) > 200
    assert 20 <= search(0.0, steps=100_000) < search(0.0) / 3


def test_work_is_counted_in_steps_of_any_function_and_no_further_than_asked():
    def work(times):
        total = 0
        for one in range(times):
            total += abs(one)
        return total

    def twice(times):
        return work(times) + work(times)

    few, many = (steps(lambda n=n: work(n), 10**6) for n in (10, 1000))
    assert steps(lambda: work(10), 10**6) == few
    assert 50 * few < many
    assert 1.9 * many < steps(lambda: twice(1000), 10**6) < 2.1 * many
    assert steps(lambda: work(10**9), 500) == 500
    assert sys.gettrace() is None or "coverage" in repr(sys.gettrace())


def test_a_check_says_what_would_be_right():
    attempt = written(
        """
        def answer(queries, keys):
            scores = queries @ keys.transpose(-2, -1) / keys.shape[-1] ** 0.5
            return scores.clamp(-30, 30).softmax(-1)
        """
    )
    verdict = checks.EXERCISES["scaled_weights"].examine(attempt)
    assert verdict.signs == (
        "Every result would be right with `return scores.softmax(-1)` in place of "
        "`return scores.clamp(-30, 30).softmax(-1)` (line 4).",
    )
    assert "in place of" in verdict.text


def test_what_a_change_leaves_is_not_told_as_a_mistake():
    """Without `values * real`, the known mistake of keys set to 0 would be left.

    But that the values are set to 0 is no second mistake: both come from one idea.
    """
    attempt = written(
        """
        def answer(queries, keys, values, lengths):
            real = (torch.arange(keys.shape[1])[None] < lengths[:, None])[..., None]
            keys, values = keys * real, values * real
            scores = queries @ keys.transpose(-2, -1) / keys.shape[-1] ** 0.5
            weights = scores.softmax(-1)
            return weights @ values, weights
        """
    )
    check = checks.padded_cross_attention
    kept = written(
        """
        def answer(queries, keys, values, lengths):
            real = (torch.arange(keys.shape[1])[None] < lengths[:, None])[..., None]
            scores = queries @ (keys * real).transpose(-2, -1) / keys.shape[-1] ** 0.5
            weights = scores.softmax(-1)
            return weights @ values, weights
        """
    )
    assert check.examine(kept).mistake == "scores of the filler set to 0"
    assert check.examine(attempt).mistake is None
