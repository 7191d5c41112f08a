"""Exercise of the page "A thousand machines": how long a pipeline waits."""

from helpers.checks.cases import Case
from helpers.checks.exercise import Exercise
from helpers.checks.exercises.support.calling_for_numbers import call_for_any_number
from helpers.checks.exercises.support.pipeline_mistakes import (
    HOW_LONG_IT_WAITS,
    WHAT_IS_WHAT,
    WHICH_SHARE_IT_IS,
    share,
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
