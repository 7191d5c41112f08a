"""How the tests are spread over workers."""

import os
from types import SimpleNamespace

import pytest

from tests import ROOT, parallel


def test_what_starts_first_or_last_is_there():
    files = [*parallel.FIRST, *parallel.APART]
    assert [file for file in files if not (ROOT / file).is_file()] == []
    assert len(set(files)) == len(files)


@pytest.mark.parametrize(
    ("cores", "arguments", "workers"),
    [
        (1, ["tests", "chapters"], 0),
        (2, ["tests", "chapters"], 3),
        (64, ["tests"], parallel.MOST_WORKERS),
        (2, ["tests/unit/test_batches.py"], 0),
        (2, ["tests/unit/test_batches.py::one", "tests/unit/test_batches.py::two"], 0),
        (4, ["tests/unit/test_batches.py", "chapters/09.ipynb"], 2),
    ],
)
def test_workers_are_as_many_as_can_be_busy(monkeypatch, cores, arguments, workers):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    found = parallel.pytest_xdist_auto_num_workers(SimpleNamespace(args=arguments))
    assert found == workers


def test_long_files_come_first_and_the_others_keep_their_order():
    apart = parallel.APART[0]
    files = [apart, "tests/a.py", parallel.FIRST[1], "tests/b.py", parallel.FIRST[0]]
    items = [SimpleNamespace(nodeid=f"{file}::test") for file in files]
    parallel.pytest_collection_modifyitems(items)
    assert [parallel.file_of(item) for item in items] == [
        *parallel.FIRST[:2],
        *("tests/a.py", "tests/b.py", apart),
    ]


def test_of_a_long_list_the_first_of_so_many_cases_are_quick():
    class Item(SimpleNamespace):
        def iter_markers(self, name):
            return [SimpleNamespace(args=(3,))] if name in self.marks else []

        def add_marker(self, name):
            self.added.append(name)

    items = [
        Item(nodeid=f"tests/no.py::{test}[{case}]", marks=marks, added=[])
        for test, marks in (("one", ["one_in"]), ("two", []), ("three", ["one_in"]))
        for case in range(5)
    ]
    for item in items:
        parallel.pytest_itemcollected(item)
    slow = [0, 1, 1, 0, 1]
    assert [len(item.added) for item in items] == [*slow, *[0] * 5, *slow]
    assert {name for item in items for name in item.added} == {"slow"}


def test_a_file_goes_to_one_worker_unless_it_is_apart():
    def scope(file, test):
        return object.__new__(parallel.Files)._split_scope(f"{file}::{test}")

    assert scope("tests/a.py", "one") == scope("tests/a.py", "two")
    assert scope("chapters/a.ipynb", "ipynb::Cell 0") == "chapters/a.ipynb"
    for file in parallel.APART:
        assert scope(file, "one") != scope(file, "two")
