"""Give the book another public address, and check it before the book is published.

    python -m tools.repository set https://github.com/someone/some-book
    python -m tools.repository check https://github.com/someone/some-book TAG

``set`` writes the address into ``repository.url`` in ``_config.yml``, from which the
pages are built, and into every file that repeats it. ``check`` fails unless all of them
name the repository, and the settings the tag where one is named, that publishes it.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import yaml

from _ext.address import PLACEHOLDER, Address

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPEATING = (
    *("_config.yml", "CITATION.cff", "README.md"),
    *("pyproject.toml", "attention-audit/pyproject.toml"),
)
FIRST_CHAPTER = "chapters/01_dot_product_attention.ipynb"
COLAB_BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
BINDER = "https://mybinder.org"
BADGES = re.compile(r"(?<=<!-- badges -->\n).*?(?=<!-- end of badges -->)", re.DOTALL)


def settings():
    """What ``_config.yml`` says of the repository: its url, and its branch."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return config["repository"]


def badges(address, tag):
    """README's badges for a release; none while they would lead nowhere."""
    if PLACEHOLDER in address.url:
        return ""
    repository = "/".join(address)
    ci = f"{address.url}/actions/workflows/ci.yml"
    colab = address.colab(tag, FIRST_CHAPTER)
    binder = f"{BINDER}/v2/gh/{repository}/{tag}?urlpath=lab/tree/chapters"
    return (
        f"[![ci]({ci}/badge.svg)]({ci})\n"
        f"[![Open in Colab]({COLAB_BADGE})]({colab})\n"
        f"[![Open in Binder]({BINDER}/badge_logo.svg)]({binder})\n\n"
        f"Read it at {address.site}\n"
    )


def moved(text, old, new):
    """The text with each link to the old repository or its pages leading to the new."""
    text = re.sub(rf"{re.escape(old.url)}(?![\w-]|\.(?!git\b)\w)", new.url, text)
    return text.replace(old.site, new.site)


def set_repository(url):
    """Write the address into every file that repeats it; return what has changed."""
    new = Address.parse(url)
    was = settings()
    old = Address.parse(was["url"])
    changed = []
    for path in (ROOT / name for name in REPEATING):
        before = path.read_text(encoding="utf-8")
        after = moved(before, old, new)
        if path.name == "README.md":
            after = BADGES.sub(lambda _: badges(new, was["branch"]), after)
        if after != before:
            path.write_text(after, encoding="utf-8", newline="\n")
            changed.append(path)
    changed += write_setup_cells()
    if missing := unaware(new):
        raise ValueError(
            f"{', '.join(missing)}: neither {old.url} nor {new.url} stands there; "
            "write the address in by hand, and run this again"
        )
    return changed


def unaware(address):
    """The files that should repeat an address, and hold another one or none."""
    paths = [ROOT / name for name in REPEATING]
    if PLACEHOLDER in address.url:
        paths.remove(ROOT / "README.md")  # it has no badges then
    paths += sorted((ROOT / "chapters").glob("*.ipynb"))
    whole = re.compile(rf"{re.escape(address.url)}(?![\w.-])")
    texts = ((path, path.read_text(encoding="utf-8")) for path in paths)
    return [
        path.relative_to(ROOT).as_posix()
        for path, text in texts
        if not whole.search(text)
    ]


def write_setup_cells():
    """Let the notebooks' own command write their setup cells; return what changed."""
    notebooks = sorted((ROOT / "chapters").glob("*.ipynb"))
    before = [path.read_bytes() for path in notebooks]
    command = [sys.executable, "-m", "tools.notebooks", "format"]
    subprocess.run(command, cwd=ROOT, check=True)
    pairs = zip(notebooks, before, strict=True)
    return [path for path, old in pairs if path.read_bytes() != old]


def check_repository(url, tag=""):
    """Raise a ValueError where the book was written for another repository, or tag."""
    own = settings()
    if own["url"] != url:
        raise ValueError(
            f"this book is written for {own['url']}, and this is {url}: "
            f"run python -m tools.repository set {url} and commit what it changes"
        )
    if missing := unaware(Address.parse(url)):
        raise ValueError(
            f"{', '.join(missing)}: {url} doesn't stand there; "
            f"run python -m tools.repository set {url} and commit what it changes"
        )
    if tag and tag != own["branch"]:
        raise ValueError(
            f"this book installs itself from the tag {own['branch']}, not {tag}: "
            f"release it as {own['branch']}, or give the book a new version, as "
            "CONTRIBUTING.md has it"
        )


def main():
    """Set or check the address; what is wrong with it is one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("set", "check"))
    parser.add_argument("url")
    parser.add_argument("tag", nargs="?", default="")
    arguments = parser.parse_args()
    try:
        if arguments.command == "check":
            check_repository(arguments.url, arguments.tag)
            return
        changed = set_repository(arguments.url)
    except ValueError as error:
        sys.exit(str(error))
    for path in changed:
        print(path.relative_to(ROOT).as_posix())
    print(f"{len(changed)} files changed")


if __name__ == "__main__":
    main()
