"""MHA, GQA, MQA and latent attention that cache as much of a token, side by side.

Two blocks of chapter 13's width are trained on little-world's stories, with attention
of one kind. All kinds have four query heads, and cache 48 numbers of a token in a
layer; how wide a head can be, follows. (The plain block of ``block_parts`` caches twice
as much.) An attention that has fewer weights gets a wider MLP, so that all models are
about equally large.

The first of five seeds chooses a side's rate.
"""

import sys
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from experiments import block_parts, many, sweeps
from helpers.attention import merge_heads, split_heads
from helpers.models.language_model import TransformerLM
from helpers.models.latent_attention import MultiHeadLatentAttention
from helpers.models.positions import rotary_angles, rotate

HEADS, CACHE = 4, 48  # of queries; numbers of a token in each layer
#: Sizes of each kind, and what it caches of a token.
SIDES: dict[str, dict[str, int]] = {
    "MHA": {"num_kv_heads": 4, "head_dim": 6},
    "GQA": {"num_kv_heads": 2, "head_dim": 12},
    "MQA": {"num_kv_heads": 1, "head_dim": 24},
    "MLA": {"latent_dim": 40, "rotary_dim": 8, "head_dim": 12},
}
TEXT, BEGIN = "little-world", (0.008, 0.016, 0.032)
HIDDEN = 192  # of the MLP beside MLA, the largest attention


class GroupedQueries(nn.Module):
    """Causal attention with rotary positions whose heads may be of any width.

    Args:
        d_model: C, width of a token and of the output.
        num_kv_heads: of keys and values, a divisor of ``HEADS``.
        head_dim: D, even.
    """

    def __init__(self, d_model: int, num_kv_heads: int, head_dim: int) -> None:
        super().__init__()
        self.num_kv_heads, self.head_dim = num_kv_heads, head_dim
        self.W_query = nn.Linear(d_model, HEADS * head_dim, bias=False)
        self.W_key = nn.Linear(d_model, num_kv_heads * head_dim, bias=False)
        self.W_value = nn.Linear(d_model, num_kv_heads * head_dim, bias=False)
        self.out_proj = nn.Linear(HEADS * head_dim, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) to (B, T, C)."""
        queries = split_heads(self.W_query(x), HEADS)
        keys = split_heads(self.W_key(x), self.num_kv_heads)
        values = split_heads(self.W_value(x), self.num_kv_heads)
        angles = rotary_angles(0, x.shape[1], self.head_dim)
        turns = angles.cos(), angles.sin()
        context = F.scaled_dot_product_attention(
            rotate(queries, *turns),
            rotate(keys, *turns),
            values,
            is_causal=True,
            enable_gqa=True,
        )
        output: Tensor = self.out_proj(merge_heads(context))
        return output


class InABlock(nn.Module):
    """An attention that knows its positions, where a block hands it some.

    Args:
        attention: a module from (B, T, C) to the same.
    """

    def __init__(self, attention: nn.Module) -> None:
        super().__init__()
        self.attention = attention

    def forward(self, x: Tensor, **_: Any) -> Tensor:
        """(B, T, C) to (B, T, C)."""
        output: Tensor = self.attention(x)
        return output


def attention_of(side: str, context_length: int) -> nn.Module:
    """The attention of a side's blocks, freshly drawn."""
    sizes = SIDES[side]
    if "latent_dim" in sizes:
        return MultiHeadLatentAttention(
            block_parts.WIDTH, HEADS, context_length, **sizes
        )
    return GroupedQueries(block_parts.WIDTH, **sizes)


def cached(side: str) -> int:
    """How many numbers of a token a layer caches."""
    sizes = SIDES[side]
    if "latent_dim" in sizes:
        return sizes["latent_dim"] + sizes["rotary_dim"]
    return 2 * sizes["num_kv_heads"] * sizes["head_dim"]


def weights_of(side: str) -> int:
    """How many weights a side's attention has."""
    return sum(one.numel() for one in attention_of(side, 1).parameters())


def hidden_of(side: str) -> int:
    """The width of a side's MLP, which makes up for a smaller attention."""
    each = 2 * block_parts.WIDTH + 1  # weights and a bias of one hidden feature
    return HIDDEN + round((weights_of("MLA") - weights_of(side)) / each)


def train_one(settings: many.Settings, **stories: int) -> many.Run:
    """Train one side once.

    Args:
        settings: a dict of the "text", the "side", the "rate", the "seed" and the
            "steps".
        stories: as for ``block_parts.losses``.

    Returns:
        run: that of ``block_parts.losses``.
    """
    side = settings["side"]

    def put_in(model: TransformerLM) -> None:
        torch.manual_seed(settings["seed"] + 1_000)
        length = model.config.context_length
        for block in model.blocks:
            block.attention = InABlock(attention_of(side, length))

    changes = {"learning_rate": settings["rate"], "mlp_hidden": hidden_of(side)}
    return block_parts.losses(settings, changes, put_in, **stories)


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks, side by side."""
    plain = {"text": TEXT, "steps": block_parts.STEPS}
    sides = [plain | {"side": side} for side in SIDES]
    return sweeps.lacking_of_all(record, sides, BEGIN, beside=sweeps.SEEDS[:1])


if __name__ == "__main__":
    sys.exit(many.main("equal_caches", wanted, train_one))
