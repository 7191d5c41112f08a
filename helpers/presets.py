"""Recipes by name: what a model is made of, together with how it is trained.

"plain" is the transformer of chapter 9 and its training. "one-minute" reaches a lower
loss on tiny Shakespeare in about a minute on two cores, with what PyTorch ships.
"""

import dataclasses
from typing import Any

from helpers.recipe import TrainConfig
from helpers.transformer_block import TransformerConfig

PRESETS: dict[str, dict[str, Any]] = {
    "plain": {
        "context_length": 128,
        "d_model": 64,
        "num_heads": 4,
        "num_layers": 2,
        "steps": 2_400,
        "batch_size": 16,
        "learning_rate": 4e-3,
        "warmup_steps": 100,
    },
    "one-minute": {
        "context_length": 64,
        "d_model": 96,
        "num_heads": 3,
        "num_layers": 4,
        "positions": "rotary",
        "pair_embedding": True,
        "norm": "rms",
        "activation": "squared_relu",
        "steps": 1_200,
        "batch_size": 20,
        "learning_rate": 1.2e-2,
        "warmup_steps": 10,
        "schedule": "linear",
        "optimizer": "muon",
        "muon_learning_rate": 0.02,
        "weight_decay": 0.1,
    },
}


def preset(
    name: str, vocab_size: int, **changes: Any
) -> tuple[TransformerConfig, TrainConfig]:
    """Look up a recipe and change it where asked.

    Args:
        name: "plain" or "one-minute".
        vocab_size: number of different characters.
        changes: options of ``TransformerConfig`` or ``TrainConfig`` that differ.

    Returns:
        model_config: a TransformerConfig.
        train_config: a TrainConfig.

    Raises:
        ValueError: an unknown name, an option that neither config has, or one that its
            config refuses.

    Source: the plain one is after Radford et al. 2019, section 2.3. The other takes
    rotary positions from Su et al. 2021, RMSNorm from Zhang and Sennrich 2019, the
    squared ReLU from So et al. 2021 and the optimizer from Jordan et al. 2024.
    """
    if name not in PRESETS:
        raise ValueError(f"name must be one of {list(PRESETS)}, got {name!r}")
    options = PRESETS[name] | changes
    parts = []
    for kind in (TransformerConfig, TrainConfig):
        fields = {field.name for field in dataclasses.fields(kind)}
        parts.append({key: value for key, value in options.items() if key in fields})
        options = {key: value for key, value in options.items() if key not in fields}
    if options:
        raise ValueError(
            f"{', '.join(sorted(options))}: no option of TransformerConfig or "
            "TrainConfig"
        )
    model, training = parts
    return TransformerConfig(vocab_size=vocab_size, **model), TrainConfig(**training)
