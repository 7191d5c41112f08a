"""A model's weights in 8 bits: a quarter of float32's size, small enough for a page.

Each row of a matrix becomes whole numbers from -127 to 127 and one scale, the number
that they are multiples of. A row is what makes one output of a linear layer, or one
character's embedding. So a row of large weights doesn't make those of another coarse,
and a linear layer can multiply by the scale once, behind its sum. Vectors (biases and
norms) are few, and stay float16.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from helpers import validation

LARGEST = 127  # the same on both sides of 0
SCALES = ".scales"
SMALLEST = torch.finfo(torch.float16).tiny  # a scale below it would lose digits


def to_eight_bits(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Round weights to 8 bits.

    A matrix's weight moves by half of its row's scale at most. The scale is 1/127 of
    the row's largest weight, give or take 1/2048 of that, as float16 rounds it. A
    vector's number moves by 1/2048 of itself at most, or by 3e-8 where that is more.

    Args:
        weights: a dict from names to floating-point tensors, (rows, columns) or (n,).

    Returns:
        stored: for each matrix an int8 tensor (rows, columns) under its name, and its
            scales, a float16 tensor (rows,), under that name and ".scales"; for each
            vector a float16 tensor.

    Raises:
        ValueError: what isn't a tensor, has another number of axes or empty rows, or
            doesn't hold finite floating-point numbers; a vector's number or a row's
            scale that float16 can't hold; a name that isn't text or ends in ".scales".
    """
    stored: dict[str, Tensor] = {}
    for name, tensor in weights.items():
        _require_weights(name, tensor)
        if tensor.dim() == 1:
            stored[name] = tensor.detach().half()
            _require_finite(f"{name} in float16", stored[name])
            continue
        largest = tensor.detach().abs().amax(dim=1)
        scales = (largest.float() / LARGEST).half()
        _require_scales(name, largest, scales)
        steps = scales.float().where(scales > 0, 1.0)[:, None]  # a row may hold zeros
        whole = (tensor.detach().float() / steps).round()
        stored[name] = whole.clamp(-LARGEST, LARGEST).to(torch.int8)
        stored[name + SCALES] = scales
    return stored


def from_eight_bits(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights that 8 bits stand for.

    Args:
        stored: what ``to_eight_bits`` returned.

    Returns:
        weights: a dict from names to float32 tensors, in the same order.

    Raises:
        ValueError: a matrix without its scales, scales without their matrix, or what
            has another shape or dtype or isn't finite.
    """
    weights = {}
    for name, tensor in stored.items():
        if name.endswith(SCALES):
            if name.removesuffix(SCALES) not in stored:
                raise ValueError(f"{name} must stand beside its matrix, got it alone")
            continue
        validation.require_tensor(name, tensor)
        if tensor.dim() != 2:
            _require_halves(name, tensor, "n")
            weights[name] = tensor.float()
            continue
        if tensor.dtype != torch.int8:
            raise ValueError(f"{name} must be torch.int8, got {tensor.dtype}")
        if name + SCALES not in stored:
            raise ValueError(f"stored must hold {name + SCALES}, got {name} alone")
        scales = stored[name + SCALES]
        _require_halves(name + SCALES, scales, len(tensor))
        weights[name] = tensor.float() * scales.float()[:, None]
    return weights


def _require_weights(name: str, tensor: Tensor) -> None:
    if not isinstance(name, str) or name.endswith(SCALES):
        raise ValueError(
            f"names must be texts without {SCALES} at the end, got {name!r}"
        )
    validation.require_tensor(name, tensor)
    if tensor.dim() not in (1, 2) or not tensor.is_floating_point():
        raise ValueError(
            f"{name} must be a floating-point matrix or vector, got {tensor.dtype} of "
            f"shape {validation.shape_of(tensor)}"
        )
    if tensor.dim() == 2 and tensor.shape[1] == 0:
        raise ValueError(
            f"{name} must have columns, got shape {validation.shape_of(tensor)}"
        )
    _require_finite(name, tensor)


def _require_scales(name: str, largest: Tensor, scales: Tensor) -> None:
    _require_finite(f"{name}'s scales in float16", scales)
    if not validation.holds(lambda: ((scales >= SMALLEST) | (largest == 0)).all()):
        raise ValueError(
            f"each row of {name} must hold zeros alone or a weight of at least "
            f"{LARGEST * SMALLEST:g}, got {largest[largest > 0].min():g} at most"
        )


def _require_halves(name: str, tensor: Tensor, n: int | str) -> None:
    validation.require_tensor(name, tensor)
    shape = validation.shape_of(tensor)
    if tensor.dtype != torch.float16 or len(shape) != 1 or n not in ("n", *shape):
        raise ValueError(
            f"{name} must be torch.float16 of shape ({n},), got {tensor.dtype} of "
            f"shape {shape}"
        )
    _require_finite(name, tensor)


def _require_finite(name: str, tensor: Tensor) -> None:
    if not validation.holds(lambda: tensor.isfinite().all()):
        raise ValueError(f"{name} must hold finite numbers")
