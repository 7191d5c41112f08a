"""Imports run one way, and a package says which module holds what.

The contracts stand in pyproject.toml; import-linter reads what every module imports.
"""

import ast
import pathlib
import pkgutil
import re
import subprocess
import sys

import pytest

import helpers
from tests import ROOT

ROOMS = [one.name for one in pkgutil.iter_modules(helpers.__path__) if one.ispkg]
MANY = ("views", "checks")  # a module for each view and each exercise


def test_imports_keep_their_contracts():
    linter = pathlib.Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [linter, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("room", ["", *(room for room in ROOMS if room not in MANY)])
def test_a_package_says_which_module_holds_what(room):
    folder = ROOT / "helpers" / room
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8")))
    modules = {one.name for one in pkgutil.iter_modules([folder])}
    assert modules
    named = set(re.findall(r"``(\w+)``", text))
    assert modules - named - {"__main__"} == set(), "its docstring lacks these"
    assert named - modules == set(), "there are no such modules"
