"""Bad input: a ValueError that names the argument, what came, and what is needed."""

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


def attend(queries=Q, keys=K, values=V, **options):
    return attention.scaled_dot_product_attention(queries, keys, values, **options)


def empty_row():
    mask = torch.ones(T, S, dtype=torch.bool)
    mask[3] = False
    return mask


CASES = {
    "rank of queries": (lambda: attend(Q[0]), r"queries .*\(\.\.\., T, D\).*\(4,\)"),
    "rank of values": (lambda: attend(values=V[0]), r"values .*\(S?.*\(6,\)"),
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
    "integers": (lambda: attend(Q.long()), r"queries .*floating.*int64.*\(5, 4\)"),
    "integer scores": (
        lambda: attention.softmax(torch.arange(3)),
        r"scores .*floating.*int64.*\(3,\)",
    ),
    "no tensor": (lambda: attend(Q.tolist()), r"queries .*torch\.Tensor.*list"),
    "two dtypes": (
        lambda: attend(keys=K.double()),
        r"queries and keys .*dtype.*float32.*float64",
    ),
    "two devices": (
        lambda: attend(keys=K.to("meta")),
        r"queries and keys .*device.*cpu.*meta",
    ),
    "nothing to weigh": (
        lambda: attention.softmax(torch.empty(3, 0)),
        r"scores .*\(3, 0\)",
    ),
    "softmax over an axis too many": (
        lambda: attention.softmax(Q, dim=2),
        r"scores .*dim 2.*\(5, 4\)",
    ),
    "dropout_p": (lambda: attend(dropout_p=1.5), r"dropout_p .*\[0, 1\).*1\.5"),
    "dropout_p of 1": (lambda: attend(dropout_p=1.0), r"dropout_p .*\[0, 1\).*1\.0"),
    "empty row": (
        lambda: attend(mask=empty_row()),
        r"mask .*\(5, 7\).*attend to nothing.*\[3\]",
    ),
    "numbers as mask": (
        lambda: attend(mask=torch.zeros(T, S)),
        r"mask .*boolean.*True = may attend.*float32",
    ),
    "mask of another shape": (
        lambda: attend(mask=empty_row().T),
        r"mask .*\(5, 7\).*\(7, 5\)",
    ),
    "mask of one row": (
        lambda: attend(mask=empty_row()[0]),
        r"mask .*\(5, 7\).*\(7,\)",
    ),
    "mask with one key for all": (
        lambda: attend(mask=torch.ones(T, 1, dtype=torch.bool)),
        r"mask .*\(5, 7\).*\(5, 1\)",
    ),
    "mask elsewhere": (
        lambda: attend(mask=empty_row().to("meta")),
        r"mask .*meta.*cpu",
    ),
    "T": (lambda: attention.causal_mask(0), r"T .*at least 1.*0"),
    "T that isn't whole": (lambda: attention.causal_mask(2.0), r"T .*integer.*2\.0"),
    "S below T": (lambda: attention.causal_mask(5, 3), r"S .*5.*3"),
    "lengths": (
        lambda: attention.padding_mask([3, 8], 7),
        r"lengths .*1 to S = 7.*\[3, 8\]",
    ),
    "length of 0": (lambda: attention.padding_mask([0], 7), r"lengths\[0\] .*at least 1.*0"),
    "lengths that aren't whole": (
        lambda: attention.padding_mask(torch.ones(2), 7),
        r"lengths .*whole.*float32.*\(2,\)",
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
    "no head": (lambda: MultiHeadAttentionWrapper(8, 4, 6, 0.0, 0), r"num_heads .*0"),
    "num_heads of cross-attention": (
        lambda: CrossAttention(8, 6, 12, 0.0, 5),
        r"num_heads .*divide d_out.*5.*12",
    ),
    "dropout": (lambda: CausalAttention(8, 12, 6, 1.5), r"dropout .*\[0, 1\).*1\.5"),
    "dropout of many heads": (
        lambda: MultiHeadAttention(8, 12, 6, -0.1, 3),
        r"dropout .*-0\.1",
    ),
    "context_length": (
        lambda: CausalAttention(8, 12, 0, 0.0),
        r"context_length .*at least 1.*0",
    ),
    "d_in": (lambda: SelfAttentionV1(0, 2), r"d_in .*at least 1.*0"),
    "d_out": (lambda: SelfAttentionV2(2, 2.5), r"d_out .*integer.*2\.5"),
    "d_context": (lambda: CrossAttention(8, -6, 12, 0.0, 3), r"d_context .*-6"),
    "cross-attention's x": (
        lambda: CrossAttention(6, 8, 12, 0.0, 3)(X, X),
        r"x .*6 wide \(d_query\).*\(2, 5, 8\)",
    ),
    "cross-attention's context": (
        lambda: CrossAttention(8, 6, 12, 0.0, 3)(X, X),
        r"context .*6 wide \(d_context\).*\(2, 5, 8\)",
    ),
    "cross-attention's batches": (
        lambda: CrossAttention(8, 8, 12, 0.0, 3)(X, X[:1]),
        r"x and context .*leading axes.*\(2, 5, 8\).*\(1, 5, 8\)",
    ),
    "cross-attention's mask": (
        lambda: CrossAttention(8, 8, 12, 0.0, 3)(
            X, X, torch.zeros(2, 1, T, dtype=torch.bool)
        ),
        r"mask .*attend to nothing.*\[0, 0\]",
    ),
    "cross-attention's mask with heads": (
        lambda: CrossAttention(8, 8, 12, 0.0, 3)(
            X, X, torch.ones(2, 3, T, T, dtype=torch.bool)
        ),
        r"mask .*\(2, 5, 5\).*\(2, 3, 5, 5\)",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_bad_input_is_named(case):
    call, message = CASES[case]
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize(
    ("x", "message"),
    [
        (X[0, 0], r"x .*\(\.\.\., T, d_in\).*\(8,\)"),
        (X[..., :7], r"x .*8 wide \(d_in\).*\(2, 5, 7\)"),
        (X.long(), r"x .*floating.*int64.*\(2, 5, 8\)"),
        (X.double(), r"x .*weights.*dtype.*float64.*float32"),
        (X.to("meta"), r"x .*weights.*device.*meta.*cpu"),
    ],
    ids=["rank", "width", "integers", "dtype", "device"],
)
def test_bad_tokens_are_named_by_every_module(name, x, message):
    with pytest.raises(ValueError, match=message):
        MODULES[name]()(x)


@pytest.mark.parametrize("name", ["causal", "wrapper", "split", "fused"])
def test_too_many_tokens_are_counted(name):
    message = r"T = 8 tokens, 2 more than context_length 6.*\(2, 8, 8\)"
    with pytest.raises(ValueError, match=message):
        MODULES[name]()(torch.randn(2, 8, 8))
