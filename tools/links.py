"""List the links of the book's pages that lead elsewhere, and check each.

    python -m tools.links          asks for every address; fails if one doesn't answer
    python -m tools.links --list   asks for none, and prints each with its page

Sphinx's builder ``linkcheck`` does both. No page needs any of these links to be read.
"""

import argparse
import json
import pathlib
import socket
import sys
import tempfile

from jupyter_book.sphinx import build_sphinx

ROOT = pathlib.Path(__file__).resolve().parent.parent
EVERYTHING = ".*"
A_HOST = ("github.com", 443)
SECONDS = 20


def external_links(**settings):
    """What linkcheck finds out about each external link, named where it stands first.

    Args:
        settings: Sphinx's settings for this run.

    Returns:
        links: dictionaries with filename, uri, status and info, in the order of pages.

    Raises:
        RuntimeError: the book could not be read, so that there is no list.
    """
    with tempfile.TemporaryDirectory() as folder:
        found = pathlib.Path(folder, "links", "output.json")
        build_sphinx(
            ROOT,
            found.parent,
            noconfig=True,
            path_config=ROOT / "_config.yml",
            builder="linkcheck",
            confoverrides={
                "latex_individualpages": False,
                "linkcheck_report_timeouts_as_broken": True,
                **settings,
            },
            really_quiet=True,
        )
        if not found.is_file():
            raise RuntimeError("the book could not be read: see make book")
        lines = found.read_text(encoding="utf-8").splitlines()
    links = map(json.loads, lines)
    external = (link for link in links if link["uri"].startswith("http"))
    return sorted(external, key=lambda link: (link["filename"], link["lineno"]))


def has_network():
    """Whether a well-known host can be reached."""
    try:
        socket.create_connection(A_HOST, timeout=SECONDS).close()
    except OSError:
        return False
    return True


def main():
    """Print the links, or what is wrong with them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="ask for no address")
    if parser.parse_args().list:
        for link in external_links(linkcheck_ignore=[EVERYTHING]):
            print(f"{link['filename']}: {link['uri']}")
        return
    if not has_network():
        sys.exit(
            f"no network: {A_HOST[0]} can't be reached, so no link was checked; "
            "python -m tools.links --list needs none"
        )
    links = external_links(linkcheck_retries=3, linkcheck_timeout=SECONDS)
    broken = [link for link in links if link["status"] == "broken"]
    for link in broken:
        print(f"{link['filename']}: {link['uri']}: {link['info']}")
    print(f"{len(links)} external links, {len(broken)} of them broken")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
