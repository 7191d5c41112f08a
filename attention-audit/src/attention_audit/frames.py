"""Where in somebody else's code an error was raised."""

import importlib.util
import linecache
import pathlib
import sys
import traceback

TORCH = importlib.util.find_spec("torch")
# How the files begin whose lines are nobody's mistake: this package's own, those of
# torch and those of Python.
OURS = (
    str(pathlib.Path(__file__).parent),
    *((TORCH and TORCH.submodule_search_locations) or []),
    str(pathlib.Path(traceback.__file__).parent),
)


def their_line(error: BaseException, *others: str) -> traceback.FrameSummary | None:
    """The last line of somebody else's own code on the way to an error.

    Args:
        error: what was raised.
        *others: how more files begin that aren't theirs.
    """
    frames = traceback.extract_tb(error.__traceback__)
    ours = (*OURS, *others)
    theirs = [one for one in frames if not one.filename.startswith(ours)]
    return theirs[-1] if theirs else None


def where(error: BaseException | None, *others: str) -> str:
    """That line in words, such as "line 3: x = y[7]", or ""; nothing installed is it.

    Args:
        error: what was raised, or None.
        *others: as for ``their_line``.
    """
    line = their_line(error, *others, sys.prefix) if error is not None else None
    if line is None:
        return ""
    number = line.lineno or 0
    text = linecache.getline(line.filename, number).strip()
    return f"line {number}: {text}" if text else f"line {number}"
