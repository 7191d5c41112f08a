"""Answers to orthogonalise by hand j."""

import numpy as np
import torch


def right_singular_values(gradient, steps):
    """right: takes the SVD of each matrix once and applies the polynomial to its
    singular values, which is the same, since the vectors stay."""
    U, s, Vh = torch.linalg.svd(gradient.float(), full_matrices=False)
    s = s / s.square().sum(dim=-1, keepdim=True).sqrt()
    for _ in range(steps):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return (U * s.unsqueeze(-2)) @ Vh


def right_recursion(gradient, steps):
    """right: calls itself for each entry of the first axis until a single matrix is
    left; a tall matrix is transposed, and transposed back at the end."""
    if gradient.ndim > 2:
        return torch.stack([right_recursion(g, steps) for g in gradient])
    if gradient.shape[0] > gradient.shape[1]:
        return right_recursion(gradient.T, steps).T
    X = gradient.float() / gradient.float().norm()
    for _ in range(steps):
        A = X @ X.T
        X = 3.4445 * X + (2.0315 * A @ A - 4.7750 * A) @ X
    return X


def right_einsum(gradient, steps):
    """right: everything with einsum: the sum of squares, X X^T X, and X X^T X X^T X
    from X X^T X with the last two factors once more."""
    X = gradient.to(torch.float32)
    X = X / torch.einsum("...ij,...ij->...", X, X).sqrt()[..., None, None]
    for _ in range(steps):
        three = torch.einsum("...ij,...kj,...kl->...il", X, X, X)
        five = torch.einsum("...ij,...kj,...kl->...il", three, X, X)
        X = 3.4445 * X - 4.7750 * three + 2.0315 * five
    return X


def right_numpy_double(gradient, steps):
    """right: in NumPy with float64, one matrix after the other; multiplies by a
    polynomial of X^T X from the right."""
    rows, columns = gradient.shape[-2:]
    out = gradient.detach().double().reshape(-1, rows, columns).numpy().copy()
    eye = np.eye(columns)
    for i, X in enumerate(out):
        X = X / np.sqrt(np.sum(X**2))
        for _ in range(steps):
            S = X.T @ X
            X = X @ (3.4445 * eye + S @ (2.0315 * S - 4.7750 * eye))
        out[i] = X
    return torch.from_numpy(out).float().reshape(gradient.shape)


def right_left_factor(gradient, steps):
    """right: never updates X, but keeps X X^T and the product of all factors that stand
    at its left, in float64, and multiplies by X once, at the end."""
    X = gradient.double()
    X = X / torch.linalg.matrix_norm(X, keepdim=True)
    eye = torch.eye(X.shape[-2], dtype=X.dtype)
    gram = X @ X.mT
    left = eye
    for _ in range(steps):
        factor = 3.4445 * eye - 4.7750 * gram + 2.0315 * gram @ gram
        left = factor @ left
        gram = factor @ gram @ factor
    return (left @ X).float()


def right_eigenvalues(gradient, steps):
    """right: a matrix function: the eigenvalues of X X^T (float64) give the factor of
    each direction after all steps, and the eigenvectors turn it into a matrix."""
    X = gradient.double()
    X = X / X.flatten(-2).norm(dim=-1)[..., None, None]
    squares, Q = torch.linalg.eigh(X @ X.mT)
    total = torch.ones_like(squares)
    for _ in range(steps):
        factor = 3.4445 - 4.7750 * squares + 2.0315 * squares**2
        total = total * factor
        squares = squares * factor**2
    return (Q @ torch.diag_embed(total) @ Q.mT @ X).float()


def wrong_one_length(gradient, steps):
    """wrong: divides by the length of the whole tensor instead of each matrix's own;
    right for a single matrix."""
    X = gradient.float() / gradient.float().norm()
    for _ in range(steps):
        A = X @ X.mT
        X = 3.4445 * X - 4.7750 * A @ X + 2.0315 * A @ A @ X
    return X


def wrong_coefficient_order(gradient, steps):
    """wrong: exchanges the last two coefficients: 2.0315 stands at the third power and
    -4.7750 at the fifth."""
    a, b, c = 3.4445, 2.0315, -4.7750
    X = gradient.float() / gradient.float().norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        A = X @ X.mT
        X = a * X + (b * A + c * A @ A) @ X
    return X


def wrong_minus_bracket(gradient, steps):
    """wrong: a sign: puts the last two terms into one bracket after the minus, so that
    the fifth power is subtracted instead of added."""
    X = gradient.float()
    X = X / torch.linalg.matrix_norm(X, keepdim=True)
    for _ in range(steps):
        A = X @ X.mT
        X = 3.4445 * X - (4.7750 * A + 2.0315 * A @ A) @ X
    return X


def wrong_one_step_less(gradient, steps):
    """wrong: off by one: range(1, steps) makes one step less than asked for; right for
    steps = 0 only."""
    X = gradient.float()
    X = X / X.pow(2).sum(dim=(-2, -1), keepdim=True).sqrt()
    for _ in range(1, steps):
        A = X @ X.mT
        X = 3.4445 * X - 4.7750 * A @ X + 2.0315 * A @ A @ X
    return X


def wrong_float_is_no_copy(gradient, steps):
    """wrong: the values are right, but it takes .float() for a copy and divides in
    place, so that a float32 gradient is changed (divided by its length)."""
    X = gradient.float()
    X /= torch.linalg.matrix_norm(X, keepdim=True)
    for _ in range(steps):
        A = X @ X.mT
        X = 3.4445 * X + (-4.7750 * A + 2.0315 * A @ A) @ X
    return X


def wrong_bfloat16(gradient, steps):
    """wrong: computes in bfloat16, as Muon often does, instead of float32, and casts
    the result back, so that only two or three digits are right."""
    X = gradient.bfloat16()
    X = X / X.norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        A = X @ X.mT
        X = 3.4445 * X + (-4.7750 * A + 2.0315 * A @ A) @ X
    return X.float()


def wrong_reshape_for_transpose(gradient, steps):
    """wrong: turns tall matrices into wide ones with reshape instead of transposing
    them, which gives another matrix; right for wide, square and one-column ones."""
    rows, columns = gradient.shape[-2:]
    X = gradient.float()
    if rows > columns:
        X = X.reshape(*gradient.shape[:-2], columns, rows)
    X = X / X.norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        A = X @ X.mT
        X = 3.4445 * X + (-4.7750 * A + 2.0315 * A @ A) @ X
    return X.reshape(gradient.shape)


def wrong_transpose_first_axes(gradient, steps):
    """wrong: transposes the axes 0 and 1 instead of the last two: right for one matrix,
    an error or a mixture of the matrices for several."""
    X = gradient.float()
    X = X / X.norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        A = X @ X.transpose(0, 1)
        X = 3.4445 * X - 4.7750 * A @ X + 2.0315 * A @ A @ X
    return X


def wrong_largest_singular_value(gradient, steps):
    """wrong: divides by the spectral norm, the largest singular value, instead of the
    root of the sum of the squares; right for matrices of rank 1."""
    X = gradient.float()
    X = X / torch.linalg.matrix_norm(X, ord=2, keepdim=True)
    for _ in range(steps):
        A = X @ X.mT
        X = 3.4445 * X - 4.7750 * A @ X + 2.0315 * A @ A @ X
    return X


def wrong_elementwise_square(gradient, steps):
    """wrong: squares X X^T element by element (A**2) instead of multiplying it by
    itself as a matrix; right for matrices of one row."""
    X = gradient.float()
    X = X / X.square().sum((-2, -1), keepdim=True).sqrt()
    for _ in range(steps):
        A = X @ X.mT
        X = 3.4445 * X + (-4.7750 * A + 2.0315 * A**2) @ X
    return X


def wrong_squeeze(gradient, steps):
    """wrong: adds an axis for the batch and removes it with squeeze(), which also
    removes all other axes of size 1: one-row and one-column matrices lose theirs."""
    X = gradient.float().unsqueeze(0)
    X = X / X.norm(dim=(-2, -1), keepdim=True)
    for _ in range(steps):
        A = X @ X.mT
        X = 3.4445 * X + (-4.7750 * A + 2.0315 * A @ A) @ X
    return X.squeeze()


def wrong_old_and_new(gradient, steps):
    """wrong: updates X in two lines, so that the fifth power is made with the X that
    already holds the first two terms."""
    X = gradient.float()
    X = X / torch.linalg.matrix_norm(X, keepdim=True)
    for _ in range(steps):
        A = X @ X.mT
        X = 3.4445 * X - 4.7750 * A @ X
        X = X + 2.0315 * A @ A @ X
    return X


def wrong_only_long_ones(gradient, steps):
    """wrong: clamps the length at 1 from below, so that matrices shorter than 1 stay as
    they are instead of being made longer; right for longer ones."""
    X = gradient.float()
    X = X / X.norm(dim=(-2, -1), keepdim=True).clamp(min=1.0)
    for _ in range(steps):
        A = X @ X.mT
        X = 3.4445 * X + (-4.7750 * A + 2.0315 * A @ A) @ X
    return X


ANSWERS = [
    right_singular_values,
    right_recursion,
    right_einsum,
    right_numpy_double,
    right_left_factor,
    right_eigenvalues,
    wrong_one_length,
    wrong_coefficient_order,
    wrong_minus_bracket,
    wrong_one_step_less,
    wrong_float_is_no_copy,
    wrong_bfloat16,
    wrong_reshape_for_transpose,
    wrong_transpose_first_axes,
    wrong_largest_singular_value,
    wrong_elementwise_square,
    wrong_squeeze,
    wrong_old_and_new,
    wrong_only_long_ones,
]
