"""What a check says: one short text for each kind of finding."""

import html
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from attention_audit.limits import PATIENCE
from attention_audit.wording import sort_of
from helpers.checks.calling import Outcome
from helpers.checks.cases import Case, Mistake
from helpers.checks.comparing import Difference, describe
from helpers.checks.harm import harm_of
from helpers.checks.stubs import is_a_stub

WIDTH = 80
MOST_OF_AN_ERROR = 300
SUMMARY = "What the check says of this solution"


def in_notebook() -> bool:
    """Whether a notebook's cell is running."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    Args:
        exercise: the exercise's name.
        kind: "right", "not attempted", "type", "shape", "dtype", "device",
            "mistake", "values", "raised" or "side effect"; or, where nothing can be
            said of the solution, "not finished" or "not judged".
        text: what the check printed.
        mistake: the name of the known mistake, or None.
        signs: where it is None, what the wrong results have in common, in sentences.
        case: the name of the input that shows it, or None.
        yours: what the reader's function gave there.
        expected: what it should have given.
    """

    exercise: str
    kind: str
    text: str
    mistake: str | None = None
    signs: tuple[str, ...] = ()
    case: str | None = None
    yours: Any = field(default=None, repr=False)
    expected: Any = field(default=None, repr=False)

    @property
    def ok(self) -> bool:
        """Whether the solution is right."""
        return self.kind == "right"

    def __str__(self) -> str:
        return self.text

    def _ipython_display_(self) -> None:
        """Nothing more: the check has printed the text already."""

    def show_folded(self) -> None:
        """Show the text in a notebook behind a line that opens it."""
        from IPython.display import display

        text = html.escape(self.text)
        folded = f"<details><summary>{SUMMARY}</summary><pre>{text}</pre></details>"
        display({"text/plain": self.text, "text/html": folded}, raw=True)


def no_function(exercise: str, stub: str, attempt: object) -> Verdict:
    """The verdict on a value where a function or a class was to be handed over."""
    asked = stub.partition("(")[0]
    kind = "class" if asked[0].isupper() else "function"
    lines = [
        f"✗ {exercise}: this is {sort_of(attempt)}, not a {kind}.",
        f"  Hand over the {kind} itself, without calling it: "
        f"checks.{exercise}({asked})",
    ]
    return _verdict(exercise, "type", lines)


def not_attempted(exercise: str, title: str) -> Verdict:
    """The verdict on a stub."""
    lines = [
        f"○ {title}: not attempted yet.",
        "  Write your code in place of the three dots, run that cell, and then this "
        "one.",
    ]
    return _verdict(exercise, "not attempted", lines)


def nothing_returned(exercise: str, title: str) -> Verdict:
    """The verdict on code that ends without a result."""
    lines = [
        f"✗ {title}: returns None.",
        "  There is code in it; is `return` missing at its end?",
    ]
    return _verdict(exercise, "type", lines)


def not_finished(exercise: str, title: str, case: Case, seconds: float) -> Verdict:
    """The verdict on a function that had to be stopped: it may be right, but slow."""
    # A lambda or a partial has no name by which it could be handed over again.
    handed = title if title.isidentifier() and title != exercise else "..."
    lines = [
        f"○ {title}: stopped before it had finished.",
        f"  Input: {case.name}",
        *_arguments(case),
        f"  A call may take {seconds:g} seconds of the processor's time, and "
        f"{PATIENCE * seconds:g} by the clock. Look for a loop that never ends. If "
        f"there is none, grant more: checks.{exercise}({handed}, "
        f"seconds={10 * seconds:g})",
    ]
    return _verdict(exercise, "not finished", lines, case=case.name)


def not_judged(exercise: str, title: str, error: BaseException) -> Verdict:
    """The verdict where the check itself has failed."""
    lines = [
        f"○ {title}: not judged, because the check itself has failed.",
        *_error(error),
        "  That is a mistake in the book or in what is installed, and none of yours. "
        "Restart the kernel and try again; if it comes back, please report it.",
    ]
    return _verdict(exercise, "not judged", lines)


def right(
    exercise: str,
    title: str,
    cases: Sequence[Case],
    outcomes: Sequence[Outcome],
) -> Verdict:
    """The verdict on right results: good, unless a call leaves something behind.

    Args:
        exercise: its name.
        title: what the reader calls the solution.
        cases: the inputs.
        outcomes: of the calls.
    """
    harm = harm_of(outcomes)
    if harm:
        lines = [f"✗ {title}: the results are right, but {harm[0]}"]
        lines += [f"  Besides, {one}" for one in harm[1:]]
        pairs = zip(cases, outcomes, strict=True)
        case = next(case for case, outcome in pairs if harm_of([outcome]))
        lines += [f"  Smallest input that shows it: {case.name}", *_arguments(case)]
        lines += _notes(outcomes)
        return _verdict(exercise, "side effect", lines, case=case.name)
    lines = [
        f"✓ {title}: right.",
        f"  {len(cases)} inputs: {'; '.join(case.name for case in cases)}.",
    ]
    return _verdict(exercise, "right", [*lines, *_notes(outcomes)])


def wrong(
    exercise: str,
    title: str,
    returns: dict[str, str],
    failures: Sequence[tuple[Case, Outcome, Difference | BaseException]],
    passed: int,
    known: Mistake | tuple[str, ...],
) -> Verdict:
    """The verdict on wrong results.

    Args:
        exercise: its name.
        title: what the reader calls the solution.
        returns: the parts of a result, and their shapes in letters.
        failures: for each input that fails, the case, the outcome, and a Difference
            or the error.
        passed: how many inputs give the right result.
        known: the Mistake that fits all results; or, where none does, what they have
            in common.
    """
    case, outcome, found = failures[0]
    details = {"case": case.name, "yours": outcome.value}
    if isinstance(found, Difference):
        details["expected"] = found.expected
    if isinstance(known, Mistake):
        kind, details["mistake"] = "mistake", known.name
        lines = [f"✗ {title}: behaves like {known.name}.", f"  {known.why}"]
    elif is_a_stub(outcome):
        kind, lines = "type", [f"✗ {title}: returns None for one input or more."]
        lines.append("  Does each way through the code end with `return`?")
    elif not isinstance(found, Difference):
        kind, lines = "raised", [f"✗ {title}: stopped with an error."]
    else:
        kind = found.kind
        lines = [f"✗ {title}: {_what(found, returns)}"]
    if not isinstance(known, Mistake):
        details["signs"] = known
        lines += [f"  {sign}" for sign in known]
    lines += [f"  Smallest input that shows it: {case.name}", *_arguments(case)]
    if not is_a_stub(outcome):
        lines += _failure(outcome, found)
    if passed:
        lines.append(f"  Right on {passed} of {passed + len(failures)} inputs.")
    outcomes = [one for _, one, _ in failures]
    lines += [f"  Besides, {line}" for line in harm_of(outcomes)]
    return _verdict(exercise, kind, [*lines, *_notes(outcomes)], **details)


def _verdict(exercise: str, kind: str, lines: list[str], **details: Any) -> Verdict:
    text = "\n".join(_wrapped(line) for line in lines)
    return Verdict(exercise, kind, text, **details)


def _what(found: Difference, returns: dict[str, str]) -> str:
    """The first line on a Difference that no known mistake explains."""
    part = f"{found.part}: " if found.part else ""
    if found.kind in ("type", "shape") and isinstance(found.expected, tuple):
        came = sort_of(found.yours)
        if isinstance(found.yours, (list, tuple)):
            came += f" of {len(found.yours)}"
        return f"{came} came, {_listed(returns)} were expected, in this order."
    if found.kind == "type":
        came, expected = sort_of(found.yours), sort_of(found.expected)
        return f"{part}{came} came, {expected} was expected."
    if found.kind == "shape" and not isinstance(found.expected, torch.Tensor):
        came, expected = len(found.yours), len(found.expected)
        return f"{part}a list of {came} came, one of {expected} was expected."
    if found.kind == "shape":
        return (
            f"{part}shape {tuple(found.yours.shape)} came, {_letters(found, returns)}"
            f"{tuple(found.expected.shape)} was expected."
        )
    if found.kind == "dtype":
        return f"{part}{found.yours.dtype} came, {found.expected.dtype} was expected."
    if found.kind == "device":
        return (
            f"{part}a result on {found.yours.device} came, on "
            f"{found.expected.device} was expected."
        )
    if isinstance(found.expected, str):
        return f"{part}something else was expected."
    if isinstance(found.expected, bool) and found.part:  # the part is a claim
        return f"{part}{found.yours} came, {found.expected} was expected."
    return f"{part}the values are wrong."


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def _letters(found: Difference, returns: dict[str, str]) -> str:
    letters = returns.get(found.part)
    if letters is None and len(returns) == 1:
        letters = next(iter(returns.values()))
    if letters is None or not letters.startswith("("):
        return ""
    return f"{letters} = "


def _failure(outcome: Outcome, found: Difference | BaseException) -> list[str]:
    """What came on the failing input, beside what was expected; or the error."""
    if isinstance(found, BaseException):
        where = [f"    in {outcome.where}"] if outcome.where else []
        return [*_error(found), *where]
    part = f" ({found.part})" if found.part else ""
    yours, expected = (
        describe(one, found.index) for one in (found.yours, found.expected)
    )
    lines = _labelled(f"yours{part}", yours) + _labelled(f"expected{part}", expected)
    if found.kind == "values" and yours == expected:
        lines += _by_how_much(found)
    return lines


def _error(error: BaseException) -> list[str]:
    """An error's name and what it says, four spaces in."""
    kind, message = type(error).__name__, " ".join(str(error).split())
    text = f"{kind}: {message[:MOST_OF_AN_ERROR]}" if message else kind
    return [f"    {line}" for line in textwrap.wrap(text, WIDTH - 4)]


def _by_how_much(found: Difference) -> list[str]:
    """How far two numbers are apart that look the same; nothing on other values."""
    numbers = [found.yours, found.expected]
    if found.index is not None:
        numbers = [one[found.index].double().item() for one in numbers]
    if not all(isinstance(one, float) for one in numbers):
        return []
    off = abs(numbers[0] - numbers[1])
    return [f"    They differ by {off:.1e}, more than float32 rounds."]


def _wrapped(line: str) -> str:
    """A sentence in lines of at most WIDTH; numbers, further in, stay as they are."""
    if line.startswith("    "):
        return line
    return textwrap.fill(line, WIDTH, subsequent_indent="  ", break_long_words=False)


def _notes(outcomes: Sequence[Outcome]) -> list[str]:
    """What is worth a word in any verdict."""
    printed = next((one.printed for one in outcomes if one.printed.strip()), "")
    lines = []
    if printed:
        first = printed.strip().split("\n")[0][:80]
        lines.append(f"  It prints, first {first!r}; the check hides that.")
    return lines


def _arguments(case: Case) -> list[str]:
    return [
        line
        for name, value in (case.shown or case.arguments).items()
        for line in _labelled(name, describe(value))
    ]


def _labelled(label: str, text: str) -> list[str]:
    """A label and lines of text under each other, four spaces in."""
    first, *rest = text.split("\n")
    margin = " " * (len(label) + 7)
    return [f"    {label} = {first}", *(margin + line for line in rest)]
