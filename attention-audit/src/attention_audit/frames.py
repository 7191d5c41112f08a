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


def place(error: BaseException, *, code: bool = True) -> str:
    """Where an error was raised, such as " at layers.py:3: x = y[7]", or "".

    That is the last line of the owner's own files; where there is none, the last one
    of what they have installed.

    Args:
        error: what was raised.
        code: whether the line itself is told.
    """
    line = their_line(error, sys.prefix) or their_line(error)
    if line is None:
        return ""
    text = linecache.getline(line.filename, line.lineno or 0).strip() if code else ""
    file = pathlib.Path(line.filename)
    # A notebook's cell is no file, and what names it says nothing to its reader.
    at = f"{_short(file)}:{line.lineno}" if file.is_file() else f"line {line.lineno}"
    return f" at {at}: {text}" if text else f" at {at}"


def _short(file: pathlib.Path) -> str:
    """A file as it is named from the current folder, or else from where modules are."""
    here = pathlib.Path.cwd()
    if file.is_relative_to(here) and not file.is_relative_to(sys.prefix):
        return file.relative_to(here).as_posix()
    folders = [pathlib.Path(one) for one in sys.path if one]
    inside = [folder for folder in folders if file.is_relative_to(folder)]
    nearest = max(inside, key=lambda folder: len(folder.parts), default=file.parent)
    return file.relative_to(nearest).as_posix()


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
