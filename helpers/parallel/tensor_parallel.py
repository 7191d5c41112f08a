"""A block whose heads and hidden features are spread over processes, by hand.

Each process multiplies by some columns of the first matrix and by the matching rows of
the second. What the second gives are parts of a sum, and one all-reduce adds them up:
one for attention, one for the MLP.
"""

import copy
from typing import Any, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import Replicate
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    ParallelStyle,
    PrepareModuleInput,
    RowwiseParallel,
    parallelize_module,
)

from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import Block, BlockAttention, GatedMLP


class _ToEach(torch.autograd.Function):
    """Hands every process the same input; on the way back, their gradients add up."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        gradient = gradient.clone()
        dist.all_reduce(gradient)
        return gradient


class _AddUp(torch.autograd.Function):
    """Adds up the parts of all processes; on the way back, each gets the gradient."""

    @staticmethod
    def forward(ctx: Any, part: Tensor) -> Tensor:
        whole = part.clone()
        dist.all_reduce(whole)
        return whole

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient


class RowwiseLinear(nn.Module):
    """A linear layer whose input features are spread over processes.

    Args:
        layer: an ``nn.Linear``; it is left as it was.

    Source: Shoeybi et al. 2019, section 3.
    """

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        self.weight = nn.Parameter(_own(layer.weight, dim=1))
        # Added once, behind the sum.
        self.bias = None if layer.bias is None else nn.Parameter(layer.bias.detach())

    def forward(self, part: Tensor) -> Tensor:
        """(..., C_in / N) in each of N processes to (..., C_out), the same in all."""
        whole: Tensor = _AddUp.apply(part @ self.weight.mT)
        return whole if self.bias is None else whole + self.bias


def parallelize_block(block: Block) -> Block:
    """This process's part of a block: some of its heads, some of its hidden features.

    Norms stay whole. So each process gets the block's whole output, and in training the
    gradients of its own columns and rows, and of all norms and last biases.

    Args:
        block: a Block with an MLP and without dropout, the same in all processes; it
            is left as it was.

    Returns:
        block: another Block, with 1 / N of the matrices.

    Raises:
        ValueError: heads, heads of keys or hidden features that N doesn't divide, a
            block without an MLP, with dropout, or whose memory has a fixed size.

    Source: Shoeybi et al. 2019, section 3. Built by hand in "Dividing a layer, and a
    text".
    """
    if block.mlp is None or block.dropout.p > 0:
        raise ValueError("block must have an MLP and no dropout")
    spread = copy.deepcopy(block)
    attention = _with_softmax(spread)
    _share_heads(attention, dist.get_world_size())
    for name in _projections(attention):
        setattr(attention, name, columnwise(getattr(attention, name)))
    attention.out_proj = cast(nn.Linear, RowwiseLinear(attention.out_proj))
    for norm in (attention.query_norm, attention.key_norm):
        if norm is not None:  # each process sees its own heads' part of the gradient
            norm.weight.register_hook(_summed)
    first, last = _ends_of(spread.mlp)
    for owner, name in first:
        setattr(owner, name, columnwise(getattr(owner, name)))
    setattr(*last, RowwiseLinear(getattr(*last)))
    for layer in (attention, cast(nn.Module, spread.mlp)):
        layer.register_forward_pre_hook(_to_each)
    return spread


def parallelize_by_pytorch(model: TransformerLM, mesh: DeviceMesh) -> None:
    """The same for all blocks of a model, by PyTorch's ``parallelize_module``.

    It is told that layers share an input, whose gradients then are summed once: else it
    would sum those of queries, keys and values apart.

    Args:
        model: without QK-norm and dropout, the same in all processes; it is changed.
        mesh: one axis, of all processes.

    Raises:
        ValueError: heads or heads of keys that the number of processes doesn't divide,
            or blocks whose memory has a fixed size.
    """
    for module in model.blocks:
        block = cast(Block, module)
        attention = _with_softmax(block)
        _share_heads(attention, mesh.size())
        plan: dict[str, ParallelStyle] = {"attention.out_proj": RowwiseParallel()}
        for name in _projections(attention):
            plan[f"attention.{name}"] = ColwiseParallel()
        gated = isinstance(block.mlp, GatedMLP)
        for name in ("gate", "up") if gated else ("0",):
            plan[f"mlp.{name}"] = ColwiseParallel()
        plan["mlp.down" if gated else "mlp.2"] = RowwiseParallel()
        for name in ("attention", "mlp"):
            plan[name] = PrepareModuleInput(
                input_layouts=(Replicate(),), desired_input_layouts=(Replicate(),)
            )
        parallelize_module(block, mesh, plan)


def columnwise(layer: nn.Linear) -> nn.Linear:
    """This process's output features of a linear layer, as a layer of its own.

    Raises:
        ValueError: features that the number of processes doesn't divide.
    """
    weight = _own(layer.weight, dim=0)
    own = nn.Linear(weight.shape[1], weight.shape[0], bias=layer.bias is not None)
    own = own.to(weight)
    own.weight = nn.Parameter(weight)
    if layer.bias is not None:
        own.bias = nn.Parameter(_own(layer.bias, dim=0))
    return own


def _own(whole: Tensor, dim: int) -> Tensor:
    """This process's part of a tensor along an axis."""
    processes = dist.get_world_size()
    if whole.shape[dim] % processes:
        raise ValueError(
            f"{whole.shape[dim]} features can't be shared by {processes} processes"
        )
    return whole.detach().chunk(processes, dim)[dist.get_rank()].clone()


def _with_softmax(block: Block) -> BlockAttention:
    """A block's attention, where it is of the kind whose heads can be shared out."""
    if not isinstance(block.attention, BlockAttention):
        raise ValueError(
            "block must have attention with softmax, got "
            f"{type(block.attention).__name__}"
        )
    return block.attention


def _share_heads(attention: BlockAttention, processes: int) -> None:
    """Each process has so many times fewer heads."""
    for name in ("num_heads", "num_kv_heads"):
        count = getattr(attention, name)
        if count % processes:
            raise ValueError(
                f"{processes} processes can't share {name} = {count} equally"
            )
        setattr(attention, name, count // processes)


def _projections(attention: BlockAttention) -> list[str]:
    """The layers whose columns belong to heads."""
    names = ("W_query", "W_key", "W_value", "gate")
    return [name for name in names if getattr(attention, name) is not None]


def _ends_of(mlp: nn.Module | None) -> tuple[list[tuple[Any, str]], tuple[Any, str]]:
    """Where the first layers of an MLP stand, and where the last."""
    if isinstance(mlp, GatedMLP):
        return [(mlp, "gate"), (mlp, "up")], (mlp, "down")
    return [(mlp, "0")], (mlp, "2")


def _to_each(_: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    return (_ToEach.apply(inputs[0]), *inputs[1:])


def _summed(gradient: Tensor) -> Tensor:
    gradient = gradient.clone()
    dist.all_reduce(gradient)
    return gradient
