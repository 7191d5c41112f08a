"""What a model loses to the grammar at one position."""

import math

import torch
import torch.nn.functional as F


def by_selecting(log_q, p):
    may = p > 0
    return (p[may] * (p[may].log() - log_q[may])).sum()


def by_pytorch(log_q, p):
    return F.kl_div(log_q, p, reduction="sum")


def by_xlogy(log_q, p):
    return torch.special.xlogy(p, p).sum() - p @ log_q


def by_entropies(log_q, p):
    cross_entropy = -(p * log_q).sum()
    return cross_entropy - torch.special.entr(p).sum()


def by_loops(log_q, p):
    nats = 0.0
    for chance, log_guess in zip(p.tolist(), log_q.tolist(), strict=True):
        if chance > 0:
            nats += chance * (math.log(chance) - log_guess)
    return nats


def by_mending_nan(log_q, p):
    parts = p * (torch.log(p) - log_q)
    return torch.nan_to_num(parts).sum()


def by_normalising_again(log_q, p):
    safe = torch.where(p == 0, torch.ones_like(p), p)
    return torch.sum(p * (safe.log() - log_q.log_softmax(-1)))


def nan_for_zeros(log_q, p):
    return torch.sum(p * (torch.log(p) - log_q))


def nan_in_a_quotient(log_q, p):
    q = torch.exp(log_q)
    return (p * torch.log(p / q)).sum()


def stops_at_zeros(log_q, p):
    pairs = zip(p.tolist(), log_q.tolist(), strict=True)
    return sum(chance * (math.log(chance) - guess) for chance, guess in pairs)


def like_the_chapter(log_q, p):
    nats = 0.0
    for i, chance in enumerate(p.tolist()):
        if chance:
            nats += chance * math.log(chance / log_q[i].exp().item())
    return nats


def through_exp(log_q, p):
    q = log_q.exp()
    places = p.nonzero().squeeze(-1)
    return (p[places] * torch.log(p[places] / q[places])).sum()


def held_off_zero(log_q, p):
    q = log_q.exp() + 1e-10
    p = p + 1e-10
    return (p * (p / q).log()).sum()


def turned_round(log_q, p):
    may = p > 0
    q = log_q[may].exp()
    return (q * (log_q[may] - p[may].log())).sum()


def turned_round_everywhere(log_q, p):
    return F.kl_div(p.log(), log_q.exp(), reduction="sum")


def entropy_left_in(log_q, p):
    return -(p * log_q).sum()


def by_cross_entropy(log_q, p):
    return F.cross_entropy(log_q[None], p[None])


def in_bits(log_q, p):
    may = p > 0
    return (p[may] * (torch.log2(p[may]) - log_q[may] / math.log(2))).sum()


def averaged(log_q, p):
    may = p > 0
    return (p[may] * (p[may].log() - log_q[may])).mean()


def averaged_over_all(log_q, p):
    return (torch.xlogy(p, p) - p * log_q).mean()


def absolute(log_q, p):
    may = p > 0
    return (p[may] * (p[may].log() - log_q[may]).abs()).sum()


def among_those_that_may_come(log_q, p):
    may = p > 0
    q = log_q[may].softmax(-1)
    return (p[may] * (p[may] / q).log()).sum()


RIGHT = [
    by_selecting,
    by_pytorch,
    by_xlogy,
    by_entropies,
    by_loops,
    by_mending_nan,
    by_normalising_again,
]
WRONG = [
    (nan_for_zeros, "a logarithm of 0 where a character can't come"),
    (nan_in_a_quotient, "a logarithm of 0 where a character can't come"),
    (stops_at_zeros, "a logarithm of 0 where a character can't come"),
    (like_the_chapter, "a probability that has become 0"),
    (through_exp, "a probability that has become 0"),
    (held_off_zero, "a probability that a small number keeps from 0"),
    (turned_round, "a divergence the wrong way round"),
    (turned_round_everywhere, "a divergence the wrong way round"),
    (entropy_left_in, "the model's loss, with the entropy left in"),
    (by_cross_entropy, "the model's loss, with the entropy left in"),
    (in_bits, "an excess in bits"),
    (averaged, "the mean over the characters that may come"),
    (averaged_over_all, "the mean over the whole alphabet"),
    (absolute, "a sum without signs"),
    (among_those_that_may_come, "q divided among the characters that may come"),
]
