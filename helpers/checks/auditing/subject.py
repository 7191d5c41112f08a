"""The module under audit: copies of it, inputs for it, and what came of a call."""

import copy
import inspect
import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from helpers.checks.comparing import sort_of

PASSES, FAILS, SKIPPED = "passes", "FAILS", "not applicable"
# Rounding in float32 stays below this share of the largest number.
TOLERANCE = 1e-5
MOST_PLACES = 8
Result = tuple[str, str]


def passes(reason: str) -> Result:
    """A line's result where all is well, with its reason."""
    return PASSES, reason


def fails(reason: str) -> Result:
    """A line's result where the module is wrong, with its reason."""
    return FAILS, reason


def skip(reason: str) -> Result:
    """A line's result where it asks nothing of this module, with its reason."""
    return SKIPPED, reason


class Nonsense(Exception):
    """A module returned what no attention layer returns."""


class Subject:
    """What the lines of an audit need to know; the reader's module stays as it was.

    Args:
        module: an ``nn.Module``.
        d_in: width of a token.
        context_length: T, the longest sequence it takes.
        causal: whether later tokens must be hidden.
        positions: whether it puts positions into queries and keys.
        num_heads: H, where the module doesn't say.
        make: a function without arguments that makes another such module, or None.
    """

    def __init__(
        self,
        module: nn.Module,
        d_in: int,
        context_length: int,
        *,
        causal: bool,
        positions: bool,
        num_heads: int | None,
        make: Callable[[], nn.Module] | None,
    ) -> None:
        self.module, self.d_in, self.T = module, d_in, context_length
        self.causal, self.positions = causal, positions
        self.num_heads, self.make = num_heads, make
        self.B = 2 if context_length != 2 else 3

    def copy(self) -> nn.Module:
        """A copy in eval mode and at least in float32, without anybody's hooks on it.

        What earlier calls left in attributes may carry a graph, which can't be copied.
        """
        left = {
            id(tensor): tensor.detach().clone()
            for part in self.module.modules()
            for tensor in tensors_in(vars(part))
            if not tensor.is_leaf
        }
        twin = copy.deepcopy(self.module, left)
        if any(p.dtype in (torch.float16, torch.bfloat16) for p in twin.parameters()):
            twin = twin.float()
        return twin.eval()

    def x(self, T: int | None = None, *, seed: int = 0) -> Tensor:
        """Random tokens (B, T, d_in), of the module's dtype and on its device."""
        generator = torch.Generator().manual_seed(seed)
        x = torch.randn(self.B, T or self.T, self.d_in, generator=generator)
        for parameter in self.module.parameters():
            wide = parameter.dtype == torch.float64
            return x.to(parameter.device, torch.float64 if wide else torch.float32)
        return x

    def places(self, first: int, last: int) -> list[int]:
        """Positions from first to last, all of them or some."""
        count = min(MOST_PLACES, last - first + 1)
        if count < 2:
            return list(range(first, last + 1))
        step = (last - first) / (count - 1)
        return sorted({round(first + i * step) for i in range(count)})


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

    The seed is set before, so that two calls drop alike. The module gets a copy of x:
    should it overwrite that, only one line of the audit has to say so.

    Raises:
        Nonsense: no tensor of numbers with these B and T.
    """
    torch.manual_seed(seed)
    result = module(x.clone())
    context = result[0] if isinstance(result, (tuple, list)) and result else result
    if not isinstance(context, torch.Tensor) or not context.is_floating_point():
        raise Nonsense(f"returns {sort_of(result)}, not a context")
    if context.dim() != 3 or context.shape[:2] != x.shape[:2] or not context.numel():
        raise Nonsense(
            f"{tuple(x.shape)} becomes {tuple(context.shape)}: (B, T, d_out) expected"
        )
    return context


def weights_of(module: nn.Module, x: Tensor) -> Tensor | None:
    """The weights (..., T, T) that a module returns, asked or unasked; or None.

    Raises:
        Nonsense: weights of another shape.
    """
    torch.manual_seed(0)
    result = module(x.clone())
    if not isinstance(result, (tuple, list)):
        if "return_weights" not in inspect.signature(module.forward).parameters:
            return None
        result = module(x.clone(), return_weights=True)
    weights = result[1] if isinstance(result, (tuple, list)) and len(result) > 1 else 0
    if not isinstance(weights, torch.Tensor):
        return None
    T = x.shape[1]
    if weights.dim() < 3 or weights.shape[-2:] != (T, T):
        raise Nonsense(f"weights of shape {tuple(weights.shape)}, not (..., {T}, {T})")
    return weights


def largest_change(one: Tensor, other: Tensor) -> tuple[float, bool]:
    """The largest difference of two tensors, and whether it matters.

    Returns:
        change: the difference itself; NaN where one of the two is.
        small: whether it is no more than rounding.
    """
    if not one.numel():
        return 0.0, True
    both = one.isnan() & other.isnan()
    one, other = one.masked_fill(both, 0.0), other.masked_fill(both, 0.0)
    change = (one - other).abs().max().item()
    size = max(one.abs().max().item(), other.abs().max().item())
    return change, change <= TOLERANCE * size


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
