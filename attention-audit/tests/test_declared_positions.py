"""Who declares positions silences no check that has nothing to do with them."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import attention_audit
import corpus
from public_bugs.positions import Bidirectional, BucketsByLength, ShiftWithoutMask
from steps import D_IN, D, H, Steps, T, rotated


def audit(layer, **options):
    torch.manual_seed(3)
    declared = {"num_heads": H, "positions": True, **options}
    return attention_audit.audit(layer(), D_IN, T, **declared)


def reason(found, check):
    return next(row.reason for row in found.rows if row.check == check)


class ScaledByBlock(Steps):
    """Wrong: each block of 4 keys is multiplied once more."""

    def scores(self, queries, keys):
        blocks = torch.arange(keys.shape[2], device=keys.device) // 4
        return super().scores(queries, keys) * math.log2(math.e) ** blocks.to(keys)


class ScaledByDistance(Steps):
    """Wrong: what is far counts less, by a factor in place of a bias."""

    def scores(self, queries, keys):
        at = torch.arange(keys.shape[2], device=keys.device).to(keys)
        return super().scores(queries, keys) / (1 + (at[:, None] - at).abs() / 8)


class Learned(Steps):
    """Right: learned positions are added to the tokens."""

    def __init__(self):
        super().__init__()
        self.places = nn.Parameter(torch.randn(40, D_IN))

    def forward(self, x):
        return super().forward(x + self.places[: x.shape[1]])


class Biased(Steps):
    """Right: a learned bias for each pair of places is added to scores."""

    def __init__(self):
        super().__init__()
        self.places = nn.Parameter(torch.randn(40, 40))

    def bias(self, T, device):
        return self.places[:T, :T]


class Rotary(Steps):
    """Right: queries and keys are turned."""

    def placed(self, heads, name):
        return heads if name == "values" else rotated(heads)


class ScalesByRow(Steps):
    """Right: the later a token, the sharper it asks."""

    def scores(self, queries, keys):
        at = torch.arange(queries.shape[2], device=queries.device).to(queries)
        return super().scores(queries, keys) * (1 + at / 8)[:, None]


class RelativeKeys(Steps):
    """Right: what a distance means depends on the token that asks."""

    def __init__(self):
        super().__init__()
        self.far = nn.Parameter(torch.randn(40, D))

    def scores(self, queries, keys):
        at = torch.arange(queries.shape[2], device=queries.device)
        far = queries @ self.far.mT
        index = (at[:, None] - at).abs().expand(*far.shape[:2], -1, -1)
        return (queries @ keys.mT + far.gather(-1, index)) / math.sqrt(D)


class SoftmaxTwice(Rotary):
    """Wrong: softmax of a softmax, over what may be seen."""

    def softmax(self, scores):
        once = super().softmax(scores)
        return super().softmax(once.masked_fill(scores.isinf(), -math.inf))


class BiasedTwice(Biased, SoftmaxTwice):
    """Wrong: the same, of scores with a bias."""

    def placed(self, heads, name):
        return heads


class MaxOfTheColumn(RelativeKeys):
    """Wrong: the largest of each column is taken off, not of each row."""

    def softmax(self, scores):
        finite = scores.masked_fill(scores.isinf(), -1e9)
        powers = (scores - finite.amax(dim=-2, keepdim=True)).exp()
        return powers / powers.sum(dim=-1, keepdim=True)


class HeadsAveraged(RelativeKeys):
    """Wrong: all heads take the mean of their weights."""

    def softmax(self, scores):
        return super().softmax(scores).mean(1, keepdim=True).expand_as(scores)


class Forgets(Steps):
    """Right: each token says how much of all before it is forgotten."""

    def __init__(self):
        super().__init__()
        self.forget = nn.Linear(D_IN, H)

    def forward(self, x):
        self.kept = F.logsigmoid(self.forget(x)).mT.cumsum(-1)
        context = super().forward(x)
        self.kept = None
        return context

    def scores(self, queries, keys):
        kept = self.kept[..., :, None] - self.kept[..., None, :]
        return super().scores(queries, keys) + kept


@pytest.mark.parametrize(
    "layer", [SoftmaxTwice, BiasedTwice, MaxOfTheColumn, HeadsAveraged]
)
def test_weights_are_a_softmax_with_positions_too(layer):
    found = audit(layer)
    assert "scale" in found.failed
    assert "what positions add" in reason(found, "scale")


@pytest.mark.parametrize("layer", [ScaledByBlock, ScaledByDistance])
def test_one_factor_serves_all_keys(layer):
    found = audit(layer)
    assert found.failed == ("scale",)
    assert "one factor serves all keys" in reason(found, "scale")


@pytest.mark.parametrize(
    "layer", [Learned, Biased, Rotary, ScalesByRow, RelativeKeys, Forgets]
)
def test_positions_may_do_all_else(layer):
    assert audit(layer).failed == ()


# --- wrong layers of ten kinds, in which positions are declared -----------------------

WRONG = {
    "q-WrongQ21SoftmaxTwice": "scale",
    "z-Wrong20SoftmaxTwice": "scale",
    "q-WrongQ24MaxOfTheColumn": "scale",
    "v-WeightsAveraged": "scale",
}
KINDS = (
    "heads",
    "cache",
    "future grads",
    "tokens reached",
    "padding",
    "batch",
    "dtypes",
)
KINDS += ("queries, keys", "gradients", "short sequences")


def wrong_layers():
    """Those of ``WRONG``, and for each of ten checks the first that it alone finds."""
    expected, found = corpus.expected(), dict(WRONG)
    for layer in corpus.LAYERS:
        entry = layer.entry
        options = entry["options"] if "options" in entry else corpus.options_of(entry)
        fails = expected[str(layer)]["fails"]
        alone = not layer.right and len(fails) == 1 and fails[0] in KINDS
        if alone and not options.get("positions") and fails[0] not in found.values():
            found[str(layer)] = fails[0]
    return found.items()


@pytest.mark.parametrize(("name", "check"), wrong_layers())
def test_what_is_wrong_fails_with_positions_declared(name, check):
    entry = next(one for one in corpus.LAYERS if str(one) == name).entry
    options = entry["options"] if "options" in entry else corpus.options_of(entry)
    sizes = entry["d_in"], entry["context_length"]
    torch.manual_seed(0)
    options = options | {"positions": True}
    found = attention_audit.audit(entry["layer"](), *sizes, **options)
    assert check in found.failed


# --- distances ------------------------------------------------------------------------


class Alibi(Steps):
    sign = -1

    def bias(self, T, device):
        slopes = 2.0 ** -torch.arange(2, 10, 2, device=device)
        at = torch.arange(T, device=device)
        return self.sign * slopes[:, None, None] * (at[:, None] - at)


class AlibiTurned(Alibi):
    sign = 1


class OneSlopeWrong(Alibi):
    def bias(self, T, device):
        turned = torch.tensor([1, -1, 1, 1], device=device)
        return super().bias(T, device) * turned[:, None, None]


def test_all_slopes_with_the_other_sign_are_called_that():
    assert audit(Alibi, positions="alibi").failed == ()
    said = reason(audit(AlibiTurned, positions="alibi"), "distances")
    assert said.endswith("published for 4 heads: all have the other sign")
    said = reason(audit(OneSlopeWrong, positions="alibi"), "distances")
    assert said.endswith("published for 4 heads")


@pytest.mark.parametrize(
    ("layer", "right"),
    [(ShiftWithoutMask, False), (BucketsByLength, False), (Bidirectional, True)],
)
def test_what_a_distance_means_does_not_depend_on_the_length(layer, right):
    torch.manual_seed(0)
    options = {"causal": False, "positions": "relative"}
    found = attention_audit.audit(layer(), layer.d_in, 10, **options)
    assert ("distances" not in found.failed) == right
    if not right:
        assert "with 9 tokens, not 10, an equal token" in reason(found, "distances")


# --- distances that queries meet ------------------------------------------------------


class Shaw(Steps):
    """Right: queries also meet what stands for the distance, divided by the same."""

    together = True

    def __init__(self):
        super().__init__()
        self.places = nn.Parameter(torch.randn(40, D))

    def scores(self, queries, keys):
        at = torch.arange(keys.shape[2], device=keys.device)
        places = self.places[(at[:, None] - at).clamp(0, 39)]
        beside = torch.einsum("bhid,ijd->bhij", queries, places) / math.sqrt(D)
        products = queries @ keys.mT
        return beside + (products / math.sqrt(D) if self.together else products)


class ShawUnscaled(Shaw):
    """Wrong: by a missing bracket only distances are divided."""

    together = False


def test_the_scale_shows_beside_distances_that_queries_meet():
    said = "divides by 2.24 = √D, D = 5"
    assert reason(audit(Shaw, positions="relative"), "scale") == said
    found = audit(ShawUnscaled, positions="relative")
    assert found.failed == ("scale",)
    assert reason(found, "scale") == "divides by 1.00; √D is 2.24, D = 5"
