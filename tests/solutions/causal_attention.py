"""A causal layer."""

import math

import torch
import torch.nn.functional as F
from torch import nn


class Projections(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.d_out, self.d_in, self.p = d_out, d_in, dropout


class ByBuffer(Projections):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, dropout, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.ones(context_length, context_length).tril())

    def forward(self, x):
        _, T, _ = x.shape
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2) / self.d_out**0.5
        scores = scores.masked_fill(self.mask[:T, :T] == 0, -torch.inf)
        return self.dropout(scores.softmax(-1)) @ self.W_value(x)


class ByPyTorch(Projections):
    def forward(self, x):
        return F.scaled_dot_product_attention(
            self.W_query(x),
            self.W_key(x),
            self.W_value(x),
            is_causal=True,
            dropout_p=self.p if self.training else 0.0,
        )


class ByEinsum(Projections):
    def forward(self, x):
        queries, keys = self.W_query(x) / math.sqrt(self.d_out), self.W_key(x)
        scores = torch.einsum("btd,bsd->bts", queries, keys)
        places = torch.arange(x.shape[1], device=x.device)
        scores = torch.where(places[:, None] >= places, scores, -torch.inf)
        weights = F.dropout(scores.softmax(-1), self.p, self.training)
        return torch.einsum("bts,bsd->btd", weights, self.W_value(x))


class InDouble(Projections):
    def forward(self, x):
        parts = (self.W_query(x), self.W_key(x), self.W_value(x))
        queries, keys, values = (part.double() for part in parts)
        scores = queries @ keys.mT / self.d_out**0.5
        future = torch.ones_like(scores).triu(1).bool()
        weights = scores.masked_fill(future, -torch.inf).softmax(-1)
        return F.dropout(weights, self.p, self.training) @ values


class LooksAtItsNumbers(ByBuffer):
    def forward(self, x):
        contexts = super().forward(x)
        assert not contexts.isnan().any()
        return contexts


class BiasedOnce(ByBuffer):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, dropout)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)


class KeepsWithDropout(ByBuffer):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, dropout, qkv_bias)
        self.dropout = nn.Dropout(1 - dropout)


class DropsContexts(Projections):
    def forward(self, x):
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        contexts = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return F.dropout(contexts, self.p, self.training)


class NotCut(ByBuffer):
    def forward(self, x):
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2) / self.d_out**0.5
        scores = scores.masked_fill(self.mask == 0, -torch.inf)
        return self.dropout(scores.softmax(-1)) @ self.W_value(x)


class MaskOnTheCPU(Projections):
    def forward(self, x):
        T = x.shape[1]
        mask = torch.tril(torch.ones(T, T)).bool()
        scores = self.W_query(x) @ self.W_key(x).mT / self.d_out**0.5
        weights = torch.where(mask, scores, torch.tensor(-torch.inf)).softmax(-1)
        return F.dropout(weights, self.p, self.training) @ self.W_value(x)


class Unscaled(ByPyTorch):
    def forward(self, x):
        queries = self.W_query(x) * self.d_out**0.5
        keys, values = self.W_key(x), self.W_value(x)
        p = self.p if self.training else 0.0
        return F.scaled_dot_product_attention(
            queries, keys, values, is_causal=True, dropout_p=p
        )


class ScaledByInputs(ByBuffer):
    def forward(self, x):
        T = x.shape[1]
        scores = self.W_query(x) @ self.W_key(x).mT / x.shape[-1] ** 0.5
        scores = scores.masked_fill(self.mask[:T, :T] == 0, -torch.inf)
        return self.dropout(scores.softmax(-1)) @ self.W_value(x)


class Zeroed(ByBuffer):
    def forward(self, x):
        T = x.shape[1]
        scores = self.W_query(x) @ self.W_key(x).mT / self.d_out**0.5
        return self.dropout(scores.softmax(-1) * self.mask[:T, :T]) @ self.W_value(x)


class NeverDrops(Projections):
    def forward(self, x):
        parts = (self.W_query(x), self.W_key(x), self.W_value(x))
        return F.scaled_dot_product_attention(*parts, is_causal=True)


class AlwaysDrops(Projections):
    def forward(self, x):
        parts = (self.W_query(x), self.W_key(x), self.W_value(x))
        return F.scaled_dot_product_attention(*parts, is_causal=True, dropout_p=self.p)


class DropsValues(ByBuffer):
    def forward(self, x):
        scores = self.W_query(x) @ self.W_key(x).mT / self.d_out**0.5
        hidden = self.mask[: x.shape[1], : x.shape[1]] == 0
        weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
        return weights @ self.dropout(self.W_value(x))


class DropsScores(ByBuffer):
    def forward(self, x):
        T = x.shape[1]
        scores = self.dropout(self.W_query(x) @ self.W_key(x).mT / self.d_out**0.5)
        scores = scores.masked_fill(self.mask[:T, :T] == 0, -torch.inf)
        return scores.softmax(-1) @ self.W_value(x)


class WithBiases(ByPyTorch):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=True):
        super().__init__(d_in, d_out, context_length, dropout, qkv_bias)


class OtherNames(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        self.q, self.k = nn.Linear(d_in, d_out), nn.Linear(d_in, d_out)

    def forward(self, x):
        queries, keys = self.q(x), self.k(x)
        return F.scaled_dot_product_attention(queries, keys, keys, is_causal=True)


RIGHT = [ByBuffer, ByPyTorch, ByEinsum, InDouble, LooksAtItsNumbers]
WRONG = [
    (NotCut, "a layer whose mask is not cut to the number of tokens"),
    (MaskOnTheCPU, "a layer that leaves a tensor, such as its mask, on the CPU"),
    (Unscaled, "a layer without scaling"),
    (ScaledByInputs, "a layer that divides by the square root of d_in"),
    (Zeroed, "a layer that zeroes the weights after softmax"),
    (NeverDrops, "a layer without dropout"),
    (AlwaysDrops, "a layer that drops weights in eval mode, too"),
    (
        DropsValues,
        "a layer that drops single features, of the values or of the context",
    ),
    (
        DropsContexts,
        "a layer that drops single features, of the values or of the context",
    ),
    (KeepsWithDropout, "a layer whose dropout is the probability of keeping"),
    (BiasedOnce, None),
    (DropsScores, "a layer that drops scores before softmax"),
    (WithBiases, "a layer with biases"),
    (OtherNames, None),
]
