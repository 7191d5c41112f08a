"""Answers to causal_attention by hand d."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def _linears(layer, d_in, d_out, bias):
    layer.W_query = nn.Linear(d_in, d_out, bias=bias)
    layer.W_key = nn.Linear(d_in, d_out, bias=bias)
    layer.W_value = nn.Linear(d_in, d_out, bias=bias)


def _qkv(layer, x):
    return layer.W_query(x), layer.W_key(x), layer.W_value(x)


def _future(n):
    return torch.ones(n, n, dtype=torch.bool).triu(1)


class RightBaddbmm(nn.Module):
    """right: an additive mask of 0 and -inf as a buffer that is not saved, added to the scaled scores by baddbmm; softmax, dropout, values."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        _linears(self, d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.full((context_length, context_length), -math.inf).triu(1), persistent=False)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = _qkv(self, x)
        s = torch.baddbmm(self.mask[:T, :T], q, k.mT, alpha=q.shape[-1] ** -0.5)
        return self.dropout(s.softmax(-1)) @ v


class RightEinsumArange(nn.Module):
    """right: no buffer, the mask is made from positions on x's own device at each call; scale, mask, softmax, dropout, values by einsum."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        _linears(self, d_in, d_out, qkv_bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, x):
        i = torch.arange(x.shape[1], device=x.device)
        s = torch.einsum("bto,bso->bts", self.W_query(x), self.W_key(x)) / self.W_key.out_features ** 0.5
        w = self.drop(s.masked_fill(i[:, None] < i, -math.inf).softmax(-1))
        return torch.einsum("bts,bso->bto", w, self.W_value(x))


class RightDoubleInside(nn.Module):
    """right: scores and softmax (exp of score - logsumexp) in float64, cast back before dropout; the mask is a saved boolean buffer, True = may attend."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        _linears(self, d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("past", ~_future(context_length))
        self.scale = 1 / math.sqrt(d_out)

    def forward(self, x):
        T = x.size(1)
        q, k, v = _qkv(self, x)
        s = (q * self.scale).double() @ k.double().transpose(1, 2)
        s = torch.where(self.past[:T, :T], s, -math.inf)
        w = torch.exp(s - s.logsumexp(-1, keepdim=True))
        return self.dropout(w.to(v.dtype)) @ v


class MaskTransposed(nn.Module):
    """wrong: the mask is transposed, each word attends to itself and to those after it."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        _linears(self, d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", _future(context_length).T)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = _qkv(self, x)
        s = q @ k.mT / math.sqrt(k.shape[-1])
        return self.dropout(s.masked_fill(self.mask[:T, :T], -math.inf).softmax(-1)) @ v


class NoScale(nn.Module):
    """wrong: the scores are not divided by sqrt(d_out)."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        _linears(self, d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", _future(context_length))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = _qkv(self, x)
        s = torch.einsum("btd,bsd->bts", q, k).masked_fill(self.mask[:T, :T], -torch.inf)
        return self.dropout(s.softmax(-1)) @ v


class DropsTheContext(nn.Module):
    """wrong: dropout is applied to the context, not to the weights."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        _linears(self, d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", _future(context_length))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = _qkv(self, x)
        s = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(self.mask[:T, :T], -math.inf)
        return self.dropout(s.softmax(-1) @ v)


class SoftmaxOverQueries(nn.Module):
    """wrong: softmax over dim 1 of (B, T, T), the queries, so the columns sum to 1."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        _linears(self, d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", _future(context_length))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = _qkv(self, x)
        s = (q @ k.transpose(1, 2) / q.shape[-1] ** 0.5).masked_fill(self.mask[:T, :T], -math.inf)
        return self.dropout(torch.softmax(s, dim=1)) @ v


class MaskStaysBehind(nn.Module):
    """wrong: the mask is a plain attribute and no buffer, it stays on the CPU when the layer is moved, so that forward fails there; right on the CPU."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        _linears(self, d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.mask = torch.full((context_length, context_length), -math.inf).triu(1)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = _qkv(self, x)
        s = q @ k.mT / math.sqrt(q.shape[-1]) + self.mask[:T, :T]
        return self.dropout(s.softmax(-1)) @ v


class FunctionalDropout(nn.Module):
    """wrong: calls F.dropout without training=self.training, so weights are dropped in eval mode too; right in train mode."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        _linears(self, d_in, d_out, qkv_bias)
        self.p = dropout
        self.register_buffer("mask", _future(context_length))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = _qkv(self, x)
        s = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(self.mask[:T, :T], -math.inf)
        return F.dropout(s.softmax(-1), self.p) @ v


class LowerLeftCorner(nn.Module):
    """wrong: for short texts it cuts the mask's last T rows and first T columns, so words see the future; right where T = context_length."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        _linears(self, d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", _future(context_length))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = _qkv(self, x)
        s = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(self.mask[-T:, :T], -math.inf)
        return self.dropout(s.softmax(-1)) @ v


class ValueNeverBiased(nn.Module):
    """wrong: W_value has no bias even where qkv_bias is True; right for qkv_bias=False."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", _future(context_length))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = _qkv(self, x)
        s = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(self.mask[:T, :T], -math.inf)
        return self.dropout(s.softmax(-1)) @ v


class DropsScoresAndDividesByWidth(nn.Module):
    """wrong: two mistakes, dropout acts on the scores before mask and softmax, and the scores are divided by d_out, not by its root."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        _linears(self, d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", _future(context_length))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = _qkv(self, x)
        s = self.dropout(q @ k.mT / q.shape[-1])
        return s.masked_fill(self.mask[:T, :T], -math.inf).softmax(-1) @ v


ANSWERS = [
    RightBaddbmm, RightEinsumArange, RightDoubleInside,
    MaskTransposed, NoScale, DropsTheContext, SoftmaxOverQueries,
    MaskStaysBehind, FunctionalDropout, LowerLeftCorner, ValueNeverBiased,
    DropsScoresAndDividesByWidth,
]
