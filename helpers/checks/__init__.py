"""Checks for the exercises: each names the mistake that a solution behaves like.

``checks.causal_mask(my_causal_mask)`` prints a verdict and returns it. No check raises
on what a reader wrote, and none says other things on a slow machine.
``checks.audit(layer, d_in, context_length)`` puts any attention layer to the tests of
the bug museum.

What the check ``causal_mask`` knows, and what it says of known mistakes, stands in
``exercises/causal_mask.py``; so it is with each, but for what several exercises share,
in ``exercises/support/``. Where no known mistake fits, ``diagnosis`` asks ``repairing``
and ``signs``. What a call leaves behind is said by ``harm``, and all else by
``verdict``.
"""

from attention_audit import audit
from helpers.checks.exercise import Exercise
from helpers.checks.exercises import EXERCISES
from helpers.checks.verdict import Verdict

__all__ = ["EXERCISES", "Verdict", "audit", *EXERCISES]
globals().update(EXERCISES)


def __getattr__(name: str) -> Exercise:
    """Tell type checkers that any other name is a check."""
    raise AttributeError(f"there is no check {name!r}; EXERCISES names them all")
