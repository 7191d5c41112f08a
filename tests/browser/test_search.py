"""The search in Chromium: what comes first, what a hit shows, keys, hostile words."""

import json
import re

import pytest

from tests.browser.test_accessibility import violations

PAGE = "chapters/notation"  # it has no views, so it loads quickly
DIALOG = "#pst-search-dialog"
SECTIONS = "**/search-sections.js*"
# What is looked for, and the page that comes first or behind an entry of the glossary.
FIRST = {
    "kv cache": "kv_cache",
    "KV caches": "kv_cache",
    "the kv cac": "kv_cache",
    "causal mask": "04_causal_masking",
    "masking": "04_causal_masking",
    "softmax": "01_dot_product_attention",
    "what is attention": "01_dot_product_attention",
    "dropout": "05_dropout",
    "rotary": "12_positions",
    "muon": "muon",
    "multi-head attention": "06_multi_head",
    "layer norm": "09_transformer_block",
    "flash attention": "14_attention_in_pieces",
    "AdamW": "10_training",
    "register_buffer": "04_causal_masking",
}
HOSTILE = "<img src=x onerror=\"document.title='taken'\"> zebra"


@pytest.fixture
def searched(one_page):
    """A chapter with its search open; nothing may go wrong on it."""
    one_page.start_anew()
    one_page.page.goto(f"{one_page.origin}/{PAGE}.html")
    one_page.page.keyboard.press("Control+k")
    yield one_page
    one_page.page.unroute(SECTIONS)
    one_page.page.evaluate("0")  # whatever was said before this answer has been noted
    assert one_page.wrong == []


def ask(page, query, place=DIALOG):
    """Write a query in place of what stands there, and wait for its answer."""
    field = page.locator(f"{place} input")
    status = page.locator(f"{place} .search-status")
    field.fill("")
    page.wait_for_function("one => !one.textContent", arg=status.element_handle())
    field.fill(query)
    page.wait_for_function(
        "one => /hit|found|loaded/.test(one.textContent)", arg=status.element_handle()
    )
    return status.inner_text()


def hits(page, place=DIALOG):
    """The hits that are shown: each its address and its lines."""
    return page.locator(f"{place} .search-hits a:has(.search-title)").evaluate_all(
        """all => all.map((one) => ({
            address: one.href.replace(/.*\\/chapters\\//, ""),
            page: one.querySelector(".search-page").textContent,
            title: one.querySelector(".search-title").textContent,
            snippet: one.querySelector(".search-snippet").textContent,
            marked: [...one.querySelectorAll("mark")].map((mark) => mark.textContent),
        }))"""
    )


def name_of(hit):
    return re.split(r"\.html", hit["address"])[0]


def test_the_page_of_a_term_comes_first_and_the_api_last(searched):
    for query, wanted in FIRST.items():
        ask(searched.page, query)
        found = [name_of(hit) for hit in hits(searched.page)]
        without_glossary = [name for name in found if name != "glossary"]
        assert without_glossary[0] == wanted, query
        assert found.index(wanted) <= 1, query
        assert found == sorted(found, key=lambda name: name == "api"), query
        assert max(found.count(name) for name in found) <= 3, query


def test_a_page_that_is_called_so_is_the_first_of_all_hits(searched):
    ask(searched.page, "kv cache")
    first, *others = hits(searched.page)
    assert (first["address"], first["title"]) == ("kv_cache.html", "The KV cache")
    assert {"glossary", "api"} <= {name_of(hit) for hit in others}


def test_a_hit_shows_page_section_and_words_and_leads_to_the_section(searched):
    page = searched.page
    ask(page, "flash attention")
    hit = hits(page)[0]
    assert hit["page"] == "14. Attention in pieces"
    assert hit["title"] == "Why is it fast on a GPU?"
    assert {"flash", "attention"} == {word.lower() for word in hit["marked"]}
    assert "flash attention" in hit["snippet"]
    assert 20 < len(hit["snippet"]) < 180
    page.locator(f"{DIALOG} .search-hits a").first.click()
    page.wait_for_url(f"{searched.origin}/chapters/{hit['address']}")
    _, anchor = hit["address"].split("#")
    heading = page.locator(f'[id="{anchor}"]').locator("h2, h3").first
    assert heading.inner_text().startswith(hit["title"])
    box = heading.bounding_box()
    assert 0 <= box["y"] < 300
    assert not page.locator(DIALOG).is_visible()


def test_a_hit_on_the_same_page_closes_the_search(searched):
    page = searched.page
    ask(page, "which way a mask points")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{searched.origin}/{PAGE}.html#which-way-a-mask-points")
    assert not page.locator(DIALOG).is_visible()


def test_it_answers_while_a_reader_types(searched):
    page = searched.page
    page.keyboard.type("drop")
    title = page.locator(f"{DIALOG} .search-title")
    title.get_by_text("5. Dropout", exact=True).wait_for()
    page.keyboard.type("qqqq")
    page.locator(f"{DIALOG} .search-status").get_by_text("Nothing found").wait_for()
    assert hits(page) == []
    for _ in "dropqqqq":
        page.keyboard.press("Backspace")
    page.locator(f"{DIALOG} .search-status").wait_for(state="hidden")
    assert hits(page) == []


def test_the_keyboard_alone_is_enough(searched):
    page = searched.page
    ask(page, "kv cache")
    focused = "document.activeElement.href ?? document.activeElement.name"
    links = page.locator(f"{DIALOG} .search-hits a")
    addresses = links.evaluate_all("all => all.map((one) => one.href)")
    walked = []
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp"):
        page.keyboard.press(key)
        walked.append(page.evaluate(focused))
    assert walked == [*addresses[:2], addresses[0], "q", "q"]
    page.keyboard.press("Escape")
    assert not page.locator(DIALOG).is_visible()
    page.keyboard.press("Control+k")
    assert page.evaluate(focused) == "q"
    ask(page, "kv cache")
    for _ in addresses * 2:
        page.keyboard.press("ArrowDown")
    assert "search.html?q=kv%20cache" in page.evaluate(focused)  # all hits
    page.keyboard.press("Escape")
    assert not page.locator(DIALOG).is_visible()
    page.keyboard.press("Control+k")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(addresses[1])


def test_who_presses_enter_before_an_answer_gets_it_on_the_searchs_own_page(searched):
    page = searched.page
    page.route(SECTIONS, lambda route: None)  # it never comes
    page.goto(f"{searched.origin}/{PAGE}.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("muon")
    page.unroute(SECTIONS)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=muon")
    page.locator("main .search-hits a").first.wait_for()
    searched.wrong.clear()  # the request that never ended
    assert hits(page, "main")[0]["title"].startswith("Muon")


@pytest.mark.slow
def test_the_searchs_own_page_shows_more_and_keeps_the_query(searched):
    page = searched.page
    ask(page, "causal mask")
    few = hits(page)
    page.locator(f"{DIALOG} .search-hits a").last.click()
    page.wait_for_url("**/search.html?q=causal%20mask")
    page.locator("main .search-hits a").first.wait_for()
    many = hits(page, "main")
    assert many[0] == few[0]
    assert len(many) > 2 * len(few)
    assert many[-1]["page"] == "API"
    # The way back from a hit leads to the address that stands here then.
    ask(page, "rotary", "main")
    assert page.url == f"{searched.origin}/search.html?q=rotary"
    page.reload()
    page.locator("main .search-hits a").first.wait_for()
    assert page.locator("main input").input_value() == "rotary"
    assert name_of(hits(page, "main")[0]) in ("12_positions", "glossary")


def test_nothing_found_and_similar_words_are_told(searched):
    page = searched.page
    said = ask(page, "zebra")
    assert said == "Nothing found for “zebra”."
    assert hits(page) == []
    said = ask(page, "sofmax")
    assert said.startswith("Nothing found for “sofmax”. With similar words: ")
    assert "softmax" in {word.lower() for word in hits(page)[0]["marked"]}
    said = ask(page, "layr nrom")  # a letter left out, and two exchanged
    assert said.startswith("Nothing found for “layr nrom”. With similar words: ")
    marked = [{word.lower() for word in hit["marked"]} for hit in hits(page)[:3]]
    assert any({"layer", "norm"} <= words for words in marked)
    assert ask(page, "softmax zebra").startswith("No section has all these words.")
    assert hits(page)
    for nothing in ("the", "?!", "(", "\\"):
        assert ask(page, nothing) == f"Nothing found for “{nothing}”."
    status = page.locator(f"{DIALOG} .search-status")
    assert status.get_attribute("role") == "status"


def test_hostile_text_is_shown_as_text(searched):
    page = searched.page
    assert ask(page, "<q7zz8>&amp7;</q7zz8>") == (
        "Nothing found for “<q7zz8>&amp7;</q7zz8>”."
    )
    pages = [["x.html", "page", [[HOSTILE, "", HOSTILE, HOSTILE, HOSTILE]]]]
    script = f"window.searchSections = {json.dumps(pages)};"
    page.route(SECTIONS, lambda route: route.fulfill(body=script))
    page.goto(f"{searched.origin}/{PAGE}.html")
    page.keyboard.press("Control+k")
    assert ask(page, "zebra").startswith("1 hit.")
    [hit] = hits(page)
    assert (hit["title"], hit["snippet"]) == (HOSTILE, HOSTILE)
    assert hit["marked"] == ["zebra", "zebra"]
    assert page.locator(f"{DIALOG} img").count() == 0
    assert "taken" not in page.title()


def test_a_script_that_fails_is_told_and_asked_for_again(searched):
    page = searched.page
    page.route(SECTIONS, lambda route: route.abort())
    page.goto(f"{searched.origin}/{PAGE}.html")
    searched.wrong.clear()  # what the page before was still loading
    page.keyboard.press("Control+k")
    assert ask(page, "muon") == "The search couldn’t be loaded."
    page.unroute(SECTIONS)
    assert "hits." in ask(page, "muon")
    wrong, searched.wrong[:] = [*searched.wrong], []
    expected = ("search-sections.js", "ERR_FAILED")
    assert [one for one in wrong if not any(word in one for word in expected)] == []


def test_nothing_is_loaded_before_a_reader_opens_the_search(one_page):
    one_page.start_anew()
    one_page.page.goto(f"{one_page.origin}/{PAGE}.html")
    kinds = one_page.page.evaluate("[typeof MiniSearch, typeof searchSections]")
    assert kinds == ["undefined", "undefined"]
    assert one_page.wrong == []


def test_it_fits_and_is_accessible(searched):
    page = searched.page
    ask(page, "causal mask")
    for theme in ("light", "dark"):
        page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
        for width in (320, 375, 1280):
            page.set_viewport_size({"width": width, "height": 640})
            too_wide = page.evaluate(
                """() => [document.documentElement, ...document.querySelectorAll(
                    "#pst-search-dialog, .search-hits, .search-hits a")
                ].filter((one) => one.scrollWidth > one.clientWidth + 1).length"""
            )
            assert too_wide == 0
            box = page.locator(DIALOG).bounding_box()
            assert box["y"] >= 0
            assert box["y"] + box["height"] <= 640
        assert violations(page, DIALOG) == []
    page.locator(f"{DIALOG} .search-close").click()  # a phone has no Escape
    assert not page.locator(DIALOG).is_visible()
