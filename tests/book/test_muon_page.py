"""What the page on Muon says of the products of five iterations."""

import pytest
import torch


@pytest.mark.parametrize("shape", [(128, 128), (128, 512), (512, 128)])
def test_five_iterations_add_at_most_five_rows_a_token_to_a_matrixs_products(shape):
    m, n = min(shape), max(shape)
    # X Xᵀ, its square, and their sum times X; forward, and backward to both.
    iterations = 5 * (2 * m * m * n + 2 * m**3 + 2 * m * m * n)
    tokens = 768
    assert iterations / (6 * m * n * tokens) <= 5 * m / tokens


def test_the_classic_coefficients_settle_at_1_and_lift_faint_values_less():
    values = torch.linspace(0.01, 1, 1_000, dtype=torch.float64)
    for _ in range(20):
        values = 15 / 8 * values - 10 / 8 * values**3 + 3 / 8 * values**5
    torch.testing.assert_close(values, torch.ones_like(values))
    assert 15 / 8 == 1.875 < 3.4445
