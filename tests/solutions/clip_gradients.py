"""Clipping by the length of all gradients together."""

import torch
from torch import nn


def by_the_root_of_squares(gradients, longest):
    length = sum(gradient.pow(2).sum() for gradient in gradients).sqrt()
    if length <= longest:
        return [gradient.clone() for gradient in gradients]
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


def fails_at_zero(gradients, longest):
    length = sum(float(one.square().sum()) for one in gradients) ** 0.5
    scale = min(longest / length, 1)
    return [one * scale for one in gradients]


def in_one_piece(gradients, longest):
    everything = torch.cat([gradient.flatten() for gradient in gradients])
    return everything * (longest / everything.norm()).clamp(max=1.0)


def all_together(gradients):
    return torch.cat([gradient.flatten() for gradient in gradients]).norm()


def always_by_a_number(gradients, longest):
    factor = longest / all_together(gradients).item()
    return [factor * gradient for gradient in gradients]


def always_by_a_tensor(gradients, longest):
    length = all_together(gradients)
    return [gradient * longest / length for gradient in gradients]


def in_one_loop(gradients, longest):
    squares, clipped = 0, []
    for gradient in gradients:
        squares = squares + (gradient**2).sum()
        factor = (longest / squares.sqrt()).clamp(max=1.0)
        clipped.append(gradient * factor)
    return clipped


def quotient_compared(gradients, longest):
    quotient = all_together(gradients) / longest
    if quotient > longest:
        return [gradient / quotient for gradient in gradients]
    return [gradient.clone() for gradient in gradients]


def to_one_and_back(gradients, longest):
    length = all_together(gradients)
    return [gradient / length * length.clamp(max=longest) for gradient in gradients]


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
    (without_the_root, "the square of the length in place of the length"),
    (sum_of_lengths, "the lengths of the tensors added up"),
    (fails_at_zero, "a clip that fails where nothing is to be learned"),
    (always_by_a_number, "gradients brought to the longest length, short ones too"),
    (always_by_a_tensor, "gradients brought to the longest length, short ones too"),
    (in_one_loop, "a length that grows from tensor to tensor"),
    (quotient_compared, None),
    (to_one_and_back, "a clip that fails where nothing is to be learned"),
    (in_one_piece, None),
]
