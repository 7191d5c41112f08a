"""Answers to cross_entropy_backward by hand o."""

import numpy as np
import torch
import torch.nn.functional as F


def right_rows_of_the_identity(logits, targets):
    """right: softmax minus the target's row of the identity, over the number of
    targets."""
    probs = logits.softmax(-1)
    return (probs - torch.eye(logits.shape[-1])[targets]) / targets.numel()


def right_flat_index(logits, targets):
    """right: flattens, takes 1 off the target's place of each row with a pair of index
    tensors, and gives the shape back."""
    flat = torch.log_softmax(logits.reshape(-1, logits.shape[-1]), dim=1).exp()
    places = torch.arange(len(flat))
    flat[places, targets.reshape(-1)] -= 1
    return flat.div_(len(flat)).reshape(logits.shape)


def right_pairwise(logits, targets):
    """right: each probability is 1 over the sum of exp of the differences to it, where
    an overflow to inf gives the right 0; scatter_add for the targets."""
    gaps = logits.unsqueeze(-2) - logits.unsqueeze(-1)
    probs = 1 / gaps.exp().sum(-1)
    n = targets.numel()
    return (probs / n).scatter_add(
        -1, targets.unsqueeze(-1), torch.full((*targets.shape, 1), -1 / n)
    )


def right_jacobian_of_log_softmax(logits, targets):
    """right: in a loop over positions: the full Jacobian of log-softmax, the identity
    minus the probabilities in every row, behind the one-hot gradient."""
    v = logits.shape[-1]
    grad = torch.zeros_like(logits).reshape(-1, v)
    ids = targets.flatten().tolist()
    for i, row in enumerate(logits.reshape(-1, v)):
        row = row - row.max()
        probs = torch.exp(row - torch.logsumexp(row, 0))
        jacobian = torch.eye(v) - probs.expand(v, v)
        upstream = torch.zeros(v)
        upstream[ids[i]] = -1 / len(ids)
        grad[i] = upstream @ jacobian
    return grad.view(logits.shape)


def right_func_grad(logits, targets):
    """right: torch.func.grad of F.cross_entropy, flattened inside."""

    def loss(z):
        return F.cross_entropy(z.flatten(0, -2), targets.flatten())

    return torch.func.grad(loss)(logits)


def right_numpy_float64(logits, targets):
    """right: NumPy in float64 with each row's maximum taken off; the one-hot is a
    comparison with np.arange; casts back to float32."""
    z = logits.detach().numpy().astype(np.float64)
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    hot = targets.numpy()[..., None] == np.arange(z.shape[-1])
    grad = (e / e.sum(axis=-1, keepdims=True) - hot) / hot[..., 0].size
    return torch.tensor(grad, dtype=logits.dtype)


def wrong_one_maximum_for_all(logits, targets):
    """wrong: takes the maximum of the whole tensor off, not that of each row: a row far
    below it becomes 0 / 0, nan."""
    v = logits.shape[-1]
    e = torch.exp(logits - logits.max())
    probs = e / e.sum(-1, keepdim=True)
    return (probs - F.one_hot(targets, v)) / targets.numel()


def wrong_divides_by_len(logits, targets):
    """wrong: divides by len(logits), which for a batch is the number of texts and not
    of positions; right for (T, vocab_size)."""
    probs = torch.softmax(logits, dim=-1)
    return (probs - F.one_hot(targets, logits.shape[-1])) / len(logits)


def wrong_softmax_along_dim_1(logits, targets):
    """wrong: softmax along dim=1, for a batch the axis of the positions; right for
    (T, vocab_size)."""
    probs = torch.softmax(logits, dim=1)
    return (probs - F.one_hot(targets, logits.shape[-1])) / targets.numel()


def wrong_reshape_for_transpose(logits, targets):
    """wrong: brings the vocabulary in front of the positions, as F.cross_entropy wants
    it, with reshape instead of transpose; right for texts of one position."""
    t, v = logits.shape[-2:]
    z = logits.detach().reshape(-1, v, t).requires_grad_()
    with torch.enable_grad():
        loss = F.cross_entropy(z, targets.reshape(-1, t))
    return torch.autograd.grad(loss, z)[0].reshape(logits.shape)


def wrong_targets_column_by_column(logits, targets):
    """wrong: flattens the logits text by text, but the targets position by position
    (transposed first); right for one text."""
    t, v = logits.shape[-2:]
    grad = torch.softmax(logits, dim=-1).reshape(-1, v)
    ids = targets.reshape(-1, t).T.reshape(-1)
    grad[torch.arange(len(ids)), ids] -= 1
    return (grad / len(ids)).reshape(logits.shape)


def wrong_whole_columns(logits, targets):
    """wrong: takes 1 off with grad[..., targets], which hits the column of every target
    in all rows; right for one position, or if all targets are equal."""
    grad = torch.softmax(logits, dim=-1)
    grad[..., targets] -= 1
    return grad / targets.numel()


def wrong_eps_in_the_logarithm(logits, targets):
    """wrong: the chain rule through log(p + 1e-8) and the Jacobian of softmax: where
    the target's probability is tiny or 0, the gradient of the row vanishes."""
    probs = torch.softmax(logits, dim=-1)
    hot = F.one_hot(targets, logits.shape[-1]).to(logits.dtype)
    upstream = -hot / (probs + 1e-8) / targets.numel()
    return probs * (upstream - (upstream * probs).sum(-1, keepdim=True))


def wrong_half_precision(logits, targets):
    """wrong: two mistakes: turns the logits into float16, which rounds thousands to
    whole numbers, and gives the gradient back as float16."""
    probs = torch.softmax(logits.half(), dim=-1)
    hot = F.one_hot(targets, logits.shape[-1]).half()
    return (probs - hot) / targets.numel()


def wrong_clipped_logits(logits, targets):
    """wrong: clips the logits to -50 and 50, so that exp doesn't overflow; then all
    that lie beyond look equal."""
    e = logits.clamp(-50, 50).exp()
    probs = e / e.sum(-1, keepdim=True)
    return (probs - F.one_hot(targets, logits.shape[-1])) / targets.numel()


def wrong_shifts_the_view(logits, targets):
    """wrong: the values are right, but each row's maximum is taken off in place on a
    reshaped view, so that the caller's logits change."""
    v = logits.shape[-1]
    rows = logits.detach().reshape(-1, v)
    rows -= rows.amax(1, keepdim=True)
    e = rows.exp()
    hot = F.one_hot(targets.reshape(-1), v)
    return ((e / e.sum(1, keepdim=True) - hot) / len(rows)).reshape(logits.shape)


def wrong_backward_on_the_argument(logits, targets):
    """wrong: sets requires_grad on the caller's logits and calls backward, which leaves
    a grad there and adds to it in a second call with the same tensor."""
    logits.requires_grad_()
    with torch.enable_grad():
        F.cross_entropy(logits.flatten(0, -2), targets.flatten()).backward()
    return logits.grad


def wrong_zero_is_padding(logits, targets):
    """wrong: takes the target 0 for padding: its rows get no gradient, and the mean is
    over the others only; right without a target 0."""
    real = targets != 0
    grad = torch.softmax(logits, dim=-1) - F.one_hot(targets, logits.shape[-1])
    return grad * real.unsqueeze(-1) / real.sum().clamp(min=1)


def wrong_shifts_once_more(logits, targets):
    """wrong: shifts the targets by one position although they are the next characters
    already; the last position gets a gradient of 0 and isn't counted."""
    grad = torch.zeros_like(logits)
    z, ids = logits[..., :-1, :], targets[..., 1:]
    step = torch.softmax(z, dim=-1) - F.one_hot(ids, logits.shape[-1])
    grad[..., :-1, :] = step / max(ids.numel(), 1)
    return grad


def wrong_one_hot_by_equal_logits(logits, targets):
    """wrong: builds the one-hot by asking which logits equal the target's, so that ties
    count as targets too; right if no other logit of a row is the same."""
    picked = logits.gather(-1, targets.unsqueeze(-1))
    hot = (logits == picked).to(logits.dtype)
    return (torch.softmax(logits, dim=-1) - hot) / targets.numel()


ANSWERS = [
    right_rows_of_the_identity,
    right_flat_index,
    right_pairwise,
    right_jacobian_of_log_softmax,
    right_func_grad,
    right_numpy_float64,
    wrong_one_maximum_for_all,
    wrong_divides_by_len,
    wrong_softmax_along_dim_1,
    wrong_reshape_for_transpose,
    wrong_targets_column_by_column,
    wrong_whole_columns,
    wrong_eps_in_the_logarithm,
    wrong_half_precision,
    wrong_clipped_logits,
    wrong_shifts_the_view,
    wrong_backward_on_the_argument,
    wrong_zero_is_padding,
    wrong_shifts_once_more,
    wrong_one_hot_by_equal_logits,
]
