"""Causal weights, and a causal layer."""

import math

import torch
import torch.nn.functional as F
from torch import nn

# --- causal_weights -------------------------------------------------------------------


def weights_by_masked_fill(scores):
    T = scores.shape[-1]
    future = torch.triu(torch.ones(T, T), diagonal=1).bool()
    return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)


def weights_by_where(scores):
    places = torch.arange(scores.shape[-1])
    allowed = places[:, None] >= places
    scores = torch.where(allowed, scores, torch.tensor(-torch.inf))
    scores = scores - scores.amax(-1, keepdim=True)
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


def weights_by_loops(scores):
    weights = torch.zeros_like(scores)
    for t in range(scores.shape[-1]):
        weights[..., t, : t + 1] = torch.softmax(scores[..., t, : t + 1], dim=-1)
    return weights


def weights_by_addition(scores):
    T = scores.shape[-1]
    bias = torch.full((T, T), -torch.inf).triu(1)
    return F.softmax((scores + bias).double(), dim=-1)


def weights_in_place_on_a_copy(scores):
    scores = scores.clone()
    for t in range(scores.shape[-1]):
        scores[..., t, t + 1 :] = -torch.inf
    return scores.softmax(-1)


def weights_result_dropped(scores):
    T = scores.shape[-1]
    scores.masked_fill(torch.triu(torch.ones(T, T), 1).bool(), -torch.inf)
    return torch.softmax(scores, dim=-1)


def weights_inverted(scores):
    T = scores.shape[-1]
    return scores.masked_fill(torch.ones(T, T).tril() == 1, -torch.inf).softmax(-1)


def weights_zeroed(scores):
    return torch.tril(torch.softmax(scores, dim=-1))


def weights_renormalised(scores):
    weights = torch.tril(torch.softmax(scores, dim=-1))
    return weights / weights.sum(dim=-1, keepdim=True)


def weights_with_a_mask_of_scores(scores):
    return scores.masked_fill(torch.triu(scores, 1).bool(), -torch.inf).softmax(-1)


def weights_of_zeroed_scores(scores):
    return F.softmax(torch.tril(scores), dim=-1)


def weights_without_the_diagonal(scores):
    T = scores.shape[-1]
    return scores.masked_fill(torch.ones(T, T).triu().bool(), -torch.inf).softmax(-1)


def weights_over_the_queries(scores):
    T = scores.shape[-1]
    future = torch.ones(T, T).triu(1).bool()
    return torch.softmax(scores.masked_fill(future, -torch.inf), dim=-2)


def weights_one_too_many(scores):
    T = scores.shape[-1]
    return scores.masked_fill(torch.ones(T, T).triu(2).bool(), -torch.inf).softmax(-1)


def weights_scaled_again(scores):
    T = scores.shape[-1]
    future = torch.ones(T, T).triu(1).bool()
    return (scores / 2**0.5).masked_fill(future, -torch.inf).softmax(-1)


def weights_with_a_finite_mask(scores):
    T = scores.shape[-1]
    return scores.masked_fill(torch.ones(T, T).triu(1).bool(), -10.0).softmax(-1)


def weights_with_one_maximum(scores):
    scores = scores.masked_fill(torch.ones_like(scores).triu(1) == 1, -torch.inf)
    powers = torch.exp(scores - scores.max())
    return powers / powers.sum(dim=-1, keepdim=True)


def weights_times_infinity(scores):
    future = torch.triu(torch.ones_like(scores), diagonal=1)
    return torch.softmax(scores + future * -torch.inf, dim=-1)


# --- causal_attention -----------------------------------------------------------------


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


class NeverBiased(ByBuffer):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, dropout)


class BiasedOnce(ByBuffer):
    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__(d_in, d_out, context_length, dropout)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)


class DropsHalf(ByBuffer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.dropout = nn.Dropout()


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


class Forgetful(ByBuffer):
    def forward(self, x):
        T = x.shape[1]
        scores = self.W_query(x) @ self.W_key(x).transpose(1, 2) / self.d_out**0.5
        scores.masked_fill(self.mask[:T, :T] == 0, -torch.inf)
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


class ScaledByD(ByEinsum):
    def forward(self, x):
        queries, keys = self.W_query(x) / self.d_out, self.W_key(x)
        scores = torch.einsum("btd,bsd->bts", queries, keys)
        places = torch.arange(x.shape[1], device=x.device)
        scores = torch.where(places[:, None] >= places, scores, -torch.inf)
        weights = F.dropout(scores.softmax(-1), self.p, self.training)
        return weights @ self.W_value(x)


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


RIGHT = {
    "causal_weights": [
        weights_by_masked_fill,
        weights_by_where,
        weights_by_loops,
        weights_by_addition,
        weights_in_place_on_a_copy,
    ],
    "causal_attention": [ByBuffer, ByPyTorch, ByEinsum, InDouble, LooksAtItsNumbers],
}
WRONG = {
    "causal_weights": [
        (weights_result_dropped, "softmax without a mask"),
        (weights_inverted, "the mask with its meaning inverted"),
        (weights_zeroed, "weights zeroed after softmax, not divided by their sum"),
        (
            weights_renormalised,
            "weights zeroed after softmax, then divided by their sum",
        ),
        (
            weights_with_a_mask_of_scores,
            "a mask made of the scores, triu(scores).bool()",
        ),
        (weights_of_zeroed_scores, "scores set to 0 above the diagonal"),
        (weights_without_the_diagonal, "a mask that hides each token from itself"),
        (weights_over_the_queries, "softmax over the queries"),
        (weights_one_too_many, "a mask that opens one key of the future"),
        (weights_scaled_again, "scores that are scaled a second time"),
        (weights_with_one_maximum, "softmax with one maximum for all rows"),
        (weights_times_infinity, "minus infinity times 0"),
        (weights_with_a_finite_mask, None),
    ],
    "causal_attention": [
        (NotCut, "a layer whose mask is not cut to the number of tokens"),
        (Forgetful, "a layer without a mask"),
        (MaskOnTheCPU, "a layer that makes its mask on the CPU"),
        (Unscaled, "a layer without scaling"),
        (ScaledByD, "a layer that divides by D instead of its square root"),
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
        (DropsHalf, "a layer whose dropout is not the one that it is given"),
        (KeepsWithDropout, "a layer whose dropout is the probability of keeping"),
        (NeverBiased, "a layer that never has a bias"),
        (BiasedOnce, None),
        (DropsScores, "a layer that drops scores before softmax"),
        (WithBiases, "a layer with biases"),
        (OtherNames, None),
    ],
}
