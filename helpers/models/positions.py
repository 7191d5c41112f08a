"""How a model knows where a token stands: vectors to add, turns, and biases.

Shapes use the book's letters: B batch, T query positions, S key positions, C model
width, H heads, D width of one head. "..." stands for any leading axes.
"""

import torch
from torch import Tensor

from attention_audit.alibi import published_slopes
from helpers import validation

BASE = 10_000.0  # of the wavelengths, from about 6 to about 63,000 positions


def sinusoidal_positions(
    start: int,
    T: int,
    d_model: int,
    *,
    base: float = BASE,
    device: torch.device | str | None = None,
) -> Tensor:
    """A vector for each position: sines and cosines of many wavelengths.

    Features 2i and 2i + 1 are the sine and the cosine of position · base^(-2i / C).

    Args:
        start: the first position, at least 0.
        T: number of positions.
        d_model: C, even.
        base: the last wavelength over the first, nearly.
        device: where they are made.

    Returns:
        vectors: (T, C), float32, to be added to the embeddings.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1 (``start``: 0), or an
            odd ``d_model``, or a ``base`` that isn't a finite number above 0.

    Source: Vaswani et al. 2017, section 3.5. Built by hand in chapter 12.
    """
    validation.require_integers(d_model=d_model)
    validation.require_even("d_model", d_model)
    angles = rotary_angles(start, T, d_model, base=base, device=device)  # (T, C / 2)
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)


def rotary_angles(
    start: int,
    T: int,
    head_dim: int,
    *,
    base: float = BASE,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Rotary positions (RoPE): the angle of each pair of features at each position.

    position · base^(-2i / D) radians for pair i

    Args:
        start: the first position, at least 0.
        T: number of positions.
        head_dim: D, even.
        base: how much slower the last pair turns than the first, nearly.
        device: where the angles are made.
        dtype: what they are computed in. Narrower than float32 is too coarse for them.

    Returns:
        angles: (T, D / 2) in radians.

    Raises:
        ValueError: as for ``sinusoidal_positions``.

    Source: Su et al. 2021, section 3.2.2. Built by hand in chapter 12.
    """
    validation.require_integers(T=T)
    validation.require_counts(start=start)
    frequencies = rotary_frequencies(head_dim, base=base, device=device, dtype=dtype)
    return angles_at(start, T, frequencies)


def angles_at(start: int, T: int, frequencies: Tensor) -> Tensor:
    """The angles (T, D / 2) of pairs that turn by ``frequencies`` (D / 2,) a place."""
    places = torch.arange(
        start, start + T, device=frequencies.device, dtype=frequencies.dtype
    )
    return torch.outer(places, frequencies)


def rotary_frequencies(
    head_dim: int,
    *,
    base: float = BASE,
    device: torch.device | str | None = None,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """How fast each pair of features turns: base^(-2i / D) radians a position.

    Args:
        head_dim: D, even.
        base: how much faster the first pair turns than the last, nearly.
        device: where they are made.
        dtype: what they are computed in.

    Returns:
        frequencies: (D / 2,)

    Raises:
        ValueError: an odd width, or a base that isn't a finite number above 0.

    Source: Su et al. 2021, section 3.2.2.
    """
    validation.require_integers(head_dim=head_dim)
    validation.require_even("head_dim", head_dim)
    validation.require_number("base", base)
    pairs = torch.arange(head_dim // 2, device=device, dtype=dtype)
    return base ** (-2 * pairs / head_dim)


def angle_dtype(weights: Tensor) -> torch.dtype:
    """What a model's angles are computed in: float64 for float64, else float32."""
    return torch.promote_types(weights.dtype, torch.float32)


@validation.checked(validation.require_turns)
def rotate(
    heads: Tensor, cosines: Tensor, sines: Tensor, *, interleaved: bool = False
) -> Tensor:
    """Rotate each pair of features in its plane, as rotary positions (RoPE) do.

    A dot product of turned queries and keys depends on their distance alone. Which
    features make a pair is a matter of layout: both give the same scores, for weights
    whose columns are ordered accordingly.

    Args:
        heads: (..., T, D), D even.
        cosines: (T, D / 2), of the angles.
        sines: (T, D / 2), of the angles.
        interleaved: feature 2i pairs with 2i + 1, as in the paper; otherwise feature i
            pairs with i + D / 2, as in Llama and GPT-NeoX.

    Returns:
        turned: (..., T, D), of the dtype of ``heads``.

    Raises:
        ValueError: something else than tensors, heads that aren't floating point, an
            odd D, or angles of other shapes.

    Source: Su et al. 2021, section 3.4.2. Built by hand in chapter 12.
    """
    cosines, sines = cosines.to(heads.dtype), sines.to(heads.dtype)
    if interleaved:
        first, second = heads[..., 0::2], heads[..., 1::2]
    else:
        first, second = heads.chunk(2, dim=-1)
    turned = (first * cosines - second * sines, first * sines + second * cosines)
    if interleaved:
        return torch.stack(turned, dim=-1).flatten(-2)
    return torch.cat(turned, dim=-1)


def halves_from_pairs(weight: Tensor, heads: int) -> Tensor:
    """Order a projection's features for ``rotate(..., interleaved=False)``.

    Rotary positions turn pairs of features. Where feature 2i pairs with 2i + 1 (GGUF,
    the paper), they are put so that i pairs with i + D / 2 (Llama on the hub).

    Args:
        weight: (heads · D, C), of queries or keys.
        heads: how many.

    Returns:
        weight: the same rows, in another order.

    Raises:
        ValueError: a number of heads that isn't a whole number of at least 1, or of
            which the rows don't make heads of an even width.

    Source: Su et al. 2021, section 3.4.2, for pairs. By hand in chapter 17.
    """
    validation.require_integers(heads=heads)
    validation.require_rank("weight", weight, "heads · D, C")
    if len(weight) % (2 * heads):
        raise ValueError(
            f"weight must have rows for {heads} heads of an even width, got shape "
            f"{validation.shape_of(weight)}"
        )
    pairs = weight.unflatten(0, (heads, -1, 2))  # (heads, D / 2, 2, C)
    return pairs.transpose(1, 2).flatten(0, 2)


def alibi_slopes(num_heads: int, *, device: torch.device | str | None = None) -> Tensor:
    """How fast each head's scores fall with the distance.

    For H a power of two, head h, counted from 0, has the slope 2^(-8 (h + 1) / H). For
    any other H: the slopes of the next lower power of two, then every other one of the
    next higher.

    Args:
        num_heads: H
        device: where they are made.

    Returns:
        slopes: (H,), float32, below 1 and at least 1/256.

    Raises:
        ValueError: a number of heads that isn't a whole number of at least 1.

    Source: Press et al. 2022, section 3, and the code beside it for other H. Built by
    hand in chapter 12.
    """
    validation.require_integers(num_heads=num_heads)
    return torch.tensor(published_slopes(num_heads), device=device)


def alibi_bias(
    num_heads: int,
    T: int,
    S: int | None = None,
    *,
    device: torch.device | str | None = None,
) -> Tensor:
    """What ALiBi adds to the scores: minus the distance, times the head's slope.

    Args:
        num_heads: H
        T: number of queries, the last T of the S positions.
        S: number of keys, at least T; T where left out.
        device: where it is made.

    Returns:
        bias: (H, T, S), float32; 0 where a token meets itself. Entries of the future
            are as far away as they stand: mask them.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, or fewer keys than
            queries.

    Source: Press et al. 2022, section 3. Built by hand in chapter 12.
    """
    S = T if S is None else S
    validation.require_integers(T=T, S=S)
    if S < T:
        raise ValueError(f"S must be at least T = {T}, got {S}")
    keys = torch.arange(S, device=device)
    distances = (keys[S - T :, None] - keys).abs()  # (T, S)
    return -alibi_slopes(num_heads, device=device)[:, None, None] * distances
