"""What a layer promises beside one pass: padding, a cache, to be compiled."""

import math
import re
from typing import ClassVar

import pytest
import torch
import torch.nn.functional as F
from torch import library

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


class TrimsTheEnd(Padded):
    """What lies behind the longest text is cut off, as if none began late."""

    def forward(self, x, real=None):
        if real is None:
            return super().forward(x)
        longest = int(real.sum(dim=1).max())
        context = super().forward(x[:, :longest], real[:, :longest])
        return F.pad(context, (0, 0, 0, x.shape[1] - longest))


class HidesOnAfterwards(Padded):
    def forward(self, x, real=None):
        self.real = self.real if real is None else real
        if self.real is not None and self.real.shape != x.shape[:2]:
            self.real = None
        return Steps.forward(self, x)


class WritesIntoASharedMask(Padded):
    """As under an ``lru_cache``: all copies get the same mask."""

    masks: ClassVar[dict[int, torch.Tensor]] = {}

    def forward(self, x, real=None):
        seen = self.masks.setdefault(x.shape[1], super().seen(x.shape[1], "cpu"))
        if real is not None:
            seen.masked_fill_(~real.any(dim=0).cpu(), False).fill_diagonal_(True)
        return super().forward(x, real)

    def seen(self, T, device):
        return self.masks[T].to(device)


def test_padding_is_inert():
    assert not failed(Padded(), padding=with_mask)
    assert not failed(Padded())


@pytest.mark.one_in(4)
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
        HidesOnAfterwards,
        TrimsTheEnd,
    ],
)
def test_padding_that_is_not(layer):
    assert failed(layer(), padding=with_mask) == ("padding",)
    assert not failed(layer()), "what nobody declares is not asked"


def test_what_a_padded_call_leaves_for_all_copies_shows():
    assert failed(WritesIntoASharedMask(), padding=with_mask) == ("padding",)


@pytest.mark.parametrize("causal", [True, False])
def test_positions_that_may_attend_to_nothing_are_named(causal):
    class Nothing(NotANumber):
        def seen(self, T, device):
            seen = super().seen(T, device)
            return seen if causal else torch.ones_like(seen)

    options = {"num_heads": H, "padding": with_mask, "causal": causal}
    found = attention_audit.audit(Nothing(), D_IN, T, **options)
    (said,) = (row.reason for row in found.rows if row.check == "padding")
    assert said == (
        "left padding: positions of padding are not finite"
        if causal
        else "a sequence of padding alone: positions are not finite"
    )


def test_left_padding_may_move_absolute_positions():
    class Places(Padded):
        def queries(self, x):
            places = torch.arange(x.shape[1], device=x.device)[:, None].to(x)
            return super().queries(x + 0.1 * places)

    torch.manual_seed(3)
    options = {"num_heads": H, "padding": with_mask}
    found = attention_audit.audit(Places(), D_IN, T, positions=True, **options)
    assert found.ok
    (said,) = (row.reason for row in found.rows if row.check == "padding")
    assert "left padding wasn't compared" in said
    found = attention_audit.audit(Padded(), D_IN, T, **options)
    (said,) = (row.reason for row in found.rows if row.check == "padding")
    assert said == "left and right padding change nothing"
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


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "layer", [Restarts, TopLeft, OldKeysOnly, TurnedTwice, OneForAll, OpenPrefill]
)
def test_a_cache_that_is_wrong(layer):
    options = {"positions": "rotary"}
    assert failed(layer(), step=step, **options) == ("cache",)
    assert not failed(layer(), **options)


def told(layer, check, **options):
    """The result of one check, and its reason."""
    torch.manual_seed(3)
    options = {"num_heads": H, "positions": "rotary"} | options
    found = attention_audit.audit(layer, D_IN, T, **options)
    return next((one.result, one.reason) for one in found.rows if one.check == check)


class PiecesTopLeft(Cached):
    """Right for single tokens, and for what has nothing before it."""

    def seen(self, T, device):
        seen = super().seen(T, device)
        return torch.ones_like(seen).tril() if T > 1 else seen


class EvictsTooEarly(Cached):
    """A window of 4, of which the cache keeps 2 beside the new token."""

    size = 4

    def seen(self, T, device):
        seen = super().seen(T, device)
        return seen.triu(seen.shape[1] - T - self.size + 1)

    def forward(self, x, past=None):
        if past:
            first = max(0, past["keys"].shape[2] - 2)
            for name in ("keys", "values"):
                past[name][:, :, :first] = 0.0
        return super().forward(x, past)


def test_the_reason_says_where_it_is_first_wrong_and_which_pieces_are_fine():
    result, said = told(TopLeft(), "cache", step=step)
    assert result == "FAILS"
    assert re.fullmatch(
        r"one token at a time: first wrong at position 1, by 0\.\d{4}; wrong too: "
        r"4 tokens then single ones, pieces of 2, 1 token then 8, 8 tokens then 1; "
        r"fine: all at once",
        said,
    )
    _, said = told(PiecesTopLeft(), "cache", step=step)
    assert said.startswith("pieces of 2: first wrong at position 2, by 0.")
    fine = "all at once, one token at a time, 4 tokens then single ones, 8 tokens then"
    assert f"; wrong too: 1 token then 8; fine: {fine} 1" in said


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("layer", "window", "position"),
    [
        (Restarts, None, 1),
        (TopLeft, None, 1),
        (TurnedTwice, None, 2),
        (EvictsTooEarly, 4, 3),  # the first whose window of 4 tokens is full
    ],
)
def test_the_first_wrong_position_is_told(layer, window, position):
    _, said = told(layer(), "cache", step=step, window=window)
    assert said.startswith(f"one token at a time: first wrong at position {position}, ")


def single_step(error):
    def single(module, x, cache):
        if x.shape[1] > 1:
            raise error
        return step(module, x, cache)

    return single


@pytest.mark.one_in(3)
@pytest.mark.parametrize("error", [NotImplementedError, ValueError, AssertionError])
def test_a_step_may_take_single_tokens_only(error):
    single = single_step(error("one token, please"))
    result, said = told(Cached(), "cache", step=single)
    assert (result, said) == (
        "passes",
        "one token at a time gives what one pass gives; longer pieces: refused, "
        f"{error.__name__}: one token, please",
    )
    result, said = told(TopLeft(), "cache", step=single)
    assert result == "FAILS"
    assert said.startswith("one token at a time: first wrong at position 1, by 0.")
    assert said.endswith(
        "; refused: all at once, 4 tokens then single ones, pieces "
        "of 2, 1 token then 8, 8 tokens then 1"
    )


def test_a_step_may_refuse_longer_pieces_behind_a_prompt():
    def prompt_first(module, x, cache):
        if cache is not None and x.shape[1] > 1:
            raise ValueError("one token, please")
        return step(module, x, cache)

    result, said = told(Cached(), "cache", step=prompt_first)
    assert (result, said) == (
        "passes",
        "gives what one pass gives; refused: pieces of 2, 1 token then 8, "
        "ValueError: one token, please",
    )


def test_an_error_that_is_no_refusal_fails():
    result, said = told(Cached(), "cache", step=single_step(RuntimeError("sizes")))
    assert result == "FAILS"
    assert re.match(r"all at once: RuntimeError: sizes at \S+\.py:\d+: ", said)
    assert said.endswith("; fine: one token at a time")

    def never(module, x, cache):
        raise NotImplementedError("no step")

    result, said = told(Cached(), "cache", step=never)
    assert result == "FAILS"
    assert said.startswith("one token at a time: NotImplementedError: no step at ")


def test_what_a_refused_piece_leaves_behind_is_no_mistake():
    def kept_in_the_module(module, x, cache):
        module.left = {} if cache is None else cache
        if x.shape[1] > 1:
            module.left = None
            raise NotImplementedError
        context, cache = step(module, x, module.left)
        module.left = None
        return context, cache

    class Breaks(Cached):
        left = None

        def first(self):
            return 0 if self.broken() else super().first()

        def broken(self):
            return getattr(self, "ever", False)

    def breaks(module, x, cache):
        if x.shape[1] > 1:
            module.ever = True
            raise NotImplementedError
        return step(module, x, cache)

    for layer, single in ((Cached, kept_in_the_module), (Breaks, breaks)):
        assert told(layer(), "cache", step=single)[0] == "passes"


def test_a_single_step_leaves_the_mode_as_it_was():
    def quiet(module, x, cache):
        if x.shape[1] > 1:
            raise NotImplementedError
        module.eval()
        return step(module, x, cache)

    said = "a step in train mode leaves eval mode behind"
    assert told(Cached(), "cache", step=quiet) == ("FAILS", said)


def test_a_step_leaves_the_mode_as_it_was():
    def quiet_step(module, x, cache):
        module.eval()
        return step(module, x, cache)

    assert failed(Cached(), step=quiet_step, positions="rotary") == ("cache",)


def test_a_step_in_eval_mode_leaves_that_too():
    def training_step(module, x, cache):
        module.train()
        return step(module, x, cache)

    said = "a step in eval mode leaves train mode behind"
    assert told(Cached(), "cache", step=training_step) == ("FAILS", said)


@pytest.mark.parametrize(
    ("result", "came"),
    [
        (lambda context, cache: context, "a floating-point tensor (2, 9, 10)"),
        (lambda context, cache: (context, cache, 0), "a tuple of 3"),
    ],
)
def test_a_step_that_returns_no_pair_is_told_what_to_return(result, came):
    def odd_step(module, x, cache):
        return result(*step(module, x, cache))

    said = f"step must return (context, cache), not {came}"
    assert told(Cached(), "cache", step=odd_step) == ("FAILS", said)


class WritesIntoItsCache(Cached):
    """Room for 20 tokens, handed on from step to step: right for one way to go on."""

    def extended(self, heads, name):
        room = self.past.get(name)
        if room is None:
            room = heads.new_zeros(*heads.shape[:2], 20, heads.shape[3])
        start, end = self.first(), self.first() + heads.shape[2]
        room[:, :, start:end] = heads.detach()
        self.new[name], self.new["length"] = room, end
        return room[:, :, :end]

    def first(self):
        return 0 if not self.past else self.past["length"]

    def seen(self, T, device):
        S = self.new["length"] if self.past is not None else T
        return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)


def test_two_ways_to_go_on_from_one_cache_disturb_each_other():
    result, said = told(WritesIntoItsCache(), "cache", step=step)
    assert result == "FAILS"
    assert said.startswith("two ways to go on from one cache: first wrong at position")

    def one_object(module, x, cache):
        cache = {} if cache is None else cache
        context = module(x, cache)
        cache.update(module.new)
        return context, cache

    assert told(WritesIntoItsCache(), "cache", step=one_object)[0] == "passes"

    class Held:
        """As some libraries have it: an object that is written into."""

        def __init__(self, cache):
            self.cache = cache

    def held(module, x, cache):
        context, new = step(module, x, cache and cache.cache)
        return context, Held(new)

    assert told(WritesIntoItsCache(), "cache", step=held)[0] == "passes"


def test_a_cache_works_in_the_dtype_in_which_the_layer_does():
    class KeepsFloat32(Cached):
        def extended(self, heads, name):
            return super().extended(heads.float(), name)

    result, said = told(KeepsFloat32(), "cache", step=step)
    assert (result, said[:27]) == ("FAILS", "in bfloat16: RuntimeError: ")

    class ComesBackInFloat32(Cached):
        def forward(self, x, past=None):
            context = super().forward(x, past)
            return context if past is None else context.float()

    said = "in bfloat16, steps give float32"
    assert told(ComesBackInFloat32(), "cache", step=step) == ("FAILS", said)


class KeepsAWindow(Cached):
    """Right but for its positions: the cache holds the last tokens alone."""

    size, rows = 4, 4

    def seen(self, T, device):
        seen = super().seen(T, device)
        return seen.triu(seen.shape[1] - T - self.size + 1)

    def forward(self, x, past=None):
        context = super().forward(x, past)
        for name, one in self.new.items():
            self.new[name] = one[:, :, -self.rows :]
        return context


class KeepsTooLittle(KeepsAWindow):
    rows = 2


class KeepsTheLast(KeepsAWindow):
    size = 100


def test_a_full_cache_is_asked_for_positions_or_size():
    _, said = told(KeepsAWindow(), "cache", step=step, window=4)
    assert said.endswith(
        "; the cache holds 4 tokens at most: is the position of a new one counted by "
        "its length?"
    )
    _, said = told(KeepsTooLittle(), "cache", step=step, window=4)
    assert said.endswith("; the cache holds 2 tokens, and a step needs the last 3")
    _, said = told(KeepsTheLast(), "cache", step=step)
    assert said.endswith(
        "; the cache holds 4 tokens at most, and no window is declared"
    )
    _, said = told(EvictsTooEarly(), "cache", step=step, window=4)
    assert "the cache holds" not in said


class PadsForAll(Cached):
    """Tokens are hidden by the padding of whichever sequence began last."""

    padding = None

    def forward(self, x, past=None, real=None):
        if not past:
            self.padding = None if real is None else (~real).sum(dim=1)
        return super().forward(x, past)

    def scores(self, queries, keys):
        scores = super().scores(queries, keys)
        if self.padding is None:
            return scores
        T, S = scores.shape[-2:]
        at = torch.arange(S, device=scores.device)
        hidden = (at < self.padding[:, None, None, None]) & (at < at[S - T :, None])
        return scores.masked_fill(hidden, -1e9)


def test_padding_of_another_sequence_may_not_stay():
    def left(module, x, cache, real=None):
        context = module(x, {} if cache is None else cache, real)
        return context, module.new

    result, said = told(PadsForAll(), "cache", step=left)
    assert result == "FAILS"
    assert said.startswith("left padding with a cache, and another sequence between")


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


@pytest.mark.slow
def test_what_does_not_compile_fails_where_that_was_asked():
    @library.custom_op("attention_audit_tests::same", mutates_args=())
    def same(x: torch.Tensor) -> torch.Tensor:
        """An operator of which nothing is said for a graph."""
        return x.clone()

    same.register_autograd(lambda context, grad: grad)

    class Refuses(Steps):
        def drop(self, weights):
            return same(weights)

    patient = {"compiled": True, "seconds": 100, "positions": False}
    result, said = told(Refuses(), "compiled", **patient)
    assert result == "FAILS"
    assert said.startswith("torch.compile refuses it: ")
    assert not failed(Refuses())


def test_a_batch_of_0_gives_0_sequences_or_is_refused():
    class Squeezes(Steps):
        def merge(self, contexts):
            merged = super().merge(contexts)
            return merged if len(merged) else merged.new_zeros(1, *merged.shape[1:])

    class Refuses(Steps):
        def merge(self, contexts):
            assert len(contexts)
            return super().merge(contexts)

    class Ambiguous(Steps):
        def merge(self, contexts):
            B, _, T, _ = contexts.shape
            return contexts.transpose(1, 2).reshape(B, T, -1)

    assert failed(Squeezes()) == ("empty batch",)
    for layer, error in ((Refuses, "AssertionError"), (Ambiguous, "RuntimeError")):
        result, said = told(layer(), "empty batch", positions=False)
        assert result == "not applicable"
        assert re.fullmatch(rf"refuses a batch of 0: {error} at \S+\.py:\d+", said)
        assert failed(layer(), require=["empty batch"]) == ("empty batch",)
    said = attention_audit.CHECKS["empty batch"].holds
    assert said.endswith('; an error is "not applicable"')


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
        ({"window": T - 1}, "several tokens shorter than context_length"),
        ({"window": T}, f"window is {T} and context_length {T}: the window hides too"),
        ({"window": T + 1, "causal": False}, "build the layer with a small window"),
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


def test_a_window_that_is_2_tokens_shorter_shows():
    class Window(Steps):
        size = T - 2

        def seen(self, T, device):
            return super().seen(T, device).triu(1 - self.size)

    class OneTooMany(Window):
        size = T - 1

    assert not failed(Window(), window=T - 2)
    assert failed(OneTooMany(), window=T - 2) == ("tokens reached", "hidden weights")


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

    called = f"; it was called as layer(x), x (2, {T}, {D_IN}): if it wants more, wrap"
    assert called in reasons(WantsMore())["output shape"]
    said = reasons(Steps(), D_IN + 1)["output shape"]
    assert said.startswith("RuntimeError: mat1 and mat2 shapes cannot be multiplied")
    assert said.endswith(f"; it was called with x (2, {T}, {D_IN + 1})")
    assert reasons(Steps)["output shape"] == "Steps is a class: pass an instance"


def test_a_weak_mask_for_padding_says_what_shows_it():
    reason = reasons(Minus10000(), padding=with_mask)["padding"]
    assert reason.startswith("tokens times 1000: ")
    assert "low enough" in reason
    reason = reasons(NotANumber(), padding=with_mask)["padding"]
    assert "positions of padding are not finite" in reason
