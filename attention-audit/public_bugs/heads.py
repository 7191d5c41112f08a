"""Heads that are split, shared or merged along the wrong axis."""

import torch
from torch import nn

from public_bugs.layer import Attention
from public_bugs.log import bug


class MergedUnswapped(Attention):
    """Heads are reshaped to features while they still stand before the tokens."""

    def merged(self, context):
        B, H, T, D = context.shape
        return context.reshape(B, T, H * D)


@bug("jsbaan/transformer-from-scratch#6", 2026, "future grads")
class HeadsBeforeTokens(MergedUnswapped):
    """Heads are merged without a permute, so a token gets pieces of other tokens."""


@bug("ajhalthor/Transformer-Neural-Network#1", 2023, "future grads")
class ValuesReshaped(MergedUnswapped):
    """The weighted values (B, H, T, D) are reshaped to (B, T, H·D) as they lie."""


@bug("chelsea0x3b/dfdx#158", 2022, "future grads")
class ReshapedByType(MergedUnswapped):
    """Shapes checked by the compiler fit, and yet no axes are swapped in the merge."""


@bug("pytorch/pytorch#67651", 2021, "future grads")
class BatchFirstView(MergedUnswapped):
    """With batch_first=True the heads' contexts are viewed as tokens as they lie."""


@bug("reczoo/FuxiCTR#30", 2022, "tokens reached")
class ViewedAsBatch(MergedUnswapped):
    """Tokens are viewed as B·H sequences without a transpose: a head gets a few."""

    def split(self, x):
        B, T, _ = x.shape
        return x.reshape(B, -1, T, self.head_width)


@bug("hackiey/QAnet-pytorch#2", 2018, "batch")
class HeadsBeforeBatch(Attention):
    """Contexts stacked by head, (H, B, T, D), are viewed as (B, T, H·D)."""

    def merged(self, context):
        B, H, T, D = context.shape
        return context.transpose(0, 1).reshape(B, T, H * D)


@bug("gazelle93/Transformer-Various-Positional-Encoding#1", 2022, "batch")
class HeadsTakenForBatch(Attention):
    """The merge swaps axes of (B, H, T, D), but gets (H, B, T, D)."""

    def merged(self, context):
        B, H, _, D = context.shape
        return context.transpose(0, 1).transpose(1, 2).reshape(B, -1, H * D)


class AcrossTheBatch(nn.Module):
    """PyTorch's layer as it is made unless batch_first=True is said."""

    d_in = 16
    first = False

    def __init__(self):
        super().__init__()
        self.layer = nn.MultiheadAttention(16, 4, batch_first=self.first)

    def forward(self, x):
        return self.layer(x, x, x)[0]


class AlongTokens(AcrossTheBatch):
    """PyTorch's layer with the batch first."""

    first = True


BOTH_WAYS = {"causal": False}


@bug("om-ai-lab/OmDet#19", 2024, "batch", fixed=AlongTokens, options=BOTH_WAYS)
class BatchFirstForgotten(AcrossTheBatch):
    """nn.MultiheadAttention without batch_first=True mixes the images of a batch."""


@bug("aipixel/AEMatter#3", 2023, "batch", fixed=AlongTokens, options=BOTH_WAYS)
class WindowsAttendToWindows(AcrossTheBatch):
    """Windows stand in the axis that the layer takes for the sequence."""


@bug("keras-team/keras#21714", 2025, "tokens reached")
class AcrossHeads(Attention):
    """A negative axis is counted after heads were added: heads attend to heads."""

    def forward(self, x, real=None, cache=None):
        q, k, v = (one.transpose(1, 2) for one in self.projected(x))
        context = torch.softmax(self.scores(q, k), dim=-1) @ v
        context = self.o_proj(context.flatten(2))
        if cache is None:
            return context
        return context, self.joined(cache, x[:, None], x[:, None])


class Tiled(Attention):
    """Two keys for four heads in the order 0, 1, 0, 1."""

    num_kv_heads = 2

    def shared(self, x):
        return x.repeat(1, self.num_heads // self.num_kv_heads, 1, 1)


@bug("ekzhang/jax-js#180", 2026, "heads")
class TiledNotRepeated(Tiled):
    """Shared keys and values are tiled, so neighbouring heads have different ones."""


@bug("apple/axlearn#842", 2024, "heads")
class RepeatedAsABlock(Tiled):
    """Repeated keys change from 0, 0, 1, 1 to 0, 1, 0, 1."""


@bug("HazyResearch/HipKittens#22", 2025, "heads")
class NumbersCollide(Attention):
    """Heads are numbered with the group's size in place of the number of groups."""

    d_in = 32
    num_heads = 8
    num_kv_heads = 2

    def shared(self, x):
        G = self.num_heads // self.num_kv_heads
        heads = [(i % G * G + i // G) % self.num_heads for i in range(self.num_heads)]
        return super().shared(x)[:, heads]


@bug("state-spaces/mamba#462", 2024, "output shape")
class NeverRepeated(Attention):
    """Fewer keys than queries meet in a product that wants as many."""

    num_kv_heads = 2

    def shared(self, x):
        return x


@bug("BobMcDear/attorch#14", 2026, "heads")
class AllHeadsTheFirst(Attention):
    """An offset divided by the wrong stride is 0: each head reads the first's rows."""

    def projected(self, x):
        return [one[:, :1].expand_as(one) for one in super().projected(x)]


@bug("bghira/universal-metal-flash-attention#27", 2026, "gradients")
class FirstHeadOnly(Attention):
    """Buffers are bound in another order than the kernel's: one head is computed."""

    def mixed(self, weights, v):
        context = super().mixed(weights, v)
        return torch.cat([context[:, :1], torch.zeros_like(context[:, 1:])], dim=1)


@bug("lsdefine/attention-is-all-you-need-keras#36", 2020, "padding")
class MasksByBatchHeadsFirst(Attention):
    """Scores are stacked by head, the padding masks by sequence."""

    def hidden(self, T, S, real, cached):
        if real is None:
            return super().hidden(T, S, real, cached)
        B, H = len(real), self.num_heads
        rows = real.repeat_interleave(H, dim=0).view(H, B, 1, S).transpose(0, 1)
        return super().hidden(T, S, None, cached) | ~rows


@bug("lucidrains/graph-transformer-pytorch#2", 2022, "padding")
class MaskOfOneText(Attention):
    """A mask (B, 1, S) meets scores (B·H, T, S): right for one text alone."""

    def weights(self, scores, hidden):
        return super().weights(scores.flatten(0, 1), hidden[:, 0]).view_as(scores)


@bug("huggingface/diffusers#3207", 2023, "output shape")
class BatchTimesHeads(Attention):
    """The merge takes the batch times heads for the batch."""

    def merged(self, context):
        B, H, T, D = context.shape
        return context.transpose(1, 2).reshape(B * H, T, D * H)
