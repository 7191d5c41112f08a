"""What a machine may lack gets one line before anything is installed; so does torch."""

import ast
import collections
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

import nbformat
import pytest

from tests import ROOT
from tools import machine, notebooks

Usage = collections.namedtuple("Usage", "total used free")


def set_free(monkeypatch, gigabytes):
    usage = Usage(100 * 10**9, 0, int(gigabytes * 1e9))
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage)


def test_this_machine_lacks_nothing(tmp_path, monkeypatch):
    set_free(monkeypatch, 50)
    assert machine.lacking(str(tmp_path / ".venv")) == ""


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 6, 15), (3, 10, 13)])
def test_an_old_python_is_named(version, monkeypatch):
    monkeypatch.setattr(sys, "version_info", version)
    found = ".".join(map(str, version))
    assert machine.lacking(".venv") == (
        f"The book needs Python 3.11 or newer; this is {found}. Try: make "
        "PYTHON=python3.13 book"
    )


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_python_without_environments_is_named(module, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == module else find(name)
    )
    line = machine.lacking(".venv")
    assert line.startswith("This Python can't make a virtual environment: it has no ")
    assert f"no module {module}. On Debian and Ubuntu: apt-get install" in line


def test_too_small_a_disk_is_named(tmp_path, monkeypatch):
    set_free(monkeypatch, 1.23)
    assert machine.lacking(str(tmp_path / ".venv")) == (
        f"{tmp_path} has 1.23 GB free; the book's libraries need at least 2 GB"
    )


@pytest.mark.parametrize("exists", [True, False])
def test_a_full_disk_stops_a_build(tmp_path, monkeypatch, exists):
    folder = tmp_path / "_build"
    if exists:
        folder.mkdir()
    set_free(monkeypatch, 0.01)
    line = machine.short_of_room(str(folder), "a build needs", machine.BUILD_GB)
    named = folder if exists else tmp_path
    assert line == f"{named} has 0.01 GB free; a build needs at least 0.1 GB"
    set_free(monkeypatch, 0.1)
    assert machine.short_of_room(str(folder), "a build needs", 0.1) == ""


def test_an_environment_that_is_there_asks_for_no_room(tmp_path, monkeypatch):
    set_free(monkeypatch, 0.1)
    assert machine.lacking(str(tmp_path)) == ""


# --- which PyTorch ------------------------------------------------------------------


@pytest.fixture
def bare(monkeypatch):
    """A machine with Linux and no GPU, an environment without torch; pip's commands."""
    commands = []
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(machine, "has_gpu", lambda: False)
    monkeypatch.setattr(machine, "installed_torch", lambda: None)

    def call(command, **options):
        commands.append(command)
        return 0

    monkeypatch.setattr(subprocess, "call", call)
    return commands


VERSION = machine.pinned_torch().removeprefix("torch==")


def test_the_pin_is_the_one_of_the_requirements():
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert machine.pinned_torch() in lines


def test_without_a_gpu_torch_alone_comes_from_its_own_index(bare):
    assert machine.install_torch("auto") == (
        f"PyTorch {VERSION} without CUDA, because no GPU was found. "
        "The other one: rm -rf .venv, then make TORCH=cuda book"
    )
    (command,) = bare
    assert command[:4] == [sys.executable, "-m", "pip", "install"]
    assert command[-3:] == ["--index-url", machine.CPU_WHEELS, f"torch=={VERSION}"]
    assert "--no-deps" in command


def test_where_that_index_does_not_answer_pip_takes_what_it_finds(bare, monkeypatch):
    monkeypatch.setattr(subprocess, "call", lambda command, **options: 1)
    assert machine.install_torch("auto") == (
        f"PyTorch {VERSION} as pip finds it, because {machine.CPU_WHEELS} can't be "
        "reached. The other one: rm -rf .venv, then make TORCH=cpu book"
    )


@pytest.mark.parametrize(
    ("choice", "platform", "gpu", "why"),
    [
        ("auto", "linux", True, "because this machine has a GPU"),
        ("auto", "darwin", False, "which fits this system"),
        ("auto", "win32", False, "which fits this system"),
        ("cuda", "linux", False, "as TORCH=cuda asks"),
    ],
)
def test_elsewhere_torch_is_left_to_pip(bare, monkeypatch, choice, platform, gpu, why):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(machine, "has_gpu", lambda: gpu)
    line = machine.install_torch(choice)
    assert line.startswith(f"PyTorch {VERSION} as pip finds it, {why}. The other one: ")
    assert bare == []


def test_the_small_build_can_be_asked_for_anywhere(bare, monkeypatch):
    monkeypatch.setattr(machine, "has_gpu", lambda: True)
    assert "without CUDA, as TORCH=cpu asks." in machine.install_torch("cpu")
    assert len(bare) == 1


@pytest.mark.parametrize("build", ["", "+cpu", "+cu130"])
def test_an_environment_that_has_the_version_keeps_it(bare, monkeypatch, build):
    monkeypatch.setattr(machine, "installed_torch", lambda: VERSION + build)
    assert machine.install_torch("auto") == ""
    assert bare == []
    monkeypatch.setattr(machine, "installed_torch", lambda: "2.9.0+cpu")
    assert machine.install_torch("auto") != ""


def test_a_gpu_shows_itself_by_its_command_or_its_devices(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(machine, "SIGNS_OF_A_GPU", (str(tmp_path / "nvidia0"),))
    assert not machine.has_gpu()
    (tmp_path / "nvidia0").touch()
    assert machine.has_gpu()
    monkeypatch.setattr(machine, "SIGNS_OF_A_GPU", ())
    command = tmp_path / ("nvidia-smi.exe" if os.name == "nt" else "nvidia-smi")
    command.touch(mode=0o755)
    assert machine.has_gpu()


def test_another_build_is_refused_in_one_line():
    done = subprocess.run(
        [sys.executable, machine.__file__, "torch", "rocm"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "TORCH is rocm; it must be auto, cpu or cuda\n"


def test_an_old_python_can_read_the_file():
    text = pathlib.Path(machine.__file__).read_text(encoding="utf-8")
    assert text.isascii()
    assert not [n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.JoinedStr)]


# --- what make prints when the installation stops -------------------------------------


needs_make = pytest.mark.skipif(
    os.name == "nt" or not shutil.which("make"), reason="needs make and a POSIX shell"
)


def make_book(folder, python):
    """Run make in a folder that holds only what the installation reads."""
    for name in ("Makefile", "requirements.txt", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder)  # as old as it is
    (folder / "tools").mkdir()
    shutil.copy(ROOT / "tools" / "machine.py", folder / "tools")
    return subprocess.run(
        ["make", f"PYTHON={python}", "book"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@needs_make
def test_a_python_that_is_not_there_is_named(tmp_path):
    run = make_book(tmp_path, "python3.99")
    assert run.returncode != 0
    assert run.stderr.startswith("There is no python3.99 here. Name a Python of 3.11 ")


@needs_make
def test_a_python_that_lacks_something_installs_nothing(tmp_path):
    fake = tmp_path / "python"
    fake.write_text('#!/bin/sh\necho "$1 says no" >&2\nexit 1\n')
    fake.chmod(0o755)
    run = make_book(tmp_path, fake)
    assert run.returncode != 0
    assert run.stderr.startswith("tools/machine.py says no\n")
    assert not (tmp_path / ".venv").exists()


@needs_make
def test_a_failed_installation_points_to_the_line_that_says_why(tmp_path):
    # A Python whose pip reaches nothing.
    fake = tmp_path / "python"
    fake.write_text(
        '#!/bin/sh\ncase "$*" in\n'
        '*venv*) mkdir -p .venv/bin; cp "$0" .venv/bin/python;;\n'
        '*"-m pip"*) echo "ERROR: none"; exit 1;;\nesac\n'
    )
    fake.chmod(0o755)
    run = make_book(tmp_path, fake)
    assert run.returncode != 0
    assert "ERROR: none" in run.stdout
    assert run.stderr.startswith("pip's line above that begins with ERROR says what ")
    assert not (tmp_path / ".venv" / "installed").exists()


@needs_make
def test_a_build_asks_for_room_first(tmp_path):
    # An environment that is there, with a Python that refuses.
    fake = tmp_path / ".venv" / "bin" / "python"
    fake.parent.mkdir(parents=True)
    fake.write_text('#!/bin/sh\necho "$* says no" >&2\nexit 1\n')
    fake.chmod(0o755)
    (tmp_path / ".venv" / "installed").touch()
    run = make_book(tmp_path, "python3")
    assert run.returncode != 0
    assert run.stderr.startswith("tools/machine.py build _build says no\n")


def test_a_home_that_cannot_keep_signatures_is_named(monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(blocked / "jupyter"))
    with pytest.raises(SystemExit, match=r"Jupyter can't keep a signature .*HOME="):
        notebooks.sign(nbformat.v4.new_notebook())
