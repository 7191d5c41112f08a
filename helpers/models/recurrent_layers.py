"""Layers whose memory has a fixed size: linear attention, decay, the delta rule.

Shapes use the book's letters: B batch, T positions, C model width, H heads, D width of
one head. Each head keeps a state (D, D), whatever the length of the text.
"""

import dataclasses
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers import validation
from helpers.attention import merge_heads, split_heads
from helpers.linear_attention import (
    chunked_delta_rule,
    chunked_linear_attention,
    parallel_delta_rule,
    parallel_linear_attention,
)
from helpers.validation import checked, on_request, unchecked

RULES = ("linear", "decay", "delta", "gated_delta")
CHUNK_SIZE = 64
FIRST_DECAY = 5  # the first head starts with a factor of 1 - 2^-5 a position

# For RecurrentAttention, whose own door has checked what comes in.
_split_heads = unchecked(split_heads)
_merge_heads = unchecked(merge_heads)
_delta_rule = unchecked(chunked_delta_rule)
_linear_attention = unchecked(chunked_linear_attention)
_delta_rule_at_once = unchecked(parallel_delta_rule)
_linear_attention_at_once = unchecked(parallel_linear_attention)


@dataclasses.dataclass
class LayerState:
    """What a recurrent layer keeps of the positions that it has read.

    Attributes:
        matrices: (B, H, D, D), the state behind the last position; None before any.
        inputs: (B, convolution - 1, 3C), the last queries, keys and values before their
            convolution; None before any, and in layers without one.
    """

    matrices: Tensor | None = None
    inputs: Tensor | None = None


class RecurrentAttention(nn.Module):
    """Attention that writes into a state of fixed size and reads it, causally.

    Queries and keys have length 1, and each head's context gets a root mean square of
    1, times a trained factor a feature: it stands where the sum of the weights would
    divide in attention with softmax. How the state changes is the layer's rule:

    - "linear": keys and values are added, and nothing fades.
    - "decay": before that, the state shrinks by a factor that each position chooses for
      each head.
    - "delta": each position replaces what the state has under its key, by a share
      (beta) that it chooses for each head.
    - "gated_delta": both.

    Args:
        d_model: C, width of what comes in and goes out.
        num_heads: H, a divisor of ``d_model``.
        rule: one of these four.
        qkv_bias: give the query, key and value layers a bias.
        bias: give ``out_proj`` one.
        convolution: mix each feature of queries, keys and values with that of so many
            last positions, its own included, and apply SiLU; 1 for neither.

    Raises:
        ValueError: a size that isn't a whole number of at least 1, ``num_heads`` that
            doesn't divide ``d_model``, another rule.

    Source: Katharopoulos et al. 2020; Sun et al. 2023 (decay, and a norm behind it);
    Yang et al. 2024 (DeltaNet); Yang et al. 2025 (Gated DeltaNet). Chapter 16.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        rule: str,
        *,
        qkv_bias: bool = False,
        bias: bool = True,
        convolution: int = 1,
    ) -> None:
        validation.require_heads(num_heads, d_model, "d_model")
        validation.require_integers(convolution=convolution)
        validation.require_booleans(qkv_bias=qkv_bias, bias=bias)
        if rule not in RULES:
            listed = ", ".join(map(repr, RULES))
            raise ValueError(f"rule must be one of {listed}, got {rule!r}")
        super().__init__()
        C, H = d_model, num_heads
        self.num_heads, self.rule = H, rule
        self.W_query = nn.Linear(C, C, bias=qkv_bias)
        self.W_key = nn.Linear(C, C, bias=qkv_bias)
        self.W_value = nn.Linear(C, C, bias=qkv_bias)
        self.out_proj = nn.Linear(C, C, bias=bias)
        self.norm = nn.RMSNorm(C // H, eps=1e-5)
        self.W_beta = self.W_decay = self.decay_bias = self.convolution = None
        if rule in ("delta", "gated_delta"):
            self.W_beta = nn.Linear(C, H, bias=False)
        if rule in ("decay", "gated_delta"):
            self.W_decay = nn.Linear(C, H, bias=False)
            lost = 0.5 ** (FIRST_DECAY + torch.arange(H, dtype=torch.float32))
            self.decay_bias = nn.Parameter(torch.logit(1 - lost))
        if convolution > 1:
            self.convolution = nn.Conv1d(3 * C, 3 * C, convolution, groups=3 * C)

    @checked(validation.require_self_attention)
    def forward(
        self,
        x: Tensor,
        *,
        return_weights: bool = False,
        state: LayerState | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Let every token read what it and those before it have written.

        Args:
            x: (B, T, C), T of any length.
            return_weights: also return how much of each value a context holds, before
                its norm: numbers of either sign that don't sum to 1.
            state: what earlier positions have left, for ``x`` that continue them; it
                is brought up to date.

        Returns:
            output: (B, T, C); with ``return_weights`` the pair of output and weights
                (B, H, T, T), those among the new positions.

        Raises:
            ValueError: ``x`` of another width, rank, dtype or device.
        """
        parts = [layer(x) for layer in (self.W_query, self.W_key, self.W_value)]
        if self.convolution is not None:
            parts = self._mix(torch.cat(parts, dim=-1), state)
        queries, keys, values = (_split_heads(one, self.num_heads) for one in parts)
        queries, keys = (F.normalize(one, dim=-1) for one in (queries, keys))
        options = self._options(x)
        before = None if state is None else state.matrices
        context, matrices = self._run(
            *(queries, keys, values), initial_state=before, **options
        )  # (B, H, T, D), (B, H, D, D)
        if state is not None:
            state.matrices = matrices
        output = self.out_proj(_merge_heads(self.norm(context)))  # (B, T, C)
        weights = self._weights(queries, keys, **options) if return_weights else None
        return on_request(output, weights, return_weights)

    def _mix(self, x: Tensor, state: LayerState | None) -> list[Tensor]:
        """Queries, keys and values (B, T, C) from (B, T, 3C) and what came before."""
        layer: Any = self.convolution
        reach = layer.kernel_size[0] - 1
        before = None if state is None else state.inputs
        if before is None:
            before = x.new_zeros(*x.shape[:-2], reach, x.shape[-1])
        x = torch.cat([before, x], dim=-2)
        if state is not None:
            state.inputs = x[..., -reach:, :]
        mixed = F.silu(layer(x.transpose(-2, -1)).transpose(-2, -1))
        return list(mixed.chunk(3, dim=-1))

    def _options(self, x: Tensor) -> dict[str, Tensor]:
        """What each position chooses for each head, (B, H, T)."""
        options = {}
        if self.W_beta is not None:
            options["beta"] = self.W_beta(x).sigmoid().transpose(-2, -1)
        if self.W_decay is not None and self.decay_bias is not None:
            kept = self.W_decay(x) + self.decay_bias
            options["log_decay"] = F.logsigmoid(kept).transpose(-2, -1)
        return options

    def _run(
        self, queries: Tensor, keys: Tensor, values: Tensor, **options: Any
    ) -> tuple[Tensor, Tensor]:
        rule = _linear_attention if self.W_beta is None else _delta_rule
        return rule(queries, keys, values, chunk_size=CHUNK_SIZE, **options)

    def _weights(self, queries: Tensor, keys: Tensor, **options: Any) -> Tensor:
        """What the layer makes of T values that are the rows of an identity matrix."""
        rule = _linear_attention_at_once
        if self.W_beta is not None:
            rule = _delta_rule_at_once
        T = keys.shape[-2]
        values = torch.eye(T, dtype=keys.dtype, device=keys.device)
        return rule(queries, keys, values.expand(*keys.shape[:-1], T), **options)[0]
