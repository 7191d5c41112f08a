"""Exercise of chapter 4: a causal layer."""

import math

import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.readers_layer import (
    first_output,
    repeats,
    trained_names,
    with_parameters,
)
from helpers.checks.stubs import attempted


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


def _layer_inputs():
    generator = torch.Generator().manual_seed(5)

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    def weights(d_in, d_out):
        names = ("W_query.weight", "W_key.weight", "W_value.weight")
        return {name: draw(d_out, d_in) for name in names}

    def case(name, x, parameters, context_length, use="eval"):
        arguments = {"x": x, "context_length": context_length}
        d_out, d_in = parameters["W_query.weight"].shape
        shown = {"d_in": d_in, "d_out": d_out} | arguments
        return Case(name, arguments | {"parameters": parameters, "use": use}, shown)

    small, wide = weights(3, 2), weights(4, 6)
    x = draw(2, 3, 4)
    return [
        case("two tokens, as many as the context", draw(1, 2, 3), small, 2),
        case("three tokens in a context of five", x, wide, 5),
        case("one token", draw(3, 1, 3), small, 4),
        case("inputs in the hundreds", 300 * draw(2, 4, 4), wide, 4),
        case("dropout 0.5", draw(2, 6, 3), small, 6, "dropout"),
        case("moved to another device", x, wide, 5, "device"),
        case("train mode, dropout 0", x, wide, 5, "no dropout"),
        case("its parameters", x, wide, 5, "parameters"),
        case("its biases, qkv_bias True", x, wide, 5, "biases"),
    ]


def _use_causal_attention(layer_class, x, context_length, parameters, use):
    d_out, d_in = parameters["W_query.weight"].shape
    dropout = 0.5 if use == "dropout" else 0.0
    sizes = (d_in, d_out, context_length, dropout)
    layer = layer_class(*sizes, True) if use == "biases" else layer_class(*sizes)
    layer = attempted(layer)
    lazy = any(isinstance(one, UninitializedParameter) for one in layer.parameters())
    if use != "device" or lazy:
        first_output(layer, x)
    if use in ("parameters", "biases"):
        ending = "bias" if use == "biases" else "weight"
        names = [one.replace("weight", ending) for one in parameters]
        trained = trained_names(layer, names)
        return [one for one in trained if use == "parameters" or one.endswith("bias")]
    layer = with_parameters(layer, parameters)
    if use == "device":
        return _shape_on_meta(layer, x)
    if use == "dropout":
        alone = x[:, :1]  # its one weight is 1
        contexts = torch.stack([layer(alone) for _ in range(20)])
        training = repeats(layer, x)
        layer.eval()
        return {
            "train mode repeats": training,
            "eval mode repeats": repeats(layer, x),
            "a single token gets, of its value": _share(contexts, layer(alone)),
        }
    return layer(x) if use == "no dropout" else layer.eval()(x)


class TwoDevices(RuntimeError):
    """What PyTorch says where tensors lie on two devices."""


def _shape_on_meta(layer, x):
    """The output's shape on a device without numbers; it fails where a GPU would."""
    try:
        return tuple(layer.to("meta")(x.to("meta")).shape)
    except RuntimeError as error:
        if "device" in str(error):
            raise TwoDevices(str(error)) from error
        if "item() cannot be called on meta" not in str(error):
            raise
    # A layer that looks at its numbers finds none there, which no GPU minds.
    return (*x.shape[:-1], layer.W_value.weight.shape[0])


def _share(contexts, undropped):
    """In words, what dropout of 0.5 has made of rows, beside those without it."""
    none = contexts == 0
    twice = torch.isclose(contexts, 2 * undropped, rtol=1e-4, atol=1e-6)
    if (none.all(dim=-1) | twice.all(dim=-1)).all():
        return "nothing, or twice all of it"
    if (none | twice).all():
        return "some features, doubled"
    same = torch.isclose(contexts, undropped, rtol=1e-4, atol=1e-6).all()
    return "all of it, always" if same else "something else"


EXERCISE = Exercise(
    name="causal_attention",
    stub="MyCausalAttention(d_in, d_out, context_length, dropout, qkv_bias)",
    asks=(
        "a class, not an instance: an ``nn.Module`` with linear layers ``W_query``, "
        "``W_key``, ``W_value`` that takes (B, T, d_in) for any T up to "
        "``context_length`` and returns (B, T, d_out)."
    ),
    returns={"context": "(B, T, d_out)"},
    reference=attention.CausalAttention,
    cases=_layer_inputs,
    run=_use_causal_attention,
    mistakes=(
        Mistake(
            "a layer whose mask is not cut to the number of tokens",
            Uncut,
            "The mask has context_length rows; three tokens need its first three rows "
            "and columns.",
        ),
        Mistake(
            "a layer that leaves a tensor, such as its mask, on the CPU",
            OnTheProcessor,
            "All is well until the layer moves: then tensors are on two devices. "
            "Register what the layer keeps as a buffer, or make it on the scores' "
            "device.",
        ),
        Mistake(
            "a layer without scaling",
            Unscaled,
            "Divide the scores by the square root of D; here D is d_out.",
        ),
        Mistake(
            "a layer that divides by the square root of d_in",
            ScaledByInput,
            "A score is a sum over the width of queries and keys, d_out; d_in has no "
            "part in it.",
        ),
        Mistake(
            "a layer that zeroes the weights after softmax",
            Zeroing,
            "The rows don't sum to 1, and their sums depend on the future.",
        ),
        Mistake(
            "a layer without dropout",
            Undropped,
            "In training, weights are dropped with probability dropout, after softmax.",
        ),
        Mistake(
            "a layer that drops weights in eval mode, too",
            AlwaysDropping,
            "F.dropout drops by default; hand it training=self.training, or use "
            "nn.Dropout, which knows.",
        ),
        Mistake(
            "a layer that drops single features, of the values or of the context",
            DropsValues,
            "nn.Dropout belongs on the weights: what is dropped is a token's whole "
            "share in the context, not single features.",
        ),
        Mistake(
            "a layer that drops scores before softmax",
            DropsScores,
            "A score of 0 is a score like another, and softmax gives it a weight. "
            "Dropout comes after softmax.",
        ),
        Mistake(
            "a layer whose dropout is the probability of keeping",
            Turned,
            "With dropout 0, yours drops everything in train mode. nn.Dropout takes "
            "the probability of dropping: hand it the layer's argument as it is.",
        ),
        Mistake(
            "a layer whose softmax runs over the queries",
            OverQueries,
            "Each row, one query's weights, must sum to 1: softmax runs over the last "
            "axis.",
        ),
        Mistake(
            "a layer with biases",
            Biased,
            "nn.Linear has a bias unless told otherwise; qkv_bias is False by default.",
        ),
    ),
)
