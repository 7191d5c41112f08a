"""Figures of hardware and of other people's models, each with the place it is read at.

Chapters and the estimates of ``helpers.parallel`` take such figures from here, and
``chapters/sources.md`` shows them as one table.
"""

import json
import pathlib
from typing import Any

FILE = pathlib.Path(__file__).with_name("published.json")
UNITS = {
    "": 1.0,
    "%": 0.01,
    "Gbit/s": 1e9 / 8,  # bytes, as all that follow
    "GB/s": 1e9,
    "TB/s": 1e12,
    "KiB": 2.0**10,
    "MB": 1e6,
    "GB": 1e9,
    "MHz": 1e6,
    "W": 1.0,
    "TFLOP/s": 1e12,
    "million hours": 1e6,
}


def entries() -> list[dict[str, Any]]:
    """All figures, in the order of the table.

    Returns:
        entries: dicts of a figure's "key", its "value" and "unit", "what" it is, the
            "work" with its "address", the "place" there, and when it was "read".
    """
    found: dict[str, list[dict[str, Any]]] = json.loads(FILE.read_text("utf-8"))
    return found["figures"]


def figure(key: str) -> float:
    """One figure as a number, in bytes, seconds, hertz, hours, watts or operations.

    Args:
        key: the name of an entry with a single value, "H100 bandwidth" for example.

    Returns:
        number: the value times its unit: 3.35e12 for 3.35 TB/s, 0.35 for 35 %.

    Raises:
        ValueError: an unknown key, or an entry with several values.
    """
    entry = _entry(key)
    value = entry["value"]
    if isinstance(value, dict):
        raise ValueError(f"key must name a single value, got {key!r}: use sizes")
    return float(value) * UNITS[entry["unit"]]


def sizes(key: str) -> dict[str, Any]:
    """The values of an entry that has several, such as a model's sizes.

    Args:
        key: the name of an entry with several values, "Llama 3 8B" for example.

    Returns:
        sizes: a dict; the same names as in ``TransformerConfig``, where it has them.

    Raises:
        ValueError: an unknown key, or an entry with a single value.
    """
    value = _entry(key)["value"]
    if not isinstance(value, dict):
        raise ValueError(f"key must name several values, got {key!r}: use figure")
    return dict(value)


def table() -> list[str]:
    """The lines of the table in ``chapters/sources.md``."""
    lines = ["| figure | value | place | read |", "|---|---|---|---|"]
    for entry in entries():
        place = f"[{entry['work']}]({entry['address']}), {entry['place']}"
        row = (entry["what"], _shown(entry), place, entry["read"])
        lines.append(f"| {' | '.join(row)} |")
    return lines


def _shown(entry: dict[str, Any]) -> str:
    value = entry["value"]
    if isinstance(value, dict):
        parts = (f"{name.replace('_', ' ')} {one:,}" for name, one in value.items())
        return ", ".join(parts)
    return f"{value:,} {entry['unit']}".strip()


def _entry(key: str) -> dict[str, Any]:
    found = {entry["key"]: entry for entry in entries()}
    if key not in found:
        raise ValueError(f"key must be one of {', '.join(found)}, got {key!r}")
    return found[key]


if __name__ == "__main__":
    print("\n".join(table()))
