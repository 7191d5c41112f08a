"""Run every experiment but the story model's.

Of those that train many models, only what their records lack.
"""

import sys

from experiments import (
    directions,
    heads,
    induction,
    ladder,
    many,
    optimisation,
    parts,
    positions,
    short_contexts,
)
from experiments.running import main

parts.main()
for module in (
    *(directions, heads, induction, optimisation, positions, short_contexts),
    ladder,
):
    name = module.__name__.removeprefix("experiments.")
    many.main(name, module.wanted, module.train_one)
sys.exit(main(["alignments", "shakespeare"]))
