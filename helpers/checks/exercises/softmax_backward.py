"""Exercise of the page "Backward, by hand": the gradient of softmax."""

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def drawing(seed):
    """A function of a shape that draws normal numbers, the same ones each time."""
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape: torch.randn(*shape, generator=generator)


def _weights_and_gradients():
    draw = drawing(31)

    def case(name, weights, grad_weights):
        return Case(name, {"weights": weights, "grad_weights": grad_weights})

    def drawn(name, *shape):
        return case(name, draw(*shape).softmax(-1), draw(*shape))

    even = torch.tensor([[0.5, 0.5]])
    rows = torch.tensor([[0.25, 0.75], [0.5, 0.5]])
    sure = torch.tensor([[1.0, 0.0], [0.995, 0.005], [0.5, 0.5]])
    small = torch.tensor([[0.9995, 0.0005]])
    return [
        case("one query, two keys", even, torch.tensor([[1.0, 0.0]])),
        case("two queries, two keys", rows, torch.tensor([[2.0, -2.0], [4.0, 0.0]])),
        case("the same gradient for all weights", rows, torch.ones(2, 2)),
        case("one key gets everything", torch.eye(3), draw(3, 3)),
        case("one key gets nearly everything", sure, draw(3, 2)),
        case("a key gets a two-thousandth", small, torch.tensor([[100.0, -100.0]])),
        drawn("five queries, seven keys", 5, 7),
        drawn("a batch of heads", 2, 3, 5, 7),
    ]


def _softmax_by_autograd(weights, grad_weights):
    # Weights that sum to 1 are what softmax makes of their logarithms.
    scores = weights.log().requires_grad_()
    attention.softmax(scores).backward(grad_weights)
    return scores.grad


def row_sums(weights, grad_weights):
    """What softmax's gradient subtracts in each row (..., T, 1)."""
    return (weights * grad_weights).sum(-1, keepdim=True)


EXERCISE = Exercise(
    name="softmax_backward",
    stub="my_softmax_backward(weights, grad_weights)",
    asks=(
        "a function of the weights (..., T, S) that softmax returned and of the "
        "gradient (..., T, S) that arrives at them; it returns the gradient (..., T, "
        "S) of the scores."
    ),
    returns={"grad_scores": "(..., T, S)"},
    reference=_softmax_by_autograd,
    cases=_weights_and_gradients,
    mistakes=(
        Mistake(
            "the gradient of the logarithm of softmax",
            lambda weights, grad: grad - weights * grad.sum(-1, keepdim=True),
            "That is the way back through log_softmax. The gradient arrives at the "
            "weights themselves.",
        ),
        Mistake(
            "a sum over all rows of a matrix",
            lambda weights, grad: (
                weights * (grad - (weights * grad).sum((-2, -1), keepdim=True))
                if weights.dim() > 1
                else weights * (grad - (weights * grad).sum())
            ),
            "Each query has a row of its own, and its scores reach no other row. Sum "
            "along the last axis only.",
        ),
        Mistake(
            "the other weights' sum with the wrong index",
            lambda weights, grad: (
                weights * grad - weights**2 * grad.sum(-1, keepdim=True)
            ),
            "In the sum over i each gradient is multiplied by its own weight, w_i, and "
            "not by w_j. The two are the same for even weights only.",
        ),
        Mistake(
            "the diagonal of the Jacobian alone",
            lambda weights, grad: weights * (1 - weights) * grad,
            "That is right for a function of one number, such as the sigmoid. A score "
            "changes all the weights of its row, and each of them passes a gradient "
            "back.",
        ),
        Mistake(
            "weights times gradient, and no more",
            lambda weights, grad: weights * grad,
            "When one weight rises, the others of its row pay for it, since the sum "
            "stays 1. Your result lacks the part with the minus sign.",
        ),
        Mistake(
            "a sum of the gradients that no weights multiply",
            lambda weights, grad: weights * (grad - grad.sum(-1, keepdim=True)),
            "What is subtracted from each gradient is their average by the row's "
            "weights: multiply by the weights before you sum.",
        ),
        Mistake(
            "the plain mean of the gradients in place of the weighted one",
            lambda weights, grad: weights * (grad - grad.mean(-1, keepdim=True)),
            "What is subtracted from each gradient is their average by the row's "
            "weights. The plain mean is right for even weights only.",
        ),
        Mistake(
            "a sum over the queries",
            lambda weights, grad: (
                weights * (grad - (weights * grad).sum(-2, keepdim=True))
            ),
            "A score reaches the weights of its own row. Sum over the keys, the last "
            "axis.",
        ),
        Mistake(
            "row sums that lie along the wrong axis",
            lambda weights, grad: weights * (grad - (weights * grad).sum(-1)),
            "sum takes its axis away, and what is left, one number for each query, is "
            "subtracted as if there were one for each key. Use keepdim=True.",
        ),
        Mistake(
            "a sum over the whole table",
            lambda weights, grad: weights * (grad - (weights * grad).sum()),
            "A score reaches the weights of its own row, and no others. Sum over the "
            "last axis, and keep it.",
        ),
        Mistake(
            "the gradient with its sign turned",
            lambda weights, grad: weights * (row_sums(weights, grad) - grad),
            "A weight rises with its own score: the diagonal of the Jacobian is "
            "positive.",
        ),
        Mistake(
            "a difference that is not multiplied by the weights",
            lambda weights, grad: grad - row_sums(weights, grad),
            "Each entry of the Jacobian begins with a weight. A key that gets no "
            "weight has a score without gradient.",
        ),
        Mistake(
            "softmax applied to the weights once more",
            lambda weights, grad: _softmax_by_autograd(weights.softmax(-1), grad),
            "What comes in are weights: softmax has been applied already.",
        ),
    ),
)
