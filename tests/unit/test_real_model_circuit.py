"""The circuit's prompts, and its patches on a small model and on the real one."""

import itertools
import random

import pytest
import torch

from experiments.real_model import (
    circuit,
    circuit_ablation,
    circuit_behaviour,
    circuit_controls,
    circuit_switches,
)
from experiments.real_model.heads import head_name
from experiments.real_model.prefixes import streams
from experiments.real_model.prompts import HALVES, Prompts, direct_effect, prompts
from experiments.real_model.two_prompts import Direction
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, watched
from helpers.models.transformer_block import TransformerConfig
from helpers.text.indirect_objects import FRAMES, NAMES, prompt
from tests.real_models import need

B, T, V, L, H, D = 2, 7, 13, 2, 6, 4


@pytest.fixture
def model():
    torch.manual_seed(0)
    config = TransformerConfig(
        *(V, T, H * D, H, L),
        **{"positions": "rotary", "num_kv_heads": 3, "norm": "rms", "bias": False},
        tie_weights=True,
    )
    model = TransformerLM(config).double().eval().requires_grad_(False)
    for weight in model.parameters():
        weight.add_(0.3 * torch.randn_like(weight))
    return model


@pytest.fixture
def of():
    """Prompts of made-up ids; the giver stands at 4."""
    clean = torch.tensor([[0, 1, 2, 3, 1, 4, 5], [0, 2, 1, 3, 2, 4, 5]])
    swapped, third, renamed = clean.clone(), clean.clone(), clean.clone()
    swapped[:, 4] = torch.tensor([2, 1])
    third[:, 4] = 6
    renamed[:, 1] = 6
    tokens = torch.tensor([2, 1]), torch.tensor([1, 2]), torch.tensor([6, 6])
    return Prompts(clean, swapped, third, renamed, *tokens, torch.tensor([1, 2, 6]), 4)


def test_who_must_follow():
    frame = "When {A} and {B} met, {S} waved to"
    given = prompt(frame, ("Mary", "John"), "John")
    assert given == ("When Mary and John met, John waved to", "Mary", "John")
    assert prompt(frame, ("Mary", "John"), "Mary").answer == "John"
    assert prompt(frame, ("Mary", "John"), "Tom")[1:] == ("Mary", "Tom")
    for names in (("Mary", "Mary"), ("Mary",)):
        with pytest.raises(ValueError, match="names must be two different ones, got"):
            prompt(frame, names, "Mary")


def test_halves_share_no_frame_and_no_name():
    frames, names = zip(*HALVES.values(), strict=True)
    assert sorted(itertools.chain(*frames)) == sorted(FRAMES)
    assert sorted(itertools.chain(*names)) == sorted(NAMES)
    assert len(set(NAMES)) == 30


def test_all_that_follows_brings_the_whole_difference(model, of):
    way = Direction(model, of, of.clean, of.swapped)
    place = list(range(way.target.shape[1]))
    assert way.share([Part("stream", 0)], place) == pytest.approx(1)
    everywhere = [Part("context", layer) for layer in range(L)]
    # What tells the last position of the giver is its heads' contexts, and no others'.
    assert way.share(everywhere, [2]) == pytest.approx(1)
    assert way.share(everywhere, [1]) != pytest.approx(1, abs=1e-3)


def test_streams_of_single_places_are_put_there_alone(model, of):
    way = Direction(model, of, of.clean, of.swapped)
    assert way.share([Part("stream", 0)], [0]) == pytest.approx(1)
    assert way.share([Part("stream", 0)], [2]) == pytest.approx(0, abs=1e-9)
    one = way.share([Part("context", 1, 2)], [2])
    with watched(model, [Part("context", 1, 2)]) as given:
        model(of.clean)
        sent = given[Part("context", 1, 2)]

    def put(module, inputs):
        x = inputs[0].clone()
        x[:, -1, 2 * D : 3 * D] = sent[:, -1]
        return (x,)

    hook = model.blocks[1].attention.out_proj.register_forward_pre_hook(put)
    after = of.difference(model(of.swapped)).mean()
    hook.remove()
    before, whole = (of.difference(model(ids)).mean() for ids in (of.swapped, of.clean))
    assert one == pytest.approx(float((after - before) / (whole - before)))


def test_what_heads_add_to_the_logits_is_their_part_of_the_whole(model, of):
    parts = [Part("context", 1), Part("mlp", 1), Part("stream", 1)]
    hooked = []
    hook = model.final_norm.register_forward_pre_hook(
        lambda _, inputs: hooked.append(inputs[0])
    )
    with watched(model, parts) as given:
        logits = model(of.clean)[:, -1]
    hook.remove()
    end = hooked[0][:, -1]
    context = given[parts[0]][:, -1]
    added = sum(
        direct_effect(model, context[:, head * D : (head + 1) * D], (1, head), end)
        for head in range(H)
    )
    size = end.square().mean(-1, keepdim=True).add(model.config.norm_eps).sqrt()
    rest = given[parts[1]][:, -1] + given[parts[2]][:, -1]
    unembedding = model.token_embedding.weight.T
    others = (rest * model.final_norm.weight / size) @ unembedding
    torch.testing.assert_close(added + others, logits)


def test_heads_that_are_kept_change_nothing_and_the_others_give_their_mean(model, of):
    left = circuit_ablation.keeping(model, of)
    T = of.clean.shape[1] - of.again
    none = circuit_ablation.mask_of(model, T, (), ())
    assert none.shape == (L, T, H)
    assert left(~none) == pytest.approx(1)
    with torch.no_grad():
        leads = of.difference(model(of.clean))
    torch.testing.assert_close(circuit_ablation.leads_keeping(model, of)(~none), leads)
    some = circuit_ablation.mask_of(model, T, [(0, 1)], [(1, 2)])
    assert some.sum() == 2
    assert some[0, 0, 1]
    assert some[1, -1, 2]
    assert left(~some) != pytest.approx(1, abs=1e-4)
    one = of.third[:1]
    third = of._replace(
        clean=one, third=one, answer=of.answer[:1], subject=of.subject[:1]
    )
    same = circuit_ablation.keeping(model, third)
    assert same(none) == pytest.approx(1)  # each gives the mean of one text: its own


def test_what_heads_add_to_the_right_name_and_what_the_rest_does_is_the_whole(
    model, of
):
    last = tuple((1, head) for head in range(H))
    added = sum(circuit_switches.raised(model, of, head) for head in last)
    parts = [Part("stream", 1), Part("mlp", 1)]
    above = []
    for ids, right in ((of.clean, of.answer), (of.swapped, of.subject)):
        with watched(model, parts) as given:
            model(ids)
        rest = sum(given[part][:, -1] for part in parts)
        end = streams(model, ids, -1)[:, -1]
        size = end.square().mean(-1, keepdim=True).add(model.config.norm_eps).sqrt()
        logits = rest * model.final_norm.weight / size @ model.token_embedding.weight.T
        above.append(of.above_others(logits, right))
    rest = float(torch.cat(above).mean())
    assert added + rest == pytest.approx(circuit_switches.named(model, of))
    one = last[2]
    assert circuit_switches.raised(model, of, one, (one,)) == 0
    before = circuit_switches.raised(model, of, one)
    assert circuit_switches.raised(model, of, one, last[:2]) != pytest.approx(before)


def test_the_lead_counts_either_name_as_the_one_that_gives(model, of):
    leads = [of.difference(model(of.clean)), -of.difference(model(of.swapped))]
    lead = circuit_switches.lead(model, of)
    assert lead == pytest.approx(float(torch.cat(leads).mean()))
    last = tuple((1, head) for head in range(H))
    assert circuit_switches.lead(model, of, last) != pytest.approx(lead)
    right = (of.clean, of.answer), (of.swapped, of.subject)
    above = [of.above_others(model(ids)[:, -1], one) for ids, one in right]
    named = circuit_switches.named(model, of)
    assert named == pytest.approx(float(torch.cat(above).mean()))
    assert circuit_switches.named(model, of, last) != pytest.approx(named)


def test_heads_drawn_at_random_are_as_many_and_not_the_circuits():
    need("smollm2-135m")
    model, _ = circuit.smollm2()
    kept = circuit_ablation.kept_heads(model, 5)
    drawn = circuit_ablation.random_heads(model, 5, random.Random(0))
    assert kept["circuit"].sum() == drawn["random"].sum() == 14
    assert not (kept["circuit"] & drawn["random"]).any()
    assert (~drawn["without random"]).sum() == 14
    assert drawn["random at the end"].sum() == kept["circuit at the end"].sum()
    beside = circuit_ablation.in_same_layers(model, 5, random.Random(0))
    layer_by_layer = beside["random, same layers"].sum(dim=(1, 2))
    own = kept["circuit"].sum(dim=(1, 2))
    assert torch.equal(layer_by_layer, own.minimum(9 - own))  # 23 has four others
    assert not (kept["circuit"] & beside["random, same layers"]).any()
    three, eleven = (~one for one in circuit_ablation.kept_without(model, 5).values())
    assert (int(three.sum()), int(eleven.sum())) == (3, 11)
    assert torch.equal(three ^ eleven, kept["circuit"])


def test_what_is_held_is_not_swapped():
    need("smollm2-135m")
    model, _ = circuit.smollm2()
    of = prompts("choosing", FRAMES[0], 4)
    way = Direction(model, of, of.clean, of.swapped)
    end = [way.target.shape[1] - 1]
    first, later = [Part("context", 20)], [Part("stream", 29)]
    assert way.share(first, end) > 0.1
    assert way.share(first, end, later) == pytest.approx(0, abs=1e-4)
    assert way.moved(0.5) == pytest.approx(abs(float(way.whole)) / 2)


def test_the_giver_is_looked_at_and_lowered():
    need("smollm2-135m")
    model, _ = circuit.smollm2()
    of = prompts("choosing", FRAMES[0], 4)
    text = "When Mary and John went to the store, John gave a drink to"
    assert of.clean.shape == (4, len(circuit.smollm2()[1].encode(text)))
    found = circuit_behaviour.answers(
        of, *(model(ids).detach() for ids in (of.clean, of.third, of.renamed))
    )
    assert found["right"] == 1
    assert found["giver"] < found["two"]
    started = prompts("choosing", FRAMES[0], 4, start=True)
    assert torch.equal(started.clean[:, 1:], of.clean)
    way = Direction(model, of, of.clean, of.swapped)
    last = way.target.shape[1] - 1
    assert way.share([Part("context", 23, 3)], [last]) > 0.25
    assert abs(way.share([Part("context", 23, 4)], [last])) < 0.1
    assert head_name((23, 3)) == "23.3"


@pytest.mark.parametrize("heads", [[(17, 4)], [(19, 2), (20, 0)]])
def test_other_heads_are_drawn_from_the_same_layers_and_none_twice(heads):
    found = circuit_controls.draws(heads)
    assert len(found) == circuit_controls.DRAWS
    for one in found:
        assert [layer for layer, _ in one] == [layer for layer, _ in heads]
    every = list(itertools.chain(heads, *found))
    assert len(set(every)) == len(every)
