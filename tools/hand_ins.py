"""Run the notebooks that students handed in, and print what their checks say.

    python -m tools.hand_ins FOLDER

Each notebook is run anew, from its first cell to its last, and none is changed. A cell
that raises an error doesn't stop the next ones; one that runs too long does.
"""

import argparse
import pathlib
import re
import tempfile

from nbclient.exceptions import CellTimeoutError

from tools import notebooks

# A check that a reader runs on code of their own; solutions have other names.
CHECK = re.compile(r"^checks\.(\w+)\((my\w+)\)$", re.MULTILINE | re.IGNORECASE)


def verdicts(notebook):
    """For each check that an executed notebook calls, the first line of its verdict."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        printed = "".join(output.get("text", "") for output in cell.outputs)
        errors = [o.ename for o in cell.outputs if o.output_type == "error"]
        for name, given in CHECK.findall(cell.source):
            lines = re.findall(
                rf"^[✓○✗] {re.escape(given)}: .*$", printed, re.MULTILINE
            )
            why = f"the cell raised {errors[0]}" if errors else "the check didn't run"
            found.append(lines[0] if lines else f"✗ {name}: {why}.")
    return found


def report(path):
    """Run one notebook; its name, its verdicts, and how many of them are right."""
    notebook = notebooks.read(path)
    stopped = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            notebooks.execute(notebook, folder, allow_errors=True)
        except CellTimeoutError:
            seconds = notebooks.CELL_TIMEOUT_SECONDS
            stopped.append(f"✗ stopped: a cell ran longer than {seconds} seconds.")
    found = verdicts(notebook)
    right = sum(line.startswith("✓") for line in found)
    lines = [*stopped, *found, f"{right} of {len(found)} right"]
    return "\n".join([str(path), *(f"  {line}" for line in lines)])


def main():
    """Report on each notebook of a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    paths = sorted(folder.glob("*.ipynb"))
    if not paths:
        parser.error(f"{folder} holds no notebook (*.ipynb)")
    for path in paths:
        print(report(path), flush=True)


if __name__ == "__main__":
    main()
