"""Little-world's loss and right answers, as parts are added to a layer."""

import sys
from typing import Any

from experiments import running
from helpers.text import corpus, probes
from helpers.text.tokenizer import CharTokenizer

PARTS_OFF: dict[str, Any] = {"residual": False, "norm": "none", "mlp": False}
LADDER: dict[str, dict[str, Any]] = {
    "one attention layer": {"num_layers": 1, **PARTS_OFF},
    "+ residual path": {"num_layers": 1, **PARTS_OFF, "residual": True},
    "+ normalisation": {"num_layers": 1, "mlp": False},
    "+ MLP: one block": {"num_layers": 1},
    "two attention layers": {"num_layers": 2, "mlp": False},
    "two blocks": {"num_layers": 2},
    "six layers, no residual path": {"num_layers": 6, "mlp": False, "residual": False},
    "six layers": {"num_layers": 6, "mlp": False},
}


def run(size: running.Size) -> dict[str, Any]:
    """Train every rung.

    Returns:
        rows: a dict from each model to its "parameters", "loss" and "accuracy".
    """
    world = corpus.load("little-world", held_out_stories=size.stories)
    tokenizer = CharTokenizer(world.alphabet)
    rows = {}
    for name, changes in running.first_of(LADDER, size):
        configs = running.recipe(tokenizer, size, **changes)
        data = running.stories(world, tokenizer, configs[0].context_length)
        model, loss = running.trained(*configs, *data)
        predict = probes.model_predictions(model, tokenizer)
        shares = probes.accuracy(world.held_out, predict)
        rows[name] = {
            "parameters": running.count(model),
            "loss": running.rounded(loss),
            "accuracy": {
                kind: running.rounded(share) for kind, (share, _) in shares.items()
            },
        }
    return rows


if __name__ == "__main__":
    sys.exit(running.main(["ladder"]))
