"""Answers to replace_head_by_mean by hand h."""

import torch


def right_boolean_index(contexts, head, real):
    """right: picks the real positions by a boolean index, writes their mean into a clone."""
    result = contexts.clone()
    result[:, head] = contexts[:, head][real].mean(dim=0)
    return result


def right_loops(contexts, head, real):
    """right: sums the real vectors in float64 in loops, and stacks the heads anew."""
    B, H, T, D = contexts.shape
    total, count = torch.zeros(D, dtype=torch.float64), 0
    for b in range(B):
        for t in range(T):
            if real[b, t]:
                total += contexts[b, head, t].double()
                count += 1
    mean = (total / count).to(contexts.dtype)
    heads = [mean.expand(B, T, D) if h == head else contexts[:, h] for h in range(H)]
    return torch.stack(heads, dim=1)


def right_where_and_weights(contexts, head, real):
    """right: a weight of 1 / count for each real position, einsum, and torch.where over the heads' axis."""
    share = real.to(contexts.dtype) / real.sum()
    clean = contexts[:, head].masked_fill(~real[..., None], 0)
    mean = torch.einsum("bt,btd->d", share, clean)
    chosen = (torch.arange(contexts.shape[1]) == head).view(1, -1, 1, 1)
    return torch.where(chosen, mean, contexts)


def wrong_padding_in_the_mean(contexts, head, real):
    """wrong: the mean is over all positions, padding included; real is never used."""
    result = contexts.clone()
    result[:, head] = contexts[:, head].mean(dim=(0, 1))
    return result


def wrong_mean_of_each_text(contexts, head, real):
    """wrong: each text gets the mean of its own real positions instead of one mean over all texts."""
    result = contexts.clone()
    mask = real.unsqueeze(-1)
    sums = contexts[:, head].masked_fill(~mask, 0).sum(1, keepdim=True)
    result[:, head] = sums / mask.sum(1, keepdim=True).clamp(min=1)
    return result


def wrong_mean_of_means(contexts, head, real):
    """wrong: first a mean for each text, then the plain mean of these, so that a character of a short text counts more (right where all texts are equally long)."""
    means = torch.stack([contexts[b, head, real[b]].mean(0) for b in range(len(contexts))])
    result = contexts.clone()
    result[:, head] = means.mean(0)
    return result


def wrong_padding_left_as_it_was(contexts, head, real):
    """wrong: only the real positions are replaced; at padding the head keeps its old context."""
    result = contexts.clone()
    mean = contexts[:, head][real].mean(0)
    result[:, head][real] = mean
    return result


def wrong_writes_into_contexts(contexts, head, real):
    """wrong: it writes into the caller's contexts instead of a new tensor."""
    contexts[:, head] = contexts[:, head][real].mean(dim=0)
    return contexts


def wrong_divided_by_all_positions(contexts, head, real):
    """wrong: padding is left out of the sum, but the sum is divided by B * T and not by the number of real positions."""
    out = contexts.clone()
    masked = torch.where(real[:, :, None], contexts[:, head], 0.0)
    out[:, head] = masked.mean(dim=(0, 1))
    return out


def wrong_padding_only_behind(contexts, head, real):
    """wrong: it counts the real positions of each text and takes that many from the front, which is wrong where padding stands in front."""
    lengths = real.sum(dim=1).tolist()
    pieces = [contexts[b, head, :n] for b, n in enumerate(lengths)]
    out = contexts.clone()
    out[:, head, :, :] = torch.cat(pieces).mean(dim=0)
    return out


def wrong_mean_at_each_position(contexts, head, real):
    """wrong: a mean over the texts for each position t apart (real ones alone, 0 where there are none), so the context still differs from position to position."""
    mask = real.unsqueeze(-1).to(contexts.dtype)
    filled = contexts[:, head].masked_fill(~real.unsqueeze(-1), 0)
    mean = filled.sum(0) / mask.sum(0).clamp(min=1)
    result = contexts.clone()
    result[:, head] = mean
    return result


def wrong_axes_of_heads_and_positions_mixed_up(contexts, head, real):
    """wrong: the mean is right, but it's written along the third axis, contexts[:, :, head]: at position number `head` of all heads instead of all positions of that head."""
    mean = contexts[:, head][real].mean(0)
    result = contexts.clone()
    result[:, :, head] = mean
    return result


def wrong_mean_over_features_too(contexts, head, real):
    """wrong: mean() without an axis: one number for all features instead of a mean for each feature."""
    result = contexts.clone()
    result[:, head] = contexts[:, head][real].mean()
    return result


def wrong_other_heads_in_the_mean_and_padding_zeroed(contexts, head, real):
    """wrong: two mistakes: the mean is taken over all heads and not over this head alone, and at padding the head gets zeros instead of the mean."""
    per_position = contexts.mean(dim=1)  # (B, T, D)
    mean = per_position[real].mean(dim=0)
    result = contexts.clone()
    result[:, head] = mean * real[..., None]
    return result


def wrong_head_counted_from_one_with_padding(contexts, head, real):
    """wrong: two mistakes: it takes head - 1, as if heads were counted from 1 (0 becomes the last), and its mean includes the padding."""
    result = contexts.clone()
    result[:, head - 1] = contexts[:, head - 1].flatten(0, 1).mean(0)
    return result


ANSWERS = [
    right_boolean_index,
    right_loops,
    right_where_and_weights,
    wrong_padding_in_the_mean,
    wrong_mean_of_each_text,
    wrong_mean_of_means,
    wrong_padding_left_as_it_was,
    wrong_writes_into_contexts,
    wrong_divided_by_all_positions,
    wrong_padding_only_behind,
    wrong_mean_at_each_position,
    wrong_axes_of_heads_and_positions_mixed_up,
    wrong_mean_over_features_too,
    wrong_other_heads_in_the_mean_and_padding_zeroed,
    wrong_head_counted_from_one_with_padding,
]
