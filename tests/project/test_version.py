"""The book's version: which files say it, so that a new one leaves none behind."""

import re
import subprocess

import nbformat
import pytest
import yaml

from helpers import __version__
from tests import ROOT
from tools import notebooks

# By hand; ``python -m tools.repository set`` writes setup cells and badges from these.
PLACES = {"helpers/__init__.py", "_config.yml", "CITATION.cff", "CHANGELOG.md"}
# The audit has a version of its own; the others hold those of other people's packages.
OTHERS = (
    *("attention-audit/", "requirements", "tests/data/", "tools/javascript/package"),
    "helpers/models/pretrained/catalogue.py",
)
SAID = re.compile(rf"(?<![\d.]){re.escape(__version__)}(?!\.?\d)")


def text_of(path):
    """What a file says by hand: without setup cells, and without README's badges."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = nbformat.reads(text, as_version=4).cells
        text = "\n".join(str(one) for one in cells if one.id != notebooks.SETUP_ID)
    return re.sub(r"(?s)<!-- badges -->.*<!-- end of badges -->", "", text)


def test_a_new_version_changes_these_places_and_no_other():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(
        command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )
    if listed.returncode:
        pytest.skip("this folder is no git repository")
    names = [name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    found = set()
    for name in names:
        if not name.startswith(OTHERS):
            try:
                text = text_of(ROOT / name)
            except UnicodeDecodeError:
                continue  # a picture, or weights
            if SAID.search(text):
                found.add(name)
    assert found == PLACES


def test_every_place_says_the_same_version():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert config["repository"]["branch"] == f"v{__version__}"
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert str(citation["version"]) == __version__
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = re.search(r"^## (\S+)", log, re.MULTILINE)
    assert first[1] == __version__


def test_contributing_names_every_place():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    [said] = re.findall(r"^A new version stands in (.*?)\. ", text, re.MULTILINE)
    assert {*re.findall(r"`([^`]+)`", said)} >= PLACES
