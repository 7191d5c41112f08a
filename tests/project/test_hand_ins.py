"""What a teacher runs on a folder of notebooks that students handed in."""

import subprocess
import sys

import nbformat
import pytest

from tests import ROOT
from tools import hand_ins, notebooks

SETUP = "from helpers import attention, checks"
RIGHT = "def my_causal_mask(T):\n    return attention.causal_mask(T)"
WRONG = "def my_causal_mask(T):\n    return ~attention.causal_mask(T)"
BROKEN = "def my_causal_mask(T)\n    return 1"
CHECK = "checks.causal_mask(my_causal_mask)"

slow = pytest.mark.slow  # runs notebooks


def hand_in(folder, *sources, name="ada.ipynb"):
    """A notebook of these cells, saved as one that nobody ran."""
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    notebook = nbformat.v4.new_notebook(cells=cells, metadata=notebooks.METADATA)
    nbformat.write(notebook, folder / name)
    return folder / name


def run(folder, *options):
    return subprocess.run(
        [sys.executable, "-m", "tools.hand_ins", str(folder), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


@slow
def test_each_check_gets_a_line(tmp_path):
    cells = [BROKEN, CHECK, RIGHT, CHECK, WRONG, CHECK, "checks.causal_mask(solved)"]
    path = hand_in(tmp_path, SETUP, *cells)
    before = path.read_bytes()
    assert hand_ins.report(path).split("\n") == [
        str(path),
        "  ✗ causal_mask: the cell raised NameError.",
        "  ✓ my_causal_mask: right.",
        "  ✗ my_causal_mask: behaves like a mask with its meaning inverted.",
        "  1 of 3 right",
    ]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "source",
    [
        CHECK,
        f"{CHECK};",
        f"{CHECK}  # at last",
        f"verdict = {CHECK}",
        "checks.causal_mask(my_causal_mask, seconds=100)",
        "checks.causal_mask(\n    my_causal_mask,\n    seconds=100,\n)",
    ],
)
def test_a_check_counts_however_it_is_called(source):
    cell = nbformat.v4.new_code_cell(source)
    right = "✓ my_causal_mask: right."
    cell.outputs = [nbformat.v4.new_output("stream", text=f"{right}\n  5 inputs.\n")]
    notebook = nbformat.v4.new_notebook(cells=[cell])
    assert hand_ins.verdicts(notebook) == [right]
    cell.source = f"# {CHECK}\nchecks.causal_mask(solved_causal_mask)"
    assert hand_ins.verdicts(notebook) == []


@slow
def test_a_cell_that_never_ends_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "CELL_TIMEOUT_SECONDS", 3)
    path = hand_in(tmp_path, "while True:\n    pass", CHECK)
    assert hand_ins.report(path).split("\n")[1:] == [
        "  ✗ stopped: a cell ran longer than 3 seconds.",
        "  ✗ causal_mask: the check didn't run.",
        "  0 of 1 right",
    ]


@slow
def test_a_cell_that_ends_its_process_is_named(tmp_path):
    path = hand_in(tmp_path, "import os; os._exit(1)", CHECK)
    assert hand_ins.report(path).split("\n")[1:] == [
        "  ✗ stopped: a cell ended the process that runs it.",
        "  ✗ causal_mask: the check didn't run.",
        "  0 of 1 right",
    ]


@pytest.mark.parametrize("failing", [1, 3])
def test_a_kernel_that_does_not_start_is_started_again(monkeypatch, tmp_path, failing):
    started = []

    class Client:
        def __init__(self, *_, **__):
            started.append(self)

        def execute(self):
            if len(started) <= failing:
                raise RuntimeError("Kernel didn't respond in 60 seconds")

    monkeypatch.setattr(notebooks, "NotebookClient", Client)
    if failing < notebooks.STARTS:
        notebooks.execute(None, tmp_path)
        assert len(started) == failing + 1
    else:
        with pytest.raises(RuntimeError, match="didn't respond"):
            notebooks.execute(None, tmp_path)
        assert len(started) == notebooks.STARTS


@pytest.mark.parametrize("content", [b"", b"{", b'{"cells": 3}', b"[]", b"\xff\xfe"])
def test_a_file_that_is_no_notebook_is_named(tmp_path, content):
    path = tmp_path / "ada.ipynb"
    path.write_bytes(content)
    name, line = hand_ins.report(path).split("\n")
    assert name == str(path)
    assert line.startswith("  ✗ no notebook: ")


@slow
def test_a_folder_is_reported_notebook_by_notebook(tmp_path):
    hand_in(tmp_path, SETUP, RIGHT, CHECK, name="ada.ipynb")
    (tmp_path / "bob" / ".ipynb_checkpoints").mkdir(parents=True)
    for name in ("bob/04.ipynb", "bob/.ipynb_checkpoints/04-checkpoint.ipynb"):
        hand_in(tmp_path, SETUP, "my_causal_mask = ...", CHECK, name=name)
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if "right" in line] == [
        "  ✓ my_causal_mask: right.",
        "  1 of 1 right",
        "  0 of 1 right",
    ]
    assert f"running 2 of 2: {tmp_path / 'bob' / '04.ipynb'}" in done.stderr


@slow
def test_only_what_was_set_counts(tmp_path):
    hand_in(tmp_path, SETUP, RIGHT, CHECK, "checks.softmax(my_softmax)")
    done = run(tmp_path, "--only", "causal_mask")
    assert done.stdout.splitlines()[1:] == [
        "  ✓ my_causal_mask: right.",
        "  1 of 1 right",
    ]


@pytest.fixture
def refused(monkeypatch, capsys):
    """A function: what the command says where it has nothing to run."""

    def said(*arguments):
        monkeypatch.setattr(sys, "argv", ["hand_ins", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            hand_ins.main()
        assert end.value.code == 2
        return " ".join(capsys.readouterr().err.split())

    return said


def test_a_check_that_there_is_not_is_named(tmp_path, refused):
    hand_in(tmp_path, SETUP)
    said = "there is no check called scaled_weight, but scaled_weights"
    assert said in refused(tmp_path, "--only", "scaled_weight")


def test_a_folder_without_notebooks_is_named(tmp_path, refused):
    assert refused(tmp_path).endswith(f"{tmp_path} holds no notebook (*.ipynb)")
