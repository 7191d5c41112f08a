"""Parameters that get no gradient, a wrong one, or aren't parameters at all."""

import torch
from torch import nn

from public_bugs.layer import Attention
from public_bugs.log import bug


class Relative(Attention):
    """A learned number for each distance is added to the scores."""

    def __init__(self):
        super().__init__()
        self.distances = nn.Parameter(torch.randn(self.longest))

    def numbers(self):
        return self.distances

    def scores(self, q, k):
        T, S = q.shape[2], k.shape[2]
        at = torch.arange(S, device=q.device)
        far = (at[S - T :, None] - at).abs()
        return super().scores(q, k) + self.numbers()[far].to(q.dtype)


class MadeInForward(Relative):
    """The numbers are a new parameter in each call."""

    def __init__(self):
        super().__init__()
        del self.distances

    def numbers(self):
        device = self.q_proj.weight.device
        return nn.Parameter(torch.randn(self.longest, device=device))


@bug(
    "leaderj1001/Stand-Alone-Self-Attention#2",
    2019,
    "eval repeats",
    fixed=Relative,
    positions="relative",
)
class MadeAnewEachCall(MadeInForward):
    """Relative embeddings are made in forward, so each call has other ones."""


@bug(
    "leaderj1001/Attention-Augmented-Conv2d#7",
    2019,
    "eval repeats",
    fixed=Relative,
    positions="relative",
)
class UnknownToTheOptimizer(MadeInForward):
    """Parameters are made while the layer runs, and no optimizer knows them."""


class HeadByHead(nn.Module):
    """Each head is a module of its own."""

    d_in = 16
    num_heads = 4

    def __init__(self):
        super().__init__()
        self.heads = self.kept([Head() for _ in range(4)])

    def kept(self, heads):
        return nn.ModuleList(heads)

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)


class Head(nn.Module):
    """One head, four features wide."""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (
            nn.Linear(16, 4, bias=False) for _ in range(3)
        )

    def forward(self, x):
        scores = self.q_proj(x) @ self.k_proj(x).transpose(1, 2) / 2
        future = torch.ones(scores.shape[-2:], device=x.device).triu(1).bool()
        return torch.softmax(scores.masked_fill(future, -torch.inf), -1) @ self.v_proj(
            x
        )


class Listed(HeadByHead):
    """The modules are kept in a Python list."""

    def kept(self, heads):
        return heads


@bug("asyml/texar-pytorch#72", 2019, "state dict", fixed=HeadByHead, options={})
class LayersInAList(Listed):
    """Layers are kept in a Python list, which PyTorch doesn't look into."""


@bug(
    "LiamMaclean216/Pytorch-Transfomer#7",
    2021,
    "state dict",
    fixed=HeadByHead,
    options={},
)
class ListForModuleList(Listed):
    """A list in place of nn.ModuleList: nothing in it is trained, moved or saved."""


class Normalized(Attention):
    """Positive weights without softmax, divided by what they sum to."""

    def weights(self, scores, hidden):
        scores = (nn.functional.elu(scores) + 1).masked_fill(hidden, 0)
        return scores / self.total(scores)

    def total(self, scores):
        return scores.sum(-1, keepdim=True).clamp(min=1e-6)


@bug(
    "fla-org/flash-linear-attention#875",
    2026,
    "gradients",
    fixed=Normalized,
    softmax=False,
)
class SumOutsideAutograd(Normalized):
    """The sum that a context is divided by is computed without autograd."""

    def total(self, scores):
        return super().total(scores.detach())


@bug("facebookresearch/fairseq#4270", 2022, "gradients")
class NoBackward(Attention):
    """A kernel computes the weights, and nobody wrote its backward."""

    def weights(self, scores, hidden):
        return super().weights(scores.detach(), hidden)


class Product(torch.autograd.Function):
    """Weights · values, with a backward by hand, right."""

    @staticmethod
    def forward(ctx, weights, v):
        ctx.save_for_backward(weights, v)
        return weights @ v

    @staticmethod
    def backward(ctx, grad):
        weights, v = ctx.saved_tensors
        return grad @ v.mT, weights.mT @ grad


class ByHand(Attention):
    """Attention whose last product has a backward by hand."""

    product = Product

    def mixed(self, weights, v):
        return self.product.apply(weights, v)


@bug("Dao-AILab/flash-attention#78", 2022, "gradients", fixed=ByHand)
class NameOfTheOther(ByHand):
    """The backward for packed keys and values reads a name of another function."""

    class product(Product):
        @staticmethod
        def backward(ctx, grad):
            return grad @ qkv.mT, grad  # noqa: F821


@bug("Dao-AILab/flash-attention#1397", 2024, "gradients", fixed=ByHand)
class SavedIfGradients(ByHand):
    """Tensors are saved if gradients are on, which they never are in a function."""

    class product(Product):
        @staticmethod
        def forward(ctx, weights, v):
            if torch.is_grad_enabled():
                ctx.save_for_backward(weights, v)
            return weights @ v


class Grouped(torch.autograd.Function):
    """Weights (B, G, N, T, S) · values (B, G, S, D) of a group, right."""

    @staticmethod
    def forward(ctx, weights, v):
        ctx.save_for_backward(weights, v)
        return weights @ v[:, :, None]

    @staticmethod
    def backward(ctx, grad):
        weights, v = ctx.saved_tensors
        return grad @ v[:, :, None].mT, (weights.mT @ grad).sum(2)


class GroupedByHand(Attention):
    """Grouped heads whose last product has a backward by hand."""

    num_kv_heads = 2
    product = Grouped

    def mixed(self, weights, v):
        B, H, T, S = weights.shape
        groups = weights.view(B, self.num_kv_heads, -1, T, S)
        kept = v[:, :: H // self.num_kv_heads]
        return self.product.apply(groups, kept).flatten(1, 2)


@bug("marin-community/levanter#449", 2024, "gradients", fixed=GroupedByHand)
class GroupNotSummed(GroupedByHand):
    """The backward doesn't sum over the heads that share a key."""

    class product(Grouped):
        @staticmethod
        def backward(ctx, grad):
            weights, v = ctx.saved_tensors
            return grad @ v[:, :, None].mT, weights.mT @ grad


@bug("allenai/longformer#201", 2021, "gradients")
class WrittenOver(Attention):
    """Weights are written to after a product whose backward still needs them."""

    def mixed(self, weights, v):
        context = super().mixed(weights, v)
        weights[..., :1] = weights[..., :1].clone()
        return context


@bug("oliverguhr/transformer-time-series-prediction#13", 2021, "gradients")
class PatternKept(Attention):
    """A layer that is only a pattern for copies is kept, with parameters."""

    def __init__(self):
        super().__init__()
        self.encoder_layer = nn.Linear(self.d_in, self.d_in)


@bug("pytorch/pytorch#41508", 2020, "padding")
class HiddenRowsAreNan(Attention):
    """Rows that may attend to nothing are NaN, and so are all gradients."""

    def weights(self, scores, hidden):
        return self.drop(torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1))


class InPlaceBackward(torch.autograd.Function):
    """Softmax whose backward writes into the gradient that it was given."""

    @staticmethod
    def forward(ctx, scores):
        weights = torch.softmax(scores, dim=-1)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, grad):
        (weights,) = ctx.saved_tensors
        grad.mul_(weights)
        return grad - weights * grad.sum(-1, keepdim=True)


@bug(
    "NVIDIA/apex#1587",
    2023,
    None,
    missed="in the layer alone nothing else reads that gradient",
)
class GradientWrittenOver(Attention):
    """Softmax's backward writes into its incoming gradient, others' too."""

    def weights(self, scores, hidden):
        lowest = torch.finfo(scores.dtype).min
        return self.drop(InPlaceBackward.apply(scores.masked_fill(hidden, lowest)))
