"""Positions that are missing, wrong, or counted from the wrong token."""

import math

import torch
from torch import nn

from public_bugs.layer import Attention
from public_bugs.log import bug


class TurnedByHead(Attention):
    """The tables' rows are looked up by head, since the axes weren't swapped."""

    rotary = True

    def turned(self, x, past):
        return super().turned(x.transpose(1, 2), 0).transpose(1, 2)


@bug("mlfoundations/open_lm#4", 2023, "distances")
class TurnedAlongHeads(TurnedByHead):
    """The rotary embedding runs along the axis of heads, not of tokens."""


@bug("facebookresearch/xformers#841", 2023, "distances")
class HeadsTakenForTokens(TurnedByHead):
    """Rotary tables follow the last axis but one, which here is heads, not tokens."""

    num_kv_heads = 2


@bug("vukrosic/leo-optimizer#2", 2025, "distances")
class ThirdAxisFromTheEnd(TurnedByHead):
    """Rotary counts along the third axis from the end, which heads took from tokens."""


@bug("PaddlePaddle/PaddleFleet#91", 2025, "distances")
class TurnedAlongBatch(Attention):
    """Rotary angles are laid along the batch, so a sequence turns by its row in it."""

    rotary = True

    def turned(self, x, past):
        return super().turned(x.transpose(0, 2), 0).transpose(0, 2)


class MixedPairs(Attention):
    """Frequencies for neighbouring features meet a rotation of two halves."""

    rotary = True

    def turned(self, x, past):
        at = slice(past, past + x.shape[2])
        cos, sin = (
            table[at].repeat_interleave(2, dim=-1).to(x.dtype)
            for table in (self.cos, self.sin)
        )
        a, b = x.chunk(2, dim=-1)
        return x * cos + torch.cat([-b, a], dim=-1) * sin


@bug("raiyanyahya/how-to-train-your-gpt#6", 2026, "distances")
class FrequenciesInterleaved(MixedPairs):
    """Rotary frequencies are repeated for neighbours, but halves turn together."""


@bug("TransformerLensOrg/TransformerLens#365", 2023, "distances")
class CommaMakesATuple(MixedPairs):
    """A comma makes the test for the style of pairs a tuple, so it is always true."""


class Sloped(Attention):
    """ALiBi in parts: the slopes, and what they are multiplied by."""

    alibi = True

    def scores(self, q, k):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_width)
        slopes = torch.tensor(self.slopes()).to(q)
        key = torch.arange(k.shape[2]).to(q)
        return scores + slopes[:, None, None] * self.steps(key, q.shape[2])

    def slopes(self):
        H = self.num_heads
        lower = 2 ** int(math.log2(H))
        ours, next_ones = (
            [2 ** (-8 * (h + 1) / n) for h in range(n)] for n in (lower, 2 * lower)
        )
        return ours + next_ones[::2][: H - lower]

    def steps(self, key, T):
        """How far behind the last T of the tokens a key lies, negative."""
        return -(key[-T:, None] - key).abs()


class SlopedOverSix(Sloped):
    """Heads that aren't a power of two."""

    d_in = 24
    num_heads = num_kv_heads = 6


@bug("ml-explore/mlx#3071", 2026, "distances", fixed=SlopedOverSix)
class SlopesOfAPowerOfTwo(SlopedOverSix):
    """ALiBi's slopes follow the formula for a power of two of heads for any number."""

    def slopes(self):
        return [2 ** (-8 * (h + 1) / self.num_heads) for h in range(self.num_heads)]


@bug("paiml/aprender#2143", 2026, "distances")
class SlopesFromOne(Sloped):
    """ALiBi's slopes begin with 1, since the exponent counts heads from 0."""

    def slopes(self):
        return [2 ** (-8 * h / self.num_heads) for h in range(self.num_heads)]


@bug("meta-pytorch/attention-gym#86", 2024, "distances")
class FarTokensFavoured(Sloped):
    """ALiBi's bias is query minus key, so that tokens gain by being far away."""

    def steps(self, key, T):
        return key[-T:, None] - key


@bug("keras-team/keras-hub#2977", 2026, "cache")
class NoSlopeInSteps(Sloped):
    """ALiBi is built over the new tokens alone: in single steps its bias is 0."""

    def steps(self, key, T):
        return key[:T] - key[T - 1]


@bug("ml-explore/mlx-lm#93", 2025, "cache")
class StepsWithoutPlace(Attention):
    """A single token gets no position, and several behind a cache count from 0."""

    learned = True

    def placed(self, x, past, real):
        return x if x.shape[1] == 1 else super().placed(x, 0, real)


class PlacedByRow(Attention):
    """Positions are looked up by row of the batch: all tokens of a text have one."""

    learned = True

    def placed(self, x, past, real):
        return x + self.places(torch.arange(len(x), device=x.device))[:, None]


@bug("AkiRusProd/numpy-transformer#1", 2023, "batch")
class TableCutToTheBatch(PlacedByRow):
    """The table of positions is cut to the batch, so a text has its row's position."""


@bug("cmu-l3/anlp-fall2025-code#1", 2026, "batch")
class PositionsOfTheFirstAxis(PlacedByRow):
    """Positions count the first axis, the batch; all tokens of a text share one."""


@bug("DiffPoseTalk/DiffPoseTalk#20", 2024, "short sequences")
class OnePlaceForAll(Attention):
    """A colon is missing: all tokens get the one encoding behind the last."""

    learned = True

    def placed(self, x, past, real):
        return x + self.places.weight[x.shape[1]]


@bug("ndif-team/nnsight#673", 2026, "cache")
class PaddingCounted(Attention):
    """In a batch padded on the left, positions count the padding, too."""

    learned = True

    def placed(self, x, past, real):
        return super().placed(x, past, None)


@bug("mosaicml/examples#257", 2023, "cache")
class PaddingOfTheNewOnly(Attention):
    """Behind a cache, only padding among the new tokens is taken off the positions."""

    learned = True

    def placed(self, x, past, real):
        T = x.shape[1]
        at = torch.arange(past, past + T, device=x.device)
        if real is not None:
            at = (at - (~real)[:, -T:].long().cumsum(1)).clamp(min=0)
        return x + self.places(at)


@bug("d2l-ai/d2l-en#2121", 2022, "gradients")
class PlacesDetached(Attention):
    """The learned table is added as data, so that it is never trained."""

    learned = True

    def placed(self, x, past, real):
        with torch.no_grad():
            places = super().placed(torch.zeros_like(x), past, real)
        return x + places


class Relative(Attention):
    """A learned bias for each head and distance."""

    def __init__(self):
        super().__init__()
        self.biases = nn.Parameter(torch.randn(self.num_heads, 2 * self.longest))

    def scores(self, q, k):
        T, S = q.shape[2], k.shape[2]
        key = torch.arange(S, device=q.device)
        return super().scores(q, k) + self.of_distances(key - self.queries(T, key))

    def queries(self, T, key):
        return key[-T:, None]

    def of_distances(self, distances):
        return self.biases[:, distances + self.longest]


@bug(
    "lucidrains/x-transformers#103",
    2022,
    "cache",
    fixed=Relative,
    positions="relative",
)
class MemoryNotCounted(Relative):
    """The bias isn't shifted by the memory, whose keys come before the queries."""

    def queries(self, T, key):
        return key[:T, None]


class Bidirectional(Relative):
    """All tokens may look at all."""

    causal = False


@bug(
    "ZhengkunTian/OpenTransformer#25",
    2021,
    "distances",
    fixed=Bidirectional,
    positions="relative",
)
class ShiftWithoutMask(Bidirectional):
    """A shift of rows that only a causal mask makes right serves an encoder."""

    def of_distances(self, distances):
        T = len(distances)
        past = super().of_distances(torch.arange(1 - T, 1)).expand(T, -1, -1)
        rows = nn.functional.pad(past.transpose(0, 1), (1, 0))
        return rows.reshape(-1, T + 1, T)[:, 1:].reshape(-1, T, T)


@bug(
    "nntrainer/nntrainer#3982",
    2026,
    None,
    missed="distances with the other sign are distances, too: only the weights tell",
    fixed=Relative,
    positions="relative",
)
class SignOfDistances(Relative):
    """An engine looks trained distances up with the sign turned round."""

    def of_distances(self, distances):
        return super().of_distances(-distances)


@bug(
    "speechbrain/speechbrain#3070",
    2026,
    None,
    missed="distances without a direction are a design of some",
    fixed=Bidirectional,
    positions="relative",
)
class PastLikeFuture(Bidirectional):
    """Tokens ahead get the sines of tokens behind, and so the same bias."""

    def of_distances(self, distances):
        return super().of_distances(distances.abs())


class Bucketed(Bidirectional):
    """Far distances share logarithmic buckets, up to a largest distance."""

    def of_distances(self, distances):
        far = distances.abs().clamp(min=4) / 4
        steps = far.log() / math.log(self.farthest(distances) / 4)
        buckets = (4 + 4 * steps).round().long() * distances.sign()
        return super().of_distances(distances.where(distances.abs() < 4, buckets))

    def farthest(self, distances):
        return self.longest


@bug(
    "NVIDIA/TensorRT#3370",
    2023,
    "distances",
    fixed=Bucketed,
    positions="relative",
)
class BucketsByLength(Bucketed):
    """A plugin spreads the buckets over the sequence, not to the largest distance."""

    def farthest(self, distances):
        return max(len(distances), 5)


@bug("vllm-project/vllm#23918", 2025, "order", fixed=Attention, positions=None)
class TurnedEverywhere(Attention):
    """Rotary is applied in all layers, also in those that shall have no positions."""

    rotary = True


class Upright(Attention):
    """Rotary, also on the values: the context is turned back by its own position."""

    rotary = True
    turns = 1

    def mixed(self, weights, v):
        S, T = v.shape[2], weights.shape[2]
        for _ in range(self.turns):
            v = self.turned(v, 0)
        sin, self.sin = self.sin, -self.sin
        context = self.turned(weights @ v, S - T)
        self.sin = sin
        return context


@bug(
    "labmlai/annotated_deep_learning_paper_implementations#251",
    2024,
    "cache",
    fixed=Upright,
    positions=True,
)
class ValuesTurnedTwice(Upright):
    """Values that shall be turned once, and back in the context, are turned twice."""

    turns = 2


class PartlyTurned(Attention):
    """Rotary in the first half of each head."""

    d_in = 32
    rotary = True

    def turned(self, x, past):
        D = self.head_width
        at = torch.arange(past, past + x.shape[2], device=x.device)
        speeds = 10_000.0 ** (-torch.arange(0, D // 2, 2, device=x.device) / self.over)
        angles = torch.outer(at, speeds).to(x.dtype)
        a, b, rest = x.split([D // 4, D // 4, D // 2], dim=-1)
        cos, sin = angles.cos(), angles.sin()
        return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], dim=-1)

    @property
    def over(self):
        return self.head_width // 2


@bug(
    "pie-project/pie#603",
    2026,
    None,
    missed="any frequencies make a rotary embedding: only the weights tell",
    fixed=PartlyTurned,
)
class FrequenciesOfTheHead(PartlyTurned):
    """Half of a head is turned, with frequencies that are spread over the whole."""

    @property
    def over(self):
        return self.head_width


@bug(
    "lablup/mlxcel#1324",
    2026,
    None,
    missed="positions that count by two turn a pair evenly: only the weights tell",
)
class PositionsDoubled(Attention):
    """Without a scaling, rotary positions are multiplied by 2."""

    rotary = True

    def turned(self, x, past):
        sin, cos = self.sin, self.cos
        self.cos, self.sin = cos**2 - sin**2, 2 * sin * cos
        turned = super().turned(x, past)
        self.cos, self.sin = cos, sin
        return turned


class Decaying(Attention):
    """Retention: queries · keys, times a decay for each step back, without softmax."""

    decay = 0.9

    def forward(self, x, real=None, cache=None):
        q, k, v = self.projected(x)
        T = x.shape[1]
        at = torch.arange(T, device=x.device).to(x.dtype)
        back = at[:, None] - at
        scores = q @ k.mT * torch.where(back < 0, 0.0, self.decay**back)
        context = scores @ v
        if cache is None:
            return self.o_proj(self.merged(context))
        state = cache if len(cache) else torch.zeros_like(k.mT @ v)
        context = context + (q * self.decay ** (at + 1)[:, None]) @ state
        state = self.decay**T * state + k.mT @ (v * self.left(T - 1 - at)[:, None])
        return self.o_proj(self.merged(context)), state

    def left(self, steps):
        """What is left of a token after so many steps."""
        return self.decay**steps


def in_chunks(module, x, cache):
    return module(x, cache=() if cache is None else cache)


@bug(
    "Jamie-Stirling/RetNet#10",
    2023,
    "cache",
    fixed=Decaying,
    options={
        "num_heads": 4,
        "softmax": False,
        "positions": True,
        "step": in_chunks,
    },
)
class ChunkNotDecayed(Decaying):
    """By the paper's formula, tokens of one chunk enter the state without decay."""

    def left(self, steps):
        return torch.ones_like(steps)
