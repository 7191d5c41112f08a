"""A vector for each place."""

import math

import torch


def places_by_loops(T, d_model):
    vectors = torch.zeros(T, d_model)
    for place in range(T):
        for pair in range(d_model // 2):
            angle = place / 10000 ** (2 * pair / d_model)
            vectors[place, 2 * pair] = math.sin(angle)
            vectors[place, 2 * pair + 1] = math.cos(angle)
    return vectors


def places_by_slices(T, d_model):
    vectors = torch.empty(T, d_model)
    place = torch.arange(T).unsqueeze(1)
    speed = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    vectors[:, 0::2] = torch.sin(place * speed)
    vectors[:, 1::2] = torch.cos(place * speed)
    return vectors


def places_by_stacking(T, d_model):
    speeds = 1 / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(T)[:, None] * speeds
    return torch.stack((angles.sin(), angles.cos()), dim=2).reshape(T, d_model)


def places_by_complex_numbers(T, d_model):
    pairs = torch.arange(d_model // 2)
    angles = torch.arange(T).outer(10000.0 ** (-2 * pairs / d_model))
    numbers = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(numbers).flip(-1).flatten(1)


def places_in_halves(T, d_model):
    speeds = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(T)[:, None] * speeds
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def places_cosine_first(T, d_model):
    vectors = torch.empty(T, d_model)
    angles = torch.arange(T)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    vectors[:, 0::2], vectors[:, 1::2] = angles.cos(), angles.sin()
    return vectors


def places_from_one(T, d_model):
    return places_by_loops(T + 1, d_model)[1:]


def places_by_feature(T, d_model):
    vectors = torch.zeros(T, d_model)
    for place in range(T):
        for feature in range(d_model):
            angle = place / 10000 ** (feature / d_model)
            even = feature % 2 == 0
            vectors[place, feature] = math.sin(angle) if even else math.cos(angle)
    return vectors


def places_without_the_two(T, d_model):
    vectors = torch.zeros(T, d_model)
    for pair in range(d_model // 2):
        angles = torch.arange(T) / 10000 ** (pair / d_model)
        vectors[:, 2 * pair], vectors[:, 2 * pair + 1] = angles.sin(), angles.cos()
    return vectors


def places_two_too_many(T, d_model):
    speeds = 10000.0 ** (-2 * torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(T)[:, None] * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def places_with_plus(T, d_model):
    speeds = 10000.0 ** (torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(T)[:, None] * speeds
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def places_at_one_speed(T, d_model):
    angles = torch.arange(T).float()[:, None].expand(T, d_model // 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


RIGHT = [
    places_by_loops,
    places_by_slices,
    places_by_stacking,
    places_by_complex_numbers,
]
WRONG = [
    (places_in_halves, "all sines in front of all cosines"),
    (places_cosine_first, "the cosine in front of the sine"),
    (places_from_one, "places counted from 1"),
    (places_by_feature, "a speed for each feature in place of each pair"),
    (places_without_the_two, "pairs that slow down half as fast"),
    (places_two_too_many, "pairs that slow down twice as fast"),
    (places_with_plus, "pairs that speed up"),
    (places_at_one_speed, "one speed for all pairs"),
]
