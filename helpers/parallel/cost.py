"""What a training step costs on many machines: time, memory and bytes, on paper.

The model counts products, numbers and bytes, and divides by what a machine does in a
second. It knows nothing of the rest: norms, losses, data, failures, or a device that
waits for another.

Sources: Chowdhery et al. 2022, appendix B (operations for each token); Rajbhandari et
al. 2020, section 3 (bytes for each parameter); Korthikanti et al. 2022, section 4
(what a layer keeps); Patarasuk and Yuan 2009 (bytes round a ring).
"""

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from helpers import validation
from helpers.parallel.traffic import bytes_sent

WAYS = ("ddp", "fsdp", "tensor", "ring")
# Numbers of width C that a block of this book keeps for each token until its backward
# pass, with fused attention: counted in chapter 15.
KEPT = 16


def _require_positive(name: str, number: float, *, or_0: bool = False) -> None:
    fits = isinstance(number, (int, float)) and math.isfinite(number)
    if not fits or number < 0 or (number == 0 and not or_0):
        least = "at least 0" if or_0 else "above 0"
        raise ValueError(f"{name} must be a number {least}, got {number!r}")


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

    Raises:
        ValueError: a size that isn't a whole number of at least 1, or squares not above
            0.
    """

    layers: int
    d_model: int
    context_length: int
    batch: int
    vocab_size: int
    squares: float = 12.0

    def __post_init__(self) -> None:
        names = ("layers", "d_model", "context_length", "batch", "vocab_size")
        validation.require_integers(**{name: getattr(self, name) for name in names})
        _require_positive("squares", self.squares)

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


@dataclasses.dataclass(frozen=True)
class Machine:
    """What one device does in a second, and what it holds.

    Args:
        operations: additions and multiplications a second, as reached in training.
        bandwidth: bytes a second that a device sends while others send.
        latency: seconds before a message's first byte arrives.
        memory: bytes.
        bytes_each: of a weight, a gradient or an activation.
        bytes_kept: for each number, of all that the optimizer keeps.
        per_block: seconds to start a block's operations, forward and backward.

    Raises:
        ValueError: a number that isn't above 0; latency and per_block may be 0.
    """

    operations: float
    bandwidth: float
    latency: float
    memory: float
    bytes_each: int = 4
    bytes_kept: int = 8
    per_block: float = 0.0

    def __post_init__(self) -> None:
        may_be_none = ("latency", "per_block")
        for field in dataclasses.fields(self):
            number = getattr(self, field.name)
            _require_positive(field.name, number, or_0=field.name in may_be_none)


@dataclasses.dataclass(frozen=True)
class Cost:
    """A step on one device, the busiest where they differ.

    Attributes:
        compute: seconds.
        sending: seconds.
        sent: bytes.
        memory: bytes of "weights", "gradients", "optimizer" and "activations".
    """

    compute: float
    sending: float
    sent: float
    memory: dict[str, float]

    @property
    def least(self) -> float:
        """Seconds of a step, where all is sent while something is computed."""
        return max(self.compute, self.sending)

    @property
    def most(self) -> float:
        """Seconds of a step, where nothing is computed while something is sent."""
        return self.compute + self.sending

    @property
    def all_memory(self) -> float:
        """Bytes of everything together."""
        return sum(self.memory.values())


#: One H100 with 80 GB. Of its 989e12 operations a second in bfloat16 it reaches 40 %,
#: as large trainings report; the network takes 400 Gbit/s for each device. Weights and
#: gradients have 16 bits, and the optimizer keeps three numbers of 32. The latency is
#: assumed.
H100 = Machine(
    operations=0.4 * 989e12,
    bandwidth=50e9,
    latency=10e-6,
    memory=80e9,
    bytes_each=2,
    bytes_kept=12,
)

#: Sizes from Grattafiori et al. 2024, table 3; a batch has 2,048 texts of 8,192 tokens.
MODELS = {
    "8B": Work(32, 4096, 8192, 2048, 128_256, squares=13.0),
    "70B": Work(80, 8192, 8192, 2048, 128_256, squares=12.75),
    "405B": Work(126, 16_384, 8192, 2048, 128_256, squares=11.875),
}


def estimate(
    work: Work,
    machine: Machine,
    devices: int,
    way: str,
    *,
    at_once: int | None = None,
) -> Cost:
    """What a step costs on so many devices.

    Args:
        work: a ``Work``.
        machine: a ``Machine``.
        devices: N; all take part in one training.
        way: "ddp": texts are shared, each device has the model. "fsdp": texts and
            numbers are shared, and each block is gathered when it is needed. "tensor":
            heads and hidden features of all blocks are shared. "ring": each text's
            positions are shared, and each device has the model.
        at_once: texts that a device reads before it goes back through them; gradients
            of several such parts add up. Fewer take less memory, but "fsdp" sends all
            again for each part. None: all of a device's texts.

    Returns:
        cost: a ``Cost``. A device that has no text or no position left over waits.

    Raises:
        ValueError: a number of devices or of texts below 1, or another way.
    """
    validation.require_integers(
        devices=devices, at_once=1 if at_once is None else at_once
    )
    if way not in WAYS:
        raise ValueError(f"way must be one of {', '.join(WAYS)}, got {way!r}")
    products, attention = work.operations
    if way in ("ddp", "fsdp"):
        tokens = math.ceil(work.batch / devices) * work.context_length
    elif way == "ring":
        tokens = work.batch * math.ceil(work.context_length / devices)
        attention *= 2 - 1 / devices  # the last part of a text meets all keys
    else:
        tokens = work.tokens
    share = 1 / devices if way == "tensor" else 1.0
    operations = tokens * share * (products + attention)
    passes = 1 if way != "ring" else devices  # over the blocks' attention
    compute = operations / machine.operations + work.layers * machine.per_block
    texts = work.batch if way in ("tensor", "ring") else math.ceil(work.batch / devices)
    parts = math.ceil(texts / (at_once or texts))
    sendings = _sendings(work, machine, devices, way, tokens)
    if way == "fsdp":
        sendings = [(kind, parts * sent, parts * n) for kind, sent, n in sendings]
    sent = sum(bytes_sent(kind, payload, devices) for kind, payload, _ in sendings)
    messages = sum(
        calls * (passes if kind == "send" else _hops(kind, devices))
        for kind, _, calls in sendings
    )
    if devices == 1:
        sent, messages = 0.0, 0
    sending = sent / machine.bandwidth + messages * machine.latency
    memory = _memory(work, machine, devices, way, math.ceil(tokens / parts))
    return Cost(compute, sending, sent, memory)


def fitted(runs: Iterable[Mapping[str, Any]], memory: float = 8e9) -> Machine:
    """A machine from times of steps of one process, and of all-reduces of two.

    Args:
        runs: dicts with a "way" and its median "seconds". Those "alone" have "layers",
            "d_model", "context_length" and "batch"; those of "all_reduce" have "bytes".
            Others are left out.
        memory: bytes, which no time shows.

    Returns:
        machine: the ``Machine`` whose times are nearest, in shares of each time.

    Raises:
        ValueError: fewer than two runs of either kind.
    """
    steps, sendings = [], []
    for run in runs:
        if run["way"] == "alone":
            work = work_of(run)
            operations = work.tokens * sum(work.operations)
            steps.append((operations, work.layers, run["seconds"]))
        elif run["way"] == "all_reduce":  # round two processes: two messages
            sendings.append((run["bytes"], 2, run["seconds"]))
    if len(steps) < 2 or len(sendings) < 2:
        raise ValueError(
            "runs must hold at least two alone and two of all_reduce, got "
            f"{len(steps)} and {len(sendings)}"
        )
    per_operation, per_block = _nearest(steps)
    per_byte, latency = _nearest(sendings)
    return Machine(
        operations=1 / per_operation,
        bandwidth=1 / per_byte,
        latency=latency,
        memory=memory,
        per_block=per_block,
    )


def work_of(run: Mapping[str, Any], vocab_size: int = 65) -> Work:
    """The work of a recorded run, whose sizes it holds by their names."""
    names = ("layers", "d_model", "context_length", "batch")
    return Work(**{name: run[name] for name in names}, vocab_size=vocab_size)


def _nearest(rows: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """Two factors, none below 0, of which each row's sum is nearest its last number."""
    table = np.array(rows)
    shares = table[:, :2] / table[:, 2:]  # so that short times count as much as long
    scale = shares.max(axis=0)
    factors, *_ = np.linalg.lstsq(shares / scale, np.ones(len(rows)), rcond=None)
    first, second = factors / scale
    return float(first), max(0.0, float(second))


def _sendings(
    work: Work, machine: Machine, devices: int, way: str, tokens: int
) -> Sequence[tuple[str, float, int]]:
    """Kinds of operations, with all of their payload and their number of calls."""
    numbers = work.numbers * machine.bytes_each
    activations = work.layers * tokens * work.d_model * machine.bytes_each
    gradients = ("all_reduce", numbers, work.layers)
    if way == "ddp":
        return [gradients]
    if way == "fsdp":  # forward, and again backward
        gathered = ("all_gather", 2 * numbers, 2 * work.layers)
        return [gathered, ("reduce_scatter", numbers, work.layers)]
    if way == "tensor":  # behind attention and behind the MLP, forward and backward
        return [("all_reduce", 4 * activations, 4 * work.layers)]
    # Keys and values forward; backward these and their gradients. Once round each.
    return [("send", 6 * activations * devices, 2 * work.layers), gradients]


def _hops(kind: str, devices: int) -> int:
    """Messages that follow each other in one operation round a ring."""
    return (devices - 1) * (2 if kind == "all_reduce" else 1)


def _memory(
    work: Work, machine: Machine, devices: int, way: str, tokens: int
) -> dict[str, float]:
    """Bytes of what a device holds at the end of a forward pass."""
    held, gathered = work.numbers, 0.0
    if way == "fsdp":
        held, gathered = work.numbers / devices, work.block_numbers / work.layers
        gathered *= 1 - 1 / devices
    elif way == "tensor":
        held = work.block_numbers / devices + work.table_numbers
    kept = KEPT * work.layers * work.d_model * tokens
    if way == "tensor":  # each block's ends and what its norms give stay whole
        kept *= (4 + (KEPT - 4) / devices) / KEPT
    return {
        "weights": (held + gathered) * machine.bytes_each,
        "gradients": held * machine.bytes_each,
        "optimizer": held * machine.bytes_kept,
        "activations": kept * machine.bytes_each,
    }
