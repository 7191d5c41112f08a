"""Run every experiment but the story model's, and rewrite their records."""

import sys

from experiments.running import main

sys.exit(main(["alignments", "ladder", "context_lengths", "shakespeare"]))
