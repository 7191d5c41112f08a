"""One head's context, replaced by its mean."""

import torch


def by_indexing(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head] = contexts[:, head][real].mean(dim=0)
    return replaced


def by_weights(contexts, head, real):
    weights = real[:, :, None].to(contexts.dtype)
    mean = (contexts[:, head] * weights).sum(dim=(0, 1)) / weights.sum()
    parts = list(contexts.unbind(dim=1))
    parts[head] = mean.expand_as(parts[head])
    return torch.stack(parts, dim=1)


def by_loops(contexts, head, real):
    B, _, T, D = contexts.shape
    total, count = torch.zeros(D), 0
    for b in range(B):
        for t in range(T):
            if real[b, t]:
                total += contexts[b, head, t]
                count += 1
    replaced = contexts.clone()
    for b in range(B):
        for t in range(T):
            replaced[b, head, t] = total / count
    return replaced


def by_where(contexts, head, real):
    mean = contexts.transpose(1, 2)[real].mean(dim=0)  # (H, D)
    chosen = torch.arange(contexts.shape[1]) == head
    return torch.where(chosen[:, None, None], mean[:, None], contexts)


def by_nanmean(contexts, head, real):
    kept = contexts[:, head].masked_fill(~real[..., None], torch.nan)
    mean = kept.flatten(0, 1).nanmean(dim=0)
    replaced = contexts.clone()
    replaced[:, head, :, :] = mean
    return replaced


def padding_counted(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head] = contexts[:, head].mean(dim=(0, 1))
    return replaced


def padding_as_zeros(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head] = (contexts[:, head] * real[..., None]).mean(dim=(0, 1))
    return replaced


def text_by_text(contexts, head, real):
    replaced = contexts.clone()
    for b in range(len(contexts)):
        replaced[b, head] = contexts[b, head][real[b]].mean(dim=0)
    return replaced


def mean_of_means(contexts, head, real):
    weights = real[..., None].float()
    found = contexts[:, head]
    each = (found * weights).sum(dim=1) / weights.sum(dim=1)
    replaced = contexts.clone()
    replaced[:, head] = each.mean(dim=0)
    return replaced


def one_number(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head] = contexts[:, head][real].mean()
    return replaced


def real_only(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head][real] = contexts[:, head][real].mean(dim=0)
    return replaced


def summed(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head] = contexts[:, head][real].sum(dim=0)
    return replaced


RIGHT = [by_indexing, by_weights, by_loops, by_where, by_nanmean]
WRONG = [
    (padding_counted, "padding counted in the mean"),
    (padding_as_zeros, "padding counted as zeros"),
    (text_by_text, "a mean for each text"),
    (mean_of_means, "the mean of the texts' means"),
    (one_number, "one number for the whole head"),
    (real_only, "padding left as it was"),
    (summed, "the sum in place of the mean"),
]
