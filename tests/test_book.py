"""The built book as files: every page is there, and asks nothing of a network."""

import html.parser
import importlib
import pathlib
import re

import pytest
import yaml

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
PAGES = [
    TOC["root"],
    *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"]),
]
CHAPTERS = [page for page in PAGES if re.search(r"/\d\d_", page)]


class Elements(html.parser.HTMLParser):
    """All elements of a page, as pairs of tag and attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def elements(site, page):
    return Elements((site / f"{page}.html").read_text(encoding="utf-8")).found


@pytest.mark.parametrize("page", PAGES)
def test_a_page_loads_nothing_from_elsewhere(site, page):
    loaded = [
        attrs.get("src") or attrs.get("href")
        for tag, attrs in elements(site, page)
        if tag in ("script", "img", "link", "iframe", "source")
        and attrs.get("rel") != "canonical"
    ]
    assert [address for address in loaded if address and "//" in address] == []


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_picture_of_a_chapter_has_its_numbers_in_words(site, page):
    pictures = [
        attrs
        for tag, attrs in elements(site, page)
        if tag == "img" and attrs["src"].endswith(".png") and "_images" in attrs["src"]
    ]
    assert pictures
    assert all(re.search(r"\d\.\d", attrs["alt"]) for attrs in pictures)


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_chapter_opens_in_colab_at_the_release(site, page):
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    repository = config["repository"]["url"].removeprefix("https://github.com/")
    branch = config["repository"]["branch"]
    colab = "https://colab.research.google.com/github"
    links = [attrs.get("href") for tag, attrs in elements(site, page) if tag == "a"]
    assert f"{colab}/{repository}/blob/{branch}/{page}.ipynb" in links


def test_a_book_without_an_address_says_so(site):
    text = (site / f"{PAGES[0]}.html").read_text(encoding="utf-8")
    config = (ROOT / "_config.yml").read_text(encoding="utf-8")
    assert ("has no public address yet" in text) == ("/OWNER/" in config)


def test_the_api_page_documents_every_public_name(site):
    identifiers = {attrs.get("id") for _, attrs in elements(site, "chapters/api")}
    modules = {path.stem for path in (ROOT / "helpers").glob("[a-z]*.py")}
    for name in sorted(modules - {"validation"}):
        module = importlib.import_module(f"helpers.{name}")
        for name, value in vars(module).items():
            is_own = getattr(value, "__module__", None) == module.__name__
            if is_own and not name.startswith("_"):
                assert f"{module.__name__}.{name}" in identifiers
