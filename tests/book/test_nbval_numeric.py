"""The comparison of stored and new outputs, alone and inside a real nbval run."""

import subprocess
import sys

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests import ROOT
from tests.nbval_numeric import NEEDS_PROCESSES, _is_impossible, close


@pytest.mark.parametrize(
    ("stored", "computed"),
    [
        ("0.4421", "0.4420"),
        ("loss 0.44 at step 5", "loss 0.45 at step 5"),
        ("[0.1000, -0.0000]", "[0.0999, 0.0001]"),
        ("   0.0000  1.5", "  -0.0001  1.5"),
        ("x   9.9999", "x  10.0000"),
        ("1.7e+38", "1.8e+38"),
        ("1.0e-03", "9.9e-04"),
        ("shape (6, 2)", "shape (6, 2)"),
        (
            '<p data-view="0123456789ab">1.50</p>',
            '<p data-view="ba9876543210">1.51</p>',
        ),
        ("nan inf", "nan inf"),
    ],
)
def test_one_unit_in_the_last_place_passes(stored, computed):
    assert close(stored, computed)
    assert close(computed, stored)


@pytest.mark.parametrize(
    ("stored", "computed"),
    [
        ("0.4421", "0.4431"),
        ("0.4421", "0.4423"),
        ("0.4421", "-0.4421"),
        ("0.44", "0.4421"),
        ("loss 0.44", "lass 0.44"),
        ("loss 0.44 at step 5", "loss 0.44 at step 6"),
        ("shape (6, 2)", "shape (6, 3)"),
        ("(6, 2)", "(2, 6)"),
        ("0.5", "0.5 0.5"),
        ("0.5 0.6", "0.5"),
        ("a 0.5", "a   0.5"),
        ("0.5\n0.6", "0.5 0.6"),
        ("torch 2.13.0", "torch 2.14.0"),
        ("1.7e+38", "1.7e+37"),
        ("nan", "0.5"),
        ("\0", "0.5"),
        ("[1., 0., 0.]", "[0., 1., 1.]"),
        ("head 1. cat: 0.70", "head 0. cat: 0.70"),
        ("1.5e+00", "1.5000"),
        ("1.5e-03", "1.5321e-03"),
        ("+0.5", "0.5"),
        ("٣.٥", "3.5"),
        ('<p data-view="0123456789ab">', "<p >"),
        ('<p data-view="0123456789ab">', '<p data-view="0123456789">'),
    ],
)
def test_anything_else_fails(stored, computed):
    assert not close(stored, computed)
    assert not close(computed, stored)


def run_nbval(folder, *cells):
    """What pytest says of a notebook; a cell is a code, its stored text, its tags."""
    cells = [
        new_code_cell(
            source,
            outputs=[new_output("stream", name="stdout", text=stored)],
            execution_count=count,
            metadata={"tags": tags},
        )
        for count, (source, stored, *tags) in enumerate(cells, start=1)
    ]
    nbformat.write(new_notebook(cells=cells), folder / "one.ipynb")
    (folder / "pytest.ini").touch()
    options = ["-v", "-p", "tests.nbval_numeric", "--nbval", "--nbval-current-env"]
    options += ["-c", str(folder / "pytest.ini"), "-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(folder / "one.ipynb")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_nbval_uses_the_comparison(tmp_path):
    ignored = "nbval-ignore-output"
    cells = {
        ("print('x (6, 2) 0.4421')", "x (6, 2) 0.4421\n"): "PASSED",
        ("print('x (6, 2) 0.4421')", "x (6, 2) 0.4420\n"): "PASSED",
        ("print('x (6, 2) 0.4421')", "x (6, 2) 0.4431\n"): "FAILED",
        ("print('x (6, 2) 0.4421')", "y (6, 2) 0.4421\n"): "FAILED",
        ("print('x (6, 2) 0.4421')", "x (6, 3) 0.4421\n"): "FAILED",
        ("print('a')", "b\n", ignored): "PASSED",
        ("1 / 0", "b\n", ignored): "FAILED",  # what is ignored still has to run
    }
    result = run_nbval(tmp_path, *cells)
    assert result.returncode == 1, result.stdout + result.stderr
    for number, verdict in enumerate(cells.values()):
        assert f"one::ipynb::Cell {number} {verdict}" in result.stdout
    assert "Cell outputs differ" in result.stdout
    assert "seconds a notebook" in result.stdout


def test_what_starts_processes_is_left_out_on_windows_alone():
    starting = {
        path.name
        for path in (ROOT / "chapters").glob("*.ipynb")
        if "helpers.parallel.processes" in path.read_text(encoding="utf-8")
    }
    assert starting == set(NEEDS_PROCESSES)
    for name in starting:
        assert _is_impossible(name, "win32")
        assert not _is_impossible(name, "linux")
    assert not _is_impossible("14_attention_in_pieces.ipynb", "win32")
