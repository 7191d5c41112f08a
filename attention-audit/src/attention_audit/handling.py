"""Checks on how a layer bears its uses: sizes, types, modes, devices."""

import contextlib
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from attention_audit.frames import place
from attention_audit.inside import inside_of
from attention_audit.report import FAILS
from attention_audit.silent import silent_heads
from attention_audit.subject import (
    Nonsense,
    Result,
    Subject,
    context_of,
    error_text,
    fails,
    lacks_backward,
    largest_change,
    number,
    passes,
    skip,
    tensors_in,
    unregistered,
    weights_of,
)
from attention_audit.wording import sort_of

# Indexing a tensor on a GPU with numbers from the CPU is allowed; so is copying.
MAY_MIX = ("copy", "index", "to.", "set_")
# What half precision may lose, as a share of the largest number.
HALF = 0.1
FINE = 1e-4
MOST_INPUTS = 4


def output_shape(subject: Subject) -> Result:
    """(B, T, d_in) becomes (B, T, d_out), all numbers finite."""
    if not isinstance(subject.module, nn.Module):
        if isinstance(subject.module, type):
            raise Nonsense(f"{subject.module.__name__} is a class: pass an instance")
        raise Nonsense(f"{sort_of(subject.module)} is no nn.Module")
    context = _first_call(subject)
    if not context.isfinite().all():
        return fails(f"{_broken(context)} of {context.numel()} numbers are not finite")
    shapes = f"{tuple(subject.x().shape)} becomes {tuple(context.shape)}"
    if subject.forward_only:
        return passes(f"{shapes}, without gradients: {subject.forward_only}")
    if subject.half is None:
        return passes(shapes)
    return passes(f"{shapes}; it refuses float32, so all is in {_short(subject.half)}")


def _first_call(subject: Subject) -> Tensor:
    """The context; in 16 bits, for all checks, where the layer refuses float32."""
    try:
        return context_of(subject.copy(), subject.x())
    except Nonsense:
        raise
    except Exception as refused:
        if lacks_backward(refused):
            subject.forward_only = error_text(refused)
            return context_of(subject.copy(), subject.x())
        subject.half = subject.own_half()
        if subject.half is None:
            raise
        try:
            return context_of(subject.copy(), subject.x())
        except Exception:  # so it wasn't the dtype
            subject.half = None
            raise refused from None


def short_sequences(subject: Subject) -> Result:
    """2 to T - 1 tokens work and, where causal, give what the whole sequence gives."""
    if subject.T < 3:
        return skip("no length between 1 and T")
    found = _prefixes(subject, subject.places(2, subject.T - 1))
    if found[0] == FAILS:
        return found
    # A mask may have been kept from the first call, so far one with all tokens.
    x, used = subject.x(), subject.copy()
    context_of(used, x[:, :2])
    change, small = largest_change(context_of(used, x), context_of(subject.copy(), x))
    if not small:
        moved = f"T = {subject.T} moves by {number(change)}"
        return fails(f"after a call with T = 2, {moved}")
    return found


def one_token(subject: Subject) -> Result:
    """A sequence of one token works too."""
    return _prefixes(subject, [1])


def _prefixes(subject: Subject, lengths: Sequence[int]) -> Result:
    module, x = subject.copy(), subject.x()
    whole = context_of(module, x)
    for T in lengths:
        try:
            context = context_of(module, x[:, :T])
        except Exception as error:
            return fails(f"T = {T}: {error_text(error)}{place(error)}")
        if not context.isfinite().all():
            return fails(f"T = {T}: not all numbers are finite")
        change, small = largest_change(context, whole[:, :T], slack=subject.slack())
        if subject.causal and not small:
            return fails(
                f"T = {T}: differs from the whole sequence by {number(change)}"
            )
    shown = ", ".join(map(str, lengths))
    same = "as in the whole sequence" if subject.causal else "work"
    return passes(f"T = {shown}: {same}")


def empty_batch(subject: Subject) -> Result:
    """A batch of 0 gives 0 sequences of the usual shape, or an error.

    An error can do no silent harm, and most layers never meet such a batch.
    """
    module, x = subject.copy(), subject.x()
    expected = (0, *context_of(module, x).shape[1:])
    try:
        result = module(x[:0])
    except Exception as error:
        at = place(error, code=False)
        return skip(f"refuses a batch of 0: {type(error).__name__}{at}")
    shapes = [tuple(one.shape) for one in tensors_in(result)]
    if expected not in shapes:
        came = shapes[0] if shapes else "no tensor"
        return fails(f"a batch of 0 becomes {came}; {expected} expected")
    return passes(f"a batch of 0 becomes {expected}")


def dtypes(subject: Subject) -> Result:
    """What it computes in a dtype stays in that, and near: its own and three others.

    A dtype that it refuses with an error can do no silent harm.
    """
    x = subject.x()
    if (came := context_of(subject.copy(), x).dtype) != x.dtype:
        return fails(f"{_short(x.dtype)} becomes {_short(came)}")
    works, refused = [], []
    for dtype in (torch.float64, torch.bfloat16, torch.float16):
        name = _short(dtype)
        module, x = subject.copy().to(dtype), subject.x().to(dtype)
        try:
            context = context_of(module, x)
        except Nonsense:
            raise
        except Exception as error:
            refused.append(f"refuses {name}: {error_text(error)}")
            continue
        if context.dtype != dtype:
            return fails(f"{name} becomes {_short(context.dtype)}")
        if not context.isfinite().all():
            return fails(f"{name}: not all numbers are finite")
        usual = subject.x().dtype
        exact = context_of(_rounded(subject.copy(), dtype), x.to(usual))
        change = (context.to(usual) - exact).abs().max().item()
        allowed = HALF if dtype != torch.float64 else FINE * max(1, subject.slack())
        if change > allowed * exact.abs().max().item():
            return fails(f"{name} differs from {_short(usual)} by {number(change)}")
        works.append(name)
    if not works:
        return skip(refused[0])
    return passes("; ".join([f"keeps {', '.join(works)}", *refused[:1]]))


@torch.no_grad()
def _rounded(module: nn.Module, dtype: torch.dtype) -> nn.Module:
    """The module itself, never moved, with its numbers as a dtype has them."""
    for one in (*module.parameters(), *module.buffers()):
        if one.is_floating_point():
            one.copy_(one.to(dtype).to(one.dtype))
    return module


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def large_inputs(subject: Subject) -> Result:
    """Inputs in the thousands, all or the last token's: finite, and no future leaks."""
    if subject.half == torch.float16:
        return skip("float16 ends at 65,504")
    module, x = subject.copy(), subject.x()
    last = x.clone()
    last[:, -1] *= 1000
    for name, large in {"all tokens": 1000 * x, "the last token": last}.items():
        context = context_of(module, large)
        if not context.isfinite().all():
            broken = f"{_broken(context)} of {context.numel()}"
            return fails(f"{name} times 1000: {broken} numbers are not finite")
    if subject.causal and subject.T > 1:
        before = context_of(module, 1000 * x)
        for cut in subject.places(1, subject.T - 1):
            later = 1000 * subject.x(seed=1)[:, cut:]
            changed = torch.cat([1000 * x[:, :cut], later], dim=1)
            after = context_of(module, changed)
            change, small = largest_change(before[:, :cut], after[:, :cut])
            if not small:
                moved = f"tokens {cut} on move an earlier position by {number(change)}"
                hint = _mask_is_weak(subject, cut)
                return fails(f"all tokens times 1000: {moved}{hint}")
    leaks = ", and no later token shows" if subject.causal and subject.T > 1 else ""
    return passes(f"tokens times 1000: all numbers are finite{leaks}")


def _mask_is_weak(subject: Subject, cut: int) -> str:
    """What to ask where a mask holds at the usual size, and not at a thousand times."""
    module, x = subject.copy(), subject.x()
    other = torch.cat([x[:, :cut], subject.x(seed=1)[:, cut:]], dim=1)
    before, after = context_of(module, x), context_of(module, other)
    if not largest_change(before[:, :cut], after[:, :cut])[1]:
        return ""
    return "; is the mask a finite number, such as -10,000, or applied after softmax?"


def _broken(context: Tensor) -> int:
    return int((~context.isfinite()).sum())


def gradients(subject: Subject) -> Result:
    """Every parameter gets a finite gradient, and every feature that a product makes.

    A projection of which some features never learn feeds a head that is silent, or a
    slice that nothing reads. Behind a ReLU a feature may rest for some inputs, so
    several are tried, each ten times as large as the last.
    """
    if subject.T < 2:
        return skip("one token: no score matters")
    if subject.forward_only:
        return skip(f"no backward here: {subject.forward_only}")
    module = subject.copy()
    named = [(n, p) for n, p in module.named_parameters() if p.requires_grad]
    if not named:
        return skip("no parameter to train")
    learned = {name: torch.zeros_like(p, dtype=torch.bool) for name, p in named}
    for seed in range(MOST_INPUTS):
        module.zero_grad()
        context = context_of(module, 10**seed * subject.x(seed=seed))
        generator = torch.Generator().manual_seed(1)
        direction = torch.randn(context.shape, generator=generator).to(context)
        (context * direction).sum().backward()
        for name, parameter in named:
            if parameter.grad is None:
                return fails(f"{name} gets no gradient")
            if seed == 0 and not parameter.grad.isfinite().all():
                return fails(f"{name} gets a gradient that is not finite")
            learned[name] |= parameter.grad.nan_to_num() != 0
    inside = inside_of(subject) if subject.T > 2 else None
    if inside is not None and inside.trace.added_twice:
        return fails(f"{inside.trace.added_twice} is added twice to one result")
    if inside is not None:
        kv_heads = subject.declared.num_kv_heads or inside.H
        if reason := silent_heads(learned, inside, kv_heads):
            return fails(reason)
    for name, _ in named:
        # Softmax takes no notice of what all keys share, so a key's bias may rest.
        is_key_bias = name.endswith("bias") and "k" in name.rpartition(".")[0].lower()
        if not is_key_bias and not learned[name].any():
            return fails(f"{name} gets a gradient of 0")
        if inside is None or name not in inside.trace.used:
            continue
        if learned[name].dim() == 1:  # a bias, of keys in a third of it perhaps
            silent = int((~learned[name]).sum())
            if silent > 0.4 * len(learned[name]):
                return fails(f"{silent} of {len(learned[name])} of {name} never learn")
            continue
        features = learned[name].flatten(1)
        for axis in (0, 1):
            silent, count = int((~features.any(1 - axis)).sum()), features.shape[axis]
            if silent:
                return fails(f"{silent} of {count} features of {name} never learn")
    return passes(f"all {len(named)} parameters get a finite gradient")


def input_unchanged(subject: Subject) -> Result:
    """The caller's tensor holds the same numbers afterwards."""
    for gradients, training, how in (
        (True, False, ""),
        (False, False, ", without gradients"),
        (True, True, ", in train mode"),
    ):
        module, x = subject.copy().train(training), subject.x()
        before = x.clone()
        with torch.set_grad_enabled(gradients):
            module(x)
        changed = int((x != before).sum())
        if changed:
            return fails(f"{changed} of {x.numel()} numbers of x were overwritten{how}")
    return passes("x holds the same numbers afterwards")


def dropout_in_training(subject: Subject) -> Result:
    """Where the module has dropout, calls in train mode differ."""
    module = subject.copy().train()
    x = subject.x()
    first = context_of(module, x)
    differ = any(
        not torch.equal(first, context_of(module, x, seed=seed)) for seed in range(1, 9)
    )
    p = max([*_dropouts(module), subject.declared.dropout or 0.0])
    if p and not differ:
        return fails(f"dropout = {p:g}, but calls in train mode agree")
    if not differ:
        return skip("no dropout")
    return passes("calls in train mode differ")


def _dropouts(module: nn.Module) -> Iterator[float]:
    """The probabilities of dropping that a module's parts declare."""
    for part in module.modules():
        value = part.p if isinstance(part, nn.Dropout) else vars(part).get("dropout")
        if type(value) is float:
            yield value


def eval_repeats(subject: Subject) -> Result:
    """In eval mode, calls give the same numbers, with and without gradients.

    PyTorch's own layers take another path where no gradient is asked for.
    """
    module, x = subject.copy(), subject.x()
    first = context_of(module, x)
    for seed in range(1, 5):
        change, small = largest_change(first, context_of(module, x, seed=seed))
        if not small:
            return fails(f"two calls in eval mode differ by {number(change)}")
    with torch.no_grad():
        change, small = largest_change(first, context_of(module, x))
    if not small:
        return fails(f"without gradients, a call differs by {number(change)}")
    return passes("calls in eval mode agree")


def mode_kept(subject: Subject) -> Result:
    """A call leaves each part in the mode, train or eval, that it had."""
    for training in (True, False):
        module = subject.copy().train(training)
        context_of(module, subject.x())
        weights_of(module, subject.x())
        with contextlib.suppress(Exception):  # "one token" says that it takes none
            context_of(module, subject.x()[:, :1])
        if any(part.training != training for part in module.modules()):
            left, found = ("train", "eval") if training else ("eval", "train")
            return fails(f"a call in {left} mode leaves {found} mode behind")
    return passes("train stays train, eval stays eval")


def state_dict(subject: Subject) -> Result:
    """Another instance that loads the state dict does the same."""
    module, x = subject.copy(), subject.x()
    for name in unregistered(module):
        return fails(f"{name} is hidden from the state dict and from .to()")
    for name, parameter in module.named_parameters():
        if parameter.requires_grad and not (parameter.abs() < 1e3).all():
            return fails(f"{name} holds a mask's numbers, and is trained")
    other = (
        subject.copy()
        if subject.declared.make is None
        else subject.declared.make().eval().to(x)
    )
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(torch.randn_like(parameter))
    before = context_of(module, x)
    try:
        other.load_state_dict(module.state_dict())
    except Exception as error:
        said = textwrap.shorten(str(error), 160, placeholder=" …")
        return fails(f"after a call, its state isn't that of a new instance: {said}")
    change, small = largest_change(before, context_of(other, x))
    if not small:
        return fails(f"loaded into a copy, it differs by {number(change)}")
    return passes("loaded into a copy, it gives the same")


class _Mixing(TorchDispatchMode):
    """Notes the first operation whose tensors lie on two devices, or leave theirs."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.first = kind, ""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        kinds = {t.device.type for t in tensors_in((args, kwargs)) if t.dim()}
        name = str(function).removeprefix("aten.")
        if name.startswith("_to_copy") and kinds == {self.kind} and not self.first:
            to = torch.device(kwargs.get("device") or self.kind).type
            if to != self.kind and args[0].is_floating_point():
                self.first = f"a tensor is sent to {to}"
        may_mix = any(word in name for word in MAY_MIX)
        if len(kinds) > 1 and not self.first and not may_mix:
            both = " and ".join(sorted(kinds))
            self.first = f"{name.partition('.')[0]} gets tensors on {both}"
        return function(*args, **kwargs)


def _left_at_home(subject: Subject, kind: str) -> str:
    """What a call on its own device leaves there, when the layer is moved; or ""."""
    mixing, module = _Mixing(kind), subject.copy()
    context_of(module, subject.x())
    try:
        module, x = module.to(kind), subject.x().to(kind)
        with mixing:
            context_of(module, x)
    except Exception as error:
        return mixing.first or f"{error_text(error)}{place(error)}"
    return mixing.first


def devices(subject: Subject) -> Result:
    """Moved to another device, no tensor stays behind: meta, and CUDA where there is.

    The meta device keeps shapes and no numbers. It needs no GPU and fails as one does.
    """
    kinds = ["meta", *(["cuda"] if torch.cuda.is_available() else [])]
    works = False
    for kind in kinds:
        mixing = _Mixing(kind)
        try:
            module, x = subject.copy().to(kind), subject.x().to(kind)
            with mixing:
                context = context_of(module, x)
        except Exception as error:
            if mixing.first:
                return fails(f"moved to {kind}: {mixing.first}")
            if kind == "meta":  # a layer may look at numbers, which meta lacks
                continue
            return fails(f"moved to {kind}: {error_text(error)}{place(error)}")
        if mixing.first:
            return fails(f"moved to {kind}: {mixing.first}")
        if context.device.type != kind:
            return fails(f"moved to {kind}, the context is on {context.device.type}")
        works = True
        if reason := _left_at_home(subject, kind):
            return fails(f"called, then moved to {kind}: {reason}")
    if not works:
        return skip("forward reads numbers, which the device meta doesn't have")
    return passes("nothing stays behind")
