"""A checklist for any attention layer, the reader's own included."""

import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from torch import nn

from helpers import validation
from helpers.checks.auditing import handling, reading, scale
from helpers.checks.auditing.subject import (
    FAILS,
    PASSES,
    SKIPPED,
    Result,
    Subject,
    fails,
    skip,
)
from helpers.checks.calling import SECONDS, Outcome, call, wake_meta_device

# In the order of the table. Without a first line that passes, the others ask in vain.
LINES: dict[str, Callable[[Subject], Result]] = {
    "output shape": handling.output_shape,
    "shorter texts": handling.shorter_texts,
    "one token": handling.one_token,
    "future changed": reading.later_tokens_changed,
    "future slopes": reading.later_tokens_slope,
    "tokens reached": reading.all_tokens_reached,
    "features read": reading.all_features_read,
    "future weights": reading.no_weight_on_the_future,
    "row sums": reading.rows_sum_to_one,
    "scale": scale.scale,
    "order": reading.order_of_tokens,
    "batch": reading.texts_apart,
    "dtypes": handling.dtypes,
    "large inputs": handling.large_inputs,
    "gradients": handling.gradients,
    "input kept": handling.input_unchanged,
    "dropout": handling.dropout_in_training,
    "eval repeats": handling.eval_repeats,
    "mode kept": handling.mode_kept,
    "state dict": handling.state_dict,
    "devices": handling.devices,
}
WIDTH = 80
NAME_WIDTH, RESULT_WIDTH = 16, 16


@dataclass(frozen=True)
class Row:
    """One line of an audit.

    Args:
        check: its name, a key of ``LINES``.
        result: "passes", "FAILS" or "not applicable".
        reason: a few words, with the number that decided.
    """

    check: str
    result: str
    reason: str

    def __str__(self) -> str:
        start = f"{self.check:{NAME_WIDTH}}{self.result:{RESULT_WIDTH}}"
        margin = " " * (NAME_WIDTH + RESULT_WIDTH)
        return textwrap.fill(
            self.reason, WIDTH, initial_indent=start, subsequent_indent=margin
        )


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Args:
        name: of the module's class.
        rows: a tuple of Row, one for each check, in the order of the table.
    """

    name: str
    rows: tuple[Row, ...]

    @property
    def ok(self) -> bool:
        """Whether no check fails."""
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that fail."""
        return tuple(row.check for row in self.rows if row.result == FAILS)

    def __str__(self) -> str:
        counts = [
            f"{sum(row.result == result for row in self.rows)} {word}"
            for result, word in ((PASSES, "pass"), (FAILS, "fail"), (SKIPPED, SKIPPED))
        ]
        lines = [f"audit of {self.name}", *map(str, self.rows), ", ".join(counts)]
        return "\n".join(lines)

    def _ipython_display_(self) -> None:
        """Nothing more: ``audit`` has printed the table already."""


def audit(
    module: nn.Module,
    d_in: int,
    context_length: int,
    *,
    causal: bool = True,
    positions: bool = False,
    num_heads: int | None = None,
    make: Callable[[], nn.Module] | None = None,
    seconds: float = SECONDS,
) -> Audit:
    """Put an attention layer to all tests from outside it, and print a table.

    The layer is called as ``module(x)`` and returns the context, or a pair of context
    and weights; weights are also asked for by ``return_weights=True`` where ``forward``
    knows that option. All calls are made on copies: the module itself, its mode and the
    caller's random numbers stay as they were. Whatever the module does, nothing is
    raised. The time grows with the square of ``context_length``: audit a small one.

    Args:
        module: an ``nn.Module`` that maps x (B, T, d_in) to a context (B, T, d_out).
        d_in: width of a token.
        context_length: T, the longest sequence it takes.
        causal: whether no row may depend on later tokens.
        positions: whether the layer knows positions, such as rotary ones; then the
            order of tokens may matter.
        num_heads: H, where the module has no ``num_heads`` of its own.
        make: a function without arguments that makes another such module with other
            initial weights; the state dict is then loaded into that.
        seconds: how long one check may take.

    Returns:
        found: an Audit; ``found.ok`` says whether no check fails.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, or switches that
            aren't True or False.

    Source: the exhibits of the book's bug museum, one check for each mistake that a
    layer can make.
    """
    validation.require_integers(d_in=d_in, context_length=context_length)
    validation.require_booleans(causal=causal, positions=positions)
    if num_heads is not None:
        validation.require_integers(num_heads=num_heads)
    subject = Subject(
        module,
        d_in,
        context_length,
        causal=causal,
        positions=positions,
        num_heads=num_heads,
        make=make,
    )
    wake_meta_device()
    found = Audit(type(module).__name__, tuple(_examine(subject, seconds)))
    print(found)
    return found


def _examine(subject: Subject, seconds: float) -> Iterator[Row]:
    """The rows, one after the other."""
    stopped = ""
    for check, line in LINES.items():
        if stopped:
            yield Row(check, *skip(stopped))
            continue
        outcome = call(line, {}, run=lambda ask: ask(subject), seconds=seconds)
        yield Row(check, *_result(outcome, seconds))
        if outcome.hung:
            stopped = "not run: a call before hung"
        elif check == "output shape" and outcome.error is not None:
            stopped = "needs an output"


def _result(outcome: Outcome, seconds: float) -> Result:
    """A line's result and reason."""
    if outcome.hung:
        return fails(f"stopped after {seconds:g} seconds")
    if outcome.error is None:
        return outcome.value
    where = f" in {outcome.where}" if outcome.where else ""
    return fails(f"{handling.error_text(outcome.error)}{where}")
