"""helpers.models.latent_attention: two ways, one result, and the reference's."""

import functools
import re

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from helpers import checks
from helpers.models.latent_attention import (
    LatentCache,
    MultiHeadLatentAttention,
    token_bytes,
)

B, T, C, H, D, L, R = 2, 7, 15, 3, 4, 6, 2
CONTEXT = 11


def layer(**options):
    torch.manual_seed(3)
    sizes = {"latent_dim": L, "rotary_dim": R, "head_dim": D}
    made = MultiHeadLatentAttention(C, H, CONTEXT, **sizes | options).double()
    with torch.no_grad():  # no gain of 1
        made.latent_norm.weight.add_(torch.randn(L) / 4)
    return made


def tokens(*shape):
    generator = torch.Generator().manual_seed(4)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def test_both_ways_give_one_result_forward_and_backward():
    made, x = layer(), tokens(B, T, C).requires_grad_()
    arriving = tokens(B, T, C)
    sides = []
    for absorbed in (False, True):
        output, weights = made(x, absorbed=absorbed, return_weights=True)
        inputs = [x, *made.parameters()]
        sides.append([output, weights, *torch.autograd.grad(output, inputs, arriving)])
    for plain, absorbed in zip(*sides, strict=True):
        assert_close(absorbed, plain, atol=1e-12, rtol=0)
    assert sides[0][1].shape == (B, H, T, T)
    assert_close(sides[0][1].sum(-1), torch.ones(B, H, T, dtype=torch.float64))


@pytest.mark.parametrize("absorbed", [False, True], ids=["plain", "absorbed"])
def test_a_cache_gives_what_reading_at_once_gives(absorbed):
    made, x = layer(), tokens(B, T, C)
    expected, weights = made(x, return_weights=True)
    cache = made.new_cache()
    pieces = [
        made(piece, absorbed=absorbed, cache=cache)
        for piece in x.split([3, 1, 2, 1], 1)
    ]
    assert_close(torch.cat(pieces, dim=1), expected, atol=1e-12, rtol=0)
    assert cache.length == T
    assert cache.bytes == 8 * B * T * (L + R)
    again = made.new_cache()
    made(x[:, :-1], cache=again)
    _, last = made(x[:, -1:], absorbed=absorbed, cache=again, return_weights=True)
    assert_close(last, weights[:, :, -1:], atol=1e-12, rtol=0)


def test_it_is_its_formula():
    """Section 2.1 by loops: each head, each query, each key that it may see."""
    made, x = layer(), tokens(B, T, C)
    weights = {name: one.detach() for name, one in made.named_parameters()}
    of_queries = weights["W_query.weight"].unflatten(0, (H, D + R))
    of_keys = weights["W_key.weight"].unflatten(0, (H, D))
    of_values = weights["W_value.weight"].unflatten(0, (H, D))
    pairs = torch.arange(R // 2, dtype=torch.float64)

    def turned(vector, place):
        angles = place * 10_000.0 ** (-2 * pairs / R)
        turn = torch.polar(torch.ones_like(angles), angles)
        both = torch.complex(*vector.chunk(2)) * turn
        return torch.cat([both.real, both.imag])

    def latent(token):
        c = weights["W_latent.weight"] @ token
        return c / (c.square().mean() + 1e-6).sqrt() * weights["latent_norm.weight"]

    expected = torch.zeros(B, T, H, D, dtype=torch.float64)
    for b in range(B):
        for t in range(T):
            for h in range(H):
                query = of_queries[h] @ x[b, t]
                scores, values = [], []
                for s in range(t + 1):
                    c = latent(x[b, s])
                    key = turned(weights["W_rotary.weight"] @ x[b, s], s)
                    score = query[:D] @ (of_keys[h] @ c) + turned(query[D:], t) @ key
                    scores.append(score / (D + R) ** 0.5)
                    values.append(of_values[h] @ c)
                shares = torch.stack(scores).softmax(0)
                expected[b, t, h] = shares @ torch.stack(values)
    output = expected.flatten(2) @ weights["out_proj.weight"].T
    assert_close(made(x), output, atol=1e-12, rtol=0)


@pytest.mark.parametrize("interleaved", [False, True])
def test_it_is_the_attention_of_deepseek_v3(interleaved):
    """transformers' own, with this layer's weights; it rounds to float32 in places."""
    modeling = pytest.importorskip(
        "transformers.models.deepseek_v3.modeling_deepseek_v3"
    )
    config = modeling.DeepseekV3Config(
        hidden_size=C,
        num_attention_heads=H,
        num_key_value_heads=H,
        kv_lora_rank=L,
        q_lora_rank=None,
        qk_rope_head_dim=4,
        qk_nope_head_dim=D,
        v_head_dim=D,
        rope_interleave=interleaved,
    )
    config._attn_implementation = "eager"
    made = layer(rotary_dim=4)
    theirs = modeling.DeepseekV3Attention(config, 0).double().eval()
    pairs = torch.tensor([0, 2, 1, 3] if interleaved else range(4))  # of features

    def laid_out(weight, front):
        """Their rows, of whose last four those that make a pair stand side by side."""
        return torch.cat(
            [weight[..., :front, :], weight[..., front:, :][..., pairs, :]], -2
        )

    state = made.state_dict()
    of_heads = {
        name: state[f"W_{name}.weight"].unflatten(0, (H, -1))
        for name in ("key", "value", "query")
    }
    theirs.load_state_dict(
        {
            "q_proj.weight": laid_out(of_heads["query"], D).flatten(0, 1),
            "kv_a_proj_with_mqa.weight": torch.cat(
                [state["W_latent.weight"], laid_out(state["W_rotary.weight"], 0)]
            ),
            "kv_a_layernorm.weight": state["latent_norm.weight"],
            "kv_b_proj.weight": torch.cat(
                [of_heads["key"], of_heads["value"]], dim=1
            ).flatten(0, 1),
            "o_proj.weight": state["out_proj.weight"],
        }
    )
    x, places = tokens(B, T, C), torch.arange(T)[None]
    turns = modeling.DeepseekV3RotaryEmbedding(config)(x, places)
    hidden = torch.full((T, T), -torch.inf, dtype=torch.float64).triu(1)
    with torch.no_grad():
        for exact in (False, True):
            if exact:  # in float64 throughout: norm, angles and softmax
                config._attn_implementation = "sdpa"
                norm = nn.RMSNorm(L, eps=1e-6, dtype=torch.float64)
                norm.weight.data = state["latent_norm.weight"]
                theirs.kv_a_layernorm = norm
                angles = torch.outer(
                    places[0].double(),
                    10_000.0 ** -torch.tensor([0.0, 0.5], dtype=torch.float64),
                )
                angles = torch.cat([angles, angles], dim=-1)[None]
                turns = angles.cos(), angles.sin()
            found = theirs(x, turns, hidden)[0]
            limit = 1e-12 if exact else 1e-5
            for absorbed in (False, True):
                assert_close(made(x, absorbed=absorbed), found, atol=limit, rtol=0)


def test_gradients_are_those_of_a_tiny_change():
    made, x = layer(), tokens(1, 3, C).requires_grad_()
    for absorbed in (False, True):
        one_way = functools.partial(made, absorbed=absorbed)
        assert torch.autograd.gradcheck(one_way, x)


def test_the_future_changes_nothing_before_it():
    made, x = layer(), tokens(B, T, C)
    changed = x.clone()
    changed[:, -1] += 1
    for absorbed in (False, True):
        before, after = (made(one, absorbed=absorbed) for one in (x, changed))
        assert torch.equal(before[:, :-1], after[:, :-1])
        assert not torch.allclose(before[:, -1], after[:, -1])


def test_scores_know_the_distance_alone():
    """Two equal texts, one behind other tokens: the rotary part sees how far."""
    made, x = layer(), tokens(B, 3, C)
    cache = made.new_cache()
    made(tokens(B, 4, C), cache=cache)
    _, later = made(x, cache=cache, return_weights=True)
    _, first = made(x, return_weights=True)
    seen = later[..., 4:]
    assert_close(seen / seen.sum(-1, keepdim=True), first, atol=1e-12, rtol=0)


def test_the_audit_passes_it():
    torch.manual_seed(5)
    made = MultiHeadLatentAttention(24, 6, 10, latent_dim=8, rotary_dim=2)

    def step(made, x, cache):
        cache = made.new_cache() if cache is None else cache
        return made(x, absorbed=True, cache=cache), cache

    required = ("cache", "distances")
    found = checks.audit(made, 24, 10, positions="rotary", step=step, require=required)
    assert found.ok, found.failed


def test_half_precision_and_a_device_without_memory():
    made = layer().to(torch.bfloat16)
    assert made(tokens(B, T, C).bfloat16()).dtype == torch.bfloat16
    empty = layer().to("meta")
    assert empty(torch.empty(B, T, C, dtype=torch.float64, device="meta")).shape == (
        B,
        T,
        C,
    )


SIZES = {"d_model": C, "num_heads": H, "context_length": CONTEXT} | {
    "latent_dim": L,
    "rotary_dim": R,
    "head_dim": D,
}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("value", [0, -1, 2.0, True, "3", (4,)])
def test_bad_sizes_are_named(name, value):
    options = SIZES | {name: value}
    with pytest.raises(ValueError, match=f"^{name} must .*{re.escape(repr(value))}"):
        MultiHeadLatentAttention(**options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rotary_dim": 3}, "rotary_dim must be even.*3"),
        ({"head_dim": None, "num_heads": 4}, "num_heads .*d_model.*15"),
        ({"rotary_base": 0}, "rotary_base must .*0"),
    ],
    ids=["odd", "heads", "base"],
)
def test_sizes_that_do_not_fit_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        MultiHeadLatentAttention(**SIZES | change)


def test_bad_input_is_named():
    made = layer()
    full = made.new_cache()
    made(tokens(B, 8, C), cache=full)
    narrow = made.new_cache()
    made(tokens(B, 2, C).float().double(), cache=narrow)
    for x, options, message in (
        (tokens(B, T, C + 1), {}, r"x .*15 wide.*\(2, 7, 16\)"),
        (tokens(T, C), {}, r"x must have shape .*B, T, C\), got \(7, 15\)"),
        (tokens(B, 12, C), {}, "T = 12 tokens, 1 more than context_length 11"),
        (tokens(B, 5, C), {"cache": full}, "T = 5 tokens behind the 8 in the cache, 2"),
        (tokens(3, 2, C), {"cache": full}, r"number of texts \(B\).*"),
        (tokens(B, T, C), {"cache": []}, "cache must be a LatentCache, got list"),
    ):
        with pytest.raises(ValueError, match=message):
            made(x, **options)
    assert full.length == 8
    with pytest.raises(ValueError, match="dtype"):
        narrow.extend(torch.zeros(B, 1, L), torch.zeros(B, 1, R))
    assert LatentCache().bytes == 0


def test_bytes_are_those_of_real_caches():
    found = token_bytes(
        *(128, 128),
        num_kv_heads=8,
        latent_dim=512,
        rotary_dim=64,
        num_layers=61,
    )
    assert found == {
        "MHA": 61 * 65_536,
        "GQA": 61 * 4_096,
        "MQA": 61 * 512,
        "MLA": 61 * 1_152,
    }
    made, x = layer(), tokens(B, T, C)
    cache = made.new_cache()
    made(x, cache=cache)
    sizes = {"num_kv_heads": 1, "latent_dim": L, "rotary_dim": R, "bytes_each": 8}
    assert cache.bytes == B * T * token_bytes(H, D, **sizes)["MLA"]
    with pytest.raises(
        ValueError, match=r"num_kv_heads must divide num_heads = 3, got 2"
    ):
        token_bytes(H, D, **sizes | {"num_kv_heads": 2})
    with pytest.raises(ValueError, match=r"bytes_each must .*0"):
        token_bytes(H, D, **sizes | {"bytes_each": 0})
