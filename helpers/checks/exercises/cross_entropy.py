"""Exercise of chapter 7: the cross-entropy of logits."""

import torch
import torch.nn.functional as F

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_number


def _predictions():
    generator = torch.Generator().manual_seed(8)

    def case(name, logits, targets):
        return Case(name, {"logits": logits, "targets": torch.tensor(targets)})

    def draw(*shape):
        return torch.randn(*shape, generator=generator)

    even = torch.zeros(2, 3, 8)
    high = torch.tensor([[[1000.0, 1002.0], [1001.0, 1000.0]]])
    near = torch.tensor([[[20.003, 20.0, 20.006], [20.0, 20.004, 20.001]]])
    far = torch.tensor([[[0.0, -2000.0], [-2000.0, 0.0]]])
    # The large one first: added to what is there, it would round that away.
    rows = torch.tensor([[[5000.0, 0.0], [1.0, 0.0]]])
    two = torch.tensor([[[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]])
    many = torch.randint(7, (2, 5), generator=generator).tolist()
    return [
        case("one position", torch.tensor([[[1.0, 0.0]]]), [[1]]),
        case("two positions", two, [[0, 1]]),
        case("a batch of two", draw(2, 5, 7), many),
        case("even logits", even, [[0, 5, 7], [3, 3, 1]]),
        case("large logits, close together", high, [[0, 1]]),
        case("logits that lie close together", near, [[0, 1]]),
        case("rows that differ by thousands", rows, [[0, 1]]),
        case("a target that seems impossible", far, [[1, 1]]),
    ]


def _cross_entropy(logits, targets):
    return F.cross_entropy(logits.flatten(0, -2), targets.flatten())


# --- three ways to the logarithms of the probabilities, one of them right -------------


def _stable(logits, dim=-1):
    return logits.log_softmax(dim)


def _after_softmax(logits, dim=-1):
    return logits.softmax(dim).log()


def _by_exponentials(logits, dim=-1):
    return (logits.exp() / logits.exp().sum(dim, keepdim=True)).log()


def _by_a_sum_of_exponentials(logits, dim=-1):
    return logits - logits.exp().sum(dim, keepdim=True).log()


# --- two ways with one maximum for all rows -------------------------------------------


def _all_shifted(logits, dim=-1):
    return _by_a_sum_of_exponentials(logits - logits.max(), dim)


def _all_shifted_quotients(logits, dim=-1):
    return _by_exponentials(logits - logits.max(), dim)


def _pick(rows, targets):
    """What each row holds for its target."""
    return rows.gather(-1, targets[..., None])[..., 0]


def _mistakes(logs):
    """Mistakes that come with any of the ways to the logarithms."""
    return (
        Mistake(
            "the sum over a text, averaged over the batch",
            lambda logits, targets: -_pick(logs(logits), targets).sum(-1).mean(),
            "The mean runs over all B T positions. Yours grows with the length of the "
            "text.",
        ),
        Mistake(
            "the mean over all entries of a one-hot table",
            lambda logits, targets: (
                -_pick(logs(logits), targets).sum() / logits.numel()
            ),
            "The zeros of a one-hot table count in a mean. Divide by the number of "
            "positions, B T, and not by B T vocab_size.",
        ),
        Mistake(
            "a loss with the wrong sign",
            lambda logits, targets: _pick(logs(logits), targets).mean(),
            "The logarithm of a probability is at most 0. The loss is minus that, so "
            "that a worse guess costs more.",
        ),
        Mistake(
            "softmax over the positions",
            lambda logits, targets: -_pick(logs(logits, dim=-2), targets).mean(),
            "Each position shares its probability among the characters, the last "
            "axis. Yours shares it among positions.",
        ),
    )


EXERCISE = Exercise(
    name="cross_entropy",
    stub="my_cross_entropy(logits, targets)",
    asks=(
        "a function of (B, T, vocab_size) logits and (B, T) ids that returns a number: "
        "minus the natural logarithm of the target's probability, averaged over all "
        "positions. It must stay right with logits in the thousands."
    ),
    returns={"loss": "a number"},
    reference=_cross_entropy,
    cases=_predictions,
    run=call_for_number,
    mistakes=(
        *_mistakes(_stable),
        *_mistakes(_after_softmax),
        *_mistakes(_by_exponentials),
        *_mistakes(_by_a_sum_of_exponentials),
        Mistake(
            "the logarithm of a probability that has become 0",
            lambda logits, targets: -_pick(_after_softmax(logits), targets).mean(),
            "Small probabilities underflow to 0 in softmax, and the logarithm of 0 is "
            "minus infinity. The logarithm of softmax is the logit minus logsumexp of "
            "its row, with no probability on the way.",
        ),
        *(
            Mistake(
                "a probability that a small number keeps from 0",
                lambda logits, targets, least=least: (
                    -_pick(logits.softmax(-1), targets).clamp(min=least).log().mean()
                ),
                "The loss is finite, but it has a ceiling, minus the logarithm of that "
                "number, where the right one goes on. The logarithm of softmax is the "
                "logit minus logsumexp of its row, with no probability on the way.",
            )
            for least in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-20)
        ),
        *(
            Mistake(
                "one maximum for all rows",
                lambda logits, targets, logs=logs: -_pick(logs(logits), targets).mean(),
                "In a row that lies thousands below the largest logit, all "
                "exponentials become 0. Take the largest logit of each row off it.",
            )
            for logs in (_all_shifted, _all_shifted_quotients)
        ),
        *(
            Mistake(
                "exponentials that overflow",
                lambda logits, targets, logs=logs: -_pick(logs(logits), targets).mean(),
                "The exponential of 1000 is infinity. First take the largest logit off "
                "its row, or let logsumexp do it: that changes no probability.",
            )
            for logs in (_by_exponentials, _by_a_sum_of_exponentials)
        ),
        Mistake(
            "the loss of the best guess, whatever the target is",
            lambda logits, targets: -logits.log_softmax(-1).amax(-1).mean(),
            "The targets have no part in yours. Each position's loss is minus the "
            "logarithm of the probability of the character that came.",
        ),
    ),
)
