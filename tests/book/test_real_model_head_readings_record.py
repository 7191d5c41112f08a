"""What the views of all heads in chapters 17 and 18 show is what SmolLM2 does."""

import base64
import gzip
import json

import numpy as np
import pytest
import torch

from experiments.real_model import head_readings
from helpers.models.switches import silenced
from helpers.recorded import results
from helpers.views import all_heads
from helpers.views.all_heads import unpack_weights
from tests.real_models import need

RUNS = {
    run["text"]: run["reading"]
    for run in results.record("real_model")["runs"]
    if run["study"] == "head_readings"
}


def test_every_sentence_was_read_and_is_short():
    assert set(RUNS) == set(head_readings.SENTENCES)
    for text, reading in RUNS.items():
        assert reading["text"] == text
        assert len(reading["tokens"]) <= 16
        assert (reading["layers"], reading["heads"]) == (30, 9)


def test_a_page_can_carry_them():
    view = all_heads([RUNS[text] for text in head_readings.SENTENCES])
    assert len(gzip.compress(view._repr_html_().encode())) < 150_000


@pytest.fixture(scope="module")
def smollm2():
    need("smollm2-135m")
    return head_readings.smollm2()


@pytest.mark.parametrize("text", head_readings.SENTENCES)
def test_the_weights_are_the_models(smollm2, text):
    model, tokenizer = smollm2
    ids = torch.tensor([tokenizer.encode(text)])
    with torch.no_grad():
        logits, weights = model(ids, return_weights=True)
    found = unpack_weights(RUNS[text])
    torch.testing.assert_close(found, torch.cat(weights), atol=0.004, rtol=0)
    best = logits[0, -1].softmax(-1).topk(5)
    assert tokenizer.pieces(best.indices) == [one for one, _ in RUNS[text]["next"]]
    shares = [share for _, share in RUNS[text]["next"]]
    assert shares == pytest.approx(best.values.tolist(), abs=0.001)


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (13, 8), (29, 1)])
def test_what_is_lost_without_a_head_is_what_the_model_loses(smollm2, layer, head):
    model, tokenizer = smollm2
    text = head_readings.SENTENCES[2]
    lost = base64.b64decode(RUNS[text]["without"]["lost"])
    found = np.frombuffer(lost, dtype="<i2").reshape(30, 9)[layer, head] / 1000
    ids = torch.tensor([tokenizer.encode(text)])
    with torch.no_grad():
        before = model(ids)[0, -1].log_softmax(-1)
        with silenced(model, layer, head):
            after = model(ids)[0, -1].log_softmax(-1)
    top = before.argmax()
    assert found == pytest.approx(float(before[top] - after[top]), abs=0.005)
    assert json.dumps(RUNS[text]["next"][0][0]) == '" Paris"'
