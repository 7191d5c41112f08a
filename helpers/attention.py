"""Attention from dot products to many heads: the book's reference implementations.

Shapes use the book's letters: B batch, T query positions, S key and value positions,
C model width, H heads, D width of one head. "..." stands for any leading axes.
A mask is boolean and True where a query may attend to a key.
"""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from helpers import validation


def dot_product_scores(queries: Tensor, keys: Tensor) -> Tensor:
    """Score every query against every key by their dot product.

    queries keysᵀ

    Args:
        queries: (..., T, D)
        keys: (..., S, D)

    Returns:
        scores: (..., T, S), before scaling and softmax.

    Raises:
        ValueError: shapes that don't fit, or tensors that aren't floating point.

    Source: Vaswani et al. 2017, section 3.2.1. Built by hand in chapter 1.
    """
    validation.require_matching(queries, keys)
    return queries @ keys.transpose(-2, -1)


def softmax(scores: Tensor, dim: int = -1) -> Tensor:
    """Turn scores into weights that are positive and sum to 1 along ``dim``.

    The largest score is subtracted first. The quotient stays the same, and no
    exponential can overflow. The subtracted constant needs no gradient of its own.

    Args:
        scores: (..., S), any shape; entries of -inf get weight 0.
        dim: the axis that sums to 1.

    Returns:
        weights: the shape of ``scores``. A slice of nothing but -inf gives NaN.

    Raises:
        ValueError: scores without any entry along ``dim``, or not floating point; a
            ``dim`` that isn't an integer.

    Source: Goodfellow et al. 2016, section 4.1. Built by hand in chapter 1.
    """
    validation.require_float(scores=scores)
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise ValueError(f"dim must be an integer, got {dim!r}")
    if not -scores.dim() <= dim < scores.dim() or scores.shape[dim] == 0:
        raise ValueError(
            f"scores must have an entry along dim {dim}, got shape "
            f"{validation.shape_of(scores)}"
        )
    largest = scores.amax(dim=dim, keepdim=True).detach()
    exponentials = (scores - largest).exp()
    return exponentials / exponentials.sum(dim=dim, keepdim=True)


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

    Raises:
        ValueError: sizes below 1, or fewer keys than queries.

    Source: Vaswani et al. 2017, section 3.2.3. Built by hand in chapter 4.
    """
    S = T if S is None else S
    validation.require_integers(T=T, S=S)
    if S < T:
        raise ValueError(f"S must be at least T, got T {T} and S {S}")
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(S - T)


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

    Raises:
        ValueError: lengths that aren't whole numbers from 1 to S.

    Source: Vaswani et al. 2017, section 3.2.3, for masking by -inf. Built by hand in
    chapter 7.
    """
    validation.require_integers(S=S)
    if isinstance(lengths, (list, tuple)):
        named = {f"lengths[{i}]": length for i, length in enumerate(lengths)}
        validation.require_integers(**named)
        if max(lengths, default=0) > S:
            raise ValueError(f"lengths must lie in 1 to S = {S}, got {list(lengths)}")
        lengths = torch.tensor(lengths, dtype=torch.int64, device=device)
    if not isinstance(lengths, torch.Tensor):
        raise ValueError(
            "lengths must be a list, a tuple or an integer tensor, got "
            f"{type(lengths).__name__}"
        )
    validation.require_integer_row("lengths", lengths, "B")
    lengths = lengths.to(device=device, dtype=torch.int64)
    if validation.may_look_at_values(lengths) and not (
        ((lengths >= 1) & (lengths <= S)).all()
    ):
        raise ValueError(f"lengths must lie in 1 to S = {S}, got {lengths.tolist()}")
    positions = torch.arange(S, device=lengths.device)
    return (positions < lengths.unsqueeze(-1)).unsqueeze(-2)


def scaled_dot_product_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    mask: Tensor | None = None,
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
        dropout_p: probability of dropping a weight, in [0, 1); kept weights are
            divided by 1 - dropout_p.

    Returns:
        context: (..., T, D_v)
        weights: (..., T, S), the very weights that averaged the values. Each row sums
            to 1 where nothing was dropped.

    Raises:
        ValueError: shapes that don't fit, no query or no key, tensors that aren't
            floating point, or a mask with a row that may attend to nothing.

    Source: Vaswani et al. 2017, section 3.2.1, equation 1. Built by hand in chapter 2.
    """
    validation.require_values(queries, keys, values)
    validation.require_probability("dropout_p", dropout_p)
    if mask is not None:
        scores_shape = (*queries.shape[:-1], keys.shape[-2])
        validation.require_mask(mask, scores_shape, queries.device)
    return _attend(queries, keys, values, mask, dropout_p)


def _attend(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout_p: float
) -> tuple[Tensor, Tensor]:
    """scaled_dot_product_attention on input that was checked before."""
    # Dividing the queries first keeps the scores of float16 from overflowing.
    scores = dot_product_scores(queries / math.sqrt(queries.shape[-1]), keys)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = F.dropout(softmax(scores), dropout_p)
    return weights @ values, weights


def split_heads(x: Tensor, num_heads: int) -> Tensor:
    """Cut the last axis into heads, and put the heads before the positions.

    Args:
        x: (..., T, C)
        num_heads: H, a divisor of C.

    Returns:
        heads: (..., H, T, D) with D = C / H. Head h holds features hD to (h+1)D - 1.

    Raises:
        ValueError: ``num_heads`` that doesn't divide C, or fewer than two axes.

    Source: Vaswani et al. 2017, section 3.2.2. Built by hand in chapter 6.
    """
    validation.require_rank("x", x, "T, C")
    validation.require_heads(num_heads, x.shape[-1], "C")
    return x.unflatten(-1, (num_heads, -1)).transpose(-3, -2)


def merge_heads(heads: Tensor) -> Tensor:
    """Put the heads back side by side: undo split_heads.

    Args:
        heads: (..., H, T, D)

    Returns:
        x: (..., T, C) with C = H D.

    Raises:
        ValueError: fewer than three axes.

    Source: Vaswani et al. 2017, section 3.2.2 (Concat). Built by hand in chapter 6.
    """
    validation.require_rank("heads", heads, "H, T, D")
    return heads.transpose(-3, -2).flatten(-2)


class SelfAttentionV1(nn.Module):
    """Self-attention whose three weight matrices are plain parameters.

    Args:
        d_in: width of a token.
        d_out: width of queries, keys, values and context.

    Raises:
        ValueError: widths that aren't whole numbers of at least 1.

    Source: Vaswani et al. 2017, section 3.2.1, with the parameters drawn uniformly
    from [0, 1) as Raschka 2024, section 3.4.2, does. Built by hand in chapter 2.
    """

    def __init__(self, d_in: int, d_out: int) -> None:
        validation.require_integers(d_in=d_in, d_out=d_out)
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(
        self, x: Tensor, *, return_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend from every token of ``x`` to every token of ``x``.

        Args:
            x: (..., T, d_in)
            return_weights: also return the weights.

        Returns:
            context: (..., T, d_out); with ``return_weights`` the pair of context and
                weights (..., T, T).

        Raises:
            ValueError: ``x`` of another width, rank or dtype.
        """
        _check_tokens("x", x, self.W_query.shape[0], "d_in", self.W_query)
        queries, keys, values = x @ self.W_query, x @ self.W_key, x @ self.W_value
        context, weights = _attend(queries, keys, values, None, 0.0)
        return (context, weights) if return_weights else context


class _Projections(nn.Module):
    """W_query, W_key and W_value as linear layers, created in that order."""

    def __init__(
        self,
        d_query: int,
        d_context: int,
        d_out: int,
        qkv_bias: bool,
        names: tuple[str, str] = ("d_in", "d_in"),
    ) -> None:
        sizes = {names[0]: d_query, names[1]: d_context, "d_out": d_out}
        validation.require_integers(**sizes)
        validation.require_booleans(qkv_bias=qkv_bias)
        super().__init__()
        self.W_query = nn.Linear(d_query, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_context, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_context, d_out, bias=qkv_bias)

    def _project(self, x: Tensor, context: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The queries of ``x``, and the keys and values of ``context``."""
        return self.W_query(x), self.W_key(context), self.W_value(context)


class SelfAttentionV2(_Projections):
    """Self-attention with linear layers, for their better initial weights.

    ``nn.Linear`` stores its weight transposed: ``W_query.weight`` is (d_out, d_in).

    Args:
        d_in: width of a token.
        d_out: width of queries, keys, values and context.
        qkv_bias: give the three layers a bias.

    Raises:
        ValueError: widths that aren't whole numbers of at least 1.

    Source: Vaswani et al. 2017, section 3.2.1; Raschka 2024, section 3.4.2. Built by
    hand in chapter 2.
    """

    def __init__(self, d_in: int, d_out: int, qkv_bias: bool = False) -> None:
        super().__init__(d_in, d_in, d_out, qkv_bias)

    def forward(
        self, x: Tensor, *, return_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend from every token of ``x`` to every token of ``x``.

        Args:
            x: (..., T, d_in)
            return_weights: also return the weights.

        Returns:
            context: (..., T, d_out); with ``return_weights`` the pair of context and
                weights (..., T, T).

        Raises:
            ValueError: ``x`` of another width, rank or dtype.
        """
        _check_layer_input(self, x)
        context, weights = _attend(*self._project(x, x), None, 0.0)
        return (context, weights) if return_weights else context


class CausalAttention(_Projections):
    """One head of self-attention that never looks at later positions.

    Args:
        d_in: width of a token.
        d_out: width of queries, keys, values and context.
        context_length: the longest sequence it takes.
        dropout: probability of dropping a weight while training, in [0, 1).
        qkv_bias: give the three layers a bias.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, or a dropout
            outside [0, 1).

    Source: Vaswani et al. 2017, section 3.2.3; Raschka 2024, section 3.5.3. Built by
    hand in chapters 4 and 5.
    """

    mask: Tensor
    context_length: int

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        qkv_bias: bool = False,
    ) -> None:
        validation.require_probability("dropout", dropout)
        super().__init__(d_in, d_in, d_out, qkv_bias)
        self.dropout = nn.Dropout(dropout)
        _register_causal_mask(self, context_length)

    def forward(
        self, x: Tensor, *, return_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend from every token of ``x`` to itself and to the tokens before it.

        Args:
            x: (..., T, d_in) with T of at most ``context_length``.
            return_weights: also return the weights.

        Returns:
            context: (..., T, d_out); with ``return_weights`` the pair of context and
                weights (..., T, T), after mask and dropout.

        Raises:
            ValueError: ``x`` of another width, rank or dtype, or too long.
        """
        _check_layer_input(self, x)
        mask = _cut_causal_mask(self, x)
        dropout_p = _dropout_now(self)
        context, weights = _attend(*self._project(x, x), mask, dropout_p)
        return (context, weights) if return_weights else context


class MultiHeadAttentionWrapper(nn.Module):
    """Several CausalAttention heads side by side, their outputs concatenated.

    Args:
        d_in: width of a token.
        d_out: width of ONE head; the output is ``num_heads * d_out`` wide.
        context_length: the longest sequence it takes.
        dropout: probability of dropping a weight while training, in [0, 1).
        num_heads: how many heads.
        qkv_bias: give the heads' layers a bias.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, or a dropout
            outside [0, 1).

    Source: Vaswani et al. 2017, section 3.2.2; Raschka 2024, section 3.6.1. Built by
    hand in chapter 6.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        validation.require_integers(num_heads=num_heads)
        super().__init__()
        self.heads = nn.ModuleList(
            CausalAttention(d_in, d_out, context_length, dropout, qkv_bias)
            for _ in range(num_heads)
        )

    def forward(
        self, x: Tensor, *, return_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Let every head attend by itself, and lay the results side by side.

        Args:
            x: (..., T, d_in) with T of at most ``context_length``.
            return_weights: also return the weights.

        Returns:
            context: (..., T, num_heads * d_out); with ``return_weights`` the pair of
                context and weights (..., H, T, T), after mask and dropout.

        Raises:
            ValueError: ``x`` of another width, rank or dtype, or too long.
        """
        results = [head(x, return_weights=True) for head in self.heads]
        contexts, weights = zip(*results, strict=True)
        context = torch.cat(contexts, dim=-1)
        return (context, torch.stack(weights, dim=-3)) if return_weights else context


class MultiHeadAttention(_Projections):
    """Causal attention with many heads from one set of projections.

    Two paths give one result. The explicit path computes every weight; the fused path
    calls ``torch.nn.functional.scaled_dot_product_attention``, which is faster and
    keeps no weights. With dropout active the two draw different masks.

    Args:
        d_in: width of a token.
        d_out: width of the output, all heads together.
        context_length: the longest sequence it takes.
        dropout: probability of dropping a weight while training, in [0, 1).
        num_heads: H, a divisor of ``d_out``.
        qkv_bias: give the query, key and value layers a bias; ``out_proj`` has one.
        fused: take the fused path wherever no weights are asked for. It can be set
            later: ``attention.fused = True``.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, ``num_heads`` that
            doesn't divide ``d_out``, or a dropout outside [0, 1).

    Source: Vaswani et al. 2017, section 3.2.2; Raschka 2024, section 3.6.2. Built by
    hand in chapter 6.
    """

    mask: Tensor
    context_length: int

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
        validation.require_probability("dropout", dropout)
        validation.require_heads(num_heads, d_out, "d_out")
        validation.require_booleans(fused=fused)
        super().__init__(d_in, d_in, d_out, qkv_bias)
        self.num_heads = num_heads
        self.fused = fused
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        _register_causal_mask(self, context_length)

    def forward(
        self, x: Tensor, *, return_weights: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend from every token of ``x`` to itself and to the tokens before it.

        Args:
            x: (..., T, d_in) with T of at most ``context_length``.
            return_weights: also return the weights; this takes the explicit path.

        Returns:
            output: (..., T, d_out); with ``return_weights`` the pair of output and
                weights (..., H, T, T), after mask and dropout.

        Raises:
            ValueError: ``x`` of another width, rank or dtype, or too long.
        """
        queries, keys, values = self._heads(x)
        mask = _cut_causal_mask(self, x)
        return self._output(queries, keys, values, mask, return_weights)

    def _heads(self, x: Tensor) -> list[Tensor]:
        """Queries, keys and values of ``x``, each (..., H, T, D)."""
        _check_layer_input(self, x)
        return [split_heads(part, self.num_heads) for part in self._project(x, x)]

    def _output(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        mask: Tensor,
        return_weights: bool,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """What ``forward`` returns, from heads and the last T rows of a causal mask.

        A model that turns the heads, or that has kept earlier keys and values, steps in
        between ``_heads`` and this.
        """
        dropout_p = _dropout_now(self)
        if self.fused and not return_weights:
            # The flag is faster than the mask, but only fits where no key is earlier.
            whole = queries.shape[-2] == keys.shape[-2]
            context = F.scaled_dot_product_attention(
                queries,
                keys,
                values,
                attn_mask=None if whole else mask,
                dropout_p=dropout_p,
                is_causal=whole,
            )
            return self.out_proj(merge_heads(context))
        context, weights = _attend(queries, keys, values, mask, dropout_p)
        output = self.out_proj(merge_heads(context))
        return (output, weights) if return_weights else output


class CrossAttention(_Projections):
    """Attention with many heads from one sequence to another.

    Args:
        d_query: width of a token of ``x``, which asks.
        d_context: width of a token of ``context``, which answers.
        d_out: width of the output, all heads together.
        dropout: probability of dropping a weight while training, in [0, 1).
        num_heads: H, a divisor of ``d_out``.
        qkv_bias: give the query, key and value layers a bias; ``out_proj`` has one.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, ``num_heads`` that
            doesn't divide ``d_out``, or a dropout outside [0, 1).

    Source: Vaswani et al. 2017, section 3.2.3 ("encoder-decoder attention"). Built by
    hand in chapter 7.
    """

    def __init__(
        self,
        d_query: int,
        d_context: int,
        d_out: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        validation.require_probability("dropout", dropout)
        validation.require_heads(num_heads, d_out, "d_out")
        names = ("d_query", "d_context")
        super().__init__(d_query, d_context, d_out, qkv_bias, names)
        self.num_heads = num_heads
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        context: Tensor,
        mask: Tensor | None = None,
        *,
        return_weights: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """Attend from every token of ``x`` to the tokens of ``context``.

        Args:
            x: (..., T, d_query)
            context: (..., S, d_context), the same leading axes as ``x``.
            mask: (..., T, S) boolean, True = may attend, the same for every head;
                (B, 1, S) from ``padding_mask`` fits.
            return_weights: also return the weights.

        Returns:
            output: (..., T, d_out); with ``return_weights`` the pair of output and
                weights (..., H, T, S), after mask and dropout.

        Raises:
            ValueError: ``x`` or ``context`` of another width, rank or dtype, leading
                axes that differ, or a mask that doesn't fit or has an empty row.
        """
        _check_layer_input(self, x, "x", "d_query")
        layer = self.W_key
        _check_tokens(
            "context", context, layer.in_features, "d_context", layer.weight, "S"
        )
        x_shape, context_shape = map(validation.shape_of, (x, context))
        validation.require_same(
            "the leading axes",
            x=(x_shape[:-2], x_shape),
            context=(context_shape[:-2], context_shape),
        )
        if mask is not None:
            scores_shape = (*x_shape[:-1], context_shape[-2])
            validation.require_mask(mask, scores_shape, x.device)
            mask = mask.unsqueeze(-3)
        queries, keys, values = (
            split_heads(part, self.num_heads) for part in self._project(x, context)
        )
        dropout_p = _dropout_now(self)
        attended, weights = _attend(queries, keys, values, mask, dropout_p)
        output = self.out_proj(merge_heads(attended))
        return (output, weights) if return_weights else output


_Causal = CausalAttention | MultiHeadAttention


def _check_tokens(
    name: str,
    tokens: Tensor,
    width: int,
    width_name: str,
    parameter: Tensor,
    letter: str = "T",
) -> None:
    """Tokens (..., T, width), of the parameters' dtype and device."""
    validation.require_float(**{name: tokens})
    validation.require_rank(name, tokens, f"{letter}, {width_name}")
    validation.require_width(name, tokens, width, width_name)
    validation.require_rows(name, tokens, letter)
    both = {name: tokens, "the module's weights": parameter}
    validation.require_shared("device", **both)
    # Autocast chooses a dtype by itself, but leaves float64 as it is.
    if tokens.dtype == torch.float64 or not validation.is_autocast(tokens.device):
        validation.require_shared("dtype", **both)


def _check_layer_input(
    module: _Projections, tokens: Tensor, name: str = "x", width_name: str = "d_in"
) -> None:
    """The tokens that ``module.W_query`` will project."""
    layer = module.W_query
    _check_tokens(name, tokens, layer.in_features, width_name, layer.weight)


def _dropout_now(module: _Causal | CrossAttention) -> float:
    """The probability of dropping: 0 in eval mode."""
    return module.dropout.p if module.dropout.training else 0.0


def _register_causal_mask(module: _Causal, context_length: int) -> None:
    """Keep the mask as a buffer: it moves with the module, and isn't saved."""
    validation.require_integers(context_length=context_length)
    module.context_length = context_length
    module.register_buffer("mask", causal_mask(context_length), persistent=False)
    module.register_load_state_dict_pre_hook(_ignore_saved_mask)
    module.register_load_state_dict_post_hook(_renew_mask)


def _ignore_saved_mask(
    module: nn.Module, state_dict: dict[str, Tensor], prefix: str, *_: object
) -> None:
    """Other books' classes save their mask; it carries nothing that was learned."""
    state_dict.pop(prefix + "mask", None)


def _renew_mask(module: _Causal, _: object) -> None:
    """A module made on the meta device has no mask yet when its weights come."""
    module.mask = causal_mask(
        module.context_length, device=module.W_query.weight.device
    )


def _cut_causal_mask(module: _Causal, x: Tensor) -> Tensor:
    """The mask for the T tokens that came, of at most ``context_length``."""
    T = x.shape[-2]
    excess = T - module.context_length
    if excess > 0:
        raise ValueError(
            f"x has T = {T} tokens, {excess} more than context_length "
            f"{module.context_length}; its shape is {validation.shape_of(x)}"
        )
    return module.mask[:T, :T]
