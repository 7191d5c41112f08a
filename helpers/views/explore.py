"""An experiment that Python computes: on a page in advance, with a kernel live."""

import collections
import html
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from helpers import validation
from helpers.views.explore_choices import Choice, Number, Range, Text, Value, checked
from helpers.views.explore_live import LiveView, live_box, message, report_of
from helpers.views.explore_results import (
    Frame,
    on_one_scale,
    parts_of,
    summary,
    table_of,
)
from helpers.views.view import Table, View, to_json


def explore(
    function: Callable[..., Any],
    /,
    *,
    title: str,
    decimals: int = 4,
    **choices: Iterable[Value] | Range | Number | Text,
) -> View:
    """Show what a function returns for a reader's choices.

    On a page, and wherever BOOK_STATIC is set, every combination is computed in
    advance. In a notebook with a kernel each change calls the function again, with any
    number of a Range and whatever is typed into a Number or a Text; what goes wrong is
    said below the last result. A notebook saved that way has both: once that kernel is
    gone, JupyterLab shows the combinations.

    Args:
        function: called with one value of each choice, by name. It returns a string, a
            number, a Table, a dict from labels to numbers (bars), a Line, or a list of
            these.
        title: what the experiment is, in a few words.
        decimals: digits after the point of floating-point numbers.
        choices: for each argument of the function a list of at least two numbers,
            strings or booleans, of which the first is where its control starts; or a
            Range, a Number or a Text, which name values for the page, too. On the page
            at most 60 combinations.

    Returns:
        view: a View that is also an ipywidgets box where there is a kernel.

    Raises:
        ValueError: other choices, or a result that can't be shown.

    An error inside the function is passed on, with a note that names the combination.

    Example:
        ``explore(power, title="Powers", base=Range(0.5, 2.0), exponent=[1, 2, 3])``

    Source: Victor 2011, Explorable Explanations (move a number, see what follows).
    """
    if not callable(function):
        raise ValueError(f"function must be callable, got {function!r}")
    if not isinstance(title, str):
        raise ValueError(f"title must be a string, got {title!r}")
    if decimals != 0:
        validation.require_integers(decimals=decimals)
    return Experiment(function, title, checked(choices), decimals)


class Experiment(LiveView):
    """A function's results over all combinations of its choices; see ``explore``.

    Args:
        function: what is called.
        title: what the experiment is.
        choices: for each argument its values.
        decimals: digits after the point.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        title: str,
        choices: Sequence[Choice],
        decimals: int,
    ) -> None:
        self.function, self.choices, self.decimals = function, choices, decimals
        combinations = list(itertools.product(*(choice.values for choice in choices)))
        self.frames = [self._frame(one) for one in combinations]
        shown = on_one_scale(self.frames)
        named = [
            {"name": one.name, "label": one.label, "values": list(map(str, one.values))}
            for one in choices
        ]
        state = {"choices": named, "frames": shown}
        tables = _tables(choices, combinations, shown)
        super().__init__("explore", title, state, tables, decimals=decimals)
        self._good = self._message(combinations[0], shown[0])
        self._box: Any = None

    def widget(self) -> Any:
        """The ipywidgets box whose controls call the function; None without ipywidgets.

        Returns:
            box: a control for each choice, then an ``HTML`` that explore.js draws.
        """
        if self._box is None:
            try:
                import ipywidgets
            except ImportError:
                return None
            first = message(*self._good)
            self._box = live_box(ipywidgets, self.choices, first, self._computed)
        return self._box

    def _computed(self, values: tuple[Value, ...]) -> str:
        """What the box holds for these values: an error leaves the last good result."""
        try:
            frame = on_one_scale([*self.frames, self._frame(values)])[-1]
            self._good = self._message(values, frame)
        except Exception as error:
            frame, words = self._good
            report = report_of(error)
            text = f'{frame[:-1]},"error":{to_json(report)}}}'
            return message(text, f"<pre>{html.escape(report)}</pre>{words}")
        return message(*self._good)

    def _message(self, values: tuple[Value, ...], frame: Frame) -> tuple[str, str]:
        """A frame as JSON for explore.js, and as tables."""
        state = {"values": list(map(str, values)), "frame": frame}
        tables = _tables(self.choices, [values], [frame])
        words = "\n".join(table.to_html() for table in tables)
        return to_json(state, self.decimals), words

    def _frame(self, combination: tuple[Value, ...]) -> Frame:
        names = (choice.name for choice in self.choices)
        values = dict(zip(names, combination, strict=True))
        name = getattr(self.function, "__name__", "the function")
        try:
            return parts_of(self.function(**values), name, self.decimals)
        except Exception as error:
            pairs = ", ".join(f"{key} = {value!r}" for key, value in values.items())
            error.add_note(f"{name} was called with {pairs}")
            raise


def _tables(
    choices: Sequence[Choice],
    combinations: list[tuple[Value, ...]],
    frames: list[Frame],
) -> list[Table]:
    """A row for each combination; then the tables of the first one."""
    found = [_row(frame) for frame in frames]
    columns = list(dict.fromkeys(name for row in found for name in row))
    rows = [
        [*map(str, values), *(row.get(name, "") for name in columns)]
        for values, row in zip(combinations, found, strict=True)
    ]
    heads = [*(choice.label for choice in choices), *columns]
    tables = [Table("Every combination", rows, columns=heads)]
    for part in frames[0]:
        if part["kind"] == "table":
            tables.append(table_of(part))
    return tables


def _row(frame: Frame) -> dict[str, str]:
    """All numbers of a frame by name; a name that comes again is counted."""
    row: dict[str, str] = {}
    count: collections.Counter[str] = collections.Counter()
    for name, text in itertools.chain.from_iterable(summary(part) for part in frame):
        count[name] += 1
        row[name if count[name] == 1 else f"{name} ({count[name]})"] = text
    return row
