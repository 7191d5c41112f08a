"""A check has a verdict on results of odd kinds, and fails on none of them."""

import functools

import numpy as np
import pytest
import torch

from helpers import checks
from helpers.checks.calling import call
from helpers.checks.repairing.search import badness

SAMPLE = {  # what a check compares: how many of its mistakes are tried each time
    "split_heads": 4,  # a tensor
    "attend": 3,  # two tensors
    "clip_gradients": 3,  # a list of tensors
    "block_parameters": 3,  # a number
    "decode": 3,  # a text
    "get_batch": 1,  # facts
    "causal_attention": 1,  # a layer
    "heads_from_multi_head": 1,  # a list of layers
}


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


def judge(name, mistakes):
    """Every verdict is one; and what a search for repairs compares can be compared."""
    exercise = checks.EXERCISES[name]
    numbers = range(len(exercise.inputs()))
    rights = [exercise.outcome(exercise.reference, number) for number in numbers]
    for mistake in mistakes:
        for kind, change in ODD.items():
            attempt = odd(mistake.function, change)
            verdict = exercise.examine(attempt)
            assert verdict.kind != "not judged", (mistake.name, kind, verdict.text)
            for case, right in zip(exercise.inputs(), rights, strict=True):
                outcome = call(attempt, case.arguments, run=exercise.run)
                assert 0 <= badness(right, outcome) <= 1, (mistake.name, kind)


@pytest.mark.parametrize("name", SAMPLE)
def test_odd_results_of_some_known_mistakes_get_a_verdict(name):
    mistakes = checks.EXERCISES[name].mistakes
    judge(name, mistakes[:: -(-len(mistakes) // SAMPLE[name])])


@pytest.mark.slow
@pytest.mark.parametrize("name", checks.EXERCISES)
def test_odd_results_of_every_known_mistake_get_a_verdict(name):
    judge(name, checks.EXERCISES[name].mistakes)
