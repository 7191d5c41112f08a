"""The views' modules and the page's script: format, types, line length."""

import json
import os
import subprocess

import pytest

from helpers.views.view import FOLDER
from tests import ROOT
from tools.javascript import __main__ as javascript

COLUMNS = 100
FILES = sorted([*FOLDER.rglob("*.js"), *ROOT.glob("_ext/*.js")])


@pytest.fixture(scope="module")
def folder():
    """Where Prettier's and TypeScript's commands are."""
    try:
        return javascript.install()
    except javascript.NoToolsError as error:
        if os.environ.get("BOOK_REQUIRE_NODE"):
            raise
        pytest.skip(f"no tools for JavaScript: {error}")


def run(command):
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1], ids=["format", "types"])
def test_the_modules_pass(folder, which):
    result = run(javascript.commands(folder)[which])
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "source", "problem"),
    [
        (0, "const  a = 1;\nexport { a };\n", "Code style issues"),
        (0, "export const f = (;\n", "SyntaxError"),
        (1, "export function f(a) {\n  let b = 1;\n  return a;\n}\n", "TS6133"),
        (1, 'import { fixed } from "./shared/words.js";\nfixed("a");\n', "TS2345"),
        (1, "export const f = (a) => missing(a);\n", "TS2304"),
    ],
)
def test_a_mistake_is_found(folder, tmp_path, which, source, problem):
    """In a copy, so that no other test meets the mistake."""
    for path in FILES:
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    mistaken = tmp_path / "helpers" / "views" / "mistaken.js"
    mistaken.write_text(source, encoding="utf-8")
    settings = tmp_path / "tools" / "javascript"
    settings.mkdir(parents=True)
    for name in ("prettier.json", "tsconfig.json"):
        (settings / name).write_bytes((javascript.HERE / name).read_bytes())
    command = [
        str(part).replace(str(javascript.HERE), str(settings))
        for part in javascript.commands(folder)[which]
    ]
    result = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode != 0
    assert problem in result.stdout + result.stderr
    assert "mistaken.js" in result.stdout + result.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_line_is_longer_than_the_format_allows(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > COLUMNS] == []


def test_the_lock_names_versions_and_no_registry():
    lock = json.loads((javascript.HERE / "package-lock.json").read_text("utf-8"))
    wanted = json.loads((javascript.HERE / "package.json").read_text("utf-8"))
    assert set(wanted) == {"private", "description", "devDependencies"}
    for name, version in wanted["devDependencies"].items():
        assert lock["packages"][f"node_modules/{name}"]["version"] == version
    packages = [one for key, one in lock["packages"].items() if key]
    assert [
        one for one in packages if "resolved" in one or "integrity" not in one
    ] == []
