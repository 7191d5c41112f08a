"""A pytest plugin: how the tests are spread over worker processes, and which are quick.

Each file goes to one worker as a whole, so that a notebook keeps its kernel and a
module its fixtures, but for the files of ``APART``. ``-n 0`` runs everything in one
process, ``-n 8`` in eight.
"""

import collections
import os
import sys

import pytest
from xdist.scheduler import LoadFileScheduling

# What jsonschema would ask whether a text is an address, which no test does. Its import
# puts together 38 parsers: 3 seconds of each worker, and of what asks nothing of it.
sys.modules.setdefault("rfc3987_syntax", None)
# Every worker rewrites the assertions of every module, 10 seconds, unless it finds them
# rewritten.
sys.dont_write_bytecode = False

MOST_WORKERS = 4  # each takes a gigabyte of memory with its kernel and its browser
# What lasts longest starts first: else one worker is left with it at the end. Two that
# begin with the built book don't follow each other: one would wait for it.
FIRST = [
    "tests/project/test_bare_environment.py",
    "tests/browser/test_pages.py",
    "tests/unit/test_experiments.py",
    "chapters/08_how_good_is_it.ipynb",
    "tests/unit/test_checks.py",
    "tests/browser/test_nbconvert.py",
    "chapters/05_dropout.ipynb",
    "tests/jupyterlab/test_reading.py",
    "chapters/03_scaling.ipynb",
    "tests/browser/test_trainer.py",
    "chapters/how_sharp_at_first.ipynb",
    "tests/browser/test_views.py",
    "chapters/07_char_language_model.ipynb",
    "tests/browser/test_accessibility.py",
    "chapters/cross_attention.ipynb",
    "chapters/sampling.ipynb",
    "chapters/11_inside_the_heads.ipynb",
    "tests/book/test_bug_museum.py",
    "tests/browser/test_model_in_the_page.py",
    "tests/unit/test_generation.py",
]
# Minutes of work that shares nothing: test by test, and last, so that no worker is left
# with a file while the others have nothing to do.
APART = ["tests/unit/test_corpora.py", "attention-audit/tests/test_corpus.py"]


CASES = collections.Counter()  # of a test, by its name


class Files(LoadFileScheduling):
    """Whole files, but for those of ``APART``."""

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        return nodeid if file in APART else file


def pytest_configure(config):
    """One thread for each process: the workers share the cores already.

    Where coverage is counted, the workers count; the kernels and servers that tests
    start would only be slowed by it.
    """
    os.environ["OMP_NUM_THREADS"] = "1"
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        os.environ.pop("COVERAGE_PROCESS_START", None)


@pytest.hookimpl(tryfirst=True)  # before the one of pytest-xdist itself
def pytest_xdist_auto_num_workers(config):
    """Three workers for two cores, since browsers and kernels let a worker wait.

    No more than files; a single file needs none.
    """
    files = {argument.partition("::")[0] for argument in config.args}
    most = MOST_WORKERS
    if all(file.endswith((".py", ".ipynb")) for file in files):
        most = min(most, len(files))
    workers = min(most, 3 * (os.cpu_count() or 1) // 2)
    return workers if workers > 1 else 0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Files of APART aren't counted: it takes them twice the time.

    What they run, other tests run, too.
    """
    apart = file_of(item) in APART and "coverage" in sys.modules
    counting = sys.modules["coverage"].Coverage.current() if apart else None
    if counting:
        counting.stop()
    done = yield
    if counting:
        counting.start()
    return done


def pytest_xdist_make_scheduler(config, log):
    """Who gets what."""
    return Files(config, log)


def pytest_itemcollected(item):
    """Mark as slow what ``one_in`` leaves out: all cases but the first of so many."""
    for mark in item.iter_markers("one_in"):
        test = item.nodeid.partition("[")[0]
        if CASES[test] % mark.args[0]:
            item.add_marker("slow")
        CASES[test] += 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Files in the order of FIRST, then all others as they come, and APART's."""
    places = {file: place for place, file in enumerate(FIRST)}
    places |= dict.fromkeys(APART, len(FIRST) + 1)
    items.sort(key=lambda item: places.get(file_of(item), len(FIRST)))


def file_of(item):
    """A test's file, as pytest names it."""
    return item.nodeid.partition("::")[0]
