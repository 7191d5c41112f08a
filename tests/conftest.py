"""What several tests share: the notebooks, the built site, and a browser."""

import contextlib
import functools
import hashlib
import http.server
import importlib.metadata
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time

import filelock
import pytest

from tests import ROOT

UNPUBLISHED = "https://github.com/OWNER/attention-one-step"
PUBLISHED = "https://github.com/someone/some-book"
STRICT = ("-q", "-W", "-n", "--keep-going")
BUILD_SECONDS = pytest.StashKey[float]()
KEPT = ROOT / "_build" / "for_tests"
KEPT_SECONDS = 24 * 60 * 60
LONGEST_WAIT = 240  # seconds, for what a page or a process is to do


def pytest_collection_modifyitems(items):
    """Mark what asks for a browser, so that -m "not browser" leaves it out."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="module")
def one_thread():
    """One thread for a module whose tensors are so small that a second one waits."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def copy_of_the_book(folder, *left_out):
    """A copy of what the repository holds, without what was built or installed."""
    names = (".*", "_build", "build", "__pycache__", "*.egg-info", *left_out)
    return shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*names))


def settings_at(url):
    """The text of ``_config.yml``, with that address."""
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    config, found = re.subn(
        r"(?m)^  url: https://github\.com/.*$", f"  url: {url}", config
    )
    assert found == 1
    return config


def built_once(name, write, options, request, tmp_path_factory):
    """The pages of a book that the first worker builds, while the others wait.

    A minute's work, so that it is kept below ``_build``: as long as the sources and the
    installed libraries are the same, nobody builds it again.

    Args:
        name: of the folder that all workers share.
        write: called with a path; puts the book's sources there.
        options: for ``jupyter-book build``.

    Returns:
        site: the built pages.
        report: a dict of what the build said and how long it took.
    """
    shared = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        shared = shared.parent  # each worker has a folder of its own in it
    book, report = shared / name, shared / f"{name}.json"
    with filelock.FileLock(shared / f"{name}.lock"):
        if not report.exists():
            write(book)
            report.write_text(json.dumps(kept(book, options)), encoding="utf-8")
    said = json.loads(report.read_text(encoding="utf-8"))
    assert said["returncode"] == 0, said["stdout"][-5000:] + said["stderr"][-5000:]
    return book / "_build" / "html", said


def kept(book, options):
    """Build a book, or copy what was built of the same sources; what the build said."""
    KEPT.mkdir(parents=True, exist_ok=True)
    key = fingerprint(book, options)
    with filelock.FileLock(KEPT / f"{key}.lock"):
        pages, report = KEPT / key, KEPT / f"{key}.json"
        if report.exists():
            shutil.copytree(pages, book / "_build" / "html")
            for path in (pages, report):
                path.touch()
            return json.loads(report.read_text(encoding="utf-8"))
        said = build(book, options)
        if said["returncode"] == 0:
            shutil.copytree(book / "_build" / "html", pages, dirs_exist_ok=True)
            report.write_text(json.dumps(said), encoding="utf-8")
    for path in KEPT.glob("*.json"):
        if time.time() - path.stat().st_mtime > KEPT_SECONDS:
            path.unlink()
            shutil.rmtree(path.with_suffix(""), ignore_errors=True)
    return said


def fingerprint(book, options):
    """What a book's pages depend on, as 16 letters: sources, options and libraries."""
    digest = hashlib.sha256(repr(options).encode())
    libraries = importlib.metadata.distributions()
    for one in sorted(f"{one.metadata['Name']} {one.version}" for one in libraries):
        digest.update(f"{one}\n".encode())
    for path in sorted(path for path in book.rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(book)} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def build(book, options):
    """Build a book; what that said, and its seconds."""
    jupyter_book = pathlib.Path(sys.executable).with_name("jupyter-book")
    started = time.perf_counter()
    built = subprocess.run(
        [jupyter_book, "build", ".", *options],
        cwd=book,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    said = {name: getattr(built, name) for name in ("returncode", "stdout", "stderr")}
    return said | {"seconds": time.perf_counter() - started}


@pytest.fixture(scope="session")
def site(request, tmp_path_factory):
    """The book as built from the stored outputs, warnings being errors.

    It is built without a public address, so that the same tests hold wherever it is
    published; ``published`` has one.
    """
    pages, said = built_once("book", write_site, STRICT, request, tmp_path_factory)
    request.config.stash[BUILD_SECONDS] = said["seconds"]
    return pages


def write_site(folder):
    """The whole book, without an address."""
    copy_of_the_book(folder, "tests")
    (folder / "_config.yml").write_text(settings_at(UNPUBLISHED), encoding="utf-8")


@pytest.fixture(scope="session")
def published(request, tmp_path_factory):
    """A small book of the same settings, at a public address; one page has mistakes.

    Returns:
        site: the built pages.
        warnings: what Sphinx has said of the mistakes.
    """
    pages, said = built_once(
        "published", write_published, ["-q"], request, tmp_path_factory
    )
    return pages, said["stderr"]


def write_published(folder):
    """Three pages of the book and one with mistakes, at an address."""
    for name in ("_ext", "_static", "_templates"):
        shutil.copytree(ROOT / name, folder / name)
    (folder / "chapters").mkdir()
    for name in ("index.md", "01_dot_product_attention.ipynb", "notation.md"):
        shutil.copy(ROOT / "chapters" / name, folder / "chapters")
    config = settings_at(PUBLISHED)
    (folder / "_config.yml").write_text(config, encoding="utf-8")
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: chapters/index\nchapters:\n"
        "- file: chapters/01_dot_product_attention\n- file: chapters/notation\n"
        "- file: chapters/mistakes\n",
        encoding="utf-8",
    )
    (folder / "chapters" / "mistakes.md").write_text(
        "# Mistakes\n\n```{view} 01_dot_product_attention no-such-cell\n```\n",
        encoding="utf-8",
    )


def pytest_sessionfinish(session):
    """A worker hands over how long the book took to build, if it has asked for it."""
    if hasattr(session.config, "workeroutput"):
        seconds = session.config.stash.get(BUILD_SECONDS, None)
        session.config.workeroutput["build seconds"] = seconds


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """The first process takes it from there."""
    seconds = getattr(node, "workeroutput", {}).get("build seconds")
    if seconds is not None:
        node.config.stash[BUILD_SECONDS] = seconds


def pytest_terminal_summary(terminalreporter, config):
    """Print how long the book took to build."""
    seconds = config.stash.get(BUILD_SECONDS, None)
    if seconds is not None:
        terminalreporter.line(f"{seconds:6.1f}  seconds to build the book")


@contextlib.contextmanager
def served(folder):
    """The address of a server that holds a folder's files, while it is needed."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments):
            """The tests collect failed requests from the browser's side."""

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def site_over_http(site):
    """The address of a server that holds the built book."""
    with served(site) as address:
        yield address


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium, whose pages are waited for."""
    from playwright.sync_api import Error, expect

    from tests.browser.launched import launched

    with contextlib.ExitStack() as stack:
        try:
            browser = stack.enter_context(launched())
        except Error as error:
            if os.environ.get("BOOK_REQUIRE_BROWSER"):
                raise
            why = error.message.splitlines()[0]
            pytest.skip(f"no Chromium; run 'playwright install chromium' ({why})")
        expect.set_options(timeout=LONGEST_WAIT * 1000)
        yield Patient(browser)


class Patient:
    """A browser whose pages are waited for while other programs take the processor."""

    def __init__(self, browser):
        self._browser = browser

    def new_context(self, **options):
        """A window of its own."""
        context = self._browser.new_context(**options)
        context.set_default_timeout(LONGEST_WAIT * 1000)
        return context

    def new_page(self):
        """A page in a window that is closed with it."""
        page = self._browser.new_page()
        page.set_default_timeout(LONGEST_WAIT * 1000)
        return page
