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


def _from_the_result(x, weight, grad):
    """With normed * weight where the normed vector belongs."""

    def through(g, normed, size):
        return _through(g, normed * weight, size)

    return _by_hand(through)(x, weight, grad)


def _weight_from(of_x):
    def backward_of(x, weight, grad):
        grad_x, _, grad_bias = _by_hand()(x, weight, grad)
        return grad_x, _over_rows(grad * of_x(x)), grad_bias

    return backward_of


def _x_for_normed(x, weight, grad):
    def through(g, normed, size):
        return (g - _mean(g) - x * _mean(g * x)) / size

    return _by_hand(through)(x, weight, grad)


def _weighted(x, weight, grad):
    """The weight in the gradients of weight and bias, too."""
    return _by_hand(
        weight_from=lambda grad, normed: _over_rows(grad * normed) * weight,
        bias_from=lambda grad: _over_rows(grad) * weight,
    )(x, weight, grad)


def _weight_times_itself(x, weight, grad):
    grad_x, grad_weight, grad_bias = _by_hand()(x, weight, grad)
    return grad_x, grad_weight * weight, grad_bias


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


def _swapped(x, weight, grad):
    grad_x, grad_weight, grad_bias = _by_hand()(x, weight, grad)
    return grad_x, grad_bias, grad_weight


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
            "a gradient of x that the size doesn't divide",
            _by_hand(lambda g, normed, size: size * _through(g, normed, size)),
            "What divides the vectors on the way forward divides their gradient on "
            "the way back.",
        ),
        Mistake(
            "a gradient of x that the variance divides",
            _by_hand(lambda g, normed, size: _through(g, normed, size) / size),
            "Divide by the size once: it is the root of the variance plus 1e-5.",
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
            "a gradient of x that the size multiplies",
            _by_hand(lambda g, normed, size: size * size * _through(g, normed, size)),
            "What divides the vectors on the way forward divides their gradient on "
            "the way back.",
        ),
        Mistake(
            "half of the part of the size",
            _by_hand(
                lambda g, normed, size: (
                    _through(g, normed, size) + normed * _mean(g * normed) / size / 2
                )
            ),
            "The derivative of a square is twice its base, and the root halves it "
            "again: the normed vector is multiplied by the whole mean of its product "
            "with what arrives.",
        ),
        Mistake(
            "a weight that has no part in the gradient of x",
            _by_hand(arriving=lambda grad, weight: grad),
            "The weight multiplies the normed vectors, so it multiplies the gradient "
            "that goes back to them.",
        ),
        Mistake(
            "a weight that multiplies at the very end",
            _weight_at_the_end,
            "On the way forward the weight comes last, so on the way back it comes "
            "first: multiply grad by it before you take the means.",
        ),
        Mistake(
            "a weight that multiplies twice",
            _by_hand(arriving=lambda grad, weight: grad * weight.square()),
            "The weight multiplies the gradient once on its way to x.",
        ),
        Mistake(
            "a gradient that the weight divides",
            _by_hand(arriving=lambda grad, weight: grad / weight),
            "The weight multiplies on the way forward, and it multiplies the gradient "
            "on the way back, too.",
        ),
        Mistake(
            "the normed vector times the weight in place of the normed vector",
            _from_the_result,
            "What is taken off is a multiple of the normed vector, before the weight "
            "multiplies it.",
        ),
        Mistake(
            "x in place of the normed vector",
            _x_for_normed,
            "What is taken off is a multiple of the normed vector, and not of x.",
        ),
        Mistake(
            "x less its mean in place of the normed vector",
            _by_hand(
                lambda g, normed, size: (
                    (g - _mean(g) - size * normed * _mean(g * size * normed)) / size
                )
            ),
            "What is taken off is a multiple of the normed vector: divide by the size "
            "first.",
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
            "a sum in place of the mean of the products",
            _by_hand(
                lambda g, normed, size: (
                    (g - _mean(g) - normed * (g * normed).sum(-1, keepdim=True)) / size
                )
            ),
            "The size moves by the mean of normed times step, and so the normed vector "
            "is multiplied by a mean over the features.",
        ),
        Mistake(
            "a sum in place of the gradient's mean",
            _by_hand(
                lambda g, normed, size: (
                    (g - g.sum(-1, keepdim=True) - normed * _mean(g * normed)) / size
                )
            ),
            "Each feature is a C-th of the mean: the mean of what arrives is "
            "subtracted, and not its sum.",
        ),
        Mistake(
            "sums in place of both means",
            _by_hand(
                lambda g, normed, size: (
                    (
                        g
                        - g.sum(-1, keepdim=True)
                        - normed * (g * normed).sum(-1, keepdim=True)
                    )
                    / size
                )
            ),
            "Both parts that are taken off are means over the features: divide the "
            "sums by C.",
        ),
        Mistake(
            "means over the vectors",
            _by_hand(
                lambda g, normed, size: (
                    (
                        g
                        - g.mean(-2, keepdim=True)
                        - normed * (g * normed).mean(-2, keepdim=True)
                    )
                    / size
                )
            ),
            "Each vector is normed by itself: both means go over its features, the "
            "last axis.",
        ),
        Mistake(
            "means over everything",
            _by_hand(
                lambda g, normed, size: (
                    (g - g.mean() - normed * (g * normed).mean()) / size
                )
            ),
            "Each vector is normed by itself: take both means over the last axis, and "
            "keep it.",
        ),
        Mistake(
            "means that lie along the wrong axis",
            _by_hand(
                lambda g, normed, size: (
                    (g - g.mean(-1) - normed * (g * normed).mean(-1)) / size
                )
            ),
            "mean takes its axis away, and what is left, one number for each vector, "
            "is subtracted as if there were one for each feature. Use keepdim=True.",
        ),
        Mistake(
            "eps outside the root",
            _by_hand(size=lambda centred: _mean(centred.square()).sqrt() + EPS),
            "The 1e-5 is added to the variance, before the root is taken. For small "
            "vectors that makes a difference.",
        ),
        Mistake(
            "no eps",
            _by_hand(size=lambda centred: _mean(centred.square()).sqrt()),
            "The size is the root of the variance plus 1e-5. For small vectors that "
            "makes a difference, and a vector of equal features has no size else.",
        ),
        *(
            Mistake(
                "another eps",
                _by_hand(
                    size=lambda centred, eps=eps: torch.sqrt(
                        _mean(centred.square()) + eps
                    )
                ),
                "What is added to the variance is 1e-5, as in PyTorch. For small "
                "vectors that makes a difference.",
            )
            for eps in (1e-3, 1e-6, 1e-8, 1e-12)
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
            "RMSNorm's backward",
            _by_hand(
                lambda g, normed, size: (g - normed * _mean(g * normed)) / size,
                centre=lambda x: x,
            ),
            "That is the gradient of RMSNorm, which leaves the mean in. Layer norm "
            "takes it off x, and its backward takes it off the gradient.",
        ),
        Mistake(
            "gradients of weight and bias that are not summed",
            _sums(lambda rows: rows),
            "One weight and one bias serve all vectors: they collect from all of "
            "them, so sum over every axis but the last.",
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
            "sums over the features",
            _sums(lambda rows: rows.sum(dim=-1)),
            "Weight and bias have one number for each feature: sum over the vectors, "
            "and not over the features.",
        ),
        Mistake(
            "sums over the first axis alone",
            _sums(lambda rows: rows.sum(dim=0)),
            "With a batch in front there are more axes than one to sum over: all but "
            "the last.",
        ),
        Mistake(
            "sums over the words alone",
            _sums(lambda rows: rows.sum(dim=-2)),
            "Weight and bias serve all texts: sum over every axis but the last, the "
            "batch included.",
        ),
        Mistake(
            "sums over the first two axes alone",
            _sums(lambda rows: rows.sum(dim=(0, 1) if rows.dim() > 2 else 0)),
            "There may be more axes in front: sum over all but the last.",
        ),
        Mistake(
            "means in the gradients of weight and bias",
            _sums(lambda rows: rows.flatten(0, -2).mean(dim=0)),
            "Paths are added up. If the loss is a mean, that is in grad already.",
        ),
        Mistake(
            "a mean in the gradient of bias",
            _by_hand(bias_from=lambda grad: grad.flatten(0, -2).mean(dim=0)),
            "bias is added to every vector, and its paths are added up: sum, and "
            "don't take the mean.",
        ),
        Mistake(
            "a mean in the gradient of weight",
            _by_hand(
                weight_from=lambda grad, normed: (
                    (grad * normed).flatten(0, -2).mean(dim=0)
                )
            ),
            "weight multiplies every vector, and its paths are added up: sum, and "
            "don't take the mean.",
        ),
        Mistake(
            "a gradient of weight from x",
            _weight_from(lambda x: x),
            "What weight multiplies is the normed vector, and so that is what its "
            "gradient is multiplied by.",
        ),
        Mistake(
            "a gradient of weight from x less its mean",
            _weight_from(lambda x: x - _mean(x)),
            "What weight multiplies is the normed vector: divide by the size, too.",
        ),
        Mistake(
            "a gradient of weight without the normed vectors",
            _by_hand(weight_from=lambda grad, normed: _over_rows(grad)),
            "weight multiplies the normed vectors, so each path to the loss has the "
            "factor normed. What you have is the gradient of bias.",
        ),
        Mistake(
            "gradients of weight and bias that weight multiplies",
            _weighted,
            "weight lies on the way to x alone. Its own gradient, and that of bias, "
            "begin with grad as it arrives.",
        ),
        Mistake(
            "a gradient of weight that weight multiplies",
            _weight_times_itself,
            "weight lies on the way to x alone. Its own gradient begins with grad as "
            "it arrives.",
        ),
        Mistake(
            "the gradients of weight and bias in each other's place",
            _swapped,
            "Return the gradients of x, weight and bias, in this order. weight "
            "multiplies the normed vectors, bias is added.",
        ),
    ),
)
