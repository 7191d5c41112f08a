"""What each part of the training loop is for: changes, each at its own learning rate.

Every change of the plain recipe is trained from five seeds at five learning rates, and
at more until the best one has a worse one on either side. Its rate is chosen on
validation stories, and what is compared is the loss on others.

Beside these, two of the plain recipe: with few stories, which are overfitted; and as
long as in chapter 9, with the noise of a batch's gradient at several steps.
"""

import functools
import itertools
import statistics
import sys
from collections.abc import Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from experiments import many, running
from experiments.sweeps import RATES, SEEDS
from helpers.models.language_model import TransformerLM
from helpers.recorded.sweeps import best_rate, has
from helpers.text import corpus
from helpers.text.batches import Documents
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import TrainConfig
from helpers.training.loop import evaluate, train

PLAIN = "as it is"
# Each part of the loop switched off, or turned up.
PARTS: dict[str, dict[str, Any]] = {
    PLAIN: {},
    "no warm-up": {"warmup_steps": 0},
    "constant rate": {"schedule": "constant"},
    "no clipping": {"gradient_clip": None},
    "no weight decay": {"weight_decay": 0.0},
    "ten times the decay": {"weight_decay": 0.1},
}
# The first weights times a number: those of the embeddings, drawn with a standard
# deviation of 0.1, and those of the layers in the blocks.
FIRST_WEIGHTS: dict[str, dict[str, float]] = {
    "embeddings of 1": {"embeddings": 10.0},
    "embeddings of 0.02": {"embeddings": 0.2},
    "layers × 3": {"layers": 3.0},
    "layers / 3": {"layers": 1 / 3},
}
LONGEST = "64, as many steps"  # a run takes four times as long as others
# Stories in a batch, and how many times as many steps: either as many stories are seen,
# or as many steps are made, as in the plain recipe.
BATCHES: dict[str, tuple[int, float]] = {
    "64, as many stories": (64, 0.25),
    "4, as many stories": (4, 4.0),
    "4, as many steps": (4, 1.0),
    LONGEST: (64, 1.0),
}
CHANGES = (*PARTS, *FIRST_WEIGHTS, *BATCHES)
SWEEP = RATES[4:9]  # 0.002 to 0.032, where the sweep of a change begins
SWEEPS = {PLAIN: RATES[2:10], LONGEST: RATES[5:8]}  # those that begin elsewhere
STEPS = 300
STORIES = {"validation": 500, "test": 1_000}
# Overfitting: so many stories to train on, for longer, and how often to look.
FEW, FEW_RATE, FEW_STEPS, LOOKS = 100, 0.008, 600, 20
# The gradient's noise in chapter 9's run, and after which steps it is measured on how
# many stories: the smaller the gradient has become, the more it takes to see it.
RECIPE_RATE, RECIPE_STEPS, NOISY_BATCH = 0.004, 2_400, 16
NOISE_AFTER = {12: 2_000, 100: 2_000, 600: 8_000, 2_400: 20_000}
PARTS_OF_A_RUN = 12  # the training loss is kept as so many means


@functools.cache  # for each process once
def texts(validation: int, test: int) -> tuple[corpus.Corpus, tuple[str, ...]]:
    """The corpus with its held-out test stories, and others to choose rates on."""
    world = corpus.load("little-world", held_out_stories=test)
    other = corpus.load(
        "little-world", seed=1, train_stories=1, held_out_stories=validation
    )
    return world, other.held_out


def build(
    tokenizer: CharTokenizer, settings: many.Settings
) -> tuple[TransformerLM, TrainConfig]:
    """A model with the first weights of a seed, and how to train it."""
    change = settings.get("change", PLAIN)
    batch_size, times = BATCHES.get(change, (16, 1.0))
    steps = round(settings["steps"] * times)
    options = {
        "learning_rate": settings["rate"],
        "seed": settings["seed"],
        "batch_size": batch_size,
        "steps": steps,
        "warmup_steps": steps // 6,
        **PARTS.get(change, {}),
    }
    if "noise" in settings:
        del options["warmup_steps"]  # as the recipe has it
    size = running.Size(steps=steps, stories=0, variants=0, characters=0)
    model_config, train_config = running.recipe(tokenizer, size, **options)
    torch.manual_seed(settings["seed"])
    model = TransformerLM(model_config)
    scale_first_weights(model, **FIRST_WEIGHTS.get(change, {}))
    return model, train_config


def scale_first_weights(
    model: TransformerLM, *, embeddings: float = 1.0, layers: float = 1.0
) -> None:
    """Multiply the embeddings, and the matrices of the blocks; the head stays."""
    with torch.no_grad():
        for part in model.modules():
            if isinstance(part, nn.Embedding):
                part.weight *= embeddings
            elif isinstance(part, nn.Linear) and part is not model.head:
                part.weight *= layers


def train_one(settings: many.Settings, **stories: int) -> many.Run:
    """Train one model.

    Args:
        settings: a dict of "rate", "seed" and "steps", and either of a "change", of the
            number of "stories" to train on, or of the batch whose "noise" is measured.
        stories: how many of the "validation" and of the "test" to measure on.

    Returns:
        run: a dict of the "validation" and "test" loss in nats per character, of the
            training loss as a "curve" of means, and of the share of steps in which the
            gradient was "long", which is 1 or more; for few stories, of the training
            and held-out loss as "curves" instead; for noise, of what ``gradient_noise``
            finds as "looks". Where the loss grew without bound, a "validation" loss of
            None.
    """
    world, validation = texts(**STORIES | stories)
    tokenizer = CharTokenizer(world.alphabet)
    model, config = build(tokenizer, settings)
    length = model.config.context_length
    data, test, other = (
        Documents.from_texts(part, tokenizer, length)
        for part in (world.train[: settings.get("stories")], world.held_out, validation)
    )
    if "stories" in settings:
        return {"curves": curves(model, data, other, config)}
    if "noise" in settings:
        return {"looks": looks(model, data, config, settings["noise"])}
    lengths: list[float] = []

    def note(step: int, _: nn.Module) -> None:
        if step:
            lengths.append(gradient_length(model))

    try:
        options: dict[str, Any] = {"device": "cpu", "progress": False}
        result = train(model, data, config, after_step=note, **options)
    except FloatingPointError:  # the rate is too high
        return {"validation": None}
    return {
        "validation": running.rounded(evaluate(model, other)),
        "test": running.rounded(evaluate(model, test)),
        "curve": means([row.loss for row in result.history], PARTS_OF_A_RUN),
        # What was clipped is a hair shorter than 1.
        "long": running.rounded(statistics.fmean(one > 0.9999 for one in lengths)),
    }


def curves(
    model: TransformerLM, data: Documents, held_out: Documents, config: TrainConfig
) -> dict[str, list[float]]:
    """Train, and look at the loss on these stories and on others ever so often."""
    every = max(config.steps // LOOKS, 1)
    seen: dict[str, list[float]] = {"steps": [], "training": [], "held_out": []}

    def look(step: int, _: nn.Module) -> None:
        if step % every == 0:
            seen["steps"].append(step)
            seen["training"].append(running.rounded(evaluate(model, data)))
            seen["held_out"].append(running.rounded(evaluate(model, held_out)))

    train(model, data, config, after_step=look, device="cpu", progress=False)
    return seen


def looks(
    model: TransformerLM, data: Documents, config: TrainConfig, batch_size: int
) -> list[dict[str, float]]:
    """Train, and measure the gradient's noise after some steps."""
    found: list[dict[str, float]] = []

    def look(step: int, _: nn.Module) -> None:
        if step in NOISE_AFTER:
            batches = itertools.islice(
                data.all(batch_size), NOISE_AFTER[step] // batch_size
            )
            found.append({"step": step} | gradient_noise(model, batches))

    train(model, data, config, after_step=look, device="cpu", progress=False)
    return found


def gradient_noise(
    model: nn.Module, batches: Iterable[tuple[Tensor, Tensor]]
) -> dict[str, float]:
    """How long the gradient is, and how far that of one batch is off from it.

    Args:
        model: maps ids (B, T) to logits; its gradients are overwritten.
        batches: at least two pairs of inputs and targets, each (B, T).

    Returns:
        noise: a dict of the mean "loss", of the "whole" gradient's norm, and of how far
            a batch is "off": the root of the mean square distance. Both are estimates
            that more batches make better, but not larger or smaller: the norm of a mean
            over few batches would hold their noise.

    Source: McCandlish et al. 2018, section 2.2 and appendix A.1; off² / whole² is
    B_simple / B.
    """
    total, squares, losses = torch.zeros(()), 0.0, []
    for inputs, targets in batches:
        model.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())
        loss.backward()
        grads = [p.grad.flatten() for p in model.parameters() if p.grad is not None]
        gradient = torch.cat(grads).double()
        total = total + gradient
        squares += float(gradient @ gradient)
        losses.append(loss.item())
    count = len(losses)
    of_mean = float((total / count).norm()) ** 2
    variance = (squares - count * of_mean) / (count - 1)
    found = {"whole": of_mean - variance / count, "off": variance}
    roots = {name: max(square, 0.0) ** 0.5 for name, square in found.items()}
    return {
        "loss": running.rounded(statistics.fmean(losses)),
        **{name: float(f"{root:.4g}") for name, root in roots.items()},
    }


def gradient_length(model: nn.Module) -> float:
    """Of all parameters' gradients together."""
    grads = [one.grad for one in model.parameters() if one.grad is not None]
    return float(nn.utils.get_total_norm(grads))


def means(numbers: list[float], count: int) -> list[float]:
    """The means of that many stretches, as even as they can be."""
    ends = [round(i * len(numbers) / count) for i in range(count + 1)]
    return [
        running.rounded(statistics.fmean(numbers[start:end]))
        for start, end in itertools.pairwise(ends)
        if start < end
    ]


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks, of the plain recipe first."""
    sweeps: list[many.Settings] = []
    for change in CHANGES:
        runs = [run for run in record["runs"] if run.get("change") == change]
        sweeps += [
            {"change": change, "rate": rate, "seed": seed, "steps": STEPS}
            for rate in widened(SWEEPS.get(change, SWEEP), runs)
            for seed in SEEDS
        ]
    few = [
        {"stories": FEW, "rate": FEW_RATE, "seed": seed, "steps": FEW_STEPS}
        for seed in SEEDS
    ]
    noise = [
        {"noise": NOISY_BATCH, "rate": RECIPE_RATE, "seed": seed, "steps": RECIPE_STEPS}
        for seed in SEEDS
    ]
    first = [settings for settings in sweeps if settings["change"] == PLAIN]
    every = first + few + noise + sweeps[len(first) :]
    return [
        settings
        for settings in every
        if not any(has(run, settings) for run in record["runs"])
    ]


def widened(rates: tuple[float, ...], runs: list[many.Run]) -> tuple[float, ...]:
    """The rates of a sweep, and one more on the side where the best has none."""
    while True:
        of_rate = {
            rate: [run["validation"] for run in runs if run["rate"] == rate]
            for rate in rates
        }
        if any(len(losses) < len(SEEDS) for losses in of_rate.values()):
            return rates
        best = best_rate([run for run in runs if run["rate"] in rates])
        first, last = RATES.index(rates[0]), RATES.index(rates[-1])
        if best == rates[0] and first > 0:
            rates = RATES[first - 1 : last + 1]
        elif best == rates[-1] and last + 1 < len(RATES):
            rates = RATES[first : last + 2]
        else:
            return rates


if __name__ == "__main__":
    sys.exit(many.main("optimisation", wanted, train_one))
