"""Pack the built book into files that can be sent: ``make share``.

    python -m tools.share

``dist/`` then holds the zip, of one folder with the pages, the notebooks and a page
"Start here", and the wheel alone, which Colab takes. Neither needs an address or a
network to be read. The same book gives the same bytes.
"""

import argparse
import html
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

import nbformat
import yaml

from helpers import BOOK, __version__
from tools.machine import CPU_WHEELS
from tools.my_book import WELCOME, notebook_of, originals, welcome
from tools.notebooks import WHEEL

ROOT = pathlib.Path(__file__).resolve().parent.parent
NAME = f"{BOOK}-{__version__}"
START = "Start here.html"
# What the wheel is made of: pip builds in the source's own folder.
SOURCES = (
    *("helpers", "attention-audit/src"),
    *("pyproject.toml", "README.md", "LICENSE"),
)
LONG_AGO = "315532800"  # 1980, the oldest date that a zip file can hold


def build_wheel(folder):
    """Build the book's wheel; no index is asked.

    Args:
        folder: where it goes.

    Returns:
        wheel: its path.

    Raises:
        RuntimeError: pip could not build it; its last lines say why.
    """
    with tempfile.TemporaryDirectory() as copy:
        for name in SOURCES:
            source = ROOT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(source, pathlib.Path(copy, name), ignore=ignored)
            else:
                shutil.copy(source, copy)
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        pip += ["--no-build-isolation", "--no-index", "--wheel-dir", folder, copy]
        built = subprocess.run(
            pip,
            env=os.environ | {"SOURCE_DATE_EPOCH": LONG_AGO},
            capture_output=True,
            text=True,
            check=False,
        )
    if built.returncode:
        raise RuntimeError(f"pip could not build the wheel: {built.stderr[-1000:]}")
    return folder / WHEEL


def pack(site, wheel, folder):
    """Zip the pages, the notebooks and the wheel.

    Args:
        site: the folder that holds the built pages.
        wheel: the wheel's path.
        folder: where the file goes.

    Returns:
        zipped: the file's path.

    Raises:
        FileNotFoundError: there are no pages.
    """
    if not (site / "index.html").is_file():
        raise FileNotFoundError(f"{site} holds no built book: run make book")
    inside = {START: start_page().encode()}
    for path in site.rglob("*"):
        name = path.relative_to(site)
        if path.is_file() and not name.parts[0].startswith("."):
            inside[f"pages/{name.as_posix()}"] = path.read_bytes()
    for name, path in originals().items():
        inside[f"notebooks/{name}"] = path.read_bytes()
    first = nbformat.writes(notebook_of(welcome()), version=4)
    inside[f"notebooks/{WELCOME}"] = first.encode()
    inside[f"notebooks/{wheel.name}"] = wheel.read_bytes()
    zipped = folder / f"{NAME}.zip"
    with zipfile.ZipFile(zipped, "w") as archive:
        for name, content in sorted(inside.items()):
            # A ZipInfo without a date holds 1980, whenever the page was built.
            entry = zipfile.ZipInfo(f"{NAME}/{name}")
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return zipped


def start_page():
    """The page that somebody opens who got the zip."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return START_PAGE.format(
        title=html.escape(config["title"]), wheel=WHEEL, cpu=CPU_WHEELS
    )


START_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Start here: {title}</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 1.05rem/1.6 system-ui, sans-serif; max-width: 42rem;
         margin: 2rem auto; padding: 0 1rem; }}
  pre {{ white-space: pre-wrap; overflow-wrap: anywhere;
        padding: .6rem 1rem; border: 1px solid; }}
</style>
<main>
<h1>{title}</h1>
<p>This folder is the whole book. Nothing in it needs a network to be read.</p>
<h2>Read</h2>
<p><a href="pages/index.html"><strong>Open the pages</strong></a>: text, pictures,
and everything that you can move, in this browser.</p>
<h2>Run the notebooks in Colab</h2>
<p>In <a href="https://colab.research.google.com">Colab</a>, choose <em>File, Upload
notebook</em> and take one from the folder <code>notebooks</code>. Then drop
<code>{wheel}</code>, from the same folder, into <em>Files</em> at the left, and run the
first cell. Colab folds no outputs: choose <em>Edit, Clear all outputs</em>, and each
prediction's answer appears when you run its cell.</p>
<h2>Run the notebooks on your machine</h2>
<p>You need Python 3.11 or newer. In the folder <code>notebooks</code>:</p>
<pre>python3 -m venv book
book/bin/pip install torch --index-url {cpu}
book/bin/pip install {wheel} jupyterlab ipywidgets
book/bin/jupyter lab 00_welcome.ipynb</pre>
<p>(The second line takes the small PyTorch; leave it out on a Mac, or where you have a
GPU. On Windows, write <code>book\\Scripts</code> in place of <code>book/bin</code>, and
<code>python</code> in place of <code>python3</code>. This needs the network once,
and some 2 GB.)</p>
</main>
</html>
"""


def main():
    """Pack what make book has built; say where it is, or what is missing."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    folder = ROOT / "dist"
    folder.mkdir(exist_ok=True)
    try:
        wheel = build_wheel(folder)
        zipped = pack(ROOT / "_build" / "html", wheel, folder)
    except (FileNotFoundError, RuntimeError) as error:
        sys.exit(str(error))
    for path, words in ((zipped, "send it: it opens at"), (wheel, "for Colab")):
        size = path.stat().st_size / 1e6
        start = f" {START!r}" if path == zipped else ""
        print(f"{path.relative_to(ROOT).as_posix()} ({size:.1f} MB), {words}{start}")


if __name__ == "__main__":
    main()
