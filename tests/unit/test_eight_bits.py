"""helpers.models.eight_bits: no weight moves far, and what can't be stored is named."""

import pytest
import torch

from helpers.models.eight_bits import from_eight_bits, to_eight_bits


def drawn():
    generator = torch.Generator().manual_seed(0)
    matrix = torch.randn(5, 7, generator=generator)
    matrix *= torch.tensor([1e-2, 1.0, 100.0, 0.0, 1.0])[:, None]
    return {"matrix": matrix, "vector": torch.randn(3, generator=generator)}


def test_a_weight_moves_by_half_a_step_of_its_own_row():
    weights = drawn()
    again = from_eight_bits(to_eight_bits(weights))
    assert list(again) == list(weights)
    largest = weights["matrix"].abs().amax(dim=1, keepdim=True)
    moved = (again["matrix"] - weights["matrix"]).abs()
    # Half a step, which float16 rounds; float32 adds a little.
    assert (moved <= largest / 254 * (1 + 2**-11 + 1e-4)).all()
    assert (moved.amax(dim=1) > largest[:, 0] / 1000)[largest[:, 0] > 0].all()
    assert torch.equal(again["vector"], weights["vector"].half().float())


def test_what_is_stored_is_bytes_and_a_scale_for_each_row():
    weights = drawn()
    stored = to_eight_bits(weights)
    assert {name: (one.dtype, tuple(one.shape)) for name, one in stored.items()} == {
        "matrix": (torch.int8, (5, 7)),
        "matrix.scales": (torch.float16, (5,)),
        "vector": (torch.float16, (3,)),
    }
    assert stored["matrix"].abs().amax(dim=1).tolist() == [127, 127, 127, 0, 127]
    assert torch.equal(weights["matrix"], drawn()["matrix"])


def test_weights_of_8_bits_stay_as_they_are():
    once = to_eight_bits(drawn())
    twice = to_eight_bits(from_eight_bits(once))
    assert once.keys() == twice.keys()
    assert all(torch.equal(once[name], twice[name]) for name in once)


@pytest.mark.parametrize(
    ("tensor", "message"),
    [
        ([1.0], r"a must be a torch\.Tensor, got list"),
        (torch.zeros(2, 2, 2), r"a must be .* of shape \(2, 2, 2\)"),
        (torch.zeros(2).long(), r"a must be a floating-point .* got torch\.int64"),
        (torch.tensor([1.0, torch.nan]), "a must hold finite numbers"),
        (torch.tensor([1.0, 7e4]), "a in float16 must hold finite numbers"),
        (torch.tensor([[1e7, 1.0]]), "a's scales in float16 must hold finite"),
        (torch.tensor([[1e300]], dtype=torch.float64), "a's scales in float16 must"),
        (torch.tensor([[1.0], [1e-6]]), "of a must .* at least 0.00775146, got 1e-06"),
        (torch.tensor([[0.0077]]), "at least 0.00775146, got 0.0077 at most"),
        (torch.tensor([[1e-300]], dtype=torch.float64), "of a must .* got 1e-300"),
        (torch.zeros(3, 0), r"a must have columns, got shape \(3, 0\)"),
    ],
)
def test_what_cannot_be_stored_is_named(tensor, message):
    with pytest.raises(ValueError, match=message):
        to_eight_bits({"a": tensor})


@pytest.mark.parametrize("name", ["a.scales", 3])
def test_a_name_that_would_be_lost_is_named(name):
    with pytest.raises(ValueError, match=f"names must be texts .* got {name!r}"):
        to_eight_bits({name: torch.ones(2)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a.scales": None}, r"a\.scales must be a torch\.Tensor, got NoneType"),
        ({"a.scales": torch.ones(1).half()}, r"shape \(2,\), .* shape \(1,\)"),
        ({"a.scales": torch.ones(3).half()}, r"shape \(2,\), .* shape \(3,\)"),
        ({"a.scales": torch.tensor(1.0).half()}, r"shape \(2,\), .* shape \(\)"),
        ({"a.scales": torch.ones(2)}, r"a\.scales must be .* got torch\.float32"),
        ({"a.scales": torch.full((2,), torch.nan).half()}, r"a\.scales must hold fin"),
        ({"a": torch.ones(2, 2)}, r"a must be torch\.int8, got torch\.float32"),
        ({"b": torch.ones(2)}, r"b must be torch\.float16 of shape \(n,\)"),
        ({"b.scales": torch.ones(2).half()}, r"b\.scales must stand beside its"),
    ],
)
def test_what_was_not_stored_so_is_named(change, message):
    stored = to_eight_bits({"a": torch.ones(2, 2)})
    with pytest.raises(ValueError, match=message):
        from_eight_bits(stored | change)


def test_a_matrix_without_its_scales_is_named():
    with pytest.raises(ValueError, match=r"stored must hold a\.scales, got a alone"):
        from_eight_bits({"a": torch.zeros(2, 2, dtype=torch.int8)})
