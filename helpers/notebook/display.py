"""Tensors as text: rounded, aligned, labelled."""

import itertools
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def show(
    tensor: Tensor | Sequence[Any] | float,
    name: str = "",
    *,
    rows: Sequence[object] | None = None,
    columns: Sequence[object] | None = None,
    axes: Sequence[object] | None = None,
    decimals: int = 4,
) -> None:
    """Print a tensor rounded and aligned; arguments as for format_tensor."""
    print(
        format_tensor(
            tensor, name, rows=rows, columns=columns, axes=axes, decimals=decimals
        )
    )


def format_tensor(
    tensor: Tensor | Sequence[Any] | float,
    name: str = "",
    *,
    rows: Sequence[object] | None = None,
    columns: Sequence[object] | None = None,
    axes: Sequence[object] | None = None,
    decimals: int = 4,
) -> str:
    """Write a tensor as text: rounded, aligned, without ``grad_fn`` or ``-0.0000``.

    Args:
        tensor: a tensor of any shape, or what ``torch.as_tensor`` takes.
        name: printed above the numbers, with the shape.
        rows: a label for each index of the second last axis.
        columns: a label for each index of the last axis.
        axes: a name for each leading axis before the last two; a tensor of three or
            more axes is printed matrix by matrix under headings such as
            "batch 0, head 1".
        decimals: digits after the point.

    Returns:
        text: one string without a newline at its end.

    Raises:
        ValueError: labels or axes that don't count as many as the tensor has.
    """
    tensor = torch.as_tensor(tensor).detach().cpu()
    shape = tuple(tensor.shape)
    _check_labels("rows", rows, shape[-2] if len(shape) > 1 else None, shape)
    _check_labels("columns", columns, shape[-1] if shape else None, shape)
    leading = shape[:-2]
    if axes is not None and len(axes) != len(leading):
        raise ValueError(
            f"axes must name the {len(leading)} leading axes of shape {shape}, "
            f"got {list(axes)}"
        )
    axes = axes or [f"axis {axis}, index" for axis in range(len(leading))]
    parts = [f"{name} {shape}" if shape else name] if name else []
    for index in itertools.product(*map(range, leading)):
        if index:
            heading = zip(axes, index, strict=True)
            parts.append(", ".join(f"{axis} {i}" for axis, i in heading) + ":")
        parts.append(_format_matrix(tensor[index], rows, columns, decimals))
    return "\n".join(parts)


def _check_labels(
    argument: str,
    labels: Sequence[object] | None,
    size: int | None,
    shape: tuple[int, ...],
) -> None:
    if labels is not None and len(labels) != size:
        raise ValueError(
            f"{argument} must hold {size} labels for shape {shape}, got {len(labels)}"
        )


def _format_number(number: object, decimals: int) -> str:
    # "z" turns a rounded negative zero into zero.
    return f"{number:z.{decimals}f}" if isinstance(number, float) else str(number)


def _format_matrix(
    matrix: Tensor,
    rows: Sequence[object] | None,
    columns: Sequence[object] | None,
    decimals: int,
) -> str:
    """At most two axes as lines of aligned numbers, with labels where given."""
    lines = matrix.tolist()
    if matrix.dim() == 0:
        return _format_number(lines, decimals)
    lines = [lines] if matrix.dim() == 1 else lines
    cells = [[_format_number(number, decimals) for number in line] for line in lines]
    header = [[str(label) for label in columns]] if columns is not None else []
    # A column for the sign is always kept, so that a rounding error in one number
    # never moves the others.
    least = decimals + 3 if matrix.is_floating_point() else 0
    widths = [
        max(least, *map(len, column)) for column in zip(*header, *cells, strict=True)
    ]
    labels = [str(label) for label in rows] if rows is not None else [""] * len(cells)
    margin = max(map(len, labels), default=0)
    labels = [""] * len(header) + labels
    return "\n".join(
        (label.ljust(margin) + "  " if margin else "")
        + "  ".join(map(str.rjust, line, widths))
        for label, line in zip(labels, header + cells, strict=True)
    )
