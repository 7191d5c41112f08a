"""Views as text: the same on every run, safe to put into a page, with their numbers."""

import html.parser
import json
import math
import re
import zlib

import pytest

from helpers.views import view as view_module
from helpers.views.view import (
    FOLDER,
    IMPORT,
    PART,
    WORKER,
    Table,
    View,
    bundle,
    bundle_of,
    rebuild,
    to_json,
)
from tests import ROOT
from tests.nbval_numeric import close
from tests.samples.views import HOSTILE, SAMPLES

FILES = {path.stem: path for path in sorted(FOLDER.rglob("*.js"))}
VIEWS = {name for name, path in FILES.items() if path.parent == FOLDER}
TOP_LEVEL = re.compile(r"^(?:const|let|function|class|async function) (\w+)", re.M)


class Parsed(html.parser.HTMLParser):
    """What a browser would make of a text: its elements and their words."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.script = [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script":
            self.script += data
        else:
            self.words.append(data)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_view_is_the_same_text_every_time(name):
    one, other = SAMPLES[name]()._repr_html_(), SAMPLES[name]()._repr_html_()
    assert one == other
    assert re.match(r'<div class="aos-view" data-view="[0-9a-f]{12}"', one)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_view_is_markup_of_our_own_only(name):
    text = SAMPLES[name]()._repr_html_()
    parsed = Parsed(text)
    assert parsed.tags.count("script") == 1
    assert set(parsed.tags) <= {
        *("div", "p", "details", "summary", "table", "caption", "tr", "th", "td"),
        "script",
        *("style", "svg", "g", "path", "rect", "text", "title"),  # of a picture
    }
    assert text.lower().count("</script") == 1
    assert "<!--" not in text
    # A drawing's name, and where a reader may fetch a file by hand.
    known = r'http://www\.w3\.org/2000/svg|"site":"https://pypi\.org/project/'
    assert "http" not in re.sub(known, "", parsed.script)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|eval\(", text)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_view_has_its_numbers_in_tables_that_need_no_script(name):
    view = SAMPLES[name]()
    parsed = Parsed(view._repr_html_())
    words = " ".join(parsed.words)
    assert view.tables
    assert re.search(r"\d", words)
    for table in view.tables:
        assert table.caption in words
    assert view.title in words


def test_every_module_has_a_sample_and_a_test_in_the_browser():
    shown = {SAMPLES[name]().module for name in SAMPLES}
    assert shown == VIEWS
    imported = set()
    for path in FILES.values():
        text = path.read_text(encoding="utf-8")
        imported |= {*IMPORT.findall(text), *(name for _, name in WORKER.findall(text))}
    assert imported == set(FILES) - VIEWS
    browser = ROOT / "tests/browser"
    tested = {path.stem.removeprefix("test_") for path in browser.glob("test_*.py")}
    assert shown - tested == set()


def test_every_module_of_a_view_lies_beside_its_python():
    assert [name for name in VIEWS if not (FOLDER / f"{name}.py").exists()] == []
    folders = {path.parent.name for path in FILES.values()}
    assert folders == {"views", "shared", "trainer", "real_model"}


def test_a_workers_code_is_a_text_in_the_page():
    code = bundle("learning_in_the_page")
    found = re.search(r"^const WORKER_CODE = (\".*\");$", code, re.M)
    assert json.loads(found[1]) == bundle_of("worker")
    assert "<" not in found[1]
    assert "onmessage" in bundle_of("worker")
    assert "mount" not in bundle_of("worker")
    assert len(zlib.compress(bundle_of("worker").encode())) < 40_000


@pytest.mark.parametrize("module", FILES)
def test_a_bundle_defines_each_name_once(module):
    names = TOP_LEVEL.findall(bundle(module))
    assert sorted(names) == sorted(set(names))
    assert not re.search(r"^(import|export)\b", bundle(module), re.M)


@pytest.mark.parametrize("module", FILES)
def test_a_bundle_keeps_what_its_files_define_and_no_doc_comments(module):
    for name in ("page", module):
        source = re.sub(r"(?m)^export ", "", FILES[name].read_text(encoding="utf-8"))
        assert set(TOP_LEVEL.findall(source)) <= set(TOP_LEVEL.findall(bundle(module)))
    assert "@param" not in bundle(module)


def modules_of(name):
    """A module and all that it imports."""
    found = IMPORT.findall(FILES[name].read_text(encoding="utf-8"))
    return {name}.union(*map(modules_of, found))


def test_a_bundle_has_the_style_of_its_modules_alone():
    _, *parts = PART.split((FOLDER / "views.css").read_text(encoding="utf-8"))
    assert set(parts[::2]) <= set(FILES)
    for name, style in zip(parts[::2], parts[1::2], strict=True):
        having = {one for one in VIEWS if style.strip() in bundle(one)}
        assert having == {one for one in VIEWS if name in {"page"} | modules_of(one)}


def test_every_class_of_the_style_is_somewhere():
    style = (FOLDER / "views.css").read_text(encoding="utf-8")
    used = "".join(path.read_text("utf-8") for path in FOLDER.rglob("*.[jp][sy]"))
    names = set(re.findall(r"\.([a-zA-Z][\w-]*)", re.sub(r"(?s)/\*.*?\*/", "", style)))
    theirs = {one for one in names if one.startswith(("jp-", "jupyter-"))}
    for name in names - theirs - {"text_html"}:  # JupyterLab's and MyST's
        assert re.search(rf"\b{name}\b", used), name


def test_a_module_that_would_end_its_script_is_named(monkeypatch):
    monkeypatch.setattr(view_module, "bundle", lambda module: "// </SCRIPT>")
    with pytest.raises(ValueError, match=r"quiz\.js must not hold </script"):
        _ = View("quiz", "A title", {}, [])._repr_html_()


def test_the_state_of_a_view_is_json_with_fixed_decimals():
    state = {"a": [0.5, -0.00001, 2], "b": {"c": "<b>", "d": None, "e": True}, "f": ()}
    text = to_json(state, 3)
    assert text == (
        '{"a":[0.500,0.000,2],"b":{"c":"\\u003cb>","d":null,"e":true},"f":[]}'
    )
    assert json.loads(text)["b"]["c"] == "<b>"


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_survive_and_end_no_script(text):
    written = to_json([text])
    assert json.loads(written) == [text]
    assert "<" not in written


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, r"finite numbers, got nan"),
        ([math.inf], r"finite numbers, got inf"),
        ({1: 2}, r"plain values, got dict"),
        (object(), r"plain values, got object"),
    ],
)
def test_a_state_of_anything_else_is_named(value, message):
    with pytest.raises(ValueError, match=message):
        to_json(value)


def test_nbval_compares_the_numbers_of_a_view():
    def shown(number, name="cat"):
        table = Table("numbers", [[number]], rows=[name])
        state = {"keys": [[number, 0.0]], "names": [name], "query": [0.5, 0.5]}
        return View("query_explorer", "A view", state, [table])._repr_html_()

    assert close(shown(0.4400), shown(0.4401))
    assert not close(shown(0.4400), shown(0.4402))
    assert not close(shown(0.4400), shown(0.4400, "dog"))


@pytest.mark.parametrize("name", SAMPLES)
def test_a_stored_view_is_rebuilt_with_todays_module(name, monkeypatch):
    view = SAMPLES[name]()
    stored = view._repr_html_()
    assert rebuild(stored) == stored
    monkeypatch.setattr(view_module, "bundle", lambda module: f"// a new {module}\n")
    assert rebuild(stored) == view._repr_html_()
    assert f"// a new {view.module}" in rebuild(stored)


@pytest.mark.parametrize("stored", ["", "<table></table>", "<div class='aos-view'>"])
def test_what_is_no_stored_view_is_named(stored):
    with pytest.raises(ValueError, match=r"stored must be the HTML of a view, got"):
        rebuild(stored)
