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


def all_together(gradients):
    return torch.cat([gradient.flatten() for gradient in gradients]).norm()


def always_by_a_number(gradients, longest):
    factor = longest / all_together(gradients).item()
    return [factor * gradient for gradient in gradients]


def always_by_a_tensor(gradients, longest):
    length = all_together(gradients)
    return [gradient * longest / length for gradient in gradients]


def compared_the_other_way(gradients, longest):
    length = all_together(gradients)
    if length < longest:
        return [gradient / length * longest for gradient in gradients]
    return [gradient.clone() for gradient in gradients]


def the_larger_factor(gradients, longest):
    factor = max(1.0, longest / all_together(gradients).item())
    return [gradient * factor for gradient in gradients]


def each_to_longest(gradients, longest):
    return [gradient / gradient.norm() * longest for gradient in gradients]


def each_to_longest_guarded(gradients, longest):
    lengths = [gradient.norm().clamp(min=1e-12) for gradient in gradients]
    pairs = zip(gradients, lengths, strict=True)
    return [longest * gradient / length for gradient, length in pairs]


def each_to_longest_where_too_long(gradients, longest):
    long = all_together(gradients) > longest
    return [g * longest / g.norm() if long else g.clone() for g in gradients]


def divided_by_the_smaller(gradients, longest):
    quotient = min(1.0, all_together(gradients) / longest)
    return [gradient / quotient for gradient in gradients]


def root_of_the_quotient(gradients, longest):
    squares = sum((gradient**2).sum() for gradient in gradients)
    factor = torch.sqrt(longest / squares).clamp(max=1.0)
    return [gradient * factor for gradient in gradients]


def mean_of_squared_lengths(gradients, longest):
    squares = torch.stack([gradient.norm() ** 2 for gradient in gradients])
    length = squares.mean().sqrt()
    return [gradient / (length / longest).clamp(min=1.0) for gradient in gradients]


def rows(gradients, longest):
    clipped = []
    for gradient in gradients:
        lengths = gradient.norm(dim=-1, keepdim=True)
        clipped.append(gradient / (lengths / longest).clamp(min=1.0))
    return clipped


def from_above(gradients, longest):
    return [torch.minimum(one, torch.tensor(longest)) for one in gradients]


def squares_compared(gradients, longest):
    squares = sum((gradient**2).sum() for gradient in gradients)
    if squares > longest:
        return [gradient * longest / squares.sqrt() for gradient in gradients]
    return [gradient.clone() for gradient in gradients]


def divided_by_squares(gradients, longest):
    squares = sum((gradient**2).sum() for gradient in gradients)
    if squares.sqrt() > longest:
        return [gradient * longest / squares for gradient in gradients]
    return [gradient.clone() for gradient in gradients]


def shared_among_them(gradients, longest):
    length = all_together(gradients) / len(gradients)
    return [gradient / (length / longest).clamp(min=1.0) for gradient in gradients]


def first_tensor(gradients, longest):
    length = gradients[0].norm()
    return [gradient / (length / longest).clamp(min=1.0) for gradient in gradients]


def overwritten(gradients, longest):
    for gradient in gradients:
        squares = (gradient**2).sum()
    length = squares.sqrt()
    return [gradient / (length / longest).clamp(min=1.0) for gradient in gradients]


def in_one_loop(gradients, longest):
    squares, clipped = 0, []
    for gradient in gradients:
        squares = squares + (gradient**2).sum()
        factor = (longest / squares.sqrt()).clamp(max=1.0)
        clipped.append(gradient * factor)
    return clipped


def numbers_added_up(gradients, longest):
    length = sum(gradient.sum() for gradient in gradients).abs()
    return [gradient / (length / longest).clamp(min=1.0) for gradient in gradients]


def sums_squared(gradients, longest):
    length = sum(gradient.sum() ** 2 for gradient in gradients) ** 0.5
    return [gradient / (length / longest).clamp(min=1.0) for gradient in gradients]


def root_of_lengths(gradients, longest):
    length = sum(gradient.norm() for gradient in gradients).sqrt()
    return [gradient / (length / longest).clamp(min=1.0) for gradient in gradients]


def pytorchs_own(gradients, longest):
    nn.utils.clip_grad_norm_(gradients, longest)
    return [gradient.clone() for gradient in gradients]


def quotient_compared(gradients, longest):
    quotient = all_together(gradients) / longest
    if quotient > longest:
        return [gradient / quotient for gradient in gradients]
    return [gradient.clone() for gradient in gradients]


def means_of_squares(gradients, longest):
    length = sum((gradient**2).mean() for gradient in gradients).sqrt()
    return [gradient / (length / longest).clamp(min=1.0) for gradient in gradients]


def always_to_one(gradients, longest):
    length = all_together(gradients)
    return [gradient / length for gradient in gradients]


def always_to_one_by_a_number(gradients, longest):
    factor = 1 / all_together(gradients).item()
    return [gradient * factor for gradient in gradients]


def at_most_one(gradients, longest):
    length = all_together(gradients).clamp(min=1.0)
    return [gradient / length for gradient in gradients]


def always_upside_down(gradients, longest):
    length = all_together(gradients)
    return [gradient * length / longest for gradient in gradients]


def upside_down_and_at_most_one(gradients, longest):
    factor = min(1.0, all_together(gradients) / longest)
    return [gradient * factor for gradient in gradients]


def squared(gradients, longest):
    factor = (longest / all_together(gradients)).clamp(max=1.0) ** 2
    return [gradient * factor for gradient in gradients]


def by_longest(gradients, longest):
    long = all_together(gradients) > longest
    return [one / longest if long else one.clone() for one in gradients]


def always_by_longest(gradients, longest):
    return [gradient / longest for gradient in gradients]


def times_longest(gradients, longest):
    long = all_together(gradients) > longest
    return [one * longest if long else one.clone() for one in gradients]


def always_times_longest(gradients, longest):
    return [gradient * longest for gradient in gradients]


def a_whole_factor(gradients, longest):
    length = all_together(gradients)
    factor = longest // length if length > longest else 1
    return [gradient * factor for gradient in gradients]


def whole_numbers(gradients, longest):
    length = all_together(gradients)
    if length <= longest:
        return [gradient.clone() for gradient in gradients]
    return [gradient * longest // length for gradient in gradients]


def assigned_to_the_variable(gradients, longest):
    length = all_together(gradients)
    for gradient in gradients:
        if length > longest:
            gradient = gradient * longest / length
    return gradients


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
    (always_by_a_number, "gradients brought to the longest length, short ones too"),
    (always_by_a_tensor, "gradients brought to the longest length, short ones too"),
    (compared_the_other_way, "short gradients made longer, and long ones left"),
    (the_larger_factor, "short gradients made longer, and long ones left"),
    (each_to_longest, "each tensor brought to the longest length alone"),
    (each_to_longest_guarded, "each tensor brought to the longest length alone"),
    (
        each_to_longest_where_too_long,
        "each tensor brought to the longest length alone",
    ),
    (divided_by_the_smaller, "short gradients made longer, and long ones left"),
    (root_of_the_quotient, "longest under the root, too"),
    (mean_of_squared_lengths, "the mean of the squares in place of their sum"),
    (rows, "each row clipped alone"),
    (from_above, "each number cut off at longest"),
    (squares_compared, "the square of the length compared with longest"),
    (divided_by_squares, "the square of the length as what is divided by"),
    (shared_among_them, "the length divided by the number of tensors"),
    (first_tensor, "the length of the first tensor"),
    (overwritten, "the length of the last tensor"),
    (in_one_loop, "a length that grows from tensor to tensor"),
    (numbers_added_up, "the sum of the numbers as the length"),
    (sums_squared, "the sum of the numbers as the length"),
    (root_of_lengths, "the root of the tensors' lengths"),
    (pytorchs_own, "a function that clips nothing"),
    (quotient_compared, None),
    (means_of_squares, "the mean of the squares in place of their sum"),
    (always_to_one, "gradients divided by their length, short ones too"),
    (always_to_one_by_a_number, "gradients divided by their length, short ones too"),
    (at_most_one, "gradients that are at most 1 long, whatever longest is"),
    (always_upside_down, "the factor turned upside down"),
    (upside_down_and_at_most_one, "the factor turned upside down"),
    (squared, "the square of the factor"),
    (by_longest, "gradients divided by longest"),
    (always_by_longest, "gradients divided by longest"),
    (times_longest, "gradients multiplied by longest"),
    (always_times_longest, "gradients multiplied by longest"),
    (a_whole_factor, "gradients that are dropped where they are too long"),
    (whole_numbers, "a division that cuts off what comes after the point"),
    (assigned_to_the_variable, "a function that clips nothing"),
    (to_one_and_back, "a clip that fails where nothing is to be learned"),
    (in_one_piece, None),
]
