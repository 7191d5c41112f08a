"""How far the trainer in the page comes, in which time, in headless Chromium.

Each run is one training in a page of its own, from one seed, by one of the page's
recipes, with the page's sizes: its loss on the page's held-out stories every fifty
steps, what the grammar itself loses on these, the answers at the end, and the time of a
step. The code is the page's own. On the first seed, half and twice each recipe's rates
are tried too.
"""

import math
import shutil
import sys
from typing import Any

from playwright.sync_api import sync_playwright

from experiments import many, running
from helpers.text.little_world import WORDS, whole_world
from helpers.views.learning_in_the_page import (
    BATCH_SIZE,
    CONTEXT_LENGTH,
    RECIPES,
    SIZES,
)
from helpers.views.view import bundle_of

SEEDS = range(1, 6)
FACTORS = (0.5, 2)  # of a recipe's rates, tried on the first seed
EXAMINED = 50  # steps between two looks at the held-out stories
BROWSERS = ("chromium", "google-chrome")
MODULE = """(settings) => {
%s
window.training = new Training(settings);
}"""
LEARN = """(steps) => {
  const begun = performance.now();
  for (let i = 0; i < steps; i += 1) window.training.learn();
  return performance.now() - begun;
}"""
EXAMINE = "() => ({ ...training.examine(), least: training.texts.least })"


def rates_of(recipe: str, factor: float = 1) -> dict[str, float]:
    """The learning rates of a recipe of the page, times a factor."""
    training = RECIPES[recipe]["training"]
    names = ["learningRate"]
    if training["optimizer"] == "muon":
        names.append("muonLearningRate")
    return {name: factor * training[name] for name in names}


def settings_of(
    recipe: str, seed: int, rates: dict[str, float] | None = None, **sizes: int
) -> dict[str, Any]:
    """What the page's worker gets for a training.

    Args:
        recipe: one of the page's ``RECIPES``.
        seed: at least 0.
        rates: learning rates by name, those of the recipe where left out.
        sizes: "steps", "width", "heads" or "layers" that differ from the page's.
    """
    sizes = SIZES | sizes
    steps = sizes.pop("steps")
    training = RECIPES[recipe]["training"] | (rates or {})
    world = whole_world()
    return {
        "model": RECIPES[recipe]["model"] | sizes | {"contextLength": CONTEXT_LENGTH},
        "recipe": training
        | {"steps": steps, "warmupSteps": math.ceil(training["warmup"] * steps)},
        "batchSize": BATCH_SIZE,
        "seed": seed,
        "alphabet": world.alphabet,
        "longestStory": world.longest_story,
        "words": {kind: list(map(list, of.items())) for kind, of in WORDS.items()},
    }


def train_one(settings: many.Settings, **sizes: int) -> many.Run:
    """Train once in a page.

    Args:
        settings: a dict of the "recipe", its "rates", the "steps" and the "seed".
        sizes: as for ``settings_of``.

    Returns:
        run: a dict of the "losses", pairs of a step and nats per character; the "least"
            that the grammar loses there; "right", the answers by kind, pairs of right
            and all; and the mean "milliseconds" of a step.

    Raises:
        RuntimeError: no Chromium is installed.
    """
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise RuntimeError(f"one of {', '.join(BROWSERS)} must be installed")
    recipe, rates, seed = (settings[name] for name in ("recipe", "rates", "seed"))
    steps = settings["steps"]
    given = settings_of(recipe, seed, rates, steps=steps, **sizes)
    losses, milliseconds = [], 0.0
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"]
        ) as browser,
    ):
        page = browser.new_page()
        page.evaluate(MODULE % bundle_of("training"), given)
        for done in range(0, steps, EXAMINED):
            milliseconds += page.evaluate(LEARN, min(EXAMINED, steps - done))
            found = page.evaluate(EXAMINE)
            at = min(done + EXAMINED, steps)
            losses.append([at, running.rounded(found["loss"])])
    return {
        "losses": losses,
        "least": running.rounded(found["least"]),
        "right": found["answers"],
        "milliseconds": round(milliseconds / steps),
    }


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks."""
    sweep = [(SEEDS[0], factor) for factor in FACTORS]
    every: list[many.Settings] = [
        {
            "recipe": recipe,
            "rates": rates_of(recipe, factor),
            "steps": SIZES["steps"],
            "seed": seed,
        }
        for runs in (sweep, [(seed, 1.0) for seed in SEEDS])
        for recipe in reversed(RECIPES)
        for seed, factor in runs
    ]
    had = [{name: run[name] for name in every[0]} for run in record["runs"]]
    return [settings for settings in every if settings not in had]


if __name__ == "__main__":
    sys.exit(many.main("learning_in_the_page", wanted, train_one))
