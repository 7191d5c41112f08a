"""What the search knows: the sections of all pages, as the build has written them."""

import hashlib
import json

import pytest
from docutils import nodes

from _ext import search
from tests import ROOT
from tests.book.test_book import CHAPTERS, MADE, PAGES, elements, text_of

VENDOR = ROOT / "_ext" / "vendor"
# MiniSearch 7.2.0 as npm has it: dist/umd/index.js and LICENSE.txt.
PUBLISHED = {
    "minisearch-7.2.0.js": "03c27931eb603af1d3358579e9885eaf"
    "db6a2f5fa9929557b3e77d7e99d06d03",
    "minisearch-7.2.0.LICENSE.txt": "70d37354d6395629fb99edb28cb37a5d"
    "356ffa24a48cd02a5def5b83a300a899",
}


@pytest.fixture(scope="module")
def sections(site):
    """Each page's kind and its documents, by its address."""
    script = (site / "_static" / search.SECTIONS).read_text(encoding="utf-8")
    start, end = "window.searchSections = ", ";\n"
    assert script.startswith(start)
    assert script.endswith(end)
    pages = json.loads(script[len(start) : -len(end)])
    return {address: (kind, documents) for address, kind, documents in pages}


def test_every_page_is_there_with_its_kind(sections):
    assert set(sections) == {f"{page}.html" for page in PAGES}
    kinds = {address: kind for address, (kind, _) in sections.items()}
    assert kinds["chapters/api.html"] == "api"
    assert kinds["chapters/glossary.html"] == "glossary"
    assert kinds["chapters/kv_cache.html"] == "page"
    assert {kinds[f"{page}.html"] for page in CHAPTERS} == {"chapter"}


@pytest.mark.parametrize("page", PAGES)
def test_every_anchor_leads_to_a_place_of_its_page(site, sections, page):
    _, documents = sections[f"{page}.html"]
    anchors = [anchor for _, anchor, *_ in documents]
    places = {attrs.get("id") for _, attrs in elements(site, page)}
    assert anchors[0] == ""
    assert [one for one in anchors[1:] if one not in places] == []
    assert len(set(anchors)) == len(anchors)


def test_text_terms_and_code_of_a_section_are_found(sections):
    _, documents = sections["chapters/04_causal_masking.html"]
    by_anchor = {
        anchor: (text, terms, code) for _, anchor, text, terms, code in documents
    }
    carry = by_anchor["the-causal-layer-on-one-screen"]
    assert "persistent" in carry[0]
    assert "register_buffer" in carry[2].split()
    terms = ", ".join(terms for _, terms, _ in by_anchor.values())
    assert "mask" in terms.split(", ")
    assert "Predict" not in terms
    everything = json.dumps(documents)
    assert "solved_causal_mask" not in everything  # a solution is folded
    assert "OWNER" not in everything  # so is the setup


def test_a_term_of_the_glossary_and_an_entry_of_the_api_are_documents(sections):
    _, terms = sections["chapters/glossary.html"]
    [cache] = [one for one in terms if one[0] == "KV cache"]
    assert cache[1] == "term-KV-cache"
    assert cache[2].startswith("The keys and values of the text so far")
    _, entries = sections["chapters/api.html"]
    names = [name for name, *_ in entries]
    assert {"causal_mask", "CausalAttention"} <= set(names)


def test_formulas_are_left_out_and_names_of_variables_are_not():
    paragraph = nodes.paragraph("", "", nodes.Text("Divide by "))
    paragraph += [nodes.math("", r"\sqrt{D}"), nodes.Text(" or "), nodes.math("", "D")]
    section = nodes.section("", paragraph, nodes.math_block("", r"\frac{a}{b}"))
    assert search.plain(search.words(section)) == "Divide by … or D"


def test_the_script_is_small(site):
    size = (site / "_static" / search.SECTIONS).stat().st_size
    assert 100_000 < size < 1_000_000


@pytest.mark.parametrize("page", [*PAGES, *MADE])
def test_no_page_loads_sphinxs_search_or_the_sections_at_once(site, page):
    scripts = [
        attrs["src"].split("?")[0].rpartition("/")[2]
        for tag, attrs in elements(site, page)
        if tag == "script" and "src" in attrs
    ]
    assert scripts.count(search.SCRIPT) == 1
    others = {*search.UNUSED, *PUBLISHED, search.SECTIONS, "searchindex.js"}
    assert others & set(scripts) == set()
    assert 'class="search-hits"' in text_of(site, page)


def test_nothing_of_sphinxs_search_is_in_the_site(site):
    names = {path.name for path in site.rglob("*.js")}
    assert {*search.UNUSED, "searchindex.js"} & names == set()
    assert {search.SCRIPT, search.SECTIONS, "minisearch-7.2.0.js"} <= names


@pytest.mark.parametrize("name", PUBLISHED)
def test_minisearch_is_as_it_was_published_and_has_its_licence(site, name):
    content = (VENDOR / name).read_bytes()
    assert hashlib.sha256(content).hexdigest() == PUBLISHED[name]
    assert (site / "_static" / "vendor" / name).read_bytes() == content
    assert {path.name for path in VENDOR.iterdir()} == set(PUBLISHED)
