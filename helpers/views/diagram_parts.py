"""What a diagram is made of: tensors, the operations between them, and their sizes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from helpers.views.diagram_formulas import Formula

CELL, BETWEEN_HEADS, LABEL_GAP = 16, 12, 10
LINE = 16  # from one line of a label to the next
MOST_LETTERS = 13  # of a row's name

Point = tuple[int, int]
Box = tuple[int, int, int, int]  # x, y, width, height


@dataclass
class Part:
    """One tensor of a diagram: what is drawn of it, and where."""

    name: str
    letters: tuple[str, ...]
    shape: tuple[int, ...]
    role: str
    cells: list[list[list[float]]]  # heads, rows, columns, as far as they are drawn
    decimals: int  # of the numbers: none where they are whole
    cut: tuple[bool, bool]  # whether something is left out below, to the right
    formula: Formula | None
    said: str
    new: bool
    largest: float  # a cell of this size, or beyond, has the strongest colour
    names: list[str] = field(default_factory=list)  # of the rows, beside the main line
    row: int = 0
    column: int = 0
    x: int = 0
    y: int = 0

    @property
    def letters_text(self) -> str:
        return _tuple_text(self.letters)

    @property
    def shape_text(self) -> str:
        return _tuple_text(self.shape)

    @property
    def row_letter(self) -> str:
        return self.letters[-2] if len(self.letters) > 1 else self.letters[0]

    @property
    def column_letter(self) -> str:
        return self.letters[-1] if len(self.letters) > 1 else ""

    @property
    def grid(self) -> Point:
        """Width and height of the cells, with the marks of what is left out."""
        heads, rows, columns = len(self.cells), len(self.cells[0]), self.columns
        width = heads * columns * CELL + (heads - 1) * BETWEEN_HEADS
        return width + CELL * self.cut[1], (rows + self.cut[0]) * CELL

    @property
    def columns(self) -> int:
        return len(self.cells[0][0])

    @property
    def size(self) -> Point:
        """Width and height with the label, which stands to the right of the grid."""
        width, height = self.grid
        longest = max(9 * len(self.name) + 6, 7 * len(self.letters_text))
        longest = max(longest, 7 * len(self.shape_text))
        return width + LABEL_GAP + longest, max(height, 3 * LINE)


@dataclass
class Arrow:
    """An operation: its label's box, lines that come in, and lines that lead on."""

    part: str  # what it computes
    labels: list[tuple[str, Box]]  # from the first operation to the last
    lines: list[list[Point]]
    heads: list[Point]  # where an arrow ends, pointing down


@dataclass(frozen=True)
class Layout:
    parts: list[Part]
    arrows: list[Arrow]
    width: int
    height: int


def shortened(name: str) -> str:
    """A row's name as the picture has room for it."""
    return name if len(name) <= MOST_LETTERS else f"{name[: MOST_LETTERS - 1]}…"


def _tuple_text(entries: Sequence[object]) -> str:
    comma = "," if len(entries) == 1 else ""
    return f"({', '.join(map(str, entries))}{comma})"
