"""What ``explore`` lets a reader choose: from a list, a range, or by typing."""

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from types import ModuleType
from typing import Any

MOST_FRAMES = 60
STEPS = 100  # of a range of floating-point numbers, where no step is given
ON_THE_PAGE = 5  # values of a range, where none are given
Value = float | str


@dataclass(frozen=True)
class Range:
    """All numbers between two ends: with a kernel, a slider.

    The function gets integers where low, high and step are integers.

    Args:
        low: the smallest number.
        high: the largest.
        step: from each number to the next. None: 1 between integers, otherwise a
            hundredth of the range.
        values: what a page without a kernel offers; the first is where the control
            starts. None: five numbers, evenly spaced.
    """

    low: float
    high: float
    step: float | None = None
    values: Iterable[float] | None = None


@dataclass(frozen=True)
class Number:
    """Any number: with a kernel, a field to type in.

    Args:
        start: where the field starts; an integer gives integers.
        values: what a page without a kernel offers beside it.
    """

    start: float
    values: Iterable[float] = ()


@dataclass(frozen=True)
class Text:
    """Any text: with a kernel, a field to type in.

    Args:
        start: where the field starts.
        values: what a page without a kernel offers beside it.
    """

    start: str
    values: Iterable[str] = ()


@dataclass(frozen=True)
class Choice:
    """A choice that was checked.

    Args:
        name: the function's argument.
        values: what a page offers, the start first.
        source: what was given; anything but the three classes above is a list.
    """

    name: str
    values: Sequence[Value]
    source: object

    @property
    def label(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ")

    def control(self, ipywidgets: ModuleType) -> Any:
        """The control of ipywidgets, at its start."""
        start, source = self.values[0], self.source
        shared: dict[str, Any] = {
            "description": self.label,
            "style": {"description_width": "initial"},
        }
        if isinstance(source, Range):
            step = _step(source)
            shared |= {"min": source.low, "max": source.high, "step": step}
            if isinstance(step, int):
                return ipywidgets.IntSlider(value=start, **shared)
            places = -int(Decimal(f"{step:.6g}").normalize().as_tuple().exponent)
            form = f".{max(0, places)}f"
            return ipywidgets.FloatSlider(value=start, readout_format=form, **shared)
        if isinstance(source, Text):
            return ipywidgets.Text(value=start, **shared)
        if isinstance(source, Number):
            kind = (
                ipywidgets.IntText if _integers(self.values) else ipywidgets.FloatText
            )
            return kind(value=start, **shared)
        if all(isinstance(value, bool) for value in self.values):
            return ipywidgets.Checkbox(value=start, indent=False, **shared)
        words = any(isinstance(value, str) for value in self.values)
        kind = ipywidgets.Dropdown if words else ipywidgets.SelectionSlider
        options = [(str(value), value) for value in self.values]
        return kind(options=options, **shared)


def tidy(value: Any) -> Any:
    """A value without the last bits that adding up steps leaves."""
    return float(f"{value:.10g}") if isinstance(value, float) else value


def checked(choices: Mapping[str, object]) -> list[Choice]:
    """Check what ``explore`` was given.

    Args:
        choices: for each argument a Range, a Number, a Text, or a list of at least two
            numbers, strings or booleans.

    Returns:
        choices: the same, in order.

    Raises:
        ValueError: anything else, or over 60 combinations on a page.
    """
    if not choices:
        raise ValueError("explore needs at least one choice, such as width=[4, 64]")
    found = [Choice(name, _values(name, one), one) for name, one in choices.items()]
    counts = [len(choice.values) for choice in found]
    if math.prod(counts) > MOST_FRAMES:
        raise ValueError(
            f"choices must make at most {MOST_FRAMES} combinations, got "
            f"{' x '.join(map(str, counts))} = {math.prod(counts)}"
        )
    return found


# --- the values of a page -------------------------------------------------------------


def _values(name: str, source: object) -> list[Value]:
    """The values of one choice, which can be told apart."""
    if isinstance(source, Range):
        return _distinct(name, _of_range(name, source), least=2)
    if isinstance(source, Text):
        values = [source.start, *_listed(f"{name}, a Text,", source.values)]
        if not all(isinstance(value, str) for value in values):
            raise ValueError(f"{name} must be a Text of strings, got {values}")
        return _distinct(name, values, least=1)
    if isinstance(source, Number):
        values = [source.start, *_listed(f"{name}, a Number,", source.values)]
        if not all(map(_is_number, values)):
            raise ValueError(f"{name} must be a Number of numbers, got {values}")
        return _distinct(name, values, least=1)
    values = _listed(name, source)
    for value in values:
        if not (isinstance(value, (str, bool)) or _is_number(value)):
            raise ValueError(
                f"{name} must hold numbers, strings and booleans, got {value!r}"
            )
    return _distinct(name, values, least=2)


def _of_range(name: str, source: Range) -> list[Any]:
    low, high = source.low, source.high
    given = [low, high] if source.step is None else [low, high, source.step]
    if not (all(map(_is_number, given)) and low < high):
        raise ValueError(
            f"{name} must be a Range of numbers from low to high, got {source}"
        )
    step = _step(source)
    if not 0 < step <= high - low:
        raise ValueError(f"{name} must be a Range with a step inside it, got {source}")
    if source.values is None:
        count = math.floor((high - low) / step + 1e-9)  # steps that fit
        parts = min(count, ON_THE_PAGE - 1)
        places = [round(i * count / parts) for i in range(parts + 1)]
        values = [low + place * step for place in places]
    else:
        values = _listed(f"{name}, a Range,", source.values)
        if not all(_is_number(value) and low <= value <= high for value in values):
            raise ValueError(
                f"{name} must be a Range with values between its ends, got {values}"
            )
    if isinstance(step, float):
        return [tidy(float(value)) for value in values]
    if not _integers(values):
        raise ValueError(f"{name} must be a Range of integers throughout, got {values}")
    return values


def _listed(name: str, values: object) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of values, got {values!r}")
    return list(values)


def _distinct(name: str, values: list[Any], *, least: int) -> list[Any]:
    distinct = min(len(set(values)), len(set(map(str, values))))
    if distinct < len(values) or distinct < least:
        raise ValueError(
            f"{name} must hold at least {'two values' if least == 2 else 'one value'}, "
            f"all distinct, got {values}"
        )
    return values


def _is_number(value: object) -> bool:
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return real and math.isfinite(value)  # type: ignore[arg-type]


def _integers(values: Iterable[object]) -> bool:
    return all(isinstance(value, int) for value in values)


def _step(source: Range) -> float:
    if source.step is not None:
        whole = _integers([source.low, source.high, source.step])
        return source.step if whole else float(source.step)
    whole = _integers([source.low, source.high])
    return 1 if whole else (source.high - source.low) / STEPS
