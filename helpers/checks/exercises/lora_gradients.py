"""Exercise of "Fine-tuning with LoRA": the gradients of its two matrices."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.several_ways import several


def _by_autograd(x, A, B, grad, alpha):
    A, B = A.clone().requires_grad_(), B.clone().requires_grad_()
    return torch.autograd.grad(alpha / len(A) * x @ A.T @ B.T, (A, B), grad)


def _by_hand(
    *,
    scale_of_A=lambda x, A, B, alpha: alpha / len(A),
    scale_of_B=None,
    down=lambda x, A: x @ A.T,
    up=lambda grad, B: grad @ B,
):
    """Both gradients, of which a mistake changes one step.

    Args:
        scale_of_A: what the gradient of A is multiplied by.
        scale_of_B: the same of B; as that of A where left out.
        down: (N T, r), what the gradient of B has of the input.
        up: (N T, r), what the gradient of A has of the gradient that arrives.
    """

    def gradients(x, A, B, grad, alpha):
        by_A = scale_of_A(x, A, B, alpha)
        by_B = by_A if scale_of_B is None else scale_of_B(x, A, B, alpha)
        x, grad = x.flatten(0, 1), grad.flatten(0, 1)  # (N T, d_in), (N T, d_out)
        return by_A * up(grad, B).T @ x, by_B * grad.T @ down(x, A)

    return gradients


def _right_scale(x, A, B, alpha):
    return alpha / len(A)


def _one(x, A, B, alpha):
    return 1


def _swapped(x, A, B, grad, alpha):
    grad_A, grad_B = _by_hand()(x, A, B, grad, alpha)
    return grad_B, grad_A


def _first_text(x, A, B, grad, alpha):
    return _by_hand()(x[:1], A, B, grad[:1], alpha)


def _last_text(x, A, B, grad, alpha):
    return _by_hand()(x[-1:], A, B, grad[-1:], alpha)


def _divided_by(count):
    """Each gradient divided by a count of x (N, T, d_in)."""
    return _by_hand(scale_of_A=lambda x, A, B, alpha: alpha / len(A) / count(x))


def _layers():
    generator = torch.Generator().manual_seed(40)
    sizes = {
        "one position, rank 1": (1, 1, 2, 2, 1, 3.0),
        "one text of two positions": (1, 2, 3, 2, 2, 3.0),
        "two texts of one position": (2, 1, 3, 2, 2, 5.0),
        "more out than in": (2, 5, 4, 7, 3, 1.5),
        "a square of the full rank": (3, 2, 3, 3, 3, 2.0),
        "alpha equal to the rank": (2, 3, 6, 4, 2, 2.0),
        "B of zeros, as training begins": (2, 3, 4, 3, 2, 3.0),
    }
    cases = []
    for name, (texts, T, d_in, d_out, r, alpha) in sizes.items():
        shapes = ((texts, T, d_in), (r, d_in), (d_out, r), (texts, T, d_out))
        x, A, B, grad = (
            torch.randn(*shape, generator=generator).round(decimals=1)
            for shape in shapes
        )
        if name.startswith("B of zeros"):
            B = torch.zeros_like(B)
        inputs = {"x": x, "A": A, "B": B, "grad": grad, "alpha": alpha}
        cases.append(Case(name, inputs))
    return cases


EXERCISE = Exercise(
    name="lora_gradients",
    stub="my_lora_gradients(x, A, B, grad, alpha)",
    asks=(
        "a function of the input x (N, T, d_in), which is N texts, of A (r, d_in), of "
        "B (d_out, r), of the gradient (N, T, d_out) that arrives at the layer's "
        "output, and of the number alpha; it returns the gradients of A and of B, "
        "each of the shape of what it belongs to."
    ),
    returns={"grad_A": "(r, d_in)", "grad_B": "(d_out, r)"},
    reference=_by_autograd,
    cases=_layers,
    mistakes=(
        Mistake(
            "gradients without alpha / r",
            _by_hand(scale_of_A=_one),
            "The layer multiplies the product by alpha / r on the way forward, so both "
            "gradients are multiplied by it on the way back.",
        ),
        Mistake(
            "alpha without the rank",
            _by_hand(scale_of_A=lambda x, A, B, alpha: alpha),
            "The product counts alpha / r times, where r is how many rows A has.",
        ),
        Mistake(
            "divided by the rank alone",
            _by_hand(scale_of_A=lambda x, A, B, alpha: 1 / len(A)),
            "The product counts alpha / r times.",
        ),
        Mistake(
            "alpha / r twice",
            _by_hand(scale_of_A=lambda x, A, B, alpha: (alpha / len(A)) ** 2),
            "alpha / r stands once in the layer, so it stands once in each gradient.",
        ),
        *several(
            "alpha / r in one gradient alone",
            [
                _by_hand(scale_of_A=_one, scale_of_B=_right_scale),
                _by_hand(scale_of_A=_right_scale, scale_of_B=_one),
            ],
            "alpha / r multiplies the product of both, so that it stands in the "
            "gradient of A and in that of B.",
        ),
        Mistake(
            "no gradient for A",
            _by_hand(up=lambda grad, B: 0 * grad @ B),
            "A gets none only where B is zero, as it is before the first step. "
            "Otherwise what arrives at the output goes back through B to A.",
        ),
        Mistake(
            "the gradients in each other's place",
            _swapped,
            "The first is A's, (r, d_in); the second is B's, (d_out, r).",
        ),
        *several(
            "one text of the batch",
            [_first_text, _last_text],
            "A and B serve every position of every text, so their gradients are sums "
            "over both axes: flatten them into one.",
        ),
        *several(
            "a mean over positions in place of the sum",
            [
                _divided_by(lambda x: x.shape[0] * x.shape[1]),
                _divided_by(lambda x: x.shape[0]),
                _divided_by(lambda x: x.shape[1]),
            ],
            "Each position adds its part to the gradient. Where the loss is a mean, "
            "grad has been divided already.",
        ),
        Mistake(
            "the step in place of the gradient",
            _by_hand(scale_of_A=lambda x, A, B, alpha: -alpha / len(A)),
            "The minus sign belongs to the optimiser's step. A gradient says how the "
            "loss rises.",
        ),
    ),
)
