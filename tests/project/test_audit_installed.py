"""The audit as another project installs it: its command, and its fixture in pytest."""

import json
import os
import subprocess
import sys

import pytest

from tests.project.test_bare_environment import bare_environment
from tools import share

pytestmark = pytest.mark.slow

LAYERS = """
import helpers
from torch import nn

class Mine(nn.MultiheadAttention):
    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1]).to(x)
        return super().forward(x, x, x, attn_mask=mask)

def make():
    assert helpers.MINE == 4
    return Mine(4, 2, batch_first=True)
"""
TEST = """
import helpers
from layers import make

def test_mine(attention_audit):
    assert attention_audit(make(), 4, 5).ok
    assert helpers.MINE == 4
"""


def test_another_project_installs_the_audit(tmp_path):
    """Its own package ``helpers`` stays its own."""
    python, _ = bare_environment(tmp_path / "bare")
    wheel = share.build_wheel(tmp_path)
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q"]
    pip += ["--no-deps", "--no-index", "--ignore-installed"]
    bare = os.environ | {"PYTHONPATH": ""}
    subprocess.run([*pip, wheel], env=bare, check=True)
    project = tmp_path / "project"
    (project / "helpers").mkdir(parents=True)
    (project / "helpers" / "__init__.py").write_text("MINE = 4\n")
    (project / "layers.py").write_text(LAYERS)
    (project / "test_mine.py").write_text(TEST)
    (project / "conftest.py").touch()
    (project / "pytest.ini").touch()

    def run(*command):
        return subprocess.run(
            command, cwd=project, env=bare, capture_output=True, text=True, check=False
        )

    options = ["--d-in", "4", "--context-length", "5", "--json"]
    done = run(python.with_name("attention-audit"), "layers.py:make", *options)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["name"] == "Mine"
    done = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    listed = run(python, "-m", "pytest", "--fixtures").stdout
    assert "Audit an attention layer: attention_audit(layer, d_in, con" in listed
