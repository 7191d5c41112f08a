"""The page of the book that shows the log."""

import collections
import pathlib

from public_bugs.log import KINDS, Bug

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[1] / "chapters" / "public_bugs.md"
TEMPLATE = HERE / "template.md"
EXAMPLE = "PromptUnmasked"  # whose entry the page shows


def page(entries: list[Bug]) -> str:
    """The page as Markdown."""
    caught = [one for one in entries if one.line]
    missed = [one for one in entries if not one.line]
    lines = collections.Counter(one.line for one in caught)
    return TEMPLATE.read_text(encoding="utf-8").format(
        bugs=len(entries),
        repositories=len({one.repository for one in entries}),
        first=min(one.year for one in entries),
        last=max(one.year for one in entries),
        caught=len(caught),
        missed=len(missed),
        lines=", ".join(f"`{line}` {count}" for line, count in lines.most_common()),
        found="\n".join(_kinds(caught)),
        unfound="\n".join(f"- {one.says} {link(one)}: {one.missed}." for one in missed),
        example=entry(EXAMPLE, entries),
    )


def link(one: Bug) -> str:
    """The report; GitHub leads from an issue's address to a pull request's."""
    address = f"https://github.com/{one.repository}/issues/{one.number}"
    return f"[{one.repository} #{one.number}]({address}), {one.year}"


def _kinds(caught):
    """A list for each kind."""
    for kind in KINDS:
        items = [
            f"- {one.says} {link(one)}: `{one.line}`."
            for one in caught
            if one.kind == kind
        ]
        if items:
            yield f"### {kind.capitalize()}: {len(items)}\n"
            yield from [*items, ""]


def entry(name: str, entries: list[Bug]) -> str:
    """The code that enters a class into the log."""
    kind = next(one.kind for one in entries if one.layer.__name__ == name)
    text = (HERE / f"{kind}.py").read_text(encoding="utf-8")
    parts = text.split("\n\n\n")
    return next(part for part in parts if f"\nclass {name}(" in part).strip()
