"""What is sent: one zip with pages, notebooks, the wheel and a page to start at."""

import fnmatch
import os
import re
import subprocess
import sys
import zipfile

import pytest

from helpers import __version__
from tests.conftest import settings_at
from tools import notebooks, share


@pytest.fixture(scope="module")
def sent(site, tmp_path_factory):
    """The zip, unpacked in an empty folder; its one folder."""
    folder = tmp_path_factory.mktemp("sent")
    zipped = share.pack(site, share.build_wheel(folder), folder)
    assert zipped.name == f"attention-one-step-{__version__}.zip"
    (folder / "here").mkdir()
    zipfile.ZipFile(zipped).extractall(folder / "here")
    (unpacked,) = (folder / "here").iterdir()
    assert unpacked.name == share.NAME
    return unpacked


def test_the_zip_holds_pages_notebooks_and_the_wheel(sent, site):
    assert {path.name for path in sent.iterdir()} == {
        *(share.START, "pages", "notebooks")
    }
    pages = {path.relative_to(site) for path in site.rglob("*.html")}
    assert pages
    for page in pages:
        assert (sent / "pages" / page).read_bytes() == (site / page).read_bytes()
    chapters = {path.name for path in (share.ROOT / "chapters").glob("*.ipynb")}
    assert chapters <= {path.name for path in (sent / "notebooks").iterdir()}
    assert (sent / "notebooks" / notebooks.WHEEL).is_file()
    assert not list(sent.rglob(".*"))


def test_the_wheel_holds_every_file_of_the_library(sent):
    wheel = zipfile.ZipFile(sent / "notebooks" / notebooks.WHEEL)
    wanted = {
        path.relative_to(folder).as_posix()
        for folder, package in (
            (share.ROOT, "helpers"),
            (share.ROOT / "attention-audit" / "src", "attention_audit"),
        )
        for path in (folder / package).rglob("*.*")
        if path.suffix != ".pyc"
    }
    assert len(wanted) > 200
    assert wanted <= set(wheel.namelist())


def test_it_opens_where_it_says_from_the_disk(sent, chromium):
    page = chromium.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((sent / share.START).as_uri())
    text = page.inner_text("main")
    for name in re.findall(r"attention_one_step\S*?\.whl", text):
        assert (sent / "notebooks" / name).is_file()
    page.get_by_text("Open the pages").click()
    page.wait_for_url("**/pages/**/*.html")
    page.get_by_role("link", name="Dot-product attention").first.click()
    page.wait_for_selector(".aos-view .live")
    assert all(url.startswith(("file:", "data:", "blob:")) for url in asked)
    page.close()


def test_the_setup_cell_finds_the_wheel_beside_its_notebook(sent, tmp_path):
    """No index and no address: pip is stopped, and its command read."""
    notebook = notebooks.read(sent / "notebooks" / "01_dot_product_attention.ipynb")
    setup = next(cell.source for cell in notebook.cells if cell.id == "setup")
    watched = (
        "import subprocess, sys; sys.modules['helpers'] = None\n"
        "def run(command): sys.exit(' '.join(command[-2:]))\n"
        "subprocess.run = run\n"
    )
    for folder, said in (
        (sent / "notebooks", f"--quiet {notebooks.WHEEL}"),
        (tmp_path, f"RuntimeError: Upload {notebooks.WHEEL}, under exactly this name"),
    ):
        environment = {k: v for k, v in os.environ.items() if k != "BOOK_SOURCE"}
        result = subprocess.run(
            [sys.executable, "-c", watched + setup],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 1
        assert said in result.stderr


@pytest.mark.slow  # builds the wheel twice
def test_the_same_book_gives_the_same_bytes(tmp_path):
    page = tmp_path / "site" / "index.html"
    page.parent.mkdir()
    page.write_text("<title>A book</title>")
    first, second = tmp_path / "first", tmp_path / "second"
    packed = []
    for folder in (first, second):
        folder.mkdir()
        wheel = share.build_wheel(folder)
        os.utime(page, (1e9, 1e9))
        page.chmod(0o600)
        packed.append((share.pack(page.parent, wheel, folder), wheel))
    for one, other in zip(*packed, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_a_book_that_is_not_built_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no built book: run make book"):
        share.pack(tmp_path, tmp_path / notebooks.WHEEL, tmp_path)


def test_a_wheel_that_cannot_be_built_says_why(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text("[project\n")
    monkeypatch.setattr(share, "ROOT", tmp_path)
    monkeypatch.setattr(share, "SOURCES", ("pyproject.toml",))
    with pytest.raises(RuntimeError, match="pip could not build the wheel: "):
        share.build_wheel(tmp_path)


def test_the_start_page_is_called_as_the_book():
    title = re.search(r"(?m)^title: (.*)$", settings_at("x"))[1]
    assert f"<title>Start here: {title}</title>" in share.start_page()


@pytest.mark.parametrize(
    "name", ["README.md", "chapters/index.md", "chapters/teaching.md"]
)
def test_the_wheel_and_the_zip_are_called_as_they_are_built(name):
    text = (share.ROOT / name).read_text(encoding="utf-8")
    wheels = set(re.findall(r"attention_one_step\S*?\.whl", text))
    assert wheels
    for built, called in (
        (notebooks.WHEEL, wheels),
        (f"{share.NAME}.zip", re.findall(r"attention-one-step\S*?\.zip", text)),
    ):
        assert all(fnmatch.fnmatch(built, pattern) for pattern in called)
    assert "`make share` builds" in text
