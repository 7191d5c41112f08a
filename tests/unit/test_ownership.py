"""Who holds what: the figure's numbers and fills are the owners that it was given."""

import pytest
import torch

from helpers.notebook.ownership import EVERYONE, FILLS, ownership

ROWS = torch.tensor([[0, 0, 0], [1, 1, 1]])
COLUMNS = torch.tensor([[2, 3, 3], [2, 3, 3]])
ALL = torch.full((2, 3), EVERYONE)
WAYS = {
    "by texts": {"batch": ROWS, "weights": ALL},
    "by columns": {"batch": ALL, "weights": COLUMNS},
}


def numbers(axes):
    """Where each number stands: its row and its column."""
    found = torch.full(ROWS.shape, EVERYONE)
    for text in axes.texts:
        if text.get_text().isdigit():
            column, row = text.get_position()
            found[int(row), int(column)] = int(text.get_text())
    return found


def test_every_cell_tells_who_holds_it():
    picture = ownership(WAYS, title="Two ways")
    panels = [parts[name] for parts in WAYS.values() for name in parts]
    for axes, owners in zip(picture.axes, panels, strict=True):
        assert numbers(axes).equal(owners)
        words = [text.get_text() for text in axes.texts]
        assert ("everyone" in words) == owners.equal(ALL)
    assert [axes.get_title() for axes in picture.axes] == ["batch", "weights", "", ""]
    assert picture.axes[2].texts[-1].get_text() == "by columns"


def test_a_fill_covers_its_owners_cells_and_no_others():
    rows, _, _, columns = ownership(WAYS, title="Two ways").axes
    first, second = rows.patches
    for patch, row in ((first, 0), (second, 1)):
        extent = patch.get_path().get_extents()
        assert (extent.x0, extent.x1, extent.y0, extent.y1) == (0, 3, row, row + 1)
    (third,) = columns.patches  # the last process is left white
    extent = third.get_path().get_extents()
    assert (extent.x0, extent.x1, extent.y0, extent.y1) == (0, 1, 0, 2)
    assert len({patch.get_facecolor() for patch in (first, second, third)}) == 3


def test_the_text_says_whose_rows_and_columns_they_are():
    mixed = {"neither": {"batch": torch.tensor([[0, 1], [1, 0]])}}
    assert ownership(WAYS, title="Two ways").alt == (
        "Two ways. by texts: batch, rows of processes 0 1; weights, everyone has all "
        "of it. by columns: batch, everyone has all of it; weights, columns of "
        "processes 2 3 3"
    )
    alt = ownership(mixed, title="Mixed").alt
    assert alt == "Mixed. neither: batch, cells of processes 0 1 / 1 0"


@pytest.mark.parametrize(
    ("ways", "message"),
    [
        ({}, "ways must hold at least one way"),
        ({"a": {"x": ROWS}, "b": {"y": ROWS}}, r"b must have the parts \['x'\], got"),
        ({"a": {"x": ROWS[0]}}, r"x of a must be \(rows, columns\), got \(3,\)"),
        ({"a": {"x": ROWS + len(FILLS)}}, r"x of a must belong to .* 3, .*\[4, 5\]"),
        ({"a": {"x": ROWS - 1}}, r"x of a must belong to .*\[-1, 0\]"),
    ],
)
def test_what_no_process_can_hold_is_refused(ways, message):
    with pytest.raises(ValueError, match=message):
        ownership(ways, title="")
