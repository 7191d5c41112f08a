"""Pack the built book into one file that reads without a network.

    python -m tools.offline_edition

The file is named after the book and its version, and so is the one folder in it. The
same pages give the same bytes.
"""

import pathlib
import sys
import zipfile

from helpers import BOOK, __version__

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = f"{BOOK}-{__version__}"


def pack(site, folder):
    """Zip a built book.

    Args:
        site: the folder that holds the pages.
        folder: where the file goes.

    Returns:
        edition: the file's path.

    Raises:
        FileNotFoundError: there are no pages.
    """
    if not (site / "index.html").is_file():
        raise FileNotFoundError(f"{site} holds no built book: run make book")
    edition = folder / f"{NAME}.zip"
    with zipfile.ZipFile(edition, "w") as archive:
        for path in sorted(site.rglob("*")):
            inside = path.relative_to(site)
            if path.is_file() and not inside.parts[0].startswith("."):
                # A ZipInfo without a date holds 1980, whenever the page was built.
                entry = zipfile.ZipInfo(f"{NAME}/{inside.as_posix()}")
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return edition


def main():
    """Pack what make book has built; say where it is, or what is missing."""
    try:
        edition = pack(ROOT / "_build" / "html", ROOT / "_build")
    except FileNotFoundError as error:
        sys.exit(str(error))
    size = edition.stat().st_size / 1e6
    print(f"{edition.relative_to(ROOT).as_posix()}: {size:.1f} MB, opens at index.html")


if __name__ == "__main__":
    main()
