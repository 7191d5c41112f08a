"""The story model, which runs in the page: trained anew, its files rewritten."""

import copy
import json
from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from experiments import running
from helpers.models.eight_bits import from_eight_bits, to_eight_bits
from helpers.models.language_model import TransformerLM
from helpers.recorded.story_model import EARLY, RECIPE, RECORD, save_story_model
from helpers.text import corpus, probes
from helpers.text.batches import Documents
from helpers.text.encoding import encode_for_model
from helpers.text.little_world import LittleWorld
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import preset
from helpers.training.loop import evaluate, train

COMMAND = "python -m experiments.story_model"
SHORT = {"steps": 20, "warmup_steps": 10}
CORPUS_SEED = 0
COMPARED_STORIES = 100


def train_story_model(**changes: Any) -> tuple[TransformerLM, dict[str, Any]]:
    """Train the model as chapter 9 does, on the CPU, and measure what 8 bits reach.

    Args:
        changes: options of the recipe that differ, such as fewer ``steps``.

    Returns:
        model: a TransformerLM whose weights are multiples of 8 bits.
        rows: a dict of "parameters", "steps", the seeds, the held-out "loss" in nats
            per character, the "floor", the "accuracy" at each kind of question, and
            under "8 bits" what ``cost_of_rounding`` returns.
    """
    world = corpus.load("little-world", seed=CORPUS_SEED)
    tokenizer = CharTokenizer(world.alphabet)
    model_config, train_config = preset(RECIPE, tokenizer.vocab_size, **changes)
    data, held_out = (
        Documents.from_texts(part, tokenizer, model_config.context_length)
        for part in (world.train, world.held_out)
    )
    torch.manual_seed(train_config.seed)
    trained = TransformerLM(model_config)
    train(trained, data, train_config, device="cpu")
    model = in_eight_bits(trained)
    shares = probes.accuracy(world.held_out, probes.model_predictions(model, tokenizer))
    loss = evaluate(model, held_out)
    stories = world.held_out[:COMPARED_STORIES]
    cost = cost_of_rounding(trained, model, stories, tokenizer)
    return model, {
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "steps": train_config.steps,
        "seed": train_config.seed,
        "corpus seed": CORPUS_SEED,
        "loss": round(loss, 5),
        "floor": round(LittleWorld().floor, 5),
        "accuracy": {kind: round(share, 4) for kind, (share, _) in shares.items()},
        "8 bits": {"loss": round(loss - evaluate(trained, held_out), 5) + 0.0, **cost},
    }


def train_early() -> tuple[TransformerLM, dict[str, Any]]:
    """The first steps of the same run, all of its warm-up, and what 8 bits reach then.

    Returns:
        model: a TransformerLM whose weights are multiples of 8 bits.
        rows: a dict of the "steps" and of the held-out "loss" in nats per character.
    """
    world = corpus.load("little-world", seed=CORPUS_SEED)
    tokenizer = CharTokenizer(world.alphabet)
    # The rate of these steps doesn't depend on how many follow.
    model_config, train_config = preset(RECIPE, tokenizer.vocab_size, steps=EARLY + 1)
    data, held_out = (
        Documents.from_texts(part, tokenizer, model_config.context_length)
        for part in (world.train, world.held_out)
    )
    early = TransformerLM(model_config)

    def keep(step: int, model: nn.Module) -> None:
        if step == EARLY:
            early.load_state_dict(model.state_dict())

    torch.manual_seed(train_config.seed)
    trained = TransformerLM(model_config)
    train(trained, data, train_config, device="cpu", after_step=keep)
    model = in_eight_bits(early.eval())
    return model, {"steps": EARLY, "loss": round(evaluate(model, held_out), 5)}


def in_eight_bits(model: TransformerLM) -> TransformerLM:
    """A copy of the model that keeps 8 bits of each weight."""
    rounded = copy.deepcopy(model)
    rounded.load_state_dict(from_eight_bits(to_eight_bits(model.state_dict())))
    return rounded


def cost_of_rounding(
    trained: TransformerLM,
    rounded: TransformerLM,
    stories: Sequence[str],
    tokenizer: CharTokenizer,
) -> dict[str, float]:
    """How far rounded weights move what a model says.

    Args:
        trained: the model before.
        rounded: the same model with rounded weights.
        stories: strings; each of their positions is compared.
        tokenizer: the models'.

    Returns:
        moved: a dict of the "mean" and the "largest" change of a logit, and of the
            largest change of a "probability".
    """
    logits, probabilities = [], []
    for story in stories:
        ids = encode_for_model(story[:-1], tokenizer)
        with torch.no_grad():
            before, after = trained(ids), rounded(ids)
        logits.append((after - before).abs().flatten())
        moved = after.softmax(-1) - before.softmax(-1)
        probabilities.append(moved.abs().flatten())
    logit = torch.cat(logits)
    return {
        "mean": round(float(logit.mean()), 4),
        "largest": round(float(logit.max()), 4),
        "probability": round(float(torch.cat(probabilities).max()), 4),
    }


def main() -> None:
    """Train the model and rewrite its files."""
    running.require_no_arguments("experiments.story_model", __doc__)
    early_model, early = train_early()
    _, short = train_story_model(**SHORT)
    model, full = train_story_model()
    rows = {
        "command": COMMAND,
        "torch": torch.__version__,
        "short": short,
        "early": early,
        "full": full,
    }
    save_story_model(early_model, EARLY)
    save_story_model(model)
    RECORD.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(full))


if __name__ == "__main__":
    main()
