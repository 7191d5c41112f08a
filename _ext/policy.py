"""Give every page a content security policy: what isn't named there can't happen.

Scripts are those of the site's own files and those that the page was built with, each
named by its hash, so a script that got into a page some other way doesn't run. Nothing
is fetched, nothing is framed, and no address but the site's is loaded. Styles may stand
in the page: MathJax and the views write theirs there. Of a page that was opened as a
file, Firefox takes no form as the site's own, so the search box needs ``file:``.
"""

import base64
import hashlib
import html
import pathlib
import re

DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'self' 'unsafe-hashes' {hashes}",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "form-action": "'self' file:",
    "base-uri": "'none'",
}
SCRIPT = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
TAG = re.compile(r"<[a-z][^>]*>")
HANDLER = re.compile(r'\son[a-z]+="([^"]*)"')
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n?')
START = re.compile(r'<head>\s*<meta charset="[^"]*" ?/?>')


def hashes(page):
    """The sources that allow a page's own scripts and its buttons' handlers."""
    handlers = [one for tag in TAG.findall(page) for one in HANDLER.findall(tag)]
    texts = SCRIPT.findall(page) + [html.unescape(one) for one in handlers]
    digests = {hashlib.sha256(text.encode()).digest() for text in texts}
    return sorted(f"'sha256-{base64.b64encode(one).decode()}'" for one in digests)


def with_policy(page):
    """The page's HTML with its policy, which stands before all that it governs."""
    page = POLICY.sub("", page)
    allowed = " ".join(hashes(page))
    policy = "; ".join(
        f"{name} {sources.format(hashes=allowed)}".strip()
        for name, sources in DIRECTIVES.items()
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
    if not START.search(page):  # index.html, which only leads to the first page
        return f'<meta charset="utf-8">\n{meta}{page}'
    return START.sub(lambda start: f"{start[0]}\n{meta}", page, count=1)


def add_policies(app, error):
    """Rewrite each page once all are there."""
    if error is None and app.builder.format == "html":
        site = pathlib.Path(app.outdir)
        for path in {*site.rglob("*.html")} - {*(site / "_static").rglob("*.html")}:
            text = path.read_text(encoding="utf-8")
            path.write_text(with_policy(text), encoding="utf-8")


def setup(app):
    """Connect to Sphinx, behind all that changes a page."""
    app.connect("build-finished", add_policies, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
