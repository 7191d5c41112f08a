"""A small transformer, and texts for it."""

import torch

from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig


def model(**options):
    torch.manual_seed(3)
    sizes = {"vocab_size": 11, "context_length": 12, "d_model": 24, "num_heads": 6} | {
        "num_layers": 2
    }
    return TransformerLM(TransformerConfig(**sizes | options)).eval()


def ids(*shape):
    generator = torch.Generator().manual_seed(4)
    return torch.randint(11, shape, generator=generator)
