"""Functions that tests run in other processes, which have to find them in a file."""

import itertools
import os
import pathlib
import signal
import time
from unittest import mock

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh

from helpers.attention import causal_mask, scaled_dot_product_attention
from helpers.models.transformer_block import Block, TransformerConfig
from helpers.parallel import (
    data_parallel,
    executions,
    ring,
    shards,
    tensor_parallel,
    traffic,
)

T, VOCAB, C, H = 8, 12, 16, 4  # halves of all but the rows are whole


def meet(number):
    """Each rank, the number of processes, and a sum over them."""
    total = torch.tensor(float(number + dist.get_rank()))
    dist.all_reduce(total)
    return {"rank": dist.get_rank(), "sum": total, "threads": torch.get_num_threads()}


def fail():
    """The second process raises, while the first waits for it."""
    if dist.get_rank() == 1:
        raise KeyError("the second process knows no such name")
    dist.barrier()


def leave():
    """Every process ends as a program does that is done."""
    raise SystemExit(0)


def give_a_layer():
    """Something that can't be read back safely."""
    return nn.Linear(2, 3)


def die():
    """The second process is killed, while the first is busy with something else."""
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def wait(folder):
    """Leave a file of the process's number, and don't end."""
    (folder / str(os.getpid())).touch()
    time.sleep(60)


# --- traffic --------------------------------------------------------------------------

MUCH = 400_000_000  # bytes of one tensor


def send_much():
    """Bytes that the machine sends itself for a large tensor, by what is done to it."""
    whole = torch.ones(MUCH // 4)
    part = torch.empty(len(whole) // dist.get_world_size())
    operations = {
        "all_reduce": lambda: dist.all_reduce(whole),
        "all_gather": lambda: dist.all_gather_into_tensor(whole, part),
        "reduce_scatter": lambda: dist.reduce_scatter_tensor(part, whole),
    }
    found = {}
    for name, operation in operations.items():
        dist.barrier()
        before = sent_to_itself()
        operation()
        dist.barrier()
        found[name] = sent_to_itself() - before
    return found


def sent_to_itself():
    """Bytes that the loopback has taken since the machine was started; of Linux."""
    lines = pathlib.Path("/proc/net/dev").read_text().splitlines()
    (loopback,) = (line for line in lines if line.lstrip().startswith("lo:"))
    return int(loopback.partition(":")[2].split()[8])


# --- data parallel --------------------------------------------------------------------


def train_in_all_ways():
    """One step alone and shared, and with weights that only the first process has."""
    ways = ("PyTorch's fused kernel", "by hand", "DDP", "FSDP")
    return {
        str(dtype): {
            way: executions.execute(way, dtype=dtype, positions="learned")
            for way in ways
        }
        for dtype in (torch.float64, torch.float32)
    }


def share_weights():
    """The weights of all processes, once they have the first one's."""
    torch.manual_seed(dist.get_rank())
    layer = nn.BatchNorm1d(3)
    nn.init.normal_(layer.weight)
    nn.init.normal_(layer.running_mean)
    before = layer.weight.detach().clone()
    data_parallel.share_weights(layer)
    return before, layer.weight.detach(), layer.running_mean


# --- ring -----------------------------------------------------------------------------


def rings_beside_whole(length):
    """Both kinds of attention, keys that heads share, 16 bits; and what is refused."""
    kinds = itertools.product((False, True), (6, 2, 1))
    found = [ring_beside_whole(length, *kind) for kind in kinds]
    short = ring_beside_whole(length, True, 2, torch.bfloat16)
    uneven = torch.zeros(4, 2), torch.zeros(6, 2), torch.zeros(6, 2)
    ungrouped = torch.zeros(4, 3, 2), torch.zeros(3, 3, 2), torch.zeros(3, 3, 2)
    refused = [
        message_of(lambda given=given: ring.ring_attention(*given))
        for given in (uneven, ungrouped)
    ]
    once = [torch.zeros(4, 2, requires_grad=True) for _ in range(3)]
    context = ring.ring_attention(*once)
    try:
        torch.autograd.grad(context.sum(), once[0], create_graph=True)
    except RuntimeError as error:
        refused.append(str(error))
    return {"rings": found, "in 16 bits": short, "refused": refused}


def ring_beside_whole(length, causal, kv_heads, dtype=torch.float64):
    """Contexts and gradients of this process's positions, by both."""
    generator = torch.Generator().manual_seed(2)
    sizes = ((6, 4), (kv_heads, 4), (kv_heads, 5), (6, 5))  # heads, and their widths
    *inputs, gradient = (
        torch.randn(2, heads, length, width, generator=generator).to(dtype)
        for heads, width in sizes
    )
    wide = torch.promote_types(dtype, torch.float32)
    wholes = [one.to(wide).requires_grad_() for one in inputs]
    repeated = [one.repeat_interleave(6 // kv_heads, dim=1) for one in wholes[1:]]
    mask = causal_mask(length) if causal else None
    expected, _ = scaled_dot_product_attention(wholes[0], *repeated, mask=mask)
    whole_gradients = torch.autograd.grad(expected, wholes, gradient.to(wide))

    def own(one):
        return one.detach().chunk(dist.get_world_size(), -2)[dist.get_rank()]

    # As a layer's are, whose heads stand behind the positions in memory.
    parts = [
        own(one).transpose(1, 2).contiguous().transpose(1, 2).requires_grad_()
        for one in inputs
    ]
    with traffic.counted() as forward:
        context = ring.ring_attention(*parts, causal=causal, tile=3)
    with traffic.counted() as backward:
        found = torch.autograd.grad(context, parts, own(gradient))
    pairs = [
        (context.detach(), own(expected)),
        *zip(found, map(own, whole_gradients), strict=True),
    ]
    return {
        "pairs": [(ours.contiguous(), theirs.to(dtype)) for ours, theirs in pairs],
        "bytes of keys and values": sum(one.nbytes for one in parts[1:]),
        "payloads": (forward.payload, backward.payload),
    }


class NotedWork:
    """Transfers whose end is noted when it is waited for."""

    def __init__(self, works, note):
        self.works, self.note = works, note

    def wait(self):
        self.note("wait")
        for one in self.works:
            one.wait()


def order_in_a_ring():
    """What a process begins, computes and waits for, forward and backward."""
    begin, noted = dist.batch_isend_irecv, []

    def walked(walk):
        return lambda *given: noted.append("walk") or walk(*given)

    def begun(operations):
        noted.append("send")
        return [NotedWork(begin(operations), noted.append)]

    given = [torch.randn(2, 3, 4, requires_grad=True) for _ in range(3)]
    with (
        mock.patch.object(dist, "batch_isend_irecv", begun),
        mock.patch.object(ring, "walk_forward", walked(ring.walk_forward)),
        mock.patch.object(ring, "walk_backward", walked(ring.walk_backward)),
    ):
        context = ring.ring_attention(*given)
        forward = " ".join(noted)
        noted.clear()
        context.sum().backward()
    return forward, " ".join(noted)


# --- tensor parallel ------------------------------------------------------------------


def block(**options):
    """The same block in every process, no number of it 0 or 1."""
    torch.manual_seed(0)
    made = Block(TransformerConfig(VOCAB, T, C, H, 1, **options)).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) / 4)
    return made


def parallel_beside_whole(options):
    """A block's output, its input's gradient and its parameters', by both."""
    whole = block(**options)
    spread = tensor_parallel.parallelize_block(whole)
    generator = torch.Generator().manual_seed(3)
    x, gradient = torch.randn(2, 2, T, C, generator=generator, dtype=torch.float64)
    pairs, inputs = {}, [x.clone().requires_grad_() for _ in range(2)]
    with traffic.counted() as counts:
        outputs = [one(x) for one, x in zip((whole, spread), inputs, strict=True)]
        for output in outputs:
            output.backward(gradient)
    pairs["output"] = [one.detach() for one in outputs]
    pairs["input"] = [one.grad for one in inputs]
    theirs = dict(whole.named_parameters())
    for name, parameter in spread.named_parameters():
        wanted = theirs[name].grad
        for dim, (own, all_of_it) in enumerate(
            zip(parameter.shape, wanted.shape, strict=True)
        ):
            if own < all_of_it:
                wanted = wanted.chunk(dist.get_world_size(), dim)[dist.get_rank()]
        pairs[name] = [wanted.clone(), parameter.grad]
    return {"pairs": pairs, "calls": counts.calls, "payload": counts.payload}


def parallel_model_beside_whole(options):
    """A model's logits and gradients, whole and by parallelize_module."""
    ids, targets = executions.make_batch()
    whole, spread = (executions.make_model(**options) for _ in range(2))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    tensor_parallel.parallelize_by_pytorch(spread, mesh)
    for one in (whole, spread):
        total, count = executions.total_loss(one(ids), targets)
        (total / count).backward()
    theirs = dict(whole.named_parameters())
    return {
        name: [theirs[name].grad, shards.full_tensor(ours.grad)]
        for name, ours in spread.named_parameters()
    }


def spread_all(options):
    """Blocks by hand, models by PyTorch, and what is said where neither can."""
    three_heads = Block(TransformerConfig(VOCAB, T, 12, 3, 1))
    refused = (
        lambda: tensor_parallel.parallelize_block(three_heads),
        lambda: tensor_parallel.parallelize_block(block(mlp=False)),
        lambda: tensor_parallel.columnwise(nn.Linear(4, 3)),
        lambda: data_parallel.own_rows(torch.zeros(1, T)),
    )
    return {
        "by hand": [parallel_beside_whole(one) for one in options],
        "by PyTorch": [
            parallel_model_beside_whole(one) for one in options if "qk_norm" not in one
        ],
        "refused": [message_of(call) for call in refused],
    }


def message_of(call):
    """What a call says of its bad input."""
    try:
        call()
    except ValueError as error:
        return str(error)
