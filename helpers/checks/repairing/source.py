"""The code of a reader's function or class, and that code run with a change in it."""

import ast
import inspect
import linecache
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

Definition = ast.FunctionDef | ast.ClassDef


class Source:
    """What a reader wrote: a definition, and the functions beside it in its cell.

    Args:
        attempt: the reader's function or class.
        tree: of its cell or file, without all that isn't a function or a class.
        definition: the attempt's own in that tree.
    """

    def __init__(self, attempt: Any, tree: ast.Module, definition: Definition) -> None:
        self.definition = definition
        self._tree = tree
        self._globals = _code_of(attempt)[1]

    @property
    def name(self) -> str:
        """Of the attempt."""
        return self.definition.name

    def build(self) -> Callable[..., Any] | None:
        """What the definition makes as it stands now, or None where it makes nothing.

        What it reads from outside is there as before; what it writes to a global name
        stays in a copy.
        """
        ast.fix_missing_locations(self._tree)
        names = dict(self._globals)
        try:
            exec(compile(self._tree, "<changed>", "exec"), names)  # noqa: S102
        except Exception:  # an impossible change, such as a default that isn't there
            return None
        built: Callable[..., Any] = names[self.name]
        return built


def read(attempt: Any) -> Source | None:
    """Find the code of a function or class, in a notebook's cell or in a file.

    Args:
        attempt: anything.

    Returns:
        source: a Source; None where there is no code to read, or where it uses names of
            a function around it.
    """
    try:
        code, _ = _code_of(attempt)
    except LookupError:
        return None
    if code.co_freevars and code.co_freevars != ("__class__",):
        return None
    linecache.checkcache(code.co_filename)
    text = "".join(linecache.getlines(code.co_filename))
    try:
        tree = ast.parse(text)
        compiled = compile(text, code.co_filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):  # a cell with magic commands in it
        return None
    if not any(_is_same(code, one) for one in _codes(compiled)):
        return None  # the file has changed since the attempt was made
    beside = [one for one in tree.body if isinstance(one, Definition)]
    for one in beside:
        last = one.end_lineno or one.lineno
        first = min([one.lineno, *(mark.lineno for mark in one.decorator_list)])
        if one.name == attempt.__name__ and first <= code.co_firstlineno <= last:
            called = _called(one, beside)
            module = ast.Module([other for other in beside if other in called], [])
            return Source(attempt, module, one)
    return None


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object, and all those in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _codes(one)


def _is_same(one: CodeType, other: CodeType) -> bool:
    """Whether two codes are from the same lines and do the same."""
    parts = ("co_name", "co_firstlineno", "co_code", "co_names", "co_varnames")
    return all(getattr(one, part) == getattr(other, part) for part in parts)


def _called(definition: Definition, beside: list[Definition]) -> list[Definition]:
    """A definition and those beside it that it calls, or that they call."""
    found = [definition]
    for one in found:  # grows
        names = {node.id for node in ast.walk(one) if isinstance(node, ast.Name)}
        found += [other for other in beside if other.name in names - {*_names(found)}]
    return found


def _names(definitions: list[Definition]) -> list[str]:
    return [one.name for one in definitions]


def _code_of(attempt: Any) -> tuple[Any, dict[str, Any]]:
    """The code of a function, or of a class's first one, and its global names."""
    functions = [attempt]
    if isinstance(attempt, type):
        functions = [one for one in vars(attempt).values() if inspect.isfunction(one)]
    for function in functions:
        if inspect.isfunction(function):
            return function.__code__, function.__globals__
    raise LookupError
