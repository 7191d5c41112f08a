"""A notebook is run in JupyterLab by its menu, saved, and compared.

Views must be alive afterwards. Every notebook's outputs are compared without
JupyterLab, and every view is opened in it by ``test_reading``.
"""

import time

import pytest

from tests.book.test_notebooks import CHAPTERS
from tests.jupyterlab.lab import saved
from tests.nbval_numeric import close
from tools import notebooks

pytestmark = pytest.mark.slow
RUN_SECONDS = 300
RUN = "01_dot_product_attention"  # a reader's first one


def printed(cell):
    """What a cell printed and showed as text."""
    texts = [output.get("text", "") for output in cell.outputs]
    texts += [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return "".join(texts)


def codes(notebook):
    """The cells that run."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


# JupyterLab starts, and a chapter runs as a reader's does: 20 seconds.
def test_a_notebook_runs_in_jupyterlab(lab):
    path = CHAPTERS / f"{RUN}.ipynb"
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
    wanted = len(list(notebooks.views_of(result)))
    live, shown = opened.live_views(wanted), opened.walk_until(wanted, ".aos-view")
    opened.close()
    assert len(live) == wanted
    assert sorted(shown) == sorted(live)
    for cell, expected in zip(codes(result), codes(stored), strict=True):
        assert not [o for o in cell.outputs if o.output_type == "error"], cell.id
        if "nbval-ignore-output" not in expected.metadata.get("tags", []):
            assert close(printed(expected), printed(cell)), cell.id
