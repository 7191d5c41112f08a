"""Ruff with the settings of pyproject.toml; notebooks formatted for Colab's width."""

import subprocess
import sys

import pytest

from tests import ROOT

RUFF = [sys.executable, "-m", "ruff"]


@pytest.mark.parametrize(
    "command",
    [
        ["check", "."],
        [
            *["format", "--check", "attention-audit", "experiments", "helpers"],
            *["tests", "tools", "_ext"],
        ],
        ["format", "--check", "--line-length", "80", "chapters"],
    ],
    ids=["check", "format", "format-notebooks"],
)
def test_ruff(command):
    result = subprocess.run(
        [*RUFF, *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
