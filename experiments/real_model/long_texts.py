"""SmolLM2 reads beyond its 8,192 tokens: its loss by place, with scaled positions.

It reads pieces of Shakespeare with a KV cache, some tokens at a time. As a control, the
same last tokens are read with few before them, as in training, so that what the text
asks is known.
"""

import dataclasses

import torch
import torch.nn.functional as F
from torch import Tensor

from experiments import many
from experiments.real_model.intervals import rounded
from helpers.models import pretrained
from helpers.models.language_model import TransformerLM
from helpers.text import corpus

TRAINED, LONGER = 8_192, 10_240  # tokens
FACTOR = 2.0
AT_ONCE = 512
PART = 256  # tokens whose mean is kept
SHORT = 2_048  # tokens that the control reads, of which the last half counts
WAYS = ("as trained", "interpolation", "ntk", "yarn", "short")


def measure(way: str, piece: int) -> many.Run:
    """The loss on one piece of text.

    Args:
        way: one of ``WAYS``; "short" reads the last tokens alone, as trained.
        piece: which piece, from 0.

    Returns:
        run: a dict of "losses", nats per token, a list of means of ``PART`` tokens: of
            the whole piece, or of what stands behind TRAINED tokens.
    """
    real = pretrained.load("smollm2-135m")
    if not isinstance(real.model, TransformerLM):
        raise TypeError(f"a TransformerLM is needed, got {type(real.model).__name__}")
    text = corpus.load("tiny-shakespeare").train_text
    start = piece * len(text) // 4
    ids = torch.tensor(real.tokenizer.encode(text[start : start + 5 * LONGER]))
    ids = ids[: LONGER + 1]
    if way != "short":
        nats = by_place(scaled(real.model, way), ids)
    else:
        counted = SHORT // 2
        nats = torch.cat(
            [
                by_place(real.model, ids[end - SHORT : end + 1])[-counted:]
                for end in range(TRAINED + counted, LONGER + 1, counted)
            ]
        )
    return {"losses": rounded(nats.unflatten(0, (-1, PART)).mean(dim=1))}


def scaled(model: TransformerLM, way: str) -> TransformerLM:
    """The same weights, with positions for longer texts."""
    config = dataclasses.replace(
        model.config,
        context_length=LONGER,
        rotary_scaling_factor=FACTOR,
        trained_length=TRAINED,
        rotary_scaling="none" if way == "as trained" else way,
    )
    with torch.device("meta"):
        other = TransformerLM(config)
    other.load_state_dict(model.state_dict(), assign=True)
    return other.eval()


def by_place(model: TransformerLM, ids: Tensor) -> Tensor:
    """The loss (T,) at each of T tokens, from ids (T + 1,)."""
    cache, found = model.new_cache(), []
    for inputs, targets in zip(
        ids[:-1].split(AT_ONCE), ids[1:].split(AT_ONCE), strict=True
    ):
        with torch.no_grad():
            logits = model(inputs[None], cache=cache)[0]
        found.append(F.cross_entropy(logits, targets, reduction="none"))
    return torch.cat(found)
