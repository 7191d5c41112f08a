"""What is wrong in one mode, order, length or part alone fails a check."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

import attention_audit
from attention_audit import checklist
from steps import D_IN, D, H, Steps, T, rotated


def audit(layer, **options):
    torch.manual_seed(3)
    return attention_audit.audit(layer(), D_IN, T, **{"num_heads": H, **options})


def reason(found, check):
    return next(row.reason for row in found.rows if row.check == check)


class Rotary(Steps):
    def placed(self, heads, name):
        return heads if name == "values" else rotated(heads)


class BothWays(Steps):
    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device)


# --- train mode -----------------------------------------------------------------------


class ScalesOtherwiseInTraining(Steps):
    p = 0.1

    def scores(self, queries, keys):
        more = math.sqrt(H) if self.training else 1.0
        return super().scores(queries, keys) / more


class GroupsOtherwiseInTraining(Steps):
    shared_keys = 2

    def shared(self, heads):
        if self.training:
            return heads.repeat(1, 2, 1, 1)
        return super().shared(heads)


class TurnsOtherwiseInTraining(Rotary):
    def placed(self, heads, name):
        if name == "keys" and self.training:
            return rotated(heads, first=1)
        return super().placed(heads, name)


class ShowsOthersInTraining(Steps):
    def softmax(self, scores):
        self.shown = scores.softmax(-1)
        return self.shown

    def forward(self, x):
        context = super().forward(x)
        return context, self.shown**2 if self.training else self.shown


class WithDropout(Steps):
    """Right, in one of several ways to drop."""

    p = 0.2

    def __init__(self):
        super().__init__()
        self.layer, self.dropout_p = nn.Dropout(0.3), 0.1

    def drop(self, weights):
        dropped = F.dropout(self.layer(weights), 0.2, self.training)
        keep = torch.rand_like(weights) >= self.dropout_p
        return dropped * keep / (1 - self.dropout_p) if self.training else dropped


# --- without gradients ----------------------------------------------------------------


class AddsInPlace(Steps):
    """The tokens themselves take the sum, where no gradient is asked for."""

    def __init__(self):
        super().__init__()
        self.out = nn.Linear(H * D, D_IN)

    def forward(self, x):
        context = super().forward(x)
        return x + context if torch.is_grad_enabled() else x.add_(context)


class GivesItsBuffer(Steps):
    """A result is written where the last one of its shape was."""

    def __init__(self):
        super().__init__()
        self.kept = {}

    def forward(self, x):
        context = super().forward(x)
        if torch.is_grad_enabled():
            return context
        kept = self.kept.setdefault(context.shape, torch.empty_like(context))
        return kept.copy_(context)


# --- orders of calls ------------------------------------------------------------------


class DropsUntilItIsEvaluated(Steps):
    def __init__(self):
        super().__init__()
        self.p = 0.1

    def drop(self, weights):
        self.p = self.p if self.training else 0.0
        return F.dropout(weights, self.p, self.training)


class KeepsItsFirstTable(Steps):
    table = None

    def placed(self, heads, name):
        if name == "values":
            return heads
        if self.table is None or len(self.table) < heads.shape[2]:
            at = torch.arange(64.0, device=heads.device)[:, None]
            self.table = (at * torch.tensor([1.0, 0.1], device=at.device)).to(heads)
        angles = self.table[: heads.shape[2]].to(heads)
        one, two = heads[..., :4].chunk(2, dim=-1)
        cos, sin = angles.cos(), angles.sin()
        turned = [one * cos - two * sin, two * cos + one * sin, heads[..., 4:]]
        return torch.cat(turned, dim=-1)


class KeepsItsWeights(Steps):
    kept = None

    def queries(self, x):
        if self.training or self.kept is None or self.kept.dtype != x.dtype:
            self.kept = self.to_q.weight.detach().clone()
            return self.to_q(x)
        return F.linear(x, self.kept) + 0 * self.to_q(x)


class DrawsFeatures(Steps):
    """Queries and keys meet random directions, which each instance draws."""

    saved = False

    def __init__(self):
        super().__init__()
        self.register_buffer("drawn", torch.randn(D, D), persistent=self.saved)

    def placed(self, heads, name):
        return heads if name == "values" else heads @ self.drawn


class SavesFeatures(DrawsFeatures):
    """Right."""

    saved = True


class DrawsByASeed(DrawsFeatures):
    """Right: each instance draws the same."""

    def __init__(self):
        super().__init__()
        self.drawn.copy_(torch.randn(D, D, generator=torch.Generator().manual_seed(5)))


class RegistersItsMask(Steps):
    saved = True

    def seen(self, T, device):
        if "mask" not in self._buffers or len(self.mask) != T:
            mask = super().seen(T, device)
            self.register_buffer("mask", mask, persistent=self.saved)
        return self.mask


class RegistersItsMaskUnsaved(RegistersItsMask):
    """Right."""

    saved = False


class ShowsItsGraph(Steps):
    def softmax(self, scores):
        self.shown = super().softmax(scores)
        return self.shown


class ShowsItsNumbers(Steps):
    """Right."""

    def softmax(self, scores):
        weights = super().softmax(scores)
        self.shown = weights.detach()
        return weights


class StretchesForGood(Rotary):
    """Frequencies for a long sequence stay for short ones."""

    longest = 16

    def placed(self, heads, name):
        self.longest = max(self.longest, heads.shape[2])
        base = 10_000.0 * self.longest / 16
        return heads if name == "values" else rotated(heads, base=base)


class StretchesOnce(Rotary):
    """Right."""

    def placed(self, heads, name):
        base = 10_000.0 * max(16, heads.shape[2]) / 16
        return heads if name == "values" else rotated(heads, base=base)


class EvaluatesOneToken(Steps):
    def __init__(self):
        super().__init__()
        self.layer = nn.Dropout(0.1)

    def drop(self, weights):
        if weights.shape[-1] == 1:
            self.layer.eval()
        return self.layer(weights)


class KeepsTheMaskOfLargeTokens(Steps):
    most = 0.0

    def scores(self, queries, keys):
        self.most = max(self.most, float(queries.abs().max()))
        return super().scores(queries, keys) * (1 if self.most < 100 else 0.5)


class LosesItsMask(Steps):
    causal = True

    def _apply(self, function, recurse=True):
        self.causal = False
        return super()._apply(function, recurse)

    def seen(self, T, device):
        seen = super().seen(T, device)
        return seen if self.causal else torch.ones_like(seen)


# --- gradients ------------------------------------------------------------------------


class DetachesSums(Steps):
    def softmax(self, scores):
        weights = (scores - scores.amax(-1, keepdim=True).detach()).exp()
        return weights / weights.sum(-1, keepdim=True).detach()


class _Halved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient / 2


class HalvesGradients(Steps):
    def values(self, x):
        return _Halved.apply(super().values(x))


class OneGainForAll(Steps):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.rand(H, 1, 1) + 0.5)

    def average(self, weights, values):
        return super().average(weights, values) * self.gain[:1]


class OneBiasForAll(Steps):
    def __init__(self):
        super().__init__()
        self.value_bias = nn.Parameter(torch.randn(H * D))

    def values(self, x):
        return self.to_v(x) + self.value_bias[:D].repeat(H)


# --- heads, projections ---------------------------------------------------------------


class NormsOverHeads(Steps):
    def placed(self, heads, name):
        if name != "queries":
            return heads
        return heads / heads.pow(2).mean(dim=1, keepdim=True).sqrt()


class NormsTheWholeWidth(Steps):
    """Right, as in OLMo 2: one norm before heads are split."""

    def __init__(self):
        super().__init__()
        self.norm_q, self.norm_k = nn.RMSNorm(H * D), nn.RMSNorm(H * D)

    def queries(self, x):
        return self.norm_q(super().queries(x))

    def keys(self, x):
        return self.norm_k(super().keys(x))


class SeesASlice(Steps):
    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(D_IN // H, D, bias=False)

    def queries(self, x):
        return self.to_q(x.unflatten(-1, (H, -1))).flatten(-2)


class KeysFromQueries(Steps):
    def __init__(self):
        super().__init__()
        self.to_k = nn.Linear(H * D, H * D, bias=False)

    def keys(self, x):
        return self.to_k(self.to_q(x))


class NormsForQueriesAlone(Steps):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(D_IN)

    def queries(self, x):
        return self.to_q(self.norm(x))


class OneBias(Steps):
    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v = (nn.Linear(D_IN, H * D) for _ in range(3))
        self.to_k.bias = self.to_v.bias = self.to_q.bias


class MergedAsTheyLie(BothWays):
    def merge(self, contexts):
        B, _, T, _ = contexts.shape
        return contexts.reshape(B, T, -1)


class MergedAsTheyLieRotary(MergedAsTheyLie):
    placed = Rotary.placed


class SplitAsTheyLie(BothWays):
    def split(self, x, name):
        return (
            x.reshape(x.shape[0], H, x.shape[1], D)
            if name == "values"
            else (super().split(x, name))
        )


# --- tokens, lengths ------------------------------------------------------------------


class HidesWhatSumsToNothing(Steps):
    def forward(self, x):
        self.here = x.sum(-1).abs() > 1e-5
        return super().forward(x)

    def scores(self, queries, keys):
        scores = super().scores(queries, keys)
        return scores.masked_fill(~self.here[:, None, None], -1e30)


class HidesScoresOfZero(Steps):
    def scores(self, queries, keys):
        scores = super().scores(queries, keys).tril()
        return scores.masked_fill(scores == 0, -math.inf)


class HidesTokensOfZeros(HidesWhatSumsToNothing):
    def forward(self, x):
        self.here = (x != 0).any(-1)
        return Steps.forward(self, x)


class OwnValueAlone(BothWays):
    def average(self, weights, values):
        return torch.einsum("bhqk,bhqd->bhqd", weights, values)


class SharplyFocused(BothWays):
    """Right: far tokens have weights of 1e-9."""

    def bias(self, T, device):
        at = torch.arange(T, device=device)
        return -3.0 * (at[:, None] - at).abs()


class Reentrant(Steps):
    reentrant = True

    def forward(self, x):
        if not self.training:
            return super().forward(x)
        return checkpoint(super().forward, x, use_reentrant=self.reentrant)


class PartlyReentrant(Steps):
    def values(self, x):
        if not self.training:
            return self.to_v(x)
        return checkpoint(self.to_v, x, use_reentrant=True)


class NotReentrant(Reentrant):
    """Right."""

    reentrant = False


class Frozen(Steps):
    """Right: there is nothing to train."""

    def __init__(self):
        super().__init__()
        self.requires_grad_(False)


class CastsItself(Steps):
    def forward(self, x):
        return super(CastsItself, self.to(x.dtype)).forward(x)


class ProjectsInAutocast(Steps):
    def forward(self, x):
        with torch.autocast(x.device.type, torch.bfloat16):
            return super().forward(x).to(x.dtype)


class ScoresInHalf(Steps):
    dtype = torch.bfloat16

    def scores(self, queries, keys):
        products = queries.to(self.dtype) @ keys.to(self.dtype).mT
        return products.to(queries) / math.sqrt(D)


class RoundsTokens(Steps):
    def forward(self, x):
        return super().forward(x.bfloat16().to(x.dtype))


class KernelInHalf(ScoresInHalf):
    """Right: queries, keys and values are rounded for one kernel."""

    def average(self, weights, values):
        return (weights.bfloat16() @ values.bfloat16()).to(values)


class TurnsByRoundedTable(Rotary):
    """Right: a table may be rounded, which rounds no token."""

    def keys(self, x):
        return super().keys(x) * torch.ones(1).bfloat16().to(x)


class LeavesItsMaskAtHome(Steps):
    kept = None

    def seen(self, T, device):
        if self.kept is None or len(self.kept) != T:
            self.kept = super().seen(T, device)
        return self.kept


class MovesItsMask(LeavesItsMaskAtHome):
    """Right."""

    def seen(self, T, device):
        return super().seen(T, device).to(device)


class LeaksFromTheSecondBlock(Steps):
    def seen(self, T, device):
        seen = super().seen(T, device)
        seen[16:32, 16:32] = True
        return seen


class InBlocks(Steps):
    """Softmax online, three keys at a time: no T × T weights. One line may be wrong."""

    rescaled, over = True, (-1,)
    placed = Rotary.placed

    def forward(self, x):
        q, k, v = (
            self.placed(make(x).unflatten(-1, (H, D)).transpose(1, 2), name)
            for make, name in (
                (self.to_q, "queries"),
                (self.to_k, "keys"),
                (self.to_v, "values"),
            )
        )
        T = x.shape[1]
        best = q.new_full((*q.shape[:3], 1), -math.inf)
        total, mixed = torch.zeros_like(best), torch.zeros_like(q)
        for start in range(0, T, 3):
            scores = self.scores(q, k[:, :, start : start + 3])
            seen = self.seen(T, x.device)[:, start : start + 3]
            scores = scores.masked_fill(~seen, -math.inf)
            new = torch.maximum(best, scores.amax(-1, keepdim=True))
            parts, fix = (scores - new).exp(), (best - new).exp()
            total = total * fix + parts.sum(-1, keepdim=True)
            mixed = mixed * (fix if self.rescaled else 1)
            mixed, best = mixed + parts @ v[:, :, start : start + 3], new
        return self.out(self.merge(mixed / total))


class InBlocksUnscaled(InBlocks):
    rescaled = False


class LinearAttention(Steps):
    """Normalised linear attention, token by token."""

    over = (-1,)

    def forward(self, x):
        q, k, v = (
            make(x).unflatten(-1, (H, D)).transpose(1, 2)
            for make in (self.to_q, self.to_k, self.to_v)
        )
        q, k = q.relu() + 0.1, k.relu() + 0.1
        state = (k[..., None] * v[..., None, :]).cumsum(2)
        total = (q * k.cumsum(2)).sum(self.over, keepdim=True)
        return self.out(self.merge((q[..., None] * state).sum(-2) / total))


class SumsOverHeads(LinearAttention):
    over = (1, -1)


# --- caches, documents ----------------------------------------------------------------


class Cached(Steps):
    """Right: keys and values, which tokens are real, and documents, all handed in."""

    cap, capped, whole = 50.0, True, False

    def forward(self, x, cache=None, real=None, ids=None):
        q, k, v = (
            self.split(make(x), name)
            for name, make in (
                ("queries", self.queries),
                ("keys", self.keys),
                ("values", self.values),
            )
        )
        past = 0 if cache is None else cache[0].shape[2]
        q, k = (self.at(one, past, real) for one in (q, k))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        scores = q @ k.mT / math.sqrt(D)
        if self.capped or cache is None:
            scores = self.cap * torch.tanh(scores / self.cap)
        S = k.shape[2]
        seen = torch.ones(S, S, device=x.device).tril().bool()[S - x.shape[1] :]
        if real is not None:
            own = torch.eye(S, device=x.device).bool()[S - x.shape[1] :]
            seen = seen & real[:, None, None] | own
        if ids is not None and not self.whole:
            seen = seen & (ids[:, None, :, None] == ids[:, None, None])
        weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
        return self.out(self.merge(weights @ v)), (k, v)

    def at(self, heads, past, real):
        return rotated(heads, first=past)


class UncappedSteps(Cached):
    capped = False


class StepsGiveTheirBuffer(Cached):
    """A step's result lies where the last step's lay, where gradients are asked for."""

    kept = None

    def forward(self, x, cache=None, real=None, ids=None):
        context, cache = super().forward(x, cache, real, ids)
        if context.shape[1] > 1 or not torch.is_grad_enabled():
            return context, cache
        if self.kept is None or self.kept.shape != context.shape:
            self.kept = torch.empty_like(context)
        self.kept.data.copy_(context)
        return self.kept, cache


class CachesInBfloat16(Cached):
    def forward(self, x, cache=None, real=None, ids=None):
        cache = cache and tuple(one.to(x.dtype) for one in cache)
        context, cache = super().forward(x, cache, real, ids)
        return context, tuple(one.bfloat16() for one in cache)


class OneDocument(Cached):
    whole = True


class ForgetsPadding(Cached):
    def forward(self, x, cache=None, real=None, ids=None):
        return super().forward(x, cache, real if cache is None else None, ids)


class Padded(Cached):
    forgets = False

    def forward(self, x, real=None):
        real = None if self.training and self.forgets else real
        return super().forward(x, real=real)[0]


class PadsInEvalAlone(Padded):
    forgets = True


def step(module, x, cache):
    return module(x, cache)


def padded_step(module, x, cache, real=None):
    return module(x, cache, real)


def padded(module, x, real):
    return module(x, real=real)


def packed(module, x, ids):
    return module(x, ids=ids)


GROUPS = {"num_kv_heads": 2}
ROTARY = {"positions": "rotary"}
STEPS = {"step": step, **ROTARY}
WRONG = [
    (ScalesOtherwiseInTraining, {"dropout": 0.1}, ["scale", "dropout"]),
    (GroupsOtherwiseInTraining, GROUPS, ["heads", "dropout"]),
    (TurnsOtherwiseInTraining, ROTARY, ["distances", "dropout"]),
    (ShowsOthersInTraining, {}, ["weights shown"]),
    (PadsInEvalAlone, {"padding": padded, **ROTARY}, ["padding"]),
    (DropsUntilItIsEvaluated, {}, ["dropout"]),
    (KeepsItsFirstTable, ROTARY, ["dtypes"]),
    (KeepsItsWeights, {}, ["state dict"]),
    (StretchesForGood, ROTARY, ["eval repeats"]),
    (EvaluatesOneToken, {}, ["mode kept"]),
    (DrawsFeatures, {"softmax": False}, ["state dict"]),
    (RegistersItsMask, {}, ["state dict"]),
    (ShowsItsGraph, {}, ["state dict"]),
    (KeepsTheMaskOfLargeTokens, {}, ["eval repeats"]),
    (LosesItsMask, {}, ["dtypes"]),
    (DetachesSums, {}, ["gradients"]),
    (HalvesGradients, {}, ["gradients"]),
    (OneGainForAll, {}, ["gradients"]),
    (OneBiasForAll, {}, ["gradients"]),
    (NormsOverHeads, {}, ["heads"]),
    (SeesASlice, {}, ["features read"]),
    (KeysFromQueries, {}, ["queries, keys"]),
    (NormsForQueriesAlone, {}, ["queries, keys"]),
    (OneBias, {}, ["queries, keys"]),
    (MergedAsTheyLie, {"causal": False, "positions": True}, ["heads"]),
    (MergedAsTheyLieRotary, {"causal": False, **ROTARY}, ["heads"]),
    (SplitAsTheyLie, {"causal": False, "positions": True}, ["heads"]),
    (HidesWhatSumsToNothing, {}, ["tokens reached"]),
    (HidesScoresOfZero, {}, ["tokens reached"]),
    (HidesTokensOfZeros, {}, ["tokens reached"]),
    (OwnValueAlone, {"causal": False}, ["tokens reached"]),
    (CastsItself, {}, ["dtypes"]),
    (ProjectsInAutocast, {}, ["dtypes"]),
    (ScoresInHalf, {}, ["dtypes"]),
    (RoundsTokens, {}, ["dtypes"]),
    (Reentrant, {}, ["gradients"]),
    (PartlyReentrant, {}, ["gradients"]),
    (LeavesItsMaskAtHome, {}, ["devices"]),
    (LeaksFromTheSecondBlock, {}, ["future changed"]),
    (InBlocksUnscaled, ROTARY, ["row sums"]),
    (SumsOverHeads, {}, ["row sums"]),
    (UncappedSteps, STEPS, ["cache"]),
    (CachesInBfloat16, STEPS, ["cache"]),
    (ForgetsPadding, {"step": padded_step, **ROTARY}, ["cache"]),
    (AddsInPlace, {}, ["input kept"]),
    (GivesItsBuffer, {}, ["eval repeats"]),
    (StepsGiveTheirBuffer, {"step": step, **ROTARY}, ["eval repeats"]),
    (OneDocument, {"documents": packed, **ROTARY}, ["batch"]),
]
RIGHT = [
    (WithDropout, {}),
    (NormsTheWholeWidth, {}),
    (InBlocks, ROTARY),
    (LinearAttention, {}),
    (Cached, {"step": step, "documents": packed, **ROTARY}),
    (Cached, {"step": padded_step, **ROTARY}),
    (Padded, {"padding": padded, **ROTARY}),
    (StretchesOnce, ROTARY),
    (KernelInHalf, {}),
    (NotReentrant, {}),
    (Frozen, {}),
    (TurnsByRoundedTable, ROTARY),
    (SharplyFocused, {"causal": False, "positions": True}),
    (MovesItsMask, {}),
    (SavesFeatures, {"softmax": False}),
    (DrawsByASeed, {"softmax": False}),
    (RegistersItsMaskUnsaved, {}),
    (ShowsItsNumbers, {}),
]


@pytest.mark.parametrize(("layer", "options"), RIGHT)
def test_what_is_right_passes(layer, options):
    assert audit(layer, **options).failed == ()


@pytest.mark.parametrize(("layer", "options", "checks"), WRONG)
def test_what_is_wrong_fails_a_check_that_names_it(layer, options, checks):
    assert {*checks} <= {*audit(layer, **options).failed}


def test_train_mode_is_named():
    found = audit(ScalesOtherwiseInTraining, dropout=0.1)
    assert reason(found, "scale").startswith("in train mode, dropout off: divides by 4")
    assert "train mode differs from eval mode" in reason(found, "dropout")


def test_what_is_asked_further_and_refused_is_no_failure(monkeypatch):
    def refuses(subject):
        raise RuntimeError("not that long")

    monkeypatch.setitem(checklist.FURTHER, "batch", (refuses, lambda _: "wrong"))
    assert reason(audit(Steps), "batch") == "wrong"
    monkeypatch.setitem(checklist.FURTHER, "batch", (refuses,))
    assert audit(Steps).failed == ()


# --- the layer's own padding ----------------------------------------------------------


class PadsToBlocks(BothWays):
    """Right: zeros fill the last block of 4, and are hidden."""

    hides = True

    def forward(self, x):
        self.T = x.shape[1]
        return super().forward(F.pad(x, (0, 0, 0, -self.T % 4)))[:, : self.T]

    def seen(self, T, device):
        seen = super().seen(T, device)
        return seen & (torch.arange(T, device=device) < self.T) if self.hides else seen


class SeesItsPadding(PadsToBlocks):
    hides = False


class RemembersTwo(BothWays):
    """Right: two learned keys and values beside the tokens."""

    def __init__(self):
        super().__init__()
        self.memory = nn.Parameter(torch.randn(2, H, 2, D))

    def split(self, x, name):
        heads = super().split(x, name)
        if name == "queries":
            return heads
        mine = self.memory[int(name == "values")].expand(len(x), -1, -1, -1)
        return torch.cat([mine, heads], dim=2)

    def bias(self, T, device):
        return torch.zeros(T, T + 2, device=device)

    def seen(self, T, device):
        return torch.ones(T, T + 2, dtype=torch.bool, device=device)


class RemembersInAWindow(RemembersTwo):
    """Right: of 7 tokens 5 have weight, and 2 that are none."""

    def seen(self, T, device):
        window = torch.ones(T, T, dtype=torch.bool, device=device).tril().triu(-4)
        return F.pad(window, (2, 0), value=True)


def test_what_a_layer_fills_blocks_with_takes_no_weight():
    assert audit(PadsToBlocks, causal=False).failed == ()
    assert audit(RemembersTwo, causal=False).failed == ()
    assert audit(RemembersInAWindow, window=5).failed == ()
    found = audit(SeesItsPadding, causal=False)
    assert found.failed == ("row sums", "heads")
    assert "to fewer with 3 tokens than with 2" in reason(found, "heads")


# --- the caller's tensor --------------------------------------------------------------


class DropsInItsInput(Steps):
    """In train mode, features of the caller's tensor become 0."""

    def __init__(self):
        super().__init__()
        self.first = nn.Dropout(0.1, inplace=True)

    def forward(self, x):
        return super().forward(self.first(x))


def test_the_input_is_kept_in_train_mode_too():
    found = audit(DropsInItsInput)
    assert found.failed == ("input kept",)
    assert reason(found, "input kept").endswith("overwritten, in train mode")


# --- halves, a token alone, tables ----------------------------------------------------


class AveragesItsHalves(BothWays):
    """Each half of the keys has a softmax of its own, and counts as much."""

    def forward(self, x):
        q, k, v = (self.split(getattr(self, one)(x), one) for one in ROLES)
        halves = zip(k.chunk(2, dim=2), v.chunk(2, dim=2), strict=True)
        parts = [F.scaled_dot_product_attention(q, *half) for half in halves]
        return self.out(torch.stack(parts).mean(0).transpose(1, 2).flatten(2))


class ForgetsTheMean(BothWays):
    """The mean of all values is taken off, and never added."""

    def values(self, x):
        values = super().values(x)
        return values - values.mean(1, keepdim=True)


class SkewsOneTable(Steps):
    """Right: a table of distances for all heads, read before the keys are."""

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(T, D))

    def scores(self, queries, keys):
        *outer, many, _ = queries.shape
        far = many - 1 - torch.arange(many, device=queries.device)
        by_distance = F.pad(queries @ self.table[far].mT, (1, 0))
        skewed = by_distance.reshape(*outer, many + 1, many)[:, :, 1:]
        return super().scores(queries, keys) + skewed


ROLES = "queries", "keys", "values"


def test_halves_of_the_keys_may_change_places():
    found = audit(AveragesItsHalves, causal=False)
    assert found.failed == ("order",)


def test_of_a_token_alone_something_comes_through():
    found = audit(ForgetsTheMean, causal=False)
    assert found.failed == ("features read",)
    assert reason(found, "features read").startswith("alone, any two tokens")


def test_a_table_of_distances_is_not_taken_for_keys():
    found = audit(SkewsOneTable, positions="relative")
    assert found.failed == ()
    assert reason(found, "heads") == f"{H} heads, each {D} features wide"


# --- train mode, backwards and a step -------------------------------------------------


class DropsInPlace(Steps):
    """What softmax keeps for its backward is overwritten in train mode."""

    def drop(self, weights):
        return F.dropout(weights, 0.1, self.training, inplace=True)


class StaysInEvalMode(Steps):
    """Whoever steps with a cache leaves eval mode behind."""

    def step(self, x, cache):
        if cache is not None:
            self.eval()
            x = torch.cat([cache, x], dim=1)
        return self(x)[:, 0 if cache is None else cache.shape[1] :], x


def test_backward_is_asked_in_train_mode():
    found = audit(DropsInPlace, dropout=0.1)
    assert found.failed == ("gradients",)
    assert reason(found, "gradients").startswith("in train mode, backward stops: ")


def test_a_second_step_keeps_the_mode():
    found = audit(StaysInEvalMode, step=StaysInEvalMode.step)
    assert found.failed == ("cache",)
    assert reason(found, "cache") == "a step in train mode leaves eval mode behind"


def test_a_causal_mask_that_was_left_on_is_named():
    found = audit(Steps, causal=False)
    said = reason(found, "tokens reached")
    assert said.endswith("gradients are 0, none depends on a later one")
    assert "a causal mask left on" in found.told()["tokens reached"].causes[0]
