"""The audit passes good layers, and each of its checks can fail."""

import math
import pathlib
import re
import sys
import time

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from attention_audit import CHECKS, audit
from attention_audit.subject import first_change, largest_change

D_IN, T = 4, 6


class Adapter(nn.Module):
    """PyTorch's own layer, called as the audit calls."""

    def __init__(self):
        super().__init__()
        self.layer = nn.MultiheadAttention(D_IN, 2, dropout=0.1, batch_first=True)

    def forward(self, x):
        mask = torch.ones(x.shape[1], x.shape[1], device=x.device).triu(1).bool()
        return self.layer(x, x, x, attn_mask=mask, is_causal=True)


class Unmasked(Adapter):
    def forward(self, x):
        return self.layer(x, x, x, need_weights=False)


class Right(nn.Module):
    """A causal layer with weights to return; what is below changes one thing each."""

    def __init__(self):
        super().__init__()
        self.W_query = nn.Linear(D_IN, 3, bias=False)
        self.W_key = nn.Linear(D_IN, 3, bias=False)
        self.W_value = nn.Linear(D_IN, 3, bias=False)
        self.drop = nn.Dropout(0.0)

    def hidden(self, scores):
        return torch.ones_like(scores).triu(1).bool()

    def scores(self, x):
        scores = self.W_query(x) @ self.W_key(x).mT / math.sqrt(3)
        return scores.masked_fill(self.hidden(scores), -math.inf)

    def shown(self, weights):
        return weights

    def forward(self, x):
        weights = self.drop(self.scores(x).softmax(-1))
        return weights @ self.W_value(x), self.shown(weights)


class Open(Right):
    def hidden(self, scores):
        return torch.zeros_like(scores).bool()


def good():
    """Layers that are right, with the options of their audit."""
    open_ = {"causal": False}
    return {
        "causal": (Right(), {}),
        "open": (Open(), open_),
        "PyTorch": (Adapter(), {}),
        "PyTorch, no mask": (Unmasked(), open_),
        "half": (Right().bfloat16(), {}),
        "double": (Right().double(), {}),
    }


@pytest.mark.parametrize("name", good())
def test_a_good_layer_passes_every_check(name, capsys):
    layer, options = good()[name]
    state = {key: value.clone() for key, value in layer.state_dict().items()}
    layer.train()
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    found = audit(layer, D_IN, T, **options)
    assert found.ok, found
    assert {row.check for row in found.rows} == set(CHECKS)
    assert capsys.readouterr().out == f"{found}\n"
    assert layer.training
    assert torch.equal(torch.rand(3), expected), "the caller's random numbers moved"
    for key, value in layer.state_dict().items():
        assert torch.equal(value, state[key])
    assert all(parameter.grad is None for parameter in layer.parameters())
    by_name = {row.check: row.result for row in found.rows}
    assert by_name["scale"] == "passes"
    options_off = [check for check, result in by_name.items() if result != "passes"]
    assert set(options_off) <= {
        *("dropout", "dropped weights"),
        *("distances", "padding", "cache", "compiled"),
        *(["future changed", "future grads", "hidden weights"] if options else []),
        *(["weights shown"] if name == "PyTorch, no mask" else []),
    }


@pytest.mark.parametrize("length", [1, 2, 3, 30])
def test_other_context_lengths_pass(length):
    assert audit(Adapter(), D_IN, length).ok


# --- each check fails -----------------------------------------------------------------


class Transposed(Right):
    def forward(self, x):
        return super().forward(x)[0].mT


class OnlyWhole(Right):
    def forward(self, x):
        assert x.shape[1] in (1, T)
        return super().forward(x)


class NeverOne(Right):
    def forward(self, x):
        assert x.shape[1] > 1
        return super().forward(x)


class OtherWhenShort(Right):
    def scores(self, x):
        return super().scores(x) * (1 if x.shape[1] in (1, T) else 2)


class LooksAhead(Right):
    """The future comes in by a path without a gradient."""

    def forward(self, x):
        context, weights = super().forward(x)
        return context + x.detach().sum(dim=(1, 2), keepdim=True) * 0.01, weights


class LeaksInTraining(Right):
    """The future comes in by the gradient alone: its value is 0."""

    def forward(self, x):
        context, weights = super().forward(x)
        later = x.sum(dim=1, keepdim=True)[..., :3]
        return context + (later - later.detach()), weights


class ZeroScoresAreOpen(Right):
    def hidden(self, scores):
        return scores.triu(1).bool()


class ShortSighted(Right):
    def hidden(self, scores):
        whole = torch.ones_like(scores)
        return whole.triu(1).bool() | whole.tril(-3).bool()


class HalfBlind(Right):
    def forward(self, x):
        return super().forward(torch.cat([x[..., :2], torch.zeros_like(x[..., 2:])], 2))


class BlindHead(nn.Module):
    """All of the context reads x, but the weights of head 1 read half of it."""

    def forward(self, x):
        weights = []
        for part in (x, x[..., :2]):
            scores = (part @ part.mT).masked_fill(
                torch.ones(*2 * x.shape[1:2], device=x.device).triu(1).bool(), -math.inf
            )
            weights.append(scores.softmax(-1))
        weights = torch.stack(weights, dim=1)
        return (weights.sum(dim=1) @ x) / 2, weights


class ShowsOpenWeights(Right):
    def shown(self, weights):
        return torch.full_like(weights, 1 / weights.shape[-1])


class ShowsSharpWeights(Right):
    def shown(self, weights):
        return weights * 2


class ScaledByTwo(Right):
    def scores(self, x):
        return super().scores(x) * math.sqrt(3) / math.sqrt(2)


class Unscaled(Right):
    def scores(self, x):
        return super().scores(x) * math.sqrt(3)


class KnowsPositions(Right):
    def scores(self, x):
        places = torch.arange(x.shape[1], device=x.device, dtype=x.dtype)
        return super().scores(x) + 0.3 * places


class SharedTexts(Right):
    def forward(self, x):
        context, weights = super().forward(x)
        return context + 0.1 * context.flip(0), weights


class ToSingle(Right):
    def forward(self, x):
        context, weights = super().forward(x)
        return context.float(), weights


class Overflows(Right):
    def forward(self, x):
        scores = self.scores(x).exp()
        weights = scores / scores.sum(-1, keepdim=True)
        return weights @ self.W_value(x), weights


class Renormalises(Right):
    def hidden(self, scores):
        return torch.zeros_like(scores).bool()

    def forward(self, x):
        zeroed = self.scores(x).softmax(-1).tril()
        weights = zeroed / zeroed.sum(-1, keepdim=True)
        return weights @ self.W_value(x), weights


class DetachedKeys(Right):
    def scores(self, x):
        scores = self.W_query(x) @ self.W_key(x).detach().mT / math.sqrt(3)
        return scores.masked_fill(self.hidden(scores), -math.inf)


class Idle(Right):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(3))

    def forward(self, x):
        context, weights = super().forward(x)
        return context + 0 * self.gain, weights


class Overwrites(Right):
    def forward(self, x):
        with torch.no_grad():
            x.mul_(2)
        return super().forward(x)


class NeverDrops(Right):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.5)


class AlwaysDrops(Right):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(0.5)

    def forward(self, x):
        context, weights = super().forward(x)
        return F.dropout(context, 0.5), weights


class GoesToEval(Right):
    def forward(self, x):
        self.eval()
        return super().forward(x)


class ListOfHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = [Right(), Right()]

    def forward(self, x):
        return torch.cat([head(x)[0] for head in self.heads], dim=-1)


class Forgets(Right):
    """A number that decides, and that no state dict holds."""

    def __init__(self):
        super().__init__()
        self.gain = torch.rand(())

    def forward(self, x):
        context, weights = super().forward(x)
        return self.gain * context, weights


class StaysOnTheProcessor(Right):
    def hidden(self, scores):
        return torch.ones(*scores.shape[-2:]).triu(1).bool()


class OpenInTraining(Right):
    """is_causal=not self.training, as a flag that was meant otherwise."""

    def hidden(self, scores):
        return super().hidden(scores) & (not self.training)


class KeepsTheFirstMask(Right):
    """A mask of the first text's length; what lies beyond it is open."""

    def hidden(self, scores):
        hidden = super().hidden(scores)
        self.length = getattr(self, "length", scores.shape[-1])
        hidden[..., self.length :, :] = False
        hidden[..., self.length :] = False
        return hidden


class HidesByMinusHundred(Right):
    def scores(self, x):
        scores = self.W_query(x) @ self.W_key(x).mT / math.sqrt(3)
        return scores.masked_fill(self.hidden(scores), -100.0)


class GivesADict(Right):
    def forward(self, x):
        context, weights = super().forward(x)
        return {"weights": weights, "context": context}


class OpensSlowly(Right):
    """A gate of 0 at the beginning, and ReLU behind it."""

    def __init__(self):
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(()))
        self.out = nn.Linear(3, 3)

    def forward(self, x):
        return self.out(self.gate * super().forward(x)[0]).relu()


class RoundsByLength(Right):
    """Its context moves by a hundredth of a percent with the length of the text."""

    def forward(self, x):
        context, weights = super().forward(x)
        return context * (1 + 1e-4 * (x.shape[1] - T)), weights


class InSixteenBits(RoundsByLength):
    """The same with a kernel in bfloat16, which rounds coarser than that."""

    def scores(self, x):
        queries, keys = self.W_query(x).bfloat16(), self.W_key(x).bfloat16()
        scores = (queries @ keys.mT).to(x.dtype) / math.sqrt(3)
        return scores.masked_fill(self.hidden(scores), -math.inf)

    def forward(self, x):
        weights = self.scores(x).softmax(-1).bfloat16()
        context = (weights @ self.W_value(x).bfloat16()).to(x.dtype)
        return context * (1 + 1e-4 * (x.shape[1] - T)), weights.to(x.dtype)


FAILING = [
    (RoundsByLength, {"short sequences", "one token"}),
    (Transposed, {"output shape"}),
    (OnlyWhole, {"short sequences"}),
    (OtherWhenShort, {"short sequences"}),
    (NeverOne, {"one token"}),
    (
        LooksAhead,
        {"future changed", "short sequences", "one token", "large inputs", "gradients"},
    ),
    (LeaksInTraining, {"future grads", "gradients"}),
    (ZeroScoresAreOpen, {"future changed"}),
    (
        OpenInTraining,
        {"future changed", "hidden weights", "dropped weights", "dropout"},
    ),
    (KeepsTheFirstMask, {"short sequences"}),
    (HidesByMinusHundred, {"large inputs", "hidden weights"}),
    (ShortSighted, {"tokens reached", "order"}),
    (HalfBlind, {"features read", "gradients"}),
    (BlindHead, {"features read", "weights shown", "scale"}),
    (ShowsOpenWeights, {"hidden weights", "weights shown"}),
    (ShowsSharpWeights, {"row sums", "weights shown"}),
    (ScaledByTwo, {"scale"}),
    (Unscaled, {"scale"}),
    (KnowsPositions, {"order"}),
    (SharedTexts, {"batch"}),
    (ToSingle, {"dtypes"}),
    (Overflows, {"large inputs"}),
    (Renormalises, {"large inputs"}),
    (DetachedKeys, {"gradients"}),
    (Idle, {"gradients"}),
    (Overwrites, {"input kept", "gradients"}),
    (NeverDrops, {"dropout"}),
    (AlwaysDrops, {"eval repeats", "short sequences", "one token", "batch"}),
    (GoesToEval, {"mode kept"}),
    (ListOfHeads, {"state dict", "devices"}),
    (StaysOnTheProcessor, {"devices"}),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("layer", "checks"), FAILING, ids=[layer.__name__ for layer, _ in FAILING]
)
def test_a_wrong_layer_fails_its_checks(layer, checks):
    torch.manual_seed(1)
    found = audit(layer(), D_IN, T)
    assert set(found.failed) == checks, found
    assert not found.ok
    for line in str(found).split("\n"):
        assert len(line) <= 80


@pytest.mark.parametrize("layer", [HidesByMinusHundred, LooksAhead])
def test_a_mask_that_is_no_infinity_is_asked_for_where_one_acts(layer):
    torch.manual_seed(1)
    found = audit(layer(), D_IN, T)
    (said,) = (row.reason for row in found.rows if row.check == "large inputs")
    asked = "is the mask a finite number, such as -10,000" in said
    assert asked == (layer is HidesByMinusHundred), said


@pytest.mark.parametrize("layer", [Right, GivesADict, OpensSlowly, InSixteenBits])
def test_what_is_right_passes_whatever_it_returns_and_however_it_begins(layer):
    torch.manual_seed(1)
    found = audit(layer(), D_IN, T)
    assert found.ok, found


def test_what_no_state_dict_holds_shows_with_another_instance():
    torch.manual_seed(1)
    assert audit(Forgets(), D_IN, T).failed == ("state dict",)
    assert audit(Forgets(), D_IN, T, make=Forgets).failed == ("state dict",)
    assert audit(Right(), D_IN, T, make=Right).ok


def test_a_layer_with_positions_may_notice_the_order():
    assert audit(KnowsPositions(), D_IN, T, positions=True).ok


@pytest.mark.one_in(4)
@pytest.mark.parametrize("D", [1, 2, 8, 64])
@pytest.mark.parametrize("factor", [1.0, 0.5, 3.0])
def test_the_divisor_is_read_off(D, factor):
    class Divides(Right):
        def __init__(self):
            super().__init__()
            self.W_query, self.W_key = (nn.Linear(D_IN, D) for _ in range(2))

        def scores(self, x):
            scores = self.W_query(x) @ self.W_key(x).mT / (factor * math.sqrt(D))
            return scores.masked_fill(self.hidden(scores), -math.inf)

    row = {row.check: row for row in audit(Divides(), D_IN, T).rows}["scale"]
    assert row.result == ("passes" if factor == 1 else "FAILS")
    assert f"divides by {factor * math.sqrt(D):.2f}" in row.reason


def test_a_layer_that_was_used_before_can_be_audited():
    class Keeps(Right):
        def forward(self, x):
            context, self.last_weights = super().forward(x)
            return context

    layer = Keeps()
    layer(torch.randn(2, T, D_IN))
    found = audit(layer, D_IN, T)
    assert found.failed == ("state dict",)
    (said,) = (row.reason for row in found.rows if row.check == "state dict")
    assert said.startswith(
        "after a call, it can't be copied: last_weights holds a tensor with its graph"
    )


def test_a_layer_that_looks_at_numbers_gets_no_verdict_on_devices(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    class Looks(Right):
        def scores(self, x):
            assert x.isfinite().all()
            return super().scores(x)

    found = audit(Looks(), D_IN, T)
    assert found.ok
    by_name = {row.check: row.result for row in found.rows}
    assert by_name["devices"] == "not applicable"


# --- a layer that knows 16 bits alone -------------------------------------------------


class Half(Right):
    """A layer with a kernel that takes its own dtype of 16 bits and nothing else."""

    def __init__(self, dtype=torch.bfloat16):
        super().__init__()
        self.W_out = nn.Linear(3, 3)
        self.own = dtype
        self.to(dtype)

    def forward(self, x):
        if x.dtype != self.own:
            raise RuntimeError(f"no kernel for {x.dtype}")
        context, weights = super().forward(x)
        return self.W_out(context), weights


class HalfOpen(Half):
    def hidden(self, scores):
        return torch.zeros_like(scores).bool()


class HalfByLength(Half):
    def forward(self, x):
        context, weights = super().forward(x)
        return context * (1 + 0.1 * (x.shape[1] - T)), weights


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_what_refuses_float32_runs_in_its_own_dtype(dtype):
    torch.manual_seed(1)
    found = audit(Half(dtype), D_IN, T)
    assert found.ok, found
    reasons = {row.check: row.reason for row in found.rows}
    name = str(dtype).removeprefix("torch.")
    assert f"it refuses float32, so all is in {name}" in reasons["output shape"]
    assert reasons["scale"] == "not seen: 16 bits are too coarse to look inside"
    results = {row.check: row.result for row in found.rows}
    for check in ("short sequences", "future changed", "batch", "order", "gradients"):
        assert results[check] == "passes"
    assert (results["large inputs"] == "passes") == (dtype == torch.bfloat16)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_in_16_bits_a_few_roundings_are_no_change(dtype):
    rounding = torch.finfo(dtype).eps
    one = torch.ones(1, 3, 2)
    for count, small in ((1, True), (3, True), (6, False)):
        other = one.clone()
        other[:, 1:] += count * rounding
        halves = one.to(dtype), other.to(dtype)
        assert largest_change(*halves)[1] == small
        assert first_change(*halves) == (None if small else 1)
        assert not largest_change(one, other)[1]


@pytest.mark.parametrize(("total", "failed"), [(0.996, ()), (0.95, ("row sums",))])
def test_in_16_bits_rows_sum_to_1_in_two_digits(total, failed):
    class Sums(Half):
        def shown(self, weights):
            return total * weights

    torch.manual_seed(1)
    assert audit(Sums(), D_IN, T).failed == failed


def test_a_mistake_shows_in_16_bits_too():
    torch.manual_seed(1)
    leaks = {"future changed", "future grads", "hidden weights", "large inputs"}
    leaks |= {"short sequences", "one token"}
    assert set(audit(HalfOpen(), D_IN, T).failed) == leaks
    assert audit(HalfByLength(), D_IN, T).failed == ("short sequences", "one token")


def test_what_takes_no_dtype_says_its_first_error():
    class Refuses(Half):
        def forward(self, x):
            raise RuntimeError(f"no kernel for {x.dtype}")

    found = audit(Refuses(), D_IN, T)
    assert found.failed == ("output shape",)
    assert "no kernel for torch.float32" in found.rows[0].reason


# --- checks that must run -------------------------------------------------------------


def test_what_is_required_must_be_applicable():
    needed = ["scale", "queries, keys", "cache"]
    found = audit(Right(), D_IN, T, require=needed)
    assert found.failed == ("cache",)
    (said,) = (row.reason for row in found.rows if row.check == "cache")
    assert said.startswith("required, but not applicable: pass step, a function")
    assert audit(Right(), D_IN, T, require="scale").ok


def test_what_is_required_fails_where_nothing_was_run():
    found = audit(returning(raising(ValueError("no"))), D_IN, T, require=["scale"])
    assert found.failed == ("output shape", "scale")


@pytest.mark.parametrize("name", ["sale", "queries", "keys"])
def test_what_is_required_must_be_a_check(name, capsys):
    class Counts(Right):
        calls = 0

        def forward(self, x):
            Counts.calls += 1
            return super().forward(x)

    with pytest.raises(ValueError, match=f"require must name checks, got '{name}'"):
        audit(Counts(), D_IN, T, require=["scale", name])
    assert Counts.calls == 0
    with pytest.raises(ValueError, match="'heads', 'queries, keys', 'distances'"):
        audit(Counts(), D_IN, T, require=[name])


# --- where an error was raised --------------------------------------------------------


def test_an_error_is_told_with_its_file_and_its_line():
    class Raises(Right):
        def forward(self, x):
            return [][x.shape[1]]  # here

    found = audit(Raises(), D_IN, T)
    file = pathlib.Path(__file__)
    number = 1 + next(
        i for i, line in enumerate(file.read_text().splitlines()) if "# here" in line
    )
    said = found.rows[0].reason
    assert re.search(rf"IndexError: list index out of range at \S*{file.name}:", said)
    assert f"{file.name}:{number}: return [][x.shape[1]]" in said
    assert said.endswith(f"; it was called with x (2, {T}, {D_IN})")


def test_an_error_in_what_is_installed_is_placed_there(tmp_path, monkeypatch):
    package = tmp_path / "lib" / "site-packages" / "theirs"
    package.mkdir(parents=True)
    (package / "layers.py").write_text("def attend(x):\n    return {}[x.shape]\n")
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    from theirs.layers import attend

    (said,) = {row.reason for row in audit(returning(attend), D_IN, T).rows[:1]}
    assert f"{pathlib.Path(__file__).name}:" in said  # the owner's own line comes first
    layer = Right()
    layer.forward = attend
    said = audit(layer, D_IN, T).rows[0].reason
    assert " at theirs/layers.py:2: return {}[x.shape]" in said


# --- modules that are none ------------------------------------------------------------


def returning(make):
    class Returns(nn.Module):
        def forward(self, x):
            return make(x)

    return Returns()


def raising(error):
    def fail(x):
        raise error

    return fail


class NoText(Exception):
    def __str__(self):
        raise RuntimeError("no text")


NO_LAYERS = {
    "None": None,
    "number": 3,
    "text": "layer",
    "class": Right,
    "function": lambda x: x,
} | {
    f"returning {name}": returning(make)
    for name, make in {
        "ValueError": raising(ValueError("a\nlong story")),
        "SystemExit": raising(SystemExit()),
        "KeyboardInterrupt": raising(KeyboardInterrupt()),
        "error without text": raising(NoText()),
        "None": lambda x: None,
        "empty tuple": lambda x: (),
        "text": lambda x: "context",
        "sum": lambda x: x.sum(),
        "one of the batch": lambda x: x[0],
        "no features": lambda x: x[..., :0],
        "whole numbers": lambda x: x.long(),
        "sparse": lambda x: x.to_sparse(),
        "None first": lambda x: (None, x),
    }.items()
}


@pytest.mark.parametrize("module", NO_LAYERS.values(), ids=NO_LAYERS)
def test_what_is_no_layer_gets_a_table(module):
    found = audit(module, D_IN, T)
    assert "output shape" in found.failed
    assert len(found.rows) == len(CHECKS)


IDLE = {
    "itself": lambda x: x,
    "NaN": lambda x: x * math.nan,
    "zeros": lambda x: torch.zeros_like(x),
    "detached": lambda x: x.detach().clone(),
    "noise": lambda x: torch.randn_like(x),
    "text for weights": lambda x: (x, "weights"),
    "itself for weights": lambda x: (x, x),
    "three results": lambda x: (x, None, 3),
    "meta": lambda x: torch.empty_like(x, device="meta"),
}


@pytest.mark.parametrize("make", IDLE.values(), ids=IDLE)
def test_a_layer_that_attends_to_nothing_fails(make):
    found = audit(returning(make), D_IN, T)
    assert not found.ok
    assert len(found.rows) == len(CHECKS)


def test_a_layer_that_hangs_is_stopped_once():
    def hang(x):
        while True:
            time.sleep(0.001)

    found = audit(returning(hang), D_IN, T, seconds=0.2)
    assert found.failed == ()
    assert not found.ok
    assert found.unrun == tuple(CHECKS)
    assert found.rows[0].reason == "stopped after 0.2 seconds"
    assert {row.reason for row in found.rows[1:]} == {
        "an earlier check was stopped; seconds grants more"
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {"d_in": 0},
        {"context_length": 2.5},
        {"causal": "yes"},
        {"num_heads": 0},
        {"positions": None},
    ],
    ids=lambda arguments: next(iter(arguments)),
)
def test_a_wrong_argument_is_named(arguments):
    given = {"d_in": D_IN, "context_length": T} | arguments
    name = next(iter(arguments))
    with pytest.raises(ValueError, match=name):
        audit(Right(), **given)


# --- the table ------------------------------------------------------------------------


def test_a_table(capsys):
    torch.manual_seed(1)
    audit(StaysOnTheProcessor(), D_IN, T)
    table = capsys.readouterr().out.split("\n")
    assert table[:3] == [
        "audit of StaysOnTheProcessor",
        "output shape    passes          (2, 6, 4) becomes (2, 6, 3)",
        "short sequences passes          T = 2, 3, 4, 5: as in the whole sequence",
    ]
    assert "dropout         not applicable  no dropout" in table
    assert "scale           passes          divides by 1.73 = √D, D = 3" in table
    why = "moved to meta: masked_fill gets tensors on cpu"
    assert table[-5:] == [
        f"devices         FAILS           {why}",
        f"{'':32}and meta",
        "compiled        not applicable  compiled=True asks for it",
        "23 pass, 1 fail, 6 not applicable",
        "",
    ]
