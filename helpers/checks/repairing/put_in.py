"""Changes of a reader's code that put something in."""

import ast
import copy
import re
from collections.abc import Iterator

from helpers.checks.repairing.edit import Edit, Place
from helpers.checks.repairing.exchanged import AXES

MOST_COPIED = 40  # letters of code that is tried elsewhere
COUNTS = {
    *("range", "arange", "ones", "zeros", "full", "tril", "triu", "randint"),
}
WRAPS = ("1 - ({})", "-({})", "~({})", "({}) ** 0.5", "({}) ** 2")
SHARES = ("({0}).softmax(-1)", "({0}) / ({0}).sum(-1, keepdim=True)")
DIVISORS = ("{}", "1 - {}", "{} ** 0.5", "{}.shape[-1] ** 0.5")


def steps(place: Place) -> Iterator[Edit]:
    """One more or one less of what is counted or compared."""
    compared = place.field in ("left", "comparators")
    counted = isinstance(place.parent, ast.Call) and place.field == "args"
    if (
        (compared and isinstance(place.parent, ast.Compare))
        or (counted and _called(place.parent) in COUNTS)
        or place.field in ("lower", "upper", "slice")
    ) and _is_simple(place):
        for one in ("+ 1", "- 1"):
            yield place.with_(f"({place.text}) {one}")
    if place.field == "lower":
        yield place.with_(f"max({place.text}, 0)")
    node = place.node
    if isinstance(node, ast.Call) and _called(node) in ("tril", "triu"):
        for diagonal in (1, -1):
            yield place.changed("args", [*node.args, ast.Constant(diagonal)])


def parentheses(place: Place) -> Iterator[Edit]:
    """What Python takes together otherwise than the reader may have meant it.

    The else of `a + b if c else d` belongs to the sum, and the 2 of `a / b ** 1 / 2`
    isn't part of the exponent.
    """
    node = place.node
    if isinstance(node, ast.IfExp) and isinstance(node.body, ast.BinOp):
        whole = node.body
        chosen = ast.IfExp(node.test, whole.right, node.orelse)
        yield place.with_(ast.BinOp(whole.left, whole.op, chosen))
    if not isinstance(node, ast.BinOp) or not isinstance(node.left, ast.BinOp):
        return
    left = node.left
    power = left if isinstance(left.op, ast.Pow) else left.right
    if isinstance(power, ast.BinOp) and isinstance(power.op, ast.Pow):
        exponent = ast.BinOp(power.right, node.op, node.right)
        new = ast.BinOp(power.left, ast.Pow(), exponent)
        yield place.with_(new if power is left else ast.BinOp(left.left, left.op, new))
    elif not isinstance(node.op, ast.Add):
        last = ast.BinOp(left.right, node.op, node.right)
        yield place.with_(ast.BinOp(left.left, left.op, last))


def lower_exponents(place: Place) -> Iterator[Edit]:
    """The exponential of scores from which each row's largest is taken away.

    Also in place of a clamp, which is often there for the exponential's sake.
    """
    node = place.node
    called = _called(node)
    if not isinstance(node, ast.Call) or called not in ("exp", "clamp"):
        return
    inner = node.args[0] if node.args else None
    if isinstance(node.func, ast.Attribute) and not _is_module(node.func.value):
        inner = node.func.value
    if inner is None:
        return
    insides = [inner]
    if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        insides.append(inner.func.value)  # such as before a clamp
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
        insides.insert(0, inner.left)  # from which another maximum is taken away
    for one in insides:
        text = ast.unparse(one)
        lower = f"(({text}) - ({text}).amax(-1, keepdim=True))"
        yield place.with_(f"{lower}.exp()" if called == "exp" else lower)


def _is_module(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("torch", "math", "np", "F")


def hiding(place: Place) -> Iterator[Edit]:
    """Minus infinity, where a mask is added, subtracted or multiplied."""
    node = place.node
    tests = {ast.Add: "({}) < -1", ast.Sub: "({}) > 1", ast.Mult: "({}) == 0"}
    if isinstance(node, ast.BinOp) and type(node.op) in tests:
        one, other = ast.unparse(node.left), ast.unparse(node.right)
        hidden = tests[type(node.op)].format(other)
        yield place.with_(f"({one}).masked_fill({hidden}, -float('inf'))")


def functions(place: Place) -> Iterator[Edit]:
    """A sign, a root, a transpose, a copy or a softmax more."""
    if not _is_simple(place) or isinstance(place.parent, ast.Attribute):
        return
    text = place.text
    for one in WRAPS:
        yield place.with_(one.format(text))
    for first, second in AXES:
        yield place.with_(f"({text}).transpose({first}, {second})")
    if isinstance(place.parent, ast.Return | ast.Assign | ast.Tuple):
        for one in (*SHARES, "({}).clone()"):
            yield place.with_(one.format(text))


def factors(place: Place) -> Iterator[Edit]:
    """A factor of 2 more, of a whole result or of what a name is to hold."""
    if place.field == "value" and isinstance(place.parent, ast.Return | ast.Assign):
        for one in ("2 * ({})", "({}) / 2"):
            yield place.with_(one.format(place.text))


def divisors(place: Place, names: list[str]) -> Iterator[Edit]:
    """Another divisor or factor, made of one of the function's own names."""
    if place.field != "right" or not isinstance(place.parent, ast.BinOp):
        return
    if isinstance(place.parent.op, ast.Div | ast.Mult):
        for name in names:
            for one in DIVISORS:
                yield place.with_(one.format(name))


def scales(place: Place, names: list[str]) -> Iterator[Edit]:
    """Scores divided by the root of a width, and weights by what is kept."""
    node = place.node
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    for name in names:
        if product or _called(node) in ("matmul", "bmm", "einsum"):
            yield place.with_(f"({place.text}) / {name}.shape[-1] ** 0.5")
        if isinstance(place.parent, ast.Assign):
            yield place.with_(f"({place.text}) / (1 - {name})")


def fragments(definition: ast.AST) -> list[ast.expr]:
    """Short expressions of the code, each once."""
    found: dict[str, ast.expr] = {}
    for node in ast.walk(definition):
        read = isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        if isinstance(node, ast.BinOp | ast.Call | ast.Subscript) and read:
            text = ast.unparse(node)
            if len(text) <= MOST_COPIED and "range(" not in text:
                found[text] = node
    return list(found.values())


def from_elsewhere(
    place: Place, names: list[str], others: list[ast.expr]
) -> Iterator[Edit]:
    """What stands elsewhere in the code, in place of a name or a part of a shape."""
    node = place.node
    own = not isinstance(node, ast.Name) or node.id in names
    if (
        place.is_read
        and own
        and isinstance(node, ast.Name | ast.Subscript | ast.Attribute)
    ):
        for other in others:
            if other is not node:
                yield place.with_(copy.deepcopy(other))


def _is_simple(place: Place) -> bool:
    """Whether a value is read here that isn't itself an operation."""
    node = place.node
    if isinstance(node, ast.Call):
        return _called(node) not in ("len", "range", "print")
    return place.is_read and isinstance(node, ast.Name | ast.Attribute | ast.Subscript)


def _called(call: ast.AST) -> str:
    """The last name of what is called."""
    name = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
    return re.split(r"\W", name)[-1]
