"""What looks like a mistake and is none: checks of other modules, asked once more."""

import copy
import dataclasses
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attention_audit import contracts, further, handling
from attention_audit.inside import Inside, inside_of, look_inside
from attention_audit.report import FAILS, PASSES
from attention_audit.subject import (
    TOLERANCE,
    Result,
    Subject,
    checked_context,
    context_of,
    fails,
    passes,
)

ALONE = "a sequence of padding alone"
EPSILON = torch.finfo(torch.float32).eps
EPSILON_PLACE = 3  # among the arguments of rms_norm
MATTERS = 1e-2  # a share of the largest gradient


# --- padding --------------------------------------------------------------------------


def padding(subject: Subject) -> Result:
    """The check of padding; a sequence without a real token may be NaN by itself.

    Whoever has none such needs no care for it, and some fast paths take none. But where
    the NaN reaches a gradient, one such sequence spoils the training of all others.
    """
    found, padded = contracts.padding(subject), subject.declared.padding
    if padded is None or found[0] != FAILS or not found[1].startswith(ALONE):
        return found

    def without_them(module: nn.Module, x: Tensor, real: Tensor) -> Tensor:
        some = real.any(dim=1)
        context = checked_context(padded(module, x, real), x)
        return torch.where(some[:, None, None], context, torch.zeros_like(context))

    twin = copy.copy(subject)
    twin.declared = dataclasses.replace(subject.declared, padding=without_them)
    result, reason = contracts.padding(twin)
    if result != PASSES:
        return found
    return passes(f"{reason}; {ALONE} is NaN, and no gradient by it")


# --- dtypes ---------------------------------------------------------------------------


class _OneEpsilon(TorchFunctionMode):
    """Under it, an RMS norm without an epsilon adds that of float32 in float64, too."""

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if getattr(function, "__name__", "") == "rms_norm":
            x = args[0] if args else kwargs["input"]
            given = args[EPSILON_PLACE] if len(args) > EPSILON_PLACE else None
            if kwargs.get("eps", given) is None and x.dtype == torch.float64:
                args, kwargs["eps"] = args[:EPSILON_PLACE], EPSILON
        return function(*args, **kwargs)


def dtypes(subject: Subject) -> Result:
    """The check of dtypes; PyTorch's RMS norm adds another number in each of them.

    Unless it is told one, that is the dtype's own epsilon, which shows in small tokens.
    """
    found = handling.dtypes(subject)
    if found[0] != FAILS or "float64 differs" not in found[1]:
        return found
    with _OneEpsilon():
        return handling.dtypes(subject)


# --- gates ----------------------------------------------------------------------------


def one_token_alone(subject: Subject) -> str:
    """Whether queries and keys matter to a token alone; a gate beside them may.

    One projection may make queries and what the context is multiplied by. So what
    matters must also move queries or keys.
    """
    reason, inside = further.one_token_alone(subject), inside_of(subject)
    if not reason or inside is None:
        return reason
    return reason if _asks(subject, inside, reason.partition(" moves ")[0]) else ""


def _asks(subject: Subject, inside: Inside, name: str) -> bool:
    """Whether what of a parameter matters to a token alone moves queries or keys."""
    module, x = subject.copy(), subject.x()[:, :1]
    context = context_of(module, x)
    generator = torch.Generator().manual_seed(1)
    direction = torch.randn(context.shape, generator=generator).to(context)
    (context * direction).sum().backward()
    parameter = dict(module.named_parameters())[name]
    if parameter.grad is None:
        return True
    sizes = parameter.grad.abs()
    twin = copy.copy(subject)
    twin.module, twin.looked = module, []
    with torch.no_grad():
        parameter.add_((sizes > MATTERS * sizes.max()) * parameter.abs().max())
    after = look_inside(twin, x=inside.x.to(x))
    if after is None or after.queries.shape != inside.queries.shape:
        return True
    pairs = (inside.queries, after.queries), (inside.keys, after.keys)
    return any(
        bool((now - before).abs().max() > TOLERANCE * before.abs().max())
        for before, now in pairs
    )


# --- tables ---------------------------------------------------------------------------


def gradients(subject: Subject) -> Result:
    """The check of gradients; no row of a table must learn that no token reaches.

    A table of distances is longer than the sequence: with fewer tokens, fewer rows of
    it learn. There must be as many as there are distances between tokens.
    """
    found, inside = handling.gradients(subject), inside_of(subject)
    if found[0] != FAILS or "never learn" not in found[1] or inside is None:
        return found
    rows, fewer = _rows_that_learn(subject, subject.T), _rows_that_learn(subject, 2)
    tables = {name for name in rows if fewer.get(name, 0) < rows[name]}
    inside.trace.used -= tables
    wanted = min(subject.T, subject.window or subject.T)
    for name in sorted(tables):
        if rows[name] < wanted:
            return fails(
                f"{rows[name]} rows of {name} learn from {subject.T} tokens, which are "
                f"at {wanted} distances"
            )
    return handling.gradients(subject)


def _rows_that_learn(subject: Subject, T: int) -> dict[str, int]:
    """How many rows of each matrix get a gradient, or columns, if all rows do."""
    module, x = subject.copy(), subject.x(T)
    context = context_of(module, x)
    generator = torch.Generator().manual_seed(1)
    direction = torch.randn(context.shape, generator=generator).to(context)
    (context * direction).sum().backward()
    found = {}
    for name, parameter in module.named_parameters():
        if parameter.grad is not None and parameter.dim() > 1:
            learned = parameter.grad.flatten(1) != 0
            by_row = learned.any(0) if learned.any(1).all() else learned.any(1)
            found[name] = int(by_row.sum())
    return found
