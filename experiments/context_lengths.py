"""Little-world's loss, as the model may read less than a story at once."""

import sys
from typing import Any

from experiments import running
from helpers.text import corpus
from helpers.text.tokenizer import CharTokenizer

CONTEXT_LENGTHS = (4, 8, 16, 32, 64, 128)


def run(size: running.Size) -> dict[str, Any]:
    """Train one model for each context length.

    A story longer than the context length is read in pieces, and a piece knows nothing
    of those before it. Each batch holds about as many characters.

    Returns:
        rows: a dict from each context length, as a string, to the loss.
    """
    world = corpus.load("little-world", held_out_stories=size.stories)
    tokenizer = CharTokenizer(world.alphabet)
    rows = {}
    for length in CONTEXT_LENGTHS[: size.variants]:
        batch_size = 1_328 // min(length, 83)  # a story has 83 characters on average
        changes = {"context_length": length, "batch_size": batch_size}
        configs = running.recipe(tokenizer, size, **changes)
        data = running.stories(world, tokenizer, length)
        _, loss = running.trained(*configs, *data)
        rows[str(length)] = running.rounded(loss)
    return rows


if __name__ == "__main__":
    sys.exit(running.main(["context_lengths"]))
