"""Layers by hand x."""
import math
from collections import namedtuple
from typing import Optional

import torch
import torch.nn.functional as F
from torch import einsum, nn


# ---------------------------------------------------------------- small helpers

def future(T, device=None):
    return torch.ones(T, T, dtype=torch.bool, device=device).triu(1)


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rope(x, positions, base=10000.0):
    """x (..., T, D), halves rotated."""
    D = x.size(-1)
    inv = 1.0 / (base ** (torch.arange(0, D, 2, device=x.device).float() / D))
    ang = positions.float()[:, None] * inv[None, :]
    ang = torch.cat((ang, ang), dim=-1)
    return x * ang.cos() + rotate_half(x) * ang.sin()


def alibi_slopes(n):
    def pow2(m):
        start = 2 ** (-(2 ** -(math.log2(m) - 3)))
        return [start * start ** i for i in range(m)]
    if math.log2(n).is_integer():
        return pow2(n)
    c = 2 ** math.floor(math.log2(n))
    return pow2(c) + alibi_slopes(2 * c)[0::2][: n - c]


# ======================================================================== right

class Right01FusedQkvSdpa(nn.Module):
    """right: one linear layer c_attn for q, k, v in the order (3, H, D); F.scaled_dot_product_attention with is_causal."""

    def __init__(self):
        super().__init__()
        self.n_head, self.n_embd, self.dropout = 4, 16, 0.1
        self.c_attn = nn.Linear(16, 48, bias=False)
        self.c_proj = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.dropout if self.training else 0.0)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class Right02SeparateBuffer(nn.Module):
    """right: linear layers key, query, value with biases; buffer "mask" of ones below the diagonal, -inf fill, dropout on the weights."""

    def __init__(self):
        super().__init__()
        self.key = nn.Linear(24, 24)
        self.query = nn.Linear(24, 24)
        self.value = nn.Linear(24, 24)
        self.attn_drop = nn.Dropout(0.2)
        self.proj = nn.Linear(24, 24)
        self.register_buffer("mask", torch.tril(torch.ones(10, 10)).view(1, 1, 10, 10))
        self.n_head = 3

    def forward(self, x):
        B, T, C = x.size()
        k = self.key(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = self.query(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = self.value(x).view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        att = self.attn_drop(att)
        y = att @ v
        return self.proj(y.transpose(1, 2).contiguous().view(B, T, C))


class _Conv1D(nn.Module):
    def __init__(self, nf, nx):
        super().__init__()
        self.nf = nf
        self.weight = nn.Parameter(torch.empty(nx, nf))
        self.bias = nn.Parameter(torch.zeros(nf))
        nn.init.normal_(self.weight, std=0.02)

    def forward(self, x):
        return torch.addmm(self.bias, x.reshape(-1, x.size(-1)), self.weight).view(x.size()[:-1] + (self.nf,))


class Right03Gpt2Conv1D(nn.Module):
    """right: GPT-2 style, weights stored as (in, out), torch.where with the smallest float32 in the masked places, init std 0.02."""

    def __init__(self):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones(16, 16, dtype=torch.bool)).view(1, 1, 16, 16), persistent=False)
        self.c_attn = _Conv1D(96, 32)
        self.c_proj = _Conv1D(32, 32)
        self.attn_dropout = nn.Dropout(0.1)
        self.num_heads = 4

    def _split_heads(self, t):
        return t.view(t.size()[:-1] + (self.num_heads, -1)).permute(0, 2, 1, 3)

    def forward(self, hidden_states):
        q, k, v = map(self._split_heads, self.c_attn(hidden_states).split(32, dim=2))
        w = torch.matmul(q, k.transpose(-1, -2)) / (v.size(-1) ** 0.5)
        T = w.size(-1)
        lowest = torch.full([], torch.finfo(w.dtype).min, dtype=w.dtype, device=w.device)
        w = torch.where(self.bias[:, :, :T, :T], w, lowest)
        w = self.attn_dropout(w.softmax(dim=-1))
        out = torch.matmul(w, v).permute(0, 2, 1, 3).contiguous()
        return self.c_proj(out.view(out.size()[:-2] + (32,)))


class Right04BloomAlibi(nn.Module):
    """right: fused query_key_value in the order (H, 3, D), ALiBi with the published slopes for 6 heads."""

    def __init__(self):
        super().__init__()
        self.heads, self.head_dim = 6, 4
        self.query_key_value = nn.Linear(24, 72, bias=True)
        self.dense = nn.Linear(24, 24)
        self.register_buffer("slopes", torch.tensor(alibi_slopes(6)))

    def forward(self, x):
        B, T, _ = x.shape
        fused = self.query_key_value(x).view(B, T, self.heads, 3, self.head_dim)
        q, k, v = (fused[..., i, :].transpose(1, 2) for i in range(3))
        pos = torch.arange(T, device=x.device)
        distance = (pos[:, None] - pos[None, :]).to(x.dtype)
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.head_dim) - self.slopes[:, None, None] * distance
        scores = scores.masked_fill(future(T, x.device), float("-inf"))
        ctx = scores.softmax(-1) @ v
        return self.dense(ctx.transpose(1, 2).reshape(B, T, 24))


class Right05LlamaRotaryHalf(nn.Module):
    """right: q_proj, k_proj, v_proj, o_proj without biases, rotary by halves with tables that grow on demand."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.head_dim = 2, 8
        self.q_proj = nn.Linear(16, 16, bias=False)
        self.k_proj = nn.Linear(16, 16, bias=False)
        self.v_proj = nn.Linear(16, 16, bias=False)
        self.o_proj = nn.Linear(16, 16, bias=False)
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, 8, 2).float() / 8)), persistent=False)
        self._cos = self._sin = None

    def _tables(self, T):
        if self._cos is None or self._cos.size(0) < T or self._cos.device != self.inv_freq.device:
            with torch.inference_mode(False):
                f = torch.outer(torch.arange(T, device=self.inv_freq.device).float(), self.inv_freq)
                emb = torch.cat((f, f), dim=-1)
                self._cos, self._sin = emb.cos(), emb.sin()
        return self._cos[:T], self._sin[:T]

    def forward(self, hidden_states):
        bsz, q_len, _ = hidden_states.size()
        q, k, v = (p(hidden_states).view(bsz, q_len, self.num_heads, self.head_dim).transpose(1, 2)
                   for p in (self.q_proj, self.k_proj, self.v_proj))
        cos, sin = self._tables(q_len)
        q = q * cos + rotate_half(q) * sin
        k = k * cos + rotate_half(k) * sin
        w = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.head_dim)
        causal = torch.full((q_len, q_len), torch.finfo(w.dtype).min, device=w.device).triu(1)
        w = F.softmax(w + causal, dim=-1, dtype=torch.float32).to(q.dtype)
        o = torch.matmul(w, v).transpose(1, 2).contiguous().reshape(bsz, q_len, -1)
        return self.o_proj(o)


class Right06GqaRotaryInterleaved(nn.Module):
    """right: wq, wk, wv, wo; 4 query heads share 2 key/value heads (neighbours share); rotary of neighbouring pairs through complex numbers."""

    def __init__(self):
        super().__init__()
        self.h, self.kv, self.d = 4, 2, 8
        self.wq = nn.Linear(20, 32, bias=False)
        self.wk = nn.Linear(20, 16, bias=False)
        self.wv = nn.Linear(20, 16, bias=False)
        self.wo = nn.Linear(32, 20, bias=False)
        freqs = 1.0 / (10000 ** (torch.arange(0, 8, 2).float() / 8))
        angles = torch.outer(torch.arange(14).float(), freqs)
        self.register_buffer("angles", angles, persistent=False)

    def _rot(self, t):
        T = t.size(1)
        c = torch.view_as_complex(t.float().reshape(*t.shape[:-1], -1, 2))
        a = self.angles[:T]
        return torch.view_as_real(c * torch.polar(torch.ones_like(a), a)[None, :, None, :]).flatten(3).type_as(t)

    def forward(self, x):
        B, T, _ = x.shape
        xq = self._rot(self.wq(x).view(B, T, self.h, self.d))
        xk = self._rot(self.wk(x).view(B, T, self.kv, self.d))
        xv = self.wv(x).view(B, T, self.kv, self.d)
        n_rep = self.h // self.kv
        xk = xk[:, :, :, None, :].expand(B, T, self.kv, n_rep, self.d).reshape(B, T, self.h, self.d)
        xv = xv[:, :, :, None, :].expand(B, T, self.kv, n_rep, self.d).reshape(B, T, self.h, self.d)
        xq, xk, xv = (t.transpose(1, 2) for t in (xq, xk, xv))
        s = torch.matmul(xq, xk.transpose(2, 3)) / math.sqrt(self.d)
        s = s + torch.full((T, T), float("-inf"), device=x.device).triu(1)
        y = torch.matmul(F.softmax(s.float(), dim=-1).type_as(xq), xv)
        return self.wo(y.transpose(1, 2).contiguous().view(B, T, -1))


class Right07MultiQuery(nn.Module):
    """right: multi-query: to_q for 4 heads, to_kv for one shared key/value head, einsum."""

    def __init__(self):
        super().__init__()
        self.heads, self.scale = 4, 6 ** -0.5
        self.to_q = nn.Linear(18, 24, bias=False)
        self.to_kv = nn.Linear(18, 12, bias=False)
        self.to_out = nn.Linear(24, 18, bias=False)

    def forward(self, x):
        b, n, h = x.shape[0], x.shape[1], self.heads
        q = self.to_q(x).reshape(b, n, h, -1).permute(0, 2, 1, 3) * self.scale
        k, v = self.to_kv(x).chunk(2, dim=-1)
        sim = einsum("b h i d, b j d -> b h i j", q, k)
        keep = torch.ones((n, n), dtype=torch.bool, device=x.device).tril()
        sim = sim.masked_fill(~keep, -torch.finfo(sim.dtype).max)
        attn = sim.softmax(dim=-1)
        out = einsum("b h i j, b j d -> b h i d", attn, v)
        return self.to_out(out.permute(0, 2, 1, 3).reshape(b, n, -1))


class Right08InOutDiffer(nn.Module):
    """right: W_query, W_key, W_value from 10 to 18 features, mask buffer above the diagonal, in-place -inf fill of the scores."""

    def __init__(self, d_in=10, d_out=18, context_length=9, dropout=0.25, num_heads=3, qkv_bias=False):
        super().__init__()
        self.d_out, self.num_heads, self.head_dim = d_out, num_heads, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        b, num_tokens, d_in = x.shape
        keys, queries, values = self.W_key(x), self.W_query(x), self.W_value(x)
        keys = keys.view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        values = values.view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        queries = queries.view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        attn_scores = queries @ keys.transpose(2, 3)
        attn_scores.masked_fill_(self.mask.bool()[:num_tokens, :num_tokens], -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        attn_weights = self.dropout(attn_weights)
        context_vec = (attn_weights @ values).transpose(1, 2).contiguous().view(b, num_tokens, self.d_out)
        return self.out_proj(context_vec)


class _Head(nn.Module):
    def __init__(self, n_embd, head_size, block_size, dropout):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = self.dropout(F.softmax(wei, dim=-1))
        return wei @ self.value(x)


class Right09ListOfHeads(nn.Module):
    """right: a ModuleList of four single heads, concatenated and projected."""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_Head(20, 5, 8, 0.2) for _ in range(4)])
        self.proj = nn.Linear(20, 20)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class Right10EinsumParameters(nn.Module):
    """right: raw parameters W_Q, W_K, W_V (heads, d_model, d_head), b_Q.., W_O (heads, d_head, d_model), all by einsum; heads summed at the output."""

    def __init__(self):
        super().__init__()
        H, M, D = 3, 15, 5
        self.W_Q = nn.Parameter(torch.randn(H, M, D) / math.sqrt(M))
        self.W_K = nn.Parameter(torch.randn(H, M, D) / math.sqrt(M))
        self.W_V = nn.Parameter(torch.randn(H, M, D) / math.sqrt(M))
        self.W_O = nn.Parameter(torch.randn(H, D, M) / math.sqrt(M))
        self.b_Q = nn.Parameter(torch.zeros(H, D))
        self.b_K = nn.Parameter(torch.zeros(H, D))
        self.b_V = nn.Parameter(torch.zeros(H, D))
        self.b_O = nn.Parameter(torch.zeros(M))
        self.register_buffer("IGNORE", torch.tensor(float("-inf")))

    def forward(self, normalized_resid_pre):
        r = normalized_resid_pre
        q = einsum("bpm,nmh->bpnh", r, self.W_Q) + self.b_Q
        k = einsum("bpm,nmh->bpnh", r, self.W_K) + self.b_K
        v = einsum("bpm,nmh->bpnh", r, self.W_V) + self.b_V
        s = einsum("bqnh,bknh->bnqk", q, k) / q.size(-1) ** 0.5
        s = s.masked_fill(future(s.size(-1), s.device), self.IGNORE)
        z = einsum("bknh,bnqk->bqnh", v, s.softmax(-1))
        return einsum("bqnh,nhm->bqm", z, self.W_O) + self.b_O


class Right11InProjWeight(nn.Module):
    """right: in_proj_weight and in_proj_bias as one parameter each, baddbmm for the scores; optional key_padding_mask, rows with nothing to see give a zero context."""

    def __init__(self):
        super().__init__()
        self.embed_dim, self.num_heads = 16, 2
        self.in_proj_weight = nn.Parameter(torch.empty(48, 16))
        self.in_proj_bias = nn.Parameter(torch.zeros(48))
        self.out_proj = nn.Linear(16, 16)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, x, key_padding_mask: Optional[torch.Tensor] = None):
        B, T, E = x.shape
        H, D = self.num_heads, E // self.num_heads
        q, k, v = F.linear(x, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
        q, k, v = (t.reshape(B, T, H, D).transpose(1, 2).reshape(B * H, T, D) for t in (q, k, v))
        blocked = future(T, x.device).expand(B, H, T, T)
        if key_padding_mask is not None:
            blocked = blocked | key_padding_mask.bool()[:, None, None, :]
        blocked = blocked.reshape(B * H, T, T)
        bias = torch.zeros(B * H, T, T, dtype=x.dtype, device=x.device)
        bias = bias.masked_fill(blocked, torch.finfo(x.dtype).min)
        w = torch.baddbmm(bias, q / math.sqrt(D), k.transpose(1, 2)).softmax(dim=-1)
        w = w.masked_fill(blocked, 0.0)
        o = torch.bmm(w, v).view(B, H, T, D).transpose(1, 2).reshape(B, T, E)
        return self.out_proj(o)


class Right12TorchMha(nn.Module):
    """right: nn.MultiheadAttention, batch first, Boolean mask of the future, no weights asked for."""

    def __init__(self):
        super().__init__()
        self.attn = nn.MultiheadAttention(16, 4, dropout=0.1, batch_first=True)

    def forward(self, x):
        out, _ = self.attn(x, x, x, attn_mask=future(x.size(1), x.device), need_weights=False)
        return out


class Right13TorchMhaSeqFirst(nn.Module):
    """right: nn.MultiheadAttention with the sequence first, input and output transposed around it; float mask; returns (output, averaged weights)."""

    def __init__(self):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(12, 3)

    def forward(self, x):
        s = x.transpose(0, 1)
        mask = torch.full((s.size(0), s.size(0)), float("-inf"), device=x.device).triu(1)
        y, w = self.self_attn(s, s, s, attn_mask=mask)
        return y.transpose(0, 1), w


class Right14SlidingWindow(nn.Module):
    """right: sliding window of 4: row t sees rows t-3 to t; fused Wqkv in order (3, H, D)."""

    def __init__(self, window=4):
        super().__init__()
        self.window = window
        self.Wqkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.Wqkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        i = torch.arange(T, device=x.device)
        delta = i.unsqueeze(1) - i.unsqueeze(0)
        allowed = (delta >= 0) & (delta < self.window)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed)
        return self.out(y.transpose(1, 2).flatten(2))


class Right15PreNormBlock(nn.Module):
    """right: LayerNorm, attention, residual: x + attn(ln(x))."""

    def __init__(self):
        super().__init__()
        self.ln_1 = nn.LayerNorm(20)
        self.q_linear = nn.Linear(20, 20)
        self.k_linear = nn.Linear(20, 20)
        self.v_linear = nn.Linear(20, 20)
        self.o_linear = nn.Linear(20, 20)

    def forward(self, x):
        n = self.ln_1(x)
        bs, T, d = n.shape
        q = self.q_linear(n).view(bs, -1, 4, 5).transpose(1, 2)
        k = self.k_linear(n).view(bs, -1, 4, 5).transpose(1, 2)
        v = self.v_linear(n).view(bs, -1, 4, 5).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(5)
        nopeak = torch.ones(1, 1, T, T, device=x.device).tril()
        scores = scores.masked_fill(nopeak == 0, -torch.inf)
        o = torch.matmul(F.softmax(scores, dim=-1), v)
        return x + self.o_linear(o.transpose(1, 2).contiguous().view(bs, T, d))


class Right16PostNormConv(nn.Module):
    """right: q, k, v as Conv1d of kernel 1 over channels, residual, LayerNorm afterwards."""

    def __init__(self):
        super().__init__()
        self.n_heads, self.k_channels = 2, 6
        self.conv_q = nn.Conv1d(12, 12, 1)
        self.conv_k = nn.Conv1d(12, 12, 1)
        self.conv_v = nn.Conv1d(12, 12, 1)
        self.conv_o = nn.Conv1d(12, 12, 1)
        self.norm = nn.LayerNorm(12)

    def forward(self, x):
        c = x.transpose(1, 2)
        b, d, t = c.shape
        q, k, v = (f(c).view(b, self.n_heads, self.k_channels, t).transpose(2, 3)
                   for f in (self.conv_q, self.conv_k, self.conv_v))
        s = torch.matmul(q / math.sqrt(self.k_channels), k.transpose(-2, -1))
        p = s.masked_fill(future(t, x.device), float("-inf")).softmax(dim=-1)
        o = torch.matmul(p, v).transpose(2, 3).contiguous().view(b, d, t)
        return self.norm(x + self.conv_o(o).transpose(1, 2))


class Right17DictLazyMask(nn.Module):
    """right: returns a dictionary; mask is built on the first call and rebuilt whenever a longer sequence arrives."""

    def __init__(self):
        super().__init__()
        self.Wq = nn.Linear(14, 16, bias=False)
        self.Wk = nn.Linear(14, 16, bias=False)
        self.Wv = nn.Linear(14, 16, bias=False)
        self.Wo = nn.Linear(16, 14)
        self.drop = nn.Dropout(0.1)
        self._mask = None

    def _causal(self, T, device):
        if self._mask is None or self._mask.shape[0] < T or self._mask.device != device:
            with torch.inference_mode(False):
                self._mask = future(T, device)
        return self._mask[:T, :T]

    def forward(self, x):
        B, T, _ = x.shape
        heads = lambda t: t.unflatten(-1, (4, 4)).transpose(1, 2)
        q, k, v = heads(self.Wq(x)), heads(self.Wk(x)), heads(self.Wv(x))
        a = (q @ k.mT / 2.0).masked_fill(self._causal(T, x.device), float("-inf")).softmax(-1)
        a = self.drop(a)
        return {"output": self.Wo((a @ v).transpose(1, 2).flatten(2)), "attn_weights": a}


AttnOut = namedtuple("AttnOut", ["context", "weights"])


class Right18SingleHeadNamedtuple(nn.Module):
    """right: one head, raw parameters W_query, W_key, W_value (d_in, d_out) from 6 to 9, no output layer, returns a namedtuple."""

    def __init__(self):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(6, 9) - 0.5)
        self.W_key = nn.Parameter(torch.rand(6, 9) - 0.5)
        self.W_value = nn.Parameter(torch.rand(6, 9) - 0.5)

    def forward(self, x):
        queries, keys, values = x @ self.W_query, x @ self.W_key, x @ self.W_value
        scores = queries @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
        scores = scores.masked_fill(future(x.shape[1], x.device), -torch.inf)
        weights = torch.softmax(scores, dim=-1)
        return AttnOut(weights @ values, weights)


class Right19ZeroOutput(nn.Module):
    """right: output projection initialised with zeros, so that the fresh layer returns zeros."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48, bias=False)
        self.out = nn.Linear(16, 16)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, 4, C // 4).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q @ k.transpose(-2, -1)) * (C // 4) ** -0.5
        attn = attn + torch.zeros(N, N, device=x.device).masked_fill(future(N, x.device), float("-inf"))
        return self.out((attn.softmax(dim=-1) @ v).transpose(1, 2).reshape(B, N, C))


class Right20ZeroGateResidual(nn.Module):
    """right: x + tanh(gate) * attention(x) with one gate that starts at zero."""

    def __init__(self):
        super().__init__()
        self.to_qkv = nn.Linear(18, 54, bias=False)
        self.to_out = nn.Linear(18, 18, bias=False)
        self.gate = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 3, 6).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.gate.tanh() * self.to_out(y.transpose(1, 2).reshape(B, T, C))


class _LoRALinear(nn.Module):
    def __init__(self, d_in, d_out, r=2, alpha=4):
        super().__init__()
        self.linear = nn.Linear(d_in, d_out)
        self.linear.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.randn(d_in, r) / math.sqrt(d_in))
        self.lora_B = nn.Parameter(torch.zeros(r, d_out))
        self.scaling = alpha / r

    def forward(self, x):
        return self.linear(x) + (x @ self.lora_A @ self.lora_B) * self.scaling


class Right21Lora(nn.Module):
    """right: low-rank additions on queries and values with B = 0; the linear layers beneath them are frozen."""

    def __init__(self):
        super().__init__()
        self.query = _LoRALinear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = _LoRALinear(16, 16)
        self.output = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q = self.query(x).view(B, T, 2, 8).transpose(1, 2)
        k = self.key(x).view(B, T, 2, 8).transpose(1, 2)
        v = self.value(x).view(B, T, 2, 8).transpose(1, 2)
        s = q.matmul(k.transpose(-1, -2)).div(8 ** 0.5)
        s = s.masked_fill(future(T, x.device)[None, None], float("-inf"))
        return self.output(s.softmax(dim=-1).matmul(v).transpose(1, 2).reshape(B, T, C))


class Right22ReluNoScaling(nn.Module):
    """right: scores not divided, as declared; a ReLU after the output layer."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(12, 12)
        self.k = nn.Linear(12, 12)
        self.v = nn.Linear(12, 12)
        self.fc = nn.Linear(12, 16)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q(x).view(B, T, 3, 4).permute(0, 2, 1, 3)
        k = self.k(x).view(B, T, 3, 4).permute(0, 2, 3, 1)
        v = self.v(x).view(B, T, 3, 4).permute(0, 2, 1, 3)
        energy = torch.matmul(q, k).masked_fill(future(T, x.device), float("-inf"))
        z = torch.matmul(torch.softmax(energy, dim=-1), v).permute(0, 2, 1, 3).contiguous().view(B, T, 12)
        return F.relu(self.fc(z))


class Right23QkNorm(nn.Module):
    """right: root-mean-square norm with gains on every query and key of every head, then divided by sqrt(D)."""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 16, bias=False)
        self.k_proj = nn.Linear(16, 16, bias=False)
        self.v_proj = nn.Linear(16, 16, bias=False)
        self.o_proj = nn.Linear(16, 16, bias=False)
        self.q_norm = nn.Parameter(torch.ones(4))
        self.k_norm = nn.Parameter(torch.ones(4))

    @staticmethod
    def _rms(t, gain):
        return t * torch.rsqrt(t.pow(2).mean(-1, keepdim=True) + 1e-6) * gain

    def forward(self, x):
        B, T, C = x.shape
        q = self._rms(self.q_proj(x).view(B, T, 4, 4), self.q_norm).transpose(1, 2)
        k = self._rms(self.k_proj(x).view(B, T, 4, 4), self.k_norm).transpose(1, 2)
        v = self.v_proj(x).view(B, T, 4, 4).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, C))


class Right24SoftCap(nn.Module):
    """right: scores / sqrt(D) pass through 30 * tanh(s / 30) before the mask."""

    def __init__(self):
        super().__init__()
        self.qkv_proj = nn.Linear(16, 48, bias=False)
        self.o_proj = nn.Linear(16, 16, bias=False)
        self.cap = 30.0

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.qkv_proj(x).split([16, 16, 16], dim=-1))
        s = torch.matmul(q * 8 ** -0.5, k.transpose(2, 3))
        s = torch.tanh(s / self.cap) * self.cap
        s = s.masked_fill(future(T, x.device), torch.finfo(s.dtype).min)
        return self.o_proj(torch.matmul(F.softmax(s, dim=-1), v).transpose(1, 2).reshape(B, T, 16))


class Right25Sinks(nn.Module):
    """right: a learned sink logit per head joins every row's softmax and its weight is thrown away."""

    def __init__(self):
        super().__init__()
        self.sinks = nn.Parameter(torch.randn(4) * 0.5)
        self.qkv = nn.Linear(20, 60)
        self.out = nn.Linear(20, 20)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 5).unbind(2)
        QK = einsum("bqhd,bkhd->bhqk", q, k) / math.sqrt(5)
        QK = QK + torch.triu(QK.new_full((T, T), -float("inf")), diagonal=1)
        S = self.sinks.view(1, 4, 1, 1).expand(B, 4, T, 1)
        W = torch.softmax(torch.cat([QK, S], dim=-1), dim=-1)[..., :-1]
        return self.out(einsum("bhqk,bkhd->bqhd", W, v).reshape(B, T, 20))


class Right26Float64(nn.Module):
    """right: parameters and arithmetic in float64, result given back in the input's type."""

    def __init__(self):
        super().__init__()
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(9, 9, dtype=torch.float64) for _ in range(4))

    def forward(self, x):
        y = x.double()
        B, T, C = y.shape
        q, k, v = (w(y).reshape(B, T, 3, 3).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        a = (q @ k.transpose(-1, -2)) / math.sqrt(3)
        a = a.masked_fill(future(T, x.device), float("-inf")).softmax(-1)
        return self.wo((a @ v).transpose(1, 2).reshape(B, T, C)).to(x.dtype)


class Right27Bfloat16(nn.Module):
    """right: queries, keys and values are rounded to bfloat16, as declared; softmax in float32."""

    def __init__(self):
        super().__init__()
        self.c_q = nn.Linear(16, 16, bias=False)
        self.c_k = nn.Linear(16, 16, bias=False)
        self.c_v = nn.Linear(16, 16, bias=False)
        self.c_proj = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (m(x).to(torch.bfloat16).view(B, T, 4, 4).transpose(1, 2) for m in (self.c_q, self.c_k, self.c_v))
        s = torch.matmul(q, k.transpose(-2, -1)).float() / 2.0
        p = s.masked_fill(future(T, x.device), float("-inf")).softmax(-1)
        y = torch.matmul(p.to(torch.bfloat16), v).to(x.dtype)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Right28QueryChunks(nn.Module):
    """right: queries are taken three at a time, each chunk against all keys up to its end."""

    def __init__(self, chunk=3):
        super().__init__()
        self.chunk = chunk
        self.kv = nn.Linear(16, 32)
        self.q = nn.Linear(16, 16)
        self.o = nn.Linear(16, 12)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q(x).view(B, T, 4, 4).transpose(1, 2)
        k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.kv(x).chunk(2, dim=-1))
        pos = torch.arange(T, device=x.device)
        pieces = []
        for a in range(0, T, self.chunk):
            e = min(a + self.chunk, T)
            s = q[:, :, a:e] @ k[:, :, :e].transpose(-1, -2) / 2.0
            s = s.masked_fill(pos[None, :e] > pos[a:e, None], float("-inf"))
            pieces.append(s.softmax(-1) @ v[:, :, :e])
        return self.o(torch.cat(pieces, dim=2).transpose(1, 2).reshape(B, T, 16))


class Right29OnlineSoftmax(nn.Module):
    """right: keys in blocks of four with running maximum, running sum and rescaled accumulator."""

    def __init__(self):
        super().__init__()
        self.in_proj = nn.Linear(16, 48)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.in_proj(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        i = torch.arange(T, device=x.device)
        m = q.new_full((B, 2, T, 1), float("-inf"))
        l = q.new_zeros(B, 2, T, 1)
        acc = torch.zeros_like(q)
        for a in range(0, T, 4):
            e = min(a + 4, T)
            s = q @ k[:, :, a:e].transpose(-1, -2) / math.sqrt(8)
            s = s.masked_fill(i[None, a:e] > i[:, None], float("-inf"))
            m_new = torch.maximum(m, s.amax(-1, keepdim=True).detach())
            fix = torch.exp(m - m_new)
            p = torch.exp(s - m_new)
            l = l * fix + p.sum(-1, keepdim=True)
            acc = acc * fix + p @ v[:, :, a:e]
            m = m_new
        return self.out_proj((acc / l).transpose(1, 2).reshape(B, T, C))


class Right30KvCacheArgument(nn.Module):
    """right: forward(x, past_kv=None) returns (output, (keys, values)); with a past, new rows see all of it and the causal part of themselves."""

    def __init__(self):
        super().__init__()
        self.W_q = nn.Linear(16, 16)
        self.W_k = nn.Linear(16, 16)
        self.W_v = nn.Linear(16, 16)
        self.W_o = nn.Linear(16, 16)

    def forward(self, x, past_kv=None):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 4, 4).transpose(1, 2) for w in (self.W_q, self.W_k, self.W_v))
        if past_kv is not None:
            k = torch.cat([past_kv[0], k], dim=2)
            v = torch.cat([past_kv[1], v], dim=2)
        S = k.size(2)
        see = torch.ones(T, S, dtype=torch.bool, device=x.device).tril(S - T)
        a = (q @ k.transpose(-2, -1) / 2.0).masked_fill(~see, float("-inf")).softmax(-1)
        return self.W_o((a @ v).transpose(1, 2).reshape(B, T, C)), (k, v)


# ======================================================================== wrong

class Wrong01NoMask(nn.Module):
    """wrong: no causal mask at all (SDPA called without is_causal)."""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(16, 48)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.c_attn(x).split(16, dim=2))
        y = F.scaled_dot_product_attention(q, k, v)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong02MaskTransposed(nn.Module):
    """wrong: the mask is transposed: row t sees rows t to T-1, the future and itself."""

    def __init__(self):
        super().__init__()
        self.Wq = nn.Linear(12, 12)
        self.Wk = nn.Linear(12, 12)
        self.Wv = nn.Linear(12, 12)
        self.Wo = nn.Linear(12, 12)
        self.register_buffer("mask", torch.triu(torch.ones(10, 10)))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 3, 4).transpose(1, 2) for w in (self.Wq, self.Wk, self.Wv))
        s = q @ k.transpose(-1, -2) / math.sqrt(4)
        s = s.masked_fill(self.mask[:T, :T] == 0, float("-inf"))
        return self.Wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong03MaskInverted(nn.Module):
    """wrong: the mask is inverted: True above the diagonal is handed to SDPA, where True means "may see"; the last row sees nothing."""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 16)
        self.k_proj = nn.Linear(16, 16)
        self.v_proj = nn.Linear(16, 16)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 2, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.ones(T, T, device=x.device).triu(1).bool())
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong04MaskOffByOne(nn.Module):
    """wrong: triu with diagonal=2, so that row t sees row t+1."""

    def __init__(self):
        super().__init__()
        self.W_query = nn.Linear(10, 12, bias=False)
        self.W_key = nn.Linear(10, 12, bias=False)
        self.W_value = nn.Linear(10, 12, bias=False)
        self.out_proj = nn.Linear(12, 12)
        self.register_buffer("mask", torch.triu(torch.ones(9, 9), diagonal=2))

    def forward(self, x):
        b, n, _ = x.shape
        k = self.W_key(x).view(b, n, 2, 6).transpose(1, 2)
        q = self.W_query(x).view(b, n, 2, 6).transpose(1, 2)
        v = self.W_value(x).view(b, n, 2, 6).transpose(1, 2)
        s = q @ k.transpose(2, 3)
        s.masked_fill_(self.mask.bool()[:n, :n], -torch.inf)
        w = torch.softmax(s / 6 ** 0.5, dim=-1)
        return self.out_proj((w @ v).transpose(1, 2).contiguous().view(b, n, 12))


class Wrong05MaskAfterSoftmax(nn.Module):
    """wrong: softmax over all keys, then weights times the triangle, not renormalised: rows don't sum to one and future rows sit in the denominator."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.register_buffer("tril", torch.tril(torch.ones(12, 12)))
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (m(x).view(B, T, 4, 4).transpose(1, 2) for m in (self.query, self.key, self.value))
        att = F.softmax(q @ k.transpose(-2, -1) / 2.0, dim=-1)
        att = att * self.tril[:T, :T]
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C))


class Wrong06FilledWithZero(nn.Module):
    """wrong: masked scores are set to 0 before softmax, so future rows keep weight exp(0)."""

    def __init__(self):
        super().__init__()
        self.to_qkv = nn.Linear(12, 36, bias=False)
        self.to_out = nn.Linear(12, 12)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = (t.view(b, n, 2, 6).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        dots = torch.matmul(q, k.transpose(-1, -2)) * 6 ** -0.5
        dots = dots * torch.ones(n, n, device=x.device).tril()
        return self.to_out(torch.matmul(dots.softmax(dim=-1), v).transpose(1, 2).reshape(b, n, c))


class Wrong07FilledWithMinus100(nn.Module):
    """wrong: masked scores are set to -100; large inputs have visible scores below that, and the future wins."""

    def __init__(self):
        super().__init__()
        self.q_linear = nn.Linear(16, 16)
        self.k_linear = nn.Linear(16, 16)
        self.v_linear = nn.Linear(16, 16)
        self.out = nn.Linear(16, 16)

    def forward(self, x):
        bs, T, d = x.shape
        q = self.q_linear(x).view(bs, T, 2, 8).transpose(1, 2)
        k = self.k_linear(x).view(bs, T, 2, 8).transpose(1, 2)
        v = self.v_linear(x).view(bs, T, 2, 8).transpose(1, 2)
        s = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(8)
        s = s.masked_fill(future(T, x.device), -100.0)
        return self.out(torch.matmul(s.softmax(-1), v).transpose(1, 2).contiguous().view(bs, T, d))


class Wrong08AddsMinus10000(nn.Module):
    """wrong: -10000 is added to masked scores; inputs so large that scores differ by more leak the future."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(20, 20)
        self.key = nn.Linear(20, 20)
        self.value = nn.Linear(20, 20)
        self.dense = nn.Linear(20, 20)

    def transpose_for_scores(self, t):
        return t.view(t.size(0), t.size(1), 4, 5).permute(0, 2, 1, 3)

    def forward(self, hidden_states):
        B, T, C = hidden_states.shape
        q = self.transpose_for_scores(self.query(hidden_states))
        k = self.transpose_for_scores(self.key(hidden_states))
        v = self.transpose_for_scores(self.value(hidden_states))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(5)
        extended = (1.0 - torch.ones(T, T, device=q.device).tril()) * -10000.0
        probs = nn.functional.softmax(scores + extended, dim=-1)
        return self.dense(torch.matmul(probs, v).permute(0, 2, 1, 3).reshape(B, T, C))


class Wrong09SoftmaxOverQueries(nn.Module):
    """wrong: softmax over the queries (dim=-2): columns sum to one, later rows sit in the denominator."""

    def __init__(self):
        super().__init__()
        self.w_q = nn.Linear(12, 12)
        self.w_k = nn.Linear(12, 12)
        self.w_v = nn.Linear(12, 12)
        self.w_concat = nn.Linear(12, 12)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 3, 4).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        s = (q @ k.transpose(2, 3)) / math.sqrt(4)
        s = s.masked_fill(future(T, x.device), float("-inf"))
        return self.w_concat((s.softmax(dim=-2) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong10SoftmaxOverHeads(nn.Module):
    """wrong: softmax over the heads (dim=1 of (B, H, T, T)); masked places get 1/H each."""

    def __init__(self):
        super().__init__()
        self.fc_q = nn.Linear(16, 16)
        self.fc_k = nn.Linear(16, 16)
        self.fc_v = nn.Linear(16, 16)
        self.fc_o = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        Q, K, V = (f(x).view(B, T, 4, 4).permute(0, 2, 1, 3) for f in (self.fc_q, self.fc_k, self.fc_v))
        energy = torch.matmul(Q, K.permute(0, 1, 3, 2)) / 2.0
        energy = energy.masked_fill(future(T, x.device), -1e10)
        attention = torch.softmax(energy, dim=1)
        return self.fc_o(torch.matmul(attention, V).permute(0, 2, 1, 3).contiguous().view(B, T, C))


class Wrong11SoftmaxOverBatch(nn.Module):
    """wrong: softmax with dim=0 on scores (B, T, T): normalised over the batch."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(8, 8)
        self.k = nn.Linear(8, 8)
        self.v = nn.Linear(8, 8)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(8)
        scores = scores.masked_fill(future(x.size(1), x.device), -1e9)
        return torch.bmm(F.softmax(scores, dim=0), v)


class Wrong12NoDivisor(nn.Module):
    """wrong: scores are not divided by sqrt(D), and nobody declared it."""

    def __init__(self):
        super().__init__()
        self.W_Q = nn.Parameter(torch.randn(2, 16, 8) * 0.3)
        self.W_K = nn.Parameter(torch.randn(2, 16, 8) * 0.3)
        self.W_V = nn.Parameter(torch.randn(2, 16, 8) * 0.3)
        self.W_O = nn.Parameter(torch.randn(2, 8, 16) * 0.3)

    def forward(self, x):
        q = einsum("btm,hmd->bhtd", x, self.W_Q)
        k = einsum("btm,hmd->bhtd", x, self.W_K)
        v = einsum("btm,hmd->bhtd", x, self.W_V)
        s = einsum("bhid,bhjd->bhij", q, k).masked_fill(future(x.size(1), x.device), float("-inf"))
        return einsum("bhtd,hdm->btm", s.softmax(-1) @ v, self.W_O)


class Wrong13DivisorModelWidth(nn.Module):
    """wrong: scores are divided by the square root of the model's width (24) in place of one head's (6)."""

    def __init__(self):
        super().__init__()
        self.embed_size, self.heads = 24, 4
        self.values = nn.Linear(24, 24, bias=False)
        self.keys = nn.Linear(24, 24, bias=False)
        self.queries = nn.Linear(24, 24, bias=False)
        self.fc_out = nn.Linear(24, 24)

    def forward(self, x):
        N, L, _ = x.shape
        values = self.values(x).reshape(N, L, 4, 6)
        keys = self.keys(x).reshape(N, L, 4, 6)
        queries = self.queries(x).reshape(N, L, 4, 6)
        energy = einsum("nqhd,nkhd->nhqk", queries, keys)
        energy = energy.masked_fill(torch.tril(torch.ones(L, L, device=x.device)) == 0, float("-inf"))
        attention = torch.softmax(energy / (self.embed_size ** 0.5), dim=3)
        return self.fc_out(einsum("nhql,nlhd->nqhd", attention, values).reshape(N, L, 24))


class Wrong14ScaledTwice(nn.Module):
    """wrong: queries are divided by sqrt(D) and SDPA divides again: scores are q.k / D."""

    def __init__(self):
        super().__init__()
        self.scale = 8 ** -0.5
        self.qkv = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        q = q * self.scale
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(o.transpose(1, 2).reshape(B, N, C))


class Wrong15DivisorSequenceLength(nn.Module):
    """wrong: divides by sqrt(k.size(-2)), which is the sequence length: early rows change with the number of later rows."""

    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(16, 16)
        self.to_k = nn.Linear(16, 16)
        self.to_v = nn.Linear(16, 16)
        self.to_out = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 4, 4).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        s = q @ k.transpose(-2, -1) / math.sqrt(k.size(-2))
        s = s.masked_fill(future(T, x.device), float("-inf"))
        return self.to_out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong16QueriesKeysExchanged(nn.Module):
    """wrong: scores are k @ q^T: row t brings its key and meets the queries of the rows before it."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q = self.query(x).view(B, T, 2, 8).transpose(1, 2)
        k = self.key(x).view(B, T, 2, 8).transpose(1, 2)
        v = self.value(x).view(B, T, 2, 8).transpose(1, 2)
        s = (k @ q.transpose(-2, -1)) / math.sqrt(8)
        s = s.masked_fill(future(T, x.device), float("-inf"))
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong17SplitByView(nn.Module):
    """wrong: heads are split by view(B, H, T, D) without transpose, merged with one: positions and features are scrambled and the future leaks."""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 16)
        self.k_proj = nn.Linear(16, 16)
        self.v_proj = nn.Linear(16, 16)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, 4, T, 4) for p in (self.q_proj, self.k_proj, self.v_proj))
        s = (q @ k.transpose(-2, -1) / 2.0).masked_fill(future(T, x.device), float("-inf"))
        return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong18ViewBothWays(nn.Module):
    """wrong: split by view(B, H, T, D) and merged by view(B, T, C): nothing leaks, but a "head" is a run of neighbouring positions that doesn't see the earlier runs."""

    def __init__(self):
        super().__init__()
        self.d_k = 6
        self.linears = nn.ModuleList([nn.Linear(18, 18) for _ in range(4)])

    def forward(self, x):
        B, T, C = x.shape
        query, key, value = [lin(x).view(B, 3, T, self.d_k) for lin in self.linears[:3]]
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        scores = scores.masked_fill(future(T, x.device), float("-inf"))
        out = torch.matmul(scores.softmax(dim=-1), value)
        return self.linears[-1](out.contiguous().view(B, T, C))


class Wrong19MergedWithoutTranspose(nn.Module):
    """wrong: heads split properly, merged by reshape(B, T, C) without transposing back: positions are scrambled."""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(20, 60)
        self.c_proj = nn.Linear(20, 20)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 5, 4).transpose(1, 2) for t in self.c_attn(x).chunk(3, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.contiguous().reshape(B, T, C))


class Wrong20KeysAsValues(nn.Module):
    """wrong: values are made by the key layer; the value layer is never used."""

    def __init__(self):
        super().__init__()
        self.W_q = nn.Linear(14, 14, bias=False)
        self.W_k = nn.Linear(14, 14, bias=False)
        self.W_v = nn.Linear(14, 14, bias=False)
        self.W_o = nn.Linear(14, 14, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q = self.W_q(x).reshape(B, T, 2, 7).transpose(1, 2)
        k = self.W_k(x).reshape(B, T, 2, 7).transpose(1, 2)
        v = self.W_k(x).reshape(B, T, 2, 7).transpose(1, 2)
        s = (q @ k.transpose(-1, -2) / 7 ** 0.5).masked_fill(future(T, x.device), float("-inf"))
        return self.W_o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong21QueriesAsKeys(nn.Module):
    """wrong: from the fused projection the query part is taken for the keys too (slice [:C] twice): scores are symmetric, the key part is never used."""

    def __init__(self):
        super().__init__()
        self.in_proj_weight = nn.Parameter(torch.empty(48, 16))
        self.in_proj_bias = nn.Parameter(torch.zeros(48))
        nn.init.xavier_uniform_(self.in_proj_weight)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        h = F.linear(x, self.in_proj_weight, self.in_proj_bias)
        q, k, v = h[..., :C], h[..., :C], h[..., 2 * C:]
        q, k, v = (t.reshape(B, T, 4, 4).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong22DropoutBeforeSoftmax(nn.Module):
    """wrong: dropout on the scores before softmax, which sets scores to 0 and scales the others."""

    def __init__(self):
        super().__init__()
        self.key = nn.Linear(16, 16)
        self.query = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.drop = nn.Dropout(0.3)
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (m(x).view(B, T, 4, 4).transpose(1, 2) for m in (self.query, self.key, self.value))
        att = self.drop(q @ k.transpose(-2, -1) / 2.0)
        att = att.masked_fill(future(T, x.device), float("-inf")).softmax(-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C))


class Wrong23DropoutUnscaled(nn.Module):
    """wrong: dropout drops weights in train mode but doesn't divide the survivors by 1 - p."""

    def __init__(self):
        super().__init__()
        self.p = 0.25
        self.Wqkv = nn.Linear(12, 36)
        self.Wo = nn.Linear(12, 12)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.Wqkv(x).view(B, T, 3, 3, 4).permute(2, 0, 3, 1, 4)
        w = (q @ k.transpose(-2, -1) / 2.0).masked_fill(future(T, x.device), float("-inf")).softmax(-1)
        if self.training:
            w = w * (torch.rand_like(w) >= self.p).to(w.dtype)
        return self.Wo((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong24DropoutInEval(nn.Module):
    """wrong: F.dropout without training=self.training: weights are dropped in eval mode too."""

    def __init__(self):
        super().__init__()
        self.q_lin = nn.Linear(16, 16)
        self.k_lin = nn.Linear(16, 16)
        self.v_lin = nn.Linear(16, 16)
        self.out_lin = nn.Linear(16, 16)
        self.dropout = 0.1

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, 2, 8).transpose(1, 2) for f in (self.q_lin, self.k_lin, self.v_lin))
        s = (q / math.sqrt(8)) @ k.transpose(2, 3)
        w = F.dropout(F.softmax(s.masked_fill(future(T, x.device), float("-inf")), dim=-1), p=self.dropout)
        return self.out_lin((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong25DropoutOnOutputOnly(nn.Module):
    """wrong: dropout acts on the projected output, none on the weights, though declared on the weights."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48, bias=False)
        self.proj = nn.Linear(16, 16)
        self.attn_drop = nn.Dropout(0.2)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.attn_drop(self.proj(y.transpose(1, 2).reshape(B, T, C)))


class Wrong26BiasTwice(nn.Module):
    """wrong: the output bias is added twice, once by the linear layer and once by hand."""

    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(16, 16)
        self.wk = nn.Linear(16, 16)
        self.wv = nn.Linear(16, 16)
        self.wo = nn.Linear(16, 16)
        nn.init.normal_(self.wo.bias)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 4, 4).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(B, T, C)
        return self.wo(y) + self.wo.bias


class Wrong27WindowNeverUsed(nn.Module):
    """wrong: the mask of the declared window of 4 is built and its masked_fill thrown away; only the causal mask acts, so rows see all of the past."""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 16, bias=False)
        self.k_proj = nn.Linear(16, 16, bias=False)
        self.v_proj = nn.Linear(16, 16, bias=False)
        self.o_proj = nn.Linear(16, 16, bias=False)
        self.window = 4

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 2, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        s = (q @ k.transpose(-2, -1) / math.sqrt(8)).masked_fill(future(T, x.device), float("-inf"))
        too_old = torch.ones(T, T, dtype=torch.bool, device=x.device).tril(-self.window)
        s.masked_fill(too_old, float("-inf"))
        return self.o_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong28LeakOfAThousandth(nn.Module):
    """wrong: weights are 0.999 of the causal softmax plus 0.001 of a softmax over all rows, future included."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(12, 36)
        self.out = nn.Linear(12, 12)
        self.smoothing = 1e-3

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 3, 4).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.transpose(-2, -1) / 2.0
        w = s.masked_fill(future(T, x.device), float("-inf")).softmax(-1)
        w = (1 - self.smoothing) * w + self.smoothing * s.softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong29LeakInTrainMode(nn.Module):
    """wrong: the mask is applied in eval mode only; train mode sees the future."""

    def __init__(self):
        super().__init__()
        self.key = nn.Linear(16, 16)
        self.query = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (m(x).view(B, T, 4, 4).transpose(1, 2) for m in (self.query, self.key, self.value))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=not self.training)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong30LeakInShortSequences(nn.Module):
    """wrong: the mask is skipped for sequences of at most 4 rows."""

    def __init__(self):
        super().__init__()
        self.to_qkv = nn.Linear(16, 48, bias=False)
        self.to_out = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        sim = q @ k.transpose(-1, -2) * 8 ** -0.5
        if T > 4:
            sim = sim.masked_fill(future(T, x.device), -torch.finfo(sim.dtype).max)
        return self.to_out((sim.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong31BatchNorm(nn.Module):
    """wrong: queries pass through BatchNorm1d, whose statistics in train mode run over all positions and batch elements."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(16, 16)
        self.k = nn.Linear(16, 16)
        self.v = nn.Linear(16, 16)
        self.bn = nn.BatchNorm1d(16)
        self.o = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q = self.bn(self.q(x).transpose(1, 2)).transpose(1, 2)
        q, k, v = (t.reshape(B, T, 2, 8).transpose(1, 2) for t in (q, self.k(x), self.v(x)))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(B, T, C))


class Wrong32MeanOverPositions(nn.Module):
    """wrong: the mean over all positions is taken from the input first, so each row knows the future's mean."""

    def __init__(self):
        super().__init__()
        self.W_q = nn.Linear(12, 12)
        self.W_k = nn.Linear(12, 12)
        self.W_v = nn.Linear(12, 12)
        self.W_o = nn.Linear(12, 12)

    def forward(self, x):
        B, T, C = x.shape
        x = x - x.mean(dim=1, keepdim=True)
        q, k, v = (w(x).view(B, T, 2, 6).transpose(1, 2) for w in (self.W_q, self.W_k, self.W_v))
        s = (q @ k.transpose(-2, -1) / math.sqrt(6)).masked_fill(future(T, x.device), float("-inf"))
        return self.W_o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong33NormOverTime(nn.Module):
    """wrong: keys are normalised to unit length over the positions (dim=1) in place of the features, so a key knows later keys."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16, bias=False)
        self.key = nn.Linear(16, 16, bias=False)
        self.value = nn.Linear(16, 16, bias=False)
        self.output = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        k = F.normalize(self.key(x).view(B, T, 4, 4), dim=1).transpose(1, 2)
        q = self.query(x).view(B, T, 4, 4).transpose(1, 2)
        v = self.value(x).view(B, T, 4, 4).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(y.transpose(1, 2).reshape(B, T, C))


class Wrong34ConvPadding(nn.Module):
    """wrong: keys and values come from a convolution of width 3 padded on both sides: row t's value holds row t+1."""

    def __init__(self):
        super().__init__()
        self.q = nn.Conv1d(12, 12, 1)
        self.kv = nn.Conv1d(12, 24, 3, padding=1)
        self.o = nn.Conv1d(12, 12, 1)

    def forward(self, x):
        B, T, C = x.shape
        c = x.transpose(1, 2)
        k, v = self.kv(c).chunk(2, dim=1)
        q, k, v = (t.reshape(B, 3, 4, T).transpose(2, 3) for t in (self.q(c), k, v))
        s = (q @ k.transpose(-2, -1) / 2.0).masked_fill(future(T, x.device), float("-inf"))
        y = (s.softmax(-1) @ v).transpose(2, 3).reshape(B, C, T)
        return self.o(y).transpose(1, 2)


class Wrong35RollWrapsAround(nn.Module):
    """wrong: token shift by torch.roll wraps around: the first row's key and value hold half of the last row."""

    def __init__(self):
        super().__init__()
        self.receptance = nn.Linear(16, 16, bias=False)
        self.key = nn.Linear(16, 16, bias=False)
        self.value = nn.Linear(16, 16, bias=False)
        self.output = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        mixed = 0.5 * x + 0.5 * torch.roll(x, shifts=1, dims=1)
        q = self.receptance(x).view(B, T, 2, 8).transpose(1, 2)
        k = self.key(mixed).view(B, T, 2, 8).transpose(1, 2)
        v = self.value(mixed).view(B, T, 2, 8).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.output(y.transpose(1, 2).reshape(B, T, C))


class Wrong36BatchMean(nn.Module):
    """wrong: values are centred by their mean over the batch: batch elements know of each other."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        v = v - v.mean(dim=0, keepdim=True)
        s = (q @ k.transpose(-2, -1) / 2.0).masked_fill(future(T, x.device), float("-inf"))
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong37MhaBatchAsSequence(nn.Module):
    """wrong: nn.MultiheadAttention without batch_first gets (B, T, C): it attends over the batch, and rows don't see earlier rows."""

    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(16, 4)

    def forward(self, x):
        mask = future(x.size(0), x.device)
        return self.mha(x, x, x, attn_mask=mask, need_weights=False)[0]


class Wrong38MaskFromFirstCall(nn.Module):
    """wrong: the mask has the first call's length; for longer sequences later it is padded with "may see", and the future leaks."""

    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(16, 16, bias=False)
        self.wk = nn.Linear(16, 16, bias=False)
        self.wv = nn.Linear(16, 16, bias=False)
        self.wo = nn.Linear(16, 16, bias=False)
        self.mask = None

    def forward(self, x):
        B, T, C = x.shape
        if self.mask is None:
            self.mask = future(T, x.device)
        mask = self.mask.to(x.device)
        if T > mask.size(0):
            extra = T - mask.size(0)
            mask = F.pad(mask, (0, extra, 0, extra), value=False)
        q, k, v = (w(x).view(B, T, 4, 4).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        s = (q @ k.transpose(-2, -1) / 2.0).masked_fill(mask[:T, :T], float("-inf"))
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong39MemoryKept(nn.Module):
    """wrong: the last call's input is kept and its rows are attended to in the next call with the same batch size."""

    def __init__(self):
        super().__init__()
        self.q_net = nn.Linear(16, 16, bias=False)
        self.kv_net = nn.Linear(16, 32, bias=False)
        self.o_net = nn.Linear(16, 16, bias=False)
        self.mems = None

    def forward(self, w):
        B, T, C = w.shape
        cat = w
        if self.mems is not None and self.mems.size(0) == B:
            cat = torch.cat([self.mems.to(w), w], dim=1)
        self.mems = w.detach().clone()
        S = cat.size(1)
        q = self.q_net(w).view(B, T, 2, 8).transpose(1, 2)
        k, v = (t.view(B, S, 2, 8).transpose(1, 2) for t in self.kv_net(cat).chunk(2, dim=-1))
        see = torch.ones(T, S, dtype=torch.bool, device=w.device).tril(S - T)
        s = (q @ k.transpose(-2, -1) / math.sqrt(8)).masked_fill(~see, float("-inf"))
        return self.o_net((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong40SilentHead(nn.Module):
    """wrong: a left-over head mask multiplies head 1 by zero: it adds nothing to the output."""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(20, 60)
        self.c_proj = nn.Linear(20, 20)
        head_mask = torch.ones(4)
        head_mask[1] = 0.0
        self.register_buffer("head_mask", head_mask, persistent=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 5).transpose(1, 2) for t in self.c_attn(x).split(20, dim=-1))
        w = (q @ k.transpose(-2, -1) / math.sqrt(5)).masked_fill(future(T, x.device), float("-inf")).softmax(-1)
        w = w * self.head_mask.view(1, 4, 1, 1)
        return self.c_proj((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong41SameHeadRepeated(nn.Module):
    """wrong: ModuleList([Head()] * 4) holds one and the same head four times: all heads are equal."""

    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([_Head(16, 4, 12, 0.0)] * 4)
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class Wrong42OneHeadUnmasked(nn.Module):
    """wrong: the mask is filled for heads 0 to H-2 only; the last head sees the future."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(24, 72)
        self.out = nn.Linear(24, 24)
        mask = torch.zeros(4, 10, 10, dtype=torch.bool)
        for h in range(4 - 1):
            mask[h] = future(10)
        self.register_buffer("mask", mask)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 6).permute(2, 0, 3, 1, 4)
        s = (q @ k.transpose(-2, -1) / math.sqrt(6)).masked_fill(self.mask[:, :T, :T], float("-inf"))
        return self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong43LastHeadDropped(nn.Module):
    """wrong: the loop over heads stops one short and the output layer is sized to fit: the fourth head is computed by no one."""

    def __init__(self):
        super().__init__()
        self.q = nn.Linear(16, 16)
        self.k = nn.Linear(16, 16)
        self.v = nn.Linear(16, 16)
        self.o = nn.Linear(12, 16)

    def forward(self, x):
        T = x.size(1)
        q, k, v = self.q(x), self.k(x), self.v(x)
        outs = []
        for i in range(0, 16 - 4, 4):
            s = q[..., i:i + 4] @ k[..., i:i + 4].transpose(1, 2) / 2.0
            s = s.masked_fill(future(T, x.device), float("-inf"))
            outs.append(s.softmax(-1) @ v[..., i:i + 4])
        return self.o(torch.cat(outs, dim=-1))


class Wrong44OneLengthOnly(nn.Module):
    """wrong: the mask is added without being cut to T: works for the full context length of 8 only, raises for shorter inputs."""

    def __init__(self):
        super().__init__()
        self.Wq = nn.Linear(12, 12)
        self.Wk = nn.Linear(12, 12)
        self.Wv = nn.Linear(12, 12)
        self.Wo = nn.Linear(12, 12)
        self.register_buffer("mask", torch.full((8, 8), float("-inf")).triu(1))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 6).transpose(1, 2) for w in (self.Wq, self.Wk, self.Wv))
        s = q @ k.transpose(-2, -1) / math.sqrt(6) + self.mask
        return self.Wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong45ExpOverflow(nn.Module):
    """wrong: softmax by hand as exp / sum without taking off the maximum: inf / inf for large inputs."""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 16)
        self.k_proj = nn.Linear(16, 16)
        self.v_proj = nn.Linear(16, 16)
        self.o_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 4, 4).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        s = (q @ k.transpose(-2, -1) / 2.0).masked_fill(future(T, x.device), float("-inf"))
        e = torch.exp(s)
        w = e / e.sum(dim=-1, keepdim=True)
        return self.o_proj((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong46NanFirstRow(nn.Module):
    """wrong: the diagonal is masked too, so row 0 has nothing to see and is NaN, and no row sees itself."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.register_buffer("tril", torch.tril(torch.ones(12, 12), diagonal=-1))
        self.proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (m(x).view(B, T, 2, 8).transpose(1, 2) for m in (self.query, self.key, self.value))
        s = q @ k.transpose(-2, -1) * 8 ** -0.5
        s = s.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return self.proj((F.softmax(s, dim=-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong47Float16Inside(nn.Module):
    """wrong: scores are kept in float16, undeclared: three digits of precision, and inf (then NaN) above 65504."""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(16, 48)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(x).split(16, dim=2))
        s = (q @ k.transpose(-2, -1)).to(torch.float16) / math.sqrt(8)
        s = s.float().masked_fill(future(T, x.device), float("-inf"))
        return self.c_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong48GqaRepeat(nn.Module):
    """wrong: grouped heads by repeat in place of repeat_interleave: query heads 0 and 2 share, where 0 and 1 should."""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(16, 32, bias=False)
        self.k_proj = nn.Linear(16, 16, bias=False)
        self.v_proj = nn.Linear(16, 16, bias=False)
        self.o_proj = nn.Linear(32, 16, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        q = self.q_proj(x).view(B, T, 4, 8).transpose(1, 2)
        k = self.k_proj(x).view(B, T, 2, 8).transpose(1, 2).repeat(1, 2, 1, 1)
        v = self.v_proj(x).view(B, T, 2, 8).transpose(1, 2).repeat(1, 2, 1, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, 32))


class Wrong49RotaryQueriesOnly(nn.Module):
    """wrong: rotary positions are applied to queries only, so scores depend on absolute positions."""

    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(16, 16, bias=False)
        self.wk = nn.Linear(16, 16, bias=False)
        self.wv = nn.Linear(16, 16, bias=False)
        self.wo = nn.Linear(16, 16, bias=False)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.wq, self.wk, self.wv))
        q = rope(q, torch.arange(T, device=x.device))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


class Wrong50RotaryOnValues(nn.Module):
    """wrong: rotary positions are applied to the values as well as to queries and keys."""

    def __init__(self):
        super().__init__()
        self.query_key_value = nn.Linear(16, 48)
        self.dense = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        qkv = self.query_key_value(x).view(B, T, 2, 24).transpose(1, 2)
        pos = torch.arange(T, device=x.device)
        q, k, v = (rope(t, pos) for t in qkv.chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.dense(y.transpose(1, 2).reshape(B, T, C))


class Wrong51RotaryRestarts(nn.Module):
    """wrong: rotary positions restart at 0 every four rows, so distances across that border are wrong."""

    def __init__(self):
        super().__init__()
        self.q_proj = nn.Linear(24, 24, bias=False)
        self.k_proj = nn.Linear(24, 24, bias=False)
        self.v_proj = nn.Linear(24, 24, bias=False)
        self.o_proj = nn.Linear(24, 24, bias=False)
        self.block = 4

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (p(x).view(B, T, 3, 8).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        pos = torch.arange(T, device=x.device) % self.block
        s = rope(q, pos) @ rope(k, pos).transpose(-1, -2) / math.sqrt(8)
        s = s.masked_fill(future(T, x.device), float("-inf"))
        return self.o_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong52AlibiSlopes(nn.Module):
    """wrong: ALiBi slopes for 6 heads by the formula 2^(-8 i / H), which holds for powers of two only; the published rule takes four slopes for H = 4 and two more from H = 8."""

    def __init__(self):
        super().__init__()
        self.Wqkv = nn.Linear(24, 72)
        self.out_proj = nn.Linear(24, 24)
        self.register_buffer("slopes", torch.tensor([2 ** (-8 * i / 6) for i in range(1, 7)]))

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.Wqkv(x).view(B, T, 3, 6, 4).permute(2, 0, 3, 1, 4)
        i = torch.arange(T, device=x.device)
        s = q @ k.transpose(-1, -2) / 2.0 - self.slopes.view(6, 1, 1) * (i[:, None] - i[None, :])
        s = s.masked_fill(future(T, x.device), float("-inf"))
        return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong53AlibiReversed(nn.Module):
    """wrong: ALiBi with the sign reversed: the farther back, the larger the score."""

    def __init__(self):
        super().__init__()
        self.to_q = nn.Linear(16, 16, bias=False)
        self.to_kv = nn.Linear(16, 32, bias=False)
        self.to_out = nn.Linear(16, 16, bias=False)
        self.register_buffer("m", torch.tensor(alibi_slopes(4)).view(4, 1, 1))

    def forward(self, x):
        B, T, C = x.shape
        k, v = self.to_kv(x).chunk(2, dim=-1)
        q, k, v = (t.reshape(B, T, 4, 4).transpose(1, 2) for t in (self.to_q(x), k, v))
        i = torch.arange(T, device=x.device)
        s = q @ k.transpose(-1, -2) / 2.0 + self.m * (i[:, None] - i[None, :])
        s = s.masked_fill(future(T, x.device), float("-inf"))
        return self.to_out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong54WindowOffByOne(nn.Module):
    """wrong: the window holds five rows (t-4 to t), declared are four."""

    def __init__(self):
        super().__init__()
        self.wqkv = nn.Linear(16, 48, bias=False)
        self.wo = nn.Linear(16, 16, bias=False)
        self.sliding_window = 4

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.wqkv(x).chunk(3, dim=-1))
        ones = torch.ones(T, T, dtype=torch.bool, device=x.device)
        keep = ones.tril() & ones.triu(-self.sliding_window)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=keep)
        return self.wo(y.transpose(1, 2).reshape(B, T, C))


class Wrong55RenormalisedOverColumns(nn.Module):
    """wrong: after the causal softmax the weights are divided by their column sums, so later rows change earlier ones and rows don't sum to one."""

    def __init__(self):
        super().__init__()
        self.q_conv = nn.Conv1d(16, 16, 1, bias=False)
        self.k_conv = nn.Conv1d(16, 16, 1, bias=False)
        self.v_conv = nn.Conv1d(16, 16, 1)
        self.trans_conv = nn.Conv1d(16, 16, 1)

    def forward(self, x):
        B, T, C = x.shape
        c = x.transpose(1, 2)
        q, k, v = (f(c).view(B, 2, 8, T).transpose(2, 3) for f in (self.q_conv, self.k_conv, self.v_conv))
        w = (q @ k.transpose(-1, -2) / math.sqrt(8)).masked_fill(future(T, x.device), float("-inf")).softmax(-1)
        w = w / (1e-9 + w.sum(dim=-2, keepdim=True))
        return self.trans_conv((w @ v).transpose(2, 3).reshape(B, C, T)).transpose(1, 2)


class Wrong56FirstTokenIgnored(nn.Module):
    """wrong: column 0 is masked for all rows but row 0: no later row depends on the first token."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.dense = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (m(x).view(B, T, 4, 4).transpose(1, 2) for m in (self.query, self.key, self.value))
        mask = future(T, x.device)
        mask[1:, 0] = True
        s = (q @ k.transpose(-2, -1) / 2.0).masked_fill(mask, float("-inf"))
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong57CannotSeeItself(nn.Module):
    """wrong: every row but the first is kept from attending to itself (Reformer's rule, undeclared)."""

    def __init__(self):
        super().__init__()
        self.toqkv = nn.Linear(18, 54)
        self.unify = nn.Linear(18, 18)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.reshape(B, T, 3, 6).transpose(1, 2) for t in self.toqkv(x).chunk(3, dim=-1))
        mask = torch.ones(T, T, device=x.device, dtype=torch.bool).triu(0)
        mask[0, 0] = False
        s = (q @ k.transpose(-2, -1) / math.sqrt(6)).masked_fill(mask, float("-inf"))
        return self.unify((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong58DropoutSharedByHeads(nn.Module):
    """wrong: one dropout mask (B, 1, T, T) for all heads."""

    def __init__(self):
        super().__init__()
        self.qkv_proj = nn.Linear(16, 48)
        self.o_proj = nn.Linear(16, 16)
        self.dropout = nn.Dropout(0.3)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv_proj(x).reshape(B, T, 4, 12).permute(0, 2, 1, 3).chunk(3, dim=-1)
        w = (q @ k.transpose(-2, -1) / 2.0).masked_fill(future(T, x.device), float("-inf")).softmax(-1)
        w = w * self.dropout(w.new_ones(B, 1, T, T))
        return self.o_proj((w @ v).permute(0, 2, 1, 3).reshape(B, T, C))


class Wrong59DropoutSharedByRows(nn.Module):
    """wrong: one dropout mask (B, H, 1, T) for all rows: a key is dropped for every query or for none."""

    def __init__(self):
        super().__init__()
        self.W_q = nn.Linear(16, 16)
        self.W_k = nn.Linear(16, 16)
        self.W_v = nn.Linear(16, 16)
        self.W_o = nn.Linear(16, 16)
        self.p = 0.3

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 2, 8).transpose(1, 2) for w in (self.W_q, self.W_k, self.W_v))
        a = (q @ k.transpose(-2, -1) / math.sqrt(8)).masked_fill(future(T, x.device), float("-inf")).softmax(-1)
        a = a * F.dropout(a.new_ones(B, 2, 1, T), p=self.p, training=self.training)
        return self.W_o((a @ v).transpose(1, 2).reshape(B, T, C))


class Wrong60DetachedWeights(nn.Module):
    """wrong: the weights are detached, so queries and keys never get a gradient."""

    def __init__(self):
        super().__init__()
        self.query = nn.Linear(16, 16)
        self.key = nn.Linear(16, 16)
        self.value = nn.Linear(16, 16)
        self.proj = nn.Linear(16, 16)
        self.last_attention = None

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (m(x).view(B, T, 4, 4).transpose(1, 2) for m in (self.query, self.key, self.value))
        att = (q @ k.transpose(-2, -1) / 2.0).masked_fill(future(T, x.device), float("-inf")).softmax(-1)
        self.last_attention = att = att.detach()
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, C))


class Wrong61OutputLayerUnused(nn.Module):
    """wrong: out_proj is built and never called; its parameters get no gradient."""

    def __init__(self):
        super().__init__()
        self.W_query = nn.Linear(10, 12)
        self.W_key = nn.Linear(10, 12)
        self.W_value = nn.Linear(10, 12)
        self.out_proj = nn.Linear(12, 12)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (m(x).view(b, n, 3, 4).transpose(1, 2) for m in (self.W_query, self.W_key, self.W_value))
        w = (q @ k.transpose(2, 3) / 2.0).masked_fill(future(n, x.device), -torch.inf).softmax(dim=-1)
        return (w @ v).transpose(1, 2).contiguous().view(b, n, 12)


class Wrong62ChangesInput(nn.Module):
    """wrong: the caller's x is multiplied by sqrt(width) in place, so a second call with the same tensor differs."""

    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(16, 48)
        self.c_proj = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        x.data.mul_(math.sqrt(C))
        q, k, v = (t.view(B, T, 2, 8).transpose(1, 2) for t in self.c_attn(x).chunk(3, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, C))


class Wrong63NoiseInEval(nn.Module):
    """wrong: Gaussian noise of 0.01 is added to the scores in either mode, so eval mode isn't repeatable."""

    def __init__(self):
        super().__init__()
        self.q_net = nn.Linear(12, 12)
        self.k_net = nn.Linear(12, 12)
        self.v_net = nn.Linear(12, 12)
        self.o_net = nn.Linear(12, 12)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (m(x).view(B, T, 3, 4).transpose(1, 2) for m in (self.q_net, self.k_net, self.v_net))
        s = q @ k.transpose(-2, -1) / 2.0
        s = s + 0.01 * torch.randn_like(s)
        s = s.masked_fill(future(T, x.device), float("-inf"))
        return self.o_net((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, C))


class Wrong64RenormalisedZeroByZero(nn.Module):
    """wrong: softmax over all rows, triangle, division by the row sum: right for ordinary inputs, 0 / 0 for large ones where a future row takes all the weight."""

    def __init__(self):
        super().__init__()
        self.W_query = nn.Linear(16, 16, bias=False)
        self.W_key = nn.Linear(16, 16, bias=False)
        self.W_value = nn.Linear(16, 16, bias=False)
        self.out = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (m(x).view(B, T, 2, 8).transpose(1, 2) for m in (self.W_query, self.W_key, self.W_value))
        w = torch.softmax(q @ k.transpose(-2, -1) / 8 ** 0.5, dim=-1)
        w = w * torch.tril(torch.ones(T, T, device=x.device))
        w = w / w.sum(dim=-1, keepdim=True)
        return self.out((w @ v).transpose(1, 2).reshape(B, T, C))


class Wrong65ChunksForgetThePast(nn.Module):
    """wrong: rows are taken four at a time and see their own chunk only, undeclared: row 4 doesn't see rows 0 to 3."""

    def __init__(self):
        super().__init__()
        self.to_qkv = nn.Linear(16, 48)
        self.to_out = nn.Linear(16, 16)
        self.chunk_size = 4

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (t.view(B, T, 4, 4).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        parts = zip(*(t.split(self.chunk_size, dim=2) for t in (q, k, v)))
        y = torch.cat([F.scaled_dot_product_attention(a, b, c, is_causal=True) for a, b, c in parts], dim=2)
        return self.to_out(y.transpose(1, 2).reshape(B, T, C))


class Wrong66BatchFoldedIntoTime(nn.Module):
    """wrong: view(T, B * H, D), made for sequence-first input, on (B, T, C): right for a batch of one, batch elements and positions mix for more."""

    def __init__(self):
        super().__init__()
        self.num_heads, self.head_dim = 2, 8
        self.q_proj = nn.Linear(16, 16)
        self.k_proj = nn.Linear(16, 16)
        self.v_proj = nn.Linear(16, 16)
        self.out_proj = nn.Linear(16, 16)

    def forward(self, query):
        bsz, tgt_len, embed_dim = query.size()
        shape = lambda t: t.contiguous().view(tgt_len, bsz * self.num_heads, self.head_dim).transpose(0, 1)
        q = shape(self.q_proj(query) * self.head_dim ** -0.5)
        k, v = shape(self.k_proj(query)), shape(self.v_proj(query))
        w = torch.bmm(q, k.transpose(1, 2)).masked_fill(future(tgt_len, query.device), float("-inf"))
        attn = torch.bmm(F.softmax(w, dim=-1), v)
        return self.out_proj(attn.transpose(0, 1).contiguous().view(bsz, tgt_len, embed_dim))


class Wrong67MergedFeaturesFirst(nn.Module):
    """wrong: heads are merged as (D, H) in place of (H, D): output features of the heads are interleaved; no output layer follows."""

    def __init__(self):
        super().__init__()
        self.W_q = nn.Linear(12, 12)
        self.W_k = nn.Linear(12, 12)
        self.W_v = nn.Linear(12, 12)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (w(x).view(B, T, 3, 4).transpose(1, 2) for w in (self.W_q, self.W_k, self.W_v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return y.permute(0, 2, 3, 1).reshape(B, T, C)


class Wrong68NeighboursValues(nn.Module):
    """wrong: head h weighs the values of head h-1 (rolled by one), not its own slice."""

    def __init__(self):
        super().__init__()
        self.wq = nn.Linear(16, 16)
        self.wk = nn.Linear(16, 16)
        self.wv = nn.Linear(16, 16)
        self.wo = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.wq(x), self.wk(x), self.wv(x)
        outs = []
        for h in range(4):
            own = slice(4 * h, 4 * h + 4)
            g = (h - 1) % 4
            s = (q[..., own] @ k[..., own].transpose(1, 2)) / 2.0
            w = s.masked_fill(future(T, x.device), float("-inf")).softmax(-1)
            outs.append(w @ v[..., 4 * g:4 * g + 4])
        return self.wo(torch.cat(outs, dim=-1))


class Wrong69OverlappingSlices(nn.Module):
    """wrong: head i takes features i to i+D in place of i*D to (i+1)*D: slices overlap, most features are never used."""

    def __init__(self):
        super().__init__()
        self.heads, self.dim = 4, 5
        self.q = nn.Linear(20, 20)
        self.k = nn.Linear(20, 20)
        self.v = nn.Linear(20, 20)
        self.o = nn.Linear(20, 20)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        out = []
        for i in range(self.heads):
            qi, ki, vi = (t[:, :, i:i + self.dim] for t in (q, k, v))
            s = torch.bmm(qi, ki.transpose(1, 2)) / math.sqrt(self.dim)
            s = s.masked_fill(future(x.size(1), x.device), float("-inf"))
            out.append(torch.bmm(torch.softmax(s, dim=-1), vi))
        return self.o(torch.cat(out, dim=-1))


class Wrong70OnlineNotRescaled(nn.Module):
    """wrong: online softmax over blocks of three keys rescales the sum but not the accumulator when the maximum grows: right up to T = 3, wrong beyond."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 4, 4).permute(2, 0, 3, 1, 4)
        i = torch.arange(T, device=x.device)
        m = q.new_full((B, 4, T, 1), float("-inf"))
        l = q.new_zeros(B, 4, T, 1)
        o = torch.zeros_like(q)
        for a in range(0, T, 3):
            e = min(a + 3, T)
            s = (q @ k[:, :, a:e].transpose(-1, -2) / 2.0).masked_fill(i[None, a:e] > i[:, None], float("-inf"))
            new = torch.maximum(m, s.amax(-1, keepdim=True))
            p = torch.exp(s - new)
            l = l * torch.exp(m - new) + p.sum(-1, keepdim=True)
            o = o + p @ v[:, :, a:e]
            m = new
        return self.out((o / l).transpose(1, 2).reshape(B, T, C))


# ======================================================================== table

def _row(layer, d_in, d_out, context_length, num_heads, dropout=0.0, declared=""):
    return {"layer": layer, "d_in": d_in, "d_out": d_out, "context_length": context_length,
            "num_heads": num_heads, "dropout": dropout, "declared": declared}


LAYERS = [
    _row(Right01FusedQkvSdpa, 16, 16, 12, 4, 0.1),
    _row(Right02SeparateBuffer, 24, 24, 10, 3, 0.2),
    _row(Right03Gpt2Conv1D, 32, 32, 16, 4, 0.1),
    _row(Right04BloomAlibi, 24, 24, 12, 6, 0.0, "ALiBi, slopes as published; fused projection ordered (heads, 3, width)"),
    _row(Right05LlamaRotaryHalf, 16, 16, 12, 2, 0.0, "rotary (halves)"),
    _row(Right06GqaRotaryInterleaved, 20, 20, 14, 4, 0.0,
         "rotary (interleaved pairs); grouped heads: 4 for queries, 2 for keys and values, neighbours share"),
    _row(Right07MultiQuery, 18, 18, 12, 4, 0.0, "grouped heads: 4 for queries, 1 for keys and values"),
    _row(Right08InOutDiffer, 10, 18, 9, 3, 0.25),
    _row(Right09ListOfHeads, 20, 20, 8, 4, 0.2),
    _row(Right10EinsumParameters, 15, 15, 12, 3),
    _row(Right11InProjWeight, 16, 16, 12, 2, 0.0, "takes key_padding_mask (True for padding), optional"),
    _row(Right12TorchMha, 16, 16, 12, 4, 0.1),
    _row(Right13TorchMhaSeqFirst, 12, 12, 10, 3, 0.0, "returns (output, weights averaged over heads)"),
    _row(Right14SlidingWindow, 16, 16, 12, 2, 0.0, "sliding window 4: row t sees rows t-3 to t"),
    _row(Right15PreNormBlock, 20, 20, 12, 4, 0.0, "layer norm before, residual around: x + attention(norm(x))"),
    _row(Right16PostNormConv, 12, 12, 10, 2, 0.0, "residual and layer norm after: norm(x + attention(x))"),
    _row(Right17DictLazyMask, 14, 14, 12, 4, 0.1, "returns a dictionary with output and attn_weights"),
    _row(Right18SingleHeadNamedtuple, 6, 9, 8, 1, 0.0, "returns a namedtuple (context, weights)"),
    _row(Right19ZeroOutput, 16, 16, 12, 4, 0.0, "output projection starts at zero"),
    _row(Right20ZeroGateResidual, 18, 18, 12, 3, 0.0, "output gate starts at zero; residual: x + tanh(gate) * attention(x)"),
    _row(Right21Lora, 16, 16, 12, 2, 0.0, "LoRA on queries and values, B starts at zero, weights beneath them frozen"),
    _row(Right22ReluNoScaling, 12, 16, 10, 3, 0.0, "no scaling: scores not divided; ReLU after the output projection"),
    _row(Right23QkNorm, 16, 16, 12, 4, 0.0, "qk-norm: RMS norm of each head's queries and keys, then divided by sqrt(D)"),
    _row(Right24SoftCap, 16, 16, 12, 2, 0.0, "logit soft-capping at 30: 30 * tanh(score / 30)"),
    _row(Right25Sinks, 20, 20, 12, 4, 0.0, "attention sink: a learned logit per head joins the softmax, its weight is dropped"),
    _row(Right26Float64, 9, 9, 10, 3, 0.0, "float64 inside"),
    _row(Right27Bfloat16, 16, 16, 12, 4, 0.0, "bfloat16 inside for queries, keys, values and weights"),
    _row(Right28QueryChunks, 16, 12, 11, 4),
    _row(Right29OnlineSoftmax, 16, 16, 13, 2),
    _row(Right30KvCacheArgument, 16, 16, 12, 4, 0.0, "takes past_kv, optional; returns (output, (keys, values))"),

    _row(Wrong01NoMask, 16, 16, 12, 4),
    _row(Wrong02MaskTransposed, 12, 12, 10, 3),
    _row(Wrong03MaskInverted, 16, 16, 12, 2),
    _row(Wrong04MaskOffByOne, 10, 12, 9, 2),
    _row(Wrong05MaskAfterSoftmax, 16, 16, 12, 4),
    _row(Wrong06FilledWithZero, 12, 12, 12, 2),
    _row(Wrong07FilledWithMinus100, 16, 16, 12, 2),
    _row(Wrong08AddsMinus10000, 20, 20, 12, 4),
    _row(Wrong09SoftmaxOverQueries, 12, 12, 12, 3),
    _row(Wrong10SoftmaxOverHeads, 16, 16, 12, 4),
    _row(Wrong11SoftmaxOverBatch, 8, 8, 12, 1),
    _row(Wrong12NoDivisor, 16, 16, 12, 2),
    _row(Wrong13DivisorModelWidth, 24, 24, 12, 4),
    _row(Wrong14ScaledTwice, 16, 16, 12, 2),
    _row(Wrong15DivisorSequenceLength, 16, 16, 12, 4),
    _row(Wrong16QueriesKeysExchanged, 16, 16, 12, 2),
    _row(Wrong17SplitByView, 16, 16, 12, 4),
    _row(Wrong18ViewBothWays, 18, 18, 12, 3),
    _row(Wrong19MergedWithoutTranspose, 20, 20, 12, 5),
    _row(Wrong20KeysAsValues, 14, 14, 12, 2),
    _row(Wrong21QueriesAsKeys, 16, 16, 12, 4),
    _row(Wrong22DropoutBeforeSoftmax, 16, 16, 12, 4, 0.3),
    _row(Wrong23DropoutUnscaled, 12, 12, 12, 3, 0.25),
    _row(Wrong24DropoutInEval, 16, 16, 12, 2, 0.1),
    _row(Wrong25DropoutOnOutputOnly, 16, 16, 12, 4, 0.2, "dropout 0.2 on the attention weights"),
    _row(Wrong26BiasTwice, 16, 16, 12, 4),
    _row(Wrong27WindowNeverUsed, 16, 16, 12, 2, 0.0, "sliding window 4: row t sees rows t-3 to t"),
    _row(Wrong28LeakOfAThousandth, 12, 12, 12, 3),
    _row(Wrong29LeakInTrainMode, 16, 16, 12, 4),
    _row(Wrong30LeakInShortSequences, 16, 16, 12, 2),
    _row(Wrong31BatchNorm, 16, 16, 12, 2, 0.0, "queries are normalised before the scores"),
    _row(Wrong32MeanOverPositions, 12, 12, 12, 2),
    _row(Wrong33NormOverTime, 16, 16, 12, 4, 0.0, "keys of each head are normalised to unit length"),
    _row(Wrong34ConvPadding, 12, 12, 12, 3, 0.0, "keys and values from a causal convolution of width 3"),
    _row(Wrong35RollWrapsAround, 16, 16, 12, 2, 0.0, "token shift: keys and values see half of the row before"),
    _row(Wrong36BatchMean, 16, 16, 12, 4),
    _row(Wrong37MhaBatchAsSequence, 16, 16, 12, 4),
    _row(Wrong38MaskFromFirstCall, 16, 16, 12, 4),
    _row(Wrong39MemoryKept, 16, 16, 12, 2),
    _row(Wrong40SilentHead, 20, 20, 12, 4),
    _row(Wrong41SameHeadRepeated, 16, 16, 12, 4),
    _row(Wrong42OneHeadUnmasked, 24, 24, 10, 4),
    _row(Wrong43LastHeadDropped, 16, 16, 12, 4),
    _row(Wrong44OneLengthOnly, 12, 12, 8, 2),
    _row(Wrong45ExpOverflow, 16, 16, 12, 4),
    _row(Wrong46NanFirstRow, 16, 16, 12, 2),
    _row(Wrong47Float16Inside, 16, 16, 12, 2),
    _row(Wrong48GqaRepeat, 16, 16, 12, 4, 0.0, "grouped heads: 4 for queries, 2 for keys and values, neighbours share"),
    _row(Wrong49RotaryQueriesOnly, 16, 16, 12, 2, 0.0, "rotary (halves)"),
    _row(Wrong50RotaryOnValues, 16, 16, 12, 2, 0.0,
         "rotary (halves) on queries and keys; fused projection ordered (heads, 3, width)"),
    _row(Wrong51RotaryRestarts, 24, 24, 12, 3, 0.0, "rotary (halves)"),
    _row(Wrong52AlibiSlopes, 24, 24, 12, 6, 0.0, "ALiBi, slopes as published"),
    _row(Wrong53AlibiReversed, 16, 16, 12, 4, 0.0, "ALiBi, slopes as published"),
    _row(Wrong54WindowOffByOne, 16, 16, 12, 4, 0.0, "sliding window 4: row t sees rows t-3 to t"),
    _row(Wrong55RenormalisedOverColumns, 16, 16, 12, 2),
    _row(Wrong56FirstTokenIgnored, 16, 16, 12, 4),
    _row(Wrong57CannotSeeItself, 18, 18, 12, 3),
    _row(Wrong58DropoutSharedByHeads, 16, 16, 12, 4, 0.3, "fused projection ordered (heads, 3, width)"),
    _row(Wrong59DropoutSharedByRows, 16, 16, 12, 2, 0.3),
    _row(Wrong60DetachedWeights, 16, 16, 12, 4),
    _row(Wrong61OutputLayerUnused, 10, 12, 12, 3, 0.0, "with an output projection"),
    _row(Wrong62ChangesInput, 16, 16, 12, 2, 0.0, "input multiplied by sqrt(width)"),
    _row(Wrong63NoiseInEval, 12, 12, 12, 3),
    _row(Wrong64RenormalisedZeroByZero, 16, 16, 12, 2),
    _row(Wrong65ChunksForgetThePast, 16, 16, 12, 4),
    _row(Wrong66BatchFoldedIntoTime, 16, 16, 12, 2),
    _row(Wrong67MergedFeaturesFirst, 12, 12, 12, 3),
    _row(Wrong68NeighboursValues, 16, 16, 12, 4),
    _row(Wrong69OverlappingSlices, 20, 20, 12, 4),
    _row(Wrong70OnlineNotRescaled, 16, 16, 12, 4),
]
