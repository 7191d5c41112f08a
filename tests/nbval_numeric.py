"""A pytest plugin on nbval: numbers may differ by one unit in their last printed place.

Everything else that a cell prints must be the same to the letter. A number has digits
on both sides of a decimal point; whole numbers are text, so a changed shape fails, and
so is what a letter follows ("0.5s"). nbval runs the cells
and collects the outputs; only its equality of strings is replaced.

Notebooks run as ``make notebooks`` runs them, without progress bars and widgets. The
plugin also prints how long each notebook took.
"""

import collections
import os
import re
import sys
from decimal import Decimal

from nbval.plugin import IPyNbCell

from tests import warm_kernels

# The spaces before a number belong to it: a column stays aligned when a digit or a sign
# comes or goes.
NUMBER = re.compile(
    r"( *[-+]?)(?<![\w.])(\d+\.\d+(?:e[-+]?\d+)?)(?![\w.]*\w)", re.ASCII | re.I
)
# A View's HTML names its own content by a hash, which changes with every number in it.
VIEW_KEY = re.compile(r'data-view="[0-9a-f]{12}"')

DRAWING = "image/svg+xml"

SECONDS = collections.Counter()
# PyTorch can't start processes on Windows that find each other.
NEEDS_PROCESSES = ("15_many_machines.ipynb", "dividing.ipynb")


def pytest_ignore_collect(collection_path):
    """Leave out what can't run here; None leaves it to others."""
    return True if _is_impossible(collection_path.name, sys.platform) else None


def _is_impossible(name, system):
    return system == "win32" and name in NEEDS_PROCESSES


def close(one, other):
    """Whether two texts are equal but for the last printed place of their numbers."""
    one, other = (VIEW_KEY.sub("data-view", text) for text in (one, other))
    groups = NUMBER.groups + 1
    if NUMBER.split(one)[::groups] != NUMBER.split(other)[::groups]:
        return False  # the text between the numbers differs
    pairs = zip(NUMBER.finditer(one), NUMBER.finditer(other), strict=True)
    return all(_close_numbers(a, b) for a, b in pairs)


def _close_numbers(a, b):
    """Two matches: values within one unit of the last place, and aligned alike."""
    spaces_a, spaces_b = a[1].rstrip("+-"), b[1].rstrip("+-")
    if len(a[0]) != len(b[0]) and spaces_a != spaces_b:
        return False
    if ("+" in a[1]) != ("+" in b[1]) or _form(a[2]) != _form(b[2]):
        return False
    one_unit = max(_last_place(a[2]), _last_place(b[2]))
    return abs(_value(a) - _value(b)) <= one_unit


def _form(number):
    """How many digits stand behind the point, and whether an exponent does."""
    mantissa, exponent, _ = number.lower().partition("e")
    return len(mantissa.partition(".")[2]), exponent


def _value(match):
    return Decimal(match[0].strip())


def _last_place(number):
    return Decimal(1).scaleb(Decimal(number).as_tuple().exponent)


class Printed(str):
    """Text that equals another if close() says so."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other):
        return close(str(self), str(other)) if isinstance(other, str) else False

    def __ne__(self, other):
        return not self == other


def pytest_configure(config):
    """Kernels inherit this, and are forked where they can be."""
    warm_kernels.use()
    os.environ["BOOK_STATIC"] = "1"
    # Where the home folder can't be written, Matplotlib would warn in every notebook.
    os.environ["MPLCONFIGDIR"] = str(config.rootpath / "_build" / "mplconfigdir")


def pytest_itemcollected(item):
    """Let nbval compare Printed instead of str, and a picture by its words alone."""
    if isinstance(item, IPyNbCell):
        if DRAWING not in item.parent.skip_compare:
            item.parent.skip_compare += (DRAWING,)
        sanitize = item.sanitize
        item.sanitize = lambda output: (
            Printed(sanitize(output)) if isinstance(output, str) else output
        )


def pytest_runtest_logreport(report):
    """Add up the seconds of each notebook, with the start of its kernel."""
    path = report.nodeid.partition("::")[0]
    if path.endswith(".ipynb"):
        SECONDS[path] += report.duration


def pytest_terminal_summary(terminalreporter):
    """Print each notebook's seconds."""
    if SECONDS:
        terminalreporter.section("seconds a notebook")
        for path, seconds in sorted(SECONDS.items()):
            terminalreporter.line(f"{seconds:6.1f}  {path}")
        terminalreporter.line(f"{sum(SECONDS.values()):6.1f}  in all")
