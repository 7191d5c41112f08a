"""The audit's options, read from its source.

To import the audit is to import torch, which takes seconds. Whoever asks for help, or
mistypes an option, needn't wait for that.
"""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from attention_audit import BOOK

PLAIN = {"bool": bool, "int": int, "float": float, "str": str}


@dataclass(frozen=True)
class Option:
    """One option of the audit.

    Args:
        name: as the audit has it, such as "num_heads".
        kinds: of value that it takes: bool, int, float, str or Callable, or a word such
            as "rotary". None is left out.
        required: whether it has no default.
        default: where that is a literal, and else None.
        told: what the docstring says of it.
    """

    name: str
    kinds: tuple[Any, ...]
    required: bool
    default: Any
    told: str


def source() -> str:
    """The module that has the function ``audit``, as text."""
    path = BOOK.parent / "checks" / "auditing" / "checklist.py"
    return path.read_text(encoding="utf-8")


def options_of(text: str) -> list[Option]:
    """The options of the function ``audit`` in a module's text, all but the layer."""
    (audit,) = (
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == "audit"
    )
    lines = ast.get_docstring(audit) or ""
    told = dict(re.findall(r"(?m)^    (\w+): (.*(?:\n {8}.*)*)", lines))
    given = audit.args
    _, *sizes = given.args
    found: list[tuple[ast.arg, ast.expr | None]] = [(one, None) for one in sizes]
    found += zip(given.kwonlyargs, given.kw_defaults, strict=True)
    return [
        Option(
            one.arg,
            tuple(_kinds(one.annotation)),
            default is None,
            default.value if isinstance(default, ast.Constant) else None,
            " ".join(told.get(one.arg, "").split()).replace("``", ""),
        )
        for one, default in found
    ]


def _kinds(hint: ast.expr | None) -> Iterator[Any]:
    """The types in a hint; for a Literal, its words, of which there are several."""
    if isinstance(hint, ast.BinOp):  # one | other
        yield from _kinds(hint.left)
        yield from _kinds(hint.right)
    elif isinstance(hint, ast.Name):
        yield PLAIN[hint.id]
    elif isinstance(hint, ast.Subscript) and isinstance(hint.value, ast.Name):
        if hint.value.id == "Literal":
            yield from ast.literal_eval(hint.slice)
        else:
            yield Callable


def spoken(reason: str, known: list[Option]) -> str:
    """A reason of the audit in which what to declare is an option of the command.

    "declare num_kv_heads=2" becomes "declare --num-kv-heads 2". Only the audit's own
    advice is turned, not what a layer's error says.
    """
    names = "|".join(one.name for one in known)
    reason = re.sub(
        rf"\b(declare |pass |^)({names})=(.*?)(?=;|$| to ask| asks for it)",
        lambda found: found[1] + _as_option(found[2], found[3]),
        reason,
    )
    reason = re.sub(
        rf"\b(pass )({names})(?=, a function)",
        lambda found: f"{found[1]}--{_dashed(found[2])}",
        reason,
    )
    reason = re.sub(r"\bseconds(?= grants more$)", "--seconds", reason)
    return re.sub(
        r"\bdo d_in = (\d+) and T = (\d+) fit\?$",
        r"do --d-in \1 and --context-length \2 fit?",
        reason,
    )


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
