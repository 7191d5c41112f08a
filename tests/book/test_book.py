"""The built book as files: every page is there, and asks nothing of a network."""

import base64
import functools
import hashlib
import html
import html.parser
import importlib
import re
import struct

import pytest
import yaml

from _ext.moved import MOVED
from _ext.reading_time import TIME
from experiments.learning_in_the_page import rates_of
from helpers.recorded import results
from tests import ROOT
from tests.conftest import PUBLISHED, UNPUBLISHED

TOC = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
PAGES = [
    TOC["root"],
    *(chapter["file"] for part in TOC["parts"] for chapter in part["chapters"]),
]
CHAPTERS = [page for page in PAGES if re.search(r"/\d\d_", page)]
LEFT_OUT = re.compile(r"<(script|style|svg|pre)\b.*?</\1>", re.DOTALL)
CODE = re.compile(r"<code\b.*?</code>", re.DOTALL)
INLINE = re.compile(r"</?(?:a|abbr|b|em|i|span|strong|sub|sup)\b[^>]*>")
WRONG_WAY = re.compile(r"\w“|“(?=[\s,;]|$)")  # opens where a quotation closes
MADE = ["404", "genindex", "py-modindex", "search"]  # pages that have no source


class Elements(html.parser.HTMLParser):
    """A page's elements, as pairs of tag and attributes, and its inline scripts."""

    def __init__(self, text):
        super().__init__()
        self.found, self.scripts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if self._in_a_script():
            self.scripts.append("")

    def handle_data(self, data):
        if self._in_a_script() and self.cdata_elem == "script":
            self.scripts[-1] += data

    def _in_a_script(self):
        tag, attrs = self.found[-1] if self.found else ("", {})
        return tag == "script" and "src" not in attrs


def test_no_page_shows_the_line_that_folds_code_in_colab(site):
    for page in PAGES:
        assert "@title" not in text_of(site, page), page


def text_of(site, page):
    return (site / f"{page}.html").read_text(encoding="utf-8")


def elements(site, page):
    """A page's elements, to read only."""
    return parsed(site, page).found


@functools.cache  # a dozen tests ask for each page
def parsed(site, page):
    return Elements(text_of(site, page))


def preview(site, page):
    """What a page tells of itself to search engines and previews."""
    return {
        attrs.get("property") or attrs.get("name"): attrs.get("content")
        for tag, attrs in elements(site, page)
        if tag == "meta"
    }


def policy_of(site, page):
    """The page's content security policy: a set of sources for each directive."""
    [policy] = [
        attrs["content"]
        for tag, attrs in elements(site, page)
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    return {
        name: set(sources)
        for name, *sources in (part.split() for part in policy.split("; "))
    }


@pytest.mark.parametrize("page", PAGES)
def test_a_page_loads_nothing_from_elsewhere(site, page):
    loaded = [
        attrs.get("src") or attrs.get("href")
        for tag, attrs in elements(site, page)
        if tag in ("script", "img", "link", "iframe", "source")
        and attrs.get("rel") != "canonical"
    ]
    assert [address for address in loaded if address and "//" in address] == []


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_picture_of_a_chapter_has_its_numbers_in_words(site, page):
    pictures = [
        attrs
        for tag, attrs in elements(site, page)
        if tag == "svg" and attrs.get("class") == "picture"
    ]
    assert pictures
    for attrs in pictures:
        assert attrs["role"] == "img"
        # Decimals, or whole numbers where a picture counts: places, processes, pages.
        numbers = re.findall(r"\d+\.\d+|\b\d+\b", attrs["aria-label"])
        assert any("." in one for one in numbers) or len(numbers) >= 4


@pytest.mark.parametrize("page", PAGES)
def test_a_book_without_an_address_has_no_button_that_leads_nowhere(site, page):
    links = [attrs.get("href", "") for _, attrs in elements(site, page)]
    services = ("https://colab.", "https://mybinder.", "#no-address", UNPUBLISHED)
    assert [link for link in links if link.startswith(services)] == []


ROOMS = ["tiles", "models", "text", "parallel", "training", "notebook", "recorded"]


def test_the_api_page_documents_every_public_name(site):
    identifiers = {attrs.get("id") for _, attrs in elements(site, "chapters/api")}
    rooms = ("", *(f"{room}/" for room in ROOMS))
    paths = [path for room in rooms for path in ROOT.glob(f"helpers/{room}[a-z]*.py")]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths}
    for name in sorted(names - {"helpers.validation"}):
        module = importlib.import_module(name)
        for name, value in vars(module).items():
            is_own = getattr(value, "__module__", None) == module.__name__
            if is_own and not name.startswith("_"):
                assert f"{module.__name__}.{name}" in identifiers


# --- the reader's page ----------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_a_title_a_description_and_a_picture(site, page):
    told = preview(site, page)
    book = "Attention, One Step at a Time"
    [title] = re.findall(r"<title>(.*)</title>", text_of(site, page))
    assert title.count(book) == 1
    assert html.unescape(title.removesuffix(f" &#8212; {book}")) == told["og:title"]
    assert told["og:site_name"] == book
    assert told["description"] == told["og:description"]
    assert re.fullmatch(r".{30,200}(?<!,)[.?]", told["description"])
    picture = (site / page).parent / told["og:image"]
    assert picture.read_bytes()[16:24] == struct.pack(">2I", 1146, 600)


def test_no_two_pages_are_described_alike(site):
    told = [preview(site, page)["description"] for page in PAGES]
    assert len(set(told)) == len(PAGES)


@pytest.mark.parametrize("page", [*PAGES, *MADE])
def test_a_page_allows_no_scripts_but_those_it_was_built_with(site, page):
    policy = policy_of(site, page)
    found = parsed(site, page)
    written = found.scripts + [
        value
        for _, attrs in found.found
        for name, value in attrs.items()
        if name.startswith("on")
    ]
    digests = {hashlib.sha256(one.encode()).digest() for one in written}
    allowed = {f"'sha256-{base64.b64encode(one).decode()}'" for one in digests}
    if 'data-module="real_model"' in text_of(site, page):
        allowed.add("'wasm-unsafe-eval'")
    assert policy.pop("script-src") == {"'self'", "'unsafe-hashes'", *allowed}
    assert policy == {
        "default-src": {"'none'"},
        "worker-src": {"blob:"},
        "style-src": {"'self'", "'unsafe-inline'"},
        "img-src": {"'self'", "data:"},
        "font-src": {"'self'"},
        "form-action": {"'self'", "file:"},
        "base-uri": {"'none'"},
    }


@pytest.mark.parametrize("page", [*PAGES, *MADE, "index"])
def test_the_policy_stands_before_all_that_it_governs(site, page):
    tags = [(tag, attrs.get("http-equiv")) for tag, attrs in elements(site, page)]
    place = tags.index(("meta", "Content-Security-Policy"))
    assert {tag for tag, _ in tags[:place]} <= {"html", "head", "meta"}
    assert ("meta", "Refresh") not in tags[:place]


@pytest.mark.parametrize("page", [*PAGES, *MADE])
def test_a_page_shows_the_books_version_and_mark(site, page):
    import helpers

    text = text_of(site, page)
    assert f'<p class="edition">Version {helpers.__version__}</p>' in text
    images = [attrs for tag, attrs in elements(site, page) if tag == "img"]
    marks = [attrs for attrs in images if "logo__image" in attrs.get("class", "")]
    assert marks
    for attrs in marks:
        assert ((site / page).parent / attrs["src"]).name == "logo.svg"
        assert ((site / page).parent / attrs["src"]).is_file()


@pytest.mark.parametrize("page", [*PAGES, *MADE])
def test_a_page_names_its_authors_and_licences(site, page):
    text = text_of(site, page)
    foot = text[text.index("<footer class=") :]
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert f"By {settings['author']}" in foot
    licence = re.search(
        r"Code: MIT. Text and figures: CC BY 4.0. <a href=\"([^\"]+)\"", foot
    )
    file = (site / page).parent / licence[1]
    assert file.read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert "Report a mistake" not in text


@pytest.mark.slow
def test_a_mistake_is_reported_where_the_book_has_an_address(published):
    for page in ("chapters/index", "404"):
        links = re.findall(
            r'<a href="([^"]+)">Report a mistake</a>', text_of(published[0], page)
        )
        assert links == [f"{PUBLISHED}/issues/new"]


def test_the_mark_has_the_books_colours():
    mark = (ROOT / "_static" / "logo.svg").read_text(encoding="utf-8")
    assert set(re.findall(r"#[0-9A-F]{6}", mark)) == {
        *("#0072B2", "#D55E00", "#009E73", "#CC79A7"),
    }


@pytest.mark.parametrize("page", PAGES)
def test_quotation_marks_face_their_quotation(site, page):
    text = text_of(site, page)
    text = text[text.index("<article") : text.rindex("</article>")]
    text = INLINE.sub("", CODE.sub("x", LEFT_OUT.sub("", text)))
    parts = [html.unescape(one) for one in re.split(r"<[^>]*>", text)]
    wrong = [part for part in parts if WRONG_WAY.search(part)]
    assert wrong == [], "if a quoted text ends in a space, write it as code: `old `"


def test_no_page_shows_that_a_cell_has_written_its_file(site):
    written = [page for page in PAGES if "%%writefile" in text_of(site, page)]
    assert "chapters/15_many_machines" in written
    for page in written:
        assert not re.search(r"(Overw|>W)riting \w+\.py", text_of(site, page)), page


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_the_time_that_its_text_states(site, page):
    text = text_of(site, page)
    shown = re.findall(r'<span class="reading-time">([^<]*)</span>', text)
    source = ROOT / f"{page}.ipynb"
    stated = None
    if source.exists():
        stated = TIME.search(source.read_text(encoding="utf-8"))
    if stated is None:
        assert shown == []
        return
    reading, exercises = stated.groups()
    assert shown == [
        f"{reading} minutes of reading"
        + (f", {exercises} of exercises" if exercises else "")
    ]


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_chapter_states_its_time(site, page):
    assert "minutes of reading" in text_of(site, page)


@pytest.mark.parametrize("page", PAGES)
def test_exercises_say_where_they_run(site, page):
    text = text_of(site, page)
    lines = re.findall(r'<p class="where-they-run">(.+?)</p>', text)
    assert len(lines) == text.count('<section id="exercises">')
    front = text_of(site, PAGES[0])
    for line in lines:
        links = re.findall(r'href="index\.html#([\w-]+)"', line)
        assert len(links) == 2
        assert all(f'<section id="{link}">' in front for link in links)
    source = ROOT / f"{page}.ipynb"
    exercises = source.exists() and '"## Exercises' in source.read_text("utf-8")
    assert len(lines) == exercises


def test_pages_lead_to_their_neighbours_by_title(site):
    titles = [preview(site, page)["og:title"] for page in PAGES]
    for i, page in enumerate(PAGES):
        text = text_of(site, page)
        shown = re.findall(r'<p class="prev-next-title">(.*?)</p>', text)
        expected = titles[max(i - 1, 0) : i] + titles[i + 1 : i + 2]
        assert [html.unescape(one) for one in shown] == expected


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_chapter_lists_its_sections_beside_the_text(site, page):
    text = text_of(site, page)
    sections = re.findall(r'<section id="([^"]+)">\n<h2>', text)
    listed = text[text.index('id="pst-page-toc-nav') :]
    assert len(sections) > 4
    assert [one for one in sections if f'href="#{one}"' not in listed] == []


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_chapter_ends_with_what_to_remember(site, page):
    assert {"id": "what-to-remember"} in [
        attrs for tag, attrs in elements(site, page) if tag == "section"
    ]


@pytest.mark.slow
def test_the_front_page_has_three_doors_and_a_fourth_to_colab(site, published):
    text = text_of(site, "chapters/index")
    found = []
    for page in (text, text_of(published[0], "chapters/index")):
        doors = page[page.index('class="doors') : page.index('class="aos-view"')]
        found.append(re.findall(r'href="([^"]+)".*?<strong>(.*?)</strong>', doors))
    doors = ["Read", "Open a real model", "Run here"]
    assert [name for _, name in found[0]] == doors
    assert [name for _, name in found[1]] == [*doors, "Run in Colab"]
    (read, _), (model, _), (here, _) = found[0]
    assert (site / "chapters" / read).is_file()
    chapter, _, section = model.partition("#")
    name = f"chapters/{chapter.removesuffix('.html')}"
    opened = text_of(site, name)
    assert opened.index(f'id="{section}"') < opened.index('data-module="real_model"')
    assert f'<section id="{here[1:]}">' in text


def test_the_front_page_states_the_minutes_of_recorded_trainings():
    runs = [
        run
        for run in results.record("learning_in_the_page")["runs"]
        if run["rates"] == rates_of(run["recipe"], 1)
    ]
    assert len(runs) == 10
    minutes = [run["steps"] * run["milliseconds"] / 60_000 for run in runs]
    text = (ROOT / f"{PAGES[0]}.md").read_text(encoding="utf-8")
    stated = re.search(r"its (\d+) steps took (\d) to (\d) minutes", text).groups()
    found = [runs[0]["steps"], round(min(minutes)), round(max(minutes))]
    assert [int(one) for one in stated] == found


def test_the_front_page_shows_a_view_as_its_chapter_does(site):
    view = re.compile(r'<div class="aos-view" data-view="[^"]+" data-module="unfini.*')
    texts = map(text_of, [site] * 2, [PAGES[0], CHAPTERS[0]])
    parts = [view.search(text) for text in texts]
    assert parts[0][0] == parts[1][0]


def test_a_missing_page_is_answered_by_one_that_leads_on(site):
    text = text_of(site, "404")
    body = text[text.index("<article") : text.index("</article>")]
    links = re.findall(r'href="([^"]+)"', body)
    assert len(links) == 2
    assert all((site / link).is_file() for link in links)


@pytest.mark.parametrize("former", MOVED)
def test_an_address_that_a_page_had_before_leads_on_to_it(site, former):
    assert former not in PAGES
    assert MOVED[former] in PAGES
    address = f"{MOVED[former].removeprefix('chapters/')}.html"
    found = elements(site, former)
    (forwards,) = (a["content"] for tag, a in found if a.get("http-equiv") == "refresh")
    assert forwards == f"0; url={address}"
    assert [a["href"] for tag, a in found if tag == "a"] == [address]


def test_a_book_without_an_address_publishes_none(site):
    for text in (text_of(site, page) for page in [*PAGES, *MADE]):
        assert 'rel="canonical"' not in text
        assert "og:url" not in text
    assert not (site / "sitemap.xml").exists()
