"""Say in one line what a machine lacks, before make installs or builds anything.

    python tools/machine.py install .venv
    python tools/machine.py build _build

It runs under whatever Python it meets, so it is written as the oldest one reads it.
"""

import os
import sys

OLDEST = (3, 11)
LIBRARIES_GB = 2  # they take 1.6 with PyTorch for the CPU
BUILD_GB = 0.1  # the built book takes 0.03


def lacking(environment):
    """What is missing first for an environment in that folder; "" where nothing is."""
    if sys.version_info < OLDEST:
        found = ".".join(map(str, sys.version_info[:3]))
        return (
            "The book needs Python 3.11 or newer; this is "
            + found
            + ". Try: make PYTHON=python3.13 book"
        )
    import importlib.util

    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            return (
                "This Python can't make a virtual environment: it has no module "
                + module
                + ". On Debian and Ubuntu: apt-get install python3-venv"
            )
    if os.path.exists(environment):
        return ""
    return short_of_room(environment, "the book's libraries need", LIBRARIES_GB)


def short_of_room(folder, needs, gigabytes):
    """That the disk of a folder, which may not exist yet, is too full; "" if not."""
    import shutil

    folder = os.path.abspath(folder)
    if not os.path.exists(folder):
        folder = os.path.dirname(folder)
    free = shutil.disk_usage(folder).free / 1e9
    if free >= gigabytes:
        return ""
    line = "{0} has {1:.2f} GB free; {2} at least {3} GB"
    return line.format(folder, free, needs, gigabytes)


if __name__ == "__main__":
    if sys.argv[1] == "install":
        sys.exit(lacking(sys.argv[2]) or 0)
    sys.exit(short_of_room(sys.argv[2], "a build needs", BUILD_GB) or 0)
