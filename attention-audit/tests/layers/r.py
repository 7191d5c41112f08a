"""Attention layers of GPT-like decoders as different engineers write them: right ones and wrong ones."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


# ----------------------------------------------------------------------------- common pieces (right)

def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rotate_every_two(x):
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


def half_tables(dim, length, base=10000.0):
    inv = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
    freqs = torch.outer(torch.arange(length).float(), inv)
    emb = torch.cat((freqs, freqs), dim=-1)
    return emb.cos(), emb.sin()


def paired_tables(dim, length, base=10000.0):
    inv = 1.0 / (base ** (torch.arange(0, dim, 2).float() / dim))
    emb = torch.outer(torch.arange(length).float(), inv).repeat_interleave(2, dim=-1)
    return emb.cos(), emb.sin()


def repeat_kv(x, n_rep):
    b, h, t, d = x.shape
    if n_rep == 1:
        return x
    return x[:, :, None].expand(b, h, n_rep, t, d).reshape(b, h * n_rep, t, d)


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Conv1D(nn.Module):
    """GPT-2's linear layer with the weight lying on its side"""

    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight = nn.Parameter(torch.randn(nx, nf) * 0.2)
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        return torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight).view(*x.shape[:-1], self.nf)


def hf_step(module, x, cache):
    return module(x, layer_past=cache, use_cache=True)


# ----------------------------------------------------------------------------- right layers

class RightR01NanoFlash(nn.Module):
    """right: nanoGPT with F.scaled_dot_product_attention, dropout on the weights and on the output"""

    def __init__(self, n_embd=16, n_head=4, dropout=0.2, bias=True):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=bias)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=bias)
        self.resid_dropout = nn.Dropout(dropout)
        self.n_head, self.n_embd, self.dropout = n_head, n_embd, dropout

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=None,
                                           dropout_p=self.dropout if self.training else 0, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class RightR02GPT2Conv1D(nn.Module):
    """right: GPT-2 with Conv1D, torch.where with the dtype's minimum, returns (output, weights)"""

    def __init__(self):
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = 24, 3, 8
        self.register_buffer("bias", torch.tril(torch.ones(12, 12, dtype=torch.bool)).view(1, 1, 12, 12), persistent=False)
        self.c_attn = Conv1D(72, 24)
        self.c_proj = Conv1D(24, 24)
        self.attn_dropout = nn.Dropout(0.1)

    def forward(self, hidden_states):
        query, key, value = (t.view(*t.shape[:-1], self.num_heads, self.head_dim).permute(0, 2, 1, 3)
                             for t in self.c_attn(hidden_states).split(self.embed_dim, dim=2))
        w = torch.matmul(query, key.transpose(-1, -2))
        w = w / torch.full([], value.size(-1) ** 0.5, dtype=w.dtype, device=w.device)
        n = query.size(-2)
        w = torch.where(self.bias[:, :, :n, :n], w, torch.full([], torch.finfo(w.dtype).min, dtype=w.dtype, device=w.device))
        w = self.attn_dropout(F.softmax(w, dim=-1))
        out = torch.matmul(w, value).permute(0, 2, 1, 3).contiguous()
        return self.c_proj(out.view(*out.shape[:-2], self.embed_dim)), w


class RightR03LlamaGQA(nn.Module):
    """right: Llama with grouped keys, rotate_half and a cache of rotated keys"""

    def __init__(self, hidden_size=32, heads=4, kv_heads=2, max_position=12):
        super().__init__()
        self.num_heads, self.num_key_value_heads, self.head_dim = heads, kv_heads, hidden_size // heads
        self.q_proj = nn.Linear(hidden_size, heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(hidden_size, kv_heads * self.head_dim, bias=False)
        self.v_proj = nn.Linear(hidden_size, kv_heads * self.head_dim, bias=False)
        self.o_proj = nn.Linear(heads * self.head_dim, hidden_size, bias=False)
        cos, sin = half_tables(self.head_dim, max_position)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, _ = x.shape
        past = 0 if layer_past is None else layer_past[0].size(2)
        q = self.q_proj(x).view(B, T, -1, self.head_dim).transpose(1, 2)
        k = self.k_proj(x).view(B, T, -1, self.head_dim).transpose(1, 2)
        v = self.v_proj(x).view(B, T, -1, self.head_dim).transpose(1, 2)
        cos, sin = self.cos[past:past + T], self.sin[past:past + T]
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        if layer_past is not None:
            k = torch.cat((layer_past[0], k), dim=2)
            v = torch.cat((layer_past[1], v), dim=2)
        present = (k, v)
        g = self.num_heads // self.num_key_value_heads
        att = q @ repeat_kv(k, g).transpose(2, 3) / math.sqrt(self.head_dim)
        hidden = torch.ones(T, past + T, dtype=torch.bool, device=x.device).triu(past + 1)
        att = F.softmax(att.masked_fill(hidden, float("-inf")), dim=-1)
        out = self.o_proj((att @ repeat_kv(v, g)).transpose(1, 2).reshape(B, T, -1))
        return (out, present) if use_cache else out


class RightR04MetaComplex(nn.Module):
    """right: Meta's Llama with complex rotation (the table kept as real numbers) and a pre-made cache"""

    def __init__(self, dim=16, n_heads=2, max_seq_len=10):
        super().__init__()
        self.n_local_heads, self.head_dim, self.max_seq_len = n_heads, dim // n_heads, max_seq_len
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wk = nn.Linear(dim, dim, bias=False)
        self.wv = nn.Linear(dim, dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        inv = 1.0 / (10000.0 ** (torch.arange(0, self.head_dim, 2).float() / self.head_dim))
        ang = torch.outer(torch.arange(max_seq_len).float(), inv)
        self.register_buffer("freqs", torch.stack((ang.cos(), ang.sin()), dim=-1), persistent=False)

    def rope(self, x, start):
        c = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        f = torch.view_as_complex(self.freqs[start:start + x.size(1)].to(x.dtype).contiguous())
        return torch.view_as_real(c * f[None, :, None]).flatten(3)

    def attend(self, x, cache):
        B, T, _ = x.shape
        start = cache["pos"]
        q = self.rope(self.wq(x).view(B, T, self.n_local_heads, self.head_dim), start)
        k = self.rope(self.wk(x).view(B, T, self.n_local_heads, self.head_dim), start)
        cache["k"][:, start:start + T] = k
        cache["v"][:, start:start + T] = self.wv(x).view(B, T, self.n_local_heads, self.head_dim)
        cache["pos"] = start + T
        keys, values = cache["k"][:, :start + T], cache["v"][:, :start + T]
        scores = torch.einsum("bqhd,bkhd->bhqk", q, keys) / math.sqrt(self.head_dim)
        if T > 1:
            mask = torch.triu(torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype), diagonal=1)
            scores = scores + torch.hstack([torch.zeros((T, start), device=x.device, dtype=x.dtype), mask])
        return self.wo(torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), values).reshape(B, T, -1))

    def new_cache(self, x):
        shape = (x.size(0), self.max_seq_len, self.n_local_heads, self.head_dim)
        return {"k": x.new_zeros(shape), "v": x.new_zeros(shape), "pos": 0}

    def forward(self, x):
        return self.attend(x, self.new_cache(x))


def meta_step(module, x, cache):
    cache = module.new_cache(x) if cache is None else cache
    return module.attend(x, cache), cache


class RightR05Qwen3(nn.Module):
    """right: Qwen3, RMSNorm of queries and keys by head before the rotation, head width not d / H"""

    def __init__(self):
        super().__init__()
        self.head_dim = 6
        self.q_proj = nn.Linear(20, 24, bias=False)
        self.k_proj = nn.Linear(20, 12, bias=False)
        self.v_proj = nn.Linear(20, 12, bias=False)
        self.o_proj = nn.Linear(24, 20, bias=False)
        self.q_norm, self.k_norm = RMSNorm(6), RMSNorm(6)
        inv = 1.0 / (1e6 ** (torch.arange(0, 6, 2).float() / 6))
        self.register_buffer("inv_freq", inv, persistent=False)

    def forward(self, x):
        shape = (*x.shape[:-1], -1, self.head_dim)
        q = self.q_norm(self.q_proj(x).view(shape)).transpose(1, 2)
        k = self.k_norm(self.k_proj(x).view(shape)).transpose(1, 2)
        v = self.v_proj(x).view(shape).transpose(1, 2)
        f = torch.arange(x.size(1), device=x.device, dtype=self.inv_freq.dtype)[:, None] * self.inv_freq
        cos, sin = torch.cat((f, f), -1).cos(), torch.cat((f, f), -1).sin()
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        k, v = repeat_kv(k, 2), repeat_kv(v, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=x.size(1) > 1)
        return self.o_proj(y.transpose(1, 2).flatten(2))


class RightR06MistralRolling(nn.Module):
    """right: Mistral's sliding window with a cache that forgets all but the last W - 1 tokens"""

    def __init__(self, dim=16, n_heads=4, n_kv=2, window=4, max_len=14):
        super().__init__()
        self.n_heads, self.n_kv, self.hd, self.window = n_heads, n_kv, dim // n_heads, window
        self.wq = nn.Linear(dim, n_heads * self.hd, bias=False)
        self.wk = nn.Linear(dim, n_kv * self.hd, bias=False)
        self.wv = nn.Linear(dim, n_kv * self.hd, bias=False)
        self.wo = nn.Linear(n_heads * self.hd, dim, bias=False)
        cos, sin = half_tables(self.hd, max_len)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def step(self, x, cache=None):
        B, T, _ = x.shape
        seen = 0 if cache is None else cache["seen"]
        q = self.wq(x).view(B, T, self.n_heads, self.hd).transpose(1, 2)
        k = self.wk(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        v = self.wv(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        cos, sin = self.cos[seen:seen + T], self.sin[seen:seen + T]
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        if cache is not None:
            k, v = torch.cat((cache["k"], k), 2), torch.cat((cache["v"], v), 2)
        rows = torch.arange(seen, seen + T, device=x.device)[:, None]
        cols = torch.arange(seen + T - k.size(2), seen + T, device=x.device)[None]
        ok = (cols <= rows) & (cols > rows - self.window)
        g = self.n_heads // self.n_kv
        y = F.scaled_dot_product_attention(q, k.repeat_interleave(g, 1), v.repeat_interleave(g, 1), attn_mask=ok)
        new = {"k": k[:, :, -(self.window - 1):], "v": v[:, :, -(self.window - 1):], "seen": seen + T}
        return self.wo(y.transpose(1, 2).reshape(B, T, -1)), new

    def forward(self, x):
        return self.step(x)[0]


class RightR07Falcon7b(nn.Module):
    """right: Falcon-7b, one fused projection of H queries, one key and one value"""

    def __init__(self):
        super().__init__()
        self.num_heads, self.head_dim = 4, 4
        self.query_key_value = nn.Linear(16, 6 * 4)
        self.dense = nn.Linear(16, 16)
        cos, sin = half_tables(4, 8)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, hidden_states):
        b, t, _ = hidden_states.shape
        fused = self.query_key_value(hidden_states).view(b, t, self.num_heads + 2, self.head_dim)
        q, k, v = fused[..., :-2, :], fused[..., [-2], :], fused[..., [-1], :]
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        cos, sin = self.cos[:t], self.sin[:t]
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        scores = (q @ k.transpose(-1, -2)) * self.head_dim ** -0.5
        scores = scores.masked_fill(torch.ones(t, t, device=q.device).triu(1).bool(), float("-inf"))
        return {"context": self.dense((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, -1))}


class RightR08Falcon40b(nn.Module):
    """right: Falcon-40b, groups of (g queries, key, value) lie together in the fused projection"""

    def __init__(self):
        super().__init__()
        self.h, self.kv, self.d = 6, 2, 4
        self.query_key_value = nn.Linear(24, (6 + 4) * 4, bias=False)
        self.dense = nn.Linear(24, 24, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        qkv = self.query_key_value(x).view(b, t, self.kv, self.h // self.kv + 2, self.d)
        q, k, v = qkv[:, :, :, :-2], qkv[:, :, :, [-2]], qkv[:, :, :, [-1]]
        k, v = k.expand_as(q), v.expand_as(q)
        q, k, v = (z.flatten(2, 3).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(y.transpose(1, 2).flatten(2))


class RightR09GPTJ(nn.Module):
    """right: GPT-J, only the first dimensions of a head rotated in pairs, softmax in float32"""

    def __init__(self):
        super().__init__()
        self.num_attention_heads, self.head_dim, self.rotary_dim = 2, 8, 4
        self.k_proj = nn.Linear(16, 16, bias=False)
        self.v_proj = nn.Linear(16, 16, bias=False)
        self.q_proj = nn.Linear(16, 16, bias=False)
        self.out_proj = nn.Linear(16, 16, bias=False)
        self.attn_dropout = nn.Dropout(0.0)
        self.register_buffer("bias", torch.tril(torch.ones(9, 9, dtype=torch.bool))[None, None], persistent=False)
        cos, sin = paired_tables(4, 9)
        self.register_buffer("cos", cos[:, None], persistent=False)
        self.register_buffer("sin", sin[:, None], persistent=False)

    def rot(self, z):
        t = z.size(1)
        a, b = z[..., :self.rotary_dim], z[..., self.rotary_dim:]
        return torch.cat((a * self.cos[:t] + rotate_every_two(a) * self.sin[:t], b), dim=-1)

    def forward(self, x):
        b, t, c = x.shape
        q = self.rot(self.q_proj(x).view(b, t, self.num_attention_heads, self.head_dim)).permute(0, 2, 1, 3)
        k = self.rot(self.k_proj(x).view(b, t, self.num_attention_heads, self.head_dim)).permute(0, 2, 1, 3)
        v = self.v_proj(x).view(b, t, self.num_attention_heads, self.head_dim).permute(0, 2, 1, 3)
        w = torch.matmul(q.to(torch.float32), k.to(torch.float32).transpose(-1, -2))
        w = torch.where(self.bias[:, :, :t, :t], w, torch.finfo(w.dtype).min) / math.sqrt(self.head_dim)
        w = self.attn_dropout(F.softmax(w, dim=-1).to(v.dtype))
        return self.out_proj((w @ v).permute(0, 2, 1, 3).reshape(b, t, c)), w


class RightR10NeoX(nn.Module):
    """right: GPT-NeoX, fused (H, 3 * D), partly rotated, baddbmm, additive padding mask that is clamped"""

    def __init__(self):
        super().__init__()
        self.n, self.hs, self.rot = 3, 8, 2
        self.query_key_value = nn.Linear(24, 72)
        self.dense = nn.Linear(24, 24)
        cos, sin = half_tables(2, 10)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x, attention_mask=None):
        b, t, c = x.shape
        qkv = self.query_key_value(x).view(b, t, self.n, 3 * self.hs)
        q = qkv[..., :self.hs].permute(0, 2, 1, 3)
        k = qkv[..., self.hs:2 * self.hs].permute(0, 2, 1, 3)
        v = qkv[..., 2 * self.hs:].permute(0, 2, 1, 3)
        cos, sin = self.cos[:t], self.sin[:t]
        parts = []
        for z in (q, k):
            r, p = z[..., :self.rot], z[..., self.rot:]
            parts.append(torch.cat((r * cos + rotate_half(r) * sin, p), -1))
        q, k = (z.reshape(b * self.n, t, self.hs) for z in parts)
        s = torch.baddbmm(x.new_zeros(b * self.n, t, t), q, k.transpose(1, 2), beta=1.0, alpha=self.hs ** -0.5)
        s = s.view(b, self.n, t, t)
        low = torch.finfo(s.dtype).min
        s = s.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), low)
        if attention_mask is not None:
            s = torch.clamp(s + attention_mask, min=low)
        return self.dense((s.softmax(-1) @ v).permute(0, 2, 1, 3).reshape(b, t, c))


def additive_padding(module, x, real):
    low = torch.finfo(x.dtype).min
    return module(x, attention_mask=(~real)[:, None, None, :].to(x.dtype) * low)


class RightR11MPTAlibi6(nn.Module):
    """right: MPT, a bias by key alone (the rows' constants vanish in the softmax), slopes for six heads"""

    def __init__(self, d_model=24, n_heads=6, max_seq_len=12, clip=30.0):
        super().__init__()
        self.n_heads, self.clip = n_heads, clip
        self.Wqkv = nn.Linear(d_model, 3 * d_model)
        self.out_proj = nn.Linear(d_model, d_model)
        n = 2 ** math.ceil(math.log2(n_heads))
        m = 1.0 / torch.pow(2, torch.arange(1, n + 1).float() * (8 / n))
        if n != n_heads:
            m = torch.cat([m[1::2], m[::2]])[:n_heads]
        bias = torch.arange(1 - max_seq_len, 1).float().view(1, 1, 1, -1) * m.view(1, n_heads, 1, 1)
        self.register_buffer("attn_bias", bias, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        qkv = self.Wqkv(x).clamp(min=-self.clip, max=self.clip)
        q, k, v = (z.view(B, T, self.n_heads, -1).transpose(1, 2) for z in qkv.chunk(3, dim=2))
        w = q.matmul(k.transpose(-2, -1)) * (1 / math.sqrt(q.size(-1)))
        w = w + self.attn_bias[..., -T:]
        causal = x.new_ones(T, T).tril().bool()
        w = w.masked_fill(~causal.view(1, 1, T, T), torch.finfo(w.dtype).min).softmax(dim=-1)
        return self.out_proj(w.matmul(v).transpose(1, 2).reshape(B, T, C))


class RightR12Gemma2SoftCap(nn.Module):
    """right: Gemma 2, scale from query_pre_attn_scalar, scores capped at 50 by tanh before the mask"""

    def __init__(self):
        super().__init__()
        self.scaling = 24 ** -0.5
        self.softcap = 50.0
        self.q_proj, self.k_proj = nn.Linear(16, 32, bias=False), nn.Linear(16, 8, bias=False)
        self.v_proj, self.o_proj = nn.Linear(16, 8, bias=False), nn.Linear(32, 16, bias=False)
        cos, sin = half_tables(8, 8)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, 4, 8).transpose(1, 2)
        k, v = self.k_proj(x).unsqueeze(1), self.v_proj(x).unsqueeze(1)
        q = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_half(k) * self.sin[:T]
        s = q @ k.mT * self.scaling
        s = torch.tanh(s / self.softcap) * self.softcap
        s = s + torch.full((T, T), float("-inf"), dtype=s.dtype, device=s.device).triu(1)
        return self.o_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, 32))


class RightR13GPTNeoLocal(nn.Module):
    """right: GPT-Neo's local attention, no scaling at all, the window cut out by xor"""

    def __init__(self, embed_dim=16, num_heads=4, window_size=3, max_positions=10):
        super().__init__()
        bias = torch.tril(torch.ones(max_positions, max_positions, dtype=torch.bool))
        bias = torch.bitwise_xor(bias, torch.tril(bias, -window_size))
        self.register_buffer("bias", bias, persistent=False)
        self.num_heads = num_heads
        self.k_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.v_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=False)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=True)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, self.num_heads, -1).permute(0, 2, 1, 3) for p in (self.q_proj, self.k_proj, self.v_proj))
        w = torch.matmul(q.float(), k.float().transpose(-1, -2)).to(v.dtype)
        w = torch.where(self.bias[:T, :T], w, torch.finfo(w.dtype).min)
        w = F.softmax(w, dim=-1)
        return self.out_proj((w @ v).permute(0, 2, 1, 3).reshape(B, T, C)), w


class RightR14SinkLogits(nn.Module):
    """right: gpt-oss, every head has a learned sink beside the keys, so that its weights sum to less than one"""

    def __init__(self):
        super().__init__()
        self.num_heads, self.sm_scale = 2, 1 / math.sqrt(8)
        self.qkv = nn.Linear(16, 16 + 16)
        self.out = nn.Linear(16, 16)
        self.sinks = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        n, t, _ = x.shape
        q, k, v = self.qkv(x).split([16, 8, 8], dim=-1)
        qk = torch.einsum("bqhd,bkd->bhqk", q.view(n, t, 2, 8), k) * self.sm_scale
        qk = qk + torch.triu(qk.new_full((t, t), -float("inf")), diagonal=1)
        qk = torch.cat([qk, self.sinks.view(1, 2, 1, 1).expand(n, 2, t, 1)], dim=-1)
        w = torch.softmax(qk, dim=-1)[..., :-1]
        return self.out(torch.einsum("bhqk,bkd->bqhd", w, v).reshape(n, t, 16))


class RightR15ReZeroBlock(nn.Module):
    """right: RMSNorm before, ReLU on the output, residual inside, and a gate that begins at zero"""

    def __init__(self):
        super().__init__()
        self.norm = RMSNorm(12)
        self.to_qkv = nn.Linear(12, 3 * 12, bias=False)
        self.to_out = nn.Sequential(nn.Linear(12, 12), nn.ReLU(), nn.Dropout(0.1))
        self.alpha = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = self.to_qkv(self.norm(x)).view(b, t, 3, 3, 4).permute(2, 0, 3, 1, 4)
        sim = torch.einsum("bhid,bhjd->bhij", q * 4 ** -0.5, k)
        sim = sim.masked_fill(torch.ones(t, t, device=x.device, dtype=torch.bool).triu(1), -torch.finfo(sim.dtype).max)
        sim = sim - sim.amax(dim=-1, keepdim=True).detach()
        out = torch.einsum("bhij,bhjd->bhid", sim.softmax(dim=-1), v)
        return x + self.alpha * self.to_out(out.transpose(1, 2).flatten(2))


class RightR16LoRAQV(nn.Module):
    """right: nanoGPT with LoRA on queries and values, added to the frozen weight in every call, B begins at zero"""

    def __init__(self, C=16, H=2, r=2, alpha=4):
        super().__init__()
        self.n_head, self.scaling = H, alpha / r
        self.c_attn = nn.Linear(C, 3 * C)
        self.c_attn.weight.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(2 * r, C) * 0.3)
        self.lora_B = nn.Parameter(torch.zeros(2 * C, r))
        self.c_proj = nn.Linear(C, C)

    def delta(self):
        (a0, a1), (b0, b1) = self.lora_A.chunk(2), self.lora_B.chunk(2)
        dq, dv = b0 @ a0, b1 @ a1
        return torch.cat((dq, torch.zeros_like(dq), dv)) * self.scaling

    def forward(self, x):
        B, T, C = x.shape
        qkv = F.linear(x, self.c_attn.weight + self.delta(), self.c_attn.bias)
        q, k, v = (z.view(B, T, self.n_head, -1).transpose(1, 2) for z in qkv.split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class RightR17CachedLearnedPos(nn.Module):
    """right: learned positions go on behind the cache, is_causal only where there is nothing in the cache"""

    def __init__(self, width=16, heads=4, longest=10):
        super().__init__()
        self.wpe = nn.Embedding(longest, width)
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        past = layer_past.size(3) if layer_past is not None else 0
        x = x + self.wpe(torch.arange(past, past + T, device=x.device))
        q, k, v = self.qkv(x).view(B, T, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        kv = torch.stack((k, v))
        if past:
            kv = torch.cat((layer_past, kv), dim=3)
        mask = None if past == 0 else torch.ones(T, past + T, dtype=torch.bool, device=x.device).tril(past)
        y = F.scaled_dot_product_attention(q, kv[0], kv[1], attn_mask=mask, is_causal=mask is None)
        y = self.proj(y.transpose(1, 2).flatten(2))
        return (y, kv) if use_cache else y


class RightR18LeftPadUnmasked(nn.Module):
    """right: padding for SDPA; every row may see itself, so that no row is without keys"""

    def __init__(self):
        super().__init__()
        self.q, self.kv, self.o = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        cos, sin = half_tables(8, 9)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x, mask=None):
        B, T, _ = x.shape
        q = self.q(x).unflatten(2, (2, 8)).transpose(1, 2)
        k, v = self.kv(x).unflatten(2, (2, 1, 8)).permute(2, 0, 3, 1, 4)
        q = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_half(k) * self.sin[:T]
        ok = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()[None, None]
        if mask is not None:
            ok = ok & mask[:, None, None, :] | torch.eye(T, dtype=torch.bool, device=x.device)
        y = F.scaled_dot_product_attention(q, k.expand(-1, 2, -1, -1), v.expand(-1, 2, -1, -1), attn_mask=ok)
        return self.o(y.transpose(1, 2).flatten(2))


class RightR19OPTPositions(nn.Module):
    """right: OPT, learned positions counted over the real tokens only, with an offset of two in the table"""

    def __init__(self):
        super().__init__()
        self.embed_positions = nn.Embedding(12 + 2, 16)
        self.q_proj, self.k_proj, self.v_proj = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x, attention_mask=None):
        B, T, C = x.shape
        if attention_mask is None:
            attention_mask = torch.ones(B, T, dtype=torch.bool, device=x.device)
        pos = attention_mask.long().cumsum(1) * attention_mask - 1 + 2
        x = x + self.embed_positions(pos)
        q = (self.q_proj(x) * 8 ** -0.5).view(B, T, 2, 8).transpose(1, 2).reshape(B * 2, T, 8)
        k = self.k_proj(x).view(B, T, 2, 8).transpose(1, 2).reshape(B * 2, T, 8)
        v = self.v_proj(x).view(B, T, 2, 8).transpose(1, 2).reshape(B * 2, T, 8)
        w = torch.bmm(q, k.transpose(1, 2)).view(B, 2, T, T)
        ok = torch.ones(T, T, dtype=torch.bool, device=x.device).tril() & attention_mask[:, None, None]
        w = w.masked_fill(~ok, torch.finfo(w.dtype).min).softmax(-1)
        y = torch.bmm(w.view(B * 2, T, T), v).view(B, 2, T, 8).transpose(1, 2).reshape(B, T, C)
        return self.out_proj(y), w


class _CourseHead(nn.Module):
    def __init__(self, n_embd, head_size, block_size, dropout):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        T = x.size(1)
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return self.dropout(F.softmax(wei, dim=-1)) @ self.value(x)


class RightR20CourseHeads(nn.Module):
    """right: Karpathy's course, a ModuleList of single heads, each with its own mask and dropout"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_CourseHead(12, 4, 8, 0.3) for _ in range(3)])
        self.proj = nn.Linear(12, 12)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class RightR21FlashLoop(nn.Module):
    """right: the keys are taken in blocks of three with a running maximum and a running sum"""

    def __init__(self):
        super().__init__()
        self.W_pack = nn.Linear(18, 54, bias=False)
        self.o_proj = nn.Linear(18, 18, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.W_pack(x).unflatten(-1, (3, 3, 6)).unbind(2)
        q, k, v = q.transpose(1, 2) / math.sqrt(6), k.transpose(1, 2), v.transpose(1, 2)
        acc = torch.zeros_like(q)
        top = q.new_full((b, 3, t, 1), float("-inf"))
        total = q.new_zeros(b, 3, t, 1)
        rows = torch.arange(t, device=x.device)[:, None]
        for s in range(0, t, 3):
            part = q @ k[:, :, s:s + 3].mT
            cols = torch.arange(s, min(s + 3, t), device=x.device)
            part = part.masked_fill(cols > rows, float("-inf"))
            new = torch.maximum(top, part.amax(-1, keepdim=True))
            p, shrink = torch.exp(part - new), torch.exp(top - new)
            acc = acc * shrink + p @ v[:, :, s:s + 3]
            total = total * shrink + p.sum(-1, keepdim=True)
            top = new
        return self.o_proj((acc / total).transpose(1, 2).reshape(b, t, c))


class RightR22TransformerLens(nn.Module):
    """right: bare parameters (H, d, D) and einsum, scores scaled by dividing the queries"""

    def __init__(self, H=3, d=10, D=4):
        super().__init__()
        self.W_Q = nn.Parameter(torch.randn(H, d, D) * 0.4)
        self.W_K = nn.Parameter(torch.randn(H, d, D) * 0.4)
        self.W_V = nn.Parameter(torch.randn(H, d, D) * 0.4)
        self.W_O = nn.Parameter(torch.randn(H, D, d) * 0.4)
        self.b_Q, self.b_K = nn.Parameter(torch.zeros(H, D)), nn.Parameter(torch.zeros(H, D))
        self.b_V, self.b_O = nn.Parameter(torch.zeros(H, D)), nn.Parameter(torch.zeros(d))
        self.register_buffer("IGNORE", torch.tensor(float("-inf")))
        self.attn_scale = D ** 0.5

    def forward(self, x):
        q = torch.einsum("bpm,nmh->bpnh", x, self.W_Q) + self.b_Q
        k = torch.einsum("bpm,nmh->bpnh", x, self.W_K) + self.b_K
        v = torch.einsum("bpm,nmh->bpnh", x, self.W_V) + self.b_V
        s = torch.einsum("bqnh,bknh->bnqk", q / self.attn_scale, k)
        mask = torch.tril(torch.ones(s.shape[-2:], device=x.device)).bool()
        pattern = torch.where(mask, s, self.IGNORE).softmax(-1)
        z = torch.einsum("bknh,bnqk->bqnh", v, pattern)
        return torch.einsum("bqnh,nhm->bqm", z, self.W_O) + self.b_O, pattern


class RightR23DeepSeekMLA(nn.Module):
    """right: keys and values from a small latent, only a part of a head rotated, one rotated key for all heads"""

    def __init__(self):
        super().__init__()
        self.H, self.nope, self.rope, self.vd = 3, 4, 4, 6
        self.q_proj = nn.Linear(24, 3 * 8, bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(24, 8 + 4, bias=False)
        self.kv_a_layernorm = RMSNorm(8)
        self.kv_b_proj = nn.Linear(8, 3 * (4 + 6), bias=False)
        self.o_proj = nn.Linear(18, 24, bias=False)
        cos, sin = paired_tables(4, 9)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.H, 8).transpose(1, 2)
        qn, qr = q.split([self.nope, self.rope], -1)
        c, kr = self.kv_a_proj_with_mqa(x).split([8, self.rope], -1)
        kv = self.kv_b_proj(self.kv_a_layernorm(c)).view(b, t, self.H, 10).transpose(1, 2)
        kn, v = kv.split([self.nope, self.vd], -1)
        cos, sin = self.cos[:t], self.sin[:t]
        kr = kr.unsqueeze(1)
        qr, kr = qr * cos + rotate_every_two(qr) * sin, kr * cos + rotate_every_two(kr) * sin
        q, k = torch.cat((qn, qr), -1), torch.cat((kn, kr.expand(-1, self.H, -1, -1)), -1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=8 ** -0.5)
        return self.o_proj(y.transpose(1, 2).reshape(b, t, 18))


class RightR24MusicSkew(nn.Module):
    """right: Music Transformer, relative embeddings brought into place by padding and reshaping"""

    def __init__(self, d=16, H=2, L=10):
        super().__init__()
        self.H, self.L = H, L
        self.Wq, self.Wk, self.Wv, self.fc = (nn.Linear(d, d) for _ in range(4))
        self.Er = nn.Parameter(torch.randn(L, d // H))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (W(x).view(B, T, self.H, -1).transpose(1, 2) for W in (self.Wq, self.Wk, self.Wv))
        QEr = F.pad(q @ self.Er[self.L - T:].t(), (1, 0))
        Srel = QEr.reshape(B, self.H, T + 1, T)[:, :, 1:]
        att = (q @ k.transpose(-1, -2) + Srel) / math.sqrt(C // self.H)
        att = att.masked_fill(torch.ones(T, T, device=x.device).tril() == 0, float("-inf")).softmax(-1)
        return self.fc((att @ v).transpose(1, 2).reshape(B, T, C))


class RightR25PrimerConv(nn.Module):
    """right: Primer, queries, keys and values go through a causal depthwise convolution over the tokens"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48, bias=False)
        self.dconv = nn.Conv1d(48, 48, 3, groups=48)
        self.out = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        qkv = self.dconv(F.pad(self.qkv(x).transpose(1, 2), (2, 0))).transpose(1, 2)
        q, k, v = qkv.view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


class RightR26InterleavedHeads(nn.Module):
    """right: the heads lie interleaved in the width (channel c belongs to head c % H), at the split and at the merge"""

    def __init__(self, C=16, H=2):
        super().__init__()
        self.H = H
        self.w_q, self.w_k, self.w_v = nn.Linear(C, C), nn.Linear(C, C), nn.Linear(C, C)
        self.w_o = nn.Linear(C, C)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, C // self.H, self.H).permute(0, 3, 1, 2) for w in (self.w_q, self.w_k, self.w_v))
        s = (q * (C // self.H) ** -0.25) @ (k * (C // self.H) ** -0.25).transpose(-1, -2)
        s = s.double().masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), float("-inf"))
        w = s.softmax(-1).to(x.dtype)
        return self.w_o((w @ v).permute(0, 2, 3, 1).reshape(B, T, C))


class RightR27OLMo2(nn.Module):
    """right: OLMo 2, RMSNorm over the whole width of queries and keys before the split, RMSNorm behind the output"""

    def __init__(self):
        super().__init__()
        self.n_heads = 4
        self.att_proj = nn.Linear(32, 32 + 2 * 16, bias=False)
        self.q_norm, self.k_norm, self.post = RMSNorm(32), RMSNorm(16), RMSNorm(32)
        self.attn_out = nn.Linear(32, 32, bias=False)
        cos, sin = half_tables(8, 8, 500000.0)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.att_proj(x).split((32, 16, 16), dim=-1)
        q, k = self.q_norm(q), self.k_norm(k)
        q, k, v = (z.view(B, T, -1, 8).transpose(1, 2) for z in (q, k, v))
        q = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_half(k) * self.sin[:T]
        bias = torch.zeros(T, T, dtype=x.dtype, device=x.device).masked_fill(
            torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), torch.finfo(x.dtype).min)
        y = F.scaled_dot_product_attention(q, repeat_kv(k, 2), repeat_kv(v, 2), attn_mask=bias)
        return x + self.post(self.attn_out(y.transpose(1, 2).reshape(B, T, C)))


LAYERS = [
    {"layer": RightR01NanoFlash, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.2}},
    {"layer": RightR02GPT2Conv1D, "d_in": 24, "context_length": 12, "options": {"num_heads": 3, "dropout": 0.1}},
    {"layer": RightR03LlamaGQA, "d_in": 32, "context_length": 12,
     "options": {"num_heads": 4, "num_kv_heads": 2, "positions": "rotary", "step": hf_step}},
    {"layer": RightR04MetaComplex, "d_in": 16, "context_length": 10,
     "options": {"num_heads": 2, "positions": "rotary", "step": meta_step}},
    {"layer": RightR05Qwen3, "d_in": 20, "context_length": 9,
     "options": {"num_heads": 4, "num_kv_heads": 2, "positions": "rotary"}},
    {"layer": RightR06MistralRolling, "d_in": 16, "context_length": 14,
     "options": {"num_heads": 4, "num_kv_heads": 2, "positions": "rotary", "window": 4,
                 "step": lambda module, x, cache: module.step(x, cache)}},
    {"layer": RightR07Falcon7b, "d_in": 16, "context_length": 8,
     "options": {"num_heads": 4, "num_kv_heads": 1, "positions": "rotary"}},
    {"layer": RightR08Falcon40b, "d_in": 24, "context_length": 8, "options": {"num_heads": 6, "num_kv_heads": 2}},
    {"layer": RightR09GPTJ, "d_in": 16, "context_length": 9, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": RightR10NeoX, "d_in": 24, "context_length": 10,
     "options": {"num_heads": 3, "positions": "rotary", "padding": additive_padding}},
    {"layer": RightR11MPTAlibi6, "d_in": 24, "context_length": 12, "options": {"num_heads": 6, "positions": "alibi"}},
    {"layer": RightR12Gemma2SoftCap, "d_in": 16, "context_length": 8,
     "options": {"num_heads": 4, "num_kv_heads": 1, "positions": "rotary", "scale": 24 ** -0.5}},
    {"layer": RightR13GPTNeoLocal, "d_in": 16, "context_length": 10, "options": {"num_heads": 4, "window": 3, "scale": 1.0}},
    {"layer": RightR14SinkLogits, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "num_kv_heads": 1}},
    {"layer": RightR15ReZeroBlock, "d_in": 12, "context_length": 7, "options": {"num_heads": 3}},
    {"layer": RightR16LoRAQV, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": RightR17CachedLearnedPos, "d_in": 16, "context_length": 10,
     "options": {"num_heads": 4, "positions": True, "step": hf_step}},
    {"layer": RightR18LeftPadUnmasked, "d_in": 16, "context_length": 9,
     "options": {"num_heads": 2, "num_kv_heads": 1, "positions": "rotary",
                 "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": RightR19OPTPositions, "d_in": 16, "context_length": 12,
     "options": {"num_heads": 2, "positions": True, "padding": lambda module, x, real: module(x, attention_mask=real)}},
    {"layer": RightR20CourseHeads, "d_in": 12, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.3}},
    {"layer": RightR21FlashLoop, "d_in": 18, "context_length": 11, "options": {"num_heads": 3}},
    {"layer": RightR22TransformerLens, "d_in": 10, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": RightR23DeepSeekMLA, "d_in": 24, "context_length": 9,
     "options": {"num_heads": 3, "positions": "rotary", "scale": 8 ** -0.5}},
    {"layer": RightR24MusicSkew, "d_in": 16, "context_length": 10, "options": {"num_heads": 2, "positions": "relative"}},
    {"layer": RightR25PrimerConv, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "positions": True}},
    {"layer": RightR26InterleavedHeads, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": RightR27OLMo2, "d_in": 32, "context_length": 8,
     "options": {"num_heads": 4, "num_kv_heads": 2, "positions": "rotary"}},
]


# ----------------------------------------------------------------------------- wrong layers: masks

class WrongR01TrilOffByOne(nn.Module):
    """wrong: the mask buffer is made with diagonal=1, every row sees one token of its future"""

    def __init__(self, n_embd=16, n_head=4, block_size=8):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.attn_dropout, self.resid_dropout = nn.Dropout(0.1), nn.Dropout(0.1)
        self.n_head, self.n_embd = n_head, n_embd
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size), diagonal=1).view(1, 1, block_size, block_size))

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


class WrongR02MaskedFillForgotten(nn.Module):
    """wrong: masked_fill without underscore, its result is thrown away"""

    def __init__(self):
        super().__init__()
        self.key, self.query, self.value = nn.Linear(12, 12), nn.Linear(12, 12), nn.Linear(12, 12)
        self.proj = nn.Linear(12, 12)
        self.register_buffer("mask", torch.tril(torch.ones(10, 10)).view(1, 1, 10, 10))
        self.n_head = 2

    def forward(self, x):
        B, T, C = x.size()
        k = self.key(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.query(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.value(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
        att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        return self.proj((att @ v).transpose(1, 2).contiguous().view(B, T, C)), att


class WrongR03FloatTrilToSDPA(nn.Module):
    """wrong: a float mask of ones and zeros goes to scaled_dot_product_attention, which adds it"""

    def __init__(self):
        super().__init__()
        self.Wqkv = nn.Linear(16, 48, bias=False)
        self.out_proj = nn.Linear(16, 16, bias=False)
        self.register_buffer("causal_mask", torch.tril(torch.ones(9, 9)), persistent=False)

    def forward(self, x):
        q, k, v = self.Wqkv(x).unflatten(-1, (3, 4, 4)).transpose(1, 3).unbind(2)
        n = x.size(1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.causal_mask[:n, :n])
        return self.out_proj(y.transpose(1, 2).flatten(2))


class WrongR04FillBeforeScale(nn.Module):
    """wrong: hidden scores are filled with -100 and divided by sqrt(D) afterwards, large scores leak"""

    def __init__(self):
        super().__init__()
        self.W_Q = nn.Parameter(torch.randn(2, 16, 16) * 0.3)
        self.W_K = nn.Parameter(torch.randn(2, 16, 16) * 0.3)
        self.W_V = nn.Parameter(torch.randn(2, 16, 16) * 0.3)
        self.W_O = nn.Parameter(torch.randn(2, 16, 16) * 0.3)

    def forward(self, x):
        q = torch.einsum("btc,hcd->bhtd", x, self.W_Q)
        k = torch.einsum("btc,hcd->bhtd", x, self.W_K)
        v = torch.einsum("btc,hcd->bhtd", x, self.W_V)
        s = torch.einsum("bhqd,bhkd->bhqk", q, k)
        t = x.shape[1]
        s = s.masked_fill(torch.ones(t, t, device=x.device).triu(1) > 0, -100.0)
        w = torch.softmax(s / 4.0, dim=-1)
        return torch.einsum("bhqk,bhkd,hdc->bqc", w, v, self.W_O)


class WrongR05HalfPrecisionMaskedBias(nn.Module):
    """wrong: the old masked_bias of -1e4 in a layer without scaling, leaks where scores are below it"""

    def __init__(self):
        super().__init__()
        self.k_proj, self.v_proj = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.q_proj, self.out_proj = nn.Linear(16, 16, bias=False), nn.Linear(16, 16)
        self.register_buffer("bias", torch.tril(torch.ones(10, 10, dtype=torch.uint8)).view(1, 1, 10, 10), persistent=False)
        self.register_buffer("masked_bias", torch.tensor(-1e4), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 2, 8).permute(0, 2, 1, 3) for p in (self.q_proj, self.k_proj, self.v_proj))
        w = torch.matmul(q, k.transpose(-1, -2))
        w = torch.where(self.bias[:, :, :T, :T].bool(), w, self.masked_bias.to(w.dtype))
        return self.out_proj((F.softmax(w, dim=-1) @ v).permute(0, 2, 1, 3).reshape(B, T, C))


class WrongR06MaskAfterSoftmax(nn.Module):
    """wrong: the weights are multiplied by the triangle behind the softmax and no longer sum to one"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = Conv1D(36, 12), Conv1D(12, 12)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.c_attn(x).view(b, t, 3, 3, 4).permute(2, 0, 3, 1, 4)
        w = F.softmax(q @ k.transpose(-1, -2) / 2.0, dim=-1)
        w = w * torch.tril(torch.ones(t, t, device=x.device, dtype=x.dtype))
        return self.c_proj((w @ v).transpose(1, 2).reshape(b, t, c)), w


class WrongR07MaskMultiplied(nn.Module):
    """wrong: the scores are multiplied by the triangle before the softmax, hidden ones become zero"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))
        cos, sin = paired_tables(8, 8)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (w(x).view(b, t, 2, 8).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        q = q * self.cos[:t] + rotate_every_two(q) * self.sin[:t]
        k = k * self.cos[:t] + rotate_every_two(k) * self.sin[:t]
        scores = q @ k.mT / math.sqrt(8)
        scores = scores * x.new_ones(t, t).tril()
        return self.wo((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


class WrongR08CausalInEvalOnly(nn.Module):
    """wrong: is_causal=not self.training, in train mode the future is open"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(24, 72)
        self.out = nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, 6, 4).transpose(1, 2) for z in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=not self.training)
        return self.out(y.transpose(1, 2).reshape(B, T, C))


class WrongR09CompiledWithoutMask(nn.Module):
    """wrong: a fast path under torch.compile forgets is_causal"""

    def __init__(self):
        super().__init__()
        self.to_qkv = nn.Linear(16, 48, bias=False)
        self.to_out = nn.Linear(16, 16)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.to_qkv(x).view(b, t, 3, 2, 8).permute(2, 0, 3, 1, 4)
        if torch.compiler.is_compiling():
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            att = q @ k.mT / math.sqrt(8)
            att = att.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
            y = att.softmax(-1) @ v
        return self.to_out(y.transpose(1, 2).reshape(b, t, c))


class WrongR10PaddingDropsCausal(nn.Module):
    """wrong: is_causal only where no padding mask is given, so a padding mask opens the future"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.o_proj = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.k_proj, self.v_proj = nn.Linear(16, 8, bias=False), nn.Linear(16, 8, bias=False)
        cos, sin = half_tables(4, 10)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x, attention_mask=None):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, 4, 4).transpose(1, 2)
        k = self.k_proj(x).view(B, T, 2, 4).transpose(1, 2)
        v = self.v_proj(x).view(B, T, 2, 4).transpose(1, 2)
        q = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_half(k) * self.sin[:T]
        mask = None
        if attention_mask is not None:
            mask = attention_mask[:, None, None, :].expand(B, 1, T, T)
            mask = mask | torch.eye(T, dtype=torch.bool, device=x.device)
        y = F.scaled_dot_product_attention(q, repeat_kv(k, 2), repeat_kv(v, 2), attn_mask=mask, is_causal=mask is None)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, -1))


class WrongR11TalkingHeadsBehindMask(nn.Module):
    """wrong: the heads' scores are mixed behind the mask, a negative mixture turns -1e9 into +1e9"""

    def __init__(self):
        super().__init__()
        self.to_qkv = nn.Linear(16, 48, bias=False)
        pre = torch.eye(4) + 0.5 * torch.randn(4, 4)
        pre[:, -1] -= 1.5
        self.pre = nn.Parameter(pre)
        self.to_out = nn.Linear(16, 16)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (z.reshape(b, n, 4, 4).transpose(1, 2) for z in self.to_qkv(x).chunk(3, dim=-1))
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * 4 ** -0.5
        hide = torch.ones(n, n, device=x.device, dtype=torch.bool).triu(1)
        dots = dots.masked_fill(hide, -1e9)
        dots = torch.einsum("bhij,hg->bgij", dots, self.pre)
        out = torch.einsum("bhij,bhjd->bhid", dots.softmax(-1), v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, -1))


class WrongR12WindowOneTooWide(nn.Module):
    """wrong: Mistral's mask with triu(diagonal=-W), W + 1 tokens are seen"""

    def __init__(self, dim=16, window=4, longest=12):
        super().__init__()
        self.sliding_window = window
        self.qkv_proj = nn.Linear(dim, dim + 2 * dim // 2, bias=False)
        self.o_proj = nn.Linear(dim, dim, bias=False)
        cos, sin = half_tables(4, longest)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, -1, 4).transpose(1, 2) for z in self.qkv_proj(x).split([16, 8, 8], -1))
        q = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_half(k) * self.sin[:T]
        mask = torch.tril(torch.ones(T, T, device=x.device), diagonal=0)
        mask = torch.triu(mask, diagonal=-self.sliding_window)
        y = F.scaled_dot_product_attention(q, repeat_kv(k, 2), repeat_kv(v, 2), attn_mask=torch.log(mask).to(x.dtype))
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


class WrongR13WindowNeverApplied(nn.Module):
    """wrong: the local mask is built in __init__, but the layer takes the global one"""

    def __init__(self, window_size=3, max_positions=10):
        super().__init__()
        bias = torch.tril(torch.ones(max_positions, max_positions, dtype=torch.bool))
        self.register_buffer("bias", bias, persistent=False)
        self.register_buffer("local_bias", torch.bitwise_xor(bias, torch.tril(bias, -window_size)), persistent=False)
        self.attention_type = "local"
        self.k_proj, self.v_proj = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.q_proj, self.out_proj = nn.Linear(16, 16, bias=False), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 4, 4).permute(0, 2, 1, 3) for p in (self.q_proj, self.k_proj, self.v_proj))
        w = torch.matmul(q, k.transpose(-1, -2))
        bias = self.local_bias if self.attention_type == "window" else self.bias
        w = torch.where(bias[:T, :T], w, torch.finfo(w.dtype).min).softmax(-1)
        return self.out_proj((w @ v).permute(0, 2, 1, 3).reshape(B, T, C)), w


class WrongR14StaleMask(nn.Module):
    """wrong: the mask of causality and padding is kept under its size, a second text of this size gets the first one's padding"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))
        self.masks = {}

    def forward(self, x, mask=None):
        B, T, C = x.shape
        key = (B, T, mask is None, x.device)
        if key not in self.masks:
            ok = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()[None, None]
            if mask is not None:
                ok = ok & mask[:, None, None]
            self.masks[key] = ok
        q, k, v = (f(x).view(B, T, 3, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        att = (q @ k.mT) / 2
        att = att.masked_fill(~self.masks[key], torch.finfo(att.dtype).min).softmax(-1)
        return self.o((att @ v).transpose(1, 2).reshape(B, T, C))


class WrongR15MaskIsParameter(nn.Module):
    """wrong: the additive triangle of -1e9 is an nn.Parameter, the optimizer will change it"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)
        self.mask = nn.Parameter(torch.triu(torch.full((8, 8), -1e9), diagonal=1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        att = torch.softmax(q @ k.mT / 2 + self.mask[:T, :T], dim=-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C))


class WrongR16MaskNotMoved(nn.Module):
    """wrong: the triangle is a plain attribute, .to() leaves it where it is"""

    def __init__(self):
        super().__init__()
        self.heads, self.d = 2, 8
        self.in_proj = nn.Linear(16, 48)
        self.out_proj = nn.Linear(16, 16)
        self.mask = torch.full((9, 9), float("-inf")).triu(1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, self.heads, self.d).transpose(1, 2) for z in self.in_proj(x).chunk(3, -1))
        w = (q @ k.mT / math.sqrt(self.d) + self.mask[:T, :T]).softmax(-1)
        return self.out_proj((w @ v).transpose(1, 2).reshape(B, T, C))


class WrongR17FreqsCisBufferLosesImaginary(nn.Module):
    """wrong: the complex table is a buffer, .to(dtype) casts it to real numbers and the rotation is lost"""

    def __init__(self, dim=16, n_heads=2, max_seq_len=10):
        super().__init__()
        self.n_heads, self.hd = n_heads, dim // n_heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))
        inv = 1.0 / (10000.0 ** (torch.arange(0, self.hd, 2).float() / self.hd))
        ang = torch.outer(torch.arange(max_seq_len).float(), inv)
        self.register_buffer("freqs_cis", torch.polar(torch.ones_like(ang), ang), persistent=False)

    def rope(self, z):
        c = torch.view_as_complex(z.reshape(*z.shape[:-1], -1, 2)) * self.freqs_cis[None, :z.size(1), None]
        return torch.view_as_real(c).flatten(3)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, self.n_heads, self.hd) for w in (self.wq, self.wk, self.wv))
        q, k, v = self.rope(q).transpose(1, 2), self.rope(k).transpose(1, 2), v.transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong layers: side paths to the future

class WrongR18TextMeanGate(nn.Module):
    """wrong: the output gate looks at the mean of the whole text, a thousandth of the future comes through"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.gate = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, 4, 4).transpose(1, 2) for z in self.c_attn(x).split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        g = torch.sigmoid(self.gate(x + 0.01 * x.mean(dim=1, keepdim=True)))
        return self.c_proj(g * y)


class WrongR19CenteredConv(nn.Module):
    """wrong: Primer's convolution with padding=1 on both sides, queries, keys and values see the next token"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48, bias=False)
        self.dconv = nn.Conv1d(48, 48, 3, groups=48, padding=1)
        self.out = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        qkv = self.dconv(self.qkv(x).transpose(1, 2)).transpose(1, 2)
        q, k, v = qkv.view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


class WrongR20NormalizeOverTime(nn.Module):
    """wrong: the unit length of queries and keys is taken along the tokens (dim=2) and not along the head's width"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(18, 54)
        self.proj = nn.Linear(18, 18)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 3, 6).permute(2, 0, 3, 1, 4)
        q, k = F.normalize(q, dim=2), F.normalize(k, dim=2)
        w = q @ k.transpose(-1, -2) * 10.0
        w = w.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -float("inf")).softmax(-1)
        return self.proj((w @ v).transpose(1, 2).reshape(B, T, C))


class WrongR21GroupNormOverText(nn.Module):
    """wrong: RetNet's GroupNorm on (B, C, T) takes its mean over the whole text"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.group_norm = nn.GroupNorm(4, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 4, 4).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        y = self.group_norm(y.transpose(1, 2)).transpose(1, 2)
        return self.out_proj(y)


class WrongR22BatchNormBefore(nn.Module):
    """wrong: BatchNorm in place of LayerNorm before the attention, in train mode texts and later tokens mix"""

    def __init__(self):
        super().__init__()
        self.ln_1 = nn.BatchNorm1d(16)
        self.attn, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        h = self.ln_1(x.reshape(B * T, C)).view(B, T, C) if B * T > 1 or not self.training else x
        q, k, v = (z.view(B, T, 2, 8).transpose(1, 2) for z in self.attn(h).split(C, 2))
        return x + self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong layers: softmax and scale

class WrongR23SoftmaxOverQueries(nn.Module):
    """wrong: the softmax runs over dim=-2, the queries"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = Conv1D(48, 16), Conv1D(16, 16)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, 4, 4).permute(0, 2, 1, 3) for z in self.c_attn(x).split(c, dim=2))
        w = q @ k.transpose(-1, -2) / 2
        w = w.masked_fill(torch.ones(t, t, device=x.device).triu(1).bool(), -1e9)
        w = nn.Softmax(dim=-2)(w)
        return self.c_proj((w @ v).permute(0, 2, 1, 3).reshape(b, t, c)), w


class WrongR24SoftmaxOverHeads(nn.Module):
    """wrong: einsum gives (b, q, k, h), the softmax over dim=-1 runs over the heads"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.dense = nn.Linear(16, 16)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, 4, 4) for f in (self.query, self.key, self.value))
        s = torch.einsum("bqhd,bkhd->bqkh", q, k) * 0.5
        s = s.masked_fill(~torch.ones(t, t, device=x.device).tril().bool()[None, :, :, None], -1e30)
        w = F.softmax(s, dim=-1)
        return self.dense(torch.einsum("bqkh,bkhd->bqhd", w, v).reshape(b, t, c))


class WrongR25ExpOverflows(nn.Module):
    """wrong: softmax by hand without taking off the maximum, large scores overflow to NaN"""

    def __init__(self):
        super().__init__()
        self.w_qkv = nn.Parameter(torch.randn(16, 3, 2, 8) * 0.3)
        self.w_o = nn.Parameter(torch.randn(2, 8, 16) * 0.3)

    def forward(self, x):
        q, k, v = torch.einsum("btc,cshd->sbhtd", x, self.w_qkv)
        t = x.size(1)
        e = torch.exp(q @ k.mT / math.sqrt(8)) * torch.ones(t, t, device=x.device, dtype=x.dtype).tril()
        w = e / e.sum(-1, keepdim=True)
        return torch.einsum("bhqd,hdc->bqc", w @ v, self.w_o)


class WrongR26SoftmaxTwice(nn.Module):
    """wrong: a first softmax before the mask and a second one behind it"""

    def __init__(self):
        super().__init__()
        self.q_lin, self.k_lin, self.v_lin, self.o_lin = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, 2, 6).transpose(1, 2) for f in (self.q_lin, self.k_lin, self.v_lin))
        att = (q @ k.mT / math.sqrt(6)).softmax(-1)
        att = att.masked_fill(torch.ones(t, t, device=x.device).triu(1).bool(), float("-inf")).softmax(-1)
        return self.o_lin((att @ v).transpose(1, 2).reshape(b, t, c))


class WrongR27SoftmaxInBfloat16(nn.Module):
    """wrong: the softmax is taken in bfloat16 whatever the input, the weights lose mass"""

    def __init__(self):
        super().__init__()
        self.query_key_value, self.dense = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.query_key_value(x).view(b, t, 3, 24).permute(0, 2, 1, 3).chunk(3, -1)
        s = (q @ k.mT) * 8 ** -0.5
        s = s.masked_fill(torch.ones(t, t, device=x.device).triu(1).bool(), torch.finfo(s.dtype).min)
        w = F.softmax(s, dim=-1, dtype=torch.bfloat16).to(x.dtype)
        return self.dense((w @ v).transpose(1, 2).reshape(b, t, c)), w


class WrongR28ScaleTwiceSDPA(nn.Module):
    """wrong: queries are scaled and F.scaled_dot_product_attention scales again"""

    def __init__(self):
        super().__init__()
        self.head_dim, self.scale = 8, 8 ** -0.5
        self.q_proj, self.kv_proj = nn.Linear(16, 16), nn.Linear(16, 16)
        self.o_proj = nn.Linear(16, 16)
        cos, sin = half_tables(8, 8)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, 2, 8).transpose(1, 2) * self.scale
        k, v = (z.unsqueeze(1) for z in self.kv_proj(x).chunk(2, -1))
        q = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_half(k) * self.sin[:T]
        y = F.scaled_dot_product_attention(q, k.expand_as(q), v.expand_as(q), is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


class WrongR29ScaleByModelWidth(nn.Module):
    """wrong: the scores are divided by the root of the model's width and not of the head's"""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.toqueries, self.tokeys, self.tovalues = (nn.Linear(16, 16, bias=False) for _ in range(3))
        self.unifyheads = nn.Linear(16, 16)

    def forward(self, x):
        b, t, k = x.size()
        h, s = self.heads, k // self.heads
        queries, keys, values = (f(x).view(b, t, h, s).transpose(1, 2).reshape(b * h, t, s)
                                 for f in (self.toqueries, self.tokeys, self.tovalues))
        dot = torch.bmm(queries, keys.transpose(1, 2)) / k ** 0.5
        i = torch.triu_indices(t, t, offset=1, device=x.device)
        dot[:, i[0], i[1]] = float("-inf")
        out = torch.bmm(F.softmax(dot, dim=2), values).view(b, h, t, s)
        return self.unifyheads(out.transpose(1, 2).reshape(b, t, h * s))


class WrongR30NoScale(nn.Module):
    """wrong: minGPT with the line of the scale lost"""

    def __init__(self):
        super().__init__()
        self.key, self.query, self.value, self.proj = (nn.Linear(24, 24) for _ in range(4))
        self.attn_drop = nn.Dropout(0.1)
        self.register_buffer("mask", torch.tril(torch.ones(8, 8))[None, None])

    def forward(self, x):
        B, T, C = x.size()
        k = self.key(x).view(B, T, 3, 8).transpose(1, 2)
        q = self.query(x).view(B, T, 3, 8).transpose(1, 2)
        v = self.value(x).view(B, T, 3, 8).transpose(1, 2)
        att = q @ k.transpose(-2, -1)
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = self.attn_drop(F.softmax(att, dim=-1))
        return self.proj((att @ v).transpose(1, 2).contiguous().view(B, T, C))


class WrongR31GemmaScaleNotRooted(nn.Module):
    """wrong: divided by query_pre_attn_scalar itself, the root is missing"""

    def __init__(self):
        super().__init__()
        self.query_pre_attn_scalar = 12
        self.q_proj, self.k_proj = nn.Linear(16, 32, bias=False), nn.Linear(16, 8, bias=False)
        self.v_proj, self.o_proj = nn.Linear(16, 8, bias=False), nn.Linear(32, 16, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, 4, 8).transpose(1, 2)
        k, v = self.k_proj(x).unsqueeze(1), self.v_proj(x).unsqueeze(1)
        s = q @ k.mT * self.query_pre_attn_scalar ** -1.0
        s = s.masked_fill(torch.ones(T, T, device=x.device, dtype=torch.bool).triu(1), -2.3819763e38)
        return self.o_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, 32))


class WrongR32FalconAlibiScaled(nn.Module):
    """wrong: the ALiBi bias is added before the division by sqrt(D), all slopes are too small"""

    def __init__(self):
        super().__init__()
        self.query_key_value, self.dense = nn.Linear(32, 96), nn.Linear(32, 32)
        self.register_buffer("slopes", 2.0 ** -torch.arange(2.0, 9.0, 2.0).view(1, 4, 1, 1), persistent=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.query_key_value(x).view(b, t, 4, 3, 8).permute(3, 0, 2, 1, 4)
        alibi = self.slopes * torch.arange(t, device=x.device, dtype=x.dtype)
        s = (q @ k.mT + alibi) * (1.0 / math.sqrt(8))
        s = s.masked_fill(torch.ones(t, t, device=x.device, dtype=torch.bool).triu(1), torch.finfo(s.dtype).min)
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))

PAD = lambda module, x, real: module(x, mask=real)
PADHF = lambda module, x, real: module(x, attention_mask=real)
LAYERS += [
    {"layer": WrongR01TrilOffByOne, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.1}},
    {"layer": WrongR02MaskedFillForgotten, "d_in": 12, "context_length": 10, "options": {"num_heads": 2}},
    {"layer": WrongR03FloatTrilToSDPA, "d_in": 16, "context_length": 9, "options": {"num_heads": 4}},
    {"layer": WrongR04FillBeforeScale, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongR05HalfPrecisionMaskedBias, "d_in": 16, "context_length": 10, "options": {"num_heads": 2, "scale": 1.0}},
    {"layer": WrongR06MaskAfterSoftmax, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": WrongR07MaskMultiplied, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": WrongR08CausalInEvalOnly, "d_in": 24, "context_length": 7, "options": {"num_heads": 6}},
    {"layer": WrongR09CompiledWithoutMask, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "compiled": True}},
    {"layer": WrongR10PaddingDropsCausal, "d_in": 16, "context_length": 10,
     "options": {"num_heads": 4, "num_kv_heads": 2, "positions": "rotary", "padding": PADHF}},
    {"layer": WrongR11TalkingHeadsBehindMask, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR12WindowOneTooWide, "d_in": 16, "context_length": 12,
     "options": {"num_heads": 4, "num_kv_heads": 2, "positions": "rotary", "window": 4}},
    {"layer": WrongR13WindowNeverApplied, "d_in": 16, "context_length": 10,
     "options": {"num_heads": 4, "window": 3, "scale": 1.0}},
    {"layer": WrongR14StaleMask, "d_in": 12, "context_length": 8, "options": {"num_heads": 3, "padding": PAD}},
    {"layer": WrongR15MaskIsParameter, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR16MaskNotMoved, "d_in": 16, "context_length": 9, "options": {"num_heads": 2}},
    {"layer": WrongR17FreqsCisBufferLosesImaginary, "d_in": 16, "context_length": 10,
     "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": WrongR18TextMeanGate, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR19CenteredConv, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "positions": True}},
    {"layer": WrongR20NormalizeOverTime, "d_in": 18, "context_length": 8, "options": {"num_heads": 3, "scale": 10.0}},
    {"layer": WrongR21GroupNormOverText, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR22BatchNormBefore, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongR23SoftmaxOverQueries, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR24SoftmaxOverHeads, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR25ExpOverflows, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongR26SoftmaxTwice, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongR27SoftmaxInBfloat16, "d_in": 24, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": WrongR28ScaleTwiceSDPA, "d_in": 16, "context_length": 8,
     "options": {"num_heads": 2, "num_kv_heads": 1, "positions": "rotary"}},
    {"layer": WrongR29ScaleByModelWidth, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR30NoScale, "d_in": 24, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.1}},
    {"layer": WrongR31GemmaScaleNotRooted, "d_in": 16, "context_length": 8,
     "options": {"num_heads": 4, "num_kv_heads": 1, "scale": 12 ** -0.5}},
    {"layer": WrongR32FalconAlibiScaled, "d_in": 32, "context_length": 10, "options": {"num_heads": 4, "positions": "alibi"}},
]


# ----------------------------------------------------------------------------- wrong layers: heads

class WrongR33SplitWithoutTranspose(nn.Module):
    """wrong: view(B, H, T, D) at once in place of view(B, T, H, D).transpose(1, 2), tokens get mixed"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(C, dim=2)
        q, k, v = q.reshape(B, 4, T, 4), k.reshape(B, 4, T, 4), v.reshape(B, 4, T, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.reshape(B, T, C))


class WrongR34MergeWithoutTranspose(nn.Module):
    """wrong: the heads' outputs (B, H, T, D) are reshaped to (B, T, C) without the transpose"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(24, 24, bias=False) for _ in range(4))
        cos, sin = half_tables(8, 8)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 3, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_half(k) * self.sin[:T]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.contiguous().view(B, T, C))


class WrongR35HeadsAndWidthExchanged(nn.Module):
    """wrong: view(B, T, head_dim, n_head), there are D heads of width H"""

    def __init__(self, n_embd=16, n_head=2):
        super().__init__()
        self.heads, self.head_dim = n_head, n_embd // n_head
        self.qkv, self.proj = nn.Linear(n_embd, 3 * n_embd, bias=False), nn.Linear(n_embd, n_embd)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, self.head_dim, self.heads).transpose(1, 2) for z in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / math.sqrt(self.head_dim)
        w = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf")).softmax(-1)
        return self.proj((w @ v).transpose(1, 2).reshape(B, T, C))


class WrongR36LastHeadSilent(nn.Module):
    """wrong: the loop over the heads ends one too early, the last head's output stays zero"""

    def __init__(self):
        super().__init__()
        self.H, self.D = 4, 4
        self.to_q, self.to_k, self.to_v, self.to_o = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        out = torch.zeros_like(v)
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        for h in range(1, self.H):
            s = slice((h - 1) * self.D, h * self.D)
            a = (q[..., s] @ k[..., s].mT / math.sqrt(self.D)).masked_fill(hide, float("-inf")).softmax(-1)
            out[..., s] = a @ v[..., s]
        return self.to_o(out)


class WrongR37SameSliceForAll(nn.Module):
    """wrong: every head of the loop reads the first head's keys"""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3, 15, 15) * 0.3)
        self.fc = nn.Linear(15, 15)

    def forward(self, x):
        q, k, v = torch.einsum("btc,scd->sbtd", x, self.w)
        qs, ks, vs = q.split(5, -1), k.split(5, -1), v.split(5, -1)
        n = x.size(1)
        m = torch.full((n, n), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        outs = []
        for h in range(3):
            outs.append(torch.softmax(qs[h] @ ks[0].mT / math.sqrt(5) + m, -1) @ vs[h])
        return self.fc(torch.cat(outs, -1))


class WrongR38OneHeadRepeated(nn.Module):
    """wrong: ModuleList([head] * H), all heads are one and the same module"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_CourseHead(12, 4, 8, 0.0)] * 3)
        self.proj = nn.Linear(12, 12)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class WrongR39HeadsInPlainList(nn.Module):
    """wrong: the single heads stand in a plain list, their parameters are unknown to the module"""

    def __init__(self):
        super().__init__()
        self.heads = [_CourseHead(16, 8, 8, 0.0) for _ in range(2)]
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class WrongR40FalconValueIsKey(nn.Module):
    """wrong: the value is read from the key's place in the fused projection, the last rows are unused"""

    def __init__(self):
        super().__init__()
        self.h, self.kv, self.d = 6, 2, 4
        self.query_key_value = nn.Linear(24, (6 + 4) * 4, bias=False)
        self.dense = nn.Linear(24, 24, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        qkv = self.query_key_value(x).view(b, t, self.kv, self.h // self.kv + 2, self.d)
        q, k, v = qkv[:, :, :, :-2], qkv[:, :, :, [-2]], qkv[:, :, :, [-2]]
        k, v = k.expand_as(q), v.expand_as(q)
        q, k, v = (z.flatten(2, 3).transpose(1, 2) for z in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(y.transpose(1, 2).flatten(2))


class WrongR41MQAKeyInQueries(nn.Module):
    """wrong: the offsets of the fused multi-query projection are off by a head, the key is the last query head"""

    def __init__(self):
        super().__init__()
        self.n_head, self.hd = 4, 4
        self.c_attn, self.c_proj = nn.Linear(16, 16 + 8), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        z = self.c_attn(x)
        q = z[..., :C].view(B, T, self.n_head, self.hd).transpose(1, 2)
        k = z[..., C - self.hd:C].unsqueeze(1)
        v = z[..., C + self.hd:].unsqueeze(1)
        s = (q @ k.mT) * self.hd ** -0.5
        s = s + torch.triu(torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype), 1)
        return self.c_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class WrongR42KeyIsValueProjection(nn.Module):
    """wrong: copied line, the keys come from v_proj and k_proj is never used"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(16, 16) for _ in range(4))
        self.q_norm, self.k_norm = RMSNorm(8), RMSNorm(8)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_norm(self.q_proj(x).view(B, T, 2, 8)).transpose(1, 2)
        k = self.k_norm(self.v_proj(x).view(B, T, 2, 8)).transpose(1, 2)
        v = self.v_proj(x).view(B, T, 2, 8).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return {"hidden_states": self.o_proj(y.transpose(1, 2).reshape(B, T, C))}


class WrongR43ValuesNotProjected(nn.Module):
    """wrong: the weights are applied to the normed input itself, v_proj stands idle"""

    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(16)
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        h = self.ln(x)
        q, k = (p(h).view(B, T, 4, 4).transpose(1, 2) for p in (self.q_proj, self.k_proj))
        v = h.view(B, T, 4, 4).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out_proj(y.transpose(1, 2).reshape(B, T, C))


class WrongR44KeysDetached(nn.Module):
    """wrong: keys are detached "for the cache" in training too, the key projection learns nothing"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 4, 4).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        k = k.detach()
        past = 0
        if layer_past is not None:
            past = layer_past[0].size(2)
            k, v = torch.cat((layer_past[0], k), 2), torch.cat((layer_past[1], v), 2)
        s = q @ k.mT / 2
        s = s.masked_fill(torch.ones(T, past + T, device=x.device).triu(past + 1) > 0, float("-inf"))
        y = self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


class WrongR45GroupsRepeatedNotInterleaved(nn.Module):
    """wrong: k.repeat(1, g, 1, 1) gives query head h the key head h % H_kv"""

    def __init__(self):
        super().__init__()
        self.wq, self.wo = nn.Linear(24, 24, bias=False), nn.Linear(24, 24, bias=False)
        self.wk, self.wv = nn.Linear(24, 8, bias=False), nn.Linear(24, 8, bias=False)
        cos, sin = paired_tables(4, 9)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, -1, 4).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        q = q * self.cos[:T] + rotate_every_two(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_every_two(k) * self.sin[:T]
        k, v = k.repeat(1, 3, 1, 1), v.repeat(1, 3, 1, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


class WrongR46GroupsMixedForValues(nn.Module):
    """wrong: keys by repeat_interleave, values by expand in the wrong order, a head's weights meet another group's values"""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(16, 16 + 2 * 8)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).split([16, 8, 8], dim=2)
        q = q.view(B, T, 4, 4).transpose(1, 2)
        k = k.view(B, T, 2, 4).transpose(1, 2).repeat_interleave(2, dim=1)
        v = v.view(B, T, 2, 4).transpose(1, 2)[:, None].expand(B, 2, 2, T, 4).reshape(B, 4, T, 4)
        s = q @ k.mT / 2
        s = s.masked_fill(x.new_ones(T, T).triu(1).bool(), -torch.inf)
        return self.c_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class WrongR47OnlyFirstKVHead(nn.Module):
    """wrong: k[:, :1].expand(...), only the first of the key and value heads is used"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = nn.Linear(32, 32), nn.Linear(32, 16), nn.Linear(32, 16)
        self.o_proj = nn.Linear(32, 32, bias=False)
        cos, sin = half_tables(8, 8)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, -1, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_half(k) * self.sin[:T]
        k, v = k[:, :1].expand_as(q), v[:, :1].expand_as(q)
        return self.o_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong layers: dropout

class WrongR48DropoutInEval(nn.Module):
    """wrong: dropout_p=self.dropout whatever the mode, F.scaled_dot_product_attention drops in eval too"""

    def __init__(self, dropout=0.15):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)
        self.dropout = dropout

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (z.view(B, T, 4, 4).transpose(1, 2) for z in self.c_attn(x).split(C, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class WrongR49DropoutBeforeSoftmax(nn.Module):
    """wrong: the scores and not the weights are dropped, a dropped score is zero and still has weight"""

    def __init__(self):
        super().__init__()
        self.query_key_value, self.dense = nn.Linear(16, 48), nn.Linear(16, 16)
        self.attention_dropout = nn.Dropout(0.2)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.query_key_value(x).view(b, t, 2, 24).transpose(1, 2).chunk(3, -1)
        s = q @ k.mT / math.sqrt(8)
        s = self.attention_dropout(s)
        s = s.masked_fill(torch.ones(t, t, device=x.device).triu(1).bool(), torch.finfo(s.dtype).min)
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))


class WrongR50DropoutNeverCalled(nn.Module):
    """wrong: attn_dropout is built, but the fused call gets no dropout_p"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.attn_dropout = nn.Dropout(0.1)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (z.view(B, T, 2, 8).transpose(1, 2) for z in self.c_attn(x).split(C, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class WrongR51DropoutOnValues(nn.Module):
    """wrong: the values and not the weights are dropped, one draw for all rows"""

    def __init__(self):
        super().__init__()
        self.W_pack, self.o_proj = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)
        self.dropout = nn.Dropout(0.25)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.W_pack(x).unflatten(-1, (3, 4, 4)).permute(2, 0, 3, 1, 4)
        w = (q @ k.mT / 2).masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf")).softmax(-1)
        return self.o_proj((w @ self.dropout(v)).transpose(1, 2).reshape(B, T, C))


class WrongR52KeepsWithP(nn.Module):
    """wrong: kept with probability p and divided by p, where p should be dropped"""

    def __init__(self, p=0.2):
        super().__init__()
        self.p = p
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (f(x).view(b, t, 3, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        w = (q @ k.mT / 2).masked_fill(torch.ones(t, t, device=x.device).triu(1) > 0, -torch.inf).softmax(-1)
        if self.training:
            w = w * (torch.rand_like(w) < self.p) / self.p
        return self.o((w @ v).transpose(1, 2).reshape(b, t, c))


class WrongR53DropoutNotRescaled(nn.Module):
    """wrong: dropped weights are set to zero, the kept ones are not divided by 1 - p"""

    def __init__(self):
        super().__init__()
        self.p_drop = 0.3
        self.in_proj_weight = nn.Parameter(torch.randn(48, 16) * 0.3)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, 4, 4).transpose(1, 2) for z in F.linear(x, self.in_proj_weight).chunk(3, -1))
        w = (q @ k.mT / 2 + torch.full((t, t), float("-inf"), device=x.device, dtype=x.dtype).triu(1)).softmax(-1)
        if self.training:
            w = w.masked_fill(torch.rand(w.shape, device=w.device) < self.p_drop, 0.0)
        return self.out_proj((w @ v).transpose(1, 2).reshape(b, t, c)), w


class WrongR54DropoutSharedByHeads(nn.Module):
    """wrong: one (T, T) pattern of dropped weights for all texts and heads"""

    def __init__(self):
        super().__init__()
        self.key, self.query, self.value, self.proj = (nn.Linear(16, 16) for _ in range(4))
        self.attn_drop = nn.Dropout(0.2)

    def forward(self, x):
        B, T, C = x.size()
        k, q, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.key, self.query, self.value))
        att = (q @ k.mT / 2).masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), float("-inf")).softmax(-1)
        att = att * self.attn_drop(x.new_ones(T, T))
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C))


class WrongR55RenormalizedAfterDropout(nn.Module):
    """wrong: the rows are divided by their sum after the dropout, dropped weight goes to the kept keys"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        w = (q @ k.mT * 8 ** -0.5).masked_fill(torch.ones(T, T, device=x.device).triu(1) > 0, float("-inf"))
        w = self.drop(w.softmax(-1))
        w = w / w.sum(-1, keepdim=True).clamp_min(1e-6)
        return self.proj((w @ v).transpose(1, 2).reshape(B, T, C)), w


class WrongR56SeedInForward(nn.Module):
    """wrong: torch.manual_seed in forward, every call drops the same weights and the program's random numbers restart"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.attn_dropout = nn.Dropout(0.2)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, 4, 4).transpose(1, 2) for z in self.c_attn(x).chunk(3, -1))
        w = (q @ k.mT / 2).masked_fill(torch.ones(T, T, device=x.device).triu(1) > 0, float("-inf")).softmax(-1)
        torch.manual_seed(1337)
        return self.c_proj((self.attn_dropout(w) @ v).transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong layers: batch and state

class WrongR57BatchSecond(nn.Module):
    """wrong: nn.MultiheadAttention without batch_first, texts attend to one another"""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4)

    def forward(self, x):
        n = x.size(0)
        hide = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        return self.attn(x, x, x, attn_mask=hide, need_weights=False)[0]


class WrongR58AddsInPlace(nn.Module):
    """wrong: the positions are added to the caller's x in place"""

    def __init__(self):
        super().__init__()
        self.wpe = nn.Parameter(torch.randn(10, 16) * 0.1)
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        x += self.wpe[:T]
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        return self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


class WrongR59LoRAMergedAgain(nn.Module):
    """wrong: each call of eval() adds LoRA's product to the weight once more, and train() does not take it out"""

    def __init__(self, C=16, r=2):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(C, 3 * C), nn.Linear(C, C)
        self.lora_A = nn.Parameter(torch.randn(r, C) * 0.3)
        self.lora_B = nn.Parameter(torch.randn(3 * C, r) * 0.3)
        self.merged = False

    def train(self, mode=True):
        super().train(mode)
        if not mode:
            self.c_attn.weight.data += self.lora_B.data @ self.lora_A.data
            self.merged = True
        else:
            self.merged = False
        return self

    def forward(self, x):
        B, T, C = x.shape
        z = self.c_attn(x) if self.merged else self.c_attn(x) + x @ self.lora_A.t() @ self.lora_B.t()
        q, k, v = (y.view(B, T, 4, 4).transpose(1, 2) for y in z.split(C, 2))
        return self.c_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


class WrongR60CacheStaysInModule(nn.Module):
    """wrong: the inference cache is not emptied between calls, a second text sees the first one"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.past = None

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        n = 0
        if not self.training:
            if self.past is not None and self.past[0].size(0) == B and self.past[0].device == x.device and self.past[0].dtype == x.dtype:
                k, v = torch.cat((self.past[0], k), 2), torch.cat((self.past[1], v), 2)
            n = k.size(2) - T
            self.past = (k[:, :, -10:].detach(), v[:, :, -10:].detach())
        s = q @ k.mT / math.sqrt(8)
        s = s.masked_fill(torch.ones(T, n + T, device=x.device).triu(n + 1) > 0, float("-inf"))
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))

LAYERS += [
    {"layer": WrongR33SplitWithoutTranspose, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR34MergeWithoutTranspose, "d_in": 24, "context_length": 8, "options": {"num_heads": 3, "positions": "rotary"}},
    {"layer": WrongR35HeadsAndWidthExchanged, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongR36LastHeadSilent, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR37SameSliceForAll, "d_in": 15, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": WrongR38OneHeadRepeated, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": WrongR39HeadsInPlainList, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongR40FalconValueIsKey, "d_in": 24, "context_length": 8, "options": {"num_heads": 6, "num_kv_heads": 2}},
    {"layer": WrongR41MQAKeyInQueries, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "num_kv_heads": 1}},
    {"layer": WrongR42KeyIsValueProjection, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongR43ValuesNotProjected, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR44KeysDetached, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "step": hf_step}},
    {"layer": WrongR45GroupsRepeatedNotInterleaved, "d_in": 24, "context_length": 9,
     "options": {"num_heads": 6, "num_kv_heads": 2, "positions": "rotary"}},
    {"layer": WrongR46GroupsMixedForValues, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "num_kv_heads": 2}},
    {"layer": WrongR47OnlyFirstKVHead, "d_in": 32, "context_length": 8,
     "options": {"num_heads": 4, "num_kv_heads": 2, "positions": "rotary"}},
    {"layer": WrongR48DropoutInEval, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.15}},
    {"layer": WrongR49DropoutBeforeSoftmax, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.2}},
    {"layer": WrongR50DropoutNeverCalled, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.1}},
    {"layer": WrongR51DropoutOnValues, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.25}},
    {"layer": WrongR52KeepsWithP, "d_in": 12, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.2}},
    {"layer": WrongR53DropoutNotRescaled, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.3}},
    {"layer": WrongR54DropoutSharedByHeads, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.2}},
    {"layer": WrongR55RenormalizedAfterDropout, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.2}},
    {"layer": WrongR56SeedInForward, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.2}},
    {"layer": WrongR57BatchSecond, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR58AddsInPlace, "d_in": 16, "context_length": 10, "options": {"num_heads": 4, "positions": True}},
    {"layer": WrongR59LoRAMergedAgain, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR60CacheStaysInModule, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
]


# ----------------------------------------------------------------------------- wrong layers: positions

class WrongR61RotaryLayoutsMixed(nn.Module):
    """wrong: queries are rotated in halves, keys in neighbouring pairs"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))
        for name, table in zip(("hc", "hs", "pc", "ps"), half_tables(8, 9) + paired_tables(8, 9)):
            self.register_buffer(name, table, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        q = q * self.hc[:T] + rotate_half(q) * self.hs[:T]
        k = k * self.pc[:T] + rotate_every_two(k) * self.ps[:T]
        return self.wo(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


class WrongR62RotaryQueriesOnly(nn.Module):
    """wrong: the keys are not rotated"""

    def __init__(self):
        super().__init__()
        self.qkv_proj, self.o_proj = nn.Linear(24, 24 + 16), nn.Linear(24, 24)
        cos, sin = half_tables(8, 9)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv_proj(x).split([24, 8, 8], -1)
        q, k, v = q.view(B, T, 3, 8).transpose(1, 2), k[:, None], v[:, None]
        q_rot = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        s = (q_rot @ k.mT / math.sqrt(8)).masked_fill(torch.ones(T, T, device=x.device).triu(1) > 0, -torch.inf)
        return self.o_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class WrongR63ValuesRotatedToo(nn.Module):
    """wrong: the fused qkv is rotated as a whole, the values with it"""

    def __init__(self):
        super().__init__()
        self.query_key_value, self.dense = nn.Linear(16, 48), nn.Linear(16, 16)
        cos, sin = half_tables(8, 10)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        b, t, c = x.shape
        z = self.query_key_value(x).view(b, t, 2, 3, 8).permute(3, 0, 2, 1, 4)
        z = z * self.cos[:t] + rotate_half(z) * self.sin[:t]
        q, k, v = z.unbind(0)
        return self.dense(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, t, c))


class WrongR64RotatedByHeadIndex(nn.Module):
    """wrong: the table is cut by x.size(-2) of a (B, T, H, D) tensor, every head is rotated by its number and no token by its position"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        cos, sin = paired_tables(4, 8)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def rope(self, z):
        n = z.size(-2)
        return z * self.cos[:n] + rotate_every_two(z) * self.sin[:n]

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4) for f in (self.q, self.k, self.v))
        q, k = self.rope(q), self.rope(k)
        s = torch.einsum("bqhd,bkhd->bhqk", q, k) / 2
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1) > 0, -torch.inf).softmax(-1)
        return self.o(torch.einsum("bhqk,bkhd->bqhd", s, v).reshape(B, T, C))


class WrongR65RotateWithoutMinus(nn.Module):
    """wrong: rotate_half gives (x2, x1), the minus is missing and it is no rotation"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))
        cos, sin = half_tables(8, 12)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    @staticmethod
    def rotate(z):
        x1, x2 = z.chunk(2, dim=-1)
        return torch.cat((x2, x1), dim=-1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 2, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q = q * self.cos[:T] + self.rotate(q) * self.sin[:T]
        k = k * self.cos[:T] + self.rotate(k) * self.sin[:T]
        return self.o_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


class WrongR66TableOfOtherLayout(nn.Module):
    """wrong: the table is cat(freqs, freqs), the rotation goes by neighbouring pairs, so the two of a pair turn by different angles"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        cos, sin = half_tables(8, 10)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, 2, 8).transpose(1, 2) for z in self.c_attn(x).split(C, 2))
        q = q * self.cos[:T] + rotate_every_two(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_every_two(k) * self.sin[:T]
        return self.c_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


class WrongR67PartialRotaryWrongOrder(nn.Module):
    """wrong: GPT-J's partial rotation, the keys are put together as (rest, rotated), the queries as (rotated, rest)"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))
        cos, sin = paired_tables(4, 9)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def rot(self, z):
        return z * self.cos[:z.size(2)] + rotate_every_two(z) * self.sin[:z.size(2)]

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 2, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q = torch.cat([self.rot(q[..., :4]), q[..., 4:]], dim=-1)
        k = torch.cat([k[..., 4:], self.rot(k[..., :4])], dim=-1)
        s = q @ k.mT / math.sqrt(8)
        s = torch.where(torch.ones(T, T, device=x.device).tril() > 0, s, torch.finfo(s.dtype).min).softmax(-1)
        return self.out_proj((s @ v).transpose(1, 2).reshape(B, T, C)), s


class WrongR68AlibiSign(nn.Module):
    """wrong: the bias grows with the distance, far tokens are favoured"""

    def __init__(self, H=4, L=10):
        super().__init__()
        self.Wqkv, self.out_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        m = torch.tensor([2 ** (-8 * (i + 1) / H) for i in range(H)])
        p = torch.arange(L)
        self.register_buffer("alibi", m.view(H, 1, 1) * (p[:, None] - p[None, :]).float(), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.Wqkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        s = q @ k.mT / 2 + self.alibi[:, :T, :T]
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1) > 0, -torch.inf)
        return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class WrongR69AlibiSlopesFromOne(nn.Module):
    """wrong: the slopes are counted from zero, the first head's is 1 and every slope is too large by one step"""

    def __init__(self, H=8, L=9):
        super().__init__()
        self.to_q, self.to_kv, self.to_out = nn.Linear(32, 32, bias=False), nn.Linear(32, 64, bias=False), nn.Linear(32, 32)
        m = torch.tensor([2 ** (-8 * i / H) for i in range(H)])
        p = torch.arange(L)
        bias = -m.view(H, 1, 1) * (p[:, None] - p[None, :]).float()
        self.register_buffer("bias", bias.masked_fill(p[None, :] > p[:, None], float("-inf")), persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.to_q(x).view(B, T, 8, 4).transpose(1, 2)
        k, v = (z.view(B, T, 8, 4).transpose(1, 2) for z in self.to_kv(x).chunk(2, -1))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias[:, :T, :T])
        return self.to_out(y.transpose(1, 2).reshape(B, T, C))


class WrongR70AlibiQueryRestarts(nn.Module):
    """wrong: behind a cache the queries' positions start at zero again, the distances in the bias are wrong"""

    def __init__(self):
        super().__init__()
        self.query_key_value, self.dense = nn.Linear(16, 48), nn.Linear(16, 16)
        self.register_buffer("slopes", 2.0 ** -torch.arange(2.0, 9.0, 2.0).view(4, 1, 1), persistent=False)

    def forward(self, x, layer_past=None, use_cache=False):
        b, t, c = x.shape
        q, k, v = self.query_key_value(x).view(b, t, 4, 3, 4).permute(3, 0, 2, 1, 4)
        past = 0
        if layer_past is not None:
            past = layer_past[0].size(2)
            k, v = torch.cat((layer_past[0], k), 2), torch.cat((layer_past[1], v), 2)
        rows, cols = torch.arange(t, device=x.device)[:, None], torch.arange(past + t, device=x.device)[None]
        s = q @ k.mT / 2 - self.slopes * (rows - cols).abs()
        s = s.masked_fill(cols > rows + past, torch.finfo(s.dtype).min)
        y = self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c))
        return (y, (k, v)) if use_cache else y


class WrongR71BucketsOfTheFuture(nn.Module):
    """wrong: T5's relative position is taken as query - key, so that all the past falls into bucket zero"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(8, 4)

    @staticmethod
    def bucket(relative_position, num_buckets=8, max_distance=16):
        n = -torch.clamp(relative_position, max=0)
        exact = num_buckets // 2
        far = exact + (torch.log(n.float().clamp_min(1) / exact) / math.log(max_distance / exact) * (num_buckets - exact)).long()
        return torch.where(n < exact, n, far.clamp(max=num_buckets - 1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        p = torch.arange(T, device=x.device)
        bias = self.relative_attention_bias(self.bucket(p[:, None] - p[None, :])).permute(2, 0, 1)
        s = q @ k.mT + bias
        s = s.masked_fill(p[None] > p[:, None], torch.finfo(s.dtype).min)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class WrongR72SkewFromTheFront(nn.Module):
    """wrong: the skew takes the table's first T rows and not its last, a token's distance depends on the text's length"""

    def __init__(self, d=16, H=2, L=10):
        super().__init__()
        self.H, self.L = H, L
        self.Wq, self.Wk, self.Wv, self.fc = (nn.Linear(d, d) for _ in range(4))
        self.Er = nn.Parameter(torch.randn(L, d // H))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (W(x).view(B, T, self.H, -1).transpose(1, 2) for W in (self.Wq, self.Wk, self.Wv))
        QEr = F.pad(q @ self.Er[:T].t(), (1, 0))
        Srel = QEr.reshape(B, self.H, T + 1, T)[:, :, 1:]
        att = (q @ k.transpose(-1, -2) + Srel) / math.sqrt(C // self.H)
        att = att.masked_fill(torch.ones(T, T, device=x.device).tril() == 0, float("-inf")).softmax(-1)
        return self.fc((att @ v).transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong layers: padding

class WrongR73PaddingInverted(nn.Module):
    """wrong: the caller's True = real goes as key_padding_mask, where True means hidden"""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4, batch_first=True)

    def forward(self, x, mask=None):
        T = x.size(1)
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        if mask is None:
            return self.attn(x, x, x, attn_mask=hide, need_weights=False)[0]
        hide = hide | mask[:, None, :]
        hide = hide & ~torch.eye(T, dtype=torch.bool, device=x.device)
        return self.attn(x, x, x, attn_mask=hide.repeat_interleave(4, 0), need_weights=False)[0]


class WrongR74PaddingOfFirstText(nn.Module):
    """wrong: attention_mask[0], all texts get the first one's padding"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = Conv1D(48, 16), Conv1D(16, 16)

    def forward(self, x, attention_mask=None):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, 4, 4).transpose(1, 2) for z in self.c_attn(x).split(C, 2))
        s = q @ k.mT / 2
        low = torch.finfo(s.dtype).min
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), low)
        if attention_mask is not None:
            s = s.masked_fill(~attention_mask[0].view(1, 1, 1, T), low)
        return self.c_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class WrongR75PaddingHidesQueries(nn.Module):
    """wrong: the mask is broadcast over the rows, padded queries are hidden and padded keys are not"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 3, 4).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        s = q @ k.mT / 2
        s = s.masked_fill(torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1), -1e30)
        if mask is not None:
            s = s.masked_fill(~mask[:, None, :, None], -1e30)
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class WrongR76PaddingNaN(nn.Module):
    """wrong: -inf on all keys of a row, left padding and a text of padding alone give NaN"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))
        cos, sin = half_tables(8, 8)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x, attention_mask=None):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 2, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_half(k) * self.sin[:T]
        s = q @ k.mT / math.sqrt(8) + torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        if attention_mask is not None:
            s = s.masked_fill(~attention_mask[:, None, None], float("-inf"))
        return self.o_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class WrongR77LengthsOnly(nn.Module):
    """wrong: the mask is turned into lengths, padding at the beginning is taken for text and the text's end for padding"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        ok = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()[None, None]
        if mask is not None:
            lengths = mask.sum(dim=1)
            inside = torch.arange(T, device=x.device)[None] < lengths[:, None]
            ok = ok & inside[:, None, None] | torch.eye(T, dtype=torch.bool, device=x.device)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=ok)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class WrongR78PaddingZeroed(nn.Module):
    """wrong: padded tokens are set to zero before the projections, their keys are still attended to"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x, attention_mask=None):
        if attention_mask is not None:
            x = x * attention_mask.unsqueeze(-1)
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(y.transpose(1, 2).reshape(B, T, C))


# ----------------------------------------------------------------------------- wrong layers: cache

class WrongR79IsCausalWithOneQuery(nn.Module):
    """wrong: is_causal=True with one query and many keys, the query sees the oldest key only"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, 4, 4).transpose(1, 2) for z in self.c_attn(x).split(C, 2))
        if layer_past is not None:
            k, v = torch.cat((layer_past[0], k), 2), torch.cat((layer_past[1], v), 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = self.c_proj(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


class WrongR80IsCausalWithChunk(nn.Module):
    """wrong: is_causal=T > 1 behind a cache, single tokens are right, a chunk's triangle starts at the oldest key"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.o_proj = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.k_proj, self.v_proj = nn.Linear(16, 8, bias=False), nn.Linear(16, 8, bias=False)
        cos, sin = half_tables(4, 10)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        n = 0 if layer_past is None else layer_past[0].size(2)
        q, k, v = (p(x).view(B, T, -1, 4).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q = q * self.cos[n:n + T] + rotate_half(q) * self.sin[n:n + T]
        k = k * self.cos[n:n + T] + rotate_half(k) * self.sin[n:n + T]
        if n:
            k, v = torch.cat((layer_past[0], k), 2), torch.cat((layer_past[1], v), 2)
        y = F.scaled_dot_product_attention(q, repeat_kv(k, 2), repeat_kv(v, 2), is_causal=T > 1)
        y = self.o_proj(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


class WrongR81PositionsRestart(nn.Module):
    """wrong: learned positions begin at zero again behind the cache"""

    def __init__(self):
        super().__init__()
        self.wpe = nn.Embedding(10, 16)
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        x = x + self.wpe(torch.arange(T, device=x.device))
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        if layer_past is not None:
            k, v = torch.cat((layer_past[0], k), 2), torch.cat((layer_past[1], v), 2)
        ok = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(k.size(2) - T)
        y = self.proj(F.scaled_dot_product_attention(q, k, v, attn_mask=ok).transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


class WrongR82KeysRotatedTwice(nn.Module):
    """wrong: the cache holds rotated keys and the whole of them is rotated again at every step"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))
        cos, sin = half_tables(8, 10)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def rope(self, z, start):
        s = slice(start, start + z.size(2))
        return z * self.cos[s] + rotate_half(z) * self.sin[s]

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        if layer_past is not None:
            k, v = torch.cat((layer_past[0], k), 2), torch.cat((layer_past[1], v), 2)
        past = k.size(2) - T
        q, k = self.rope(q, past), self.rope(k, 0)
        s = (q @ k.mT / math.sqrt(8)).masked_fill(torch.ones(T, past + T, device=x.device).triu(past + 1) > 0, -torch.inf)
        y = self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


class WrongR83OffsetAfterUpdate(nn.Module):
    """wrong: the queries' offset is read from the cache behind its update, queries are rotated by T too far in every step"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))
        cos, sin = paired_tables(8, 24)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def rope(self, z, start):
        s = slice(start, start + z.size(2))
        return z * self.cos[s] + rotate_every_two(z) * self.sin[s]

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 2, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        past = 0 if layer_past is None else layer_past[0].size(2)
        k = self.rope(k, past)
        if layer_past is not None:
            k, v = torch.cat((layer_past[0], k), 2), torch.cat((layer_past[1], v), 2)
            q = self.rope(q, k.size(2))
        else:
            q = self.rope(q, 0)
        ok = torch.ones(T, past + T, dtype=torch.bool, device=x.device).tril(past)
        y = self.o_proj(F.scaled_dot_product_attention(q, k, v, attn_mask=ok).transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


class WrongR84UnwrittenSlots(nn.Module):
    """wrong: a single token attends to the whole pre-made cache, the slots that are still zero too"""

    def __init__(self, longest=10):
        super().__init__()
        self.longest = longest
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def attend(self, x, cache):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        start = cache["n"]
        keys, values = cache["k"].clone(), cache["v"].clone()
        keys[:, :, start:start + T], values[:, :, start:start + T] = k, v
        new = {"k": keys, "v": values, "n": start + T}
        if T > 1:
            rows = torch.arange(start, start + T, device=x.device)[:, None]
            ok = torch.arange(self.longest, device=x.device)[None] <= rows
        else:
            ok = None
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=ok)
        return self.proj(y.transpose(1, 2).reshape(B, T, C)), new

    def new_cache(self, x):
        z = x.new_zeros(x.size(0), 4, self.longest, 4)
        return {"k": z, "v": z, "n": 0}

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class WrongR85ValuesWrittenAtZero(nn.Module):
    """wrong: new values are written at the beginning of the pre-made cache, only the keys behind the old ones"""

    def __init__(self):
        super().__init__()
        self.n_kv_heads, self.max_seq_len = 2, 12
        self.wq, self.wo = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.wk, self.wv = nn.Linear(16, 8, bias=False), nn.Linear(16, 8, bias=False)

    def new_cache(self, x):
        z = x.new_zeros(x.size(0), self.max_seq_len, 2, 4)
        return {"k": z, "v": z.clone(), "pos": 0}

    def attend(self, x, cache):
        B, T, C = x.shape
        p = cache["pos"]
        q = self.wq(x).view(B, T, 4, 4).transpose(1, 2)
        ck, cv = cache["k"].clone(), cache["v"].clone()
        ck[:, p:p + T] = self.wk(x).view(B, T, 2, 4)
        cv[:, :T] = self.wv(x).view(B, T, 2, 4)
        k, v = (repeat_kv(z[:, :p + T].transpose(1, 2), 2) for z in (ck, cv))
        ok = torch.ones(T, p + T, dtype=torch.bool, device=x.device).tril(p)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=ok)
        return self.wo(y.transpose(1, 2).reshape(B, T, C)), {"k": ck, "v": cv, "pos": p + T}

    def forward(self, x):
        return self.attend(x, self.new_cache(x))[0]


class WrongR86MutableDefault(nn.Module):
    """wrong: cache={} as a default argument, calls without a cache share one and see the texts before"""

    def __init__(self):
        super().__init__()
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(12, 12) for _ in range(4))

    def decode(self, x, cache={}):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 3, 4).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        if "k" in cache and cache["k"].size(0) == B:
            k, v = torch.cat((cache["k"], k), 2), torch.cat((cache["v"], v), 2)
        cache["k"], cache["v"] = k, v
        n = k.size(2)
        s = (q @ k.mT / 2).masked_fill(torch.ones(T, n, device=x.device).triu(n - T + 1) > 0, -torch.inf)
        return self.w_o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)), cache

    def forward(self, x):
        return self.decode(x, cache={})[0]


class WrongR87CacheSwapped(nn.Module):
    """wrong: the cache is stored as (value, key) and read as (key, value)"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = Conv1D(48, 16), Conv1D(16, 16)

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, 2, 8).transpose(1, 2) for z in self.c_attn(x).split(C, 2))
        if layer_past is not None:
            past_key, past_value = layer_past
            k, v = torch.cat((past_key, k), 2), torch.cat((past_value, v), 2)
        n = k.size(2)
        s = (q @ k.mT / math.sqrt(8)).masked_fill(torch.ones(T, n, device=x.device).triu(n - T + 1) > 0, -torch.inf)
        y = self.c_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
        return (y, (v, k)) if use_cache else y


class WrongR88WindowOneMoreAfterSlide(nn.Module):
    """wrong: the rolling cache keeps W tokens and the new one is added, in steps W + 1 are seen"""

    def __init__(self):
        super().__init__()
        self.window = 4
        self.qkv, self.proj = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)

    def step(self, x, cache=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        if T == 1:
            ok = None
        else:
            d = torch.arange(k.size(2) - T, k.size(2), device=x.device)[:, None] - torch.arange(k.size(2), device=x.device)[None]
            ok = (d >= 0) & (d < self.window)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=ok)
        return self.proj(y.transpose(1, 2).reshape(B, T, C)), (k[:, :, -self.window:], v[:, :, -self.window:])

    def forward(self, x):
        return self.step(x)[0]


class WrongR89ChunkLosesOldKeys(nn.Module):
    """wrong: the keys are cut to the last W before a chunk has attended, its first rows miss what they may see"""

    def __init__(self):
        super().__init__()
        self.window = 5
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def step(self, x, cache=None):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 2, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        if cache is not None:
            n = max(self.window, T)
            k, v = torch.cat((cache[0], k), 2)[:, :, -n:], torch.cat((cache[1], v), 2)[:, :, -n:]
        S = k.size(2)
        d = torch.arange(S - T, S, device=x.device)[:, None] - torch.arange(S, device=x.device)[None]
        s = q @ k.mT / math.sqrt(8)
        s = s.masked_fill((d < 0) | (d >= self.window), float("-inf"))
        return self.o_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)), (k, v)

    def forward(self, x):
        return self.step(x)[0]


class WrongR90PositionIsCacheLength(nn.Module):
    """wrong: the position of the next token is the length of a cache that forgets, it stands still when the window slides"""

    def __init__(self):
        super().__init__()
        self.window = 4
        self.qkv_proj, self.o_proj = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)
        cos, sin = half_tables(8, 12)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def step(self, x, cache=None):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, 2, 8).transpose(1, 2) for z in self.qkv_proj(x).chunk(3, -1))
        p = 0 if cache is None else cache["k"].size(2)
        q = q * self.cos[p:p + T] + rotate_half(q) * self.sin[p:p + T]
        k = k * self.cos[p:p + T] + rotate_half(k) * self.sin[p:p + T]
        if cache is not None:
            k, v = torch.cat((cache["k"], k), 2), torch.cat((cache["v"], v), 2)
        S = k.size(2)
        d = torch.arange(S - T, S, device=x.device)[:, None] - torch.arange(S, device=x.device)[None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=(d >= 0) & (d < self.window))
        new = {"k": k[:, :, 1 - self.window:], "v": v[:, :, 1 - self.window:],
               "seen": T + (0 if cache is None else cache["seen"])}
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C)), new

    def forward(self, x):
        return self.step(x)[0]


class WrongR91StepChangesMode(nn.Module):
    """wrong: decoding puts the module into eval mode and leaves it there"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.attn_dropout = nn.Dropout(0.1)

    def forward(self, x, layer_past=None, use_cache=False):
        if use_cache:
            self.eval()
        B, T, C = x.shape
        q, k, v = (z.view(B, T, 4, 4).transpose(1, 2) for z in self.c_attn(x).split(C, 2))
        if layer_past is not None:
            k, v = torch.cat((layer_past[0], k), 2), torch.cat((layer_past[1], v), 2)
        n = k.size(2)
        s = (q @ k.mT / 2).masked_fill(torch.ones(T, n, device=x.device).triu(n - T + 1) > 0, -torch.inf)
        y = self.c_proj((self.attn_dropout(s.softmax(-1)) @ v).transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


# ----------------------------------------------------------------------------- wrong layers: others

class WrongR92OnlineSoftmaxNotRescaled(nn.Module):
    """wrong: a flash-like loop rescales the running sum to the new maximum, but not the running output"""

    def __init__(self):
        super().__init__()
        self.W_pack, self.o_proj = nn.Linear(18, 54, bias=False), nn.Linear(18, 18, bias=False)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.W_pack(x).unflatten(-1, (3, 3, 6)).permute(2, 0, 3, 1, 4)
        q = q / math.sqrt(6)
        acc, total = torch.zeros_like(q), q.new_zeros(b, 3, t, 1)
        top = q.new_full((b, 3, t, 1), float("-inf"))
        rows = torch.arange(t, device=x.device)[:, None]
        for s in range(0, t, 3):
            part = q @ k[:, :, s:s + 3].mT
            part = part.masked_fill(torch.arange(s, min(s + 3, t), device=x.device) > rows, float("-inf"))
            new = torch.maximum(top, part.amax(-1, keepdim=True))
            p, shrink = torch.exp(part - new), torch.exp(top - new)
            acc = acc + p @ v[:, :, s:s + 3]
            total = total * shrink + p.sum(-1, keepdim=True)
            top = new
        return self.o_proj((acc / total).transpose(1, 2).reshape(b, t, c))


class WrongR93ReturnsBfloat16(nn.Module):
    """wrong: a fast path in bfloat16 is never cast back, float32 goes in and bfloat16 comes out"""

    def __init__(self):
        super().__init__()
        self.Wqkv, self.out_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, 4, 4).transpose(1, 2) for z in self.Wqkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        return self.out_proj(y).to(torch.bfloat16)


class WrongR94ReturnsUnmaskedWeights(nn.Module):
    """wrong: the weights that are returned are computed without the mask and are not those that were used"""

    def __init__(self):
        super().__init__()
        self.to_qkv, self.to_out = nn.Linear(16, 48, bias=False), nn.Linear(16, 16)

    def forward(self, x, return_weights=False):
        B, T, C = x.shape
        q, k, v = (z.view(B, T, 2, 8).transpose(1, 2) for z in self.to_qkv(x).chunk(3, -1))
        y = self.to_out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))
        if return_weights:
            return y, (q @ k.mT / math.sqrt(8)).softmax(-1)
        return y


class WrongR95DynamicNTK(nn.Module):
    """wrong: the rotary base grows with the length of the text, a row changes when later tokens are appended and cached keys were turned with another base"""

    def __init__(self):
        super().__init__()
        self.original = 6
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.register_buffer("powers", torch.arange(0, 8, 2).float() / 8, persistent=False)

    def rope(self, z, start):
        end = start + z.size(2)
        base = 10000.0
        if end > self.original:
            base = base * (2.0 * end / self.original - 1.0) ** (8 / 6)
        f = torch.arange(start, end, device=z.device, dtype=z.dtype)[:, None] * base ** -self.powers
        return z * torch.cat((f, f), -1).cos() + rotate_half(z) * torch.cat((f, f), -1).sin()

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        past = 0 if layer_past is None else layer_past[0].size(2)
        q, k, v = (p(x).view(B, T, 2, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k = self.rope(q, past), self.rope(k, past)
        if past:
            k, v = torch.cat((layer_past[0], k), 2), torch.cat((layer_past[1], v), 2)
        ok = torch.ones(T, past + T, dtype=torch.bool, device=x.device).tril(past)
        y = self.o_proj(F.scaled_dot_product_attention(q, k, v, attn_mask=ok).transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


class WrongR96ResidualOfFirstText(nn.Module):
    """wrong: the residual is x[0], every text gets the first one's"""

    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(16)
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        h = self.ln(x)
        q, k, v = self.qkv(h).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        return x[0] + self.proj(y)


DECODE = lambda module, x, cache: module.attend(x, module.new_cache(x) if cache is None else cache)
ROLL = lambda module, x, cache: module.step(x, cache)
LAYERS += [
    {"layer": WrongR61RotaryLayoutsMixed, "d_in": 16, "context_length": 9, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": WrongR62RotaryQueriesOnly, "d_in": 24, "context_length": 9,
     "options": {"num_heads": 3, "num_kv_heads": 1, "positions": "rotary"}},
    {"layer": WrongR63ValuesRotatedToo, "d_in": 16, "context_length": 10, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": WrongR64RotatedByHeadIndex, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "positions": "rotary"}},
    {"layer": WrongR65RotateWithoutMinus, "d_in": 16, "context_length": 12, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": WrongR66TableOfOtherLayout, "d_in": 16, "context_length": 10, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": WrongR67PartialRotaryWrongOrder, "d_in": 16, "context_length": 9, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": WrongR68AlibiSign, "d_in": 16, "context_length": 10, "options": {"num_heads": 4, "positions": "alibi"}},
    {"layer": WrongR69AlibiSlopesFromOne, "d_in": 32, "context_length": 9, "options": {"num_heads": 8, "positions": "alibi"}},
    {"layer": WrongR70AlibiQueryRestarts, "d_in": 16, "context_length": 10,
     "options": {"num_heads": 4, "positions": "alibi", "step": hf_step}},
    {"layer": WrongR71BucketsOfTheFuture, "d_in": 16, "context_length": 12,
     "options": {"num_heads": 4, "positions": "relative", "scale": 1.0}},
    {"layer": WrongR72SkewFromTheFront, "d_in": 16, "context_length": 10, "options": {"num_heads": 2, "positions": "relative"}},
    {"layer": WrongR73PaddingInverted, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "padding": PAD}},
    {"layer": WrongR74PaddingOfFirstText, "d_in": 16, "context_length": 9, "options": {"num_heads": 4, "padding": PADHF}},
    {"layer": WrongR75PaddingHidesQueries, "d_in": 12, "context_length": 8, "options": {"num_heads": 3, "padding": PAD}},
    {"layer": WrongR76PaddingNaN, "d_in": 16, "context_length": 8,
     "options": {"num_heads": 2, "positions": "rotary", "padding": PADHF}},
    {"layer": WrongR77LengthsOnly, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "padding": PAD}},
    {"layer": WrongR78PaddingZeroed, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "padding": PADHF}},
    {"layer": WrongR79IsCausalWithOneQuery, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "step": hf_step}},
    {"layer": WrongR80IsCausalWithChunk, "d_in": 16, "context_length": 10,
     "options": {"num_heads": 4, "num_kv_heads": 2, "positions": "rotary", "step": hf_step}},
    {"layer": WrongR81PositionsRestart, "d_in": 16, "context_length": 10,
     "options": {"num_heads": 2, "positions": True, "step": hf_step}},
    {"layer": WrongR82KeysRotatedTwice, "d_in": 16, "context_length": 10,
     "options": {"num_heads": 2, "positions": "rotary", "step": hf_step}},
    {"layer": WrongR83OffsetAfterUpdate, "d_in": 16, "context_length": 10,
     "options": {"num_heads": 2, "positions": "rotary", "step": hf_step}},
    {"layer": WrongR84UnwrittenSlots, "d_in": 16, "context_length": 10, "options": {"num_heads": 4, "step": DECODE}},
    {"layer": WrongR85ValuesWrittenAtZero, "d_in": 16, "context_length": 12,
     "options": {"num_heads": 4, "num_kv_heads": 2, "step": DECODE}},
    {"layer": WrongR86MutableDefault, "d_in": 12, "context_length": 8,
     "options": {"num_heads": 3, "step": lambda module, x, cache: module.decode(x) if cache is None else module.decode(x, cache)}},
    {"layer": WrongR87CacheSwapped, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "step": hf_step}},
    {"layer": WrongR88WindowOneMoreAfterSlide, "d_in": 16, "context_length": 12,
     "options": {"num_heads": 4, "window": 4, "step": ROLL}},
    {"layer": WrongR89ChunkLosesOldKeys, "d_in": 16, "context_length": 14,
     "options": {"num_heads": 2, "window": 5, "step": ROLL}},
    {"layer": WrongR90PositionIsCacheLength, "d_in": 16, "context_length": 12,
     "options": {"num_heads": 2, "window": 4, "positions": "rotary", "step": ROLL}},
    {"layer": WrongR91StepChangesMode, "d_in": 16, "context_length": 8,
     "options": {"num_heads": 4, "dropout": 0.1, "step": hf_step}},
    {"layer": WrongR92OnlineSoftmaxNotRescaled, "d_in": 18, "context_length": 11, "options": {"num_heads": 3}},
    {"layer": WrongR93ReturnsBfloat16, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongR94ReturnsUnmaskedWeights, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongR95DynamicNTK, "d_in": 16, "context_length": 12,
     "options": {"num_heads": 2, "positions": "rotary", "step": hf_step}},
    {"layer": WrongR96ResidualOfFirstText, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
]
