"""A real JupyterLab, with a folder of its own for each module of tests."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time

import pytest

from tests.conftest import LONGEST_WAIT
from tests.jupyterlab.lab import TOKEN, Lab


@pytest.fixture(scope="module")
def lab(chromium, tmp_path_factory):
    """A JupyterLab with an empty folder."""
    folder = tmp_path_factory.mktemp("lab")
    home = tmp_path_factory.mktemp("home")
    environment = os.environ | {"HOME": str(home), "BOOK_STATIC": "1"}
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
    deadline = time.monotonic() + LONGEST_WAIT
    while address is None and time.monotonic() < deadline:
        lines.append(server.stderr.readline())
        found = re.search(r"http://127\.0\.0\.1:(\d+)/lab", lines[-1])
        address = found and f"http://127.0.0.1:{found[1]}"
    assert address, "".join(lines)
    drain = threading.Thread(target=server.stderr.read)
    drain.start()
    yield Lab(chromium, folder, address, environment)
    # Told to end while a kernel starts, it may start that kernel anew and never end.
    # Kernels end by themselves once their server is gone.
    server.kill()
    server.wait()
    drain.join()
    server.stderr.close()
    shutil.rmtree(home, ignore_errors=True)  # a kernel may still write there
