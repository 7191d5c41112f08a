"""What two pages conclude from the story model is of text as it was trained on."""

import re

import pytest
import torch
import torch.nn.functional as F

from experiments import directions
from helpers.recorded.story_model import load_story_model, record
from helpers.text import corpus
from helpers.text.batches import Documents
from helpers.training.loop import evaluate
from tests.book.test_notebooks import CHAPTERS, code
from tools import notebooks

BLOCK, MUON = (
    {cell.id: cell for cell in code(notebooks.read(CHAPTERS / f"{name}.ipynb"))}
    for name in ("13_modern_block", "muon")
)
STORIES = "held_out[:200]"


def printed(cell, line):
    """The last number of the printed line that begins so."""
    text = "".join(output.get("text", "") for output in cell.outputs)
    (found,) = re.findall(rf"^{line}.*?(\d+\.\d+)$", text, re.M)
    return float(found)


def run(cells, *ids, stories=STORIES):
    """What some cells of a page define."""
    namespace = {"__name__": "page"}
    for id_ in ids:
        exec(cells[id_].source.replace(STORIES, stories), namespace)
    return namespace


def test_chapter_13_prints_the_loss_of_chapter_9s_model():
    loss = printed(BLOCK["worth-of-mean"], "as_it_is")
    assert loss == pytest.approx(record()["full"]["loss"], abs=0.005)
    model, tokenizer = load_story_model()
    stories = corpus.load("little-world").held_out[:200]
    documents = Documents.from_texts(stories, tokenizer, model.context_length)
    assert loss == pytest.approx(evaluate(model, documents), abs=1e-4)


@pytest.mark.slow
def test_the_gradients_of_the_page_on_muon_are_of_batches_with_the_recorded_loss():
    early = record()["early"]["loss"]
    assert printed(MUON["gradients"], "20 batches") == pytest.approx(early, abs=0.03)
    page = run(MUON, "setup", "gradients")
    stories = page["train"][:16]
    documents = Documents.from_texts(stories, page["tokenizer"], 128)
    batch = next(documents.all(16))
    _, expected = directions.gradients_of(page["model"], *batch)
    torch.testing.assert_close(page["gradient"], expected["0.mlp.0.weight"])
    # LayerNorm's output, over its factors, sums to 0: that direction is the 64th.
    hidden = 1 / page["model"].blocks[0].mlp_norm.weight
    left_aside = F.cosine_similarity(page["v_transposed"][63], hidden, dim=0).abs()
    assert left_aside > 0.999
    assert page["s"][63] < 0.05 * page["s"][62]


@pytest.mark.slow
def test_the_faint_directions_that_stand_apart_stay_short_after_five_iterations():
    ids = ("setup", "gradients", "noise", "noise-over-training", "rounds", "matrix")
    page = run(MUON, *ids)
    found = page["late"] / page["late"].norm()
    assert found[40] < 0.001 * found[0]
    assert page["repeated"](found, 5)[40:].max() < 0.5 < page["repeated"](found, 5)[0]


@pytest.mark.slow
@pytest.mark.parametrize("stories", ["held_out[400:600]", "held_out[800:]"])
def test_what_chapter_13_says_of_norms_and_scores_holds_for_other_stories(stories):
    ids = ("setup", "norms", "worth-of-mean", "scores-run-away")
    page = run(BLOCK, *ids, stories=stories)

    def loss(hook):
        logits = page["run_with"](hook, page["norms"])
        targets = page["targets"].flatten()
        return F.cross_entropy(logits.flatten(0, 1), targets).item()

    whole = loss(lambda *_: None)
    assert loss(page["no_mean"]) == pytest.approx(whole, abs=3e-4)
    assert whole + 0.01 < loss(page["no_bias"]) < whole + 0.02
    *blocks, random = (found[2] for found in page["found"][:3])  # the slopes
    assert all(0.85 < slope / random < 1.03 for slope in blocks)


def test_gelu_multiplies_better_with_smaller_inputs_until_rounding_counts():
    torch.manual_seed(1)
    page = run(BLOCK, "setup", "product")

    def off(scale):
        found = page["four_features"](lambda x: page["gelu"](x, scale))
        return (found - page["a"] * page["b"]).abs().max()

    assert off(0.1) > 10 * off(0.01) > 20 * off(0.001)
    assert off(0.0001) > 3 * off(0.001)
