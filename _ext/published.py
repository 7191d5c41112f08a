"""Write the book's public address where search engines and previews look for it.

It is derived from ``repository.url`` in ``_config.yml``: pages get their canonical link
and the address of their preview, and the site gets its map. While ``repository.url``
still holds the placeholder OWNER, no such address is written anywhere.
"""

import re

from address import PLACEHOLDER, Address

UNMAPPED = ["404.html", "genindex.html", "py-modindex.html", "search.html"]
URL_TAG = re.compile(r'<meta property="og:url"[^>]*>\n')
PICTURE = re.compile(r'(?<=<meta property="og:image" content=")[^"]*')


def set_address(app, config):
    """Hand the address to all that writes it.

    Pages link to a file in Colab by ``colab:`` and its path. Without an address, such a
    link leads to the page's own paragraph on Colab.
    """
    options = config.html_theme_options
    address = Address.parse(options["repository_url"])
    schemes = dict.fromkeys(["http", "https", "mailto"])
    if PLACEHOLDER in options["repository_url"]:
        config.myst_url_schemes = {**schemes, "colab": "#in-colab"}
        app.connect("html-page-context", drop_address, priority=900)
        return
    colab = address.colab(options["repository_branch"], "{{path}}")
    config.myst_url_schemes = {**schemes, "colab": colab}
    config.html_baseurl = config.ogp_site_url = address.site
    config.sitemap_url_scheme = "{link}"
    config.sitemap_excludes = UNMAPPED
    app.setup_extension("sphinx_sitemap")  # without an address it would warn


def drop_address(app, pagename, templatename, context, doctree):
    """Take the page's address out of its preview; the picture's becomes relative."""
    tags = URL_TAG.sub("", context.get("metatags", ""))
    context["metatags"] = PICTURE.sub(
        lambda found: context["pathto"](found[0], True), tags
    )


def setup(app):
    """Connect to Sphinx."""
    app.connect("config-inited", set_address, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
