"""helpers.models.switches: what is off inside a block is as it was afterwards."""

import contextlib

import pytest
import torch

from helpers.models import switches
from helpers.models.switches import eval_mode
from helpers.recorded import story_model


def test_eval_mode_gives_each_module_its_own_mode_back():
    model = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.Dropout(0.5)).train()
    model[1].eval()
    inside = []
    with contextlib.suppress(ZeroDivisionError), eval_mode(model):
        inside += [module.training for module in model.modules()]
        raise ZeroDivisionError
    assert inside == [False, False, False]
    assert [module.training for module in model.modules()] == [True, True, False]


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ({"layer": 2, "head": 0}, "layer .* 0 to 1, got 2"),
        ({"layer": 0, "head": 4}, "head .* 0 to 3, got 4"),
    ],
)
def test_a_head_that_is_not_there_is_named(place, message):
    model, _ = story_model.load_story_model()
    with pytest.raises(ValueError, match=message), switches.silenced(model, **place):
        pass


def test_a_silenced_head_answers_again_afterwards():
    model, _ = story_model.load_story_model()
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    with torch.no_grad():
        before = model(ids)
        with switches.silenced(model, layer=1, head=0):
            assert not torch.allclose(model(ids), before)
        assert torch.equal(model(ids), before)


def test_what_stands_in_place_of_a_head_is_what_is_given():
    model, _ = story_model.load_story_model()
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    out_proj = model.blocks[0].attention.out_proj
    got = []
    instead = torch.arange(16.0)
    with switches.silenced(model, layer=0, head=2, instead=instead), torch.no_grad():
        hook = out_proj.register_forward_pre_hook(lambda _, x: got.append(x[0]))
        model(ids)
        hook.remove()
    assert torch.equal(got[0][0, :, 32:48], instead.expand(5, 16))
    assert not torch.equal(got[0][0, :, 16:32], instead.expand(5, 16))
