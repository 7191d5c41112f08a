"""The book's public address, and all that is derived from it.

The address is ``repository.url`` in ``_config.yml``; ``python -m tools.repository set``
sets it. Pages get their links to Colab, their canonical link and the address of their
preview; the site gets its map, and a page for missing ones whose links work at any
depth. While the owner is still the placeholder OWNER, no such address is written
anywhere, and what would lead there is left out: the buttons for Colab and Binder, the
front page's door to Colab, and the footer's link for reporting a mistake.
"""

import pathlib
import re
import urllib.parse
from typing import NamedTuple

from docutils import nodes

PLACEHOLDER = "/OWNER/"
FORM = re.compile(
    r"https://github\.com/([a-z0-9]+(?:-[a-z0-9]+)*)/((?!\.+\Z)[\w.-]+)(?<!\.git)",
    re.ASCII | re.IGNORECASE,
)
NOWHERE = "#no-address"  # where a link to Colab leads without one
UNMAPPED = ["404.html", "genindex.html", "py-modindex.html", "search.html"]
URL_TAG = re.compile(r'<meta property="og:url"[^>]*>\n')
PICTURE = re.compile(r'(?<=<meta property="og:image" content=")[^"]*')
MISSING_TITLE = "There is no such page"
MISSING_BODY = """\
<h1>There is no such page</h1>
<p>The address may have a slip in it, or the page has moved.</p>
<ul>
<li><a href="{front}">The front page</a> says what the book holds.</li>
<li><a href="{search}">Search</a> finds a word on all pages.</li>
<li>The list of chapters stands at the side; on a phone, behind the three bars.</li>
</ul>
"""
RELATIVE = re.compile(r'((?:href|src|action|data-content_root)=")(?![#/]|\w+:)(?:\./)?')


class Address(NamedTuple):
    """A repository on GitHub."""

    owner: str
    name: str

    @classmethod
    def parse(cls, url):
        """The repository that a URL names.

        Raises:
            ValueError: the URL is not of the form https://github.com/owner/name.
        """
        found = FORM.fullmatch(url)
        if found is None:
            raise ValueError(
                f"{url!r} is not of the form https://github.com/owner/name"
            )
        return cls(*found.groups())

    @property
    def url(self):
        """The repository's own page."""
        return f"https://github.com/{self.owner}/{self.name}"

    def colab(self, tag, path):
        """Where Colab opens a file of the repository, as of a tag."""
        file = f"{self.owner}/{self.name}/blob/{tag}/{path}"
        return f"https://colab.research.google.com/github/{file}"

    @property
    def site(self):
        """Where GitHub Pages shows the built book."""
        root = f"https://{self.owner}.github.io/"
        own = self.name.lower() == f"{self.owner}.github.io".lower()
        return root if own else f"{root}{self.name}/"


def set_address(app, config):
    """Hand the address to all that writes it.

    Pages link to a file in Colab by ``colab:`` and its path. Without an address, a door
    with such a link is left out.
    """
    options = config.html_theme_options
    address = Address.parse(options["repository_url"])
    schemes = dict.fromkeys(["http", "https", "mailto"])
    if PLACEHOLDER in options["repository_url"]:
        options.pop("launch_buttons", None)
        config.myst_url_schemes = {**schemes, "colab": NOWHERE}
        app.connect("doctree-read", leave_out_doors)
        app.connect("html-page-context", drop_address, priority=900)
        return
    colab = address.colab(options["repository_branch"], "{{path}}")
    config.myst_url_schemes = {**schemes, "colab": colab}
    config.html_baseurl = config.ogp_site_url = address.site
    config.html_context["report_mistake"] = f"{address.url}/issues/new"
    config.sitemap_url_scheme = "{link}"
    config.sitemap_excludes = UNMAPPED
    app.setup_extension("sphinx_sitemap")  # without an address it would warn


def leave_out_doors(app, doctree):
    """Take out each item of a list that would lead nowhere."""
    for item in list(doctree.findall(nodes.list_item)):
        if any(one.get("refuri") == NOWHERE for one in item.findall(nodes.reference)):
            item.parent.remove(item)


def drop_address(app, pagename, templatename, context, doctree):
    """Take the page's address out of its preview; the picture's becomes relative."""
    tags = URL_TAG.sub("", context.get("metatags", ""))
    context["metatags"] = PICTURE.sub(
        lambda found: context["pathto"](found[0], True), tags
    )


def missing_page(app):
    """The page that a server shows in place of a missing one, for Sphinx to write."""
    front = app.builder.get_relative_uri("404", app.config.root_doc)
    body = MISSING_BODY.format(front=front, search="search.html")
    return [("404", {"title": MISSING_TITLE, "body": body}, "page.html")]


def start_at_root(app, error):
    """Let that page's links start at the site's root, where it is known.

    It appears under addresses of any depth.
    """
    if error is None and app.builder.format == "html" and app.config.html_baseurl:
        path = pathlib.Path(app.outdir) / "404.html"
        root = urllib.parse.urlsplit(app.config.html_baseurl).path
        text = path.read_text(encoding="utf-8")
        path.write_text(RELATIVE.sub(rf"\g<1>{root}", text), encoding="utf-8")


def setup(app):
    """Connect to Sphinx."""
    app.connect("config-inited", set_address, priority=400)
    app.connect("html-collect-pages", missing_page)
    app.connect("build-finished", start_at_root)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
