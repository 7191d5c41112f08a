"""The story model, which runs in the page: chapter 9's two blocks, trained once.

``python -m experiments.story_model`` trains it anew, with the recipe "plain". Its
weights are saved next to this file in 8 bits, with the loss and the answers that they
reach, and with what 8 bits cost: less than 0.00001 nats per character on the held-out
stories and no answer, although they move a logit by 0.03 on average, and by 0.3 at most
(over 100 stories; no probability moves by more than 0.015).

Those that the same run had after 100 steps are saved, too: half-trained, a model tells
of its training what the finished one no longer does.
"""

import json
import pathlib
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from helpers.models.eight_bits import from_eight_bits, to_eight_bits
from helpers.models.language_model import TransformerLM
from helpers.text.encoding import encode_for_model
from helpers.text.little_world import whole_world
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import preset

FOLDER = pathlib.Path(__file__).resolve().parent
WEIGHTS, RECORD = FOLDER / "story_model.safetensors", FOLDER / "story_model.json"
EARLY_WEIGHTS = FOLDER / "story_model_early.safetensors"
RECIPE = "plain"
EARLY, LAST = 100, 2_400  # the steps after which weights were saved
# The head that goes back for the colour: its layer and head, from 0. At each of the 664
# places of the held-out stories where the colour is to be told again, its largest
# weight lies on a letter of that word. Without this head 16% of the answers are right;
# without any one of the other heads of its layer, all of them.
FETCHING = (1, 1)
# Beginnings that break off before such a word.
UNFINISHED = {
    "a yellow kite": "Ben has a yellow kite. The dog plays. 'Who took the ",
    "a red drum": 'Mia found a red drum. The owls near the cat sing. "Look, a ',
    "a blue rope": "Tom lost a blue rope. The hen yawns at home. He hides the ",
    "which thing": "Zoe drew a white map. The pigs swim here. 'Where is my ",
}


def load_story_model(steps: int = LAST) -> tuple[TransformerLM, CharTokenizer]:
    """The model as recorded: float32 numbers, of which 8 bits each were kept.

    Args:
        steps: after how many of its training: ``LAST``, or ``EARLY``.

    Returns:
        model: a TransformerLM in eval mode, on the CPU.
        tokenizer: its CharTokenizer.

    Raises:
        ValueError: other steps.
    """
    tokenizer = CharTokenizer(whole_world().alphabet)
    config, _ = preset(RECIPE, tokenizer.vocab_size)
    model = TransformerLM(config)
    weights = safetensors.torch.load_file(_weights_after(steps))
    model.load_state_dict(from_eight_bits(weights))
    return model.eval(), tokenizer


def save_story_model(model: TransformerLM, steps: int = LAST) -> None:
    """Store a model's weights in 8 bits, in place of those recorded."""
    path = _weights_after(steps)
    safetensors.torch.save_file(to_eight_bits(model.state_dict()), path)


def _weights_after(steps: int) -> pathlib.Path:
    files = {EARLY: EARLY_WEIGHTS, LAST: WEIGHTS}
    if steps not in files:
        raise ValueError(f"steps must be {EARLY} or {LAST}, got {steps!r}")
    return files[steps]


def page_parts() -> tuple[dict[str, int], dict[str, Tensor], str]:
    """What the views that run the model take first.

    Returns:
        config: a dict of "contextLength", "width", "heads" and "layers".
        weights: a dict from names to int8 matrices, their float16 scales and float16
            vectors, as ``helpers.models.eight_bits.to_eight_bits`` returns it.
        alphabet: the characters in the order of their ids.
    """
    tokenizer = CharTokenizer(whole_world().alphabet)
    recipe, _ = preset(RECIPE, tokenizer.vocab_size)
    config = {
        "contextLength": recipe.context_length,
        "width": recipe.d_model,
        "heads": recipe.num_heads,
        "layers": recipe.num_layers,
    }
    return config, safetensors.torch.load_file(WEIGHTS), tokenizer.alphabet


def opening() -> dict[str, Any]:
    """What ``helpers.views.unfinished_story`` takes beside ``page_parts``.

    Returns:
        options: a dict of "stories", the "head" that fetches, and what the model makes
            of the first story: how that head "looks" back from its last position, (T,),
            and the probabilities "expected" there, (vocab_size,).
    """
    model, tokenizer = load_story_model()
    layer, head = FETCHING
    ids = encode_for_model(next(iter(UNFINISHED.values())), tokenizer)
    with torch.no_grad():
        logits, weights = model(ids, return_weights=True)
    return {
        "stories": UNFINISHED,
        "head": FETCHING,
        "looks": weights[layer][0, head, -1],
        "expected": logits[0, -1].softmax(dim=-1),
    }


def record() -> dict[str, Any]:
    """What was written beside the weights; see ``experiments.story_model``."""
    return json.loads(RECORD.read_text(encoding="utf-8"))
