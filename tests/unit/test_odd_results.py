"""A check has a verdict on results of odd kinds, and fails on none of them."""

import functools
import itertools

import numpy as np
import pytest
import torch

from helpers import checks
from helpers.checks.calling import call
from helpers.checks.repairing.search import badness

QUICK = (  # what these checks compare
    "split_heads",  # a tensor
    "attend",  # two tensors
    "clip_gradients",  # a list of tensors
    "block_parameters",  # a number
    "get_batch",  # facts
    "causal_attention",  # a layer
)


def negated(value):
    if isinstance(value, torch.Tensor):
        return ~value if value.dtype == torch.bool else -value
    return value[::-1] if isinstance(value, str) else -value


def transposed(value):
    if isinstance(value, torch.Tensor) and value.dim() > 1:
        return value.transpose(-1, -2)
    return value


def emptied(value):
    if isinstance(value, torch.Tensor):
        return value.flatten()[:0]
    return "" if isinstance(value, str) else torch.zeros(0)


def listed(value):
    return value.tolist() if isinstance(value, torch.Tensor) else [value]


def as_array(value):
    return np.asarray(value.detach() if isinstance(value, torch.Tensor) else value)


def sparse(value):
    return value.to_sparse() if isinstance(value, torch.Tensor) else value


def as_dtype(dtype, value):
    if isinstance(value, torch.Tensor):
        return value.to(dtype)
    return value if isinstance(value, str) else torch.tensor(value, dtype=dtype)


ODD = {
    "negated": negated,
    "transposed": transposed,
    "emptied": emptied,
    "a list": listed,
    "a NumPy array": as_array,
    "sparse": sparse,
    "float64": functools.partial(as_dtype, torch.float64),
    "bfloat16": functools.partial(as_dtype, torch.bfloat16),
}


def changed(change, value):
    """A result with each of its tensors, numbers and texts changed."""
    if isinstance(value, torch.nn.Module):
        value.register_forward_hook(lambda _, __, output: changed(change, output))
        return value
    if isinstance(value, (list, tuple)):
        return type(value)(changed(change, one) for one in value)
    if isinstance(value, dict):
        return {name: changed(change, one) for name, one in value.items()}
    known = isinstance(value, (torch.Tensor, str, int, float))
    return change(value) if known else value


def odd(function, change):
    """A solution that makes a mistake, and then changes its result."""

    def attempt(*arguments, **named):
        return changed(change, function(*arguments, **named))

    return attempt


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow)
        for name in checks.EXERCISES
    ],
)
def test_odd_results_of_known_mistakes_get_a_verdict(name):
    """Each kind of one mistake; and what a search for repairs compares, it can."""
    exercise = checks.EXERCISES[name]
    numbers = range(len(exercise.inputs()))
    rights = [exercise.outcome(exercise.reference, number) for number in numbers]
    mistakes = itertools.cycle(exercise.mistakes)
    for mistake, (kind, change) in zip(mistakes, ODD.items(), strict=False):
        attempt = odd(mistake.function, change)
        verdict = exercise.examine(attempt)
        assert verdict.kind != "not judged", (mistake.name, kind, verdict.text)
        for case, right in zip(exercise.inputs(), rights, strict=True):
            outcome = call(attempt, case.arguments, run=exercise.run)
            assert 0 <= badness(right, outcome) <= 1, (mistake.name, kind)
