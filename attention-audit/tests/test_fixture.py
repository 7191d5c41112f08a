"""The pytest fixture ``attention_audit``."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = """
import time, warnings
import helpers, pytest, torch
from torch import nn

class Mine(nn.Module):
    def __init__(self, divisor):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(4, 4) for _ in range(3))
        self.divisor = divisor

    def forward(self, x):
        from helpers.validation import hidden
        scores = self.W_query(x) @ self.W_key(x).mT / self.divisor
        weights = scores.masked_fill(hidden(scores), -torch.inf).softmax(-1)
        return weights @ self.W_value(x)

@pytest.fixture(scope="session")
def found(attention_audit):
    return attention_audit(Mine(2), 4, 5)

def test_right(found, capsys):
    assert found.ok
    assert helpers.MINE == 4

def test_right_prints_its_table(attention_audit, capsys):
    found = attention_audit(Mine(2), d_in=4, context_length=5, seconds=9)
    assert capsys.readouterr().out == f"{found}\\n"

def test_wrong(attention_audit):
    attention_audit(Mine(1), 4, 5)

def test_wrong_and_allowed(attention_audit):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert attention_audit(Mine(1), 4, 5, allow=("scale",)).failed == ("scale",)

def test_another_is_allowed(attention_audit):
    attention_audit(Mine(1), 4, 5, allow=["order", "batch"])

def test_right_and_allowed(attention_audit):
    with pytest.warns(UserWarning) as caught:
        attention_audit(Mine(2), 4, 5, allow="scale")
    assert str(caught[0].message) == "Mine: allowed to fail, but doesn't: scale"
    assert caught[0].filename == __file__

def test_slow(attention_audit):
    class Slow(Mine):
        def forward(self, x):
            while x.shape[1] == 1:
                time.sleep(0.001)
            return super().forward(x)

    attention_audit(Slow(2), 4, 5, seconds=0.2)

def test_slow_and_required(attention_audit):
    class Slow(Mine):
        def forward(self, x):
            while x.shape[1] == 1:
                time.sleep(0.001)
            return super().forward(x)

    attention_audit(Slow(2), 4, 5, seconds=0.2, require="scale")

def test_no_such_check(attention_audit):
    class Counted(Mine):
        calls = 0

        def forward(self, x):
            Counted.calls += 1
            return super().forward(x)

    with pytest.raises(ValueError, match="allow must name checks, got 'x'"):
        attention_audit(Counted(2), 4, 5, allow=["x"])
    assert Counted.calls == 0

def test_required(attention_audit):
    assert attention_audit(Mine(2), 4, 5, require=["scale"]).ok
    attention_audit(Mine(2), 4, 5, require=["cache"])

def test_no_such_size(attention_audit):
    with pytest.raises(ValueError, match="context_length"):
        attention_audit(Mine(2), 4, 0)

def test_no_such_option(attention_audit):
    with pytest.raises(TypeError, match="colour"):
        attention_audit(Mine(2), 4, 5, colour=3)
"""
HELPERS = "import torch\ndef hidden(s): return torch.ones_like(s).triu(1).bool()\n"


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What pytest says in a project with tests of its layers, and its own helpers."""
    project = tmp_path_factory.mktemp("project")
    (project / "helpers").mkdir()
    (project / "helpers" / "__init__.py").write_text("MINE = 4\n")
    (project / "helpers" / "validation.py").write_text(HELPERS)
    (project / "conftest.py").write_text("import helpers\nassert helpers.MINE == 4\n")
    (project / "test_mine.py").write_text(TESTS)
    (project / "pytest.ini").touch()
    plugin = ["-p", "attention_audit.fixture", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, "-rA"],
        cwd=project,
        env=os.environ
        | {"PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_what_passes_and_what_fails(said):
    summary = said.partition("short test summary info")[2].splitlines()
    results = {line.split(" - ")[0] for line in summary if "::" in line}
    failing = {"test_wrong", "test_another_is_allowed", "test_required"}
    failing |= {"test_slow_and_required"}
    names = {
        name.partition("(")[0]
        for name in TESTS.split("def ")
        if name.startswith("test_")
    }
    assert len(names) == 12
    assert results == {
        f"{'FAILED' if name in failing else 'PASSED'} test_mine.py::{name}"
        for name in names - {"test_slow"}
    }
    assert "Slow: not run: one token, empty batch, " in said
    assert "Slow: required, but not run: scale; see seconds" in said
    assert "FAILED test_mine.py::test_wrong - Failed: Mine: scale" in summary


def test_a_failure_shows_the_table_once_and_no_code(said):
    failure = said.partition("_ test_wrong _")[2].partition("\n____")[0]
    lines = failure.splitlines()[1:]
    assert lines[:2] == ["Mine: scale", "audit of Mine"]
    assert "scale           FAILS           divides by 1.00; √D is 2.00, D = 4" in lines
    assert lines[-2] == f"{'':16}look at: the divisor in the reason"
    assert lines[-1] == "test_mine.py:6: scale"
    assert failure.count("output shape") == 1
    assert "attention_audit(" not in failure


def test_what_pyproject_names_is_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    plugins = project["entry-points"]["pytest11"]
    assert list(plugins) == ["attention_audit"]
    assert list(project["scripts"]) == ["attention-audit"]
    fixture, main = (
        importlib.metadata.EntryPoint(name, value, "").load()
        for name, value in [*plugins.items(), *project["scripts"].items()]
    )
    assert "allow" in fixture.attention_audit.__doc__
    assert callable(main)
