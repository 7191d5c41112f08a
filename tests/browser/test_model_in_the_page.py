"""The model in the page: its numbers are PyTorch's, and it is quick enough."""

import functools
import json
from types import SimpleNamespace

import pytest
import torch

from helpers import views
from helpers.models import switches
from helpers.models.generation import next_probabilities
from helpers.recorded import story_model
from helpers.text import corpus, probes
from helpers.text.little_world import LittleWorld
from helpers.views.view import bundle, to_json
from tests.book.test_notebooks import CHAPTERS
from tests.samples.views import HOSTILE, model_in_the_page
from tools import notebooks

CHAPTER = CHAPTERS / "11_inside_the_heads.ipynb"

STORIES = corpus.load("little-world", train_stories=1, held_out_stories=40).held_out
PROMPTS = {"a colour": 'Eve hid a red top. The pig dances. "Look, a ', "nothing": ""}


@functools.cache
def loaded():
    return story_model.load_story_model()


@functools.cache
def shown_model():
    """The view as the chapter shows it."""
    model, tokenizer = loaded()
    first = torch.tensor([tokenizer.encode("\n" + PROMPTS["a colour"])])
    world = LittleWorld()
    questions = [(story, world.read(story)[1]) for story in STORIES[:3]]
    with torch.no_grad():
        expected = model(first)[0, -1].softmax(-1)
    config, weights, alphabet = story_model.page_parts()
    return views.model_in_the_page(
        config,
        weights,
        alphabet,
        prompts=PROMPTS,
        questions=questions,
        expected=expected,
    )


def in_the_page(shown, body):
    """Run JavaScript beside the modules, with a model of the committed weights."""
    state = to_json(shown_model().state)
    script = (
        f"{bundle('model_in_the_page')}\nconst model = transformer({state});\n{body}"
    )
    return shown.page.evaluate(f"() => {{ {script} }}")


@pytest.fixture
def blank(show_views):
    return show_views()


def test_logits_equal_those_of_pytorch_at_500_positions(blank):
    model, tokenizer = loaded()
    stream = tokenizer.encode("\n" + "".join(STORIES))
    generator = torch.Generator().manual_seed(0)
    last_start = len(stream) - model.context_length
    windows = [
        stream[start : start + model.context_length]
        for start in torch.randint(last_start, (8,), generator=generator).tolist()
    ]
    found = in_the_page(
        blank,
        f"""return {json.dumps(windows)}.map((ids) => {{
            const cache = model.newCache();
            return ids.map((id) => Array.from(model.read(cache, [id]).logits));
        }});""",
    )
    with torch.no_grad():
        expected = model(torch.tensor(windows))
    found = torch.tensor(found)
    places = torch.randperm(expected.shape[0] * expected.shape[1], generator=generator)
    chosen = places[:500]
    found, expected = found.flatten(0, 1)[chosen], expected.flatten(0, 1)[chosen]
    assert (found - expected).abs().max() < 1e-3
    assert torch.equal(found.argmax(-1), expected.argmax(-1))


def test_weights_of_every_head_equal_those_of_pytorch(blank):
    model, tokenizer = loaded()
    ids = tokenizer.encode("\n" + STORIES[0])
    maps = in_the_page(blank, f"return model.read(model.newCache(), {ids}).maps;")
    with torch.no_grad():
        _, expected = model(torch.tensor([ids]), return_weights=True)
    for t, rows in enumerate(maps):
        for layer, heads in enumerate(rows):
            row = expected[layer][0, :, t, : t + 1]
            found = torch.tensor(heads, dtype=torch.float32)
            torch.testing.assert_close(found, row, rtol=0, atol=1e-4)


def test_of_a_long_text_only_what_fits_is_read(blank):
    model, tokenizer = loaded()
    text = "".join(STORIES)[:400]
    found = in_the_page(
        blank,
        f"""const reader = new Reader(model, [...{json.dumps(tokenizer.alphabet)}]);
        const asked = [];
        const counted = {{ ...model, read: (cache, ids, off) => {{
            asked.push(ids.length);
            return model.read(cache, ids, off);
        }} }};
        reader.model = counted;
        reader.read({json.dumps(text)});
        return [asked, reader.maps.length, Array.from(reader.logits)];""",
    )
    ids = torch.tensor([tokenizer.encode(text[-model.context_length :])])
    with torch.no_grad():
        expected = model(ids)[0, -1]
    assert found[:2] == [[model.context_length], model.context_length]
    torch.testing.assert_close(torch.tensor(found[2]), expected, atol=1e-4, rtol=1e-4)


def test_a_text_behind_the_context_is_read_anew_from_its_last_characters(blank):
    model, tokenizer = loaded()
    ids = tokenizer.encode(("\n" + "".join(STORIES))[: model.context_length + 9])
    found = in_the_page(
        blank, f"return Array.from(model.read(model.newCache(), {ids}).logits);"
    )
    with torch.no_grad():
        expected = model(torch.tensor([ids[-model.context_length :]]))[0, -1]
    torch.testing.assert_close(torch.tensor(found), expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("cut", [(0, 1), (1, 3)])
def test_a_head_that_is_off_adds_nothing(blank, cut):
    layer, head = cut
    model, tokenizer = loaded()
    ids = tokenizer.encode("\n" + STORIES[0])
    found = in_the_page(
        blank,
        f"return Array.from(model.read(model.newCache(), {ids}, "
        f"new Set(['{layer}.{head}'])).logits);",
    )
    with switches.silenced(model, layer, head), torch.no_grad():
        expected = model(torch.tensor([ids]))[0, -1]
    torch.testing.assert_close(torch.tensor(found), expected, rtol=0, atol=1e-3)


def probabilities(text, **options):
    model, tokenizer = loaded()
    with torch.no_grad():
        logits = model(torch.tensor([tokenizer.encode("\n" + text)]))[0, -1]
    return next_probabilities(logits.double(), **options)


def compare_next(shown, text, **options):
    expected = probabilities(text, **options)
    best = expected.topk(3)
    for place in range(3):
        assert shown.number(f"probability {place}") == pytest.approx(
            float(best.values[place]), abs=0.0051
        )
    names = {" ": "space", "\n": "end of story"}
    letter = loaded()[1].alphabet[int(best.indices[0])]
    assert shown.value("next 0") == names.get(letter, letter)


def weights_row(text, layer, head, asked):
    model, tokenizer = loaded()
    ids = torch.tensor([tokenizer.encode("\n" + text)])
    with torch.no_grad():
        _, weights = model(ids, return_weights=True)
    return weights[layer][0, head, asked]


def compare_sentence(shown, text, layer, head, asked):
    row = weights_row(text, layer, head, asked)
    said = shown.value("sentence")
    assert f"Layer {layer}, head {head}: " in said
    best, names = int(row.argmax()), {" ": "space", "\n": "end of story"}
    spoken = [names.get(one, f"“{one}”") for one in text]
    assert f": {['start', *spoken][asked]} at {asked} gives " in said
    assert (
        f"gives {['start', *spoken][best]} at {best} the most, {row.max():.2f}" in said
    )


def compare_answers(shown):
    """Ask the questions; the share of right answers at the kind that has the fewest."""
    shown.press("ask", "Enter")
    predict = probes.model_predictions(*loaded())
    answers = probes.accuracy(STORIES[:3], predict)
    for kind, (share, count) in answers.items():
        assert shown.value(f"right {kind}") == f"{round(share * count)} of {count}"
    return min(share for share, _ in answers.values())


def test_every_control_moves_what_pytorch_says_it_moves(show_views):
    shown = show_views(shown_model())
    text = PROMPTS["a colour"]
    compare_next(shown, text)

    shown.choose("prompts", "nothing")
    compare_next(shown, "")
    text = "Ann has a red cup. The cats near the dog sleep"
    shown.type("prompt", text)
    compare_next(shown, text)
    shown.press("temperature", "ArrowRight", 5)
    compare_next(shown, text, temperature=1.5)
    shown.press("temperature", "ArrowLeft", 5)
    shown.press("top-k", "Home")
    compare_next(shown, text, top_k=1)
    shown.press("one", "Enter")
    letter = loaded()[1].alphabet[int(probabilities(text).argmax())]
    text += letter
    assert shown.value("story").endswith(text)
    shown.press("top-k", "End")

    compare_sentence(shown, text, 0, 0, len(text))
    shown.choose("layer", "1")
    shown.choose("head", "2")
    compare_sentence(shown, text, 1, 2, len(text))
    shown.press("asking", "ArrowLeft", 4)
    compare_sentence(shown, text, 1, 2, len(text) - 4)

    text = "Ann has a "
    shown.type("prompt", text)
    for layer in range(2):
        for head in range(4):
            shown.press(f"head {layer} {head}", "Space")
            with switches.silenced(loaded()[0], layer, head):
                compare_next(shown, text)
            shown.press(f"head {layer} {head}", "Space")
    compare_next(shown, text)

    compare_answers(shown)
    # Without the head that fetches the colour, some answers are wrong.
    shown.press("head 1 1", "Space")
    with switches.silenced(loaded()[0], 1, 1):
        assert compare_answers(shown) < 1
    shown.press("head 1 1", "Space")
    shown.press("story", "Enter")
    assert shown.value("story").endswith("↵")
    assert shown.moved == shown.controls()


def test_where_it_only_writes_neither_heads_nor_how_it_draws_are_shown(show_views):
    config, weights, alphabet = story_model.page_parts()
    expected = torch.full((len(alphabet),), 1 / len(alphabet))
    shown = show_views(
        views.model_in_the_page(
            config,
            weights,
            alphabet,
            prompts=PROMPTS,
            expected=expected,
            only_writing=True,
        )
    )
    shown.type("prompt", "Ann has a ")
    compare_next(shown, "Ann has a ")
    shown.press("one", "Enter")
    assert shown.value("story").startswith("↵Ann has a ")
    assert len(shown.value("story")) == 12
    shown.press("story", "Enter")
    assert shown.value("story").endswith("↵")
    shown.choose("prompts", "a colour")
    assert shown.value("story") == "↵" + PROMPTS["a colour"]
    assert shown.moved == shown.controls() == {"prompts", "prompt", "one", "story"}


# What the model's view calls the first character that it doesn't know.
FIRST_UNKNOWN = {
    "<script>alert(1)</script>": "<",
    '"><img src=x onerror=alert(1)>': ">",
    "</script><!--": "<",
    "\u202eright\u2066": "U+202E",
    "👩\u200d👧": "👩",
    "a\0b": "U+0000",
    "' onfocus=alert(1) '": "=",
}


@pytest.mark.parametrize("text", ["Ann has a <b>ß</b>", *HOSTILE])
def test_an_unknown_character_is_named_and_the_story_stays(show_views, text):
    shown = show_views(shown_model())
    before = shown.value("story")
    shown.type("prompt", text)
    place, unknown = next(
        (i, one) for i, one in enumerate(text) if one not in loaded()[1].alphabet
    )
    name = FIRST_UNKNOWN.get(text, unknown)
    start = (
        f"The model doesn't know “{name}” at {place}; below is still the text before."
    )
    assert shown.value("wrong").startswith(start)
    assert shown.value("story") == before
    assert shown.control("prompt").input_value() == text
    assert shown.page.locator(".aos-view :is(img, b, iframe, script)").count() == 0
    shown.type("prompt", "Ann")
    assert shown.value("wrong") == ""


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_that_a_model_knows_is_shown_as_text(show_views, text):
    shown = show_views(model_in_the_page())  # its alphabet is made of such texts
    shown.type("prompt", text)
    assert shown.value("wrong") == ""
    story = shown.page.locator('.live [data-value="story"]')
    read = ("↵" + text)[-24:]  # as many as this model can read
    assert story.text_content() == read
    # Nothing runs backwards, whatever a character says about those behind it.
    if len(read) < 24:
        places = story.locator("span").evaluate_all(
            "(spans) => spans.map((one) => one.getBoundingClientRect().left)"
        )
        assert places == sorted(places)
    shown.press("one", "Enter")
    assert len(story.text_content()) == min(24, len(read) + 1)
    assert shown.page.locator(".aos-view :is(img, iframe, script)").count() == 0


def test_chapter_11_shows_the_weights_of_this_model(show_views):
    """The stored view of the second layer's four heads, every number of them."""
    cells = notebooks.read(CHAPTER).cells
    (cell,) = [one for one in cells if one.id == "view-weights"]
    (stored,) = [o.data["text/html"] for o in cell.outputs if "data" in o]
    model, tokenizer = loaded()
    text = '\nEve has a red top. The hen runs. "My top is '
    with torch.no_grad():
        _, weights = model(torch.tensor([tokenizer.encode(text)]), return_weights=True)
    start = text.index('"')
    shown = show_views(SimpleNamespace(_repr_html_=lambda: stored))
    numbers = shown.page.locator('.live [data-value^="keys "]')
    shown.choose("layer", "1")
    for head in range(4):
        shown.choose("head", str(head))
        shown.press("queries", "Home")
        for asked in range(start, len(text)):
            found = [float(number) for number in numbers.all_text_contents()]
            row = weights[1][0, head, asked]
            assert found == pytest.approx(row.tolist(), abs=0.0052)
            shown.press("queries", "ArrowDown")
    shown.press("show all", "Enter")
    shown.press("keys", "Home")
    assert shown.moved == shown.controls()


def test_gelu_is_as_near_to_pytorchs_as_float32(blank):
    points = torch.linspace(-9, 9, 1801, dtype=torch.float64)
    found = in_the_page(blank, f"return {points.tolist()}.map(gelu);")
    off = torch.tensor(found, dtype=torch.float64) - torch.nn.functional.gelu(points)
    assert (off.abs() <= 1e-7 * points.abs().clamp(min=1)).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"weights": {"a": torch.zeros(2)}},
            r"got torch\.float32 of shape \(2,\) for a",
        ),
        ({"weights": {"a": torch.zeros(2, 2).half()}}, r"int8 matrices .*\.float16 of"),
        ({"weights": {"a": torch.zeros(2, 2).to(torch.int8)}}, r"must hold a\.scales"),
        ({"weights": {"a": [1.0]}}, r"a must be a torch\.Tensor, got list"),
        ({"prompts": {"odd": "aξb"}}, r"prompt 'odd' has characters unknown: \['ξ'\]"),
        ({"expected": torch.zeros(3)}, r"shape \(2,\), one probability .* got \(3,\)"),
    ],
)
def test_what_does_not_fit_is_named(changes, message):
    options = {
        "weights": {"a": torch.zeros(2).half()},
        "alphabet": "ab",
        "prompts": {},
        "questions": [],
        "expected": torch.zeros(2),
    }
    with pytest.raises(ValueError, match=message):
        views.model_in_the_page({}, **options | changes)
