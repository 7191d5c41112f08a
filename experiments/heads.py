"""What a model loses without one of its heads, or two, or a path between two of them.

Over twenty seeds.
"""

import contextlib
import itertools
import sys
from typing import Any

import torch
from torch import Tensor, nn

from experiments import many, running
from helpers.models.language_model import TransformerLM
from helpers.models.patching import Part, PathPatched, watched
from helpers.models.switches import silenced
from helpers.text import corpus, excess, probes
from helpers.text.batches import Documents
from helpers.text.decisions import DECISIONS
from helpers.text.tokenizer import CharTokenizer

SEEDS = range(20)
Head = tuple[int, int]  # its layer and number, from 0
Contexts = dict[Head, Tensor | float]
AVERAGED = 200  # of the training stories, for the means
FOLLOWED = 200  # of the held-out stories, for the paths
READERS = ("queries", "keys", "values")


def train_one(
    settings: many.Settings, *, size: running.Size = running.FULL
) -> many.Run:
    """Train two blocks with the plain recipe, and switch their heads off.

    Args:
        settings: a dict of the "seed".
        size: how many steps to train, and how many held-out stories to ask about.

    Returns:
        run: a dict of the held-out "loss", and of the number of "right" answers to each
            kind of question: "whole"; with a head's context replaced by "zeros" or by
            its "mean" over positions; and with "pairs" replaced by zeros. Heads are
            named by layer and number, both from 0: "1.3" is layer 1, head 3. The
            "excess" has the same keys; they lead to lists of expected nats per story
            above the grammar's, in the order of its "decisions"
            (``helpers.text.excess``). The "paths" are those of ``paths``.
    """
    world = corpus.load("little-world", held_out_stories=size.stories)
    tokenizer = CharTokenizer(world.alphabet)
    configs = running.recipe(tokenizer, size, seed=settings["seed"])
    data, held_out = running.stories(world, tokenizer, configs[0].context_length)
    model, loss = running.trained(*configs, data, held_out)
    model.eval()
    truth = excess.Truth(world.held_out)
    right: dict[str, Any] = {}
    nats: dict[str, Any] = {"decisions": DECISIONS}
    right["whole"], nats["whole"] = measure(model, tokenizer, truth, {})
    means = mean_contexts(model, data)
    for kind, replaced in replacements(means).items():
        right[kind], nats[kind] = {}, {}
        for heads, instead in replaced.items():
            found = measure(model, tokenizer, truth, instead)
            right[kind][heads], nats[kind][heads] = found
    few = excess.Truth(world.held_out[:FOLLOWED], truth.world)
    return {
        "loss": running.rounded(loss),
        **right,
        "excess": nats,
        "paths": paths(model, tokenizer, few, means),
    }


def paths(
    model: TransformerLM, tokenizer: CharTokenizer, truth: excess.Truth, means: Contexts
) -> dict[str, Any]:
    """What is lost where a head of layer 1 sees the mean of a head of layer 0.

    Args:
        model: a ``TransformerLM`` of two layers.
        tokenizer: the model's.
        truth: the stories.
        means: what stands in place of the contexts of layer 0.

    Returns:
        lost: a dict from "directly" and "through MLPs" (whether the MLP between them
            may answer to the change) to dicts from paths, such as "0.3 queries 1.1", to
            expected nats per story that are lost by it: one number for each of the
            ``KINDS``, and one for all other decisions together.
    """

    def lost(through: nn.Module) -> Tensor:
        rows = probes.log_probabilities(through, tokenizer, truth.stories)
        return truth.excess(rows).expected.mean(dim=0)

    whole = lost(model)
    heads = range(model.config.num_heads)
    found: dict[str, Any] = {}
    for way, through_mlps in (("directly", False), ("through MLPs", True)):
        found[way] = {}
        for sender, kind, receiver in itertools.product(heads, READERS, heads):
            patched = PathPatched(
                model,
                {Part("context", 0, sender): means[0, sender]},
                [Part(kind, 1, receiver)],
                through_mlps=through_mlps,
            )
            nats = (lost(patched) - whole).split(
                [len(probes.KINDS), len(DECISIONS) - len(probes.KINDS)]
            )
            path = f"{name((0, sender))} {kind} {name((1, receiver))}"
            every = [*nats[0].tolist(), float(nats[1].sum())]
            found[way][path] = [running.rounded(one) for one in every]
    return found


def replacements(means: Contexts) -> dict[str, dict[str, Contexts]]:
    """What stands in place of which heads' contexts: by kind, and by their names."""
    zeros: Contexts = dict.fromkeys(means, 0.0)
    pairs = itertools.combinations(zeros.items(), 2)
    return {
        "zeros": {name(one): {one: zeros[one]} for one in means},
        "mean": {name(one): {one: means[one]} for one in means},
        "pairs": {" ".join(name(head) for head, _ in two): dict(two) for two in pairs},
    }


def measure(
    model: TransformerLM,
    tokenizer: CharTokenizer,
    truth: excess.Truth,
    instead: Contexts,
) -> tuple[dict[str, int], list[float]]:
    """What a model knows of some stories while some heads' contexts are replaced.

    Args:
        model: a ``TransformerLM``.
        tokenizer: the model's.
        truth: the stories.
        instead: from heads to what stands in place of their contexts.

    Returns:
        right: a dict from kinds of questions to right answers.
        nats: a list, per story above the grammar's, in the order of the decisions.
    """
    with contextlib.ExitStack() as stack:
        for (layer, head), context in instead.items():
            stack.enter_context(silenced(model, layer, head, instead=context))
        rows = probes.log_probabilities(model, tokenizer, truth.stories)
    known = dict(zip(truth.stories, rows, strict=True))

    def predict(story: str, places: list[int]) -> Tensor:
        return known[story][places].exp()

    right = running.count_right(truth.stories, predict, truth.world)
    nats = truth.excess(rows).expected.mean(dim=0)
    return right, [round(one, 5) for one in nats.tolist()]


def name(head: Head) -> str:
    """A head's layer and number, both from 0."""
    return f"{head[0]}.{head[1]}"


def mean_contexts(model: TransformerLM, data: Documents) -> Contexts:
    """The mean context (D,) of each head over the positions of some stories."""
    layers, heads = range(model.config.num_layers), range(model.config.num_heads)
    places = list(itertools.product(layers, heads))
    ids, targets = next(iter(data.all(AVERAGED)))
    parts = [Part("context", *place) for place in places]
    with watched(model, parts) as given, torch.no_grad():
        model(ids)
    real = targets >= 0
    return {place: given[Part("context", *place)][real].mean(dim=0) for place in places}


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The seeds that a record lacks."""
    done = {run["seed"] for run in record["runs"]}
    return [{"seed": seed} for seed in SEEDS if seed not in done]


if __name__ == "__main__":
    sys.exit(many.main("heads", wanted, train_one))
