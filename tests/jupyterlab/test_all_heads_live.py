"""``all_heads`` in JupyterLab: any text with a kernel, recorded ones without it."""

import nbformat
import pytest

from tests.jupyterlab.lab import saved
from tools import notebooks

pytestmark = pytest.mark.slow
SHOW = """import os
os.environ.pop("BOOK_STATIC", None)
import torch
from helpers.models.head_reading import HeadReader
from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.text.tokenizer import CharTokenizer
from helpers.views import all_heads

torch.manual_seed(0)
model = TransformerLM(TransformerConfig(5, 12, 24, 6, 2))
reader = HeadReader(model, CharTokenizer("abcde"))
readings = [reader.read_without_each(text) for text in ("abcab", "eda")]
all_heads(readings, reader=reader, query=4, key=2)
"""


def test_any_text_is_read_and_any_heads_are_off_while_the_kernel_lives(lab):
    cells = [nbformat.v4.new_code_cell(SHOW)]
    small = nbformat.v4.new_notebook(cells=cells, metadata=notebooks.METADATA)
    nbformat.write(small, lab.folder / "all_heads.ipynb")
    opened = lab.open("all_heads.ipynb")
    opened.run_all()
    page = opened.page
    view = page.locator('.aos-view[data-module="all_heads"]')
    value = lambda name: view.locator(f'[data-value="{name}"]')  # noqa: E731
    control = lambda name: view.locator(f'[data-control="{name}"]')  # noqa: E731
    page.locator(".aos-fed").wait_for(state="attached")
    text, off = (page.locator(".aos-explore input").nth(i) for i in range(2))

    # Arrow keys move the view, not JupyterLab's cells.
    control("head").press("ArrowRight")
    value("sentence").get_by_text("Layer 1, head 0").wait_for()
    control("switch").click()
    value("after 0").wait_for()
    assert off.input_value() == "1.0"
    control("head").press("ArrowDown")
    control("switch").click()
    view.get_by_text("off: head 1.0 and head 1.1").wait_for()
    assert off.input_value() == "1.0, 1.1"

    text.fill("cabbage")  # the model doesn't know "g"
    value("wrong").get_by_text("text holds 'g' at position 5").wait_for()
    text.fill("cabba")
    view.get_by_text("the one in the field above").wait_for(state="attached")
    value("wrong").get_by_text("text holds").wait_for(state="detached")
    control("query").locator("[role=option]").nth(4).click()
    names = control("query").locator(".token").all_inner_texts()
    assert names == list("cabba")
    off.fill("7.7")
    value("wrong").get_by_text("layer must be an integer from 0 to 1").wait_for()
    off.fill("")
    value("after 0").wait_for(state="detached")
    control("text").select_option("eda")
    control("query").locator(".token").nth(2).wait_for()
    control("query").locator(".token").nth(3).wait_for(state="detached")
    assert text.input_value() == "eda"
    opened.picture("all_heads")

    page.keyboard.press("Control+s")
    path = lab.folder / opened.name
    while (result := saved(path, 1)) is None:
        page.wait_for_timeout(200)
    assert len(result.cells[0].outputs) == 2
    opened.close()

    reopened = lab.open(opened.name)
    view = reopened.page.locator('.aos-view[data-module="all_heads"]')
    view.wait_for()
    lost = reopened.page.get_by_text("model not found")
    lost.wait_for(state="attached")
    assert not lost.is_visible()
    view.locator('[data-control="switch"]').click()
    view.locator('[data-value="after 0"]').wait_for()
    reopened.close()
