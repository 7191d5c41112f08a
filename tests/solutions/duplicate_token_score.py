"""How far heads attend to earlier copies of a token."""

import torch


def by_marks(weights, ids):
    copies = (ids[:, None] == ids).tril(-1)
    return (weights * copies).sum(-1)[:, copies.any(-1)].mean(-1)


def by_loops(weights, ids):
    found = []
    for t, one in enumerate(ids.tolist()):
        earlier = [s for s in range(t) if ids[s] == one]
        if earlier:
            found.append(weights[:, t, earlier].sum(-1))
    return torch.stack(found).mean(0)


def by_einsum(weights, ids):
    T = len(ids)
    before = torch.arange(T)[:, None] > torch.arange(T)
    copies = ((ids.unsqueeze(1) == ids.unsqueeze(0)) & before).to(weights.dtype)
    total = torch.einsum("hts,ts->h", weights, copies)
    return total / copies.amax(dim=1).sum()


def by_rows(weights, ids):
    T = len(ids)
    copies = torch.zeros(T, T)
    for t in range(T):
        for s in range(t):
            copies[t, s] = float(ids[t] == ids[s])
    asked = copies.sum(dim=1) > 0
    return (weights[:, asked] * copies[asked]).sum(dim=(1, 2)) / asked.sum()


def with_itself(weights, ids):
    copies = (ids[:, None] == ids).tril()
    return (weights * copies).sum(-1).mean(-1)


def over_everything(weights, ids):
    copies = (ids[:, None] == ids).tril(-1)
    return (weights * copies).sum(-1).mean(-1)


def latest(weights, ids):
    found = []
    for t in range(len(ids)):
        for s in reversed(range(t)):
            if ids[s] == ids[t]:
                found.append(weights[:, t, s])
                break
    return torch.stack(found).mean(0)


def of_pairs(weights, ids):
    copies = (ids[:, None] == ids).tril(-1)
    return weights[:, copies].mean(-1)


RIGHT = [by_marks, by_loops, by_einsum, by_rows]
WRONG = [
    (with_itself, "the token itself counted as a copy"),
    (over_everything, "the mean over all positions"),
    (latest, "one copy where there are several"),
    (of_pairs, "the mean over pairs"),
]
