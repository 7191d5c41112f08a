"""An experiment that Python computes: a control for each choice, kernel or not."""

import collections
import html
import itertools
import math
import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

from helpers import validation
from helpers.views.frame_html import to_html
from helpers.views.frames import Frame, on_one_scale, parts_of, summary, table_of
from helpers.views.view import Table, View

MOST_FRAMES = 60
WIDGET = "application/vnd.jupyter.widget-view+json"
BOX = "aos-explore"  # explore.js knows the box by this class
Value = float | str
Choices = Mapping[str, Sequence[Value]]


def explore(
    function: Callable[..., Any],
    /,
    *,
    title: str,
    decimals: int = 4,
    **choices: Iterable[Value],
) -> View:
    """Show what a function returns for every combination of some choices.

    On a page, and wherever BOOK_STATIC is set, the frames are computed in advance. In a
    notebook with a kernel, a slider that moves calls the function again. A notebook
    saved that way has both: JupyterLab shows the frames once that kernel is gone. Other
    front ends may show both at once.

    Args:
        function: called with one value of each choice, by name. It returns a string, a
            number, a Table, a dict from labels to numbers (bars), a Line, or a list of
            these.
        title: what the experiment is, in a few words.
        decimals: digits behind the point of floating-point numbers.
        choices: for each argument of the function at least two numbers, strings or
            booleans; the first is where its control starts. At most 60 combinations.

    Returns:
        view: a View that is also an ipywidgets box where there is a kernel.

    Raises:
        ValueError: other choices, or a result that can't be shown.

    An error inside the function is passed on, with a note that names the combination.

    Source: Victor 2011, Explorable Explanations (move a number, see what follows).
    """
    if not callable(function):
        raise ValueError(f"function must be callable, got {function!r}")
    if not isinstance(title, str):
        raise ValueError(f"title must be a string, got {title!r}")
    if decimals != 0:
        validation.require_integers(decimals=decimals)
    return Experiment(function, title, _checked(choices), decimals)


class Experiment(View):
    """A function's results over all combinations of its choices; see ``explore``.

    Args:
        function: what is called.
        title: what the experiment is.
        choices: a dict from each argument's name to its values.
        decimals: digits behind the point.
    """

    def __init__(
        self, function: Callable[..., Any], title: str, choices: Choices, decimals: int
    ) -> None:
        self.function, self.choices = function, choices
        combinations = list(itertools.product(*choices.values()))
        self.frames = [self._frame(one, decimals) for one in combinations]
        shown = on_one_scale(self.frames)
        named = [
            {"name": name, "label": _spoken(name), "values": list(map(str, values))}
            for name, values in choices.items()
        ]
        state = {"choices": named, "frames": shown}
        tables = _tables(choices, combinations, shown)
        super().__init__("explore", title, state, tables, decimals=decimals)
        self._box: Any = None

    def widget(self) -> Any:
        """The ipywidgets box whose sliders call the function; None without ipywidgets.

        Returns:
            box: the title, one ``SelectionSlider`` for each choice, then an ``HTML``.
        """
        if self._box is None:
            try:
                import ipywidgets
            except ImportError:
                return None
            self._box = self._make_box(ipywidgets)
        return self._box

    def _make_box(self, ipywidgets: ModuleType) -> Any:
        sliders = [
            ipywidgets.SelectionSlider(
                options=[(str(value), value) for value in values],
                description=_spoken(name),
                continuous_update=False,  # a function may take a second
                style={"description_width": "initial"},
            )
            for name, values in self.choices.items()
        ]
        shown = ipywidgets.HTML(to_html(self.state["frames"][0]))

        def update(_: object) -> None:
            combination = tuple(slider.value for slider in sliders)
            try:
                frame = self._frame(combination, self.decimals)
            except Exception as error:
                shown.value = to_html([{"kind": "text", "text": _report(error)}])
                raise
            shown.value = to_html(on_one_scale([*self.frames, frame])[-1])

        for slider in sliders:
            slider.observe(update, names="value")
        title = ipywidgets.HTML(f"<b>{html.escape(self.title)}</b>")
        return ipywidgets.VBox([title, *sliders, shown]).add_class(BOX)

    def _frame(self, combination: tuple[Value, ...], decimals: int) -> Frame:
        values = dict(zip(self.choices, combination, strict=True))
        name = getattr(self.function, "__name__", "the function")
        try:
            return parts_of(self.function(**values), name, decimals)
        except Exception as error:
            pairs = ", ".join(f"{key} = {value!r}" for key, value in values.items())
            error.add_note(f"{name} was called with {pairs}")
            raise

    def _ipython_display_(self) -> None:
        """Show the box and, as an output of its own, the view.

        In one output JupyterLab would choose the box, and a notebook that is reopened
        without its kernel would show "model not found". The view hides while the box
        before it lives.
        """
        box = None if os.environ.get("BOOK_STATIC") else self.widget()
        if box is None:
            raise NotImplementedError  # IPython goes on to _repr_html_
        from IPython.display import display

        place = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
        text = {"text/plain": repr(self)}
        display({WIDGET: place} | text, raw=True)
        display({"text/html": self._repr_html_()} | text, raw=True)


def _checked(choices: Mapping[str, Iterable[Value]]) -> Choices:
    """The choices as lists of values that can be told apart."""
    if not choices:
        raise ValueError("explore needs at least one choice, such as width=[4, 64]")
    lists: dict[str, list[Value]] = {}
    for name, values in choices.items():
        if isinstance(values, str) or not hasattr(values, "__iter__"):
            raise ValueError(f"{name} must be a list of values, got {values!r}")
        lists[name] = list(values)
        for value in lists[name]:
            number = isinstance(value, numbers.Real) and math.isfinite(value)
            if not (number or isinstance(value, str)):
                raise ValueError(
                    f"{name} must hold numbers, strings and booleans, got {value!r}"
                )
        distinct = min(len(set(lists[name])), len(set(map(str, lists[name]))))
        if distinct < len(lists[name]) or distinct < 2:
            raise ValueError(
                f"{name} must hold at least two values, all distinct, got {lists[name]}"
            )
    counts = [len(values) for values in lists.values()]
    if math.prod(counts) > MOST_FRAMES:
        raise ValueError(
            f"choices must make at most {MOST_FRAMES} combinations, got "
            f"{' x '.join(map(str, counts))} = {math.prod(counts)}"
        )
    return lists


def _tables(
    choices: Choices, combinations: list[tuple[Value, ...]], frames: list[Frame]
) -> list[Table]:
    """A row for each combination; then the tables of the first one."""
    found = [_row(frame) for frame in frames]
    columns = list(dict.fromkeys(name for row in found for name in row))
    rows = [
        [*map(str, values), *(row.get(name, "") for name in columns)]
        for values, row in zip(combinations, found, strict=True)
    ]
    heads = [*map(_spoken, choices), *columns]
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


def _spoken(name: str) -> str:
    return name.replace("_", " ")


def _report(error: Exception) -> str:
    notes = getattr(error, "__notes__", [])
    return "\n".join([f"{type(error).__name__}: {error}", *notes])
