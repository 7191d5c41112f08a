"""The view of scores, width and temperature, moved and compared with PyTorch."""

import math
import re

import pytest
import torch

from helpers.views import temperature_and_width

S, D = 5, 32
WIDTHS = [2, 4, 8, 16, 32]
TEMPERATURES = [0.25, 0.5, 1, 2, 4, 8, 16, 32]
PIXELS = 320 / 50  # for one unit of score


@pytest.fixture(scope="module")
def vectors():
    """Queries (B, T, D) and keys (B, S, D)."""
    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(70, 3, D, generator=generator)
    return queries, torch.randn(70, S, D, generator=generator)


class Expected:
    """What the view must show, from the vectors and the controls."""

    def __init__(self, vectors, *, width, divided, temperature, query):
        queries, keys = (one[..., :width].double() for one in vectors)
        self.unit = math.sqrt(width)
        self.divisor = (self.unit if divided else 1) * temperature
        self.every_score = queries @ keys.mT / self.divisor
        self.scores = self.every_score.flatten(0, 1)[query - 1]
        self.weights = self.scores.softmax(0)
        self.entropy = float(torch.special.entr(self.weights).sum())
        divided = (self.scores * self.divisor / self.unit).softmax(0)
        self.compared = float(torch.special.entr(divided).sum())

    def compare(self, shown):
        spread = float(self.every_score.std())
        values = shown.values()
        assert values.number("spread") == pytest.approx(spread, abs=0.0055)
        assert values.number("entropy") == pytest.approx(self.entropy, abs=1e-3)
        assert values.number("compared") == pytest.approx(self.compared, abs=1e-3)
        for j in range(S):
            score, weight = float(self.scores[j]), float(self.weights[j])
            assert values.number(f"score {j}") == pytest.approx(score, abs=0.0055)
            assert values.number(f"weight {j}") == pytest.approx(weight, abs=5e-4)
        found = re.search(
            r"over ([\d.]+) of 5 keys; key (\d) gets .* ([\d.]+)\.$",
            values["sentence"],
        )
        assert float(found[1]) == pytest.approx(math.exp(self.entropy), abs=0.055)
        assert int(found[2]) == int(self.weights.argmax()) + 1
        assert float(found[3]) == pytest.approx(float(self.weights.max()), abs=0.0055)
        self.compare_outline(shown)

    def compare_outline(self, shown):
        """The histogram: as wide as the scores, its steps as high as their counts."""
        path = shown.page.locator('[data-value="outline"]').get_attribute("d")
        edges = [float(x) for x in re.findall(r"[MH](-?[\d.e-]+)", path)]
        ends = torch.tensor([-5.0, 5.0]).double() * self.unit / self.divisor
        expected = (160 + ends * PIXELS).tolist()
        assert [edges[0], edges[-1]] == pytest.approx(expected)
        steps = torch.tensor([float(y) for y in re.findall(r"V([\d.e-]+)H", path)])
        counts = torch.histc(self.every_score.float(), 50, *ends.tolist())
        heights = counts / counts.max() * 142
        torch.testing.assert_close(150 - steps, heights, atol=1.5, rtol=0)


def test_every_control_moves_the_numbers(show_views, vectors):
    shown = show_views(temperature_and_width(*vectors))
    chosen = {"width": 2, "divided": False, "temperature": 1, "query": 1}
    Expected(vectors, **chosen).compare(shown)
    for name, key, times, value in [
        ("width", "ArrowRight", 3, 16),
        ("query", "ArrowRight", 4, 5),
        ("temperature", "ArrowRight", 2, 4),
        ("divided", "Space", 1, True),
        ("temperature", "Home", 1, 0.25),
        ("width", "End", 1, 32),
        ("query", "End", 1, 8),
        ("temperature", "ArrowRight", 2, 1),
        ("divided", "Space", 1, False),
        ("width", "ArrowLeft", 1, 16),
    ]:
        shown.press(name, key, times)
        chosen[name] = value
        Expected(vectors, **chosen).compare(shown)
    assert shown.moved == shown.controls()


def test_it_opens_at_the_width_that_it_is_given(show_views, vectors):
    shown = show_views(temperature_and_width(*vectors, width=16))
    chosen = {"width": 16, "divided": False, "temperature": 1, "query": 1}
    Expected(vectors, **chosen).compare(shown)
    with pytest.raises(ValueError, match="width must be one of"):
        temperature_and_width(*vectors, width=12)


def test_a_temperature_of_root_d_does_what_the_division_does(show_views, vectors):
    shown = show_views(temperature_and_width(*vectors))
    names = ["spread", "entropy", *(f"weight {j}" for j in range(S))]
    shown.press("width", "ArrowRight", 3)  # 16
    shown.press("temperature", "ArrowRight", 2)  # 4
    by_temperature = shown.values()
    shown.press("temperature", "ArrowLeft", 2)
    shown.press("divided", "Space")
    by_division = shown.values()
    for name in names:
        assert by_division[name] == by_temperature[name]


def test_scores_outside_the_picture_are_counted(show_views):
    queries = torch.tensor([[[1.0, 0.0]]])
    keys = torch.tensor([[[30.0, 0.0], [-40.0, 0.0], [5.0, 0.0]]])
    shown = show_views(temperature_and_width(queries, keys))
    note = shown.page.locator(".live .note").first
    assert "the 3 of one query, 2 of them outside the picture." in note.inner_text()
    shown.press("temperature", "End")
    assert note.inner_text().endswith("the 3 of one query.")


def test_the_sentence_names_what_divides(show_views, vectors):
    shown = show_views(temperature_and_width(*vectors))
    assert shown.value("sentence").startswith("Not divided, query 1 ")
    shown.press("divided", "Space")
    assert shown.value("sentence").startswith("Divided by √2 = 1.41, ")
    shown.press("temperature", "ArrowRight")
    assert "Divided by √2 = 1.41 and by a temperature of 2," in shown.value("sentence")


def test_the_tables_hold_both_divisors_at_each_width(vectors):
    (table,) = temperature_and_width(*vectors).tables
    assert len(table.rows) == 2 * len(WIDTHS)
    for i, width in enumerate(WIDTHS):
        for divided in (False, True):
            expected = Expected(
                vectors, width=width, divided=divided, temperature=1, query=1
            )
            spread = float(expected.every_score.std())
            numbers = [spread, expected.entropy]
            assert table.cells[2 * i + divided] == pytest.approx(numbers, abs=1e-5)


def test_the_vectors_of_chapter_3_do_what_it_says():
    generator = torch.Generator().manual_seed(123)
    vectors = [torch.randn(500, 16, 1024, generator=generator) for _ in range(2)]
    state = temperature_and_width(*vectors).state
    widths = torch.tensor(state["widths"]).view(-1, 1, 1)
    scores = torch.tensor(state["scores"])  # (widths, 8, S)
    undivided, divided = scores.softmax(-1), (scores / widths.sqrt()).softmax(-1)
    assert (undivided[-1].topk(2).values.sum(-1) > 0.98).all()
    assert len(set(undivided[-1].argmax(-1).tolist())) > 4
    assert (divided[widths.flatten() >= 4] < 0.5).all()
    spreads = torch.tensor(state["spreads"]) / widths.flatten().sqrt()
    assert ((spreads - 1).abs() < 0.02).all()


def test_one_query_needs_no_choice_of_queries(show_views):
    shown = show_views(temperature_and_width(torch.ones(1, 4), torch.ones(3, 4)))
    assert shown.controls() == {"width", "divided", "temperature"}
    assert shown.number("weight 2") == pytest.approx(1 / 3, abs=1e-4)


@pytest.mark.parametrize(
    ("queries", "keys", "message"),
    [
        (torch.ones(2, 4), torch.ones(3, 5), r"agree in the last axis \(D\)"),
        (torch.ones(2, 1), torch.ones(3, 1), r"D of at least 2, got \(3, 1\)"),
        (torch.ones(2, 4), torch.ones(1, 4), r"S from 2 to 16 .* got \(1, 4\)"),
        (torch.ones(2, 4), torch.ones(17, 4), r"got \(17, 4\)"),
        (torch.ones(0, 2, 4), torch.ones(0, 3, 4), r"got \(0, 3, 4\)"),
        (torch.ones(2, 4).int(), torch.ones(3, 4), r"queries must be floating"),
    ],
)
def test_other_shapes_are_named(queries, keys, message):
    with pytest.raises(ValueError, match=message):
        temperature_and_width(queries, keys)
