"""A search that answers while the reader types, page by page and section by section.

Sphinx's own search is switched off. The build writes every section of the book, every
term of the glossary and every entry of the API into one script, ``search-sections.js``:
scripts are all that a page that was opened as a file may load. ``search.js`` loads it
when a reader opens the search, lets MiniSearch make an index of it, and shows the hits.
MiniSearch is kept in ``vendor`` as it was published, with its licence; in ``_static``
Jupyter Book would let every page load it.
"""

import hashlib
import json
import pathlib
import re
import shutil

from docutils import nodes
from sphinx import addnodes

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = "search.js"
SECTIONS = "search-sections.js"
# What Sphinx's own search would load or leave behind.
UNUSED = ("searchtools.js", "language_data.js", "sphinx_highlight.js")
CHAPTER = re.compile(r"\d\d_")
TEX = re.compile(r"[\\{}]")
NAME = re.compile(r"[^\W\d]\w{2,}")
# What has documents of its own, and what holds no words of the text.
APART = (nodes.section, nodes.title, addnodes.desc, addnodes.glossary)
WORDLESS = (
    *(nodes.comment, nodes.image, nodes.math_block, nodes.raw, nodes.target),
    *(nodes.field_list, nodes.system_message, addnodes.index),
)


def plain(parts):
    """One line of text."""
    return " ".join("".join(parts).split())


def is_code(node):
    """Whether that is a cell's code."""
    return node.get("nb_element") == "cell_code_source"


def is_left_out(node):
    """Whether that is what a cell printed, or a cell that is folded: a solution."""
    hidden = node.get("cell_metadata", {}).get("jupyter", {}).get("source_hidden")
    return node.get("nb_element") == "cell_code_output" or bool(hidden)


def words(node, code=False):
    """The pieces of a node's text, or of its cells' code.

    Formulas beyond letters are left out: in a list of hits nobody reads TeX.
    """
    for child in node.children:
        if isinstance(child, nodes.Text):
            yield "" if code else str(child)
        elif isinstance(child, (*APART, *WORDLESS)):
            continue
        elif isinstance(child, nodes.math):
            yield "…" if TEX.search(child.astext()) else child.astext()
        elif isinstance(child, nodes.container) and is_left_out(child):
            continue
        elif isinstance(child, nodes.container) and is_code(child):
            yield f"{child.astext()}\n" if code else " "
        else:
            yield from words(child, code)
            yield "" if isinstance(child, nodes.Inline) else " "


def identifiers(section):
    """The names in the code of a section's cells, each once, in their order."""
    return " ".join(dict.fromkeys(NAME.findall("".join(words(section, code=True)))))


def introduced(section):
    """What stands in bold in a section: there a term of the glossary is introduced."""
    found = section.findall(nodes.strong)
    bold = (node.astext() for node in found if own(node, section))
    return list(dict.fromkeys(bold))


def own(node, section):
    """Whether a node stands in that section, and not in one inside it."""
    while not isinstance(node, nodes.section):
        node = node.parent
    return node is section


def sections(doctree):
    """The sections of a page, the terms it explains and the objects it documents.

    Returns:
        documents: lists of a title, an anchor, a text, what stands in bold and the
            names in the code. The first one is the page's beginning, and its anchor is
            empty.
    """
    for node in doctree.findall():
        if isinstance(node, nodes.section):
            at_the_top = isinstance(node.parent, nodes.document)
            title = node.next_node(nodes.title).astext()
            anchor = "" if at_the_top else node["ids"][0]
            text = plain(words(node))
            yield [title, anchor, text, introduced(node), identifiers(node)]
        elif isinstance(node, nodes.definition_list_item) and isinstance(
            node.parent.parent, addnodes.glossary
        ):
            terms = [one for one in node.children if isinstance(one, nodes.term)]
            names = ", ".join(one.astext() for one in terms)
            text = plain(words(node.next_node(nodes.definition)))
            yield [names, terms[0]["ids"][0], text, [], ""]
        elif isinstance(node, addnodes.desc):
            signature = node.next_node(addnodes.desc_signature)
            [anchor, *_] = signature["ids"]
            first = node.next_node(addnodes.desc_content).next_node(nodes.paragraph)
            text = plain(words(first)) if first else ""
            yield [signature["fullname"], anchor, text, [], ""]


def kind(docname, doctree):
    """What a page is: ``chapter``, ``glossary``, ``api`` or any other ``page``."""
    if CHAPTER.match(docname.rpartition("/")[2]):
        return "chapter"
    if doctree.next_node(addnodes.glossary):
        return "glossary"
    return "api" if doctree.next_node(addnodes.desc) else "page"


def keep_terms(pages):
    """Of all that stands in bold, keep what the glossary has."""
    names = {
        name.casefold()
        for _, kind, documents in pages
        for title, *_ in documents[1:] * (kind == "glossary")
        for name in title.split(", ")
    }
    for _, _, documents in pages:
        for document in documents:
            document[3] = ", ".join(
                one for one in document[3] if one.casefold() in names
            )


def script_of(pages):
    """The script that hands the pages to ``search.js``."""
    text = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
    return f"window.searchSections = {text};\n"


def write_sections(app, env):
    """Write the script, once all pages are read, beside the other static files."""
    pages = []
    for docname in sorted(env.found_docs):
        doctree = env.get_doctree(docname)
        url = app.builder.get_target_uri(docname)
        pages.append([url, kind(docname, doctree), list(sections(doctree))])
    keep_terms(pages)
    script = script_of(pages)
    folder = pathlib.Path(app.outdir).parent / "search_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SECTIONS).write_text(script, encoding="utf-8")
    (folder / SCRIPT).write_bytes((HERE / SCRIPT).read_bytes())
    shutil.copytree(HERE / "vendor", folder / "vendor", dirs_exist_ok=True)
    app.config.html_static_path.append(str(folder))
    digest = hashlib.sha256(script.encode()).hexdigest()
    app.config.html_context["search_version"] = digest[:8]


def switch_off(app):
    """Let Sphinx write no index of its own."""
    app.builder.search = False


def search_page(app):
    """The page on which all hits are shown."""
    return [("search", {}, "search.html")]


def drop_scripts(app, pagename, templatename, context, doctree):
    """Take Sphinx's marking of what its search has found out of a page."""
    context["script_files"] = [
        one for one in context["script_files"] if not str(one.filename).endswith(UNUSED)
    ]


def drop_files(app, error):
    """Delete the scripts that no page loads."""
    if error is None and app.builder.format == "html":
        for name in UNUSED:
            (pathlib.Path(app.outdir) / "_static" / name).unlink(missing_ok=True)


def setup(app):
    """Connect to Sphinx."""
    app.connect("builder-inited", switch_off)
    app.connect("env-updated", write_sections)
    app.connect("html-collect-pages", search_page)
    app.connect("html-page-context", drop_scripts)
    app.connect("build-finished", drop_files)
    app.add_js_file(SCRIPT, loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
