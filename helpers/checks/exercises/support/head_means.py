"""One head's contexts replaced by their mean, or by what readers take for it."""

import torch

from helpers.checks.cases import Mistake


def found(contexts, head, real):
    """What the head found at the real positions, (N, D)."""
    return contexts[:, head][real]


def of_all_heads(contexts, head, real):
    """What all heads found at the real positions, (N, H, D)."""
    return contexts.transpose(1, 2)[real]


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
