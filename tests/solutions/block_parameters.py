"""The trained numbers of a block."""

from torch import nn


def by_formula(d_model, num_heads):
    return 12 * d_model**2 + 10 * d_model


def part_by_part(d_model, num_heads):
    norm = d_model + d_model
    attention = 3 * d_model * d_model + (d_model * d_model + d_model)
    mlp = (d_model * 4 * d_model + 4 * d_model) + (4 * d_model * d_model + d_model)
    return 2 * norm + attention + mlp


def head_by_head(d_model, num_heads):
    number = 0
    for _ in range(num_heads):
        number += 3 * d_model * (d_model // num_heads)
    for inputs, outputs in ((1, 1), (1, 4), (4, 1)):
        number += inputs * d_model * outputs * d_model + outputs * d_model
    return number + 4 * d_model


def by_building(d_model, num_heads):
    parts = [nn.Linear(d_model, d_model, bias=False) for _ in range(3)]
    parts += [nn.Linear(d_model, d_model), nn.LayerNorm(d_model), nn.LayerNorm(d_model)]
    parts += [nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)]
    return sum(p.numel() for part in parts for p in part.parameters())


def matrices_for_each_head(d_model, num_heads):
    attention = num_heads * 3 * d_model**2 + d_model**2 + d_model
    return attention + 8 * d_model**2 + 5 * d_model + 4 * d_model


def one_head(d_model, num_heads):
    head_dim = d_model // num_heads
    number = 3 * d_model * head_dim + d_model**2 + d_model
    return number + 8 * d_model**2 + 5 * d_model + 4 * d_model


def without_out_proj(d_model, num_heads):
    return 3 * d_model**2 + 8 * d_model**2 + 5 * d_model + 4 * d_model


def out_proj_without_bias(d_model, num_heads):
    return 4 * d_model**2 + 8 * d_model**2 + 5 * d_model + 2 * 2 * d_model


def biases_everywhere(d_model, num_heads):
    linear = [(1, 1)] * 4 + [(1, 4), (4, 1)]
    number = sum(a * b * d_model**2 + b * d_model for a, b in linear)
    return number + 4 * d_model


def norms_of_one_vector(d_model, num_heads):
    return 12 * d_model**2 + 6 * d_model + 2 * d_model


def mlp_without_biases(d_model, num_heads):
    return 4 * d_model**2 + d_model + 2 * 4 * d_model**2 + 4 * d_model


def matrices_alone(d_model, num_heads):
    return 12 * d_model**2


def narrow_mlp(d_model, num_heads):
    mlp = d_model * 4 * d_model + 4 * d_model
    return 4 * d_model**2 + d_model + mlp + 4 * d_model


def with_a_point(d_model, num_heads):
    head_dim = d_model / num_heads
    number = num_heads * 3 * d_model * head_dim + 9 * d_model**2
    return number + 10 * d_model


RIGHT = [by_formula, part_by_part, head_by_head, by_building]
WRONG = [
    (
        matrices_for_each_head,
        "a block whose heads have matrices of C x C each",
    ),
    (one_head, "a block with the matrices of one of its heads"),
    (without_out_proj, "a block without the output projection"),
    (out_proj_without_bias, "a block whose output projection has no bias"),
    (biases_everywhere, "a block whose queries, keys and values have biases"),
    (norms_of_one_vector, "a block with half of its norms"),
    (mlp_without_biases, "a block whose MLP has no biases"),
    (matrices_alone, "a block of matrices alone"),
    (narrow_mlp, "a block whose MLP is one layer"),
    (with_a_point, None),
]
