"""Every notebook in a real JupyterLab: opened, run by its menu, saved, compared."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import pytest

from _ext import notebooks
from tests.nbval_numeric import close
from tests.test_notebooks import NOTEBOOKS

pytestmark = pytest.mark.slow
TOKEN = "only-for-this-test"
RUN_SECONDS = 120


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Address and folder of a JupyterLab with all notebooks, their outputs cleared."""
    folder = tmp_path_factory.mktemp("lab")
    home = tmp_path_factory.mktemp("home")
    for path in NOTEBOOKS:
        notebook = notebooks.read(path)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
        notebooks.write(folder / path.name, notebook)
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"]
    options += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}"]
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options],
        env=os.environ | {"HOME": str(home), "BOOK_STATIC": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = []
    address = None
    deadline = time.monotonic() + 60
    while address is None and time.monotonic() < deadline:
        lines.append(server.stderr.readline())
        found = re.search(r"http://127\.0\.0\.1:(\d+)/lab", lines[-1])
        address = found and f"http://127.0.0.1:{found[1]}"
    assert address, "".join(lines)
    drain = threading.Thread(target=server.stderr.read)
    drain.start()
    yield address, folder
    server.terminate()
    server.wait(timeout=30)
    drain.join()
    server.stderr.close()
    shutil.rmtree(home)


def printed(cell):
    """What a cell printed and showed as text."""
    texts = [output.get("text", "") for output in cell.outputs]
    texts += [output.get("data", {}).get("text/plain", "") for output in cell.outputs]
    return "".join(texts)


def saved(path, count):
    """The notebook on disk once its last cell has run and been saved, else None."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except json.JSONDecodeError:
        return None  # JupyterLab is writing it right now
    last = [cell for cell in cells if cell["cell_type"] == "code"][-1]
    return notebooks.read(path) if last["execution_count"] == count else None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_jupyterlab(chromium, lab, path):
    address, folder = lab
    stored = [c for c in notebooks.read(path).cells if c.cell_type == "code"]
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(f"{address}/lab/tree/{path.name}?reset&token={TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    # The status bar says so once the kernel is connected; cells run before are lost.
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    deadline = time.monotonic() + RUN_SECONDS
    result = None
    while result is None and time.monotonic() < deadline:
        page.wait_for_timeout(500)
        page.keyboard.press("Control+s")
        result = saved(folder / path.name, len(stored))
    picture = os.environ.get("BOOK_SCREENSHOTS")
    if picture:
        page.screenshot(path=pathlib.Path(picture) / f"lab_{path.stem}.png")
    context.close()
    assert result is not None, f"{path.name} didn't run to its end"
    ran = [cell for cell in result.cells if cell.cell_type == "code"]
    for cell, expected in zip(ran, stored, strict=True):
        assert not [o for o in cell.outputs if o.output_type == "error"], cell.id
        if "nbval-ignore-output" not in expected.metadata.get("tags", []):
            assert close(printed(expected), printed(cell)), cell.id
