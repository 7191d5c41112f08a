"""Every notebook in a real JupyterLab: run by its menu, saved, compared, reopened.

Views must be alive after a run, and in a trusted notebook that is only opened. The
exercises are solved there, wrongly first.
"""

import html
import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import nbformat
import pytest

from tests import ROOT
from tests.book.test_exercises import called, exercises
from tests.book.test_notebooks import NOTEBOOKS, NUMBERED
from tests.nbval_numeric import close
from tests.unit.test_checks import RIGHT, WRONG
from tools import notebooks

pytestmark = pytest.mark.slow
TOKEN = "only-for-this-test"
RUN_SECONDS = 600
LOAD_SECONDS = 60
# JupyterLab renders what is near the screen: walk down the notebook.
WALK = """async (selector) => {
    const frame = document.querySelector('.jp-WindowedPanel-outer');
    const found = new Set();
    for (let top = 0; top <= frame.scrollHeight; top += frame.clientHeight / 2) {
        frame.scrollTop = top;
        await new Promise((done) => setTimeout(done, 100));
        for (const view of document.querySelectorAll(selector))
            found.add(view.dataset.view ?? view.textContent);
    }
    return [...found];
}"""
EXPLORE = """import os
os.environ.pop("BOOK_STATIC", None)
from helpers.views import Range, Text, explore

def shares(width, word):
    return [{"twice": 2 * width, "share": 1 / len(word)}, f"of {word}"]

explore(shares, title="Shares", decimals=1, word=Text("hello"),
        width=Range(0.5, 9.0, 0.5, values=[1.5, 4.0]))
"""


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
    stored = folder / "stored"
    stored.mkdir()
    for path in NOTEBOOKS:
        shutil.copy(path, stored)
    trust = [sys.executable, "-m", "tools.notebooks", "trust"]
    environment = os.environ | {"HOME": str(home), "BOOK_STATIC": "1"}
    subprocess.run(
        [*trust, *stored.glob("*.ipynb")], cwd=ROOT, env=environment, check=True
    )
    (folder / "untrusted").mkdir()
    for path in NUMBERED:
        notebook = notebooks.read(path)
        # A signature is of the content, so that the copy above would vouch for this.
        notebook.cells[0].source += " "
        notebooks.write(folder / "untrusted" / path.name, notebook)
    (folder / "work").mkdir()
    for path in NUMBERED:
        notebooks.write(folder / "work" / path.name, worksheet(notebooks.read(path)))
    cells = [nbformat.v4.new_code_cell(EXPLORE)]
    small = nbformat.v4.new_notebook(cells=cells, metadata=notebooks.METADATA)
    for name in ("explore", "reopened"):
        nbformat.write(small, folder / f"{name}.ipynb")
    options = ["--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0"]
    options += [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}"]
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", *options],
        env=environment,
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


def worksheet(notebook):
    """A chapter's setup cell, and the stub and the check of each exercise."""
    found = exercises(notebook).values()
    setup = next(cell for cell in notebook.cells if cell.id == notebooks.SETUP_ID)
    cells = [setup, *(cells[part] for cells in found for part in ("stub", "check"))]
    for cell in cells:
        cell.outputs, cell.execution_count = [], None
    return nbformat.v4.new_notebook(cells=cells, metadata=notebooks.METADATA)


def attempt(solution, name):
    """A solution as a reader might paste it into the cell of a stub."""
    text = pathlib.Path(inspect.getsourcefile(solution)).read_text(encoding="utf-8")
    return f"{text.partition('RIGHT = {')[0]}\n\n{name} = {solution.__name__}"


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


def opened(context, lab, name):
    """A page with a notebook of the lab, once its cells are there."""
    page = context.new_page()
    page.goto(f"{lab[0]}/lab/tree/{name}?reset&token={TOKEN}")
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60_000)
    return page


def live_views(page, wanted):
    """The views that live somewhere in the notebook; a busy machine gets its time."""
    deadline = time.monotonic() + LOAD_SECONDS
    found = []
    while len(found) < wanted and time.monotonic() < deadline:
        found = page.evaluate(WALK, ".aos-view[data-live]")
    return found


def run_all(page):
    """Run all cells, by the menu."""
    # The status bar says so once the kernel is connected; cells run before are lost.
    page.get_by_text("Python 3 (ipykernel) | Idle").wait_for(timeout=60_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()


@pytest.mark.parametrize("path", NUMBERED, ids=lambda path: path.stem)
def test_views_are_alive_in_a_notebook_that_is_only_opened(chromium, lab, path):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = opened(context, lab, f"stored/{path.name}")
    wanted = len(list(notebooks.views_of(notebooks.read(path))))
    assert wanted > 0
    assert len(live_views(page, wanted)) == wanted
    context.close()


@pytest.mark.parametrize("path", NUMBERED, ids=lambda path: path.stem)
def test_a_notebook_that_is_not_trusted_shows_every_table(chromium, lab, path):
    texts = [data["text/html"] for data in notebooks.views_of(notebooks.read(path))]
    stored = re.findall(r"<table>.*?</table>", "\n".join(texts), re.DOTALL)
    missing = {letters(html.unescape(re.sub(r"<[^>]*>", "", one))) for one in stored}
    assert missing
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = opened(context, lab, f"untrusted/{path.name}")
    deadline = time.monotonic() + 60
    while missing and time.monotonic() < deadline:
        missing -= set(map(letters, page.evaluate(WALK, "details[open] table")))
    alive = page.locator(".live").count()
    context.close()
    assert missing == set()
    assert alive == 0


def letters(text):
    """A text without its spaces."""
    return "".join(text.split())


def test_explore_computes_what_only_a_kernel_can(chromium, lab):
    """A value between those of the page, words of one's own, an error and its end."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = opened(context, lab, "explore.ipynb")
    run_all(page)
    view = page.locator('.aos-view[data-module="explore"]')
    shown = {
        name: view.locator(f'[data-value="{place}"]')
        for name, place in (("twice", "bar 0 0"), ("share", "bar 0 1"))
    }
    text, wrong = (view.locator(f'[data-value="{one}"]') for one in ("part 1", "wrong"))
    shown["twice"].get_by_text("3.0").wait_for(timeout=60_000)
    view.locator("[data-control]").first.wait_for(state="detached")
    page.locator(".aos-explore .noUi-handle").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    shown["twice"].get_by_text("5.0").wait_for()
    field = page.locator(".aos-explore .widget-text input")
    field.fill("ab")
    shown["share"].get_by_text("0.5").wait_for()
    assert text.inner_text() == "of ab"
    field.fill("")
    wrong.get_by_text("ZeroDivisionError").wait_for()
    assert "shares was called with word = '', width = 2.5" in wrong.inner_text()
    assert (text.inner_text(), shown["share"].inner_text()) == ("of ab", "0.5")
    field.fill("0123456789")
    shown["share"].get_by_text("0.1").wait_for()
    assert (wrong.inner_text(), shown["twice"].inner_text()) == ("", "5.0")
    picture = os.environ.get("BOOK_SCREENSHOTS")
    if picture:
        page.screenshot(path=pathlib.Path(picture) / "lab_explore.png")
    context.close()


STOP_KERNELS = """async (token) => {
    const address = (id) => `/api/sessions${id && "/" + id}?token=${token}`;
    const found = await (await fetch(address(""))).json();
    const cookie = document.cookie.match(/_xsrf=([^;]*)/)[1];
    const options = { method: "DELETE", headers: { "X-XSRFToken": cookie } };
    for (const { id, path } of found)
        if (path === "reopened.ipynb") await fetch(address(id), options);
    return (await (await fetch(address(""))).json()).map(({ path }) => path);
}"""


def test_explore_is_alive_in_a_notebook_that_is_reopened(chromium, lab):
    """With the kernel its box moves the view; without it the view alone is seen."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = opened(context, lab, "reopened.ipynb")
    run_all(page)
    view = page.locator('.aos-view[data-module="explore"]')
    view.locator(".live").wait_for(timeout=60_000)
    page.locator(".aos-explore .noUi-handle").wait_for()
    view.locator("[data-control]").first.wait_for(state="detached")
    page.keyboard.press("Control+s")
    path = lab[1] / "reopened.ipynb"
    while (result := saved(path, 1)) is None:
        page.wait_for_timeout(200)
    assert len(result.cells[0].outputs) == 2
    assert "reopened.ipynb" not in page.evaluate(STOP_KERNELS, TOKEN)
    context.close()

    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = opened(context, lab, "reopened.ipynb")
    view = page.locator('.aos-view[data-module="explore"]')
    view.wait_for()
    lost = page.get_by_text("model not found")
    lost.wait_for(state="attached", timeout=60_000)
    assert not lost.is_visible()
    assert view.locator('[data-value="bar 0 0"]').inner_text() == "3.0"
    view.locator('[data-control="width"]').press("ArrowRight")
    assert view.locator('[data-value="bar 0 0"]').inner_text() == "8.0"
    context.close()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_jupyterlab(chromium, lab, path):
    folder = lab[1]
    stored = [c for c in notebooks.read(path).cells if c.cell_type == "code"]
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = opened(context, lab, path.name)
    run_all(page)
    deadline = time.monotonic() + RUN_SECONDS
    result = None
    while result is None and time.monotonic() < deadline:
        page.wait_for_timeout(500)
        page.keyboard.press("Control+s")
        result = saved(folder / path.name, len(stored))
    picture = os.environ.get("BOOK_SCREENSHOTS")
    if picture:
        page.screenshot(path=pathlib.Path(picture) / f"lab_{path.stem}.png")
    assert result is not None, f"{path.name} didn't run to its end"
    wanted = len(list(notebooks.views_of(result)))
    live = live_views(page, wanted)
    shown = page.evaluate(WALK, ".aos-view")
    context.close()
    assert len(live) == wanted
    assert sorted(shown) == sorted(live)
    ran = [cell for cell in result.cells if cell.cell_type == "code"]
    for cell, expected in zip(ran, stored, strict=True):
        assert not [o for o in cell.outputs if o.output_type == "error"], cell.id
        if "nbval-ignore-output" not in expected.metadata.get("tags", []):
            assert close(printed(expected), printed(cell)), cell.id


@pytest.mark.parametrize("path", NUMBERED, ids=lambda path: path.stem)
def test_the_exercises_can_be_solved_in_jupyterlab(chromium, lab, path):
    context = chromium.new_context(viewport={"width": 1280, "height": 6000})
    page = opened(context, lab, f"work/{path.name}")
    run_all(page)
    for number, cells in enumerate(exercises(notebooks.read(path)).values()):
        stub = page.locator(".jp-Notebook .jp-Cell").nth(1 + 2 * number)
        shown = page.locator(".jp-Notebook .jp-Cell").nth(2 + 2 * number)
        shown = shown.locator(".jp-OutputArea-output")
        tasks = called(cells["check"].source)
        for _, mine in tasks:
            shown.get_by_text(f"○ {mine}: not attempted").wait_for(timeout=60_000)
        wrong = [
            next(pair for pair in WRONG[name] if pair[1] is not None)
            for name, _ in tasks
        ]
        right = [(RIGHT[name][0], None) for name, _ in tasks]
        for solutions in (wrong, right):
            texts = [
                attempt(solution, mine)
                for (solution, _), (_, mine) in zip(solutions, tasks, strict=True)
            ]
            stub.locator(".cm-content").click()
            page.keyboard.press("Control+a")
            page.keyboard.insert_text("\n\n".join(texts))
            page.keyboard.press("Shift+Enter")
            page.keyboard.press("Shift+Enter")
            for solution, mistake in solutions:
                verdict = "right." if mistake is None else f"behaves like {mistake}."
                expected = re.compile(
                    r"\s+".join(
                        map(re.escape, f"{solution.__name__}: {verdict}".split())
                    )
                )
                shown.get_by_text(expected).wait_for(timeout=60_000)
    context.close()
