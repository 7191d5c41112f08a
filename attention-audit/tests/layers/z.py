"""Attention layers for scoring an audit: right ones and wrong ones, one bug each."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import einsum

LAYERS = []


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rotate_every_two(x):
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((-b, a), dim=-1).flatten(-2)


def half_table(length, dim, base=10000.0):
    inv = base ** (-torch.arange(0, dim, 2).float() / dim)
    ang = torch.outer(torch.arange(length).float(), inv)
    ang = torch.cat((ang, ang), dim=-1)
    return ang.cos(), ang.sin()


def pair_table(length, dim, base=10000.0):
    inv = base ** (-torch.arange(0, dim, 2).float() / dim)
    ang = torch.outer(torch.arange(length).float(), inv).repeat_interleave(2, dim=-1)
    return ang.cos(), ang.sin()


def published_slopes(n):
    def power(m):
        start = 2 ** (-(2 ** -(math.log2(m) - 3)))
        return [start * start ** i for i in range(m)]
    if math.log2(n).is_integer():
        return power(n)
    near = 2 ** math.floor(math.log2(n))
    return power(near) + published_slopes(2 * near)[0::2][: n - near]


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


# ----------------------------------------------------------------------- right layers


class Right01NanoFlash(nn.Module):
    """right: nanoGPT with the fused call; weights are dropped in training, the output is dropped too"""

    def __init__(self, n_embd=24, n_head=3, dropout=0.2):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.resid_dropout = nn.Dropout(0.1)
        self.n_head, self.n_embd, self.dropout = n_head, n_embd, dropout

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(
            q, k, v, attn_mask=None, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class Right02BertSelf(nn.Module):
    """right: BERT's additive extended mask of finfo.min, an all-padding text gives a plain mean"""

    def __init__(self, hidden=20, heads=5):
        super().__init__()
        self.num_attention_heads = heads
        self.attention_head_size = hidden // heads
        self.query = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden)
        self.value = nn.Linear(hidden, hidden)
        self.dense = nn.Linear(hidden, hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=1e-12)

    def transpose_for_scores(self, x):
        return x.view(*x.shape[:2], self.num_attention_heads, -1).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask=None):
        q = self.transpose_for_scores(self.query(hidden_states))
        k = self.transpose_for_scores(self.key(hidden_states))
        v = self.transpose_for_scores(self.value(hidden_states))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.attention_head_size)
        if attention_mask is not None:
            ext = (1.0 - attention_mask[:, None, None, :].to(scores.dtype)) * torch.finfo(scores.dtype).min
            scores = scores + ext
        probs = scores.softmax(dim=-1)
        ctx = torch.matmul(probs, v).permute(0, 2, 1, 3).flatten(2)
        return self.LayerNorm(self.dense(ctx) + hidden_states)


class Right03LlamaGQA(nn.Module):
    """right: Llama attention with grouped heads, half rotation and a growing cache of rotated keys"""

    def __init__(self):
        super().__init__()
        self.n_heads, self.n_kv, self.hd = 4, 2, 6
        self.q_proj = nn.Linear(18, 24, bias=False)
        self.k_proj = nn.Linear(18, 12, bias=False)
        self.v_proj = nn.Linear(18, 12, bias=False)
        self.o_proj = nn.Linear(24, 18, bias=False)
        inv = 1.0 / (500000.0 ** (torch.arange(0, 6, 2).float() / 6))
        self.register_buffer("inv_freq", inv, persistent=False)

    def forward(self, x, past=None, use_cache=False):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, self.n_heads, self.hd).transpose(1, 2)
        k = self.k_proj(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        old = 0 if past is None else past[0].size(2)
        pos = torch.arange(old, old + T, device=x.device, dtype=torch.float32)
        ang = torch.outer(pos, self.inv_freq.float())
        ang = torch.cat((ang, ang), dim=-1)
        cos, sin = ang.cos().to(x.dtype), ang.sin().to(x.dtype)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        keep = (k, v)
        g = self.n_heads // self.n_kv
        kk, vv = k.repeat_interleave(g, 1), v.repeat_interleave(g, 1)
        scores = q @ kk.transpose(2, 3) * self.hd ** -0.5
        S = kk.size(2)
        hide = torch.ones(T, S, dtype=torch.bool, device=x.device).triu(S - T + 1)
        w = scores.masked_fill(hide, float("-inf")).softmax(-1)
        out = self.o_proj((w @ vv).transpose(1, 2).reshape(B, T, -1))
        return (out, keep) if use_cache else out


class Right04GptjPartial(nn.Module):
    """right: GPT-J rotates only the first half of a head's features, pairs side by side, positions from 1"""

    def __init__(self):
        super().__init__()
        self.h, self.d, self.rot = 2, 8, 4
        self.q_proj = nn.Linear(16, 16, bias=False)
        self.k_proj = nn.Linear(16, 16, bias=False)
        self.v_proj = nn.Linear(16, 16, bias=False)
        self.out_proj = nn.Linear(16, 16, bias=False)
        cos, sin = pair_table(13, self.rot)
        self.register_buffer("cos", cos[1:])
        self.register_buffer("sin", sin[1:])
        self.register_buffer("bias", torch.tril(torch.ones(12, 12, dtype=torch.bool)))

    def turn(self, t):
        T = t.shape[1]
        a, b = t[..., : self.rot], t[..., self.rot:]
        a = a * self.cos[:T, None] + rotate_every_two(a) * self.sin[:T, None]
        return torch.cat((a, b), -1)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.turn(self.q_proj(x).view(B, T, self.h, self.d))
        k = self.turn(self.k_proj(x).view(B, T, self.h, self.d))
        v = self.v_proj(x).view(B, T, self.h, self.d)
        s = einsum("bihd,bjhd->bhij", q, k) / self.d ** 0.5
        s = torch.where(self.bias[:T, :T], s, torch.finfo(s.dtype).min)
        return self.out_proj(einsum("bhij,bjhd->bihd", s.softmax(-1), v).reshape(B, T, -1))


class Right05T5Encoder(nn.Module):
    """right: T5 without scaling, log buckets in both directions, norm before and residual behind"""

    def __init__(self):
        super().__init__()
        self.n_heads, self.kv = 3, 4
        self.layer_norm = RMSNorm(14)
        self.q = nn.Linear(14, 12, bias=False)
        self.k = nn.Linear(14, 12, bias=False)
        self.v = nn.Linear(14, 12, bias=False)
        self.o = nn.Linear(12, 14, bias=False)
        self.relative_attention_bias = nn.Embedding(8, 3)

    def bucket(self, rel):
        n = 4
        out = (rel > 0).long() * n
        rel = rel.abs()
        big = 2 + (torch.log(rel.float().clamp(min=1) / 2) / math.log(12 / 2) * (n - 2)).long()
        return out + torch.where(rel < 2, rel, big.clamp(max=n - 1))

    def forward(self, x, mask=None):
        h = self.layer_norm(x)
        B, T, _ = h.shape
        q, k, v = (f(h).view(B, T, self.n_heads, self.kv).transpose(1, 2) for f in (self.q, self.k, self.v))
        pos = torch.arange(T, device=x.device)
        bias = self.relative_attention_bias(self.bucket(pos[None, :] - pos[:, None])).permute(2, 0, 1)
        scores = q @ k.transpose(3, 2) + bias[None]
        if mask is not None:
            scores = scores.masked_fill(mask[:, None, None, :] == 0, torch.finfo(scores.dtype).min)
        a = F.softmax(scores, dim=-1)
        return x + self.o((a @ v).transpose(1, 2).contiguous().view(B, T, -1))


class Right06BloomAlibi(nn.Module):
    """right: BLOOM adds slope * (index of the key): the softmax takes the row's constant out"""

    def __init__(self):
        super().__init__()
        self.heads = 4
        self.query_key_value = nn.Linear(16, 48)
        self.dense = nn.Linear(16, 16)
        self.register_buffer("slopes", torch.tensor(published_slopes(4)))

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        qkv = self.query_key_value(x).view(B, T, self.heads, 3, C // self.heads)
        q, k, v = qkv[..., 0, :], qkv[..., 1, :], qkv[..., 2, :]
        if layer_past is not None:
            k = torch.cat([layer_past[0], k], dim=1)
            v = torch.cat([layer_past[1], v], dim=1)
        S = k.shape[1]
        alibi = self.slopes[:, None, None] * torch.arange(S, device=x.device)
        s = einsum("bihd,bjhd->bhij", q, k) / math.sqrt(C // self.heads) + alibi.to(q.dtype)
        i = torch.arange(S - T, S, device=x.device)[:, None]
        s = s.masked_fill(torch.arange(S, device=x.device)[None] > i, float("-inf"))
        o = self.dense(einsum("bhij,bjhd->bihd", s.softmax(-1), v).flatten(2))
        return (o, (k, v)) if use_cache else o


class Right07MistralRolling(nn.Module):
    """right: a sliding window of 4 whose cache keeps only the last 3 keys and the position"""

    def __init__(self):
        super().__init__()
        self.h, self.kv, self.d, self.w = 4, 2, 4, 4
        self.wq = nn.Linear(12, 16, bias=False)
        self.wk = nn.Linear(12, 8, bias=False)
        self.wv = nn.Linear(12, 8, bias=False)
        self.wo = nn.Linear(16, 12, bias=False)
        cos, sin = half_table(14, 4)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x):
        return self.advance(x, None)[0]

    def advance(self, x, state):
        B, T, _ = x.shape
        start = 0 if state is None else state["pos"]
        q = self.wq(x).view(B, T, self.h, self.d).transpose(1, 2)
        k = self.wk(x).view(B, T, self.kv, self.d).transpose(1, 2)
        v = self.wv(x).view(B, T, self.kv, self.d).transpose(1, 2)
        cos, sin = self.cos[start:start + T], self.sin[start:start + T]
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        if state is not None:
            k, v = torch.cat((state["k"], k), 2), torch.cat((state["v"], v), 2)
        S = k.size(2)
        qi = torch.arange(start, start + T, device=x.device)[:, None]
        ki = torch.arange(start + T - S, start + T, device=x.device)[None]
        see = (ki <= qi) & (ki > qi - self.w)
        g = self.h // self.kv
        o = F.scaled_dot_product_attention(q, k.repeat_interleave(g, 1), v.repeat_interleave(g, 1), attn_mask=see)
        keep = {"k": k[:, :, -(self.w - 1):], "v": v[:, :, -(self.w - 1):], "pos": start + T}
        return self.wo(o.transpose(1, 2).flatten(2)), keep


class Right08StarcoderMQA(nn.Module):
    """right: one key/value head, fused with the queries in one projection of uneven parts"""

    def __init__(self):
        super().__init__()
        self.num_heads, self.head_dim, self.embed_dim = 6, 5, 30
        self.c_attn = nn.Linear(30, 30 + 2 * 5)
        self.c_proj = nn.Linear(30, 30)
        self.attn_dropout = nn.Dropout(0.1)

    def forward(self, x):
        B, T, _ = x.shape
        q, kv = self.c_attn(x).split((self.embed_dim, 2 * self.head_dim), dim=2)
        k, v = kv.split((self.head_dim, self.head_dim), dim=-1)
        q = q.reshape(B, T * self.num_heads, self.head_dim)
        s = torch.bmm(q, k.transpose(1, 2)).view(B, T, self.num_heads, T) / math.sqrt(self.head_dim)
        ok = torch.ones(T, T, dtype=torch.bool, device=x.device).tril().view(1, T, 1, T)
        s = s.masked_fill(~ok, float("-inf"))
        w = self.attn_dropout(s.softmax(-1)).view(B, T * self.num_heads, T)
        return self.c_proj(torch.bmm(w, v).view(B, T, self.embed_dim))


class Right09TorchMHA(nn.Module):
    """right: nn.MultiheadAttention with a True=hidden mask; returns weights averaged over the heads"""

    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(16, 4, dropout=0.25, batch_first=True)

    def forward(self, x):
        T = x.size(1)
        hidden = torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device), diagonal=1)
        out, w = self.mha(x, x, x, attn_mask=hidden, need_weights=True)
        return out, w


class Right10TorchMHATimeFirst(nn.Module):
    """right: time first inside; texts of padding alone are unhidden so that no row is empty"""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(12)
        self.attention = nn.MultiheadAttention(12, 2, bias=False)

    def forward(self, x, key_padding_mask=None):
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask & ~key_padding_mask.all(dim=1, keepdim=True)
        h = self.norm(x).transpose(0, 1)
        out, _ = self.attention(h, h, h, key_padding_mask=key_padding_mask, need_weights=False)
        return out.transpose(0, 1)


class Right11TimmVit(nn.Module):
    """right: ViT block with norms on queries and keys and a tiny layer scale in a residual"""

    def __init__(self, dim=24, heads=4):
        super().__init__()
        self.num_heads, self.head_dim = heads, dim // heads
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, dim * 3, bias=True)
        self.q_norm, self.k_norm = nn.LayerNorm(6), nn.LayerNorm(6)
        self.proj = nn.Linear(dim, dim)
        self.gamma = nn.Parameter(1e-5 * torch.ones(dim))

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(self.norm(x)).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        q, k = self.q_norm(q), self.k_norm(k)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, C)
        return x + self.gamma * self.proj(y)


class Right12Head(nn.Module):
    def __init__(self, n_embd, head_size, block_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(0.15)

    def forward(self, x):
        T = x.shape[1]
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return self.dropout(F.softmax(wei, dim=-1)) @ self.value(x)


class Right12ListOfHeads(nn.Module):
    """right: a course notebook's list of heads behind a gate that begins at zero (ReZero)"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Right12Head(15, 5, 10) for _ in range(3)])
        self.proj = nn.Linear(15, 15)
        self.alpha = nn.Parameter(torch.zeros(()))

    def forward(self, x):
        out = torch.cat([h(x) for h in self.heads], dim=-1)
        return x + self.alpha * F.relu(self.proj(out))


class Right13BareEinsum(nn.Module):
    """right: bare parameters per head, the output's matrix begins at zero, heads are wider than d_in / H"""

    def __init__(self, d=10, H=3, D=6):
        super().__init__()
        self.Wq = nn.Parameter(torch.randn(H, d, D) * d ** -0.5)
        self.Wk = nn.Parameter(torch.randn(H, d, D) * d ** -0.5)
        self.Wv = nn.Parameter(torch.randn(H, d, 4) * d ** -0.5)
        self.Wo = nn.Parameter(torch.zeros(H, 4, d))

    def forward(self, x, return_weights=False):
        q = einsum("btc,hcd->bhtd", x, self.Wq)
        k = einsum("btc,hcd->bhtd", x, self.Wk)
        v = einsum("btc,hcd->bhtd", x, self.Wv)
        s = einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
        T = x.shape[1]
        s = s + torch.full((T, T), float("-inf"), dtype=s.dtype, device=s.device).triu(1)
        a = torch.softmax(s, -1)
        out = einsum("bhqk,bhkd,hdc->bqc", a, v, self.Wo)
        return (out, a) if return_weights else out


class Right14LoraGPT(nn.Module):
    """right: frozen q and v with a LoRA branch whose second matrix begins at zero"""

    def __init__(self, d=16, r=3, alpha=6):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        for p in (self.q.weight, self.v.weight):
            p.requires_grad_(False)
        self.qa, self.va = nn.Parameter(torch.randn(d, r) * 0.2), nn.Parameter(torch.randn(d, r) * 0.2)
        self.qb, self.vb = nn.Parameter(torch.zeros(r, d)), nn.Parameter(torch.zeros(r, d))
        self.gain = alpha / r

    def forward(self, x):
        q = self.q(x) + x @ self.qa @ self.qb * self.gain
        v = self.v(x) + x @ self.va @ self.vb * self.gain
        q, k, v = (t.unflatten(-1, (2, 8)).transpose(1, 2) for t in (q, self.k(x), v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).flatten(-2))


class Right15HeadsLast(nn.Module):
    """right: a head's features lie H apart (view(B, T, D, H)), in the split as in the merge"""

    def __init__(self):
        super().__init__()
        self.to_qkv = nn.Linear(12, 60)
        self.to_out = nn.Linear(20, 12)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = (t.view(B, T, 4, 5) for t in (q, k, v))
        s = einsum("bidh,bjdh->bijh", q, k) * 4 ** -0.5
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool()[..., None], -torch.inf)
        y = einsum("bijh,bjdh->bidh", s.softmax(dim=2), v)
        return self.to_out(y.reshape(B, T, 20))


class Right16OnlineSoftmax(nn.Module):
    """right: flash attention by hand: blocks of three keys, a running maximum and a running sum"""

    def __init__(self, dim=14):
        super().__init__()
        self.w_q = nn.Linear(dim, 14, bias=False)
        self.w_kv = nn.Linear(dim, 28, bias=False)
        self.w_out = nn.Linear(14, dim)

    def forward(self, x):
        B, T, _ = x.shape
        split = lambda t: t.view(B, T, 2, 7).transpose(1, 2)
        q = split(self.w_q(x)) / math.sqrt(7)
        k, v = (split(t) for t in self.w_kv(x).chunk(2, -1))
        rows = torch.arange(T, device=x.device)[:, None]
        top = torch.full((B, 2, T, 1), -torch.inf, device=x.device, dtype=x.dtype)
        den = torch.zeros_like(top)
        acc = torch.zeros_like(v)
        for a in range(0, T, 3):
            kb, vb = k[:, :, a:a + 3], v[:, :, a:a + 3]
            s = q @ kb.transpose(-1, -2)
            s = s.masked_fill(rows < torch.arange(a, a + kb.size(2), device=x.device), -torch.inf)
            new = torch.maximum(top, s.amax(-1, keepdim=True))
            e = torch.exp(s - new)
            back = torch.exp(top - new)
            den = den * back + e.sum(-1, keepdim=True)
            acc = acc * back + e @ vb
            top = new
        return self.w_out((acc / den).transpose(1, 2).reshape(B, T, 14))


class Right17Fairseq(nn.Module):
    """right: fairseq: time first, heads folded into the batch, queries scaled with their bias; pads hidden"""

    def __init__(self, d=16, h=4):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d, d) for _ in range(4))
        self.h, self.hd, self.scaling, self.dropout_p = h, d // h, (d // h) ** -0.5, 0.3

    def forward(self, x, pad=None):
        x = x.transpose(0, 1)
        T, B, C = x.shape
        q = (self.q_proj(x) * self.scaling).contiguous().view(T, B * self.h, self.hd).transpose(0, 1)
        k = self.k_proj(x).contiguous().view(T, B * self.h, self.hd).transpose(0, 1)
        v = self.v_proj(x).contiguous().view(T, B * self.h, self.hd).transpose(0, 1)
        w = torch.bmm(q, k.transpose(1, 2))
        hide = torch.ones(T, T, device=x.device, dtype=torch.bool).triu(1)[None]
        if pad is not None:
            hide = (hide | pad[:, None, :]).repeat_interleave(self.h, dim=0)
        w = w.masked_fill(hide, float("-inf"))
        w = w.masked_fill(hide.all(-1, keepdim=True), 0.0).softmax(-1) * (~hide.all(-1, keepdim=True))
        w = F.dropout(w, p=self.dropout_p, training=self.training)
        return self.out_proj(torch.bmm(w, v).transpose(0, 1).contiguous().view(T, B, C)).transpose(0, 1)


class Right18GatedOutput(nn.Module):
    """right: every head's output is gated by a sigmoid of the row's own token; query bias only"""

    def __init__(self):
        super().__init__()
        self.q_linear = nn.Linear(16, 16)
        self.kv_linear = nn.Linear(16, 32, bias=False)
        self.gate = nn.Linear(16, 2)
        self.o_linear = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q_linear(x).view(B, T, 2, 8).transpose(1, 2)
        k, v = self.kv_linear(x).view(B, T, 2, 2, 8).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        y = y * torch.sigmoid(self.gate(x)).unsqueeze(-1)
        return self.o_linear(y.reshape(B, T, 16))


class Right19CosineSim(nn.Module):
    """right: x-transformers' cosine similarity, queries and keys of length 1 and a scale of 10"""

    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(12, 12, bias=False)
        self.to_k = nn.Linear(12, 12, bias=False)
        self.to_v = nn.Linear(12, 12, bias=False)
        self.to_out = nn.Linear(12, 12, bias=False)

    def forward(self, x):
        q, k, v = (f(x).unflatten(2, (3, 4)).movedim(2, 1) for f in (self.to_q, self.to_k, self.to_v))
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=10.0)
        return self.to_out(y.movedim(1, 2).flatten(2))


class Right20RotaryPads(nn.Module):
    """right: causal and padded at either end; rows that see nothing give zeros before the output's bias"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48, bias=False)
        self.out = nn.Linear(16, 16)
        cos, sin = half_table(9, 8)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, x, add_mask=None):
        B, T, _ = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        cos, sin = self.cos[:T], self.sin[:T]
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        see = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()[None, None]
        if add_mask is not None:
            see = see & (add_mask == 0)[:, None, None, :]
        some = see.any(-1, keepdim=True)
        s = q @ k.mT / 8 ** 0.5
        s = s.masked_fill(~see, torch.finfo(s.dtype).min)
        w = torch.where(some, s.softmax(-1), 0.0)
        return self.out((w @ v).transpose(1, 2).reshape(B, T, 16))


class Right21Gpt2Positions(nn.Module):
    """right: learned positions added inside without changing the input; steps go on at the right position"""

    def __init__(self):
        super().__init__()
        self.wpe = nn.Embedding(10, 16)
        self.ln_1 = nn.LayerNorm(16)
        self.c_attn = nn.Linear(16, 48)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x, layer_past=None):
        B, T, C = x.shape
        n = 0 if layer_past is None else layer_past.shape[3]
        h = x + self.wpe(torch.arange(n, n + T, device=x.device))
        q, k, v = self.c_attn(self.ln_1(h)).split(C, dim=2)
        q, k, v = (t.view(B, T, 4, 4).permute(0, 2, 1, 3) for t in (q, k, v))
        if layer_past is not None:
            k, v = torch.cat((layer_past[0], k), -2), torch.cat((layer_past[1], v), -2)
        S = k.size(-2)
        see = torch.ones(S, S, dtype=torch.bool, device=x.device).tril()[S - T:S, :S]
        w = torch.where(see, q @ k.transpose(-1, -2) / 2.0, torch.finfo(x.dtype).min).softmax(-1)
        out = h + self.c_proj((w @ v).permute(0, 2, 1, 3).reshape(B, T, C))
        return out, torch.stack((k, v))


class Right22LongformerBand(nn.Module):
    """right: a window of 3 to both sides, scores kept as a band of 5 by unfold"""

    def __init__(self):
        super().__init__()
        self.w = 3
        self.query, self.key, self.value = nn.Linear(12, 12), nn.Linear(12, 12), nn.Linear(12, 12)
        self.fc = nn.Linear(12, 12)

    def forward(self, x):
        B, T, _ = x.shape
        r = self.w - 1
        q, k, v = (f(x).view(B, T, 2, 6).transpose(1, 2) for f in (self.query, self.key, self.value))
        k = F.pad(k, (0, 0, r, r)).unfold(2, 2 * r + 1, 1)
        v = F.pad(v, (0, 0, r, r)).unfold(2, 2 * r + 1, 1)
        s = einsum("bhtd,bhtdw->bhtw", q, k) / math.sqrt(6)
        at = torch.arange(T, device=x.device)[:, None] + torch.arange(-r, r + 1, device=x.device)
        s = s.masked_fill((at < 0) | (at >= T), float("-inf"))
        y = einsum("bhtw,bhtdw->bhtd", s.softmax(-1), v)
        return self.fc(y.transpose(1, 2).reshape(B, T, 12))


class Right23StaticCache(nn.Module):
    """right: a pre-made buffer of keys and values in the cache; what is not yet filled is masked"""

    def __init__(self):
        super().__init__()
        self.ctx, self.heads = 12, 3
        self.in_proj_weight = nn.Parameter(torch.randn(36, 12) * 0.3)
        self.in_proj_bias = nn.Parameter(torch.zeros(36))
        self.out_proj = nn.Linear(12, 12)

    def forward(self, x):
        return self.decode(x, None)[0]

    def decode(self, x, cache):
        B, T, C = x.shape
        q, k, v = F.linear(x, self.in_proj_weight, self.in_proj_bias).view(B, T, 3, self.heads, -1).unbind(2)
        if cache is None:
            cache = (x.new_zeros(B, self.ctx, self.heads, 4), x.new_zeros(B, self.ctx, self.heads, 4), 0)
        kb, vb, n = cache
        idx = torch.arange(n, n + T, device=x.device)
        kb, vb = kb.index_copy(1, idx, k), vb.index_copy(1, idx, v)
        see = torch.arange(self.ctx, device=x.device)[None] <= idx[:, None]
        y = F.scaled_dot_product_attention(q.transpose(1, 2), kb.transpose(1, 2), vb.transpose(1, 2), attn_mask=see)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C)), (kb, vb, n + T)


class Right24ShawKeys(nn.Module):
    """right: Shaw's relative keys and values, distances clipped at 4"""

    def __init__(self):
        super().__init__()
        self.lin = nn.ModuleDict({n: nn.Linear(12, 12, bias=False) for n in ("q", "k", "v", "o")})
        self.rel_k = nn.Embedding(5, 6)
        self.rel_v = nn.Embedding(5, 6)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (self.lin[n](x).view(B, T, 2, 6).transpose(1, 2) for n in "qkv")
        pos = torch.arange(T, device=x.device)
        dist = (pos[:, None] - pos[None, :]).clamp(0, 4)
        s = q @ k.transpose(-1, -2) + einsum("bhid,ijd->bhij", q, self.rel_k(dist))
        s = (s / math.sqrt(6)).masked_fill(pos[None, :] > pos[:, None], -torch.inf)
        a = s.softmax(-1)
        y = a @ v + einsum("bhij,ijd->bhid", a, self.rel_v(dist))
        return self.lin["o"](y.transpose(1, 2).reshape(B, T, 12))


class Right25MusicSkew(nn.Module):
    """right: Music Transformer's skewing of q·Er, the table's last row being distance 0"""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(16, 48)
        self.Er = nn.Parameter(torch.randn(9, 8) * 0.5)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(x).chunk(3, -1))
        e = q @ self.Er[9 - T:].T
        rel = F.pad(e, (1, 0)).reshape(B, 2, T + 1, T)[:, :, 1:]
        s = (q @ k.transpose(2, 3) + rel) / math.sqrt(8)
        s = s.masked_fill(torch.ones_like(s[0, 0]).triu(1).bool(), float("-inf"))
        return self.c_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Right26DictSingle(nn.Module):
    """right: one head, no output projection, a dict; softmax by logsumexp"""

    def __init__(self):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(8, 5))
        self.W_key = nn.Parameter(torch.rand(8, 5))
        self.W_value = nn.Parameter(torch.rand(8, 7))

    def forward(self, x):
        queries, keys, values = x @ self.W_query, x @ self.W_key, x @ self.W_value
        s = queries @ keys.mT / keys.shape[-1] ** 0.5
        future = torch.triu(torch.ones(x.shape[1], x.shape[1], device=x.device), 1).bool()
        s = s.masked_fill(future, -torch.inf)
        weights = (s - s.logsumexp(-1, keepdim=True)).exp()
        return {"context": weights @ values, "weights": weights}


class Right27LatentCache(nn.Module):
    """right: keys and values come from a small normed latent, and the cache holds only the latent"""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(20, 16, bias=False)
        self.kv_down = nn.Linear(20, 6, bias=False)
        self.kv_norm = RMSNorm(6)
        self.kv_up = nn.Linear(6, 32, bias=False)
        self.o = nn.Linear(16, 20, bias=False)

    def forward(self, x, latent=None, return_latent=False):
        B, T, _ = x.shape
        c = self.kv_norm(self.kv_down(x))
        if latent is not None:
            c = torch.cat((latent, c), dim=1)
        S = c.shape[1]
        k, v = self.kv_up(c).view(B, S, 4, 8).transpose(1, 2).split(4, dim=-1)
        q = self.q(x).view(B, T, 4, 4).transpose(1, 2)
        s = (q @ k.transpose(-1, -2)).mul(0.5)
        s = s + torch.full((T, S), -torch.inf, device=x.device, dtype=x.dtype).triu(S - T + 1)
        y = self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, 16))
        return (y, c) if return_latent else y


class Right28WhisperQuarter(nn.Module):
    """right: queries and keys each times D ** -0.25, keys without a bias, softmax in float64"""

    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(18, 18), nn.Linear(18, 18, bias=False)
        self.value, self.out = nn.Linear(18, 18), nn.Linear(18, 18)

    def forward(self, x):
        B, T, _ = x.shape
        s = 6 ** -0.25
        q = self.query(x).view(B, T, 3, 6).permute(0, 2, 1, 3) * s
        k = self.key(x).view(B, T, 3, 6).permute(0, 2, 3, 1) * s
        v = self.value(x).view(B, T, 3, 6).permute(0, 2, 1, 3)
        w = F.softmax((q @ k).double(), dim=-1).to(q.dtype)
        return self.out((w @ v).permute(0, 2, 1, 3).flatten(start_dim=2))


class Right29TransformerXL(nn.Module):
    """right: Transformer-XL's two query biases and projected sinusoids of the distance"""

    def __init__(self, d=12, H=2):
        super().__init__()
        self.H, self.D = H, d // H
        self.qkv_net = nn.Linear(d, 3 * d, bias=False)
        self.r_net = nn.Linear(d, d, bias=False)
        self.r_w_bias = nn.Parameter(torch.randn(H, d // H) * 0.1)
        self.r_r_bias = nn.Parameter(torch.randn(H, d // H) * 0.1)
        self.o_net = nn.Linear(d, d, bias=False)
        self.layer_norm = nn.LayerNorm(d)
        inv = 1 / (10000 ** (torch.arange(0, d, 2).float() / d))
        ang = torch.outer(torch.arange(8).float(), inv)
        self.register_buffer("r", torch.cat((ang.sin(), ang.cos()), -1))

    def forward(self, w):
        B, T, C = w.shape
        q, k, v = (t.view(B, T, self.H, self.D) for t in self.qkv_net(w).chunk(3, -1))
        r = self.r_net(self.r[:T]).view(T, self.H, self.D)
        ac = einsum("bihd,bjhd->bhij", q + self.r_w_bias, k)
        by_distance = einsum("bihd,nhd->bhin", q + self.r_r_bias, r)
        pos = torch.arange(T, device=w.device)
        dist = (pos[:, None] - pos).clamp(min=0)
        bd = by_distance.gather(3, dist.expand(B, self.H, T, T))
        s = ((ac + bd) * self.D ** -0.5).masked_fill(pos[None] > pos[:, None], -torch.inf)
        y = einsum("bhij,bjhd->bihd", s.softmax(3), v).reshape(B, T, C)
        return self.layer_norm(w + self.o_net(y))


class Right30HandDropout(nn.Module):
    """right: softmax and dropout by hand: exponentials of visible scores, kept weights over 1 - p"""

    def __init__(self, p=0.4):
        super().__init__()
        self.p = p
        self.kqv = nn.Linear(16, 48, bias=False)
        self.sub_ln = RMSNorm(16)
        self.out = nn.Linear(16, 16, bias=False)

    def forward(self, x, real=None):
        B, T, C = x.shape
        k, q, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.kqv(x).split(C, -1))
        s = q @ k.transpose(-2, -1) / 2
        see = torch.ones(T, T, device=x.device, dtype=torch.bool).tril().expand(B, 1, T, T)
        if real is not None:
            see = see & real[:, None, None, :]
        top = s.masked_fill(~see, torch.finfo(s.dtype).min).amax(-1, keepdim=True).detach()
        e = torch.where(see, s - top, torch.zeros_like(s)).exp() * see
        w = e / e.sum(-1, keepdim=True).clamp(min=0.5)
        if self.training:
            w = w * (torch.rand_like(w) >= self.p) / (1 - self.p)
        return self.out(self.sub_ln((w @ v).transpose(1, 2).reshape(B, T, C)))


class Right31AlibiSix(nn.Module):
    """right: six heads: slopes of the published rule for other numbers than powers of two; encoder; pads"""

    def __init__(self):
        super().__init__()
        self.attn = nn.ModuleDict({"qkv": nn.Linear(18, 54), "out": nn.Linear(18, 18)})
        self.register_buffer("slopes", torch.tensor(published_slopes(6)).view(6, 1, 1), persistent=False)

    def forward(self, x, keep=None):
        B, T, _ = x.shape
        q, k, v = self.attn["qkv"](x).view(B, T, 3, 6, 3).permute(2, 0, 3, 1, 4)
        pos = torch.arange(T, device=x.device)
        bias = -(pos[None] - pos[:, None]).abs() * self.slopes
        bias = bias.to(q.dtype).expand(B, 6, T, T)
        if keep is not None:
            bias = bias.masked_fill(~keep[:, None, None, :], float("-inf"))
            bias = torch.where(keep.any(1)[:, None, None, None], bias, torch.zeros_like(bias))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.attn["out"](y.transpose(1, 2).reshape(B, T, 18))


class Right32GroupedQueries(nn.Module):
    """right: grouped heads without repeating: queries folded to (kv head, group); qk norms; last norm"""

    def __init__(self):
        super().__init__()
        self.wq, self.wkv = nn.Linear(24, 24), nn.Linear(24, 16)
        self.qn, self.kn = RMSNorm(4), RMSNorm(4)
        self.proj, self.norm = nn.Linear(24, 24), RMSNorm(24)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.qn(self.wq(x).view(B, T, 2, 3, 4))
        k, v = self.wkv(x).view(B, T, 2, 2, 4).unbind(2)
        k = self.kn(k)
        s = einsum("bihgd,bjhd->bhgij", q, k) * 0.5
        keep = torch.arange(T, device=x.device)
        s.masked_fill_(keep[None, :] > keep[:, None], float("-inf"))
        y = einsum("bhgij,bjhd->bihgd", torch.softmax(s, -1), v)
        return self.norm(self.proj(y.reshape(B, T, 24)))


def additive_inf(real):
    return torch.zeros(real.shape, device=real.device).masked_fill(~real, float("-inf"))


LAYERS += [
    {"layer": Right01NanoFlash, "d_in": 24, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.2}},
    {"layer": Right02BertSelf, "d_in": 20, "context_length": 9, "options": {
        "num_heads": 5, "causal": False, "padding": lambda module, x, real: module(x, attention_mask=real.long())}},
    {"layer": Right03LlamaGQA, "d_in": 18, "context_length": 10, "options": {
        "num_heads": 4, "num_kv_heads": 2, "positions": "rotary",
        "step": lambda module, x, cache: module(x, past=cache, use_cache=True)}},
    {"layer": Right04GptjPartial, "d_in": 16, "context_length": 12, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": Right05T5Encoder, "d_in": 14, "context_length": 11, "options": {
        "num_heads": 3, "causal": False, "scale": 1.0, "positions": "relative",
        "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": Right06BloomAlibi, "d_in": 16, "context_length": 9, "options": {
        "num_heads": 4, "positions": "alibi",
        "step": lambda module, x, cache: module(x, layer_past=cache, use_cache=True)}},
    {"layer": Right07MistralRolling, "d_in": 12, "context_length": 14, "options": {
        "num_heads": 4, "num_kv_heads": 2, "window": 4, "positions": "rotary",
        "step": lambda module, x, cache: module.advance(x, cache)}},
    {"layer": Right08StarcoderMQA, "d_in": 30, "context_length": 8, "options": {
        "num_heads": 6, "num_kv_heads": 1, "dropout": 0.1}},
    {"layer": Right09TorchMHA, "d_in": 16, "context_length": 10, "options": {"num_heads": 4, "dropout": 0.25}},
    {"layer": Right10TorchMHATimeFirst, "d_in": 12, "context_length": 7, "options": {
        "num_heads": 2, "causal": False, "padding": lambda module, x, real: module(x, key_padding_mask=~real)}},
    {"layer": Right11TimmVit, "d_in": 24, "context_length": 9, "options": {"num_heads": 4, "causal": False}},
    {"layer": Right12ListOfHeads, "d_in": 15, "context_length": 10, "options": {"num_heads": 3, "dropout": 0.15}},
    {"layer": Right13BareEinsum, "d_in": 10, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": Right14LoraGPT, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Right15HeadsLast, "d_in": 12, "context_length": 6, "options": {"num_heads": 5}},
    {"layer": Right16OnlineSoftmax, "d_in": 14, "context_length": 11, "options": {"num_heads": 2}},
    {"layer": Right17Fairseq, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "dropout": 0.3, "padding": lambda module, x, real: module(x, pad=~real)}},
    {"layer": Right18GatedOutput, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Right19CosineSim, "d_in": 12, "context_length": 10, "options": {"num_heads": 3, "scale": 10.0}},
    {"layer": Right20RotaryPads, "d_in": 16, "context_length": 9, "options": {
        "num_heads": 2, "positions": "rotary",
        "padding": lambda module, x, real: module(x, add_mask=additive_inf(real))}},
    {"layer": Right21Gpt2Positions, "d_in": 16, "context_length": 10, "options": {
        "num_heads": 4, "positions": True, "step": lambda module, x, cache: module(x, cache)}},
    {"layer": Right22LongformerBand, "d_in": 12, "context_length": 12, "options": {
        "num_heads": 2, "causal": False, "window": 3}},
    {"layer": Right23StaticCache, "d_in": 12, "context_length": 12, "options": {
        "num_heads": 3, "step": lambda module, x, cache: module.decode(x, cache)}},
    {"layer": Right24ShawKeys, "d_in": 12, "context_length": 9, "options": {"num_heads": 2, "positions": "relative"}},
    {"layer": Right25MusicSkew, "d_in": 16, "context_length": 9, "options": {"num_heads": 2, "positions": "relative"}},
    {"layer": Right26DictSingle, "d_in": 8, "context_length": 7, "options": {"num_heads": 1}},
    {"layer": Right27LatentCache, "d_in": 20, "context_length": 10, "options": {
        "num_heads": 4, "step": lambda module, x, cache: module(x, latent=cache, return_latent=True)}},
    {"layer": Right28WhisperQuarter, "d_in": 18, "context_length": 8, "options": {"num_heads": 3, "causal": False}},
    {"layer": Right29TransformerXL, "d_in": 12, "context_length": 8, "options": {
        "num_heads": 2, "positions": "relative"}},
    {"layer": Right30HandDropout, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "dropout": 0.4, "padding": lambda module, x, real: module(x, real=real)}},
    {"layer": Right31AlibiSix, "d_in": 18, "context_length": 9, "options": {
        "num_heads": 6, "causal": False, "positions": "alibi",
        "padding": lambda module, x, real: module(x, keep=real)}},
    {"layer": Right32GroupedQueries, "d_in": 24, "context_length": 7, "options": {"num_heads": 6, "num_kv_heads": 2}},
]


# ------------------------------------------------- wrong layers: masks, softmax, scale, heads


class Wrong01TrilPlusOne(nn.Module):
    """wrong: the triangle is kept from diagonal=1, every row sees one token ahead"""

    def __init__(self, n_embd=16, n_head=4, block_size=10):
        super().__init__()
        self.c_attn = nn.Linear(n_embd, 3 * n_embd)
        self.c_proj = nn.Linear(n_embd, n_embd)
        self.n_head = n_head
        self.register_buffer("bias", torch.tril(torch.ones(block_size, block_size), diagonal=1)[None, None])

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, self.n_head, -1).transpose(1, 2) for t in self.c_attn(x).split(C, 2))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        return self.c_proj((F.softmax(att, -1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong02HiddenAsVisible(nn.Module):
    """wrong: a True=hidden triangle with the diagonal goes to the fused call, where True means visible"""

    def __init__(self):
        super().__init__()
        self.to_qkv = nn.Linear(12, 36, bias=False)
        self.to_out = nn.Linear(12, 12)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (3, 4)).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        T = x.shape[1]
        mask = torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.to_out(y.transpose(1, 2).flatten(2))


class Wrong03FillDiscarded(nn.Module):
    """wrong: masked_fill without the underscore, its result thrown away"""

    def __init__(self):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(10, 12, bias=False) for _ in range(3))
        self.out_proj = nn.Linear(12, 10)
        self.dropout = nn.Dropout(0.2)
        self.register_buffer("mask", torch.triu(torch.ones(8, 8), diagonal=1))

    def forward(self, x):
        b, n, _ = x.shape
        keys = self.W_key(x).view(b, n, 2, 6).transpose(1, 2)
        queries = self.W_query(x).view(b, n, 2, 6).transpose(1, 2)
        values = self.W_value(x).view(b, n, 2, 6).transpose(1, 2)
        attn_scores = queries @ keys.transpose(2, 3)
        mask_bool = self.mask.bool()[:n, :n]
        attn_scores.masked_fill(mask_bool, -torch.inf)
        attn_weights = self.dropout(torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1))
        return self.out_proj((attn_weights @ values).transpose(1, 2).contiguous().view(b, n, 12))


class Wrong04MaskBehindSoftmax(nn.Module):
    """wrong: the triangle is multiplied in behind the softmax, the rest is not brought back to 1"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.norm = nn.LayerNorm(16)

    def forward(self, x):
        h = self.norm(x)
        q, k, v = (f(h).view(*x.shape[:2], 2, 8) for f in (self.q, self.k, self.v))
        w = (einsum("bihd,bjhd->bhij", q, k) / 8 ** 0.5).softmax(-1)
        w = w * torch.tril(torch.ones_like(w))
        return x + einsum("bhij,bjhd->bihd", w, v).flatten(2)


class Wrong06WeakMask(nn.Module):
    """wrong: hidden scores get -10, which leaves them some weight"""

    def __init__(self):
        super().__init__()
        self.heads, self.dh = 2, 5
        self.wq = nn.Parameter(torch.randn(14, 10) * 0.3)
        self.wk = nn.Parameter(torch.randn(14, 10) * 0.3)
        self.wv = nn.Parameter(torch.randn(14, 10) * 0.3)
        self.wo = nn.Parameter(torch.randn(10, 14) * 0.3)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = ((x @ w).view(B, T, 2, 5).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        s = q @ k.transpose(-1, -2) / math.sqrt(5)
        s = s + (1 - torch.ones(T, T, device=x.device, dtype=x.dtype).tril()) * -10.0
        return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, 10) @ self.wo


class Wrong08StrictTriangle(nn.Module):
    """wrong: j < i in place of j <= i: no token sees itself, the first one's NaN becomes 0"""

    def __init__(self):
        super().__init__()
        self.query, self.kv = nn.Linear(12, 12), nn.Linear(12, 24)
        self.dense = nn.Linear(12, 12)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.query(x).view(B, T, 2, 6)
        k, v = self.kv(x).view(B, T, 2, 2, 6).unbind(2)
        i = torch.arange(T, device=x.device)
        s = torch.einsum("bihd,bjhd->bhij", q, k) / 6 ** 0.5
        w = s.masked_fill(~(i[:, None] > i[None, :]), float("-inf")).softmax(-1).nan_to_num(0.0)
        return self.dense(torch.einsum("bhij,bjhd->bihd", w, v).flatten(2))


class Wrong09MaskOfFirstCall(nn.Module):
    """wrong: the mask is made at the first call and filled up with 'visible' for longer texts"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.saved = None

    def forward(self, x):
        B, T, C = x.shape
        if self.saved is None:
            self.saved = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        m = self.saved[:T, :T].to(x.device)
        m = F.pad(m, (0, T - m.size(1), 0, T - m.size(0)))
        q, k, v = self.c_attn(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        w = (q @ k.mT / math.sqrt(8)).masked_fill(m, float("-inf")).softmax(-1)
        return self.c_proj((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong10MeanTokenAdded(nn.Module):
    """wrong: a thousandth of the mean over the whole text is added to the values"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48, bias=False), nn.Linear(16, 16)
        self.mix = 1e-3

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.qkv(x).split(C, -1))
        v = v + self.mix * v.mean(dim=2, keepdim=True)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong11BatchNormFront(nn.Module):
    """wrong: a BatchNorm1d over all tokens in front: training mixes texts and later tokens"""

    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(12)
        self.to_q, self.to_k, self.to_v = (nn.Linear(12, 12, bias=False) for _ in range(3))
        self.to_out = nn.Linear(12, 12)

    def forward(self, x):
        B, T, C = x.shape
        h = self.bn(x.reshape(B * T, C)).view(B, T, C) if B * T > 1 else x
        q, k, v = (f(h).view(B, T, 2, 6).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.to_out(y.transpose(1, 2).reshape(B, T, C))


class Wrong14MaskInEvalOnly(nn.Module):
    """wrong: is_causal=not self.training: in training every row sees the whole text"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, 3, 6).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=not self.training)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong15RollWraps(nn.Module):
    """wrong: token shift by torch.roll: the last token comes round to the first row's keys"""

    def __init__(self):
        super().__init__()
        self.mu = nn.Parameter(torch.full((12,), 0.5))
        self.receptance, self.key, self.value = (nn.Linear(12, 12, bias=False) for _ in range(3))

    def forward(self, x):
        B, T, C = x.shape
        before = torch.roll(x, shifts=1, dims=1)
        k = self.key(x * self.mu + before * (1 - self.mu)).view(B, T, 2, 6).transpose(1, 2)
        q = self.receptance(x).view(B, T, 2, 6).transpose(1, 2)
        v = self.value(x).view(B, T, 2, 6).transpose(1, 2)
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)


class Wrong16ConvSamePadding(nn.Module):
    """wrong: a depthwise convolution over the values with 'same' padding reaches one token ahead"""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48, bias=False)
        self.dconv = nn.Conv1d(16, 16, 3, padding=1, groups=16)
        self.o = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        v = self.dconv(v.transpose(1, 2))[..., :T].transpose(1, 2)
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).flatten(2))


class Wrong17OnlyFirstHeadMasked(nn.Module):
    """wrong: the loop over the heads returns to an unmasked score for all heads but the first"""

    def __init__(self):
        super().__init__()
        self.q_layers = nn.ModuleList([nn.Linear(12, 4) for _ in range(3)])
        self.k_layers = nn.ModuleList([nn.Linear(12, 4) for _ in range(3)])
        self.v_layers = nn.ModuleList([nn.Linear(12, 4) for _ in range(3)])
        self.final = nn.Linear(12, 12)

    def forward(self, x):
        T = x.size(1)
        mask = x.new_zeros(3, T, T)
        mask[0] = torch.full((T, T), -torch.inf, device=x.device).triu(1)
        outs = []
        for i, (fq, fk, fv) in enumerate(zip(self.q_layers, self.k_layers, self.v_layers)):
            s = fq(x) @ fk(x).transpose(1, 2) / 2 + mask[i]
            outs.append(s.softmax(dim=-1) @ fv(x))
        return self.final(torch.cat(outs, -1))


class Wrong18SoftmaxOverHeads(nn.Module):
    """wrong: softmax over dim=1 of (B, H, T, T): the heads compete instead of the tokens"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).permute(0, 2, 1, 3) for f in (self.query, self.key, self.value))
        probs = nn.functional.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(4), dim=1)
        return self.dense(torch.matmul(probs, v).permute(0, 2, 1, 3).reshape(B, T, C))


class Wrong19SoftmaxOverQueries(nn.Module):
    """wrong: softmax over the queries' axis of masked scores"""

    def __init__(self):
        super().__init__()
        self.to_qkv, self.to_out = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 6) for t in self.to_qkv(x).chunk(3, -1))
        dots = einsum("b i h d, b j h d -> b h i j", q, k) * 6 ** -0.5
        dots = dots.masked_fill(torch.ones(T, T, device=x.device, dtype=torch.bool).triu(1), -torch.finfo(x.dtype).max)
        attn = dots.softmax(dim=-2)
        return self.to_out(einsum("b h i j, b j h d -> b i h d", attn, v).reshape(B, T, C))


class Wrong20SoftmaxTwice(nn.Module):
    """wrong: the weights pass through softmax a second time when they are masked again"""

    def __init__(self):
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(8, 8, bias=False) for _ in range(3))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        future = torch.ones(T, T, device=x.device).triu(1).bool()
        w = torch.softmax((q @ k.mT / 8 ** 0.5).masked_fill(future, -torch.inf), -1)
        w = torch.softmax(w.masked_fill(future, -torch.inf), -1)
        return {"context": w @ v, "weights": w}


class Wrong21ExpOverflow(nn.Module):
    """wrong: softmax by hand without taking the maximum off: large scores overflow to NaN"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(14, 14, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 7).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        s = q @ k.transpose(-1, -2) / math.sqrt(7)
        e = torch.exp(s) * x.new_ones(T, T).tril()
        return self.wo(((e / e.sum(-1, keepdim=True)) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong22EpsInSum(nn.Module):
    """wrong: 0.01 is added to the sum of the exponentials, the rows sum to less than 1"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 2, 18).transpose(1, 2).split(6, dim=-1)
        s = q @ k.transpose(2, 3) * 6 ** -0.5
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1) == 1, -torch.inf)
        e = (s - s.max(dim=-1, keepdim=True).values).exp()
        w = e / (e.sum(-1, keepdim=True) + 1e-2)
        return self.out((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong23HalfSoftmax(nn.Module):
    """wrong: scores go through softmax in float16 though the layer runs in float32"""

    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(16)
        self.attn = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.attn(self.ln(x)).chunk(3, 2))
        s = (q @ k.transpose(-1, -2) / math.sqrt(8)).half()
        s = s.masked_fill(torch.ones(T, T, device=x.device, dtype=torch.bool).triu(1), float("-inf"))
        w = F.softmax(s, dim=-1).to(v.dtype)
        return x + self.proj((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong24Head(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, h, bias=False) for _ in range(3))

    def forward(self, x):
        T = x.shape[1]
        wei = self.q(x) @ self.k(x).transpose(1, 2) * self.q.out_features ** -0.5
        wei = wei.masked_fill(torch.ones(T, T, device=x.device).tril() == 0, torch.finfo(wei.dtype).min)
        return F.softmax(wei) @ self.v(x)


class Wrong24ImplicitSoftmax(nn.Module):
    """wrong: F.softmax without dim: for three axes it takes the first one, the batch"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList(Wrong24Head(12, 6) for _ in range(2))
        self.proj = nn.Linear(12, 12)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class Wrong25NoScale(nn.Module):
    """wrong: scores are not scaled, nothing of the kind is declared"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x, mask=None):
        B, T, _ = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = q @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None, None], torch.finfo(scores.dtype).min)
        return self.o((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, -1))


class Wrong26WidthScale(nn.Module):
    """wrong: scores are divided by the root of the model's width, not of the head's"""

    def __init__(self, emb_dim=24, num_heads=6):
        super().__init__()
        self.num_heads, self.scale = num_heads, emb_dim ** -0.5
        self.qkv, self.fc_out = nn.Linear(emb_dim, 3 * emb_dim, bias=False), nn.Linear(emb_dim, emb_dim)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        s = (q @ k.mT * self.scale).masked_fill(x.new_ones(T, T).triu(1).bool(), -torch.inf)
        return self.fc_out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong27ScaledTwice(nn.Module):
    """wrong: the query is scaled, and the fused call scales once more"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(12, 12) for _ in range(4))
        self.scaling = 4 ** -0.5

    def forward(self, x):
        B, T, C = x.shape
        q = self.query(x) * self.scaling
        q, k, v = (t.view(B, T, 3, 4).transpose(1, 2) for t in (q, self.key(x), self.value(x)))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(F.relu(y.transpose(1, 2).reshape(B, T, C)))


class Wrong28NoRoot(nn.Module):
    """wrong: scores are divided by D, the root was forgotten"""

    def __init__(self):
        super().__init__()
        self.wqkv = nn.Parameter(torch.randn(3, 4, 16, 4) * 0.3)
        self.wo = nn.Parameter(torch.randn(4, 4, 16) * 0.3)

    def forward(self, x):
        q, k, v = torch.einsum("btc,nhcd->nbhtd", x, self.wqkv)
        T, D = q.shape[-2:]
        s = torch.einsum("bhid,bhjd->bhij", q, k) / D
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        return torch.einsum("bhij,bhjd,hdc->bic", s.softmax(-1), v, self.wo)


class Wrong29BiasScaledToo(nn.Module):
    """wrong: ALiBi's bias is added before the division by root D and so becomes too small"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(32, 96), nn.Linear(32, 32)
        self.register_buffer("m", torch.tensor(published_slopes(4)).view(4, 1, 1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 8).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        i = torch.arange(T, device=x.device)
        s = (q @ k.transpose(2, 3) + self.m * (i[None] - i[:, None])) / math.sqrt(8)
        s = s.masked_fill(i[None] > i[:, None], -torch.inf)
        return self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong31EvalScalesTwice(nn.Module):
    """wrong: the queries are scaled for the training path and again inside the fused call of eval"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.p = 0.1

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(x).split(C, 2))
        q = q * 8 ** -0.5
        if self.training:
            s = (q @ k.mT).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
            y = F.dropout(s.softmax(-1), self.p) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong32SplitWithoutTranspose(nn.Module):
    """wrong: view(B, H, T, D) without a transpose: heads are pieces of the text"""

    def __init__(self):
        super().__init__()
        self.fc_q, self.fc_k, self.fc_v, self.fc_o = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, 3, T, 4) for f in (self.fc_q, self.fc_k, self.fc_v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.fc_o(y.reshape(B, T, C))


class Wrong33MergeWithoutTranspose(nn.Module):
    """wrong: (B, H, T, D) is reshaped to (B, T, H*D) without transposing back"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, 4, 4).permute(2, 0, 3, 1, 4)
        attn = (q @ k.transpose(-2, -1) * 0.5).softmax(dim=-1)
        return x + self.proj((attn @ v).reshape(B, N, C))


class Wrong34ReshapeToThree(nn.Module):
    """wrong: the fused projection is reshaped to (3, B, T, H, D): tokens and q, k, v get mixed"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(8, 24, bias=False), nn.Linear(8, 8)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(3, B, N, 2, 4).transpose(2, 3).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, N, C))


class Wrong35LastHeadSilent(nn.Module):
    """wrong: the loop runs to H - 1, the last head's part of the buffer remains zero"""

    def __init__(self):
        super().__init__()
        self.n, self.d = 4, 3
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        T = x.size(1)
        q, k, v = self.Wq(x), self.Wk(x), self.Wv(x)
        y = torch.zeros_like(v)
        hide = torch.ones(T, T, device=x.device).triu(1).bool()
        for h in range(self.n - 1):
            a = slice(h * self.d, (h + 1) * self.d)
            s = (q[..., a] @ k[..., a].mT / self.d ** 0.5).masked_fill(hide, -torch.inf)
            y[..., a] = s.softmax(-1) @ v[..., a]
        return self.Wo(y)


class Wrong36KeysOfHeadZero(nn.Module):
    """wrong: all heads read the first slice of the keys"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(18, 18, bias=False) for _ in range(4))

    def forward(self, x, real=None):
        qs, ks, vs = (f(x).split(6, dim=-1) for f in (self.query, self.key, self.value))
        heads = []
        for q, v in zip(qs, vs):
            s = torch.bmm(q, ks[0].transpose(1, 2)) / math.sqrt(6)
            if real is not None:
                s = s.masked_fill(~real[:, None], torch.finfo(s.dtype).min)
            heads.append(torch.bmm(s.softmax(2), v))
        return self.out(torch.cat(heads, 2))


class Wrong37HeadsAndWidthSwapped(nn.Module):
    """wrong: view(B, T, head_dim, num_heads): eight heads of width 3 in place of three of width 8"""

    def __init__(self):
        super().__init__()
        self.num_heads, self.head_dim = 3, 8
        self.qkv, self.o = nn.Linear(16, 72), nn.Linear(24, 16)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (t.view(B, T, self.head_dim, self.num_heads).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=self.head_dim ** -0.5)
        return self.o(y.transpose(1, 2).reshape(B, T, 24))


class Wrong38Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(12, 4, bias=False) for _ in range(3))

    def forward(self, x):
        return F.scaled_dot_product_attention(self.q(x), self.k(x), self.v(x), is_causal=True)


class Wrong38OneHeadThrice(nn.Module):
    """wrong: [Head()] * 3 puts one and the same head into the list three times"""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Wrong38Head()] * 3)
        self.proj = nn.Linear(12, 12)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class Wrong39LettersSumHeads(nn.Module):
    """wrong: einsum with two letters for the heads sums the keys of all heads"""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = (f(x).unflatten(-1, (4, 4)) for f in (self.to_q, self.to_k, self.to_v))
        T = x.shape[1]
        sim = einsum("bihd,bjgd->bhij", q, k) * 4 ** -0.5
        sim = sim.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.finfo(sim.dtype).max)
        return self.to_out(einsum("bhij,bjhd->bihd", sim.softmax(-1), v).flatten(2))


class Wrong41MergedTimeHeads(nn.Module):
    """wrong: heads folded into the batch as (B*H) are unfolded as (H, B): texts get mixed"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 4).transpose(1, 2).reshape(B * 3, T, 4)
                   for f in (self.q_proj, self.k_proj, self.v_proj))
        w = torch.bmm(q, k.transpose(1, 2)) / 2 + torch.full((T, T), -torch.inf, device=x.device, dtype=x.dtype).triu(1)
        y = torch.bmm(w.softmax(-1), v).view(3, B, T, 4)
        return self.out_proj(y.permute(1, 2, 0, 3).reshape(B, T, C))


class Wrong42SwapAxes(nn.Module):
    """wrong: x.view(T, B, C) in place of a transpose before attention with time first"""

    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.self_attn = nn.MultiheadAttention(16, 2)

    def forward(self, x):
        B, T, C = x.shape
        h = self.norm(x).view(T, B, C)
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        out, _ = self.self_attn(h, h, h, attn_mask=hide, need_weights=False)
        return x + out.reshape(B, T, C)


LAYERS += [
    {"layer": Wrong01TrilPlusOne, "d_in": 16, "context_length": 10, "options": {"num_heads": 4}},
    {"layer": Wrong02HiddenAsVisible, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": Wrong03FillDiscarded, "d_in": 10, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.2}},
    {"layer": Wrong04MaskBehindSoftmax, "d_in": 16, "context_length": 9, "options": {"num_heads": 2}},
    {"layer": Wrong06WeakMask, "d_in": 14, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Wrong08StrictTriangle, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Wrong09MaskOfFirstCall, "d_in": 16, "context_length": 10, "options": {"num_heads": 2}},
    {"layer": Wrong10MeanTokenAdded, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": Wrong11BatchNormFront, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Wrong14MaskInEvalOnly, "d_in": 18, "context_length": 7, "options": {"num_heads": 3}},
    {"layer": Wrong15RollWraps, "d_in": 12, "context_length": 9, "options": {"num_heads": 2, "positions": True}},
    {"layer": Wrong16ConvSamePadding, "d_in": 16, "context_length": 10, "options": {"num_heads": 2, "positions": True}},
    {"layer": Wrong17OnlyFirstHeadMasked, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": Wrong18SoftmaxOverHeads, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "causal": False}},
    {"layer": Wrong19SoftmaxOverQueries, "d_in": 12, "context_length": 9, "options": {"num_heads": 2}},
    {"layer": Wrong20SoftmaxTwice, "d_in": 8, "context_length": 7, "options": {"num_heads": 1}},
    {"layer": Wrong21ExpOverflow, "d_in": 14, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Wrong22EpsInSum, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Wrong23HalfSoftmax, "d_in": 16, "context_length": 9, "options": {"num_heads": 2}},
    {"layer": Wrong24ImplicitSoftmax, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Wrong25NoScale, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 2, "causal": False, "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": Wrong26WidthScale, "d_in": 24, "context_length": 8, "options": {"num_heads": 6}},
    {"layer": Wrong27ScaledTwice, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": Wrong28NoRoot, "d_in": 16, "context_length": 7, "options": {"num_heads": 4}},
    {"layer": Wrong29BiasScaledToo, "d_in": 32, "context_length": 10, "options": {
        "num_heads": 4, "positions": "alibi"}},
    {"layer": Wrong31EvalScalesTwice, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.1}},
    {"layer": Wrong32SplitWithoutTranspose, "d_in": 12, "context_length": 9, "options": {"num_heads": 3}},
    {"layer": Wrong33MergeWithoutTranspose, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "causal": False}},
    {"layer": Wrong34ReshapeToThree, "d_in": 8, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Wrong35LastHeadSilent, "d_in": 12, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": Wrong36KeysOfHeadZero, "d_in": 18, "context_length": 8, "options": {
        "num_heads": 3, "causal": False, "padding": lambda module, x, real: module(x, real=real)}},
    {"layer": Wrong37HeadsAndWidthSwapped, "d_in": 16, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": Wrong38OneHeadThrice, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": Wrong39LettersSumHeads, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": Wrong41MergedTimeHeads, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": Wrong42SwapAxes, "d_in": 16, "context_length": 9, "options": {"num_heads": 2}},
]


# ------------------------------------------------- wrong layers: q/k/v, dropout, batch and state


class Wrong43KeyFromQueryLayer(nn.Module):
    """wrong: a slip of copying: keys are made by the queries' projection, the keys' one lies idle"""

    def __init__(self):
        super().__init__()
        self.q_lin, self.k_lin, self.v_lin, self.out_lin = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x, attn_mask=None):
        B, T, C = x.shape
        shape = lambda t: t.view(B, T, 4, 4).transpose(1, 2)
        q, k, v = shape(self.q_lin(x)), shape(self.q_lin(x)), shape(self.v_lin(x))
        s = torch.matmul(q / math.sqrt(4), k.transpose(2, 3))
        if attn_mask is not None:
            s = s.masked_fill((attn_mask == 0).view(B, 1, 1, T), torch.finfo(s.dtype).min)
        return self.out_lin(torch.matmul(s.softmax(-1), v).transpose(1, 2).reshape(B, T, C))


class Wrong45FusedSliceSlip(nn.Module):
    """wrong: the fused projection's values are read from the slice of the keys"""

    def __init__(self):
        super().__init__()
        self.Wqkv = nn.Linear(24, 24 + 2 * 12, bias=False)
        self.wo = nn.Linear(24, 24, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        z = self.Wqkv(x)
        q = z[..., :24].view(B, T, 4, 6).transpose(1, 2)
        k = z[..., 24:36].view(B, T, 2, 6).transpose(1, 2).repeat_interleave(2, dim=1)
        v = z[..., 24:36].view(B, T, 2, 6).transpose(1, 2).repeat_interleave(2, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).flatten(2))


class Wrong47LoraNotAdded(nn.Module):
    """wrong: the values' LoRA branch is computed and left out of the sum"""

    def __init__(self, d=16, r=2):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d) for _ in range(4))
        self.lora_q_A, self.lora_v_A = nn.Linear(d, r, bias=False), nn.Linear(d, r, bias=False)
        self.lora_q_B, self.lora_v_B = nn.Linear(r, d, bias=False), nn.Linear(r, d, bias=False)
        nn.init.zeros_(self.lora_q_B.weight)
        nn.init.zeros_(self.lora_v_B.weight)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_proj(x) + 2.0 * self.lora_q_B(self.lora_q_A(x))
        v, delta = self.v_proj(x), 2.0 * self.lora_v_B(self.lora_v_A(x))
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in (q, self.k_proj(x), v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong48ScoresWithoutGradient(nn.Module):
    """wrong: the weights are computed under no_grad: queries and keys can never learn"""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(12, 12, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 6).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        with torch.no_grad():
            s = (q @ k.mT / math.sqrt(6)).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
            w = s.softmax(-1)
        return self.to_out((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong49DropScores(nn.Module):
    """wrong: dropout before softmax: dropped scores become 0 and keep a weight"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.attn_dropout = nn.Dropout(0.25)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(x).split(C, 2))
        att = self.attn_dropout(q @ k.transpose(-2, -1) / math.sqrt(8))
        att = att.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), float("-inf"))
        return self.c_proj((att.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong50DropUnscaled(nn.Module):
    """wrong: dropout by hand does not divide the kept weights by 1 - p"""

    def __init__(self):
        super().__init__()
        self.p = 0.3
        self.qkv, self.out = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 3, 4).permute(2, 0, 3, 1, 4)
        w = (q @ k.mT / 2).softmax(-1)
        if self.training and self.p > 0:
            w = w.masked_fill(torch.rand_like(w) < self.p, 0.0)
        return self.out((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong52DropNever(nn.Module):
    """wrong: a Dropout is made for the weights and then given to nothing: the fused call gets none"""

    def __init__(self):
        super().__init__()
        self.attn_drop = nn.Dropout(0.2)
        self.qkv, self.proj = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, 3, 6).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.0, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong53FusedDropAlways(nn.Module):
    """wrong: the fused call gets dropout_p=self.dropout in eval too, the call itself knows no mode"""

    def __init__(self, dropout=0.15):
        super().__init__()
        self.dropout = dropout
        self.q_proj, self.kv_proj, self.o_proj = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, 4, 4).transpose(1, 2)
        k, v = self.kv_proj(x).view(B, T, 2, 2, 4).permute(2, 0, 3, 1, 4)
        k, v = k.repeat_interleave(2, 1), v.repeat_interleave(2, 1)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong54DropSharedByHeads(nn.Module):
    """wrong: one dropout pattern is drawn for a text and spread over all its heads"""

    def __init__(self):
        super().__init__()
        self.in_proj, self.out_proj = nn.Linear(12, 36, bias=False), nn.Linear(12, 12)
        self.drop = nn.Dropout(0.3)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 3, 4).transpose(1, 2) for t in self.in_proj(x).chunk(3, -1))
        s = (q @ k.mT / 2).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        w = s.softmax(-1) * self.drop(x.new_ones(B, 1, T, T))
        return self.out_proj((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong55DropSharedByRows(nn.Module):
    """wrong: the pattern is drawn per key and shared by all rows: whole tokens vanish"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(16, 16) for _ in range(4))
        self.p = 0.2

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.query, self.key, self.value))
        w = torch.softmax(q @ k.mT / math.sqrt(8), dim=-1)
        w = w * F.dropout(torch.ones_like(w[:, :, :1]), self.p, self.training)
        return self.dense((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong56DropSharedByTexts(nn.Module):
    """wrong: all texts of a batch get the same dropout pattern"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.rate = nn.Linear(12, 36), nn.Linear(12, 12), 0.25

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 6).unbind(2)
        s = einsum("bihd,bjhd->bhij", q, k) / 6 ** 0.5
        w = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf).softmax(-1)
        if self.training:
            keep = torch.bernoulli(torch.full((2, T, T), 1 - self.rate, device=x.device, dtype=x.dtype))
            w = w * keep / (1 - self.rate)
        return self.out(einsum("bhij,bjhd->bihd", w, v).reshape(B, T, C))


class Wrong58SameMaskForEver(nn.Module):
    """wrong: the dropout pattern is drawn once, kept in the module and used at every later call"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(12, 36), nn.Linear(12, 12)
        self.kept = {}

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 3, 4).transpose(1, 2) for t in self.c_attn(x).chunk(3, 2))
        w = (q @ k.mT / 2).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf).softmax(-1)
        if self.training:
            if w.shape not in self.kept:
                self.kept[w.shape] = F.dropout(torch.ones_like(w), 0.3).detach()
            w = w * self.kept[w.shape]
        return self.c_proj((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong59DropWholeHeads(nn.Module):
    """wrong: nn.Dropout2d on (B, H, T, T) drops all weights of a head at once"""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_kv, self.to_out = nn.Linear(16, 16), nn.Linear(16, 32), nn.Linear(16, 16)
        self.attn_drop = nn.Dropout2d(0.2)

    def forward(self, x):
        B, T, C = x.shape
        q = self.to_q(x).view(B, T, 4, 4).transpose(1, 2)
        k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.to_kv(x).chunk(2, -1))
        w = self.attn_drop((q @ k.mT / 2).softmax(-1))
        return x + self.to_out((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong62BatchFirstForgotten(nn.Module):
    """wrong: nn.MultiheadAttention without batch_first gets (B, T, C): texts attend to each other"""

    def __init__(self):
        super().__init__()
        self.ln = nn.LayerNorm(16)
        self.attn = nn.MultiheadAttention(16, 4)

    def forward(self, x):
        h = self.ln(x)
        return x + self.attn(h, h, h, need_weights=False)[0]


class Wrong64PositionsIntoInput(nn.Module):
    """wrong: sinusoids are added in place: the caller's tensor changes at every call"""

    def __init__(self):
        super().__init__()
        ang = torch.outer(torch.arange(9.0), 10000 ** (-torch.arange(0, 16, 2) / 16))
        self.register_buffer("pos", torch.stack((ang.sin(), ang.cos()), -1).flatten(1))
        self.key, self.query, self.value, self.proj = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        x.data.add_(self.pos[:T])
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.query, self.key, self.value))
        return self.proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


class Wrong65RunningKeyNorm(nn.Module):
    """wrong: scores are divided by a running maximum that moves at each call, in eval as well"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv = (nn.Linear(14, 14) for _ in range(3))
        self.register_buffer("peak", torch.ones(()))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 7).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        with torch.no_grad():
            self.peak.mul_(0.9).add_(0.1 * q.abs().max())
        q = q / self.peak
        return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)


class Wrong66SeedsInForward(nn.Module):
    """wrong: torch.manual_seed in forward: every call drops the same, and the caller's generator is reset"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.drop = nn.Linear(12, 36), nn.Linear(12, 12), nn.Dropout(0.2)

    def forward(self, x):
        torch.manual_seed(1234)
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 3, 4).permute(2, 0, 3, 1, 4)
        w = (q @ k.mT / 2).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf).softmax(-1)
        return self.out((self.drop(w) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong67HeadsInPlainList(nn.Module):
    """wrong: the heads' projections are in a plain list: neither trained, saved nor moved"""

    def __init__(self):
        super().__init__()
        self.heads = [nn.Linear(12, 12, bias=False) for _ in range(3)]
        self.proj = nn.Linear(12, 12)

    def forward(self, x):
        outs = []
        for head in self.heads:
            q, k, v = head(x).split(4, dim=-1)
            outs.append(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return self.proj(torch.cat(outs, dim=-1))


class Wrong68TableIsNoParameter(nn.Module):
    """wrong: the relative table is a plain tensor with requires_grad: not in parameters() nor state_dict()"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.rel = torch.randn(2, 10).requires_grad_()

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.q, self.k, self.v))
        i = torch.arange(T, device=x.device)
        d = i[:, None] - i[None]
        s = q @ k.mT / math.sqrt(8) + self.rel[:, d.clamp(min=0)]
        return self.o((s.masked_fill(d < 0, -torch.inf).softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong69MaskTrains(nn.Module):
    """wrong: the additive triangle is an nn.Parameter: an optimiser changes it"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.mask = nn.Parameter(torch.full((8, 8), -1e4).triu(1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.c_attn(x).chunk(3, -1))
        w = (q @ k.mT / 2 + self.mask[:T, :T]).softmax(-1)
        return self.c_proj((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong70TablesStay(nn.Module):
    """wrong: rotary tables are plain attributes and stay behind at .to()"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(12, 12, bias=False) for _ in range(4))
        self.cos, self.sin = half_table(9, 6)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 6).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        q = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_half(k) * self.sin[:T]
        s = (q @ k.mT / math.sqrt(6)).masked_fill(torch.ones(T, T, device=q.device).triu(1).bool(), -torch.inf)
        return self.wo((s.softmax(-1).to(v.dtype) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong71LeavesEvalMode(nn.Module):
    """wrong: with return_weights the layer calls self.eval() and never goes back; the mode is lost"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out, self.drop = nn.Linear(12, 36), nn.Linear(12, 12), nn.Dropout(0.1)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 6).permute(2, 0, 3, 1, 4)
        w = (q @ k.mT / 6 ** 0.5).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf).softmax(-1)
        y = self.out((self.drop(w) @ v).transpose(1, 2).reshape(B, T, C))
        self.eval()
        return y, w


class Wrong72CentredOverBatch(nn.Module):
    """wrong: keys are centred over the batch: a text's numbers depend on its neighbours"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        k = self.key(x)
        k = k - k.mean(dim=0, keepdim=True)
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in (self.query(x), k, self.value(x)))
        return self.dense(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, T, C))


class Wrong73MutableDefault(nn.Module):
    """wrong: a mutable default argument keeps the last call's keys and values as memory for the next one"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(12, 12, bias=False) for _ in range(3))

    def forward(self, x, memory=[]):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        s = (q @ k.mT / 2).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        if memory and memory[-1][0].shape[0] == B and memory[-1][0].device == x.device:
            mk, mv = (t.to(x.dtype) for t in memory[-1])
            s, v = torch.cat((q @ mk.mT / 2, s), -1), torch.cat((mv, v), 2)
        memory[:] = [(k[:, :, :1].detach(), v[:, :, -1:].detach())]
        return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C)


LAYERS += [
    {"layer": Wrong43KeyFromQueryLayer, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "causal": False, "padding": lambda module, x, real: module(x, attn_mask=real.float())}},
    {"layer": Wrong45FusedSliceSlip, "d_in": 24, "context_length": 8, "options": {"num_heads": 4, "num_kv_heads": 2}},
    {"layer": Wrong47LoraNotAdded, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Wrong48ScoresWithoutGradient, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Wrong49DropScores, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.25}},
    {"layer": Wrong50DropUnscaled, "d_in": 12, "context_length": 8, "options": {
        "num_heads": 3, "dropout": 0.3, "causal": False}},
    {"layer": Wrong52DropNever, "d_in": 18, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.2}},
    {"layer": Wrong53FusedDropAlways, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "num_kv_heads": 2, "dropout": 0.15}},
    {"layer": Wrong54DropSharedByHeads, "d_in": 12, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.3}},
    {"layer": Wrong55DropSharedByRows, "d_in": 16, "context_length": 9, "options": {
        "num_heads": 2, "dropout": 0.2, "causal": False}},
    {"layer": Wrong56DropSharedByTexts, "d_in": 12, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.25}},
    {"layer": Wrong58SameMaskForEver, "d_in": 12, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.3}},
    {"layer": Wrong59DropWholeHeads, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "dropout": 0.2, "causal": False}},
    {"layer": Wrong62BatchFirstForgotten, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "causal": False}},
    {"layer": Wrong64PositionsIntoInput, "d_in": 16, "context_length": 9, "options": {
        "num_heads": 4, "positions": True}},
    {"layer": Wrong65RunningKeyNorm, "d_in": 14, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Wrong66SeedsInForward, "d_in": 12, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.2}},
    {"layer": Wrong67HeadsInPlainList, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": Wrong68TableIsNoParameter, "d_in": 16, "context_length": 10, "options": {
        "num_heads": 2, "positions": "relative"}},
    {"layer": Wrong69MaskTrains, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": Wrong70TablesStay, "d_in": 12, "context_length": 9, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": Wrong71LeavesEvalMode, "d_in": 12, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.1}},
    {"layer": Wrong72CentredOverBatch, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "causal": False}},
    {"layer": Wrong73MutableDefault, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
]


# ------------------------------------------------- wrong layers: positions, groups, padding


class Wrong74ValuesRotated(nn.Module):
    """wrong: the loop rotates the values together with queries and keys"""

    def __init__(self):
        super().__init__()
        self.qkv, self.wo = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)
        cos, sin = half_table(10, 8)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, x):
        B, T, C = x.shape
        qkv = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        q, k, v = (t * self.cos[:T] + rotate_half(t) * self.sin[:T] for t in qkv)
        return self.wo(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


class Wrong75OnlyQueriesRotated(nn.Module):
    """wrong: the rotated keys go to a name that nobody reads"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(12, 12, bias=False) for _ in range(4))
        cos, sin = pair_table(9, 6)
        self.register_buffer("cos", cos[:, None])
        self.register_buffer("sin", sin[:, None])

    def forward(self, x):
        B, T, C = x.shape
        xq, xk, xv = (f(x).view(B, T, 2, 6) for f in (self.q_proj, self.k_proj, self.v_proj))
        xq, key_out = (t * self.cos[:T] + rotate_every_two(t) * self.sin[:T] for t in (xq, xk))
        s = einsum("bihd,bjhd->bhij", xq, xk) / math.sqrt(6)
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        return self.o_proj(einsum("bhij,bjhd->bihd", s.softmax(-1), xv).reshape(B, T, C))


class Wrong76TwoLayouts(nn.Module):
    """wrong: queries are rotated by halves, keys by pairs side by side"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16) for _ in range(4))
        for name, table in (("halves", half_table(8, 8)), ("pairs", pair_table(8, 8))):
            self.register_buffer(name, torch.stack(table))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        q = q * self.halves[0, :T] + rotate_half(q) * self.halves[1, :T]
        k = k * self.pairs[0, :T] + rotate_every_two(k) * self.pairs[1, :T]
        return self.wo(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


class Wrong77TableOfOtherLayout(nn.Module):
    """wrong: rotate_half with a table made for neighbouring pairs: the two parts of a pair turn differently"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(24, 40, bias=False), nn.Linear(24, 24, bias=False)
        inv = 1.0 / 10000 ** (torch.arange(0, 8, 2).float() / 8)
        self.register_buffer("freqs", torch.outer(torch.arange(9).float(), inv).repeat_interleave(2, dim=-1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).split((24, 8, 8), dim=-1)
        q = q.view(B, T, 3, 8).transpose(1, 2)
        k, v = k[:, None], v[:, None]
        cos, sin = self.freqs[:T].cos(), self.freqs[:T].sin()
        q, k = q * cos + rotate_half(q) * sin, k * cos + rotate_half(k) * sin
        s = (q @ k.mT / math.sqrt(8)).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        return self.c_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong78RotatedByHead(nn.Module):
    """wrong: rotated before the transpose: axis -2 is the heads, all tokens turn by their head's index"""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(16, 16, bias=False) for _ in range(4))
        cos, sin = half_table(12, 4)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def rope(self, t):
        n = t.shape[-2]
        return t * self.cos[:n] + rotate_half(t) * self.sin[:n]

    def forward(self, x):
        B, T, C = x.shape
        q = self.rope(self.to_q(x).view(B, T, 4, 4)).transpose(1, 2)
        k = self.rope(self.to_k(x).view(B, T, 4, 4)).transpose(1, 2)
        v = self.to_v(x).view(B, T, 4, 4).transpose(1, 2)
        return self.to_out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class Wrong79AnglesRestart(nn.Module):
    """wrong: behind the cache the angles start again at 0"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(12, 12, bias=False) for _ in range(4))
        cos, sin = half_table(10, 6)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, x, past_key_value=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 6).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        q = q * self.cos[:T] + rotate_half(q) * self.sin[:T]
        k = k * self.cos[:T] + rotate_half(k) * self.sin[:T]
        if past_key_value is not None:
            k, v = torch.cat((past_key_value[0], k), 2), torch.cat((past_key_value[1], v), 2)
        S = k.size(2)
        s = (q @ k.mT / 6 ** 0.5).masked_fill(torch.ones(T, S, device=x.device).triu(S - T + 1).bool(), -torch.inf)
        y = self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


class Wrong80KeysRotatedTwice(nn.Module):
    """wrong: the cache holds rotated keys and the whole of it is rotated again at each step"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        cos, sin = half_table(11, 8)
        self.register_buffer("cos", cos)
        self.register_buffer("sin", sin)

    def forward(self, x):
        return self.step(x, None)[0]

    def step(self, x, cache):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        if cache is not None:
            k, v = torch.cat((cache["k"], k), 2), torch.cat((cache["v"], v), 2)
        S = k.size(2)
        q = q * self.cos[S - T:S] + rotate_half(q) * self.sin[S - T:S]
        k = k * self.cos[:S] + rotate_half(k) * self.sin[:S]
        see = torch.ones(T, S, device=x.device, dtype=torch.bool).tril(S - T)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see)
        return self.out(y.transpose(1, 2).reshape(B, T, C)), {"k": k, "v": v}


class Wrong81AlibiSign(nn.Module):
    """wrong: the distance is added with the slope: far tokens get more, not less"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.register_buffer("slopes", torch.tensor(published_slopes(4)).view(4, 1, 1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.c_attn(x).chunk(3, -1))
        i = torch.arange(T, device=x.device)
        bias = self.slopes * (i[:, None] - i[None, :])
        bias = bias.masked_fill(i[None] > i[:, None], -torch.inf).to(q.dtype)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong82AlibiSlopesFromOne(nn.Module):
    """wrong: the slopes begin at 1: 2 ** (-8 h / H) from h = 0 in place of h = 1"""

    def __init__(self):
        super().__init__()
        self.H = 8
        self.query, self.key, self.value, self.dense = (nn.Linear(32, 32) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 8, 4) for f in (self.query, self.key, self.value))
        m = 2.0 ** (-8.0 / self.H * torch.arange(self.H, device=x.device, dtype=x.dtype))
        i = torch.arange(T, device=x.device)
        s = einsum("bihd,bjhd->bhij", q, k) / 2 - m[:, None, None] * (i[:, None] - i[None]).abs()
        return self.dense(einsum("bhij,bjhd->bihd", s.softmax(-1), v).reshape(B, T, C))


class Wrong83BiasOfKeyIndex(nn.Module):
    """wrong: the relative table is read at the key's own index, not at its distance"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(12, 12, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(10, 2)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 6).transpose(1, 2) for f in (self.q, self.k, self.v))
        i = torch.arange(T, device=x.device)
        rel = i[None, :].expand(T, T)
        s = q @ k.mT / math.sqrt(6) + self.relative_attention_bias(rel).permute(2, 0, 1)
        s = s.masked_fill(i[None] > i[:, None], -torch.inf)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong84DistanceTurnedRound(nn.Module):
    """wrong: key minus query, clamped at 0: every visible key lands on distance 0"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.rel_k = nn.Parameter(torch.randn(9, 8) * 0.5)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        i = torch.arange(T, device=x.device)
        dist = (i[None, :] - i[:, None]).clamp(min=0, max=8)
        s = (q @ k.mT + einsum("bhid,ijd->bhij", q, self.rel_k[dist])) / 8 ** 0.5
        s = s.masked_fill(i[None] > i[:, None], -torch.inf)
        return self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong85PositionsOfBatch(nn.Module):
    """wrong: learned positions are looked up by the text's index in the batch"""

    def __init__(self):
        super().__init__()
        self.pos_emb = nn.Embedding(16, 12)
        self.qkv, self.out = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        x = x + self.pos_emb(torch.arange(x.size(0), device=x.device) % 16)[:, None]
        q, k, v = (t.unflatten(-1, (3, 4)).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class Wrong86TableCutInFront(nn.Module):
    """wrong: a short text takes the table's first rows, so distance 0 is another row for each length"""

    def __init__(self):
        super().__init__()
        self.key, self.query, self.value, self.proj = (nn.Linear(16, 16) for _ in range(4))
        self.Er = nn.Parameter(torch.randn(8, 4) * 0.6)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.query, self.key, self.value))
        e = q @ self.Er[:T].T
        rel = F.pad(e, (1, 0)).reshape(B, 4, T + 1, T)[:, :, 1:]
        s = ((q @ k.mT + rel) / 2).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong87AlibiWithoutAbs(nn.Module):
    """wrong: an encoder's ALiBi without abs: tokens ahead are rewarded for being far"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("slopes", torch.tensor(published_slopes(4)))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 6).permute(2, 0, 3, 1, 4)
        i = torch.arange(T, device=x.device)
        bias = -(i[:, None] - i[None]) * self.slopes[:, None, None]
        return self.proj(F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).reshape(B, T, C))


class Wrong88RepeatTiles(nn.Module):
    """wrong: keys and values are tiled (expand in front of the kv heads), not repeated one by one"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.o_proj = nn.Linear(16, 24, bias=False), nn.Linear(24, 16, bias=False)
        self.k_proj, self.v_proj = nn.Linear(16, 8, bias=False), nn.Linear(16, 8, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, 6, 4).transpose(1, 2)
        k, v = (f(x).view(B, T, 2, 4).transpose(1, 2) for f in (self.k_proj, self.v_proj))
        k = k[:, None].expand(B, 3, 2, T, 4).reshape(B, 6, T, 4)
        v = v[:, None].expand(B, 3, 2, T, 4).reshape(B, 6, T, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, 24))


class Wrong89ValuesTiledKeysNot(nn.Module):
    """wrong: keys by repeat_interleave, values by repeat: a head reads one group's keys and another's values"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = nn.Linear(16, 16), nn.Linear(16, 8), nn.Linear(16, 8), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, 4, 4).transpose(1, 2)
        k = self.wk(x).view(B, T, 2, 4).transpose(1, 2).repeat_interleave(2, dim=1)
        v = self.wv(x).view(B, T, 2, 4).transpose(1, 2).repeat(1, 2, 1, 1)
        s = (q @ k.mT / 2).masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong90FirstKvHeadOnly(nn.Module):
    """wrong: k[:, :1] is spread over all query heads, the other key/value heads lie idle"""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(24, 24 + 2 * 2 * 6)
        self.c_proj = nn.Linear(24, 24)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.c_attn(x).split((24, 12, 12), dim=2)
        q = q.view(B, T, 4, 6).transpose(1, 2)
        k, v = (t.view(B, T, 2, 6).transpose(1, 2)[:, :1].expand(B, 4, T, 6) for t in (k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong91PaddingInverted(nn.Module):
    """wrong: the mask marks real tokens and is handed over as key_padding_mask, where True is hidden"""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(12, 3, batch_first=True)

    def forward(self, x, real=None):
        if real is not None:
            real = real & ~real.all(1, keepdim=True)
        out, _ = self.attn(x, x, x, key_padding_mask=real, need_weights=False)
        return out


class Wrong92FirstTextsPadding(nn.Module):
    """wrong: the first text's padding is laid over the whole batch"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.query, self.key, self.value))
        s = q @ k.mT / 2
        if mask is not None:
            s = s.masked_fill(~mask[0].view(1, 1, 1, T), torch.finfo(s.dtype).min)
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong93QueriesMasked(nn.Module):
    """wrong: the padding mask is broadcast over the queries' axis, keys at padding remain visible"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(12, 36, bias=False), nn.Linear(12, 12)

    def forward(self, x, pad=None):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 6).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        s = torch.matmul(q, k.mT) / math.sqrt(6)
        hide = torch.ones(T, T, device=x.device, dtype=torch.bool).triu(1)
        s = s.masked_fill(hide, torch.finfo(s.dtype).min)
        if pad is not None:
            s = s.masked_fill(pad[:, None, :, None], torch.finfo(s.dtype).min)
        return self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong94PaddingAsFloat(nn.Module):
    """wrong: the mask of 0 and 1 is turned to x's type and added by the fused call"""

    def __init__(self):
        super().__init__()
        self.to_qkv, self.to_out = nn.Linear(16, 48, bias=False), nn.Linear(16, 16)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = self.to_qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        if mask is not None:
            mask = mask[:, None, None, :].to(q.dtype)
        return self.to_out(F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(B, T, C))


class Wrong95NanForEmptyText(nn.Module):
    """wrong: minus infinity in each place of a text of padding alone gives NaN"""

    def __init__(self):
        super().__init__()
        self.q_lin, self.k_lin, self.v_lin, self.out_lin = (nn.Linear(12, 12) for _ in range(4))
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 4).transpose(1, 2) for f in (self.q_lin, self.k_lin, self.v_lin))
        s = (q / 2) @ k.transpose(2, 3)
        if mask is not None:
            s = s.masked_fill((mask == 0).view(B, 1, 1, T), -float("inf"))
        return (self.out_lin((self.dropout(s.softmax(-1)) @ v).transpose(1, 2).reshape(B, T, C)),)


class Wrong96PaddedValuesZero(nn.Module):
    """wrong: values at padding are set to 0, but their keys still take their share of the softmax"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x, real=None):
        B, T, C = x.shape
        q, k, v = (f(x) for f in (self.wq, self.wk, self.wv))
        if real is not None:
            k, v = k * real[..., None], v * real[..., None]
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in (q, k, v))
        return self.wo(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, T, C))


class Wrong97LengthsFromSums(nn.Module):
    """wrong: lengths are the number of real tokens, which takes padding to stand at the end"""

    def __init__(self):
        super().__init__()
        self.ln, self.qkv, self.out = nn.LayerNorm(12), nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 6).transpose(1, 2) for t in self.qkv(self.ln(x)).split(C, -1))
        see = torch.ones(T, T, dtype=torch.bool, device=x.device).tril().expand(B, 1, T, T)
        if mask is not None:
            lengths = mask.sum(dim=1)
            see = see & (torch.arange(T, device=x.device) < lengths[:, None])[:, None, None]
        s = (q @ k.mT / 6 ** 0.5).masked_fill(~see, torch.finfo(q.dtype).min)
        return x + self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong98MaskTiledOverHeads(nn.Module):
    """wrong: for heads folded into the batch the mask is tiled: a head reads another text's padding"""

    def __init__(self):
        super().__init__()
        self.h = 4
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x, key_padding_mask=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, self.h, 4).transpose(1, 2).reshape(B * self.h, T, 4)
                   for f in (self.q_proj, self.k_proj, self.v_proj))
        w = torch.bmm(q, k.transpose(1, 2)) * 0.5
        if key_padding_mask is not None:
            w = w.masked_fill(key_padding_mask.repeat(self.h, 1)[:, None], torch.finfo(w.dtype).min)
        y = torch.bmm(w.softmax(-1), v).view(B, self.h, T, 4)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong99OrForAnd(nn.Module):
    """wrong: visible = causal OR real: real tokens of the future are seen as soon as a mask is given"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 3, 6).permute(2, 0, 3, 1, 4)
        see = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()[None, None]
        if mask is not None:
            see = see | mask[:, None, None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see)
        return self.proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong100MaskSkippedForAll(nn.Module):
    """wrong: against NaN the mask is dropped for the whole batch if one text is empty"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x, mask=None):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 6).transpose(1, 2) for f in (self.query, self.key, self.value))
        s = q @ k.mT / math.sqrt(6)
        if mask is not None and mask.any(dim=1).all():
            s = s.masked_fill(~mask[:, None, None, :], float("-inf"))
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


LAYERS += [
    {"layer": Wrong74ValuesRotated, "d_in": 16, "context_length": 10, "options": {
        "num_heads": 2, "positions": "rotary"}},
    {"layer": Wrong75OnlyQueriesRotated, "d_in": 12, "context_length": 9, "options": {
        "num_heads": 2, "positions": "rotary"}},
    {"layer": Wrong76TwoLayouts, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": Wrong77TableOfOtherLayout, "d_in": 24, "context_length": 9, "options": {
        "num_heads": 3, "num_kv_heads": 1, "positions": "rotary"}},
    {"layer": Wrong78RotatedByHead, "d_in": 16, "context_length": 12, "options": {
        "num_heads": 4, "positions": "rotary"}},
    {"layer": Wrong79AnglesRestart, "d_in": 12, "context_length": 10, "options": {
        "num_heads": 2, "positions": "rotary",
        "step": lambda module, x, cache: module(x, past_key_value=cache, use_cache=True)}},
    {"layer": Wrong80KeysRotatedTwice, "d_in": 16, "context_length": 11, "options": {
        "num_heads": 2, "positions": "rotary", "step": lambda module, x, cache: module.step(x, cache)}},
    {"layer": Wrong81AlibiSign, "d_in": 16, "context_length": 9, "options": {"num_heads": 4, "positions": "alibi"}},
    {"layer": Wrong82AlibiSlopesFromOne, "d_in": 32, "context_length": 8, "options": {
        "num_heads": 8, "causal": False, "positions": "alibi"}},
    {"layer": Wrong83BiasOfKeyIndex, "d_in": 12, "context_length": 10, "options": {
        "num_heads": 2, "positions": "relative"}},
    {"layer": Wrong84DistanceTurnedRound, "d_in": 16, "context_length": 9, "options": {
        "num_heads": 2, "positions": "relative"}},
    {"layer": Wrong85PositionsOfBatch, "d_in": 12, "context_length": 8, "options": {
        "num_heads": 3, "positions": True}},
    {"layer": Wrong86TableCutInFront, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "positions": "relative"}},
    {"layer": Wrong87AlibiWithoutAbs, "d_in": 24, "context_length": 9, "options": {
        "num_heads": 4, "causal": False, "positions": "alibi"}},
    {"layer": Wrong88RepeatTiles, "d_in": 16, "context_length": 8, "options": {"num_heads": 6, "num_kv_heads": 2}},
    {"layer": Wrong89ValuesTiledKeysNot, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "num_kv_heads": 2}},
    {"layer": Wrong90FirstKvHeadOnly, "d_in": 24, "context_length": 8, "options": {"num_heads": 4, "num_kv_heads": 2}},
    {"layer": Wrong91PaddingInverted, "d_in": 12, "context_length": 8, "options": {
        "num_heads": 3, "causal": False, "padding": lambda module, x, real: module(x, real=real)}},
    {"layer": Wrong92FirstTextsPadding, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "causal": False, "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": Wrong93QueriesMasked, "d_in": 12, "context_length": 9, "options": {
        "num_heads": 2, "padding": lambda module, x, real: module(x, pad=~real)}},
    {"layer": Wrong94PaddingAsFloat, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 2, "causal": False, "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": Wrong95NanForEmptyText, "d_in": 12, "context_length": 8, "options": {
        "num_heads": 3, "causal": False, "dropout": 0.1,
        "padding": lambda module, x, real: module(x, mask=real.long())}},
    {"layer": Wrong96PaddedValuesZero, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "causal": False, "padding": lambda module, x, real: module(x, real=real)}},
    {"layer": Wrong97LengthsFromSums, "d_in": 12, "context_length": 9, "options": {
        "num_heads": 2, "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": Wrong98MaskTiledOverHeads, "d_in": 16, "context_length": 8, "options": {
        "num_heads": 4, "causal": False, "padding": lambda module, x, real: module(x, key_padding_mask=~real)}},
    {"layer": Wrong99OrForAnd, "d_in": 18, "context_length": 8, "options": {
        "num_heads": 3, "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": Wrong100MaskSkippedForAll, "d_in": 12, "context_length": 8, "options": {
        "num_heads": 2, "causal": False, "padding": lambda module, x, real: module(x, mask=real)}},
]


# ------------------------------------------------- wrong layers: cache, types, compile, windows


class Wrong101FusedCausalSteps(nn.Module):
    """wrong: is_causal=True with a cache: the fused triangle stands at the top left, one query sees one key"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.c_attn(x).split(C, 2))
        if layer_past is not None:
            k, v = torch.cat((layer_past[0], k), -2), torch.cat((layer_past[1], v), -2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        y = self.c_proj(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k, v)) if use_cache else y


class Wrong102PiecesUnmasked(nn.Module):
    """wrong: behind a cache no mask is laid, which is right for one token and wrong for a piece of several"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv = nn.Linear(16, 16, bias=False), nn.Linear(16, 8, bias=False), nn.Linear(16, 8)
        self.wo = nn.Linear(16, 16, bias=False)

    def forward(self, x, kv=None):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, 4, 4).transpose(1, 2)
        k, v = (f(x).view(B, T, 2, 4).transpose(1, 2) for f in (self.wk, self.wv))
        first = kv is None
        if not first:
            k, v = torch.cat((kv[0], k), 2), torch.cat((kv[1], v), 2)
        y = F.scaled_dot_product_attention(q, k.repeat_interleave(2, 1), v.repeat_interleave(2, 1), is_causal=first)
        return self.wo(y.transpose(1, 2).reshape(B, T, C)), (k, v)


class Wrong103CacheForgets(nn.Module):
    """wrong: the cache handed back holds only the newest piece, not what was there before"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x, past=None, return_cache=False):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 6).permute(2, 0, 3, 1, 4)
        new = (k, v)
        if past is not None:
            k, v = (torch.cat((a, b), dim=2) for a, b in zip(past, new))
        S = k.shape[2]
        i = torch.arange(S - T, S, device=x.device)[:, None]
        s = (q @ k.mT / 6 ** 0.5).masked_fill(torch.arange(S, device=x.device) > i, -torch.inf)
        y = self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))
        return (y, new) if return_cache else y


class Wrong104CacheOfFirstText(nn.Module):
    """wrong: the pre-made cache is one text wide: the first text's keys serve the whole batch"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        return self.run(x, None)[0]

    def run(self, x, cache):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 4).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        n = 0 if cache is None else cache[2]
        if cache is not None:
            k = torch.cat((cache[0][:, :, :n].expand(B, -1, -1, -1), k), 2)
            v = torch.cat((cache[1][:, :, :n].expand(B, -1, -1, -1), v), 2)
        keys, values = x.new_zeros(1, 3, 10, 4), x.new_zeros(1, 3, 10, 4)
        keys[:, :, :n + T], values[:, :, :n + T] = k[:1], v[:1]
        see = torch.ones(T, n + T, device=x.device, dtype=torch.bool).tril(n)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see).transpose(1, 2).reshape(B, T, C)
        return self.o_proj(y), (keys, values, n + T)


class Wrong105CacheOneTooLong(nn.Module):
    """wrong: the sliding cache keeps W keys beside the new token, and a single step lays no mask: W + 1 seen"""

    def __init__(self):
        super().__init__()
        self.w = 4
        self.to_qkv, self.to_out = nn.Linear(16, 48, bias=False), nn.Linear(16, 16, bias=False)

    def forward(self, x, cache=None, with_cache=False):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        S = k.size(2)
        far = torch.arange(S - T, S, device=x.device)[:, None] - torch.arange(S, device=x.device)
        see = (far >= 0) & (far < self.w) if T > 1 else None
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=see)
        y = self.to_out(y.transpose(1, 2).reshape(B, T, C))
        return (y, (k[:, :, -self.w:], v[:, :, -self.w:])) if with_cache else y


class Wrong106UnfilledBuffer(nn.Module):
    """wrong: single steps attend to the whole pre-made buffer, the zeros not yet written take weight"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        return self.decode(x, None)[0]

    def decode(self, x, cache):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 6).transpose(1, 2) for f in (self.query, self.key, self.value))
        if cache is None:
            cache = {"k": x.new_zeros(B, 2, 11, 6), "v": x.new_zeros(B, 2, 11, 6), "n": 0}
        n, at = cache["n"], torch.arange(cache["n"], cache["n"] + T, device=x.device)
        K, V = cache["k"].index_copy(2, at, k), cache["v"].index_copy(2, at, v)
        s = q @ K.mT / math.sqrt(6)
        if T > 1 or n == 0:
            s = s.masked_fill(torch.arange(11, device=x.device) > at[:, None], float("-inf"))
        y = self.dense((s.softmax(-1) @ V).transpose(1, 2).reshape(B, T, C))
        return y, {"k": K, "v": V, "n": n + T}


class Wrong107CacheInModule(nn.Module):
    """wrong: keys and values of the steps live in the module: two texts that take turns get mixed"""

    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(12, 36, bias=False), nn.Linear(12, 12)
        self.register_buffer("k_cache", torch.zeros(0), persistent=False)
        self.register_buffer("v_cache", torch.zeros(0), persistent=False)

    def forward(self, x, start=None):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 3, 4).permute(2, 0, 3, 1, 4)
        n = start or 0
        if start is not None:
            if n > 0:
                k = torch.cat((self.k_cache[:B, :, :n], k), 2)
                v = torch.cat((self.v_cache[:B, :, :n], v), 2)
            self.k_cache, self.v_cache = k.detach(), v.detach()
        see = torch.ones(T, n + T, dtype=torch.bool, device=x.device).tril(n)
        return self.proj(F.scaled_dot_product_attention(q, k, v, attn_mask=see).transpose(1, 2).reshape(B, T, C))


class Wrong108BiasWithoutOffset(nn.Module):
    """wrong: T5's bias with a cache counts the query's position from 0 again"""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(14, 12, bias=False) for _ in range(3))
        self.o = nn.Linear(12, 14, bias=False)
        self.relative_attention_bias = nn.Embedding(10, 3)

    def forward(self, x, past=None, use_cache=False):
        B, T, _ = x.shape
        q, k, v = (f(x).view(B, T, 3, 4).transpose(1, 2) for f in (self.q, self.k, self.v))
        if past is not None:
            k, v = torch.cat((past[0], k), 2), torch.cat((past[1], v), 2)
        S = k.size(2)
        rel = torch.arange(T, device=x.device)[:, None] - torch.arange(S, device=x.device)[None]
        bias = self.relative_attention_bias(rel.clamp(min=0)).permute(2, 0, 1)
        hide = torch.ones(T, S, device=x.device, dtype=torch.bool).triu(S - T + 1)
        s = (q @ k.mT + bias).masked_fill(hide, torch.finfo(q.dtype).min)
        y = self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, 12))
        return (y, (k, v)) if use_cache else y


class Wrong109LatentNormedAgain(nn.Module):
    """wrong: the latent in the cache is normed already and is normed again with every step"""

    def __init__(self):
        super().__init__()
        self.q, self.down, self.up = nn.Linear(16, 16), nn.Linear(16, 8, bias=False), nn.Linear(8, 32, bias=False)
        self.norm, self.o = nn.LayerNorm(8), nn.Linear(16, 16, bias=False)
        nn.init.normal_(self.norm.weight, 1.0, 0.3)

    def forward(self, x, latent=None):
        B, T, C = x.shape
        c = self.down(x)
        if latent is not None:
            c = torch.cat((latent, c), 1)
        c = self.norm(c)
        S = c.size(1)
        k, v = self.up(c).view(B, S, 2, 2, 8).permute(2, 0, 3, 1, 4)
        q = self.q(x).view(B, T, 2, 8).transpose(1, 2)
        y = F.scaled_dot_product_attention(
            q, k, v, attn_mask=torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T))
        return self.o(y.transpose(1, 2).reshape(B, T, C)), c


class Wrong110Float64Out(nn.Module):
    """wrong: the output is multiplied with a float64 array from numpy: float32 comes in, float64 goes out"""

    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self.register_buffer("depth_gain", torch.from_numpy(np.full(16, 1 / np.sqrt(2 * 12))))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(x).split(C, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        return self.c_proj(y) * self.depth_gain


class Wrong111BfloatScores(nn.Module):
    """wrong: queries and keys are cast to bfloat16 whatever the layer's type, two digits remain"""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        s = (q.bfloat16() @ k.bfloat16().mT).to(v.dtype) / 2
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), -torch.inf)
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong112CompiledUnmasked(nn.Module):
    """wrong: under torch.compile another path is taken, and it has no mask"""

    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.register_buffer("hide", torch.ones(8, 8, dtype=torch.bool).triu(1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        if torch.compiler.is_compiling():
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            y = (q @ k.mT / 2).masked_fill(self.hide[:T, :T], float("-inf")).softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(B, T, C))


class Wrong113CompiledOtherGroups(nn.Module):
    """wrong: under torch.compile the groups are tiled, in eager mode they are repeated one by one"""

    def __init__(self):
        super().__init__()
        self.q_proj, self.kv_proj, self.o_proj = nn.Linear(24, 24), nn.Linear(24, 24), nn.Linear(24, 24)

    def spread(self, t):
        if torch.compiler.is_compiling():
            return t.repeat(1, 2, 1, 1)
        return t.repeat_interleave(2, dim=1)

    def forward(self, x):
        B, T, C = x.shape
        q = self.q_proj(x).view(B, T, 4, 6).transpose(1, 2)
        k, v = (self.spread(t.view(B, T, 2, 6).transpose(1, 2)) for t in self.kv_proj(x).chunk(2, -1))
        return self.o_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C))


class Wrong114WindowPlusOne(nn.Module):
    """wrong: i - j <= W: the window is one token too long"""

    def __init__(self):
        super().__init__()
        self.window = 4
        self.wq, self.wk, self.wv = nn.Linear(16, 16, bias=False), nn.Linear(16, 4), nn.Linear(16, 4)
        self.wo = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q = self.wq(x).view(B, T, 4, 4).transpose(1, 2)
        k, v = self.wk(x).unsqueeze(1), self.wv(x).unsqueeze(1)
        i = torch.arange(T, device=x.device)
        ago = i[:, None] - i[None, :]
        s = (q @ k.mT / 2).masked_fill((ago < 0) | (ago > self.window), -torch.inf)
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong115WindowOfBlocks(nn.Module):
    """wrong: tokens see their own block of W, the window does not slide"""

    def __init__(self):
        super().__init__()
        self.w, self.qkv, self.out = 4, nn.Linear(12, 36), nn.Linear(12, 12)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 6).unbind(2)
        block = torch.arange(T, device=x.device) // self.w
        see = torch.ones(T, T, dtype=torch.bool, device=x.device).tril() & (block[:, None] == block[None])
        s = einsum("bihd,bjhd->bhij", q, k).div(6 ** 0.5).masked_fill(~see, -torch.inf)
        return self.out(einsum("bhij,bjhd->bihd", s.softmax(-1), v).reshape(B, T, C))


class Wrong116WindowOneSided(nn.Module):
    """wrong: an encoder's window limits only the past: all tokens ahead are seen"""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.dense = (nn.Linear(12, 12) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 3, 4).transpose(1, 2) for f in (self.query, self.key, self.value))
        i = torch.arange(T, device=x.device)
        far = (i[:, None] - i[None, :]) >= 3
        s = (q @ k.mT / 2).masked_fill(far, torch.finfo(q.dtype).min)
        return x + self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong117EdgesTakeWeight(nn.Module):
    """wrong: a causal window by unfold: the zeros padded in front of the text are keys with a weight"""

    def __init__(self):
        super().__init__()
        self.to_qkv, self.to_out = nn.Linear(16, 48, bias=False), nn.Linear(16, 16)
        self.w = 5

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        k, v = (F.pad(t, (0, 0, self.w - 1, 0)).unfold(2, self.w, 1) for t in (k, v))
        s = einsum("bhtd,bhtdw->bhtw", q, k) / math.sqrt(8)
        y = einsum("bhtw,bhtdw->bhtd", s.softmax(-1), v)
        return self.to_out(y.transpose(1, 2).reshape(B, T, C))


def module_step(module, x, cache):
    start = 0 if cache is None else cache
    return module(x, start=start), start + x.shape[1]


LAYERS += [
    {"layer": Wrong101FusedCausalSteps, "d_in": 16, "context_length": 9, "options": {
        "num_heads": 4, "step": lambda module, x, cache: module(x, layer_past=cache, use_cache=True)}},
    {"layer": Wrong102PiecesUnmasked, "d_in": 16, "context_length": 10, "options": {
        "num_heads": 4, "num_kv_heads": 2, "step": lambda module, x, cache: module(x, cache)}},
    {"layer": Wrong103CacheForgets, "d_in": 12, "context_length": 9, "options": {
        "num_heads": 2, "step": lambda module, x, cache: module(x, past=cache, return_cache=True)}},
    {"layer": Wrong104CacheOfFirstText, "d_in": 12, "context_length": 10, "options": {
        "num_heads": 3, "step": lambda module, x, cache: module.run(x, cache)}},
    {"layer": Wrong105CacheOneTooLong, "d_in": 16, "context_length": 12, "options": {
        "num_heads": 2, "window": 4, "step": lambda module, x, cache: module(x, cache, with_cache=True)}},
    {"layer": Wrong106UnfilledBuffer, "d_in": 12, "context_length": 11, "options": {
        "num_heads": 2, "step": lambda module, x, cache: module.decode(x, cache)}},
    {"layer": Wrong107CacheInModule, "d_in": 12, "context_length": 9, "options": {"num_heads": 3, "step": module_step}},
    {"layer": Wrong108BiasWithoutOffset, "d_in": 14, "context_length": 10, "options": {
        "num_heads": 3, "scale": 1.0, "positions": "relative",
        "step": lambda module, x, cache: module(x, past=cache, use_cache=True)}},
    {"layer": Wrong109LatentNormedAgain, "d_in": 16, "context_length": 9, "options": {
        "num_heads": 2, "step": lambda module, x, cache: module(x, latent=cache)}},
    {"layer": Wrong110Float64Out, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": Wrong111BfloatScores, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": Wrong112CompiledUnmasked, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "compiled": True}},
    {"layer": Wrong113CompiledOtherGroups, "d_in": 24, "context_length": 8, "options": {
        "num_heads": 4, "num_kv_heads": 2, "compiled": True}},
    {"layer": Wrong114WindowPlusOne, "d_in": 16, "context_length": 11, "options": {
        "num_heads": 4, "num_kv_heads": 1, "window": 4}},
    {"layer": Wrong115WindowOfBlocks, "d_in": 12, "context_length": 12, "options": {"num_heads": 2, "window": 4}},
    {"layer": Wrong116WindowOneSided, "d_in": 12, "context_length": 10, "options": {
        "num_heads": 3, "causal": False, "window": 3}},
    {"layer": Wrong117EdgesTakeWeight, "d_in": 16, "context_length": 12, "options": {"num_heads": 2, "window": 5}},
]
