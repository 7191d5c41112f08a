import math

import torch
from torch import nn
from torch.nn import functional as F

from helpers import attention


class CausalWithBuffer(nn.Module):
    """right: keeps the mask as a buffer, cuts it to T, and drops weights after softmax."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer(
            "mask", torch.triu(torch.ones(context_length, context_length), diagonal=1)
        )

    def forward(self, x):
        b, num_tokens, d_in = x.shape
        keys = self.W_key(x)
        queries = self.W_query(x)
        values = self.W_value(x)
        attn_scores = queries @ keys.transpose(1, 2)
        attn_scores = attn_scores.masked_fill(
            self.mask.bool()[:num_tokens, :num_tokens], -torch.inf
        )
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        attn_weights = self.dropout(attn_weights)
        return attn_weights @ values


class CausalOnTheFly(nn.Module):
    """right: makes the mask in forward, on the device of x, with the book's causal_mask."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(d_in, d_out, qkv_bias))
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x):
        T = x.size(1)
        q, k, v = self.W_query(x), self.W_key(x), self.W_value(x)
        s = torch.einsum("btd,bsd->bts", q, k) / math.sqrt(self.d_out)
        s[:, ~attention.causal_mask(T, device=x.device)] = float("-inf")
        return self.drop(s.softmax(-1)) @ v


class CausalPlainMask(nn.Module):
    """wrong: the mask is a plain attribute, no buffer, so it stays on the CPU when the layer is moved to another device."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.mask = torch.tril(torch.ones(context_length, context_length)).bool()

    def forward(self, x):
        T = x.shape[1]
        q = self.W_query(x)
        k = self.W_key(x)
        v = self.W_value(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1])
        scores = torch.where(self.mask[:T, :T], scores, -math.inf)
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ v


class CausalFullMask(nn.Module):
    """wrong: doesn't cut the mask to T, so texts shorter than context_length give an error."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", attention.causal_mask(context_length))

    def forward(self, x):
        queries = self.W_query(x)
        keys = self.W_key(x)
        values = self.W_value(x)
        scores = queries @ keys.mT / self.d_out**0.5
        scores = scores.masked_fill(self.mask == 0, -torch.inf)
        weights = attention.softmax(scores)
        weights = self.dropout(weights)
        return weights @ values


class CausalAlwaysDrops(nn.Module):
    """wrong: F.dropout without training=self.training drops weights in eval mode, too (shows for dropout > 0 after eval())."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.p = dropout
        self.register_buffer("mask", attention.causal_mask(context_length))

    def forward(self, x):
        T = x.shape[1]
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = queries @ keys.transpose(1, 2) / math.sqrt(queries.shape[-1])
        scores = scores.masked_fill(~self.mask[:T, :T], float("-inf"))
        weights = F.dropout(torch.softmax(scores, dim=-1), self.p)
        return weights @ values


class CausalDropsContext(nn.Module):
    """wrong: sends the context through dropout, not the weights (shows in train mode with dropout > 0: numbers of the context are 0)."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        mask = torch.ones(context_length, context_length).triu(1).bool()
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.W_query(x)
        k = self.W_key(x)
        v = self.W_value(x)
        scores = torch.bmm(q, k.transpose(1, 2))
        scores.masked_fill_(self.mask[:T, :T], -torch.inf)
        weights = F.softmax(scores / k.shape[-1] ** 0.5, dim=-1)
        context = torch.bmm(weights, v)
        return self.dropout(context)


class CausalForgottenBias(nn.Module):
    """wrong: W_value ignores qkv_bias and so has nn.Linear's default bias, also where qkv_bias is False."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", attention.causal_mask(context_length))

    def forward(self, x):
        T = x.shape[-2]
        keys, queries, values = self.W_key(x), self.W_query(x), self.W_value(x)
        scores = queries @ keys.transpose(-2, -1)
        scores = scores / math.sqrt(keys.shape[-1])
        scores = scores.masked_fill(~self.mask[:T, :T], -math.inf)
        return self.dropout(attention.softmax(scores)) @ values


class CausalMaskAfterSoftmax(nn.Module):
    """wrong: softmax comes before the mask, and the rest isn't divided by its sum, so the weights of all rows but the last sum to less than 1."""

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)))

    def forward(self, x):
        n = x.shape[1]
        queries = self.W_query(x)
        keys = self.W_key(x)
        values = self.W_value(x)
        weights = torch.softmax(queries @ keys.transpose(1, 2) / keys.shape[2] ** 0.5, dim=-1)
        weights = weights * self.mask[:n, :n]
        weights = self.dropout(weights)
        return weights @ values


ANSWERS = [
    CausalWithBuffer,
    CausalOnTheFly,
    CausalPlainMask,
    CausalFullMask,
    CausalAlwaysDrops,
    CausalDropsContext,
    CausalForgottenBias,
    CausalMaskAfterSoftmax,
]
