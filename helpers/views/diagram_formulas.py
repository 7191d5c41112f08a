"""What a diagram says of one tensor: from which others it was computed, and how.

A formula is read as Python reads it, and computed again where its operations are known:
a picture whose tensor isn't what its formula says is refused.
"""

import ast
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers.attention import merge_heads, split_heads
from helpers.validation import shape_of

SIGNS = {ast.MatMult: "@", ast.Add: "+", ast.Sub: "−", ast.Mult: "×"}
RECKONED: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "@": torch.matmul,
    "+": torch.add,
    "−": torch.sub,
    "×": torch.mul,
}
# What an operation does to the cells that a cell comes from: "row" i, "column" j,
# "across" the row j of what was transposed, the "same" cell, or "all" cells.
PAIRED = {"@": ("row", "column"), "embed": ("row", "found")}
EACH_CELL = ("mask", "dropout", "exp", "relu")
EACH_ROW = ("softmax", "norm", "MLP")
WIDENED = {"same": "row"} | dict.fromkeys(("column", "across", "split", "merge"), "all")
# How many parts a known name takes; any other takes one or more.
COUNTS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys((*EACH_CELL, *EACH_ROW, "split", "merge"), (1,)),
    "mask": (1, 2),
    "embed": (2,),
}
MOST_SCALE = 1000.0  # by which dropout makes numbers grow
SAID = {
    "@": "each number is the dot product of a row of {0} and a column of {1}",
    "@ᵀ": "each number is the dot product of a row of {0} and a row of {1}",
    "+": "{0} and {1} are added, number by number",
    "−": "{1} is subtracted from {0}, number by number",
    "×": "{0} and {1} are multiplied, number by number",
    "÷": "each number is divided by {divisor}",
    "softmax": "each row becomes shares that sum to 1",
    "mask": "what a row may not see becomes −∞",
    "dropout": "some numbers become 0, and the others grow to make up for it",
    "split": "each row is cut into one piece for every head",
    "merge": "the heads' rows are laid side by side again",
    "norm": "each row is brought to a common scale, by itself",
    "MLP": "each row goes through the same small network, by itself",
    "embed": "each id takes its row of {1}",
    "exp": "each number s becomes e to the power s",
}


@dataclass(frozen=True)
class Formula:
    """How a tensor is computed: ``labels`` for the arrow, ``said`` for a sentence.

    ``sources`` are pairs of a tensor's name and of which of its cells meet in a cell.
    """

    text: str
    labels: tuple[str, ...]
    commuted: tuple[str, ...]  # the labels where the second operand comes down first
    said: str
    sources: tuple[tuple[str, str], ...]
    product: str  # "@" or "@ᵀ" where a cell is nothing but a sum of products
    shaded_as: str  # a tensor of which this one is a part, or a part divided, or ""


def read_formula(
    name: str, text: str, tensors: Mapping[str, Tensor], sizes: Mapping[str, int]
) -> Formula:
    """Read the formula of ``tensors[name]``, and compare the two.

    Args:
        name: the tensor's name.
        text: such as "queries @ keys.T", "scores / √D" or "softmax(mask(scores))".
        tensors: this one and all before it.
        sizes: what each letter of a shape stands for.

    Returns:
        formula: what the picture says of it.

    Raises:
        ValueError: a formula that can't be read, that names no tensor before this one,
            or that isn't what the tensor holds.
    """
    before = {one: tensor for one, tensor in tensors.items() if one != name}
    reader = _Reader(name, text, before, sizes, tensors[name])
    start, operands = reader.start()
    steps = reader.steps
    _require_agreement(name, text, tensors[name], reader)
    shown = text.replace(".T", "ᵀ").replace("/", "÷")
    hows = _hows(start, operands, [kind for kind, _ in steps])
    if tensors[name].dim() == 1 and any(kind in EACH_ROW for kind, _ in steps):
        hows = ["all"] * len(hows)  # its one row is drawn as a column
    names = [operand.name for operand in operands]
    said = [] if start == "" else [SAID.get(_named(start, operands), "")]
    said += [SAID.get(kind, "") for kind, _ in steps]
    words = "; then ".join(one for one in said if one)
    divisor = next((detail for kind, detail in steps if kind == "÷"), "")
    labels = tuple(
        f"{kind} {detail}".strip().replace("_", " ") for kind, detail in steps
    )
    first = () if start == "" else (_start_label(start, operands),)
    commuted = first
    if start in ("+", "×"):
        commuted = (_start_label(start, operands[::-1]),)
    return Formula(
        shown,
        (*first, *labels) or ("=",),
        (*commuted, *labels) or ("=",),
        words.format(*names, divisor=divisor),
        tuple(zip(names, hows, strict=True)),
        _named(start, operands) if start == "@" and not steps else "",
        names[0] if _keeps_numbers(start, [kind for kind, _ in steps]) else "",
    )


def _keeps_numbers(start: str, kinds: Sequence[str]) -> bool:
    """Nothing is done but to leave numbers out and to divide."""
    return start in ("", "mask") and {*kinds} <= {"÷", "mask", "dropout"}


@dataclass(frozen=True)
class _Operand:
    name: str
    transposed: bool


class _Reader:
    """Takes a formula apart: what it starts from, and what is done to it then."""

    def __init__(
        self,
        name: str,
        text: str,
        before: Mapping[str, Tensor],
        sizes: Mapping[str, int],
        result: Tensor,
    ) -> None:
        self.name, self.text, self.before, self.sizes = name, text, before, sizes
        self.result = result
        self.steps: list[tuple[str, str]] = []
        self.value: Tensor | None = None  # None where not even its shape is known
        self.known = True  # or whether of the value only its shape is known

    def start(self) -> tuple[str, list[_Operand]]:
        """The first operation ("" for none) and its operands; fills the rest."""
        source = re.sub(r"√(\w+)", r"sqrt(\1)", self.text)
        if "#" in source:
            raise self.wrong("can't be read: it must hold no comment")
        try:
            node = ast.parse(source.strip(), mode="eval").body
        except SyntaxError:
            raise self.wrong("can't be read") from None
        around: list[tuple[str, str]] = []
        while (inner := self._unwrapped(node)) is not None:
            node, step = inner
            around.insert(0, step)
        start, operands = self._core(node)
        self._require_form(start, operands)
        self.value = self._computed(start, operands, around)
        self.steps = around
        return start, operands

    def wrong(self, what: str) -> ValueError:
        return ValueError(f"parts[{self.name!r}]: the formula {self.text!r} {what}")

    def _unwrapped(self, node: ast.expr) -> tuple[ast.expr, tuple[str, str]] | None:
        """What stands inside f(…) or … / √D, and that step."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            name, count = node.func.id, len(node.args)
            counts = COUNTS.get(name, (max(count, 1),))
            if node.keywords or count not in counts:
                needed = " or ".join(map(str, counts))
                raise self.wrong(f"must give {name} {needed} of the parts, and no more")
            return (node.args[0], (name, "")) if count == 1 else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            divisor = ast.unparse(node.right)
            self._divisor(divisor)
            return node.left, ("÷", re.sub(r"sqrt\((\w+)\)", r"√\1", divisor))
        return None

    def _core(self, node: ast.expr) -> tuple[str, list[_Operand]]:
        if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            sign = SIGNS[type(node.op)]
            return sign, [self._operand(node.left), self._operand(node.right)]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id, [self._operand(one) for one in node.args]
        return "", [self._operand(node)]

    def _operand(self, node: ast.expr) -> _Operand:
        transposed = isinstance(node, ast.Attribute) and node.attr == "T"
        inner = node.value if isinstance(node, ast.Attribute) and transposed else node
        if not isinstance(inner, ast.Name):
            raise self.wrong(
                "must join at most two tensors, such as 'queries @ keys.T' or "
                "'softmax(scores / √D)'; give what stands between a name of its own"
            )
        if inner.id not in self.before:
            known = list(self.before) or "none"
            raise self.wrong(f"needs {inner.id!r}, but the parts before are {known}")
        return _Operand(inner.id, transposed)

    def _divisor(self, text: str) -> float:
        root = re.fullmatch(r"sqrt\((\w+)\)", text)
        number = root[1] if root else text
        if number not in self.sizes and not re.fullmatch(r"\d+(\.\d+)?", number):
            raise self.wrong(
                f"divides by {text!r}, which is neither a number nor one of the "
                f"letters {sorted(self.sizes)}"
            )
        size = float(self.sizes.get(number, 0) or number)
        return math.sqrt(size) if root else size

    def _require_form(self, start: str, operands: Sequence[_Operand]) -> None:
        """Of each cell it can be told which cells it comes from."""
        inputs = [self.before[one.name] for one in operands]
        shapes = [shape_of(x) for x in inputs]
        if any(
            one.transposed for i, one in enumerate(operands) if (start, i) != ("@", 1)
        ):
            raise self.wrong(
                "must transpose nothing but the second operand of @; give the "
                "transposed tensor a name of its own"
            )
        if start == "@" and min(map(len, shapes)) < 2:
            raise self.wrong(f"must multiply grids or heads, got shapes {shapes}")
        if start in ("+", "−", "×", "mask") and len({one[-2:] for one in shapes}) > 1:
            raise self.wrong(f"must join two grids of one shape, got shapes {shapes}")
        if start == "embed" and (
            [len(one) for one in shapes] != [1, 2]
            or inputs[0].is_floating_point()
            or (inputs[0] < 0).any()
        ):
            raise self.wrong(
                "must take whole ids (T,) that are not negative, and a table (…, …), "
                f"got shapes {shapes}"
            )

    def _computed(
        self, start: str, operands: Sequence[_Operand], around: list[tuple[str, str]]
    ) -> Tensor | None:
        """What the formula gives, or None where an operation isn't known."""
        inputs = [self.before[one.name] for one in operands]
        inputs = [
            x.mT if one.transposed else x
            for x, one in zip(inputs, operands, strict=True)
        ]
        if not all(kind == "÷" or kind in COUNTS for kind, _ in around):
            return None
        kinds = [kind for kind, _ in around]
        try:
            value = self._first(start, inputs)
            for i, (kind, detail) in enumerate(around):
                if value is None:
                    break
                if kind == "mask" and kinds[i + 1 :] == ["softmax"]:
                    value = value.masked_fill(self.result == 0, -math.inf)
                elif kind in ("mask", "dropout"):
                    # Only a last one can be told from the result.
                    self.known &= i == len(kinds) - 1
                elif kind in ("norm", "MLP"):
                    self.known = False
                else:
                    value = self._then(kind, detail, value)
        except (RuntimeError, ValueError, IndexError) as error:
            shapes = [shape_of(x) for x in inputs]
            reason = f"doesn't fit shapes {shapes}: {error}".splitlines()[0]
            raise self.wrong(reason) from None
        return value

    @staticmethod
    def _first(start: str, inputs: Sequence[Tensor]) -> Tensor | None:
        if start == "":
            return inputs[0]
        if start == "mask" and len(inputs) == 2:
            return inputs[0].masked_fill(~inputs[1].bool(), -math.inf)
        if start == "embed" and len(inputs) == 2:
            return inputs[1][inputs[0].long()]
        return RECKONED[start](*inputs) if start in RECKONED else None

    def _then(self, kind: str, detail: str, value: Tensor) -> Tensor:
        if kind == "÷":
            return value / self._divisor(re.sub(r"√(\w+)", r"sqrt(\1)", detail))
        if kind == "split":
            if "H" not in self.sizes:
                raise ValueError("no shape has the letter H")
            return split_heads(value, self.sizes["H"])
        known = {"softmax": lambda x: x.softmax(-1), "merge": merge_heads}
        return (known | {"exp": torch.exp, "relu": torch.relu})[kind](value)


def _named(start: str, operands: Sequence[_Operand]) -> str:
    """The operation, with a sign where its second operand is transposed."""
    return "@ᵀ" if start == "@" and operands[1].transposed else start


def _start_label(start: str, operands: Sequence[_Operand]) -> str:
    if start not in RECKONED:
        return start.replace("_", " ")
    return f"{start} {operands[1].name}{'ᵀ' if operands[1].transposed else ''}"


def _hows(start: str, operands: Sequence[_Operand], kinds: Sequence[str]) -> list[str]:
    """For each operand, which of its cells a cell was computed from."""
    if _named(start, operands) == "@ᵀ":
        hows = ["row", "across"]
    elif start in PAIRED:
        hows = list(PAIRED[start])
    else:
        known = start in ("", "mask") or start in RECKONED
        hows = ["same" if known else "all"] * len(operands)
    for kind in kinds:
        if kind in ("split", "merge"):
            hows = [kind if how == "same" else "all" for how in hows]
        elif kind in EACH_ROW:
            hows = [WIDENED.get(how, how) for how in hows]
        elif kind not in (*EACH_CELL, "÷"):
            hows = ["all"] * len(hows)
    return hows


def _require_agreement(name: str, text: str, tensor: Tensor, reader: _Reader) -> None:
    """The tensor is what its formula gives, as far as that is known."""
    value = reader.value
    if value is None:
        return
    if value.shape != tensor.shape:
        raise ValueError(
            f"parts[{name!r}] must be {text}, of shape {shape_of(value)}, got shape "
            f"{shape_of(tensor)}"
        )
    if not reader.known:
        return
    value, tensor = value.double(), tensor.double()
    last = reader.steps[-1][0] if reader.steps else ""
    if last == "mask":
        value = value.masked_fill(tensor == -math.inf, -math.inf)
    elif last == "dropout":
        kept = (tensor != 0) & (value != 0) & value.isfinite()
        scale = float((tensor[kept] / value[kept]).median()) if kept.any() else 1.0
        if not 0.999 <= scale <= MOST_SCALE:
            raise ValueError(
                f"parts[{name!r}] must be {text}: what is kept must grow by 1 to "
                f"{MOST_SCALE:.0f} times, got {scale:.4g}"
            )
        value = (value * scale).masked_fill(tensor == 0, 0.0)
    largest = value.masked_fill(~value.isfinite(), 0).abs().max()
    near = 1e-4 * min(1.0, float(largest))
    agree = torch.isclose(tensor, value, rtol=1e-3, atol=near) | (tensor == value)
    if not agree.all():
        place = (~agree).nonzero()[0].tolist()
        raise ValueError(
            f"parts[{name!r}] must be {text}: at {place} that is "
            f"{value[tuple(place)]:.4g}, got {tensor[tuple(place)]:.4g}"
        )
