"""What an audit found: its rows, and the table that they make as text and as HTML."""

import html
import itertools
import sys
import textwrap
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from attention_audit import __version__
from attention_audit.causes import CAUSES, Told
from attention_audit.explained import NAME_WIDTH, WIDTH, advice
from attention_audit.patterns import told

PASSES, FAILS, SKIPPED, UNRUN = "passes", "FAILS", "not applicable", "not run"
RESULT_WIDTH = 16
REQUIRED = "required, but not applicable: "
WORDS = {PASSES: "pass", FAILS: "fail", SKIPPED: SKIPPED, UNRUN: UNRUN}
# A notebook's own rules would put text to the right. Colours come from the page, so
# that they suit a light one and a dark one; a failing row is bold, with a line beside.
TABLE = "border-collapse: collapse; color: inherit"
CELL = "text-align: left; vertical-align: top; padding: 0.2em 0.8em"
CAPTION = f"{CELL}; caption-side: top; color: inherit"
NAME = f"{CELL}; white-space: nowrap; font-weight: normal"
FAILING = f"{CELL}; white-space: nowrap; border-left: 0.3em solid #D55E00"


# Most checks compare calls of a layer: what differs from call to call fails them, too.
FIRST = "eval repeats"
LEAST_ALIKE = 3


@dataclass(frozen=True)
class Row:
    """The result of one check.

    Args:
        check: the check's name, such as "scale".
        result: "passes", "FAILS", "not applicable" or, where a check or an earlier one
            was stopped for want of time, "not run".
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

    def html(self) -> str:
        """The row of a table, failing or not."""
        check, result, reason = map(html.escape, (self.check, self.result, self.reason))
        failing = self.result == FAILS
        result = f"<strong>{result}</strong>" if failing else result
        return (
            f'<tr><th scope="row" style="{FAILING if failing else NAME}">{check}</th>'
            f'<td style="{CELL}; white-space: nowrap">{result}</td>'
            f'<td style="{CELL}">{reason}</td></tr>'
        )


def _cell() -> str | None:
    """What tells the notebook's cell that runs from others; None without a notebook.

    A kernel may run cells without counting them, but each comes as a message of its
    own.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None:
        return None
    message = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return str(message.get("header", {}).get("msg_id", shell.execution_count))


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    In a notebook it is shown as a table of HTML, but not in the cell that audits: there
    the table stands already, as text.

    Args:
        name: of the module's class.
        rows: a tuple of Row, one for each check, in the order of the table.
        cell: which of the notebook's cells made it, or None.
        notes: what no check asks for want of a declaration, in sentences.
    """

    name: str
    rows: tuple[Row, ...]
    cell: str | None = field(default_factory=_cell, repr=False, compare=False)
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no check fails, and none was left out for want of time."""
        return not self.failed and not self.unrun

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that fail."""
        return tuple(row.check for row in self.rows if row.result == FAILS)

    @property
    def unrun(self) -> tuple[str, ...]:
        """The names of the checks that were stopped, or not begun after that."""
        return tuple(row.check for row in self.rows if row.result == UNRUN)

    @property
    def counts(self) -> dict[str, int]:
        """How many rows "pass", "fail" and are "not applicable"; if any, "not run"."""
        counts = {
            word: sum(row.result == result for row in self.rows)
            for result, word in WORDS.items()
        }
        return {word: n for word, n in counts.items() if n or word != UNRUN}

    def failed_except(
        self, allow: Collection[str]
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The checks that fail beyond those that may.

        Args:
            allow: names of checks that may fail; a string is one name.

        Returns:
            failed: the names of all other checks that fail.
            idle: the names in ``allow`` of checks that don't fail.

        Raises:
            ValueError: a name that no check has.
        """
        names = [allow] if isinstance(allow, str) else list(allow)
        known = [row.check for row in self.rows]
        for name in names:
            if name not in known:
                raise ValueError(
                    f"allow must name checks, got {name!r}; "
                    f"these are {', '.join(map(repr, known))}"
                )
        return (
            tuple(name for name in self.failed if name not in names),
            tuple(name for name in names if name not in self.failed),
        )

    def as_dict(self) -> dict[str, Any]:
        """All of it in plain values, for JSON, and the versions that it was made by."""
        return {
            "name": self.name,
            "ok": self.ok,
            "counts": self.counts,
            "notes": list(self.notes),
            "rows": [asdict(row) for row in self.rows],
            "advice": {check: one._asdict() for check, one in self.told().items()},
            "versions": versions(),
        }

    def __str__(self) -> str:
        return self._text(self._shown())

    def advice(self) -> str:
        """For each check that fails: what it asks, what that means, likely causes."""
        return advice(self.told())

    def told(self) -> dict[str, Told]:
        """For each check that fails: what that means, and its two likeliest causes.

        Checks that were only required are left out.
        """
        results = {row.check: row.result for row in self.rows}
        return {
            row.check: told(row.check, row.reason, results)
            for row in self.rows
            if row.result == FAILS
            and row.check in CAUSES
            and not row.reason.startswith(REQUIRED)
        }

    def failures(self) -> str:
        """The rows that fail or weren't run, and how many others there are."""
        return self._text(row for row in self._shown() if row.result in (FAILS, UNRUN))

    def _text(self, rows: Iterable[Row]) -> str:
        return "\n".join([f"audit of {self.name}", *map(str, rows), *self._last()])

    def _shown(self) -> list[Row]:
        """The rows; where all the last ones weren't run for one reason, they are one.

        So an error in the first check stands alone, not above 29 times the same words.
        """
        last = self.rows[-1:]
        alike = itertools.takewhile(
            lambda row: row.result in (SKIPPED, UNRUN) and row.reason == last[0].reason,
            reversed(self.rows),
        )
        count = sum(1 for _ in alike)
        if count < LEAST_ALIKE:
            return list(self.rows)
        others = Row(f"{count} other checks", last[0].result, last[0].reason)
        return [*self.rows[:-count], others]

    def _last(self) -> list[str]:
        """The number of rows of each kind, notes, and what to mend before all else."""
        total = ", ".join(f"{count} {word}" for word, count in self.counts.items())
        notes = [textwrap.fill(f"note: {note}", WIDTH) for note in self.notes]
        if FIRST not in self.failed or len(self.failed) == 1:
            return [total, *notes]
        return [total, *notes, f'mend "{FIRST}" first: other checks compare calls']

    def html(self) -> str:
        """The table as HTML, for a page or a report; it needs no style sheet."""
        caption = html.escape(f"audit of {self.name}: {'; '.join(self._last())}")
        heads = "".join(
            f'<th scope="col" style="{CELL}">{name}</th>'
            for name in ("check", "result", "reason")
        )
        return (
            f'<table class="audit" style="{TABLE}">'
            f'<caption style="{CAPTION}">{caption}</caption>'
            f"<thead><tr>{heads}</tr></thead>"
            f"<tbody>{''.join(row.html() for row in self._shown())}</tbody></table>"
        )

    def _repr_html_(self) -> str:
        return self.html()

    def _ipython_display_(self) -> None:
        """The table as HTML, and nothing in the cell that has printed it."""
        from IPython.display import display

        if self.cell is None or self.cell != _cell():
            both = {"text/plain": str(self), "text/html": self.html()}
            display(both, raw=True)


def versions() -> dict[str, str]:
    """The versions of the audit and of torch."""
    import torch

    return {"attention-audit": __version__, "torch": torch.__version__}
