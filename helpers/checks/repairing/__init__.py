"""What a reader's code would have to say for its results to be right."""

from helpers.checks.repairing.search import MOST_STEPS, SECONDS, Trial, repair
from helpers.checks.repairing.work import steps

__all__ = ["MOST_STEPS", "SECONDS", "Trial", "repair", "steps"]
