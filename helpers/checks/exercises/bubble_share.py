"""Exercise of the page "A thousand machines": how long a pipeline waits."""

from helpers.checks.cases import Case, Mistake
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_any_number
from helpers.checks.exercises.support.several_ways import several


def share(
    stages,
    micro_batches,
    chunks,
    *,
    turns=lambda stages, chunks: (stages - 1) / chunks,
    of=lambda waiting, micro_batches: waiting / (micro_batches + waiting),
):
    """Right where nothing is given; each option is one mistake."""
    return of(turns(stages, chunks), micro_batches)


def _with(**options):
    return lambda *arguments: share(*arguments, **options)


HOW_LONG_IT_WAITS = (
    *several(
        "a turn of waiting for each stage",
        (
            _with(turns=lambda stages, chunks: stages / chunks),
            _with(turns=lambda stages, chunks: float(stages)),
        ),
        "The last stage waits while the first micro-batch is in all the stages before "
        "it: one turn for each of those, and none for itself.",
    ),
    Mistake(
        "1 divided by the chunks",
        _with(turns=lambda stages, chunks: stages - 1 / chunks),
        "Division comes before subtraction: stages - 1 needs brackets.",
    ),
    Mistake(
        "chunks that don't matter",
        _with(turns=lambda stages, chunks: stages - 1.0),
        "With several chunks in a stage, a turn of waiting is as many times shorter.",
    ),
    Mistake(
        "chunks that make it wait longer",
        _with(turns=lambda stages, chunks: (stages - 1.0) * chunks),
        "Chunks make a turn shorter, so that the first one arrives sooner: divide "
        "by their number.",
    ),
    Mistake(
        "waiting that is rounded down",
        _with(turns=lambda stages, chunks: float((stages - 1) // chunks)),
        "The task says: don't round. // rounds down.",
    ),
    Mistake(
        "waiting at both ends",
        _with(turns=lambda stages, chunks: 2 * (stages - 1) / chunks),
        "A turn is forward and back together here. A stage waits stages - 1 such turns "
        "in all: some before its first one, and the others behind its last.",
    ),
)
WHICH_SHARE_IT_IS = (
    Mistake(
        "waiting by micro-batches, and then a sum",
        _with(of=lambda waiting, micro_batches: waiting / micro_batches + waiting),
        "Division comes before addition: the whole step below needs brackets.",
    ),
    Mistake(
        "waiting per micro-batch, not a share of the step",
        _with(of=lambda waiting, micro_batches: waiting / micro_batches),
        "That compares the waiting with the work. The step takes both: the turns of "
        "waiting and those of the micro-batches.",
    ),
    Mistake(
        "the share that it works",
        _with(
            of=lambda waiting, micro_batches: micro_batches / (micro_batches + waiting)
        ),
        "That is how much of the step a stage works. It waits the rest.",
    ),
    Mistake(
        "turns, not a share",
        _with(of=lambda waiting, micro_batches: waiting),
        "That is how many turns a stage waits. Which share is it of all turns?",
    ),
    Mistake(
        "a share in percent",
        _with(
            of=lambda waiting, micro_batches: 100 * waiting / (micro_batches + waiting)
        ),
        "A share goes from 0 to 1; that is a percentage.",
    ),
    Mistake(
        "micro-batches that don't count",
        _with(of=lambda waiting, micro_batches: waiting / (waiting + 1)),
        "The more micro-batches, the less the waiting weighs: each takes a turn.",
    ),
)


def _exchanged(stages, micro_batches, chunks):
    return share(micro_batches, stages, chunks)


WHAT_IS_WHAT = (
    Mistake(
        "stages and micro-batches exchanged",
        _exchanged,
        "It waits while the first one passes the other stages, and works once for "
        "each.",
    ),
    Mistake(
        "the step without chunks",
        lambda stages, micro_batches, chunks: (
            (stages - 1) / chunks / (micro_batches + stages - 1)
        ),
        "With shorter turns of waiting, the whole step is shorter, too: its turns are "
        "those of the micro-batches, and the waiting as it is.",
    ),
)


NAMES = ("stages", "micro_batches", "chunks")


def _pipelines():
    sizes = {
        "one stage": (1, 3, 1),
        "two stages, one micro-batch": (2, 1, 1),
        "two stages, two micro-batches": (2, 2, 1),
        "four stages, six micro-batches": (4, 6, 1),
        "three stages in two chunks": (3, 4, 2),
        "four stages in two chunks": (4, 2, 2),
        "one stage in four chunks": (1, 2, 4),
        "Llama 3 on 16,384 GPUs": (16, 16, 1),
        "Llama 3 on 8,192 GPUs": (16, 32, 1),
        "Llama 3 in four chunks": (16, 16, 4),
    }
    return [
        Case(name, dict(zip(NAMES, one, strict=True))) for name, one in sizes.items()
    ]


EXERCISE = Exercise(
    name="bubble_share",
    stub="my_bubble_share(stages, micro_batches, chunks)",
    asks=(
        "a function of the number of stages in a pipeline, of the micro-batches that "
        "pass it in a step, and of the chunks of layers in each stage, that returns "
        "which share of the step is the bubble, from 0 to 1."
    ),
    returns={"share": "a number"},
    reference=share,
    cases=_pipelines,
    run=call_for_any_number,
    mistakes=(*HOW_LONG_IT_WAITS, *WHICH_SHARE_IT_IS, *WHAT_IS_WHAT),
)
