"""A checklist for any attention layer, the reader's own included."""

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Literal

from torch import nn

from helpers import validation
from helpers.checks.auditing import (
    contracts,
    handling,
    heads,
    reading,
    weights,
)
from helpers.checks.auditing.report import Audit, Row
from helpers.checks.auditing.subject import (
    Declared,
    Result,
    Subject,
    error_text,
    fails,
    skip,
)
from helpers.checks.calling import SECONDS, Outcome, call, wake_meta_device

KINDS = ("rotary", "alibi", "relative")

# In the order of the table. Without a first line that passes, the others ask in vain.
LINES: dict[str, Callable[[Subject], Result]] = {
    "output shape": handling.output_shape,
    "shorter texts": handling.shorter_texts,
    "one token": handling.one_token,
    "empty batch": handling.empty_batch,
    "future changed": reading.later_tokens_changed,
    "future slopes": reading.later_tokens_slope,
    "tokens reached": reading.all_tokens_reached,
    "features read": reading.all_features_read,
    "batch": reading.texts_apart,
    "order": reading.order_of_tokens,
    "hidden weights": weights.no_weight_on_what_is_hidden,
    "row sums": weights.rows_sum_to_one,
    "weights shown": weights.weights_shown_are_used,
    "scale": weights.scale,
    "dropped weights": weights.dropped_weights,
    "heads": heads.heads_apart,
    "queries, keys": heads.roles,
    "distances": heads.distances,
    "padding": contracts.padding,
    "cache": contracts.cache,
    "dtypes": handling.dtypes,
    "large inputs": handling.large_inputs,
    "gradients": handling.gradients,
    "input kept": handling.input_unchanged,
    "dropout": handling.dropout_in_training,
    "eval repeats": handling.eval_repeats,
    "mode kept": handling.mode_kept,
    "state dict": handling.state_dict,
    "devices": handling.devices,
    "compiled": contracts.compiled,
}


def audit(
    module: nn.Module,
    d_in: int,
    context_length: int,
    *,
    causal: bool = True,
    window: int | None = None,
    positions: bool | Literal["rotary", "alibi", "relative"] = False,
    num_heads: int | None = None,
    num_kv_heads: int | None = None,
    scale: float | None = None,
    dropout: float | None = None,
    padding: Callable[..., Any] | None = None,
    step: Callable[..., Any] | None = None,
    compiled: bool = False,
    make: Callable[[], nn.Module] | None = None,
    seconds: float = SECONDS,
) -> Audit:
    """Put an attention layer to all tests, and print a table.

    The layer is called as ``module(x)`` and returns the context, or a pair of context
    and weights, or a dict; weights are also asked for by ``return_weights=True`` where
    ``forward`` knows that option. A layer that is called in another way gets a wrapper
    of a few lines. All calls are made on copies: the module itself, its mode and the
    caller's random numbers stay as they were. Whatever the module does, nothing is
    raised. The time grows with the square of ``context_length``: audit a small one.

    Some lines look inside: they find the layer's own queries, keys, values and weights
    among the matrix products of a call, whatever the parts are named. What a layer
    refuses with an error, such as a dtype, fails no line that only some layers promise.

    Args:
        module: an ``nn.Module`` that maps x (B, T, d_in) to a context (B, T, d_out).
        d_in: width of a token.
        context_length: T, the longest sequence it takes.
        causal: whether no row may depend on later tokens.
        window: W, where row t sees tokens t - W + 1 to t and no older ones; with
            ``causal=False`` as many ahead, too, to t + W - 1.
        positions: whether the order of tokens may matter. "rotary" (queries and keys
            turn with their positions), "alibi" (the published linear biases) and
            "relative" (scores depend on what two tokens are and how far apart) say
            more, and more is asked.
        num_heads: H, where the module has no ``num_heads`` of its own.
        num_kv_heads: heads of keys and values, where they are fewer: query heads
            hg to hg + g - 1 share key and value head h, with g = H / num_kv_heads.
        scale: what query · key is multiplied by, where it isn't 1 / √D.
        dropout: the probability of dropping a weight in train mode.
        padding: a function (module, x, real) that calls the module with a padding mask;
            real (B, T) is True at tokens and False at padding.
        step: a function (module, x, cache) that feeds the next tokens x (B, t, d_in)
            and gives (context, cache); the first cache is None.
        compiled: also run the layer under ``torch.compile``, which takes seconds.
        make: a function without arguments that makes another such module with other
            initial weights; the state dict is then loaded into that.
        seconds: how long one check may take; 10 unless you say.

    Returns:
        found: an Audit; ``found.ok`` says whether no check fails.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, switches that aren't
            True or False, a probability out of [0, 1), a scale or seconds that are no
            number above 0, unknown positions, or a ``padding``, ``step`` or ``make``
            that can't be called.

    Source: the exhibits of the book's bug museum, one check for each mistake that a
    layer can make.
    """
    declared = Declared(
        causal=causal,
        window=window,
        positions=positions,
        num_heads=num_heads,
        num_kv_heads=num_kv_heads,
        scale=scale,
        dropout=dropout,
        padding=padding,
        step=step,
        compiled=compiled,
        make=make,
    )
    _require(d_in, context_length, declared)
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ValueError(f"seconds is {seconds!r}; a number above 0 is needed")
    subject = Subject(module, d_in, context_length, declared)
    wake_meta_device()
    if compiled:
        contracts.wake_compiler()
    with warnings.catch_warnings():  # a layer's own warnings are no line's business
        warnings.simplefilter("ignore")
        found = Audit(type(module).__name__, tuple(_examine(subject, seconds)))
    print(found)
    return found


def _require(d_in: int, context_length: int, declared: Declared) -> None:
    """Raise a ValueError that names what is wrong."""
    validation.require_integers(d_in=d_in, context_length=context_length)
    validation.require_booleans(causal=declared.causal, compiled=declared.compiled)
    if not isinstance(declared.positions, bool) and declared.positions not in KINDS:
        known = ", ".join(map(repr, KINDS))
        raise ValueError(
            f"positions is {declared.positions!r}; it is True, False or one of {known}"
        )
    for name in ("num_heads", "num_kv_heads", "window"):
        if (value := getattr(declared, name)) is not None:
            validation.require_integers(**{name: value})
    if declared.dropout is not None:
        validation.require_probability("dropout", declared.dropout)
    if declared.scale is not None and not (
        isinstance(declared.scale, (int, float)) and 0 < declared.scale < math.inf
    ):
        raise ValueError(f"scale is {declared.scale!r}; a number above 0 is needed")
    for name in ("padding", "step", "make"):
        value = getattr(declared, name)
        if value is not None and not callable(value):
            raise ValueError(f"{name} is {value!r}; a function is needed")


def _examine(subject: Subject, seconds: float) -> Iterator[Row]:
    """The rows, one after the other."""
    stopped = ""
    for check, line in LINES.items():
        if stopped:
            yield Row(check, *skip(stopped))
            continue
        outcome = call(line, {}, run=lambda ask: ask(subject), seconds=seconds)
        result, reason = _result(outcome, seconds)
        if check == "output shape" and outcome.error is not None:
            reason += _hint(subject, outcome.error)
        yield Row(check, result, reason)
        if outcome.hung:
            stopped = "not run: a line before was stopped; seconds grants more"
        elif check == "output shape" and outcome.error is not None:
            stopped = "needs an output"


def _hint(subject: Subject, error: BaseException) -> str:
    """What to look at where the very first call raises."""
    if isinstance(error, TypeError):
        return "; it is called as layer(x): if it wants more, wrap it"
    if isinstance(error, (RuntimeError, IndexError)):
        return f"; do d_in = {subject.d_in} and T = {subject.T} fit?"
    return ""


def _result(outcome: Outcome, seconds: float) -> Result:
    """A line's result and reason."""
    if outcome.hung:
        return fails(f"stopped after {seconds:g} seconds")
    if outcome.error is None:
        return outcome.value
    where = f" in {outcome.where}" if outcome.where else ""
    return fails(f"{error_text(outcome.error)}{where}")
