"""Imports run one way, so that each module can be read and used by itself.

The contracts stand in pyproject.toml; import-linter reads what every module imports.
"""

import pathlib
import subprocess
import sys

from tests import ROOT


def test_imports_keep_their_contracts():
    linter = pathlib.Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
