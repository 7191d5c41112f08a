"""How much there is to train, and what a device does in a second."""

import dataclasses

from helpers import published, validation


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
        activations: numbers that a block keeps for each token until its backward pass,
            in multiples of C: 16 with an MLP four times as wide, GELU and fused
            attention, and 6 + 2 H_kv / H + 4 d_ff / C with a gated one.

    Raises:
        ValueError: a size that isn't a whole number of at least 1, squares or
            activations not above 0, or heads of keys that don't divide the heads.
    """

    layers: int
    d_model: int
    context_length: int
    batch: int
    vocab_size: int
    squares: float = 12.0
    heads: int | None = None
    kv_heads: int | None = None
    activations: float = 16.0

    def __post_init__(self) -> None:
        names = ["layers", "d_model", "context_length", "batch", "vocab_size"]
        names += [
            name for name in ("heads", "kv_heads") if getattr(self, name) is not None
        ]
        validation.require_integers(**{name: getattr(self, name) for name in names})
        validation.require_number("squares", self.squares)
        validation.require_number("activations", self.activations)
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
            attention: 6 L C T, with half of the table hidden. A fused kernel computes
            the scores again on its way back, which would be a sixth more.
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
            may_be_0 = field.name in may_be_none
            validation.require_number(field.name, number, or_0=may_be_0)


def _llama(name: str) -> Work:
    """Blocks with a gated MLP and shared keys, and 2,048 texts of 8,192 tokens."""
    sizes = published.sizes(name)
    wide = sizes["hidden"] / sizes["d_model"]
    shared = sizes["kv_heads"] / sizes["heads"]
    return Work(
        sizes["layers"],
        sizes["d_model"],
        context_length=8192,
        batch=2048,
        vocab_size=int(published.figure("Llama 3 vocabulary")),
        squares=2 + 2 * shared + 3 * wide,
        heads=sizes["heads"],
        kv_heads=sizes["kv_heads"],
        activations=6 + 2 * shared + 4 * wide,
    )


NODE = 8  # H100s that NVLink connects, each with a network card of its own
WITHIN, BETWEEN = 1e-6, 10e-6  # assumed: seconds until a message arrives


def h100(devices: int, *, network: float | None = None) -> Machine:
    """An H100 in a ring of so many, eight of which are a node.

    Of its peak in 16 bits, products are assumed to reach 60 %. Weights and gradients
    have 16 bits, and the optimizer keeps three numbers of 32.

    Args:
        devices: N. Up to eight send over NVLink alone. In a ring of more, one message
            of eight goes from node to node, and the others over NVLink; both times
            until one arrives are assumed.
        network: bytes a second that each device sends where there are several nodes. A
            node's cards share what leaves it, so that a device sends faster than its
            own card would. None: what was measured with 256.

    Returns:
        machine: a ``Machine``.

    Raises:
        ValueError: less than one device, or a network that isn't above 0.
    """
    validation.require_integers(devices=devices)
    if network is None:
        network = published.figure("all-gather of 256")
    alone = devices <= NODE
    return Machine(
        operations=0.6 * published.figure("H100 FLOPs"),
        bandwidth=published.figure("NVLink by NCCL") if alone else network,
        latency=WITHIN if alone else ((NODE - 1) * WITHIN + BETWEEN) / NODE,
        memory=published.figure("H100 memory"),
        bytes_each=2,
        bytes_kept=12,
    )


#: Sizes of Llama 3, and of the smallest Llama 3.2, whose embedding is its output layer
#: as well: here they are two tables.
MODELS = {
    "1.5B": _llama("Llama 3.2 1B"),
    "8B": _llama("Llama 3 8B"),
    "70B": _llama("Llama 3 70B"),
    "405B": _llama("Llama 3 405B"),
}
