"""Functions that tests run in other processes, which have to find them in a file."""

import contextlib
import os
import signal

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from helpers.attention import causal_mask, scaled_dot_product_attention
from helpers.models.language_model import TransformerLM
from helpers.models.switches import attending_with
from helpers.models.transformer_block import Block, TransformerConfig
from helpers.parallel import data_parallel, ring, tensor_parallel, traffic

B, T, VOCAB, C, H = 5, 8, 12, 16, 4  # halves of all but the rows are whole


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


def die():
    """The second process is killed, while the first waits for it."""
    if dist.get_rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.barrier()


# --- data parallel --------------------------------------------------------------------


def model(dtype=torch.float64, **options):
    """The same model in every process."""
    torch.manual_seed(0)
    config = TransformerConfig(VOCAB, T, C, H, 2, **options)
    return TransformerLM(config).to(dtype)


def batch():
    """Ids and targets (B, T); rows have different numbers of targets."""
    generator = torch.Generator().manual_seed(1)
    ids, targets = torch.randint(VOCAB, (2, B, T), generator=generator)
    for row, length in enumerate((8, 1, 5, 2, 7)):
        targets[row, length:] = -100
    return ids, targets


def total_loss(logits, targets):
    """The sum over targets, and their number."""
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
    return loss, int((targets >= 0).sum())


def gradients(module):
    """By name; what FSDP has spread comes together."""
    found = {}
    for name, parameter in module.named_parameters():
        gradient = parameter.grad
        whole = getattr(gradient, "full_tensor", lambda g=gradient: g)()
        found[name.removeprefix("module.")] = whole
    return found


def own_part(way, whole):
    """What this process reads of a batch: rows, positions, or all of it."""
    if way in ("by hand", "DDP", "FSDP"):
        return data_parallel.own_rows(whole)
    if way == "ring":
        return whole.chunk(dist.get_world_size(), dim=1)[dist.get_rank()]
    return whole


def made_ready(plain, way):
    """A model that computes in this way."""
    everyone = (dist.get_world_size(),)
    if way == "by hand":
        if dist.get_rank() > 0:  # as if it had been drawn otherwise
            nn.init.zeros_(plain.head.weight)
        data_parallel.share_weights(plain)
    elif way == "DDP":
        return DistributedDataParallel(plain, broadcast_buffers=False)
    elif way == "FSDP":
        mesh = init_device_mesh("cpu", everyone)
        for one in plain.blocks:
            fully_shard(one, mesh=mesh)
        fully_shard(plain, mesh=mesh)
    elif way == "tensor parallel":
        tensor_parallel.spread_by_pytorch(plain, init_device_mesh("cpu", everyone))
    return plain


def round_the_ring(queries, keys, values, *, causal, window, sinks):
    """A core for the layers of a model whose text is spread over processes."""
    assert window is None
    assert sinks == 0
    return ring.ring_attention(queries, keys, values, causal=causal, tile=3)


def train_once(way, **options):
    """Logits, loss and gradients of one step, and what was sent for it."""
    ids, targets = batch()
    with torch.no_grad():
        expected = own_part(way, model(**options)(ids))
    ids, targets = own_part(way, ids), own_part(way, targets)
    ready, start = made_ready(model(**options), way), {}
    with contextlib.ExitStack() as stack:
        if way == "ring":
            start = {"start": dist.get_rank() * ids.shape[1]}
            stack.enter_context(attending_with(ready, round_the_ring))
        counts = stack.enter_context(traffic.counted())
        logits = ready(ids, **start)
        total, count = total_loss(logits, targets)
        is_whole = way in ("alone", "tensor parallel")
        loss = total / count
        if not is_whole:
            loss = data_parallel.everyones_mean(total, count)
        loss.backward()
        if way in ("by hand", "ring"):
            data_parallel.average_gradients(ready.parameters())
    mean = loss.detach().clone()
    if not is_whole:
        dist.all_reduce(mean)
        mean /= dist.get_world_size()
    return {
        "logits": (logits.detach().clone(), expected.clone()),
        "loss": mean,
        "gradients": gradients(ready),
        "calls": counts.calls,
        "payload": counts.payload,
    }


def train_in_all_ways():
    """One step alone, by hand, with DDP and with FSDP, in two types of numbers."""
    ways = ("alone", "by hand", "DDP", "FSDP")
    return {
        str(dtype): {way: train_once(way, dtype=dtype) for way in ways}
        for dtype in (torch.float64, torch.float32)
    }


def execute(options):
    """One model in four ways that need several processes."""
    ways = ("alone", "DDP", "FSDP", "tensor parallel", "ring")
    return {way: train_once(way, **options) for way in ways}


# --- ring -----------------------------------------------------------------------------


def rings_beside_whole(length):
    """Both kinds of attention, and what is said of other lengths."""
    found = [ring_beside_whole(length, causal) for causal in (False, True)]
    uneven = torch.zeros(4, 2), torch.zeros(6, 2), torch.zeros(6, 2)
    return found, message_of(lambda: ring.ring_attention(*uneven))


def ring_beside_whole(length, causal):
    """Contexts and gradients of this process's positions, by both."""
    generator = torch.Generator().manual_seed(2)
    shape = (2, 3, length, 4)
    wholes = [
        torch.randn(shape, generator=generator, dtype=torch.float64) for _ in range(4)
    ]
    gradient = wholes.pop()
    for one in wholes:
        one.requires_grad_()
    mask = causal_mask(length) if causal else None
    expected, _ = scaled_dot_product_attention(*wholes, mask=mask)
    whole_gradients = torch.autograd.grad(expected, wholes, gradient)

    def own(one):
        return one.detach().chunk(dist.get_world_size(), -2)[dist.get_rank()]

    parts = [own(one).clone().requires_grad_() for one in wholes]
    with traffic.counted() as counts:
        context = ring.ring_attention(*parts, causal=causal, tile=3)
        found = torch.autograd.grad(context, parts, own(gradient))
    pairs = [
        (context.detach(), own(expected)),
        *zip(found, map(own, whole_gradients), strict=True),
    ]
    return {
        "pairs": [(ours.contiguous(), theirs.clone()) for ours, theirs in pairs],
        "calls": counts.calls,
        "payload": counts.payload,
    }


# --- tensor parallel ------------------------------------------------------------------


def block(**options):
    """The same block in every process, no number of it 0 or 1."""
    torch.manual_seed(0)
    made = Block(TransformerConfig(VOCAB, T, C, H, 1, **options)).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.add_(torch.randn_like(parameter) / 4)
    return made


def spread_beside_whole(options):
    """A block's output, its input's gradient and its parameters', by both."""
    whole = block(**options)
    spread = tensor_parallel.spread_block(whole)
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


def spread_model_beside_whole(options):
    """A model's logits and gradients, whole and by parallelize_module."""
    ids, targets = batch()
    whole, spread = model(**options), model(**options)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    tensor_parallel.spread_by_pytorch(spread, mesh)
    for one in (whole, spread):
        total, count = total_loss(one(ids), targets)
        (total / count).backward()
    ours, theirs = gradients(spread), gradients(whole)
    return {name: [theirs[name], ours[name]] for name in theirs}


def spread_all(options):
    """Blocks by hand, models by PyTorch, and what is said where neither can."""
    three_heads = Block(TransformerConfig(VOCAB, T, 12, 3, 1))
    refused = (
        lambda: tensor_parallel.spread_block(three_heads),
        lambda: tensor_parallel.spread_block(block(mlp=False)),
        lambda: tensor_parallel.columnwise(nn.Linear(4, 3)),
        lambda: data_parallel.own_rows(torch.zeros(1, T)),
    )
    return {
        "by hand": [spread_beside_whole(one) for one in options],
        "by PyTorch": [
            spread_model_beside_whole(one) for one in options if "qk_norm" not in one
        ],
        "refused": [message_of(call) for call in refused],
    }


def message_of(call):
    """What a call says of its bad input."""
    try:
        call()
    except ValueError as error:
        return str(error)
