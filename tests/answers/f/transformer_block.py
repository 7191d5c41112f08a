"""Answers to wire a block: transformer_block."""

import torch


def right_two_lines(x, attention_norm, attention, mlp_norm, mlp):
    """right: two sums, each of the stream and a part of its normed self."""
    x = x + attention(attention_norm(x))
    return x + mlp(mlp_norm(x))


def right_loop_over_pairs(x, attention_norm, attention, mlp_norm, mlp):
    """right: a loop over the two pairs of norm and part, with torch.add."""
    stream = x
    for norm, part in [(attention_norm, attention), (mlp_norm, mlp)]:
        stream = torch.add(stream, part(norm(stream)))
    return stream


def right_on_a_clone(x, attention_norm, attention, mlp_norm, mlp):
    """right: hands the first norm a clone, adds in place into a second clone, the last sum into a new tensor."""
    h = x.clone()
    h += attention(attention_norm(x.clone()))
    after = mlp(mlp_norm(h))
    return sum([h, after])


def wrong_post_norm(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: post-norm: the norms come after the sums, attention and MLP get the stream without a norm."""
    x = attention_norm(x + attention(x))
    x = mlp_norm(x + mlp(x))
    return x


def wrong_second_sum_missing(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: returns the MLP's result alone, without adding the stream after attention to it."""
    h = x + attention(attention_norm(x))
    h = mlp(mlp_norm(h))
    return h


def wrong_parallel(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: both parts read x itself (parallel), the MLP doesn't see what attention added."""
    a = attention(attention_norm(x))
    m = mlp(mlp_norm(x))
    return x + a + m


def wrong_adds_the_normed(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: adds each part's result to the normed stream, not to the stream itself."""
    n1 = attention_norm(x)
    h = n1 + attention(n1)
    n2 = mlp_norm(h)
    return n2 + mlp(n2)


def wrong_contiguous_is_no_copy(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: takes x.contiguous() for a copy and adds in place, so x itself is changed (unless it isn't contiguous)."""
    out = x.contiguous()
    out += attention(attention_norm(out))
    out += mlp(mlp_norm(out))
    return out


def wrong_adds_into_the_parts_result(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: adds x in place into what attention returned; where norm and attention return their argument itself, that is x, which is changed."""
    h = attention(attention_norm(x))
    h += x
    y = mlp(mlp_norm(h))
    return y + h


def wrong_one_position_skips_attention(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: leaves attention out where there is a single position (T = 1), as there would be nothing to mix."""
    B, T, C = x.shape
    h = x
    if T > 1:
        h = h + attention(attention_norm(h))
    return h + mlp(mlp_norm(h))


def wrong_one_norm_for_both(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: uses attention_norm before the MLP, too, and mlp_norm never; right where the two norms are equal."""
    def sublayer(y, f):
        return y + f(attention_norm(y))

    return sublayer(sublayer(x, attention), mlp)


def wrong_mlp_first_and_old_x(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: two mistakes: the MLP comes before attention, and the second sum adds x in place of the stream after the first part."""
    middle = x + mlp(mlp_norm(x))
    return x + attention(attention_norm(middle))


ANSWERS = [
    right_two_lines,
    right_loop_over_pairs,
    right_on_a_clone,
    wrong_post_norm,
    wrong_second_sum_missing,
    wrong_parallel,
    wrong_adds_the_normed,
    wrong_contiguous_is_no_copy,
    wrong_adds_into_the_parts_result,
    wrong_one_position_skips_attention,
    wrong_one_norm_for_both,
    wrong_mlp_first_and_old_x,
]
