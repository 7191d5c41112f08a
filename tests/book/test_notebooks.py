"""The notebooks' files: canonical form, anatomy, links, and the setup cell."""

import ast
import copy
import functools
import itertools
import math
import os
import re
import subprocess
import sys

import nbformat
import pytest
import yaml

from helpers import BOOK, __version__
from tests import ROOT
from tests.unit.test_textbook_figures import FIGURES
from tools import notebooks
from tools.new_chapter import is_draft

CHAPTERS = ROOT / "chapters"
NOTEBOOKS = sorted(CHAPTERS.glob("*.ipynb"))
LARGEST_BYTES = 500_000
LARGEST_BYTES_WITH_A_MODEL = 900_000  # its weights run in the page
MOST_CELLS = 80
READING = "<details><summary>What the answer says</summary>\n\n"
LAST_PARTS = ["Check against PyTorch", "Exercises", "What to remember", "Sources"]
LINK = re.compile(r"\]\(([^)\s]+)\)")

every_notebook = pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS]
)
DRAFTS = [path for path in NOTEBOOKS if is_draft(notebooks.read(path))]
WRITTEN = [path for path in NOTEBOOKS if re.match(r"\d\d_", path.name)]
NUMBERED = [path for path in WRITTEN if path not in DRAFTS]
# Pages beside the chapters, with predictions and exercises of their own.
BESIDE = {
    CHAPTERS / "backward_by_hand.ipynb": "Backward, by hand",
    CHAPTERS / "circuit.ipynb": "From the prompt to the answer",
    CHAPTERS / "cross_attention.ipynb": "Cross-attention: reading dates",
    CHAPTERS / "paged_kv_cache.ipynb": "A cache in pages",
    CHAPTERS / "dividing.ipynb": "Dividing a layer, and a text",
    CHAPTERS / "four_bits.ipynb": "A weight in four bits",
    CHAPTERS / "how_sharp_at_first.ipynb": "How sharp should attention begin?",
    CHAPTERS / "kv_cache.ipynb": "The KV cache",
    CHAPTERS / "latent_attention.ipynb": "Latent attention",
    CHAPTERS / "lora.ipynb": "Fine-tuning with LoRA",
    CHAPTERS / "muon.ipynb": "Muon: as far in every direction",
    CHAPTERS / "reading_on.ipynb": "Reading on",
    CHAPTERS / "sampling.ipynb": (
        "Sampling the next character: temperature, top-k, top-p"
    ),
    CHAPTERS / "thousand_machines.ipynb": "A thousand machines",
    CHAPTERS / "two_core_minute.ipynb": "The two-core minute",
    CHAPTERS / "two_meanings.ipynb": "Two meanings of a word",
    CHAPTERS / "what_it_means.ipynb": 'What does "it" mean?',
}
WITH_EXERCISES = [*NUMBERED, *BESIDE]
every_chapter = pytest.mark.parametrize(
    "path", NUMBERED, ids=[path.stem for path in NUMBERED]
)
every_page_with_exercises = pytest.mark.parametrize(
    "path", WITH_EXERCISES, ids=[path.stem for path in WITH_EXERCISES]
)
every_chapter_and_draft = pytest.mark.parametrize(
    "path", WRITTEN, ids=[path.stem for path in WRITTEN]
)


def markdown(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "markdown"]


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


# --- every notebook ----------------------------------------------------------------


@every_notebook
def test_the_file_is_canonical(path):
    assert notebooks.problems(notebooks.read(path)) == []


@every_notebook
def test_formatting_changes_nothing(path, tmp_path):
    notebook = notebooks.read(path)
    notebooks.format_notebook(notebook)
    notebooks.write(tmp_path / path.name, notebook)
    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


@every_chapter_and_draft
def test_the_anatomy_of_a_chapter(path):
    cells = notebooks.read(path).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert re.match(r"# \d+\. ", cells[0].source)
    assert len(re.findall(r"^# ", text, re.M)) == 1
    for part in ("**You will be able to**", "**Know first:**", "**Time:** about "):
        assert part in cells[0].source
    bullets = cells[0].source.partition("**You will be able to**")[2]
    assert len(re.findall(r"^- ", bullets, re.M)) == 3
    headings = re.findall(r"^## (.+)", text, re.M)
    assert headings[-4:] == LAST_PARTS
    assert 3 <= len(headings) - len(LAST_PARTS) <= 8
    assert "**Predict" in text
    assert len(cells) <= MOST_CELLS
    largest = LARGEST_BYTES
    if "load_story_model(" in path.read_text(encoding="utf-8"):
        largest = LARGEST_BYTES_WITH_A_MODEL
    assert path.stat().st_size <= largest


@pytest.mark.parametrize("path", BESIDE, ids=lambda path: path.stem)
def test_the_anatomy_of_a_page_beside_the_chapters(path):
    cells = notebooks.read(path).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    assert re.findall(r"^# (.+)", text, re.M) == [BESIDE[path]]
    for part in ("**You will be able to**", "**Know first:**", "**Time:** about "):
        assert part in cells[0].source
    assert re.findall(r"^## (.+)", text, re.M)[-4:] == LAST_PARTS
    assert len(cells) <= MOST_CELLS
    assert path.stat().st_size <= LARGEST_BYTES


@every_page_with_exercises
def test_predictions_are_few_and_their_answers_folded(path):
    cells = notebooks.read(path).cells
    folded = [c.id for c in cells if "hide-output" in c.metadata.get("tags", [])]
    predicted = [
        after.id
        for cell, after in itertools.pairwise(cells)
        if cell.cell_type == "markdown" and "**Predict:**" in cell.source
    ]
    assert folded == predicted
    assert 3 <= len(folded) <= 6
    for id_ in folded:
        following = cells[[c.id for c in cells].index(id_) + 1].source
        assert following.startswith(READING), f"what {id_} says stands open"


@pytest.mark.parametrize("path", [*WRITTEN, *BESIDE], ids=lambda path: path.stem)
def test_a_chapter_checks_itself_against_pytorch(path):
    notebook = notebooks.read(path)
    start = next(
        index
        for index, cell in enumerate(notebook.cells)
        if "## Check against PyTorch" in cell.source
    )
    checks = "\n".join(
        cell.source for cell in notebook.cells[start:] if cell.cell_type == "code"
    )
    assert "torch.testing.assert_close" in checks


@every_notebook
def test_an_ignored_output_is_followed_by_a_cell_that_asserts(path):
    cells = code(notebooks.read(path))
    for cell, after in zip(cells, [*cells[1:], None], strict=True):
        if "nbval-ignore-output" in cell.metadata.get("tags", []):
            assert after is not None
            assert re.search(r"\bassert(_close|_equal)?\b", after.source)


@pytest.mark.parametrize(
    "path",
    [*NOTEBOOKS, *CHAPTERS.glob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"],
    ids=lambda path: path.name,
)
def test_relative_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n".join(cell.source for cell in markdown(notebooks.read(path)))
    for link in LINK.findall(text):
        if not re.match(r"(https?|mailto):|#", link):
            folder = ROOT if link.startswith("colab:") else path.parent
            file = link.removeprefix("colab:").partition("#")[0]
            assert (folder / file).is_file(), link


def test_the_table_of_contents_holds_every_page():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = {chapter["file"] for part in toc["parts"] for chapter in part["chapters"]}
    pages = {*NOTEBOOKS, *CHAPTERS.glob("*.md")} - {*DRAFTS}
    assert {toc["root"], *listed} == {f"chapters/{page.stem}" for page in pages}


@every_notebook
def test_every_link_of_a_chapter_stands_on_the_page_of_sources(path):
    sources = (CHAPTERS / "sources.md").read_text(encoding="utf-8")
    text = "\n".join(cell.source for cell in markdown(notebooks.read(path)))
    links = {link for link in LINK.findall(text) if link.startswith("http")}
    assert links
    assert {link for link in links if f"]({link})" not in sources} == set()


PROSE_NUMBER = re.compile(r"(?<![\w.§])\d+\.\d{2,}(?![\w.]*\w)")


def unprinted(prose, shown):
    """The numbers of the prose that no shown number rounds to."""
    found = PROSE_NUMBER.findall(re.sub(r"\]\([^)]*\)", "", prose))
    return [
        number
        for number in found
        if not any(
            f"{float(text):.{len(number.partition('.')[2])}f}" == number
            for text in shown
        )
    ]


def test_every_number_of_the_prose_is_printed_by_a_cell():
    shown = set()
    missing = {}
    for path in NOTEBOOKS:
        notebook = notebooks.read(path)
        for cell in code(notebook):
            texts = [cell.source, *(output.get("text", "") for output in cell.outputs)]
            shown |= set(PROSE_NUMBER.findall("\n".join(texts)))
        for cell in markdown(notebook):
            if numbers := unprinted(cell.source, shown):
                missing[path.stem, cell.id] = numbers
    assert missing == {}


def test_a_number_that_no_cell_prints_is_noticed():
    assert unprinted("It is 0.58, or 0.5761.", {"0.5761"}) == []
    assert unprinted("It is 0.57, or 0.5762.", {"0.5761"}) == ["0.57", "0.5762"]


def hidden_numbers(source):
    """What a cell prints of whether a number is small, where it could print it."""
    found = []
    for part in ast.walk(ast.parse(source)):
        if isinstance(part, ast.FormattedValue):
            value = part.value
            value = value.elt if isinstance(value, ast.ListComp) else value
            if isinstance(value, ast.Compare) and isinstance(
                value.comparators[-1], ast.Constant
            ):
                found.append(ast.unparse(value))
    return found


@pytest.mark.parametrize(
    "name",
    [
        "07_char_language_model",
        "08_how_good_is_it",
        "09_transformer_block",
        "10_training",
    ],
)
def test_a_number_is_printed_and_not_whether_it_is_small(name):
    cells = code(notebooks.read(CHAPTERS / f"{name}.ipynb"))
    assert {
        cell.id: found for cell in cells if (found := hidden_numbers(cell.source))
    } == {}


def test_a_hidden_number_is_noticed():
    assert hidden_numbers('print(f"below: {losses[-1] < 0.4}")') == ["losses[-1] < 0.4"]
    assert hidden_numbers('print(f"{[r[-1] < 0.2 for r in fast]}")') == ["r[-1] < 0.2"]
    assert hidden_numbers('print(f"{loss:.2f} {text in other}")') == []


def printed_rows():
    """The numbers of every printed line of every chapter, as tuples."""
    number = re.compile(r"(?<![\w.])-?(?:inf|\d+(?:\.\d+)?)(?![\w.])")
    rows = set()
    for path in NOTEBOOKS:
        for cell in code(notebooks.read(path)):
            for output in cell.outputs:
                for line in output.get("text", "").splitlines():
                    rows.add(tuple(map(float, number.findall(line))))
    return rows


def figure_rows(expected):
    """The last axis of a printed tensor, row by row; a number is a row of one."""
    if not isinstance(expected, list):
        return [(float(expected),)]
    if not isinstance(expected[0], list):
        return [tuple(map(float, expected))]
    return [row for part in expected for row in figure_rows(part)]


def holds(line, row):
    """Whether the row stands in the line, up to one unit of the fourth decimal."""
    close = functools.partial(math.isclose, rel_tol=0, abs_tol=1.1e-4)
    starts = range(len(line) - len(row) + 1)
    windows = (line[start : start + len(row)] for start in starts)
    return any(all(map(close, window, row)) for window in windows)


# Tables that no reader needs, as they are random or a chapter has its own of the kind;
# tests/unit computes them again.
ONLY_COMPUTED = {
    "bug.wrapper_without_mask",
    "dropout.ones_seed123",
    "dropout.weights_seed123",
    "head.inputs",
    "head.queries",
    "self_attention_v1.seed123",
    "softmax.times8",
    *(
        name
        for name in FIGURES
        if name.startswith(("mha.", "split.", "qkv.", "three_words.", "causal."))
    ),
}


@pytest.mark.parametrize("name", sorted({*FIGURES} - ONLY_COMPUTED))
def test_every_figure_is_printed_in_a_chapter(lines, name):
    for row in figure_rows(FIGURES[name]["expected"]):
        assert any(holds(line, row) for line in lines), row


def test_a_figure_that_no_chapter_prints_is_noticed(lines):
    assert any(holds(line, (0.9995, 0.9544, 0.9422)) for line in lines)
    assert not any(holds(line, (0.9995, 0.9544, 0.9432)) for line in lines)


@pytest.fixture(scope="module")
def lines():
    return printed_rows()


# --- the checks themselves go red --------------------------------------------------


@pytest.fixture(scope="module")
def good():
    return notebooks.read(NOTEBOOKS[0])


def set_metadata(notebook):
    notebook.metadata["authors"] = []


def set_kernel(notebook):
    notebook.metadata["kernelspec"] = {"name": "my-venv", "display_name": "x"}


def repeat_id(notebook):
    notebook.cells[3].id = notebook.cells[4].id


def random_id(notebook):
    notebook.cells[3].id = "3f2a9c1e"


def skip_a_count(notebook):
    code(notebook)[-1].execution_count += 1


def leave_a_cell_unrun(notebook):
    code(notebook)[2].execution_count = None


def change_the_setup(notebook):
    setup = code(notebook)[0]
    setup.source = setup.source.replace("import importlib\n", "")


def unfold_a_solution(notebook):
    solution = next(c for c in code(notebook) if c.id.startswith("solution-"))
    solution.metadata = nbformat.from_dict({"tags": ["hide-input"]})


def untitle_a_solution(notebook):
    solution = next(c for c in code(notebook) if c.id.startswith("solution-"))
    solution.source = solution.source.partition("\n")[2]


def drop_the_setup(notebook):
    notebook.cells.remove(code(notebook)[0])


def tag_oddly(notebook):
    notebook.cells[4].metadata["tags"] = ["nbval-skip"]


def collapse(notebook):
    notebook.cells[4].metadata["collapsed"] = True


def write_long_code(notebook):
    code(notebook)[1].source += "\n# " + "x" * 80


def write_on_behind_a_picture(notebook):
    code(notebook)[1].source += "\ncurves(x, y)\nprint(x)"


def write_myst(notebook):
    markdown(notebook)[1].source += "\n\n```{note}\nHello\n```"


def write_a_role(notebook):
    markdown(notebook)[1].source += " See {ref}`somewhere`."


def leave_a_column_unnamed(notebook):
    markdown(notebook)[1].source += "\n\n| | what it is |\n|---|---|\n| x | a token |"


def add_output(**output):
    def change(notebook):
        code(notebook)[1].outputs.append(nbformat.v4.new_output(**output))

    return change


PICTURE = {"image/png": "aGVsbG8="}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (set_metadata, "metadata other than"),
        (set_kernel, "metadata other than"),
        (repeat_id, "two cells with one id"),
        (random_id, "an id that isn't words"),
        (skip_a_count, "execution counts"),
        (leave_a_cell_unrun, "execution counts"),
        (change_the_setup, "differs from the template"),
        (unfold_a_solution, "isn't folded"),
        (untitle_a_solution, "without the title"),
        (drop_the_setup, "0 cells with the id 'setup'"),
        (tag_oddly, "metadata other than tags"),
        (collapse, "metadata other than tags"),
        (write_long_code, "over 80 columns"),
        (write_on_behind_a_picture, "curves(…) before the last line"),
        (write_myst, "MyST syntax"),
        (write_a_role, "MyST syntax"),
        (leave_a_column_unnamed, "a column that has no name"),
        (
            add_output(output_type="stream", name="stderr", text="Warning"),
            "text on stderr",
        ),
        (
            add_output(output_type="error", ename="ValueError", evalue="x"),
            "an error: ValueError",
        ),
        (
            add_output(output_type="display_data", data=PICTURE),
            "a picture without a text alternative",
        ),
        (
            add_output(
                output_type="display_data",
                data={"text/plain": "<object at 0x7f93c0ffee00>"},
            ),
            "an object's address",
        ),
        (
            add_output(output_type="stream", name="stdout", text="/home/me/x.py"),
            "an absolute path",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_spoiled_notebook_is_named(good, change, problem):
    spoiled = copy.deepcopy(good)
    change(spoiled)
    assert any(problem in found for found in notebooks.problems(spoiled))


def test_formatting_names_a_new_cell_by_its_first_words(good):
    new = [
        nbformat.v4.new_markdown_cell("## What do *two* rows share?\n\nMore."),
        nbformat.v4.new_code_cell("x = 1", id="3f2a9c1e-0d1b-4c2d-9e8f-1a2b3c4d5e6f"),
        nbformat.v4.new_markdown_cell("What do two rows?"),
        nbformat.v4.new_markdown_cell("", id="0d1b4c2d"),
    ]
    notebooks.give_ids([*good.cells, *new])
    assert [cell.id for cell in new] == [
        *("what-do-two-rows", "cell", "what-do-two-rows-2", "cell-2")
    ]


def test_formatting_mends_the_form_and_keeps_the_content(good):
    spoiled = copy.deepcopy(good)
    for change in (set_metadata, set_kernel, skip_a_count, change_the_setup, collapse):
        change(spoiled)
    notebooks.format_notebook(spoiled)
    assert spoiled == good


# --- the setup cell ----------------------------------------------------------------


def run_setup(folder, *, before="", **environment):
    """The setup cell as a program in an empty folder; the finished process."""
    setup = notebooks.setup_source("print('ready')")
    return subprocess.run(
        [sys.executable, "-c", f"{before}\n{setup}"],
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


MISSING = "import sys; sys.modules['helpers'] = None"


def test_setup_finds_the_installed_book(tmp_path):
    result = run_setup(tmp_path)
    assert (result.returncode, result.stdout) == (0, "ready\n"), result.stderr


def test_setup_without_a_public_address_says_so(tmp_path):
    source = f"git+https://github.com/OWNER/{BOOK}@v{__version__}"
    result = run_setup(tmp_path, before=MISSING, BOOK_SOURCE=source)
    assert result.returncode != 0
    assert f"RuntimeError: Upload {notebooks.WHEEL}, under exactly" in result.stderr


def test_setup_names_the_source_that_pip_could_not_install(tmp_path):
    missing = str(tmp_path / "nowhere")
    result = run_setup(tmp_path, before=MISSING, BOOK_SOURCE=missing)
    assert result.returncode != 0
    assert f"RuntimeError: pip could not install {missing}" in result.stderr


def test_setup_without_a_network_says_what_to_do(tmp_path):
    closed = "git+https://127.0.0.1:9/book"
    result = run_setup(tmp_path, before=MISSING, BOOK_SOURCE=closed)
    assert result.returncode != 0
    (line,) = (x for x in result.stderr.splitlines() if x.startswith("RuntimeError"))
    assert f"pip could not install {closed}; its line above says why" in line
    assert "it needs the network: try again" in line
    assert "read the book's pages" in line


@pytest.mark.parametrize("text", ["", "BOOK = 'attention-one-step'"])
def test_setup_refuses_another_package_of_that_name(tmp_path, text):
    (tmp_path / "helpers.py").write_text(text)
    result = run_setup(tmp_path)
    assert result.returncode != 0
    assert f"helpers.py is not {BOOK} {__version__}" in result.stderr


def test_the_setup_cell_takes_address_and_version_from_their_places():
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    setup = notebooks.setup_source("")
    assert f'REPOSITORY = "{config["repository"]["url"]}"\n' in setup
    assert f'f"git+{{REPOSITORY}}@v{__version__}"' in setup
    assert f'WHEEL = "attention_one_step-{__version__}-py3-none-' in setup
