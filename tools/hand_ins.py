"""Run the notebooks that students handed in, and print what their checks say.

    python -m tools.hand_ins FOLDER [--only CHECK ...]

Each notebook is run anew, from its first cell to its last, and none is changed. A cell
that raises an error doesn't stop the next ones; one that runs too long, or ends the
process it runs in, does.
"""

import argparse
import difflib
import pathlib
import re
import sys
import tempfile

import nbformat
from nbclient.exceptions import CellTimeoutError, DeadKernelError

from helpers import checks
from tools import notebooks

# A check that a reader runs on code of their own; solutions have other names.
CHECK = re.compile(r"\bchecks\.(\w+)\(\s*(my\w+)\s*[,)]", re.IGNORECASE)
COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)


def verdicts(notebook, only=()):
    """For each check that an executed notebook calls, the first line of its verdict."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        printed = "".join(output.get("text", "") for output in cell.outputs)
        errors = [o.ename for o in cell.outputs if o.output_type == "error"]
        for name, given in CHECK.findall(COMMENT.sub("", cell.source)):
            if only and name not in only:
                continue
            lines = re.findall(
                rf"^[✓○✗] {re.escape(given)}: .*$", printed, re.MULTILINE
            )
            why = f"the cell raised {errors[0]}" if errors else "the check didn't run"
            found.append(lines[0] if lines else f"✗ {name}: {why}.")
    return found


def report(path, only=()):
    """Run one notebook; its name, its verdicts, and how many of them are right.

    Args:
        path: of the notebook.
        only: names of the checks that count; all where there are none.
    """
    try:
        notebook = notebooks.read(path)
        nbformat.validate(notebook)
    except Exception as error:  # a file that somebody hands in may hold anything
        return f"{path}\n  ✗ no notebook: {type(error).__name__}"
    stopped = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            notebooks.execute(notebook, folder, allow_errors=True)
        except CellTimeoutError:
            seconds = notebooks.CELL_TIMEOUT_SECONDS
            stopped.append(f"✗ stopped: a cell ran longer than {seconds} seconds.")
        except DeadKernelError:
            stopped.append("✗ stopped: a cell ended the process that runs it.")
    found = verdicts(notebook, only)
    right = sum(line.startswith("✓") for line in found)
    lines = [*stopped, *found, f"{right} of {len(found)} right"]
    return "\n".join([str(path), *(f"  {line}" for line in lines)])


def main():
    """Report on each notebook of a folder and of the folders in it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="CHECK",
        help="the checks that you have set, such as softmax; the others don't count",
    )
    options = parser.parse_args()
    folder = options.folder
    for name in options.only:
        if name not in checks.EXERCISES:
            near = difflib.get_close_matches(name, checks.EXERCISES, cutoff=0.5)
            words = f", but {' and '.join(near)}" if near else ""
            parser.error(
                f"there is no check called {name}{words}. The cell below an exercise "
                "has its name, as in checks.softmax(my_softmax)."
            )
    paths = [
        path
        for path in sorted(folder.rglob("*.ipynb"))
        if ".ipynb_checkpoints" not in path.parts
    ]
    if not paths:
        parser.error(f"{folder} holds no notebook (*.ipynb)")
    for number, path in enumerate(paths, 1):
        print(f"running {number} of {len(paths)}: {path}", file=sys.stderr, flush=True)
        print(report(path, options.only), flush=True)


if __name__ == "__main__":
    main()
