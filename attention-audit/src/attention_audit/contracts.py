"""Checks on what a layer promises beside one pass: padding, to be compiled.

A padding mask is given in a way that only the owner knows, so it is asked for where a
function for it was declared.
"""

import warnings

import torch
from torch import Tensor, nn

from attention_audit.calling import start_numbers
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

SEQUENCES = (
    "a sequence without padding",
    "right padding",
    "left padding",
    "a sequence of padding alone",
)


def padding(subject: Subject) -> Result:
    """Padding changes no position of a real token, and no position becomes NaN.

    Four sequences: one without padding, one with right padding, one with left padding,
    one of padding alone. Real tokens give what they give without padding.
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
    plain = [context_of(subject.copy(), one) for one in (x, x[2:3])]

    def run(x: Tensor, real: Tensor) -> Tensor:
        start_numbers(0)
        given = {"x": x.clone(), "mask": real.clone()}
        context = checked_context(padded(module, *given.values()), x)
        for (name, mine), before in zip(given.items(), (x, real), strict=True):
            if not torch.equal(mine, before):
                overwritten.append(name)
        return context

    with torch.no_grad():
        inference = run(x, real)
    whole = run(x, real)
    for i, name in enumerate(SEQUENCES):
        for found, how in ((whole, ""), (inference, ", without gradients")):
            if not found[i].isfinite().all():
                fine = real[i].any() and found[i][real[i]].isfinite().all()
                which = "positions of padding" if fine else "positions"
                return fails(f"{name}{how}: {which} are not finite")
    if overwritten:
        return fails(f"the caller's {overwritten[0]} is overwritten")
    if reason := _differ(inference[real][None], whole[real][None]):
        return fails(f"without gradients, a position differs by {reason}")
    if reason := _differ(run(x[:1], real[:1]), context_of(module, x[:1])):
        return fails(f"a mask that hides nothing moves a position by {reason}")
    if reason := _differ(whole[1:2, :short], context_of(module, x[1:2, :short])):
        return fails(f"right padding moves a position by {reason}")
    # Where positions count from the first place, left padding shifts them.
    if subject.declared.positions is not True:
        after = context_of(module, x[2:3, T - short :])
        if reason := _differ(whole[2:3, T - short :], after, slack=10):
            return fails(f"left padding moves a position by {reason}")
    turned = run(x.flip(0), real.flip(0)).flip(0)
    if reason := _differ(turned[real][None], whole[real][None]):
        return fails(f"after a call with another mask, a position differs by {reason}")
    # Large real tokens have scores far below those that a weak mask leaves.
    for size in (1, subject.loud):
        other = torch.where(real[..., None], size * x, subject.loud * x.flip(0) + 1)
        one, two = run(size * x, real)[real], run(other, real)[real]
        if reason := _differ(one[None], two[None]):
            what = f"the content of the padding moves a position by {reason}"
            if size == 1:
                return fails(what)
            return fails(f"tokens times {size}: {what}; is the mask low enough?")
    if not subject.forward_only:
        whole[real].sum().backward()
    for name, parameter in module.named_parameters():
        if parameter.grad is not None and not parameter.grad.isfinite().all():
            return fails(f"with padding, {name} gets a gradient that is not finite")
    if subject.declared.positions is not True:
        for i in (1, 2):  # now some places are padding in all sequences
            alone = run(x[i : i + 1], real[i : i + 1])[:, real[i]]
            if reason := _differ(alone, whole[i : i + 1, real[i]], slack=10):
                return fails(
                    f"{SEQUENCES[i]}: alone, the same sequence with the same padding "
                    f"differs by {reason} from what it gives beside a full one"
                )
    # In the second, some places are padding in all sequences.
    for rows, before in ((slice(None), plain[0]), (slice(2, 3), plain[1])):
        run(x[rows], real[rows])
        if reason := _differ(context_of(module, x[rows]), before):
            return fails(
                f"after a call with padding, one without it differs by {reason}: the "
                "mask, or positions counted by it, are kept"
            )
    if subject.declared.positions is True:
        return passes(
            "the content of the padding changes nothing; left padding wasn't compared "
            "with none: positions may count from the first place"
        )
    return passes("left and right padding change nothing")


def _differ(one: Tensor, other: Tensor, slack: float = 1) -> str:
    """By how much two results differ, where that matters."""
    change, small = largest_change(one, other, slack=slack)
    return "" if small else number(change)


def compiled(subject: Subject) -> Result:
    """Under ``torch.compile`` the layer computes the same.

    The graph is taken as for any backend, and run by PyTorch's own operations: what
    goes wrong while a graph is taken shows, and nothing has to be built in C++. Who
    asks for it wants to compile, so a refusal fails.
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
            return fails(f"torch.compile refuses it: {error_text(error)}")
        finally:
            torch.compiler.reset()
    if reason := _differ(context, expected, slack=10):
        return fails(f"compiled, a position differs by {reason}")
    return passes("compiled, it computes the same")


def wake_compiler() -> None:
    """Make PyTorch load its compiler, which takes seconds that aren't the layer's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compile(nn.Identity(), backend="aot_eager")(torch.ones(1))
        torch.compiler.reset()
