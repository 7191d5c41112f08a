"""Changes of a reader's code that leave something out, or move a statement."""

import ast
import dataclasses
import itertools
from collections.abc import Iterator
from typing import TypeGuard

from helpers.checks.repairing.edit import Edit, Place, text_of

BLOCKS = ast.FunctionDef | ast.If | ast.For | ast.With


def conditions(place: Place) -> Iterator[Edit]:
    """A condition that always holds, or never; that it isn't None, for that it's true.

    One that never holds leaves a special case out.
    """
    node = place.node
    if place.field not in ("test", "ifs") or isinstance(place.parent, ast.While):
        return
    words = f"if `{text_of(node)}` (line {node.lineno}) were"
    for value, when in ((False, "never true"), (True, "always true")):
        change = place.with_(ast.Constant(value))
        yield dataclasses.replace(change, instead=f"{words} {when}")
    yield place.with_(ast.UnaryOp(ast.Not(), node))
    asked = node.operand if isinstance(node, ast.UnaryOp) else node
    if isinstance(asked, ast.Name):  # 0 and an empty text are false, too
        sign = "is" if isinstance(node, ast.UnaryOp) else "is not"
        yield place.with_(f"{asked.id} {sign} None")


def operations(place: Place) -> Iterator[Edit]:
    """An operation, a call, a transpose, an argument or an index that isn't there."""
    node = place.node
    if isinstance(node, ast.BinOp):
        yield place.with_(node.left)
        yield place.with_(node.right)
    elif isinstance(node, ast.UnaryOp):
        yield place.with_(node.operand)
    elif isinstance(node, ast.BoolOp):
        for one in node.values:
            yield place.with_(one)
    elif isinstance(node, ast.Call):
        yield from _of_call(place, node)
    elif (isinstance(node, ast.Subscript) and place.is_read) or _is_transpose(node):
        yield place.with_(node.value)
    elif isinstance(node, ast.Slice):
        for field in ("lower", "upper", "step"):
            if getattr(node, field) is not None:
                yield place.changed(field, None)


def _is_transpose(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr in ("T", "mT")


def _of_call(place: Place, node: ast.Call) -> Iterator[Edit]:
    if isinstance(node.func, ast.Attribute):
        yield place.with_(node.func.value)
    for one in node.args:
        if not isinstance(one, ast.Starred):
            yield place.with_(one)
    for i in range(len(node.keywords)):
        rest = node.keywords[:i] + node.keywords[i + 1 :]
        yield place.changed("keywords", rest)
    for i in range(1, len(node.args)):
        yield place.changed("args", node.args[:i] + node.args[i + 1 :])


def statements(block: ast.AST) -> Iterator[Edit]:
    """A statement that isn't there."""
    for field, body in _bodies(block):
        for i, one in enumerate(body):
            if not isinstance(one, ast.Return) or len(body) > i + 1:
                rest = body[:i] + body[i + 1 :] or [ast.Pass()]
                yield Edit(block, field, rest, one, None)


def orders(block: ast.AST) -> Iterator[Edit]:
    """Two statements in the other order."""
    for field, body in _bodies(block):
        for i, (first, second) in enumerate(itertools.pairwise(body)):
            turned = [*body[:i], second, first, *body[i + 2 :]]
            words = (
                f"with line {second.lineno}, `{text_of(second)}`, moved up before line "
                f"{first.lineno}"
            )
            yield Edit(block, field, turned, first, words)


def totals(block: ast.AST) -> Iterator[Edit]:
    """A value that is added to what was there, for one that takes its place."""
    if not isinstance(block, ast.For):
        return
    for i, one in enumerate(block.body):
        added: ast.stmt
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            if one.targets[0].id in {getattr(n, "id", "") for n in ast.walk(one.value)}:
                continue  # what is added to has its place there
            added = ast.AugAssign(one.targets[0], ast.Add(), one.value)
        elif isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add):
            added = ast.Assign([one.target], one.value)
        else:
            continue
        ast.copy_location(added, one)
        yield Edit(
            block, "body", [*block.body[:i], added, *block.body[i + 1 :]], one, added
        )


def early_returns(block: ast.AST) -> Iterator[Edit]:
    """A return that stands behind a block, and not at the end of it."""
    for field, body in _bodies(block):
        for i, inner in enumerate(body):
            if not isinstance(inner, ast.For | ast.If):
                continue
            last = inner.body[-1]
            if not isinstance(last, ast.Return):
                continue
            rest = inner.body[:-1] or [ast.Pass()]
            words = (
                f"with line {last.lineno}, `{text_of(last)}`, moved out of the block "
                f"that begins in line {inner.lineno}"
            )
            shorter = Edit(inner, "body", rest, last, words)
            longer = [*body[: i + 1], last, *body[i + 1 :]]
            yield Edit(block, field, longer, last, words, others=(shorter,))


def _bodies(block: ast.AST) -> Iterator[tuple[str, list[ast.stmt]]]:
    for field in ("body", "orelse"):
        body = getattr(block, field, None)
        if isinstance(body, list):
            yield field, body
