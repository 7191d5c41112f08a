"""What checks and audit say of answers and layers by others, beside what is expected.

    python -m tools.corpora            # print the differences
    python -m tools.corpora accept     # take them over
    python -m tools.corpora show --all # judge what has not changed, too

A line of ``expected.jsonl``, which lies beside a corpus, is what a verdict comes to.
Where a right answer is refused or a wrong one accepted, it has a "why", written by
hand. ``judged.json`` says on which sources of a check, or of the audit, all verdicts
were the expected ones: while these are as they were, tests judge one member of each
verdict, and this command none.
"""

import argparse
import functools
import importlib
import importlib.util
import json
import pathlib
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grimp

from helpers import checks
from helpers.checks import exercises
from tests import ROOT, answers

# The tests of the audit are its own, and no package.
sys.path.append(str(ROOT / "attention-audit" / "tests"))
layers = importlib.import_module("corpus")


def of_answer(answer):
    """What the check's verdict on an Answer comes to.

    Returns:
        entry: a dict: whether it is accepted; where it isn't, the verdict's kind, and
            the known mistake's name, or whether the verdict shows a change that mends
            the code ("change"), says what the results have in common ("signs"), or
            nothing.
    """
    with warnings.catch_warnings(action="ignore"):  # a library's, at a reader's answer
        verdict = checks.EXERCISES[answer.check].examine(answer.solution)
    if verdict.ok:
        return {"accepted": True}
    told = verdict.mistake
    if told is None:
        mended = "very result" in "".join(verdict.signs)
        told = "change" if mended else "signs" if verdict.signs else "nothing"
    return {"accepted": False, "kind": verdict.kind, "told": told}


@functools.cache
def _imports():
    """Who imports whom among the modules of the book's library and of the audit."""
    return grimp.build_graph("helpers", "attention_audit", cache_dir=None)


def sources_of_check(name):
    """The files of a check, of all that it imports, and of the answers to it."""
    module = f"{exercises.__name__}.{name}"
    modules = {module, *_imports().find_upstream_modules(module)}
    files = [importlib.util.find_spec(one).origin for one in modules]
    return [*map(pathlib.Path, files), *ANSWERS.folder.glob(f"*/{name}.py")]


@dataclass(frozen=True)
class Corpus:
    """Answers or layers, and what is expected of their verdicts.

    Args:
        folder: where its members and the expectations stand.
        members: each with an id, its str, and ``right``.
        examine: gives what the verdict on a member comes to.
        group: the attribute by which members are judged together.
        sources: gives the files on which a group's verdicts depend.
    """

    folder: pathlib.Path
    members: list[Any]
    examine: Callable[[Any], dict[str, Any]]
    group: str
    sources: Callable[[str], list[pathlib.Path]]

    @property
    def path(self):
        """Where the expectations stand."""
        return self.folder / "expected.jsonl"

    @property
    def groups(self):
        """The names of all groups, each with its members."""
        found = {}
        for member in self.members:
            found.setdefault(getattr(member, self.group), []).append(member)
        return found

    def fingerprint(self, group, entries):
        """What the verdicts on a group depend on, and come to; see ``corpus``."""
        ids = map(str, self.groups[group])
        expected = [entries.get(id_, {}) for id_ in ids]
        return layers.fingerprint(self.sources(group), expected)

    def has_changed(self, group, entries):
        """Whether its verdicts were the expected ones on other sources, or never."""
        known = layers.judged(self.folder).get(group)
        return known != self.fingerprint(group, entries)

    def expected(self):
        """A dict of ids and entries."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return {entry.pop("id"): entry for entry in map(json.loads, lines)}

    def write(self, entries):
        """Write a dict of ids and entries."""
        lines = [json.dumps({"id": id_} | entry) for id_, entry in entries.items()]
        self.path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def __str__(self):
        return self.folder.name

    def differences(self, members, expected):
        """What the verdicts on some members come to, where that isn't expected.

        Args:
            members: some of its own.
            expected: a dict of ids and entries.

        Yields:
            member, entry: the member, and what its verdict comes to now.
        """
        for member in members:
            entry = self.examine(member)
            if entry != _without_why(expected.get(str(member), {})):
                yield member, entry


ANSWERS = Corpus(
    ROOT / "tests" / "answers", answers.ANSWERS, of_answer, "check", sources_of_check
)
LAYERS = Corpus(
    layers.FOLDER, layers.LAYERS, layers.Layer.verdict, "hand", layers.sources
)
CORPORA = [ANSWERS, LAYERS]


def _without_why(entry):
    return {key: value for key, value in entry.items() if key != "why"}


def told(member, before, now):
    """A difference as lines of a diff."""
    lines = [f"  {member}: {member.says}"]
    lines += [f"  - {json.dumps(before)}"] if before else []
    return "\n".join([*lines, f"  + {json.dumps(now)}"])


def unexplained(corpus, expected):
    """The ids of what is refused though right or accepted though wrong, and no why."""
    return [
        str(member)
        for member in corpus.members
        if expected[str(member)]["accepted"] != member.right
        and not expected[str(member)].get("why")
    ]


def compare(accept=False, everything=False):
    """Print what differs, and note which groups agree; with ``accept``, take it over.

    Args:
        accept: write what differs into ``expected.jsonl``.
        everything: judge the groups that have not changed since they agreed, too.

    Raises:
        SystemExit: verdicts differ, and aren't taken over.
    """
    count = 0
    for corpus in CORPORA:
        expected = corpus.expected() if corpus.path.exists() else {}
        entries = {str(one): expected.get(str(one), {}) for one in corpus.members}
        judged = layers.judged(corpus.folder)
        for group, members in corpus.groups.items():
            if not (everything or corpus.has_changed(group, expected)):
                continue
            differ = 0
            for member, entry in corpus.differences(members, expected):
                differ += 1
                before = entries[str(member)]
                print(told(member, before, entry), flush=True)
                if "why" in before and entry["accepted"] != member.right:
                    entry |= {"why": before["why"]}
                if accept:
                    entries[str(member)] = entry
            if accept or not differ:
                judged[group] = corpus.fingerprint(group, entries)
            count += differ
        if accept:
            corpus.write(entries)
            for id_ in unexplained(corpus, entries):
                print(f"write a why for {id_} into {corpus.path}")
        layers.write_judged(corpus.folder, judged)
    if count and not accept:
        differ = "1 verdict differs" if count == 1 else f"{count} verdicts differ"
        sys.exit(f"{differ}; python -m tools.corpora accept takes them over")


def main():
    """Compare, or accept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="?", choices=["show", "accept"], default="show")
    parser.add_argument("--all", action="store_true", help="what has not changed, too")
    given = parser.parse_args()
    compare(given.what == "accept", given.all)


if __name__ == "__main__":
    main()
