"""Bad input: a ValueError that names the argument, what came, and what is needed."""

import math
import re

import pytest
import torch

from helpers import attention
from helpers.attention import (
    CausalAttention,
    CrossAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttentionV1,
    SelfAttentionV2,
)

T, S, D = 5, 7, 4
Q, K, V = torch.randn(T, D), torch.randn(S, D), torch.randn(S, 6)
X = torch.randn(2, T, 8)
MODULES = {
    "V1": lambda: SelfAttentionV1(8, 12),
    "V2": lambda: SelfAttentionV2(8, 12),
    "causal": lambda: CausalAttention(8, 12, 6, 0.0),
    "wrapper": lambda: MultiHeadAttentionWrapper(8, 4, 6, 0.0, 3),
    "split": lambda: MultiHeadAttention(8, 12, 6, 0.0, 3),
    "fused": lambda: MultiHeadAttention(8, 12, 6, 0.0, 3, fused=True),
}
ONE_HEAD = {"d_in": 8, "d_out": 12, "context_length": 6, "dropout": 0.0}
ACROSS = {"d_query": 8, "d_memory": 6, "d_out": 12, "dropout": 0.0}
BIAS = {"qkv_bias": False}
GOOD_OPTIONS = {
    SelfAttentionV1: {"d_in": 8, "d_out": 12},
    SelfAttentionV2: {"d_in": 8, "d_out": 12} | BIAS,
    CausalAttention: ONE_HEAD | BIAS,
    MultiHeadAttentionWrapper: ONE_HEAD | {"num_heads": 3} | BIAS,
    MultiHeadAttention: ONE_HEAD | {"num_heads": 3, "fused": False} | BIAS,
    CrossAttention: ACROSS | {"num_heads": 3} | BIAS,
}
NOT_SIZES = (0, -6, 2.5, 12.0, True, None, "8", [8], torch.tensor(8))
NOT_NUMBERS = (True, False, None, "0", torch.tensor(0.1))
NOT_PROBABILITIES = (1.0, 1.5, -0.1, math.nan, *NOT_NUMBERS)
NOT_BOOLEANS = (0, 1, 1.0, None, "yes", torch.tensor(True))


def attend(queries=Q, keys=K, values=V, **options):
    return attention.scaled_dot_product_attention(queries, keys, values, **options)


def attend_in_batches(**options):
    return attend(*(x.expand(2, 3, *x.shape) for x in (Q, K, V)), **options)


def attend_across(x=X, memory=X, mask=None):
    return CrossAttention(8, 8, 12, 0.0, 3)(x, memory, mask)


def open_mask(*shape):
    return torch.ones(*shape, dtype=torch.bool)


def empty_row():
    mask = open_mask(T, S)
    mask[3] = False
    return mask


CASES = {
    "rank of queries": (lambda: attend(Q[0]), r"queries .*\(\.\.\., T, D\).*\(4,\)"),
    "rank of keys": (lambda: attend(keys=K[0]), r"keys .*\(\.\.\., S, D\).*\(4,\)"),
    "rank of values": (
        lambda: attend(values=V[0]),
        r"values .*\(\.\.\., S, D_v\).*\(6,\)",
    ),
    "no queries": (
        lambda: attend(Q[:0]),
        r"queries .*at least one position \(T\).*\(0, 4\)",
    ),
    "no keys": (
        lambda: attend(keys=K[:0], values=V[:0]),
        r"keys .*at least one position \(S\).*\(0, 4\)",
    ),
    "no keys to score": (
        lambda: attention.dot_product_scores(Q, K[:0]),
        r"keys .*at least one position \(S\).*\(0, 4\)",
    ),
    "widths of scores": (
        lambda: attention.dot_product_scores(Q, K[:, :3]),
        r"queries and keys .*\(D\).*\(5, 4\).*\(7, 3\)",
    ),
    "widths": (
        lambda: attend(keys=K[:, :3]),
        r"queries and keys .*\(D\).*\(5, 4\).*\(7, 3\)",
    ),
    "number of values": (
        lambda: attend(values=V[:6]),
        r"keys and values .*\(S\).*\(7, 4\).*\(6, 6\)",
    ),
    "leading axes": (
        lambda: attend(Q.expand(2, T, D), K.expand(3, S, D)),
        r"queries and keys .*leading axes.*\(2, 5, 4\).*\(3, 7, 4\)",
    ),
    "a broadcast that would work": (
        lambda: attend(Q.expand(2, T, D)),
        r"leading axes.*\(2, 5, 4\).*\(7, 4\)",
    ),
    "leading axes of values": (
        lambda: attend(values=V.expand(2, S, 6)),
        r"keys and values .*leading axes.*\(7, 4\).*\(2, 7, 6\)",
    ),
    "values without leading axes": (
        lambda: attend(Q.expand(2, T, D), K.expand(2, S, D)),
        r"keys and values .*leading axes.*\(2, 7, 4\).*\(7, 6\)",
    ),
    "integers": (lambda: attend(Q.long()), r"queries .*floating.*int64.*\(5, 4\)"),
    "short integers": (lambda: attend(Q.int()), r"queries .*floating.*int32"),
    "booleans": (lambda: attend(Q > 0), r"queries .*floating.*bool"),
    "complex numbers": (lambda: attend(Q.cfloat()), r"queries .*floating.*complex64"),
    "integer values": (lambda: attend(values=V.long()), r"values .*floating.*int64"),
    "integer scores": (
        lambda: attention.softmax(torch.arange(3)),
        r"scores .*floating.*int64.*\(3,\)",
    ),
    "no tensor": (lambda: attend(Q.tolist()), r"queries .*torch\.Tensor.*list"),
    "no values": (lambda: attend(values=None), r"values .*torch\.Tensor.*NoneType"),
    "a list of heads to split": (
        lambda: attention.split_heads(Q.tolist(), 2),
        r"x .*torch\.Tensor.*list",
    ),
    "a list of heads to merge": (
        lambda: attention.merge_heads([Q, Q]),
        r"heads .*torch\.Tensor.*list",
    ),
    "two dtypes": (
        lambda: attend(keys=K.double()),
        r"queries and keys .*dtype.*float32.*float64",
    ),
    "dtype of values": (
        lambda: attend(values=V.double()),
        r"queries and values .*dtype.*float32.*float64",
    ),
    "two devices": (
        lambda: attend(keys=K.to("meta")),
        r"queries and keys .*device.*cpu.*meta",
    ),
    "device of values": (
        lambda: attend(values=V.to("meta")),
        r"queries and values .*device.*cpu.*meta",
    ),
    "nothing to weigh": (
        lambda: attention.softmax(torch.empty(3, 0)),
        r"scores .*\(3, 0\)",
    ),
    "softmax over an axis too many": (
        lambda: attention.softmax(Q, dim=2),
        r"scores .*dim 2.*\(5, 4\)",
    ),
    "softmax over an axis too low": (
        lambda: attention.softmax(Q, dim=-3),
        r"scores .*dim -3.*\(5, 4\)",
    ),
    "empty row": (
        lambda: attend(mask=empty_row()),
        r"mask .*\(5, 7\).*attend to nothing.*\[3\]",
    ),
    "numbers as mask": (
        lambda: attend(mask=torch.zeros(T, S)),
        r"mask .*boolean.*True = may attend.*float32",
    ),
    "bytes as mask": (
        lambda: attend(mask=open_mask(T, S).byte()),
        r"mask .*boolean.*uint8",
    ),
    "a list as mask": (
        lambda: attend(mask=open_mask(T, S).tolist()),
        r"mask .*boolean.*list",
    ),
    "mask of another shape": (
        lambda: attend(mask=empty_row().T),
        r"mask .*\(5, 7\).*\(7, 5\)",
    ),
    "mask of one row": (
        lambda: attend(mask=empty_row()[0]),
        r"mask .*\(5, 7\).*\(7,\)",
    ),
    "mask of other queries": (
        lambda: attend(mask=open_mask(T - 1, S)),
        r"mask .*\(5, 7\).*\(4, 7\)",
    ),
    "mask with axes too many": (
        lambda: attend(mask=open_mask(1, 1, T, S)),
        r"mask .*\(5, 7\).*\(1, 1, 5, 7\)",
    ),
    "mask of other heads": (
        lambda: attend_in_batches(mask=open_mask(2, 2, T, S)),
        r"mask .*\(2, 3, 5, 7\).*\(2, 2, 5, 7\)",
    ),
    "mask of other sequences": (
        lambda: attend_in_batches(mask=open_mask(3, 1, T, S)),
        r"mask .*\(2, 3, 5, 7\).*\(3, 1, 5, 7\)",
    ),
    "mask for each head without a batch": (
        lambda: attend_in_batches(mask=open_mask(3, T, S)),
        r"mask .*\(2, 3, 5, 7\).*\(3, 5, 7\)",
    ),
    "mask for each sequence without heads": (
        lambda: attend_in_batches(mask=attention.padding_mask([S, 3], S)),
        r"mask .*\(2, 3, 5, 7\).*\(2, 1, 7\)",
    ),
    "mask with one key for all": (
        lambda: attend(mask=open_mask(T, 1)),
        r"mask .*\(5, 7\).*\(5, 1\)",
    ),
    "mask elsewhere": (
        lambda: attend(mask=empty_row().to("meta")),
        r"mask .*meta.*cpu",
    ),
    "S below T": (lambda: attention.causal_mask(5, 4), r"S .*at least T.*5.*4"),
    "S of 0": (lambda: attention.causal_mask(5, 0), r"S .*at least 1.*0"),
    "S that isn't whole": (
        lambda: attention.causal_mask(5, 7.0),
        r"S .*integer.*7\.0",
    ),
    "lengths": (
        lambda: attention.padding_mask([3, 8], 7),
        r"lengths .*1 to S = 7.*\[3, 8\]",
    ),
    "lengths that aren't whole": (
        lambda: attention.padding_mask(torch.ones(2), 7),
        r"lengths .*whole.*float32.*\(2,\)",
    ),
    "a length of 0": (
        lambda: attention.padding_mask([3, 0], 7),
        r"lengths\[1\] .*at least 1.*0",
    ),
    "a length of 0 in a tensor": (
        lambda: attention.padding_mask(torch.tensor([0, 3]), 7),
        r"lengths .*1 to S = 7.*\[0, 3\]",
    ),
    "a length one beyond S in bytes": (
        lambda: attention.padding_mask(torch.tensor([255]).byte(), 254),
        r"lengths .*1 to S = 254.*\[255\]",
    ),
    "a length that no integer tensor holds": (
        lambda: attention.padding_mask([2**70], 7),
        r"lengths .*1 to S = 7.*1180591620717411303424",
    ),
    "a length that isn't whole": (
        lambda: attention.padding_mask((3.0,), 7),
        r"lengths\[0\] .*integer.*3\.0",
    ),
    "a boolean length": (
        lambda: attention.padding_mask([True], 7),
        r"lengths\[0\] .*integer.*True",
    ),
    "boolean lengths": (
        lambda: attention.padding_mask(open_mask(2), 7),
        r"lengths .*whole.*bool.*\(2,\)",
    ),
    "complex lengths": (
        lambda: attention.padding_mask(torch.tensor([3j]), 7),
        r"lengths .*whole.*complex64",
    ),
    "no lengths": (
        lambda: attention.padding_mask(None, 7),
        r"lengths .*list.*NoneType",
    ),
    "a number as lengths": (lambda: attention.padding_mask(3, 7), r"lengths .*int"),
    "lengths without an axis": (
        lambda: attention.padding_mask(torch.tensor(3), 7),
        r"lengths .*\(B,\).*\(\)",
    ),
    "lengths with two axes": (
        lambda: attention.padding_mask(torch.tensor([[3]]), 7),
        r"lengths .*\(B,\).*\(1, 1\)",
    ),
    "num_heads": (
        lambda: attention.split_heads(Q, 3),
        r"num_heads .*divide C.*3.*4",
    ),
    "rank of x": (lambda: attention.split_heads(Q[0], 2), r"x .*T, C.*\(4,\)"),
    "rank of heads": (
        lambda: attention.merge_heads(Q),
        r"heads .*H, T, D.*\(5, 4\)",
    ),
    "num_heads of a module": (
        lambda: MultiHeadAttention(8, 12, 6, 0.0, 5),
        r"num_heads .*divide d_out.*5.*12",
    ),
    "num_heads of cross-attention": (
        lambda: CrossAttention(8, 6, 12, 0.0, 5),
        r"num_heads .*divide d_out.*5.*12",
    ),
    "cross-attention's x": (
        lambda: CrossAttention(6, 8, 12, 0.0, 3)(X, X),
        r"x .*6 wide \(d_query\).*\(2, 5, 8\)",
    ),
    "cross-attention's memory": (
        lambda: CrossAttention(8, 6, 12, 0.0, 3)(X, X),
        r"memory .*6 wide \(d_memory\).*\(2, 5, 8\)",
    ),
    "cross-attention's batches": (
        lambda: attend_across(memory=X[:1]),
        r"x and memory .*leading axes.*\(2, 5, 8\).*\(1, 5, 8\)",
    ),
    "cross-attention's empty memory": (
        lambda: attend_across(memory=X[:, :0]),
        r"memory .*at least one position \(S\).*\(2, 0, 8\)",
    ),
    "a list as cross-attention's memory": (
        lambda: attend_across(memory=X.tolist()),
        r"memory .*torch\.Tensor.*list",
    ),
    "cross-attention's memory of another dtype": (
        lambda: attend_across(memory=X.double()),
        r"memory .*weights.*dtype.*float64.*float32",
    ),
    "cross-attention's mask for other queries": (
        lambda: attend_across(memory=torch.randn(2, S, 8), mask=open_mask(S, S)),
        r"mask .*\(2, 5, 7\).*\(7, 7\)",
    ),
    "cross-attention's mask with some leading axes": (
        lambda: attend_across(
            X.expand(3, 2, T, 8), X.expand(3, 2, T, 8), open_mask(2, T, T)
        ),
        r"mask .*\(3, 2, 5, 5\).*\(2, 5, 5\)",
    ),
    "cross-attention's mask": (
        lambda: attend_across(mask=~open_mask(2, 1, T)),
        r"mask .*attend to nothing.*\[0, 0\]",
    ),
    "cross-attention's mask with heads": (
        lambda: attend_across(mask=open_mask(2, 3, T, T)),
        r"mask .*\(2, 5, 5\).*\(2, 3, 5, 5\)",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_named(case):
    call, message = CASES[case]
    with pytest.raises(ValueError, match=message):
        call()


def refuses(name, value, call):
    with pytest.raises(ValueError, match=f"^{name} .*{re.escape(repr(value))}"):
        call(value)


@pytest.mark.parametrize(
    ("module", "option"),
    [(module, option) for module, good in GOOD_OPTIONS.items() for option in good],
)
def test_bad_options_are_named_by_every_module(module, option):
    bad = {"dropout": NOT_PROBABILITIES}
    bad |= dict.fromkeys(("qkv_bias", "fused"), NOT_BOOLEANS)

    def make(value):
        return module(**GOOD_OPTIONS[module] | {option: value})

    make(GOOD_OPTIONS[module][option])
    for value in bad.get(option, NOT_SIZES):
        refuses(option, value, make)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("T", attention.causal_mask),
        ("S", lambda S: attention.padding_mask([1], S)),
        ("num_heads", lambda num_heads: attention.split_heads(Q, num_heads)),
    ],
    ids=["T", "S", "num_heads"],
)
def test_bad_sizes_are_named_by_the_functions(name, call):
    for value in NOT_SIZES:
        refuses(name, value, call)


def test_a_bad_probability_is_named():
    for value in NOT_PROBABILITIES:
        refuses("dropout_p", value, lambda p: attend(dropout_p=p))


@pytest.mark.parametrize("dim", [None, 1.0, True, "0", (0,)])
def test_an_axis_that_is_not_whole_is_named(dim):
    refuses("dim", dim, lambda dim: attention.softmax(Q, dim=dim))


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(
    ("x", "message"),
    [
        (X[0, 0], r"x .*\(\.\.\., T, d_in\).*\(8,\)"),
        (X[:, :0], r"x .*at least one position \(T\).*\(2, 0, 8\)"),
        (X.tolist(), r"x .*torch\.Tensor.*list"),
        (X[..., :7], r"x .*8 wide \(d_in\).*\(2, 5, 7\)"),
        (X.long(), r"x .*floating.*int64.*\(2, 5, 8\)"),
        (X.double(), r"x .*weights.*dtype.*float64.*float32"),
        (X.to("meta"), r"x .*weights.*device.*meta.*cpu"),
    ],
    ids=["rank", "empty", "list", "width", "integers", "dtype", "device"],
)
def test_bad_tokens_are_named_by_every_module(name, x, message):
    with pytest.raises(ValueError, match=message):
        MODULES[name]()(x)


@pytest.mark.parametrize("name", MODULES)
def test_tokens_in_float64_are_named_under_autocast_too(name):
    module = MODULES[name]()
    with (
        torch.autocast("cpu", dtype=torch.bfloat16),
        pytest.raises(ValueError, match=r"x .*weights.*dtype.*float64.*float32"),
    ):
        module(X.double())


@pytest.mark.parametrize("excess", [1, 2])
@pytest.mark.parametrize("name", ["causal", "wrapper", "split", "fused"])
def test_too_many_tokens_are_counted(name, excess):
    T = 6 + excess
    message = rf"T = {T} tokens, {excess} more than context_length 6.*\(2, {T}, 8\)"
    with pytest.raises(ValueError, match=message):
        MODULES[name]()(torch.randn(2, T, 8))
