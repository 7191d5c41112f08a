"""Ways to one result: loops, matrices, one head, many heads, fused, PyTorch's own."""

import copy

import pytest
import torch
from torch import nn

from helpers.attention import (
    CausalAttention,
    CrossAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttentionV1,
    SelfAttentionV2,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)
from tests.samples.attention import (
    CONTEXT_LENGTH,
    D_IN,
    B,
    C,
    D,
    H,
    S,
    T,
    attention_by_loops,
    largest,
    tokens,
)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(T,), (B, T), (B, 1), (3, B, CONTEXT_LENGTH)])
def test_fused_path_equals_explicit_path(shape, dtype, training):
    explicit = MultiHeadAttention(D_IN, C, CONTEXT_LENGTH, 0.0, H, qkv_bias=True)
    if not training:
        explicit.dropout.p = 0.5
    explicit = explicit.to(dtype).train(training)
    fused = copy.deepcopy(explicit)
    fused.fused = True
    torch.manual_seed(4)
    x, direction = torch.randn(*shape, D_IN), torch.randn(*shape, C)
    x, direction = x.to(dtype), direction.to(dtype)

    results = []
    for module in (explicit, fused):
        leaf = x.clone().requires_grad_()
        output = module(leaf)
        (output * direction).sum().backward()
        gradients = [leaf.grad, *(p.grad for p in module.parameters())]
        results.append((output.detach(), gradients))
    (one, one_gradients), (other, other_gradients) = results
    coarse = dtype == torch.bfloat16
    tolerance = 2e-2 * largest(one) if coarse else 1e-6
    assert largest(one - other) <= tolerance
    top = max(map(largest, one_gradients))
    for a, b in zip(one_gradients, other_gradients, strict=True):
        assert largest(a - b) <= (2e-2 if coarse else 5e-6) * top


def test_ladder_from_loops_to_pytorch():
    """Nine ways to one result, forward and backward, with the same weights."""
    torch.manual_seed(5)
    d_out = D
    queries_w, keys_w, values_w = torch.randn(3, D_IN, d_out, dtype=torch.float64)
    x = torch.randn(T, D_IN, dtype=torch.float64)
    direction = torch.randn(T, d_out, dtype=torch.float64)
    mask = causal_mask(T)

    def load(module):
        single = module.heads[0] if hasattr(module, "heads") else module
        for layer, weight in (
            (single.W_query, queries_w),
            (single.W_key, keys_w),
            (single.W_value, values_w),
        ):
            layer.weight.data = weight.T.clone()
        if hasattr(single, "out_proj"):
            single.out_proj.weight.data = torch.eye(d_out)
            single.out_proj.bias.data.zero_()
        return module.double()

    def by_prefixes(module):
        # The class without a mask, run on the first t words, gives causal row t.
        return lambda x: torch.stack([module(x[: t + 1])[t] for t in range(T)])

    v1 = SelfAttentionV1(D_IN, d_out).double()
    for name, weight in (("query", queries_w), ("key", keys_w), ("value", values_w)):
        getattr(v1, f"W_{name}").data = weight.clone()
    torch_module = nn.MultiheadAttention(d_out, 1, bias=True, dtype=torch.float64)
    torch_module = _torch_multihead(torch_module, queries_w, keys_w, values_w)

    rungs = {
        "loops": lambda x: attention_by_loops(
            x @ queries_w, x @ keys_w, x @ values_w, mask
        )[0],
        "matmul": lambda x: scaled_dot_product_attention(
            x @ queries_w, x @ keys_w, x @ values_w, mask=mask
        )[0],
        "V1": by_prefixes(v1),
        "V2": by_prefixes(load(SelfAttentionV2(D_IN, d_out))),
        "one-head causal": load(CausalAttention(D_IN, d_out, T, 0.0)),
        "wrapper": load(MultiHeadAttentionWrapper(D_IN, d_out, T, 0.0, 1)),
        "split": load(MultiHeadAttention(D_IN, d_out, T, 0.0, 1)),
        "fused": load(MultiHeadAttention(D_IN, d_out, T, 0.0, 1, fused=True)),
        "nn.MultiheadAttention": torch_module,
    }
    results = {}
    for name, rung in rungs.items():
        leaf = x.clone().requires_grad_()
        output = rung(leaf)
        (gradient,) = torch.autograd.grad((output * direction).sum(), leaf)
        results[name] = (output.detach(), gradient)
    for name, result in results.items():
        torch.testing.assert_close(
            result, results["loops"], msg=lambda m, n=name: n + m
        )


def _torch_multihead(module, queries_w, keys_w, values_w):
    """nn.MultiheadAttention wants equal widths, so the projections stand before it."""
    width = queries_w.shape[1]
    module.in_proj_weight.data = torch.eye(width).repeat(3, 1).double()
    module.in_proj_bias.data.zero_()
    module.out_proj.weight.data = torch.eye(width, dtype=torch.float64)
    module.out_proj.bias.data.zero_()

    def run(x):
        barred = ~causal_mask(len(x))  # there, True = may NOT attend
        parts = (x @ weight for weight in (queries_w, keys_w, values_w))
        return module(*parts, attn_mask=barred, need_weights=False)[0]

    return run


@pytest.mark.parametrize("bias", [True, False])
def test_many_heads_equal_the_wrapper_and_pytorch(bias):
    """H heads, weights included: wrapper = split = fused = nn.MultiheadAttention."""
    torch.manual_seed(6)
    split = MultiHeadAttention(C, C, T, 0.0, H, qkv_bias=bias).double()
    theirs = nn.MultiheadAttention(C, H, bias=True, batch_first=True).double()
    names = ("W_query", "W_key", "W_value")
    layers = [getattr(split, name) for name in names]
    theirs.in_proj_weight.data = torch.cat([layer.weight.data for layer in layers])
    if bias:
        theirs.in_proj_bias.data = torch.cat([layer.bias.data for layer in layers])
    theirs.out_proj.load_state_dict(split.out_proj.state_dict())
    wrapper = MultiHeadAttentionWrapper(C, D, T, 0.0, H, qkv_bias=bias).double()
    for h, head in enumerate(wrapper.heads):
        for name, layer in zip(names, layers, strict=True):
            rows = slice(h * D, (h + 1) * D)
            state = {key: value[rows] for key, value in layer.state_dict().items()}
            getattr(head, name).load_state_dict(state)

    x = tokens(B, T, C, dtype=torch.float64, requires_grad=True)
    direction = torch.randn(B, T, C, dtype=torch.float64)

    def gradients(output):
        leaves = (x, split.out_proj.weight)
        loss = (output * direction).sum()
        return torch.autograd.grad(loss, leaves, allow_unused=True)

    expected, expected_weights = theirs(
        x, x, x, attn_mask=~causal_mask(T), average_attn_weights=False
    )
    (expected_gradient, _) = gradients(expected)
    output, weights = split(x, return_weights=True)
    context, wrapper_weights = wrapper(x, return_weights=True)
    torch.testing.assert_close(weights, expected_weights)
    torch.testing.assert_close(wrapper_weights, weights)
    split.fused = True
    for result in (output, split.out_proj(context), split(x)):
        torch.testing.assert_close(result, expected)
        gradient, out_proj_gradient = gradients(result)
        torch.testing.assert_close(gradient, expected_gradient)
        assert out_proj_gradient.abs().max() > 0


@pytest.mark.parametrize("masked", [False, True])
def test_cross_attention_equals_pytorch(masked):
    torch.manual_seed(7)
    ours = CrossAttention(C, D_IN, C, 0.0, H, qkv_bias=True).double()
    theirs = nn.MultiheadAttention(C, H, kdim=D_IN, vdim=D_IN, batch_first=True)
    theirs = theirs.double()
    theirs.q_proj_weight.data = ours.W_query.weight.data
    theirs.k_proj_weight.data = ours.W_key.weight.data
    theirs.v_proj_weight.data = ours.W_value.weight.data
    theirs.in_proj_bias.data = torch.cat(
        [ours.W_query.bias.data, ours.W_key.bias.data, ours.W_value.bias.data]
    )
    theirs.out_proj.load_state_dict(ours.out_proj.state_dict())
    x = tokens(B, T, C, dtype=torch.float64)
    context = tokens(B, S, D_IN, dtype=torch.float64)
    mask = padding_mask([S, 3], S) if masked else None
    output, weights = ours(x, context, mask, return_weights=True)
    expected, expected_weights = theirs(
        x,
        context,
        context,
        key_padding_mask=~mask.squeeze(1) if masked else None,
        average_attn_weights=False,
    )
    assert weights.shape == (B, H, T, S)
    torch.testing.assert_close(output, expected)
    torch.testing.assert_close(weights, expected_weights)
    torch.testing.assert_close(ours(x, context, mask), output)


def test_cross_attention_ignores_what_the_mask_hides():
    torch.manual_seed(8)
    module = CrossAttention(C, D_IN, C, 0.0, H)
    x, context = tokens(B, T, C), tokens(B, S, D_IN)
    changed = context.clone()
    changed[1, 3:] = 99.0
    mask = padding_mask([S, 3], S)
    torch.testing.assert_close(module(x, context, mask), module(x, changed, mask))
    assert not module(x, context).equal(module(x, changed))
