"""All lines of the audit, in their order, and how they are asked."""

import functools
import math
import warnings
from collections.abc import Callable, Iterator

from torch import nn

from attention_audit import (
    contracts,
    handling,
    heads,
    reading,
    validation,
    weights,
)
from attention_audit.calling import apart, wake_meta_device
from attention_audit.frames import where
from attention_audit.limits import within
from attention_audit.report import Audit, Row
from attention_audit.subject import (
    Declared,
    Result,
    Subject,
    error_text,
    fails,
    skip,
)

KINDS = ("rotary", "alibi", "relative")

# In the order of the table. Without a first line that passes, the others ask in vain.
LINES: dict[str, Callable[[Subject], Result]] = {
    "output shape": handling.output_shape,
    "shorter texts": handling.shorter_texts,
    "one token": handling.one_token,
    "empty batch": handling.empty_batch,
    "future changed": reading.later_tokens_changed,
    "future grads": reading.later_tokens_gradient,
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


def ask(
    module: nn.Module,
    d_in: int,
    context_length: int,
    declared: Declared,
    seconds: float,
) -> Audit:
    """What ``audit`` does, which explains all of it."""
    _require(d_in, context_length, declared)
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ValueError(f"seconds is {seconds!r}; a number above 0 is needed")
    subject = Subject(module, d_in, context_length, declared)
    wake_meta_device()
    if declared.compiled:
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
        with apart():
            done = within(seconds, functools.partial(line, subject))
        if done is None:
            yield Row(check, *fails(f"stopped after {seconds:g} seconds"))
            stopped = "not run: a line before was stopped; seconds grants more"
            continue
        result, error = done
        if error is not None:
            at = f" in {place}" if (place := where(error)) else ""
            hint = _hint(subject, error) if check == "output shape" else ""
            result = fails(f"{error_text(error)}{at}{hint}")
            stopped = "needs an output" if check == "output shape" else ""
        yield Row(check, *result)


def _hint(subject: Subject, error: BaseException) -> str:
    """What to look at where the very first call raises."""
    if isinstance(error, TypeError):
        return "; it is called as layer(x): if it wants more, wrap it"
    if isinstance(error, (RuntimeError, IndexError)):
        return f"; do d_in = {subject.d_in} and T = {subject.T} fit?"
    return ""
