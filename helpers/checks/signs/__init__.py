"""What a wrong result shows, where no known mistake fits: facts, and no guesses.

Each wrong result yields sentences that are true of it, such as "The columns sum to 1 in
place of the rows". Those that hold on every input with a wrong result are told.
"""

from helpers.checks.signs.common import MOST_TOLD, signs

__all__ = ["MOST_TOLD", "signs"]
