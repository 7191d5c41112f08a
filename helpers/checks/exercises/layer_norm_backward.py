"""Exercise of the page "Backward, by hand": the gradients of layer norm."""

import torch
import torch.nn.functional as F

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.softmax_backward import drawing

EPS = 1e-5


def _vectors_and_gradients():
    draw = drawing(33)

    def case(name, x, weight=None, grad=None):
        weight = 0.5 + draw(x.shape[-1]).abs() if weight is None else weight
        grad = draw(*x.shape) if grad is None else grad
        return Case(name, {"x": x, "weight": weight, "grad": grad})

    table = torch.tensor
    return [
        case(
            "one vector of three features",
            table([[0.0, 3.0, 6.0]]),
            table([1.0, 2.0, 1.0]),
            table([[1.0, 0.0, 0.0]]),
        ),
        case("two vectors of four features", draw(2, 4)),
        case(
            "the same gradient at every feature",
            draw(3, 4),
            torch.ones(4),
            1 + 0 * draw(3, 4),
        ),
        case("features of a thousandth", 0.001 * draw(3, 5)),
        case("a vector of equal features", torch.stack([2 + 0 * draw(4), draw(4)])),
        case("features around 10", 10 + draw(3, 5)),
        case("as many vectors as features", draw(4, 4)),
        case("features in the hundreds", 300 * draw(5, 7)),
        case("a batch of texts", draw(2, 5, 4)),
        case("more axes", draw(2, 3, 5, 4)),
    ]


def _by_autograd(x, weight, grad):
    leaves = [one.clone().requires_grad_() for one in (x, weight, 0 * weight)]
    x, weight, bias = leaves
    result = F.layer_norm(x, weight.shape, weight, bias, eps=EPS)
    return torch.autograd.grad(result, leaves, grad)


def _mean(x):
    return x.mean(dim=-1, keepdim=True)


def _over_rows(x):
    """The sum over all axes but the last."""
    return x.flatten(0, -2).sum(dim=0)


def _size(centred):
    return torch.sqrt(_mean(centred.square()) + EPS)


def _through(g, normed, size):
    return (g - _mean(g) - normed * _mean(g * normed)) / size


def _by_hand(
    through=_through,
    *,
    size=_size,
    centre=lambda x: x - _mean(x),
    arriving=lambda grad, weight: grad * weight,
    weight_from=lambda grad, normed: _over_rows(grad * normed),
    bias_from=_over_rows,
):
    """Layer norm's backward, of which a mistake changes one step."""

    def backward_of(x, weight, grad):
        centred = centre(x)
        divisor = size(centred)
        normed = centred / divisor
        return (
            through(arriving(grad, weight), normed, divisor),
            weight_from(grad, normed),
            bias_from(grad),
        )

    return backward_of


def _sums(over):
    """A mistake in how the gradients of weight and bias are collected."""
    return _by_hand(
        weight_from=lambda grad, normed: over(grad * normed), bias_from=over
    )


def _weight_at_the_end(x, weight, grad):
    grad_x, *others = _by_hand(arriving=lambda grad, weight: grad)(x, weight, grad)
    return grad_x * weight, *others


def _weight_from(of_x):
    def backward_of(x, weight, grad):
        grad_x, _, grad_bias = _by_hand()(x, weight, grad)
        return grad_x, _over_rows(grad * of_x(x)), grad_bias

    return backward_of


def _weighted(x, weight, grad):
    """The weight in the gradients of weight and bias, too."""
    return _by_hand(
        weight_from=lambda grad, normed: _over_rows(grad * normed) * weight,
        bias_from=lambda grad: _over_rows(grad) * weight,
    )(x, weight, grad)


def _without_the_length(g, normed, size):
    """What a normed vector's own direction loses where its length is exactly √C."""
    squares = normed.square().sum(-1, keepdim=True).clamp(min=1e-12)
    along = (g * normed).sum(-1, keepdim=True) / squares
    return (g - _mean(g) - normed * along) / size


def _floored(centred):
    return _mean(centred.square()).clamp(min=EPS).sqrt()


def _mean_over_texts(x):
    sums = x.sum(dim=-2)
    return sums.flatten(0, -2).mean(dim=0) if sums.dim() > 1 else sums


def _folded(x):
    return x.reshape(x.shape[-1], -1).sum(dim=1)


EXERCISE = Exercise(
    name="layer_norm_backward",
    stub="my_layer_norm_backward(x, weight, grad)",
    asks=(
        "a function of vectors x (..., T, C), of the weight (C,) of layer norm and of "
        "the gradient (..., T, C) that arrives at its result; it returns the gradients "
        "of x, weight and bias, each of the shape of what it belongs to. The size is "
        "the root of the variance plus 1e-5."
    ),
    returns={"grad_x": "(..., T, C)", "grad_weight": "(C,)", "grad_bias": "(C,)"},
    reference=_by_autograd,
    cases=_vectors_and_gradients,
    mistakes=(
        Mistake(
            "a gradient of x that keeps its mean",
            _by_hand(lambda g, normed, size: (g - normed * _mean(g * normed)) / size),
            "Layer norm takes the mean off x, so a gradient that moves all features "
            "alike must not reach x: subtract the mean of what arrives.",
        ),
        Mistake(
            "a gradient of x without the part of the size",
            _by_hand(lambda g, normed, size: (g - _mean(g)) / size),
            "x acts on its size, too, and each feature is divided by that: subtract "
            "the normed vector, times the mean of its product with what arrives.",
        ),
        Mistake(
            "a gradient of x that is divided by the size, and no more",
            _by_hand(lambda g, normed, size: g / size),
            "x acts through its mean and through its size as well. Both take a part "
            "off the gradient.",
        ),
        Mistake(
            "a gradient of x that isn't divided by the size",
            _by_hand(lambda g, normed, size: g - _mean(g) - normed * _mean(g * normed)),
            "Layer norm divides each vector by its size, so what is left of the "
            "gradient is divided by it, too.",
        ),
        Mistake(
            "a gradient of x without the weight",
            _by_hand(arriving=lambda grad, weight: grad),
            "On the way forward each normed feature is multiplied by its weight, so on "
            "the way back grad is multiplied by it before anything else.",
        ),
        Mistake(
            "a variance that divides by C - 1",
            _by_hand(
                size=lambda centred: torch.sqrt(
                    centred.square().sum(-1, keepdim=True) / (centred.shape[-1] - 1)
                    + EPS
                )
            ),
            "var and std divide by C - 1 unless told otherwise. Layer norm takes the "
            "mean of the squares: unbiased=False, or correction=0.",
        ),
        *(
            Mistake(
                "a variance that divides by C - 1",
                _by_hand(size=size),
                "std divides by C - 1 unless told otherwise, where layer norm takes "
                "the mean of the squares. And 1e-5 is added before the root is taken.",
            )
            for size in (
                lambda centred: centred.std(dim=-1, keepdim=True) + EPS,
                lambda centred: centred.std(dim=-1, keepdim=True),
            )
        ),
        Mistake(
            "a weight that multiplies at the very end",
            _weight_at_the_end,
            "On the way forward the weight comes last, so on the way back it comes "
            "first: multiply grad by it before you take the means.",
        ),
        Mistake(
            "a normed vector that is added",
            _by_hand(
                lambda g, normed, size: (
                    (g - _mean(g) + normed * _mean(g * normed)) / size
                )
            ),
            "A larger size makes each feature smaller: the part of the size is "
            "subtracted.",
        ),
        Mistake(
            "eps outside the root",
            _by_hand(size=lambda centred: _mean(centred.square()).sqrt() + EPS),
            "The 1e-5 is added to the variance, before the root is taken. For small "
            "vectors that makes a difference.",
        ),
        Mistake(
            "a size without eps",
            _by_hand(size=lambda centred: _mean(centred.square()).sqrt()),
            "The 1e-5 is added to the variance, before the root is taken. Without it, "
            "small vectors get another size, and one of equal features a size of 0.",
        ),
        Mistake(
            "a floor in place of eps",
            _by_hand(size=_floored),
            "The 1e-5 is added to the variance, always, and isn't its least value.",
        ),
        Mistake(
            "a normed vector taken for one of length √C",
            _by_hand(_without_the_length),
            "The part along the normed vector is the vector times the mean of its "
            "products. With the 1e-5, its squares have a mean a little below 1, so a "
            "projection takes too much off.",
        ),
        Mistake(
            "a mean over the texts",
            _sums(_mean_over_texts),
            "One weight serves all vectors of all texts: sum over the texts as well.",
        ),
        Mistake(
            "sums over a table that mixes the features",
            _sums(_folded),
            "reshape(C, -1) cuts the numbers in the order in which they lie, so a row "
            "holds several features. Flatten the front axes, and sum over them.",
        ),
        Mistake(
            "sums for each text",
            _sums(lambda rows: rows.sum(dim=-2)),
            "One weight and one bias serve all vectors of all texts: sum over all axes "
            "but the last, and not over the words of a text alone.",
        ),
        Mistake(
            "sums over the first axis alone",
            _sums(lambda rows: rows.sum(dim=0)),
            "With a batch in front there are more axes than one to sum over: all but "
            "the last.",
        ),
        Mistake(
            "means in the gradients of weight and bias",
            _sums(lambda rows: rows.flatten(0, -2).mean(dim=0)),
            "Paths are added up. If the loss is a mean, that is in grad already.",
        ),
        Mistake(
            "a gradient of weight from x",
            _weight_from(lambda x: x),
            "What weight multiplies is the normed vector, and so that is what its "
            "gradient is multiplied by.",
        ),
        Mistake(
            "gradients of weight and bias that weight multiplies",
            _weighted,
            "weight lies on the way to x alone. Its own gradient, and that of bias, "
            "begin with grad as it arrives.",
        ),
    ),
)
