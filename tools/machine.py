"""What a machine lacks, and which PyTorch suits it, asked before make installs.

    python tools/machine.py install .venv    can an environment be made there?
    python tools/machine.py torch auto       install the PyTorch that suits the machine
    python tools/machine.py build _build     is there room for the built book?

Each answers in one line. The file runs under whatever Python it meets, before any
library is there, so it is written as the oldest one reads it and imports only Python's
own modules.
"""

import os
import sys

OLDEST = (3, 11)
LIBRARIES_GB = 2  # they take 1.6 with PyTorch for the CPU
BUILD_GB = 0.1  # the built book takes 0.03
# PyTorch's own index: on Linux, its builds are without CUDA, a tenth of the size.
CPU_WHEELS = "https://download.pytorch.org/whl/cpu"
SECONDS = "15"
# The driver's command, its devices, and Windows' driver inside WSL.
SIGNS_OF_A_GPU = ("/dev/nvidia0", "/dev/nvidiactl", "/usr/lib/wsl/lib/nvidia-smi")


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


def has_gpu():
    """Whether a graphics card that CUDA runs on shows itself."""
    import shutil

    return bool(shutil.which("nvidia-smi")) or any(map(os.path.exists, SIGNS_OF_A_GPU))


def torch_wanted(choice):
    """Which build of PyTorch to install, and why.

    Arguments:
        choice: "auto", or the build that the reader asks for: "cpu" or "cuda".

    Returns:
        build: "cpu" for the one from PyTorch's own index, "cuda" for pip's default.
        why: in words.
    """
    if choice != "auto":
        return choice, "as TORCH={0} asks".format(choice)
    if not sys.platform.startswith("linux"):
        return "cuda", "which fits this system"
    if has_gpu():
        return "cuda", "because this machine has a GPU"
    return "cpu", "because no GPU was found"


def pinned_torch():
    """The line of requirements.txt that names PyTorch's version."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "requirements.txt")) as lines:
        return next(line.split()[0] for line in lines if line.startswith("torch=="))


def installed_torch():
    """The version that this environment holds, or None."""
    from importlib import metadata

    try:
        return metadata.version("torch")
    except metadata.PackageNotFoundError:
        return None


def install_torch(choice):
    """Install the pinned PyTorch; return what was taken and how to get the other.

    An environment that has that version keeps it, and the line is empty. The small
    build alone comes from PyTorch's own index. Any other, and also this one where that
    index doesn't answer, is left to pip, which installs it with all other libraries.
    """
    import subprocess

    pin = pinned_torch()
    version = pin.split("==")[1]
    if (installed_torch() or "").split("+")[0] == version:
        return ""
    build, why = torch_wanted(choice)
    line = "PyTorch {0} {1}, {2}. The other one: rm -rf .venv, then make TORCH={3} book"
    if build == "cpu":
        pip = [sys.executable, "-m", "pip", "install", "--quiet"]
        pip += ["--disable-pip-version-check", "--no-compile"]
        pip += ["--no-deps", "--retries", "0", "--timeout", SECONDS]
        with open(os.devnull, "w") as nowhere:  # a failure isn't the reader's to mend
            pip += ["--index-url", CPU_WHEELS, pin]
            if not subprocess.call(pip, stderr=nowhere):
                return line.format(version, "without CUDA", why, "cuda")
        why = "because {0} can't be reached".format(CPU_WHEELS)
    return line.format(version, "as pip finds it", why, "cpu")


if __name__ == "__main__":
    task, subject = sys.argv[1:]
    if task == "install":
        sys.exit(lacking(subject) or 0)
    if task == "build":
        sys.exit(short_of_room(subject, "a build needs", BUILD_GB) or 0)
    if subject not in ("auto", "cpu", "cuda"):
        sys.exit("TORCH is {0}; it must be auto, cpu or cuda".format(subject))
    taken = install_torch(subject)
    if taken:
        print(taken)
