"""Execute the book's notebooks, and keep the files in one canonical form.

    python -m tools.notebooks run      execute in place, and format
    python -m tools.notebooks format   only format
    python -m tools.notebooks views    put today's modules into the stored views
    python -m tools.notebooks trust    sign: JupyterLab then shows what runs by itself

Each takes the notebooks to work on; where none is named, all chapters.

Formatting also writes every setup cell anew: from the template below, the repository's
address in ``_config.yml``, the version in ``helpers``, and the notebook's own imports,
which follow the line ``# The imports of this notebook``. A cell that JupyterLab made
gets its first words for an id.
"""

import argparse
import ast
import itertools
import os
import pathlib
import re
import sys
import time

import nbformat
import yaml
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from nbformat.sign import NotebookNotary

import helpers

ROOT = pathlib.Path(__file__).resolve().parent.parent
CELL_TIMEOUT_SECONDS = 300
STARTS = 3  # of a kernel, where one doesn't answer
SETUP_ID = "setup"
IMPORTS = "# The imports of this notebook"
WHEEL = f"{helpers.BOOK.replace('-', '_')}-{helpers.__version__}-py3-none-any.whl"
SETUP = """\
# @title Setup: finds the book, or installs it {{ display-mode: "form" }}
import importlib
import os
import subprocess
import sys

REPOSITORY = "{address}"
WHEEL = "{wheel}"
BESIDE = WHEEL if os.path.exists(WHEEL) else f"git+{{REPOSITORY}}@v{version}"
SOURCE = os.environ.get("BOOK_SOURCE", BESIDE)
BOOK = ("{name}", "{version}")
try:
    import helpers
except ModuleNotFoundError:  # on Colab nothing is installed yet
    if "/OWNER/" in SOURCE:
        raise RuntimeError(
            f"Upload {{WHEEL}}, under exactly this name, into this notebook's "
            "folder (in Colab: Files, at the left), and run this cell again. "
            "It lies beside the notebooks in the book's zip."
        ) from None
    pip = [sys.executable, "-m", "pip", "install", "--quiet", SOURCE]
    if subprocess.run(pip).returncode:
        raise RuntimeError(
            f"pip could not install {{SOURCE}}; its line above says why. If it "
            "says 'invalid', the upload hadn't finished: upload it again. "
            "Otherwise it needs the network: try again later, or read the "
            "book's pages, which need none."
        ) from None
    importlib.invalidate_caches()
    import helpers
found = [getattr(helpers, name, None) for name in ("BOOK", "__version__")]
if found != list(BOOK):
    raise RuntimeError(
        f"{{helpers.__file__}} is not {{' '.join(BOOK)}}: another package of the "
        "name helpers, or another version. Use a fresh environment."
    )
"""
METADATA = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}
KEPT = ("book",)  # what ``tools.tables`` reads of a page
FOLDING_TITLE = re.compile(r'# @title .+ \{ display-mode: "form" \}\n')
SHOWN = {"bars", "circuit_graph", "curves", "dots", "heatmap", "quiz", "weight_graph"}
CODE_COLUMNS = 80
TAGS = {
    "hide-cell",
    "hide-input",
    "hide-output",
    "nbval-ignore-output",
    "raises-exception",
}
# The output behind a prediction; JupyterLab and the page fold it, Colab doesn't.
ANSWER = {
    "jupyter": {"outputs_hidden": True},
    "mystnb": {
        "code_prompt_hide": "Hide the answer",
        "code_prompt_show": "Show the answer",
    },
}
SOLUTION = "a solution"
MYST = re.compile(r"^\s*(```\{|:::+\s*\{)|\{[a-z:]+\}`", re.MULTILINE)
UNNAMED_COLUMN = re.compile(r"^\|(?:.*\|)? *\|.*\n\|[-:| ]+\|$", re.MULTILINE)
ADDRESS = re.compile(r"\bat 0x[0-9a-f]{6,}")
ABSOLUTE_PATH = re.compile(r"(?<![\w.:/])/(home|root|Users|usr|tmp|work|content)/\w")


def setup_source(imports):
    """The setup cell's text, ending with the given import lines."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    address = config["repository"]["url"]
    setup = SETUP.format(
        address=address,
        name=helpers.BOOK,
        version=helpers.__version__,
        wheel=WHEEL,
    )
    return f"{setup}\n{IMPORTS}\n{imports.strip()}"


def imports_of(source):
    """The lines of a setup cell that belong to its notebook."""
    return source.partition(IMPORTS)[2].strip()


def folded_part(cell):
    """What of a cell's code a fold hides, in words; None where it isn't folded."""
    if cell.id == SETUP_ID:
        return "the setup"
    parts = {
        "solution": SOLUTION,
        "pencil": SOLUTION,
        "quiz": "the code of the question",
    }
    tagged = "hide-input" in cell.metadata.get("tags", [])
    return parts.get(cell.id.partition("-")[0], "the code" if tagged else None)


def folded_metadata(cell):
    """Fold a cell on the page and in JupyterLab; on Colab its @title line does it.

    Of a solution, what it prints is folded, too: it is no verdict on the reader's code.
    A cell whose output isn't compared stays one.
    """
    what = folded_part(cell)
    ignored = {"nbval-ignore-output"} & set(cell.metadata.get("tags", []))
    whole = what == SOLUTION
    hidden = ["source_hidden", "outputs_hidden"] if whole else ["source_hidden"]
    return {
        "jupyter": dict.fromkeys(hidden, True),
        "mystnb": {
            "code_prompt_hide": f"Hide {what}",
            "code_prompt_show": f"Show {what}",
        },
        "tags": sorted({"hide-cell" if whole else "hide-input", *ignored}),
    }


def is_worded(id_):
    """Whether a cell's id is words, and not what JupyterLab gives a new cell."""
    random = re.fullmatch(r"[0-9a-f]{8}(-.*)?", id_)
    return random is None and re.fullmatch(r"[a-z][a-z0-9-]{2,}", id_) is not None


def give_ids(cells):
    """Give new cells the first words of what they hold as ids."""
    taken = {cell.id for cell in cells}
    for cell in cells:
        if not is_worded(cell.id):
            words = re.findall(r"[a-z]{2,}", cell.source.lower())[:4]
            name = "-".join(["cell", *words] if len(words) < 2 else words)
            names = itertools.chain([name], (f"{name}-{i}" for i in itertools.count(2)))
            cell.id = next(name for name in names if name not in taken)
            taken.add(cell.id)


def read(path):
    """The notebook at ``path``, as format 4."""
    return nbformat.read(path, as_version=4)


def metadata_of(notebook):
    """What a notebook's metadata are to be: ``METADATA``, and what tables read."""
    kept = {key: notebook.metadata[key] for key in KEPT if key in notebook.metadata}
    return METADATA | kept


def format_notebook(notebook):
    """Bring a notebook into canonical form, in place."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(metadata_of(notebook))
    give_ids(notebook.cells)
    count = 0
    for cell in notebook.cells:
        tags = cell.metadata.get("tags", [])
        cell.metadata = nbformat.from_dict({"tags": sorted(tags)} if tags else {})
        cell.source = cell.source.strip("\n")
        if cell.cell_type != "code":
            continue
        if cell.id == SETUP_ID:
            cell.source = setup_source(imports_of(cell.source))
        if folded_part(cell):
            cell.metadata = nbformat.from_dict(folded_metadata(cell))
        elif "hide-output" in tags:
            cell.metadata.update(nbformat.from_dict(ANSWER))
        if cell.execution_count is not None:
            count += 1
            cell.execution_count = count
        for output in cell.outputs:
            if output.output_type == "execute_result":
                output.execution_count = cell.execution_count


def write(path, notebook):
    """Write the notebook with sorted keys and a newline at its end."""
    text = nbformat.writes(notebook, version=4).rstrip("\n") + "\n"
    pathlib.Path(path).write_text(text, encoding="utf-8", newline="\n")


def execute(notebook, folder, *, allow_errors=False):
    """Run every cell of ``notebook`` in ``folder``; outputs replace the stored ones."""
    os.environ["BOOK_STATIC"] = "1"
    # Nothing is kept in the home folder, which may be read-only.
    for name in ("MPLCONFIGDIR", "IPYTHONDIR"):
        folder_of_its_own = ROOT / "_build" / name.lower()
        folder_of_its_own.mkdir(parents=True, exist_ok=True)
        os.environ[name] = str(folder_of_its_own)
    for attempt in range(1, STARTS + 1):
        client = NotebookClient(
            notebook,
            timeout=CELL_TIMEOUT_SECONDS,
            kernel_name="python3",
            allow_errors=allow_errors,
            resources={"metadata": {"path": str(folder)}},
            store_widget_state=False,
            record_timing=False,
            coalesce_streams=True,
        )
        try:
            client.execute()
            return
        except DeadKernelError:  # in the midst of a cell, which did it
            raise
        except RuntimeError:  # no answer from a new one: another took its port
            if attempt == STARTS:
                raise


def sign(notebook):
    """Let JupyterLab trust the notebook; the signature is kept in the home folder."""
    try:
        NotebookNotary().sign(notebook)
    except OSError as error:
        sys.exit(
            f"Jupyter can't keep a signature ({error}). It needs a home folder that it "
            "may write to; for one that lasts until you quit: "
            'HOME="$(mktemp -d)" make lab'
        )


def views_of(notebook):
    """The stored outputs that are views, as data by MIME type."""
    from helpers.views.view import is_stored
    # only here: it imports PyTorch, in seconds

    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if is_stored(data.get("text/html", "")):
                yield data


def rebuilt(stored):
    """The HTML of a stored view with today's modules; no cell is run."""
    from helpers.views.view import rebuild

    return rebuild(stored)


def problems(notebook):
    """What keeps a notebook from the canonical form, one sentence each."""
    found = []
    if (notebook.nbformat, notebook.nbformat_minor) != (4, 5):
        found.append(f"format {notebook.nbformat}.{notebook.nbformat_minor}, not 4.5")
    if notebook.metadata != metadata_of(notebook):
        found.append(f"metadata other than {METADATA}")
    ids = [cell.id for cell in notebook.cells]
    if len(set(ids)) < len(ids):
        found.append("two cells with one id")
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    counts = [cell.execution_count for cell in code]
    if counts != list(range(1, len(code) + 1)):
        found.append(f"execution counts {counts}")
    if ids.count(SETUP_ID) != 1:
        found.append(f"{ids.count(SETUP_ID)} cells with the id {SETUP_ID!r}")
    for data in views_of(notebook):
        if rebuilt(data["text/html"]) != data["text/html"]:
            found.append(
                "a view with another module than today's; run python -m "
                "tools.notebooks views"
            )
    for cell in notebook.cells:
        found += [f"cell {cell.id}: {problem}" for problem in _cell_problems(cell)]
    return found


def unseen_pictures(source):
    """Names of what makes a picture or a quiz, called where a cell shows no value."""
    try:
        lines = ast.parse(source).body[:-1]
    except SyntaxError:  # a magic command
        return []
    calls = [one.value for one in lines if isinstance(one, ast.Expr)]
    names = [getattr(getattr(one, "func", None), "id", "") for one in calls]
    return [name for name in names if name in SHOWN]


def _cell_problems(cell):
    if not is_worded(cell.id):
        yield "an id that isn't words joined by hyphens"
    tags = set(cell.metadata.get("tags", []))
    answer = ANSWER if "hide-output" in tags else {}
    allowed = folded_metadata(cell) if folded_part(cell) else {"tags", *answer}
    if set(cell.metadata) - set(allowed) or tags - TAGS:
        yield f"metadata other than tags from {sorted(TAGS)}: {dict(cell.metadata)}"
    if cell.cell_type == "markdown":
        if MYST.search(cell.source):
            yield "MyST syntax, which Colab shows as raw text"
        if UNNAMED_COLUMN.search(cell.source):
            yield "a table with a column that has no name, which a screen reader needs"
        return
    if cell.id == SETUP_ID and cell.source != setup_source(imports_of(cell.source)):
        yield "a setup cell that differs from the template; run make notebooks"
    if any(cell.metadata.get(name) != value for name, value in answer.items()):
        yield "an answer that isn't folded; run make notebooks"
    if folded_part(cell):
        if cell.metadata != folded_metadata(cell):
            yield "a setup, solution, quiz or tag that isn't folded; run make notebooks"
        if not FOLDING_TITLE.match(cell.source):
            yield "folded code without the title by which Colab folds it, too"
    if any(
        len(line) > CODE_COLUMNS and not line.startswith("REPOSITORY = ")
        for line in cell.source.splitlines()
    ):
        yield f"a line of code over {CODE_COLUMNS} columns"
    for name in unseen_pictures(cell.source):
        yield f"{name}(…) before the last line: the page shows the last value alone"
    text = cell.source
    for output in cell.outputs:
        if output.output_type == "stream" and output.name != "stdout":
            yield "text on stderr"
        if output.output_type == "error" and "raises-exception" not in tags:
            yield f"an error: {output.ename}"
        data = output.get("data", {})
        for kind in data:
            words = output.get("metadata", {}).get(kind, {})
            if kind.startswith("image/") and not words.get("alt"):
                yield "a picture without a text alternative"
        text += output.get("text", "") + data.get("text/plain", "")
        text += data.get("text/html", "")
    if ADDRESS.search(text):
        yield "an object's address"
    if ABSOLUTE_PATH.search(text):
        yield "an absolute path"


def main():
    """Run, format or sign the notebooks named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("run", "format", "views", "trust"))
    parser.add_argument("notebooks", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    # An environment may have been made for another copy of the book: kernels are to
    # find the library of this one.
    own = [str(ROOT), str(ROOT / "attention-audit" / "src")]
    os.environ["PYTHONPATH"] = os.pathsep.join(own)
    for path in arguments.notebooks or sorted((ROOT / "chapters").glob("*.ipynb")):
        notebook = read(path)
        if arguments.command == "trust":
            sign(notebook)
            continue
        format_notebook(notebook)
        if arguments.command == "views":
            for data in views_of(notebook):
                data["text/html"] = rebuilt(data["text/html"])
        if arguments.command == "run":
            started = time.perf_counter()
            execute(notebook, path.parent)
            format_notebook(notebook)
            print(f"{path}: executed in {time.perf_counter() - started:.1f} s")
        write(path, notebook)


if __name__ == "__main__":
    main()
