"""The story model, which runs in the page: trained anew, its two files rewritten."""

import json
from typing import Any

import safetensors.torch
import torch

from helpers.models.language_model import TransformerLM
from helpers.recorded.story_model import CHANGES, RECORD, WEIGHTS
from helpers.text import corpus, probes
from helpers.text.batches import Documents
from helpers.text.little_world import LittleWorld
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import preset
from helpers.training.loop import evaluate, train

COMMAND = "python -m experiments.story_model"
SHORT = {"steps": 20}
CORPUS_SEED = 0


def train_story_model(**changes: Any) -> tuple[TransformerLM, dict[str, Any]]:
    """Train the model, on the CPU, and measure what float16 weights reach.

    Args:
        changes: options of the recipe that differ, such as fewer ``steps``.

    Returns:
        model: a TransformerLM whose weights are float16 numbers.
        rows: a dict of "parameters", "steps", the seeds, the held-out "loss" in nats
            per character, the "floor", and the "accuracy" at each kind of question.
    """
    world = corpus.load("little-world", seed=CORPUS_SEED)
    tokenizer = CharTokenizer(world.alphabet)
    model_config, train_config = preset(
        "one-minute", tokenizer.vocab_size, **CHANGES | changes
    )
    data, held_out = (
        Documents.from_texts(part, tokenizer, model_config.context_length)
        for part in (world.train, world.held_out)
    )
    torch.manual_seed(train_config.seed)
    model = TransformerLM(model_config)
    train(model, data, train_config, device="cpu")
    model.half().float()
    shares = probes.accuracy(world.held_out, probes.model_predictions(model, tokenizer))
    return model, {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "steps": train_config.steps,
        "seed": train_config.seed,
        "corpus seed": CORPUS_SEED,
        "loss": round(evaluate(model, held_out), 4),
        "floor": round(LittleWorld().floor, 4),
        "accuracy": {kind: round(share, 4) for kind, (share, _) in shares.items()},
    }


def main() -> None:
    """Train the model and rewrite its two files."""
    _, short = train_story_model(**SHORT)
    model, full = train_story_model()
    rows = {
        "command": COMMAND,
        "torch": torch.__version__,
        "short": short,
        "full": full,
    }
    weights = {name: one.half() for name, one in model.state_dict().items()}
    safetensors.torch.save_file(weights, WEIGHTS)
    RECORD.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(full))


if __name__ == "__main__":
    main()
