"""The check on key-value caches: in pieces, a sequence gives what one pass gives."""

import contextlib
import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from attention_audit.frames import place
from attention_audit.subject import (
    Result,
    Subject,
    checked_context,
    context_of,
    error_text,
    fails,
    first_change,
    number,
    passes,
    skip,
)

# How a step refuses pieces of several tokens. Any other error is a mistake.
REFUSALS = (NotImplementedError, ValueError, AssertionError)
LARGE = 30
SEVERAL = "pieces of 2"
SINGLE = "one token at a time"
FINE, WRONG, REFUSED = "fine", "wrong", "refused"
Feed = Callable[[Tensor, Any], tuple[Tensor, Any]]


class _Refused(Exception):
    """A step refused a piece of several tokens."""


class Outcome(NamedTuple):
    """What came of one way to cut the sequence: FINE, WRONG or REFUSED, and why.

    ``broken``: an error ended it, and may have left something in the module.
    """

    result: str
    reason: str
    broken: bool = False


@torch.no_grad()
def cache(subject: Subject) -> Result:
    """Prefill and steps give what one pass gives, and two caches don't mix.

    A step may refuse pieces of several tokens; one token at a time must work.
    """
    if (step := subject.declared.step) is None:
        return skip("pass step, a function (module, x, cache), to ask")
    if subject.T < 3:
        return skip("too few tokens to take steps")
    module, x = subject.copy(), subject.x()
    slack = max(10, subject.slack())
    whole, outcomes = context_of(module, x), {}
    for name, plan in _plans(subject.T).items():
        feed = functools.partial(_feed, step, module)
        outcomes[name] = _outcome(feed, x, plan, whole, slack)
        module = subject.copy() if outcomes[name].broken else module
    if reason := _wrong(outcomes) or _mixed(step, module, subject, slack):
        return fails(reason)
    if outcomes[SEVERAL].result == FINE:
        feed = functools.partial(_feed, step, subject.copy())
        outcome = _outcome(feed, x, _in_turn(subject.T, 3, 1), whole, slack)
        if outcome.result == WRONG:
            return fails(f"pieces of 3 and 1: {outcome.reason}")
    if reason := _large_tokens(step, subject) or _padded(step, subject, slack):
        return fails(reason)
    learning = subject.copy().train()
    for first in (x, x[:, :1]):
        with contextlib.suppress(Exception):  # "dropout" says what fails in train mode
            step(learning, first.clone(), None)
        if not all(part.training for part in learning.modules()):
            return fails("a step in train mode leaves eval mode behind")
    return passes(_all_right(outcomes))


def _plans(T: int) -> dict[str, Sequence[int]]:
    """Ways to cut T tokens into pieces."""
    half = T // 2
    return {
        "all at once": [T],
        SINGLE: [1] * T,
        f"{half} tokens then single ones": [half, *[1] * (T - half)],
        SEVERAL: [2] * half + [1] * (T % 2),
        f"1 token then {T - 1}": [1, T - 1],
        f"{T - 1} tokens then 1": [T - 1, 1],
    }


def _in_turn(T: int, *sizes: int) -> list[int]:
    """Pieces of these sizes, one after the other, until there are T tokens."""
    pieces: list[int] = []
    while (rest := T - sum(pieces)) > 0:
        pieces.append(min(rest, sizes[len(pieces) % len(sizes)]))
    return pieces


def _large_tokens(step: Callable[..., Any], subject: Subject) -> str:
    """Where steps are wrong for large tokens alone, as without a cap on scores."""
    module, x = subject.copy(), LARGE * subject.x()
    feed = functools.partial(_feed, step, module)
    whole = context_of(module, x)
    for plan in ([1] * subject.T, _in_turn(subject.T, 2)):
        outcome = _outcome(feed, x, plan, whole, 100 * max(1, subject.slack()))
        if outcome.result == WRONG and not outcome.broken:
            size = "single ones" if len(plan) == subject.T else "pieces of 2"
            return f"tokens times {LARGE}, {size}: {outcome.reason}"
    return ""


def _feed(
    step: Callable[..., Any], module: nn.Module, x: Tensor, cache: Any
) -> tuple[Tensor, Any]:
    """The context of the next tokens, and the new cache.

    Raises:
        _Refused: the step takes no piece of several tokens.
    """
    try:
        context, cache = step(module, x.clone(), cache)
    except REFUSALS as error:
        if x.shape[1] == 1:
            raise
        raise _Refused(error_text(error)) from error
    return checked_context(context, x), cache


def _outcome(
    feed: Feed, x: Tensor, plan: Sequence[int], whole: Tensor, slack: float
) -> Outcome:
    """What comes of one way to cut the sequence."""
    parts, cache = [], None
    try:
        for piece in x.split(list(plan), dim=1):
            context, cache = feed(piece, cache)
            parts.append(context)
    except _Refused as refused:
        return Outcome(REFUSED, str(refused), broken=True)
    except Exception as error:
        return Outcome(WRONG, f"{error_text(error)}{place(error)}", broken=True)
    reason = _first_wrong(torch.cat(parts, dim=1), whole, slack)
    return Outcome(WRONG if reason else FINE, reason)


def _first_wrong(found: Tensor, whole: Tensor, slack: float) -> str:
    """Where a result is first wrong, and by how much; or ""."""
    if found.shape != whole.shape:
        return f"{tuple(found.shape)} in place of {tuple(whole.shape)}"
    if (t := first_change(found, whole, slack=slack)) is None:
        return ""
    change = (found[:, t] - whole[:, t]).abs().max().item()
    return f"first wrong at position {t}, by {number(change)}"


def _wrong(outcomes: dict[str, Outcome]) -> str:
    """The first way that is wrong, and how the others do; or ""."""
    named = _named(outcomes)
    if not named[WRONG]:
        return ""
    first, *others = named[WRONG]
    parts = [f"{first}: {outcomes[first].reason}"]
    for word, names in (
        ("wrong too", others),
        (FINE, named[FINE]),
        (REFUSED, named[REFUSED]),
    ):
        parts += [f"{word}: {', '.join(names)}"] if names else []
    return "; ".join(parts)


def _named(outcomes: dict[str, Outcome]) -> dict[str, list[str]]:
    """For each result, the ways to cut that have it."""
    return {
        result: [name for name, one in outcomes.items() if one.result == result]
        for result in (FINE, WRONG, REFUSED)
    }


def _all_right(outcomes: dict[str, Outcome]) -> str:
    """What is said where no way is wrong."""
    refused = _named(outcomes)[REFUSED]
    if not refused:
        return "prefill and steps give what one pass gives"
    why = outcomes[refused[0]].reason
    if len(refused) == len(outcomes) - 1:
        return f"{SINGLE} gives what one pass gives; longer pieces: refused, {why}"
    return f"gives what one pass gives; refused: {', '.join(refused)}, {why}"


def _padded(step: Callable[..., Any], subject: Subject, slack: float) -> str:
    """Where left padding moves what steps give; or "".

    Asked where the step takes a fourth argument, which tokens are real so far.
    """
    if len(inspect.signature(step).parameters) < 4:
        return ""
    module, T, x = subject.copy(), subject.T, subject.x()
    short = T - max(1, T // 3)
    real = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
    real[1, : T - short] = False
    cache, parts, start = None, [], 0
    for size in [T // 2, *[1] * (T - T // 2)]:
        end = start + size
        piece = x[:, start:end].clone()
        context, cache = step(module, piece, cache, real[:, :end].clone())
        parts.append(checked_context(context, piece))
        start = end
    found = torch.cat(parts, dim=1)
    if not found[real].isfinite().all():
        return "left padding with a cache: positions are not finite"
    expected = context_of(module, x[:1]), context_of(module, x[1:2, T - short :])
    for mine, theirs in zip(
        (found[:1], found[1:2, T - short :]), expected, strict=True
    ):
        if reason := _first_wrong(mine, theirs, slack):
            return f"left padding with a cache: {reason}, counted from the first token"
    return ""


def _mixed(
    step: Callable[..., Any], module: nn.Module, subject: Subject, slack: float
) -> str:
    """Whether two sequences that take steps in turn disturb each other."""
    sequences = (subject.x(), subject.x(seed=1))
    caches: list[Any] = [None, None]
    found: list[list[Tensor]] = [[], []]
    for t in range(subject.T):
        for i, x in enumerate(sequences):
            context, caches[i] = _feed(step, module, x[:, t : t + 1], caches[i])
            found[i].append(context)
    for x, parts in zip(sequences, found, strict=True):
        alone = context_of(module, x)
        if reason := _first_wrong(torch.cat(parts, dim=1), alone, slack):
            return f"two sequences in turn: {reason}; is the cache kept in the module?"
    return ""
