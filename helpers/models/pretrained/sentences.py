"""A vector for each sentence, so that a dot product compares what they mean."""

from collections.abc import Iterable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from helpers import validation
from helpers.models.encoder import TransformerEncoder
from helpers.models.switches import eval_mode
from helpers.text.subwords import SubwordTokenizer

BATCH = 64  # texts that are read together, at most


def sentence_vectors(
    model: TransformerEncoder, tokenizer: SubwordTokenizer, texts: Iterable[str]
) -> Tensor:
    """Average an encoder's features over each text's tokens, at length 1.

    Texts of equal length are read together, so that nothing is padded.

    Args:
        model: a TransformerEncoder that was trained for it, such as "minilm".
        tokenizer: its SubwordTokenizer.
        texts: N strings, none longer than the model's context.

    Returns:
        vectors: (N, C), each of length 1: the dot product of two is the cosine of the
            angle between them.

    Raises:
        ValueError: a model or a tokenizer of another type; something else than several
            strings; a text that is too long, or of no tokens.

    Source: Reimers and Gurevych 2019, section 3 (the mean over tokens).
    """
    validation.require_type("model", model, TransformerEncoder)
    validation.require_type("tokenizer", tokenizer, SubwordTokenizer)
    encoded = _encode(tokenizer, texts, model.context_length)
    weight = model.token_embedding.weight
    vectors = weight.new_empty(len(encoded), model.config.d_model)
    with eval_mode(model), torch.no_grad():
        for rows in _batches([len(ids) for ids in encoded]):
            batch = torch.tensor([encoded[i] for i in rows], device=weight.device)
            vectors[rows] = model(batch).mean(dim=1)  # (B, C)
    return F.normalize(vectors, dim=-1)


def _encode(
    tokenizer: SubwordTokenizer, texts: Iterable[str], most: int
) -> list[list[int]]:
    """Each text's ids, at least one and no more than ``most``."""
    if isinstance(texts, str) or not isinstance(texts, Iterable):
        raise ValueError(f"texts must be several strings, got {texts!r}")
    encoded = []
    for text in texts:
        if not isinstance(text, str):
            raise ValueError(f"texts must be several strings, got {text!r} among them")
        ids = tokenizer.encode(text)
        if not 1 <= len(ids) <= most:
            raise ValueError(
                f"texts must have at least 1 and at most {most} tokens, got "
                f"{len(ids)}: {text[:40]!r}…"
            )
        encoded.append(ids)
    return encoded


def _batches(lengths: list[int]) -> Iterator[list[int]]:
    """Places of equal lengths, together."""
    for length in sorted(set(lengths)):
        rows = [i for i, one in enumerate(lengths) if one == length]
        for start in range(0, len(rows), BATCH):
            yield rows[start : start + BATCH]
