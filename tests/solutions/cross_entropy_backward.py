"""The gradient of cross-entropy."""

import torch
import torch.nn.functional as F


def loss_back_by_one_hot(logits, targets):
    one_hot = F.one_hot(targets, logits.shape[-1])
    return (F.softmax(logits, dim=-1) - one_hot) / targets.numel()


def loss_back_by_rows(logits, targets):
    width = logits.shape[-1]
    grad = torch.softmax(logits.reshape(-1, width), dim=1)
    grad[torch.arange(len(grad)), targets.reshape(-1)] -= 1
    return grad.reshape(logits.shape) / len(grad)


def loss_back_by_loops(logits, targets):
    rows = logits.double().flatten(0, -2)
    grad = torch.zeros_like(rows)
    for place, (row, target) in enumerate(zip(rows, targets.flatten(), strict=True)):
        exponentials = (row - row.max()).exp()
        for character in range(len(row)):
            grad[place, character] = exponentials[character] / exponentials.sum()
        grad[place, target] -= 1
    return (grad / len(rows)).view_as(logits)


def loss_back_by_scatter(logits, targets):
    minus = torch.full_like(logits[..., :1], -1.0)
    grad = logits.log_softmax(-1).exp()
    return grad.scatter_add(-1, targets[..., None], minus).div(targets.numel())


def loss_back_by_pytorch(logits, targets):
    leaf = logits.detach().clone().requires_grad_(True)
    flat = leaf.view(-1, leaf.shape[-1])
    return torch.autograd.grad(F.cross_entropy(flat, targets.view(-1)), leaf)[0]


def one_hot_of(logits, targets):
    return F.one_hot(targets, logits.shape[-1]).float()


def loss_back_turned(logits, targets):
    return (one_hot_of(logits, targets) - logits.softmax(-1)) / targets.numel()


def loss_back_summed(logits, targets):
    return logits.softmax(-1) - one_hot_of(logits, targets)


def loss_back_by_batch(logits, targets):
    return (logits.softmax(-1) - one_hot_of(logits, targets)) / len(logits)


def loss_back_by_length(logits, targets):
    difference = logits.softmax(-1) - one_hot_of(logits, targets)
    return difference / targets.shape[-1]


def loss_back_by_everything(logits, targets):
    difference = logits.softmax(-1) - one_hot_of(logits, targets)
    return difference / logits.numel()


def loss_back_overflowing(logits, targets):
    exponentials = torch.exp(logits)
    probabilities = exponentials / exponentials.sum(dim=-1, keepdim=True)
    return (probabilities - one_hot_of(logits, targets)) / targets.numel()


def loss_back_one_maximum(logits, targets):
    exponentials = torch.exp(logits - torch.amax(logits))
    probabilities = exponentials / exponentials.sum(dim=-1, keepdim=True)
    return (probabilities - one_hot_of(logits, targets)) / targets.numel()


def loss_back_all_columns(logits, targets):
    grad = torch.softmax(logits, dim=-1)
    grad[..., targets.flatten()] -= 1.0
    return grad / targets.numel()


def loss_back_right_one_only(logits, targets):
    grad = torch.zeros_like(logits)
    right = logits.softmax(-1).gather(-1, targets.unsqueeze(-1))
    return grad.scatter(-1, targets.unsqueeze(-1), (right - 1) / targets.numel())


def loss_back_doubled(logits, targets):
    return 2 * loss_back_by_one_hot(logits, targets)


RIGHT = [
    loss_back_by_one_hot,
    loss_back_by_rows,
    loss_back_by_loops,
    loss_back_by_scatter,
    loss_back_by_pytorch,
]
WRONG = [
    (loss_back_turned, "the gradient with its sign turned"),
    (loss_back_summed, "the gradient of the sum of all losses"),
    (loss_back_by_batch, "a division by the first axis alone"),
    (loss_back_by_length, "a division by T alone"),
    (loss_back_by_everything, "a division by the number of logits"),
    (loss_back_overflowing, "exponentials that overflow"),
    (loss_back_one_maximum, "one maximum for all rows"),
    (loss_back_all_columns, "a 1 that is subtracted in every row"),
    (loss_back_right_one_only, "the right character's entry alone"),
    (loss_back_doubled, None),
]
