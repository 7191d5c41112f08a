"""What a reader sees first: README and CONTRIBUTING, short and true."""

import html.parser
import itertools
import re
import subprocess
import sys

import pytest
from PIL import Image

from tests import ROOT, real_models
from tools import picture

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
MOST_BYTES = 1_000_000
FEWEST_FRAMES = 20


class Pictures(html.parser.HTMLParser):
    """The elements of a ``<picture>``, by tag."""

    def __init__(self, text):
        super().__init__()
        self.found = {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found[tag] = dict(attrs)


def test_they_are_short():
    assert len(README.splitlines()) <= 90
    assert len(CONTRIBUTING.splitlines()) <= 200


@pytest.mark.parametrize("theme", picture.THEMES)
def test_the_book_is_alive_in_both_themes(theme):
    shown = Pictures(README).found
    assert shown["source"]["media"] == "(prefers-color-scheme: dark)"
    sources = {"dark": shown["source"]["srcset"], "light": shown["img"]["src"]}
    path = ROOT / sources[theme]
    assert path == picture.FOLDER / f"book-{theme}.webp"
    assert path.stat().st_size <= MOST_BYTES
    with Image.open(path) as film:
        assert film.n_frames >= FEWEST_FRAMES
        corner = film.convert("L").getpixel((0, 0))
    assert corner > 200 if theme == "light" else corner < 60
    assert len(shown["img"]["alt"]) > 100


@pytest.mark.slow
def test_the_film_can_be_made_again(site, chromium):
    real_models.need(picture.MODEL)
    frames, seconds = picture.film(chromium, "light", site, most=3)
    assert len(frames) == len(seconds) == 6
    for before, after in itertools.pairwise(frames):
        assert before.size == after.size
        assert before.tobytes() != after.tobytes()


def test_the_library_in_five_lines_runs():
    [code] = re.findall(r"^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    assert len(code.split("\n\n")) == 2
    assert len([line for line in code.splitlines() if line]) <= 5
    # On a machine that does other things too, a check may need longer.
    patient = code.replace("length=8)  #", "length=8, seconds=60)  #")
    assert patient != code
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", patient],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"`{done.stdout.splitlines()[-1]}`" in README
    assert ", 0 fail," in done.stdout


def test_every_path_of_the_map_exists():
    table = CONTRIBUTING.partition("## The map of the house")[2].partition("## ")[0]
    for row in table.splitlines():
        _, *cells = row.split("|")
        folders = [""]
        for path in re.findall(r"`([\w./-]+)`", cells[1] if len(cells) > 1 else ""):
            found = [folder for folder in folders if (ROOT / folder / path).exists()]
            assert found, f"{path} in: {row}"
            if path.endswith("/"):
                folders.append(found[0] + path)
