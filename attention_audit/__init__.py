"""The audit of attention layers, for projects other than the book.

``audit`` is the one of ``helpers.checks``. Many projects have a package of their own
that is called ``helpers``; the book's one is found all the same, and then gets out of
their way. Importing this package imports nothing else, so that pytest starts quickly.
"""

import functools
import importlib
import importlib.util
import pathlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from helpers.checks.auditing import LINES, Audit, Row, audit

__all__ = ["LINES", "Audit", "Row", "audit"]
BOOK = pathlib.Path(__file__).resolve().parent.parent / "helpers" / "__init__.py"


@functools.cache
def auditing() -> ModuleType:
    """The book's package ``helpers.checks.auditing``.

    Where it isn't imported yet, ``sys.modules`` holds afterwards what it held before:
    the project's own ``helpers``, or none.
    """
    present = getattr(sys.modules.get("helpers"), "__file__", None)
    if present and pathlib.Path(present).resolve() == BOOK:
        return importlib.import_module("helpers.checks.auditing")
    others = _take_out("helpers")
    try:
        spec = importlib.util.spec_from_file_location("helpers", BOOK)
        if spec is None or spec.loader is None:
            raise ImportError(f"{BOOK} can't be imported")
        package = importlib.util.module_from_spec(spec)
        sys.modules["helpers"] = package
        spec.loader.exec_module(package)
        return importlib.import_module("helpers.checks.auditing")
    finally:
        _take_out("helpers")
        sys.modules.update(others)


def _take_out(package: str) -> dict[str, ModuleType]:
    """Remove a package and all below it from ``sys.modules``; what was there."""
    names = [n for n in sys.modules if n == package or n.startswith(f"{package}.")]
    return {name: sys.modules.pop(name) for name in names}


def __getattr__(name: str) -> Any:
    """The audit and what belongs to it, imported when first asked for."""
    if name in __all__:
        return getattr(auditing(), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
