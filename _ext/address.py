"""Say on every page when the book has no public address yet.

The Colab buttons are made from ``repository.url`` in ``_config.yml``. While that
address still holds the placeholder OWNER, they lead nowhere, so a banner says it.
"""

PLACEHOLDER = "/OWNER/"
BANNER = (
    "This copy of the book has no public address yet, so its Colab buttons lead "
    "nowhere. Whoever publishes it sets repository.url in _config.yml."
)


def announce_missing_address(app, config):
    """Show the banner where the repository's address is the placeholder."""
    options = config.html_theme_options
    if PLACEHOLDER in options.get("repository_url", ""):
        options["announcement"] = BANNER


def setup(app):
    """Connect to Sphinx."""
    app.connect("config-inited", announce_missing_address)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
