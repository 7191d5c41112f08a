"""The recipe of a training run: its settings, learning rates and optimizers."""

import dataclasses
import math
import numbers

import torch
from torch import nn

from helpers import validation

OPTIMIZERS = ("adamw", "muon")
SCHEDULES = ("cosine", "linear", "constant")
PRECISIONS = ("auto", "bfloat16", "off")


@dataclasses.dataclass(frozen=True)
class TrainConfig:
    """How to train.

    Args:
        steps: number of updates.
        batch_size: B, rows in a batch.
        learning_rate: AdamW's highest rate.
        warmup_steps: the rate rises in equal parts over these first steps.
        schedule: how the rate falls afterwards: "cosine", "linear" or "constant".
        final_learning_rate: where the rate would be one step after the last.
        optimizer: "adamw", or "muon" for the matrices of the hidden layers and AdamW
            for everything else.
        muon_learning_rate: Muon's highest rate; it rises and falls as AdamW's does.
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
    section 3 (the cosine); Jordan et al. 2024 (Muon).
    """

    steps: int
    batch_size: int
    learning_rate: float
    warmup_steps: int = 0
    schedule: str = "cosine"
    final_learning_rate: float = 0.0
    optimizer: str = "adamw"
    muon_learning_rate: float = 0.02
    weight_decay: float = 0.01
    betas: tuple[float, float] = (0.9, 0.99)
    gradient_clip: float | None = 1.0
    evaluate_every: int | None = None
    checkpoint_every: int = 100
    seed: int = 0
    mixed_precision: str = "auto"

    def __post_init__(self) -> None:
        counts = ("steps", "batch_size", "evaluate_every", "checkpoint_every")
        given = {name: getattr(self, name) for name in counts}
        if self.evaluate_every is None:
            del given["evaluate_every"]
        validation.require_integers(**given)
        whole = type(self.warmup_steps) is int
        if not whole or not 0 <= self.warmup_steps < self.steps:
            raise ValueError(
                f"warmup_steps must be an integer from 0 to steps - 1 = "
                f"{self.steps - 1}, got {self.warmup_steps!r}"
            )
        self._require_numbers()
        if type(self.seed) is not int or not 0 <= self.seed < 2**32:
            raise ValueError(
                f"seed must be an integer in [0, 2**32), got {self.seed!r}"
            )
        for name, options in (
            ("schedule", SCHEDULES),
            ("optimizer", OPTIMIZERS),
            ("mixed_precision", PRECISIONS),
        ):
            if getattr(self, name) not in options:
                raise ValueError(
                    f"{name} must be one of {', '.join(options)}, "
                    f"got {getattr(self, name)!r}"
                )

    def _require_numbers(self) -> None:
        for name in ("learning_rate", "muon_learning_rate"):
            _require_number(name, getattr(self, name), above=0)
        if self.gradient_clip is not None:
            _require_number("gradient_clip", self.gradient_clip, above=0)
        _require_number("weight_decay", self.weight_decay)
        _require_number("final_learning_rate", self.final_learning_rate)
        if not isinstance(self.betas, tuple) or len(self.betas) != 2:
            raise ValueError(f"betas must be a pair of numbers, got {self.betas!r}")
        for index, beta in enumerate(self.betas):
            validation.require_probability(f"betas[{index}]", beta)


def learning_rate_at(config: TrainConfig, step: int) -> float:
    """AdamW's learning rate at a step, from nothing but the config.

    Args:
        config: a ``TrainConfig``.
        step: 1 for the first.

    Returns:
        rate: it reaches ``learning_rate`` with the last step of the warm-up.
    """
    if step <= config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    done = (step - 1 - config.warmup_steps) / (config.steps - config.warmup_steps)
    left = {
        "cosine": (1 + math.cos(math.pi * done)) / 2,
        "linear": 1 - done,
        "constant": 1.0,
    }[config.schedule]
    low = config.final_learning_rate
    return low + (config.learning_rate - low) * left


def make_optimizers(
    model: nn.Module, config: TrainConfig
) -> list[torch.optim.Optimizer]:
    """The optimizers of a model's parameters, one for AdamW alone, two with Muon.

    Muon takes the matrices of all ``nn.Linear`` layers but the output layer: the last
    one, where it is as wide as ``model.vocab_size``, and any matrix that an embedding
    shares. Those, embeddings, biases and norms are AdamW's.

    Args:
        model: an ``nn.Module``; for Muon it has a ``vocab_size``.
        config: a ``TrainConfig``.

    Returns:
        optimizers: a list of ``torch.optim`` optimizers.

    Raises:
        ValueError: Muon for a model without ``vocab_size``, or without any such matrix.
    """
    trained = [p for p in model.parameters() if p.requires_grad]
    if not trained:
        raise ValueError("model must have parameters to train, got none")
    hidden = _hidden_matrices(model) if config.optimizer == "muon" else []
    chosen = {id(p) for p in hidden}
    rest = [p for p in trained if id(p) not in chosen]
    decay = config.weight_decay
    groups = [
        {"params": [p for p in rest if p.dim() >= 2], "weight_decay": decay},
        {"params": [p for p in rest if p.dim() < 2], "weight_decay": 0.0},
    ]
    fused = trained[0].device.type in ("cpu", "cuda")
    adamw = torch.optim.AdamW(
        groups, lr=config.learning_rate, betas=config.betas, fused=fused
    )
    if config.optimizer == "adamw":
        return [adamw]
    rate = config.muon_learning_rate
    return [adamw, torch.optim.Muon(hidden, lr=rate, weight_decay=decay)]


def _hidden_matrices(model: nn.Module) -> list[torch.Tensor]:
    """What Muon takes."""
    vocab_size = getattr(model, "vocab_size", None)
    if vocab_size is None:
        raise ValueError(
            "optimizer 'muon' needs model.vocab_size, which tells the output layer"
        )
    layers = [module for module in model.modules() if isinstance(module, nn.Linear)]
    if layers and layers[-1].out_features == vocab_size:
        layers = layers[:-1]
    embeddings = {
        id(module.weight)
        for module in model.modules()
        if isinstance(module, nn.Embedding)
    }
    found = {
        id(layer.weight): layer.weight
        for layer in layers
        if layer.weight.requires_grad and id(layer.weight) not in embeddings
    }
    if not found:
        raise ValueError("optimizer 'muon' needs a hidden nn.Linear layer, got none")
    return list(found.values())


def _require_number(name: str, number: float, *, above: float | None = None) -> None:
    real = isinstance(number, numbers.Real) and not isinstance(number, bool)
    low = -math.inf if above is None else above
    fits = real and math.isfinite(number) and number >= 0 and number > low
    if not fits:
        least = "above 0" if above is not None else "of at least 0"
        raise ValueError(f"{name} must be a number {least}, got {number!r}")
