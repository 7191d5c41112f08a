"""What kind of thing a value is, in words."""

from typing import Any

import torch
from torch import Tensor


def sort_of(value: Any) -> str:
    """What kind of thing a value is, such as "an integer tensor (2, 3)"."""
    if value is None:
        return "None"
    if isinstance(value, Tensor):
        if value.layout != torch.strided:
            return "a sparse tensor"
        article = "an" if numbers_of(value) == "integer" else "a"
        return f"{article} {numbers_of(value)} tensor {tuple(value.shape)}"
    names = {
        "ndarray": "a NumPy array",
        "int": "a whole number",
        "float": "a float",
        "bool": "True or False",
        "str": "a text",
        "list": "a list",
        "tuple": "a tuple",
        "dict": "a dict",
        "function": "a function",
        "generator": "a generator, which a `yield` makes,",
    }
    kind = type(value).__name__
    return names.get(kind, f"an object of type {kind}")


def numbers_of(tensor: Tensor) -> str:
    """Whether a tensor holds truth values, whole, complex or other numbers."""
    if tensor.dtype == torch.bool:
        return "boolean"
    if tensor.is_complex():
        return "complex"
    return "floating-point" if tensor.is_floating_point() else "integer"
