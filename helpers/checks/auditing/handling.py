"""Lines of the audit on how a layer bears its uses: sizes, types, modes, devices."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

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
    tensors_in,
    unregistered,
)
from helpers.checks.comparing import sort_of

# Indexing a tensor on a GPU with numbers from the CPU is allowed; so is copying.
MAY_MIX = ("copy", "index", "to.", "set_")


def output_shape(subject: Subject) -> Result:
    """(B, T, d_in) becomes (B, T, d_out), all numbers finite."""
    if not isinstance(subject.module, nn.Module):
        raise Nonsense(f"{sort_of(subject.module)} is no nn.Module")
    x = subject.x()
    context = context_of(subject.copy(), x)
    if not context.isfinite().all():
        return fails(f"{_broken(context)} of {context.numel()} numbers are not finite")
    return passes(f"{tuple(x.shape)} becomes {tuple(context.shape)}")


def shorter_texts(subject: Subject) -> Result:
    """Texts of 2 to T - 1 tokens work and, where causal, give the whole one's rows."""
    if subject.T < 3:
        return skip("no length between 1 and T")
    return _prefixes(subject, subject.places(2, subject.T - 1))


def one_token(subject: Subject) -> Result:
    """A text of one token works too."""
    return _prefixes(subject, [1])


def _prefixes(subject: Subject, lengths: Sequence[int]) -> Result:
    module, x = subject.copy(), subject.x()
    whole = context_of(module, x)
    for T in lengths:
        try:
            context = context_of(module, x[:, :T])
        except Exception as error:
            return fails(f"T = {T}: {error_text(error)}")
        if not context.isfinite().all():
            return fails(f"T = {T}: not all numbers are finite")
        change, small = largest_change(context, whole[:, :T])
        if subject.causal and not small:
            return fails(f"T = {T}: differs from the whole text by {number(change)}")
    shown = ", ".join(map(str, lengths))
    same = "rows of the whole text" if subject.causal else "work"
    return passes(f"T = {shown}: {same}")


def dtypes(subject: Subject) -> Result:
    """float64 gives float64, and bfloat16 gives finite bfloat16."""
    for dtype in (torch.float64, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        try:
            context = context_of(subject.copy().to(dtype), subject.x().to(dtype))
        except Exception as error:
            return fails(f"{name}: {error_text(error)}")
        if context.dtype != dtype:
            came = str(context.dtype).removeprefix("torch.")
            return fails(f"{name} becomes {came}")
        if not context.isfinite().all():
            return fails(f"{name}: not all numbers are finite")
    return passes("float64 and bfloat16 stay what they are")


def large_inputs(subject: Subject) -> Result:
    """Inputs in the thousands, all of them or the last token's, stay finite."""
    module, x = subject.copy(), subject.x()
    last = x.clone()
    last[:, -1] *= 1000
    for name, large in {"all tokens": 1000 * x, "the last token": last}.items():
        context = context_of(module, large)
        if not context.isfinite().all():
            broken = f"{_broken(context)} of {context.numel()}"
            return fails(f"{name} times 1000: {broken} numbers are not finite")
    return passes("tokens times 1000: all numbers are finite")


def _broken(context: Tensor) -> int:
    return int((~context.isfinite()).sum())


def gradients(subject: Subject) -> Result:
    """Every parameter gets a gradient that is finite and not 0 throughout."""
    if subject.T < 2:
        return skip("one token: no score matters")
    module = subject.copy()
    named = [(n, p) for n, p in module.named_parameters() if p.requires_grad]
    if not named:
        return skip("no parameter to train")
    context = context_of(module, subject.x())
    generator = torch.Generator().manual_seed(1)
    direction = torch.randn(context.shape, generator=generator).to(context)
    (context * direction).sum().backward()
    for name, parameter in named:
        if parameter.grad is None:
            return fails(f"{name} gets no gradient")
        if not parameter.grad.isfinite().all():
            return fails(f"{name} gets a gradient that is not finite")
        # Softmax takes no notice of what all keys share, so a key's bias may rest.
        is_key_bias = name.endswith("bias") and "k" in name.rpartition(".")[0].lower()
        if not is_key_bias and not parameter.grad.any():
            return fails(f"{name} gets a gradient of 0")
    return passes(f"{len(named)} of {len(named)} parameters get one")


def input_unchanged(subject: Subject) -> Result:
    """The caller's tensor holds the same numbers afterwards."""
    module, x = subject.copy(), subject.x()
    before = x.clone()
    module(x)
    changed = int((x != before).sum())
    if changed:
        return fails(f"{changed} of {x.numel()} numbers of x were overwritten")
    return passes("x holds the same numbers afterwards")


def dropout_in_training(subject: Subject) -> Result:
    """Where the module has dropout, calls in train mode differ."""
    module = subject.copy().train()
    x = subject.x()
    first = context_of(module, x)
    differ = any(
        not torch.equal(first, context_of(module, x, seed=seed)) for seed in range(1, 9)
    )
    p = max(_dropouts(module), default=0.0)
    if p and not differ:
        return fails(f"dropout = {p:g}, but nothing is dropped in train mode")
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
    """In eval mode, calls give the same numbers."""
    module, x = subject.copy(), subject.x()
    first = context_of(module, x)
    for seed in range(1, 5):
        change, small = largest_change(first, context_of(module, x, seed=seed))
        if not small:
            return fails(f"two calls in eval mode differ by {number(change)}")
    return passes("calls in eval mode agree")


def mode_kept(subject: Subject) -> Result:
    """A call leaves each part in the mode, train or eval, that it had."""
    for training in (True, False):
        module = subject.copy().train(training)
        context_of(module, subject.x())
        if any(part.training != training for part in module.modules()):
            left, found = ("train", "eval") if training else ("eval", "train")
            return fails(f"a call in {left} mode leaves {found} mode behind")
    return passes("train stays train, eval stays eval")


def state_dict(subject: Subject) -> Result:
    """Another instance that loads the state dict does the same."""
    module, x = subject.copy(), subject.x()
    for name in unregistered(module):
        return fails(f"{name} is hidden from the state dict and from .to()")
    other = subject.copy() if subject.make is None else subject.make().eval().to(x)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(torch.randn_like(parameter))
    other.load_state_dict(module.state_dict())
    change, small = largest_change(context_of(module, x), context_of(other, x))
    if not small:
        return fails(f"loaded into a copy, it differs by {number(change)}")
    return passes("loaded into a copy, it gives the same")


class _Mixing(TorchDispatchMode):
    """Notes the first operation whose tensors lie on two devices."""

    first = ""

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        kinds = {t.device.type for t in tensors_in((args, kwargs)) if t.dim()}
        name = str(function).removeprefix("aten.")
        may_mix = any(word in name for word in MAY_MIX)
        if len(kinds) > 1 and not self.first and not may_mix:
            both = " and ".join(sorted(kinds))
            self.first = f"{name.partition('.')[0]} gets tensors on {both}"
        return function(*args, **kwargs)


def devices(subject: Subject) -> Result:
    """Moved to another device, no tensor stays behind: meta, and CUDA where there is.

    The meta device keeps shapes and no numbers. It needs no GPU and fails as one does.
    """
    kinds = ["meta", *(["cuda"] if torch.cuda.is_available() else [])]
    works = False
    for kind in kinds:
        mixing = _Mixing()
        try:
            module, x = subject.copy().to(kind), subject.x().to(kind)
            with mixing:
                context = context_of(module, x)
        except Exception as error:
            if mixing.first:
                return fails(f"moved to {kind}: {mixing.first}")
            if kind == "meta":  # a layer may look at numbers, which meta lacks
                continue
            return fails(f"moved to {kind}: {error_text(error)}")
        if mixing.first:
            return fails(f"moved to {kind}: {mixing.first}")
        if context.device.type != kind:
            return fails(f"moved to {kind}, the context is on {context.device.type}")
        works = True
    if not works:
        return skip("it looks at numbers, which meta lacks")
    return passes("nothing stays behind")


def error_text(error: BaseException) -> str:
    """An error's type and the first line of what it says, whatever that is."""
    try:
        first = str(error).strip().split("\n")[0][:120]
    except Exception:  # an error of the reader's own may fail at that, too
        first = ""
    if isinstance(error, Nonsense):
        return first
    return f"{type(error).__name__}: {first}".rstrip(": ")
