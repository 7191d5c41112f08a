"""Where a diagram's tensors stand, and which way the lines between them run.

Computation flows down. The main line stands on the left; keys and values have columns
of their own beside it, so that diagrams of many chapters have one layout. All places
are whole numbers that follow from names and shapes alone, never from values.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from helpers.views.diagram_formulas import Formula
from helpers.views.diagram_parts import Arrow, Box, Layout, Part, Point, shortened

STEM = 16  # lines leave and enter this far right of a tensor's left edge
LEVEL, PILL, BETWEEN_PILLS, ARROW, BARE_GAP = 10, 22, 10, 22, 30
BETWEEN, TOP = 28, 8  # columns, and above the first row
POSITIONS = ("T", "S", "B")  # a tensor without these holds parameters
COLUMNS = {"queries": 0, "keys": 1, "values": 2}


def lay_out(parts: Sequence[Part]) -> Layout:
    """Put parts into rows and columns, and lead the lines between them.

    Args:
        parts: in the order in which they are computed.

    Returns:
        layout: the same parts, with their places, and the arrows.
    """
    names = [shortened(name) for part in parts for name in part.names]
    longest = max(map(len, names), default=0)
    margin = 12 + (7 * longest + 10 if longest else 0)
    return _Plan(parts, margin).layout()


class _Plan:
    def __init__(self, parts: Sequence[Part], margin: int) -> None:
        self.parts = {part.name: part for part in parts}
        self.margin = margin
        self.gap_tops: dict[int, int] = {}  # by row: where the gap above it begins
        self.channels: dict[str, int] = {}  # lines that pass everything on the right
        self.users: dict[str, list[Part]] = defaultdict(list)
        for part in parts:
            for source in _sources(part):
                self.users[source].append(part)
        # What stands on the arrow: a matrix of parameters that only one step needs.
        self.inlaid = {
            self.users[part.name][0].name: part
            for part in parts
            if part.formula is None
            and len(self.users[part.name]) == 1
            and not set(part.letters) & set(POSITIONS)
            and _sources(self.users[part.name][0])[1:] == [part.name]
        }

    def layout(self) -> Layout:
        self._choose_rows()
        self._choose_columns()
        edges = [
            (self.parts[source], part)
            for part in self.parts.values()
            for source in dict.fromkeys(_sources(part))
            if not self._lies_on_arrow(source)
        ]
        self.straight = {
            (source.name, part.name): self._is_free(source, part)
            for source, part in edges
        }
        self._measure(edges)
        arrows = [
            self._arrow(part, part.formula)
            for part in self.parts.values()
            if part.formula
        ]
        ends = [x for one in arrows for line in one.lines for x, _ in line]
        right = max([self.right, *ends])
        bottom = max(part.y + part.size[1] for part in self.parts.values())
        return Layout(list(self.parts.values()), arrows, right + 10, bottom + 10)

    # --- rows and columns -----------------------------------------------------------

    def _lies_on_arrow(self, name: str) -> bool:
        return any(part.name == name for part in self.inlaid.values())

    def _choose_rows(self) -> None:
        for part in self.parts.values():
            below = [self.parts[source].row for source in _sources(part)]
            part.row = max(below, default=-1) + 1 + (part.name in self.inlaid)
        for part in self.parts.values():
            if part.formula is None and self.users[part.name]:
                above = [self._gap(user) for user in self.users[part.name]]
                part.row = min(above) - (not self._lies_on_arrow(part.name))
        for user, part in self.inlaid.items():
            part.row = self.parts[user].row - 1
        # Queries, keys and values that are given stand side by side.
        given = [p for p in self.parts.values() if p.role in COLUMNS and not p.formula]
        given = [part for part in given if not self._lies_on_arrow(part.name)]
        for part in given:
            part.row = min(one.row for one in given)

    def _gap(self, part: Part) -> int:
        """The row above which a part's operation stands."""
        return part.row - (part.name in self.inlaid)

    def _choose_columns(self) -> None:
        taken: set[Point] = set()
        for part in self.parts.values():
            users = self.users[part.name]
            if part.role in COLUMNS:
                part.column = COLUMNS[part.role]
            elif part.formula is None and users:
                part.column = min(COLUMNS.get(user.role, 0) for user in users)
        # What is computed keeps its column; what it starts from makes room.
        for part in sorted(self.parts.values(), key=lambda one: one.formula is None):
            while (part.row, part.column) in taken:
                part.column += 1
            taken.add((part.row, part.column))

    def _is_free(self, source: Part, part: Part) -> bool:
        """Whether a line can run down the source's own column."""
        rows = range(source.row + 1, self._gap(part))
        return not any(
            one.column == source.column and one.row in rows
            for one in self.parts.values()
        )

    # --- places ---------------------------------------------------------------------

    def _measure(self, edges: Sequence[tuple[Part, Part]]) -> None:
        """Columns as wide and rows as high as what stands in them."""
        widths = self._widths(edges)
        left = dict.fromkeys(
            sorted({p.column for p in self.parts.values()}), self.margin
        )
        for column in left:
            for row in widths.values():
                before = [one for one in row if one < column]
                if column in row and before:
                    edge = left[max(before)] + row[max(before)] + BETWEEN
                    left[column] = max(left[column], edge)
        self.right = max(
            left[column] + width
            for row in widths.values()
            for column, width in row.items()
        )
        self._number_levels(edges)
        self._stack(left)

    def _widths(
        self, edges: Sequence[tuple[Part, Part]]
    ) -> dict[float, dict[int, int]]:
        """What each row (1, 2, …) and the gap above it (0.5, …) holds, by column."""
        widths: dict[float, dict[int, int]] = defaultdict(dict)
        for part in self.parts.values():
            widths[part.row][part.column] = part.size[0]
            if part.formula:  # the label of its operation, and the line into its side
                gap = self._gap(part) - 0.5
                widest = max(map(_pill_width, part.formula.labels))
                widths[gap][part.column] = widest + STEM
        for source, part in edges:
            if self.straight[source.name, part.name]:
                for row in range(source.row + 1, self._gap(part)):
                    widths[row].setdefault(source.column, 2 * STEM)
                    widths[row - 0.5].setdefault(source.column, 2 * STEM)
                widths[self._gap(part) - 0.5].setdefault(source.column, 2 * STEM)
        return widths

    def _stack(self, left: Mapping[int, int]) -> None:
        """Rows below each other, with room for lines and labels between them."""
        y = TOP
        for row in range(max(part.row for part in self.parts.values()) + 1):
            here = [part for part in self.parts.values() if part.row == row]
            self.gap_tops[row] = y
            y += self._gap_height(row) if row else 0
            for part in here:
                part.x, part.y = left[part.column], y
            y += max((part.size[1] for part in here), default=0)

    def _number_levels(self, edges: Sequence[tuple[Part, Part]]) -> None:
        """Lines of two sources that run sideways in one gap don't meet."""
        self.levels: dict[int, list[str]] = defaultdict(list)
        for source, part in edges:
            twice = _sources(part).count(source.name) > 1
            levels = self.levels[source.row + 1]
            sideways = twice or not self._comes_down(source, part)
            if sideways and source.name not in levels:
                levels.append(source.name)

    def _main(self, part: Part) -> int:
        """Which operand comes in from above: the first, or the next in the column."""
        names = _sources(part)
        down = [self._comes_down(self.parts[name], part) for name in names]
        can_swap = part.formula is not None and (
            part.formula.labels != part.formula.commuted
        )
        return 1 if can_swap and down[:2] == [False, True] else 0

    def _comes_down(self, source: Part, part: Part) -> bool:
        straight = self.straight.get((source.name, part.name), False)
        return straight and source.column == part.column

    def _gap_height(self, row: int) -> int:
        counts = [
            len(part.formula.labels)
            for part in self.parts.values()
            if part.formula and self._gap(part) == row
        ]
        levels = LEVEL * (1 + len(self.levels[row]))
        if not counts:
            return max(BARE_GAP, levels + ARROW)
        return levels + max(counts) * (PILL + BETWEEN_PILLS) - BETWEEN_PILLS + ARROW

    # --- lines ----------------------------------------------------------------------

    def _arrow(self, part: Part, formula: Formula) -> Arrow:
        gap, x, main = self._gap(part), part.x + STEM, self._main(part)
        target = self.inlaid.get(part.name, part)
        texts = formula.commuted if main else formula.labels
        step = PILL + BETWEEN_PILLS
        top = target.y - ARROW - PILL - step * (len(texts) - 1)
        labels = [
            (text, (part.x, top + step * place, _pill_width(text), PILL))
            for place, text in enumerate(texts)
        ]
        lines = [
            [(x, y + PILL), (x, y + step if place < len(texts) - 1 else target.y)]
            for place, (_, (_, y, _, _)) in enumerate(labels)
        ]
        if target is not part:
            lines.append([(x, target.y + target.grid[1]), (x, part.y)])
        for place, name in enumerate(_sources(part)):
            if not self._lies_on_arrow(name):
                source, box = self.parts[name], labels[0][1]
                lines.append(self._line(source, part, place == main, box, gap))
        return Arrow(part.name, labels, lines, [(x, part.y)])

    def _line(
        self, source: Part, part: Part, main: bool, box: Box, gap: int
    ) -> list[Point]:
        """From below the source to the operation's first label: its top or its side."""
        x, bottom = source.x + STEM, source.y + source.grid[1]
        into, side, middle = part.x + STEM, box[0] + box[2], box[1] + PILL // 2
        straight = self.straight[source.name, part.name]
        if main and straight:
            bus = self._bus(gap, source) if x != into else box[1]
            return [(x, bottom), (x, bus), (into, bus), (into, box[1])]
        if straight and x > side:
            return [(x, bottom), (x, middle), (side, middle)]
        bus = self._bus(source.row + 1, source)
        if gap == source.row + 1:
            channel = side + STEM
        else:
            free = self.right + 2 * LEVEL * len(self.channels)
            channel = self.channels.setdefault(source.name, free)
        turns = [(x, bus), (channel, bus), (channel, middle)]
        return [(x, bottom), *turns, (side, middle)]

    def _bus(self, gap: int, source: Part) -> int:
        levels = self.levels[gap]
        level = levels.index(source.name) if source.name in levels else len(levels)
        return self.gap_tops[gap] + LEVEL * (level + 1)


def _sources(part: Part) -> list[str]:
    return [name for name, _ in part.formula.sources] if part.formula else []


def _pill_width(label: str) -> int:
    return max(2 * STEM, 7 * len(label) + 18)
