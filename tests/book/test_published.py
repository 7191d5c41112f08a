"""A book with a public address: what its pages tell search engines and previews."""

import re
import xml.etree.ElementTree

import pytest
import yaml

from tests import ROOT
from tests.book.test_book import elements, preview
from tests.conftest import PUBLISHED

ADDRESS = "https://someone.github.io/some-book/"
CHAPTER = "chapters/01_dot_product_attention"
PAGES = ["chapters/index", CHAPTER, "chapters/notation", "chapters/mistakes"]


@pytest.fixture
def pages(published):
    return published[0]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_its_own_address(pages, page):
    told = preview(pages, page)
    canonical = [
        attrs["href"]
        for tag, attrs in elements(pages, page)
        if tag == "link" and attrs.get("rel") == "canonical"
    ]
    assert canonical == [told["og:url"]] == [f"{ADDRESS}{page}.html"]
    assert told["og:image"].startswith(ADDRESS)
    assert (pages / told["og:image"].removeprefix(ADDRESS)).is_file()


def test_the_sitemap_names_every_page_once_and_no_other(pages):
    sitemap = xml.etree.ElementTree.parse(pages / "sitemap.xml").getroot()
    found = [url.findtext("{*}loc") for url in sitemap]
    assert sorted(found) == sorted(f"{ADDRESS}{page}.html" for page in PAGES)


def test_the_front_door_leads_to_colab(pages):
    links = [attrs.get("href") for _, attrs in elements(pages, PAGES[0])]
    repository = PUBLISHED.removeprefix("https://github.com/")
    colab = f"https://colab.research.google.com/github/{repository}/blob/"
    assert [link for link in links if link and link.startswith(colab)] != []


def test_a_chapter_opens_in_colab_and_binder_at_the_release(pages):
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    repository = PUBLISHED.removeprefix("https://github.com/")
    branch = config["repository"]["branch"]
    links = [attrs.get("href") for _, attrs in elements(pages, CHAPTER)]
    colab = f"https://colab.research.google.com/github/{repository}/blob/{branch}"
    binder = f"https://mybinder.org/v2/gh/{repository}/{branch}?urlpath=lab/tree"
    assert {f"{colab}/{CHAPTER}.ipynb", f"{binder}/{CHAPTER}.ipynb"} <= {*links}


def test_the_page_for_missing_ones_works_at_any_depth(pages):
    for tag, attrs in elements(pages, "404"):
        for name in ("href", "src", "action", "data-content_root"):
            link = attrs.get(name, "#")
            if tag == "link" and attrs.get("rel") == "canonical":
                continue
            if link == f"{PUBLISHED}/issues/new":
                continue
            assert re.match(r"#|/some-book/", link), (tag, link)
            path = link.split("?")[0].split("#")[0].removeprefix("/some-book/")
            assert (pages / path).exists(), link


@pytest.mark.slow
def test_a_view_that_no_cell_has_stored_is_named(published):
    _, warnings = published
    line = "01_dot_product_attention.ipynb has no cell 'no-such-cell' with a view"
    assert line in warnings
