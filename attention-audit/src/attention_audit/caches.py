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
    Nonsense,
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
    tensors_in,
)
from attention_audit.wording import sort_of

# How a step refuses pieces of several tokens. Any other error is a mistake.
REFUSALS = (NotImplementedError, ValueError, AssertionError)
LARGE = 30
HALF = 0.1  # what 16 bits may lose, as a share of the largest number
SEVERAL = "pieces of 2"
SINGLE = "one token at a time"
FINE, WRONG, REFUSED = "fine", "wrong", "refused"
Feed = Callable[[Tensor, Any], tuple[Tensor, Any]]


class _Refused(Exception):
    """A step refused a piece of several tokens."""


class NoPair(Nonsense):
    """A step returned no context and cache: nothing can be said of the layer."""


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
    try:
        return _asked(step, subject)
    except NoPair as error:
        return fails(error_text(error))


def _asked(step: Callable[..., Any], subject: Subject) -> Result:
    module, x = subject.copy(), subject.x()
    slack = max(10, subject.slack())
    whole, outcomes = context_of(module, x), {}
    for name, plan in _plans(subject.T).items():
        feed = functools.partial(_feed, step, module)
        outcomes[name] = _outcome(feed, x, plan, whole, slack)
        module = subject.copy() if outcomes[name].broken else module
    if reason := _wrong(outcomes):
        return fails(reason + _full(step, subject, whole, slack))
    if reason := _mixed(step, module, subject, slack) or _branches(
        step, subject, slack
    ):
        return fails(reason)
    if outcomes[SEVERAL].result == FINE:
        feed = functools.partial(_feed, step, subject.copy())
        outcome = _outcome(feed, x, _in_turn(subject.T, 3, 1), whole, slack)
        if outcome.result == WRONG:
            return fails(f"pieces of 3 and 1: {outcome.reason}")
    if reason := _large_tokens(step, subject) or _padded(step, subject, slack):
        return fails(reason)
    for training, left in ((True, "eval"), (False, "train")):
        module = subject.copy().train(training)
        parts = list(module.modules())  # a cache may be one that joins them
        for pieces in ((x,), (x[:, :1], x[:, 1:2])):
            cache = None
            with contextlib.suppress(Exception):  # "dropout" says what fails in it
                for piece in pieces:
                    _, cache = step(module, piece.clone(), cache)
            if any(part.training != training for part in parts):
                mode = "train" if training else "eval"
                return fails(f"a step in {mode} mode leaves {left} mode behind")
    if reason := _in_bfloat16(step, subject):
        return fails(reason)
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
        NoPair: it returns something else.
    """
    try:
        result = step(module, x.clone(), cache)
    except REFUSALS as error:
        if x.shape[1] == 1:
            raise
        raise _Refused(error_text(error)) from error
    context, cache = _pair(result)
    return checked_context(context, x), cache


def _pair(result: Any) -> tuple[Any, Any]:
    """The context and the cache that a step returned."""
    if isinstance(result, (tuple, list)) and len(result) == 2:
        return result[0], result[1]
    came = sort_of(result)
    if isinstance(result, (tuple, list)):
        came += f" of {len(result)}"
    raise NoPair(f"step must return (context, cache), not {came}")


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
    except NoPair:
        raise
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
    found = _left_padded(step, module, x, real)
    if not found[real].isfinite().all():
        return "left padding with a cache: positions are not finite"
    expected = context_of(module, x[:1]), context_of(module, x[1:2, T - short :])
    for mine, theirs in zip(
        (found[:1], found[1:2, T - short :]), expected, strict=True
    ):
        if reason := _first_wrong(mine, theirs, slack):
            return f"left padding with a cache: {reason}, counted from the first token"
    between = _left_padded(step, module, x, real, other=subject.x(seed=1))
    if reason := _first_wrong(between[:1], found[:1], slack) or _first_wrong(
        between[1:2, T - short :], found[1:2, T - short :], slack
    ):
        said = "left padding with a cache, and another sequence between its steps"
        return f"{said}: {reason}; is its padding kept in the module?"
    return ""


def _left_padded(
    step: Callable[..., Any],
    module: nn.Module,
    x: Tensor,
    real: Tensor,
    other: Tensor | None = None,
) -> Tensor:
    """What a prompt and steps give; perhaps another sequence begins between two."""
    T, cache, parts, start = x.shape[1], None, [], 0
    for size in [T // 2, *[1] * (T - T // 2)]:
        end = start + size
        if start and other is not None:
            step(module, other.clone(), None, torch.ones_like(real))
        piece = x[:, start:end].clone()
        context, cache = _pair(step(module, piece, cache, real[:, :end].clone()))
        parts.append(checked_context(context, piece))
        start = end
    return torch.cat(parts, dim=1)


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


def _branches(step: Callable[..., Any], subject: Subject, slack: float) -> str:
    """Whether two ways to go on from one cache disturb each other; or "".

    A step that returns the cache that it got has written into it, as its owner knows;
    so has one whose cache is an object of a class made for that.
    """
    module, x = subject.copy(), subject.x()
    half, cache = subject.T // 2, None
    for t in range(half):
        before = cache
        _, cache = _feed(step, module, x[:, t : t + 1], cache)
        if not _is_plain(cache) or (before is not None and before is cache):
            return ""
    other = torch.cat([x[:, :half], subject.x(seed=1)[:, half:]], dim=1)
    ways = [x, other]
    found: list[list[Tensor]] = [[], []]
    caches = [cache, cache]
    for t in range(half, subject.T):
        for i, one in enumerate(ways):
            context, caches[i] = _feed(step, module, one[:, t : t + 1], caches[i])
            found[i].append(context)
    for one, parts in zip(ways, found, strict=True):
        alone = context_of(module, one)
        mine = torch.cat([alone[:, :half], *parts], dim=1)
        if reason := _first_wrong(mine, alone, slack):
            return (
                f"two ways to go on from one cache: {reason}; does a step write into "
                "the cache that it gets?"
            )
    return ""


def _is_plain(cache: Any) -> bool:
    """Whether a cache is made of tensors and numbers alone."""
    if isinstance(cache, dict):
        return all(map(_is_plain, cache.values()))
    if isinstance(cache, (list, tuple)):
        return all(map(_is_plain, cache))
    return cache is None or isinstance(cache, (torch.Tensor, int, float))


def _in_bfloat16(step: Callable[..., Any], subject: Subject) -> str:
    """What goes wrong with a cache in bfloat16, where one pass goes well; or ""."""
    dtype = torch.bfloat16
    if subject.half is not None:
        return ""
    module, x = subject.copy().to(dtype), subject.x().to(dtype)
    try:
        whole = context_of(module, x)
    except Exception:
        return ""
    if whole.dtype != dtype or not whole.isfinite().all():
        return ""  # "dtypes" says so
    cache, parts = None, []
    for piece in x.split(1, dim=1):
        try:
            context, cache = _feed(step, module, piece, cache)
        except Exception as error:
            return f"in bfloat16: {error_text(error)}{place(error)}"
        parts.append(context)
    found = torch.cat(parts, dim=1)
    if found.dtype != dtype:
        came = str(found.dtype).removeprefix("torch.")
        return f"in bfloat16, steps give {came}"
    change = (found.float() - whole.float()).abs().max().item()
    if not change <= HALF * whole.float().abs().max().item():
        return f"in bfloat16, steps differ from one pass by {number(change)}"
    return ""


def _full(
    step: Callable[..., Any], subject: Subject, whole: Tensor, slack: float
) -> str:
    """What may be meant where single steps go wrong once a cache no longer grows."""
    module, x, cache = subject.copy(), subject.x(), None
    sizes, parts = [], []
    try:
        for piece in x.split(1, dim=1):
            context, cache = _feed(step, module, piece, cache)
            parts.append(context)
            sizes.append(_numbers(cache))
    except Exception:
        return ""
    wrong = first_change(torch.cat(parts, dim=1), whole, slack=slack)
    kept = next((t for t in range(1, len(sizes)) if sizes[t] == sizes[t - 1]), 0)
    grows = all(sizes[t] == (t + 1) * sizes[0] > 0 for t in range(kept))
    if not wrong or kept < 2 or wrong < kept or not grows:
        return ""
    if subject.window is None:
        return f"; the cache holds {kept} tokens at most, and no window is declared"
    if kept < subject.window - 1:
        need = subject.window - 1
        return f"; the cache holds {kept} tokens, and a step needs the last {need}"
    if not subject.declared.positions:
        return ""
    return (
        f"; the cache holds {kept} tokens at most: is the position of a new one "
        "counted by its length?"
    )


def _numbers(cache: Any) -> int:
    """How many numbers a cache holds, as far as they are seen."""
    kept = vars(cache) if hasattr(cache, "__dict__") else cache
    return sum(one.numel() for one in tensors_in(kept) if one.dim() > 2)
