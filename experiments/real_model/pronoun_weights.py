"""The weights that the heads of a model give to the two nouns of a sentence."""

from collections.abc import Sequence

import torch
from torch import Tensor

from experiments.real_model.reading import weights_of
from helpers.models.encoder import TransformerEncoder
from helpers.models.language_model import TransformerLM
from helpers.text.coreference import Sentence
from helpers.text.subwords import SubwordTokenizer

PLACES = ("verb", "it", "stop", "It", "was", "the")


def on_nouns(
    model: TransformerLM | TransformerEncoder,
    tokenizer: SubwordTokenizer,
    some: Sequence[Sentence],
    *,
    start: bool,
) -> Tensor:
    """The weights that all heads give the two nouns.

    Args:
        model: SmolLM2 or MiniLM.
        tokenizer: the model's.
        some: N sentences.
        start: put the start token before each.

    Returns:
        weights: (N, heads, places, 2), heads layer by layer.
    """
    before = int(start or not isinstance(model, TransformerLM))  # [CLS]
    rows: list[Tensor] = [torch.empty(0)] * len(some)
    texts = [one.text for one in some]
    for number, _, own in weights_of(model, tokenizer, texts, start=start):
        nouns = torch.tensor(some[number].nouns) + before
        asking = torch.tensor(places(some[number])) + before
        rows[number] = own[:, asking][:, :, nouns]
    return torch.stack(rows)


def places(sentence: Sentence) -> list[int]:
    """Where the words of ``PLACES`` stand."""
    end = len(sentence.words)
    return [sentence.verb, sentence.it, end - 4, end - 3, end - 2, end - 1]
