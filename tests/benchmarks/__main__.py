"""Print how fast the reference implementations are, and a real model in them.

`make bench` prints everything; `python -m tests.benchmarks attention` one part. Seconds
differ from machine to machine and from hour to hour; the ratios within one table hold
better. Nothing here asserts a time; `test_page.py`, run by itself, does.
"""

import sys

from helpers.notebook.device import choose_device
from tests.benchmarks.model_in_a_page import bench_model_in_a_page
from tests.benchmarks.real_model import bench_real_model
from tests.benchmarks.speed import bench_attention, bench_generation

PARTS = {
    "attention": bench_attention,
    "generation": bench_generation,
    "real_model": bench_real_model,
    "page": bench_model_in_a_page,
}


def main(names):
    """Print the tables asked for, or all."""
    unknown = sorted(set(names) - set(PARTS))
    if unknown:
        sys.exit(f"no such part: {', '.join(unknown)}; there are {', '.join(PARTS)}")
    device = choose_device()
    for name in names or PARTS:
        PARTS[name](device)


if __name__ == "__main__":
    main(sys.argv[1:])
