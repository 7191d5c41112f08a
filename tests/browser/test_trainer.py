"""The page's trainer without its page: it computes what PyTorch and helpers compute."""

import copy
import dataclasses
import random

import pytest
import torch
import torch.nn.functional as F

from experiments.learning_in_the_page import rates_of, settings_of
from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.recorded import results
from helpers.text import probes
from helpers.text.little_world import WORDS, whole_world
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import TrainConfig
from helpers.training.optimizers import learning_rate_at, make_optimizers
from helpers.views.learning_in_the_page import RECIPES
from helpers.views.view import bundle_of

WORDS_OF_THE_PAGE = {kind: list(map(list, of.items())) for kind, of in WORDS.items()}
NAMES = {
    "vocab_size": "vocabSize",
    "context_length": "contextLength",
    "d_model": "width",
    "num_heads": "heads",
    "num_layers": "layers",
    "positions": "positions",
    "norm": "norm",
    "activation": "activation",
}


@pytest.fixture(scope="module")
def run(chromium):
    """A function that runs lines behind a module, with an ``input``."""
    context = chromium.new_context()
    page = context.new_page()
    yield lambda name, lines, given=None: page.evaluate(
        f"(input) => {{\n{bundle_of(name)}\n{lines}\n}}", given
    )
    context.close()


def config_of(seed):
    """One of many shapes that a model in the page may have."""
    rng = random.Random(seed)
    heads = rng.choice([1, 2, 3, 4])
    return TransformerConfig(
        vocab_size=rng.choice([5, 13, 54]),
        context_length=rng.choice([9, 40, 70]),
        d_model=heads * rng.choice([4, 6, 8, 16]),
        num_heads=heads,
        num_layers=rng.choice([1, 2, 3]),
        positions=rng.choice(["learned", "rotary"]),
        norm=rng.choice(["layer", "rms"]),
        activation=rng.choice(["gelu", "squared_relu"]),
    )


def model_of(config, seed):
    """A model whose norms and biases aren't as at the start."""
    torch.manual_seed(seed)
    model = TransformerLM(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def texts_of(config, seed):
    """A few texts, one of which has a position without a target."""
    rng = random.Random(seed)
    texts = []
    for _ in range(rng.choice([1, 2, 4])):
        length = rng.randint(2, config.context_length)
        inputs, targets = (
            [rng.randrange(config.vocab_size) for _ in range(length)] for _ in range(2)
        )
        texts.append({"inputs": inputs, "targets": targets})
    texts[0]["targets"][0] = -1
    return texts


def loss_of(model, texts):
    """The mean over all targets, in nats."""
    total, count = torch.zeros(()), 0
    for text in texts:
        logits = model(torch.tensor([text["inputs"]]))[0]
        targets = torch.tensor(text["targets"])
        total = total + F.cross_entropy(
            logits, targets, ignore_index=-1, reduction="sum"
        )
        count += int((targets >= 0).sum())
    return total / count


def model_from(config, weights):
    """A model of helpers with the weights of one in the page."""
    model = TransformerLM(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.tensor(weights[name]).reshape(parameter.shape))
    return model


def handed_over(model):
    """A model as the page's JavaScript takes it."""
    options = dataclasses.asdict(model.config)
    return {
        "config": {ours: options[name] for name, ours in NAMES.items()},
        "weights": {
            name: parameter.detach().flatten().tolist()
            for name, parameter in model.named_parameters()
        },
    }


TAKE = """
const learner = new Learner(input.config);
for (const [name, numbers] of Object.entries(input.weights))
  learner.parameters.named[name].set(numbers);
"""
FIND = """
const loss = learner.learnFrom(packed(input.texts));
const gradients = Object.entries(learner.gradients.named);
return [loss, gradients.map(([name, numbers]) => [name, Array.from(numbers)])];
"""


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(16))
def test_each_gradient_is_pytorchs(run, seed):
    model = model_of(config_of(seed), seed)
    texts = texts_of(model.config, seed)
    found, gradients = run(
        "learner", TAKE + FIND, handed_over(model) | {"texts": texts}
    )
    loss = loss_of(model, texts)
    loss.backward()
    assert found == pytest.approx(loss.item(), abs=1e-5, rel=1e-5)
    expected = dict(model.named_parameters())
    assert [name for name, _ in gradients] == list(expected)
    for name, numbers in gradients:
        right = expected[name].grad.flatten()
        off = (torch.tensor(numbers) - right).norm()
        assert off <= 1e-4 * right.norm() + 1e-9, name


def test_a_second_batch_forgets_the_first(run):
    model = model_of(config_of(3), 3)
    texts = texts_of(model.config, 3)
    longer = [*texts_of(model.config, 4), *texts]
    lines = f"{TAKE}learner.learnFrom(packed(input.longer));{FIND}"
    given = handed_over(model) | {"texts": texts}
    assert run("learner", lines, given | {"longer": longer}) == run(
        "learner", TAKE + FIND, given
    )


STEPS = """
const optimiser = new Optimiser(learner, input.recipe);
return input.batches.map((texts) => {
  const loss = learner.learnFrom(packed(texts));
  optimiser.update();
  return loss;
});
"""


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("layers", [1, 2])
def test_ten_steps_follow_pytorchs_losses(run, recipe, layers):
    options, training = RECIPES[recipe]["model"], RECIPES[recipe]["training"]
    config = TransformerConfig(
        vocab_size=13,
        context_length=40,
        d_model=32,
        num_heads=4,
        num_layers=layers,
        **options,
    )
    torch.manual_seed(layers)
    model = TransformerLM(config)
    batches = [texts_of(config, step % 2) for step in range(10)]
    steps = TrainConfig(
        steps=12,
        warmup_steps=3,
        batch_size=1,
        optimizer=training["optimizer"],
        learning_rate=training["learningRate"],
        muon_learning_rate=training["muonLearningRate"],
        schedule=training["schedule"],
        weight_decay=training["weightDecay"],
    )
    given = handed_over(model) | {
        "batches": batches,
        "recipe": training | {"steps": 12, "warmupSteps": 3},
    }
    losses = run("training", TAKE + STEPS, given)
    assert losses == pytest.approx(trained(model, batches, steps), abs=1e-3)
    assert min(losses) < losses[0] - 0.01


def trained(model, batches, config):
    """The losses of the same steps by helpers' own optimizers."""
    optimizers = make_optimizers(model, config)
    rates = [
        [group["lr"] for group in optimizer.param_groups] for optimizer in optimizers
    ]
    losses = []
    for step, texts in enumerate(batches, 1):
        share = learning_rate_at(config, step) / config.learning_rate
        for optimizer, highest in zip(optimizers, rates, strict=True):
            for group, rate in zip(optimizer.param_groups, highest, strict=True):
                group["lr"] = share * rate
            optimizer.zero_grad()
        loss = loss_of(model, texts)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), config.gradient_clip)
        for optimizer in optimizers:
            optimizer.step()
        losses.append(loss.item())
    return losses


def test_half_a_character_of_a_text_becomes_a_sign_that_can_be_saved(run):
    lines = r'return new OwnText("abc \ud83d def ".repeat(200), 20).alphabet.join("");'
    assert run("texts", lines) == " abcdef\ufffd"


TELL = """
const random = randomFrom(input.seed);
return Array.from({ length: input.count }, () => tell(input.words, random));
"""


def test_a_story_has_the_grammars_probability_and_questions(run):
    world = whole_world()
    given = {"seed": 7, "count": 1000, "words": WORDS_OF_THE_PAGE}
    stories = run("texts", TELL, given)
    assert len({story["text"] for story in stories}) > 990
    for story in stories:
        logs, marks = world.read(story["text"])
        assert -sum(logs) == pytest.approx(story["nats"], abs=1e-9)
        assert dict(story["marks"]) == marks
    # Of so many stories, the mean lies within four standard errors.
    mean = sum(story["nats"] for story in stories) / len(stories)
    error = (world.nats_variance / len(stories)) ** 0.5
    assert abs(mean - world.nats_per_story) < 4 * error


CLOSING = """
return new Stories(input.words, [...input.alphabet]).heldOut.flatMap(
  ({ text, marks }) =>
    marks.filter(([, kind]) => kind === "quote").map(([place]) => text[place])
);
"""


def test_what_one_mark_always_answers_is_right_as_often_as_chapter_10_says(run):
    given = {"words": WORDS_OF_THE_PAGE, "alphabet": whole_world().alphabet}
    closing = run("texts", CLOSING, given)
    assert (closing.count('"'), closing.count("'")) == (35, 47)
    recorded = results.record("learning_in_the_page")["runs"]
    assert [35, len(closing)] in [one["right"]["quote"] for one in recorded]


WEIGHTS = """
const weightsOf = (training) => Object.fromEntries(
  Object.entries(training.learner.parameters.named).map(
    ([name, numbers]) => [name, [...numbers]]
  )
);
"""
FIRST = f"{WEIGHTS}return weightsOf(new Training(input));"


@pytest.mark.parametrize("recipe", RECIPES)
def test_first_weights_are_drawn_as_those_of_helpers(run, recipe):
    settings = settings_of(recipe, 3, width=64, layers=1)
    ours = run("training", FIRST, settings)
    torch.manual_seed(0)
    size = len(whole_world().alphabet)
    theirs = TransformerLM(
        TransformerConfig(size, 128, 64, 4, 1, **RECIPES[recipe]["model"])
    )
    assert list(ours) == [name for name, _ in theirs.named_parameters()]
    for name, parameter in theirs.named_parameters():
        found, expected = torch.tensor(ours[name]), parameter.detach().flatten()
        if parameter.dim() == 1:
            assert found.equal(expected), name  # 1 or 0
            continue
        assert found.mean().abs() < 4 * expected.std() / len(found) ** 0.5, name
        assert found.std().item() == pytest.approx(expected.std().item(), rel=0.05)
        # Where numbers have a bound, they nearly reach it; normal ones have none.
        is_normal = "embedding" in name or name == "head.weight"
        highest, other = found.abs().max().item(), expected.abs().max().item()
        assert highest == pytest.approx(other, rel=0.25 if is_normal else 0.03), name
    again = run("training", FIRST, settings)
    other = run("training", FIRST, settings | {"seed": 4})
    assert again == ours != other


LEARNED = (
    WEIGHTS
    + """
const training = new Training(input.settings);
for (let step = 0; step < input.steps; step += 1) training.learn();
return {
  weights: weightsOf(training),
  stories: training.texts.heldOut.map(({ text }) => text),
  least: training.texts.least,
  found: training.examine(),
  looks: input.looks.map((where) => training.look(...where)),
};
"""
)
LOOKS = [(0, 0, 0), (7, 1, 2), (99, 1, 3)]


@pytest.fixture(scope="module", params=RECIPES)
def learned(run, request):
    """What the page says after ten steps, and the same model of helpers."""
    settings = settings_of(request.param, 1, width=32, layers=2)
    said = run("training", LEARNED, {"settings": settings, "steps": 10, "looks": LOOKS})
    options = RECIPES[request.param]["model"]
    size = len(whole_world().alphabet)
    config = TransformerConfig(size, 128, 32, 4, 2, **options)
    return said | {"settings": settings}, model_from(config, said["weights"])


@pytest.mark.one_in(2)
def test_what_is_found_on_held_out_stories_is_what_helpers_find(learned):
    said, model = learned
    stories, world = said["stories"], whole_world()
    assert len(set(stories)) == 100
    tokenizer = CharTokenizer(world.alphabet)
    rows = probes.log_probabilities(model, tokenizer, stories)
    nats = -sum(
        row.gather(1, torch.tensor(tokenizer.encode(story))[:, None]).sum().item()
        for row, story in zip(rows, stories, strict=True)
    )
    count = sum(map(len, stories))
    assert said["found"]["loss"] == pytest.approx(nats / count, rel=1e-5)
    least = -sum(sum(world.read(story)[0]) for story in stories) / count
    assert said["least"] == pytest.approx(least, rel=1e-9)
    shares = probes.accuracy(stories, probes.model_predictions(model, tokenizer))
    found = said["found"]["answers"]
    assert {kind: all_ for kind, (_, all_) in found.items()} == {
        kind: all_ for kind, (_, all_) in shares.items()
    }
    # float32 may turn an answer that stands on the edge.
    off = [abs(right - shares[kind][0] * all_) for kind, (right, all_) in found.items()]
    assert sum(off) < 2


def test_where_a_head_looks_is_where_helpers_say(learned):
    said, model = learned
    tokenizer = CharTokenizer(whole_world().alphabet)
    for (place, layer, head), look in zip(LOOKS, said["looks"], strict=True):
        text = "\n" + said["stories"][place][:-1]
        assert "".join(look["characters"]) == text
        with torch.no_grad():
            _, weights = model(
                torch.tensor([tokenizer.encode(text)]), return_weights=True
            )
        torch.testing.assert_close(
            torch.tensor(look["weights"]),
            weights[layer][0, head],
            rtol=1e-4,
            atol=1e-5,
        )


WRITE = """
const training = new Training(input.settings);
for (const [name, numbers] of Object.entries(input.weights))
  training.learner.parameters.named[name].set(numbers);
const random = randomFrom(1);
return Array.from({ length: 400 }, () => training.write(input.most, random));
"""


def test_characters_are_drawn_as_often_as_the_model_expects(run, learned):
    said, learner = learned
    model = copy.deepcopy(learner)
    with torch.no_grad():  # sharper, so that one place's row isn't another's
        model.head.weight.mul_(4)
    weights = said["weights"] | {"head.weight": model.head.weight.flatten().tolist()}
    given = {"settings": said["settings"], "weights": weights, "most": 2}
    texts = run("training", WRITE, given)
    alphabet = whole_world().alphabet
    firsts = [text[0] for text in texts]
    often = max(alphabet, key=firsts.count)
    seconds = [text[1] for text in texts if text[0] == often]
    for before, drawn in (("", firsts), (often, seconds)):
        (rows,) = probes.log_probabilities(
            model, CharTokenizer(alphabet), [f"{before}x"]
        )
        for character, share in zip(alphabet, rows[-1].exp().tolist(), strict=True):
            error = (share * (1 - share) / len(drawn)) ** 0.5
            found = drawn.count(character) / len(drawn)
            assert abs(found - share) < 5 * error + 2 / len(drawn), character


FIFTY = """
const training = new Training(input);
for (let step = 0; step < 50; step += 1) training.learn();
return training.examine().loss;
"""


# Fifty steps at the page's own size: 30 seconds.
@pytest.mark.slow
@pytest.mark.parametrize("recipe", RECIPES)
def test_fifty_steps_give_what_was_recorded(run, recipe):
    rates = rates_of(recipe)
    (recorded,) = (
        one["losses"][0]
        for one in results.record("learning_in_the_page")["runs"]
        if (one["recipe"], one["rates"], one["seed"]) == (recipe, rates, 1)
    )
    loss = run("training", FIFTY, settings_of(recipe, 1))
    assert recorded == [50, pytest.approx(loss, abs=0.01)]
