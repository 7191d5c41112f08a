"""Addresses on the built pages: inside the site each resolves, outside it is a link."""

import pathlib
import re
from urllib.parse import unquote, urlsplit

import pytest

from tests.book.test_book import Elements

# What a page fetches by itself; an <a> is followed by the reader.
FETCHED = ("src", "poster", "data", "href", "action")
STYLE_ADDRESS = re.compile(r"url\(\s*['\"]?([^'\")\s]+)")


class Page:
    """One page's addresses, and the names that an address may end with."""

    def __init__(self, path):
        self.path = path
        self.elements = Elements(path.read_text(encoding="utf-8")).found
        self.names = {attrs.get("id") for _, attrs in self.elements}
        self.names |= {a.get("name") for tag, a in self.elements if tag == "a"}

    def addresses(self):
        """Pairs of tag and address; canonical names a place and fetches nothing."""
        for tag, attrs in self.elements:
            found = [attrs.get(name) for name in FETCHED]
            for picture in (attrs.get("srcset") or "").split(","):
                found.append(picture.strip().partition(" ")[0])
            if (attrs.get("http-equiv") or "").lower() == "refresh":
                found.append(attrs["content"].partition("url=")[2])
            if attrs.get("rel") != "canonical":
                yield from ((tag, address) for address in found if address)


def broken(folder):
    """What is wrong with the addresses of a folder's pages and style sheets.

    Returns:
        lines: one for each address that leads nowhere, or that a page fetches from
            outside the folder.
    """
    pages = {
        path.resolve(): Page(path)
        for path in sorted(pathlib.Path(folder).rglob("*.html"))
        if "_static" not in path.parts
    }
    lines = []
    for page in pages.values():
        name = page.path.relative_to(folder).as_posix()
        for tag, address in page.addresses():
            if problem := _problem(page, tag, address, pages):
                lines.append(f"{name}: {problem}: <{tag}> {address}")
    for sheet in sorted(pathlib.Path(folder).rglob("*.css")):
        for address in STYLE_ADDRESS.findall(sheet.read_text(encoding="utf-8")):
            target = sheet.parent / unquote(urlsplit(address).path)
            if not address.startswith(("data:", "#")) and not target.is_file():
                name = sheet.relative_to(folder).as_posix()
                lines.append(f"{name}: no such file: {address}")
    return lines


def _problem(page, tag, address, pages):
    parts = urlsplit(address)
    if tag == "a" and parts.scheme == "http":
        return "not https, so a file's name that was taken for an address"
    if parts.scheme == "data" or (tag == "a" and parts.scheme == "https"):
        return ""
    if parts.scheme or parts.netloc:
        return "fetched from elsewhere" if tag != "a" else "no web address"
    target = page.path
    if parts.path:
        target = page.path.parent / unquote(parts.path)
    if not target.is_file():
        return "no such file"
    shown = pages.get(target.resolve())
    if parts.fragment and shown and unquote(parts.fragment) not in shown.names:
        return "no such place"
    return ""


def test_every_internal_link_leads_somewhere_and_no_page_needs_another(site):
    assert broken(site) == []


@pytest.mark.parametrize(
    ("spoiled", "problem"),
    [
        ('<a href="nowhere.html">', "no such file"),
        ('<a href="other.html#gone">', "no such place"),
        ('<a href="#gone">', "no such place"),
        ('<a href="javascript:run()">', "no web address"),
        (
            '<a href="http://README.md">',
            "not https, so a file's name that was taken for an address",
        ),
        ('<img src="picture.png">', "no such file"),
        ('<img src="https://example.org/a.png">', "fetched from elsewhere"),
        ('<img srcset="icon.svg 1x, big.svg 2x">', "no such file"),
        (
            '<link href="//example.org/a.css" rel="stylesheet">',
            "fetched from elsewhere",
        ),
        ('<meta http-equiv="Refresh" content="0; url=gone.html">', "no such file"),
        ('<form action="https://example.org/">', "fetched from elsewhere"),
        ('<style>@import "x"</style><script src="x.js"></script>', "no such file"),
    ],
)
def test_a_spoiled_page_is_named(tmp_path, spoiled, problem):
    (tmp_path / "icon.svg").touch()
    (tmp_path / "style.css").write_text("a { background: url('icon.svg#red') }")
    (tmp_path / "other.html").write_text('<h1 id="top é">Other</h1><a name="old">')
    good = (
        '<a href="other.html#top%20%C3%A9">, <a href="other.html#old">, <a href="#">'
        '<a href="https://example.org/#x"><img src="icon.svg?v=1">'
        '<img src="data:image/gif;base64,xx"><link rel="canonical" href="https://a.b/">'
    )
    (tmp_path / "page.html").write_text(good)
    assert broken(tmp_path) == []
    (tmp_path / "page.html").write_text(good + spoiled)
    (line,) = broken(tmp_path)
    assert line.startswith(f"page.html: {problem}: ")


def test_a_spoiled_style_sheet_is_named(tmp_path):
    (tmp_path / "style.css").write_text("a { background: url(gone.svg) }")
    assert broken(tmp_path) == ["style.css: no such file: gone.svg"]
