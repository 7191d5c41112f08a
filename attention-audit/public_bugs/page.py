"""The page of the book that shows the log."""

import collections
import pathlib

from public_bugs.log import Bug

HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[1] / "chapters" / "public_bugs.md"
TEMPLATE = HERE / "template.md"
EXAMPLE = "PromptUnmasked"  # whose entry the page shows


def page(entries: list[Bug]) -> str:
    """The page as Markdown."""
    caught = [one for one in entries if one.line]
    missed = [one for one in entries if not one.line]
    lines = collections.Counter(one.line for one in caught).most_common()
    return TEMPLATE.read_text(encoding="utf-8").format(
        bugs=len(entries),
        repositories=len({one.repository for one in entries}),
        first=min(one.year for one in entries),
        last=max(one.year for one in entries),
        caught=len(caught),
        missed=len(missed),
        lines=", ".join(f"[`{line}`](#{_target(line)}) {n}" for line, n in lines),
        found="\n".join(_by_check(caught, lines)),
        unfound="\n".join(_by_reason(missed)),
        example=entry(EXAMPLE, entries),
    )


def link(one: Bug) -> str:
    """The report; GitHub leads from an issue's address to a pull request's."""
    address = f"https://github.com/{one.repository}/issues/{one.number}"
    return f"[{one.repository} #{one.number}]({address}), {one.year}"


def _target(line):
    """Where the bugs of a check stand on the page."""
    return "bugs-" + "-".join(line.replace(",", "").split())


def _by_check(caught, lines):
    """A list for each check, those of one kind side by side."""
    for line, count in lines:
        yield f"({_target(line)})=\n### `{line}`: {count}\n"
        yield from (f"- {one.says} {link(one)}." for one in caught if one.line == line)
        yield ""


def _by_reason(missed):
    """The bugs that have one reason stand under it."""
    reasons = collections.defaultdict(list)
    for one in missed:
        reasons[one.missed].append(f"{one.says} {link(one)}")
    for reason, bugs in reasons.items():
        if len(bugs) == 1:
            yield f"- {bugs[0]}: {reason}."
        else:
            yield f"- {reason[0].upper()}{reason[1:]}:"
            yield from (f"  - {bug}." for bug in bugs)


def entry(name: str, entries: list[Bug]) -> str:
    """The code that enters a class into the log."""
    kind = next(one.kind for one in entries if one.layer.__name__ == name)
    text = (HERE / f"{kind}.py").read_text(encoding="utf-8")
    parts = text.split("\n\n\n")
    return next(part for part in parts if f"\nclass {name}(" in part).strip()
