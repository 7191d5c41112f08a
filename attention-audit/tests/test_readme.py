"""What the README shows runs, and it has every line and every option."""

import pathlib
import re
import shlex
import sys

import pytest
import torch
from torch import nn

import attention_audit
import corpus
from attention_audit import command, fixture

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
TEXT = README.read_text(encoding="utf-8")
LAYERS = """
import math
from torch import nn

class MyAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads):
        super().__init__()
        self.to_qkv = nn.Linear(d_in, 3 * d_out)
        self.num_heads = num_heads

    def forward(self, x):
        heads = self.to_qkv(x).unflatten(-1, (3, self.num_heads, -1))
        q, k, v = heads.permute(2, 0, 3, 1, 4)
        scores = q @ k.mT / DIVISOR
        future = scores.new_ones(scores.shape[-2:]).triu(1).bool()
        weights = scores.masked_fill(future, -math.inf).softmax(-1)
        return (weights @ v).transpose(1, 2).flatten(-2)
"""


def blocks(language):
    """The blocks of code in that language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.M | re.S)
    return [block for name, block in found if name == language]


def table(heading):
    """The names in the first column of a section's last table."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)`", section, re.M)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A reader's folder, the current one, whose layer has the mistake that is shown."""
    (tmp_path / "layers.py").write_text(LAYERS.replace("DIVISOR", "4"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    sys.modules.pop("layers", None)


def test_the_command_prints_what_is_shown(project, capsys):
    (line,) = blocks("sh")
    name, *arguments = shlex.split(line.replace("\\\n", ""))
    assert name == "attention-audit"
    assert command.main(arguments) == 1
    printed = capsys.readouterr().out.splitlines()
    (shown,) = (one for one in blocks("") if one.startswith("audit of"))
    assert {*shown.splitlines()} - {"…"} <= {*printed}


def test_the_python_runs(project, capsys):
    tested, called, wrapped = blocks("python")
    names = {"nn": nn, "torch": torch}
    for code in (tested, called, wrapped):
        exec(code, names)
    names["test_my_attention"](fixture.require)
    assert names["found"].failed == ("scale",)
    assert attention_audit.audit(names["Wrapped"](), 16, 9).ok


def test_every_line_and_every_option_is_explained():
    assert table("Read a line that fails") == list(attention_audit.LINES)
    named = [name.partition("=")[0] for name in table("What you declare")]
    assert named == list(attention_audit.audit.__kwdefaults__)


def test_numbers_are_those_of_the_corpus():
    assert f"holds {len(corpus.LAYERS)} layers" in TEXT
    assert f"to {len(attention_audit.LINES)} tests" in TEXT
