"""What the audit finds inside a layer: weights, scale, dropout, heads, distances."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import attention_audit
from attention_audit.alibi import published_slopes
from steps import D_IN, D, H, Steps, T, rotated


def audit(layer, **options):
    torch.manual_seed(3)
    return attention_audit.audit(layer(), D_IN, T, **{"num_heads": H, **options})


# --- right, however it is written -----------------------------------------------------


class Einsum(Steps):
    def scores(self, queries, keys):
        return torch.einsum("bhtd,bhsd->bhts", queries, keys) / math.sqrt(D)

    def average(self, weights, values):
        return torch.einsum("bhts,bhsd->bhtd", weights, values)


class KeysFirst(Steps):
    def scores(self, queries, keys):
        return (keys @ queries.mT).mT / math.sqrt(D)


class ScaledBefore(Steps):
    def placed(self, heads, name):
        return heads / math.sqrt(D) if name == "queries" else heads

    def scores(self, queries, keys):
        return queries @ keys.mT


class DividedAfterwards(Steps):
    """The sums of the exponentials are divided by when values are averaged."""

    def softmax(self, scores):
        exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp()
        self.sums = exponentials.sum(dim=-1, keepdim=True)
        return exponentials

    def average(self, weights, values):
        sums, self.sums = self.sums, None  # a graph that stays can't be copied
        return (weights @ values) / sums


class Fused(nn.Module):
    """One projection, PyTorch's call, the kernel chosen by the layer itself."""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(D_IN, 3 * H * D)

    def forward(self, x):
        parts = self.c_attn(x).unflatten(-1, (H, 3, D)).transpose(1, 2).unbind(dim=-2)
        kernels = torch.nn.attention.SDPBackend
        with torch.nn.attention.sdpa_kernel(
            [kernels.FLASH_ATTENTION, kernels.EFFICIENT_ATTENTION, kernels.MATH]
        ):
            contexts = F.scaled_dot_product_attention(*parts, is_causal=True)
        return contexts.transpose(1, 2).flatten(2)


class OneHeadAfterTheOther(Steps):
    def average(self, weights, values):
        heads = zip(weights.unbind(1), values.unbind(1), strict=True)
        return torch.stack([w @ v for w, v in heads], dim=1)


class Sink(Steps):
    def softmax(self, scores):
        sink = torch.full_like(scores[..., :1], 0.5)
        return torch.cat([scores, sink], dim=-1).softmax(dim=-1)[..., :-1]


class Dropped(Steps):
    p = 0.3


class Window(Steps):
    def seen(self, T, device):
        return super().seen(T, device).triu(-3)


class BothWays(Steps):
    """Row t sees tokens t - 2 to t + 2."""

    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device).triu(-2).tril(2)


class Grouped(Steps):
    shared_keys = 2


class OneKey(Steps):
    shared_keys = 1


class Alibi(Steps):
    def scores(self, queries, keys):
        T = queries.shape[-2]
        steps = torch.arange(T, device=queries.device).to(queries)
        slopes = torch.tensor(self.slopes()).to(queries)[:, None, None]
        return super().scores(queries, keys) + slopes * (steps - steps[:, None])

    def slopes(self):
        return published_slopes(H)


class Rotary(Steps):
    halves = True

    def placed(self, heads, name):
        return heads if name == "values" else rotated(heads, halves=self.halves)


class RotaryPairs(Rotary):
    halves = False


class ScaledThenRotated(Rotary):
    def placed(self, heads, name):
        heads = heads / math.sqrt(D) if name == "queries" else heads
        return super().placed(heads, name)

    def scores(self, queries, keys):
        return queries @ keys.mT


class Lora(Steps):
    """Queries are the sum of two products, one of them 0 at first."""

    def __init__(self):
        super().__init__()
        self.down = nn.Linear(D_IN, 2, bias=False)
        self.up = nn.Linear(2, H * D, bias=False)
        nn.init.zeros_(self.up.weight)

    def queries(self, x):
        return super().queries(x) + self.up(self.down(x))


class FilledUp(Steps):
    """Heads get three features of zeros, and the scale is that of the real ones."""

    def placed(self, heads, name):
        return F.pad(heads, (0, 3))

    def merge(self, contexts):
        return super().merge(contexts[..., :D])


class PartOfAllKeys(Steps):
    """Two features of the keys are the same for all heads, as in latent attention."""

    def __init__(self):
        super().__init__()
        self.to_k = nn.Linear(D_IN, H * (D - 2) + 2, bias=False)

    def split(self, x, name):
        if name != "keys":
            return super().split(x, name)
        own = x[..., 2:].unflatten(-1, (H, D - 2)).transpose(1, 2)
        return torch.cat([own, x[:, None, :, :2].expand(-1, H, -1, -1)], dim=-1)


class TurnedRound(Steps):
    def seen(self, T, device):
        return super().seen(T, device).T

    def forward(self, x):
        return super().forward(x.flip(1)).flip(1)


class LooksAhead(Steps):
    """The mask is the other triangle."""

    def seen(self, T, device):
        return super().seen(T, device).T


class LooksAheadTurnedRound(Steps):
    """The sequence is turned round, and the mask is not."""

    def forward(self, x):
        return super().forward(x.flip(1)).flip(1)


class MixesAndTurnsRound(TurnedRound):
    """What reaches attention knows earlier tokens already."""

    def forward(self, x):
        steps = torch.arange(1, x.shape[1] + 1, device=x.device)[:, None]
        return super().forward(x + x.cumsum(dim=1) / steps)


class WindowTurnedRound(TurnedRound):
    def seen(self, T, device):
        return super().seen(T, device).tril(3)


class ClearWindow(Steps):
    """A window longer than what is looked at inside otherwise."""

    size = 20

    def seen(self, T, device):
        return super().seen(T, device).triu(1 - self.size)


class ClearWindowOneTooMany(ClearWindow):
    size = 21


RIGHT = [
    (Steps, {}),
    (Einsum, {}),
    (KeysFirst, {}),
    (ScaledBefore, {}),
    (DividedAfterwards, {}),
    (Fused, {}),
    (OneHeadAfterTheOther, {}),
    (Sink, {}),
    (Dropped, {"dropout": 0.3}),
    (Window, {"window": 4}),
    (BothWays, {"causal": False, "window": 3}),
    (Grouped, {"num_kv_heads": 2}),
    (OneKey, {"num_kv_heads": 1}),
    (Alibi, {"positions": "alibi"}),
    (Rotary, {"positions": "rotary"}),
    (RotaryPairs, {"positions": "rotary"}),
    (ScaledThenRotated, {"positions": "rotary"}),
    (Lora, {}),
    (FilledUp, {}),
    (TurnedRound, {}),
    (MixesAndTurnsRound, {"positions": True}),
    (WindowTurnedRound, {"window": 4}),
    (PartOfAllKeys, {}),
]
SEEN = ("hidden weights", "row sums", "scale", "heads", "queries, keys")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("layer", "options"), RIGHT, ids=lambda x: getattr(x, "__name__", "")
)
def test_what_is_right_passes_and_is_seen(layer, options):
    found = audit(layer, **options)
    assert found.ok, found
    results = {row.check: row.result for row in found.rows}
    for check in SEEN:
        assert results[check] == "passes", found
    for name, check in {"dropout": "dropped weights", "positions": "distances"}.items():
        asked = options.get(name, False) not in (False, True)
        assert (results[check] == "passes") == asked


# --- each in its own way wrong --------------------------------------------------------


class MaskThrownAway(Window):
    """What is built and never used."""

    def seen(self, T, device):
        return Steps.seen(self, T, device)


class OneTooMany(Window):
    def seen(self, T, device):
        return Steps.seen(self, T, device).triu(-4)


class OneTooFew(Window):
    def seen(self, T, device):
        return Steps.seen(self, T, device).triu(-2)


class OneTooManyAhead(Steps):
    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device).triu(-2).tril(3)


class OneTooFewAhead(Steps):
    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device).triu(-2).tril(1)


class NotItself(Steps):
    def seen(self, T, device):
        seen = super().seen(T, device).tril(-1)
        seen[0, 0] = True
        return seen


class OneHeadShortSighted(Steps):
    def bias(self, T, device):
        old = torch.ones(H, T, T, dtype=torch.bool, device=device).tril(-2)
        old[[0, 1, 3]] = False
        return torch.zeros(H, T, T, device=device).masked_fill(old, -math.inf)


class SoftmaxTwice(Steps):
    def softmax(self, scores):
        once = scores.softmax(dim=-1)
        return once.masked_fill(once == 0, -math.inf).softmax(dim=-1)


class OverColumns(Steps):
    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device)

    def softmax(self, scores):
        return scores.softmax(dim=-2)


class DividesTwice(ScaledBefore):
    def scores(self, queries, keys):
        return queries @ keys.mT / math.sqrt(D)


class ByTheWholeWidth(Steps):
    def scores(self, queries, keys):
        return queries @ keys.mT / math.sqrt(H * D)


class FilledUpInTheScale(FilledUp):
    def scores(self, queries, keys):
        return queries @ keys.mT / math.sqrt(D + 3)


class RotatedUnscaled(ScaledThenRotated):
    def placed(self, heads, name):
        return Rotary.placed(self, heads, name)


class DroppedBeforeSoftmax(Dropped):
    def softmax(self, scores):
        dropped = F.dropout(torch.ones_like(scores), self.p, self.training) == 0
        return scores.masked_fill(dropped & (scores > -math.inf), -1e4).softmax(dim=-1)

    def drop(self, weights):
        return weights


class DropsScores(Dropped):
    def scores(self, queries, keys):
        return F.dropout(super().scores(queries, keys), self.p, self.training)

    def drop(self, weights):
        return weights


class KeepsTheRestAsItIs(Dropped):
    def drop(self, weights):
        return super().drop(weights) * (0.7 if self.training else 1)


class DividesByP(Dropped):
    def drop(self, weights):
        return super().drop(weights) * (0.7 / 0.3 if self.training else 1)


class DropsLess(Dropped):
    p = 0.1


class NeverDrops(Dropped):
    def drop(self, weights):
        return weights

    def merge(self, contexts):
        return F.dropout(super().merge(contexts), 0.3, self.training)


class SharedByHeads(Dropped):
    def drop(self, weights):
        return weights * super().drop(torch.ones_like(weights[:, :1]))


class SharedByRows(Dropped):
    def drop(self, weights):
        return weights * super().drop(torch.ones_like(weights[:, :, :1]))


class WholeRows(Dropped):
    def drop(self, weights):
        return weights * super().drop(torch.ones_like(weights[..., :1]))


class SharedByTexts(Dropped):
    def drop(self, weights):
        return weights * super().drop(torch.ones_like(weights[:1]))


class TwoHeadsFewer(Steps):
    def split(self, x, name):
        return x.unflatten(-1, (2, -1)).transpose(1, 2)

    def scores(self, queries, keys):
        return queries @ keys.mT / math.sqrt(2 * D)


class Overlapping(Steps):
    def split(self, x, name):
        return torch.stack([x[..., 2 * h : 2 * h + D] for h in range(H)], dim=1)


class NeighboursValues(Steps):
    def split(self, x, name):
        heads = super().split(x, name)
        return heads.roll(1, dims=1) if name == "values" else heads


class Repeated(Grouped):
    def shared(self, heads):
        return heads.repeat(1, 2, 1, 1)


class OneOfTwo(Grouped):
    def shared(self, heads):
        return heads[:, :1].expand(-1, H, -1, -1)


class FeaturesFirst(Steps):
    def merge(self, contexts):
        return contexts.permute(0, 2, 3, 1).flatten(2)


class SilentHead(Steps):
    def average(self, weights, values):
        contexts = super().average(weights, values)
        return contexts * (torch.arange(H, device=contexts.device) != 1)[:, None, None]


class Exchanged(Steps):
    def queries(self, x):
        return self.to_k(x)

    def keys(self, x):
        return self.to_q(x)


class OneProjectionForTwo(Fused):
    def forward(self, x):
        parts = self.c_attn(x).unflatten(-1, (H, 3, D)).transpose(1, 2).unbind(dim=-2)
        contexts = F.scaled_dot_product_attention(
            parts[0], parts[0], parts[2], is_causal=True
        )
        return contexts.transpose(1, 2).flatten(2)


class AveragesTokens(Steps):
    def __init__(self):
        super().__init__()
        del self.to_v
        self.out = nn.Linear(H * D_IN, 10)

    def values(self, x):
        return x

    def split(self, x, name):
        if name == "values":
            return x[:, None].expand(-1, H, -1, -1)
        return super().split(x, name)


class ReturnsOthers(Steps):
    def average(self, weights, values):
        self.shown = weights.flip(1)
        return super().average(weights, values)

    def forward(self, x):
        context = super().forward(x)
        shown, self.shown = self.shown, None
        return context, shown


class LayoutsMixed(Rotary):
    def placed(self, heads, name):
        self.halves = name == "queries"
        return super().placed(heads, name)


class QueriesOnly(Rotary):
    def placed(self, heads, name):
        return super().placed(heads, name) if name == "queries" else heads


class ValuesToo(Rotary):
    def placed(self, heads, name):
        return rotated(heads)


class KeysOneLater(Rotary):
    def placed(self, heads, name):
        if name == "keys":
            return rotated(heads, first=1)
        return super().placed(heads, name)


class NeverRotated(Rotary):
    def placed(self, heads, name):
        return heads


class TheFartherTheBetter(Alibi):
    def slopes(self):
        return [-slope for slope in super().slopes()]


class OneSlope(Alibi):
    def slopes(self):
        return [super().slopes()[0]] * H


class AlsoKeysAndValues(Steps):
    def forward(self, x):
        return super().forward(x), torch.stack([x, x])[:, :, None]


def test_what_comes_second_need_not_be_weights():
    found = audit(AlsoKeysAndValues)
    assert found.ok, found
    reasons = {row.check: row.reason for row in found.rows}
    assert reasons["weights shown"] == "no weights are returned"


FAILING = [
    (LooksAhead, {}, "hidden weights"),
    (LooksAheadTurnedRound, {}, "hidden weights"),
    (MaskThrownAway, {"window": 4}, "tokens reached"),
    (OneTooMany, {"window": 4}, "hidden weights"),
    (OneTooFew, {"window": 4}, "tokens reached"),
    (OneTooManyAhead, {"causal": False, "window": 3}, "hidden weights"),
    (OneTooFewAhead, {"causal": False, "window": 3}, "tokens reached"),
    (Window, {"causal": False, "window": 4}, "tokens reached"),
    (BothWays, {"causal": False}, "tokens reached"),
    (NotItself, {}, "tokens reached"),
    (OneHeadShortSighted, {}, "tokens reached"),
    (SoftmaxTwice, {}, "scale"),
    (OverColumns, {"causal": False}, "row sums"),
    (DividesTwice, {}, "scale"),
    (ByTheWholeWidth, {}, "scale"),
    (FilledUpInTheScale, {}, "scale"),
    (RotatedUnscaled, {"positions": "rotary"}, "scale"),
    (Steps, {"scale": 1.0}, "scale"),
    (DroppedBeforeSoftmax, {"dropout": 0.3}, "dropped weights"),
    (DropsScores, {}, "dropped weights"),
    (KeepsTheRestAsItIs, {}, "dropped weights"),
    (DividesByP, {}, "dropped weights"),
    (DropsLess, {"dropout": 0.3}, "dropped weights"),
    (NeverDrops, {"dropout": 0.3}, "dropped weights"),
    (SharedByHeads, {}, "dropped weights"),
    (SharedByRows, {}, "dropped weights"),
    (WholeRows, {}, "dropped weights"),
    (SharedByTexts, {}, "dropped weights"),
    (TwoHeadsFewer, {}, "heads"),
    (Overlapping, {}, "heads"),
    (NeighboursValues, {}, "heads"),
    (Repeated, {"num_kv_heads": 2}, "heads"),
    (OneOfTwo, {"num_kv_heads": 2}, "heads"),
    (Grouped, {}, "heads"),
    (FeaturesFirst, {}, "heads"),
    (SilentHead, {}, "gradients"),
    (Exchanged, {}, "queries, keys"),
    (OneProjectionForTwo, {}, "queries, keys"),
    (AveragesTokens, {}, "queries, keys"),
    (ReturnsOthers, {}, "weights shown"),
    (LayoutsMixed, {"positions": "rotary"}, "distances"),
    (QueriesOnly, {"positions": "rotary"}, "distances"),
    (ValuesToo, {"positions": "rotary"}, "distances"),
    (KeysOneLater, {"positions": "rotary"}, "distances"),
    (NeverRotated, {"positions": "rotary"}, "distances"),
    (TheFartherTheBetter, {"positions": "alibi"}, "distances"),
    (OneSlope, {"positions": "alibi"}, "distances"),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("layer", "options", "check"),
    FAILING,
    ids=[layer.__name__ for layer, *_ in FAILING],
)
def test_what_is_wrong_fails_its_check(layer, options, check):
    found = audit(layer, **options)
    assert check in found.failed, found
    leaks = {"short sequences", "one token", "future changed", "future grads"}
    assert len({*found.failed} - leaks) <= 4, found


def test_a_long_window_is_looked_at_inside():
    torch.manual_seed(3)
    options = {"num_heads": H, "window": 20, "seconds": 100}
    found = attention_audit.audit(ClearWindow(), D_IN, 26, **options)
    assert found.ok, found
    found = attention_audit.audit(ClearWindowOneTooMany(), D_IN, 26, **options)
    assert "hidden weights" in found.failed


@pytest.mark.parametrize(
    ("layer", "options", "reason"),
    [
        (BothWays, {}, "position 0 doesn't depend on token 3: "),
        (BothWays, {}, "; is there a window to declare?"),
        (OneTooManyAhead, {"window": 3}, "position 0 reads token 3, which is beyond "),
        (Steps, {"window": 3}, "position 3 reads token 0, which is behind the "),
        (Window, {"window": 4}, "position 0 doesn't depend on token 1: "),
    ],
)
def test_a_window_reaches_as_far_ahead_as_back(layer, options, reason):
    found = audit(layer, causal=False, **options)
    (said,) = (row.reason for row in found.rows if row.check == "tokens reached")
    assert reason in said


@pytest.mark.parametrize("length", [1, 2, 3])
def test_few_tokens_have_no_distances_to_compare(length):
    torch.manual_seed(3)
    options = {"num_heads": H, "positions": "rotary"}
    assert attention_audit.audit(Rotary(), D_IN, length, **options).ok


def test_weights_in_a_dict_are_looked_at():
    class Named(ReturnsOthers):
        def forward(self, x):
            context, weights = super().forward(x)
            return {"context": context, "attn_weights": weights}

    assert audit(Named).failed == ("weights shown",)


def test_who_asks_for_weights_changes_no_mode():
    class Looks(Steps):
        def average(self, weights, values):
            self.shown = weights
            return super().average(weights, values)

        def forward(self, x, return_weights=False):
            if return_weights:
                self.eval()
            context = super().forward(x)
            shown, self.shown = self.shown, None
            return (context, shown) if return_weights else context

    assert audit(Looks).failed == ("mode kept",)


@pytest.mark.parametrize("heads", range(1, 20))
def test_slopes_of_alibi_fall_and_lie_between_one_and_a_256th(heads):
    slopes = published_slopes(heads)
    assert len(set(slopes)) == heads
    assert max(slopes) < 1
    assert min(slopes) >= 2**-8
    whole = 2 ** int(math.log2(heads))
    assert slopes[whole - 1] == 2**-8
    assert slopes[:whole] == sorted(slopes[:whole], reverse=True)
