"""What a kernel adds to a view: controls of ipywidgets that call a function again."""

import asyncio
import html
import os
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from helpers.views.explore_choices import Choice, Value, tidy
from helpers.views.view import View

QUIET_SECONDS = 0.15
WIDGET = "application/vnd.jupyter.widget-view+json"
# kernel_box.js finds the box and what is shown in it by these classes.
BOX = "aos-explore"
FRAME = "aos-frame"


def live_box(
    ipywidgets: ModuleType,
    choices: Sequence[Choice],
    first: str,
    compute: Callable[[tuple[Value, ...]], str],
) -> Any:
    """Controls of ipywidgets, and below them what their values give.

    Args:
        ipywidgets: the module.
        choices: a control is made for each.
        first: what is shown at the start.
        compute: turns a value of each choice into what is shown then. It is called once
            the controls have been quiet for 0.15 seconds, so that a function that is
            slower than a reader's hand skips what lies between.

    Returns:
        box: a VBox of the controls and an ``HTML``.
    """
    controls = [choice.control(ipywidgets) for choice in choices]
    shown = ipywidgets.HTML(first)

    def update() -> None:
        shown.value = compute(tuple(tidy(control.value) for control in controls))

    soon = once_quiet(update)
    for control in controls:
        control.observe(lambda change: soon(), names="value")
    box = ipywidgets.VBox([*controls, shown]).add_class(BOX)
    return box.add_class(f"{BOX}-{box.model_id}")


def once_quiet(function: Callable[[], None]) -> Callable[[], None]:
    """Put a call off until no other has been asked for in a while.

    A kernel runs an event loop, which hears of all that was moved in the meantime
    before the call comes up. Where no loop runs, the function is called at once.
    """
    waiting: asyncio.TimerHandle | None = None

    def ask() -> None:
        nonlocal waiting
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            function()
            return
        if waiting is not None:
            waiting.cancel()
        waiting = loop.call_later(QUIET_SECONDS, function)

    return ask


def message(frame: str, words: str) -> str:
    """What the box's ``HTML`` holds: a frame for a view, or else words to read.

    Args:
        frame: JSON.
        words: HTML, shown where no script runs.
    """
    return f'<pre hidden class="{FRAME}">{html.escape(frame)}</pre>\n<div>{words}</div>'


class LiveView(View):
    """A view that has a box of ipywidgets beside it where there is a kernel."""

    def widget(self) -> Any:
        """The box; None where there is none, as without ipywidgets."""
        return None

    def _ipython_display_(self) -> None:
        """Show the box and, as an output of its own, the view.

        The view draws what the box computes. In one output JupyterLab would choose the
        box, and a notebook that is reopened without its kernel would show "model not
        found" in place of the view.
        """
        box = None if os.environ.get("BOOK_STATIC") else self.widget()
        if box is None:
            raise NotImplementedError  # IPython goes on to _repr_html_
        from IPython.display import display

        place = {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
        text = {"text/plain": repr(self)}
        view = View(
            self.module,
            self.title,
            self.state | {"box": f"{BOX}-{box.model_id}"},
            self.tables,
            decimals=self.decimals,
            summary=self.summary,
            picture=self.picture,
        )
        display({WIDGET: place} | text, raw=True)
        display({"text/html": view._repr_html_()} | text, raw=True)


def report_of(error: Exception) -> str:
    """An error as a reader sees it, with its notes."""
    notes = getattr(error, "__notes__", [])
    return "\n".join([f"{type(error).__name__}: {error}", *notes])
