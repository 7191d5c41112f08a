"""Answers to causal_attention by hand g."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class RightAdditiveBuffer(nn.Module):
    """right: a buffer of zeros and -inf that is added to the scores."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.drop = nn.Dropout(dropout)
        hidden = torch.full((context_length, context_length), float("-inf")).triu(1)
        self.register_buffer("hidden", hidden)

    def forward(self, x):
        T = x.size(1)
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = torch.baddbmm(
            self.hidden[:T, :T], q, k.mT, alpha=q.size(-1) ** -0.5
        )
        return torch.bmm(self.drop(F.softmax(scores, -1)), v)


class RightComparedPositions(nn.Module):
    """right: no buffer; compares positions on the device of x, einsum throughout."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(d_in, d_out, bias=qkv_bias))
        self.dropout = nn.Dropout(p=dropout)
        self.d_out = d_out

    def forward(self, x):
        position = torch.arange(x.shape[1], device=x.device)
        later = position[None, :] > position[:, None]
        scores = torch.einsum("btd,bsd->bts", self.W_query(x), self.W_key(x))
        scores = scores.div(math.sqrt(self.d_out)).masked_fill(later, -math.inf)
        weights = self.dropout(scores.softmax(dim=-1))
        return torch.einsum("bts,bsd->btd", weights, self.W_value(x))


class RightGrowingPrefix(nn.Module):
    """right: no mask at all; each word attends to the prefix that ends with it."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        rows = []
        for t in range(x.shape[1]):
            scores = q[:, t : t + 1] @ k[:, : t + 1].transpose(1, 2)
            weights = self.dropout(torch.softmax(scores / q.shape[-1] ** 0.5, dim=-1))
            rows.append(weights @ v[:, : t + 1])
        return torch.cat(rows, dim=1)


class _Base(nn.Module):
    """The right beginning that several wrong layers share."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer(
            "mask", torch.triu(torch.ones(context_length, context_length), diagonal=1)
        )


class WrongMaskAttribute(nn.Module):
    """wrong: the mask is a plain attribute, not a buffer, so that it stays behind when
    the layer moves to another device."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.mask = torch.tril(torch.ones(context_length, context_length)).bool()

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(~self.mask[:T, :T], -torch.inf)
        return self.dropout(torch.softmax(scores, dim=-1)) @ v


class WrongMaskNotCut(_Base):
    """wrong: the mask isn't cut to the length of the text, an error for texts shorter
    than context_length."""

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.mask.bool(), -torch.inf)
        return self.dropout(torch.softmax(scores, dim=-1)) @ v


class WrongSeesOneAhead(nn.Module):
    """wrong: tril with diagonal=1, so that each word sees the next one, too."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        allowed = torch.ones(context_length, context_length, dtype=torch.bool)
        self.register_buffer("allowed", allowed.tril(diagonal=1))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(~self.allowed[:T, :T], -torch.inf)
        return self.dropout(torch.softmax(scores, dim=-1)) @ v


class WrongZeroScores(_Base):
    """wrong: sets the scores of later words to 0 instead of -inf before softmax, so
    that they keep weight."""

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        scores = scores * (1 - self.mask[:T, :T])
        return self.dropout(torch.softmax(scores, dim=-1)) @ v


class WrongMaskAfterSoftmax(_Base):
    """wrong: zeroes the weights of later words after softmax and doesn't normalize
    anew, so that the rows sum to less than 1."""

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        weights = weights.masked_fill(self.mask[:T, :T].bool(), 0.0)
        return self.dropout(weights) @ v


class WrongDropoutAlwaysOn(nn.Module):
    """wrong: calls F.dropout without training=self.training, so that it also drops
    weights in eval mode; the same as right for dropout 0."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.p = dropout
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, x):
        T = x.shape[1]
        later = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        weights = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
        return F.dropout(weights, self.p) @ v


class WrongDropoutOnContext(_Base):
    """wrong: applies dropout to the context instead of the weights; seen only while the
    layer trains with dropout."""

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.mask[:T, :T].bool(), -torch.inf)
        return self.dropout(torch.softmax(scores, dim=-1) @ v)


class WrongKeepProbability(_Base):
    """wrong: takes dropout for the probability of keeping, nn.Dropout(1 - dropout), so
    that dropout 0 drops all while the layer trains; right in eval mode."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, dropout, qkv_bias)
        self.dropout = nn.Dropout(1 - dropout)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.mask[:T, :T].bool(), -torch.inf)
        return self.dropout(torch.softmax(scores, dim=-1)) @ v


class WrongBiasOnlyForQueries(nn.Module):
    """wrong: hands qkv_bias to W_query only, so that keys and values never have a bias
    (right where qkv_bias is False)."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        T = x.shape[1]
        later = torch.ones(T, T, device=x.device).triu(1) > 0
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        weights = torch.softmax(scores.masked_fill(later, -torch.inf), dim=-1)
        return self.dropout(weights) @ v


class WrongUnscaledAndAlwaysBias(nn.Module):
    """wrong: two mistakes: the scores aren't divided by the root of d_out, and the
    linear layers always have a bias, whatever qkv_bias says."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out)
        self.W_key = nn.Linear(d_in, d_out)
        self.W_value = nn.Linear(d_in, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril())

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = torch.einsum("btd,bsd->bts", q, k)
        scores = scores.masked_fill(self.mask[:T, :T] == 0, -torch.inf)
        return torch.bmm(self.dropout(scores.softmax(-1)), v)


class WrongQueryAxisAndDropoutOnScores(_Base):
    """wrong: two mistakes: softmax along axis 1, over the queries, and dropout on the
    masked scores before softmax instead of on the weights."""

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = self.dropout(q @ k.transpose(1, 2) / math.sqrt(k.shape[-1]))
        scores = scores.masked_fill(self.mask[:T, :T].bool(), -torch.inf)
        return torch.softmax(scores, dim=1) @ v


class WrongFusedWithoutTraining(nn.Module):
    """wrong: the library's attention in one call with is_causal, and dropout is never
    applied, in training neither: dropout_p is left out."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return F.scaled_dot_product_attention(
            self.W_query(x), self.W_key(x), self.W_value(x), is_causal=True
        )


ANSWERS = [
    RightAdditiveBuffer,
    RightComparedPositions,
    RightGrowingPrefix,
    WrongMaskAttribute,
    WrongMaskNotCut,
    WrongSeesOneAhead,
    WrongZeroScores,
    WrongMaskAfterSoftmax,
    WrongDropoutAlwaysOn,
    WrongDropoutOnContext,
    WrongKeepProbability,
    WrongBiasOnlyForQueries,
    WrongUnscaledAndAlwaysBias,
    WrongQueryAxisAndDropoutOnScores,
    WrongFusedWithoutTraining,
]
