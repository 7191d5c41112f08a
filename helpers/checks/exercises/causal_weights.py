"""Exercise of chapter 4: the weights of causal attention."""

import math

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _score_tables():
    generator = torch.Generator().manual_seed(4)
    zero = torch.tensor([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.0, 1.0]])
    return [
        Case("two tokens", {"scores": torch.tensor([[1.0, 2.0], [3.0, 1.0]])}),
        Case("some scores are zero", {"scores": zero}),
        Case("one token", {"scores": torch.tensor([[0.5]])}),
        Case(
            "scores in the thousands",
            {"scores": 3000 * torch.randn(5, 5, generator=generator)},
        ),
        Case(
            "rows that differ by thousands",
            {"scores": torch.tensor([[0.0, 0.0], [5000.0, 3000.0]])},
        ),
        Case(
            "scores of minus ten thousands",
            {"scores": -20_000 - torch.arange(9.0).reshape(3, 3)},
        ),
        Case("negative scores", {"scores": -torch.rand(4, 4, generator=generator) - 1}),
        Case(
            "a batch of heads",
            {"scores": torch.randn(2, 3, 5, 5, generator=generator)},
        ),
    ]


def _masked_softmax(scores, mask, dim=-1):
    return scores.masked_fill(~mask, -math.inf).softmax(dim)


def _lower(scores, diagonal=0):
    return torch.ones_like(scores).tril(diagonal).bool()


def _zeros_hidden(scores):
    past = scores.tril()
    return past.masked_fill(past == 0, -math.inf).softmax(-1)


EXERCISE = Exercise(
    name="causal_weights",
    stub="my_causal_weights(scores)",
    asks=(
        "a function of (..., T, T) scores, scaled already, that returns the (..., T, "
        "T) weights: softmax over the keys that don't come after the query."
    ),
    returns={"weights": "(..., T, T)"},
    reference=lambda scores: _masked_softmax(scores, _lower(scores)),
    cases=_score_tables,
    mistakes=(
        *(
            Mistake(
                "a low number in place of minus infinity",
                lambda scores, low=low: scores.masked_fill(
                    ~_lower(scores), low
                ).softmax(-1),
                "Scores may be as low themselves, and then the future gets weight. "
                "Minus infinity lies below every score.",
            )
            for low in (-100.0, -1000.0, -10_000.0)
        ),
        Mistake(
            "a mask made of the scores that are 0",
            _zeros_hidden,
            "tril writes zeros into the future, but a score of the past may be 0, too, "
            "and is hidden with them. Make the mask of ones, not of scores.",
        ),
        Mistake(
            "weights zeroed after softmax, not divided by their sum",
            lambda scores: scores.softmax(-1).tril(),
            "The rows don't sum to 1, and what is missing depends on the future: that "
            "leaks. Mask before softmax.",
        ),
        Mistake(
            "weights zeroed after softmax, then divided by their sum",
            lambda scores: (
                scores.softmax(-1).tril()
                / scores.softmax(-1).tril().sum(-1, keepdim=True)
            ),
            "For small scores this equals the right weights. With a future score some "
            "hundreds higher, all that is left underflows to 0, and 0 / 0 is NaN.",
        ),
        Mistake(
            "minus infinity times 0",
            lambda scores: (scores + (1 - _lower(scores).float()) * -math.inf).softmax(
                -1
            ),
            "Infinity times 0 is not a number, so that all weights are NaN. "
            "masked_fill and torch.where write minus infinity without multiplying.",
        ),
        Mistake(
            "scores set to 0 above the diagonal",
            lambda scores: scores.tril().softmax(-1),
            "A score of 0 is a score like another: its weight is exp(0) over the sum, "
            "not 0. What has no weight has a score of minus infinity.",
        ),
        Mistake(
            "a mask that opens one key of the future",
            lambda scores: _masked_softmax(scores, _lower(scores, 1)),
            "Row t may see keys 0 to t. Key t + 1 is what it has to predict.",
        ),
        Mistake(
            "scores that are scaled a second time",
            lambda scores: _masked_softmax(
                scores / math.sqrt(scores.shape[-1]), _lower(scores)
            ),
            "The scores come scaled already: leave the square root out.",
        ),
        Mistake(
            "a mask that hides each token from itself",
            lambda scores: _masked_softmax(scores, _lower(scores, -1)).nan_to_num(),
            "The diagonal is no future. Without it, row 0 is softmax of nothing, which "
            "you have replaced by zeros: the first token needs weight 1 on itself.",
        ),
        Mistake(
            "exponentials without a maximum, masked and divided",
            lambda scores: (
                scores.exp().tril() / scores.exp().tril().sum(-1, keepdim=True)
            ),
            "That is softmax by hand, and right for small scores. exp(89) is infinite, "
            "and exp(-104) is 0: subtract each row's largest visible score first.",
        ),
        Mistake(
            "a mask that hides each token from itself",
            lambda scores: _masked_softmax(scores, _lower(scores, -1)),
            "The diagonal is no future. Without it, row 0 is softmax of nothing: NaN.",
        ),
    ),
)
