"""What chapter 8 says of its trainings holds for other seeds, rates and stories."""

import pytest
import torch

from helpers.text import corpus
from helpers.text.little_world import LittleWorld
from helpers.text.ngram import NGramModel
from helpers.text.probes import accuracy, ngram_predictions
from tests.book.test_notebooks import CHAPTERS
from tools import notebooks

pytestmark = pytest.mark.slow  # each trains for some ten seconds
# The cells that define what the chapter trains; none of them trains.
DEFINITIONS = (
    *("setup", "text-to-ids", "pairs", "get-batch", "broken-batches", "embeddings"),
    *("model-class", "training-loop", "stories"),
)
SEEDS = (1, 2, 3)


@pytest.fixture(scope="module")
def chapter():
    """The chapter's functions, by name."""
    cells = notebooks.read(CHAPTERS / "07_char_language_model.ipynb").cells
    sources = {cell.id: cell.source for cell in cells}
    parts = [sources[name] for name in DEFINITIONS]
    parts += [sources["lookup-table"].partition("dictionary = ")[0], sources["measure"]]
    namespace, threads = {}, torch.get_num_threads()
    for part in parts:
        exec(part, namespace)
    yield namespace
    torch.set_num_threads(threads)


@pytest.mark.parametrize("factor", [1 / 3, 1, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_ten_stories_are_overfitted_by_fewer_and_dearer_mistakes(chapter, seed, factor):
    ten = chapter["world"].train[10 * seed - 10 : 10 * seed]
    _, losses, mistakes = chapter["learn"](ten, 0.01 * factor, seed)
    training, held_out = losses["training"], losses["held out"]
    assert held_out[-1] > training[-1] + 0.9
    if factor <= 1:
        turn = held_out.index(min(held_out))
        assert held_out[-1] > held_out[turn] + 0.05
        assert training[-1] < training[turn] - 0.1
        (before, cost), (after, dearer) = mistakes[turn], mistakes[-1]
        # At a third of the rate it has just begun when the training ends.
        assert after < before - (0.03 if factor == 1 else 0.01)
        assert dearer > (1.2 if factor == 1 else 1.05) * cost


@pytest.mark.parametrize(("seed", "factor"), [(1, 1), (2, 1 / 3), (3, 3)])
def test_twenty_thousand_stories_are_not(chapter, seed, factor):
    _, losses, _ = chapter["learn"](chapter["world"].train, 0.01 * factor, seed)
    training, held_out = losses["training"], losses["held out"]
    pairs = zip(training, held_out, strict=True)
    assert max(abs(one - other) for one, other in pairs) < (
        0.05 if factor <= 1 else 0.15
    )
    assert held_out[-1] < min(held_out) + 0.1
    if factor <= 1:
        assert held_out[-1] < held_out[5] - 0.05  # it still falls


@pytest.mark.parametrize("seed", SEEDS)
def test_low_losses_mislead(chapter, seed):
    build, start, train = (chapter[name] for name in ("build", "start", "train"))
    models = {"unshifted": build(seed=seed), "unplaced": build(False, seed)}
    draws = {"unshifted": chapter["unshifted_batch"], "unplaced": chapter["get_batch"]}
    for name, model in models.items():
        assert train(model, *start(model), 200, draws[name])[-1] < 0.4
    encode, logits_of = chapter["tokenizer"].encode, chapter["logits_of"]
    orders = torch.tensor([encode(text) for text in ("hello wo", "w olleho")])
    copied = logits_of(models["unshifted"], orders[:1]).argmax(dim=-1)
    assert torch.equal(copied, orders[:1])
    last = logits_of(models["unplaced"], orders)[:, -1]
    torch.testing.assert_close(last[0], last[1], atol=1e-4, rtol=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_text_learned_by_heart_says_nothing_about_another(chapter, seed):
    model = chapter["build"](seed=seed)
    assert chapter["train"](model, *chapter["start"](model), 200)[-1] < 0.05
    inputs, targets = chapter["windows"]("world hello")
    logits = chapter["logits_of"](model, inputs).flatten(0, 1)
    loss = torch.nn.functional.cross_entropy(logits, targets.flatten())
    assert loss > 2 * torch.tensor(8.0).log()


@pytest.mark.parametrize("seed", SEEDS)
def test_up_to_a_rate_of_001_the_loss_falls_sooner_with_a_larger_one(chapter, seed):
    build, start, train = (chapter[name] for name in ("build", "start", "train"))

    def at_rate(rate):
        model = build(seed=seed)
        return train(model, *start(model, rate), 200)

    until_1 = [
        sum(loss > 1 for loss in at_rate(rate)) for rate in (0.0003, 0.001, 0.003, 0.01)
    ]
    assert until_1 == sorted(set(until_1), reverse=True)
    assert at_rate(0.0001)[-1] > 1.5
    wild = at_rate(0.1)
    assert max(wild) > 3
    assert wild[-1] > 0.2


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_counting_overfits_and_agrees_with_the_nearest_animal(seed):
    world = corpus.load("little-world", held_out_stories=400, seed=seed)
    held_out, models = {}, {}
    for number in (2_000, 20_000):
        model = NGramModel(
            world.train[:number], 12, alphabet=world.alphabet, start="\n"
        )
        training = model.losses_by_order(world.train[:100])
        assert training == sorted(training, reverse=True)
        models[number] = model
        held_out[number] = model.losses_by_order(world.held_out[:100])
    few, many = held_out[2_000], held_out[20_000]
    assert 1 + few.index(min(few)) in (8, 9)
    assert few[-1] > min(few) + 0.03
    assert max(many[9:]) - min(many[9:]) < 0.01
    assert many[-1] < min(few)
    asked = accuracy(world.held_out, ngram_predictions(models[20_000]))
    assert asked["agreement"][0] > 0.97
    assert asked["attractor-same"][0] > 0.93
    assert asked["attractor-other"][0] <= 0.05


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_beginning_that_reaches_back_to_the_subject_was_hardly_ever_read(seed):
    world = corpus.load("little-world", held_out_stories=400, seed=seed)
    read, grammar = [], LittleWorld()
    for story in world.held_out:
        for place, kind in grammar.read(story)[1].items():
            if kind.startswith("attractor"):
                beginning = story[story.rindex("The ", 0, place) : place]
                read.append(world.train_text.count(beginning))
    assert 0.7 < read.count(0) / len(read) < 0.8
    assert max(read) <= 5
