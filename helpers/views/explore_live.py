"""What a kernel adds to ``explore``: controls that call the function again."""

import asyncio
import html
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from helpers.views.explore_choices import Choice, Value, tidy

QUIET_SECONDS = 0.15
BOX = "aos-explore"  # explore.js finds the box and what is shown in it by these classes
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
    """What the box's ``HTML`` holds: a frame for explore.js, or else words to read.

    Args:
        frame: JSON.
        words: HTML, shown where no script runs.
    """
    return f'<pre hidden class="{FRAME}">{html.escape(frame)}</pre>\n<div>{words}</div>'
