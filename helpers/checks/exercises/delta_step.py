"""Exercise of chapter 16: one step of the delta rule."""

import itertools

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _memories():
    generator = torch.Generator().manual_seed(16)
    sizes = {
        "a state of two rows": (2, 2),
        "three rows, two columns": (3, 2),
        "as many rows as columns": (4, 4),
        "more columns than rows": (2, 5),
    }

    def drawn(name, size, beta=0.5, length=None):
        D, D_v = size
        key = torch.randn(D, generator=generator).round(decimals=1)
        key[0] += 1.5  # so that no key is all zeros
        if length is not None:
            key = key / key.norm() * length
        arguments = {
            "state": torch.randn(D, D_v, generator=generator).round(decimals=1),
            "key": key,
            "value": torch.randn(D_v, generator=generator).round(decimals=1),
            "beta": beta,
        }
        return Case(name, arguments)

    empty = drawn("an empty state", (3, 2))
    empty.arguments["state"] = torch.zeros(3, 2)
    return [
        *itertools.starmap(drawn, sizes.items()),
        drawn("a key of length 1, and beta 1", (3, 2), 1.0, 1.0),
        drawn("beta 0", (3, 2), 0.0),
        empty,
    ]


def _step(
    state,
    key,
    value,
    beta,
    *,
    old=1.0,
    scale_old=True,
    scale_new=True,
    keep=True,
    sign=1.0,
    normed=False,
):
    """Right where nothing is given; each option is one mistake."""
    if normed:
        key = key / key.norm()
    there = old * (key @ state)
    news = (beta if scale_new else 1) * value - (beta if scale_old else 1) * there
    return (state if keep else 0) + sign * torch.outer(key, news)


def _with(**options):
    return lambda state, key, value, beta: _step(state, key, value, beta, **options)


def _turned(state, key, value, beta):
    """The outer product the other way round, where it fits."""
    return state + beta * torch.outer(value - key @ state, key)


def _read_turned(state, key, value, beta):
    return state + beta * torch.outer(key, value - state @ key)


def _fading(state, key, value, beta):
    return (1 - beta) * state + torch.outer(key, value)


def _averaged(state, key, value, beta):
    return (1 - beta) * state + beta * torch.outer(key, value)


EXERCISE = Exercise(
    name="delta_step",
    stub="my_delta_step(state, key, value, beta)",
    asks=(
        "a function of a state (D, D_v), a key (D,), a value (D_v,) and a number beta "
        "that returns the state after one step of the delta rule, (D, D_v)."
    ),
    returns={"state": "(D, D_v)"},
    reference=_step,
    cases=_memories,
    mistakes=(
        Mistake(
            "linear attention's step",
            _with(old=0.0),
            "The value is added to what is there. The delta rule writes the "
            "difference: the value less what the state returns for the key.",
        ),
        Mistake(
            "the old value added once more",
            _with(old=-1.0),
            "What the state returns for the key is to be taken off, and you add it: "
            "value - key @ state.",
        ),
        Mistake(
            "a step in the other direction",
            _with(sign=-1.0),
            "You subtract where you should add: the step goes from what is there "
            "towards the value.",
        ),
        Mistake(
            "beta for the new value alone",
            _with(scale_old=False),
            "beta says how much of the old value is replaced, so it stands before the "
            "whole difference, and not before the value alone.",
        ),
        Mistake(
            "beta for the old value alone",
            _with(scale_new=False),
            "You take off a share of the old value, and add the whole new one. beta "
            "stands before the difference of the two.",
        ),
        Mistake(
            "a step without beta",
            _with(scale_old=False, scale_new=False),
            "The old value is replaced whole. Only its share beta is to be: multiply "
            "the difference by beta.",
        ),
        Mistake(
            "a state that fades, and a value that is added",
            _fading,
            "That is decay by 1 - beta and then linear attention's step. Only what the "
            "state returns for this key is to be replaced.",
        ),
        Mistake(
            "what is written, without the state before",
            _with(keep=False),
            "You return what this step writes. Add it to the state.",
        ),
        Mistake(
            "a key made 1 long",
            _with(normed=True),
            "The key is to be taken as it comes. Keys of length 1 are the layer's "
            "business.",
        ),
        Mistake(
            "a state that fades as a whole",
            _averaged,
            "You mix the whole state with what is new, and so all other keys lose "
            "theirs. Only what the state returns for this key is to be replaced.",
        ),
        Mistake(
            "the outer product the other way round",
            _turned,
            "The state is (D, D_v): its rows belong to the features of the key, so it "
            "is torch.outer(key, …).",
        ),
        Mistake(
            "a state that is read the wrong way round",
            _read_turned,
            "What the key finds is key @ state: a sum over the state's rows, which "
            "belong to the features of the key.",
        ),
    ),
)
