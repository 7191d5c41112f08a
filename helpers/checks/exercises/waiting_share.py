"""Exercise of the page "A thousand machines": how long a pipeline waits."""

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_any_number
from helpers.checks.exercises.support.several_ways import several


def share(
    boxes,
    texts,
    stretches,
    *,
    turns=lambda boxes, stretches: (boxes - 1) / stretches,
    of=lambda waiting, texts: waiting / (texts + waiting),
):
    """Right where nothing is given; each option is one mistake."""
    return of(turns(boxes, stretches), texts)


def _with(**options):
    return lambda *arguments: share(*arguments, **options)


HOW_LONG_IT_WAITS = (
    *several(
        "a turn of waiting for each box",
        (
            _with(turns=lambda boxes, stretches: boxes / stretches),
            _with(turns=lambda boxes, stretches: float(boxes)),
        ),
        "The last box waits while the first text is in all the boxes before it: one "
        "turn for each of those, and none for itself.",
    ),
    Mistake(
        "1 divided by the stretches",
        _with(turns=lambda boxes, stretches: boxes - 1 / stretches),
        "Division comes before subtraction: boxes - 1 needs brackets.",
    ),
    Mistake(
        "stretches that don't matter",
        _with(turns=lambda boxes, stretches: boxes - 1.0),
        "With several stretches in a box, a turn of waiting is as many times shorter.",
    ),
    Mistake(
        "stretches that make it wait longer",
        _with(turns=lambda boxes, stretches: (boxes - 1.0) * stretches),
        "Stretches make a turn shorter, so that the first text arrives sooner: divide "
        "by their number.",
    ),
    Mistake(
        "waiting that is rounded down",
        _with(turns=lambda boxes, stretches: float((boxes - 1) // stretches)),
        "The task says: don't round. // rounds down.",
    ),
    Mistake(
        "waiting at both ends",
        _with(turns=lambda boxes, stretches: 2 * (boxes - 1) / stretches),
        "A turn is forward and back together here. A box waits boxes - 1 such turns "
        "in all: some before its first text, and the others behind its last.",
    ),
)
WHICH_SHARE_IT_IS = (
    Mistake(
        "waiting by texts, and then a sum",
        _with(of=lambda waiting, texts: waiting / texts + waiting),
        "Division comes before addition: the whole step below needs brackets.",
    ),
    Mistake(
        "waiting per text, not a share of the step",
        _with(of=lambda waiting, texts: waiting / texts),
        "That compares the waiting with the work. The step takes both: the turns of "
        "waiting and those of the texts.",
    ),
    Mistake(
        "the share that it works",
        _with(of=lambda waiting, texts: texts / (texts + waiting)),
        "That is how much of the step a box works. It waits the rest.",
    ),
    Mistake(
        "turns, not a share",
        _with(of=lambda waiting, texts: waiting),
        "That is how many turns a box waits. Which share is it of all turns?",
    ),
    Mistake(
        "a share in percent",
        _with(of=lambda waiting, texts: 100 * waiting / (texts + waiting)),
        "A share goes from 0 to 1; that is a percentage.",
    ),
    Mistake(
        "texts that don't count",
        _with(of=lambda waiting, texts: waiting / (waiting + 1)),
        "The more texts, the less the waiting weighs: each takes a turn.",
    ),
)


def _boxes_for_texts(boxes, texts, stretches):
    return share(texts, boxes, stretches)


WHAT_IS_WHAT = (
    Mistake(
        "boxes and texts exchanged",
        _boxes_for_texts,
        "It waits while the first text passes the other boxes, and works once for "
        "each text.",
    ),
    Mistake(
        "the step without stretches",
        lambda boxes, texts, stretches: (boxes - 1) / stretches / (texts + boxes - 1),
        "With shorter turns of waiting, the whole step is shorter, too: its turns are "
        "those of the texts, and the waiting as it is.",
    ),
)


NAMES = ("boxes", "texts", "stretches")


def _pipelines():
    sizes = {
        "one box": (1, 3, 1),
        "two boxes, one text": (2, 1, 1),
        "two boxes, two texts": (2, 2, 1),
        "four boxes, six texts": (4, 6, 1),
        "three boxes in two stretches": (3, 4, 2),
        "four boxes in two stretches": (4, 2, 2),
        "one box in four stretches": (1, 2, 4),
        "Llama 3 on 16,384 GPUs": (16, 16, 1),
        "Llama 3 on 8,192 GPUs": (16, 32, 1),
        "Llama 3 in four stretches": (16, 16, 4),
    }
    return [
        Case(name, dict(zip(NAMES, one, strict=True))) for name, one in sizes.items()
    ]


EXERCISE = Exercise(
    name="waiting_share",
    stub="my_waiting_share(boxes, texts, stretches)",
    asks=(
        "a function of the number of boxes in a pipeline, of the texts that pass it in "
        "a step, and of the stretches of layers in each box, that returns which share "
        "of the step a box waits, from 0 to 1."
    ),
    returns={"share": "a number"},
    reference=share,
    cases=_pipelines,
    run=call_for_any_number,
    mistakes=(*HOW_LONG_IT_WAITS, *WHICH_SHARE_IT_IS, *WHAT_IS_WHAT),
)
