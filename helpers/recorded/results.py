"""What the experiments gave when they were run, as they wrote it down."""

import json
import pathlib
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent
NAMES = ("shakespeare",)
OF_RUNS = (
    *("directions", "heads", "induction", "recipe_ablations", "learning_in_the_page"),
    *("optimisation", "block_ablations", "positions", "processes", "short_contexts"),
    *("two_core_minute", "dates", "lora"),
)


def record(name: str) -> dict[str, Any]:
    """Read an experiment of many training runs.

    Args:
        name: one of ``OF_RUNS``.

    Returns:
        record: a dict of the "runs", a list of dicts, each with a training's settings
            and what was measured; and of what else ``experiments.NAME`` wrote down.

    Raises:
        ValueError: an unknown name.
    """
    if name not in OF_RUNS:
        raise ValueError(f"name must be one of {', '.join(OF_RUNS)}, got {name!r}")
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


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
