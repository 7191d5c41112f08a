"""How long attention and generation take."""

import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn

from helpers.attention import MultiHeadAttention, causal_mask
from helpers.models.generation import generate
from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig

B, C, H = 8, 128, 4
REPEATS = 7


def median_seconds(run, device):
    """The median time of one call, after one call to warm up."""
    taken = []
    for _ in range(REPEATS + 1):
        started = time.perf_counter()
        run()
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        taken.append(time.perf_counter() - started)
    return statistics.median(taken[1:])


def attention_layers(T, device):
    """Causal layers of one size, by name: each maps (B, T, C) to (B, T, C)."""
    ours = MultiHeadAttention(C, C, T, 0.0, H).to(device)
    fused = MultiHeadAttention(C, C, T, 0.0, H, fused=True).to(device)
    theirs = nn.MultiheadAttention(C, H, batch_first=True).to(device)
    barred = ~causal_mask(T, device=device)  # there, True = may not attend

    def kernel_alone(x):
        heads = x.view(B, T, H, C // H).transpose(1, 2)
        return F.scaled_dot_product_attention(heads, heads, heads, is_causal=True)

    return {
        "explicit": ours,
        "fused": fused,
        "nn.MultiheadAttention": lambda x: theirs(
            x, x, x, attn_mask=barred, is_causal=True, need_weights=False
        )[0],
        "F.scaled_dot_product_attention alone": kernel_alone,
    }


def bench_attention(device):
    """Forward and backward of one causal layer."""
    print(f"attention, forward and backward: B {B}, C {C}, H {H}, on {device}")
    for T in (64, 256, 1024):
        x = torch.randn(B, T, C).to(device).requires_grad_()
        times = {
            name: median_seconds(lambda run=run, x=x: run(x).sum().backward(), device)
            for name, run in attention_layers(T, device).items()
        }
        for name, seconds in times.items():
            ratio = seconds / times["nn.MultiheadAttention"]
            print(f"  T {T:4}  {1000 * seconds:8.2f} ms  x {ratio:5.2f}  {name}")


def bench_generation(device):
    """Characters per second, with and without the keys and values kept."""
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=64, context_length=256, d_model=64, num_heads=4, num_layers=2
    )
    model = TransformerLM(config).to(device).eval()
    prompt = torch.zeros(1, 1, dtype=torch.int64)
    new = config.context_length - 1
    print(f"generation up to context {config.context_length}, on {device}")
    speeds = {}
    for use_cache in (False, True):
        options = {"temperature": 0, "use_cache": use_cache}
        seconds = median_seconds(
            lambda options=options: generate(model, prompt, new, **options), device
        )
        speeds[use_cache] = new / seconds
        name = "with" if use_cache else "without"
        ratio = speeds[use_cache] / speeds[False]
        print(f"  {speeds[use_cache]:8.0f} characters/s  x {ratio:5.2f}  {name} cache")
