"""Bugs in attention that were reported in public, each rebuilt, with what catches it.

A bug is a class with ``@bug`` above it, in the module of its kind. It inherits from
``layer.Attention`` and overrides what was wrong; the same settings without the override
are its fix. A layer of another make names its fix and its options.
"""

import contextlib
import importlib
import io
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import nn

import attention_audit
from public_bugs.layer import SETTINGS, Attention, padded, step

KINDS = [
    "masks",
    "padding",
    "caches",
    "positions",
    "scores",
    "dropout",
    "heads",
    "projections",
    "dtypes",
    "gradients",
    "modes",
]
LENGTH = 10  # tokens of an audit
_LOG: list["Bug"] = []


class Bug(NamedTuple):
    """A public report, a layer rebuilt with its bug, and one without.

    Args:
        repository: "owner/name".
        number: of the issue or pull request.
        year: in which it was reported.
        kind: the module that holds the layer.
        line: the check of the audit that names the bug; None where no check fails.
        missed: why none fails, where none does.
        layer: makes the layer with the bug; its docstring says what is wrong.
        fixed: makes the same without.
        options: what an owner would declare of both.
    """

    repository: str
    number: int
    year: int
    kind: str
    line: str | None
    missed: str
    layer: type[nn.Module]
    fixed: Callable[[], nn.Module]
    options: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"

    @property
    def says(self) -> str:
        """What is wrong, in a sentence or two."""
        return " ".join((self.layer.__doc__ or "").split())

    def failed(self, make: Callable[[], nn.Module]) -> list[str]:
        """The checks that fail on what ``make`` makes, told the bug's options."""
        torch.manual_seed(0)
        layer = make()
        d_in = getattr(layer, "d_in", Attention.d_in)
        with contextlib.redirect_stdout(io.StringIO()):
            found = attention_audit.audit(layer, d_in, LENGTH, **self.options)
        return [*found.failed, *found.unrun]


def bug(
    report: str,
    year: int,
    line: str | None,
    *,
    missed: str = "",
    fixed: Callable[[], nn.Module] | None = None,
    options: dict[str, Any] | None = None,
    **more: Any,
) -> Callable[[type[nn.Module]], type[nn.Module]]:
    """Enter the class below into the log.

    Args:
        report: "owner/name#number" of the issue or pull request, which was opened.
        year: in which it was reported.
        line: the check that names the bug, or None where no check fails.
        missed: why none fails; only where ``line`` is None.
        fixed: makes the layer without the bug; unless given, ``Attention`` with the
            settings of the class.
        options: all that the audit is told; unless given, what the settings say, with
            a padding mask and, in a causal layer, a cache.
        **more: single options beside those of the settings; None leaves one out.

    Raises:
        ValueError: if ``line`` and ``missed`` are both given, or neither.
    """
    if (line is None) != bool(missed):
        raise ValueError(f"{report}: either a line catches it or missed says why not")
    repository, _, number = report.partition("#")

    def enter(layer: type[nn.Module]) -> type[nn.Module]:
        told = declared(layer) | more if options is None else options
        _LOG.append(
            Bug(
                repository,
                int(number),
                year,
                layer.__module__.rpartition(".")[2],
                line,
                missed,
                layer,
                fixed or mended(layer),
                {name: value for name, value in told.items() if value is not None},
            )
        )
        return layer

    return enter


def mended(layer: type[nn.Module]) -> type[nn.Module]:
    """``Attention`` with the settings of a class that inherits from it."""
    settings = {name: getattr(layer, name) for name in SETTINGS}
    return type(f"Mended{layer.__name__}", (Attention,), settings)


def declared(layer: type[nn.Module]) -> dict[str, Any]:
    """What an owner declares of an ``Attention`` with such settings."""
    settings = {name: getattr(layer, name) for name in SETTINGS}
    kinds = {"rotary": "rotary", "alibi": "alibi", "learned": True}
    positions = [kind for name, kind in kinds.items() if settings[name]]
    return {
        "causal": settings["causal"],
        "num_heads": settings["num_heads"],
        "num_kv_heads": settings["num_kv_heads"],
        "window": settings["window"],
        "positions": positions[0] if positions else None,
        "dropout": settings["dropout"] or None,
        "scale": None if settings["divided"] else 1.0,
        "padding": padded,
        "step": step if settings["causal"] else None,
    }


def entries() -> list[Bug]:
    """All bugs, by kind, repository and number."""
    for path in pathlib.Path(__file__).parent.glob("*.py"):
        if path.stem in KINDS:
            importlib.import_module(f"public_bugs.{path.stem}")
    return sorted(_LOG, key=lambda one: (KINDS.index(one.kind), str(one).lower()))


def problem(one: Bug) -> str:
    """What doesn't hold of an entry; empty if all does."""
    if failed := one.failed(one.fixed):
        return f"{one}: without the bug, {', '.join(failed)} fails"
    failed = one.failed(one.layer)
    if one.line and one.line not in failed:
        return f"{one}: {one.line} doesn't fail, but {', '.join(failed) or 'nothing'}"
    if failed and not one.line:
        return f"{one}: {', '.join(failed)} fails, where none was expected"
    return ""
