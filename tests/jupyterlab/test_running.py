"""Every notebook run in JupyterLab by its menu, saved, and compared.

Views must be alive afterwards.
"""

import time

import pytest

from tests.book.test_notebooks import NOTEBOOKS
from tests.jupyterlab.lab import saved
from tests.nbval_numeric import close
from tools import notebooks

pytestmark = pytest.mark.slow
RUN_SECONDS = 300


def printed(cell):
    """What a cell printed and showed as text."""
    texts = [output.get("text", "") for output in cell.outputs]
    texts += [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return "".join(texts)


def codes(notebook):
    """The cells that run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_jupyterlab(lab, path):
    stored, fresh = notebooks.read(path), notebooks.read(path)
    for cell in codes(fresh):
        cell.outputs, cell.execution_count = [], None
    copy = lab.folder / path.name
    notebooks.write(copy, fresh)
    opened = lab.open(path.name)
    opened.run_all()
    deadline = time.monotonic() + RUN_SECONDS
    result = None
    while result is None and time.monotonic() < deadline:
        opened.page.wait_for_timeout(500)
        if opened.is_idle():
            opened.page.keyboard.press("Control+s")
            result = saved(copy, len(codes(stored)))
    opened.picture(path.stem)
    assert result is not None, f"{path.name} didn't run to its end"
    live = opened.live_views(len(list(notebooks.views_of(result))))
    shown = opened.walk(".aos-view")
    opened.close()
    assert len(live) == len(list(notebooks.views_of(result)))
    assert sorted(shown) == sorted(live)
    for cell, expected in zip(codes(result), codes(stored), strict=True):
        assert not [o for o in cell.outputs if o.output_type == "error"], cell.id
        if "nbval-ignore-output" not in expected.metadata.get("tags", []):
            assert close(printed(expected), printed(cell)), cell.id
