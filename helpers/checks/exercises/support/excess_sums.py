"""Mistakes about an excess that are made in what is added up, and with what weight."""

from helpers.checks.exercises.support.excess_rows import (
    OF_ALL,
    OF_THOSE,
    along,
    excess,
    parts,
)

WEIGHTS = (
    "In the long run the grammar decides what comes, and how often: weigh each "
    "character's ln(p/q) by p, then add them up."
)
MEAN = (
    "p has weighed the characters already, so that the sum is a mean. Dividing by a "
    "number of characters once more makes it too small."
)
ENTROPY = (
    "Take off what the best guess loses, the grammar's entropy: minus the sum of p "
    "ln p."
)
OTHERS = (
    "Others may come, too: it is the mean over all of them that is asked for, each "
    "weighed by p."
)
SIGNS = (
    "Where q is above p, the model gains. These gains must be taken off, or an error "
    "is counted twice: once where q is too low, once where it is too high."
)


MISTAKES = (
    *along(
        "a divergence the wrong way round",
        lambda log_q, p: (log_q.exp() * (log_q - p.log())).sum(),
        "You weigh with the model's q, and ask what the grammar would lose to it. "
        "What comes is decided by the grammar: the weights are p, and the fraction is "
        "p/q.",
    ),
    *along(
        "the model's loss, with the entropy left in",
        lambda log_q, p: -(p * log_q).sum(),
        "That is the cross-entropy, which is above 0 even where the model agrees with "
        "the grammar. " + ENTROPY,
        OF_THOSE,
    ),
    *along(
        "the mean over the characters that may come",
        lambda log_q, p: parts(log_q, p).mean(),
        MEAN,
        OF_THOSE,
    ),
    *along(
        "the mean over the whole alphabet",
        lambda log_q, p: excess(log_q, p) / len(p),
        MEAN + ' So do the reductions "mean" and "batchmean" of kl_div.',
        OF_ALL,
    ),
    *along(
        "the mean over the whole alphabet",
        lambda log_q, p: parts(log_q, p).mean(),
        MEAN + " Besides, 0 times ln 0 is nan: leave out what can't come.",
        OF_ALL,
    ),
    *along(
        "a sum without signs",
        lambda log_q, p: parts(log_q, p).abs().sum(),
        SIGNS,
    ),
    *along(
        "a sum without its negative parts",
        lambda log_q, p: parts(log_q, p).clamp(min=0).sum(),
        SIGNS,
    ),
    *along(
        "q divided among the characters that may come",
        lambda log_q, p: parts(log_q.log_softmax(-1), p).sum(),
        "What the model gives to characters that can't come is lost, and that loss "
        "counts. Leave q as it is.",
        OF_THOSE,
    ),
)
