"""Lines of the audit on what reads what: tokens, features, weights, neighbours."""

from collections.abc import Iterator

import torch
from torch import Tensor

from helpers.checks.auditing.subject import (
    Nonsense,
    Result,
    Subject,
    context_of,
    fails,
    largest_change,
    number,
    passes,
    skip,
    weights_of,
)


def later_tokens_changed(subject: Subject) -> Result:
    """Other later tokens, zeros among them, leave the rows before as they were."""
    if reason := _no_future(subject):
        return skip(reason)
    module, x, worst = subject.copy(), subject.x(), 0.0
    for cut in subject.places(1, subject.T - 1):
        futures = [subject.x(seed=1)[:, cut:], torch.zeros_like(x[:, cut:])]
        before = context_of(module, x)[:, :cut]
        for future in futures:
            changed = torch.cat([x[:, :cut], future], dim=1)
            after = context_of(module, changed)[:, :cut]
            change, small = largest_change(before, after)
            if not small:
                return fails(f"tokens {cut} on move an earlier row by {number(change)}")
            worst = max(worst, change)
    return passes(f"later tokens move earlier rows by {worst:.4f}")


def later_tokens_slope(subject: Subject) -> Result:
    """The slope of each row against each later token is 0."""
    if reason := _no_future(subject):
        return skip(reason)
    worst = 0.0
    for t, slopes in _slopes(subject):
        largest = slopes[t + 1 :].max().item() if t + 1 < subject.T else 0.0
        if not largest <= 1e-6 * max(slopes.max().item(), 1e-30):
            return fails(f"row {t} moves with a later token, slope {number(largest)}")
        worst = max(worst, largest)
    return passes(f"slopes by later tokens are {worst:.4f}")


def all_tokens_reached(subject: Subject) -> Result:
    """Each row depends on every token that it may see."""
    missing, asked = [], 0
    for t, slopes in _slopes(subject):
        allowed = slopes[: t + 1] if subject.causal else slopes
        asked += len(allowed)
        missing += [(t, s) for s in (allowed == 0).nonzero().flatten().tolist()]
    if missing:
        t, s = missing[-1] if subject.causal else missing[0]
        return fails(
            f"row {t} ignores token {s}: {len(missing)} of {asked} slopes are 0"
        )
    return passes(f"none of {asked} slopes is 0")


def _no_future(subject: Subject) -> str:
    if not subject.causal:
        return "causal=False"
    return "one token has no later one" if subject.T == 1 else ""


def _slopes(subject: Subject) -> Iterator[tuple[int, Tensor]]:
    """For some rows t, the largest slope (T,) of the context against each token."""
    module, x = subject.copy(), subject.x().requires_grad_()
    context = context_of(module, x)
    if not context.requires_grad:
        raise Nonsense("no gradient flows from the context to the input")
    generator = torch.Generator().manual_seed(1)
    direction = torch.randn(context.shape[-1], generator=generator).to(context)
    for t in subject.places(0, subject.T - 1):
        # Texts don't share tokens, so that one pass serves the whole batch.
        along = (context[:, t] @ direction).sum()
        (slopes,) = torch.autograd.grad(along, x, retain_graph=True, allow_unused=True)
        slopes = torch.zeros_like(x) if slopes is None else slopes
        yield t, slopes.abs().amax(dim=(0, 2))


def all_features_read(subject: Subject) -> Result:
    """Each output feature, and each head's weights, read every input feature."""
    module, x = subject.copy(), subject.x().requires_grad_()
    context = context_of(module, x)
    parts = [
        (f"output feature {j}", context[:, -1, j])
        for j in subject.places(0, context.shape[-1] - 1)
    ]
    weights = weights_of(module, x)
    if weights is not None and weights.dim() == 4 and subject.T > 1:
        parts += [
            (f"the weights of head {h}", weights[:, h, -1, 0])
            for h in subject.places(0, weights.shape[1] - 1)
            if weights.requires_grad
        ]
    for name, numbers in parts:
        (slopes,) = torch.autograd.grad(
            numbers.sum(), x, retain_graph=True, allow_unused=True
        )
        slopes = torch.zeros_like(x) if slopes is None else slopes
        read = int((slopes != 0).any(dim=0).any(dim=0).sum())
        if read < subject.d_in:
            return fails(f"{name} reads {read} of {subject.d_in} input features")
    return passes(f"all {subject.d_in} input features are read everywhere")


def no_weight_on_the_future(subject: Subject) -> Result:
    """Weights that are returned are 0 above the diagonal."""
    if reason := _no_future(subject):
        return skip(reason)
    weights = weights_of(subject.copy(), subject.x())
    if weights is None:
        return skip("no weights are returned")
    largest = weights.triu(1).abs().max().item()
    if largest != 0:
        return fails(f"a later token has weight {number(largest)}")
    return passes(f"later tokens have weight {largest:.4f}")


def rows_sum_to_one(subject: Subject) -> Result:
    """Weights that are returned are a distribution, row by row."""
    weights = weights_of(subject.copy(), subject.x())
    if weights is None:
        return skip("no weights are returned")
    sums = weights.sum(dim=-1)
    worst = sums.flatten()[(sums - 1).abs().argmax()].item()
    if not abs(worst - 1) < 1e-4 or weights.min() < 0:
        return fails(f"a row sums to {number(worst)}")
    return passes(f"every row sums to {worst:.4f}")


def order_of_tokens(subject: Subject) -> Result:
    """Without positions, the order of the tokens that a row sees changes nothing."""
    if subject.positions:
        return skip("positions=True")
    known = subject.T - 1 if subject.causal else subject.T
    if known < 2:
        return skip("too few tokens to swap")
    module, x = subject.copy(), subject.x()
    order = [*reversed(range(known)), *range(known, subject.T)]
    before, after = context_of(module, x), context_of(module, x[:, order])
    if subject.causal:
        before, after = before[:, -1], after[:, -1]
        what = "the last row"
    else:
        before, what = before[:, order], "the shuffled rows"
    change, small = largest_change(before, after)
    if not small:
        return fails(f"shuffled tokens move {what} by {number(change)}")
    return passes(f"shuffled tokens move {what} by {change:.4f}")


def texts_apart(subject: Subject) -> Result:
    """A text's rows don't depend on the other texts of the batch."""
    module, x = subject.copy(), subject.x()
    together = context_of(module, x)
    for b in range(subject.B):
        alone = context_of(module, x[b : b + 1])
        change, small = largest_change(together[b : b + 1], alone)
        if not small:
            return fails(f"text {b} alone differs by {number(change)}")
    return passes("each text alone gives the same rows")
