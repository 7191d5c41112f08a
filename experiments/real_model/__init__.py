"""SmolLM2-135M and MiniLM are asked what small models showed, one study a module.

A study has a ``PLAN``, the settings of its runs, and ``measure(settings)``, what one of
them finds. All runs lie in one record, under the name of their study.
"""

import importlib
from typing import Any

from experiments import many
from helpers.recorded.sweeps import has

STUDIES = (
    *("sinks", "copying", "pronouns", "head_claims", "two_meanings", "circuit"),
    "head_readings",
    "other_askers",
)


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks, of all studies."""
    plan = [{"study": name} | one for name in STUDIES for one in _study(name).PLAN]
    return [one for one in plan if not any(has(run, one) for run in record["runs"])]


def measure(settings: many.Settings) -> many.Run:
    """What one run of a study finds."""
    own = {name: one for name, one in settings.items() if name != "study"}
    found: many.Run = _study(settings["study"]).measure(own)
    return found


def _study(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{name}")
