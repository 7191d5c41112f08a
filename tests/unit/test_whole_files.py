"""helpers.whole_files: nobody ever sees a part of a file."""

import os
import pathlib

import pytest

from experiments import many
from helpers.whole_files import write_whole
from tools import my_book


@pytest.mark.parametrize("by_many", [False, True])
@pytest.mark.parametrize("place", [(os, "fsync"), (os, "replace")])
def test_an_interrupted_write_leaves_the_old_file(
    tmp_path, monkeypatch, place, by_many
):
    path = tmp_path / "text"
    write_whole(path, b"old", by_many=by_many)

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(*place, interrupt)
        with pytest.raises(KeyboardInterrupt):
            write_whole(path, b"new", by_many=by_many)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["text"]
    write_whole(path, b"new", by_many=by_many)
    assert path.read_bytes() == b"new"


def test_those_that_write_at_once_write_apart(tmp_path, monkeypatch):
    names = set()
    monkeypatch.setattr(
        pathlib.Path, "replace", lambda own, _: names.add(own.name) or own.unlink()
    )
    for by_many in (True, True, False, False):
        write_whole(tmp_path / "text", b"", by_many=by_many)
    assert len(names) == 3


@pytest.mark.parametrize(
    "write",
    [
        lambda path: many.write(path, {"runs": []}),
        lambda path: my_book._write(path, "text\n"),
    ],
    ids=["a record", "a page of the reader's"],
)
def test_what_must_be_whole_is_flushed_before_it_is_renamed(
    tmp_path, monkeypatch, write
):
    done = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(
            os,
            name,
            lambda *args, real=real, name=name: done.append(name) or real(*args),
        )
    write(tmp_path / "file")
    assert done == ["fsync", "replace"]
