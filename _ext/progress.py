"""Answers that stay folded until a reader has guessed, and the reader's progress.

A cell with the tag ``hide-output`` stands behind a prediction: its output is folded. On
the page one switch opens all of them, and what a reader has opened and answered is kept
in the browser's localStorage: ``progress.js`` has no other memory and asks no network.
"""

import pathlib

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = "progress.js"


def stage_script(app):
    """Put the script beside the other static files of the site, on every page."""
    folder = pathlib.Path(app.outdir).parent / "progress_static"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SCRIPT).write_bytes((HERE / SCRIPT).read_bytes())
    app.config.html_static_path.append(str(folder))


def setup(app):
    """Connect to Sphinx."""
    app.connect("builder-inited", stage_script)
    app.add_js_file(SCRIPT, loading_method="defer")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
