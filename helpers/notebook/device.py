"""Where a notebook computes, and the seed of its random numbers."""

import numbers
import os
import random

import numpy as np
import torch


def choose_device(name: str | None = None, *, source: str = "name") -> torch.device:
    """Pick where to compute: what was asked for, else the fastest device here.

    Args:
        name: "cpu", "cuda", "cuda:1" or "mps". Where left out, the environment
            variable BOOK_DEVICE decides; where that is unset or empty, the first of
            cuda, mps and cpu that this machine has.
        source: what a message calls the name, such as a command's option.

    Returns:
        device: a ``torch.device``.

    Raises:
        ValueError: a device that PyTorch doesn't know, or that this machine lacks.
    """
    available = {"cuda": torch.cuda.is_available, "mps": torch.mps.is_available}
    asked = name or os.environ.get("BOOK_DEVICE")
    if not asked:
        found = (kind for kind, is_available in available.items() if is_available())
        return torch.device(next(found, "cpu"))
    source = source if name else "BOOK_DEVICE"
    try:
        device = torch.device(asked)
    except RuntimeError as error:
        raise ValueError(
            f"{source} must be a device such as cpu, cuda or mps, got {asked!r}"
        ) from error
    if device.type != "cpu" and not available.get(device.type, lambda: False)():
        raise ValueError(
            f"{source} asks for {asked!r}, which this machine doesn't have"
        )
    return device


def seed_everything(seed: int) -> None:
    """Start the random numbers of Python, NumPy and PyTorch from one seed.

    Args:
        seed: a whole number from 0 to 2**32 - 1.

    Raises:
        ValueError: a seed outside that range.
    """
    whole = isinstance(seed, numbers.Integral) and not isinstance(seed, bool)
    if not whole or not 0 <= seed < 2**32:
        raise ValueError(f"seed must be an integer in [0, 2**32), got {seed!r}")
    seed = int(seed)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
