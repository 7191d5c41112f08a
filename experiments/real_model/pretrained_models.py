"""The two models, loaded once in a process."""

import functools

from helpers.models import pretrained
from helpers.models.encoder import TransformerEncoder
from helpers.models.language_model import TransformerLM
from helpers.text.subwords import SubwordTokenizer


@functools.cache
def smollm2() -> tuple[TransformerLM, SubwordTokenizer]:
    """SmolLM2-135M-Instruct from its 4-bit file, in float32 and in eval mode."""
    real = pretrained.load("smollm2-135m", context_length=2048)
    if not isinstance(real.model, TransformerLM):
        raise TypeError(f"a TransformerLM is needed, got {type(real.model).__name__}")
    return real.model, real.tokenizer


@functools.cache
def minilm() -> tuple[TransformerEncoder, SubwordTokenizer]:
    """all-MiniLM-L6-v2 in float32 and in eval mode."""
    real = pretrained.load("minilm")
    if not isinstance(real.model, TransformerEncoder):
        raise TypeError(
            f"a TransformerEncoder is needed, got {type(real.model).__name__}"
        )
    return real.model, real.tokenizer
