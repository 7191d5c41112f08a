"""A trained language model that runs in the page, with its attention and its heads."""

import base64
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from helpers import validation
from helpers.views.view import Table, View


def model_in_the_page(
    config: Mapping[str, int],
    weights: Mapping[str, Tensor],
    alphabet: str,
    *,
    prompts: Mapping[str, str],
    questions: Sequence[tuple[str, Mapping[int, str]]],
    expected: Tensor,
) -> View:
    """Write with a trained model, look into it, and switch heads off.

    The page itself computes what the model predicts: characters one at a time, with
    keys and values kept.

    Args:
        config: a dict of "contextLength", "width", "heads" and "layers".
        weights: a dict from the names of a TransformerLM's parameters to its float16
            tensors; rotary positions, RMSNorm, squared ReLU, an untied head.
        alphabet: a string, the characters in the order of their ids.
        prompts: a dict from labels to texts that a reader may start from.
        questions: pairs of a text and a dict from an index in it to the kind of
            question that its character answers.
        expected: (vocab_size,), the probabilities behind the first prompt.

    Returns:
        view: a View.

    Raises:
        ValueError: weights that aren't float16 tensors, a prompt with a character
            outside the alphabet, or probabilities that don't count the alphabet.

    Source: Vaswani et al. 2017, section 3. Chapter 9.
    """
    for name, tensor in weights.items():
        validation.require_tensor(name, tensor)
        if tensor.dtype != torch.float16:
            raise ValueError(f"weights must be float16, got {tensor.dtype} for {name}")
    for label, text in prompts.items():
        if unknown := sorted(set(text) - set(alphabet)):
            raise ValueError(f"prompt {label!r} has characters unknown: {unknown}")
    if validation.shape_of(expected) != (len(alphabet),):
        raise ValueError(
            f"expected must have shape ({len(alphabet)},), one probability for each "
            f"character, got {validation.shape_of(expected)}"
        )
    flat = torch.cat([tensor.detach().cpu().flatten() for tensor in weights.values()])
    best = expected.topk(5)
    rows = [
        [alphabet[i], float(p)] for p, i in zip(best.values, best.indices, strict=True)
    ]
    return View(
        "model_in_the_page",
        f"The model in the page: {len(flat):,} numbers",
        {
            "config": config,
            "shapes": [[name, *tensor.shape] for name, tensor in weights.items()],
            "weights": base64.b64encode(flat.numpy().astype("<f2").tobytes()).decode(),
            "alphabet": alphabet,
            "prompts": [[label, text] for label, text in prompts.items()],
            "questions": [
                [text, [[place, kind] for place, kind in sorted(marks.items())]]
                for text, marks in questions
            ],
        },
        [
            Table(
                "Behind the first prompt",
                rows,
                columns=["next character", "probability"],
                decimals=2,
            )
        ],
    )
