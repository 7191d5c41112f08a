"""What every view is made of: HTML that needs no kernel and no network.

A notebook shows a view as a table of its numbers, an ES module, the view's state as
JSON and a few lines that start it. Where no script runs, the table is what is left. The
module is put together from the files beside this one and in ``shared/``: an ``import``
is replaced by the file that it names, and that of ``views.css`` by its parts that the
modules need.
"""

import functools
import hashlib
import html
import json
import math
import pathlib
import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

FOLDER = pathlib.Path(__file__).resolve().parent
# Where modules are: the views', those that several are made of, and those of two
# workers: one trains a model, the other runs one that others trained.
FOLDERS = (FOLDER, FOLDER / "shared", FOLDER / "trainer", FOLDER / "real_model")
IMPORT = re.compile(
    r'^import \{[^}]*\} from "\.{1,2}/(?:[a-z_]+/)?([a-z_0-9]+)\.js";\n', re.MULTILINE
)
# A module whose text another one takes, to start a worker from it.
WORKER = re.compile(
    r'^import (\w+) from "\./(?:[a-z_]+/)?([a-z_0-9]+)\.js\?text";\n', re.MULTILINE
)
# The style of all views, of which a bundle takes the parts of its modules.
STYLE = re.compile(r'^import (\w+) from "\.\./views\.css\?text";\n', re.MULTILINE)
PART = re.compile(r"^/\* --- (\w+)\.js --- \*/\n", re.MULTILINE)
# What only an editor and the types' checker read.
NOTES = re.compile(r"^ */\*\*(?:(?!\*/).)*\*/\n", re.MULTILINE | re.DOTALL)
START = """
{
  const view = document.querySelector('[data-view="%s"]:not([data-live])');
  if (view) {
    view.dataset.live = "";
    render({ state: %s, el: mount(view) });
  }
}
"""
SUMMARY = "The numbers at the start, as a table"
# What a notebook has stored of a view.
STORED = re.compile(
    r'<div class="aos-view" data-view="[0-9a-f]{12}" data-module="(?P<module>\w+)">\n'
    r'<p class="title">(?P<title>.*?)</p>\n(?P<picture>.*?)'
    r"<details open><summary>(?P<summary>[^<]*)</summary>\n(?P<tables>.*?)\n"
    r'</details>\n</div>\n<script type="module">\n.*'
    r"    render\(\{ state: (?P<state>[^\n]*), el: mount\(view\) \}\);\n  \}\n\}\n"
    r"</script>",
    re.DOTALL,
)


@dataclass(frozen=True)
class Table:
    """A table of the numbers that a view starts with.

    Args:
        caption: what it shows.
        cells: rows of strings and numbers; numbers get ``decimals`` places.
        columns: a heading for each column, or None.
        rows: a heading for each row, or None.
        decimals: digits after the point.
    """

    caption: str
    cells: Sequence[Sequence[object]]
    columns: Sequence[object] | None = None
    rows: Sequence[object] | None = None
    decimals: int = 4

    def to_html(self) -> str:
        """The table as HTML; every text in it is escaped."""
        lines = [f"<table><caption>{html.escape(self.caption)}</caption>"]
        if self.columns is not None:
            corner = [] if self.rows is None else [""]
            heads = (f'<th scope="col">{_text(name)}</th>' for name in self.columns)
            lines.append(f"<tr>{''.join(['<td></td>'] * len(corner))}{''.join(heads)}")
        for index, row in enumerate(self.cells):
            head = ""
            if self.rows is not None:
                head = f'<th scope="row">{_text(self.rows[index])}</th>'
            cells = "".join(f"<td>{_text(cell, self.decimals)}</td>" for cell in row)
            lines.append(f"<tr>{head}{cells}")
        return "\n".join([*lines, "</table>"])


class View:
    """Something on the page that a reader moves, without a kernel.

    Args:
        module: the name of an ES module in this folder; its ``render({state, el})``
            draws into the element ``el``.
        title: what the view is, in a few words.
        state: what the module gets: dicts, lists, strings, numbers, booleans.
        tables: what a reader sees where no script runs, and folded up elsewhere.
        decimals: digits after the point of the state's floating-point numbers.
        summary: what stands over the tables, folded up or not.
        picture: HTML that is seen without a script too; its texts are escaped.
    """

    def __init__(
        self,
        module: str,
        title: str,
        state: dict[str, Any],
        tables: Iterable[Table],
        *,
        decimals: int = 4,
        summary: str = SUMMARY,
        picture: str = "",
    ) -> None:
        self.module, self.title, self.state = module, title, state
        self.tables, self.decimals, self.summary = tuple(tables), decimals, summary
        self.picture = picture

    def __repr__(self) -> str:
        return f"<view {self.module}: {self.title}>"

    def _repr_html_(self) -> str:
        return _assemble(
            self.module,
            _text(self.title),
            self.picture,
            _text(self.summary),
            "\n".join(table.to_html() for table in self.tables),
            to_json(self.state, self.decimals),
        )


def _assemble(
    module: str, title: str, picture: str, summary: str, tables: str, state: str
) -> str:
    """A view's HTML, of texts that are escaped already."""
    script = bundle(module)
    key = hashlib.sha256(f"{script}{state}".encode()).hexdigest()[:12]
    script += START % (key, state)
    if "</script" in script.lower() or "<!--" in script:
        raise ValueError(f"{module}.js must not hold </script or <!--")
    return (
        f'<div class="aos-view" data-view="{key}" data-module="{module}">\n'
        f'<p class="title">{title}</p>\n{picture}'
        f"<details open><summary>{summary}</summary>\n{tables}\n"
        f'</details>\n</div>\n<script type="module">\n{script}</script>'
    )


def is_stored(text: str) -> bool:
    """Whether a notebook's HTML output is a view."""
    return text.startswith('<div class="aos-view"')


def rebuild(stored: str) -> str:
    """Put today's modules into a stored view; its state and its words stay.

    Args:
        stored: the HTML of a View.

    Returns:
        html: what the same View gives now.

    Raises:
        ValueError: HTML that isn't a view's.
    """
    found = STORED.fullmatch(stored)
    if found is None:
        raise ValueError(f"stored must be the HTML of a view, got {stored[:60]!r}")
    pieces = ("module", "title", "picture", "summary", "tables", "state")
    return _assemble(*found.group(*pieces))


def to_json(value: object, decimals: int = 4) -> str:
    """Write a state as JSON whose text is the same on every machine.

    Floating-point numbers get a fixed number of decimals, so that a comparison knows
    their last place. No ``<`` is left that could end a script early.

    Args:
        value: dicts with strings as keys, lists, tuples, strings, numbers, booleans,
            None.
        decimals: digits after the point.

    Returns:
        text: one line.

    Raises:
        ValueError: anything else, or a number that isn't finite.
    """
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return json.dumps(value).replace("<", "\\u003c")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"a state must hold finite numbers, got {value}")
        return f"{value:z.{decimals}f}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(to_json(one, decimals) for one in value)}]"
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        pairs = (f"{to_json(k)}:{to_json(v, decimals)}" for k, v in value.items())
        return f"{{{','.join(pairs)}}}"
    raise ValueError(f"a state must hold plain values, got {type(value).__name__}")


@functools.cache
def bundle(name: str) -> str:
    """The text of a view's ES module and of all that it imports, each file once.

    Args:
        name: a file in this folder, without its ending.

    Returns:
        script: a module without imports, exports and doc comments, with its style.
    """
    texts = _joined("page", name)  # the first mounts every view
    return STYLE.sub(
        lambda found: f"const {found[1]} = `\n{_style(texts)}`;\n",
        "\n".join(texts.values()),
    )


@functools.cache
def bundle_of(name: str) -> str:
    """The same without what draws on a page, such as the code of a worker.

    Args:
        name: a file in this folder or in one of its own, without its ending.
    """
    return "\n".join(_joined(name).values())


def _style(modules: Container[str]) -> str:
    """The parts of the stylesheet that some modules need."""
    text = (FOLDER / "views.css").read_text(encoding="utf-8")
    _, *parts = PART.split(text)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return "".join(part.strip() + "\n" for name, part in pairs if name in modules)


def _joined(*names: str) -> dict[str, str]:
    """The texts of modules and of what they import, by name, in the order of need."""
    texts: dict[str, str] = {}
    seen: set[str] = set()

    def visit(one: str) -> None:
        if one in seen:
            return
        seen.add(one)
        file = next(
            file for folder in FOLDERS if (file := folder / f"{one}.js").exists()
        )
        text = file.read_text(encoding="utf-8")
        text = WORKER.sub(
            lambda found: f"const {found[1]} = {_quoted(bundle_of(found[2]))};\n", text
        )
        for other in IMPORT.findall(text):
            visit(other)
        text = NOTES.sub("", IMPORT.sub("", text))
        texts[one] = re.sub(r"^export ", "", text, flags=re.MULTILINE)

    for name in names:
        visit(name)
    return texts


def _quoted(code: str) -> str:
    """Code as a string in other code, with no ``<`` that could end a script."""
    return json.dumps(code).replace("<", "\\u003c")


def _text(value: object, decimals: int = 4) -> str:
    if isinstance(value, float):
        value = f"{value:z.{decimals}f}"
    return html.escape(str(value))
