"""The audit judges layers whose authors had never seen it."""

import pytest

from tests.layers import HANDS, LAYERS, RIGHT_YET_FAILING, WRONG_YET_PASSING

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]


@pytest.mark.parametrize("layer", [one for one in LAYERS if one.right], ids=str)
def test_a_right_layer_passes(layer):
    found = layer.audit()
    assert found.ok == (str(layer) not in RIGHT_YET_FAILING), f"{layer.says}\n{found}"


@pytest.mark.parametrize("layer", [one for one in LAYERS if not one.right], ids=str)
def test_a_wrong_layer_fails(layer):
    found = layer.audit()
    assert found.ok == (str(layer) in WRONG_YET_PASSING), layer.says


@pytest.mark.parametrize("hand", HANDS)
def test_a_hand_has_layers_of_both_kinds(hand):
    mine = [layer for layer in LAYERS if layer.hand == hand]
    right = sum(layer.right for layer in mine)
    assert right >= 20
    assert len(mine) - right >= 50
    assert len({layer.entry["layer"] for layer in mine}) == len(mine)
