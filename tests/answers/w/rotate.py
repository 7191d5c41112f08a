import torch


def rotate_halves(heads, start):
    """right: cosine and sine for each place and pair, and the two turned halves side by side."""
    T, D = heads.shape[-2:]
    n = torch.arange(D // 2)
    speed = 10000.0 ** (-2 * n / D)
    places = torch.arange(start, start + T)
    angle = places[:, None] * speed
    cos, sin = angle.cos(), angle.sin()
    a, b = heads.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def rotate_complex(heads, start):
    """right: takes a pair for a complex number and multiplies it by a number of length 1."""
    half = heads.shape[-1] // 2
    T = heads.size(-2)
    freqs = 1.0 / 10000 ** (torch.arange(0, half) / half)
    angles = torch.outer(torch.arange(T) + start, freqs)
    turn = torch.polar(torch.ones_like(angles), angles)
    z = torch.complex(heads[..., :half].contiguous(), heads[..., half:].contiguous())
    z = z * turn
    return torch.cat((z.real, z.imag), dim=-1)


def rotate_overwritten(heads, start):
    """wrong: the halves are views of the copy that is written to, so the second half is computed from the first half that is turned already."""
    out = heads.clone()
    T, D = heads.shape[-2], heads.shape[-1]
    half = D // 2
    theta = 10000 ** (-2 * torch.arange(half) / D)
    angle = torch.arange(start, start + T).unsqueeze(1) * theta
    first = out[..., :half]
    second = out[..., half:]
    out[..., :half] = first * torch.cos(angle) - second * torch.sin(angle)
    out[..., half:] = first * torch.sin(angle) + second * torch.cos(angle)
    return out


def rotate_mixed_layouts(heads, start):
    """wrong: repeats each angle twice side by side, as the interleaved layout needs, but pairs the halves (right for D = 2)."""
    T, D = heads.shape[-2:]
    inv_freq = 1.0 / (10000 ** (torch.arange(0, D, 2).float() / D))
    pos = torch.arange(start, start + T).float()
    freqs = torch.einsum("i,j->ij", pos, inv_freq)
    emb = freqs.repeat_interleave(2, dim=-1)
    x1, x2 = heads[..., : D // 2], heads[..., D // 2 :]
    rotated = torch.cat((-x2, x1), dim=-1)
    return heads * emb.cos() + rotated * emb.sin()


def rotate_axis_1(heads, start):
    """wrong: takes T from axis 1, which is the heads' axis in (B, H, T, D): an error, or one place for all (right for three axes)."""
    T = heads.shape[1] if heads.dim() > 2 else heads.shape[0]
    D = heads.shape[-1]
    half = D // 2
    angles = (start + torch.arange(T))[:, None] * 10000.0 ** (-2 * torch.arange(half) / D)
    a = heads[..., :half]
    b = heads[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


def rotate_exponent(heads, start):
    """wrong: the exponent is -n / D, without the 2, so all pairs but the first turn too fast (right for D = 2)."""
    *_, T, D = heads.shape
    half = D // 2
    exponent = torch.arange(half) / D
    frequency = 1 / 10000 ** exponent
    angle = torch.arange(start, start + T)[:, None] * frequency[None, :]
    c, s = torch.cos(angle), torch.sin(angle)
    x, y = heads.split(half, dim=-1)
    return torch.cat([x * c - y * s, x * s + y * c], dim=-1)


def rotate_backwards(heads, start):
    """wrong: the signs of the sines are swapped, so it turns by minus the angle."""
    T, D = heads.shape[-2:]
    half = D // 2
    w = 10000.0 ** (torch.arange(half) * -2.0 / D)
    p = torch.arange(start, start + T, dtype=torch.float32)
    angles = p.view(-1, 1) * w.view(1, -1)
    sin, cos = torch.sin(angles), torch.cos(angles)
    left, right = heads[..., :half], heads[..., half:]
    new_left = left * cos + right * sin
    new_right = right * cos - left * sin
    return torch.cat([new_left, new_right], dim=-1)


def rotate_interleaves_result(heads, start):
    """wrong: reads pairs from the halves but writes them back side by side with stack and flatten (right for D = 2)."""
    T, D = heads.shape[-2:]
    freq = 10000.0 ** (-torch.arange(0, D, 2) / D)
    angle = torch.arange(start, start + T)[:, None] * freq
    cos = angle.cos()
    sin = angle.sin()
    a, b = heads[..., : D // 2], heads[..., D // 2 :]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return turned.flatten(-2)


ANSWERS = [
    rotate_halves,
    rotate_complex,
    rotate_overwritten,
    rotate_mixed_layouts,
    rotate_axis_1,
    rotate_exponent,
    rotate_backwards,
    rotate_interleaves_result,
]
