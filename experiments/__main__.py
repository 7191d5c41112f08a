"""Run what trains for a chapter's record; of many models, only what the record lacks.

The story model, the trainer in the page, the processes' times, what a memory costs, the
two-core minute and what real models are asked are run by themselves.
"""

import sys

from experiments import (
    block_ablations,
    block_parts,
    dates,
    heads,
    induction,
    latent_attention,
    lora,
    many,
    optimisation,
    positions,
    reading_on,
    recall,
    recipe_ablations,
    short_contexts,
)
from experiments.running import main

many.processes_asked("experiments", __doc__)  # which each of them reads, too
block_ablations.main()
for module in (
    *(block_parts, dates, heads, induction),
    *(latent_attention, lora, optimisation, positions, reading_on, recall),
    *(short_contexts, recipe_ablations),
):
    name = module.__name__.removeprefix("experiments.")
    many.main(name, module.wanted, module.train_one)
sys.exit(main(["shakespeare"]))
