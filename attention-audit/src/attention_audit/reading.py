"""Checks on what reads what: tokens, features, weights, batch elements."""

from collections.abc import Iterator

import torch
from torch import Tensor

from attention_audit.inside import inside_of
from attention_audit.subject import (
    TOLERANCE,
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

MOST_INPUTS = 12


def later_tokens_changed(subject: Subject) -> Result:
    """Other later tokens change no earlier position, in eval and in train mode.

    Zeros are among them. In train mode both calls have one seed, and so drop alike.
    """
    if reason := _no_future(subject):
        return skip(reason)
    x, worst = subject.x(), 0.0
    for mode in ("", "in train mode, "):
        module = subject.copy().train(bool(mode))
        for cut in subject.places(1, subject.T - 1):
            before = context_of(module, x)[:, :cut]
            for future in (subject.x(seed=1)[:, cut:], torch.zeros_like(x[:, cut:])):
                changed = torch.cat([x[:, :cut], future], dim=1)
                after = context_of(module, changed)[:, :cut]
                change, small = largest_change(before, after)
                if not small:
                    moved = f"tokens {cut} on move an earlier position"
                    reason = f"{mode}{moved} by {number(change)}"
                    return fails(reason + _no_mask_at_all(subject))
                worst = max(worst, change)
    return passes(f"later tokens move earlier positions by {worst:.4f}")


def _no_mask_at_all(subject: Subject) -> str:
    """What to ask where each position attends to each token: perhaps it may."""
    inside = inside_of(subject)
    if inside is None or not (inside.weights > 0).all():
        return ""
    return "; no mask acts: if none shall, declare causal=False"


def later_tokens_gradient(subject: Subject) -> Result:
    """The gradient of each position by each later token is 0."""
    if reason := _no_future(subject):
        return skip(reason)
    worst = 0.0
    for t, gradients in token_gradients(subject):
        largest = gradients[t + 1 :].max().item() if t + 1 < subject.T else 0.0
        if not largest <= 1e-6 * max(gradients.max().item(), 1e-30):
            moves = f"gradient {number(largest)}"
            return fails(f"position {t} moves with a later token, {moves}")
        worst = max(worst, largest)
    return passes(f"gradients by later tokens are {worst:.4f}")


def all_tokens_reached(subject: Subject) -> Result:
    """Each position depends on all tokens that it may attend to, and on no others.

    Each head must give each of these some weight, its own token among them.
    """
    may_see, missing, asked, own = subject.may_see(subject.T), [], 0, 0
    later: list[tuple[int, int]] = []
    for t, gradients in _all_gradients(subject):
        own += 1
        later += [(t, s) for s in range(t + 1, subject.T) if may_see[t, s]]
        reached, allowed = gradients.cpu() != 0, may_see[t]
        asked += int(allowed.sum())
        missing += [(t, s) for s in (allowed & ~reached).nonzero().flatten().tolist()]
        beyond = reached & ~allowed
        if subject.causal:  # what is ahead is the business of "future grads"
            beyond = beyond[: t + 1]
        if beyond.any():
            s = int(beyond.nonzero()[0])
            where = "behind" if s < t else "beyond"
            return fails(f"position {t} reads token {s}, which is {where} the window")
    if missing:
        t, s = missing[-1] if subject.causal else missing[0]
        count = f"{len(missing)} of {asked} gradients are 0"
        window = subject.window is None and (s < t or not subject.causal)
        more = "; is there a window to declare?" if window else ""
        if len(missing) == asked - own and all(t != s for t, s in missing):
            more = ", each depends on itself alone"
        elif missing == later:
            more = ", none depends on a later one"
        return fails(f"position {t} doesn't depend on token {s}: {count}{more}")
    inside = inside_of(subject) if subject.declared.softmax else None
    if inside is not None:
        allowed = subject.may_see(inside.x.shape[1], inside.H)
        for h, t, s in ((inside.ordered_weights == 0) & allowed).nonzero().tolist():
            why = "; has it a window of its own, to declare as window=(4, None, …)?"
            why = why if s < t and subject.declared.window is None else ""
            return fails(f"head {h} gives token {s} no weight at position {t}{why}")
    return passes(f"each position depends on all that it may: {asked} gradients")


def _no_future(subject: Subject) -> str:
    if not subject.causal:
        return "causal=False"
    return "one token has no later one" if subject.T == 1 else ""


def tokens_that_sum_to_nothing(subject: Subject) -> str:
    """Whether a token is taken for padding because its features sum to 0.

    Behind a layer norm they all do; in other tokens, one feature is 0.
    """
    if not subject.declared.softmax or subject.T < 3:
        return ""
    x, may_see = subject.x(), subject.may_see(subject.T)
    x[:, ::2] -= x[:, ::2].mean(dim=-1, keepdim=True)
    x[:, 1::2, 0] = 0.0
    usual = dict(token_gradients(subject))
    for t, gradients in token_gradients(subject, x=x):
        gone = may_see[t] & (gradients.cpu() == 0) & (usual[t].cpu() != 0)
        for s in gone.nonzero().flatten().tolist():
            what = "has a feature of 0" if s % 2 else "has features that sum to 0"
            return f"position {t} doesn't depend on token {s}, which {what}"
    return ""


def _all_gradients(subject: Subject) -> Iterator[tuple[int, Tensor]]:
    """As ``token_gradients``; of several inputs the largest, where weights may rest."""
    if subject.declared.softmax:
        yield from token_gradients(subject)
        return
    several = [dict(token_gradients(subject, seed=seed)) for seed in range(MOST_INPUTS)]
    for t in several[0]:
        yield t, torch.stack([one[t] for one in several]).amax(dim=0)


def _changes(subject: Subject, x: Tensor) -> Iterator[tuple[int, Tensor]]:
    """As ``token_gradients`` where there are none: what another token changes, or 0."""
    module = subject.copy()
    before, after = context_of(module, x), []
    for s in range(subject.T):
        other = x.clone()
        other[:, s] = subject.x(seed=8)[:, s]
        after.append((context_of(module, other) - before).abs().amax(dim=(0, 2)))
    moved = torch.stack(after, dim=1)  # (positions, tokens)
    moved[moved <= TOLERANCE * before.abs().max()] = 0.0
    for t in subject.places(0, subject.T - 1):
        yield t, moved[t]


def token_gradients(
    subject: Subject, seed: int = 0, x: Tensor | None = None
) -> Iterator[tuple[int, Tensor]]:
    """For some positions t, the largest gradient (T,) of the context by each token."""
    x = subject.x(seed=seed) if x is None else x
    if subject.forward_only:
        yield from _changes(subject, x)
        return
    module, x = subject.copy(), x.requires_grad_()
    context = context_of(module, x)
    if not context.requires_grad:
        raise Nonsense("no gradient flows from the context to the input")
    generator = torch.Generator().manual_seed(1)
    direction = torch.randn(context.shape[-1], generator=generator).to(context)
    for t in subject.places(0, subject.T - 1):
        # Batch elements don't share tokens, so that one pass serves all of them.
        along = (context[:, t] @ direction).sum()
        yield t, _gradient(along, x).abs().amax(dim=(0, 2))


def _gradient(value: Tensor, x: Tensor) -> Tensor:
    """The gradient of a value by x, zeros where it doesn't depend on it.

    As training asks for it: ``torch.autograd.grad`` is refused by layers that compute
    parts twice in PyTorch's older way (``checkpoint`` with ``use_reentrant=True``).
    """
    x.grad = None
    value.backward(retain_graph=True)
    return torch.zeros_like(x) if x.grad is None else x.grad


def all_features_read(subject: Subject) -> Result:
    """Each output feature, and each head's weights, read every input feature.

    Behind a ReLU a feature may rest for some inputs, so several are tried, of four
    sizes.
    """
    if subject.forward_only:
        return skip(f"no backward here: {subject.forward_only}")
    read: dict[str, Tensor] = {}
    for seed in range(MOST_INPUTS):
        for name, features in _features_read(subject, seed):
            read[name] = read.get(name, torch.zeros_like(features)) | features
        if all(bool(features.all()) for features in read.values()):
            return passes(f"all {subject.d_in} input features are read everywhere")
    name = next(name for name, features in read.items() if not features.all())
    count = int(read[name].sum())
    return fails(f"{name} reads {count} of {subject.d_in} input features")


def _features_read(subject: Subject, seed: int) -> Iterator[tuple[str, Tensor]]:
    """For parts of a result, which features (d_in,) of one input they depend on."""
    x = (10 ** (seed % 4) * subject.x(seed=seed)).requires_grad_()
    module = subject.copy()
    context = context_of(module, x)
    parts = [
        (f"output feature {j}", context[..., j])
        for j in subject.places(0, context.shape[-1] - 1)
    ]
    weights = weights_of(module, x)
    seen = subject.may_see(subject.T)[-1].nonzero().flatten().tolist()
    if weights is not None and weights.dim() == 4 and len(seen) > 1:
        parts += [
            (f"the weights of head {h}", weights[:, h, -1, seen[0]])
            for h in subject.places(0, weights.shape[1] - 1)
            if weights.requires_grad
        ]
    for name, numbers in parts:
        yield name, (_gradient(numbers.sum(), x) != 0).any(dim=0).any(dim=0)


def order_of_tokens(subject: Subject) -> Result:
    """Without positions, the order of the tokens attended to changes nothing."""
    if subject.declared.positions:
        return skip(f"positions={subject.declared.positions!r}")
    # With a window, too, the last position alone attends to all that is shuffled.
    only_last = subject.causal or subject.declared.window is not None
    known = subject.T - 1 if only_last else subject.T
    first = max(0, subject.T - (_narrowest(subject) or subject.T))
    if known - first < 2:
        return skip("too few tokens to swap")
    module, x = subject.copy(), subject.x()
    places = list(range(first, known))
    largest = 0.0
    for moved in (places[::-1], places[1:] + places[:1]):  # halves may change places
        order = [*range(first), *moved, *range(known, subject.T)]
        before, after = context_of(module, x), context_of(module, x[:, order])
        if only_last:
            before, after = before[:, -1], after[:, -1]
            what = "the last position"
        else:
            before, what = before[:, order], "the shuffled positions"
        change, small = largest_change(before, after)
        if not small:
            told = f"shuffled tokens move {what} by {number(change)}"
            return fails(f"{told}; has it positions to declare?")
        largest = max(largest, change)
    return passes(f"shuffled tokens move {what} by {largest:.4f}")


def _narrowest(subject: Subject) -> int | None:
    """The narrowest window of any head: what all heads see may be shuffled."""
    windows = subject.declared.window
    known = windows if isinstance(windows, tuple) else (windows,)
    return min((W for W in known if W is not None), default=None)


def batch_elements_apart(subject: Subject) -> Result:
    """What a sequence gives doesn't depend on the others in its batch."""
    module, x = subject.copy(), subject.x()
    together = context_of(module, x)
    for b in range(subject.B):
        alone = context_of(module, x[b : b + 1])
        one = together[b : b + 1]
        change, small = largest_change(one, alone, slack=subject.slack())
        if not small:
            return fails(f"batch element {b} alone differs by {number(change)}")
    large = subject.loud * x
    large[0] = x[0]
    change, small = largest_change(together[:1], context_of(module, large)[:1])
    if not small:
        moved = f"a batch element moves by {number(change)}"
        return fails(f"beside tokens times {subject.loud}, {moved}")
    return passes("each batch element alone gives the same")
