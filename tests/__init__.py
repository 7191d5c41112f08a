"""The tests of ``helpers`` (unit), the pages (book, browser) and the project itself."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
