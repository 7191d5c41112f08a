"""What the experiments gave when they were run, as they wrote it down."""

import json
import pathlib
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent
NAMES = ("alignments", "ladder", "context_lengths", "shakespeare")
RUNS = ("optimisation",)  # records of many trainings


def runs(name: str) -> list[dict[str, Any]]:
    """Read every training of an experiment.

    Args:
        name: one of ``RUNS``.

    Returns:
        runs: a list of dicts, each with a training's settings and what was measured.

    Raises:
        ValueError: an unknown name.
    """
    if name not in RUNS:
        raise ValueError(f"name must be one of {', '.join(RUNS)}, got {name!r}")
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)["runs"]


def path(name: str) -> pathlib.Path:
    """Where an experiment's record lies.

    Args:
        name: one of ``NAMES``.

    Returns:
        path: a ``pathlib.Path`` to a JSON file.

    Raises:
        ValueError: an unknown name.
    """
    if name not in NAMES:
        raise ValueError(f"name must be one of {', '.join(NAMES)}, got {name!r}")
    return FOLDER / f"{name}.json"


def read(name: str, *, short: bool = False) -> dict[str, Any]:
    """Read what an experiment gave.

    Args:
        name: one of ``NAMES``.
        short: the result of the short run, which is there for the tests.

    Returns:
        rows: what the ``run`` of ``experiments.NAME`` returned.

    Raises:
        ValueError: an unknown name.
    """
    text = path(name).read_text(encoding="utf-8")
    return json.loads(text)["short" if short else "full"]
