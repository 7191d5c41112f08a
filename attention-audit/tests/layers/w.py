"""Attention layers, right and wrong, for scoring an audit: variants from papers and libraries, bugs of refactoring."""

import copy
import functools
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

LAYERS = []


# ---------------------------------------------------------------- small helpers


def padded(module, x, real):
    return module(x, real=real)


def step(module, x, cache):
    return module(x, cache=cache)


def step_real(module, x, cache, real=None):
    return module(x, real=real, cache=cache)


def in_documents(module, x, ids):
    return module(x, ids=ids)


def split(t, heads):
    b, n, c = t.shape
    return t.reshape(b, n, heads, c // heads).transpose(1, 2)


def merge(t):
    b, h, n, d = t.shape
    return t.transpose(1, 2).reshape(b, n, h * d)


def seen(new, total, device, window=None):
    """(new, total), True where the last `new` of `total` positions may attend."""
    q = torch.arange(total - new, total, device=device)[:, None]
    k = torch.arange(total, device=device)[None, :]
    ok = k <= q
    if window is not None:
        ok = ok & (k > q - window)
    return ok


def angles(pos, dim, base=10000.0):
    inv = base ** (-torch.arange(0, dim, 2, device=pos.device, dtype=torch.float32) / dim)
    return pos.to(torch.float32)[:, None] * inv


def rotate_half(t):
    a, b = t.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rope(t, start=0, base=10000.0):
    """Llama's rotation of t (..., T, D), positions from start."""
    n, d = t.shape[-2:]
    a = angles(torch.arange(start, start + n, device=t.device), d, base)
    a = torch.cat((a, a), dim=-1)
    return t * a.cos().to(t.dtype) + rotate_half(t) * a.sin().to(t.dtype)


def repeat_kv(t, n):
    b, h, s, d = t.shape
    return t[:, :, None].expand(b, h, n, s, d).reshape(b, h * n, s, d)


def alibi_slopes(n):
    def power(m):
        start = 2.0 ** (-8.0 / m)
        return [start ** (i + 1) for i in range(m)]

    if math.log2(n).is_integer():
        return power(n)
    m = 2 ** math.floor(math.log2(n))
    return power(m) + power(2 * m)[0::2][: n - m]


# ---------------------------------------------------------------- right layers


class NanoFlash(nn.Module):
    """right: nanoGPT's fused causal attention with SDPA, attention and residual dropout."""

    def __init__(self, n_embd=24, n_head=4, dropout=0.1):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.resid_dropout = nn.Dropout(dropout)
        self.n_head, self.n_embd, self.dropout = n_head, n_embd, dropout

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


LAYERS.append({"layer": NanoFlash, "d_in": 24, "context_length": 10, "options": {"dropout": 0.1}})


class NanoSlow(nn.Module):
    """right: nanoGPT's manual path with a buffer of ones below the diagonal."""

    def __init__(self):
        super().__init__()
        self.n_head = 3
        self.c_attn = nn.Linear(18, 54, bias=False)
        self.c_proj = nn.Linear(18, 18, bias=False)
        self.attn_dropout = nn.Dropout(0.2)
        self.register_buffer("bias", torch.tril(torch.ones(64, 64)).view(1, 1, 64, 64))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        att = self.attn_dropout(F.softmax(att, dim=-1))
        return self.c_proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))


LAYERS.append({"layer": NanoSlow, "d_in": 18, "context_length": 9, "options": {"dropout": 0.2, "make": NanoSlow}})


class LlamaCached(nn.Module):
    """right: Llama's grouped queries with rotary positions, a growing cache and a padding mask."""

    def __init__(self, dim=32, n_heads=4, n_kv_heads=2):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.hd = n_heads, n_kv_heads, dim // n_heads
        self.wq = nn.Linear(dim, n_heads * self.hd, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.hd, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.hd, bias=False)
        self.wo = nn.Linear(n_heads * self.hd, dim, bias=False)

    def forward(self, x, real=None, cache=None):
        past = 0 if cache is None else cache[0].shape[2]
        q = rope(split(self.wq(x), self.n_heads), past)
        k = rope(split(self.wk(x), self.n_kv_heads), past)
        v = split(self.wv(x), self.n_kv_heads)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        kk, vv = (repeat_kv(t, self.n_heads // self.n_kv_heads) for t in (k, v))
        s = q @ kk.transpose(2, 3) / math.sqrt(self.hd)
        ok = seen(x.shape[1], k.shape[2], x.device)[None, None]
        if real is not None:
            ok = ok & real[:, None, None, :]
        s = s.masked_fill(~ok, torch.finfo(s.dtype).min)
        p = F.softmax(s, dim=-1, dtype=torch.float32 if s.dtype != torch.float64 else None).to(x.dtype)
        return self.wo(merge(p @ vv)), (k, v)


LAYERS.append({"layer": LlamaCached, "d_in": 32, "context_length": 10,
               "options": {"num_kv_heads": 2, "positions": "rotary", "padding": padded, "step": step_real}})


class BertSelf(nn.Module):
    """right: BERT's self-attention with an additive padding mask and dropout of weights."""

    def __init__(self, hidden=24, heads=4, p=0.1):
        super().__init__()
        self.num_attention_heads = heads
        self.attention_head_size = hidden // heads
        self.query, self.key, self.value = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(p)

    def transpose_for_scores(self, t):
        return t.view(*t.shape[:-1], self.num_attention_heads, self.attention_head_size).permute(0, 2, 1, 3)

    def forward(self, x, real=None):
        q, k, v = (self.transpose_for_scores(f(x)) for f in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.attention_head_size)
        if real is not None:
            scores = scores.masked_fill(~real[:, None, None, :], torch.finfo(scores.dtype).min)
        probs = self.dropout(nn.functional.softmax(scores, dim=-1))
        ctx = torch.matmul(probs, v).permute(0, 2, 1, 3).contiguous()
        return ctx.view(*ctx.shape[:-2], -1) if ctx.numel() else ctx.flatten(2), probs


LAYERS.append({"layer": BertSelf, "d_in": 24, "context_length": 8, "options": {"causal": False, "dropout": 0.1, "padding": padded}})


class Conv1D(nn.Module):
    """GPT-2's linear map with a transposed weight."""

    def __init__(self, nf, nx):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(nx, nf) * 0.2)
        self.bias = nn.Parameter(torch.randn(nf) * 0.1)

    def forward(self, x):
        return x @ self.weight + self.bias


class GPT2Cached(nn.Module):
    """right: GPT-2's attention with Conv1D and layer_past, the mask cut from a boolean buffer."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.c_attn, self.c_proj = Conv1D(72, 24), Conv1D(24, 24)
        self.register_buffer("bias", torch.tril(torch.ones(128, 128, dtype=torch.bool))[None, None], persistent=False)

    def forward(self, x, cache=None):
        q, k, v = (split(t, 4) for t in self.c_attn(x).split(24, dim=-1))
        if cache is not None:
            k = torch.cat((cache[0], k), dim=-2)
            v = torch.cat((cache[1], v), dim=-2)
        nd, ns = q.size(-2), k.size(-2)
        w = q @ k.mT / k.size(-1) ** 0.5
        w = torch.where(self.bias[:, :, ns - nd:ns, :ns], w, torch.full([], torch.finfo(w.dtype).min, dtype=w.dtype, device=w.device))
        return self.c_proj(merge(w.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": GPT2Cached, "d_in": 24, "context_length": 9, "options": {"step": step}})


def t5_bucket(rel, causal, buckets=16, far=32):
    """T5's buckets of memory position minus query position."""
    out = torch.zeros_like(rel)
    if causal:
        rel = (-rel).clamp(min=0)
    else:
        buckets //= 2
        out = (rel > 0).long() * buckets
        rel = rel.abs()
    exact = buckets // 2
    large = exact + (torch.log(rel.clamp(min=1).float() / exact) / math.log(far / exact) * (buckets - exact)).long()
    return out + torch.where(rel < exact, rel, large.clamp(max=buckets - 1))


class T5Decoder(nn.Module):
    """right: T5's decoder self-attention, unscaled, with bucketed relative bias and a cache."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.q, self.k, self.v = (nn.Linear(20, 24, bias=False) for _ in range(3))
        self.o = nn.Linear(24, 20, bias=False)
        self.relative_attention_bias = nn.Embedding(16, 4)

    def forward(self, x, cache=None):
        q, k, v = split(self.q(x), 4), split(self.k(x), 4), split(self.v(x), 4)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        t, s = q.shape[2], k.shape[2]
        rel = torch.arange(s, device=x.device)[None] - torch.arange(s - t, s, device=x.device)[:, None]
        bias = self.relative_attention_bias(t5_bucket(rel, True)).permute(2, 0, 1)
        scores = torch.einsum("bhid,bhjd->bhij", q, k) + bias
        scores = scores.masked_fill(rel > 0, float("-inf"))
        return self.o(merge(scores.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": T5Decoder, "d_in": 20, "context_length": 10, "options": {"scale": 1.0, "positions": "relative", "step": step}})


class T5Encoder(nn.Module):
    """right: T5's encoder self-attention, unscaled, both directions, with bucketed relative bias and padding."""

    def __init__(self):
        super().__init__()
        self.n_heads = 3
        self.qkv = nn.ModuleDict({n: nn.Linear(24, 18, bias=False) for n in "qkv"})
        self.o = nn.Linear(18, 24, bias=False)
        self.table = nn.Parameter(torch.randn(16, 3))

    def forward(self, x, real=None):
        q, k, v = (split(self.qkv[n](x), 3) for n in "qkv")
        n = torch.arange(x.shape[1], device=x.device)
        scores = q @ k.mT + self.table[t5_bucket(n[None] - n[:, None], False)].permute(2, 0, 1)
        if real is not None:
            scores = scores.masked_fill(~real[:, None, None], torch.finfo(scores.dtype).min)
        return self.o(merge(scores.softmax(-1) @ v))


LAYERS.append({"layer": T5Encoder, "d_in": 24, "context_length": 9,
               "options": {"causal": False, "scale": 1.0, "positions": "relative", "padding": padded}})


class MistralRolling(nn.Module):
    """right: Mistral's sliding window of 4 with grouped keys and a cache that keeps the last 3 tokens."""

    window = 4

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_key_value_heads = 4, 2
        self.q_proj, self.o_proj = nn.Linear(24, 24, bias=False), nn.Linear(24, 24, bias=False)
        self.k_proj, self.v_proj = nn.Linear(24, 12, bias=False), nn.Linear(24, 12, bias=False)

    def forward(self, x, cache=None):
        k0, v0, past = cache if cache is not None else (None, None, 0)
        q = rope(split(self.q_proj(x), 4), past, 1e6)
        k = rope(split(self.k_proj(x), 2), past, 1e6)
        v = split(self.v_proj(x), 2)
        if k0 is not None:
            k, v = torch.cat((k0, k), 2), torch.cat((v0, v), 2)
        mask = seen(x.shape[1], k.shape[2], x.device, self.window)
        y = F.scaled_dot_product_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), attn_mask=mask)
        keep = self.window - 1
        return self.o_proj(merge(y)), (k[:, :, -keep:], v[:, :, -keep:], past + x.shape[1])


LAYERS.append({"layer": MistralRolling, "d_in": 24, "context_length": 12,
               "options": {"num_kv_heads": 2, "positions": "rotary", "window": 4, "step": step}})


class Gemma2(nn.Module):
    """right: Gemma 2's attention with a soft cap of 50 before the mask and query_pre_attn_scalar 16."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads, self.cap = 4, 2, 50.0
        self.qkv_proj = nn.Linear(32, (4 + 2 * 2) * 8, bias=False)
        self.o_proj = nn.Linear(32, 32, bias=False)

    def forward(self, x):
        q, k, v = self.qkv_proj(x).split((32, 16, 16), -1)
        q, k, v = rope(split(q, 4)) * 16 ** -0.5, rope(split(k, 2)), split(v, 2)
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        s = q @ k.mT
        s = torch.tanh(s / self.cap) * self.cap
        s = s.masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf"))
        return self.o_proj(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": Gemma2, "d_in": 32, "context_length": 9,
               "options": {"num_kv_heads": 2, "positions": "rotary", "scale": 0.25}})


class TimmAttention(nn.Module):
    """right: timm's ViT attention with LayerNorm on queries and keys and projection dropout."""

    def __init__(self, dim=24, num_heads=4):
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
        attn = self.attn_drop(((q * self.scale) @ k.transpose(-2, -1)).softmax(dim=-1))
        return self.proj_drop(self.proj((attn @ v).transpose(1, 2).reshape(B, N, C)))


LAYERS.append({"layer": TimmAttention, "d_in": 24, "context_length": 8, "options": {"causal": False}})


class TalkingHeads(nn.Module):
    """right: talking heads, mixed before the mask and after softmax, with heads wider than d_in allows."""

    def __init__(self, dim=16, heads=4, dim_head=6):
        super().__init__()
        self.heads = heads
        self.to_qkv, self.to_out = nn.Linear(dim, 3 * heads * dim_head, bias=False), nn.Linear(heads * dim_head, dim)
        self.pre, self.post = (nn.Parameter(torch.eye(heads) + 0.3 * torch.randn(heads, heads)) for _ in range(2))

    def forward(self, x):
        q, k, v = (split(t, self.heads) for t in self.to_qkv(x).chunk(3, -1))
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * q.shape[-1] ** -0.5
        dots = torch.einsum("bhij,hg->bgij", dots, self.pre)
        dots = dots.masked_fill(~seen(*dots.shape[-2:], x.device), -torch.finfo(dots.dtype).max)
        attn = torch.einsum("bhij,hg->bgij", dots.softmax(-1), self.post)
        return self.to_out(merge(attn @ v))


LAYERS.append({"layer": TalkingHeads, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class OneHead(nn.Module):
    """One of the heads in a lecture."""

    def __init__(self, d, size, p):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(d, size, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(48, 48)))
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return self.dropout(F.softmax(wei, dim=-1)) @ self.value(x)


class Lecture(nn.Module):
    """right: heads as separate modules in a ModuleList, concatenated and projected."""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([OneHead(15, 5, 0.1) for _ in range(3)])
        self.proj = nn.Linear(15, 15)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


LAYERS.append({"layer": Lecture, "d_in": 15, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.1}})


class WrappedMHA(nn.Module):
    """right: nn.MultiheadAttention with a causal mask and key_padding_mask, weights of all heads returned."""

    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(20, 4, dropout=0.1, batch_first=True)
        self.num_heads = 4

    def forward(self, x, real=None):
        T = x.shape[1]
        mask = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)[None]
        if real is not None:
            mask = mask | ~real[:, None, :]
            mask = mask & ~torch.eye(T, dtype=torch.bool, device=x.device)
        mask = mask.expand(x.shape[0], T, T).repeat_interleave(4, 0)
        return self.mha(x, x, x, attn_mask=mask, need_weights=True, average_attn_weights=False)


LAYERS.append({"layer": WrappedMHA, "d_in": 20, "context_length": 9, "options": {"padding": padded, "dropout": 0.1}})


class Lens(nn.Module):
    """right: TransformerLens's einsums with one weight per head and a registered IGNORE value."""

    def __init__(self):
        super().__init__()
        self.W_Q, self.W_K, self.W_V = (nn.Parameter(torch.randn(5, 17, 4) * 0.3) for _ in range(3))
        self.W_O = nn.Parameter(torch.randn(5, 4, 17) * 0.3)
        self.b_Q, self.b_V, self.b_O = nn.Parameter(torch.randn(5, 4)), nn.Parameter(torch.randn(5, 4)), nn.Parameter(torch.randn(17))
        self.register_buffer("IGNORE", torch.tensor(float("-inf")))

    def forward(self, x):
        q = torch.einsum("bpm,nmh->bpnh", x, self.W_Q) + self.b_Q
        k = torch.einsum("bpm,nmh->bpnh", x, self.W_K)
        v = torch.einsum("bpm,nmh->bpnh", x, self.W_V) + self.b_V
        s = torch.einsum("bqnh,bknh->bnqk", q, k) / 4 ** 0.5
        s = torch.where(seen(x.shape[1], x.shape[1], x.device), s, self.IGNORE)
        z = torch.einsum("bnqk,bknh->bqnh", s.softmax(-1), v)
        return torch.einsum("bqnh,nhm->bqm", z, self.W_O) + self.b_O


LAYERS.append({"layer": Lens, "d_in": 17, "context_length": 9, "options": {"num_heads": 5}})


class AlibiCached(nn.Module):
    """right: ALiBi with six heads, a cache and left padding."""

    def __init__(self):
        super().__init__()
        self.num_heads = 6
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("slopes", torch.tensor(alibi_slopes(6)), persistent=False)

    def forward(self, x, real=None, cache=None):
        q, k, v = (split(t, 6) for t in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        t, s = q.shape[2], k.shape[2]
        dist = torch.arange(s - t, s, device=x.device)[:, None] - torch.arange(s, device=x.device)
        scores = q @ k.mT * 0.5 - self.slopes[:, None, None] * dist.to(x.dtype)
        hide = (dist < 0)[None, None]
        if real is not None:
            hide = hide | ~real[:, None, None]
        p = scores.masked_fill(hide, torch.finfo(x.dtype).min).softmax(-1)
        return self.out(merge(p @ v)), (k, v)


LAYERS.append({"layer": AlibiCached, "d_in": 24, "context_length": 9,
               "options": {"positions": "alibi", "padding": padded, "step": step_real}})


class LinearElu(nn.Module):
    """right: causal linear attention with elu + 1, cumulated, normalised by the tokens so far, with a state as cache."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = nn.Linear(12, 12), nn.Linear(12, 12), nn.Linear(12, 12), nn.Linear(12, 12)

    def forward(self, x, cache=None):
        q, k, v = F.elu(split(self.q(x), 3)) + 1, F.elu(split(self.k(x), 3)) + 1, split(self.v(x), 3)
        kv, z = (k.unsqueeze(-1) * v.unsqueeze(-2)).cumsum(2), k.cumsum(2)
        if cache is not None:
            kv, z = kv + cache[0], z + cache[1]
        num = torch.einsum("bhtd,bhtde->bhte", q, kv)
        den = (q * z).sum(-1, keepdim=True).clamp(min=1e-6)
        return self.o(merge(num / den)), (kv[:, :, -1:], z[:, :, -1:])


LAYERS.append({"layer": LinearElu, "d_in": 12, "context_length": 10, "options": {"softmax": False, "step": step}})


class LinearChunks(nn.Module):
    """right: unnormalised causal linear attention, computed in chunks of four with a padded last one."""

    def __init__(self):
        super().__init__()
        self.heads = 2
        self.qkv, self.o = nn.Linear(16, 48, bias=False), nn.Linear(16, 16)

    def forward(self, x):
        n = x.shape[1]
        q, k, v = (split(t, 2) for t in F.pad(self.qkv(x), (0, 0, 0, -n % 4)).chunk(3, -1))
        state = q.new_zeros(*q.shape[:2], 8, 8)
        out = []
        for a, b, c in zip(q.split(4, 2), k.split(4, 2), v.split(4, 2)):
            out.append(a @ state + (a @ b.mT).tril() @ c)
            state = state + b.mT @ c
        return self.o(merge(torch.cat(out, 2)[:, :, :n]))


LAYERS.append({"layer": LinearChunks, "d_in": 16, "context_length": 10, "options": {"softmax": False}})


class Retention(nn.Module):
    """right: RetNet's retention with a decay per head, in parallel form, and recurrently from a cache."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q_proj, self.k_proj, self.v_proj, self.g_proj, self.out_proj = (nn.Linear(16, 16, bias=False) for _ in range(5))
        self.register_buffer("log_decay", torch.log(1 - 2.0 ** (-2 - torch.arange(4.0))))

    def forward(self, x, cache=None):
        q, k, v = split(self.q_proj(x), 4) * 0.5, split(self.k_proj(x), 4), split(self.v_proj(x), 4)
        n = torch.arange(x.shape[1], device=x.device)
        dist = (n[:, None] - n).clamp(min=0)
        decay = torch.exp(self.log_decay[:, None, None] * dist).tril().to(x.dtype)
        y = (q @ k.mT * decay) @ v
        reach = torch.exp(self.log_decay[:, None] * (n + 1))[..., None].to(x.dtype)
        last = torch.exp(self.log_decay[:, None] * (x.shape[1] - 1 - n))[..., None].to(x.dtype)
        state = (k * last).mT @ v
        if cache is not None:
            y = y + reach * (q @ cache)
            state = state + reach[:, -1:] * cache
        y = F.rms_norm(y, (4,))
        return self.out_proj(F.silu(self.g_proj(x)) * merge(y)), state


LAYERS.append({"layer": Retention, "d_in": 16, "context_length": 10, "options": {"softmax": False, "positions": True, "step": step}})


class QwenGated(nn.Module):
    """right: an elementwise sigmoid gate from the same tokens on each head's output, RMS-normed queries and keys."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 1
        self.q_proj, self.k_proj, self.v_proj = nn.Linear(24, 48), nn.Linear(24, 6), nn.Linear(24, 6)
        self.o_proj = nn.Linear(24, 24, bias=False)
        self.q_norm, self.k_norm = nn.RMSNorm(6), nn.RMSNorm(6)

    def forward(self, x):
        B, T, _ = x.shape
        q, gate = self.q_proj(x).view(B, T, 4, 12).chunk(2, -1)
        q = rope(self.q_norm(q).transpose(1, 2))
        k = rope(self.k_norm(split(self.k_proj(x), 1)))
        y = F.scaled_dot_product_attention(q, k, split(self.v_proj(x), 1), is_causal=True, enable_gqa=True)
        return self.o_proj(merge(y) * torch.sigmoid(gate.reshape(B, T, 24)))


LAYERS.append({"layer": QwenGated, "d_in": 24, "context_length": 9, "options": {"num_kv_heads": 1, "positions": "rotary"}})


class Latent(nn.Module):
    """right: multi-head latent attention with one rotary key for all heads; latents and rotary keys are cached."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.nope, self.rot, self.vd = 3, 4, 4, 5
        self.q_proj = nn.Linear(24, 3 * 8, bias=False)
        self.kv_a = nn.Linear(24, 7 + 4, bias=False)
        self.kv_norm = nn.RMSNorm(7)
        self.kv_b = nn.Linear(7, 3 * (4 + 5), bias=False)
        self.o_proj = nn.Linear(15, 24, bias=False)

    def forward(self, x, cache=None):
        past = 0 if cache is None else cache[0].shape[1]
        q_n, q_r = split(self.q_proj(x), 3).split((4, 4), -1)
        c, k_r = self.kv_a(x).split((7, 4), -1)
        c, k_r, q_r = self.kv_norm(c), rope(k_r, past), rope(q_r, past)
        if cache is not None:
            c, k_r = torch.cat((cache[0], c), 1), torch.cat((cache[1], k_r), 1)
        k_n, v = split(self.kv_b(c), 3).split((4, 5), -1)
        q = torch.cat((q_n, q_r), -1)
        k = torch.cat((k_n, k_r[:, None].expand(-1, 3, -1, -1)), -1)
        s = q @ k.mT / math.sqrt(8)
        s = s.masked_fill(~seen(x.shape[1], c.shape[1], x.device), float("-inf"))
        return self.o_proj(merge(s.softmax(-1) @ v)), (c, k_r)


LAYERS.append({"layer": Latent, "d_in": 24, "context_length": 9, "options": {"positions": "rotary", "step": step}})


class Differential(nn.Module):
    """right: differential attention, two masked softmaxes and a learned lambda, RMS norm of each head."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.d = 2, 4
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.lq1, self.lk1, self.lq2, self.lk2 = (nn.Parameter(torch.randn(4) * 0.3) for _ in range(4))
        self.subln = nn.RMSNorm(8, eps=1e-5)

    def forward(self, x):
        B, T, _ = x.shape
        q, k = split(self.q_proj(x), 4) * self.d ** -0.5, split(self.k_proj(x), 4)
        v = split(self.v_proj(x), 2)
        a = (q @ k.mT).masked_fill(~seen(T, T, x.device), float("-inf")).softmax(-1)
        lam = torch.exp((self.lq1 * self.lk1).sum()) - torch.exp((self.lq2 * self.lk2).sum()) + 0.5
        a = a.view(B, 2, 2, T, T)
        a = a[:, :, 0] - lam * a[:, :, 1]
        return self.out_proj(merge(self.subln(a @ v) * 0.5))


LAYERS.append({"layer": Differential, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class OssSinks(nn.Module):
    """right: gpt-oss's learned sink logits, one per head, in a window of 5 with grouped keys."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.qkv, self.out = nn.Linear(20, 4 * 6 + 2 * 2 * 6), nn.Linear(24, 20)
        self.sinks = nn.Parameter(torch.randn(4))

    def forward(self, x):
        q, k, v = self.qkv(x).split((24, 12, 12), -1)
        q, k, v = rope(split(q, 4), 0, 150000.0), rope(split(k, 2), 0, 150000.0).repeat_interleave(2, 1), split(v, 2).repeat_interleave(2, 1)
        s = (q @ k.mT * 6 ** -0.5).masked_fill(~seen(x.shape[1], x.shape[1], x.device, 5), float("-inf"))
        s = torch.cat((s, self.sinks.view(1, 4, 1, 1).expand(s.shape[0], 4, s.shape[2], 1)), -1)
        return self.out(merge(s.softmax(-1)[..., :-1] @ v))


LAYERS.append({"layer": OssSinks, "d_in": 20, "context_length": 11,
               "options": {"num_kv_heads": 2, "window": 5, "positions": "rotary"}})


class Online(nn.Module):
    """right: online softmax over blocks of keys, as in a textbook of FlashAttention."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = split(self.q(x), 3) / 2, split(self.k(x), 3), split(self.v(x), 3)
        m = q.new_full((*q.shape[:3], 1), torch.finfo(q.dtype).min)
        den, acc = torch.zeros_like(m), torch.zeros_like(q)
        ok = seen(T, T, x.device)
        for i in range(0, T, 4):
            s = (q @ k[:, :, i:i + 4].mT).masked_fill(~ok[:, i:i + 4], float("-inf"))
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p, fix = torch.exp(s - new), torch.exp(m - new)
            den, acc, m = den * fix + p.sum(-1, keepdim=True), acc * fix + p @ v[:, :, i:i + 4], new
        return self.o(merge(acc / den))


LAYERS.append({"layer": Online, "d_in": 12, "context_length": 10, "options": {}})


class QueryChunks(nn.Module):
    """right: queries taken in chunks of three to save memory, each with its rows of the mask, checkpointed in training."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(14, 42), nn.Linear(14, 14)

    def part(self, q, k, v, start):
        rows = torch.arange(start, start + q.shape[2], device=q.device)[:, None]
        s = q @ k.mT / math.sqrt(q.shape[-1])
        return s.masked_fill(torch.arange(k.shape[2], device=q.device) > rows, float("-inf")).softmax(-1) @ v

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        out = []
        for i in range(0, x.shape[1], 3):
            if self.training:
                out.append(checkpoint(self.part, q[:, :, i:i + 3], k, v, i, use_reentrant=False))
            else:
                out.append(self.part(q[:, :, i:i + 3], k, v, i))
        return self.o(merge(torch.cat(out, 2)))


LAYERS.append({"layer": QueryChunks, "d_in": 14, "context_length": 8, "options": {}})


class Skewed(nn.Module):
    """right: Music Transformer's relative attention by skewing, the last T embeddings for the last T distances."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))
        self.Er = nn.Parameter(torch.randn(64, 6))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = split(self.q(x), 2), split(self.k(x), 2), split(self.v(x), 2)
        qe = F.pad(q @ self.Er[64 - T:].T, (1, 0))
        srel = qe.reshape(B, 2, T + 1, T)[:, :, 1:]
        s = (q @ k.mT + srel) / math.sqrt(6)
        return self.o(merge(s.masked_fill(~seen(T, T, x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": Skewed, "d_in": 12, "context_length": 9, "options": {"positions": "relative"}})


class XL(nn.Module):
    """right: Transformer-XL's relative attention with sinusoids of the distance and biases u and v."""

    def __init__(self):
        super().__init__()
        self.n_head = 2
        self.qkv_net, self.r_net, self.o_net = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.u, self.w = nn.Parameter(torch.randn(2, 1, 8)), nn.Parameter(torch.randn(2, 1, 8))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(t, 2) for t in self.qkv_net(x).chunk(3, -1))
        a = angles(torch.arange(T, device=x.device), 16)
        r = self.r_net(torch.cat((a.sin(), a.cos()), -1).to(x.dtype)).view(T, 2, 8).transpose(0, 1)
        n = torch.arange(T, device=x.device)
        dist = (n[:, None] - n).clamp(min=0)
        bd = ((q + self.w) @ r.mT).gather(-1, dist.expand(*q.shape[:2], T, T))
        s = ((q + self.u) @ k.mT + bd) / 8 ** 0.5
        return self.o_net(merge(s.masked_fill(n > n[:, None], float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": XL, "d_in": 16, "context_length": 9, "options": {"positions": "relative"}})


class SwinV2(nn.Module):
    """right: cosine attention with a learned, clamped logit scale, both directions."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.proj = nn.Linear(18, 54), nn.Linear(18, 18)
        self.logit_scale = nn.Parameter(torch.log(torch.full((3, 1, 1), 10.0)))

    def forward(self, x):
        q, k, v = (split(t, 3) for t in self.qkv(x).chunk(3, -1))
        s = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT
        s = s * self.logit_scale.clamp(max=math.log(100.0)).exp()
        return self.proj(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": SwinV2, "d_in": 18, "context_length": 8, "options": {"causal": False, "scale": 10.0}})


class Sigmoid(nn.Module):
    """right: sigmoid attention with a constant bias, grouped keys and a cache."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.kv, self.o = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x, cache=None):
        q, kv = split(self.q(x), 4), self.kv(x)
        if cache is not None:
            kv = torch.cat((cache, kv), 1)
        k, v = (split(t, 2).repeat_interleave(2, 1) for t in kv.chunk(2, -1))
        p = torch.sigmoid(q @ k.mT / 2 - 2.0) * seen(q.shape[2], k.shape[2], x.device)
        return self.o(merge(p @ v)), kv


LAYERS.append({"layer": Sigmoid, "d_in": 16, "context_length": 9, "options": {"softmax": False, "num_kv_heads": 2, "step": step}})


class SquaredRelu(nn.Module):
    """right: squared ReLU weights divided by the number of tokens that a position sees."""

    def __init__(self):
        super().__init__()
        self.heads = 2
        self.qkv, self.o = nn.Linear(10, 30), nn.Linear(10, 10)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        p = F.relu(q @ k.mT / 5 ** 0.5).square().tril()
        p = p / torch.arange(1, x.shape[1] + 1, device=x.device).to(x.dtype)[:, None]
        return self.o(merge(p @ v))


LAYERS.append({"layer": SquaredRelu, "d_in": 10, "context_length": 8, "options": {"softmax": False, "positions": True}})


class Banded(nn.Module):
    """right: Longformer's band of two tokens each way, keys unfolded, places outside the sequence hidden."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = split(self.q(x), 2), split(self.k(x), 2), split(self.v(x), 2)
        k, v = (F.pad(t, (0, 0, 2, 2)).unfold(2, 5, 1) for t in (k, v))
        s = torch.einsum("bhtd,bhtdw->bhtw", q, k) / 6 ** 0.5
        at = torch.arange(T, device=x.device)[:, None] + torch.arange(-2, 3, device=x.device)
        s = s.masked_fill((at < 0) | (at >= T), float("-inf"))
        return self.o(merge(torch.einsum("bhtw,bhtdw->bhtd", s.softmax(-1), v)))


LAYERS.append({"layer": Banded, "d_in": 12, "context_length": 10, "options": {"causal": False, "window": 3}})


class PackedDocs(nn.Module):
    """right: packed documents kept apart by a block-diagonal causal mask, rotary positions, SDPA."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, ids=None):
        q, k, v = (split(t, 4) for t in self.qkv(x).chunk(3, -1))
        ok = seen(x.shape[1], x.shape[1], x.device)[None]
        if ids is not None:
            ok = ok & (ids[:, :, None] == ids[:, None, :])
        return self.o(merge(F.scaled_dot_product_attention(rope(q), rope(k), v, attn_mask=ok[:, None])))


LAYERS.append({"layer": PackedDocs, "d_in": 16, "context_length": 10, "options": {"positions": "rotary", "documents": in_documents}})


class PartialInterleaved(nn.Module):
    """right: GPT-J's interleaved rotation on the first four of eight features, base 500000, tables in buffers."""

    def __init__(self):
        super().__init__()
        self.num_attention_heads = 3
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(24, 24, bias=False) for _ in range(4))
        a = angles(torch.arange(64), 4, 500000.0).repeat_interleave(2, -1)
        self.register_buffer("cos", a.cos(), persistent=False)
        self.register_buffer("sin", a.sin(), persistent=False)

    def turn(self, t):
        r, rest = t[..., :4], t[..., 4:]
        other = torch.stack((-r[..., 1::2], r[..., ::2]), -1).flatten(-2)
        n = t.shape[2]
        return torch.cat((r * self.cos[:n] + other * self.sin[:n], rest), -1)

    def forward(self, x):
        q, k, v = (split(f(x), 3) for f in (self.q_proj, self.k_proj, self.v_proj))
        return self.out_proj(merge(F.scaled_dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True)))


LAYERS.append({"layer": PartialInterleaved, "d_in": 24, "context_length": 9, "options": {"positions": "rotary", "compiled": True}})


class Forgetting(nn.Module):
    """right: the Forgetting Transformer's cumulated log gates as a bias on masked scores, gates cached."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.f, self.o = nn.Linear(12, 36, bias=False), nn.Linear(12, 2), nn.Linear(12, 12)

    def forward(self, x, cache=None):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        c = F.logsigmoid(self.f(x)).transpose(1, 2).cumsum(-1)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
            c = torch.cat((cache[2], cache[2][..., -1:] + c), -1)
        s = q @ k.mT / 6 ** 0.5 + c[..., -q.shape[2]:, None] - c[..., None, :]
        s = s.masked_fill(~seen(q.shape[2], k.shape[2], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k, v, c)


LAYERS.append({"layer": Forgetting, "d_in": 12, "context_length": 9, "options": {"positions": True, "step": step}})


class MixedWindows(nn.Module):
    """right: three heads of which one sees everything and the others windows of 3 and 5."""

    def __init__(self):
        super().__init__()
        self.nhead = 3
        self.qkv, self.o = nn.Linear(15, 45), nn.Linear(15, 15)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(t, 3) for t in self.qkv(x).chunk(3, -1))
        ok = torch.stack([seen(T, T, x.device, w) for w in (3, None, 5)])
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


LAYERS.append({"layer": MixedWindows, "d_in": 15, "context_length": 10, "options": {"window": (3, None, 5)}})


class SoftmaxOne(nn.Module):
    """right: softmax with one more in its denominator, stable, so that a head may attend to nothing."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = split(self.q(x), 4), split(self.k(x), 4), split(self.v(x), 4)
        s = (q @ k.mT * 0.5).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf"))
        m = s.amax(-1, keepdim=True).clamp(min=0).detach()
        e = torch.exp(s - m)
        return self.o(merge(e / (e.sum(-1, keepdim=True) + torch.exp(-m)) @ v))


LAYERS.append({"layer": SoftmaxOne, "d_in": 16, "context_length": 8, "options": {}})


class MultiQueryParallel(nn.Module):
    """right: multi-query attention from one fused projection after a LayerNorm, preallocated cache copied at each step."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 5, 1
        self.norm, self.fused, self.o = nn.LayerNorm(20), nn.Linear(20, 20 + 8, bias=False), nn.Linear(20, 20, bias=False)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q, k, v = self.fused(self.norm(x)).split((20, 4, 4), -1)
        buf, past = cache if cache is not None else (x.new_zeros(B, 64, 8), 0)
        buf = buf.clone()
        buf[:, past:past + T] = torch.cat((k, v), -1)
        k, v = buf[:, None, :past + T].chunk(2, -1)
        s = split(q, 5) @ k.mT / 2
        s = s.masked_fill(~seen(T, past + T, x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (buf, past + T)


LAYERS.append({"layer": MultiQueryParallel, "d_in": 20, "context_length": 9, "options": {"num_kv_heads": 1, "step": step}})


class LoraQV(nn.Module):
    """right: LoRA on queries and values, B starting at zero, added in the forward pass."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))
        self.qa, self.va = nn.Parameter(torch.randn(3, 12)), nn.Parameter(torch.randn(3, 12))
        self.qb, self.vb = nn.Parameter(torch.zeros(12, 3)), nn.Parameter(torch.zeros(12, 3))

    def forward(self, x):
        q = self.q(x) + 0.5 * x @ self.qa.T @ self.qb.T
        v = self.v(x) + 0.5 * x @ self.va.T @ self.vb.T
        return self.o(merge(F.scaled_dot_product_attention(split(q, 2), split(self.k(x), 2), split(v, 2), is_causal=True)))


LAYERS.append({"layer": LoraQV, "d_in": 12, "context_length": 8, "options": {"make": LoraQV}})


class BeitBias(nn.Module):
    """right: BEiT's fused projection with q_bias and v_bias but none for keys, relative table in a buffer's order."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv = nn.Linear(16, 48, bias=False)
        self.q_bias, self.v_bias = nn.Parameter(torch.randn(16)), nn.Parameter(torch.randn(16))
        self.register_buffer("k_bias", torch.zeros(16), persistent=False)
        self.table = nn.Parameter(torch.randn(2 * 64 - 1, 4))
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        n = torch.arange(x.shape[1], device=x.device)
        q, k, v = (split(t, 4) for t in F.linear(x, self.qkv.weight, torch.cat((self.q_bias, self.k_bias, self.v_bias))).chunk(3, -1))
        bias = self.table[n[:, None] - n + 63].permute(2, 0, 1)
        return self.proj(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(x.shape[0], -1, -1, -1))))


LAYERS.append({"layer": BeitBias, "d_in": 16, "context_length": 9, "options": {"causal": False, "positions": "relative"}})


# ---------------------------------------------------------------- wrong layers: linear, chunked, online


class LinearHeadsSum(nn.Module):
    """wrong: normalised linear attention; cumsum runs over dim 1, which after the transpose is heads, not tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        q, k, v = F.elu(split(self.q(x), 3)) + 1, F.elu(split(self.k(x), 3)) + 1, split(self.v(x), 3)
        kv, z = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(1), k.cumsum(1)
        return self.o(merge(torch.einsum("bhtd,bhtde->bhte", q, kv) / ((q * z).sum(-1, keepdim=True) + 1e-6)))


LAYERS.append({"layer": LinearHeadsSum, "d_in": 12, "context_length": 9, "options": {"softmax": False}})


class LinearDenominator(nn.Module):
    """wrong: causal linear attention; the numerator is cumulated but the normaliser sums keys of the whole sequence."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        q, k = F.softplus(q), F.softplus(k)
        kv = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(2)
        z = torch.einsum("bhtd,bhd->bht", q, k.sum(2)).clamp(min=1e-6)
        return self.o(merge(torch.einsum("bhtd,bhtde->bhte", q, kv) / z[..., None]))


LAYERS.append({"layer": LinearDenominator, "d_in": 12, "context_length": 9, "options": {"softmax": False}})


class LinearChunkLeak(nn.Module):
    """wrong: unnormalised linear attention in chunks; the state takes up a chunk before its queries read it, so they see all of their chunk."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        state, out = 0, []
        for a, b, c in zip(q.split(3, 2), k.split(3, 2), v.split(3, 2)):
            state = state + b.mT @ c
            out.append(a @ state)
        return self.o(merge(torch.cat(out, 2)))


LAYERS.append({"layer": LinearChunkLeak, "d_in": 12, "context_length": 9, "options": {"softmax": False}})


class LinearChunkTwice(nn.Module):
    """wrong: unnormalised linear attention; the form for several tokens counts each token's own key and value twice, the single step once."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, cache=None):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        if cache is not None and x.shape[1] == 1:
            state = cache + k.mT @ v
            return self.o(merge(q @ state)), state
        own = ((q @ k.mT).tril(-1) + torch.diag_embed(2 * (q * k).sum(-1))) @ v
        state = k.mT @ v
        if cache is not None:
            own, state = own + q @ cache, state + cache
        return self.o(merge(own)), state


LAYERS.append({"layer": LinearChunkTwice, "d_in": 12, "context_length": 9, "options": {"softmax": False, "step": step}})


class LinearDropsTail(nn.Module):
    """wrong: linear attention in chunks of four; T // 4 chunks are computed and the tokens behind the last whole chunk stay zero."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        out, state = torch.zeros_like(v), 0
        for i in range(x.shape[1] // 4):
            w = slice(4 * i, 4 * i + 4)
            a, b, c = q[:, :, w], k[:, :, w], v[:, :, w]
            out[:, :, w] = (a @ b.mT).tril() @ c + (a @ state if i else 0)
            state = state + b.mT @ c
        return self.o(merge(out))


LAYERS.append({"layer": LinearDropsTail, "d_in": 12, "context_length": 12, "options": {"softmax": False}})


class LinearNoNormaliser(nn.Module):
    """wrong: linear attention whose division by the sum of features was lost in a refactoring, so outputs grow with the position."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        q, k, v = split(self.q(x), 2).softmax(-1), split(self.k(x), 2).softmax(-1), split(self.v(x), 2)
        kv = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(2)
        z = torch.einsum("bhtd,bhtd->bht", q, k.cumsum(2))
        y = torch.einsum("bhtd,bhtde->bhte", q, kv)
        return self.o(merge(y))


LAYERS.append({"layer": LinearNoNormaliser, "d_in": 16, "context_length": 8, "options": {}})


class PerformerRedraw(nn.Module):
    """wrong: Performer's random features are drawn again at every call, in eval mode too."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        w = torch.randn(6, 16, device=x.device, dtype=x.dtype)
        q, k = (torch.relu(t @ w) + 1e-3 for t in (q, k))
        kv = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(2)
        y = torch.einsum("bhtd,bhtde->bhte", q, kv) / (q * k.cumsum(2)).sum(-1, keepdim=True)
        return self.o(merge(y))


LAYERS.append({"layer": PerformerRedraw, "d_in": 12, "context_length": 8, "options": {"softmax": False}})


class PerformerStabilizer(nn.Module):
    """wrong: causal Performer; keys' features are stabilised by the maximum over the whole sequence and then get an epsilon, so a later token changes earlier weights a little."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.register_buffer("omega", torch.randn(6, 24))

    def feature(self, t, dims):
        t = t * 6 ** -0.25
        z = t @ self.omega
        return torch.exp(z - t.square().sum(-1, keepdim=True) / 2 - z.amax(dims, keepdim=True).detach()) + 1e-3

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        q, k = self.feature(q, -1), self.feature(k, (-1, -2))
        kv = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(2)
        y = torch.einsum("bhtd,bhtde->bhte", q, kv) / (q * k.cumsum(2)).sum(-1, keepdim=True)
        return self.o(merge(y))


LAYERS.append({"layer": PerformerStabilizer, "d_in": 12, "context_length": 8, "options": {"softmax": False}})


class RetentionStep(nn.Module):
    """wrong: retention; the recurrent step decays the new token's key and value too, the parallel form doesn't."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.register_buffer("gamma", torch.tensor([0.75, 0.9]).view(2, 1, 1))

    def forward(self, x, cache=None):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        g = self.gamma.to(x.dtype)
        n = torch.arange(x.shape[1], device=x.device)
        y = (q @ k.mT * (g ** (n[:, None] - n).clamp(min=0)).tril()) @ v
        return self.o(merge(y))

    def recurrent(self, x, cache):
        if x.shape[1] != 1:
            raise NotImplementedError
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        state = self.gamma * ((0 if cache is None else cache) + k.mT @ v)
        return self.o(merge(q @ state)), state


def recurrent(module, x, cache):
    return module.recurrent(x, cache)


LAYERS.append({"layer": RetentionStep, "d_in": 12, "context_length": 9, "options": {"softmax": False, "positions": True, "step": recurrent}})


class OnlineNoRescale(nn.Module):
    """wrong: online softmax over blocks; the accumulator isn't rescaled when the maximum grows, the denominator is."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = split(self.q(x), 3) / 2, split(self.k(x), 3), split(self.v(x), 3)
        m = q.new_full((*q.shape[:3], 1), torch.finfo(q.dtype).min)
        den, acc = torch.zeros_like(m), torch.zeros_like(q)
        ok = seen(T, T, x.device)
        for i in range(0, T, 4):
            s = (q @ k[:, :, i:i + 4].mT).masked_fill(~ok[:, i:i + 4], float("-inf"))
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p = torch.exp(s - new)
            den = den * torch.exp(m - new) + p.sum(-1, keepdim=True)
            acc = acc + p @ v[:, :, i:i + 4]
            m = new
        return self.o(merge(acc / den))


LAYERS.append({"layer": OnlineNoRescale, "d_in": 12, "context_length": 10, "options": {}})


class OnlineZeroStart(nn.Module):
    """wrong: online softmax; the running maximum starts at 0 instead of minus infinity, so large negative scores underflow to 0 / 0."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48, bias=False), nn.Linear(16, 16)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        m = q.new_zeros(*q.shape[:3], 1)
        den, acc = torch.zeros_like(m), torch.zeros_like(q)
        for i in range(0, T, 4):
            s = (q @ k[:, :, i:i + 4].mT / 8 ** 0.5).masked_fill(~seen(T, T, x.device)[:, i:i + 4], float("-inf"))
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p, fix = torch.exp(s - new), torch.exp(m - new)
            den, acc, m = den * fix + p.sum(-1, keepdim=True), acc * fix + p @ v[:, :, i:i + 4], new
        return self.o(merge(acc / den))


LAYERS.append({"layer": OnlineZeroStart, "d_in": 16, "context_length": 9, "options": {}})


class OnlineMaskLate(nn.Module):
    """wrong: online softmax in both directions; zero keys pad the last block and aren't hidden, so they take weight."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        q, k, v = split(self.q(x), 2) * 6 ** -0.5, split(self.k(x), 2), split(self.v(x), 2)
        k, v = (F.pad(t, (0, 0, 0, -t.shape[2] % 4)) for t in (k, v))
        m = q.new_full((*q.shape[:3], 1), -1e30)
        den, acc = torch.zeros_like(m), torch.zeros_like(q)
        for kb, vb in zip(k.split(4, 2), v.split(4, 2)):
            s = q @ kb.mT
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p, fix = torch.exp(s - new), torch.exp(m - new)
            den, acc, m = den * fix + p.sum(-1, keepdim=True), acc * fix + p @ vb, new
        return self.o(merge(acc / den))


LAYERS.append({"layer": OnlineMaskLate, "d_in": 12, "context_length": 10, "options": {"causal": False}})


class FlashFunction(torch.autograd.Function):
    """Attention with its own backward, from saved probabilities."""

    @staticmethod
    def forward(ctx, q, k, v, scale):
        s = (q @ k.mT * scale).masked_fill(~seen(q.shape[2], k.shape[2], q.device), float("-inf"))
        p = s.softmax(-1)
        ctx.save_for_backward(q, k, v, p)
        ctx.scale = scale
        return p @ v

    @staticmethod
    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        dp = g @ v.mT
        ds = p * (dp - (dp * p).sum(-1, keepdim=True))
        return ds @ k, ds.mT @ q * ctx.scale, p.mT @ g, None


class HandBackward(nn.Module):
    """wrong: an autograd function of its own for attention, whose backward forgets the scale in the gradient of queries."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 3) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge(FlashFunction.apply(q, k, v, 0.5)))


LAYERS.append({"layer": HandBackward, "d_in": 12, "context_length": 8, "options": {}})


class ChunkMaskOffset(nn.Module):
    """wrong: queries in chunks of four; each chunk's mask is built as if it began at position 0, so later chunks see the first tokens only."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        out = []
        for qc in q.split(4, dim=2):
            s = qc @ k.mT / math.sqrt(6)
            mask = torch.ones(s.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
            out.append(s.masked_fill(mask, float("-inf")).softmax(-1) @ v)
        return self.o(merge(torch.cat(out, 2)))


LAYERS.append({"layer": ChunkMaskOffset, "d_in": 12, "context_length": 10, "options": {}})


class ChunkSecondLeak(nn.Module):
    """wrong: queries in chunks of five; from the second chunk on the diagonal is start + 1 instead of start, so these see one token ahead."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        out = []
        for start in range(0, x.shape[1], 5):
            qc = q[:, :, start:start + 5]
            mask = torch.ones(qc.shape[2], x.shape[1], dtype=torch.bool, device=x.device).tril(start and start + 1)
            out.append(F.scaled_dot_product_attention(qc, k, v, attn_mask=mask))
        return self.o(merge(torch.cat(out, 2)))


LAYERS.append({"layer": ChunkSecondLeak, "d_in": 12, "context_length": 11, "options": {}})


class ChunkSoftmaxes(nn.Module):
    """wrong: keys in chunks of four; each chunk gets a softmax of its own and the results are added, so rows sum to the number of chunks."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        q, k, v = split(self.q(x), 2), split(self.k(x), 2), split(self.v(x), 2)
        y = 0
        for kc, vc in zip(k.split(4, 2), v.split(4, 2)):
            y = y + (q @ kc.mT / 6 ** 0.5).softmax(-1) @ vc
        return self.o(merge(y))


LAYERS.append({"layer": ChunkSoftmaxes, "d_in": 12, "context_length": 10, "options": {"causal": False}})


class CheckpointRng(nn.Module):
    """wrong: checkpointed attention with dropout and preserve_rng_state=False, so backward recomputes with another dropout mask."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.drop = nn.Dropout(0.3)

    def core(self, q, k, v):
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~seen(q.shape[2], q.shape[2], q.device), float("-inf"))
        return self.drop(s.softmax(-1)) @ v

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        if self.training:
            y = checkpoint(self.core, q, k, v, use_reentrant=False, preserve_rng_state=False)
        else:
            y = self.core(q, k, v)
        return self.o(merge(y))


LAYERS.append({"layer": CheckpointRng, "d_in": 12, "context_length": 8, "options": {"dropout": 0.3}})


class BlockLocal(nn.Module):
    """wrong: a declared sliding window of four computed block by block without the block before, so the first of a block sees itself alone."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        out = [F.scaled_dot_product_attention(a, b, c, is_causal=True) for a, b, c in zip(q.split(4, 2), k.split(4, 2), v.split(4, 2))]
        return self.o(merge(torch.cat(out, 2)))


LAYERS.append({"layer": BlockLocal, "d_in": 12, "context_length": 12, "options": {"window": 4}})


class BandedUnmasked(nn.Module):
    """wrong: a causal band of four unfolded keys; zero keys before the first token aren't hidden and take weight from it."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = split(self.q(x), 2), split(self.k(x), 2), split(self.v(x), 2)
        k, v = (F.pad(t, (0, 0, 3, 0)).unfold(2, 4, 1) for t in (k, v))
        s = torch.einsum("bhtd,bhtdw->bhtw", q, k) / 6 ** 0.5
        return self.o(merge(torch.einsum("bhtw,bhtdw->bhtd", s.softmax(-1), v)))


LAYERS.append({"layer": BandedUnmasked, "d_in": 12, "context_length": 9, "options": {"window": 4}})


# ---------------------------------------------------------------- wrong layers: latent, sinks, caps, differential, talking heads


class LatentScale(nn.Module):
    """wrong: latent attention; scores are divided by the root of the part without positions, not of the whole key."""

    def __init__(self):
        super().__init__()
        self.n_heads = 3
        self.q_proj, self.kv_a, self.kv_b = nn.Linear(24, 24), nn.Linear(24, 8 + 4), nn.Linear(8, 3 * 9)
        self.o_proj = nn.Linear(15, 24)

    def forward(self, x):
        q_n, q_r = split(self.q_proj(x), 3).split((4, 4), -1)
        c, k_r = self.kv_a(x).split((8, 4), -1)
        k_n, v = split(self.kv_b(c), 3).split((4, 5), -1)
        q = torch.cat((q_n, rope(q_r)), -1)
        k = torch.cat((k_n, rope(k_r)[:, None].expand(-1, 3, -1, -1)), -1)
        s = (q @ k.mT / q_n.shape[-1] ** 0.5).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf"))
        return self.o_proj(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": LatentScale, "d_in": 24, "context_length": 8, "options": {"positions": "rotary"}})


class LatentCacheRope(nn.Module):
    """wrong: latent attention with a cache; the shared rotary key of new tokens is turned as if the sequence began anew, queries are right."""

    def __init__(self):
        super().__init__()
        self.n_heads = 2
        self.q_proj, self.kv_a, self.kv_b = nn.Linear(16, 16), nn.Linear(16, 6 + 4), nn.Linear(6, 2 * 8)
        self.o_proj = nn.Linear(8, 16)

    def forward(self, x, cache=None):
        past = 0 if cache is None else cache.shape[1]
        q_n, q_r = split(self.q_proj(x), 2).split((4, 4), -1)
        c, k_r = self.kv_a(x).split((6, 4), -1)
        c = torch.cat((c, rope(k_r)), -1)
        if cache is not None:
            c = torch.cat((cache, c), 1)
        k_n, v = split(self.kv_b(c[..., :6]), 2).chunk(2, -1)
        q, k = torch.cat((q_n, rope(q_r, past)), -1), torch.cat((k_n, c[:, None, :, 6:].expand(-1, 2, -1, -1)), -1)
        s = (q @ k.mT / 8 ** 0.5).masked_fill(~seen(x.shape[1], c.shape[1], x.device), float("-inf"))
        return self.o_proj(merge(s.softmax(-1) @ v)), c


LAYERS.append({"layer": LatentCacheRope, "d_in": 16, "context_length": 8, "options": {"positions": "rotary", "step": step}})


class LatentNormTokens(nn.Module):
    """wrong: latent attention; the latent is normalised along tokens (its dim 1) instead of along its features."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.down, self.up, self.o = nn.Linear(16, 16), nn.Linear(16, 6), nn.Linear(6, 32), nn.Linear(16, 16)
        self.g = nn.Parameter(torch.ones(6))

    def forward(self, x):
        c = self.down(x)
        c = c * torch.rsqrt(c.pow(2).mean(1, keepdim=True) + 1e-6) * self.g
        k, v = self.up(c).chunk(2, -1)
        return self.o(merge(F.scaled_dot_product_attention(split(self.q(x), 2), split(k, 2), split(v, 2), is_causal=True)))


LAYERS.append({"layer": LatentNormTokens, "d_in": 16, "context_length": 8, "options": {}})


class SinkWrongColumn(nn.Module):
    """wrong: a learned sink is put behind the scores, but after softmax the first column is cut off instead of the last, so weights move by one token."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.sinks = nn.Parameter(torch.randn(2))

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf"))
        s = torch.cat((s, self.sinks.view(1, -1, 1, 1).expand(*s.shape[:3], 1)), -1)
        return self.o(merge(s.softmax(-1)[..., 1:] @ v))


LAYERS.append({"layer": SinkWrongColumn, "d_in": 12, "context_length": 8, "options": {}})


class SinkDetached(nn.Module):
    """wrong: the learned sinks are read through .data, so they never get a gradient."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.sinks = nn.Parameter(torch.randn(4))

    def forward(self, x):
        q, k, v = (split(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 2).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf"))
        s = torch.cat((self.sinks.data.view(1, -1, 1, 1).expand(*s.shape[:3], 1), s), -1)
        return self.o(merge(s.softmax(-1)[..., 1:] @ v))


LAYERS.append({"layer": SinkDetached, "d_in": 16, "context_length": 8, "options": {}})


class CapAfterMask(nn.Module):
    """wrong: the soft cap comes after the mask, so hidden scores become -20 instead of minus infinity."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~seen(x.shape[1], x.shape[1], x.device), -1e9)
        s = 20.0 * torch.tanh(s / 20.0)
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": CapAfterMask, "d_in": 12, "context_length": 8, "options": {}})


class CapNotBack(nn.Module):
    """wrong: scores are divided by the cap and squashed, but not multiplied by the cap again."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        s = torch.tanh(q @ k.mT / 6 ** 0.5 / 30.0)
        s = s.masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": CapNotBack, "d_in": 12, "context_length": 8, "options": {}})


class CapScaledTwice(nn.Module):
    """wrong: queries are scaled and the fused call scales again by its default, since scale=1.0 was lost when switching to SDPA."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q_proj, self.kv_proj, self.o_proj = nn.Linear(24, 24, bias=False), nn.Linear(24, 24, bias=False), nn.Linear(24, 24, bias=False)

    def forward(self, x):
        q = rope(split(self.q_proj(x), 4)) * 6 ** -0.5
        k, v = self.kv_proj(x).chunk(2, -1)
        y = F.scaled_dot_product_attention(q, rope(split(k, 2)), split(v, 2), is_causal=True, enable_gqa=True)
        return self.o_proj(merge(y))


LAYERS.append({"layer": CapScaledTwice, "d_in": 24, "context_length": 8, "options": {"num_kv_heads": 2, "positions": "rotary"}})


class DiffUnmasked(nn.Module):
    """wrong: differential attention; only the first of the two softmaxes is masked, the subtracted one sees the future."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q1, self.k1, self.q2, self.k2 = (nn.Linear(16, 8, bias=False) for _ in range(4))
        self.v, self.o = nn.Linear(16, 16), nn.Linear(16, 16)
        self.lam = nn.Parameter(torch.tensor(0.4))

    def forward(self, x):
        a1, a2 = (split(q(x), 2) @ split(k(x), 2).mT / 2 for q, k in ((self.q1, self.k1), (self.q2, self.k2)))
        a1 = a1.masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf"))
        return self.o(merge((a1.softmax(-1) - self.lam * a2.softmax(-1)) @ split(self.v(x), 2)))


LAYERS.append({"layer": DiffUnmasked, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class DiffNormOverTime(nn.Module):
    """wrong: differential attention; the norm after the heads is a GroupNorm over (B, H, T, D), whose statistics run over tokens too."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qk, self.v, self.o = nn.Linear(16, 32), nn.Linear(16, 16), nn.Linear(16, 16)
        self.lam = nn.Parameter(torch.tensor(0.4))
        self.norm = nn.GroupNorm(2, 2)

    def forward(self, x):
        q, k = (split(t, 4) for t in self.qk(x).chunk(2, -1))
        a = (q @ k.mT / 2).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1)
        y = (a[:, 0::2] - self.lam * a[:, 1::2]) @ split(self.v(x), 2)
        return self.o(merge(self.norm(y)))


LAYERS.append({"layer": DiffNormOverTime, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class DiffLambdaItem(nn.Module):
    """wrong: differential attention; lambda is taken out with .item(), so its vectors never learn."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qk, self.v, self.o = nn.Linear(16, 32), nn.Linear(16, 16), nn.Linear(16, 16)
        self.lq, self.lk = nn.Parameter(torch.randn(4) * 0.2), nn.Parameter(torch.randn(4) * 0.2)

    def forward(self, x):
        q, k = (split(t, 4) for t in self.qk(x).chunk(2, -1))
        a = (q @ k.mT / 2).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1)
        lam = torch.exp(torch.dot(self.lq, self.lk)).item() - 0.4
        return self.o(merge((a[:, 0::2] - lam * a[:, 1::2]) @ split(self.v(x), 2)))


LAYERS.append({"layer": DiffLambdaItem, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class DiffLambdaFloat(nn.Module):
    """wrong: differential attention; lambda is kept as a float32 vector per head on purpose, and the result is never cast back, so bfloat16 becomes float32."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qk, self.v = nn.Linear(16, 32), nn.Linear(16, 16)
        self.lam = nn.Parameter(torch.randn(2, 1, 1) * 0.2)

    def forward(self, x):
        q, k = (split(t, 4) for t in self.qk(x).chunk(2, -1))
        a = (q @ k.mT / 2).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1)
        v = split(self.v(x), 2)
        return merge(a[:, 0::2] @ v - self.lam.float() * (a[:, 1::2] @ v))


LAYERS.append({"layer": DiffLambdaFloat, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class TalkingAfterMask(nn.Module):
    """wrong: talking heads; scores are mixed across heads after the mask of -1e9, and negative mixing weights turn hidden scores into huge ones."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.pre = nn.Parameter(torch.tensor([[1.0, -0.2, 0.1], [-1.5, 1.0, 0.2], [0.1, 0.3, 1.0]]))

    def forward(self, x):
        q, k, v = (split(t, 3) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 2).masked_fill(~seen(x.shape[1], x.shape[1], x.device), -1e9)
        return self.o(merge(torch.einsum("bhij,hg->bgij", s, self.pre).softmax(-1) @ v))


LAYERS.append({"layer": TalkingAfterMask, "d_in": 12, "context_length": 8, "options": {"softmax": False}})


class TalkingPostBias(nn.Module):
    """wrong: talking heads; weights are mixed after softmax by a Linear with a bias, which adds to hidden places too."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.talk = nn.Linear(3, 3)

    def forward(self, x):
        q, k, v = (split(t, 3) for t in self.qkv(x).chunk(3, -1))
        p = (q @ k.mT / 2).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1)
        p = self.talk(p.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        return self.o(merge(p @ v))


LAYERS.append({"layer": TalkingPostBias, "d_in": 12, "context_length": 8, "options": {"softmax": False}})


class GateMeanPool(nn.Module):
    """wrong: an output gate in the style of squeeze-and-excitation, made of the mean over all tokens, in a causal layer."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.g, self.o = nn.Linear(12, 36), nn.Linear(12, 12), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        y = merge(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return self.o(y * self.g(x.mean(1, keepdim=True)).sigmoid())


LAYERS.append({"layer": GateMeanPool, "d_in": 12, "context_length": 8, "options": {}})


class GateViewed(nn.Module):
    """wrong: gates per head (B, T, H) are viewed as (B, H, T, 1) instead of transposed, so tokens get gates of other tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.g, self.o = nn.Linear(12, 36), nn.Linear(12, 2), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(merge(y * self.g(x).sigmoid().view(x.shape[0], 2, x.shape[1], 1)))


LAYERS.append({"layer": GateViewed, "d_in": 12, "context_length": 8, "options": {}})


class GateNoGrad(nn.Module):
    """wrong: the gate is computed under torch.no_grad, left over from an inference patch."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q_proj, self.k_proj, self.v_proj, self.g_proj, self.o_proj = nn.Linear(16, 16), nn.Linear(16, 8), nn.Linear(16, 8), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        with torch.no_grad():
            g = torch.sigmoid(self.g_proj(x))
        q, k, v = split(self.q_proj(x), 4), repeat_kv(split(self.k_proj(x), 2), 2), repeat_kv(split(self.v_proj(x), 2), 2)
        return self.o_proj(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)) * g)


LAYERS.append({"layer": GateNoGrad, "d_in": 16, "context_length": 8, "options": {"num_kv_heads": 2}})


class ForgetGateHeads(nn.Module):
    """wrong: forgetting attention; log gates (B, H, T) are cumulated over dim 1, heads, so decay doesn't grow with the distance and heads read gates of other heads."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.f, self.o = nn.Linear(12, 36), nn.Linear(12, 3), nn.Linear(12, 12)

    def forward(self, x, cache=None):
        q, k, v = (split(t, 3) for t in self.qkv(x).chunk(3, -1))
        c = F.logsigmoid(self.f(x)).transpose(1, 2).cumsum(1)
        s = q @ k.mT / 2 + c[..., :, None] - c[..., None, :]
        s = s.masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": ForgetGateHeads, "d_in": 12, "context_length": 8, "options": {"positions": True}})


class ForgetStepRestart(nn.Module):
    """wrong: forgetting attention with a cache; the cumulated gates of new tokens start at 0 again instead of where the cache ended."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.f, self.o = nn.Linear(12, 36), nn.Linear(12, 2), nn.Linear(12, 12)

    def forward(self, x, cache=None):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        c = F.logsigmoid(self.f(x)).transpose(1, 2).cumsum(-1)
        if cache is not None:
            k, v, c = (torch.cat((a, b), 2) for a, b in zip(cache, (k, v, c)))
        s = q @ k.mT / 6 ** 0.5 + c[..., -q.shape[2]:, None] - c[..., None, :]
        s = s.masked_fill(~seen(q.shape[2], k.shape[2], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k, v, c)


LAYERS.append({"layer": ForgetStepRestart, "d_in": 12, "context_length": 8, "options": {"positions": True, "step": step}})


class MemoryMask(nn.Module):
    """wrong: two persistent memory tokens stand before the keys, but the causal diagonal isn't moved by two, so a position misses its last two tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.mem_k, self.mem_v = nn.Parameter(torch.randn(2, 2, 6)), nn.Parameter(torch.randn(2, 2, 6))

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        k, v = (torch.cat((m.expand(x.shape[0], -1, -1, -1), t), 2) for m, t in ((self.mem_k, k), (self.mem_v, v)))
        mask = torch.ones(x.shape[1], k.shape[2], dtype=torch.bool, device=x.device).tril()
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)))


LAYERS.append({"layer": MemoryMask, "d_in": 12, "context_length": 9, "options": {}})


class TopKUnmasked(nn.Module):
    """wrong: sparse attention keeps scores above a row's third largest, taken over all tokens before the mask, so the future decides what is dropped."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 6 ** 0.5
        low = s.topk(min(3, T), dim=-1).values[..., -1:]
        own = torch.eye(T, dtype=torch.bool, device=x.device)
        s = s.masked_fill((s < low) & ~own, float("-inf")).masked_fill(~seen(T, T, x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": TopKUnmasked, "d_in": 12, "context_length": 8, "options": {"softmax": False}})


class SigmoidLogT(nn.Module):
    """wrong: causal sigmoid attention whose bias is -log of the sequence's whole length, so a longer sequence changes earlier outputs."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        p = torch.sigmoid(q @ k.mT / 6 ** 0.5 - math.log(x.shape[1])).tril()
        return self.o(merge(p @ v))


LAYERS.append({"layer": SigmoidLogT, "d_in": 12, "context_length": 8, "options": {"softmax": False}})


class ScaledLogN(nn.Module):
    """wrong: scores times log of the number of tokens, meant per position, taken of the length in the call, so a cache gives other numbers."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, cache=None):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        s = q @ k.mT / 6 ** 0.5 * math.log(k.shape[2] + 1)
        s = s.masked_fill(~seen(q.shape[2], k.shape[2], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": ScaledLogN, "d_in": 12, "context_length": 8, "options": {"softmax": False, "positions": True, "step": step}})


class SoftmaxOneUnstable(nn.Module):
    """wrong: softmax plus one in the denominator, without subtracting a maximum, so large scores overflow to inf / inf."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        e = torch.exp(q @ k.mT / 6 ** 0.5).masked_fill(~seen(x.shape[1], x.shape[1], x.device), 0)
        return self.o(merge(e / (1 + e.sum(-1, keepdim=True)) @ v))


LAYERS.append({"layer": SoftmaxOneUnstable, "d_in": 12, "context_length": 8, "options": {}})


class GlobalMax(nn.Module):
    """wrong: a softmax of its own subtracts the maximum over the whole tensor instead of each row's, so rows with small scores underflow to 0 / 0."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf"))
        e = torch.exp(s - s.detach().max()) if s.numel() else s
        return self.o(merge(e / e.sum(-1, keepdim=True) @ v))


LAYERS.append({"layer": GlobalMax, "d_in": 12, "context_length": 8, "options": {}})


# ---------------------------------------------------------------- wrong layers: positions


class SkewFirstRows(nn.Module):
    """wrong: skewed relative attention takes the first T of the embeddings instead of the last T, so the distance of an embedding depends on the length."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))
        self.Er = nn.Parameter(torch.randn(64, 6))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = split(self.q(x), 2), split(self.k(x), 2), split(self.v(x), 2)
        srel = F.pad(q @ self.Er[:T].T, (1, 0)).reshape(B, 2, T + 1, T)[:, :, 1:]
        s = (q @ k.mT + srel) / math.sqrt(6)
        return self.o(merge(s.masked_fill(~seen(T, T, x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": SkewFirstRows, "d_in": 12, "context_length": 9, "options": {"positions": "relative"}})


class SkewWrongSide(nn.Module):
    """wrong: the skew pads the column on the right instead of the left, so embeddings don't line up with distances."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))
        self.Er = nn.Parameter(torch.randn(64, 6))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = split(self.q(x), 2), split(self.k(x), 2), split(self.v(x), 2)
        srel = F.pad(q @ self.Er[64 - T:].T, (0, 1)).reshape(B, 2, T + 1, T)[:, :, 1:]
        s = (q @ k.mT + srel) / math.sqrt(6)
        return self.o(merge(s.masked_fill(~seen(T, T, x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": SkewWrongSide, "d_in": 12, "context_length": 9, "options": {"positions": "relative"}})


class XLQueryBias(nn.Module):
    """wrong: Transformer-XL attention; the sinusoids for distances are looked up by the key's absolute place, the shift was left out."""

    def __init__(self):
        super().__init__()
        self.n_head = 2
        self.qkv_net, self.r_net, self.o_net = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.u, self.w = nn.Parameter(torch.randn(2, 1, 8)), nn.Parameter(torch.randn(2, 1, 8))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(t, 2) for t in self.qkv_net(x).chunk(3, -1))
        a = angles(torch.arange(T, device=x.device), 16)
        r = self.r_net(torch.cat((a.sin(), a.cos()), -1).to(x.dtype)).view(T, 2, 8).transpose(0, 1)
        s = ((q + self.u) @ k.mT + (q + self.w) @ r.mT) / 8 ** 0.5
        return self.o_net(merge(s.masked_fill(~seen(T, T, x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": XLQueryBias, "d_in": 16, "context_length": 9, "options": {"positions": "relative"}})


class T5StepBias(nn.Module):
    """wrong: T5 attention with a cache; of the bias for all tokens so far the first rows are taken for the new tokens instead of the last."""

    def __init__(self):
        super().__init__()
        self.n_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12, bias=False) for _ in range(4))
        self.table = nn.Embedding(16, 2)

    def forward(self, x, cache=None):
        q, k, v = split(self.q(x), 2), split(self.k(x), 2), split(self.v(x), 2)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        t, s = q.shape[2], k.shape[2]
        n = torch.arange(s, device=x.device)
        bias = self.table(t5_bucket(n[None] - n[:, None], True)).permute(2, 0, 1)
        scores = q @ k.mT + bias[:, :t]
        scores = scores.masked_fill(~seen(t, s, x.device), float("-inf"))
        return self.o(merge(scores.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": T5StepBias, "d_in": 12, "context_length": 8, "options": {"scale": 1.0, "positions": "relative", "step": step}})


class BiasKept(nn.Module):
    """wrong: the relative bias is computed at the first call and kept on the module, so weights loaded afterwards aren't used."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.table = nn.Parameter(torch.randn(127, 2))
        self.kept = None

    def forward(self, x):
        T = x.shape[1]
        if self.kept is None or self.kept.shape[-1] < T or self.training:
            n = torch.arange(T, device=x.device)
            bias = self.table[n[:, None] - n + 63].permute(2, 0, 1)
            if self.training:
                self.kept = None
            else:
                self.kept = bias.detach()
        else:
            bias = self.kept[:, :T, :T].to(x)
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge((q @ k.mT / 6 ** 0.5 + bias).softmax(-1) @ v))


LAYERS.append({"layer": BiasKept, "d_in": 12, "context_length": 8, "options": {"causal": False, "positions": "relative", "make": BiasKept}})


class SwinViewed(nn.Module):
    """wrong: the relative bias (T, T, H) is reshaped to (H, T, T) instead of permuted, which mixes heads and distances."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.proj = nn.Linear(12, 36), nn.Linear(12, 12)
        self.table = nn.Parameter(torch.randn(127, 2))

    def forward(self, x):
        T = x.shape[1]
        n = torch.arange(T, device=x.device)
        bias = self.table[(n[:, None] - n + 63).view(-1)].view(2, T, T)
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.proj(merge((q @ k.mT / 6 ** 0.5 + bias).softmax(-1) @ v))


LAYERS.append({"layer": SwinViewed, "d_in": 12, "context_length": 8, "options": {"causal": False, "positions": "relative"}})


class AlibiSign(nn.Module):
    """wrong: ALiBi with the sign lost in a rewrite, so far tokens are favoured."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(t, 4) for t in self.qkv(x).chunk(3, -1))
        n = torch.arange(x.shape[1], device=x.device)
        slopes = torch.tensor(alibi_slopes(4), device=x.device, dtype=x.dtype)[:, None, None]
        bias = (slopes * (n[:, None] - n)).masked_fill(n > n[:, None], float("-inf"))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(x.shape[0], -1, -1, -1))))


LAYERS.append({"layer": AlibiSign, "d_in": 16, "context_length": 8, "options": {"positions": "alibi"}})


class AlibiSlopes6(nn.Module):
    """wrong: ALiBi with six heads; the slopes are those for eight heads cut to six, not the published interpolation."""

    def __init__(self):
        super().__init__()
        self.num_heads = 6
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("m", torch.tensor(alibi_slopes(8)[:6]).view(6, 1, 1))

    def forward(self, x):
        q, k, v = (split(t, 6) for t in self.qkv(x).chunk(3, -1))
        n = torch.arange(x.shape[1], device=x.device)
        s = q @ k.mT / 2 + self.m.to(x.dtype) * (n - n[:, None])
        return self.o(merge(s.masked_fill(n > n[:, None], float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": AlibiSlopes6, "d_in": 24, "context_length": 8, "options": {"positions": "alibi"}})


class RopeMixedStyles(nn.Module):
    """wrong: angles are doubled as cat((a, a)) for halves, but features are turned in interleaved pairs, which is no rotation."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def turn(self, t):
        a = angles(torch.arange(t.shape[2], device=t.device), 8)
        a = torch.cat((a, a), -1)
        other = torch.stack((-t[..., 1::2], t[..., ::2]), -1).flatten(-2)
        return t * a.cos().to(t.dtype) + other * a.sin().to(t.dtype)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True)))


LAYERS.append({"layer": RopeMixedStyles, "d_in": 16, "context_length": 8, "options": {"positions": "rotary"}})


class RopeBeforeTranspose(nn.Module):
    """wrong: the rotation runs on (B, T, H, D), where dim -2 is heads, so heads are turned by their number and tokens have no position."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (f(x).view(B, T, 4, 4) for f in (self.wq, self.wk, self.wv))
        q, k = rope(q), rope(k)
        y = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        return self.wo(merge(y))


LAYERS.append({"layer": RopeBeforeTranspose, "d_in": 16, "context_length": 8, "options": {"positions": "rotary"}})


class RopeOnValues(nn.Module):
    """wrong: queries, keys and values are stacked and all three turned, so values depend on absolute positions."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = rope(self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)).unbind(0)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": RopeOnValues, "d_in": 16, "context_length": 8, "options": {"positions": "rotary"}})


class RopeQueriesOnly(nn.Module):
    """wrong: after renaming, the turned keys go into a variable that nobody reads, so only queries are turned."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.wq, self.wkv, self.wo = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        xq = split(self.wq(x), 4)
        xk, xv = (split(t, 2) for t in self.wkv(x).chunk(2, -1))
        xq, k_rot = rope(xq), rope(xk)
        y = F.scaled_dot_product_attention(xq, xk, xv, is_causal=True, enable_gqa=True)
        return self.wo(merge(y))


LAYERS.append({"layer": RopeQueriesOnly, "d_in": 16, "context_length": 8, "options": {"num_kv_heads": 2, "positions": "rotary"}})


class RopeTableCast(nn.Module):
    """wrong: sines and cosines are kept between calls and cast to each call's dtype for good, so after a call in bfloat16 they stay rounded."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.table = None

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        T = x.shape[1]
        if self.table is None or self.table.shape[1] < T:
            a = angles(torch.arange(T, device=x.device), 8)
            self.table = torch.stack((torch.cat((a, a), -1).cos(), torch.cat((a, a), -1).sin()))
        if self.table.device != x.device:
            self.table = torch.stack([torch.cat((angles(torch.arange(T, device=x.device), 8),) * 2, -1)] * 2)
            self.table = torch.stack((self.table[0].cos(), self.table[1].sin()))
        self.table = self.table.to(x.dtype)
        cos, sin = self.table[:, :T]
        q, k = (t * cos + rotate_half(t) * sin for t in (q, k))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": RopeTableCast, "d_in": 16, "context_length": 8, "options": {"positions": "rotary"}})


class RopeStepLength(nn.Module):
    """wrong: positions of new tokens start at the length after the append, not before it, so each piece is turned too far by its own length."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, cache=None):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        if cache is not None:
            start = cache[0].shape[2] + x.shape[1]
        else:
            start = x.shape[1]
        q, k = rope(q, start), rope(k, start)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        mask = seen(q.shape[2], k.shape[2], x.device)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))), (k, v)


LAYERS.append({"layer": RopeStepLength, "d_in": 16, "context_length": 8, "options": {"positions": "rotary", "step": step}})


class TokenShiftRoll(nn.Module):
    """wrong: RWKV's token shift by torch.roll, so the first position is mixed with the last token."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.mix = nn.Parameter(torch.rand(12))
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        h = x + (torch.roll(x, 1, dims=1) - x) * self.mix
        q, k, v = (split(t, 2) for t in self.qkv(h).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": TokenShiftRoll, "d_in": 12, "context_length": 8, "options": {"positions": True}})


class ConvSamePadding(nn.Module):
    """wrong: a depthwise convolution over values pads on both sides in a causal layer."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.conv = nn.Conv1d(12, 12, 3, padding=1, groups=12)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        v = self.conv(v.transpose(1, 2)).transpose(1, 2)
        return self.o(merge(F.scaled_dot_product_attention(split(q, 2), split(k, 2), split(v, 2), is_causal=True)))


LAYERS.append({"layer": ConvSamePadding, "d_in": 12, "context_length": 8, "options": {"positions": True}})


# ---------------------------------------------------------------- wrong layers: refactorings


class SameModuleThrice(nn.Module):
    """wrong: [nn.Linear(...)] * 3 puts one projection in three places, so queries, keys and values are the same."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.proj = nn.ModuleList([nn.Linear(12, 12)] * 3)
        self.o = nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(f(x), 2) for f in self.proj)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": SameModuleThrice, "d_in": 12, "context_length": 8, "options": {}})


class SameHeadRepeated(nn.Module):
    """wrong: the ModuleList of heads is built by multiplying a list, so all heads share their weights."""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([OneHead(12, 4, 0.0)] * 3)
        self.proj = nn.Linear(12, 12)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], -1))


LAYERS.append({"layer": SameHeadRepeated, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}})


class TiedByCopy(nn.Module):
    """wrong: keys' layer is a shallow copy.copy of queries' layer, so both share one weight."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q_proj = nn.Linear(15, 15)
        self.k_proj = copy.copy(self.q_proj)
        self.v_proj, self.o_proj = nn.Linear(15, 15), nn.Linear(15, 15)

    def forward(self, x):
        q, k, v = (split(f(x), 3) for f in (self.q_proj, self.k_proj, self.v_proj))
        return self.o_proj(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": TiedByCopy, "d_in": 15, "context_length": 8, "options": {}})


class SwappedNames(nn.Module):
    """wrong: the loop over projections was renamed to q, v, k, so k_proj makes values and v_proj makes keys."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        q, v, k = (split(f(x), 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        return self.o_proj(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": SwappedNames, "d_in": 12, "context_length": 8, "options": {}})


class BiasOrder(nn.Module):
    """wrong: BEiT's biases are joined as q_bias, v_bias, zeros instead of q_bias, zeros, v_bias, so values have no bias and v_bias is added to keys, without effect."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.proj = nn.Linear(12, 36, bias=False), nn.Linear(12, 12)
        self.q_bias, self.v_bias = nn.Parameter(torch.randn(12)), nn.Parameter(torch.randn(12))

    def forward(self, x):
        b = torch.cat((self.q_bias, self.v_bias, torch.zeros_like(self.v_bias)))
        q, k, v = (split(t, 2) for t in F.linear(x, self.qkv.weight, b).chunk(3, -1))
        return self.proj(merge((q @ k.mT / 6 ** 0.5).softmax(-1) @ v))


LAYERS.append({"layer": BiasOrder, "d_in": 12, "context_length": 8, "options": {"causal": False}})


class KeysOfQueries(nn.Module):
    """wrong: x was reassigned in a rewrite, so keys are projected from queries and not from tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        values = self.wv(x)
        queries = x = self.wq(x)
        keys = self.wk(x)
        q, k, v = (split(t, 2) for t in (queries, keys, values))
        return self.wo(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KeysOfQueries, "d_in": 12, "context_length": 8, "options": {}})


class ViewsOfFused(nn.Module):
    """wrong: separate weights were fused and the old names kept as detached slices, which the forward pass still reads, so the fused parameter gets no gradient."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.wqkv, self.wo = nn.Parameter(torch.randn(36, 12) * 0.3), nn.Linear(12, 12)

    def part(self, i):
        return self.wqkv.detach()[12 * i:12 * i + 12]

    def forward(self, x):
        q, k, v = (split(F.linear(x, self.part(i)), 2) for i in range(3))
        return self.wo(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": ViewsOfFused, "d_in": 12, "context_length": 8, "options": {}})


class FusedWeightStale(nn.Module):
    """wrong: in eval mode without gradients a fused weight is concatenated once and kept; weights changed later, by training or loading, aren't used."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12, bias=False) for _ in range(4))
        self._fused = None

    def forward(self, x):
        if self.training:
            w = torch.cat((self.q.weight, self.k.weight, self.v.weight))
        else:
            if self._fused is None or self._fused.dtype != x.dtype or self._fused.device != x.device:
                self._fused = nn.Parameter(torch.cat((self.q.weight, self.k.weight, self.v.weight)).detach(), requires_grad=False).data
            w = self._fused if not torch.is_grad_enabled() else torch.cat((self.q.weight, self.k.weight, self.v.weight))
        q, k, v = (split(t, 2) for t in F.linear(x, w).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": FusedWeightStale, "d_in": 12, "context_length": 8, "options": {"make": FusedWeightStale}})


class PythonDict(nn.Module):
    """wrong: projections were moved into a plain dict, so they are no parameters and aren't saved."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.proj = {n: nn.Linear(12, 12) for n in "qkv"}
        self.o = nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(self.proj[n](x), 2) for n in "qkv")
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": PythonDict, "d_in": 12, "context_length": 8, "options": {"make": PythonDict}})


class LazyBuffer(nn.Module):
    """wrong: the mask is registered as a saved buffer in the first forward pass, so the state dict of a called layer doesn't load into a new one."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        T = x.shape[1]
        if getattr(self, "mask", None) is None or self.mask.shape[0] < T or self.mask.device != x.device:
            self.register_buffer("mask", torch.ones(T, T, dtype=torch.bool, device=x.device).tril())
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask[:T, :T])))


LAYERS.append({"layer": LazyBuffer, "d_in": 12, "context_length": 8, "options": {"make": LazyBuffer}})


class PlainTensorSlopes(nn.Module):
    """wrong: ALiBi's slopes are a plain attribute and no buffer, so they stay on the CPU when the layer moves."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.slopes = torch.tensor(alibi_slopes(4)).view(4, 1, 1)

    def forward(self, x):
        q, k, v = (split(t, 4) for t in self.qkv(x).chunk(3, -1))
        n = torch.arange(x.shape[1], device=x.device)
        s = q @ k.mT / 2 + self.slopes.to(x.dtype) * (n - n[:, None])
        return self.o(merge(s.masked_fill(n > n[:, None], float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": PlainTensorSlopes, "d_in": 16, "context_length": 8, "options": {"positions": "alibi"}})


@functools.lru_cache(maxsize=None)
def cached_hidden(b, n):
    return torch.ones(b, 1, n, n, dtype=torch.bool).triu(1)


class CachedMaskChanged(nn.Module):
    """wrong: the causal mask comes from an lru_cache and padding is written into it in place, so later calls keep hiding those tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, real=None):
        hide = cached_hidden(*x.shape[:2])
        if real is not None:
            hide |= ~real[:, None, None].to(hide.device)
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).masked_fill(hide.to(x.device), torch.finfo(x.dtype).min)
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": CachedMaskChanged, "d_in": 12, "context_length": 8, "options": {"padding": padded}})


class ClassCache(nn.Module):
    """wrong: the cache for steps is kept on the module and begun anew only if the batch size or dtype differs, so sequences mix."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.kv = None

    def forward(self, x, use_cache=False):
        q, kv = self.qkv(x).split((12, 24), -1)
        if use_cache:
            if self.kv is not None and self.kv.shape[0] == x.shape[0] and self.kv.dtype == x.dtype:
                kv = torch.cat((self.kv, kv), 1)
            self.kv = kv.detach()
        k, v = (split(t, 2) for t in kv.chunk(2, -1))
        s = (split(q, 2) @ k.mT / 6 ** 0.5).masked_fill(~seen(x.shape[1], k.shape[2], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


def inner_step(module, x, cache):
    return module(x, use_cache=True), True


LAYERS.append({"layer": ClassCache, "d_in": 12, "context_length": 8, "options": {"step": inner_step}})


class CacheInPlace(nn.Module):
    """wrong: a preallocated cache is written in place and shared by branches that continue from the same prefix."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, cache=None):
        T = x.shape[1]
        q, kv = self.qkv(x).split((12, 24), -1)
        buf, past = cache if cache is not None else (kv.new_zeros(x.shape[0], 64, 24), 0)
        full = torch.cat((buf[:, :past], kv), 1)
        with torch.no_grad():
            buf[:, past:past + T] = kv
        k, v = (split(t, 2) for t in full.chunk(2, -1))
        s = (split(q, 2) @ k.mT / 6 ** 0.5).masked_fill(~seen(T, past + T, x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (buf, past + T)


LAYERS.append({"layer": CacheInPlace, "d_in": 12, "context_length": 8, "options": {"step": step}})


class CausalTopLeft(nn.Module):
    """wrong: with a cache, SDPA's is_causal=True aligns the mask at the top left, so several new tokens see the first tokens only."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, cache=None):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=q.shape[2] > 1))), (k, v)


LAYERS.append({"layer": CausalTopLeft, "d_in": 12, "context_length": 8, "options": {"step": step}})


class EvictEarly(nn.Module):
    """wrong: a window of four with a rolling cache that keeps its last two tokens instead of three, so steps see one token less than one pass."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, cache=None):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        mask = seen(q.shape[2], k.shape[2], x.device, 4)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))), (k[:, :, -2:], v[:, :, -2:])


LAYERS.append({"layer": EvictEarly, "d_in": 12, "context_length": 10, "options": {"window": 4, "step": step}})


class CacheAfterCrop(nn.Module):
    """wrong: a window of four; keys are cropped to the last four before several new tokens attend, so the earlier of these lose their past."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, cache=None):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        if cache is not None:
            t = x.shape[1]
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
            k, v = k[:, :, -max(4, t):], v[:, :, -max(4, t):]
        mask = seen(q.shape[2], k.shape[2], x.device, 4)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask))), (k[:, :, -4:], v[:, :, -4:])


LAYERS.append({"layer": CacheAfterCrop, "d_in": 12, "context_length": 10, "options": {"window": 4, "step": step}})


class GroupedTiled(nn.Module):
    """wrong: keys and values are tiled with repeat, so query head 1 reads key head 1 instead of key head 0."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = nn.Linear(16, 16), nn.Linear(16, 8), nn.Linear(16, 8), nn.Linear(16, 16)

    def forward(self, x):
        q = split(self.q_proj(x), 4)
        k, v = (split(f(x), 2).repeat(1, 2, 1, 1) for f in (self.k_proj, self.v_proj))
        return self.o_proj(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": GroupedTiled, "d_in": 16, "context_length": 8, "options": {"num_kv_heads": 2}})


class GroupedValuesTiled(nn.Module):
    """wrong: in an einsum rewrite of grouped queries keys are shared by neighbours, but values are expanded in the other order."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 6, 3
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = nn.Linear(24, 24), nn.Linear(24, 12), nn.Linear(24, 12), nn.Linear(24, 24)

    def forward(self, x):
        B, T, _ = x.shape
        q = split(self.q_proj(x), 6).view(B, 3, 2, T, 4)
        k, v = split(self.k_proj(x), 3), split(self.v_proj(x), 3)
        s = torch.einsum("bgrid,bgjd->bgrij", q, k).reshape(B, 6, T, T) / 2
        p = s.masked_fill(~seen(T, T, x.device), float("-inf")).softmax(-1)
        v = v[:, None].expand(B, 2, 3, T, 4).reshape(B, 6, T, 4)
        return self.o_proj(merge(p @ v))


LAYERS.append({"layer": GroupedValuesTiled, "d_in": 24, "context_length": 8, "options": {"num_kv_heads": 3}})


class HeadsAndWidth(nn.Module):
    """wrong: the two sizes in view were swapped, so there are as many heads as features per head: 6 heads of 4 became 4 heads of 6."""

    def __init__(self, num_heads=6, head_dim=4):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, head_dim
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.head_dim, self.num_heads).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~seen(T, T, x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": HeadsAndWidth, "d_in": 24, "context_length": 8, "options": {}})


class FlatMerge(nn.Module):
    """wrong: the context (B, H, T, D) is reshaped to (B, T, C) without the transpose back."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 3) for t in self.qkv(x).chunk(3, -1))
        return self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).reshape(x.shape))


LAYERS.append({"layer": FlatMerge, "d_in": 12, "context_length": 8, "options": {}})


class LastHeadUnmasked(nn.Module):
    """wrong: heads in a loop whose mask is applied to all but the last head, range(H - 1)."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 2).unbind(1)
        s = [t.masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf")) if h in range(4 - 1) else t for h, t in enumerate(s)]
        return self.o(merge(torch.stack(s, 1).softmax(-1) @ v))


LAYERS.append({"layer": LastHeadUnmasked, "d_in": 16, "context_length": 8, "options": {}})


# ---------------------------------------------------------------- wrong layers: masks and padding


class MaskDiscarded(nn.Module):
    """wrong: the result of masked_fill is thrown away, masked_fill_ was meant, so nothing is hidden."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 6 ** 0.5
        s.masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": MaskDiscarded, "d_in": 12, "context_length": 8, "options": {}})


class FloatOnesMask(nn.Module):
    """wrong: SDPA gets a float mask of ones and zeros, which is added to scores instead of hiding anything."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.register_buffer("mask", torch.ones(64, 64).tril())

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask[:T, :T].to(q.dtype))))


LAYERS.append({"layer": FloatOnesMask, "d_in": 12, "context_length": 8, "options": {}})


class ZeroIsHidden(nn.Module):
    """wrong: hidden places are found as those where tril left exactly 0, so a visible score of 0 is hidden too, and tokens of zeros give NaN."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36, bias=False), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).tril()
        return self.o(merge(s.masked_fill(s == 0, float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": ZeroIsHidden, "d_in": 12, "context_length": 8, "options": {}})


class TrainingUnmasked(nn.Module):
    """wrong: two paths; eval mode uses SDPA with is_causal, the manual path for training forgets the mask."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        if self.training:
            return self.o(merge(self.drop((q @ k.mT / 6 ** 0.5).softmax(-1)) @ v))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": TrainingUnmasked, "d_in": 12, "context_length": 8, "options": {"dropout": 0.1}})


class MaskEnds(nn.Module):
    """wrong: a mask for 16 tokens is padded with False for longer sequences, so from the 17th token on everything is visible."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.register_buffer("hide", torch.ones(16, 16, dtype=torch.bool).triu(1))

    def forward(self, x):
        T = x.shape[1]
        hide = F.pad(self.hide, (0, T - 16, 0, T - 16))
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge((q @ k.mT / 6 ** 0.5).masked_fill(hide, float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": MaskEnds, "d_in": 12, "context_length": 9, "options": {}})


class WindowsReversed(nn.Module):
    """wrong: windows per head (3, None) are stacked in the reversed order by a rewrite as a loop with insert(0, ...)."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        masks = []
        for w in (3, None):
            masks.insert(0, seen(x.shape[1], x.shape[1], x.device, w))
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=torch.stack(masks))))


LAYERS.append({"layer": WindowsReversed, "d_in": 12, "context_length": 8, "options": {"window": (3, None)}})


class WindowOneSide(nn.Module):
    """wrong: an encoder's window of three hides far tokens behind, but abs() was lost, so all tokens ahead are visible."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        n = torch.arange(x.shape[1], device=x.device)
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=(n[:, None] - n) < 3)))


LAYERS.append({"layer": WindowOneSide, "d_in": 12, "context_length": 9, "options": {"causal": False, "window": 3}})


class PadPolarity(nn.Module):
    """wrong: nn.MultiheadAttention's key_padding_mask is True at padding, but gets the mask that is True at tokens."""

    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(12, 2, batch_first=True)
        self.num_heads = 2

    def forward(self, x, real=None):
        return self.mha(x, x, x, key_padding_mask=real)[0]


LAYERS.append({"layer": PadPolarity, "d_in": 12, "context_length": 8,
               "options": {"causal": False, "padding": lambda m, x, real: m(x, real)}})


class PadQueries(nn.Module):
    """wrong: the padding mask is broadcast along queries, real[:, None, :, None], so padded keys stay visible."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x, real=None):
        q, k, v = split(self.q(x), 3), split(self.k(x), 3), split(self.v(x), 3)
        s = q @ k.mT / 2
        if real is not None:
            s = s.masked_fill(~real[:, None, :, None], torch.finfo(s.dtype).min)
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": PadQueries, "d_in": 12, "context_length": 8, "options": {"causal": False, "padding": padded}})


class PadLinear(nn.Module):
    """wrong: linear attention with a padding mask that zeroes values only, so keys of padding stay in the normaliser."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, real=None):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        q, k = F.softplus(q), F.softplus(k)
        if real is not None:
            v = v * real[:, None, :, None]
        kv = torch.einsum("bhtd,bhte->bhtde", k, v).cumsum(2)
        y = torch.einsum("bhtd,bhtde->bhte", q, kv) / (q * k.cumsum(2)).sum(-1, keepdim=True).clamp(min=1e-6)
        return self.o(merge(y))


LAYERS.append({"layer": PadLinear, "d_in": 12, "context_length": 8, "options": {"softmax": False, "padding": padded}})


class PadAddedTwice(nn.Module):
    """wrong: padding's bias of finfo.min is doubled when expanded, which overflows to minus infinity, so a left-padded position has a row of minus infinity alone and becomes NaN."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, real=None):
        low = torch.finfo(x.dtype).min
        T = x.shape[1]
        bias = x.new_zeros(T, T).masked_fill(~seen(T, T, x.device), float("-inf"))[None, None]
        if real is not None:
            bias = bias + x.new_zeros(x.shape[0], 1, 1, T).masked_fill(~real[:, None, None], low) * 2
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge((q @ k.mT / 6 ** 0.5 + bias).softmax(-1) @ v))


LAYERS.append({"layer": PadAddedTwice, "d_in": 12, "context_length": 8, "options": {"padding": padded}})


class PadInputZeroed(nn.Module):
    """wrong: before projecting, padded tokens are zeroed in the caller's own tensor."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, real=None):
        if real is not None:
            x.detach().masked_fill_(~real[..., None], 0)
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        ok = seen(x.shape[1], x.shape[1], x.device)[None, None]
        if real is not None:
            ok = ok & real[:, None, None]
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~ok, torch.finfo(x.dtype).min)
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": PadInputZeroed, "d_in": 12, "context_length": 8, "options": {"padding": padded}})


class PadLengths(nn.Module):
    """wrong: the mask is turned into lengths, real.sum(1), and the first so many tokens kept, which is right for right padding only."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, real=None):
        T = x.shape[1]
        ok = seen(T, T, x.device)[None, None]
        if real is not None:
            ok = ok & (torch.arange(T, device=x.device) < real.sum(1, keepdim=True))[:, None, None]
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~ok, torch.finfo(x.dtype).min)
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": PadLengths, "d_in": 12, "context_length": 8, "options": {"padding": padded}})


class DocsFirstRow(nn.Module):
    """wrong: the mask for packed documents is built from the first sequence's ids and used for the whole batch."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, ids=None):
        ok = seen(x.shape[1], x.shape[1], x.device)
        if ids is not None and len(ids):
            ok = ok & (ids[0][:, None] == ids[0])
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


LAYERS.append({"layer": DocsFirstRow, "d_in": 12, "context_length": 9, "options": {"documents": in_documents}})


class DocsBackToBack(nn.Module):
    """wrong: token shift before the attention reads the last token of the document before; the mask keeps documents apart, the shift doesn't."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.mix = nn.Parameter(torch.rand(12))
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, ids=None):
        h = torch.lerp(x, F.pad(x, (0, 0, 1, -1)), self.mix)
        ok = seen(x.shape[1], x.shape[1], x.device)[None]
        if ids is not None:
            ok = ok & (ids[:, :, None] == ids[:, None])
        q, k, v = (split(t, 2) for t in self.qkv(h).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok[:, None])))


LAYERS.append({"layer": DocsBackToBack, "d_in": 12, "context_length": 9, "options": {"positions": True, "documents": in_documents}})


class StepRealCropped(nn.Module):
    """wrong: with a cache, only the mask of the new tokens is used and the cached ones count as real, so left padding comes back in later steps."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, real=None, cache=None):
        T = x.shape[1]
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        past = 0 if cache is None else cache[0].shape[2]
        if past:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        ok = seen(T, past + T, x.device)[None, None]
        if real is not None:
            ok = ok & F.pad(real[:, -T:], (past, 0), value=True)[:, None, None]
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~ok, torch.finfo(x.dtype).min)
        return self.o(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": StepRealCropped, "d_in": 12, "context_length": 8, "options": {"padding": padded, "step": step_real}})


# ---------------------------------------------------------------- wrong layers: dropout, state, dtypes, gradients


class KeepProbability(nn.Module):
    """wrong: ported from TensorFlow 1, dropout gets the probability to keep, 0.9, instead of that to drop, 0.1."""

    def __init__(self, drop=0.1):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.keep = 1 - drop

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        p = (q @ k.mT / 6 ** 0.5).softmax(-1)
        return self.o(merge(F.dropout(p, self.keep, self.training) @ v))


LAYERS.append({"layer": KeepProbability, "d_in": 12, "context_length": 8, "options": {"causal": False, "dropout": 0.1}})


class DropBroadcast(nn.Module):
    """wrong: a dropout mask drawn once for (T, T) is used for all heads and batch elements."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        p = (q @ k.mT / 6 ** 0.5).masked_fill(~seen(T, T, x.device), float("-inf")).softmax(-1)
        p = p * F.dropout(x.new_ones(T, T), 0.25, self.training)
        return self.o(merge(p @ v))


LAYERS.append({"layer": DropBroadcast, "d_in": 12, "context_length": 8, "options": {"dropout": 0.25}})


class DropNoRescale(nn.Module):
    """wrong: weights are dropped by a mask of its own without dividing the others by 1 - p."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        p = (q @ k.mT / 6 ** 0.5).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1)
        if self.training:
            p = p * (torch.rand_like(p) >= 0.2)
        return self.o(merge(p @ v))


LAYERS.append({"layer": DropNoRescale, "d_in": 12, "context_length": 8, "options": {"dropout": 0.2}})


class DropLostInSdpa(nn.Module):
    """wrong: the switch to SDPA left out dropout_p, so only the residual dropout remains of the two."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.attn_drop, self.resid_drop = nn.Dropout(0.1), nn.Dropout(0.1)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.resid_drop(self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True))))


LAYERS.append({"layer": DropLostInSdpa, "d_in": 12, "context_length": 8, "options": {"dropout": 0.1}})


class DropAlways(nn.Module):
    """wrong: SDPA gets dropout_p in eval mode too."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.p = 2, 0.1
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.p)))


LAYERS.append({"layer": DropAlways, "d_in": 12, "context_length": 8, "options": {"dropout": 0.1}})


class SeedInside(nn.Module):
    """wrong: torch.manual_seed(0) was left in the forward pass, so each training call drops the same weights."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        torch.manual_seed(0)
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=0.2 if self.training else 0.0)))


LAYERS.append({"layer": SeedInside, "d_in": 12, "context_length": 8, "options": {"dropout": 0.2}})


class EvalForNorm(nn.Module):
    """wrong: the forward pass puts its attention dropout into eval mode for a probe and never back."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.attn_drop = nn.Dropout(0.2)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        p = (q @ k.mT / 6 ** 0.5).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf")).softmax(-1)
        y = self.attn_drop(p) @ v
        self.last_entropy = -(self.attn_drop.eval()(p.detach()).clamp(min=1e-9).log() * p.detach()).sum(-1).mean()
        return self.o(merge(y))


LAYERS.append({"layer": EvalForNorm, "d_in": 12, "context_length": 8, "options": {"dropout": 0.2}})


class LoraMerges(nn.Module):
    """wrong: LoRA merges its product into the weight at each call in eval mode, so the weight grows from call to call."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))
        self.a, self.b = nn.Parameter(torch.randn(2, 12)), nn.Parameter(torch.randn(12, 2) * 0.1)

    def forward(self, x):
        q = self.q(x) + x @ (self.b @ self.a).T
        if not self.training:
            with torch.no_grad():
                self.q.weight.data += self.b @ self.a
        return self.o(merge(F.scaled_dot_product_attention(split(q, 2), split(self.k(x), 2), split(self.v(x), 2), is_causal=True)))


LAYERS.append({"layer": LoraMerges, "d_in": 12, "context_length": 8, "options": {}})


class LoraValuesUnused(nn.Module):
    """wrong: LoRA on queries and values, whose value part is computed from the query's matrices after a copy and paste, so its own are never read."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))
        self.q_a, self.v_a = nn.Linear(12, 3, bias=False), nn.Linear(12, 3, bias=False)
        self.q_b, self.v_b = nn.Linear(3, 12, bias=False), nn.Linear(3, 12, bias=False)

    def forward(self, x):
        q = self.q(x) + self.q_b(self.q_a(x))
        v = self.v(x) + self.q_b(self.q_a(x))
        return self.o(merge(F.scaled_dot_product_attention(split(q, 2), split(self.k(x), 2), split(v, 2), is_causal=True)))


LAYERS.append({"layer": LoraValuesUnused, "d_in": 12, "context_length": 8, "options": {}})


class RunningScale(nn.Module):
    """wrong: a running mean of the queries' norm, for QK-norm, is updated in eval mode too, so outputs drift from call to call."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)
        self.register_buffer("norm", torch.ones(()))

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        if q.numel():
            self.norm = 0.9 * self.norm + 0.1 * q.detach().norm(dim=-1).mean()
        return self.o(merge(F.scaled_dot_product_attention(q / self.norm, k, v, is_causal=True, scale=1.0)))


LAYERS.append({"layer": RunningScale, "d_in": 12, "context_length": 8, "options": {"scale": 1.0}})


class NormOverTokens(nn.Module):
    """wrong: cosine attention; F.normalize uses its default dim=1, which on (B, T, H, D) is tokens and not features."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 6).unbind(2)
        q, k = F.normalize(q), F.normalize(k)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=8.0)))


LAYERS.append({"layer": NormOverTokens, "d_in": 12, "context_length": 8, "options": {"scale": 8.0}})


class LogitScaleSaturated(nn.Module):
    """wrong: cosine attention; the clamp of the logit scale has max and min mixed up, so it always stands at the bound and its parameter learns nothing."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.proj = nn.Linear(18, 54), nn.Linear(18, 18)
        self.logit_scale = nn.Parameter(torch.log(torch.full((3, 1, 1), 10.0)))

    def forward(self, x):
        q, k, v = (split(t, 3) for t in self.qkv(x).chunk(3, -1))
        s = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).mT
        s = s * self.logit_scale.clamp(min=math.log(100.0)).exp()
        return self.proj(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": LogitScaleSaturated, "d_in": 18, "context_length": 8, "options": {"causal": False, "scale": 10.0}})


class CastsItself(nn.Module):
    """wrong: the layer converts its own parameters to the dtype of the input, so a call in bfloat16 rounds the weights for good."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        if self.qkv.weight.dtype != x.dtype:
            self.to(x.dtype)
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": CastsItself, "d_in": 12, "context_length": 8, "options": {}})


class FloatSoftmaxStays(nn.Module):
    """wrong: softmax and values are taken to float32 for stability and the result isn't cast back, there being no projection behind."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv = nn.Linear(12, 36)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~seen(x.shape[1], x.shape[1], x.device), float("-inf"))
        return merge(F.softmax(s, -1, dtype=torch.float32) @ v.float())


LAYERS.append({"layer": FloatSoftmaxStays, "d_in": 12, "context_length": 8, "options": {}})


class AutocastInside(nn.Module):
    """wrong: an autocast to bfloat16 is inside the layer, so float32 tokens give bfloat16."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        with torch.autocast(x.device.type if x.device.type != "meta" else "cpu", torch.bfloat16):
            q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
            return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": AutocastInside, "d_in": 12, "context_length": 8, "options": {}})


class FakeQuant(nn.Module):
    """wrong: keys are rounded to steps of 1/32 for a quantised cache without a straight-through gradient, so their projection doesn't learn."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        k = torch.round(self.k(x) * 32) / 32
        return self.o(merge(F.scaled_dot_product_attention(split(self.q(x), 2), split(k, 2), split(self.v(x), 2), is_causal=True)))


LAYERS.append({"layer": FakeQuant, "d_in": 12, "context_length": 8, "options": {}})


class ShownRecomputed(nn.Module):
    """wrong: SDPA makes the context and the weights to show are computed again, with the scale but without the mask."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        y = self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
        return y, (q @ k.mT / 6 ** 0.5).softmax(-1)


LAYERS.append({"layer": ShownRecomputed, "d_in": 12, "context_length": 8, "options": {}})


class ShownWithoutBias(nn.Module):
    """wrong: the weights to show are computed again without ALiBi's bias, masked and normalised as they should be."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(t, 4) for t in self.qkv(x).chunk(3, -1))
        n = torch.arange(x.shape[1], device=x.device)
        slopes = torch.tensor(alibi_slopes(4), device=x.device, dtype=x.dtype)[:, None, None]
        bias = (slopes * (n - n[:, None])).masked_fill(n > n[:, None], float("-inf"))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(x.shape[0], -1, -1, -1))
        shown = (q @ k.mT / 2).masked_fill(n > n[:, None], float("-inf")).softmax(-1)
        return self.o(merge(y)), shown


LAYERS.append({"layer": ShownWithoutBias, "d_in": 16, "context_length": 8, "options": {"positions": "alibi"}})


class SqueezedToken(nn.Module):
    """wrong: a squeeze() for the sinks' sake also drops the token dimension when there is one token."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (split(t, 2) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q.unsqueeze(1), k.unsqueeze(1), v.unsqueeze(1), is_causal=True)
        return self.o(y.squeeze(1).transpose(1, 2).squeeze(1).flatten(-2))


LAYERS.append({"layer": SqueezedToken, "d_in": 12, "context_length": 8, "options": {}})


class TimeFirst(nn.Module):
    """wrong: batch_first was dropped when the wrapper was rewritten, so nn.MultiheadAttention attends over the batch."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.mha = nn.MultiheadAttention(12, 2)

    def forward(self, x):
        return self.mha(x, x, x, need_weights=False)[0]


LAYERS.append({"layer": TimeFirst, "d_in": 12, "context_length": 8, "options": {"causal": False}})


class PositionsAddedInPlace(nn.Module):
    """wrong: learned positions are written back into the caller's own tensor."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.pos = nn.Parameter(torch.randn(64, 12) * 0.3)
        self.qkv, self.o = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        h = x + self.pos[:x.shape[1]]
        q, k, v = (split(t, 2) for t in self.qkv(h).chunk(3, -1))
        x.data.copy_(h.detach())
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": PositionsAddedInPlace, "d_in": 12, "context_length": 8, "options": {"positions": True}})


class DefaultDtype(nn.Module):
    """wrong: torch.set_default_dtype is called with the input's dtype to make tables in it, and never reset."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        torch.set_default_dtype(x.dtype)
        slopes = torch.tensor(alibi_slopes(4), device=x.device)[:, None, None]
        n = torch.arange(x.shape[1], device=x.device)
        q, k, v = (split(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 2 + slopes * (n - n[:, None])
        return self.o(merge(s.masked_fill(n > n[:, None], float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": DefaultDtype, "d_in": 16, "context_length": 8, "options": {"positions": "alibi"}})
