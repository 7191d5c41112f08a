import math
import torch
import torch.nn.functional as F


def right_1(d_model, num_heads):
    """right: closed formula"""
    return 12 * d_model**2 + 10 * d_model


def right_2(d_model, num_heads):
    """right: loop over a list of linear layers"""
    width = d_model // num_heads
    layers = [(d_model, width, False)] * (3 * num_heads)
    layers += [(d_model, d_model, True), (d_model, 4 * d_model, True), (4 * d_model, d_model, True)]
    n = 0
    for i, o, bias in layers:
        n += i * o
        if bias:
            n += o
    return n + 2 * 2 * d_model


def wrong_1(d_model, num_heads):
    """wrong: multiplies the query/key/value matrices by num_heads"""
    attention = num_heads * 3 * d_model * d_model + d_model * d_model + d_model
    mlp = 2 * 4 * d_model * d_model + 5 * d_model
    return attention + mlp + 4 * d_model


def wrong_2(d_model, num_heads):
    """wrong: norms counted with their weight only, no bias"""
    C = d_model
    return 2 * C + 3 * C * C + C * C + C + 4 * C * C + 4 * C + 4 * C * C + C


def wrong_3(d_model, num_heads):
    """wrong: gives query, key and value layers a bias"""
    C = d_model
    qkv = 3 * (C * C + C)
    proj = C * C + C
    mlp = C * 4 * C + 4 * C + 4 * C * C + C
    norms = 4 * C
    return qkv + proj + mlp + norms


def wrong_4(d_model, num_heads):
    """wrong: only one norm"""
    C = d_model
    norm = 2 * C
    return norm + 3 * C**2 + (C**2 + C) + (4 * C**2 + 4 * C) + (4 * C**2 + C)


def wrong_5(d_model, num_heads):
    """wrong: forgets the output projection of attention"""
    C = d_model
    heads = 3 * C * C
    mlp = (C * 4 * C + 4 * C) + (4 * C * C + C)
    norms = 2 * 2 * C
    return heads + mlp + norms


def wrong_6(d_model, num_heads):
    """wrong: MLP's first bias counted as C, not 4 C"""
    C = d_model
    norms = 4 * C
    attention = 4 * C * C + C
    mlp = (4 * C * C + C) + (4 * C * C + C)
    return norms + attention + mlp


ANSWERS = [
    right_1,
    right_2,
    wrong_1,
    wrong_2,
    wrong_3,
    wrong_4,
    wrong_5,
    wrong_6,
]
