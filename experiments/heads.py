"""What a model loses without one of its heads, or two, over twenty seeds."""

import contextlib
import itertools
import sys
from typing import Any

import torch
from torch import Tensor

from experiments import many, running
from helpers.models.language_model import TransformerLM
from helpers.models.switches import silenced
from helpers.recorded import results
from helpers.text import corpus
from helpers.text.batches import Documents
from helpers.text.tokenizer import CharTokenizer

SEEDS = range(20)
Head = tuple[int, int]  # its layer and number, from 0
AVERAGED = 200  # of the training stories, for the means


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
            named by layer and number, both from 1, as in "2.4".
    """
    world = corpus.load("little-world", held_out_stories=size.stories)
    tokenizer = CharTokenizer(world.alphabet)
    configs = running.recipe(tokenizer, size, seed=settings["seed"])
    sizes = configs[0]
    data, held_out = running.stories(world, tokenizer, sizes.context_length)
    model, loss = running.trained(*configs, data, held_out)
    model.eval()

    def right(*off: Head, by: dict[Head, Tensor] | None = None) -> dict[str, int]:
        with contextlib.ExitStack() as stack:
            for place in off:
                instead = 0.0 if by is None else by[place]
                stack.enter_context(silenced(model, *place, instead=instead))
            return running.right_answers(model, tokenizer, world.held_out)

    heads = list(itertools.product(range(sizes.num_layers), range(sizes.num_heads)))
    means = mean_contexts(model, data)
    return {
        "loss": running.rounded(loss),
        "whole": right(),
        "zeros": {name(one): right(one) for one in heads},
        "mean": {name(one): right(one, by=means) for one in heads},
        "pairs": {
            " ".join(map(name, pair)): right(*pair)
            for pair in itertools.combinations(heads, 2)
        },
    }


def name(head: Head) -> str:
    """A head's layer and number, both from 1."""
    return f"{head[0] + 1}.{head[1] + 1}"


def mean_contexts(model: TransformerLM, data: Documents) -> dict[Head, Tensor]:
    """The mean context (D,) of each head over the positions of some stories."""
    kept: list[Tensor] = []
    hooks = [
        block.get_submodule("attention.out_proj").register_forward_pre_hook(
            lambda _, inputs: kept.append(inputs[0])
        )
        for block in model.blocks
    ]
    ids, targets = next(iter(data.all(AVERAGED)))
    with torch.no_grad():
        model(ids)
    for hook in hooks:
        hook.remove()
    real = targets >= 0
    means = {}
    for layer, contexts in enumerate(kept):
        mean = contexts[real].mean(dim=0).chunk(model.config.num_heads)
        means.update({(layer, head): one for head, one in enumerate(mean)})
    return means


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The seeds that a record lacks."""
    done = {run["seed"] for run in record["runs"]}
    return [{"seed": seed} for seed in SEEDS if seed not in done]


def main(arguments: list[str]) -> int:
    """Train what the record lacks; it may be stopped and started at any time.

    Args:
        arguments: how many processes train side by side; one for each core where empty.
    """
    processes = int(arguments[0]) if arguments else None
    path = results.FOLDER / "heads.json"
    many.complete(path, wanted, train_one, processes=processes)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
