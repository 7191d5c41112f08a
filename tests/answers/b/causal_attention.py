"""Answers to causal_attention by hand b."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class RightMaskInForward(nn.Module):
    """right: compares positions in forward, on the device of x, so there is no mask to move."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = queries @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
        place = torch.arange(x.shape[1], device=x.device)
        future = place[None, :] > place[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ values


class RightAddedBuffer(nn.Module):
    """right: a buffer of 0 and -inf that is added to the scores, cut to T; W_value is made first, and the buffer isn't saved."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_value = nn.Linear(d_in, d_out, qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, qkv_bias)
        self.W_query = nn.Linear(d_in, d_out, qkv_bias)
        self.thin = nn.Dropout(p=dropout)
        block = torch.full((context_length, context_length), -math.inf).triu(diagonal=1)
        self.register_buffer("block", block, persistent=False)

    def forward(self, x):
        T = x.size(1)
        q = self.W_query(x)
        s = torch.einsum("btd,bsd->bts", q, self.W_key(x)) / math.sqrt(q.size(-1))
        w = F.softmax(s + self.block[:T, :T], dim=2)
        return torch.bmm(self.thin(w), self.W_value(x))


class RightRowByRow(nn.Module):
    """right: no mask: row t is a softmax over the first t + 1 keys, filled up with zeros; then dropout on all weights."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(d_in, d_out, bias=bool(qkv_bias)))
        self.drop = nn.Dropout(dropout)
        self.root = math.sqrt(d_out)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        T = x.shape[1]
        rows = []
        for t in range(T):
            score = q[:, t : t + 1] @ k[:, : t + 1].transpose(1, 2) / self.root
            rows.append(F.pad(score.softmax(dim=-1), (0, T - t - 1)))
        return self.drop(torch.cat(rows, dim=1)) @ v


class WrongDropoutOnScores(nn.Module):
    """wrong: dropout is at the wrong place: on the scores before softmax, not on the weights after it."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = self.dropout(q @ k.transpose(1, 2) / math.sqrt(k.shape[-1]))
        scores = scores.masked_fill(self.mask[:T, :T], -torch.inf)
        return torch.softmax(scores, dim=-1) @ v


class WrongMaskAfterSoftmax(nn.Module):
    """wrong: masks after softmax: weights of later words are set to 0, and the rows no longer sum to 1."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        w = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1]), dim=-1)
        return self.dropout(torch.tril(w)) @ v


class WrongAlwaysBias(nn.Module):
    """wrong: qkv_bias is ignored: the three linear layers always have a bias."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out)
        self.W_key = nn.Linear(d_in, d_out)
        self.W_value = nn.Linear(d_in, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.mask[:T, :T], -torch.inf)
        return self.dropout(torch.softmax(scores, dim=-1)) @ v


class WrongMaskStaysBehind(nn.Module):
    """wrong: the mask is a plain attribute, no buffer, so it stays on the CPU when the layer moves to another device."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.mask = torch.triu(torch.ones(context_length, context_length), diagonal=1).bool()

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.mask[:T, :T], -torch.inf)
        return self.dropout(torch.softmax(scores, dim=-1)) @ v


class WrongRootOfInputWidth(nn.Module):
    """wrong: divides the scores by the root of d_in, not of d_out: right only where the two are equal."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("future", torch.ones(context_length, context_length, dtype=torch.bool).triu(1))

    def forward(self, x):
        B, T, d = x.shape
        scores = self.W_query(x) @ self.W_key(x).mT / d**0.5
        scores = scores.masked_fill(self.future[:T, :T], -torch.inf)
        weights = self.dropout(scores.softmax(-1))
        return weights @ self.W_value(x)


class WrongDropsInEval(nn.Module):
    """wrong: calls F.dropout without its argument training, so weights are dropped in eval mode, too."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.p = dropout
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.mask[:T, :T], -torch.inf)
        return F.dropout(torch.softmax(scores, dim=-1), self.p) @ v


class WrongFirstSequenceMasked(nn.Module):
    """wrong: masks only the first sequence of the batch (scores[0]); in the others each word sees later words."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        first = scores[:1].masked_fill(self.mask[:T, :T], -torch.inf)
        scores = torch.cat([first, scores[1:]], dim=0)
        return self.dropout(torch.softmax(scores, dim=-1)) @ v


class WrongSqueezes(nn.Module):
    """wrong: squeezes the context, so an axis of size 1 (a batch of one, a text of one word, or d_out = 1) is lost."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        T = x.shape[1]
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2)
        scores = scores / math.sqrt(self.W_key.out_features)
        scores = scores.masked_fill(self.mask[:T, :T], -torch.inf)
        context = self.dropout(scores.softmax(dim=-1)) @ self.W_value(x)
        return context.squeeze()


class WrongAxisAndPlaceOfDropout(nn.Module):
    """wrong: two mistakes: softmax over the queries (dim 1), not over the keys, and dropout on the context, not on the weights."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).triu(1).bool())

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = q @ k.transpose(1, 2) / math.sqrt(k.shape[-1])
        scores = scores.masked_fill(self.mask[:T, :T], -torch.inf)
        weights = torch.softmax(scores, dim=1)
        return self.dropout(weights @ v)


ANSWERS = [
    RightMaskInForward,
    RightAddedBuffer,
    RightRowByRow,
    WrongDropoutOnScores,
    WrongMaskAfterSoftmax,
    WrongAlwaysBias,
    WrongMaskStaysBehind,
    WrongRootOfInputWidth,
    WrongDropsInEval,
    WrongFirstSequenceMasked,
    WrongSqueezes,
    WrongAxisAndPlaceOfDropout,
]
