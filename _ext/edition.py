"""The book's version in the footer of every page, and in the site's data."""

import helpers


def show_version(app, config):
    """Hand the version of ``helpers`` to Sphinx and to the theme's footer."""
    config.version = config.release = helpers.__version__
    config.html_theme_options["extra_footer"] = (
        f'<p class="edition">Version {helpers.__version__}</p>'
    )


def setup(app):
    """Connect to Sphinx."""
    app.connect("config-inited", show_version)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
