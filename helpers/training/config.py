"""The settings of a training run, and recipes by name.

"plain" is the transformer of chapter 9 and its training. "small-gpt" has the settings
that nanoGPT publishes for tiny Shakespeare on a laptop's processor, and "one-minute"
reaches a lower loss there in less time.
"""

import dataclasses
import difflib
from typing import Any

from helpers import validation
from helpers.models.transformer_block import TransformerConfig
from helpers.training.muon import ADJUSTMENTS

OPTIMIZERS = ("adamw", "muon")
SCHEDULES = ("cosine", "linear", "constant")
PRECISIONS = ("auto", "bfloat16", "off")
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
    "small-gpt": {
        "context_length": 64,
        "d_model": 128,
        "num_heads": 4,
        "num_layers": 4,
        "tie_weights": True,
        "steps": 2_000,
        "batch_size": 12,
        "learning_rate": 1e-3,
        "final_learning_rate": 1e-4,
        "warmup_steps": 100,
        "weight_decay": 0.1,
    },
    "one-minute": {
        "context_length": 256,
        "d_model": 96,
        "num_heads": 3,
        "num_layers": 2,
        "positions": "rotary",
        "pair_embedding": True,
        "embedding_skip": True,
        "zero_init": True,
        "norm": "rms",
        "activation": "squared_relu",
        "steps": 1_400,
        "batch_size": 8,
        "learning_rate": 1.2e-2,
        "warmup_steps": 10,
        "short_steps": 700,
        "schedule": "linear",
        "optimizer": "muon",
        "muon_learning_rate": 0.02,
        "weight_decay": 0.1,
        "mixed_precision": "bfloat16",
    },
}


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """How to train.

    Args:
        steps: number of updates.
        batch_size: B, rows in a batch.
        learning_rate: AdamW's highest rate.
        warmup_steps: the rate rises in equal parts over these first steps.
        short_steps: over these first steps, windows are half as long and twice as many.
        schedule: how the rate falls afterwards: "cosine", "linear" or "constant".
        final_learning_rate: where the rate would be one step after the last.
        optimizer: "adamw", or "muon" for the matrices of the hidden layers and AdamW
            for everything else.
        muon_learning_rate: Muon's highest rate; it rises and falls as AdamW's does.
        muon_adjust_lr_fn: what Muon's rate is multiplied by, from a matrix's shape (M,
            N): "original", √(M / N) where that is more than 1, or "match_rms_adamw",
            0.2 √max(M, N), for rates like AdamW's.
        hidden_learning_rate: with "adamw", the highest rate for the matrices that Muon
            would take; None gives them ``learning_rate``, as everything else.
        weight_decay: for matrices and embeddings; none for biases and norms.
        betas: AdamW's decay rates of the two running means.
        gradient_clip: the longest that the gradient of all parameters may be, or None.
        evaluate_every: steps between two evaluations; None evaluates at the end only.
        checkpoint_every: steps between two checkpoints; the last step has one anyway.
        seed: of the batches, of dropout and of all else that is drawn in the run.
        mixed_precision: "auto" computes in bfloat16 on CUDA devices made for it,
            "bfloat16" on any device, and "off" nowhere. Weights stay in float32.

    Raises:
        ValueError: a value outside its range; the message names it.

    Source: Loshchilov and Hutter 2019, algorithm 2 (AdamW); Loshchilov and Hutter 2017,
    section 3 (the cosine); Jordan et al. 2024 (Muon); Liu et al. 2025 (rates like
    AdamW's); Li et al. 2021 (short texts first).
    """

    steps: int
    batch_size: int
    learning_rate: float
    warmup_steps: int = 0
    short_steps: int = 0
    schedule: str = "cosine"
    final_learning_rate: float = 0.0
    optimizer: str = "adamw"
    muon_learning_rate: float = 0.02
    hidden_learning_rate: float | None = None
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.99)
    gradient_clip: float | None = 1.0
    evaluate_every: int | None = None
    checkpoint_every: int = 100
    seed: int = 0
    mixed_precision: str = "auto"
    muon_adjust_lr_fn: str = "original"

    def __post_init__(self) -> None:
        counts = ("steps", "batch_size", "evaluate_every", "checkpoint_every")
        given = {name: getattr(self, name) for name in counts}
        if self.evaluate_every is None:
            del given["evaluate_every"]
        validation.require_integers(**given)
        for name in ("warmup_steps", "short_steps"):
            first = getattr(self, name)
            if not validation.is_whole(first) or not 0 <= first < self.steps:
                raise ValueError(
                    f"{name} must be an integer from 0 to steps - 1 = "
                    f"{self.steps - 1}, got {first!r}"
                )
        self._require_numbers()
        if not validation.is_whole(self.seed) or not 0 <= self.seed < 2**32:
            raise ValueError(
                f"seed must be an integer in [0, 2**32), got {self.seed!r}"
            )
        for name, options in (
            ("schedule", SCHEDULES),
            ("optimizer", OPTIMIZERS),
            ("mixed_precision", PRECISIONS),
            ("muon_adjust_lr_fn", ADJUSTMENTS),
        ):
            if getattr(self, name) not in options:
                raise ValueError(
                    f"{name} must be one of {', '.join(options)}, "
                    f"got {getattr(self, name)!r}"
                )
        # NumPy's whole numbers become Python's, which every file format takes.
        for name, option in dataclasses.asdict(self).items():
            if validation.is_whole(option):
                object.__setattr__(self, name, int(option))

    def _require_numbers(self) -> None:
        for name in ("learning_rate", "muon_learning_rate"):
            validation.require_number(name, getattr(self, name))
        for name in ("hidden_learning_rate", "gradient_clip"):
            if getattr(self, name) is not None:
                validation.require_number(name, getattr(self, name))
        if self.optimizer == "muon" and self.hidden_learning_rate is not None:
            raise ValueError(
                "hidden_learning_rate must be None with optimizer 'muon', whose rate "
                f"is muon_learning_rate, got {self.hidden_learning_rate!r}"
            )
        for name in ("weight_decay", "final_learning_rate"):
            validation.require_number(name, getattr(self, name), or_0=True)
        if not isinstance(self.betas, tuple) or len(self.betas) != 2:
            raise ValueError(f"betas must be a pair of numbers, got {self.betas!r}")
        for index, beta in enumerate(self.betas):
            validation.require_probability(f"betas[{index}]", beta)


def preset(
    name: str, /, vocab_size: int, **changes: Any
) -> tuple[TransformerConfig, TrainConfig]:
    """Look up a recipe and change it where asked.

    Args:
        name: "plain", "small-gpt" or "one-minute".
        vocab_size: number of different characters.
        changes: options of ``TransformerConfig`` or ``TrainConfig`` that differ.

    Returns:
        model_config: a TransformerConfig.
        train_config: a TrainConfig.

    Raises:
        ValueError: an unknown name, an option that neither config has, or one that its
            config refuses.

    Source: the plain one is after Radford et al. 2019, section 2.3; small-gpt after
    nanoGPT, README.md and config/train_shakespeare_char.py, whose initial weights and
    batches are others, and whose layers have no biases. The last takes rotary positions
    from Su et al. 2021, RMSNorm from Zhang and Sennrich 2019, the squared ReLU from So
    et al. 2021, and the optimizer, zeros and skips from Jordan et al. 2024.
    """
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"name must be one of {list(PRESETS)}, got {name!r}")
    options = PRESETS[name] | changes
    parts, names = [], set()
    for kind in (TransformerConfig, TrainConfig):
        fields = {field.name for field in dataclasses.fields(kind)}
        names |= fields
        parts.append({key: value for key, value in options.items() if key in fields})
        options = {key: value for key, value in options.items() if key not in fields}
    if options:
        unknown = sorted(options)
        near = difflib.get_close_matches(unknown[0], names, n=1)
        raise ValueError(
            f"{', '.join(unknown)}: no option of TransformerConfig or TrainConfig"
            + (f"; did you mean {near[0]}?" if near else "")
        )
    model, training = parts
    return TransformerConfig(vocab_size=vocab_size, **model), TrainConfig(**training)
