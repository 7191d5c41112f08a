"""How low a loss on tiny Shakespeare gets, and in which time."""

import torch

from helpers.models.language_model import TransformerLM
from helpers.text import corpus
from helpers.text.batches import Windows
from helpers.text.tokenizer import CharTokenizer
from helpers.training.config import preset
from helpers.training.loop import train

# The published setting of a well-known small GPT script for a laptop's processor.
REFERENCE = {
    "context_length": 64,
    "d_model": 128,
    "num_layers": 4,
    "steps": 2_000,
    "batch_size": 12,
    "learning_rate": 1e-3,
    "final_learning_rate": 1e-4,
    "weight_decay": 0.1,
}
STEPS = (250, 600, 1_200)


def run(name, text, device, **changes):
    """Nats per character on the whole held-out text, and the seconds of training."""
    tokenizer = CharTokenizer(text.alphabet)
    model_config, train_config = preset(name, tokenizer.vocab_size, **changes)
    data, held_out = (
        Windows(tokenizer.encode(part), model_config.context_length)
        for part in (text.train_text, text.held_out_text)
    )
    torch.manual_seed(train_config.seed)
    model = TransformerLM(model_config)
    result = train(model, data, train_config, held_out=held_out, device=device)
    return result.held_out, result.seconds


def bench_training(device):
    """The preset "one-minute" beside the reference's recipe, each from its start."""
    try:
        text = corpus.load("tiny-shakespeare")
    except corpus.CorpusUnavailable as error:
        print(f"training: left out, {error}")
        return
    print(f"training on tiny Shakespeare, on {device}")
    loss, reference_seconds = run("plain", text, device, **REFERENCE)
    rows = [("reference", REFERENCE["steps"], loss, reference_seconds)]
    rows += [
        ("one-minute", steps, *run("one-minute", text, device, steps=steps))
        for steps in STEPS
    ]
    for name, steps, loss, seconds in rows:
        print(
            f"  {steps:5} steps  {seconds:6.1f} s  x {seconds / reference_seconds:4.2f}"
            f"  {loss:.3f} nats per character  {name}"
        )
