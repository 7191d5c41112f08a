"""What the README shows runs, and what it says of checks, options and numbers is so."""

import json
import pathlib
import re
import shlex
import sys

import pytest
import torch
from torch import nn

import attention_audit
import corpus
from attention_audit import caches, command, fixture, handling, heads, limits, subject
from attention_audit.checklist import FUNCTIONS
from attention_audit.subject import Declared, Subject
from public_bugs.log import entries
from public_layers import RECORD
from public_layers.verdicts import VERDICTS
from steps import D_IN, Steps, rotated

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
TEXT = README.read_text(encoding="utf-8")
LAYERS = """
import math
import torch
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

class Grouped(nn.Module):
    def __init__(self, d_in, num_heads, num_kv_heads, window, D=4):
        super().__init__()
        self.W_query = nn.Linear(d_in, num_heads * D)
        self.W_key, self.W_value = (nn.Linear(d_in, num_kv_heads * D) for _ in "kv")
        self.num_heads, self.num_kv_heads, self.D = num_heads, num_kv_heads, D
        self.window = window

    def rotated(self, heads, places):
        speeds = 100.0 ** -torch.arange(0, 1, 2 / self.D, device=places.device)
        angles = (places[:, None] * speeds).to(heads)
        one, two = heads.chunk(2, dim=-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([one * cos - two * sin, two * cos + one * sin], dim=-1)

    def forward(self, x, real=None, cache=None):
        parts = self.W_query(x), self.W_key(x), self.W_value(x)
        q, k, v = (one.unflatten(-1, (-1, self.D)).transpose(1, 2) for one in parts)
        past = 0 if cache is None else cache[2]
        new = torch.arange(past, past + x.shape[1], device=x.device)
        q, k = self.rotated(q, new), self.rotated(k, new)
        if cache is not None:
            k, v = torch.cat([cache[0], k], dim=2), torch.cat([cache[1], v], dim=2)
        old = torch.arange(past + x.shape[1] - k.shape[2], past, device=x.device)
        back = new[:, None] - torch.cat([old, new])
        seen = (back >= 0) & (back < self.window)
        if real is not None:
            seen = seen & real[:, None, None] | (back == 0)
        context = nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=seen, enable_gqa=True
        )
        kept = k[:, :, EVICTS:], v[:, :, EVICTS:], past + x.shape[1]
        return context.transpose(1, 2).flatten(2), kept

FUNCTIONS
"""


def blocks(language):
    """The blocks of code in that language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.M | re.S)
    return [block for name, block in found if name == language]


def table(heading):
    """The names in the first column of a section's last table."""
    section = TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)`", section, re.M)


def section(heading):
    return TEXT.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A reader's folder, the current one; one layer has the mistake that is shown."""
    return_functions = blocks("python")[3]
    source = LAYERS.replace("DIVISOR", "4").replace("FUNCTIONS", return_functions)
    (tmp_path / "layers.py").write_text(source.replace("EVICTS", "-4"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield tmp_path
    sys.modules.pop("layers", None)


def run(line, capsys):
    """What a command of the README prints, and its exit status."""
    name, *arguments = shlex.split(line.replace("\\\n", ""))
    assert name == "attention-audit"
    status = command.main(arguments)
    return status, capsys.readouterr().out


def test_the_command_prints_what_is_shown(project, capsys):
    status, printed = run(blocks("sh")[0], capsys)
    assert status == 1
    (shown,) = (one for one in blocks("") if one.startswith("audit of"))
    assert {*shown.splitlines()} - {"…"} <= {*printed.splitlines()}


def test_a_layer_with_all_that_can_be_declared_passes_in_a_terminal(project, capsys):
    _, declared = blocks("sh")
    status, printed = run(declared, capsys)
    assert status == 0, printed
    for check in ("padding", "cache", "distances"):
        assert re.search(rf"^{check} +passes ", printed, re.M)
    # What is asked for must not be left unsaid.
    status, printed = run(declared.replace("--step step ", ""), capsys)
    assert status == 1
    assert re.search(r"^cache +FAILS +required, but not applicable", printed, re.M)


def test_a_cache_that_keeps_too_little_fails_there(project, capsys):
    layers = project / "layers.py"
    layers.write_text(layers.read_text().replace("[:, :, -4:]", "[:, :, -2:]"))
    status, printed = run(blocks("sh")[1], capsys)
    assert status == 1
    words = " ".join(printed.split())
    assert "cache FAILS one token at a time: first wrong at position 3, by" in words
    assert "cache asked: a sequence in pieces gives what one pass gives" in words
    assert "or a cache cut to fewer tokens than the window reads" in words


def test_the_python_runs(project, capsys):
    tested, called, wrapped, functions, declared = blocks("python")
    names = {"nn": nn, "torch": torch}
    for code in (tested, called, wrapped):
        exec(code, names)
    names["test_my_attention"](fixture.require)
    assert names["found"].failed == ("scale",)
    assert attention_audit.audit(names["Wrapped"](), 16, 9).ok
    exec(functions, names)
    exec(declared, names)
    assert names["found"].ok
    results = {row.check: row.result for row in names["found"].rows}
    asked = ("padding", "cache", "distances")
    assert [results[check] for check in asked] == ["passes"] * 3


def test_every_check_and_every_option_is_explained():
    rows = re.findall(r"^\| `([^`]+)` \| (.+) \| (.+) \|$", section("All checks"), re.M)
    known = attention_audit.CHECKS
    assert rows == [(name, *explained) for name, explained in known.items()]
    assert list(known) == list(FUNCTIONS)
    named = [name.partition("=")[0] for name in table("What you declare")]
    assert named == list(attention_audit.audit.__kwdefaults__)


def test_numbers_are_those_of_the_corpus_and_of_the_record():
    text = section("How well it does")
    right, wrong = (
        [sum(numbers) for numbers in zip(*counts, strict=True)]
        for counts in zip(*corpus.HANDS.values(), strict=True)
    )
    latest = [*corpus.HANDS.values()][-2:]
    last = [
        [sum(numbers) for numbers in zip(*counts, strict=True)]
        for counts in zip(*latest, strict=True)
    ]
    assert f"wrote {len(corpus.LAYERS)} layers" in text
    assert f"One call runs {len(attention_audit.CHECKS)} checks" in TEXT
    assert "Thirteen authors" in text
    assert len(corpus.HANDS) == 13
    assert f"{right[0]} of {right[1]} right ones passed" in text
    assert f"{wrong[0]} of {wrong[1]} wrong ones failed" in text
    assert "{} of {} and {} of {}.".format(*last[0], *last[1]) in text
    accepted = {name: one["accepted"] for name, one in corpus.expected().items()}
    today = [
        sum(accepted[str(one)] is kind for one in corpus.LAYERS if one.right is kind)
        for kind in (True, False)
    ]
    assert "it passes {} and fails {}.".format(*today) in text
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    layers, packages = len(record["layers"]), len(record["versions"])
    assert f"In {layers} layers of {packages} public packages" in text
    kinds = [one.kind for one in VERDICTS]
    counts = (kinds.count("bug"), kinds.count("design"), kinds.count("NaN"))
    said = "{} bugs, {} designs, {} causes of NaN for padding".format(*counts)
    alarms = kinds.count("false alarm")
    assert f"{said}, {alarms} false alarms" in text
    log = entries()
    caught = sum(one.line is not None for one in log)
    assert f"a log of {len(log)} bugs that were reported in public" in text
    assert f"a check fails on {caught}." in text


def test_what_is_run_is_what_is_said():
    text = section("What is really run")
    (line,) = (one for one in text.splitlines() if one.startswith("- **Heads**"))
    names = re.findall(r"`([^`]+)`", line)
    assert names == ["scaled_dot_product_attention", *heads.HEADS, *heads.KV_HEADS]
    assert f"within {subject.TOLERANCE:.0e}".replace("e-0", "e-") in text
    assert f"within {subject.HALF_STEPS} roundings" in text
    assert f"`dtypes` {handling.HALF:.0%}" in text
    assert f"by the clock, {limits.PATIENCE} times as much" in text
    assert NotImplementedError in caches.REFUSALS
    default = attention_audit.audit.__kwdefaults__["seconds"]
    assert f"{default:g} unless you say" in TEXT


def test_what_is_off_until_it_is_declared():
    torch.manual_seed(3)
    found = attention_audit.audit(Steps(), D_IN, 9, num_heads=4)
    (line,) = (one for one in TEXT.splitlines() if one.startswith("Unless you declare"))
    off = {row.check for row in found.rows if row.result == "not applicable"}
    assert {*re.findall(r"`([^`]+)`", line)} <= off
    assert off - {*re.findall(r"`([^`]+)`", line)} == {
        *("weights shown", "dropped weights", "dropout")
    }


def test_the_blind_spots_on_rotary_positions_are_blind():
    class OfTheWholeWidth(Steps):
        """Frequencies of d_model, here of four heads: base^(-i / 4D)."""

        def placed(self, heads, name):
            return heads if name == "values" else rotated(heads, base=10_000**0.25)

    torch.manual_seed(3)
    declared = Declared(num_heads=4, positions="rotary")
    subject = Subject(OfTheWholeWidth(), D_IN, 9, declared)
    assert FUNCTIONS["distances"](subject)[0] == "passes"
    exact = torch.arange(300).bfloat16().long() == torch.arange(300)
    assert int((~exact).nonzero()[0]) == 257
    assert "exact up to 256" in TEXT
