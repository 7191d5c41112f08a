"""Exercise of chapter 13: RMSNorm."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def _vectors():
    generator = torch.Generator().manual_seed(13)

    def draw(*shape):
        return torch.randn(shape, generator=generator)

    vectors = {
        "one vector of two features": (torch.tensor([[3.0, 4.0]]), 0.01),
        "three vectors of four features": (draw(3, 4), 0.01),
        "a vector of zeros beside another": (torch.stack([0 * draw(4), draw(4)]), 0.01),
        "features of a tenth": (0.1 * draw(3, 5), 0.01),
        "an eps of a half": (draw(2, 6), 0.5),
        "features around 10": (10 + draw(4, 3), 0.01),
        "texts and words": (draw(2, 3, 8), 0.01),
        "a vector alone": (draw(5), 0.01),
        "as many vectors as features": (draw(3, 3), 0.01),
        "features of a thousandth": (0.001 * draw(2, 4), 0.01),
    }
    return [
        Case(name, {"x": x, "weight": 0.5 + draw(x.shape[-1]).abs(), "eps": eps})
        for name, (x, eps) in vectors.items()
    ]


def _mean(x, dim=-1):
    return x.mean(dim=dim, keepdim=True)


def _over(size):
    """A mistake in what the vectors are divided by, as a function of x and eps."""
    return lambda x, weight, eps: x / size(x, eps) * weight


def _eps_for_zeros(mean, eps):
    return torch.where(mean == 0, mean + eps, mean)


def _layer_norm(x, weight, eps):
    centred = x - _mean(x)
    return centred / torch.sqrt(_mean(centred.square()) + eps) * weight


def _normed(x, eps):
    return x / torch.sqrt(_mean(x.square()) + eps)


EXERCISE = Exercise(
    name="rms_norm",
    stub="my_rms_norm(x, weight, eps)",
    asks=(
        "a function of vectors (..., C), of trained factors (C,) and of a small number "
        "that returns the vectors, each divided by the root of the mean of its squares "
        "plus eps, times the factors."
    ),
    returns={"normed": "(..., C)"},
    reference=lambda x, weight, eps: _normed(x, eps) * weight,
    cases=_vectors,
    mistakes=(
        Mistake(
            "LayerNorm",
            _layer_norm,
            "RMSNorm leaves the mean in: divide x itself, and not x minus its mean.",
        ),
        Mistake(
            "a division by the standard deviation",
            _over(lambda x, eps: x.std(dim=-1, keepdim=True) + eps),
            "The mean stays in x, so it belongs to the size as well: take the mean of "
            "the squares of x, and not std. And eps is added before the root is taken.",
        ),
        Mistake(
            "a division by the standard deviation",
            _over(lambda x, eps: torch.sqrt(_mean((x - _mean(x)).square()) + eps)),
            "The mean stays in x, so it belongs to the size as well: take the mean of "
            "the squares of x, and not the variance.",
        ),
        Mistake(
            "eps outside the root",
            _over(lambda x, eps: torch.sqrt(_mean(x.square())) + eps),
            "eps is added to the mean of the squares, before the root is taken. For "
            "small vectors that makes a difference.",
        ),
        Mistake(
            "eps for zeros alone",
            _over(lambda x, eps: _eps_for_zeros(_mean(x.square()), eps).sqrt()),
            "eps is added to every mean of the squares, and not only to one that is 0: "
            "for small vectors that makes a difference.",
        ),
        *(
            Mistake(
                "an eps of its own",
                _over(lambda x, eps, own=own: torch.sqrt(_mean(x.square()) + own)),
                "`eps` is an argument, and may be large: yours adds a small number of "
                "its own, whatever `eps` is.",
            )
            for own in (1e-5, 1e-6, torch.finfo(torch.float32).eps, 1e-8)
        ),
        Mistake(
            "eps added to the sum",
            _over(
                lambda x, eps: (
                    (x.square().sum(-1, keepdim=True) + eps) / x.shape[-1]
                ).sqrt()
            ),
            "eps is added to the mean of the squares. Yours is added to their sum, so "
            "that it is divided by C as well.",
        ),
        Mistake(
            "eps as the least that is divided by",
            _over(lambda x, eps: torch.sqrt(_mean(x.square()).clamp(min=eps))),
            "eps is added to the mean of the squares, whatever that is.",
        ),
        Mistake(
            "no root",
            _over(lambda x, eps: _mean(x.square()) + eps),
            "What you divide by is the mean of the squares. Take its root: otherwise "
            "a vector that is 10 times as long comes out 10 times as short.",
        ),
        Mistake(
            "vectors of length 1",
            _over(lambda x, eps: torch.sqrt(x.square().sum(-1, keepdim=True) + eps)),
            "You divide by the root of the sum of the squares. With the mean, the "
            "features get a size of about 1 each, however many there are.",
        ),
        Mistake(
            "one size for all vectors",
            _over(lambda x, eps: torch.sqrt(x.square().mean() + eps)),
            "Each vector is divided by its own size: take the mean over the last axis "
            "alone, and keep that axis.",
        ),
        Mistake(
            "one size for all vectors",
            lambda x, weight, eps: x / torch.sqrt(x.square().mean() + eps),
            "Each vector is divided by its own size: take the mean over the last axis "
            "alone, and keep that axis. And the result must be multiplied by `weight`.",
        ),
        Mistake(
            "sizes along the features",
            _over(lambda x, eps: torch.sqrt(x.square().mean(dim=-1) + eps)),
            "The mean over the last axis takes that axis away, so that the vectors' "
            "sizes lie along the features. keepdim=True keeps it, with length 1.",
        ),
        Mistake(
            "a mean over the vectors",
            _over(lambda x, eps: torch.sqrt(_mean(x.square(), 1) + eps)),
            "dim=1 is the axis of the features only where there are two axes. dim=-1 "
            "is, however many there are.",
        ),
        Mistake(
            "a weight that is 1 too large",
            lambda x, weight, eps: _normed(x, eps) * (1 + weight),
            "Some models keep the factor minus 1. Here `weight` is the factor itself.",
        ),
        Mistake(
            "a weight before the norm",
            lambda x, weight, eps: _normed(x * weight, eps),
            "Multiply by `weight` after the division. Before it, the weight changes "
            "the size that is divided by.",
        ),
        Mistake(
            "the square of the mean",
            _over(lambda x, eps: torch.sqrt(_mean(x).square() + eps)),
            "Square first, then take the mean: in the mean of the features, positive "
            "and negative ones cancel.",
        ),
    ),
)
