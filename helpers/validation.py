"""Checks that turn bad input into a ValueError naming the argument.

``checked`` puts a check at the door of a function or a layer: it runs once, and what
lies behind the door looks at nothing again. ``unchecked`` is the function behind the
door, for those who have passed a door of their own. ``on_request`` says what leaves a
layer by its door.

Shapes, dtypes and options are always checked. Values are looked at only where that
costs no recompilation and no wrong answer: not on the ``meta`` device, not under
``torch.compile``, export or ``vmap``, and not with fake tensors.
"""

import functools
import inspect
import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor

from attention_audit.validation import is_real as is_real
from attention_audit.validation import require_booleans as require_booleans
from attention_audit.validation import require_integers as require_integers
from attention_audit.validation import require_probability as require_probability

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Weights = TypeVar("Weights")
Function = Callable[Arguments, Result]


def checked(
    check: Callable[..., None],
) -> Callable[[Function[Arguments, Result]], Function[Arguments, Result]]:
    """A decorator: ``check`` sees the arguments first, and raises on bad ones."""

    def put_behind_a_door(
        function: Function[Arguments, Result],
    ) -> Function[Arguments, Result]:
        @functools.wraps(function)
        def door(*args: Arguments.args, **options: Arguments.kwargs) -> Result:
            check(*args, **options)
            return function(*args, **options)

        return door

    return put_behind_a_door


def unchecked(function: Function[Arguments, Result]) -> Function[Arguments, Result]:
    """The function behind the door that ``checked`` has put before it."""
    behind: Function[Arguments, Result] = inspect.unwrap(function)
    return behind


def checked_options(init: Function[Arguments, None]) -> Function[Arguments, None]:
    """A decorator for the ``__init__`` of a layer: its options go by their names.

    "dropout" is a probability; "qkv_bias" and "fused" are switches; all others are
    sizes, whole numbers of at least 1.
    """
    signature = inspect.signature(init)

    def check(*args: object, **given: object) -> None:
        _, *options = signature.bind(*args, **given).arguments.items()
        for name, option in options:
            if name == "dropout":
                require_probability(name, option)
            elif name in ("qkv_bias", "fused"):
                require_booleans(**{name: option})
            else:
                require_integers(**{name: option})

    return checked(check)(init)


def on_request(
    output: Tensor, weights: Weights | None, asked: bool
) -> Tensor | tuple[Tensor, Weights]:
    """What a layer gives: its output, with its weights where they were asked for."""
    return (output, weights) if asked and weights is not None else output


def with_weights(result: Any) -> tuple[Tensor, Any]:
    """What ``on_request`` gave, as a pair; the weights are None where not asked for."""
    return result if isinstance(result, tuple) else (result, None)


def is_whole(number: object) -> bool:
    """Whether it is a whole number, NumPy's included; True and False are none."""
    return isinstance(number, numbers.Integral) and not isinstance(number, bool)


def require_counts(**counts: int) -> None:
    """Each is a whole number of at least 0."""
    for name, count in counts.items():
        if not is_whole(count) or count < 0:
            raise ValueError(f"{name} must be an integer of at least 0, got {count!r}")


def require_number(name: str, number: float, *, or_0: bool = False) -> None:
    """A finite number above 0; ``or_0``: or 0 itself."""
    fits = is_real(number) and math.isfinite(number)
    if not fits or number < 0 or (number == 0 and not or_0):
        least = "of at least 0" if or_0 else "above 0"
        raise ValueError(f"{name} must be a finite number {least}, got {number!r}")


def holds(condition: Callable[[], Tensor]) -> bool:
    """Whether a condition on values is true, as far as it can be known here.

    ``vmap``, tracing, fake tensors and those of the meta device refuse to be read, by a
    RuntimeError; then nothing is known against the condition.
    """
    if torch.compiler.is_compiling():
        return True
    truth = condition()
    try:
        return bool(truth.item())
    except RuntimeError:
        return True


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    """The shape as a plain tuple, which prints as ``(2, 3)``."""
    return tuple(tensor.shape)


def require_type(name: str, value: object, *kinds: type) -> None:
    """It is of one of these classes."""
    if not isinstance(value, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"{name} must be a {wanted}, got {type(value).__name__}")


def require_tensor(name: str, tensor: object) -> None:
    """It is a tensor, and not a list or an array that would have to be copied."""
    if not isinstance(tensor, torch.Tensor):
        raise ValueError(f"{name} must be a torch.Tensor, got {type(tensor).__name__}")


def require_float(**tensors: Tensor) -> None:
    """Each is a floating-point tensor; all share one dtype and one device."""
    for name, tensor in tensors.items():
        require_tensor(name, tensor)
        if not tensor.is_floating_point():
            raise ValueError(
                f"{name} must be floating point, got {tensor.dtype} with shape "
                f"{shape_of(tensor)}; convert it with {name}.float()"
            )
    if len(tensors) > 1:
        require_shared("dtype", **tensors)
        require_shared("device", **tensors)


def require_shared(kind: str, **tensors: Tensor) -> None:
    """All tensors have the first one's "dtype" or "device"."""
    (first, tensor), *others = tensors.items()
    expected = getattr(tensor, kind)
    for other, tensor in others:
        got = getattr(tensor, kind)
        if got != expected:
            raise ValueError(
                f"{first} and {other} must share one {kind}, got {expected} and {got}"
            )


def is_autocast(device: torch.device) -> bool:
    """Whether operations on the device choose their dtype by themselves."""
    # The meta device has no autocast, and PyTorch refuses the question.
    return device.type != "meta" and torch.is_autocast_enabled(device.type)


def require_rank(name: str, tensor: Tensor, letters: str) -> None:
    """The tensor has at least as many axes as ``letters`` names, such as "T, D"."""
    require_tensor(name, tensor)
    if tensor.dim() < len(letters.split(", ")):
        raise ValueError(
            f"{name} must have shape (..., {letters}), got {shape_of(tensor)}"
        )


def require_rows(name: str, tensor: Tensor, letter: str) -> None:
    """There is at least one position: softmax over nothing has no weights."""
    if tensor.shape[-2] == 0:
        raise ValueError(
            f"{name} must hold at least one position ({letter}), got shape "
            f"{shape_of(tensor)}"
        )


def require_width(name: str, tensor: Tensor, width: int, width_name: str) -> None:
    """The last axis holds ``width`` features."""
    if tensor.shape[-1] != width:
        raise ValueError(
            f"{name} must be {width} wide ({width_name}), got shape {shape_of(tensor)}"
        )


def require_same(axis: str, **sizes: tuple[object, tuple[int, ...]]) -> None:
    """Two tensors agree in one axis; each size comes with its tensor's shape."""
    (one, (size, shape)), (other, (other_size, other_shape)) = sizes.items()
    if size != other_size:
        raise ValueError(
            f"{one} and {other} must agree in {axis}: {one} has shape {shape}, "
            f"{other} has shape {other_shape}"
        )


def require_matching(queries: Tensor, keys: Tensor, *, grouped: bool = False) -> None:
    """Queries (..., T, D) and keys (..., S, D) with the same leading axes.

    Where ``grouped``, the last of these may be H and H_kv, a divisor of it.
    """
    require_float(queries=queries, keys=keys)
    for name, tensor, letter in (("queries", queries, "T"), ("keys", keys, "S")):
        require_rank(name, tensor, f"{letter}, D")
        require_rows(name, tensor, letter)
    q, k = shape_of(queries), shape_of(keys)
    require_same("the last axis (D)", queries=(q[-1], q), keys=(k[-1], k))
    if not grouped or len(q) == 2 or len(q) != len(k):
        require_same("the leading axes", queries=(q[:-2], q), keys=(k[:-2], k))
        return
    require_same("the axes before the heads", queries=(q[:-3], q), keys=(k[:-3], k))
    H, H_kv = q[-3], k[-3]
    if H_kv != H and (H_kv == 0 or H % H_kv):
        raise ValueError(
            f"the heads of keys must divide H = {H} of queries, got H_kv = {H_kv}: "
            f"queries has shape {q}, keys has shape {k}"
        )


def require_values(
    queries: Tensor, keys: Tensor, values: Tensor, *, grouped: bool = False
) -> None:
    """Queries and keys that match, and values (..., S, D_v), one for each key."""
    require_matching(queries, keys, grouped=grouped)
    require_float(queries=queries, values=values)
    require_rank("values", values, "S, D_v")
    k, v = shape_of(keys), shape_of(values)
    require_same("the number of rows (S)", keys=(k[-2], k), values=(v[-2], v))
    require_same("the leading axes", keys=(k[:-2], k), values=(v[:-2], v))


def require_integer_row(name: str, tensor: Tensor, letter: str) -> None:
    """One axis of whole numbers, of any integer dtype."""
    kind = tensor.dtype
    whole = not (kind.is_floating_point or kind.is_complex or kind == torch.bool)
    if tensor.dim() != 1 or not whole:
        raise ValueError(
            f"{name} must be whole numbers with shape ({letter},), got {kind} "
            f"with shape {shape_of(tensor)}"
        )


def require_heads(num_heads: int, width: int, width_name: str) -> None:
    """The width divides into heads of equal width."""
    require_integers(**{"num_heads": num_heads, width_name: width})
    if width % num_heads:
        raise ValueError(
            f"num_heads must divide {width_name}, got num_heads {num_heads} "
            f"and {width_name} {width}"
        )


def _require_broadcast(name: str, tensor: Tensor, shape: Sequence[int]) -> None:
    """What goes with scores of ``shape`` (..., T, S): see ``require_mask``."""
    got = shape_of(tensor)
    fits = (
        len(got) in (2, len(shape))
        and got[-1] == shape[-1]
        and got[-2] in (shape[-2], 1)
        and all(
            one in (full, 1) for one, full in zip(got[:-2], shape[:-2], strict=False)
        )
    )
    if not fits:
        raise ValueError(
            f"{name} must broadcast to the scores' shape (..., T, S) = {tuple(shape)}, "
            f"got {got}"
        )


def require_mask(mask: Tensor, shape: Sequence[int], device: torch.device) -> None:
    """Boolean, broadcastable to ``shape`` (..., T, S), and no row empty.

    The last axis must be S and the one before it T or 1. Leading axes are left out, or
    all there, each equal to that of the scores or 1: with some of them left out, a mask
    for each sequence could be taken for one for each head.
    """
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        got = mask.dtype if isinstance(mask, torch.Tensor) else type(mask).__name__
        raise ValueError(
            f"mask must be a boolean tensor (True = may attend), got {got}"
        )
    _require_broadcast("mask", mask, shape)
    if mask.device != device:
        raise ValueError(f"mask is on {mask.device}, the queries are on {device}")
    got = shape_of(mask)
    if not holds(lambda: mask.any(dim=-1).all()):
        row = (~mask.any(dim=-1)).nonzero()[0].tolist()
        raise ValueError(
            f"mask of shape {got} has a row that may attend to nothing, the first "
            f"at index {row}: its softmax would be 0/0"
        )


# --- at the doors of helpers.attention -------------------------------------------


def require_scores(scores: Tensor, dim: int = -1) -> None:
    """Scores with at least one entry along ``dim``."""
    require_float(scores=scores)
    if not is_whole(dim):
        raise ValueError(f"dim must be an integer, got {dim!r}")
    if not -scores.dim() <= dim < scores.dim() or scores.shape[dim] == 0:
        raise ValueError(
            f"scores must have an entry along dim {dim}, got shape {shape_of(scores)}"
        )


def require_causal_sizes(T: int, S: int | None = None, **_: object) -> None:
    """No fewer keys than queries."""
    S = T if S is None else S
    require_integers(T=T, S=S)
    if S < T:
        raise ValueError(f"S must be at least T, got T {T} and S {S}")


def require_window(window: int | None, sinks: int) -> None:
    """A window of at least 1 or none, and sinks beside it alone."""
    if window is not None:
        require_integers(window=window)
    require_counts(sinks=sinks)
    if sinks and window is None:
        raise ValueError(
            f"sinks are what a window leaves visible: got sinks {sinks} and no window"
        )


def require_window_sizes(
    T: int, window: int, S: int | None = None, *, sinks: int = 0, **_: object
) -> None:
    """No fewer keys than queries, and a window."""
    require_causal_sizes(T, S)
    require_integers(window=window)
    require_window(window, sinks)


def require_positions(
    query_positions: Tensor,
    key_positions: Tensor,
    *,
    window: int | None = None,
    sinks: int = 0,
) -> None:
    """Whole numbers (T,) and (S,) on one device, and a window or none."""
    both = {"query_positions": query_positions, "key_positions": key_positions}
    for (name, tensor), letter in zip(both.items(), "TS", strict=True):
        require_tensor(name, tensor)
        require_integer_row(name, tensor, letter)
    require_shared("device", **both)
    require_window(window, sinks)


def require_turns(heads: Tensor, cosines: Tensor, sines: Tensor, **_: object) -> None:
    """Heads (..., T, D) with an even D, and the cosine and sine of each pair."""
    require_float(heads=heads)
    require_rank("heads", heads, "T, D")
    T, D = heads.shape[-2:]
    require_even("the last axis (D) of heads", D)
    for name, tensor in (("cosines", cosines), ("sines", sines)):
        require_tensor(name, tensor)
        if shape_of(tensor) != (T, D // 2):
            raise ValueError(
                f"{name} must have shape (T, D / 2) = {(T, D // 2)}, got "
                f"{shape_of(tensor)}"
            )


def require_even(name: str, width: int) -> None:
    """A number of features that are taken in pairs."""
    if width % 2:
        raise ValueError(f"{name} must be even, got {width}")


def require_start(start: int, *, has_cache: bool) -> None:
    """The place of a first character; where there is a cache, it says that."""
    require_counts(start=start)
    if start and has_cache:
        raise ValueError(f"a cache says where ids start: got start {start} and a cache")


def require_lengths(lengths: Sequence[int] | Tensor, S: int, **_: object) -> None:
    """Whole numbers from 1 to S."""
    require_integers(S=S)
    if isinstance(lengths, (list, tuple)):
        require_integers(**{f"lengths[{i}]": one for i, one in enumerate(lengths)})
        if max(lengths, default=0) > S:
            raise ValueError(f"lengths must lie in 1 to S = {S}, got {list(lengths)}")
        return
    if not isinstance(lengths, torch.Tensor):
        raise ValueError(
            "lengths must be a list, a tuple or an integer tensor, got "
            f"{type(lengths).__name__}"
        )
    require_integer_row("lengths", lengths, "B")
    wide = lengths.long()  # S may be more than a byte can hold
    if not holds(lambda: ((wide >= 1) & (wide <= S)).all()):
        raise ValueError(f"lengths must lie in 1 to S = {S}, got {lengths.tolist()}")


def require_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    dropout_p: float = 0.0,
) -> None:
    """Queries, keys and values that match; a mask and a bias for their scores."""
    require_values(queries, keys, values)
    require_probability("dropout_p", dropout_p)
    shape = (*queries.shape[:-1], keys.shape[-2])
    if mask is not None:
        require_mask(mask, shape, queries.device)
    if bias is not None:
        require_tensor("bias", bias)
        _require_broadcast("bias", bias, shape)
        both = {"queries": queries, "bias": bias}
        require_shared("dtype", **both)
        require_shared("device", **both)


def require_walk(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    causal: bool = False,
    window: int | None = None,
    sinks: int = 0,
    **sizes: int,
) -> None:
    """Queries, keys and values that match, or in groups; a window only if causal."""
    require_values(queries, keys, values, grouped=True)
    require_booleans(causal=causal)
    require_integers(**sizes)
    require_window(window, sinks)
    if window is not None and not causal:
        raise ValueError(f"a window needs causal=True, got window {window} without it")
    if causal:
        require_causal_sizes(queries.shape[-2], keys.shape[-2])


def require_whole_heads(x: Tensor, num_heads: int) -> None:
    """Tokens (..., T, C) whose width divides into heads."""
    require_rank("x", x, "T, C")
    require_heads(num_heads, x.shape[-1], "C")


def require_many_heads(heads: Tensor) -> None:
    """Heads (..., H, T, D)."""
    require_rank("heads", heads, "H, T, D")


def require_tokens(name: str, tokens: Tensor, projection: Any, letters: str) -> None:
    """Tokens, such as "T, d_in", that a layer's projection takes."""
    # SelfAttentionV1 projects by a plain matrix (d_in, d_out), all others by nn.Linear.
    weight = getattr(projection, "weight", projection)
    width = getattr(projection, "in_features", weight.shape[0])
    if _is_plainly_right(tokens, weight, width):
        return
    letter, width_name = letters.split(", ")
    require_float(**{name: tokens})
    require_rank(name, tokens, letters)
    require_width(name, tokens, width, width_name)
    require_rows(name, tokens, letter)
    both = {name: tokens, "the module's weights": weight}
    require_shared("device", **both)
    # Autocast chooses a dtype by itself, but leaves float64 as it is.
    if tokens.dtype == torch.float64 or not is_autocast(tokens.device):
        require_shared("dtype", **both)


def _is_plainly_right(tokens: Any, weight: Tensor, width: int) -> bool:
    """Whether nothing can be wrong, asked in as few steps as that takes."""
    return (
        isinstance(tokens, torch.Tensor)
        and tokens.dtype == weight.dtype
        and tokens.device == weight.device
        and tokens.dim() >= 2
        and tokens.shape[-1] == width
        and tokens.shape[-2] > 0
    )


def require_self_attention(layer: Any, x: Tensor, *_: object, **__: object) -> None:
    """Tokens (..., T, d_in) for a layer."""
    require_tokens("x", x, layer.W_query, "T, d_in")


def require_causal_attention(layer: Any, x: Tensor, *_: object, **__: object) -> None:
    """Tokens (..., T, d_in) for a layer, no more than its ``context_length``."""
    require_tokens("x", x, layer.W_query, "T, d_in")
    T = x.shape[-2]
    excess = T - layer.context_length
    if excess > 0:
        raise ValueError(
            f"x has T = {T} tokens, {excess} more than context_length "
            f"{layer.context_length}; its shape is {shape_of(x)}"
        )


def require_cross_attention(
    layer: Any,
    x: Tensor,
    memory: Tensor,
    mask: Tensor | None = None,
    *_: object,
    **__: object,
) -> None:
    """Tokens of two sequences, and a mask (..., T, S) for all heads."""
    require_tokens("x", x, layer.W_query, "T, d_query")
    require_tokens("memory", memory, layer.W_key, "S, d_memory")
    x_shape, memory_shape = shape_of(x), shape_of(memory)
    require_same(
        "the leading axes",
        x=(x_shape[:-2], x_shape),
        memory=(memory_shape[:-2], memory_shape),
    )
    if mask is not None:
        require_mask(mask, (*x_shape[:-1], memory_shape[-2]), x.device)
