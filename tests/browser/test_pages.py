"""Every page in a real browser with the network closed: over http and from a file."""

import re
import time

import pytest

from tests.test_book import CHAPTERS, PAGES

WIDTHS = (1280, 375)
THEMES = ("light", "dark")


class Watched:
    """A browser page that notes whatever goes wrong on it."""

    def __init__(self, browser, origin):
        self.context = browser.new_context(viewport={"width": 1280, "height": 900})
        self.page = self.context.new_page()
        self.wrong = []
        self.page.route(lambda url: not url.startswith(origin), self._refuse)
        self.page.on("requestfailed", lambda r: self.wrong.append(f"failed: {r.url}"))
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("response", self._answered)
        self.page.on("console", self._said)

    def _refuse(self, route):
        self.wrong.append(f"external: {route.request.url}")
        route.abort()

    def _answered(self, response):
        if response.status >= 400:
            self.wrong.append(f"{response.status}: {response.url}")

    def _said(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(f"console: {message.text}")


@pytest.fixture(params=["http", "file"])
def watched(request, chromium, site):
    if request.param == "http":
        origin = request.getfixturevalue("site_over_http")
    else:
        origin = site.as_uri()
    watched = Watched(chromium, origin)
    watched.origin = origin
    yield watched
    watched.context.close()


@pytest.mark.parametrize("path", PAGES)
def test_a_page_works_without_a_network(watched, path):
    page = watched.page
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.goto(f"{watched.origin}/{path}.html", wait_until="load")
        shown = page.evaluate("document.documentElement.dataset.theme")
        assert shown == theme
        if page.locator(".math").count():
            page.wait_for_selector("mjx-container", state="attached")
        assert page.locator("mjx-merror").count() == 0
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            # Pictures load lazily: walk down the page.
            page.evaluate(
                """async () => {
                    for (const image of document.images) {
                        image.loading = "eager";
                        await image.decode();
                    }
                }"""
            )
            overflow = page.evaluate(
                "document.documentElement.scrollWidth - innerWidth"
            )
            assert overflow <= 0, f"{overflow} pixels too wide at {width} ({theme})"
    assert watched.wrong == []


@pytest.mark.parametrize("path", CHAPTERS)
def test_every_view_of_a_chapter_is_alive(watched, path):
    watched.page.goto(f"{watched.origin}/{path}.html", wait_until="load")
    views = watched.page.locator(".aos-view")
    assert views.count() > 0
    for view in views.all():
        assert view.get_attribute("data-live") is not None
        assert view.locator(".live [data-control]").count() > 0
        assert view.locator("details[open]").count() == 0
    assert watched.wrong == []


@pytest.mark.parametrize("path", CHAPTERS)
def test_without_scripts_a_view_shows_its_numbers(chromium, site, path):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.as_uri()}/{path}.html")
    for view in page.locator(".aos-view").all():
        assert re.search(r"\d", view.locator("table").first.inner_text())
    context.close()


def test_the_model_in_the_page_answers_within_a_second_and_a_half(
    chromium, site_over_http
):
    taken = []
    for _ in range(3):
        page = chromium.new_page()
        started = time.perf_counter()
        page.goto(
            f"{site_over_http}/chapters/09_transformer_block.html", wait_until="commit"
        )
        button = page.locator('[data-module="page_model"] [data-control="one"]')
        button.wait_for()
        story = page.locator('[data-module="page_model"] [data-value="story"]')
        before = story.inner_text()
        button.click()
        assert story.inner_text() != before
        taken.append(time.perf_counter() - started)
        page.close()
    assert min(taken) < 1.5


def test_pages_and_site_are_small(site):
    pages = [site / f"{path}.html" for path in PAGES]
    assert max(page.stat().st_size for page in pages) < 3_000_000
    files = [path for path in site.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 25_000_000


def test_a_missing_file_and_a_foreign_request_are_noticed(watched):
    watched.page.goto(f"{watched.origin}/{PAGES[0]}.html")
    watched.page.evaluate(
        """async () => {
            await fetch("nowhere.html").catch(() => null);
            await fetch("https://example.org/").catch(() => null);
            console.error("spoken");
        }"""
    )
    watched.page.wait_for_timeout(200)
    noted = " ".join(watched.wrong)
    assert "nowhere.html" in noted
    assert "external: https://example.org/" in noted
    assert "console: spoken" in noted
