"""The list of external links: each that a page holds, found without a network."""

import json
import re
import socket
import subprocess
import sys

import pytest

from tools import links, notebooks

LINK = re.compile(r"\]\((https?://[^)\s]+)\)")


slow = pytest.mark.slow  # reads the whole book once more


@pytest.fixture(scope="module")
def listed():
    """Every external link of the book, no address asked for."""
    code = (
        "import json; from tools import links; "
        "found = links.external_links(linkcheck_ignore=[links.EVERYTHING]); "
        "print(json.dumps(found))"
    )
    command = [sys.executable, "-c", code]
    return json.loads(subprocess.check_output(command, cwd=links.ROOT, text=True))


@slow
def test_every_external_link_of_a_page_is_listed(listed):
    chapters = links.ROOT / "chapters"
    written = set()
    for path in chapters.glob("*.md"):
        written |= set(LINK.findall(path.read_text(encoding="utf-8")))
    for path in chapters.glob("*.ipynb"):
        cells = notebooks.read(path).cells
        texts = (cell.source for cell in cells if cell.cell_type == "markdown")
        written |= {link for text in texts for link in LINK.findall(text)}
    assert written
    assert written - {link["uri"] for link in listed} == set()


@slow
def test_listing_asks_for_nothing(listed):
    assert {link["status"] for link in listed} == {"ignored"}


@slow
def test_a_link_is_named_once_and_with_its_page(listed):
    uris = [link["uri"] for link in listed]
    assert sorted(set(uris)) == sorted(uris)
    assert all((links.ROOT / link["filename"]).is_file() for link in listed)


def test_without_a_network_no_link_is_called_broken(monkeypatch, capsys):
    def closed(*arguments, **options):
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket, "create_connection", closed)
    monkeypatch.setattr("sys.argv", ["links"])
    with pytest.raises(SystemExit, match=r"^no network: .* no link was checked"):
        links.main()
    assert capsys.readouterr().out == ""


def test_a_broken_link_fails_and_is_named_with_its_page(monkeypatch, capsys):
    page = {"filename": "chapters/a.md", "lineno": 1}
    good = page | {"uri": "https://a.org", "status": "working", "info": ""}
    broken = page | {"uri": "https://b.org", "status": "broken", "info": "404"}
    monkeypatch.setattr(links, "has_network", lambda: True)
    monkeypatch.setattr("sys.argv", ["links"])
    for found, code in ([good], 0), ([good, broken], 1):
        monkeypatch.setattr(links, "external_links", lambda found=found, **_: found)
        with pytest.raises(SystemExit) as ended:
            links.main()
        assert int(ended.value.code) == code
    assert "chapters/a.md: https://b.org: 404\n" in capsys.readouterr().out
