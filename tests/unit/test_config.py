"""helpers.training.config: recipes by name; what doesn't fit is named."""

import numpy as np
import pytest
import torch

from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.training.config import PRESETS, TrainConfig, preset
from helpers.training.optimizers import make_optimizers

VOCAB = 46


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_gives_both_configs_with_all_it_says(name):
    model_config, train_config = preset(name, VOCAB)
    assert isinstance(model_config, TransformerConfig)
    assert isinstance(train_config, TrainConfig)
    both = vars(model_config) | vars(train_config)
    assert both.items() >= PRESETS[name].items()
    assert model_config.vocab_size == VOCAB
    assert make_optimizers(TransformerLM(model_config), train_config)


def test_the_plain_model_is_small_enough_for_a_page():
    torch.manual_seed(0)
    model = TransformerLM(preset("plain", VOCAB)[0])
    assert sum(parameter.numel() for parameter in model.parameters()) <= 120_000


def test_changes_reach_the_config_that_has_them():
    model_config, train_config = preset("plain", VOCAB, d_model=32, steps=200, seed=7)
    assert (model_config.d_model, train_config.steps, train_config.seed) == (32, 200, 7)
    assert preset("plain", VOCAB)[0].d_model == PRESETS["plain"]["d_model"] == 64


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("quick", {}, r"name must be one of \['plain', 'small-gpt', .* got 'quick'"),
        ("plain", {"layers": 3, "width": 4}, r"^layers, width: no option of Transf"),
        ("plain", {"num_heads": 5}, r"num_heads .*divide d_model"),
        ("plain", {"steps": 0}, r"steps must .*got 0"),
    ],
)
def test_what_does_not_fit_is_named(name, changes, message):
    with pytest.raises(ValueError, match=message):
        preset(name, VOCAB, **changes)


def test_numpys_whole_numbers_become_pythons():
    sizes = {"steps": 9, "batch_size": 3, "warmup_steps": 2, "short_steps": 1}
    sizes |= {"seed": 5, "evaluate_every": 4, "checkpoint_every": 7}
    given = {name: np.int64(size) for name, size in sizes.items()}
    config = TrainConfig(learning_rate=0.1, **given)
    assert config == TrainConfig(learning_rate=0.1, **sizes)
    assert {type(getattr(config, name)) for name in sizes} == {int}


def test_the_small_gpt_has_the_settings_that_nanogpt_publishes():
    """README.md, "I only have a macbook", and config/train_shakespeare_char.py."""
    model, training = preset("small-gpt", vocab_size=65)
    found = vars(model) | vars(training)
    published = {
        **{"num_layers": 4, "num_heads": 4, "d_model": 128, "context_length": 64},
        **{"dropout": 0.0, "activation": "gelu", "norm": "layer", "tie_weights": True},
        **{"positions": "learned", "qkv_bias": False, "mlp_ratio": 4},
        **{"steps": 2000, "batch_size": 12, "learning_rate": 1e-3, "warmup_steps": 100},
        **{"final_learning_rate": 1e-4, "schedule": "cosine", "optimizer": "adamw"},
        **{"betas": (0.9, 0.99), "weight_decay": 0.1, "gradient_clip": 1.0},
        **{"short_steps": 0, "mixed_precision": "auto"},
    }
    assert {name: found[name] for name in published} == published
