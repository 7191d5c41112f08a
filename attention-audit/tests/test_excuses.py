"""What looks like a mistake and is none passes; the mistake beside it still fails."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import attention_audit
from steps import D_IN, D, H, Steps, T


def audit(layer, **options):
    torch.manual_seed(3)
    return attention_audit.audit(layer(), D_IN, T, **{"num_heads": H, **options})


def reason(found, check):
    return next(row.reason for row in found.rows if row.check == check)


# --- gates ----------------------------------------------------------------------------


class Kept(Steps):
    """Keeps a gate until it is taken."""

    def taken(self):
        gate, self.gate = self.gate, None
        return gate.sigmoid()


class Gated(Kept):
    """A gate from the projection that makes queries, on each head's context."""

    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(D_IN, 2 * H * D)

    def queries(self, x):
        queries, self.gate = self.to_q(x).chunk(2, dim=-1)
        return queries

    def merge(self, contexts):
        return super().merge(contexts) * self.taken()


class GatedByKeys(Kept):
    """One gate for each head, from the projection that makes keys."""

    def __init__(self):
        super().__init__()
        self.to_k = nn.Linear(D_IN, H * D + H)

    def keys(self, x):
        keys, self.gate = self.to_k(x).split([H * D, H], dim=-1)
        return keys

    def average(self, weights, values):
        return super().average(weights, values) * self.taken().mT[..., None]


class WeightsGated(GatedByKeys):
    """The same gates, on rows of weights."""

    def average(self, weights, values):
        return (weights * self.taken().mT[..., None]) @ values


class GatedByQueries(Gated):
    """Wrong: the size of queries is part of the context."""

    def queries(self, x):
        self.size = super().queries(x).norm(dim=-1, keepdim=True)
        return super().queries(x)

    def merge(self, contexts):
        return super().merge(contexts) * self.size


class GatedByKeyTokens(WeightsGated):
    """Wrong: the gates of the tokens that are averaged, not of the one that asks."""

    def average(self, weights, values):
        return (weights * self.taken().mT[..., None, :]) @ values


class HalfTheWeights(Steps):
    """Wrong: all weights are halved."""

    def average(self, weights, values):
        return (weights / 2) @ values


@pytest.mark.parametrize("layer", [Gated, GatedByKeys, WeightsGated])
def test_a_gate_is_no_weight(layer):
    assert audit(layer).failed == ()


def test_a_gate_on_weights_is_named():
    assert "times a gate" in reason(audit(WeightsGated), "row sums")


@pytest.mark.parametrize("layer", [GatedByQueries, GatedByKeyTokens, HalfTheWeights])
def test_what_changes_the_sum_of_weights_is_no_gate(layer):
    assert "row sums" in audit(layer).failed


# --- tables ---------------------------------------------------------------------------


class Skewed(Steps):
    """Embeddings of distances, the last T of 64, brought into place by a skew."""

    padded = (1, 0)

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(64, D))

    def scores(self, queries, keys):
        T = queries.shape[2]
        far = F.pad(queries @ self.table[64 - T :].mT, self.padded)
        far = far.reshape(*far.shape[:2], T + 1, T)[:, :, 1:]
        return (queries @ keys.mT + far) / math.sqrt(D)


class SkewedToTheOtherSide(Skewed):
    """Wrong: distance 0 has no embedding, and the others that of the next."""

    padded = (0, 1)


class ReadsAFixedPart(Steps):
    """Wrong: a projection of which the last rows are never read, whatever T is."""

    def __init__(self):
        super().__init__()
        self.to_v = nn.Linear(D_IN, H * D + 3, bias=False)

    def values(self, x):
        return x @ self.to_v.weight[: H * D].mT


def test_no_row_of_a_table_must_learn_that_no_token_reaches():
    assert audit(Skewed, positions="relative").failed == ()


@pytest.mark.parametrize(
    ("layer", "options", "said"),
    [
        (SkewedToTheOtherSide, {"positions": "relative"}, f"{T - 1} rows of table"),
        (ReadsAFixedPart, {}, "3 of 23 features of to_v.weight never learn"),
    ],
)
def test_other_rows_must_learn(layer, options, said):
    found = audit(layer, **options)
    assert found.failed == ("gradients",)
    assert said in reason(found, "gradients")


# --- tables of parameters, kept in eval mode ------------------------------------------


class Kept(Steps):
    """In eval mode a bias by distance is made once; each change of mode forgets it."""

    kept = None

    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(64))
        self.register_load_state_dict_post_hook(lambda module, _: module.forget())

    def forget(self):
        self.kept = None

    def train(self, mode=True):
        self.forget()
        return super().train(mode)

    def bias(self, T, device):
        at = torch.arange(T, device=device)
        if self.training or torch.is_grad_enabled():
            return self.table[(at[:, None] - at).abs()]
        if self.kept is None or len(self.kept) < T:
            self.kept = self.table[(at[:, None] - at).abs()]
        return self.kept[:T, :T].to(device)


class KeptForGood(Kept):
    """Wrong: nothing forgets it."""

    def forget(self):
        pass


def test_a_table_may_be_kept_until_the_mode_changes():
    options = {"positions": "relative"}
    assert audit(Kept, **options).failed == ()
    found = audit(KeptForGood, **options)
    assert "the gradient of table" in reason(found, "gradients")


# --- a sequence of padding alone ------------------------------------------------------


class Encoder(nn.Module):
    """PyTorch's layer, which gives NaN for padding alone where no gradient is asked."""

    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(D_IN, H, 20, 0.1, batch_first=True)

    def forward(self, x, real=None):
        return self.layer(x, src_key_padding_mask=None if real is None else ~real)


class Hides(Steps):
    """Hides padding by -inf, which reaches gradients where nothing else is left."""

    lowest, real = -math.inf, None

    def softmax(self, scores):
        if self.real is not None:
            scores = scores.masked_fill(~self.real[:, None, None], self.lowest)
        return super().softmax(scores)

    def seen(self, T, device):
        return torch.ones(T, T, dtype=torch.bool, device=device)

    def forward(self, x, real=None):
        self.real = real
        return super().forward(x)


class HidesLowest(Hides):
    """Right: by the lowest number."""

    lowest = torch.finfo(torch.float32).min


class EncoderOfNaN(Encoder):
    """Wrong: without gradients, left padding is NaN, too."""

    def forward(self, x, real=None):
        context = super().forward(x, real)
        if real is None or torch.is_grad_enabled():
            return context
        return context.masked_fill(~real[:, :1, None], math.nan)


def padded(module, x, real):
    return module(x, real=real)


def test_a_sequence_of_padding_alone_may_be_nan_where_that_spoils_nothing():
    options = {"causal": False, "padding": padded}
    found = audit(Encoder, **options)
    assert found.failed == ()
    assert "a sequence of padding alone is NaN" in reason(found, "padding")
    assert audit(HidesLowest, **options).failed == ()
    for layer, said in (
        (Hides, "a sequence of padding alone: positions are not finite"),
        (EncoderOfNaN, "left padding, without gradients"),
    ):
        found = audit(layer, **options)
        assert found.failed == ("padding",)
        assert said in reason(found, "padding")


class ReturnsWeights(nn.Module):
    """PyTorch's attention, right without padding alone, which spoils all gradients."""

    needed = True

    def __init__(self):
        super().__init__()
        self.layer = nn.MultiheadAttention(D_IN, H, batch_first=True)

    def forward(self, x, real=None):
        hidden = None if real is None else ~real
        return self.layer(x, x, x, hidden, need_weights=self.needed)


class ReturnsNone(ReturnsWeights):
    needed = False


def test_padding_alone_in_the_layer_of_pytorch_fails_where_gradients_are_nan():
    options = {"causal": False, "padding": padded}
    assert audit(ReturnsNone, **options).failed == ()
    found = audit(ReturnsWeights, **options)
    assert found.failed == ("padding",)
    assert "a sequence of padding alone" in reason(found, "padding")
    layer, real = ReturnsWeights(), torch.tensor([[True] * T, [False] * T])
    layer(torch.randn(2, T, D_IN), real)[0][0].sum().backward()
    assert layer.layer.in_proj_weight.grad.isnan().all()


# --- norms ----------------------------------------------------------------------------


class SmallNormed(Steps):
    """Small values, and a norm that adds each dtype's own epsilon."""

    epsilon = None

    def values(self, x):
        return F.rms_norm(super().values(x) / 1000, (H * D,), None, self.epsilon)


class SmallNormedOtherwise(SmallNormed):
    """Wrong: the epsilon is another in float64."""

    def values(self, x):
        self.epsilon = 1e-12 if x.dtype == torch.float64 else 1e-7
        return super().values(x)


def test_a_norm_may_add_the_epsilon_of_its_dtype():
    assert audit(SmallNormed).failed == ()
    assert "float64 differs" in reason(audit(SmallNormedOtherwise), "dtypes")
