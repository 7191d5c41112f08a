"""A transformer that writes on: its products, and little beside them.

A small model spends most of its time on calling layers, each with its checks, its mode
and its hooks. A ``Decoder`` settles all that once, and then multiplies. It stands
beside the model's own way with a ``KVCache``, because for 4 layers of C = 64 it takes
0.4 times as long (for 30 layers of C = 576, 0.9 times).

Shapes use the book's letters: B batch, T query positions, S key positions, C model
width, H heads, D width of one head.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers import validation
from helpers.attention import causal_mask
from helpers.models.language_model import TransformerLM
from helpers.models.positions import angle_dtype, rotary_angles, rotate
from helpers.models.transformer_block import (
    Block,
    BlockAttention,
    GatedMLP,
    RMSNorm,
    SquaredReLU,
    TransformerConfig,
)

Layer = Callable[[Tensor], Tensor]
_rotate = validation.unchecked(rotate)  # nothing that comes in is checked
KNOWN = (
    *(TransformerLM, Block, BlockAttention, RMSNorm, SquaredReLU, GatedMLP),
    *(nn.ModuleList, nn.Sequential, nn.Embedding, nn.Linear, nn.LayerNorm, nn.GELU),
    *(nn.Dropout, nn.Identity),
)


class _Steps(NamedTuple):
    """What a block does, as plain functions."""

    norm: Layer
    project: Layer  # to queries, keys and values, side by side
    norm_queries: Layer
    norm_keys: Layer
    merge: Layer
    mlp_norm: Layer
    mlp: Layer


class Decoder:
    """What a TransformerLM computes of texts that grow, with keys and values kept.

    Its logits are the model's. The weights are taken as they are when it is made, no
    gradient is followed, and nothing that comes in is checked.

    Args:
        model: a ``TransformerLM`` for which ``fits`` is true.
        B: how many texts.

    Attributes:
        length: how many characters of each text it has read.

    Source: Shazeer 2019, section 2.3 (incremental multi-head attention).
    """

    def __init__(self, model: TransformerLM, B: int) -> None:
        config, weight = model.config, model.token_embedding.weight
        self.model, self.config, self.length = model, config, 0
        self.last_ids: Tensor | None = None
        self.head_dim = config.d_model // config.num_heads
        self.kv_heads = config.num_kv_heads or config.num_heads
        self.blocks = [_steps(cast(Block, block)) for block in model.blocks]
        self.final_norm = _plain(model.final_norm)
        head = model.token_embedding if model.head is None else model.head
        self.head = head.weight
        shape = (2, B, self.kv_heads, config.context_length, self.head_dim)
        self.cached = [weight.new_empty(shape).unbind() for _ in self.blocks]
        self.shares: list[list[float]] | None = None
        if model.residual_scale is not None and model.embedding_scale is not None:
            self.shares = torch.stack(
                [model.residual_scale, model.embedding_scale], dim=1
            ).tolist()
        self.rotations: tuple[Tensor, ...] = ()
        if config.positions == "rotary":
            places, device = config.context_length, weight.device
            base = config.rotary_base
            angles = rotary_angles(
                *(0, places, self.head_dim),
                base=base,
                device=device,
                dtype=angle_dtype(weight),
            )
            self.rotations = (
                angles.cos().to(weight.dtype),
                angles.sin().to(weight.dtype),
            )

    @staticmethod
    def fits(model: nn.Module) -> bool:
        """Whether it can compute a model, and nothing else has to see what passes.

        Windows, biases, gates and other cores are the model's own business, as are
        rotary positions of a part or of a longer text, layers of another kind or with
        another ``forward``, hooks, dropout and autocast.
        """
        if not isinstance(model, TransformerLM):
            return False
        config = model.config
        return (
            config.positions in ("learned", "rotary", "none")
            and config.rotary_fraction == 1
            and config.rotary_scaling == "none"
            and config.no_rope_interval is None
            and all(_is_usual(block, config) for block in model.blocks)
            and not validation.is_autocast(model.token_embedding.weight.device)
            and not _is_everything_hooked()
            and all(map(_is_plain, model.modules()))
        )

    def read(self, ids: Tensor) -> Tensor:
        """Read ids (B, T) behind those read before: logits (B, vocab_size) at the end.

        With those, they are at most ``context_length``.
        """
        start, T = self.length, ids.shape[1]
        x = embedded = self._embed(ids, start)
        for layer, block in enumerate(self.blocks):
            if self.shares is not None:
                own, first = self.shares[layer]
                x = own * x + first * embedded
            x = x + block.merge(self._attend(layer, block.norm(x), start))
            x = x + block.mlp(block.mlp_norm(x))
        self.length, self.last_ids = start + T, ids[:, -1:]
        return F.linear(self.final_norm(x[:, -1]), self.head)

    def _embed(self, ids: Tensor, start: int) -> Tensor:
        """The blocks' first input (B, T, C)."""
        model, T = self.model, ids.shape[1]
        x = torch.embedding(model.token_embedding.weight, ids)
        if model.pair_embedding is not None:
            x = x + model.embed_pairs(ids, self.last_ids)
        if model.position_embedding is not None:
            x = x + model.position_embedding.weight[start : start + T]
        return x

    def _attend(self, layer: int, x: Tensor, start: int) -> Tensor:
        """The context (B, T, C) of the new positions."""
        block, (B, T, C) = self.blocks[layer], x.shape
        end, H = start + T, self.config.num_heads
        heads = block.project(x).view(B, T, H + 2 * self.kv_heads, -1).transpose(1, 2)
        queries, keys, values = heads.split((H, self.kv_heads, self.kv_heads), dim=1)
        queries, keys = block.norm_queries(queries), block.norm_keys(keys)
        if self.rotations:
            rotations = [part[start:end] for part in self.rotations]
            queries, keys = _rotate(queries, *rotations), _rotate(keys, *rotations)
        cached_keys, cached_values = self.cached[layer]  # (B, H_kv, context_length, D)
        cached_keys.narrow(2, start, T).copy_(keys)
        cached_values.narrow(2, start, T).copy_(values)
        context = F.scaled_dot_product_attention(
            queries,
            cached_keys.narrow(2, 0, end),  # (B, H_kv, S, D)
            cached_values.narrow(2, 0, end),
            enable_gqa=self.kv_heads < H,
            **_reach(T, end, x.device),
        )
        return context.transpose(1, 2).reshape(B, T, C)


def _reach(T: int, S: int, device: torch.device) -> dict[str, Any]:
    """What the last T of S positions may attend to: what comes last, to all."""
    if T in (1, S):
        return {"is_causal": T > 1}
    return {"attn_mask": causal_mask(T, S, device=device)}


def _steps(block: Block) -> _Steps:
    layer = cast(BlockAttention, block.attention)
    parts = (layer.W_query, layer.W_key, layer.W_value)
    weight = torch.cat([part.weight for part in parts])
    bias = None
    if layer.W_query.bias is not None:
        bias = torch.cat([cast(Tensor, part.bias) for part in parts])
    return _Steps(
        norm=_plain(block.attention_norm),
        project=lambda x: F.linear(x, weight, bias),
        norm_queries=_plain(layer.query_norm),
        norm_keys=_plain(layer.key_norm),
        merge=_plain(layer.out_proj),
        mlp_norm=_plain(block.mlp_norm),
        mlp=_plain(block.mlp),
    )


def _plain(layer: nn.Module | None) -> Layer:
    """A layer as a function of its input; where there is none, what comes goes out."""
    if layer is None:
        return lambda x: x
    if isinstance(layer, nn.Linear):
        weight, bias = layer.weight, layer.bias
        return lambda x: F.linear(x, weight, bias)
    if isinstance(layer, nn.LayerNorm):
        of = (layer.normalized_shape, layer.weight, layer.bias, layer.eps)
        return lambda x: torch.layer_norm(x, *of)
    if isinstance(layer, RMSNorm):
        rms = (layer.normalized_shape, layer.weight, layer.eps)
        return lambda x: torch.rms_norm(x, *rms)
    if isinstance(layer, nn.GELU) and layer.approximate == "none":
        # F.gelu takes six times as long for a few numbers.
        return lambda x: x * torch.special.ndtr(x)
    if isinstance(layer, nn.Sequential):
        return functools.partial(_in_a_row, [_plain(one) for one in layer])
    return cast(Layer, layer)


def _in_a_row(layers: Sequence[Layer], x: Tensor) -> Tensor:
    for layer in layers:
        x = layer(x)
    return x


def _is_usual(block: nn.Module, config: TransformerConfig) -> bool:
    """Whether a block adds both its results, and attends as the config's heads do."""
    if not isinstance(block, Block):
        return False
    layer = block.attention
    if not isinstance(layer, BlockAttention):
        return False
    parts = (layer.W_query, layer.W_key, layer.W_value)
    return (
        (block.residual and block.norm_first)
        and (block.mlp is not None and block.mlp_norm is not None)
        and (layer.window is None and layer.num_heads == config.num_heads)
        and layer.gate is None
        and all(isinstance(part, nn.Linear) for part in parts)
        and len({part.bias is None for part in parts}) == 1
    )


def _is_everything_hooked() -> bool:
    """Whether somebody sees what goes through any module of PyTorch."""
    hooks = torch.nn.modules.module
    return bool(hooks._global_forward_hooks or hooks._global_forward_pre_hooks)


def _is_plain(layer: nn.Module) -> bool:
    """Whether calling it does what its class says, and no more."""
    # Hooks of its own, or a forward that somebody has put in its place.
    changed = (
        layer._forward_hooks or layer._forward_pre_hooks or "forward" in vars(layer)
    )
    core = isinstance(layer, BlockAttention) and layer.core is not None
    return type(layer) in KNOWN and not (changed or core or layer.training)
