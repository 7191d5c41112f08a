"""experiments.real_model.sinks: masks against naive loops, and a few real texts."""

import pytest
import torch

from experiments.real_model import (
    sink_controls,
    sink_texts,
    sink_weights,
    sinks,
    sliding_windows,
)
from experiments.real_model.attending import Masked, masked
from experiments.real_model.pretrained_models import smollm2
from helpers.attention import causal_mask
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, watched
from helpers.models.transformer_block import TransformerConfig
from tests.real_models import need

T, V, L = 7, 11, 2


@pytest.fixture
def tiny():
    torch.manual_seed(0)
    options = {"num_kv_heads": 2, "positions": "rotary", "mlp": False}
    return TransformerLM(TransformerConfig(V, T, 24, 4, L, **options)).eval()


@pytest.fixture
def ids():
    return torch.randint(V, (3, T), generator=torch.Generator().manual_seed(1))


@pytest.fixture
def real():
    need("smollm2-135m")
    return smollm2()


@torch.no_grad()
def test_under_a_causal_mask_a_model_is_what_it_was(tiny, ids):
    plain, weights = tiny(ids, return_weights=True)
    cores = {layer: Masked(causal_mask(T)) for layer in range(L)}
    with masked(tiny, cores):
        torch.testing.assert_close(tiny(ids), plain)
    for layer in range(L):
        torch.testing.assert_close(cores[layer].weights, weights[layer])
        assert tiny.blocks[layer].attention.core is None


@torch.no_grad()
def test_what_is_hidden_leaves_its_weight_to_others_and_what_is_dropped_does_not(
    tiny, ids
):
    _, weights = tiny(ids, return_weights=True)
    column = torch.zeros(4, T, T, dtype=torch.bool)
    column[2, 1:, 0] = True  # of one head
    hidden = Masked(causal_mask(T) & ~column)
    dropped = Masked(causal_mask(T), column)
    for core in (hidden, dropped):
        with masked(tiny, {0: core}):
            tiny(ids)
        assert not core.weights[:, 2, 1:, 0].any()
        others = [0, 1, 3]
        torch.testing.assert_close(core.weights[:, others], weights[0][:, others])
    torch.testing.assert_close(dropped.weights[..., 1:], weights[0][..., 1:])
    torch.testing.assert_close(hidden.weights.sum(dim=-1), torch.ones(3, 4, T))


@pytest.mark.parametrize(
    ("kept", "places"),
    [("first 2", (0, 1)), ("second 4", (1, 2, 3, 4)), ("middle 1", (24,))],
)
def test_a_window_and_what_is_kept_beside_it(kept, places):
    mask = sliding_windows.window_mask(40, 5, kept)
    for t in range(40):
        for s in range(40):
            seen = s <= t and (t - s < 5 or s in places)
            assert mask[t, s] == seen


def test_the_plan_asks_nothing_twice():
    plans = [tuple(one.items()) for one in sinks.PLAN]
    assert len(set(plans)) == len(plans)


def test_pieces_of_a_text(real):
    ids = sink_texts.windows("stories", 12, 64)
    whole = sink_texts.tokens("stories")
    assert ids.shape == (12, 64)
    assert torch.equal(ids[0], whole[7:71])
    assert real[1].decode(whole[:3].tolist()) != real[1].decode(ids[0, :3].tolist())
    with pytest.raises(ValueError, match="too few for 900 pieces"):
        sink_texts.windows("stories", 900, 64)
    with pytest.raises(ValueError, match="name must be one of"):
        sink_texts.windows("verse", 1, 1)


@pytest.mark.parametrize("name", sink_texts.OF_THE_BOOK)
@pytest.mark.parametrize(("count", "length"), [(40, 128), (32, 512)])
def test_what_was_read_of_the_book_is_kept_token_by_token(real, name, count, length):
    ids = sink_texts.windows(name, count, length)
    assert ids.shape == (count, length)
    assert len({tuple(row) for row in ids.tolist()}) == count
    with pytest.raises(ValueError, match=f"of '{name}' there are .*, got 3 pieces"):
        sink_texts.windows(name, 3, length)


def test_other_first_tokens(real):
    ids = sink_texts.windows("stories", 3, sinks.SHORT)
    found = sinks.variants(ids)
    for name in ("end of text first", "newline first", "a random token first"):
        variant, alone = found[name]
        assert torch.equal(variant[:, 1:], ids[:, 1:])
        assert not alone
        assert not torch.equal(variant[:, 0], ids[:, 0])
    assert torch.equal(found["cut off by 16"][0], ids[:, 16:])
    again = found["first token again inside"][0]
    assert torch.equal(again[:, sinks.PLACE], ids[:, 0])
    four = found["first token four times"][0]
    assert torch.equal(four[:, :4], ids[:, :1].expand(3, 4))
    assert torch.equal(four[:, 4:], ids[:, 4:])


@torch.no_grad()
def test_what_weights_finds_agrees_with_the_model(real):
    ids = sink_texts.windows("stories", 2, 40)
    _, rows = real[0](ids, return_weights=True)
    found = sink_weights.weights(ids)
    late = torch.stack(rows)[..., sink_weights.LEAST :, :]
    first = late[..., 0].mean(dim=(1, 3))
    torch.testing.assert_close(torch.tensor(found["first"]), first, atol=1e-4, rtol=0)
    torch.testing.assert_close(
        torch.tensor([one[0] for one in found["on"]]),
        first.mean(dim=1),
        atol=2e-4,
        rtol=0,
    )
    assert found["heads"][0][1] == (late[:, 0, :, :, 0].mean(dim=2) > 0.5).sum()
    assert abs(sum(found["kinds"]) - 1) < 1e-3
    for one in found["on"]:
        assert abs(sum(one) - 1) < 1e-3


@torch.no_grad()
def test_the_mark_is_taken_away_or_exchanged_at_one_place_alone(real):
    ids = sink_texts.windows("stories", 2, 24)
    part = Part("mlp", sink_weights.MARKS)
    given = {}
    for kind in ("own", "none", "another text's"):
        with sinks._mark(ids, kind), watched(real[0], [part]) as kept:
            real[0](ids)
        given[kind] = kept[part].clone()
    own = given.pop("own")
    for changed in given.values():
        torch.testing.assert_close(changed[:, 1:], own[:, 1:])
    assert own[0, 0].norm() > 10_000 > 100 > given["none"][0, 0].norm()
    other = given["another text's"][:, 0]
    torch.testing.assert_close(other, own[:, 0].flip(0))
    assert not torch.equal(other, own[:, 0])


@torch.no_grad()
def test_a_window_as_long_as_the_text_hides_nothing(real):
    ids = sink_texts.windows("stories", 1, sliding_windows.ASKED + 9)
    logits = real[0](ids)[0, :-1][-sliding_windows.ASKED :]
    expected = torch.nn.functional.cross_entropy(
        logits, ids[0, -sliding_windows.ASKED :]
    )
    found = sliding_windows.sliding(ids, ids.shape[1], "first 0")
    assert abs(found[0] - float(expected)) < 1e-3


@torch.no_grad()
def test_later_queries_get_another_value_from_the_first_token(tiny, ids):
    causal = causal_mask(T)
    other = torch.randn(2, 6, generator=torch.Generator().manual_seed(2))
    given, found = {}, {}
    for name, core in (
        ("own", Masked(causal)),
        ("other", sink_controls.Fetching(causal, other)),
    ):
        parts = [Part("values", 0), Part("context", 0)]
        with masked(tiny, {0: core}), watched(tiny, parts) as kept:
            tiny(ids)
        given[name], found[name] = kept[parts[0]], kept[parts[1]]
        weights = core.weights
    torch.testing.assert_close(given["own"], given["other"])
    values = given["own"].unflatten(-1, (2, 6)).clone()  # (B, T, H_kv, D)
    torch.testing.assert_close(found["own"][:, 0], found["other"][:, 0])
    values[:, 0] = other
    for head in range(4):
        expected = weights[:, head] @ values[:, :, head // 2]
        torch.testing.assert_close(
            found["other"][:, 1:].unflatten(-1, (4, 6))[:, :, head], expected[:, 1:]
        )


@torch.no_grad()
def test_what_a_look_at_the_first_token_adds_agrees_with_the_layer(real):
    model, ids = real[0], sink_texts.windows("stories", 2, 24)
    layer, head = 13, 8
    with watched(model, [Part("values", layer)]) as given:
        model(ids)
    own = given[Part("values", layer)].unflatten(-1, (3, 64))[:, :, head // 3]
    context = torch.zeros(2, 24, 576)
    context[..., head * 64 :][..., :64] = own
    norms = model.blocks[layer].attention.out_proj(context).norm(dim=-1)
    expected = (norms[:, 0] / norms[:, 1:].median(dim=1).values).mean()
    found = sink_controls.added(ids)
    assert abs(found[layer][head] - float(expected)) < 1e-3
