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


class MaskFromTheTopLeft(Attention):
    def hidden(self, T, S, real, cached):
        query = torch.arange(T, device=self.q_proj.weight.device)[:, None]
        hidden = (torch.arange(S, device=query.device) > query)[None, None]
        return hidden if real is None else hidden | ~real[:, None, None]


@bug("gittensor-ai-lab/sparkinfer#3", 2026, "cache")
class QueriesCountedFromZero(MaskFromTheTopLeft):
    """A CUDA kernel counts queries from 0 also where they are the last of many keys,
    so new tokens can't attend to themselves, nor to what came just before."""


@bug("onnx/onnx#8068", 2026, "cache")
class CausalFromTheTopLeft(MaskFromTheTopLeft):
    """The causal mask of an operator begins at the top left corner, whatever number of
    keys an external cache holds: the first of the new tokens sees key 0 alone."""


@bug("HKUSTDial/flash-sparse-attention#213", 2025, "cache")
class FutureOfLongerKeys(Attention):
    """With more keys than queries the causal mask lets queries attend to keys behind
    their own position."""

    def hidden(self, T, S, real, cached):
        hidden = super().hidden(T, S, None, cached) & (S == T)
        return hidden if real is None else hidden | ~real[:, None, None]


class WindowOfOneMore(Attention):
    window = 4

    def hidden(self, T, S, real, cached):
        query = torch.arange(S, device=self.q_proj.weight.device)[S - T :, None]
        key = torch.arange(S, device=query.device)
        hidden = ((key > query) | (key < query - self.window))[None, None]
        return hidden if real is None else hidden | ~real[:, None, None]


@bug("zml/zml#763", 2026, "tokens reached")
class KernelsWindowIsInclusive(WindowOfOneMore):
    """The kernel's window leaves the token itself out of the count, and gets the
    model's, which counts it: one token more is attended to."""


@bug("ml-explore/mlx-lm#390", 2025, "tokens reached")
class WindowMaskOneTooMany(WindowOfOneMore):
    """The mask of a sliding window lets one key more through than the window holds."""


@bug("huggingface/transformers#41228", 2025, "future grads")
class WindowOnTheWrongSide(Attention):
    """The window's diagonal has the wrong sign and is cut out of the causal mask: the
    past is open without an end, and so is the future behind the window."""

    window = 4

    def hidden(self, T, S, real, cached):
        ones = torch.ones(T, S, dtype=torch.bool, device=self.q_proj.weight.device)
        hidden = ones.triu(S - T + 1).tril(S - T + self.window)[None, None]
        return hidden if real is None else hidden | ~real[:, None, None]


@bug("facebookresearch/xformers#103", 2021, "future grads")
class CausalOnlyWhereMasked(Attention):
    """The causal mask is only added to a mask that was passed; where none was passed, a
    causal layer isn't causal."""

    def hidden(self, T, S, real, cached):
        hidden = super().hidden(T, S, real, cached)
        return torch.zeros_like(hidden) if real is None and T == S else hidden


@bug("lucidrains/memory-compressed-attention#2", 2022, "output shape")
class InfinityOfTheOtherSign(Attention):
    """The causal mask is filled in after softmax, and with +∞ in place of −∞."""

    def weights(self, scores, hidden):
        return torch.softmax(scores, dim=-1).masked_fill(hidden, torch.inf)
