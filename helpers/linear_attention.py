"""Attention without softmax, as a memory of fixed size: linear attention, decay, delta.

Each position writes its key and value into a state, a matrix (D, D_v), and reads the
state with its query. The state doesn't grow with the text.

Shapes use the book's letters: B batch, T positions, H heads, D width of a key, D_v of a
value. "..." stands for any leading axes, such as (B, H).

Two rules write, and each is computed in three forms that give one result:

- recurrent: position by position, T steps. What decoding does.
- parallel: all T positions at once, by matrices (T, T), as attention with softmax.
- chunked: chunk by chunk, parallel inside and recurrent from one to the next.

All take the state that they begin with, and return the one that they end with; so a
text may be read in parts. Papers that write a state as values times keys have its
transpose. Queries are taken as they come: who wants them divided by √D does so before.

All functions raise a ValueError for bad input; it names the argument, what came and
what is needed. Tensors are floating point, of one dtype and on one device.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from helpers import validation
from helpers.validation import checked

Result = tuple[Tensor, Tensor]  # the context, and the state at the end


def elu_feature_map(x: Tensor) -> Tensor:
    """Make every feature positive: elu(x) + 1.

    Dot products of such queries and keys are positive, as exponentials are; so they can
    be divided by their sum (``normalize=True``).

    Args:
        x: queries or keys, of any shape.

    Returns:
        features: the shape of ``x``.

    Raises:
        ValueError: ``x`` that isn't a floating-point tensor.

    Source: Katharopoulos et al. 2020, and ``elu_feature_map`` in the authors' library,
    fast-transformers.
    """
    validation.require_float(x=x)
    return F.elu(x) + 1


def _require_memory(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    beta: Tensor | None = None,
    *,
    log_decay: Tensor | None = None,
    initial_state: Tensor | None = None,
    normalize: bool = False,
    chunk_size: int = 1,
) -> None:
    """One query, key and value for each position, and what goes with them."""
    validation.require_values(queries, keys, values)
    validation.require_booleans(normalize=normalize)
    validation.require_integers(chunk_size=chunk_size)
    rows, D = validation.shape_of(keys)[:-1], keys.shape[-1]
    validation.require_same(
        "the number of positions (T)",
        queries=(queries.shape[-2], validation.shape_of(queries)),
        keys=(keys.shape[-2], validation.shape_of(keys)),
    )
    width = values.shape[-1] + normalize
    fitting = {
        "beta": (beta, {"(..., T)": rows}),
        "log_decay": (log_decay, {"(..., T)": rows, "(..., T, D)": (*rows, D)}),
        "initial_state": (
            initial_state,
            {f"(..., D, D_v{' + 1' * normalize})": (*rows[:-1], D, width)},
        ),
    }
    for name, (tensor, shapes) in fitting.items():
        if tensor is None:
            continue
        validation.require_float(keys=keys, **{name: tensor})
        got = validation.shape_of(tensor)
        if got not in shapes.values():
            wanted = " or ".join(f"{one} = {shapes[one]}" for one in shapes)
            raise ValueError(f"{name} must have shape {wanted}, got {got}")
    if log_decay is not None and not validation.holds(
        lambda: ((log_decay <= 0) & log_decay.isfinite()).all()
    ):
        raise ValueError(
            "log_decay must hold finite logarithms of factors in (0, 1], so none above "
            f"0, got {log_decay.min().item():.4g} to {log_decay.max().item():.4g}"
        )


# --- linear attention, with decay or without ---------------------------------------


@checked(_require_memory)
def recurrent_linear_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    log_decay: Tensor | None = None,
    initial_state: Tensor | None = None,
    normalize: bool = False,
) -> Result:
    """Add each key and value to the state, and read it, position by position.

    state ← decay · state + key valueᵀ, then context = stateᵀ query

    Args:
        queries: (..., T, D), behind a feature map where there is one.
        keys: (..., T, D), likewise.
        values: (..., T, D_v)
        log_decay: logarithms of what is left of the state at each position, before it
            writes, none above 0: (..., T), one factor for the whole state, or
            (..., T, D), one for each feature of the keys. Without them nothing fades.
        initial_state: (..., D, D_v), what the state holds before; zeros where left out.
        normalize: divide by the sum of the products of query and keys, so that the
            context is an average. Queries and keys must be positive. The state then has
            one column more, the sum of the keys: (..., D, D_v + 1).

    Returns:
        context: (..., T, D_v)
        state: the shape of ``initial_state``, what it holds behind the last position.

    Source: Katharopoulos et al. 2020; Sun et al. 2023 (one fixed decay a head, RetNet);
    Dao and Gu 2024, listing 1 (one a position, Mamba-2); GLA in flash-linear-attention
    (one for each feature). Built by hand in chapter 16.
    """
    values = _with_ones(values) if normalize else values
    state = _start(keys, values, initial_state)
    contexts = []
    for t in range(keys.shape[-2]):
        state = _fade(state, log_decay, t)
        state = state + _outer(keys[..., t, :], values[..., t, :])
        contexts.append(_read(state, queries[..., t, :]))
    return _averaged(torch.stack(contexts, dim=-2), normalize), state


@checked(_require_memory)
def parallel_linear_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    log_decay: Tensor | None = None,
    initial_state: Tensor | None = None,
    normalize: bool = False,
) -> Result:
    """The same with all positions at once, by a matrix (T, T): causal, no softmax.

    (mask ∘ decays ∘ queries keysᵀ) values

    Arguments and results are those of ``recurrent_linear_attention``. With a decay for
    each feature it needs room for (..., T, T, D) numbers.

    Source: Sun et al. 2023. Built by hand in chapter 16.
    """
    values = _with_ones(values) if normalize else values
    state = _start(keys, values, initial_state)
    context, state = _one_chunk(queries, keys, values, log_decay, state)
    return _averaged(context, normalize), state


@checked(_require_memory)
def chunked_linear_attention(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    *,
    log_decay: Tensor | None = None,
    initial_state: Tensor | None = None,
    normalize: bool = False,
    chunk_size: int = 64,
) -> Result:
    """The same chunk by chunk: parallel inside a chunk, recurrent between two.

    Arguments and results are those of ``recurrent_linear_attention``, and

    Args:
        chunk_size: positions in a chunk; the last one may have fewer.

    Source: Sun et al. 2023; Dao and Gu 2024, listing 1. An exercise of chapter 16.
    """
    values = _with_ones(values) if normalize else values
    state = _start(keys, values, initial_state)
    contexts = []
    for part in _parts(keys.shape[-2], chunk_size):
        context, state = _one_chunk(
            queries[..., part, :],
            keys[..., part, :],
            values[..., part, :],
            _part_of(log_decay, keys, part),
            state,
        )
        contexts.append(context)
    return _averaged(torch.cat(contexts, dim=-2), normalize), state


# --- the delta rule, with decay (gated) or without ---------------------------------


@checked(_require_memory)
def recurrent_delta_rule(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    beta: Tensor,
    *,
    log_decay: Tensor | None = None,
    initial_state: Tensor | None = None,
) -> Result:
    """Overwrite what the state has under each key, and read, position by position.

    state ← decay · state
    state ← state + beta · key (value - stateᵀ key)ᵀ, then context = stateᵀ query

    With a key of length 1 and beta 1, the state afterwards returns the value for the
    key, whatever it returned before; with beta 0 nothing is written. Longer keys make
    it overshoot, and the state may grow without bound.

    Args:
        queries: (..., T, D)
        keys: (..., T, D), of length 1 in every model that uses the rule.
        values: (..., T, D_v)
        beta: (..., T), how much of the old value each position replaces, from 0 to 1.
            Values up to 2 keep the state bounded, too.
        log_decay: as for ``recurrent_linear_attention``. With it, the rule is Gated
            DeltaNet's (a factor a position) or Kimi Delta Attention's (one for each
            feature); the state fades before it is overwritten.
        initial_state: (..., D, D_v), what the state holds before; zeros where left out.

    Returns:
        context: (..., T, D_v)
        state: (..., D, D_v), what it holds behind the last position.

    Source: Schlag et al. 2021; Yang et al. 2024 (DeltaNet); Yang et al. 2025 (Gated
    DeltaNet); Kimi Team 2025 (Kimi Delta Attention). Built by hand in chapter 16.
    """
    state = _start(keys, values, initial_state)
    contexts = []
    for t in range(keys.shape[-2]):
        state = _fade(state, log_decay, t)
        key = keys[..., t, :]
        error = values[..., t, :] - _read(state, key)  # (..., D_v)
        state = state + _outer(key, beta[..., t, None] * error)
        contexts.append(_read(state, queries[..., t, :]))
    return torch.stack(contexts, dim=-2), state


@checked(_require_memory)
def parallel_delta_rule(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    beta: Tensor,
    *,
    log_decay: Tensor | None = None,
    initial_state: Tensor | None = None,
) -> Result:
    """The same with all positions at once, by matrices (T, T).

    What a position writes depends on what those before it wrote. These T equations are
    solved together: their matrix is triangular, with ones on its diagonal.

    Arguments and results are those of ``recurrent_delta_rule``.

    Source: Yang et al. 2024 (DeltaNet); Yang et al. 2025 (Gated DeltaNet).
    """
    state = _start(keys, values, initial_state)
    return _one_chunk(queries, keys, values, log_decay, state, beta)


@checked(_require_memory)
def chunked_delta_rule(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    beta: Tensor,
    *,
    log_decay: Tensor | None = None,
    initial_state: Tensor | None = None,
    chunk_size: int = 64,
) -> Result:
    """The same chunk by chunk: parallel inside a chunk, recurrent between two.

    Arguments and results are those of ``recurrent_delta_rule``, and

    Args:
        chunk_size: positions in a chunk; the last one may have fewer.

    Source: Yang et al. 2024 (DeltaNet); Yang et al. 2025 (Gated DeltaNet).
    """
    state = _start(keys, values, initial_state)
    contexts = []
    for part in _parts(keys.shape[-2], chunk_size):
        context, state = _one_chunk(
            queries[..., part, :],
            keys[..., part, :],
            values[..., part, :],
            _part_of(log_decay, keys, part),
            state,
            beta[..., part],
        )
        contexts.append(context)
    return torch.cat(contexts, dim=-2), state


# --- what the forms share ----------------------------------------------------------


def _one_chunk(
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    log_decay: Tensor | None,
    state: Tensor,
    beta: Tensor | None = None,
) -> Result:
    """All positions of a chunk at once, behind the state that came before it."""
    ways = _Decays(keys, log_decay)
    if beta is not None:
        values = _solve(keys, values, ways, state, beta)
    context = ways.products(queries, keys) @ values + ways.since_start(queries) @ state
    written = ways.until_end(keys).mT @ values  # (..., D, D_v)
    return context, ways.fade(state) + written


def _solve(
    keys: Tensor, values: Tensor, ways: "_Decays", state: Tensor, beta: Tensor
) -> Tensor:
    """What each position writes (..., T, D_v), its value less what was there."""
    beta = beta.unsqueeze(-1)
    # Row t: what t finds under its key of what each earlier position has written. Of
    # this matrix only what is below the diagonal is read; on it stand ones.
    found = beta * ways.products(keys, keys)  # (..., T, T)
    wanted = beta * (values - ways.since_start(keys) @ state)  # (..., T, D_v)
    return torch.linalg.solve_triangular(found, wanted, upper=False, unitriangular=True)


class _Decays:
    """How much fades between any two positions of a chunk, and from end to end.

    Args:
        keys: (..., T, D)
        log_decay: (..., T), (..., T, D) or None.
    """

    def __init__(self, keys: Tensor, log_decay: Tensor | None) -> None:
        T = keys.shape[-2]
        self.mask = torch.ones(T, T, dtype=torch.bool, device=keys.device).tril()
        self.total: Tensor | None = None  # logarithms from the chunk's start on
        self.each_feature = False
        if log_decay is not None:
            self.each_feature = log_decay.dim() == keys.dim()
            spread = log_decay if self.each_feature else log_decay.unsqueeze(-1)
            self.total = spread.cumsum(dim=-2)  # (..., T, D or 1)

    def products(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Queries times keys (..., T, T), faded, and 0 for what comes later."""
        if self.total is None:
            return (queries @ keys.mT).tril()
        # As differences, and masked before the exponential: nothing can overflow.
        between = self.total.unsqueeze(-2) - self.total.unsqueeze(-3)
        between = between.masked_fill(~self.mask.unsqueeze(-1), -math.inf)
        factors = between.exp()  # (..., T, T, D or 1)
        if not self.each_feature:
            return (queries @ keys.mT) * factors.squeeze(-1)
        pairs = queries.unsqueeze(-2) * factors * keys.unsqueeze(-3)
        return pairs.sum(dim=-1)

    def since_start(self, queries: Tensor) -> Tensor:
        """Queries or keys (..., T, D) as the state before the chunk is to see them."""
        return queries if self.total is None else queries * self.total.exp()

    def until_end(self, keys: Tensor) -> Tensor:
        """Keys (..., T, D) as they stand in the state behind the chunk."""
        if self.total is None:
            return keys
        return keys * (self.total[..., -1:, :] - self.total).exp()

    def fade(self, state: Tensor) -> Tensor:
        """What is left of the state (..., D, D_v) behind the chunk."""
        return (
            state if self.total is None else state * self.total[..., -1, :, None].exp()
        )


def _start(keys: Tensor, values: Tensor, initial_state: Tensor | None) -> Tensor:
    """The state before the first position, (..., D, D_v)."""
    if initial_state is not None:
        return initial_state
    return keys.new_zeros(*keys.shape[:-2], keys.shape[-1], values.shape[-1])


def _fade(state: Tensor, log_decay: Tensor | None, t: int) -> Tensor:
    """What is left of the state at position t, before it writes."""
    if log_decay is None:
        return state
    if log_decay.dim() == state.dim():  # (..., T, D): each row of the state by itself
        return state * log_decay[..., t, :, None].exp()
    return state * log_decay[..., t, None, None].exp()


def _outer(key: Tensor, value: Tensor) -> Tensor:
    """key valueᵀ: (..., D, D_v)."""
    return key.unsqueeze(-1) * value.unsqueeze(-2)


def _read(state: Tensor, query: Tensor) -> Tensor:
    """stateᵀ query: (..., D_v)."""
    return (query.unsqueeze(-2) @ state).squeeze(-2)


def _with_ones(values: Tensor) -> Tensor:
    """A last feature of ones, under which the products are summed."""
    return F.pad(values, (0, 1), value=1.0)


def _averaged(context: Tensor, normalize: bool) -> Tensor:
    """The context divided by its last feature, the sum of the products."""
    return context[..., :-1] / context[..., -1:] if normalize else context


def _parts(T: int, chunk_size: int) -> list[slice]:
    return [slice(start, start + chunk_size) for start in range(0, T, chunk_size)]


def _part_of(log_decay: Tensor | None, keys: Tensor, part: slice) -> Tensor | None:
    """A chunk of (..., T) or (..., T, D)."""
    if log_decay is None:
        return None
    each_feature = log_decay.dim() == keys.dim()
    return log_decay[..., part, :] if each_feature else log_decay[..., part]
