"""The wiring of a pre-norm block."""

import torch
from torch import nn


def in_two_lines(x, attention_norm, attention, mlp_norm, mlp):
    x = x + attention(attention_norm(x))
    return x + mlp(mlp_norm(x))


def step_by_step(x, attention_norm, attention, mlp_norm, mlp):
    read = attention_norm(x)
    found = attention(read)
    path = x + found
    update = mlp(mlp_norm(path))
    return torch.add(update, path)


def by_a_loop(x, *parts):
    for norm, layer in zip(parts[::2], parts[1::2], strict=True):
        x = layer(norm(x)) + x
    return x


class Residual(nn.Module):
    def __init__(self, norm, layer):
        super().__init__()
        self.norm, self.layer = norm, layer

    def forward(self, x):
        return x + self.layer(self.norm(x))


def by_a_module(x, attention_norm, attention, mlp_norm, mlp):
    first = Residual(attention_norm, attention)
    return Residual(mlp_norm, mlp)(first(x))


def in_place_on_a_copy(x, attention_norm, attention, mlp_norm, mlp):
    path = x.clone()
    path += attention(attention_norm(path))
    path += mlp(mlp_norm(path))
    return path.double()


def as_in_the_paper(x, attention_norm, attention, mlp_norm, mlp):
    x = attention_norm(attention(x) + x)
    x = mlp_norm(mlp(x) + x)
    return x


def mlp_not_added(x, attention_norm, attention, mlp_norm, mlp):
    x = x + attention(attention_norm(x))
    x = mlp(mlp_norm(x))
    return x


def x_overwritten(x, attention_norm, attention, mlp_norm, mlp):
    x = attention_norm(x)
    x = x + attention(x)
    x = mlp_norm(x)
    x = x + mlp(x)
    return x


def copied_line(x, attention_norm, attention, mlp_norm, mlp):
    x = x + attention(attention_norm(x))
    x = x + mlp(attention_norm(x))
    return x


def side_by_side(x, attention_norm, attention, mlp_norm, mlp):
    a = attention(attention_norm(x))
    b = mlp(mlp_norm(x))
    return x + a + b


def old_path(x, attention_norm, attention, mlp_norm, mlp):
    h = x + attention(attention_norm(x))
    return x + mlp(mlp_norm(h))


def norms_around_the_layers(x, attention_norm, attention, mlp_norm, mlp):
    x = x + attention_norm(attention(x))
    return x + mlp_norm(mlp(x))


def norms_exchanged(x, attention_norm, attention, mlp_norm, mlp):
    x = x + attention(mlp_norm(x))
    return x + mlp(attention_norm(x))


RIGHT = [
    in_two_lines,
    step_by_step,
    by_a_loop,
    by_a_module,
    in_place_on_a_copy,
]
WRONG = [
    (as_in_the_paper, "a post-norm block"),
    (mlp_not_added, "a block whose MLP replaces its input"),
    (x_overwritten, "a block that puts the normed vectors on the path"),
    (copied_line, "a block that uses the first norm twice"),
    (side_by_side, "a block whose MLP doesn't see what attention found"),
    (old_path, "a block that adds the MLP's output to the block's input"),
    (norms_around_the_layers, "a block whose norms come after its layers"),
    (norms_exchanged, None),
]
