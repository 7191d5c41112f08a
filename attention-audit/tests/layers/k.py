"""Attention layers as papers and teaching code write them, right ones and wrong ones.

Each class's docstring begins with "right:" or "wrong:"; LAYERS holds each with
what an honest owner would declare.
"""

import math

import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import einsum, nn

LAYERS = []


def split(x, h):
    b, t, d = x.shape
    return x.reshape(b, t, h, d // h).transpose(1, 2)


def merge(x):
    b, h, t, d = x.shape
    return x.transpose(1, 2).reshape(b, t, h * d)


def future(t, s=None, device=None):
    """True where key j of s lies behind query i, the last t of s."""
    s = t if s is None else s
    i = torch.arange(s - t, s, device=device)[:, None]
    return torch.arange(s, device=device)[None, :] > i


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rope(x, start=0, base=10000.0, pos=None):
    """x (B, H, T, D), rotated by its positions."""
    d = x.shape[-1]
    inv = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    if pos is None:
        pos = torch.arange(start, start + x.shape[-2], device=x.device)
    ang = pos.float()[..., None] * inv
    ang = torch.cat((ang, ang), dim=-1)
    return x * ang.cos().to(x.dtype) + rotate_half(x) * ang.sin().to(x.dtype)


def slopes_of(n):
    def power(m):
        return [2 ** (-8 * (i + 1) / m) for i in range(m)]

    if math.log2(n).is_integer():
        return torch.tensor(power(n))
    c = 2 ** math.floor(math.log2(n))
    return torch.tensor(power(c) + power(2 * c)[0::2][: n - c])


def step_cache(module, x, cache):
    return module(x, cache=cache)


def pad_real(module, x, real):
    return module(x, real=real)


def pad_mask(module, x, real):
    return module(x, mask=real)


def docs(module, x, ids):
    return module(x, ids=ids)


# ---------------------------------------------------------------- right ones


class KNanoGPT(nn.Module):
    """right: nanoGPT's fused causal self-attention with biases, by SDPA."""

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
        y = F.scaled_dot_product_attention(
            q, k, v, dropout_p=self.dropout if self.training else 0, is_causal=True
        )
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


LAYERS.append({"layer": KNanoGPT, "d_in": 24, "context_length": 9, "options": {"dropout": 0.1}})


class KLlama(nn.Module):
    """right: Llama's grouped-query attention with rotary positions and a cache of rotated keys."""

    def __init__(self, dim=32, n_heads=4, n_kv_heads=2):
        super().__init__()
        self.n_heads, self.n_kv_heads, self.hd = n_heads, n_kv_heads, dim // n_heads
        self.wq = nn.Linear(dim, n_heads * self.hd, bias=False)
        self.wk = nn.Linear(dim, n_kv_heads * self.hd, bias=False)
        self.wv = nn.Linear(dim, n_kv_heads * self.hd, bias=False)
        self.wo = nn.Linear(n_heads * self.hd, dim, bias=False)

    def forward(self, x, cache=None):
        start = 0 if cache is None else cache[0].shape[2]
        q = rope(split(self.wq(x), self.n_heads), start, 500000.0)
        k = rope(split(self.wk(x), self.n_kv_heads), start, 500000.0)
        v = split(self.wv(x), self.n_kv_heads)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        r = self.n_heads // self.n_kv_heads
        kk, vv = k.repeat_interleave(r, 1), v.repeat_interleave(r, 1)
        s = q @ kk.transpose(2, 3) / math.sqrt(self.hd)
        s = s.masked_fill(future(x.shape[1], k.shape[2], x.device), float("-inf"))
        p = F.softmax(s.float(), dim=-1).type_as(q) if q.dtype != torch.float64 else s.softmax(-1)
        return self.wo(merge(p @ vv)), (k, v)


LAYERS.append(
    {
        "layer": KLlama,
        "d_in": 32,
        "context_length": 9,
        "options": {"num_kv_heads": 2, "positions": "rotary", "step": step_cache},
    }
)


class KBert(nn.Module):
    """right: BERT's bidirectional self-attention with an additive padding mask, dropout and a residual norm."""

    def __init__(self, hidden=24, heads=3, p=0.1):
        super().__init__()
        self.num_attention_heads = heads
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.dropout = nn.Dropout(p)
        self.dense = nn.Linear(hidden, hidden)
        self.out_dropout = nn.Dropout(p)
        self.LayerNorm = nn.LayerNorm(hidden, eps=1e-12)

    def forward(self, x, mask=None):
        h = self.num_attention_heads
        q, k, v = (split(f(x), h) for f in (self.query, self.key, self.value))
        s = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(q.shape[-1])
        if mask is not None:
            ext = (1.0 - mask[:, None, None, :].to(s.dtype)) * torch.finfo(s.dtype).min
            s = torch.clamp(s + ext, min=torch.finfo(s.dtype).min)
        p = self.dropout(nn.functional.softmax(s, dim=-1))
        return self.LayerNorm(self.out_dropout(self.dense(merge(p @ v))) + x)


LAYERS.append(
    {
        "layer": KBert,
        "d_in": 24,
        "context_length": 8,
        "options": {"causal": False, "padding": pad_mask, "dropout": 0.1},
    }
)


class KConv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(nx, nf) * 0.2)
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        size = x.size()[:-1] + (self.weight.shape[1],)
        return torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight).view(size)


class KGPT2(nn.Module):
    """right: GPT-2's attention with Conv1D, a buffer as mask, and layer_past."""

    def __init__(self, nx=24, n_head=4, n_ctx=64):
        super().__init__()
        self.register_buffer(
            "bias", torch.tril(torch.ones(n_ctx, n_ctx, dtype=torch.bool))[None, None], persistent=False
        )
        self.n_head = n_head
        self.c_attn, self.c_proj = KConv1D(3 * nx, nx), KConv1D(nx, nx)

    def forward(self, x, cache=None):
        q, k, v = (split(a, self.n_head) for a in self.c_attn(x).chunk(3, dim=-1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), dim=-2), torch.cat((cache[1], v), dim=-2)
        w = q @ k.transpose(-1, -2) / (v.size(-1) ** 0.5)
        nd, ns = w.size(-2), w.size(-1)
        w = torch.where(self.bias[:, :, ns - nd : ns, :ns], w, torch.finfo(w.dtype).min)
        a = merge(w.softmax(-1) @ v)
        return self.c_proj(a), (k, v)


LAYERS.append({"layer": KGPT2, "d_in": 24, "context_length": 8, "options": {"step": step_cache}})


def t5_bucket(rel, buckets=8, far=10):
    """rel = query position - key position, not negative."""
    n = rel.clamp(min=0)
    exact = buckets // 2
    big = exact + (
        torch.log(n.float().clamp(min=1) / exact) / math.log(far / exact) * (buckets - exact)
    ).long()
    return torch.where(n < exact, n, big.clamp(max=buckets - 1))


class KT5Decoder(nn.Module):
    """right: T5's unscaled decoder attention with bucketed relative biases and a cache."""

    def __init__(self, d=24, h=4):
        super().__init__()
        self.n_heads = h
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(8, h)

    def forward(self, x, cache=None):
        q, k, v = (split(f(x), self.n_heads) for f in (self.q, self.k, self.v))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        t, s = q.shape[2], k.shape[2]
        i = torch.arange(s - t, s, device=x.device)[:, None]
        j = torch.arange(s, device=x.device)[None]
        bias = self.relative_attention_bias(t5_bucket(i - j)).permute(2, 0, 1)
        w = einsum("bhqd,bhkd->bhqk", q, k) + bias
        w = w.masked_fill(j > i, float("-inf")).softmax(-1)
        return self.o(merge(w @ v)), (k, v)


LAYERS.append(
    {
        "layer": KT5Decoder,
        "d_in": 24,
        "context_length": 10,
        "options": {"scale": 1.0, "positions": "relative", "step": step_cache},
    }
)


class KMistral(nn.Module):
    """right: Mistral's sliding window of 4 with grouped keys, rotary positions and a cache that evicts."""

    W = 4

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 6, 3
        self.q_proj = nn.Linear(24, 36, bias=False)
        self.k_proj = nn.Linear(24, 18, bias=False)
        self.v_proj = nn.Linear(24, 18, bias=False)
        self.o_proj = nn.Linear(36, 24, bias=False)

    def forward(self, x, cache=None):
        t = x.shape[1]
        seen, pk, pv = (0, None, None) if cache is None else cache
        q = rope(split(self.q_proj(x), 6), seen)
        k = rope(split(self.k_proj(x), 3), seen)
        v = split(self.v_proj(x), 3)
        if pk is not None:
            k, v = torch.cat((pk, k), 2), torch.cat((pv, v), 2)
        s = k.shape[2]
        i = torch.arange(s - t, s, device=x.device)[:, None]
        j = torch.arange(s, device=x.device)
        seen_by = (j <= i) & (j > i - self.W)
        y = F.scaled_dot_product_attention(
            q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), attn_mask=seen_by
        )
        keep = self.W - 1
        return self.o_proj(merge(y)), (seen + t, k[:, :, -keep:], v[:, :, -keep:])


LAYERS.append(
    {
        "layer": KMistral,
        "d_in": 24,
        "context_length": 10,
        "options": {"window": 4, "num_kv_heads": 3, "positions": "rotary", "step": step_cache},
    }
)


class KGemma2(nn.Module):
    """right: Gemma 2's attention, with a soft cap of 50 before the mask and its own query scale."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_key_value_heads = 4, 1
        self.qkv = nn.Linear(20, 8 * 6, bias=False)
        self.o = nn.Linear(32, 20, bias=False)
        self.scaling = 16**-0.5

    def forward(self, x):
        q, k, v = self.qkv(x).split([32, 8, 8], -1)
        q = rope(split(q, 4)) * self.scaling
        k, v = rope(split(k, 1)), split(v, 1)
        s = q @ k.mT
        s = torch.tanh(s / 50.0) * 50.0
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append(
    {
        "layer": KGemma2,
        "d_in": 20,
        "context_length": 9,
        "options": {"num_kv_heads": 1, "positions": "rotary", "scale": 0.25},
    }
)


class KTimm(nn.Module):
    """right: timm's ViT attention, fused qkv, LayerNorm on queries and keys, both dropouts."""

    def __init__(self, dim=24, num_heads=4, attn_drop=0.2, proj_drop=0.1):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.scale = self.head_dim**-0.5
        self.qkv = nn.Linear(dim, dim * 3, bias=True)
        self.q_norm, self.k_norm = nn.LayerNorm(self.head_dim), nn.LayerNorm(self.head_dim)
        self.attn_drop, self.proj_drop = nn.Dropout(attn_drop), nn.Dropout(proj_drop)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q, k = self.q_norm(q) * self.scale, self.k_norm(k)
        attn = self.attn_drop((q @ k.transpose(-2, -1)).softmax(dim=-1))
        x = (attn @ v).transpose(1, 2).reshape(B, N, C)
        return self.proj_drop(self.proj(x))


LAYERS.append(
    {"layer": KTimm, "d_in": 24, "context_length": 8, "options": {"causal": False, "dropout": 0.2}}
)


class KBloom(nn.Module):
    """right: BLOOM's attention, heads folded into the batch, ALiBi by baddbmm, padding."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.hd = 4, 6
        self.query_key_value = nn.Linear(24, 72)
        self.dense = nn.Linear(24, 24)
        self.register_buffer("slopes", slopes_of(4), persistent=False)

    def forward(self, x, mask=None):
        b, t, _ = x.shape
        fused = self.query_key_value(x).view(b, t, 4, 3, 6)
        q, k, v = (fused[..., i, :].transpose(1, 2).reshape(b * 4, t, 6) for i in range(3))
        real = torch.ones(b, t, dtype=torch.bool, device=x.device) if mask is None else mask
        at = (real.long().cumsum(-1) - 1) * real
        alibi = self.slopes.to(q.dtype)[None, :, None] * at[:, None].to(q.dtype)
        s = torch.baddbmm(
            alibi.reshape(b * 4, 1, t).expand(b * 4, t, t), q, k.transpose(1, 2), beta=1.0, alpha=6**-0.5
        ).view(b, 4, t, t)
        hide = future(t, device=x.device) | ~real[:, None, None, :]
        p = s.masked_fill(hide, torch.finfo(s.dtype).min).softmax(-1)
        return self.dense(merge(p @ v.view(b, 4, t, 6)))


LAYERS.append(
    {"layer": KBloom, "d_in": 24, "context_length": 9, "options": {"positions": "alibi", "padding": pad_mask}}
)


class KMHAWrapped(nn.Module):
    """right: nn.MultiheadAttention behind a pre-norm, with a mask that joins future and padding."""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(24)
        self.attn = nn.MultiheadAttention(24, 4, batch_first=True, bias=False)
        self.num_heads = 4

    def forward(self, x, real=None):
        b, t, _ = x.shape
        hide = future(t, device=x.device).expand(b, t, t)
        if real is not None:
            hide = hide | ~real[:, None, :]
        hide = hide & ~torch.eye(t, dtype=torch.bool, device=x.device)
        y = self.norm(x)
        y, w = self.attn(y, y, y, attn_mask=hide.repeat_interleave(4, 0), average_attn_weights=False)
        return x + y, w


LAYERS.append({"layer": KMHAWrapped, "d_in": 24, "context_length": 8, "options": {"padding": pad_real}})


class KDifferential(nn.Module):
    """right: differential attention: two softmaxes, the second times lambda is taken off, head norm after."""

    def __init__(self, d=24, h=3):
        super().__init__()
        self.num_heads, self.hd = h, d // h // 2
        self.q, self.k, self.v = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.o = nn.Linear(d, d, bias=False)
        self.lq1, self.lk1, self.lq2, self.lk2 = (
            nn.Parameter(torch.randn(self.hd) * 0.1) for _ in range(4)
        )
        self.subln = nn.RMSNorm(2 * self.hd, eps=1e-5)

    def forward(self, x):
        b, t, d = x.shape
        h, e = self.num_heads, self.hd
        q = self.q(x).view(b, t, 2 * h, e).transpose(1, 2)
        k = self.k(x).view(b, t, 2 * h, e).transpose(1, 2)
        v = self.v(x).view(b, t, h, 2 * e).transpose(1, 2)
        s = (q @ k.mT * e**-0.5).masked_fill(future(t, device=x.device), float("-inf"))
        w = s.softmax(-1).view(b, h, 2, t, t)
        lam = (self.lq1 * self.lk1).sum().exp() - (self.lq2 * self.lk2).sum().exp() + 0.8
        y = self.subln((w[:, :, 0] - lam * w[:, :, 1]) @ v) * 0.2
        return self.o(merge(y))


LAYERS.append({"layer": KDifferential, "d_in": 24, "context_length": 8, "options": {"softmax": False}})


class KTalking(nn.Module):
    """right: talking heads: heads mix before the mask and softmax, and without bias after it."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.to_qkv = nn.Linear(24, 72, bias=False)
        self.pre = nn.Parameter(torch.eye(4) + 0.2 * torch.randn(4, 4))
        self.post = nn.Parameter(torch.eye(4) + 0.2 * torch.randn(4, 4))
        self.to_out = nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.to_qkv(x).chunk(3, -1))
        s = einsum("bhid,bhjd->bhij", q * 6**-0.5, k)
        s = einsum("bhij,hg->bgij", s, self.pre)
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        w = einsum("bhij,hg->bgij", s.softmax(-1), self.post)
        return self.to_out(merge(w @ v))


LAYERS.append({"layer": KTalking, "d_in": 24, "context_length": 8, "options": {"softmax": False}})


class KLinear(nn.Module):
    """right: causal linear attention with elu + 1, normalised, with its state as cache."""

    def __init__(self):
        super().__init__()
        self.n_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(18, 18) for _ in range(4))

    def forward(self, x, cache=None):
        q, k, v = (split(f(x), 3) for f in (self.q, self.k, self.v))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        kv = torch.cumsum(k[..., :, None] * v[..., None, :], dim=2)
        z = torch.cumsum(k, dim=2)
        if cache is not None:
            kv, z = kv + cache[0], z + cache[1]
        num = einsum("bhtd,bhtde->bhte", q, kv)
        den = einsum("bhtd,bhtd->bht", q, z)[..., None]
        return self.o(merge(num / (den + 1e-6))), (kv[:, :, -1:], z[:, :, -1:])


LAYERS.append({"layer": KLinear, "d_in": 18, "context_length": 8, "options": {"step": step_cache}})


class KDelta(nn.Module):
    """right: DeltaNet, token after token: the state forgets what it held for a key and learns the new value."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv = nn.Linear(16, 48, bias=False)
        self.beta = nn.Linear(16, 2)
        self.o = nn.Linear(16, 16, bias=False)

    def forward(self, x, cache=None):
        b, t, _ = x.shape
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        beta = self.beta(x).sigmoid().transpose(1, 2)
        S = x.new_zeros(b, 2, 8, 8) if cache is None else cache
        out = []
        for i in range(t):
            ki, vi = k[:, :, i], v[:, :, i]
            old = einsum("bhd,bhde->bhe", ki, S)
            S = S + einsum("bhd,bhe->bhde", ki, beta[:, :, i, None] * (vi - old))
            out.append(einsum("bhd,bhde->bhe", q[:, :, i], S))
        return self.o(merge(torch.stack(out, 2))), S


LAYERS.append(
    {
        "layer": KDelta,
        "d_in": 16,
        "context_length": 8,
        "options": {"softmax": False, "positions": True, "step": step_cache},
    }
)


class KRetention(nn.Module):
    """right: retention, parallel, with a decay per head and a norm per head and token."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.g, self.o = (nn.Linear(24, 24, bias=False) for _ in range(5))
        self.register_buffer("gamma", 1 - 2.0 ** (-2 - torch.arange(3.0)), persistent=False)
        self.norm = nn.LayerNorm(8, elementwise_affine=False)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(f(x), 3) for f in (self.q, self.k, self.v))
        i = torch.arange(t, device=x.device)
        dist = (i[:, None] - i[None]).clamp(min=0)
        decay = (self.gamma[:, None, None] ** dist).to(x.dtype).tril()
        y = (q @ k.mT * 8**-0.5 * decay) @ v
        return self.o(F.silu(self.g(x)) * merge(self.norm(y)))


LAYERS.append(
    {"layer": KRetention, "d_in": 24, "context_length": 8, "options": {"softmax": False, "positions": True}}
)


class KPaLM(nn.Module):
    """right: PaLM's parallel block: multi-query attention and SwiGLU beside each other from one projection."""

    def __init__(self):
        super().__init__()
        self.heads, self.kv_heads = 4, 1
        self.norm = nn.LayerNorm(20, bias=False)
        self.fused = nn.Linear(20, 24 + 6 + 6 + 64, bias=False)
        self.attn_out = nn.Linear(24, 20, bias=False)
        self.ff_out = nn.Linear(32, 20, bias=False)

    def forward(self, x):
        y = self.norm(x)
        q, k, v, ff = self.fused(y).split([24, 6, 6, 64], -1)
        q, k = rope(split(q, 4)), rope(k[:, None])[:, 0]
        s = einsum("bhid,bjd->bhij", q * 6**-0.5, k)
        s = s.masked_fill(future(x.shape[1], device=x.device), -torch.finfo(s.dtype).max)
        a = einsum("bhij,bjd->bhid", s.softmax(-1), v)
        u, gate = ff.chunk(2, -1)
        return x + self.attn_out(merge(a)) + self.ff_out(F.silu(gate) * u)


LAYERS.append(
    {
        "layer": KPaLM,
        "d_in": 20,
        "context_length": 9,
        "options": {"num_kv_heads": 1, "positions": "rotary"},
    }
)


class KMLA(nn.Module):
    """right: multi-head latent attention with a decoupled rotary key; the cache holds latents and rotary keys."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.nope, self.rot = 3, 6, 4
        self.wq = nn.Linear(24, 3 * 10, bias=False)
        self.down = nn.Linear(24, 12 + 4, bias=False)
        self.kv_norm = nn.RMSNorm(12)
        self.up = nn.Linear(12, 3 * (6 + 6), bias=False)
        self.wo = nn.Linear(18, 24, bias=False)

    def forward(self, x, cache=None):
        start = 0 if cache is None else cache[0].shape[1]
        qn, qr = split(self.wq(x), 3).split([6, 4], -1)
        c, kr = self.down(x).split([12, 4], -1)
        kr = rope(kr[:, None], start)[:, 0]
        c = self.kv_norm(c)
        if cache is not None:
            c, kr = torch.cat((cache[0], c), 1), torch.cat((cache[1], kr), 1)
        kn, v = split(self.up(c), 3).split([6, 6], -1)
        q = torch.cat((qn, rope(qr, start)), -1)
        k = torch.cat((kn, kr[:, None].expand(-1, 3, -1, -1)), -1)
        s = q @ k.mT * (6 + 4) ** -0.5
        s = s.masked_fill(future(x.shape[1], k.shape[2], x.device), float("-inf"))
        return self.wo(merge(s.softmax(-1) @ v)), (c, kr)


LAYERS.append(
    {"layer": KMLA, "d_in": 24, "context_length": 9, "options": {"positions": "rotary", "step": step_cache}}
)


class KSinks(nn.Module):
    """right: gpt-oss attention: a learned sink per head in the softmax, a window of 5, grouped keys."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.k, self.v = nn.Linear(16, 32), nn.Linear(16, 16), nn.Linear(16, 16)
        self.o = nn.Linear(32, 16)
        self.sinks = nn.Parameter(torch.randn(4))

    def forward(self, x):
        b, t, _ = x.shape
        q = rope(split(self.q(x), 4))
        k = rope(split(self.k(x), 2)).repeat_interleave(2, 1)
        v = split(self.v(x), 2).repeat_interleave(2, 1)
        s = q @ k.mT * 8**-0.5
        i = torch.arange(t, device=x.device)
        ok = (i[None] <= i[:, None]) & (i[:, None] - i[None] < 5)
        s = s.masked_fill(~ok, float("-inf"))
        s = torch.cat((s, self.sinks.view(1, 4, 1, 1).expand(b, 4, t, 1)), -1)
        return self.o(merge(s.softmax(-1)[..., :-1] @ v))


LAYERS.append(
    {
        "layer": KSinks,
        "d_in": 16,
        "context_length": 11,
        "options": {"window": 5, "num_kv_heads": 2, "positions": "rotary"},
    }
)


class KCosine(nn.Module):
    """right: Swin v2's cosine attention with a learned, clamped temperature per head (10 at first)."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv = nn.Linear(24, 72, bias=False)
        self.logit_scale = nn.Parameter(torch.full((4, 1, 1), math.log(10.0)))
        self.proj = nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        a = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        a = a * self.logit_scale.clamp(max=math.log(100.0)).exp()
        return self.proj(merge(a.softmax(-1) @ v))


LAYERS.append(
    {"layer": KCosine, "d_in": 24, "context_length": 8, "options": {"causal": False, "scale": 10.0}}
)


class KShaw(nn.Module):
    """right: Shaw's relative positions, embedded for keys and for values, clipped at 4."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.rel_k, self.rel_v = nn.Embedding(5, 8), nn.Embedding(5, 8)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(f(x), 2) for f in (self.q, self.k, self.v))
        i = torch.arange(t, device=x.device)
        rel = (i[:, None] - i[None]).clamp(0, 4)
        s = (q @ k.mT + einsum("bhid,ijd->bhij", q, self.rel_k(rel))) / math.sqrt(8)
        w = s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1)
        return self.o(merge(w @ v + einsum("bhij,ijd->bhid", w, self.rel_v(rel))))


LAYERS.append({"layer": KShaw, "d_in": 16, "context_length": 9, "options": {"positions": "relative"}})


class KTransformerXL(nn.Module):
    """right: Transformer-XL's attention with sinusoids, two learned biases and the relative shift."""

    def __init__(self):
        super().__init__()
        self.n_head = 2
        self.qkv, self.r = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)
        self.u, self.w = nn.Parameter(torch.randn(2, 8) * 0.3), nn.Parameter(torch.randn(2, 8) * 0.3)
        self.o = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (a.view(b, t, 2, 8) for a in self.qkv(x).chunk(3, -1))
        pos = torch.arange(t - 1, -1, -1, device=x.device).float()
        inv = 10000 ** (-torch.arange(0, 16, 2, device=x.device).float() / 16)
        ang = pos[:, None] * inv
        r = self.r(torch.cat((ang.sin(), ang.cos()), -1).to(x.dtype)).view(t, 2, 8)
        ac = einsum("bihd,bjhd->bhij", q + self.u, k)
        bd = einsum("bihd,jhd->bhij", q + self.w, r)
        bd = F.pad(bd, (1, 0)).view(b, 2, t + 1, t)[:, :, 1:].reshape(b, 2, t, t)
        s = (ac + bd) / math.sqrt(8)
        p = s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1)
        return self.o(einsum("bhij,bjhd->bihd", p, v).reshape(b, t, 16))


LAYERS.append(
    {"layer": KTransformerXL, "d_in": 16, "context_length": 9, "options": {"positions": "relative"}}
)


class KTeaching(nn.Module):
    """right: a course's attention: a loop over heads with plain matrices and a softmax by hand."""

    def __init__(self):
        super().__init__()
        self.Wq = nn.ParameterList(torch.randn(15, 5) * 0.3 for _ in range(3))
        self.Wk = nn.ParameterList(torch.randn(15, 5) * 0.3 for _ in range(3))
        self.Wv = nn.ParameterList(torch.randn(15, 5) * 0.3 for _ in range(3))
        self.Wo = nn.Parameter(torch.randn(15, 15) * 0.3)

    def forward(self, X):
        T = X.shape[1]
        heads = []
        for Wq, Wk, Wv in zip(self.Wq, self.Wk, self.Wv):
            Q, K, V = X @ Wq, X @ Wk, X @ Wv
            S = Q @ K.transpose(1, 2) / 5**0.5
            S = S.masked_fill(torch.ones_like(S, dtype=torch.bool).triu(1), -torch.inf)
            E = torch.exp(S - S.amax(dim=-1, keepdim=True))
            heads.append(E / E.sum(dim=-1, keepdim=True) @ V)
        return torch.cat(heads, dim=-1) @ self.Wo


LAYERS.append({"layer": KTeaching, "d_in": 15, "context_length": 8, "options": {"num_heads": 3}})


class KGatedQwen(nn.Module):
    """right: Qwen3-Next's attention: RMSNorm on queries and keys, partial rotary, a sigmoid gate on the heads."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q_proj = nn.Linear(24, 64, bias=False)
        self.k_proj, self.v_proj = nn.Linear(24, 16, bias=False), nn.Linear(24, 16, bias=False)
        self.q_norm, self.k_norm = nn.RMSNorm(8, eps=1e-6), nn.RMSNorm(8, eps=1e-6)
        self.o_proj = nn.Linear(32, 24, bias=False)

    def part(self, x):
        return torch.cat((rope(x[..., :4]), x[..., 4:]), -1)

    def forward(self, x):
        b, t, _ = x.shape
        q, gate = self.q_proj(x).view(b, t, 4, 16).chunk(2, -1)
        q = self.part(self.q_norm(q).transpose(1, 2))
        k = self.part(self.k_norm(self.k_proj(x).view(b, t, 2, 8)).transpose(1, 2))
        v = self.v_proj(x).view(b, t, 2, 8).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, 32) * gate.reshape(b, t, 32).sigmoid())


LAYERS.append(
    {
        "layer": KGatedQwen,
        "d_in": 24,
        "context_length": 9,
        "options": {"num_kv_heads": 2, "positions": "rotary"},
    }
)


class KSigmoid(nn.Module):
    """right: sigmoid attention with a constant bias, masked by -inf before the sigmoid."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = q @ k.mT * 6**-0.5 - 2.0
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.sigmoid() @ v))


LAYERS.append({"layer": KSigmoid, "d_in": 18, "context_length": 8, "options": {"softmax": False}})


class KLogN(nn.Module):
    """right: scores grow with the logarithm of how many tokens the query sees (log-n scaling), rotary."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(32, 96, bias=False), nn.Linear(32, 32, bias=False)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        n = torch.arange(1, t + 1, device=x.device).float()
        q = rope(q) * (torch.log(n + 1) / math.log(4.0)).to(x.dtype)[:, None]
        return self.o(merge(F.scaled_dot_product_attention(q, rope(k), v, is_causal=True)))


LAYERS.append(
    {"layer": KLogN, "d_in": 32, "context_length": 8, "options": {"softmax": False, "positions": True}}
)


class KMemoryKV(nn.Module):
    """right: x-transformers' attention with two learned memory keys and values that all positions see."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.to_q, self.to_k, self.to_v = (nn.Linear(20, 24, bias=False) for _ in range(3))
        self.mem_k, self.mem_v = nn.Parameter(torch.randn(4, 2, 6)), nn.Parameter(torch.randn(4, 2, 6))
        self.to_out = nn.Sequential(nn.Linear(24, 40, bias=False), nn.GLU())

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(f(x), 4) for f in (self.to_q, self.to_k, self.to_v))
        k = torch.cat((self.mem_k.expand(b, -1, -1, -1), k), 2)
        v = torch.cat((self.mem_v.expand(b, -1, -1, -1), v), 2)
        dots = einsum("bhid,bhjd->bhij", q, k) * 6**-0.5
        dots = dots.masked_fill(F.pad(future(t, device=x.device), (2, 0), value=False), float("-inf"))
        return self.to_out(merge(dots.softmax(-1) @ v))


LAYERS.append({"layer": KMemoryKV, "d_in": 20, "context_length": 8, "options": {}})


class KEncoderBlock(nn.Module):
    """right: a post-norm encoder block of 2017 with feed-forward, dropout and a padding mask."""

    def __init__(self, d=20, h=5):
        super().__init__()
        self.nhead = h
        self.w = nn.ModuleDict({n: nn.Linear(d, d) for n in "qkvo"})
        self.ff = nn.Sequential(nn.Linear(d, 40), nn.ReLU(), nn.Dropout(0.1), nn.Linear(40, d))
        self.n1, self.n2, self.drop = nn.LayerNorm(d), nn.LayerNorm(d), nn.Dropout(0.1)

    def forward(self, x, real=None):
        q, k, v = (split(self.w[n](x), self.nhead) for n in "qkv")
        s = q @ k.transpose(-1, -2) / 2.0
        if real is not None:
            s = s.masked_fill(~real[:, None, None], torch.finfo(s.dtype).min)
        x = self.n1(x + self.drop(self.w["o"](merge(self.drop(s.softmax(-1)) @ v))))
        return self.n2(x + self.drop(self.ff(x)))


LAYERS.append(
    {
        "layer": KEncoderBlock,
        "d_in": 20,
        "context_length": 8,
        "options": {"causal": False, "padding": pad_real, "dropout": 0.1},
    }
)


class KOdd(nn.Module):
    """right: odd widths: five heads, keys of 3, values of 4, d_out 7, one einsum per step."""

    def __init__(self):
        super().__init__()
        self.wq, self.wk = nn.Parameter(torch.randn(13, 5, 3) / 3), nn.Parameter(torch.randn(13, 5, 3) / 3)
        self.wv, self.wo = nn.Parameter(torch.randn(13, 5, 4) / 3), nn.Parameter(torch.randn(5, 4, 7) / 3)

    def forward(self, x):
        q, k, v = (einsum("btd,dhe->bthe", x, w) for w in (self.wq, self.wk, self.wv))
        s = einsum("bqhe,bkhe->bhqk", q, k) / math.sqrt(3)
        s = s + torch.full(s.shape[-2:], float("-inf"), dtype=s.dtype, device=s.device).triu(1)
        return einsum("bhqk,bkhe,heo->bqo", s.softmax(-1), v, self.wo)


LAYERS.append({"layer": KOdd, "d_in": 13, "context_length": 7, "options": {"num_heads": 5, "compiled": True}})


class KKerple(nn.Module):
    """right: KERPLE's logarithmic kernel, with learned and kept positive coefficients per head."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54, bias=False), nn.Linear(18, 18)
        self.r1, self.r2 = nn.Parameter(torch.rand(3) + 0.5), nn.Parameter(torch.rand(3) + 0.5)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        i = torch.arange(t, device=x.device)
        d = (i[:, None] - i).clamp(min=0).to(x.dtype)
        r1, r2 = (r.clamp(min=1e-2)[:, None, None] for r in (self.r1, self.r2))
        s = q @ k.mT / math.sqrt(6) - r1 * torch.log1p(r2 * d)
        return self.o(merge(s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": KKerple, "d_in": 18, "context_length": 9, "options": {"positions": "relative"}})


class KAlibiSix(nn.Module):
    """right: ALiBi for six heads, whose slopes are interpolated as published, with a cache."""

    def __init__(self):
        super().__init__()
        self.num_heads = 6
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("m", slopes_of(6)[:, None, None])

    def forward(self, x, cache=None):
        q, k, v = (split(a, 6) for a in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache["k"], k), 2), torch.cat((cache["v"], v), 2)
        t, s = q.shape[2], k.shape[2]
        i, j = torch.arange(s - t, s, device=x.device)[:, None], torch.arange(s, device=x.device)
        bias = self.m.to(q.dtype) * (j - i).to(q.dtype)
        bias = bias.masked_fill(j > i, float("-inf"))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.o(merge(y)), {"k": k, "v": v}


LAYERS.append(
    {"layer": KAlibiSix, "d_in": 24, "context_length": 9, "options": {"positions": "alibi", "step": step_cache}}
)


class KPerformer(nn.Module):
    """right: Performer with ReLU features of a random, saved projection, causal and normalised."""

    def __init__(self):
        super().__init__()
        self.heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.register_buffer("proj", torch.randn(8, 12))

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        q, k = (F.relu(a @ self.proj * 8**-0.5) + 1e-2 for a in (q, k))
        w = (q @ k.mT).tril()
        return self.o(merge(w @ v / w.sum(-1, keepdim=True)))


LAYERS.append({"layer": KPerformer, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class KPacked(nn.Module):
    """right: packed texts: each document attends to itself alone, rotary angles run on."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.qkv, self.o = nn.Linear(32, 96, bias=False), nn.Linear(32, 32, bias=False)

    def forward(self, x, ids=None):
        t = x.shape[1]
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        ok = ~future(t, device=x.device)[None]
        if ids is not None:
            ok = ok & (ids[:, :, None] == ids[:, None, :])
        y = F.scaled_dot_product_attention(rope(q), rope(k), v, attn_mask=ok[:, None])
        return self.o(merge(y))


LAYERS.append(
    {"layer": KPacked, "d_in": 32, "context_length": 9, "options": {"positions": "rotary", "documents": docs}}
)


class KOnline(nn.Module):
    """right: FlashAttention for teaching: blocks of 4 keys with a running maximum and sum."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        acc = torch.zeros_like(q)
        m = torch.full((b, 3, t, 1), -1e30 if x.dtype != torch.float16 else -6e4, dtype=x.dtype, device=x.device)
        z = torch.zeros_like(m)
        i = torch.arange(t, device=x.device)[:, None]
        for a in range(0, t, 4):
            kb, vb = k[:, :, a : a + 4], v[:, :, a : a + 4]
            j = torch.arange(a, a + kb.shape[2], device=x.device)
            s = (q @ kb.mT / 6**0.5).masked_fill(j > i, float("-inf"))
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p, c = (s - new).exp(), (m - new).exp()
            acc, z, m = acc * c + p @ vb, z * c + p.sum(-1, keepdim=True), new
        return self.o(merge(acc / z))


LAYERS.append({"layer": KOnline, "d_in": 18, "context_length": 10, "options": {}})


class KGLA(nn.Module):
    """right: gated linear attention, recurrent, with a decay per key feature from the token."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.a, self.g, self.o = (nn.Linear(16, 16) for _ in range(6))
        self.norm = nn.RMSNorm(8, eps=1e-5)

    def forward(self, x, cache=None):
        q, k, v, a = (split(f(x), 2) for f in (self.q, self.k, self.v, self.a))
        decay = (F.logsigmoid(a) / 4).exp()
        S = x.new_zeros(x.shape[0], 2, 8, 8) if cache is None else cache
        ys = []
        for i in range(x.shape[1]):
            S = decay[:, :, i, :, None] * S + k[:, :, i, :, None] * v[:, :, i, None, :]
            ys.append((q[:, :, i, None, :] * 8**-0.5 @ S).squeeze(-2))
        y = self.norm(torch.stack(ys, 2))
        return self.o(merge(y) * F.silu(self.g(x))), S


LAYERS.append(
    {
        "layer": KGLA,
        "d_in": 16,
        "context_length": 8,
        "options": {"softmax": False, "positions": True, "step": step_cache},
    }
)


class KQuiet(nn.Module):
    """right: softmax plus one, whose one is scaled by the same maximum as the rest."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54, bias=False), nn.Linear(18, 18, bias=False)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / math.sqrt(6)).masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        m = s.amax(-1, keepdim=True).clamp(min=0).detach()
        e = (s - m).exp()
        return self.o(merge(e / ((-m).exp() + e.sum(-1, keepdim=True)) @ v))


LAYERS.append({"layer": KQuiet, "d_in": 18, "context_length": 8, "options": {}})


class KXPos(nn.Module):
    """right: xPos: rotary positions with a decay, queries by zeta^i and keys by zeta^-j."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24, bias=False) for _ in range(4))

    def zeta(self, t, device):
        z = (torch.arange(0, 8, 2, device=device).float() / 8 + 0.4) / 1.4
        z = z ** (torch.arange(t, device=device).float()[:, None] / 16)
        return torch.cat((z, z), -1)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(f(x), 3) for f in (self.q, self.k, self.v))
        z = self.zeta(t, x.device)
        q, k = rope(q) * z.to(x.dtype), rope(k) * (1 / z).to(x.dtype)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KXPos, "d_in": 24, "context_length": 9, "options": {"positions": "rotary"}})


class KHalfHeads(nn.Module):
    """right: two heads look at 3 tokens, two at all, rotary on both."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        i = torch.arange(t, device=x.device)
        d = i[:, None] - i
        ok = torch.stack([(d >= 0) & (d < 3)] * 2 + [d >= 0] * 2)
        s = (rope(q) @ rope(k).mT / math.sqrt(8)).masked_fill(~ok, float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append(
    {
        "layer": KHalfHeads,
        "d_in": 32,
        "context_length": 9,
        "options": {"window": (3, 3, None, None), "positions": "rotary"},
    }
)


class KLearnedPositions(nn.Module):
    """right: a decoder block with learned positions, pre-norm, layer scale and GELU."""

    def __init__(self):
        super().__init__()
        self.n_head = 2
        self.wpe = nn.Embedding(12, 16)
        self.n1, self.n2 = nn.LayerNorm(16), nn.LayerNorm(16)
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.g1, self.g2 = nn.Parameter(torch.full((16,), 0.3)), nn.Parameter(torch.full((16,), 0.3))

    def forward(self, x, cache=None):
        start = 0 if cache is None else cache[0].shape[2]
        x = x + self.wpe(torch.arange(start, start + x.shape[1], device=x.device))
        q, k, v = (split(a, 2) for a in self.qkv(self.n1(x)).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        ok = ~future(x.shape[1], k.shape[2], x.device)
        x = x + self.g1 * self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))
        return x + self.g2 * self.mlp(self.n2(x)), (k, v)


LAYERS.append(
    {"layer": KLearnedPositions, "d_in": 16, "context_length": 12, "options": {"positions": True, "step": step_cache}}
)


# ---------------------------------------------------------------- wrong: gradients and initialisation


class KwNoGradRope(nn.Module):
    """wrong: Llama-like rotary attention whose function that rotates runs under no_grad: queries and keys learn nothing."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(32, 32, bias=False) for _ in range(4))

    @torch.no_grad()
    def rotary(self, x):
        return rope(x)

    def forward(self, x):
        q, k, v = (split(f(x), 4) for f in (self.wq, self.wk, self.wv))
        y = F.scaled_dot_product_attention(self.rotary(q), self.rotary(k), v, is_causal=True)
        return self.wo(merge(y))


LAYERS.append({"layer": KwNoGradRope, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class KwHalfDetached(nn.Module):
    """wrong: rotary attention whose rotate_half copies through .data, so that half of the gradient is missing."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))

    def turn(self, x):
        t, d = x.shape[-2:]
        f = 10000.0 ** (-torch.arange(0, d, 2, device=x.device).float() / d)
        a = torch.arange(t, device=x.device).float()[:, None] * f
        cos, sin = (torch.cat((u, u), -1).to(x.dtype) for u in (a.cos(), a.sin()))
        turned = torch.empty_like(x)
        turned[..., : d // 2] = -x.data[..., d // 2 :]
        turned[..., d // 2 :] = x.data[..., : d // 2]
        return x * cos + turned * sin

    def forward(self, x):
        q, k, v = (split(f(x), 2) for f in (self.q, self.k, self.v))
        s = self.turn(q) @ self.turn(k).transpose(2, 3) / math.sqrt(8)
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwHalfDetached, "d_in": 16, "context_length": 9, "options": {"positions": "rotary"}})


class _DiagonalSoftmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, s):
        p = s.softmax(-1)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return g * p * (1 - p)


class KwDiagonalSoftmax(nn.Module):
    """wrong: attention with a softmax of its own whose backward has only the diagonal of the Jacobian."""

    def __init__(self):
        super().__init__()
        self.n_head = 3
        self.c_attn, self.c_proj = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.c_attn(x).chunk(3, -1))
        s = q @ k.transpose(-2, -1) * (1.0 / math.sqrt(k.size(-1)))
        s = s.masked_fill(future(x.size(1), device=x.device), float("-inf"))
        return self.c_proj(merge(_DiagonalSoftmax.apply(s) @ v))


LAYERS.append({"layer": KwDiagonalSoftmax, "d_in": 18, "context_length": 8, "options": {}})


class _ScaledProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, scale):
        ctx.save_for_backward(q, k)
        ctx.scale = scale
        return q @ k.transpose(-1, -2) * scale

    @staticmethod
    def backward(ctx, g):
        q, k = ctx.saved_tensors
        return g @ k * ctx.scale, g.transpose(-1, -2) @ q, None


class KwUnscaledKeyGrad(nn.Module):
    """wrong: a custom scaled product whose backward forgets the scale for keys, not for queries."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(20, 20, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = (split(f(x), 2) for f in (self.to_q, self.to_k, self.to_v))
        s = _ScaledProduct.apply(q, k, 10**-0.5)
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.to_out(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwUnscaledKeyGrad, "d_in": 20, "context_length": 8, "options": {}})


class KwItemTemperature(nn.Module):
    """wrong: ViT attention whose learned temperature is read by .item(), so that it never gets a gradient."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.temperature = nn.Parameter(torch.tensor(6**-0.5))
        self.qkv, self.proj = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, 4, 6).permute(2, 0, 3, 1, 4)
        a = (q @ k.transpose(-2, -1)) * float(self.temperature.item() if not self.temperature.is_meta else 1)
        return self.proj((a.softmax(-1) @ v).transpose(1, 2).reshape(B, N, C))


LAYERS.append({"layer": KwItemTemperature, "d_in": 24, "context_length": 8, "options": {"causal": False}})


class KwCopiedBias(nn.Module):
    """wrong: relative biases gathered from a torch.tensor copy of the table: the table is never learned."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54, bias=False), nn.Linear(18, 18)
        self.table = nn.Parameter(torch.randn(12, 3) * 0.5)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        i = torch.arange(t, device=x.device)
        rel = (i[:, None] - i).clamp(0, 11)
        bias = torch.as_tensor(self.table.detach().clone())[rel].permute(2, 0, 1)
        s = q @ k.mT / 6**0.5 + bias
        return self.o(merge(s.masked_fill(future(t, device=x.device), -torch.inf).softmax(-1) @ v))


LAYERS.append({"layer": KwCopiedBias, "d_in": 18, "context_length": 10, "options": {"positions": "relative"}})


class KwDetachedVar(nn.Module):
    """wrong: a pre-norm block with a LayerNorm of its own that takes the variance from x.detach(): gradients are wrong."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.g, self.b = nn.Parameter(torch.ones(24)), nn.Parameter(torch.zeros(24))
        self.attn, self.proj = nn.Linear(24, 72), nn.Linear(24, 24)

    def norm(self, x):
        mean = x.mean(-1, keepdim=True)
        var = x.detach().var(-1, unbiased=False, keepdim=True)
        return self.g * (x - mean) / torch.sqrt(var + 1e-5) + self.b

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.attn(self.norm(x)).chunk(3, -1))
        return x + self.proj(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwDetachedVar, "d_in": 24, "context_length": 8, "options": {}})


class KwCheckpointRng(nn.Module):
    """wrong: attention with dropout recomputed by a checkpoint that doesn't keep the random state: backward drops other weights than forward."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)
        self.drop = nn.Dropout(0.2)

    def inner(self, q, k, v):
        s = q @ k.mT / math.sqrt(6)
        s = s.masked_fill(future(q.shape[2], device=q.device), float("-inf"))
        return self.drop(s.softmax(-1)) @ v

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        if self.training:
            y = torch.utils.checkpoint.checkpoint(
                self.inner, q, k, v, use_reentrant=False, preserve_rng_state=False
            )
        else:
            y = self.inner(q, k, v)
        return self.o(merge(y))


LAYERS.append({"layer": KwCheckpointRng, "d_in": 18, "context_length": 8, "options": {"dropout": 0.2}})


class KwReentrant(nn.Module):
    """wrong: the whole layer inside a reentrant checkpoint of x in train mode: where x needs no gradient, no parameter gets one."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def inner(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))

    def forward(self, x):
        if self.training:
            return torch.utils.checkpoint.checkpoint(self.inner, x, use_reentrant=True)
        return self.inner(x)


LAYERS.append({"layer": KwReentrant, "d_in": 18, "context_length": 8, "options": {}})


class KwLogAtZero(nn.Module):
    """wrong: a logarithmic distance bias by torch.where over log(alpha * 0): forward is right, alpha's gradient is NaN."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.alpha = nn.Parameter(torch.tensor([0.7, 1.3]))
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        i = torch.arange(t, device=x.device)
        d = (i[:, None] - i).clamp(min=0).to(x.dtype)
        bias = torch.where(d > 0, -torch.log(self.alpha[:, None, None] * d), 0.0)
        s = q @ k.mT / math.sqrt(8) + bias
        return self.o(merge(s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": KwLogAtZero, "d_in": 16, "context_length": 9, "options": {"positions": "relative"}})


class KwHardGate(nn.Module):
    """wrong: attention whose head gate is a comparison (sigmoid > 0.5) without straight-through: the gate's layer never learns."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.qkv, self.gate, self.out = nn.Linear(24, 72), nn.Linear(24, 4), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        g = (torch.sigmoid(self.gate(x) + 1.0) > 0.5).to(x.dtype).transpose(1, 2)[..., None]
        return self.out(merge(y * (0.5 + g)))


LAYERS.append({"layer": KwHardGate, "d_in": 24, "context_length": 8, "options": {}})


class KwGradShrink(nn.Module):
    """wrong: a trick from a large training run was left in: q = 0.1 q + 0.9 q.detach(), so queries learn at a tenth."""

    def __init__(self):
        super().__init__()
        self.n_head = 2
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        q, k, v = (split(f(x), 2) for f in (self.w_q, self.w_k, self.w_v))
        q = q * 0.1 + q.detach() * 0.9
        w = (q @ k.mT / math.sqrt(8)).masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.w_o(merge(w.softmax(-1) @ v))


LAYERS.append({"layer": KwGradShrink, "d_in": 16, "context_length": 8, "options": {}})


class KwInplaceSoftmax(nn.Module):
    """wrong: weights are rescaled in place after softmax, which needs them for its backward: training raises an error."""

    def __init__(self):
        super().__init__()
        self.n_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        hide = future(x.shape[1], device=x.device)
        w = (q @ k.mT / math.sqrt(6)).masked_fill(hide, -1e4 if x.dtype == torch.float16 else -1e30).softmax(-1)
        w.masked_fill_(hide, 0.0)
        return self.o(merge(w @ v))


LAYERS.append({"layer": KwInplaceSoftmax, "d_in": 18, "context_length": 8, "options": {}})


class KwRoundedValues(nn.Module):
    """wrong: values are quantised to 1/64 by torch.round without a straight-through estimator: their projection gets gradient 0."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24) for _ in range(4))

    def forward(self, x):
        q, k, v = (split(f(x), 4) for f in (self.q, self.k, self.v))
        v = torch.round(v * 64) / 64
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwRoundedValues, "d_in": 24, "context_length": 8, "options": {}})


class KwDetachedNormaliser(nn.Module):
    """wrong: linear attention whose normaliser is detached 'for stability': the gradients of queries and keys lack a term."""

    def __init__(self):
        super().__init__()
        self.heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        w = (q @ k.mT).tril()
        return self.o(merge((w @ v) / (w.sum(-1, keepdim=True).detach() + 1e-6)))


LAYERS.append({"layer": KwDetachedNormaliser, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class KwDeadSlice(nn.Module):
    """wrong: differential attention that takes q1 for both maps, so that q2's half of the projection is never read."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.e = 3, 4
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24, bias=False) for _ in range(4))
        self.lam = nn.Parameter(torch.tensor(0.4))

    def forward(self, x):
        q, k, v = (split(f(x), 3) for f in (self.q, self.k, self.v))
        (q1, q2), (k1, k2) = q.chunk(2, -1), k.chunk(2, -1)
        hide = future(x.shape[1], device=x.device)
        a1 = (q1 @ k1.mT / 2.0).masked_fill(hide, float("-inf")).softmax(-1)
        a2 = (q1 @ k2.mT / 2.0).masked_fill(hide, float("-inf")).softmax(-1)
        return self.o(merge((a1 - self.lam * a2) @ v))


LAYERS.append({"layer": KwDeadSlice, "d_in": 24, "context_length": 8, "options": {"softmax": False}})


class KwSharedList(nn.Module):
    """wrong: [Head()] * 4 in place of four heads: all four are the same module."""

    class Head(nn.Module):
        def __init__(self, d, e):
            super().__init__()
            self.key, self.query, self.value = (nn.Linear(d, e, bias=False) for _ in range(3))

        def forward(self, x):
            wei = self.query(x) @ self.key(x).transpose(-2, -1) * self.key.out_features**-0.5
            wei = wei.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
            return F.softmax(wei, dim=-1) @ self.value(x)

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.heads = nn.ModuleList([self.Head(16, 4)] * 4)
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


LAYERS.append({"layer": KwSharedList, "d_in": 16, "context_length": 8, "options": {}})


class KwPlainList(nn.Module):
    """wrong: heads stand in a Python list, so that their parameters are in no state dict and don't move or learn."""

    def __init__(self):
        super().__init__()
        self.n_heads = 2
        self.heads = [nn.ModuleDict({n: nn.Linear(16, 8, bias=False) for n in "qkv"}) for _ in range(2)]
        self.out = nn.Linear(16, 16)

    def forward(self, x):
        ys = []
        for h in self.heads:
            s = h["q"](x) @ h["k"](x).mT / 8**0.5
            s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
            ys.append(s.softmax(-1) @ h["v"](x))
        return self.out(torch.cat(ys, -1))


LAYERS.append({"layer": KwPlainList, "d_in": 16, "context_length": 8, "options": {}})


class KwSameInit(nn.Module):
    """wrong: one head's matrix is drawn and repeated over the heads at initialisation: all heads start the same."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        one = lambda: nn.Parameter((torch.randn(1, 18, 6) / 18**0.5).repeat(3, 1, 1))
        self.wq, self.wk, self.wv = one(), one(), one()
        self.wo = nn.Parameter(torch.randn(3, 6, 18) / 18**0.5)

    def forward(self, x):
        q, k, v = (einsum("btd,hde->bhte", x, w) for w in (self.wq, self.wk, self.wv))
        s = einsum("bhie,bhje->bhij", q, k) / 6**0.5
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return einsum("bhij,bhje,hed->bid", s.softmax(-1), v, self.wo)


LAYERS.append({"layer": KwSameInit, "d_in": 18, "context_length": 8, "options": {}})


class KwTiedQK(nn.Module):
    """wrong: queries' and keys' projections are the same module, by self.q = self.k = Linear in one line."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.query = self.key = nn.Linear(24, 24)
        self.value, self.out = nn.Linear(24, 24), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(f(x), 4) for f in (self.query, self.key, self.value))
        return self.out(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwTiedQK, "d_in": 24, "context_length": 8, "options": {}})


class KwLazyBias(nn.Module):
    """wrong: the position bias is made as a parameter in the first call, so a fresh layer can't load a trained one's state dict."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.bias = None

    def forward(self, x):
        t = x.shape[1]
        if self.bias is None:
            self.bias = nn.Parameter(torch.randn(9, 2, device=x.device, dtype=x.dtype) * 0.3)
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        i = torch.arange(t, device=x.device)
        s = q @ k.mT / 8**0.5 + self.bias[(i[:, None] - i).clamp(0, 8)].permute(2, 0, 1)
        return self.o(merge(s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": KwLazyBias, "d_in": 16, "context_length": 9, "options": {"positions": "relative"}})


class KwUnsavedFeatures(nn.Module):
    """wrong: Performer's random projection is a buffer that isn't persistent: each instance that loads the weights computes something else."""

    def __init__(self):
        super().__init__()
        self.heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.register_buffer("omega", torch.randn(8, 16), persistent=False)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        q, k = (F.softplus(a @ self.omega / 8**0.5) for a in (q, k))
        kv = torch.cumsum(einsum("bhtm,bhtd->bhtmd", k, v), 2)
        y = einsum("bhtm,bhtmd->bhtd", q, kv) / einsum("bhtm,bhtm->bht", q, k.cumsum(2))[..., None].clamp(min=1e-6)
        return self.o(merge(y))


LAYERS.append({"layer": KwUnsavedFeatures, "d_in": 16, "context_length": 8, "options": {}})


class KwReluScores(nn.Module):
    """wrong: a relu from an experiment with ReLU attention was left on the scores before softmax: what is below 0 weighs as 0 and gets no gradient."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = F.relu(q @ k.mT / 6**0.5)
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwReluScores, "d_in": 18, "context_length": 8, "options": {}})

# ---------------------------------------------------------------- wrong: dropout and modes


class KwAlwaysDrop(nn.Module):
    """wrong: dropout_p goes into SDPA without a look at self.training: eval mode drops, too."""

    def __init__(self):
        super().__init__()
        self.n_head, self.dropout = 4, 0.1
        self.c_attn, self.c_proj = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.c_attn(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout)
        return self.c_proj(merge(y))


LAYERS.append({"layer": KwAlwaysDrop, "d_in": 24, "context_length": 8, "options": {"dropout": 0.1}})


class KwSharedDrop(nn.Module):
    """wrong: one dropout mask (T, T) is broadcast over batch and heads: weights aren't dropped independently."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.p = 3, 0.2
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT / 6**0.5).masked_fill(future(t, device=x.device), float("-inf")).softmax(-1)
        if self.training:
            keep = (torch.rand(t, t, device=x.device) >= self.p).to(w.dtype)
            w = w * keep / (1 - self.p)
        return self.o(merge(w @ v))


LAYERS.append({"layer": KwSharedDrop, "d_in": 18, "context_length": 8, "options": {"dropout": 0.2}})


class KwDropScores(nn.Module):
    """wrong: dropout comes before the softmax, where a dropped score becomes 0 and not a dropped weight."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o, self.drop = nn.Linear(24, 72), nn.Linear(24, 24), nn.Dropout(0.2)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        s = self.drop(q @ k.mT / 6**0.5)
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwDropScores, "d_in": 24, "context_length": 8, "options": {"dropout": 0.2}})


class KwUnscaledDrop(nn.Module):
    """wrong: dropout by hand without the factor 1 / (1 - p): train mode gives smaller contexts than eval mode."""

    def __init__(self):
        super().__init__()
        self.heads, self.rate = 2, 0.25
        self.to_qkv, self.to_out = nn.Linear(16, 48, bias=False), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.to_qkv(x).chunk(3, -1))
        attn = (q @ k.mT * 8**-0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf")).softmax(-1)
        if self.training:
            attn = attn.masked_fill(torch.rand_like(attn) < self.rate, 0.0)
        return self.to_out(merge(attn @ v))


LAYERS.append({"layer": KwUnscaledDrop, "d_in": 16, "context_length": 8, "options": {"dropout": 0.25}})


class KwRenormDrop(nn.Module):
    """wrong: after dropout the rows are divided by their sum again: the expectation is no longer that of eval mode."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(18, 18) for _ in range(4))
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        q, k, v = (split(f(x), 3) for f in (self.q, self.k, self.v))
        w = (q @ k.mT / 6**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf")).softmax(-1)
        w = self.drop(w)
        return self.o(merge(w / w.sum(-1, keepdim=True).clamp(min=1e-6) @ v))


LAYERS.append({"layer": KwRenormDrop, "d_in": 18, "context_length": 8, "options": {"dropout": 0.2}})


class KwFreshDropout(nn.Module):
    """wrong: nn.Dropout(0.1) is made inside forward, where it is always in train mode."""

    def __init__(self):
        super().__init__()
        self.num_attention_heads = 3
        self.query, self.key, self.value = (nn.Linear(18, 18) for _ in range(3))

    def forward(self, x):
        q, k, v = (split(f(x), 3) for f in (self.query, self.key, self.value))
        p = nn.Softmax(dim=-1)(q @ k.transpose(-1, -2) / math.sqrt(6))
        return merge(nn.Dropout(0.1)(p) @ v)


LAYERS.append(
    {"layer": KwFreshDropout, "d_in": 18, "context_length": 8, "options": {"causal": False, "dropout": 0.1}}
)


class KwKeepProb(nn.Module):
    """wrong: ported from TensorFlow 1: keep_prob 0.9 goes into nn.Dropout, which drops nine tenths."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.drop = nn.Dropout(0.9)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT / math.sqrt(6)).softmax(-1)
        return self.out(merge(self.drop(w) @ v))


LAYERS.append({"layer": KwKeepProb, "d_in": 24, "context_length": 8, "options": {"causal": False, "dropout": 0.1}})


class KwSeededDrop(nn.Module):
    """wrong: the generator for dropout is seeded anew in each call, so that the same weights are dropped in every step."""

    def __init__(self):
        super().__init__()
        self.n_head = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT / 8**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf")).softmax(-1)
        if self.training:
            gen = torch.Generator().manual_seed(1234)
            keep = torch.rand(w.shape, generator=gen) > 0.2
            w = w * keep.to(w.device, w.dtype) / 0.8
        return self.o(merge(w @ v))


LAYERS.append({"layer": KwSeededDrop, "d_in": 16, "context_length": 8, "options": {"dropout": 0.2}})


class KwDropColumns(nn.Module):
    """wrong: dropout1d on weights with heads folded into the batch: whole rows of weights go at once."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)
        self.attn_drop = nn.Dropout1d(0.2)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 3).flatten(0, 1) for a in self.qkv(x).chunk(3, -1))
        w = torch.bmm(q, k.mT) / 6**0.5
        w = self.attn_drop(w.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1))
        return self.o(merge(torch.bmm(w, v).view(b, 3, t, 6)))


LAYERS.append({"layer": KwDropColumns, "d_in": 18, "context_length": 8, "options": {"dropout": 0.2}})


class KwTwiceDrop(nn.Module):
    """wrong: weights pass the same dropout twice, so that nearly twice as many are dropped as the owner says."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.proj = nn.Linear(24, 72), nn.Linear(24, 24)
        self.attn_drop = nn.Dropout(0.1)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, 4, 6).permute(2, 0, 3, 1, 4).unbind(0)
        attn = self.attn_drop((q @ k.transpose(-2, -1) * 6**-0.5).softmax(dim=-1))
        x = self.attn_drop(attn) @ v
        return self.proj(x.transpose(1, 2).reshape(B, N, C))


LAYERS.append({"layer": KwTwiceDrop, "d_in": 24, "context_length": 8, "options": {"causal": False, "dropout": 0.1}})


class KwTrainMaskOnly(nn.Module):
    """wrong: the causal mask is put on only in train mode, as 'generation has no future'."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=self.training)))


LAYERS.append({"layer": KwTrainMaskOnly, "d_in": 16, "context_length": 8, "options": {}})


class KwTrainScale(nn.Module):
    """wrong: the eval path is fused and scaled, the train path with dropout forgets the scale."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o, self.drop = nn.Linear(24, 72), nn.Linear(24, 24), nn.Dropout(0.1)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        if not self.training:
            return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
        w = (q @ k.mT).masked_fill(future(x.shape[1], device=x.device), float("-inf")).softmax(-1)
        return self.o(merge(self.drop(w) @ v))


LAYERS.append({"layer": KwTrainScale, "d_in": 24, "context_length": 8, "options": {"dropout": 0.1}})


class KwEvalInside(nn.Module):
    """wrong: a method that computes weights to show puts the dropout in eval mode and leaves it there."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o, self.drop = nn.Linear(16, 48), nn.Linear(16, 16), nn.Dropout(0.3)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT / 8**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf")).softmax(-1)
        y = self.o(merge(self.drop(w) @ v))
        self.drop.eval()
        return y, self.drop(w)


LAYERS.append({"layer": KwEvalInside, "d_in": 16, "context_length": 8, "options": {"dropout": 0.3}})


class KwBatchNorm(nn.Module):
    """wrong: queries and keys are normalised by BatchNorm over batch and tokens, which in train mode mixes both."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)
        self.bn = nn.BatchNorm1d(48)

    def forward(self, x):
        qk, v = self.qkv(x).split([48, 24], -1)
        q, k = self.bn(qk.transpose(1, 2)).transpose(1, 2).chunk(2, -1)
        q, k, v = (split(a, 4) for a in (q, k, v))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwBatchNorm, "d_in": 24, "context_length": 8, "options": {}})


class KwRunningMax(nn.Module):
    """wrong: a running maximum of the scores, for a fixed-point softmax, is kept from call to call and divides the next call's scores."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)
        self.register_buffer("seen", torch.tensor(1.0), persistent=False)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 6**0.5
        s = s / self.seen.to(s.dtype)
        self.seen = torch.maximum(self.seen, s.detach().abs().amax().to(self.seen.dtype))
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwRunningMax, "d_in": 18, "context_length": 8, "options": {}})

# ---------------------------------------------------------------- wrong: dtypes and rounding


class KwHalfScores(nn.Module):
    """wrong: queries and keys are rounded to bfloat16 for the product in every dtype, float64 as well."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        s = (q.bfloat16() @ k.bfloat16().mT).to(q.dtype) / 6**0.5
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwHalfScores, "d_in": 24, "context_length": 8, "options": {}})


class KwFloatSoftmax(nn.Module):
    """wrong: softmax and the sum of values are taken in float32 and never cast back: 16-bit tokens become float32."""

    def __init__(self):
        super().__init__()
        self.n_heads = 3
        self.wq, self.wk, self.wv = (nn.Linear(24, 24, bias=False) for _ in range(3))

    def forward(self, x):
        q, k, v = (split(f(x), 3) for f in (self.wq, self.wk, self.wv))
        s = q @ k.transpose(2, 3) / math.sqrt(8)
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        p = F.softmax(s, dim=-1, dtype=torch.promote_types(s.dtype, torch.float32))
        return merge(torch.matmul(p, v.to(p.dtype)))


LAYERS.append({"layer": KwFloatSoftmax, "d_in": 24, "context_length": 8, "options": {}})


class KwPromotedSine(nn.Module):
    """wrong: sinusoids made in float32 turn the residual of 16-bit tokens into float32, and so the result."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        pos = torch.arange(x.shape[1], device=x.device).float()[:, None]
        a = pos * torch.exp(torch.arange(0, 16, 2, device=x.device) * (-math.log(10000.0) / 16))
        x = x + torch.stack((a.sin(), a.cos()), -1).flatten(1)
        q, k, v = (split(u, 2) for u in self.qkv(x.to(self.qkv.weight.dtype)).chunk(3, -1))
        return x + self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwPromotedSine, "d_in": 16, "context_length": 9, "options": {"positions": True}})


class KwFloatOut(nn.Module):
    """wrong: an RMSNorm at the end computes in float32 and returns float32 whatever came in."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.g = nn.Linear(24, 72, bias=False), nn.Parameter(torch.ones(24))

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        y = merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)).float()
        return y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6) * self.g.float()


LAYERS.append({"layer": KwFloatOut, "d_in": 24, "context_length": 8, "options": {}})


class KwAutocastLeft(nn.Module):
    """wrong: an autocast to bfloat16 was left around forward: float32 tokens come out rounded, as bfloat16."""

    def __init__(self):
        super().__init__()
        self.num_attention_heads = 3
        self.qkv, self.dense = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        with torch.autocast("cpu" if x.device.type == "meta" else x.device.type, torch.bfloat16):
            q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.dense(merge(y))


LAYERS.append({"layer": KwAutocastLeft, "d_in": 18, "context_length": 8, "options": {}})


class KwTenThousand(nn.Module):
    """wrong: GPT-2's old mask of -10000 is added to the scores: large scores outweigh it."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.c_attn, self.c_proj = KConv1D(72, 24), KConv1D(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.c_attn(x).chunk(3, -1))
        w = q @ k.mT / 6**0.5
        b = torch.ones(x.shape[1], x.shape[1], dtype=w.dtype, device=w.device).tril()
        w = w * b - 1e4 * (1 - b)
        return self.c_proj(merge(w.softmax(-1) @ v))


LAYERS.append({"layer": KwTenThousand, "d_in": 24, "context_length": 8, "options": {}})


class KwTinyMask(nn.Module):
    """wrong: a typo in the mask's number: -1e-9 in place of -1e9."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.qkv, self.fc = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(6)
        mask = torch.tril(torch.ones(x.shape[1], x.shape[1], device=x.device))
        scores = scores.masked_fill(mask == 0, -1e-9)
        return self.fc(merge(F.softmax(scores, dim=-1) @ v))


LAYERS.append({"layer": KwTinyMask, "d_in": 24, "context_length": 8, "options": {}})


class KwNaiveExp(nn.Module):
    """wrong: NumPy's softmax without the maximum taken off: large scores overflow to inf / inf."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Parameter(torch.randn(18, 18) / 18**0.5) for _ in range(4))

    def forward(self, X):
        Q, K, V = (split(X @ W, 3) for W in (self.Wq, self.Wk, self.Wv))
        E = torch.exp(Q @ K.mT / 6**0.5).tril()
        return merge(E / E.sum(-1, keepdim=True) @ V) @ self.Wo


LAYERS.append({"layer": KwNaiveExp, "d_in": 18, "context_length": 8, "options": {}})


class KwRowMaxBefore(nn.Module):
    """wrong: softmax by hand takes the row's maximum before the mask: with a large score in the future all others underflow to 0 / 0."""

    def __init__(self):
        super().__init__()
        self.n_head = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 6**0.5
        e = torch.exp(s - s.max(-1, keepdim=True).values).tril()
        return self.o(merge(e / e.sum(-1, keepdim=True) @ v))


LAYERS.append({"layer": KwRowMaxBefore, "d_in": 18, "context_length": 8, "options": {}})


class KwGlobalMax(nn.Module):
    """wrong: softmax by hand takes off the maximum of the whole batch: one loud sequence makes 0 / 0 of a quiet one."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        q, k, v = (split(f(x), 2) for f in (self.q, self.k, self.v))
        s = (q @ k.mT / 8**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        e = torch.exp(s - s.max())
        return self.o(merge(e / e.sum(-1, keepdim=True) @ v))


LAYERS.append({"layer": KwGlobalMax, "d_in": 16, "context_length": 8, "options": {}})


class KwBigEps(nn.Module):
    """wrong: an epsilon of 1e-2 stands in softmax's denominator after the maximum is taken off, so rows sum to less than 1."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        e = torch.exp(s - s.amax(-1, keepdim=True))
        return self.o(merge(e / (e.sum(-1, keepdim=True) + 1e-2) @ v))


LAYERS.append({"layer": KwBigEps, "d_in": 18, "context_length": 8, "options": {}})


class KwQuietOne(nn.Module):
    """wrong: softmax plus one takes the row's maximum off, but adds 1 and not exp(-m): the sink's share follows the largest score, a later token's too."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54, bias=False), nn.Linear(18, 18, bias=False)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / math.sqrt(6)
        e = (s - s.amax(-1, keepdim=True)).exp().tril()
        return self.o(merge(e / (1 + e.sum(-1, keepdim=True)) @ v))


LAYERS.append({"layer": KwQuietOne, "d_in": 18, "context_length": 8, "options": {}})


class KwOnlineNoRescale(nn.Module):
    """wrong: FlashAttention for teaching that doesn't rescale the accumulated values when a block brings a new maximum, only the sum."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        acc, z = torch.zeros_like(q), torch.zeros_like(q[..., :1])
        m = torch.full_like(z, torch.finfo(x.dtype).min / 2)
        i = torch.arange(t, device=x.device)[:, None]
        for a in range(0, t, 4):
            kb, vb = k[:, :, a : a + 4], v[:, :, a : a + 4]
            j = torch.arange(a, a + kb.shape[2], device=x.device)
            s = (q @ kb.mT / 6**0.5).masked_fill(j > i, float("-inf"))
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p = (s - new).exp()
            z = z * (m - new).exp() + p.sum(-1, keepdim=True)
            acc = acc + p @ vb
            m = new
        return self.o(merge(acc / z))


LAYERS.append({"layer": KwOnlineNoRescale, "d_in": 18, "context_length": 10, "options": {}})


class KwLastBlock(nn.Module):
    """wrong: attention in blocks of 4 queries whose loop runs T // 4 times: the last tokens of other lengths stay 0."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        hide = future(t, device=x.device)
        y = torch.zeros_like(q)
        for n in range(t // 4):
            rows = slice(4 * n, 4 * n + 4)
            s = (q[:, :, rows] @ k.mT / 8**0.5).masked_fill(hide[rows], float("-inf"))
            y[:, :, rows] = s.softmax(-1) @ v
        return self.o(merge(y))


LAYERS.append({"layer": KwLastBlock, "d_in": 16, "context_length": 10, "options": {}})

# ---------------------------------------------------------------- wrong: norms and broadcasting


class KwNormalizeAxis(nn.Module):
    """wrong: cosine attention with F.normalize(q) and its default dim=1, here the heads, not the features."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        q, k = F.normalize(q), F.normalize(k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=8.0)
        return self.o(merge(y))


LAYERS.append({"layer": KwNormalizeAxis, "d_in": 24, "context_length": 8, "options": {"scale": 8.0}})


class KwNormalizeTokens(nn.Module):
    """wrong: keys (B, T, d) go through F.normalize with its default dim=1, over all tokens, before heads are split."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(18, 18) for _ in range(4))

    def forward(self, x):
        q, k, v = self.q(x), F.normalize(self.k(x)), self.v(x)
        q, k, v = (split(a, 3) for a in (q, k, v))
        s = (q @ k.mT / 6**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwNormalizeTokens, "d_in": 18, "context_length": 8, "options": {}})


class KwRmsAll(nn.Module):
    """wrong: an RMSNorm of one's own whose mean has no dim: it runs over the batch and all tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.g = nn.Parameter(torch.ones(24))
        self.qkv, self.o = nn.Linear(24, 72, bias=False), nn.Linear(24, 24, bias=False)

    def forward(self, x):
        y = x * torch.rsqrt(x.pow(2).mean() + 1e-6) * self.g
        q, k, v = (split(a, 4) for a in self.qkv(y).chunk(3, -1))
        return x + self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwRmsAll, "d_in": 24, "context_length": 8, "options": {}})


class KwGroupNormTime(nn.Module):
    """wrong: retention's GroupNorm gets (B, d, T) and so takes its statistics over all tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24, bias=False) for _ in range(4))
        self.gn = nn.GroupNorm(3, 24, affine=False)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(f(x), 3) for f in (self.q, self.k, self.v))
        i = torch.arange(t, device=x.device)
        gamma = 1 - 2.0 ** (-2 - torch.arange(3.0, device=x.device))
        D = (gamma[:, None, None] ** (i[:, None] - i).clamp(min=0)).to(x.dtype).tril()
        y = merge((q @ k.mT * 8**-0.5 * D) @ v)
        return self.o(self.gn(y.transpose(1, 2)).transpose(1, 2))


LAYERS.append(
    {"layer": KwGroupNormTime, "d_in": 24, "context_length": 8, "options": {"softmax": False, "positions": True}}
)


class KwLayerNormShape(nn.Module):
    """wrong: F.layer_norm(x, x.shape[1:]) normalises tokens and features together."""

    def __init__(self):
        super().__init__()
        self.n_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        y = F.layer_norm(x, x.shape[1:])
        q, k, v = (split(a, 2) for a in self.qkv(y).chunk(3, -1))
        return x + self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwLayerNormShape, "d_in": 16, "context_length": 8, "options": {}})


class KwHalfPreNorm(nn.Module):
    """wrong: a pre-norm block whose values come from x, while queries and keys come from norm(x)."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.ln = nn.LayerNorm(24)
        self.qk, self.v, self.o = nn.Linear(24, 48), nn.Linear(24, 24), nn.Linear(24, 24)

    def forward(self, x):
        q, k = self.qk(self.ln(x)).chunk(2, -1)
        q, k, v = (split(a, 4) for a in (q, k, self.v(x)))
        return x + self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwHalfPreNorm, "d_in": 24, "context_length": 8, "options": {}})


class KwNormDimOne(nn.Module):
    """wrong: QK-norm over dims 1 and 3 of (B, T, H, D), where dim 1 is taken for the heads and is the tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (a.view(b, t, 4, 6) for a in self.qkv(x).chunk(3, -1))
        norm = lambda a: a * torch.rsqrt(a.pow(2).mean((1, -1), keepdim=True) + 1e-6)
        q, k, v = (a.transpose(1, 2) for a in (norm(q), norm(k), v))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwNormDimOne, "d_in": 24, "context_length": 8, "options": {}})


class KwSlopesInterleaved(nn.Module):
    """wrong: ALiBi's slopes for heads folded into the batch are made by repeat_interleave(B) where the layout asks for repeat(B)."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("slopes", slopes_of(4), persistent=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 4).reshape(b * 4, t, 6) for a in self.qkv(x).chunk(3, -1))
        i = torch.arange(t, device=x.device)
        dist = (i[None] - i[:, None]).to(x.dtype)
        alibi = self.slopes.to(x.dtype).repeat_interleave(b)[:, None, None] * dist
        s = torch.bmm(q, k.mT) / 6**0.5 + alibi
        p = s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1)
        return self.o(merge(torch.bmm(p, v).view(b, 4, t, 6)))


LAYERS.append({"layer": KwSlopesInterleaved, "d_in": 24, "context_length": 9, "options": {"positions": "alibi"}})


class KwPaddingRepeat(nn.Module):
    """wrong: the padding mask for heads folded into the batch is made by repeat(h, 1) where the layout asks for repeat_interleave: sequences get each other's padding."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, mask=None):
        b, t, _ = x.shape
        q, k, v = (split(a, 4).reshape(b * 4, t, 6) for a in self.qkv(x).chunk(3, -1))
        s = torch.bmm(q, k.mT) / 6**0.5
        if mask is not None:
            s = s.masked_fill(~mask.repeat(4, 1)[:, None], torch.finfo(s.dtype).min)
        return self.o(merge(torch.bmm(s.softmax(-1), v).view(b, 4, t, 6)))


LAYERS.append(
    {"layer": KwPaddingRepeat, "d_in": 24, "context_length": 8, "options": {"causal": False, "padding": pad_mask}}
)


class KwPaddingRows(nn.Module):
    """wrong: the padding mask is broadcast over queries, real[:, None, :, None], where it should hide keys."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x, real=None):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 6**0.5
        if real is not None:
            s = s.masked_fill(~real[:, None, :, None], torch.finfo(s.dtype).min)
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append(
    {"layer": KwPaddingRows, "d_in": 18, "context_length": 8, "options": {"causal": False, "padding": pad_real}}
)


class KwPaddingPolarity(nn.Module):
    """wrong: nn.MultiheadAttention's key_padding_mask gets True at real tokens, where it wants True at padding."""

    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(16, 4, batch_first=True)
        self.num_heads = 4

    def forward(self, x, real=None):
        return self.mha(x, x, x, key_padding_mask=real, need_weights=False)[0]


LAYERS.append(
    {"layer": KwPaddingPolarity, "d_in": 16, "context_length": 8, "options": {"causal": False, "padding": pad_real}}
)


class KwPaddingNaN(nn.Module):
    """wrong: -inf for future and for padding together: a query left of all real tokens sees nothing, and its NaN spreads by 0 * NaN in the second sublayer."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.a = nn.ModuleList(nn.Linear(16, 48) for _ in range(2))
        self.o = nn.ModuleList(nn.Linear(16, 16) for _ in range(2))

    def forward(self, x, real=None):
        hide = future(x.shape[1], device=x.device)[None, None]
        if real is not None:
            hide = hide | ~real[:, None, None]
        for a, o in zip(self.a, self.o):
            q, k, v = (split(u, 2) for u in a(x).chunk(3, -1))
            s = (q @ k.mT / 8**0.5).masked_fill(hide, float("-inf"))
            x = x + o(merge(s.softmax(-1) @ v))
        return x


LAYERS.append({"layer": KwPaddingNaN, "d_in": 16, "context_length": 8, "options": {"positions": True, "padding": pad_real}})


class KwPaddingAfter(nn.Module):
    """wrong: padding's weights are set to 0 after softmax and never renormalised: real positions change with the padding's scores."""

    def __init__(self):
        super().__init__()
        self.heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x, mask=None):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        w = s.softmax(-1)
        if mask is not None:
            w = w * mask[:, None, None, :].to(w.dtype)
        return self.o(merge(w @ v))


LAYERS.append({"layer": KwPaddingAfter, "d_in": 18, "context_length": 8, "options": {"padding": pad_mask}})


class KwPosPerBatch(nn.Module):
    """wrong: the tutorial's PositionalEncoding for (T, B, d) is used with batch_first: each sequence, not each token, gets a position."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        pos = torch.arange(64.0)[:, None]
        div = torch.exp(torch.arange(0, 16, 2) * (-math.log(10000.0) / 16))
        pe = torch.zeros(64, 1, 16)
        pe[:, 0, 0::2], pe[:, 0, 1::2] = torch.sin(pos * div), torch.cos(pos * div)
        self.register_buffer("pe", pe)
        self.attn = nn.MultiheadAttention(16, 2, batch_first=True)

    def forward(self, x):
        x = x + self.pe[: x.size(0)]
        hide = future(x.size(1), device=x.device)
        return self.attn(x, x, x, attn_mask=hide, need_weights=False)[0]


LAYERS.append({"layer": KwPosPerBatch, "d_in": 16, "context_length": 9, "options": {"positions": True}})


class KwGateMean(nn.Module):
    """wrong: a gate per head is made from the mean of all tokens in a causal layer (x.mean(1)), as for a squeeze-and-excite."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.gate, self.o = nn.Linear(24, 72), nn.Linear(24, 4), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(merge(y * self.gate(x.mean(1)).sigmoid()[:, :, None, None]))


LAYERS.append({"layer": KwGateMean, "d_in": 24, "context_length": 8, "options": {}})


class KwGateView(nn.Module):
    """wrong: gates (B, T, H) become (B, H, T, 1) by view, where a transpose is meant: tokens get the gates of others."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.gate, self.o = nn.Linear(16, 48), nn.Linear(16, 4), nn.Linear(16, 16)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(merge(y * self.gate(x).sigmoid().view(b, 4, t, 1)))


LAYERS.append({"layer": KwGateView, "d_in": 16, "context_length": 8, "options": {}})

# ---------------------------------------------------------------- wrong: scale, softmax, mask


class KwPrecedence(nn.Module):
    """wrong: D ** 1 / 2 is D / 2 and not the root of D."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / (8**1 / 2)
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwPrecedence, "d_in": 24, "context_length": 8, "options": {}})


class KwScaledTwice(nn.Module):
    """wrong: queries are scaled as in timm and then SDPA scales them once more."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.scale = 6**-0.5
        self.qkv, self.proj = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, 4, 6).permute(2, 0, 3, 1, 4).unbind(0)
        x = F.scaled_dot_product_attention(q * self.scale, k, v)
        return self.proj(x.transpose(1, 2).reshape(B, N, C))


LAYERS.append({"layer": KwScaledTwice, "d_in": 24, "context_length": 8, "options": {"causal": False}})


class KwMLAScale(nn.Module):
    """wrong: latent attention with a rotary part that divides by the root of the other part's width alone."""

    def __init__(self):
        super().__init__()
        self.n_heads = 3
        self.wq, self.down = nn.Linear(24, 30, bias=False), nn.Linear(24, 16, bias=False)
        self.up, self.wo = nn.Linear(12, 36, bias=False), nn.Linear(18, 24, bias=False)

    def forward(self, x):
        qn, qr = split(self.wq(x), 3).split([6, 4], -1)
        c, kr = self.down(x).split([12, 4], -1)
        kn, v = split(self.up(c), 3).chunk(2, -1)
        s = qn @ kn.mT + rope(qr) @ rope(kr[:, None]).mT
        s = s / math.sqrt(6)
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.wo(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwMLAScale, "d_in": 24, "context_length": 9, "options": {"positions": "rotary", "scale": 10**-0.5}})


class KwBiasUnscaled(nn.Module):
    """wrong: by a missing bracket only Shaw's relative scores are divided by the root of D, and q @ k is not."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.rel = nn.Embedding(5, 8)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(f(x), 2) for f in (self.q, self.k, self.v))
        i = torch.arange(t, device=x.device)
        r = self.rel((i[:, None] - i).clamp(0, 4))
        s = q @ k.mT + einsum("bhid,ijd->bhij", q, r) / math.sqrt(8)
        return self.o(merge(s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": KwBiasUnscaled, "d_in": 16, "context_length": 9, "options": {"positions": "relative"}})


class KwSoftcapAfterMask(nn.Module):
    """wrong: Gemma's soft cap of 15 comes after the mask: -inf becomes -15, and the future keeps a little weight."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72, bias=False), nn.Linear(24, 24, bias=False)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT * 6**-0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        s = 15.0 * torch.tanh(s / 15.0)
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwSoftcapAfterMask, "d_in": 24, "context_length": 8, "options": {}})


class KwSoftcapHalf(nn.Module):
    """wrong: the soft cap forgets to multiply by the cap again: scores lie between -1 and 1."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.k, self.v, self.o = nn.Linear(24, 24), nn.Linear(24, 12), nn.Linear(24, 12), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = split(self.q(x), 4), split(self.k(x), 2), split(self.v(x), 2)
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        s = torch.tanh(q @ k.mT * 6**-0.5 / 30.0)
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwSoftcapHalf, "d_in": 24, "context_length": 8, "options": {"num_kv_heads": 2}})


class KwImplicitDim(nn.Module):
    """wrong: nn.Softmax() without dim takes dim 1 of (B, H, T, T): weights sum to 1 over heads."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o, self.softmax = nn.Linear(18, 54), nn.Linear(18, 18), nn.Softmax(dim=None)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        return self.o(merge(self.softmax(q @ k.mT / 6**0.5) @ v))


LAYERS.append({"layer": KwImplicitDim, "d_in": 18, "context_length": 8, "options": {"causal": False}})


class KwBqhkAxis(nn.Module):
    """wrong: scores come as bqhk from an einsum, and softmax takes dim 1, the queries, where the keys are last."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (a.view(b, t, 2, 8) for a in self.qkv(x).chunk(3, -1))
        s = einsum("bqhd,bkhd->bqhk", q, k) / 8**0.5
        w = s.masked_fill(future(t, device=x.device)[:, None], float("-inf")).softmax(dim=1)
        return self.o(einsum("bqhk,bkhd->bqhd", w, v).reshape(b, t, 16))


LAYERS.append({"layer": KwBqhkAxis, "d_in": 16, "context_length": 8, "options": {}})


class KwSumSeparately(nn.Module):
    """wrong: an einsum letter is off, 'bhqk,bhvd->bhqd': weights and values are summed apart, over all tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(6)
        w = s.masked_fill(future(x.shape[1], device=x.device), float("-inf")).softmax(-1)
        return self.o(merge(einsum("bhqk,bhvd->bhqd", w, v)))


LAYERS.append({"layer": KwSumSeparately, "d_in": 18, "context_length": 8, "options": {}})


class KwZeroScores(nn.Module):
    """wrong: scores are multiplied by the tril matrix: the future's scores are 0, not -inf."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        w = torch.tril(q @ k.mT / 6**0.5).softmax(-1)
        return self.o(merge(w @ v))


LAYERS.append({"layer": KwZeroScores, "d_in": 24, "context_length": 8, "options": {}})


class KwSdpaPolarity(nn.Module):
    """wrong: SDPA's boolean mask gets True where a key is hidden, with the diagonal left so that no row is empty."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        hide = torch.ones(t, t, dtype=torch.bool, device=x.device).triu(0)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=hide)))


LAYERS.append({"layer": KwSdpaPolarity, "d_in": 16, "context_length": 8, "options": {}})


class KwOneAhead(nn.Module):
    """wrong: triu(2) in place of triu(1): each position sees one token of the future."""

    def __init__(self):
        super().__init__()
        self.attn, self.num_heads = nn.MultiheadAttention(16, 2, batch_first=True), 2
        self.norm = nn.LayerNorm(16)

    def forward(self, x):
        hide = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(2)
        y = self.norm(x)
        return x + self.attn(y, y, y, attn_mask=hide, need_weights=False)[0]


LAYERS.append({"layer": KwOneAhead, "d_in": 16, "context_length": 8, "options": {}})


class KwTalkingLeak(nn.Module):
    """wrong: talking heads mix the scores after the mask, with -1e4 as mask: a row of mixing weights of sum near 0 or below lets the future in."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.to_qkv, self.to_out = nn.Linear(24, 72, bias=False), nn.Linear(24, 24)
        self.pre = nn.Parameter(torch.randn(4, 4) * 0.5)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.to_qkv(x).chunk(3, -1))
        s = (q @ k.mT * 6**-0.5).masked_fill(future(x.shape[1], device=x.device), -1e4)
        s = einsum("bhij,hg->bgij", s, self.pre)
        return self.to_out(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwTalkingLeak, "d_in": 24, "context_length": 8, "options": {"softmax": False}})


class KwTalkingBias(nn.Module):
    """wrong: talking heads mix the weights after softmax by a 1x1 convolution with a bias, which gives the future weight again."""

    def __init__(self):
        super().__init__()
        self.heads = 3
        self.qkv, self.o, self.mix = nn.Linear(18, 54), nn.Linear(18, 18), nn.Conv2d(3, 3, 1)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT * 6**-0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(self.mix(s.softmax(-1)) @ v))


LAYERS.append({"layer": KwTalkingBias, "d_in": 18, "context_length": 8, "options": {"softmax": False}})


class KwSigmoidZero(nn.Module):
    """wrong: sigmoid attention masked by 0 before the sigmoid, which gives each later token a weight of sigmoid(0 + bias)."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = torch.tril(q @ k.mT * 6**-0.5) - 2.0
        return self.o(merge(s.sigmoid() @ v))


LAYERS.append({"layer": KwSigmoidZero, "d_in": 18, "context_length": 8, "options": {"softmax": False}})


class KwReluLength(nn.Module):
    """wrong: ReLU attention in a causal layer divides by T and not by the number of tokens that a position sees."""

    def __init__(self):
        super().__init__()
        self.heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        w = F.relu(q @ k.mT * 8**-0.5).tril() / x.shape[1]
        return self.o(merge(w @ v))


LAYERS.append({"layer": KwReluLength, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class KwSinkColumn(nn.Module):
    """wrong: the sink is put last into the softmax, but the first column of the weights is dropped: all weights are one token off."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)
        self.sink = nn.Parameter(torch.zeros(4))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6**0.5).masked_fill(future(t, device=x.device), float("-inf"))
        s = torch.cat((s, self.sink[None, :, None, None].expand(b, 4, t, 1)), -1)
        return self.o(merge(s.softmax(-1)[..., 1:] @ v))


LAYERS.append({"layer": KwSinkColumn, "d_in": 24, "context_length": 8, "options": {}})


class KwMemoryTril(nn.Module):
    """wrong: two learned memory keys stand before the tokens, but the mask is tril of (T, T + 2) without an offset: positions miss the last two tokens and themselves."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.qkv, self.out = nn.Linear(24, 72), nn.Linear(24, 24)
        self.mk, self.mv = nn.Parameter(torch.randn(4, 2, 6)), nn.Parameter(torch.randn(4, 2, 6))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        k = torch.cat((self.mk.expand(b, -1, -1, -1), k), 2)
        v = torch.cat((self.mv.expand(b, -1, -1, -1), v), 2)
        ok = torch.ones(t, t + 2, dtype=torch.bool, device=x.device).tril()
        s = (q @ k.mT / 6**0.5).masked_fill(~ok, float("-inf"))
        return self.out(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwMemoryTril, "d_in": 24, "context_length": 8, "options": {}})


class KwDocsOr(nn.Module):
    """wrong: the mask of packed texts is joined to the causal one by | where it should be &."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.qkv, self.o = nn.Linear(32, 96, bias=False), nn.Linear(32, 32, bias=False)

    def forward(self, x, ids=None):
        t = x.shape[1]
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        ok = ~future(t, device=x.device)[None]
        if ids is not None:
            ok = ok | (ids[:, :, None] == ids[:, None, :])
        y = F.scaled_dot_product_attention(rope(q), rope(k), v, attn_mask=ok[:, None])
        return self.o(merge(y))


LAYERS.append(
    {"layer": KwDocsOr, "d_in": 32, "context_length": 9, "options": {"positions": "rotary", "documents": docs}}
)

# ---------------------------------------------------------------- wrong: positions


class KwRopeNoMinus(nn.Module):
    """wrong: rotate_half without its minus: the transform is no rotation."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.kv, self.o = nn.Linear(32, 32, bias=False), nn.Linear(32, 32, bias=False), nn.Linear(32, 32)

    def turn(self, x):
        d = x.shape[-1]
        inv = 10000.0 ** (-torch.arange(0, d, 2, device=x.device).float() / d)
        a = torch.arange(x.shape[-2], device=x.device).float()[:, None] * inv
        a = torch.cat((a, a), -1)
        x1, x2 = x.chunk(2, -1)
        return x * a.cos().to(x.dtype) + torch.cat((x2, x1), -1) * a.sin().to(x.dtype)

    def forward(self, x):
        k, v = self.kv(x).chunk(2, -1)
        q, k, v = split(self.q(x), 4), split(k, 2), split(v, 2)
        y = F.scaled_dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True, enable_gqa=True)
        return self.o(merge(y))


LAYERS.append(
    {"layer": KwRopeNoMinus, "d_in": 32, "context_length": 9, "options": {"num_kv_heads": 2, "positions": "rotary"}}
)


class KwRopeLayouts(nn.Module):
    """wrong: angles are laid out for neighbouring pairs (repeat_interleave), but rotate_half pairs features D / 2 apart."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def turn(self, x):
        d = x.shape[-1]
        inv = 10000.0 ** (-torch.arange(0, d, 2, device=x.device).float() / d)
        a = (torch.arange(x.shape[-2], device=x.device).float()[:, None] * inv).repeat_interleave(2, -1)
        return x * a.cos().to(x.dtype) + rotate_half(x) * a.sin().to(x.dtype)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True)))


LAYERS.append({"layer": KwRopeLayouts, "d_in": 16, "context_length": 9, "options": {"positions": "rotary"}})


class KwRopeOpposite(nn.Module):
    """wrong: with complex numbers, keys are multiplied by the conjugate angles: scores depend on the sum of positions."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(32, 32, bias=False) for _ in range(4))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(f(x), 4) for f in (self.wq, self.wk, self.wv))
        fr = 1.0 / 10000 ** (torch.arange(0, 8, 2, device=x.device).float() / 8)
        a = torch.outer(torch.arange(t, device=x.device).float(), fr)
        cis = torch.polar(torch.ones_like(a), a)
        wide = torch.promote_types(x.dtype, torch.float32)
        q, k = (torch.view_as_complex(a.to(wide).reshape(b, 4, t, 4, 2)) for a in (q, k))
        q, k = (torch.view_as_real(a).flatten(3).to(x.dtype) for a in (q * cis, k * cis.conj()))
        return self.wo(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwRopeOpposite, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class KwRopeByHead(nn.Module):
    """wrong: angles (n, D), with n from shape[-2], are made for (B, T, H, D), so that heads are rotated and tokens have no positions."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (a.view(b, t, 4, 8) for a in self.qkv(x).chunk(3, -1))
        q, k, v = (a.transpose(1, 2) for a in (rope(q), rope(k), v))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwRopeByHead, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class KwRopeValues(nn.Module):
    """wrong: the fused q, k, v are rotated together, values as well, and nothing turns the context back."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = rope(self.qkv(x).view(b, t, 6, 8).transpose(1, 2)).chunk(3, 1)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwRopeValues, "d_in": 16, "context_length": 9, "options": {"positions": "rotary"}})


class KwXPosSame(nn.Module):
    """wrong: xPos whose keys are multiplied by zeta^j as queries are, not divided: the product grows with both positions."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24, bias=False) for _ in range(4))

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(f(x), 3) for f in (self.q, self.k, self.v))
        z = (torch.arange(0, 8, 2, device=x.device).float() / 8 + 0.4) / 1.4
        z = z ** (torch.arange(t, device=x.device).float()[:, None] / 8)
        z = torch.cat((z, z), -1).to(x.dtype)
        return self.o(merge(F.scaled_dot_product_attention(rope(q) * z, rope(k) * z, v, is_causal=True)))


LAYERS.append({"layer": KwXPosSame, "d_in": 24, "context_length": 9, "options": {"positions": "rotary"}})


class KwAlibiSign(nn.Module):
    """wrong: ALiBi's distance has the wrong sign: far tokens are favoured."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        i = torch.arange(t, device=x.device)
        bias = slopes_of(4).to(x.device)[:, None, None] * (i[:, None] - i)
        s = q @ k.mT / 6**0.5 + bias.to(q.dtype)
        return self.o(merge(s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": KwAlibiSign, "d_in": 24, "context_length": 9, "options": {"positions": "alibi"}})


class KwAlibiFromZero(nn.Module):
    """wrong: ALiBi's slopes are 2^(-8 i / n) for i from 0, so that the first is 1 and all are one step off."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("m", 2.0 ** (-8.0 * torch.arange(4) / 4))

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        i = torch.arange(t, device=x.device)
        s = q @ k.mT / 6**0.5 - (self.m[:, None, None] * (i[:, None] - i)).to(q.dtype)
        return self.o(merge(s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": KwAlibiFromZero, "d_in": 24, "context_length": 9, "options": {"positions": "alibi"}})


class KwAlibiAbsCache(nn.Module):
    """wrong: ALiBi as -slope * |i - j| where i counts from 0 in each piece: with a cache the nearest tokens are far."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        t, n = q.shape[2], k.shape[2]
        dist = (torch.arange(t, device=x.device)[:, None] - torch.arange(n, device=x.device)).abs()
        s = q @ k.mT / 6**0.5 - (slopes_of(4).to(x.device)[:, None, None] * dist).to(q.dtype)
        s = s.masked_fill(future(t, n, x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append(
    {"layer": KwAlibiAbsCache, "d_in": 24, "context_length": 9, "options": {"positions": "alibi", "step": step_cache}}
)


class KwT5Sign(nn.Module):
    """wrong: T5's buckets get key - query, which the clamp at 0 turns into bucket 0 for the whole past."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24, bias=False) for _ in range(4))
        self.bias = nn.Embedding(8, 4)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(f(x), 4) for f in (self.q, self.k, self.v))
        i = torch.arange(t, device=x.device)
        s = q @ k.mT + self.bias(t5_bucket(i[None] - i[:, None])).permute(2, 0, 1)
        return self.o(merge(s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append(
    {"layer": KwT5Sign, "d_in": 24, "context_length": 9, "options": {"positions": "relative", "scale": 1.0}}
)


class KwNoRelShift(nn.Module):
    """wrong: Transformer-XL's relative shift is forgotten: all queries take the scores by distance of the last one."""

    def __init__(self):
        super().__init__()
        self.n_head = 2
        self.qkv, self.r, self.o = nn.Linear(16, 48), nn.Parameter(torch.randn(2, 9, 8) * 0.4), nn.Linear(16, 16)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        bd = einsum("bhid,hjd->bhij", q, self.r[:, :t].flip(1))
        s = (q @ k.mT + bd) / math.sqrt(8)
        return self.o(merge(s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": KwNoRelShift, "d_in": 16, "context_length": 9, "options": {"positions": "relative"}})


class KwRelSum(nn.Module):
    """wrong: a relative bias table for an encoder is indexed by i + j, where i - j + T - 1 is meant."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)
        self.relative_position_bias_table = nn.Parameter(torch.randn(2 * 8 - 1, 3) * 0.5)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        i = torch.arange(x.shape[1], device=x.device)
        idx = i[:, None] + i[None, :]
        s = q @ k.mT / 6**0.5 + self.relative_position_bias_table[idx].permute(2, 0, 1)
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append(
    {"layer": KwRelSum, "d_in": 18, "context_length": 8, "options": {"causal": False, "positions": "relative"}}
)


class KwFromTheEnd(nn.Module):
    """wrong: sinusoids are added to tokens with positions from T - 1 down to 0, as in Transformer-XL, where they are absolute: each depends on the length."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        t = x.shape[1]
        pos = torch.arange(t - 1, -1, -1, device=x.device).float()
        a = pos[:, None] / 10000 ** (torch.arange(0, 16, 2, device=x.device).float() / 16)
        x = x + torch.cat((a.sin(), a.cos()), -1).to(x.dtype)
        q, k, v = (split(u, 2) for u in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwFromTheEnd, "d_in": 16, "context_length": 9, "options": {"positions": True}})


class KwLogNTotal(nn.Module):
    """wrong: log-n scaling takes the length of the whole sequence for each position of a causal layer."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        q = q * (math.log(t + 1) / math.log(8))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append(
    {"layer": KwLogNTotal, "d_in": 24, "context_length": 9, "options": {"softmax": False}}
)

# ---------------------------------------------------------------- wrong: caches


class KwRopeRestart(nn.Module):
    """wrong: with a cache, new tokens are rotated from position 0 again."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.n_kv_heads = 4, 2
        self.wq, self.wk, self.wv, self.wo = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16), nn.Linear(32, 32)

    def forward(self, x, cache=None):
        q, k, v = rope(split(self.wq(x), 4)), rope(split(self.wk(x), 2)), split(self.wv(x), 2)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        ok = ~future(x.shape[1], k.shape[2], x.device)
        return self.wo(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok, enable_gqa=True))), (k, v)


LAYERS.append(
    {
        "layer": KwRopeRestart,
        "d_in": 32,
        "context_length": 9,
        "options": {"num_kv_heads": 2, "positions": "rotary", "step": step_cache},
    }
)


class KwRotatedTwice(nn.Module):
    """wrong: rotated keys are cached, and all keys are rotated again when new ones join them."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, cache=None):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        start = 0
        if cache is not None:
            start = cache["k"].shape[2]
            k, v = torch.cat((cache["k"], k), 2), torch.cat((cache["v"], v), 2)
        q, k = rope(q, start), rope(k)
        s = (q @ k.mT / 8**0.5).masked_fill(future(x.shape[1], k.shape[2], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), {"k": k, "v": v}


LAYERS.append(
    {"layer": KwRotatedTwice, "d_in": 16, "context_length": 9, "options": {"positions": "rotary", "step": step_cache}}
)


class KwMLARawKey(nn.Module):
    """wrong: latent attention caches the shared rotary key before its rotation and rotates only the new ones."""

    def __init__(self):
        super().__init__()
        self.n_heads = 3
        self.wq, self.down = nn.Linear(24, 30, bias=False), nn.Linear(24, 16, bias=False)
        self.up, self.wo = nn.Linear(12, 36, bias=False), nn.Linear(18, 24, bias=False)

    def forward(self, x, cache=None):
        start = 0 if cache is None else cache.shape[1]
        qn, qr = split(self.wq(x), 3).split([6, 4], -1)
        new = self.down(x)
        c, kr = new.split([12, 4], -1)
        kr = rope(kr[:, None], start)
        if cache is not None:
            c = torch.cat((cache[..., :12], c), 1)
            kr = torch.cat((cache[:, None, :, 12:], kr), 2)
            new = torch.cat((cache, new), 1)
        kn, v = split(self.up(c), 3).chunk(2, -1)
        q, k = torch.cat((qn, rope(qr, start)), -1), torch.cat((kn, kr.expand(-1, 3, -1, -1)), -1)
        s = (q @ k.mT / 10**0.5).masked_fill(future(x.shape[1], k.shape[2], x.device), float("-inf"))
        return self.wo(merge(s.softmax(-1) @ v)), new


LAYERS.append(
    {"layer": KwMLARawKey, "d_in": 24, "context_length": 9, "options": {"positions": "rotary", "step": step_cache}}
)


class KwIsCausalCache(nn.Module):
    """wrong: SDPA gets is_causal=True with a cache, which aligns the mask at the top left: a new token sees only the first key."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.c_attn, self.c_proj = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(a, 4) for a in self.c_attn(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(merge(y)), (k, v)


LAYERS.append({"layer": KwIsCausalCache, "d_in": 24, "context_length": 8, "options": {"step": step_cache}})


class KwNoMaskWithCache(nn.Module):
    """wrong: where there is a cache the mask is left out, as if a single token came: tokens of one piece see each other's future."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        causal = cache is None
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=causal))), (k, v)


LAYERS.append({"layer": KwNoMaskWithCache, "d_in": 24, "context_length": 9, "options": {"step": step_cache}})


class KwEvictTooMuch(nn.Module):
    """wrong: a cache for a window of 4 keeps two tokens in place of three."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x, cache=None):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        t, n = x.shape[1], k.shape[2]
        d = torch.arange(n - t, n, device=x.device)[:, None] - torch.arange(n, device=x.device)
        s = (q @ k.mT / 6**0.5).masked_fill((d < 0) | (d >= 4), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k[:, :, -2:], v[:, :, -2:])


LAYERS.append(
    {"layer": KwEvictTooMuch, "d_in": 18, "context_length": 10, "options": {"window": 4, "step": step_cache}}
)


class KwWindowUnbounded(nn.Module):
    """wrong: with a cache only the future is masked, not what lies behind the window of 4, and nothing is evicted."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x, cache=None):
        t = x.shape[1]
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        if cache is None:
            hide = future(t, device=x.device)
            hide = hide | torch.ones_like(hide).tril(-4)
        else:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
            hide = future(t, k.shape[2], x.device)
        s = (q @ k.mT / 6**0.5).masked_fill(hide, float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append(
    {"layer": KwWindowUnbounded, "d_in": 18, "context_length": 10, "options": {"window": 4, "step": step_cache}}
)


class KwCacheOnSelf(nn.Module):
    """wrong: keys and values are kept on the module, and the cache that is passed says only whether it is the first call: two sequences in turn mix."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.past = None

    def forward(self, x, cache=None):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((self.past[0], k), 2), torch.cat((self.past[1], v), 2)
        self.past = (k.detach(), v.detach())
        s = (q @ k.mT / 8**0.5).masked_fill(future(x.shape[1], k.shape[2], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), True


LAYERS.append({"layer": KwCacheOnSelf, "d_in": 16, "context_length": 8, "options": {"step": step_cache}})


class KwCacheRounded(nn.Module):
    """wrong: the cache is stored in bfloat16 in every dtype, so a sequence in pieces is rounded and in one pass not."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0].to(k.dtype), k), 2), torch.cat((cache[1].to(v.dtype), v), 2)
        ok = ~future(x.shape[1], k.shape[2], x.device)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=ok)
        return self.o(merge(y)), (k.bfloat16(), v.bfloat16())


LAYERS.append({"layer": KwCacheRounded, "d_in": 24, "context_length": 8, "options": {"step": step_cache}})


class KwCacheSwapped(nn.Module):
    """wrong: the cache is returned as (k, v) and read as (v, k)."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(18, 18) for _ in range(4))

    def forward(self, x, cache=None):
        q, k, v = (split(f(x), 3) for f in (self.q, self.k, self.v))
        if cache is not None:
            pv, pk = cache
            k, v = torch.cat((pk, k), 2), torch.cat((pv, v), 2)
        s = (q @ k.mT / 6**0.5).masked_fill(future(x.shape[1], k.shape[2], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append({"layer": KwCacheSwapped, "d_in": 18, "context_length": 8, "options": {"step": step_cache}})


def step_real(module, x, cache, real=None):
    return module(x, cache=cache, real=real)


class KwCachePadding(nn.Module):
    """wrong: with left padding and a cache only the new tokens' part of the mask is used: cached padding is seen again."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None, real=None):
        t = x.shape[1]
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        n = k.shape[2]
        hide = future(t, n, x.device)[None, None]
        if real is not None:
            new = F.pad(real[:, -t:], (n - t, 0), value=True)
            hide = hide | ~new[:, None, None]
        s = (q @ k.mT / 6**0.5).masked_fill(hide, torch.finfo(x.dtype).min)
        return self.o(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append(
    {
        "layer": KwCachePadding,
        "d_in": 24,
        "context_length": 8,
        "options": {"padding": pad_real, "step": step_real},
    }
)


class KwLearnedRestart(nn.Module):
    """wrong: learned positions start at 0 in each piece that joins the cache."""

    def __init__(self):
        super().__init__()
        self.n_head = 2
        self.wpe, self.qkv, self.o = nn.Embedding(9, 16), nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, cache=None):
        x = x + self.wpe(torch.arange(x.shape[1], device=x.device))
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        ok = ~future(x.shape[1], k.shape[2], x.device)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok))), (k, v)


LAYERS.append(
    {"layer": KwLearnedRestart, "d_in": 16, "context_length": 9, "options": {"positions": True, "step": step_cache}}
)


class KwCacheAppends(nn.Module):
    """wrong: the cache is a list that each step appends to in place: who goes on twice from one cache gets the other's tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, cache=None):
        cache = [] if cache is None else cache
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        cache.append((k, v))
        k, v = torch.cat([c[0] for c in cache], 2), torch.cat([c[1] for c in cache], 2)
        s = (q @ k.mT / 8**0.5).masked_fill(future(x.shape[1], k.shape[2], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), cache


LAYERS.append({"layer": KwCacheAppends, "d_in": 16, "context_length": 8, "options": {"step": step_cache}})


class KwConvNoHistory(nn.Module):
    """wrong: keys pass a causal convolution over three tokens, whose last two inputs aren't in the cache: each piece begins with zeros."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.conv = nn.Conv1d(16, 16, 3, groups=16)

    def forward(self, x, cache=None):
        q, k, v = self.qkv(x).chunk(3, -1)
        k = self.conv(F.pad(k.transpose(1, 2), (2, 0))).transpose(1, 2)
        q, k, v = (split(a, 2) for a in (q, k, v))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        ok = ~future(x.shape[1], k.shape[2], x.device)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok))), (k, v)


LAYERS.append(
    {"layer": KwConvNoHistory, "d_in": 16, "context_length": 9, "options": {"positions": True, "step": step_cache}}
)


class KwRetentionStep(nn.Module):
    """wrong: retention's recurrent step decays the new token, too: S = gamma * (S + k v)."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.register_buffer("gamma", torch.tensor([0.75, 0.9])[:, None, None])

    def forward(self, x):
        q, k, v = (split(f(x), 2) for f in (self.q, self.k, self.v))
        i = torch.arange(x.shape[1], device=x.device)
        D = (self.gamma ** (i[:, None] - i).clamp(min=0)).to(x.dtype).tril()
        return self.o(merge(q @ k.mT * 8**-0.5 * D @ v))

    def recurrent(self, x, S):
        q, k, v = (split(f(x), 2) for f in (self.q, self.k, self.v))
        S = x.new_zeros(x.shape[0], 2, 8, 8) if S is None else S
        ys = []
        for n in range(x.shape[1]):
            S = self.gamma.to(x.dtype) * (S + k[:, :, n, :, None] * v[:, :, n, None, :])
            ys.append((q[:, :, n, None] * 8**-0.5 @ S)[:, :, 0])
        return self.o(merge(torch.stack(ys, 2))), S


def step_recurrent(module, x, cache):
    return module.recurrent(x, cache)


LAYERS.append(
    {
        "layer": KwRetentionStep,
        "d_in": 16,
        "context_length": 8,
        "options": {"softmax": False, "positions": True, "step": step_recurrent},
    }
)

# ---------------------------------------------------------------- wrong: heads, groups, layouts


class KwGroupsRepeat(nn.Module):
    """wrong: grouped keys and values are repeated by repeat(1, r, 1, 1): neighbours don't share, and a checkpoint's groups are mixed up."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.n_kv_heads = 4, 2
        self.wq, self.wk, self.wv, self.wo = nn.Linear(24, 24), nn.Linear(24, 12), nn.Linear(24, 12), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = split(self.wq(x), 4), split(self.wk(x), 2), split(self.wv(x), 2)
        k, v = k.repeat(1, 2, 1, 1), v.repeat(1, 2, 1, 1)
        return self.wo(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwGroupsRepeat, "d_in": 24, "context_length": 8, "options": {"num_kv_heads": 2}})


class KwGroupsMixed(nn.Module):
    """wrong: keys are repeated with repeat_interleave and values with tile: half of the heads weigh values by another group's keys."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 6, 3
        self.q, self.k, self.v, self.o = nn.Linear(24, 36), nn.Linear(24, 18), nn.Linear(24, 18), nn.Linear(36, 24)

    def forward(self, x):
        q, k, v = split(self.q(x), 6), split(self.k(x), 3), split(self.v(x), 3)
        k, v = k.repeat_interleave(2, dim=1), torch.tile(v, (1, 2, 1, 1))
        s = (q @ k.mT / 6**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwGroupsMixed, "d_in": 24, "context_length": 8, "options": {"num_kv_heads": 3}})


class KwFirstGroup(nn.Module):
    """wrong: k[:, :1] broadcasts the first of two key heads to all queries; the second is never read."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.kv, self.o = nn.Linear(24, 24), nn.Linear(24, 24), nn.Linear(24, 24)

    def forward(self, x):
        b, t, _ = x.shape
        k, v = self.kv(x).view(b, t, 2, 2, 6).permute(2, 0, 3, 1, 4)
        q = split(self.q(x), 4)
        s = q @ k[:, :1].mT / 6**0.5
        s = s.masked_fill(future(t, device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v.repeat_interleave(2, 1)))


LAYERS.append({"layer": KwFirstGroup, "d_in": 24, "context_length": 8, "options": {"num_kv_heads": 2}})


class KwViewHeads(nn.Module):
    """wrong: heads are split by view(B, H, T, D) without a transpose: each head gets other tokens' features."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (f(x).view(b, 4, t, d // 4) for f in (self.q, self.k, self.v))
        s = (q @ k.transpose(-2, -1) / 2.0).masked_fill(future(t, device=x.device), float("-inf"))
        return self.o((s.softmax(-1) @ v).reshape(b, t, d))


LAYERS.append({"layer": KwViewHeads, "d_in": 16, "context_length": 8, "options": {}})


class KwMergeHeads(nn.Module):
    """wrong: heads are joined by reshape without transposing back first."""

    def __init__(self):
        super().__init__()
        self.h = self.num_heads = 3
        self.qkv, self.fc_out = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        w = torch.softmax(einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(6), dim=-1)
        return self.fc_out(einsum("bhqk,bhkd->bhqd", w, v).reshape(b, t, d))


LAYERS.append({"layer": KwMergeHeads, "d_in": 18, "context_length": 8, "options": {"causal": False}})


class KwBatchSecond(nn.Module):
    """wrong: nn.MultiheadAttention without batch_first gets (B, T, d): attention runs over the batch."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.attn, self.norm = nn.MultiheadAttention(24, 4), nn.LayerNorm(24)

    def forward(self, x):
        y, _ = self.attn(x, x, x)
        return self.norm(x + y)


LAYERS.append({"layer": KwBatchSecond, "d_in": 24, "context_length": 8, "options": {"causal": False}})


class KwBatchReshape(nn.Module):
    """wrong: heads are folded into the batch as (H, B) by torch.cat of chunks and unfolded as (B, H) by view: batch elements get each other's heads."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24) for _ in range(4))

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (torch.cat(f(x).split(6, dim=2), dim=0) for f in (self.q, self.k, self.v))
        s = (torch.bmm(q, k.mT) / 6**0.5).masked_fill(future(t, device=x.device), float("-inf"))
        y = torch.bmm(s.softmax(-1), v).view(b, 4, t, 6)
        return self.o(merge(y))


LAYERS.append({"layer": KwBatchReshape, "d_in": 24, "context_length": 8, "options": {}})


class KwSqueeze(nn.Module):
    """wrong: a squeeze() without dim at the end removes the batch or the tokens where there is one."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True))).squeeze()


LAYERS.append({"layer": KwSqueeze, "d_in": 16, "context_length": 8, "options": {}})


class KwInputAdded(nn.Module):
    """wrong: the residual is added in place, x += ..., so that the caller's tokens change."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.norm, self.qkv, self.o = nn.LayerNorm(24), nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(self.norm(x)).chunk(3, -1))
        y = self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))
        x += y
        return x


LAYERS.append({"layer": KwInputAdded, "d_in": 24, "context_length": 8, "options": {}})


class KwNarrowHeads(nn.Module):
    """wrong: tokens are split into heads before they are projected, so each head reads only its own features."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.values, self.keys, self.queries = (nn.Linear(6, 6, bias=False) for _ in range(3))
        self.fc_out = nn.Linear(24, 24)

    def forward(self, x):
        b, t, _ = x.shape
        y = x.reshape(b, t, 4, 6)
        q, k, v = self.queries(y), self.keys(y), self.values(y)
        e = einsum("nqhd,nkhd->nhqk", q, k) / 6**0.5
        e = e.masked_fill(future(t, device=x.device), float("-inf"))
        return self.fc_out(einsum("nhqk,nkhd->nqhd", e.softmax(-1), v).reshape(b, t, 24))


LAYERS.append({"layer": KwNarrowHeads, "d_in": 24, "context_length": 8, "options": {}})


class KwShownUnmasked(nn.Module):
    """wrong: SDPA gives no weights, so they are computed again to be returned, and the mask is forgotten there."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(merge(y)), (q @ k.transpose(-2, -1) / math.sqrt(6)).softmax(-1)


LAYERS.append({"layer": KwShownUnmasked, "d_in": 18, "context_length": 8, "options": {}})


class KwShownBeforeRope(nn.Module):
    """wrong: the weights that are returned are computed again from queries and keys before their rotation."""

    def __init__(self):
        super().__init__()
        self.n_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(rope(q), rope(k), v, is_causal=True)
        s = (q @ k.mT / 8**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(y)), s.softmax(-1)


LAYERS.append({"layer": KwShownBeforeRope, "d_in": 16, "context_length": 9, "options": {"positions": "rotary"}})


class KwRollShift(nn.Module):
    """wrong: a token shift by torch.roll(x, 1, dims=1): the first position gets the last token."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.mix = nn.Parameter(torch.rand(24))
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        y = x * self.mix + torch.roll(x, 1, dims=1) * (1 - self.mix)
        q, k, v = (split(a, 4) for a in self.qkv(y).chunk(3, -1))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwRollShift, "d_in": 24, "context_length": 8, "options": {"positions": True}})


class KwConvSame(nn.Module):
    """wrong: a short convolution on values with padding='same' in a causal layer looks one token ahead."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qk, self.o = nn.Linear(16, 32), nn.Linear(16, 16)
        self.v = nn.Conv1d(16, 16, 3, padding="same")

    def forward(self, x):
        q, k = (split(a, 2) for a in self.qk(x).chunk(2, -1))
        v = split(self.v(x.transpose(1, 2)).transpose(1, 2), 2)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwConvSame, "d_in": 16, "context_length": 8, "options": {"positions": True}})


class KwCausalEncoder(nn.Module):
    """wrong: an encoder's block copied from the decoder still has is_causal=True."""

    def __init__(self):
        super().__init__()
        self.nhead = 4
        self.norm, self.qkv, self.o = nn.LayerNorm(24), nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(self.norm(x)).chunk(3, -1))
        return x + self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwCausalEncoder, "d_in": 24, "context_length": 8, "options": {"causal": False}})


class KwOneTokenWay(nn.Module):
    """wrong: a short cut for one token returns its values without the output projection."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        if x.shape[1] == 1:
            return v
        q, k, v = (split(a, 3) for a in (q, k, v))
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwOneTokenWay, "d_in": 18, "context_length": 8, "options": {}})


class KwMaskKept(nn.Module):
    """wrong: the mask of the first call is kept and, for longer sequences, padded with False: later tokens are hidden from nobody."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.mask = None

    def forward(self, x):
        t = x.shape[1]
        if self.mask is None or self.mask.device != x.device:
            self.mask = future(t, device=x.device)
        n = self.mask.shape[0]
        hide = self.mask[:t, :t] if n >= t else F.pad(self.mask, (0, t - n, 0, t - n))
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 8**0.5).masked_fill(hide, float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwMaskKept, "d_in": 16, "context_length": 8, "options": {}})


class KwMaskSixteen(nn.Module):
    """wrong: the causal buffer is of 16 tokens, and what lies beyond is left unmasked."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("hide", torch.ones(16, 16, dtype=torch.bool).triu(1))

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 6**0.5
        head = s[:, :, :16, :16].masked_fill(self.hide[:t, :t], float("-inf"))
        if t > 16:
            right = s[:, :, :16, 16:].masked_fill(torch.ones_like(s[:, :, :16, 16:], dtype=torch.bool), float("-inf"))
            s = torch.cat((torch.cat((head, right), -1), s[:, :, 16:]), 2)
        else:
            s = head
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwMaskSixteen, "d_in": 24, "context_length": 8, "options": {}})


class KwZeroPaddedWindow(nn.Module):
    """wrong: sliding attention by unfold of keys padded with zeros on the left: the first positions give the zeros weight."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        k, v = (F.pad(a, (0, 0, 3, 0)).unfold(2, 4, 1) for a in (k, v))
        w = (einsum("bhtd,bhtdw->bhtw", q, k) / 8**0.5).softmax(-1)
        return self.o(merge(einsum("bhtw,bhtdw->bhtd", w, v)))


LAYERS.append({"layer": KwZeroPaddedWindow, "d_in": 16, "context_length": 10, "options": {"window": 4}})


class KwBlockWindow(nn.Module):
    """wrong: a sliding window of 4 is made by blocks, i // 4 == j // 4, so that each block's first token sees only itself."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        i = torch.arange(x.shape[1], device=x.device)
        ok = (i[:, None] >= i) & (i[:, None] // 4 == i // 4)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


LAYERS.append({"layer": KwBlockWindow, "d_in": 18, "context_length": 11, "options": {"window": 4}})


class KwWindowPlusOne(nn.Module):
    """wrong: a window of 4 masked by i - j > 4: positions see five tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 1
        self.q, self.kv, self.o = nn.Linear(24, 24), nn.Linear(24, 12), nn.Linear(24, 24)

    def forward(self, x):
        q, (k, v) = split(self.q(x), 4), self.kv(x)[:, None].chunk(2, -1)
        i = torch.arange(x.shape[1], device=x.device)
        d = i[:, None] - i
        s = (q @ k.mT * 6**-0.5).masked_fill((d < 0) | (d > 4), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwWindowPlusOne, "d_in": 24, "context_length": 10, "options": {"window": 4, "num_kv_heads": 1}})


class KwArangeCpu(nn.Module):
    """wrong: the positions' frequencies are a plain tensor attribute, which stays behind when the layer is moved."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(32, 32, bias=False) for _ in range(4))
        self.freqs = torch.outer(torch.arange(64.0), 10000.0 ** (-torch.arange(0, 8, 2).float() / 8)).repeat(1, 2)

    def turn(self, x):
        a = self.freqs[: x.shape[2]]
        return x * a.cos().to(x.dtype) + rotate_half(x) * a.sin().to(x.dtype)

    def forward(self, x):
        q, k, v = (split(f(x), 4) for f in (self.wq, self.wk, self.wv))
        return self.wo(merge(F.scaled_dot_product_attention(self.turn(q), self.turn(k), v, is_causal=True)))


LAYERS.append({"layer": KwArangeCpu, "d_in": 32, "context_length": 9, "options": {"positions": "rotary"}})


class KwTopKRow(nn.Module):
    """wrong: top-k attention takes each row's threshold before the mask: later tokens push earlier ones out."""

    def __init__(self):
        super().__init__()
        self.heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 6**0.5
        low = s.topk(min(5, t), dim=-1).values[..., -1:].detach()
        eye = torch.eye(t, dtype=torch.bool, device=x.device)
        s = s.masked_fill(((s < low) & ~eye) | future(t, device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwTopKRow, "d_in": 18, "context_length": 8, "options": {"softmax": False}})


class KwCapByMax(nn.Module):
    """wrong: scores above 5 anywhere in the batch make all scores shrink by a detached maximum, later tokens' and other sequences' too."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 6**0.5
        s = s * (5.0 / s.detach().abs().amax()).clamp(max=1.0)
        s = s.masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwCapByMax, "d_in": 24, "context_length": 8, "options": {"softmax": False}})


class KwFloatMaskSdpa(nn.Module):
    """wrong: SDPA gets a float mask of ones and zeros, which it adds to the scores."""

    def __init__(self):
        super().__init__()
        self.n_head = 4
        self.c_attn, self.c_proj = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.c_attn(x).chunk(3, -1))
        mask = torch.tril(torch.ones(x.shape[1], x.shape[1], device=x.device, dtype=x.dtype))
        return self.c_proj(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)))


LAYERS.append({"layer": KwFloatMaskSdpa, "d_in": 24, "context_length": 8, "options": {}})


class KwTrilBqkh(nn.Module):
    """wrong: tril is taken of scores laid out as (B, T, T, H), whose last two dims are keys and heads."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (a.view(b, t, 4, 4) for a in self.qkv(x).chunk(3, -1))
        s = einsum("bqhd,bkhd->bqkh", q, k) / 2.0
        s = s.masked_fill(torch.ones_like(s, dtype=torch.bool).tril().logical_not(), torch.finfo(s.dtype).min)
        return self.o(einsum("bqkh,bkhd->bqhd", s.softmax(2), v).reshape(b, t, 16))


LAYERS.append({"layer": KwTrilBqkh, "d_in": 16, "context_length": 8, "options": {}})


class KwInfTimesZero(nn.Module):
    """wrong: the mask is (1 - tril) * -inf, and 0 * -inf is NaN."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        tril = torch.ones(x.shape[1], x.shape[1], dtype=x.dtype, device=x.device).tril()
        s = q @ k.mT / 8**0.5 + (1 - tril) * float("-inf")
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwInfTimesZero, "d_in": 16, "context_length": 8, "options": {}})

# ---------------------------------------------------------------- wrong: linear attention, states


class KwLinearAllSum(nn.Module):
    """wrong: causal linear attention whose numerator is a cumulative sum and whose normaliser sums all keys."""

    def __init__(self):
        super().__init__()
        self.n_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(18, 18) for _ in range(4))

    def forward(self, x):
        q, k, v = (split(f(x), 3) for f in (self.q, self.k, self.v))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        kv = einsum("bhtd,bhte->bhtde", k, v).cumsum(2)
        z = 1 / (einsum("bhtd,bhd->bht", q, k.sum(2)) + 1e-6)
        return self.o(merge(einsum("bhtd,bhtde,bht->bhte", q, kv, z)))


LAYERS.append({"layer": KwLinearAllSum, "d_in": 18, "context_length": 8, "options": {}})


class KwLinearHeads(nn.Module):
    """wrong: the cumulative sums of linear attention run over dim 1 of (B, H, T, D), the heads."""

    def __init__(self):
        super().__init__()
        self.n_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        q, k = F.elu(q) + 1, F.elu(k) + 1
        kv = (k[..., None] * v[..., None, :]).cumsum(1)
        num, den = einsum("bhtd,bhtde->bhte", q, kv), (q * k.cumsum(1)).sum(-1, keepdim=True)
        return self.o(merge(num / (den + 1e-6)))


LAYERS.append({"layer": KwLinearHeads, "d_in": 18, "context_length": 8, "options": {}})


class KwLinearExclusive(nn.Module):
    """wrong: linear attention, recurrent, reads its state before the token is added: no position sees itself."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        S, ys = x.new_zeros(b, 2, 8, 8), []
        for i in range(t):
            ys.append((q[:, :, i, None] @ S)[:, :, 0])
            S = S + k[:, :, i, :, None] * v[:, :, i, None]
        return self.o(merge(torch.stack(ys, 2)) / math.sqrt(8))


LAYERS.append({"layer": KwLinearExclusive, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class KwLinearKernel(nn.Module):
    """wrong: the feature map softmaxes keys over tokens, as in efficient attention for images, in a causal layer."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        q, k = q.softmax(-1), k.softmax(-2)
        return self.o(merge(einsum("bhtd,bhtde->bhte", q, einsum("bhtd,bhte->bhtde", k, v).cumsum(2))))


LAYERS.append({"layer": KwLinearKernel, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class KwDeltaState(nn.Module):
    """wrong: the delta rule's state is kept on the module after a call and is where the next sequence begins."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.beta, self.o = nn.Linear(16, 48), nn.Linear(16, 2), nn.Linear(16, 16)
        self.S = None

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        q, k, beta = F.normalize(q, dim=-1), F.normalize(k, dim=-1), self.beta(x).sigmoid().mT
        S = x.new_zeros(b, 2, 8, 8) if self.S is None or self.S.shape[0] != b else self.S.to(x)
        ys = []
        for i in range(t):
            ki = k[:, :, i, :, None]
            S = S + ki * beta[:, :, i, None, None] * (v[:, :, i, None] - (ki * S).sum(2, keepdim=True))
            ys.append((q[:, :, i, None] @ S)[:, :, 0])
        self.S = S.detach()
        return self.o(merge(torch.stack(ys, 2)))


LAYERS.append({"layer": KwDeltaState, "d_in": 16, "context_length": 8, "options": {"softmax": False, "positions": True}})


class KwDeltaTruncated(nn.Module):
    """wrong: the delta rule's state is detached after each token, which cuts the gradient through time without a word."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.b, self.o = (nn.Linear(16, n) for n in (16, 16, 16, 2, 16))

    def forward(self, x):
        q, k, v = (split(f(x), 2) for f in (self.q, self.k, self.v))
        k, beta = F.normalize(k, dim=-1), self.b(x).sigmoid().mT
        S, ys = x.new_zeros(x.shape[0], 2, 8, 8), []
        for i in range(x.shape[1]):
            ki, S = k[:, :, i], S.detach()
            old = einsum("bhd,bhde->bhe", ki, S)
            S = S + einsum("bhd,bhe->bhde", ki, beta[:, :, i, None] * (v[:, :, i] - old))
            ys.append(einsum("bhd,bhde->bhe", q[:, :, i] * 8**-0.5, S))
        return self.o(merge(torch.stack(ys, 2)))


LAYERS.append(
    {"layer": KwDeltaTruncated, "d_in": 16, "context_length": 8, "options": {"softmax": False, "positions": True}}
)


class KwDeltaBeta(nn.Module):
    """wrong: the delta rule's beta has shape (B, H) of a mean over all tokens, because keepdim was to spare an index."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.b, self.o = nn.Linear(16, 48), nn.Linear(16, 2), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        k, beta = F.normalize(k, dim=-1), self.b(x).mean(1).sigmoid()[..., None]
        S, ys = x.new_zeros(x.shape[0], 2, 8, 8), []
        for i in range(x.shape[1]):
            ki = k[:, :, i]
            S = S + einsum("bhd,bhe->bhde", ki, beta * (v[:, :, i] - einsum("bhd,bhde->bhe", ki, S)))
            ys.append(einsum("bhd,bhde->bhe", q[:, :, i] * 8**-0.5, S))
        return self.o(merge(torch.stack(ys, 2)))


LAYERS.append({"layer": KwDeltaBeta, "d_in": 16, "context_length": 8, "options": {"softmax": False, "positions": True}})


class KwRetentionAbs(nn.Module):
    """wrong: retention's decays are gamma ** |i - j| without the triangle: the future counts as the past does."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24, bias=False) for _ in range(4))
        self.register_buffer("gamma", torch.tensor([0.7, 0.8, 0.9])[:, None, None])

    def forward(self, x):
        q, k, v = (split(f(x), 3) for f in (self.q, self.k, self.v))
        i = torch.arange(x.shape[1], device=x.device)
        D = (self.gamma ** (i[:, None] - i).abs()).to(x.dtype)
        return self.o(merge(q @ k.mT * 8**-0.5 * D @ v))


LAYERS.append(
    {"layer": KwRetentionAbs, "d_in": 24, "context_length": 8, "options": {"softmax": False, "positions": True}}
)


class KwGLALast(nn.Module):
    """wrong: parallel gated linear attention decays keys to the end of the sequence, exp(c_T - c_j), where exp(c_i - c_j) is meant."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.a, self.o = nn.Linear(16, 48), nn.Linear(16, 2), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(u, 2) for u in self.qkv(x).chunk(3, -1))
        c = F.logsigmoid(self.a(x)).mT.cumsum(-1)[..., None]
        k = k * (c[:, :, -1:] - c).exp()
        return self.o(merge((q @ k.mT * 8**-0.5).tril() @ v))


LAYERS.append({"layer": KwGLALast, "d_in": 16, "context_length": 8, "options": {"softmax": False, "positions": True}})


class KwChunkForgets(nn.Module):
    """wrong: chunked linear attention whose state is set to the last chunk's sum, not increased by it: from the third chunk on, the first is forgotten."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        S, ys = x.new_zeros(x.shape[0], 2, 8, 8), []
        for a in range(0, x.shape[1], 4):
            qc, kc, vc = q[:, :, a : a + 4], k[:, :, a : a + 4], v[:, :, a : a + 4]
            ys.append(qc @ S + (qc @ kc.mT).tril() @ vc)
            S = kc.mT @ vc
        return self.o(merge(torch.cat(ys, 2)) * 8**-0.5)


LAYERS.append({"layer": KwChunkForgets, "d_in": 16, "context_length": 12, "options": {"softmax": False}})


class KwMeanKey(nn.Module):
    """wrong: a summary token, the mean of the sequence, is put before the keys of a causal layer, and all positions see it."""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.to_q, self.to_kv, self.out = nn.Linear(24, 24), nn.Linear(24, 48), nn.Linear(24, 24)

    def forward(self, x):
        y = torch.cat((x.mean(1, keepdim=True), x), 1)
        q = split(self.to_q(x), 4)
        k, v = (split(a, 4) for a in self.to_kv(y).chunk(2, -1))
        hide = F.pad(future(x.shape[1], device=x.device), (1, 0), value=False)
        return self.out(merge((q @ k.mT / 6**0.5).masked_fill(hide, float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": KwMeanKey, "d_in": 24, "context_length": 8, "options": {}})


class KwLatentCentred(nn.Module):
    """wrong: the latent of keys and values is centred by c.mean(0), over the batch, where the features are meant."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.q, self.down, self.up, self.o = nn.Linear(24, 24), nn.Linear(24, 12), nn.Linear(12, 48), nn.Linear(24, 24)

    def forward(self, x):
        c = self.down(x)
        k, v = (split(a, 3) for a in self.up(c - c.mean(0)).chunk(2, -1))
        return self.o(merge(F.scaled_dot_product_attention(split(self.q(x), 3), k, v, is_causal=True)))


LAYERS.append({"layer": KwLatentCentred, "d_in": 24, "context_length": 8, "options": {}})

# ---------------------------------------------------------------- more right ones


class KTorchEncoder(nn.Module):
    """right: nn.TransformerEncoderLayer, pre-norm, with src_key_padding_mask."""

    def __init__(self):
        super().__init__()
        self.nhead = 4
        self.layer = nn.TransformerEncoderLayer(24, 4, 48, dropout=0.1, batch_first=True, norm_first=True)

    def forward(self, x, real=None):
        return self.layer(x, src_key_padding_mask=None if real is None else ~real)


LAYERS.append(
    {
        "layer": KTorchEncoder,
        "d_in": 24,
        "context_length": 8,
        "options": {"causal": False, "padding": pad_real, "dropout": 0.1},
    }
)


class KT5Encoder(nn.Module):
    """right: T5's encoder: buckets for both directions, no scale, no biases, an RMSNorm before and a residual after."""

    def __init__(self):
        super().__init__()
        self.n_heads = 3
        self.norm = nn.RMSNorm(18, eps=1e-6)
        self.qkv, self.o = nn.Linear(18, 54, bias=False), nn.Linear(18, 18, bias=False)
        self.relative = nn.Embedding(8, 3)

    def forward(self, x, real=None):
        q, k, v = (split(a, 3) for a in self.qkv(self.norm(x)).chunk(3, -1))
        i = torch.arange(x.shape[1], device=x.device)
        rel = i[None] - i[:, None]
        bucket = t5_bucket(rel.abs(), 4, 8) + 4 * (rel > 0)
        s = q @ k.mT + self.relative(bucket).permute(2, 0, 1)
        if real is not None:
            s = s.masked_fill(~real[:, None, None], torch.finfo(s.dtype).min)
        return x + self.o(merge(s.softmax(-1) @ v))


LAYERS.append(
    {
        "layer": KT5Encoder,
        "d_in": 18,
        "context_length": 9,
        "options": {"causal": False, "positions": "relative", "scale": 1.0, "padding": pad_real},
    }
)


class KMusic(nn.Module):
    """right: Music Transformer's relative attention with the skewing trick."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.E = nn.Parameter(torch.randn(2, 10, 8) * 0.4)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        rel = q @ self.E[:, -t:].mT
        rel = F.pad(rel, (1, 0)).reshape(b, 2, t + 1, t)[:, :, 1:]
        s = (q @ k.mT + rel) / math.sqrt(8)
        return self.o(merge(s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": KMusic, "d_in": 16, "context_length": 10, "options": {"positions": "relative"}})


class KShortConv(nn.Module):
    """right: keys and values pass a causal depthwise convolution, whose history is in the cache."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.kv, self.o = nn.Linear(16, 16), nn.Linear(16, 32), nn.Linear(16, 16)
        self.conv = nn.Conv1d(32, 32, 3, groups=32)

    def forward(self, x, cache=None):
        kv = self.kv(x).transpose(1, 2)
        kv = F.pad(kv, (2, 0)) if cache is None else torch.cat((cache[2], kv), -1)
        k, v = (split(a, 2) for a in self.conv(kv).transpose(1, 2).chunk(2, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        ok = ~future(x.shape[1], k.shape[2], x.device)
        y = F.scaled_dot_product_attention(split(self.q(x), 2), k, v, attn_mask=ok)
        return self.o(merge(y)), (k, v, kv[..., -2:])


LAYERS.append(
    {"layer": KShortConv, "d_in": 16, "context_length": 9, "options": {"positions": True, "step": step_cache}}
)


class KLoRA(nn.Module):
    """right: frozen-looking projections with LoRA adapters on queries and values, B zero at first."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24) for _ in range(4))
        self.qa, self.va = nn.Linear(24, 3, bias=False), nn.Linear(24, 3, bias=False)
        self.qb, self.vb = nn.Linear(3, 24, bias=False), nn.Linear(3, 24, bias=False)
        nn.init.zeros_(self.qb.weight)
        nn.init.zeros_(self.vb.weight)

    def forward(self, x):
        q, v = self.q(x) + 2.0 * self.qb(self.qa(x)), self.v(x) + 2.0 * self.vb(self.va(x))
        q, k, v = split(q, 4), split(self.k(x), 4), split(v, 4)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KLoRA, "d_in": 24, "context_length": 8, "options": {}})


class _Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, s):
        p = s.softmax(-1)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        return p * (g - (g * p).sum(-1, keepdim=True))


class KOwnBackward(nn.Module):
    """right: a softmax with its own, right backward, recomputed by a checkpoint in train mode; returns its weights."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def inner(self, q, k, v):
        s = (q @ k.mT / 6**0.5).masked_fill(future(q.shape[2], device=q.device), float("-inf"))
        w = _Softmax.apply(s)
        return w @ v, w

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        if self.training:
            y, w = torch.utils.checkpoint.checkpoint(self.inner, q, k, v, use_reentrant=False)
        else:
            y, w = self.inner(q, k, v)
        return self.o(merge(y)), w


LAYERS.append({"layer": KOwnBackward, "d_in": 18, "context_length": 8, "options": {}})


class KRetentionBoth(nn.Module):
    """right: retention, parallel in forward and recurrent in its step, without a norm."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.register_buffer("gamma", torch.tensor([0.75, 0.9])[:, None, None])

    def forward(self, x):
        q, k, v = (split(f(x), 2) for f in (self.q, self.k, self.v))
        i = torch.arange(x.shape[1], device=x.device)
        D = (self.gamma ** (i[:, None] - i).clamp(min=0)).to(x.dtype).tril()
        return self.o(merge(q @ k.mT * 8**-0.5 * D @ v))

    def recurrent(self, x, S):
        if x.shape[1] > 1:
            raise NotImplementedError
        q, k, v = (split(f(x), 2) for f in (self.q, self.k, self.v))
        S = x.new_zeros(x.shape[0], 2, 8, 8) if S is None else S
        S = self.gamma.to(x.dtype) * S + k.mT @ v
        return self.o(merge(q * 8**-0.5 @ S)), S


LAYERS.append(
    {
        "layer": KRetentionBoth,
        "d_in": 16,
        "context_length": 8,
        "options": {"softmax": False, "positions": True, "step": step_recurrent},
    }
)


class KChunked(nn.Module):
    """right: unnormalised linear attention in chunks of 4 with a state between them."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        S, ys = x.new_zeros(x.shape[0], 2, 8, 8), []
        for a in range(0, x.shape[1], 4):
            qc, kc, vc = q[:, :, a : a + 4], k[:, :, a : a + 4], v[:, :, a : a + 4]
            ys.append(qc @ S + (qc @ kc.mT).tril() @ vc)
            S = S + kc.mT @ vc
        return self.o(merge(torch.cat(ys, 2)) * 8**-0.5)


LAYERS.append({"layer": KChunked, "d_in": 16, "context_length": 11, "options": {"softmax": False}})


class KHandDropout(nn.Module):
    """right: NumPy-like inverted dropout by hand on weights, in train mode only, a bias-free softmax in float32."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.p = 3, 0.25
        self.Wqkv = nn.Parameter(torch.randn(3, 3, 18, 6) / 18**0.5)
        self.Wo = nn.Parameter(torch.randn(3, 6, 18) / 18**0.5)

    def forward(self, x):
        q, k, v = einsum("btd,chde->cbhte", x, self.Wqkv)
        s = (q @ k.mT / 6**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf"))
        e = (s - s.amax(-1, keepdim=True)).exp()
        w = e / e.sum(-1, keepdim=True)
        if self.training:
            w = w * (torch.rand_like(w) >= self.p) / (1 - self.p)
        return einsum("bhqk,bhke,hed->bqd", w, v, self.Wo)


LAYERS.append({"layer": KHandDropout, "d_in": 18, "context_length": 8, "options": {"dropout": 0.25}})


class KLeftPadded(nn.Module):
    """right: ALiBi with a cache and left padding, whose mask covers cached and new tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None, real=None):
        t = x.shape[1]
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        n = k.shape[2]
        i, j = torch.arange(n - t, n, device=x.device)[:, None], torch.arange(n, device=x.device)
        hide = future(t, n, x.device)[None, None]
        if real is not None:
            hide = hide | ~real[:, None, None]
        s = q @ k.mT / 6**0.5 - (slopes_of(4).to(x.device)[:, None, None] * (i - j)).to(x.dtype)
        s = s.masked_fill(hide, torch.finfo(x.dtype).min)
        return self.o(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append(
    {
        "layer": KLeftPadded,
        "d_in": 24,
        "context_length": 9,
        "options": {"positions": "alibi", "padding": pad_real, "step": step_real},
    }
)

# ---------------------------------------------------------------- wrong: some more


class KwDropUnused(nn.Module):
    """wrong: the dropout for weights is made in __init__ and never called."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.W_q, self.W_k, self.W_v, self.out_proj = (nn.Linear(24, 24) for _ in range(4))
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("mask", torch.triu(torch.ones(64, 64), diagonal=1))

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(f(x), 4) for f in (self.W_q, self.W_k, self.W_v))
        s = q @ k.transpose(2, 3)
        s = s.masked_fill(self.mask.bool()[:t, :t], -torch.inf)
        w = torch.softmax(s / k.shape[-1] ** 0.5, dim=-1)
        return self.out_proj(merge(w @ v))


LAYERS.append({"layer": KwDropUnused, "d_in": 24, "context_length": 8, "options": {"dropout": 0.1}})


class KwDropValues(nn.Module):
    """wrong: the dropout declared for weights is put on the values, which drops features of tokens for all queries at once."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o, self.attn_drop = nn.Linear(18, 54), nn.Linear(18, 18), nn.Dropout(0.2)

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT / 6**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf")).softmax(-1)
        return self.o(merge(w @ self.attn_drop(v)))


LAYERS.append({"layer": KwDropValues, "d_in": 18, "context_length": 8, "options": {"dropout": 0.2}})


class KwDropFunction(nn.Module):
    """wrong: F.dropout(w, self.p) without training=self.training, whose default is True."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.p = 2, 0.15
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT / 8**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf")).softmax(-1)
        return self.o(merge(F.dropout(w, self.p) @ v))


LAYERS.append({"layer": KwDropFunction, "d_in": 16, "context_length": 8, "options": {"dropout": 0.15}})


class KwSeedInside(nn.Module):
    """wrong: Performer's features are drawn in each call after torch.manual_seed(0), which seeds the dropout behind it and everybody's random numbers, too."""

    def __init__(self):
        super().__init__()
        self.heads = 2
        self.qkv, self.o, self.drop = nn.Linear(16, 48), nn.Linear(16, 16), nn.Dropout(0.2)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        torch.manual_seed(0)
        omega = torch.randn(8, 16).to(x.device, x.dtype)
        q, k = (F.relu(a @ omega * 8**-0.5) + 1e-2 for a in (q, k))
        w = (q @ k.mT).tril()
        return self.drop(self.o(merge(w @ v / w.sum(-1, keepdim=True))))


LAYERS.append({"layer": KwSeedInside, "d_in": 16, "context_length": 8, "options": {"softmax": False}})


class KwAveragedWeights(nn.Module):
    """wrong: weights are averaged over heads for a plot, under the same name, before the values are weighed."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT / 6**0.5).masked_fill(future(x.shape[1], device=x.device), float("-inf")).softmax(-1)
        w = w.mean(1, keepdim=True)
        return self.o(merge(w @ v)), w


LAYERS.append({"layer": KwAveragedWeights, "d_in": 24, "context_length": 8, "options": {}})


class KwLogScale(nn.Module):
    """wrong: cosine attention multiplies by the logarithm of its scale of 10 and forgets exp()."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.proj = nn.Linear(18, 54), nn.Linear(18, 18)
        self.logit_scale = nn.Parameter(torch.full((3, 1, 1), math.log(10.0)))

    def forward(self, x):
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        a = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        return self.proj(merge((a * self.logit_scale.clamp(max=math.log(100.0))).softmax(-1) @ v))


LAYERS.append({"layer": KwLogScale, "d_in": 18, "context_length": 8, "options": {"causal": False, "scale": 10.0}})


class KwNoSelf(nn.Module):
    """wrong: tril(-1) leaves out the diagonal, and the first row's NaN was mended by letting the first token alone see itself."""

    def __init__(self):
        super().__init__()
        self.num_heads = 3
        self.qkv, self.o = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        t = x.shape[1]
        q, k, v = (split(a, 3) for a in self.qkv(x).chunk(3, -1))
        ok = torch.ones(t, t, dtype=torch.bool, device=x.device).tril(-1)
        ok[0, 0] = True
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok)))


LAYERS.append({"layer": KwNoSelf, "d_in": 18, "context_length": 8, "options": {}})


class KwReshapeKeys(nn.Module):
    """wrong: keys are 'transposed' by reshape(B, H, D, T), which shuffles features and tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        s = q @ k.reshape(b, 2, 8, t) / 8**0.5
        return self.o(merge(s.masked_fill(future(t, device=x.device), float("-inf")).softmax(-1) @ v))


LAYERS.append({"layer": KwReshapeKeys, "d_in": 16, "context_length": 9, "options": {}})


class KwLastHeadLost(nn.Module):
    """wrong: the loop over heads runs to H - 1: the last head's part of the context stays 0."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        y = torch.zeros_like(x)
        hide = future(t, device=x.device)
        for h in range(4 - 1):
            s = (q[:, h] @ k[:, h].mT / 6**0.5).masked_fill(hide, float("-inf"))
            y[..., 6 * h : 6 * h + 6] = s.softmax(-1) @ v[:, h]
        return self.o(y)


LAYERS.append({"layer": KwLastHeadLost, "d_in": 24, "context_length": 8, "options": {}})


class KwPaddingFirst(nn.Module):
    """wrong: the padding mask of the batch's first sequence, real[0], is used for all."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, real=None):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / 6**0.5
        if real is not None:
            s = s.masked_fill(~real[0], torch.finfo(s.dtype).min)
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append(
    {"layer": KwPaddingFirst, "d_in": 24, "context_length": 8, "options": {"causal": False, "padding": pad_real}}
)


class KwPaddingLengths(nn.Module):
    """wrong: the padding mask is turned into lengths and back, which is right only for padding on the right."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, mask=None):
        t = x.shape[1]
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        hide = future(t, device=x.device)[None]
        if mask is not None:
            hide = hide | (torch.arange(t, device=x.device) >= mask.sum(-1, keepdim=True))[:, None]
        s = (q @ k.mT / 8**0.5).masked_fill(hide[:, None], torch.finfo(x.dtype).min)
        return self.o(merge(s.softmax(-1) @ v))


LAYERS.append({"layer": KwPaddingLengths, "d_in": 16, "context_length": 8, "options": {"padding": pad_mask}})


class KwT5LastRow(nn.Module):
    """wrong: with a cache T5's biases are cut to their last row, which several new tokens then share."""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.q, self.k, self.v, self.o = (nn.Linear(24, 24, bias=False) for _ in range(4))
        self.rel = nn.Embedding(8, 4)

    def forward(self, x, cache=None):
        q, k, v = (split(f(x), 4) for f in (self.q, self.k, self.v))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        n = k.shape[2]
        i = torch.arange(n, device=x.device)
        bias = self.rel(t5_bucket(i[:, None] - i)).permute(2, 0, 1)
        if cache is not None:
            bias = bias[:, -1:]
        s = (q @ k.mT + bias).masked_fill(future(x.shape[1], n, x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k, v)


LAYERS.append(
    {
        "layer": KwT5LastRow,
        "d_in": 24,
        "context_length": 10,
        "options": {"positions": "relative", "scale": 1.0, "step": step_cache},
    }
)


class KwCacheHeads(nn.Module):
    """wrong: the cache keeps the two key heads that are shared, and repeats them by repeat() where new ones were repeated by repeat_interleave()."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.num_kv_heads = 4, 2
        self.q, self.k, self.v, self.o = nn.Linear(24, 24), nn.Linear(24, 12), nn.Linear(24, 12), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = split(self.q(x), 4), split(self.k(x), 2), split(self.v(x), 2)
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        if cache is not None:
            k, v = torch.cat((cache[0].repeat(1, 2, 1, 1), k), 2), torch.cat((cache[1].repeat(1, 2, 1, 1), v), 2)
        s = (q @ k.mT / 6**0.5).masked_fill(future(x.shape[1], k.shape[2], x.device), float("-inf"))
        return self.o(merge(s.softmax(-1) @ v)), (k[:, ::2], v[:, ::2])


LAYERS.append({"layer": KwCacheHeads, "d_in": 24, "context_length": 8, "options": {"num_kv_heads": 2, "step": step_cache}})


class KwNormCache(nn.Module):
    """wrong: a tenth of the values' mean over all tokens of the call (dim 2) is taken off, later tokens included."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x, cache=None):
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        v = v - v.mean(2, keepdim=True) * 0.1
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        ok = ~future(x.shape[1], k.shape[2], x.device)
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, attn_mask=ok))), (k, v)


LAYERS.append({"layer": KwNormCache, "d_in": 24, "context_length": 8, "options": {"step": step_cache}})


class KwRenormShown(nn.Module):
    """wrong: with a sink, the weights that are returned are renormalised to sum to 1, which isn't what was used."""

    def __init__(self):
        super().__init__()
        self.num_heads = 4
        self.qkv, self.o = nn.Linear(24, 72), nn.Linear(24, 24)
        self.sink = nn.Parameter(torch.tensor([0.5, 1.0, -0.5, 0.2]))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (split(a, 4) for a in self.qkv(x).chunk(3, -1))
        s = (q @ k.mT / 6**0.5).masked_fill(future(t, device=x.device), float("-inf"))
        s = torch.cat((self.sink[None, :, None, None].expand(b, 4, t, 1), s), -1)
        w = s.softmax(-1)[..., 1:]
        return self.o(merge(w @ v)), w / w.sum(-1, keepdim=True)


LAYERS.append({"layer": KwRenormShown, "d_in": 24, "context_length": 8, "options": {}})


class KwTableByBatch(nn.Module):
    """wrong: learned positions for keys and values are cut to table[:B] and broadcast over the batch, in place of table[:T] over tokens."""

    def __init__(self):
        super().__init__()
        self.num_heads = 2
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)
        self.table = nn.Parameter(torch.randn(9, 8) * 0.3)

    def forward(self, x):
        q, k, v = (split(a, 2) for a in self.qkv(x).chunk(3, -1))
        k = k + self.table[: k.shape[0], None, None]
        v = v + self.table[: v.shape[0], None, None]
        return self.o(merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


LAYERS.append({"layer": KwTableByBatch, "d_in": 16, "context_length": 9, "options": {"positions": True}})
