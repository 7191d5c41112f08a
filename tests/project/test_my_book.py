"""A reader's own copy: made once, never overwritten, and brought anew where asked."""

import json
import os
import re
import subprocess
import sys
import time

import pytest

from tools import my_book, notebooks


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book of two chapters and a page, and a folder for its copy."""
    chapters = tmp_path / "chapters"
    chapters.mkdir()
    for name in ("03_scaling", "04_causal_masking"):
        original = notebooks.read(my_book.ROOT / "chapters" / f"{name}.ipynb")
        del original.cells[2:]
        notebooks.write(chapters / f"{name}.ipynb", original)
    (chapters / "glossary.md").write_text("# Glossary\n")
    (chapters / "index.md").write_text("# Front page\n")
    monkeypatch.setattr(my_book, "CHAPTERS", chapters)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "jupyter"))
    return chapters, tmp_path / "my-book"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_it_is_made_once_and_never_overwritten(book):
    chapters, folder = book
    made, changed = my_book.complete(folder)
    assert made == ["03_scaling.ipynb", "04_causal_masking.ipynb", "glossary.md"]
    assert changed == []
    before = contents(folder)
    assert my_book.complete(folder) == ([], [])
    assert contents(folder) == before

    mine = folder / "03_scaling.ipynb"
    mine.write_text("my answers")
    (folder / my_book.WELCOME).write_text("my notes")
    (chapters / "03_scaling.ipynb").write_bytes(
        (chapters / "04_causal_masking.ipynb").read_bytes()
    )
    assert my_book.complete(folder) == ([], ["03_scaling.ipynb"])
    assert mine.read_text() == "my answers"
    assert (folder / my_book.WELCOME).read_text() == "my notes"


@pytest.mark.parametrize(
    "asked", ["3", "03", "03_scaling", "chapters/03_scaling.ipynb"]
)
def test_a_chapter_is_brought_anew_and_the_old_one_kept(book, asked):
    _, folder = book
    my_book.complete(folder)
    fresh = (folder / "03_scaling.ipynb").read_bytes()
    for number in (1, 2):
        (folder / "03_scaling.ipynb").write_text(f"my answers {number}")
        kept = f"03_scaling_mine_{number}.ipynb"
        assert my_book.renew(asked, folder) == ("03_scaling.ipynb", kept)
        assert (folder / kept).read_text() == f"my answers {number}"
        assert (folder / "03_scaling.ipynb").read_bytes() == fresh
    assert my_book.complete(folder) == ([], [])


@pytest.mark.parametrize("asked", ["5", "", "scaling", "0"])
def test_a_chapter_that_is_none_is_named(book, asked):
    _, folder = book
    my_book.complete(folder)
    before = contents(folder)
    with pytest.raises(ValueError, match=f"called {asked!r}. Write its number"):
        my_book.renew(asked, folder)
    assert contents(folder) == before


def test_a_chapter_that_nobody_touched_is_brought_anew_without_a_copy(book):
    chapters, folder = book
    my_book.complete(folder)
    (chapters / "03_scaling.ipynb").write_bytes(
        (chapters / "04_causal_masking.ipynb").read_bytes()
    )
    assert my_book.renew("03", folder) == ("03_scaling.ipynb", None)
    four = (folder / "04_causal_masking.ipynb").read_bytes()
    assert (folder / "03_scaling.ipynb").read_bytes() == four
    assert not list(folder.glob("*mine*"))


def test_a_new_chapter_comes_with_the_next_call(book):
    chapters, folder = book
    my_book.complete(folder)
    notebooks.write(
        chapters / "05_more.ipynb", notebooks.read(chapters / "03_scaling.ipynb")
    )
    assert my_book.complete(folder) == (["05_more.ipynb"], [])


def test_the_welcome_page_links_every_page_in_reading_order():
    """Of the real book: what is copied is linked, and what is linked is copied."""
    links = re.findall(r"\]\(([^)]+)\)", my_book.welcome())
    assert sorted(links) == sorted(my_book.originals())
    numbers = [int(link[:2]) for link in links if link[:2].isdecimal()]
    assert numbers == sorted(numbers)
    assert len(numbers) >= 15


def test_a_copied_notebook_has_the_language_that_jupyterlab_would_write(book):
    _, folder = book
    my_book.complete(folder)
    found = json.loads((folder / "03_scaling.ipynb").read_text())["metadata"]
    assert found["language_info"]["version"] == ".".join(map(str, sys.version_info[:3]))


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there is no root")
@pytest.mark.parametrize("root", [True, False])
def test_jupyterlab_starts_as_root_too(monkeypatch, root):
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    command = my_book.command()
    assert ("--allow-root" in command) == root
    assert any(my_book.WELCOME in word for word in command)


@pytest.mark.slow
def test_jupyterlab_shows_the_welcome_page_at_the_address_that_it_prints(
    book, chromium, tmp_path
):
    _, folder = book
    my_book.complete(folder)
    command = [*my_book.command(folder), "--no-browser", "--port=0"]
    log = tmp_path / "log"
    with log.open("w") as written:  # a pipe that nobody reads would stop the server
        server = subprocess.Popen(
            [*command, "--ip=127.0.0.1"],
            env=os.environ | {"HOME": str(tmp_path)},
            stderr=written,
        )
    try:
        form = re.compile(r"http://127\.0\.0\.1:\d+/lab\S*token=\w+")
        while not (found := form.search(log.read_text())):
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
        address = found[0]
        page = chromium.new_page()
        page.goto(address)
        heading = page.locator(
            ".jp-RenderedMarkdown h1", has_text="Attention, One Step"
        )
        heading.wait_for()
        page.get_by_role("link", name="3. Why divide").first.click()
        page.get_by_role("tab", name="03_scaling.ipynb").wait_for()
        page.close()
    finally:
        # Told to end while a kernel starts, it may start that kernel anew and never
        # end. Kernels end by themselves once their server is gone.
        server.kill()
        server.wait(timeout=60)


def test_a_folder_that_cannot_be_written_is_named(book, monkeypatch, tmp_path):
    blocked = tmp_path / "file"
    blocked.touch()
    monkeypatch.setattr(my_book, "FOLDER", blocked)
    monkeypatch.setattr(my_book.complete, "__defaults__", (blocked,))
    monkeypatch.setattr(sys, "argv", ["my_book"])
    with pytest.raises(SystemExit, match=r"Your copy .* can't be written: .*file"):
        my_book.main()
