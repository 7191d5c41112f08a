"""Train mode asked as eval mode is: with dropout off, both must do the same."""

from collections.abc import Callable

import torch

from attention_audit.report import FAILS
from attention_audit.subject import (
    Result,
    Subject,
    context_of,
    largest_change,
    number,
)
from attention_audit.undropped import HIGH, LOW, drawing


def without_dropout(subject: Subject) -> str:
    """How train mode with dropout off differs from eval mode; "" where it doesn't.

    It is also "" where calls differ from seed to seed: then something is dropped in a
    way that can't be switched off from outside.
    """
    if subject.differs is None:
        subject.differs = _differs(subject)
    return subject.differs


def _differs(subject: Subject) -> str:
    if not _is_quiet(subject):
        return ""
    module, x = subject.trained().copy(), subject.x()
    train, evaluated = context_of(module, x), context_of(subject.copy(), x)
    if not torch.equal(evaluated, context_of(subject.copy(), x, seed=1)):
        return ""  # "eval repeats" says so
    slack = max(10, subject.slack())
    change, small = largest_change(train, evaluated, slack=slack)
    if small:
        return ""
    return f"with dropout off, train mode differs from eval mode by {number(change)}"


def _is_quiet(subject: Subject) -> bool:
    """Whether dropout can be switched off: whatever is drawn, nothing changes."""
    x = subject.x()
    first = context_of(subject.trained().copy(), x)
    if not torch.equal(first, context_of(subject.trained().copy(), x, seed=1)):
        return False
    for value in (LOW, HIGH):  # rarely drawn, where little is dropped
        with drawing(value):
            if not torch.equal(first, context_of(subject.trained().copy(), x)):
                return False
    return True


def again(
    check: Callable[[Subject], Result], *, always: bool = False
) -> Callable[[Subject], str]:
    """A check that is asked anew in train mode, with dropout off, where that differs.

    Args:
        check: that passes in eval mode.
        always: ask also where both modes do the same without what is declared.
    """

    def ask(subject: Subject) -> str:
        if not (without_dropout(subject) or (always and _is_quiet(subject))):
            return ""
        result, reason = check(subject.trained())
        return f"in train mode, dropout off: {reason}" if result == FAILS else ""

    return ask
