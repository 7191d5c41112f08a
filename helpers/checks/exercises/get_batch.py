"""Exercise of chapter 7: a batch of windows of a text, and their targets."""

import functools
import itertools
import math

import torch

from attention_audit.wording import sort_of
from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.stubs import attempted
from helpers.text.batches import Windows

FAR = 23.0  # minus the logarithm of 10⁻¹⁰
FACTS = {
    "places": (
        "inputs",
        "targets",
        "each window in one piece",
        "how much later a target stands",
        "the starts drawn",
        "each start comes equally often",
    ),
    "chance": (
        "inputs",
        "targets",
        "a second call draws other windows",
        "the same seed draws the same windows",
        "another seed draws other windows",
        "another generator is left alone",
        "each row's start",
    ),
}


def batch_as_facts(get_batch, ids, batch_size, context_length, use):
    """Call ``get_batch``, twice or more; return what holds of the batches.

    Args:
        get_batch: a function as the exercise asks for.
        ids: (N,), each in one place only.
        batch_size: B.
        context_length: T.
        use: a key of ``FACTS``, what to look at.

    Returns:
        facts: a dict with the names in ``FACTS``.
    """

    def draw(size, generator):
        return _parts(get_batch(ids, size, context_length, generator))

    batch = _forms(draw, batch_size, context_length)
    if isinstance(batch, dict):
        return dict.fromkeys(FACTS[use]) | batch
    if use == "places":
        found = _places(ids, *batch)
    else:
        found = _chance(lambda generator: draw(batch_size, generator))
    forms = [sort_of(one) for one in batch]
    return dict(zip(FACTS[use], (*forms, *found), strict=True))


def _parts(result):
    """Inputs and targets; what is no pair stands for the inputs."""
    result = attempted(result)
    if not isinstance(result, (list, tuple)) or len(result) != 2:
        return result, None
    if all(one is None or one is ... for one in result):
        raise NotImplementedError
    return tuple(result)


def _forms(draw, batch_size, context_length):
    """A batch; or facts, where its tensors aren't (batch_size, context_length)."""
    try:
        batch, single = (
            draw(size, torch.Generator().manual_seed(0)) for size in (batch_size, 1)
        )
    except (IndexError, RuntimeError) as error:
        if not _fails_at_times(draw, context_length):
            raise error from None
        return {"inputs": "an error in some windows, and in others none"}
    expected = torch.zeros(batch_size, context_length, dtype=torch.int64)
    found = [sort_of(one) for one in batch]
    if found == [sort_of(expected)] * 2:
        return batch
    rows = {_rows(one, context_length) for one in (*batch, *single)}
    if len(rows) == 1 and None not in rows:
        found = [f"as many rows for 1 as for {batch_size}"] * 2
    return dict(zip(("inputs", "targets"), found, strict=True))


def _rows(part, context_length):
    """How many windows a tensor holds; None where it holds something else."""
    fits = isinstance(part, torch.Tensor) and part.shape[1:] == (context_length,)
    return len(part) if fits else None


def _fails_at_times(draw, context_length):
    """Whether one window can be drawn with some seeds and can't with others."""
    failed = set()
    for seed in range(2000):
        try:
            parts = draw(1, torch.Generator().manual_seed(seed))
            failed.add(any(_rows(part, context_length) is None for part in parts))
        except (IndexError, RuntimeError):
            failed.add(True)
        if len(failed) == 2:
            return True
    return False


def _places(ids, inputs, targets):
    place = {one: position for position, one in enumerate(ids.tolist())}
    inputs, targets = (
        [[place.get(one) for one in row] for row in part.tolist()]
        for part in (inputs, targets)
    )
    first = [row[0] for row in inputs if row[0] is not None]
    starts = sorted({*first})
    in_one_piece = all(
        row[0] is not None and row == list(range(row[0], row[0] + len(row)))
        for row in inputs
    )
    pairs = [
        both
        for row, following in zip(inputs, targets, strict=True)
        for both in zip(row, following, strict=True)
    ]
    drawn = ", ".join(map(str, starts))
    return (
        in_one_piece,
        _distances(pairs),
        "the same in every row" if len(starts) == 1 else drawn,
        _even([first.count(start) for start in starts]),
    )


def _even(counts):
    """Whether so many draws of each start can come from equal chances.

    A right solution that is rejected would be one in 10¹⁰: the chi-squared statistic
    comes so far above its mean, the degrees of freedom.
    """
    freedom, expected = len(counts) - 1, sum(counts) / max(len(counts), 1)
    off = sum((count - expected) ** 2 / expected for count in counts)
    return off < freedom + 2 * math.sqrt(FAR * freedom) + 2 * FAR


def _distances(pairs):
    """How far apart two places of the text lie, each distance once."""
    known = {after - before for before, after in pairs if None not in (before, after)}
    lost = ["not in the text"] if any(None in pair for pair in pairs) else []
    return ", ".join([*map(str, sorted(known)), *lost])


def _chance(draw):
    def first(seed):
        return draw(torch.Generator().manual_seed(seed))[0].tolist()

    generator = torch.Generator().manual_seed(1)
    before = torch.get_rng_state()
    twice = [draw(generator)[0].tolist() for _ in range(2)]
    alone = torch.equal(before, torch.get_rng_state())
    return (
        twice[0] != twice[1],
        first(2) == first(2),
        first(3) != first(4),
        alone,
        # The same windows in each call are a mistake of their own.
        _dependence([row[0] for row in twice[0]] if twice[0] != twice[1] else []),
    )


def _dependence(starts):
    """In words, whether a row's start depends on those of the rows before it."""
    order = torch.randperm(len(starts), generator=torch.Generator().manual_seed(5))
    pairs, shuffled = (
        len({*itertools.pairwise(one)})
        for one in (starts, [starts[place] for place in order.tolist()])
    )
    if pairs >= 0.8 * shuffled:
        return "drawn by itself"
    alone = pairs <= len(set(starts))
    return "given by the row before" if alone else "not drawn by itself"


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
            "inputs and targets exchanged",
            lambda *arguments: _draw(*arguments)[::-1],
            "Your targets stand one place before the inputs. A model is to say what "
            "comes next: the targets are the later ones, and the second of the two.",
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
