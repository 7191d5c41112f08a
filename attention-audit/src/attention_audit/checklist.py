"""All checks of the audit, in their order, and how they are run."""

import contextlib
import functools
import math
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from torch import nn

from attention_audit import (
    caches,
    contracts,
    derivatives,
    excuses,
    further,
    handling,
    heads,
    reading,
    refusals,
    rounding,
    sequences,
    validation,
    weights,
)
from attention_audit.calling import apart, wake_meta_device
from attention_audit.explained import require_names
from attention_audit.frames import place
from attention_audit.limits import within
from attention_audit.report import FAILS, PASSES, REQUIRED, SKIPPED, UNRUN, Audit, Row
from attention_audit.subject import (
    Declared,
    Nonsense,
    Result,
    Subject,
    context_of,
    error_text,
    fails,
)
from attention_audit.training import again, without_dropout

KINDS = ("rotary", "alibi", "relative")
MADE_ELSEWISE = "required, but something is made in another dtype in the middle: "
CLEAR_OF_WINDOW = 2  # tokens more than a window has, so that one too wide shows

# In the order of the table. Unless the first passes, the others are in vain.
FUNCTIONS: dict[str, Callable[[Subject], Result]] = {
    "output shape": handling.output_shape,
    "short sequences": handling.short_sequences,
    "one token": handling.one_token,
    "empty batch": handling.empty_batch,
    "future changed": reading.later_tokens_changed,
    "future grads": reading.later_tokens_gradient,
    "tokens reached": reading.all_tokens_reached,
    "features read": reading.all_features_read,
    "batch": reading.batch_elements_apart,
    "order": reading.order_of_tokens,
    "hidden weights": weights.no_weight_on_what_is_hidden,
    "row sums": weights.rows_sum_to_one,
    "weights shown": weights.weights_shown_are_used,
    "scale": weights.scale,
    "dropped weights": weights.dropped_weights,
    "heads": heads.heads_apart,
    "queries, keys": heads.roles,
    "distances": heads.distances,
    "padding": excuses.padding,
    "cache": caches.cache,
    "dtypes": excuses.dtypes,
    "large inputs": handling.large_inputs,
    "gradients": excuses.gradients,
    "input kept": handling.input_unchanged,
    "dropout": handling.dropout_in_training,
    "eval repeats": handling.eval_repeats,
    "mode kept": handling.mode_kept,
    "state dict": handling.state_dict,
    "devices": handling.devices,
    "compiled": contracts.compiled,
}


# Asked where nothing failed before; each gives the reason of a failure, or "".
FURTHER: dict[str, tuple[Callable[[Subject], str], ...]] = {
    "future changed": (further.long_sequences,),
    "tokens reached": (
        reading.tokens_that_sum_to_nothing,
        further.tokens_of_zeros,
        further.read_by_rounding,
        again(reading.all_tokens_reached),
    ),
    "features read": (further.features_read_by_heads, further.token_alone_counts),
    "batch": (further.documents_apart,),
    "hidden weights": (again(weights.no_weight_on_what_is_hidden),),
    "row sums": (
        further.equal_tokens_unseen,
        excuses.one_token_alone,
        again(weights.rows_sum_to_one),
    ),
    "weights shown": (again(weights.weights_shown_are_used, always=True),),
    "scale": (again(weights.scale),),
    "heads": (
        further.heads_normed_together,
        further.equal_tokens_seen,
        again(heads.heads_apart),
    ),
    "distances": (again(heads.distances),),
    "padding": (again(excuses.padding, always=True),),
    "dtypes": (
        refusals.refuses_float16_alone,
        sequences.moved_there_and_back,
        sequences.parameters_cast,
        rounding.rounds_inside,
    ),
    "gradients": (
        derivatives.gradients_of_steps,
        sequences.gradients_after_none,
        sequences.gradients_without_tokens,
    ),
    "dropout": (without_dropout, sequences.train_after_eval),
    "eval repeats": (sequences.after_other_calls, sequences.earlier_result_kept),
    "state dict": (
        sequences.loaded_after_a_call,
        sequences.drawn_and_not_saved,
        sequences.copied_after_a_call,
    ),
}


def ask(
    module: nn.Module,
    d_in: int,
    context_length: int,
    declared: Declared,
    require: Collection[str],
    seconds: float,
) -> Audit:
    """What ``audit`` does, which explains all of it."""
    _require(d_in, context_length, declared)
    required = require_names("require", require)
    if not validation.is_real(seconds) or not seconds > 0:
        raise ValueError(f"seconds is {seconds!r}; a number above 0 is needed")
    subject = Subject(module, d_in, context_length, declared)
    wake_meta_device()
    if declared.compiled:
        contracts.wake_compiler()
    with warnings.catch_warnings():  # a layer's own warnings are no check's business
        warnings.simplefilter("ignore")
        rows = [_held_to(row, required) for row in _examine(subject, seconds)]
    notes = tuple(_undeclared_windows(subject))
    found = Audit(type(module).__name__, tuple(rows), notes=notes)
    print(found)
    return found


def _held_to(row: Row, required: Collection[str]) -> Row:
    """The row, which fails if it was required and isn't applicable, or not wholly."""
    if row.check not in required or row.result not in (SKIPPED, PASSES):
        return row
    if row.check == "dtypes" and refusals.mixed(row.reason):
        return Row(row.check, *fails(f"{MADE_ELSEWISE}{row.reason}"))
    if row.result == PASSES:
        return row
    return Row(row.check, *fails(f"{REQUIRED}{row.reason}"))


def _require(d_in: int, context_length: int, declared: Declared) -> None:
    """Raise a ValueError that names what is wrong."""
    validation.require_integers(d_in=d_in, context_length=context_length)
    switches = ("causal", "softmax", "compiled")
    validation.require_booleans(**{one: getattr(declared, one) for one in switches})
    if not isinstance(declared.positions, bool) and declared.positions not in KINDS:
        known = ", ".join(map(repr, KINDS))
        raise ValueError(
            f"positions is {declared.positions!r}; it is True, False or one of {known}"
        )
    for name in ("num_heads", "num_kv_heads"):
        if (value := getattr(declared, name)) is not None:
            validation.require_integers(**{name: value})
    for window in _windows(declared.window):
        validation.require_integers(window=window)
        _require_room(context_length, window)
    if declared.dropout is not None:
        validation.require_probability("dropout", declared.dropout)
    if declared.scale is not None and not (
        validation.is_real(declared.scale) and 0 < declared.scale < math.inf
    ):
        raise ValueError(f"scale is {declared.scale!r}; a number above 0 is needed")
    for name in ("padding", "step", "make", "documents"):
        value = getattr(declared, name)
        if value is not None and not callable(value):
            raise ValueError(f"{name} is {value!r}; a function is needed")


def _windows(window: object) -> list[Any]:
    """The windows that are declared, of all heads or of one after the other."""
    if not isinstance(window, tuple):
        return [] if window is None else [window]
    if known := [one for one in window if one is not None]:
        return known
    raise ValueError(f"window is {window!r}; at least one head must have one")


def _undeclared_windows(subject: Subject) -> Iterator[str]:
    """What the layer itself calls a window, where no check asks about it."""
    if not isinstance(subject.module, nn.Module):
        return
    told, T = set(), subject.T
    for part in subject.module.modules():
        for name, value in vars(part).items():
            is_window = "window" in name.lower() or "sliding" in name.lower()
            if not is_window or type(value) is not int or value < 1:
                continue
            declared = _windows(subject.declared.window)
            if (declared and value < T) or (name, value) in told:
                continue
            told.add((name, value))
            if value >= T:
                yield (
                    f"the layer's {name} is {value}, and there are {T} tokens: nothing "
                    "that it hides was asked; build the layer with a smaller one, and "
                    "declare window"
                )
            else:
                yield f"the layer's {name} is {value}, and no window is declared"


def _require_room(context_length: int, window: int) -> None:
    """A window that never fills, or only at the end, would pass whatever it does."""
    if context_length < window + CLEAR_OF_WINDOW:
        raise ValueError(
            f"window is {window} and context_length {context_length}: the window hides "
            "too little to be checked; build the layer with a small window, several "
            "tokens shorter than context_length"
        )


def _examine(subject: Subject, seconds: float) -> Iterator[Row]:
    """The rows, one after the other."""
    stopped, left = "", SKIPPED
    for check, function in FUNCTIONS.items():
        if stopped:
            yield Row(check, left, stopped)
            continue
        work = functools.partial(_asked, subject, function, FURTHER.get(check, ()))
        with apart():
            done = within(seconds, work)
        if done is None:
            # How fast a machine is says nothing about the layer.
            yield Row(check, UNRUN, f"stopped after {seconds:g} seconds")
            left = UNRUN
            stopped = "an earlier check was stopped; seconds grants more"
            continue
        result, error = done
        if error is not None:
            hint = ""
            if check == "output shape":
                with apart():
                    hint = _hint(subject, error, seconds)
            result = fails(f"{error_text(error)}{place(error)}{hint}")
            stopped = "needs an output" if check == "output shape" else ""
        yield Row(check, *result)


def _asked(
    subject: Subject,
    check: Callable[[Subject], Result],
    more: Iterable[Callable[[Subject], str]],
) -> Result:
    """What a check says, and where it doesn't fail, what is asked further."""
    result, reason = check(subject)
    if result == FAILS:
        return result, reason
    for one in more:
        # What a layer refuses here, such as a longer sequence, it never promised.
        with contextlib.suppress(Exception):
            if wrong := one(subject):
                return fails(wrong)
    return result, reason


def _hint(subject: Subject, error: BaseException, seconds: float) -> str:
    """How the very first call was made, where that raises."""
    if isinstance(error, Nonsense):
        return ""
    x = f"x {(subject.B, subject.T, subject.d_in)}"
    if isinstance(error, TypeError) and "pickle" not in str(error):
        return f"; it was called as layer(x), {x}: if it wants more, wrap it"
    shorter = within(seconds, functools.partial(_shorter, subject))
    if shorter is None or not shorter[0]:
        return f"; it was called with {x}"
    return (
        f"; it was called with {x}, and {shorter[0]} tokens work: is context_length "
        "more than it is built for?"
    )


def _shorter(subject: Subject) -> int:
    """The most tokens that work, fewer than were declared; or 0."""
    module = subject.copy()
    for T in range(subject.T - 1, 0, -1):
        with contextlib.suppress(Exception):
            context_of(module, subject.x(T))
            return T
    return 0
