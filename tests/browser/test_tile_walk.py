"""A walk over the tiles of a table, moved by keyboard and compared with PyTorch."""

import math

import pytest
import torch

from helpers.attention import sliding_window_mask
from helpers.views import tile_walk

T = 6
GENERATOR = torch.Generator().manual_seed(2)
SCORES = 2 * torch.randn(T, T, generator=GENERATOR)
VALUES = torch.randn(T, generator=GENERATOR)
NAMES = ["one", "two", "three", "four", "five", "six"]
WINDOWS = {"causal": T, "window of 4": 4}


def visible(mask):
    if mask == "none":
        return torch.ones(T, T, dtype=torch.bool)
    return sliding_window_mask(T, WINDOWS[mask])


def tiles(mask, tile):
    """Slices of rows and columns of each tile that is needed, in order."""
    parts = [slice(start, min(start + tile, T)) for start in range(0, T, tile)]
    pairs = [(rows, columns) for rows in parts for columns in parts]
    return [pair for pair in pairs if visible(mask)[pair].any()], len(pairs)


def require(shown, mask, tile, step, row):
    """What is shown after so many tiles is what the row has seen until then."""
    values = shown.values()
    needed, squares = tiles(mask, tile)
    assert values["tiles"] == f"{step} of {len(needed)}"
    skipped = f"{squares - len(needed)} hidden ones are skipped"
    assert skipped in shown.page.locator(".live").inner_text()
    if step > 0:
        rows, columns = (one.stop - one.start for one in needed[step - 1])
        assert values["held"] == str(rows * columns + 3 * rows)
    seen = torch.zeros(T, dtype=torch.bool)
    for rows, columns in needed[:step]:
        if rows.start <= row < rows.stop:
            seen[columns] = visible(mask)[row, columns]
    if not seen.any():
        assert "context" not in values or values["context"] == "none"
        return
    scores, held = SCORES[row][seen], VALUES[seen]
    powers = (scores - scores.max()).exp()
    found = {
        "largest": scores.max(),
        "sum": powers.sum(),
        "weighted": powers @ held,
        "context": scores.softmax(0) @ held,
    }
    for name, number in found.items():
        assert values.number(name) == pytest.approx(number.item(), abs=0.00051)
    if seen.equal(visible(mask)[row]):
        whole = SCORES[row].masked_fill(~visible(mask)[row], -math.inf)
        context = (whole.softmax(0) @ VALUES).item()
        assert values.number("at once") == pytest.approx(context, abs=0.00051)


@pytest.mark.slow
def test_each_step_of_each_walk_is_the_softmax_of_what_was_seen(show_views):
    shown = show_views(tile_walk(SCORES, VALUES, names=NAMES))
    require(shown, "causal", 2, 3, 3)
    shown.press("row", "End")
    require(shown, "causal", 2, 3, T - 1)
    shown.press("on", "Enter", 3)
    require(shown, "causal", 2, 6, T - 1)
    shown.press("on", "Enter")  # there is no tile behind the last
    require(shown, "causal", 2, 6, T - 1)
    shown.press("back", "Enter")
    require(shown, "causal", 2, 5, T - 1)
    shown.press("row", "ArrowLeft", 2)
    require(shown, "causal", 2, 5, 3)
    for mask in ("none", "window of 4", "causal"):
        shown.choose("mask", mask)
        for size in ("1", "4", "all", "2"):
            shown.choose("tile", size)
            tile = T if size == "all" else int(size)
            needed, _ = tiles(mask, tile)
            shown.press("step", "End")
            require(shown, mask, tile, len(needed), 3)
            shown.press("step", "Home")
            require(shown, mask, tile, 0, 3)
            steps = min(len(needed), 4)
            for step in range(1, steps + 1):
                shown.press("step", "ArrowRight")
                require(shown, mask, tile, step, 3)
    assert shown.moved == shown.controls()


def test_only_the_tile_of_the_step_has_its_scores(show_views):
    shown = show_views(tile_walk(SCORES, VALUES, names=NAMES, tile=3))
    cells = shown.page.locator(".live table").first.locator("td")
    texts = [text.strip() for text in cells.all_inner_texts()[1:]]
    step = int(shown.value("tiles").split()[0])
    rows, columns = tiles("causal", 3)[0][step - 1]
    for i in range(T):
        for j in range(T):
            inside = rows.start <= i < rows.stop and columns.start <= j < columns.stop
            if inside and j <= i:
                assert float(texts[i * T + j]) == pytest.approx(
                    SCORES[i, j].item(), abs=0.051
                )
            else:
                assert texts[i * T + j] in ("", "·")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scores": SCORES[:3]}, r"scores must have shape \(T, T\).*got \(3, 6\)"),
        ({"scores": torch.zeros(1, 1)}, r"T from 2 to 16, got \(1, 1\)"),
        ({"scores": torch.zeros(17, 17)}, r"got \(17, 17\)"),
        ({"scores": SCORES / 0}, "must be finite"),
        ({"scores": SCORES.long()}, "scores .*int64"),
        ({"values": VALUES[:4]}, r"values must have shape \(6,\).*got \(4,\)"),
        ({"names": NAMES[:4]}, "names must hold 6 texts, got 4"),
        ({"tile": 0}, "tile .*0"),
        ({"tile": 7}, "tile must lie in 1 to T = 6, got 7"),
        ({"tile": 2.0}, "tile .*2.0"),
    ],
    ids=str,
)
def test_bad_input_is_named(change, message):
    given = {"scores": SCORES, "values": VALUES, "names": NAMES} | change
    with pytest.raises(ValueError, match=message):
        tile_walk(given.pop("scores"), given.pop("values"), **given)
