"""Models that predict the next character: one attention layer, and a transformer.

Shapes use the book's letters: B batch, T query positions, S key positions, C model
width, H heads, D width of one head. A text is a row of character ids, int64.
"""

import dataclasses
import functools

import torch
import torch.nn.functional as F
from torch import nn

from helpers import validation
from helpers.attention import MultiHeadAttention

CHOICES = {
    "positions": ("learned", "rotary", "none"),
    "norm": ("layer", "rms", "none"),
    "activation": ("gelu", "squared_relu"),
}


def require_ids(name, ids, vocab_size):
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
    if validation.may_look_at_values(ids):
        outside = (ids < 0) | (ids >= vocab_size)
        if outside.any():
            row, column = outside.nonzero()[0].tolist()
            raise ValueError(
                f"{name} must lie in 0 to vocab_size - 1 = {vocab_size - 1}, got "
                f"{ids[row, column].item()} at index [{row}, {column}]"
            )


def _require_model_input(model, ids, past=0):
    """Ids on the model's device, no more than fit behind the ``past`` ones."""
    require_ids("ids", ids, model.vocab_size)
    both = {"ids": ids, "the model's weights": model.token_embedding.weight}
    validation.require_shared("device", **both)
    excess = past + ids.shape[1] - model.context_length
    if excess > 0:
        behind = f" behind the {past} in the cache" if past else ""
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
    3.2) in place of the hidden layer. Built by hand in chapter 8.
    """

    def __init__(self, vocab_size, context_length, d_model, num_heads, dropout=0.0):
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
        _draw_weights(self)

    def forward(self, ids, *, return_weights=False):
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
        _require_model_input(self, ids)
        positions = torch.arange(ids.shape[1], device=ids.device)
        x = self.token_embedding(ids) + self.position_embedding(positions)
        if return_weights:
            context, weights = self.attention(x, return_weights=True)
            return self.head(context), [weights]
        return self.head(self.attention(x))


@dataclasses.dataclass(frozen=True)
class TransformerConfig:
    """What a TransformerLM is made of; it can't be changed afterwards.

    Args:
        vocab_size: number of different characters.
        context_length: the longest text it takes, in characters.
        d_model: C, width of the residual path.
        num_heads: H, a divisor of ``d_model``.
        num_layers: number of blocks.
        dropout: probability of dropping, in [0, 1): an attention weight, or a feature
            of the embeddings or of what a layer adds.
        positions: "learned" embeddings, "rotary" queries and keys, or "none".
        norm: "layer" (LayerNorm), "rms" (RMSNorm) or "none", before each layer.
        residual: add each layer's output to its input, or replace the input.
        mlp: follow attention by an MLP.
        activation: "gelu" or "squared_relu", inside the MLP.
        mlp_ratio: width of the MLP, as a multiple of ``d_model``.
        tie_weights: take the token embeddings as the last layer's weight.
        qkv_bias: give the query, key and value layers a bias.

    Raises:
        ValueError: an option of another type or outside its choices; ``num_heads`` that
            doesn't divide ``d_model``; rotary positions with heads of odd width.

    Source: Radford et al. 2019, section 2.3, for the order of the layers.
    """

    vocab_size: int
    context_length: int
    d_model: int
    num_heads: int
    num_layers: int
    dropout: float = 0.0
    positions: str = "learned"
    norm: str = "layer"
    residual: bool = True
    mlp: bool = True
    activation: str = "gelu"
    mlp_ratio: int = 4
    tie_weights: bool = False
    qkv_bias: bool = False

    def __post_init__(self):
        sizes, switches = self._of_type(int), self._of_type(bool)
        validation.require_integers(**sizes)
        validation.require_booleans(**switches)
        validation.require_probability("dropout", self.dropout)
        for name, choices in CHOICES.items():
            choice = getattr(self, name)
            if not isinstance(choice, str) or choice not in choices:
                listed = ", ".join(map(repr, choices))
                raise ValueError(f"{name} must be one of {listed}, got {choice!r}")
        validation.require_heads(self.num_heads, self.d_model, "d_model")
        if self.positions == "rotary" and self.d_model // self.num_heads % 2:
            raise ValueError(
                "rotary positions need heads of even width, got d_model "
                f"{self.d_model} and num_heads {self.num_heads}"
            )
        # NumPy's numbers become Python's, which every file format takes.
        plain = {name: int(size) for name, size in sizes.items()}
        for name, number in (plain | {"dropout": float(self.dropout)}).items():
            object.__setattr__(self, name, number)

    def _of_type(self, kind):
        fields = (field for field in dataclasses.fields(self) if field.type is kind)
        return {field.name: getattr(self, field.name) for field in fields}


def rotary_angles(start, T, head_dim, *, base=10000.0, device=None):
    """The angle by which each pair of features turns at each position.

    position · base^(-2i / D) radians for pair i

    Args:
        start: the first position.
        T: number of positions.
        head_dim: D, even.
        base: how much slower the last pair turns than the first, nearly.
        device: where the angles are made.

    Returns:
        angles: (T, D / 2) in radians, float32.

    Source: Su et al. 2021, section 3.2.2.
    """
    pairs = torch.arange(head_dim // 2, device=device, dtype=torch.float32)
    positions = torch.arange(start, start + T, device=device, dtype=torch.float32)
    return torch.outer(positions, base ** (-2 * pairs / head_dim))


def rotate(heads, cosines, sines):
    """Turn each pair of features in its plane; feature i pairs with i + D / 2.

    A dot product of turned queries and keys depends on their distance alone.

    Args:
        heads: (..., T, D), D even.
        cosines: (T, D / 2), of the angles.
        sines: (T, D / 2), of the angles.

    Returns:
        turned: (..., T, D), of the dtype of ``heads``.

    Source: Su et al. 2021, section 3.4.2.
    """
    first, second = heads.chunk(2, dim=-1)
    cosines, sines = cosines.to(heads.dtype), sines.to(heads.dtype)
    turned = (first * cosines - second * sines, first * sines + second * cosines)
    return torch.cat(turned, dim=-1)


class KVCache:
    """The keys and values of the characters that a TransformerLM has read.

    ``model(ids, cache=cache)`` reads ids behind those in the cache and keeps them too.
    Its logits are those of the last T positions of the whole text. A cache serves the
    model that made it, until that model's weights change.

    Args:
        model: the TransformerLM; ``model.new_cache()`` is short for ``KVCache(model)``.

    Attributes:
        length: how many characters it holds.

    Raises:
        ValueError: a model that isn't a TransformerLM.

    Source: Shazeer 2019, section 2.3 (incremental multi-head attention).
    """

    def __init__(self, model):
        if not isinstance(model, TransformerLM):
            raise ValueError(
                f"model must be a TransformerLM, got {type(model).__name__}"
            )
        self.model, self.length = model, 0
        self._layers = [None] * model.config.num_layers

    def extend(self, layer, keys, values):
        """Keep one layer's keys and values (B, H, T, D); return all (B, H, S, D)."""
        if self.length:
            kept_keys, kept_values = self._layers[layer]
            validation.require_shared("dtype", **{"the cache": kept_keys, "keys": keys})
            # A call that was interrupted may have left more than ``length`` in a layer.
            kept = slice(0, self.length)
            keys = torch.cat([kept_keys[:, :, kept], keys], dim=2)
            values = torch.cat([kept_values[:, :, kept], values], dim=2)
        self._layers[layer] = (keys, values)
        return keys, values

    def require_fit(self, model, ids):
        """It was made by ``model`` and holds as many texts as ``ids``, beside them."""
        if self.model is not model:
            raise ValueError("cache must come from this model, got another model's")
        if self.length:
            keys = self._layers[0][0]
            validation.require_same(
                "the number of texts (B)",
                ids=(ids.shape[0], validation.shape_of(ids)),
                cache=(keys.shape[0], validation.shape_of(keys)),
            )
            validation.require_shared("device", ids=ids, cache=keys)


class BlockAttention(MultiHeadAttention):
    """MultiHeadAttention that can turn its heads and remember earlier keys."""

    def forward(self, x, *, return_weights=False, turn=None, past=None):
        """Attend from every token of ``x`` to itself and to the tokens before it.

        Args:
            x: (B, T, C); T and what ``past`` holds are at most ``context_length``.
            return_weights: also return the weights.
            turn: a function of queries or keys (B, H, T, D) that puts their positions
                into them.
            past: a function that keeps keys and values (B, H, T, D), and returns them
                behind the earlier ones, (B, H, S, D).

        Returns:
            output: (B, T, C); with ``return_weights`` the pair of output and weights
                (B, H, T, S), after mask and dropout.

        Raises:
            ValueError: ``x`` of another width, rank or dtype.
        """
        queries, keys, values = self._heads(x)
        if turn is not None:
            queries, keys = turn(queries), turn(keys)
        if past is not None:
            keys, values = past(keys, values)
        T, S = queries.shape[-2], keys.shape[-2]
        mask = self.mask[S - T : S, :S]
        return self._output(queries, keys, values, mask, return_weights)


class SquaredReLU(nn.Module):
    """relu(x)², as in So et al. 2021, section 3."""

    def forward(self, x):
        """The shape of ``x``."""
        return F.relu(x).square()


class RMSNorm(nn.RMSNorm):
    """PyTorch's, computed in its weight's dtype, under autocast too."""

    def forward(self, x):
        """The shape of ``x``."""
        return super().forward(x.to(self.weight.dtype))


def _make_norm(config):
    kinds = {"layer": nn.LayerNorm, "rms": RMSNorm}
    if config.norm == "none":
        return nn.Identity()
    return kinds[config.norm](config.d_model, eps=1e-5)


def _make_mlp(config):
    hidden = config.mlp_ratio * config.d_model
    return nn.Sequential(
        nn.Linear(config.d_model, hidden),
        nn.GELU() if config.activation == "gelu" else SquaredReLU(),
        nn.Linear(hidden, config.d_model),
    )


class Block(nn.Module):
    """Attention and an MLP, each behind a norm and added to the residual path.

    Args:
        config: a TransformerConfig.

    Source: Radford et al. 2019, section 2.3 (the norm comes first).
    """

    def __init__(self, config):
        super().__init__()
        self.residual = config.residual
        self.dropout = nn.Dropout(config.dropout)
        self.attention_norm = _make_norm(config)
        self.attention = BlockAttention(
            config.d_model,
            config.d_model,
            config.context_length,
            config.dropout,
            config.num_heads,
            config.qkv_bias,
            fused=True,
        )
        self.mlp_norm = _make_norm(config) if config.mlp else None
        self.mlp = _make_mlp(config) if config.mlp else None

    def forward(self, x, *, return_weights=False, turn=None, past=None):
        """Map (B, T, C) to (B, T, C); the options are those of BlockAttention.

        Returns:
            x: (B, T, C); with ``return_weights`` the pair of x and weights.
        """
        options = {"return_weights": return_weights, "turn": turn, "past": past}
        result = self.attention(self.attention_norm(x), **options)
        update, weights = result if return_weights else (result, None)
        x = self._add(x, update)
        if self.mlp is not None:
            x = self._add(x, self.mlp(self.mlp_norm(x)))
        return (x, weights) if return_weights else x

    def _add(self, x, update):
        update = self.dropout(update)
        return x + update if self.residual else update


class TransformerLM(nn.Module):
    """A character-level language model of pre-norm transformer blocks.

    Initial weights: embeddings are normal with standard deviation 0.1, the last layer's
    weight (tied or not) with 0.02; other matrices are uniform as ``nn.Linear`` draws
    them, biases 0. Logits then start near 0, and the first loss is near ln(vocab_size)
    nats per character. All are drawn from PyTorch's own generator: call
    ``torch.manual_seed`` before, and move the model afterwards.

    Args:
        config: a TransformerConfig.

    Raises:
        ValueError: a config of another type.

    Source: Radford et al. 2019, section 2.3.
    """

    def __init__(self, config):
        if not isinstance(config, TransformerConfig):
            raise ValueError(
                f"config must be a TransformerConfig, got {type(config).__name__}"
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
        self.dropout = nn.Dropout(config.dropout)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.num_layers))
        self.final_norm = _make_norm(config)
        self.head = None
        if not config.tie_weights:
            self.head = nn.Linear(config.d_model, config.vocab_size, bias=False)
        _draw_weights(self)

    def new_cache(self):
        """An empty KVCache for this model."""
        return KVCache(self)

    def forward(self, ids, *, return_weights=False, cache=None):
        """Predict the character behind each one of ``ids``.

        Args:
            ids: (B, T) int64; with what the cache holds, at most ``context_length``.
            return_weights: also return the attention weights of each layer.
            cache: a KVCache of this model; ``ids`` continue what it has read, and are
                kept in it.

        Returns:
            logits: (B, T, vocab_size); with ``return_weights`` the pair of logits and a
                list of num_layers tensors (B, H, T, S), after mask and dropout. S is T
                and the length of the cache before.

        Raises:
            ValueError: ids of another dtype, shape or device, out of range, too many;
                a cache that is something else, another model's, or of other texts.
        """
        if cache is not None and not isinstance(cache, KVCache):
            raise ValueError(f"cache must be a KVCache, got {type(cache).__name__}")
        start = 0 if cache is None else cache.length
        _require_model_input(self, ids, start)
        if cache is not None:
            cache.require_fit(self, ids)
        x, turn, all_weights = *self._embed(ids, start), []
        for layer, block in enumerate(self.blocks):
            past = None if cache is None else functools.partial(cache.extend, layer)
            x = block(x, return_weights=return_weights, turn=turn, past=past)
            if return_weights:
                x, weights = x
                all_weights.append(weights)
        if cache is not None:
            cache.length += ids.shape[1]
        head = self.token_embedding if self.head is None else self.head
        logits = F.linear(self.final_norm(x), head.weight)
        return (logits, all_weights) if return_weights else logits

    def _embed(self, ids, start):
        """The blocks' first input (B, T, C), and how they turn queries and keys."""
        T, turn = ids.shape[1], None
        x = self.token_embedding(ids)
        if self.config.positions == "learned":
            positions = torch.arange(start, start + T, device=ids.device)
            x = x + self.position_embedding(positions)
        if self.config.positions == "rotary":
            head_dim = self.config.d_model // self.config.num_heads
            angles = rotary_angles(start, T, head_dim, device=ids.device)
            turn = functools.partial(rotate, cosines=angles.cos(), sines=angles.sin())
        return self.dropout(x), turn


def _draw_weights(model):
    """The initial weights that TransformerLM describes."""
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.1)
        elif isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    # What logits are made with stays small, so that they start near 0.
    last = model.token_embedding if model.head is None else model.head
    nn.init.normal_(last.weight, std=0.02)
