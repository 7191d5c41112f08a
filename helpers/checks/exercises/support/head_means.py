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


def _with_zeros(dim):
    """The head's mean over an axis of (B, T, D), padding counted as zeros."""

    def mean_of(contexts, head, real):
        return (contexts[:, head] * real[..., None]).mean(dim, keepdim=True)

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


def _of_one_text(text):
    """The mean over one of the texts."""
    return lambda contexts, head, real: contexts[text, head][real[text]].mean(dim=0)


def _mean_so_far(contexts, head, real):
    counted = real[..., None].to(contexts.dtype)
    totals = (contexts[:, head] * counted).cumsum(dim=1)
    return totals / counted.cumsum(dim=1).clamp(min=1)


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
        "the mean of the padding",
        lambda contexts, head, real: mean(contexts, head, ~real),
        "real is True where there is a character. You have averaged over the other "
        "places; without padding there is none, and their mean is nan.",
    ),
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
    ("a sum divided by the number of texts", _sum_over(len), DIVIDE),
    (
        "a sum divided by the length of a text",
        _sum_over(lambda real: real.shape[1]),
        DIVIDE,
    ),
    (
        "a sum divided by all its numbers",
        lambda *run: found(*run).sum(dim=0) / found(*run).numel(),
        "Each of the D numbers of the sum has one part from each real position. "
        + DIVIDE,
    ),
    ("a mean for each text", _averaged(1, masked=True), A_TEXT + TELLS),
    (
        "a mean for each text, padding counted in",
        _averaged(1, masked=False),
        PADDING + A_TEXT + "Average over all texts together.",
    ),
    (
        "a mean for each text, padding counted as zeros",
        _with_zeros(1),
        A_TEXT + AT_ONCE,
    ),
    (
        "the mean of the texts' means",
        _mean_of_means(1),
        "A position of a short text would count for more than one of a long text. "
        + AT_ONCE,
    ),
    (
        "the mean of the positions' means",
        _mean_of_means(0),
        "A position that few texts reach would count for more in each of them. "
        + AT_ONCE,
    ),
    (
        "the mean of the first text",
        _of_one_text(0),
        "The other texts belong to the mean as well. " + AT_ONCE,
    ),
    (
        "the mean of the last text",
        _of_one_text(-1),
        "The other texts belong to the mean as well. Does a loop overwrite it? "
        + AT_ONCE,
    ),
    ("a mean for each position", _averaged(0, masked=True), A_POSITION + TELLS),
    (
        "a mean for each position, padding counted in",
        _averaged(0, masked=False),
        PADDING + A_POSITION + "Average over positions, too.",
    ),
    (
        "a mean for each position, padding counted as zeros",
        _with_zeros(0),
        A_POSITION + AT_ONCE,
    ),
    (
        "the mean of the text so far",
        _mean_so_far,
        "A running mean knows the beginning of its text. " + TELLS,
    ),
    ("one number for the whole head", lambda *run: found(*run).mean(), FEATURES),
    (
        "one number for the whole head, padding counted in",
        lambda contexts, head, real: contexts[:, head].mean(),
        FEATURES + " Padding doesn't count.",
    ),
    (
        "one number for all heads",
        lambda *run: of_all_heads(*run).mean(),
        FEATURES + " " + ONE_HEAD,
    ),
    (
        "one number for all heads, padding counted in",
        lambda contexts, head, real: contexts.mean(),
        FEATURES + " " + ONE_HEAD + " Padding doesn't count.",
    ),
    (
        "a mean over the width",
        lambda contexts, head, real: contexts[:, head].mean(dim=-1, keepdim=True),
        FEATURES,
    ),
    (
        "the mean of all heads",
        lambda *run: of_all_heads(*run).mean(dim=(0, 1)),
        ONE_HEAD,
    ),
    (
        "the mean of all heads, padding counted in",
        lambda contexts, head, real: contexts.mean(dim=(0, 1, 2)),
        ONE_HEAD + " Padding doesn't count.",
    ),
    (
        "the mean of all heads at each position",
        lambda contexts, head, real: contexts.mean(dim=1),
        ONE_HEAD + " The mean runs over texts and positions, not over heads.",
    ),
    (
        "zeros",
        lambda contexts, head, real: contexts.new_zeros(()),
        "With zeros, what the head adds everywhere goes as well, and the layers behind "
        "it may miss just that. Put the mean there.",
    ),
    (
        "the mean taken off",
        lambda *run: run[0][:, run[1]] - mean(*run),
        "What is left is all that changes from place to place. Keep the mean instead, "
        "and drop the rest.",
    ),
    (
        "the mean added",
        lambda *run: run[0][:, run[1]] + mean(*run),
        "The mean stands in place of what the head found, not beside it.",
    ),
)
MISTAKES = tuple(
    Mistake(name, replacing(mean_of, put), why)
    for name, mean_of, why in MEANS
    for put in (put_everywhere, put_where_real)
)
