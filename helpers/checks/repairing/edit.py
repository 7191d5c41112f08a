"""A change of a reader's code, and the places where one may be made."""

import ast
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MOST_SHOWN = 72  # letters of code in a verdict, where more is shown than must be
MOST_AT_ALL = 120
SIMPLE = ast.Assign | ast.AugAssign | ast.Expr | ast.Return


@dataclass(frozen=True)
class Edit:
    """A change of one field of one node.

    Args:
        node: of the tree.
        field: of the node.
        value: what is to stand there.
        shown: the node that is shown before the change.
        instead: the node that is shown after it; None where something is left out, and
            a text where it says itself what the change is.
        others: the same change at other places.
    """

    node: ast.AST
    field: str
    value: Any
    shown: ast.AST
    instead: ast.AST | str | None
    others: tuple["Edit", ...] = ()

    @property
    def line(self) -> int:
        """Where it is, in its cell or file."""
        line: int = getattr(self.shown, "lineno", 0)
        return line

    @contextlib.contextmanager
    def made(self) -> Iterator[None]:
        """Make the change, and take it back."""
        with contextlib.ExitStack() as stack:
            for other in self.others:
                stack.enter_context(other.made())
            before = getattr(self.node, self.field)
            setattr(self.node, self.field, self.value)
            try:
                yield
            finally:
                setattr(self.node, self.field, before)

    def words(self) -> str:
        """What the change is, such as "with `x` in place of `x.T` (line 3)"."""
        if isinstance(self.instead, str):
            return self.instead
        where, old = f"line {self.line}", text_of(self.shown)
        if self.others:
            changed = getattr(self.node, self.field)
            part = changed if isinstance(changed, ast.AST) else self.node
            same = all(text_of(other.shown) == old for other in self.others)
            what = "it" if same else f"that `{text_of(part)}`"
            where = f"{where} and wherever {what} stands"
        if self.instead is None:
            return f"without `{old}` ({where})"
        with self.made():
            new = text_of(self.instead)
        return f"with `{new}` in place of `{old}` ({where})"


@dataclass(frozen=True)
class Place:
    """Where an expression stands: a field of its parent, or an item of it."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.expr
    statement: ast.stmt

    @property
    def text(self) -> str:
        """The expression's code."""
        return ast.unparse(self.node)

    @property
    def is_read(self) -> bool:
        """Whether something is read here, and nothing assigned."""
        return isinstance(getattr(self.node, "ctx", ast.Load()), ast.Load)

    def with_(self, new: ast.expr | str) -> Edit:
        """Another expression at this place, as a node or as code."""
        if isinstance(new, str):
            new = ast.parse(new, mode="eval").body
        value: Any = new
        if self.index is not None:
            value = list(getattr(self.parent, self.field))
            value[self.index] = new
        longer = len(ast.unparse(new)) - len(self.text)
        for around in (self.statement, self.parent):
            if _is_short(around, longer):
                return Edit(self.parent, self.field, value, around, around)
        return Edit(self.parent, self.field, value, self.node, new)

    def changed(self, field: str, value: Any) -> Edit:
        """The expression at this place with another field."""
        around = self.statement if _is_short(self.statement) else self.node
        return Edit(self.node, field, value, around, around)


def places(definition: ast.AST) -> Iterator[Place]:
    """Every expression in a definition but annotations and docstrings."""

    def below(node: ast.AST, statement: ast.stmt | None) -> Iterator[Place]:
        if isinstance(node, ast.stmt):
            statement = node
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list"):
                continue
            items = enumerate(value) if isinstance(value, list) else [(None, value)]
            for index, one in items:
                if isinstance(one, ast.expr) and statement and not _is_text(node, one):
                    yield Place(node, field, index, one, statement)
                if isinstance(one, ast.AST):
                    yield from below(one, statement)

    yield from below(definition, None)


def text_of(node: ast.AST) -> str:
    """Code in one line, cut where it is long; of a block, its first line."""
    text = ast.unparse(node).split("\n")[0]
    return text if len(text) <= MOST_AT_ALL else f"{text[: MOST_AT_ALL - 1]}…"


def _is_short(node: ast.AST, longer: int = 0) -> bool:
    """Whether a simple statement or an expression fits into a line of a verdict.

    Args:
        node: of the tree.
        longer: by how many letters it will grow.
    """
    if not isinstance(node, ast.expr | SIMPLE):
        return False
    return len(ast.unparse(node)) + max(longer, 0) <= MOST_SHOWN


def _is_text(parent: ast.AST, node: ast.expr) -> bool:
    """Whether a statement is nothing but a text, as a docstring is."""
    return isinstance(parent, ast.Expr) and isinstance(node, ast.Constant)
