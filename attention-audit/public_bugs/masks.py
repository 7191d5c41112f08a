"""Masks that hide too much, too little, or the wrong side."""

import torch

from public_bugs.layer import Attention
from public_bugs.log import bug


@bug("Mikyx-1/TinyLLM#17", 2026, "cache")
class PromptUnmasked(Attention):
    """With a cache nothing is masked, so a prompt read in one call sees its future."""

    def hidden(self, T, S, real, cached):
        hidden = super().hidden(T, S, real, cached)
        return torch.zeros_like(hidden) if cached else hidden
