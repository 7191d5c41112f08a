"""What the page on Muon says of the products of five iterations."""

import pytest


@pytest.mark.parametrize("shape", [(128, 128), (128, 512), (512, 128)])
def test_five_iterations_add_at_most_five_rows_a_token_to_a_matrixs_products(shape):
    m, n = min(shape), max(shape)
    # X Xᵀ, its square, and their sum times X; forward, and backward to both.
    iterations = 5 * (2 * m * m * n + 2 * m**3 + 2 * m * m * n)
    tokens = 768
    assert iterations / (6 * m * n * tokens) <= 5 * m / tokens
