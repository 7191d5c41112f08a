"""The audit as another project installs it: its command, and its fixture in pytest."""

import json
import os
import shutil
import subprocess
import tomllib

import pytest

from tests import ROOT
from tests.project import test_bare_environment
from tools import dependencies, share

AUDIT = ROOT / "attention-audit"
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


bare = test_bare_environment.bare


def project_of(folder):
    """What its pyproject.toml says of a distribution."""
    text = (folder / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]


def test_the_book_brings_what_the_audit_has():
    book, audit = project_of(ROOT), project_of(AUDIT)
    for part in ("scripts", "entry-points", "requires-python"):
        assert book[part] == audit[part]
    assert audit["dependencies"] == book["dependencies"][:1]
    assert audit["dependencies"][0].startswith("torch>=")


def test_public_layers_are_audited_with_the_book_s_torch():
    pinned = [
        dependencies.pins(path.read_text(encoding="utf-8"))["torch"]
        for path in (
            ROOT / "requirements.txt",
            AUDIT / "public_layers" / "requirements.txt",
        )
    ]
    assert pinned[0] == pinned[1]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """What pip installs: the audit's folder, and the book's wheel."""
    folder = tmp_path_factory.mktemp("sources")
    ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info", "tests")
    audit = shutil.copytree(AUDIT, folder / AUDIT.name, ignore=ignored)
    return {"audit": audit, "book": share.build_wheel(folder)}


@pytest.mark.slow
def test_another_project_installs_the_audit(sources, bare, tmp_path):
    """Alone, and then with the book; its own package ``helpers`` stays its own."""
    python, packages = bare
    pip = [python, "-m", "pip", "install", "-q", "--no-deps", "--no-index"]
    pip += ["--no-build-isolation", "--ignore-installed"]
    alone = os.environ | {"PYTHONPATH": ""}
    project = tmp_path / "project"
    (project / "helpers").mkdir(parents=True)
    (project / "helpers" / "__init__.py").write_text("MINE = 4\n")
    (project / "layers.py").write_text(LAYERS)
    (project / "test_mine.py").write_text(TEST)
    (project / "conftest.py").touch()
    (project / "pytest.ini").touch()

    def run(*command):
        return subprocess.run(
            command, cwd=project, env=alone, capture_output=True, text=True, check=False
        )

    names = [project_of(ROOT)["name"], project_of(AUDIT)["name"]]
    for source in ("audit", "book"):
        subprocess.run([*pip, sources[source]], env=alone, check=True)
        where = run(python, "-c", "import attention_audit as a; print(a.__file__)")
        assert where.stdout.startswith(packages), where.stderr
        options = ["--d-in", "4", "--context-length", "5", "--json"]
        done = run(python.with_name("attention-audit"), "layers.py:make", *options)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["name"] == "Mine"
        done = run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 passed" in done.stdout
    listed = run(python, "-m", "pytest", "--fixtures").stdout
    assert "Audit an attention layer: attention_audit(layer, d_in, con" in listed
    both = "from helpers import checks; import attention_audit as a; "
    both += "assert checks.audit is a.audit"
    done = subprocess.run([python, "-c", both], cwd=tmp_path, env=alone, check=False)
    assert done.returncode == 0
    take_away = [python, "-m", "pip", "uninstall", "-q", "-y", *names]
    subprocess.run(take_away, check=True, stdout=subprocess.DEVNULL)
