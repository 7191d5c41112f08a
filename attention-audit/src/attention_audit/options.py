"""The audit's options, read from its signature and its docstring."""

import inspect
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin


@dataclass(frozen=True)
class Option:
    """One option of the audit.

    Args:
        name: as the audit has it, such as "num_heads".
        kinds: of value that it takes: bool, int, float, str, Callable or Collection (of
            words), or a word such as "rotary". None is left out.
        required: whether it has no default.
        default: its default, or None.
        told: what the docstring says of it.
    """

    name: str
    kinds: tuple[Any, ...]
    required: bool
    default: Any
    told: str


def options_of(audit: Callable[..., Any]) -> list[Option]:
    """The options of the function ``audit``, or one like it: all but the layer."""
    told = dict(
        re.findall(r"(?m)^    (\w+): (.*(?:\n {8}.*)*)", inspect.getdoc(audit) or "")
    )
    _, *parameters = inspect.signature(audit).parameters.values()
    return [
        Option(
            one.name,
            tuple(_kinds(one.annotation)),
            one.default is one.empty,
            None if one.default is one.empty else one.default,
            " ".join(told.get(one.name, "").split()).replace("``", ""),
        )
        for one in parameters
    ]


def _kinds(hint: Any) -> Iterator[Any]:
    """The types in a hint; for a Literal, its words, of which there are several."""
    kind = get_origin(hint)
    if kind in (Union, UnionType):
        for one in get_args(hint):
            yield from _kinds(one)
    elif kind is Literal:
        yield from get_args(hint)
    elif kind in (Callable, Collection, tuple):
        yield kind
    elif hint is not NoneType:
        yield hint


def spoken(reason: str, known: list[Option]) -> str:
    """A reason of the audit in which what to declare is an option of the command.

    "declare num_kv_heads=2" becomes "declare --num-kv-heads 2". Only the audit's own
    advice is turned, not what a layer's error says.
    """
    names = "|".join(one.name for one in known)
    before, behind = "declare |pass |not applicable: |^", ";|$| to ask| asks for it"
    reason = re.sub(
        rf"\b({before})({names})=(.*?)(?={behind})",
        lambda found: found[1] + _as_option(found[2], found[3]),
        reason,
    )
    reason = re.sub(
        rf"\b(pass )({names})(?=, a function)",
        lambda found: f"{found[1]}--{_dashed(found[2])}",
        reason,
    )
    return re.sub(r"\bseconds(?= grants more$)", "--seconds", reason)


def _as_option(name: str, value: str) -> str:
    """An argument of the audit as it is written in a terminal."""
    if value == "False":
        return f"--no-{_dashed(name)}"
    if value == "True":
        return f"--{_dashed(name)}"
    unquoted = value.replace('"', "").replace("'", "")
    return f"--{_dashed(name)} {unquoted}"


def _dashed(name: str) -> str:
    return name.replace("_", "-")
