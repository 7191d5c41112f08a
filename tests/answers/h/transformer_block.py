"""Answers to transformer_block by hand h."""

import torch


def right_two_lines(x, attention_norm, attention, mlp_norm, mlp):
    """right: the two sums, each bound to a new name."""
    after_attention = torch.add(x, attention(attention_norm(x)))
    return torch.add(after_attention, mlp(mlp_norm(after_attention)))


def right_loop_over_parts(x, attention_norm, attention, mlp_norm, mlp):
    """right: a loop over pairs of norm and part; x = x + ... makes a new tensor."""
    for norm, part in ((attention_norm, attention), (mlp_norm, mlp)):
        x = x + part(norm(x))
    return x


def right_in_place_on_a_copy(x, attention_norm, attention, mlp_norm, mlp):
    """right: adds up the stream in a copy, and hands copies to the parts."""
    stream = x.clone()
    stream += attention(attention_norm(stream.clone()))
    stream += mlp(mlp_norm(stream.clone()))
    return stream


def wrong_post_norm(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: post-norm: each norm is applied to the sum, after its part, instead of before."""
    x = attention_norm(x + attention(x))
    x = mlp_norm(x + mlp(x))
    return x


def wrong_changes_x(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: x += works in place, so the caller's x is changed; the result is right."""
    x += attention(attention_norm(x))
    x += mlp(mlp_norm(x))
    return x


def wrong_no_shortcut_around_mlp(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: the shortcut around the mlp is missing: its output is returned alone."""
    x = x + attention(attention_norm(x))
    return mlp(mlp_norm(x))


def wrong_shortcut_from_normed(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: both shortcuts start after the norm: the normed tensor is added back instead of the stream itself."""
    x = attention_norm(x)
    x = x + attention(x)
    x = mlp_norm(x)
    x = x + mlp(x)
    return x


def wrong_second_shortcut_from_input(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: the second shortcut adds the block's input x instead of the stream after attention, so attention's output reaches the result through the mlp alone."""
    h = x + attention(attention_norm(x))
    return x + mlp(mlp_norm(h))


def wrong_parallel(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: parallel parts: the mlp gets the block's input instead of the stream after attention."""
    return x + attention(attention_norm(x)) + mlp(mlp_norm(x))


def wrong_norms_swapped(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: the two norms are swapped: mlp_norm before attention, attention_norm before the mlp."""
    residual = x
    x = residual + attention(mlp_norm(x))
    residual = x
    return residual + mlp(attention_norm(x))


def wrong_mlp_reads_attention_alone(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: the mlp gets the norm of attention's output alone, not of the stream (x + that output); both sums are there."""
    attended = attention(attention_norm(x))
    thought = mlp(mlp_norm(attended))
    return x + attended + thought


def wrong_norm_on_the_branch_end(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: each norm stands behind its part, on its output before the sum, x + norm(part(x)), instead of in front of it."""
    x = x + attention_norm(attention(x))
    return x + mlp_norm(mlp(x))


def wrong_in_place_and_mlp_not_normed(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: two mistakes: mlp_norm is never used, the mlp gets the stream as it is; and the first sum is written into the caller's x by add_."""
    x.add_(attention(attention_norm(x)))
    return x + mlp(x)


def wrong_mlp_first_and_normed_at_the_end(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: two mistakes: the mlp comes before attention, and an extra attention_norm is put on the result."""
    x = x + mlp(mlp_norm(x))
    x = x + attention(attention_norm(x))
    return attention_norm(x)


ANSWERS = [
    right_two_lines,
    right_loop_over_parts,
    right_in_place_on_a_copy,
    wrong_post_norm,
    wrong_changes_x,
    wrong_no_shortcut_around_mlp,
    wrong_shortcut_from_normed,
    wrong_second_shortcut_from_input,
    wrong_parallel,
    wrong_norms_swapped,
    wrong_mlp_reads_attention_alone,
    wrong_norm_on_the_branch_end,
    wrong_in_place_and_mlp_not_normed,
    wrong_mlp_first_and_normed_at_the_end,
]
