"""On a Mac's GPU, which has no double precision, all that readers call still runs."""

import pytest
import torch

from helpers.models import induction
from helpers.models.generation import generate
from helpers.recorded.story_model import load_story_model
from helpers.text import corpus, probes
from helpers.text.encoding import encode_for_model
from helpers.training import checkpoint
from helpers.views import diagram, temperature_and_width
from tests.samples import training
from tests.samples.without_float64 import WithoutFloat64


def test_the_stand_in_refuses_what_a_mac_refuses():
    with WithoutFloat64():
        number = torch.nn.Parameter(torch.ones(2))
        assert number.cpu().double().sum().item() == 2
        assert number.abs().cpu().max().double() == 1
        for wide in (number.double, lambda: number.to(torch.float64)):
            with pytest.raises(TypeError, match="no float64"):
                wide()


def test_training_with_checkpoints_and_evaluation(tmp_path):
    with WithoutFloat64():
        training.short_run(tmp_path)
    assert checkpoint.steps(tmp_path)[-1] == training.STEPS


def test_a_trained_model_is_asked_and_writes():
    model, tokenizer = load_story_model()
    story = corpus.load("little-world").held_out[0]
    with WithoutFloat64(), torch.no_grad():
        rows = probes.log_probabilities(model, tokenizer, [story])
        ids = encode_for_model(story[:20], tokenizer)
        generate(model, ids, 3, generator=torch.Generator().manual_seed(0))
        added = induction.copying_matrix(model, 0, 1)
        assert -1 <= induction.positive_share(added) <= 1
        assert 0 <= induction.own_rank(added) <= 1
    assert rows[0].dtype == torch.float64


def test_views_of_tensors():
    with WithoutFloat64():
        queries, keys = torch.nn.Parameter(torch.ones(2, 5, 4)).detach()
        assert "entropy" in temperature_and_width(queries, keys)._repr_html_()
        parts = {
            "queries": (queries, "T, D"),
            "keys": (keys, "S, D"),
            "scores": (queries @ keys.T, "T, S", "queries @ keys.T"),
        }
        assert "scores" in diagram(parts)._repr_html_()
