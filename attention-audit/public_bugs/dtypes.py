"""Numbers of another dtype, or on another device, than the layer's."""

import torch

from public_bugs.layer import Attention
from public_bugs.log import bug


class ScoreOutOfRange(Attention):
    """Hidden scores get a number that float16 doesn't have."""

    lowest = -1e9

    def weights(self, scores, hidden):
        return self.drop(torch.softmax(scores.masked_fill(hidden, self.lowest), -1))


@bug("facebookresearch/fairseq#3575", 2021, "dtypes")
class HundredMillion(ScoreOutOfRange):
    """Hidden scores are filled with −1e8, which float16 refuses."""

    lowest = -1e8


@bug("pytorch/benchmark#794", 2022, "dtypes")
class Billion(ScoreOutOfRange):
    """Hidden scores are filled with −1e9, which float16 refuses."""


@bug("AI-Hypercomputer/maxtext#575", 2024, "dtypes", require=["dtypes"])
class CosinesInFloat32(Attention):
    """Cosines and sines are float32 and lift queries and keys, not values, to it."""

    rotary = True

    def turned(self, x, past):
        return super().turned(x.float(), past)


@bug("xjdr-alt/entropix#39", 2024, "dtypes", require=["dtypes"])
class WeightsInFloat32(Attention):
    """Softmax is taken in float32, and its weights meet values in 16 bits."""

    def weights(self, scores, hidden):
        return super().weights(scores.float(), hidden)


@bug("vllm-project/vllm#996", 2023, "dtypes", require=["dtypes"])
class BiasOfTheDefault(Attention):
    """ALiBi's bias is made in the default dtype, float32, whatever the scores are."""

    alibi = True

    def scores(self, q, k):
        zeros = torch.zeros(*q.shape[:-1], k.shape[2], device=q.device)
        return super().scores(q, k) + zeros


@bug("tinygrad/tinygrad#5100", 2024, "dtypes")
class ContextInFloat32(Attention):
    """The context is cast to the default dtype, not back to that of the input."""

    def forward(self, x, real=None, cache=None):
        found = super().forward(x, real, cache)
        if cache is None:
            return found.float()
        return found[0].float(), found[1]


@bug(
    "EleutherAI/gpt-neox#1003",
    2023,
    None,
    missed="the first 40 positions are hardly rounded; positions in thousands are",
)
class TablesInTheModelsDtype(Attention):
    """Positions times frequencies are computed in 16 bits, too coarse far out."""

    rotary = True

    def turned(self, x, past):
        speeds = 10_000.0 ** (-torch.arange(0, self.head_width, 2) / self.head_width)
        at = torch.arange(past, past + x.shape[2])
        angles = torch.outer(at.to(x), speeds.to(x))
        a, b = x.chunk(2, dim=-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


class MaskAsAttribute(Attention):
    """The mask is a plain attribute, which stays where it was made."""

    def __init__(self):
        super().__init__()
        self.mask = torch.ones(self.longest, self.longest).triu(1).bool()

    def hidden(self, T, S, real, cached):
        hidden = self.mask[S - T : S, :S][None, None]
        return hidden if real is None else hidden | ~real[:, None, None]


@bug("OpenNMT/OpenNMT-py#240", 2017, "devices")
class MaskNoBuffer(MaskAsAttribute):
    """The mask is an attribute, no buffer, and isn't moved with the layer."""


class Biased(Attention):
    """A fixed bias for distances, ALiBi with the layer's own slopes."""

    def __init__(self):
        super().__init__()
        at = torch.arange(self.longest)
        self.keep(-(at[:, None] - at).abs() / self.longest)

    def keep(self, bias):
        self.register_buffer("bias_table", bias, persistent=False)

    def scores(self, q, k):
        T, S = q.shape[2], k.shape[2]
        return super().scores(q, k) + self.bias_table[S - T : S, :S].to(q.dtype)


@bug("torchgeo/torchgeo#3232", 2025, "devices", fixed=Biased, positions=True)
class BiasNoBuffer(Biased):
    """The table of biases is an attribute, no buffer, and stays on the CPU."""

    def keep(self, bias):
        self.bias_table = bias


@bug("InfiniTensor/llaisys#11", 2025, "devices")
class MaskMadeOnCpu(Attention):
    """The triangle is made without device=, so on the CPU, in each call."""

    def hidden(self, T, S, real, cached):
        hidden = ~torch.ones(T, S, dtype=torch.bool).tril(S - T)[None, None]
        return hidden if real is None else hidden | ~real[:, None, None]


@bug("AminRezaei0x443/memory-efficient-attention#6", 2022, "devices")
class SumsMadeOnCpu(Attention):
    """Sums over chunks of keys begin as zeros without device=."""

    def mixed(self, weights, v):
        B, H, T, _ = weights.shape
        total = torch.zeros(B, H, T, v.shape[-1], dtype=v.dtype)
        for w, part in zip(weights.split(4, dim=-1), v.split(4, dim=2), strict=True):
            total = total + w @ part
        return total


@bug("unit8co/darts#3052", 2026, "devices")
class MaskOfTheFirstCall(Attention):
    """The mask of the first call is kept, and stays behind when the model is moved."""

    kept: torch.Tensor | None = None

    def hidden(self, T, S, real, cached):
        if self.kept is None or self.kept.shape[-2:] != (T, S):
            self.kept = super().hidden(T, S, None, cached)
        return self.kept if real is None else self.kept | ~real[:, None, None]


class FixedPlaces(Attention):
    """Fixed positions are added to the tokens."""

    learned = True

    def __init__(self):
        super().__init__()
        del self.places
        speeds = 10_000.0 ** (-torch.arange(0, self.d_in, 2) / self.d_in)
        angles = torch.outer(torch.arange(self.longest), speeds)
        self.keep(torch.cat([angles.sin(), angles.cos()], dim=-1))

    def keep(self, table):
        self.register_buffer("table", table)

    def places(self, at):
        return self.table.to(at.device)[at]


@bug("lyuwenyu/RT-DETR#677", 2026, "dtypes", require=["dtypes"], fixed=FixedPlaces)
class PlacesNoBuffer(FixedPlaces):
    """Fixed positions are an attribute, no buffer: half() leaves them in float32."""

    def keep(self, table):
        self.table = table


@bug("nari-labs/dia#45", 2025, "cache")
class CacheInFloat32(Attention):
    """The cache holds float32, and the queries are in 16 bits."""

    def joined(self, cache, k, v):
        return super().joined(cache, k.float(), v.float())
