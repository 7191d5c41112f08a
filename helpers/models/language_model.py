"""Models that predict the next character: one attention layer, and a transformer.

Shapes use the book's letters: B batch, T query positions, S key positions, C model
width, H heads. A text is a row of character ids, int64.
"""

import functools
import itertools
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers import validation
from helpers.attention import MultiHeadAttention
from helpers.models.context_extension import yarn_temperature
from helpers.models.kv_cache import KVCache
from helpers.models.positions import (
    alibi_bias,
    angle_dtype,
    angles_at,
    rotate,
    sinusoidal_positions,
)
from helpers.models.relative_biases import T5Bias
from helpers.models.transformer_block import (
    Bias,
    Block,
    Rotation,
    TransformerConfig,
    make_norm,
)
from helpers.validation import on_request, with_weights

# The standard deviation of a sine is 0.71; that of an embedding's features, 0.1.
SINUSOIDAL_SIZE = 0.1 * 2**0.5
_rotate = validation.unchecked(rotate)  # the config's widths have been checked


def _rotate_first(heads: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Turn the first features of heads (..., T, D): as many as there are angles for."""
    width = 2 * cosines.shape[-1]
    if width == heads.shape[-1]:
        return _rotate(heads, cosines, sines)
    turned = _rotate(heads[..., :width], cosines, sines)
    return torch.cat([turned, heads[..., width:]], dim=-1)


def require_ids(name: str, ids: Tensor, vocab_size: int) -> None:
    """Character ids (B, T): int64, from 0 to vocab_size - 1, and at least one.

    Args:
        name: what the message calls them.
        ids: what came.
        vocab_size: number of different characters.

    Raises:
        ValueError: anything else; the message names the first id out of range.
    """
    validation.require_tensor(name, ids)
    shape = validation.shape_of(ids)
    if ids.dtype != torch.int64:
        raise ValueError(f"{name} must be int64, got {ids.dtype} with shape {shape}")
    if len(shape) != 2 or 0 in shape:
        raise ValueError(
            f"{name} must have shape (B, T) with at least one character, got {shape}"
        )
    if not validation.holds(lambda: ((ids >= 0) & (ids < vocab_size)).all()):
        row, column = ((ids < 0) | (ids >= vocab_size)).nonzero()[0].tolist()
        raise ValueError(
            f"{name} must lie in 0 to vocab_size - 1 = {vocab_size - 1}, got "
            f"{ids[row, column].item()} at index [{row}, {column}]"
        )


def require_model_input(
    model: Any, ids: Tensor, past: int = 0, where: str = ""
) -> None:
    """Ids on the model's device, no more than fit behind the ``past`` ones.

    Args:
        model: with a ``vocab_size``, a ``context_length`` and a ``token_embedding``.
        ids: what came.
        past: how many stand before them.
        where: what the message says of those, such as "in the cache".

    Raises:
        ValueError: ids that ``require_ids`` refuses, of another device, or too many.
    """
    require_ids("ids", ids, model.vocab_size)
    both = {"ids": ids, "the model's weights": model.token_embedding.weight}
    validation.require_shared("device", **both)
    excess = past + ids.shape[1] - model.context_length
    if excess > 0:
        behind = f" behind the {past} {where}" if past else ""
        raise ValueError(
            f"ids has T = {ids.shape[1]} tokens{behind}, {excess} more than "
            f"context_length {model.context_length}; its shape is "
            f"{validation.shape_of(ids)}"
        )


class CharLanguageModel(nn.Module):
    """One causal attention layer between embeddings and logits.

    Initial weights: as for TransformerLM, so that the first loss is near
    ln(vocab_size) nats per character.

    Args:
        vocab_size: number of different characters.
        context_length: the longest text it takes, in characters.
        d_model: C, width of an embedding and of the attention's output.
        num_heads: H, a divisor of ``d_model``.
        dropout: probability of dropping an attention weight while training, in [0, 1).

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, ``num_heads`` that
            doesn't divide ``d_model``, or a dropout outside [0, 1).

    Source: Bengio et al. 2003, section 2, with attention (Vaswani et al. 2017, section
    3.2) in place of the hidden layer. Built by hand in chapter 7.
    """

    def __init__(
        self,
        vocab_size: int,
        context_length: int,
        d_model: int,
        num_heads: int,
        dropout: float = 0.0,
    ) -> None:
        validation.require_integers(
            vocab_size=vocab_size, context_length=context_length
        )
        validation.require_heads(num_heads, d_model, "d_model")
        super().__init__()
        self.vocab_size, self.context_length = vocab_size, context_length
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.attention = MultiHeadAttention(
            d_model, d_model, context_length, dropout, num_heads, fused=True
        )
        self.head = nn.Linear(d_model, vocab_size)
        draw_weights(self)

    def forward(
        self, ids: Tensor, *, return_weights: bool = False
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """Predict the character behind each one of ``ids``.

        Args:
            ids: (B, T) int64 with T of at most ``context_length``.
            return_weights: also return the attention weights.

        Returns:
            logits: (B, T, vocab_size); with ``return_weights`` the pair of logits and a
                list of one tensor (B, H, T, T), as from a TransformerLM of one layer.

        Raises:
            ValueError: ids of another dtype, shape or device, out of range, too many.
        """
        require_model_input(self, ids)
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(positions)
        result = self.attention(x, return_weights=return_weights)
        context, weights = with_weights(result)  # (B, T, C)
        return on_request(self.head(context), [weights], return_weights)


class TransformerLM(nn.Module):
    """A character-level language model of transformer blocks.

    A norm follows the last block, unless each layer's norm stands behind it.

    Initial weights: embeddings are normal with standard deviation 0.1, the last layer's
    weight (tied or not) with 0.02; other matrices are uniform as ``nn.Linear`` draws
    them, biases 0. Logits then start near 0, and the first loss is near ln(vocab_size)
    nats per character. All are drawn from PyTorch's own generator: call
    ``torch.manual_seed`` before, and move the model afterwards.

    Args:
        config: a TransformerConfig.

    Raises:
        ValueError: a config of another type, or one that isn't causal.

    Source: Radford et al. 2019, section 2.3.
    """

    def __init__(self, config: TransformerConfig) -> None:
        validation.require_type("config", config, TransformerConfig)
        if not config.causal:
            raise ValueError(
                "config must have causal=True, got False: what sees the next token "
                "can't learn to predict it; TransformerEncoder takes such a config"
            )
        super().__init__()
        self.config = config
        self.vocab_size, self.context_length = config.vocab_size, config.context_length
        self.token_embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.position_embedding = None
        if config.positions == "learned":
            self.position_embedding = nn.Embedding(
                config.context_length, config.d_model
            )
        self.pair_embedding = None
        if config.pair_embedding:
            self.pair_embedding = nn.Embedding(config.vocab_size**2, config.d_model)
        self.position_bias = None
        if config.positions == "t5":
            self.position_bias = T5Bias(
                config.num_heads, config.t5_buckets, config.t5_max_distance
            )
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(
            Block(config.of_layer(layer), layer) for layer in range(config.num_layers)
        )
        self.residual_scale = self.embedding_scale = None
        if config.embedding_skip:  # each block's shares of its input and the embeddings
            self.residual_scale = nn.Parameter(torch.ones(config.num_layers))
            self.embedding_scale = nn.Parameter(torch.zeros(config.num_layers))
        self.final_norm = make_norm(config) if config.norm_first else nn.Identity()
        self.head = None
        if not config.tie_weights:
            self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        draw_weights(self)

    def new_cache(self) -> KVCache:
        """An empty KVCache for this model."""
        return KVCache(self)

    def forward(
        self,
        ids: Tensor,
        *,
        return_weights: bool = False,
        cache: KVCache | None = None,
        start: int = 0,
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """Predict the character behind each one of ``ids``.

        Args:
            ids: (B, T) int64; with what the cache holds, at most ``context_length``.
            return_weights: also return the attention weights of each layer.
            cache: a KVCache of this model; ``ids`` continue what it has read, and are
                kept in it.
            start: the place of the first of ``ids``, where other processes read what
                stands before them (``helpers.parallel.ring``). A cache knows it.

        Returns:
            logits: (B, T, vocab_size); with ``return_weights`` the pair of logits and a
                list of num_layers tensors (B, H, T, S), after mask and dropout. S is T
                and the length of the cache before.

        Raises:
            ValueError: ids of another dtype, shape or device, out of range, too many;
                a cache that is something else, another model's, or of other texts; a
                start below 0, or beside a cache, or with layers of fixed memory.
        """
        if cache is not None and not isinstance(cache, KVCache):
            raise ValueError(f"cache must be a KVCache, got {type(cache).__name__}")
        validation.require_start(start, has_cache=cache is not None)
        if start and self.config.attention != "softmax":
            raise ValueError(
                "start must be 0 where a layer's memory has a fixed size, got "
                f"{start}: it can't know what other processes have read"
            )
        start = start if cache is None else cache.length
        where = "before start" if cache is None else "in the cache"
        require_model_input(self, ids, start, where)
        if cache is not None:
            cache.require_fit(self, ids)
        before = None if cache is None else cache.last_ids
        x = self._embed(ids, start, before)
        rotation = self._rotation(start, ids)
        bias: Bias | None = self.position_bias
        if self.config.positions == "alibi":
            heads = self.config.num_heads
            bias = functools.partial(alibi_bias, heads, device=ids.device)
        embedded = x
        all_weights: list[Tensor] = []
        for layer, block in enumerate(self.blocks):
            if self.residual_scale is not None and self.embedding_scale is not None:
                x = (
                    self.residual_scale[layer] * x
                    + self.embedding_scale[layer] * embedded
                )
            past = None if cache is None else functools.partial(cache.extend, layer)
            result = block(
                x,
                return_weights=return_weights,
                rotation=rotation if self._turns(layer) else None,
                bias=bias,
                past=past,
                state=None if cache is None else cache.state(layer),
            )
            x, weights = with_weights(result)  # (B, T, C)
            all_weights.append(weights)
        if cache is not None:
            cache.advance(ids)
        head = self.token_embedding if self.head is None else self.head
        logits = F.linear(self.final_norm(x), head.weight)  # (B, T, vocab_size)
        return on_request(logits, all_weights, return_weights)

    def _embed(self, ids: Tensor, start: int, before: Tensor | None) -> Tensor:
        """The blocks' first input (B, T, C)."""
        T = ids.shape[1]
        x = self.token_embedding(ids)
        if self.pair_embedding is not None:
            x = x + self.embed_pairs(ids, before)
        if self.position_embedding is not None:
            positions = torch.arange(start, start + T, device=ids.device)
            x = x + self.position_embedding(positions)
        if self.config.positions == "sinusoidal":
            # As long as a token's embedding at the start, so that neither drowns.
            vectors = sinusoidal_positions(start, T, x.shape[-1], device=ids.device)
            x = x + SINUSOIDAL_SIZE * vectors.to(x.dtype)
        result: Tensor = self.dropout(x) if self.dropout.training else x
        return result

    def _rotation(self, start: int, ids: Tensor) -> Rotation | None:
        """How the blocks turn queries and keys, where positions are rotary."""
        if self.config.positions != "rotary":
            return None
        dtype = angle_dtype(self.token_embedding.weight)
        frequencies = self.config.frequencies(device=ids.device, dtype=dtype)
        angles = angles_at(start, ids.shape[1], frequencies)
        cosines, sines = angles.cos(), angles.sin()
        if self.config.rotary_scaling == "yarn":
            size = yarn_temperature(self.config.rotary_scaling_factor)
            cosines, sines = size * cosines, size * sines
        return functools.partial(_rotate_first, cosines=cosines, sines=sines)

    def _turns(self, layer: int) -> bool:
        """Whether a layer, counted from 0, has positions where they are rotary."""
        interval = self.config.no_rope_interval
        return interval is None or (layer + 1) % interval != 0

    def embed_pairs(self, ids: Tensor, before: Tensor | None) -> Tensor:
        """An embedding of each character and the one before it, for such a model.

        Args:
            ids: (B, T)
            before: (B, 1), the characters before them, or None: the first characters
                then get zeros.

        Returns:
            vectors: (B, T, C)
        """
        table = cast(nn.Embedding, self.pair_embedding)
        both = ids if before is None else torch.cat([before, ids], dim=1)
        pairs: Tensor = table(both[:, :-1] * self.vocab_size + both[:, 1:])
        return F.pad(pairs, (0, 0, 1, 0)) if before is None else pairs


def draw_weights(model: CharLanguageModel | TransformerLM) -> None:
    """Draw the initial weights that TransformerLM describes, in place.

    Args:
        model: a CharLanguageModel or a TransformerLM, or one with parts of their names,
            such as chapter 7's own.
    """
    draw_layers(model)
    # What logits are made with stays small, so that they start near 0.
    last = model.token_embedding if model.head is None else model.head
    nn.init.normal_(last.weight, std=0.02)
    if isinstance(model, TransformerLM) and model.config.zero_init:
        blocks = (block for block in model.blocks if isinstance(block, Block))
        for layer in itertools.chain(*(block.last_layers() for block in blocks)):
            nn.init.zeros_(layer.weight)


def draw_layers(model: nn.Module) -> None:
    """Draw embeddings with standard deviation 0.1, and set biases to 0, in place.

    Args:
        model: its matrices stay as ``nn.Linear`` has drawn them.
    """
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.1)
        elif isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
