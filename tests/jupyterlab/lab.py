"""A running JupyterLab, the notebooks opened in it, and what it has saved."""

import json
import os
import pathlib
import subprocess
import sys
import time

from tests import ROOT
from tools import notebooks

TOKEN = "only-for-this-test"
LOAD_SECONDS = 240
IDLE = "Python 3 (ipykernel) | Idle"
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
STOP_KERNEL = """async ([token, name]) => {
    const address = (id) => `/api/sessions${id && "/" + id}?token=${token}`;
    const list = async () => (await fetch(address(""))).json();
    const cookie = document.cookie.match(/_xsrf=([^;]*)/)[1];
    const options = { method: "DELETE", headers: { "X-XSRFToken": cookie } };
    for (const { id, path } of await list())
        if (path === name) await fetch(address(id), options);
    return (await list()).map(({ path }) => path);
}"""


class Lab:
    """A running JupyterLab.

    Attributes:
        folder: what it shows; empty at first.
        address: of its server.
        environment: the variables that it was started with.
    """

    def __init__(self, browser, folder, address, environment):
        self.folder, self.address, self.environment = folder, address, environment
        # Tall: JupyterLab renders what is near the screen. One for all notebooks: its
        # cache keeps JupyterLab's own files.
        size = {"width": 1280, "height": 6000}
        self._window = browser.new_context(viewport=size)

    def trust(self, paths):
        """Sign notebooks, as a reader does who knows where they are from."""
        command = [sys.executable, "-m", "tools.notebooks", "trust", *paths]
        subprocess.run(command, cwd=ROOT, env=self.environment, check=True)

    def open(self, name):
        """A notebook of the folder, once its cells are there."""
        page = self._window.new_page()
        page.goto(f"{self.address}/lab/tree/{name}?reset&token={TOKEN}")
        page.wait_for_selector(".jp-Notebook .jp-Cell")
        return Opened(page, name)


class Opened:
    """A notebook in JupyterLab's window."""

    def __init__(self, page, name):
        self.page, self.name = page, name

    def run_all(self):
        """Run all cells, by the menu."""
        # The status bar says so once the kernel is connected; cells run before are
        # lost.
        self.page.get_by_text(IDLE).wait_for()
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()

    def is_idle(self):
        """Whether the status bar says that the kernel waits."""
        return self.page.get_by_text(IDLE).is_visible()

    def walk(self, selector):
        """What a selector finds on the way down: a view's name, or a text."""
        return self.page.evaluate(WALK, selector)

    def live_views(self, wanted):
        """The views that live somewhere in it; a busy machine gets its time."""
        return self.walk_until(wanted, ".aos-view[data-live]")

    def walk_until(self, wanted, selector):
        """What a selector finds once it is as much as that, or the time is over."""
        deadline = time.monotonic() + LOAD_SECONDS
        found = []
        while len(found) < wanted and time.monotonic() < deadline:
            found = self.walk(selector)
        return found

    def picture(self, name):
        """Keep what the window shows, where somebody wants to look at it."""
        if folder := os.environ.get("BOOK_SCREENSHOTS"):
            self.page.screenshot(path=pathlib.Path(folder) / f"lab_{name}.png")

    def close(self):
        """Stop its kernel, which nothing needs any more, and close the window."""
        assert self.name not in self.page.evaluate(STOP_KERNEL, [TOKEN, self.name])
        self.page.close()


def saved(path, count):
    """The notebook on disk once its last cell has run and been saved, else None."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except json.JSONDecodeError:
        return None  # JupyterLab is writing it right now
    last = [cell for cell in cells if cell["cell_type"] == "code"][-1]
    return notebooks.read(path) if last["execution_count"] == count else None
