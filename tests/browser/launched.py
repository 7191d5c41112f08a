"""A headless Chromium, for tests and for measurements."""

import contextlib
import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextlib.contextmanager
def launched():
    """The browser: Debian's Chromium, or the one that Playwright has installed.

    Raises:
        playwright.sync_api.Error: none is installed.
    """
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox"]
        )
        yield browser
        browser.close()
