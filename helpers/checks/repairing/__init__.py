"""What a reader's code would have to say for its results to be right."""

from helpers.checks.repairing.search import SECONDS, Repair, Trial, repair

__all__ = ["SECONDS", "Repair", "Trial", "repair"]
