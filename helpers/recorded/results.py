"""What the experiments gave when they were run, as they wrote it down."""

import json
import pathlib
from collections.abc import Sequence
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent
NAMES = ("shakespeare",)
OF_RUNS = (
    *("heads", "induction", "recipe_ablations", "learning_in_the_page"),
    *("optimisation", "block_ablations", "positions", "processes", "short_contexts"),
    *("two_core_minute", "dates", "lora", "real_model", "reading_on"),
    *("recall", "memory_cost", "latent_attention"),
    "block_parts",
)


def path(name: str) -> pathlib.Path:
    """Where an experiment's record lies.

    Args:
        name: one of ``NAMES`` or ``OF_RUNS``.

    Returns:
        path: a ``pathlib.Path`` to a JSON file.

    Raises:
        ValueError: an unknown name.
    """
    return _path(name, (*NAMES, *OF_RUNS))


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
    return _content(_path(name, OF_RUNS))


def runs(name: str, **settings: object) -> list[dict[str, Any]]:
    """The runs of a record that were made with certain settings.

    Args:
        name: one of ``OF_RUNS``.
        settings: what a run must have, such as ``study="sinks", text="code"``.

    Returns:
        runs: a list of dicts, in the record's order.

    Raises:
        ValueError: an unknown name, or settings that no run has.
    """
    found = [
        run
        for run in record(name)["runs"]
        if all(key in run and run[key] == value for key, value in settings.items())
    ]
    if not found:
        raise ValueError(f"settings must be a run's of {name!r}, got {settings!r}")
    return found


def read(name: str, *, short: bool = False) -> dict[str, Any]:
    """Read what an experiment gave that is one run.

    Args:
        name: one of ``NAMES``.
        short: the result of the short run, which is there for the tests.

    Returns:
        rows: what the ``run`` of ``experiments.NAME`` returned.

    Raises:
        ValueError: an unknown name.
    """
    rows: dict[str, Any] = _content(_path(name, NAMES))["short" if short else "full"]
    return rows


def _path(name: str, names: Sequence[str]) -> pathlib.Path:
    if name not in names:
        raise ValueError(f"name must be one of {', '.join(names)}, got {name!r}")
    return FOLDER / f"{name}.json"


def _content(path: pathlib.Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content
