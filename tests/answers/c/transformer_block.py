"""Answers to transformer block by hand c."""

import torch


def right_two_lines(x, attention_norm, attention, mlp_norm, mlp):
    """right: x + attention(norm(x)), then that plus mlp(norm of that)."""
    h = x + attention(attention_norm(x))
    return h + mlp(mlp_norm(h))


def right_loop(x, attention_norm, attention, mlp_norm, mlp):
    """right: loops over the two pairs of norm and part, adds out of place."""
    for norm, part in ((attention_norm, attention), (mlp_norm, mlp)):
        x = torch.add(x, part(norm(x)))
    return x


def right_stack_sum(x, attention_norm, attention, mlp_norm, mlp):
    """right: gives the parts clones, in case they work in place, and sums the stacked summands."""
    a = attention(attention_norm(x.clone()))
    h = torch.stack((x, a)).sum(0)
    m = mlp(mlp_norm(h.clone()))
    return torch.stack((h, m)).sum(0)


def wrong_post_norm(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: post-norm: each norm is applied to the sum of x and its part's output."""
    x = attention_norm(x + attention(x))
    return mlp_norm(x + mlp(x))


def wrong_norm_after_part(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: norms the output of each part, x + norm(part(x)), in place of its input."""
    h = x + attention_norm(attention(x))
    return h + mlp_norm(mlp(h))


def wrong_no_mlp_residual(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: the residual around the MLP is missing: returns mlp(norm(h)) alone."""
    h = x + attention(attention_norm(x))
    return mlp(mlp_norm(h))


def wrong_parallel(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: both parts in parallel: the MLP reads x and not the sum after attention."""
    return x + attention(attention_norm(x)) + mlp(mlp_norm(x))


def wrong_residual_from_norm(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: the residual adds the normed tensor in place of the one before the norm, in both halves."""
    n = attention_norm(x)
    h = n + attention(n)
    n = mlp_norm(h)
    return n + mlp(n)


def wrong_plus_equals(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: the right result, but by x += ..., which changes the caller's x."""
    x += attention(attention_norm(x))
    x += mlp(mlp_norm(x))
    return x


def wrong_alias_inplace(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: adds x in place to what attention returned; where the norm and attention return the tensor that they get, that is x itself, which changes."""
    h = attention(attention_norm(x)).add_(x)  # saves one buffer
    return h + mlp(mlp_norm(h))


def wrong_skips_short(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: skips attention where T is 1, as if one token had nothing to attend to; right for longer texts."""
    h = x
    if x.shape[1] > 1:
        h = x + attention(attention_norm(x))
    return h + mlp(mlp_norm(h))


def wrong_norms_swapped_and_old_x(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: two mistakes: the two norms are exchanged, and the second residual adds the old x in place of the sum after attention."""
    h = x + attention(mlp_norm(x))
    return x + mlp(attention_norm(h))


ANSWERS = [
    right_two_lines, right_loop, right_stack_sum,
    wrong_post_norm, wrong_norm_after_part, wrong_no_mlp_residual,
    wrong_parallel, wrong_residual_from_norm, wrong_plus_equals,
    wrong_alias_inplace, wrong_skips_short, wrong_norms_swapped_and_old_x,
]
