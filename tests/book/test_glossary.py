"""The glossary: its form, and that it holds every term that a chapter introduces."""

import re

import pytest

from tests.book.test_notebooks import (
    BESIDE,
    CHAPTERS,
    PROSE_NUMBER,
    WITH_EXERCISES,
    markdown,
)
from tools import notebooks

TEXT = (CHAPTERS / "glossary.md").read_text(encoding="utf-8")
# An entry's last line: a shape or unit where it has one, and its chapter or page.
LAST_LINE = re.compile(
    r"  (?P<shape>.+\. )?\[(?:Chapter (?P<number>\d+)|(?P<title>.+))\]"
    r"\((?P<file>\w+\.ipynb)\)\."
)
# What chapters print in bold without introducing a term: parts of a step, and stress.
PARTS = re.compile(
    r"(you will be able to|know first:|time:|skip if|predict:?|try:)"
    r"|(first|second|third) way:|step \d+\b.*|(values|weights|scores|queries and keys):"
)
STRESSED = {
    *("b", "c", "d", "s", "t", "tri"),
    *("add", "after", "alike", "alone", "another", "before", "both", "can", "column"),
    *("every", "hidden", "how", "is", "new", "not", "other", "same", "two", "what"),
    *("where", "who", "without"),
    *("colour", "name", "pronoun", "quote", "record", "thing"),
    "a loss doesn't say what a model knows",
    "a low training loss can mean that the text was learned by heart",
    "a score of 0 is a score.",
    "before training, the weights mean nothing.",
    "one character later",
    "step by step",
    "true = may attend",
    "whole series",
}
# Terms that a chapter introduces by a shorter word than the glossary's.
SHORTER = {
    "attends": "attend",
    "best possible loss": "floor",
    "causal": "causal mask",
    "held out": "held-out text",
    "held-out": "held-out text",
    "length": "length of a vector",
    "one-hot": "one-hot vector",
    "overflows": "overflow",
    "polarity": "polarity of a mask",
    "position": "position embedding",
    "prefix": "prefix mask",
    "soft": "soft lookup",
    "weight matrices": "weight matrix",
    "xavier": "xavier initialisation",
}


def entries(text):
    """For each entry of a glossary, its terms and the lines below them."""
    inside = text.partition("```{glossary}\n")[2].removesuffix("\n```\n")
    found = []
    for block in inside.split("\n\n"):
        lines = block.split("\n")
        terms = [line for line in lines if not line.startswith(" ")]
        found.append((terms, lines[len(terms) :]))
    return found


def missing(words, terms):
    """The words that no term names, be it in the plural or by a shorter word."""
    names = {term.casefold() for term in terms}
    return [
        word for word in words if not {word, singular(word), SHORTER.get(word)} & names
    ]


def singular(word):
    """A regular plural's singular."""
    return re.sub(r"ies$", "y", word).removesuffix("s")


ENTRIES = entries(TEXT)
TERMS = [term for terms, _ in ENTRIES for term in terms]
every_entry = pytest.mark.parametrize(
    ("terms", "lines"), ENTRIES, ids=[terms[0] for terms, _ in ENTRIES]
)


@every_entry
def test_an_entry_says_what_it_is_and_names_its_chapter(terms, lines):
    *sentences, last = lines
    assert len(sentences) == 1
    assert 5 <= len(sentences[0].split()) <= 40
    found = LAST_LINE.fullmatch(last)
    assert found, last
    path = CHAPTERS / found["file"]
    if found["number"]:
        assert path.name.startswith(f"{int(found['number']):02}_")
    else:
        assert found["title"] == BESIDE[path]


def test_terms_stand_in_alphabetical_order():
    first = [terms[0].casefold() for terms, _ in ENTRIES]
    assert first == sorted(first)
    assert len(set(TERMS)) == len(TERMS)


def test_every_page_that_introduces_terms_is_linked():
    linked = {LAST_LINE.fullmatch(lines[-1])["file"] for _, lines in ENTRIES}
    assert linked == {path.name for path in WITH_EXERCISES}


@pytest.mark.parametrize("path", WITH_EXERCISES, ids=lambda path: path.stem)
def test_what_a_chapter_introduces_stands_in_the_glossary(path):
    prose = "\n".join(cell.source for cell in markdown(notebooks.read(path)))
    bold = re.findall(r"(?<!\*)\*\*([^*|]+)\*\*", re.sub(r"`[^`]*`", "", prose))
    words = [word.casefold() for word in bold]
    words = [w for w in words if w not in STRESSED and not PARTS.fullmatch(w)]
    # Of "What to remember", the first column, where it holds no code.
    table = prose.partition("## What to remember")[2]
    words += [
        name.casefold()
        for name in re.findall(r"^\| ([^|]+?) \|", table, re.M)
        if "`" not in name and name not in ("name", "---")
    ]
    assert missing(words, TERMS) == []


def test_a_term_that_is_missing_is_noticed():
    assert missing(["keys", "held-out"], ["key", "held-out text"]) == []
    assert missing(["keys", "soft"], ["query"]) == ["keys", "soft"]


def test_shapes_are_those_of_the_notation_page():
    notation = (CHAPTERS / "notation.md").read_text(encoding="utf-8")
    table = notation.partition("## Names in the code")[2].partition("\n## ")[0]
    last_lines = {terms[0]: lines[-1] for terms, lines in ENTRIES}
    compared = set()
    for row in re.findall(r"^\| (`.+) \|$", table, re.M):
        names, _, shapes = row.split(" | ")
        names, shapes = re.findall(r"`(\w+)`", names), re.findall(r"`[^`]+`", shapes)
        for place, name in enumerate(names):
            # A row of several names has one shape for each, in their order.
            allowed = shapes if len(names) == 1 else shapes[place : place + 1]
            for term in {name, singular(name)} & set(last_lines):
                found = re.findall(r"`[^`]+`", last_lines[term])
                assert set(found) <= set(allowed), term
                compared.add(term)
    assert {"query", "key", "value", "score", "weight", "context", "mask"} <= compared


def test_the_glossary_holds_no_measured_number():
    assert PROSE_NUMBER.findall(TEXT) == []


def test_every_term_has_an_anchor(site):
    page = (site / "chapters" / "glossary.html").read_text(encoding="utf-8")
    assert page.count('<dt id="term-') == len(TERMS)
