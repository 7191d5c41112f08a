"""What is loaded when: the package by itself, and torch where an audit runs."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOADED = """
import json, sys
before = set(sys.modules)
{code}
names = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(json.dumps(sorted(names - sys.stdlib_module_names)))
"""
WITHOUT = """
import sys, warnings
sys.modules |= dict.fromkeys(["helpers", "numpy", "IPython", "pytest"])
import attention_audit
from torch import nn
warnings.simplefilter("ignore")  # torch's, which misses NumPy
class Mine(nn.MultiheadAttention):
    def forward(self, x):
        return super().forward(x, x, x)

found = attention_audit.audit(Mine(4, 2, batch_first=True), 4, 5, causal=False)
assert found.ok, found
"""


def python(code):
    """What a new Python prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "code",
    [
        "import attention_audit",
        "from attention_audit import Audit, Row",
        "from attention_audit import command; command.explanation()",
        "from attention_audit import audit, options; options.options_of(audit)",
        "import pytest; before |= set(sys.modules); import attention_audit.fixture",
    ],
)
def test_only_the_package_itself_is_loaded(code):
    assert json.loads(python(LOADED.format(code=code))) == ["attention_audit"]


def test_an_audit_needs_torch_alone():
    python(WITHOUT)
