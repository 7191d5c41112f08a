"""Start a chapter: a notebook with all its parts, executed, for the author to fill.

    python -m tools.new_chapter 19_my_chapter "My chapter"

The new chapter says that it is a draft. As long as it does, it stays out of the book's
table of contents and needs no exercises. It has all else that tests ask of a chapter,
and ``tools.new_exercise`` puts exercises in.
"""

import argparse
import re
import sys

import nbformat

from tools import notebooks, tables

DRAFT = "> **Draft.** This chapter is not part of the book yet."
# ``tools.new_exercise`` puts the first exercise in place of it.
NO_EXERCISES = """\
## Exercises

A draft has none yet; a chapter has two to four.
`python -m tools.new_exercise` starts one."""
IMPORTS = """\
import torch
import torch.nn.functional as F

from helpers import attention
from helpers.notebook.display import show
from helpers.views import quiz"""
QUIZ_TITLE = '# @title The code of the question { display-mode: "form" }'
# Each cell's kind, id and text. NUMBER and TITLE stand for the chapter's own. What the
# code below a prediction prints is folded, and the next cell says what that was.
CELLS = (
    (
        "markdown",
        "title",
        f"""\
# NUMBER. TITLE

One sentence that promises what the reader will hold in hand at the end.

{DRAFT}

**You will be able to**

- do one thing;
- do another thing;
- say what a third thing is, and what it is not.

**Know first:** softmax ([chapter 1](01_dot_product_attention.ipynb)).

**Time:** about 10 minutes.""",
    ),
    ("code", notebooks.SETUP_ID, f"{notebooks.IMPORTS}\n{IMPORTS}"),
    (
        "markdown",
        "first-step",
        """\
## Which two tokens fit best?

A step begins with a question and with numbers that fit on a napkin.
Here are two tokens, two numbers each.

**Predict:** which of the four scores is the largest?""",
    ),
    (
        "code",
        "scores-of-two",
        """\
inputs = torch.tensor([[1.0, 0.0], [1.0, 2.0]])
scores = inputs @ inputs.T
show(scores, "scores", decimals=0)""",
    ),
    (
        "markdown",
        "second-step",
        """\
<details><summary>What the answer says</summary>

The last one: the second token is the longest vector, and meets itself.

</details>

A sentence like this reads the output; then the next step asks.

## What do the rows sum to?

**Predict:** does the larger row of scores give the larger sum of weights?""",
    ),
    (
        "code",
        "weights-of-two",
        """\
weights = attention.softmax(scores)
show(weights, "weights")
show(weights.sum(dim=-1), "row sums")""",
    ),
    (
        "markdown",
        "what-rows-sum-to",
        """\
<details><summary>What the answer says</summary>

No: each row sums to 1, whatever its scores.

</details>

A quiz asks for the same idea in another place.""",
    ),
    (
        "code",
        "quiz-added-number",
        f"""\
{QUIZ_TITLE}
quiz(
    "All scores of a row grow by 3. What happens to its weights?",
    right=(
        "They stay as they are.",
        "Softmax sees only the differences of scores.",
    ),
    wrong=[
        ("They grow.", "Each row of weights sums to 1, as before."),
        ("They become more even.", "The differences are the same."),
    ],
)""",
    ),
    (
        "markdown",
        "third-step",
        """\
## What does a token receive?

**Predict:** can the context hold a number larger than 2, the largest input?""",
    ),
    ("code", "context-of-two", 'context = weights @ inputs\nshow(context, "context")'),
    (
        "markdown",
        "what-a-token-receives",
        """\
<details><summary>What the answer says</summary>

It can't: an average lies between the smallest and the largest.

</details>

A chapter has two quizzes.""",
    ),
    (
        "code",
        "quiz-equal-scores",
        f"""\
{QUIZ_TITLE}
quiz(
    "All scores of a row are equal. What does its token receive?",
    right=(
        "The plain average of the inputs.",
        "Equal scores become equal weights.",
    ),
    wrong=[
        ("Nothing.", "Its weights still sum to 1."),
        ("Its own input.", "Its own weight is as large as all others."),
    ],
)""",
    ),
    (
        "markdown",
        "check-against-pytorch",
        """\
## Check against PyTorch

What you built by hand must agree with PyTorch, and with `helpers`.""",
    ),
    (
        "code",
        "compare-with-pytorch",
        """\
expected = F.scaled_dot_product_attention(inputs, inputs, inputs, scale=1.0)
torch.testing.assert_close(context, expected)
print("PyTorch agrees")""",
    ),
    ("markdown", "exercises", NO_EXERCISES),
    (
        "markdown",
        "what-to-remember",
        """\
## What to remember

| name | what it is | shape here |
|---|---|---|
| `weights` | softmax of the scores; each row sums to 1 | `(T, S)` = `(2, 2)` |

- One sentence for each thing that the reader will need again.""",
    ),
    (
        "markdown",
        "sources",
        """\
## Sources

- Vaswani et al. 2017, [Attention Is All You Need](https://arxiv.org/abs/1706.03762), §3.2.1: the section, and what stands in it.""",  # noqa: E501
    ),
)


def is_draft(notebook):
    """Whether a chapter says that it is not part of the book yet."""
    return DRAFT in notebook.cells[0].source


def draft(number, title):
    """The template as a notebook that nobody has run."""
    cells = []
    for kind, id_, text in CELLS:
        new = getattr(nbformat.v4, f"new_{kind}_cell")
        text = text.replace("NUMBER", str(number)).replace("TITLE", title)
        cells.append(new(text, id=id_))
        if kind == "code" and "**Predict:**" in cells[-2].source:
            cells[-1].metadata["tags"] = ["hide-output"]
    facts = dict.fromkeys(tables.FACTS, "…")
    return nbformat.v4.new_notebook(cells=cells, metadata={"book": facts})


def problem(name, title, folder):
    """What is wrong with the name or the title of a new chapter, or None."""
    if not re.fullmatch(r"\d\d(_[a-z0-9]+)+", name):
        return (
            f"NAME is {name!r}; it must be two digits and words in small letters, "
            "joined by underscores, such as 19_my_chapter"
        )
    taken = sorted(folder.glob(f"{name[:2]}_*.ipynb"))
    if taken:
        return f"NAME is {name!r}, but {taken[0].name} exists already"
    if not title.strip() or len(title.splitlines()) > 1:
        return f"TITLE is {title!r}; it must be one line, such as My chapter"
    return None


def main():
    """Write and run the chapter that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("title", metavar="TITLE")
    arguments = parser.parse_args()
    folder = notebooks.ROOT / "chapters"
    found = problem(arguments.name, arguments.title, folder)
    if found:
        sys.exit(found)
    notebook = draft(int(arguments.name[:2]), arguments.title.strip())
    notebooks.format_notebook(notebook)
    notebooks.execute(notebook, folder)
    notebooks.format_notebook(notebook)
    path = folder / f"{arguments.name}.ipynb"
    notebooks.write(path, notebook)
    print(
        f"{path} is a draft: fill it in (.venv/bin/jupyter lab chapters), then run "
        "make notebooks."
    )


if __name__ == "__main__":
    main()
