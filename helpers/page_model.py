"""The model that runs in the page: how it was trained, and its weights.

``python -m helpers.page_model`` trains it anew on the CPU and rewrites its two files in
``helpers/recorded/``: the weights as float16, and beside them what they reached.
"""

import json
import pathlib
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from helpers import corpus, probes
from helpers.batches import Documents
from helpers.language_model import TransformerLM
from helpers.little_world import LittleWorld
from helpers.presets import preset
from helpers.tokenizer import CharTokenizer
from helpers.training import evaluate, train

COMMAND = "python -m helpers.page_model"
FOLDER = pathlib.Path(__file__).resolve().parent / "recorded"
WEIGHTS, RECORD = FOLDER / "page-model.safetensors", FOLDER / "page-model.json"
# The quick recipe on whole stories; a table of pairs would be too large for a page.
CHANGES: dict[str, Any] = {
    "context_length": 128,
    "d_model": 64,
    "num_heads": 4,
    "num_layers": 2,
    "pair_embedding": False,
    "steps": 4_000,
    "batch_size": 16,
    "learning_rate": 8e-3,
    "weight_decay": 0.05,
}
SHORT = {"steps": 20}
CORPUS_SEED = 0


def train_page_model(**changes: Any) -> tuple[TransformerLM, dict[str, Any]]:
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


def load_page_model() -> tuple[TransformerLM, CharTokenizer]:
    """The model that runs in the page, as recorded.

    Returns:
        model: a TransformerLM in eval mode, on the CPU.
        tokenizer: its CharTokenizer.
    """
    tokenizer = CharTokenizer(LittleWorld().alphabet)
    config, _ = preset("one-minute", tokenizer.vocab_size, **CHANGES)
    model = TransformerLM(config)
    weights = safetensors.torch.load_file(WEIGHTS)
    model.load_state_dict({name: one.float() for name, one in weights.items()})
    return model.eval(), tokenizer


def parts() -> tuple[dict[str, int], dict[str, Tensor], str]:
    """What ``helpers.views.model_in_the_page`` is made of.

    Returns:
        config: a dict of "contextLength", "width", "heads" and "layers".
        weights: a dict from names to float16 tensors.
        alphabet: the characters in the order of their ids.
    """
    model, tokenizer = load_page_model()
    config = {
        "contextLength": model.context_length,
        "width": model.config.d_model,
        "heads": model.config.num_heads,
        "layers": model.config.num_layers,
    }
    weights = {name: one.half() for name, one in model.state_dict().items()}
    return config, weights, tokenizer.alphabet


def record() -> dict[str, Any]:
    """What was written beside the weights: a dict; see ``train_page_model``."""
    return json.loads(RECORD.read_text(encoding="utf-8"))


def main() -> None:
    """Train the model and rewrite its two files."""
    _, short = train_page_model(**SHORT)
    model, full = train_page_model()
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
