"""Projections that are mixed up, shared, left out, or of the wrong size."""

from torch import nn

from public_bugs.layer import Attention
from public_bugs.log import bug


@bug("yflyzhang/AnnotatedTransformer#1", 2025, "queries, keys")
class KeysForValues(Attention):
    """Values go through the keys' projection; their own is never read."""

    def projected(self, x):
        q, k, _ = super().projected(x)
        return q, k, k


class Sliced(Attention):
    """Each head projects its own slice of the token, all with the same weights."""

    def __init__(self):
        super().__init__()
        D = self.head_width
        self.q_proj, self.k_proj, self.v_proj = (
            nn.Linear(D, D, bias=False) for _ in range(3)
        )

    def projected(self, x):
        parts = self.split(x)
        return self.q_proj(parts), self.k_proj(parts), self.v_proj(parts)


@bug("MarcoMeter/episodic-transformer-memory-ppo#22", 2024, "features read")
class SplitBeforeProjecting(Sliced):
    """Tokens are split into heads before they are projected, all heads alike."""


@bug("pbloem/former#13", 2020, "features read")
class NarrowHeads(Sliced):
    """Narrow attention cuts a token in pieces that go through one small layer."""


@bug("aladdinpersson/Machine-Learning-Collection#3", 2020, "features read")
class HeadsSeeAPiece(Sliced):
    """A linear layer as wide as one head serves all, each on its own features."""


class Fused(Attention):
    """One projection for queries, keys and values."""

    def __init__(self):
        super().__init__()
        rows = self.q_proj.out_features + 2 * self.k_proj.out_features
        self.qkv_proj = nn.Linear(self.d_in, rows, bias=self.bias)
        del self.q_proj, self.k_proj, self.v_proj

    def projected(self, x):
        return [self.split(one) for one in self.cut(self.qkv_proj(x))]

    def cut(self, qkv):
        kept = self.num_kv_heads * self.head_width
        return qkv.split([self.d_in, kept, kept], dim=-1)

    def hidden(self, T, S, real, cached):
        self.q_proj = self.qkv_proj
        hidden = super().hidden(T, S, real, cached)
        del self.q_proj
        return hidden


class FusedGrouped(Fused):
    """The same with fewer heads for keys and values."""

    num_kv_heads = 2


@bug("vllm-project/vllm#13687", 2025, "output shape", fixed=FusedGrouped)
class ThreeEqualParts(FusedGrouped):
    """A fused projection is cut in three equal parts, also where keys are fewer."""

    def cut(self, qkv):
        return qkv.chunk(3, dim=-1)


@bug(
    "awslabs/slapo#46",
    2023,
    None,
    missed="any order of the fused rows is an order: only the weights tell",
    fixed=Fused,
)
class LaidOutByHead(Fused):
    """A fused projection is cut head by head, the weights were laid out in three."""

    def cut(self, qkv):
        parts = qkv.unflatten(-1, (self.num_heads, 3, self.head_width))
        return [one.flatten(-2) for one in parts.unbind(-2)]


@bug("huggingface/diffusers#13533", 2026, "gradients")
class NormOfTheQueries(Attention):
    """Keys go through the norm that was made for queries."""

    normed = True

    def projected(self, x):
        q, k, v = map(self.split, (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        return self.q_norm(q), self.q_norm(k), v


class KeysNormedWhole(Attention):
    """Keys are normed before the split, all heads together; one head is kept."""

    num_kv_heads = 1

    def __init__(self):
        super().__init__()
        self.q_norm, self.k_norm = nn.RMSNorm(self.d_in), nn.RMSNorm(self.norm_width())

    def norm_width(self):
        return self.num_kv_heads * self.head_width

    def projected(self, x):
        q, k = self.q_norm(self.q_proj(x)), self.k_norm(self.k_proj(x))
        return self.split(q), self.split(k), self.split(self.v_proj(x))


@bug("allenai/OLMo#521", 2024, "output shape", fixed=KeysNormedWhole)
class NormAsWideAsOthers(KeysNormedWhole):
    """The keys' norm is made d_model / number of key heads wide."""

    def norm_width(self):
        return self.d_in // self.num_kv_heads


@bug("lablup/mlxcel#317", 2026, "output shape", fixed=KeysNormedWhole)
class NormedAfterTheSplit(KeysNormedWhole):
    """A norm as wide as all heads together is applied after they were split."""

    def projected(self, x):
        q, k, v = map(self.split, (self.q_proj(x), self.k_proj(x), self.v_proj(x)))
        return self.q_norm(q), self.k_norm(k), v


class NormedBefore(Attention):
    """Tokens are normed before they are projected."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(self.d_in)

    def projected(self, x):
        return super().projected(self.norm(x))


@bug(
    "facebookresearch/xformers#233",
    2022,
    None,
    missed="queries of normed tokens and keys of raw ones are made of the same tokens",
    fixed=NormedBefore,
)
class QueriesNormedAlone(NormedBefore):
    """The norm before attention reaches the first of three inputs, the queries'."""

    def projected(self, x):
        q, _, _ = super().projected(x)
        return q, self.split(self.k_proj(x)), self.split(self.v_proj(x))


class OutputSkipped(Attention):
    """A projection of the context is made, and forward doesn't call it."""

    def __init__(self):
        super().__init__()
        self.proj_attn, self.o_proj = self.o_proj, nn.Identity()


@bug("Project-MONAI/GenerativeModels#402", 2023, "gradients")
class OutputNeverProjected(OutputSkipped):
    """The output projection gets no gradient, since forward doesn't call it."""


@bug("heqin-zhu/BPfold#4", 2026, "gradients")
class OutputWeightUnread(OutputSkipped):
    """The weight of the output projection is a parameter that nothing reads."""


@bug(
    "Kyubyong/transformer#117",
    2019,
    None,
    missed="without an output projection, too, it is an attention layer",
)
class NoOutputProjection(Attention):
    """Heads are put side by side, and no projection mixes them afterwards."""

    def __init__(self):
        super().__init__()
        self.o_proj = nn.Identity()


class NarrowKeys(Attention):
    """Queries and keys are half as wide as values."""

    def __init__(self):
        super().__init__()
        self.head_width //= 2
        keys, values = self.num_heads * self.head_width, self.d_in
        self.q_proj, self.k_proj = (
            nn.Linear(self.d_in, keys, bias=False) for _ in range(2)
        )
        self.o_proj = nn.Linear(self.merged_width(keys, values), self.d_in, bias=False)

    def merged_width(self, keys, values):
        return values

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)


@bug(
    "wouterkool/attention-learn-to-route#23",
    2020,
    "output shape",
    fixed=NarrowKeys,
)
class OutputAsWideAsKeys(NarrowKeys):
    """The output projection takes heads as wide as keys, and gets values."""

    def merged_width(self, keys, values):
        return keys


@bug("rasbt/LLMs-from-scratch#857", 2025, "output shape")
class WeightsTurned(Attention):
    """Weights are stored as (out, in) and read as (in, out): right only if square."""

    num_kv_heads = 2

    def projected(self, x):
        weights = (self.q_proj.weight, self.k_proj.weight, self.v_proj.weight)
        return [self.split(x @ weight) for weight in weights]


@bug("microsoft/CNTK#2083", 2017, "queries, keys")
class ProjectedKeysSummed(Attention):
    """Weights sum up what was projected for the scores, not the values."""

    def mixed(self, weights, v):
        return super().mixed(weights, self.keys)

    def scores(self, q, k):
        self.keys = k
        return super().scores(q, k)


@bug("lucidrains/audiolm-pytorch#265", 2024, "tokens reached")
class ContextDropped(Attention):
    """The context is computed, and the input goes on in its place."""

    def forward(self, x, real=None, cache=None):
        found = super().forward(x, real, cache)
        return x if cache is None else (x, found[1])
