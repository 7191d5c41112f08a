def count_by_parts(d_in, d_out, num_heads, qkv_bias):
    """right: three projections with or without a bias, and the output layer with one."""
    qkv = 3 * d_in * d_out
    if qkv_bias:
        qkv += 3 * d_out
    out_proj = d_out * d_out + d_out
    return qkv + out_proj


def count_formula(d_in, d_out, num_heads, qkv_bias):
    """right: one formula, with the truth value as 0 or 1."""
    return 3 * (d_in + bool(qkv_bias)) * d_out + (d_out + 1) * d_out


def count_times_heads(d_in, d_out, num_heads, qkv_bias):
    """wrong: takes d_out for the width of one head and multiplies the projections by num_heads (right for one head)."""
    per_head = 3 * d_in * d_out
    if qkv_bias:
        per_head = per_head + 3 * d_out
    return num_heads * per_head + d_out * d_out + d_out


def count_one_head(d_in, d_out, num_heads, qkv_bias):
    """wrong: counts the projections of a single head, D = d_out / num_heads wide, and doesn't multiply by num_heads (right for one head)."""
    head_dim = d_out // num_heads
    n = 0
    for _ in range(3):
        n += d_in * head_dim
        if qkv_bias:
            n += head_dim
    n += d_out * d_out + d_out
    return n


def count_out_d_in(d_in, d_out, num_heads, qkv_bias):
    """wrong: the output layer leads back to d_in in its count, d_out * d_in + d_in, which shows where the widths differ."""
    q = d_in * d_out
    k = d_in * d_out
    v = d_in * d_out
    bias = 3 * d_out if qkv_bias else 0
    out = d_out * d_in + d_in
    return q + k + v + bias + out


def count_swallowed(d_in, d_out, num_heads, qkv_bias):
    """wrong: without parentheses the else belongs to the whole sum, so with qkv_bias=False only out_proj is counted, without the projections."""
    weights = 3 * d_in * d_out
    qkv = weights + 3 * d_out if qkv_bias else 0
    return qkv + d_out ** 2 + d_out


def count_one_bias(d_in, d_out, num_heads, qkv_bias):
    """wrong: counts one bias for queries, keys and values together instead of three (shows with qkv_bias=True)."""
    total = 3 * (d_in * d_out)
    if qkv_bias:
        total += d_out
    total += d_out * d_out
    total += d_out
    return total


def count_out_bias_only_if(d_in, d_out, num_heads, qkv_bias):
    """wrong: takes qkv_bias for all four layers, so the bias of out_proj is missing where it is False."""
    bias = 1 if qkv_bias else 0
    linear = lambda n_in, n_out: n_in * n_out + bias * n_out
    return 3 * linear(d_in, d_out) + linear(d_out, d_out)


ANSWERS = [
    count_by_parts,
    count_formula,
    count_times_heads,
    count_one_head,
    count_out_d_in,
    count_swallowed,
    count_one_bias,
    count_out_bias_only_if,
]
