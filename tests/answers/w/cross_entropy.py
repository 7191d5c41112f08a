import torch
from torch.nn import functional as F


def loss_log_softmax(logits, targets):
    """right: log_softmax along the last axis, then gathers the targets."""
    log_p = torch.log_softmax(logits, dim=-1)
    chosen = log_p.gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return -chosen.mean()


def loss_by_hand(logits, targets):
    """right: log of the sum by hand, shifted by each row's maximum, with loops over the positions."""
    total = 0.0
    B, T, _ = logits.shape
    for b in range(B):
        for t in range(T):
            row = logits[b, t]
            m = row.max()
            log_sum = m + torch.log(torch.sum(torch.exp(row - m)))
            total = total + log_sum - row[targets[b, t]]
    return total / (B * T)


def loss_eps(logits, targets):
    """wrong: adds 1e-9 within the log, so a target that seems impossible costs 20.7 nats at most instead of what it should."""
    probs = torch.softmax(logits, dim=-1)
    p_target = probs.gather(2, targets[..., None])
    return -torch.log(p_target + 1e-9).mean()


def loss_shared_max(logits, targets):
    """wrong: shifts all logits by the largest of the whole batch, so a position far below another has log 0 = -inf."""
    shifted = logits - logits.max()
    log_probs = shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
    return -log_probs.gather(-1, targets.unsqueeze(-1)).mean()


def loss_sum_over_time(logits, targets):
    """wrong: divides the sum by B alone, not by B T (right for T = 1)."""
    B, T, V = logits.shape
    log_probs = F.log_softmax(logits.view(B * T, V), dim=-1)
    losses = -log_probs[torch.arange(B * T), targets.view(-1)]
    return losses.sum() / B


def loss_axis_1(logits, targets):
    """wrong: log_softmax along axis 1, the positions, instead of the vocabulary."""
    log_probs = F.log_softmax(logits, dim=1)
    picked = torch.gather(log_probs, dim=2, index=targets.unsqueeze(2))
    return -picked.squeeze(2).mean()


def loss_all_pairs(logits, targets):
    """wrong: log_probs[:, :, targets] reads the targets of all positions at each position, and averages over all these pairs."""
    log_probs = torch.log_softmax(logits, dim=-1)
    picked = log_probs[:, :, targets]
    return -picked.mean()


def loss_log2(logits, targets):
    """wrong: gives bits: divides by the log of 2 instead of leaving the natural logarithm, too large by 1.44."""
    log_z = torch.logsumexp(logits, dim=-1)
    target_logits = logits.gather(-1, targets[:, :, None])[:, :, 0]
    nats = log_z - target_logits
    return torch.mean(nats / torch.log(torch.tensor(2.0)))


ANSWERS = [
    loss_log_softmax,
    loss_by_hand,
    loss_eps,
    loss_shared_max,
    loss_sum_over_time,
    loss_axis_1,
    loss_all_pairs,
    loss_log2,
]
