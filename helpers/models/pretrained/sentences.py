"""A vector for each sentence, so that a dot product compares what they mean."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from helpers.models.encoder import TransformerEncoder
from helpers.models.switches import eval_mode
from helpers.text.subwords import SubwordTokenizer


def sentence_vectors(
    model: TransformerEncoder, tokenizer: SubwordTokenizer, texts: Sequence[str]
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
        ValueError: a model of another type; one string in place of several; a text that
            is too long.

    Source: Reimers and Gurevych 2019, section 3 (the mean over tokens).
    """
    if not isinstance(model, TransformerEncoder):
        raise ValueError(
            f"model must be a TransformerEncoder, got {type(model).__name__}"
        )
    if isinstance(texts, str):
        raise ValueError(f"texts must be several strings, got the string {texts!r}")
    encoded = [tokenizer.encode(text) for text in texts]
    for text, ids in zip(texts, encoded, strict=True):
        if len(ids) > model.context_length:
            raise ValueError(
                f"texts must have at most {model.context_length} tokens, got "
                f"{len(ids)}: {text[:40]!r}…"
            )
    weight = model.token_embedding.weight
    vectors = weight.new_empty(len(encoded), model.config.d_model)
    with eval_mode(model), torch.no_grad():
        for length in sorted({len(ids) for ids in encoded}):
            rows = [i for i, ids in enumerate(encoded) if len(ids) == length]
            batch = torch.tensor([encoded[i] for i in rows], device=weight.device)
            vectors[rows] = model(batch).mean(dim=1)  # (B, C)
    return F.normalize(vectors, dim=-1)
