"""Changes of a reader's code that put a like thing in another's place."""

import ast
import itertools
import math
from collections.abc import Iterator
from typing import Any

from helpers.checks.repairing.edit import Edit, Place

OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.MatMult),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Div,),
    ast.Mod: (ast.FloorDiv,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.MatMult: (ast.Mult,),
}
ONE_ORDER = ast.Add | ast.Mult | ast.Pow | ast.LShift  # the other changes nothing
COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE),
    ast.LtE: (ast.Lt, ast.GtE, ast.Gt),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE),
    ast.GtE: (ast.Gt, ast.LtE, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
}
# Functions and methods that are taken for each other.
LIKE = (
    *(("tril", "triu"), ("max", "min"), ("amax", "amin"), ("argmax", "argmin")),
    *(("sum", "mean"), ("ceil", "floor", "round"), ("isqrt", "sqrt")),
    *(("log2", "log"), ("log10", "log"), ("exp2", "exp"), ("log_softmax", "softmax")),
    *(("logical_or", "logical_and"), ("ge", "gt"), ("le", "lt"), ("ones", "zeros")),
    *(("repeat", "repeat_interleave"), ("tile", "repeat_interleave")),
    *(("sigmoid", "softmax"), ("cos", "sin"), ("rand", "rand_like"), ("randn", "rand")),
)
AXES = ((-2, -1), (1, 2), (0, 1))
RESHAPES = {"reshape", "view", "unflatten", "permute"}
LARGE = 9  # what is lower than minus this may be meant for minus infinity


def comparisons(place: Place) -> Iterator[Edit]:
    """Another sign between two sides."""
    node = place.node
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for other in COMPARISONS.get(type(node.ops[0]), ()):
            yield place.changed("ops", [other()])


def operators(place: Place) -> Iterator[Edit]:
    """Another operator, or its two sides exchanged."""
    node = place.node
    if not isinstance(node, ast.BinOp):
        return
    for other in OPERATORS.get(type(node.op), ()):
        yield place.changed("op", other())
    if not isinstance(node.op, ONE_ORDER):
        yield place.with_(ast.BinOp(node.right, node.op, node.left))


def arguments(place: Place) -> Iterator[Edit]:
    """Two arguments, items or parts of a result in each other's place."""
    node = place.node
    if isinstance(node, ast.Call):
        items, field = node.args, "args"
    elif isinstance(node, ast.Tuple | ast.List) and place.is_read:
        items, field = node.elts, "elts"
    else:
        return
    for turned in _turned(items):
        yield place.changed(field, turned)


def _turned(items: list[Any]) -> Iterator[list[Any]]:
    """The items with two of them in each other's place."""
    for i, j in itertools.combinations(range(len(items)), 2):
        turned = list(items)
        turned[i], turned[j] = turned[j], turned[i]
        yield turned


def numbers(place: Place) -> Iterator[Edit]:
    """Another number, truth value, or pattern of einsum."""
    value = _number(place.node)
    if isinstance(place.node, ast.Constant) and isinstance(place.node.value, str):
        yield from _patterns(place, place.node.value)
    if value is None or isinstance(place.parent, ast.UnaryOp):
        return  # with its sign, the number has been tried already
    others: list[Any]
    if isinstance(value, bool):
        others = [not value]
    elif isinstance(value, int):
        others = [value - 1, value + 1, -1, 0, 1, -2, 2, 3, 4, -value]
    else:
        others = [0.0, 1.0, -value]
    for other in dict.fromkeys(others):
        if other != value:
            yield place.with_(ast.Constant(other))
    if value < -LARGE:
        yield place.with_("-float('inf')")


def constants(place: Place, numbers: tuple[float, ...]) -> Iterator[Edit]:
    """One of the numbers of a right solution, in place of another."""
    value = _number(place.node)
    if value is None or isinstance(value, bool):
        return
    for other in numbers:
        if other != value:
            yield place.with_(ast.Constant(other))


def _number(node: ast.expr) -> bool | int | float | None:
    """A number or truth value that is written out, with its sign."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None or math.isinf(inner) else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
        return node.value
    return None


def _patterns(place: Place, text: str) -> Iterator[Edit]:
    """An einsum's pattern with another letter, or with two in each other's place."""
    inputs, arrow, output = text.partition("->")
    if not arrow:
        return
    letters = sorted(filter(str.isalpha, {*text}))
    for i, one in enumerate(text):
        for other in letters:
            if one in letters and other != one:
                yield place.with_(ast.Constant(text[:i] + other + text[i + 1 :]))
    for turned in _turned([*output]):
        yield place.with_(ast.Constant(f"{inputs}->{''.join(turned)}"))
    parts = inputs.split(",")
    for k, part in enumerate(parts):
        for turned in _turned([*part]):
            others = [*parts[:k], "".join(turned), *parts[k + 1 :]]
            yield place.with_(ast.Constant(f"{','.join(others)}->{output}"))


def functions(place: Place) -> Iterator[Edit]:
    """Another function or method of the same kind; a transpose for a reshape."""
    node = place.node
    if isinstance(node, ast.Attribute):
        for group in LIKE:
            for other in group if node.attr in group else ():
                if other != node.attr:
                    yield place.changed("attr", other)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return
    if node.func.attr in RESHAPES:
        old = ast.unparse(node.func.value)
        rest = ", ".join(map(ast.unparse, [*node.args, *node.keywords]))
        for one, other in AXES:
            moved = f"({old}).transpose({one}, {other})"
            yield place.with_(moved)
            yield place.with_(f"{moved}.{node.func.attr}({rest})")


def names(place: Place, own: list[str], attributes: list[str]) -> Iterator[Edit]:
    """Another of the function's own names, or of the layer's attributes."""
    node = place.node
    if isinstance(node, ast.Name) and place.is_read and node.id in own:
        for other in own:
            if other != node.id:
                yield place.with_(ast.Name(other, ast.Load()))
    if isinstance(node, ast.Attribute) and is_self(node.value):
        for other in attributes:
            if other != node.attr:
                yield place.changed("attr", other)


def own_names(definition: ast.AST) -> list[str]:
    """Parameters and what is assigned."""
    found: dict[str, None] = {}
    for node in ast.walk(definition):
        if isinstance(node, ast.arg):
            found[node.arg] = None
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
    return [name for name in found if name != "self"]


def own_attributes(definition: ast.AST) -> list[str]:
    """What a class calls self's."""
    found = {
        node.attr: None
        for node in ast.walk(definition)
        if isinstance(node, ast.Attribute) and is_self(node.value)
    }
    return list(found)


def is_self(node: ast.expr) -> bool:
    """Whether this is the name self."""
    return isinstance(node, ast.Name) and node.id == "self"
