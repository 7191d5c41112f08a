"""Layers by hand y."""
import math
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import nn

LAYERS = []


def _add(layer, d_in, d_out, context_length, num_heads, dropout=0.0, declared=""):
    LAYERS.append({"layer": layer, "d_in": d_in, "d_out": d_out, "context_length": context_length,
                   "num_heads": num_heads, "dropout": dropout, "declared": declared})


class Right01CAttn(nn.Module):
    """right: nanoGPT style c_attn in the order q, k, v; tril buffer; dropout 0.1 on the weights."""
    def __init__(self):
        super().__init__()
        self.n_head, self.n_embd = 4, 32
        self.c_attn = nn.Linear(32, 96)
        self.c_proj = nn.Linear(32, 32)
        self.attn_dropout = nn.Dropout(0.1)
        self.register_buffer("bias", torch.tril(torch.ones(16, 16)).view(1, 1, 16, 16))

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
        return self.c_proj(y)


class Right02QueryKeyValue(nn.Module):
    """right: NeoX/BLOOM style query_key_value, rows ordered head by head (q, k, v within a head); SDPA is_causal."""
    def __init__(self):
        super().__init__()
        self.num_heads, self.head_dim = 3, 8
        self.query_key_value = nn.Linear(24, 72)
        self.dense = nn.Linear(24, 24)

    def forward(self, hidden_states):
        B, T, _ = hidden_states.shape
        fused = self.query_key_value(hidden_states).view(B, T, self.num_heads, 3 * self.head_dim)
        q, k, v = fused.transpose(1, 2).chunk(3, dim=-1)
        ctx = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(ctx.transpose(1, 2).reshape(B, T, -1))


class Right03ToQkv(nn.Module):
    """right: lucidrains style to_qkv without bias, chunk, mask built on each call, to_out as a Sequential."""
    def __init__(self):
        super().__init__()
        self.heads, dim_head = 2, 10
        inner = self.heads * dim_head
        self.scale = dim_head ** -0.5
        self.to_qkv = nn.Linear(16, inner * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner, 16), nn.Identity())

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (t.reshape(b, n, self.heads, -1).permute(0, 2, 1, 3) for t in self.to_qkv(x).chunk(3, dim=-1))
        dots = torch.einsum("bhid,bhjd->bhij", q * self.scale, k)
        future = torch.ones(n, n, dtype=torch.bool, device=x.device).triu(1)
        attn = dots.masked_fill(future, -torch.finfo(dots.dtype).max).softmax(dim=-1)
        out = torch.einsum("bhij,bhjd->bhid", attn, v)
        return self.to_out(out.permute(0, 2, 1, 3).flatten(2))


class Right04EinsumPerHead(nn.Module):
    """right: TransformerLens style raw parameters W_Q, W_K, W_V, W_O per head, with biases, joined by einsum."""
    def __init__(self):
        super().__init__()
        H, d, D = 4, 20, 6
        for name in ("W_Q", "W_K", "W_V"):
            setattr(self, name, nn.Parameter(torch.randn(H, d, D) / math.sqrt(d)))
        for name in ("b_Q", "b_K", "b_V"):
            setattr(self, name, nn.Parameter(0.1 * torch.randn(H, D)))
        self.W_O = nn.Parameter(torch.randn(H, D, d) / math.sqrt(H * D))
        self.b_O = nn.Parameter(torch.zeros(d))
        self.register_buffer("IGNORE", torch.tensor(float("-inf")), persistent=False)

    def forward(self, resid):
        q = torch.einsum("bpd,hde->bphe", resid, self.W_Q) + self.b_Q
        k = torch.einsum("bpd,hde->bphe", resid, self.W_K) + self.b_K
        v = torch.einsum("bpd,hde->bphe", resid, self.W_V) + self.b_V
        scores = torch.einsum("bqhe,bkhe->bhqk", q, k) / q.shape[-1] ** 0.5
        keep = torch.tril(torch.ones(scores.shape[-2:], device=resid.device)).bool()
        pattern = torch.where(keep, scores, self.IGNORE).softmax(-1)
        z = torch.einsum("bhqk,bkhe->bqhe", pattern, v)
        return torch.einsum("bqhe,hed->bqd", z, self.W_O) + self.b_O


class _Head(nn.Module):
    def __init__(self, n_embd, size, block, p=0.0):
        super().__init__()
        self.key = nn.Linear(n_embd, size, bias=False)
        self.query = nn.Linear(n_embd, size, bias=False)
        self.value = nn.Linear(n_embd, size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block, block)))
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        T = x.shape[1]
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return self.dropout(F.softmax(wei, dim=-1)) @ self.value(x)


class Right05HeadList(nn.Module):
    """right: a ModuleList of single heads, concatenated and projected, dropout 0.2 on the weights."""
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_Head(18, 6, 10, 0.2) for _ in range(3)])
        self.proj = nn.Linear(18, 18)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class _HFConv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight = nn.Parameter(torch.randn(nx, nf) / math.sqrt(nx))
        self.bias = nn.Parameter(torch.zeros(nf))

    def forward(self, x):
        return torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight).view(*x.shape[:-1], self.nf)


class Right06HFConv1D(nn.Module):
    """right: Hugging Face GPT-2 Conv1D (weight in x out), torch.where with finfo.min."""
    def __init__(self):
        super().__init__()
        self.split_size, self.num_heads = 16, 2
        self.c_attn, self.c_proj = _HFConv1D(48, 16), _HFConv1D(16, 16)
        self.register_buffer("bias", torch.tril(torch.ones((12, 12), dtype=torch.bool)).view(1, 1, 12, 12), persistent=False)

    def forward(self, hidden_states):
        B, T, C = hidden_states.shape
        q, k, v = (t.view(B, T, self.num_heads, -1).permute(0, 2, 1, 3)
                   for t in self.c_attn(hidden_states).split(self.split_size, dim=2))
        w = torch.matmul(q, k.transpose(-1, -2)) / (v.size(-1) ** 0.5)
        w = torch.where(self.bias[:, :, :T, :T], w, torch.full([], torch.finfo(w.dtype).min, dtype=w.dtype, device=w.device))
        out = torch.matmul(F.softmax(w, dim=-1), v)
        return self.c_proj(out.permute(0, 2, 1, 3).contiguous().view(B, T, C))


class Right07ChannelConv(nn.Module):
    """right: Glow-TTS style, conv_q, conv_k, conv_v, conv_o are Conv1d of kernel 1 on channels first; dropout 0.1."""
    def __init__(self):
        super().__init__()
        self.n_heads, self.k_channels = 2, 8
        self.conv_q, self.conv_k = nn.Conv1d(16, 16, 1), nn.Conv1d(16, 16, 1)
        self.conv_v, self.conv_o = nn.Conv1d(16, 16, 1), nn.Conv1d(16, 16, 1)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        x = x.transpose(1, 2)
        b, d, t = x.shape
        q = self.conv_q(x).view(b, self.n_heads, self.k_channels, t).transpose(2, 3)
        k = self.conv_k(x).view(b, self.n_heads, self.k_channels, t).transpose(2, 3)
        v = self.conv_v(x).view(b, self.n_heads, self.k_channels, t).transpose(2, 3)
        scores = torch.matmul(q / math.sqrt(self.k_channels), k.transpose(-2, -1))
        scores = scores + torch.full((t, t), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        out = torch.matmul(self.drop(F.softmax(scores, dim=-1)), v)
        return self.conv_o(out.transpose(2, 3).reshape(b, d, t)).transpose(1, 2)


class Right08GroupedQuery(nn.Module):
    """right: grouped heads as in Llama (expand and reshape), 4 query heads and 2 key heads, query rows in chunks of 5."""
    def __init__(self):
        super().__init__()
        self.n_rep, self.hd = 2, 6
        self.wq, self.wk = nn.Linear(24, 24, bias=False), nn.Linear(24, 12, bias=False)
        self.wv, self.wo = nn.Linear(24, 12, bias=False), nn.Linear(24, 24, bias=False)

    def _repeat_kv(self, t):
        b, s, h, d = t.shape
        return t[:, :, :, None, :].expand(b, s, h, self.n_rep, d).reshape(b, s, h * self.n_rep, d)

    def forward(self, x):
        b, s, _ = x.shape
        xq = self.wq(x).view(b, s, 4, self.hd).transpose(1, 2)
        xk = self._repeat_kv(self.wk(x).view(b, s, 2, self.hd)).transpose(1, 2)
        xv = self._repeat_kv(self.wv(x).view(b, s, 2, self.hd)).transpose(1, 2)
        pieces = []
        for start in range(0, s, 5):
            stop = min(start + 5, s)
            rows = torch.arange(start, stop, device=x.device)[:, None]
            keep = torch.arange(stop, device=x.device)[None, :] <= rows
            pieces.append(F.scaled_dot_product_attention(xq[:, :, start:stop], xk[:, :, :stop], xv[:, :, :stop], attn_mask=keep))
        return self.wo(torch.cat(pieces, dim=2).transpose(1, 2).reshape(b, s, -1))


class Right09MultiQuery(nn.Module):
    """right: Falcon/StarCoder multi query, one key and value head, order q, k, v in one fused layer."""
    def __init__(self):
        super().__init__()
        self.h, self.d = 4, 8
        self.c_attn = nn.Linear(32, 32 + 2 * 8)
        self.c_proj = nn.Linear(32, 32)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.c_attn(x).split((32, 8, 8), dim=-1)
        q = q.reshape(B, T * self.h, self.d)
        scores = torch.baddbmm(q.new_zeros(B, T * self.h, T), q, k.transpose(1, 2), beta=0, alpha=self.d ** -0.5).view(B, T, self.h, T)
        keep = torch.ones(T, T, dtype=torch.bool, device=x.device).tril()[None, :, None, :]
        w = scores.masked_fill(~keep, torch.finfo(scores.dtype).min).softmax(-1)
        return self.c_proj(torch.bmm(w.view(B, T * self.h, T), v).view(B, T, -1))


def _rotate_half(t):
    a, b = t.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


class _Rotary(nn.Module):
    def __init__(self, dim, base=10000.0):
        super().__init__()
        self.register_buffer("inv_freq", 1.0 / base ** (torch.arange(0, dim, 2).float() / dim), persistent=False)

    def forward(self, t, length):
        f = torch.outer(torch.arange(length, device=t.device, dtype=torch.float32), self.inv_freq.float())
        e = torch.cat((f, f), dim=-1)
        return e.cos().to(t.dtype), e.sin().to(t.dtype)


class Right10LlamaRotary(nn.Module):
    """right: q_proj, k_proj, v_proj, o_proj with rotary positions in halves on q and k."""
    def __init__(self):
        super().__init__()
        self.num_heads, self.head_dim = 4, 8
        self.q_proj, self.k_proj = nn.Linear(32, 32, bias=False), nn.Linear(32, 32, bias=False)
        self.v_proj, self.o_proj = nn.Linear(32, 32, bias=False), nn.Linear(32, 32, bias=False)
        self.rotary_emb = _Rotary(8)

    def forward(self, hidden_states):
        b, t, _ = hidden_states.shape
        q, k, v = (p(hidden_states).view(b, t, self.num_heads, self.head_dim).transpose(1, 2)
                   for p in (self.q_proj, self.k_proj, self.v_proj))
        cos, sin = self.rotary_emb(v, t)
        q, k = q * cos + _rotate_half(q) * sin, k * cos + _rotate_half(k) * sin
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(o.transpose(1, 2).reshape(b, t, -1))


class Right11RotaryPairs(nn.Module):
    """right: rotary positions on interleaved pairs by complex product, q and k only."""
    def __init__(self):
        super().__init__()
        self.wqkv = nn.Linear(16, 48, bias=False)
        self.wo = nn.Linear(16, 16, bias=False)

    @staticmethod
    def _rope(t):
        n, d = t.shape[1], t.shape[-1]
        theta = 10000.0 ** (-torch.arange(0, d, 2, device=t.device).float() / d)
        ang = torch.outer(torch.arange(n, device=t.device).float(), theta)
        c = torch.polar(torch.ones_like(ang), ang)[None, :, None, :]
        z = torch.view_as_complex(t.float().reshape(*t.shape[:-1], -1, 2))
        return torch.view_as_real(z * c).flatten(3).type_as(t)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.wqkv(x).view(b, n, 3, 2, 8).unbind(2)
        q, k, v = (t.transpose(1, 2) for t in (self._rope(q), self._rope(k), v))
        s = q @ k.mT / math.sqrt(8)
        s = s + torch.full((n, n), float("-inf"), device=x.device).triu(1)
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(b, n, -1))


def _alibi_slopes(n):
    def pow2(m):
        start = 2.0 ** (-(2.0 ** -(math.log2(m) - 3)))
        return [start * start ** i for i in range(m)]
    if math.log2(n).is_integer():
        return pow2(n)
    m = 2 ** math.floor(math.log2(n))
    return pow2(m) + _alibi_slopes(2 * m)[0::2][: n - m]


class Right12Alibi(nn.Module):
    """right: ALiBi with 6 heads and the published slopes; the bias lowers far keys."""
    def __init__(self):
        super().__init__()
        self.Wqkv, self.out_proj = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("slopes", torch.tensor(_alibi_slopes(6)).view(6, 1, 1))

    def forward(self, x):
        B, S, _ = x.shape
        q, k, v = self.Wqkv(x).view(B, S, 3, 6, 4).permute(2, 0, 3, 1, 4)
        pos = torch.arange(S, device=x.device)
        rel = pos[None, :] - pos[:, None]
        bias = (self.slopes * rel).masked_fill(rel > 0, float("-inf")).to(q.dtype)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.expand(B, -1, -1, -1))
        return self.out_proj(out.transpose(1, 2).flatten(2))


class Right13SlidingWindow(nn.Module):
    """right: Mistral style sliding window of 4: a row sees itself and three rows before."""
    def __init__(self):
        super().__init__()
        self.sliding_window = 4
        self.w_q, self.w_k, self.w_v = (nn.Linear(16, 16, bias=False) for _ in range(3))
        self.w_o = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        split = lambda t: t.view(B, T, 4, 4).transpose(1, 2)
        q, k, v = split(self.w_q(x)), split(self.w_k(x)), split(self.w_v(x))
        i = torch.arange(T, device=x.device)
        gap = i[:, None] - i[None, :]
        s = (q @ k.mT * 0.5).masked_fill((gap < 0) | (gap >= self.sliding_window), float("-inf"))
        return self.w_o((s.softmax(dim=-1) @ v).transpose(1, 2).reshape(B, T, C))


class Right14PreNormBlock(nn.Module):
    """right: a whole pre-norm block, x + attention(ln_1(x)), then + mlp(ln_2)."""
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(16), nn.LayerNorm(16)
        self.attn = Right06HFConv1D()
        self.mlp = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 16))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Right15DictOutput(nn.Module):
    """right: returns a dict with last_hidden_state and attentions."""
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(12, 20), nn.Linear(12, 20), nn.Linear(12, 20)
        self.dropout = nn.Dropout(0.1)

    def forward(self, hidden):
        b, t, _ = hidden.shape
        shape = lambda z: z.view(b, t, 5, 4).permute(0, 2, 1, 3)
        q, k, v = shape(self.query(hidden)), shape(self.key(hidden)), shape(self.value(hidden))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(4)
        scores.masked_fill_(torch.ones(t, t, device=hidden.device).triu(1).bool(), float("-inf"))
        probs = scores.softmax(dim=-1)
        ctx = torch.matmul(self.dropout(probs), v).permute(0, 2, 1, 3).reshape(b, t, 20)
        return {"last_hidden_state": ctx, "attentions": probs}


_add(Right01CAttn, 32, 32, 16, 4, 0.1)
_add(Right02QueryKeyValue, 24, 24, 16, 3)
_add(Right03ToQkv, 16, 16, 12, 2)
_add(Right04EinsumPerHead, 20, 20, 12, 4)
_add(Right05HeadList, 18, 18, 10, 3, 0.2)
_add(Right06HFConv1D, 16, 16, 12, 2)
_add(Right07ChannelConv, 16, 16, 12, 2, 0.1)
_add(Right08GroupedQuery, 24, 24, 16, 4, 0.0, "grouped heads: 4 for queries, 2 for keys and values")
_add(Right09MultiQuery, 32, 32, 12, 4, 0.0, "multi query: 4 heads for queries, 1 for keys and values")
_add(Right10LlamaRotary, 32, 32, 16, 4, 0.0, "rotary")
_add(Right11RotaryPairs, 16, 16, 12, 2, 0.0, "rotary, interleaved pairs")
_add(Right12Alibi, 24, 24, 12, 6, 0.0, "ALiBi")
_add(Right13SlidingWindow, 16, 16, 12, 4, 0.0, "sliding window 4")
_add(Right14PreNormBlock, 16, 16, 12, 2, 0.0, "block: pre-norm, residual, MLP after the attention")
_add(Right15DictOutput, 12, 20, 12, 5, 0.1, "returns a dict: last_hidden_state, attentions")


class Right16TanhGate(nn.Module):
    """right: Flamingo style residual x + tanh(alpha) * attention, alpha starts at zero."""
    def __init__(self):
        super().__init__()
        self.heads = 2
        self.norm = nn.LayerNorm(16)
        self.to_q, self.to_kv = nn.Linear(16, 16, bias=False), nn.Linear(16, 32, bias=False)
        self.to_out = nn.Linear(16, 16, bias=False)
        self.alpha = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        h = self.norm(x)
        b, n, _ = h.shape
        q = self.to_q(h).view(b, n, 2, 8).transpose(1, 2)
        k, v = (t.view(b, n, 2, 8).transpose(1, 2) for t in self.to_kv(h).chunk(2, dim=-1))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(b, n, 16)
        return x + self.alpha.tanh() * self.to_out(o)


class _LoRALinear(nn.Module):
    def __init__(self, nin, nout, r=2, alpha=4):
        super().__init__()
        self.base = nn.Linear(nin, nout)
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(r, nin) / math.sqrt(nin))
        self.lora_B = nn.Parameter(torch.zeros(nout, r))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.lora_A), self.lora_B) * self.scaling


class Right17Lora(nn.Module):
    """right: frozen base projections, LoRA of rank 2 on q and v with B = 0 at the start."""
    def __init__(self):
        super().__init__()
        self.q_proj, self.v_proj = _LoRALinear(16, 16), _LoRALinear(16, 16)
        self.k_proj, self.out_proj = nn.Linear(16, 16), nn.Linear(16, 16)
        for m in (self.k_proj, self.out_proj):
            m.requires_grad_(False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (p(x).view(b, t, 4, 4).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        return self.out_proj(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class _RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Right18QkNorm(nn.Module):
    """right: Qwen3 style RMSNorm on q and k per head before the scores."""
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(24, 72, bias=False), nn.Linear(24, 24)
        self.q_norm, self.k_norm = _RMSNorm(8), _RMSNorm(8)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, 3, 8).permute(2, 0, 3, 1, 4).unbind(0)
        o = F.scaled_dot_product_attention(self.q_norm(q), self.k_norm(k), v, is_causal=True)
        return self.proj(o.transpose(1, 2).reshape(B, N, C))


class Right19SoftCap(nn.Module):
    """right: Gemma-2 style soft cap of 20 on the scaled scores, before the mask."""
    def __init__(self):
        super().__init__()
        self.attn_logit_softcapping = 20.0
        self.q_proj, self.k_proj = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.v_proj, self.o_proj = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (p(x).view(b, t, 2, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        s = torch.matmul(q, k.transpose(2, 3)) * 8 ** -0.5
        s = torch.tanh(s / self.attn_logit_softcapping) * self.attn_logit_softcapping
        s = s + torch.full((t, t), float("-inf"), device=x.device).triu(1)
        return self.o_proj(torch.matmul(s.softmax(-1), v).transpose(1, 2).reshape(b, t, 16))


class Right20Sinks(nn.Module):
    """right: gpt-oss style attention sink, one learned logit per head joins the softmax and its column is dropped."""
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.sinks = nn.Parameter(0.5 * torch.randn(4))

    def forward(self, x):
        n, t, _ = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q, k, v = (z.view(n, t, 4, 4) for z in (q, k, v))
        QK = torch.einsum("bqhd,bkhd->bhqk", q, k) * 0.5
        QK = QK.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        S = self.sinks.view(1, 4, 1, 1).expand(n, -1, t, -1)
        W = torch.cat([QK, S], dim=-1).softmax(dim=-1)[..., :-1]
        return self.out(torch.einsum("bhqk,bkhd->bqhd", W, v).reshape(n, t, 16))


class Right21OnlineSoftmax(nn.Module):
    """right: flash-like loop over key blocks of 4 with a running maximum and sum."""
    def __init__(self):
        super().__init__()
        self.block = 4
        self.in_proj, self.out_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.in_proj(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        q = q / math.sqrt(8)
        acc = torch.zeros_like(q)
        m = q.new_full((B, 2, T, 1), float("-inf"))
        l = q.new_zeros(B, 2, T, 1)
        rows = torch.arange(T, device=x.device)[:, None]
        for a in range(0, T, self.block):
            cols = torch.arange(a, min(a + self.block, T), device=x.device)[None]
            s = (q @ k[:, :, a:a + self.block].mT).masked_fill(cols > rows, float("-inf"))
            m_new = torch.maximum(m, s.detach().amax(-1, keepdim=True))
            p, corr = torch.exp(s - m_new), torch.exp(m - m_new)
            l = l * corr + p.sum(-1, keepdim=True)
            acc = acc * corr + p @ v[:, :, a:a + self.block]
            m = m_new
        return self.out_proj((acc / l).transpose(1, 2).reshape(B, T, C))


class Right22KvCache(nn.Module):
    """right: optional cache as an argument (keys, values); returns (output, new cache); nothing is stored in the layer."""
    def __init__(self):
        super().__init__()
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x, past_kv=None):
        b, t, _ = x.shape
        q, k, v = (w(x).view(b, t, 2, 8).transpose(1, 2) for w in (self.Wq, self.Wk, self.Wv))
        if past_kv is not None:
            k, v = torch.cat([past_kv[0], k], dim=2), torch.cat([past_kv[1], v], dim=2)
        total = k.shape[2]
        rows = torch.arange(total - t, total, device=x.device)[:, None]
        keep = torch.arange(total, device=x.device)[None] <= rows
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
        return self.Wo(o.transpose(1, 2).reshape(b, t, 16)), (k, v)


class Right23Float64(nn.Module):
    """right: scores and softmax in float64, result back in the type of the input."""
    def __init__(self):
        super().__init__()
        self.q_linear, self.k_linear, self.v_linear = nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.out = nn.Linear(16, 16)
        self.dropout = nn.Dropout(0.3)

    def forward(self, x):
        bs, n, _ = x.shape
        q, k, v = (f(x).view(bs, n, 4, 4).transpose(1, 2).double() for f in (self.q_linear, self.k_linear, self.v_linear))
        s = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(4)
        nopeak = torch.tril(torch.ones(1, 1, n, n, dtype=torch.bool, device=x.device))
        p = self.dropout(s.masked_fill(nopeak.logical_not(), float("-inf")).softmax(-1))
        return self.out((p @ v).to(x.dtype).transpose(1, 2).reshape(bs, n, 16))


class Right24Bfloat16(nn.Module):
    """right: projections in float32, SDPA in bfloat16, back to the type of the input."""
    def __init__(self):
        super().__init__()
        self.qkv_proj, self.o_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        b, t, _ = x.shape
        qkv = self.qkv_proj(x).to(torch.bfloat16).view(b, t, 3, 2, 8)
        q, k, v = (z.transpose(1, 2) for z in qkv.unbind(2))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(o.transpose(1, 2).reshape(b, t, 16).to(x.dtype))


class Right25TorchMha(nn.Module):
    """right: torch.nn.MultiheadAttention, batch_first=False, wrapped, boolean mask, dropout 0.1."""
    def __init__(self):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(24, 4, dropout=0.1, batch_first=False)

    def forward(self, x):
        h = x.transpose(0, 1)
        mask = torch.ones(h.size(0), h.size(0), dtype=torch.bool, device=x.device).triu(1)
        out, _ = self.self_attn(h, h, h, attn_mask=mask, need_weights=False)
        return out.transpose(0, 1)


class Right26Fairseq(nn.Module):
    """right: fairseq style in_proj_weight, sequence first inside, bmm over B * H, float32 softmax, dropout 0.2."""
    def __init__(self):
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim, self.p = 16, 4, 4, 0.2
        self.in_proj_weight = nn.Parameter(torch.empty(48, 16))
        self.in_proj_bias = nn.Parameter(torch.zeros(48))
        nn.init.xavier_uniform_(self.in_proj_weight)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        query = x.transpose(0, 1)
        tgt, bsz, _ = query.shape
        q, k, v = F.linear(query, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        q = q * self.head_dim ** -0.5
        q, k, v = (z.contiguous().view(tgt, bsz * self.num_heads, self.head_dim).transpose(0, 1) for z in (q, k, v))
        w = torch.bmm(q, k.transpose(1, 2)) + torch.full((tgt, tgt), float("-inf"), device=x.device).triu(1).unsqueeze(0)
        w = F.dropout(F.softmax(w, dim=-1, dtype=torch.float32).type_as(w), p=self.p, training=self.training)
        o = torch.bmm(w, v).transpose(0, 1).contiguous().view(tgt, bsz, self.embed_dim)
        return self.out_proj(o).transpose(0, 1)


class Right27GrowingMask(nn.Module):
    """right: the mask is built lazily, grows when a longer sequence comes and is cut to T."""
    def __init__(self):
        super().__init__()
        self.W_query, self.W_key, self.W_value = nn.Linear(10, 15), nn.Linear(10, 15), nn.Linear(10, 15)
        self.register_buffer("_future", None, persistent=False)

    def _mask(self, n, device):
        if self._future is None or self._future.size(0) < n or self._future.device != device:
            have = 0 if self._future is None else self._future.size(0)
            side = max(n, 2 * have)
            self._future = torch.ones(side, side, dtype=torch.bool, device=device).triu(1)
        return self._future[:n, :n]

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (w(x).unflatten(-1, (3, 5)).transpose(1, 2) for w in (self.W_query, self.W_key, self.W_value))
        s = (q @ k.mT).div(5 ** 0.5).masked_fill(self._mask(n, x.device), float("-inf"))
        return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)


class AttnOutput(NamedTuple):
    output: torch.Tensor
    weights: Optional[torch.Tensor]


class Right28PaddingNamedTuple(nn.Module):
    """right: optional key_padding_mask (True is ignored; a row always sees itself); returns a namedtuple."""
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(12, 16, bias=False), nn.Linear(12, 16, bias=False), nn.Linear(12, 16, bias=False)
        self.o = nn.Linear(16, 8)

    def forward(self, x, key_padding_mask=None):
        B, T, _ = x.shape
        q, k, v = (m(x).view(B, T, 4, 4).transpose(1, 2) for m in (self.q, self.k, self.v))
        drop = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)[None, None]
        if key_padding_mask is not None:
            eye = torch.eye(T, dtype=torch.bool, device=x.device)
            drop = drop | (key_padding_mask.bool()[:, None, None, :] & ~eye)
        w = torch.softmax((q @ k.mT * 0.5).masked_fill(drop, float("-inf")), dim=-1)
        return AttnOutput(self.o((w @ v).transpose(1, 2).reshape(B, T, 16)), w)


class Right29OneHeadRelu(nn.Module):
    """right: one head with raw weight matrices, x @ W, then LayerNorm and ReLU on the result of each row."""
    def __init__(self):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(9, 14) - 0.5)
        self.W_key = nn.Parameter(torch.rand(9, 14) - 0.5)
        self.W_value = nn.Parameter(torch.rand(9, 14) - 0.5)
        self.norm = nn.LayerNorm(14)

    def forward(self, x):
        queries, keys, values = x @ self.W_query, x @ self.W_key, x @ self.W_value
        s = queries @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
        s = s.masked_fill(torch.triu(torch.ones_like(s[0]), diagonal=1).bool(), -torch.inf)
        return F.relu(self.norm(torch.softmax(s, dim=-1) @ values))


class Right30T5RelativeBias(nn.Module):
    """right: T5 style, scores not divided, learned bias per head and distance (0 to 7, further ones share the last)."""
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False), nn.Linear(16, 16, bias=False)
        self.o = nn.Linear(16, 16, bias=False)
        self.relative_attention_bias = nn.Embedding(8, 4)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (m(x).view(b, t, 4, 4).transpose(1, 2) for m in (self.q, self.k, self.v))
        pos = torch.arange(t, device=x.device)
        gap = pos[:, None] - pos[None]
        bias = self.relative_attention_bias(gap.clamp(0, 7)).permute(2, 0, 1)
        s = (q @ k.mT + bias).masked_fill(gap < 0, float("-inf"))
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(b, t, 16))


_add(Right16TanhGate, 16, 16, 12, 2, 0.0, "residual block x + tanh(alpha) * attention(norm(x)); the gate alpha starts at zero")
_add(Right17Lora, 16, 16, 12, 4, 0.0, "LoRA on q and v, B starts at zero; base weights frozen")
_add(Right18QkNorm, 24, 24, 12, 3, 0.0, "RMSNorm on queries and keys per head")
_add(Right19SoftCap, 16, 16, 12, 2, 0.0, "logit soft cap 20: 20 * tanh(score / 20)")
_add(Right20Sinks, 16, 16, 12, 4, 0.0, "attention sink: one learned logit per head in the softmax, so weights add up to less than 1")
_add(Right21OnlineSoftmax, 16, 16, 14, 2)
_add(Right22KvCache, 16, 16, 12, 2, 0.0, "returns (output, (keys, values)); optional argument past_kv")
_add(Right23Float64, 16, 16, 12, 4, 0.3, "scores and softmax in float64")
_add(Right24Bfloat16, 16, 16, 12, 2, 0.0, "attention computed in bfloat16")
_add(Right25TorchMha, 24, 24, 12, 4, 0.1)
_add(Right26Fairseq, 16, 16, 12, 4, 0.2)
_add(Right27GrowingMask, 10, 15, 16, 3)
_add(Right28PaddingNamedTuple, 12, 8, 12, 4, 0.0, "returns a namedtuple (output, weights); takes key_padding_mask (optional)")
_add(Right29OneHeadRelu, 9, 14, 10, 1, 0.0, "LayerNorm and ReLU on the output")
_add(Right30T5RelativeBias, 16, 16, 12, 4, 0.0, "no scaling: scores not divided; learned relative position bias")


def _heads(t, h):
    return t.unflatten(-1, (h, -1)).transpose(1, 2)


def _merge(t):
    return t.transpose(1, 2).flatten(2)


def _future(n, device, diagonal=1):
    return torch.ones(n, n, dtype=torch.bool, device=device).triu(diagonal)


class Wrong01NoMask(nn.Module):
    """wrong: timm ViT attention taken over as it is; no causal mask at all."""
    def __init__(self):
        super().__init__()
        self.num_heads, self.scale = 4, 6 ** -0.5
        self.qkv, self.proj = nn.Linear(24, 72), nn.Linear(24, 24)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.num_heads, 6).permute(2, 0, 3, 1, 4).unbind(0)
        attn = ((q * self.scale) @ k.transpose(-2, -1)).softmax(dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


class Wrong02TransposedMask(nn.Module):
    """wrong: the kept triangle is the upper one (triu in place of tril), rows see themselves and the future."""
    def __init__(self):
        super().__init__()
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.register_buffer("mask", torch.triu(torch.ones(12, 12)))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = _heads(self.Wq(x), 2), _heads(self.Wk(x), 2), _heads(self.Wv(x), 2)
        s = q @ k.mT / math.sqrt(8)
        s = s.masked_fill(self.mask[:T, :T] == 0, float("-inf"))
        return self.Wo(_merge(s.softmax(-1) @ v))


class Wrong03OffByOne(nn.Module):
    """wrong: triu(diagonal=2), each row sees one row ahead."""
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(12, 12) for _ in range(3))
        self.dense = nn.Linear(12, 12)

    def forward(self, hidden_states):
        T = hidden_states.size(1)
        q, k, v = (_heads(m(hidden_states), 3) for m in (self.query, self.key, self.value))
        causal = torch.full((T, T), float("-inf"), device=hidden_states.device).triu(diagonal=2)
        probs = F.softmax(q @ k.transpose(-1, -2) / 2.0 + causal, dim=-1)
        return self.dense(_merge(probs @ v))


class Wrong04MaskAfterSoftmax(nn.Module):
    """wrong: weights multiplied by tril after the softmax and not renormalised: the future sits in the denominator."""
    def __init__(self):
        super().__init__()
        self.to_qkv, self.to_out = nn.Linear(16, 48, bias=False), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(t, 4) for t in self.to_qkv(x).chunk(3, -1))
        attn = torch.softmax(torch.einsum("bhid,bhjd->bhij", q, k) * 0.5, dim=-1)
        return self.to_out(_merge(attn.tril() @ v))


class Wrong05ZeroFill(nn.Module):
    """wrong: the scores are multiplied by the tril mask, so future scores are 0 and not minus infinity."""
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = _HFConv1D(60, 20), _HFConv1D(20, 20)
        self.register_buffer("tril", torch.ones(12, 12).tril())

    def forward(self, x):
        T = x.size(1)
        q, k, v = (_heads(t, 2) for t in self.c_attn(x).split(20, dim=2))
        att = (q @ k.mT) * 10 ** -0.5 * self.tril[:T, :T]
        return self.c_proj(_merge(att.softmax(-1) @ v))


class Wrong06MinusTenThousand(nn.Module):
    """wrong: additive (1 - mask) * -1e4 in float32, the future comes back when the inputs are large."""
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = _HFConv1D(48, 16), _HFConv1D(16, 16)
        self.register_buffer("masked_bias", torch.tensor(-1e4), persistent=False)

    def forward(self, x):
        T = x.size(1)
        q, k, v = (_heads(t, 2) for t in self.c_attn(x).split(16, dim=2))
        b = torch.ones(T, T, device=x.device).tril()
        w = q @ k.mT / math.sqrt(8)
        w = w + self.masked_bias * (1 - b)
        return self.c_proj(_merge(w.softmax(-1) @ v))


class Wrong07SoftmaxOverQueries(nn.Module):
    """wrong: softmax(dim=-2), over the queries; later queries change earlier rows."""
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        q, k, v = _heads(self.q(x), 4), _heads(self.k(x), 4), _heads(self.v(x), 4)
        s = (q @ k.mT * 0.5).masked_fill(_future(x.size(1), x.device), float("-inf"))
        return self.o(_merge(s.softmax(dim=-2) @ v))


class Wrong08SoftmaxOverHeads(nn.Module):
    """wrong: nn.Softmax(dim=1) on (B, H, T, T), over heads; the mask is put on again, so nothing leaks."""
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        q, k, v = (_heads(t, 4) for t in self.qkv(x).chunk(3, -1))
        hide = _future(x.size(1), x.device)
        s = (q @ k.mT * 0.5).masked_fill(hide, -1e9)
        return self.out(_merge(self.softmax(s).masked_fill(hide, 0.0) @ v))


class Wrong09DivisorModelWidth(nn.Module):
    """wrong: scores divided by sqrt(d_model), not by the root of one head's width."""
    def __init__(self):
        super().__init__()
        self.hidden_size, self.n = 32, 4
        self.query_key_value, self.dense = nn.Linear(32, 96), nn.Linear(32, 32)

    def forward(self, x):
        T = x.size(1)
        q, k, v = self.query_key_value(x).unflatten(-1, (self.n, 24)).transpose(1, 2).chunk(3, -1)
        s = q @ k.mT / math.sqrt(self.hidden_size)
        return self.dense(_merge(s.masked_fill(_future(T, x.device), float("-inf")).softmax(-1) @ v))


class Wrong10ScaledTwice(nn.Module):
    """wrong: q is multiplied by D ** -0.5 and then SDPA divides again."""
    def __init__(self):
        super().__init__()
        self.scaling = 8 ** -0.5
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        q = _heads(self.q_proj(x) * self.scaling, 2)
        k, v = _heads(self.k_proj(x), 2), _heads(self.v_proj(x), 2)
        return self.out_proj(_merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class Wrong11ViewSplit(nn.Module):
    """wrong: heads split by view(B, H, T, D) without a transpose: heads hold mixed rows."""
    def __init__(self):
        super().__init__()
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, 4, T, 4) for w in (self.w_q, self.w_k, self.w_v))
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.w_o(o.reshape(B, T, C))


class Wrong12MergeView(nn.Module):
    """wrong: (B, H, T, D) merged by reshape(B, T, C) without transposing back."""
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(18, 54), nn.Linear(18, 18)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 3, 6).permute(2, 0, 3, 1, 4)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(o.contiguous().view(B, T, C))


class Wrong13KeyAsValue(nn.Module):
    """wrong: values come from the key projection, v_proj is built and never used."""
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x):
        q = _heads(self.q_proj(x), 4)
        k = _heads(self.k_proj(x), 4)
        v = _heads(self.k_proj(x), 4)
        return self.o_proj(_merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class Wrong14DropoutOnScores(nn.Module):
    """wrong: dropout on the scores before the softmax, not on the weights."""
    def __init__(self):
        super().__init__()
        self.attn_drop = nn.Dropout(0.2)
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(t, 2) for t in self.qkv(x).chunk(3, -1))
        s = self.attn_drop(q @ k.mT / math.sqrt(8)).masked_fill(_future(x.size(1), x.device), float("-inf"))
        return self.proj(_merge(s.softmax(-1) @ v))


class Wrong15DropoutInEval(nn.Module):
    """wrong: dropout_p given to SDPA whatever the mode, so it stays on in eval."""
    def __init__(self):
        super().__init__()
        self.attention_dropout = 0.1
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        q, k, v = (_heads(p(x), 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        o = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attention_dropout, is_causal=True)
        return self.o_proj(_merge(o))


class Wrong16DropoutUnscaled(nn.Module):
    """wrong: weights dropped by hand, survivors not divided by 1 - p."""
    def __init__(self):
        super().__init__()
        self.p = 0.3
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(t, 4) for t in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT * 0.5).masked_fill(_future(x.size(1), x.device), float("-inf")).softmax(-1)
        if self.training:
            w = w * (torch.rand_like(w) >= self.p).to(w.dtype)
        return self.out(_merge(w @ v))


class Wrong17DropoutOnOutput(nn.Module):
    """wrong: dropout declared on the weights sits after the output projection only."""
    def __init__(self):
        super().__init__()
        self.attn_dropout = nn.Dropout(0.1)
        self.c_attn, self.c_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(t, 2) for t in self.c_attn(x).split(16, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.attn_dropout(self.c_proj(_merge(y)))


class Wrong18CapAfterMask(nn.Module):
    """wrong: the soft cap 10 * tanh(s / 10) comes after the mask, minus infinity turns into -10 and the future leaks a little."""
    def __init__(self):
        super().__init__()
        self.cap = 10.0
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = (_heads(p(x), 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        s = (q @ k.mT * 8 ** -0.5).masked_fill(_future(x.size(1), x.device), torch.finfo(torch.float32).min)
        s = self.cap * torch.tanh(s / self.cap)
        return self.o_proj(_merge(s.softmax(-1) @ v))


class Wrong19SmoothedWeights(nn.Module):
    """wrong: weights smoothed with one thousandth of the uniform distribution over all T keys, a leak of a thousandth."""
    def __init__(self):
        super().__init__()
        self.eps = 1e-3
        self.in_proj, self.out_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        T = x.size(1)
        q, k, v = (_heads(t, 4) for t in self.in_proj(x).chunk(3, -1))
        w = (q @ k.mT * 0.5).masked_fill(_future(T, x.device), float("-inf")).softmax(-1)
        w = torch.lerp(w, torch.full_like(w, 1.0 / T), self.eps)
        return self.out_proj(_merge(w @ v))


class Wrong20TrainLeak(nn.Module):
    """wrong: is_causal = not self.training, so train mode sees the future."""
    def __init__(self):
        super().__init__()
        self.Wqkv, self.out_proj = nn.Linear(24, 72, bias=False), nn.Linear(24, 24, bias=False)

    def forward(self, x, attn_mask=None):
        q, k, v = self.Wqkv(x).unflatten(-1, (3, 4, 6)).permute(2, 0, 3, 1, 4)
        is_causal = attn_mask is None and not self.training and x.size(1) > 1
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=attn_mask, is_causal=is_causal)
        return self.out_proj(_merge(o))


class Wrong21ShortPath(nn.Module):
    """wrong: a fast path for T of 4 or fewer forgets the mask."""
    def __init__(self):
        super().__init__()
        self.min_flash_len = 4
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(t, 2) for t in self.qkv(x).chunk(3, -1))
        if x.size(1) > self.min_flash_len:
            o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            o = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1) @ v
        return self.proj(_merge(o))


class Wrong22BatchNorm(nn.Module):
    """wrong: BatchNorm1d over (B, C, T) on the input mixes positions and batch elements in train mode and moves its statistics."""
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(16)
        self.conv_qkv, self.conv_o = nn.Conv1d(16, 48, 1), nn.Conv1d(16, 16, 1)

    def forward(self, x):
        h = self.conv_qkv(self.norm(x.transpose(1, 2))).transpose(1, 2)
        q, k, v = (_heads(t, 2) for t in h.chunk(3, -1))
        o = _merge(F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return self.conv_o(o.transpose(1, 2)).transpose(1, 2)


class Wrong23MeanOverTime(nn.Module):
    """wrong: keys and values are centred by their mean over all positions, so later rows reach earlier ones through the mean of the values."""
    def __init__(self):
        super().__init__()
        self.q, self.kv, self.o = nn.Linear(16, 16), nn.Linear(16, 32), nn.Linear(16, 16)

    def forward(self, x):
        q = _heads(self.q(x), 4)
        kv = self.kv(x)
        k, v = (_heads(t, 4) for t in (kv - kv.mean(dim=1, keepdim=True)).chunk(2, -1))
        return self.o(_merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class Wrong24FakeQuant(nn.Module):
    """wrong: int8 fake quantisation of the input with one scale for the whole tensor (absmax over B and T), straight-through gradient: values leak, gradients don't show it."""
    def __init__(self):
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    @staticmethod
    def _quant(t):
        scale = t.detach().abs().amax().clamp_min(1e-8) / 127
        return t + ((t / scale).round().clamp(-128, 127) * scale - t).detach()

    def forward(self, x):
        q, k, v = (_heads(t, 2) for t in self.qkv(self._quant(x)).chunk(3, -1))
        return self.out(_merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class Wrong25RollShift(nn.Module):
    """wrong: token shift by torch.roll, row 0 gets a tenth of the last row (zeros would be right)."""
    def __init__(self):
        super().__init__()
        self.receptance, self.key, self.value, self.output = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.time_mix = nn.Parameter(torch.full((16,), 0.9))

    def forward(self, x):
        xx = torch.roll(x, shifts=1, dims=1)
        mixed = x * self.time_mix + xx * (1 - self.time_mix)
        q, k, v = _heads(self.receptance(x), 2), _heads(self.key(mixed), 2), _heads(self.value(mixed), 2)
        return self.output(_merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


_add(Wrong01NoMask, 24, 24, 12, 4)
_add(Wrong02TransposedMask, 16, 16, 12, 2)
_add(Wrong03OffByOne, 12, 12, 12, 3)
_add(Wrong04MaskAfterSoftmax, 16, 16, 12, 4)
_add(Wrong05ZeroFill, 20, 20, 12, 2)
_add(Wrong06MinusTenThousand, 16, 16, 12, 2)
_add(Wrong07SoftmaxOverQueries, 16, 16, 12, 4)
_add(Wrong08SoftmaxOverHeads, 16, 16, 12, 4)
_add(Wrong09DivisorModelWidth, 32, 32, 12, 4)
_add(Wrong10ScaledTwice, 16, 16, 12, 2)
_add(Wrong11ViewSplit, 16, 16, 12, 4)
_add(Wrong12MergeView, 18, 18, 12, 3)
_add(Wrong13KeyAsValue, 16, 16, 12, 4)
_add(Wrong14DropoutOnScores, 16, 16, 12, 2, 0.2)
_add(Wrong15DropoutInEval, 16, 16, 12, 2, 0.1)
_add(Wrong16DropoutUnscaled, 16, 16, 12, 4, 0.3)
_add(Wrong17DropoutOnOutput, 16, 16, 12, 2, 0.1)
_add(Wrong18CapAfterMask, 16, 16, 12, 2, 0.0, "logit soft cap 10: 10 * tanh(score / 10)")
_add(Wrong19SmoothedWeights, 16, 16, 12, 4)
_add(Wrong20TrainLeak, 24, 24, 12, 4)
_add(Wrong21ShortPath, 16, 16, 12, 2)
_add(Wrong22BatchNorm, 16, 16, 12, 2, 0.0, "normalises its input")
_add(Wrong23MeanOverTime, 16, 16, 12, 4)
_add(Wrong24FakeQuant, 16, 16, 12, 2, 0.0, "input rounded to int8 (quantisation-aware training)")
_add(Wrong25RollShift, 16, 16, 12, 2, 0.0, "token shift: keys and values are computed from 0.9 of a row and 0.1 of the row before")


class Wrong26SymmetricConv(nn.Module):
    """wrong: Primer style depthwise convolution on keys with padding=1 on both sides: each key holds a bit of the next row."""
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(16, 16) for _ in range(4))
        self.k_conv = nn.Conv1d(16, 16, kernel_size=3, padding=1, groups=16)

    def forward(self, x):
        k = self.k_conv(self.k(x).transpose(1, 2)).transpose(1, 2)
        o = F.scaled_dot_product_attention(_heads(self.q(x), 2), _heads(k, 2), _heads(self.v(x), 2), is_causal=True)
        return self.o(_merge(o))


class Wrong27BatchFold(nn.Module):
    """wrong: q and k are folded to (B * H), the values to (H * B): with B above 1 batch elements read each other's values."""
    def __init__(self):
        super().__init__()
        self.h, self.d = 4, 4
        self.in_proj_weight = nn.Parameter(torch.randn(48, 16) / 4)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = F.linear(x, self.in_proj_weight).chunk(3, dim=-1)
        q = q.view(B, T, self.h, self.d).permute(0, 2, 1, 3).reshape(B * self.h, T, self.d)
        k = k.view(B, T, self.h, self.d).permute(0, 2, 3, 1).reshape(B * self.h, self.d, T)
        v = v.view(B, T, self.h, self.d).permute(2, 0, 1, 3).reshape(self.h * B, T, self.d)
        w = (torch.bmm(q, k) / math.sqrt(self.d)).masked_fill(_future(T, x.device), float("-inf")).softmax(-1)
        o = torch.bmm(w, v).view(B, self.h, T, self.d)
        return self.out_proj(o.permute(0, 2, 1, 3).reshape(B, T, C))


class Wrong28FirstCallMask(nn.Module):
    """wrong: the additive mask is cached at the length of the first call; a longer call pads it with 0, which means visible."""
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)
        self._mask = None

    def _causal(self, t, device):
        if self._mask is None:
            self._mask = torch.full((t, t), float("-inf"), device=device).triu(1)
        extra = max(0, t - self._mask.size(0))
        return F.pad(self._mask, (0, extra, 0, extra), value=0.0)[:t, :t]

    def forward(self, x):
        q, k, v = (_heads(t, 2) for t in self.qkv(x).chunk(3, -1))
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=self._causal(x.size(1), x.device))
        return self.proj(_merge(o))


class Wrong29KeptMemory(nn.Module):
    """wrong: in eval mode the last two keys and values of the call before are put in front when the batch size is the same."""
    def __init__(self):
        super().__init__()
        self.q_net, self.kv_net, self.o_net = nn.Linear(16, 16), nn.Linear(16, 32), nn.Linear(16, 16)
        self.mems = None

    def forward(self, w):
        T = w.size(1)
        q, kv = _heads(self.q_net(w), 2), self.kv_net(w)
        new = kv[:, -2:].detach()
        if self.mems is not None and not self.training and self.mems.size(0) == kv.size(0):
            kv = torch.cat([self.mems.to(kv), kv], dim=1)
        self.mems = new
        k, v = (_heads(t, 2) for t in kv.chunk(2, -1))
        keep = torch.ones(T, k.size(2), dtype=torch.bool, device=w.device).tril(k.size(2) - T)
        return self.o_net(_merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


class Wrong30LastHeadDropped(nn.Module):
    """wrong: the loop over heads stops one early, the last head's slice stays zero."""
    def __init__(self):
        super().__init__()
        self.H, self.D = 4, 5
        self.to_q, self.to_k, self.to_v = (nn.Linear(20, 20) for _ in range(3))
        self.to_out = nn.Linear(20, 20)

    def forward(self, x):
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        out = [torch.zeros_like(v[..., :self.D]) for _ in range(self.H)]
        hide = _future(x.size(1), x.device)
        for i, (a, b) in enumerate(zip(range(0, 20, self.D), range(self.D, 20, self.D))):
            s = q[..., a:b] @ k[..., a:b].mT / math.sqrt(self.D)
            out[i] = s.masked_fill(hide, float("-inf")).softmax(-1) @ v[..., a:b]
        return self.to_out(torch.cat(out, dim=-1))


class Wrong31SharedHead(nn.Module):
    """wrong: nn.ModuleList([head] * 3), all three heads are the same module."""
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_Head(18, 6, 12)] * 3)
        self.proj = nn.Linear(18, 18)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class Wrong32OneOpenHead(nn.Module):
    """wrong: masks are filled head by head up to H - 1, the last head has no mask."""
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(32, 96), nn.Linear(32, 32)
        bias = torch.zeros(8, 12, 12)
        for h in range(7):
            bias[h] = torch.full((12, 12), float("-inf")).triu(1)
        self.register_buffer("attn_bias", bias, persistent=False)

    def forward(self, x):
        T = x.size(1)
        q, k, v = (_heads(t, 8) for t in self.qkv(x).chunk(3, -1))
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=self.attn_bias[:, :T, :T].expand(x.size(0), -1, -1, -1))
        return self.proj(_merge(o))


class Wrong33HalfScores(nn.Module):
    """wrong: scores are stored in float16 before the softmax: coarse, and infinite above 65504, so NaN for large inputs."""
    def __init__(self):
        super().__init__()
        self.query_key_value, self.dense = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(t, 2) for t in self.query_key_value(x).chunk(3, -1))
        s = (q @ k.mT / math.sqrt(8)).to(torch.float16)
        s = s.masked_fill(_future(x.size(1), x.device), float("-inf"))
        return self.dense(_merge(F.softmax(s, dim=-1, dtype=torch.float32).to(v.dtype) @ v))


class Wrong34NaiveExp(nn.Module):
    """wrong: softmax by hand without taking off the maximum, exp overflows for large inputs."""
    def __init__(self):
        super().__init__()
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.randn(4, 16, 4) / 4) for _ in range(3))
        self.W_o = nn.Parameter(torch.randn(16, 16) / 4)

    def forward(self, x):
        q, k, v = (torch.einsum("btc,hcd->bhtd", x, W) for W in (self.W_q, self.W_k, self.W_v))
        e = torch.exp(q @ k.mT * 0.5).tril()
        return _merge(e @ v / e.sum(-1, keepdim=True)) @ self.W_o


class Wrong35NotItself(nn.Module):
    """wrong: triu(diagonal=0) hides a row from itself, the first row's NaN is covered by nan_to_num."""
    def __init__(self):
        super().__init__()
        self.q_linear, self.k_linear, self.v_linear, self.out = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        q, k, v = (_heads(f(x), 2) for f in (self.q_linear, self.k_linear, self.v_linear))
        s = (q @ k.mT / math.sqrt(8)).masked_fill(_future(x.size(1), x.device, 0), float("-inf"))
        return self.out(_merge(s.softmax(-1).nan_to_num(0.0) @ v))


class Wrong36GroupedRepeat(nn.Module):
    """wrong: grouped heads by repeat in place of repeat_interleave: query heads 0 and 2 share, not 0 and 1."""
    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = nn.Linear(24, 24), nn.Linear(24, 12), nn.Linear(24, 12), nn.Linear(24, 24)

    def forward(self, x):
        q, k, v = _heads(self.wq(x), 4), _heads(self.wk(x), 2), _heads(self.wv(x), 2)
        k, v = k.repeat(1, 2, 1, 1), v.repeat(1, 2, 1, 1)
        return self.wo(_merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class Wrong37RotaryOnQueryOnly(nn.Module):
    """wrong: rotary positions on q only; the rotated k is thrown away."""
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(16, 16, bias=False) for _ in range(4))
        self.rotary_emb = _Rotary(8)

    def _apply_rope(self, q, k):
        cos, sin = self.rotary_emb(q, q.size(2))
        return q * cos + _rotate_half(q) * sin, k * cos + _rotate_half(k) * sin

    def forward(self, x):
        q, k, v = (_heads(p(x), 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, _ = self._apply_rope(q, k)
        return self.o_proj(_merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class Wrong38RotaryOnHeadAxis(nn.Module):
    """wrong: rotary is applied before the transpose, so its angles follow the head index and cancel in q.k: no positions."""
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(24, 24, bias=False) for _ in range(4))
        self.rotary_emb = _Rotary(6)

    def forward(self, x):
        q, k, v = (p(x).unflatten(-1, (4, 6)) for p in (self.q_proj, self.k_proj, self.v_proj))
        cos, sin = self.rotary_emb(q, q.shape[-2])
        q, k = q * cos + _rotate_half(q) * sin, k * cos + _rotate_half(k) * sin
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        return self.o_proj(_merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class Wrong39AlibiSign(nn.Module):
    """wrong: ALiBi added with the wrong sign, far keys are raised."""
    def __init__(self):
        super().__init__()
        self.Wqkv, self.out_proj = nn.Linear(32, 96), nn.Linear(32, 32)
        self.register_buffer("slopes", torch.tensor(_alibi_slopes(8)).view(8, 1, 1))

    def forward(self, x):
        T = x.size(1)
        q, k, v = (_heads(t, 8) for t in self.Wqkv(x).chunk(3, -1))
        i = torch.arange(T, device=x.device)
        s = q @ k.mT / 2.0 + self.slopes * (i[:, None] - i[None, :])
        return self.out_proj(_merge(s.masked_fill(_future(T, x.device), float("-inf")).softmax(-1) @ v))


class Wrong40AlibiSlopes(nn.Module):
    """wrong: for 6 heads the slopes are the first six of those for 8, not the published rule (4 of four, 2 of eight)."""
    def __init__(self):
        super().__init__()
        self.Wqkv, self.out_proj = nn.Linear(24, 72), nn.Linear(24, 24)
        self.register_buffer("slopes", torch.tensor(_alibi_slopes(8)[:6]).view(6, 1, 1))

    def forward(self, x):
        T = x.size(1)
        q, k, v = (_heads(t, 6) for t in self.Wqkv(x).chunk(3, -1))
        i = torch.arange(T, device=x.device)
        s = q @ k.mT / 2.0 - self.slopes * (i[:, None] - i[None, :])
        return self.out_proj(_merge(s.masked_fill(_future(T, x.device), float("-inf")).softmax(-1) @ v))


class Wrong41WindowOffByOne(nn.Module):
    """wrong: declared sliding window 4, but gap > 4 is hidden, so a row sees five rows with itself."""
    def __init__(self):
        super().__init__()
        self.window = 4
        self.qkv, self.o_proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(t, 4) for t in self.qkv(x).chunk(3, -1))
        i = torch.arange(x.size(1), device=x.device)
        gap = i[:, None] - i[None, :]
        keep = (gap >= 0) & (gap <= self.window)
        return self.o_proj(_merge(F.scaled_dot_product_attention(q, k, v, attn_mask=keep)))


class Wrong42RenormAfterDropout(nn.Module):
    """wrong: after dropout the weights are divided by their own sum, so survivors are not divided by 1 - p."""
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(t, 4) for t in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT * 0.5).masked_fill(_future(x.size(1), x.device), float("-inf")).softmax(-1)
        w = self.drop(w)
        w = w / w.sum(-1, keepdim=True).clamp_min(1e-6)
        return self.proj(_merge(w @ v))


class Wrong43FirstTokenIgnored(nn.Module):
    """wrong: key 0 is hidden from all rows but the first (taken for a BOS token)."""
    def __init__(self):
        super().__init__()
        self.c_attn, self.c_proj = _HFConv1D(48, 16), _HFConv1D(16, 16)
        keep = torch.ones(12, 12, dtype=torch.bool).tril()
        keep[1:, 0] = False
        self.register_buffer("bias", keep.view(1, 1, 12, 12), persistent=False)

    def forward(self, x):
        T = x.size(1)
        q, k, v = (_heads(t, 2) for t in self.c_attn(x).split(16, dim=2))
        o = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias[:, :, :T, :T])
        return self.c_proj(_merge(o))


class Wrong44SharedDropout(nn.Module):
    """wrong: one dropout mask (B, 1, T, T) serves all heads, so heads drop the same keys together."""
    def __init__(self):
        super().__init__()
        self.attn_dropout = nn.Dropout(0.25)
        self.qkv, self.proj = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(t, 4) for t in self.qkv(x).chunk(3, -1))
        w = (q @ k.mT * 0.5).masked_fill(_future(x.size(1), x.device), float("-inf")).softmax(-1)
        w = w * self.attn_dropout(torch.ones_like(w[:, :1]))
        return self.proj(_merge(w @ v))


class Wrong45DetachedKeys(nn.Module):
    """wrong: keys are detached, outputs are right but the key projection and the input never get that gradient."""
    def __init__(self):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(16, 16) for _ in range(4))

    def forward(self, x):
        q, k, v = _heads(self.q_proj(x), 2), _heads(self.k_proj(x), 2).detach(), _heads(self.v_proj(x), 2)
        return self.o_proj(_merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class Wrong46InPlaceInput(nn.Module):
    """wrong: the mean of each row is taken off in place, the caller's x is changed (and the centring is hidden from autograd)."""
    def __init__(self):
        super().__init__()
        self.qkv, self.proj = nn.Linear(16, 48, bias=False), nn.Linear(16, 16)

    def forward(self, x):
        with torch.no_grad():
            x.sub_(x.mean(dim=-1, keepdim=True))
        q, k, v = (_heads(t, 2) for t in self.qkv(x).chunk(3, -1))
        return self.proj(_merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class Wrong47NoiseInEval(nn.Module):
    """wrong: a little Gaussian noise (0.01) on the scores in both modes."""
    def __init__(self):
        super().__init__()
        self.jitter = 0.01
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(t, 4) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.mT * 0.5
        s = s + self.jitter * torch.randn_like(s)
        return self.out(_merge(s.masked_fill(_future(x.size(1), x.device), float("-inf")).softmax(-1) @ v))


class Wrong48BiasTwice(nn.Module):
    """wrong: the bias of the fused projection is added by F.linear and once more by hand."""
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(48, 16) / 4)
        self.bias = nn.Parameter(0.3 * torch.randn(48))
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        fused = F.linear(x, self.weight, self.bias)
        q, k, v = (_heads(t + b, 2) for t, b in zip(fused.chunk(3, -1), self.bias.chunk(3)))
        return self.out_proj(_merge(F.scaled_dot_product_attention(q, k, v, is_causal=True)))


class Wrong49ChunkTopLeft(nn.Module):
    """wrong: query chunks of 6 with is_causal=True: SDPA aligns its mask top left, rows after the first chunk see only the first keys."""
    def __init__(self):
        super().__init__()
        self.chunk = 6
        self.qkv, self.o = nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(t, 2) for t in self.qkv(x).chunk(3, -1))
        out, seen = [], 0
        for piece in q.split(self.chunk, dim=2):
            seen += piece.size(2)
            out.append(F.scaled_dot_product_attention(piece, k[:, :, :seen], v[:, :, :seen], is_causal=True))
        return self.o(_merge(torch.cat(out, dim=2)))


class Wrong50DivisorLength(nn.Module):
    """wrong: the divisor is sqrt(k.size(2)) after the transpose, the length T and not the width 8: right for T = 8 only."""
    def __init__(self):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(10, 16, bias=False) for _ in range(3))
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        q, k, v = (_heads(w(x), 2) for w in (self.W_query, self.W_key, self.W_value))
        s = q @ k.mT / math.sqrt(k.size(2))
        return self.out_proj(_merge(s.masked_fill(_future(x.size(1), x.device), float("-inf")).softmax(-1) @ v))


_add(Wrong26SymmetricConv, 16, 16, 12, 2, 0.0, "depthwise convolution of width 3 on keys, causal")
_add(Wrong27BatchFold, 16, 16, 12, 4)
_add(Wrong28FirstCallMask, 16, 16, 12, 2)
_add(Wrong29KeptMemory, 16, 16, 12, 2)
_add(Wrong30LastHeadDropped, 20, 20, 12, 4)
_add(Wrong31SharedHead, 18, 18, 12, 3)
_add(Wrong32OneOpenHead, 32, 32, 12, 8)
_add(Wrong33HalfScores, 16, 16, 12, 2)
_add(Wrong34NaiveExp, 16, 16, 12, 4)
_add(Wrong35NotItself, 16, 16, 12, 2)
_add(Wrong36GroupedRepeat, 24, 24, 12, 4, 0.0, "grouped heads: 4 for queries, 2 for keys and values, neighbouring query heads share")
_add(Wrong37RotaryOnQueryOnly, 16, 16, 12, 2, 0.0, "rotary")
_add(Wrong38RotaryOnHeadAxis, 24, 24, 12, 4, 0.0, "rotary")
_add(Wrong39AlibiSign, 32, 32, 12, 8, 0.0, "ALiBi")
_add(Wrong40AlibiSlopes, 24, 24, 12, 6, 0.0, "ALiBi")
_add(Wrong41WindowOffByOne, 16, 16, 12, 4, 0.0, "sliding window 4")
_add(Wrong42RenormAfterDropout, 16, 16, 12, 4, 0.2)
_add(Wrong43FirstTokenIgnored, 16, 16, 12, 2)
_add(Wrong44SharedDropout, 16, 16, 12, 4, 0.25)
_add(Wrong45DetachedKeys, 16, 16, 12, 2)
_add(Wrong46InPlaceInput, 16, 16, 12, 2)
_add(Wrong47NoiseInEval, 16, 16, 12, 4)
_add(Wrong48BiasTwice, 16, 16, 12, 2)
_add(Wrong49ChunkTopLeft, 16, 16, 12, 2)
_add(Wrong50DivisorLength, 10, 16, 12, 2)
