"""When induction heads form: scores and losses during training, on repeated texts.

The texts are random characters told twice, of a length that varies, so that nothing but
going back to what came next the last time predicts the second copy. One layer and two,
with MLPs and without; and one layer that is given what stood before each character, as
an embedding of pairs, which an earlier layer would have to find out.
"""

import random
import string
import sys
from typing import Any

import torch
from torch import Tensor, nn

from experiments import many, running, sweeps
from helpers.models import induction
from helpers.models.language_model import TransformerLM
from helpers.text.batches import Documents
from helpers.text.encoding import encode_for_model
from helpers.text.repeats import repeats
from helpers.text.tokenizer import CharTokenizer
from helpers.training.loop import evaluate, train

MODELS: dict[str, dict[str, Any]] = {
    "one attention layer": {"num_layers": 1, "mlp": False},
    "two attention layers": {"num_layers": 2, "mlp": False},
    "one block": {"num_layers": 1},
    "two blocks": {"num_layers": 2},
    "one attention layer, pairs": {
        "num_layers": 1,
        "mlp": False,
        "pair_embedding": True,
    },
}
BEGIN = (0.001, 0.002, 0.004)
STEPS = 1_000
EVERY = 50  # steps between two measurements
ALPHABET = string.ascii_lowercase
LENGTHS = (8, 32)  # of a copy, in training
MEASURED = 26  # characters of a copy, where scores are taken
TEXTS = {"train": 20_000, "validation": 500, "measured": 50}


def train_one(settings: many.Settings, **texts: int) -> many.Run:
    """Train one model, and watch its heads.

    Args:
        settings: a dict of "model", "rate", "seed" and "steps".
        texts: how many, where not as in ``TEXTS``.

    Returns:
        run: a dict of the "validation" loss in nats per character, over whole texts;
            of the number of each "step" at which was measured; and of what was found
            there, in a list for each: the loss on the "first" and on the "second" copy
            (``losses_of_copies``), and by layer and head "prefix_matching" and
            "previous_token", by layer and two heads "in_two_steps", and of the copying
            matrices the "positive_share" and the "own_rank" (all from
            ``helpers.models.induction``).
    """
    count = TEXTS | texts
    tokenizer = CharTokenizer("\n" + ALPHABET)
    size = running.Size(settings["steps"], stories=0, variants=0, characters=0)
    changes = MODELS[settings["model"]] | {"schedule": "constant"}
    model_config, train_config = running.recipe(
        tokenizer,
        size,
        learning_rate=settings["rate"],
        seed=settings["seed"],
        **changes,
    )
    data, validation = (
        Documents.from_texts(
            repeats(count[part], ALPHABET, LENGTHS, random.Random(part)),
            tokenizer,
            model_config.context_length,
        )
        for part in ("train", "validation")
    )
    watch = Watch(measured_ids(tokenizer, count["measured"]))
    torch.manual_seed(settings["seed"])
    model = TransformerLM(model_config)
    train(
        model, data, train_config, device="cpu", progress=False, after_step=watch.look
    )
    return {"validation": running.rounded(evaluate(model, validation)), **watch.found}


def measured_ids(tokenizer: CharTokenizer, count: int) -> Tensor:
    """The texts (B, 1 + 2n) that scores are taken on."""
    lengths = (MEASURED, MEASURED)
    texts = repeats(count, ALPHABET, lengths, random.Random("measured"))
    return encode_for_model(texts, tokenizer)


class Watch:
    """What is measured during a training.

    Args:
        ids: (B, 1 + 2n) texts that repeat themselves.

    Attributes:
        found: a dict of lists, as ``train_one`` returns it.
    """

    def __init__(self, ids: Tensor) -> None:
        self.ids = ids
        self.found: dict[str, list[Any]] = {}

    def look(self, step: int, model: nn.Module) -> None:
        """Measure after every so many steps."""
        if step % EVERY or not isinstance(model, TransformerLM):
            return
        first, second = induction.losses_of_copies(model, self.ids)
        config = model.config
        added = [
            [induction.copying_matrix(model, i, h) for h in range(config.num_heads)]
            for i in range(config.num_layers)
        ]
        measured = {
            "step": step,
            "first": running.rounded(first),
            "second": running.rounded(second),
            "prefix_matching": _places(induction.prefix_matching(model, self.ids)),
            "in_two_steps": _places(induction.in_two_steps(model, self.ids)),
            "previous_token": _places(induction.previous_token(model, self.ids)),
            "positive_share": [
                [round(induction.positive_share(one), 3) for one in of] for of in added
            ],
            "own_rank": [
                [round(induction.own_rank(one), 3) for one in of] for of in added
            ],
        }
        for name, value in measured.items():
            self.found.setdefault(name, []).append(value)


def _places(scores: Tensor) -> list[Any]:
    """Scores of any rank, nested as a record holds them."""
    return scores.double().mul(1000).round().div(1000).tolist()


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks."""
    sides = ({"model": name, "steps": STEPS} for name in MODELS)
    return sweeps.lacking_of_all(record, sides, BEGIN)


if __name__ == "__main__":
    sys.exit(many.main("induction", wanted, train_one))
