"""Padding that is attended to, hides tokens, or ends in NaN."""

import torch

from public_bugs.layer import Attention
from public_bugs.log import bug


class PaddingInverted(Attention):
    causal = False

    def hidden(self, T, S, real, cached):
        return super().hidden(T, S, None if real is None else ~real, cached)


@bug("InseeFrLab/torchTextClassifiers#92", 2026, "padding")
class OtherMeaningOfTrue(PaddingInverted):
    """The mask says True at padding, and scaled_dot_product_attention reads True as
    "may attend": padding is attended to, and nothing else."""


@bug("earthspecies/avex#26", 2025, "padding")
class EncoderExpectsTheInverse(PaddingInverted):
    """A mask of 1 at tokens goes to an encoder that takes 1 for padding."""


@bug("huggingface/pytorch-image-models#2236", 2024, "padding")
class MaskBehindSoftmax(Attention):
    """The mask is filled in after softmax, in place of before it."""

    causal = False

    def weights(self, scores, hidden):
        return torch.softmax(scores, dim=-1).masked_fill(hidden, -torch.inf)


class HiddenByInfinity(Attention):
    def weights(self, scores, hidden):
        return torch.softmax(scores.masked_fill(hidden, -torch.inf), dim=-1)


@bug("tracel-ai/burn#4697", 2026, "padding")
class TwoMasksHideAll(HiddenByInfinity):
    """The causal and the padding mask together hide all keys of a row: −∞ less −∞ is
    NaN in the fallback's softmax, in Rust."""


@bug("robertknight/rten#1321", 2026, "padding")
class FullyMaskedRows(HiddenByInfinity):
    """All scores of a row are −∞, and softmax gives NaN, in Rust."""


@bug("Kyubyong/transformer#69", 2019, "padding")
class PaddingFoundByItsSum(Attention):
    """Padding is taken to be where the features sum to 0, but positions were added
    before, so it's nowhere, in TensorFlow."""

    causal = False
    learned = True

    def hidden(self, T, S, real, cached):
        return super().hidden(T, S, None, cached)
