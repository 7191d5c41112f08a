"""fla-core: the functions in plain PyTorch that its kernels are tested against.

``import fla`` needs Triton. The files of these functions don't, and are read alone.
"""

import functools
import importlib.util
import sys

import torch.nn.functional as F
from torch import nn

from public_layers.layer import D_MODEL, NUM_HEADS, NUM_KV_HEADS, WINDOW, Layer

PACKAGE = "fla-core"


@functools.cache
def naive(name):
    """The module ``fla.ops.<name>.naive``, without the packages around it."""
    folders = importlib.util.find_spec("fla").submodule_search_locations
    places = [f"{folder}/ops/{name}" for folder in folders]
    found = (
        finder.find_spec(f"fla.ops.{name}.naive", places) for finder in sys.meta_path
    )
    spec = next(filter(None, found))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Adapter(nn.Module):
    """Projections around a function of (B, T, H, D) queries, keys and values.

    Args:
        attend: a function (layer, queries, keys, values, x, state) that gives the
            context and the new state.
        num_kv_heads: of keys and values.
        num_gates: how many numbers of each token and head the function also takes.
    """

    def __init__(self, attend, num_kv_heads, num_gates):
        super().__init__()
        self.attend, D = attend, D_MODEL // NUM_HEADS
        self.widths = [D_MODEL, num_kv_heads * D, num_kv_heads * D]
        self.qkv = nn.Linear(D_MODEL, sum(self.widths), bias=False)
        self.gates = nn.Linear(D_MODEL, num_gates * NUM_HEADS) if num_gates else None
        self.out_proj = nn.Linear(D_MODEL, D_MODEL, bias=False)

    def forward(self, x):
        return self.call(x)[0]

    def call(self, x, state=None):
        D = D_MODEL // NUM_HEADS
        parts = self.qkv(x).split(self.widths, dim=-1)
        heads = [part.unflatten(-1, (-1, D)) for part in parts]
        context, state = self.attend(self, *heads, x, state)
        return self.out_proj(context.to(x.dtype).flatten(2)), state

    def strength(self, x):
        """(B, T, H), each in (0, 1)."""
        return self.gates(x)[..., :NUM_HEADS].sigmoid()

    def decay(self, x):
        """(B, T, H), the logarithm of what is kept of earlier tokens."""
        return F.logsigmoid(self.gates(x)[..., -NUM_HEADS:])


def linear(layer, queries, keys, values, x, state):
    """Normalised linear attention with features ELU + 1, token by token."""
    attend = naive("linear_attn").naive_recurrent_linear_attn
    features = F.elu(queries) + 1, F.elu(keys) + 1
    return attend(*features, values, None, state, True, normalize=True)


def chunked(layer, queries, keys, values, x, state):
    """The same in chunks of 64, to which the text is padded at its end."""
    T, attend = x.shape[1], naive("linear_attn").naive_chunk_linear_attn
    features = F.elu(queries) + 1, F.elu(keys) + 1
    parts = (F.pad(part, (0, 0, 0, 0, 0, -T % 64)) for part in (*features, values))
    return attend(*parts, normalize=True)[:, :T], None


def retention(layer, queries, keys, values, x, state):
    """RetNet's, without its rotation."""
    parts = (part.transpose(1, 2) for part in (queries, keys, values))
    return naive("retention").naive_retention(*parts).transpose(1, 2), None


def delta_rule(layer, queries, keys, values, x, state):
    strength = layer.strength(x).transpose(1, 2)
    keys = F.normalize(keys, dim=-1)
    parts = (part.transpose(1, 2) for part in (queries, keys, values))
    attend = naive("delta_rule").delta_rule_recurrence
    context, state = attend(*parts, strength, state)
    return context.transpose(1, 2), state


def gated_delta_rule(layer, queries, keys, values, x, state):
    keys = F.normalize(keys, dim=-1)
    attend = naive("gated_delta_rule").naive_recurrent_gated_delta_rule
    gates = layer.strength(x), layer.decay(x)
    return attend(queries, keys, values, *gates, None, state, True)


def gated(layer, queries, keys, values, x, state):
    """Gated linear attention: each feature of a key has its own decay."""
    decay = F.logsigmoid(keys)
    attend = naive("gla").naive_recurrent_gla
    return attend(queries, keys, values, decay, state, True)


def simply_gated(layer, queries, keys, values, x, state):
    """The same with one decay for each head."""
    attend = naive("simple_gla").naive_recurrent_simple_gla
    return attend(queries, keys, values, layer.decay(x), None, state)


def attention(layer, queries, keys, values, x, state):
    attend = naive("attn").naive_parallel_attn
    return attend(queries, keys, values, window_size=WINDOW)[0], None


def forgetting(layer, queries, keys, values, x, state):
    """Softmax attention, whose scores lose the decays between two tokens."""
    attend = naive("forgetting_attn").naive_forgetting_attn
    return attend(queries, keys, values, layer.decay(x)), None


def step(module, x, state):
    """Feed x behind the state of earlier calls."""
    return module.call(x, state)


def layer(name, attend, *, gates=0, **declared):
    """A Layer of this package."""
    num_kv_heads = declared.get("num_kv_heads", NUM_HEADS)
    make = functools.partial(Adapter, attend, num_kv_heads, gates)
    return Layer(name, PACKAGE, make, {"num_heads": NUM_HEADS, **declared})


STATE = {"softmax": False, "step": step}
ORDERED = {**STATE, "positions": True}
GROUPED = {"num_kv_heads": NUM_KV_HEADS}
LAYERS = [
    layer("fla, linear", linear, **STATE),
    layer("fla, linear in chunks", chunked, softmax=False),
    layer("fla, retention", retention, softmax=False, positions="relative"),
    layer("fla, delta rule", delta_rule, gates=1, **ORDERED),
    layer("fla, gated delta rule", gated_delta_rule, gates=2, **ORDERED),
    layer("fla, gated", gated, **ORDERED),
    layer("fla, simply gated", simply_gated, gates=1, **ORDERED),
    layer("fla, attention", attention, window=WINDOW, **GROUPED),
    layer("fla, forgetting", forgetting, gates=1, positions=True, **GROUPED),
]
