"""What every adapter of a public layer is made of."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

# Sizes that differ, so that a swapped axis shows; D = 6 is even, as rotations need it.
D_MODEL, NUM_HEADS, NUM_KV_HEADS, CONTEXT_LENGTH, WINDOW = 24, 4, 2, 10, 4
DROPOUT = 0.1


@dataclass(frozen=True)
class Layer:
    """A layer of a public package, and what its owner declares of it.

    Args:
        name: as the page has it.
        package: what pip installs.
        make: a function that makes the layer, wrapped to be called as ``layer(x)``.
        declared: keyword arguments for ``attention_audit.audit``.
    """

    name: str
    package: str
    make: Callable[[], nn.Module]
    declared: dict[str, Any] = field(default_factory=dict)

    def words(self) -> str:
        """What is declared, as it is written in a call; functions by their name."""
        return ", ".join(
            f"{name}={getattr(value, '__name__', repr(value))}"
            for name, value in self.declared.items()
        )


def padded(module: nn.Module, x: Tensor, real: Tensor) -> Any:
    """Call an adapter with a padding mask: real (B, T) is True at real tokens."""
    return module(x, real=real)


def causal_mask(T: int, *, device: torch.device) -> Tensor:
    """(T, T) boolean, True = may attend."""
    return torch.ones(T, T, dtype=torch.bool, device=device).tril()
