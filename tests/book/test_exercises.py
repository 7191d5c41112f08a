"""The exercises and quizzes in the chapters: their cells, and how they fit."""

import ast
import re

import pytest

from helpers import checks
from tests.book.test_notebooks import (
    BESIDE,
    DRAFTS,
    WITH_EXERCISES,
    code,
    every_chapter,
    every_page_with_exercises,
)
from tools import notebooks

PARTS = ["exercise", "stub", "check", "hint", "solution"]


def exercises(notebook):
    """For each exercise, a dict of its five cells."""
    cells = {}
    for cell in notebook.cells:
        part, _, slug = cell.id.partition("-")
        if part in PARTS and slug and slug != "against-pytorch":
            cells.setdefault(slug, {})[part] = cell
    return cells


def definitions(source, prefix):
    """What a stub or solution defines: name without its prefix, and the rest of it.

    Signatures and docstrings of functions, classes and their methods, as text.
    """
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            name = node.name.lower()
            if name.startswith(prefix):
                found[name.removeprefix(prefix).strip("_")] = outline(node)
    return found


def outline(node):
    """A definition without its code."""
    lines = [ast.get_docstring(node)]
    if isinstance(node, ast.FunctionDef):
        lines.append(ast.unparse(node.args))
    else:
        lines += [ast.unparse(base) for base in node.bases]
        methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
        # A solution may add methods of its own; those of the stub stay as they are.
        lines.append({method.name: outline(method) for method in methods})
    return lines


def printed(cell):
    return "".join(output.get("text", "") for output in cell.outputs)


def called(source):
    """The checks that a cell calls, with what it hands over."""
    return re.findall(r"^checks\.(\w+)\((\w+)\)$", source, re.M)


@every_page_with_exercises
def test_a_chapter_has_two_to_four_exercises_of_five_parts(path):
    fewest = 1 if path in BESIDE else 2
    notebook = notebooks.read(path)
    found = exercises(notebook)
    assert fewest <= len(found) <= 4
    ids = [cell.id for cell in notebook.cells]
    for slug, cells in found.items():
        assert list(cells) == PARTS
        # Code to look at may stand between a task and the place for the answer.
        start = ids.index(f"stub-{slug}")
        assert ids[start : start + 4] == [f"{part}-{slug}" for part in PARTS[1:]]


@every_page_with_exercises
def test_a_task_says_how_hard_it_is_and_how_long_it_takes(path):
    for number, cells in enumerate(exercises(notebooks.read(path)).values(), 1):
        heading, _, task = cells["exercise"].source.partition(f"### Exercise {number}:")
        assert task, cells["exercise"].id
        assert heading == "" if number > 1 else heading.startswith("## Exercises\n")
        assert re.search(r"^\*(Easy|Medium|Hard), about \d+ minutes\.\*$", task, re.M)


@every_page_with_exercises
def test_a_stub_and_its_solution_promise_the_same(path):
    for cells in exercises(notebooks.read(path)).values():
        stubs = definitions(cells["stub"].source, "my")
        solved = definitions(cells["solution"].source, "solved")
        assert stubs
        assert stubs.keys() == solved.keys()
        for name, stub in stubs.items():
            assert stub[0], f"{name} has no docstring"
            *rest, methods = solved[name]
            if isinstance(methods, dict):
                methods = {one: methods[one] for one in stub[-1]}
            assert [*rest, methods] == stub, name


@every_page_with_exercises
def test_a_stub_is_not_attempted_and_a_solution_is_right(path):
    for cells in exercises(notebooks.read(path)).values():
        names = []
        for name, given in called(cells["check"].source):
            assert given.lower().startswith("my")
            assert f"○ {given}: not attempted yet." in printed(cells["check"])
            names.append(name)
        assert names
        solved = called(cells["solution"].source)
        assert [name for name, _ in solved] == names
        for _, given in solved:
            # Folded: it would look like a verdict on the reader's own code.
            (shown,) = (
                one.data
                for one in cells["solution"].outputs
                if f"✓ {given}: right." in one.get("data", {}).get("text/plain", "")
            )
            assert shown["text/html"].startswith("<details><summary>What the check ")
        assert printed(cells["solution"]) == ""


@every_page_with_exercises
def test_a_hint_and_a_solution_are_folded(path):
    for cells in exercises(notebooks.read(path)).values():
        hint = cells["hint"].source
        assert hint.startswith("<details><summary>Hint</summary>\n\n")
        assert hint.endswith("\n\n</details>")
        assert notebooks.folded_part(cells["solution"]) == "a solution"
        assert cells["solution"].source.startswith(
            "# @title A solution: click to see it "
        )


def test_every_check_has_its_exercise():
    calls = [
        name
        for path in (*WITH_EXERCISES, *DRAFTS)
        for cells in exercises(notebooks.read(path)).values()
        for name, _ in called(cells["check"].source)
    ]
    assert sorted(calls) == sorted(checks.EXERCISES)


@every_chapter
def test_a_chapter_has_two_quizzes(path):
    quizzes = [
        cell for cell in code(notebooks.read(path)) if cell.id.startswith("quiz-")
    ]
    assert len(quizzes) == 2
    for cell in quizzes:
        assert re.match(r"# @title .*\nquiz\(", cell.source)
        assert any("text/html" in output.get("data", {}) for output in cell.outputs)


@pytest.mark.parametrize("change", ["signature", "docstring", "method"])
def test_a_solution_that_promises_something_else_is_noticed(change):
    stub = 'class MyA(B):\n    """Do."""\n    def f(self, x, y=1):\n        """F."""'
    wrong = {
        "signature": stub.replace("y=1", "y=2"),
        "docstring": stub.replace("Do.", "Don't."),
        "method": stub.replace("F.", "G."),
    }[change].replace("MyA", "SolvedA")
    assert definitions(stub, "my")["a"] != definitions(wrong, "solved")["a"]
    same = definitions(stub.replace("MyA", "SolvedA"), "solved")
    assert same == definitions(stub, "my")
