"""The same verdict for other seeds and lengths, on right layers and on wrong ones."""

import contextlib
import io
import math

import pytest
import torch
from torch import nn

import attention_audit
from steps import D_IN, D, H, Steps, rotated

LENGTHS, SEEDS = (5, 9, 16, 25, 40), (0, 1)
W = 3


class Rotary(Steps):
    shared_keys = 2

    def placed(self, heads, name):
        return heads if name == "values" else rotated(heads)


class Window(Steps):
    def seen(self, T, device):
        return super().seen(T, device).triu(1 - W)


class BothWays(Steps):
    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device)


class Drops(Steps):
    p = 0.2


class WindowOfOneMore(Window):
    def seen(self, T, device):
        return Steps.seen(self, T, device).triu(-W)


class SeesTheNext(Steps):
    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device).tril(1)


class ScaledByAllHeads(Steps):
    def scores(self, queries, keys):
        return queries @ keys.mT / math.sqrt(H * D)


class SoftmaxOverQueries(Steps):
    def softmax(self, scores):
        return scores.softmax(dim=-2).nan_to_num()


class MergedWithoutTranspose(Steps):
    def merge(self, contexts):
        return contexts.reshape(len(contexts), -1, H * D)


class RepeatsGroups(Rotary):
    def shared(self, heads):
        return heads.repeat(1, H // self.shared_keys, 1, 1)


class NormedOverTokens(Steps):
    def values(self, x):
        return super().values(x) - super().values(x).mean(dim=1, keepdim=True)


class HeadsShareKeys(Steps):
    def keys(self, x):
        return super().keys(x)[..., :D].repeat(1, 1, H)


ROTARY = {"positions": "rotary", "num_kv_heads": 2}
CASES = {
    Steps: ({}, ""),
    Rotary: (ROTARY, ""),
    Window: ({"window": W}, ""),
    BothWays: ({"causal": False}, ""),
    Drops: ({"dropout": 0.2}, ""),
    WindowOfOneMore: ({"window": W}, "tokens reached"),
    SeesTheNext: ({}, "future grads"),
    ScaledByAllHeads: ({}, "scale"),
    SoftmaxOverQueries: ({}, "row sums"),
    MergedWithoutTranspose: ({}, "future grads"),
    RepeatsGroups: (ROTARY, "heads"),
    NormedOverTokens: ({}, "future grads"),
    HeadsShareKeys: ({}, "heads"),
}


def failed(layer, T, seed, **options):
    torch.manual_seed(seed)
    with contextlib.redirect_stdout(io.StringIO()):
        found = attention_audit.audit(layer(), D_IN, T, num_heads=H, **options)
    assert not found.unrun
    return found.failed


@pytest.mark.slow
@pytest.mark.parametrize("layer", CASES)
def test_a_verdict_is_the_same_for_all_seeds_and_lengths(layer):
    options, check = CASES[layer]
    for T in LENGTHS:
        for seed in SEEDS:
            found = failed(layer, T, seed, **options)
            assert (check in found) if check else not found, (T, seed, found)


class Table(nn.Module):
    """Right for as many tokens as its table has rows."""

    def __init__(self, rows=7):
        super().__init__()
        self.layer, self.table = Steps(), nn.Parameter(torch.randn(rows, D_IN))

    def forward(self, x):
        return self.layer(x + self.table[: x.shape[1]])


def test_what_takes_fewer_tokens_than_declared_says_so():
    options = {"positions": True, "num_heads": H}
    assert attention_audit.audit(Table(), D_IN, 7, **options).ok
    found = attention_audit.audit(Table(), D_IN, 9, **options)
    assert found.failed == ("output shape",)
    assert found.rows[0].reason.endswith(
        "; it was called with x (2, 9, 12), and 7 tokens work: is context_length more "
        "than it is built for?"
    )
