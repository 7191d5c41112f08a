"""Attention layers as students in a course and authors of tutorials write them."""
import copy
import math
from math import sqrt

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

LAYERS = []


# ----------------------------------------------------------------------------- right ones

class RightS01CausalAttention(nn.Module):
    """right: plain single head, mask as a buffer cut to the text, masked_fill_ in place on fresh scores"""

    def __init__(self, d_in=12, d_out=8, context_length=10, dropout=0.2, qkv_bias=False):
        super().__init__()
        self.d_out = d_out
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        b, num_tokens, d_in = x.shape
        keys = self.W_key(x)
        queries = self.W_query(x)
        values = self.W_value(x)
        attn_scores = queries @ keys.transpose(1, 2)
        attn_scores.masked_fill_(self.mask.bool()[:num_tokens, :num_tokens], -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        attn_weights = self.dropout(attn_weights)
        return attn_weights @ values


class _HeadR02(nn.Module):
    def __init__(self, d_in, d_out, context_length, dropout):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out) - 0.5)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out) - 0.5)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out) - 0.5)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.tril(torch.ones(context_length, context_length)), persistent=False)

    def forward(self, x):
        T = x.shape[1]
        q, k, v = x @ self.W_query, x @ self.W_key, x @ self.W_value
        w = (q @ k.mT / k.shape[-1] ** 0.5).masked_fill(self.mask[:T, :T] == 0, float("-inf"))
        return self.dropout(w.softmax(-1)) @ v


class RightS02HeadWrapper(nn.Module):
    """right: a ModuleList of single heads of bare parameters, concatenated, with no output projection"""

    def __init__(self, d_in=16, d_out=5, context_length=8, dropout=0.1, num_heads=3):
        super().__init__()
        self.heads = nn.ModuleList([_HeadR02(d_in, d_out, context_length, dropout) for _ in range(num_heads)])

    def forward(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)


def _clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


def _annotated_attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, torch.finfo(scores.dtype).min)
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn


class RightS03Annotated(nn.Module):
    """right: encoder of the Annotated Transformer, four clones, keeps self.attn for plots (never reads it)"""

    def __init__(self, h=4, d_model=16, dropout=0.1):
        super().__init__()
        self.d_k = d_model // h
        self.h = h
        self.linears = _clones(nn.Linear(d_model, d_model), 4)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.xavier_uniform_(p)
        self.attn = None
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1).unsqueeze(1)
        nbatches = x.size(0)
        query, key, value = [lin(t).view(nbatches, -1, self.h, self.d_k).transpose(1, 2)
                             for lin, t in zip(self.linears, (x, x, x))]
        out, attn = _annotated_attention(query, key, value, mask=mask, dropout=self.dropout)
        self.attn = attn.detach()
        out = out.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.linears[-1](out)


class RightS04RowLoop(nn.Module):
    """right: loops over heads and rows, cuts the keys to the past in place of a mask, softmax by hand"""

    def __init__(self):
        super().__init__()
        self.n_heads, self.dim = 2, 10
        self.hd = self.dim // self.n_heads
        self.q = nn.Linear(self.dim, self.dim)
        self.k = nn.Linear(self.dim, self.dim)
        self.v = nn.Linear(self.dim, self.dim)
        self.o = nn.Linear(self.dim, self.dim)

    @staticmethod
    def my_softmax(z):
        z = z - z.max(dim=-1, keepdim=True).values
        e = torch.exp(z)
        return e / e.sum(dim=-1, keepdim=True)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        heads = []
        for h in range(self.n_heads):
            s = slice(h * self.hd, (h + 1) * self.hd)
            qh, kh, vh = q[:, :, s], k[:, :, s], v[:, :, s]
            rows = []
            for i in range(x.shape[1]):
                past_k, past_v = kh[:, : i + 1], vh[:, : i + 1]
                scores = (past_k * qh[:, i : i + 1]).sum(-1) / self.hd ** 0.5
                a = self.my_softmax(scores)
                rows.append((a.unsqueeze(-1) * past_v).sum(1))
            heads.append(torch.stack(rows, dim=1))
        return self.o(torch.cat(heads, dim=-1))


class RightS05NumpyEinsum(nn.Module):
    """right: translated from NumPy, weights (H, d, dh), masked with np.where style, heads are summed by the output weights"""

    def __init__(self, d=14, H=3, dh=6):
        super().__init__()
        init = lambda *s: nn.Parameter(torch.randn(*s) / np.sqrt(s[1]).item())
        self.Wq, self.Wk, self.Wv = init(H, d, dh), init(H, d, dh), init(H, d, dh)
        self.Wo = init(H, dh, d)
        self.dh = dh

    def forward(self, X):
        T = X.shape[1]
        Q = torch.einsum("btd,hde->bhte", X, self.Wq)
        K = torch.einsum("btd,hde->bhte", X, self.Wk)
        V = torch.einsum("btd,hde->bhte", X, self.Wv)
        S = torch.einsum("bhie,bhje->bhij", Q, K) / np.sqrt(self.dh).item()
        i, j = np.indices((T, T))
        allowed = torch.from_numpy(j <= i).to(X.device)
        S = torch.where(allowed, S, torch.full_like(S, -np.inf))
        P = torch.exp(S - S.amax(-1, keepdim=True))
        P = P / P.sum(-1, keepdim=True)
        return torch.einsum("bhij,bhje,hed->bid", P, V, self.Wo)


class RightS06Vmap(nn.Module):
    """right: translated from JAX, one head for one text as a function, vmapped over heads and texts"""

    def __init__(self, d_model=16, n_head=4):
        super().__init__()
        self.n_head = n_head
        hd = d_model // n_head
        self.wq = nn.Parameter(torch.randn(n_head, d_model, hd) * 0.2)
        self.wk = nn.Parameter(torch.randn(n_head, d_model, hd) * 0.2)
        self.wv = nn.Parameter(torch.randn(n_head, d_model, hd) * 0.2)
        self.proj = nn.Linear(d_model, d_model, bias=False)

    @staticmethod
    def one_head(x, wq, wk, wv):
        q, k, v = x @ wq, x @ wk, x @ wv
        n = x.shape[0]
        pos = torch.arange(n, device=x.device)
        logits = q @ k.T * wq.shape[-1] ** -0.5
        logits = torch.where(pos[:, None] >= pos[None, :], logits, float("-inf"))
        return torch.softmax(logits, dim=-1) @ v

    def forward(self, x):
        over_heads = torch.vmap(self.one_head, in_dims=(None, 0, 0, 0), out_dims=1)
        over_batch = torch.vmap(over_heads, in_dims=(0, None, None, None))
        y = over_batch(x, self.wq, self.wk, self.wv)
        return self.proj(y.flatten(2))


class RightS07TfEncoder(nn.Module):
    """right: translated from the TensorFlow tutorial, mask 1 = hidden, added as -1e9, returns (output, weights)"""

    def __init__(self, d_model=16, num_heads=2):
        super().__init__()
        self.num_heads, self.depth = num_heads, d_model // num_heads
        self.wq = nn.Linear(d_model, d_model)
        self.wk = nn.Linear(d_model, d_model)
        self.wv = nn.Linear(d_model, d_model)
        self.dense = nn.Linear(d_model, d_model)

    def split_heads(self, x, batch_size):
        x = torch.reshape(x, (batch_size, -1, self.num_heads, self.depth))
        return torch.permute(x, (0, 2, 1, 3))

    def forward(self, x, mask=None):
        batch_size = x.shape[0]
        q = self.split_heads(self.wq(x), batch_size)
        k = self.split_heads(self.wk(x), batch_size)
        v = self.split_heads(self.wv(x), batch_size)
        matmul_qk = torch.matmul(q, k.transpose(-1, -2))
        dk = float(k.shape[-1])
        scaled_attention_logits = matmul_qk / math.sqrt(dk)
        if mask is not None:
            scaled_attention_logits = scaled_attention_logits + mask[:, None, None, :] * -1e9
        attention_weights = torch.softmax(scaled_attention_logits, dim=-1)
        out = torch.permute(torch.matmul(attention_weights, v), (0, 2, 1, 3))
        out = torch.reshape(out, (batch_size, -1, self.num_heads * self.depth))
        return self.dense(out), attention_weights


class RightS08FastaiStyle(nn.Module):
    """right: fast.ai style, scores laid out as (B, i, j, heads), softmax over dim=2, in-place mask on fresh scores"""

    def __init__(self, n_heads=4, d_model=20, d_head=6, resid_p=0.0, attn_p=0.15, bias=True):
        super().__init__()
        self.n_heads, self.d_head, self.scale = n_heads, d_head, 1 / (d_head ** 0.5)
        self.attention = nn.Linear(d_model, 3 * n_heads * d_head, bias=bias)
        self.out = nn.Linear(n_heads * d_head, d_model, bias=bias)
        self.drop_att, self.drop_res = nn.Dropout(attn_p), nn.Dropout(resid_p)
        self.ln = nn.LayerNorm(d_model)

    def forward(self, x):
        return self.ln(x + self.drop_res(self.out(self._apply_attention(x))))

    def _apply_attention(self, x):
        bs, x_len = x.size(0), x.size(1)
        wq, wk, wv = torch.chunk(self.attention(x), 3, dim=-1)
        wq, wk, wv = map(lambda t: t.view(bs, x_len, self.n_heads, self.d_head), (wq, wk, wv))
        attn_score = torch.einsum("bind,bjnd->bijn", wq, wk).mul_(self.scale)
        mask = torch.triu(x.new_ones(x_len, x_len), diagonal=1)[None, ..., None].bool()
        attn_score = attn_score.masked_fill(mask, -float("inf"))
        attn_prob = self.drop_att(F.softmax(attn_score, dim=2))
        attn_vec = torch.einsum("bijn,bjnd->bind", attn_prob, wv)
        return attn_vec.contiguous().view(bs, x_len, -1)


class RightS09KeysTimesQueries(nn.Module):
    """right: scores are (keys, queries), so triu is the past and the softmax runs over the rows"""

    def __init__(self, d=12, heads=3, n=9):
        super().__init__()
        self.heads = heads
        self.kqv = nn.Linear(d, 3 * d, bias=False)
        self.fc = nn.Linear(d, d)
        self.register_buffer("seen", torch.triu(torch.ones(n, n, dtype=torch.bool)))

    def forward(self, x):
        B, T, d = x.shape
        k, q, v = self.kqv(x).view(B, T, 3, self.heads, d // self.heads).permute(2, 0, 3, 4, 1)   # (B, H, D, T)
        s = k.transpose(-1, -2) @ q / math.sqrt(k.size(-2))
        s = s.masked_fill(~self.seen[:T, :T], float("-inf"))
        a = torch.softmax(s, dim=-2)
        y = v @ a
        return self.fc(y.permute(0, 3, 1, 2).reshape(B, T, d))


class RightS10OnlineSoftmax(nn.Module):
    """right: flash-attention tutorial, loops over blocks of keys with a running maximum and a running sum"""

    def __init__(self, d_model=16, n_heads=2, block=3):
        super().__init__()
        self.n_heads, self.block = n_heads, block
        self.to_q = nn.Linear(d_model, d_model, bias=False)
        self.to_k = nn.Linear(d_model, d_model, bias=False)
        self.to_v = nn.Linear(d_model, d_model, bias=False)
        self.to_out = nn.Linear(d_model, d_model)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = (f(x).view(B, T, self.n_heads, -1).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        q = q / math.sqrt(q.size(-1))
        m = q.new_full((B, self.n_heads, T, 1), float("-inf"))
        l = q.new_zeros(B, self.n_heads, T, 1)
        acc = torch.zeros_like(q)
        rows = torch.arange(T, device=x.device)[:, None]
        for start in range(0, T, self.block):
            kb, vb = k[:, :, start:start + self.block], v[:, :, start:start + self.block]
            cols = torch.arange(start, start + kb.size(2), device=x.device)[None]
            s = (q @ kb.transpose(-2, -1)).masked_fill(cols > rows, float("-inf"))
            m_new = torch.maximum(m, s.amax(-1, keepdim=True))
            p = torch.exp(s - m_new)
            correction = torch.exp(m - m_new)
            l = l * correction + p.sum(-1, keepdim=True)
            acc = acc * correction + p @ vb
            m = m_new
        y = acc / l
        return self.to_out(y.transpose(1, 2).reshape(B, T, C))


class RightS11GqaLoop(nn.Module):
    """right: grouped queries by a loop over key/value heads, each taking the next g query heads"""

    def __init__(self, d=24, n_q=6, n_kv=2):
        super().__init__()
        self.n_q, self.n_kv, self.hd = n_q, n_kv, d // n_q
        self.wq = nn.Linear(d, n_q * self.hd, bias=False)
        self.wk = nn.Linear(d, n_kv * self.hd, bias=False)
        self.wv = nn.Linear(d, n_kv * self.hd, bias=False)
        self.wo = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, _ = x.shape
        g = self.n_q // self.n_kv
        q = self.wq(x).reshape(B, T, self.n_q, self.hd)
        k = self.wk(x).reshape(B, T, self.n_kv, self.hd)
        v = self.wv(x).reshape(B, T, self.n_kv, self.hd)
        causal = torch.ones(T, T, device=x.device).tril().bool()
        outs = []
        for h in range(self.n_kv):
            qs = q[:, :, h * g:(h + 1) * g]
            att = torch.einsum("bigd,bjd->bgij", qs, k[:, :, h]) * self.hd ** -0.5
            att = att.masked_fill(~causal, float("-inf")).softmax(-1)
            outs.append(torch.einsum("bgij,bjd->bigd", att, v[:, :, h]))
        return self.wo(torch.cat(outs, 2).flatten(2))


class RightS12MqaRotaryComplex(nn.Module):
    """right: one key/value head, rotary by complex multiplication, keys are cached rotated at their own positions"""

    def __init__(self, dim=16, n_heads=4, max_len=12):
        super().__init__()
        self.n_heads, self.hd = n_heads, dim // n_heads
        self.wq = nn.Linear(dim, dim, bias=False)
        self.wkv = nn.Linear(dim, 2 * self.hd, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)

    def rope(self, t, start):
        # t: (B, T, heads, hd)
        inv = 1.0 / 10000 ** (torch.arange(0, self.hd, 2, device=t.device).float() / self.hd)
        ang = torch.outer(torch.arange(start, start + t.size(1), device=t.device).float(), inv)
        cis = torch.polar(torch.ones_like(ang), ang)[None, :, None]
        c = torch.view_as_complex(t.float().reshape(*t.shape[:-1], -1, 2))
        return torch.view_as_real(c * cis).flatten(-2).to(t.dtype)

    def forward(self, x, past=None, use_cache=False):
        B, T, _ = x.shape
        start = 0 if past is None else past[0].size(1)
        q = self.rope(self.wq(x).view(B, T, self.n_heads, self.hd), start)
        k, v = self.wkv(x).split(self.hd, dim=-1)
        k = self.rope(k.unsqueeze(2), start).squeeze(2)
        if past is not None:
            k = torch.cat([past[0], k], dim=1)
            v = torch.cat([past[1], v], dim=1)
        s = torch.einsum("bihd,bjd->bhij", q, k) / math.sqrt(self.hd)
        hide = torch.ones(T, k.size(1), dtype=torch.bool, device=x.device).triu(start + 1)
        a = s.masked_fill(hide, float("-inf")).softmax(-1)
        y = self.wo(torch.einsum("bhij,bjd->bihd", a, v).reshape(B, T, -1))
        return (y, (k, v)) if use_cache else y


class RightS13AlibiLoop(nn.Module):
    """right: ALiBi filled in by two Python loops, one head after the other"""

    def __init__(self, d=16, H=4, T=8):
        super().__init__()
        self.H = H
        self.lin = nn.ModuleDict({n: nn.Linear(d, d) for n in ("query", "key", "value", "out")})
        bias = torch.full((H, T, T), float("-inf"))
        for h in range(H):
            slope = 2 ** (-8 * (h + 1) / H)
            for i in range(T):
                for j in range(i + 1):
                    bias[h, i, j] = -slope * (i - j)
        self.register_buffer("bias", bias)

    def forward(self, x):
        T = x.shape[1]
        parts = []
        for h, (q, k, v) in enumerate(zip(*(self.lin[n](x).chunk(self.H, -1) for n in ("query", "key", "value")))):
            s = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5 + self.bias[h, :T, :T]
            parts.append(s.softmax(-1) @ v)
        return {"context": self.lin["out"](torch.cat(parts, -1))}


class RightS14T5Relative(nn.Module):
    """right: T5-like, no scale (declared), distances beyond the table share its last entry"""

    def __init__(self, d=16, H=4, buckets=6):
        super().__init__()
        self.H, self.buckets = H, buckets
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(buckets, H)

    def forward(self, x):
        B, T, d = x.shape
        split = lambda t: t.view(B, T, self.H, d // self.H).transpose(1, 2)
        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        pos = torch.arange(T, device=x.device)
        dist = pos[:, None] - pos[None, :]
        bias = self.relative_attention_bias(dist.clamp(0, self.buckets - 1)).permute(2, 0, 1)
        s = q @ k.transpose(2, 3) + bias
        s = s.masked_fill(dist < 0, float("-inf"))
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


class RightS15UnfoldWindow(nn.Module):
    """right: sliding window by padding keys and values on the left and unfolding them"""

    def __init__(self, d=12, H=2, W=4):
        super().__init__()
        self.H, self.W = H, W
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = self.qkv(x).split(d, dim=-1)
        q = q.view(B, T, self.H, -1)
        k = F.pad(k, (0, 0, self.W - 1, 0)).unfold(1, self.W, 1)        # (B, T, d, W)
        v = F.pad(v, (0, 0, self.W - 1, 0)).unfold(1, self.W, 1)
        k = k.reshape(B, T, self.H, -1, self.W)
        v = v.reshape(B, T, self.H, -1, self.W)
        s = torch.einsum("bthd,bthdw->bthw", q, k) / math.sqrt(q.size(-1))
        age = torch.arange(self.W - 1, -1, -1, device=x.device)
        outside = age[None, :] > torch.arange(T, device=x.device)[:, None]
        s = s.masked_fill(outside[None, :, None], float("-inf"))
        y = torch.einsum("bthw,bthdw->bthd", s.softmax(-1), v)
        return self.out(y.reshape(B, T, d))


class RightS16CacheLearnedPositions(nn.Module):
    """right: learned positions inside the layer, the cache is a dict that is made anew at each step"""

    def __init__(self, d=16, H=2, n=12):
        super().__init__()
        self.H = H
        self.pos_emb = nn.Embedding(n, d)
        self.query, self.key, self.value = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)
        self.project = nn.Linear(d, d)

    def forward(self, x, cache=None):
        return self.run(x, None)[0]

    def run(self, x, cache):
        B, T, d = x.shape
        seen = 0 if cache is None else cache["n"]
        x = x + self.pos_emb(torch.arange(seen, seen + T, device=x.device))
        q, k, v = (f(x).view(B, T, self.H, d // self.H).transpose(1, 2) for f in (self.query, self.key, self.value))
        if cache is not None:
            k, v = torch.cat((cache["k"], k), 2), torch.cat((cache["v"], v), 2)
        mask = torch.arange(seen + T, device=x.device)[None, :] <= torch.arange(seen, seen + T, device=x.device)[:, None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        y = self.project(y.transpose(1, 2).reshape(B, T, d))
        return y, {"k": k, "v": v, "n": seen + T}


class RightS17Rezero(nn.Module):
    """right: residual inside with a gate that begins at zero, so the new layer returns its input"""

    def __init__(self, d=16, H=4, n=10):
        super().__init__()
        self.H = H
        self.c_attn = nn.Linear(d, 3 * d)
        self.c_proj = nn.Linear(d, d)
        self.alpha = nn.Parameter(torch.zeros(1))
        self.register_buffer("bias", torch.tril(torch.ones(n, n)).view(1, 1, n, n))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, self.H, C // self.H).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf"))
        y = F.softmax(att, dim=-1) @ v
        return x + self.alpha * self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class RightS18QkNorm(nn.Module):
    """right: RMSNorm by hand on the queries and keys of each head before the product"""

    def __init__(self, d=24, H=3):
        super().__init__()
        self.H = H
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.q_gain = nn.Parameter(torch.ones(d // H))
        self.k_gain = nn.Parameter(torch.ones(d // H))
        self.o = nn.Linear(d, d, bias=False)

    @staticmethod
    def rms(t, gain):
        return t * torch.rsqrt(t.pow(2).mean(-1, keepdim=True) + 1e-6) * gain

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.H, d // self.H).unbind(2)
        q, k = self.rms(q, self.q_gain), self.rms(k, self.k_gain)
        y = F.scaled_dot_product_attention(*(t.transpose(1, 2) for t in (q, k, v)), is_causal=True)
        return self.o(y.transpose(1, 2).flatten(2))


class RightS19SdpaDropout(nn.Module):
    """right: fused kernel with dropout only in train mode, (H, 3, D) layout of the fused weights"""

    def __init__(self, d=24, H=3, p=0.1):
        super().__init__()
        self.H, self.p = H, p
        self.query_key_value = nn.Linear(d, 3 * d)
        self.dense = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = self.query_key_value(x).view(B, T, self.H, -1).transpose(1, 2).chunk(3, dim=-1)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.p if self.training else 0.0, is_causal=True)
        return self.dense(y.transpose(1, 2).reshape(B, T, d))


class RightS20SafePadding(nn.Module):
    """right: causal and padded, exp times mask over a guarded sum, rows that see nothing are zero"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.to_qkv = nn.Linear(d, 3 * d, bias=False)
        self.to_out = nn.Linear(d, d, bias=False)

    def forward(self, x, attention_mask=None):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        ok = torch.ones(T, T, device=x.device, dtype=torch.bool).tril().expand(B, 1, T, T)
        if attention_mask is not None:
            ok = ok & attention_mask[:, None, None, :].bool()
        s = q @ k.transpose(-2, -1) / sqrt(d // self.H)
        s = s.masked_fill(~ok, torch.finfo(s.dtype).min)
        e = torch.exp(s - s.amax(-1, keepdim=True)) * ok
        a = e / e.sum(-1, keepdim=True).clamp_min(1e-30)
        return self.to_out((a @ v).transpose(1, 2).reshape(B, T, d))


class RightS21SeqFirstMha(nn.Module):
    """right: nn.MultiheadAttention in its (T, B, d) layout, with a transpose before and behind"""

    def __init__(self, d=16, H=4, p=0.25):
        super().__init__()
        self.num_heads = H
        self.mha = nn.MultiheadAttention(d, H, dropout=p)

    def forward(self, x):
        t = x.transpose(0, 1)
        hide = torch.triu(torch.ones(t.size(0), t.size(0), device=x.device, dtype=torch.bool), diagonal=1)
        y, _ = self.mha(t, t, t, attn_mask=hide, need_weights=False)
        return y.transpose(0, 1)


class RightS22LogSpace(nn.Module):
    """right: queries and keys each take the fourth root of the width, weights are exp of log_softmax"""

    def __init__(self, d=18, H=3):
        super().__init__()
        self.H = H
        self.W = nn.Parameter(torch.randn(3, d, d) / math.sqrt(d))
        self.b = nn.Parameter(torch.randn(3, 1, 1, d) * 0.1)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (torch.einsum("btd,nde->nbte", x, self.W) + self.b).unbind(0)
        D = d // self.H
        q, k = q * D ** -0.25, k * D ** -0.25
        q, k, v = (t.unflatten(-1, (self.H, D)) for t in (q, k, v))
        logits = torch.einsum("bqhd,bkhd->bhqk", q, k)
        logits = logits + torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype).triu(1)
        y = torch.einsum("bhqk,bkhd->bqhd", F.log_softmax(logits, -1).exp(), v)
        return self.out(F.relu(y.flatten(2)))


class _LoraLinear(nn.Module):
    def __init__(self, base, r=2, alpha=4):
        super().__init__()
        self.base = base
        self.base.weight.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(r, base.in_features) * 0.1)
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + (x @ self.A.T @ self.B.T) * self.scaling


class RightS23Lora(nn.Module):
    """right: LoRA on the frozen projections of queries and values, B begins at zero"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.q_proj = _LoraLinear(nn.Linear(d, d, bias=False))
        self.k_proj = nn.Linear(d, d, bias=False)
        self.v_proj = _LoraLinear(nn.Linear(d, d, bias=False))
        self.o_proj = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, d))


class _HeadR24(nn.Module):
    def __init__(self, n_embd, head_size, block_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        return wei @ self.value(x)


class RightS24BlockOfHeads(nn.Module):
    """right: lecture style heads behind a LayerNorm, dropout on the output only, residual inside"""

    def __init__(self, n_embd=16, n_head=4, block_size=8):
        super().__init__()
        self.ln1 = nn.LayerNorm(n_embd)
        self.heads = nn.ModuleList([_HeadR24(n_embd, n_embd // n_head, block_size) for _ in range(n_head)])
        self.proj = nn.Linear(n_embd, n_embd)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        h = self.ln1(x)
        return x + self.dropout(self.proj(torch.cat([head(h) for head in self.heads], dim=-1)))


LAYERS += [
    {"layer": RightS01CausalAttention, "d_in": 12, "context_length": 10, "options": {"num_heads": 1, "dropout": 0.2}},
    {"layer": RightS02HeadWrapper, "d_in": 16, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.1}},
    {"layer": RightS03Annotated, "d_in": 16, "context_length": 9, "options": {"num_heads": 4, "dropout": 0.1, "causal": False, "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": RightS04RowLoop, "d_in": 10, "context_length": 7, "options": {"num_heads": 2}},
    {"layer": RightS05NumpyEinsum, "d_in": 14, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": RightS06Vmap, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": RightS07TfEncoder, "d_in": 16, "context_length": 10, "options": {"num_heads": 2, "causal": False, "padding": lambda module, x, real: module(x, mask=(~real).float())}},
    {"layer": RightS08FastaiStyle, "d_in": 20, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.15}},
    {"layer": RightS09KeysTimesQueries, "d_in": 12, "context_length": 9, "options": {"num_heads": 3}},
    {"layer": RightS10OnlineSoftmax, "d_in": 16, "context_length": 11, "options": {"num_heads": 2}},
    {"layer": RightS11GqaLoop, "d_in": 24, "context_length": 8, "options": {"num_heads": 6, "num_kv_heads": 2}},
    {"layer": RightS12MqaRotaryComplex, "d_in": 16, "context_length": 12, "options": {"num_heads": 4, "num_kv_heads": 1, "positions": "rotary", "step": lambda module, x, cache: module(x, past=cache, use_cache=True)}},
    {"layer": RightS13AlibiLoop, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "positions": "alibi"}},
    {"layer": RightS14T5Relative, "d_in": 16, "context_length": 10, "options": {"num_heads": 4, "positions": "relative", "scale": 1.0}},
    {"layer": RightS15UnfoldWindow, "d_in": 12, "context_length": 10, "options": {"num_heads": 2, "window": 4}},
    {"layer": RightS16CacheLearnedPositions, "d_in": 16, "context_length": 12, "options": {"num_heads": 2, "positions": True, "step": lambda module, x, cache: module.run(x, cache)}},
    {"layer": RightS17Rezero, "d_in": 16, "context_length": 10, "options": {"num_heads": 4}},
    {"layer": RightS18QkNorm, "d_in": 24, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": RightS19SdpaDropout, "d_in": 24, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.1}},
    {"layer": RightS20SafePadding, "d_in": 16, "context_length": 9, "options": {"num_heads": 2, "padding": lambda module, x, real: module(x, attention_mask=real)}},
    {"layer": RightS21SeqFirstMha, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.25}},
    {"layer": RightS22LogSpace, "d_in": 18, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": RightS23Lora, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": RightS24BlockOfHeads, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
]


# ----------------------------------------------------------------------------- wrong: masks

class _HeadW01(nn.Module):
    def __init__(self, n_embd, head_size, block_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size), diagonal=1))

    def forward(self, x):
        B, T, C = x.shape
        wei = self.query(x) @ self.key(x).transpose(-2, -1) * self.key.out_features ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return F.softmax(wei, dim=-1) @ self.value(x)


class WrongS01LectureHeads(nn.Module):
    """wrong: tril with diagonal=1 lets every token see the next one"""

    def __init__(self, n_embd=16, n_head=4, block_size=8):
        super().__init__()
        self.heads = nn.ModuleList([_HeadW01(n_embd, n_embd // n_head, block_size) for _ in range(n_head)])
        self.proj = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class WrongS02StrictPast(nn.Module):
    """wrong: tril(-1) hides the token itself, and with -1e9 the first row becomes a mean over the whole text"""

    def __init__(self, d=12, H=2):
        super().__init__()
        self.H = H
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        q = self.w_q(x).view(B, T, self.H, -1).transpose(1, 2)
        k = self.w_k(x).view(B, T, self.H, -1).transpose(1, 2)
        v = self.w_v(x).view(B, T, self.H, -1).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d // self.H)
        past = torch.tril(torch.ones(T, T, device=x.device), diagonal=-1)
        scores = scores.masked_fill(past == 0, -1e9)
        z = torch.matmul(F.softmax(scores, dim=-1), v)
        return self.w_o(z.transpose(1, 2).reshape(B, T, d))


class WrongS03LoopMask(nn.Module):
    """wrong: the loop that fills the mask hides j < i, the past, in place of j > i"""

    def __init__(self, d=10, T=7):
        super().__init__()
        mask = torch.zeros(T, T)
        for i in range(T):
            for j in range(T):
                if j < i:
                    mask[i, j] = float("-inf")
        self.register_buffer("mask", mask)
        self.Wq = nn.Parameter(torch.randn(d, d) * 0.3)
        self.Wk = nn.Parameter(torch.randn(d, d) * 0.3)
        self.Wv = nn.Parameter(torch.randn(d, d) * 0.3)

    def forward(self, x):
        n = x.size(1)
        s = (x @ self.Wq) @ (x @ self.Wk).transpose(1, 2) / x.size(-1) ** 0.5
        return torch.softmax(s + self.mask[:n, :n], dim=-1) @ (x @ self.Wv)


class WrongS04ForgottenResult(nn.Module):
    """wrong: masked_fill without the underscore, its result is thrown away, so there is no mask"""

    def __init__(self, d_in=12, d_out=12, context_length=9, dropout=0.1, num_heads=3):
        super().__init__()
        self.d_out, self.num_heads, self.head_dim = d_out, num_heads, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        b, num_tokens, _ = x.shape
        keys = self.W_key(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        queries = self.W_query(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        values = self.W_value(x).view(b, num_tokens, self.num_heads, self.head_dim).transpose(1, 2)
        attn_scores = queries @ keys.transpose(2, 3)
        mask_bool = self.mask.bool()[:num_tokens, :num_tokens]
        attn_scores.masked_fill(mask_bool, -torch.inf)
        attn_weights = torch.softmax(attn_scores / keys.shape[-1] ** 0.5, dim=-1)
        attn_weights = self.dropout(attn_weights)
        context_vec = (attn_weights @ values).transpose(1, 2)
        return self.out_proj(context_vec.reshape(b, num_tokens, self.d_out))


class WrongS05MaskAfterSoftmax(nn.Module):
    """wrong: the softmax runs over all tokens and the mask only erases weights behind it"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.H = H
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, self.H, d // self.H).permute(2, 0, 3, 1, 4)
        attn = (q @ k.mT * (d // self.H) ** -0.5).softmax(dim=-1)
        attn = attn * torch.ones(T, T, device=x.device).tril()
        return self.out((attn @ v).transpose(1, 2).reshape(B, T, d))


class WrongS06RenormWrongAxis(nn.Module):
    """wrong: weights are masked after exp and divided by the sum over queries (dim=1) in place of keys"""

    def __init__(self, d_in=10, d_out=10):
        super().__init__()
        self.W_query = nn.Parameter(torch.randn(d_in, d_out) * 0.3)
        self.W_key = nn.Parameter(torch.randn(d_in, d_out) * 0.3)
        self.W_value = nn.Parameter(torch.randn(d_in, d_out) * 0.3)

    def forward(self, x):
        queries, keys, values = x @ self.W_query, x @ self.W_key, x @ self.W_value
        s = queries @ keys.transpose(1, 2) / keys.shape[-1] ** 0.5
        mask_simple = torch.tril(torch.ones_like(s))
        s = s.masked_fill(mask_simple == 0, torch.finfo(s.dtype).min)
        masked = torch.exp(s - s.amax(-1, keepdim=True)) * mask_simple
        masked_norm = masked / masked.sum(dim=1, keepdim=True)
        return masked_norm @ values


class WrongS07MultipliedMask(nn.Module):
    """wrong: scores are multiplied by the 0/1 mask before the softmax, hidden tokens keep the score 0"""

    def __init__(self, embed=14, heads=2, T=8):
        super().__init__()
        self.heads, self.D = heads, embed // heads
        self.query, self.key, self.value = (nn.Linear(embed, embed, bias=False) for _ in range(3))
        self.fc_out = nn.Linear(embed, embed)
        self.register_buffer("tril", torch.ones(T, T).tril())

    def forward(self, x):
        N, L, E = x.shape
        q = self.query(x).reshape(N, L, self.heads, self.D)
        k = self.key(x).reshape(N, L, self.heads, self.D)
        v = self.value(x).reshape(N, L, self.heads, self.D)
        energy = torch.einsum("nqhd,nkhd->nhqk", q, k) / self.D ** 0.5
        energy = energy * self.tril[:L, :L]
        attention = torch.softmax(energy, dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", attention, v).reshape(N, L, E)
        return self.fc_out(out)


class WrongS08JaxWeakMask(nn.Module):
    """wrong: jnp.where(mask, scores, -10.) translated literally, exp(-10) leaks the future"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.kernel = nn.Parameter(torch.randn(d, 3, H, d // H) * 0.25)
        self.out_kernel = nn.Parameter(torch.randn(H, d // H, d) * 0.25)

    def forward(self, x):
        q, k, v = torch.einsum("btc,cnhd->nbthd", x, self.kernel).unbind(0)
        scores = torch.einsum("bqhd,bkhd->bhqk", q / math.sqrt(q.shape[-1]), k)
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        scores = torch.where(mask, scores, torch.tensor(-10., device=x.device, dtype=x.dtype))
        return torch.einsum("bhqk,bkhd,hdc->bqc", scores.softmax(-1), v, self.out_kernel)


class WrongS09FloatMaskAdded(nn.Module):
    """wrong: a float 0/1 mask is handed to sdpa, which adds it to the scores"""

    def __init__(self, d=16, H=4, n=10):
        super().__init__()
        self.H = H
        self.c_attn = nn.Linear(d, 3 * d)
        self.c_proj = nn.Linear(d, d)
        self.register_buffer("bias", torch.tril(torch.ones(n, n)).view(1, 1, n, n))

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = (t.view(B, T, self.H, C // self.H).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.bias[:, :, :T, :T])
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class WrongS10InvertedBool(nn.Module):
    """wrong: sdpa gets a mask that is True at hidden tokens (there True means seen), so a row sees itself and the future"""

    def __init__(self, d=18, H=3):
        super().__init__()
        self.H = H
        self.norm = nn.LayerNorm(d)
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        h = self.norm(x)
        q, k, v = (f(h).view(B, T, self.H, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        mask = torch.triu(torch.ones(T, T, dtype=torch.bool, device=x.device))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return x + self.o(y.transpose(1, 2).reshape(B, T, d))


class WrongS11MaskOfFirstCall(nn.Module):
    """wrong: the mask of the longest text so far is kept and cut as [:T, -T:], right only when the length is the same"""

    def __init__(self, d=12, H=3):
        super().__init__()
        self.H = H
        self.mask = None
        self.to_qkv = nn.Linear(d, 3 * d)
        self.to_out = nn.Linear(d, d)

    def get_mask(self, T, device):
        if self.mask is None or self.mask.size(0) < T or self.mask.device != device:
            self.mask = torch.ones(T, T, dtype=torch.bool, device=device).triu(1)
        return self.mask[:T, -T:]

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, -1))
        s = (q @ k.transpose(-1, -2)) / math.sqrt(q.size(-1))
        s = s.masked_fill(self.get_mask(T, x.device), float("-inf"))
        return self.to_out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


class WrongS12LayerNormOverText(nn.Module):
    """wrong: the norm before the attention runs over tokens and channels together, so each row knows the whole text"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.gamma, self.beta = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        h = F.layer_norm(x, x.shape[1:]) * self.gamma + self.beta
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.qkv(h).split(d, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(B, T, d))


class WrongS13HandNormNoDim(nn.Module):
    """wrong: hand-written LayerNorm behind the attention takes mean() and std() of everything, all texts and tokens"""

    def __init__(self, d=12, H=2):
        super().__init__()
        self.H = H
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d) for _ in range(4))
        self.a_2, self.b_2 = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))

    def layer_norm(self, x):
        mean = x.mean()
        std = x.std()
        return self.a_2 * (x - mean) / (std + 1e-6) + self.b_2

    def forward(self, x):
        B, T, d = x.shape
        ys = []
        for q, k, v in zip(*(f(x).chunk(self.H, -1) for f in (self.wq, self.wk, self.wv))):
            s = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(d // self.H)
            s = s + torch.full((T, T), -math.inf, device=x.device, dtype=x.dtype).triu(1)
            ys.append(torch.bmm(s.softmax(2), v))
        return self.layer_norm(x + self.wo(torch.cat(ys, 2)))


class WrongS14BatchNorm(nn.Module):
    """wrong: BatchNorm1d in place of a LayerNorm, in train mode it mixes all texts and all tokens"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.H = H
        self.bn = nn.BatchNorm1d(d)
        self.in_proj = nn.Linear(d, 3 * d)
        self.out_proj = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        h = self.bn(x.reshape(B * T, d)).view(B, T, d) if B * T > 1 else x
        q, k, v = self.in_proj(h).view(B, T, 3, self.H, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return x + self.out_proj(y.transpose(1, 2).reshape(B, T, d))


class WrongS15GroupNormTime(nn.Module):
    """wrong: GroupNorm over (B, D, T) takes its mean over the tokens, later ones too"""

    def __init__(self, d=16, H=4, n=8):
        super().__init__()
        self.H = H
        self.norm = nn.GroupNorm(4, d)
        self.q, self.k, self.v = (nn.Conv1d(d, d, 1) for _ in range(3))
        self.proj = nn.Conv1d(d, d, 1)

    def forward(self, x):
        B, T, d = x.shape
        h = self.norm(x.transpose(1, 2))
        q, k, v = (f(h).view(B, self.H, d // self.H, T) for f in (self.q, self.k, self.v))
        w = torch.einsum("bhdi,bhdj->bhij", q, k) * (d // self.H) ** -0.5
        w = w.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), float("-inf")).softmax(-1)
        y = torch.einsum("bhij,bhdj->bhdi", w, v).reshape(B, d, T)
        return x + self.proj(y).transpose(1, 2)


class WrongS16MaskOnlyInEval(nn.Module):
    """wrong: the mask is built for generation only, in train mode every token sees the whole text"""

    def __init__(self, d=12, H=2, p=0.1):
        super().__init__()
        self.H = H
        self.q_linear, self.k_linear, self.v_linear, self.out = (nn.Linear(d, d) for _ in range(4))
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        bs, T, d = x.shape
        q = self.q_linear(x).view(bs, -1, self.H, d // self.H).transpose(1, 2)
        k = self.k_linear(x).view(bs, -1, self.H, d // self.H).transpose(1, 2)
        v = self.v_linear(x).view(bs, -1, self.H, d // self.H).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(d // self.H)
        if not self.training:
            nopeak = np.triu(np.ones((1, T, T)), k=1).astype("uint8")
            scores = scores.masked_fill(torch.from_numpy(nopeak).to(x.device) == 1, float("-inf"))
        scores = self.dropout(F.softmax(scores, dim=-1))
        concat = torch.matmul(scores, v).transpose(1, 2).contiguous().view(bs, -1, d)
        return self.out(concat)


class WrongS17CentredText(nn.Module):
    """wrong: a student centres the values by the mean over the text, a small leak of all later tokens"""

    def __init__(self, d=15, H=3):
        super().__init__()
        self.H = H
        self.keys, self.queries, self.values = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.unify = nn.Linear(d, d)

    def forward(self, x):
        b, t, d = x.size()
        h, s = self.H, d // self.H
        keys = self.keys(x).view(b, t, h, s).transpose(1, 2).reshape(b * h, t, s)
        queries = self.queries(x).view(b, t, h, s).transpose(1, 2).reshape(b * h, t, s)
        values = self.values(x).view(b, t, h, s).transpose(1, 2).reshape(b * h, t, s)
        values = values - 0.01 * values.mean(dim=1, keepdim=True)
        dot = torch.bmm(queries, keys.transpose(1, 2)) / s ** 0.5
        i, j = torch.triu_indices(t, t, offset=1)
        dot[..., i, j] = float("-inf")
        out = torch.bmm(F.softmax(dot, dim=2), values).view(b, h, t, s)
        return self.unify(out.transpose(1, 2).reshape(b, t, s * h))


class WrongS18RowAliasing(nn.Module):
    """wrong: the table is made as [[0] * T] * T, all rows are one list, so each row gets the last row's mask"""

    def __init__(self, d=8, T=6):
        super().__init__()
        table = [[0.0] * T] * T
        for i in range(T):
            for j in range(T):
                table[i][j] = 0.0 if j <= i else float("-inf")
        self.register_buffer("mask", torch.tensor(table))
        self.q, self.k, self.v = nn.Linear(d, d), nn.Linear(d, d), nn.Linear(d, d)

    def forward(self, x):
        T = x.shape[1]
        a = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(self.q.out_features) + self.mask[:T, :T]
        return torch.softmax(a, -1) @ self.v(x)


class WrongS19MaskIsParameter(nn.Module):
    """wrong: the additive mask is an nn.Parameter with -1e4, so the optimizer trains it and weight decay shrinks it"""

    def __init__(self, d=16, H=2, n=8):
        super().__init__()
        self.H = H
        self.mask = nn.Parameter(torch.triu(torch.full((n, n), -10000.0), diagonal=1))
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        s = q @ k.transpose(-1, -2) * q.size(-1) ** -0.5 + self.mask[:T, :T]
        return self.to_out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


LAYERS += [
    {"layer": WrongS01LectureHeads, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongS02StrictPast, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS03LoopMask, "d_in": 10, "context_length": 7, "options": {"num_heads": 1}},
    {"layer": WrongS04ForgottenResult, "d_in": 12, "context_length": 9, "options": {"num_heads": 3, "dropout": 0.1}},
    {"layer": WrongS05MaskAfterSoftmax, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongS06RenormWrongAxis, "d_in": 10, "context_length": 8, "options": {"num_heads": 1}},
    {"layer": WrongS07MultipliedMask, "d_in": 14, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS08JaxWeakMask, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS09FloatMaskAdded, "d_in": 16, "context_length": 10, "options": {"num_heads": 4}},
    {"layer": WrongS10InvertedBool, "d_in": 18, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": WrongS11MaskOfFirstCall, "d_in": 12, "context_length": 9, "options": {"num_heads": 3}},
    {"layer": WrongS12LayerNormOverText, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS13HandNormNoDim, "d_in": 12, "context_length": 7, "options": {"num_heads": 2}},
    {"layer": WrongS14BatchNorm, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongS15GroupNormTime, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongS16MaskOnlyInEval, "d_in": 12, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.1}},
    {"layer": WrongS17CentredText, "d_in": 15, "context_length": 10, "options": {"num_heads": 3}},
    {"layer": WrongS18RowAliasing, "d_in": 8, "context_length": 6, "options": {"num_heads": 1}},
    {"layer": WrongS19MaskIsParameter, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
]


# ----------------------------------------------------------------------------- wrong: softmax and scale

class _HeadW20(nn.Module):
    def __init__(self, d, hd):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, hd, bias=False) for _ in range(3))

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        s = q @ k.transpose(1, 2) / k.size(-1) ** 0.5
        s = s.masked_fill(torch.ones_like(s[0]).triu(1).bool(), float("-inf"))
        return s.softmax(dim=1) @ v


class WrongS20SoftmaxOverQueries(nn.Module):
    """wrong: softmax(dim=1) of (B, queries, keys) normalises over the queries"""

    def __init__(self, d=12, H=3):
        super().__init__()
        self.heads = nn.ModuleList(_HeadW20(d, d // H) for _ in range(H))
        self.linear = nn.Linear(d, d)

    def forward(self, x):
        return self.linear(torch.cat([h(x) for h in self.heads], -1))


class WrongS21SoftmaxOverHeads(nn.Module):
    """wrong: softmax(dim=1) of (B, H, T, T) normalises over the heads, encoder"""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x):
        B, n, d = x.shape
        q, k, v = (t.view(B, n, self.heads, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * (d // self.heads) ** -0.5
        attn = dots.softmax(dim=1)
        out = torch.einsum("bhij,bhjd->bhid", attn, v)
        return self.to_out(out.transpose(1, 2).reshape(B, n, d))


class WrongS22ImplicitSoftmaxDim(nn.Module):
    """wrong: old style F.softmax without dim takes dim 0 of a 3-dimensional tensor: it normalises over the texts"""

    def __init__(self, d=12, hd=6, H=2):
        super().__init__()
        self.Q = nn.ModuleList([nn.Linear(d, hd) for _ in range(H)])
        self.K = nn.ModuleList([nn.Linear(d, hd) for _ in range(H)])
        self.V = nn.ModuleList([nn.Linear(d, hd) for _ in range(H)])
        self.fc = nn.Linear(H * hd, d)

    def forward(self, x):
        T = x.shape[1]
        past = torch.ones(T, T, device=x.device).tril()
        outs = []
        for Q, K, V in zip(self.Q, self.K, self.V):
            s = torch.bmm(Q(x), K(x).permute(0, 2, 1)) / np.sqrt(Q.out_features)
            s = s.masked_fill(past == 0, -1e9)
            outs.append(torch.bmm(F.softmax(s), V(x)))
        return self.fc(torch.cat(outs, dim=2))


class WrongS23SoftmaxTwice(nn.Module):
    """wrong: the helper returns weights and forward softmaxes them once more, encoder"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.H = H
        self.wq, self.wk, self.wv, self.dense = (nn.Linear(d, d) for _ in range(4))

    def attention_weights(self, q, k):
        return F.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).permute(0, 2, 1, 3) for f in (self.wq, self.wk, self.wv))
        w = torch.softmax(self.attention_weights(q, k), dim=-1)
        return self.dense((w @ v).permute(0, 2, 1, 3).reshape(B, T, d)), w


class WrongS24NaiveExp(nn.Module):
    """wrong: softmax by hand as exp over sum without taking the maximum away, overflows to NaN for large scores"""

    def __init__(self, d=12, H=2):
        super().__init__()
        self.H = H
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Parameter(torch.randn(d, d) / math.sqrt(d)) for _ in range(4))

    @staticmethod
    def softmax(z):
        e = torch.exp(z)
        return e / torch.sum(e, dim=-1, keepdim=True)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = ((x @ W).reshape(B, T, self.H, -1) for W in (self.Wq, self.Wk, self.Wv))
        s = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(d // self.H)
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1) > 0, float("-inf"))
        return torch.einsum("bhij,bjhd->bihd", self.softmax(s), v).reshape(B, T, d) @ self.Wo


class WrongS25GlobalMaximum(nn.Module):
    """wrong: softmax by hand takes away the maximum of the whole tensor, rows far below it underflow to 0 / 0"""

    def __init__(self, d=12, H=3):
        super().__init__()
        self.H = H
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.proj = nn.Linear(d, d, bias=False)

    @staticmethod
    def softmax(z):
        e = torch.exp(z - z.max())
        return e / e.sum(-1, keepdim=True)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.qkv(x).split(d, -1))
        s = q @ k.transpose(2, 3) / math.sqrt(d // self.H)
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1) > 0, float("-inf"))
        return self.proj((self.softmax(s) @ v).transpose(1, 2).reshape(B, T, d))


class WrongS26EpsInSum(nn.Module):
    """wrong: an eps of 1e-2 in the denominator, the weights of a row sum to less than one"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.query, self.key, self.value, self.out = (nn.Linear(d, d) for _ in range(4))
        self.eps = 1e-2

    def forward(self, x):
        B, T, d = x.shape
        ctx = []
        for q, k, v in zip(*(f(x).chunk(self.H, -1) for f in (self.query, self.key, self.value))):
            s = torch.matmul(q, k.transpose(-2, -1)) / sqrt(q.shape[-1])
            s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1) == 1, float("-inf"))
            e = (s - s.max(dim=-1, keepdim=True).values).exp()
            ctx.append((e / (e.sum(dim=-1, keepdim=True) + self.eps)) @ v)
        return self.out(torch.cat(ctx, -1))


class WrongS27NoScale(nn.Module):
    """wrong: no division by the root of the head width (nothing declared)"""

    def __init__(self, d_in=20, d_out=20, num_heads=2, context_length=8):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, d_out // num_heads
        self.W_q = nn.Linear(d_in, d_out)
        self.W_k = nn.Linear(d_in, d_out)
        self.W_v = nn.Linear(d_in, d_out)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = (f(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2) for f in (self.W_q, self.W_k, self.W_v))
        scores = q @ k.transpose(2, 3)
        scores.masked_fill_(self.mask.bool()[:n, :n], -torch.inf)
        return (torch.softmax(scores, dim=-1) @ v).transpose(1, 2).reshape(b, n, -1)


class WrongS28ScaleByModelWidth(nn.Module):
    """wrong: divides by sqrt(embed_size) with four heads, as in a well-known tutorial"""

    def __init__(self, embed_size=16, heads=4):
        super().__init__()
        self.embed_size, self.heads, self.head_dim = embed_size, heads, embed_size // heads
        self.values = nn.Linear(embed_size, embed_size)
        self.keys = nn.Linear(embed_size, embed_size)
        self.queries = nn.Linear(embed_size, embed_size)
        self.fc_out = nn.Linear(embed_size, embed_size)

    def forward(self, x, mask=None):
        N, L, _ = x.shape
        values = self.values(x).reshape(N, L, self.heads, self.head_dim)
        keys = self.keys(x).reshape(N, L, self.heads, self.head_dim)
        queries = self.queries(x).reshape(N, L, self.heads, self.head_dim)
        energy = torch.einsum("nqhd,nkhd->nhqk", [queries, keys])
        if mask is not None:
            energy = energy.masked_fill(mask[:, None, None, :] == 0, float("-1e20"))
        attention = torch.softmax(energy / (self.embed_size ** (1 / 2)), dim=3)
        out = torch.einsum("nhql,nlhd->nqhd", [attention, values]).reshape(N, L, self.embed_size)
        return self.fc_out(out)


class WrongS29NoRoot(nn.Module):
    """wrong: divides by the head width, not by its root"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.qkv = nn.Parameter(torch.randn(d, 3, H, d // H) * 0.4)
        self.o = nn.Parameter(torch.randn(H, d // H, d) * 0.4)

    def forward(self, x):
        q, k, v = torch.einsum("btd,dnhk->nbhtk", x, self.qkv)
        logits = torch.einsum("bhik,bhjk->bhij", q, k) / q.shape[-1]
        keep = torch.arange(x.shape[1], device=x.device)
        logits = torch.where(keep[:, None] >= keep, logits, -torch.inf)
        return torch.einsum("bhij,bhjk,hkd->bid", torch.softmax(logits, -1), v, self.o)


class WrongS30ScaleTwice(nn.Module):
    """wrong: queries are scaled by hand and sdpa scales again"""

    def __init__(self, d=12, H=2):
        super().__init__()
        self.H = H
        self.scaling = (d // H) ** -0.5
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        q = self.q_proj(x) * self.scaling
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in (q, self.k_proj(x), self.v_proj(x)))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, d))


class WrongS31ScaleByLength(nn.Module):
    """wrong: behind the transpose k.size(-1) is the length of the text, so the scale is 1 / sqrt(T)"""

    def __init__(self, d=20, H=2):
        super().__init__()
        self.H = H
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        q = self.wq(x).view(B, T, self.H, -1).permute(0, 2, 1, 3)
        k = self.wk(x).view(B, T, self.H, -1).permute(0, 2, 3, 1)
        v = self.wv(x).view(B, T, self.H, -1).permute(0, 2, 1, 3)
        s = torch.matmul(q, k) / math.sqrt(k.size(-1))
        s = s + torch.triu(torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype), 1)
        return self.wo((F.softmax(s, -1) @ v).permute(0, 2, 1, 3).reshape(B, T, d))


class WrongS32AlibiScaledToo(nn.Module):
    """wrong: the root divides the sum of scores and ALiBi, so the biases are weaker than the published ones"""

    def __init__(self, d=16, H=4, n=10):
        super().__init__()
        self.H = H
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d)
        self.register_buffer("slopes", torch.tensor([2 ** (-8 * (i + 1) / H) for i in range(H)]))

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        pos = torch.arange(T, device=x.device)
        rel = (pos[None, :] - pos[:, None]).to(x.dtype)
        s = (q @ k.transpose(-1, -2) + self.slopes.view(-1, 1, 1) * rel) / math.sqrt(q.size(-1))
        s = s.masked_fill(rel > 0, float("-inf"))
        return self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


LAYERS += [
    {"layer": WrongS20SoftmaxOverQueries, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": WrongS21SoftmaxOverHeads, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "causal": False}},
    {"layer": WrongS22ImplicitSoftmaxDim, "d_in": 12, "context_length": 7, "options": {"num_heads": 2}},
    {"layer": WrongS23SoftmaxTwice, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "causal": False}},
    {"layer": WrongS24NaiveExp, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS25GlobalMaximum, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": WrongS26EpsInSum, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS27NoScale, "d_in": 20, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS28ScaleByModelWidth, "d_in": 16, "context_length": 9, "options": {"num_heads": 4, "causal": False, "padding": lambda module, x, real: module(x, real)}},
    {"layer": WrongS29NoRoot, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS30ScaleTwice, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS31ScaleByLength, "d_in": 20, "context_length": 12, "options": {"num_heads": 2}},
    {"layer": WrongS32AlibiScaledToo, "d_in": 16, "context_length": 10, "options": {"num_heads": 4, "positions": "alibi"}},
]


# ----------------------------------------------------------------------------- wrong: heads, q/k/v

class WrongS33ViewAsHeads(nn.Module):
    """wrong: view(B, H, T, D) without transpose at the split, tokens and channels are mixed, encoder"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.H = H
        self.W_Q, self.W_K, self.W_V, self.fc = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        Q = self.W_Q(x).view(B, self.H, T, d // self.H)
        K = self.W_K(x).view(B, self.H, T, d // self.H)
        V = self.W_V(x).view(B, self.H, T, d // self.H)
        scores = torch.matmul(Q, K.transpose(-1, -2)) / np.sqrt(d // self.H)
        context = torch.matmul(nn.Softmax(dim=-1)(scores), V)
        return self.fc(context.reshape(B, T, d))


class WrongS34MergeWithoutTranspose(nn.Module):
    """wrong: contiguous().view(B, T, d) straight from (B, H, T, D), the heads are not put side by side"""

    def __init__(self, d=12, H=3, p=0.2):
        super().__init__()
        self.H = H
        self.linears = nn.ModuleList([nn.Linear(d, d) for _ in range(4)])
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = [l(x).view(B, T, self.H, -1).transpose(1, 2) for l in self.linears[:3]]
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(torch.ones(T, T, device=x.device).tril() == 0, -1e9)
        out = self.dropout(scores.softmax(-1)) @ v
        return self.linears[3](out.contiguous().view(B, T, d))


class WrongS35RangeFromOne(nn.Module):
    """wrong: the loop over heads begins at 1, the slice of the first head stays zero"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.n_heads, self.hd = H, d // H
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        Q, K, V = self.Wq(x), self.Wk(x), self.Wv(x)
        hidden = torch.ones(T, T, device=x.device).triu(1).bool()
        result = torch.zeros_like(V)
        for h in range(1, self.n_heads):
            a, b = h * self.hd, (h + 1) * self.hd
            s = Q[..., a:b] @ K[..., a:b].transpose(1, 2) / self.hd ** 0.5
            result[..., a:b] = s.masked_fill(hidden, float("-inf")).softmax(-1) @ V[..., a:b]
        return self.Wo(result)


class WrongS36LateBinding(nn.Module):
    """wrong: the lambdas that cut out the heads all bind the last h, so every head reads the same slice"""

    def __init__(self, d=15, H=3):
        super().__init__()
        self.H = H
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x):
        T, D = x.shape[1], x.shape[2] // self.H
        cut = [lambda t: t[:, :, h * D:(h + 1) * D] for h in range(self.H)]
        q, k, v = self.q(x), self.k(x), self.v(x)
        outs = []
        for c in cut:
            s = c(q) @ c(k).transpose(1, 2) / math.sqrt(D)
            s = s + torch.full((T, T), -math.inf, dtype=x.dtype, device=x.device).triu(1)
            outs.append(s.softmax(-1) @ c(v))
        return self.o(torch.cat(outs, 2))


class _HeadW37(nn.Module):
    def __init__(self, d, hd, n):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(d, hd, bias=False) for _ in range(3))
        self.register_buffer("tril", torch.tril(torch.ones(n, n)))

    def forward(self, x):
        T = x.shape[1]
        k, q, v = self.key(x), self.query(x), self.value(x)
        w = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        return w.masked_fill(self.tril[:T, :T] == 0, float("-inf")).softmax(-1) @ v


class WrongS37SameHeadFourTimes(nn.Module):
    """wrong: [Head()] * H puts one and the same head into the list H times"""

    def __init__(self, d=16, H=4, n=8):
        super().__init__()
        self.heads = nn.ModuleList([_HeadW37(d, d // H, n)] * H)
        self.proj = nn.Linear(d, d)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], -1))


class WrongS38QkvReshapeMixes(nn.Module):
    """wrong: the fused projection is reshaped straight to (B, 3, H, T, D), which mixes tokens, channels and q/k/v; ViT encoder"""

    def __init__(self, dim=16, num_heads=2):
        super().__init__()
        self.num_heads = num_heads
        self.scale = (dim // num_heads) ** -0.5
        self.norm = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, dim * 3, bias=True)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(self.norm(x)).reshape(B, 3, self.num_heads, N, C // self.num_heads)
        q, k, v = qkv[:, 0], qkv[:, 1], qkv[:, 2]
        attn = ((q @ k.transpose(-2, -1)) * self.scale).softmax(dim=-1)
        return x + self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


class WrongS39OverlappingSlices(nn.Module):
    """wrong: slices h:h+D in place of h*D:(h+1)*D, the heads overlap and most columns are never read"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.H, self.D = H, d // H
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.to_q(x), self.to_k(x), self.to_v(x)
        mask = torch.tril(torch.ones(T, T, device=x.device))
        out = []
        for h in range(self.H):
            qh, kh, vh = (t[..., h:h + self.D] for t in (q, k, v))
            w = torch.einsum("bid,bjd->bij", qh, kh) / math.sqrt(self.D)
            w = w.masked_fill(mask == 0, float("-inf")).softmax(-1)
            out.append(torch.einsum("bij,bjd->bid", w, vh))
        return self.to_out(torch.cat(out, -1))


class WrongS40NeverSplit(nn.Module):
    """wrong: four heads are announced and used for the scale, but the tensors are never split: one wide head"""

    def __init__(self, d=16, num_heads=4):
        super().__init__()
        self.num_heads, self.d_k = num_heads, d // num_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x):
        q, k, v = self.w_q(x), self.w_k(x), self.w_v(x)
        s = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        s = s.masked_fill(torch.triu(torch.ones(x.shape[1], x.shape[1], device=x.device), 1) == 1, float("-inf"))
        return self.w_o(torch.softmax(s, -1) @ v)


class WrongS41OverwrittenSum(nn.Module):
    """wrong: y = ... in place of y += ... in the sum over heads, only the last head comes out"""

    def __init__(self, d=12, H=3):
        super().__init__()
        self.H, self.D = H, d // H
        mk = lambda *s: nn.Parameter(torch.randn(*s) * 0.3)
        self.P_q, self.P_k, self.P_v, self.P_o = mk(H, d, self.D), mk(H, d, self.D), mk(H, d, self.D), mk(H, self.D, d)

    def forward(self, X):
        T = X.shape[1]
        hide = torch.ones(T, T, dtype=torch.bool, device=X.device).triu(1)
        y = torch.zeros_like(X)
        for h in range(self.H):
            Q, K, V = X @ self.P_q[h], X @ self.P_k[h], X @ self.P_v[h]
            A = torch.softmax((Q @ K.mT / self.D ** 0.5).masked_fill(hide, -torch.inf), dim=-1)
            y = A @ V @ self.P_o[h]
        return y


class WrongS42KeyIsQuery(nn.Module):
    """wrong: copy and paste, keys are made by W_query and W_key is never used"""

    def __init__(self, d_in=16, d_out=16, context_length=8, num_heads=2):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.out_proj = nn.Linear(d_out, d_out)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        b, n, _ = x.shape
        shape = (b, n, self.num_heads, self.head_dim)
        queries = self.W_query(x).view(shape).transpose(1, 2)
        keys = self.W_query(x).view(shape).transpose(1, 2)
        values = self.W_value(x).view(shape).transpose(1, 2)
        s = queries @ keys.transpose(2, 3) / self.head_dim ** 0.5
        s.masked_fill_(self.mask.bool()[:n, :n], -torch.inf)
        return self.out_proj((torch.softmax(s, dim=-1) @ values).transpose(1, 2).reshape(b, n, -1))


class WrongS43RawValues(nn.Module):
    """wrong: the values are projected and then the raw inputs are averaged"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.H = H
        self.query, self.key, self.value, self.dense = (nn.Linear(d, d) for _ in range(4))

    def transpose_for_scores(self, t):
        return t.view(*t.shape[:2], self.H, -1).permute(0, 2, 1, 3)

    def forward(self, hidden_states):
        query_layer = self.transpose_for_scores(self.query(hidden_states))
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(hidden_states)
        s = torch.matmul(query_layer, key_layer.transpose(-1, -2)) / math.sqrt(query_layer.size(-1))
        context = torch.matmul(nn.functional.softmax(s, dim=-1), value_layer)
        context = context.permute(0, 2, 1, 3).contiguous()
        return self.dense(context.view(*context.shape[:2], -1)), None


class WrongS44ValueFromKey(nn.Module):
    """wrong: the values are split from the key half of kv (index 0 twice)"""

    def __init__(self, dim=18, heads=3):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(dim, dim, bias=False)
        self.kv = nn.Linear(dim, 2 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, N, C = x.shape
        q = self.q(x).view(B, N, self.heads, -1).transpose(1, 2)
        kv = self.kv(x).view(B, N, 2, self.heads, C // self.heads).permute(2, 0, 3, 1, 4)
        k, v = kv[0], kv[0]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(B, N, C))


class WrongS45WeightsTransposed(nn.Module):
    """wrong: einsum bhqk,bhqd->bhkd applies the transposed weights to the values, encoder"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.in_proj = nn.Linear(d, 3 * d)
        self.out_proj = nn.Linear(d, d)

    def forward(self, x):
        q, k, v = self.in_proj(x).chunk(3, -1)
        q, k, v = (t.unflatten(-1, (self.H, -1)).transpose(1, 2) for t in (q, k, v))
        w = torch.einsum("bhqd,bhkd->bhqk", q, k).div(math.sqrt(q.size(-1))).softmax(-1)
        y = torch.einsum("bhqk,bhqd->bhkd", w, v)
        return self.out_proj(y.transpose(1, 2).flatten(2))


class WrongS46EinsumSumsHeads(nn.Module):
    """wrong: einsum bqhd,bkgd->bhqk has another letter for the heads of the keys, so keys are summed over all heads"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.H = H
        self.W_q, self.W_k, self.W_v = (nn.Parameter(torch.randn(d, H, d // H) * 0.25) for _ in range(3))
        self.W_o = nn.Linear(d, d)

    def forward(self, x):
        q, k, v = (torch.einsum("btd,dhe->bthe", x, W) for W in (self.W_q, self.W_k, self.W_v))
        s = torch.einsum("bqhd,bkgd->bhqk", q, k) / sqrt(q.shape[-1])
        s = s.masked_fill(torch.ones(s.shape[-2:], device=x.device).triu(1).bool(), float("-inf"))
        y = torch.einsum("bhqk,bkhd->bqhd", s.softmax(-1), v)
        return self.W_o(y.flatten(-2))


class WrongS47EinsumLetter(nn.Module):
    """wrong: einsum bhqk,blhd->bqhd, the values have another letter: weights are summed to one and all values are added up"""

    def __init__(self, embed=12, H=2):
        super().__init__()
        self.H = H
        self.values, self.keys, self.queries, self.fc_out = (nn.Linear(embed, embed) for _ in range(4))

    def forward(self, x):
        B, T, E = x.shape
        v, k, q = (f(x).reshape(B, T, self.H, -1) for f in (self.values, self.keys, self.queries))
        energy = torch.einsum("bqhd,bkhd->bhqk", q, k) / (E // self.H) ** 0.5
        energy = energy.masked_fill(torch.tril(torch.ones(T, T, device=x.device)) == 0, float("-inf"))
        attention = torch.softmax(energy, dim=3)
        out = torch.einsum("bhqk,blhd->bqhd", attention, v)
        return self.fc_out(out.reshape(B, T, E))


LAYERS += [
    {"layer": WrongS33ViewAsHeads, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "causal": False}},
    {"layer": WrongS34MergeWithoutTranspose, "d_in": 12, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.2}},
    {"layer": WrongS35RangeFromOne, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongS36LateBinding, "d_in": 15, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": WrongS37SameHeadFourTimes, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongS38QkvReshapeMixes, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "causal": False}},
    {"layer": WrongS39OverlappingSlices, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongS40NeverSplit, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongS41OverwrittenSum, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": WrongS42KeyIsQuery, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS43RawValues, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "causal": False}},
    {"layer": WrongS44ValueFromKey, "d_in": 18, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": WrongS45WeightsTransposed, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "causal": False}},
    {"layer": WrongS46EinsumSumsHeads, "d_in": 16, "context_length": 8, "options": {"num_heads": 4}},
    {"layer": WrongS47EinsumLetter, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
]


# ----------------------------------------------------------------------------- wrong: dropout, batch and state

class WrongS48DropoutOnScores(nn.Module):
    """wrong: dropout falls on the scores before mask and softmax, a dropped score is 0, not a weight of 0"""

    def __init__(self, d=16, H=2, p=0.2):
        super().__init__()
        self.H = H
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.attn_drop = nn.Dropout(p)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.H, -1).permute(2, 0, 3, 1, 4)
        att = self.attn_drop(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)))
        att = att.masked_fill(torch.ones(T, T, device=x.device).tril() == 0, float("-inf"))
        return self.proj((F.softmax(att, -1) @ v).transpose(1, 2).reshape(B, T, d))


class WrongS49UnscaledDropout(nn.Module):
    """wrong: NumPy dropout, kept weights are not divided by 1 - p"""

    def __init__(self, d=12, H=3, p=0.3):
        super().__init__()
        self.H, self.p = H, p
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Parameter(torch.randn(d, d) * 0.3) for _ in range(4))

    def drop(self, w):
        if not self.training:
            return w
        return w * (torch.rand_like(w) > self.p)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = ((x @ W).view(B, T, self.H, -1).transpose(1, 2) for W in (self.Wq, self.Wk, self.Wv))
        s = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(torch.ones(T, T, device=x.device).triu(1) == 1, -torch.inf)
        return (self.drop(s.softmax(-1)) @ v).transpose(1, 2).reshape(B, T, d) @ self.Wo


class WrongS50FunctionalDropout(nn.Module):
    """wrong: F.dropout without training=self.training drops in eval too"""

    def __init__(self, d=16, H=4, dropout=0.1):
        super().__init__()
        self.H, self.dropout = H, dropout
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        q = self.linear_q(x).view(B, T, self.H, -1).transpose(1, 2)
        k = self.linear_k(x).view(B, T, self.H, -1).transpose(1, 2)
        v = self.linear_v(x).view(B, T, self.H, -1).transpose(1, 2)
        w = F.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
        w = F.dropout(w, self.dropout)
        return self.linear_out((w @ v).transpose(1, 2).reshape(B, T, d))


class WrongS51DropoutMadeInForward(nn.Module):
    """wrong: nn.Dropout(p) is made anew in forward, a new module is in train mode, so eval drops too"""

    def __init__(self, d_model=12, n_heads=2):
        super().__init__()
        self.n_heads, self.d_k, self.p = n_heads, d_model // n_heads, 0.15
        self.query, self.key, self.value, self.out = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x):
        b, n, _ = x.size()
        q, k, v = (f(x).view(b, n, self.n_heads, self.d_k).transpose(1, 2) for f in (self.query, self.key, self.value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        scores = scores.masked_fill(torch.ones(n, n, device=x.device).triu(1).bool(), float("-inf"))
        attn = nn.Dropout(self.p)(nn.Softmax(dim=-1)(scores))
        return self.out((attn @ v).transpose(1, 2).contiguous().view(b, n, -1))


class WrongS52SdpaDropsInEval(nn.Module):
    """wrong: dropout_p=self.p goes to sdpa in eval mode as well"""

    def __init__(self, d=18, H=3, p=0.1):
        super().__init__()
        self.H, self.p = H, p
        self.qkv_proj = nn.Linear(d, 3 * d, bias=False)
        self.out_proj = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.qkv_proj(x).split(d, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, dropout_p=self.p)
        return self.out_proj(y.transpose(1, 2).reshape(B, T, d))


class WrongS53DropoutResultForgotten(nn.Module):
    """wrong: self.dropout(weights) is called and its result is thrown away, nothing is ever dropped"""

    def __init__(self, d_in=14, d_out=14, context_length=8, dropout=0.25):
        super().__init__()
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", torch.triu(torch.ones(context_length, context_length), diagonal=1))

    def forward(self, x):
        n = x.shape[1]
        attn_scores = self.W_query(x) @ self.W_key(x).transpose(1, 2)
        attn_scores.masked_fill_(self.mask.bool()[:n, :n], -torch.inf)
        attn_weights = torch.softmax(attn_scores / self.W_key.out_features ** 0.5, dim=-1)
        self.dropout(attn_weights)
        return attn_weights @ self.W_value(x)


class WrongS54OneDropoutForAllTexts(nn.Module):
    """wrong: one (T, T) dropout mask is drawn and shared by all texts and heads"""

    def __init__(self, d=16, H=4, p=0.2):
        super().__init__()
        self.H, self.p = H, p
        self.to_q, self.to_k, self.to_v, self.to_out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.to_q, self.to_k, self.to_v))
        w = (q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)))
        w = w.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), float("-inf")).softmax(-1)
        if self.training and self.p > 0:
            keep = (torch.rand(T, T, device=x.device) >= self.p).to(w.dtype)
            w = w * keep / (1 - self.p)
        return self.to_out((w @ v).transpose(1, 2).reshape(B, T, d))


class WrongS55KeepsWithP(nn.Module):
    """wrong: bernoulli(p) keeps with probability p in place of 1 - p and divides by p (keras keep_prob mixed up with rate)"""

    def __init__(self, d=12, H=2, rate=0.3):
        super().__init__()
        self.H, self.rate = H, rate
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = self.qkv(x).view(B, T, self.H, 3, -1).permute(3, 0, 2, 1, 4)
        w = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), -1)
        if self.training:
            w = w * torch.bernoulli(torch.full_like(w, self.rate)) / self.rate
        return self.out((w @ v).transpose(1, 2).reshape(B, T, d))


class WrongS56SeedForReproducibility(nn.Module):
    """wrong: torch.manual_seed(42) in forward, every call drops the same weights and the caller's random state is overwritten"""

    def __init__(self, d=16, H=2, p=0.2):
        super().__init__()
        self.H = H
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.dropout = nn.Dropout(p)

    def forward(self, x):
        torch.manual_seed(42)
        B, T, d = x.shape
        outs = []
        for q, k, v in zip(*(f(x).chunk(self.H, -1) for f in (self.q, self.k, self.v))):
            s = q @ k.transpose(1, 2) / math.sqrt(d // self.H)
            s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1) > 0, float("-inf"))
            outs.append(self.dropout(s.softmax(-1)) @ v)
        return self.o(torch.cat(outs, -1))


class WrongS57DropWholeKeys(nn.Module):
    """wrong: dropout mask (B, H, 1, T) is shared by all rows, a dropped key vanishes for every query"""

    def __init__(self, d=16, H=4, p=0.2):
        super().__init__()
        self.H = H
        self.c_attn = nn.Linear(d, 3 * d)
        self.c_proj = nn.Linear(d, d)
        self.attn_dropout = nn.Dropout(p)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.c_attn(x).split(d, dim=2))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(torch.ones(T, T, device=x.device).tril() == 0, float("-inf")).softmax(-1)
        att = att * self.attn_dropout(torch.ones_like(att[:, :, :1]))
        return self.c_proj((att @ v).transpose(1, 2).reshape(B, T, d))


class WrongS58BatchFirstForgotten(nn.Module):
    """wrong: nn.MultiheadAttention without batch_first gets (B, T, d), so texts attend to each other; encoder"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.ln = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, H)

    def forward(self, x):
        h = self.ln(x)
        y, _ = self.attn(h, h, h, need_weights=False)
        return x + y


class WrongS59RememberedWeights(nn.Module):
    """wrong: weights are averaged with those of the call before when the shapes agree"""

    def __init__(self, d=12, H=2):
        super().__init__()
        self.H, self.last = H, None
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        s = q @ k.mT / math.sqrt(q.size(-1))
        w = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), float("-inf")).softmax(-1)
        if self.last is not None and self.last.shape == w.shape:
            w = 0.9 * w + 0.1 * self.last.to(w)
        self.last = w.detach()
        return self.wo((w @ v).transpose(1, 2).reshape(B, T, d))


class WrongS60InPlaceInput(nn.Module):
    """wrong: x += position table changes the caller's tensor in place"""

    def __init__(self, d=16, H=4, n=10):
        super().__init__()
        self.H = H
        pe = torch.zeros(n, d)
        position = torch.arange(0, n, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d, 2).float() * (-math.log(10000.0) / d))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0))
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        x += self.pe[:, :T]
        q, k, v = self.qkv(x).view(B, T, 3, self.H, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(B, T, d))


class WrongS61RunningMean(nn.Module):
    """wrong: the inputs are centred by a running mean that every call changes, in eval too"""

    def __init__(self, d=12, H=3):
        super().__init__()
        self.H = H
        self.register_buffer("running", torch.zeros(d))
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        with torch.no_grad():
            self.running = 0.9 * self.running + 0.1 * x.mean(dim=(0, 1))
        h = x - self.running
        q, k, v = (f(h).view(B, T, self.H, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(B, T, d))


class WrongS62HeadsInPlainList(nn.Module):
    """wrong: the heads stand in a Python list, so their parameters are not registered (not trained, not saved, not moved)"""

    def __init__(self, d=16, H=2, n=8):
        super().__init__()
        self.heads = [_HeadR24(d, d // H, n) for _ in range(H)]
        self.proj = nn.Linear(d, d)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


class WrongS63TableNotBuffer(nn.Module):
    """wrong: the sinusoid table is a plain attribute, not a buffer: it stays behind when the module is moved or cast"""

    def __init__(self, d=12, H=2, n=9):
        super().__init__()
        self.H = H
        pos = np.arange(n)[:, None]
        i = np.arange(d)[None, :]
        angle_rads = pos / np.power(10000, (2 * (i // 2)) / np.float32(d))
        angle_rads[:, 0::2] = np.sin(angle_rads[:, 0::2])
        angle_rads[:, 1::2] = np.cos(angle_rads[:, 1::2])
        self.pos_encoding = torch.tensor(angle_rads, dtype=torch.float32)
        self.wq, self.wk, self.wv, self.dense = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        x = x + self.pos_encoding[:T]
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        s = q @ k.mT / math.sqrt(q.shape[-1])
        s = s.masked_fill(torch.ones_like(s).triu(1).bool(), -torch.inf)
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


class WrongS64EvalInForward(nn.Module):
    """wrong: forward calls self.eval() to take clean weights for a plot and never goes back: from then on nothing is dropped"""

    def __init__(self, d=16, H=4, p=0.2):
        super().__init__()
        self.H = H
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)
        self.drop = nn.Dropout(p)
        self.weights = None

    def attend(self, x):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        s = q @ k.mT / math.sqrt(q.size(-1))
        w = self.drop(s.masked_fill(torch.ones_like(s).triu(1).bool(), float("-inf")).softmax(-1))
        return w, self.proj((w @ v).transpose(1, 2).reshape(B, T, d))

    def forward(self, x):
        _, y = self.attend(x)
        with torch.no_grad():
            self.eval()
            self.weights, _ = self.attend(x)
        return y


class WrongS65NoGradSoftmax(nn.Module):
    """wrong: the softmax went through NumPy, so no gradient reaches queries and keys"""

    def __init__(self, d=12, H=2):
        super().__init__()
        self.H = H
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    @staticmethod
    def softmax(z):
        z = z.detach().cpu().numpy()
        e = np.exp(z - z.max(axis=-1, keepdims=True))
        return torch.from_numpy(e / e.sum(axis=-1, keepdims=True))

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        s = q @ k.mT / math.sqrt(q.size(-1))
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1) == 1, -torch.inf)
        return self.o((self.softmax(s).to(v) @ v).transpose(1, 2).reshape(B, T, d))


class WrongS66FloatSixtyFourOut(nn.Module):
    """wrong: a float64 mask from NumPy is added and the sum over keys is written out, so a float32 input comes back as float64"""

    def __init__(self, d=10, dh=10):
        super().__init__()
        self.Wq = nn.Parameter(torch.randn(d, dh) / math.sqrt(d))
        self.Wk = nn.Parameter(torch.randn(d, dh) / math.sqrt(d))
        self.Wv = nn.Parameter(torch.randn(d, dh) / math.sqrt(d))

    def forward(self, x):
        T = x.shape[1]
        q, k, v = x @ self.Wq, x @ self.Wk, x @ self.Wv
        mask = torch.from_numpy(np.triu(np.full((T, T), -np.inf), k=1)).to(x.device)
        s = torch.einsum("bid,bjd->bij", q, k) / math.sqrt(q.shape[-1]) + mask
        w = torch.softmax(s, dim=-1)
        return (w[..., None] * v[:, None]).sum(dim=2)


class WrongS67HalfSoftmax(nn.Module):
    """wrong: scores and softmax are cast to float16 by hand, the weights lose their digits and large scores overflow"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.to_qkv = nn.Linear(d, 3 * d, bias=False)
        self.to_out = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = self.to_qkv(x).view(B, T, 3, self.H, -1).permute(2, 0, 3, 1, 4)
        s = (q @ k.mT / math.sqrt(q.size(-1))).half()
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), float("-inf"))
        w = torch.softmax(s, dim=-1).to(v.dtype)
        return self.to_out((w @ v).transpose(1, 2).reshape(B, T, d))


LAYERS += [
    {"layer": WrongS48DropoutOnScores, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.2}},
    {"layer": WrongS49UnscaledDropout, "d_in": 12, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.3}},
    {"layer": WrongS50FunctionalDropout, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.1, "causal": False}},
    {"layer": WrongS51DropoutMadeInForward, "d_in": 12, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.15}},
    {"layer": WrongS52SdpaDropsInEval, "d_in": 18, "context_length": 8, "options": {"num_heads": 3, "dropout": 0.1}},
    {"layer": WrongS53DropoutResultForgotten, "d_in": 14, "context_length": 8, "options": {"num_heads": 1, "dropout": 0.25}},
    {"layer": WrongS54OneDropoutForAllTexts, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.2}},
    {"layer": WrongS55KeepsWithP, "d_in": 12, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.3, "causal": False}},
    {"layer": WrongS56SeedForReproducibility, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "dropout": 0.2}},
    {"layer": WrongS57DropWholeKeys, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.2}},
    {"layer": WrongS58BatchFirstForgotten, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "causal": False}},
    {"layer": WrongS59RememberedWeights, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS60InPlaceInput, "d_in": 16, "context_length": 10, "options": {"num_heads": 4, "positions": True}},
    {"layer": WrongS61RunningMean, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": WrongS62HeadsInPlainList, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS63TableNotBuffer, "d_in": 12, "context_length": 9, "options": {"num_heads": 2, "positions": True}},
    {"layer": WrongS64EvalInForward, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.2}},
    {"layer": WrongS65NoGradSoftmax, "d_in": 12, "context_length": 8, "options": {"num_heads": 2}},
    {"layer": WrongS66FloatSixtyFourOut, "d_in": 10, "context_length": 8, "options": {"num_heads": 1}},
    {"layer": WrongS67HalfSoftmax, "d_in": 16, "context_length": 8, "options": {"num_heads": 2}},
]


# ----------------------------------------------------------------------------- wrong: positions

def _rope_half(t, pos, base=10000.0):
    """t (..., T, D), pos (T,): the first half of the channels is paired with the second"""
    half = t.size(-1) // 2
    freq = base ** (-torch.arange(half, device=t.device, dtype=t.dtype) / half)
    ang = pos.to(t.dtype)[:, None] * freq
    cos, sin = ang.cos(), ang.sin()
    a, b = t[..., :half], t[..., half:]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def _rope_pairs(t, pos, base=10000.0):
    """t (..., T, D), pos (T,): neighbouring channels are paired"""
    freq = base ** (-torch.arange(0, t.size(-1), 2, device=t.device, dtype=t.dtype) / t.size(-1))
    ang = pos.to(t.dtype)[:, None] * freq
    cos, sin = ang.cos(), ang.sin()
    a, b = t[..., 0::2], t[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


class WrongS68RotatedValues(nn.Module):
    """wrong: the rotation is mapped over q, k and v, so the values are rotated too"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.qkv = nn.Linear(d, 3 * d, bias=False)
        self.out = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, d = x.shape
        pos = torch.arange(T, device=x.device)
        q, k, v = (_rope_half(t.view(B, T, self.H, -1).transpose(1, 2), pos) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(B, T, d))


class WrongS69RotatedQueriesOnly(nn.Module):
    """wrong: the rotated keys are computed and the unrotated ones are used"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        pos = torch.arange(T, device=x.device)
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        q_rot, k_rot = _rope_pairs(q, pos), _rope_pairs(k, pos)
        s = torch.einsum("bhid,bhjd->bhij", q_rot, k) / math.sqrt(q.size(-1))
        s = s.masked_fill(pos[None, :] > pos[:, None], float("-inf"))
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


class WrongS70LayoutsMixed(nn.Module):
    """wrong: queries are rotated in halves, keys in neighbouring pairs"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.query, self.key, self.value, self.proj = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        pos = torch.arange(T, device=x.device)
        outs = []
        for q, k, v in zip(*(f(x).chunk(self.H, -1) for f in (self.query, self.key, self.value))):
            q, k = _rope_half(q, pos), _rope_pairs(k, pos)
            s = q @ k.transpose(1, 2) / math.sqrt(q.size(-1))
            outs.append(s.masked_fill(pos > pos[:, None], float("-inf")).softmax(-1) @ v)
        return self.proj(torch.cat(outs, -1))


class WrongS71KeysFromOne(nn.Module):
    """wrong: positions of the keys are counted from 1, those of the queries from 0"""

    def __init__(self, d=24, H=3):
        super().__init__()
        self.H = H
        self.to_q, self.to_kv, self.to_out = nn.Linear(d, d, bias=False), nn.Linear(d, 2 * d, bias=False), nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        q = self.to_q(x).view(B, T, self.H, -1).transpose(1, 2)
        k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.to_kv(x).chunk(2, -1))
        q = _rope_pairs(q, torch.arange(T, device=x.device))
        k = _rope_pairs(k, torch.arange(1, T + 1, device=x.device))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.to_out(y.transpose(1, 2).reshape(B, T, d))


class WrongS72AnglesOfOtherLayout(nn.Module):
    """wrong: angles are laid out for halves (cat) and the partner is taken from the neighbouring channel, so pairs turn by two angles"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.qkv = nn.Linear(d, 3 * d)
        self.o = nn.Linear(d, d)

    @staticmethod
    def rotate(t, T):
        D = t.size(-1)
        inv_freq = 1.0 / (10000 ** (torch.arange(0, D, 2, device=t.device).float() / D))
        freqs = torch.outer(torch.arange(T, device=t.device).float(), inv_freq)
        emb = torch.cat((freqs, freqs), dim=-1)
        partner = torch.stack((-t[..., 1::2], t[..., 0::2]), dim=-1).flatten(-2)
        return t * emb.cos().to(t.dtype) + partner * emb.sin().to(t.dtype)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.H, -1).permute(2, 0, 3, 1, 4)
        q, k = self.rotate(q, T), self.rotate(k, T)
        s = q @ k.mT / math.sqrt(q.size(-1))
        s = s + torch.full((T, T), -math.inf, dtype=x.dtype, device=x.device).triu(1)
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


class WrongS73RotatedByHead(nn.Module):
    """wrong: the rotation wants (B, T, H, D) and gets (B, H, T, D), it turns by the number of the head: no positions at all"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.H = H
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = (nn.Linear(d, d, bias=False) for _ in range(4))

    @staticmethod
    def apply_rotary_emb(t):
        seq, D = t.shape[1], t.shape[-1]
        freq = 10000.0 ** (-torch.arange(0, D, 2, device=t.device).float() / D)
        ang = torch.outer(torch.arange(seq, device=t.device).float(), freq)[None, :, None, :]
        a, b = t[..., : D // 2], t[..., D // 2:]
        return torch.cat((a * ang.cos() - b * ang.sin(), b * ang.cos() + a * ang.sin()), -1).to(t.dtype)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.q_proj, self.k_proj, self.v_proj))
        q, k = self.apply_rotary_emb(q), self.apply_rotary_emb(k)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, d))


class WrongS74AlibiSign(nn.Module):
    """wrong: the ALiBi bias is positive, far tokens are preferred"""

    def __init__(self, d=16, H=2, n=8):
        super().__init__()
        self.H = H
        self.linears = nn.ModuleList([nn.Linear(d, d) for _ in range(4)])
        dist = torch.arange(n)[:, None] - torch.arange(n)[None, :]
        slopes = torch.tensor([2.0 ** (-8.0 * (h + 1) / H) for h in range(H)])
        self.register_buffer("alibi", slopes[:, None, None] * dist)
        self.register_buffer("future", dist < 0)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = [l(x).view(B, T, self.H, -1).transpose(1, 2) for l in self.linears[:3]]
        s = q @ k.transpose(2, 3) / math.sqrt(q.size(-1)) + self.alibi[:, :T, :T]
        w = s.masked_fill(self.future[:T, :T], float("-inf")).softmax(-1)
        return self.linears[3]((w @ v).transpose(1, 2).reshape(B, T, d))


class WrongS75AlibiSlopesFromZero(nn.Module):
    """wrong: slopes are counted from head 0, they begin at 1 in place of 2^(-8/H)"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.H = H
        self.c_attn, self.c_proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.c_attn(x).split(d, 2))
        m = torch.tensor([2 ** (-8 / self.H * h) for h in range(self.H)], device=x.device, dtype=x.dtype)
        i = torch.arange(T, device=x.device)
        bias = -(i[:, None] - i[None, :]).to(x.dtype) * m[:, None, None]
        bias = bias.masked_fill(i[None, :] > i[:, None], float("-inf"))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        return self.c_proj(y.transpose(1, 2).reshape(B, T, d))


class WrongS76RelativeSign(nn.Module):
    """wrong: key minus query in place of query minus key, clamped at zero: the whole past falls into bucket 0"""

    def __init__(self, d=16, H=4, buckets=8):
        super().__init__()
        self.H, self.buckets = H, buckets
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(buckets, H)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        context_position = torch.arange(T, device=x.device)[:, None]
        memory_position = torch.arange(T, device=x.device)[None, :]
        relative_position = memory_position - context_position
        bucket = relative_position.clamp(0, self.buckets - 1)
        s = q @ k.transpose(2, 3) + self.relative_attention_bias(bucket).permute(2, 0, 1)
        s = s.masked_fill(memory_position > context_position, float("-inf"))
        return self.o((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


class WrongS77PositionsOfTheBatch(nn.Module):
    """wrong: the sinusoids follow x.size(0), the tutorial's (T, B, d) layout, and the input is (B, T, d): texts get positions, tokens none"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    @staticmethod
    def pe(n, d, like):
        position = torch.arange(n, device=like.device, dtype=like.dtype).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d, 2, device=like.device, dtype=like.dtype) * (-math.log(10000.0) / d))
        pe = like.new_zeros(n, 1, d)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        return pe

    def forward(self, x):
        B, T, d = x.shape
        x = x + self.pe(x.size(0), d, x)
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(B, T, d))


class WrongS78PositionsFromTheEnd(nn.Module):
    """wrong: learned positions are counted from the end of the text, so a row changes when the text grows"""

    def __init__(self, d=12, H=3, n=9):
        super().__init__()
        self.H = H
        self.wpe = nn.Parameter(torch.randn(n, d) * 0.3)
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        h = x + self.wpe[:T].flip(0)
        rows = []
        q, k, v = (f(h).view(B, T, self.H, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        for t in range(T):
            s = (q[:, :, t:t + 1] @ k[:, :, :t + 1].mT) / math.sqrt(q.size(-1))
            rows.append(s.softmax(-1) @ v[:, :, :t + 1])
        return self.o(torch.cat(rows, 2).transpose(1, 2).reshape(B, T, d))


# ----------------------------------------------------------------------------- wrong: grouped queries

class WrongS79Tiled(nn.Module):
    """wrong: k.repeat (tile) in place of repeat_interleave, query heads are paired with the wrong key heads"""

    def __init__(self, d=24, n_q=6, n_kv=2):
        super().__init__()
        self.n_q, self.n_kv, self.hd = n_q, n_kv, d // n_q
        self.q_proj = nn.Linear(d, n_q * self.hd, bias=False)
        self.k_proj = nn.Linear(d, n_kv * self.hd, bias=False)
        self.v_proj = nn.Linear(d, n_kv * self.hd, bias=False)
        self.o_proj = nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, d = x.shape
        q = self.q_proj(x).view(B, T, self.n_q, self.hd).transpose(1, 2)
        k = self.k_proj(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        v = self.v_proj(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        k = k.repeat(1, self.n_q // self.n_kv, 1, 1)
        v = v.repeat(1, self.n_q // self.n_kv, 1, 1)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, d))


class WrongS80FirstKvHeadOnly(nn.Module):
    """wrong: k[:, :, :1] is broadcast over all query heads, the second key/value head is never read"""

    def __init__(self, d=16, n_q=4, n_kv=2):
        super().__init__()
        self.n_q, self.n_kv, self.hd = n_q, n_kv, d // n_q
        self.wq = nn.Parameter(torch.randn(d, n_q, self.hd) * 0.25)
        self.wkv = nn.Parameter(torch.randn(d, 2, n_kv, self.hd) * 0.25)
        self.wo = nn.Parameter(torch.randn(n_q, self.hd, d) * 0.25)

    def expand(self, t):
        return t[:, :, :1].expand(-1, -1, self.n_q, -1)

    def forward(self, x):
        T = x.shape[1]
        q = torch.einsum("btd,dhe->bthe", x, self.wq)
        k, v = torch.einsum("btd,dnhe->nbthe", x, self.wkv)
        k, v = self.expand(k), self.expand(v)
        s = torch.einsum("bihe,bjhe->bhij", q, k) / math.sqrt(self.hd)
        s = s.masked_fill(torch.ones(T, T, device=x.device).triu(1).bool(), float("-inf"))
        return torch.einsum("bhij,bjhe,hed->bid", s.softmax(-1), v, self.wo)


class WrongS81KeysModuloValuesDiv(nn.Module):
    """wrong: in the loop over query heads the keys take head h % n_kv, the values head h // g"""

    def __init__(self, d=16, n_q=4, n_kv=2):
        super().__init__()
        self.n_q, self.n_kv, self.hd = n_q, n_kv, d // n_q
        self.query = nn.Linear(d, d)
        self.keys = nn.ModuleList([nn.Linear(d, self.hd) for _ in range(n_kv)])
        self.values = nn.ModuleList([nn.Linear(d, self.hd) for _ in range(n_kv)])
        self.out = nn.Linear(d, d)

    def forward(self, x):
        T, g = x.shape[1], self.n_q // self.n_kv
        ks, vs = [f(x) for f in self.keys], [f(x) for f in self.values]
        heads = []
        for h, q in enumerate(self.query(x).split(self.hd, dim=-1)):
            s = q @ ks[h % self.n_kv].transpose(1, 2) / math.sqrt(self.hd)
            s = s.masked_fill(torch.ones(T, T, device=x.device).tril() == 0, -torch.inf)
            heads.append(s.softmax(-1) @ vs[h // g])
        return self.out(torch.cat(heads, -1))


LAYERS += [
    {"layer": WrongS68RotatedValues, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": WrongS69RotatedQueriesOnly, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": WrongS70LayoutsMixed, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": WrongS71KeysFromOne, "d_in": 24, "context_length": 8, "options": {"num_heads": 3, "positions": "rotary"}},
    {"layer": WrongS72AnglesOfOtherLayout, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "positions": "rotary"}},
    {"layer": WrongS73RotatedByHead, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "positions": "rotary"}},
    {"layer": WrongS74AlibiSign, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "positions": "alibi"}},
    {"layer": WrongS75AlibiSlopesFromZero, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "positions": "alibi"}},
    {"layer": WrongS76RelativeSign, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "positions": "relative", "scale": 1.0}},
    {"layer": WrongS77PositionsOfTheBatch, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "positions": True}},
    {"layer": WrongS78PositionsFromTheEnd, "d_in": 12, "context_length": 9, "options": {"num_heads": 3, "positions": True}},
    {"layer": WrongS79Tiled, "d_in": 24, "context_length": 8, "options": {"num_heads": 6, "num_kv_heads": 2}},
    {"layer": WrongS80FirstKvHeadOnly, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "num_kv_heads": 2}},
    {"layer": WrongS81KeysModuloValuesDiv, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "num_kv_heads": 2}},
]


# ----------------------------------------------------------------------------- wrong: padding

class WrongS82InvertedPadding(nn.Module):
    """wrong: the mask, True at real tokens, is handed to nn.MultiheadAttention, where True means ignored"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d, H, batch_first=True)

    def forward(self, x, mask=None):
        hide = None
        if mask is not None:
            hide = mask.bool()
            hide = hide & ~hide.all(dim=1, keepdim=True)     # a text without any token: no NaN
        return self.self_attn(x, x, x, key_padding_mask=hide, need_weights=False)[0]


class WrongS83FirstTextsPadding(nn.Module):
    """wrong: the padding of the first text is used for the whole batch (mask[0] is broadcast)"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.wq, self.wk, self.wv, self.dense = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, mask=None):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        s = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            s = s.masked_fill(~mask[0], torch.finfo(s.dtype).min)
        return self.dense((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


class WrongS84QueriesMasked(nn.Module):
    """wrong: mask.unsqueeze(-1) hides the rows of padded queries, padded keys are still read"""

    def __init__(self, h=2, d_model=16):
        super().__init__()
        self.h, self.d_k = h, d_model // h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])

    def forward(self, x, mask=None):
        n = x.size(0)
        query, key, value = [l(x).view(n, -1, self.h, self.d_k).transpose(1, 2) for l in self.linears[:3]]
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            mask = mask.unsqueeze(1).unsqueeze(-1)
            scores = scores.masked_fill(mask == 0, -1e9)
        x = torch.matmul(scores.softmax(dim=-1), value)
        return self.linears[-1](x.transpose(1, 2).contiguous().view(n, -1, self.h * self.d_k))


class WrongS85WeakAdditivePadding(nn.Module):
    """wrong: extended mask of (1 - mask) * -10, padding keeps a small weight"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.H = H
        self.query, self.key, self.value, self.dense = (nn.Linear(d, d) for _ in range(4))
        self.LayerNorm = nn.LayerNorm(d)

    def forward(self, hidden_states, attention_mask=None):
        B, T, d = hidden_states.shape
        q, k, v = (f(hidden_states).view(B, T, self.H, -1).permute(0, 2, 1, 3) for f in (self.query, self.key, self.value))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(d // self.H)
        if attention_mask is not None:
            scores = scores + (1.0 - attention_mask.to(scores.dtype))[:, None, None, :] * -10.0
        ctx = torch.matmul(scores.softmax(-1), v).permute(0, 2, 1, 3).reshape(B, T, d)
        return {"last_hidden_state": self.LayerNorm(hidden_states + self.dense(ctx))}


class WrongS86NanForEmptyText(nn.Module):
    """wrong: -inf at padding without a guard, a text of padding alone becomes NaN"""

    def __init__(self, dim=18, heads=3):
        super().__init__()
        self.heads = heads
        self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.to_out = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.heads, -1).transpose(1, 2) for t in self.to_qkv(x).chunk(3, dim=-1))
        dots = torch.einsum("bhid,bhjd->bhij", q, k) * (d // self.heads) ** -0.5
        if mask is not None:
            dots = dots.masked_fill(~mask[:, None, None, :], -torch.inf)
        out = torch.einsum("bhij,bhjd->bhid", dots.softmax(-1), v)
        return self.to_out(out.transpose(1, 2).reshape(b, n, d))


class WrongS87ZeroedKeys(nn.Module):
    """wrong: padded keys and values are set to zero in place of hidden: a score of 0 still takes its share of the softmax"""

    def __init__(self, d=12, H=2):
        super().__init__()
        self.H = H
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, real=None):
        B, T, d = x.shape
        q, k, v = self.q(x), self.k(x), self.v(x)
        if real is not None:
            keep = real.unsqueeze(-1).to(x.dtype)
            k, v = k * keep, v * keep
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in (q, k, v))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(y.transpose(1, 2).reshape(B, T, d))


class WrongS88LengthsFromTheLeft(nn.Module):
    """wrong: the mask is turned into lengths and back, which is right only when padding stands at the end"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x, mask=None):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.qkv(x).split(d, -1))
        s = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            lengths = mask.sum(dim=1)
            hidden = torch.arange(T, device=x.device)[None, :] >= lengths[:, None]
            s = s.masked_fill(hidden[:, None, None, :], torch.finfo(s.dtype).min)
        return self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


LAYERS += [
    {"layer": WrongS82InvertedPadding, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "causal": False, "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": WrongS83FirstTextsPadding, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "causal": False, "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": WrongS84QueriesMasked, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "causal": False, "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": WrongS85WeakAdditivePadding, "d_in": 16, "context_length": 10, "options": {"num_heads": 4, "causal": False, "padding": lambda module, x, real: module(x, attention_mask=real.long())}},
    {"layer": WrongS86NanForEmptyText, "d_in": 18, "context_length": 8, "options": {"num_heads": 3, "causal": False, "padding": lambda module, x, real: module(x, mask=real)}},
    {"layer": WrongS87ZeroedKeys, "d_in": 12, "context_length": 8, "options": {"num_heads": 2, "padding": lambda module, x, real: module(x, real)}},
    {"layer": WrongS88LengthsFromTheLeft, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "causal": False, "padding": lambda module, x, real: module(x, mask=real)}},
]


# ----------------------------------------------------------------------------- wrong: caches, windows, compile

class WrongS89PositionsRestart(nn.Module):
    """wrong: at each step the learned positions begin at 0 again"""

    def __init__(self, d=16, H=2, n=12):
        super().__init__()
        self.H = H
        self.wpe = nn.Embedding(n, d)
        self.c_attn, self.c_proj = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x, layer_past=None, use_cache=False):
        B, T, d = x.shape
        x = x + self.wpe(torch.arange(T, device=x.device))
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.c_attn(x).split(d, dim=2))
        if layer_past is not None:
            k = torch.cat((layer_past[0], k), dim=-2)
            v = torch.cat((layer_past[1], v), dim=-2)
        S = k.size(-2)
        s = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        s = s.masked_fill(torch.ones(S, S, device=x.device).tril()[S - T:S] == 0, float("-inf"))
        y = self.c_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))
        return (y, (k, v)) if use_cache else y


class WrongS90RotatedAgain(nn.Module):
    """wrong: the cache holds rotated keys and all keys are rotated again at each step"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x, cache=None, return_cache=False):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        if cache is not None:
            k, v = torch.cat([cache["k"], k], 2), torch.cat([cache["v"], v], 2)
        S = k.size(2)
        pos = torch.arange(S, device=x.device)
        k = _rope_half(k, pos)
        q = _rope_half(q, pos[S - T:])
        ok = pos[None, :] <= pos[S - T:, None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=ok)
        y = self.wo(y.transpose(1, 2).reshape(B, T, d))
        return (y, {"k": k, "v": v}) if return_cache else y


class WrongS91ValuesInFront(nn.Module):
    """wrong: new values are put before the cached ones, keys behind them"""

    def __init__(self, d=12, H=3):
        super().__init__()
        self.H = H
        self.query, self.key, self.value, self.out = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x, past=None):
        return self.step(x, past)[0]

    def step(self, x, past):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1) for f in (self.query, self.key, self.value))
        if past is not None:
            past_k, past_v = past
            k = torch.cat([past_k, k], dim=1)
            v = torch.cat([v, past_v], dim=1)
        n = k.shape[1]
        s = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(q.shape[-1])
        s = s.masked_fill(torch.ones(T, n, device=x.device).triu(n - T + 1).bool(), -torch.inf)
        y = torch.einsum("bhij,bjhd->bihd", s.softmax(-1), v).reshape(B, T, d)
        return self.out(y), (k, v)


class WrongS92MutableDefault(nn.Module):
    """wrong: the default past={} is one dict for all calls, a new text begins behind the last one"""

    def __init__(self, d=16, H=2):
        super().__init__()
        self.H = H
        self.qkv = nn.Linear(d, 3 * d)
        self.proj = nn.Linear(d, d)

    def forward(self, x):
        return self.generate_step(x, {})[0]

    def generate_step(self, x, past={}):
        B, T, d = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.H, -1).permute(2, 0, 3, 1, 4)
        if "k" in past and past["k"].size(0) == B:
            k, v = torch.cat([past["k"], k], dim=2), torch.cat([past["v"], v], dim=2)
        past["k"], past["v"] = k, v
        n = k.size(2)
        see = torch.arange(n, device=x.device)[None, :] <= torch.arange(n - T, n, device=x.device)[:, None]
        s = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~see, float("-inf"))
        return self.proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d)), past


class WrongS93CausalOnlyForPrefill(nn.Module):
    """wrong: is_causal=(T > 1) aligns several new tokens behind a cache with the first keys"""

    def __init__(self, d=16, n_q=4, n_kv=2):
        super().__init__()
        self.n_q, self.n_kv, self.hd = n_q, n_kv, d // n_q
        self.wq, self.wo = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.wk, self.wv = nn.Linear(d, n_kv * self.hd, bias=False), nn.Linear(d, n_kv * self.hd, bias=False)

    def forward(self, x, kv=None, return_kv=False):
        B, T, d = x.shape
        q = self.wq(x).view(B, T, self.n_q, self.hd).transpose(1, 2)
        k = self.wk(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        v = self.wv(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        if kv is not None:
            k, v = torch.cat((kv[0], k), 2), torch.cat((kv[1], v), 2)
        kr, vr = (t.repeat_interleave(self.n_q // self.n_kv, dim=1) for t in (k, v))
        y = F.scaled_dot_product_attention(q, kr, vr, is_causal=T > 1)
        y = self.wo(y.transpose(1, 2).reshape(B, T, d))
        return (y, (k, v)) if return_kv else y


class WrongS94CacheInModule(nn.Module):
    """wrong: the cache is an attribute of the module and is not emptied for a new text"""

    def __init__(self, d=12, H=2):
        super().__init__()
        self.H = H
        self.W_query, self.W_key, self.W_value, self.out_proj = (nn.Linear(d, d) for _ in range(4))
        self.register_buffer("cache_k", None, persistent=False)
        self.register_buffer("cache_v", None, persistent=False)

    def forward(self, x, use_cache=False):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.W_query, self.W_key, self.W_value))
        if use_cache:
            if self.cache_k is None or self.cache_k.size(0) != B:
                self.cache_k, self.cache_v = k.detach(), v.detach()
            else:
                self.cache_k = torch.cat([self.cache_k, k.detach()], dim=2)
                self.cache_v = torch.cat([self.cache_v, v.detach()], dim=2)
            k, v = self.cache_k, self.cache_v
        n = k.size(2)
        s = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))
        s = s.masked_fill(torch.ones(T, n, device=x.device).triu(n - T + 1).bool(), -torch.inf)
        return self.out_proj((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


class WrongS95SlidingCacheTooShort(nn.Module):
    """wrong: the cache keeps the last W - 2 keys behind a slide, the window of a step is one token too small"""

    def __init__(self, d=16, H=2, W=4):
        super().__init__()
        self.H, self.W = H, W
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        return self.step(x)[0]

    def step(self, x, cache=None):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        n = k.size(2)
        age = torch.arange(n - T, n, device=x.device)[:, None] - torch.arange(n, device=x.device)[None, :]
        s = q @ k.mT / math.sqrt(q.size(-1))
        s = s.masked_fill((age < 0) | (age >= self.W), -torch.inf)
        y = self.out((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))
        keep = self.W - 2
        return y, (k[:, :, -keep:], v[:, :, -keep:])


class WrongS96WindowOneTooLong(nn.Module):
    """wrong: i - j <= W lets a row see W + 1 tokens"""

    def __init__(self, d=12, H=3, W=3):
        super().__init__()
        self.H, self.W = H, W
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        mask = torch.full((T, T), float("-inf"), device=x.device, dtype=x.dtype)
        for i in range(T):
            for j in range(i + 1):
                if i - j <= self.W:
                    mask[i, j] = 0
        outs = [(q @ k.mT / math.sqrt(d // self.H) + mask).softmax(-1) @ v
                for q, k, v in zip(*(f(x).chunk(self.H, -1) for f in (self.q, self.k, self.v)))]
        return self.o(torch.cat(outs, -1))


class WrongS97TwoSidedWindow(nn.Module):
    """wrong: abs(i - j) < W is a window to both sides, the causal half was forgotten"""

    def __init__(self, d=16, H=2, W=3):
        super().__init__()
        self.H, self.W = H, W
        self.qkv_proj, self.o_proj = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.qkv_proj(x).chunk(3, -1))
        pos = torch.arange(T, device=x.device)
        band = (pos[:, None] - pos[None, :]).abs() < self.W
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=band)
        return self.o_proj(y.transpose(1, 2).reshape(B, T, d))


class WrongS98WindowSign(nn.Module):
    """wrong: triu(diagonal=W - 1) times tril is empty, so the student or-ed it, and the window hides nothing"""

    def __init__(self, d=16, H=4, W=4):
        super().__init__()
        self.H, self.W = H, W
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d, d, bias=False) for _ in range(4))

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.wq, self.wk, self.wv))
        ones = torch.ones(T, T, dtype=torch.bool, device=x.device)
        seen = ones.tril() & (ones.triu(-(self.W - 1)) | ones.tril(-(self.W - 1)))
        s = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~seen, float("-inf"))
        return self.wo((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, d))


class WrongS99CompiledPath(nn.Module):
    """wrong: under torch.compile another branch is taken, which has no mask"""

    def __init__(self, d=16, H=2, n=8):
        super().__init__()
        self.H = H
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("tril", torch.tril(torch.ones(n, n)))

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        if torch.compiler.is_compiling():
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            s = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(self.tril[:T, :T] == 0, float("-inf"))
            y = s.softmax(-1) @ v
        return self.proj(y.transpose(1, 2).reshape(B, T, d))


LAYERS += [
    {"layer": WrongS89PositionsRestart, "d_in": 16, "context_length": 12, "options": {"num_heads": 2, "positions": True, "step": lambda module, x, cache: module(x, layer_past=cache, use_cache=True)}},
    {"layer": WrongS90RotatedAgain, "d_in": 16, "context_length": 10, "options": {"num_heads": 2, "positions": "rotary", "step": lambda module, x, cache: module(x, cache, return_cache=True)}},
    {"layer": WrongS91ValuesInFront, "d_in": 12, "context_length": 9, "options": {"num_heads": 3, "step": lambda module, x, cache: module.step(x, cache)}},
    {"layer": WrongS92MutableDefault, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "step": lambda module, x, cache: module.generate_step(x) if cache is None else module.generate_step(x, cache)}},
    {"layer": WrongS93CausalOnlyForPrefill, "d_in": 16, "context_length": 10, "options": {"num_heads": 4, "num_kv_heads": 2, "step": lambda module, x, cache: module(x, kv=cache, return_kv=True)}},
    {"layer": WrongS94CacheInModule, "d_in": 12, "context_length": 8, "options": {"num_heads": 2, "step": lambda module, x, cache: (module(x, use_cache=True), True)}},
    {"layer": WrongS95SlidingCacheTooShort, "d_in": 16, "context_length": 12, "options": {"num_heads": 2, "window": 4, "step": lambda module, x, cache: module.step(x, cache)}},
    {"layer": WrongS96WindowOneTooLong, "d_in": 12, "context_length": 9, "options": {"num_heads": 3, "window": 3}},
    {"layer": WrongS97TwoSidedWindow, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "window": 3}},
    {"layer": WrongS98WindowSign, "d_in": 16, "context_length": 10, "options": {"num_heads": 4, "window": 4}},
    {"layer": WrongS99CompiledPath, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "compiled": True}},
]


# ----------------------------------------------------------------------------- more right ones

class RightS25PreNormVit(nn.Module):
    """right: ViT encoder, LayerNorm before, residual and LayerScale of 1e-5 inside, so the layer changes its input little"""

    def __init__(self, dim=16, num_heads=2):
        super().__init__()
        self.num_heads = num_heads
        self.norm1 = nn.LayerNorm(dim)
        self.qkv = nn.Linear(dim, dim * 3, bias=True)
        self.proj = nn.Linear(dim, dim)
        self.gamma = nn.Parameter(1e-5 * torch.ones(dim))

    def forward(self, x):
        B, N, C = x.shape
        qkv = self.qkv(self.norm1(x)).reshape(B, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = ((q * (C // self.num_heads) ** -0.5) @ k.transpose(-2, -1)).softmax(dim=-1)
        return x + self.gamma * self.proj((attn @ v).transpose(1, 2).reshape(B, N, C))


class RightS26GuardedMha(nn.Module):
    """right: True = hidden for nn.MultiheadAttention, a text of padding alone is allowed to see itself, its output is zero"""

    def __init__(self, d=16, H=4):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, H, batch_first=True, bias=False)

    def forward(self, x, key_padding_mask=None):
        if key_padding_mask is None:
            return self.attn(x, x, x, need_weights=False)[0]
        empty = key_padding_mask.all(dim=1, keepdim=True)
        y = self.attn(x, x, x, key_padding_mask=key_padding_mask & ~empty, need_weights=False)[0]
        return y.masked_fill(key_padding_mask.unsqueeze(-1), 0.0)


class RightS27RollingCache(nn.Module):
    """right: grouped queries, rotary, window and a cache that holds W - 1 keys and counts the tokens it has seen"""

    def __init__(self, d=16, n_q=4, n_kv=2, W=3):
        super().__init__()
        self.n_q, self.n_kv, self.hd, self.W = n_q, n_kv, d // n_q, W
        self.wq, self.wo = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
        self.wk, self.wv = nn.Linear(d, n_kv * self.hd, bias=False), nn.Linear(d, n_kv * self.hd, bias=False)

    def forward(self, x):
        return self.step(x, None)[0]

    def step(self, x, cache):
        B, T, d = x.shape
        seen = 0 if cache is None else cache[2]
        q = self.wq(x).view(B, T, self.n_q, self.hd).transpose(1, 2)
        k = self.wk(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        v = self.wv(x).view(B, T, self.n_kv, self.hd).transpose(1, 2)
        pos_q = torch.arange(seen, seen + T, device=x.device)
        q, k = _rope_half(q, pos_q), _rope_half(k, pos_q)
        if cache is not None:
            k, v = torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)
        n = k.size(2)
        pos_k = torch.arange(seen + T - n, seen + T, device=x.device)
        age = pos_q[:, None] - pos_k[None, :]
        ok = (age >= 0) & (age < self.W)
        g = self.n_q // self.n_kv
        kr, vr = (t[:, :, None].expand(B, self.n_kv, g, n, self.hd).reshape(B, self.n_q, n, self.hd) for t in (k, v))
        y = F.scaled_dot_product_attention(q, kr, vr, attn_mask=ok)
        first = max(0, n - (self.W - 1))
        return self.wo(y.transpose(1, 2).reshape(B, T, d)), (k[:, :, first:], v[:, :, first:], seen + T)


class RightS28ZeroOutput(nn.Module):
    """right: the output projection begins at zero, so a new layer returns zeros"""

    def __init__(self, d=12, H=3, n=8):
        super().__init__()
        self.H = H
        self.query, self.key, self.value, self.out = (nn.Linear(d, d) for _ in range(4))
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)
        self.register_buffer("tril", torch.tril(torch.ones(n, n)))

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (f(x).view(B, T, self.H, -1).transpose(1, 2) for f in (self.query, self.key, self.value))
        w = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
        w = w.masked_fill(self.tril[:T, :T] == 0, float("-inf")).softmax(-1)
        return self.out((w @ v).transpose(1, 2).reshape(B, T, d))


class RightS29CutAndScatter(nn.Module):
    """right: a Python loop over texts cuts the padding away, attends over the rest and puts it back, padding gets zeros"""

    def __init__(self, d=12, H=2):
        super().__init__()
        self.H = H
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))

    def one_text(self, x):
        n = x.size(0)
        q, k, v = (f(x).view(n, self.H, -1).transpose(0, 1) for f in (self.q, self.k, self.v))
        s = q @ k.mT / math.sqrt(q.size(-1))
        s = s.masked_fill(torch.ones(n, n, device=x.device).triu(1).bool(), float("-inf"))
        return self.o((s.softmax(-1) @ v).transpose(0, 1).reshape(n, -1))

    def forward(self, x, real=None):
        if real is None:
            return torch.stack([self.one_text(t) for t in x])
        out = torch.zeros_like(x)
        for b in range(x.size(0)):
            if real[b].any():
                out[b, real[b]] = self.one_text(x[b][real[b]])
        return out


class RightS30FoldedHeads(nn.Module):
    """right: heads folded into the batch, queries and keys each divided by the fourth root, mask by index assignment; returns weights too"""

    def __init__(self, d=15, H=3):
        super().__init__()
        self.H = H
        self.tokeys, self.toqueries, self.tovalues = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.unifyheads = nn.Linear(d, d)

    def forward(self, x):
        b, t, e = x.size()
        h, s = self.H, e // self.H
        keys, queries, values = (f(x).view(b, t, h, s).transpose(1, 2).contiguous().view(b * h, t, s)
                                 for f in (self.tokeys, self.toqueries, self.tovalues))
        queries, keys = queries / (s ** (1 / 4)), keys / (s ** (1 / 4))
        dot = torch.bmm(queries, keys.transpose(1, 2))
        i, j = torch.triu_indices(t, t, offset=1, device=x.device)
        dot[..., i, j] = float("-inf")
        dot = F.softmax(dot, dim=2)
        out = torch.bmm(dot, values).view(b, h, t, s).transpose(1, 2).contiguous().view(b, t, s * h)
        return self.unifyheads(out), dot.view(b, h, t, t)


class RightS31HandDropout(nn.Module):
    """right: inverted dropout by hand, head by head, each weight for itself, only in train mode"""

    def __init__(self, d=16, H=4, rate=0.2):
        super().__init__()
        self.H, self.rate = H, rate
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Parameter(torch.randn(d, d) * 0.25) for _ in range(4))

    def forward(self, x):
        T, D = x.shape[1], x.shape[2] // self.H
        hide = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        outs = []
        for h in range(self.H):
            c = slice(h * D, (h + 1) * D)
            q, k, v = x @ self.Wq[:, c], x @ self.Wk[:, c], x @ self.Wv[:, c]
            a = (q @ k.mT * D ** -0.5).masked_fill(hide, -torch.inf).softmax(-1)
            if self.training:
                a = a * torch.bernoulli(torch.full_like(a, 1 - self.rate)) / (1 - self.rate)
            outs.append(a @ v)
        return torch.cat(outs, -1) @ self.Wo


class RightS32CompiledBranch(nn.Module):
    """right: another branch under torch.compile, which computes the same"""

    def __init__(self, d=16, H=2, n=8):
        super().__init__()
        self.H = H
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.register_buffer("tril", torch.tril(torch.ones(n, n, dtype=torch.bool)))

    def forward(self, x):
        B, T, d = x.shape
        q, k, v = (t.view(B, T, self.H, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        if torch.compiler.is_compiling():
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.tril[:T, :T])
        else:
            s = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~self.tril[:T, :T], float("-inf"))
            y = s.softmax(-1) @ v
        return self.proj(y.transpose(1, 2).reshape(B, T, d))


LAYERS += [
    {"layer": RightS25PreNormVit, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "causal": False}},
    {"layer": RightS26GuardedMha, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "causal": False, "padding": lambda module, x, real: module(x, key_padding_mask=~real)}},
    {"layer": RightS27RollingCache, "d_in": 16, "context_length": 12, "options": {"num_heads": 4, "num_kv_heads": 2, "positions": "rotary", "window": 3, "step": lambda module, x, cache: module.step(x, cache)}},
    {"layer": RightS28ZeroOutput, "d_in": 12, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": RightS29CutAndScatter, "d_in": 12, "context_length": 8, "options": {"num_heads": 2, "padding": lambda module, x, real: module(x, real=real)}},
    {"layer": RightS30FoldedHeads, "d_in": 15, "context_length": 8, "options": {"num_heads": 3}},
    {"layer": RightS31HandDropout, "d_in": 16, "context_length": 8, "options": {"num_heads": 4, "dropout": 0.2}},
    {"layer": RightS32CompiledBranch, "d_in": 16, "context_length": 8, "options": {"num_heads": 2, "compiled": True}},
]
