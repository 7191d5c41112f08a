"""Addresses that pages had before: each leads on to where its page is now.

Readers keep addresses, in bookmarks and in courses. A page that gets another name
leaves a small one behind, which forwards at once; it needs no script, so it works in a
file, too. What a browser keeps of a reader's progress follows by the same names, in
``progress.js``.
"""

import html
import pathlib
import posixpath

# From a page's former name to today's, both without their ending.
MOVED = {
    "chapters/07_cross_attention": "chapters/cross_attention",
    "chapters/08_char_language_model": "chapters/07_char_language_model",
}
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={address}">
<title>This page has moved</title>
</head>
<body>
<p>This page has moved: <a href="{address}">{title}</a>.</p>
</body>
</html>
"""


def leave_addresses(app, error):
    """Write a page that leads on under each former name of a page of this book."""
    if error is not None or app.builder.format != "html":
        return
    for former, name in MOVED.items():
        if name in app.env.titles:
            address = posixpath.relpath(name, posixpath.dirname(former))
            title = html.escape(app.env.titles[name].astext())
            text = PAGE.format(address=f"{address}.html", title=title)
            path = pathlib.Path(app.outdir) / f"{former}.html"
            path.write_text(text, encoding="utf-8")


def setup(app):
    """Connect to Sphinx."""
    app.connect("build-finished", leave_addresses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
