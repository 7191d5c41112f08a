"""The book's public address: set in a copy of the book, checked before publishing."""

import re
import subprocess
import sys

import pytest

from _ext.address import Address
from tests.conftest import copy_of_the_book
from tools.repository import badges, check_repository, moved, settings

URL = "https://github.com/someone/some-book"
OWN = settings()
slow = pytest.mark.slow  # copies the whole book
# What explains the placeholder, or tests it, keeps it.
EXPLAINS = ("tools/", "_ext/", "tests/", "README.md", "CONTRIBUTING.md", "_config.yml")


@pytest.fixture
def book(tmp_path):
    """A copy of the whole book."""
    return copy_of_the_book(tmp_path / "book")


def contents(folder):
    """Each file's bytes, by its path below the folder."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in paths
        if "__pycache__" not in path.parts
    }


def run(book, *arguments):
    """The command in a copy of the book; the finished process."""
    return subprocess.run(
        [sys.executable, "-m", "tools.repository", *arguments],
        cwd=book,
        capture_output=True,
        text=True,
        check=False,
    )


def differing(before, after):
    """The paths whose contents differ."""
    return {path for path in {*before, *after} if before.get(path) != after.get(path)}


@slow
def test_setting_the_address_changes_every_place_and_nothing_else(book):
    before = contents(book)
    run_once = run(book, "set", URL)
    assert run_once.returncode == 0, run_once.stderr
    after = contents(book)
    changed = differing(before, after)
    notebooks = {path for path in before if path.endswith(".ipynb")}
    projects = {"pyproject.toml", "attention-audit/pyproject.toml"}
    places = {"_config.yml", "CITATION.cff", "README.md", *projects}
    assert changed == places | notebooks
    assert set(run_once.stdout.splitlines()[:-1]) == changed

    assert f"url: {URL}\n".encode() in after["_config.yml"]
    assert f"repository-code: {URL}\n".encode() in after["CITATION.cff"]
    assert b"url: https://someone.github.io/some-book/\n" in after["CITATION.cff"]
    for path in projects:
        assert f'Repository = "{URL}"'.encode() in after[path]
    assert b"/github/someone/some-book/blob/v" in after["README.md"]
    assert b"/v2/gh/someone/some-book/v" in after["README.md"]
    for path in notebooks:
        assert f'REPOSITORY = \\"{URL}\\"\\n'.encode() in after[path]

    owner, name = Address.parse(OWN["url"])
    for path, content in after.items():
        if not path.startswith(EXPLAINS):
            assert f"{owner}/{name}".encode() not in content, path
            assert f"{owner}.github.io".encode() not in content, path

    assert run(book, "set", URL).stdout == "0 files changed\n"
    assert contents(book) == after
    assert run(book, "set", OWN["url"]).returncode == 0
    assert contents(book) == before


@pytest.mark.parametrize(
    "url",
    [
        "",
        "someone/some-book",
        "http://github.com/someone/some-book",
        "https://gitlab.com/someone/some-book",
        "https://github.com/someone",
        "https://github.com/someone/",
        "https://github.com/someone/..",
        "https://github.com/someone/some-book/",
        "https://github.com/someone/some-book.git",
        "https://github.com/someone/some-book/tree/main",
        "https://github.com/some_one/some-book",
        "https://github.com/someone/some book",
        "https://github.com/someone/some-book\n",
        'https://github.com/someone/some-book"; rm',
    ],
)
def test_another_form_of_address_is_refused(url):
    with pytest.raises(ValueError, match=re.escape(f"{url!r} is not of the form")):
        Address.parse(url)


@slow
def test_the_command_refuses_an_address_in_one_line(book):
    before = contents(book)
    refused = run(book, "set", "https://gitlab.com/someone/some-book")
    assert refused.returncode == 1
    assert refused.stderr == (
        "'https://gitlab.com/someone/some-book' is not of the form "
        "https://github.com/owner/name\n"
    )
    assert contents(book) == before


@pytest.mark.parametrize(
    ("url", "site"),
    [
        (URL, "https://someone.github.io/some-book/"),
        ("https://github.com/Some-One/a.b_c", "https://Some-One.github.io/a.b_c/"),
        ("https://github.com/Me/me.github.io", "https://Me.github.io/"),
    ],
)
def test_where_the_pages_of_a_repository_are(url, site):
    assert (Address.parse(url).url, Address.parse(url).site) == (url, site)


def test_a_longer_name_is_another_address():
    old, new = Address("a", "book"), Address("b", "novel")
    hub = "https://github.com/a/"
    text = f"{hub}book {hub}book-two {hub}books {hub}book.two a/book {hub}book.git"
    others = f"{hub}book-two {hub}books {hub}book.two a/book"
    expected = f"https://github.com/b/novel {others} "
    assert moved(text, old, new) == f"{expected}https://github.com/b/novel.git"
    assert moved("https://a.github.io/book/x", old, new) == (
        "https://b.github.io/novel/x"
    )


def test_a_placeholder_has_no_badges():
    assert badges(Address("OWNER", "attention-one-step"), "v1") == ""
    assert "https://someone.github.io/some-book/" in badges(Address.parse(URL), "v1")


def test_a_book_written_for_this_repository_may_be_published():
    check_repository(OWN["url"])
    check_repository(OWN["url"], OWN["branch"])


def test_a_book_written_for_another_repository_is_not_published():
    with pytest.raises(ValueError, match=rf"python -m tools\.repository set {URL}/x"):
        check_repository(f"{URL}/x")


@slow
@pytest.mark.parametrize("name", ["CITATION.cff", "chapters/bug_museum.ipynb"])
def test_a_file_that_names_another_repository_is_found(book, name):
    text = (book / name).read_text(encoding="utf-8")
    (book / name).write_text(text.replace(OWN["url"], f"{URL}-two"), encoding="utf-8")
    refused = run(book, "check", OWN["url"])
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"{name}: {OWN['url']} doesn't stand there; ")


@slow
def test_an_address_edited_by_hand_does_not_leave_the_others_behind(book):
    config = (book / "_config.yml").read_text(encoding="utf-8")
    config = config.replace(OWN["url"], URL)
    (book / "_config.yml").write_text(config, encoding="utf-8")
    refused = run(book, "set", URL)
    assert refused.returncode == 1
    assert refused.stderr.startswith("CITATION.cff, pyproject.toml, attention-au")


def test_a_release_under_another_tag_than_the_books_is_not_published():
    with pytest.raises(ValueError, match=r"from the tag v.*, not v99"):
        check_repository(OWN["url"], "v99")


@slow
def test_the_command_refuses_to_publish_in_one_line(book):
    refused = run(book, "check", URL)
    assert refused.returncode == 1
    assert refused.stderr.count("\n") == 1
    assert refused.stderr.startswith(f"this book is written for {OWN['url']}, ")
    assert run(book, "check", OWN["url"], OWN["branch"]).returncode == 0
