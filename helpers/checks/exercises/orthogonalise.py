"""Exercise of the page on Muon: Newton-Schulz for one matrix or several."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise

COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def _gradients():
    generator = torch.Generator().manual_seed(13)

    def draw(*shape):
        return torch.randn(shape, generator=generator)

    lengths = torch.tensor([1.0, 5.0, 0.2])[:, None, None]
    gradients = {
        "a diagonal matrix, one step": (torch.tensor([[3.0, 0.0], [0.0, 4.0]]), 1),
        "a wide matrix, one step": (draw(2, 3), 1),
        "a tall matrix, three steps": (draw(5, 3), 3),
        "a wide matrix, two steps": (0.01 * draw(3, 6), 2),
        "a square matrix, two steps": (draw(3, 3), 2),
        "three matrices of different length": (lengths * draw(3, 2, 4), 3),
        "rows and columns of tall matrices": (draw(2, 2, 5, 2), 2),
        "no step": (draw(3, 2), 0),
        "a diagonal matrix of length 0.015": (
            torch.diag(torch.tensor([9e-3, 12e-3])),
            1,
        ),
        "one row": (draw(1, 4), 2),
        "two columns, each a matrix": (draw(2, 3, 1), 2),
        "two square matrices": (draw(2, 2, 2), 1),
    }
    return [
        Case(name, {"gradient": gradient, "steps": steps})
        for name, (gradient, steps) in gradients.items()
    ]


def _length(x, dim=(-2, -1)):
    return x.square().sum(dim=dim, keepdim=True).sqrt()


def _round(x, coefficients=COEFFICIENTS):
    a, b, c = coefficients
    square = x @ x.mT
    return a * x + (b * square + c * square @ square) @ x


def _repeat(x, steps, one=_round):
    for _ in range(steps):
        x = one(x)
    return x


def _divided(length):
    """A mistake in what each matrix is divided by."""
    return lambda gradient, steps: _repeat(gradient / length(gradient), steps)


def _rounds_of(one):
    """A mistake in the polynomial."""
    return lambda gradient, steps: _repeat(gradient / _length(gradient), steps, one)


def _squared_by_number(x):
    a, b, c = COEFFICIENTS
    square = x @ x.mT
    return a * x + (b * square + c * square**2) @ x


def _in_two_lines(x):
    a, b, c = COEFFICIENTS
    square = x @ x.mT
    x = a * x + b * square @ x
    return x + c * square @ square @ x


def _products_of_the_scaled(x):
    a, b, c = COEFFICIENTS
    return _round(a * x, (1.0, b, c))


def _terms_of_the_scaled(x):
    a, b, c = COEFFICIENTS
    x = a * x
    square = x @ x.mT
    # What overflows does so in another place than with the terms put together.
    return x + b * square @ x + c * square @ square @ x


def _with_turned(turn):
    """Another transpose, which isn't that of rows and columns."""

    def one(x):
        a, b, c = COEFFICIENTS
        square = x @ turn(x)
        return a * x + (b * square + c * square @ square) @ x

    return _rounds_of(one)


def _left_transposed(gradient, steps):
    rows, columns = gradient.shape[-2:]
    x = gradient.mT if rows > columns else gradient
    return _repeat(x / _length(x), steps)


def _reshaped(gradient, steps):
    """Tall matrices laid out anew in place of a transpose."""
    rows, columns = gradient.shape[-2:]
    x = gradient
    if rows > columns:
        x = x.reshape(*gradient.shape[:-2], columns, rows)
    return _repeat(x / _length(x), steps).reshape(gradient.shape)


def _scaled_by_shape(gradient, steps):
    rows, columns = gradient.shape[-2:]
    x = _repeat(gradient / _length(gradient), steps)
    return x * max(1, rows / columns) ** 0.5


def _all_in_bfloat16(gradient, steps):
    x = gradient.bfloat16()
    x = x / x.norm(dim=(-2, -1), keepdim=True)
    return _repeat(x, steps).to(gradient.dtype)


def _steps(change):
    return lambda gradient, steps: _repeat(gradient / _length(gradient), change(steps))


EXERCISE = Exercise(
    name="orthogonalise",
    stub="my_orthogonalise(gradient, steps)",
    asks=(
        "a function of a matrix (..., rows, columns), or several, and of a number of "
        "steps that divides each by its own length, the root of the sum of its "
        "squares, and returns what the polynomial, repeated so often, makes of it."
    ),
    returns={"update": "(..., rows, columns)"},
    reference=_rounds_of(_round),
    cases=_gradients,
    constants=(*map(abs, COEFFICIENTS),),
    mistakes=(
        Mistake(
            "one length for all matrices",
            _divided(lambda x: x.square().sum().sqrt()),
            "Each matrix has a length of its own: sum over the last two axes alone, "
            "and keep them.",
        ),
        Mistake(
            "a length for each row",
            _divided(lambda x: _length(x, -1)),
            "Each row is divided by its own length, which changes the directions of "
            "the matrix. Divide the whole matrix by one number.",
        ),
        Mistake(
            "a division by the square of the length",
            lambda gradient, steps: _repeat(gradient / _length(gradient).square(), 5),
            "The length is the root of the sum of the squares; yours lacks the root. "
            "And five steps are taken, whatever `steps` says.",
        ),
        Mistake(
            "a small number under the root",
            _divided(lambda x: (_length(x).square() + 1e-7).sqrt()),
            "Under the root, 1e-7 isn't small: a matrix of length 0.001 has squares "
            "that sum to 1e-6. Added to the length itself, it does no harm.",
        ),
        Mistake(
            "short matrices left as they are",
            _divided(lambda x: _length(x).clamp(min=1.0)),
            "Each matrix gets the length 1, the shorter ones, too: without a division "
            "by their length they stay far below 1 for many steps.",
        ),
        Mistake(
            "a division by the largest singular value",
            _divided(lambda x: torch.linalg.matrix_norm(x, 2)[..., None, None]),
            "You divide by the largest singular value. The task asks for the root of "
            "the sum of the squares, which needs no SVD.",
        ),
        Mistake(
            "a division in every step",
            lambda gradient, steps: _repeat(
                gradient, steps, lambda x: _round(x / _length(x))
            ),
            "The matrix is divided by its length once, before the loop. Divided in "
            "every step, its singular values can't come near 1; and with no step it "
            "isn't divided at all.",
        ),
        Mistake(
            "a square of single numbers",
            _rounds_of(_squared_by_number),
            "(X Xᵀ)² is the product of that matrix with itself, `square @ square`; "
            "** squares each number alone.",
        ),
        Mistake(
            "a minus for the plus",
            _rounds_of(lambda x: _round(x, (3.4445, -4.7750, -2.0315))),
            "The fifth power is added. A minus before a bracket turns the sign of "
            "everything in it.",
        ),
        Mistake(
            "coefficients in another order",
            _rounds_of(lambda x: _round(x, (3.4445, 2.0315, -4.7750))),
            "-4.7750 belongs to the third power, and 2.0315 to the fifth.",
        ),
        *(
            Mistake(
                "an X that is scaled too soon",
                _rounds_of(one),
                "All three terms are made from the old X. Yours was multiplied by "
                "3.4445 before the products were made.",
            )
            for one in (_products_of_the_scaled, _terms_of_the_scaled)
        ),
        Mistake(
            "a fifth power of the new X",
            _rounds_of(_in_two_lines),
            "All three terms are made from the old X. Yours already holds the first "
            "two when the third is made: add all of them in one line.",
        ),
        Mistake(
            "the first axes exchanged",
            _with_turned(lambda x: x.transpose(0, 1)),
            "transpose(0, 1) takes the first two axes, which are rows and columns only "
            "where there is one matrix. The last two are .mT, or transpose(-2, -1).",
        ),
        Mistake(
            "all axes in reverse",
            _with_turned(lambda x: x.permute(*reversed(range(x.dim())))),
            "Rows and columns are exchanged, and with several matrices all other axes, "
            "too, as .T does. .mT takes the last two alone.",
        ),
        Mistake(
            "one step too few",
            _steps(lambda steps: max(steps - 1, 0)),
            "The polynomial is repeated `steps` times.",
        ),
        Mistake(
            "a tall matrix that stays transposed",
            _left_transposed,
            "Tall matrices are transposed, and not turned back at the end.",
        ),
        Mistake(
            "tall matrices reshaped in place of a transpose",
            _reshaped,
            "`reshape` and `view` lay the numbers out anew, which gives another "
            "matrix. Exchange the last two axes with `.mT`, or leave tall matrices as "
            "they are.",
        ),
        Mistake(
            "an update scaled by its shape",
            _scaled_by_shape,
            "Muon multiplies the update of a tall matrix by the root of rows / "
            "columns. The task asks for the orthogonalised matrix alone.",
        ),
        Mistake(
            "axes of length 1 that are lost",
            lambda gradient, steps: _repeat(
                gradient / _length(gradient), steps
            ).squeeze(),
            "squeeze() removes every axis of length 1, so that a matrix of one row "
            "loses that, too. Name the axis: squeeze(0).",
        ),
        Mistake(
            "numbers of 16 bits",
            _all_in_bfloat16,
            "The matrix is divided and the steps are taken in bfloat16, as in some "
            "code for Muon. The task asks for float32.",
        ),
    ),
)
