"""The story model, which runs in the page: two blocks trained on little-world.

``python -m experiments.story_model`` trains it anew. Its weights are saved next to this
file as float16, with the loss and the answers that they reached.
"""

import json
import pathlib
from typing import Any

import safetensors.torch
from torch import Tensor

from helpers.models.language_model import TransformerLM
from helpers.text.little_world import LittleWorld
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import preset

FOLDER = pathlib.Path(__file__).resolve().parent
WEIGHTS, RECORD = FOLDER / "story_model.safetensors", FOLDER / "story_model.json"
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


def load_story_model() -> tuple[TransformerLM, CharTokenizer]:
    """The model as recorded.

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


def page_parts() -> tuple[dict[str, int], dict[str, Tensor], str]:
    """What ``helpers.views.model_in_the_page`` takes.

    Returns:
        config: a dict of "contextLength", "width", "heads" and "layers".
        weights: a dict from names to float16 tensors.
        alphabet: the characters in the order of their ids.
    """
    model, tokenizer = load_story_model()
    config = {
        "contextLength": model.context_length,
        "width": model.config.d_model,
        "heads": model.config.num_heads,
        "layers": model.config.num_layers,
    }
    weights = {name: one.half() for name, one in model.state_dict().items()}
    return config, weights, tokenizer.alphabet


def record() -> dict[str, Any]:
    """What was written beside the weights; see ``experiments.story_model``."""
    return json.loads(RECORD.read_text(encoding="utf-8"))
