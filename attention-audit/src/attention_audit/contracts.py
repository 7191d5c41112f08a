"""Lines of the audit on what a layer promises beside one pass over whole texts.

Padding masks and key-value caches are called in a way that only the owner knows, so
these lines ask where a function for them was declared.
"""

import contextlib
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attention_audit.subject import (
    Result,
    Subject,
    checked_context,
    context_of,
    error_text,
    fails,
    largest_change,
    number,
    passes,
    skip,
)

TEXTS = (
    "a text without padding",
    "a text with padding behind it",
    "a text with padding before it",
    "a text of only padding",
)


def padding(subject: Subject) -> Result:
    """Padding is inert, whatever stands in it, and no text becomes NaN for it.

    Four texts: one whole, one with padding behind it, one with padding before it, one
    of padding alone. Rows of real tokens are those of the text without padding.
    """
    if (padded := subject.declared.padding) is None:
        return skip("pass padding, a function (module, x, real), to ask")
    if subject.T < 3:
        return skip("too few tokens to pad")
    module, T = subject.copy(), subject.T
    short = T // 2 + 1
    x = torch.cat([subject.x(seed=seed)[:1] for seed in range(4)])
    real = torch.ones(4, T, dtype=torch.bool, device=x.device)
    real[1, short:], real[2, : T - short], real[3] = False, False, False

    overwritten: list[str] = []

    def run(x: Tensor, real: Tensor) -> Tensor:
        torch.manual_seed(0)
        given = {"x": x.clone(), "mask": real.clone()}
        context = checked_context(padded(module, *given.values()), x)
        for (name, mine), before in zip(given.items(), (x, real), strict=True):
            if not torch.equal(mine, before):
                overwritten.append(name)
        return context

    with torch.no_grad():
        inference = run(x, real)
    rows = run(x, real)
    for text, name in enumerate(TEXTS):
        for found, how in ((rows, ""), (inference, ", without gradients")):
            if not found[text].isfinite().all():
                fine = real[text].any() and found[text][real[text]].isfinite().all()
                which = "rows of padding" if fine else "rows"
                return fails(f"{name}{how}: its {which} are not finite")
    if overwritten:
        return fails(f"the caller's {overwritten[0]} is overwritten")
    if reason := _differ(inference[real][None], rows[real][None]):
        return fails(f"without gradients, a row differs by {reason}")
    if reason := _differ(run(x[:1], real[:1]), context_of(module, x[:1])):
        return fails(f"a mask that hides nothing moves a row by {reason}")
    if reason := _differ(rows[1:2, :short], context_of(module, x[1:2, :short])):
        return fails(f"padding behind a text moves its rows by {reason}")
    # Where positions count from the first place, padding before a text shifts them.
    if subject.declared.positions is not True:
        after = context_of(module, x[2:3, T - short :])
        if reason := _differ(rows[2:3, T - short :], after, slack=10):
            return fails(f"padding before a text moves its rows by {reason}")
    turned = run(x.flip(0), real.flip(0)).flip(0)
    if reason := _differ(turned[real][None], rows[real][None]):
        return fails(f"after a call with another mask, a row differs by {reason}")
    # Real tokens in the thousands have scores far below those that a weak mask leaves.
    for size in (1, 1000):
        other = torch.where(real[..., None], size * x, 1000 * x.flip(0) + 1)
        one, two = run(size * x, real)[real], run(other, real)[real]
        if reason := _differ(one[None], two[None]):
            what = f"what stands in the padding moves a row by {reason}"
            if size == 1:
                return fails(what)
            return fails(f"tokens times 1000: {what}; is the mask low enough?")
    rows[real].sum().backward()
    for name, parameter in module.named_parameters():
        if parameter.grad is not None and not parameter.grad.isfinite().all():
            return fails(f"with padding, {name} gets a gradient that is not finite")
    if subject.declared.positions is True:
        return passes(
            "what stands in the padding is inert; rows behind padding weren't compared "
            "with the text's own: positions may count from the first place"
        )
    return passes("padding behind, before and alone is inert")


def _differ(one: Tensor, other: Tensor, slack: float = 1) -> str:
    """By how much two results differ, where that matters."""
    change, small = largest_change(one, other, slack=slack)
    return "" if small else number(change)


@torch.no_grad()
def cache(subject: Subject) -> Result:
    """Prefill and steps give the rows of one pass, and two caches stay apart."""
    if (step := subject.declared.step) is None:
        return skip("pass step, a function (module, x, cache), to ask")
    if subject.T < 3:
        return skip("too few tokens to take steps")
    module, x, T = subject.copy(), subject.x(), subject.T
    slack = max(10, subject.slack())
    whole = context_of(module, x)

    def feed(x: Tensor, kept: Any) -> tuple[Tensor, Any]:
        context, kept = step(module, x.clone(), kept)
        return checked_context(context, x), kept

    def run(x: Tensor, plan: Sequence[int]) -> Tensor:
        rows, kept = [], None
        for piece in x.split(list(plan), dim=1):
            context, kept = feed(piece, kept)
            rows.append(context)
        return torch.cat(rows, dim=1)

    plans: dict[str, Sequence[int]] = {
        "all tokens at once": [T],
        "one token at a time": [1] * T,
        f"{T // 2} tokens, then one at a time": [T // 2, *[1] * (T - T // 2)],
        "pieces of two": [2] * (T // 2) + [1] * (T % 2),
        "one token, then the others at once": [1, T - 1],
        f"{T - 1} tokens, then one": [T - 1, 1],
    }
    for name, plan in plans.items():
        rows = run(x, plan)
        if reason := _differ(rows, whole, slack=slack):
            return fails(f"{name}: a row differs from one pass by {reason}")
    texts = (x, subject.x(seed=1))
    caches: list[Any] = [None, None]
    found: list[list[Tensor]] = [[], []]
    for t in range(T):
        for i, text in enumerate(texts):
            context, caches[i] = feed(text[:, t : t + 1], caches[i])
            found[i].append(context)
    for text, parts in zip(texts, found, strict=True):
        alone = context_of(module, text)
        if reason := _differ(torch.cat(parts, dim=1), alone, slack=slack):
            kept = "is the cache kept in the module?"
            return fails(f"two texts in turn: a row differs by {reason}; {kept}")
    learning = subject.copy().train()
    with contextlib.suppress(Exception):  # "dropout" says what fails in train mode
        step(learning, x.clone(), None)
    if not all(part.training for part in learning.modules()):
        return fails("a step in train mode leaves eval mode behind")
    return passes("prefill and steps give the rows of one pass")


def compiled(subject: Subject) -> Result:
    """Under ``torch.compile`` the layer computes the same.

    The graph is taken as for any backend, and run by PyTorch's own operations: what
    goes wrong while a graph is taken shows, and nothing has to be built in C++.
    """
    if not subject.declared.compiled:
        return skip("compiled=True asks for it")
    module, x = subject.copy(), subject.x()
    expected = context_of(module, x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compiler.reset()
        try:
            module.compile(backend="aot_eager")
            context = context_of(module, x)
        except Exception as error:
            return skip(f"torch.compile refuses it: {error_text(error)}")
        finally:
            torch.compiler.reset()
    if reason := _differ(context, expected, slack=10):
        return fails(f"compiled, a row differs by {reason}")
    return passes("compiled, it computes the same")


def wake_compiler() -> None:
    """Make PyTorch load its compiler, which takes seconds that aren't the layer's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compile(nn.Identity(), backend="aot_eager")(torch.ones(1))
        torch.compiler.reset()
