"""Right layers of unusual kinds pass, and what is wrong in them still fails."""

import functools
import math
import threading

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import attention_audit
from attention_audit.subject import Declared, Subject
from steps import D_IN, D, H, Steps, T, rotated


def audit(layer, **options):
    torch.manual_seed(3)
    return attention_audit.audit(layer(), D_IN, T, **{"num_heads": H, **options})


def result(found, check):
    return next(row for row in found.rows if row.check == check)


# --- heads made equally long, then turned ---------------------------------------------


class NormedRotary(Steps):
    """Queries and keys are normed head by head, then turned."""

    base, halves = 10_000.0, True

    def __init__(self):
        super().__init__()
        self.norm_queries, self.norm_keys = nn.RMSNorm(D), nn.RMSNorm(D)

    def placed(self, heads, name):
        if name == "values":
            return heads
        heads = getattr(self, f"norm_{name}")(heads)
        return rotated(heads, base=self.base, halves=self.halves)


class NormedNeighbours(NormedRotary):
    """Wrong: the keys of the next group."""

    def placed(self, heads, name):
        placed = super().placed(heads, name)
        return placed.roll(1, 1) if name == "keys" else placed


@pytest.mark.parametrize("halves", [True, False])
@pytest.mark.parametrize("base", [1e3, 1e4, 5e5, 1e6, 1e9])
def test_normed_heads_may_be_turned_by_any_base(base, halves):
    settings = {"base": base, "halves": halves}
    right = type("NormedRotary", (NormedRotary,), settings)
    found = audit(right, positions="rotary")
    assert found.failed == ()
    assert result(found, "heads").result == "passes"
    assert result(found, "scale").reason == f"divides by {math.sqrt(D):.2f} = √D, D = 5"
    wrong = type("NormedNeighbours", (NormedNeighbours,), settings)
    assert "heads" in audit(wrong, positions="rotary").failed


LIKE = {
    "Llama 3": ("llama", "Llama", 500_000.0, 2, {}),
    "SmolLM2": ("llama", "Llama", 100_000.0, 2, {}),
    "Qwen3": ("qwen3", "Qwen3", 1_000_000.0, 2, {"head_dim": 8}),
    "Qwen3, wide": ("qwen3", "Qwen3", 1_000_000.0, 4, {"head_dim": 16}),
}


@pytest.mark.parametrize("name", LIKE)
@pytest.mark.parametrize("seed", range(3))
def test_the_layers_of_real_models_pass(name, seed):
    pytest.importorskip("transformers")
    from public_layers.hugging_face import Adapter, padded, step

    model, prefix, base, groups, more = LIKE[name]
    settings = {
        **{"hidden_size": 24, "num_attention_heads": 4, "num_hidden_layers": 1},
        **{"num_key_value_heads": groups, "max_position_embeddings": 16},
        "rope_parameters": {"rope_type": "default", "rope_theta": base},
    }
    make = functools.partial(Adapter, model, prefix, settings | more, layer_idx=0)
    torch.manual_seed(seed)
    found = attention_audit.audit(
        make(),
        24,
        12,
        num_heads=4,
        num_kv_heads=groups,
        positions="rotary",
        padding=padded,
        step=step,
        make=make,
        require=("heads", "scale", "distances", "cache", "padding"),
    )
    assert found.failed == ()


# --- weights that are no softmax ------------------------------------------------------


class Sigmoid(Steps):
    def softmax(self, scores):
        return (scores - math.log(T)).sigmoid()


class Relu(Steps):
    def softmax(self, scores):
        return scores.masked_fill(scores == -math.inf, 0.0).relu() / T


class TalkingHeads(Steps):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(H, H, bias=False)

    def softmax(self, scores):
        return self.mix(scores.softmax(-1).transpose(1, -1)).transpose(1, -1)


class Differential(Steps):
    def __init__(self):
        super().__init__()
        self.second = nn.Linear(D_IN, H * D, bias=False)
        self.share = nn.Parameter(torch.tensor(0.3))

    def forward(self, x):
        q, k, v, r = (
            make(x).unflatten(-1, (-1, D)).transpose(1, 2)
            for make in (self.to_q, self.to_k, self.to_v, self.second)
        )
        seen = self.seen(x.shape[1], x.device)
        first, other = (
            self.scores(one, k).masked_fill(~seen, -math.inf).softmax(-1)
            for one in (q, r)
        )
        return self.out(self.merge((first - self.share * other) @ v))


class ScalesWithLogT(Steps):
    """Scores are multiplied by the logarithm of how many tokens a row sees."""

    def scores(self, queries, keys):
        count = torch.arange(2, queries.shape[2] + 2, device=queries.device)
        return super().scores(queries, keys) * count.to(queries).log()[:, None]


class Linear(Steps):
    """Unnormalised linear attention, step by step: no T × T weights anywhere."""

    def forward(self, x):
        q, k, v = (
            make(x).unflatten(-1, (-1, D)).transpose(1, 2)
            for make in (self.to_q, self.to_k, self.to_v)
        )
        state = (k[..., None] * v[..., None, :]).cumsum(dim=2)
        return self.out(self.merge((q[..., None] * state).sum(-2)))


NO_SOFTMAX = [Sigmoid, Relu, TalkingHeads, Differential, ScalesWithLogT, Linear]


@pytest.mark.parametrize("layer", NO_SOFTMAX)
def test_weights_that_are_no_softmax_are_declared(layer):
    found = audit(layer, softmax=False)
    assert found.failed == ()
    for check in ("row sums", "scale", "dropped weights"):
        assert result(found, check).reason == "softmax=False"
    for check in ("future changed", "future grads", "tokens reached", "order"):
        assert result(found, check).result == "passes"


@pytest.mark.parametrize("layer", [Sigmoid, Relu])
def test_without_a_softmax_the_rest_is_still_asked(layer):
    class Open(layer):
        def seen(self, T, device):
            return torch.ones(T, T, dtype=torch.bool, device=device)

    assert {"future changed", "future grads", "hidden weights"} <= {
        *audit(Open, softmax=False).failed
    }

    class Overlaps(layer):
        def keys(self, x):
            return self.to_k(x).roll(D, -1)

    assert "heads" in audit(Overlaps, softmax=False).failed


# --- windows that differ by head ------------------------------------------------------


class Windows(Steps):
    windows = (3, None, 5, 3)

    def seen(self, T, device):
        at = torch.arange(T, device=device)
        back = at[:, None] - at
        masks = [(back >= 0) & (back < (W or T)) for W in self.windows]
        return torch.stack(masks)


class OneTooWide(Windows):
    windows = (3, None, 6, 3)


class OneTooNarrow(Windows):
    windows = (2, None, 5, 3)


def test_windows_may_differ_by_head():
    declared = {"window": (3, None, 5, 3)}
    assert audit(Windows, **declared).failed == ()
    assert audit(OneTooWide, **declared).failed == ("hidden weights",)
    assert "tokens reached" in audit(OneTooNarrow, **declared).failed
    (reached,) = (r for r in audit(Windows).rows if r.check == "tokens reached")
    assert "declare as window=(4, None, …)" in reached.reason
    for wrong in ((None, None), (3, 0), (3, 8)):
        with pytest.raises(ValueError, match="window"):
            audit(Windows, window=wrong)


# --- what can't be copied, what has no backward ---------------------------------------


class Locked(Steps):
    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()
        self.kept = {"several": [threading.Lock()], "numbers": [1, 2]}

    def forward(self, x):
        with self.lock, self.kept["several"][0]:
            return super().forward(x)


class LockedOpen(Locked):
    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device)


def test_what_can_not_be_copied_is_shared():
    assert audit(Locked).failed == ()
    assert "future grads" in audit(LockedOpen).failed
    layer = Locked()
    twin = Subject(layer, D_IN, T, Declared()).copy()
    assert twin.lock is layer.lock
    assert twin.kept["several"][0] is layer.kept["several"][0]
    assert twin.kept["numbers"] is not layer.kept["numbers"]


class ForwardOnly(Steps):
    def average(self, weights, values):
        if values.requires_grad:
            raise NotImplementedError("this does not support backward on CPU")
        return weights @ values


class ForwardOnlyOpen(ForwardOnly):
    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device)


class ForwardOnlyShort(ForwardOnly):
    def seen(self, T, device):
        return super().seen(T, device).triu(-3)


def test_without_a_backward_all_else_is_asked():
    found = audit(ForwardOnly)
    assert found.failed == ()
    for check in ("gradients", "features read"):
        assert result(found, check).reason.startswith("no backward here: NotImpl")
    for check in ("future changed", "future grads", "tokens reached", "dtypes"):
        assert result(found, check).result == "passes"
    assert {"future changed", "future grads"} <= {*audit(ForwardOnlyOpen).failed}
    assert "tokens reached" in audit(ForwardOnlyShort).failed


# --- matrices that are no weights, scales before a rotation, absorbed projections -----


class Efficient(nn.Module):
    """Softmax over the features of queries and over the tokens of keys."""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v = (nn.Linear(16, 16) for _ in range(3))

    def forward(self, x):
        q, k, v = (
            make(x).unflatten(-1, (4, 4)).transpose(1, 2)
            for make in (self.to_q, self.to_k, self.to_v)
        )
        context = q.softmax(-1) @ (k.softmax(-2).mT @ v)
        return context.transpose(1, 2).flatten(2)


@pytest.mark.parametrize("length", [4, 5, 8, 12, 16])
def test_a_matrix_between_features_is_no_matrix_of_weights(length):
    torch.manual_seed(0)
    found = attention_audit.audit(Efficient(), 16, length, causal=False)
    assert found.failed == ()
    assert result(found, "scale").reason.startswith("not seen")


class XPos(Steps):
    """Queries are scaled, then turned and stretched; keys are turned and shrunk."""

    divisor = math.sqrt(4)

    def __init__(self):
        nn.Module.__init__(self)
        self.to_q, self.to_k, self.to_v = (nn.Linear(D_IN, 16) for _ in range(3))
        self.out = nn.Linear(16, 10)

    def split(self, x, name):
        return x.unflatten(-1, (4, 4)).transpose(1, 2)

    def placed(self, heads, name):
        if name == "values":
            return heads
        heads = heads / self.divisor if name == "queries" else heads
        at = torch.arange(heads.shape[2], device=heads.device).to(heads)
        base = torch.tensor([0.3, 0.7], device=heads.device).to(heads)
        stretch = base ** (at[:, None] / (8 if name == "queries" else -8))
        return rotated(heads) * torch.cat([stretch, stretch], dim=-1)

    def scores(self, queries, keys):
        return queries @ keys.mT


class XPosUnscaled(XPos):
    divisor = 4.0


def test_queries_may_be_scaled_before_a_rotation_that_stretches():
    found = audit(XPos, num_heads=4, positions="rotary")
    assert found.failed == ()
    assert result(found, "scale").reason == "divides by 2.00 = √D, D = 4"
    assert "scale" in audit(XPosUnscaled, num_heads=4, positions="rotary").failed


class Absorbed(nn.Module):
    """Latent attention in which queries are turned into the latents of keys."""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(D_IN, H * D, bias=False)
        self.kv_down = nn.Linear(D_IN, 7, bias=False)
        self.k_proj = nn.Parameter(torch.randn(H, D, 7) / 3)
        self.v_proj = nn.Parameter(torch.randn(H, 7, D) / 3)
        self.out = nn.Linear(H * D, 10)

    def asking(self, x):
        return self.q_proj(x).unflatten(-1, (H, D)).transpose(1, 2) @ self.k_proj

    def forward(self, x):
        latents = self.kv_down(x)[:, None]
        scores = self.asking(x) @ latents.mT / math.sqrt(D)
        seen = torch.ones(x.shape[1], x.shape[1], device=x.device).tril().bool()
        weights = scores.masked_fill(~seen, -math.inf).softmax(-1)
        context = (weights @ latents) @ self.v_proj
        return self.out(context.transpose(1, 2).flatten(2))


class Exchanged(Steps):
    """Wrong: the projection of keys makes queries, and the other way round."""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_k = self.to_k, self.to_q

    def queries(self, x):
        return self.to_k(x)

    def keys(self, x):
        return self.to_q(x)


def test_a_projection_of_keys_may_be_absorbed_by_queries():
    declared = {"num_kv_heads": 1, "scale": 1 / math.sqrt(D)}
    found = audit(Absorbed, **declared)
    assert found.failed == ()
    assert "turned into what keys" in result(found, "queries, keys").reason
    assert "queries, keys" in audit(Exchanged).failed


# --- what packages do -----------------------------------------------------------------


class Recomputed(Steps):
    """Averages again in the backward pass, in PyTorch's older way."""

    def average(self, weights, values):
        return checkpoint(torch.matmul, weights, values, use_reentrant=True)


class RecomputedOpen(Recomputed):
    """Wrong: each position sees the next."""

    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device).tril(1)


def test_parts_may_be_computed_twice():
    assert audit(Recomputed).failed == ()
    wrong = audit(RecomputedOpen)
    assert "moves with a later token" in result(wrong, "future grads").reason


class RandomFeatures(nn.Module):
    """Queries and keys meet 7 random directions, and softmax's kernel is guessed."""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v = (nn.Linear(16, 16) for _ in range(3))
        self.register_buffer("directions", torch.randn(7, 4))

    def features(self, heads):
        return (heads @ self.directions.mT - heads.square().sum(-1, True) / 2).exp()

    def forward(self, x):
        q, k, v = (
            make(x).unflatten(-1, (4, 4)).transpose(1, 2)
            for make in (self.to_q, self.to_k, self.to_v)
        )
        q, k = self.features(q), self.features(k)
        context = q @ (k.mT @ v) / (q @ k.sum(2, keepdim=True).mT)
        return context.transpose(1, 2).flatten(2)


@pytest.mark.parametrize("length", [7, 8, 10])
def test_random_features_are_no_keys(length):
    torch.manual_seed(0)
    declared = {"causal": False, "softmax": False}
    found = attention_audit.audit(RandomFeatures(), 16, length, **declared)
    assert "queries, keys" not in found.failed


class Rounded(Steps):
    """The values' factor is computed in float32, in float64 too."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.randn(3))
        self.other = nn.Parameter(torch.randn(3))

    def values(self, x):
        factor = (self.factor * self.other).sum().float().exp()
        return super().values(x) * factor


class RoundedAway(Rounded):
    """Wrong: the gradient of the factor is halved."""

    def values(self, x):
        half = (self.factor + self.factor.detach()) / 2
        return self.to_v(x) * (half * self.other).sum().float().exp()


@pytest.mark.parametrize("seed", range(8))
def test_what_is_rounded_to_float32_has_its_gradient(seed):
    torch.manual_seed(seed)
    found = attention_audit.audit(Rounded(), D_IN, T, num_heads=H)
    assert found.failed == ()
    torch.manual_seed(seed)
    found = attention_audit.audit(RoundedAway(), D_IN, T, num_heads=H)
    assert "the gradient of factor" in result(found, "gradients").reason


# --- a state that comes second --------------------------------------------------------


class ShowsItsState(Linear):
    """Returns what keys and values sum to, (B, H, D, D), behind the context."""

    def forward(self, x):
        keys, values = (
            self.split(make(x), name)
            for make, name in ((self.keys, "keys"), (self.values, "values"))
        )
        return super().forward(x), keys.mT @ values


class ShowsOpenWeights(Linear):
    """Wrong: what it shows are weights, and they aren't masked."""

    def forward(self, x):
        queries, keys = (
            self.split(make(x), name)
            for make, name in ((self.queries, "queries"), (self.keys, "keys"))
        )
        return super().forward(x), queries @ keys.mT


def test_a_state_is_no_matrix_of_weights():
    options = {"num_heads": H, "softmax": False}
    for layer, failed in ((ShowsItsState, ()), (ShowsOpenWeights, ("hidden weights",))):
        torch.manual_seed(3)
        found = attention_audit.audit(layer(), D_IN, D, **options)
        assert {*failed} == {*found.failed} & {"hidden weights"}


# --- whole sequences that are skipped in train mode -----------------------------------


class SkipsRarely(Steps):
    """Stochastic depth: mostly, no sequence of a batch is skipped."""

    draw = staticmethod(lambda x, p: torch.rand(len(x), 1, 1, device=x.device) > p)

    def forward(self, x, p=0.05):
        context = super().forward(x)
        kept = self.draw(x, p) if self.training else x.new_ones(1)
        return context * kept / (1 - p * self.training)


class SkipsByBernoulli(SkipsRarely):
    @staticmethod
    def draw(x, p):
        return torch.bernoulli(x.new_full((len(x), 1, 1), 1 - p))


class SkipsByFloor(SkipsRarely):
    @staticmethod
    def draw(x, p):
        return x.new_empty(len(x), 1, 1).uniform_().add_(1 - p).floor_()


class SkipsByBernoulliInPlace(SkipsRarely):
    @staticmethod
    def draw(x, p):
        return x.new_empty(len(x), 1, 1).bernoulli_(1 - p)


class ScalesInTraining(SkipsRarely):
    """Wrong: nothing is ever skipped, and the others are scaled all the same."""

    @staticmethod
    def draw(x, p):
        return torch.rand(len(x), 1, 1, device=x.device) > -1


@pytest.mark.parametrize(
    "layer", [SkipsRarely, SkipsByBernoulli, SkipsByFloor, SkipsByBernoulliInPlace]
)
def test_what_is_rarely_drawn_is_no_difference_between_modes(layer):
    assert audit(layer).failed == ()
    assert "dropout" in audit(ScalesInTraining).failed
