"""What ruff's rules on security can't see; the rules themselves are in pyproject.toml.

They know calls by their names. What makes these calls dangerous is an argument, or
stands in the views' JavaScript.
"""

import ast
import re

import pytest

from tests import ROOT
from tools import notebooks

FOLDERS = ("helpers", "attention-audit", "experiments", "tools", "_ext", "tests")
SCRIPT = re.compile(
    r"\beval\(|new Function|document\.write|(?:inner|outer)HTML|insertAdjacentHTML"
    r"|\bfetch\(|XMLHttpRequest|WebSocket|\bimport\("
)


def unpickling(source):
    """The lines of a module that read a file which may hold a pickle."""
    if "load" not in source and "allow_pickle" not in source:
        return  # to parse all answers and layers by others would take seconds
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "torch":
            if "load" in {alias.name for alias in node.names}:
                yield node.lineno  # under another name the call couldn't be found
        elif isinstance(node, ast.Call):
            options = {each.arg: ast.unparse(each.value) for each in node.keywords}
            is_load = ast.unparse(node.func) == "torch.load"
            if is_load and options.get("weights_only") != "True":
                yield node.lineno
            if options.get("allow_pickle", "False") != "False":
                yield node.lineno


def sources():
    """All Python of the book, as pairs of name and text; notebooks cell by cell."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        for cell in notebooks.read(path).cells:
            if cell.cell_type == "code":
                # A cell that is written into a file is that file's text.
                source = re.sub(r"^%%writefile .*", "", cell.source)
                yield f"chapters/{path.name}", source


def test_nothing_unpickles():
    found = [(name, line) for name, text in sources() for line in unpickling(text)]
    assert found == []


# Where a copy of the book carries a model's file, a reader may ask for it.
FETCHING = "kept_file.js"


@pytest.mark.parametrize("path", sorted((ROOT / "helpers/views").rglob("*.js")))
def test_no_script_of_a_view_runs_text_or_asks_a_network(path):
    allowed = ["fetch("] if path.name == FETCHING else []
    assert SCRIPT.findall(path.read_text(encoding="utf-8")) == allowed


@pytest.mark.parametrize(
    "source",
    [
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "from torch import load as fetch",
        "numpy.load(path, allow_pickle=True)",
    ],
)
def test_what_unpickles_is_found(source):
    assert list(unpickling(f"x = 1\n{source}")) == [2]


@pytest.mark.parametrize(
    "source",
    [
        "model.eval()",
        "torch.load(path, weights_only=True)",
        "safetensors.torch.load(content)",
        "numpy.load(path, allow_pickle=False)",
    ],
)
def test_what_is_safe_passes(source):
    assert list(unpickling(source)) == []
