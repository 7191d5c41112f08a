"""Attention layers of serving and training code, right and wrong, for scoring an audit tool.

Caches, padding on both sides, packed documents, windows, grouped queries, chunked
and online softmax, sinks, checkpoints, state dicts, dtypes, devices, modes.
The docstring of each layer begins with "right:" or "wrong:"; a wrong one has one bug.
"""

import math
from functools import lru_cache

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

LAYERS = []


# What owners declare for padding, caches and documents.


def padded_real(module, x, real):
    return module(x, real=real)


def padded_kpm(module, x, real):
    return module(x, key_padding_mask=~real)


def padded_ones(module, x, real):
    return module(x, attention_mask=real.long())


def step_cache(module, x, cache):
    return module(x, cache=cache)


def step_real(module, x, cache, real=None):
    return module(x, cache=cache, real=real)


def step_past(module, x, cache):
    return module(x, layer_past=cache)


def step_state(module, x, cache):
    return module.step(x, cache)


def by_ids(module, x, ids):
    return module(x, ids=ids)


# Helpers, as files of layers have them.


def split(x, n):
    B, T, C = x.shape
    return x.view(B, T, n, C // n).transpose(1, 2)


def merge(x):
    B, H, T, D = x.shape
    return x.transpose(1, 2).reshape(B, T, H * D)


def angles(pos, D, base=10000.0):
    inv = base ** (-torch.arange(0, D, 2, device=pos.device, dtype=torch.float32) / D)
    a = pos[..., None].float() * inv
    return torch.cat([a, a], -1)


def rotate_half(x):
    a, b = x.chunk(2, -1)
    return torch.cat([-b, a], -1)


def rope(x, pos, base=10000.0):
    a = angles(pos, x.shape[-1], base)
    if a.dim() == 3:
        a = a[:, None]
    return x * a.cos().to(x.dtype) + rotate_half(x) * a.sin().to(x.dtype)


def keep_mask(t, S, device, window=None):
    i = torch.arange(S - t, S, device=device)[:, None]
    j = torch.arange(S, device=device)[None]
    keep = j <= i
    if window is not None:
        keep = keep & (j > i - window)
    return keep


def diagonal(t, S, device):
    return torch.arange(S, device=device)[None] == torch.arange(S - t, S, device=device)[:, None]


def alibi_slopes(n):
    def power(n):
        start = 2.0 ** (-8.0 / n)
        return [start ** (i + 1) for i in range(n)]

    if math.log2(n).is_integer():
        return torch.tensor(power(n))
    near = 2 ** math.floor(math.log2(n))
    return torch.tensor(power(near) + power(2 * near)[0::2][: n - near])


class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d))
        self.eps = eps

    def forward(self, x):
        y = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)
        return y.to(x.dtype) * self.weight


# ---------------------------------------------------------------- right ones


class NanoGPT(nn.Module):
    """right: nanoGPT's causal self-attention with a fused projection, a mask buffer and two dropouts."""

    def __init__(self):
        super().__init__()
        self.n_head, self.n_embd = 4, 32
        self.c_attn = nn.Linear(32, 96, bias=False)
        self.c_proj = nn.Linear(32, 32, bias=False)
        self.attn_dropout, self.resid_dropout = nn.Dropout(0.1), nn.Dropout(0.1)
        self.register_buffer("bias", torch.tril(torch.ones(64, 64)).view(1, 1, 64, 64))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        y = (att @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


LAYERS.append({"layer": NanoGPT, "d_in": 32, "context_length": 10, "options": {"dropout": 0.1}})


class LlamaServing(nn.Module):
    """right: Llama's grouped queries with rotary positions, a tuple cache, padding on both sides and softmax in float32."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.head_dim = 4, 2, 8
        self.q_proj = nn.Linear(32, 32, bias=False)
        self.k_proj = nn.Linear(32, 16, bias=False)
        self.v_proj = nn.Linear(32, 16, bias=False)
        self.o_proj = nn.Linear(32, 32, bias=False)

    def forward(self, x, real=None, cache=None):
        B, T, _ = x.shape
        past = 0 if cache is None else cache[0].shape[2]
        pos = torch.arange(past, past + T, device=x.device)
        q = rope(split(self.q_proj(x), 4), pos)
        k = rope(split(self.k_proj(x), 2), pos)
        v = split(self.v_proj(x), 2)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        S = k.shape[2]
        keep = keep_mask(T, S, x.device)[None, None]
        if real is not None:
            keep = (keep & real[:, None, None, :]) | diagonal(T, S, x.device)
        kk, vv = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        s = q @ kk.transpose(2, 3) / math.sqrt(self.head_dim)
        s = s.masked_fill(~keep, torch.finfo(s.dtype).min)
        w = F.softmax(s, dim=-1, dtype=torch.float32).to(q.dtype)
        return self.o_proj(merge(w @ vv)), (k, v)


LAYERS.append({"layer": LlamaServing, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "padding": padded_real, "step": step_real}})


class BertSelf(nn.Module):
    """right: BERT's self-attention with an additive mask made from ones and zeros."""

    def __init__(self):
        super().__init__()
        self.num_attention_heads, self.attention_head_size = 4, 6
        self.query, self.key, self.value = nn.Linear(24, 24), nn.Linear(24, 24), nn.Linear(24, 24)
        self.dense = nn.Linear(24, 24)
        self.dropout = nn.Dropout(0.1)

    def forward(self, hidden, attention_mask=None):
        q, k, v = (split(f(hidden), 4) for f in (self.query, self.key, self.value))
        s = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            m = attention_mask[:, None, None, :].to(s.dtype)
            s = s + (1.0 - m) * torch.finfo(s.dtype).min
        p = self.dropout(nn.functional.softmax(s, dim=-1))
        return self.dense(merge(torch.matmul(p, v)))


LAYERS.append({"layer": BertSelf, "d_in": 24, "context_length": 9, "options": {
    "causal": False, "dropout": 0.1, "padding": padded_ones}})


class GPT2Past(nn.Module):
    """right: GPT-2 with Conv1D weights, layer_past and a mask cut to the last rows."""

    def __init__(self):
        super().__init__()
        self.n_head = 3
        self.w_attn = nn.Parameter(torch.randn(24, 72) * 0.2)
        self.b_attn = nn.Parameter(torch.zeros(72))
        self.w_proj = nn.Parameter(torch.randn(24, 24) * 0.2)
        self.b_proj = nn.Parameter(torch.zeros(24))
        self.register_buffer("bias", torch.tril(torch.ones(64, 64, dtype=torch.bool)), persistent=False)

    def forward(self, x, layer_past=None):
        q, k, v = torch.matmul(x, self.w_attn).add(self.b_attn).split(24, dim=-1)
        q, k, v = split(q, 3), split(k, 3), split(v, 3)
        if layer_past is not None:
            k = torch.cat((layer_past[0], k), dim=-2)
            v = torch.cat((layer_past[1], v), dim=-2)
        nd, ns = q.size(-2), k.size(-2)
        w = torch.matmul(q, k.transpose(-1, -2)) / (v.size(-1) ** 0.5)
        w = torch.where(self.bias[ns - nd:ns, :ns], w, torch.full([], torch.finfo(w.dtype).min, dtype=w.dtype, device=w.device))
        a = torch.matmul(w.softmax(-1), v)
        return torch.matmul(merge(a), self.w_proj) + self.b_proj, torch.stack((k, v))


LAYERS.append({"layer": GPT2Past, "d_in": 24, "context_length": 10, "options": {"step": step_past}})


def t5_bucket(rel, bidirectional, num_buckets=8, max_distance=16):
    out = torch.zeros_like(rel)
    n = -rel
    if bidirectional:
        num_buckets //= 2
        out = out + (n < 0).long() * num_buckets
        n = n.abs()
    else:
        n = n.clamp(min=0)
    exact = num_buckets // 2
    large = exact + (torch.log(n.float().clamp(min=1) / exact) / math.log(max_distance / exact)
                     * (num_buckets - exact)).long()
    return out + torch.where(n < exact, n, large.clamp(max=num_buckets - 1))


class T5Encoder(nn.Module):
    """right: T5's encoder attention without a scale, with bucketed relative bias and a padding mask."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.d_kv = 4, 6
        self.q, self.k, self.v = (nn.Linear(32, 24, bias=False) for _ in range(3))
        self.o = nn.Linear(24, 32, bias=False)
        self.relative_attention_bias = nn.Embedding(8, 4)

    def forward(self, x, real=None):
        T = x.shape[1]
        i = torch.arange(T, device=x.device)
        bias = self.relative_attention_bias(t5_bucket(i[None] - i[:, None], True)).permute(2, 0, 1)[None]
        s = torch.einsum("bhid,bhjd->bhij", split(self.q(x), 4), split(self.k(x), 4)) + bias
        if real is not None:
            s = s.masked_fill(~real[:, None, None], torch.finfo(s.dtype).min)
        return self.o(merge(s.softmax(-1) @ split(self.v(x), 4)))


LAYERS.append({"layer": T5Encoder, "d_in": 32, "context_length": 10, "options": {
    "causal": False, "positions": "relative", "scale": 1.0, "padding": padded_real}})


class T5Decoder(nn.Module):
    """right: T5's decoder attention with relative bias for the last rows where a cache is given."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv = nn.Linear(32, 96, bias=False)
        self.o = nn.Linear(32, 32, bias=False)
        self.rel = nn.Embedding(8, 4)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        T, S = q.shape[2], k.shape[2]
        i, j = torch.arange(S - T, S, device=x.device), torch.arange(S, device=x.device)
        bias = self.rel(t5_bucket(j[None] - i[:, None], False)).permute(2, 0, 1)[None]
        s = q @ k.mT + bias
        s = s.masked_fill(j[None] > i[:, None], float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": T5Decoder, "d_in": 32, "context_length": 10, "options": {
    "positions": "relative", "scale": 1.0, "step": step_cache}})


class MistralRolling(nn.Module):
    """right: Mistral's window with a rolling cache of the last W - 1 keys, already rotated."""

    W = 4

    def __init__(self):
        super().__init__()
        self.n_heads, self.n_kv_heads = 4, 2
        self.wq, self.wk = nn.Linear(32, 32, bias=False), nn.Linear(32, 16, bias=False)
        self.wv, self.wo = nn.Linear(32, 16, bias=False), nn.Linear(32, 32, bias=False)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = 0 if cache is None else cache[2]
        pos = torch.arange(seen, seen + T, device=x.device)
        q, k, v = rope(split(self.wq(x), 4), pos), rope(split(self.wk(x), 2), pos), split(self.wv(x), 2)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        keep = keep_mask(T, k.shape[2], x.device, self.W)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=keep, enable_gqa=True)
        n = self.W - 1
        return self.wo(merge(out)), (k[:, :, -n:], v[:, :, -n:], seen + T)


LAYERS.append({"layer": MistralRolling, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "window": 4, "positions": "rotary", "step": step_cache}})


class GemmaSoftcap(nn.Module):
    """right: Gemma 2's attention with soft-capped scores, the mask after the cap, and its own scale."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_key_value_heads = 4, 2
        self.q_proj, self.kv_proj = nn.Linear(24, 32, bias=False), nn.Linear(24, 32, bias=False)
        self.o_proj = nn.Linear(32, 24, bias=False)
        self.cap, self.scaling = 30.0, 24 ** -0.5

    def forward(self, x, cache=None):
        k, v = (split(y, 2) for y in self.kv_proj(x).chunk(2, -1))
        past = 0 if cache is None else cache[0].shape[2]
        pos = torch.arange(past, past + x.shape[1], device=x.device)
        q, k = rope(split(self.q_proj(x), 4), pos), rope(k, pos)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        s = q @ k.repeat_interleave(2, 1).mT * self.scaling
        s = torch.tanh(s / self.cap) * self.cap
        s = s.masked_fill(~keep_mask(q.shape[2], k.shape[2], x.device), float("-inf"))
        return self.o_proj(merge(s.softmax(-1) @ v.repeat_interleave(2, 1))), (k, v)


LAYERS.append({"layer": GemmaSoftcap, "d_in": 24, "context_length": 9, "options": {
    "num_kv_heads": 2, "positions": "rotary", "scale": 24 ** -0.5, "softmax": False, "step": step_cache}})


class TimmViT(nn.Module):
    """right: timm's Attention with LayerNorm on queries and keys, fused, for images."""

    def __init__(self, dim=36, num_heads=6):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.scale = self.head_dim ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=True)
        self.q_norm, self.k_norm = nn.LayerNorm(self.head_dim), nn.LayerNorm(self.head_dim)
        self.attn_drop, self.proj, self.proj_drop = nn.Dropout(0.0), nn.Linear(dim, dim), nn.Dropout(0.0)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.0)
        x = x.transpose(1, 2).reshape(B, N, C)
        return self.proj_drop(self.proj(x))


LAYERS.append({"layer": TimmViT, "d_in": 36, "context_length": 9, "options": {"causal": False, "compiled": True}})


class MemoryKV(nn.Module):
    """right: x-transformers' learned memory keys and values before a causal sequence."""

    def __init__(self, dim=24, heads=4, mem=2):
        super().__init__()
        self.heads, self.mem = heads, mem
        self.to_q, self.to_kv = nn.Linear(dim, dim, bias=False), nn.Linear(dim, 2 * dim, bias=False)
        self.mem_k = nn.Parameter(torch.randn(heads, mem, dim // heads))
        self.mem_v = nn.Parameter(torch.randn(heads, mem, dim // heads))
        self.to_out = nn.Linear(dim, dim, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        q = split(self.to_q(x), self.heads)
        k, v = (split(y, self.heads) for y in self.to_kv(x).chunk(2, -1))
        k = torch.cat((self.mem_k.expand(B, -1, -1, -1), k), 2)
        v = torch.cat((self.mem_v.expand(B, -1, -1, -1), v), 2)
        mask = F.pad(torch.ones(T, T, dtype=torch.bool, device=x.device).tril(), (self.mem, 0), value=True)
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        attn = sim.masked_fill(~mask, -torch.finfo(sim.dtype).max).softmax(-1)
        return self.to_out(merge(attn @ v))


LAYERS.append({"layer": MemoryKV, "d_in": 24, "context_length": 9, "options": {}})


class OssSinks(nn.Module):
    """right: gpt-oss's learned sink logits with grouped queries, a window and a whole cache."""

    def __init__(self):
        super().__init__()
        self.num_attention_heads, self.num_key_value_heads, self.sliding_window = 4, 2, 5
        self.qkv = nn.Linear(32, 64)
        self.out = nn.Linear(32, 32)
        self.sinks = nn.Parameter(torch.randn(4))

    def forward(self, x, cache=None):
        q, k, v = self.qkv(x).split([32, 16, 16], -1)
        q, k, v = split(q, 4), split(k, 2), split(v, 2)
        past = 0 if cache is None else cache[0].shape[2]
        pos = torch.arange(past, past + x.shape[1], device=x.device)
        q, k = rope(q, pos, 150000.0), rope(k, pos, 150000.0)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        B, H, T, D = q.shape
        qg = q.reshape(B, 2, 2, T, D)
        s = torch.einsum("bgrtd,bgsd->bgrts", qg, k) / math.sqrt(D)
        s = s.masked_fill(~keep_mask(T, k.shape[2], x.device, self.sliding_window), float("-inf"))
        sink = self.sinks.view(1, 2, 2, 1, 1).expand(B, -1, -1, T, 1)
        w = torch.cat([s, sink], -1).softmax(-1)[..., :-1]
        o = torch.einsum("bgrts,bgsd->bgrtd", w, v).reshape(B, H, T, D)
        return self.out(merge(o)), (k, v)


LAYERS.append({"layer": OssSinks, "d_in": 32, "context_length": 11, "options": {
    "num_kv_heads": 2, "window": 5, "positions": "rotary", "step": step_cache}})


class WrappedMHA(nn.Module):
    """right: nn.MultiheadAttention as an encoder with key_padding_mask."""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(24, 4, dropout=0.1, batch_first=True)

    def forward(self, x, key_padding_mask=None):
        return self.attn(x, x, x, key_padding_mask=key_padding_mask, need_weights=False)[0]


LAYERS.append({"layer": WrappedMHA, "d_in": 24, "context_length": 9, "options": {
    "causal": False, "num_heads": 4, "dropout": 0.1, "padding": padded_kpm}})


class WrappedCausalMHA(nn.Module):
    """right: nn.MultiheadAttention, time first inside, with a causal mask and each head's weights returned."""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4)

    def forward(self, x):
        y = x.transpose(0, 1)
        T = y.shape[0]
        mask = torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        y, w = self.attn(y, y, y, attn_mask=mask, average_attn_weights=False)
        return y.transpose(0, 1), w


LAYERS.append({"layer": WrappedCausalMHA, "d_in": 16, "context_length": 9, "options": {"num_heads": 4}})


class EinsumHeads(nn.Module):
    """right: parameters per head, all einsum, values wider than keys, an odd size and no bias."""

    def __init__(self):
        super().__init__()
        self.wq = nn.Parameter(torch.randn(3, 15, 5) / 4)
        self.wk = nn.Parameter(torch.randn(3, 15, 5) / 4)
        self.wv = nn.Parameter(torch.randn(3, 15, 7) / 4)
        self.wo = nn.Parameter(torch.randn(3, 7, 15) / 4)

    def forward(self, x):
        q = torch.einsum("btc,hcd->bthd", x, self.wq)
        k = torch.einsum("btc,hcd->bthd", x, self.wk)
        v = torch.einsum("btc,hcd->bthd", x, self.wv)
        s = torch.einsum("bihd,bjhd->bhij", q, k) / 5 ** 0.5
        T = x.shape[1]
        s = s + torch.full((T, T), float("-inf"), dtype=x.dtype, device=x.device).triu(1)
        return torch.einsum("bhij,bjhd,hdc->bic", s.softmax(-1), v, self.wo)


LAYERS.append({"layer": EinsumHeads, "d_in": 15, "context_length": 9, "options": {"num_heads": 3}})


class BloomAlibi(nn.Module):
    """right: BLOOM's ALiBi as a row of slopes times key positions, with a cache."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.query_key_value, self.dense = nn.Linear(32, 96), nn.Linear(32, 32)
        self.register_buffer("slopes", alibi_slopes(4), persistent=False)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q, k, v = self.query_key_value(x).view(B, T, 4, 3, 8).permute(3, 0, 2, 1, 4)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        S = k.shape[2]
        alibi = self.slopes[:, None, None] * torch.arange(S, device=x.device)
        s = (q @ k.mT) * 8 ** -0.5 + alibi.to(q.dtype)
        s = s.masked_fill(~keep_mask(T, S, x.device), torch.finfo(s.dtype).min)
        return self.dense(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": BloomAlibi, "d_in": 32, "context_length": 10, "options": {"positions": "alibi", "step": step_cache}})


class AlibiSix(nn.Module):
    """right: ALiBi with 6 heads, with padding, through SDPA's additive mask."""

    def __init__(self):
        super().__init__()
        self.n_heads = 6
        self.qkv, self.out = nn.Linear(36, 108, bias=False), nn.Linear(36, 36, bias=False)
        self.register_buffer("slopes", alibi_slopes(6))

    def forward(self, x, real=None):
        T = x.shape[1]
        q, k, v = (split(y, 6) for y in self.qkv(x).chunk(3, -1))
        i = torch.arange(T, device=x.device)
        bias = (i[None] - i[:, None]).to(x.dtype) * self.slopes.to(x.dtype)[:, None, None]
        hide = (i[None] > i[:, None])[None, None]
        if real is not None:
            hide = (hide | ~real[:, None, None, :]) & (i[None] != i[:, None])
        bias = bias[None].masked_fill(hide, float("-inf"))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=bias)))


LAYERS.append({"layer": AlibiSix, "d_in": 36, "context_length": 10, "options": {"positions": "alibi", "padding": padded_real}})


class LinearElu(nn.Module):
    """right: causal linear attention with elu and a little more than 1, a running sum for keys times values and one for keys."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        q, k = F.elu(q) + 1.001, F.elu(k) + 1.001
        kv = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(2)
        z = k.cumsum(2)
        if cache is not None:
            kv, z = kv + cache[0][:, :, None], z + cache[1][:, :, None]
        num = torch.einsum("bhtd,bhtde->bhte", q, kv)
        den = torch.einsum("bhtd,bhtd->bht", q, z)[..., None]
        return self.out(merge(num / den)), (kv[:, :, -1], z[:, :, -1])


LAYERS.append({"layer": LinearElu, "d_in": 24, "context_length": 9, "options": {"softmax": False, "step": step_cache}})


class Retention(nn.Module):
    """right: retention with a decay per head, parallel over a piece and recurrent between pieces."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.out = nn.Linear(24, 72, bias=False), nn.Linear(24, 24, bias=False)
        self.register_buffer("gamma", 1 - 2.0 ** (-2 - torch.arange(3.0)))

    def forward(self, x, cache=None):
        q, k, v = (split(y, 3) for y in self.qkv(x).chunk(3, -1))
        k = k * 8 ** -0.5
        T = x.shape[1]
        i = torch.arange(T, device=x.device)
        g = self.gamma[:, None, None].to(x.dtype)
        d = torch.where(i[:, None] >= i[None], g ** (i[:, None] - i[None]).clamp(min=0), 0.0)
        o = (q @ k.mT * d) @ v
        new = (k * (g ** (T - 1 - i)[:, None])).mT @ v
        if cache is not None:
            o = o + (q * g ** (i + 1)[:, None]) @ cache
            new = new + cache * g ** T
        return self.out(merge(F.rms_norm(o, (8,), eps=1e-6))), new


LAYERS.append({"layer": Retention, "d_in": 24, "context_length": 9, "options": {
    "softmax": False, "positions": True, "step": step_cache}})


class Qwen3(nn.Module):
    """right: Qwen 3's attention with RMSNorm on queries and keys, a head width of its own, a large base, and caches of rotated keys."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.head_dim = 6, 3, 6
        self.q_proj, self.k_proj = nn.Linear(32, 36, bias=False), nn.Linear(32, 18, bias=False)
        self.v_proj, self.o_proj = nn.Linear(32, 18, bias=False), nn.Linear(36, 32, bias=False)
        self.q_norm, self.k_norm = RMSNorm(6), RMSNorm(6)

    def forward(self, x, real=None, cache=None):
        past = 0 if cache is None else cache["k"].shape[2]
        T = x.shape[1]
        pos = torch.arange(T, device=x.device) + past
        q = rope(self.q_norm(split(self.q_proj(x), 6)), pos, 1e6)
        k = rope(self.k_norm(split(self.k_proj(x), 3)), pos, 1e6)
        v = split(self.v_proj(x), 3)
        if cache is not None:
            k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
        S = k.shape[2]
        keep = keep_mask(T, S, x.device)[None, None]
        if real is not None:
            keep = (keep & real[:, None, None]) | diagonal(T, S, x.device)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep, enable_gqa=True)
        return self.o_proj(merge(y)), {"k": k, "v": v}


LAYERS.append({"layer": Qwen3, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 3, "positions": "rotary", "padding": padded_real, "step": step_real}})


class GatedHeads(nn.Module):
    """right: a sigmoid gate made from the token itself on each head's context, fused SDPA with is_causal."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.gate, self.out = nn.Linear(32, 96), nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        y = merge(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return self.out(y * torch.sigmoid(self.gate(x)))


LAYERS.append({"layer": GatedHeads, "d_in": 32, "context_length": 9, "options": {"compiled": True}})


class LatentMLA(nn.Module):
    """right: DeepSeek's latent attention; the cache holds normed latents and one rotated key for all heads."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.nope, self.rot = 4, 6, 4
        self.wq = nn.Linear(32, 40, bias=False)
        self.wkv_a = nn.Linear(32, 16, bias=False)
        self.kv_norm = RMSNorm(12)
        self.wkv_b = nn.Linear(12, 48, bias=False)
        self.wo = nn.Linear(24, 32, bias=False)

    def forward(self, x, cache=None):
        past = 0 if cache is None else cache[0].shape[1]
        T = x.shape[1]
        pos = torch.arange(past, past + T, device=x.device)
        qn, qr = split(self.wq(x), 4).split([6, 4], -1)
        c, kr = self.wkv_a(x).split([12, 4], -1)
        c, kr = self.kv_norm(c), rope(kr, pos)
        if cache is not None:
            c, kr = torch.cat([cache[0], c], 1), torch.cat([cache[1], kr], 1)
        kn, v = split(self.wkv_b(c), 4).chunk(2, -1)
        q = torch.cat([qn, rope(qr, pos)], -1)
        k = torch.cat([kn, kr[:, None].expand(-1, 4, -1, -1)], -1)
        s = q @ k.mT * 10 ** -0.5
        s = s.masked_fill(~keep_mask(T, c.shape[1], x.device), float("-inf"))
        return self.wo(merge(s.softmax(-1) @ v)), (c, kr)


LAYERS.append({"layer": LatentMLA, "d_in": 32, "context_length": 10, "options": {"positions": "rotary", "step": step_cache}})


class PackedDocuments(nn.Module):
    """right: packed documents kept apart by a mask of equal ids, rotary positions."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96, bias=False), nn.Linear(32, 32, bias=False)

    def forward(self, x, ids=None):
        T = x.shape[1]
        pos = torch.arange(T, device=x.device)
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        keep = (pos[None] <= pos[:, None])[None, None]
        if ids is not None:
            keep = keep & (ids[:, None, :, None] == ids[:, None, None, :])
        return self.out(merge(F.scaled_dot_product_attention(rope(q, pos), rope(k, pos), v, attn_mask=keep)))


LAYERS.append({"layer": PackedDocuments, "d_in": 32, "context_length": 10, "options": {"positions": "rotary", "documents": by_ids}})


class PackedLearned(nn.Module):
    """right: packed documents with learned positions that begin again in each document."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.pos = nn.Embedding(64, 24)
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, ids=None):
        B, T, _ = x.shape
        i = torch.arange(T, device=x.device)
        keep = (i[None] <= i[:, None])[None]
        if ids is None:
            p = i.expand(B, T)
        else:
            same = ids[:, :, None] == ids[:, None, :]
            keep = keep & same
            p = keep.sum(-1) - 1
        q, k, v = (split(y, 4) for y in self.qkv(x + self.pos(p)).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~keep[:, None], float("-inf"))
        return self.out(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": PackedLearned, "d_in": 24, "context_length": 10, "options": {"positions": True, "documents": by_ids}})


class StaticCache(nn.Module):
    """right: gpt-fast's preallocated cache, written at the place of each token, with a mask over unwritten places."""

    MAX = 64

    def __init__(self):
        super().__init__()
        self.n_head, self.n_kv_head = 4, 2
        self.wqkv, self.wo = nn.Linear(32, 64, bias=False), nn.Linear(32, 32, bias=False)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q, k, v = self.wqkv(x).split([32, 16, 16], -1)
        q, k, v = split(q, 4), split(k, 2), split(v, 2)
        if cache is None:
            cache = (k.new_zeros(B, 2, self.MAX, 8), k.new_zeros(B, 2, self.MAX, 8), 0)
        kc, vc, n = cache
        pos = torch.arange(n, n + T, device=x.device)
        q, k = rope(q, pos), rope(k, pos)
        kc, vc = kc.index_copy(2, pos, k), vc.index_copy(2, pos, v)
        keep = torch.arange(self.MAX, device=x.device)[None] <= pos[:, None]
        y = F.scaled_dot_product_attention(q, kc, vc, attn_mask=keep, enable_gqa=True)
        return self.wo(merge(y)), (kc, vc, n + T)


LAYERS.append({"layer": StaticCache, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "step": step_cache}})


class OnlineSoftmax(nn.Module):
    """right: flash attention's online softmax over blocks of 3 keys, in plain PyTorch."""

    BLOCK = 3

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        B, H, T, D = q.shape
        m = q.new_full((B, H, T, 1), float("-inf"))
        l, acc = q.new_zeros(B, H, T, 1), torch.zeros_like(q)
        i = torch.arange(T, device=x.device)[:, None]
        for s in range(0, T, self.BLOCK):
            e = min(s + self.BLOCK, T)
            j = torch.arange(s, e, device=x.device)[None]
            sc = (q @ k[:, :, s:e].mT / D ** 0.5).masked_fill(j > i, float("-inf"))
            m2 = torch.maximum(m, sc.amax(-1, keepdim=True))
            p, r = torch.exp(sc - m2), torch.exp(m - m2)
            l, acc, m = l * r + p.sum(-1, keepdim=True), acc * r + p @ v[:, :, s:e], m2
        return self.out(merge(acc / l))


LAYERS.append({"layer": OnlineSoftmax, "d_in": 24, "context_length": 10, "options": {}})


class CheckpointedChunks(nn.Module):
    """right: chunks of queries, each under activation checkpointing while training, with dropout."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.chunk = 4, 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.drop = nn.Dropout(0.2)

    def part(self, q, k, v, start):
        i = torch.arange(start, start + q.shape[2], device=q.device)[:, None]
        j = torch.arange(k.shape[2], device=q.device)[None]
        w = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(j > i, float("-inf")).softmax(-1)
        return self.drop(w) @ v

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        parts = []
        for s in range(0, x.shape[1], self.chunk):
            a = (q[:, :, s:s + self.chunk], k, v, s)
            parts.append(checkpoint(self.part, *a, use_reentrant=False) if self.training else self.part(*a))
        return self.out(merge(torch.cat(parts, 2)))


LAYERS.append({"layer": CheckpointedChunks, "d_in": 32, "context_length": 10, "options": {"dropout": 0.2}})


class RingBuffer(nn.Module):
    """right: a window with a ring buffer that takes one token at a time."""

    W = 4

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 1
        self.q, self.kv, self.o = nn.Linear(24, 24), nn.Linear(24, 12), nn.Linear(24, 24)

    def forward(self, x):
        q, (k, v) = split(self.q(x), 4), (split(y, 1) for y in self.kv(x).chunk(2, -1))
        keep = keep_mask(x.shape[1], x.shape[1], x.device, self.W)
        return self.o(merge(F.scaled_dot_product_attention(q, k.expand_as(q), v.expand_as(q), attn_mask=keep)))

    def step(self, x, cache):
        if x.shape[1] != 1:
            raise NotImplementedError("one token at a time")
        q, (k, v) = split(self.q(x), 4), (split(y, 1) for y in self.kv(x).chunk(2, -1))
        if cache is None:
            cache = (k.new_zeros(k.shape[0], 1, self.W, 6), k.new_zeros(k.shape[0], 1, self.W, 6), 0)
        kc, vc, n = cache
        slot = torch.tensor([n % self.W], device=x.device)
        kc, vc = kc.index_copy(2, slot, k), vc.index_copy(2, slot, v)
        filled = torch.arange(self.W, device=x.device) <= n
        s = (q @ kc.mT / 6 ** 0.5).masked_fill(~filled, float("-inf"))
        return self.o(merge(s.softmax(-1) @ vc)), (kc, vc, n + 1)


LAYERS.append({"layer": RingBuffer, "d_in": 24, "context_length": 10, "options": {
    "num_kv_heads": 1, "window": 4, "step": step_state}})


class DifferentialAttn(nn.Module):
    """right: differential attention, two softmaxes subtracted with a learned lambda, RMSNorm on heads."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.out = nn.Linear(32, 96, bias=False), nn.Linear(32, 32, bias=False)
        self.lam = nn.Parameter(torch.tensor(0.3))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k, v = split(q, 4), split(k, 4), split(v, 2)
        s = (q @ k.mT / 8 ** 0.5).masked_fill(~keep_mask(x.shape[1], x.shape[1], x.device), float("-inf"))
        w = s.softmax(-1).unflatten(1, (2, 2))
        y = (w[:, :, 0] - self.lam * w[:, :, 1]) @ v
        return self.out(merge(F.rms_norm(y, (16,), eps=1e-5) * 0.8))


LAYERS.append({"layer": DifferentialAttn, "d_in": 32, "context_length": 9, "options": {"softmax": False}})


class SigmoidAttn(nn.Module):
    """right: sigmoid attention with a learned bias per head, hidden scores at minus infinity, and a cache."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.bias = nn.Parameter(torch.full((4, 1, 1), -2.0))

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        s = q @ k.mT / 6 ** 0.5 + self.bias
        s = s.masked_fill(~keep_mask(q.shape[2], k.shape[2], x.device), float("-inf"))
        return self.out(merge(s.sigmoid() @ v)), (k, v)


LAYERS.append({"layer": SigmoidAttn, "d_in": 24, "context_length": 9, "options": {"softmax": False, "step": step_cache}})


class SoftmaxOne(nn.Module):
    """right: softmax with one more in the denominator, computed safely from the larger of 0 and the maximum."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32, bias=False) for _ in range(4))

    def forward(self, x, real=None):
        q, k, v = split(self.q(x), 4), split(self.k(x), 4), split(self.v(x), 4)
        s = q @ k.mT / 8 ** 0.5
        keep = keep_mask(x.shape[1], x.shape[1], x.device)[None, None]
        if real is not None:
            keep = keep & real[:, None, None]
        s = s.masked_fill(~keep, float("-inf"))
        m = s.amax(-1, keepdim=True).clamp(min=0).detach()
        e = torch.exp(s - m)
        return self.o(merge(e / (e.sum(-1, keepdim=True) + torch.exp(-m)) @ v))


LAYERS.append({"layer": SoftmaxOne, "d_in": 32, "context_length": 9, "options": {"padding": padded_real}})


class LongformerBand(nn.Module):
    """right: a band on both sides of each token, with padding, as in Longformer without global tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.w = 4, 3
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, real=None):
        i = torch.arange(x.shape[1], device=x.device)
        keep = ((i[:, None] - i[None]).abs() < self.w)[None, None]
        if real is not None:
            keep = keep & real[:, None, None] | torch.eye(len(i), dtype=torch.bool, device=x.device)
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


LAYERS.append({"layer": LongformerBand, "d_in": 24, "context_length": 11, "options": {
    "causal": False, "window": 3, "padding": padded_real}})


class WindowPerHead(nn.Module):
    """right: two heads with windows and two without, in one mask."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("spans", torch.tensor([3, 10_000, 6, 10_000]), persistent=False)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        T, S = q.shape[2], k.shape[2]
        d = torch.arange(S - T, S, device=x.device)[:, None] - torch.arange(S, device=x.device)
        keep = (d >= 0) & (d < self.spans[:, None, None])
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep[None].expand(q.shape[0], -1, -1, -1)))), (k, v)


LAYERS.append({"layer": WindowPerHead, "d_in": 24, "context_length": 11, "options": {
    "window": (3, None, 6, None), "step": step_cache}})


class LoRALinear(nn.Module):
    def __init__(self, a, b, r=2):
        super().__init__()
        self.base = nn.Linear(a, b)
        self.A = nn.Parameter(torch.randn(r, a) / a ** 0.5)
        self.B = nn.Parameter(torch.zeros(b, r))

    def forward(self, x):
        return self.base(x) + 2.0 * (x @ self.A.T) @ self.B.T


class LoRAAttn(nn.Module):
    """right: LoRA on queries and values, GPT-J's interleaved rotary on half of each head."""

    def __init__(self):
        super().__init__()
        self.num_attention_heads = 4
        self.q, self.k, self.v, self.o = LoRALinear(32, 32), nn.Linear(32, 32), LoRALinear(32, 32), nn.Linear(32, 32)

    @staticmethod
    def turn(x, pos):
        r, rest = x[..., :4], x[..., 4:]
        a = pos[:, None].float() * 10000.0 ** (-torch.arange(0, 4, 2, device=x.device).float() / 4)
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        e, o = r[..., 0::2], r[..., 1::2]
        return torch.cat([torch.stack([e * c - o * s, e * s + o * c], -1).flatten(-2), rest], -1)

    def forward(self, x):
        pos = torch.arange(x.shape[1], device=x.device)
        q, k, v = self.turn(split(self.q(x), 4), pos), self.turn(split(self.k(x), 4), pos), split(self.v(x), 4)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": LoRAAttn, "d_in": 32, "context_length": 9, "options": {"positions": "rotary", "make": LoRAAttn}})


class LearnedPast(nn.Module):
    """right: learned positions added inside the layer, counted from the length of the cache."""

    def __init__(self):
        super().__init__()
        self.n_heads = 2
        self.wpe = nn.Embedding(64, 16)
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, cache=None):
        past = 0 if cache is None else cache[0].shape[2]
        x = x + self.wpe(torch.arange(past, past + x.shape[1], device=x.device))
        q, k, v = (split(y, 2) for y in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(y)), (k, v)


LAYERS.append({"layer": LearnedPast, "d_in": 16, "context_length": 9, "options": {"positions": True, "step": step_cache}})


class Unpadded(nn.Module):
    """right: varlen as in flash attention: real tokens are taken out, attended to per sequence and put back."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, real=None):
        B, T, C = x.shape
        if real is None:
            real = torch.ones(B, T, dtype=torch.bool, device=x.device)
        flat = real.flatten().nonzero()[:, 0]
        packed = self.qkv(x.reshape(B * T, C)[flat])
        parts = []
        for p in packed.split(real.sum(1).tolist()):
            q, k, v = p.view(-1, 3, 4, 6).permute(1, 2, 0, 3)[:, None]
            parts.append(F.scaled_dot_product_attention(q, k, v, is_causal=True)[0].transpose(0, 1).reshape(-1, C))
        y = x.new_zeros(B * T, C).index_copy(0, flat, torch.cat(parts))
        return self.out(y.view(B, T, C))


LAYERS.append({"layer": Unpadded, "d_in": 24, "context_length": 9, "options": {"padding": padded_real}})


class TalkingHeads(nn.Module):
    """right: talking heads before and after softmax, the mask after the first mix."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.out = nn.Linear(24, 72, bias=False), nn.Linear(24, 24)
        self.pre, self.post = nn.Parameter(torch.eye(3) + torch.randn(3, 3) * 0.1), nn.Parameter(torch.eye(3) + torch.randn(3, 3) * 0.1)

    def forward(self, x):
        q, k, v = (split(y, 3) for y in self.qkv(x).chunk(3, -1))
        s = torch.einsum("bhij,hg->bgij", q @ k.mT / 8 ** 0.5, self.pre)
        s = s.masked_fill(~keep_mask(x.shape[1], x.shape[1], x.device), float("-inf"))
        w = torch.einsum("bhij,hg->bgij", s.softmax(-1), self.post)
        return self.out(merge(w @ v))


LAYERS.append({"layer": TalkingHeads, "d_in": 24, "context_length": 9, "options": {"softmax": False}})


class SwinBias(nn.Module):
    """right: a table of biases by distance for each head, on both sides, as in Swin with one axis."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.table = nn.Parameter(torch.randn(127, 4) * 0.5)
        self.qkv, self.proj = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        T = x.shape[1]
        i = torch.arange(T, device=x.device)
        bias = self.table[i[:, None] - i[None] + 63].permute(2, 0, 1)
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.proj(merge((q * 6 ** -0.5 @ k.mT + bias).softmax(-1) @ v))


LAYERS.append({"layer": SwinBias, "d_in": 24, "context_length": 10, "options": {"causal": False, "positions": "relative"}})


class ListCache(nn.Module):
    """right: a cache object that lists pieces and is appended to in place, one for each sequence."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24) for _ in range(4))

    def forward(self, x, real=None, cache=None):
        cache = {"k": [], "v": []} if cache is None else cache
        cache["k"].append(split(self.k(x), 4))
        cache["v"].append(split(self.v(x), 4))
        q, k, v = split(self.q(x), 4), torch.cat(cache["k"], 2), torch.cat(cache["v"], 2)
        T, S = q.shape[2], k.shape[2]
        bias = x.new_zeros(x.shape[0], 1, T, S)
        bias = bias.masked_fill(~keep_mask(T, S, x.device), float("-inf"))
        if real is not None:
            bias = bias.masked_fill(~real[:, None, None] & ~diagonal(T, S, x.device), float("-inf"))
        return self.o(merge((q @ k.mT * 6 ** -0.5 + bias).softmax(-1) @ v)), cache


LAYERS.append({"layer": ListCache, "d_in": 24, "context_length": 9, "options": {"padding": padded_real, "step": step_real}})


class LocalBlocks(nn.Module):
    """right: a window computed in blocks of W queries against their own and the previous block of keys."""

    W = 4

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        B, T, C = x.shape
        W = self.W
        n = -(-T // W)
        x = F.pad(x, (0, 0, 0, n * W - T))
        q, k, v = (split(y, 4).unflatten(2, (n, W)) for y in self.qkv(x).chunk(3, -1))
        k2 = torch.cat([F.pad(k, (0, 0, 0, 0, 1, 0))[:, :, :-1], k], 3)
        v2 = torch.cat([F.pad(v, (0, 0, 0, 0, 1, 0))[:, :, :-1], v], 3)
        i = torch.arange(n * W, device=x.device).view(n, W, 1)
        j = torch.arange(n, device=x.device).view(n, 1, 1) * W - W + torch.arange(2 * W, device=x.device)
        keep = (j <= i) & (j > i - W) & (j >= 0)
        y = F.scaled_dot_product_attention(q, k2, v2, attn_mask=keep)
        return self.out(merge(y.flatten(2, 3)[:, :, :T]))


LAYERS.append({"layer": LocalBlocks, "d_in": 32, "context_length": 11, "options": {"window": 4}})


class ShortConv(nn.Module):
    """right: a causal depthwise convolution over three tokens before the projections, its last tokens cached."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.conv = nn.Conv1d(24, 24, 3, groups=24)
        self.qkv, self.out = nn.Linear(24, 72, bias=False), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        tail = x.new_zeros(x.shape[0], 2, 24) if cache is None else cache[2]
        xx = torch.cat([tail, x], 1)
        y = self.conv(xx.transpose(1, 2)).transpose(1, 2)
        q, k, v = (split(z, 4) for z in self.qkv(y).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(o)), (k, v, xx[:, -2:])


LAYERS.append({"layer": ShortConv, "d_in": 24, "context_length": 9, "options": {"positions": True, "step": step_cache}})


class FusedAtLoad(nn.Module):
    """right: three projections fused anew in each call, rope tables kept per length, device and dtype."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32) for _ in range(4))
        self.tables = {}

    def table(self, T, x):
        key = (T, x.device, x.dtype)
        if key not in self.tables:
            a = angles(torch.arange(T, device=x.device), 8)
            self.tables[key] = (a.cos().to(x.dtype), a.sin().to(x.dtype))
        return self.tables[key]

    def forward(self, x):
        w = torch.cat([self.q.weight, self.k.weight, self.v.weight])
        b = torch.cat([self.q.bias, self.k.bias, self.v.bias])
        q, k, v = (split(y, 4) for y in F.linear(x, w, b).chunk(3, -1))
        c, s = self.table(x.shape[1], x)
        q, k = q * c + rotate_half(q) * s, k * c + rotate_half(k) * s
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": FusedAtLoad, "d_in": 32, "context_length": 9, "options": {"positions": "rotary", "make": FusedAtLoad}})


class SafeLeftPad(nn.Module):
    """right: rows without any key give zeros, by weights set to 0 after softmax, with a window and a cache."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.window = 6, 2, 5
        self.q, self.kv, self.o = nn.Linear(36, 36), nn.Linear(36, 24), nn.Linear(36, 36)

    def forward(self, x, real=None, cache=None):
        q, (k, v) = split(self.q(x), 6), (split(y, 2) for y in self.kv(x).chunk(2, -1))
        past = 0 if cache is None else cache[2]
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        T, S = q.shape[2], k.shape[2]
        keep = keep_mask(T, S, x.device, self.window)[None, None]
        if real is not None:
            keep = keep & real[:, None, None, -S:]
        kk, vv = k[:, :, None].expand(-1, -1, 3, -1, -1).flatten(1, 2), v[:, :, None].expand(-1, -1, 3, -1, -1).flatten(1, 2)
        s = (q @ kk.mT / 6 ** 0.5).masked_fill(~keep, torch.finfo(x.dtype).min)
        w = s.softmax(-1) * keep.any(-1, keepdim=True)
        return self.o(merge(w @ vv)), (k[:, :, -4:], v[:, :, -4:], past + T)


LAYERS.append({"layer": SafeLeftPad, "d_in": 36, "context_length": 11, "options": {
    "num_kv_heads": 2, "window": 5, "padding": padded_real, "step": step_real}})


# ---------------------------------------------------------------- wrong ones: caches


class RopeRestarts(nn.Module):
    """wrong: Llama with a cache; rotary positions of new tokens begin at 0 in each piece, the cache's length is not added."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.n_kv_heads = 4, 2
        self.wq, self.wk, self.wv, self.wo = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        pos = torch.arange(x.shape[1], device=x.device)
        q, k, v = rope(split(self.wq(x), 4), pos), rope(split(self.wk(x), 2), pos), split(self.wv(x), 2)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device), enable_gqa=True)
        return self.wo(merge(y)), (k, v)


LAYERS.append({"layer": RopeRestarts, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "step": step_cache}})


class RopeGap(nn.Module):
    """wrong: rotary cache; after the first piece positions start at past + 1, so that one position is skipped."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72, bias=False), nn.Linear(24, 24, bias=False)

    def forward(self, x, cache=None):
        start = 0
        if cache is not None:
            start = cache[0].size(2) + 1
        pos = torch.arange(start, start + x.size(1), device=x.device)
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        q, k = rope(q, pos), rope(k, pos)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~keep_mask(q.size(2), k.size(2), x.device), float("-inf"))
        return self.out(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": RopeGap, "d_in": 24, "context_length": 9, "options": {"positions": "rotary", "step": step_cache}})


class RopeTwice(nn.Module):
    """wrong: keys are cached after rotation and rotated once more with all others in the next call."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(32, 32, bias=False) for _ in range(4))

    def forward(self, x, cache=None):
        q, k, v = split(self.q_proj(x), 4), split(self.k_proj(x), 4), split(self.v_proj(x), 4)
        if cache is not None:
            k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
        T, S = q.shape[2], k.shape[2]
        pos = torch.arange(S, device=x.device)
        q, k = rope(q, pos[S - T:]), rope(k, pos)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(T, S, x.device))
        return self.o_proj(merge(y)), {"k": k, "v": v}


LAYERS.append({"layer": RopeTwice, "d_in": 32, "context_length": 10, "options": {"positions": "rotary", "step": step_cache}})


class UpperLeft(nn.Module):
    """wrong: SDPA's is_causal=True with fewer queries than keys, which aligns the mask to the upper left: a new token sees the oldest keys only."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.c_attn, self.c_proj = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, layer_past=None):
        q, k, v = (split(y, 4) for y in self.c_attn(x).chunk(3, -1))
        if layer_past is not None:
            k, v = torch.cat([layer_past[0], k], 2), torch.cat([layer_past[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(merge(y)), (k, v)


LAYERS.append({"layer": UpperLeft, "d_in": 24, "context_length": 9, "options": {"step": step_past}})


class NoMaskWithCache(nn.Module):
    """wrong: is_causal only where there is no cache, so that tokens of a later piece of several see each other's future."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.n_kv_heads = 6, 2
        self.q, self.kv, self.o = nn.Linear(36, 36), nn.Linear(36, 24), nn.Linear(36, 36)

    def forward(self, x, cache=None):
        past = 0 if cache is None else cache[0].shape[2]
        pos = torch.arange(past, past + x.shape[1], device=x.device)
        q, (k, v) = rope(split(self.q(x), 6), pos), (split(y, 2) for y in self.kv(x).chunk(2, -1))
        k = rope(k, pos)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=cache is None, enable_gqa=True)
        return self.o(merge(y)), (k, v)


LAYERS.append({"layer": NoMaskWithCache, "d_in": 36, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "step": step_cache}})


class CacheOnModule(nn.Module):
    """wrong: keys and values lie in the module, set up anew by the first call of a sequence; a second sequence started in between overwrites the first."""

    MAX = 48

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.wqkv, self.wo = nn.Linear(24, 72), nn.Linear(24, 24)
        self.k_cache = self.v_cache = None

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.wqkv(x).chunk(3, -1))
        return self.wo(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))

    def step(self, x, n):
        q, k, v = (split(y, 4) for y in self.wqkv(x).chunk(3, -1))
        if n is None:
            n = 0
            self.k_cache = k.new_zeros(k.shape[0], 4, self.MAX, 6)
            self.v_cache = torch.zeros_like(self.k_cache)
        T = x.shape[1]
        pos = torch.arange(n, n + T, device=x.device)
        self.k_cache = self.k_cache.index_copy(2, pos, k)
        self.v_cache = self.v_cache.index_copy(2, pos, v)
        k, v = self.k_cache[:, :, :n + T], self.v_cache[:, :, :n + T]
        return self.wo(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(T, n + T, x.device)))), n + T


LAYERS.append({"layer": CacheOnModule, "d_in": 24, "context_length": 9, "options": {"step": step_state}})


class SharedEmptyCache(nn.Module):
    """wrong: the empty cache is a mutable default argument's value, so that the next sequence goes on with the first one's keys."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32) for _ in range(4))

    def attend(self, x, ks, vs):
        ks.append(split(self.k(x), 4))
        vs.append(split(self.v(x), 4))
        q, k, v = split(self.q(x), 4), torch.cat(ks, 2), torch.cat(vs, 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.o(merge(y))

    def forward(self, x):
        return self.attend(x, [], [])

    def step(self, x, cache=None, empty=([], [])):
        cache = cache or empty
        return self.attend(x, *cache), cache


LAYERS.append({"layer": SharedEmptyCache, "d_in": 32, "context_length": 9, "options": {"step": step_state}})


class EvictsEarly(nn.Module):
    """wrong: a rolling cache for a window of W keeps W - 2 keys in place of W - 1, so that the oldest in the window is lost."""

    W = 5

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        keep = keep_mask(q.shape[2], k.shape[2], x.device, self.W)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
        n = max(k.shape[2] - (self.W - 2), 0)
        return self.out(merge(y)), (k[:, :, n:], v[:, :, n:])


LAYERS.append({"layer": EvictsEarly, "d_in": 24, "context_length": 11, "options": {"window": 5, "step": step_cache}})


class RingOverwrites(nn.Module):
    """wrong: a ring buffer of W slots takes all tokens of a piece before any of them attends, so that later ones overwrite keys that earlier ones need."""

    W = 4

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        keep = keep_mask(x.shape[1], x.shape[1], x.device, self.W)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))

    def step(self, x, cache):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        B, H, T, D = q.shape
        if cache is None:
            cache = (k.new_zeros(B, H, self.W, D), k.new_zeros(B, H, self.W, D),
                     torch.full((self.W,), -99, device=x.device), 0)
        kc, vc, at, n = (c.clone() if torch.is_tensor(c) else c for c in cache)
        for t in range(T):
            slot = (n + t) % self.W
            kc[:, :, slot], vc[:, :, slot], at[slot] = k[:, :, t], v[:, :, t], n + t
        i = torch.arange(n, n + T, device=x.device)[:, None]
        keep = (at <= i) & (at > i - self.W) & (at >= 0)
        return self.out(merge(F.scaled_dot_product_attention(q, kc, vc, attn_mask=keep))), (kc, vc, at, n + T)


LAYERS.append({"layer": RingOverwrites, "d_in": 32, "context_length": 11, "options": {"window": 4, "step": step_state}})


class WindowForgotten(nn.Module):
    """wrong: a sliding window in one pass; while decoding single tokens the whole cache is attended to."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.sliding_window = 4, 2, 4
        self.q, self.k, self.v, self.o = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        q, k, v = split(self.q(x), 4), split(self.k(x), 2), split(self.v(x), 2)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        mask = None
        if q.shape[2] > 1:
            mask = keep_mask(q.shape[2], k.shape[2], x.device, self.sliding_window)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return self.o(merge(y)), (k, v)


LAYERS.append({"layer": WindowForgotten, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "window": 4, "step": step_cache}})


class WindowPlusOneDecode(nn.Module):
    """wrong: the window holds W tokens in one pass and W + 1 while decoding, where the last W cached ones and the token itself are taken."""

    W = 4

    def __init__(self):
        super().__init__()
        self.heads = 3
        self.qkv, self.out = nn.Linear(24, 72, bias=False), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        past = 0 if cache is None else cache[2]
        q, k, v = (split(y, 3) for y in self.qkv(x).chunk(3, -1))
        pos = torch.arange(past, past + x.shape[1], device=x.device)
        q, k = rope(q, pos), rope(k, pos)
        w = self.W
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            w = self.W + 1
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device, w))
        return self.out(merge(y)), (k[:, :, -self.W:], v[:, :, -self.W:], past + x.shape[1])


LAYERS.append({"layer": WindowPlusOneDecode, "d_in": 24, "context_length": 11, "options": {
    "window": 4, "positions": "rotary", "step": step_cache}})


class UnwrittenSlots(nn.Module):
    """wrong: a preallocated cache of zeros; single tokens are decoded without a mask over the places not written yet."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        B, H, T, D = q.shape
        kc, vc, n = (k.new_zeros(B, H, 48, D), v.new_zeros(B, H, 48, D), 0) if cache is None else cache
        pos = torch.arange(n, n + T, device=x.device)
        kc, vc = kc.index_copy(2, pos, k), vc.index_copy(2, pos, v)
        mask = None if T == 1 and n > 0 else torch.arange(48, device=x.device)[None] <= pos[:, None]
        return self.out(merge(F.scaled_dot_product_attention(q, kc, vc, attn_mask=mask))), (kc, vc, n + T)


LAYERS.append({"layer": UnwrittenSlots, "d_in": 24, "context_length": 9, "options": {"step": step_cache}})


class CacheFull(nn.Module):
    """wrong: a preallocated cache of 8 places overflows silently: each token after the eighth overwrites the last place."""

    MAX = 8

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))

    def step(self, x, cache):
        if x.shape[1] > 1:
            raise NotImplementedError
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        B, H, _, D = q.shape
        kc, vc, n = (k.new_zeros(B, H, self.MAX, D), k.new_zeros(B, H, self.MAX, D), 0) if cache is None else cache
        at = torch.tensor([min(n, self.MAX - 1)], device=x.device)
        kc, vc = kc.index_copy(2, at, k), vc.index_copy(2, at, v)
        keep = torch.arange(self.MAX, device=x.device) <= n
        return self.out(merge(F.scaled_dot_product_attention(q, kc, vc, attn_mask=keep[None]))), (kc, vc, n + 1)


LAYERS.append({"layer": CacheFull, "d_in": 32, "context_length": 12, "options": {"step": step_state}})


class HalfCache(nn.Module):
    """wrong: the cache is kept in bfloat16 whatever the layer's dtype is, which rounds keys and values of a float32 layer."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.q, self.kv, self.o = nn.Linear(32, 32), nn.Linear(32, 64), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        q, (k, v) = split(self.q(x), 4), (split(y, 4) for y in self.kv(x).chunk(2, -1))
        if cache is not None:
            k = torch.cat([cache[0].to(k.dtype), k], 2)
            v = torch.cat([cache[1].to(v.dtype), v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.o(merge(y)), (k.to(torch.bfloat16), v.to(torch.bfloat16))


LAYERS.append({"layer": HalfCache, "d_in": 32, "context_length": 9, "options": {"step": step_cache}})


class RepeatInDecode(nn.Module):
    """wrong: grouped queries; one pass repeats each key head for its neighbours, but decoding from a cache tiles them with repeat, so that queries meet other heads."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.k, self.v, self.o = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        q, k, v = split(self.q(x), 4), split(self.k(x), 2), split(self.v(x), 2)
        if cache is None:
            kk, vv = k.repeat_interleave(2, dim=1), v.repeat_interleave(2, dim=1)
        else:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            kk, vv = k.repeat(1, 2, 1, 1), v.repeat(1, 2, 1, 1)
        s = (q @ kk.mT / 8 ** 0.5).masked_fill(~keep_mask(q.shape[2], k.shape[2], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ vv)), (k, v)


LAYERS.append({"layer": RepeatInDecode, "d_in": 32, "context_length": 9, "options": {"num_kv_heads": 2, "step": step_cache}})


class ValuesFromKeys(nn.Module):
    """wrong: past values are read from the cache's keys."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.c_attn, self.c_proj = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, layer_past=None):
        q, k, v = (split(y, 4) for y in self.c_attn(x).split(24, 2))
        if layer_past is not None:
            past_key, past_value = layer_past[0], layer_past[0]
            k, v = torch.cat((past_key, k), -2), torch.cat((past_value, v), -2)
        w = (q @ k.transpose(-1, -2) / 6 ** 0.5).masked_fill(~keep_mask(q.shape[2], k.shape[2], x.device), -torch.inf)
        return self.c_proj(merge(w.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": ValuesFromKeys, "d_in": 24, "context_length": 9, "options": {"step": step_past}})


class LastTokenOnly(nn.Module):
    """wrong: where a cache is there already, only the last token of a piece of several is added to what the next call gets."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        new = (k, v)
        if cache is not None:
            new = (torch.cat([cache[0], k[:, :, -1:]], 2), torch.cat([cache[1], v[:, :, -1:]], 2))
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(y)), new


LAYERS.append({"layer": LastTokenOnly, "d_in": 24, "context_length": 10, "options": {"step": step_cache}})


class AlibiLocalRows(nn.Module):
    """wrong: ALiBi from the absolute distance of query and key, where queries of a later piece are counted from 0."""

    def __init__(self):
        super().__init__()
        self.n_heads = 8
        self.qkv, self.out = nn.Linear(32, 96, bias=False), nn.Linear(32, 32, bias=False)
        self.register_buffer("slopes", alibi_slopes(8).view(8, 1, 1), persistent=False)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 8) for y in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        T, S = q.shape[2], k.shape[2]
        dist = (torch.arange(T, device=x.device)[:, None] - torch.arange(S, device=x.device)[None]).abs()
        s = q @ k.mT / 2.0 - self.slopes.to(x.dtype) * dist
        s = s.masked_fill(~keep_mask(T, S, x.device), float("-inf"))
        return self.out(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": AlibiLocalRows, "d_in": 32, "context_length": 10, "options": {"positions": "alibi", "step": step_cache}})


class T5FirstRows(nn.Module):
    """wrong: T5's bias is built for all keys and its first rows are taken for a later piece, not its last."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24, bias=False) for _ in range(4))
        self.rel = nn.Embedding(8, 4)

    def forward(self, x, cache=None):
        q, k, v = split(self.q(x), 4), split(self.k(x), 4), split(self.v(x), 4)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        T, S = q.shape[2], k.shape[2]
        i = torch.arange(S, device=x.device)
        bias = self.rel(t5_bucket(i[None] - i[:, None], False)).permute(2, 0, 1)[None, :, :T]
        s = (q @ k.mT + bias).masked_fill(~keep_mask(T, S, x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": T5FirstRows, "d_in": 24, "context_length": 10, "options": {
    "positions": "relative", "scale": 1.0, "step": step_cache}})


class LearnedNoPast(nn.Module):
    """wrong: learned positions of a piece are counted from 0 in spite of the cache."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.wpe = nn.Parameter(torch.randn(64, 24) * 0.5)
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        h = x + self.wpe[:x.size(1)]
        q, k, v = (split(y, 4) for y in self.qkv(h).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(y)), (k, v)


LAYERS.append({"layer": LearnedNoPast, "d_in": 24, "context_length": 9, "options": {"positions": True, "step": step_cache}})


class CounterOnModule(nn.Module):
    """wrong: the next position is counted in the module and goes back to 0 only in a whole pass, so that a sequence decoded after another starts too late for learned positions."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.pos = nn.Embedding(512, 24)
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.at = 0

    def attend(self, x, cache, start):
        h = x + self.pos(torch.arange(start, start + x.shape[1], device=x.device) % 512)
        q, k, v = (split(y, 4) for y in self.qkv(h).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(y)), (k, v)

    def forward(self, x):
        self.at = 0
        return self.attend(x, None, 0)[0]

    def step(self, x, cache):
        out = self.attend(x, cache, self.at)
        self.at += x.shape[1]
        return out


LAYERS.append({"layer": CounterOnModule, "d_in": 24, "context_length": 9, "options": {"positions": True, "step": step_state}})


class PaddingOnlyInPrefill(nn.Module):
    """wrong: the padding mask is applied to the first piece only, so that decoded tokens attend to the left padding in the cache."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x, real=None, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        prefill = cache is None
        if not prefill:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        T, S = q.shape[2], k.shape[2]
        keep = keep_mask(T, S, x.device)[None, None]
        if real is not None and prefill:
            keep = keep & real[:, None, None] | diagonal(T, S, x.device)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep))), (k, v)


LAYERS.append({"layer": PaddingOnlyInPrefill, "d_in": 32, "context_length": 10, "options": {
    "padding": padded_real, "step": step_real}})


class PositionIdsJump(nn.Module):
    """wrong: with left padding the first piece counts positions over real tokens, later pieces over all places in the cache: a jump by the padding's length."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96, bias=False), nn.Linear(32, 32)

    def forward(self, x, real=None, cache=None):
        past = 0 if cache is None else cache[0].shape[2]
        T = x.shape[1]
        if real is not None and cache is None:
            pos = (real.long().cumsum(1) - 1).clamp(min=0)
        else:
            pos = torch.arange(past, past + T, device=x.device)
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        q, k = rope(q, pos), rope(k, pos)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        keep = keep_mask(T, k.shape[2], x.device)[None, None]
        if real is not None:
            keep = keep & real[:, None, None] | diagonal(T, k.shape[2], x.device)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep))), (k, v)


LAYERS.append({"layer": PositionIdsJump, "d_in": 32, "context_length": 10, "options": {
    "positions": "rotary", "padding": padded_real, "step": step_real}})


class NormAgain(nn.Module):
    """wrong: RMSNorm of keys is applied after joining with the cache, which holds normed keys: cached keys get its gains again."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96, bias=False), nn.Linear(32, 32)
        self.q_norm, self.k_norm = RMSNorm(8), RMSNorm(8)
        nn.init.uniform_(self.k_norm.weight, 0.5, 1.5)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        q, k = self.q_norm(q), self.k_norm(k)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(y)), (k, v)


LAYERS.append({"layer": NormAgain, "d_in": 32, "context_length": 9, "options": {"step": step_cache}})


class GateMissingInDecode(nn.Module):
    """wrong: the output gate is applied in one pass and forgotten in the short way that decodes single tokens."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.gate, self.out = nn.Linear(24, 72), nn.Linear(24, 24), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            if q.shape[2] == 1:
                return self.out(merge(F.scaled_dot_product_attention(q, k, v))), (k, v)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(y) * self.gate(x).sigmoid()), (k, v)


LAYERS.append({"layer": GateMissingInDecode, "d_in": 24, "context_length": 9, "options": {"step": step_cache}})


class LinearNoNormaliser(nn.Module):
    """wrong: causal linear attention's state carries the sum of keys times values, but the normaliser starts anew in each piece."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        q, k = F.elu(q) + 1.001, F.elu(k) + 1.001
        kv = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(2)
        if cache is not None:
            kv = kv + cache[:, :, None]
        z = k.cumsum(2)
        y = torch.einsum("bhtd,bhtde->bhte", q, kv) / (q * z).sum(-1, keepdim=True)
        return self.out(merge(y)), kv[:, :, -1]


LAYERS.append({"layer": LinearNoNormaliser, "d_in": 24, "context_length": 9, "options": {"softmax": False, "step": step_cache}})


class DecayOncePerPiece(nn.Module):
    """wrong: retention; the state decays once for a piece, whatever its length, so that only single tokens give the right state."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.out = nn.Linear(24, 72, bias=False), nn.Linear(24, 24, bias=False)
        self.register_buffer("gamma", 1 - 2.0 ** (-2 - torch.arange(3.0)))

    def forward(self, x, cache=None):
        q, k, v = (split(y, 3) for y in self.qkv(x).chunk(3, -1))
        k = k * 8 ** -0.5
        T = x.shape[1]
        i = torch.arange(T, device=x.device)
        g = self.gamma[:, None, None].to(x.dtype)
        d = torch.where(i[:, None] >= i[None], g ** (i[:, None] - i[None]).clamp(min=0), 0.0)
        o = (q @ k.mT * d) @ v
        new = (k * (g ** (T - 1 - i)[:, None])).mT @ v
        if cache is not None:
            o = o + (q * g ** (i + 1)[:, None]) @ cache
            new = new + cache * g
        return self.out(merge(o)), new


LAYERS.append({"layer": DecayOncePerPiece, "d_in": 24, "context_length": 10, "options": {
    "softmax": False, "positions": True, "step": step_cache}})


class LatentNotNormed(nn.Module):
    """wrong: DeepSeek's latent attention; the norm is applied to the new latents only, while the cache holds them before it."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.wq, self.wdkv, self.wo = nn.Linear(32, 32, bias=False), nn.Linear(32, 12, bias=False), nn.Linear(32, 32, bias=False)
        self.norm, self.wuk, self.wuv = RMSNorm(12), nn.Linear(12, 32, bias=False), nn.Linear(12, 32, bias=False)

    def forward(self, x, cache=None):
        raw = self.wdkv(x)
        c = self.norm(raw)
        if cache is not None:
            c, raw = torch.cat([cache, c], 1), torch.cat([cache, raw], 1)
        q, k, v = split(self.wq(x), 4), split(self.wuk(c), 4), split(self.wuv(c), 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.wo(merge(y)), raw


LAYERS.append({"layer": LatentNotNormed, "d_in": 32, "context_length": 9, "options": {"step": step_cache}})


class DecodeUnscaled(nn.Module):
    """wrong: the way for single tokens with a cache multiplies queries and keys by hand and forgets to divide by the root of the head's width."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 1
        self.q, self.kv, self.o = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        q, (k, v) = split(self.q(x), 4), (split(y, 1) for y in self.kv(x).chunk(2, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        if cache is not None and q.shape[2] == 1:
            y = (q @ k.mT).softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device), enable_gqa=True)
        return self.o(merge(y)), (k, v)


LAYERS.append({"layer": DecodeUnscaled, "d_in": 32, "context_length": 9, "options": {"num_kv_heads": 1, "step": step_cache}})


class OneTokenShortcut(nn.Module):
    """wrong: one token's context is its own value, which the shortcut also takes where a cache is given."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        y = v
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        if x.shape[1] > 1:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(y)), (k, v)


LAYERS.append({"layer": OneTokenShortcut, "d_in": 24, "context_length": 9, "options": {"step": step_cache}})


class ConvTailLost(nn.Module):
    """wrong: a short convolution over tokens starts from zeros in each piece, its last tokens aren't cached."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.conv = nn.Conv1d(24, 24, 3, groups=24, padding=2)
        self.qkv, self.out = nn.Linear(24, 72, bias=False), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        y = self.conv(x.transpose(1, 2))[..., :x.shape[1]].transpose(1, 2)
        q, k, v = (split(z, 4) for z in self.qkv(y).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(o)), (k, v)


LAYERS.append({"layer": ConvTailLost, "d_in": 24, "context_length": 9, "options": {"positions": True, "step": step_cache}})


class RingOrderBias(nn.Module):
    """wrong: a ring buffer of W slots with relative bias; after it wraps, slots are taken for tokens in the order of time."""

    W = 4

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.rel = nn.Parameter(torch.randn(4, self.W))

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        i = torch.arange(x.shape[1], device=x.device)
        d = i[:, None] - i[None]
        s = q @ k.mT / 6 ** 0.5 + self.rel[:, d.clamp(0, self.W - 1)]
        s = s.masked_fill((d < 0) | (d >= self.W), float("-inf"))
        return self.out(merge(s.softmax(-1) @ v))

    def step(self, x, cache):
        if x.shape[1] > 1:
            raise NotImplementedError
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        kc, vc, n = (k[:, :, :0], v[:, :, :0], 0) if cache is None else cache
        if n < self.W:
            kc, vc = torch.cat([kc, k], 2), torch.cat([vc, v], 2)
        else:
            slot = torch.tensor([n % self.W], device=x.device)
            kc, vc = kc.index_copy(2, slot, k), vc.index_copy(2, slot, v)
        S = kc.shape[2]
        d = S - 1 - torch.arange(S, device=x.device)
        s = q @ kc.mT / 6 ** 0.5 + self.rel[:, None, d]
        return self.out(merge(s.softmax(-1) @ vc)), (kc, vc, n + 1)


LAYERS.append({"layer": RingOrderBias, "d_in": 24, "context_length": 10, "options": {
    "window": 4, "positions": "relative", "step": step_state}})


class KeepsOldest(nn.Module):
    """wrong: a cache for a window is cut to its first W - 1 keys, not its last."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.window = 4, 2, 5
        self.q, self.k, self.v, self.o = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        q, k, v = split(self.q(x), 4), split(self.k(x), 2), split(self.v(x), 2)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, enable_gqa=True,
                                           attn_mask=keep_mask(q.shape[2], k.shape[2], x.device, self.window))
        return self.o(merge(y)), (k[:, :, :self.window - 1], v[:, :, :self.window - 1])


LAYERS.append({"layer": KeepsOldest, "d_in": 32, "context_length": 11, "options": {
    "num_kv_heads": 2, "window": 5, "step": step_cache}})


class StaleCache(nn.Module):
    """wrong: the cache that was handed in is handed back, without the tokens of this piece."""

    def __init__(self):
        super().__init__()
        self.n_head = 3
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 3) for y in self.qkv(x).chunk(3, -1))
        if cache is None:
            cache = (k, v)
        else:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(y)), cache


LAYERS.append({"layer": StaleCache, "d_in": 24, "context_length": 9, "options": {"step": step_cache}})


class NewBeforeOld(nn.Module):
    """wrong: new keys are put before the cached ones, so that the mask for a later piece of several hides the wrong ones; single tokens are right."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24) for _ in range(4))

    def forward(self, x, cache=None):
        q, k, v = split(self.q(x), 4), split(self.k(x), 4), split(self.v(x), 4)
        if cache is not None:
            k, v = torch.cat([k, cache[0]], 2), torch.cat([v, cache[1]], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.o(merge(y)), (k, v)


LAYERS.append({"layer": NewBeforeOld, "d_in": 24, "context_length": 10, "options": {"step": step_cache}})


class LogOfPiece(nn.Module):
    """wrong: scores times the log of a query's place, which is counted within the piece and not within the sequence."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        q = q * torch.log(torch.arange(x.shape[1], device=x.device) + 2.0)[:, None].to(q.dtype)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(y)), (k, v)


LAYERS.append({"layer": LogOfPiece, "d_in": 24, "context_length": 10, "options": {
    "softmax": False, "positions": True, "step": step_cache}})


class SinkLostInDecode(nn.Module):
    """wrong: learned sinks are in softmax's denominator in one pass and missing where a cache is given."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.k, self.v, self.o = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)
        self.sinks = nn.Parameter(torch.randn(4))

    def forward(self, x, cache=None):
        q, k, v = split(self.q(x), 4), split(self.k(x), 2), split(self.v(x), 2)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        kk, vv = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        s = (q @ kk.mT / 8 ** 0.5).masked_fill(~keep_mask(q.shape[2], k.shape[2], x.device), float("-inf"))
        if cache is None:
            s = torch.cat([s, self.sinks.view(1, 4, 1, 1).expand(*s.shape[:3], 1)], -1)
        w = s.softmax(-1)[..., :k.shape[2]]
        return self.o(merge(w @ vv)), (k, v)


LAYERS.append({"layer": SinkLostInDecode, "d_in": 32, "context_length": 9, "options": {"num_kv_heads": 2, "step": step_cache}})


class PieceSeesNext(nn.Module):
    """wrong: the mask's diagonal for a later piece is the cache's length plus one, so that each token of a piece sees the next."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        diagonal = 0
        if cache is not None:
            diagonal = cache[0].shape[2] + 1
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=x.device).tril(diagonal)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))), (k, v)


LAYERS.append({"layer": PieceSeesNext, "d_in": 32, "context_length": 10, "options": {"step": step_cache}})


class PagedBoundary(nn.Module):
    """wrong: a paged cache with pages of 3; a page just filled has length 3 % 3 = 0 and is left out until the next token comes."""

    P = 3

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))

    def step(self, x, pages):
        if x.shape[1] > 1:
            raise NotImplementedError
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        pages = [] if pages is None else list(pages)
        n = sum(p[2] for p in pages)
        if n % self.P == 0:
            empty = k.new_zeros(k.shape[0], 4, self.P, 6)
            pages.append((empty, empty, 0))
        slot = torch.tensor([n % self.P], device=x.device)
        pk, pv, filled = pages[-1]
        pages[-1] = (pk.index_copy(2, slot, k), pv.index_copy(2, slot, v), filled + 1)
        n += 1
        S = len(pages) * self.P
        place = torch.arange(S, device=x.device)
        keep = place < (len(pages) - 1) * self.P + n % self.P
        if n <= self.P:
            keep = place < n
        kk, vv = torch.cat([p[0] for p in pages], 2), torch.cat([p[1] for p in pages], 2)
        return self.out(merge(F.scaled_dot_product_attention(q, kk, vv, attn_mask=keep[None]))), pages


LAYERS.append({"layer": PagedBoundary, "d_in": 24, "context_length": 10, "options": {"step": step_state}})


class DropoutInDecode(nn.Module):
    """wrong: the way with a cache hands dropout_p to SDPA in eval mode, too, so that decoding is random."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.p = 4, 0.1
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if cache is None:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.p if self.training else 0.0)
        else:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device), dropout_p=self.p)
        return self.out(merge(y)), (k, v)


LAYERS.append({"layer": DropoutInDecode, "d_in": 24, "context_length": 9, "options": {"dropout": 0.1, "step": step_cache}})


class CacheSharesMemory(nn.Module):
    """wrong: the first piece's preallocated memory is handed out by the module again for each new sequence, and written in place."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.pool = {}

    def forward(self, x):
        q, k, v = (split(y, 2) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))

    @torch.no_grad()
    def step(self, x, cache):
        q, k, v = (split(y, 2) for y in self.qkv(x).chunk(3, -1))
        B, H, T, D = q.shape
        if cache is None:
            key = (B, x.dtype, x.device)
            if key not in self.pool:
                self.pool[key] = k.new_zeros(2, B, H, 64, D)
            cache = (self.pool[key], 0)
        kv, n = cache
        kv[0, :, :, n:n + T], kv[1, :, :, n:n + T] = k, v
        y = F.scaled_dot_product_attention(q, kv[0, :, :, :n + T], kv[1, :, :, :n + T], attn_mask=keep_mask(T, n + T, x.device))
        return self.out(merge(y)), (kv, n + T)


LAYERS.append({"layer": CacheSharesMemory, "d_in": 16, "context_length": 9, "options": {"step": step_state}})


class ValueShiftDecode(nn.Module):
    """wrong: values are mixed with the previous token's value; with a cache the first token of each piece takes zero for it."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.mix = nn.Parameter(torch.full((4, 1, 1), 0.5))

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        v = self.mix * v + (1 - self.mix) * F.pad(v, (0, 0, 1, 0))[:, :, :-1]
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(y)), (k, v)


LAYERS.append({"layer": ValueShiftDecode, "d_in": 24, "context_length": 9, "options": {"positions": True, "step": step_cache}})


class ValuesCutEarlier(nn.Module):
    """wrong: a rolling cache cuts keys to the last W - 1 places, but values one place earlier, so that cached values belong to the neighbours' keys."""

    W = 4

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device, self.W))
        n = k.shape[2]
        if n <= self.W:
            return self.out(merge(y)), (k, v)
        return self.out(merge(y)), (k[:, :, n - self.W + 1:], v[:, :, n - self.W:-1])


LAYERS.append({"layer": ValuesCutEarlier, "d_in": 32, "context_length": 11, "options": {"window": 4, "step": step_cache}})


# ---------------------------------------------------------------- wrong ones: padding and documents


class MaskInverted(nn.Module):
    """wrong: True at real tokens is handed on as nn.MultiheadAttention's key_padding_mask, whose True means hidden."""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(24, 4, batch_first=True)

    def forward(self, x, real=None):
        return self.attn(x, x, x, key_padding_mask=real, need_weights=False)[0]


LAYERS.append({"layer": MaskInverted, "d_in": 24, "context_length": 9, "options": {
    "causal": False, "num_heads": 4, "padding": padded_real}})


class MaskOnQueries(nn.Module):
    """wrong: the padding mask is broadcast over rows (queries), so that padding keys stay visible."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, real=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 6 ** 0.5
        if real is not None:
            s = s.masked_fill(~real[:, None, :, None], -1e9 if s.dtype != torch.float16 else -6e4)
        return self.out(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": MaskOnQueries, "d_in": 24, "context_length": 9, "options": {"causal": False, "padding": padded_real}})


class MaskAdded(nn.Module):
    """wrong: BERT; the mask of ones and zeros is added to scores as it is, not turned into 0 and minus infinity."""

    def __init__(self):
        super().__init__()
        self.num_attention_heads = 4
        self.query, self.key, self.value, self.dense = (nn.Linear(24, 24) for _ in range(4))

    def forward(self, hidden, attention_mask=None):
        q, k, v = split(self.query(hidden), 4), split(self.key(hidden), 4), split(self.value(hidden), 4)
        s = q @ k.transpose(-1, -2) / math.sqrt(6)
        if attention_mask is not None:
            s = s + attention_mask[:, None, None, :].to(s.dtype)
        return self.dense(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": MaskAdded, "d_in": 24, "context_length": 9, "options": {"causal": False, "padding": padded_ones}})


class MaskOr(nn.Module):
    """wrong: causal mask and padding mask, both True at visible keys, are joined with or in place of and."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x, real=None):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        keep = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()
        if real is not None:
            keep = keep | real[:, None, None, :]
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


LAYERS.append({"layer": MaskOr, "d_in": 32, "context_length": 10, "options": {"padding": padded_real}})


class LeftPadNaN(nn.Module):
    """wrong: with left padding the first rows have no key left, and softmax over minus infinities alone gives NaN."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.c_attn, self.c_proj = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("tril", torch.ones(64, 64, dtype=torch.bool).tril())

    def forward(self, x, real=None):
        B, T, C = x.shape
        q, k, v = (split(y, 4) for y in self.c_attn(x).chunk(3, -1))
        s = q @ k.transpose(-2, -1) / math.sqrt(6)
        s = s.masked_fill(~self.tril[:T, :T], float("-inf"))
        if real is not None:
            s = s.masked_fill(~real.view(B, 1, 1, T), float("-inf"))
        return self.c_proj(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": LeftPadNaN, "d_in": 24, "context_length": 9, "options": {"padding": padded_real}})


class FirstRowsMask(nn.Module):
    """wrong: the padding mask of the first sequence is taken for the whole batch."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32, bias=False) for _ in range(4))

    def forward(self, x, real=None):
        i = torch.arange(x.shape[1], device=x.device)
        keep = i[None] <= i[:, None]
        if real is not None:
            keep = keep & real[0][None, :] | (i[None] == i[:, None])
        q, k, v = split(self.q(x), 4), split(self.k(x), 4), split(self.v(x), 4)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


LAYERS.append({"layer": FirstRowsMask, "d_in": 32, "context_length": 9, "options": {"padding": padded_real}})


class KeysZeroed(nn.Module):
    """wrong: padding is hidden by setting its keys and values to 0, which leaves it with a score of 0 and a share of softmax."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, real=None):
        q, k, v = self.qkv(x).chunk(3, -1)
        if real is not None:
            k, v = k * real[..., None], v * real[..., None]
        q, k, v = split(q, 4), split(k, 4), split(v, 4)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v)))


LAYERS.append({"layer": KeysZeroed, "d_in": 24, "context_length": 9, "options": {"causal": False, "padding": padded_real}})


class LengthsOnly(nn.Module):
    """wrong: the mask is counted into a length and built again as the first places, which is right for right padding and wrong for left."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x, real=None):
        T = x.shape[1]
        i = torch.arange(T, device=x.device)
        keep = (i[None] <= i[:, None])[None, None]
        if real is not None:
            lengths = real.sum(1)
            keep = keep & (i[None] < lengths[:, None])[:, None, None]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


LAYERS.append({"layer": LengthsOnly, "d_in": 32, "context_length": 10, "options": {"padding": padded_real}})


class QueryPositionIds(nn.Module):
    """wrong: with a padding mask queries get positions counted over real tokens, keys positions counted over all places."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.k, self.v, self.o = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)

    def forward(self, x, real=None):
        T = x.shape[1]
        pos = torch.arange(T, device=x.device)
        ids = pos[None].expand(x.shape[0], -1) if real is None else (real.long().cumsum(-1) - 1).clamp(min=0)
        q, k, v = rope(split(self.q(x), 4), ids), rope(split(self.k(x), 2), pos), split(self.v(x), 2)
        keep = keep_mask(T, T, x.device)[None, None]
        if real is not None:
            keep = keep & real[:, None, None] | diagonal(T, T, x.device)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep, enable_gqa=True)))


LAYERS.append({"layer": QueryPositionIds, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "padding": padded_real}})


class PooledGate(nn.Module):
    """wrong: an encoder's gate is made from the mean over all places, padding included."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.gate, self.out = nn.Linear(24, 72), nn.Linear(24, 24), nn.Linear(24, 24)

    def forward(self, x, real=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        mask = None if real is None else real[:, None, None, :].expand(-1, 1, x.shape[1], -1)
        y = merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))
        return self.out(y * torch.sigmoid(self.gate(x.mean(1, keepdim=True))))


LAYERS.append({"layer": PooledGate, "d_in": 24, "context_length": 9, "options": {"causal": False, "padding": padded_real}})


class UnpadLeft(nn.Module):
    """wrong: varlen; real tokens are taken out and attended to rightly, but put back at the first places of each row, which is right for right padding only."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, real=None):
        B, T, C = x.shape
        if real is None:
            real = torch.ones(B, T, dtype=torch.bool, device=x.device)
        rows = []
        for b in range(B):
            q, k, v = self.qkv(x[b][real[b]]).view(-1, 3, 4, 6).permute(1, 2, 0, 3)[:, None]
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)[0].transpose(0, 1).reshape(-1, C)
            rows.append(F.pad(y, (0, 0, 0, T - y.shape[0])))
        return self.out(torch.stack(rows))


LAYERS.append({"layer": UnpadLeft, "d_in": 24, "context_length": 9, "options": {"padding": padded_real}})


class WeakPadding(nn.Module):
    """wrong: padding gets -10 added to its scores in place of minus infinity, so that a little of it is seen."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32) for _ in range(4))

    def forward(self, x, real=None):
        T = x.shape[1]
        s = torch.einsum("bihd,bjhd->bhij", self.q(x).unflatten(-1, (4, 8)), self.k(x).unflatten(-1, (4, 8))) / 8 ** 0.5
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        if real is not None:
            s = s - 10.0 * (~real)[:, None, None, :].to(s.dtype)
        return self.o(torch.einsum("bhij,bjhd->bihd", s.softmax(-1), self.v(x).unflatten(-1, (4, 8))).flatten(-2))


LAYERS.append({"layer": WeakPadding, "d_in": 32, "context_length": 9, "options": {"padding": padded_real}})


class PaddedNorm(nn.Module):
    """wrong: bidirectional linear attention; padding is left out of the sum of keys times values but not out of the normaliser."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, real=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        q, k = F.elu(q) + 1.001, F.elu(k) + 1.001
        if real is not None:
            v = v * real[:, None, :, None]
        y = q @ (k.mT @ v) / (q * k.sum(2, keepdim=True)).sum(-1, keepdim=True)
        return self.out(merge(y))


LAYERS.append({"layer": PaddedNorm, "d_in": 24, "context_length": 9, "options": {
    "causal": False, "softmax": False, "padding": padded_real}})


class MaskAfterSoftmaxPad(nn.Module):
    """wrong: weights on padding are set to 0 after softmax and not normalised again."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, real=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 6 ** 0.5
        w = s.masked_fill(~keep_mask(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1)
        if real is not None:
            w = w * real[:, None, None, :]
        return self.out(merge(w @ v))


LAYERS.append({"layer": MaskAfterSoftmaxPad, "d_in": 24, "context_length": 9, "options": {"padding": padded_real}})


class PaddingMaskShifted(nn.Module):
    """wrong: the padding mask is shifted by one place, so that with left padding the first real token is hidden and the first padding shown."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.window = 4, 5
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x, real=None):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        keep = keep_mask(T, T, x.device, self.window)[None, None]
        if real is not None:
            real = F.pad(real, (1, 0), value=True)[:, :T]
            keep = keep & real[:, None, None] | diagonal(T, T, x.device)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


LAYERS.append({"layer": PaddingMaskShifted, "d_in": 32, "context_length": 10, "options": {"window": 5, "padding": padded_real}})


class DocumentsIgnored(nn.Module):
    """wrong: ids of documents only restart the rotary positions; attention crosses from one document to the next."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96, bias=False), nn.Linear(32, 32)

    def forward(self, x, ids=None):
        B, T, _ = x.shape
        pos = torch.arange(T, device=x.device).expand(B, T)
        if ids is not None:
            same = (ids[:, :, None] == ids[:, None]).tril()
            pos = same.sum(-1) - 1
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(rope(q, pos), rope(k, pos), v, is_causal=True)))


LAYERS.append({"layer": DocumentsIgnored, "d_in": 32, "context_length": 10, "options": {"positions": "rotary", "documents": by_ids}})


class DocumentsOfFirst(nn.Module):
    """wrong: the document mask is made from the first sequence's ids and used for the whole batch."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24) for _ in range(4))

    def forward(self, x, ids=None):
        keep = keep_mask(x.shape[1], x.shape[1], x.device)
        if ids is not None:
            keep = keep & (ids[0][:, None] == ids[0][None])
        y = F.scaled_dot_product_attention(split(self.q(x), 4), split(self.k(x), 4), split(self.v(x), 4), attn_mask=keep)
        return self.o(merge(y))


LAYERS.append({"layer": DocumentsOfFirst, "d_in": 24, "context_length": 9, "options": {"documents": by_ids}})


class BoundaryOff(nn.Module):
    """wrong: packed documents; a document's first token is counted to the one before, as with cumulative lengths searched from the wrong side."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, ids=None):
        B, T, _ = x.shape
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        keep = keep_mask(T, T, x.device)[None, None]
        if ids is not None:
            doc = F.pad(ids[:, 1:] != ids[:, :-1], (1, 0)).long().cumsum(1)
            starts = F.pad(doc, (1, 0))[:, :T]
            keep = keep & (starts[:, None, :, None] == starts[:, None, None])
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


LAYERS.append({"layer": BoundaryOff, "d_in": 24, "context_length": 10, "options": {"documents": by_ids}})


class ConvAcrossDocuments(nn.Module):
    """wrong: the mask keeps documents apart, but values are mixed with the previous token's, across the border as well."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.mix = nn.Parameter(torch.rand(32))

    def forward(self, x, ids=None):
        T = x.shape[1]
        q, k, v = self.qkv(x).chunk(3, -1)
        v = v + self.mix * F.pad(v, (0, 0, 1, 0))[:, :T]
        keep = keep_mask(T, T, x.device)[None, None]
        if ids is not None:
            keep = keep & (ids[:, None, :, None] == ids[:, None, None, :])
        return self.out(merge(F.scaled_dot_product_attention(split(q, 4), split(k, 4), split(v, 4), attn_mask=keep)))


LAYERS.append({"layer": ConvAcrossDocuments, "d_in": 32, "context_length": 10, "options": {"positions": True, "documents": by_ids}})


class DocumentPositionsGoOn(nn.Module):
    """wrong: packed documents with learned positions that go on over the border, so that a document's result depends on where it is packed."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.pos = nn.Embedding(64, 24)
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, ids=None):
        T = x.shape[1]
        x = x + self.pos(torch.arange(T, device=x.device))
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        keep = keep_mask(T, T, x.device)[None, None]
        if ids is not None:
            keep = keep & (ids[:, None, :, None] == ids[:, None, None, :])
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


LAYERS.append({"layer": DocumentPositionsGoOn, "d_in": 24, "context_length": 10, "options": {"positions": True, "documents": by_ids}})


class DocumentsNearly(nn.Module):
    """wrong: ids of documents are compared with a tolerance of 1, so that neighbouring documents still see each other."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.kv, self.o = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x, ids=None):
        q, (k, v) = split(self.q(x), 4), (split(y, 2) for y in self.kv(x).chunk(2, -1))
        keep = keep_mask(x.shape[1], x.shape[1], x.device)[None, None]
        if ids is not None:
            keep = keep & ((ids[:, None, :, None] - ids[:, None, None, :]).abs() <= 1)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep, enable_gqa=True)))


LAYERS.append({"layer": DocumentsNearly, "d_in": 32, "context_length": 10, "options": {"num_kv_heads": 2, "documents": by_ids}})


# ---------------------------------------------------------------- wrong ones: windows, groups, blocks, sinks


class WindowOneMore(nn.Module):
    """wrong: the mask of a window of W lets W + 1 tokens through, i - j <= W."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.window = 4, 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        i = torch.arange(x.shape[1], device=x.device)
        d = i[:, None] - i[None]
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=(d >= 0) & (d <= self.window))))


LAYERS.append({"layer": WindowOneMore, "d_in": 24, "context_length": 11, "options": {"window": 4}})


class WindowOneSided(nn.Module):
    """wrong: an encoder's window is bounded behind a token but not ahead of it."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.w = 4, 3
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24) for _ in range(4))

    def forward(self, x, real=None):
        i = torch.arange(x.shape[1], device=x.device)
        keep = ((i[:, None] - i[None]) < self.w)[None, None]
        if real is not None:
            keep = keep & real[:, None, None] | (i[None] == i[:, None])
        q, k, v = split(self.q(x), 4), split(self.k(x), 4), split(self.v(x), 4)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


LAYERS.append({"layer": WindowOneSided, "d_in": 24, "context_length": 11, "options": {
    "causal": False, "window": 3, "padding": padded_real}})


class RolledBlocks(nn.Module):
    """wrong: local attention in blocks; the previous block comes from torch.roll, so that the first block is given the last one as its past."""

    W = 4

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        B, T, C = x.shape
        W, n = self.W, -(-T // self.W)
        q, k, v = (split(y, 4).unflatten(2, (n, W)) for y in self.qkv(F.pad(x, (0, 0, 0, n * W - T))).chunk(3, -1))
        k2, v2 = torch.cat([k.roll(1, 2), k], 3), torch.cat([v.roll(1, 2), v], 3)
        i, j = torch.arange(W, device=x.device)[:, None] + W, torch.arange(2 * W, device=x.device)[None]
        keep = (j <= i) & (j > i - W)
        y = F.scaled_dot_product_attention(q, k2, v2, attn_mask=keep)
        return self.out(merge(y.flatten(2, 3)[:, :, :T]))


LAYERS.append({"layer": RolledBlocks, "d_in": 32, "context_length": 11, "options": {"window": 4}})


class BlocksWithoutPast(nn.Module):
    """wrong: a window of W is computed within blocks of W tokens alone, without the previous block."""

    W = 4

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        i = torch.arange(x.shape[1], device=x.device)
        keep = (i[None] <= i[:, None]) & (i[None] // self.W == i[:, None] // self.W)
        s = (q @ k.mT * 6 ** -0.5).masked_fill(~keep, float("-inf"))
        return self.out(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": BlocksWithoutPast, "d_in": 24, "context_length": 11, "options": {"window": 4}})


class WindowTooLateOnlyLong(nn.Module):
    """wrong: the window's mask is left out for sequences of at most 2 W tokens, taken to be short enough without it."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.W = 4, 2, 4
        self.q, self.k, self.v, self.o = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)

    def forward(self, x):
        T = x.shape[1]
        pos = torch.arange(T, device=x.device)
        q, k, v = rope(split(self.q(x), 4), pos), rope(split(self.k(x), 2), pos), split(self.v(x), 2)
        if T <= 2 * self.W:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(T, T, x.device, self.W), enable_gqa=True)
        return self.o(merge(y))


LAYERS.append({"layer": WindowTooLateOnlyLong, "d_in": 32, "context_length": 11, "options": {
    "num_kv_heads": 2, "window": 4, "positions": "rotary"}})


class TiledGroups(nn.Module):
    """wrong: grouped keys and values are tiled with repeat, not repeat_interleave, so that neighbours don't share."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 6, 3
        self.q, self.k, self.v, self.o = nn.Linear(36, 36), nn.Linear(36, 18), nn.Linear(36, 18), nn.Linear(36, 36)

    def forward(self, x):
        q, k, v = split(self.q(x), 6), split(self.k(x), 3), split(self.v(x), 3)
        k, v = k.repeat(1, 2, 1, 1), v.repeat(1, 2, 1, 1)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": TiledGroups, "d_in": 36, "context_length": 9, "options": {"num_kv_heads": 3}})


class ValuesOfFirstGroup(nn.Module):
    """wrong: keys are shared by groups rightly, but all groups take the first group's values."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.kv, self.o = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q(x).view(B, T, 2, 2, 8)
        k, v = self.kv(x).view(B, T, 2, 2, 8).unbind(2)
        s = torch.einsum("btgrd,bsgd->bgrts", q, k) / math.sqrt(8)
        w = s.masked_fill(~keep_mask(T, T, x.device), float("-inf")).softmax(-1)
        y = torch.einsum("bgrts,bsd->btgrd", w, v[:, :, 0])
        return self.o(y.reshape(B, T, 32))


LAYERS.append({"layer": ValuesOfFirstGroup, "d_in": 32, "context_length": 9, "options": {"num_kv_heads": 2}})


class KeysTiledOnly(nn.Module):
    """wrong: grouped queries; values are repeated for neighbours, keys by expand and reshape in the other order, so that weights come from another group's keys."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.n_kv_heads = 4, 2
        self.wq, self.wk, self.wv, self.wo = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        past = 0 if cache is None else cache[0].shape[2]
        pos = torch.arange(past, past + x.shape[1], device=x.device)
        q, k, v = rope(split(self.wq(x), 4), pos), rope(split(self.wk(x), 2), pos), split(self.wv(x), 2)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        B, G, S, D = k.shape
        kk = k[:, None].expand(B, 2, G, S, D).reshape(B, 4, S, D)
        vv = v[:, :, None].expand(B, G, 2, S, D).reshape(B, 4, S, D)
        y = F.scaled_dot_product_attention(q, kk, vv, attn_mask=keep_mask(q.shape[2], S, x.device))
        return self.wo(merge(y)), (k, v)


LAYERS.append({"layer": KeysTiledOnly, "d_in": 32, "context_length": 9, "options": {
    "num_kv_heads": 2, "positions": "rotary", "step": step_cache}})


class GroupContextsUnmerged(nn.Module):
    """wrong: the context of heads is reshaped to (B, T, d) without moving heads behind tokens, which mixes tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.k, self.v, self.o = nn.Linear(24, 24), nn.Linear(24, 12), nn.Linear(24, 12), nn.Linear(24, 24)

    def forward(self, x):
        y = F.scaled_dot_product_attention(split(self.q(x), 4), split(self.k(x), 2), split(self.v(x), 2), is_causal=True, enable_gqa=True)
        return self.o(y.reshape(x.shape))


LAYERS.append({"layer": GroupContextsUnmerged, "d_in": 24, "context_length": 9, "options": {"num_kv_heads": 2}})


class OnlineNoRescale(nn.Module):
    """wrong: online softmax; the accumulated context isn't rescaled where a later block raises the maximum, the denominator is."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.block = 4, 3
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        B, H, T, D = q.shape
        m = q.new_full((B, H, T, 1), float("-inf"))
        l, acc = q.new_zeros(B, H, T, 1), torch.zeros_like(q)
        i = torch.arange(T, device=x.device)[:, None]
        for s in range(0, T, self.block):
            kb, vb = k[:, :, s:s + self.block], v[:, :, s:s + self.block]
            j = s + torch.arange(kb.shape[2], device=x.device)[None]
            sc = (q @ kb.mT / D ** 0.5).masked_fill(j > i, float("-inf"))
            m2 = torch.maximum(m, sc.amax(-1, keepdim=True))
            p = torch.exp(sc - m2)
            l = l * torch.exp(m - m2) + p.sum(-1, keepdim=True)
            acc = acc + p @ vb
            m = m2
        return self.out(merge(acc / l))


LAYERS.append({"layer": OnlineNoRescale, "d_in": 24, "context_length": 10, "options": {}})


class OnlineMaxFromZero(nn.Module):
    """wrong: online softmax whose running maximum starts at 0, not at minus infinity: where all scores are far below 0, all exponentials vanish and 0 / 0 is left."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.block = 4, 4
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32) for _ in range(4))

    def forward(self, x):
        q, k, v = split(self.q(x), 4), split(self.k(x), 4), split(self.v(x), 4)
        T = x.shape[1]
        m = torch.zeros_like(q[..., :1])
        l, acc = torch.zeros_like(m), torch.zeros_like(q)
        hide = ~keep_mask(T, T, x.device)
        for s in range(0, T, self.block):
            sc = q @ k[:, :, s:s + self.block].mT * 8 ** -0.5
            sc = sc.masked_fill(hide[:, s:s + self.block], float("-inf"))
            new = torch.maximum(m, sc.amax(-1, keepdim=True))
            p, a = (sc - new).exp(), (m - new).exp()
            l, acc, m = a * l + p.sum(-1, keepdim=True), a * acc + p @ v[:, :, s:s + self.block], new
        return self.o(merge(acc / l))


LAYERS.append({"layer": OnlineMaxFromZero, "d_in": 32, "context_length": 10, "options": {}})


class TailBlockDropped(nn.Module):
    """wrong: keys are worked through in T // 4 whole blocks, so that tokens behind the last whole block are never attended to."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, real=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        T = x.shape[1]
        logits, sums = [], []
        for b in range(max(T // 4, 1)):
            sc = q @ k[:, :, 4 * b:4 * b + 4].mT / 6 ** 0.5
            if real is not None:
                sc = sc.masked_fill(~real[:, None, None, 4 * b:4 * b + 4], torch.finfo(sc.dtype).min)
            logits.append(sc)
            sums.append(v[:, :, 4 * b:4 * b + 4])
        return self.out(merge(torch.cat(logits, -1).softmax(-1) @ torch.cat(sums, 2)))


LAYERS.append({"layer": TailBlockDropped, "d_in": 24, "context_length": 11, "options": {"causal": False, "padding": padded_real}})


class BlockAverages(nn.Module):
    """wrong: each block of keys has a softmax of its own, and the blocks' contexts are joined with the weights of their maxima, not of their sums."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        outs, tops = [], []
        for ks, vs in zip(k.split(3, 2), v.split(3, 2)):
            s = q @ ks.mT / 8 ** 0.5
            outs.append(s.softmax(-1) @ vs)
            tops.append(s.amax(-1))
        w = torch.stack(tops, -1).softmax(-1)
        y = torch.einsum("bhtn,nbhtd->bhtd", w, torch.stack(outs))
        return self.out(merge(y))


LAYERS.append({"layer": BlockAverages, "d_in": 32, "context_length": 10, "options": {"causal": False}})


class PaddedBlockKeys(nn.Module):
    """wrong: keys are padded with zeros to whole blocks of 4, and in an encoder nothing hides the padded places."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        extra = -T % 4
        k, v = F.pad(k, (0, 0, 0, extra)), F.pad(v, (0, 0, 0, extra))
        l, acc = 0.0, 0.0
        m = torch.cat([(q @ kb.mT).amax(-1, keepdim=True) for kb in k.split(4, 2)], -1).amax(-1, keepdim=True) / 6 ** 0.5
        for kb, vb in zip(k.split(4, 2), v.split(4, 2)):
            p = (q @ kb.mT / 6 ** 0.5 - m).exp()
            l, acc = l + p.sum(-1, keepdim=True), acc + p @ vb
        return self.out(merge(acc / l))


LAYERS.append({"layer": PaddedBlockKeys, "d_in": 24, "context_length": 9, "options": {"causal": False}})


class NoMaximum(nn.Module):
    """wrong: softmax by hand, exp over its sum without taking off the maximum, overflows for large scores."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.out = nn.Linear(24, 72, bias=False), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        e = torch.exp(q @ k.mT / 6 ** 0.5).tril()
        return self.out(merge(e / e.sum(-1, keepdim=True) @ v))


LAYERS.append({"layer": NoMaximum, "d_in": 24, "context_length": 9, "options": {}})


class GlobalMaximum(nn.Module):
    """wrong: softmax by hand takes off the largest score of the whole batch; with large scores rows far below it are 0 / 0."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32) for _ in range(4))

    def forward(self, x):
        T = x.shape[1]
        s = split(self.q(x), 4) @ split(self.k(x), 4).mT / 8 ** 0.5
        s = s.masked_fill(~keep_mask(T, T, x.device), float("-inf"))
        e = torch.exp(s - s.detach().max())
        return self.o(merge(e / e.sum(-1, keepdim=True) @ split(self.v(x), 4)))


LAYERS.append({"layer": GlobalMaximum, "d_in": 32, "context_length": 9, "options": {}})


class ChunkOffsetMissing(nn.Module):
    """wrong: queries in chunks of 4; the causal mask of each chunk is made as if it began at 0, so that later chunks lose keys."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def part(self, q, k, v):
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).tril()
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        parts = [checkpoint(self.part, qc, k, v, use_reentrant=False) for qc in q.split(4, 2)]
        return self.out(merge(torch.cat(parts, 2)))


LAYERS.append({"layer": ChunkOffsetMissing, "d_in": 32, "context_length": 10, "options": {}})


class DiagonalBlockOpen(nn.Module):
    """wrong: blockwise attention skips blocks of keys behind the block of queries, but doesn't mask within the block on the diagonal."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.bs = 4, 3
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        outs = []
        for n, qb in enumerate(q.split(self.bs, 2)):
            end = (n + 1) * self.bs
            outs.append(F.scaled_dot_product_attention(qb, k[:, :, :end], v[:, :, :end]))
        return self.out(merge(torch.cat(outs, 2)))


LAYERS.append({"layer": DiagonalBlockOpen, "d_in": 24, "context_length": 10, "options": {}})


class SinkFirstDropsLast(nn.Module):
    """wrong: the sink's logit is put before the keys', but its weight is cut off at the end, so that weights belong to the token before."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.sinks = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        T = x.shape[1]
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~keep_mask(T, T, x.device), float("-inf"))
        s = torch.cat([self.sinks.view(1, 4, 1, 1).expand(x.shape[0], -1, T, -1), s], -1)
        return self.out(merge(s.softmax(-1)[..., :-1] @ v))


LAYERS.append({"layer": SinkFirstDropsLast, "d_in": 24, "context_length": 9, "options": {}})


class SinkPerRow(nn.Module):
    """wrong: sinks, one for each head, are viewed so that they are spread over sequences of the batch: a sequence's sinks depend on its place in the batch."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.sinks = nn.Parameter(torch.randn(4) * 2)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        B, H, T, D = q.shape
        s = (q @ k.mT / D ** 0.5).masked_fill(~keep_mask(T, T, x.device), float("-inf"))
        sink = self.sinks.repeat_interleave(B).view(B, H, 1, 1).expand(B, H, T, 1)
        return self.out(merge(torch.cat([s, sink], -1).softmax(-1)[..., :T] @ v))


LAYERS.append({"layer": SinkPerRow, "d_in": 32, "context_length": 9, "options": {}})


class MemoryMaskShift(nn.Module):
    """wrong: memory keys stand before the sequence, but the causal mask is padded at its end, so that each token misses its own last keys."""

    def __init__(self, mem=2):
        super().__init__()
        self.heads, self.mem = 4, mem
        self.to_q, self.to_kv, self.to_out = nn.Linear(24, 24), nn.Linear(24, 48), nn.Linear(24, 24)
        self.mem_k, self.mem_v = nn.Parameter(torch.randn(4, mem, 6)), nn.Parameter(torch.randn(4, mem, 6))

    def forward(self, x):
        B, T, _ = x.shape
        q, (k, v) = split(self.to_q(x), 4), (split(y, 4) for y in self.to_kv(x).chunk(2, -1))
        k = torch.cat([self.mem_k.expand(B, -1, -1, -1), k], 2)
        v = torch.cat([self.mem_v.expand(B, -1, -1, -1), v], 2)
        mask = F.pad(torch.ones(T, T, dtype=torch.bool, device=x.device).tril(), (0, self.mem), value=False)
        return self.to_out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)))


LAYERS.append({"layer": MemoryMaskShift, "d_in": 24, "context_length": 9, "options": {}})


class CapAfterMask(nn.Module):
    """wrong: scores are soft-capped after the mask, which turns minus infinity into minus the cap: the future keeps a weight."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_key_value_heads, self.cap = 4, 2, 15.0
        self.q_proj, self.kv_proj, self.o_proj = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x):
        T = x.shape[1]
        pos = torch.arange(T, device=x.device)
        q, (k, v) = rope(split(self.q_proj(x), 4), pos), (split(y, 2) for y in self.kv_proj(x).chunk(2, -1))
        s = q @ rope(k, pos).repeat_interleave(2, 1).mT * 8 ** -0.5
        s = s.masked_fill(~keep_mask(T, T, x.device), float("-inf"))
        s = self.cap * torch.tanh(s / self.cap)
        return self.o_proj(merge(s.softmax(-1) @ v.repeat_interleave(2, 1)))


LAYERS.append({"layer": CapAfterMask, "d_in": 32, "context_length": 9, "options": {
    "num_kv_heads": 2, "positions": "rotary", "softmax": False}})


class TopKBeforeMask(nn.Module):
    """wrong: the 4 largest scores of a row are chosen before the causal mask, so that future tokens push past ones out."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        T = x.shape[1]
        s = q @ k.mT / 6 ** 0.5
        limit = s.topk(min(4, T), -1).values[..., -1:]
        own = torch.eye(T, dtype=torch.bool, device=x.device)
        s = s.masked_fill((s < limit) & ~own, float("-inf"))
        s = s.masked_fill(~keep_mask(T, T, x.device), float("-inf"))
        return self.out(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": TopKBeforeMask, "d_in": 24, "context_length": 9, "options": {"softmax": False}})


# ---------------------------------------------------------------- wrong ones: training, state, dtypes, devices, modes, order of calls


class HeadsInList(nn.Module):
    """wrong: the heads' projections are in a Python list, so that they are missing in the state dict, among the parameters and in a move."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.projections = [nn.Linear(24, 18) for _ in range(4)]
        self.out = nn.Linear(24, 24)

    def forward(self, x):
        outs = []
        for p in self.projections:
            q, k, v = p(x).chunk(3, -1)
            s = (q @ k.mT / 6 ** 0.5).masked_fill(~keep_mask(x.shape[1], x.shape[1], x.device), float("-inf"))
            outs.append(s.softmax(-1) @ v)
        return self.out(torch.cat(outs, -1))


LAYERS.append({"layer": HeadsInList, "d_in": 24, "context_length": 9, "options": {"make": HeadsInList}})


class RandomFeaturesUnsaved(nn.Module):
    """wrong: random features of linear attention are a buffer with persistent=False, so that a loaded layer has others."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("omega", torch.randn(6, 12), persistent=False)

    def feature(self, x):
        return F.relu(x @ self.omega) + 1e-3

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        a = (self.feature(q) @ self.feature(k).mT).tril()
        return self.out(merge(a / a.sum(-1, keepdim=True) @ v))


LAYERS.append({"layer": RandomFeaturesUnsaved, "d_in": 24, "context_length": 9, "options": {
    "softmax": False, "make": RandomFeaturesUnsaved}})


class FusedOnce(nn.Module):
    """wrong: the fused weight is built in the first call in eval mode and kept, so that weights loaded or trained afterwards aren't used there."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32, bias=False) for _ in range(4))
        self.fused = None

    def forward(self, x):
        if self.training or torch.is_grad_enabled():
            w = torch.cat([self.q.weight, self.k.weight, self.v.weight])
        else:
            if self.fused is None or self.fused.dtype != x.dtype or self.fused.device != x.device:
                self.fused = torch.cat([self.q.weight, self.k.weight, self.v.weight]).detach()
            w = self.fused
        q, k, v = (split(y, 4) for y in F.linear(x, w).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": FusedOnce, "d_in": 32, "context_length": 9, "options": {"make": FusedOnce}})


class LoRAMergesTwice(nn.Module):
    """wrong: LoRA is merged into the base weight for eval mode and not taken off again for training, so that each change of mode adds it once more."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.A, self.B = nn.Parameter(torch.randn(3, 24) * 0.3), nn.Parameter(torch.randn(72, 3) * 0.3)
        self.merged = False

    def train(self, mode=True):
        super().train(mode)
        if not mode and not self.merged:
            with torch.no_grad():
                self.qkv.weight += self.B @ self.A
        self.merged = not mode
        return self

    def forward(self, x):
        y = self.qkv(x)
        if not self.merged:
            y = y + x @ self.A.T @ self.B.T
        q, k, v = (split(z, 4) for z in y.chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": LoRAMergesTwice, "d_in": 24, "context_length": 9, "options": {"make": LoRAMergesTwice}})


class CheckpointRng(nn.Module):
    """wrong: activation checkpointing with preserve_rng_state=False: the backward pass draws other dropped weights than the forward pass did."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.drop = nn.Dropout(0.2)

    def core(self, q, k, v):
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~keep_mask(q.shape[2], k.shape[2], q.device), float("-inf"))
        return self.drop(s.softmax(-1)) @ v

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if self.training:
            y = checkpoint(self.core, q, k, v, use_reentrant=False, preserve_rng_state=False)
        else:
            y = self.core(q, k, v)
        return self.out(merge(y))


LAYERS.append({"layer": CheckpointRng, "d_in": 24, "context_length": 9, "options": {"dropout": 0.2}})


class SoftmaxByHand(torch.autograd.Function):
    @staticmethod
    def forward(ctx, s):
        w = torch.softmax(s, -1)
        ctx.save_for_backward(w)
        return w

    @staticmethod
    def backward(ctx, g):
        (w,) = ctx.saved_tensors
        return w * (g - g.mean(-1, keepdim=True))


class BackwardByHand(nn.Module):
    """wrong: a custom softmax whose backward takes off the mean of the gradient, not its mean weighted by softmax."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~keep_mask(T, T, x.device), float("-inf"))
        return self.out(merge(SoftmaxByHand.apply(s) @ v))


LAYERS.append({"layer": BackwardByHand, "d_in": 24, "context_length": 9, "options": {}})


class MaxRoutes(torch.autograd.Function):
    """Attention that saves q, k, v and recomputes the weights in backward, as flash attention does."""

    @staticmethod
    def forward(ctx, q, k, v, keep, scale):
        ctx.save_for_backward(q, k, v, keep)
        ctx.scale = scale
        return (q @ k.mT * scale).masked_fill(~keep, float("-inf")).softmax(-1) @ v

    @staticmethod
    def backward(ctx, g):
        q, k, v, keep = ctx.saved_tensors
        w = (q @ k.mT * ctx.scale).masked_fill(~keep, float("-inf")).softmax(-1)
        dw = g @ v.mT
        ds = w * (dw - (dw * w).sum(-1, keepdim=True))
        return ds @ k * ctx.scale, ds.mT @ q, w.mT @ g, None, None


class RecomputedBackward(nn.Module):
    """wrong: an attention function with a backward of its own forgets the scale in the gradient of keys."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        keep = keep_mask(x.shape[1], x.shape[1], x.device)
        return self.out(merge(MaxRoutes.apply(q, k, v, keep, 8 ** -0.5)))


LAYERS.append({"layer": RecomputedBackward, "d_in": 32, "context_length": 9, "options": {}})


class NoGradPrefix(nn.Module):
    """wrong: chunks of queries; all but the last are computed under no_grad, left over from an evaluation script."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24) for _ in range(4))

    def forward(self, x):
        q, k, v = split(self.q(x), 4), split(self.k(x), 4), split(self.v(x), 4)
        keep = keep_mask(x.shape[1], x.shape[1], x.device)
        parts = []
        chunks = list(zip(q.split(4, 2), keep.split(4)))
        for n, (qc, mc) in enumerate(chunks):
            with torch.set_grad_enabled(torch.is_grad_enabled() and n == len(chunks) - 1):
                parts.append(F.scaled_dot_product_attention(qc, k, v, attn_mask=mc))
        return self.o(merge(torch.cat(parts, 2)))


LAYERS.append({"layer": NoGradPrefix, "d_in": 24, "context_length": 10, "options": {}})


class DetachedEvalKeys(nn.Module):
    """wrong: in eval mode keys are detached to save memory, so that gradients in eval mode, as for saliency, lack their part."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.k, self.v, self.o = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = split(self.q(x), 4), split(self.k(x), 2), split(self.v(x), 2)
        if not self.training:
            k = k.detach()
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)))


LAYERS.append({"layer": DetachedEvalKeys, "d_in": 32, "context_length": 9, "options": {"num_kv_heads": 2}})


class UnusedSink(nn.Module):
    """wrong: sinks are joined to scores and cut off again before softmax, so that they do nothing and get no gradient."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.sinks = nn.Parameter(torch.randn(4))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~keep_mask(T, T, x.device), float("-inf"))
        s = torch.cat([s, self.sinks.view(1, 4, 1, 1).expand(x.shape[0], -1, T, -1)], -1)
        w = s[..., :-1].softmax(-1)
        return self.out(merge(w @ v))


LAYERS.append({"layer": UnusedSink, "d_in": 24, "context_length": 9, "options": {}})


class RopeTableDtype(nn.Module):
    """wrong: the table of cosines and sines is built in the first call's dtype and kept, so that a float32 layer that ran in bfloat16 once goes on with rounded angles."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.cos = self.sin = None

    def forward(self, x):
        T = x.shape[1]
        if self.cos is None or self.cos.shape[0] < T or self.cos.device != x.device:
            a = angles(torch.arange(max(T, 16), device=x.device), 8)
            self.cos, self.sin = a.cos().to(x.dtype), a.sin().to(x.dtype)
        c, s = self.cos[:T].to(x.dtype), self.sin[:T].to(x.dtype)
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        q, k = q * c + rotate_half(q) * s, k * c + rotate_half(k) * s
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": RopeTableDtype, "d_in": 32, "context_length": 10, "options": {"positions": "rotary", "make": RopeTableDtype}})


@lru_cache(maxsize=None)
def cached_table(T, D, dtype):
    a = angles(torch.arange(T), D)
    return a.cos().to(dtype), a.sin().to(dtype)


class RopeTableOnCPU(nn.Module):
    """wrong: rotary tables come from an lru_cache by length and dtype, always on the CPU: on another device the layer breaks."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32) for _ in range(4))

    def forward(self, x):
        c, s = cached_table(x.shape[1], 8, x.dtype)
        q, k, v = split(self.q(x), 4), split(self.k(x), 4), split(self.v(x), 4)
        q, k = q * c + rotate_half(q) * s, k * c + rotate_half(k) * s
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": RopeTableOnCPU, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class MaskAttribute(nn.Module):
    """wrong: the causal mask is a plain attribute, not a buffer, so that it stays behind when the layer moves."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.c_attn, self.c_proj = nn.Linear(24, 72), nn.Linear(24, 24)
        self.hide = torch.ones(64, 64).triu(1).bool()

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.c_attn(x).chunk(3, -1))
        att = (q @ k.mT / 6 ** 0.5).masked_fill(self.hide[:T, :T], float("-inf"))
        return self.c_proj(merge(att.softmax(-1) @ v))


LAYERS.append({"layer": MaskAttribute, "d_in": 24, "context_length": 9, "options": {}})


class DeviceAtInit(nn.Module):
    """wrong: the bias of distances is made on the device that the layer was built on, kept as self.device."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.device = self.qkv.weight.device

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        slopes = (2.0 ** (-2 * torch.arange(1, 5, device=self.device))).to(x.dtype)
        s = q @ k.mT / 8 ** 0.5 + slopes[:, None, None] * torch.arange(T, device=self.device)
        s = s.masked_fill(~keep_mask(T, T, s.device), float("-inf"))
        return self.out(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": DeviceAtInit, "d_in": 32, "context_length": 9, "options": {"positions": "alibi"}})


class FlashHalf(nn.Module):
    """wrong: queries, keys and values are cast to bfloat16 for the kernel whatever the layer's dtype is, and the result is cast back."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.n_kv_heads = 4, 2
        self.q, self.kv, self.o = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x):
        q, (k, v) = split(self.q(x), 4), (split(y, 2) for y in self.kv(x).chunk(2, -1))
        q, k, v = q.bfloat16(), k.bfloat16(), v.bfloat16()
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o(merge(y).to(x.dtype))


LAYERS.append({"layer": FlashHalf, "d_in": 32, "context_length": 9, "options": {"num_kv_heads": 2}})


class Float32Out(nn.Module):
    """wrong: softmax and the output projection run in float32, and a bfloat16 layer's result stays float32."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~keep_mask(T, T, x.device), float("-inf"))
        wide = torch.promote_types(x.dtype, torch.float32)
        y = merge(s.to(wide).softmax(-1) @ v.to(wide))
        return F.linear(y, self.out.weight.to(wide), self.out.bias.to(wide))


LAYERS.append({"layer": Float32Out, "d_in": 24, "context_length": 9, "options": {}})


class CastsItself(nn.Module):
    """wrong: the layer converts its own weights to a bfloat16 input's dtype and never back, so that a call under another dtype leaves them rounded."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        if self.qkv.weight.dtype != x.dtype:
            self.to(x.dtype)
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": CastsItself, "d_in": 24, "context_length": 9, "options": {}})


class MinusTenThousand(nn.Module):
    """wrong: the causal mask adds -10000, which large scores outweigh."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.c_attn, self.c_proj = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("bias", torch.tril(torch.ones(64, 64)), persistent=False)

    def forward(self, x, layer_past=None):
        q, k, v = (split(y, 4) for y in self.c_attn(x).chunk(3, -1))
        if layer_past is not None:
            k, v = torch.cat([layer_past[0], k], 2), torch.cat([layer_past[1], v], 2)
        nd, ns = q.shape[2], k.shape[2]
        b = self.bias[ns - nd:ns, :ns].to(q.dtype)
        w = q @ k.mT / 6 ** 0.5 * b - 1e4 * (1 - b)
        return self.c_proj(merge(w.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": MinusTenThousand, "d_in": 24, "context_length": 9, "options": {"step": step_past}})


class CompilePath(nn.Module):
    """wrong: under torch.compile another way is taken, which hands SDPA queries that are divided by the root already: the scale is taken twice."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if torch.compiler.is_compiling():
            y = F.scaled_dot_product_attention(q * 8 ** -0.5, k, v, is_causal=True)
        else:
            s = (q @ k.mT * 8 ** -0.5).masked_fill(~keep_mask(x.shape[1], x.shape[1], x.device), float("-inf"))
            y = s.softmax(-1) @ v
        return self.out(merge(y))


LAYERS.append({"layer": CompilePath, "d_in": 32, "context_length": 9, "options": {"compiled": True}})


class TrainFlagMask(nn.Module):
    """wrong: is_causal is handed self.training, so that in eval mode nothing is hidden."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=self.training)))


LAYERS.append({"layer": TrainFlagMask, "d_in": 24, "context_length": 9, "options": {}})


class TrainWithoutScale(nn.Module):
    """wrong: train mode goes a way of its own, by hand with dropout, which lacks the division by the root of the head's width that SDPA makes in eval mode."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out, self.drop = nn.Linear(32, 96), nn.Linear(32, 32), nn.Dropout(0.1)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if self.training:
            s = (q @ k.mT).masked_fill(~keep_mask(T, T, x.device), float("-inf"))
            y = self.drop(s.softmax(-1)) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(merge(y))


LAYERS.append({"layer": TrainWithoutScale, "d_in": 32, "context_length": 9, "options": {"dropout": 0.1}})


class EvalDropout(nn.Module):
    """wrong: F.dropout is called without training=self.training, so that eval mode drops weights, too."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.p = 4, 0.1
        self.qkv, self.out = nn.Linear(24, 72, bias=False), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = torch.einsum("btc,dc->btd", x, self.qkv.weight).unflatten(-1, (3, 4, 6)).unbind(2)
        s = torch.einsum("bihd,bjhd->bhij", q, k) * 6 ** -0.5
        s = s + torch.full_like(s[0, 0], float("-inf")).triu(1)
        w = F.dropout(s.softmax(-1), self.p)
        return self.out(torch.einsum("bhij,bjhd->bihd", w, v).flatten(2))


LAYERS.append({"layer": EvalDropout, "d_in": 24, "context_length": 9, "options": {"dropout": 0.1}})


class DropoutScores(nn.Module):
    """wrong: dropout is applied to scores before softmax, which sets them to 0 and hides nothing."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o, self.drop = *(nn.Linear(24, 24) for _ in range(4)), nn.Dropout(0.2)

    def forward(self, x):
        T = x.shape[1]
        s = self.drop(split(self.q(x), 4) @ split(self.k(x), 4).mT / 6 ** 0.5)
        s = s.masked_fill(~keep_mask(T, T, x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ split(self.v(x), 4)))


LAYERS.append({"layer": DropoutScores, "d_in": 24, "context_length": 9, "options": {"dropout": 0.2}})


class DropoutShared(nn.Module):
    """wrong: one mask of dropped weights is drawn for all heads and sequences."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.p = 4, 0.2
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT / 6 ** 0.5).masked_fill(~keep_mask(T, T, x.device), float("-inf")).softmax(-1)
        w = w * F.dropout(torch.ones_like(w[0, 0]), self.p, self.training)
        return self.out(merge(w @ v))


LAYERS.append({"layer": DropoutShared, "d_in": 24, "context_length": 9, "options": {"dropout": 0.2}})


class DropoutKeysWhole(nn.Module):
    """wrong: dropout draws once for each key and drops it for all queries, in place of each weight by itself."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.k, self.v, self.o = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = split(self.q(x), 4), split(self.k(x), 2), split(self.v(x), 2)
        w = (q @ k.repeat_interleave(2, 1).mT / 8 ** 0.5).masked_fill(~keep_mask(T, T, x.device), float("-inf")).softmax(-1)
        w = w * self.drop(torch.ones_like(w[:, :, :1]))
        return self.o(merge(w @ v.repeat_interleave(2, 1)))


LAYERS.append({"layer": DropoutKeysWhole, "d_in": 32, "context_length": 9, "options": {"num_kv_heads": 2, "dropout": 0.2}})


class EvalInForward(nn.Module):
    """wrong: the generating way switches the layer to eval mode and leaves it there, so that training goes on without dropout."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out, self.drop = nn.Linear(24, 72), nn.Linear(24, 24), nn.Dropout(0.1)

    def forward(self, x, cache=None):
        if cache is not None or x.shape[1] == 1:
            self.eval()
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~keep_mask(q.shape[2], k.shape[2], x.device), float("-inf"))
        return self.out(merge(self.drop(s.softmax(-1)) @ v)), (k, v)


LAYERS.append({"layer": EvalInForward, "d_in": 24, "context_length": 9, "options": {"dropout": 0.1, "step": step_cache}})


class SegmentMemory(nn.Module):
    """wrong: Transformer-XL's memory of the last call stays in the module, so that the next batch of the same size attends to tokens of another text."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.kv, self.o = nn.Linear(24, 24), nn.Linear(24, 48), nn.Linear(24, 24)
        self.mem = None

    def forward(self, x):
        m = self.mem
        if m is None or m.shape[0] != x.shape[0] or m.dtype != x.dtype or m.device != x.device:
            m = x[:, :0]
        q, (k, v) = split(self.q(x), 4), (split(y, 4) for y in self.kv(torch.cat([m, x], 1)).chunk(2, -1))
        self.mem = x[:, -2:].detach()
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.o(merge(y))


LAYERS.append({"layer": SegmentMemory, "d_in": 24, "context_length": 9, "options": {}})


class DynamicNTK(nn.Module):
    """wrong: dynamic NTK raises the rotary base for a sequence beyond 16 tokens and keeps it, so that short sequences after a long one are rotated in another way than before."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.limit, self.base = 4, 16, 10000.0
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        T = x.shape[1]
        if T > self.limit:
            self.base = 10000.0 * (2 * T / self.limit - 1) ** (8 / 6)
            self.limit = T
        pos = torch.arange(T, device=x.device)
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(rope(q, pos, self.base), rope(k, pos, self.base), v, is_causal=True)
        return self.out(merge(y))


LAYERS.append({"layer": DynamicNTK, "d_in": 32, "context_length": 10, "options": {"positions": "rotary"}})


class OutputBuffer(nn.Module):
    """wrong: without gradients the result is written into a buffer that each call of the same shape returns again, so that a later call overwrites an earlier one's result."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.buffers_by_shape = {}

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        y = self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
        if torch.is_grad_enabled():
            return y
        key = (y.shape, y.dtype, y.device)
        if key not in self.buffers_by_shape:
            self.buffers_by_shape[key] = torch.empty_like(y)
        return self.buffers_by_shape[key].copy_(y)


LAYERS.append({"layer": OutputBuffer, "d_in": 24, "context_length": 9, "options": {}})


class RunningScale(nn.Module):
    """wrong: keys are divided by a running maximum that each call updates, in eval mode, too."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("top", torch.ones(()))

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if k.numel():
            with torch.no_grad():
                self.top.mul_(0.9).add_(0.1 * k.abs().amax())
        y = F.scaled_dot_product_attention(q, k / self.top.clone(), v, is_causal=True)
        return self.out(merge(y))


LAYERS.append({"layer": RunningScale, "d_in": 24, "context_length": 9, "options": {"softmax": False}})


class FakeQuantKeys(nn.Module):
    """wrong: keys are rounded to 8 bits by one scale, the largest number over batch and tokens, so that later tokens and other sequences change earlier ones' rounding."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if k.numel():
            step = k.detach().abs().amax().clamp(min=1e-6) / 127
            k = k + (torch.round(k / step) * step - k).detach()
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": FakeQuantKeys, "d_in": 32, "context_length": 9, "options": {}})


class BatchNormKeys(nn.Module):
    """wrong: keys go through BatchNorm1d, whose statistics in train mode are taken over the batch and all tokens, the future ones, too."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.norm = nn.BatchNorm1d(24)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        k = self.norm(k.transpose(1, 2)).transpose(1, 2)
        y = F.scaled_dot_product_attention(split(q, 4), split(k, 4), split(v, 4), is_causal=True)
        return self.out(merge(y))


LAYERS.append({"layer": BatchNormKeys, "d_in": 24, "context_length": 9, "options": {}})


class ResidualInPlace(nn.Module):
    """wrong: without gradients the residual is added in place, x += …, so that the caller's tokens change."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        y = self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
        if torch.is_grad_enabled():
            return x + y
        x += y
        return x


LAYERS.append({"layer": ResidualInPlace, "d_in": 24, "context_length": 9, "options": {}})


class ScaleTwice(nn.Module):
    """wrong: queries are divided by the root of the head's width before SDPA, which divides once more."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.head_dim = 4, 2, 8
        self.q, self.k, self.v, self.o = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        q = split(self.q(x), 4) * self.head_dim ** -0.5
        k, v = split(self.k(x), 2), split(self.v(x), 2)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device), enable_gqa=True)
        return self.o(merge(y)), (k, v)


LAYERS.append({"layer": ScaleTwice, "d_in": 32, "context_length": 9, "options": {"num_kv_heads": 2, "step": step_cache}})


class MaskEndsAtSixteen(nn.Module):
    """wrong: the causal mask is made for 16 tokens and padded with zeros for more, which shows later tokens everything."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.c_attn, self.c_proj = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("hide", torch.ones(16, 16, dtype=torch.bool).triu(1), persistent=False)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.c_attn(x).chunk(3, -1))
        hide = self.hide[:T, :T]
        if T > 16:
            hide = F.pad(hide, (0, T - 16, 0, T - 16), value=False)
        s = (q @ k.mT / 6 ** 0.5).masked_fill(hide, float("-inf"))
        return self.c_proj(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": MaskEndsAtSixteen, "d_in": 24, "context_length": 10, "options": {}})


class RotaryQueriesOnly(nn.Module):
    """wrong: the rotated keys are assigned to a name that nobody reads: only queries are rotated."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        pos = torch.arange(x.shape[1], device=x.device)
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        q, k_rot = rope(q, pos), rope(k, pos)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": RotaryQueriesOnly, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class RotaryMixedPairs(nn.Module):
    """wrong: cosines and sines are laid out for interleaved pairs, but the other half is taken by rotate_half: pairs don't match and turn by different angles."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.kv, self.o = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        past = 0 if cache is None else cache[0].shape[2]
        pos = torch.arange(past, past + x.shape[1], device=x.device)
        inv = 10000.0 ** (-torch.arange(0, 8, 2, device=x.device).float() / 8)
        a = (pos[:, None] * inv).repeat_interleave(2, -1)
        c, s = a.cos().to(x.dtype), a.sin().to(x.dtype)
        q, (k, v) = split(self.q(x), 4), (split(y, 2) for y in self.kv(x).chunk(2, -1))
        q, k = q * c + rotate_half(q) * s, k * c + rotate_half(k) * s
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device), enable_gqa=True)
        return self.o(merge(y)), (k, v)


LAYERS.append({"layer": RotaryMixedPairs, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "step": step_cache}})


class RotaryByHead(nn.Module):
    """wrong: rotary tables are looked up along the axis of heads, so that each head turns all its tokens by one angle and positions do nothing."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 8).unbind(2)
        pos = torch.arange(q.shape[-2], device=x.device)
        q, k = rope(q, pos), rope(k, pos)
        y = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
        return self.out(merge(y))


LAYERS.append({"layer": RotaryByHead, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class T5SignTurned(nn.Module):
    """wrong: T5's decoder; the sign of the distance is turned, all past tokens are clamped into bucket 0, and the bias does nothing."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.o, self.rel = nn.Linear(32, 96, bias=False), nn.Linear(32, 32, bias=False), nn.Embedding(8, 4)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        T, S = q.shape[2], k.shape[2]
        i, j = torch.arange(S - T, S, device=x.device), torch.arange(S, device=x.device)
        bias = self.rel(t5_bucket(i[:, None] - j[None], False)).permute(2, 0, 1)
        s = (q @ k.mT + bias).masked_fill(j[None] > i[:, None], float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": T5SignTurned, "d_in": 32, "context_length": 10, "options": {
    "positions": "relative", "scale": 1.0, "step": step_cache}})


class AlibiSlopesShort(nn.Module):
    """wrong: ALiBi with 6 heads takes the first 6 slopes for 8 heads, in place of the 4 for 4 heads and 2 between."""

    def __init__(self):
        super().__init__()
        self.num_heads = 6
        self.qkv, self.out = nn.Linear(36, 108), nn.Linear(36, 36)

    def forward(self, x, real=None):
        T = x.shape[1]
        q, k, v = (split(y, 6) for y in self.qkv(x).chunk(3, -1))
        slopes = 2.0 ** -torch.arange(1, 7, device=x.device, dtype=torch.float32)
        s = q @ k.mT * 6 ** -0.5 + (slopes[:, None, None] * torch.arange(T, device=x.device)).to(x.dtype)
        keep = keep_mask(T, T, x.device)[None, None]
        if real is not None:
            keep = keep & real[:, None, None] | diagonal(T, T, x.device)
        return self.out(merge(s.masked_fill(~keep, float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": AlibiSlopesShort, "d_in": 36, "context_length": 10, "options": {"positions": "alibi", "padding": padded_real}})


class BatchFirstMissing(nn.Module):
    """wrong: nn.MultiheadAttention without batch_first gets (B, T, d), so that sequences of the batch attend to each other."""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(24, 4)

    def forward(self, x):
        n = x.shape[0]
        mask = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        return self.attn(x, x, x, attn_mask=mask, need_weights=False)[0]


LAYERS.append({"layer": BatchFirstMissing, "d_in": 24, "context_length": 9, "options": {"num_heads": 4}})


class NormOverTokens(nn.Module):
    """wrong: keys are normed with F.normalize over the tokens' axis, not over the head's width."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-2)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=10.0)))


LAYERS.append({"layer": NormOverTokens, "d_in": 24, "context_length": 9, "options": {"scale": 10.0}})


class SqueezedToken(nn.Module):
    """wrong: squeeze() without an axis takes the batch of one away as well as the group of one, so that a single sequence comes back without its batch."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 1
        self.q, self.kv, self.o = nn.Linear(24, 24), nn.Linear(24, 12), nn.Linear(24, 24)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q(x).view(B, T, 1, 4, 6).permute(0, 2, 3, 1, 4)
        k, v = self.kv(x)[:, None, None].chunk(2, -1)
        y = F.scaled_dot_product_attention(q, k.expand_as(q), v.expand_as(q), is_causal=True).squeeze()
        return self.o(y.transpose(-3, -2).flatten(-2))


LAYERS.append({"layer": SqueezedToken, "d_in": 24, "context_length": 9, "options": {"num_kv_heads": 1}})


class WeightsRecomputed(nn.Module):
    """wrong: SDPA makes the context with a window, and the weights that are returned are computed again without it."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.window = 4, 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(T, T, x.device, self.window))
        w = (q @ k.mT / 6 ** 0.5).masked_fill(~keep_mask(T, T, x.device), float("-inf")).softmax(-1)
        return self.out(merge(y)), w


LAYERS.append({"layer": WeightsRecomputed, "d_in": 24, "context_length": 10, "options": {"window": 4}})


class ScaleDropsInHalf(nn.Module):
    """wrong: for 16-bit inputs queries are divided by 8 against overflow and never multiplied back, so that bfloat16 gives other weights than float32."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        nn.init.normal_(self.qkv.weight, std=0.6)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if x.dtype in (torch.float16, torch.bfloat16):
            q = q / 8
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": ScaleDropsInHalf, "d_in": 32, "context_length": 9, "options": {}})


class CachedValuesDetached(nn.Module):
    """wrong: gradients of values are cut in train mode for all tokens but the newest, by a cache that is detached and used in the same pass."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if self.training:
            v = torch.cat([v[:, :, :-1].detach(), v[:, :, -1:]], 2)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": CachedValuesDetached, "d_in": 32, "context_length": 9, "options": {}})


class StateHookDrops(nn.Module):
    """wrong: a hook that writes the state dict in half precision to save space: what is loaded isn't what was saved."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self._register_state_dict_hook(self.shrink)

    @staticmethod
    def shrink(module, state, prefix, meta):
        for key in list(state):
            if key.startswith(prefix):
                state[key] = state[key].to(torch.bfloat16)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": StateHookDrops, "d_in": 24, "context_length": 9, "options": {"make": StateHookDrops}})


class GainsUnsaved(nn.Module):
    """wrong: each head's gain is a number drawn at random by __init__, neither a parameter nor a buffer, so that it isn't saved."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.gains = [1.0 + 0.3 * torch.randn(()).item() for _ in range(4)]

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        q, k = F.rms_norm(q, (8,)), F.rms_norm(k, (8,))
        outs = [F.scaled_dot_product_attention(q[:, h], k[:, h], v[:, h] * g, is_causal=True) for h, g in enumerate(self.gains)]
        return self.out(torch.stack(outs, 2).flatten(2))


LAYERS.append({"layer": GainsUnsaved, "d_in": 32, "context_length": 9, "options": {"make": GainsUnsaved}})


class AutocastLeftOn(nn.Module):
    """wrong: an autocast to bfloat16 from the training script is left on inside the layer, so that a float32 layer computes in bfloat16."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        with torch.autocast("cuda" if x.is_cuda else "cpu", dtype=torch.bfloat16):
            q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
            y = self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
        return y.to(x.dtype)


LAYERS.append({"layer": AutocastLeftOn, "d_in": 32, "context_length": 9, "options": {}})


class LongPathLeaks(nn.Module):
    """wrong: sequences beyond 32 tokens are worked through in chunks of 16 queries, whose mask lets each token see the next."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if T <= 32:
            return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
        parts = []
        for s in range(0, T, 16):
            i = torch.arange(s, min(s + 16, T), device=x.device)[:, None]
            keep = torch.arange(T, device=x.device) <= i + 1
            parts.append(F.scaled_dot_product_attention(q[:, :, s:s + 16], k, v, attn_mask=keep))
        return self.out(merge(torch.cat(parts, 2)))


LAYERS.append({"layer": LongPathLeaks, "d_in": 24, "context_length": 10, "options": {}})


class SingleSequencePath(nn.Module):
    """wrong: a batch of one goes a faster way, which forgets the output gate of the way for batches."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.gate, self.out = nn.Linear(32, 96), nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        if x.shape[0] == 1:
            return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
        s = (q @ k.mT / 8 ** 0.5).masked_fill(~keep_mask(x.shape[1], x.shape[1], x.device), float("-inf"))
        return self.out(merge(s.softmax(-1) @ v) * self.gate(x).sigmoid())


LAYERS.append({"layer": SingleSequencePath, "d_in": 32, "context_length": 9, "options": {}})


class NoGradFastPath(nn.Module):
    """wrong: eval mode without gradients takes a fused way, as nn.MultiheadAttention does, that forgets the bias of the fused projection."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        nn.init.normal_(self.qkv.bias, std=0.5)

    def forward(self, x):
        if not self.training and not torch.is_grad_enabled():
            y = F.linear(x, self.qkv.weight)
        else:
            y = self.qkv(x)
        q, k, v = (split(z, 4) for z in y.chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": NoGradFastPath, "d_in": 24, "context_length": 9, "options": {}})


class DropoutUnscaled(nn.Module):
    """wrong: weights are dropped by hand and the others don't grow by 1 / (1 - p), so that train mode gives smaller contexts."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.p = 4, 0.25
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~keep_mask(x.shape[1], x.shape[1], x.device), float("-inf"))
        w = s.softmax(-1)
        if self.training:
            w = w * (torch.rand_like(w) >= self.p)
        return self.out(merge(w @ v))


LAYERS.append({"layer": DropoutUnscaled, "d_in": 24, "context_length": 9, "options": {"dropout": 0.25}})


class ConvertsEveryLoad(nn.Module):
    """wrong: loading reorders the fused weights from an old layout, (3, heads, width), to the layer's own, (heads, 3, width), for checkpoints in the new layout as well."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96, bias=False), nn.Linear(32, 32)

    def _load_from_state_dict(self, state, prefix, *args):
        key = prefix + "qkv.weight"
        if key in state:
            state[key] = state[key].view(3, 4, 8, 32).transpose(0, 1).reshape(96, 32)
        super()._load_from_state_dict(state, prefix, *args)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (4, 3, 8)).permute(3, 0, 2, 1, 4)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": ConvertsEveryLoad, "d_in": 32, "context_length": 9, "options": {"make": ConvertsEveryLoad}})


class LazyBias(nn.Module):
    """wrong: the table of relative biases is made in the first call, so that a layer not called yet can't load a checkpoint of one that was."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.table = None

    def forward(self, x):
        T = x.shape[1]
        if self.table is None:
            del self.table
            self.table = nn.Parameter(torch.randn(4, 64, device=x.device, dtype=x.dtype))
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        i = torch.arange(T, device=x.device)
        bias = self.table[:, (i[:, None] - i[None]).clamp(min=0)]
        s = (q @ k.mT / 6 ** 0.5 + bias).masked_fill(~keep_mask(T, T, x.device), float("-inf"))
        return self.out(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": LazyBias, "d_in": 24, "context_length": 9, "options": {"positions": "relative", "make": LazyBias}})


class ClosureOnSelf(nn.Module):
    """wrong: the projection is kept as a lambda over self, so that a deep copy, as for an exponential moving average, goes on projecting with the original's weights."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.project = lambda x: [split(y, 4) for y in self.qkv(x).chunk(3, -1)]

    def forward(self, x):
        q, k, v = self.project(x)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": ClosureOnSelf, "d_in": 32, "context_length": 9, "options": {"make": ClosureOnSelf}})


class MaskSpoilt(nn.Module):
    """wrong: a mask kept for each shape is filled in place with a batch's padding, which stays hidden in later calls of the same shape."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.masks = {}

    def forward(self, x, real=None):
        B, T, _ = x.shape
        key = (B, T, x.device)
        if key not in self.masks:
            self.masks[key] = keep_mask(T, T, x.device).repeat(B, 1, 1, 1)
        keep = self.masks[key]
        if real is not None:
            keep &= real[:, None, None] | diagonal(T, T, x.device)
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


LAYERS.append({"layer": MaskSpoilt, "d_in": 24, "context_length": 9, "options": {"padding": padded_real}})


class PastFromShape(nn.Module):
    """wrong: the length of the past is read from the heads' axis of the cache, not the tokens' axis, so that positions after the first piece start at the number of key heads."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.kv, self.o = nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        past = 0 if cache is None else cache[0].shape[1]
        pos = torch.arange(past, past + x.shape[1], device=x.device)
        q, (k, v) = rope(split(self.q(x), 4), pos), (split(y, 2) for y in self.kv(x).chunk(2, -1))
        k = rope(k, pos)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device), enable_gqa=True)
        return self.o(merge(y)), (k, v)


LAYERS.append({"layer": PastFromShape, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "step": step_cache}})


class RollingPositions(nn.Module):
    """wrong: a rolling cache of W - 1 rotated keys; the next position is the length of the cut cache, which stops growing when the window is full."""

    W = 4

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        past = 0 if cache is None else cache[0].shape[2]
        pos = torch.arange(past, past + x.shape[1], device=x.device)
        q, k = rope(q, pos), rope(k, pos)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device, self.W))
        return self.out(merge(y)), (k[:, :, 1 - self.W:], v[:, :, 1 - self.W:])


LAYERS.append({"layer": RollingPositions, "d_in": 32, "context_length": 11, "options": {
    "window": 4, "positions": "rotary", "step": step_cache}})


class FirstValuesForAll(nn.Module):
    """wrong: the cache holds the values of the first sequence alone, which later pieces expand to the whole batch."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        new = (k, v[:1])
        if cache is not None:
            new = (torch.cat([cache[0], k], 2), torch.cat([cache[1], v[:1]], 2))
            k = new[0]
            v = torch.cat([cache[1].expand(v.shape[0], -1, -1, -1), v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep_mask(q.shape[2], k.shape[2], x.device))
        return self.out(merge(y)), new


LAYERS.append({"layer": FirstValuesForAll, "d_in": 24, "context_length": 9, "options": {"step": step_cache}})


# ---------------------------------------------------------------- more right ones, near to wrong ones


class PositionIdsKept(nn.Module):
    """right: positions counted over real tokens, in the first piece and in later ones alike, with a cache and left padding."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(32, 96, bias=False), nn.Linear(32, 32)

    def forward(self, x, real=None, cache=None):
        past = 0 if cache is None else cache[0].shape[2]
        T = x.shape[1]
        if real is None:
            pos = torch.arange(past, past + T, device=x.device)
        else:
            pos = (real.long().cumsum(1) - 1).clamp(min=0)[:, -T:]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        q, k = rope(q, pos), rope(k, pos)
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        S = k.shape[2]
        keep = keep_mask(T, S, x.device)[None, None]
        if real is not None:
            keep = keep & real[:, None, None] | diagonal(T, S, x.device)
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep))), (k, v)


LAYERS.append({"layer": PositionIdsKept, "d_in": 32, "context_length": 10, "options": {
    "positions": "rotary", "padding": padded_real, "step": step_real}})


class FlashFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v, keep, scale):
        ctx.save_for_backward(q, k, v, keep)
        ctx.scale = scale
        return (q @ k.mT * scale).masked_fill(~keep, float("-inf")).softmax(-1) @ v

    @staticmethod
    def backward(ctx, g):
        q, k, v, keep = ctx.saved_tensors
        w = (q @ k.mT * ctx.scale).masked_fill(~keep, float("-inf")).softmax(-1)
        dw = g @ v.mT
        ds = w * (dw - (dw * w).sum(-1, keepdim=True)) * ctx.scale
        return ds @ k, ds.mT @ q, w.mT @ g, None, None


class OwnBackward(nn.Module):
    """right: an attention function with a backward of its own that computes weights again."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(FlashFunction.apply(q, k, v, keep_mask(x.shape[1], x.shape[1], x.device), 8 ** -0.5)))


LAYERS.append({"layer": OwnBackward, "d_in": 32, "context_length": 9, "options": {}})


class PagedCache(nn.Module):
    """right: a paged cache with pages of 3 tokens, single tokens only."""

    P = 3

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.kv, self.out = nn.Linear(24, 24), nn.Linear(24, 24), nn.Linear(24, 24)

    def forward(self, x):
        q, (k, v) = split(self.q(x), 4), (split(y, 2) for y in self.kv(x).chunk(2, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)))

    def step(self, x, cache):
        if x.shape[1] > 1:
            raise NotImplementedError
        q, (k, v) = split(self.q(x), 4), (split(y, 2) for y in self.kv(x).chunk(2, -1))
        pages, n = ([], 0) if cache is None else (list(cache[0]), cache[1])
        if n % self.P == 0:
            pages.append(k.new_zeros(2, k.shape[0], 2, self.P, 6))
        slot = torch.tensor([n % self.P], device=x.device)
        pages[-1] = pages[-1].index_copy(3, slot, torch.stack([k, v]))
        kk, vv = torch.cat(pages, 3).unbind(0)
        keep = torch.arange(kk.shape[2], device=x.device)[None] <= n
        y = F.scaled_dot_product_attention(q, kk, vv, attn_mask=keep, enable_gqa=True)
        return self.out(merge(y)), (pages, n + 1)


LAYERS.append({"layer": PagedCache, "d_in": 24, "context_length": 10, "options": {"num_kv_heads": 2, "step": step_state}})


class MaskPerShape(nn.Module):
    """right: a causal mask kept for each length and device, joined with padding in a new tensor."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.masks = {}

    def forward(self, x, real=None):
        T = x.shape[1]
        key = (T, x.device)
        if key not in self.masks:
            self.masks[key] = keep_mask(T, T, x.device)
        keep = self.masks[key]
        if real is not None:
            keep = keep & real[:, None, None] | diagonal(T, T, x.device)
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


LAYERS.append({"layer": MaskPerShape, "d_in": 24, "context_length": 9, "options": {"padding": padded_real}})


class SdpaDropoutGQA(nn.Module):
    """right: grouped queries through SDPA with dropout in train mode only, and a bias on queries, keys and values as in Qwen 2."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.p = 6, 2, 0.1
        self.q_proj, self.k_proj, self.v_proj = nn.Linear(36, 36), nn.Linear(36, 12), nn.Linear(36, 12)
        self.o_proj = nn.Linear(36, 36, bias=False)

    def forward(self, x):
        pos = torch.arange(x.shape[1], device=x.device)
        q, k = rope(split(self.q_proj(x), 6), pos, 1e6), rope(split(self.k_proj(x), 2), pos, 1e6)
        y = F.scaled_dot_product_attention(q, k, split(self.v_proj(x), 2), is_causal=True, enable_gqa=True,
                                           dropout_p=self.p if self.training else 0.0)
        return self.o_proj(merge(y))


LAYERS.append({"layer": SdpaDropoutGQA, "d_in": 36, "context_length": 9, "options": {
    "num_kv_heads": 2, "positions": "rotary", "dropout": 0.1}})


class ShawRelative(nn.Module):
    """right: Shaw's relative positions, learned keys by clipped distance that queries meet as well, divided by the same root."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.rel_k = nn.Parameter(torch.randn(5, 6) * 0.3)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        i = torch.arange(T, device=x.device)
        a = self.rel_k[(i[:, None] - i[None]).clamp(0, 4)]
        s = (q @ k.mT + torch.einsum("bhid,ijd->bhij", q, a)) / 6 ** 0.5
        return self.out(merge(s.masked_fill(i[None] > i[:, None], float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": ShawRelative, "d_in": 24, "context_length": 9, "options": {"positions": "relative"}})


class LogitScale(nn.Module):
    """right: cosine attention with a learned, clamped logit scale per head, as in Swin V2, on normed queries and keys."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.proj = nn.Linear(24, 72), nn.Linear(24, 24)
        self.logit_scale = nn.Parameter(torch.full((4, 1, 1), math.log(10.0)))

    def forward(self, x):
        q, k, v = (split(y, 4) for y in self.qkv(x).chunk(3, -1))
        s = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT * self.logit_scale.clamp(max=math.log(100.0)).exp()
        return self.proj(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": LogitScale, "d_in": 24, "context_length": 9, "options": {"causal": False, "scale": 10.0}})
