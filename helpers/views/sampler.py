"""Temperature, top-k and top-p on one row of logits, and draws counted against it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from helpers import validation
from helpers.attention import softmax
from helpers.views.view import Table, View


def sampler(logits: Tensor, characters: Sequence[str]) -> View:
    """Reshape the probabilities of the next character, and draw from them.

    Sliders set the temperature, top-k and top-p; the view shows the exact
    probabilities, and buttons draw 1 or 1,000 characters and count them.

    Args:
        logits: (vocab_size,), finite.
        characters: vocab_size names, in the order of the logits.

    Returns:
        view: a View.

    Raises:
        ValueError: logits of another shape or not finite, or another number of
            characters.

    Source: Fan et al. 2018, section 5.4 (top-k); Holtzman et al. 2020, section 3.1
    (top-p). The page on sampling the next character.
    """
    validation.require_float(logits=logits)
    shape = validation.shape_of(logits)
    if len(shape) != 1 or shape[0] == 0:
        raise ValueError(f"logits must have shape (vocab_size,), got {shape}")
    if not logits.isfinite().all():
        raise ValueError(
            f"logits must be finite, got numbers from {logits.min()} to {logits.max()}"
        )
    characters = [str(character) for character in characters]
    if len(characters) != len(logits):
        raise ValueError(
            f"characters must hold {len(logits)} names, one for each logit, got "
            f"{len(characters)}"
        )
    logits = logits.detach().cpu()
    rows = torch.stack([logits, softmax(logits)], dim=1).tolist()
    return View(
        "sampler",
        "The next character",
        {"logits": logits.tolist(), "characters": characters},
        [Table("Before a filter", rows, ["logit", "probability"], characters)],
        decimals=6,  # a running sum that meets top-p exactly must meet it here too
    )
