"""Weights rounded to few bits: even steps between the extremes of each group.

What a group keeps beside its weights' bits, its smallest weight and its step, are two
numbers of 16 bits, as in the format Q4_1 of GGUF. What is returned are the weights that
the bits stand for.
"""

import torch
from torch import Tensor

from helpers import validation

MOST_BITS = 8


def rounded(weight: Tensor, bits: int, size: int | None = None) -> Tensor:
    """Round each weight to the nearest of ``2**bits`` numbers that its group has.

    Args:
        weight: any shape, in float32; finite.
        bits: of a weight, from 1 to 8.
        size: how many weights, one after the other in memory's order, are a group;
            where left out, all are one.

    Returns:
        weights: of the same shape. A group whose weights are all alike stays so, but
            for the 16 bits of its smallest.

    Raises:
        ValueError: a weight of another dtype, or that isn't finite in 16 bits; bits
            out of range; a size that doesn't divide the number of weights.

    Source: llama.cpp, ggml-common.h, ``block_q4_1``.
    """
    validation.require_float(weight=weight)
    if weight.dtype != torch.float32 or not weight.numel():
        raise ValueError(
            f"weight must hold float32 numbers, got {weight.dtype} of shape "
            f"{validation.shape_of(weight)}"
        )
    if bits not in range(1, MOST_BITS + 1):
        raise ValueError(f"bits must be from 1 to {MOST_BITS}, got {bits!r}")
    size = weight.numel() if size is None else size
    validation.require_counts(size=size)
    if not size or weight.numel() % size:
        raise ValueError(
            f"size must divide the {weight.numel()} weights into groups, got {size}"
        )
    groups = weight.reshape(-1, size)
    smallest, largest = groups.aminmax(dim=1, keepdim=True)
    most = 2**bits - 1
    smallest, step = (
        number.half().float() for number in (smallest, (largest - smallest) / most)
    )
    if not validation.holds(lambda: (smallest + most * step).isfinite().all()):
        raise ValueError("weight must hold numbers that are finite in float16")
    counts = (groups - smallest) / step.where(step > 0, 1.0)
    counts = counts.round().clamp(0, most)
    return (smallest + step * counts).reshape(weight.shape)
