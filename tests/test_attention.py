"""helpers.attention against oracles and by its properties.

Sizes differ, so that a swapped axis fails: B, T, S, H, D = 2, 5, 7, 3, 4.
"""

import copy
import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers import attention
from helpers.attention import (
    CausalAttention,
    CrossAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttentionV1,
    SelfAttentionV2,
    causal_mask,
    dot_product_scores,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    softmax,
    split_heads,
)

B, T, S, H, D, D_V = 2, 5, 7, 3, 4, 6
C = H * D
D_IN, CONTEXT_LENGTH = 8, 9


def make_modules(dropout=0.0):
    """One of each self-attention module, on (B, T, D_IN)."""
    torch.manual_seed(0)
    return {
        "V1": SelfAttentionV1(D_IN, C),
        "V2": SelfAttentionV2(D_IN, C, qkv_bias=True),
        "causal": CausalAttention(D_IN, C, CONTEXT_LENGTH, dropout),
        "wrapper": MultiHeadAttentionWrapper(D_IN, D, CONTEXT_LENGTH, dropout, H),
        "split": MultiHeadAttention(D_IN, C, CONTEXT_LENGTH, dropout, H),
        "fused": MultiHeadAttention(D_IN, C, CONTEXT_LENGTH, dropout, H, fused=True),
    }


CAUSAL = ("causal", "wrapper", "split", "fused")
ALL = ("V1", "V2", *CAUSAL)


def tokens(*shape, **options):
    torch.manual_seed(1)
    return torch.randn(*(shape or (B, T, D_IN)), **options)


def largest(tensor):
    return tensor.abs().max().item()


def parts(dtype=torch.float32):
    """Queries, keys and values with a head axis."""
    torch.manual_seed(2)
    return (
        torch.randn(B, H, T, D, dtype=dtype),
        torch.randn(B, H, S, D, dtype=dtype),
        torch.randn(B, H, S, D_V, dtype=dtype),
    )


def attention_by_loops(queries, keys, values, mask=None):
    """One number at a time, for (T, D), (S, D), (S, D_v)."""
    rows, contexts = [], []
    for i, query in enumerate(queries):
        scores = []
        for j, key in enumerate(keys):
            score = sum(q * k for q, k in zip(query, key, strict=True))
            allowed = mask is None or mask[i, j]
            scores.append(score / math.sqrt(len(query)) if allowed else None)
        largest = max(score.item() for score in scores if score is not None)
        powers = [0 * query[0] if s is None else (s - largest).exp() for s in scores]
        row = [power / sum(powers) for power in powers]
        rows.append(torch.stack(row))
        contexts.append(sum(w * v for w, v in zip(row, values, strict=True)))
    return torch.stack(contexts), torch.stack(rows)


# --- functions ---------------------------------------------------------------------


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


def test_causal_mask_of_the_last_queries_continues_the_text():
    assert causal_mask(2, 5).equal(causal_mask(5)[3:])


@pytest.mark.parametrize("kind", [list, torch.tensor])
def test_padding_mask_hides_what_lies_behind_the_end(kind):
    mask = padding_mask(kind([3, 1]), 4)
    assert mask.tolist() == [[[True, True, True, False]], [[True, False, False, False]]]


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
    torch.manual_seed(3)
    mask = torch.rand(shape) < 0.6
    mask[..., 0] = True
    context, weights = scaled_dot_product_attention(queries, keys, values, mask=mask)
    expected = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    torch.testing.assert_close(context, expected)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, T))
    assert (weights[~mask.expand_as(weights)] == 0).all()


def test_attention_gradient_by_finite_differences():
    inputs = [x[:1, :1].requires_grad_() for x in parts(torch.float64)]

    def context(*parts):
        return scaled_dot_product_attention(*parts, mask=causal_mask(T, S))[0]

    assert torch.autograd.gradcheck(context, inputs)


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
    scaled_dot_product_attention(*parts_of_ones())
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


# --- modules -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ALL)
def test_module_shapes_with_and_without_weights(name):
    module, x = make_modules()[name], tokens()
    output, weights = module(x, return_weights=True)
    assert output.shape == (B, T, C)
    heads = () if name in ("V1", "V2", "causal") else (H,)
    assert weights.shape == (B, *heads, T, T)
    torch.testing.assert_close(module(x), output)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, *heads, T))


@pytest.mark.parametrize("name", ALL)
def test_module_takes_any_leading_axes(name):
    module, x = make_modules()[name], tokens(3, B, T, D_IN)
    torch.testing.assert_close(module(x)[2, 1], module(x[2, 1]))


@pytest.mark.parametrize("name", CAUSAL)
def test_changed_future_leaves_the_past_as_it_was(name):
    module, x = make_modules()[name], tokens()
    changed = x.clone()
    changed[:, 3:] += 10.0
    before, after = module(x), module(changed)
    torch.testing.assert_close(before[:, :3], after[:, :3], rtol=0, atol=0)
    assert (before[:, 3:] - after[:, 3:]).abs().min() > 0


@pytest.mark.parametrize("name", CAUSAL)
def test_jacobian_of_outputs_by_inputs_is_lower_triangular(name):
    module, x = make_modules()[name].double(), tokens(T, D_IN, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(module, x)  # (T, C, T, D_IN)
    reach = jacobian.abs().amax(dim=(1, 3))
    assert (reach.triu(1) == 0).all()
    assert (reach.tril() + torch.ones(T, T).triu(1) > 0).all()


@pytest.mark.parametrize("name", ["V1", "V2"])
def test_without_mask_attention_is_permutation_equivariant(name):
    module, x = make_modules()[name], tokens()
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(module(x[:, order]), module(x)[:, order])


@pytest.mark.parametrize("name", CAUSAL)
@pytest.mark.parametrize("length", [1, T, CONTEXT_LENGTH])
def test_causal_modules_take_every_length_up_to_context_length(name, length):
    module, x = make_modules()[name], tokens(B, CONTEXT_LENGTH, D_IN)
    torch.testing.assert_close(module(x[:, :length]), module(x)[:, :length])


@pytest.mark.parametrize("name", CAUSAL)
def test_weights_hold_the_mask_and_dropout_that_the_output_used(name):
    module = make_modules(dropout=0.5)[name].train()
    x = tokens()
    output, weights = module(x, return_weights=True)
    assert (weights.triu(1) == 0).all()
    dropped = (weights.tril() == 0).sum() - (weights == 0).triu(1).sum()
    assert dropped > 0
    if name == "causal":
        expected = weights @ module.W_value(x)
    elif name == "wrapper":
        heads = [weights[:, h] @ head.W_value(x) for h, head in enumerate(module.heads)]
        expected = torch.cat(heads, dim=-1)
    else:
        values = split_heads(module.W_value(x), H)
        expected = module.out_proj(merge_heads(weights @ values))
    torch.testing.assert_close(output, expected)


@pytest.mark.parametrize("name", CAUSAL)
def test_dropout_acts_in_train_and_not_in_eval(name):
    module, x = make_modules(dropout=0.5)[name], tokens()
    module.train()
    assert not module(x).equal(module(x))
    module.eval()
    assert module(x).equal(module(x))
    torch.testing.assert_close(module(x), make_modules()[name](x))


@pytest.mark.parametrize("name", CAUSAL)
def test_dropout_keeps_the_expected_weights(name):
    module, x = make_modules(dropout=0.5)[name].train(), tokens(1, T, D_IN)
    many = x.expand(4000, T, D_IN)
    _, sampled = module(many, return_weights=True)
    _, full = module.eval()(x, return_weights=True)
    torch.testing.assert_close(sampled.mean(0), full[0], rtol=0, atol=0.06)


@pytest.mark.parametrize("name", CAUSAL)
def test_the_mask_is_a_buffer_that_is_not_saved(name):
    module = make_modules()[name]
    assert not [key for key in module.state_dict() if key.endswith("mask")]
    assert [key for key, _ in module.named_buffers() if key.endswith("mask")]


@pytest.mark.parametrize("name", CAUSAL)
def test_a_saved_mask_of_another_book_still_loads_strictly(name):
    module = nn.Sequential(make_modules()[name])
    state = {key: torch.ones_like(value) for key, value in module.state_dict().items()}
    triu = torch.triu(torch.ones(CONTEXT_LENGTH, CONTEXT_LENGTH), diagonal=1)
    prefixes = [f"0.heads.{h}." for h in range(H)] if name == "wrapper" else ["0."]
    foreign = state | {f"{prefix}mask": triu for prefix in prefixes}
    module.load_state_dict(foreign, strict=True)
    assert all(value.eq(1).all() for value in module.state_dict().values())
    assert len(foreign) == len(state) + len(prefixes)
    with pytest.raises(RuntimeError, match="unknown"):
        module.load_state_dict(state | {"0.unknown": triu}, strict=True)


@pytest.mark.parametrize("name", ALL)
def test_modules_run_wholly_on_another_device(name):
    # The meta device stands in for a GPU: mixing it with the CPU is an error.
    module = make_modules()[name].to("meta")
    output, weights = module(tokens().to("meta"), return_weights=True)
    assert output.is_meta
    assert weights.is_meta


@pytest.mark.parametrize("name", ALL)
def test_modules_run_in_bfloat16(name):
    module = make_modules()[name]
    expected = module(tokens())
    output = module.bfloat16()(tokens().bfloat16())
    assert output.dtype == torch.bfloat16
    assert largest(output.float() - expected) <= 2e-2 * largest(expected)


@pytest.mark.parametrize("name", ALL)
def test_modules_run_under_autocast(name):
    module = make_modules()[name]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = module(tokens())
    expected = module(tokens())
    assert largest(output.float() - expected) <= 2e-2 * largest(expected)


# --- equivalences ------------------------------------------------------------------


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


# --- where values of a mask cannot be looked at ------------------------------------


def test_empty_rows_are_not_looked_for_on_the_meta_device():
    queries, keys, values = (x.to("meta") for x in parts())
    mask = torch.zeros(T, S, dtype=torch.bool, device="meta")
    context, _ = scaled_dot_product_attention(queries, keys, values, mask=mask)
    assert context.shape == (B, H, T, D_V)


def test_a_mask_can_be_mapped_by_vmap():
    queries, keys, values = (x[0, 0] for x in parts())
    masks = torch.stack([causal_mask(T, S), torch.ones(T, S, dtype=torch.bool)])

    def attend(mask):
        return scaled_dot_product_attention(queries, keys, values, mask=mask)[0]

    expected = torch.stack([attend(mask) for mask in masks])
    torch.testing.assert_close(torch.vmap(attend)(masks), expected)


def test_modules_can_be_exported():
    module = make_modules()["split"]
    exported = torch.export.export(module, (tokens(),)).module()
    torch.testing.assert_close(exported(tokens()), module(tokens()))


@pytest.mark.parametrize("name", ALL)
def test_modules_compile_into_one_graph(name):
    module = make_modules()[name]
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(tokens()), module(tokens()))


def test_a_mask_can_be_given_under_compile():
    def attend(*parts):
        return scaled_dot_product_attention(*parts, mask=causal_mask(T, S))[0]

    compiled = torch.compile(attend, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(*parts()), attend(*parts()))


def test_every_public_name_is_documented_with_its_source():
    names = [
        name
        for name, value in vars(attention).items()
        if not name.startswith("_")
        and getattr(value, "__module__", "") == attention.__name__
    ]
    assert len(names) == 13
    for name in names:
        documentation = getattr(attention, name).__doc__
        assert "Source: " in documentation
        assert "Raises:" in documentation
