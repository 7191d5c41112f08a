"""The probability that a layer hands to a function."""

import torch


def by_condition(layer):
    if layer.training:
        return layer.p
    return 0.0


def by_product(layer):
    return layer.p * layer.training


def by_choice(layer):
    return (0, layer.p)[int(layer.training)]


def by_tensor(layer):
    return torch.tensor(layer.p, dtype=torch.float64) * float(layer.training)


def of_nanogpt(layer):
    return layer.p


def of_megatron(layer):
    layer.p = layer.p if layer.training else 0
    return layer.p


def where_gradients_are(layer):
    return layer.p * torch.is_grad_enabled()


def modes_exchanged(layer):
    return 0.0 if layer.training else layer.p


def what_is_kept(layer):
    return 1.0 - layer.p * layer.training


def always_a_tenth(layer):
    return 0.1 if layer.training else 0.0


RIGHT = [by_condition, by_product, by_choice, by_tensor]
WRONG = [
    (of_nanogpt, "a probability that ignores the mode"),
    (of_megatron, "a layer that never drops again after it was in eval mode"),
    (where_gradients_are, "a probability that asks for gradients in place of the mode"),
    (modes_exchanged, "a probability that drops in eval mode and not in train mode"),
    (what_is_kept, "the probability of keeping"),
    (always_a_tenth, None),
]
