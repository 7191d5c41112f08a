"""What a training step costs on many machines: time, memory and bytes, on paper.

The estimate counts products, numbers and bytes, and divides by what a machine does in a
second. It knows nothing of the rest: norms, losses, data, copies, failures, or a device
that waits for another.

Sources: Chowdhery et al. 2022, appendix B (operations for each token); Rajbhandari et
al. 2020, sections 3 and 7 (bytes for each parameter, and what is sent); Korthikanti et
al. 2022, section 4 (what a layer keeps, sequence parallelism, and what recomputation
saves); Patarasuk and Yuan 2009 (bytes round a ring).
"""

import dataclasses
import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from helpers import validation
from helpers.parallel.traffic import bytes_sent
from helpers.parallel.workload import Machine, Work

WAYS = ("ddp", "fsdp", "tensor", "ring")
DIVIDE_NUMBERS = ("fsdp", "tensor")
STEPS = 20  # of a fit; it takes about five


@dataclasses.dataclass(frozen=True)
class Cost:
    """A step on one device, the busiest where they differ.

    Attributes:
        compute: seconds.
        sending: seconds.
        sent: bytes.
        memory: bytes of "weights", "gradients", "optimizer", "activations" and
            "logits", at the end of a forward pass. It is the least: gradients on their
            way, and blocks that are fetched ahead, come on top.
        at_once: texts that the device reads before it goes back through them.
        recompute: whether blocks are computed again on the way back.
    """

    compute: float
    sending: float
    sent: float
    memory: dict[str, float]
    at_once: int
    recompute: bool

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


def estimate(
    work: Work,
    machine: Machine,
    devices: int,
    way: str,
    *,
    at_once: int | None = None,
    recompute: bool = False,
    sequence_parallel: bool = False,
) -> Cost:
    """What a step costs on so many devices.

    Args:
        work: a ``Work``.
        machine: a ``Machine``.
        devices: N; all take part in one training.
        way: "ddp": texts are divided, each device has the model. "fsdp": texts and
            numbers are divided, and each block is gathered when it is needed. "tensor":
            heads and hidden features of all blocks are divided, and so are both tables.
            "ring": each text's positions are divided, and each device has the model.
        at_once: texts that a device reads before it goes back through them; gradients
            of several such parts add up. Fewer take less memory, but "fsdp" sends all
            again for each part, and "tensor" and "ring" more messages. None: all of a
            device's texts.
        recompute: keep each block's input alone, and compute the rest of the block
            again on the way back.
        sequence_parallel: with "tensor", divide by positions what lies between the
            divided layers. Each sum becomes a reduce-scatter and an all-gather, of as
            many bytes; on the way back, the inputs are gathered once more.

    Returns:
        cost: a ``Cost``. A device that has no text or no position left over waits.

    Raises:
        ValueError: a number of devices or of texts below 1, for "tensor" devices that
            don't divide the heads (those of keys, too), for "ring" more devices than
            positions, another way, or sequence_parallel with one of these.
    """
    _require_divisible(work, devices, way, at_once)
    validation.require_booleans(
        recompute=recompute, sequence_parallel=sequence_parallel
    )
    if sequence_parallel and way != "tensor":
        raise ValueError(f"sequence_parallel needs the way 'tensor', got {way!r}")
    products, attention = work.operations
    if recompute:
        products, attention = products + work.again[0], attention + work.again[1]
    tokens = work.tokens
    if way in ("ddp", "fsdp"):
        tokens = math.ceil(work.batch / devices) * work.context_length
    elif way == "ring":
        tokens = work.batch * math.ceil(work.context_length / devices)
        attention *= 2 - 1 / devices  # the last part of a text meets all keys
    share = 1 / devices if way == "tensor" else 1.0
    operations = tokens * share * (products + attention)
    texts = _texts(work, devices, way)
    at_once = min(at_once or texts, texts)
    parts = math.ceil(texts / at_once)
    starts = work.layers * parts * (4 / 3 if recompute else 1)
    compute = operations / machine.operations + starts * machine.per_block
    held = work.numbers / (devices if way in DIVIDE_NUMBERS else 1)
    compute += held * machine.per_number
    sent, waiting = 0.0, 0
    for kind, payload, messages in _sendings(
        work, machine, devices, way, tokens, parts, recompute, sequence_parallel
    ):
        sent += bytes_sent(kind, payload, devices)
        waiting += messages
    sending = sent / machine.bandwidth + waiting * machine.latency
    tokens_at_once = at_once * (tokens // texts)
    memory = _memory(
        work, machine, devices, way, tokens_at_once, recompute, sequence_parallel
    )
    return Cost(compute, sending, sent, memory, at_once, recompute)


def quickest(
    work: Work, machine: Machine, devices: int, way: str, *, meanwhile: bool = False
) -> Cost | None:
    """The estimate that ends first of those that a device has room for.

    Args:
        work: a ``Work``.
        machine: a ``Machine``.
        devices: N.
        way: as for ``estimate``.
        meanwhile: whether all is sent while something is computed, or nothing is.

    Returns:
        cost: with or without recomputation, and with as many texts at once, 1, 2, 4 or
            more, as take the least time; None where not even a single text fits.
    """
    texts = _texts(work, devices, way)
    sizes = {min(2**n, texts) for n in range(texts.bit_length() + 1)}
    costs = [
        estimate(work, machine, devices, way, at_once=size, recompute=again)
        for size in sizes
        for again in (False, True)
    ]
    fitting = [one for one in costs if one.all_memory <= machine.memory]
    seconds = operator.attrgetter("least" if meanwhile else "most")
    return min(fitting, key=lambda one: (seconds(one), one.all_memory), default=None)


def _texts(work: Work, devices: int, way: str) -> int:
    """Texts of which a device reads at least a part."""
    return work.batch if way in ("tensor", "ring") else math.ceil(work.batch / devices)


def _require_divisible(work: Work, devices: int, way: str, at_once: int | None) -> None:
    """Something for each device to do, in a way that is known."""
    validation.require_integers(
        devices=devices, at_once=1 if at_once is None else at_once
    )
    if way not in WAYS:
        raise ValueError(f"way must be one of {', '.join(WAYS)}, got {way!r}")
    if way == "ring" and devices > work.context_length:
        raise ValueError(
            f"devices must be at most the {work.context_length} positions that 'ring' "
            f"divides, got {devices}"
        )
    heads = {"heads": work.heads, "heads of keys": work.kv_heads}
    for name, count in heads.items():
        if way == "tensor" and count and count % devices:
            raise ValueError(
                f"devices must divide the {count} {name} that 'tensor' shares, "
                f"got {devices}"
            )


def fitted(runs: Iterable[Mapping[str, Any]], memory: float = 8e9) -> Machine:
    """A machine from times of steps of one process, and of all-reduces of two.

    Args:
        runs: dicts with a "way" and its median "seconds". Those "alone" have "layers",
            "d_model", "context_length" and "batch"; those of "all_reduce" have "bytes".
            Others are left out.
        memory: bytes, which no time shows.

    Returns:
        machine: the ``Machine`` whose times are nearest, on a scale of logarithms:
            twice as long is as far off as half as long.

    Raises:
        ValueError: fewer than three runs alone or than two of all_reduce, or times that
            don't grow with what there is to do.
    """
    steps, sendings = [], []
    for run in runs:
        if run["way"] == "alone":
            work = work_of(run)
            operations = work.tokens * sum(work.operations)
            steps.append((operations, work.layers, work.numbers, run["seconds"]))
        elif run["way"] == "all_reduce":  # round two processes: two messages
            sendings.append((run["bytes"], 2, run["seconds"]))
    if len(steps) < 3 or len(sendings) < 2:
        raise ValueError(
            "runs must hold at least three alone and two of all_reduce, got "
            f"{len(steps)} and {len(sendings)}"
        )
    per_operation, per_block, per_number = _nearest(steps)
    per_byte, latency = _nearest(sendings)
    if not per_operation or not per_byte:
        what = "operations" if not per_operation else "bytes"
        raise ValueError(f"runs must take longer with more {what}, and they don't")
    return Machine(
        operations=1 / per_operation,
        bandwidth=1 / per_byte,
        latency=latency,
        memory=memory,
        per_block=per_block,
        per_number=per_number,
    )


def work_of(run: Mapping[str, Any], vocab_size: int = 65) -> Work:
    """The work of a recorded run, whose sizes it holds by their names."""
    names = ("layers", "d_model", "context_length", "batch")
    return Work(**{name: run[name] for name in names}, vocab_size=vocab_size)


def _nearest(rows: Sequence[tuple[float, ...]]) -> list[float]:
    """Factors, none below 0, whose sums' logarithms are nearest the last numbers'."""
    table = np.array(rows)
    amounts, times = table[:, :-1], table[:, -1]
    told = times
    for _ in range(STEPS):  # Gauss-Newton
        factors = _not_below_0(amounts / told[:, None], 1 + np.log(times / told))
        told = amounts @ factors
    return factors.tolist()


def _not_below_0(table: NDArray[Any], target: NDArray[Any]) -> NDArray[Any]:
    """The least squares' factors, none below 0; every choice of columns is tried."""
    scale = table.max(axis=0)
    factors, least = np.zeros(len(scale)), np.inf
    for which in itertools.product((False, True), repeat=len(scale)):
        used = np.array(which)
        part = table[:, used] / scale[used]
        found, *_ = np.linalg.lstsq(part, target, rcond=None)
        missed = np.linalg.norm(part @ found - target)
        if (found >= 0).all() and missed < least:
            factors, least = np.zeros(len(scale)), missed
            factors[used] = found / scale[used]
    return factors


def _sendings(
    work: Work,
    machine: Machine,
    devices: int,
    way: str,
    tokens: int,
    parts: int,
    recompute: bool,
    sequence_parallel: bool,
) -> Iterator[tuple[str, float, int]]:
    """Kinds of operations, their payload in a step, and messages one after another."""
    others = devices - 1
    if not others:
        return
    numbers = work.numbers * machine.bytes_each
    if way in ("ddp", "ring"):  # the gradients, once for all parts of the batch
        yield "all_reduce", numbers, 2 * others * work.layers
    if way == "fsdp":
        # Blocks forward and again backward, which recomputation shares; tables stay.
        gathered = (2 * work.block_numbers + work.table_numbers) * machine.bytes_each
        yield "all_gather", gathered * parts, 2 * others * work.layers * parts
        yield "reduce_scatter", numbers * parts, others * work.layers * parts
    elif way == "tensor":
        # After attention and after the MLP, forward and backward; after both tables.
        # Recomputing a block ends before the MLP's sum, which nothing waits for.
        sums = (5 if recompute else 4) * work.layers + 2
        payload = tokens * work.d_model * machine.bytes_each
        yield "all_reduce", sums * payload, 2 * others * sums * parts
        if sequence_parallel:  # the inputs of attention and of the MLP, or one of them
            gathers = (1 if recompute else 2) * work.layers
            yield "all_gather", gathers * payload, others * gathers * parts
    elif way == "ring":
        # Keys and values meet everybody, forward and backward; their gradients, of 32
        # bits, come home as well. Backward they travel side by side.
        rounds = 3 if recompute else 2
        each = 2 * rounds * others * machine.bytes_each
        each += 2 * devices * max(machine.bytes_each, 4)
        hops = (rounds - 1) * others + devices
        numbers = work.layers * tokens * work.kv_width
        yield "send", each * numbers, hops * work.layers * parts


def _memory(
    work: Work,
    machine: Machine,
    devices: int,
    way: str,
    tokens: int,
    recompute: bool,
    sequence_parallel: bool,
) -> dict[str, float]:
    """Bytes of what a device holds at the end of a forward pass."""
    held = work.numbers / (devices if way in DIVIDE_NUMBERS else 1)
    gathered = 0.0
    if way == "fsdp":  # one block, and the tables, which wait for the backward pass
        gathered = work.block_numbers / work.layers + work.table_numbers
        gathered *= 1 - 1 / devices
    activations = work.activations
    logits = 1.0 * work.vocab_size
    if way == "tensor":  # each block's ends and what its norms give stay whole
        activations, logits = 4 + (activations - 4) / devices, logits / devices
    first = 1.0  # a block's input
    if sequence_parallel:
        activations, first = work.activations / devices, 1 / devices
    if recompute:  # each block's input, and all of the one that is computed again
        activations = first + activations / work.layers
    return {
        "weights": (held + gathered) * machine.bytes_each,
        "gradients": held * machine.bytes_each,
        "optimizer": held * machine.bytes_kept,
        "activations": activations
        * work.layers
        * work.d_model
        * tokens
        * machine.bytes_each,
        # The loss keeps a logarithm of 32 bits for each token that might come next.
        "logits": logits * tokens * max(machine.bytes_each, 4),
    }
