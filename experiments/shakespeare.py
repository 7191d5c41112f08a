"""Tiny Shakespeare's loss with the plain recipe, read in windows, beside n-grams."""

import math
import sys
from typing import Any, cast

import torch

from experiments import running
from helpers.models.generation import generate_text
from helpers.models.language_model import TransformerLM
from helpers.text import corpus
from helpers.text.batches import Windows
from helpers.text.ngram import NGramModel
from helpers.text.tokenizer import CharTokenizer
from helpers.training.loop import Row, bits, train

LOOKS = 12  # at the held-out loss, during training
ORDERS = range(1, 9)


def run(size: running.Size) -> dict[str, Any]:
    """Train one model, and count n-grams.

    Returns:
        rows: a dict of the "parameters", the "steps", the held-out "loss", its "bits",
            the "curve" of training and held-out loss by the step, where the training
            loss is the mean since the last look, the "ngrams"' held-out loss by their
            order, and what the model writes behind "ROMEO:" as a "sample".
    """
    text = corpus.load("tiny-shakespeare")
    tokenizer = CharTokenizer(text.alphabet)
    looks = math.ceil(size.steps / LOOKS)
    configs = running.recipe(tokenizer, size, evaluate_every=looks)
    data, held_out = (
        Windows(tokenizer.encode(part), configs[0].context_length)
        for part in (text.train_text, text.held_out_text)
    )
    torch.manual_seed(configs[1].seed)
    model = TransformerLM(configs[0])
    result = train(model, data, configs[1], held_out=held_out, device="cpu")
    loss = cast(float, result.held_out)  # there is text to measure on
    return {
        "parameters": running.count(model),
        "steps": size.steps,
        "loss": running.rounded(loss),
        "bits": running.rounded(bits(loss)),
        "curve": curve(result.history),
        "ngrams": ngrams(text, size),
        "sample": generate_text(
            model,
            tokenizer,
            "ROMEO:",
            size.characters,
            trained_on="windows",
            generator=torch.Generator().manual_seed(configs[1].seed),
        ),
    }


def curve(history: tuple[Row, ...]) -> dict[str, dict[str, float]]:
    """The mean training loss since the last look, and the held-out loss, by step."""
    found, since = {}, 0
    for row in history:
        if row.held_out is not None:
            losses = [one.loss for one in history[since : row.step]]
            found[str(row.step)] = {
                "training": running.rounded(sum(losses) / len(losses)),
                "held_out": running.rounded(row.held_out),
            }
            since = row.step
    return found


def ngrams(text: corpus.Corpus, size: running.Size) -> dict[str, float]:
    """The held-out loss of n-grams, by order: of as many orders as there are variants.

    Each counts the whole text to train on, and scores the one held out.
    """
    return {
        str(order): running.rounded(
            NGramModel(
                text.train_text, order, alphabet=text.alphabet
            ).nats_per_character(text.held_out_text)
        )
        for order in ORDERS[: size.variants]
    }


if __name__ == "__main__":
    running.require_no_arguments(
        "experiments.shakespeare", f"Train, and rewrite the record. {__doc__}"
    )
    sys.exit(running.main(["shakespeare"]))
