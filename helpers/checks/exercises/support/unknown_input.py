"""What a function does about input from outside its range, as facts to compare."""

from helpers.checks.cases import Mistake
from helpers.checks.comparing import describe


def refusal(function, value, alphabet, wrong):
    """What a function does about one value from outside the alphabet, as facts.

    Args:
        function: encodes or decodes.
        value: a text or a list of ids.
        alphabet: a string.
        wrong: the character or id in ``value`` that the alphabet lacks.

    Returns:
        facts: a dict of texts and a truth value.
    """
    message, named = "", isinstance(wrong, str)
    try:
        error = f"none, it returned {describe(function(value, alphabet))}"
    except ValueError as caught:
        # A message that repeats the whole text or list doesn't say what is wrong.
        error, message = "ValueError", str(caught).replace(str(value), "")
    except (LookupError, AssertionError) as caught:
        error = type(caught).__name__
    counts = "".join(c if c.isdigit() else " " for c in message).split()
    what = "character" if named else "id"
    return {
        "the error": error,
        f"its message names the {what}": (
            str(wrong) in message and (named or str(abs(wrong)) in counts)
        ),
        "its message names the position": _named(value.index(wrong), counts),
    }


def _named(position, counts):
    if str(position) in counts:
        return "yes"
    return "counted from 1" if str(position + 1) in counts else "no"


def behind(guard, mistakes):
    """The same mistakes, made by readers who rightly refuse what lies outside.

    Args:
        guard: a right solution, called before the mistaken one.
        mistakes: each a Mistake.

    Returns:
        mistakes: a tuple, of the same names.
    """

    def guarded(wrong):
        def function(value, alphabet):
            guard(value, alphabet)
            return wrong(value, alphabet)

        return function

    return tuple(Mistake(one.name, guarded(one.function), one.why) for one in mistakes)
