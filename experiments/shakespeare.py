"""Tiny Shakespeare's loss with the plain recipe, read in windows."""

import sys
from typing import Any

import torch

from experiments import running
from helpers.models.generation import generate_text
from helpers.text import corpus
from helpers.text.batches import Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training.loop import bits


def run(size: running.Size) -> dict[str, Any]:
    """Train one model.

    Returns:
        rows: a dict of the "parameters", the "steps", the "loss", its "bits", and what
            the model writes behind "ROMEO:" as a "sample".
    """
    text = corpus.load("tiny-shakespeare")
    tokenizer = CharTokenizer(text.alphabet)
    configs = running.recipe(tokenizer, size)
    data, held_out = (
        Windows(tokenizer.encode(part), configs[0].context_length)
        for part in (text.train_text, text.held_out_text)
    )
    model, loss = running.trained(*configs, data, held_out)
    return {
        "parameters": running.count(model),
        "steps": size.steps,
        "loss": running.rounded(loss),
        "bits": running.rounded(bits(loss)),
        "sample": generate_text(
            model,
            tokenizer,
            "ROMEO:",
            size.characters,
            generator=torch.Generator().manual_seed(configs[1].seed),
        ),
    }


if __name__ == "__main__":
    sys.exit(running.main(["shakespeare"]))
