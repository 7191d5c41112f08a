"""An audit as SARIF 2.1.0, which code hosts and editors show beside the lines."""

import inspect
import pathlib
import re
import urllib.parse
from typing import TYPE_CHECKING, Any

from attention_audit import __version__
from attention_audit.explained import CHECKS

if TYPE_CHECKING:
    from torch import nn

    from attention_audit import Audit
    from attention_audit.report import Row

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
PLACE = re.compile(r" at (\S.*?\.py):(\d+)")


def sarif(
    found: "Audit", layer: "nn.Module", allowed: tuple[str, ...]
) -> dict[str, Any]:
    """What an audit found, as one log with one run.

    Args:
        found: the Audit.
        layer: what was audited: a failing check stands at the line that its reason
            names, or else at the layer's class.
        allowed: names of checks that may fail; they are suppressed notes.
    """
    failing = [row for row in found.rows if row.check in found.failed]
    results = [_result(found, row, layer, allowed) for row in failing]
    rules = [
        {
            "id": row.check,
            "shortDescription": {"text": CHECKS[row.check].holds.replace("`", "")},
            "help": {"text": f"look at: {CHECKS[row.check].look_at}".replace("`", "")},
        }
        for row in failing
    ]
    driver = {"name": "attention-audit", "version": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not found.unrun}],
        "results": results,
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(
    found: "Audit", row: "Row", layer: "nn.Module", allowed: tuple[str, ...]
) -> dict[str, Any]:
    check, reason = row.check, row.reason
    lines = [f"{found.name}: {check}: {reason}"]
    if told := found.told().get(check):
        means, (first, second) = told
        lines += [f"means: {means}", f"likely: {first}; or {second}"]
    text = "\n".join(lines).replace("`", "")
    result: dict[str, Any] = {
        "ruleId": check,
        "level": "note" if check in allowed else "error",
        "message": {"text": text},
        "locations": _locations(reason, layer),
    }
    if check in allowed:
        result["suppressions"] = [{"kind": "external"}]
    return result


def line_of(found: "Audit", check: str, layer: "nn.Module") -> str:
    """Where a failing check stands, such as "layers.py:18", or ""."""
    reason = next(row.reason for row in found.rows if row.check == check)
    for one in _locations(reason, layer):
        place = one["physicalLocation"]
        uri = urllib.parse.unquote(place["artifactLocation"]["uri"])
        return f"{uri.removeprefix('file://')}:{place['region']['startLine']}"
    return ""


def _locations(reason: str, layer: "nn.Module") -> list[dict[str, Any]]:
    """The line that a reason names, or that of the layer's class, if either is known.

    A file below the current folder is named from there.
    """
    named = PLACE.search(reason)
    if named and pathlib.Path(named[1]).is_file():
        file, line = pathlib.Path(named[1]).absolute(), int(named[2])
    else:
        try:
            file = pathlib.Path(inspect.getfile(type(layer))).absolute()
            line = inspect.getsourcelines(type(layer))[1]
        except (TypeError, OSError):  # made by exec, or in C
            return []
    here = pathlib.Path.cwd()
    inside = file.is_relative_to(here)
    path = file.relative_to(here).as_posix() if inside else ""
    place = {
        "artifactLocation": {"uri": urllib.parse.quote(path) or file.as_uri()},
        "region": {"startLine": max(line, 1)},
    }
    return [{"physicalLocation": place}]
