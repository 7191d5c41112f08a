"""Every page in a real browser with the network closed: over http and from a file."""

import re
import zlib

import pytest

from tests import ROOT
from tests.book.test_book import CHAPTERS, MADE, PAGES
from tests.browser.axe import ALIKE, LIGHT, violations
from tests.browser.watched import DESKTOP
from tests.browser.widths import CLOSE, OPEN, cut_off
from tools import notebooks

WIDTHS = (1280, 375)
THEMES = ("light", "dark")
OF_EACH_KIND = [PAGES[0], CHAPTERS[0], CHAPTERS[-1], *MADE]
PAPER = {"width": 680, "height": 960}
# Pictures load lazily: ask for all, as one does who walks down the page.
LOAD_PICTURES = """async () => {
    for (const image of document.images) {
        image.loading = "eager";
        await image.decode();
    }
}"""
# For each view: is it alive, how many controls has it, are its tables folded?
VIEWS = """() => [...document.querySelectorAll(".aos-view")].map((view) => [
    view.dataset.live !== undefined,
    view.querySelectorAll(".live [data-control]").length > 0,
    view.querySelector("details[open]") === null,
])"""

# Parts of a drawing that a rule of the page's theme has made invisible.
FLAT = """() => [...document.querySelectorAll(".aos-diagram rect")].filter(
    (one) => Number(one.getAttribute("height")) !== one.getBBox().height
).length"""


# On paper: what is folded, wider than the sheet, filled with a pattern, or torn in two.
SPOILED = """() => {
    const spoiled = [];
    const say = (how, one) => spoiled.push(`${how}: ${one.outerHTML.slice(0, 150)}`);
    const seen = (one) => one.checkVisibility();
    for (const one of document.querySelectorAll(".bd-article details"))
        if (!one.closest('.aos-view:not([data-module="quiz"])')
            && seen(one.parentElement) && !seen(one.lastElementChild))
            say("folded", one);
    const sheet = document.querySelector(".bd-article").getBoundingClientRect();
    for (const one of document.querySelectorAll(
        ".bd-article :is(pre, p, li, td, svg, img, mjx-math)")) {
        const { right, width } = one.getBoundingClientRect();
        if (width && seen(one) && right > sheet.right + 1) say("wide", one);
    }
    for (const one of document.querySelectorAll(".bd-article td.off"))
        if (getComputedStyle(one).backgroundImage !== "none") say("pattern", one);
    for (const one of document.querySelectorAll(".bd-article :is(.cell, figure, tr)"))
        if (getComputedStyle(one).breakInside !== "avoid") say("torn", one);
    for (const one of document.querySelectorAll(".bd-article :is(h2, h3)"))
        if (getComputedStyle(one).breakAfter !== "avoid") say("left alone", one);
    return spoiled;
}"""


@pytest.fixture
def watched(one_page):
    one_page.start_anew()
    return one_page


def visit(watched, path):
    """Open a page of the site, and wait for its formulas and pictures."""
    page = watched.page
    page.goto(f"{watched.origin}/{path}.html", wait_until="load")
    if page.locator(".math").count():
        page.wait_for_selector("mjx-container", state="attached")
    assert page.locator("mjx-merror").count() == 0
    formulas = page.locator("mjx-assistive-mml").all_text_contents()
    assert [one for one in formulas if "\\" in one] == []
    page.evaluate(LOAD_PICTURES)


def assert_fits(page, theme):
    """In its theme, a page is nowhere wider than the screen."""
    page.locator(f'html[data-theme="{theme}"]').wait_for()
    for width in WIDTHS:
        page.set_viewport_size(DESKTOP | {"width": width})
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert overflow <= 0, f"{overflow} pixels too wide at {width} ({theme})"


def assert_views_are_alive(page):
    views = page.evaluate(VIEWS)
    assert views
    assert [view for view in views if view != [True, True, True]] == []
    assert page.evaluate(FLAT) == 0


EITHER_WAY = pytest.mark.parametrize("one_page", ["http", "file"], indirect=True)
FROM_A_FILE = pytest.mark.parametrize("one_page", ["file"], indirect=True)


# A long page takes 10 seconds, most of them for its layout at eight sizes.
# Those of each kind are visited each time, all others with what is slow.
@FROM_A_FILE
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=() if path in OF_EACH_KIND else pytest.mark.slow)
        for path in [*PAGES, *MADE]
    ],
)
def test_one_visit_of_a_page(watched, path):
    """All widths, what axe finds to mend, its views, and a chapter on paper."""
    page = watched.page
    visit(watched, path)
    assert cut_off(page) == []
    page.set_viewport_size(DESKTOP)
    page.evaluate(OPEN)
    assert violations(page, ALIKE, **LIGHT) == []
    page.evaluate(CLOSE)
    if path in CHAPTERS:
        assert_views_are_alive(page)
        assert_prints_well(page)
    assert watched.wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("one_page", ["http"], indirect=True)
@pytest.mark.parametrize("path", OF_EACH_KIND)  # a server spoils all of a kind
def test_a_page_of_each_kind_in_both_themes_over_http(watched, path):
    watched.page.emulate_media(color_scheme=THEMES[1])
    visit(watched, path)
    for theme in THEMES[::-1]:
        watched.page.emulate_media(color_scheme=theme)
        assert_fits(watched.page, theme)
    if path in CHAPTERS:
        assert_views_are_alive(watched.page)
    assert watched.wrong == []


def test_without_scripts_a_view_shows_its_numbers(chromium, site):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.as_uri()}/{CHAPTERS[0]}.html")
    views = page.locator(".aos-view").all()
    assert views
    for view in views:
        assert re.search(r"\d", view.locator("table").first.inner_text())
    context.close()


@pytest.mark.parametrize("path", CHAPTERS)
def test_every_view_brings_a_table_with_numbers(site, path):
    stored = list(notebooks.views_of(notebooks.read(ROOT / f"{path}.ipynb")))
    page = (site / f"{path}.html").read_text(encoding="utf-8")
    assert page.count('class="aos-view') == len(stored) > 0
    for data in stored:
        table = re.search(r"<table>.*?</table>", data["text/html"], re.DOTALL)[0]
        assert re.search(r"\d", re.sub(r"<[^>]*>", "", table))


@FROM_A_FILE
@pytest.mark.parametrize("theme", THEMES)
def test_the_table_of_an_audit_has_the_pages_own_ground(watched, theme):
    """The theme lays a pale ground below other HTML in the dark; axe can't tell."""
    page = watched.page
    page.emulate_media(color_scheme=theme)
    page.goto(f"{watched.origin}/chapters/audit.html")
    page.locator(f'html[data-theme="{theme}"]').wait_for()
    grounds = page.locator(".text_html:has(> .audit)").evaluate_all(
        "all => all.map((one) => getComputedStyle(one).backgroundColor)"
    )
    assert set(grounds) == {"rgba(0, 0, 0, 0)"}


def test_pages_and_site_are_small(site):
    pages = [site / f"{path}.html" for path in PAGES]
    assert max(page.stat().st_size for page in pages) < 3_000_000
    for page in pages:  # as servers send it
        assert len(zlib.compress(page.read_bytes())) < 200_000, page
    files = [path for path in site.rglob("*") if path.is_file()]
    assert not [path for path in files if path.suffix == ".map"]
    assert not (site / "_static" / "locales").exists()
    # The theme and MathJax, and with each page its notebook and its preview.
    most = 6_000_000 + 500_000 * len(pages)
    assert sum(path.stat().st_size for path in files) < most


@EITHER_WAY
def test_a_missing_file_and_a_foreign_request_are_noticed(watched):
    # A file without a policy, which would refuse both.
    watched.page.goto(f"{watched.origin}/_static/logo.svg")
    watched.page.evaluate(
        """async () => {
            await fetch("nowhere.html").catch(() => null);
            await fetch("https://example.org/").catch(() => null);
            console.error("spoken");
        }"""
    )
    for noted in ("nowhere.html", "external: https://example.org/", "console: spoken"):
        watched.wait_for(re.escape(noted))


@FROM_A_FILE
@pytest.mark.parametrize("size", [(1280, 800), (375, 812)])
def test_the_first_screen_holds_the_doors_and_a_live_view(watched, size):
    page = watched.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.goto(f"{watched.origin}/{PAGES[0]}.html")
    doors = page.locator(".doors a")
    write = page.locator('.aos-view [data-control="write"]')
    assert doors.count() == 3
    for one in [*doors.all(), write]:
        box = one.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= size[1]
    drawing = page.locator(".aos-view svg").first.bounding_box()
    assert size[1] - drawing["y"] > drawing["height"]
    story = page.locator('.aos-view [data-value="text"]')
    before = story.text_content()
    write.focus()
    page.keyboard.press("Enter")
    assert page.evaluate("scrollY") == 0
    assert story.text_content() == f"{before}y"
    assert watched.wrong == []


def test_controls_agree_with_their_view_after_the_way_back(chromium, site):
    """What a browser restores by itself, it restores without telling the view."""
    page = chromium.new_page()
    page.goto(f"{site.as_uri()}/{CHAPTERS[0]}.html")
    view = page.locator('[data-module="unfinished_story"] .live')
    view.locator('[data-control="works"]').uncheck()
    view.locator('[data-control="story"]').select_option(index=1)
    page.goto(f"{site.as_uri()}/{PAGES[-1]}.html")
    page.go_back()
    view.wait_for()
    assert view.locator('[data-control="works"]').is_checked()
    assert "it is off" not in view.locator('[data-value="sentence"]').text_content()
    first = view.locator('[data-control="story"] option').first
    assert view.locator('[data-control="story"]').input_value() == first.text_content()
    page.close()


@EITHER_WAY
def test_a_script_that_the_page_was_not_built_with_does_not_run(watched):
    page = watched.page
    page.goto(f"{watched.origin}/{CHAPTERS[0]}.html")
    page.evaluate(
        """async () => {
            const script = document.createElement("script");
            script.textContent = "document.title = 'taken'";
            document.body.append(script);
            const link = document.createElement("div");
            link.innerHTML = `<img src="x" onerror="document.title = 'taken'">`;
            document.body.append(link);
            await fetch("search.html").catch(() => null);
            await fetch("https://example.org/").catch(() => null);
        }"""
    )
    for what in ("inline script", "inline event handler", "search.html", "example.org"):
        watched.wait_for(rf"{what}.*Content Security Policy")
    assert "taken" not in page.title()
    assert "external:" not in " ".join(watched.wrong)


@FROM_A_FILE
def test_the_buttons_above_a_chapter_work(watched):
    page = watched.page
    page.goto(f"{watched.origin}/{CHAPTERS[0]}.html")
    page.evaluate("window.print = () => { document.title = 'printed' }")
    page.locator(".dropdown-download-buttons > button").click()
    page.locator(".btn-download-pdf-button").click()
    assert page.title() == "printed"
    page.locator(".btn-fullscreen-button").click()
    page.wait_for_function("document.fullscreenElement !== null")
    assert watched.wrong == []


def assert_prints_well(page):
    """On paper a chapter is its text in dark ink, with every view."""
    page.set_viewport_size(PAPER)
    page.emulate_media(media="print")
    for hidden in (
        ".bd-sidebar-primary",
        ".bd-sidebar-secondary",
        ".bd-header-article",
    ):
        assert not page.locator(hidden).first.is_visible()
    assert page.locator(".bd-article h1").is_visible()
    for view in page.locator(".aos-view").all():
        assert view.locator(".live").is_visible()
        assert style(view, "breakInside") == "avoid"
    assert style(page.locator("#what-to-remember"), "breakInside") == "avoid"
    assert style(page.locator("#what-to-remember"), "borderLeftStyle") == "solid"
    for text in (
        ".bd-article p",
        ".cell_input .highlight span",
        "#what-to-remember td",
    ):
        red, green, blue = map(
            int, re.findall(r"\d+", style(page.locator(text).first, "color"))[:3]
        )
        assert 0.3 * red + 0.6 * green + 0.1 * blue < 140
    cut = page.locator(".bd-article pre").evaluate_all(
        "all => all.filter((one) => one.scrollWidth > one.clientWidth + 1).length"
    )
    assert cut == 0
    assert page.evaluate(SPOILED) == []


@pytest.mark.slow
@FROM_A_FILE
@pytest.mark.parametrize(
    "path", [CHAPTERS[7], CHAPTERS[10], CHAPTERS[13]], ids=["8", "11", "14"]
)
def test_the_largest_pages_print_into_a_small_file(watched, path):
    """Of all pages, these made the largest files, with the colours of their cells."""
    visit(watched, path)
    assert len(watched.page.pdf(print_background=True)) < 3_000_000


def style(locator, name):
    """One property of an element as the browser has computed it."""
    return locator.evaluate("(one, name) => getComputedStyle(one)[name]", name)


@pytest.mark.slow
def test_a_missing_page_leads_on_from_any_depth(chromium, published):
    pages, _ = published
    origin = "https://someone.github.io"
    context = chromium.new_context()
    page = context.new_page()

    def answer(route):
        path = pages / route.request.url.split("?")[0].removeprefix(
            f"{origin}/some-book/"
        )
        if path.is_file():
            route.fulfill(path=path)
        else:
            route.fulfill(path=pages / "404.html", status=404)

    refused = []
    page.on("console", lambda message: refused.append(message.text))
    page.route("**", answer)
    page.goto(f"{origin}/some-book/a/b/nowhere.html")
    assert style(page.locator(".edition"), "marginBottom") == "0px"  # has its style
    page.get_by_role("link", name="The front page").click()
    page.wait_for_url(f"{origin}/some-book/chapters/index.html")
    assert page.locator(".doors a").count() == 4
    assert [one for one in refused if "Content Security Policy" in one] == []
    context.close()
