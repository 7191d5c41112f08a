"""The processes that train one model: one alone, or several that share each batch.

All of them draw the same batch from the same generator, and each computes some of its
rows. So several processes train what one would train, but for the order of sums, and
for dropout, which each draws on its own.
"""

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn

from helpers.models.transformer_block import Block
from helpers.parallel import data_parallel
from helpers.parallel.shards import full_tensor, shard_like
from helpers.text.batches import NOTHING

STRATEGIES = ("ddp", "fsdp")


class Team:
    """A process that trains alone, and what is the same for several.

    Args:
        model: an ``nn.Module`` on its device.

    Attributes:
        module: what is trained: its parameters, its state and its modes.
        called: what maps ids to logits, and sends whatever has to be sent.
    """

    rank, processes = 0, 1

    def __init__(self, model: nn.Module) -> None:
        self.model = self.module = self.called = model

    def share(self, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """This process's rows of a batch, at least one."""
        return inputs, targets

    def totals(self, *numbers: float) -> list[float]:
        """Sums of numbers over all processes."""
        return list(numbers)

    def everyones(self, value: Any) -> list[Any]:
        """A value of each process, in the order of the ranks."""
        return [value]

    def first(self, value: Any) -> Any:
        """The value of the first process."""
        return value

    def weights(self) -> dict[str, Tensor]:
        """The whole state of the model, in each process; tied tensors stay tied."""
        return self.module.state_dict()

    def take_over(self) -> None:
        """The model has got other weights: train these."""

    def give_back(self) -> None:
        """The training is over: the model gets what was trained."""


class _Several(Team):
    """What both ways of spreading share."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model)
        self.rank, self.processes = dist.get_rank(), dist.get_world_size()
        data_parallel.share_weights(model)

    def share(self, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        # Whoever has no row left must still call the model, which others wait for.
        missing = max(0, self.processes - len(inputs))
        inputs = torch.cat((inputs, inputs[:1].expand(missing, -1)))
        targets = F.pad(targets, (0, 0, 0, missing), value=NOTHING)
        return data_parallel.own_rows(inputs), data_parallel.own_rows(targets)

    def totals(self, *numbers: float) -> list[float]:
        device = next(self.model.parameters()).device
        summed = torch.tensor(numbers, dtype=torch.float64, device=device)
        dist.all_reduce(summed)
        found: list[float] = summed.tolist()
        return found

    def everyones(self, value: Any) -> list[Any]:
        return _gathered(value)

    def first(self, value: Any) -> Any:
        values = [value]
        dist.broadcast_object_list(values)
        return values[0]


class _Replicas(_Several):
    """Each process has the whole model; gradients are averaged on their way."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model)
        self.called = data_parallel.replicas(model)


class _Shards(_Several):
    """Each process keeps a part of each weight, and gathers a block when it computes.

    PyTorch changes a model that it shards for good. So a copy is sharded, and the model
    gets the trained weights at the end.
    """

    def __init__(self, model: nn.Module) -> None:
        super().__init__(model)
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh(next(model.parameters()).device.type, (self.processes,))
        self.module = self.called = copy.deepcopy(model)
        for block in [one for one in self.module.modules() if isinstance(one, Block)]:
            fully_shard(block, mesh=mesh)
        fully_shard(self.module, mesh=mesh)

    def weights(self) -> dict[str, Tensor]:
        found: dict[int, Tensor] = {}
        state = self.module.state_dict(keep_vars=True)
        for tensor in state.values():
            if id(tensor) not in found:
                found[id(tensor)] = full_tensor(tensor.detach())
        return {name: found[id(tensor)] for name, tensor in state.items()}

    def take_over(self) -> None:
        given = self.model.state_dict()
        state = self.module.state_dict()
        self.module.load_state_dict(
            {name: shard_like(given[name], tensor) for name, tensor in state.items()}
        )

    def give_back(self) -> None:
        self.model.load_state_dict(self.weights())


def make_team(
    model: nn.Module, strategy: str | None, must_agree: Mapping[str, Any]
) -> Team:
    """The processes that train a model together.

    Args:
        model: an ``nn.Module`` on its device; all get the first process's weights.
        strategy: None for this process alone, "ddp" or "fsdp".
        must_agree: what has to be the same in all processes, by name.

    Raises:
        ValueError: another name, no other processes to share the work with, or
            processes that differ in something; it is raised in all of them.
    """
    if strategy is None:
        return Team(model)
    if strategy not in STRATEGIES:
        raise ValueError(
            f"strategy must be None or one of {', '.join(STRATEGIES)}, got {strategy!r}"
        )
    if not dist.is_available() or not dist.is_initialized():
        raise ValueError(
            f"strategy={strategy!r} needs processes that know each other: start them "
            "with torchrun -m helpers.training, or with helpers.parallel.processes.run"
        )
    # Before weights are sent: if their shapes differ, PyTorch aborts the processes.
    _require_agreement({**must_agree, "strategy": strategy})
    return _Replicas(model) if strategy == "ddp" else _Shards(model)


def difference(
    one: Mapping[str, Any], other: Mapping[str, Any], names: Iterable[str]
) -> tuple[str, str, str] | None:
    """The first of some names with two values, and both in words; None without any."""
    for name in names:
        known = name in one and name in other
        if not known or one[name] != other[name]:
            here, there = (
                repr(of[name]) if name in of else "missing" for of in (one, other)
            )
            return name, here, there
    return None


def _require_agreement(own: dict[str, Any]) -> None:
    first, *others = _gathered(own)
    for rank, theirs in enumerate(others, 1):
        if found := difference(first, theirs, [*first, *theirs]):
            name, one, other = found
            raise ValueError(
                f"all processes must train with the same arguments, but {name} is "
                f"{one} in process 0 and {other} in process {rank}"
            )


def _gathered(value: Any) -> list[Any]:
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values


def full_state(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    """An optimizer's state with whole tensors, also where the weights are sharded."""
    found = optimizer.state_dict()
    state = {
        number: {name: _if_tensor(full_tensor, value) for name, value in one.items()}
        for number, one in found["state"].items()
    }
    return found | {"state": state}


def load_full_state(optimizer: torch.optim.Optimizer, saved: dict[str, Any]) -> None:
    """Take over a state with whole tensors, sharded as the weights are."""
    state = {number: dict(one) for number, one in saved["state"].items()}
    for number, parameter in enumerate(_parameters(optimizer)):
        for name, value in state.get(number, {}).items():
            if isinstance(value, Tensor) and value.shape == parameter.shape:
                state[number][name] = shard_like(value, parameter)
    optimizer.load_state_dict(saved | {"state": state})


def _if_tensor(change: Any, value: Any) -> Any:
    return change(value) if isinstance(value, Tensor) else value


def _parameters(optimizer: torch.optim.Optimizer) -> Iterator[Tensor]:
    for group in optimizer.param_groups:
        yield from group["params"]
