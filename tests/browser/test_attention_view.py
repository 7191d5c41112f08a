"""Attention weights as lines and as a map, moved by keyboard, compared with PyTorch."""

import pytest
import torch

from helpers.views import attention_view
from helpers.views.view import bundle

L, H, T, S = 2, 3, 5, 7
QUERIES = ["je", "ne", "sais", "pas", "ne"]
KEYS = ["I", "do", "not", "know", "why", " ", "not"]
GENERATOR = torch.Generator().manual_seed(5)
WEIGHTS = (2 * torch.randn(L, H, T, S, generator=GENERATOR)).softmax(dim=-1)
CLOSE = 0.0051  # shown with two decimals


@pytest.fixture
def shown(show_views):
    return show_views(attention_view(QUERIES, WEIGHTS, keys=KEYS))


def numbers(shown, side, count):
    """What stands beside the tokens of a column, "" where nothing does."""
    values = shown.values()
    return [values[f"{side} {i}"] for i in range(count)]


def drawn_lines(shown):
    """The lines that can be seen."""
    return shown.page.locator('.live svg g:not([display="none"]) line').count()


def assert_map(shown, weights):
    values = shown.values()
    for i, row in enumerate(weights.tolist()):
        for j, weight in enumerate(row):
            assert values.number(f"weight {i} {j}") == pytest.approx(weight, abs=CLOSE)


def assert_query(shown, weights, index):
    row = weights[index]
    assert [float(text) for text in numbers(shown, "keys", S)] == pytest.approx(
        row.tolist(), abs=CLOSE
    )
    assert numbers(shown, "queries", T) == [""] * T
    assert drawn_lines(shown) == S
    sentence = shown.value("sentence")
    assert f"{QUERIES[index]}\u2069" in sentence.partition(" asks")[0]
    best = KEYS[row.argmax()].replace(" ", "␣")
    assert f"It gives \u2068{best}\u2069" in sentence
    assert f"the most, {row.max():.2f}; its weights sum to 1.00." in sentence


def assert_key(shown, weights, index):
    column = weights[:, index]
    assert [float(text) for text in numbers(shown, "queries", T)] == pytest.approx(
        column.tolist(), abs=CLOSE
    )
    assert numbers(shown, "keys", S) == [""] * S
    assert drawn_lines(shown) == T
    sentence = shown.value("sentence")
    assert f"\u2068{QUERIES[column.argmax()]}\u2069" in sentence.partition(" gives")[0]
    assert f"the most, {column.max():.2f}" in sentence
    total = float(sentence.rpartition("in all it gets ")[2].rstrip("."))
    assert total == pytest.approx(float(column.sum()), abs=CLOSE)


def test_each_token_shows_its_own_lines_and_numbers(shown):
    first = WEIGHTS[0, 0]
    assert_map(shown, first)
    assert drawn_lines(shown) == int((first >= 0.004).sum())
    assert f"the weight {first.max():.2f}." in shown.value("sentence")

    shown.press("queries", "ArrowDown", 2)  # the focus itself chooses the first
    assert_query(shown, first, 2)
    shown.press("queries", "End")
    assert_query(shown, first, T - 1)
    assert "\u2068ne\u2069 at 4 asks" in shown.value("sentence")
    shown.press("queries", "ArrowUp")
    assert_query(shown, first, T - 2)
    shown.press("queries", "Home")
    assert_query(shown, first, 0)

    shown.press("keys", "ArrowDown", 3)
    assert_key(shown, first, 3)
    shown.press("keys", "ArrowDown", 30)
    assert_key(shown, first, S - 1)

    shown.press("head", "ArrowDown", 2)
    assert_map(shown, WEIGHTS[0, 2])
    assert_key(shown, WEIGHTS[0, 2], S - 1)
    shown.press("layer", "ArrowDown")
    assert_map(shown, WEIGHTS[1, 2])
    assert_key(shown, WEIGHTS[1, 2], S - 1)

    shown.press("show all", "Enter")
    assert numbers(shown, "queries", T) == [""] * T
    assert drawn_lines(shown) == int((WEIGHTS[1, 2] >= 0.004).sum())
    shown.press("queries", "ArrowDown")
    assert_query(shown, WEIGHTS[1, 2], 1)
    shown.press("queries", "Escape")
    assert f"the weight {WEIGHTS[1, 2].max():.2f}." in shown.value("sentence")
    assert shown.moved == shown.controls()


def test_the_chosen_row_and_column_are_framed_in_the_map(shown):
    def framed():
        cells = shown.page.locator(".live td.chosen").all()
        return [cell.get_attribute("data-value") for cell in cells]

    assert framed() == []
    shown.press("queries", "ArrowDown")
    assert framed() == [f"weight 1 {j}" for j in range(S)]
    shown.press("keys", "ArrowDown", 2)
    assert framed() == [f"weight {i} 2" for i in range(T)]


def test_the_mouse_shows_a_token_for_a_while_and_a_click_keeps_it(shown):
    first = WEIGHTS[0, 0]
    names = shown.page.locator('.live [data-control="keys"] .name')
    names.nth(4).hover()
    assert_key(shown, first, 4)
    shown.page.mouse.move(1, 1)
    assert numbers(shown, "queries", T) == [""] * T
    names.nth(0).click()
    shown.page.mouse.move(1, 1)
    assert_key(shown, first, 0)
    names.nth(0).click()
    shown.page.mouse.move(1, 1)
    assert numbers(shown, "queries", T) == [""] * T


def test_a_line_is_wider_and_stronger_for_a_larger_weight(shown):
    shown.press("queries", "ArrowDown")
    row = WEIGHTS[0, 0, 1]
    lines = shown.page.locator('.live svg g:not([display="none"]) line').all()
    for name in ("stroke-width", "stroke-opacity"):
        sizes = torch.tensor([float(line.get_attribute(name)) for line in lines])
        assert torch.equal(sizes.argsort(), row.argsort())


def test_a_mask_hatches_what_may_not_be_attended_to(show_views):
    mask = torch.ones(4, 4).tril().bool()
    weights = torch.rand(4, 4).masked_fill(~mask, -1e9).softmax(dim=-1)
    shown = show_views(attention_view("abcd", weights, mask=mask))
    hatched = shown.page.locator(".live td.off").all()
    names = {cell.get_attribute("data-value") for cell in hatched}
    assert names == {f"weight {i} {j}" for i in range(4) for j in range(i + 1, 4)}
    assert shown.controls() == {"queries", "keys", "show all"}


def test_layers_and_heads_go_by_their_names(show_views):
    names = {"layers": ["first", "second"], "heads": [1, 2, 3]}
    view = attention_view(QUERIES, WEIGHTS, keys=KEYS, **names)
    assert view.tables[0].caption == "Weights of layer first, head 1"
    shown = show_views(view)
    assert_map(shown, WEIGHTS[0, 0])
    shown.choose("layer", "second")
    shown.choose("head", "3")
    assert_map(shown, WEIGHTS[1, 2])
    for control, expected in zip(("layer", "head"), names.values(), strict=True):
        options = shown.control(control).locator("option").all_text_contents()
        assert options == [str(name) for name in expected]


BIG = 64
TIMES = """() => {
    const column = document.querySelector('.live [data-control="queries"]');
    column.focus();
    const times = [];
    for (let i = 0; i < 63; i += 1) {
        const start = performance.now();
        column.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown" }));
        document.body.getBoundingClientRect();
        times.push(performance.now() - start);
    }
    return times.sort((one, other) => one - other);
}"""


def test_64_tokens_follow_at_once(show_views):
    weights = torch.randn(4, 4, BIG, BIG, generator=GENERATOR).softmax(dim=-1)
    shown = show_views(attention_view([f"w{i}" for i in range(BIG)], weights))
    times = shown.page.evaluate(TIMES)
    quick = times[BIG // 8]  # a busy machine interrupts the others
    assert quick < 50, f"{quick} ms to move the focus"
    row = weights[0, 0, BIG - 1]
    shown_numbers = [float(text) for text in numbers(shown, "keys", BIG)]
    assert shown_numbers == pytest.approx(row.tolist(), abs=CLOSE)

    # The map is drawn as points: their strength is the weight's share of the largest.
    shown.choose("head", "3")
    shown.choose("layer", "1")
    alpha = shown.page.evaluate(
        """() => {
            const canvas = document.querySelector(".live canvas");
            const picture = canvas.getContext("2d").getImageData(0, 0, 64, 64);
            return [...picture.data].filter((_, i) => i % 4 === 3);
        }"""
    )
    expected = 255 * weights[1, 3] / weights[1, 3].max()
    got = torch.tensor(alpha, dtype=torch.float32).view(BIG, BIG)
    torch.testing.assert_close(got, expected, atol=0.6, rtol=0.002)
    canvas = shown.page.locator(".live canvas")
    height = canvas.bounding_box()["height"]
    canvas.hover(position={"x": 5, "y": height * 10.5 / BIG})
    assert shown.number("keys 3") == pytest.approx(
        float(weights[1, 3, 10, 3]), abs=CLOSE
    )


def test_another_module_hands_in_new_weights_while_the_view_lives(show_views):
    shown = show_views(attention_view(QUERIES, WEIGHTS, keys=KEYS))
    page = shown.page
    page.add_script_tag(
        content=f"{{ {bundle('attention_map')}; window.made = attentionMap }}"
    )
    one, two = WEIGHTS[:1, :1, :2, :2], WEIGHTS[:, :2, :3, :3]
    page.evaluate(
        """([tokens, weights]) => {
            const live = document.querySelector(".live");
            window.map = made({ tokens, weights, heads: ["a", "b"], live: false });
            live.replaceChildren(window.map.element);
        }""",
        [["x", "y"], one.tolist()],
    )
    assert shown.controls() == {"queries", "keys", "show all"}
    assert page.locator(".live [aria-live]").count() == 0
    shown.press("queries", "ArrowDown")
    assert shown.number("keys 0") == pytest.approx(float(one[0, 0, 1, 0]), abs=CLOSE)

    change = "([weights, tokens]) => window.map.update(weights, tokens ?? undefined)"
    page.evaluate(change, [two.tolist(), ["x", "y", "z"]])
    for j in range(3):
        assert shown.number(f"keys {j}") == pytest.approx(
            float(two[0, 0, 1, j]), abs=CLOSE
        )
    shown.choose("head", "b")
    shown.choose("layer", "1")
    assert shown.number("weight 2 1") == pytest.approx(
        float(two[1, 1, 2, 1]), abs=CLOSE
    )
    page.evaluate(change, [one.tolist(), ["x", "y"]])  # one layer and head again
    assert shown.number("weight 1 1") == pytest.approx(
        float(one[0, 0, 1, 1]), abs=CLOSE
    )
    page.evaluate(change, [two[:, :, :2, :2].tolist(), None])
    assert shown.number("weight 0 1") == pytest.approx(
        float(two[0, 0, 0, 1]), abs=CLOSE
    )


@pytest.mark.parametrize(
    ("weights", "shape"),
    [
        (WEIGHTS[0, 0], (1, 1, T, S)),
        (WEIGHTS[0], (1, H, T, S)),
        (WEIGHTS, (L, H, T, S)),
        (list(WEIGHTS), (L, H, T, S)),
        ([layer.unsqueeze(0) for layer in WEIGHTS], (L, H, T, S)),
        (WEIGHTS[:1].clone().requires_grad_(), (1, H, T, S)),
    ],
)
def test_weights_come_in_the_shapes_that_models_return(weights, shape):
    state = attention_view(QUERIES, weights, keys=KEYS).state
    got = torch.tensor(state["weights"])
    assert got.shape == shape
    torch.testing.assert_close(got, WEIGHTS[: shape[0], : shape[1]])


def test_it_begins_with_the_layer_the_head_and_the_query_that_are_asked_for(show_views):
    view = attention_view(
        QUERIES, WEIGHTS, keys=KEYS, heads="abc", layer="1", head="c", query=4
    )
    assert "Weights of layer 1, head c" in view._repr_html_()
    shown = show_views(view)
    assert shown.control("layer").input_value() == "1"
    assert shown.control("head").input_value() == "c"
    assert_map(shown, WEIGHTS[1, 2])
    assert_query(shown, WEIGHTS[1, 2], 4)
    shown.press("show all", "Enter")
    assert drawn_lines(shown) > S
    shown.press("queries", "Home")
    assert_query(shown, WEIGHTS[1, 2], 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": WEIGHTS.unsqueeze(0)}, r"weights must have shape .*, got \(1, 2"),
        ({"weights": [WEIGHTS[0], WEIGHTS[1, :2]]}, r"all of one shape, got \[\(3, 5"),
        ({"weights": []}, r"list of tensors .* got \[\]"),
        (
            {"weights": [WEIGHTS[0].tolist()]},
            r"weights must be a torch.Tensor, got list",
        ),
        ({"weights": WEIGHTS.long()}, r"weights must be floating point"),
        ({"weights": WEIGHTS.log()}, r"weights must be finite and at least 0"),
        ({"weights": WEIGHTS / 0}, r"weights must be finite and at least 0"),
        ({"tokens": QUERIES[1:]}, r"tokens must hold T = 5 names, .* got 4"),
        ({"layers": [1]}, r"layers must hold L = 2 names, .* got 1"),
        ({"heads": [1, 2]}, r"heads must hold H = 3 names, .* got 2"),
        ({"heads": [1, 2, 2]}, r"heads must be all distinct, got \['1', '2', '2'\]"),
        ({"layer": 2}, r"layer must be one of \['0', '1'\], got 2"),
        ({"heads": "abc", "head": 0}, r"head must be one of \['a', 'b', 'c'\], got 0"),
        ({"query": T}, r"query must be in 0 to T - 1 = 4, got 5"),
        ({"query": -1}, r"query must be in 0 to T - 1 = 4, got -1"),
        ({"keys": KEYS[1:]}, r"keys must hold S = 7 names, .* got 6"),
        ({"keys": None}, r"keys must hold S = 7 names, .* got 5"),
        ({"mask": torch.ones(T, T).bool()}, r"mask must broadcast .*\(5, 7\)"),
        ({"mask": torch.ones(T, S)}, r"mask must be a boolean tensor"),
        ({"mask": [[True]]}, r"mask must be a torch.Tensor, got list"),
    ],
)
def test_bad_input_is_named(options, message):
    usual = {"tokens": QUERIES, "weights": WEIGHTS, "keys": KEYS}
    with pytest.raises(ValueError, match=message):
        attention_view(**(usual | options))
