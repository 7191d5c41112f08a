"""Mistakes about an excess that are made in what is added up, and with what weight."""

import math

import torch

from helpers.checks.cases import Mistake
from helpers.checks.exercises.support.excess_rows import (
    OF_ALL,
    OF_THOSE,
    along,
    excess,
    kept,
    parts,
    whole,
)

WEIGHTS = (
    "In the long run the grammar decides what comes, and how often: weigh each "
    "character's ln(p/q) by p, then add them up."
)
DIRECTION = "What comes is decided by the grammar: each ln(p/q) is weighed by p."
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
ADD_UP = "One number is asked for: add the characters' parts up."


def _both_ways(log_q, p):
    return ((p - log_q.exp()) * (p.log() - log_q)).sum()


def _jensen_shannon(log_q, p):
    middle = ((p + log_q.exp()) / 2).log()
    return (excess(middle, p) + excess(middle, log_q.exp())) / 2


def _entropy(p):
    return -torch.xlogy(p, p).sum()


def _without_gaps(log_q, p):
    p = p[p > 0]
    return excess(log_q[: len(p)], p)


MISTAKES = (
    *along(
        "a divergence the wrong way round",
        lambda log_q, p: (log_q.exp() * (log_q - p.log())).sum(),
        "You weigh with the model's q, and ask what the grammar would lose to it. "
        "What comes is decided by the grammar: the weights are p, and the fraction is "
        "p/q.",
    ),
    *along(
        "a fraction weighed by q",
        lambda log_q, p: (log_q.exp() * (p.log() - log_q)).sum(),
        "The fraction is right, the weights are not. " + DIRECTION,
    ),
    *along(
        "the mean of both directions",
        lambda log_q, p: _both_ways(log_q, p) / 2,
        "Only one direction is a loss. " + DIRECTION,
    ),
    *along(
        "the sum of both directions",
        _both_ways,
        "Only one direction is a loss. " + DIRECTION,
    ),
    Mistake(
        "the Jensen-Shannon divergence",
        _jensen_shannon,
        "That compares both with their mean. The loss compares the model with the "
        "grammar itself: the sum of p ln(p/q).",
    ),
    *along(
        "an excess with the wrong sign",
        lambda log_q, p: -parts(log_q, p).sum(),
        "A guess can't do better than the chances themselves: the excess is never "
        "below 0. The fraction is p/q, not q/p.",
    ),
    *along(
        "the model's loss, with the entropy left in",
        lambda log_q, p: -(p * log_q).sum(),
        "That is the cross-entropy, which is above 0 even where the model agrees with "
        "the grammar. " + ENTROPY,
        OF_THOSE,
    ),
    *along(
        "minus the model's loss",
        lambda log_q, p: (p * log_q).sum(),
        "The loss is minus the logarithm of q; besides, "
        + ENTROPY[0].lower()
        + ENTROPY[1:],
        OF_THOSE,
    ),
    *along(
        "the entropy added in place of taken off",
        lambda log_q, p: -(p * log_q).sum() - (p * p.log()).sum(),
        "The excess is what the model loses and the best guess doesn't. " + ENTROPY,
    ),
    *along(
        "the grammar's own loss",
        lambda log_q, p: -(p * p.log()).sum(),
        "That is the entropy, what the best guess loses. The model doesn't come into "
        "it; the excess is the model's loss minus this.",
        (kept, whole),
    ),
    Mistake(
        "the model's entropy taken off",
        lambda log_q, p: -(p * log_q).sum() - _entropy(log_q.exp()),
        "How sure the model is of itself is not what the best guess loses. " + ENTROPY,
    ),
    Mistake(
        "a difference of two entropies",
        lambda log_q, p: _entropy(log_q.exp()) - _entropy(p),
        "A model can be as unsure as the grammar, and of other characters. Its loss is "
        "minus the sum of p ln q: weighed by p, not by q.",
    ),
    *(
        Mistake(
            "an even guess's loss taken off",
            lambda log_q, p, of=of: -(p * log_q).sum() - math.log(of(p)),
            "The best guess knows the chances, which needn't be even. " + ENTROPY,
        )
        for of in (len, torch.count_nonzero)
    ),
    *along(
        "a bracket that is missing behind p",
        lambda log_q, p: (p * p.log() - log_q).sum(),
        "p weighs both logarithms: p (ln p - ln q).",
    ),
    *along(
        "a weighed ln q beside a bare ln p",
        lambda log_q, p: (p.log() - p * log_q).sum(),
        "p weighs both logarithms: p (ln p - ln q).",
    ),
    *along(
        "differences that aren't weighed",
        lambda log_q, p: (p.log() - log_q).sum(),
        WEIGHTS,
    ),
    *along(
        "the mean of ln(p/q), each character counting the same",
        lambda log_q, p: (p.log() - log_q).mean(),
        WEIGHTS,
    ),
    *along(
        "weights of p squared",
        lambda log_q, p: (p * parts(log_q, p)).sum(),
        "p comes in twice. " + WEIGHTS,
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
        "the likeliest character's part alone",
        lambda log_q, p: parts(log_q, p)[p.argmax()],
        OTHERS,
        (kept,),
    ),
    *along(
        "what is lost if the likeliest character comes",
        lambda log_q, p: (p.log() - log_q)[p.argmax()],
        OTHERS,
        (kept,),
    ),
    Mistake(
        "the model's loss if the likeliest character comes",
        lambda log_q, p: -log_q[p.argmax()],
        OTHERS + " And the best guess loses something as well: ln p is taken off.",
    ),
    *along(
        "what is lost if the model's favourite comes",
        lambda log_q, p: (p.log() - log_q)[log_q.argmax()],
        OTHERS,
        (kept, whole),
    ),
    *along(
        "the first character's part alone",
        lambda log_q, p: parts(log_q, p)[0],
        "Does the return stand inside your loop? Add up all parts first.",
        OF_THOSE,
    ),
    *along(
        "the last character's part alone",
        lambda log_q, p: parts(log_q, p)[-1],
        "Does your loop overwrite the sum? Each part is to be added to those before.",
        (kept,),
    ),
    Mistake(
        "a p without its zeros beside the whole log_q",
        _without_gaps,
        "With the zeros gone, the characters of p have moved up, and meet the q of "
        "others. Leave the same characters out of both.",
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
    *along("parts that aren't added up", parts, ADD_UP),
    Mistake(
        "parts that aren't added up",
        lambda log_q, p: torch.xlogy(p, p) - p * log_q,
        ADD_UP,
    ),
)
