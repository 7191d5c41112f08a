"""Exercise of chapter 8: a batch of windows of a text, and their targets."""

import functools

import torch

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.facts_of_batches import batch_as_facts
from helpers.text.batches import Windows


def _texts():
    generator = torch.Generator().manual_seed(8)

    def case(name, num_windows, context_length, batch_size, use):
        # Each id stands in one place only, so that a window tells where it begins.
        size = num_windows + context_length
        sizes = {"batch_size": batch_size, "context_length": context_length}
        ids = torch.randperm(3 * size, generator=generator)[:size]
        shown = {"ids": ids} | sizes
        return Case(name, shown | {"use": use}, shown)

    return [
        case("a text of three windows", 3, 3, 100, "places"),
        case("a text of seven windows", 7, 2, 2000, "places"),
        case("a text of fifty windows", 50, 4, 2000, "chance"),
    ]


def _right(ids, batch_size, context_length, generator):
    return Windows(ids, context_length).batch(batch_size, generator)


def _cut(ids, starts, context_length, later=1):
    places = starts[:, None] + torch.arange(context_length)
    return ids[places], ids[places + later]


def _draw(ids, batch_size, context_length, generator, more=0, later=1):
    """A batch from more starts, or from fewer, and with targets so much later."""
    choices = len(ids) - context_length + more
    starts = torch.randint(choices, (batch_size,), generator=generator)
    return _cut(ids, starts, context_length, later)


def _rolled(ids, batch_size, context_length, generator):
    inputs, _ = _draw(ids, batch_size, context_length, generator)
    return inputs, inputs.roll(-1, dims=1)


def _one_start(ids, batch_size, context_length, generator):
    start = torch.randint(len(ids) - context_length, (1,), generator=generator)
    return _cut(ids, start.expand(batch_size), context_length)


def _consecutive(ids, batch_size, context_length, generator):
    windows = len(ids) - context_length
    first = torch.randint(windows, (1,), generator=generator)
    return _cut(ids, (first + torch.arange(batch_size)) % windows, context_length)


def _without_replacement(ids, batch_size, context_length, generator):
    starts = torch.randperm(len(ids) - context_length, generator=generator)
    return _cut(ids, starts[:batch_size], context_length)


def _side_by_side(ids, batch_size, context_length, generator):
    pieces = (len(ids) - 1) // context_length
    chosen = torch.randint(pieces, (batch_size,), generator=generator)
    return _cut(ids, chosen * context_length, context_length)


EXERCISE = Exercise(
    name="get_batch",
    stub="my_get_batch(ids, batch_size, context_length, generator)",
    asks=(
        "a function of (N,) ids, two numbers and a ``torch.Generator`` on the CPU that "
        "returns the inputs (B, T), windows which begin anywhere in the text, and the "
        "targets (B, T), each the id after its input in the text."
    ),
    returns={"inputs": "(B, T)", "targets": "(B, T)"},
    reference=_right,
    cases=_texts,
    run=batch_as_facts,
    mistakes=(
        Mistake(
            "targets that equal the inputs",
            functools.partial(_draw, later=0),
            "A model learns to repeat what it reads: its loss falls to 0, and it "
            "predicts nothing. A target is the id one place later in the text.",
        ),
        Mistake(
            "targets rolled around within the window",
            _rolled,
            "All but the last are right. The last target is the window's first id; it "
            "must be the id after the window, which only the text knows.",
        ),
        Mistake(
            "a last window that is never drawn",
            functools.partial(_draw, more=-1),
            "randint leaves out its upper end already. Of N ids, N - T starts leave a "
            "target for each position: 0 to N - T - 1.",
        ),
        Mistake(
            "one start for all rows",
            _one_start,
            "All rows are the same window, so a step learns no more from batch_size "
            "rows than from one. Draw a start for each row.",
        ),
        Mistake(
            "windows one after the other",
            _consecutive,
            "Only the first row's start is drawn, and the others follow from it: "
            "neighbouring rows hold nearly the same ids. Draw a start for each row.",
        ),
        Mistake(
            "a generator that is ignored",
            lambda ids, batch_size, T, _: _draw(ids, batch_size, T, None),
            "The same seed must give the same batches. Hand the generator on: "
            "torch.randint(..., generator=generator).",
        ),
        Mistake(
            "starts drawn without replacement",
            _without_replacement,
            "randperm gives each start once, so that a batch can't have more rows than "
            "the text has windows. Draw each row's start by itself.",
        ),
        Mistake(
            "windows laid side by side",
            _side_by_side,
            "Your starts are multiples of the context's length. A window may begin at "
            "any place from which T targets are left.",
        ),
    ),
)
