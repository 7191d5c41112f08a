"""Exercise of the page "Backward, by hand": the gradient of the loss."""

import torch
import torch.nn.functional as F

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.softmax_backward import drawing


def _predictions():
    draw = drawing(34)

    def case(name, logits, targets):
        return Case(name, {"logits": logits, "targets": torch.tensor(targets)})

    def ids(*shape):
        return (1000 * draw(*shape)).long().remainder(5).tolist()

    table = torch.tensor
    return [
        case("one position", table([[1.0, 0.0]]), [1]),
        case("two positions", table([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]), [0, 1]),
        case("even logits", torch.zeros(3, 8), [0, 5, 7]),
        case("one character twice", draw(3, 4), [2, 2, 1]),
        case("as many positions as characters", draw(5, 5), ids(5)),
        case("logits in the thousands", 1000 + table([[0.0, 2], [1, 0]]), [0, 1]),
        case("rows that differ by thousands", table([[0.0, 1], [5000, 0]]), [1, 0]),
        case("a target next to impossible", table([[0.0, 25, 1], [40, 0, 2]]), [0, 1]),
        case("a text alone in its batch", draw(1, 3, 5), ids(1, 3)),
        case("a batch of two texts", draw(2, 5, 7), ids(2, 5)),
        case("more axes", draw(2, 3, 4, 6), ids(2, 3, 4)),
    ]


def _by_autograd(logits, targets):
    leaf = logits.clone().requires_grad_()
    F.cross_entropy(leaf.flatten(0, -2), targets.flatten()).backward()
    return leaf.grad


def _one_hot(logits, targets):
    return F.one_hot(targets, logits.shape[-1]).to(logits.dtype)


def _difference(logits, targets):
    return logits.softmax(-1) - _one_hot(logits, targets)


def _divided(by):
    """The right difference, divided by something else."""
    return lambda logits, targets: _difference(logits, targets) / by(logits)


def _less_one_hot(of_logits):
    """Something else than softmax, less a one-hot row."""
    return lambda logits, targets: (
        (of_logits(logits) - _one_hot(logits, targets)) / targets.numel()
    )


def _shares(exponentials):
    return exponentials / exponentials.sum(-1, keepdim=True)


def _in_every_row(logits, targets):
    """As ``grad[..., targets] -= 1`` leaves it."""
    grad = logits.softmax(-1)
    grad[..., targets.unique()] -= 1
    return grad / targets.numel()


EXERCISE = Exercise(
    name="cross_entropy_backward",
    stub="my_cross_entropy_backward(logits, targets)",
    asks=(
        "a function of logits (..., T, vocab_size) and of ids (..., T) that returns "
        "the gradient of their mean cross-entropy for the logits, in their shape. It "
        "must stay right with logits in the thousands."
    ),
    returns={"grad": "(..., T, vocab_size)"},
    reference=_by_autograd,
    cases=_predictions,
    mistakes=(
        Mistake(
            "the gradient with its sign turned",
            lambda logits, targets: -_difference(logits, targets) / targets.numel(),
            "A wrong character's logit raises the loss, so its entry is positive: "
            "softmax minus one-hot.",
        ),
        Mistake(
            "the gradient of the sum of all losses",
            _divided(lambda logits: 1),
            "The loss is the mean over all positions: divide by how many there are.",
        ),
        Mistake(
            "a 1 that is subtracted after the division",
            lambda logits, targets: (
                logits.softmax(-1) / targets.numel() - _one_hot(logits, targets)
            ),
            "The whole row is divided by the number of positions, and so is the 1 "
            "that is subtracted at the right character.",
        ),
        Mistake(
            "a division by the first axis alone",
            _divided(lambda logits: logits.shape[0]),
            "The mean runs over the positions of all texts: divide by B T, and not by "
            "the size of the batch.",
        ),
        Mistake(
            "a division by T alone",
            _divided(lambda logits: logits.shape[-2]),
            "The mean runs over the positions of all texts: divide by B T, and not by "
            "the length of one.",
        ),
        Mistake(
            "a division by the number of logits",
            _divided(lambda logits: logits.numel()),
            "The mean runs over positions. Each has one loss, however many characters "
            "there are: divide by the number of targets.",
        ),
        Mistake(
            "softmax over the second axis",
            _less_one_hot(lambda logits: logits.softmax(1)),
            "dim=1 is the axis of the characters only where there are two axes. dim=-1 "
            "is, however many there are.",
        ),
        Mistake(
            "exponentials that overflow",
            _less_one_hot(lambda logits: _shares(logits.exp())),
            "In float32, the exponential of a number above 89 is infinite. Subtract "
            "each row's largest logit first, as torch.softmax does.",
        ),
        Mistake(
            "one maximum for all rows",
            _less_one_hot(lambda logits: _shares((logits - logits.max()).exp())),
            "In a row that lies thousands below the largest logit, all exponentials "
            "become 0. Subtract the largest logit of each row.",
        ),
        Mistake(
            "the right character's entry alone",
            lambda logits, targets: (
                _difference(logits, targets)
                * _one_hot(logits, targets)
                / targets.numel()
            ),
            "Every logit of the row acts on the loss, because each one takes its share "
            "of the probability. The wrong ones' entries are their probabilities.",
        ),
        Mistake(
            "a 1 that is subtracted in every row",
            _in_every_row,
            "grad[..., targets] takes the columns of all targets in every row. Each "
            "row has its own: index with the rows' numbers beside the targets, or use "
            "a one-hot table.",
        ),
    ),
)
