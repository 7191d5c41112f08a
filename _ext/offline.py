"""Let every page of the book work without a network.

MathJax is copied from the package sphinx-mathjax-offline into the site: the one script
and the fonts that pages use. Two listeners of sphinx_thebe that ask a CDN for a script
are taken out.
"""

import importlib.util
import pathlib
import shutil

FONTS = "output/chtml/fonts/woff-v2"
THEBE = {"init_thebe_core", "update_thebe_context"}


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


def setup(app):
    """Connect to Sphinx."""
    drop_thebe(app)
    app.connect("builder-inited", stage_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
