"""The functions of helpers.attention against oracles and by their properties."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

from helpers import attention
from helpers.attention import (
    causal_mask,
    dot_product_scores,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    softmax,
    split_heads,
)
from helpers.validation import unchecked
from tests.samples.attention import (
    D_V,
    B,
    C,
    D,
    H,
    S,
    T,
    attention_by_loops,
    largest,
    parts,
    random_mask,
    tokens,
)


def test_scores_are_dot_products_of_every_pair():
    queries, keys, _ = parts()
    scores = dot_product_scores(queries, keys)
    assert scores.shape == (B, H, T, S)
    for i in range(T):
        for j in range(S):
            one = (queries[1, 2, i] * keys[1, 2, j]).sum()
            torch.testing.assert_close(scores[1, 2, i, j], one)


@pytest.mark.parametrize("dim", [-1, 0, 1])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_softmax_equals_pytorch(dim, dtype):
    scores = tokens(T, S, D, dtype=dtype)
    torch.testing.assert_close(softmax(scores, dim), F.softmax(scores, dim))


def test_softmax_of_large_scores_stays_finite():
    scores = torch.tensor([[1e4, 0.0, -1e4], [-1e30, -1e30, -math.inf]])
    expected = torch.tensor([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    torch.testing.assert_close(softmax(scores), expected)


def test_softmax_gradient_by_finite_differences():
    scores = tokens(T, S, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(softmax, scores)
    assert torch.autograd.gradgradcheck(softmax, scores)


def test_softmax_gradient_where_two_scores_are_largest():
    scores = torch.tensor([1.0, 1.0, 0.0], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(softmax(scores)[0], scores)
    weights = softmax(scores.detach())
    jacobian = torch.diag(weights) - torch.outer(weights, weights)
    torch.testing.assert_close(gradient, jacobian[0])


def test_causal_mask_is_true_at_and_before_each_position():
    mask = causal_mask(T)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[j <= i for j in range(T)] for i in range(T)]


def test_masks_are_made_where_they_are_asked_for():
    assert causal_mask(2, 3, device="meta").is_meta
    assert padding_mask([3, 1], 4, device="meta").is_meta
    lengths = torch.tensor([3, 1])
    assert padding_mask(lengths, 4, device="meta").is_meta
    with torch.device("meta"):  # stands in for another default device
        assert padding_mask([3, 1], 4, device="cpu").device.type == "cpu"
        assert padding_mask(lengths, 4).device.type == "cpu"


def test_causal_mask_of_the_last_queries_continues_the_text():
    assert causal_mask(2, 5).equal(causal_mask(5)[3:])


@pytest.mark.parametrize("kind", [list, tuple, torch.tensor, torch.IntTensor])
def test_padding_mask_hides_what_lies_behind_the_end(kind):
    mask = padding_mask(kind([3, 1]), 4)
    assert mask.tolist() == [[[True, True, True, False]], [[True, False, False, False]]]


@pytest.mark.parametrize("S", [255, 256, 300])
def test_lengths_of_one_byte_can_be_compared_with_any_number_of_keys(S):
    lengths = torch.tensor([1, 200, 255], dtype=torch.uint8)
    assert padding_mask(lengths, S).sum(-1).tolist() == [[1], [200], [255]]


def test_lengths_can_be_numpys_integers():
    assert padding_mask([np.int64(2)], 3).tolist() == [[[True, True, False]]]


@pytest.mark.parametrize("masked", [False, True])
def test_attention_equals_loops(masked):
    queries, keys, values = (x[0, 0] for x in parts(torch.float64))
    mask = causal_mask(T, S) if masked else None
    computed = scaled_dot_product_attention(queries, keys, values, mask=mask)
    torch.testing.assert_close(
        computed, attention_by_loops(queries, keys, values, mask)
    )


@pytest.mark.parametrize(
    "shape", [(T, S), (1, S), (1, 1, 1, S), (B, 1, 1, S), (B, 1, T, S), (B, H, T, S)]
)
def test_attention_equals_pytorch_under_every_shape_of_mask(shape):
    queries, keys, values = parts()
    mask = random_mask(*shape)
    context, weights = scaled_dot_product_attention(queries, keys, values, mask=mask)
    expected = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    torch.testing.assert_close(context, expected)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, T))
    assert (weights[~mask.expand_as(weights)] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_masked_key_gets_no_weight_however_low_the_others_score(dtype):
    lowest = torch.finfo(dtype).min
    query = torch.ones(1, 1, dtype=dtype)
    keys = torch.tensor([[lowest], [1.0]], dtype=dtype)
    mask = torch.tensor([[True, False]])
    _, weights = scaled_dot_product_attention(query, keys, keys, mask=mask)
    assert weights.tolist() == [[1.0, 0.0]]


def test_large_queries_and_keys_of_float16_stay_finite():
    # 4 * 150² lies beyond float16's largest number, 65504; divided by √4 it doesn't.
    queries, keys, values = (x.half() for x in parts_of_ones())
    context, weights = scaled_dot_product_attention(150 * queries, 150 * keys, values)
    torch.testing.assert_close(weights, torch.full((T, S), 1 / S).half())
    torch.testing.assert_close(context, torch.ones(T, D_V).half())


def test_attention_gradient_by_finite_differences():
    inputs = [x[:1, :1].requires_grad_() for x in parts(torch.float64)]

    def context(*parts):
        return scaled_dot_product_attention(*parts, mask=causal_mask(T, S))[0]

    assert torch.autograd.gradcheck(context, inputs)


def test_the_weights_carry_a_gradient():
    queries, keys, values = parts()
    _, weights = scaled_dot_product_attention(queries.requires_grad_(), keys, values)
    (gradient,) = torch.autograd.grad(weights.square().sum(), queries)
    assert largest(gradient) > 0


def test_masked_keys_get_no_gradient():
    queries, keys, values = (x[0, 0].requires_grad_() for x in parts())
    mask = torch.ones(T, S, dtype=torch.bool)
    mask[:, -2:] = False
    context, _ = scaled_dot_product_attention(queries, keys, values, mask=mask)
    context.sum().backward()
    assert (keys.grad[-2:] == 0).all()
    assert (values.grad[-2:] == 0).all()
    assert (keys.grad[:-2] != 0).any()


def test_dropout_keeps_or_scales_each_weight_and_is_in_the_context():
    queries, keys, values = parts()
    _, full = scaled_dot_product_attention(queries, keys, values)
    context, weights = scaled_dot_product_attention(
        queries, keys, values, dropout_p=0.25
    )
    kept = weights != 0
    assert 0 < kept.sum() < kept.numel()
    torch.testing.assert_close(weights[kept], (full / 0.75)[kept])
    torch.testing.assert_close(context, weights @ values)


def test_without_dropout_the_random_stream_is_untouched():
    before = torch.get_rng_state()
    scaled_dot_product_attention(*parts_of_ones(), dropout_p=0)
    assert before.equal(torch.get_rng_state())


def parts_of_ones():
    return torch.ones(T, D), torch.ones(S, D), torch.ones(S, D_V)


def test_split_heads_puts_slices_of_features_into_heads():
    x = tokens(B, T, C)
    heads = split_heads(x, H)
    assert heads.shape == (B, H, T, D)
    for h in range(H):
        assert heads[:, h].equal(x[..., h * D : (h + 1) * D])


def test_merge_heads_undoes_split_heads():
    x = tokens(B, 1, T, C)
    assert merge_heads(split_heads(x, H)).equal(x)


def test_functions_leave_their_input_as_it_was():
    inputs = parts()
    copies = [x.clone() for x in inputs]
    mask = causal_mask(T, S)
    scaled_dot_product_attention(*inputs, mask=mask, dropout_p=0.5)
    softmax(inputs[0])
    split_heads(inputs[0], 2)
    assert all(x.equal(y) for x, y in zip(inputs, copies, strict=True))
    assert mask.equal(causal_mask(T, S))


# --- where values of a mask cannot be looked at ----------------------------------


def test_empty_rows_are_not_looked_for_on_the_meta_device():
    queries, keys, values = (x.to("meta") for x in parts())
    mask = torch.zeros(T, S, dtype=torch.bool, device="meta")
    context, _ = scaled_dot_product_attention(queries, keys, values, mask=mask)
    assert context.shape == (B, H, T, D_V)


def test_a_fake_mask_is_not_looked_at():
    with FakeTensorMode():
        mask = torch.zeros(T, S, dtype=torch.bool)
        context, _ = scaled_dot_product_attention(*parts(), mask=mask)
        assert padding_mask(torch.tensor([S, 3]), S).shape == (2, 1, S)
    assert context.shape == (B, H, T, D_V)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
def test_a_traced_mask_is_not_looked_at(mode):
    def attend(mask, *parts):
        return scaled_dot_product_attention(*parts, mask=mask)[0]

    mask, inputs = random_mask(T, S), parts()
    traced = make_fx(attend, tracing_mode=mode)(mask, *inputs)
    torch.testing.assert_close(traced(mask, *inputs), attend(mask, *inputs))


def test_a_mask_can_be_mapped_by_vmap():
    queries, keys, values = (x[0, 0] for x in parts())
    masks = torch.stack([causal_mask(T, S), torch.ones(T, S, dtype=torch.bool)])

    def attend(mask):
        return scaled_dot_product_attention(queries, keys, values, mask=mask)[0]

    expected = torch.stack([attend(mask) for mask in masks])
    torch.testing.assert_close(torch.vmap(attend)(masks), expected)


def loss_under_mask(queries, mask):
    keys, values = torch.eye(S, D), torch.eye(S, D_V)
    context, _ = scaled_dot_product_attention(queries, keys, values, mask=mask)
    return context.square().sum()


def test_gradients_can_be_mapped_together_with_their_masks():
    queries, masks = tokens(H, T, D), random_mask(H, T, S)
    gradient = torch.func.grad(loss_under_mask)
    expected = [gradient(q, mask) for q, mask in zip(queries, masks, strict=True)]
    computed = torch.func.vmap(gradient)(queries, masks)
    torch.testing.assert_close(computed, torch.stack(expected))


def test_an_empty_row_is_found_under_a_gradient():
    mask = random_mask(T, S)
    mask[3] = False
    with pytest.raises(ValueError, match=r"attend to nothing.*\[3\]"):
        torch.func.grad(loss_under_mask)(tokens(T, D), mask)


def test_lengths_can_be_mapped_by_vmap():
    lengths = torch.tensor([[3, 1], [2, 4]])
    masks = torch.vmap(lambda one: padding_mask(one, 4))(lengths)
    expected = torch.stack([padding_mask(one, 4) for one in lengths])
    assert masks.equal(expected)


@pytest.mark.parametrize(
    "make_mask",
    [lambda: causal_mask(T, S), lambda: padding_mask([S, 3], S).unsqueeze(1)],
    ids=["causal", "padding"],
)
def test_a_mask_can_be_made_and_given_under_compile(make_mask):
    def attend(*parts):
        return scaled_dot_product_attention(*parts, mask=make_mask())[0]

    compiled = torch.compile(attend, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(*parts()), attend(*parts()))


def test_behind_the_door_nothing_is_checked():
    whole = torch.arange(3)
    torch.testing.assert_close(unchecked(softmax)(whole), softmax(whole.float()))
    assert unchecked(unchecked(softmax)) is unchecked(softmax)


def test_every_public_name_is_documented_with_its_source():
    assert "raise a ValueError for bad input" in attention.__doc__
    names = [
        name
        for name, value in vars(attention).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "") == attention.__name__
    ]
    assert len(names) == 15
    for name in names:
        assert "Source: " in getattr(attention, name).__doc__
