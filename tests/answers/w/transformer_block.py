def block_two_lines(x, attention_norm, attention, mlp_norm, mlp):
    """right: two residual lines, each with its norm first."""
    x = x + attention(attention_norm(x))
    x = x + mlp(mlp_norm(x))
    return x


def block_shortcuts(x, norm1, att, norm2, feed_forward):
    """right: step by step with named shortcuts."""
    shortcut = x
    h = norm1(x)
    h = att(h)
    h = h + shortcut

    shortcut = h
    out = norm2(h)
    out = feed_forward(out)
    return shortcut + out


def block_in_place(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: += changes the caller's x (the result is right)."""
    x += attention(attention_norm(x))
    x += mlp(mlp_norm(x))
    return x


def block_post_norm(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: a post-norm block: adds first and normalises the sum afterwards."""
    x = attention_norm(x + attention(x))
    x = mlp_norm(x + mlp(x))
    return x


def block_old_shortcut(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: the second shortcut adds the block's first input again, so what attention found reaches the output only through the MLP."""
    shortcut = x
    x = attention_norm(x)
    x = attention(x)
    x = x + shortcut
    x = mlp_norm(x)
    x = mlp(x)
    x = x + shortcut
    return x


def block_normed_shortcut(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: overwrites x by its norm before the addition, so the shortcut carries the normalised x."""
    x = attention_norm(x)
    x = x + attention(x)
    x = mlp_norm(x)
    x = x + mlp(x)
    return x


def block_parallel(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: the MLP reads the block's input instead of what attention has changed (a parallel block)."""
    from_attention = attention(attention_norm(x))
    from_mlp = mlp(mlp_norm(x))
    return x + from_attention + from_mlp


def block_norm_twice(x, attention_norm, attention, mlp_norm, mlp):
    """wrong: the second line is copied and still uses attention_norm, so mlp_norm is never called."""
    h = x + attention(attention_norm(x))
    return h + mlp(attention_norm(h))


ANSWERS = [
    block_two_lines,
    block_shortcuts,
    block_in_place,
    block_post_norm,
    block_old_shortcut,
    block_normed_shortcut,
    block_parallel,
    block_norm_twice,
]
