"""Rotary positions for texts longer than those that a model was trained on.

Each way gives the pairs of a head other speeds than those of training, in radians a
position. A model whose config names one can be fine-tuned with it, or read on as it is.

Shapes use the book's letters: D width of one head, or of the part of it that turns.
"""

import math

import torch
from torch import Tensor

from helpers import validation
from helpers.models.positions import BASE, rotary_frequencies

SCALINGS = ("none", "interpolation", "ntk", "yarn")
FAST, SLOW = 32.0, 1.0  # turns within the trained length


def interpolated(frequencies: Tensor, factor: float) -> Tensor:
    """Position interpolation: positions squeezed into the trained range.

    A position p turns a pair as p / factor did, so every pair is slower by the factor.

    Args:
        frequencies: (D / 2,) in radians a position, as trained.
        factor: how much longer the text is, at least 1.

    Returns:
        frequencies: (D / 2,)

    Raises:
        ValueError: a factor that isn't a finite number of at least 1.

    Source: Chen et al. 2023, section 2.3.
    """
    require_factor("factor", factor)
    return frequencies / factor


def ntk_base(head_dim: int, factor: float, *, base: float = BASE) -> float:
    """NTK-aware scaling: a larger base, with which the slowest pair is interpolated.

    base · factor^(D / (D - 2)): the first pair turns as before, the last one is slower
    by the factor, and those between by more and more.

    Args:
        head_dim: D, even and above 2.
        factor: how much longer the text is, at least 1.
        base: that of training.

    Returns:
        base: a float.

    Raises:
        ValueError: a width that isn't even and above 2, a factor below 1, or a base
            that isn't a finite number above 0.

    Source: Peng et al. 2023, section 3.1, equation 16, after bloc97 2023.
    """
    validation.require_integers(head_dim=head_dim)
    validation.require_even("head_dim", head_dim)
    if head_dim < 4:
        raise ValueError(f"head_dim must be above 2, got {head_dim}")
    require_factor("factor", factor)
    validation.require_number("base", base)
    return float(base * factor ** (head_dim / (head_dim - 2)))


def yarn_shares(
    head_dim: int,
    trained_length: int,
    *,
    base: float = BASE,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """How far YaRN interpolates each pair: 0 for not at all, 1 for all the way.

    Pairs that turned over 32 times within the trained length keep their speed; those
    that turned less than once are interpolated. Between them the share rises in equal
    steps from pair to pair.

    Args:
        head_dim: D, even.
        trained_length: positions in a text of training.
        base: that of training.
        device: where they are made.
        dtype: what they are computed in.

    Returns:
        shares: (D / 2,)

    Raises:
        ValueError: a width that isn't even, a length below 1, or a base that isn't a
            finite number above 1.

    Source: Peng et al. 2023, section 3.2. There, the share falls with the number of
    turns; the steps from pair to pair are those of the authors' code,
    ``scaled_rope/LlamaYaRNScaledRotaryEmbedding.py``, which others have taken over.
    """
    validation.require_integers(head_dim=head_dim, trained_length=trained_length)
    validation.require_even("head_dim", head_dim)
    validation.require_number("base", base)
    if base <= 1:
        raise ValueError(f"base must be above 1, got {base!r}")

    def pair_of(turns: float) -> float:  # pair i turns L · base^(-2i / D) / 2π times
        at_first = trained_length / (2 * math.pi)
        return head_dim * math.log(at_first / turns) / (2 * math.log(base))

    first = max(math.floor(pair_of(FAST)), 0)
    last = min(math.ceil(pair_of(SLOW)), head_dim - 1)
    steps = max(last - first, 0.001)
    pairs = torch.arange(head_dim // 2, device=device, dtype=dtype)
    return ((pairs - first) / steps).clamp(0, 1)


def yarn_temperature(factor: float) -> float:
    """What YaRN multiplies queries and keys by, so that attention stays as sharp.

    0.1 ln(factor) + 1; scores are multiplied by its square.

    Args:
        factor: how much longer the text is, at least 1.

    Returns:
        temperature: a float, at least 1.

    Raises:
        ValueError: a factor that isn't a finite number of at least 1.

    Source: Peng et al. 2023, section 3.4, equation 22.
    """
    require_factor("factor", factor)
    return 0.1 * math.log(factor) + 1


def extended_frequencies(
    head_dim: int,
    scaling: str,
    *,
    factor: float = 1.0,
    trained_length: int | None = None,
    base: float = BASE,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """How fast each pair turns in a longer text.

    Args:
        head_dim: D, even.
        scaling: "none", "interpolation", "ntk" or "yarn".
        factor: how much longer the text is, at least 1.
        trained_length: positions in a text of training, which YaRN asks for.
        base: that of training.
        device: where they are made.
        dtype: what they are computed in.

    Returns:
        frequencies: (D / 2,) in radians a position.

    Raises:
        ValueError: another scaling, YaRN without a trained length, or what the function
            of that scaling refuses.

    Source: that of each scaling. Built by hand on the page "Reading on".
    """
    if scaling not in SCALINGS:
        listed = ", ".join(map(repr, SCALINGS))
        raise ValueError(f"scaling must be one of {listed}, got {scaling!r}")
    require_factor("factor", factor)
    if scaling == "ntk":
        base = ntk_base(head_dim, factor, base=base)
    trained = rotary_frequencies(head_dim, base=base, device=device, dtype=dtype)
    if scaling == "interpolation":
        return interpolated(trained, factor)
    if scaling == "yarn":
        if trained_length is None:
            raise ValueError("trained_length must be given for YaRN, got None")
        shares = yarn_shares(
            head_dim, trained_length, base=base, device=device, dtype=dtype
        )
        return trained * (1 - shares) + interpolated(trained, factor) * shares
    return trained


def require_factor(name: str, factor: float) -> None:
    """How much longer a text is: a finite number of at least 1."""
    validation.require_number(name, factor)
    if factor < 1:
        raise ValueError(f"{name} must be at least 1, got {factor!r}")
