"""The page of the book that shows the record."""

import collections
import datetime
import html
import pathlib

from public_layers.verdicts import KINDS, VERDICTS

PAGE = pathlib.Path(__file__).parents[2] / "chapters/public_layers.md"
PASSES, FAILS, SKIPPED = "passes", "FAILS", "not applicable"
IN_THE_MATRIX = {PASSES: "pass", FAILS: "<strong>FAIL</strong>", SKIPPED: "–"}

TEMPLATE = pathlib.Path(__file__).parent / "template.md"


def page(record):
    """The page as Markdown, from a record as ``public_layers`` writes it."""
    layers = record["layers"]
    clean = sum(not of(layer, FAILS) for layer in layers)
    kinds = collections.Counter(verdict.kind for verdict in VERDICTS)
    asked = [len(layer["rows"]) - len(of(layer, SKIPPED)) for layer in layers]
    day = datetime.date.fromisoformat(record["date"])
    return TEMPLATE.read_text(encoding="utf-8").format(
        layers=len(layers),
        packages=len(record["versions"]),
        date=f"{day.day} {day:%B %Y}",
        clean=clean,
        others=len(layers) - clean,
        verdicts=len(VERDICTS),
        kinds=", ".join(
            f"{kinds[kind]} {kind}s" for kind in ("bug", "design", "false alarm")
        ),
        nans=kinds["NaN"],
        checks=len(layers[0]["rows"]),
        least=min(asked),
        most=max(asked),
        mean=f"{sum(asked) / len(asked):.1f}",
        never=_never(layers),
        table="\n".join(_packages(record)),
        found="\n".join(_verdicts(record)),
        matrix="\n".join(_matrix(record)),
    )


def of(layer, result):
    """A layer's rows with this result, as [check, result, reason]."""
    return [row for row in layer["rows"] if row[1] == result]


def _never(layers):
    """The checks that ran on no layer."""
    left = [{check for check, *_ in of(layer, SKIPPED)} for layer in layers]
    return " and ".join(f"`{check}`" for check in sorted(set.intersection(*left)))


def _packages(record):
    for package, version in record["versions"].items():
        own = [layer for layer in record["layers"] if layer["package"] == package]
        counts = (
            sum(len(of(x, kind)) for x in own) for kind in (PASSES, FAILS, SKIPPED)
        )
        numbers = " | ".join(str(count) for count in (len(own), *counts))
        yield f"| {package} {version} | {numbers} |"


def _verdicts(record):
    reasons = {
        (layer["name"], check): reason
        for layer in record["layers"]
        for check, _, reason in of(layer, FAILS)
    }
    for kind, (heading, meaning) in KINDS.items():
        found = [
            one
            for one in zip(VERDICTS, record["mended"], record["lines"], strict=True)
            if one[0].kind == kind
        ]
        if found:
            layers = sum(len(verdict.layers) for verdict, *_ in found)
            yield f"### {heading.format(layers=layers)}\n\n{meaning}\n"
        for verdict, mended, lines in found:
            names = "; ".join(f"**{name}**" for name in verdict.layers)
            checks = ", ".join(f"“{check}”" for check in verdict.checks)
            reason = reasons[verdict.layers[0], verdict.checks[0]]
            yield f"- {names}: {checks}, `{reason}`"
            passes = " *With that changed, it passes.*" if mended else ""
            which = "line" if len(lines) == 1 else "lines"
            where = f"`{verdict.source}`, {which} {', '.join(map(str, lines))}"
            yield f"\n  {verdict.words}{passes} ({where})\n"


def _matrix(record):
    """A table of HTML: a row for each layer, a column for each check."""
    checks = [check for check, *_ in record["layers"][0]["rows"]]
    head = "".join(f'<th scope="col"><span>{check}</span></th>' for check in checks)
    yield f'<thead><tr><th scope="col">layer</th>{head}</tr></thead>'
    for package, version in record["versions"].items():
        across = f'colspan="{len(checks) + 1}" scope="rowgroup"'
        yield f"<tbody><tr><th {across}><span>{package} {version}</span></th></tr>"
        for layer in record["layers"]:
            if layer["package"] == package:
                cells = "".join(
                    f"<td>{IN_THE_MATRIX[result]}</td>"
                    for _, result, _ in layer["rows"]
                )
                name = html.escape(layer["name"])
                yield f'<tr><th scope="row">{name}</th>{cells}</tr>'
        yield "</tbody>"
