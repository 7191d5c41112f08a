"""helpers.notebook.matrices: the steps of a computation with their numbers."""

import pytest
import torch

from helpers.notebook.matrices import matrices

X, SHARES = torch.eye(2), torch.tensor([[0.25, 0.75], [1.0, 0.0]])
OPTIONS = {
    "rows": ["cook", "it"],
    "columns": {"x": ["a", "b"], "weights": ["cook", "it"]},
    "roles": {"x": "neutral", "weights": "weights"},
}


def test_every_number_stands_in_its_place_and_one_row_is_bold():
    picture = matrices([{"x": X}, {"weights": SHARES}], **OPTIONS, bold="it")
    texts = picture.axes[0].texts
    written = [text.get_text() for text in texts]
    for wanted in ("x", "weights", "cook", "it", "0.25", "0.75", "1.00", "1", "0"):
        assert wanted in written
    bold = {text.get_text() for text in texts if text.get_weight() == "bold"}
    assert bold == {"it", "0", "1", "1.00", "0.00"}
    assert picture.alt == "x. it: 0, 1. weights. it: 1.00, 0.00"
    places = {text.get_text(): text.get_position() for text in texts}
    assert places["0.25"][0] < places["0.75"][0]
    assert places["0.25"][1] < places["1.00"][1]  # the axis points downwards


def test_without_a_bold_row_all_are_told():
    picture = matrices([{"weights": SHARES}], **OPTIONS)
    assert picture.alt == "weights. cook: 0.25, 0.75; it: 1.00, 0.00"


@pytest.mark.parametrize("steps", [[], [{"x": torch.eye(3)}], [{"y": X}]])
def test_labels_count_rows_and_columns(steps):
    with pytest.raises(ValueError, match="matrices must have the shapes"):
        matrices(steps, **OPTIONS)


def test_a_cell_without_a_number_is_empty_and_a_title_stands_above():
    gap = torch.tensor([[1.0, 2.0], [torch.nan, 3.0]])
    columns, roles = {"x": ["a", "b"]}, {"x": "keys"}
    picture = matrices(
        [{"x": gap}], rows=["one", "sum"], columns=columns, roles=roles, title="Why"
    )
    assert picture.alt == "Why. x. one: 1, 2; sum: 3"
    texts = {text.get_text(): text.get_position()[1] for text in picture.axes[0].texts}
    assert texts["Why"] < texts["x"]
    assert "nan" not in texts
    assert len(picture.axes[0].patches) == 3
