"""How long attention and generation take, and how much memory attention holds."""

import functools
import statistics

import torch
import torch.nn.functional as F
from torch import nn

from helpers.attention import causal_mask, scaled_dot_product_attention
from helpers.models.generation import generate
from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.notebook.memory import peak_bytes
from helpers.tiles.flash import flash_attention
from tests.benchmarks.rounds import in_words, ratio, seconds_in_rounds

B, H, D = 2, 4, 32
C = H * D
KERNEL = "PyTorch's fused kernel"
LENGTHS = (128, 512, 2048)
LENGTHS_OF_A_GPU = (*LENGTHS, 8192, 32_768)


def ways_to_attend(T, device, dtype):
    """Causal attention of queries, keys and values (B, H, T, D), by name."""
    ours = functools.partial(flash_attention, causal=True)
    wide = functools.partial(ours, tile=1024)

    def explicit(queries, keys, values):
        mask = causal_mask(T, device=device)
        return scaled_dot_product_attention(queries, keys, values, mask=mask)[0]

    def windowed(queries, keys, values):
        return ours(queries, keys, values, window=256)

    theirs = nn.MultiheadAttention(C, H, batch_first=True, device=device, dtype=dtype)

    def layer(queries, keys, values):
        x = queries.transpose(1, 2).flatten(2)
        barred = ~causal_mask(T, device=device)  # there, True = may not attend
        return theirs(x, x, x, attn_mask=barred, is_causal=True, need_weights=False)[0]

    return {
        KERNEL: functools.partial(F.scaled_dot_product_attention, is_causal=True),
        "explicit": explicit,
        "in tiles of 256": ours,
        "in tiles of 1024": wide,
        "in tiles, window of 256": windowed,
        "nn.MultiheadAttention, the layer": layer,
    }


def bench_attention(device):
    """Seconds and memory, forward and backward, beside PyTorch's kernel."""
    for dtype in (torch.float32, torch.bfloat16):
        print(f"attention, forward and backward: B {B}, H {H}, D {D}", end=", ")
        print(f"{str(dtype).removeprefix('torch.')}, on {device}")
        for T in LENGTHS_OF_A_GPU if device.type == "cuda" else LENGTHS:
            _bench_length(T, device, dtype)


def _bench_length(T, device, dtype):
    inputs = [
        torch.randn(B, H, T, D, device=device, dtype=dtype, requires_grad=True)
        for _ in range(3)
    ]
    runs, memory = {}, {}
    for name, attend in ways_to_attend(T, device, dtype).items():
        runs[name] = functools.partial(_forward_and_backward, attend, inputs)
        try:
            memory[name] = peak_bytes(runs[name], device)
        except torch.OutOfMemoryError:
            print(f"  T {T:6}  more memory than there is   {name}")
            del runs[name]
    seconds = seconds_in_rounds(runs, device)
    for name, taken in seconds.items():
        print(
            f"  T {T:6} {1000 * statistics.median(taken):9.2f} ms "
            f"{memory[name] / 1e6:9.1f} MB  {name}: "
            f"{in_words(ratio(seconds, name, KERNEL))}"
        )


def _forward_and_backward(attend, inputs):
    torch.autograd.grad(attend(*inputs).sum(), inputs, allow_unused=True)


def bench_generation(device):
    """Characters per second, with and without the keys and values kept."""
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=64, context_length=256, d_model=64, num_heads=4, num_layers=2
    )
    model = TransformerLM(config).to(device).eval()
    prompt = torch.zeros(1, 1, dtype=torch.int64)
    new = config.context_length - 1
    write = functools.partial(generate, model, prompt, new, temperature=0)
    ways = {
        "without cache": functools.partial(write, use_cache=False),
        "with cache": functools.partial(write, use_cache=True),
    }
    print(f"generation up to context {config.context_length}, on {device}")
    seconds = seconds_in_rounds(ways, device)
    for name, taken in seconds.items():
        speed = new / statistics.median(taken)
        faster = in_words(ratio(seconds, "without cache", name))
        print(f"  {speed:8.0f} characters/s  {name}: {faster}")
