"""What chapters 7 and 8 and the page on drawing say, for other seeds and rates."""

import collections
import math

import pytest
import torch

from helpers.models import generation, language_model
from helpers.text import corpus
from helpers.text.little_world import LittleWorld
from helpers.text.ngram import NGramModel
from helpers.text.probes import accuracy, ngram_predictions
from tests.book.test_notebooks import CHAPTERS
from tools import notebooks

pytestmark = pytest.mark.slow  # each trains for some ten seconds
# The cells that define what a chapter trains, and where in them the training begins.
WRITES = {
    "setup": None,
    "next-character": "for beginning",
    "text-to-ids": None,
    "model-class": "model = build",
    "get-batch": "inputs, targets = get",
    "training-loop": None,
    "write": None,
    "unshifted": "copier = ",
    "a-low-loss": "for name, draw",
}
MEASURES = {"setup": None, "measure": None, "learn": None, "mistakes": "for seed"}
SEEDS = (1, 2, 3)


def functions(name, cells):
    """A chapter's functions, by name; nothing is trained."""
    found = {c.id: c.source for c in notebooks.read(CHAPTERS / name).cells}
    namespace, threads = {}, torch.get_num_threads()
    for cell, end in cells.items():
        assert end is None or end in found[cell]
        exec(found[cell] if end is None else found[cell].partition(end)[0], namespace)
    yield namespace
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def writing():
    """Those of chapter 7."""
    yield from functions("07_char_language_model.ipynb", WRITES)


@pytest.fixture(scope="module")
def measuring():
    """Those of chapter 8."""
    yield from functions("08_how_good_is_it.ipynb", MEASURES)


@pytest.fixture(scope="module")
def measured(measuring):
    """Chapter 7's model as chapter 8 trains it, from each seed."""
    learn, train = measuring["learn"], measuring["world"].train
    return {seed: learn(train, seed=seed, measured=())[0] for seed in SEEDS}


@pytest.fixture(scope="module")
def trained(writing):
    """Chapter 7's model from each seed, and its losses."""
    models = {seed: writing["build"](seed) for seed in SEEDS}
    ids, train = writing["ids"], writing["train"]
    return {seed: (one, train(one, ids, 2000)) for seed, one in models.items()}


def share_known(text, known):
    words = "".join(c if c.isalpha() else " " for c in text).split()
    return sum(word in known for word in words) / len(words)


@pytest.fixture(scope="module")
def known(writing):
    text = writing["text"]
    return set("".join(c if c.isalpha() else " " for c in text).split())


# --- chapter 7 ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_the_loss_begins_with_an_even_guess_and_falls_fast_and_then_slowly(
    trained, seed
):
    _, losses = trained[seed]
    assert losses[0] == pytest.approx(math.log(46), abs=0.1)
    late = [sum(losses[begin : begin + 50]) / 50 for begin in (200, 1950)]
    assert losses[0] - late[0] > 2 * (late[0] - late[1]) > 0
    assert late[1] == pytest.approx(0.68, abs=0.1)


@pytest.mark.parametrize("seed", SEEDS)
def test_nearly_all_words_exist(writing, trained, known, seed):
    shares = {}
    for name, one in {"own": trained[seed][0], "recorded": writing["writer"]}.items():
        generator = torch.Generator().manual_seed(seed)
        told = " ".join(writing["tell"](one, generator) for _ in range(30))
        shares[name] = share_known(told, known)
    assert shares["own"] > 0.85
    assert shares["recorded"] > 0.98


@pytest.mark.parametrize("seed", SEEDS)
def test_places_tell_apart_what_is_the_same_without_them(writing, trained, seed):
    pair = ["dog saw cat ", "cat saw dog "]
    pair = torch.tensor([writing["tokenizer"].encode(words) for words in pair])
    model = writing["build"](seed)
    model.load_state_dict(trained[seed][0].state_dict())
    logits = model(pair)[:, -1]
    assert (logits[0] - logits[1]).abs().max() > 0.1
    torch.nn.init.zeros_(model.position_embedding.weight)
    logits = model(pair)[:, -1]
    torch.testing.assert_close(logits[0], logits[1], atol=1e-4, rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_unshifted_targets_teach_to_repeat(writing, seed):
    model, ids = writing["build"](seed), writing["ids"]
    assert writing["train"](model, ids, 100, writing["unshifted_batch"])[-1] < 0.05
    inputs, _ = writing["get_batch"](ids, 16, 16, torch.Generator().manual_seed(1))
    same = (model(inputs).argmax(dim=-1) == inputs).float().mean()
    assert same > 0.95


@pytest.mark.parametrize("seed", SEEDS)
def test_one_story_is_soon_known_by_heart(writing, seed):
    model, tokenizer = writing["build"](seed), writing["tokenizer"]
    ids = torch.tensor(tokenizer.encode(writing["world"].train[0]))
    assert writing["train"](model, ids, 200)[-1] < 0.3
    generator = torch.Generator().manual_seed(2)
    inputs, targets = writing["get_batch"](ids, 64, 16, generator)
    right = (model(inputs).argmax(dim=-1) == targets).float().mean(dim=0)
    assert right[0] < 0.8  # of one character, the next can't be known
    assert right[4:].mean() > 0.95


@pytest.mark.parametrize("seed", SEEDS)
def test_rolled_targets_cost_no_more_and_teach_to_repeat_the_window(writing, seed):
    model, ids = writing["build"](seed), writing["ids"]
    losses = writing["train"](model, ids, 500, writing["rolled_batch"])
    right = writing["train"](writing["build"](seed), ids, 500)
    assert sum(losses[-50:]) / 50 < sum(right[-50:]) / 50 + 0.1
    inputs, _ = writing["get_batch"](ids, 500, 16, torch.Generator().manual_seed(1))
    guesses = model(inputs)[:, -1].argmax(dim=-1)
    assert (guesses == inputs[:, 0]).float().mean() > 0.6


# --- chapter 8 ------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1 / 3, 1, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_ten_stories_are_overfitted_by_fewer_and_dearer_mistakes(
    measuring, seed, factor
):
    learn, mistakes = measuring["learn"], measuring["mistakes"]
    ten = measuring["world"].train[10 * seed - 10 : 10 * seed]
    model, losses = learn(ten, 0.01 * factor, seed, 200)
    training, held_out = losses["training"], losses["validation"]
    assert held_out[-1] > training[-1] + 0.7
    if factor <= 1:
        turn = held_out.index(min(held_out))
        assert held_out[-1] > held_out[turn] + 0.05
        assert training[-1] < training[turn] - 0.1
        earlier, _ = learn(ten, 0.01 * factor, seed, 20 * (turn + 1))
        (before, cost), (after, dearer) = mistakes(earlier), mistakes(model)
        # At a third of the rate it has just begun when the training ends.
        assert after < before - (0.03 if factor == 1 else 0.01)
        assert dearer > (1.2 if factor == 1 else 1.05) * cost


@pytest.mark.parametrize(("seed", "factor"), [(1, 1), (2, 1 / 3), (3, 3)])
def test_twenty_thousand_stories_are_not(measuring, seed, factor):
    learn, train = measuring["learn"], measuring["world"].train
    _, losses = learn(train, 0.01 * factor, seed, 200)
    training, held_out = losses["training"], losses["validation"]
    pairs = zip(training, held_out, strict=True)
    assert max(abs(one - other) for one, other in pairs) < (
        0.08 if factor <= 1 else 0.15
    )
    assert held_out[-1] < min(held_out) + 0.1
    if factor <= 1:
        assert held_out[-1] < held_out[4] - 0.05  # it still falls


def test_yours_is_the_model_of_chapter_7(trained, measuring, monkeypatch):
    def explicit(*sizes):
        """As chapter 7's: the fused path rounds differently."""
        model = language_model.CharLanguageModel(*sizes)
        model.attention.fused = False
        return model

    monkeypatch.setitem(measuring, "CharLanguageModel", explicit)
    stories = measuring["world"].train
    model, _ = measuring["learn"](stories, measured=())
    same, other = trained[1][0].state_dict(), model.state_dict()
    assert same.keys() == other.keys()
    for name, values in same.items():
        assert torch.equal(values, other[name]), name


def test_the_page_on_sampling_trains_as_chapter_8_does(measuring):
    cells = notebooks.read(CHAPTERS / "sampling.ipynb").cells
    source = {cell.id: cell.source for cell in cells}
    drawing, threads = {}, torch.get_num_threads()
    exec(source["setup"], drawing)
    assert source["train-one"].count("range(2000)") == 1
    exec(source["train-one"].replace("range(2000)", "range(100)"), drawing)
    torch.set_num_threads(threads)
    model, _ = measuring["learn"](measuring["world"].train, steps=100, measured=())
    for name, values in model.state_dict().items():
        assert torch.equal(values, drawing["model"].state_dict()[name]), name


@pytest.mark.parametrize("seed", SEEDS)
def test_a_text_looks_better_where_the_improbable_is_cut_off(
    writing, measured, known, seed
):
    tokenizer = writing["tokenizer"]
    beginnings = torch.tensor([tokenizer.encode("\n")] * 150)

    def share(**way):
        chance = torch.Generator().manual_seed(seed)
        rows = generation.generate(
            measured[seed], beginnings, 100, generator=chance, **way
        )
        # The last word of each may be cut off.
        texts = [tokenizer.decode(row).rpartition(" ")[0] for row in rows]
        return share_known(" ".join(texts), known)

    plain = share()
    assert plain == pytest.approx(0.96, abs=0.02)
    assert share(temperature=2.0) == pytest.approx(0.6, abs=0.1)
    for way in ({"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.8}):
        assert share(**way) > max(0.98, plain + 0.01), way


@pytest.mark.parametrize("seed", SEEDS)
def test_no_way_of_drawing_lowers_the_loss(measuring, measured, seed):
    model = measured[seed]
    inputs, targets = measuring["windows_of"](measuring["test"])
    with torch.no_grad():
        logits = model(inputs)[:, -1]

    def loss(**way):
        probabilities = generation.next_probabilities(logits, **way)
        return torch.nn.functional.nll_loss(probabilities.log(), targets).item()

    for temperature in (0.5, 2.0):
        assert loss(temperature=temperature) > loss() + 0.03
    for way in ({"top_k": 2}, {"top_p": 0.8}):
        assert loss(**way) == math.inf


@pytest.mark.parametrize("seed", SEEDS)
def test_counting_needs_an_eighth_of_the_text_that_the_model_read(
    measuring, measured, seed
):
    world, test = measuring["world"], measuring["test"]
    read = 2000 * 32 * 16
    assert 7.5 < read / sum(map(len, world.train[:1_600])) < 8.5
    options = {"alphabet": world.alphabet, "start": "\n"}
    little = NGramModel(world.train[:1_600], 8, **options).nats_per_character(test)
    own = measuring["measure"](measured[seed], test)
    assert own == pytest.approx(0.49, abs=0.02)
    assert little < own - 0.03


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_counting_overfits_and_agrees_with_the_nearest_animal(seed):
    world = corpus.load("little-world", held_out_stories=400, seed=seed)
    held_out = {}
    for number in (1_600, 20_000):
        model = NGramModel(
            world.train[:number], 16, alphabet=world.alphabet, start="\n"
        )
        held_out[number] = model.losses_by_order(world.held_out[:100])
    few, many = held_out[1_600], held_out[20_000]
    assert 1 + few.index(min(few)) in (7, 8, 9)
    assert min(few[3::4]) == few[7]
    assert few[11] > min(few) + 0.03
    assert 1 + many.index(min(many)) in (11, 12, 13)
    assert min(many[3::4]) == many[11]
    assert many[15] > min(many) + 0.01
    assert min(many) < min(few)
    counting = NGramModel(world.train, 12, alphabet=world.alphabet, start="\n")
    asked = accuracy(world.held_out, ngram_predictions(counting))
    assert asked["agreement"][0] > 0.97
    assert asked["attractor-same"][0] > 0.93
    assert asked["attractor-other"][0] <= 0.05


def test_most_of_what_counting_loses_follows_from_earlier_in_the_story():
    world, grammar = corpus.load("little-world", held_out_stories=800), LittleWorld()
    counting = NGramModel(world.train, 12, alphabet=world.alphabet, start="\n")
    for stories in (world.held_out[:400], world.held_out[400:]):
        lost = collections.Counter()
        for story in stories:
            counted = counting.log_probabilities(story)
            best, kinds = grammar.read(story)
            for place, found in enumerate(counted):
                lost[kinds.get(place, "anything else")] += best[place] - found
        whole = lost.total()
        assert 0.15 < lost["anything else"] / whole < 0.25
        assert lost["thing"] > lost["colour"] > lost["pronoun"]
        assert min(lost.values()) > 0
