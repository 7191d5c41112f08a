"""The modules of helpers.attention by their properties, and where they run."""

import copy
import pickle
import re
from unittest import mock

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from helpers import attention, validation
from helpers.attention import (
    CausalAttention,
    CrossAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttentionV2,
    merge_heads,
    split_heads,
)
from tests import ROOT
from tests.samples.attention import (
    ALL,
    CAUSAL,
    CONTEXT_LENGTH,
    D_IN,
    B,
    C,
    D,
    H,
    S,
    T,
    largest,
    make_cross_attention,
    make_modules,
    random_mask,
    tokens,
)


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
def test_weights_are_asked_for_by_keyword_only(name):
    with pytest.raises(TypeError, match=r"forward\(\).*positional"):
        make_modules()[name](tokens(), True)


@pytest.mark.parametrize("name", ALL)
def test_what_comes_in_is_checked_once(monkeypatch, name):
    spy = mock.Mock(wraps=validation.require_tokens)
    monkeypatch.setattr(validation, "require_tokens", spy)
    make_modules()[name](tokens(), return_weights=True)
    assert spy.call_count == (H if name == "wrapper" else 1)


def test_cross_attention_takes_the_mask_by_position_and_the_rest_by_keyword():
    module, x, memory = make_cross_attention(), tokens(B, T, C), tokens(B, S, D_IN)
    mask = random_mask(B, T, S)
    assert module(x, memory, mask).equal(module(x, memory, mask=mask))
    with pytest.raises(TypeError, match=r"forward\(\).*positional"):
        module(x, memory, mask, True)


def test_the_fused_path_is_asked_for_by_keyword_only():
    with pytest.raises(TypeError, match="positional"):
        MultiHeadAttention(D_IN, C, CONTEXT_LENGTH, 0.0, H, False, True)


@pytest.mark.parametrize(
    ("options", "later", "weights", "calls"),
    [
        ({}, None, False, 0),
        ({"fused": True}, None, False, 1),
        ({"fused": True}, None, True, 0),
        ({}, True, False, 1),
        ({"fused": True}, False, False, 0),
    ],
)
def test_the_path_is_the_one_that_was_asked_for(
    monkeypatch, options, later, weights, calls
):
    spy = mock.Mock(wraps=F.scaled_dot_product_attention)
    monkeypatch.setattr(F, "scaled_dot_product_attention", spy)
    module = MultiHeadAttention(D_IN, C, CONTEXT_LENGTH, 0.0, H, **options)
    if later is not None:
        module.fused = later
    module(tokens(), return_weights=weights)
    assert spy.call_count == calls
    for call in spy.call_args_list:  # with a mask it would be slower
        assert call.kwargs["is_causal"]
        assert call.kwargs.get("attn_mask") is None


@pytest.mark.parametrize(
    "make",
    [
        lambda **options: SelfAttentionV2(D_IN, C, **options),
        lambda **options: CausalAttention(D_IN, C, T, 0.0, **options),
        lambda **options: MultiHeadAttentionWrapper(
            D_IN, D, T, 0.0, 1, **options
        ).heads[0],
        lambda **options: MultiHeadAttention(D_IN, C, T, 0.0, H, **options),
        lambda **options: CrossAttention(C, D_IN, C, 0.0, H, **options),
    ],
    ids=["V2", "causal", "wrapper", "many heads", "cross"],
)
def test_the_projections_have_a_bias_only_where_one_is_asked_for(make):
    for options, biased in (({}, False), ({"qkv_bias": True}, True)):
        module = make(**options)
        for layer in (module.W_query, module.W_key, module.W_value):
            assert (layer.bias is not None) == biased
        if hasattr(module, "out_proj"):
            assert module.out_proj.bias is not None


def test_numpys_numbers_are_taken_as_sizes_and_as_probability():
    sizes = [np.int64(size) for size in (D_IN, C, CONTEXT_LENGTH)]
    module = MultiHeadAttention(*sizes, np.float32(0.0), np.int32(H))
    module.load_state_dict(make_modules()["split"].state_dict())
    assert module(tokens()).equal(make_modules()["split"](tokens()))
    MultiHeadAttention(D_IN, C, CONTEXT_LENGTH, 0, H)


@pytest.mark.parametrize("name", ALL)
def test_module_takes_any_leading_axes(name):
    module, x = make_modules()[name], tokens(3, B, T, D_IN)
    output, weights = module(x, return_weights=True)
    one, its_weights = module(x[2, 1], return_weights=True)
    torch.testing.assert_close(output[2, 1], one)
    torch.testing.assert_close(weights[2, 1], its_weights)


def test_cross_attention_takes_any_leading_axes():
    module, x = make_cross_attention(), tokens(3, B, T, C)
    memory, mask = tokens(3, B, S, D_IN), random_mask(3, B, T, S)
    output = module(x, memory, mask)
    one = module(x[2, 1], memory[2, 1], mask[2, 1])
    torch.testing.assert_close(output[2, 1], one)


def test_one_mask_without_leading_axes_serves_all_of_cross_attentions_batch():
    module, mask = make_cross_attention(), random_mask(T, S)
    x, memory = tokens(B, T, C), tokens(B, S, D_IN)
    output = module(x, memory, mask)
    assert output.equal(module(x, memory, mask.expand(B, T, S)))


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


def test_dropout_of_cross_attention_acts_in_train_and_not_in_eval():
    module, x, memory = make_cross_attention(0.5), tokens(B, T, C), tokens(B, S, D_IN)
    _, weights = module.train()(x, memory, return_weights=True)
    assert (weights == 0).any()
    assert (weights > 0).any()
    expected = make_cross_attention()(x, memory)
    torch.testing.assert_close(module.eval()(x, memory), expected)


@pytest.mark.parametrize("name", ["causal", "split", "fused"])
def test_the_dropout_layers_own_mode_decides(name):
    module, x = make_modules(dropout=0.5)[name].train(), tokens()
    module.dropout.eval()
    assert module(x).equal(module(x))
    module.eval().dropout.train()
    assert not module(x).equal(module(x))


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


def load_into_memory(module, state):
    module = module.to_empty(device="cpu")
    for buffer in module.buffers():
        buffer.fill_(True)  # new memory holds anything
    module.load_state_dict(state)
    return module


def load_by_assignment(module, state):
    module.load_state_dict(state, assign=True)
    return module


@pytest.mark.parametrize("load", [load_into_memory, load_by_assignment])
@pytest.mark.parametrize("name", CAUSAL)
def test_a_module_made_without_memory_has_its_mask_once_it_is_loaded(name, load):
    expected, x = make_modules()[name], tokens(B, CONTEXT_LENGTH, D_IN)
    with torch.device("meta"):
        empty = make_modules()[name]
    copied_before = load(copy.deepcopy(empty), expected.state_dict())
    module = load(empty, expected.state_dict())
    copied = copy.deepcopy(module)
    pickled = pickle.loads(pickle.dumps(module))
    for each in (copied_before, module, copied, pickled):
        assert each(x).equal(expected(x))
        assert each(x, return_weights=True)[1].triu(1).eq(0).all()


@pytest.mark.parametrize("name", CAUSAL)
def test_loading_leaves_the_mask_where_the_weights_are(name):
    module = make_modules()[name]
    with torch.device("meta"):  # stands in for another default device
        module.load_state_dict(module.state_dict())
    assert not any(buffer.is_meta for buffer in module.buffers())


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


@pytest.mark.parametrize("name", ALL)
def test_autocast_takes_tokens_of_its_own_dtype(name):
    module, x = make_modules()[name], tokens().bfloat16()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert module(x).shape == (B, T, C)
    with pytest.raises(ValueError, match=r"dtype.*bfloat16.*float32"):
        module(x)


def test_modules_can_be_exported():
    module = make_modules()["split"]
    exported = torch.export.export(module, (tokens(),)).module()
    torch.testing.assert_close(exported(tokens()), module(tokens()))


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", ALL)
def test_modules_compile_into_one_graph(name):
    module = make_modules()[name]
    compiled = torch.compile(module, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(tokens()), module(tokens()))


def test_a_layer_that_a_chapter_builds_is_a_class_of_that_chapter():
    layers = [one for one in vars(attention).values() if isinstance(one, type)]
    built = {}
    for layer in (one for one in layers if one.__module__ == attention.__name__):
        said = " ".join(layer.__doc__.split())
        for number in re.findall(r"Built by hand in chapters? (\d+)", said):
            [page] = (ROOT / "chapters").glob(f"{int(number):02}_*.ipynb")
            built[layer.__name__] = f'"class {layer.__name__}(' in page.read_text(
                "utf-8"
            )
    assert len(built) >= 4
    assert all(built.values()), built
