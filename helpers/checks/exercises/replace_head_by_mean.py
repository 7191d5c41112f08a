"""Exercise of chapter 11: one head's context, replaced by its mean."""

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise


def found(contexts, head, real):
    """What the head found at the real positions, (N, D)."""
    return contexts[:, head][real]


def mean(contexts, head, real):
    """The mean of what the head found at the real positions, (D,)."""
    return found(contexts, head, real).mean(dim=0)


def put_everywhere(contexts, head, real, other):
    """Put something else, which broadcasts to (B, T, D), in the head's place."""
    changed = contexts.clone()
    changed[:, head] = other
    return changed


def put_where_real(contexts, head, real, other):
    """The same, with padding left as it was."""
    there = torch.where(real[..., None], other, contexts[:, head])
    return put_everywhere(contexts, head, real, there)


def replacing(mean_of, put=put_everywhere):
    """A function that puts something else in the head's place.

    Args:
        mean_of: a function of contexts, head and real; what it returns broadcasts to
            (B, T, D).
        put: one of the two functions that put it there.

    Returns:
        replace: a function of contexts, head and real.
    """

    def replace(contexts, head, real):
        return put(contexts, head, real, mean_of(contexts, head, real))

    return replace


def _averaged(dim, *, masked):
    """The head's mean over some axes of (B, T, D), with or without padding."""

    def mean_of(contexts, head, real):
        counted = real if masked else torch.ones_like(real)
        counted = counted[..., None].expand_as(contexts[:, head])
        total = (contexts[:, head] * counted).sum(dim, keepdim=True)
        return total / counted.sum(dim, keepdim=True)

    return mean_of


def _sum_over(count):
    """The sum over the real positions, divided by a function of real."""
    return lambda *run: found(*run).sum(dim=0) / count(run[-1])


def _mean_of_means(dim):
    of_each = _averaged(dim, masked=True)
    return lambda *run: of_each(*run).mean(dim=(0, 1))


def _at_the_end(contexts, head, real):
    lengths = real.sum(dim=1, keepdim=True)
    return mean(contexts, head, torch.arange(real.shape[1]) < lengths)


PADDING = (
    "Where real is False there is no character, and what heads find there depends on "
    "how much padding a text happens to have. "
)
DIVIDE = "Divide the sum by the number of real positions, real.sum()."
AT_ONCE = "Average over all real positions at once: contexts[:, head][real] holds them."
TELLS = (
    "It would still tell the layers behind it something about this text. The mean runs "
    "over all real positions of all texts together, so that it tells nothing."
)
FEATURES = (
    "Each of the D numbers of a context has a meaning of its own. The mean runs over "
    "texts and positions, and is a vector (D,)."
)
ONE_HEAD = "Only this head's contexts come into its mean, contexts[:, head]."
A_TEXT = "A text's own mean knows what the text is about. "
A_POSITION = "The mean of a position knows how far the text has come. "

MEANS = (
    (
        "padding counted in the mean",
        _averaged((0, 1), masked=False),
        PADDING + "Average over contexts[:, head][real].",
    ),
    (
        "padding counted as zeros",
        _sum_over(lambda real: real.numel()),
        "The sum is right, but it is divided by all B T positions. " + DIVIDE,
    ),
    (
        "padding looked for at the end alone",
        _at_the_end,
        "Padding may stand in front, too: real says where, position by position. "
        + AT_ONCE,
    ),
    ("the sum in place of the mean", _sum_over(lambda real: 1), DIVIDE),
    ("a mean for each text", _averaged(1, masked=True), A_TEXT + TELLS),
    (
        "the mean of the texts' means",
        _mean_of_means(1),
        "A position of a short text would count for more than one of a long text. "
        + AT_ONCE,
    ),
    ("a mean for each position", _averaged(0, masked=True), A_POSITION + TELLS),
    ("one number for the whole head", lambda *run: found(*run).mean(), FEATURES),
)
MISTAKES = tuple(
    Mistake(name, replacing(mean_of, put), why)
    for name, mean_of, why in MEANS
    for put in (put_everywhere, put_where_real)
)


def _runs():
    generator = torch.Generator().manual_seed(12)

    def case(name, contexts, head, lengths, *, flip=False):
        contexts = torch.as_tensor(contexts, dtype=torch.get_default_dtype())
        real = torch.arange(contexts.shape[2]) < torch.tensor(lengths)[:, None]
        real = real.flip(-1) if flip else real
        return Case(name, {"contexts": contexts, "head": head, "real": real})

    def draw(*shape):
        return torch.randn(shape, generator=generator).round(decimals=1)

    # Heads and positions differ in number: contexts[real] must not choose heads.
    one = [[[[1.0], [2.0], [6.0]], [[10.0], [20.0], [60.0]]]]
    padded = [[[[3.0], [8.0]]], [[[1.0], [6.0]]]]
    return [
        case("one text, no padding", one, 1, [3]),
        case("one head, the second text padded", padded, 0, [2, 1]),
        case("padding in front", draw(2, 3, 4, 2), 1, [1, 4], flip=True),
        case("three texts, the first of two heads", draw(3, 2, 5, 3), 0, [2, 5, 4]),
        case("the last of four heads", draw(2, 4, 3, 2), 3, [3, 2]),
        case("no padding", draw(2, 3, 5, 2), 2, [5, 5]),
    ]


# --- where it is put ------------------------------------------------------------------


EVERYWHERE = (
    "The mean is right. It is to stand at every position, at those of padding, too, so "
    "that one run gives this head one vector."
)


EXERCISE = Exercise(
    name="replace_head_by_mean",
    stub="my_replace_head_by_mean(contexts, head, real)",
    asks=(
        "a function of the contexts that the heads of a layer found, (B, H, T, D), of "
        "a head's number from 0, and of real, (B, T) boolean, True where there is a "
        "character and no padding. It returns a new tensor (B, H, T, D): the same "
        "contexts, but that head's are their mean over all real positions of all "
        "texts, everywhere."
    ),
    returns={"contexts": "(B, H, T, D)"},
    reference=replacing(mean),
    cases=_runs,
    mistakes=(
        *MISTAKES,
        Mistake("padding left as it was", replacing(mean, put_where_real), EVERYWHERE),
    ),
)
