"""Causal layers, each with one mistake."""

import math

import torch
from torch import nn


class Layer(nn.Module):
    """A causal layer, written so that each mistake changes one method."""

    always: bool | None = None  # what it takes for qkv_bias, whatever it is given
    future: torch.Tensor

    def __init__(self, d_in, d_out, context_length, dropout, qkv_bias=False):
        super().__init__()
        bias = qkv_bias if self.always is None else self.always
        self.W_query = nn.Linear(d_in, d_out, bias=bias)
        self.W_key = nn.Linear(d_in, d_out, bias=bias)
        self.W_value = nn.Linear(d_in, d_out, bias=bias)
        self.dropout = nn.Dropout(dropout)
        self.scale = math.sqrt(d_out)
        future = torch.ones(context_length, context_length).triu(1).bool()
        self.register_buffer("future", future)

    def hidden(self, T, scores):
        return self.future[:T, :T]

    def weights(self, scores):
        hidden = self.hidden(scores.shape[-1], scores)
        return (scores / self.scale).masked_fill(hidden, -math.inf).softmax(-1)

    def drop(self, weights):
        return self.dropout(weights)

    def forward(self, x):
        scores = self.W_query(x) @ self.W_key(x).transpose(-2, -1)
        return self.drop(self.weights(scores)) @ self.W_value(x)


class Uncut(Layer):
    """Its mask keeps all its rows and columns, however short the text is."""

    def hidden(self, T, scores):
        return self.future


class Forgetful(Layer):
    """It hides nothing."""

    def weights(self, scores):
        return (scores / self.scale).softmax(-1)


class OnTheProcessor(Layer):
    """Its mask stays on the CPU."""

    def hidden(self, T, scores):
        return torch.ones(T, T).triu(1).bool()


class Unscaled(Layer):
    """It divides by 1."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.scale = 1.0


class ScaledByInput(Layer):
    """It divides by the square root of d_in."""

    def __init__(self, d_in, *rest):
        super().__init__(d_in, *rest)
        self.scale = math.sqrt(d_in)


class Zeroing(Layer):
    """It hides after softmax."""

    def weights(self, scores):
        return (scores / self.scale).softmax(-1).tril()


class Undropped(Layer):
    """It never drops."""

    def drop(self, weights):
        return weights


class AlwaysDropping(Layer):
    """It drops in eval mode, too."""

    def drop(self, weights):
        return nn.functional.dropout(weights, self.dropout.p)


class DropsValues(Layer):
    """It drops features of the values."""

    def forward(self, x):
        scores = self.W_query(x) @ self.W_key(x).transpose(-2, -1)
        return self.weights(scores) @ self.dropout(self.W_value(x))


class DropsScores(Layer):
    """It drops before softmax."""

    def forward(self, x):
        scores = self.dropout(self.W_query(x) @ self.W_key(x).transpose(-2, -1))
        return self.weights(scores) @ self.W_value(x)


class Biased(Layer):
    """It has biases, asked for or not."""

    always = True


class Turned(Layer):
    """It keeps with the probability of dropping."""

    def __init__(self, d_in, d_out, context_length, dropout, *bias):
        super().__init__(d_in, d_out, context_length, 1 - dropout, *bias)


class OverQueries(Layer):
    """Its columns sum to 1."""

    def weights(self, scores):
        hidden = self.hidden(scores.shape[-1], scores)
        return (scores / self.scale).masked_fill(hidden, -math.inf).softmax(-2)
