"""A pytest plugin: a model that others trained is fetched once, or its tests skipped.

A notebook says which ones it needs, in its metadata under ``book``, ``models``. Where
BOOK_REQUIRE_MODELS is set, as in continuous integration, a model that can't be fetched
fails its tests.
"""

import functools
import os

import filelock
import pytest
from nbval.plugin import IPyNbCell

from helpers.models.pretrained.files import ModelUnavailable, folder_of
from helpers.text.corpus import cache_folder


@functools.cache
def _missing(name):
    """Why a model can't be had; None where it is there."""
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / f".{name}.lock"):  # the workers ask at once
        try:
            folder_of(name)
        except ModelUnavailable as error:
            return str(error)
    return None


def need(name):
    """Skip what asks for a model that can't be had, or let it fail."""
    reason = _missing(name)
    if reason and os.environ.get("BOOK_REQUIRE_MODELS"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)


def pytest_runtest_setup(item):
    """A notebook's cells, before each is run."""
    if isinstance(item, IPyNbCell):
        for name in item.parent.nb.metadata.get("book", {}).get("models", ()):
            need(name)
