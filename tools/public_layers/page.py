"""The page of the book that shows the record."""

import collections
import pathlib

from tools.public_layers.verdicts import KINDS, VERDICTS

PAGE = pathlib.Path(__file__).parents[2] / "chapters/public_layers.md"
PASSES, FAILS, SKIPPED = "passes", "FAILS", "not applicable"

TEMPLATE = pathlib.Path(__file__).parent / "template.md"


def page(record):
    """The page as Markdown, from a record as ``tools.public_layers`` writes it."""
    layers = record["layers"]
    clean = sum(not of(layer, FAILS) for layer in layers)
    kinds = collections.Counter(verdict.kind for verdict in VERDICTS)
    return TEMPLATE.read_text(encoding="utf-8").format(
        layers=len(layers),
        packages=len(record["versions"]),
        clean=clean,
        others=len(layers) - clean,
        verdicts=len(VERDICTS),
        kinds=", ".join(f"{kinds[kind]} {kind}s" for kind in KINDS),
        lines=len(layers[0]["rows"]),
        table="\n".join(_packages(record)),
        found="\n".join(_verdicts(record)),
        details="\n".join(_details(record)),
    )


def of(layer, result):
    """A layer's rows with this result, as [check, result, reason]."""
    return [row for row in layer["rows"] if row[1] == result]


def _packages(record):
    for package, version in record["versions"].items():
        own = [layer for layer in record["layers"] if layer["package"] == package]
        passing, failing = (
            sum(len(of(x, kind)) for x in own) for kind in (PASSES, FAILS)
        )
        yield f"| {package} {version} | {len(own)} | {passing} | {failing} |"


def _verdicts(record):
    reasons = {
        (layer["name"], check): reason
        for layer in record["layers"]
        for check, _, reason in of(layer, FAILS)
    }
    for kind, meaning in KINDS.items():
        found = [
            pair
            for pair in zip(VERDICTS, record["mended"], strict=True)
            if pair[0].kind == kind
        ]
        if found:
            yield f"### {kind.capitalize()}s\n\n{meaning}\n"
        for verdict, mended in found:
            names = "; ".join(f"**{name}**" for name in verdict.layers)
            reason = reasons[verdict.layers[0], verdict.checks[0]]
            yield f"- {names}: {_named(verdict.checks)}, `{reason}`"
            passes = " *With that changed, it passes.*" if mended else ""
            yield f"\n  {verdict.words}{passes} (`{verdict.source}`)\n"


def _named(checks):
    return ", ".join(f"“{check}”" for check in checks)


def _details(record):
    for package, version in record["versions"].items():
        yield f"\n### {package} {version}\n"
        for layer in record["layers"]:
            if layer["package"] == package:
                yield from _layer(layer)


def _layer(layer):
    counts = {kind: len(of(layer, kind)) for kind in (PASSES, FAILS)}
    yield (
        f"<details><summary>{layer['name']}: {counts[PASSES]} pass, "
        f"{counts[FAILS]} fail</summary>\n"
    )
    if layer["declared"]:
        yield f"- declared: `{layer['declared']}`"
    for check, _, reason in of(layer, FAILS):
        yield f"- **fails:** “{check}”, `{reason}`"
    yield f"- passes: {_named(check for check, *_ in of(layer, PASSES))}"
    grouped = collections.defaultdict(list)
    for check, _, reason in of(layer, SKIPPED):
        grouped[reason].append(check)
    for reason, checks in grouped.items():
        yield f"- not applicable: {_named(checks)}, `{reason}`"
    yield "\n</details>\n"
