"""Attention layers as in today's language models and their inference code, right and wrong ones, to score an audit.

Each entry of LAYERS has a class, the sizes to call it with, and what an honest owner would declare.
"""

import math
from functools import lru_cache

import torch
import torch.nn as nn
import torch.nn.functional as F

LAYERS = []


# What owners declare, and parts that several files of a real repository would share.

def pad_real(module, x, real):
    return module(x, real=real)


def pad_hf(module, x, real):
    return module(x, attention_mask=real.long())


def pad_key(module, x, real):
    return module(x, key_padding_mask=~real)


def step_cache(module, x, cache):
    return module(x, cache=cache)


def step_left(module, x, cache, real=None):
    return module(x, cache=cache, real=real)


def step_past(module, x, cache):
    return module(x, layer_past=cache, use_cache=True)


def step_single(module, x, cache):
    if x.shape[1] != 1:
        raise NotImplementedError("one token at a time")
    return module.decode(x, cache)


def docs(module, x, ids):
    return module(x, doc_ids=ids)


def allowed(t, s, device, window=None):
    """(t, s) bool: the last t of s positions see what is behind them, themselves too."""
    i = torch.arange(s - t, s, device=device)[:, None]
    j = torch.arange(s, device=device)[None, :]
    mask = j <= i
    if window is not None:
        mask = mask & (j > i - window)
    return mask


def with_padding(mask, real):
    """(B, 1, t, s) from (t, s) and (B, s); padding sees itself, so that no row is empty."""
    t, s = mask.shape
    own = torch.arange(s - t, s, device=mask.device)[:, None] == torch.arange(s, device=mask.device)
    return ((mask & real[:, None, :]) | own)[:, None]


def angles(pos, dim, base=10000.0):
    inv = base ** (-torch.arange(0, dim, 2, device=pos.device, dtype=torch.float32) / dim)
    return pos.float()[..., None] * inv


def rotate(x, ang):
    cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


def rotate_pairs(x, ang):
    cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


def repeat_kv(x, n):
    b, h, t, d = x.shape
    return x[:, :, None].expand(b, h, n, t, d).reshape(b, h * n, t, d)


def alibi_slopes(n):
    def power(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start ** i for i in range(n)]
    if math.log2(n).is_integer():
        return power(n)
    near = 2 ** math.floor(math.log2(n))
    return power(near) + power(2 * near)[0::2][: n - near]


def bucket(distance, num_buckets=8, max_distance=16):
    """T5's buckets for distances 0, 1, 2, … to the past."""
    n = distance.clamp(min=0)
    exact = num_buckets // 2
    large = exact + (torch.log(n.clamp(min=1).float() / exact) / math.log(max_distance / exact)
                     * (num_buckets - exact)).long()
    return torch.where(n < exact, n, large.clamp(max=num_buckets - 1))


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


# ---------------------------------------------------------------- right ones

class NanoGPT(nn.Module):
    """right: nanoGPT's CausalSelfAttention with the mask in a buffer."""

    def __init__(self, n_embd=32, n_head=4, block_size=64, dropout=0.1):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.attn_dropout = nn.Dropout(dropout)
        self.resid_dropout = nn.Dropout(dropout)
        self.n_head, self.n_embd = n_head, n_embd
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size)).view(1, 1, block_size, block_size))

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


class NanoFlash(nn.Module):
    """right: nanoGPT's fast path, scaled_dot_product_attention with dropout in training only."""

    def __init__(self, n_embd=24, n_head=3, dropout=0.2):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.n_head, self.dropout = n_head, dropout

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.n_head, -1)).transpose(1, 2) for t in self.c_attn(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        return self.c_proj(y.transpose(1, 2).flatten(-2))


LAYERS.append({"layer": NanoFlash, "d_in": 24, "context_length": 9, "options": {"dropout": 0.2, "compiled": True}})


class Llama(nn.Module):
    """right: Llama's attention with grouped heads, rotary positions, a padding mask and a tuple as cache."""

    def __init__(self, hidden=32, num_heads=4, num_kv_heads=2):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.head_dim = num_heads, num_kv_heads, hidden // num_heads
        self.q_proj = nn.Linear(hidden, hidden, bias=False)
        self.k_proj = nn.Linear(hidden, num_kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(hidden, num_kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(hidden, hidden, bias=False)

    def forward(self, x, real=None, cache=None):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(B, T, self.num_kv_heads, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.num_kv_heads, self.head_dim).transpose(1, 2)
        past = 0 if cache is None else cache[0].shape[2]
        ang = angles(torch.arange(past, past + T, device=x.device), self.head_dim)
        q, k = rotate(q, ang), rotate(k, ang)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        new = (k, v)
        n = self.num_heads // self.num_kv_heads
        k, v = repeat_kv(k, n), repeat_kv(v, n)
        mask = allowed(T, past + T, x.device)
        if real is not None:
            mask = with_padding(mask, real)
        w = (q @ k.transpose(2, 3) / math.sqrt(self.head_dim)).masked_fill(~mask, torch.finfo(x.dtype).min)
        w = F.softmax(w, dim=-1, dtype=torch.float32).to(x.dtype) if x.dtype != torch.float64 else w.softmax(-1)
        return self.o_proj((w @ v).transpose(1, 2).reshape(B, T, -1)), new


LAYERS.append({"layer": Llama, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "padding": pad_real, "step": step_left}})


class Mistral(nn.Module):
    """right: Mistral's sliding window, with a cache that keeps only what the next token may still read."""

    def __init__(self, d=32, n_heads=4, n_kv_heads=2, window=4):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.hd, self.window = n_heads, n_kv_heads, d // n_heads, window
        self.wq = nn.Linear(d, n_heads * self.hd, bias=False)
        self.wk = nn.Linear(d, n_kv_heads * self.hd, bias=False)
        self.wv = nn.Linear(d, n_kv_heads * self.hd, bias=False)
        self.wo = nn.Linear(n_heads * self.hd, d, bias=False)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        seen = 0 if cache is None else cache["seen"]
        ang = angles(torch.arange(seen, seen + T, device=x.device), self.hd, 1e6)[:, None]
        q = rotate_pairs(self.wq(x).view(B, T, self.n_heads, self.hd), ang)
        k = rotate_pairs(self.wk(x).view(B, T, self.n_kv_heads, self.hd), ang)
        v = self.wv(x).view(B, T, self.n_kv_heads, self.hd)
        if cache is not None:
            k, v = torch.cat((cache["k"], k), 1), torch.cat((cache["v"], v), 1)
        new = {"k": k[:, -(self.window - 1):], "v": v[:, -(self.window - 1):], "seen": seen + T}
        n = self.n_heads // self.n_kv_heads
        kk, vv = k.repeat_interleave(n, dim=2), v.repeat_interleave(n, dim=2)
        mask = allowed(T, k.shape[1], x.device, self.window)
        y = F.scaled_dot_product_attention(q.transpose(1, 2), kk.transpose(1, 2), vv.transpose(1, 2), attn_mask=mask)
        return self.wo(y.transpose(1, 2).reshape(B, T, -1)), new


LAYERS.append({"layer": Mistral, "d_in": 32, "context_length": 11, "options": {
    "num_kv_heads": 2, "positions": "rotary", "window": 4, "step": step_cache}})


class Gemma2(nn.Module):
    """right: Gemma 2's attention, scores under a soft cap of 50 and its own query scale."""

    def __init__(self, d=24, num_heads=4, num_kv_heads=2, head_dim=8):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.head_dim = num_heads, num_kv_heads, head_dim
        self.scaling, self.cap = 12 ** -0.5, 50.0
        self.qkv_proj = nn.Linear(d, (num_heads + 2 * num_kv_heads) * head_dim, bias=False)
        self.o_proj = nn.Linear(num_heads * head_dim, d, bias=False)

    def forward(self, x, real=None):
        B, T, _ = x.shape
        q, k, v = self.qkv_proj(x).split([self.num_heads * self.head_dim] + [self.num_kv_heads * self.head_dim] * 2, -1)
        q = q.view(B, T, -1, self.head_dim).transpose(1, 2)
        k = k.view(B, T, -1, self.head_dim).transpose(1, 2)
        v = v.view(B, T, -1, self.head_dim).transpose(1, 2)
        ang = angles(torch.arange(T, device=x.device), self.head_dim)
        q, k = rotate(q, ang) * self.scaling, rotate(k, ang)
        n = self.num_heads // self.num_kv_heads
        scores = q @ repeat_kv(k, n).transpose(-1, -2)
        scores = torch.tanh(scores / self.cap) * self.cap
        mask = allowed(T, T, x.device)
        mask = mask if real is None else with_padding(mask, real)
        w = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        return self.o_proj((w @ repeat_kv(v, n)).transpose(1, 2).flatten(2))


LAYERS.append({"layer": Gemma2, "d_in": 24, "context_length": 9, "options": {
    "num_kv_heads": 2, "positions": "rotary", "scale": 12 ** -0.5, "padding": pad_real}})


class Qwen3(nn.Module):
    """right: Qwen3's attention, an RMSNorm for each head's queries and keys before rotary positions, cached."""

    def __init__(self, d=32, n_heads=4, n_kv_heads=2, head_dim=10):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.head_dim = n_heads, n_kv_heads, head_dim
        self.q_proj = nn.Linear(d, n_heads * head_dim, bias=False)
        self.k_proj = nn.Linear(d, n_kv_heads * head_dim, bias=False)
        self.v_proj = nn.Linear(d, n_kv_heads * head_dim, bias=False)
        self.o_proj = nn.Linear(n_heads * head_dim, d, bias=False)
        self.q_norm, self.k_norm = RMSNorm(head_dim), RMSNorm(head_dim)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        split = lambda y: y.view(B, T, -1, self.head_dim)
        q = self.q_norm(split(self.q_proj(x))).transpose(1, 2)
        k = self.k_norm(split(self.k_proj(x))).transpose(1, 2)
        v = split(self.v_proj(x)).transpose(1, 2)
        past = 0 if cache is None else cache[0].size(-2)
        ang = angles(torch.arange(past, past + T, device=x.device), self.head_dim, 1e6)
        q, k = rotate(q, ang), rotate(k, ang)
        if past:
            k, v = torch.cat([cache[0], k], -2), torch.cat([cache[1], v], -2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed(T, past + T, x.device), enable_gqa=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, -1)), (k, v)


LAYERS.append({"layer": Qwen3, "d_in": 32, "context_length": 8, "options": {
    "num_kv_heads": 2, "positions": "rotary", "step": step_cache}})


class Conv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(nx, nf) * 0.2)
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        return torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight).view(*x.shape[:-1], -1)


class GPT2(nn.Module):
    """right: GPT-2's attention of transformers, with Conv1D, layer_past and an attention mask of ones and zeros."""

    def __init__(self, d=24, num_heads=4, max_pos=64):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, d // num_heads
        self.c_attn, self.c_proj = Conv1D(3 * d, d), Conv1D(d, d)
        self.attn_dropout = nn.Dropout(0.1)
        self.register_buffer("bias", torch.ones(max_pos, max_pos, dtype=torch.bool).tril()[None, None], persistent=False)

    def _split_heads(self, t):
        return t.view(t.shape[:-1] + (self.num_heads, self.head_dim)).permute(0, 2, 1, 3)

    def forward(self, x, layer_past=None, attention_mask=None, use_cache=False):
        query, key, value = map(self._split_heads, self.c_attn(x).split(self.num_heads * self.head_dim, dim=2))
        if layer_past is not None:
            key = torch.cat((layer_past[0], key), dim=-2)
            value = torch.cat((layer_past[1], value), dim=-2)
        present = (key, value) if use_cache else None
        w = torch.matmul(query, key.transpose(-1, -2)) / (value.size(-1) ** 0.5)
        q_len, k_len = query.size(-2), key.size(-2)
        low = torch.finfo(w.dtype).min
        w = torch.where(self.bias[:, :, k_len - q_len:k_len, :k_len], w, torch.full([], low, dtype=w.dtype, device=w.device))
        if attention_mask is not None:
            w = w.masked_fill(attention_mask[:, None, None, :] == 0, low)
        w = self.attn_dropout(w.softmax(-1))
        y = torch.matmul(w, value).permute(0, 2, 1, 3).contiguous()
        y = self.c_proj(y.view(y.shape[:-2] + (-1,)))
        return (y, present) if use_cache else y


LAYERS.append({"layer": GPT2, "d_in": 24, "context_length": 10, "options": {
    "dropout": 0.1, "padding": pad_hf, "step": step_past}})


class LearnedPositions(nn.Module):
    """right: learned positions added inside, counted by a running sum of the padding mask, with a cache."""

    def __init__(self, d=24, heads=3, max_len=64):
        super().__init__()
        self.heads = heads
        self.wpe = nn.Embedding(max_len, d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, real=None, cache=None):
        B, T, C = x.shape
        past = 0 if cache is None else cache[0].shape[2]
        if real is None:
            pos = torch.arange(past, past + T, device=x.device).expand(B, T)
        else:
            pos = (real.long().cumsum(1) - 1).clamp(min=0)[:, -T:]
        q, k, v = self.qkv(x + self.wpe(pos)).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        mask = allowed(T, past + T, x.device)
        mask = mask if real is None else with_padding(mask, real)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.out(y.transpose(1, 2).reshape(B, T, C)), (k, v)


LAYERS.append({"layer": LearnedPositions, "d_in": 24, "context_length": 8, "options": {
    "positions": True, "padding": pad_real, "step": step_left}})


class BertSelfAttention(nn.Module):
    """right: BERT's self-attention, without a causal mask, with an extended padding mask."""

    def __init__(self, hidden=36, num_attention_heads=6):
        super().__init__()
        self.num_attention_heads, self.attention_head_size = num_attention_heads, hidden // num_attention_heads
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.dropout = nn.Dropout(0.1)

    def transpose_for_scores(self, x):
        return x.view(*x.shape[:-1], self.num_attention_heads, self.attention_head_size).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None):
        q, k, v = (self.transpose_for_scores(f(hidden_states)) for f in (self.query, self.key, self.value))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            ext = attention_mask[:, None, None, :].to(scores.dtype)
            scores = scores.masked_fill(ext == 0, torch.finfo(scores.dtype).min)
        probs = self.dropout(nn.functional.softmax(scores, dim=-1))
        context = (probs @ v).permute(0, 2, 1, 3).contiguous()
        return context.view(context.size()[:-2] + (-1,)), probs


LAYERS.append({"layer": BertSelfAttention, "d_in": 36, "context_length": 9, "options": {
    "causal": False, "dropout": 0.1, "padding": pad_hf}})


class T5Decoder(nn.Module):
    """right: T5's decoder self-attention, not scaled, with bucketed relative bias and a cache."""

    def __init__(self, d=32, n_heads=4):
        super().__init__()
        self.n_heads, self.dkv = n_heads, d // n_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(8, n_heads)

    def compute_bias(self, t, s, device):
        i = torch.arange(s - t, s, device=device)[:, None]
        j = torch.arange(s, device=device)[None]
        return self.relative_attention_bias(bucket(i - j)).permute(2, 0, 1)[None]

    def forward(self, x, cache=None, real=None):
        B, T, _ = x.shape
        shape = lambda y: y.view(B, -1, self.n_heads, self.dkv).transpose(1, 2)
        q, k, v = shape(self.q(x)), shape(self.k(x)), shape(self.v(x))
        if cache is not None:
            k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
        S = k.shape[2]
        mask = allowed(T, S, x.device)
        mask = mask if real is None else with_padding(mask, real)
        scores = q @ k.transpose(3, 2) + self.compute_bias(T, S, x.device)
        w = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        return self.o((w @ v).transpose(1, 2).reshape(B, T, -1)), (k, v)


LAYERS.append({"layer": T5Decoder, "d_in": 32, "context_length": 9, "options": {
    "positions": "relative", "scale": 1.0, "step": step_left, "padding": pad_real}})


class Bloom(nn.Module):
    """right: BLOOM's attention, ALiBi by key positions in baddbmm over batch times heads."""

    def __init__(self, d=32, num_heads=8):
        super().__init__()
        self.num_heads, self.hd = num_heads, d // num_heads
        self.query_key_value, self.dense = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("slopes", torch.tensor(alibi_slopes(num_heads)), persistent=False)

    def forward(self, x, real=None):
        B, T, C = x.shape
        fused = self.query_key_value(x).view(B, T, self.num_heads, 3, self.hd)
        q, k, v = (fused[..., i, :].transpose(1, 2).reshape(B * self.num_heads, T, self.hd) for i in range(3))
        ones = torch.ones(B, T, device=x.device, dtype=torch.long) if real is None else real.long()
        pos = ((ones.cumsum(-1) - 1) * ones)[:, None, :]
        alibi = (self.slopes.to(x.dtype)[:, None, None] * pos[:, None].to(x.dtype)).reshape(B * self.num_heads, 1, T)
        scores = torch.baddbmm(alibi.expand(-1, T, -1), q, k.transpose(1, 2), beta=1.0, alpha=self.hd ** -0.5)
        mask = with_padding(allowed(T, T, x.device), ones.bool())
        scores = scores.view(B, self.num_heads, T, T).masked_fill(~mask, torch.finfo(x.dtype).min)
        w = scores.softmax(-1).view(B * self.num_heads, T, T)
        return self.dense(torch.bmm(w, v).view(B, self.num_heads, T, self.hd).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": Bloom, "d_in": 32, "context_length": 10, "options": {"positions": "alibi", "padding": pad_real}})


class AlibiSix(nn.Module):
    """right: ALiBi with six heads, the published slopes for a number that is no power of two, as SDPA's mask, cached."""

    def __init__(self, d=36, num_heads=6):
        super().__init__()
        self.num_heads = num_heads
        self.to_q, self.to_kv, self.to_out = nn.Linear(d, d), nn.Linear(d, 2 * d), nn.Linear(d, d)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q = self.to_q(x).view(B, T, self.num_heads, -1).transpose(1, 2)
        k, v = self.to_kv(x).view(B, T, 2, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        if cache is not None:
            k, v = (torch.cat(p, 2) for p in zip(cache, (k, v)))
        S = k.shape[2]
        dist = torch.arange(S - T, S, device=x.device)[:, None] - torch.arange(S, device=x.device)
        slopes = torch.tensor(alibi_slopes(self.num_heads), device=x.device, dtype=x.dtype)
        bias = (-slopes[:, None, None] * dist).masked_fill(dist < 0, float("-inf"))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None])
        return self.to_out(y.transpose(1, 2).reshape(B, T, C)), (k, v)


LAYERS.append({"layer": AlibiSix, "d_in": 36, "context_length": 12, "options": {"positions": "alibi", "step": step_cache}})


class TorchMHA(nn.Module):
    """right: nn.MultiheadAttention wrapped with a causal mask and a padding mask in one, for each head."""

    def __init__(self, d=32, num_heads=4):
        super().__init__()
        self.mha = nn.MultiheadAttention(d, num_heads, dropout=0.1, batch_first=True)

    def forward(self, x, key_padding_mask=None):
        B, T, _ = x.shape
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        if key_padding_mask is not None:
            hide = (hide | key_padding_mask[:, None, :]) & ~torch.eye(T, dtype=torch.bool, device=x.device)
            hide = hide.repeat_interleave(self.mha.num_heads, dim=0)
        return self.mha(x, x, x, attn_mask=hide, need_weights=False)[0]


LAYERS.append({"layer": TorchMHA, "d_in": 32, "context_length": 8, "options": {
    "num_heads": 4, "dropout": 0.1, "padding": pad_key}})


class TimmAttention(nn.Module):
    """right: timm's vision attention with LayerNorm on queries and keys, no mask."""

    def __init__(self, dim=32, num_heads=4):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.scale = self.head_dim ** -0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=True)
        self.q_norm, self.k_norm = nn.LayerNorm(self.head_dim), nn.LayerNorm(self.head_dim)
        self.attn_drop, self.proj, self.proj_drop = nn.Dropout(0.0), nn.Linear(dim, dim), nn.Dropout(0.1)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4).unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        attn = self.attn_drop((q * self.scale @ k.transpose(-2, -1)).softmax(dim=-1))
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj_drop(self.proj(x))


LAYERS.append({"layer": TimmAttention, "d_in": 32, "context_length": 9, "options": {"causal": False}})


class NullKey(nn.Module):
    """right: a learned key and value before all tokens, which each position may attend to, as in x-transformers."""

    def __init__(self, dim=24, heads=4, dim_head=6):
        super().__init__()
        self.heads, self.scale = heads, dim_head ** -0.5
        inner = heads * dim_head
        self.to_q, self.to_k, self.to_v = (nn.Linear(dim, inner, bias=False) for _ in range(3))
        self.null = nn.Parameter(torch.randn(2, heads, 1, dim_head))
        self.to_out = nn.Linear(inner, dim)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        nk, nv = (n.expand(B, -1, -1, -1) for n in self.null)
        k, v = torch.cat((nk, k), dim=-2), torch.cat((nv, v), dim=-2)
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        mask = F.pad(allowed(T, T, x.device), (1, 0), value=True)
        attn = sim.masked_fill(~mask, -torch.finfo(sim.dtype).max).softmax(dim=-1)
        return self.to_out(torch.einsum("bhij,bhjd->bhid", attn, v).transpose(1, 2).flatten(2))


LAYERS.append({"layer": NullKey, "d_in": 24, "context_length": 8, "options": {}})


class GptOss(nn.Module):
    """right: gpt-oss's attention, a learned sink in each head's softmax, a window, grouped heads and a cache."""

    def __init__(self, d=32, n_heads=4, n_kv_heads=2, window=3):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.hd, self.window = n_heads, n_kv_heads, d // n_heads, window
        self.qkv = nn.Linear(d, (n_heads + 2 * n_kv_heads) * self.hd)
        self.out = nn.Linear(n_heads * self.hd, d)
        self.sinks = nn.Parameter(torch.randn(n_heads))

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        qkv = self.qkv(x).view(B, T, -1, self.hd).transpose(1, 2)
        q, k, v = qkv.split([self.n_heads, self.n_kv_heads, self.n_kv_heads], dim=1)
        past = 0 if cache is None else cache[0].shape[2]
        ang = angles(torch.arange(past, past + T, device=x.device), self.hd, 150000.0)
        q, k = rotate(q, ang), rotate(k, ang)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        new, n = (k, v), self.n_heads // self.n_kv_heads
        scores = q @ repeat_kv(k, n).mT * self.hd ** -0.5
        scores = scores.masked_fill(~allowed(T, past + T, x.device, self.window), float("-inf"))
        sinks = self.sinks.view(1, -1, 1, 1).expand(B, -1, T, 1)
        w = torch.cat((scores, sinks), dim=-1).softmax(-1)[..., :-1]
        return self.out((w @ repeat_kv(v, n)).transpose(1, 2).reshape(B, T, -1)), new


LAYERS.append({"layer": GptOss, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "window": 3, "step": step_cache}})


class DeepSeekMLA(nn.Module):
    """right: DeepSeek's latent attention, rotary features beside the others, the latent as cache."""

    def __init__(self, d=32, num_heads=4, nope=6, rope=4, v_dim=5, rank=12):
        super().__init__()
        self.num_heads, self.nope, self.rope, self.v_dim, self.rank = num_heads, nope, rope, v_dim, rank
        self.q_proj = nn.Linear(d, num_heads * (nope + rope), bias=False)
        self.kv_a = nn.Linear(d, rank + rope, bias=False)
        self.kv_norm = RMSNorm(rank)
        self.kv_b = nn.Linear(rank, num_heads * (nope + v_dim), bias=False)
        self.o_proj = nn.Linear(num_heads * v_dim, d, bias=False)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        past = 0 if cache is None else cache[0].shape[1]
        ang = angles(torch.arange(past, past + T, device=x.device), self.rope)
        q = self.q_proj(x).view(B, T, self.num_heads, -1).transpose(1, 2)
        q_nope, q_pe = q.split([self.nope, self.rope], -1)
        q = torch.cat((q_nope, rotate_pairs(q_pe, ang)), -1)
        latent, k_pe = self.kv_a(x).split([self.rank, self.rope], -1)
        latent, k_pe = self.kv_norm(latent), rotate_pairs(k_pe, ang)
        if cache is not None:
            latent, k_pe = torch.cat((cache[0], latent), 1), torch.cat((cache[1], k_pe), 1)
        S = past + T
        k_nope, v = self.kv_b(latent).view(B, S, self.num_heads, -1).transpose(1, 2).split([self.nope, self.v_dim], -1)
        k = torch.cat((k_nope, k_pe[:, None].expand(-1, self.num_heads, -1, -1)), -1)
        scores = q @ k.mT * (self.nope + self.rope) ** -0.5
        w = scores.masked_fill(~allowed(T, S, x.device), float("-inf")).softmax(-1)
        return self.o_proj((w @ v).transpose(1, 2).flatten(2)), (latent, k_pe)


LAYERS.append({"layer": DeepSeekMLA, "d_in": 32, "context_length": 9, "options": {"positions": "rotary", "step": step_cache}})


class LinearAttention(nn.Module):
    """right: causal linear attention with elu + 1, running sums, and these sums as the cache."""

    def __init__(self, d=24, heads=4):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, cache=None):
        B, T, C = x.shape
        split = lambda y: y.view(B, T, self.heads, -1)
        q, k, v = F.elu(split(self.q(x))) + 1, F.elu(split(self.k(x))) + 1, split(self.v(x))
        kv = torch.einsum("bthd,bthe->bthde", k, v).cumsum(1)
        z = k.cumsum(1)
        if cache is not None:
            kv, z = kv + cache[0], z + cache[1]
        y = torch.einsum("bthd,bthde->bthe", q, kv) / torch.einsum("bthd,bthd->bth", q, z)[..., None].clamp(min=1e-6)
        return self.o(y.reshape(B, T, C)), (kv[:, -1:], z[:, -1:])


LAYERS.append({"layer": LinearAttention, "d_in": 24, "context_length": 8, "options": {"softmax": False, "step": step_cache}})


class Retention(nn.Module):
    """right: retention with one decay for each head, normed for each head and gated."""

    def __init__(self, d=32, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.q, self.k, self.v, self.g, self.o = (nn.Linear(d, d, bias=False) for _ in range(5))
        self.norm = nn.LayerNorm(d // num_heads)
        self.register_buffer("gamma", 1 - 2.0 ** (-2 - torch.arange(num_heads)))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, self.num_heads, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        dist = torch.arange(T, device=x.device)[:, None] - torch.arange(T, device=x.device)
        decay = self.gamma.to(x.dtype)[:, None, None] ** dist.clamp(min=0) * (dist >= 0)
        y = (q @ k.mT * k.shape[-1] ** -0.5 * decay) @ v
        return self.o(self.norm(y).transpose(1, 2).reshape(B, T, C) * F.silu(self.g(x)))


LAYERS.append({"layer": Retention, "d_in": 32, "context_length": 10, "options": {"softmax": False, "positions": True}})


class DiffAttention(nn.Module):
    """right: differential attention, the difference of two softmax maps, a norm for each head behind it."""

    def __init__(self, d=32, num_heads=2):
        super().__init__()
        self.num_heads, self.hd = num_heads, d // num_heads // 2
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.lam = nn.Parameter(torch.full((num_heads,), 0.4))
        self.norm = RMSNorm(2 * self.hd)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q(x).view(B, T, self.num_heads, 2, self.hd).permute(3, 0, 2, 1, 4)
        k = self.k(x).view(B, T, self.num_heads, 2, self.hd).permute(3, 0, 2, 1, 4)
        v = self.v(x).view(B, T, self.num_heads, 2 * self.hd).transpose(1, 2)
        s = (q @ k.mT * self.hd ** -0.5).masked_fill(~allowed(T, T, x.device), float("-inf")).softmax(-1)
        w = s[0] - self.lam[:, None, None] * s[1]
        return self.o((self.norm(w @ v) * 0.2).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": DiffAttention, "d_in": 32, "context_length": 8, "options": {"softmax": False}})


class SigmoidAttention(nn.Module):
    """right: sigmoid in place of softmax, with a fixed bias, causal and with a padding mask."""

    def __init__(self, d=24, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, real=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        mask = allowed(T, T, x.device)
        if real is not None:
            mask = with_padding(mask, real)
        w = torch.sigmoid((q @ k.mT) / math.sqrt(q.shape[-1]) - 2.0) * mask
        return self.o((w @ v).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": SigmoidAttention, "d_in": 24, "context_length": 8, "options": {"softmax": False, "padding": pad_real}})


class GatedPartialRotary(nn.Module):
    """right: Qwen3-Next's attention, a sigmoid gate on the context and rotary positions in a part of each head."""

    def __init__(self, d=32, num_heads=4, num_kv_heads=1, rot=4):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.hd, self.rot = num_heads, num_kv_heads, d // num_heads, rot
        self.q_proj = nn.Linear(d, 2 * d, bias=False)
        self.k_proj, self.v_proj = nn.Linear(d, self.hd, bias=False), nn.Linear(d, self.hd, bias=False)
        self.o_proj = nn.Linear(d, d, bias=False)

    def partial(self, x, ang):
        return torch.cat((rotate(x[..., :self.rot], ang), x[..., self.rot:]), -1)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q, gate = self.q_proj(x).view(B, T, self.num_heads, 2 * self.hd).chunk(2, -1)
        k, v = self.k_proj(x)[:, None], self.v_proj(x)[:, None]
        past = cache[0].shape[2] if cache else 0
        ang = angles(torch.arange(past, past + T, device=x.device), self.rot)
        q, k = self.partial(q.transpose(1, 2), ang), self.partial(k, ang)
        if cache:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        w = (q @ k.mT / self.hd ** 0.5).masked_fill(~allowed(T, past + T, x.device), float("-inf")).softmax(-1)
        y = (w @ v).transpose(1, 2).reshape(B, T, C)
        return self.o_proj(y * torch.sigmoid(gate.reshape(B, T, C))), (k, v)


LAYERS.append({"layer": GatedPartialRotary, "d_in": 32, "context_length": 9, "options": {
    "num_kv_heads": 1, "positions": "rotary", "step": step_cache}})


class LocalGlobalHeads(nn.Module):
    """right: two heads with a window of 3 beside two that see all."""

    def __init__(self, d=24):
        super().__init__()
        self.n_heads = 4
        self.windows = (3, None, 3, None)
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        mask = torch.stack([allowed(T, T, x.device, w) for w in self.windows])
        return self.wo(F.scaled_dot_product_attention(q, k, v, attn_mask=mask[None]).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": LocalGlobalHeads, "d_in": 24, "context_length": 9, "options": {"window": (3, None, 3, None)}})


class OnlineSoftmax(nn.Module):
    """right: flash attention by hand, blocks of 4 keys with a running maximum and sum."""

    def __init__(self, d=32, num_heads=4, block=4):
        super().__init__()
        self.num_heads, self.block = num_heads, block
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q = q / math.sqrt(q.shape[-1])
        rows = torch.arange(T, device=x.device)[:, None]
        m = q.new_full(q.shape[:-1] + (1,), torch.finfo(x.dtype).min)
        total, acc = torch.zeros_like(m), torch.zeros_like(q)
        for start in range(0, T, self.block):
            kb, vb = k[:, :, start:start + self.block], v[:, :, start:start + self.block]
            cols = torch.arange(start, start + kb.shape[2], device=x.device)
            s = (q @ kb.mT).masked_fill(cols > rows, float("-inf"))
            new_m = torch.maximum(m, s.amax(-1, keepdim=True))
            p, fix = torch.exp(s - new_m), torch.exp(m - new_m)
            total, acc, m = total * fix + p.sum(-1, keepdim=True), acc * fix + p @ vb, new_m
        return self.out((acc / total).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": OnlineSoftmax, "d_in": 32, "context_length": 10, "options": {}})


class DynamicCache:
    def __init__(self):
        self.key = self.value = None

    def update(self, k, v):
        self.key = k if self.key is None else torch.cat((self.key, k), 1)
        self.value = v if self.value is None else torch.cat((self.value, v), 1)
        return self.key, self.value


class EinsumGrouped(nn.Module):
    """right: grouped queries by einsum without repeating keys, and a cache object that is updated in place."""

    def __init__(self, d=36, n_q=6, n_kv=2):
        super().__init__()
        self.n_kv, self.group, self.hd = n_kv, n_q // n_kv, d // n_q
        self.q = nn.Parameter(torch.randn(d, n_kv, self.group, self.hd) * d ** -0.5)
        self.kv = nn.Parameter(torch.randn(2, d, n_kv, self.hd) * d ** -0.5)
        self.o = nn.Parameter(torch.randn(n_kv, self.group, self.hd, d) * d ** -0.5)

    def forward(self, x, cache=None):
        q = torch.einsum("btc,ckgd->btkgd", x, self.q)
        k, v = torch.einsum("btc,nckd->nbtkd", x, self.kv)
        if cache is not None:
            k, v = cache.update(k, v)
        s = torch.einsum("btkgd,bskd->bkgts", q, k) / math.sqrt(self.hd)
        s = s.masked_fill(~allowed(x.shape[1], k.shape[1], x.device), float("-inf"))
        y = torch.einsum("bkgts,bskd->btkgd", s.softmax(-1), v)
        return torch.einsum("btkgd,kgdc->btc", y, self.o)


def step_object(module, x, cache):
    cache = DynamicCache() if cache is None else cache
    return module(x, cache=cache), cache


LAYERS.append({"layer": EinsumGrouped, "d_in": 36, "context_length": 9, "options": {
    "num_heads": 6, "num_kv_heads": 2, "step": step_object}})


class OneHead(nn.Module):
    def __init__(self, d_in, d_out, block=64, dropout=0.1, qkv_bias=False):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(d_in, d_out, bias=qkv_bias) for _ in range(3))
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(block, block), diagonal=1))

    def forward(self, x):
        T = x.shape[1]
        queries, keys, values = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = queries @ keys.transpose(1, 2)
        scores = scores.masked_fill(self.mask.bool()[:T, :T], -torch.inf)
        weights = self.dropout(torch.softmax(scores / keys.shape[-1] ** 0.5, dim=-1))
        return weights @ values


class HeadWrapper(nn.Module):
    """right: separate single heads in a ModuleList, side by side, with odd sizes."""

    def __init__(self, d_in=15, d_out=7, num_heads=3):
        super().__init__()
        self.heads = nn.ModuleList([OneHead(d_in, d_out) for _ in range(num_heads)])

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)


LAYERS.append({"layer": HeadWrapper, "d_in": 15, "context_length": 11, "options": {"num_heads": 3, "dropout": 0.1}})


class TransformerXL(nn.Module):
    """right: Transformer-XL's relative positions, sinusoids by distance and two learned biases for queries."""

    def __init__(self, d=24, n_head=3):
        super().__init__()
        self.n_head, self.hd = n_head, d // n_head
        self.qkv, self.r, self.o = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), nn.Linear(d, d)
        self.u, self.vb = nn.Parameter(torch.randn(n_head, self.hd) * 0.3), nn.Parameter(torch.randn(n_head, self.hd) * 0.3)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.n_head, self.hd).unbind(2)
        ang = angles(torch.arange(T, device=x.device), C)
        r = self.r(torch.cat((ang.sin(), ang.cos()), -1).to(x.dtype)).view(T, self.n_head, self.hd)
        ac = torch.einsum("bihd,bjhd->bhij", q + self.u, k)
        bd = torch.einsum("bihd,rhd->bhir", q + self.vb, r)
        dist = (torch.arange(T, device=x.device)[:, None] - torch.arange(T, device=x.device)).clamp(min=0)
        bd = bd.gather(-1, dist.expand(B, self.n_head, T, T))
        s = ((ac + bd) / self.hd ** 0.5).masked_fill(~allowed(T, T, x.device), float("-inf"))
        return self.o(torch.einsum("bhij,bjhd->bihd", s.softmax(-1), v).reshape(B, T, C))


LAYERS.append({"layer": TransformerXL, "d_in": 24, "context_length": 8, "options": {"positions": "relative"}})


class ShiftedInput(nn.Module):
    """right: RWKV's token shift before ordinary causal attention, half of the features from the token before."""

    def __init__(self, d=24, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.mix = nn.Parameter(torch.rand(d))
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        before = F.pad(x, (0, 0, 1, -1))
        q, k, v = self.qkv(x + (before - x) * self.mix).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": ShiftedInput, "d_in": 24, "context_length": 9, "options": {"positions": True}})


class TalkingHeads(nn.Module):
    """right: talking heads, mixed before the mask and after softmax."""

    def __init__(self, d=24, heads=4):
        super().__init__()
        self.heads = heads
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.pre, self.post = nn.Parameter(torch.randn(heads, heads) * 0.5), nn.Parameter(torch.randn(heads, heads) * 0.5)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        s = torch.einsum("bhij,hg->bgij", q @ k.mT * q.shape[-1] ** -0.5, self.pre)
        w = s.masked_fill(~allowed(T, T, x.device), float("-inf")).softmax(-1)
        return self.o((torch.einsum("bhij,hg->bgij", w, self.post) @ v).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": TalkingHeads, "d_in": 24, "context_length": 8, "options": {"softmax": False}})


class PackedDocuments(nn.Module):
    """right: packed texts kept apart by their document ids, rotary positions, grouped heads."""

    def __init__(self, d=32, num_heads=4, num_kv_heads=2):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.hd = num_heads, num_kv_heads, d // num_heads
        self.q, self.kv, self.o = nn.Linear(d, d), nn.Linear(d, 2 * num_kv_heads * self.hd), nn.Linear(d, d)

    def forward(self, x, doc_ids=None):
        B, T, C = x.shape
        q = self.q(x).view(B, T, self.num_heads, -1).transpose(1, 2)
        k, v = self.kv(x).view(B, T, 2, self.num_kv_heads, -1).permute(2, 0, 3, 1, 4)
        ang = angles(torch.arange(T, device=x.device), self.hd)
        mask = allowed(T, T, x.device)[None, None]
        if doc_ids is not None:
            mask = mask & (doc_ids[:, None, :, None] == doc_ids[:, None, None, :])
        y = F.scaled_dot_product_attention(rotate(q, ang), rotate(k, ang), v, attn_mask=mask, enable_gqa=True)
        return self.o(y.transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": PackedDocuments, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "documents": docs}})


class LongformerLocal(nn.Module):
    """right: a window to both sides, as Longformer's local layers, with a padding mask."""

    def __init__(self, d=24, num_heads=3, window=3):
        super().__init__()
        self.num_heads, self.window = num_heads, window
        self.query, self.key, self.value, self.out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, real=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, self.num_heads, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        i = torch.arange(T, device=x.device)
        mask = (i[:, None] - i).abs() < self.window
        if real is not None:
            mask = with_padding(mask, real)
        return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": LongformerLocal, "d_in": 24, "context_length": 10, "options": {
    "causal": False, "window": 3, "padding": pad_real}})


class FalconMQA(nn.Module):
    """right: Falcon's multi-query attention, one fused projection, rotary pairs with base 500000, preallocated cache."""

    def __init__(self, d=32, n_heads=4, max_len=64):
        super().__init__()
        self.n_heads, self.hd, self.max_len = n_heads, d // n_heads, max_len
        self.query_key_value, self.dense = nn.Linear(d, d + 2 * self.hd, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x, cache=None):
        B, T, C = x.shape
        qkv = self.query_key_value(x).view(B, T, self.n_heads + 2, self.hd).transpose(1, 2)
        q, k, v = qkv[:, :-2], qkv[:, -2:-1], qkv[:, -1:]
        pos = 0 if cache is None else cache[2]
        ang = angles(torch.arange(pos, pos + T, device=x.device), self.hd, 500000.0)
        q, k = rotate_pairs(q, ang), rotate_pairs(k, ang)
        if cache is not None:
            cache[0][:, :, pos:pos + T], cache[1][:, :, pos:pos + T] = k, v
            cache[2] += T
            k, v = cache[0][:, :, :pos + T], cache[1][:, :, :pos + T]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed(T, pos + T, x.device), enable_gqa=True)
        return self.dense(y.transpose(1, 2).reshape(B, T, C))


def step_static(module, x, cache):
    if cache is None:
        empty = x.new_zeros(x.shape[0], 1, module.max_len, module.hd)
        cache = [empty, empty.clone(), 0]
    return module(x, cache=cache), cache


LAYERS.append({"layer": FalconMQA, "d_in": 32, "context_length": 8, "options": {
    "num_kv_heads": 1, "positions": "rotary", "step": step_static}})


class LogScaled(nn.Module):
    """right: scores times log of how many tokens a position sees, rotary positions."""

    def __init__(self, d=24, num_heads=3):
        super().__init__()
        self.num_heads = num_heads
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        pos = torch.arange(T, device=x.device)
        ang = angles(pos, q.shape[-1])
        q = rotate(q, ang) * torch.log(pos + 2.0).to(x.dtype)[:, None]
        return self.o(F.scaled_dot_product_attention(q, rotate(k, ang), v, is_causal=True).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": LogScaled, "d_in": 24, "context_length": 9, "options": {"softmax": False, "positions": True}})


class LoRAAttention(nn.Module):
    """right: frozen-looking projections with low-rank updates on queries and values, never merged."""

    def __init__(self, d=32, num_heads=4, r=3):
        super().__init__()
        self.num_heads = num_heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.qa, self.va = nn.Linear(d, r, bias=False), nn.Linear(d, r, bias=False)
        self.qb, self.vb = nn.Linear(r, d, bias=False), nn.Linear(r, d, bias=False)
        nn.init.zeros_(self.qb.weight)
        nn.init.zeros_(self.vb.weight)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q(x) + 2 * self.qb(self.qa(self.drop(x)))
        v = self.v(x) + 2 * self.vb(self.va(self.drop(x)))
        q, k, v = (y.view(B, T, self.num_heads, -1).transpose(1, 2) for y in (q, self.k(x), v))
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": LoRAAttention, "d_in": 32, "context_length": 8, "options": {}})


class CachedTables(nn.Module):
    """right: rotary tables kept from call to call, grown for longer sequences and made anew for another dtype or device."""

    def __init__(self, d=24, num_heads=2):
        super().__init__()
        self.num_heads, self.hd = num_heads, d // num_heads
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.cos = self.sin = None

    def tables(self, n, x):
        if self.cos is None or self.cos.shape[0] < n or self.cos.dtype != x.dtype or self.cos.device != x.device:
            ang = angles(torch.arange(n, device=x.device), self.hd)
            self.cos, self.sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        return self.cos[:n], self.sin[:n]

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        cos, sin = self.tables(T, x)
        turn = lambda y: torch.cat((y[..., :self.hd // 2] * cos - y[..., self.hd // 2:] * sin,
                                    y[..., self.hd // 2:] * cos + y[..., :self.hd // 2] * sin), -1)
        y = F.scaled_dot_product_attention(turn(q), turn(k), v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": CachedTables, "d_in": 24, "context_length": 9, "options": {"positions": "rotary"}})


# ---------------------------------------------------------------- wrong ones: caches and rotary positions

class Core(nn.Module):
    """Projections that the layers below share; kv heads may be fewer."""

    def __init__(self, d=32, num_heads=4, num_kv_heads=None, bias=True):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.hd = num_heads, num_kv_heads or num_heads, d // num_heads
        self.q_proj = nn.Linear(d, d, bias=bias)
        self.k_proj = nn.Linear(d, self.num_kv_heads * self.hd, bias=bias)
        self.v_proj = nn.Linear(d, self.num_kv_heads * self.hd, bias=bias)
        self.o_proj = nn.Linear(d, d, bias=bias)

    def project(self, x):
        B, T, _ = x.shape
        return (f(x).view(B, T, -1, self.hd).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))

    def attend(self, q, k, v, mask):
        n = self.num_heads // self.num_kv_heads
        s = q @ repeat_kv(k, n).mT * self.hd ** -0.5
        return self.finish(s.masked_fill(~mask, float("-inf")).softmax(-1) @ repeat_kv(v, n))

    def finish(self, y):
        return self.o_proj(y.transpose(1, 2).reshape(y.shape[0], y.shape[2], -1))


def extend(cache, k, v):
    return (k, v) if cache is None else (torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2))


class RotaryFromZero(Core):
    """wrong: Llama's attention with a cache; new tokens are always rotated from position 0, whatever the cache holds."""

    def __init__(self):
        super().__init__(32, 4, 2, bias=False)

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        ang = angles(torch.arange(x.shape[1], device=x.device), self.hd)
        k, v = extend(cache, rotate(k, ang), v)
        return self.attend(rotate(q, ang), k, v, allowed(x.shape[1], k.shape[2], x.device)), (k, v)


LAYERS.append({"layer": RotaryFromZero, "d_in": 32, "context_length": 9, "options": {
    "num_kv_heads": 2, "positions": "rotary", "step": step_cache}})


class RotatedTwice(Core):
    """wrong: keys are cached after their rotation and, with the whole cache, rotated again at the next step."""

    def __init__(self):
        super().__init__(32, 4, 2, bias=False)

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k, v)
        S, T = k.shape[2], x.shape[1]
        pos = torch.arange(S, device=x.device)
        k = rotate(k, angles(pos, self.hd))
        return self.attend(rotate(q, angles(pos[S - T:], self.hd)), k, v, allowed(T, S, x.device)), (k, v)


LAYERS.append({"layer": RotatedTwice, "d_in": 32, "context_length": 8, "options": {
    "num_kv_heads": 2, "positions": "rotary", "step": step_cache}})


class TopLeftCausal(Core):
    """wrong: SDPA's is_causal=True for several tokens behind a cache, which aligns the mask at the top left."""

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k, v)
        return self.finish(F.scaled_dot_product_attention(q, k, v, is_causal=x.shape[1] > 1)), (k, v)


LAYERS.append({"layer": TopLeftCausal, "d_in": 32, "context_length": 10, "options": {"step": step_cache}})


class NoMaskBehindCache(Core):
    """wrong: with a cache no mask is made at all, so that tokens of one piece see what follows them in it."""

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k, v)
        mask = None if cache is not None else allowed(x.shape[1], x.shape[1], x.device)
        return self.finish(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)), (k, v)


LAYERS.append({"layer": NoMaskBehindCache, "d_in": 32, "context_length": 9, "options": {"step": step_cache}})


class EvictsOneTooMany(Core):
    """wrong: a sliding window's cache keeps W - 2 tokens, one fewer than the next token may read."""

    window = 5

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k, v)
        y = self.attend(q, k, v, allowed(x.shape[1], k.shape[2], x.device, self.window))
        keep = self.window - 2
        return y, (k[:, :, -keep:], v[:, :, -keep:])


LAYERS.append({"layer": EvictsOneTooMany, "d_in": 32, "context_length": 12, "options": {"window": 5, "step": step_cache}})


class WindowForgottenInDecode(Core):
    """wrong: a single token behind the cache reads all of it, the window is only in the mask of the first pass."""

    window = 4

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k, v)
        T, S = x.shape[1], k.shape[2]
        mask = allowed(T, S, x.device, self.window) if T > 1 or cache is None else allowed(T, S, x.device)
        return self.attend(q, k, v, mask), (k, v)


LAYERS.append({"layer": WindowForgottenInDecode, "d_in": 32, "context_length": 11, "options": {"window": 4, "step": step_cache}})


class StuckOffset(Core):
    """wrong: rotary positions are counted from the length of a cache that evicts, so they stop growing once it is full."""

    window = 4

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        past = 0 if cache is None else cache[0].shape[2]
        ang = angles(torch.arange(past, past + x.shape[1], device=x.device), self.hd)
        k, v = extend(cache, rotate(k, ang), v)
        y = self.attend(rotate(q, ang), k, v, allowed(x.shape[1], k.shape[2], x.device, self.window))
        return y, (k[:, :, 1 - self.window:], v[:, :, 1 - self.window:])


LAYERS.append({"layer": StuckOffset, "d_in": 32, "context_length": 12, "options": {
    "window": 4, "positions": "rotary", "step": step_cache}})


class ClassLevelCache(Core):
    """wrong: the cache is a list in a default argument, which all sequences and all instances share."""

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        if cache is not None:
            k, v = extend(cache[-1] if cache else None, k, v)
            cache.append((k, v))
        return self.attend(q, k, v, allowed(x.shape[1], k.shape[2], x.device))


def step_default(module, x, cache, store=[]):
    cache = store if cache is None else cache
    return module(x, cache=cache), cache


def step_default_cleared(module, x, cache):
    if cache is None:
        step_default.__defaults__[0].clear()
    return step_default(module, x, cache)


LAYERS.append({"layer": ClassLevelCache, "d_in": 32, "context_length": 8, "options": {"step": step_default_cleared}})


class RemembersLastCall(Core):
    """wrong: in eval mode keys of the call before stay in the module and are put before those of the next call."""

    def __init__(self):
        super().__init__()
        self.past = None

    def forward(self, x):
        q, k, v = self.project(x)
        if not self.training:
            if self.past is not None and self.past[0].shape[0] == x.shape[0] and self.past[0].dtype == x.dtype:
                k, v = extend(self.past, k, v)
            self.past = (k.detach(), v.detach())
        return self.attend(q, k, v, allowed(x.shape[1], k.shape[2], x.device))


LAYERS.append({"layer": RemembersLastCall, "d_in": 32, "context_length": 8, "options": {}})


class LlamaReferenceCache(Core):
    """wrong: the preallocated cache lies in the module and only a start position is handed on, so two sequences overwrite each other."""

    def __init__(self, max_batch=8, max_len=64):
        super().__init__(32, 4, 2, bias=False)
        self.register_buffer("cache_k", torch.zeros(max_batch, 2, max_len, self.hd), persistent=False)
        self.register_buffer("cache_v", torch.zeros(max_batch, 2, max_len, self.hd), persistent=False)

    def forward(self, x, start_pos=None):
        B, T, _ = x.shape
        q, k, v = self.project(x)
        start = start_pos or 0
        ang = angles(torch.arange(start, start + T, device=x.device), self.hd)
        q, k = rotate_pairs(q, ang), rotate_pairs(k, ang)
        if start_pos is not None:
            self.cache_k[:B, :, start:start + T] = k.detach()
            self.cache_v[:B, :, start:start + T] = v.detach()
            k, v = self.cache_k[:B, :, :start + T], self.cache_v[:B, :, :start + T]
        return self.attend(q, k, v, allowed(T, start + T, x.device))


def step_start(module, x, cache):
    start = 0 if cache is None else cache
    return module(x, start_pos=start), start + x.shape[1]


LAYERS.append({"layer": LlamaReferenceCache, "d_in": 32, "context_length": 9, "options": {
    "num_kv_heads": 2, "positions": "rotary", "step": step_start}})


class DecodesWithoutItself(Core):
    """wrong: with the preallocated cache a later token reads up to the position before its own."""

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        return self.attend(q, k, v, allowed(x.shape[1], k.shape[2], x.device)), (k, v)

    def decode(self, x, cache):
        if cache is None:
            return self.forward(x)
        q, k, v = self.project(x)
        y = self.attend(q, cache[0], cache[1], allowed(1, cache[0].shape[2], x.device))
        return y, extend(cache, k, v)


LAYERS.append({"layer": DecodesWithoutItself, "d_in": 32, "context_length": 8, "options": {"step": step_single}})


class PaddingForgottenInDecode(Core):
    """wrong: the padding mask is used in the first pass only, later tokens read the left padding in the cache."""

    def __init__(self):
        super().__init__(32, 4, 2, bias=False)

    def forward(self, x, real=None, cache=None):
        q, k, v = self.project(x)
        past = 0 if cache is None else cache[0].shape[2]
        T = x.shape[1]
        ang = angles(torch.arange(past, past + T, device=x.device), self.hd)
        k, v = extend(cache, rotate(k, ang), v)
        mask = allowed(T, past + T, x.device)
        if real is not None and cache is None:
            mask = with_padding(mask, real)
        return self.attend(rotate(q, ang), k, v, mask), (k, v)


LAYERS.append({"layer": PaddingForgottenInDecode, "d_in": 32, "context_length": 9, "options": {
    "num_kv_heads": 2, "positions": "rotary", "padding": pad_real, "step": step_left}})


class PositionsOfTwoKinds(Core):
    """wrong: with left padding the first pass counts rotary positions from the first real token, later ones from the cache's length."""

    def forward(self, x, real=None, cache=None):
        q, k, v = self.project(x)
        past, T = 0 if cache is None else cache[0].shape[2], x.shape[1]
        pos = torch.arange(past, past + T, device=x.device).expand(x.shape[0], T)
        if real is not None and cache is None:
            pos = (real.long().cumsum(1) - 1).clamp(min=0)
        ang = angles(pos, self.hd)[:, None]
        k, v = extend(cache, rotate(k, ang), v)
        mask = allowed(T, past + T, x.device)
        mask = mask if real is None else with_padding(mask, real)
        return self.attend(rotate(q, ang), k, v, mask), (k, v)


LAYERS.append({"layer": PositionsOfTwoKinds, "d_in": 32, "context_length": 10, "options": {
    "positions": "rotary", "padding": pad_real, "step": step_left}})


class ValuesAreKeys(Core):
    """wrong: the cache returned holds the keys twice, so later tokens read keys in place of the values before them."""

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k, v)
        return self.attend(q, k, v, allowed(x.shape[1], k.shape[2], x.device)), (k, k)


LAYERS.append({"layer": ValuesAreKeys, "d_in": 32, "context_length": 8, "options": {"step": step_cache}})


class NewBeforeOld(Core):
    """wrong: new keys are put before the cached ones while the mask expects them behind, which shows for several tokens only."""

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        T = x.shape[1]
        past = 0 if cache is None else cache[0].shape[2]
        ang = angles(torch.arange(past, past + T, device=x.device), self.hd)
        q, k = rotate(q, ang), rotate(k, ang)
        if cache is not None:
            k, v = torch.cat((k, cache[0]), 2), torch.cat((v, cache[1]), 2)
        return self.attend(q, k, v, allowed(T, past + T, x.device)), (k, v)


LAYERS.append({"layer": NewBeforeOld, "d_in": 32, "context_length": 10, "options": {"positions": "rotary", "step": step_cache}})


class EvictsBeforeReading(Core):
    """wrong: the cache is cut to the window before attention, so the first of several new tokens lose keys they may read."""

    window = 4

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        T = x.shape[1]
        if cache is None:
            return self.attend(q, k, v, allowed(T, T, x.device, self.window)), (k[:, :, -self.window:], v[:, :, -self.window:])
        k, v = extend(cache, k, v)
        size = max(self.window, T)
        k, v = k[:, :, -size:], v[:, :, -size:]
        return self.attend(q, k, v, allowed(T, k.shape[2], x.device, self.window)), (k, v)


LAYERS.append({"layer": EvictsBeforeReading, "d_in": 32, "context_length": 12, "options": {"window": 4, "step": step_cache}})


class RingWithSlots(Core):
    """wrong: a ring buffer for the window, whose ALiBi distances are those of the slots and go wrong once it wraps."""

    window = 4

    def bias(self, dist, x):
        slopes = torch.tensor(alibi_slopes(self.num_heads), device=x.device, dtype=x.dtype)
        return -slopes[:, None, None] * dist

    def forward(self, x):
        q, k, v = self.project(x)
        T = x.shape[1]
        i = torch.arange(T, device=x.device)
        s = q @ k.mT * self.hd ** -0.5 + self.bias((i[:, None] - i).clamp(min=0), x)
        return self.finish(s.masked_fill(~allowed(T, T, x.device, self.window), float("-inf")).softmax(-1) @ v)

    def decode(self, x, cache):
        q, k, v = self.project(x)
        if cache is None:
            cache = (torch.zeros_like(k).repeat(1, 1, self.window, 1), torch.zeros_like(v).repeat(1, 1, self.window, 1), 0)
        keys, values, t = cache[0].clone(), cache[1].clone(), cache[2]
        slot = t % self.window
        keys[:, :, slot], values[:, :, slot] = k[:, :, 0], v[:, :, 0]
        n = min(t + 1, self.window)
        dist = (slot - torch.arange(n, device=x.device)).abs()[None]
        w = (q @ keys[:, :, :n].mT * self.hd ** -0.5 + self.bias(dist, x)).softmax(-1)
        return self.finish(w @ values[:, :, :n]), (keys, values, t + 1)


LAYERS.append({"layer": RingWithSlots, "d_in": 32, "context_length": 11, "options": {
    "window": 4, "positions": "alibi", "step": step_single}})


class CacheInBfloat16(Core):
    """wrong: the cache is always kept in bfloat16, also for a layer in float32."""

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        if cache is not None:
            k, v = extend((cache[0].to(x.dtype), cache[1].to(x.dtype)), k, v)
        y = self.attend(q, k, v, allowed(x.shape[1], k.shape[2], x.device))
        return y, (k.to(torch.bfloat16), v.to(torch.bfloat16))


LAYERS.append({"layer": CacheInBfloat16, "d_in": 32, "context_length": 8, "options": {"step": step_cache}})


class OffsetFromHeads(nn.Module):
    """wrong: with a cache learned positions start at the number of heads, the wrong axis of the cached keys."""

    def __init__(self, d=24, n_head=3):
        super().__init__()
        self.n_head = n_head
        self.wpe, self.c_attn, self.c_proj = nn.Embedding(64, d), nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        past = 0 if layer_past is None else layer_past[0].size(1)
        x = x + self.wpe(torch.arange(past, past + T, device=x.device))
        q, k, v = (t.view(B, T, self.n_head, -1).transpose(1, 2) for t in self.c_attn(x).split(C, -1))
        k, v = extend(layer_past, k, v)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed(T, k.shape[2], x.device))
        y = self.c_proj(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


LAYERS.append({"layer": OffsetFromHeads, "d_in": 24, "context_length": 9, "options": {"positions": True, "step": step_past}})


class T5BiasFirstRows(T5Decoder):
    """wrong: T5 with a cache takes the first rows of the position bias, not the last, for new tokens."""

    def compute_bias(self, t, s, device):
        return super().compute_bias(s, s, device)[:, :, :t]


LAYERS.append({"layer": T5BiasFirstRows, "d_in": 32, "context_length": 9, "options": {
    "positions": "relative", "scale": 1.0, "step": step_cache}})


class ScalesCacheInPlace(Core):
    """wrong: keys are scaled in place where they are cached, so that cached ones shrink again at each step."""

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k, v)
        k *= self.hd ** -0.5
        w = (q @ k.mT).masked_fill(~allowed(x.shape[1], k.shape[2], x.device), float("-inf")).softmax(-1)
        return self.finish(w @ v), (k, v)


LAYERS.append({"layer": ScalesCacheInPlace, "d_in": 32, "context_length": 8, "options": {"step": step_cache}})


class RopeDeltasInModule(Core):
    """wrong: how far positions are shifted by left padding is kept in the module, where another sequence overwrites it."""

    def __init__(self):
        super().__init__(32, 4, 2)
        self.rope_deltas = None

    def forward(self, x, real=None, cache=None):
        q, k, v = self.project(x)
        past, T = 0 if cache is None else cache[0].shape[2], x.shape[1]
        pos = torch.arange(past, past + T, device=x.device).expand(x.shape[0], T)
        if cache is None:
            self.rope_deltas = 0 if real is None else (~real).sum(1, keepdim=True)
        ang = angles(pos - self.rope_deltas, self.hd)[:, None]
        k, v = extend(cache, rotate(k, ang), v)
        mask = allowed(T, past + T, x.device)
        mask = mask if real is None else with_padding(mask, real)
        return self.attend(rotate(q, ang), k, v, mask), (k, v)


LAYERS.append({"layer": RopeDeltasInModule, "d_in": 32, "context_length": 9, "options": {
    "num_kv_heads": 2, "positions": "rotary", "padding": pad_real, "step": step_left}})


class LatentRopeFromZero(DeepSeekMLA):
    """wrong: latent attention caches rotary keys unrotated and rotates all of them, queries though from position 0."""

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, self.num_heads, -1).transpose(1, 2)
        q_nope, q_pe = q.split([self.nope, self.rope], -1)
        q = torch.cat((q_nope, rotate_pairs(q_pe, angles(torch.arange(T, device=x.device), self.rope))), -1)
        latent, k_pe = self.kv_a(x).split([self.rank, self.rope], -1)
        latent = self.kv_norm(latent)
        if cache is not None:
            latent, k_pe = torch.cat((cache[0], latent), 1), torch.cat((cache[1], k_pe), 1)
        S = latent.shape[1]
        kr = rotate_pairs(k_pe, angles(torch.arange(S, device=x.device), self.rope))
        k_nope, v = self.kv_b(latent).view(B, S, self.num_heads, -1).transpose(1, 2).split([self.nope, self.v_dim], -1)
        k = torch.cat((k_nope, kr[:, None].expand(-1, self.num_heads, -1, -1)), -1)
        w = (q @ k.mT * (self.nope + self.rope) ** -0.5).masked_fill(~allowed(T, S, x.device), float("-inf")).softmax(-1)
        return self.o_proj((w @ v).transpose(1, 2).flatten(2)), (latent, k_pe)


LAYERS.append({"layer": LatentRopeFromZero, "d_in": 32, "context_length": 9, "options": {"positions": "rotary", "step": step_cache}})


class LatentScale(DeepSeekMLA):
    """wrong: latent attention divides by the root of the unrotated width only, not of the whole query's."""

    def forward(self, x):
        B, T, _ = x.shape
        ang = angles(torch.arange(T, device=x.device), self.rope)
        q_nope, q_pe = self.q_proj(x).view(B, T, self.num_heads, -1).transpose(1, 2).split([self.nope, self.rope], -1)
        latent, k_pe = self.kv_a(x).split([self.rank, self.rope], -1)
        k_nope, v = self.kv_b(self.kv_norm(latent)).view(B, T, self.num_heads, -1).transpose(1, 2).split([self.nope, self.v_dim], -1)
        q = torch.cat((q_nope, rotate_pairs(q_pe, ang)), -1)
        k = torch.cat((k_nope, rotate_pairs(k_pe, ang)[:, None].expand(-1, self.num_heads, -1, -1)), -1)
        w = (q @ k.mT / math.sqrt(self.nope)).masked_fill(~allowed(T, T, x.device), float("-inf")).softmax(-1)
        return self.o_proj((w @ v).transpose(1, 2).flatten(2))


LAYERS.append({"layer": LatentScale, "d_in": 32, "context_length": 8, "options": {"positions": "rotary"}})


class RotaryOnQueriesOnly(Core):
    """wrong: only queries are rotated, keys stay as they are."""

    def forward(self, x):
        q, k, v = self.project(x)
        ang = angles(torch.arange(x.shape[1], device=x.device), self.hd)
        return self.attend(rotate(q, ang), k, v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": RotaryOnQueriesOnly, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class RotaryOnValuesToo(Core):
    """wrong: a loop rotates queries, keys and values, though values must not be rotated."""

    def forward(self, x):
        ang = angles(torch.arange(x.shape[1], device=x.device), self.hd)
        q, k, v = (rotate(t, ang) for t in self.project(x))
        return self.attend(q, k, v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": RotaryOnValuesToo, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class RotaryAlongHeads(Core):
    """wrong: rotary angles are laid along the head axis, as if the layout were (B, T, H, D), so heads and not tokens are turned."""

    def forward(self, x):
        q, k, v = self.project(x)
        ang = angles(torch.arange(q.shape[1], device=x.device), self.hd)[None, :, None, :]
        return self.attend(rotate(q, ang), rotate(k, ang), v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": RotaryAlongHeads, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class MixedRotaryStyles(Core):
    """wrong: rotate_half pairs the halves of a head while cos and sin are repeated for neighbours, which is no rotation."""

    def __init__(self):
        super().__init__(32, 4, 2)

    def turn(self, x, cos, sin):
        a, b = x.chunk(2, -1)
        return x * cos + torch.cat((-b, a), -1) * sin

    def forward(self, x):
        q, k, v = self.project(x)
        ang = angles(torch.arange(x.shape[1], device=x.device), self.hd).repeat_interleave(2, -1)
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        return self.attend(self.turn(q, cos, sin), self.turn(k, cos, sin), v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": MixedRotaryStyles, "d_in": 32, "context_length": 10, "options": {"num_kv_heads": 2, "positions": "rotary"}})


class KeysTurnedBack(Core):
    """wrong: keys are rotated by the negative angle, so that scores depend on the sum of positions, not on the distance."""

    def forward(self, x):
        q, k, v = self.project(x)
        ang = angles(torch.arange(x.shape[1], device=x.device), self.hd)
        return self.attend(rotate_pairs(q, ang), rotate_pairs(k, -ang), v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": KeysTurnedBack, "d_in": 32, "context_length": 8, "options": {"positions": "rotary"}})


class PartialRotarySwapped(Core):
    """wrong: with partial rotary, rotated features come first in queries but last in keys, so unlike features are multiplied."""

    rot = 4

    def forward(self, x):
        q, k, v = self.project(x)
        ang = angles(torch.arange(x.shape[1], device=x.device), self.rot)
        q = torch.cat((rotate(q[..., :self.rot], ang), q[..., self.rot:]), -1)
        k = torch.cat((k[..., self.rot:], rotate(k[..., :self.rot], ang)), -1)
        return self.attend(q, k, v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": PartialRotarySwapped, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class XPosOneWay(Core):
    """wrong: xPos scales keys by the decay itself and not by its inverse, so scores depend on where, not on how far."""

    def forward(self, x):
        q, k, v = self.project(x)
        pos = torch.arange(x.shape[1], device=x.device)
        ang = angles(pos, self.hd)
        decay = (0.9 ** (pos / 8.0)).to(x.dtype)[:, None]
        return self.attend(rotate(q, ang) * decay, rotate(k, ang) * decay, v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": XPosOneWay, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class DynamicNTKSticky(Core):
    """wrong: dynamic NTK scaling grows the rotary base for a long sequence and never takes it back for the short ones after it."""

    def __init__(self):
        super().__init__(32, 4, 2, bias=False)
        self.base, self.max_pos = 10000.0, 16

    def forward(self, x):
        q, k, v = self.project(x)
        T = x.shape[1]
        if T > self.max_pos:
            self.base = 10000.0 * (2.0 * T / self.max_pos - 1) ** (self.hd / (self.hd - 2))
            self.max_pos = T
        ang = angles(torch.arange(T, device=x.device), self.hd, self.base)
        return self.attend(rotate(q, ang), rotate(k, ang), v, allowed(T, T, x.device))


LAYERS.append({"layer": DynamicNTKSticky, "d_in": 32, "context_length": 12, "options": {"num_kv_heads": 2, "positions": "rotary"}})


class TablesOfFirstDtype(CachedTables):
    """wrong: rotary tables keep the precision of the first call, so float32 after bfloat16 is turned by rounded angles."""

    def tables(self, n, x):
        if self.cos is None or self.cos.shape[0] < n or self.cos.device != x.device:
            ang = angles(torch.arange(n, device=x.device), self.hd)
            self.cos, self.sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        return self.cos[:n].to(x.dtype), self.sin[:n].to(x.dtype)


LAYERS.append({"layer": TablesOfFirstDtype, "d_in": 24, "context_length": 9, "options": {"positions": "rotary"}})


class TablesAsAttribute(Core):
    """wrong: rotary tables are plain attributes made on the CPU, which no .to(device) moves."""

    def __init__(self):
        super().__init__(32, 4, 2)
        ang = angles(torch.arange(64), self.hd)
        self.cos, self.sin = ang.cos(), ang.sin()

    def turn(self, x):
        a, b = x.chunk(2, -1)
        cos, sin = self.cos[:x.shape[2]].to(x.dtype), self.sin[:x.shape[2]].to(x.dtype)
        return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)

    def forward(self, x):
        q, k, v = self.project(x)
        return self.attend(self.turn(q), self.turn(k), v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": TablesAsAttribute, "d_in": 32, "context_length": 8, "options": {"num_kv_heads": 2, "positions": "rotary"}})


class TablesInStateDict(Core):
    """wrong: the first call registers rotary tables as a persistent buffer, so its state dict has a key that a new instance lacks."""

    def forward(self, x):
        q, k, v = self.project(x)
        if "rope_cache" not in self._buffers or self.rope_cache.shape[0] < x.shape[1]:
            self.register_buffer("rope_cache", angles(torch.arange(x.shape[1], device=x.device), self.hd))
        ang = self.rope_cache[:x.shape[1]].float()
        return self.attend(rotate(q, ang), rotate(k, ang), v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": TablesInStateDict, "d_in": 32, "context_length": 8, "options": {"positions": "rotary"}})


# ---------------------------------------------------------------- wrong ones: grouped heads, norms, caps, sinks

class TiledKeys(Core):
    """wrong: grouped keys are tiled with repeat, so query heads read the group of another."""

    def __init__(self):
        super().__init__(32, 4, 2, bias=False)

    def forward(self, x):
        q, k, v = self.project(x)
        n = self.num_heads // self.num_kv_heads
        y = F.scaled_dot_product_attention(q, k.repeat(1, n, 1, 1), v.repeat(1, n, 1, 1), is_causal=True)
        return self.finish(y)


LAYERS.append({"layer": TiledKeys, "d_in": 32, "context_length": 8, "options": {"num_kv_heads": 2}})


class KeysAndValuesGroupedApart(Core):
    """wrong: keys are repeated for neighbours, values are tiled, so a head's weights meet another group's values."""

    def __init__(self):
        super().__init__(36, 6, 3)

    def forward(self, x):
        q, k, v = self.project(x)
        s = (q @ k.repeat_interleave(2, 1).mT / self.hd ** 0.5).masked_fill(~allowed(x.shape[1], x.shape[1], x.device), -torch.inf)
        return self.finish(s.softmax(-1) @ v.repeat(1, 2, 1, 1))


LAYERS.append({"layer": KeysAndValuesGroupedApart, "d_in": 36, "context_length": 9, "options": {"num_kv_heads": 3}})


class OverlappingSlices(nn.Module):
    """wrong: keys and values are cut from the same slice of the fused projection; that for values is never read."""

    def __init__(self, d=32, num_heads=4, num_kv_heads=2):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.hd = num_heads, num_kv_heads, d // num_heads
        self.Wqkv, self.out_proj = nn.Linear(d, d + 2 * num_kv_heads * self.hd), nn.Linear(d, d)

    def forward(self, x):
        B, T, C = x.shape
        qkv, kv = self.Wqkv(x), self.num_kv_heads * self.hd
        q, k, v = qkv[..., :C], qkv[..., C:C + kv], qkv[..., C:C + kv]
        q, k, v = (t.view(B, T, -1, self.hd).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": OverlappingSlices, "d_in": 32, "context_length": 8, "options": {"num_kv_heads": 2}})


class QKNormOverTokens(Core):
    """wrong: queries and keys are normalised along the tokens, dim=-2, not along a head's features."""

    def forward(self, x):
        q, k, v = self.project(x)
        q, k = F.normalize(q, dim=-2), F.normalize(k, dim=-2)
        return self.attend(q, k, v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": QKNormOverTokens, "d_in": 32, "context_length": 8, "options": {}})


class KeysNormedAgain(Core):
    """wrong: Gemma's RMSNorm with gain 1 + w is applied to all cached keys at each step, to old ones again and again."""

    def __init__(self):
        super().__init__(32, 4, 2, bias=False)
        self.q_w, self.k_w = nn.Parameter(torch.randn(self.hd) * 0.5), nn.Parameter(torch.randn(self.hd) * 0.5)

    def norm(self, x, w):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * (1 + w)

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k, v)
        k = self.norm(k, self.k_w)
        return self.attend(self.norm(q, self.q_w), k, v, allowed(x.shape[1], k.shape[2], x.device)), (k, v)


LAYERS.append({"layer": KeysNormedAgain, "d_in": 32, "context_length": 8, "options": {"num_kv_heads": 2, "step": step_cache}})


class CapAfterMask(Core):
    """wrong: the soft cap is applied after the mask and lifts minus infinity to minus 20."""

    def forward(self, x):
        q, k, v = self.project(x)
        s = (q @ k.mT * self.hd ** -0.5).masked_fill(~allowed(x.shape[1], x.shape[1], x.device), float("-inf"))
        return self.finish((20.0 * torch.tanh(s / 20.0)).softmax(-1) @ v)


LAYERS.append({"layer": CapAfterMask, "d_in": 32, "context_length": 8, "options": {}})


class FastPathWithoutCap(Core):
    """wrong: eval mode takes scaled_dot_product_attention, which leaves out the soft cap of the training path."""

    def forward(self, x):
        q, k, v = self.project(x)
        if not self.training:
            return self.finish(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        s = 2.0 * torch.tanh(q @ k.mT * self.hd ** -0.5 / 2.0)
        w = s.masked_fill(~allowed(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1)
        return self.finish(w @ v)


LAYERS.append({"layer": FastPathWithoutCap, "d_in": 32, "context_length": 8, "options": {}})


class SinkCutAtWrongEnd(Core):
    """wrong: the sink is the last column of the softmax but the first is dropped, so all weights move by one token."""

    def __init__(self):
        super().__init__(32, 4, 2)
        self.sinks = nn.Parameter(torch.randn(4))

    def forward(self, x):
        q, k, v = self.project(x)
        B, T = x.shape[:2]
        s = (q @ repeat_kv(k, 2).mT * self.hd ** -0.5).masked_fill(~allowed(T, T, x.device), float("-inf"))
        w = torch.cat((s, self.sinks.view(1, -1, 1, 1).expand(B, -1, T, 1)), -1).softmax(-1)[..., 1:]
        return self.finish(w @ repeat_kv(v, 2))


LAYERS.append({"layer": SinkCutAtWrongEnd, "d_in": 32, "context_length": 8, "options": {"num_kv_heads": 2}})


class SinkWithoutEffect(Core):
    """wrong: weights are normed again after the sink's column is dropped, which takes its effect away."""

    def __init__(self):
        super().__init__(32, 4, 2)
        self.sinks = nn.Parameter(torch.randn(4))

    def forward(self, x):
        q, k, v = self.project(x)
        B, T = x.shape[:2]
        s = (q @ repeat_kv(k, 2).mT * self.hd ** -0.5).masked_fill(~allowed(T, T, x.device), float("-inf"))
        w = torch.cat((self.sinks.view(1, -1, 1, 1).expand(B, -1, T, 1), s), -1).softmax(-1)[..., 1:]
        return self.finish(w / w.sum(-1, keepdim=True) @ repeat_kv(v, 2))


LAYERS.append({"layer": SinkWithoutEffect, "d_in": 32, "context_length": 8, "options": {"num_kv_heads": 2}})


class OneTokenShortcut(Core):
    """wrong: a single token gets its value back without attention, though part of the weight belongs to the sink."""

    def __init__(self):
        super().__init__()
        self.sinks = nn.Parameter(torch.randn(4))

    def forward(self, x):
        q, k, v = self.project(x)
        B, T = x.shape[:2]
        if T == 1:
            return self.finish(v)
        s = (q @ k.mT * self.hd ** -0.5).masked_fill(~allowed(T, T, x.device), float("-inf"))
        w = torch.cat((s, self.sinks.view(1, -1, 1, 1).expand(B, -1, T, 1)), -1).softmax(-1)[..., :-1]
        return self.finish(w @ v)


LAYERS.append({"layer": OneTokenShortcut, "d_in": 32, "context_length": 8, "options": {}})


class PrefixMaskOnWrongSide(NullKey):
    """wrong: a learned key stands before the tokens, but the mask is padded behind, so each position misses itself."""

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (f(x).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        nk, nv = (n.expand(B, -1, -1, -1) for n in self.null)
        k, v = torch.cat((nk, k), dim=-2), torch.cat((nv, v), dim=-2)
        sim = torch.einsum("bhid,bhjd->bhij", q, k) * self.scale
        mask = F.pad(allowed(T, T, x.device), (0, 1), value=False)
        attn = sim.masked_fill(~mask, -torch.finfo(sim.dtype).max).softmax(dim=-1)
        return self.to_out(torch.einsum("bhij,bhjd->bhid", attn, v).transpose(1, 2).flatten(2))


LAYERS.append({"layer": PrefixMaskOnWrongSide, "d_in": 24, "context_length": 8, "options": {}})


# ---------------------------------------------------------------- wrong ones: windows

class WindowOneTooMany(Core):
    """wrong: the window lets W + 1 tokens through, as flash attention's inclusive bound taken for a count."""

    window = 4

    def forward(self, x):
        q, k, v = self.project(x)
        i = torch.arange(x.shape[1], device=x.device)
        d = i[:, None] - i
        return self.attend(q, k, v, (d >= 0) & (d <= self.window))


LAYERS.append({"layer": WindowOneTooMany, "d_in": 32, "context_length": 11, "options": {"window": 4}})


class WindowInBlocks(Core):
    """wrong: the sliding window is cut into fixed blocks, so a block's first token sees itself alone."""

    window = 4

    def forward(self, x):
        q, k, v = self.project(x)
        i = torch.arange(x.shape[1], device=x.device)
        mask = (i[:, None] // self.window == i // self.window) & (i[:, None] >= i)
        return self.attend(q, k, v, mask)


LAYERS.append({"layer": WindowInBlocks, "d_in": 32, "context_length": 11, "options": {"window": 4}})


class WindowOnlyInTraining(Core):
    """wrong: only the training path has the sliding window, eval mode reads the whole past."""

    window = 4

    def forward(self, x):
        q, k, v = self.project(x)
        if self.training:
            return self.attend(q, k, v, allowed(x.shape[1], x.shape[1], x.device, self.window))
        return self.finish(F.scaled_dot_product_attention(q, k, v, is_causal=True))


LAYERS.append({"layer": WindowOnlyInTraining, "d_in": 32, "context_length": 11, "options": {"window": 4}})


class WindowLostWithPadding(Core):
    """wrong: where a padding mask is given, the mask is made anew without the window."""

    window = 4

    def forward(self, x, real=None):
        q, k, v = self.project(x)
        T = x.shape[1]
        if real is None:
            mask = allowed(T, T, x.device, self.window)
        else:
            mask = with_padding(allowed(T, T, x.device), real)
        return self.attend(q, k, v, mask)


LAYERS.append({"layer": WindowLostWithPadding, "d_in": 32, "context_length": 12, "options": {"window": 4, "padding": pad_real}})


# ---------------------------------------------------------------- wrong ones: padding, documents, biases

class CausalUnlessPadded(Core):
    """wrong: is_causal is set only where no padding mask is given; with one, the future is seen."""

    def forward(self, x, real=None):
        q, k, v = self.project(x)
        mask = None if real is None else real[:, None, None, :]
        return self.finish(F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None))


LAYERS.append({"layer": CausalUnlessPadded, "d_in": 32, "context_length": 9, "options": {"padding": pad_real}})


class PaddingOnQueries(Core):
    """wrong: the padding mask lies along queries, so keys at padding are read all the same."""

    def forward(self, x, real=None):
        q, k, v = self.project(x)
        T = x.shape[1]
        mask = allowed(T, T, x.device)
        if real is not None:
            mask = (mask & real[:, :, None])[:, None] | torch.eye(T, dtype=torch.bool, device=x.device)
        return self.attend(q, k, v, mask)


LAYERS.append({"layer": PaddingOnQueries, "d_in": 32, "context_length": 9, "options": {"padding": pad_real}})


class PaddingEmptyRows(Core):
    """wrong: rows of left padding attend to nothing, their softmax gives NaN."""

    def forward(self, x, real=None):
        q, k, v = self.project(x)
        mask = allowed(x.shape[1], x.shape[1], x.device)
        if real is not None:
            mask = mask & real[:, None, None, :]
        return self.attend(q, k, v, mask)


LAYERS.append({"layer": PaddingEmptyRows, "d_in": 32, "context_length": 9, "options": {"padding": pad_real}})


class ZeroedPadding(Core):
    """wrong: padding is set to zero before the projections and not masked, so its keys still take weight."""

    def forward(self, x, real=None):
        if real is not None:
            x = x * real[..., None]
        q, k, v = self.project(x)
        return self.attend(q, k, v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": ZeroedPadding, "d_in": 32, "context_length": 9, "options": {"padding": pad_real}})


class LengthsOnly(Core):
    """wrong: padding is reduced to lengths, as if it always stood right, so left padding hides real tokens."""

    def forward(self, x, real=None):
        q, k, v = self.project(x)
        T = x.shape[1]
        mask = allowed(T, T, x.device)
        if real is not None:
            lengths = real.sum(1)
            mask = with_padding(mask, torch.arange(T, device=x.device) < lengths[:, None])
        return self.attend(q, k, v, mask)


LAYERS.append({"layer": LengthsOnly, "d_in": 32, "context_length": 10, "options": {"padding": pad_real}})


class MaskRepeatedForHeads(TorchMHA):
    """wrong: the mask for nn.MultiheadAttention is tiled over the batch with repeat, so heads get other sequences' padding."""

    def forward(self, x, key_padding_mask=None):
        B, T, _ = x.shape
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        if key_padding_mask is not None:
            hide = (hide | key_padding_mask[:, None, :]) & ~torch.eye(T, dtype=torch.bool, device=x.device)
            hide = hide.repeat(self.mha.num_heads, 1, 1)
        return self.mha(x, x, x, attn_mask=hide, need_weights=False)[0]


LAYERS.append({"layer": MaskRepeatedForHeads, "d_in": 32, "context_length": 8, "options": {
    "num_heads": 4, "dropout": 0.1, "padding": pad_key}})


class PaddingUpsideDown(GPT2):
    """wrong: the attention mask is read with the wrong polarity, real tokens are hidden and padding is seen."""

    def forward(self, x, attention_mask=None):
        return super().forward(x, attention_mask=None if attention_mask is None else 1 - attention_mask)


LAYERS.append({"layer": PaddingUpsideDown, "d_in": 24, "context_length": 10, "options": {"dropout": 0.1, "padding": pad_hf}})


class PoisonedMask(Core):
    """wrong: the causal mask is kept for the next call and padding is written into it in place, so padding of one call hides tokens in later ones."""

    def __init__(self):
        super().__init__()
        self.mask = None

    def forward(self, x, real=None):
        q, k, v = self.project(x)
        B, T, _ = x.shape
        if self.mask is None or self.mask.shape[:1] + self.mask.shape[-1:] != (B, T) or self.mask.device != x.device:
            self.mask = allowed(T, T, x.device).expand(B, 1, T, T).clone()
        if real is not None:
            self.mask &= real[:, None, None, :]
            self.mask |= torch.eye(T, dtype=torch.bool, device=x.device)
        return self.attend(q, k, v, self.mask)


LAYERS.append({"layer": PoisonedMask, "d_in": 32, "context_length": 10, "options": {"padding": pad_real}})


class PositionsLeftBehind(LearnedPositions):
    """wrong: position ids counted for a padded call stay in the module and are used for later calls of that size without padding."""

    def __init__(self):
        super().__init__()
        self.pos = None

    def forward(self, x, real=None):
        B, T, C = x.shape
        if real is not None:
            self.pos = (real.long().cumsum(1) - 1).clamp(min=0)
        elif self.pos is None or self.pos.shape != (B, T) or self.pos.device != x.device:
            self.pos = torch.arange(T, device=x.device).expand(B, T)
        q, k, v = self.qkv(x + self.wpe(self.pos)).view(B, T, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        mask = allowed(T, T, x.device)
        mask = mask if real is None else with_padding(mask, real)
        return self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": PositionsLeftBehind, "d_in": 24, "context_length": 8, "options": {"positions": True, "padding": pad_real}})


class DocumentsOfFirstRow(PackedDocuments):
    """wrong: the mask between documents is made from the ids of the first sequence for the whole batch."""

    def forward(self, x, doc_ids=None):
        return super().forward(x, None if doc_ids is None else doc_ids[:1].expand_as(doc_ids))


LAYERS.append({"layer": DocumentsOfFirstRow, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "documents": docs}})


class DocumentsSeeLater(PackedDocuments):
    """wrong: with document ids each position sees its whole document, the causal mask is dropped."""

    def forward(self, x, doc_ids=None):
        if doc_ids is None:
            return super().forward(x)
        B, T, C = x.shape
        q = self.q(x).view(B, T, self.num_heads, -1).transpose(1, 2)
        k, v = self.kv(x).view(B, T, 2, self.num_kv_heads, -1).permute(2, 0, 3, 1, 4)
        ang = angles(torch.arange(T, device=x.device), self.hd)
        mask = (doc_ids[:, :, None] == doc_ids[:, None, :])[:, None]
        y = F.scaled_dot_product_attention(rotate(q, ang), rotate(k, ang), v, attn_mask=mask, enable_gqa=True)
        return self.o(y.transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": DocumentsSeeLater, "d_in": 32, "context_length": 10, "options": {
    "num_kv_heads": 2, "positions": "rotary", "documents": docs}})


class AlibiBatchMixed(Bloom):
    """wrong: slopes are repeat_interleaved over batch times heads, so a head's slope depends on the place in the batch."""

    def forward(self, x):
        B, T, C = x.shape
        fused = self.query_key_value(x).view(B, T, self.num_heads, 3, self.hd)
        q, k, v = (fused[..., i, :].transpose(1, 2).reshape(B * self.num_heads, T, self.hd) for i in range(3))
        slopes = self.slopes.to(x.dtype).repeat_interleave(B)[:, None, None]
        s = torch.baddbmm(slopes * torch.arange(T, device=x.device).to(x.dtype).expand(1, T, T), q, k.mT, alpha=self.hd ** -0.5)
        w = s.masked_fill(~allowed(T, T, x.device), torch.finfo(x.dtype).min).softmax(-1)
        return self.dense(torch.bmm(w, v).view(B, self.num_heads, T, self.hd).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": AlibiBatchMixed, "d_in": 32, "context_length": 9, "options": {"positions": "alibi"}})


class AlibiSimple(Core):
    """wrong: ALiBi's slopes for six heads follow the formula for powers of two, not the published ones."""

    def __init__(self):
        super().__init__(36, 6)

    def slopes(self, x):
        return torch.tensor([2 ** (-8 * (i + 1) / 6) for i in range(6)], device=x.device, dtype=x.dtype)

    def bias_scores(self, s, x):
        i = torch.arange(x.shape[1], device=x.device)
        return s * self.hd ** -0.5 - self.slopes(x)[:, None, None] * (i[:, None] - i)

    def forward(self, x):
        q, k, v = self.project(x)
        s = self.bias_scores(q @ k.mT, x)
        return self.finish(s.masked_fill(~allowed(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1) @ v)


LAYERS.append({"layer": AlibiSimple, "d_in": 36, "context_length": 9, "options": {"positions": "alibi"}})


class AlibiScaledToo(AlibiSimple):
    """wrong: ALiBi's bias is added before the division by the root of the width, so its slopes are too flat."""

    def slopes(self, x):
        return torch.tensor(alibi_slopes(6), device=x.device, dtype=x.dtype)

    def bias_scores(self, s, x):
        i = torch.arange(x.shape[1], device=x.device)
        return (s - self.slopes(x)[:, None, None] * (i[:, None] - i)) / math.sqrt(self.hd)


LAYERS.append({"layer": AlibiScaledToo, "d_in": 36, "context_length": 9, "options": {"positions": "alibi"}})


class T5SignWrong(T5Decoder):
    """wrong: the relative position has the wrong sign, so all of the past falls in bucket 0 and the other rows are never read."""

    def compute_bias(self, t, s, device):
        i = torch.arange(s - t, s, device=device)[:, None]
        j = torch.arange(s, device=device)[None]
        dist = bucket(j - i) * (j <= i)
        return self.relative_attention_bias(dist).permute(2, 0, 1)[None]


LAYERS.append({"layer": T5SignWrong, "d_in": 32, "context_length": 9, "options": {"positions": "relative", "scale": 1.0}})


class RelativeIndexFromLength(Core):
    """wrong: the table of relative biases is indexed from the current length and not from the largest, so a distance's bias depends on it."""

    def __init__(self, max_len=64):
        super().__init__()
        self.table = nn.Parameter(torch.randn(4, 2 * max_len - 1) * 0.5)

    def forward(self, x):
        q, k, v = self.project(x)
        T = x.shape[1]
        i = torch.arange(T, device=x.device)
        s = q @ k.mT * self.hd ** -0.5 + self.table[:, i[:, None] - i + T - 1]
        return self.finish(s.masked_fill(~allowed(T, T, x.device), float("-inf")).softmax(-1) @ v)


LAYERS.append({"layer": RelativeIndexFromLength, "d_in": 32, "context_length": 9, "options": {"positions": "relative"}})


class StaleBias(T5Decoder):
    """wrong: in eval mode the position bias is kept from the first call and stays after other weights are loaded."""

    def __init__(self):
        super().__init__()
        self.kept = None

    def compute_bias(self, t, s, device):
        if self.training:
            return super().compute_bias(t, s, device)
        w = self.relative_attention_bias.weight
        if self.kept is None or self.kept.shape[-2:] != (t, s) or (self.kept.dtype, self.kept.device) != (w.dtype, w.device):
            self.kept = super().compute_bias(t, s, device).detach()
        return self.kept


LAYERS.append({"layer": StaleBias, "d_in": 32, "context_length": 9, "options": {"positions": "relative", "scale": 1.0}})


# ---------------------------------------------------------------- wrong ones: modes and the order of calls

class CausalOnlyInTraining(Core):
    """wrong: is_causal=self.training, so eval mode sees the future."""

    def forward(self, x):
        q, k, v = self.project(x)
        return self.finish(F.scaled_dot_product_attention(q, k, v, is_causal=self.training))


LAYERS.append({"layer": CausalOnlyInTraining, "d_in": 32, "context_length": 8, "options": {}})


class CausalOnlyInEval(Core):
    """wrong: the mask is made in eval mode only, training sees the future."""

    def forward(self, x):
        q, k, v = self.project(x)
        T = x.shape[1]
        mask = torch.ones(T, T, dtype=torch.bool, device=x.device) if self.training else allowed(T, T, x.device)
        return self.attend(q, k, v, mask)


LAYERS.append({"layer": CausalOnlyInEval, "d_in": 32, "context_length": 8, "options": {}})


class DropoutInEval(Core):
    """wrong: dropout_p is handed to scaled_dot_product_attention in eval mode, too."""

    def forward(self, x):
        q, k, v = self.project(x)
        return self.finish(F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.1))


LAYERS.append({"layer": DropoutInEval, "d_in": 32, "context_length": 8, "options": {"dropout": 0.1}})


class DropoutNotAChild(Core):
    """wrong: the dropout modules are in a plain dict, which .eval() doesn't reach, so they stay on."""

    def __init__(self):
        super().__init__()
        self.drops = {"attn": nn.Dropout(0.1)}

    def forward(self, x):
        q, k, v = self.project(x)
        s = (q @ k.mT * self.hd ** -0.5).masked_fill(~allowed(x.shape[1], x.shape[1], x.device), float("-inf"))
        return self.finish(self.drops["attn"](s.softmax(-1)) @ v)


LAYERS.append({"layer": DropoutNotAChild, "d_in": 32, "context_length": 8, "options": {"dropout": 0.1}})


class TrainIgnoresMode(Core):
    """wrong: train() is overridden and forgets to hand its mode on, so .eval() leaves the layer in train mode."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.1)

    def train(self, mode=True):
        super().train()
        return self

    def forward(self, x):
        q, k, v = self.project(x)
        s = (q @ k.mT * self.hd ** -0.5).masked_fill(~allowed(x.shape[1], x.shape[1], x.device), float("-inf"))
        return self.finish(self.drop(s.softmax(-1)) @ v)


LAYERS.append({"layer": TrainIgnoresMode, "d_in": 32, "context_length": 8, "options": {"dropout": 0.1}})


class ModeOfConstruction(Core):
    """wrong: the dropout probability is chosen once in __init__ by self.training, which is always True there."""

    def __init__(self, dropout=0.2):
        super().__init__()
        self.dropout_p = dropout if self.training else 0.0

    def forward(self, x):
        q, k, v = self.project(x)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return F.dropout(self.finish(y), self.dropout_p)


LAYERS.append({"layer": ModeOfConstruction, "d_in": 32, "context_length": 8, "options": {}})


class DropsScores(Core):
    """wrong: dropout is on scores before softmax, not on weights."""

    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        q, k, v = self.project(x)
        s = self.drop(q @ k.mT * self.hd ** -0.5)
        return self.finish(s.masked_fill(~allowed(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1) @ v)


LAYERS.append({"layer": DropsScores, "d_in": 32, "context_length": 8, "options": {"dropout": 0.2}})


class OneDropMaskForAll(Core):
    """wrong: one dropout mask (T, T) is drawn for all heads and sequences."""

    def forward(self, x):
        q, k, v = self.project(x)
        T = x.shape[1]
        w = (q @ k.mT * self.hd ** -0.5).masked_fill(~allowed(T, T, x.device), float("-inf")).softmax(-1)
        w = w * F.dropout(torch.ones(T, T, device=x.device, dtype=x.dtype), 0.2, self.training)
        return self.finish(w @ v)


LAYERS.append({"layer": OneDropMaskForAll, "d_in": 32, "context_length": 9, "options": {"dropout": 0.2}})


class DropsWithoutScaling(Core):
    """wrong: dropped weights aren't made up for, the others don't grow by 1 / (1 - p)."""

    def forward(self, x):
        q, k, v = self.project(x)
        T = x.shape[1]
        w = (q @ k.mT * self.hd ** -0.5).masked_fill(~allowed(T, T, x.device), float("-inf")).softmax(-1)
        if self.training:
            w = w * (torch.rand_like(w) >= 0.2)
        return self.finish(w @ v)


LAYERS.append({"layer": DropsWithoutScaling, "d_in": 32, "context_length": 9, "options": {"dropout": 0.2}})


class KeepProbability(NanoGPT):
    """wrong: nn.Dropout gets the probability to keep, as in TensorFlow 1, so nine of ten weights are dropped."""

    def __init__(self):
        super().__init__(dropout=0.0)
        self.attn_dropout = nn.Dropout(1 - 0.1)


LAYERS.append({"layer": KeepProbability, "d_in": 32, "context_length": 8, "options": {"dropout": 0.1}})


class SeedsInForward(NanoGPT):
    """wrong: forward calls torch.manual_seed, so that dropout is the same in each call."""

    def forward(self, x):
        torch.manual_seed(1234)
        return super().forward(x)


LAYERS.append({"layer": SeedsInForward, "d_in": 32, "context_length": 8, "options": {"dropout": 0.1}})


class EvalInsideStep(NanoGPT):
    """wrong: forward switches dropout off by self.attn_dropout.eval() for single tokens and never on again."""

    def forward(self, x):
        if x.shape[1] == 1:
            self.attn_dropout.eval()
            self.resid_dropout.eval()
        return super().forward(x)


LAYERS.append({"layer": EvalInsideStep, "d_in": 32, "context_length": 8, "options": {"dropout": 0.1}})


class LoRANeverUnmerged(Core):
    """wrong: eval() adds the low-rank update to the weight, train() doesn't take it off, so it counts twice and more."""

    def __init__(self, r=2):
        super().__init__()
        self.A, self.B = nn.Parameter(torch.randn(r, 32) * 0.3), nn.Parameter(torch.zeros(32, r))
        self.merged = False

    def train(self, mode=True):
        super().train(mode)
        if mode:
            self.merged = False
        elif not self.merged:
            with torch.no_grad():
                self.q_proj.weight += self.B @ self.A
            self.merged = True
        return self

    def forward(self, x):
        q, k, v = self.project(x)
        if not self.merged:
            q = q + (x @ self.A.T @ self.B.T).view(*x.shape[:2], -1, self.hd).transpose(1, 2)
        return self.attend(q, k, v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": LoRANeverUnmerged, "d_in": 32, "context_length": 8, "options": {}})


class FusedOnce(Core):
    """wrong: in eval mode the three weights are fused at the first call and kept, also after training has changed or loading replaced them."""

    def __init__(self):
        super().__init__(bias=False)
        self.fused = None

    def forward(self, x):
        T = x.shape[1]
        if self.training:
            q, k, v = self.project(x)
        else:
            w = self.q_proj.weight
            if self.fused is None or (self.fused.dtype, self.fused.device) != (w.dtype, w.device):
                self.fused = torch.cat((w, self.k_proj.weight, self.v_proj.weight)).detach()
            q, k, v = F.linear(x, self.fused).view(x.shape[0], T, 3, 4, self.hd).permute(2, 0, 3, 1, 4)
        return self.attend(q, k, v, allowed(T, T, x.device))


LAYERS.append({"layer": FusedOnce, "d_in": 32, "context_length": 8, "options": {}})


class BatchNormedQueries(Core):
    """wrong: queries pass nn.BatchNorm1d, whose statistics in train mode run over all tokens, later ones, too."""

    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(32)

    def forward(self, x):
        q, k, v = self.project(x)
        B, H, T, D = q.shape
        q = self.bn(q.permute(0, 1, 3, 2).reshape(B, H * D, T)).view(B, H, D, T).mT
        return self.attend(q, k, v, allowed(T, T, x.device))


LAYERS.append({"layer": BatchNormedQueries, "d_in": 32, "context_length": 8, "options": {}})


class SigmaInEval(Core):
    """wrong: the power iteration of a spectral norm goes on in eval mode, so each call changes the next one's result."""

    def __init__(self):
        super().__init__(bias=False)
        self.register_buffer("u", F.normalize(torch.randn(32), dim=0))

    def forward(self, x):
        w = self.q_proj.weight
        with torch.no_grad():
            v = F.normalize(w.T @ self.u, dim=0)
            self.u = F.normalize(w @ v, dim=0)
        sigma = self.u @ w @ v
        q = F.linear(x, w / sigma).view(*x.shape[:2], -1, self.hd).transpose(1, 2)
        _, k, v = self.project(x)
        return self.attend(q, k, v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": SigmaInEval, "d_in": 32, "context_length": 8, "options": {}})


class WarmupCountsCalls(Core):
    """wrong: a temperature that is warmed up counts every call, also those in eval mode."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        q, k, v = self.project(x)
        s = q @ k.mT * self.hd ** -0.5 * min(1.0, 0.5 + self.calls / 200)
        return self.finish(s.masked_fill(~allowed(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1) @ v)


LAYERS.append({"layer": WarmupCountsCalls, "d_in": 32, "context_length": 8, "options": {"softmax": False}})


class FrozenByEval(Core):
    """wrong: a call in eval mode sets requires_grad_(False) on the projections, and train mode doesn't set it back."""

    def forward(self, x):
        if not self.training:
            for p in self.parameters():
                p.requires_grad_(False)
        q, k, v = self.project(x)
        return self.attend(q, k, v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": FrozenByEval, "d_in": 32, "context_length": 8, "options": {}})


class DefaultDtypeLeft(Core):
    """wrong: rotary tables are made under torch.set_default_dtype(x.dtype), which is never set back."""

    def forward(self, x):
        torch.set_default_dtype(x.dtype)
        q, k, v = self.project(x)
        ang = angles(torch.arange(x.shape[1], device=x.device), self.hd)
        return self.attend(rotate(q, ang), rotate(k, ang), v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": DefaultDtypeLeft, "d_in": 32, "context_length": 8, "options": {"positions": "rotary"}})


@lru_cache(maxsize=16)
def shared_mask(t, device):
    return allowed(t, t, device)


class LruMask(Core):
    """wrong: an lru_cache hands the same mask to all calls, and places that are padding in all sequences are written into it in place, for later calls, too."""

    def forward(self, x, real=None):
        q, k, v = self.project(x)
        mask = shared_mask(x.shape[1], str(x.device))
        if real is not None:
            mask.masked_fill_(~real.any(0)[None, :], False).fill_diagonal_(True)
        return self.attend(q, k, v, mask if real is None else with_padding(mask, real))


LAYERS.append({"layer": LruMask, "d_in": 32, "context_length": 10, "options": {"padding": pad_real}})


class MaskFromTheEnd(Core):
    """wrong: the mask is kept for the longest sequence so far and cut as its last rows but first columns, which lets short ones see all."""

    def __init__(self):
        super().__init__()
        self.mask = None

    def forward(self, x):
        q, k, v = self.project(x)
        T = x.shape[1]
        if self.mask is None or len(self.mask) < T or self.mask.device != x.device:
            self.mask = allowed(T, T, x.device)
        return self.attend(q, k, v, self.mask[-T:, :T])


LAYERS.append({"layer": MaskFromTheEnd, "d_in": 32, "context_length": 9, "options": {}})


class RandomFeaturesNotSaved(nn.Module):
    """wrong: Performer's random features are a buffer that isn't saved, so another instance with the same state dict differs."""

    def __init__(self, d=24, num_heads=3, m=12):
        super().__init__()
        self.num_heads = num_heads
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("omega", torch.randn(m, d // num_heads), persistent=False)

    def phi(self, x):
        x = x * x.shape[-1] ** -0.25
        return F.relu(x @ self.omega.T) + 1e-3

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        w = (self.phi(q) @ self.phi(k).mT) * allowed(T, T, x.device)
        return self.o((w / w.sum(-1, keepdim=True) @ v).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": RandomFeaturesNotSaved, "d_in": 24, "context_length": 8, "options": {"softmax": False}})


class CompiledWithoutWindow(Core):
    """wrong: under torch.compile another path is taken, which has no window."""

    window = 4

    def forward(self, x):
        q, k, v = self.project(x)
        if torch.compiler.is_compiling():
            return self.finish(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return self.attend(q, k, v, allowed(x.shape[1], x.shape[1], x.device, self.window))


LAYERS.append({"layer": CompiledWithoutWindow, "d_in": 32, "context_length": 10, "options": {"window": 4, "compiled": True}})


# ---------------------------------------------------------------- wrong ones: the rest, loud and subtle

class HeadsByView(nn.Module):
    """wrong: heads are made by view(B, H, T, D) without a transpose, which mixes tokens."""

    def __init__(self, d=32, num_heads=4):
        super().__init__()
        self.num_heads = num_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, self.num_heads, T, C // self.num_heads) for f in (self.wq, self.wk, self.wv))
        return self.wo(F.scaled_dot_product_attention(q, k, v, is_causal=True).view(B, T, C))


LAYERS.append({"layer": HeadsByView, "d_in": 32, "context_length": 8, "options": {}})


class GateInHeadLayout(GatedPartialRotary):
    """wrong: the context is merged without a transpose before the gate, so each token gets other tokens' heads."""

    def finish_wrong(self, y, gate):
        return self.o_proj(y.reshape(gate.shape) * torch.sigmoid(gate))

    def forward(self, x):
        B, T, C = x.shape
        q, gate = self.q_proj(x).view(B, T, self.num_heads, 2 * self.hd).chunk(2, -1)
        k, v = self.k_proj(x)[:, None], self.v_proj(x)[:, None]
        ang = angles(torch.arange(T, device=x.device), self.rot)
        q, k = self.partial(q.transpose(1, 2), ang), self.partial(k, ang)
        w = (q @ k.mT / self.hd ** 0.5).masked_fill(~allowed(T, T, x.device), float("-inf")).softmax(-1)
        return self.finish_wrong(w @ v, gate.reshape(B, T, C))


LAYERS.append({"layer": GateInHeadLayout, "d_in": 32, "context_length": 9, "options": {"num_kv_heads": 1, "positions": "rotary"}})


class SoftmaxOverQueries(Core):
    """wrong: softmax runs over queries, dim=-2."""

    def forward(self, x):
        q, k, v = self.project(x)
        s = (q @ k.mT * self.hd ** -0.5).masked_fill(~allowed(x.shape[1], x.shape[1], x.device), float("-inf"))
        return self.finish(s.softmax(-2) @ v)


LAYERS.append({"layer": SoftmaxOverQueries, "d_in": 32, "context_length": 8, "options": {}})


class ScoresTurned(Core):
    """wrong: scores are keys times queries, so row t scores how other tokens' queries fit its key."""

    def forward(self, x):
        q, k, v = self.project(x)
        return self.attend(k, q, v, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": ScoresTurned, "d_in": 32, "context_length": 8, "options": {}})


class ScaledTwice(Core):
    """wrong: queries are divided by the root of the width, and scaled_dot_product_attention divides again."""

    def forward(self, x):
        q, k, v = self.project(x)
        return self.finish(F.scaled_dot_product_attention(q / math.sqrt(self.hd), k, v, is_causal=True))


LAYERS.append({"layer": ScaledTwice, "d_in": 32, "context_length": 8, "options": {}})


class MaskTenThousand(Core):
    """wrong: the future gets -1e4 added, which is not enough for large scores."""

    def forward(self, x):
        q, k, v = self.project(x)
        s = q @ k.mT * self.hd ** -0.5 + (~allowed(x.shape[1], x.shape[1], x.device)).to(x.dtype) * -1e4
        return self.finish(s.softmax(-1) @ v)


LAYERS.append({"layer": MaskTenThousand, "d_in": 32, "context_length": 8, "options": {}})


class OnlineWithoutRescale(OnlineSoftmax):
    """wrong: flash attention by hand rescales the running sum for a new maximum, but not the accumulated context."""

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q = q / math.sqrt(q.shape[-1])
        rows = torch.arange(T, device=x.device)[:, None]
        m = q.new_full(q.shape[:-1] + (1,), torch.finfo(x.dtype).min)
        total, acc = torch.zeros_like(m), torch.zeros_like(q)
        for start in range(0, T, self.block):
            kb, vb = k[:, :, start:start + self.block], v[:, :, start:start + self.block]
            s = (q @ kb.mT).masked_fill(torch.arange(start, start + kb.shape[2], device=x.device) > rows, float("-inf"))
            new_m = torch.maximum(m, s.amax(-1, keepdim=True))
            p, fix = torch.exp(s - new_m), torch.exp(m - new_m)
            total, acc, m = total * fix + p.sum(-1, keepdim=True), acc + p @ vb, new_m
        return self.out((acc / total).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": OnlineWithoutRescale, "d_in": 32, "context_length": 10, "options": {}})


class QueryChunksLocalRows(Core):
    """wrong: queries go in chunks of 4 and each chunk's mask counts its rows from 0, so later chunks see too little."""

    def forward(self, x):
        q, k, v = self.project(x)
        T = x.shape[1]
        parts = []
        for qc in q.split(4, dim=2):
            mask = torch.arange(T, device=x.device) <= torch.arange(qc.shape[2], device=x.device)[:, None]
            parts.append(F.scaled_dot_product_attention(qc, k, v, attn_mask=mask))
        return self.finish(torch.cat(parts, 2))


LAYERS.append({"layer": QueryChunksLocalRows, "d_in": 32, "context_length": 11, "options": {}})


class ExpWithoutMaximum(Core):
    """wrong: softmax by hand with exp and no maximum taken off, which overflows."""

    def forward(self, x):
        q, k, v = self.project(x)
        w = torch.exp(q @ k.mT * self.hd ** -0.5) * allowed(x.shape[1], x.shape[1], x.device)
        return self.finish(w / w.sum(-1, keepdim=True) @ v)


LAYERS.append({"layer": ExpWithoutMaximum, "d_in": 32, "context_length": 8, "options": {}})


class MixedAfterMask(TalkingHeads):
    """wrong: talking heads mix scores that hold the mask's -1e9 already, and a negative factor makes the future large."""

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        s = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(~allowed(T, T, x.device), torch.finfo(x.dtype).min / 1e4)
        w = torch.einsum("bhij,hg->bgij", s, self.pre).softmax(-1)
        return self.o((torch.einsum("bhij,hg->bgij", w, self.post) @ v).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": MixedAfterMask, "d_in": 24, "context_length": 8, "options": {"softmax": False}})


class RolledShift(ShiftedInput):
    """wrong: the token shift is torch.roll, so the first position sees the last token."""

    def forward(self, x):
        B, T, C = x.shape
        before = x.roll(1, dims=1)
        q, k, v = self.qkv(x + (before - x) * self.mix).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": RolledShift, "d_in": 24, "context_length": 9, "options": {"positions": True}})


class TotalOfAllKeys(LinearAttention):
    """wrong: linear attention's denominator sums the keys of all tokens, later ones, too."""

    def forward(self, x):
        B, T, C = x.shape
        split = lambda y: y.view(B, T, self.heads, -1)
        q, k, v = F.elu(split(self.q(x))) + 1, F.elu(split(self.k(x))) + 1, split(self.v(x))
        kv, z = torch.einsum("bthd,bthe->bthde", k, v).cumsum(1), k.sum(1)
        y = torch.einsum("bthd,bthde->bthe", q, kv) / torch.einsum("bthd,bhd->bth", q, z)[..., None]
        return self.o(y.reshape(B, T, C))


LAYERS.append({"layer": TotalOfAllKeys, "d_in": 24, "context_length": 8, "options": {"softmax": False}})


class StateFromCacheDoubled(LinearAttention):
    """wrong: linear attention's cached key sum is left out of the denominator, only the state is carried on."""

    def forward(self, x, cache=None):
        B, T, C = x.shape
        split = lambda y: y.view(B, T, self.heads, -1)
        q, k, v = F.elu(split(self.q(x))) + 1, F.elu(split(self.k(x))) + 1, split(self.v(x))
        kv = torch.einsum("bthd,bthe->bthde", k, v).cumsum(1)
        z = k.cumsum(1)
        if cache is not None:
            kv = kv + cache
        y = torch.einsum("bthd,bthde->bthe", q, kv) / torch.einsum("bthd,bthd->bth", q, z)[..., None].clamp(min=1e-6)
        return self.o(y.reshape(B, T, C)), kv[:, -1:]


LAYERS.append({"layer": StateFromCacheDoubled, "d_in": 24, "context_length": 8, "options": {"softmax": False, "step": step_cache}})


class LogOfWholeLength(LogScaled):
    """wrong: scores are scaled by the log of the sequence's length, so later tokens change earlier positions' sharpness."""

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        ang = angles(torch.arange(T, device=x.device), q.shape[-1])
        q = rotate(q, ang) * math.log(T + 1)
        return self.o(F.scaled_dot_product_attention(q, rotate(k, ang), v, is_causal=True).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": LogOfWholeLength, "d_in": 24, "context_length": 9, "options": {"softmax": False, "positions": True}})


class SecondMapUnmasked(DiffAttention):
    """wrong: differential attention masks the first softmax map only."""

    def forward(self, x):
        B, T, C = x.shape
        q, k = (f(x).view(B, T, self.num_heads, 2, self.hd).permute(3, 0, 2, 1, 4) for f in (self.q, self.k))
        v = self.v(x).view(B, T, self.num_heads, 2 * self.hd).transpose(1, 2)
        s = q @ k.mT * self.hd ** -0.5
        w = s[0].masked_fill(~allowed(T, T, x.device), float("-inf")).softmax(-1) - self.lam[:, None, None] * s[1].softmax(-1)
        return self.o((self.norm(w @ v) * 0.2).transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": SecondMapUnmasked, "d_in": 32, "context_length": 8, "options": {"softmax": False}})


class SameHeadThrice(nn.Module):
    """wrong: the list of heads is [head] * 3, three times the same module with the same weights."""

    def __init__(self, d_in=15, d_out=7, num_heads=3):
        super().__init__()
        self.heads = nn.ModuleList([OneHead(d_in, d_out)] * num_heads)

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)


LAYERS.append({"layer": SameHeadThrice, "d_in": 15, "context_length": 11, "options": {"num_heads": 3, "dropout": 0.1}})


class DetachedKeys(Core):
    """wrong: keys are detached for the cache and the detached ones used in training, too, so their projection never learns."""

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k.detach(), v)
        return self.attend(q, k, v, allowed(x.shape[1], k.shape[2], x.device)), (k, v)


LAYERS.append({"layer": DetachedKeys, "d_in": 32, "context_length": 8, "options": {"step": step_cache}})


class ScalesInput(Gemma2):
    """wrong: Gemma's normaliser multiplies x in place, so the residual stream of the caller changes."""

    def forward(self, x):
        with torch.no_grad():
            x *= 24 ** 0.5 / 4
        return super().forward(x)


LAYERS.append({"layer": ScalesInput, "d_in": 24, "context_length": 8, "options": {
    "num_kv_heads": 2, "positions": "rotary", "scale": 12 ** -0.5}})


class ShowsOtherWeights(Core):
    """wrong: the weights returned are computed anew without the mask, not those that were used."""

    def forward(self, x):
        q, k, v = self.project(x)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.finish(y), (q @ k.mT * self.hd ** -0.5).softmax(-1)


LAYERS.append({"layer": ShowsOtherWeights, "d_in": 32, "context_length": 8, "options": {}})


class StaysFloat32(Core):
    """wrong: softmax and context are in float32 and never cast back, so a layer in bfloat16 returns float32."""

    def forward(self, x):
        q, k, v = self.project(x)
        s = (q @ k.mT).float() * self.hd ** -0.5
        w = s.masked_fill(~allowed(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1)
        y = (w @ v.float()).transpose(1, 2).flatten(2)
        return F.linear(y, self.o_proj.weight.float(), self.o_proj.bias.float())


LAYERS.append({"layer": StaysFloat32, "d_in": 32, "context_length": 8, "options": {}})


class StaticCacheUnmasked(FalconMQA):
    """wrong: with the preallocated cache all of its places are read, zeros that were never written, too."""

    def forward(self, x, cache=None):
        if cache is None:
            return super().forward(x)
        B, T, C = x.shape
        qkv = self.query_key_value(x).view(B, T, self.n_heads + 2, self.hd).transpose(1, 2)
        pos = cache[2]
        ang = angles(torch.arange(pos, pos + T, device=x.device), self.hd, 500000.0)
        cache[0][:, :, pos:pos + T], cache[1][:, :, pos:pos + T] = rotate_pairs(qkv[:, -2:-1], ang), qkv[:, -1:]
        cache[2] += T
        i = torch.arange(pos, pos + T, device=x.device)[:, None]
        j = torch.arange(self.max_len, device=x.device)
        mask = (j <= i) | (j >= pos + T)
        y = F.scaled_dot_product_attention(rotate_pairs(qkv[:, :-2], ang), cache[0], cache[1], attn_mask=mask, enable_gqa=True)
        return self.dense(y.transpose(1, 2).reshape(B, T, C))


LAYERS.append({"layer": StaticCacheUnmasked, "d_in": 32, "context_length": 8, "options": {
    "num_kv_heads": 1, "positions": "rotary", "step": step_static}})


class FirstPlacesOfMask(Core):
    """wrong: behind a cache the padding mask is cut to its first T places, not taken whole, so one place decides for all keys."""

    def forward(self, x, real=None, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k, v)
        T, S = x.shape[1], k.shape[2]
        mask = allowed(T, S, x.device)
        if real is not None:
            keep = real if cache is None else real[:, :T].all(1, keepdim=True).expand(-1, S)
            mask = with_padding(mask, keep)
        return self.attend(q, k, v, mask), (k, v)


LAYERS.append({"layer": FirstPlacesOfMask, "d_in": 32, "context_length": 9, "options": {"padding": pad_real, "step": step_left}})


class CacheStartsWithZeros(Core):
    """wrong: a new cache isn't empty but holds a key and value of zeros, which take part of the weight."""

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k, v)
        return self.attend(q, k, v, allowed(x.shape[1], k.shape[2], x.device)), (k, v)


def step_zeros(module, x, cache):
    if cache is None:
        zeros = x.new_zeros(x.shape[0], module.num_kv_heads, 1, module.hd)
        cache = (zeros, zeros)
    return module(x, cache=cache)


LAYERS.append({"layer": CacheStartsWithZeros, "d_in": 32, "context_length": 8, "options": {"step": step_zeros}})


class AlibiRowsFromZero(AlibiSix):
    """wrong: behind a cache ALiBi's distances take the new tokens for the first ones, |i - j| with i from 0."""

    def forward(self, x, cache=None):
        B, T, C = x.shape
        q = self.to_q(x).view(B, T, self.num_heads, -1).transpose(1, 2)
        k, v = self.to_kv(x).view(B, T, 2, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        k, v = extend(cache, k, v)
        S = k.shape[2]
        dist = (torch.arange(T, device=x.device)[:, None] - torch.arange(S, device=x.device)).abs()
        slopes = torch.tensor(alibi_slopes(self.num_heads), device=x.device, dtype=x.dtype)
        bias = (-slopes[:, None, None] * dist).masked_fill(~allowed(T, S, x.device), float("-inf"))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None])
        return self.to_out(y.transpose(1, 2).reshape(B, T, C)), (k, v)


LAYERS.append({"layer": AlibiRowsFromZero, "d_in": 36, "context_length": 10, "options": {"positions": "alibi", "step": step_cache}})


class SqueezesBatch(NanoFlash):
    """wrong: the output is squeezed, so a batch of one loses its batch axis."""

    def forward(self, x):
        y = super().forward(x)
        return y.squeeze(0)


LAYERS.append({"layer": SqueezesBatch, "d_in": 24, "context_length": 9, "options": {"dropout": 0.2}})


class SequenceFirstMHA(nn.Module):
    """wrong: nn.MultiheadAttention without batch_first gets (B, T, d), so sequences attend to each other and not tokens."""

    def __init__(self, d=32, num_heads=4):
        super().__init__()
        self.mha = nn.MultiheadAttention(d, num_heads)

    def forward(self, x):
        hide = torch.ones(x.shape[0], x.shape[0], dtype=torch.bool, device=x.device).triu(1)
        return self.mha(x, x, x, attn_mask=hide, need_weights=False)[0]


LAYERS.append({"layer": SequenceFirstMHA, "d_in": 32, "context_length": 8, "options": {"num_heads": 4}})


class ReluOverLength(Core):
    """wrong: ReLU attention divides by the sequence's length, not by how many tokens a position sees, so later tokens shrink earlier outputs."""

    def forward(self, x):
        q, k, v = self.project(x)
        T = x.shape[1]
        w = F.relu(q @ k.mT * self.hd ** -0.5) * allowed(T, T, x.device) / T
        return self.finish(w @ v)


LAYERS.append({"layer": ReluOverLength, "d_in": 32, "context_length": 9, "options": {"softmax": False}})


class LeftoverFeatures(nn.Module):
    """wrong: 32 features are cut into 5 heads of 6, and the last two of queries, keys and values are never read."""

    def __init__(self, d=32, num_heads=5):
        super().__init__()
        self.num_heads, self.hd = num_heads, d // num_heads
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))
        self.o = nn.Linear(num_heads * self.hd, d)

    def forward(self, x):
        B, T, _ = x.shape
        cut = lambda y: y[..., :self.num_heads * self.hd].reshape(B, T, self.num_heads, self.hd).transpose(1, 2)
        y = F.scaled_dot_product_attention(cut(self.q(x)), cut(self.k(x)), cut(self.v(x)), is_causal=True)
        return self.o(y.transpose(1, 2).flatten(2))


LAYERS.append({"layer": LeftoverFeatures, "d_in": 32, "context_length": 8, "options": {}})


class CentredConvolution(Core):
    """wrong: the depthwise convolution on keys is padded on both sides, so a key holds the next token."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(32, 32, 3, padding=1, groups=32)

    def forward(self, x):
        B, T, _ = x.shape
        q, _, v = self.project(x)
        k = self.conv(self.k_proj(x).mT).mT.reshape(B, T, 4, -1).transpose(1, 2)
        return self.attend(q, k, v, allowed(T, T, x.device))


LAYERS.append({"layer": CentredConvolution, "d_in": 32, "context_length": 9, "options": {"positions": True}})


class SharedCacheObject(EinsumGrouped):
    """wrong: the cache object's keys and values are a class attribute, appended to by all sequences between two resets."""


class SharedLists:
    keys, values = [], []

    def update(self, k, v):
        self.keys.append(k)
        self.values.append(v)
        return torch.cat(self.keys, 1), torch.cat(self.values, 1)


def step_shared(module, x, cache):
    if cache is None:
        cache = SharedLists()
        cache.keys.clear()
        cache.values.clear()
    return module(x, cache=cache), cache


LAYERS.append({"layer": SharedCacheObject, "d_in": 36, "context_length": 9, "options": {
    "num_heads": 6, "num_kv_heads": 2, "step": step_shared}})


class CacheKeepsTrainDropout(Core):
    """wrong: dropout of weights is F.dropout with training=True wherever a cache is given, so cached decoding in eval mode is random."""

    def forward(self, x, cache=None):
        q, k, v = self.project(x)
        k, v = extend(cache, k, v)
        w = (q @ k.mT * self.hd ** -0.5).masked_fill(~allowed(x.shape[1], k.shape[2], x.device), float("-inf")).softmax(-1)
        w = F.dropout(w, 0.1, training=self.training or cache is not None)
        return self.finish(w @ v), (k, v)


LAYERS.append({"layer": CacheKeepsTrainDropout, "d_in": 32, "context_length": 8, "options": {"dropout": 0.1, "step": step_cache}})


class ValuesWithoutGrad(Core):
    """wrong: .data is taken of values to save memory, so their projection gets no gradient."""

    def forward(self, x):
        q, k, v = self.project(x)
        return self.attend(q, k, v.data, allowed(x.shape[1], x.shape[1], x.device))


LAYERS.append({"layer": ValuesWithoutGrad, "d_in": 32, "context_length": 8, "options": {}})


class BertTenThousand(BertSelfAttention):
    """wrong: BERT's old padding mask adds -10000, and large scores at padding outweigh it."""

    def forward(self, hidden_states, attention_mask=None):
        q, k, v = (self.transpose_for_scores(f(hidden_states)) for f in (self.query, self.key, self.value))
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            scores = scores + (1.0 - attention_mask[:, None, None, :].to(scores.dtype)) * -10000.0
        probs = self.dropout(scores.softmax(-1))
        return (probs @ v).permute(0, 2, 1, 3).flatten(2), probs


LAYERS.append({"layer": BertTenThousand, "d_in": 36, "context_length": 9, "options": {
    "causal": False, "dropout": 0.1, "padding": pad_hf}})
