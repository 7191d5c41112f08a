"""Train and eval mode, and what is kept from one call to the next."""

import torch

from public_bugs.layer import Attention, padded
from public_bugs.log import bug
from public_bugs.positions import Sloped


class ZeroForGood(Attention):
    """Eval mode sets the rate itself to 0."""

    dropout = 0.25

    def weights(self, scores, hidden):
        if not self.training:
            self.drop.p = 0.0
        return super().weights(scores, hidden)


@bug("NVIDIA/Megatron-LM#411", 2023, "dropout")
class RateLostInEval(ZeroForGood):
    """One call in eval mode sets the dropout's rate to 0, also for later training."""


@bug("deepspeedai/Megatron-DeepSpeed#295", 2023, "dropout")
class RateLostInEvalAgain(ZeroForGood):
    """A copied layer kept what its original mended: eval mode sets the rate to 0."""


@bug("lucidrains/rotary-embedding-torch#11", 2023, "cache")
class AnglesKeptByLength(Attention):
    """Angles are kept by the number of tokens, though they depend on the offset."""

    rotary = True

    def __init__(self):
        super().__init__()
        self.kept = {}

    def turned(self, x, past):
        past = self.kept.setdefault(x.shape[2], past)
        return super().turned(x, past)


class Stretched(Attention):
    """Rotary whose base grows where a sequence is longer than in training."""

    rotary = True
    trained = 16

    def turned(self, x, past):
        length = max(past + x.shape[2], self.trained)
        D = self.head_width
        base = 10_000.0 * (2 * length / self.trained - 1) ** (D / (D - 2))
        return self.by(base, x, past)

    def by(self, base, x, past):
        D = self.head_width
        speeds = base ** (-torch.arange(0, D, 2, device=x.device) / D)
        at = torch.arange(past, past + x.shape[2], device=x.device)
        angles = torch.outer(at, speeds).to(x.dtype)
        cos, sin = angles.cos(), angles.sin()
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


@bug(
    "huggingface/transformers#25306",
    2023,
    "eval repeats",
    fixed=Stretched,
)
class StretchedForGood(Stretched):
    """After one long sequence, short ones are turned with its frequencies, too."""

    base = 0.0

    def by(self, base, x, past):
        self.base = max(base, self.base)
        return super().by(self.base, x, past)


@bug("shiyu-coder/Kronos#199", 2025, "future changed")
class CausalInTraining(Attention):
    """The layer is causal where it is trained, so that eval mode sees the future."""

    def hidden(self, T, S, real, cached):
        hidden = super().hidden(T, S, real, cached)
        if self.training:
            return hidden
        hidden = torch.zeros_like(hidden)
        return hidden if real is None else hidden | ~real[:, None, None]


@bug("lucidrains/x-transformers#152", 2023, "cache")
class BiasKeptByKeys(Sloped):
    """A kept ALiBi bias serves again where its keys suffice, cut from its first row."""

    kept = None

    def steps(self, key, T):
        if self.kept is None or self.kept.shape[1] < len(key):
            self.kept = super().steps(key, T)
        return self.kept[:T, : len(key)].to(key)


class RandomFeatures(Attention):
    """Linear attention with random features that stand for softmax's."""

    def __init__(self):
        super().__init__()
        self.register_buffer("directions", torch.randn(32, self.head_width))

    def forward(self, x, real=None, cache=None):
        q, k, v = self.projected(x)
        drawn = self.drawn()
        q, k = (self.features(x / self.head_width**0.25, drawn) for x in (q, k))
        if real is not None:
            k = k * real[:, None, :, None]
        sums = (k[..., None] * v[..., None, :]).cumsum(dim=2)
        divisor = (q * k.cumsum(dim=2)).sum(dim=-1, keepdim=True).clamp(min=1e-6)
        return self.o_proj(self.merged((q[..., None] * sums).sum(dim=-2) / divisor))

    def features(self, x, drawn):
        return torch.relu(x @ drawn.T) + 1e-3

    def drawn(self):
        return self.directions


@bug(
    "lucidrains/performer-pytorch#10",
    2020,
    "eval repeats",
    fixed=RandomFeatures,
    options={"num_heads": 4, "padding": padded},
)
class FeaturesRedrawn(RandomFeatures):
    """Random features are drawn anew in each call, in eval mode, too."""

    def drawn(self):
        return torch.randn_like(self.directions)


@bug("pytorch/pytorch#107084", 2023, "eval repeats")
class FloatMaskTakenForBool(Attention):
    """Without gradients in eval mode, a float mask hides all where it isn't 0."""

    alibi = True

    def scores(self, q, k):
        scores = super().scores(q, k)
        if self.training or torch.is_grad_enabled():
            return scores
        plain = q @ k.transpose(-2, -1) / self.head_width**0.5
        return plain.masked_fill(scores != plain, torch.finfo(plain.dtype).min)


@bug("sktime/sktime#10928", 2026, "state dict")
class WeightsKeptWithGraph(Attention):
    """The last weights are kept for a look, graph and all: no copy can be made then."""

    shown = None

    def weights(self, scores, hidden):
        self.shown = super().weights(scores, hidden)
        return self.shown
