"""Attention from dot products to many heads: the book's reference implementations.

Shapes use the book's letters: B batch, T query positions, S key and value positions,
C model width, H heads, D width of one head. "..." stands for any leading axes.
A mask is boolean and True where a query may attend to a key.

All functions and layers raise a ValueError for bad input; it names the argument, what
came and what is needed. Sizes are whole numbers of at least 1, and probabilities lie in
[0, 1). Tensors are floating point, of one dtype and on one device; their shapes fit
without broadcasting, and no row of a mask is empty. The decorator ``@checked`` asks for
all this once, before the body runs; the body is the mathematics alone. Each layer
writes its steps out, so that it can be read by itself.

A layer returns its output, and with ``return_weights=True`` the pair of output and
weights: those that averaged the values, after mask and dropout.
"""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers import validation
from helpers.validation import checked, checked_options, on_request, unchecked

Output = Tensor | tuple[Tensor, Tensor]  # of a layer: alone, or with the weights


@checked(validation.require_matching)
def dot_product_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """Score every query against every key by their dot product: queries keysᵀ.

    Args:
        queries: (..., T, D)
        keys: (..., S, D)

    Returns:
        scores: (..., T, S), before scaling and softmax.

    Source: Vaswani et al. 2017, section 3.2.1. Built by hand in chapter 1.
    """
    return queries @ keys.transpose(-2, -1)


@checked(validation.require_scores)
def softmax(scores: Tensor, dim: int = -1) -> Tensor:
    """Turn scores into weights that are positive and sum to 1 along ``dim``.

    The largest score is subtracted first. The quotient stays the same, and no
    exponential can overflow. The subtracted constant needs no gradient of its own.

    Args:
        scores: (..., S), any shape; entries of -inf get weight 0.
        dim: the axis that sums to 1.

    Returns:
        weights: the shape of ``scores``. A slice of nothing but -inf gives NaN.

    Source: Goodfellow et al. 2016, section 4.1. Built by hand in chapter 1.
    """
    largest = scores.amax(dim=dim, keepdim=True).detach()
    exponentials = (scores - largest).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


@checked(validation.require_attention)
def scaled_dot_product_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    dropout_p: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Average the values, weighted by how well each key matches the query.

    softmax(queries keysᵀ / √D) values

    Args:
        queries: (..., T, D)
        keys: (..., S, D)
        values: (..., S, D_v)
        mask: boolean, True = may attend, of shape (T, S), or with all leading axes,
            (..., T, S); each axis but the last may be 1.
        bias: what is added to the scaled scores, of the queries' dtype and, like the
            mask, (T, S) or (..., T, S).
        dropout_p: probability of dropping a weight, in [0, 1), whatever mode a module
            is in; kept weights are divided by 1 - dropout_p.

    Returns:
        context: (..., T, D_v)
        weights: (..., T, S), the very weights that averaged the values. Each row sums
            to 1 where nothing was dropped.

    Source: Vaswani et al. 2017, section 3.2.1, equation 1. Built by hand in chapter 2.
    """
    # Dividing the queries first keeps the scores of float16 from overflowing.
    scores = (queries / math.sqrt(queries.shape[-1])) @ keys.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias  # (..., T, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)  # (..., T, S)
    weights = F.dropout(_softmax(scores), dropout_p)  # (..., T, S)
    return weights @ values, weights  # (..., T, D_v)


@checked(validation.require_causal_sizes)
def causal_mask(
    T: int, S: int | None = None, *, device: torch.device | str | None = None
) -> Tensor:
    """Let each query attend to its own position and to those before it.

    With more keys than queries, the queries are the last T of the S positions, as when
    a model continues a text whose earlier keys it has kept.

    Args:
        T: number of queries.
        S: number of keys, at least T; T where left out.
        device: where the mask is made.

    Returns:
        mask: (T, S) boolean, True = may attend.

    Source: Vaswani et al. 2017, section 3.2.3. Built by hand in chapter 4.
    """
    S = T if S is None else S
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)


@checked(validation.require_window_sizes)
def sliding_window_mask(
    T: int,
    window: int,
    S: int | None = None,
    *,
    sinks: int = 0,
    device: torch.device | str | None = None,
) -> Tensor:
    """Let each query attend to the last ``window`` positions, its own included.

    Args:
        T: number of queries, the last T of the S positions.
        window: how many positions a query may attend to.
        S: number of keys, at least T; T where left out.
        sinks: so many first positions stay visible to every later query, besides.
        device: where the mask is made.

    Returns:
        mask: (T, S) boolean, True = may attend.

    Source: Beltagy et al. 2020, section 3.1; Xiao et al. 2023, section 3.2, for the
    sinks. Built by hand in chapters 4 and 14.
    """
    S = T if S is None else S
    positions = torch.arange(S, device=device)
    return _mask_between(positions[S - T :], positions, window=window, sinks=sinks)


@checked(validation.require_positions)
def mask_between(
    query_positions: Tensor,
    key_positions: Tensor,
    *,
    window: int | None = None,
    sinks: int = 0,
) -> Tensor:
    """A causal mask, with a window or without, for positions anywhere in a text.

    Args:
        query_positions: (T,) whole numbers.
        key_positions: (S,) whole numbers.
        window: as for ``sliding_window_mask``; without one, all that came before.
        sinks: as there.

    Returns:
        mask: (T, S) boolean, True = may attend. A query that stands before all keys
            has a row that may attend to nothing.

    Source: Beltagy, Peters and Cohan 2020, section 3.1 (windows); Xiao et al. 2024,
    section 3.2 (sinks).
    """
    distances = query_positions[:, None] - key_positions  # (T, S)
    mask = distances >= 0
    if window is not None:
        mask &= (distances < window) | (key_positions < sinks)
    return mask


@checked(validation.require_lengths)
def padding_mask(
    lengths: Sequence[int] | Tensor, S: int, *, device: torch.device | str | None = None
) -> Tensor:
    """Let no query attend to the padding behind a sequence's end.

    Args:
        lengths: B whole numbers, a list or an integer tensor (B,): how many keys of
            each sequence are real, from 1 to S.
        S: number of keys of each padded sequence.
        device: where the mask is made; where left out, that of ``lengths``.

    Returns:
        mask: (B, 1, S) boolean, True = may attend, the same for every query. For
            weights with heads, (B, H, T, S), write ``mask.unsqueeze(1)``.

    Source: Vaswani et al. 2017, section 3.2.3, for masking by -inf. Built by hand
    on the page on cross-attention.
    """
    if not isinstance(lengths, torch.Tensor):
        lengths = torch.tensor(lengths, dtype=torch.int64, device=device)
    lengths = lengths.to(device=device, dtype=torch.int64)
    positions = torch.arange(S, device=lengths.device)
    return (positions < lengths.unsqueeze(-1)).unsqueeze(-2)


@checked(validation.require_whole_heads)
def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut the last axis into heads, and put the heads before the positions.

    Args:
        x: (..., T, C)
        num_heads: H, a divisor of C.

    Returns:
        heads: (..., H, T, D) with D = C / H. Head h holds features hD to (h+1)D - 1.

    Source: Vaswani et al. 2017, section 3.2.2. Built by hand in chapter 6.
    """
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


@checked(validation.require_many_heads)
def merge_heads(heads: Tensor) -> Tensor:
    """Put the heads back side by side: undo split_heads.

    Args:
        heads: (..., H, T, D)

    Returns:
        x: (..., T, C) with C = H D.

    Source: Vaswani et al. 2017, section 3.2.2 (Concat). Built by hand in chapter 6.
    """
    return heads.transpose(-3, -2).flatten(-2)


# The same functions without their checks: a layer's own have run when it calls them.
_softmax = unchecked(softmax)
_mask_between = unchecked(mask_between)
_attend = unchecked(scaled_dot_product_attention)
_split_heads = unchecked(split_heads)
_merge_heads = unchecked(merge_heads)


# --- layers ----------------------------------------------------------------------


class SelfAttentionV1(nn.Module):
    """Self-attention whose three weight matrices are plain parameters.

    Args:
        d_in: width of a token.
        d_out: width of queries, keys, values and context.

    Source: Vaswani et al. 2017, section 3.2.1, with the parameters drawn uniformly
    from [0, 1) as Raschka 2024, section 3.4.2, does. Built by hand in chapter 2.
    """

    @checked_options
    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    @checked(validation.require_self_attention)
    def forward(self, x: Tensor, *, return_weights: bool = False) -> Output:
        """Let every token attend to every token.

        (..., T, d_in) to (..., T, d_out); the weights are (..., T, T).
        """
        queries, keys, values = x @ self.W_query, x @ self.W_key, x @ self.W_value
        context, weights = _attend(queries, keys, values)
        return on_request(context, weights, return_weights)


class SelfAttentionV2(nn.Module):
    """Self-attention with linear layers, for their better initial weights.

    ``nn.Linear`` stores its weight transposed: ``W_query.weight`` is (d_out, d_in).

    Args:
        d_in: width of a token.
        d_out: width of queries, keys, values and context.
        qkv_bias: give the three layers a bias.

    Source: Vaswani et al. 2017, section 3.2.1; Raschka 2024, section 3.4.2. Built by
    hand in chapter 2.
    """

    @checked_options
    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    @checked(validation.require_self_attention)
    def forward(self, x: Tensor, *, return_weights: bool = False) -> Output:
        """Let every token attend to every token.

        (..., T, d_in) to (..., T, d_out); the weights are (..., T, T).
        """
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        context, weights = _attend(queries, keys, values)
        return on_request(context, weights, return_weights)


class CausalAttention(nn.Module):
    """One head of self-attention that never looks at later positions.

    Args:
        d_in: width of a token.
        d_out: width of queries, keys, values and context.
        context_length: the longest sequence it takes.
        dropout: probability of dropping a weight while training, in [0, 1).
        qkv_bias: give the three layers a bias.

    Source: Vaswani et al. 2017, section 3.2.3; Raschka 2024, section 3.5.3. Built by
    hand in chapters 4 and 5.
    """

    mask: Tensor

    @checked_options
    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        self.context_length = context_length
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", causal_mask(context_length), persistent=False)
        _load_without_mask(self)

    @checked(validation.require_causal_attention)
    def forward(self, x: Tensor, *, return_weights: bool = False) -> Output:
        """Let every token attend to itself and to the tokens before it.

        (..., T, d_in) to (..., T, d_out), with T of at most ``context_length``; the
        weights are (..., T, T).
        """
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        T, D = queries.shape[-2:]
        scores = (queries / math.sqrt(D)) @ keys.transpose(-2, -1)  # (..., T, T)
        scores = scores.masked_fill(~self.mask[:T, :T], -math.inf)
        weights = self.dropout(_softmax(scores))  # (..., T, T)
        context = weights @ values  # (..., T, d_out)
        return on_request(context, weights, return_weights)


class MultiHeadAttentionWrapper(nn.Module):
    """Several CausalAttention heads side by side, their outputs concatenated.

    Chapter 6 puts two heads side by side in this way, by functions; what it builds as a
    layer is ``MultiHeadAttention``, which computes as much with one set of projections.

    Args:
        d_in: width of a token.
        d_out: width of ONE head; the output is ``num_heads * d_out`` wide.
        context_length: the longest sequence it takes.
        dropout: probability of dropping a weight while training, in [0, 1).
        num_heads: how many heads.
        qkv_bias: give the heads' layers a bias.

    Source: Vaswani et al. 2017, section 3.2.2; Raschka 2024, section 3.6.1, under this
    name.
    """

    @checked_options
    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        self.heads = nn.ModuleList(
            CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)
            for _ in range(num_heads)
        )

    def forward(self, x: Tensor, *, return_weights: bool = False) -> Output:
        """Let every head attend by itself, and lay the results side by side.

        (..., T, d_in) to (..., T, num_heads * d_out), with T of at most
        ``context_length``; the weights are (..., H, T, T).
        """
        results = [head(x, return_weights=True) for head in self.heads]  # checked there
        contexts, weights = zip(*results, strict=True)
        context = torch.cat(contexts, dim=-1)  # (..., T, H * d_out)
        return on_request(context, torch.stack(weights, dim=-3), return_weights)


class MultiHeadAttention(nn.Module):
    """Causal attention with many heads from one set of projections.

    Two paths give one result. The explicit path computes every weight; the fused path
    calls ``torch.nn.functional.scaled_dot_product_attention``, which is faster and
    keeps no weights. With dropout active the two draw different masks.

    Args:
        d_in: width of a token.
        d_out: C, width of the output, all heads together.
        context_length: the longest sequence it takes.
        dropout: probability of dropping a weight while training, in [0, 1).
        num_heads: H, a divisor of ``d_out``.
        qkv_bias: give the query, key and value layers a bias; ``out_proj`` has one.
        fused: take the fused path wherever no weights are asked for. It can be set
            later: ``attention.fused = True``.

    Source: Vaswani et al. 2017, section 3.2.2; Raschka 2024, section 3.6.2. Built by
    hand in chapter 6.
    """

    mask: Tensor

    @checked_options
    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
        *,
        fused: bool = False,
    ) -> None:
        validation.require_heads(num_heads, d_out, "d_out")
        super().__init__()
        self.num_heads, self.context_length = num_heads, context_length
        self.fused = fused
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", causal_mask(context_length), persistent=False)
        _load_without_mask(self)

    @checked(validation.require_causal_attention)
    def forward(self, x: Tensor, *, return_weights: bool = False) -> Output:
        """Let every token attend to itself and to the tokens before it.

        (..., T, d_in) to (..., T, C), with T of at most ``context_length``; the weights
        are (..., H, T, T), and asking for them takes the explicit path.
        """
        # One projection (..., T, C) serves all heads; each gets D of the C features.
        queries = _split_heads(self.W_query(x), self.num_heads)  # (..., H, T, D)
        keys = _split_heads(self.W_key(x), self.num_heads)  # (..., H, T, D)
        values = _split_heads(self.W_value(x), self.num_heads)  # (..., H, T, D)
        T, D = queries.shape[-2:]
        if return_weights or not self.fused:
            scores = (queries / math.sqrt(D)) @ keys.transpose(-2, -1)  # (..., H, T, T)
            scores = scores.masked_fill(~self.mask[:T, :T], -math.inf)
            weights = self.dropout(_softmax(scores))  # (..., H, T, T)
            context = weights @ values  # (..., H, T, D)
        else:  # the same in one call, which keeps no weights; is_causal is the mask
            weights = None
            p = self.dropout.p if self.dropout.training else 0.0
            context = F.scaled_dot_product_attention(
                queries, keys, values, dropout_p=p, is_causal=True
            )
        output = self.out_proj(_merge_heads(context))  # (..., T, C)
        return on_request(output, weights, return_weights)


class CrossAttention(nn.Module):
    """Attention with many heads from one sequence to another, the memory.

    Args:
        d_query: width of a token of ``x``, which makes the queries.
        d_memory: width of a token of the memory, which makes the keys and the values.
        d_out: C, width of the output, all heads together.
        dropout: probability of dropping a weight while training, in [0, 1).
        num_heads: H, a divisor of ``d_out``.
        qkv_bias: give the query, key and value layers a bias; ``out_proj`` has one.

    Source: Vaswani et al. 2017, section 3.2.3 ("encoder-decoder attention"). Built by
    hand on the page on cross-attention.
    """

    @checked_options
    def __init__(
        self,
        d_query: int,
        d_memory: int,
        d_out: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        validation.require_heads(num_heads, d_out, "d_out")
        super().__init__()
        self.num_heads = num_heads
        self.W_query = nn.Linear(d_query, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_memory, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_memory, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    @checked(validation.require_cross_attention)
    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        *,
        return_weights: bool = False,
    ) -> Output:
        """Let every token of ``x`` attend to the tokens of the memory.

        Args:
            x: (..., T, d_query)
            memory: (..., S, d_memory), the same leading axes as ``x``.
            mask: (..., T, S) boolean, True = may attend, the same for every head;
                (B, 1, S) from ``padding_mask`` fits.
            return_weights: also return the weights, (..., H, T, S).

        Returns:
            output: (..., T, C)
        """
        queries = _split_heads(self.W_query(x), self.num_heads)  # (..., H, T, D)
        keys = _split_heads(self.W_key(memory), self.num_heads)  # (..., H, S, D)
        values = _split_heads(self.W_value(memory), self.num_heads)  # (..., H, S, D)
        D = queries.shape[-1]
        scores = (queries / math.sqrt(D)) @ keys.transpose(-2, -1)  # (..., H, T, S)
        if mask is not None:  # one for all heads: (..., 1, T, S)
            scores = scores.masked_fill(~mask.unsqueeze(-3), -math.inf)
        weights = self.dropout(_softmax(scores))  # (..., H, T, S)
        context = weights @ values  # (..., H, T, D)
        output = self.out_proj(_merge_heads(context))  # (..., T, C)
        return on_request(output, weights, return_weights)


def _load_without_mask(layer: CausalAttention | MultiHeadAttention) -> None:
    """The mask isn't saved with the weights; it is made anew where they are loaded."""
    layer.register_load_state_dict_pre_hook(_ignore_saved_mask)
    layer.register_load_state_dict_post_hook(_renew_mask)


def _ignore_saved_mask(
    layer: nn.Module, state_dict: dict[str, Tensor], prefix: str, *_: object
) -> None:
    """Raschka's classes save their mask; it carries nothing that was learned."""
    state_dict.pop(prefix + "mask", None)


def _renew_mask(layer: CausalAttention | MultiHeadAttention, _: object) -> None:
    """A layer made on the meta device has no mask yet when its weights come."""
    layer.mask = causal_mask(layer.context_length, device=layer.W_query.weight.device)
