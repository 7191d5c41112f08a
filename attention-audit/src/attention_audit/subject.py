"""The module under audit: copies of it, inputs for it, and what came of a call."""

import copy
import inspect
import math
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from attention_audit.calling import start_numbers
from attention_audit.report import FAILS, PASSES, SKIPPED
from attention_audit.undropped import quiet
from attention_audit.wording import sort_of

# Rounding in float32 stays below this share of the largest number.
TOLERANCE = 1e-5
HALVES = (torch.float16, torch.bfloat16)
HALF_STEPS = 4  # how many roundings of 16 bits may add up
FINE_STEP = 3e-4  # less than 16 bits show, and more than float32 rounds
CURVED = 0.1  # how far such a step may bend, as a share
MOST_PLACES = 8
DEPTH = 4  # how deep in an attribute something is looked for that can't be copied
# What names weights rather than a context, in a dict of results.
WEIGHTS = ("weight", "attn", "attention", "prob", "score")
Result = tuple[str, str]


def passes(reason: str) -> Result:
    """A check's result where all is well, with its reason."""
    return PASSES, reason


def fails(reason: str) -> Result:
    """A check's result where the module is wrong, with its reason."""
    return FAILS, reason


def skip(reason: str) -> Result:
    """A check's result where it asks nothing of this module, with its reason."""
    return SKIPPED, reason


class Nonsense(Exception):
    """A module returned what no attention layer returns."""


@dataclass(frozen=True)
class Declared:
    """What the owner says of a layer: the options of ``audit``, which explains them."""

    causal: bool = True
    window: int | tuple[int | None, ...] | None = None
    positions: bool | str = False
    softmax: bool = True
    num_heads: int | None = None
    num_kv_heads: int | None = None
    scale: float | None = None
    dropout: float | None = None
    padding: Callable[..., Any] | None = None
    step: Callable[..., Any] | None = None
    compiled: bool = False
    make: Callable[[], nn.Module] | None = None
    documents: Callable[..., Any] | None = None


class Subject:
    """What the checks of an audit need to know; the owner's module stays as it was.

    Args:
        module: an ``nn.Module``.
        d_in: width of a token.
        context_length: T, the longest sequence it takes.
        declared: what its owner says of it.
    """

    def __init__(
        self, module: nn.Module, d_in: int, context_length: int, declared: Declared
    ) -> None:
        self.module, self.d_in, self.T = module, d_in, context_length
        self.declared, self.causal = declared, declared.causal
        self.B = 2 if context_length != 2 else 3
        self.half: torch.dtype | None = None  # its own, where it refuses float32
        self.forward_only = ""  # why it has no backward here
        self.in_training = False  # whether copies are in train mode, dropout off
        self.differs: str | None = None  # how these differ, once it was asked
        self.looked: list[Any] = []  # what was found inside, once it was looked for
        self._rounding: float | None = None
        self._shared: dict[int, Any] | None = None  # what can't be copied, by id

    @property
    def window(self) -> int | None:
        """The widest window of any head; None where a head has none."""
        windows = self.declared.window
        if not isinstance(windows, tuple):
            return windows
        known = [W for W in windows if W is not None]
        return max(known) if len(known) == len(windows) else None

    def may_see(self, T: int, heads: int | None = None) -> Tensor:
        """Which tokens each position may attend to, (T, T), True where it may.

        With a number of heads, which each head may, (heads, T, T).
        """
        windows = self.declared.window
        if heads is None:
            return self._seen(T, self.window)
        if not isinstance(windows, tuple) or len(windows) != heads:
            return self._seen(T, self.window).expand(heads, T, T)
        return torch.stack([self._seen(T, W) for W in windows])

    def _seen(self, T: int, W: int | None) -> Tensor:
        mask = torch.ones(T, T, dtype=torch.bool)
        if self.causal:
            mask = mask.tril()
        if W is not None:  # without causal, it reaches ahead, too
            mask = mask.triu(1 - W).tril(W - 1)
        return mask

    def copy(self) -> nn.Module:
        """A copy in eval mode and in float32 at least, unless the layer refuses that.

        What earlier calls left in attributes may carry a graph, which can't be copied.
        Where a parameter is 0 throughout, as a gate or LoRA's B at the beginning, the
        copy has small random numbers: what is multiplied by 0 can't be seen.
        """
        left = {
            id(tensor): tensor.detach().clone()
            for part in self.module.modules()
            for tensor in tensors_in(vars(part))
            if not tensor.is_leaf
        }
        if self._shared is None:
            self._shared = _uncopyable(self.module, left)
        twin = copy.deepcopy(self.module, left | self._shared)
        if self.forward_only:
            twin.requires_grad_(False)
        if self.half is None and any(p.dtype in HALVES for p in twin.parameters()):
            twin = twin.float()
        generator = torch.Generator().manual_seed(2)
        with torch.no_grad():
            for parameter in twin.parameters():
                if parameter.requires_grad and not parameter.any():
                    noise = torch.randn(parameter.shape, generator=generator)
                    parameter.copy_(0.1 * noise)
        return quiet(twin.train()) if self.in_training else twin.eval()

    def trained(self) -> "Subject":
        """The same module, whose copies are in train mode and drop nothing."""
        twin = copy.copy(self)
        twin.in_training, twin.looked, twin._rounding = True, [], None
        return twin

    def x(self, T: int | None = None, *, seed: int = 0) -> Tensor:
        """Random tokens (B, T, d_in), of the copies' dtype and on their device."""
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(self.B, T or self.T, self.d_in, generator=generator)
        for parameter in self.module.parameters():
            wide = parameter.dtype == torch.float64
            usual = torch.float64 if wide else torch.float32
            return x.to(parameter.device, self.half or usual)
        return x

    def own_half(self) -> torch.dtype | None:
        """The layer's dtype of 16 bits, where it has parameters in one."""
        dtypes = (parameter.dtype for parameter in self.module.parameters())
        return next((dtype for dtype in dtypes if dtype in HALVES), None)

    @property
    def loud(self) -> int:
        """How many times larger than usual large tokens are; float16 ends at 65,504."""
        return 10 if self.half == torch.float16 else 1000

    def slack(self) -> float:
        """How much more than usual a position may change with B or T.

        A product of other sizes may add in another order. In float32 that is usual; a
        layer that computes in 16 bits inside, whatever its input, rounds coarser.
        """
        if self._rounding is None:
            seen = Precision()
            module, x = self.copy(), self.x()
            with seen:
                context_of(module, x)
            some = seen.coarsest if self.half or is_rough(module, x) else 0.0
            self._rounding = max(TOLERANCE, some)
        return self._rounding / TOLERANCE

    def places(self, first: int, last: int) -> list[int]:
        """Positions from first to last, all of them or some."""
        count = min(MOST_PLACES, last - first + 1)
        if count < 2:
            return list(range(first, last + 1))
        step = (last - first) / (count - 1)
        return sorted({round(first + i * step) for i in range(count)})


class Precision(TorchFunctionMode):
    """Notes the coarsest rounding, as a share, of all that is computed under it."""

    coarsest = 0.0

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        result = function(*args, **kwargs or {})
        for one in tensors_in(result):
            if one.is_floating_point():
                self.coarsest = max(self.coarsest, torch.finfo(one.dtype).eps)
        return result


@torch.no_grad()
def is_rough(module: nn.Module, x: Tensor) -> bool:
    """Whether a context jumps, or rests, where tokens move by less than 16 bits show.

    Without roundings of 16 bits on the way, two small steps go twice as far as one.
    """
    generator = torch.Generator().manual_seed(6)
    along = FINE_STEP * torch.randn(x.shape, generator=generator).to(x)
    none, one, two = (context_of(module, x + steps * along) for steps in range(3))
    return not bool((two - 2 * one + none).norm() <= CURVED * (two - none).norm())


def _uncopyable(module: nn.Module, memo: dict[int, Any]) -> dict[int, Any]:
    """What of a module's own can't be copied, such as a lock: all copies share it."""
    try:
        copy.deepcopy(module, dict(memo))
    except Exception:
        shared: dict[int, Any] = {}
        for part in module.modules():
            for name, value in vars(part).items():
                if name not in ("_parameters", "_buffers", "_modules"):
                    _share(value, shared, memo, DEPTH)
        return shared
    return {}


def _share(value: Any, shared: dict[int, Any], memo: dict[int, Any], deep: int) -> None:
    """Note the innermost parts of a value that can't be copied."""
    try:
        copy.deepcopy(value, memo | shared)
    except Exception:
        parts: list[Any] = []
        if isinstance(value, dict):
            parts = list(value.values())
        elif isinstance(value, (list, tuple, set)):
            parts = list(value)
        elif hasattr(value, "__dict__"):
            parts = list(vars(value).values())
        if deep and parts:
            for part in parts:
                _share(part, shared, memo, deep - 1)
            try:
                copy.deepcopy(value, memo | shared)
            except Exception:
                shared[id(value)] = value
        else:
            shared[id(value)] = value


def tensors_in(value: object) -> Iterator[Tensor]:
    """The tensors in a value, and in lists, tuples and dicts in it."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from tensors_in(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from tensors_in(one)


def context_of(module: nn.Module, x: Tensor, *, seed: int = 0) -> Tensor:
    """What a module makes of x (B, T, d_in): the context (B, T, d_out).

    Of several results it is the first; of a dict, the first that fits.

    The seed is set before, so that two calls drop alike. The module gets a copy of x:
    should it overwrite that, only one check has to say so.

    Raises:
        Nonsense: no tensor of numbers with these B and T.
    """
    start_numbers(seed)
    return checked_context(module(x.clone()), x)


def checked_context(result: Any, x: Tensor) -> Tensor:
    """The context in what a module made of x.

    Raises:
        Nonsense: no tensor of numbers with the same B and T.
    """
    context = first_of(result)
    if isinstance(result, dict):
        fitting = (
            one
            for name, one in result.items()
            if not any(word in str(name).lower() for word in WEIGHTS)
            and isinstance(one, torch.Tensor)
            and one.shape[:-1] == x.shape[:-1]
        )
        context = next(fitting, result)
    if not isinstance(context, torch.Tensor) or not context.is_floating_point():
        raise Nonsense(f"returns {sort_of(result)}, not a context")
    if context.dim() != 3 or context.shape[:2] != x.shape[:2] or not context.numel():
        raise Nonsense(
            f"{tuple(x.shape)} becomes {tuple(context.shape)}: (B, T, d_out) expected"
        )
    return context


def first_of(result: Any) -> Any:
    """The first of several results, or the only one."""
    return result[0] if isinstance(result, (tuple, list)) and result else result


def weights_of(module: nn.Module, x: Tensor) -> Tensor | None:
    """The weights (..., T, T) that a module returns, asked or unasked; or None.

    What comes second unasked may be something else, such as keys and values.

    Raises:
        Nonsense: weights of another shape.
    """
    start_numbers(0)
    result, asked = module(x.clone()), False
    if not isinstance(result, (tuple, list, dict)):
        if "return_weights" not in inspect.signature(module.forward).parameters:
            return None
        result, asked = module(x.clone(), return_weights=True), True
    weights = result[1] if isinstance(result, (tuple, list)) and len(result) > 1 else 0
    if isinstance(result, dict):
        named = (
            one
            for name, one in result.items()
            if any(word in str(name).lower() for word in WEIGHTS)
        )
        weights, asked = next(named, 0), True
    if not isinstance(weights, torch.Tensor):
        return None
    T = x.shape[1]
    if not asked and not _grows_twice(module, x, weights.shape):
        return None
    if weights.dim() < 3 or weights.shape[-2:] != (T, T):
        raise Nonsense(f"weights of shape {tuple(weights.shape)}, not (..., {T}, {T})")
    return weights


def _grows_twice(module: nn.Module, x: Tensor, shape: torch.Size) -> bool:
    """Whether two sizes of what came second are T, for one token fewer, too.

    A state (B, H, D, D) has two such sizes where a head is as wide as there are tokens.
    """
    T = x.shape[1]
    if [*shape].count(T) < 2:
        return False
    if T == 1:
        return True
    try:
        start_numbers(0)
        fewer = module(x[:, 1:].clone())[1].shape
    except Exception:  # it takes no other length
        return True
    if len(fewer) != len(shape):
        return False
    return sum(a - b == 1 for a, b in zip(shape, fewer, strict=True)) > 1


def largest_change(
    one: Tensor, other: Tensor, *, slack: float = 1
) -> tuple[float, bool]:
    """The largest difference of two tensors, and whether it matters.

    Args:
        one, other: of one shape.
        slack: how many times more rounding than usual is granted.

    Returns:
        change: the difference itself; NaN where one of the two is.
        small: whether it is no more than rounding.
    """
    if not one.numel():
        return 0.0, True
    changes, allowed = _changes(one, other, slack)
    change = changes.max().item()
    return change, change <= allowed


def first_change(one: Tensor, other: Tensor, *, slack: float = 1) -> int | None:
    """The first position at which two results (B, T, d) differ by more than rounding.

    Args:
        one, other, slack: as for ``largest_change``.

    Returns:
        t: None where they differ nowhere.
    """
    changes, allowed = _changes(one, other, slack)
    wrong = ~(changes <= allowed)  # so that NaN is wrong
    at = wrong.flatten(2).any(-1).any(0).nonzero().flatten().tolist()
    return at[0] if at else None


def _changes(one: Tensor, other: Tensor, slack: float) -> tuple[Tensor, float]:
    """The differences of two tensors, where not both are NaN, and what is rounding."""
    both = one.isnan() & other.isnan()
    one, other = one.masked_fill(both, 0.0), other.masked_fill(both, 0.0)
    size = max(one.abs().max().item(), other.abs().max().item())
    # In 16 bits, a few roundings of the dtype itself.
    half = HALF_STEPS * torch.finfo(one.dtype).eps if one.dtype in HALVES else 0.0
    return (one - other).abs(), max(slack * TOLERANCE, half) * size


def number(value: float) -> str:
    """A number in four decimals, or in powers of ten where these would all be 0."""
    if math.isnan(value):
        return "NaN"
    return f"{value:.4f}" if value == 0 or value >= 5e-4 else f"{value:.0e}"


def unregistered(module: nn.Module) -> Iterator[str]:
    """Names of what a module would learn but not save: parameters out of its sight."""
    for path, part in module.named_modules():
        for name, value in vars(part).items():
            if name.startswith("_"):
                continue
            several = value if isinstance(value, (list, tuple)) else [value]
            several = list(value.values()) if isinstance(value, dict) else several
            if any(
                isinstance(one, nn.Module)
                or (isinstance(one, torch.Tensor) and one.requires_grad and one.is_leaf)
                for one in several
            ):
                yield f"{path}.{name}".lstrip(".")


def lacks_backward(error: BaseException) -> bool:
    """Whether an error says that an operation has no backward on this device."""
    said = str(error).lower()
    return isinstance(error, NotImplementedError) and (
        "backward" in said and ("cpu" in said or "device" in said)
    )


def error_text(error: BaseException) -> str:
    """An error's type and the first line of what it says, whatever that is."""
    try:
        first = textwrap.shorten(
            str(error).strip().split("\n")[0], 160, placeholder=" …"
        )
    except Exception:  # an error of the owner's own may fail at that, too
        first = ""
    if isinstance(error, Nonsense):
        return first
    return f"{type(error).__name__}: {first}".rstrip(": ")
