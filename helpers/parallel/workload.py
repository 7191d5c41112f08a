"""How much there is to train, and what a device does in a second."""

import dataclasses
import math

from helpers import validation


@dataclasses.dataclass(frozen=True)
class Work:
    """A model and a batch.

    Args:
        layers: L.
        d_model: C.
        context_length: T, tokens of a text.
        batch: texts in a step, on all devices together.
        vocab_size: V.
        squares: numbers in a block, in multiples of C²: 12 with an MLP four times as
            wide.
        heads: H, which "tensor" shares; None sets no bound.
        kv_heads: heads of keys and values; as many as ``heads`` where None.

    Raises:
        ValueError: a size that isn't a whole number of at least 1, squares not above 0,
            or heads of keys that don't divide the heads.
    """

    layers: int
    d_model: int
    context_length: int
    batch: int
    vocab_size: int
    squares: float = 12.0
    heads: int | None = None
    kv_heads: int | None = None

    def __post_init__(self) -> None:
        names = ["layers", "d_model", "context_length", "batch", "vocab_size"]
        names += [
            name for name in ("heads", "kv_heads") if getattr(self, name) is not None
        ]
        validation.require_integers(**{name: getattr(self, name) for name in names})
        _require_positive("squares", self.squares)
        if self.kv_heads and (self.heads is None or self.heads % self.kv_heads):
            raise ValueError(
                f"kv_heads must divide heads, got {self.kv_heads} and {self.heads}"
            )

    @property
    def block_numbers(self) -> float:
        """Trained numbers in all blocks."""
        return self.layers * self.squares * self.d_model**2

    @property
    def table_numbers(self) -> float:
        """Trained numbers in the embedding and in the output layer."""
        return 2.0 * self.vocab_size * self.d_model

    @property
    def numbers(self) -> float:
        """All trained numbers, without biases, norms and positions."""
        return self.block_numbers + self.table_numbers

    @property
    def tokens(self) -> int:
        """Tokens in a step."""
        return self.batch * self.context_length

    @property
    def kv_width(self) -> float:
        """Numbers in all keys of a token, and as many in its values."""
        share = (
            1.0 if self.heads is None else (self.kv_heads or self.heads) / self.heads
        )
        return share * self.d_model

    @property
    def operations(self) -> tuple[float, float]:
        """Multiplications and additions for one token, forward and backward.

        Returns:
            products: with weights: 6 for each number that is multiplied. A look-up in
                the embedding is free.
            attention: 6 L C T, with half of the table hidden.
        """
        head = self.vocab_size * self.d_model
        attention = 6.0 * self.layers * self.d_model * self.context_length
        return 6.0 * (self.block_numbers + head), attention

    @property
    def again(self) -> tuple[float, float]:
        """What recomputation adds to ``operations``: the blocks' forward pass."""
        return 2.0 * self.block_numbers, self.operations[1] / 3


@dataclasses.dataclass(frozen=True)
class Machine:
    """What one device does in a second, and what it holds.

    Args:
        operations: additions and multiplications a second, as reached in products.
        bandwidth: bytes a second that a device sends while others send.
        latency: seconds before a message's first byte arrives.
        memory: bytes.
        bytes_each: of a weight, a gradient or an activation.
        bytes_kept: for each number, of all that the optimizer keeps.
        per_block: seconds to start a block's operations, forward and backward.
        per_number: seconds in which the optimizer updates a number.

    Raises:
        ValueError: a number that isn't above 0, or below 0 for latency, per_block and
            per_number.
    """

    operations: float
    bandwidth: float
    latency: float
    memory: float
    bytes_each: int = 4
    bytes_kept: int = 8
    per_block: float = 0.0
    per_number: float = 0.0

    def __post_init__(self) -> None:
        may_be_none = ("latency", "per_block", "per_number")
        for field in dataclasses.fields(self):
            number = getattr(self, field.name)
            _require_positive(field.name, number, or_0=field.name in may_be_none)


def _require_positive(name: str, number: float, *, or_0: bool = False) -> None:
    fits = isinstance(number, (int, float)) and math.isfinite(number)
    if not fits or number < 0 or (number == 0 and not or_0):
        least = "at least 0" if or_0 else "above 0"
        raise ValueError(f"{name} must be a number {least}, got {number!r}")


#: One H100 with 80 GB. Of its 989e12 operations a second in bfloat16, products are
#: assumed to reach 60 %, a little more than whole trainings report; the network takes
#: 400 Gbit/s for each device. Weights and gradients have 16 bits, and the optimizer
#: keeps three numbers of 32. The latency is assumed.
H100 = Machine(
    operations=0.6 * 989e12,
    bandwidth=50e9,
    latency=10e-6,
    memory=80e9,
    bytes_each=2,
    bytes_kept=12,
)

#: Sizes from Grattafiori et al. 2024, table 3; a batch has 2,048 texts of 8,192 tokens.
MODELS = {
    "8B": Work(32, 4096, 8192, 2048, 128_256, squares=13.0, heads=32, kv_heads=8),
    "70B": Work(80, 8192, 8192, 2048, 128_256, squares=12.75, heads=64, kv_heads=8),
    "405B": Work(
        *(126, 16_384, 8192, 2048, 128_256), squares=11.875, heads=128, kv_heads=8
    ),
}
