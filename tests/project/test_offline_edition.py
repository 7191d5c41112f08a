"""The offline edition: every page in one file, the same bytes from the same pages."""

import os
import zipfile

import pytest

from helpers import __version__
from tools.offline_edition import NAME, pack


def test_the_offline_edition_holds_the_whole_site_in_one_folder(site, tmp_path):
    edition = pack(site, tmp_path)
    assert edition.name == f"attention-one-step-{__version__}.zip"
    zipfile.ZipFile(edition).extractall(tmp_path)
    packed = {p.relative_to(tmp_path / NAME) for p in (tmp_path / NAME).rglob("*")}
    pages = {path.relative_to(site) for path in site.rglob("*.html")}
    assert pages
    assert pages <= packed
    assert {path.name for path in tmp_path.iterdir()} == {NAME, edition.name}
    for page in pages:
        assert (tmp_path / NAME / page).read_bytes() == (site / page).read_bytes()
    assert not [path for path in packed if path.parts[0].startswith(".")]


def test_the_same_pages_give_the_same_bytes(tmp_path):
    page = tmp_path / "site" / "index.html"
    page.parent.mkdir()
    page.write_text("<title>A book</title>")
    first = pack(page.parent, tmp_path).read_bytes()
    os.utime(page, (1e9, 1e9))
    page.chmod(0o600)
    assert pack(page.parent, tmp_path).read_bytes() == first


def test_a_book_that_is_not_built_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no built book: run make book"):
        pack(tmp_path, tmp_path)
