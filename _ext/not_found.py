"""The page that a server shows in place of a missing one.

It appears under addresses of any depth, so its links start at the root of the site.
Without a public address that root isn't known, and they stay as they are.
"""

import pathlib
import re
import urllib.parse

TITLE = "There is no such page"
BODY = """\
<h1>There is no such page</h1>
<p>The address may have a slip in it, or the page has moved.</p>
<ul>
<li><a href="{front}">The front page</a> says what the book holds.</li>
<li><a href="{search}">Search</a> finds a word on all pages.</li>
<li>The list of chapters stands at the side; on a phone, behind the three bars.</li>
</ul>
"""
RELATIVE = re.compile(r'((?:href|src|action|data-content_root)=")(?![#/]|\w+:)(?:\./)?')


def pages(app):
    """The page, for Sphinx to write."""
    front = app.builder.get_relative_uri("404", app.config.root_doc)
    body = BODY.format(front=front, search="search.html")
    return [("404", {"title": TITLE, "body": body}, "page.html")]


def start_at_root(app, error):
    """Let the page's links start at the site's root, where that is known."""
    if error is None and app.builder.format == "html" and app.config.html_baseurl:
        path = pathlib.Path(app.outdir) / "404.html"
        root = urllib.parse.urlsplit(app.config.html_baseurl).path
        text = path.read_text(encoding="utf-8")
        path.write_text(RELATIVE.sub(rf"\g<1>{root}", text), encoding="utf-8")


def setup(app):
    """Connect to Sphinx."""
    app.connect("html-collect-pages", pages)
    app.connect("build-finished", start_at_root)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
