"""Clipping by the length of all gradients together."""

import torch
from torch import nn


def by_the_root_of_squares(gradients, longest):
    length = sum(gradient.pow(2).sum() for gradient in gradients).sqrt()
    if length <= longest:
        return gradients
    return [gradient * longest / length for gradient in gradients]


def by_one_long_vector(gradients, longest):
    length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    scale = (longest / length).clamp(max=1.0)
    return [gradient * scale for gradient in gradients]


def by_the_lengths_of_lengths(gradients, longest):
    lengths = torch.stack([torch.linalg.vector_norm(one) for one in gradients])
    scale = min(1.0, longest / (lengths.norm().item() + 1e-6))
    return [scale * one for one in gradients]


def by_pytorch(gradients, longest):
    parameters = []
    for gradient in gradients:
        parameter = nn.Parameter(torch.zeros_like(gradient))
        parameter.grad = gradient.clone()
        parameters.append(parameter)
    nn.utils.clip_grad_norm_(parameters, longest)
    return [parameter.grad for parameter in parameters]


def by_loops(gradients, longest):
    square = 0.0
    for gradient in gradients:
        for number in gradient.flatten().tolist():
            square += number * number
    clipped = []
    for gradient in gradients:
        if square > longest**2:
            clipped.append(gradient / (square**0.5 / longest))
        else:
            clipped.append(gradient.clone())
    return tuple(clipped)


def each_alone(gradients, longest):
    clipped = []
    for gradient in gradients:
        length = gradient.norm()
        clipped.append(gradient * longest / length if length > longest else gradient)
    return clipped


def by_value(gradients, longest):
    return [gradient.clip(min=-longest, max=longest) for gradient in gradients]


def always(gradients, longest):
    length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    return [gradient * longest / (length + 1e-8) for gradient in gradients]


def above_one(gradients, longest):
    length = sum(gradient.square().sum() for gradient in gradients).sqrt()
    return [one / length * longest for one in gradients] if length > 1 else gradients


def mean_length(gradients, longest):
    length = torch.stack([gradient.norm() for gradient in gradients]).mean()
    return [one * min(1.0, longest / (length + 1e-9)) for one in gradients]


def the_other_way(gradients, longest):
    length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    if length >= longest:
        return gradients
    return [gradient * longest / (length + 1e-8) for gradient in gradients]


def without_the_root(gradients, longest):
    length = sum(gradient.square().sum() for gradient in gradients)
    if length > longest:
        return [gradient * longest / length for gradient in gradients]
    return gradients


def sum_of_lengths(gradients, longest):
    length = sum(gradient.norm() for gradient in gradients)
    if length > longest:
        return [gradient * longest / length for gradient in gradients]
    return gradients


def longest_tensor(gradients, longest):
    length = max(gradient.norm() for gradient in gradients)
    if length > longest:
        return [gradient * (longest / length) for gradient in gradients]
    return gradients


def absolute_values(gradients, longest):
    length = torch.cat([gradient.flatten() for gradient in gradients]).norm(p=1)
    return [gradient / (length / longest).clamp(min=1.0) for gradient in gradients]


def largest_number(gradients, longest):
    length = torch.cat([gradient.flatten() for gradient in gradients]).abs().max()
    return [gradient / (length / longest).clamp(min=1.0) for gradient in gradients]


def root_mean_square(gradients, longest):
    length = torch.cat([one.flatten() for one in gradients]).square().mean().sqrt()
    return [gradient / (length / longest).clamp(min=1.0) for gradient in gradients]


def to_one(gradients, longest):
    length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    return [one / length if length > longest else one for one in gradients]


def upside_down(gradients, longest):
    length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    return [one * length / longest if length > longest else one for one in gradients]


def thrown_away(gradients, longest):
    length = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    if length > longest:
        return [torch.zeros_like(gradient) for gradient in gradients]
    return gradients


def fails_at_zero(gradients, longest):
    length = sum(float(one.square().sum()) for one in gradients) ** 0.5
    scale = min(longest / length, 1)
    return [one * scale for one in gradients]


def in_one_piece(gradients, longest):
    everything = torch.cat([gradient.flatten() for gradient in gradients])
    return everything * (longest / everything.norm()).clamp(max=1.0)


RIGHT = [
    by_the_root_of_squares,
    by_one_long_vector,
    by_the_lengths_of_lengths,
    by_pytorch,
    by_loops,
]
WRONG = [
    (each_alone, "each tensor clipped alone"),
    (by_value, "each number cut off at ±longest"),
    (always, "gradients brought to the longest length, short ones too"),
    (above_one, "a length that is compared with 1"),
    (mean_length, "the mean length of the tensors"),
    (the_other_way, "short gradients made longer, and long ones left"),
    (without_the_root, "the square of the length in place of the length"),
    (sum_of_lengths, "the lengths of the tensors added up"),
    (longest_tensor, "the length of the longest tensor"),
    (absolute_values, "the sum of the absolute values as the length"),
    (largest_number, "the largest number as the length"),
    (root_mean_square, "the mean of the squares in place of their sum"),
    (to_one, "gradients divided by their length"),
    (upside_down, "the factor turned upside down"),
    (thrown_away, "gradients that are dropped where they are too long"),
    (fails_at_zero, "a clip that fails where nothing is to be learned"),
    (in_one_piece, None),
]
