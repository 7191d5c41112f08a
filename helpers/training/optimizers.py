"""The learning rate at a step, and the optimizers of a model's parameters."""

import functools
import math

import torch
from torch import nn

from helpers import validation
from helpers.training.config import TrainConfig
from helpers.training.muon import Muon


def learning_rate_at(config: TrainConfig, step: int) -> float:
    """AdamW's learning rate at a step, from nothing but the config.

    Args:
        config: a ``TrainConfig``.
        step: 1 for the first.

    Returns:
        rate: it reaches ``learning_rate`` with the last step of the warm-up. Behind the
            config's last step it stays where the schedule has led.

    Raises:
        ValueError: a step that isn't a whole number of at least 1.
    """
    validation.require_integers(step=step)
    if step <= config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    after = min(step - 1, config.steps) - config.warmup_steps
    done = after / max(1, config.steps - config.warmup_steps)
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
    """The optimizers of a model's parameters: two where hidden matrices have their own.

    Muon, or AdamW at ``hidden_learning_rate``, takes the matrices of all ``nn.Linear``
    layers but the output layer: the last one, where it is as wide as
    ``model.vocab_size``, and any matrix that an embedding shares. Those, embeddings,
    biases and norms are of the first optimizer, AdamW.

    Args:
        model: an ``nn.Module``; where hidden matrices have an optimizer of their own,
            it has a ``vocab_size``.
        config: a ``TrainConfig``.

    Returns:
        optimizers: a list of one or two ``torch.optim`` optimizers.

    Raises:
        ValueError: hidden matrices have an optimizer of their own, and the model has no
            ``vocab_size``, or no such matrix.
    """
    trained = [p for p in model.parameters() if p.requires_grad]
    if not trained:
        raise ValueError("model must have parameters to train, got none")
    apart = config.optimizer == "muon" or config.hidden_learning_rate is not None
    hidden = _hidden_matrices(model) if apart else []
    chosen = {id(p) for p in hidden}
    rest = [p for p in trained if id(p) not in chosen]
    decay = config.weight_decay
    groups = [
        {"params": [p for p in rest if p.dim() >= 2], "weight_decay": decay},
        {"params": [p for p in rest if p.dim() < 2], "weight_decay": 0.0},
    ]
    fused = trained[0].device.type in ("cpu", "cuda")
    adamw = functools.partial(torch.optim.AdamW, betas=config.betas, fused=fused)
    first = adamw(groups, lr=config.learning_rate)
    if not apart:
        return [first]
    rate = hidden_learning_rate(config)
    if config.optimizer == "muon":
        factor = config.muon_adjust_lr_fn
        muon = Muon(hidden, lr=rate, weight_decay=decay, adjust_lr_fn=factor)
        return [first, muon]
    return [first, adamw(hidden, lr=rate, weight_decay=decay)]


def hidden_learning_rate(config: TrainConfig) -> float:
    """The highest rate of the hidden layers' matrices."""
    if config.optimizer == "muon":
        return config.muon_learning_rate
    return config.hidden_learning_rate or config.learning_rate


def _hidden_matrices(model: nn.Module) -> list[torch.Tensor]:
    """What has an optimizer of its own."""
    vocab_size = getattr(model, "vocab_size", None)
    if vocab_size is None:
        raise ValueError(
            "optimizer 'muon' and hidden_learning_rate need model.vocab_size, "
            "which tells the output layer"
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
        raise ValueError(
            "optimizer 'muon' and hidden_learning_rate need a hidden nn.Linear layer, "
            "got none"
        )
    return list(found.values())
