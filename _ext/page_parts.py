"""What stands on a page beside its text: a time, a footer, a view, and less noise.

A chapter's own statement of its time is shown at the top of its page, too. The book's
licences and version stand in every footer, and below a heading "Exercises" the page
says where exercises run. The directive

    ```{view} 01_dot_product_attention view-unfinished-story
    ```

shows a view of a chapter on another page: it names a notebook beside the page and one
of its cells. The view is the one that the notebook has stored: nothing is computed, and
both pages show the same.
"""

import pathlib
import re

import nbformat
from docutils import nodes
from sphinx.ext.autodoc import FunctionDocumenter
from sphinx.util.docutils import SphinxDirective

import helpers
from _ext.reading_time import TIME
from helpers.checks.exercise import Exercise
from helpers.views.view import is_stored

# Beside the library, from which the version is, too.
LICENCES = pathlib.Path(helpers.__file__).resolve().parent.parent / "LICENSE"
TITLE_IN_COLAB = re.compile(r"# @title .*\}")
WRITTEN = re.compile(r"(?:Overwriting|Writing) [\w.]+")


def read_time(doctree):
    """The minutes of reading that a page states and those of its exercises.

    Returns:
        minutes: two strings; the second is None where the page names no exercises.
            None where the page states no time.
    """
    for paragraph in doctree.findall(nodes.paragraph):
        found = TIME.match(paragraph.astext())
        if found:
            return found.groups()
    return None


def add_time(app, pagename, templatename, context, doctree):
    """Hand the times to the template ``reading-time.html``."""
    context["reading_time"] = None if doctree is None else read_time(doctree)


def show_version(app, config):
    """Hand the version of ``helpers`` to Sphinx and to the theme's footer."""
    config.version = config.release = helpers.__version__
    config.html_theme_options["extra_footer"] = (
        f'<p class="edition">Version {helpers.__version__}</p>'
    )


def stage_licence(app):
    """Put the text of the licences into the site, for the footer's link."""
    folder = pathlib.Path(app.outdir).parent / "licence_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "LICENSE.txt").write_bytes(LICENCES.read_bytes())
    app.config.html_static_path.append(str(folder))


def name_once(app, pagename, templatename, context, doctree):
    """Leave the book's name out behind the front page's title, which is the same."""
    if context.get("title") == context.get("docstitle"):
        context["docstitle"] = ""


def say_where_exercises_run(app, doctree, docname):
    """Begin the exercises of a page with the two places in which they run."""
    front = app.builder.get_relative_uri(docname, app.config.root_doc)
    for section in doctree.findall(nodes.section):
        if section[0].astext() != "Exercises":
            continue
        line = nodes.paragraph(classes=["where-they-run"])
        for text, place in (
            ("Exercises run ", None),
            ("in JupyterLab", "on-your-machine"),
            (" or ", None),
            ("in Colab", "in-colab"),
            (", not on this page.", None),
        ):
            words = nodes.Text(text)
            if place:
                address = f"{front}#{place}"
                words = nodes.reference("", text, refuri=address, internal=True)
            line += words
        section.insert(1, line)


def drop_what_writefile_says(app, doctree):
    """Leave out that a cell has written its file: its first line says so."""
    for output in list(doctree.findall(nodes.container)):
        is_output = output.get("nb_element") == "cell_code_output"
        if is_output and WRITTEN.fullmatch(output.astext().strip()):
            output.parent.remove(output)


def drop_colabs_titles(app, doctree):
    """Leave out the first line of folded code: it folds it in Colab, and only there."""
    for block in doctree.findall(nodes.literal_block):
        first, _, rest = block.astext().partition("\n")
        rest = rest.lstrip("\n")
        if TITLE_IN_COLAB.fullmatch(first):
            block.rawsource = rest
            block.children = [nodes.Text(rest)]
            block.setup_child(block.children[0])


class StoredView(SphinxDirective):
    """The view that a cell has stored, as HTML."""

    required_arguments = 2

    def run(self):
        """Put the stored HTML into the page."""
        name, cell_id = self.arguments
        page = pathlib.Path(self.get_source_info()[0])
        path = page.with_name(f"{name}.ipynb")
        self.env.note_dependency(str(path))
        for cell in nbformat.read(path, as_version=4).cells:
            for output in cell.get("outputs", ()) if cell.id == cell_id else ():
                text = output.get("data", {}).get("text/html", "")
                if is_stored(text):
                    return [nodes.raw("", text, format="html")]
        raise self.error(f"{path.name} has no cell {cell_id!r} with a view")


class CheckDocumenter(FunctionDocumenter):
    """A check of ``helpers.checks``: an object, shown like a function."""

    objtype = "check"
    directivetype = "function"

    @classmethod
    def can_document_member(cls, member, membername, isattr, parent):
        """Whether this is a check."""
        return isinstance(member, Exercise)


def skip_aliases(app, what, name, member, skip, options):
    """Leave the fields of named tuples out of the API page.

    Their class's docstring explains them; Python's own "Alias for field number 0"
    doesn't.
    """
    documentation = getattr(member, "__doc__", None) or ""
    return True if documentation.startswith("Alias for field number") else None


def setup(app):
    """Add the directive and the documenter, and connect to Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.add_autodocumenter(CheckDocumenter)
    app.add_directive("view", StoredView)
    app.connect("config-inited", show_version)
    app.connect("builder-inited", stage_licence)
    app.connect("doctree-read", drop_what_writefile_says)
    app.connect("doctree-read", drop_colabs_titles)
    app.connect("doctree-resolved", say_where_exercises_run)
    app.connect("html-page-context", add_time)
    app.connect("html-page-context", name_once)
    app.connect("autodoc-skip-member", skip_aliases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
