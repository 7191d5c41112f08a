"""Checks that turn bad input into a ValueError naming the argument.

Shapes, dtypes and options are always checked. The values of a mask are looked at only
where that costs no recompilation and no wrong answer: not on the ``meta`` device, not
under ``torch.compile``, export or ``vmap``.
"""

import numbers
from collections.abc import Sequence

import torch
from torch import Tensor
from torch._subclasses import FakeTensor


def shape_of(tensor: Tensor) -> tuple[int, ...]:
    """The shape as a plain tuple, which prints as ``(2, 3)``."""
    return tuple(tensor.shape)


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


def require_matching(queries: Tensor, keys: Tensor) -> None:
    """Queries (..., T, D) and keys (..., S, D) with the same leading axes."""
    require_float(queries=queries, keys=keys)
    for name, tensor, letter in (("queries", queries, "T"), ("keys", keys, "S")):
        require_rank(name, tensor, f"{letter}, D")
        require_rows(name, tensor, letter)
    q, k = shape_of(queries), shape_of(keys)
    require_same("the last axis (D)", queries=(q[-1], q), keys=(k[-1], k))
    require_same("the leading axes", queries=(q[:-2], q), keys=(k[:-2], k))


def require_values(queries: Tensor, keys: Tensor, values: Tensor) -> None:
    """Queries and keys that match, and values (..., S, D_v), one for each key."""
    require_matching(queries, keys)
    require_float(queries=queries, values=values)
    require_rank("values", values, "S, D_v")
    k, v = shape_of(keys), shape_of(values)
    require_same("the number of rows (S)", keys=(k[-2], k), values=(v[-2], v))
    require_same("the leading axes", keys=(k[:-2], k), values=(v[:-2], v))


def require_integers(**sizes: int) -> None:
    """Each is a whole number of at least 1."""
    for name, size in sizes.items():
        whole = isinstance(size, numbers.Integral) and not isinstance(size, bool)
        if not whole or size < 1:
            raise ValueError(f"{name} must be an integer of at least 1, got {size!r}")


def require_integer_row(name: str, tensor: Tensor, letter: str) -> None:
    """One axis of whole numbers, of any integer dtype."""
    kind = tensor.dtype
    whole = not (kind.is_floating_point or kind.is_complex or kind == torch.bool)
    if tensor.dim() != 1 or not whole:
        raise ValueError(
            f"{name} must be whole numbers with shape ({letter},), got {kind} "
            f"with shape {shape_of(tensor)}"
        )


def require_booleans(**options: bool) -> None:
    """Each is True or False: a number or a tensor in its place is a slip."""
    for name, option in options.items():
        if not isinstance(option, bool):
            raise ValueError(f"{name} must be True or False, got {option!r}")


def require_probability(name: str, p: float) -> None:
    """A probability of dropping: at least 0 and less than 1."""
    number = isinstance(p, numbers.Real) and not isinstance(p, bool)
    if not number or not 0 <= p < 1:
        raise ValueError(f"{name} must be a probability in [0, 1), got {p!r}")


def require_heads(num_heads: int, width: int, width_name: str) -> None:
    """The width divides into heads of equal width."""
    require_integers(**{"num_heads": num_heads, width_name: width})
    if width % num_heads:
        raise ValueError(
            f"num_heads must divide {width_name}, got num_heads {num_heads} "
            f"and {width_name} {width}"
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
    got = shape_of(mask)
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
            f"mask must broadcast to the scores' shape (..., T, S) = {tuple(shape)}, "
            f"got {got}"
        )
    if mask.device != device:
        raise ValueError(f"mask is on {mask.device}, the queries are on {device}")
    if may_look_at_values(mask) and not mask.any(dim=-1).all():
        row = (~mask.any(dim=-1)).nonzero()[0].tolist()
        raise ValueError(
            f"mask of shape {got} has a row that may attend to nothing, the first "
            f"at index {row}: its softmax would be 0/0"
        )


def may_look_at_values(tensor: Tensor) -> bool:
    """Whether reading the tensor's values is possible here."""
    if torch.compiler.is_compiling():
        return False
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        if functorch.is_batchedtensor(tensor):
            return False
        tensor = functorch.get_unwrapped(tensor)
    return not (tensor.is_meta or isinstance(tensor, FakeTensor))
