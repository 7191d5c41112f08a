"""The share of a change that a patch brings."""

import torch


def by_gather(clean, other, patched, right, wrong):
    def lead(logits):
        pair = logits.gather(1, torch.stack([right, wrong], dim=1))
        return (pair[:, 0] - pair[:, 1]).mean()

    return (lead(clean) - lead(patched)) / (lead(clean) - lead(other))


def by_loop(clean, other, patched, right, wrong):
    fell = whole = 0.0
    for i in range(len(right)):
        a, b, c = (
            float(one[i, right[i]] - one[i, wrong[i]])
            for one in (clean, other, patched)
        )
        fell += a - c
        whole += a - b
    return fell / whole


def by_one_minus(clean, other, patched, right, wrong):
    rows = range(len(right))
    a, b, c = (
        one[rows, right].mean() - one[rows, wrong].mean()
        for one in (clean, other, patched)
    )
    return 1 - (c - b) / (a - b)


def by_log_softmax(clean, other, patched, right, wrong):
    leads = []
    for logits in (clean, other, patched):
        logs = torch.log_softmax(logits, dim=-1)
        rows = torch.arange(len(logs))
        leads.append((logs[rows, right] - logs[rows, wrong]).sum())
    return (leads[2] - leads[0]) / (leads[1] - leads[0])


def of_what_is_left(clean, other, patched, right, wrong):
    return 1 - by_gather(clean, other, patched, right, wrong)


def of_each_prompt(clean, other, patched, right, wrong):
    rows = torch.arange(len(right))
    a, b, c = (one[rows, right] - one[rows, wrong] for one in (clean, other, patched))
    return ((a - c) / (a - b)).mean()


def of_probabilities(clean, other, patched, right, wrong):
    runs = [one.softmax(dim=-1) for one in (clean, other, patched)]
    return by_gather(*runs, right, wrong)


RIGHT = [by_gather, by_loop, by_one_minus, by_log_softmax]
WRONG = [
    (of_what_is_left, "the share that is left"),
    (of_each_prompt, "the mean of each prompt's share"),
    (of_probabilities, "probabilities in place of logits"),
]
