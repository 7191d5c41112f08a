"""All heads of a model: walked, ranked and switched off, compared with PyTorch."""

import json
import re
import time

import pytest
import torch

from helpers.models import induction
from helpers.models.encoder import TransformerEncoder
from helpers.models.head_reading import HeadReader, pack_weights
from helpers.models.transformer_block import TransformerConfig
from helpers.text.tokenizer import CharTokenizer
from helpers.views import all_heads
from helpers.views.explore_live import BOX
from tests.conftest import LONGEST_WAIT
from tests.samples import models

L, H = 2, 6
TOKENIZER = CharTokenizer("abc def\nXY")
TEXTS = ["ab cab", "fed"]
CLOSE = 0.0051 + 0.5 / 255  # shown with two decimals, kept in 8 bits
COLOURS = {"light": (163, 71, 125), "dark": (235, 163, 203)}  # of weights, on the page


def made():
    """A model whose heads differ, and what reads with it."""
    model = models.model(vocab_size=10)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return HeadReader(model, TOKENIZER)


READER = made()
READINGS = [READER.read_without_each(text) for text in TEXTS]


def ids(text):
    return torch.tensor([TOKENIZER.encode(text)])


def weights_of(text):
    """(L, H, T, T)"""
    with torch.no_grad():
        _, weights = READER.model(ids(text), return_weights=True)
    return torch.cat(weights)


@pytest.fixture
def shown(show_views):
    return show_views(all_heads(READINGS))


def ranking(shown):
    """The names and the numbers of the list."""
    names = shown.page.locator(".live .head-name").all_inner_texts()
    values = shown.values()
    return names, [values.number(f"rank {i}") for i in range(len(names))]


def assert_ranked(shown, scores, *, low=False):
    """The list has the heads with the most, or the least, in order."""
    names, numbers = ranking(shown)
    order = scores.flatten().sort(descending=not low).values[: len(numbers)]
    assert len(numbers) == 8
    assert numbers == pytest.approx(order.tolist(), abs=2 * CLOSE)
    for name, number in zip(names, numbers, strict=True):
        layer, head = map(int, name.split("."))
        assert number == pytest.approx(float(scores[layer, head]), abs=2 * CLOSE)


def point(shown, layer, head, columns=L, size=34):
    """Where a head's square is in the map: in its middle."""
    left, top, foot = 32, 18, 6
    down = layer // columns * (top + H * size + foot) + top
    across = left + (layer % columns + 0.5) * size
    return {"x": across, "y": down + (head + 0.5) * size}


def colour(shown, place):
    """Red, green, blue and strength of a point of the map."""
    return shown.page.evaluate(
        """([x, y]) => {
            const canvas = document.querySelector(".live .head-map canvas");
            const scale = canvas.width / canvas.getBoundingClientRect().width;
            const copy = new OffscreenCanvas(1, 1).getContext("2d");
            copy.drawImage(canvas, -Math.round(x * scale), -Math.round(y * scale));
            return [...copy.getImageData(0, 0, 1, 1).data];
        }""",
        [place["x"], place["y"]],
    )


def strength(shown, layer, head, theme="light"):
    """How much colour a square has, from 0 to 1: beside the faint ground's."""
    *rgb, alpha = colour(shown, point(shown, layer, head))
    ground = 0.07  # of the text's colour, over which the weight's lies
    total = alpha / 255
    share = (total - ground) / (1 - ground)
    if share > 0.3:
        mean = [abs(got - full) for got, full in zip(rgb, COLOURS[theme], strict=True)]
        assert max(mean) < 60, rgb
    return share


def test_two_tokens_say_which_heads_look_from_one_to_the_other(shown):
    weights = weights_of(TEXTS[0])
    assert shown.value("sentence") == "Layer 0, head 0."
    assert "Choose a query and a key" in shown.value("caption")
    assert "ranking" not in shown.controls()

    shown.press("query", "ArrowRight", 5)
    values = shown.values()
    for j in range(6):
        share = values.number(f"key {j}")
        assert share == pytest.approx(float(weights[0, 0, 4, j]), abs=CLOSE)
    assert "a column for each token" in values["caption"]
    assert_ranked(shown, weights[:, :, 4].amax(-1))

    shown.press("key", "ArrowRight", 4)
    assert_ranked(shown, weights[:, :, 4, 3])
    sentence = shown.value("sentence")
    assert "“\u2068a\u2069” at 4 gives “\u2068c\u2069” 0." in sentence
    number = float(re.search(r"0\.\d\d", sentence)[0])
    assert number == pytest.approx(float(weights[0, 0, 4, 3]), abs=CLOSE)
    assert "the more “\u2068a\u2069” at 4 looks at" in shown.value("caption")
    for layer in range(L):
        for head in range(1, H):  # the chosen one is framed
            got = strength(shown, layer, head)
            assert got == pytest.approx(float(weights[layer, head, 4, 3]), abs=0.02)

    shown.press("ranking", "Home")
    name = ranking(shown)[0][0]
    layer, head = name.split(".")
    assert f"Layer {layer}, head {head}: " in shown.value("sentence")
    values = shown.values()
    for i in range(6):
        for j in range(6):
            number = values.number(f"weight {i} {j}")
            expected = float(weights[int(layer), int(head), i, j])
            assert number == pytest.approx(expected, abs=CLOSE)

    shown.press("query", "Escape")
    assert "the more that one looks at “\u2068c\u2069”" in shown.value("caption")
    assert_ranked(shown, weights[..., 3].amax(-1))
    shown.press("key", "Escape")
    assert "ranking" not in shown.controls()


def test_each_score_is_the_librarys(shown):
    weights = weights_of(TEXTS[0])
    rows = weights[:, :, 1:]
    entropy = -(rows * rows.clamp_min(1e-12).log()).sum(-1).mean(-1)
    model, text = READER.model, ids(TEXTS[0])
    scores = {
        "rests on the first token": rows[..., 0].mean(-1),
        "looks one token back": induction.previous_token(model, text),
        "looks behind an earlier copy (induction)": induction.prefix_matching(
            model, text
        ),
        "looks at itself": weights.diagonal(dim1=-2, dim2=-1)[..., 1:].mean(-1),
        "is sharp (entropy in nats, lowest first)": entropy,
    }
    for name, numbers in scores.items():
        shown.choose("score", name)
        assert_ranked(shown, numbers, low=name.startswith("is sharp"))
        assert "the stronger its colour, the " in shown.value("caption")
    # The last one is low: strong where the entropy is small beside ln 6.
    got = strength(shown, 1, 3)
    expected = 1 - float(entropy[1, 3]) / float(torch.tensor(6.0).log())
    assert got == pytest.approx(expected, abs=0.04)
    options = shown.control("score").locator("option").all_inner_texts()
    assert options[1:-1] == list(scores)

    shown.choose("text", TEXTS[1])  # no token comes again
    options = shown.control("score").locator("option").all_inner_texts()
    assert not [one for one in options if "earlier copy" in one]
    assert shown.control("score").input_value().startswith("is sharp")
    shown.press("query", "End")  # a token asks for weights again
    assert shown.control("score").input_value() == "weight from the query to the key"


def test_what_numbers_in_nats_mean_stands_beside_them(shown):
    assert shown.value("unit") == ""
    shown.choose("score", "is sharp (entropy in nats, lowest first)")
    assert "the same to all 6, it would be ln 6 = 1.79 nats." in shown.value("unit")
    shown.choose("score", "is missed by the next token (nats lost)")
    assert "A loss of 1 nat leaves a token 1/e of its probability" in shown.value(
        "unit"
    )
    shown.choose("score", "looks at itself")
    assert shown.value("unit") == ""


def test_the_list_names_the_token_that_the_largest_weight_is_on(shown):
    """Of the chosen query; of a key alone, the one that it comes from."""
    weights = weights_of(TEXTS[0])
    tokens = READER.read(TEXTS[0])["tokens"]

    def assert_names(rows):
        for i, name in enumerate(ranking(shown)[0]):
            layer, head = map(int, name.split("."))
            told = shown.value(f"strongest {i}")
            token, _, place = told.partition(" at ")
            best = int(place) if place else tokens.index(token.replace("␣", " "))
            assert (tokens.count(tokens[best]) > 1) == bool(place)
            assert token == tokens[best].replace(" ", "␣")
            row = rows[layer, head]
            assert float(row[best]) == pytest.approx(float(row.max()), abs=1 / 255)

    shown.press("query", "ArrowRight", 5)
    assert_names(weights[:, :, 4])
    shown.press("key", "Home")
    assert "strongest 0" not in shown.values()
    shown.press("query", "Escape")
    assert_names(weights[..., 0])
    shown.choose("score", "looks at itself")
    assert "strongest 0" not in shown.values()


def test_numbers_of_the_list_that_are_all_the_same_are_explained(show_views):
    reading = READER.read(TEXTS[0])
    weights = torch.zeros(L, H, 6, 6)
    weights[..., 0] = 1.0
    same = {**reading, "weights": pack_weights(weights, causal=True)}
    shown = show_views(all_heads([same, READINGS[1]]))
    shown.press("query", "End")
    assert shown.value("ties") == (
        "12 heads have 1.00, to two decimals. Each gives nearly all its weight to one "
        "token, which stands beside it. Choose a key, and they are ranked by that one "
        "alone."
    )
    shown.press("key", "ArrowRight", 2)
    assert shown.value("ties") == "12 heads have 0.00, to two decimals."
    shown.choose("score", "rests on the first token")
    assert shown.value("ties") == "12 heads have 1.00, to two decimals."


def test_a_key_behind_the_query_is_out_of_its_sight(shown):
    shown.press("query", "ArrowRight", 2)
    ahead = (
        "(side) => [...document.querySelectorAll(`.live [data-control=${side}] > *`)]"
    )
    ahead += ".map((one) => one.classList.contains('ahead') && /gradient/.test("
    ahead += "getComputedStyle(one).backgroundImage))"
    assert shown.page.evaluate(ahead, "key") == [False] * 2 + [True] * 4
    assert shown.page.evaluate(ahead, "query") == [False] * 6
    shown.press("key", "ArrowRight", 4)
    assert shown.page.evaluate(ahead, "query") == [True] * 3 + [False] * 3
    words = "“\u2068b\u2069” at 1 can't look at “\u2068c\u2069”, which comes later."
    values = shown.values()
    assert values["sentence"] == f"Layer 0, head 0: {words}"
    assert values["caption"].endswith(words)
    assert values["count"].startswith("No head is ranked: a token sees only itself")
    assert "ranking" not in shown.controls()
    shown.press("query", "End")
    assert "ranking" in shown.controls()


def test_signs_and_arcs_are_explained(show_views):
    reader = READER.read("a b\nc")
    shown = show_views(all_heads([reader, *READINGS]))
    signs = "␣ is a space that belongs to its token, ↵ is a line break. "
    assert shown.value("signs") == (
        f"{signs}The thicker an arc, the larger the weight; one below 0.02 has no arc. "
        "Hatched: out of sight, since a token sees only itself and those before it."
    )
    shown.choose("text", TEXTS[1])
    assert shown.value("signs").startswith("The thicker an arc")


def test_heads_with_less_than_a_limit_are_left_out(shown):
    shown.choose("score", "looks one token back")
    scores = induction.previous_token(READER.model, ids(TEXTS[0]))
    before = [strength(shown, 1, head) for head in range(H)]
    shown.press("least", "ArrowRight", 4)
    kept = int((scores >= 0.2).sum())
    assert shown.value("count") == f"{kept} of {L * H} heads have at least 0.20:"
    assert 0 < kept < L * H
    for head in range(H):
        now = strength(shown, 1, head)
        if scores[1, head] >= 0.2:
            assert now == pytest.approx(before[head], abs=0.01)
        else:
            assert now < 0.04


def test_a_head_is_switched_off_and_on_again(shown):
    shown.choose("score", "is missed by the next token (nats lost)")
    shown.press("ranking", "Home")
    name = ranking(shown)[0][0]
    place = tuple(map(int, name.split(".")))

    def assert_side(side, expected):
        values = shown.values()
        for i, (token, share) in enumerate(expected):
            told = values[f"{side} token {i}"]
            assert told == token.replace(" ", "␣").replace("\n", "↵")
            assert values.number(f"{side} {i}") == pytest.approx(share, abs=0.0051)

    assert_side("before", READINGS[0]["next"])
    assert "after 0" not in shown.values()
    shown.press("switch", "Enter")
    assert_side("before", READINGS[0]["next"])
    assert_side("after", READER.next_without(TEXTS[0], [place]))
    assert f"Without head {name}, " in shown.value("lost")
    assert shown.control("switch").inner_text() == f"Switch head {name} on again"
    assert shown.value("off") == f"Off now: head {name}."

    shown.press("head", "ArrowUp" if place[1] else "ArrowDown")
    assert shown.control("switch").inner_text().endswith(" off")
    shown.press("switch", "Enter")  # on a page one head is off
    other = (place[0], place[1] - 1 if place[1] else 1)
    assert_side("after", READER.next_without(TEXTS[0], [other]))
    assert shown.page.evaluate("document.activeElement.dataset.control") == "switch"
    shown.press("all on", "Enter")
    assert "after 0" not in shown.values()
    assert shown.value("off") == "Now: all heads on."
    assert "all on" not in shown.controls()
    assert shown.page.evaluate("document.activeElement.dataset.control") == "switch"


def test_each_control_is_moved(shown):
    shown.press("query", "ArrowDown", 3)
    shown.press("key", "ArrowDown")
    shown.press("head", "ArrowRight")
    assert "Layer 1, head 0" in shown.value("sentence")
    assert shown.control("head").get_attribute("aria-valuenow") == str(H)
    said = shown.control("head").get_attribute("aria-valuetext")
    assert said.startswith("1.0: “")
    shown.press("head", "ArrowDown", 30)
    assert "Layer 1, head 5" in shown.value("sentence")
    shown.press("head", "ArrowLeft", 2)
    shown.press("head", "ArrowUp")
    assert "Layer 0, head 4" in shown.value("sentence")
    shown.press("ranking", "ArrowDown")
    shown.press("switch", "Enter")
    shown.press("all on", "Enter")
    shown.press("least", "ArrowRight")
    shown.choose("score", "looks at itself")
    shown.choose("text", TEXTS[1])
    assert "query 3" not in shown.values()
    shown.press("query", "Home")  # back to weights
    assert shown.moved - {"all on"} == shown.controls()


def test_the_mouse_shows_a_token_for_a_while_and_a_click_keeps_it(shown):
    weights = weights_of(TEXTS[0])
    tokens = shown.control("query").locator("[role=option]")
    tokens.nth(5).hover()
    on = "“\u2068b\u2069” at 5"
    assert shown.value("asked") == (
        f"Query: {on} under the mouse, none chosen. Key: none chosen. Below each key: "
        "the weight that the query gives it. Places are counted from 0."
    )
    framed = "(one) => [getComputedStyle(one).outlineStyle, one.ariaSelected]"
    assert tokens.nth(5).evaluate(framed) == ["dashed", "false"]
    assert shown.number("key 2") == pytest.approx(float(weights[0, 0, 5, 2]), abs=CLOSE)
    shown.page.mouse.move(1, 1)
    assert shown.value("key 2") == ""
    tokens.nth(4).click()
    shown.page.mouse.move(1, 1)
    assert tokens.nth(4).evaluate(framed) == ["none", "true"]
    chosen = "“\u2068a\u2069” at 4"
    assert shown.value("asked") == (
        f"Query: {chosen} chosen. Key: none chosen. Below each key: the weight that "
        "the query gives it. Places are counted from 0."
    )
    words = f"heads by the largest weight of {chosen} (no key is chosen):"
    assert shown.value("count").endswith(words)
    tokens.nth(5).hover()  # the ranking stays that of the chosen one
    assert shown.value("count").endswith(words)
    assert shown.value("asked").startswith(f"Query: {on} under the mouse, {chosen} ch")
    shown.control("key").locator("[role=option]").nth(0).click()
    shown.page.mouse.move(1, 1)
    assert_ranked(shown, weights[:, :, 4, 0])
    tokens.nth(4).click()  # let go again
    shown.page.mouse.move(1, 1)
    assert_ranked(shown, weights[..., 0].amax(-1))
    shown.page.locator('.live [data-value="weight 3 2"]').click()
    shown.page.mouse.move(1, 1)
    assert_ranked(shown, weights[:, :, 3, 2])


def test_a_square_is_told_and_taken_by_the_mouse(shown):
    shown.press("query", "End")
    shown.press("key", "Home")
    weights = weights_of(TEXTS[0])
    canvas, tip = shown.page.locator(".live canvas"), shown.page.locator(".live .tip")
    assert not tip.is_visible()
    canvas.hover(position=point(shown, 1, 3))
    said = re.fullmatch(r"1\.3: .* gives .* (\d\.\d\d)", tip.inner_text())
    assert float(said[1]) == pytest.approx(float(weights[1, 3, 5, 0]), abs=CLOSE)
    canvas.hover(position={"x": 3, "y": 3})
    assert not tip.is_visible()
    canvas.click(position=point(shown, 1, 3))
    assert "Layer 1, head 3" in shown.value("sentence")


def test_the_map_follows_the_page_into_the_dark(show_views):
    shown = show_views(all_heads(READINGS, query=1, key=0))
    weights = weights_of(TEXTS[0])
    strong = max(range(1, H), key=lambda head: weights[1, head, 1, 0])
    assert weights[1, strong, 1, 0] > 0.5
    assert strength(shown, 1, strong) > 0.45
    light = colour(shown, point(shown, 1, strong))
    shown.page.evaluate("document.body.style.color = '#ced6dd'")
    shown.page.evaluate("document.body.classList.add('anything')")
    shown.page.wait_for_selector(".aos-view.dark")
    ends = time.monotonic() + LONGEST_WAIT
    while colour(shown, point(shown, 1, strong)) == light:  # until it is drawn anew
        assert time.monotonic() < ends
        shown.page.wait_for_timeout(20)
    assert strength(shown, 1, strong, "dark") > 0.45


def wide(layers, heads, T, **changes):
    """A reading of weights drawn at random."""
    generator = torch.Generator().manual_seed(2)
    weights = torch.rand(layers, heads, T, T, generator=generator).tril()
    weights = weights / weights.sum(-1, keepdim=True)
    names = [f" word{i}" for i in range(T)]
    reading = {"text": "".join(names), "tokens": names, "same": list(range(T))}
    reading |= {"layers": layers, "heads": heads, "causal": True, "next": None}
    packed = pack_weights(weights, causal=True)
    return weights, reading | {"weights": packed} | changes


def test_layers_that_do_not_fit_go_on_in_a_band_below(show_views):
    weights, reading = wide(30, H, 20)
    shown = show_views(all_heads([reading], query=7, key=2))
    canvas = shown.page.locator(".live .head-map canvas")
    heights = {}
    for width, columns in ((1280, 30), (375, 15)):
        shown.page.set_viewport_size({"width": width, "height": 900})
        shown.page.wait_for_timeout(100)
        inner = shown.page.locator(".live .head-map").evaluate("one => one.clientWidth")
        size = min(34, (inner - 32) // columns)
        heights[width] = canvas.bounding_box()["height"]
        assert canvas.bounding_box()["width"] <= inner + 1
        shown.page.mouse.move(0, 0)
        canvas.click(position=point(shown, 17, 4, columns, size))
        assert "Layer 17, head 4" in shown.value("sentence")
        number = float(re.search(r"(\d\.\d\d)\.$", shown.value("sentence"))[1])
        assert number == pytest.approx(float(weights[17, 4, 7, 2]), abs=CLOSE)
        shown.press("head", "ArrowLeft")
    assert heights[375] > 1.3 * size * H
    assert shown.value("lost").startswith("This model reads in both directions")
    assert "switch" not in shown.controls()


def test_270_heads_follow_the_mouse_at_once(show_views):
    _, reading = wide(30, 9, 16)
    shown = show_views(all_heads([reading]))
    times = shown.page.evaluate(
        """() => [...document.querySelectorAll(".live [data-control=query] > *")]
            .map((token) => {
                const start = performance.now();
                token.dispatchEvent(
                    new PointerEvent("pointerenter", { pointerType: "mouse" }));
                return performance.now() - start;
            }).sort((one, other) => one - other)"""
    )
    assert times[len(times) // 4] < 100, times


def test_a_long_text_scrolls_in_its_rows_and_its_map_has_points_that_are_seen(
    show_views,
):
    weights, reading = wide(2, 2, 200)
    shown = show_views(all_heads([reading], query=199))
    # One part is drawn in each frame.
    shown.page.locator(".live .pixels canvas").wait_for()
    for side in ("query", "key"):
        row = shown.control(side).locator("..")
        assert row.evaluate("one => one.clientHeight") < 320
        assert row.evaluate("one => one.scrollHeight") > 600
    seen = """(one) => {
        const [row, box] = [one.closest(".arched"), one].map(
            (each) => each.getBoundingClientRect());
        return row.top <= box.top && box.bottom <= row.bottom + 1;
    }"""
    tokens = shown.control("query").locator("[role=option]")
    assert tokens.nth(199).evaluate(seen)
    assert not tokens.nth(0).evaluate(seen)
    shown.press("query", "Home")
    shown.page.evaluate("new Promise(requestAnimationFrame)")
    assert tokens.nth(0).evaluate(seen)
    canvas = shown.page.locator(".live .pixels canvas")
    assert canvas.evaluate("one => [one.width, one.height]") == [128, 128]
    strengths = canvas.evaluate("""(one) => {
        const { data } = one.getContext("2d").getImageData(0, 0, 128, 128);
        return [...data].filter((_, i) => i % 4 === 3);
    }""")
    places = (torch.arange(200) * 128 // 200).tolist()
    largest = torch.zeros(128, 128)
    for i, down in enumerate(places):
        for j in range(i + 1):
            across = places[j]
            largest[down, across] = max(largest[down, across], weights[0, 0, i, j])
    got = torch.tensor(strengths).view(128, 128) / 255
    inside = torch.ones(128, 128, dtype=torch.bool).tril()
    assert (got - largest)[inside].abs().max() < 0.02
    box = canvas.bounding_box()
    canvas.hover(position={"x": 3, "y": box["height"] - 2})
    assert "word198\u2069” under the mouse" in shown.value("asked")


def test_of_a_long_text_one_part_is_drawn_in_each_frame_and_old_tokens_stay(show_views):
    _, short = wide(2, 2, 100)
    _, long = wide(2, 2, 120)
    shown = show_views(all_heads([short, long], query=7))
    shown.page.locator(".live .pixels canvas").wait_for()
    drawn = shown.page.evaluate(
        """async (text) => {
            const one = (place) => document.querySelector(`.live ${place}`);
            const told = () => [
                document.querySelectorAll(".live [data-control=key] > *").length,
                one("[data-value=caption]").innerText.includes("Choose a query"),
                one(".pixels canvas").getAttribute("aria-label"),
            ];
            one("[data-value=caption]").innerText = "";
            one(".pixels canvas").setAttribute("aria-label", "");
            const first = one("[data-control=key] > *");
            const menu = one("[data-control=text]");
            menu.value = text;
            menu.dispatchEvent(new Event("change"));
            const found = [told()];
            for (let frame = 0; frame < 3; frame += 1) {
                await new Promise(requestAnimationFrame);
                found.push(told());
            }
            return [found.map(String), one("[data-control=key] > *") === first];
        }""",
        long["text"],
    )
    label = "120 rows of 120 points, the strongest for 1.00"
    rows, map_ = "120,false,", "120,true,"
    stages = [rows, rows, map_, f"{map_}{label}"]
    assert drawn == [stages, True]
    shown.press("query", "Home")
    assert shown.value("key 0") == "1.00"


def test_an_encoder_has_no_next_token(show_views):
    config = TransformerConfig(10, 12, 24, H, L, causal=False)
    torch.manual_seed(0)
    reader = HeadReader(TransformerEncoder(config), TOKENIZER)
    shown = show_views(all_heads([reader.read("abc")], query=0, key=2))
    assert "predicts no next token" in shown.value("lost")
    assert shown.page.locator(".live td.off").count() == 0
    assert shown.controls() == {"query", "key", "head", "score", "least", "ranking"}
    assert re.search(r"gives “\u2068c\u2069” 0\.\d*[1-9]", shown.value("sentence"))


BOX_HTML = """(name) => {
    const box = document.createElement("div");
    box.className = name;
    box.innerHTML = '<input><input><div><pre hidden class="aos-frame"></pre></div>';
    window.typed = [];
    box.addEventListener("input", ({ target }) => window.typed.push(
        [[...box.querySelectorAll("input")].indexOf(target), target.value]));
    document.body.append(box);
}"""
SAY = """(text) => {
    document.querySelector(".aos-frame").textContent = text;
}"""


def test_a_kernels_box_is_asked_and_heard(show_views):
    """What the box itself does is tested in JupyterLab."""
    view = all_heads(READINGS, query=2)
    view.state["box"] = f"{BOX}-17"
    shown = show_views(view)
    shown.press("switch", "Enter")  # no box yet: what was recorded
    assert "after 0" in shown.values()

    def say(reading, off=(), after=None, error=""):
        message = {"reading": reading, "off": off, "after": after, "error": error}
        shown.page.evaluate(SAY, json.dumps(message))

    shown.page.evaluate(BOX_HTML, f"{BOX}-17")
    say(READINGS[0])
    shown.page.wait_for_selector(".aos-fed")
    assert shown.control("query").locator("[aria-selected=true]").count() == 1
    shown.press("switch", "Enter")
    shown.press("head", "ArrowRight")
    typed = shown.page.evaluate("window.typed")
    assert typed == [[1, "0.0"]]
    say(READINGS[0], ["0.0"], READER.next_without(TEXTS[0], [(0, 0)]))
    shown.page.wait_for_selector('.live [data-value="after 0"]')
    shown.press("switch", "Enter")  # with a kernel several are off
    assert shown.page.evaluate("window.typed").pop() == [1, "0.0, 1.0"]

    other = READER.read("XbY")
    say(other, error="ValueError: no")
    shown.page.wait_for_selector('.live [data-value="query 2"]')
    shown.page.locator('.live [data-value="wrong"]').get_by_text("no").wait_for()
    assert shown.control("query").inner_text().split() == ["X", "b", "Y"]
    assert shown.control("text").input_value() == "the one in the field above"
    shown.choose("text", TEXTS[1])
    assert shown.page.evaluate("window.typed").pop() == [0, TEXTS[1]]
    say(READER.read(TEXTS[1]))
    shown.page.locator(".live").get_by_text("fed").first.wait_for(state="attached")
    assert shown.control("text").input_value() == TEXTS[1]
    # Of a text that was recorded, it knows all that was.
    options = shown.control("score").locator("option").all_inner_texts()
    assert any("nats lost" in one for one in options)
