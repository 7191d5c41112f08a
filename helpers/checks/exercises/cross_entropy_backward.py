"""Exercise of the page "Backward, by hand": the gradient of the loss."""

import torch
import torch.nn.functional as F

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.softmax_backward import drawing, row_sums


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


def _written_over(logits, targets):
    grad = logits.softmax(-1).scatter(-1, targets[..., None], -1.0)
    return grad / targets.numel()


def _of_the_probabilities(logits, targets):
    return -_one_hot(logits, targets) / logits.softmax(-1) / targets.numel()


def _through_softmax_again(logits, targets):
    weights, grad = logits.softmax(-1), _difference(logits, targets)
    return weights * (grad - row_sums(weights, grad)) / targets.numel()


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
            "softmax alone",
            lambda logits, targets: logits.softmax(-1) / targets.numel(),
            "The right character's logit lowers the loss: its entry is the "
            "probability minus 1.",
        ),
        Mistake(
            "softmax alone, and no division",
            lambda logits, targets: logits.softmax(-1),
            "The right character's logit lowers the loss: its entry is the "
            "probability minus 1. And the loss is a mean over the positions.",
        ),
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
            "the gradient of the sum, with its sign turned",
            lambda logits, targets: -_difference(logits, targets),
            "A wrong character's logit raises the loss, so its entry is positive: "
            "softmax minus one-hot. And the loss is a mean over the positions.",
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
            "a division by vocab_size",
            _divided(lambda logits: logits.shape[-1]),
            "The mean runs over positions. Each has one loss, however many characters "
            "there are.",
        ),
        Mistake(
            "a division by the number of logits",
            _divided(lambda logits: logits.numel()),
            "The mean runs over positions. Each has one loss, however many characters "
            "there are: divide by the number of targets.",
        ),
        Mistake(
            "the best guess in place of the target",
            lambda logits, targets: (
                _difference(logits, logits.argmax(-1)) / targets.numel()
            ),
            "Subtract 1 where the target is. The character with the largest logit is "
            "what the model guesses, and not what came.",
        ),
        Mistake(
            "softmax over the positions",
            _less_one_hot(lambda logits: logits.softmax(-2)),
            "Each position shares its probability among the characters, the last axis.",
        ),
        Mistake(
            "softmax over the second axis",
            _less_one_hot(lambda logits: logits.softmax(1)),
            "dim=1 is the axis of the characters only where there are two axes. dim=-1 "
            "is, however many there are.",
        ),
        Mistake(
            "softmax over the whole table",
            _less_one_hot(lambda logits: logits.flatten().softmax(0).view_as(logits)),
            "Each position shares its probability among the characters, the last axis.",
        ),
        Mistake(
            "softmax over the first axis",
            _less_one_hot(lambda logits: logits.softmax(0)),
            "Each position shares its probability among the characters, the last axis.",
        ),
        Mistake(
            "exponentials that overflow",
            _less_one_hot(lambda logits: _shares(logits.exp())),
            "In float32, the exponential of a number above 89 is infinite. Subtract "
            "each row's largest logit first, as torch.softmax does.",
        ),
        Mistake(
            "exponentials that overflow",
            lambda logits, targets: _shares(logits.exp()) - _one_hot(logits, targets),
            "In float32, the exponential of a number above 89 is infinite. Subtract "
            "each row's largest logit first, as torch.softmax does. And the loss is a "
            "mean over the positions.",
        ),
        Mistake(
            "one maximum for all rows",
            _less_one_hot(lambda logits: _shares((logits - logits.max()).exp())),
            "In a row that lies thousands below the largest logit, all exponentials "
            "become 0. Subtract the largest logit of each row.",
        ),
        Mistake(
            "logits that softmax has not been applied to",
            _less_one_hot(lambda logits: logits),
            "The gradient is the probabilities minus a one-hot row: softmax makes "
            "them of the logits.",
        ),
        Mistake(
            "logarithms of the probabilities",
            _less_one_hot(lambda logits: logits.log_softmax(-1)),
            "The gradient is the probabilities themselves minus a one-hot row: "
            "softmax, and not log_softmax.",
        ),
        Mistake(
            "softmax applied twice",
            _less_one_hot(lambda logits: logits.softmax(-1).softmax(-1)),
            "Softmax makes probabilities of the logits once.",
        ),
        Mistake(
            "a sigmoid in place of softmax",
            _less_one_hot(torch.sigmoid),
            "The characters of a position share one probability: softmax over the row, "
            "and not a sigmoid for each logit.",
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
            "a one-hot row alone",
            lambda logits, targets: -_one_hot(logits, targets) / targets.numel(),
            "That is the part of the right logit. The logarithm of the row's sum has a "
            "gradient, too, which is softmax.",
        ),
        Mistake(
            "a -1 in place of the probability minus 1",
            _written_over,
            "The right character's entry is its probability minus 1: subtract there, "
            "and don't write over what softmax gave.",
        ),
        Mistake(
            "a one-hot table as wide as the largest target",
            lambda logits, targets: (
                (logits.softmax(-1) - F.one_hot(targets)) / targets.numel()
            ),
            "F.one_hot makes its rows as wide as the largest id needs, unless it is "
            "told how many there are: F.one_hot(targets, logits.shape[-1]).",
        ),
        Mistake(
            "a 1 that is subtracted everywhere",
            lambda logits, targets: (logits.softmax(-1) - 1) / targets.numel(),
            "Subtract 1 at the target alone.",
        ),
        Mistake(
            "a 1 that is subtracted in every row",
            _in_every_row,
            "grad[..., targets] takes the columns of all targets in every row. Each "
            "row has its own: index with the rows' numbers beside the targets, or use "
            "a one-hot table.",
        ),
        Mistake(
            "the gradient of the probabilities",
            _of_the_probabilities,
            "That is what arrives at the probabilities, and softmax lies between them "
            "and the logits. It divides by what may be 0; taken together, the two "
            "steps don't divide at all.",
        ),
        Mistake(
            "softmax's backward once more",
            _through_softmax_again,
            "Softmax minus one-hot is the gradient of the logits already: softmax's "
            "backward is part of it.",
        ),
    ),
)
