"""Ruff with the settings of pyproject.toml; notebooks formatted for Colab's width."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUFF = [sys.executable, "-m", "ruff"]


@pytest.mark.parametrize(
    "command",
    [
        ["check", "."],
        ["format", "--check", "helpers", "tests", "tools", "_ext"],
        ["format", "--check", "--line-length", "80", "chapters"],
    ],
    ids=["check", "format", "format-notebooks"],
)
def test_ruff(command):
    result = subprocess.run(
        [*RUFF, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
