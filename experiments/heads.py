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
from helpers.text import corpus, probes
from helpers.text.batches import Documents
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import preset
from helpers.training.loop import evaluate, train

SEEDS = range(20)
STORIES = 1_000  # to ask about
AVERAGED = 200  # of the training stories, for the means


def train_one(settings: many.Settings) -> many.Run:
    """Train two blocks with the plain recipe, and switch their heads off.

    Args:
        settings: a dict of the "seed".

    Returns:
        run: a dict of the held-out "loss", and of the number of "right" answers to each
            kind of question: "whole"; with a head's context replaced by "zeros" or by
            its "mean" over positions; and with "pairs" replaced by zeros. Heads are
            named by layer and number, both from 1, as in "2.4".
    """
    world = corpus.load("little-world", held_out_stories=STORIES)
    tokenizer = CharTokenizer(world.alphabet)
    seed = settings["seed"]
    model_config, config = preset("plain", tokenizer.vocab_size, seed=seed)
    torch.manual_seed(seed)
    model = TransformerLM(model_config)
    data, held_out = running.stories(world, tokenizer, model_config.context_length)
    train(model, data, config, device="cpu", progress=False)
    model.eval()

    def right(
        *off: tuple[int, int], by: dict[tuple[int, int], Tensor] | None = None
    ) -> Any:
        with contextlib.ExitStack() as stack:
            for place in off:
                instead = 0.0 if by is None else by[place]
                stack.enter_context(silenced(model, *place, instead=instead))
            predict = probes.model_predictions(model, tokenizer, world.held_out)
        shares = probes.accuracy(world.held_out, predict).items()
        return {kind: round(share * asked) for kind, (share, asked) in shares}

    heads = list(itertools.product(range(model_config.num_layers), range(4)))
    means = mean_contexts(model, data)
    return {
        "loss": running.rounded(evaluate(model, held_out)),
        "whole": right(),
        "zeros": {name(one): right(one) for one in heads},
        "mean": {name(one): right(one, by=means) for one in heads},
        "pairs": {
            " ".join(map(name, pair)): right(*pair)
            for pair in itertools.combinations(heads, 2)
        },
    }


def name(head: tuple[int, int]) -> str:
    """A head's layer and number, both from 1."""
    return f"{head[0] + 1}.{head[1] + 1}"


def mean_contexts(
    model: TransformerLM, data: Documents
) -> dict[tuple[int, int], Tensor]:
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
