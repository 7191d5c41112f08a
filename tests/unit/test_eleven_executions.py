"""One model, executed in eleven ways: logits, loss and gradients are the same."""

import math

import pytest
import torch

from helpers.models.kv_cache import KVCache
from helpers.models.language_model import TransformerLM
from helpers.models.switches import attending_with
from helpers.models.transformer_block import BlockAttention, TransformerConfig
from helpers.parallel.processes import run
from helpers.tiles.flash import flash_attention
from helpers.tiles.online_softmax import nothing_seen, see_more
from tests.samples import in_processes
from tests.samples.in_processes import VOCAB, C, H, T, batch, model, total_loss

pytestmark = pytest.mark.usefixtures("one_thread")
H_KV = 2
OPTIONS = {"positions": "rotary", "num_kv_heads": H_KV}


def require_same(found, expected):
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.fixture(scope="module")
def naive():
    """Logits, loss and gradients, with every weight computed."""
    made = model(**OPTIONS)
    for layer in made.modules():
        if isinstance(layer, BlockAttention):
            layer.fused = False
    return trained(made)


def trained(made):
    ids, targets = batch()
    logits = made(ids)
    total, count = total_loss(logits, targets)
    (total / count).backward()
    gradients = {name: one.grad for name, one in made.named_parameters()}
    assert all(one.abs().max() > 0 for one in gradients.values())
    return {
        "logits": logits.detach(),
        "loss": (total / count).detach(),
        "gradients": gradients,
    }


def one_key_at_a_time(queries, keys, values, *, causal, window, sinks):
    """Online softmax, with pieces of a single key."""
    S, D = keys.shape[-2:]
    seen, places = nothing_seen(queries, D), torch.arange(S)
    for key in range(S):
        scores = queries @ keys[..., key, :, None] / math.sqrt(D)
        scores = scores.masked_fill((places < key)[:, None], -math.inf)
        seen = see_more(seen, scores, values[..., key, None, :])
    return seen.context


def in_tiles(queries, keys, values, **options):
    return flash_attention(queries, keys, values, tile=3, **options)


def test_fused(naive):
    require_same(trained(model(**OPTIONS)), naive)


@pytest.mark.parametrize("core", [one_key_at_a_time, in_tiles])
def test_online_softmax_and_tiles(naive, core):
    made = model(**OPTIONS)
    with attending_with(made, core):
        require_same(trained(made), naive)


def test_cached(naive):
    made, (ids, _) = model(**OPTIONS), batch()
    cache = KVCache(made)
    with torch.no_grad():
        parts = [made(part, cache=cache) for part in ids.split((3, 1, 1, 2, 1), dim=1)]
    require_same(torch.cat(parts, dim=1), naive["logits"])


def test_shared_heads_written_out(naive):
    """A head of keys for each of the queries: copies, whose gradients add up."""
    made = model(**OPTIONS)
    config = TransformerConfig(VOCAB, T, C, H, 2, positions="rotary")
    expanded = TransformerLM(config).double()
    weights = made.state_dict()
    shared = [one for one in weights if "W_key" in one or "W_value" in one]
    for name in shared:
        heads = weights[name].unflatten(0, (H_KV, -1))  # (H_kv, D, C)
        weights[name] = heads.repeat_interleave(H // H_KV, dim=0).flatten(0, 1)
    expanded.load_state_dict(weights)
    found = trained(expanded)
    for name in shared:
        copies = found["gradients"][name].unflatten(0, (H_KV, H // H_KV, -1))
        found["gradients"][name] = copies.sum(dim=1).flatten(0, 1)
    require_same(found, naive)


def test_a_window_as_wide_as_the_text(naive):
    require_same(trained(model(**OPTIONS, window=T)), naive)


@pytest.mark.slow
def test_on_several_processes(naive):
    """DDP, FSDP, heads over processes, and positions round a ring."""
    for process in run(in_processes.execute, 2, OPTIONS):
        assert list(process) == ["alone", "DDP", "FSDP", "tensor parallel", "ring"]
        for found in process.values():
            require_same(*found["logits"])
            for part in ("loss", "gradients"):
                require_same(found[part], naive[part])
