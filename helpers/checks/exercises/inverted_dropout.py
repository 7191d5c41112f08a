"""Exercise of chapter 5: dropout by hand."""

import torch
import torch.nn.functional as F

from attention_audit.wording import sort_of
from helpers.checks.cases import Case, Mistake
from helpers.checks.comparing import difference
from helpers.checks.exercise import Exercise
from helpers.checks.stubs import attempted

CALLS = 600
MOST_ROWS = 4  # two weights, each dropped or kept


def _modes():
    def case(name, weights, p, training):
        weights = torch.tensor(weights)
        return Case(name, {"weights": weights, "p": p, "training": training})

    square = [[0.4, 0.6], [0.8, 0.2]]
    return [
        case("eval mode", [[0.4, 0.6]], 0.5, False),
        case("train mode, one row, p = 0.5", [[0.4, 0.6]], 0.5, True),
        case("train mode, one row, p = 0.2", [[0.4, 0.6]], 0.2, True),
        case("train mode, ten rows", square * 5, 0.5, True),
        case("train mode, two sequences of one row", [square[:1]] * 2, 0.5, True),
        case("train mode, p = 0", square, 0.0, True),
    ]


def _use_dropout(attempt, weights, p, training):
    """Call a dropout many times, and say what holds of its results."""
    if p == 0:
        return {"the same numbers come out": _leaves_alone(attempt, weights, training)}
    before = weights.clone()
    value = attempt(weights, p, training)
    if value is None or value is ...:
        # A reader may have written one of the two modes so far.
        attempted(attempt(before.clone(), p, not training))
    names = ("result", "different masks", "the first row", "share dropped")
    facts = dict.fromkeys(names)
    drawn = []
    for _ in range(CALLS):
        facts["result"] = _sort(value)
        if facts["result"] != _sort(before):
            return facts
        drawn.append(value.detach().double().clone())
        value = attempt(before.clone(), p, training)
    drawn = torch.stack(drawn)
    dropped = ~(drawn.abs() > 0)  # NaN counts as dropped
    different = len(dropped.flatten(1).unique(dim=0))
    facts["different masks"] = _count(different)
    share = dropped.double().mean().item()
    # What a single mask holds is chance; of many entries it drops some, and not all.
    one_mask = training and different == 1
    if not one_mask or (before.numel() >= 20 and share in (0.0, 1.0)):
        row = before.flatten(0, -2)[0]
        rows = drawn.flatten(1, -2)[:, 0]
        facts["the first row"] = f"{_outcomes(row[None])} becomes {_outcomes(rows)}"
        facts["share dropped"] = f"a share of about {_near(share, p):.1f} is dropped"
    return facts


def _leaves_alone(attempt, weights, training):
    before = weights.clone()
    try:
        value = attempt(weights, 0.0, training)
    except ZeroDivisionError:
        return False
    return difference(before, value) is None


def _sort(value):
    if isinstance(value, torch.Tensor) and value.device.type != "cpu":
        return f"a tensor on {value.device}"
    return sort_of(value)


def _count(different):
    if different == 1:
        return f"the same mask in {CALLS} calls"
    count = different if different <= 100 else "more than 100"
    return f"{count} different masks in {CALLS} calls"


def _outcomes(rows):
    """The different rows, as a text."""
    texts = {" ".join(f"{entry:z.3g}" for entry in row) for row in rows.tolist()}
    shown, others = sorted(texts)[:MOST_ROWS], len(texts) - MOST_ROWS
    return " or ".join(shown) + (f" or {others} others" if others > 0 else "")


def _near(share, p):
    """A share of few hundred draws: which of p and 1 - p it is, or one decimal of it.

    Independent draws stay within 0.1 by more than six standard deviations.
    """
    near = (one for one in (p, 1 - p) if abs(share - one) < 0.1)
    return next(near, round(share, 1))


def _mask(weights, p, *axes):
    """True with probability 1 - p, drawn once along the given axes."""
    shape = [1 if axis in axes else n for axis, n in enumerate(weights.shape)]
    return torch.rand(shape) >= p


def _only_training(change):
    def dropout(weights, p, training):
        return change(weights, p) if training else weights

    return dropout


def _unscaled(weights, p):
    return weights * _mask(weights, p)


def _repeated(weights, p):
    generator = torch.Generator().manual_seed(123)
    return weights * (torch.rand(weights.shape, generator=generator) >= p) / (1 - p)


def _renormalised(weights, p):
    kept = _unscaled(weights, p)
    return kept / kept.sum(-1, keepdim=True)


EXERCISE = Exercise(
    name="inverted_dropout",
    stub="my_inverted_dropout(weights, p, training)",
    asks=(
        "a function of weights (..., T, S), of the probability p of dropping, and of "
        "whether it is train mode; it returns the dropped weights (..., T, S). It is "
        "called some hundred times, and what holds of all calls is compared."
    ),
    returns={"dropped": "(..., T, S)"},
    reference=F.dropout,
    cases=_modes,
    run=_use_dropout,
    mistakes=(
        Mistake(
            "dropout without the division by 1 - p",
            _only_training(_unscaled),
            "The kept weights stay as they were, so the expected value of a weight in "
            "training is 1 - p times that in evaluation.",
        ),
        Mistake(
            "dropout that multiplies in eval mode in place of dividing in train mode",
            lambda weights, p, training: (
                _unscaled(weights, p) if training else weights * (1 - p)
            ),
            "That is the first paper's way, and the averages agree, too. Here, as in "
            "PyTorch, train mode divides, so that eval mode leaves the weights alone.",
        ),
        Mistake(
            "dropout that drops in eval mode, too",
            lambda weights, p, training: F.dropout(weights, p),
            "The argument training decides: where it is False, the weights come out as "
            "they went in.",
        ),
        Mistake(
            "dropout that divides in eval mode, too",
            lambda weights, p, training: (
                F.dropout(weights, p) if training else weights / (1 - p)
            ),
            "In eval mode nothing is dropped, so there is nothing to make up for: the "
            "weights come out as they went in.",
        ),
        Mistake(
            "dropout whose p is the probability of keeping",
            _only_training(lambda weights, p: F.dropout(weights, 1 - p)),
            "A share of 1 - p is dropped, and what stays is divided by p. The first "
            "paper counts that way; here p is the probability of dropping.",
        ),
        Mistake(
            "dropout that keeps with probability p, and divides by 1 - p",
            _only_training(
                lambda weights, p: weights * ~_mask(weights, p) / (1 - p),
            ),
            "A weight is to be dropped with probability p, and to stay with 1 - p. If "
            "you compare a uniform number with p: it lies below p with probability p, "
            "and that is when to drop.",
        ),
        Mistake(
            "dropout that drops whole rows",
            _only_training(
                lambda weights, p: (
                    weights * _mask(weights, p, weights.dim() - 1) / (1 - p)
                )
            ),
            "One random number decides about all the weights of a query. Each entry "
            "has its own draw: the random numbers need the shape of the weights.",
        ),
        Mistake(
            "dropout that drops whole columns",
            _only_training(
                lambda weights, p: (
                    weights * _mask(weights, p, weights.dim() - 2) / (1 - p)
                )
            ),
            "One random number decides about a key, for all queries: a word leaves the "
            "sentence. Each entry has its own draw: the random numbers need the shape "
            "of the weights.",
        ),
        Mistake(
            "dropout with one mask for the whole batch",
            _only_training(
                lambda weights, p: (
                    weights * _mask(weights, p, *range(weights.dim() - 2)) / (1 - p)
                )
            ),
            "Each sequence has its own draws: the random numbers need the shape of the "
            "weights, leading axes included.",
        ),
        Mistake(
            "dropout with the same mask in each call",
            _only_training(_repeated),
            "The mask is drawn anew each time. A seed inside the function starts the "
            "same stream of random numbers over and over.",
        ),
        Mistake(
            "dropout that makes each row sum to 1 again",
            _only_training(
                lambda weights, p: F.normalize(_unscaled(weights, p), p=1, dim=-1)
            ),
            "Dropout divides by 1 - p and doesn't look at what is left of the row.",
        ),
        Mistake(
            "dropout that makes each row sum to 1 again",
            _only_training(_renormalised),
            "Dropout divides by 1 - p and doesn't look at the row's sum. A row that "
            "lost everything has the sum 0, and 0 / 0 is not a number.",
        ),
    ),
)
