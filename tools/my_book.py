"""Open a reader's own copy of the chapters in JupyterLab.

    python -m tools.my_book            make the copy where it is missing, and open it
    python -m tools.my_book 03         bring chapter 3 anew first

The copy is the folder ``my-book``, which git doesn't see. It is made once, and no file
in it is ever overwritten: a chapter that is brought anew keeps the old one beside it.
Where a chapter of the book has changed since it was copied, a line says so.
"""

import argparse
import hashlib
import json
import os
import pathlib
import subprocess
import sys

import nbformat
import yaml
from ipykernel.ipkernel import IPythonKernel

from helpers.whole_files import write_whole
from tools import notebooks

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "chapters"
FOLDER = ROOT / "my-book"
WELCOME = "00_welcome.ipynb"  # a notebook: it shows as a page, however it is opened
RECORD = ".copied.json"  # the digest that each file's original had
FRESH = (
    "A chapter that you want as it was: `make lab FRESH=03_scaling` brings it, and "
    "keeps yours beside it."
)
LEFT_OUT = ("index.md", "api.md")  # made for the pages; the welcome is the first one's


def originals():
    """What is copied: each file's path by its name."""
    paths = [*CHAPTERS.glob("*.ipynb"), *CHAPTERS.glob("*.md")]
    return {path.name: path for path in sorted(paths) if path.name not in LEFT_OUT}


def complete(folder=FOLDER):
    """Copy what a reader's copy lacks.

    Args:
        folder: of the copy; it is made where it is missing.

    Returns:
        made: the names of the files that were copied.
        changed: the names of the files whose originals have changed since.
    """
    folder.mkdir(parents=True, exist_ok=True)
    record = _record(folder)
    known = originals()
    page = folder / WELCOME
    if not page.exists() or _digest(page) == record.get(WELCOME):  # nobody's words
        _write_notebook(page, notebook_of(f"{welcome()}\n\n{FRESH}"))
        record[WELCOME] = _digest(page)
        _write(folder / RECORD, json.dumps(record, indent=1) + "\n")
    made = [name for name in known if not (folder / name).exists()]
    for name in made:
        _copy(known[name], folder / name)
        record[name] = _digest(known[name])
        record[f"copy of {name}"] = _digest(folder / name)
        _write(folder / RECORD, json.dumps(record, indent=1) + "\n")
    changed = [name for name in known if record.get(name) != _digest(known[name])]
    return made, changed


def renew(wanted, folder=FOLDER):
    """Bring one chapter anew.

    Args:
        wanted: its name, with or without ".ipynb", or its number.
        folder: of the copy.

    Returns:
        name: of the chapter.
        kept: the name under which the old one stays, or None where there was none.

    Raises:
        ValueError: no chapter, or more than one, has that name.
    """
    name = find(wanted)
    kept = None
    if (folder / name).exists():
        if _is_as_copied(folder, name):
            (folder / name).unlink()
            complete(folder)
            return name, None
        stem, ending = os.path.splitext(name)
        number = 1
        while (folder / f"{stem}_mine_{number}{ending}").exists():
            number += 1
        kept = f"{stem}_mine_{number}{ending}"
        (folder / name).rename(folder / kept)
    complete(folder)
    return name, kept


def _is_as_copied(folder, name):
    """Whether a file is what was copied: nobody has written into it."""
    return _record(folder).get(f"copy of {name}") == _digest(folder / name)


def find(wanted):
    """The name of the file that a reader means.

    Raises:
        ValueError: as for ``renew``.
    """
    known = originals()
    plain = pathlib.PurePath(wanted).name.removesuffix(".ipynb").removesuffix(".md")
    stems = {os.path.splitext(name)[0]: name for name in known}
    if plain in stems:
        return stems[plain]
    number = f"{int(plain):02}_" if plain.isdecimal() else plain
    found = [name for stem, name in stems.items() if plain and stem.startswith(number)]
    if len(found) != 1:
        which = "no chapter is" if not found else f"{', '.join(found)} are"
        raise ValueError(
            f"FRESH must name one chapter, and {which} called {wanted!r}. Write its "
            "number, or its file's name as it stands in my-book, such as 03_scaling."
        )
    return found[0]


def welcome():
    """The first page: all others in reading order, with what one has to know."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    lines = [
        "# Attention, One Step at a Time",
        "",
        "This folder is your own copy of the book: change what you like.",
        "Begin with chapter 1. In a chapter, *Shift + Enter* runs a cell; the first "
        "one finds the book.",
        "Where you see •••, something is folded, such as a solution or the answer to a "
        "prediction: click it.",
        "",
    ]
    known = originals()
    for part in contents["parts"]:
        lines += [f"## {part['caption']}", ""]
        for entry in part["chapters"]:
            stem = pathlib.PurePath(entry["file"]).name
            name = next((n for n in known if os.path.splitext(n)[0] == stem), None)
            if name is not None:
                lines.append(f"- [{_title(known[name])}]({name})")
        lines.append("")
    return "\n".join(lines).rstrip("\n")


def notebook_of(text):
    """A notebook that is one page of text."""
    cell = nbformat.v4.new_markdown_cell(text, id="welcome")
    return nbformat.v4.new_notebook(cells=[cell], metadata=notebooks.METADATA)


def _title(path):
    if path.suffix == ".md":
        first = path.read_text(encoding="utf-8").splitlines()[0]
    else:
        first = notebooks.read(path).cells[0].source.splitlines()[0]
    return first.removeprefix("# ")


def _copy(original, path):
    """Copy a file."""
    if original.suffix != ".ipynb":
        _write(path, original.read_text(encoding="utf-8"))
        return
    _write_notebook(path, notebooks.read(original))


def _write_notebook(path, notebook):
    """Write and sign a notebook as JupyterLab would write it when it is opened."""
    notebook.metadata = nbformat.from_dict(
        notebooks.METADATA | {"language_info": IPythonKernel.language_info}
    )
    notebooks.sign(notebook)
    _write(path, nbformat.writes(notebook, version=4) + "\n")


def _write(path, text):
    """Write a file as a whole, or not at all."""
    write_whole(path, text.encode())


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _record(folder):
    try:
        return json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def command(folder=FOLDER):
    """The command that opens the copy at its welcome page."""
    lab = [sys.executable, "-m", "jupyterlab", str(folder)]
    lab.append(f"--LabApp.default_url=/lab/tree/{WELCOME}")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    return [*lab, "--allow-root"] if root else lab


def main():
    """Complete the copy, say what changed, and become JupyterLab."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("fresh", nargs="*", metavar="CHAPTER", help="brought anew")
    fresh = parser.parse_args().fresh
    try:
        for wanted in fresh:
            name, kept = renew(wanted)
            old = f"; the old one is {kept}" if kept else ""
            print(f"{FOLDER.name}/{name} is new{old}")
        made, changed = complete()
    except ValueError as error:
        sys.exit(str(error))
    except OSError as error:
        sys.exit(f"Your copy of the book can't be written: {error}")
    if made:
        print(f"{FOLDER.name}/: your own copy, {len(made)} files new")
    for name in changed:
        stem = os.path.splitext(name)[0]
        print(f"{stem} has changed in the book: make lab FRESH={stem} brings it")
    print("JupyterLab opens at the welcome page; Control-C ends it.")
    print("Where no browser opens, take the address with token= from the lines below.")
    sys.stdout.flush()
    if os.name == "nt":  # execv would hand the prompt back while JupyterLab runs
        sys.exit(subprocess.call(command()))
    os.execv(sys.executable, command())  # noqa: S606 its own interpreter


if __name__ == "__main__":
    main()
