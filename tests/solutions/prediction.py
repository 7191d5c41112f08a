"""Cross-entropy, top-k and top-p."""

import math

import torch
import torch.nn.functional as F

# --- cross_entropy --------------------------------------------------------------------


def loss_by_pytorch(logits, targets):
    return F.cross_entropy(logits.transpose(1, 2), targets)


def loss_by_gather(logits, targets):
    logs = torch.log_softmax(logits, dim=-1)
    return -logs.gather(2, targets.unsqueeze(2)).mean()


def loss_by_loops(logits, targets):
    B, T, _ = logits.shape
    total = 0.0
    for b in range(B):
        for t in range(T):
            row = logits[b, t].tolist()
            largest = max(row)
            scale = sum(math.exp(one - largest) for one in row)
            total += math.log(scale) + largest - row[int(targets[b, t])]
    return total / (B * T)


def loss_by_logsumexp(logits, targets):
    right = torch.take_along_dim(logits, targets[..., None], dim=-1).squeeze(-1)
    return (logits.logsumexp(dim=-1) - right).double().mean()


def loss_by_one_hot(logits, targets):
    one_hot = F.one_hot(targets, logits.shape[-1]).to(logits.dtype)
    logits = logits - logits.max(dim=-1, keepdim=True).values
    logs = logits - logits.exp().sum(dim=-1, keepdim=True).log()
    return -torch.einsum("btv,btv->bt", one_hot, logs).mean()


def loss_like_the_chapter(logits, targets):
    B, T, _ = logits.shape
    total = 0.0
    for b in range(B):
        for t in range(T):
            probabilities = torch.softmax(logits[b, t], dim=0)
            total = total - probabilities[targets[b, t]].log()
    return total / (B * T)


def loss_of_doubles(logits, targets):
    probabilities = logits.double().softmax(-1)
    return -probabilities.gather(-1, targets[..., None]).log().mean()


def loss_that_overflows(logits, targets):
    exponentials = torch.exp(logits)
    probabilities = exponentials / exponentials.sum(-1, keepdim=True)
    return -torch.log(probabilities.gather(-1, targets[..., None])).mean()


def loss_that_overflows_later(logits, targets):
    right = logits.gather(-1, targets[..., None])[..., 0]
    return (torch.log(torch.exp(logits).sum(-1)) - right).mean()


def loss_with_one_maximum(logits, targets):
    logits = logits - logits.max()
    right = logits.gather(-1, targets[..., None]).squeeze(-1)
    return (logits.exp().sum(-1).log() - right).mean()


def loss_less_the_mean(logits, targets):
    logits = logits - logits.mean(dim=-1, keepdim=True)
    right = logits.gather(-1, targets[..., None]).squeeze(-1)
    return (logits.exp().sum(-1).log() - right).mean()


def loss_with_a_ceiling(logits, targets):
    right = logits.softmax(-1).gather(-1, targets[..., None])
    return -torch.log(right + 1e-9).mean()


def loss_of_a_table(logits, targets):
    one_hot = F.one_hot(targets, logits.shape[-1])
    return -(one_hot * logits.log_softmax(-1)).mean()


def loss_summed(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")


def loss_summed_after_softmax(logits, targets):
    probabilities = logits.softmax(-1).gather(-1, targets[..., None])
    return -probabilities.log().sum()


def loss_of_texts(logits, targets):
    logs = logits.log_softmax(-1).gather(-1, targets[..., None]).squeeze(-1)
    return -logs.sum(dim=1).mean()


def loss_in_bits(logits, targets):
    probabilities = logits.softmax(-1).gather(-1, targets[..., None])
    return -torch.log2(probabilities).mean()


def loss_positive(logits, targets):
    return logits.log_softmax(-1).gather(-1, targets[..., None]).mean()


def loss_over_positions(logits, targets):
    logs = F.log_softmax(logits, dim=1)
    return -logs.gather(-1, targets[..., None]).mean()


def loss_without_log(logits, targets):
    return F.nll_loss(logits.softmax(-1).flatten(0, 1), targets.flatten())


def loss_of_logits(logits, targets):
    return F.nll_loss(logits.flatten(0, 1), targets.flatten())


def loss_squared(logits, targets):
    one_hot = F.one_hot(targets, logits.shape[-1]).float()
    return F.mse_loss(logits.softmax(-1), one_hot)


def loss_shifted_again(logits, targets):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), targets[:, 1:].flatten())


def loss_of_the_mean(logits, targets):
    probabilities = logits.softmax(-1).gather(-1, targets[..., None])
    return -probabilities.mean().log()


# --- top_k ----------------------------------------------------------------------------


def top_k_by_scatter(logits, k, temperature):
    values, ids = (logits / temperature).topk(k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, ids, values.softmax(dim=-1))


def top_k_by_mask(logits, k, temperature):
    mask = torch.ones_like(logits, dtype=torch.bool)
    mask.scatter_(1, torch.topk(logits, k).indices, False)
    return F.softmax((logits / temperature).masked_fill(mask, -torch.inf), dim=1)


def top_k_by_loops(logits, k, temperature):
    rows = []
    for row in logits.double():
        order = sorted(range(len(row)), key=lambda i: -row[i].item())[:k]
        weights = ((row - row.max()) / temperature).exp()
        rows.append([weights[i].item() if i in order else 0.0 for i in range(len(row))])
    table = torch.tensor(rows)
    return table / table.sum(1, keepdim=True)


def top_k_by_ranks(logits, k, temperature):
    ranks = logits.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
    probabilities = (logits / temperature).softmax(-1).where(ranks < k, 0.0)
    return probabilities / probabilities.sum(-1, keepdim=True)


def top_k_by_comparison(logits, k, temperature):
    smallest = torch.topk(logits, k).values[:, [-1]]
    logits = logits.masked_fill(logits < smallest, -float("inf"))
    return torch.softmax(logits / temperature, dim=-1)


def top_k_with_a_low_number(logits, k, temperature):
    places = logits.topk(k).indices
    kept = torch.zeros_like(logits).scatter(-1, places, 1.0)
    return (logits / temperature).masked_fill(kept == 0, -1000.0).softmax(-1)


def top_k_zeros(logits, k, temperature):
    kept = torch.zeros_like(logits)
    values, ids = logits.topk(k)
    kept.scatter_(-1, ids, values)
    return (kept / temperature).softmax(-1)


def top_k_undivided(logits, k, temperature):
    probabilities = torch.softmax(logits / temperature, dim=-1)
    smallest = probabilities.topk(k).values[:, -1:]
    return torch.where(probabilities >= smallest, probabilities, 0.0)


def top_k_strict(logits, k, temperature):
    smallest = logits.sort(descending=True).values[:, k - 1 : k]
    logits = torch.where(logits > smallest, logits, -torch.inf)
    return (logits / temperature).softmax(-1)


def top_k_one_too_many(logits, k, temperature):
    smallest = logits.sort(descending=True).values[:, k : k + 1]
    logits = torch.where(logits >= smallest, logits, -torch.inf)
    return (logits / temperature).softmax(-1)


def top_k_over_rows(logits, k, temperature):
    smallest = logits.topk(k, dim=0).values[-1]
    logits = logits.masked_fill(logits < smallest, -torch.inf)
    return (logits / temperature).softmax(-1)


def top_k_multiplied(logits, k, temperature):
    values, ids = logits.topk(k)
    probabilities = (values * temperature).softmax(-1)
    return torch.zeros_like(logits).scatter(-1, ids, probabilities)


def top_k_late_temperature(logits, k, temperature):
    smallest = logits.topk(k).values[:, -1:]
    weights = logits.masked_fill(logits < smallest, -torch.inf).softmax(-1)
    weights = weights / temperature
    return weights / weights.sum(-1, keepdim=True)


def top_k_compact(logits, k, temperature):
    return F.softmax(torch.topk(logits, k).values / temperature, dim=-1)


def top_k_smallest(logits, k, temperature):
    largest = logits.sort().values[:, k - 1 : k]
    logits = logits.masked_fill(logits > largest, -torch.inf)
    return (logits / temperature).softmax(-1)


def top_k_sorted(logits, k, temperature):
    ordered = logits.sort(descending=True).values
    ordered[:, k:] = -torch.inf
    return (ordered / temperature).softmax(-1)


# --- top_p ----------------------------------------------------------------------------


def top_p_by_scatter(logits, p):
    ordered, ids = logits.softmax(-1).sort(descending=True)
    ordered = ordered.where(ordered.cumsum(-1) - ordered < p, 0.0)
    ordered = ordered / ordered.sum(-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, ids, ordered)


def top_p_shifted(logits, p):
    ordered, ids = torch.sort(logits, descending=True)
    remove = F.softmax(ordered, dim=-1).cumsum(dim=-1) > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    mask = remove.scatter(1, ids, remove)
    return logits.masked_fill(mask, -torch.inf).softmax(-1)


def top_p_by_loops(logits, p):
    result = torch.zeros(logits.shape, dtype=torch.float64)
    for b, row in enumerate(logits.double().softmax(-1)):
        total = 0.0
        for i in row.argsort(descending=True).tolist():
            if total < p:
                result[b, i] = row[i]
                total += row[i].item()
    return result / result.sum(1, keepdim=True)


def top_p_from_below(logits, p):
    ordered, ids = logits.sort()
    sums = ordered.softmax(-1).cumsum(-1)
    mask = sums <= 1 - p
    mask[:, -1] = False
    places = ids.argsort(-1)
    return logits.masked_fill(mask.gather(-1, places), -torch.inf).softmax(-1)


def top_p_like_the_chapter(logits, p):
    rows = []
    for row in logits.softmax(-1):
        sums = row.sort(descending=True).values.cumsum(dim=0)
        best = row.topk(int((sums < p).sum()) + 1).indices
        kept = torch.zeros_like(row)
        kept[best] = row[best]
        rows.append(kept / kept.sum())
    return torch.stack(rows)


def top_p_drops_the_crossing(logits, p):
    ordered, ids = torch.sort(logits, descending=True)
    remove = ordered.softmax(-1).cumsum(-1) > p
    mask = remove.scatter(1, ids, remove)
    return logits.masked_fill(mask, -torch.inf).softmax(-1)


def top_p_drops_the_crossing_but_keeps_one(logits, p):
    ordered, ids = torch.sort(logits, descending=True)
    remove = ordered.softmax(-1).cumsum(-1) >= p
    remove[:, 0] = False
    mask = remove.scatter(1, ids, remove)
    return logits.masked_fill(mask, -torch.inf).softmax(-1)


def top_p_one_too_many(logits, p):
    rows = []
    for row in logits.softmax(-1):
        sums = row.sort(descending=True).values.cumsum(dim=0)
        best = row.topk(int((sums < p).sum()) + 2).indices
        kept = torch.zeros_like(row)
        kept[best] = row[best]
        rows.append(kept / kept.sum())
    return torch.stack(rows)


def top_p_unsorted(logits, p):
    probabilities = logits.softmax(-1)
    before = probabilities.cumsum(-1) - probabilities
    return logits.masked_fill(before >= p, -torch.inf).softmax(-1)


def top_p_ascending(logits, p):
    ordered, ids = logits.softmax(-1).sort()
    ordered = ordered.where(ordered.cumsum(-1) - ordered < p, 0.0)
    ordered = ordered / ordered.sum(-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, ids, ordered)


def top_p_sorted(logits, p):
    ordered = logits.softmax(-1).sort(descending=True).values
    ordered = ordered.where(ordered.cumsum(-1) - ordered < p, 0.0)
    return ordered / ordered.sum(-1, keepdim=True)


def top_p_mask_in_order(logits, p):
    ordered = logits.softmax(-1).sort(descending=True).values
    remove = ordered.cumsum(-1) - ordered >= p
    return logits.masked_fill(remove, -torch.inf).softmax(-1)


def top_p_undivided(logits, p):
    ordered, ids = logits.softmax(-1).sort(descending=True)
    ordered[ordered.cumsum(-1) - ordered >= p] = 0.0
    return torch.zeros_like(logits).scatter(-1, ids, ordered)


def top_p_threshold(logits, p):
    return logits.masked_fill(logits.softmax(-1) < p, -torch.inf).softmax(-1)


def top_p_by_cutoff(logits, p):
    rows = []
    for row in logits.softmax(-1):
        ordered = row.sort(descending=True).values
        cutoff = ordered[(ordered.cumsum(0) < p).sum()]
        kept = torch.where(row >= cutoff, row, 0.0)
        rows.append(kept / kept.sum())
    return torch.stack(rows)


def top_p_scatters_twice(logits, p):
    ordered, ids = logits.softmax(-1).sort(descending=True)
    ordered = ordered.where(ordered.cumsum(-1) - ordered < p, 0.0)
    return ordered.gather(-1, ids) / ordered.sum(-1, keepdim=True)


RIGHT = {
    "cross_entropy": [
        loss_by_pytorch,
        loss_by_gather,
        loss_by_loops,
        loss_by_logsumexp,
        loss_by_one_hot,
    ],
    "top_k": [top_k_by_scatter, top_k_by_mask, top_k_by_loops, top_k_by_ranks],
    "top_p": [
        top_p_by_scatter,
        top_p_shifted,
        top_p_by_loops,
        top_p_from_below,
        top_p_like_the_chapter,
    ],
}
WRONG = {
    "cross_entropy": [
        (loss_like_the_chapter, "the logarithm of a probability that has become 0"),
        (loss_of_doubles, "the logarithm of a probability that has become 0"),
        (loss_that_overflows, "exponentials that overflow"),
        (loss_that_overflows_later, "exponentials that overflow"),
        (loss_with_one_maximum, "one maximum for all rows"),
        (loss_less_the_mean, None),
        (loss_with_a_ceiling, "a probability that a small number keeps from 0"),
        (loss_of_a_table, "the mean over all entries of a one-hot table"),
        (loss_summed, "the sum over all positions"),
        (loss_summed_after_softmax, "the sum over all positions"),
        (loss_of_texts, "the sum over a text, averaged over the batch"),
        (loss_in_bits, "a loss in bits"),
        (loss_positive, "a loss with the wrong sign"),
        (loss_over_positions, "softmax over the positions"),
        (loss_without_log, "minus the probability, without a logarithm"),
        (loss_of_logits, "logits that were not normalised"),
        (loss_squared, "a squared error"),
        (loss_shifted_again, "targets moved on a second time"),
        (loss_of_the_mean, None),
    ],
    "top_k": [
        (top_k_by_comparison, "top-k that keeps more where logits are equal"),
        (top_k_with_a_low_number, None),
        (top_k_zeros, "top-k with logits set to 0 where they are cut"),
        (top_k_undivided, "top-k that is not divided by its sum"),
        (top_k_strict, "top-k without the k-th"),
        (top_k_one_too_many, "top-k that keeps k + 1"),
        (top_k_over_rows, "top-k over the rows"),
        (top_k_multiplied, "logits multiplied by the temperature"),
        (top_k_late_temperature, "a temperature without effect"),
        (top_k_compact, "k probabilities without their places"),
        (top_k_smallest, "the least probable k"),
        (top_k_sorted, "probabilities in sorted order"),
    ],
    "top_p": [
        (top_p_drops_the_crossing, "top-p without the character that crosses p"),
        (
            top_p_drops_the_crossing_but_keeps_one,
            "top-p without the character that crosses p",
        ),
        (top_p_one_too_many, "top-p that keeps one character too many"),
        (top_p_unsorted, "sums over characters that were not sorted"),
        (top_p_ascending, "sums that begin with the least probable"),
        (top_p_sorted, "probabilities in sorted order"),
        (top_p_mask_in_order, "a mask that stays in sorted order"),
        (top_p_undivided, "top-p that is not divided by its sum"),
        (top_p_threshold, "a threshold for each single probability"),
        (top_p_by_cutoff, "top-p that keeps more where probabilities are equal"),
        (top_p_scatters_twice, None),
    ],
}
