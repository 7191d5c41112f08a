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


def text_by_text_with_padding(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head] = contexts[:, head].mean(dim=1, keepdim=True)
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


def along_the_width(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head] = contexts[:, head].mean(dim=-1, keepdim=True)
    return replaced


def of_all_heads(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head] = contexts.transpose(1, 2)[real].mean(dim=(0, 1))
    return replaced


def zeros(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head] = 0.0
    return replaced


def place_by_place(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head] = contexts[:, head].mean(dim=0)
    return replaced


def padding_only(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head][~real] = contexts[:, head][real].mean(dim=0)
    return replaced


def real_only(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head][real] = contexts[:, head][real].mean(dim=0)
    return replaced


def mean_of_padding(contexts, head, real):
    padding = real
    replaced = contexts.clone()
    replaced[:, head] = contexts[:, head][~padding].mean(dim=0)
    return replaced


def from_one(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head - 1] = contexts[:, head - 1][real].mean(dim=0)
    return replaced


def every_head(contexts, head, real):
    mean = contexts.transpose(1, 2)[real].mean(dim=0)
    return mean[None, :, None].expand_as(contexts)


def every_head_alike(contexts, head, real):
    mean = contexts[:, head][real].mean(dim=0)
    return mean.expand(contexts.shape)


def centred(contexts, head, real):
    changed = contexts.clone()
    changed[:, head] -= contexts[:, head][real].mean(dim=0)
    return changed


def nothing(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head][real].fill_(contexts[:, head][real].mean())
    return replaced


def summed(contexts, head, real):
    replaced = contexts.clone()
    replaced[:, head] = contexts[:, head][real].sum(dim=0)
    return replaced


def the_head_alone(contexts, head, real):
    return contexts[:, head][real].mean(dim=0).expand_as(contexts[:, head])


RIGHT = [by_indexing, by_weights, by_loops, by_where, by_nanmean]
WRONG = [
    (padding_counted, "padding counted in the mean"),
    (padding_as_zeros, "padding counted as zeros"),
    (text_by_text, "a mean for each text"),
    (text_by_text_with_padding, "a mean for each text, padding counted in"),
    (mean_of_means, "the mean of the texts' means"),
    (one_number, "one number for the whole head"),
    (along_the_width, "a mean over the width"),
    (of_all_heads, "the mean of all heads"),
    (zeros, "zeros"),
    (place_by_place, "a mean for each position, padding counted in"),
    (padding_only, "a mean that replaces padding only"),
    (real_only, "padding left as it was"),
    (mean_of_padding, "the mean of the padding"),
    (from_one, "heads counted from 1"),
    (every_head, "all heads replaced, each by its own mean"),
    (every_head_alike, "all heads replaced by this one's mean"),
    (centred, "the mean taken off"),
    (nothing, "a function that replaces nothing"),
    (summed, "the sum in place of the mean"),
    (the_head_alone, "the head's part alone"),
]
