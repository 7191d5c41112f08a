"""What a transformer is made of: its config, and one block.

Shapes use the book's letters: B batch, T query positions, S key positions, C model
width, H heads, D width of one head.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any, Protocol, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers import validation
from helpers.attention import (
    causal_mask,
    merge_heads,
    scaled_dot_product_attention,
    sliding_window_mask,
    split_heads,
)
from helpers.models.context_extension import (
    SCALINGS,
    extended_frequencies,
    require_factor,
)
from helpers.models.recurrent_layers import RULES, LayerState, RecurrentAttention
from helpers.models.relative_biases import require_buckets
from helpers.validation import checked, on_request, unchecked, with_weights

CHOICES = {
    "positions": ("learned", "sinusoidal", "rotary", "alibi", "t5", "none"),
    "norm": ("layer", "rms", "none"),
    "activation": ("gelu", "gelu_tanh", "squared_relu", "swiglu"),
    "attention": ("softmax", *RULES),
    "rotary_scaling": SCALINGS,
}
OPTIONAL_SIZES = (
    *("num_kv_heads", "mlp_hidden", "full_attention_interval"),
    *("trained_length", "no_rope_interval", "global_interval"),
)
Rotation = Callable[[Tensor], Tensor]
Bias = Callable[[int, int], Tensor]
Past = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


class Core(Protocol):
    """Another way to average values, such as ``flash_attention``."""

    def __call__(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        *,
        causal: bool,
        window: int | None,
        sinks: int,
    ) -> Tensor:
        """From (B, H, T, D), (B, H_kv, S, D) and (B, H_kv, S, D) to (B, H, T, D).

        H_kv divides H: query heads 0, 0, 1, 1 have keys and values 0, 1.
        """


# For BlockAttention, whose own door has checked what comes in.
_attend = unchecked(scaled_dot_product_attention)
_split_heads = unchecked(split_heads)
_merge_heads = unchecked(merge_heads)
_causal_mask = unchecked(causal_mask)
_window_mask = unchecked(sliding_window_mask)


@dataclasses.dataclass(frozen=True)
class TransformerConfig:
    """What a TransformerLM or a TransformerEncoder is made of; it can't be changed.

    Args:
        vocab_size: number of different characters.
        context_length: the longest text it takes, in characters.
        d_model: C, width of the residual path.
        num_heads: H, a divisor of ``d_model``.
        num_layers: number of blocks.
        dropout: probability of dropping, in [0, 1): an attention weight, or a feature
            of the embeddings or of what a layer adds.
        positions: "learned" or "sinusoidal" vectors that are added to the embeddings,
            "rotary" queries and keys, "alibi" for scores that fall with the distance,
            "t5" for a trained bias of each range of distances, or "none".
        rotary_base: with rotary positions, how much slower a head's last pair of
            features turns than its first, nearly.
        pair_embedding: add an embedding of each character and the one before it, from
            a table of vocab_size² rows, to that of the character alone.
        norm: each layer's, "layer" (LayerNorm), "rms" (RMSNorm) or "none".
        norm_first: put a layer's norm before it (pre-norm); False puts it behind the
            sum of input and output (post-norm), and no other behind the last block.
        norm_eps: what these norms add to the mean of the squares, before the root.
        residual: add each layer's output to its input, or replace the input.
        mlp: follow attention by an MLP.
        activation: "gelu", "gelu_tanh" (its approximation, as in GPT-2) or
            "squared_relu", inside the MLP; "swiglu" for an MLP with a gate, two thirds
            as wide, so that it has about as many weights.
        mlp_ratio: width of the MLP, as a multiple of ``d_model``.
        mlp_hidden: width of the MLP, gated or not, where it is no such multiple.
        tie_weights: take the token embeddings as the last layer's weight.
        qkv_bias: give the query, key and value layers a bias.
        bias: give the layer behind attention and those of the MLP a bias; one with a
            gate has none either way.
        causal: let a token attend to itself and those before it; False, to all, for a
            TransformerEncoder.
        num_kv_heads: heads of keys and values, a divisor of ``num_heads``, where
            several query heads share one (grouped-query attention, GQA; multi-query,
            MQA, with one); as many as there are heads where left out.
        window: each layer's queries attend to so many last positions, their own
            included, instead of to all.
        sinks: so many first positions stay visible beside a window.
        qk_norm: give each head's queries and keys a root mean square of 1, times a
            trained factor a feature, before they are turned and compared.
        embedding_skip: give each block a trained share of the embeddings beside what
            the block before it returns.
        zero_init: begin with zeros where a layer's result is added, so that every
            block begins by passing on what it got.
        attention_gate: multiply each feature of each head's context by the sigmoid of a
            linear function of the token, before ``out_proj``.
        global_interval: every so manyth layer attends to all (a global layer), and the
            others to the window (local ones); without it, all have the window.

    Raises:
        ValueError: an option of another type or outside its choices; ``num_heads`` that
            doesn't divide ``d_model``; ``num_kv_heads`` that doesn't divide
            ``num_heads``; rotary positions with heads of odd width, sinusoidal ones
            with an odd ``d_model``; a window of a layer that isn't causal; a rule that
            isn't causal, or with a window; ``full_attention_interval`` or a
            convolution without a rule, ``global_interval`` without a window.

    Source: Radford et al. 2019, section 2.3, for the order of the layers; Ainslie et
    al. 2023, section 2.2, for shared keys; Henry et al. 2020 for norms of queries and
    keys; Shazeer 2020, section 2, for the gate; Jordan et al. 2024 (modded-nanogpt) for
    the embedding's skip and the zeros; Qwen3-Next's settings for the name of
    ``full_attention_interval``; Qiu et al. 2025 for the gate behind attention; Gemma
    Team 2025 for local layers and global ones.
    """

    vocab_size: int
    context_length: int
    d_model: int
    num_heads: int
    num_layers: int
    dropout: float = 0.0
    positions: str = "learned"
    pair_embedding: bool = False
    norm: str = "layer"
    residual: bool = True
    mlp: bool = True
    activation: str = "gelu"
    mlp_ratio: int = 4
    tie_weights: bool = False
    qkv_bias: bool = False
    num_kv_heads: int | None = None
    window: int | None = None
    sinks: int = 0
    qk_norm: bool = False
    embedding_skip: bool = False
    zero_init: bool = False
    rotary_base: float = 10_000.0
    norm_eps: float = 1e-5
    mlp_hidden: int | None = None
    bias: bool = True
    norm_first: bool = True
    causal: bool = True
    attention: str = "softmax"
    full_attention_interval: int | None = None
    convolution: int = 1
    rotary_fraction: float = 1.0
    rotary_scaling: str = "none"
    rotary_scaling_factor: float = 1.0
    trained_length: int | None = None
    no_rope_interval: int | None = None
    t5_buckets: int = 32
    t5_max_distance: int = 128
    attention_gate: bool = False
    global_interval: int | None = None

    def __post_init__(self) -> None:
        sizes, switches = self._of_type(int), self._of_type(bool)
        validation.require_window(self.window, sizes.pop("sinks"))
        validation.require_integers(**sizes)
        validation.require_booleans(**switches)
        validation.require_probability("dropout", self.dropout)
        for name in ("rotary_base", "norm_eps"):
            validation.require_number(name, getattr(self, name))
        given = {name: getattr(self, name) for name in OPTIONAL_SIZES}
        optional = {name: one for name, one in given.items() if one is not None}
        validation.require_integers(**optional)
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
        if self.positions == "sinusoidal" and self.d_model % 2:
            raise ValueError(
                f"sinusoidal positions need an even d_model, got {self.d_model}"
            )
        if self.num_kv_heads is not None and self.num_heads % self.num_kv_heads:
            raise ValueError(
                f"num_kv_heads must divide num_heads = {self.num_heads}, got "
                f"{self.num_kv_heads}"
            )
        if self.window is not None and not self.causal:
            raise ValueError(f"a window needs causal=True, got window {self.window}")
        self._require_rule()
        self._require_rotary_options()
        require_buckets(
            "t5_buckets", self.t5_buckets, "t5_max_distance", self.t5_max_distance
        )
        if self.global_interval is not None and self.window is None:
            raise ValueError(
                "global_interval needs a window for the layers between, got "
                f"{self.global_interval} and no window"
            )
        self._make_plain()

    def _require_rotary_options(self) -> None:
        validation.require_number("rotary_fraction", self.rotary_fraction)
        if self.rotary_fraction > 1:
            raise ValueError(
                f"rotary_fraction must be at most 1, got {self.rotary_fraction!r}"
            )
        require_factor("rotary_scaling_factor", self.rotary_scaling_factor)
        if self.positions == "rotary":
            width = self.rotary_width
            if width < 2 or width % 2:
                raise ValueError(
                    "rotary_fraction must leave an even number of features that turn, "
                    f"got {self.rotary_fraction!r}, which leaves {width}"
                )
            self.frequencies()
        elif self.rotary_scaling != "none" or self.no_rope_interval is not None:
            raise ValueError(
                "rotary_scaling and no_rope_interval need positions 'rotary', got "
                f"{self.positions!r}"
            )

    @property
    def rotary_width(self) -> int:
        """How many of a head's features turn, where positions are rotary."""
        return int(self.d_model // self.num_heads * self.rotary_fraction)

    def frequencies(
        self,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype = torch.float32,
    ) -> Tensor:
        """How fast each pair of the features that turn does, in radians a position."""
        return extended_frequencies(
            self.rotary_width,
            self.rotary_scaling,
            factor=self.rotary_scaling_factor,
            trained_length=self.trained_length,
            base=self.rotary_base,
            device=device,
            dtype=dtype,
        )

    @property
    def hidden(self) -> int:
        """Width of the MLP's hidden features."""
        if self.mlp_hidden is not None:
            return self.mlp_hidden
        width = self.mlp_ratio * self.d_model
        return round(width * 2 / 3) if self.activation == "swiglu" else width

    def attention_of(self, layer: int) -> str:
        """Which attention a layer has, one of the choices; layers count from 0."""
        interval = self.full_attention_interval
        is_full = interval is not None and (layer + 1) % interval == 0
        return "softmax" if is_full else self.attention

    def _require_rule(self) -> None:
        """What a fixed memory can't do, and what only it can."""
        options = ("full_attention_interval", "convolution")
        if self.attention != "softmax":
            if not self.causal or self.window is not None:
                raise ValueError(
                    f"attention {self.attention!r} needs causal=True and no window, "
                    f"got causal {self.causal} and window {self.window}"
                )
            return
        for name, plain in zip(options, (None, 1), strict=True):
            if getattr(self, name) != plain:
                raise ValueError(
                    f"{name} goes with an attention of fixed memory, got "
                    f"{getattr(self, name)} and attention 'softmax'"
                )

    def of_layer(self, layer: int) -> "TransformerConfig":
        """The config of one layer, counted from 0: a global one has no window."""
        if self.global_interval is None or (layer + 1) % self.global_interval:
            return self
        return dataclasses.replace(self, window=None, sinks=0, global_interval=None)

    def _make_plain(self) -> None:
        """NumPy's numbers become Python's, which every file format takes."""
        for name in self._of_type(float):
            object.__setattr__(self, name, float(getattr(self, name)))
        for name, option in dataclasses.asdict(self).items():
            if validation.is_whole(option):
                object.__setattr__(self, name, int(option))

    def _of_type(self, kind: type) -> dict[str, Any]:
        fields = (field for field in dataclasses.fields(self) if field.type is kind)
        return {field.name: getattr(self, field.name) for field in fields}


class BlockAttention(nn.Module):
    """Attention with a block's options, and room for earlier keys.

    It has the layers of MultiHeadAttention, and no mask: where no flag of the fused
    path says the same, a mask is made for as many positions as come.

    Args:
        config: a TransformerConfig.

    Attributes:
        fused: take PyTorch's fused path wherever no weights are asked for; True at
            first.
        core: another function that computes the same, such as ``flash_attention``; it
            is asked wherever no weights are. ``None`` at first.

    Source: Ainslie et al. 2023, section 2.2 (shared keys and values); Henry et al. 2020
    (norms of queries and keys; there by length alone, with one trained factor in place
    of 1 / √D); Qiu et al. 2025 (the gate behind attention, elementwise). Built by hand
    in chapter 13 and on the page on latent attention.
    """

    def __init__(self, config: TransformerConfig) -> None:
        validation.require_type("config", config, TransformerConfig)
        super().__init__()
        C, H = config.d_model, config.num_heads
        self.num_heads, self.num_kv_heads = H, config.num_kv_heads or H
        self.context_length, self.fused = config.context_length, True
        self.W_query = nn.Linear(C, C, bias=config.qkv_bias)
        self.W_key = nn.Linear(C, C, bias=config.qkv_bias)
        self.W_value = nn.Linear(C, C, bias=config.qkv_bias)
        self.out_proj = nn.Linear(C, C, bias=config.bias)
        # Drawn behind full ones: all other weights are those of the same seed's model
        # without shared keys.
        if self.num_kv_heads < H:
            width = self.num_kv_heads * C // H
            self.W_key = nn.Linear(C, width, bias=config.qkv_bias)
            self.W_value = nn.Linear(C, width, bias=config.qkv_bias)
        self.dropout = nn.Dropout(config.dropout)
        self.window, self.sinks = config.window, config.sinks
        self.causal = config.causal
        self.core: Core | None = None
        self.query_norm = RMSNorm(C // H) if config.qk_norm else None
        self.key_norm = RMSNorm(C // H) if config.qk_norm else None
        self.gate = nn.Linear(C, C, bias=False) if config.attention_gate else None

    @checked(validation.require_causal_attention)
    def forward(
        self,
        x: Tensor,
        *,
        return_weights: bool = False,
        rotation: Rotation | None = None,
        bias: Bias | None = None,
        past: Past | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend from every token of ``x`` to itself and to those before it, or to all.

        Args:
            x: (B, T, C), with T of at most ``context_length``.
            return_weights: also return the weights.
            rotation: a function of queries or keys (B, H, T, D) that puts their
                positions into them.
            bias: a function of T and S that returns what is added to the scores,
                (H, T, S) or (B, H, T, S); each axis but the last may be 1.
            past: a function that keeps keys and values (B, H_kv, T, D), and returns
                them with the earlier ones in front, (B, H_kv, S, D). Who keeps them
                counts them.

        Returns:
            output: (B, T, C); with ``return_weights`` the pair of output and weights
                (B, H, T, S), after mask and dropout.

        Raises:
            ValueError: ``x`` of another width, rank, dtype or device, or too long.
        """
        queries = _split_heads(self.W_query(x), self.num_heads)  # (B, H, T, D)
        keys = _split_heads(self.W_key(x), self.num_kv_heads)  # (B, H_kv, T, D)
        values = _split_heads(self.W_value(x), self.num_kv_heads)  # (B, H_kv, T, D)
        if self.query_norm is not None and self.key_norm is not None:
            queries, keys = self.query_norm(queries), self.key_norm(keys)
        if rotation is not None:
            queries, keys = rotation(queries), rotation(keys)
        if past is not None:
            keys, values = past(keys, values)  # (B, H_kv, S, D)
        context, weights = self._average(queries, keys, values, bias, return_weights)
        merged = _merge_heads(context)  # (B, T, C)
        if self.gate is not None:
            merged = merged * self.gate(x).sigmoid()
        output = self.out_proj(merged)  # (B, T, C)
        return on_request(output, weights, return_weights)

    def _average(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        bias: Bias | None,
        return_weights: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """The context (B, H, T, D), and the weights where every one is computed."""
        T, S = queries.shape[-2], keys.shape[-2]  # the queries are the last T of S
        added = None if bias is None else bias(T, S).to(queries.dtype)
        p = self.dropout.p if self.dropout.training else 0.0
        fused = self.fused and not return_weights and not _is_slow_when_fused(queries)
        if self.core is not None and not return_weights:
            return self._by_core(queries, keys, values, added, p), None
        # PyTorch's kernel for CPUs reads shared keys where they are; others may not.
        in_groups = fused and queries.device.type == "cpu"
        if not in_groups and self.num_kv_heads < self.num_heads:
            times = (
                self.num_heads // self.num_kv_heads
            )  # heads 0, 0, 1, 1 have keys 0, 1
            keys = keys.repeat_interleave(times, dim=1)  # (B, H, S, D)
            values = values.repeat_interleave(times, dim=1)
        # A flag is faster than the mask that it means.
        causal = (
            (fused and self.causal and T == S > 1)
            and self.window is None
            and added is None
        )
        mask = None if causal else self._mask(T, S, queries.device)
        if not fused:
            return _attend(queries, keys, values, mask=mask, bias=added, dropout_p=p)
        if mask is not None and added is not None:
            mask = added.masked_fill(~mask, -math.inf)
        context = F.scaled_dot_product_attention(
            *(queries, keys, values, added if mask is None else mask),
            dropout_p=p,
            is_causal=causal,
            enable_gqa=in_groups and self.num_kv_heads < self.num_heads,
        )
        return context, None

    def _mask(self, T: int, S: int, device: torch.device) -> Tensor | None:
        """What the last T of S positions may attend to; None where that is all."""
        if not self.causal:
            return None
        if T == 1 and (self.window is None or self.window + self.sinks >= S):
            return None
        if self.window is None:
            return _causal_mask(T, S, device=device)
        return _window_mask(T, self.window, S, sinks=self.sinks, device=device)

    def _by_core(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        added: Tensor | None,
        p: float,
    ) -> Tensor:
        """The context (B, H, T, D) from another way to compute the same."""
        if added is not None or p > 0:
            lacks = "a bias" if added is not None else f"a dropout of {p}"
            raise ValueError(f"the layer's core computes attention without {lacks}")
        core = cast(Core, self.core)
        return core(
            *(queries, keys, values),
            causal=self.causal,
            window=self.window,
            sinks=self.sinks,
        )


def _is_slow_when_fused(queries: Tensor) -> bool:
    """Where PyTorch's fused attention takes longer backwards than the explicit one."""
    narrow = queries.dtype in (torch.bfloat16, torch.float16)
    return narrow and queries.device.type == "cpu" and torch.is_grad_enabled()


class SquaredReLU(nn.Module):
    """relu(x)², as in So et al. 2021. Built by hand in chapter 13."""

    def forward(self, x: Tensor) -> Tensor:
        """The shape of ``x``."""
        return F.relu(x).square()


class RMSNorm(nn.RMSNorm):
    """PyTorch's, computed in its weight's dtype, under autocast too.

    Source: Zhang and Sennrich 2019. Built by hand in chapter 13.
    """

    def forward(self, x: Tensor) -> Tensor:
        """The shape of ``x``."""
        return super().forward(x.to(self.weight.dtype))


def make_norm(config: TransformerConfig) -> nn.Module:
    """The norm that a TransformerConfig names, an ``nn.Module`` of its own."""
    validation.require_type("config", config, TransformerConfig)
    kinds = {"layer": nn.LayerNorm, "rms": RMSNorm}
    if config.norm == "none":
        return nn.Identity()
    return kinds[config.norm](config.d_model, eps=config.norm_eps)


class GatedMLP(nn.Module):
    """An MLP whose hidden features are each multiplied by a gate: SwiGLU.

    (silu(x gate) · (x up)) down

    Args:
        d_model: C, width of what comes in and goes out.
        hidden: width in between.

    Source: Shazeer 2020, section 2. Built by hand in chapter 13.
    """

    def __init__(self, d_model: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(d_model, hidden, bias=False)
        self.up = nn.Linear(d_model, hidden, bias=False)
        self.down = nn.Linear(hidden, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """The shape of ``x``, (..., C)."""
        result: Tensor = self.down(F.silu(self.gate(x)) * self.up(x))
        return result


def _make_attention(
    config: TransformerConfig, layer: int
) -> BlockAttention | RecurrentAttention:
    rule = config.attention_of(layer)
    if rule == "softmax":
        return BlockAttention(config)
    return RecurrentAttention(
        *(config.d_model, config.num_heads, rule),
        qkv_bias=config.qkv_bias,
        bias=config.bias,
        convolution=config.convolution,
    )


def _make_mlp(config: TransformerConfig) -> nn.Module:
    C, hidden = config.d_model, config.hidden
    if config.activation == "swiglu":
        return GatedMLP(C, hidden)
    return nn.Sequential(
        nn.Linear(C, hidden, bias=config.bias),
        _make_activation(config.activation),
        nn.Linear(hidden, C, bias=config.bias),
    )


def _make_activation(name: str) -> nn.Module:
    if name == "squared_relu":
        return SquaredReLU()
    return nn.GELU("tanh" if name == "gelu_tanh" else "none")


class Block(nn.Module):
    """Attention and an MLP, each behind a norm and added to the residual path.

    With ``norm_first=False`` each norm comes behind that sum (post-norm).

    Args:
        config: a TransformerConfig.
        layer: which one it is, counted from 0: where some layers have softmax and
            others don't, it says which this is.

    Source: Radford et al. 2019, section 2.3 (the norm comes first); Vaswani et al.
    2017, section 3.1 (it comes behind the sum).
    """

    def __init__(self, config: TransformerConfig, layer: int = 0) -> None:
        validation.require_type("config", config, TransformerConfig)
        validation.require_counts(layer=layer)
        super().__init__()
        self.residual, self.norm_first = config.residual, config.norm_first
        self.dropout = nn.Dropout(config.dropout)
        self.attention_norm = make_norm(config)
        self.attention = _make_attention(config, layer)
        self.mlp_norm = make_norm(config) if config.mlp else None
        self.mlp = _make_mlp(config) if config.mlp else None

    def forward(
        self,
        x: Tensor,
        *,
        return_weights: bool = False,
        rotation: Rotation | None = None,
        bias: Bias | None = None,
        past: Past | None = None,
        state: LayerState | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Map (B, T, C) to (B, T, C); the options are those of its attention.

        A RecurrentAttention takes ``state``, and BlockAttention the three before it.

        Returns:
            x: (B, T, C); with ``return_weights`` the pair of x and weights.
        """
        options: dict[str, Any] = {"rotation": rotation, "bias": bias, "past": past}
        if isinstance(self.attention, RecurrentAttention):
            options = {"state": state}
        result = self.attention(
            self.attention_norm(x) if self.norm_first else x,
            return_weights=return_weights,
            **options,
        )
        update, weights = with_weights(result)
        x = self._add(x, update)
        if not self.norm_first:
            x = self.attention_norm(x)
        if self.mlp is not None and self.mlp_norm is not None:
            update = self.mlp(self.mlp_norm(x) if self.norm_first else x)
            x = self._add(x, update)
            if not self.norm_first:
                x = self.mlp_norm(x)
        return on_request(x, weights, return_weights)

    def last_layers(self) -> list[nn.Linear]:
        """The layers whose results are added to the residual stream."""
        layers = [layer for layer in self.modules() if isinstance(layer, nn.Linear)]
        found = [self.attention.out_proj]
        return found if self.mlp is None else [*found, layers[-1]]

    def _add(self, x: Tensor, update: Tensor) -> Tensor:
        if self.dropout.training:
            update = self.dropout(update)
        return x + update if self.residual else update
