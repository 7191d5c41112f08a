"""Muon: equal directions, and steps like PyTorch's."""

import copy

import pytest
import torch

from helpers.training.muon import Muon, orthogonalise

SHAPES = ((6, 6), (12, 4), (4, 12), (6, 6), (1, 5))


def parameters():
    torch.manual_seed(0)
    return [torch.nn.Parameter(torch.randn(shape)) for shape in SHAPES]


def give_gradients(ours, theirs, seed):
    generator = torch.Generator().manual_seed(seed)
    for mine, other in zip(ours, theirs, strict=True):
        mine.grad = torch.randn(mine.shape, generator=generator)
        other.grad = mine.grad.clone()


def with_singular_values(M, N, values):
    torch.manual_seed(1)
    U, _ = torch.linalg.qr(torch.randn(M, len(values), dtype=torch.float64))
    V, _ = torch.linalg.qr(torch.randn(N, len(values), dtype=torch.float64))
    return U, V, U @ torch.diag(torch.tensor(values, dtype=torch.float64)) @ V.T


@pytest.mark.parametrize(("M", "N"), [(6, 6), (9, 5), (5, 9)])
def test_directions_stay_and_sizes_become_nearly_one(M, N):
    U, V, matrix = with_singular_values(M, N, [8.0, 3.0, 1.0, 0.4, 0.1])
    result = U.T @ orthogonalise(matrix) @ V  # (5, 5)
    sizes = result.diagonal()
    torch.testing.assert_close(result, torch.diag(sizes), atol=1e-9, rtol=0)
    assert sizes.min() > 0.68
    assert sizes.max() < 1.14


def test_each_matrix_of_a_batch_is_treated_alone():
    torch.manual_seed(2)
    batch = torch.randn(2, 3, 4, 7) * torch.tensor([1.0, 100.0, 0.01])[:, None, None]
    alone = [[orthogonalise(one) for one in row] for row in batch]
    expected = torch.stack([torch.stack(row) for row in alone])
    torch.testing.assert_close(orthogonalise(batch), expected)


def test_more_steps_raise_what_was_small():
    U, V, matrix = with_singular_values(4, 4, [1.0, 1e-3, 1e-3, 1e-3])
    found = [
        (U.T @ orthogonalise(matrix, steps) @ V).diagonal()[1:].mean().item()
        for steps in (1, 3, 5)
    ]
    assert found[0] < 0.01 < found[1] < 0.1 < 0.4 < found[2]


def test_zeros_stay_zeros():
    assert orthogonalise(torch.zeros(3, 4)).eq(0).all()


def test_steps_are_pytorchs():
    ours, theirs = parameters(), parameters()
    options = {"lr": 1.0, "weight_decay": 0.1, "momentum": 0.9}
    both = (Muon(ours, **options), torch.optim.Muon(theirs, **options))
    for seed in range(4):
        give_gradients(ours, theirs, seed)
        for optimizer in both:
            optimizer.step()
    for mine, other in zip(ours, theirs, strict=True):
        # Both orthogonalise in bfloat16, one matrix or several at a time.
        torch.testing.assert_close(mine, other, atol=0.05, rtol=0)


def test_its_state_is_pytorchs():
    ours, theirs = parameters(), parameters()
    mine, other = Muon(ours, lr=0.5), torch.optim.Muon(theirs, lr=0.5)
    give_gradients(ours, theirs, 0)
    mine.step()
    other.step()
    there = other.state_dict()["state"]
    for number, state in mine.state_dict()["state"].items():
        torch.testing.assert_close(state, there[number])


def test_it_goes_on_from_pytorchs_state_where_the_steps_are_the_same():
    ours, theirs = parameters(), parameters()
    options = {"lr": 0.5, "weight_decay": 0.1}
    other = torch.optim.Muon(theirs, **options)
    give_gradients(ours, theirs, 0)
    other.step()
    for mine, one in zip(ours, theirs, strict=True):
        mine.data.copy_(one.data)
    muon = Muon(ours, lr=0.1)
    muon.load_state_dict(copy.deepcopy(other.state_dict()))
    give_gradients(ours, theirs, 1)
    muon.step()
    other.step()
    for mine, one in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, one, atol=0.05, rtol=0)
    changed = torch.optim.Muon(parameters(), ns_steps=1).state_dict()
    with pytest.raises(ValueError, match="ns_steps must be 5, got 1"):
        muon.load_state_dict(changed)


def test_a_long_matrix_in_float16_is_not_lost():
    torch.manual_seed(3)
    long = 3000 * torch.randn(64, 64)
    found = orthogonalise(long.half()).float()
    torch.testing.assert_close(found, orthogonalise(long), atol=0.03, rtol=0)


def test_a_matrix_without_a_gradient_stays():
    ours = parameters()
    before = ours[1].detach().clone()
    ours[0].grad = torch.ones_like(ours[0])
    Muon(ours, lr=0.5).step()
    assert ours[1].equal(before)


def test_a_closure_is_called_with_gradients_on():
    ours = parameters()
    muon = Muon(ours, lr=0.5)

    def closure():
        loss = sum(p.square().sum() for p in ours)
        loss.backward()
        return loss

    first, second = muon.step(closure), muon.step(closure)
    assert second < first


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: orthogonalise([[1.0]]), "matrices must be a torch.Tensor, got list"),
        (lambda: orthogonalise(torch.ones(3)), r"\(\.\.\., M, N\).*\(3,\)"),
        (lambda: orthogonalise(torch.ones(2, 2, dtype=torch.int64)), "int64"),
        (lambda: orthogonalise(torch.ones(2, 2), 0), "steps .* got 0"),
        (lambda: Muon([torch.ones(3)], lr=1.0), r"matrices, got .* shape \(3,\)"),
        (
            lambda: Muon([torch.ones(3, 3) * 1j], lr=1.0),
            "floating .* got torch.complex",
        ),
        (lambda: Muon([torch.ones(3, 3)], lr=-1.0), "lr .* got -1.0"),
        (
            lambda: Muon([torch.ones(3, 3)], lr=1.0, weight_decay=-0.1),
            "weight_decay .* got -0.1",
        ),
        (lambda: Muon([torch.ones(3, 3)], lr=1.0, momentum=1.5), "momentum .*1.5"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
