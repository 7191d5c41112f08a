"""Let every page work without a network, and ask for nothing from elsewhere.

MathJax is copied from the package sphinx-mathjax-offline into the site: the one script
and the fonts that pages use. Two listeners of sphinx_thebe that ask a CDN for a script
are taken out.

A content security policy then says what a page may do; what it doesn't name can't
happen. Scripts are those of the site's own files and those that the page was built
with, each named by its hash, so a script that got into a page some other way doesn't
run; a worker runs only what a page's own script hands to it. Nothing is fetched,
nothing is framed, and no address but the site's is loaded. The page on which a real
model runs may also compile WebAssembly, and where a copy of the book carries the
model's file, fetch that from its own site.
Styles may stand in the page: MathJax and the views write theirs there. Of a page that
was opened as a file, Firefox takes no form as the site's own, so the search box needs
``file:``.
"""

import base64
import hashlib
import html
import importlib.util
import pathlib
import re
import shutil

FONTS = "output/chtml/fonts/woff-v2"
THEBE = {"init_thebe_core", "update_thebe_context"}
DIRECTIVES = {
    "default-src": "'none'",
    "script-src": "'self' 'unsafe-hashes' {hashes}",
    "worker-src": "blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "form-action": "'self' file:",
    "base-uri": "'none'",
}
# What a page may do besides, by what stands in it: a view, and a file that it fetches.
MORE = {
    'data-module="real_model"': {"script-src": " 'wasm-unsafe-eval'"},
    '"fileUrl":"': {"connect-src": "'self'"},
}
SCRIPT = re.compile(r"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
TAG = re.compile(r"<[a-z][^>]*>")
HANDLER = re.compile(r'\son[a-z]+="([^"]*)"')
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>\n?')
START = re.compile(r'<head>\s*<meta charset="[^"]*" ?/?>')


def stage_mathjax(app):
    """Copy MathJax to a folder that Sphinx then copies to the site's _static."""
    package = importlib.util.find_spec("sphinx-mathjax-offline")
    source = pathlib.Path(package.origin).parent / "static" / "mathjax"
    static = pathlib.Path(app.outdir).parent / "offline_static"
    target = static / "mathjax"
    target.mkdir(parents=True, exist_ok=True)
    shutil.copy(source / "tex-chtml.js", target)
    shutil.copytree(source / FONTS, target / FONTS, dirs_exist_ok=True)
    app.config.html_static_path.append(str(static))


def drop_thebe(app):
    """Take out the listeners that would add a script from a CDN to every page."""
    for event, listeners in app.events.listeners.items():
        app.events.listeners[event] = [
            listener
            for listener in listeners
            if listener.handler.__module__ != "sphinx_thebe"
            or listener.handler.__name__ not in THEBE
        ]


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
    directives = dict(DIRECTIVES)
    for mark, more in MORE.items():
        for name, sources in more.items() if mark in page else ():
            directives[name] = directives.get(name, "") + sources
    policy = "; ".join(
        f"{name} {sources.format(hashes=allowed)}".strip()
        for name, sources in directives.items()
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


def drop_unread(app, error):
    """Delete what no page loads: maps for debuggers, the theme's other languages."""
    if error is None and app.builder.format == "html":
        static = pathlib.Path(app.outdir) / "_static"
        for path in static.rglob("*.map"):
            path.unlink()
        shutil.rmtree(static / "locales", ignore_errors=True)


def setup(app):
    """Connect to Sphinx; the policy goes behind all that changes a page."""
    drop_thebe(app)
    app.connect("builder-inited", stage_mathjax)
    app.connect("build-finished", add_policies, priority=900)
    app.connect("build-finished", drop_unread)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
