"""What all heads of SmolLM2 do with four sentences, for a view of chapter 18.

Each shows something else: a pronoun, words that come again, a fact, and a name that is
left over.
"""

from typing import Any

from experiments.many import Settings
from experiments.real_model.pretrained_models import smollm2
from helpers.models.head_reading import HeadReader

SENTENCES = (
    "The food was hot because it was spicy",
    "The window paper doctor garden window paper doctor",
    "The capital of France is",
    "When Mary and John went to the shop, John gave a book to",
)
PLAN = [{"text": text} for text in SENTENCES]


def measure(settings: Settings) -> dict[str, Any]:
    """The reading of one sentence, with what each head's absence does."""
    model, tokenizer = smollm2()
    reader = HeadReader(model, tokenizer)
    return {"reading": reader.read_without_each(settings["text"])}
