"""Checks that turn a bad option into a ValueError naming it."""

import numbers


def require_integers(**sizes: int) -> None:
    """Each is a whole number of at least 1."""
    for name, size in sizes.items():
        whole = isinstance(size, numbers.Integral) and not isinstance(size, bool)
        if not whole or size < 1:
            raise ValueError(f"{name} must be an integer of at least 1, got {size!r}")


def require_booleans(**options: bool) -> None:
    """Each is True or False: a number or a tensor in its place is a slip."""
    for name, option in options.items():
        if not isinstance(option, bool):
            raise ValueError(f"{name} must be True or False, got {option!r}")


def is_real(number: object) -> bool:
    """Whether it is a real number, NumPy's included; True and False are none."""
    return isinstance(number, numbers.Real) and not isinstance(number, bool)


def require_probability(name: str, p: float) -> None:
    """A probability of dropping: at least 0 and less than 1."""
    if not is_real(p) or not 0 <= p < 1:
        raise ValueError(f"{name} must be a probability in [0, 1), got {p!r}")
