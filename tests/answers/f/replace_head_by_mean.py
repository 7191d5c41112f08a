"""Answers to replace a head by its mean: replace_head_by_mean."""

import torch


def right_clone_and_index(contexts, head, real):
    """right: the real positions by boolean indexing, their mean written into a clone."""
    result = contexts.clone()
    result[:, head] = contexts[:, head][real].mean(dim=0)
    return result


def right_pieces(contexts, head, real):
    """right: adds up position by position in loops, then glues the heads before, the mean and the heads after together."""
    B, H, T, D = contexts.shape
    total = torch.zeros(D, dtype=torch.float64, device=contexts.device)
    count = 0
    for b in range(B):
        for t in range(T):
            if real[b, t]:
                total = total + contexts[b, head, t].double()
                count += 1
    mean = (total / count).to(contexts.dtype).expand(B, 1, T, D)
    return torch.cat([contexts[:, :head], mean, contexts[:, head + 1 :]], dim=1)


def right_where(contexts, head, real):
    """right: padding filled with 0 before the sum, divided by the number of real positions, put in with torch.where for that head."""
    filled = contexts[:, head].double().masked_fill(~real.unsqueeze(-1), 0.0)
    mean = filled.sum(dim=(0, 1)) / real.sum()
    is_it = torch.arange(contexts.shape[1], device=contexts.device) == head
    return torch.where(is_it[None, :, None, None], mean.to(contexts.dtype), contexts)


def wrong_padding_counts(contexts, head, real):
    """wrong: takes the mean over all positions, padding included."""
    out = contexts.clone()
    out[:, head] = contexts[:, head].mean(dim=(0, 1))
    return out


def wrong_mean_for_each_text(contexts, head, real):
    """wrong: gives each text its own mean, not the mean over all texts."""
    out = contexts.clone()
    for b in range(contexts.shape[0]):
        rows = contexts[b, head][real[b]]
        if len(rows) > 0:
            out[b, head] = rows.mean(0)
    return out


def wrong_padding_stays(contexts, head, real):
    """wrong: replaces the head's context at real positions only, padding keeps its own."""
    new = contexts.clone()
    avg = contexts[:, head, :, :][real].mean(0)
    new[:, head, :, :] = torch.where(real[..., None], avg, contexts[:, head])
    return new


def wrong_writes_into_argument(contexts, head, real):
    """wrong: writes the mean into the tensor it was given and returns that, no new tensor."""
    mean = contexts[:, head][real].mean(dim=0)
    contexts[:, head] = mean
    return contexts


def wrong_mean_of_means(contexts, head, real):
    """wrong: takes each text's mean first and then the mean of these, so short texts weigh as much as long ones; right where all have the same number of real positions."""
    m = real.unsqueeze(-1).to(contexts.dtype)
    per_text = (contexts[:, head] * m).sum(1) / m.sum(1).clamp(min=1)
    per_text = per_text[real.any(dim=1)]
    out = contexts.clone()
    out[:, head] = per_text.mean(0)
    return out


def wrong_padding_must_be_behind(contexts, head, real):
    """wrong: turns `real` into lengths and takes that many positions from the front of each text; right only where the padding is behind."""
    lengths = real.sum(dim=1).tolist()
    parts = [contexts[b, head, :n] for b, n in enumerate(lengths)]
    mean = torch.cat(parts).mean(dim=0)
    out = contexts.clone()
    out[:, head, :, :] = mean
    return out


def wrong_others_lose_padding(contexts, head, real):
    """wrong: sets all heads' contexts to 0 at padding first, so the other heads don't stay as they are there."""
    clean = contexts * real[:, None, :, None]
    mean = clean[:, head].sum(dim=(0, 1)) / real.sum()
    clean[:, head] = mean
    return clean


def wrong_flattened_crosswise(contexts, head, real):
    """wrong: flattens the contexts with T before B but `real` with B before T, so other positions are picked; right for one text or without padding."""
    D = contexts.size(-1)
    flat = contexts[:, head].transpose(0, 1).reshape(-1, D)
    mean = flat[real.reshape(-1)].mean(dim=0)
    result = contexts.detach().clone()
    result[:, head] = mean
    return result


def wrong_head_from_1_and_all_places(contexts, head, real):
    """wrong: two mistakes: counts the heads from 1 (changes head - 1), and divides the sum over real positions by B T, all positions."""
    h = head - 1
    B, H, T, D = contexts.shape
    s = contexts[:, h][real].sum(0)
    out = contexts.clone()
    out[:, h] = s / (B * T)
    return out


ANSWERS = [
    right_clone_and_index,
    right_pieces,
    right_where,
    wrong_padding_counts,
    wrong_mean_for_each_text,
    wrong_padding_stays,
    wrong_writes_into_argument,
    wrong_mean_of_means,
    wrong_padding_must_be_behind,
    wrong_others_lose_padding,
    wrong_flattened_crosswise,
    wrong_head_from_1_and_all_places,
]
