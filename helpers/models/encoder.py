"""A transformer that reads a text in both directions, as BERT does.

Shapes use the book's letters: B batch, T positions, C model width, H heads.
"""

import math

import torch
from torch import Tensor, nn

from helpers import validation
from helpers.models.language_model import draw_layers, require_model_input
from helpers.models.transformer_block import Bias, Block, TransformerConfig, make_norm
from helpers.validation import on_request, with_weights

FOR_LANGUAGE_MODELS = ("pair_embedding", "embedding_skip", "zero_init", "tie_weights")


class TransformerEncoder(nn.Module):
    """A vector for each token that depends on the tokens before and behind it.

    Its embeddings are the sum of a token's, a position's and one for the first of two
    segments, the only one that is used; a norm follows.

    Initial weights: embeddings are normal with standard deviation 0.1, matrices are
    uniform as ``nn.Linear`` draws them, biases 0.

    Args:
        config: a TransformerConfig with ``causal=False`` and learned positions, and
            without what only a TransformerLM has: ``pair_embedding``,
            ``embedding_skip``, ``zero_init`` and ``tie_weights``.

    Raises:
        ValueError: a config of another type, with other positions, or with one of
            these.

    Source: Devlin et al. 2019, section 3.
    """

    def __init__(self, config: TransformerConfig) -> None:
        if not isinstance(config, TransformerConfig):
            raise ValueError(
                f"config must be a TransformerConfig, got {type(config).__name__}"
            )
        if config.causal or config.positions != "learned":
            raise ValueError(
                "config must have causal=False and positions 'learned', got "
                f"{config.causal} and {config.positions!r}"
            )
        for name in FOR_LANGUAGE_MODELS:
            if getattr(config, name):
                raise ValueError(f"config must have {name}=False here, got True")
        super().__init__()
        self.config = config
        self.vocab_size, self.context_length = config.vocab_size, config.context_length
        self.token_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.position_embedding = nn.Embedding(config.context_length, config.d_model)
        self.segment_embedding = nn.Embedding(1, config.d_model)
        self.embedding_norm = make_norm(config)
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.num_layers))
        draw_layers(self)

    def forward(
        self,
        ids: Tensor,
        *,
        mask: Tensor | None = None,
        return_weights: bool = False,
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """Read texts.

        Args:
            ids: (B, T) int64, with T of at most ``context_length``.
            mask: (B, T) boolean, True = a token, False = padding, which no token
                attends to; all are tokens where left out.
            return_weights: also return the attention weights of each layer.

        Returns:
            features: (B, T, C); what stands at padding means nothing. With
                ``return_weights`` the pair of features and a list of num_layers
                tensors (B, H, T, T), after mask and dropout.

        Raises:
            ValueError: ids of another dtype, shape or device, out of range, too many;
                a mask of another dtype, shape or device, or a text of nothing but
                padding.
        """
        require_model_input(self, ids)
        bias = None if mask is None else self._hide(ids, mask)
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.token_embedding(ids) + self.segment_embedding.weight
        x = self.embedding_norm(x + self.position_embedding(positions))  # (B, T, C)
        x = self.dropout(x)
        all_weights: list[Tensor] = []
        for block in self.blocks:
            result = block(x, return_weights=return_weights, bias=bias)
            x, weights = with_weights(result)
            all_weights.append(weights)
        return on_request(x, all_weights, return_weights)

    def _hide(self, ids: Tensor, mask: Tensor) -> Bias:
        """What is added to the scores: -inf where a key is padding."""
        validation.require_tensor("mask", mask)
        shape, expected = validation.shape_of(mask), validation.shape_of(ids)
        if mask.dtype != torch.bool or shape != expected:
            raise ValueError(
                f"mask must be boolean with the shape of ids, {expected}, got "
                f"{mask.dtype} with shape {shape}"
            )
        validation.require_shared("device", ids=ids, mask=mask)
        if not validation.holds(lambda: mask.any(dim=1).all()):
            row = (~mask.any(dim=1)).nonzero()[0].item()
            raise ValueError(
                f"mask must leave each text a token, got none in row {row}"
            )
        zeros = torch.zeros(mask.shape, device=mask.device)
        hidden = zeros.masked_fill(~mask, -math.inf)[:, None, None]  # (B, 1, 1, T)
        return lambda T, S: hidden
