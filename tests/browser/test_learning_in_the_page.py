"""The trainer on its page: it learns, is paused, is kept, and says what is wrong."""

import re

import pytest
import torch

from helpers.models.language_model import TransformerLM
from helpers.models.model_file import load_model, save_model
from helpers.models.transformer_block import TransformerConfig
from helpers.text.little_world import WORDS, whole_world
from helpers.text.tokenizer import CharTokenizer
from helpers.views import learning_in_the_page
from helpers.views.learning_in_the_page import RECIPES
from tests.samples.views import SAMPLES

QUICK = {"width": "32", "layers": "1", "heads": "4"}


def view_of(world, **levels):
    return learning_in_the_page(
        WORDS, world.alphabet, levels, longest_story=world.longest_story
    )


@pytest.fixture
def shown(show_views):
    """The view with a small model chosen."""
    shown = show_views(view_of(whole_world(), floor=whole_world().floor, guess=3.9))
    for name, option in QUICK.items():
        shown.choose(name, option)
    return shown


def wait(shown, name, text):
    """Until a place shows a text that matches."""
    shown.page.wait_for_function(
        "([name, text]) => new RegExp(text).test(document.querySelector("
        "`.live [data-value='${name}']`)?.innerText ?? '')",
        arg=[name, text],
    )


def wait_for_another(shown, name, text):
    """Until a place shows another text."""
    shown.page.wait_for_function(
        "([name, text]) => document.querySelector("
        "`.live [data-value='${name}']`).innerText !== text",
        arg=[name, text],
    )


def steps(shown):
    return int(shown.value("step").split()[0])


def wait_for_more(shown, than):
    """Until more steps than that were taken."""
    shown.page.wait_for_function(
        "(than) => parseInt(document.querySelector("
        "\".live [data-value='step']\")?.innerText) > than",
        arg=than,
        polling=100,  # in place of each frame: some tests count what the page does
    )


def after_steps(shown, count):
    """Press for single steps, and wait for what is found after the last."""
    for step in range(1, count + 1):
        shown.press("step", "Enter")
        wait(shown, "step", f"^{step} of ")
        wait(shown, "found after", f"^{step}$")
    return shown.values()


def test_it_learns_pauses_goes_on_and_starts_anew(shown):
    shown.press("run", "Enter")
    assert shown.control("run").inner_text() == "Pause"
    wait_for_more(shown, 3)
    shown.press("run", "Enter")
    assert shown.value("status").startswith("Paused.")
    wait(shown, "status", "^Paused. After [0-9]+ steps the held-out loss is ")
    paused = steps(shown)
    assert shown.value("found after") == str(paused)
    shown.page.wait_for_timeout(1000)
    assert steps(shown) == paused
    for _ in range(3):  # a press that comes too soon starts no second loop
        shown.press("run", "Enter")
    assert shown.control("run").inner_text() == "Pause"
    wait_for_more(shown, paused)
    shown.press("anew", "Enter")
    wait(shown, "step", "^0 of 900")
    assert shown.control("run").inner_text() == "Train"


@pytest.mark.slow
def test_a_seed_gives_the_same_training_again_and_another_one_another(shown):
    found = []
    for seed in ("5", "5", "6"):
        shown.type("seed", seed)
        shown.press("anew", "Enter")
        wait(shown, "found after", "^0$")
        values = after_steps(shown, 2)
        found.append([values["held out"], values["sample"], values["above"]])
    assert found[0] == found[1] != found[2]


@pytest.mark.slow
def test_what_is_chosen_is_what_is_trained(shown):
    shown.choose("recipe", "AdamW, chapter 9's block")
    shown.choose("width", "96")
    shown.choose("heads", "8")
    shown.choose("layers", "3")
    shown.choose("steps", "300")
    plan = shown.value("plan")
    assert plan.startswith(
        "The model: width 96, 8 heads, 3 blocks; 300 steps on little"
    )
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    config = TransformerConfig(len(whole_world().alphabet), 128, 96, 8, 3)
    count = sum(one.numel() for one in TransformerLM(config).parameters())
    values = shown.values()
    assert values["numbers"].startswith(f"{count:,} parameters")
    assert values["step"] == "0 of 300"
    for name, count in (("layer", 3), ("head", 8)):
        assert shown.control(name).locator("option").count() == count
    shown.choose("steps", "900")
    assert shown.value("step") == "0 of 300"  # until a new model is taken
    assert shown.value("plan").startswith("A new model would be: width 96")


def test_a_higher_rate_makes_longer_steps(shown):
    """Four times the rate takes the first step, where the rate is small, further."""
    found = []
    for key in ("Home", "End"):
        shown.press("rate", key)
        shown.press("anew", "Enter")
        wait(shown, "found after", "^0$")
        first = shown.number("held out")
        found.append(first - after_steps(shown, 1).number("held out"))
    assert 0 < found[0] < 0.5 * found[1]
    adam = RECIPES["Muon, a modern block"]["training"]["learningRate"]
    assert f"AdamW {4 * adam:g}" in shown.value("plan")


def test_the_first_loss_is_near_an_even_guess_and_the_floor_is_what_is_left(shown):
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    values = shown.values()
    world = whole_world()
    guess = torch.tensor(float(len(world.alphabet))).log().item()
    assert values.number("held out") == pytest.approx(guess, abs=0.1)
    above = float(values["above"].rstrip("%"))
    floor = values.number("held out") / (1 + above / 100)
    assert floor == pytest.approx(world.floor, rel=0.03)  # 100 stories' own
    shares = [values[name].split(" of ") for name in values if name.startswith("right")]
    assert len(shares) == 8
    assert all(0 <= int(right) <= int(all_) for right, all_ in shares)


def test_a_few_steps_lower_the_loss(shown):
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    before = shown.number("held out")
    shown.press("run", "Enter")
    wait_for_more(shown, 40)
    shown.press("run", "Enter")
    wait(shown, "status", "^Paused. After")
    assert shown.number("held out") < before - 1.5


def test_it_stops_by_itself_at_the_end(show_views):
    view = SAMPLES["learning_in_the_page"]()
    view.state["choices"] = view.state["choices"] | {"steps": [3]}
    view.state["sizes"] = view.state["sizes"] | {"steps": 3, "width": 32, "layers": 1}
    shown = show_views(view)
    shown.press("run", "Enter")
    wait(shown, "status", "^All 3 steps are done: the held-out loss .*above the floor")
    assert shown.control("run").inner_text() == "Train"
    assert shown.value("step") == "3 of 3"
    for name in ("run", "step"):
        shown.press(name, "Enter")
        assert shown.value("status").startswith("All steps are done. Save the model")
        assert shown.control("run").inner_text() == "Train"
    shown.press("anew", "Enter")
    wait(shown, "step", "^0 of 3")


def test_a_page_that_nobody_sees_pauses(shown):
    shown.press("run", "Enter")
    wait(shown, "step", "^[1-9]")
    hide = """(hidden) => {
        const property = { value: hidden, configurable: true };
        Object.defineProperty(document, "hidden", property);
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    shown.page.evaluate(hide, True)
    wait(shown, "status", "^Paused. After")
    assert shown.control("run").inner_text() == "Train"
    paused = steps(shown)
    shown.page.wait_for_timeout(1000)
    assert steps(shown) == paused
    shown.page.evaluate(hide, False)
    assert shown.control("run").inner_text() == "Pause"
    wait_for_more(shown, paused)


def asks(shown):
    """Whether leaving the page would ask first."""
    return shown.page.evaluate(
        "() => !dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    )


def test_leaving_asks_first_while_a_model_would_be_lost(shown):
    assert not asks(shown)
    shown.press("anew", "Enter")
    wait(shown, "step", "^0 of")
    assert not asks(shown)
    shown.press("run", "Enter")
    assert asks(shown)
    wait_for_more(shown, 1)
    shown.press("run", "Enter")
    wait(shown, "status", "^Paused. After")
    assert asks(shown)
    with shown.page.expect_download():
        shown.press("save", "Enter")
    wait(shown, "status", "^The model is saved")
    assert not asks(shown)
    saved = shown.value("status")
    shown.press("step", "Enter")
    wait_for_another(shown, "status", saved)
    assert asks(shown)
    before = shown.watched.held
    shown.page.reload()
    assert shown.watched.held == before + 1
    assert not asks(shown)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("size", [(1280, 800), (375, 700)])
def test_the_curve_is_in_sight_once_it_trains(shown, size):
    page = shown.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.evaluate("scrollTo(0, 0)")
    shown.press("run", "Enter")
    wait_for_more(shown, 1)
    box = page.locator(".live svg").first.bounding_box()
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= size[1] + 1


@pytest.mark.slow
def test_the_page_stays_responsive_while_it_trains(show_views):
    shown = show_views(view_of(whole_world(), floor=whole_world().floor))
    shown.press("run", "Enter")
    wait(shown, "step", "^[1-9]")
    # By processor time, since a busy machine holds up every thread.
    chromium = shown.page.context.new_cdp_session(shown.page)
    chromium.send("Performance.enable", {"timeDomain": "threadTicks"})

    def used():
        metrics = chromium.send("Performance.getMetrics")["metrics"]
        found = {one["name"]: one["value"] for one in metrics}
        return found["ThreadTime"], found["ProcessTime"]

    before = used()
    wait_for_more(shown, steps(shown) + 4)
    page, all_threads = (b - a for a, b in zip(before, used(), strict=True))
    assert page < 0.05 * all_threads


@pytest.mark.slow
def test_a_reader_who_wants_little_motion_sees_the_pictures_change_seldom(shown):
    shown.page.emulate_media(reduced_motion="reduce")
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    sample = shown.value("sample")
    shown.press("run", "Enter")
    wait(shown, "found after", "^20$")
    assert shown.value("sample") == sample
    shown.press("run", "Enter")  # who pauses wants to see
    wait_for_another(shown, "sample", sample)
    shown.page.emulate_media(reduced_motion="no-preference")


LONG = "One two, buckle my shoe. Three four, open the door. Five six, pick up sticks. "


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("too short", "The text has 9 characters; at least 2,000 are needed."),
        ("x" * 200_001, "The text is longer than 200 kB"),
        (
            "".join(map(chr, range(200, 500))) * 10,
            "The text has 300 different characters; the page takes at most 150",
        ),
    ],
    ids=["short", "long", "characters"],
)
def test_a_text_that_cannot_be_learned_is_named(shown, text, message):
    shown.type("own text", text)
    shown.press("run", "Enter")
    wait(shown, "wrong", re.escape(message).replace("\\ ", " "))
    assert shown.control("run").inner_text() == "Train"
    shown.type("own text", LONG * 40)
    shown.press("run", "Enter")
    wait(shown, "step", "^[1-9]")
    assert shown.value("wrong") == ""


def test_a_text_of_ones_own_is_learned_without_a_floor(shown):
    shown.type("own text", LONG * 40)
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    values = shown.values()
    assert "above" not in values
    assert not [name for name in values if name.startswith("right")]
    assert set(values["sample"]) <= set(LONG)
    assert values["numbers"].splitlines()[0].endswith(", on a text of yours")


def test_a_model_of_another_text_says_so(shown, tmp_path):
    shown.type("own text", LONG * 40)
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    path = saved(shown, tmp_path / "model.safetensors")
    shown.type("own text", "")
    shown.hand_over("open", path)
    wait(shown, "wrong", "has learned another text: it doesn't know “.*”")
    shown.type("own text", LONG * 40)
    shown.hand_over("open", path)
    wait(shown, "wrong", "^$")
    wait(shown, "status", "^A model is there")


def saved(shown, path):
    """The model as a file, which the reader has saved."""
    with shown.page.expect_download() as download:
        shown.press("save", "Enter")
    download.value.save_as(path)
    return path


def test_a_saved_model_is_the_one_that_was_trained(shown, tmp_path):
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    values = after_steps(shown, 2)
    path = saved(shown, tmp_path / "model.safetensors")
    model, tokenizer = load_model(path)
    assert tokenizer.alphabet == whole_world().alphabet
    count = sum(one.numel() for one in model.parameters())
    assert values["numbers"].startswith(f"{count:,} parameters")
    # Its last block's first head looks there as the page says.
    option = shown.control("place").locator("option").first.inner_text()
    text = "\n" + re.search("\u2068(.*)\u2069", option)[1][:5]
    with torch.no_grad():
        _, weights = model(torch.tensor([tokenizer.encode(text)]), return_weights=True)
    shown.press("asking", "Home")
    shown.press("asking", "ArrowRight", 5)
    best = weights[-1][0, 0, 5].max().item()
    assert shown.value("looks").endswith(f" the most, {best:.2f}.")
    shown.hand_over("open", path)
    wait(shown, "found after", "^0$")
    assert shown.value("held out") == values["held out"]


def test_what_could_not_begin_leaves_the_model_that_was_there(shown, tmp_path):
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    values = after_steps(shown, 1)
    (tmp_path / "no model").write_bytes(b"no model")
    shown.hand_over("open", tmp_path / "no model")
    wait(shown, "wrong", "file")
    assert shown.value("held out") == values["held out"]
    shown.type("own text", "short")
    shown.press("anew", "Enter")
    wait(shown, "wrong", "The text has 5 characters")
    shown.press("step", "Enter")
    assert shown.value("wrong") == ""
    wait(shown, "found after", "^2$")
    assert shown.value("step") == "2 of 900"


CLICK_AND_CHOOSE = """([button, choice, value]) => {
    const named = (name) => document.querySelector(`.live [data-control="${name}"]`);
    named(button).click();
    named(choice).value = value;
    named(choice).dispatchEvent(new Event("change", { bubbles: true }));
}"""
CLICK = """(names) => {
    for (const name of names)
        document.querySelector(`.live [data-control="${name}"]`).click();
}"""


def test_what_was_pressed_for_a_model_that_cannot_begin_is_too_late(shown):
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    shown.type("own text", "short")
    shown.page.evaluate(CLICK, ["anew", "run"])
    wait(shown, "wrong", "The text has 5 characters")
    assert shown.value("status") == "Paused. The model is still there."
    assert shown.control("run").inner_text() == "Train"
    shown.page.wait_for_timeout(1000)
    assert steps(shown) == 0


def test_a_step_that_is_pending_swallows_more_presses(shown):
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    shown.page.evaluate(CLICK, ["step"] * 9)
    wait(shown, "found after", "^1$")
    shown.page.wait_for_timeout(1000)
    assert steps(shown) == 1


def test_a_place_of_the_last_model_is_not_looked_for_in_the_next(shown):
    shown.choose("layers", "3")
    shown.press("anew", "Enter")
    wait(shown, "looks", "^Block 2")
    shown.choose("layers", "1")
    # At once: later the new model's one block is all that the page offers.
    shown.page.evaluate(CLICK_AND_CHOOSE, ["anew", "layer", "1"])
    wait(shown, "looks", "^Block 0")
    after_steps(shown, 1)
    assert shown.value("wrong") == ""


def test_a_file_that_is_too_large_stops_nothing(shown, tmp_path):
    shown.press("run", "Enter")
    wait_for_more(shown, 1)
    (tmp_path / "large").write_bytes(bytes(16_000_001))
    shown.hand_over("open", tmp_path / "large")
    wait(shown, "wrong", "^The file is too large")
    assert shown.control("run").inner_text() == "Pause"
    wait_for_more(shown, steps(shown) + 2)
    shown.press("run", "Enter")


def test_a_view_that_is_taken_away_pauses_once_and_goes_on_when_it_is_back(shown):
    shown.press("run", "Enter")
    wait_for_more(shown, 1)
    asked = shown.page.evaluate("""async () => {
        let asked = 0;
        const post = Worker.prototype.postMessage;
        Worker.prototype.postMessage = function (...given) {
            asked += 1;
            post.apply(this, given);
        };
        const view = document.querySelector(".live");
        const place = view.parentNode;
        view.remove();
        while (!asked) await new Promise((done) => setTimeout(done, 20));
        await new Promise((done) => setTimeout(done, 2000));
        place.append(view);
        Worker.prototype.postMessage = post;
        return asked;
    }""")
    assert asked == 1
    assert shown.control("run").inner_text() == "Train"
    paused = steps(shown)
    shown.press("run", "Enter")
    wait_for_more(shown, paused)


def test_a_character_of_a_text_is_asked_where_a_head_looks(shown):
    shown.choose("layers", "2")
    shown.press("anew", "Enter")
    wait(shown, "looks", "^Block 1, head 0: ")
    first = shown.value("looks")
    shown.press("asking", "Home")
    shown.press("asking", "ArrowRight", 7)
    assert " at 7 gives " in shown.value("looks") != first
    shown.choose("head", "2")
    wait(shown, "looks", "^Block 1, head 2: .* at 7 gives ")
    shown.choose("layer", "0")
    wait(shown, "looks", "^Block 0, head 2: .* at 7 gives ")
    before = shown.value("looks")
    shown.control("place").select_option(index=3)
    wait_for_another(shown, "looks", before)


def test_a_model_of_helpers_goes_on_learning_in_the_page(shown, tmp_path):
    torch.manual_seed(0)
    tokenizer = CharTokenizer(whole_world().alphabet)
    config = TransformerConfig(tokenizer.vocab_size, 40, 16, 2, 1)
    path = tmp_path / "mine.safetensors"
    save_model(path, TransformerLM(config), tokenizer)
    shown.hand_over("open", path)
    wait(shown, "wrong", "reads 40 characters at once")
    shown.type("own text", "The cat sleeps. " * 200)
    shown.hand_over("open", path)
    wait(shown, "found after", "^0$")
    count = sum(one.numel() for one in TransformerLM(config).parameters())
    assert shown.value("numbers").startswith(f"{count:,} parameters")
    after_steps(shown, 1)


DROP = """([at, bytes]) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array(bytes)], "mine.safetensors"));
    const options = { dataTransfer: transfer, bubbles: true, cancelable: true };
    const place = document.querySelector(at);
    place.dispatchEvent(new DragEvent("dragover", options));
    const over = place.closest(".dropping") !== null;
    place.dispatchEvent(new DragEvent("drop", options));
    return [over, document.querySelector(".dropping") !== null];
}"""


def test_a_file_that_is_dropped_onto_the_view_is_opened(shown, tmp_path):
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    values = after_steps(shown, 2)
    path = saved(shown, tmp_path / "model.safetensors")
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    assert shown.value("held out") != values["held out"]
    given = [".live [data-value='status']", list(path.read_bytes())]
    assert shown.page.evaluate(DROP, given) == [True, False]
    wait(shown, "held out", f"^{re.escape(values['held out'])}$")
    assert shown.value("step") == "0 of 900"


def test_a_file_that_is_no_model_is_named(shown, tmp_path):
    path = tmp_path / "picture.safetensors"
    path.write_bytes(b"\x89PNG and so on, but no model")
    shown.hand_over("open", path)
    wait(shown, "wrong", "file")
    shown.press("run", "Enter")  # with a new model
    wait(shown, "step", "^[1-9]")
    assert shown.value("wrong") == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": {}}, "levels must be positive losses"),
        ({"levels": {"floor": 0.0}}, "levels must be positive losses"),
        ({"alphabet": "abc"}, "alphabet must hold the newline"),
        ({"longest_story": 129}, "longest_story must be from 1 to 128, got 129"),
    ],
)
def test_bad_input_is_named(change, message):
    given = {
        **{"alphabet": whole_world().alphabet, "levels": {"floor": 0.3}},
        "longest_story": 120,
    }
    given |= change
    with pytest.raises(ValueError, match=message):
        learning_in_the_page(WORDS, **given)
