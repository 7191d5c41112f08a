"""The unfinished story: its arcs, numbers and answers are PyTorch's."""

import contextlib
import functools
import re

import pytest
import torch

from helpers import views
from helpers.models.switches import silenced
from helpers.recorded import story_model
from tests.samples.views import tiny_model

LABELS = list(story_model.UNFINISHED)
LAYER, HEAD = story_model.FETCHING
NAMES = {" ": "space", "\n": "end of story"}
FITS = """() => {
    const box = document.querySelector(".unfinished");
    return box.querySelector("svg").viewBox.baseVal.width <= box.clientWidth;
}"""


@functools.cache
def loaded():
    return story_model.load_story_model()


@functools.cache
def view():
    """As the book's first chapter shows it."""
    return views.unfinished_story(*story_model.page_parts(), **story_model.opening())


def predicted(text, layer=LAYER, head=HEAD, off=()):
    """The last row of a head's weights, and the probabilities behind a text."""
    model, tokenizer = loaded()
    ids = torch.tensor([tokenizer.encode("\n" + text)])
    with contextlib.ExitStack() as stack, torch.no_grad():
        for place in off:
            stack.enter_context(silenced(model, *place))
        logits, weights = model(ids, return_weights=True)
    return weights[layer][0, head, -1], logits[0, -1].softmax(-1)


def compare(shown, text, **options):
    """Sentence, tables and drawing against PyTorch; what comes next."""
    row, probabilities = predicted(text, **options)
    values = shown.values()
    best = row.topk(3)
    for place, weight in enumerate(best.values.tolist()):
        assert values.number(f"weight {place}") == pytest.approx(weight, abs=0.0051)
    after = probabilities.topk(3)
    for place, share in enumerate(after.values.tolist()):
        assert values.number(f"probability {place}") == pytest.approx(share, abs=0.0051)
    letter = loaded()[1].alphabet[int(after.indices[0])]
    assert values["next 0"] == NAMES.get(letter, letter)
    name = f"head {options.get('head', HEAD)} of layer "
    assert name + str(options.get("layer", LAYER)) in values["sentence"]
    assert f"largest weight, {float(row.max()):.2f}, to " in values["sentence"]
    assert values["text"] == "↵" + text.replace("\n", "↵")
    paths = shown.page.locator(".unfinished path").count()
    assert paths == int((row[:-1] >= 0.02).sum())
    return letter


def test_every_control_moves_what_pytorch_says_it_moves(show_views):
    shown = show_views(view())
    first = story_model.UNFINISHED[LABELS[0]]
    letter = compare(shown, first)
    assert letter == "y"
    assert " in “yellow”." in shown.value("sentence")

    shown.press("works", "Space")
    off = [(LAYER, HEAD)]
    assert compare(shown, first, off=off) != "y"
    assert "But it is off" in shown.value("sentence")
    shown.choose("head", "head 0 of layer 0")
    compare(shown, first, layer=0, head=0, off=off)
    assert f"Also off: head {HEAD} of layer {LAYER}." in shown.value("sentence")
    shown.press("works", "Space")
    off.append((0, 0))
    compare(shown, first, layer=0, head=0, off=off)
    shown.press("works", "Space")
    shown.choose("head", f"head {HEAD} of layer {LAYER}")
    assert not shown.control("works").is_checked()
    shown.press("works", "Space")
    compare(shown, first)

    text = first
    for _ in range(3):
        shown.press("write", "Enter")
        text += letter
        letter = compare(shown, text)
    shown.press("start", "Enter")
    compare(shown, first)
    shown.press("end", "Enter")
    assert re.fullmatch(
        "↵" + re.escape(first) + "yellow kite\\?' .+↵", shown.value("text")
    )
    assert "The story has ended." in shown.value("sentence")
    ended = shown.value("text")
    shown.press("write", "Enter")
    assert shown.value("text") == ended
    for label in LABELS[1:]:
        shown.choose("story", label)
        compare(shown, story_model.UNFINISHED[label])
    assert shown.moved == shown.controls()


def test_each_story_gets_the_word_that_it_tells_of(show_views):
    shown = show_views(view())
    for label in LABELS:
        shown.choose("story", label)
        begun = story_model.UNFINISHED[label]
        shown.press("end", "Enter")
        written = shown.value("text").removeprefix("↵" + begun)
        _, colour, thing = begun.partition(".")[0].rsplit(" ", 2)
        wanted = thing if label == "which thing" else f"{colour} {thing}"
        assert written.startswith(wanted)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("width", [1280, 375])
def test_the_arc_ends_at_the_letter_that_gets_most(show_views, width):
    shown = show_views(view())
    shown.page.set_viewport_size({"width": width, "height": 800})
    shown.page.wait_for_function(FITS)  # drawn anew a frame later
    text = "\n" + story_model.UNFINISHED[LABELS[0]]
    row, _ = predicted(text[1:])
    place = int(row.argmax())
    assert text[: place + 1].split()[-1] in "yellow"
    letters = shown.page.locator('.unfinished [data-value="text"] text')
    letter = letters.nth(place)
    assert letter.text_content() == text[place]
    paths = shown.page.locator(".unfinished path")
    ends = [
        [float(number) for number in re.findall(r"[\d.]+", path.get_attribute("d"))]
        for path in paths.all()
    ]
    at = [float(letter.get_attribute(axis)) for axis in "xy"]
    last = letters.nth(len(text) - 1)
    from_x, *_, to_x, to_y = ends[0]
    assert [to_x, to_y + 17] == at
    assert from_x == float(last.get_attribute("x"))
    boxes = [one.bounding_box() for one in letters.all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    rows = {one.get_attribute("y") for one in letters.all()}
    assert (len(rows) > 1) == (width == 375)


def test_the_drawing_says_in_words_what_it_shows(show_views):
    shown = show_views(view())
    drawing = shown.page.locator(".unfinished svg")
    assert drawing.get_attribute("role") == "img"
    words = drawing.get_attribute("aria-label")
    assert words.startswith(story_model.UNFINISHED[LABELS[0]])
    assert words.endswith(shown.value("sentence"))


def test_the_drawing_is_printed_and_the_controls_are_not(show_views):
    shown = show_views(view())
    shown.page.emulate_media(media="print")
    assert shown.page.locator(".unfinished svg").is_visible()
    assert shown.page.locator('[data-value="sentence"]').is_visible()
    assert not shown.control("write").is_visible()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stories": {}}, "stories must hold a text, got none"),
        ({"stories": {"odd": "ξ"}}, r"story 'odd' has characters unknown: \['ξ'\]"),
        ({"stories": {"none": ""}}, "story 'none' must have 1 to 23 .* got 0"),
        ({"stories": {"long": "a" * 24}}, "story 'long' must have 1 to 23 .* got 24"),
        ({"head": (2, 0)}, r"head must be a layer below 2 .* got \(2, 0\)"),
        ({"head": (0,)}, r"head must be a layer below 2 .* got \(0,\)"),
        ({"looks": torch.zeros(3)}, r"looks must have shape \(4,\), .* got \(3,\)"),
        ({"expected": torch.zeros(3)}, r"one probability .* got \(3,\)"),
    ],
)
def test_what_does_not_fit_is_named(changes, message):
    config, weights, alphabet = tiny_model()
    options = {
        "stories": {"a": "aaa"},
        "head": (0, 0),
        "looks": torch.zeros(4),
        "expected": torch.zeros(len(alphabet)),
    }
    with pytest.raises(ValueError, match=message):
        views.unfinished_story(config, weights, alphabet, **options | changes)
