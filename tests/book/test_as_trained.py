"""The page on Muon takes its gradient of stories as the model was trained on them."""

import pytest
import torch
import torch.nn.functional as F

from helpers.recorded.story_model import record
from helpers.text.batches import Documents
from tests.book.test_notebooks import CHAPTERS, code
from tools import notebooks

MUON = {cell.id: cell for cell in code(notebooks.read(CHAPTERS / "muon.ipynb"))}


def run(*ids):
    """What some cells of the page define."""
    namespace = {"__name__": "page"}
    for id_ in ids:
        exec(MUON[id_].source, namespace)
    return namespace


@pytest.mark.slow
def test_the_gradient_is_that_of_a_batch_as_in_training():
    page = run("setup", "gradients")
    documents = Documents.from_texts(page["stories"], page["tokenizer"], 128)
    batch = next(documents.all(16))
    inputs, targets = batch
    logits = page["model"](inputs)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    assert loss.item() == pytest.approx(record()["early"]["loss"], abs=0.1)
    (expected,) = torch.autograd.grad(loss, page["model"].blocks[0].mlp[0].weight)
    torch.testing.assert_close(page["gradient"], expected)
    # LayerNorm's output, over its factors, sums to 0: that direction is the 64th.
    hidden = 1 / page["model"].blocks[0].mlp_norm.weight
    left_aside = F.cosine_similarity(page["v_transposed"][63], hidden, dim=0).abs()
    assert left_aside > 0.999
    assert page["s"][63] < 0.05 * page["s"][62]


@pytest.mark.slow
def test_only_the_last_direction_stays_short_and_the_others_lose_their_order():
    page = run("setup", "gradients", "matrix")
    assert (page["sizes"] < 0.5).nonzero().flatten().tolist() == [63]
    assert page["s"][0] > 10 * page["s"][19]
    assert page["s"][4] > 3.5 * page["s"][19]
    assert page["sizes"][4] < 0.8 * page["sizes"][19]
