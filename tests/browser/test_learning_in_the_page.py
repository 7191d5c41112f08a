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
from tests.samples.views import SAMPLES

SECONDS = 60_000  # milliseconds to wait at most
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
        timeout=SECONDS,
    )


def steps(shown):
    return int(shown.value("step").split()[0])


def wait_for_more(shown, than):
    """Until more steps than that were taken."""
    shown.page.wait_for_function(
        "(than) => parseInt(document.querySelector("
        "\".live [data-value='step']\")?.innerText) > than",
        arg=than,
        timeout=SECONDS,
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


def test_a_seed_gives_the_same_training_again_and_another_one_another(shown):
    found = []
    for seed in ("5", "5", "6"):
        shown.type("seed", seed)
        shown.press("anew", "Enter")
        wait(shown, "found after", "^0$")
        values = after_steps(shown, 2)
        found.append([values["held out"], values["sample"], values["above"]])
    assert found[0] == found[1] != found[2]


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


LONGEST_TASK = """async () => {
    let longest = 0;
    const watch = new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries())
            longest = Math.max(longest, duration);
    });
    watch.observe({ type: "longtask" }); // those of over 50 ms
    await new Promise((done) => setTimeout(done, 3000));
    watch.disconnect();
    return longest;
}"""


def test_the_page_stays_responsive_while_it_trains(show_views):
    shown = show_views(view_of(whole_world(), floor=whole_world().floor))
    shown.press("run", "Enter")
    wait(shown, "step", "^[1-9]")
    # A busy machine may hold the page up, too: one of three looks must see nothing.
    before = steps(shown)
    assert 0 in (shown.page.evaluate(LONGEST_TASK) for _ in range(3))
    assert steps(shown) > before


def test_a_reader_who_wants_little_motion_sees_the_pictures_change_seldom(shown):
    shown.page.emulate_media(reduced_motion="reduce")
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    sample = shown.value("sample")
    shown.press("run", "Enter")
    wait(shown, "found after", "^20$")
    assert shown.value("sample") == sample
    shown.press("run", "Enter")  # who pauses wants to see
    wait(shown, "status", "^Paused. After")
    assert shown.value("sample") != sample
    shown.page.emulate_media(reduced_motion="no-preference")


LONG = "One two, buckle my shoe. Three four, open the door. Five six, pick up sticks. "


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
    shown.control("open").set_input_files(path)
    wait(shown, "found after", "^0$")
    assert shown.value("held out") == values["held out"]


def test_what_could_not_begin_leaves_the_model_that_was_there(shown, tmp_path):
    shown.press("anew", "Enter")
    wait(shown, "found after", "^0$")
    values = after_steps(shown, 1)
    (tmp_path / "no model").write_bytes(b"no model")
    shown.control("open").set_input_files(tmp_path / "no model")
    wait(shown, "wrong", "file")
    assert shown.value("held out") == values["held out"]
    shown.type("own text", "short")
    shown.press("anew", "Enter")
    wait(shown, "wrong", "The text has 5 characters")
    shown.press("step", "Enter")
    wait(shown, "found after", "^2$")
    assert shown.value("step") == "2 of 900"


def test_a_character_is_asked_where_a_head_looks(shown):
    shown.choose("layers", "2")
    shown.press("anew", "Enter")
    wait(shown, "looks", "^Block 2, head 1: ")
    first = shown.value("looks")
    shown.press("asking", "ArrowRight", 7)
    assert " at 7 gives " in shown.value("looks") != first
    shown.choose("head", "3")
    wait(shown, "looks", "^Block 2, head 3: .* at 7 gives ")
    shown.choose("layer", "1")
    wait(shown, "looks", "^Block 1, head 3: .* at 7 gives ")


def test_a_model_of_helpers_goes_on_learning_in_the_page(shown, tmp_path):
    torch.manual_seed(0)
    tokenizer = CharTokenizer(whole_world().alphabet)
    config = TransformerConfig(tokenizer.vocab_size, 40, 16, 2, 1)
    path = tmp_path / "mine.safetensors"
    save_model(path, TransformerLM(config), tokenizer)
    shown.control("open").set_input_files(path)
    wait(shown, "wrong", "reads 40 characters at once")
    shown.type("own text", "The cat sleeps. " * 200)
    shown.control("open").set_input_files(path)
    wait(shown, "found after", "^0$")
    count = sum(one.numel() for one in TransformerLM(config).parameters())
    assert shown.value("numbers").startswith(f"{count:,} parameters")
    after_steps(shown, 1)


def test_a_file_that_is_no_model_is_named(shown, tmp_path):
    path = tmp_path / "picture.safetensors"
    path.write_bytes(b"\x89PNG and so on, but no model")
    shown.control("open").set_input_files(path)
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
