"""Attention that caches one short vector a token for all heads: latent attention.

Shapes use the book's letters: B batch, T query positions, S key positions, C model
width, H heads, D width of one head. Two more: L, the width of a latent, and R, of the
part of queries and keys that turns with the position.
"""

import math

import torch
from torch import Tensor, nn

from helpers import validation
from helpers.attention import (
    causal_mask,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)
from helpers.models.positions import BASE, angle_dtype, rotary_angles, rotate
from helpers.models.transformer_block import RMSNorm
from helpers.validation import checked, on_request, unchecked

# For the layer, whose own door has checked what comes in.
_attend = unchecked(scaled_dot_product_attention)
_causal_mask = unchecked(causal_mask)
_merge_heads = unchecked(merge_heads)
_rotate = unchecked(rotate)
_split_heads = unchecked(split_heads)


class LatentCache:
    """What a MultiHeadLatentAttention keeps of the tokens that it has read.

    Attributes:
        latents: (B, S, L), normed; None where nothing has been read.
        rotary_keys: (B, S, R), turned; None where nothing has been read.

    Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.3.
    """

    def __init__(self) -> None:
        self.latents: Tensor | None = None
        self.rotary_keys: Tensor | None = None

    @property
    def length(self) -> int:
        """How many tokens of each text have been read."""
        return 0 if self.latents is None else self.latents.shape[1]

    @property
    def bytes(self) -> int:
        """What is kept takes so many bytes, of all texts together."""
        kept = (self.latents, self.rotary_keys)
        return sum(one.numel() * one.element_size() for one in kept if one is not None)

    def extend(self, latents: Tensor, rotary_keys: Tensor) -> tuple[Tensor, Tensor]:
        """Keep what comes behind what is there.

        Args:
            latents: (B, T, L)
            rotary_keys: (B, T, R)

        Returns:
            latents: (B, S, L), all of them.
            rotary_keys: (B, S, R), all of them.

        Raises:
            ValueError: another number of texts, or another dtype, than in the cache.
        """
        if self.latents is not None and self.rotary_keys is not None:
            both = {"the cache": self.latents, "x": latents}
            validation.require_shared("dtype", **both)
            shapes = {name: validation.shape_of(one) for name, one in both.items()}
            counts = {name: (shape[0], shape) for name, shape in shapes.items()}
            validation.require_same("the number of texts (B)", **counts)
            latents = torch.cat([self.latents, latents], dim=1)
            rotary_keys = torch.cat([self.rotary_keys, rotary_keys], dim=1)
        self.latents, self.rotary_keys = latents, rotary_keys
        return latents, rotary_keys


class MultiHeadLatentAttention(nn.Module):
    """Causal attention whose keys and values are made from one latent a token (MLA).

    A token's latent is a short vector, normed by RMSNorm. Each head has a matrix that
    makes its D features of a key from it, and another for its value. Those features
    know nothing of positions; R more of each query, and one key of R features for all
    heads, are turned (RoPE). A score is the sum of both products, over √(D + R).

    Two ways compute one result. The plain one makes keys and values of all heads. The
    absorbed one multiplies the queries by the keys' matrices, and the averaged latents
    by the values' ones: keys and values are never made, and every head reads the
    latents themselves, as in multi-query attention with one head of width L + R.

    Public code calls L ``kv_lora_rank``, R ``qk_rope_head_dim``, D
    ``qk_nope_head_dim`` and ``v_head_dim``. The compressed queries of the paper, which
    save memory in training alone, are left out.

    Args:
        d_model: C, width of a token and of the output.
        num_heads: H
        context_length: the longest text it takes.
        latent_dim: L
        rotary_dim: R, even.
        head_dim: D; C / H where left out.
        rotary_base: how much slower the last pair of features turns than the first,
            nearly.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, an odd
            ``rotary_dim``, or, without ``head_dim``, ``num_heads`` that doesn't divide
            ``d_model``.

    Source: DeepSeek-AI 2024 (DeepSeek-V2), sections 2.1.2 and 2.1.3; DeepSeek-V3's
    inference/model.py for the norm of the latents, and for both ways. Built by hand on
    the page on latent attention.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        context_length: int,
        *,
        latent_dim: int,
        rotary_dim: int,
        head_dim: int | None = None,
        rotary_base: float = BASE,
    ) -> None:
        validation.require_integers(
            d_model=d_model,
            num_heads=num_heads,
            context_length=context_length,
            latent_dim=latent_dim,
            rotary_dim=rotary_dim,
        )
        validation.require_even("rotary_dim", rotary_dim)
        validation.require_number("rotary_base", rotary_base)
        if head_dim is None:
            validation.require_heads(num_heads, d_model, "d_model")
            head_dim = d_model // num_heads
        validation.require_integers(head_dim=head_dim)
        super().__init__()
        self.num_heads, self.head_dim = num_heads, head_dim
        self.latent_dim, self.rotary_dim = latent_dim, rotary_dim
        self.context_length, self.rotary_base = context_length, rotary_base
        H, D, L, R = num_heads, head_dim, latent_dim, rotary_dim
        self.W_query = nn.Linear(d_model, H * (D + R), bias=False)
        self.W_latent = nn.Linear(d_model, L, bias=False)
        self.W_rotary = nn.Linear(d_model, R, bias=False)
        self.latent_norm = RMSNorm(L, eps=1e-6)
        self.W_key = nn.Linear(L, H * D, bias=False)
        self.W_value = nn.Linear(L, H * D, bias=False)
        self.out_proj = nn.Linear(H * D, d_model, bias=False)

    def new_cache(self) -> LatentCache:
        """An empty LatentCache."""
        return LatentCache()

    @checked(validation.require_causal_attention)
    def forward(
        self,
        x: Tensor,
        *,
        absorbed: bool = False,
        return_weights: bool = False,
        cache: LatentCache | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend from every token of ``x`` to itself and to those before it.

        Args:
            x: (B, T, C); with what the cache holds, at most ``context_length`` tokens.
            absorbed: compute without keys and values.
            return_weights: also return the weights.
            cache: of this layer; ``x`` continues what it has read, and is kept in it.

        Returns:
            output: (B, T, C); with ``return_weights`` the pair of output and weights
                (B, H, T, S).

        Raises:
            ValueError: ``x`` of another width, rank, dtype or device, or too long; a
                cache that is something else, or of another number of texts.
        """
        validation.require_rank("x", x, "B, T, C")
        start = 0
        if cache is not None:
            validation.require_type("cache", cache, LatentCache)
            start = cache.length
        self._require_room(start, x)
        queries = _split_heads(self.W_query(x), self.num_heads)  # (B, H, T, D + R)
        queries, rotary_queries = queries.split([self.head_dim, self.rotary_dim], -1)
        latents, rotary_keys = self.latent_norm(self.W_latent(x)), self.W_rotary(x)
        rotary_queries = self._turn(rotary_queries, start)  # (B, H, T, R)
        rotary_keys = self._turn(rotary_keys, start)  # (B, T, R)
        if cache is not None:
            latents, rotary_keys = cache.extend(latents, rotary_keys)  # (B, S, ...)
        way = self._absorbed if absorbed else self._plain
        context, weights = way(queries, rotary_queries, latents, rotary_keys)
        output = self.out_proj(_merge_heads(context))  # (B, T, C)
        return on_request(output, weights, return_weights)

    def _plain(
        self, queries: Tensor, rotary_queries: Tensor, latents: Tensor, turned: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The context (B, H, T, D) by keys and values of every head."""
        keys = _split_heads(self.W_key(latents), self.num_heads)  # (B, H, S, D)
        values = _split_heads(self.W_value(latents), self.num_heads)  # (B, H, S, D)
        turned = turned[:, None].expand(-1, self.num_heads, -1, -1)  # (B, H, S, R)
        return _attend(
            torch.cat([queries, rotary_queries], dim=-1),
            torch.cat([keys, turned], dim=-1),
            values,
            mask=self._mask(queries, latents),
        )

    def _absorbed(
        self, queries: Tensor, rotary_queries: Tensor, latents: Tensor, turned: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The same by one head of keys, the latents, that are the values, too."""
        H, D, R = self.num_heads, self.head_dim, self.rotary_dim
        of_keys = self.W_key.weight.unflatten(0, (H, D))  # (H, D, L)
        of_values = self.W_value.weight.unflatten(0, (H, D))  # (H, D, L)
        queries = torch.cat([queries @ of_keys, rotary_queries], dim=-1)
        keys = torch.cat([latents, turned], dim=-1)[:, None]  # (B, 1, S, L + R)
        # Scores are over the root of D + R, as if the keys had been made.
        scale = math.sqrt(queries.shape[-1] / (D + R))
        context, weights = _attend(
            scale * queries,  # (B, H, T, L + R)
            keys.expand(-1, H, -1, -1),
            latents[:, None].expand(-1, H, -1, -1),
            mask=self._mask(queries, latents),
        )
        return context @ of_values.mT, weights  # (B, H, T, D)

    def _turn(self, heads: Tensor, start: int) -> Tensor:
        angles = rotary_angles(
            *(start, heads.shape[-2], self.rotary_dim),
            base=self.rotary_base,
            device=heads.device,
            dtype=angle_dtype(heads),
        )
        return _rotate(heads, angles.cos(), angles.sin())

    def _mask(self, queries: Tensor, latents: Tensor) -> Tensor:
        return _causal_mask(queries.shape[-2], latents.shape[-2], device=queries.device)

    def _require_room(self, past: int, x: Tensor) -> None:
        excess = past + x.shape[1] - self.context_length
        if excess > 0:
            raise ValueError(
                f"x has T = {x.shape[1]} tokens behind the {past} in the cache, "
                f"{excess} more than context_length {self.context_length}"
            )


def token_bytes(
    num_heads: int,
    head_dim: int,
    *,
    num_kv_heads: int,
    latent_dim: int,
    rotary_dim: int,
    num_layers: int = 1,
    bytes_each: int = 2,
) -> dict[str, int]:
    """What four kinds of attention cache for each token, in bytes.

    Args:
        num_heads: H, of the queries.
        head_dim: D, of a key and of a value.
        num_kv_heads: heads of keys and values of the grouped kind.
        latent_dim: L
        rotary_dim: R
        num_layers: all with a cache of their own.
        bytes_each: of a number.

    Returns:
        bytes: a dict of "MHA", "GQA", "MQA" and "MLA".

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, or ``num_kv_heads``
            that doesn't divide ``num_heads``.

    Source: DeepSeek-AI 2024 (DeepSeek-V2), section 2.1.
    """
    validation.require_integers(
        num_heads=num_heads,
        head_dim=head_dim,
        num_kv_heads=num_kv_heads,
        latent_dim=latent_dim,
        rotary_dim=rotary_dim,
        num_layers=num_layers,
        bytes_each=bytes_each,
    )
    if num_heads % num_kv_heads:
        raise ValueError(
            f"num_kv_heads must divide num_heads = {num_heads}, got {num_kv_heads}"
        )
    numbers = {
        "MHA": 2 * num_heads * head_dim,
        "GQA": 2 * num_kv_heads * head_dim,
        "MQA": 2 * head_dim,
        "MLA": latent_dim + rotary_dim,
    }
    return {kind: num_layers * bytes_each * each for kind, each in numbers.items()}
