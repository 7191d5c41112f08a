"""What a layer promises beside one pass: padding, a cache, to be compiled."""

import math

import pytest
import torch
import torch.nn.functional as F

import attention_audit
from steps import D_IN, D, H, Steps, T, rotated


def failed(layer, **options):
    torch.manual_seed(3)
    return attention_audit.audit(layer, D_IN, T, num_heads=H, **options).failed


# --- padding --------------------------------------------------------------------------


class Padded(Steps):
    """Right: hides padding, and leaves a row that sees nothing its zeros.

    No NaN may come up on the way, or gradients have it.
    """

    real = None

    def masked(self, scores):
        return scores.masked_fill(~self.real[:, None, None], -math.inf)

    def softmax(self, scores):
        scores = scores if self.real is None else self.masked(scores)
        empty = (scores == -math.inf).all(dim=-1, keepdim=True)
        return scores.masked_fill(empty, 0.0).softmax(-1).masked_fill(empty, 0.0)

    def forward(self, x, real=None):
        self.real = real
        return super().forward(x)


def with_mask(module, x, real):
    return module(x, real)


class Inverted(Padded):
    def masked(self, scores):
        return scores.masked_fill(self.real[:, None, None], -math.inf)


class FirstTextsLengths(Padded):
    def masked(self, scores):
        return scores.masked_fill(~self.real[:1, None, None], -math.inf)


class HidesRows(Padded):
    def masked(self, scores):
        return scores.masked_fill(~self.real[:, None, :, None], -math.inf)


class Weakly(Padded):
    def masked(self, scores):
        return scores.masked_fill(~self.real[:, None, None], -60.0)


class Minus10000(Padded):
    """Enough for small scores: padding that shouts is heard."""

    def masked(self, scores):
        return scores + 1e4 * (self.real[:, None, None].to(scores) - 1)


class AddsTheMask(Padded):
    def masked(self, scores):
        return scores + self.real[:, None, None].to(scores)


class NotANumber(Padded):
    def softmax(self, scores):
        scores = scores if self.real is None else self.masked(scores)
        return scores.softmax(dim=-1)


class NotANumberInGradients(Padded):
    """The mask is added, so that NaN finds its way back to queries and keys."""

    def softmax(self, scores):
        if self.real is not None:
            hidden = torch.zeros_like(scores)
            scores = scores + hidden.masked_fill(~self.real[:, None, None], -math.inf)
        return scores.softmax(dim=-1).nan_to_num()


class Ignored(Padded):
    def masked(self, scores):
        return scores


class CountsPadding(Padded):
    """Adds the mean of all tokens so far, padding with them."""

    def forward(self, x, real=None):
        steps = torch.arange(1, x.shape[1] + 1, device=x.device)[:, None]
        return super().forward(x, real) + (x.cumsum(dim=1) / steps)[..., :10]


class KeepsItsMask(Padded):
    kept = None

    def masked(self, scores):
        if self.kept is None or self.kept.shape != self.real.shape:
            self.kept = self.real
        return scores.masked_fill(~self.kept[:, None, None], -math.inf)


class WipesTheCallersPadding(Padded):
    def forward(self, x, real=None):
        if real is not None:
            with torch.no_grad():
                x.masked_fill_(~real[..., None], 0.0)
        return super().forward(x, real)


def test_padding_is_inert():
    assert not failed(Padded(), padding=with_mask)
    assert not failed(Padded())


@pytest.mark.parametrize(
    "layer",
    [
        Inverted,
        FirstTextsLengths,
        HidesRows,
        Weakly,
        Minus10000,
        AddsTheMask,
        NotANumber,
        NotANumberInGradients,
        Ignored,
        CountsPadding,
        KeepsItsMask,
        WipesTheCallersPadding,
    ],
)
def test_padding_that_is_not(layer):
    assert failed(layer(), padding=with_mask) == ("padding",)
    assert not failed(layer()), "what nobody declares is not asked"


@pytest.mark.parametrize("causal", [True, False])
def test_rows_that_may_see_nothing_are_named(causal):
    class Nothing(NotANumber):
        def seen(self, T, device):
            seen = super().seen(T, device)
            return seen if causal else torch.ones_like(seen)

    options = {"num_heads": H, "padding": with_mask, "causal": causal}
    found = attention_audit.audit(Nothing(), D_IN, T, **options)
    (said,) = (row.reason for row in found.rows if row.check == "padding")
    assert said == (
        "a text with padding before it: its rows of padding are not finite"
        if causal
        else "a text of only padding: its rows are not finite"
    )


def test_padding_before_a_text_may_move_absolute_positions():
    class Places(Padded):
        def queries(self, x):
            places = torch.arange(x.shape[1], device=x.device)[:, None].to(x)
            return super().queries(x + 0.1 * places)

    torch.manual_seed(3)
    options = {"num_heads": H, "padding": with_mask}
    found = attention_audit.audit(Places(), D_IN, T, positions=True, **options)
    assert found.ok
    (said,) = (row.reason for row in found.rows if row.check == "padding")
    assert "rows behind padding weren't compared" in said
    found = attention_audit.audit(Padded(), D_IN, T, **options)
    (said,) = (row.reason for row in found.rows if row.check == "padding")
    assert said == "padding behind, before and alone is inert"
    # One query's place is the same for all of its keys: without a difference between
    # keys there is no distance, and the left padding shows.
    assert "padding" in failed(Places(), padding=with_mask, positions="relative")


# --- cache ----------------------------------------------------------------------------


class Cached(Steps):
    """Right: earlier keys and values come in, and go out with the new ones."""

    past = None

    def placed(self, heads, name):
        heads = self.turned(heads, name)
        if name == "queries" or self.past is None:
            return heads
        return self.extended(heads, name)

    def turned(self, heads, name):
        if name == "values":
            return heads
        return rotated(heads, first=self.first())

    def first(self):
        return 0 if not self.past else self.past["keys"].shape[2]

    def extended(self, heads, name):
        if name in self.past:
            heads = torch.cat([self.past[name], heads], dim=2)
        self.new[name] = heads
        return heads

    def bias(self, T, device):
        return torch.zeros((), device=device)

    def seen(self, T, device):
        S = self.new["keys"].shape[2] if self.past is not None else T
        return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)

    def forward(self, x, past=None):
        self.past, self.new = past, {}
        return super().forward(x)


def step(module, x, cache):
    return module(x, {} if cache is None else cache), module.new


class Restarts(Cached):
    def first(self):
        return 0


class TopLeft(Cached):
    """is_causal=True with one query: the first key alone is seen."""

    def seen(self, T, device):
        S = self.new["keys"].shape[2] if self.past is not None else T
        return torch.ones(T, S, dtype=torch.bool, device=device).tril()


class OldKeysOnly(Cached):
    def extended(self, heads, name):
        longer = super().extended(heads, name)
        if name == "values" and name in self.past:
            longer = torch.cat([longer[:, :, 1:], longer[:, :, -1:]], dim=2)
        return longer


class TurnedTwice(Cached):
    """What goes into the cache is turned already, and is turned again."""

    def extended(self, heads, name):
        longer = super().extended(heads, name)
        if name == "keys" and name in self.past:
            old = self.past[name].shape[2]
            return torch.cat([rotated(longer[:, :, :old]), longer[:, :, old:]], dim=2)
        return longer


class OneForAll(Cached):
    """The cache lies in the layer: a second text finds the first one's keys."""

    kept = None

    def forward(self, x, past=None):
        if past is not None:
            past = {} if not past else self.kept
        result = super().forward(x, past)
        self.kept = self.new
        return result


class OpenPrefill(Cached):
    """Where several tokens come at once, they see one another's future."""

    def seen(self, T, device):
        seen = super().seen(T, device)
        return seen | (self.past is not None and T > 1)


def test_steps_with_a_cache_are_one_pass():
    assert not failed(Cached(), step=step, positions="rotary")


@pytest.mark.parametrize(
    "layer", [Restarts, TopLeft, OldKeysOnly, TurnedTwice, OneForAll, OpenPrefill]
)
def test_a_cache_that_is_wrong(layer):
    options = {"positions": "rotary"}
    assert failed(layer(), step=step, **options) == ("cache",)
    assert not failed(layer(), **options)


def test_a_step_leaves_the_mode_as_it_was():
    def quiet_step(module, x, cache):
        module.eval()
        return step(module, x, cache)

    assert failed(Cached(), step=quiet_step, positions="rotary") == ("cache",)


def test_a_window_holds_behind_a_cache():
    class Window(Cached):
        def seen(self, T, device):
            S = super().seen(T, device).shape[1]
            return super().seen(T, device).triu(S - T - 3)

    class ForgetsIt(Cached):
        def seen(self, T, device):
            seen = super().seen(T, device)
            return seen if self.past else seen.triu(-3)

    options = {"step": step, "positions": "rotary", "window": 4}
    assert not failed(Window(), **options)
    assert failed(ForgetsIt(), **options) == ("cache",)


# --- compiled, a batch of none --------------------------------------------------------


class OpenWhenCompiled(Steps):
    """Leaves the mask out of a graph, as if a backend would see to it."""

    def seen(self, T, device):
        seen = super().seen(T, device)
        return torch.ones_like(seen) if torch.compiler.is_compiling() else seen


@pytest.mark.slow
def test_what_is_compiled_computes_the_same():
    patient = {"compiled": True, "seconds": 100}  # a busy machine compiles slowly
    assert not failed(Steps(), **patient)
    assert failed(OpenWhenCompiled(), **patient) == ("compiled",)
    assert not failed(OpenWhenCompiled())


def test_a_batch_of_none_gives_no_rows():
    class Squeezes(Steps):
        def merge(self, contexts):
            merged = super().merge(contexts)
            return merged if len(merged) else merged.new_zeros(1, *merged.shape[1:])

    class Refuses(Steps):
        def merge(self, contexts):
            assert len(contexts)
            return super().merge(contexts)

    assert failed(Squeezes()) == ("empty batch",)
    assert not failed(Refuses())


def test_a_tensor_sent_home_is_seen():
    class Home(Steps):
        def drop(self, weights):
            return weights.cpu().to(weights.device)

    assert failed(Home()) == ("devices",)


# --- options --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"positions": "rotated"}, "positions is 'rotated'"),
        ({"positions": 1}, "positions is 1"),
        ({"window": 0}, "window"),
        ({"num_kv_heads": 1.5}, "num_kv_heads"),
        ({"dropout": 1.0}, "dropout"),
        ({"scale": 0}, "scale"),
        ({"scale": "1"}, "scale"),
        ({"seconds": 0}, "seconds is 0"),
        ({"padding": True}, "padding is True"),
        ({"step": 3}, "step is 3"),
        ({"make": "Steps"}, "make is 'Steps'"),
        ({"compiled": 1}, "compiled"),
    ],
)
def test_bad_options_are_named(options, named):
    with pytest.raises(ValueError, match=named):
        attention_audit.audit(Steps(), D_IN, T, **options)


def test_a_scale_of_ones_own_can_be_declared():
    class Unscaled(Steps):
        def scores(self, queries, keys):
            return queries @ keys.mT

    assert failed(Unscaled()) == ("scale",)
    assert not failed(Unscaled(), scale=1)
    assert D > 1


def test_what_the_layer_warns_of_is_no_business_of_the_audit(recwarn):
    class Warns(Steps):
        def forward(self, x):
            F.softmax(x)  # without dim it warns
            return super().forward(x)

    assert not failed(Warns())
    assert not recwarn.list


# --- reasons that say what to do ------------------------------------------------------


def reasons(layer, d_in=D_IN, **options):
    torch.manual_seed(3)
    found = attention_audit.audit(layer, d_in, T, **options)
    return {row.check: row.reason for row in found.rows if row.check in found.failed}


def test_a_layer_that_hides_nothing_is_asked_whether_it_shall():
    class Open(Steps):
        def seen(self, T, device):
            return torch.ones(T, T, dtype=torch.bool, device=device)

    assert "declare causal=False" in reasons(Open())["future changed"]
    assert not failed(Open(), causal=False)


def test_a_first_call_that_fails_says_what_may_be_meant():
    class WantsMore(Steps):
        def forward(self, x, mask):
            return super().forward(x)

    assert "wrap it" in reasons(WantsMore())["output shape"]
    assert f"do d_in = {D_IN + 1}" in reasons(Steps(), D_IN + 1)["output shape"]
    assert reasons(Steps)["output shape"] == "Steps is a class: pass an instance"


def test_a_weak_mask_for_padding_says_what_shows_it():
    reason = reasons(Minus10000(), padding=with_mask)["padding"]
    assert reason.startswith("tokens times 1000: ")
    assert "low enough" in reason
    reason = reasons(NotANumber(), padding=with_mask)["padding"]
    assert "rows" in reason
    assert "not finite" in reason
