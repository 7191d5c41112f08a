"""Exercise of the page "Backward, by hand": the gradients of attention."""

import torch

from helpers import attention
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.softmax_backward import drawing, row_sums


def _attention_inputs():
    draw = drawing(32)

    def case(name, *tensors):
        names = ("queries", "keys", "values", "grad_context")
        return Case(name, dict(zip(names, tensors, strict=True)))

    def drawn(name, T, S, D, D_v):
        return case(name, draw(T, D), draw(S, D), draw(S, D_v), draw(T, D_v))

    def numbers(count):
        return draw(count, 3), draw(count, 3)

    table = torch.tensor
    two = table([[1.0, 0.0], [0.0, 1.0]])
    return [
        case(
            "one query, two keys, D = 2",
            table([[1.0, 0.0]]),
            two,
            table([[1.0], [3.0]]),
            table([[1.0]]),
        ),
        case(
            "two queries, two keys, D = 2",
            table([[1.0, 0.0], [2.0, 1.0]]),
            two,
            table([[1.0, 0.0], [3.0, 2.0]]),
            table([[1.0, 0.0], [1.0, 2.0]]),
        ),
        drawn("one key", 2, 1, 3, 2),
        # Weights of exactly 0 and 1: no gradient reaches the scores.
        case("scores in the thousands", 80 * two, 80 * two, draw(2, 3), draw(2, 3)),
        # Rows of unlike size, and large scores that lie close together.
        case(
            "one row of small scores", table([[80.0, 0], [0, 1]]), 80 * two, *numbers(2)
        ),
        case(
            "large scores that are close",
            10 * two,
            table([[17.0, 0], [16.9, 17]]),
            *numbers(2),
        ),
        drawn("T = S = D = D_v = 3", 3, 3, 3, 3),
        drawn("T = 5, S = 7, D = 4, D_v = 3", 5, 7, 4, 3),
    ]


def _attention_by_autograd(queries, keys, values, grad_context):
    leaves = [one.clone().requires_grad_() for one in (queries, keys, values)]
    context, _ = attention.scaled_dot_product_attention(*leaves)
    return torch.autograd.grad(context, leaves, grad_context)


def _by_hand(
    through_softmax=lambda weights, grad: weights * (grad - row_sums(weights, grad)),
    *,
    softmax=lambda scores: scores.softmax(-1),
    forward=0.5,
    backward=0.5,
    values_from=lambda weights, grad: weights.T @ grad,
    keys_from=lambda grad_scores, queries: grad_scores.T @ queries,
):
    """Attention's backward, of which a mistake changes one step.

    The scores are divided by D to the power ``forward``, and the gradients of queries
    and keys by D to the power ``backward``.
    """

    def backward_of(queries, keys, values, grad_context):
        D = queries.shape[-1]
        weights = softmax(queries @ keys.T / D**forward)
        grad_weights = grad_context @ values.T
        grad_scores = through_softmax(weights, grad_weights) / D**backward
        return (
            grad_scores @ keys,
            keys_from(grad_scores, queries),
            values_from(weights, grad_context),
        )

    return backward_of


def _shares(exponentials):
    return exponentials / exponentials.sum(-1, keepdim=True)


def _swapped(*tensors):
    grad_queries, grad_keys, grad_values = _by_hand()(*tensors)
    return grad_keys, grad_queries, grad_values


EXERCISE = Exercise(
    name="attention_backward",
    stub="my_attention_backward(queries, keys, values, grad_context)",
    asks=(
        "a function of queries (T, D), keys (S, D), values (S, D_v) and of the "
        "gradient (T, D_v) that arrives at the context; it returns the gradients of "
        "queries, keys and values, each of the shape of what it belongs to."
    ),
    returns={
        "grad_queries": "(T, D)",
        "grad_keys": "(S, D)",
        "grad_values": "(S, D_v)",
    },
    reference=_attention_by_autograd,
    cases=_attention_inputs,
    mistakes=(
        Mistake(
            "gradients that forget the division of the scores",
            _by_hand(backward=0),
            "The weights are right, but what divides the scores on the way forward "
            "divides the gradients of queries and keys on the way back.",
        ),
        Mistake(
            "softmax's backward with the diagonal of the Jacobian alone",
            _by_hand(lambda weights, grad: weights * (1 - weights) * grad),
            "A score changes all the weights of its row, and each of them passes a "
            "gradient back: subtract the row's weighted sum of gradients.",
        ),
        Mistake(
            "softmax's backward without the row sum",
            _by_hand(lambda weights, grad: weights * grad),
            "When one weight rises, the others of its row pay for it. That is the part "
            "with the minus sign.",
        ),
        Mistake(
            "softmax's backward with a sum over the queries",
            _by_hand(
                lambda weights, grad: (
                    weights * (grad - (weights * grad).sum(-2, keepdim=True))
                )
            ),
            "A score reaches the weights of its own row. Sum over the keys, the last "
            "axis.",
        ),
        Mistake(
            "exponentials that overflow",
            _by_hand(softmax=lambda scores: _shares(scores.exp())),
            "In float32, the exponential of a number above 89 is infinite. Subtract "
            "each row's largest score first, as torch.softmax does.",
        ),
        Mistake(
            "a gradient of the values from weights that are not transposed",
            _by_hand(values_from=lambda weights, grad: weights @ grad),
            "Value s collects from all contexts t, each times weights[t, s]: that is "
            "column s of the weights. Only where T equals S is there no error.",
        ),
        Mistake(
            "the gradients of queries and keys in each other's place",
            _swapped,
            "The gradient of the scores times the keys is the gradient of the queries, "
            "because a query meets keys.",
        ),
    ),
)
