"""Type hints, checked by mypy with the settings of pyproject.toml."""

import re
import subprocess
import sys

import pytest

from tests import ROOT

pytestmark = pytest.mark.slow

CALLS = """
import pathlib

import torch

from helpers import attention, checks, views
from helpers.notebook import plotting
from helpers.text.batches import Windows
from helpers.training.config import preset
from helpers.text.tokenizer import CharTokenizer
from helpers.training.loop import train

x = torch.rand(2, 5, 7)
context, weights = attention.scaled_dot_product_attention(x, x, x, mask=None)
layer = attention.CausalAttention(7, 4, 5, 0.0)
tokenizer = CharTokenizer.load(pathlib.Path("tokenizer.json"))
print(tokenizer.decode([0, 1]), tokenizer.decode(torch.tensor([0, 1])))
model_config, train_config = preset("plain", tokenizer.vocab_size, steps=3)
data = Windows(tokenizer.encode("hello world"), model_config.context_length)
print(train(layer, data, train_config, after_step=lambda step, model: None).loss)
picture = plotting.heatmap(weights[0], title="Weights", rows=range(5))
view = views.attention_view(list("abcde"), weights)
print(checks.audit(layer, 7, 5).ok)

attention.scaled_dot_product_attention(x, x, [0.5])  # wrong
attention.causal_mask("5")  # wrong
attention.CausalAttention(7, 4, 5, 0.0, bias=True)  # wrong
tokenizer.encode(b"hello")  # wrong
train_config.steps = 5  # wrong: it is frozen
train(layer, "hello", train_config)  # wrong
plotting.heatmap(weights[0])  # wrong: no title
views.quiz("Why?", right="because", wrong=[])  # wrong
checks.audit(layer, 7, 5).rows[0].outcome  # wrong
"""


def mypy(*options):
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_helpers_keep_their_types():
    result = mypy()
    assert result.returncode == 0, result.stdout + result.stderr


def test_wrong_calls_are_found_and_right_ones_are_not(tmp_path):
    (tmp_path / "calls.py").write_text(CALLS, encoding="utf-8")
    result = mypy(str(tmp_path / "calls.py"))
    lines = CALLS.split("\n")
    wrong = {n for n, line in enumerate(lines, 1) if "# wrong" in line}
    found = {int(n) for n in re.findall(r"calls\.py:(\d+): error", result.stdout)}
    assert found == wrong, result.stdout + result.stderr
