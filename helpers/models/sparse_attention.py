"""Sparse attention: each query attends to a few blocks of keys, chosen by a score.

Shapes use the book's letters: T query positions, S key positions, H heads, H_kv of keys
and values, D width of one head; N blocks of keys. "..." stands for any leading axes.
The scores of blocks that aren't chosen are masked here, not skipped, so that nothing
is saved: the functions say what is computed, and a kernel would leave out the rest.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from helpers import validation
from helpers.attention import causal_mask, scaled_dot_product_attention


def block_scores(queries: Tensor, keys: Tensor, *, block_size: int) -> Tensor:
    """Score every query against the mean key of every block.

    Args:
        queries: (..., T, D)
        keys: (..., S, D)
        block_size: positions in a block; the last block may have fewer.

    Returns:
        scores: (..., T, N)

    Raises:
        ValueError: tensors that don't fit, or no whole number of at least 1.

    Source: Lu et al. 2025 (MoBA). Built by hand on the page on latent attention.
    """
    validation.require_matching(queries, keys)
    validation.require_integers(block_size=block_size)
    S = keys.shape[-2]
    short = -S % block_size  # what the last block lacks
    sums = F.pad(keys, (0, 0, 0, short)).unflatten(-2, (-1, block_size)).sum(dim=-2)
    sizes = torch.full(sums.shape[-2:-1], block_size, device=keys.device)
    sizes[-1] -= short
    return queries @ (sums / sizes[:, None]).mT


def index_scores(queries: Tensor, keys: Tensor, head_weights: Tensor) -> Tensor:
    """Score every query against every key by a few small heads: a lightning indexer.

    sum over heads of head_weights · relu(queries keysᵀ)

    Args:
        queries: (B, H, T, D), of the indexer's own heads.
        keys: (B, S, D), one for all of them.
        head_weights: (B, H, T), how much each head counts for each query.

    Returns:
        scores: (B, T, S), which say what to attend to, and weigh nothing.

    Raises:
        ValueError: shapes that don't fit.

    Source: DeepSeek-AI 2025 (DeepSeek-V3.2-Exp), section 1, equation 1.
    """
    validation.require_rank("queries", queries, "B, H, T, D")
    validation.require_rank("keys", keys, "B, S, D")
    B, H, T, D = queries.shape
    for name, tensor, needed in (
        ("keys", keys, (B, keys.shape[1], D)),
        ("head_weights", head_weights, (B, H, T)),
    ):
        if validation.shape_of(tensor) != needed:
            raise ValueError(
                f"{name} must have shape {needed}, got {validation.shape_of(tensor)}"
            )
    products = (queries @ keys[:, None].mT).relu()  # (B, H, T, S)
    return (head_weights[..., None] * products).sum(dim=1)


def choose_blocks(scores: Tensor, S: int, *, block_size: int, count: int) -> Tensor:
    """Let each query attend to a few blocks: its own, and those with the best scores.

    Blocks that begin behind a query are never chosen, and of its own block it sees
    what isn't behind it. The queries are the last T of the S positions.

    Args:
        scores: (..., T, N)
        S: number of keys.
        block_size: positions in a block; the last may have fewer.
        count: how many blocks each query has, its own included; all that there are,
            where they are fewer.

    Returns:
        mask: (..., T, S) boolean, True = may attend.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1, fewer keys than
            queries, or scores of another number of blocks than S has.

    Source: Lu et al. 2025 (MoBA). Built by hand on the page on latent attention.
    """
    validation.require_integers(S=S, block_size=block_size, count=count)
    validation.require_rows("scores", scores, "T")
    T, N = scores.shape[-2:]
    if math.ceil(S / block_size) != N:
        raise ValueError(
            f"scores must be of {math.ceil(S / block_size)} blocks of {block_size} "
            f"(N) for S = {S} keys, got shape {validation.shape_of(scores)}"
        )
    visible = causal_mask(T, S, device=scores.device)
    own = torch.arange(S - T, S, device=scores.device)[:, None] // block_size  # (T, 1)
    blocks = torch.arange(N, device=scores.device)
    scores = scores.masked_fill(blocks == own, math.inf)
    scores = scores.masked_fill(blocks > own, -math.inf)
    best = scores.topk(min(count, N), dim=-1).indices
    chosen = torch.zeros_like(scores, dtype=torch.bool).scatter(-1, best, True)
    return chosen.repeat_interleave(block_size, dim=-1)[..., :S] & visible


def sparse_attention(
    queries: Tensor, keys: Tensor, values: Tensor, *, block_size: int, count: int
) -> tuple[Tensor, Tensor]:
    """Causal attention to a few blocks of keys, chosen by their mean keys' scores.

    With as many blocks as there are, it is causal attention.

    Args:
        queries: (..., T, D), of the last T of the S positions.
        keys: (..., S, D)
        values: (..., S, D_v)
        block_size: positions in a block.
        count: how many blocks each query attends to, its own included.

    Returns:
        context: (..., T, D_v)
        weights: (..., T, S), 0 outside the chosen blocks.

    Raises:
        ValueError: tensors that don't fit, or sizes that aren't whole numbers of at
            least 1.

    Source: Lu et al. 2025 (MoBA); Yuan et al. 2025 (NSA) for sparse attention in
    training, too. Built by hand on the page on latent attention.
    """
    scores = block_scores(queries, keys, block_size=block_size)
    S = keys.shape[-2]
    mask = choose_blocks(scores, S, block_size=block_size, count=count)
    return scaled_dot_product_attention(queries, keys, values, mask=mask)


class SparseCore:
    """Sparse attention as the core of a ``BlockAttention``.

    Args:
        block_size: positions in a block.
        count: how many blocks each query attends to, its own included.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1.
    """

    def __init__(self, block_size: int, count: int) -> None:
        validation.require_integers(block_size=block_size, count=count)
        self.block_size, self.count = block_size, count

    def __call__(
        self,
        queries: Tensor,
        keys: Tensor,
        values: Tensor,
        *,
        causal: bool,
        window: int | None,
        sinks: int,
    ) -> Tensor:
        """From (B, H, T, D), (B, H_kv, S, D) and (B, H_kv, S, D) to (B, H, T, D).

        Raises:
            ValueError: a layer that isn't causal, or has a window.
        """
        if not causal or window is not None:
            raise ValueError(
                "sparse attention needs causal=True and no window, got "
                f"causal={causal} and window {window}"
            )
        times = queries.shape[1] // keys.shape[1]
        keys, values = (one.repeat_interleave(times, dim=1) for one in (keys, values))
        sizes = {"block_size": self.block_size, "count": self.count}
        return sparse_attention(queries, keys, values, **sizes)[0]
