"""One copy is called in several ways, one after the other: nothing may be left."""

import contextlib
import copy
import inspect
from typing import Any

import torch
from torch import Tensor, nn

from attention_audit.calling import start_numbers
from attention_audit.further import LONG
from attention_audit.subject import (
    Subject,
    checked_context,
    context_of,
    error_text,
    largest_change,
    number,
    tensors_in,
)


def after_other_calls(subject: Subject) -> str:
    """What a call in eval mode gives after calls of every other kind."""
    x = subject.x()
    fresh = context_of(subject.copy(), x)
    for name, used in _used(subject, x):
        change, small = largest_change(
            context_of(used, x), fresh, slack=_slack(subject)
        )
        if not small:
            return f"after {name}, a call in eval mode differs by {number(change)}"
    return ""


def _used(subject: Subject, x: Tensor) -> list[tuple[str, nn.Module]]:
    """Copies that were called, each with what was done."""
    found = []
    for name, tokens in (
        ("a call with one sequence", x[:1]),
        ("a call with large tokens", subject.loud * x),
    ):
        module = subject.copy()
        context_of(module, tokens)
        found.append((name, module))
    if subject.T < LONG:
        module = subject.copy()
        with contextlib.suppress(Exception):  # it takes none that long
            context_of(module, subject.x(LONG))
            found.append((f"a call with {LONG} tokens", module))
    module = subject.copy()
    with torch.no_grad():
        context_of(module, x)
    found.append(("a call without gradients", module))
    # What a mode keeps for itself, as running means, is no matter: it is put back.
    module = subject.copy()
    kept = {name: one.clone() for name, one in module.state_dict().items()}
    context_of(module.train(), subject.x(seed=1))
    module.eval().load_state_dict(kept)
    found.append(("a call in train mode", module))
    return found


def _slack(subject: Subject) -> float:
    return max(10, subject.slack())


def earlier_result_kept(subject: Subject) -> str:
    """Whether a later call, or step, writes into what an earlier one gave."""
    step, modes = subject.declared.step, ((True, ""), (False, "without gradients, "))
    for gradients, how in modes:
        with torch.set_grad_enabled(gradients):
            module = subject.copy()
            first = context_of(module, subject.x())
            kept = first.detach().clone()
            context_of(module, subject.x(seed=1))
        if not _same(first, kept):
            return f"{how}a later call overwrites what an earlier one gave"
    if step is None:
        return ""
    for gradients, how in modes:
        with torch.set_grad_enabled(gradients):
            module, cache, x = subject.copy(), None, subject.x()
            given: list[tuple[Tensor, Tensor]] = []
            for token in x.split(1, dim=1):
                context, cache = step(module, token.clone(), cache)
                given.append((context, context.detach().clone()))
        if not all(_same(*one) for one in given):
            return f"{how}a later step overwrites what an earlier one gave"
    return ""


def _same(one: Tensor, other: Tensor) -> bool:
    return bool(((one == other) | (one.isnan() & other.isnan())).all())


def train_after_eval(subject: Subject) -> str:
    """Whether a call in eval mode changes what train mode does: dropout above all."""
    x, seeds = subject.x(), (0, 1)
    fresh = [context_of(subject.copy().train(), x, seed=seed) for seed in seeds]
    once_more = [context_of(subject.copy().train(), x, seed=seed) for seed in seeds]
    if not all(map(torch.equal, fresh, once_more)):
        return ""
    for seed, expected in zip(seeds, fresh, strict=True):
        module = subject.copy()
        context_of(module, x)
        after = context_of(module.train(), x, seed=seed)
        change, small = largest_change(after, expected, slack=_slack(subject))
        if not small:
            return (
                "after a call in eval mode, a call in train mode with the same random "
                f"numbers differs by {number(change)}"
            )
    return ""


def gradients_after_none(subject: Subject) -> str:
    """Whether a call without gradients takes them from the next."""
    if subject.forward_only:
        return ""
    found = []
    for used in (False, True):
        module, x = subject.copy(), subject.x().requires_grad_()
        if used:
            with torch.no_grad():
                context_of(module, x)
        try:
            context_of(module, x).sum().backward()
        except Exception as error:
            if used:
                said = error_text(error)
                return f"after a call without gradients, the next one: {said}"
            return ""
        parts = [x, *module.parameters()]
        found.append([one.grad for one in parts])
    for before, after in zip(*found, strict=True):
        if (before is None) != (after is None):
            return "after a call without gradients, the next one has fewer"
        if before is not None and after is not None:
            change, small = largest_change(before, after, slack=_slack(subject))
            if not small:
                return (
                    "after a call without gradients, those of the next one differ by "
                    f"{number(change)}"
                )
    return ""


def gradients_without_tokens(subject: Subject) -> str:
    """Whether parameters learn in train mode where tokens need no gradient.

    Tokens of a first layer need none. A reentrant checkpoint gives none behind them.
    """
    if subject.forward_only:
        return ""
    learned: list[set[str]] = []
    for needed in (True, False):
        module, x = subject.copy().train(), subject.x().requires_grad_(needed)
        start_numbers(0)
        context = checked_context(module(x), x)
        if not context.requires_grad:
            told = "in train mode, no parameter gets a gradient where x needs none"
            return told if any(learned) else ""
        try:
            context.sum().backward()
        except RuntimeError as error:
            return f"in train mode, backward stops: {error_text(error)}"
        named = module.named_parameters()
        learned.append({name for name, one in named if one.grad is not None})
    fewer = sorted(learned[0] - learned[1])
    if not fewer:
        return ""
    return f"in train mode, {fewer[0]} gets no gradient where x needs none"


def loaded_after_a_call(subject: Subject) -> str:
    """Whether a layer that was called takes over a state that it loads."""
    module, x = subject.copy(), subject.x()
    expected = context_of(module, x)
    for training in (False, True):
        other = subject.copy()
        with torch.no_grad():
            for parameter in other.parameters():
                parameter.add_(torch.randn_like(parameter))
        state = {name: one.clone() for name, one in module.state_dict().items()}
        context_of(other.train(training), x)
        other.eval().load_state_dict(state)
        change, small = largest_change(expected, context_of(other, x), slack=10)
        if not small:
            mode = "train" if training else "eval"
            return (
                f"loaded after a call in {mode} mode, it differs by {number(change)}: "
                "something of the old weights is kept"
            )
    return ""


def copied_after_a_call(subject: Subject) -> str:
    """Whether a layer that was called can be copied as before, as for an average."""
    module, x = subject.copy(), subject.x()
    try:
        copy.deepcopy(module)
    except Exception:
        return ""  # such as a lock, from the beginning
    context_of(module, x)
    try:
        copy.deepcopy(module)
    except Exception as error:
        said = _kept_with_its_graph(module) or error_text(error)
        return f"after a call, it can't be copied: {said}"
    return ""


def _kept_with_its_graph(module: nn.Module) -> str:
    """What is kept from a call together with all that it was computed from; or ""."""
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if any(not one.is_leaf for one in tensors_in(value)):
                where = f"{path}.{name}".lstrip(".")
                return (
                    f"{where} holds a tensor with its graph, which copy.deepcopy "
                    "refuses and which keeps memory; .detach() it"
                )
    return ""


def drawn_and_not_saved(subject: Subject) -> str:
    """Whether instances draw numbers that their state dict doesn't hold.

    Two new instances are made alike, and load the same state. How they are made is
    guessed, so that only what differs between the two counts.
    """
    module, x = subject.copy(), subject.x()
    hidden = _hidden_numbers(module)
    if not hidden:
        return ""
    found = []
    for seed in range(2):
        start_numbers(seed)
        twin = type(module)(**_arguments(subject.copy())).eval().to(x)
        twin.load_state_dict(module.state_dict())
        found.append((_hidden_numbers(twin), context_of(twin, x)))
    (one, mine), (other, theirs) = found
    drawn = [name for name in hidden if not torch.equal(one[name], other[name])]
    change, small = largest_change(mine, theirs)
    if not drawn or small:
        return ""
    return (
        f"{drawn[0]} isn't in the state dict, and each new instance draws another: "
        f"two that load one state differ by {number(change)}"
    )


def _hidden_numbers(module: nn.Module) -> dict[str, Tensor]:
    """The tensors of numbers that a module has and its state dict hasn't."""
    saved = module.state_dict()
    return {
        f"{path}.{name}".lstrip("."): one
        for path, part in module.named_modules()
        for name, one in {**vars(part), **part._buffers}.items()
        if isinstance(one, torch.Tensor)
        and one.is_floating_point()
        and f"{path}.{name}".lstrip(".") not in saved
    }


def _arguments(module: nn.Module) -> dict[str, Any]:
    """What a class may have been called with: attributes that have the names.

    Raises:
        AttributeError: one that is needed is no attribute.
    """
    return {
        name: getattr(module, name)
        for name, one in inspect.signature(type(module)).parameters.items()
        if one.default is one.empty or hasattr(module, name)
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    }


def moved_there_and_back(subject: Subject) -> str:
    """What ``.to()`` leaves behind: in another dtype, on the way back, at home."""
    x = subject.x()
    fresh = context_of(subject.copy(), x)
    for name, module in (
        ("moved to its own device", subject.copy().to(x.device)),
        ("in float64 and back", subject.copy().double().to(x.dtype)),
    ):
        change, small = largest_change(
            context_of(module, x), fresh, slack=_slack(subject)
        )
        if not small:
            return f"{name}, it differs from what was never moved by {number(change)}"
    for dtype in (torch.bfloat16, torch.float64):
        used, unused = subject.copy().to(dtype), subject.copy().to(dtype)
        try:
            context_of(used, x.to(dtype))
        except Exception:  # noqa: S112 - refused, which does no silent harm
            continue
        back = [context_of(one.to(x.dtype), x) for one in (used, unused)]
        change, small = largest_change(*back)
        if not small:
            return (
                f"after a call in {_short(dtype)}, one in {_short(x.dtype)} "
                f"differs by {number(change)}: a table of the first call is kept"
            )
    return ""


def parameters_cast(subject: Subject) -> str:
    """Whether a call changes the dtype of parameters, which rounds them for good."""
    x = subject.x()
    for own in (x.dtype, torch.bfloat16):
        for dtype in (x.dtype, torch.bfloat16, torch.float64):
            module = subject.copy().to(own)
            before = {name: one.dtype for name, one in module.named_parameters()}
            with contextlib.suppress(Exception):  # it takes no such tokens
                context_of(module, x.to(dtype))
            for name, one in module.named_parameters():
                if one.dtype != before.get(name, one.dtype):
                    was, now = _short(before[name]), _short(one.dtype)
                    return f"a call in {_short(dtype)} turns {name} from {was} to {now}"
    return ""


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
